"""What a sweep is: a mechanism, its cases, its measures and settings. All that its results depend on is here, and
nothing else, so that two sweeps of one plan give the same file byte by byte."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from mechsim._version import __version__
from mechsim.errors import Fault, Mark, SpecError
from mechsim.frozen import frozen
from mechsim.measure.measures import Measures
from mechsim.result.layout import Array
from mechsim.simulation import adjust
from mechsim.source import Folders, Parameters, Source, read
from mechsim.spec import parse
from mechsim.spec.document import MechSpec, Sweep, Written
from mechsim.spec.suggest import did_you_mean, listed
from mechsim.study.cases import Cases, Dimension, cases_of, listed_cases
from mechsim.study.rows import COLUMNS
from mechsim.study.vary import Varied, varied

Given = str | float | Sequence[float] | Array
Facts = dict[str, object]
DEFAULT_MEASURES = ("final",)
LARGEST_SEED = 2**63 - 1
NOTHING = Sweep({}, (), None, False, None, Mark("", 1, 1))


@frozen
class Job:
    """What who runs cases must know. It needs no file beside itself, and can be sent to another machine."""

    text: str
    path: str
    overrides: Mapping[str, str]
    files: Mapping[str, str]
    tol: float
    order: int | None
    t0: float
    tend: float
    measures: tuple[Written, ...]
    motions: str | None  # a folder for whole motions
    version: str = __version__

    @property
    def spec(self) -> MechSpec:
        return parse(self.text, self.path, self.overrides, self.files, tables_from=None)


@frozen
class Plan:
    """A sweep before it is run."""

    spec: MechSpec
    job: Job
    varied: tuple[Varied, ...]
    listed: Dimension | None  # the cases of a file
    cases: Cases
    measures: Measures
    draws: int | None
    latin: bool
    seed: int

    @property
    def facts(self) -> Facts:
        """What the file of the sweep says of it."""
        job = self.job
        settings = {
            "tol": job.tol,
            "order": job.order,
            "t0": job.t0,
            "tend": job.tend,
            "overrides": dict(job.overrides),
        }
        texts = [written.text for written in job.measures]
        return {
            "version": __version__,
            "title": self.spec.title,
            "spec_path": Path(job.path).name,
            "spec_text": job.text,
            "files": dict(job.files),
            "settings": settings,
            "vary": [*map(_varied_fact, self.varied), *self._listed_facts()],
            "measures": [
                {"label": label, "text": text, "unit": unit}
                for label, text, unit in zip(
                    self.measures.labels, _of_labels(self.measures, texts), self.measures.units, strict=True
                )
            ],
            "draws": self.draws,
            "latin": self.latin,
            "seed": self.seed,
            "count": len(self.cases),
        }

    def _listed_facts(self) -> list[Facts]:
        names = () if self.listed is None else self.listed.names
        return [{"name": name, "text": "", "kind": "cases", "scale": "linear", "values": None} for name in names]

    @property
    def identity(self) -> dict[str, str]:
        """All that rows depend on, by what a person calls it; long ones as their checksums."""
        job = self.job
        settings = {"tol": job.tol, "order": job.order, "t0": job.t0, "tend": job.tend}
        columns = [] if self.listed is None else [column.tobytes() for column in self.listed.columns]
        names = () if self.listed is None else self.listed.names
        given = {each.name: each.text for each in self.varied}
        values = [b"" if each.values is None else each.values.tobytes() for each in self.varied]
        return {
            "version": __version__,
            "mechanism": _checksum(job.text.encode()),
            "tables": _checksum(*(part.encode() for pair in sorted(job.files.items()) for part in pair)),
            "parameters": json.dumps(dict(job.overrides)),
            "settings": json.dumps(settings),
            "vary": json.dumps(given),
            "values": _checksum(*values),
            "cases": _checksum(*(name.encode() for name in names), *columns) if names else "none",
            "draws": json.dumps({"draws": self.draws, "latin": self.latin, "seed": self.seed}),
            "measures": json.dumps([written.text for written in job.measures]),
            "motions": "kept" if job.motions else "not kept",
        }


def plan_of(
    source: Source,
    *,
    vary: Mapping[str, Given] | None = None,
    measure: Sequence[str] = (),
    cases: str | Path | None = None,
    draws: int | None = None,
    latin: bool | None = None,
    seed: int | None = None,
    parameters: Parameters | None = None,
    tables_from: Folders = (),
    tol: float | None = None,
    order: int | None = None,
    t0: float | None = None,
    tend: float | None = None,
    motions: str | Path | None = None,
    marks: Mapping[str, Mark] | None = None,
) -> Plan:
    """The plan of a sweep: what is given, and else what the Sweep section of the file says. `marks` are the places of
    what `vary` gives, where these are not files. Raises SpecError with all that is wrong."""
    spec = adjust(read(source, parameters, tables_from), tol=tol, order=order, t0=t0, tend=tend)
    own = spec.sweep or NOTHING
    listed_ = None if cases is None else listed_cases(cases, tuple(spec.parameters))
    values = _values(spec, own, vary or {}, marks or {}, () if listed_ is None else listed_.names)
    drawn = any(each.quantile is not None for each in values)
    draws = own.draws if draws is None and drawn else draws
    latin = own.latin if latin is None else latin
    seed = _seed(own.seed or 0 if seed is None else seed)
    given = [Written(text, Mark(f"--measure {k}", 1, 1)) for k, text in enumerate(_texts(measure), 1)]
    written = tuple(given) or own.measures or tuple(Written(text, spec.problem.tend.mark) for text in DEFAULT_MEASURES)
    problem, solver = spec.problem, spec.solver
    job = Job(
        text=spec.text,
        path=spec.path,
        overrides=dict(spec.overrides),
        files=dict(spec.files),
        tol=solver.tolerance,
        order=solver.order,
        t0=float(problem.t0),
        tend=float(problem.tend),
        measures=written,
        motions=None if motions is None else str(Path(motions).absolute()),
    )
    measures = measures_of(written, spec)
    _refuse_equal_columns(values, listed_, measures)
    all_cases = cases_of(values, listed_, draws, bool(latin), seed)
    return Plan(spec, job, values, listed_, all_cases, measures, draws, bool(latin and drawn), seed)


def _values(
    spec: MechSpec, own: Sweep, given: Mapping[str, Given], marks: Mapping[str, Mark], listed_names: Sequence[str]
) -> tuple[Varied, ...]:
    """Entries of the file, those that are given in the place of those of the same name, then further ones."""
    parameters = {name: float(number) for name, number in spec.parameters.items()}
    texts: dict[str, tuple[Given, Mark]] = {name: (each.text, each.mark) for name, each in own.vary.items()}
    texts |= {name: (each, marks.get(name, Mark("vary", 1, 1))) for name, each in given.items()}
    found, faults = [], []
    for name, (text, mark) in texts.items():
        if name not in parameters:
            there = f"the file has the parameters {listed(parameters)}" if parameters else "the file has none"
            hint = did_you_mean(name, parameters) or there
            place = Mark(marks[name].file, 1, 1) if name in marks else None
            faults.append(Fault(f"there is no parameter {name}", place, hint))
            continue
        if name in listed_names and name in given:
            faults.append(Fault(f"{name} is varied, and is also in the file of cases"))
        elif name in listed_names:
            continue
        try:
            found.append(varied(name, text, mark, parameters))
        except SpecError as error:
            faults += error.faults
    if faults:
        raise SpecError(*faults)
    return tuple(found)


def _refuse_equal_columns(values: Sequence[Varied], listed_: Dimension | None, measures: Measures) -> None:
    names = [each.name for each in values] + list(() if listed_ is None else listed_.names)
    taken = {*COLUMNS, *measures.labels}
    if equal := [name for name in names if name in taken]:
        hint = "give the parameter another name"
        raise SpecError(*(Fault(f"{name} varies, but another column is called so too", hint=hint) for name in equal))
    if len(set(measures.labels)) < len(measures.labels):
        label = next(label for k, label in enumerate(measures.labels) if label in measures.labels[:k])
        raise SpecError(Fault(f"{label} is measured twice"))


def measures_of(written: Sequence[Written], spec: MechSpec) -> Measures:
    """Measures as they are written; faults have the places of these."""
    return Measures.parse([each.text for each in written], spec, [each.mark for each in written])


def _texts(measure: str | Sequence[str]) -> Sequence[str]:
    return (measure,) if isinstance(measure, str) else measure


def _seed(seed: int) -> int:
    if isinstance(seed, bool) or int(seed) != seed or not 0 <= seed <= LARGEST_SEED:
        raise SpecError(Fault(f"the seed {seed} is not a whole number from 0 to 2**63 - 1"))
    return int(seed)


def _varied_fact(each: Varied) -> Facts:
    values = None if each.values is None else each.values.tolist()
    return {"name": each.name, "text": each.text, "kind": each.kind, "scale": each.scale, "values": values}


def _of_labels(measures: Measures, texts: Sequence[str]) -> list[str]:
    """The text that each label comes from: its own, but for those of a word such as `final`."""
    return [
        label if label in texts else next((t for t in texts if t in DEFAULT_MEASURES), label)
        for label in measures.labels
    ]


def _checksum(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()[:16]
