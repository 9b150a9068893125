// Vectors of three numbers, as plain lists. What runs for every part at every picture writes its sums out instead.

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const plus = (a, b, share = 1) => [a[0] + share * b[0], a[1] + share * b[1], a[2] + share * b[2]];
const minus = (a, b) => plus(a, b, -1);
const times = (a, factor) => [a[0] * factor, a[1] * factor, a[2] * factor];
const unit = (a) => times(a, 1 / (Math.hypot(...a) || 1));

// The world's axis that a vector is least along.
function leastAlong(a) {
  const sizes = a.map(Math.abs);
  const least = sizes.indexOf(Math.min(...sizes));
  return [0, 1, 2].map((axis) => (axis === least ? 1 : 0));
}

// The product of two matrices of four columns, column by column as WebGL takes them.
function product(a, b) {
  const result = new Float32Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + row] * b[4 * column + k];
      result[4 * column + row] = sum;
    }
  }
  return result;
}

// The matrix that tells coordinates along three axes from an origin.
function looking(right, over, back, origin) {
  return new Float32Array([
    right[0], over[0], back[0], 0,
    right[1], over[1], back[1], 0,
    right[2], over[2], back[2], 0,
    -dot(right, origin), -dot(over, origin), -dot(back, origin), 1,
  ]);
}

// #rrggbb as the light that it stands for, and back.
function lightOf(hex) {
  return [1, 3, 5].map((start) => (parseInt(hex.slice(start, start + 2), 16) / 255) ** 2.2);
}
