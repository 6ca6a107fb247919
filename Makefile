# For a newcomer: `make demo` and `make test`. Each installs what it needs, in .venv, once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Python compiles what is imported and keeps that, also where the surroundings say otherwise: every
# process would compile again. pip would compile all of every package, which takes longer.
export PYTHONDONTWRITEBYTECODE :=
# The default index has torch with gigabytes of CUDA; PyTorch's has it for processors alone.
TORCH := https://download.pytorch.org/whl/cpu
REACHED = import urllib.request as web; web.urlopen("$(TORCH)/torch/", timeout=3)
FROM_TORCH = $(shell $(PYTHON) -c '$(REACHED)' 2> /dev/null && echo --extra-index-url $(TORCH))
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt $(FROM_TORCH)

# What running needs, what testing adds, what the documentation adds.
RUN := $(VENV)/.run-installed
DEV := $(VENV)/.dev-installed
DOCS := $(VENV)/.docs-installed

.PHONY: setup fuzz soak faults demo browser check test lint coverage wheel dist audit bench bench-argmax docs pictures screenshots clean

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

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Two processes fill two cores; threads inside them would mostly wait for each other.
test: export OMP_NUM_THREADS := 1
test: check
	$(BIN)/pytest --numprocesses 2 --dist worksteal

# Which lines of the library the tests run; below 90 % it fails. Writes docs/coverage.md.
coverage: export OMP_NUM_THREADS := 1
coverage: $(DEV)
	$(BIN)/pytest --numprocesses 2 --dist worksteal --cov --cov-report=term:skip-covered --cov-report=html --cov-report=json:out/coverage.json $(OPTIONS)
	$(BIN)/python docs/sphinx/coverage_page.py out/coverage.json docs/coverage.md
	@echo "Open out/coverage/index.html."

# The wheel, in dist/; installed without extras where nothing is, and used as a newcomer would.
wheel:
	rm -rf dist
	$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	$(PYTHON) tests/try_wheel.py dist/*.whl

# What is published: the wheel, tried, and the sources.
dist: wheel | $(BIN)/python
	$(INSTALL) hatchling
	$(BIN)/hatchling build --target sdist

# Whether a package that we pin has a known weakness. Asks the advisories of the Python community.
# It lives in an environment of its own, so that it changes none of our versions.
audit:
	$(PYTHON) -m venv out/audit-venv
	out/audit-venv/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	out/audit-venv/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip

# Answers compared with each other and with enumeration; cases that were wrong once come first.
MINUTES ?= 10
fuzz: export OMP_NUM_THREADS := 1
fuzz: $(DEV)
	$(BIN)/python benchmarks/fuzz_differential.py --minutes $(MINUTES)

# Two years of 500 people: a programme that lives day by day. DAYS and PEOPLE make it shorter.
DAYS ?= 730
PEOPLE ?= 500
soak: export OMP_NUM_THREADS := 1
soak: $(DEV)
	$(BIN)/python benchmarks/soak.py --days $(DAYS) --people $(PEOPLE)

# Kills, full disks and broken ones, at each system call that writes; needs strace.
faults: $(DEV)
	$(BIN)/python benchmarks/faults.py

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
	rm -rf $(VENV) out dist
