"""Reference motions, and how to compare with them."""

from pathlib import Path

import numpy as np
import yaml

SPECS = Path(__file__).parent.parent.parent / "specs"


def reference(name):
    return yaml.safe_load((Path(__file__).parent / f"{name}.yaml").read_text())


def stacked(state, names):
    """Coordinates of points and angles, one after the other."""
    return np.concatenate([np.atleast_1d(state[name]) for name in names])


def significant_digits(found, expected):
    """SCD of seed 001 section 4.6: the worst relative error of a component, in digits."""
    return -np.log10(np.max(np.abs(np.asarray(found) - expected) / np.abs(expected)))
