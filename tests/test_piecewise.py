"""Functions on steps: extremes, crossings and integrals against closed forms, and against dense samples made finer."""

import numpy as np
import pytest
from examples import some_of
from hypothesis import given
from hypothesis import strategies as st

from mechsim.measure import bernstein, piecewise, resolving
from mechsim.measure.piecewise import Pieces
from mechsim.measure.resolving import Sampled, resolve

examples = some_of(40)

# Values are sums of some 20 terms, each rounded once or twice.
ROUNDINGS = 100 * np.finfo(float).eps


def taylor_pieces(cases, steps):
    """Pieces of polynomials given by powers of the share of a step, (degree + 1, steps) for each case, and the ends of
    these steps."""
    case = np.concatenate([np.full(len(times) - 1, k) for k, times in enumerate(steps)])
    begins, ends = (np.concatenate([times[part] for times in steps]) for part in (slice(None, -1), slice(1, None)))
    polynomials = bernstein.of_taylor(np.concatenate(cases, axis=1))
    return Pieces(len(cases), case, begins, ends, polynomials, np.zeros(len(cases)))


def resolved(function, times):
    """Any function of time on steps, as pieces of one case."""
    times = np.asarray(times, float)

    def sample(step, shares):
        values = function(times[step] + shares * (times[step + 1] - times[step]))
        return Sampled(values, np.zeros(len(step)), np.zeros(len(step), dtype=bool))

    pieces, fine = resolve(sample, np.zeros(len(times) - 1, int), times[:-1], times[1:], 1)
    assert fine.all()
    return pieces


def refined(function, a, b):
    """The largest value, by dense samples and then a parabola through the best of them, again and again."""
    best = -np.inf
    grid = np.linspace(a, b, 20_001)
    for _ in range(6):
        values = function(grid)
        k = int(values.argmax())
        best = max(best, float(values[k]))
        grid = np.linspace(grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)], 101)
    return best


series = st.lists(st.floats(-1, 1), min_size=3, max_size=22)
partitions = st.lists(st.floats(0.01, 1.0), min_size=1, max_size=8).map(lambda widths: np.cumsum([0.0, *widths]))


@examples
@given(st.lists(series, min_size=1, max_size=5))
def test_extremes_of_any_polynomials(coefficients):
    degree = max(map(len, coefficients))
    table = np.array([[*each, *[0.0] * (degree - len(each))] for each in coefficients]).T
    pieces = taylor_pieces([table], [np.arange(len(coefficients) + 1.0)])
    grid = np.linspace(0, 1, 4001)
    values = np.polynomial.polynomial.polyval(grid, table)
    found, size = piecewise.largest(pieces)[0], np.abs(table).sum(axis=0).max()
    # Samples miss a peak by an eighth of the curvature times the square of their distance.
    curvature = degree**2 * size
    assert values.max() - ROUNDINGS * size <= found <= values.max() + curvature / 4000**2 + ROUNDINGS * size
    assert piecewise.largest(-pieces)[0] >= -values.min() - ROUNDINGS * size


@examples
@given(st.lists(st.tuples(st.floats(0.1, 2), st.floats(0, 6), st.floats(0.3, 9)), min_size=1, max_size=4), partitions)
def test_waves_on_any_steps(waves, times):
    def function(t):
        return sum(a * np.sin(w * t + p) for a, p, w in waves)

    size, end = sum(a for a, _, _ in waves), times[-1]
    pieces = resolved(function, times)
    assert piecewise.largest(pieces)[0] == pytest.approx(refined(function, 0, end), abs=1e-13 * size)
    integral = sum(a * (np.cos(p) - np.cos(w * end + p)) / w for a, p, w in waves)
    # Sums of pieces that are each exact to roundings of their size times their time.
    assert piecewise.integral(pieces)[0] == pytest.approx(integral, abs=1e-13 * size * max(1, end))
    time = piecewise.time_of_largest(pieces)[0]
    spread = size * 2
    assert function(time) >= piecewise.largest(pieces)[0] - 1.1 * piecewise.TIE * spread - 1e-13 * size


