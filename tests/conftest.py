"""Settings of all tests."""

import pytest
from examples import ALL
from hypothesis import settings

# How long an example takes tells of the machine, not of mechsim.
settings.register_profile("mechsim", deadline=None)
settings.load_profile("mechsim")

# What is tested on all files of specs/, at several tolerances: `make test` takes every third, `make test-slow` all.
MANY, EVERY = 40, 3
WHOLE = {"test_our_specs_meet_their_references", "test_no_file_has_more_operations_than_it_had"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if ALL:
        return
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.split("[")[0], []).append(item)
    left_out = set()
    for name, found in cases.items():
        if len(found) > MANY and name.split("::")[-1] not in WHOLE:
            left_out.update(id(item) for number, item in enumerate(found) if number % EVERY)
    config.hook.pytest_deselected(items=[item for item in items if id(item) in left_out])
    items[:] = [item for item in items if id(item) not in left_out]
