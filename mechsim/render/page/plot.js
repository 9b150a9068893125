// A plot of chosen columns against time, or against another column, with a cursor that moves with the film.
//
// Curves are drawn on one canvas when something changes, the cursor on a second one above it in every picture.

const FEW_EVENTS = 12; // that have lines of their own in a plot
const PLOT_ROOM = { left: 50, right: 12, top: 22, bottom: 22 };

// Lets the canvases of a plot fill its figure, which has `ratio` pixels to each unit of length.
function fillFigure(plot, ratio) {
  const { clientWidth, clientHeight } = plot.curves.parentElement;
  [plot.width, plot.height, plot.ratio] = [clientWidth, clientHeight, ratio];
  for (const canvas of [plot.curves, plot.cursor]) {
    canvas.width = Math.round(clientWidth * ratio);
    canvas.height = Math.round(clientHeight * ratio);
  }
}

class Plot {
  // `columns` are names; `seek` is called with a time the user points at.
  constructor(film, columns, seek) {
    this.film = film;
    this.columns = columns;
    this.across = "t";
    this.figure = document.getElementById("plot-template").content.firstElementChild.cloneNode(true);
    this.curves = this.figure.querySelector(".curves");
    this.cursor = this.figure.querySelector(".cursor");
    this.legend = this.figure.querySelector(".legend");
    this.watchPointer(seek);
  }

  show(film) {
    this.film = film;
    this.drawCurves();
  }

  find(name) {
    return this.film.data.columns.find((column) => column.label === name);
  }

  resize(ratio) {
    fillFigure(this, ratio);
    this.drawCurves();
  }

  colour(index) {
    return getComputedStyle(this.figure).getPropertyValue(`--curve-${index % 6}`).trim();
  }

  // Scales of both axes: what is shown, in which unit.
  layOut() {
    const chosen = this.columns.map((name) => this.find(name));
    const across = this.find(this.across);
    const { noise } = this.film.data;
    this.x = axis([across], [this.film.extent(across)], noise, across.label === "t" ? 0 : 0.06);
    this.y = axis(chosen, chosen.map((column) => this.film.extent(column)), noise, 0.06);
    this.ink = getComputedStyle(this.figure).getPropertyValue("--ink").trim();
    this.faint = getComputedStyle(this.figure).getPropertyValue("--line").trim();
    this.muted = getComputedStyle(this.figure).getPropertyValue("--muted").trim();
    this.strokes = this.columns.map((_, index) => this.colour(index));
  }

  place(x, y) {
    const { left, right, top, bottom } = PLOT_ROOM;
    return [
      left + ((x - this.x.low) / (this.x.high - this.x.low)) * (this.width - left - right),
      this.height - bottom - ((y - this.y.low) / (this.y.high - this.y.low)) * (this.height - top - bottom),
    ];
  }

  drawCurves() {
    if (!this.width) return;
    this.layOut();
    const pen = this.curves.getContext("2d");
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    this.drawAxes(pen);
    if (this.across === "t") this.drawEvents(pen);
    const across = this.film.samples(this.find(this.across));
    pen.lineJoin = "round";
    this.columns.forEach((name, index) => {
      const along = this.film.samples(this.find(name));
      pen.lineWidth = 1.7 + 0.9 * Math.min(this.columns.length - 1 - index, 3); // seen below one that lies on it
      pen.strokeStyle = this.strokes[index];
      pen.beginPath();
      along.forEach((value, sample) => pen.lineTo(...this.place(across[sample], value)));
      pen.stroke();
    });
  }

