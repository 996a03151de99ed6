# The thin front. `make lab` opens the lab, `make test` tests it; both set up what they need in .venv, once.
# PORT=8889 chooses the port of the lab, ARGS="..." goes to the command behind the target.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
PORT ?=
ARGS ?=
python := .venv/bin/python
lab := .venv/bin/runstate-lab
export UV_PYTHON_DOWNLOADS := never

.PHONY: help lab test sweep load build check-build verify release wheel doctor pins clean

help:  ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

lab: .venv/.lab-is-ready  ## JupyterLab at lesson 00, in runstate-course/ (PORT=, ARGS=)
	@$(lab) lab $(if $(PORT),--port $(PORT)) $(ARGS)

test: .venv/.test-is-ready  ## all tests but the slow ones (ARGS=)
	@$(python) -m pytest -m "not slow" $(ARGS)

sweep: .venv/.test-is-ready  ## the slow tests (ARGS=)
	@$(python) -m pytest -m slow $(ARGS)

load: .venv/.test-is-ready  ## the same grades on a busy machine (half an hour; not part of CI)
	@$(python) -m pytest tests/load.py $(ARGS)

build: .venv/.test-is-ready  ## masters -> notebooks (ARGS= names, none: all)
	@$(lab) build $(ARGS)

check-build: .venv/.test-is-ready  ## refuse a stale or hand-edited notebook
	@$(lab) build --check $(ARGS)

verify: .venv/.test-is-ready  ## stubs fail, solutions pass, wrong answers fail where they say
	@$(lab) verify $(ARGS)

release: .venv/.test-is-ready  ## the student bundle, in dist/
	@$(lab) release --out dist $(ARGS)

wheel: .venv/.test-is-ready  ## the wheel, in dist/; refused where a notebook is not as built
	@$(python) -m hatchling build -t wheel -d dist

doctor: .venv/.lab-is-ready  ## what is installed here, and what is missing
	@$(lab) doctor $(ARGS)

pins: pyproject.toml  ## write constraints.txt and binder/requirements.txt anew (needs uv)
	@compile="uv pip compile pyproject.toml --quiet --python-version 3.11 --no-header --no-annotate --no-emit-index-url --no-emit-find-links"; \
	$$compile --upgrade --all-extras -o constraints.txt; \
	$$compile --upgrade -c constraints.txt -o binder/requirements.txt

clean:  ## remove what `make` made (the course folder stays)
	@rm -rf .venv dist .pytest_cache .hypothesis; find . -name __pycache__ -prune -exec rm -rf {} +

.venv/bin/python:
	@if command -v uv >/dev/null; then uv venv --quiet --python "$(PYTHON)" .venv; \
	elif "$(PYTHON)" -c 'import ensurepip' 2>/dev/null; then "$(PYTHON)" -m venv .venv; \
	elif "$(PYTHON)" -m pip --version >/dev/null 2>&1; then \
	  "$(PYTHON)" -m venv --without-pip .venv; \
	  "$(PYTHON)" -m pip --python .venv/bin/python install --quiet --ignore-installed pip; \
	else echo "$(PYTHON) can make no virtual environment: it has neither ensurepip nor pip." >&2; \
	  echo "hint: on Debian or Ubuntu run: apt-get install python3-venv" >&2; exit 2; fi

define install
	@"$(python)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "this needs Python 3.11 or newer; hint: make $@ PYTHON=/path/to/python3.11" >&2; exit 2; }
	@echo "setting up .venv (once) ..." >&2
	@if command -v uv >/dev/null; then uv pip install --quiet --python "$(python)" -c constraints.txt -e "$(1)"; \
	else "$(python)" -m pip install --quiet --disable-pip-version-check -c constraints.txt -e "$(1)"; fi
	@touch $(2)
endef

.venv/.lab-is-ready: pyproject.toml constraints.txt | .venv/bin/python
	$(call install,.,$@)

.venv/.test-is-ready: pyproject.toml constraints.txt | .venv/bin/python
	$(call install,.[test],.venv/.lab-is-ready $@)
