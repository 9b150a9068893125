// The page: one film, one clock, one view, some plots.

let film = new Film(JSON.parse(element("film").textContent));
const settings = { ...film.data.show, traced: new Set(film.data.traced), tail: film.data.tail };
const clock = new Clock(film, clockChanged);
const inSpace = film.data.dimension === 3;
const view = inSpace ? new SpaceView(element("view"), film) : new FlatView(element("view"), film);
const plots = [];
const charts = []; // of the measures of a sweep
let stale = true; // something but the time has changed

// Another film in the place of this one: the time, the zoom and all that is chosen stay.
function showFilm(next) {
  film = next;
  clock.show(film);
  view.show(film);
  plots.forEach((plot) => plot.show(film));
  listEvents(film, jump);
  redraw();
}

// To an event, and stand there.
function jump(row) {
  clock.playing = false;
  clock.seek(row.t);
  announce(`${row.name}, ${row.kind} at t = ${quantity(row.t, "s")}`);
}

function jumpOn(way) {
  const next = neighbour(film, clock.time, way);
  if (next !== undefined) jump(film.data.events.rows.find((row) => row.t === next));
}

function redraw() {
  stale = true;
}

function clockChanged() {
  const button = element("play");
  button.setAttribute("aria-label", clock.playing ? "Pause" : "Play");
  button.querySelector("use").setAttribute("href", clock.playing ? "#icon-pause" : "#icon-play");
  redraw();
}

// Nobody can read more than a thousandth of the film while it plays; a picture that stands has its time to the last digit
// that can be seen in it.
function timeText() {
  const { factor, unit } = prefixed(film.span || Math.abs(film.end), "s");
  const step = roundBelow((film.span * factor || 1) / 1000);
  const digits = decimals(clock.playing ? step : step / 1000);
  return `${fixed(clock.time * factor, digits)} / ${fixed(film.end * factor, decimals(step))} ${unit}`;
}

function showTime() {
  element("clock-text").textContent = timeText();
  const scrub = element("scrub");
  scrub.value = film.span ? (Number(scrub.max) * (clock.time - film.start)) / film.span : 0;
  scrub.setAttribute("aria-valuetext", `t = ${quantity(clock.time, "s")}`);
}

function picture(now) {
  if (clock.tick(now) || stale || view.turning) {
    stale = false;
    showTime();
    view.draw(clock.time, settings);
    plots.forEach((plot) => plot.drawCursor(clock.time));
  }
  requestAnimationFrame(picture);
}

function fitWindow() {
  const stage = element("view").parentElement;
  const height = (selector) => stage.querySelector(selector).offsetHeight;
  const room = { top: height(".toggles") + 28, bottom: height(".zoom") + 12 };
  view.resize(stage.clientWidth, stage.clientHeight, devicePixelRatio || 1, room);
  [...plots, ...charts].forEach((plot) => plot.resize(devicePixelRatio || 1));
  redraw();
}

// --- what is shown

function toggle(name) {
  const button = document.querySelector(`[data-toggle="${name}"]`);
  if (button.hidden) return;
  settings[name] = !settings[name];
  setPressed(button, settings[name]);
  announce(`${button.textContent} ${settings[name] ? "shown" : "hidden"}`);
  redraw();
}

function trace(name, wanted) {
  if (wanted) settings.traced.add(name);
  else settings.traced.delete(name);
  if (wanted && !settings.traces) toggle("traces");
  const box = [...element("traced").querySelectorAll("input")].find((input) => input.value === name);
  box.checked = wanted;
  redraw();
}

function listPoints() {
  for (const point of film.data.points.filter((each) => each.channels)) {
    const label = document.createElement("label");
    const box = Object.assign(document.createElement("input"), { type: "checkbox", value: point.name });
    box.checked = settings.traced.has(point.name);
    box.addEventListener("change", () => trace(point.name, box.checked));
    label.append(box, point.name);
    element("traced").append(label);
  }
}

