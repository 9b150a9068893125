// What happened: a list to jump to, and ticks below the time.

const MOST_LISTED = 400;
const MOST_TICKS = 300;

// The nearest event before (-1) or after (1) a time.
function neighbour(film, time, way) {
  const near = 1e-9 * (film.span || 1);
  const times = (film.data.events?.rows ?? []).map((row) => row.t);
  return way > 0 ? times.find((t) => t > time + near) : times.findLast((t) => t < time - near);
}

function listEvents(film, seek) {
  const events = film.data.events;
  document.querySelectorAll('[data-if="events"], [data-toggle="events"]').forEach((each) => (each.hidden = !events));
  const [rows, list, ticks] = [events?.rows ?? [], element("events"), element("ticks")];
  const told = rows.slice(0, MOST_LISTED);
  list.replaceChildren(...told.map((row) => eventButton(row, seek)));
  const lost = events?.lost ? `, ${quantity(events.lost, "J", 4)} lost` : "";
  const some = events && told.length < events.count ? `, ${told.length} shown` : "";
  element("events-total").textContent = events ? `${events.count} in all${lost}${some}` : "";
  const stride = Math.ceil(rows.length / MOST_TICKS) || 1;
  ticks.replaceChildren(...rows.filter((_, k) => k % stride === 0).map((row) => {
    const tick = document.createElement("i");
    tick.className = row.kind;
    tick.style.left = `${film.span ? (100 * (row.t - film.start)) / film.span : 0}%`;
    return tick;
  }));
}

function eventButton(row, seek) {
  const entry = document.createElement("li");
  const button = Object.assign(document.createElement("button"), { type: "button", className: row.kind });
  const words = [
    `${Number(row.t.toPrecision(9))} s`, row.name, row.kind === "event" ? "" : row.kind,
    row.impulse ? quantity(row.impulse, "N\u00a0s", 4) : "", row.lost > 0 ? `\u2212${quantity(row.lost, "J", 3)}` : "",
  ];
  for (const text of words) button.append(Object.assign(document.createElement("span"), { textContent: text }));
  button.addEventListener("click", () => seek(row));
  entry.append(button);
  return entry;
}
