# Two commands for a newcomer: `make demo` and `make test`. Both do all the set-up themselves.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: setup demo test lint bench bench-argmax docs pictures clean

setup: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(INSTALLED)

demo: setup
	$(BIN)/sequoia demo --output out/demo

test: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest --numprocesses 2

lint: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Checks that links resolve and that the examples run.
docs: setup
	$(BIN)/pytest tests/test_docs.py

# Draws the pictures of the documentation again.
pictures: setup
	$(BIN)/sequoia gallery --output out/gallery
	cp $(addprefix out/gallery/,$(notdir $(wildcard docs/images/*.png))) docs/images/

bench: setup
	set -e; for file in $(wildcard benchmarks/*.py); do $(BIN)/python $$file; done

# The competitors live in an environment of their own. OPTIONS="--sizes 20" makes it shorter.
BENCH_VENV := out/bench-venv
BENCH_INSTALLED := $(BENCH_VENV)/.installed

$(BENCH_INSTALLED): pyproject.toml constraints.txt benchmarks/constraints.txt
	test -x $(BENCH_VENV)/bin/python || $(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --constraint benchmarks/constraints.txt --editable '.[bench]'
	touch $(BENCH_INSTALLED)

bench-argmax: $(BENCH_INSTALLED)
	$(BENCH_VENV)/bin/python benchmarks/argmax/run.py $(OPTIONS)

clean:
	rm -rf $(VENV) out
