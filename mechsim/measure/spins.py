"""Angular velocities of parts in space, as expressions of the places and rates of three of their points.

Lengths in a part are taken from its points, not from numbers, so that derivatives by parameters know how they change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from mechsim.errors import Mark
from mechsim.lagrangian.vector import AXES
from mechsim.measure.quantities import Meaning, Written
from mechsim.model.mechanism import Mechanism, Part
from mechsim.spec.expression import parse_expression

NAME = re.compile(r"(\w+?)(_\1)?_w([xyz])")
PLACE = Mark("", 1, 1)


def spin_of(name: str, mechanism: Mechanism, spoken: Callable[[str], Meaning | None]) -> Meaning | None:
    """What `OAB_wx` means, a component in the world, or `OAB_OAB_wx`, one about the part's own axes; `spoken` tells
    what a coordinate does. None for other names."""
    found = NAME.fullmatch(name)
    solid = [part for part in mechanism.parts if part.kind == "rigid" and len(part.geometry) >= len(AXES)]
    part = next((part for part in solid if found and part.name == found[1]), None)
    if found is None or part is None or mechanism.dimension != len(AXES):
        return None
    known: dict[str, Meaning] = {}
    for label, text in _texts(part).items():
        expression = parse_expression(text, PLACE, state=True)
        known[label] = Written(expression, _meanings(expression.names, known, spoken))
    return known[f"own_{found[3]}" if found[2] else f"world_{found[3]}"]


def _meanings(
    names: Iterable[str], known: Mapping[str, Meaning], spoken: Callable[[str], Meaning | None]
) -> dict[str, Meaning]:
    found = {name: known[name] if name in known else spoken(name) for name in names}
    return {name: meaning for name, meaning in found.items() if meaning is not None}


def _texts(part: Part) -> dict[str, str]:
    """Each by those before: two edges, the part's axes, how these turn, and its angular velocity."""
    first, second, third = part.points[:3]
    edges = {"edge": second, "other": third}
    texts = {f"{edge}_{k}": f"{end}.{k} - {first}.{k}" for edge, end in edges.items() for k in AXES}
    texts |= {f"{edge}_rate_{k}": f"{end}.v{k} - {first}.v{k}" for edge, end in edges.items() for k in AXES}
    texts["length"] = f"sqrt({_product('edge', 'edge')})"
    texts |= {f"along_{k}": f"edge_{k}/length" for k in AXES}
    texts |= {f"turning_{k}": f"edge_rate_{k}/length" for k in AXES}
    texts["ahead"] = _product("other", "along")
    texts |= {f"aside_{k}": f"other_{k} - ahead*along_{k}" for k in AXES}
    texts["width"] = f"sqrt({_product('aside', 'aside')})"
    texts |= {f"side_{k}": f"aside_{k}/width" for k in AXES}
    texts |= {f"bending_{k}": f"(other_rate_{k} - ahead*turning_{k})/width" for k in AXES}
    for k, (i, j) in zip(AXES, (("y", "z"), ("z", "x"), ("x", "y")), strict=True):
        texts[f"normal_{k}"] = f"along_{i}*side_{j} - along_{j}*side_{i}"
    texts["own_x"] = _product("normal", "bending")
    texts["own_y"] = f"-({_product('normal', 'turning')})"
    texts["own_z"] = _product("side", "turning")
    return texts | {f"world_{k}": f"along_{k}*own_x + side_{k}*own_y + normal_{k}*own_z" for k in AXES}


def _product(one: str, other: str) -> str:
    return " + ".join(f"{one}_{k}*{other}_{k}" for k in AXES)
