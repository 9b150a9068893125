"""Reference: the section as people write it, what is wrong with it and where, and how digits are counted."""

import math
from pathlib import Path

import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st

import mechsim
from mechsim import simulation
from mechsim.errors import SpecError
from mechsim.result.certificate import Monitor
from mechsim.spec import parse
from mechsim.study.references import Witness, digits_of, missed_bars
from mechsim.study.regression_runs import run_spec

SPECS = Path(__file__).parent.parent / "specs"
# A particle that falls: x = u t, y = h - g t^2/2, of degree 2 in t, so that a series has it to rounding.
FALL = """\
PhysicalParams: {u: 3, h: 2, g: 9.81, unit: 1}
PartData:
  Particles: {A: 2}
AppliedForces: {Gravity: [0, -g*unit]}
ProblemData:
  tend: 2
  positions: {A: [[0, fixed], [h*unit, fixed]]}
  velocities: {A: [[u*unit, fixed], [0, fixed]]}
"""


def reference(text, file=FALL):
    return parse(f"{file}Reference: {{{text}}}\n").reference


def compared(text, file=FALL, **settings):
    """Digits by time and column, of a run."""
    spec = simulation.adjust(parse(f"{file}Reference: {{{text}}}\n"), **settings)
    prepared = simulation.prepare(spec)
    witness = Witness(prepared)
    assert simulation.follow(prepared, keep="outline", observer=witness, detailed=True).status == "finished"
    return {(each.known.time, each.known.column): each for each in witness.agreements()}


# --- reading


def test_what_the_design_shows_is_read():
    found = reference("at: {0.03: {A_x: [0.09, 9]}}, energy: 1e-12, constraints: 1e-11, steps: 120")
    (known,) = found.values
    assert (known.time, known.column, known.value, known.digits, known.size) == (0.03, "A_x", 0.09, 9.0, None)
    assert (found.energy, found.constraints, found.steps) == (1e-12, 1e-11, 120)
    assert (known.mark.line, known.mark.column) == (9, 25)


def test_times_and_values_may_be_expressions_and_a_size_may_be_given():
    found = reference("at: {2/g: {A_y: {value: h - 2/g, digits: 9.5, size: h}}}")
    (known,) = found.values
    assert known.time == 2 / 9.81
    assert known.value == 2 - 2 / 9.81
    assert (known.digits, known.size) == (9.5, 2.0)


def test_values_are_in_the_order_of_time_however_they_are_written():
    found = reference("at: {2: {A_y: [1, 3], A_x: [1, 3]}, 0.5: {A_x: [1, 3]}}")
    assert [(each.time, each.column) for each in found.values] == [(0.5, "A_x"), (2.0, "A_x"), (2.0, "A_y")]


def test_a_file_without_one_has_none():
    assert parse(FALL).reference is None
    assert parse(FALL + "Reference:\n").reference is None


FAULTS = [
    ("at: {3: {A_x: [1, 9]}}", "9:18 Reference.at is about the time 3, but the motion goes from 0 to 2"),
    ("at: {-u: {A_x: [1, 9]}}", "9:18 Reference.at is about the time -u = -3, but the motion goes from 0 to 2"),
    ("at: {1: {A_x: 1}}", "9:27 Reference.at.1.A_x must be a list, not `1`"),
    ("at: {1: {A_x: [1]}}", "9:27 Reference.at.1.A_x has 1 of the values [value, digits, size], where size may be"),
    ("at: {1: {A_x: [1, 17]}}", "9:31 Reference.at.1.A_x.digits is 17, but must be above 0 and at most 16"),
    ("at: {1: {A_x: [1, 0]}}", "9:31 Reference.at.1.A_x.digits is 0, but must be above 0 and at most 16"),
    ("at: {1: {A_x: [1, 9, 0]}}", "9:34 Reference.at.1.A_x.size is 0, but must be above zero"),
    ("at: {1: {A_x: [w, 9]}}", "9:28 w is not defined"),
    ("at: {1: {B_x: [1, 9]}}", "9:22 Reference.at.B_x uses the point B, which no part has"),
    ("at: {1: {theta_AB: [1, 9]}}", "9:22 Reference.at.theta_AB uses AB, which is no rigid part"),
    ("at: {1: {A.vx: [1, 9]}}", "9:22 `A.vx` is not the name of a column"),
    ("at: {1: {A_x: [1, 9]}, 1.0: {A_y: [1, 9]}}", "9:36 Reference.at has the time 1 twice: 1 and 1.0"),
    ("at: {1 +: {A_x: [1, 9]}}", "9:21 `1 +` is not an expression"),
    ("energy: -1", "9:21 Reference.energy is -1, but must not be negative"),
    ("steps: 1.5", "9:20 Reference.steps is 1.5, but must be a whole number from 1 to 1000000000"),
    ("digits: 3", "9:13 unknown key digits in Reference"),
    ("", "9:12 Reference says nothing"),
]


