"""What the derivatives of a mechanism tell: rests and their stability, linearised motion, exponents.

Everything here works on a system, its structure and a state, so files and a user's Lagrangian are asked alike.
"""
