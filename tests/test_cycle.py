"""All poses of mechanisms of one freedom, against closed forms of four-bars, slider-cranks and known curves."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import mechsim
from mechsim.cli.main import cli

FOUR_BAR = "specs/forces/four_bar_driven.yaml"
A, B, C, D = 1.0, 3.5, 2.0, 3.0  # its lengths: crank, coupler, rocker, ground
ROUNDING = 2e-13  # the way is followed at 1e-13, in scales of about a metre
LINKAGE = """
PhysicalParams: {{a: {a}, b: {b}, c: {c}, d: {d}, u: {u}, v: {v}}}
PartData:
  Fixed: {{O: [], C: [d]}}
  Rigids: {{OA: {{Geom: [[a]]}}, ABP: {{Geom: [[b], [u, v]], Dyna: [[b/2], 1, 1]}}, CB: {{Geom: [[c]]}}}}
ProblemData: {{tend: 1, positions: {{A: {A}, B: {B}}}}}
"""


def linkage(a, b, c, d, u, v, start, second):
    return mechsim.mechanism(
        LINKAGE.format(a=a, b=b, c=c, d=d, u=u, v=v, A=[float(x) for x in start], B=[float(x) for x in second])
    )


def rocker(theta):
    """The rocker's angle of the open four-bar, and by how much it turns for the crank (Freudenstein)."""
    x, y = D - A * np.cos(theta), -A * np.sin(theta)
    far = np.hypot(x, y)
    gamma = np.arctan2(-y, -x)
    inner = np.arccos((C**2 + far**2 - B**2) / (2 * C * far))
    return gamma - inner


@pytest.fixture(scope="module")
def four_bar():
    return mechsim.mechanism(FOUR_BAR).cycle(outputs=["theta_CB"], angles=["A,B,C"], points=["AB: 1.75, 0.5"])


def test_the_crank_turns_fully_and_rows_are_equal_steps_of_it(four_bar):
    theta = four_bar.columns["theta_OA"]
    assert four_bar.turns == 1 and four_bar.closed
    assert np.allclose(theta, 1.2 + np.linspace(0, 2 * np.pi, 361), rtol=0, atol=ROUNDING)


def test_an_output_of_several_names():
    found = mechsim.mechanism(FOUR_BAR).cycle(outputs=["A.x + 2*B.y", "B.x", "B.y", "A.x"])
    sums = found.columns["A.x"] + 2 * found.columns["B.y"]
    np.testing.assert_allclose(found.columns["A.x + 2*B.y"], sums, rtol=0, atol=ROUNDING)


def test_transmission_angle_is_that_of_the_triangle(four_bar):
    theta = four_bar.columns["theta_OA"]
    squared = A**2 + D**2 - 2 * A * D * np.cos(theta)
    expected = np.arccos((B**2 + C**2 - squared) / (2 * B * C))
    assert np.abs(four_bar.columns["angle ABC"] - expected).max() < ROUNDING
    each = four_bar.angles["angle ABC"]  # it is extreme where crank and ground are in line
    assert each.smallest.value == pytest.approx(np.arccos((B**2 + C**2 - (D - A) ** 2) / (2 * B * C)), abs=ROUNDING)
    assert each.largest.value == pytest.approx(np.arccos((B**2 + C**2 - (D + A) ** 2) / (2 * B * C)), abs=ROUNDING)
    assert each.largest.input % np.pi == pytest.approx(0, abs=1e-7) or each.largest.input % np.pi > np.pi - 1e-7


def test_advantage_is_the_ratio_of_speeds_and_of_sines(four_bar):
    theta, psi = four_bar.columns["theta_OA"], four_bar.columns["theta_CB"]
    # omega_CB/omega_OA = a sin(beta - theta)/(c sin(beta - psi)), beta the direction of the coupler
    b = np.stack([D + C * np.cos(psi), C * np.sin(psi)])
    beta = np.arctan2(b[1] - A * np.sin(theta), b[0] - A * np.cos(theta))
    ratio = A * np.sin(beta - theta) / (C * np.sin(beta - psi))
    assert np.abs(four_bar.columns["d theta_CB/d theta_OA"] - ratio).max() < 10 * ROUNDING
    finite = np.abs(ratio) > 1e-2
    assert np.allclose(four_bar.columns["advantage theta_CB"][finite], 1 / ratio[finite], rtol=1e-10)


