"""MechSpec -> Mechanism: points become coordinates, parts and forces become elements."""

from mechsim.model.builder import build
from mechsim.model.mechanism import Element, Mechanism, Part, Variable

__all__ = ["Element", "Mechanism", "Part", "Variable", "build"]
