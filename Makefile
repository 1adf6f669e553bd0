# Every target sets itself up: the first run makes .venv and installs what it needs, later runs reuse it.
# On Windows run make from Git Bash.
ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := .venv/Scripts
else
PYTHON ?= python3
BIN := .venv/bin
endif
EXTRAS ?= report,collect,parquet,serve,mcp,otel,suites,dev
# The versions that were tested, so that the demo and the tests pass next year as they do today.
CONSTRAINTS ?= constraints.txt
INSTALL = $(BIN)/python -m pip install --quiet $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS)) --editable

.PHONY: demo test test-slow test-harnesses test-latest test-frameworks test-importers attack lint types imports pytest coverage bench audit package docs pictures constraints collect-demo clean

demo: .venv/demo
	$(BIN)/skilldelta demo

test: lint types imports pytest

lint: .venv/dev
	$(BIN)/ruff check src tests benchmarks docsite examples local_model
	$(BIN)/ruff format --check src tests benchmarks docsite examples local_model

types: .venv/dev
	$(BIN)/mypy

imports: .venv/dev
	$(BIN)/lint-imports

pytest: .venv/dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 -m "not slow" -q

# Which lines the tests run, file by file; subprocesses are not counted.
coverage: .venv/dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 -m "not slow" -q --cov --cov-report=term-missing:skip-covered

test-slow: .venv/dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 -m slow

# The plugins end to end in the real harnesses, against a fake model on loopback: DeepSeek Harness, Claude Code, Codex,
# Gemini CLI, OpenCode and pi. Installs them into build/harnesses first (1.9 GB, npm on x86-64 Linux); takes ten minutes.
test-harnesses: .venv/dev
	$(BIN)/python tests/harnesses/installing.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -m slow -q tests/harnesses

# The importers with files of the real tools, each tool in an environment of its own below .cache/tools.
test-importers: .venv/dev
	$(BIN)/python -m tests.bank.importers.tool_environments
	$(BIN)/pytest -q tests/bank/importers/test_real_tools.py tests/bank/importers/test_inspect_logs.py

# Attacks on this checkout, all on this machine, and their table in docs/threat-model.md; takes less than ten minutes.
attack: .venv/dev
	PYTHONPATH=tests $(BIN)/python -m attacks

# The same checks with the newest versions of everything, in an environment of their own.
test-latest:
	rm -rf .venv-latest
	$(PYTHON) -m venv .venv-latest
	$(subst .venv,.venv-latest,$(BIN))/python -m pip install --quiet --upgrade --editable ".[$(EXTRAS)]"
	OPENBLAS_NUM_THREADS=1 $(subst .venv,.venv-latest,$(BIN))/pytest -n 2 -m "not slow" -q

# The adapters of Python agent frameworks with the real frameworks, and the callback in a real LiteLLM proxy. They need other
# versions than the rest, so each has an environment of its own.
test-frameworks: .venv-frameworks/ready .venv-litellm/ready
	OPENBLAS_NUM_THREADS=1 .venv-frameworks/bin/python -m pytest -q tests/integrations
	OPENBLAS_NUM_THREADS=1 .venv-litellm/bin/python -m pytest -q tests/integrations/test_litellm_callback.py

.venv-%/ready: tests/integrations/%.txt pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet uv
	$(@D)/bin/uv pip install --quiet --python $(@D)/bin/python --editable . --requirement $<
	@touch $@

bench: .venv/dev
	$(BIN)/python -m benchmarks

RELEASE = $(subst .venv,.venv-release,$(BIN))

# Known vulnerabilities of the pinned versions; needs access to the advisory database of the package index.
audit: .venv-release/tools
	$(RELEASE)/pip-audit --requirement constraints.txt --no-deps --disable-pip --strict

# The source archive, the wheel and the list of their parts (SBOM), in dist. The wheel is tried in an environment of its own.
package: .venv-release/tools
	rm -rf dist build/package-trial
	$(RELEASE)/python -m build --outdir dist .
	$(RELEASE)/cyclonedx-py requirements constraints.txt --output-file dist/sbom.json
	$(PYTHON) -m venv build/package-trial
	$(subst .venv,build/package-trial,$(BIN))/python -m pip install --quiet --constraint constraints.txt dist/*.whl
	$(subst .venv,build/package-trial,$(BIN))/skilldelta demo --bank build/package-trial/demo.bank --no-report

# The documentation site, in build/site. A broken link or anchor, and an asset of another host, fail it.
docs: .venv/docs
	$(BIN)/python -m docsite

# The pictures that the README and the pages show, taken anew from the demo bank. Needs Chromium.
pictures: .venv/dev
	$(BIN)/python -m pip install --quiet --constraint constraints.txt playwright
	$(BIN)/python -m docsite.pictures

# Writes the versions installed in .venv to constraints.txt. To move to the newest ones:
# make clean && make test CONSTRAINTS= && make constraints
constraints: .venv/dev .venv/docs
	$(BIN)/python .ci/constraints.py $(EXTRAS),docs > constraints.new
	mv constraints.new constraints.txt

# Tools of a release, whose own requirements are no part of what is tested.
.venv-release/tools:
	$(PYTHON) -m venv $(@D)
	$(subst .venv,$(@D),$(BIN))/python -m pip install --quiet build cyclonedx-bom pip-audit
	@touch $@

# .venv/python is a mark and not the interpreter, whose place differs between systems.
.venv/python:
	$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(0 if sys.version_info >= (3, 11) else f"SkillDelta needs Python 3.11 or newer, {v} found; run make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/demo: .venv/python pyproject.toml $(CONSTRAINTS)
	$(INSTALL) ".[report,serve]"
	@touch $@

.venv/dev: .venv/python pyproject.toml $(CONSTRAINTS)
	$(INSTALL) ".[$(EXTRAS)]"
	@touch $@ .venv/demo

.venv/docs: .venv/python pyproject.toml $(CONSTRAINTS)
	$(INSTALL) ".[docs]"
	@touch $@

clean:
	rm -rf .venv .venv-latest .venv-release .venv-frameworks .venv-litellm .coverage build dist .mypy_cache .ruff_cache .pytest_cache demo-output

# A small part of the demo's outcomes again, with the real local model on loopback. Fetches about 1.1 GB once.
collect-demo: .venv/dev
	$(BIN)/python local_model/collect_demo.py
