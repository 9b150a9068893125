"""What src/module.cpp offers to Python. Arrays are C-contiguous, of doubles or 32-bit integers."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mechsim.kernel.march import March as Marching

Doubles = NDArray[np.float64]
Integers = NDArray[np.integer]

def transversal(size: int, rows: Integers, columns: Integers, values: Integers) -> list[int]: ...
def strong_components(size: int, rows: Integers, columns: Integers) -> list[int]: ...

class Constants:
    """See src/constants.hpp."""

    def __init__(self, steps: Integers, values: Doubles, parameters: int) -> None: ...
    def values(self, parameters: Doubles) -> Doubles: ...
    def changes(self, values: Doubles, directions: Doubles) -> Doubles: ...

class Starts:
    """See src/starts.hpp; `kernel/starts.py` writes what it is made from."""

    def __init__(
        self,
        numbers: Constants,
        coordinates: int,
        constraints: int,
        here: Doubles,
        kept: Integers,
        placed: Integers,
        lines: list[NDArray[np.int32]],
        stores: list[NDArray[np.int32]],
        time: int,
        nodes: list[NDArray[np.int32]],
        places: list[NDArray[np.int32]],
        rows: Integers,
        known: Doubles,
        cost: Doubles,
        rate_cost: Doubles,
        rules: Doubles,
    ) -> None: ...
    def find(self, values: Doubles, parameters: Doubles) -> tuple[Doubles, Doubles, Doubles, Doubles]: ...
    def check(self, values: Doubles, t: Doubles, q: Doubles, v: Doubles) -> tuple[Doubles, Doubles, Doubles]: ...
    def state_rates(self, values: Doubles, t: float, q: Doubles, v: Doubles) -> Doubles: ...

class NewMarch(Marching, Protocol):
    """One that is being made: its blocks are added, then it is ready."""

    def add_block(
        self,
        lanes: int,
        constants: Doubles,
        inputs: Integers,
        unknowns: Integers,
        operations: Integers,
        outputs: Integers,
        terms: Integers,
        rows: Integers,
        no_row: int,
        matrix: bool,
        watched: bool,
    ) -> None: ...
    def add_gaps(
        self, rows: Integers, modes: Integers, restitutions: Doubles, laws: Integers, sizes: Doubles, accounts: Integers
    ) -> None: ...
    def add_frictions(self, places: Integers, numbers: Doubles) -> None: ...
    def make_bonds(self, gaps: Integers) -> None: ...
    def add_pair(
        self, frames: list[Integers], tables: list[Doubles], ways: Integers, values: Doubles, lent: Integers
    ) -> None: ...
    def add_watchers(self, watched: Integers) -> None: ...
    def ready(self) -> None: ...

def March(
    size: int,
    equation_offsets: Integers,
    variable_offsets: Integers,
    scales: Doubles,
    constants: Doubles,
    matrix_rows: Integers,
    matrix_columns: Integers,
    matrix_constant: Doubles,
    spare: Integers,
    redundant: int,
    order: int,
    careful_order: int,
    tolerance: float,
    safety: float,
    fixed_step: float,
    settled: float,
    rejection: float,
) -> NewMarch: ...

class Fleet:
    """See src/fleet.hpp."""

    def __init__(self, march: Marching, t: float, reference: Doubles, width: int) -> None: ...
    def begin(
        self,
        tables: Doubles,
        constants: Doubles,
        scales: Doubles,
        matrix: Doubles,
        times: Doubles,
        states: Doubles,
        ends: Doubles,
        keep: int,
    ) -> None: ...
    def run(self, seconds: float) -> bool: ...
    def counts(self) -> tuple[Doubles, Doubles]: ...
    def last(self) -> tuple[Doubles, Doubles, Doubles]: ...
    def record(self, motion: int) -> tuple[Doubles, Doubles, Doubles, Doubles]: ...
    @property
    def usable(self) -> bool: ...
    @property
    def width(self) -> int: ...
