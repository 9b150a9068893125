// The 3D view: the mechanism of a film as lit solids. To the page it is what the flat view is, and besides it can be turned:
// orbit(dx, dy), turnTo(face), and `turning` while it turns by itself.

const TURN = 320; // milliseconds that a turn to another face takes
const MOST_PIECES = 20000; // of a trace
const LIGHT = { east: -0.3, north: -0.6, up: 1.05 }; // where the key light comes from, before the camera turns
const FLOOR_GAP = 0.02; // of the motion's size, below its lowest place
const MISSING = "This browser does not draw solids: WebGL 2 is missing or switched off. Plots, values and the clock work as ever.";

class SpaceView {
  constructor(canvas, film) {
    this.canvas = canvas;
    this.camera = new Camera(film.data.up);
    this.overlay = new Overlay(canvas, this.camera);
    this.beginSolids();
    this.show(film);
    this.recolour();
    this.home = homeOf(film.data);
    this.camera.look(this.home);
    this.fitted = true;
    this.turning = null;
  }

  // The solids have a canvas of their own, below the one that is written on.
  beginSolids() {
    const solids = element("solids");
    try {
      this.renderer = new Renderer(solids);
    } catch (error) {
      element("no-solids").textContent = error.message === "no WebGL 2" ? MISSING : `${MISSING} (${error.message})`;
      element("no-solids").hidden = false;
      solids.style.visibility = "hidden";
      this.renderer = null;
    }
    solids.addEventListener("webglcontextlost", (event) => event.preventDefault());
    solids.addEventListener("webglcontextrestored", () => {
      this.renderer.begin();
      this.renderer.load(this.things);
      this.changed?.();
    });
  }

  // Another film, seen as the one before.
  show(film) {
    this.film = film;
    this.things = new Things(film);
    this.things.radius = radiiOf(film.data);
    this.overlay.show(film, this.things);
    this.ways = new Map();
    this.renderer?.load(this.things);
    this.stage = stageOf(film.data, this.camera);
    if (this.colours) this.recolour();
  }

  recolour() {
    this.overlay.recolour();
    const style = getComputedStyle(this.canvas);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const list = (name) => colour(name).split(/\s+/);
    const [paper, edge] = [colour("paper"), colour("edge")];
    const bright = paper > "#7"; // a light room
    const greys = bright
      ? { pin: "#dfe2e6", steel: "#a9b0b9", mark: "#4a525d", particle: "#6a7380", ground: "#b9bfc7" }
      : { pin: "#c9ced6", steel: "#98a1ad", mark: "#8b949f", particle: "#77818e", ground: "#59626e" };
    const parts = list("parts").map(lightOf);
    this.colours = { paper: screenOf(paper), ink: screenOf(edge), shade: screenOf(colour("shadow")), bright };
    this.colours.strength = bright ? 0.26 : 0.62;
    this.traceInks = list("traces").map(screenOf);
    // The end of a part where nothing is joined is of the part's colour, but darker.
    this.things.recolour(({ look, colour: number }) => {
      const own = look === "part" || (look === "mark" && typeof number === "number");
      return own ? times(parts[number % parts.length], look === "mark" ? 0.45 : 1) : lightOf(greys[look]);
    });
  }

