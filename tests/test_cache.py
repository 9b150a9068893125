"""Programs on disk: whatever is done to a file, it is read whole, or derived again and replaced; never run as it is."""

import contextlib
import json
import random
from pathlib import Path

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st

import mechsim
from mechsim.derive import cache, program_for
from mechsim.derive.program import from_document, to_document
from mechsim.derive.soundness import Unsound, check
from mechsim.engine import integrate
from mechsim.initial import assemble
from mechsim.kernel import system as system_module
from mechsim.kernel.system import System
from mechsim.lagrangian import kind_named
from mechsim.lagrangian.law import kind_of
from mechsim.model import build
from mechsim.spec import parse
from mechsim.structure import analyse

KINDS = ("length", "particle", "planar_body", "spring", "turned_length", "placement", "collinear")
SWING = """
PartData:
  Fixed: {O: []}
  Rigids: {OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}}
  Springs: {AB: [10, 1]}
  Particles: {B: 1}
AppliedForces: {Gravity: , Torques: {OA: "sin(t)*exp(-t) + atan2(A.x, 2 + A.y)*(2 + t)**1.5"}, Drag: {B: [0, 1]}}
ProblemData: {tend: 0.3, positions: {A: [1], B: [2, 0.1]}}
"""


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    """Whole files of some kinds, by kind."""
    place = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MECHSIM_CACHE", str(place))
        for name in KINDS:
            program_for(kind_named(name, 2))
        return {name: next(place.glob(f"{name}-*.json")).read_bytes() for name in KINDS}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MECHSIM_CACHE", str(tmp_path))
    return tmp_path


def place_of(name: str) -> Path:
    return cache._path(cache._purpose(kind_named(name, 2), frozenset(), False))


def loaded(name: str):
    return cache.load(kind_named(name, 2), frozenset(), False)


@pytest.mark.parametrize("name", KINDS)
def test_a_whole_file_is_read(name, entries, folder):
    place_of(name).write_bytes(entries[name])
    assert to_document(loaded(name)) == json.loads(entries[name])["program"]


def test_every_program_in_use_is_sound(monkeypatch):
    """The check must not refuse what is derived: those of all kinds, of laws, with all derivatives and without."""
    asked = []

    def remembering(kind, zeros=frozenset(), complete=False):
        asked.append((kind, zeros, complete))
        return program_for(kind, zeros, complete)

    monkeypatch.setattr(system_module, "program_for", remembering)
    for path in sorted((Path(__file__).parent.parent / "specs").rglob("*.yaml")):
        System(build(parse(path.read_text(), str(path))))
    for kind, zeros, complete in asked:
        check(program_for(kind, zeros, complete), kind, complete)
    laws = [kind_of(law) for law in build(parse(SWING)).laws.values()]
    for kind in (*(kind_named(name, 2) for name in KINDS), *laws):
        check(program_for(kind, frozenset(), True), kind, True)


DAMAGES = [b"", b"{", b"null", b"[1, 2]", b"{}", b"\xff\xfe", b'{"inputs": 3}', b"[" * 100_000, b"1" * 10_000, b'"for"']


@pytest.mark.parametrize("damage", DAMAGES, ids=range(len(DAMAGES)))
def test_a_damaged_file_is_derived_again_and_replaced(damage, entries, folder):
    place = place_of("length")
    place.write_bytes(damage)
    assert loaded("length") is None
    assert to_document(program_for(kind_named("length", 2))) == json.loads(entries["length"])["program"]
    assert place.read_bytes() == entries["length"]
    assert [path.name for path in folder.iterdir()] == [place.name]


def test_something_else_than_a_file_costs_only_time(folder, capsys):
    place_of("length").mkdir()
    assert program_for(kind_named("length", 2)).outputs
    assert "could not be cached" in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == [place_of("length").name]  # nothing is left beside it