@examples
@given(st.floats(0.2, 20), st.floats(0.01, 6.2), partitions)
def test_crossings_of_a_wave(frequency, phase, times):
    end = float(times[-1])
    pieces = resolved(lambda t: np.sin(frequency * t - phase), times)
    case, found = piecewise.upward_crossings(pieces)
    every = (phase + 2 * np.pi * np.arange(-1, 100)) / frequency
    inside = every[(every > 0) & (every < end)]
    near_end = np.abs(every - end).min() < 1e-9 or np.abs(every).min() < 1e-9  # in or out, by a rounding
    if not near_end:
        assert (case == 0).all() and len(found) == len(inside)
        # A zero is as sure as values are: roundings over the slope.
        assert found == pytest.approx(inside, abs=1e-13 * (1 + end))


@examples
@given(series, st.floats(0.05, 0.95))
def test_an_integral_is_that_of_its_parts(coefficients, share):
    pieces = taylor_pieces([np.array(coefficients)[:, None]], [np.array([0.0, 2.0])])
    left, right = bernstein.parted(pieces.polynomials, np.float64(share))
    whole = piecewise.integral(pieces)[0]
    parts = [
        piecewise.integral(Pieces(1, np.zeros(1, int), np.array([a]), np.array([b]), part, np.zeros(1)))[0]
        for part, a, b in ((left, 0.0, 2 * share), (right, 2 * share, 2.0))
    ]
    size = np.abs(coefficients).sum()
    assert sum(parts) == pytest.approx(whole, abs=2 * ROUNDINGS * size)
    before = pieces.until(np.array([2 * share]))
    assert piecewise.integral(before)[0] == pytest.approx(parts[0], abs=2 * ROUNDINGS * size)


@some_of(15)
@given(st.lists(st.lists(series, min_size=1, max_size=4), min_size=2, max_size=6), st.floats(-0.5, 0.5))
def test_a_case_is_the_same_in_any_company(cases, level):
    tables = []
    for case in cases:
        tables.append(np.array([[*each, *[0.0] * (22 - len(each))] for each in case]).T)
    steps = [np.arange(table.shape[1] + 1.0) for table in tables]
    together = taylor_pieces(tables, steps)

    def measured(pieces):
        case, times = piecewise.upward_crossings(pieces.lowered(np.full(pieces.count, level)))
        columns = [piecewise.largest(pieces), piecewise.integral(pieces), piecewise.time_of_largest(pieces)]
        columns += [piecewise.square_integral(pieces)]
        return [(*row, *times[case == k]) for k, row in enumerate(zip(*columns, strict=True))]

    alone = [measured(taylor_pieces([table], [own]))[0] for table, own in zip(tables, steps, strict=True)]
    assert measured(together) == alone  # bit by bit


@examples
@given(st.lists(series, min_size=1, max_size=4))
def test_mirrored(coefficients):
    table = np.array([[*each, *[0.0] * (22 - len(each))] for each in coefficients]).T
    pieces = taylor_pieces([table], [np.arange(len(coefficients) + 1.0)])
    mirrored = taylor_pieces([-table], [np.arange(len(coefficients) + 1.0)])
    assert piecewise.largest(mirrored)[0] == piecewise.largest(-pieces)[0]
    assert piecewise.integral(mirrored)[0] == -piecewise.integral(pieces)[0]


@examples
@given(st.floats(-3, 3), partitions)
def test_shifted_in_time(shift, times):
    one = resolved(lambda t: np.sin(3 * t) * np.exp(-t), times)
    other = resolved(lambda t: np.sin(3 * (t - shift)) * np.exp(-(t - shift)), times + shift)
    # Times have roundings of their own, which the slopes (at most 3) pass on.
    assert piecewise.largest(other) == pytest.approx(piecewise.largest(one), abs=1e-13)
    assert piecewise.time_of_largest(other) - shift == pytest.approx(piecewise.time_of_largest(one), abs=1e-6)


@some_of(15)
@given(st.floats(0.05, 0.95), st.floats(0.1, 3.0), partitions)
def test_corners_are_followed_to_roundings(place, slope, times):
    end = float(times[-1])
    corner = place * end
    pieces = resolved(lambda t: 1.0 - slope * np.abs(t - corner), times)
    # Halving ends where the last coefficients are a few roundings of the largest value; those left out add up to more.
    assert piecewise.largest(pieces)[0] == pytest.approx(1.0, abs=1e-14 * (1 + slope * end))
    assert piecewise.time_of_largest(pieces)[0] == pytest.approx(corner, abs=1e-6 * end)
    area = end - slope * (corner**2 + (end - corner) ** 2) / 2
    assert piecewise.integral(pieces)[0] == pytest.approx(area, abs=1e-13 * (1 + end) ** 2)


