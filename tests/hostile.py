"""Makers of hostile input: mechanisms with extreme numbers, damaged results; what they make follows from a seed."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "language.md").read_text()
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
SPECS = [path.read_text() for path in sorted((ROOT / "specs").rglob("*.yaml"))]

# Numbers of a file: not within a name (P12), an exponent or a longer number.
NUMBER = re.compile(r"(?<![\w.])\d+\.?\d*(?:[eE][+-]?\d+)?(?![\w.])")
# Within bounds and beyond them: of what doubles hold, and of what squares of them hold.
LARGE = ["1e12", "1e16", "1e20", "1e30", "1e45", "1e60", "9e74", "-1e20", "-9e74", "123456789012345678901234567890"]
SMALL = ["1e-12", "1e-16", "1e-30", "1e-60", "2e-99", "-2e-99", "0", "-0", "-1"]
BEYOND = [
    "1e76",
    "1e100",
    "-1e100",
    "1e150",
    "1e200",
    "-1e200",
    "1.7e308",
    "1e400",
    "1e99999",
    "1e-101",
    "1e-200",
    "5e-324",
]
NONE = ["(1e200*1e200)", "(1/0)", "(0**-1)", "nan", "inf", "(10**308)", "log(0)", "(-1)**0.5", "0.1e-400"]


def extreme(seed: int) -> str:
    """A mechanism with one to three of its numbers replaced by extreme ones."""
    chance = random.Random(seed)
    text = chance.choice(EXAMPLES + SPECS)
    for _ in range(chance.randint(1, 3)):
        places = list(NUMBER.finditer(text))
        found = chance.choice(places)
        kind = chance.choice([LARGE, LARGE, SMALL, SMALL, BEYOND, NONE])
        text = text[: found.start()] + chance.choice(kind) + text[found.end() :]
    return text


ODD_VALUES: list[Any] = [
    None, True, 0, -1, 1e308, "", "x", "1e999", [], {}, [1], {"a": 1}, [[]], "\u0000", "x" * 5000, float("nan"), -1e308,
    2**70,
]  # fmt: skip


def odd_json(value: Any, chance: random.Random) -> Any:
    """JSON with something in it replaced, left out or repeated."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        if chance.random() < 0.15:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: odd_json(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.7:
        place = chance.randrange(len(value))
        if chance.random() < 0.3:
            return value[:place] + value[place + 1 :]
        return [*value[:place], odd_json(value[place], chance), *value[place + 1 :]]
    return chance.choice(ODD_VALUES)


def odd_csv(text: str, seed: int) -> str:
    """Results with a fact of their header, a cell, a column name or a line damaged."""
    chance = random.Random(seed)
    lines = text.split("\n")
    for _ in range(chance.randint(1, 2)):
        number = chance.choice(_interesting(lines, chance))
        lines[number] = _odd_line(lines[number], chance)
    return "\n".join(lines)


def _interesting(lines: list[str], chance: random.Random) -> list[int]:
    facts = [number for number, line in enumerate(lines) if line.startswith("# ")]
    return facts if chance.random() < 0.7 else list(range(len(lines)))


def _odd_line(line: str, chance: random.Random) -> str:
    key, colon, value = line.partition(": ")
    if line.startswith("# ") and colon and chance.random() < 0.9:
        return f"{key}: {json.dumps(odd_json(json.loads(value), chance))}"
    cells = line.split(",")
    place = chance.randrange(len(cells))
    odd = ["", "nan", "inf", "-inf", "1e999", "x", "\x1b[31m", "\u202e", "1e308", "-1e308", "t", "A_x", "#", '"', " "]
    cells[place] = chance.choice(odd)
    return ",".join(cells) if chance.random() < 0.8 else ",".join(cells[:place])


def odd_arrays(arrays: dict[str, np.ndarray], seed: int) -> dict[str, np.ndarray]:
    """The arrays of an NPZ with one of them damaged or left out."""
    chance = random.Random(seed)
    key = chance.choice(list(arrays))
    if key == "facts" and chance.random() < 0.9:
        return {**arrays, key: np.array(json.dumps(odd_json(json.loads(str(arrays[key])), chance)))}
    if chance.random() < 0.15:
        return {name: array for name, array in arrays.items() if name != key}
    return {**arrays, key: _odd_array(np.atleast_1d(arrays[key]), chance)}


def _odd_array(array: np.ndarray, chance: random.Random) -> np.ndarray:
    spoiled = array.copy()
    if array.dtype.kind == "f" and array.size:
        spoiled.flat[chance.randrange(array.size)] = chance.choice([np.nan, np.inf, 1e308, -1e308])
    whole = array.astype(np.int64) if array.dtype.kind == "f" else array
    choices = [array[..., :0], array.reshape(-1), array.astype(str), array[:-1], spoiled, np.zeros((3, 3, 3, 3)), whole]
    return chance.choice([*choices, array[::-1], np.array(None, dtype=object)])
