"""What is told of the frequency response: extremes of columns, amplitudes and phases of their first harmonics."""

from __future__ import annotations

from collections.abc import Sequence


def period_of(over: str, given: str | None) -> str:
    """The period of a forcing by its angular frequency, unless it is given."""
    return f"2*pi/{over}" if given is None else given


def harmonics(columns: Sequence[str], period: str) -> dict[str, str]:
    """Measures of each column x ~ a cos(w t - phase) + ..., by their labels: its largest and smallest value, the
    amplitude a, and how much later than cos(w t) it comes, in radians."""
    found: dict[str, str] = {}
    for name in columns:
        turn = f"2*pi*t/({period})"
        cosine, sine = (f"2*integral(({name})*{function}({turn}))/(tend - t0)" for function in ("cos", "sin"))
        found |= {f"{extreme}({name})": f"{extreme}({name})" for extreme in ("max", "min")}
        found[f"amplitude({name})"] = f"sqrt(({cosine})**2 + ({sine})**2)"
        found[f"phase({name})"] = f"atan2({sine}, {cosine})"
    return found
