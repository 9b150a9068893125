"""Results: tables of a motion, their certificate, and the files they are kept in."""

from mechsim.result.account import accounts, balances
from mechsim.result.agreement import Agreement, agreement, disagreement
from mechsim.result.certificate import Certificate, Monitor
from mechsim.result.derived import Derived
from mechsim.result.files import load, save
from mechsim.result.journal import Journal, OutputError
from mechsim.result.layout import Layout, full_layout, written_layout
from mechsim.result.motion import Motion, State
from mechsim.result.recorder import Recorder, equally_spaced
from mechsim.result.trajectory import Polynomials, Trajectory

__all__ = [
    "Agreement",
    "Certificate",
    "Derived",
    "Journal",
    "Layout",
    "Monitor",
    "Motion",
    "OutputError",
    "Polynomials",
    "Recorder",
    "State",
    "Trajectory",
    "accounts",
    "agreement",
    "balances",
    "disagreement",
    "equally_spaced",
    "full_layout",
    "load",
    "save",
    "written_layout",
]
