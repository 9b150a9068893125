"""A mechanism that several tests of pictures draw: a slider-crank with a spring and every kind of load."""

SLIDER = """
PartData:
  Fixed: {O: [], R: [1]}
  Rigids:
    OA: {Geom: [[1]], Dyna: [[0.5], 1, 1/12]}
    AB: {Geom: [[3]], Dyna: [[1.5], 3, 27/12]}
  Springs: {OB: [20, 2, 0, 3]}
Joints: {Pistons: {B-OR: [2]}}
AppliedForces: {Gravity: , ConstForces: {B: [-30, 0]}, ConstTorques: {OA: 5}}
Drives: {DRIVE}
ProblemData: {tend: 2.7, positions: {A: [0, 1], B: [2.8]}}
"""
SPEED = SLIDER.replace("{DRIVE}", "{omega_OA: 4}")