@pytest.mark.parametrize(("text", "said"), FAULTS, ids=[text or "empty" for text, _ in FAULTS])
def test_faults_stand_where_they_are(text, said):
    with pytest.raises(SpecError) as caught:
        reference(text)
    fault = caught.value.faults[0]
    assert f"{fault.mark.line}:{fault.mark.column} {fault.message}".startswith(said)


def test_a_coordinate_written_as_in_expressions_is_explained():
    with pytest.raises(SpecError) as caught:
        reference("at: {1: {A.vx: [1, 9]}}")
    assert caught.value.faults[0].hint == "write A_x_dot"


def test_a_column_that_the_run_has_not_is_a_fault_before_it_runs():
    with pytest.raises(SpecError) as caught:
        compared("at: {1: {work_a: [1, 9], A_x: [3, 9]}}")
    (fault,) = caught.value.faults
    assert str(fault.mark).endswith(":9:22")
    assert fault.message == "Reference.at names work_a, which is no column of this run"
    assert fault.hint == "columns are t, A_x, A_x_dot, A_y, A_y_dot, T, V"


def test_other_parameters_make_another_motion_which_the_file_does_not_know():
    """Nor can an answer be wrong for them: its formula may have no value there, its time may be outside."""
    text = f"{FALL}Reference: {{at: {{u/2: {{A_x: [sqrt(u), 9]}}}}}}\n"
    assert parse(text).reference is not None
    assert parse(text, overrides={"u": "-1"}).reference is None
    assert parse(text.replace("u*unit", "3*unit"), overrides={"u": "50"}).unused == ()  # an answer uses it
    handle = mechsim.mechanism(text)
    assert handle.simulate(parameters={"u": -1})(1.0)["A_x"] == pytest.approx(-1.0, rel=1e-14)
    assert simulation.adjust(parse(text), t0=0.5).reference is None
    assert simulation.adjust(parse(text), tend=1.0).reference is not None


def test_it_changes_nothing_of_the_mechanism():
    """The same programs, the same numbers, the same motion, bit by bit."""
    plain = mechsim.simulate(FALL)
    known = mechsim.simulate(f"{FALL}Reference: {{at: {{1: {{A_x: [u, 9]}}}}, steps: 5}}\n")
    assert (plain.solution.q == known.solution.q).all()
    assert plain.trajectory.labels == known.trajectory.labels


# --- digits


@pytest.mark.parametrize(
    ("error", "size", "digits"),
    [(0.0, 0.0, 16.0), (0.0, 1.0, 16.0), (1e-9, 1.0, 9.0), (1e-9, 10.0, 10.0), (1e-30, 1.0, 16.0), (5.0, 1.0, 0.0)],
)
def test_digits_are_the_logarithm_of_the_relative_error(error, size, digits):
    assert digits_of(error, size) == digits_of(-error, size) == pytest.approx(digits, rel=1e-12)


@pytest.mark.parametrize(
    ("error", "size"), [(math.nan, 1.0), (math.inf, 1.0), (1.0, 0.0), (1.0, math.nan), (1.0, math.inf)]
)
def test_what_is_no_number_has_no_digits(error, size):
    assert digits_of(error, size) == 0.0


def test_exact_values_agree_and_wrong_ones_are_missed():
    found = compared("at: {0: {A_y_dot: [0, 14]}, 2: {A_x: [2*u, 14], A_y: [h - 2*g, 14], A_x_dot: [2.9999, 9]}}")
    assert not any(found[key].missed for key in ((0.0, "A_y_dot"), (2.0, "A_x"), (2.0, "A_y")))
    wrong = found[2.0, "A_x_dot"]
    # |(u, -g t)| is the size of the velocity: sqrt(9 + 19.62^2) = 19.85.
    assert wrong.missed
    assert wrong.digits == pytest.approx(-math.log10(1e-4 / math.hypot(3.0, 19.62)), abs=1e-9)
    assert str(wrong).startswith("A_x_dot at t = 2 has 5.3 digits of 9 asked for: 3")


