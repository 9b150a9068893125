"""Between which values something stays, as a person says it: (0, 1.2), ("-pi/2", None) or "0:pi/2"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mechsim.errors import Fault, SpecError
from mechsim.spec.expression import NUMERAL

Limit = tuple[float | str | None, float | str | None] | str
Limits = Mapping[str, Limit]


def limit_texts(name: str, given: Limit) -> tuple[str | None, str | None]:
    """Both sides as expressions; None where there is none. Raises SpecError."""
    several = given if isinstance(given, Iterable) else (given,)  # whatever somebody gave
    pair = tuple(each.strip() or None for each in given.split(":")) if isinstance(given, str) else tuple(several)
    if len(pair) != 2 or pair == (None, None):
        message = f"the limits of {name} are not of the form from:to"
        raise SpecError(Fault(message, hint=f"write {name}=-pi/2:pi/2, or {name}=0: for one side only"))
    numbers = [float(each) for each in pair if each is not None and NUMERAL.fullmatch(str(each))]
    if len(numbers) == 2 and numbers[0] >= numbers[1]:
        raise SpecError(Fault(f"the limits of {name} are turned around: {numbers[0]:g} is not below {numbers[1]:g}"))
    low, high = (None if each is None else str(each) for each in pair)
    return low, high
