"""The consistent start of a motion, through IPOPT: `assemble` finds one, `configurations` those a search finds."""

from mechsim.initial.assembly import assemble
from mechsim.initial.branches import configurations
from mechsim.initial.start import Row, Start

__all__ = ["Row", "Start", "assemble", "configurations"]
