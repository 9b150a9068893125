"""Print the last row of a result file as name = value lines."""

import csv
import sys

with open(sys.argv[1], newline="") as file:
    names, *rows = csv.reader(line for line in file if not line.startswith("#"))
for name, value in zip(names, rows[-1], strict=True):
    print(f"  {name:>14s} = {value}")
