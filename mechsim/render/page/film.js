// The film: what the page shows, as numbers. Any quantity at any time, by cubic Hermite interpolation.
//
// `data.numbers` holds, per channel, `count` values (less the channel's number in `data.offsets`) and then `count` slopes
// (per sample interval), as base64 of little-endian 32-bit floats. Samples are equally spaced in each of `data.pieces`, which
// tell the time of their first sample, its number, and the interval: values jump where a piece ends and the next begins, which
// has that time itself. With `data.scales` numbers are 16-bit integers, to be multiplied by the scale of their series.

const SMOOTH_CURVE = 241; // moments of which a curve is drawn at least

function decodeBytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
}

function decodeNumbers({ numbers, scales, count }) {
  if (!scales) return new Float32Array(decodeBytes(numbers));
  return Float32Array.from(new Int16Array(decodeBytes(numbers)), (step, k) => step * scales[Math.floor(k / count)]);
}

class Film {
  constructor(data) {
    this.data = data;
    this.start = data.start;
    this.end = data.end;
    this.count = data.count;
    this.interval = this.count > 1 ? (this.end - this.start) / (this.count - 1) : 1; // about
    this.starts = data.pieces.map(([start]) => start);
    this.breaks = this.starts.slice(1); // times at which values jump
    this.pieces = data.pieces.map(([start, first, interval], k) => (
      { start, first, interval, last: (data.pieces[k + 1]?.[1] ?? data.count) - first - 1 }
    ));
    this.numbers = decodeNumbers(data);
    this.points = new Map(data.points.map((point) => [point.name, point]));
  }

  get span() {
    return this.end - this.start;
  }

  // The sample before a time, in its piece; how far the time is from there to the next one; whether there is a next one.
  sample(time) {
    const { start, first, interval, last } = this.pieces[latest(this.starts, time)];
    const place = Math.min(Math.max((time - start) / interval, 0), last);
    const index = Math.max(Math.min(Math.floor(place), last - 1), 0);
    return { index: first + index, u: place - index, interval, next: last > 0 ? 1 : 0 };
  }

  // Value (or, with `rate`, time derivative) of a channel at a time inside the film.
  at(channel, time, rate = false) {
    const { index, u, interval, next } = this.sample(time);
    const values = 2 * channel * this.count + index;
    const slopes = values + this.count;
    const [y0, s0] = [this.numbers[values], this.numbers[slopes]];
    const offset = this.data.offsets[channel];
    if (!next) return rate ? s0 / interval : y0 + offset;
    const [y1, s1] = [this.numbers[values + 1], this.numbers[slopes + 1]];
    if (rate) {
      const derivative = 6 * u * (1 - u) * (y1 - y0) + (1 - u) * (1 - 3 * u) * s0 + u * (3 * u - 2) * s1;
      return derivative / interval;
    }
    const w = 1 - u;
    return w * w * (1 + 2 * u) * y0 + u * u * (3 - 2 * u) * y1 + u * w * (w * s0 - u * s1) + offset;
  }

  // Values of many channels at once, into `target`; where a channel is -1 what stands there stays.
  fill(channels, time, target) {
    const { index, u, next } = this.sample(time);
    const w = 1 - u;
    const [a, b, c, d] = [w * w * (1 + 2 * u), u * u * (3 - 2 * u), u * w * w, -u * u * w];
    const { count, numbers } = this;
    const { offsets } = this.data;
    for (let k = 0; k < channels.length; k++) {
      if (channels[k] < 0) continue;
      const values = 2 * channels[k] * count + index;
      const slopes = values + count;
      target[k] = a * numbers[values] + b * numbers[values + next] + c * numbers[slopes] + d * numbers[slopes + next]
        + offsets[channels[k]];
    }
  }

  // Where a point is; points fixed in the world have `place` instead of channels.
  position(name, time) {
    const point = this.points.get(name);
    return point.place ?? point.channels.map((channel) => this.at(channel, time));
  }

  velocity(name, time) {
    const point = this.points.get(name);
    return point.place ? point.place.map(() => 0) : point.channels.map((channel) => this.at(channel, time, true));
  }