def test_the_size_is_the_largest_so_far_and_not_what_comes_later():
    """At t = 0.5 the point is 2.0 m away at most (at the start), at t = 2 17.9 m; a size that is given counts alone."""
    error = "at: {0.5: {A_x: [1.5 + 1e-6, 5]}, 2: {A_x: [6 + 1e-6, 5]}}"
    found = compared(error)
    assert found[0.5, "A_x"].digits == pytest.approx(6 + math.log10(2.0), abs=0.05)
    assert found[2.0, "A_x"].digits == pytest.approx(6 + math.log10(math.hypot(6.0, 2 - 19.62)), abs=0.05)
    assert compared(error, tend=0.5)[0.5, "A_x"].digits == pytest.approx(found[0.5, "A_x"].digits, abs=1e-4)
    given_size = compared("at: {2: {A_x: [6 + 1e-6, 5, 1e-3]}}")
    assert given_size[2.0, "A_x"].digits == pytest.approx(3.0, abs=1e-6)


def test_at_another_tolerance_digits_are_told_but_none_are_asked_for():
    found = compared("at: {2: {A_x: [7, 14]}}, steps: 1", tol=1e-3)
    assert found[2.0, "A_x"].digits < 2.0
    assert not found[2.0, "A_x"].missed


@some_of(25)
@given(
    unit=st.sampled_from([1e-3, 1e3, 25.4, 1e-9, 1e6]),
    error=st.floats(min_value=1e-8, max_value=1e-2),
    time=st.floats(min_value=0.1, max_value=2.0),
)
def test_millimetres_have_the_digits_of_metres(unit, error, time):
    """Errors of 1e-8 and more drown the roundings, which differ between units."""
    text = (
        f"at: {{{time!r}: {{A_x: [unit*(u*{time!r} + {error!r}), 3], A_y_dot: [unit*(-g*{time!r} + {error!r}), 3]}}}}"
    )
    metres, others = compared(text), compared(text, FALL.replace("unit: 1}", f"unit: {unit!r}}}"))
    for key, found in metres.items():
        assert others[key].digits == pytest.approx(found.digits, abs=1e-5)


@some_of(15)
@given(order=st.permutations(["A_x: [1, 3]", "A_y: [1, 3]", "T: [9, 3]", "A_y_dot: [1, 3]"]), swap=st.booleans())
def test_the_order_of_writing_does_not_matter(order, swap):
    times = [f"1: {{{', '.join(order)}}}", f"2: {{{', '.join(reversed(order))}}}"]
    found = compared(f"at: {{{', '.join(times[::-1] if swap else times)}}}")
    straight = compared("at: {1: {A_x: [1, 3], A_y: [1, 3], T: [9, 3], A_y_dot: [1, 3]}, 2: {T: [9, 3]}}")
    assert {key: each.digits for key, each in straight.items()}.items() <= {
        k: e.digits for k, e in found.items()
    }.items()


def test_energies_work_signals_and_forces_may_be_known():
    """m = 2 falls 1 m/s^2 slower by a force F = 2; its work is F times the way, its power a signal."""
    text = FALL.replace("AppliedForces: {", "AppliedForces: {Forces: {A: [0, F]}, ").replace("unit: 1", "unit: 1, F: 2")
    text += "Signals: {power: F*A.vy}\nOutput: {signals: [power]}\n"
    known = "T: [9 + (g - 1)**2, 13], V: [2*g*(h - (g - 1)/2), 13], work_A: [-F*(g - 1)/2, 13], power: [-F*(g - 1), 13]"
    found = compared(f"at: {{1: {{{known}}}}}", text)
    assert len(found) == 4
    assert not [str(each) for each in found.values() if each.missed]
    chain = run_spec(SPECS / "forces" / "hanging_chain.yaml")
    assert {"O_OA_Fx", "O_OA_Fy"} <= {value.column for value in chain.values}
    assert not chain.missed


def test_bars_of_certificate_and_steps():
    spec = parse(f"{FALL}Reference: {{energy: 1e-18, constraints: 0, steps: 1}}\n")
    prepared = simulation.prepare(spec)
    monitor = Monitor(prepared.system)
    solution = simulation.follow(prepared, keep="outline", observer=Witness(prepared, monitor), detailed=True)
    certificate = monitor.certificate(1e-12, {**solution.statistics, "steps": 3})
    assert missed_bars(spec.reference, certificate)[-1] == "3 steps were taken; at most 1 are asked for"
    assert not missed_bars(reference("energy: 1e-12, constraints: 1e-12, steps: 3"), certificate)
