"""Coordinates of a user's choice for a file: its own, or expressions of positions and time, which become signals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from mechsim.errors import Fault, SpecError
from mechsim.frozen import frozen
from mechsim.source import telling
from mechsim.spec.asked import ASKED
from mechsim.spec.document import MechSpec
from mechsim.spec.suggest import did_you_mean

Coordinates = Sequence[str] | Mapping[str, str | None]


@frozen
class Chosen:
    """Names of coordinates in their order (None: nobody chose), and the expressions of those that are no coordinates of
    the file."""

    names: tuple[str, ...] | None
    expressions: Mapping[str, str]
    own: tuple[str, ...] = ()  # coordinates of the file

    @classmethod
    def of(cls, given: Coordinates | None, own: Collection[str]) -> Chosen:
        """`own` are the coordinates of the file; what is no such name is an expression, called as it is written."""
        if given is None:
            return cls(None, {})
        given = (given,) if isinstance(given, str) else given
        texts = dict(given) if isinstance(given, Mapping) else dict.fromkeys(given)
        if taken := next((name for name, text in texts.items() if text and text != name and name in own), None):
            message = f"{taken} is a coordinate of the file, and cannot be {texts[taken]} too"
            raise SpecError(Fault(message, hint="give the expression another name"))
        texts = {name: None if text == name else text for name, text in texts.items()}  # itself, as in a list
        expressions = {name: text or name for name, text in texts.items() if text or name not in own}
        return cls(tuple(texts), expressions, tuple(own))

    @property
    def functions(self) -> dict[str, str]:
        """The signals that tell them."""
        return {name: f"coordinate_{k}" for k, name in enumerate(self.expressions)}

    def told_by(self, spec: MechSpec) -> MechSpec:
        """The file with these signals. Raises SpecError."""
        signals = dict(zip(self.functions.values(), self.expressions.values(), strict=True))
        try:
            return telling(spec, signals)
        except SpecError as error:
            faults = [
                replace(each, mark=None) if each.mark and each.mark.file == ASKED else each for each in error.faults
            ]
            raise SpecError(*map(self._in_words, dict.fromkeys(faults))) from None

    def _in_words(self, fault: Fault) -> Fault:
        """Of a name alone: a coordinate was meant."""
        unknown = fault.message.removesuffix(" is not defined")
        if self.expressions.get(unknown) != unknown:
            return fault
        return Fault(f"there is no coordinate {unknown}", hint=did_you_mean(unknown, list(self.own)))
