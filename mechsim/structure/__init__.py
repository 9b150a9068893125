"""What the equations' structure tells before any number is integrated: offsets, index, freedom, redundancy."""

from mechsim.structure.diagnosis import meeting_springs, near_singular, why_stopped
from mechsim.structure.freedom import Group, describe_sharing, sharing
from mechsim.structure.offsets import Structure, analyse
from mechsim.structure.redundancy import NO_REDUNDANCY, Redundancy, redundancy
from mechsim.structure.tableau import tableau

__all__ = ["NO_REDUNDANCY", "Group", "Redundancy", "Structure", "analyse", "describe_sharing", "meeting_springs"]
__all__ += ["near_singular", "redundancy", "sharing", "tableau", "why_stopped"]
