# Nine commands; each makes .venv first if it is missing, broken or out of date.
# Needed beforehand: Python 3.11 or newer, with pip and venv. Another Python: make test PYTHON=python3.12

PYTHON ?= python3
SIZES ?= 50000 500000
TRIALS ?= 10000
SEED ?= $(shell date +%Y%m%d)

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install -qq
# What trains the neural methods; their tests skip without it: make test TORCH=
# On Linux the public wheel brings CUDA along, some gigabytes: a CPU build that is there already is kept.
TORCH ?= torch==2.13.0
PROJECT := -e '.[demo,server]'
PROJECT_TO_TEST := -e '.[demo,ipa,plots,server,spacy,uriel]'

# The tests of the library without its optional packages: make test-core PYTHON=python3.13
CORE_VENV = .venv-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
CORE_TESTS := $(addprefix tests/,dumps evaluation generators index kernels storage tables text wikipedia/markup)

# Scripts in a virtual environment know its path, so one that was copied or moved is of no use.
HERE := $(shell grep -sqF " $(CURDIR)/$(VENV)" $(VENV)/pyvenv.cfg && $(BIN)/python -c 'import pip' 2>/dev/null && echo yes)
ifneq ($(HERE),yes)
$(BIN)/python $(VENV)/demo.installed $(VENV)/dev.installed $(VENV)/extras.installed $(VENV)/bench.installed $(VENV)/docs.installed: again
endif

.PHONY: demo test test-core test-extras fuzz bench docs format clean again

demo: $(VENV)/demo.installed  ## real names, in under two minutes
	@$(BIN)/candgen demo

test: $(VENV)/dev.installed  ## lint, types, import rules and tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest --cov --numprocesses auto --dist loadfile --junit-xml build/tests.xml

test-core:  ## the library's own tests without optional packages, on another Python: PYTHON=python3.13
	@cmp -s pyproject.toml $(CORE_VENV)/pyproject.toml || { \
		echo "making $(CORE_VENV) with $$($(PYTHON) --version)" && \
		$(PYTHON) -m venv --clear $(CORE_VENV) && \
		$(CORE_VENV)/bin/python -m pip --disable-pip-version-check install -qq 'pip>=25.1' && \
		$(CORE_VENV)/bin/python -m pip install -qq -e . --group test && \
		cp pyproject.toml $(CORE_VENV); }
	$(CORE_VENV)/bin/python -m pytest --numprocesses auto --dist loadfile -p no:cacheprovider $(CORE_TESTS)

test-extras: $(VENV)/extras.installed  ## what needs large optional packages: PySpark, 450 MB, and Java 17
	$(BIN)/pytest --junit-xml build/tests-extras.xml tests/wikipedia/spark

fuzz: $(VENV)/dev.installed  ## forged indexes must do no harm, others every day: TRIALS=10000 SEED=1
	$(BIN)/python -m tests.adversarial.index_fuzzer --neural --trials $(TRIALS) --seed $(SEED)

bench: $(VENV)/bench.installed  ## speed, memory and size, beside the peers; SIZES="50000 500000 2500000"
	$(BIN)/python benchmarks/build.py --size $(SIZES)
	$(BIN)/python benchmarks/search.py --size $(SIZES)
	$(BIN)/python benchmarks/index_size.py --size $(SIZES)
	$(BIN)/python benchmarks/rerank.py --size $(SIZES)

docs: $(VENV)/docs.installed  ## the pages of docs/ as a site, in site/
	$(BIN)/sphinx-build --quiet --fail-on-warning --fresh-env --write-all -d build/doctrees docs site
	@echo "open site/index.html"

format: $(VENV)/dev.installed  ## layout of the code, and what ruff can mend
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:  ## everything that the others made, but not benchmarks/data
	rm -rf $(VENV) .venv-* .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -rf build dist site demo-*.candgen
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "candgen needs Python 3.11 or newer: make PYTHON=python3.12, for example" >&2; exit 1; }
	@echo "making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)

$(VENV)/demo.installed: pyproject.toml | $(BIN)/python
	@echo "installing candgen and what it needs"
	@$(PIP) $(PROJECT)
	@touch $@

# Groups came with pip 25.1; the one that comes with Python may be older.
$(VENV)/dev.installed: pyproject.toml | $(BIN)/python
	@echo "installing candgen and what its tests need"
	@$(PIP) 'pip>=25.1'
	@$(if $(TORCH),$(PIP) '$(TORCH)')
	@$(PIP) $(PROJECT_TO_TEST) --group dev
	@touch $@ $(VENV)/demo.installed

$(VENV)/extras.installed: pyproject.toml $(VENV)/dev.installed
	@echo "installing PySpark"
	@$(PIP) -e '.[spark]'
	@touch $@

$(VENV)/bench.installed: pyproject.toml | $(BIN)/python
	@echo "installing candgen and what its benchmarks need"
	@$(PIP) 'pip>=25.1'
	@$(PIP) $(PROJECT) --group bench
	@touch $@ $(VENV)/demo.installed

$(VENV)/docs.installed: pyproject.toml | $(BIN)/python
	@echo "installing candgen and what its documentation needs"
	@$(PIP) 'pip>=25.1'
	@$(PIP) $(PROJECT) --group docs
	@touch $@ $(VENV)/demo.installed