def test_dead_centres_of_the_rocker_are_where_crank_and_coupler_are_in_line(four_bar):
    found = sorted(np.mod(each.place.input, 2 * np.pi) for each in four_bar.dead_centres)
    stretched = np.arccos((D**2 + (A + B) ** 2 - C**2) / (2 * D * (A + B)))
    folded = np.pi + np.arccos((D**2 + (B - A) ** 2 - C**2) / (2 * D * (B - A)))
    assert found == pytest.approx(sorted([stretched, folded]), abs=1e-12)
    assert not any(each.is_input for each in four_bar.dead_centres)


def test_a_rocker_as_input_goes_there_and_back_past_its_dead_centres():
    found = mechsim.mechanism(FOUR_BAR).cycle("theta_CB", "theta_OA")
    assert found.closed and found.turns == 0
    own = [each for each in found.dead_centres if each.is_input]
    assert len(own) == 2 and len(found.dead_centres) == 2
    assert np.abs(found.advantage("theta_OA", own[0].place.s)).max() < 1e-10  # nothing comes out there
    assert found.columns["theta_OA"][-1] - found.columns["theta_OA"][0] == pytest.approx(2 * np.pi, abs=ROUNDING)


def test_slider_crank_force_for_torque():
    found = mechsim.mechanism("specs/forces/driven_slider_crank.yaml").cycle(outputs="B.x")
    theta, a, b = found.columns["theta_OA"], 0.3, 0.9
    slope = -a * np.sin(theta) - a**2 * np.sin(theta) * np.cos(theta) / np.sqrt(b**2 - a**2 * np.sin(theta) ** 2)
    assert np.abs(found.columns["d B.x/d theta_OA"] - slope).max() < ROUNDING
    assert found.units["advantage B.x"] == "N/(N m)"
    assert sorted(np.mod(each.place.input + 1, 2 * np.pi) - 1 for each in found.dead_centres) == pytest.approx(
        [0, np.pi], abs=1e-12
    )


def test_slider_crank_in_space():
    found = mechsim.mechanism("specs/space/slider_crank.yaml").cycle(outputs=["B.y"], points=["B"])
    theta, r, length = found.columns["theta_OPA_OPE"], 0.3, 1.1
    u = np.array([0.6 * np.sin(0.4), np.cos(0.4), 0.8 * np.sin(0.4)])
    d = np.stack([0 * theta, r * np.cos(theta), r * np.sin(theta)], axis=1) - np.array([0.3, 0, 0.2])
    s = d @ u + np.sqrt(length**2 - (d * d).sum(axis=1) + (d @ u) ** 2)
    assert found.turns == 1
    assert np.abs(found.columns["B.y"] - s * u[1]).max() < 1e-12
    assert np.abs(found.columns["B_z"] - 0.2 - s * u[2]).max() < 1e-12


def test_coupler_curve_is_the_analytic_one(four_bar):
    theta, psi = four_bar.columns["theta_OA"], four_bar.columns["theta_CB"]
    a = A * np.exp(1j * theta)
    along = (D + C * np.exp(1j * psi) - a) / B
    p = a + (1.75 + 0.5j) * along
    assert np.abs(four_bar.columns["AB: 1.75, 0.5_x"] - p.real).max() < ROUNDING
    assert np.abs(four_bar.columns["AB: 1.75, 0.5_y"] - p.imag).max() < ROUNDING
    assert not four_bar.curves["AB: 1.75, 0.5"].cusps


def test_a_point_on_the_moving_centrode_has_a_cusp():
    """A coupler point at the instant centre of the coupler stands still there: the centre is where the lines of crank
    and rocker meet, and as a point of the coupler it has a cusp at that pose."""
    theta = 0.9
    psi = rocker(theta)
    a, b = A * np.exp(1j * theta), D + C * np.exp(1j * psi)
    # O + r e^{i theta} = C + s e^{i psi}
    matrix = np.array([[np.cos(theta), -np.cos(psi)], [np.sin(theta), -np.sin(psi)]])
    centre = np.linalg.solve(matrix, [D, 0.0])[0] * np.exp(1j * theta)
    place = (centre - a) / ((b - a) / B)
    found = linkage(A, B, C, D, place.real, place.imag, [a.real, a.imag], [b.real, b.imag]).cycle(
        "theta_OA", points="P"
    )
    (cusp,) = found.curves["P"].cusps
    assert cusp.at == pytest.approx((centre.real, centre.imag), abs=1e-9)
    assert np.mod(found.at("theta_OA", cusp.places[0])[0], 2 * np.pi) == pytest.approx(theta, abs=1e-9)


