# Verbs of the project. Everything lives in .venv and .cache; nothing is needed but Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORPUS ?=
EVALUATE ?=
SECRETS ?=
QUESTIONS ?=
LARGE ?=
ENDURANCE ?=
SHORT ?=
SECONDS ?=
SEED ?=
RUNS ?= 5
CLIENT_VERSION := 2.1.325
CODEX_VERSION := 0.169.0
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where an environment forbids bytecode, every test run compiles every module anew: 20 of 67 seconds of CPU.
export PYTHONDONTWRITEBYTECODE :=

PARTS := check client browser docs
PYTEST := $(BIN)/pytest -n auto --dist worksteal -p no:schemathesis

.PHONY: help demo test nightly shuffle cover quick store parts check python page docs reference bench report audit fuzz torture client dashboard browser plugin release lock clean
.DEFAULT_GOAL := help

help: ## what can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1	/' | expand -t 16

$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "holdfast needs Python 3.11 or newer; say make PYTHON=python3.12")'
	@echo "fetching what it needs into $(VENV) (a minute or two)"
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/pip install --quiet --require-hashes -r requirements.lock
	HATCH_BUILD_NO_HOOKS=1 $(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

# The demo needs what Holdfast runs with, and not what its tests need: a quarter of the room.
$(BIN)/holdfast:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "holdfast needs Python 3.11 or newer; say make PYTHON=python3.12")'
	@echo "fetching what it runs with into $(VENV) (a minute)"
	$(PYTHON) -m venv --clear $(VENV)
	HATCH_BUILD_NO_HOOKS=1 $(BIN)/pip install --quiet -e .

demo: $(BIN)/holdfast ## play a recorded session through the real hooks
	@$(BIN)/python demo/play.py

client: ## the real Claude Code and Codex, for the tests that judge us by them
	@$(PYTHON) tests/fetch_client.py $(CLIENT_VERSION)
	@$(PYTHON) tests/fetch_client.py --codex $(CODEX_VERSION)

dashboard: $(VENV)/.ready ## the page that serve shows, built if its sources changed
	@$(BIN)/python dashboard/build.py

plugin: dashboard ## what a marketplace offers, in build/plugin
	@$(BIN)/python plugin/build.py

release: ## raise the version and build the plugin: make release VERSION=0.3.0
	@test -n "$(VERSION)" || { echo "say make release VERSION=…"; exit 2; }
	@sed -i 's/^__version__ = .*/__version__ = "$(VERSION)"/' src/holdfast/__init__.py
	@$(MAKE) --no-print-directory plugin

browser: ## Debian's Chromium, for the tests of the dashboard
	@$(PYTHON) tests/dashboard/fetch_browser.py

check: python page ## format, lint, types, import contracts

python: $(VENV)/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

page: dashboard
	$(BIN)/python dashboard/build.py --check

docs: $(VENV)/.ready ## the documentation as a site, in build/docs
	$(BIN)/sphinx-build --quiet --fail-on-warning --jobs auto --conf-dir docs . build/docs

quick: $(VENV)/.ready ## the inner loop: no real client, no database, nothing slow
	@$(BIN)/python -m tests.quick

store: $(VENV)/.ready ## the inner loop of the store and the API, on SQLite
	$(PYTEST) -q -m "store and not slow and not nightly and not real_client"

parts: # what tests need, and what needs no test: two at a time
	@$(MAKE) --no-print-directory -j2 $(PARTS)

test: parts ## what CI runs, in one order and with the same examples each time
	$(PYTEST) --randomly-seed=1 -m "not nightly"

nightly: parts ## everything: all of PostgreSQL, every hook started, eight times the examples, torture
	HYPOTHESIS_PROFILE=large HOLDFAST_TEST_HOOKS=started $(PYTEST) --randomly-seed=1
	@$(MAKE) --no-print-directory torture SECONDS=$(or $(SECONDS),120)

shuffle: client dashboard browser ## everything in another order, with other examples: finds what hangs on chance
	HYPOTHESIS_PROFILE=random HOLDFAST_TEST_HOOKS=started $(PYTEST)

cover: client dashboard browser ## which lines no test runs; takes twice as long as nightly
	HYPOTHESIS_PROFILE=large HOLDFAST_TEST_HOOKS=started $(PYTEST) --cov --cov-report=term:skip-covered

reference: $(VENV)/.ready ## the parts of docs/ that are made from the code
	$(BIN)/python docs/reference.py
	$(BIN)/python docs/page_types.py

DATA := $(if $(CORPUS),--corpus $(CORPUS)) $(if $(EVALUATE),--evaluate $(EVALUATE)) $(if $(SECRETS),--secrets $(SECRETS)) $(if $(QUESTIONS),--questions $(QUESTIONS)) $(if $(LARGE),--large) $(if $(ENDURANCE),--endurance)

bench: $(VENV)/.ready ## print the figures: make bench CORPUS=DIR EVALUATE=FILE SECRETS=FILE QUESTIONS=FILE LARGE=1 ENDURANCE=1
	@$(BIN)/python -m benchmarks.run $(DATA)

report: $(VENV)/.ready ## the figures with their spread and growth, in build/report.html: make report RUNS=1 SHORT=1, and the data of bench
	@$(BIN)/python -m benchmarks.report --runs $(RUNS) $(if $(SHORT),--short) $(DATA)

audit: $(VENV)/.ready ## the supply chain: vulnerabilities, licences, hashes, list of parts, a wheel built twice
	@$(BIN)/python -m audit

fuzz: $(VENV)/.ready ## hostile input for every reader, following the coverage: make fuzz SECONDS=60 SEED=1
	$(BIN)/python -m fuzz $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED))

torture: $(VENV)/.ready ## sessions at work while processes die and disks fill: make torture SECONDS=120 SEED=1
	$(BIN)/python -m torture --seconds $(or $(SECONDS),600) $(if $(SEED),--seed $(SEED))

lock: ## write requirements.lock anew from pyproject.toml
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-strip-extras --group dev --extra serve --extra postgres --extra semantic pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate --extra serve pyproject.toml -o plugin/requirements.lock

clean:
	rm -rf $(VENV) build .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
