"""What the equations' structure tells before any number is integrated: offsets, index, freedom, redundancy."""

from mechsim.structure.contacts import with_gaps
from mechsim.structure.diagnosis import SINGULAR, is_singular, meeting_springs, near_singular, why_stopped
from mechsim.structure.freedom import Choice, Freedom, Group, describe_sharing, freedom, sharing
from mechsim.structure.offsets import Structure, analyse
from mechsim.structure.redundancy import NO_REDUNDANCY, Redundancy, concerned, names_of, redundancy, redundancy_along
from mechsim.structure.tableau import tableau

__all__ = [
    "NO_REDUNDANCY",
    "SINGULAR",
    "Choice",
    "Freedom",
    "Group",
    "Redundancy",
    "Structure",
    "analyse",
    "concerned",
    "describe_sharing",
    "freedom",
    "is_singular",
]
__all__ += [
    "meeting_springs",
    "names_of",
    "near_singular",
    "redundancy",
    "redundancy_along",
    "sharing",
    "tableau",
    "why_stopped",
    "with_gaps",
]
