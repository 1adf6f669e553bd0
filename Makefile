# Every target sets itself up: the first run makes .venv and installs what it needs, later runs reuse it.
PYTHON ?= python3
BIN := .venv/bin
EXTRAS ?= report,collect,dev

.PHONY: demo test test-slow lint types imports pytest bench collect-demo clean

demo: .venv/demo
	$(BIN)/skilldelta demo

test: lint types imports pytest

lint: .venv/dev
	$(BIN)/ruff check src tests benchmarks local_model
	$(BIN)/ruff format --check src tests benchmarks local_model

types: .venv/dev
	$(BIN)/mypy

imports: .venv/dev
	$(BIN)/lint-imports

pytest: .venv/dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 -m "not slow" -q

test-slow: .venv/dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 -m slow

bench: .venv/dev
	$(BIN)/python -m benchmarks

.venv/bin/python:
	$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(0 if sys.version_info >= (3, 11) else f"SkillDelta needs Python 3.11 or newer, {v} found; run make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv

.venv/demo: .venv/bin/python pyproject.toml
	$(BIN)/pip install --quiet --editable ".[report]"
	@touch $@

.venv/dev: .venv/bin/python pyproject.toml
	$(BIN)/pip install --quiet --editable ".[$(EXTRAS)]"
	@touch $@ .venv/demo

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache demo-output

# A small part of the demo's outcomes again, with the real local model on loopback. Fetches about 1.1 GB once.
collect-demo: .venv/dev
	$(BIN)/python local_model/collect_demo.py
