"""Run the kernel tests with the sanitized extension in place of the installed one."""

import importlib.util
import os
import sys

import pytest

NAME = "mechsim.kernel._kernel"
SPEC = importlib.util.spec_from_file_location(NAME, os.environ["MECHSIM_SANITIZED_KERNEL"])
assert SPEC is not None and SPEC.loader is not None
MODULE = importlib.util.module_from_spec(SPEC)
sys.modules[NAME] = MODULE
SPEC.loader.exec_module(MODULE)
sys.exit(pytest.main(["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "not slow", "-k", "kernel or engine"]))