def test_a_narrow_peak_within_a_long_step_is_found():
    """A polynomial that is flat but for a peak of a thousandth of its step: no row of a table need be near it."""
    place, width = 0.4172, 1e-3
    degree = 60
    table = np.array([1.0])
    for _ in range(degree // 2):  # ((s - a)(s - a) - w^2 ...) as a product: its lowest point is at `place`
        table = np.polynomial.polynomial.polymul(table, [1 + place**2 / 4, -place / 2, 0.25])
    pieces = taylor_pieces([-table[:, None]], [np.array([0.0, 1.0])])
    assert piecewise.time_of_largest(pieces)[0] == pytest.approx(place, abs=width * 1e-3)


def test_jumps_have_two_sides():
    """A sawtooth: it rises to 1 and falls to 0 at once, three times."""
    table = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    pieces = taylor_pieces([table], [np.arange(4.0)])
    assert piecewise.largest(pieces)[0] == 1.0
    assert -piecewise.largest(-pieces)[0] == 0.0
    assert piecewise.time_of_largest(pieces)[0] == 1.0
    _, times = piecewise.upward_crossings(pieces.lowered(np.array([0.5])))
    assert times == pytest.approx([0.5, 1.5, 2.5])
    square = taylor_pieces([np.array([[-1.0, 1.0, -1.0, 1.0], [0.0] * 4, [0.0] * 4])], [np.arange(5.0)])
    assert piecewise.upward_crossings(square)[1] == pytest.approx([1.0, 3.0])


def test_what_stays_at_zero_does_not_cross_it():
    rounded = resolved(lambda t: np.where(np.cos(1e3 * t) > 0, 1.0 + 2e-16, 1.0 - 2e-16), np.linspace(0, 1, 4))
    assert not len(piecewise.upward_crossings(rounded.lowered(np.ones(1)))[1])
    touching = resolved(lambda t: (t - 0.3) ** 2, [0.0, 1.0])
    assert not len(piecewise.upward_crossings(touching)[1])
    starting = resolved(np.sin, [0.0, 1.0, 2.0])  # zero at its start: it was not below
    assert not len(piecewise.upward_crossings(starting)[1])


def test_of_equal_peaks_the_first():
    pieces = resolved(np.cos, np.linspace(1.0, 60.0, 90))
    assert piecewise.time_of_largest(pieces)[0] == pytest.approx(2 * np.pi, abs=1e-7)
    flat = resolved(lambda t: 3.0 + 0.0 * t, np.linspace(1.0, 60.0, 90))
    assert piecewise.time_of_largest(flat)[0] == 1.0


def test_noise_is_not_followed():
    random = np.random.default_rng(1)
    pieces = resolved(lambda t: np.sin(t) + 1e-10 * random.standard_normal(t.shape), np.linspace(0, 10, 30))
    assert len(pieces.case) < 1000
    assert pieces.noise[0] > 1e-11
    assert piecewise.largest(pieces)[0] == pytest.approx(1.0, abs=1e-9)


def test_what_is_too_fast_is_told():
    def sample(step, shares):
        values = np.where(np.sin(1e9 * shares + 1e9 * step) > 0, 1.0, -1.0)
        return Sampled(values, np.zeros(len(step)), np.zeros(len(step), dtype=bool))

    ends = np.arange(4.0)
    _, fine = resolve(sample, np.zeros(3, int), ends[:-1], ends[1:], 1)
    assert not fine.any()


def test_in_parts_as_at_once(monkeypatch):
    """Where many cases need many pieces they are resolved in parts: bit by bit the same."""
    case, ends = np.repeat(np.arange(5), 3), np.tile(np.arange(3.0), 5)

    def sample(step, shares):
        values = np.abs(np.sin((3.0 + case[step]) * (ends[step] + shares)))
        return Sampled(values, np.zeros(len(step)), np.zeros(len(step), dtype=bool))

    whole, _ = resolve(sample, case, ends, ends + 1, 5)
    monkeypatch.setattr(resolving, "MOST_AT_ONCE", 3)
    parts, fine = resolve(sample, case, ends, ends + 1, 5)
    assert fine.all()
    for name in ("case", "begins", "ends", "polynomials", "noise"):
        assert np.array_equal(getattr(parts, name), getattr(whole, name))
