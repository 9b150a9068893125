// Curves that move: their formulas come with the film and are worked out at the time that is shown.
//
// A formula is a number, the name of a symbol, or a list of an operation and its operands.

const OPERATIONS = {
  "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b, "**": Math.pow,
  abs: Math.abs, sqrt: Math.sqrt, exp: Math.exp, log: Math.log, sin: Math.sin, cos: Math.cos, tan: Math.tan,
  asin: Math.asin, acos: Math.acos, atan: Math.atan, atan2: Math.atan2, sinh: Math.sinh, cosh: Math.cosh, tanh: Math.tanh,
};
const CURVE_GRID = 121; // lines of the grid on which an implicit curve is looked for
const CURVE_POINTS = 600; // of a curve that is given by a parameter

// A formula as a function of the values of its symbols.
function compiled(formula) {
  if (typeof formula === "number") return () => formula;
  if (typeof formula === "string") return (values) => values[formula];
  const operation = OPERATIONS[formula[0]];
  const [a, b] = formula.slice(1).map(compiled);
  return b ? (values) => operation(a(values), b(values)) : (values) => operation(a(values));
}

class Track {
  constructor(track, film) {
    Object.assign(this, track);
    this.film = film;
    this.functions = track.rows.map(compiled);
    this.free = Object.fromEntries(Object.entries(track.free).map(([symbol, name]) => [name, symbol]));
  }

  // The values of all symbols but those that run along the curve.
  values(time) {
    const values = { ...this.parameters, t: time };
    for (const [symbol, source] of Object.entries(this.given)) {
      if (source.channel !== undefined) values[symbol] = this.film.at(source.channel, time);
      else values[symbol] = source.times ? source.values[latest(source.times, time)] : source.value;
    }
    return values;
  }

  // The curve at a time as pieces of lines, each a list of corners.
  lines(time) {
    return this.run ? this.sampled(this.values(time)) : this.contour(this.values(time));
  }

  sampled(values) {
    const [left, bottom, right, top] = this.box;
    const lines = [[]];
    for (let k = 0; k <= CURVE_POINTS; k++) {
      values[this.free.s] = this.run[0] + ((this.run[1] - this.run[0]) * k) / CURVE_POINTS;
      const [x, y] = this.functions.map((row) => -row(values));
      if (x >= left && x <= right && y >= bottom && y <= top) lines.at(-1).push([x, y]);
      else if (lines.at(-1).length) lines.push([]);
    }
    return lines.filter((line) => line.length > 1);
  }

  // Marching squares: in every cell of the grid the pieces between the places where F changes its sign on its sides.
  contour(values) {
    const [left, bottom, right, top] = this.box;
    const place = (i, j) => [left + ((right - left) * i) / (CURVE_GRID - 1), bottom + ((top - bottom) * j) / (CURVE_GRID - 1)];
    const rows = Array.from({ length: CURVE_GRID }, (_, j) => Float64Array.from({ length: CURVE_GRID }, (_, i) => {
      const [x, y] = place(i, j);
      if (this.free.x) values[this.free.x] = x;
      if (this.free.y) values[this.free.y] = y;
      return this.functions[0](values);
    }));
    const lines = [];
    for (let j = 0; j + 1 < CURVE_GRID; j++) {
      for (let i = 0; i + 1 < CURVE_GRID; i++) {
        const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
        const crossings = corners.flatMap((corner, side) => {
          const other = corners[(side + 1) % 4];
          const [f, g] = [rows[corner[1]][corner[0]], rows[other[1]][other[0]]];
          if (!Number.isFinite(f) || !Number.isFinite(g) || f > 0 === g > 0) return [];
          const share = f / (f - g);
          return [place(corner[0] + share * (other[0] - corner[0]), corner[1] + share * (other[1] - corner[1]))];
        });
        for (let k = 0; k + 1 < crossings.length; k += 2) lines.push([crossings[k], crossings[k + 1]]);
      }
    }
    return lines;
  }

  path(time) {
    const path = new Path2D();
    for (const line of this.lines(time)) line.forEach(([x, y], k) => (k ? path.lineTo(x, y) : path.moveTo(x, y)));
    return path;
  }
}
