"""`python -m bench.stiffness`: how many steps a stiff spring and a strong damper take, into docs/stiffness.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib

import mechsim

matplotlib.use("Agg")
from matplotlib import pyplot as plt

PICTURE = Path(__file__).parent.parent / "docs" / "stiffness.png"
PENDULUM = """
PhysicalParams: {k: 100, c: 0}
PartData:
  Fixed: {O: []}
  Springs: {OA: {k: k, l: 1, c: c}}
  Particles: {A: 1}
AppliedForces: {Gravity: [0, -9.81]}
ProblemData: {tend: 10, positions: {A: [[1, fixed], [0, fixed]]}}
"""
TOLERANCES = (1e-6, 1e-12)
STIFFNESSES = tuple(10.0**n for n in range(2, 9))
DAMPINGS = tuple(10.0**n for n in range(6))


def steps(tolerance: float, **parameters: float) -> int:
    return mechsim.simulate(PENDULUM, parameters=parameters, tol=tolerance, keep="table").certificate.steps


def main() -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
    for tolerance in TOLERANCES:
        label = f"tolerance {tolerance:g}"
        vibrations = [k**0.5 for k in STIFFNESSES]
        left.loglog(vibrations, [steps(tolerance, k=k) for k in STIFFNESSES], "o-", label=label)
        right.loglog(DAMPINGS, [steps(tolerance, k=1000.0, c=c) for c in DAMPINGS], "o-", label=label)
    left.set(xlabel="fastest vibration, rad/s", ylabel="steps for 10 s", title="a stiff spring")
    right.set(xlabel="fastest decay, 1/s", title="a strong damper")
    for axes in (left, right):
        axes.grid(True, which="major", alpha=0.3)
        axes.legend()
    figure.savefig(PICTURE, dpi=120)
    print(f"written: {PICTURE.name}")


if __name__ == "__main__":
    main()
