// A sweep: many cases of one mechanism, their measures, and the films of some of them.
//
// Cases are numbered by the axes in their order, the last fastest, and then by draws. A column holds, less its `offset`, a
// number for each case as base64 of little-endian 32-bit floats. A film is what differs from the first one: `[value]` takes
// the place of what stands there, `{key: ...}` goes on inside.

function patched(base, patch) {
  if (Array.isArray(patch)) return patch[0];
  const copy = Array.isArray(base) ? [...base] : { ...base };
  for (const [key, inner] of Object.entries(patch)) copy[key] = patched(base[key], inner);
  return copy;
}

function replaced(list, index, value) {
  return list.map((each, k) => (k === index ? value : each));
}

class Sweep {
  constructor(data) {
    this.data = data;
    this.axes = data.axes;
    this.draws = data.draws;
    this.columns = new Map(data.columns.map((column) => [column.label, {
      ...column,
      values: Float64Array.from(new Float32Array(decodeBytes(column.numbers)), (value) => value + column.offset),
    }]));
    this.parameters = data.columns.filter((column) => column.varied).map((column) => column.label);
    this.measures = data.columns.filter((column) => !column.varied).map((column) => column.label);
    this.case = data.first;
    this.base = JSON.parse(element("film").textContent);
    this.kept = new Map();
  }

  value(label, number) {
    return this.columns.get(label).values[number];
  }

  // Where a case stands on each axis, and its draw.
  places(number) {
    const places = [number % this.draws];
    let rest = Math.floor(number / this.draws);
    for (const axis of [...this.axes].reverse()) {
      places.unshift(rest % axis.values.length);
      rest = Math.floor(rest / axis.values.length);
    }
    return places;
  }

  number(places) {
    return this.axes.reduce((sum, axis, k) => sum * axis.values.length + places[k], 0) * this.draws + places.at(-1);
  }

  // The present case, moved to another value of one axis (or to another draw, which is the last place).
  moved(axis, place) {
    return this.number(replaced(this.places(this.case), axis, place));
  }

  // All cases along one axis or draw, through the present case.
  along(axis) {
    const length = axis < this.axes.length ? this.axes[axis].values.length : this.draws;
    return Array.from({ length }, (_, place) => this.moved(axis, place));
  }

  axisOf(label) {
    const found = this.axes.findIndex((axis) => axis.name === label);
    return found < 0 ? this.axes.length : found;
  }

  // Why a case has no values, or an empty text.
  failure(number) {
    const index = this.data.failed[number];
    return index === undefined ? "" : this.data.reasons[index];
  }

  // The film of a case: its own, else that of the nearest case that has one; null where there is none.
  film(number) {
    const index = this.data.shown[number];
    if (index < 0) return null;
    if (!this.kept.has(index)) {
      if (this.kept.size > 40) this.kept.delete(this.kept.keys().next().value);
      this.kept.set(index, new Film(patched(this.base, this.data.films[index].patch)));
    }
    return this.kept.get(index);
  }

  // The case whose film is shown for this one.
  filmed(number) {
    const index = this.data.shown[number];
    return index < 0 ? null : this.data.films[index].case;
  }
}

// All that can be picked of the sweep's cases, and what the chosen one is.

function caseTitle(sweep, number) {
  return `${sweep.data.word ?? "Case"} ${sweep.data.numbers?.[number] ?? number}`;
}

function caseWords(sweep, number) {
  return sweep.parameters.map((name) => `${name} = ${quantity(sweep.value(name, number), "", 5)}`).join(", ");
}