  resize(width, height, ratio, room) {
    this.ratio = ratio;
    this.camera.resize(width, height, room);
    for (const canvas of [this.canvas, this.renderer?.canvas]) {
      if (!canvas) continue;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    // On a phone the buttons are in the way of the scale, which then stands above them.
    const row = document.querySelector(".views");
    this.overlay.lift = row.offsetLeft < width / 4 ? row.offsetHeight + 6 : 0;
    if (this.fitted) this.camera.fit(this.film.data.cloud);
  }

  // The whole motion, seen from where one is.
  fit() {
    this.turning = null;
    this.camera.fit(this.film.data.cloud);
    this.fitted = true;
  }

  zoom(factor, x, y) {
    this.leave();
    this.camera.zoom(factor, x, y);
  }

  pan(dx, dy) {
    this.leave();
    this.camera.pan(dx, dy);
  }

  orbit(dx, dy) {
    this.turning = null;
    this.camera.orbit(dx, dy);
  }

  leave() {
    this.turning = null;
    this.fitted = false;
  }

  // Turn to a face of FACES, and show the whole motion from there.
  turnTo(face) {
    const { camera } = this;
    const from = { azimuth: camera.azimuth, elevation: camera.elevation, target: camera.target, distance: camera.distance };
    const wanted = face === "home" ? this.home : FACES[face];
    const turns = Math.round((from.azimuth - wanted.azimuth) / (2 * Math.PI)); // the short way round
    camera.look(wanted);
    camera.fit(this.film.data.cloud);
    this.fitted = true;
    const to = { ...wanted, azimuth: wanted.azimuth + 2 * Math.PI * turns, target: camera.target, distance: camera.distance };
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.turning = { from, to, since: performance.now() };
  }

  turnOn() {
    const { from, to, since } = this.turning;
    const share = Math.min((performance.now() - since) / TURN, 1);
    const soft = share * share * (3 - 2 * share);
    const between = (a, b) => a + soft * (b - a);
    this.camera.look({ azimuth: between(from.azimuth, to.azimuth), elevation: between(from.elevation, to.elevation) });
    this.camera.target = from.target.map((value, axis) => between(value, to.target[axis]));
    this.camera.distance = between(from.distance, to.distance);
    if (share === 1) this.turning = null;
  }

  seen(name, time) {
    return this.camera.seen(this.film.position(name, time)).slice(0, 2);
  }

  // The name of the point at (x, y), the nearest to the eye of those that may be meant.
  pointAt(x, y, time) {
    let [nearest, least] = [null, Infinity];
    for (const { name } of this.film.data.points) {
      const [px, py, depth] = this.camera.seen(this.film.position(name, time));
      if (Math.hypot(px - x, py - y) < 14 && depth < least) [nearest, least] = [name, depth];
    }
    return nearest;
  }

  draw(time, settings) {
    if (this.turning) this.turnOn();
    this.things.move(time);
    const traced = settings.traces ? [...settings.traced] : [];
    this.renderer?.draw(this.look(), traced.map((name) => this.trace(name, time, settings.tail)).filter(Boolean));
    this.overlay.draw(time, settings, this.ratio);
  }

  // All that the renderer asks for but the things themselves.
  look() {
    const { camera, stage, colours, ratio } = this;
    const eye = camera.eye;
    return {
      camera: camera.matrix(stage.centre, 1.2 * stage.floorReach),
      sun: stage.sun,
      grain: stage.grain,
      light: stage.light,
      up: camera.up,
      eye,
      ratio,
      pixel: [2 / (camera.width * ratio), 2 / (camera.height * ratio)],
      focus: camera.focus * ratio,
      least: 0.8 / camera.focus,
      line: 1.15 * ratio,
      dark: colours.bright ? 0.2 : 0.12,
      sky: colours.bright ? 1 : 0.8,
      paper: colours.paper,
      floor: {
        middle: stage.middle, east: camera.east, north: camera.north, reach: stage.floorReach,
        step_size: stage.step, grid_shift: stage.shift, ink: colours.ink, shade: colours.shade, strength: colours.strength,
        from_above: dot(minus(eye, stage.middle), camera.up) > 0 ? 1 : 0,
      },
    };
  }

  // The trace of a point: its way through the whole film, made once, and which pieces of it are seen.
  trace(name, time, tail) {
    const number = this.things.number.get(name);
    if (!this.film.data.points[number]?.channels) return null;
    const stride = Math.max(Math.min(this.film.interval / 8, tail / 512), tail / 4000, this.film.span / MOST_PIECES) || 1;
    if (!this.ways.has(name)) this.ways.set(name, wayOf(this.film, name, stride));
    const way = this.ways.get(name);
    const piece = (moment) => Math.floor((moment - this.film.start) / stride);
    const last = Math.min(piece(time) + 1, way.length / 4 - 1);
    return {
      way, tail, last, first: Math.max(piece(time - tail), 0), now: time - this.film.start,
      ink: this.traceInks[number % this.traceInks.length],
    };
  }
}

// Times are counted from the film's start: 32 bits tell moments apart even late in a long run.
function wayOf(film, name, stride) {
  const count = Math.ceil(film.span / stride) + 1;
  const way = new Float32Array(4 * count);
  for (let k = 0; k < count; k++) {
    const moment = Math.min(k * stride, film.span);
    way.set([...film.position(name, film.start + moment), moment], 4 * k);
  }
  return way;
}

// What does not change with the camera: the middle of the motion, its light, its floor.
function stageOf(data, camera) {
  const [low, high] = [data.bounds.slice(0, 3), data.bounds.slice(3)];
  const centre = times(plus(low, high), 0.5);
  const size = Math.max(...data.cloud.map((place) => Math.hypot(...minus(place, centre))));
  const light = unit(plus(plus(times(camera.east, LIGHT.east), camera.north, LIGHT.north), camera.up, LIGHT.up));
  const floorHeight = Math.min(...data.cloud.map((place) => dot(minus(place, centre), camera.up))) - FLOOR_GAP * size;
  const middle = plus(centre, camera.up, floorHeight);
  const floorReach = 3.2 * size;
  const step = roundBelow(size / 2.2);
  const right = unit(cross(camera.north, light));
  const top = cross(light, right);
  const wide = 1.04 * size;
  const deep = 5 * size;
  // The light is far away: its rays are parallel, and its picture has no perspective.
  const lens = [1 / wide, 0, 0, 0, 0, 1 / wide, 0, 0, 0, 0, -2 / deep, 0, 0, 0, 2 * (1.1 * size) / deep - 1, 1];
  const sun = product(lens, looking(right, top, light, centre));
  // Lines of the floor go through the world's origin.
  const shift = [dot(middle, camera.east), dot(middle, camera.north)];
  return { centre, size, light, middle, floorReach, step, shift, sun, grain: (2 * wide) / MAP };
}

function homeOf(data) {
  if (!data.view) return HOME;
  const [azimuth, elevation] = data.view.map((degrees) => (degrees * Math.PI) / 180);
  return { azimuth, elevation };
}

// How large each point's ball is, so that its name stands beside it.
function radiiOf(data) {
  const radii = new Map(data.points.map(({ name }) => [name, 0]));
  for (const { point, radius } of [...data.balls, ...data.marks, ...data.particles]) radii.set(point, radius);
  for (const { points, radius } of data.hinges) points.forEach((point) => radii.set(point, radius));
  return radii;
}

// #rrggbb as shares of what the screen can do.
function screenOf(hex) {
  return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16) / 255);
}
