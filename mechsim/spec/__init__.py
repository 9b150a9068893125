"""YAML text to MechSpec: typed, frozen, every number with its place in the file."""

from mechsim.spec.document import MechSpec
from mechsim.spec.language import schema
from mechsim.spec.reader import parse, read

__all__ = ["MechSpec", "parse", "read", "schema"]