def test_watts_curve_crosses_itself_in_the_middle():
    """Equal cranks and a point at the coupler's middle: a curve of figure eight, through the middle of the ground."""
    found = linkage(1.0, 1.2, 1.0, 2.0, 0.6, 0.0, [0.2, 0.98], [1.3, 0.7]).cycle("theta_OA", points=["P"])
    doubles = [each.at for each in found.curves["P"].doubles]
    assert any(np.hypot(x - 1.0, y) < 1e-9 for x, y in doubles)
    for mark in found.curves["P"].doubles:  # both places are there
        assert np.ptp(found.at("P.x", np.array(mark.places))) < 1e-9
        assert np.ptp(found.at("P.y", np.array(mark.places))) < 1e-9


def test_chebyshevs_straight_line():
    """Ground 4, cranks 5, coupler 2: its middle goes along y = 4 from x = 0 to 4, exactly at both ends, where the
    coupler is upright, and in the middle; between it leaves the line by 0.24 % of its length (by the closed form)."""
    found = linkage(5.0, 2.0, 5.0, 4.0, 1.0, 0.0, [3.0, 4.0], [1.0, 4.0]).cycle("theta_OA", points=["P"], rows=2000)
    x, y = found.columns["P_x"], found.columns["P_y"]
    low = (y < 4.3) & (x >= 0) & (x <= 4)
    theta = found.columns["theta_OA"][low]
    a = 5 * np.exp(1j * theta)
    far, gamma = np.abs(4 - a), np.angle(a - 4)
    p = 0.5 * (a + 4 + 5 * np.exp(1j * (gamma + np.arccos((25 + far**2 - 4) / (10 * far)))))
    other = 0.5 * (a + 4 + 5 * np.exp(1j * (gamma - np.arccos((25 + far**2 - 4) / (10 * far)))))
    here = x[low] + 1j * y[low]
    assert np.minimum(np.abs(p - here), np.abs(other - here)).max() < 1e-7  # the arc cosine is steep where it folds
    assert found.curves["P"].low[1] == pytest.approx(4, abs=1e-12)
    assert y[low].max() - 4 == pytest.approx(0.009754, abs=2e-6)


def test_parameters_and_no_drive():
    handle = mechsim.mechanism("specs/four_bar.yaml")
    assert handle.cycle("theta_OA", parameters={"c": 2.2}).turns == 1
    with pytest.raises(mechsim.SpecError, match="no drive says what the input is"):
        handle.cycle()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"input": "theta_XX"}, "theta_XX uses XX, which is no rigid part"),
        ({"points": "Q"}, "there is no point Q"),
        ({"points": "AZ: 1"}, "there is no rigid part AZ"),
        ({"points": "AB: 1, 2, 3"}, "needs up to 2 numbers"),
        ({"outputs": "omega_OA"}, "omega_OA is not decided by the pose"),
        ({"outputs": "drive_theta_OA"}, "drive_theta_OA"),
        ({"angles": "A,B"}, "needs three points"),
        ({"angles": "A,B,Z"}, "there is no point Z"),
        ({"input": "C.x"}, "C.x stands still"),
    ],
)
def test_what_is_refused(asked, words):
    with pytest.raises(mechsim.SpecError, match=words.replace(".", r"\.")):
        mechsim.mechanism(FOUR_BAR).cycle(**asked)


def test_more_than_one_freedom_is_told_with_what_can_move():
    with pytest.raises(mechsim.SpecError, match=r"one freedom is needed, but there are 2: .* can move"):
        mechsim.mechanism("specs/double_pendulum.yaml").cycle("theta_OA")


