"""Did you mean ...? One place, so that all hints sound alike."""

from __future__ import annotations

from collections.abc import Iterable

MOST_CANDIDATES = 1000
MOST_LISTED = 20


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """A hint naming the nearest candidate, or an empty string when none is near."""
    near = nearest(word, candidates)
    return f"did you mean {near}?" if near else ""


def nearest(word: str, candidates: Iterable[str]) -> str:
    """The candidate most like `word`, or an empty string."""
    from difflib import get_close_matches  # only a faulty file pays for this import

    candidates = list(candidates)
    if len(candidates) > MOST_CANDIDATES:  # no person wrote them, and comparing with each takes its time
        return ""
    choices = {candidate.lower(): candidate for candidate in candidates}
    near = get_close_matches(word.lower(), choices, n=1, cutoff=0.6)
    return choices[near[0]] if near else ""


def listed(words: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`; of many words the first ones."""
    *front, last = list(words) or [""]
    if len(front) > MOST_LISTED:
        front, last = front[:MOST_LISTED], f"{len(front) + 1 - MOST_LISTED} more"
    return f"{', '.join(front)} and {last}" if front else last
