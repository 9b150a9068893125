"""A page that compares two batches, of two versions or with what was accepted: one HTML file that fetches nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape
from importlib.resources import files

from mechsim._version import __version__
from mechsim.errors import printable
from mechsim.frozen import frozen
from mechsim.study.regression import BAD, BETTER, FINISHED, NO_REFERENCE, Accepted, Figures, Row, Value, judged
from mechsim.study.regression_report import Report, worst_cell

ENDINGS = (".html", ".htm")
WORSE, SAME, NEW, GONE = "worse", "same", "new", "gone"
ORDER = (WORSE, GONE, BETTER, NEW, SAME)  # what a person wants to see first
WIDTH, HEIGHT, MOST_DIGITS = 120, 22, 16.0  # of the drawing of digits
LEAST_CHANGE = 0.05  # digits; less is not shown
DASH, TIMES = "\N{EN DASH}", "\N{MULTIPLICATION SIGN}"
NONE = f'<span class="none">{DASH}</span>'


@frozen
class Pair:
    """One spec in two batches, and what became of it."""

    spec: str
    old: Figures | None
    new: Figures | None
    change: str
    reasons: tuple[str, ...]


def comparison(old: Report, new: Report) -> str:
    """The page of two reports."""
    return _page(pairs(old, new), _name(old, "old"), _name(new, "new"))


def against_accepted(report: Report) -> str:
    """The page of one report beside the figures that were accepted, as far as there are any."""
    rows = tuple(Row(row.spec, "", (), _accepted_figures(row)) for row in report.rows if row.accepted is not None)
    return _page(pairs(Report(rows), report), "accepted", f"this run, mechsim {report.version}")


def differences(old: Report, new: Report) -> str:
    """`30 specs: 2 worse, 1 better, 27 same`."""
    found = pairs(old, new)
    return f"{len(found)} specs: {', '.join(f'{number} {word}' for word, number in _counts(found).items())}"


def pairs(old: Report, new: Report) -> list[Pair]:
    """Every spec of both, those that changed first."""
    before = {row.spec: row for row in old.rows if row.verdict != NO_REFERENCE}
    now = {row.spec: row for row in new.rows if row.verdict != NO_REFERENCE}
    found = [_pair(spec, before.get(spec), now.get(spec)) for spec in sorted({*before, *now})]
    return sorted(found, key=lambda pair: ORDER.index(pair.change))


def _pair(spec: str, old: Row | None, new: Row | None) -> Pair:
    was, now = old.figures if old else None, new.figures if new else None
    if was is None or now is None:
        change = NEW if now else GONE
        return Pair(spec, was, now, change, new.reasons if new and new.verdict in BAD else ())
    if not _good(now):
        reasons = now.missed or (now.message,)
        return Pair(spec, was, now, WORSE if _good(was) else SAME, reasons)
    if not _good(was):
        return Pair(spec, was, now, BETTER, ("it failed before: " + "; ".join(was.missed or (was.message,)),))
    row = judged(spec, now, Accepted.of(was))
    change = WORSE if row.verdict in BAD else BETTER if row.verdict == BETTER else SAME
    return Pair(spec, was, now, change, _plain(row))


def _plain(row: Row) -> tuple[str, ...]:
    """Reasons in which nothing is accepted: there are only two versions here."""
    return tuple(re.sub(r", where (\S+) (?:were|was) accepted", r"; before \1", reason) for reason in row.reasons)


def _good(figures: Figures) -> bool:
    return figures.status == FINISHED and not figures.missed


def _accepted_figures(row: Row) -> Figures:
    accepted = row.accepted
    assert accepted is not None
    worst = row.figures.worst if row.figures else None
    asked = worst or Value("", 0.0, 0.0, 0.0)
    values = () if accepted.margin is None else (replace(asked, digits=asked.asked + accepted.margin),)
    return Figures(FINISHED, values=values, steps=accepted.steps, rejected=accepted.rejected, energy=accepted.energy)


def _name(report: Report, what: str) -> str:
    return f"{report.name or what}, mechsim {report.version}"


def _counts(found: list[Pair]) -> dict[str, int]:
    counts = {word: sum(pair.change == word for pair in found) for word in ORDER}
    return {word: number for word, number in counts.items() if number}


# --- drawing


def _page(found: list[Pair], old: str, new: str) -> str:
    template = (files("mechsim.study") / "regression_page.html").read_text(encoding="utf-8")
    counts = _counts(found)
    texts = {
        "generator": f"mechsim {__version__}",
        "old": escape(printable(old)),
        "new": escape(printable(new)),
        "count": str(len(found)),
        "cards": "".join(
            f'<button class="card {word}" data-filter="{word}" aria-pressed="false"><b>{number}</b> {word}</button>'
            for word, number in counts.items()
        ),
        "rows": "\n".join(_row(pair, place) for place, pair in enumerate(found)),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: texts[match[1]], template)


def _row(pair: Pair, place: int) -> str:
    figures = pair.new or pair.old
    title = escape(printable(figures.title)) if figures and figures.title else ""
    notes = "".join(f"<p>{escape(printable(reason))}</p>" for reason in pair.reasons if reason)
    bar = worst_cell(_told(pair))
    change = pair.change
    cells = [
        f'<th scope="row"><span class="spec">{escape(printable(pair.spec))}</span><small>{title}</small>{notes}</th>',
        f'<td data-value="{place}"><span class="tag {change}">{change}</span></td>',
        _digits_cell(pair, escape(printable(bar))),
        _change_cell(_attempts(pair.old), _attempts(pair.new), "{:.0f}", percent=True),
        _change_cell(_energy(pair.old), _energy(pair.new), "{:.1e}"),
        _time_cell(pair),
    ]
    return f'<tr class="{change}" data-change="{change}">{"".join(cells)}</tr>'


def _attempts(figures: Figures | None) -> float | None:
    return None if figures is None else figures.attempts


def _energy(figures: Figures | None) -> float | None:
    return None if figures is None else figures.energy


def _digits_cell(pair: Pair, bar: str) -> str:
    old, new = _digits(pair)
    value = new if new is not None else old
    if value is None:
        return f'<td data-value="-1">{NONE}</td>'
    gain = ""
    if old is not None and new is not None and abs(new - old) >= LEAST_CHANGE:
        gain = _delta(f"{new - old:+.1f}", new - old, LEAST_CHANGE)
    told = f'<div class="pair">{_both(old, new, "{:.1f}")} {gain}</div><small>{bar}</small>'
    return f'<td class="digits" data-value="{value:.3f}">{_drawn(pair, old, new)}<div>{told}</div></td>'


def _told(pair: Pair) -> Figures | None:
    """The figures whose digits are shown: those of now, if there are any."""
    return pair.new if pair.new and pair.new.worst else pair.old


def _both(old: float | None, new: float | None, form: str) -> str:
    """`15.7 → 13.7`, or one number where nothing changed or there is no old one."""
    texts = [form.format(each) if each is not None else DASH for each in (old, new)]
    return texts[1] if old is None or texts[0] == texts[1] else " → ".join(texts)


def _digits(pair: Pair) -> tuple[float | None, float | None]:
    """Of the value that is nearest to its bar now, or was before: what it had in both."""
    told = _told(pair)
    worst = told.worst if told else None
    if worst is None:
        return None, None
    both = []
    for figures in (pair.old, pair.new):
        same = [v for v in figures.values if (v.column, v.time) == (worst.column, worst.time)] if figures else []
        both.append(same[0].digits if same else None)
    return both[0], both[1]


def _drawn(pair: Pair, old: float | None, new: float | None) -> str:
    """Digits on a scale from 0 to 16: what is asked for as a line, the old run as a ring, the new one as a dot."""

    def x(digits: float) -> str:
        return f"{6 + (WIDTH - 12) * digits / MOST_DIGITS:.1f}"

    told = _told(pair)
    worst = told.worst if told else None
    middle = HEIGHT / 2
    ticks = "".join(f'<path class="tick" d="M{x(d)} {middle - 3}v6"/>' for d in (0, 4, 8, 12, 16))
    drawn = [f'<path class="axis" d="M{x(0)} {middle}H{x(MOST_DIGITS)}"/>', ticks]
    if worst and worst.asked:
        drawn.append(
            f'<path class="asked" d="M{x(worst.asked)} 2v{HEIGHT - 4}"><title>asked: {worst.asked:g}</title></path>'
        )
    if old is not None and new is not None:
        drawn.append(f'<path class="way" d="M{x(old)} {middle}H{x(new)}"/>')
    if old is not None:
        drawn.append(f'<circle class="old" cx="{x(old)}" cy="{middle}" r="4.5"/>')
    if new is not None:
        drawn.append(f'<circle class="new" cx="{x(new)}" cy="{middle}" r="3.5"/>')
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    return f'<svg {size} aria-hidden="true">{"".join(drawn)}</svg>'


def _change_cell(old: float | None, new: float | None, form: str, *, percent: bool = False) -> str:
    value = new if new is not None else old
    if value is None:
        return f'<td data-value="-1">{NONE}</td>'
    gain = ""
    if percent and old and new is not None and new != old:
        share = (new - old) / old
        gain = _delta(f"{100 * share:+.0f} %", -share, 0.005)
    return f'<td class="number" data-value="{value:.6e}"><div class="pair">{_both(old, new, form)} {gain}</div></td>'


def _time_cell(pair: Pair) -> str:
    """Time is told, never judged: no colour."""
    old, new = (figures.seconds if figures else None for figures in (pair.old, pair.new))
    value = new if new is not None else old
    if value is None:
        return f'<td data-value="-1">{NONE}</td>'
    unit, scale = ("ms", 1e3) if value < 1.0 else ("s", 1.0)
    before, now = (None if each is None else each * scale for each in (old, new))
    text = _both(before, now, "{:.3g}")
    ratio = f' <span class="delta">{TIMES}{new / old:.2f}</span>' if old and new is not None else ""
    return f'<td class="number" data-value="{value:.6e}"><div class="pair">{text} {unit}{ratio}</div></td>'


def _delta(text: str, gain: float, least: float) -> str:
    """A difference, with the colour of a gain or a loss if it is one."""
    word = "up" if gain > least else "down" if gain < -least else ""
    return f'<span class="delta {word}">{text}</span>'
