// A chart of a sweep's measure with the chosen case marked: a curve along an axis, dots of draws, or a map over two axes.
// Pointing at it chooses the case that is nearest.

const CHART_ROOM = { left: 58, right: 14, top: 10, bottom: 24 };
const SCALE_ROOM = 64; // for the scale of colours beside a map

class Chart {
  // `chosen` is { measure, across, up }, by label; `up` is null but for a map.
  constructor(sweep, chosen, choose) {
    Object.assign(this, { sweep, choose, ...chosen });
    this.figure = element("chart-template").content.firstElementChild.cloneNode(true);
    this.curves = this.figure.querySelector(".curves");
    this.cursor = this.figure.querySelector(".cursor");
    this.output = this.figure.querySelector("output");
    this.fillSelects();
    this.watchPointer();
    this.describe();
  }

  fillSelects() {
    const [measure, over] = this.figure.querySelectorAll("select");
    for (const name of this.sweep.measures) measure.add(new Option(name, name, false, name === this.measure));
    const ways = this.sweep.parameters.map((name) => ({ words: name, across: name, up: null }));
    this.sweep.axes.forEach((axis, k) => {
      for (const other of this.sweep.axes.slice(k + 1)) {
        ways.push({ words: `${axis.name}, ${other.name}`, across: axis.name, up: other.name });
      }
    });
    ways.forEach(({ words, across, up }, k) => {
      const own = across === this.across && up === this.up;
      over.add(new Option(words, String(k), false, own));
    });
    measure.addEventListener("change", () => this.change({ measure: measure.value }));
    over.addEventListener("change", () => this.change(ways[Number(over.value)]));
  }

  change(chosen) {
    Object.assign(this, chosen);
    this.describe();
    this.drawCurves();
    this.drawCursor();
  }

  describe() {
    const over = this.up ? `${this.across} and ${this.up}` : this.across;
    this.curves.setAttribute("aria-label", `${this.measure} against ${over}, the chosen case marked`);
  }

  resize(ratio) {
    fillFigure(this, ratio);
    this.drawCurves();
    this.drawCursor();
  }

  colour(name) {
    return getComputedStyle(this.figure).getPropertyValue(`--${name}`).trim();
  }

  clear(canvas) {
    const pen = canvas.getContext("2d");
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    return pen;
  }

  // The cases that are drawn now: along the axis, or all draws where the axis stands.
  cases() {
    const { sweep } = this;
    const axis = sweep.axisOf(this.across);
    if (this.up) {
      const up = sweep.axisOf(this.up);
      return sweep.along(axis).flatMap((number) => {
        const places = sweep.places(number);
        return sweep.axes[up].values.map((_, k) => sweep.number(replaced(places, up, k)));
      });
    }
    if (axis === sweep.axes.length) return sweep.along(axis);
    if (sweep.draws === 1) return sweep.along(axis);
    return sweep.along(axis).flatMap((number) => {
      const places = sweep.places(number);
      return Array.from({ length: sweep.draws }, (_, k) => sweep.number(replaced(places, places.length - 1, k)));
    });
  }

  layOut() {
    const column = (name) => this.sweep.columns.get(name);
    const all = (name) => column(name).values.filter(Number.isFinite);
    const isLog = (name) => this.sweep.axes[this.sweep.axisOf(name)]?.log ?? false;
    const room = this.up ? 0 : 0.04;
    this.x = scaleOf(all(this.across), "", isLog(this.across), room, this.up ? column(this.across).values : null);
    this.y = this.up
      ? scaleOf(all(this.up), "", isLog(this.up), 0, column(this.up).values)
      : scaleOf(all(this.measure), column(this.measure).unit, false, 0.08, null, this.sweep.data.noise);
    this.z = this.up ? scaleOf(all(this.measure), column(this.measure).unit, false, 0, null, this.sweep.data.noise) : null;
    this.right = CHART_ROOM.right + (this.up ? SCALE_ROOM : 0);
  }

  place(x, y) {
    const { left, top, bottom } = CHART_ROOM;
    return [
      left + this.x.share(x) * (this.width - left - this.right),
      this.height - bottom - this.y.share(y) * (this.height - top - bottom),
    ];
  }

  spot(number) {
    const up = this.sweep.value(this.up ?? this.measure, number);
    return this.place(this.sweep.value(this.across, number), up);
  }

  drawCurves() {
    if (!this.width) return;
    this.layOut();
    const pen = this.clear(this.curves);
    if (this.up) this.drawMap(pen);
    this.drawAxes(pen);
    if (this.up) this.drawColours(pen);
    else this.drawLine(pen);
  }

