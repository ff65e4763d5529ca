# Two commands do everything: `make demo` and `make test`. Set-up happens once and again when its inputs change.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/python
READY  := $(VENV)/.ready
DEMO   ?= demo
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup demo test check format bench clean

help:  ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "BabyWalk needs Python 3.10 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable '.[dev]'
	@touch $@

setup: $(READY)  ## create .venv and install (done by the other targets when needed)

demo: $(READY)  ## build a world, train two agents in it, compare and draw them (in demo/)
	@$(RUN) -m babywalk demo $(DEMO)

check: $(READY)  ## lint, format, types, import order
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(RUN) -m pytest tests/test_architecture.py

test: check  ## everything that must hold (includes check)
	$(RUN) -m pytest -n $(WORKERS) -m 'not slow'
	$(RUN) -m pytest -m slow

format: $(READY)  ## let ruff format and fix the code
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

bench: $(READY)  ## list the benchmarks, and run them on a small built-in world
	$(RUN) -m benchmarks

clean:  ## remove what make made
	rm -rf $(VENV) $(DEMO) build *.egg-info .mypy_cache .ruff_cache .hypothesis