function addSlider(sweep, axis) {
  const isAxis = axis < sweep.axes.length;
  const name = isAxis ? sweep.axes[axis].name : sweep.axes.length ? "draw" : "case";
  const label = document.createElement("label");
  label.className = "slider";
  const word = Object.assign(document.createElement("span"), { textContent: name });
  const input = Object.assign(document.createElement("input"), { type: "range", min: 0, step: 1 });
  input.max = sweep.along(axis).length - 1;
  const output = document.createElement("output");
  input.addEventListener("input", () => chooseCase(sweep, sweep.moved(axis, Number(input.value))));
  label.append(word, input, output);
  element("sliders").append(label);
  return (places) => {
    input.value = places[axis];
    const text = isAxis ? quantity(sweep.axes[axis].values[places[axis]], "", 5) : String(places[axis]);
    output.textContent = text;
    input.setAttribute("aria-valuetext", `${name} = ${text}`);
  };
}

function fillList(list, pairs) {
  list.replaceChildren(...pairs.map(([name, value]) => {
    const entry = document.createElement("div");
    entry.append(
      Object.assign(document.createElement("dt"), { textContent: name }),
      Object.assign(document.createElement("dd"), { textContent: value }),
    );
    return entry;
  }));
}

// Another case: its film, its measures, the marks in the charts.
function chooseCase(sweep, number) {
  sweep.case = number;
  const [next, failure] = [sweep.film(number), sweep.failure(number)];
  const places = sweep.places(number);
  sweep.sliders.forEach((show) => show(places));
  element("case-number").textContent = caseTitle(sweep, number);
  element("case-total").textContent = sweep.data.word ? `of ${sweep.data.total}` : `of 0 to ${sweep.data.total - 1}`;
  element("case-status").textContent = failure ? failure.split(":")[0].replaceAll("_", " ") : "";
  const filmed = sweep.filmed(number);
  element("case-note").textContent =
    filmed !== null && filmed !== number ? `the motion shown is that of the nearest case here, ${caseWords(sweep, filmed)}` : "";
  fillList(element("case-drawn"), sweep.data.drawn.map((name) => [name, quantity(sweep.value(name, number), "", 6)]));
  fillList(element("case-measures"), sweep.measures.map((name) => [name, valueText(sweep, name, number)]));
  element("no-motion").hidden = next !== null;
  element("no-motion").textContent = next === null ? `There is no motion of this case. ${failure.replace(/^\w+: /, "")}` : "";
  document.querySelector("main").classList.toggle("motionless", next === null);
  if (next && next !== film) {
    showFilm(next);
    fillList(document.querySelector(".top .parameters"), next.data.parameters);
  }
  if (!next && clock.playing) clock.pause();
  charts.forEach((chart) => chart.drawCursor());
}

function valueText(sweep, name, number) {
  const value = sweep.value(name, number);
  return Number.isFinite(value) ? quantity(value, sweep.columns.get(name).unit, 5) : "none";
}

function stepCase(sweep, by) {
  const next = Math.min(Math.max(sweep.case + by, 0), sweep.data.shown.length - 1);
  chooseCase(sweep, next);
  announce(`${caseTitle(sweep, next)}: ${caseWords(sweep, next)}`);
}

function caseKeys(sweep) {
  return { ",": () => stepCase(sweep, -1), ".": () => stepCase(sweep, 1) };
}

// `#case=12` opens the page at that case of the file.
function wantedCase(sweep) {
  const wanted = Number(/[#&]case=(\d+)/.exec(location.hash)?.[1] ?? NaN);
  const index = sweep.data.numbers ? sweep.data.numbers.indexOf(wanted) : wanted;
  return index >= 0 && index < sweep.data.shown.length ? index : null;
}

function showSweep(sweep) {
  document.querySelectorAll('[data-if="sweep"]').forEach((each) => (each.hidden = false));
  const places = sweep.axes.length + (sweep.draws > 1 ? 1 : 0);
  sweep.sliders = Array.from({ length: places }, (_, axis) => addSlider(sweep, axis));
  for (const chosen of sweep.data.charts) {
    const chart = new Chart(sweep, chosen, (number) => chooseCase(sweep, number));
    charts.push(chart);
    element("charts").append(chart.figure);
  }
  chooseCase(sweep, wantedCase(sweep) ?? sweep.case);
  fitWindow();
}