// --- plots

// `chosen`: the user has asked for the plot, and will want to say of what.
function addPlot(columns, chosen = false) {
  const plot = new Plot(film, columns, (time) => clock.seek(time));
  plots.push(plot);
  element("plots").append(plot.figure);
  const [curve, across] = plot.figure.querySelectorAll("select");
  const edit = plot.figure.querySelector(".edit");
  edit.addEventListener("click", () => {
    const open = plot.figure.classList.toggle("editing");
    edit.setAttribute("aria-expanded", String(open));
    plot.figure.querySelector(".editor").hidden = !open;
    fitWindow();
  });
  curve.add(new Option("+ curve", ""));
  across.add(new Option("t", "t", true, true));
  for (const column of film.data.columns.filter((each) => each.label !== "t")) {
    curve.add(new Option(column.label));
    across.add(new Option(column.label));
  }
  curve.addEventListener("change", () => {
    if (curve.value && !plot.columns.includes(curve.value)) plot.columns.push(curve.value);
    curve.value = "";
    refresh(plot);
  });
  across.addEventListener("change", () => {
    plot.across = across.value;
    refresh(plot);
  });
  plot.figure.querySelector(".plot-remove").addEventListener("click", () => removePlot(plot));
  refresh(plot);
  fitWindow();
  if (!chosen) return;
  edit.click();
  curve.focus();
}

function removePlot(plot) {
  plots.splice(plots.indexOf(plot), 1);
  plot.figure.remove();
  element("plot-add").focus();
  announce("Plot removed");
  fitWindow();
}

// The legend, one entry per curve with its present value and a button that removes it.
function refresh(plot) {
  plot.legend.replaceChildren(...plot.columns.map((name, index) => {
    const entry = document.createElement("li");
    entry.style.setProperty("--swatch", `var(--curve-${index % 6})`);
    const remove = document.createElement("button");
    Object.assign(remove, { type: "button", className: "curve-remove", textContent: "×" });
    remove.setAttribute("aria-label", `Remove the curve ${name}`);
    remove.addEventListener("click", () => {
      plot.columns.splice(plot.columns.indexOf(name), 1);
      refresh(plot);
      plot.figure.querySelector(".curve-add").focus();
    });
    const output = document.createElement("output");
    output.setAttribute("aria-live", "off");
    entry.append(name, output, remove);
    return entry;
  }));
  plot.curves.setAttribute("aria-label", `Plot of ${plot.columns.join(", ") || "nothing yet"} against ${plot.across}`);
  plot.drawCurves();
  redraw();
}

// --- wiring

