// What lies on the picture of the 3D view, drawn flat: names, arrows, centres of mass, the directions of the axes, a scale.

const AXES = [["x", "--curve-1"], ["y", "--curve-2"], ["z", "--curve-0"]];
const TRIAD = 26; // pixels

class Overlay {
  constructor(canvas, camera) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.camera = camera;
    this.neighbours = new Map();
    this.lift = 0; // pixels that the scale stands higher
  }

  show(film, things) {
    [this.film, this.things] = [film, things];
    this.flashes = new Flashes(film);
    this.neighbours = neighboursOf(film.data);
  }

  recolour() {
    const style = getComputedStyle(this.canvas);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.colours = { paper: colour("--paper"), ink: colour("--ink"), velocity: colour("--velocity"), force: colour("--force") };
    this.axes = AXES.map(([name, variable]) => [name, colour(variable)]);
    this.parts = colour("--parts").split(/\s+/);
    this.traces = colour("--traces").split(/\s+/);
    this.font = style.fontFamily;
  }

  draw(time, settings, ratio) {
    const { pen, camera } = this;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, camera.width, camera.height);
    pen.lineJoin = "round";
    if (settings.centroids) this.drawCentroids();
    if (settings.velocities) this.drawVelocities(time);
    if (settings.forces) this.drawForces(this.film.data.forces, this.colours.force, time);
    if (settings.reactions) this.drawForces(this.film.data.reactions, null, time);
    if (settings.events) this.drawFlashes(time);
    if (settings.names) this.drawNames();
    this.drawTriad();
    this.drawScale(settings);
  }

  drawFlashes(time) {
    const [colour, name] = this.traces;
    const look = { colour, name, paper: this.colours.paper, font: this.font, bottom: this.camera.height - 38 - this.lift };
    this.flashes.draw(this.pen, time, (place) => this.camera.seen(place), this.film.data.arrow, look);
  }

  seen(name) {
    return this.camera.seen(this.things.place(name));
  }

  drawCentroids() {
    const { paper, ink } = this.colours;
    for (const weight of this.film.data.weights) {
      if (weight.body === undefined) continue;
      drawQuartered(this.pen, this.camera.seen(this.things.placed(weight.body, weight.local)), 4.5, paper, ink);
    }
    const centre = this.things.centre();
    if (centre) drawQuartered(this.pen, this.camera.seen(centre), 8.5, paper, ink);
  }

  // An arrow of the world, as it is seen.
  drawWay(place, way, colour) {
    const [from, to] = [this.camera.seen(place), this.camera.seen(plus(place, way))];
    drawArrow(this.pen, from[0], from[1], to[0] - from[0], to[1] - from[1], colour, this.colours.paper);
    return [from, to];
  }

  drawVelocities(time) {
    const length = this.film.data.arrow / (this.film.data.peakSpeed || 1);
    for (const point of this.film.data.points) {
      if (!point.channels) continue;
      this.drawWay(this.things.place(point.name), times(this.film.velocity(point.name, time), length), this.colours.velocity);
    }
  }

  // Forces and torques, each to one scale; those on a part in its colour unless one is given.
  drawForces(arrows, colour, time) {
    const { force, torque, most } = this.film.data.strength;
    for (const arrow of arrows) {
      const arm = arrow.arm?.map((channel) => this.film.at(channel, time)) ?? [0, 0, 0];
      const place = plus(this.things.place(arrow.point), arm);
      const ink = colour ?? mix(this.parts[arrow.colour % this.parts.length], this.colours.ink, 0.4);
      const values = arrow.channels.map((channel) => this.film.at(channel, time));
      if (values.length < 3) {
        const [x, y] = this.camera.seen(place);
        drawTurn(this.pen, x, y, 16 + 9 * arrow.ring, torque ? Math.max(-1, Math.min(values[0] / torque, 1)) : 0, ink);
        continue;
      }
      const usual = arrow.turning ? torque : force;
      const strong = Math.hypot(...values);
      const share = strong > most * usual ? (most * usual) / strong : 1;
      const [from, to] = this.drawWay(place, times(values, usual ? (share * this.film.data.arrow) / usual : 0), ink);
      const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
      // A torque is told from a force by a second head; what is stronger than can be drawn is broken.
      if (arrow.turning) drawArrow(this.pen, from[0], from[1], 0.86 * dx, 0.86 * dy, ink, this.colours.paper);
      if (share === 1 || !usual) continue;
      drawBreak(this.pen, from[0], from[1], dx, dy, this.colours.paper);
      this.write(quantity(strong, arrow.turning ? "N\u00a0m" : "N", 3), to[0] + (dx < 0 ? -5 : 5), to[1], dx < 0 ? "right" : "left");
    }
  }

  // A name stands on the side of its point that is away from the point's neighbours.
  drawNames() {
    const { pen } = this;
    pen.font = `600 13px ${this.font}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineWidth = 3.5;
    pen.strokeStyle = this.colours.paper;
    pen.fillStyle = this.colours.ink;
    for (const [name, others] of this.neighbours) {
      const [x, y, depth] = this.seen(name);
      let [dx, dy] = [0, -1e-3];
      for (const other of others) {
        const [ox, oy] = this.seen(other);
        const distance = Math.hypot(x - ox, y - oy) || 1;
        dx += (x - ox) / distance;
        dy += (y - oy) / distance;
      }
      const size = Math.hypot(dx, dy);
      const away = (this.things.radius.get(name) * this.camera.focus) / depth + 11;
      pen.strokeText(name, x + (away * dx) / size, y + (away * dy) / size);
      pen.fillText(name, x + (away * dx) / size, y + (away * dy) / size);
    }
  }

  // The world's axes, the nearest last.
  drawTriad() {
    const { pen, camera } = this;
    const middle = [TRIAD + 24, camera.height - TRIAD - 56 - this.lift];
    const ways = this.axes.map(([name, colour], axis) => (
      { name, colour, x: camera.right[axis], y: -camera.over[axis], near: camera.back[axis] }
    )).sort((a, b) => a.near - b.near);
    pen.lineCap = "round";
    for (const { name, colour, x, y, near } of ways) {
      const end = [middle[0] + TRIAD * x, middle[1] + TRIAD * y];
      pen.globalAlpha = 0.78 + 0.22 * near;
      pen.strokeStyle = colour;
      pen.lineWidth = 2.4;
      line(pen, ...middle, ...end);
      pen.font = `600 12px ${this.font}`;
      this.write(name, end[0] + 9 * x, end[1] + 9 * y, "center", colour);
    }
    pen.globalAlpha = 1;
    pen.lineCap = "butt";
    disc(pen, ...middle, 2.6, this.colours.ink);
  }

  // A bar of round length, as long as it is where one looks at; arrows of round size for what is shown.
  drawScale(settings) {
    const { pen, camera } = this;
    const y = camera.height - 16 - this.lift;
    const length = roundBelow(Math.min(140, 0.25 * camera.width) / camera.scale);
    let x = 16 + length * camera.scale;
    pen.strokeStyle = this.colours.ink;
    pen.lineWidth = 1.5;
    pen.beginPath();
    [[16, y - 5], [16, y], [x, y], [x, y - 5]].forEach((corner) => pen.lineTo(...corner));
    pen.stroke();
    pen.font = `12px ${this.font}`;
    this.write(quantity(length, "m"), 21, y - 10);
    const { peakSpeed, strength, arrow } = this.film.data;
    const scales = [
      [settings.velocities, peakSpeed, "m/s", this.colours.velocity],
      [settings.forces || settings.reactions, strength.force, "N", settings.forces ? this.colours.force : this.colours.ink],
    ];
    for (const [shown, usual, name, colour] of scales) {
      if (!shown || !(usual > 0)) continue;
      const size = roundBelow(usual / 2);
      const width = (arrow * camera.scale * size) / usual;
      this.write(quantity(size, name), x + 22, y - 10);
      drawArrow(pen, x + 20, y, width, 0, colour, this.colours.paper);
      x += 20 + Math.max(width, 52);
    }
  }

  write(text, x, y, align = "left", colour = this.colours.ink) {
    this.pen.textAlign = align;
    this.pen.textBaseline = "middle";
    this.pen.fillStyle = colour;
    this.pen.fillText(text, x, y);
  }
}
