"""What a designer asks of a file's mechanism: all poses of one freedom, torques for a motion, what points can reach."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from mechsim.errors import Fault, SpecError
from mechsim.spec.motion import plain_name

if TYPE_CHECKING:
    from mechsim.analysis.cycle import Cycle
    from mechsim.analysis.limits import Limits
    from mechsim.analysis.needs import Inverse
    from mechsim.analysis.workspace import Workspace
    from mechsim.handle.mechanism_handle import MechanismHandle
    from mechsim.model.mechanism import Mechanism
    from mechsim.source import Parameters

Names = str | Sequence[str]
Prescription = str | tuple[ArrayLike, ArrayLike]
RATES = {"omega_": "theta_", ".v": ".", "rate(": "dist("}


class Poses(ABC):
    """What MechanismHandle takes of it."""

    def cycle(
        self,
        input: str | None = None,
        outputs: Names = (),
        *,
        points: Names = (),
        angles: Names = (),
        rows: int | None = None,
        parameters: Parameters | None = None,
    ) -> Cycle:
        """A mechanism of one freedom through all its poses, from its start on until it comes back.

        `input` is what is turned or pushed, by default what the file's only drive moves; that drive is left out, others
        hold what they drive as it is at the start. `outputs` are quantities ("theta_CB", "B.x") whose ratios and
        mechanical advantage are told, `points` those whose paths are ("P", or "AB: 0.5, 0.3" in the frame of AB),
        `angles` transmission angles ("A,B,C", at B). `rows` are those of its columns.
        """
        from mechsim.analysis.cycle import ROWS, cycle_of
        from mechsim.analysis.round import gone_round
        from mechsim.handle.placed import angle_text, point_texts
        from mechsim.handle.subject import FileSubject

        listed = [(each,) if isinstance(each, str) else tuple(each) for each in (outputs, points, angles)]
        spec = self._asked(parameters or {}, {}).spec
        driven = input or _only_drive([each.quantity.text for each in spec.actions.drives])
        paths = dict(point_texts(spec, each) for each in listed[1])
        lines = dict(angle_text(spec, each) for each in listed[2])
        subject = FileSubject(self._asked(parameters or {}, dict(enumerated((driven, *listed[0])))))
        case = subject.case({})
        freed = freed_by(case.system.mechanism, driven)
        way = gone_round(case, subject.names, subject.numbers({}), input=driven, freed=freed)
        return cycle_of(way, driven, listed[0], lines, paths, rows or ROWS)

    def inverse(
        self,
        motions: Mapping[str, Prescription] | None = None,
        *,
        table: str | Path | None = None,
        kind: str = "quintic",
        parameters: Parameters | None = None,
        t0: float | None = None,
        tend: float | None = None,
        tol: float | None = None,
    ) -> Inverse:
        """What drives must give for a motion: torques, forces, powers (inverse dynamics).

        `motions` are formulas of time, {"theta_OA": "0.5*sin(3*t)"}, or times with values, {"B.x": (t, x)}; `table` is
        a CSV file of such columns, t,theta_OA,B_x, with units in brackets if they are not SI: `theta_OA [deg]`. Tables
        are splines, of degree five or "cubic". Drives of the file that move something else stay; without any motion
        it is about these.
        """
        from mechsim.analysis.prescribed import Prescribed
        from mechsim.handle.inverse import inverse_of

        spec = self._asked(parameters or {}, {}).spec
        return inverse_of(spec, Prescribed.of(motions or {}, table), kind=kind, t0=t0, tend=tend, tol=tol)

    def workspace(
        self,
        of: str | Sequence[str],
        *,
        limits: Limits | None = None,
        hold: Mapping[str, float | str] | None = None,
        parameters: Parameters | None = None,
    ) -> Workspace:
        """What a point reaches ("B", or "AB: 0.5, 0.3" in the frame of AB), or two quantities together: its boundary,
        where the mechanism is stretched, folded or at a limit, and its area.

        Drives are free to move, within `limits`, {"theta_OA": (0, 1.2)}, and the file's Stops and Contacts. `hold`
        keeps quantities at values, {"theta_ABC": 0}; in space a coordinate of the point, for a section {"P.y": 0}.
        """
        from mechsim.handle.reaching import workspace

        return workspace(self._asked(parameters or {}, {}).spec, of, limits or {}, hold or {})

    @abstractmethod
    def _asked(self, parameters: Parameters, signals: Mapping[str, str]) -> MechanismHandle:
        """The mechanism with these parameters, and with signals that are asked for: parts of which they name the turn
        angle have one."""


def enumerated(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Texts as signals, which have names."""
    yield from ((f"asked_{number}", text) for number, text in enumerate(texts))


def _only_drive(names: Sequence[str]) -> str:
    if len(names) == 1:
        return position_of(names[0])
    message = f"there are {len(names)} drives" if names else "no drive says what the input is"
    raise SpecError(Fault(f"{message}: name the input", hint="a turn angle (theta_OA), a coordinate (B.x), a distance"))


def position_of(quantity: str) -> str:
    """What a drive moves, where it prescribes a speed: `theta_OA` for `omega_OA`."""
    for rate, position in RATES.items():
        quantity = quantity.replace(rate, position)
    return "".join(quantity.split())


def column_of(quantity: str) -> str:
    """What the position that is driven is called among columns, whether a drive gives its value or its speed."""
    return plain_name(position_of(quantity))


def freed_by(mechanism: Mechanism, driven: str) -> set[int]:
    """The drive of the input; where it is the only one, whatever it moves. Others hold."""
    drives = [number for number, element in enumerate(mechanism.elements) if element.is_drive]
    wanted = column_of(driven)
    own = {k for k in drives if column_of(mechanism.elements[k].origin.name) == wanted}
    freed = own or (set(drives) if len(drives) == 1 else set())
    for number in set(drives) - freed:
        element = mechanism.elements[number]
        if element.kind in mechanism.laws and mechanism.laws[element.kind].nonholonomic:
            message = f"the {element.owner} prescribes a speed, and so says nothing of where it holds"
            raise SpecError(Fault(message, element.mark, "drive a position, or name its quantity as the input"))
    return freed
