"""What is written along axes: names with their units, and among these powers of ten, which so collide with nothing."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from mechsim.result.layout import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
UNIT = "unit"  # what labels are called that are one: a parameter may have such a name too
LETTER, APART = 6.6, 14.0  # pixels, about: a letter of a number below an axis, and what is left between two numbers
FEWEST = 2  # numbers below an axis
SMALL = 9  # points
MINUS = "\N{MINUS SIGN}"
DEGREES = (5, 10, 15, 30, 45, 90, 180, 360)  # between numbers of an axis
MOST_NUMBERS = 8  # of degrees beside an axis


def named(name: str, unit: str) -> str:
    """`A_x / m`, `A_x_dot / (m/s)`; the name or the unit alone where there is no other."""
    unit = re.sub(r"\^(-?\d+)", lambda power: power[1].translate(RAISED), unit)
    if not name or not unit:
        return name or unit
    return f"{name} / ({unit})" if "/" in unit else f"{name} / {unit}"


def tell_unit(axes: Axes, unit: str) -> None:
    """A unit alone beside a panel, whose title names what is drawn."""
    axes.set_ylabel(named("", unit)).set_label(UNIT)


def power_of_ten(exponent: int) -> str:
    """10⁻¹²"""
    return "10" + str(exponent).translate(RAISED)


def by_degrees(axis: Axis, *values: Array) -> None:
    """Numbers at parts of a turn, as one knows them."""
    from matplotlib.ticker import MultipleLocator

    span = max((float(np.ptp(each[np.isfinite(each)])) for each in values if np.isfinite(each).any()), default=0.0)
    step = next((step for step in DEGREES if MOST_NUMBERS * step >= span), None)
    if step is not None and span > step:
        axis.set_major_locator(MultipleLocator(step))


def tell_powers(axes: Axes) -> None:
    """Write the powers of ten of axes into their labels: matplotlib has them at the ends of axes, over titles."""
    for axis in (axes.xaxis, axes.yaxis):
        if power := _taken_off(axis):
            is_unit = axis.label.get_label() == UNIT
            axis.set_label_text(_with_power(axis.label.get_text(), power, is_unit))
    for scale in axes.child_axes:  # of colours, which has its label above
        if isinstance(scale, type(axes)) and (power := _taken_off(scale.yaxis)):
            scale.set_title(_with_power(scale.get_title(loc="left"), power), loc="left", fontsize=SMALL)


def _taken_off(axis: Axis) -> str:
    """The power of ten of an axis, which does not show it any more; empty if it has none."""
    from matplotlib.ticker import ScalarFormatter

    formatter = axis.get_major_formatter()
    if type(formatter) is not ScalarFormatter:
        return ""
    formatter.set_locs(list(axis.get_majorticklocs()))
    exponent = int(formatter.get_offset().replace(MINUS, "-").partition("e")[2] or 0)  # of "1e-5"
    if exponent:
        formatter.set_powerlimits((exponent, exponent))
    else:
        formatter.set_scientific(False)  # also with the ticks that it has in the end
    axis.get_offset_text().set_visible(False)
    return power_of_ten(exponent) if exponent else ""


def _with_power(label: str, power: str, is_unit: bool = False) -> str:
    """`A_x / (10⁻⁵ m)`; of a unit alone `10⁻⁵ m`."""
    name, stroke, unit = label.partition(" / ")
    if stroke:
        return f"{name} / ({power} {unit.removeprefix('(').removesuffix(')')})"
    if not label:
        return power
    return f"{power} {label}" if is_unit else f"{label} / {power}"


def thin_out(axes: Axes, wide: float) -> None:
    """Fewer numbers below an axis that is so many pixels wide, where long ones would run into each other."""
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    axis = axes.xaxis
    formatter, locator = axis.get_major_formatter(), axis.get_major_locator()
    if type(formatter) is not ScalarFormatter or not isinstance(locator, MaxNLocator):
        return
    low, high = sorted(axes.get_xlim())
    places = [place for place in axis.get_majorticklocs() if low <= place <= high]
    longest = max(map(len, formatter.format_ticks(places)), default=0)
    room = math.floor(wide / (LETTER * longest + APART))
    if len(places) > max(room, FEWEST):
        locator.set_params(nbins=max(room - 1, FEWEST))