function connect(more) {
  for (const button of document.querySelectorAll("[data-toggle]")) {
    setPressed(button, Boolean(settings[button.dataset.toggle]));
    button.addEventListener("click", () => toggle(button.dataset.toggle));
  }
  for (const name of ["forces", "reactions"]) {
    const about = document.querySelectorAll(`[data-toggle="${name}"], [data-if="${name}"]`);
    about.forEach((each) => (each.hidden = !film.data[name]));
  }
  document.querySelectorAll('[data-if="space"]').forEach((each) => (each.hidden = !inSpace));
  document.querySelectorAll('[data-if="plane"]').forEach((each) => (each.hidden = inSpace));
  const zoom = (factor) => { view.zoom(factor); redraw(); };
  const fit = () => { view.fit(); redraw(); };
  // In space arrow keys turn what is seen, and move it with Shift.
  const pan = (dx, dy) => (event) => {
    if (inSpace && !event.shiftKey) view.orbit(dx, dy);
    else view.pan(dx, dy);
    redraw();
  };
  const turnTo = (face) => () => {
    if (!inSpace) return;
    view.turnTo(face);
    announce(face === "home" ? "View reset" : `Seen from the ${face}`);
    redraw();
  };
  document.querySelectorAll("[data-face]").forEach((each) => each.addEventListener("click", turnTo(each.dataset.face)));
  view.changed = redraw;
  const playPause = () => {
    clock.toggle();
    announce(clock.playing ? "Playing" : `Paused at t = ${quantity(clock.time, "s")}`);
  };
  const step = (pictures) => {
    clock.step(pictures);
    announce(`t = ${quantity(clock.time, "s")}`);
  };
  const repeat = () => {
    clock.loop = !clock.loop;
    setPressed(element("loop"), clock.loop);
    announce(clock.loop ? "Repeats" : "Plays once");
  };
  const help = () => element("help").showModal();
  const clicks = {
    "play": playPause, "step-back": () => step(-1), "step-forward": () => step(1), "loop": repeat, "help-open": help,
    "zoom-in": () => zoom(1.4), "zoom-out": () => zoom(1 / 1.4), "zoom-fit": fit,
    "plot-add": () => addPlot([film.data.columns.find((column) => column.label !== "t").label], true),
  };
  for (const [id, action] of Object.entries(clicks)) element(id).addEventListener("click", action);
  setPressed(element("loop"), clock.loop);
  element("scrub").addEventListener("input", (event) => {
    clock.playing = false;
    clock.seek(film.start + (film.span * event.target.value) / event.target.max);
  });
  watchGestures(element("view"), view, {
    moved: redraw,
    fit,
    click: (x, y) => {
      const name = view.pointAt(x, y, clock.time);
      if (name && film.points.get(name).channels) trace(name, !(settings.traces && settings.traced.has(name)));
    },
  });
  const toggleTheme = watchTheme(film.data.theme, () => {
    view.recolour();
    [...plots, ...charts].forEach((plot) => plot.drawCurves());
    redraw();
  });
  watchKeys({
    ...more,
    " ": playPause, "k": playPause, "l": repeat, "d": toggleTheme, "?": help,
    "ArrowLeft": (event) => step(event.shiftKey ? -10 : -1), "ArrowRight": (event) => step(event.shiftKey ? 10 : 1),
    "Home": () => clock.seek(film.start), "End": () => clock.seek(film.end),
    "[": () => changeSpeed(-1), "]": () => changeSpeed(1),
    "1": turnTo("front"), "2": turnTo("side"), "3": turnTo("top"), "4": turnTo("home"),
    "+": () => zoom(1.4), "=": () => zoom(1.4), "-": () => zoom(1 / 1.4), "0": fit,
    "n": () => toggle("names"), "t": () => toggle("traces"), "v": () => toggle("velocities"),
    "f": () => toggle("forces"), "r": () => toggle("reactions"), "c": () => toggle("centroids"),
    "e": () => toggle("events"), "PageUp": () => jumpOn(-1), "PageDown": () => jumpOn(1),
    "Alt+ArrowLeft": pan(40, 0), "Alt+ArrowRight": pan(-40, 0), "Alt+ArrowUp": pan(0, 40), "Alt+ArrowDown": pan(0, -40),
  });
}

// `#t=0.5` opens the page standing at that time.
function begin() {
  const wanted = /[#&]t=([-+.\de]+)/.exec(location.hash);
  if (wanted) clock.seek(Number(wanted[1]) || film.start);
  else if (film.data.play && !matchMedia("(prefers-reduced-motion: reduce)").matches) clock.play();
}

fillSpeeds(clock);
listPoints();
listEvents(film, jump);
const sweep = element("sweep") ? new Sweep(JSON.parse(element("sweep").textContent)) : null;
connect(sweep ? caseKeys(sweep) : {});
film.data.plots.forEach((columns) => addPlot(columns));
new ResizeObserver(fitWindow).observe(element("view").parentElement);
new ResizeObserver(fitWindow).observe(element("plots"));
if (sweep) showSweep(sweep);
globalThis.mechsim = { sweep, charts, get film() { return film; }, clock, view, settings, plots }; // for the browser's console, and for tests
begin();
clockChanged();
requestAnimationFrame(picture);
