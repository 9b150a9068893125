// The flat view: the mechanism of a film drawn on a canvas.
//
// The page knows a view only by: resize(width, height, ratio, room), draw(time, settings), fit(), zoom(factor, x, y),
// pan(dx, dy), pointAt(x, y, time), recolour(), show(film). A view of three dimensions takes this one's place by having the same.

const [LEAST_ZOOM, GREATEST_ZOOM] = [0.2, 60];
const LEAST_UNIT = 3.4; // pixels: joints and springs are drawn as if parts were at least this wide, if they are long
const THIN = 1.2; // pixels: parts narrower than this are drawn as lines
const SHADES = 32; // of a trace

class FlatView {
  constructor(canvas, film) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.show(film);
    this.recolour();
    this.fit();
  }

  // Another film, seen as the one before: a case of a sweep has its own lengths and shapes.
  show(film) {
    this.film = film;
    this.flashes = new Flashes(film);
    this.shapes = film.data.bodies.map((body) => ({ outline: polygonPath(body.outline), rim: polygonPath(body.rim) }));
    this.fittings = film.data.fittings.map((fitting) => ({
      ...fitting,
      path: fittingPath(fitting),
      track: fitting.track ? new Track(fitting.track, film) : null,
    }));
    this.bounds = film.data.bounds;
    this.steps = stepsOf(film.data, this.fittings);
    this.neighbours = neighboursOf(film.data);
    this.radii = new Map(film.data.particles.map((particle) => [particle.point, particle.radius]));
    const reach = (body) => Math.max(...body.local.map((place) => Math.hypot(...place)));
    this.shortest = Math.min(...film.data.bodies.map(reach));
  }

  recolour() {
    const style = getComputedStyle(this.canvas);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const names = ["paper", "ink", "edge", "shadow", "velocity", "force", "pin"];
    this.colours = Object.fromEntries(names.map((name) => [name, colour(name)]));
    const { paper, edge } = this.colours;
    const between = { ground: mix(paper, edge, 0.62), foot: mix(paper, edge, 0.14) };
    Object.assign(this.colours, between, { gleam: mix(edge, paper, 0.62) });
    this.shadowStrength = Number(colour("shadow-strength"));
    const list = (name) => colour(name).split(/\s+/);
    this.traceColours = list("traces");
    this.looks = list("parts").map((part) => ({
      face: mix(part, paper, 0.06),
      edge: mix(part, "#000000", 0.42),
      rim: mix(part, "#ffffff", 0.28),
      plain: part,
    }));
    this.font = style.fontFamily;
  }

  // `room` are the pixels at the top and at the bottom that the fitted picture leaves free.
  resize(width, height, ratio, room) {
    [this.width, this.height, this.ratio, this.room] = [width, height, ratio, room];
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
  }

  // The fitted picture holds the arrows that are shown, too.
  hold(settings) {
    const reaches = Object.entries(this.film.data.reach).filter(([name]) => settings[name]).map(([, reach]) => reach);
    const all = [this.film.data.bounds, ...reaches];
    const [low, high] = [(k) => Math.min(...all.map((each) => each[k])), (k) => Math.max(...all.map((each) => each[k]))];
    this.bounds = [low(0), low(1), high(2), high(3)];
  }

  // Back to the whole motion. `magnification` and `shift` say how far the user has moved away from it.
  fit() {
    this.magnification = 1;
    this.shift = [0, 0];
  }

  // The middle of the fitted picture.
  get middle() {
    return [this.width / 2, (this.height + this.room.top - this.room.bottom) / 2];
  }

  // Pixels per metre, and where the world's origin is on the canvas.
  frame() {
    const [left, bottom, right, top] = this.bounds;
    const side = Math.min(24, 0.04 * this.width);
    const [wide, high] = [this.width - 2 * side, Math.max(this.height - this.room.top - this.room.bottom, 40)];
    const scale = Math.max(Math.min(wide / (right - left), high / (top - bottom)), 1e-300) * this.magnification;
    const [x, y] = this.middle;
    return {
      scale,
      x: x + this.shift[0] - (scale * (left + right)) / 2,
      y: y + this.shift[1] + (scale * (bottom + top)) / 2,
    };
  }

  // Zoom so that what is under (x, y) stays there.
  zoom(factor, x = this.middle[0], y = this.middle[1]) {
    const next = Math.min(Math.max(this.magnification * factor, LEAST_ZOOM), GREATEST_ZOOM);
    const ratio = next / this.magnification;
    const [u, v] = [x - this.middle[0], y - this.middle[1]];
    this.shift = [u - ratio * (u - this.shift[0]), v - ratio * (v - this.shift[1])];
    this.magnification = next;
  }

  pan(dx, dy) {
    this.shift = [this.shift[0] + dx, this.shift[1] + dy];
  }

  screen(place) {
    return [this.at.x + this.at.scale * place[0], this.at.y - this.at.scale * place[1]];
  }

  seen(name, time) {
    return this.screen(this.film.position(name, time));
  }

  // The name of the point at (x, y), if one is near enough to be meant.
  pointAt(x, y, time) {
    this.at = this.frame();
    let [nearest, least] = [null, 14];
    for (const point of this.film.data.points) {
      const [px, py] = this.seen(point.name, time);
      const distance = Math.hypot(px - x, py - y);
      if (distance < least) [nearest, least] = [point.name, distance];
    }
    return nearest;
  }

  draw(time, settings) {
    const { pen } = this;
    this.hold(settings);
    this.at = this.frame();
    this.skin = this.film.data.width * this.at.scale;
    this.unit = Math.max(this.skin, Math.min(LEAST_UNIT, 0.2 * this.shortest * this.at.scale));
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    pen.lineJoin = "round";
    for (const name of this.film.data.footings) {
      drawBracket(pen, ...this.seen(name, time), this.unit, this.colours.foot, this.colours.ground);
    }
    this.fittings.filter((fitting) => fitting.height < 0).forEach((fitting) => this.drawFitting(fitting, time));
    if (settings.traces) [...settings.traced].forEach((name) => this.drawTrace(name, time, settings.tail));
    for (const [kind, thing] of this.steps) this[kind](thing, time);
    if (settings.centroids) this.drawCentroids(time);
    if (settings.velocities) this.drawVelocities(time);
    if (settings.forces) this.drawForces(this.film.data.forces, this.colours.force, time);
    if (settings.reactions) this.drawForces(this.film.data.reactions, null, time);
    if (settings.events) this.drawFlashes(time);
    if (settings.names) this.drawNames(time);
    this.drawScale(settings);
  }

  drawFlashes(time) {
    const { paper } = this.colours;
    const [colour, name] = this.traceColours;
    const look = { colour, name, paper, font: this.font, bottom: this.height - 38 };
    this.flashes.draw(this.pen, time, (place) => this.screen(place), this.film.data.arrow, look);
  }

  look(colour) {
    return this.looks[colour % this.looks.length];
  }

  drawBody(index, time) {
    const { pen, at } = this;
    const body = this.film.data.bodies[index];
    const { outline, rim } = this.shapes[index];
    const pose = this.film.pose(body, time);
    const look = this.look(body.colour);
    const drop = (1.6 + 0.5 * body.layer) * Math.min(1, this.unit / 8);
    const enter = (offset) => {
      pen.save();
      pen.transform(at.scale, 0, 0, -at.scale, at.x + offset, at.y + offset);
      pen.transform(pose.cos, pose.sin, -pose.sin, pose.cos, pose.x, pose.y);
    };
    enter(drop);
    pen.globalAlpha = this.shadowStrength;
    pen.fillStyle = this.colours.shadow;
    pen.fill(outline);
    pen.restore();
    enter(0);
    pen.fillStyle = look.face;
    pen.fill(outline);
    const lines = this.skin < THIN ? [[outline, look.face, 2]] : [[rim, look.rim, 1.2], [outline, look.edge, 1.5]];
    for (const [path, colour, width] of lines) {
      pen.lineWidth = width / at.scale;
      pen.strokeStyle = colour;
      pen.stroke(path);
    }
    pen.restore();
  }

  // What holds or moves the mechanism: any shape in a frame of its own. Lines keep their width when it is stretched.
  drawFitting(fitting, time) {
    if (fitting.shown && !fitting.shown.findLast(([since], k) => since <= time || k === 0)[1]) return; // its bond is open
    const { pen, at } = this;
    const { x, y, cos, sin, stretch } = this.film.frame(fitting, time);
    const shape = (offset) => {
      const path = new Path2D();
      const [a, b, c, d] = [stretch * cos, -stretch * sin, -sin, -cos].map((value) => value * at.scale);
      path.addPath(this.pathOf(fitting, time), { a, b, c, d, e: at.x + at.scale * x + offset, f: at.y - at.scale * y + offset });
      return path;
    };
    const [face, edge] = this.inks(fitting);
    if (fitting.shadow) {
      pen.globalAlpha = this.shadowStrength;
      pen.fillStyle = this.colours.shadow;
      pen.fill(shape((1.6 + 0.5 * Math.max(fitting.height, 0)) * Math.min(1, this.unit / 8)));
      pen.globalAlpha = 1;
    }
    const path = shape(0);
    if (face) {
      pen.fillStyle = face;
      pen.fill(path);
    }
    if (edge) {
      pen.strokeStyle = edge;
      pen.lineWidth = fitting.width * Math.min(1, 0.35 + this.unit / 8);
      pen.stroke(path);
    }
  }

  pathOf({ track, rope, path }, time) {
    if (track) return track.path(time);
    if (!rope) return path;
    const [start, end] = rope.points.map((name) => this.film.position(name, time));
    const length = rope.channel === undefined ? rope.length : this.film.at(rope.channel, time);
    return fittingPath({ shapes: [hanging(start, end, length, rope.up)], face: null });
  }

  // The colours of a fitting's face and edge: shares of its colour on the paper.
  inks({ colour, face, edge }) {
    const { paper, edge: ink } = this.colours;
    const part = colour === null ? ink : colour < 0 ? this.traceColours[0] : this.look(colour).plain;
    const rim = colour === null || colour < 0 ? part : this.look(colour).edge;
    return [face === null ? null : mix(paper, part, face), edge === null ? null : mix(paper, rim, edge)];
  }

  drawSpring(spring, time) {
    const { pen } = this;
    const [a, b] = spring.points.map((name) => this.seen(name, time));
    const coil = coilPath(a, b, spring.turns, 1.35 * this.unit);
    const wire = Math.min(2.6, 0.3 * this.unit + 0.8);
    for (const [colour, width] of [[this.colours.edge, wire], [this.colours.gleam, 0.42 * wire]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.stroke(coil);
    }
  }

  drawParticle(particle, time) {
    const { pen } = this;
    const [x, y] = this.seen(particle.point, time);
    const radius = Math.max(particle.radius * this.at.scale, 5);
    disc(pen, x, y, radius, mix(this.colours.edge, this.colours.paper, 0.25), this.colours.edge);
    disc(pen, x - 0.32 * radius, y - 0.32 * radius, 0.3 * radius, "rgb(255 255 255 / 55%)");
  }

  drawPivot(name, time) {
    const [x, y] = this.seen(name, time);
    const radius = Math.max(0.52 * this.unit, Math.min(2.4, this.unit));
    disc(this.pen, x, y, radius, this.colours.pin, this.colours.edge);
    if (radius > 3.5) disc(this.pen, x, y, 0.34 * radius, this.colours.edge);
  }

  // A point of one part only, where nothing is joined.
  drawMark(name, time) {
    disc(this.pen, ...this.seen(name, time), Math.max(0.24 * this.unit, 1.8), this.colours.edge);
  }

  // Where a point has been during the last `tail` of motion, fading with age. Each shade is one piece of the way.
  drawTrace(name, time, tail) {
    const number = this.film.data.points.findIndex((point) => point.name === name);
    if (!this.film.data.points[number]?.channels) return;
    const { pen } = this;
    pen.strokeStyle = this.traceColours[number % this.traceColours.length];
    const from = Math.max(this.film.start, time - tail);
    // Corners stand at multiples of the stride, so that an old piece of the way keeps its shape while it fades.
    const stride = Math.max(Math.min(this.film.interval / 2, tail / (4 * SHADES)), tail / 4000);
    const { breaks } = this.film;
    let then = time;
    for (let shade = SHADES; shade > 0 && then > from; shade--) {
      const until = Math.max(time - tail * (1 - (shade - 1) / SHADES), from);
      pen.globalAlpha = 0.9 * (shade / SHADES) ** 1.4;
      pen.lineWidth = 1 + (1.4 * shade) / SHADES;
      pen.beginPath();
      pen.moveTo(...this.seen(name, then));
      let jump = latest(breaks, then);
      for (let mark = Math.ceil(then / stride) - 1; mark * stride > until; mark--) {
        // A corner where the way has one.
        for (; breaks[jump] > mark * stride; jump--) if (breaks[jump] < then) pen.lineTo(...this.seen(name, breaks[jump]));
        pen.lineTo(...this.seen(name, mark * stride));
      }
      for (; breaks[jump] > until; jump--) if (breaks[jump] < then) pen.lineTo(...this.seen(name, breaks[jump]));
      pen.lineTo(...this.seen(name, until));
      pen.stroke();
      then = until;
    }
    pen.globalAlpha = 1;
  }

  drawCentroids(time) {
    const { paper, ink } = this.colours;
    for (const weight of this.film.data.weights) {
      if (weight.body === undefined) continue;
      const pose = this.film.pose(this.film.data.bodies[weight.body], time);
      drawQuartered(this.pen, this.screen(placed(pose, weight.local)), 4.5, paper, ink);
    }
    const centre = this.film.centre(time);
    if (centre) drawQuartered(this.pen, this.screen(centre), 8.5, paper, ink);
  }

  drawVelocities(time) {
    const length = this.arrowLength() / (this.film.data.peakSpeed || 1);
    for (const point of this.film.data.points) {
      if (!point.channels) continue;
      const [vx, vy] = this.film.velocity(point.name, time);
      const [x, y] = this.seen(point.name, time);
      drawArrow(this.pen, x, y, vx * length, -vy * length, this.colours.velocity, this.colours.paper);
    }
  }

  // Forces and torques, one scale for all of them; those on a part in its colour unless one is given.
  drawForces(arrows, colour, time) {
    const { force } = this.film.data.strength;
    const length = force ? this.arrowLength() / force : 0;
    for (const arrow of arrows) {
      const place = this.actsAt(arrow, time);
      const ink = colour ?? mix(this.look(arrow.colour).plain, this.colours.ink, 0.4); // to be seen on the part itself
      const values = arrow.channels.map((channel) => this.film.at(channel, time));
      const radius = 2.2 * this.unit + 6 + 9 * arrow.ring;
      if (values.length === 1) this.drawTorque(place, values[0], radius, ink);
      else this.drawForce(place, values, length, ink);
    }
  }

  // Pixels: at its point, or where its arm ends.
  actsAt(arrow, time) {
    const [x, y] = this.film.position(arrow.point, time);
    const [dx, dy] = arrow.arm?.map((channel) => this.film.at(channel, time)) ?? [0, 0];
    return this.screen([x + dx, y + dy]);
  }

  // An arrow as long as the force is strong. One that is too strong for that is broken, and its strength stands beside it.
  drawForce([x, y], [fx, fy], length, ink) {
    const { force, most } = this.film.data.strength;
    const newtons = Math.hypot(fx, fy);
    const share = newtons > most * force ? (most * force) / newtons : 1;
    const [dx, dy] = [fx * length * share, -fy * length * share];
    drawArrow(this.pen, x, y, dx, dy, ink, this.colours.paper);
    if (share === 1 || !force) return;
    drawBreak(this.pen, x, y, dx, dy, this.colours.paper);
    this.writeBeside(quantity(newtons, "N", 3), x + dx, y + dy, dx < 0);
  }

  // A turn that is the farther the stronger the torque is.
  drawTorque([x, y], value, radius, ink) {
    const { torque } = this.film.data.strength;
    const share = torque ? value / torque : 0;
    drawTurn(this.pen, x, y, radius, Math.min(Math.max(share, -1), 1), ink);
    if (Math.abs(share) > 1.000001) this.writeBeside(quantity(Math.abs(value), "N\u00a0m", 3), x, y - radius, false);
  }

  // The strength beside an arrow that does not show it by its length.
  writeBeside(text, x, y, leftwards) {
    this.pen.font = `12px ${this.font}`;
    this.pen.textAlign = leftwards ? "right" : "left";
    this.pen.textBaseline = "middle";
    this.write(text, x + (leftwards ? -5 : 5), y);
  }

  // Pixels, of an arrow of usual strength.
  arrowLength() {
    return this.film.data.arrow * this.at.scale;
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
      const [x, y] = this.seen(name, time);
      let [dx, dy] = [0, -1e-3];
      for (const other of others) {
        const [ox, oy] = this.seen(other, time);
        const distance = Math.hypot(x - ox, y - oy) || 1;
        dx += (x - ox) / distance;
        dy += (y - oy) / distance;
      }
      const size = Math.hypot(dx, dy);
      const away = Math.max(1.15 * this.unit, (this.radii.get(name) ?? 0) * this.at.scale) + 9;
      const place = [x + (away * dx) / size, y + (away * dy) / size];
      pen.strokeText(name, ...place);
      pen.fillText(name, ...place);
    }
  }

  // A bar of round length and, beside it, arrows of round size for those quantities that are shown.
  drawScale(settings) {
    const { pen } = this;
    const y = this.height - 16;
    pen.strokeStyle = this.colours.ink;
    pen.lineWidth = 1.5;
    pen.font = `12px ${this.font}`;
    pen.textAlign = "left";
    pen.textBaseline = "bottom";
    const length = roundBelow(Math.min(140, 0.25 * this.width) / this.at.scale);
    let x = 16 + length * this.at.scale;
    pen.beginPath();
    [[16, y - 5], [16, y], [x, y], [x, y - 5]].forEach((corner) => pen.lineTo(...corner));
    pen.stroke();
    this.write(quantity(length, "m"), 21, y - 3);
    const { peakSpeed, strength } = this.film.data;
    // Forces applied and reactions have one scale, so one arrow measures both.
    const shown = { velocities: settings.velocities, forces: settings.forces || settings.reactions };
    const scales = [
      ["velocities", peakSpeed, "m/s", this.colours.velocity],
      ["forces", strength.force, "N", settings.forces ? this.colours.force : this.colours.ink],
    ];
    for (const [name, usual, unit, colour] of scales) {
      if (!shown[name] || !(usual > 0)) continue;
      const size = roundBelow(usual / 2);
      const width = (this.arrowLength() * size) / usual;
      this.write(quantity(size, unit), x + 22, y - 3);
      drawArrow(pen, x + 20, y, width, 0, colour, this.colours.paper);
      x += 20 + Math.max(width, 52);
    }
    if (!settings.forces || !(strength.torque > 0)) return;
    const torque = roundBelow(strength.torque);
    drawTurn(pen, x + 30, y - 2, 8, torque / strength.torque, this.colours.force);
    this.write(quantity(torque, "N\u00a0m"), x + 46, y + 4);
  }

  write(text, x, y) {
    this.pen.fillStyle = this.colours.ink;
    this.pen.fillText(text, x, y);
  }
}

