// What the user touches: buttons, keys, gestures. Everything they do ends in a call on the clock, the view or a plot.

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 10]; // times the film's own speed

function element(id) {
  return document.getElementById(id);
}

function announce(text) {
  element("live").textContent = text;
}

function setPressed(button, pressed) {
  button.setAttribute("aria-pressed", String(pressed));
}

// Speed as a multiple of real time: "1/333 ×", "1 ×", "10 ×".
function pace(speed) {
  const number = (value) => Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
  return speed < 0.999 ? `1/${number(1 / speed)}\u00a0×` : `${number(speed)}\u00a0×`;
}

function fillSpeeds(clock) {
  const select = element("speed");
  for (const factor of SPEEDS) {
    const speed = factor * clock.film.data.speed;
    select.add(new Option(pace(speed), String(speed), factor === 1, factor === 1));
  }
  select.addEventListener("change", () => {
    clock.speed = Number(select.value);
    announce(`Speed ${pace(clock.speed)} real time`);
  });
}

function changeSpeed(by) {
  const select = element("speed");
  select.selectedIndex = Math.min(Math.max(select.selectedIndex + by, 0), select.length - 1);
  select.dispatchEvent(new Event("change"));
}

// Dragging moves the picture, a wheel or two fingers zoom it, a click names a point, a double click fits. A view that can be
// turned is turned by dragging instead, and moved by two fingers, the right button, or with Shift.
function watchGestures(canvas, view, actions) {
  const fingers = new Map();
  let travelled = 0;
  const middle = () => {
    const all = [...fingers.values()];
    return [all.reduce((sum, p) => sum + p[0], 0) / all.length, all.reduce((sum, p) => sum + p[1], 0) / all.length];
  };
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
  };
  const lift = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && !fingers.size && travelled < 5) actions.click(event.offsetX, event.offsetY);
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button && !view.orbit) return;
    if (!fingers.size) travelled = 0;
    fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const before = { middle: middle(), spread: fingers.size > 1 ? spread() : 1 };
    fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    const after = middle();
    const step = [after[0] - before.middle[0], after[1] - before.middle[1]];
    travelled += Math.hypot(...step) + (fingers.size > 1 ? 5 : 0);
    if (view.orbit && fingers.size === 1 && !event.shiftKey && !(event.buttons & 6)) view.orbit(...step);
    else view.pan(...step);
    if (fingers.size === 2) view.zoom(spread() / before.spread, ...after);
    actions.moved();
  });
  if (view.orbit) canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 20 : 1);
    view.zoom(Math.exp(-0.0015 * Math.max(-300, Math.min(pixels, 300))), event.offsetX, event.offsetY);
    actions.moved();
  }, { passive: false });
  canvas.addEventListener("dblclick", actions.fit);
}

// Keys work anywhere but where the focused control needs them itself.
function watchKeys(keys) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || element("help").open) return;
    const focused = event.target;
    if (focused.tagName === "SELECT") return;
    const pressable = ["BUTTON", "SUMMARY", "INPUT"].includes(focused.tagName) && focused.type !== "range";
    if (event.key === " " && pressable) return;
    if (focused.type === "range" && /^(Arrow|Home|End|Page)/.test(event.key)) return;
    const name = (event.altKey ? "Alt+" : "") + (event.key.length === 1 ? event.key.toLowerCase() : event.key);
    const action = keys[name];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}

// The colours: the user's choice, else the film's, else the system's, which may change while the page is open.
function watchTheme(wanted, changed) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = wanted === "auto" ? null : wanted;
  const apply = () => {
    const theme = chosen ?? (system.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    setPressed(element("theme"), theme === "dark");
    changed();
  };
  const toggle = () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    apply();
    announce(`${chosen === "dark" ? "Dark" : "Light"} colours`);
  };
  system.addEventListener("change", apply);
  element("theme").addEventListener("click", toggle);
  apply();
  return toggle;
}
