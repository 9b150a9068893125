"""How many examples hypothesis draws: all of them in `make test-slow`, a third in `make test`."""

import os

from hypothesis import settings

ALL = os.environ.get("MECHSIM_ALL_EXAMPLES") == "1"
FEWEST = 5


def some_of(count: int) -> settings:
    return settings(max_examples=count if ALL else max(FEWEST, count // 3), deadline=None)
