"""Print the pinned build requirements of pyproject.toml, so that they are written in one place only."""

import tomllib

with open("pyproject.toml", "rb") as file:
    print(*tomllib.load(file)["build-system"]["requires"])
