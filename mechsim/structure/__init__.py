"""What the equations' structure tells before any number is integrated: offsets, index, freedom, redundancy."""

from mechsim.structure.diagnosis import meeting_springs, near_singular, why_stopped
from mechsim.structure.freedom import Choice, Freedom, Group, describe_sharing, freedom, sharing
from mechsim.structure.offsets import Structure, analyse
from mechsim.structure.redundancy import redundant_constraints
from mechsim.structure.tableau import tableau

__all__ = ["Choice", "Freedom", "Group", "Structure", "analyse", "describe_sharing", "freedom", "meeting_springs"]
__all__ += ["near_singular", "redundant_constraints", "sharing", "tableau", "why_stopped"]