  drawLine(pen) {
    const cases = this.cases();
    const isCurve = this.sweep.draws === 1 && this.sweep.axisOf(this.across) < this.sweep.axes.length;
    const value = (number) => this.sweep.value(this.measure, number);
    const inOrder = [...cases].sort((a, b) => this.sweep.value(this.across, a) - this.sweep.value(this.across, b));
    pen.strokeStyle = pen.fillStyle = this.colour("curve-0");
    pen.lineWidth = 1.7;
    pen.lineJoin = "round";
    if (isCurve) {
      pen.beginPath();
      let down = false;
      for (const number of inOrder) {
        const known = Number.isFinite(value(number));
        if (known) pen[down ? "lineTo" : "moveTo"](...this.spot(number));
        down = known;
      }
      pen.stroke();
    }
    const radius = isCurve ? (cases.length > 60 ? 0 : 2.4) : Math.max(1.2, 3 - cases.length / 800);
    if (!isCurve) pen.globalAlpha = Math.max(0.25, 0.75 - cases.length / 4000);
    for (const number of cases) {
      if (!Number.isFinite(value(number)) || !radius) continue;
      pen.beginPath();
      pen.arc(...this.spot(number), radius, 0, 2 * Math.PI);
      pen.fill();
    }
    pen.globalAlpha = 1;
    for (const number of cases.filter((each) => !Number.isFinite(value(each)))) {
      const [x] = this.place(this.sweep.value(this.across, number), this.y.low);
      this.drawCross(pen, x, this.height - CHART_ROOM.bottom - 6, 3.5);
    }
  }

  drawMap(pen) {
    const [columns, rows] = [this.across, this.up].map((name) => new Set(this.sweep.columns.get(name).values).size);
    const [wide, high] = [this.width - CHART_ROOM.left - this.right, this.height - CHART_ROOM.top - CHART_ROOM.bottom];
    const size = Math.min(3.5, 0.32 * Math.min(wide / columns, high / rows));
    const stops = this.colour("heat").split(/\s+/);
    for (const number of this.cases()) {
      const value = this.sweep.value(this.measure, number);
      const [left, right] = this.x.cell(this.sweep.value(this.across, number));
      const [low, up] = this.y.cell(this.sweep.value(this.up, number));
      const [x0, y0] = this.place(left, low);
      const [x1, y1] = this.place(right, up);
      if (Number.isFinite(value)) {
        pen.fillStyle = shade(stops, this.z.share(value));
        pen.fillRect(x0, y1, x1 - x0 + 0.6, y0 - y1 + 0.6); // a little over, so that no gap shines through
      } else if (size > 0.8) {
        this.drawCross(pen, (x0 + x1) / 2, (y0 + y1) / 2, size);
      }
    }
  }

  drawCross(pen, x, y, size) {
    pen.strokeStyle = this.colour("force");
    pen.lineWidth = 1.4;
    line(pen, x - size, y - size, x + size, y + size);
    line(pen, x - size, y + size, x + size, y - size);
  }

