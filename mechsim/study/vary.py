"""The values of a parameter in a sweep, as people write them.

    500:1500:21        21 values from 500 to 1500, equally spaced, both ends included
    log:0.1:10:9       9 values from 0.1 to 10, each the same multiple of the one before
    1,2,5              these values
    normal:1:0.001     draws from a distribution: normal:MEAN:DEVIATION, lognormal:MEDIAN:DEVIATION of the logarithm,
                       uniform:LEAST:MOST, triangular:LEAST:LIKELIEST:MOST

Every number may be an expression of the file's parameters, which have the values that the file gives them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.result.layout import Array
from mechsim.spec.expression import parse_expression, undefined
from mechsim.spec.number import within_bounds
from mechsim.spec.suggest import did_you_mean

MOST_VALUES = 100_000_000  # of one grid: more is a slip
EXAMPLES = "for example 500:1500:21, log:0.1:10:9, 1,2,5 or normal:1:0.001"


@frozen
class Varied:
    """A parameter and its values: those of a grid or list, or the distribution that they are drawn from."""

    name: str
    text: str
    kind: str  # "grid", "list" or "draws"
    scale: str = "linear"  # or "log": how it is best drawn
    values: Array | None = None
    quantile: Quantile | None = None


@frozen
class Quantile:
    """A distribution, as the value below which a share of its draws lie."""

    law: str
    figures: tuple[float, ...]

    def __call__(self, share: Array) -> Array:
        """Values for shares between 0 and 1, exclusive."""
        return LAWS[self.law].quantile(share, *self.figures)


def varied(
    name: str, given: str | float | Sequence[float] | Array, mark: Mark, parameters: Mapping[str, float]
) -> Varied:
    """What is `given` for a parameter: text as above that stands at `mark`, or numbers. Raises SpecError."""
    if not isinstance(given, str):
        return _of_numbers(name, given)
    text = given.strip()
    shift = len(given) - len(given.lstrip())
    reader = _Reader(name, text, Mark(mark.file, mark.line, mark.column + shift), parameters)
    if ":" not in text:
        values = np.array([reader.number(piece) for piece in reader.split(r",(?![^()]*\))")])
        return Varied(name, text, "list", values=values)
    word, *rest = reader.split(":")
    law = word.text.strip()
    if law in LAWS:
        return Varied(name, text, "draws", LAWS[law].scale, quantile=_quantile(reader, law, rest))
    if law == "log":
        return _grid(reader, rest, "log")
    if re.fullmatch(r"[^\W\d]\w*", law) and law not in parameters:
        hint = did_you_mean(law, [*LAWS, "log", *parameters]) or EXAMPLES
        raise reader.fault(f"{law} is neither a distribution nor a parameter", word, hint)
    return _grid(reader, [word, *rest], "linear")


class _Piece(NamedTuple):
    text: str
    offset: int


class _Reader:
    """The text for one parameter, and how its numbers are read."""

    def __init__(self, name: str, text: str, mark: Mark, parameters: Mapping[str, float]):
        self.name, self.text, self.mark, self.parameters = name, text, mark, parameters

    def split(self, separator: str) -> list[_Piece]:
        pieces, begin = [], 0
        for found in re.finditer(separator, self.text):
            pieces.append(_Piece(self.text[begin : found.start()], begin))
            begin = found.end()
        return [*pieces, _Piece(self.text[begin:], begin)]

    def place(self, piece: _Piece) -> Mark:
        return Mark(self.mark.file, self.mark.line, self.mark.column + piece.offset)

    def fault(self, message: str, piece: _Piece | None = None, hint: str = "") -> SpecError:
        place = self.mark if piece is None else self.place(piece)
        return SpecError(Fault(f"{self.name}={self.text}: {message}", place, hint))

    def number(self, piece: _Piece) -> float:
        if not piece.text.strip():
            raise self.fault("a number is missing", piece, EXAMPLES)
        expression = parse_expression(piece.text, self.place(piece))
        if faults := undefined(expression, self.parameters):
            raise SpecError(*faults)
        value = float(expression.evaluate(self.parameters))
        return within_bounds(value, self.name, lambda: piece.text, self.place(piece))


def _grid(reader: _Reader, pieces: Sequence[_Piece], scale: str) -> Varied:
    form = f"{'log:' if scale == 'log' else ''}FROM:TO:NUMBER"
    if len(pieces) != 3:
        least = "a number of values is missing" if len(pieces) == 2 else f"it is not of the form {form}"
        given = ":".join(piece.text for piece in pieces[:2])
        hint = f"for example {given}:21, or uniform:{given} to draw from it" if len(pieces) == 2 else EXAMPLES
        raise reader.fault(least, None, hint)
    first, last, number = (reader.number(piece) for piece in pieces)
    if number != int(number) or not 1 <= number <= MOST_VALUES:
        hint = f"the third of {form} says how many values there are"
        raise reader.fault(f"{pieces[2].text} is not a number of values from 1 to {MOST_VALUES:g}", pieces[2], hint)
    if first > last:
        hint = f"write the smaller one first: {pieces[1].text}:{pieces[0].text}:{pieces[2].text}"
        raise reader.fault(f"the range goes down from {first:g} to {last:g}", pieces[0], hint)
    if (first == last) != (number == 1):
        hint = f"for one value write {reader.name}={first:g}"
        many = f"{int(number)} value{'s' if number > 1 else ''}"
        raise reader.fault(f"there are not {many} from {first:g} to {last:g}, both ends included", pieces[2], hint)
    if scale == "log" and first <= 0:
        hint = "each value is a multiple of the one before, so both ends are above zero"
        raise reader.fault(f"a log range cannot begin at {first:g}", pieces[0], hint)
    spaced = np.geomspace if scale == "log" else np.linspace
    return Varied(reader.name, reader.text, "grid", scale, values=spaced(first, last, int(number)))


def _of_numbers(name: str, given: float | Sequence[float] | Array) -> Varied:
    """Numbers that a program gives."""
    try:
        values = np.atleast_1d(np.asarray(given, dtype=float))
    except (TypeError, ValueError):
        values = np.array([np.nan])
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        message = f"the values of {name} must be finite numbers in a row, or text such as 500:1500:21"
        raise SpecError(Fault(f"{message}, but are {str(given)[:60]}"))
    for value in (float(values[np.abs(values).argmin()]), float(values[np.abs(values).argmax()])):
        within_bounds(value, name, partial(format, value, "g"), None)
    text = ",".join(map(repr, values.tolist())) if values.size <= 20 else f"{values.size} values"
    return Varied(name, text, "list", values=values)


def _quantile(reader: _Reader, word: str, pieces: Sequence[_Piece]) -> Quantile:
    law = LAWS[word]
    if len(pieces) != len(law.figures):
        raise reader.fault(f"{word} takes {len(law.figures)} numbers", None, f"write {word}:{':'.join(law.figures)}")
    figures = tuple(reader.number(piece) for piece in pieces)
    if wrong := law.wrong(*figures):
        place, message = wrong
        raise reader.fault(message, pieces[place], f"write {word}:{':'.join(law.figures)}")
    return Quantile(word, figures)


def _normal(share: Array, mean: float, deviation: float) -> Array:
    from scipy.special import ndtri

    return np.asarray(mean + deviation * ndtri(share))


def _triangular(share: Array, least: float, likeliest: float, most: float) -> Array:
    below = (likeliest - least) / (most - least)
    rising = least + np.sqrt(share * (most - least) * (likeliest - least))
    falling = most - np.sqrt((1.0 - share) * (most - least) * (most - likeliest))
    return np.where(share < below, rising, falling)


def _needs_deviation(_: float, deviation: float) -> tuple[int, str] | None:
    return None if deviation > 0 else (1, f"the deviation is {deviation:g}, but must be above zero")


def _needs_median(median: float, deviation: float) -> tuple[int, str] | None:
    return _needs_deviation(median, deviation) if median > 0 else (0, f"the median is {median:g}, not above zero")


def _needs_order(*figures: float) -> tuple[int, str] | None:
    rising = all(a <= b for a, b in pairwise(figures)) and figures[0] < figures[-1]
    return None if rising else (0, f"{' and '.join(f'{each:g}' for each in figures)} do not go up")


class Law(NamedTuple):
    """A distribution: what its numbers are called, what is wrong with some, and its quantiles."""

    figures: tuple[str, ...]
    wrong: Callable[..., tuple[int, str] | None]
    quantile: Callable[..., Array]
    scale: str = "linear"


LAWS: Mapping[str, Law] = {
    "normal": Law(("MEAN", "DEVIATION"), _needs_deviation, _normal),
    "lognormal": Law(
        ("MEDIAN", "DEVIATION"),
        _needs_median,
        lambda share, median, deviation: median * np.exp(_normal(share, 0.0, deviation)),
        "log",
    ),
    "uniform": Law(("LEAST", "MOST"), _needs_order, lambda share, least, most: least + (most - least) * share),
    "triangular": Law(("LEAST", "LIKELIEST", "MOST"), _needs_order, _triangular),
}
