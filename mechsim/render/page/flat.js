// The flat view: the mechanism of a film drawn on a canvas.
//
// The page knows a view only by: resize(width, height, ratio), draw(time, settings), fit(), zoom(factor, x, y),
// pan(dx, dy), pointAt(x, y, time), recolour(). A view of three dimensions takes this one's place by having the same.

const MARGIN = 34; // pixels around the whole motion
const LEAST_ZOOM = 0.2;
const GREATEST_ZOOM = 60;

class FlatView {
  constructor(canvas, film) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.film = film;
    this.outlines = film.data.bodies.map((body) => polygonPath(body.outline));
    this.order = film.data.bodies.map((_, index) => index);
    this.order.sort((a, b) => film.data.bodies[a].layer - film.data.bodies[b].layer);
    this.neighbours = neighboursOf(film.data);
    this.recolour();
    this.fit();
  }

  recolour() {
    const style = getComputedStyle(this.canvas);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const names = ["paper", "ink", "soft", "ground", "spring", "velocity", "force", "pin"];
    this.colours = Object.fromEntries(names.map((name) => [name, colour(name)]));
    this.parts = Array.from({ length: 9 }, (_, index) => colour(`part-${index}`));
    this.font = style.fontFamily;
  }

  resize(width, height, ratio) {
    [this.width, this.height, this.ratio] = [width, height, ratio];
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
  }

  // Back to the whole motion. `magnification` and `shift` say how far the user has moved away from it.
  fit() {
    this.magnification = 1;
    this.shift = [0, 0];
  }

  // Pixels per metre, and where the world's origin is on the canvas.
  frame() {
    const [left, bottom, right, top] = this.film.data.bounds;
    const margin = Math.min(MARGIN, 0.08 * Math.min(this.width, this.height));
    const room = [this.width - 2 * margin, this.height - 2 * margin];
    const whole = Math.min(room[0] / (right - left), room[1] / (top - bottom));
    const scale = Math.max(whole, 1e-300) * this.magnification;
    return {
      scale,
      x: this.width / 2 + this.shift[0] - (scale * (left + right)) / 2,
      y: this.height / 2 + this.shift[1] + (scale * (bottom + top)) / 2,
    };
  }

  // Zoom so that what is under (x, y) stays there.
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const next = Math.min(Math.max(this.magnification * factor, LEAST_ZOOM), GREATEST_ZOOM);
    const ratio = next / this.magnification;
    this.shift = [
      x - this.width / 2 - ratio * (x - this.width / 2 - this.shift[0]),
      y - this.height / 2 - ratio * (y - this.height / 2 - this.shift[1]),
    ];
    this.magnification = next;
  }

  pan(dx, dy) {
    this.shift = [this.shift[0] + dx, this.shift[1] + dy];
  }

  screen(place) {
    return [this.at.x + this.at.scale * place[0], this.at.y - this.at.scale * place[1]];
  }

  // The name of the point at (x, y), if one is near enough to be meant.
  pointAt(x, y, time) {
    this.at = this.frame();
    let [nearest, least] = [null, 14];
    for (const point of this.film.data.points) {
      const [px, py] = this.screen(this.film.position(point.name, time));
      const distance = Math.hypot(px - x, py - y);
      if (distance < least) [nearest, least] = [point.name, distance];
    }
    return nearest;
  }

  draw(time, settings) {
    this.at = this.frame();
    this.unit = Math.min(Math.max(this.film.data.width * this.at.scale, 3.2), 40); // half the width of a part, in pixels
    this.pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.pen.clearRect(0, 0, this.width, this.height);
    this.pen.lineJoin = "round";
    this.film.data.guides.forEach((points) => this.drawGuide(points, time));
    this.film.data.ground.forEach((name) => this.drawGround(name, time));
    if (settings.traces) settings.traced.forEach((name) => this.drawTrace(name, time, settings.tail));
    this.order.forEach((index) => this.drawBody(index, time));
    this.film.data.springs.forEach((spring) => this.drawSpring(spring, time));
    this.film.data.particles.forEach((particle) => this.drawParticle(particle, time));
    this.film.data.pivots.forEach((name) => this.drawPivot(name, time));
    if (settings.centroids) this.drawCentroids(time);
    if (settings.velocities) this.drawVelocities(time);
    if (settings.reactions) this.drawReactions(time);
    if (settings.names) this.drawNames(time);
    this.drawScale(settings);
  }

  partColour(index) {
    return this.parts[index % this.parts.length];
  }

  drawBody(index, time) {
    const { pen, at } = this;
    const body = this.film.data.bodies[index];
    const pose = this.film.pose(body, time);
    const colour = this.partColour(body.colour);
    pen.save();
    pen.transform(at.scale, 0, 0, -at.scale, at.x, at.y);
    pen.transform(pose.cos, pose.sin, -pose.sin, pose.cos, pose.x, pose.y);
    pen.globalAlpha = 0.78;
    pen.fillStyle = colour;
    pen.fill(this.outlines[index]);
    pen.globalAlpha = 1;
    pen.lineWidth = 1.6 / at.scale;
    pen.strokeStyle = colour;
    pen.stroke(this.outlines[index]);
    pen.restore();
  }

  drawSpring(spring, time) {
    const { pen } = this;
    const [a, b] = spring.points.map((name) => this.screen(this.film.position(name, time)));
    for (const [colour, width] of [[this.colours.paper, 4.6], [this.colours.spring, 2.2]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = Math.min(width, this.unit);
      pen.stroke(coilPath(a, b, spring.turns, 1.25 * this.unit));
    }
  }

  drawParticle(particle, time) {
    const [x, y] = this.screen(this.film.position(particle.point, time));
    this.disc(x, y, Math.max(particle.radius * this.at.scale, 4.5), this.partColour(particle.colour), this.colours.ink);
  }

  drawPivot(name, time) {
    const [x, y] = this.screen(this.film.position(name, time));
    this.disc(x, y, Math.max(0.42 * this.unit, 2), this.colours.pin, this.colours.ink);
  }

  disc(x, y, radius, fill, edge) {
    const { pen } = this;
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fillStyle = fill;
    pen.fill();
    pen.lineWidth = 1.3;
    pen.strokeStyle = edge;
    pen.stroke();
  }

  // Points that stay on one line: a rail from the first of them to the last.
  drawGuide(points, time) {
    const { pen } = this;
    const places = points.map((name) => this.screen(this.film.position(name, time)));
    const [a, b] = farthest(places);
    for (const [colour, width] of [[this.colours.ground, 0.9 * this.unit + 2], [this.colours.soft, 0.9 * this.unit]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.lineCap = "round";
      line(pen, ...a, ...b);
    }
    pen.lineCap = "butt";
  }

  // A foot under a fixed point, standing on hatched ground.
  drawGround(name, time) {
    const { pen } = this;
    const [x, y] = this.screen(this.film.position(name, time));
    const [half, height] = [1.5 * this.unit, 2 * this.unit];
    pen.strokeStyle = this.colours.ground;
    pen.fillStyle = this.colours.soft;
    pen.lineWidth = 1.4;
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x + half, y + height);
    pen.lineTo(x - half, y + height);
    pen.closePath();
    pen.fill();
    pen.stroke();
    pen.beginPath();
    pen.moveTo(x - 1.6 * half, y + height);
    pen.lineTo(x + 1.6 * half, y + height);
    for (let tooth = -1.2; tooth <= 1.61; tooth += 0.56) {
      pen.moveTo(x + tooth * half, y + height);
      pen.lineTo(x + (tooth - 0.42) * half, y + height + 0.62 * half);
    }
    pen.stroke();
  }

  // Where a point has been during the last `tail` of motion, fading with age.
  drawTrace(name, time, tail) {
    const point = this.film.points.get(name);
    if (!point?.channels) return;
    const { pen } = this;
    const steps = 160;
    const stride = tail / steps;
    const from = Math.max(this.film.start, time - tail);
    pen.strokeStyle = this.partColour(point.colour);
    pen.lineCap = "butt";
    let last = this.screen(this.film.position(name, time));
    // Marks stand at multiples of the stride, so that an old piece of the path keeps its shape while it fades.
    for (let mark = Math.ceil(time / stride) - 1; ; mark--) {
      const then = Math.max(mark * stride, from);
      const here = this.screen(this.film.position(name, then));
      const youth = Math.max(1 - (time - then) / tail, 0);
      pen.globalAlpha = 0.9 * youth ** 1.3;
      pen.lineWidth = 1 + 1.6 * youth;
      pen.beginPath();
      pen.moveTo(...last);
      pen.lineTo(...here);
      pen.stroke();
      last = here;
      if (then <= from) break;
    }
    pen.globalAlpha = 1;
  }

  // The draughtsman's mark of a centre of mass: a disc with two dark quarters.
  drawCentroids(time) {
    for (const weight of this.film.data.weights) {
      if (weight.body === undefined) continue;
      const pose = this.film.pose(this.film.data.bodies[weight.body], time);
      this.quartered(this.screen(placed(pose, weight.local)), 4.5);
    }
    const centre = this.film.centre(time);
    if (centre) this.quartered(this.screen(centre), 8.5);
  }

  quartered([x, y], radius) {
    const { pen } = this;
    this.disc(x, y, radius, this.colours.paper, this.colours.ink);
    pen.fillStyle = this.colours.ink;
    for (const turn of [0, Math.PI]) {
      pen.beginPath();
      pen.moveTo(x, y);
      pen.arc(x, y, radius, turn, turn + Math.PI / 2);
      pen.fill();
    }
  }

  drawVelocities(time) {
    const length = this.arrowLength() / (this.film.data.peakSpeed || 1);
    for (const point of this.film.data.points) {
      if (point.channels) this.arrow(point.name, this.film.velocity(point.name, time), length, this.colours.velocity, time);
    }
  }

  drawReactions(time) {
    const { reactions } = this.film.data;
    const length = this.arrowLength() / (reactions.peak || 1);
    for (const reaction of reactions.forces) {
      const force = reaction.channels.map((channel) => this.film.at(channel, time));
      this.arrow(reaction.point, force, length, this.colours.force, time);
    }
  }

  arrowLength() {
    const [left, bottom, right, top] = this.film.data.bounds;
    return 0.22 * Math.max(right - left, top - bottom) * this.at.scale;
  }

  arrow(name, [vx, vy], length, colour, time) {
    const [x, y] = this.screen(this.film.position(name, time));
    this.arrowFrom(x, y, vx * length, -vy * length, colour);
  }

  arrowFrom(x, y, dx, dy, colour) {
    const size = Math.hypot(dx, dy);
    if (size < 1.5) return;
    const { pen } = this;
    const head = Math.min(9, 0.6 * size);
    const [ux, uy] = [dx / size, dy / size];
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x + dx - 0.8 * head * ux, y + dy - 0.8 * head * uy);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(x + dx, y + dy);
    pen.lineTo(x + dx - head * (ux + 0.42 * uy), y + dy - head * (uy - 0.42 * ux));
    pen.lineTo(x + dx - head * (ux - 0.42 * uy), y + dy - head * (uy + 0.42 * ux));
    pen.fill();
  }

  // A name stands on the side of its point that is away from the point's neighbours.
  drawNames(time) {
    const { pen } = this;
    pen.font = `600 13px ${this.font}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineWidth = 3.5;
    pen.strokeStyle = this.colours.paper;
    pen.fillStyle = this.colours.ink;
    for (const [name, others] of this.neighbours) {
      const [x, y] = this.screen(this.film.position(name, time));
      let [dx, dy] = [0, -1e-3];
      for (const other of others) {
        const [ox, oy] = this.screen(this.film.position(other, time));
        const distance = Math.hypot(x - ox, y - oy) || 1;
        dx += (x - ox) / distance;
        dy += (y - oy) / distance;
      }
      const size = Math.hypot(dx, dy);
      const away = 1.15 * this.unit + 9;
      const place = [x + (away * dx) / size, y + (away * dy) / size];
      pen.strokeText(name, ...place);
      pen.fillText(name, ...place);
    }
  }

  // A bar of round length and, when velocities are shown, an arrow of round speed.
  drawScale(settings) {
    const { pen } = this;
    const [x, y] = [16, this.height - 16];
    pen.strokeStyle = pen.fillStyle = this.colours.ink;
    pen.lineWidth = 1.5;
    pen.font = `12px ${this.font}`;
    pen.textAlign = "left";
    pen.textBaseline = "bottom";
    const length = roundBelow(Math.min(150, 0.35 * this.width) / this.at.scale);
    const end = x + length * this.at.scale;
    pen.beginPath();
    pen.moveTo(x, y - 5);
    pen.lineTo(x, y);
    pen.lineTo(end, y);
    pen.lineTo(end, y - 5);
    pen.stroke();
    pen.fillText(quantity(length, "m"), x + 5, y - 3);
    const peak = this.film.data.peakSpeed;
    if (!settings.velocities || !(peak > 0)) return;
    const speed = roundBelow(peak / 2);
    pen.fillText(quantity(speed, "m/s"), end + 29, y - 3);
    this.arrowFrom(end + 24, y, (this.arrowLength() * speed) / peak, 0, this.colours.velocity);
  }
}

function polygonPath(corners) {
  const path = new Path2D();
  corners.forEach(([x, y], index) => (index ? path.lineTo(x, y) : path.moveTo(x, y)));
  path.closePath();
  return path;
}

// A coil from a to b: straight ends, and between them loops seen from the side.
function coilPath([ax, ay], [bx, by], turns, radius) {
  const length = Math.hypot(bx - ax, by - ay) || 1e-9;
  const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
  const lead = Math.min(2 * radius, 0.16 * length);
  const depth = Math.min(0.55 * radius, (0.5 * (length - 2 * lead)) / turns); // how far a loop leans back
  const path = new Path2D();
  path.moveTo(ax, ay);
  const steps = 24 * turns;
  for (let step = 0; step <= steps; step++) {
    const phase = (2 * Math.PI * turns * step) / steps;
    const along = lead + ((length - 2 * lead) * step) / steps + depth * (1 - Math.cos(phase)) * 0.5;
    const across = radius * Math.sin(phase);
    path.lineTo(ax + along * ux - across * uy, ay + along * uy + across * ux);
  }
  path.lineTo(bx, by);
  return path;
}

function farthest(places) {
  let [pair, most] = [[places[0], places[0]], -1];
  for (const a of places) {
    for (const b of places) {
      const distance = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (distance > most) [pair, most] = [[a, b], distance];
    }
  }
  return pair;
}

function neighboursOf(data) {
  const groups = [...data.bodies.map((body) => body.points), ...data.springs.map((spring) => spring.points)];
  const others = (name) => groups.filter((group) => group.includes(name)).flat().filter((other) => other !== name);
  return new Map(data.points.map((point) => [point.name, [...new Set(others(point.name))]]));
}
