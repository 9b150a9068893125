"""Run the tests that reach the kernel, with the sanitized extension in place of the installed one."""

import importlib
import importlib.util
import os
import sys

import pytest

NAME = "mechsim.kernel._kernel"
# What reaches each file of the kernel: operations and refusals, marches, stops and continuations, formulas looked at,
# tangents, lanes, contacts. Two halves, which take about the same time.
TESTS = {
    "one": (
        "kernel",
        "kernel_guards",
        "kernel_starts",
        "engine",
        "continued",
        "programs_of_plans",
        "contacts",
        "bonds",
    ),
    "other": ("pulses", "living", "change_points", "tangents", "event_tangents", "lanes", "outlines", "friction"),
}
SPEC = importlib.util.spec_from_file_location(NAME, os.environ["MECHSIM_SANITIZED_KERNEL"])
assert SPEC is not None and SPEC.loader is not None
MODULE = importlib.util.module_from_spec(SPEC)
sys.modules[NAME] = MODULE
SPEC.loader.exec_module(MODULE)
compiled = importlib.import_module("mechsim.kernel.compiled")
assert compiled._kernel is MODULE, "the tests would run on the installed kernel"
# All examples from end to end: minutes under sanitizers, of what the tests of each element run already.
LONG = {"test_examples_are_not_warned_about", "test_every_file_keeps_its_formulas"}
EVERY = 3  # of the parameters of one test: they take the same ways through the kernel


class Fewer:
    """Leaves out what is long, and of each test most of its parameters."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        seen: dict[str, int] = {}
        kept = []
        for item in items:
            name = item.nodeid.split("[")[0]
            number = seen[name] = seen.get(name, -1) + 1
            if number % EVERY == 0 and name.split("::")[-1] not in LONG:
                kept.append(item)
        items[:] = kept


files = [f"tests/test_{name}.py" for name in TESTS[sys.argv[1]]]
options = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "not slow", "--durations=8"]
sys.exit(pytest.main([*options, *files], plugins=[Fewer()]))
