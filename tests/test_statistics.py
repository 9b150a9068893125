"""What draws say: known answers, errors that are as large as they say, failed cases left out."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st
from sweeps import axis, drawn, table_of

from mechsim.study.sobol import first_order
from mechsim.study.statistics import LEVELS, measured, summary

PI = math.pi


def ishigami(x):
    """With a = 7, b = 0.1, on [-pi, pi]^3; its shares are known in closed form."""
    return np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])


VARIANCE = 7**2 / 8 + 0.1 * PI**4 / 5 + 0.01 * PI**8 / 18 + 0.5
ISHIGAMI = np.array([0.5 * (1 + 0.1 * PI**4 / 5) ** 2, 7**2 / 8, 0.0]) / VARIANCE
WEIGHTS = np.array([1.0, 2.0, 3.0, 0.0])
LINEAR = WEIGHTS**2 / (WEIGHTS**2).sum()

FUNCTIONS = {
    "ishigami": (lambda rng, n: rng.uniform(-PI, PI, (n, 3)), ishigami, ISHIGAMI),
    "linear, normal": (lambda rng, n: rng.standard_normal((n, 4)), lambda x: x @ WEIGHTS, LINEAR),
    "linear, uniform": (lambda rng, n: rng.uniform(size=(n, 4)), lambda x: x @ WEIGHTS, LINEAR),
}


def latin(rng, n, k):
    """A Latin hypercube of uniform numbers."""
    return (np.array([rng.permutation(n) for _ in range(k)]).T + rng.uniform(size=(n, k))) / n


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("count", [200, 2000])
def test_shares_are_off_by_what_their_errors_say(name, count):
    """Of 40 samples with 3 or 4 parameters each, the deviations in units of the standard error have a mean square near
    1: of so many (correlated) ones it scatters by about 0.25, and a share near zero has an error that is itself rough,
    so half to twice is what can be asked. No share may be five of its errors off."""
    draw, function, truth = FUNCTIONS[name]
    rng = np.random.default_rng(7)
    off = []
    for _ in range(40):
        x = draw(rng, count)
        y = function(x)
        for column, share in zip(x.T, truth, strict=True):
            value, error = first_order(column, y)
            off.append((value - share) / error)
    assert 0.5 < np.mean(np.square(off)) < 2.0
    assert np.abs(off).max() < 5


def test_a_latin_hypercube_is_nearer_than_its_errors_say():
    rng = np.random.default_rng(3)
    off = []
    for _ in range(30):
        x = latin(rng, 500, 4)
        off += [
            (v - s) / e for (v, e), s in ((first_order(c, x @ WEIGHTS), s) for c, s in zip(x.T, LINEAR, strict=True))
        ]
    assert np.sqrt(np.mean(np.square(off))) < 1.0


def rank_estimate(x, y):
    """Gamboa, Gremaud, Klein and Lagnoux (2022), the other choice."""
    ordered = y[np.argsort(x)]
    return ((ordered * np.roll(ordered, -1)).mean() - y.mean() ** 2) / y.var()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_series_is_better_than_the_rank_estimator(name):
    """Measured: half its error. Three quarters leave room for the scatter of 40 samples."""
    draw, function, truth = FUNCTIONS[name]
    rng = np.random.default_rng(11)
    ours, theirs = [], []
    for _ in range(40):
        x = draw(rng, 1000)
        y = function(x)
        for column, share in zip(x.T, truth, strict=True):
            ours.append(first_order(column, y)[0] - share)
            theirs.append(rank_estimate(column, y) - share)
    assert np.std(ours) < 0.75 * np.std(theirs)


@some_of(40)
@given(st.integers(0, 2**31), st.floats(1e-6, 1e6), st.floats(-1e6, 1e6))
def test_shares_do_not_depend_on_units_or_order(seed, scale, shift):
    """Another unit of the measure or of the parameter changes no rank and no ratio; rounding is that of a mean beside
    a spread that may be 1e12 times smaller."""
    rng = np.random.default_rng(seed)
    x, noise = rng.standard_normal((2, 100))
    y = x + noise
    order = rng.permutation(100)
    there = first_order(x, y)
    assert first_order(x[order], y[order]) == pytest.approx(there, rel=1e-9, abs=1e-12)
    assert first_order(7 - 1e-3 * x, y) == pytest.approx(there, rel=1e-9, abs=1e-9)
    rounding = 1e-12 * (1 + abs(shift) / scale)
    assert first_order(x, scale * y + shift) == pytest.approx(there, rel=1e-9, abs=max(1e-9, 100 * rounding))


def test_what_is_straight_needs_no_series():
    """A lognormal parameter has a tail that no short series of ranks follows; yet the sum of two has halves."""
    rng = np.random.default_rng(9)
    x = rng.lognormal(0, 1, (2, 2000))
    for column in x:
        value, error = first_order(column, x.sum(axis=0))
        assert abs(value - 0.5) < 4 * error and error < 0.1
    assert first_order(x[0], 3 - 2 * x[0]) == pytest.approx((1.0, 0.0), abs=1e-12)


def test_nothing_to_share_has_no_shares():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(100)
    for y in (np.full(100, 3.0), 3.0 + 1e-15 * rng.standard_normal(100)):
        assert all(map(math.isnan, first_order(x, y)))
    assert all(map(math.isnan, first_order(np.ones(100), x)))
    assert all(map(math.isnan, first_order(x[:10], x[:10])))


def test_a_parameter_of_few_values_counts_as_groups():
    """y is that of its group but for noise of variance 1 beside 2/3: three values need no more than two terms."""
    rng = np.random.default_rng(5)
    x = rng.integers(0, 3, 4000).astype(float)
    value, error = first_order(x, x + rng.standard_normal(4000))
    assert abs(value - (2 / 3) / (5 / 3)) < 4 * error


def test_mean_and_deviation_with_their_errors():
    """Over 400 samples the errors that are stated match the scatter that is seen, to the 5 % that 400 tell (and some
    more, for the fourth moment of an exponential is rough)."""
    rng = np.random.default_rng(2)
    found = [measured("y", "m", rng.exponential(size=400), {}) for _ in range(400)]
    for value, error in (("mean", "mean_error"), ("deviation", "deviation_error")):
        seen = np.std([getattr(each, value) for each in found])
        assert np.mean([getattr(each, error) for each in found]) == pytest.approx(seen, rel=0.15)
    one = measured("y", "m", np.arange(101.0), {})
    assert one.quantiles == pytest.approx([100 * level for level in LEVELS])
    assert one.mean == 50 and one.deviation == pytest.approx(np.arange(101.0).std(ddof=1))


def test_failed_cases_are_left_out_and_counted():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 60))
    status = ["finished"] * 60
    y[:3] = np.nan  # finished, but there is no period, say
    status[10:14] = ["not_assembled"] * 4
    status[20] = "step_too_small"
    y[20] = 1e9  # whatever stands there
    found = summary(table_of("", [drawn("k")], {"k": x}, {"period(A_x)": ("s", y)}, status))
    (point,) = found.points
    (measure,) = point.measures
    assert found.failed == (("not_assembled", 4), ("step_too_small", 1)) and found.cases == 60
    assert (measure.count, measure.missing) == (52, 8)
    kept = np.r_[y[3:10], y[14:20], y[21:]]
    assert measure.mean == pytest.approx(kept.mean()) and measure.quantiles[-1] == kept.max()


def test_draws_at_every_point_of_a_grid_are_kept_apart():
    k = np.repeat([1.0, 2.0, 3.0], 50)
    x = np.tile(np.random.default_rng(0).standard_normal(50), 3)
    table = table_of("", [axis("k", [1, 2, 3]), drawn("l")], {"k": k, "l": x}, {"y": ("", k * x)})
    found = summary(table)
    assert [point.where for point in found.points] == [(("k", 1.0),), (("k", 2.0),), (("k", 3.0),)]
    spread = [point.measures[0].deviation for point in found.points]
    assert spread == pytest.approx([spread[0], 2 * spread[0], 3 * spread[0]])
    assert found.points[0].measures[0].shares[0].value == pytest.approx(1.0, abs=1e-12)  # a straight line


def test_without_draws_there_are_no_statistics_and_json_knows_no_nan():
    k = np.arange(4.0)
    assert summary(table_of("", [axis("k", k)], {"k": k}, {"y": ("", k)})).points == ()
    nothing = table_of("", [drawn("k")], {"k": k}, {"y": ("", np.full(4, np.nan))})
    told = json.loads(json.dumps(summary(nothing).as_dict(), allow_nan=False))
    assert told["points"][0]["measures"]["y"]["mean"] is None
    assert told["points"][0]["measures"]["y"]["missing"] == 4


def test_cases_of_a_file_have_quantiles_but_no_shares():
    """Nobody says that they were drawn independently."""
    k = np.linspace(0, 1, 50)
    vary = [{**drawn("k"), "kind": "cases"}]
    (point,) = summary(table_of("", vary, {"k": k}, {"y": ("", k)})).points
    assert point.measures[0].shares == () and point.measures[0].quantiles[3] == pytest.approx(0.5)


def test_tables_for_people(capsys):
    from mechsim.cli.statistics import show

    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, 200))
    table = table_of("", [drawn("k"), drawn("l")], {"k": x[0], "l": x[1]}, {"max(A_y)": ("m", 5 + x[0] + 0 * x[1])})
    show(summary(table))
    text = capsys.readouterr().out
    assert "max(A_y) / m" in text and "95 %" in text and "±" in text
    assert "share of the variance" in text and "1.00 ± 0.00" in text
