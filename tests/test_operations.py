"""Operations of derived programs, counted: a better way to write a kind must not cost the kernel more.

`reference/operations.yaml` has the counts of what is derived today; fewer are welcome, then write it again:
`python tests/test_operations.py`.
"""

from pathlib import Path

import pytest
import yaml
from reference import SPECS

from mechsim.derive import program_for
from mechsim.kernel.system import System
from mechsim.lagrangian import kind_named
from mechsim.model import build
from mechsim.spec import read

TABLE = Path(__file__).parent / "reference" / "operations.yaml"
KINDS = "collinear length particle placement planar_body spring turned_length".split()
FILES = sorted(SPECS.rglob("*.yaml"))


def counts(program):
    """Of all outputs, and of those that the march runs at every stage."""
    return [len(program.operations), len(program.restrict(lambda key: key[0] == "row").operations)]


def of_kinds():
    return {name: counts(program_for(kind_named(name, 2))) for name in KINDS}


def of_file(path):
    """Of each kind with the parameters that are zero; of all laws together, for these have no names that last."""
    mechanism = build(read(path))
    found = {"laws": [0, 0]}
    for group in System(mechanism).groups:
        kind = group.kind
        zeros = " ".join(name for number, name in enumerate(kind.parameters) if number in group.zero_parameters)
        if kind.name in mechanism.laws:
            found["laws"] = [a + b for a, b in zip(found["laws"], counts(group.program), strict=True)]
        else:
            found[f"{kind.name} ({zeros})"] = counts(group.program)
    return found


def none_above(found, most):
    assert found.keys() == most.keys()
    return {name: (found[name], most[name]) for name in found if any(map(int.__gt__, found[name], most[name]))} == {}


def test_no_kind_has_more_operations_than_it_had():
    assert none_above(of_kinds(), yaml.safe_load(TABLE.read_text())["kinds"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_file_has_more_operations_than_it_had(path):
    assert none_above(of_file(path), yaml.safe_load(TABLE.read_text())[path.stem])


if __name__ == "__main__":
    table = {"kinds": of_kinds(), **{path.stem: of_file(path) for path in FILES}}
    TABLE.write_text(yaml.safe_dump(table, default_flow_style=None, sort_keys=False, width=110))