  drawAxes(pen) {
    const { left, top, bottom } = CHART_ROOM;
    pen.font = `11px ${getComputedStyle(this.figure).fontFamily}`;
    pen.fillStyle = this.colour("muted");
    pen.strokeStyle = this.colour("line");
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const mark of this.y.marks(Math.max(2, Math.round(this.height / 46)))) {
      const [, y] = this.place(this.x.low, mark.value);
      if (!this.up) line(pen, left, y, this.width - this.right, y);
      pen.fillText(mark.text, left - 6, y);
    }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    const end = this.width - this.right;
    for (const mark of this.x.marks(Math.max(2, Math.round((end - left) / 80)))) {
      const [x] = this.place(mark.value, this.y.low);
      if (!this.up) line(pen, x, top, x, this.height - bottom);
      if (x < end - 22 - 7 * this.across.length) pen.fillText(mark.text, x, this.height - bottom + 6);
    }
    pen.fillStyle = this.colour("ink");
    pen.textAlign = "right";
    pen.fillText(this.across, end + 4, this.height - bottom + 6);
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillText(this.up ?? this.y.unit, 6, top + 2);
  }

  drawColours(pen) {
    const { top, bottom } = CHART_ROOM;
    const [x, height] = [this.width - this.right + 10, this.height - top - bottom];
    const stops = this.colour("heat").split(/\s+/);
    for (let k = 0; k < height; k++) {
      pen.fillStyle = shade(stops, 1 - k / (height - 1));
      pen.fillRect(x, top + k, 9, 1.5);
    }
    pen.fillStyle = this.colour("muted");
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    for (const mark of this.z.marks(Math.max(2, Math.round(height / 46)))) {
      pen.fillText(mark.text, x + 13, top + (1 - this.z.share(mark.value)) * height);
    }
  }

  // The chosen case: a ring, with lines to the axes.
  drawCursor() {
    const { sweep } = this;
    this.output.textContent = valueText(sweep, this.measure, sweep.case);
    if (!this.width) return;
    if (this.drawnAt !== this.background()) this.drawCurves();
    this.drawnAt = this.background();
    const pen = this.clear(this.cursor);
    const [x, y] = this.spot(sweep.case);
    const { top, bottom } = CHART_ROOM;
    pen.strokeStyle = this.colour("ink");
    pen.lineWidth = 1;
    if (!this.up) line(pen, x, top - 4, x, this.height - bottom);
    if (!Number.isFinite(y)) return;
    if (this.up) {
      const [left, right] = this.x.cell(sweep.value(this.across, sweep.case));
      const [low, up] = this.y.cell(sweep.value(this.up, sweep.case));
      const [[x0, y0], [x1, y1]] = [this.place(left, low), this.place(right, up)];
      for (const [colour, width] of [[this.colour("paper"), 4], [this.colour("ink"), 1.8]]) {
        [pen.strokeStyle, pen.lineWidth] = [colour, width];
        pen.strokeRect(x0, y1, Math.max(x1 - x0, 4), Math.max(y0 - y1, 4));
      }
      return;
    }
    disc(pen, x, y, 5.5, this.colour("curve-1"), this.colour("paper"));
  }

  // What the curves below depend on: which values the other axes have.
  background() {
    const places = this.sweep.places(this.sweep.case);
    const free = [this.sweep.axisOf(this.across), this.up ? this.sweep.axisOf(this.up) : -1];
    if (this.sweep.draws > 1 && !this.up) free.push(this.sweep.axes.length);
    return places.map((place, k) => (free.includes(k) ? "" : place)).join(",");
  }

  watchPointer() {
    const point = (event) => {
      if (event.type === "pointermove" && !event.buttons) return;
      let [nearest, least] = [null, Infinity];
      const alongOnly = !this.up && this.sweep.draws === 1; // a curve is pointed at by its axis
      for (const number of this.cases()) {
        const [x, y] = this.spot(number);
        const dy = alongOnly ? 0 : Number.isFinite(y) ? y - event.offsetY : 40;
        const distance = Math.hypot(x - event.offsetX, dy);
        if (distance < least) [nearest, least] = [number, distance];
      }
      if (nearest !== null && nearest !== this.sweep.case) this.choose(nearest);
    };
    this.cursor.addEventListener("pointerdown", point);
    this.cursor.addEventListener("pointermove", point);
  }
}

// A colour between the stops of a scale.
function shade(stops, share) {
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const k = Math.min(Math.floor(place), stops.length - 2);
  return mix(stops[k], stops[k + 1], place - k);
}

// A scale over values: where each stands, from 0 to 1, and round marks. With `centres` it reaches half a cell further, and
// tells the cell about each of them.
function scaleOf(values, unit, log, room, centres = null, noise = 1e-13) {
  const [forth, back] = log ? [Math.log10, (v) => 10 ** v] : [(v) => v, (v) => v];
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(high >= low)) [low, high] = [log ? 1 : 0, log ? 10 : 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low <= noise * size) [low, high] = log ? [low / 2, low * 2] : [low - (size || 1) / 2, high + (size || 1) / 2];
  let [first, last] = [forth(low), forth(high)];
  const cells = new Map();
  if (centres) {
    const all = [...new Set(centres)].sort((a, b) => a - b).map(forth);
    all.forEach((centre, k) => {
      const before = k ? (centre - all[k - 1]) / 2 : ((all[k + 1] ?? centre + 1) - centre) / 2;
      const after = k + 1 < all.length ? (all[k + 1] - centre) / 2 : before;
      cells.set(back(centre).toPrecision(9), [back(centre - before), back(centre + after)]);
    });
    const edges = [...cells.values()];
    [first, last] = [forth(edges[0][0]), forth(edges.at(-1)[1])];
  } else {
    [first, last] = [first - room * (last - first), last + room * (last - first)];
  }
  const { factor, unit: prefixedUnit } = prefixed(Math.max(Math.abs(low), Math.abs(high)), unit);
  const linear = (wanted) => {
    const { step, found } = marks(back(first) * factor, back(last) * factor, wanted);
    return found.map((mark) => ({ value: mark / factor, text: markText(mark, step) }));
  };
  const decades = () => {
    const steps = last - first > 3 ? [1] : [1, 2, 5];
    const found = [];
    for (let power = Math.floor(first); power <= last; power++) {
      for (const step of steps) {
        const value = step * 10 ** power;
        if (forth(value) >= first && forth(value) <= last) found.push({ value, text: quantity(value, "", 3) });
      }
    }
    return found;
  };
  return {
    low: back(first), high: back(last), unit: prefixedUnit,
    share: (value) => (forth(value) - first) / (last - first),
    cell: (value) => cells.get(value.toPrecision(9)) ?? [value, value],
    marks: (wanted) => (log ? decades() : linear(wanted)),
  };
}
