"""The most memory a command has, as its own process tells it."""

import subprocess
import sys
from pathlib import Path

# Not ru_maxrss: that of a child begins with the memory of who started it, and a process that runs tests has 500 MB.
PROGRAM = """
import sys
from mechsim.cli.main import main
try:
    main(sys.argv[1:])
finally:
    with open("/proc/self/status") as status:
        print(next(line.split()[1] for line in status if line.startswith("VmHWM:")), file=sys.stderr)
"""


def peak(folder: Path, *words: str | Path) -> float:
    """In MB, of `mechsim` with these words."""
    ended = subprocess.run([sys.executable, "-c", PROGRAM, *words], cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return int(ended.stderr.split()[-1]) / 1e3
