"""Order, tolerance and step-size policy; the kernel obeys these numbers."""

from __future__ import annotations

import math

import numpy as np

from mechsim.derive.program import LINEAR
from mechsim.kernel.components import WIDTH
from mechsim.kernel.plan import Block, Plan
from mechsim.kernel.schedule import ALWAYS

SMALLEST_ORDER = 3
LARGEST_ORDER = 60
# The last terms of a step stay below this part of the tolerance, so that errors of many steps add up below it too.
# Measured at the end of thirteen files of specs/, of their scales: the median is within 0.6 of k correct digits for a
# tolerance of 1e-k, from 1e-4 to 1e-12; motions that multiply errors themselves, as chaotic ones, have fewer.
SHARE = 0.01
SHARE_OF_AVERAGES = 1.0  # errors of steps are forgotten in chaos, and averages are known to some digits only
# A step whose projection moves the mechanism further than this many tolerances (of its size) is redone.
REJECTION = 100.0
# What Newton's method may leave of the projection and of the leading derivatives at a step's end, in tolerances.
SETTLED = 1e-3

# Rows of a table are so far apart, in steps of the careful order: cubics, by which films and other programs join them,
# then miss some 1e-5 of the motion's extent (see render/frames.py). Measured over ten files of specs/ at four
# tolerances: 3e-5 at most, but for Andrews at 1e-4, where it is 1e-4.
APART = 0.7
MOST_ROWS = 12  # of a step
MORE_DEGREES = 2  # than its order has the series of a coordinate

# What a stage of the kernel costs, in multiply-adds of a vector (fitted to counted instructions and times of specs/;
# steps of Andrews and of the heavy top cost as this says to 7 %, from order 13 to 31).
OF_STAGE, OF_UNKNOWN, OF_ENTRY = 60.0, 5.0, 2.5
OF_PRODUCT, OF_SUM, OF_TERM, OF_INPUT = 30.0, 8.0, 5.0, 12.0
# A step's end (its factorization, projection, leading derivatives) costs as much as so many stages.
STAGES_OF_END = 8.0
# A formula is also looked at along the step, in pieces (kernel/src/inspect.cpp): its products cost this much more.
OF_LOOKING = 15.0
# Terms of a motion that turns by the angle x in a step grow to e^x before they fall; the roundings of their sum may
# reach this part of the tolerance. Only tolerances near rounding feel it (at 1e-14 order 29 lost a digit of energy).
ROUNDED = 0.05
EPSILON = 2.2e-16
LEAST_TURN = 0.95  # as little as makes 1e-14 keep the careful order, so that its rows are ends of steps
# Among orders that cost about the same the lowest is best: its series have the fewest roundings.
NEARLY = 1.02
# Orders this much beyond the careful one are never chosen. Of Andrews and the heavy top the cheapest are not beyond;
# change points were tried up to here.
BEYOND_CAREFUL = 13
BEYOND_WITH_TANGENTS = 7
BEYOND_WHERE_REDUNDANT = 4  # what constraints depend on each other changes along the motion
LEAST_NEAR_POSES = 12  # that of 1e-10


def order_for(tolerance: float, plan: Plan) -> int:
    """The order at which a march to this tolerance is cheapest, by the operations of its plan alone.

    A step of order p reaches tolerance^(1/p) of the radius of convergence (Jorba and Zou 2005), and costs what its end
    costs, p stages, and p^2 / 2 multiply-adds for each product of two series.
    """
    careful = careful_order(tolerance)
    stage, product = _costs(plan)
    digits = -math.log(tolerance) - math.log(SHARE)
    turn = max(LEAST_TURN, math.log(ROUNDED / EPSILON) + math.log(tolerance))

    def cost(order: int) -> float:
        steps = math.exp(digits / (order + 1))
        return steps * (stage * (STAGES_OF_END + order) + product * order**2 / 2)

    def sums_well(order: int) -> bool:
        return (math.lgamma(order + 1) - digits) / order <= math.log(turn)

    most = min(LARGEST_ORDER, careful + (BEYOND_WHERE_REDUNDANT if plan.redundant else BEYOND_CAREFUL))
    orders = [order for order in range(SMALLEST_ORDER, most + 1) if sums_well(order)]
    cheapest = min(cost(order) for order in orders)
    return next(order for order in orders if cost(order) <= NEARLY * cheapest)


