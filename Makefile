# For a newcomer: `make demo` and `make test`. Each installs what it needs, in .venv, once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Python compiles what is imported and keeps that, also where the surroundings say otherwise: every
# process would compile again. pip would compile all of every package, which takes longer.
export PYTHONDONTWRITEBYTECODE :=
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt

# What running needs, what testing adds, what the documentation adds.
RUN := $(VENV)/.run-installed
DEV := $(VENV)/.dev-installed
DOCS := $(VENV)/.docs-installed

.PHONY: setup demo browser test lint bench bench-argmax docs pictures screenshots clean

setup: $(DEV)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(RUN): pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable '.[learn,programme]'
	touch $@

# What not every machine can have: solvers, a database server, RDDL. Without one, its tests are skipped.
$(DEV): pyproject.toml experiments/pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable '.[learn,programme,dev,gurobi,scip,pgserver,rddl]' --editable experiments || { \
		$(INSTALL) --editable '.[learn,programme,dev]' --editable experiments && for extra in gurobi scip pgserver rddl; do \
			$(INSTALL) --editable ".[$$extra]" \
			|| echo "The extra $$extra cannot be installed here; its tests will be skipped."; \
		done; }
	touch $(RUN) $@

$(DOCS): $(RUN)
	$(INSTALL) --editable '.[docs]'
	touch $@

demo: $(RUN)
	$(BIN)/sequoia demo --output out/demo

# Chromium for the tests of the page, from Debian's packages.
browser:
	command -v chromium > /dev/null || (apt-get update && apt-get install --yes --no-install-recommends chromium)

# Two processes fill two cores; threads inside them would mostly wait for each other.
test: export OMP_NUM_THREADS := 1
test: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest --numprocesses 2 --dist worksteal

lint: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, in out/site: open out/site/index.html. Nothing is fetched; a warning is an error.
docs: $(DOCS)
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -c docs/sphinx -d out/site-doctrees . out/site
	@echo "Open out/site/index.html."

# Draws the pictures of the documentation again.
pictures: $(RUN)
	$(BIN)/sequoia gallery --output out/gallery
	cp $(addprefix out/gallery/,$(filter-out page-%,$(notdir $(wildcard docs/images/*.png)))) docs/images/

# Those of the planner's page, with the system's Chromium.
screenshots: $(DEV)
	$(BIN)/python docs/sphinx/screenshots.py docs/images

bench: $(DEV)
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
