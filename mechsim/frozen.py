"""Frozen records: what `dataclass(frozen=True, slots=True)` makes, at a quarter of its price.

`dataclasses` writes and compiles five or six functions for each class; a start makes 150, which took a quarter of
a warm `mechsim run`. Here only `__init__` is compiled. Fields, `replace` and `asdict` are those of `dataclasses`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import TYPE_CHECKING, NoReturn, TypeVar, dataclass_transform, overload

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Made = TypeVar("Made")
Values = Callable[[object], tuple[object, ...]]


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(made: type[Made], /) -> type[Made]: ...


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(*, slots: bool = True, eq: bool = True) -> Callable[[type[Made]], type[Made]]: ...


def frozen(
    made: type[Made] | None = None, /, *, slots: bool = True, eq: bool = True
) -> type[Made] | Callable[[type[Made]], type[Made]]:
    """Make a class a record whose fields are set once. Without `slots` it may have cached properties; without `eq`
    it equals only itself. Fields with init=False are for `__post_init__` to set."""

    def decorate(plain: type[Made]) -> type[Made]:
        plain.__doc__ = plain.__doc__ or plain.__name__  # else a signature is written, at some cost
        record = dataclass(init=False, repr=False, eq=False, slots=slots)(plain)
        methods = {"__init__": _initializer(record), "__repr__": _shown, "__setattr__": _refuse, "__delattr__": _refuse}
        methods |= _comparison(record) if eq else {}
        methods |= {"__getstate__": _state, "__setstate__": _set_state} if slots else {}
        for name, method in methods.items():
            if vars(record).get(name) is None:  # a class may have its own; None is what Python puts beside an `__eq__`
                setattr(record, name, method)
        return record

    return decorate if made is None else decorate(made)


def _initializer(record: type) -> Callable[..., None]:
    """Its `__init__`, with arguments by their names as editors and error messages show them."""
    defaults, arguments, lines = {}, ["self"], []
    for each in fields(record):
        if not each.init:
            continue
        value = each.name
        if each.default_factory is not MISSING:
            defaults[each.name] = each.default_factory
            arguments.append(f"{each.name}=MISSING")
            value = f"defaults['{each.name}']() if {each.name} is MISSING else {each.name}"
        elif each.default is not MISSING:
            defaults[each.name] = each.default
            arguments.append(f"{each.name}=defaults['{each.name}']")
        else:
            arguments.append(each.name)
        lines.append(f"    put(self, '{each.name}', {value})")
    lines.append("    self.__post_init__()" if hasattr(record, "__post_init__") else "    return")
    known = {"put": object.__setattr__, "defaults": defaults, "MISSING": MISSING, "__name__": record.__module__}
    written: dict[str, Callable[..., None]] = {}
    exec(f"def __init__({', '.join(arguments)}):\n" + "\n".join(lines), known, written)
    initializer = written["__init__"]
    initializer.__qualname__ = f"{record.__qualname__}.__init__"
    return initializer


def _comparison(record: type) -> dict[str, Callable[..., object]]:
    values = _getter([each.name for each in fields(record) if each.compare])

    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: object) -> int:
        return hash(values(self))

    return {"__eq__": equal, "__hash__": hashed}


def _getter(names: Sequence[str]) -> Values:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)  # of one name, attrgetter gives no tuple


def _shown(self: DataclassInstance) -> str:
    values = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{self.__class__.__qualname__}({', '.join(values)})"


def _refuse(self: object, name: str, value: object = None) -> NoReturn:
    raise FrozenInstanceError(f"cannot change field {name!r}")


def _state(self: DataclassInstance) -> list[object]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: DataclassInstance, state: Sequence[object]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
