"""What the equations' structure tells before any number is integrated: offsets, index, freedom, redundancy."""

from mechsim.structure.diagnosis import meeting_springs, why_stopped
from mechsim.structure.freedom import Group, describe_sharing, sharing
from mechsim.structure.offsets import Structure, analyse
from mechsim.structure.redundancy import redundant_constraints
from mechsim.structure.tableau import tableau

__all__ = ["Group", "Structure", "analyse", "describe_sharing", "meeting_springs", "redundant_constraints", "sharing"]
__all__ += ["tableau", "why_stopped"]
