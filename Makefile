# Every target sets itself up: Python 3.11 or later and make are all that must be there.
# PYTHON=… chooses the interpreter, WORKERS=… the number of test processes, ARGS=… goes to the program run.

SHELL   := /bin/sh
VENV    := .venv
BIN     := $(VENV)/bin
PYTHON  ?= python3.13 python3.12 python3.11 python3 python
WORKERS ?= logical
ARGS    ?=
GPU_PYTHON ?= python3

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo docs test test-gpu lowest matrix mutants torture lint format bench clean distclean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 18

demo: $(VENV)/.demo ## Train on a table, compare, explain, decide by costs, write a page and pictures
	@$(BIN)/likely demo -o build/demo $(ARGS)

docs: $(VENV)/.docs ## Build the site into build/site; it works offline
	@$(BIN)/python -m sphinx -q -W --keep-going -j auto -c docs . build/site
	@echo "Built build/site/index.html"

test: $(VENV)/.dev ## Run the tests, the doctests and the code of the documentation
	@$(BIN)/python -m pytest -q -n $(WORKERS) --maxprocesses 8 --dist worksteal $(ARGS)

# What stands closest to the libraries: reading, counting, keeping, the drop-ins, and every doctest.
LOWEST := src tests/table tests/io tests/stats tests/families tests/store tests/naive_bayes tests/test_worked_examples.py

lowest: ## Run part of the tests on Python 3.11 with the lowest dependencies that are allowed (ten minutes at most)
	@PYTHONS=3.11 ARGS="$(or $(ARGS),$(LOWEST))" .ci/matrix

matrix: ## Run the tests on each Python, with the lowest and the newest dependencies (half an hour)
	@ARGS="$(ARGS)" .ci/matrix

# Kernels with bounds checks are other kernels: they are compiled into a cache of their own.
torture: $(VENV)/.dev ## Run everything with bounds checks in the kernels, and damage model files at full size (an hour)
	@LIKELY_TORTURE=full NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR="$(CURDIR)/$(VENV)/checked-kernels" \
	    $(BIN)/python -m pytest -q -n $(WORKERS) --maxprocesses 8 --dist worksteal $(ARGS)

# Networks learn the same from the same seed only if sums on the GPU have an order.
test-gpu: ## Run the tests of the GPU engine and of networks on a GPU, with the Python that has CuPy (GPU_PYTHON=python3)
	@LIKELY_GPU=1 XLA_PYTHON_CLIENT_PREALLOCATE=false XLA_FLAGS=--xla_gpu_deterministic_ops=true PYTHONPATH=src $(GPU_PYTHON) -m pytest -q -p no:cacheprovider tests/engines/gpu tests/models/evidence/test_on_device.py tests/models/convnet $(ARGS)

mutants: $(VENV)/.dev ## Change the pure modules, one small thing at a time, and count what the tests notice
	@$(BIN)/python tools/mutants.py $(ARGS)

lint: $(VENV)/.dev ## Check style, format, types and the direction of imports
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy --strict src
	@$(BIN)/lint-imports --no-logo

format: $(VENV)/.dev ## Put the code into shape
	@$(BIN)/python -m ruff check --fix .
	@$(BIN)/python -m ruff format .

bench: $(VENV)/.dev ## Measure speed and memory beside scikit-learn
	@$(BIN)/python benchmarks/run.py $(ARGS)

clean: ## Remove caches (compiled kernels too) and build outputs
	@rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find src tests docs benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean ## Remove the virtual environment as well
	@rm -rf $(VENV) .venv-*

# A stamp newer than pyproject.toml means that all is installed: nothing to do, no network needed.
$(VENV)/.demo: pyproject.toml | $(BIN)/python
	@echo "Installing likely into $(VENV) (about 1 GB, a minute or two) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[plot,engines]"
	@touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	@echo "Installing likely and what builds its site into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "Installing likely and its development tools into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $(VENV)/.demo $(VENV)/.docs $@

# The first interpreter that runs, is new enough and can make a virtual environment.
$(BIN)/python:
	@for python in $(PYTHON); do \
	    if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        echo "Making $(VENV) with $$("$$python" --version) …"; \
	        exec "$$python" -m venv $(VENV); \
	    fi; \
	done; \
	echo "likely needs Python 3.11 or later with venv: install it, or name it with 'make PYTHON=/path/to/python3'." >&2; \
	exit 1