def test_the_command(tmp_path):
    words = ["cycle", FOUR_BAR, "--output", "theta_CB", "--angle", "ABC", "--point", "B"]
    told = CliRunner().invoke(cli, [*words, "-o", str(tmp_path / "c.csv"), "--plot", str(tmp_path / "c.png")])
    assert told.exit_code == 0, told.output
    assert "turns fully" in told.output and "dead centre of" in told.output and "28.95502°" in told.output
    assert (tmp_path / "c.csv").read_text().count("\n") == 364  # a signature, units, titles, 361 rows
    assert (tmp_path / "c.png").stat().st_size > 10_000
    found = json.loads(CliRunner().invoke(cli, [*words, "--json"]).output)
    assert found["turns"] == 1 and len(found["dead_centres"]) == 2


def test_a_lagrangian_of_ones_own():
    from jax import numpy as jnp

    crank = mechsim.lagrangian_system(
        lambda q, v, t: v[0] ** 2 / 2 + v[2] ** 2 - q[2] * jnp.cos(t),  # what has mass or force does not matter
        ["theta", "beta", "x"],
        constraints=lambda q, t: [
            0.3 * jnp.cos(q[0]) + 0.9 * jnp.cos(q[1]) - q[2],
            0.3 * jnp.sin(q[0]) + 0.9 * jnp.sin(q[1]),
        ],
    )
    found = crank.cycle({"theta": 0.4, "beta": -0.1, "x": 1.1}, "theta", "x", turning=["theta", "beta"])
    theta, a, b = found.columns["theta"], 0.3, 0.9
    slope = -a * np.sin(theta) - a**2 * np.sin(theta) * np.cos(theta) / np.sqrt(b**2 - a**2 * np.sin(theta) ** 2)
    assert found.turns == 1
    assert np.abs(found.columns["d x/d theta"] - slope).max() < ROUNDING


def test_points_that_do_not_move():
    """The fixed one, and the end of a part that is joined to it: told at once."""
    found = mechsim.mechanism(FOUR_BAR).cycle(points=["O", "OA: 0", "B"])
    assert [curve.stands for curve in found.curves.values()] == [True, True, False]
    assert found.curves["O"].low == (0, 0) and not found.curves["O"].doubles
    told = CliRunner().invoke(cli, ["cycle", FOUR_BAR, "--point", "O"])
    assert told.exit_code == 0 and "it does not move, it is at (0, 0) m" in told.output


@pytest.mark.parametrize("asked", ["A,A,B", "A,B,A", "A,B,B"])
def test_an_angle_needs_three_points(asked):
    with pytest.raises(mechsim.SpecError, match="needs three points that differ"):
        mechsim.mechanism(FOUR_BAR).cycle(angles=[asked])


def test_lines_that_come_in_line_do_so_whatever_else_is_asked():
    parallel = linkage(0.5, 1.0, 0.5, 1.0, 0.5, 0.2, (0, 0.5), (1, 0.5))
    for points in ([], ["P"]):
        angle = parallel.cycle("theta_OA", angles=["A,B,C"], points=points).angles["angle ABC"]
        assert (angle.smallest.value, angle.largest.value) == (0, np.pi)


def test_paths_in_space_are_drawn_in_planes_that_show_them():
    from mechsim.render.cycle import _planes

    found = mechsim.mechanism("specs/space/slider_crank.yaml").cycle(points=["A", "B"])
    assert _planes(found.curves["A"]) == [(1, 2)]  # a circle across x
    assert len(_planes(found.curves["B"])) == 2


def test_peaks_of_the_command_are_those_of_the_closed_form():
    """A rod that turns steadily: its end has the acceleration l w^2, the jerk l w^3."""
    text = "specs/forces/driven_slider_crank.yaml"
    told = CliRunner().invoke(cli, ["peaks", text, "A.ax", "A.jy", "B.x", "--json", "--tend", "0.6"])
    assert told.exit_code == 0, told.output
    found = json.loads(told.output)["quantities"]
    assert found["A.ax"]["largest"]["value"] == pytest.approx(0.3 * 12**2, rel=1e-10)
    assert found["A.jy"]["smallest"]["value"] == pytest.approx(-0.3 * 12**3, rel=1e-9)
    assert found["B.x"]["smallest"] == {
        "t": pytest.approx(np.pi / 12, abs=1e-7),
        "value": pytest.approx(0.6, abs=1e-10),
    }
    shown = CliRunner().invoke(cli, ["peaks", text, "A.ax", "--all", "--tend", "0.6"])
    assert shown.exit_code == 0 and "maximum" in shown.output
    assert CliRunner().invoke(cli, ["peaks", text, "A.kx"]).exit_code != 0