  // The planar pose of a body: where its frame is, by the rigid placement nearest to its points.
  pose(body, time) {
    const places = body.points.map((name) => this.position(name, time));
    const [there, own] = [mean(places), mean(body.local)];
    let [cos, sin] = [0, 0];
    places.forEach(([x, y], index) => {
      const [dx, dy, u, v] = [x - there[0], y - there[1], body.local[index][0] - own[0], body.local[index][1] - own[1]];
      cos += dx * u + dy * v;
      sin += dy * u - dx * v;
    });
    const size = Math.hypot(cos, sin);
    [cos, sin] = size > 0 ? [cos / size, sin / size] : [1, 0];
    return { x: there[0] - cos * own[0] + sin * own[1], y: there[1] - sin * own[0] - cos * own[1], cos, sin };
  }

  // The frame of a fitting: at a point, or the world's; its x axis along the way between two points, or the world's. Some have
  // a pose of their own, numbers or channels.
  frame(fitting, time) {
    if (fitting.pose) {
      const [px, py, angle] = fitting.poses ? fitting.poses.map((channel) => this.at(channel, time)) : fitting.pose;
      return { x: px, y: py, cos: Math.cos(angle), sin: Math.sin(angle), stretch: 1 };
    }
    const [x, y] = fitting.at === null ? [0, 0] : this.position(fitting.at, time);
    if (fitting.along === null) return { x, y, cos: 1, sin: 0, stretch: 1 };
    const [from, to] = fitting.along.map((name) => this.position(name, time));
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    const length = Math.hypot(dx, dy) || 1e-300;
    return { x, y, cos: dx / length, sin: dy / length, stretch: fitting.stretched ? length : 1 };
  }

  // The centre of mass of the whole mechanism, or null where nothing has mass.
  centre(time) {
    let [mass, x, y] = [0, 0, 0];
    for (const weight of this.data.weights) {
      const [px, py] = weight.body === undefined
        ? this.position(weight.point, time)
        : placed(this.pose(this.data.bodies[weight.body], time), weight.local);
      mass += weight.mass;
      x += weight.mass * px;
      y += weight.mass * py;
    }
    return mass > 0 ? [x / mass, y / mass] : null;
  }

  // A column of the table at one time, at so many equally spaced ones that a curve is smooth, and all that it comes to.
  column(column, time) {
    return this.at(column.channel, time, column.rate);
  }

  samples(column) {
    if (this.count < SMOOTH_CURVE && this.span > 0 && !this.breaks.length) {
      const step = this.span / (SMOOTH_CURVE - 1);
      return Float64Array.from({ length: SMOOTH_CURVE }, (_, k) => this.column(column, this.start + k * step));
    }
    const first = (2 * column.channel + (column.rate ? 1 : 0)) * this.count;
    const part = Float64Array.from(this.numbers.subarray(first, first + this.count));
    const offset = this.data.offsets[column.channel];
    if (!column.rate) return part.map((value) => value + offset);
    for (const { first: begin, last, interval } of this.pieces) {
      for (let k = begin; k <= begin + last; k++) part[k] /= interval;
    }
    return part;
  }

  // In all cases of a sweep: its axes stay while another case is chosen.
  extent(column) {
    return this.data.ranges?.[column.label] ?? this.samples(column);
  }
}

function placed(pose, [x, y]) {
  return [pose.x + pose.cos * x - pose.sin * y, pose.y + pose.sin * x + pose.cos * y];
}

function mean(places) {
  const sum = places.reduce((total, place) => [total[0] + place[0], total[1] + place[1]], [0, 0]);
  return [sum[0] / places.length, sum[1] / places.length];
}

// Which other points each point is fastened to.
function neighboursOf(data) {
  const groups = [...data.bodies, ...data.springs].map((each) => each.points);
  const others = (name) => groups.filter((group) => group.includes(name)).flat().filter((other) => other !== name);
  return new Map(data.points.map((point) => [point.name, [...new Set(others(point.name))]]));
}

// Which of the times, in order, was the latest.
function latest(times, time) {
  let [low, high] = [0, times.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle;
  }
  return low;
}
