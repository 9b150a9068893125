"""Settings of all tests."""

from hypothesis import settings

# How long an example takes tells of the machine, not of mechsim.
settings.register_profile("mechsim", deadline=None)
settings.load_profile("mechsim")
