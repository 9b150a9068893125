// What has just happened: a flash where something met, the impulse as an arrow, names of the user's events.

const FLASH = { lasts: 0.5, named: 1.2, radius: [5, 15], rays: 9, most: 24, names: 4 }; // seconds of film; pixels

class Flashes {
  constructor(film) {
    this.film = film;
    this.rows = film.data.events?.rows ?? [];
    this.times = this.rows.map((row) => row.t);
  }

  // Those after one time and not after another.
  between(first, last) {
    const count = (time) => (this.times.length && time >= this.times[0] ? latest(this.times, time) + 1 : 0);
    return this.rows.slice(count(first), count(last));
  }

  // `screen` tells where a place of the world is seen, `length` is that of an impulse of usual strength, in metres.
  draw(pen, time, screen, length, { colour, name, paper, font, bottom }) {
    const { speed } = this.film.data;
    const seen = this.between(time - FLASH.lasts * speed, time).filter((row) => row.place);
    const strongest = [...seen].sort((a, b) => b.impulse - a.impulse).slice(0, FLASH.most);
    for (const row of strongest) {
      this.drawFlash(pen, row, 1 - (time - row.t) / speed / FLASH.lasts, screen, length, colour, paper);
    }
    this.drawNames(pen, time, name, font, bottom);
  }

  drawFlash(pen, row, fresh, screen, length, colour, paper) {
    const { usual } = this.film.data.events;
    const strong = usual ? Math.hypot(...row.push) / usual : 0;
    const share = length / (usual || 1);
    const [x, y] = screen(row.place);
    const [tx, ty] = screen(row.place.map((value, axis) => value + row.push[axis] * share));
    const struck = row.kind !== "release" && row.impulse > 0;
    const size = struck ? 0.55 + 0.45 * Math.min(1, strong) : 0.6;
    const radius = size * (FLASH.radius[0] + (FLASH.radius[1] - FLASH.radius[0]) * (1 - fresh * fresh));
    pen.save();
    pen.strokeStyle = pen.fillStyle = colour;
    if (struck) {
      pen.globalAlpha = 0.28 * fresh ** 1.5;
      disc(pen, x, y, 0.62 * size * FLASH.radius[1], colour);
    }
    pen.globalAlpha = fresh ** 1.5;
    pen.lineWidth = 1.6 * fresh + 0.4;
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.stroke();
    if (struck) {
      for (let ray = 0; ray < FLASH.rays; ray++) {
        const turn = (2 * Math.PI * (ray + 0.5)) / FLASH.rays;
        const [from, to] = [radius + 2.4 * size, radius + (3.2 + 4.8 * fresh) * size];
        line(pen, x + from * Math.cos(turn), y + from * Math.sin(turn), x + to * Math.cos(turn), y + to * Math.sin(turn));
      }
      // Two that push each other apart have half of the arrow each.
      const ways = row.both ? [[(tx - x) / 2, (ty - y) / 2], [(x - tx) / 2, (y - ty) / 2]] : [[tx - x, ty - y]];
      for (const way of ways) drawArrow(pen, x, y, ...way, colour, paper);
    }
    pen.restore();
  }

  drawNames(pen, time, colour, font, bottom) {
    const { speed } = this.film.data;
    const latestOf = new Map();
    for (const row of this.between(time - FLASH.named * speed, time)) {
      if (row.kind === "event") latestOf.set(row.name, row.t);
    }
    let x = 16;
    pen.save();
    pen.font = `600 13px ${font}`;
    pen.textAlign = "left";
    pen.textBaseline = "bottom";
    pen.fillStyle = colour;
    for (const [name, when] of [...latestOf].slice(-FLASH.names)) {
      pen.globalAlpha = Math.max(0, 1 - (time - when) / speed / FLASH.named);
      pen.fillText(`● ${name}`, x, bottom);
      x += pen.measureText(`● ${name}`).width + 12;
    }
    pen.restore();
  }
}

// A rope of a length between two places, that sags like a parabola; straight if it is no longer than the way.
function hanging([ax, ay], [bx, by], length, [ux, uy]) {
  const corners = (sag) => Array.from({ length: 33 }, (_, k) => {
    const share = k / 32;
    const down = sag * 4 * share * (1 - share);
    return [ax + share * (bx - ax) - down * ux, ay + share * (by - ay) - down * uy];
  });
  const long = (places) => places.slice(1).reduce((sum, [x, y], k) => sum + Math.hypot(x - places[k][0], y - places[k][1]), 0);
  if (length <= Math.hypot(bx - ax, by - ay) * (1 + 1e-6)) return corners(0);
  let [low, high] = [0, length];
  for (let halving = 0; halving < 40; halving++) {
    const middle = (low + high) / 2;
    if (long(corners(middle)) < length) low = middle;
    else high = middle;
  }
  return corners(low);
}
