// The clock: which time is shown, and how it runs. `speed` is seconds of motion per second of film.

class Clock {
  constructor(film, changed) {
    this.film = film;
    this.changed = changed;
    this.time = film.start;
    this.speed = film.data.speed;
    this.loop = film.data.loop;
    this.playing = false;
    this.last = null;
  }

  // Another film, at the same time if it lasts as long.
  show(film) {
    this.film = film;
    this.time = Math.min(Math.max(this.time, film.start), film.end);
    this.changed();
  }

  // `now` is the browser's clock in milliseconds. Returns whether there is a new picture to draw.
  tick(now) {
    const passed = this.last === null ? 0 : Math.min((now - this.last) / 1000, 0.25); // a hidden tab does not jump
    this.last = now;
    if (!this.playing) return false;
    const next = this.time + passed * this.speed;
    if (next < this.film.end) {
      this.time = next;
    } else if (this.loop && this.film.span > 0) {
      this.time = this.film.start + ((next - this.film.start) % this.film.span);
    } else {
      this.time = this.film.end;
      this.pause();
    }
    return true;
  }

  play() {
    if (this.time >= this.film.end) this.time = this.film.start;
    this.playing = this.film.span > 0;
    this.changed();
  }

  pause() {
    this.playing = false;
    this.changed();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  seek(time) {
    this.time = Math.min(Math.max(time, this.film.start), this.film.end);
    this.changed();
  }

  // Move by pictures of a 30 Hz film, and stop there.
  step(pictures) {
    this.playing = false;
    this.seek(this.time + (pictures * this.speed) / 30);
  }
}
