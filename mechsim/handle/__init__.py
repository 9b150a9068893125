"""A mechanism as an object that larger programs can hold (seed 001 section 7): its equations at any state, its motion
for any parameters and starts, and the same stepped from outside."""

from mechsim.handle.mechanism_handle import MechanismHandle, mechanism

__all__ = ["MechanismHandle", "mechanism"]
