// The things of a 3D film: what there is to draw, as instances of meshes, and where each of them is at a time.
//
// An instance is 16 numbers: three axes and an origin, its colour, and by how much it swells. Instances of one mesh lie
// side by side, so that one call draws all of them.

const INSTANCE = 16;
const MANY = 120;

class Things {
  constructor(film) {
    this.film = film;
    const { points } = film.data;
    this.number = new Map(points.map((point, number) => [point.name, number]));
    this.places = new Float64Array(3 * points.length); // of all points at the time shown
    this.channels = new Int32Array(3 * points.length).fill(-1);
    points.forEach((point, number) => {
      if (point.place) this.places.set(point.place, 3 * number);
      else this.channels.set(point.channels, 3 * number);
    });
    this.bodies = film.data.bodies.map((body) => ({
      first: 3 * this.number.get(body.points[0]),
      second: body.points.length > 1 ? 3 * this.number.get(body.points[1]) : -1,
      beside: body.beside < 0 ? -1 : 3 * this.number.get(body.points[body.beside]),
      side: body.beside < 0 ? 1 : Math.sign(body.local[body.beside][1]),
    }));
    this.frames = new Float64Array(12 * this.bodies.length);
    this.gather();
    this.time = null;
  }

  // All instances, those of one mesh together.
  gather() {
    const groups = new Map();
    for (const item of itemsOf(this.film.data, this)) {
      groups.set(item.mesh, [...(groups.get(item.mesh) ?? []), item]);
    }
    this.items = [...groups.values()].flat();
    this.instances = new Float32Array(INSTANCE * this.items.length);
    const sides = this.items.length > MANY ? COARSE : FINE;
    let first = 0;
    this.batches = [...groups].map(([mesh, items]) => {
      first += items.length;
      return { mesh: meshOf(mesh, this.film, sides), first: first - items.length, count: items.length };
    });
    this.items.forEach((item, number) => (this.instances[INSTANCE * number + 15] = item.swell ?? 0));
  }

  // `palette(item)` is the light that an item sends back.
  recolour(palette) {
    this.items.forEach((item, number) => this.instances.set(palette(item), INSTANCE * number + 12));
  }

  // Everything at its place at this time.
  move(time) {
    if (time === this.time) return;
    this.time = time;
    this.film.fill(this.channels, time, this.places);
    for (let number = 0; number < this.bodies.length; number++) this.pose(this.bodies[number], 12 * number);
    for (let number = 0; number < this.items.length; number++) this.items[number].put(this, INSTANCE * number);
  }

  place(name) {
    const start = 3 * this.number.get(name);
    return [this.places[start], this.places[start + 1], this.places[start + 2]];
  }

  // The frame of a body: x towards its second point, y to the side of the first that is off that line. A rod has none;
  // how it is turned about itself does not matter.
  pose({ first, second, beside, side }, to) {
    const { places, frames } = this;
    const [ox, oy, oz] = [places[first], places[first + 1], places[first + 2]];
    frames.set(IDENTITY, to);
    frames[to + 9] = ox; frames[to + 10] = oy; frames[to + 11] = oz;
    if (second < 0) return;
    let [ax, ay, az] = [places[second] - ox, places[second + 1] - oy, places[second + 2] - oz];
    const long = 1 / (Math.sqrt(ax * ax + ay * ay + az * az) || 1);
    ax *= long; ay *= long; az *= long;
    let [bx, by, bz] = beside < 0
      ? leastAlong([ax, ay, az])
      : [places[beside] - ox, places[beside + 1] - oy, places[beside + 2] - oz];
    let [cx, cy, cz] = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
    const wide = side / (Math.sqrt(cx * cx + cy * cy + cz * cz) || 1);
    cx *= wide; cy *= wide; cz *= wide;
    frames[to] = ax; frames[to + 1] = ay; frames[to + 2] = az;
    frames[to + 3] = cy * az - cz * ay; frames[to + 4] = cz * ax - cx * az; frames[to + 5] = cx * ay - cy * ax;
    frames[to + 6] = cx; frames[to + 7] = cy; frames[to + 8] = cz;
  }

  // A place of a body's own frame, in the world.
  placed(body, [x, y, z]) {
    const frame = this.frames.subarray(12 * body, 12 * body + 12);
    return [0, 1, 2].map((k) => frame[k] * x + frame[3 + k] * y + frame[6 + k] * z + frame[9 + k]);
  }

  // The centre of mass of the whole mechanism, or null where nothing has mass.
  centre() {
    let [mass, sum] = [0, [0, 0, 0]];
    for (const weight of this.film.data.weights) {
      const place = weight.body === undefined ? this.place(weight.point) : this.placed(weight.body, weight.local);
      mass += weight.mass;
      sum = plus(sum, place, weight.mass);
    }
    return mass > 0 ? times(sum, 1 / mass) : null;
  }
}

const IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0, 1];

// Everything that is drawn: { mesh, look, colour, swell, put(things, to) }, where put writes an instance's axes and origin.
function itemsOf(data, things) {
  const at = (name) => 3 * things.number.get(name);
  const ball = (look) => ({ point, radius, colour }) => ({ mesh: "sphere", look, colour, put: putRound(at(point), radius) });
  const damper = ({ points: [a, b], radius }) => [
    { mesh: "cylinder", look: "steel", put: putBetween(at(a), at(b), radius, [0.08, 0.56]) },
    { mesh: "cylinder", look: "pin", put: putBetween(at(a), at(b), 0.45 * radius, [0, 1]) },
  ];
  return [
    ...data.bodies.flatMap((body, number) => body.pieces.map((piece) => (
      { mesh: piece.mesh, look: "part", colour: body.colour, swell: piece.swell, put: putPiece(12 * number, piece) }
    ))),
    ...data.hinges.map(({ points: [a, b], radius }) => (
      { mesh: "cylinder", look: "pin", put: putBetween(at(a), at(b), radius, [0, 1], 2.1 * radius) }
    )),
    ...data.balls.map(ball("pin")),
    ...data.marks.map(ball("mark")),
    ...data.particles.map(ball("particle")),
    ...data.feet.map(({ point, radius, side }) => (
      { mesh: "foot", look: "ground", put: putStanding(at(point), radius, times(data.up, -side)) }
    )),
    ...data.stones.map(ball("ground")),
    ...data.plates.map((plate) => ({ mesh: "box", look: "ground", put: putPlate(plate) })),
    ...data.ropes.map(({ points: [a, b], radius }) => (
      { mesh: "cylinder", look: "mark", put: putBetween(at(a), at(b), radius, [0, 1]) }
    )),
    ...data.dampers.flatMap(damper),
    ...data.springs.map(({ points: [a, b], turns, radius, wire }) => (
      { mesh: `coil ${turns}`, look: "steel", swell: wire, put: putBetween(at(a), at(b), radius, null) }
    )),
  ];
}

// A piece of a body, whose frame begins at `from`.
function putPiece(from, { at: [x, y, z], axes }) {
  return ({ frames, instances }, to) => {
    for (let row = 0; row < 3; row++) {
      const [a, b, c] = [frames[from + row], frames[from + 3 + row], frames[from + 6 + row]];
      instances[to + row] = a * axes[0] + b * axes[1] + c * axes[2];
      instances[to + 3 + row] = a * axes[3] + b * axes[4] + c * axes[5];
      instances[to + 6 + row] = a * axes[6] + b * axes[7] + c * axes[8];
      instances[to + 9 + row] = a * x + b * y + c * z + frames[from + 9 + row];
    }
  };
}

// A plane that points stay above, where it is at the time shown.
function putPlate({ axes, at, channels }) {
  return ({ film, time, instances }, to) => {
    instances.set(axes, to);
    instances.set(channels?.map((channel) => film.at(channel, time)) ?? at, to + 9);
  };
}

function putRound(from, radius) {
  return ({ places, instances }, to) => {
    for (let row = 0; row < 3; row++) {
      for (let axis = 0; axis < 3; axis++) instances[to + 3 * axis + row] = axis === row ? radius : 0;
      instances[to + 9 + row] = places[from + row];
    }
  };
}

// Upright along `up`, at a point.
function putStanding(from, radius, up) {
  const across = unit(cross(leastAlong(up), up));
  const axes = [across, cross(up, across), up].flatMap((axis) => times(axis, radius));
  return ({ places, instances }, to) => {
    instances.set(axes, to);
    for (let row = 0; row < 3; row++) instances[to + 9 + row] = places[from + row];
  };
}

// Along z from one point to another, from one share of the way to another, and `beyond` both. A coil (no shares) begins at
// its own origin, all else is about it.
function putBetween(from, until, radius, shares, beyond = 0) {
  const [start, end] = shares ?? [0, 1];
  return ({ places, instances }, to) => {
    let way = [places[until] - places[from], places[until + 1] - places[from + 1], places[until + 2] - places[from + 2]];
    const length = Math.hypot(...way) || 1e-30;
    const ahead = length > 1e-30 ? times(way, 1 / length) : [0, 0, 1];
    const across = unit(cross(leastAlong(ahead), ahead));
    const over = cross(ahead, across);
    const middle = shares ? (0.5 * (start + end)) * length : 0;
    const long = (end - start) * length + 2 * beyond;
    for (let row = 0; row < 3; row++) {
      instances[to + row] = radius * across[row];
      instances[to + 3 + row] = radius * over[row];
      instances[to + 6 + row] = long * ahead[row];
      instances[to + 9 + row] = places[from + row] + middle * ahead[row];
    }
  };
}
