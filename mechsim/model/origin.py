"""Where an element comes from: what it is in the file, what it is called there, and which part it is of."""

from __future__ import annotations

from typing import Literal

from mechsim.frozen import frozen

Sort = Literal[
    "",  # a user's Lagrangian
    "rigid", "spring", "particle",
    "collinear", "slot", "slider", "rope", "gear", "rack", "wheel", "skate", "weld", "curve", "constraint",
    "hinge", "universal", "cylinder", "prism", "screw", "plane", "coupling", "disc", "ball", "angle",
    "force", "torque", "potential", "dissipation", "torsion spring", "damper", "drag", "friction", "gravity",
    "drive", "controller", "signal", "contact", "soft contact", "event", "bond",
]  # fmt: skip

# Joints whose names, `C-AB`, say too little without what they are.
NAMED_BY_SORT = frozenset(
    {"slot", "slider", "rope", "gear", "rack", "wheel", "skate", "weld", "angle"}
    | {"hinge", "universal", "cylinder", "prism", "screw", "plane", "coupling", "disc", "ball"}
)
# What the file calls them, where that is another word.
WORDS = {"prism": "slider", "disc": "wheel"}


@frozen
class Origin:
    """`part` is the part that feels the element as its own: inertia, rigidity, loads that turn with it. Joints, and
    forces that act at a point whatever parts it is on, have none."""

    sort: Sort = ""
    name: str = ""
    part: str = ""


NOT_OF_A_FILE = Origin()