  drawAxes(pen) {
    const { left, right, top, bottom } = PLOT_ROOM;
    pen.font = `11px ${getComputedStyle(this.figure).fontFamily}`;
    pen.fillStyle = this.muted;
    pen.strokeStyle = this.faint;
    pen.lineWidth = 1;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const mark of this.y.marks(Math.max(2, Math.round(this.height / 42)))) {
      const [, y] = this.place(this.x.low, mark.value);
      line(pen, left, y, this.width - right, y);
      pen.fillText(mark.text, left - 6, y);
    }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const mark of this.x.marks(Math.max(2, Math.round(this.width / 80)))) {
      const [x] = this.place(mark.value, this.y.low);
      line(pen, x, top, x, this.height - bottom);
      if (x < this.width - right - 26 - 7 * this.across.length) pen.fillText(mark.text, x, this.height - bottom + 5);
    }
    const name = this.across + (this.x.unit ? ` / ${this.x.unit}` : "");
    pen.textAlign = "right";
    pen.fillText(name, this.width - right + 4, this.height - bottom + 5);
    pen.textAlign = "left";
    pen.fillText(this.y.unit, left - 2, 5);
  }

  // A line at each event, or ticks on the axis where there are many.
  drawEvents(pen) {
    const rows = this.film.data.events?.rows ?? [];
    const [top, bottom] = [PLOT_ROOM.top, this.height - PLOT_ROOM.bottom];
    const few = rows.length <= FEW_EVENTS;
    const [met, told] = getComputedStyle(this.figure).getPropertyValue("--traces").trim().split(/\s+/);
    pen.save();
    pen.lineWidth = 1;
    pen.globalAlpha = few ? 0.55 : 0.8;
    pen.setLineDash(few ? [3, 3] : []);
    for (const row of rows) {
      const [x] = this.place(row.t, this.y.low);
      pen.strokeStyle = row.kind === "event" ? told : met;
      line(pen, x, few ? top : bottom - 6, x, bottom);
    }
    pen.restore();
  }

  drawCursor(time) {
    if (!this.width) return;
    const pen = this.cursor.getContext("2d");
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    const across = this.film.column(this.find(this.across), time);
    if (this.across === "t") {
      const [x] = this.place(across, this.y.low);
      pen.strokeStyle = this.ink;
      pen.lineWidth = 1;
      line(pen, x, PLOT_ROOM.top - 4, x, this.height - PLOT_ROOM.bottom);
    }
    this.columns.forEach((name, index) => {
      pen.fillStyle = this.strokes[index];
      pen.beginPath();
      pen.arc(...this.place(across, this.film.column(this.find(name), time)), 4, 0, 2 * Math.PI);
      pen.fill();
    });
    this.legend.querySelectorAll("output").forEach((output, index) => {
      const column = this.find(this.columns[index]);
      const value = this.film.column(column, time);
      // What is only rounding is nothing.
      const nothing = Math.abs(value) <= this.film.data.noise * column.size;
      output.textContent = quantity(nothing ? 0 : value, column.unit, 4);
    });
  }

  watchPointer(seek) {
    const point = (event) => {
      if (this.across !== "t" || !event.buttons) return;
      const { left, right } = PLOT_ROOM;
      const share = (event.offsetX - left) / (this.width - left - right);
      seek(this.x.low + share * (this.x.high - this.x.low));
    };
    this.cursor.addEventListener("pointerdown", point);
    this.cursor.addEventListener("pointermove", point);
  }
}

// The axis that holds all the samples of some columns. Columns of different units share the axis without one.
//
// What is constant but for rounding is a straight line: the axis is as long as the quantity is large, not as the noise.
function axis(columns, series, noise, room) {
  let [low, high] = [Infinity, -Infinity];
  for (const samples of series) {
    for (const value of samples) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (!(high >= low)) [low, high] = [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high), ...columns.map((column) => column.size)) || 1;
  if (high - low > noise * size) {
    [low, high] = [low - room * (high - low), high + room * (high - low)];
  } else {
    const middle = Math.abs(low + high) / 2 <= noise * size ? 0 : (low + high) / 2;
    [low, high] = [middle - size / 2, middle + size / 2];
  }
  const units = columns.map((column) => column.unit);
  const common = units.length && units.every((unit) => unit === units[0]) ? units[0] : "";
  const { factor, unit } = prefixed(Math.max(Math.abs(low), Math.abs(high)), common);
  const texts = (wanted) => {
    const { step, found } = marks(low * factor, high * factor, wanted);
    return found.map((mark) => ({ value: mark / factor, text: markText(mark, step) }));
  };
  return { low, high, unit, marks: texts };
}
