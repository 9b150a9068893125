// The camera of the 3D view: it looks at a target from a distance, turned about the upright axis and tilted.
//
// At azimuth 0 and elevation 0 it looks at the front: x to the right, up upwards. Angles are radians.

const LENS = 1.9; // focal length in heights of the picture: a long lens, so that parallel parts look parallel
const HOME = { azimuth: 0.58, elevation: 0.36 };
const FACES = {
  home: HOME,
  front: { azimuth: 0, elevation: 0 },
  side: { azimuth: Math.PI / 2, elevation: 0 },
  top: { azimuth: 0, elevation: Math.PI / 2 },
};
const STEEPEST = Math.PI / 2;
const [NEAREST, FARTHEST] = [0.02, 30]; // distances, in those of the fitted picture

class Camera {
  constructor(up) {
    this.up = unit(up);
    const across = Math.abs(this.up[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0];
    this.east = unit(plus(across, this.up, -dot(across, this.up)));
    this.north = cross(this.up, this.east);
    Object.assign(this, HOME, { target: [0, 0, 0], distance: 1, usual: 1 });
    this.resize(1, 1, { top: 0, bottom: 0 });
    this.turned();
  }

  resize(width, height, room) {
    [this.width, this.height] = [width, height];
    this.focus = LENS * Math.min(height, 1.25 * width); // pixels
    this.middle = [width / 2, (height + room.top - room.bottom) / 2];
    const side = Math.min(24, 0.04 * width);
    this.free = [Math.max(width / 2 - side, 20), Math.max((height - room.top - room.bottom) / 2, 20)];
  }

  // Axes of the picture in the world. They are found from the angles, so that looking straight down is nothing special.
  turned() {
    const [sin, cos] = [Math.sin(this.azimuth), Math.cos(this.azimuth)];
    const [high, flat] = [Math.sin(this.elevation), Math.cos(this.elevation)];
    const outward = plus(times(this.east, sin), this.north, -cos);
    this.right = plus(times(this.east, cos), this.north, sin);
    this.back = plus(times(outward, flat), this.up, high);
    this.over = plus(times(outward, -high), this.up, flat);
  }

  look({ azimuth, elevation }) {
    this.azimuth = azimuth;
    this.elevation = Math.min(Math.max(elevation, -STEEPEST), STEEPEST);
    this.turned();
  }

  // Dragging by pixels turns what is seen with the finger; across the whole picture it is turned about by 200 degrees.
  orbit(dx, dy) {
    const rate = 3.5 / Math.max(Math.min(this.width, this.height), 200);
    this.look({ azimuth: this.azimuth - rate * dx, elevation: this.elevation + rate * dy });
  }

  // Pixels per metre at the target.
  get scale() {
    return this.focus / this.distance;
  }

  pan(dx, dy) {
    this.target = plus(plus(this.target, this.right, -dx / this.scale), this.over, dy / this.scale);
  }

  // What is at (x, y), as far away as the target, stays there.
  zoom(factor, x = this.middle[0], y = this.middle[1]) {
    const next = Math.min(Math.max(this.distance / factor, NEAREST * this.usual), FARTHEST * this.usual);
    const share = (1 - next / this.distance) / this.scale;
    this.target = plus(plus(this.target, this.right, share * (x - this.middle[0])), this.over, -share * (y - this.middle[1]));
    this.distance = next;
  }

  // As near as possible with all of these places inside the free part of the picture.
  fit(cloud) {
    const [wide, high] = [this.free[0] / this.focus, this.free[1] / this.focus];
    const low = [0, 1, 2].map((axis) => Math.min(...cloud.map((place) => place[axis])));
    const top = [0, 1, 2].map((axis) => Math.max(...cloud.map((place) => place[axis])));
    this.target = times(plus(low, top), 0.5);
    for (let round = 0; round < 4; round++) {
      const seen = cloud.map((place) => this.coordinates(place));
      this.distance = Math.max(...seen.map(([x, y, z]) => z + Math.max(Math.abs(x) / wide, Math.abs(y) / high)), 1e-300);
      const spread = [0, 1].map((axis) => seen.map((place) => place[axis] / (this.distance - place[2])));
      const [x, y] = spread.map((shares) => (0.5 * (Math.min(...shares) + Math.max(...shares))) * this.distance);
      this.target = plus(plus(this.target, this.right, x), this.over, y);
    }
    this.usual = this.distance;
  }

  // Right, over and towards the camera, from the target.
  coordinates(place) {
    const from = minus(place, this.target);
    return [dot(from, this.right), dot(from, this.over), dot(from, this.back)];
  }

  // Pixels, and how far in front of the camera.
  seen(place) {
    const [x, y, z] = this.coordinates(place);
    const depth = this.distance - z;
    const share = this.focus / Math.max(depth, 1e-9 * this.distance);
    return [this.middle[0] + share * x, this.middle[1] - share * y, depth];
  }

  get eye() {
    return plus(this.target, this.back, this.distance);
  }

  // From the world to the cube that WebGL draws. `reach` is how far from `centre` there is anything to see.
  matrix(centre, reach) {
    const depth = dot(minus(this.eye, centre), this.back);
    const far = Math.max(depth + reach, this.distance);
    const near = Math.max(depth - reach, 0.04 * this.distance);
    const [x, y] = [(2 * this.focus) / this.width, (2 * this.focus) / this.height];
    const [u, v] = [1 - (2 * this.middle[0]) / this.width, (2 * this.middle[1]) / this.height - 1];
    const lens = [x, 0, 0, 0, 0, y, 0, 0, u, v, -(far + near) / (far - near), -1, 0, 0, (-2 * far * near) / (far - near), 0];
    return product(lens, looking(this.right, this.over, this.back, this.eye));
  }
}
