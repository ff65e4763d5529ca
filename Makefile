# `make demo` and `make test` do everything. They set up .venv first, and again when its requirements change.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/python
READY  := $(VENV)/.ready
PIP    := $(RUN) -m pip install --quiet --disable-pip-version-check
DEMO   ?= demo
WORKERS ?= 2

# `make core` runs the tests that need no extra (no torch, no spaCy) on the supported versions of Python that are
# installed, other than the one in .venv: each in an environment of its own with the core's requirements alone.
VERSIONS   := 3.10 3.11 3.12 3.13
INSTALLED   = $(foreach v,$(VERSIONS),$(shell python$(v) -c 'import ensurepip, venv' 2>/dev/null && echo $(v)))
OWN         = $(shell $(RUN) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
CORE_TESTS := tests/common tests/assets tests/buildings tests/episodes tests/navigation/measures \
  tests/instructions/test_sentences.py tests/instructions/test_identification.py \
  --ignore tests/common/test_common_weights.py --ignore tests/common/test_fitting.py \
  --ignore tests/common/test_runtime.py --ignore tests/assets/test_pretrained.py

.DEFAULT_GOAL := help
.PHONY: help setup demo test core check format bench clean

help:  ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

# Pinned files with hashes where the index serves the same ones (requirements.lock), else pinned versions.
$(READY): pyproject.toml constraints.txt requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "BabyWalk needs Python 3.10 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@$(PIP) --require-hashes --only-binary :all: -r requirements.lock 2>$(VENV)/lock.log && \
	  $(PIP) --no-deps --no-build-isolation --editable . || \
	  { echo "Files of requirements.lock are not served for this Python and platform ($(VENV)/lock.log):" \
	    "installing the versions of constraints.txt."; \
	    $(PIP) -c constraints.txt --editable '.[dev]'; }
	@touch $@

setup: $(READY)  ## create .venv and install the package (other targets do it when needed)

demo: $(READY)  ## build the Dollhouse, train two agents in it, evaluate and draw them (in demo/)
	@$(RUN) -m babywalk demo $(DEMO)

check: $(READY)  ## lint, format, types, import order
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(RUN) -m pytest tests/test_architecture.py

test: check  ## run all checks and tests
	OMP_NUM_THREADS=1 $(RUN) -m pytest -n $(WORKERS) -m 'not slow'
	$(RUN) -m pytest -m slow
	@$(MAKE) --no-print-directory core

core: $(READY)  ## run the tests that need no extra on the other versions of Python on this machine
	@echo "Python in $(VENV): $(OWN); others found: $(or $(filter-out $(OWN),$(INSTALLED)),none of $(filter-out $(OWN),$(VERSIONS)))"
	@$(foreach v,$(filter-out $(OWN),$(INSTALLED)),$(MAKE) --no-print-directory core-$(v) &&) true

core-%: $(VENV)/core-%/.ready
	OMP_NUM_THREADS=1 $(<D)/bin/python -m pytest -m 'not slow and not real' $(CORE_TESTS)

.PRECIOUS: $(VENV)/core-%/.ready
$(VENV)/core-%/.ready: pyproject.toml constraints.txt
	python$* -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
	  --editable . pytest hypothesis
	@touch $@

format: $(READY)  ## format the code and fix lint errors
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

bench: $(READY)  ## list the benchmarks, and run those that need only a small Dollhouse
	$(RUN) -m benchmarks

clean:  ## remove .venv, the demo and caches
	rm -rf $(VENV) $(DEMO) build *.egg-info .mypy_cache .ruff_cache .hypothesis
