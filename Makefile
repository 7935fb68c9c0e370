# Needs git, make and Python >= 3.11 with venv; everything else goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Installs into an environment with pip, or with uv where UV is its path.
install = $(if $(UV),$(UV) pip install --python $(1)/bin/python,$(1)/bin/python -m pip install) --quiet

# What an extra includes: installing dev makes the others up to date as well.
all := all
test := all test
bench := all bench
docs := all docs
dev := all test bench docs dev

# PyDTMC goes with neither the plots' nor numpy's newer versions: an environment of its own.
PYDTMC := $(VENV)/peers/pydtmc

DEMO := tcpstream delay --capture examples/linux-reno.pcap --sender classic --rate 400kbps --live

.PHONY: help demo test test-long bench check docs lock clean

help:
	@echo "make demo    one answer from a recorded TCP flow"
	@echo "make test    the tests (TEST=path: some of them)"
	@echo "make test-long  the tests that take long: studies, whole figures, long videos (before a release)"
	@echo "make bench   the benchmarks (over an hour; BENCH=--quick: some minutes)"
	@echo "make check   linters, types, import rules"
	@echo "make docs    the documentation as a site, in build/site"
	@echo "make lock    requirements-dev.lock, the versions for development, anew"
	@echo "make clean   remove .venv and everything made"

demo: $(VENV)/.all
	@echo '$$ $(DEMO)'
	@$(BIN)/$(DEMO)

# A worker a core: linear algebra starts no threads of its own.
test test-long: $(VENV)/.test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 2 --dist loadscope --no-loadscope-reorder \
	  $(if $(filter test-long,$@),-m long) $(TEST)

bench: $(VENV)/.bench $(PYDTMC)/.installed
	$(BIN)/python -m benchmarks $(BENCH)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -b html docs build/site

# For every system and Python at once; without what is only true of this machine.
lock: $(VENV)/.dev
	$(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.11 --extra dev --no-annotate \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	  --output-file requirements-dev.lock pyproject.toml

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp per extra, so that nothing is installed again until pyproject.toml changes.
$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(call install,$(VENV)) --editable '.[$*]'
	@touch $(addprefix $(VENV)/.,$($*))

$(PYDTMC)/.installed: | $(BIN)/python
	$(PYTHON) -m venv $(PYDTMC)
	$(call install,$(PYDTMC)) 'pydtmc==8.7.0' || echo "PyDTMC: left out"
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "tcpstream needs Python >= 3.11, not $$($(PYTHON) -V 2>&1): make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "$(PYTHON) has no venv module: install it (Debian: apt install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
