"""Measures of motions: numbers against closed forms, and clear words for what is not one."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from reference import SPECS
from scipy.special import ellipeinc, ellipj, ellipk

import mechsim
from mechsim.errors import Mark, SpecError
from mechsim.measure.gathered import Gathered
from mechsim.measure.measures import Measures
from mechsim.source import read

PENDULUM = read(SPECS / "pendulum.yaml")
MOTION = mechsim.simulate(SPECS / "pendulum.yaml", tol=1e-13)
EXACT = 1e-12  # of lengths of 1 m after 10 s: errors of the motion at tol = 1e-13, which are 1e-13 and less
RATE = np.sqrt(9.81)  # of small swings
QUARTER = ellipk(0.5)


def swing(t: float) -> tuple[float, float]:
    """The pendulum of 1 m let go from the horizontal (Jacobi elliptic functions of modulus sin 45 deg)."""
    sn, _, dn, _ = ellipj(QUARTER - RATE * t, 0.5)
    return np.sqrt(2) * sn * dn, sn**2 - 1


def area(t: float) -> float:
    """The integral of A_y: that of sn**2 is 2 (u - E(am u))."""
    back, start = (2 * (u - ellipeinc(ellipj(u, 0.5)[3], 0.5)) for u in (QUARTER - RATE * t, QUARTER))
    return (start - back) / RATE - t


def measured(text: str, motion: mechsim.Motion = MOTION, spec: mechsim.MechSpec = PENDULUM) -> float:
    values, message = Measures.parse([text], spec).of_motion(motion)
    assert message == "" and values.shape == (1,)
    return float(values[0])


def faults_of(*texts: str, spec: mechsim.MechSpec = PENDULUM) -> list[str]:
    with pytest.raises(SpecError) as caught:
        Measures.parse(texts, spec)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("max(A_y)", 0.0),
        ("min(A_y)", -1.0),
        ("max(A.x)", 1.0),
        ("min(A_x)", -1.0),
        ("max(A_x_dot)", np.sqrt(2 * 9.81)),
        ("min(A.vx)", -np.sqrt(2 * 9.81)),
        ("max(A_y) - min(A_y)", 1.0),
        ("period(A_x)", 4 * QUARTER / RATE),
        ("period(A_y)", 2 * QUARTER / RATE),
        ("first(A_x)", 3 * QUARTER / RATE),
        ("first(-A_x)", QUARTER / RATE),
        ("count(A_x)", 4.0),
        ("time_of_min(A_y)", QUARTER / RATE),
        ("at(A_x, 3)", swing(3.0)[0]),
        ("at(A_y, tend/3)", swing(10 / 3)[1]),
        ("at(A_x, first(-A_x))", 0.0),
        ("start(A_x)", 1.0),
        ("final(A_x)", swing(10.0)[0]),
        ("integral(A_y)", area(10.0)),
        ("mean(A_y)", area(10.0) / 10),
        ("mean(V)/(m*g)", area(10.0) / 10),
        ("rms(A_x_dot) - sqrt(mean(A_x_dot**2))", 0.0),
        ("max(T)", 9.81),
        ("integral(T)/tend + g*integral(A_y)/tend", 0.0),
        ("max(abs(A_x)) + min(abs(A_x))", 1.0),
        ("integral(abs(A_x)) - integral(sqrt(A_x**2))", 0.0),
        ("max(sqrt(A_x**2 + A_y**2))", 1.0),
        ("min(dist(O,A))", 1.0),
        ("max(rate(O,A))", 0.0),
        ("max(atan2(A_x, -A_y))", np.pi / 2),
        ("max(A_OA_Fu)", 0.0),
        ("max(exp(-1e6*(A_x - 0.3)**2))", 1.0),
        ("2*pi*count(A_x)/count(A_x)", 2 * np.pi),
    ],
)
def test_a_pendulum_has_its_numbers(text: str, value: float) -> None:
    if text == "max(A_OA_Fu)":  # a rod of no mass feels what the bob does: 3 m g at the bottom, pulling outwards
        value = 3 * 9.81
    scale = max(1.0, abs(value))
    slack = 20 if "T" in text or "F" in text or "V" in text else 1  # values of up to 30 J and N, errors with them
    assert measured(text) == pytest.approx(value, abs=EXACT * scale * slack)


def test_a_peak_at_rest_is_flat() -> None:
    """From rest at the horizontal A_x falls as t**4: its largest value is exact, its time is not, by nature."""
    assert measured("max(A_x)") == pytest.approx(1.0, abs=1e-14)
    assert measured("time_of_max(A_x)") < 0.02


def test_digits_as_a_reference_has_them() -> None:
    x = float(MOTION(3.0)["A_x"])
    # A vector's length, 1 m, is what errors are compared with.
    assert measured(f"digits(A_x, 3, {x!r} + 1e-5)") == pytest.approx(5.0, abs=1e-6)
    assert measured("digits(A_x, 0, l)") == 16.0
    assert measured("digits(A_x, 3, 1e3)") == pytest.approx(0.0, abs=1e-3)
    assert measured("digits(2*A_y, 3, 2*at(A_y, 3))") == 16.0


def test_final_is_every_coordinate_and_velocity_at_the_end() -> None:
    measures = Measures.parse(["final"], PENDULUM)
    assert measures.labels == ("A_x", "A_x_dot", "A_y", "A_y_dot")
    assert measures.units == ("m", "m/s", "m", "m/s")
    assert measures.keep == "final"
    solution = MOTION.solution
    expected = [solution.q[-1, 0], solution.v[-1, 0], solution.q[-1, 1], solution.v[-1, 1]]
    assert measures.of_motion(MOTION)[0].tolist() == expected
    assert Measures.parse(["final(A_x**2 + T)", "l*tend"], PENDULUM).keep == "final"
    assert Measures.parse(["final(A_x)", "t0"], PENDULUM).keep == "polynomials"


def test_units_and_labels() -> None:
    texts = [" max(A_y)", "integral(T)", "period(A_x)", "count(A_x)", "max(A_x)*2", "max(A_x) - min(A_y)", "max(theta)"]
    measures = Measures.parse(texts[:-1], PENDULUM)
    assert measures.labels == tuple(text.strip() for text in texts[:-1])
    assert measures.units == ("m", "J s", "s", "", "", "m")


@pytest.mark.parametrize(
    ("text", "said", "column"),
    [
        ("max(A_y", "is not an expression", 4),
        ("max(A_z)", "there is no column A_z", 5),
        ("maxx(A_y)", "there is no function maxx", 1),
        ("max(A_y, 2)", "max takes one argument", 1),
        ("at(A_y)", "at takes two arguments", 1),
        ("digits(A_y, 1)", "digits takes three arguments", 1),
        ("A_y", "A_y alone is a function of time", 1),
        ("2*A.x + max(A_x)", "A.x alone is a function of time", 3),
        ("max(mean(A_y))", "cannot stand inside max", 5),
        ("at(A_y, 11)", "the time 11 is outside of the motion, which is from 0 to 10", 9),
        ("max(A_y)/0", "division by zero", 1),
        ("max(A_y/(1 - 1))", "division by zero", 5),
        ("max(A_y) + log(-1)", "is not defined for -1", 12),
        ("max(theta_OA)", "there is no column theta_OA", 5),
        ("max(A)", "there is no column A", 5),
        ("max(B.x)", "there is no column B.x", 5),
        ("max", "max is a function", 1),
        ("kk*max(A_y)", "there is no parameter or column kk", 1),
        ("max(A_y) if l else 1", "is not allowed", 1),
        ("", "is not an expression", 1),
    ],
)
def test_faults_have_a_place(text: str, said: str, column: int) -> None:
    (fault,) = faults_of("final", text)
    assert fault.startswith(f"--measure 2:1:{column}: error: ") and said in fault


def test_hints() -> None:
    hints = {
        "A_y": "write final(A_y), max(A_y)",
        "maxx(A_y)": "did you mean max?",
        "max(A_xdot)": "did you mean A_x_dot?",
        "max(theta_OA)": "SolverParams.OutFile.angles",
        "max(A)": "a point has A_x and A_y",
        "max(mean(A_y))": "a column such as A_x",
    }
    for text, hint in hints.items():
        assert hint in faults_of(text)[0]


def test_all_faults_are_told_together() -> None:
    faults = faults_of("max(B_x) + C_y", "A_y", "max(A_y)", "max(A_y)", "1/0")
    assert [re.match(r"--measure (\d)", fault)[1] for fault in faults] == ["1", "1", "2", "4", "5"]  # type: ignore[index]
    with pytest.raises(SpecError, match=r"a\.yaml:3:19: error: A_x alone"):
        Measures.parse(["max(A_y)", "A_x"], PENDULUM, [Mark("a.yaml", 3, 9), Mark("a.yaml", 3, 19)])


def test_what_is_no_number_says_why() -> None:
    texts = ["1/count(A_y - 5)", "first(A_y - 5)", "period(A_y - A_y)", "max(log(A_y))", "at(A_x, 20*l)", "sqrt(-m)"]
    for text, why in zip(
        texts,
        [
            "`count(A_y - 5)` is 0",
            "`A_y - 5` does not cross zero upwards",
            "crosses its average 0 upwards never",
            "`log(A_y)` has no value near t = 0",
            "the time 20 is outside of the motion, which is from 0 to 10",
            "`sqrt(-m)` has no value: `-m` is -1",
        ],
        strict=True,
    ):
        values, message = Measures.parse([text, "max(A_x)"], PENDULUM).of_motion(MOTION)
        assert np.isnan(values[0]) and values[1] == pytest.approx(1.0)
        assert message.startswith(f"{text}: ") and why in message


LENGTHS = np.linspace(0.5, 2.0, 23)
HANDLE = mechsim.mechanism(SPECS / "pendulum.yaml")
MANY = [case.motion for case in HANDLE.simulate_many({"l": LENGTHS}, tol=1e-10)]


def test_a_case_is_the_same_in_any_chunk() -> None:
    texts = [
        "max(A_y)",
        "max(A_x)",
        "period(A_x)",
        "integral(sin(A_x)*T)",
        "time_of_min(A_y)",
        "at(A_x, l)",
        "rms(A_y)",
    ]
    texts += [
        "max(abs(A_x) + exp(A_y))",
        "max(A_OA_Fu)",
        "count(A_x)",
        "digits(A_x, 3, 0.1)",
        "final(A_x)/l",
        "mean(V)",
    ]
    measures = Measures.parse(texts, PENDULUM)
    values, messages = measures.of_many(Gathered(MANY, {"l": LENGTHS}))
    assert not any(messages) and np.isfinite(values).all()
    for chosen in (slice(0, 1), slice(3, 10), slice(9, 23)):
        part = Gathered(MANY[chosen], {"l": LENGTHS[chosen]})
        assert np.array_equal(measures.of_many(part)[0], values[chosen])
    for k in (0, 11, 22):
        assert np.array_equal(measures.of_motion(MANY[k])[0], values[k])
    again = pickle.loads(pickle.dumps(measures))
    assert np.array_equal(again.of_many(Gathered(MANY, {"l": LENGTHS}))[0], values)


def test_numbers_of_many_cases() -> None:
    measures = Measures.parse(["period(A_x)*sqrt(g/l)", "max(T)/(m*g*l)", "1/(l - 1.25)", "at(A_x, 6*l)"], PENDULUM)
    lengths = LENGTHS.copy()
    values, messages = measures.of_many(Gathered(MANY, {"l": lengths}))
    # The motion's own tolerance, 1e-10, over four periods.
    assert values[:, 0] == pytest.approx(4 * QUARTER, abs=1e-8)
    assert values[:, 1] == pytest.approx(1.0, abs=1e-8)
    middle = 11  # l = 1.25 exactly
    assert np.isnan(values[middle, 2]) and "`l - 1.25` is 0" in messages[middle]
    assert np.isfinite(np.delete(values[:, 2], middle)).all()
    late = 6 * lengths > 10
    assert np.isnan(values[late, 3]).all() and np.isfinite(values[~late, 3]).all()
    assert "is outside of the motion" in messages[22]


def test_parameters_follow_those_that_vary() -> None:
    text = Path(SPECS / "pendulum.yaml").read_text().replace("PhysicalParams:", "PhysicalParams:\n  half: l/2")
    spec, handle = read(text), mechsim.mechanism(text)
    motions = [case.motion for case in handle.simulate_many({"l": [1.0, 1.5]})]
    values, _ = Measures.parse(["half", "max(A_x)/half"], spec).of_many(Gathered(motions, {"l": np.array([1.0, 1.5])}))
    assert values == pytest.approx(np.array([[0.5, 2.0], [0.75, 2.0]]), abs=1e-11)


def test_cases_that_did_not_finish_have_none() -> None:
    many = Gathered(MANY[:3], {"l": LENGTHS[:3]})
    many.finished = np.array([True, False, True])
    values, messages = Measures.parse(["max(A_y)", "final(A_x)"], PENDULUM).of_many(many)
    assert np.isnan(values[1]).all() and np.isfinite(values[[0, 2]]).all() and messages == ["", "", ""]
    many.finished = np.zeros(3, dtype=bool)
    assert np.isnan(Measures.parse(["max(A_y)"], PENDULUM).of_many(many)[0]).all()


def test_polynomials_of_more_degrees_beside_change_nothing() -> None:
    """A motion of another order may stand with the others: powers that a case has not are not counted with it."""
    measures = Measures.parse(["max(A_y)", "integral(A_x)", "max(A_x_dot*A_y)"], PENDULUM)
    plain, padded = (Gathered(MANY[:4], {"l": LENGTHS[:4]}) for _ in range(2))
    joined = padded.polynomials
    more = np.concatenate(
        [joined.coefficients, np.zeros((len(joined.begins), 3, joined.coefficients.shape[2]))], axis=1
    )
    object.__setattr__(joined, "coefficients", more)
    assert np.array_equal(measures.of_many(padded)[0], measures.of_many(plain)[0])


STEPS = """
Tables:
  push: {points: [[0, 1], [1, -2], [2, 4]], kind: step}
  stiff: {points: [[0, 20], [1.5, 60], [2, 5]], kind: step}