def test_without_a_home_there_is_no_cache(monkeypatch, capsys):
    for name in ("MECHSIM_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert program_for(kind_named("length", 2)).outputs
    assert "could not be cached" in capsys.readouterr().err


@pytest.mark.parametrize("name", KINDS)
def test_a_file_under_another_name_is_not_taken(name, entries, folder):
    """The name of a file does not prove what is in it."""
    for other in KINDS:
        place_of(name).write_bytes(entries[other])
        assert (loaded(name) is None) == (other != name)


@some_of(200)
@given(name=st.sampled_from(KINDS), seed=st.integers(0, 10**6), data=st.data())
def test_truncated_and_flipped_files_are_not_taken(name, seed, data, entries, tmp_path_factory):
    content = bytearray(entries[name])
    if data.draw(st.booleans(), label="cut short"):
        content = content[: data.draw(st.integers(0, len(content) - 1), label="length")]
    else:
        place = data.draw(st.integers(0, len(content) - 1), label="byte")
        content[place] ^= 1 << data.draw(st.integers(0, 7), label="bit")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MECHSIM_CACHE", str(tmp_path_factory.getbasetemp()))
        place_of(name).write_bytes(bytes(content))
        found = loaded(name)
    # A flipped bit may turn one blank or escape into another that means the same: then nothing is lost.
    assert found is None or to_document(found) == json.loads(entries[name])["program"]


# --- edited on purpose, with a checksum that fits: the kernel must not read beyond its tables


def places_in(document, path=()):
    """Where each number and word of a document stands."""
    if isinstance(document, dict | list):
        items = document.items() if isinstance(document, dict) else enumerate(document)
        for key, value in items:
            yield from places_in(value, (*path, key))
    else:
        yield path


def edited(document, chance: random.Random):
    """A document with one or two numbers or words changed, lines repeated or left out."""
    document = json.loads(json.dumps(document))
    for _ in range(chance.randint(1, 2)):
        path = chance.choice(list(places_in(document)))
        within = document
        for key in path[:-1]:
            within = within[key]
        numbers = [-2, -1, 0, 1, 2, 3, 7, 20, 60, 1000, 2**31, 2**40, -(2**31), 1.5, None, True, [], "x", float("nan")]
        words = ["add", "divide", "function", "shift", "sin", "atan2", "power", "row", "mass", "time", "variable"]
        within[path[-1]] = chance.choice(words if chance.random() < 0.2 else numbers)
        if chance.random() < 0.2:
            table = document[chance.choice(["inputs", "constants", "operations", "outputs"])]
            if table and chance.random() < 0.5:
                table.pop(chance.randrange(len(table)))
            elif table:
                table.insert(chance.randrange(len(table)), chance.choice(table))
    return document


class Enough(Exception):
    """Odd equations may be stiff, and take days."""


def march_for_a_while(system: System, start) -> None:
    steps = 0

    def count(points) -> None:
        nonlocal steps
        steps += len(points)
        if steps > 5000:
            raise Enough

    with np.errstate(all="ignore"), contextlib.suppress(Enough):
        integrate(system, analyse(system), start, tend=0.05, tolerance=1e-6, keep="outline", observer=count)


def march_edited(seed: int) -> bool:
    """Run a mechanism one of whose programs was edited, if it is taken for sound; whether it was."""
    chance = random.Random(seed)
    mechanism = build(parse(SWING))
    system = System(mechanism)
    group = chance.choice(system.groups)
    try:
        program = from_document(edited(to_document(group.program), chance))
        check(program, group.kind, False)
    except (Unsound, ValueError, LookupError, TypeError):
        return False
    known = {(each.kind.name, each.zero_parameters): each.program for each in system.groups}
    known[group.kind.name, group.zero_parameters] = program
    try:
        odd = System(mechanism, known=known)
        start = assemble(mechanism, system, parse(SWING).problem)
        march_for_a_while(odd, start)
    except (mechsim.MechsimError, np.linalg.LinAlgError, ValueError):
        pass  # a sound program of other equations: it may have no motion, but it harms nobody
    return True


def test_edited_programs_never_harm():
    taken = [march_edited(seed) for seed in range(150)]
    assert 5 < sum(taken) < 120  # both happen, so both are tried


@pytest.mark.slow
def test_many_edited_programs_never_harm():
    for seed in range(1000, 2500):
        march_edited(seed)