// What to draw, lowest layer first: a joint lies on the highest of its parts.
function stepsOf(data, fittings) {
  const heights = new Map();
  for (const body of data.bodies) {
    for (const name of body.points) heights.set(name, Math.max(heights.get(name) ?? 0, body.layer));
  }
  const height = (name) => heights.get(name) ?? 0;
  const steps = [
    ...fittings.filter((fitting) => fitting.height >= 0).map((fitting) => [fitting.height, "drawFitting", fitting]),
    ...data.bodies.map((body, index) => [body.layer, "drawBody", index]),
    ...data.springs.map((spring) => [Math.max(...spring.points.map(height)) + 0.4, "drawSpring", spring]),
    ...data.pivots.map((name) => [height(name) + 0.5, "drawPivot", name]),
    ...marksOf(data).map((name) => [height(name) + 0.5, "drawMark", name]),
    ...data.particles.map((particle) => [height(particle.point) + 0.6, "drawParticle", particle]),
  ];
  return steps.sort((a, b) => a[0] - b[0]).map(([, kind, thing]) => [kind, thing]);
}

function marksOf(data) {
  const others = new Set([...data.pivots, ...data.particles.map((particle) => particle.point), ...data.footings]);
  return data.points.map((point) => point.name).filter((name) => !others.has(name));
}
