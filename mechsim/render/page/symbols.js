// Shapes that stand for things, on a canvas in pixels: coils, ground, joints, centres of mass, arrows.

// `colour` with a share of another, both written as #rrggbb.
function mix(colour, other, share) {
  const parts = (hex) => [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
  const [from, to] = [parts(colour), parts(other)];
  const mixed = from.map((value, index) => Math.round(value + share * (to[index] - value)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

function polygonPath(corners) {
  const path = new Path2D();
  corners.forEach(([x, y], index) => (index ? path.lineTo(x, y) : path.moveTo(x, y)));
  path.closePath();
  return path;
}

// The shapes of a fitting as one path: a region if it has a face, else open lines.
function fittingPath({ shapes, face }) {
  const path = new Path2D();
  for (const shape of shapes) {
    shape.forEach(([x, y], index) => (index ? path.lineTo(x, y) : path.moveTo(x, y)));
    if (face !== null) path.closePath();
  }
  return path;
}

function line(pen, x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

function disc(pen, x, y, radius, fill, edge = null) {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fillStyle = fill;
  pen.fill();
  if (!edge) return;
  pen.lineWidth = 1.4;
  pen.strokeStyle = edge;
  pen.stroke();
}

// A spring from a to b seen a little from the side: wire that runs backwards where it faces us makes loops.
function coilPath([ax, ay], [bx, by], turns, radius) {
  const length = Math.hypot(bx - ax, by - ay) || 1e-9;
  const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
  const lead = Math.min(1.2 * radius, 0.12 * length);
  const body = length - 2 * lead;
  const slant = Math.min(0.45 * radius, (0.45 * body) / turns);
  const path = new Path2D();
  path.moveTo(ax, ay);
  const steps = 18 * turns;
  for (let step = 0; step <= steps; step++) {
    const phase = (2 * Math.PI * turns * step) / steps;
    const taper = Math.min(1, (turns - Math.abs((2 * turns * step) / steps - turns)));
    const along = lead + (body * step) / steps + slant * Math.cos(phase) * taper;
    const across = radius * Math.sin(phase) * taper;
    path.lineTo(ax + along * ux - across * uy, ay + along * uy + across * ux);
  }
  path.lineTo(bx, by);
  return path;
}

// A bracket under a fixed point, standing on hatched ground.
function drawBracket(pen, x, y, size, face, edge) {
  const [half, depth] = [1.15 * size, 1.75 * size];
  pen.beginPath();
  pen.moveTo(x - half, y + depth);
  pen.arc(x, y, 0.85 * size, Math.PI, 0);
  pen.lineTo(x + half, y + depth);
  pen.closePath();
  pen.fillStyle = face;
  pen.fill();
  pen.strokeStyle = edge;
  pen.lineWidth = 1.4;
  pen.stroke();
  line(pen, x - 1.75 * size, y + depth, x + 1.75 * size, y + depth);
  for (let tooth = -1.3; tooth < 1.71; tooth += 0.6) {
    line(pen, x + tooth * size, y + depth, x + (tooth - 0.55) * size, y + depth + 0.62 * size);
  }
}

// The draughtsman's mark of a centre of mass: a disc with two dark quarters.
function drawQuartered(pen, [x, y], radius, light, dark) {
  disc(pen, x, y, radius, light, dark);
  pen.fillStyle = dark;
  for (const turn of [0, Math.PI]) {
    pen.beginPath();
    pen.moveTo(x, y);
    pen.arc(x, y, radius, turn, turn + Math.PI / 2);
    pen.fill();
  }
}

// An arrow with a rim of the other colour, so that it is seen on parts too.
function drawArrow(pen, x, y, dx, dy, colour, rim) {
  const size = Math.hypot(dx, dy);
  if (size < 1.5) return;
  const head = Math.min(11, 0.6 * size);
  const [ux, uy] = [dx / size, dy / size];
  const at = (along, across) => [x + along * ux - across * uy, y + along * uy + across * ux];
  const corners = [[0, 1.1], [size - head, 1.1], [size - head, 0.42 * head], [size, 0]];
  const mirrored = corners.slice(0, 3).reverse().map(([along, across]) => [along, -across]);
  const shape = polygonPath([...corners, ...mirrored].map((corner) => at(...corner)));
  pen.strokeStyle = rim;
  pen.lineWidth = 2.4;
  pen.stroke(shape);
  pen.fillStyle = colour;
  pen.fill(shape);
}

// Two slanting strokes across an arrow: it stands for more than it is long.
function drawBreak(pen, x, y, dx, dy, colour) {
  const size = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / size, dy / size];
  pen.strokeStyle = colour;
  pen.lineWidth = 2;
  for (const along of [0.45 * size, 0.45 * size + 5]) {
    const [cx, cy] = [x + along * ux, y + along * uy];
    line(pen, cx - 2 * ux - 7 * uy, cy - 2 * uy + 7 * ux, cx + 2 * ux + 7 * uy, cy + 2 * uy - 7 * ux);
  }
}

// Up to two thirds of a turn around (x, y), by the share of the largest torque; a positive one is counter-clockwise.
function drawTurn(pen, x, y, radius, share, colour) {
  const sweep = 4.2 * Math.abs(share);
  if (sweep * radius < 1.5) return;
  const sign = share > 0 ? -1 : 1; // the canvas counts angles clockwise
  const head = Math.min(10, 0.7 * sweep * radius);
  const [from, to] = [sign * 0.9, sign * (0.9 + sweep - head / radius)];
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 2.2;
  pen.beginPath();
  pen.arc(x, y, radius, from, to, sign < 0);
  pen.stroke();
  const [cos, sin] = [Math.cos(to), Math.sin(to)];
  pen.beginPath();
  pen.moveTo(x + (radius - head / 2) * cos, y + (radius - head / 2) * sin);
  pen.lineTo(x + radius * cos - sign * head * sin, y + radius * sin + sign * head * cos);
  pen.lineTo(x + (radius + head / 2) * cos, y + (radius + head / 2) * sin);
  pen.fill();
}