def order_with_tangents(tolerance: float) -> int:
    """The order of a march that carries several tangents. Their ends of steps cost more beside their stages than those
    of the motion alone; at 1e-9, with 2 and with 4 directions, orders 18 to 22 were the quickest, and 18 where formulas
    are looked at along the steps: longer ones need a second look."""
    return min(LARGEST_ORDER, careful_order(tolerance) + BEYOND_WITH_TANGENTS)


def order_near_poses(order: int, tolerance: float) -> int:
    """The order near singular poses, where roundings grow with its power; loose tolerances allow some."""
    return min(order, max(careful_order(tolerance), LEAST_NEAR_POSES))


def careful_order(tolerance: float) -> int:
    """The least of those in use (Jorba and Zou): cheapest if the cost of a step grew with the square of its order."""
    return min(LARGEST_ORDER, max(SMALLEST_ORDER, math.ceil(-math.log(tolerance) / 2)))


def safety_for(order: int, share: float = SHARE) -> float:
    """The part of the longest step at which its last terms are this share of the tolerance."""
    return math.pow(share, 1.0 / order)


def rows_of_steps(polynomials: np.ndarray, lengths: np.ndarray, scales: np.ndarray, tolerance: float) -> np.ndarray:
    """Into how many rows of a table steps are divided, by their `polynomials[step, degree, coordinate]`: steps of the
    careful order would be about as long as rows are apart."""
    careful = careful_order(tolerance)
    rows = np.ones(len(lengths), dtype=int)
    if polynomials.shape[1] <= careful + MORE_DEGREES:
        return rows  # that is their order
    apart = np.full(len(lengths), np.inf)
    for degree in (careful, careful + 1):
        term = np.max(np.abs(polynomials[:, degree, : len(scales)]) / scales, axis=1, initial=0.0)
        with np.errstate(divide="ignore"):
            apart = np.minimum(apart, (tolerance / term) ** (1.0 / degree))
    with np.errstate(invalid="ignore"):
        needed = np.ceil(np.abs(lengths) / (APART * apart))
    return np.clip(np.nan_to_num(needed, nan=1.0), 1, MOST_ROWS).astype(int)


def _costs(plan: Plan) -> tuple[float, float]:
    """What a stage costs, and the products of series in it for every degree before."""
    stage = OF_STAGE + OF_UNKNOWN * plan.size + OF_ENTRY * len(plan.matrix_rows)
    product = 0.0
    for block in plan.blocks:
        terms = _moving_terms(block)
        if terms == 0:
            continue  # it has nothing to say after stage 0
        vectors = -(-block.lanes // WIDTH)
        inputs = len(block.program.inputs)
        names = [operation.name for operation in block.program.operations]
        products = sum(name not in LINEAR for name in names)
        read = int(block.schedule.corrected[:inputs].sum())
        per_vector = OF_PRODUCT * products + OF_SUM * (len(names) - products) + OF_INPUT * read
        stage += vectors * per_vector + OF_TERM * terms * block.lanes
        halves = sum(0.5 if name in ("square", "root") else 1.0 for name in names if name not in LINEAR)
        product += vectors * halves * (OF_LOOKING if block.watched else 1.0)
    return stage, product


def _moving_terms(block: Block) -> int:
    """Terms of its rows that are not zero before the solve of every stage."""
    schedule, inputs = block.schedule, block.program.inputs
    constant = [source.kind != "time" and schedule.available[i] == ALWAYS for i, source in enumerate(inputs)]
    return sum(
        not (schedule.silent[register] and schedule.lead[register] == lead)
        and not (register < len(inputs) and constant[register])
        for output, lead in zip(block.program.outputs, block.row_leads, strict=True)
        for _, register in output.terms
    )