Signals: {pushed: push, work: 2*B.x}
Output: {signals: [pushed]}
PartData: {Fixed: {O: [], R: [1]}, Particles: {B: 2}}
Joints: {Slots: {B-OR: []}}
AppliedForces:
  Potentials: {cushion: stiff*(B.x - 1)**2/2}
  Forces: {B: [push, 3*push]}
ProblemData: {tend: 3, positions: {B: [1.2]}}
"""


def test_jumps_have_both_sides() -> None:
    spec, motion = read(STEPS), mechsim.simulate(STEPS)

    def number(text: str) -> float:
        return measured(text, motion, spec)

    assert number("max(pushed)") == 4.0 and number("min(pushed)") == -2.0
    assert number("integral(pushed)") == pytest.approx(1 - 2 + 4, abs=1e-12)
    assert number("time_of_max(pushed)") == 2.0
    assert number("first(pushed)") == 2.0
    assert number("max(work) - 2*max(B_x)") == pytest.approx(0.0, abs=1e-13)  # roundings of an interpolation
    both = motion.both_sides()
    rows = both["V"]
    assert number("max(V)") >= rows.max() - 1e-12
    # Rows lie close: a peak between them is missed by less than this.
    assert number("max(V)") == pytest.approx(rows.max(), rel=1e-2)
    before = [float(motion.sampled(np.array([1.5]), side)["V"][0]) for side in ("before", "after")]
    assert number("at(V, 1.5)") == pytest.approx(before[1], rel=1e-10)


def test_a_table_alone_is_no_column() -> None:
    (fault,) = faults_of("max(push)", spec=read(STEPS))
    assert "is measured as a signal" in fault


def test_the_double_pendulum_keeps_its_energy() -> None:
    spec = read(SPECS / "double_pendulum.yaml")
    motion = mechsim.simulate(spec, tend=2)
    assert measured("max(T + V) - min(T + V)", motion, spec) < 1e-11  # of 30 J, at tol = 1e-14
    peaks = motion.sampled(np.linspace(0, 2, 20001))
    assert measured("max(B_y)", motion, spec) == pytest.approx(peaks["B_y"].max(), abs=1e-6)  # samples miss the peak


def examples_of_the_docs() -> list[str]:
    page = (Path(__file__).parent.parent / "docs" / "studies.md").read_text()
    text = page.partition("\n## Measures\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`|]+)` \|", text, re.MULTILINE)
    return [*rows, *re.findall(r'--measure "([^"]+)"', text)]


def test_the_examples_of_the_docs_are_measures() -> None:
    texts = list(dict.fromkeys(examples_of_the_docs()))
    assert len(texts) > 15
    of_events = [text for text in texts if "event" in text]
    values, message = Measures.parse([text for text in texts if text not in of_events], PENDULUM).of_motion(MOTION)
    assert np.isfinite(values).all() and message == ""
    ball = mechsim.mechanism("""
PartData: {Particles: {P: 1}}
AppliedForces: {Gravity: [0, -10]}
Contacts: {floor: {gap: P.y, e: 0.5}}
Events: {top: {when: P.vy, direction: down}}
ProblemData: {tend: 1, positions: {P: [[0, fixed], [1, fixed]]}}
""")
    values, message = Measures.parse(of_events, ball.spec).of_motion(ball.simulate())
    assert len(values) > 1 and (values > 0).all() and message == ""
