# `make demo` and `make test` need nothing by hand: they set up .venv first.

PYTHON ?= $(shell sh .ci/preflight --python)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.mechsim-installed
TOOLS := $(VENV)/.mechsim-tools
SOLID := $(VENV)/.mechsim-solid-installed
KERNEL_SOURCES := CMakeLists.txt $(wildcard mechsim/kernel/src/*)
# CMake's compiler choice is ours too, so that the check and the build speak of the same one.
export CXX ?= c++

.PHONY: help setup tools kernel demo animations test test-slow test-browser test-solid check bench sanitize clean

help:
	@echo "make demo       set up, run the Andrews squeezing mechanism, show the result"
	@echo "make test       set up, run the tests (test-slow: the long ones too)"
	@echo "make test-browser   the interactive page in a real Chromium, screenshots in build/screenshots"
	@echo "make test-solid install the extra for solid pictures (600 MB), run their tests"
	@echo "make setup      only the environment, in $(VENV)"
	@echo "make kernel     rebuild the compiled kernel after a change of its sources"
	@echo "make check      format, lint, types, layers"
	@echo "make animations films of all examples, into animations/"
	@echo "make bench      time against digits, ours and peers, into docs/benchmarks.md"
	@echo "make sanitize   kernel tests under address and undefined-behaviour sanitizers"
	@echo "make clean      remove what the above made"

setup: $(STAMP)

tools: $(TOOLS)

$(BIN)/python:
	@sh .ci/preflight
	$(PYTHON) -m venv $(VENV)

# The build tools live in the environment (no build isolation): then a rebuild compiles only what changed.
$(TOOLS): pyproject.toml | $(BIN)/python
	@sh .ci/preflight $(BIN)/python
	$(BIN)/python -m pip install -q $$($(BIN)/python .ci/build_requirements.py)
	@touch $@

$(STAMP): pyproject.toml $(KERNEL_SOURCES) | $(TOOLS)
	@sh .ci/preflight $(BIN)/python
	$(BIN)/python -m pip install -q --no-build-isolation $(if $(filter pyproject.toml,$?),-e '.[dev]',--no-deps -e .)
	@$(BIN)/python -m compileall -q mechsim  # as pip does for all that is not installed in place
	@touch $@

kernel: setup

demo: setup
	$(BIN)/mechsim run specs/andrews.yaml -o out.csv

test: setup
	$(BIN)/python -m pytest -q -n 2 -m "not slow"

test-slow: setup
	MECHSIM_ALL_EXAMPLES=1 $(BIN)/python -m pytest -q -n 2

test-browser: setup
	@sh .ci/browser $(BIN)/python
	$(BIN)/python -m pytest -q tests/browser

# VTK is large, so only who draws solid pictures installs it.
$(SOLID): pyproject.toml | $(STAMP)
	$(BIN)/python -m pip install -q --no-build-isolation -e '.[solid]'
	@touch $@

test-solid: setup $(SOLID)
	$(BIN)/python -m pytest -q tests/test_solid.py

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

animations: setup
	$(BIN)/python animations/make.py

bench: setup
	$(BIN)/python -m bench
	$(BIN)/python -m bench.render
	$(BIN)/python -m bench.stiffness

sanitize: setup
	sh .ci/sanitize $(BIN)/python

clean:
	rm -rf $(VENV) .venv-bench build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find mechsim tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
