# make review   set everything up and review this repository's latest commits
# make test     everything that CI checks
# make quick    what can be checked without processes, servers and databases
# make test-all with every extra installed, on each Python at hand, with the lowest versions, and
#                the long samples
# Other targets: setup, format, reference, screenshots, bench, prompts, simulate.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Of this repository the last few commits, of another one (REPO=DIR) its last.
REPO ?= .
RANGE ?= $(if $(filter .,$(REPO)),$(shell git rev-list --first-parent --max-count=6 HEAD 2>/dev/null | tail -n 1)..HEAD)

# Or each process of the tests would compile all that it imports, where this is set.
export PYTHONDONTWRITEBYTECODE :=

# The reference pages and the schemas of team files, from docstrings.
reference: setup
	$(BIN)/python docs/reference/generate.py
	$(BIN)/python docs/reference/schemas.py

# The pictures of the page in docs/page; needs Chromium.
screenshots: setup
	$(BIN)/python docs/page/pictures.py

.PHONY: screenshots reference review test quick quick-unit test-all test-crewai setup format lint types imports unit bench prompts simulate

review: setup
	@$(BIN)/leadhand review $(RANGE) --repo $(REPO) --fail-on never $(ARGS)
ifeq ($(origin REPO)$(origin RANGE)$(origin ARGS),filefileundefined)
	@.ci/sample/review "$(CURDIR)/$(BIN)/leadhand"
endif

# Types are checked beside the tests, which leave a core idle now and then.
test: lint imports
	@$(MAKE) --no-print-directory -j2 types unit

# Types take one core for a minute, the quick tests the other.
quick: lint imports
	@$(MAKE) --no-print-directory -j2 types quick-unit

quick-unit: setup
	$(BIN)/pytest --quick

EXTRAS := agents,bedrock,cohere,google,groq,huggingface,mistral,router

MCP_SERVERS := @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem

test-all: setup
	@if command -v npm >/dev/null 2>&1; then \
	  npm install --silent --no-fund --no-audit --prefix $(VENV)/extras/mcp-servers $(MCP_SERVERS); \
	else echo "npm is not installed: the MCP servers for Node are not tried" >&2; fi
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory test-crewai
	@PYTHON=$(PYTHON) .ci/versions $(EXTRAS)
	@$(MAKE) --no-print-directory simulate SEEDS=2000

# crewAI asks for older versions of libraries than leadhand does; what pip says of that is expected.
CREWAI := $(VENV)/crewai/bin/python

test-crewai: setup
	$(PYTHON) -m venv $(VENV)/crewai
	$(CREWAI) -m pip install --quiet --disable-pip-version-check 'crewai>=1.15'
	$(CREWAI) -m pip install --quiet --disable-pip-version-check --editable . pytest hypothesis
	CREWAI_DISABLE_TELEMETRY=true LEADHAND_TEST_ALL=crewai \
	  $(CREWAI) -m pytest tests/workers/test_foreign_calls.py

setup: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "leadhand needs Python 3.11 or newer: for example make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@echo "installing leadhand into $(VENV), which takes some minutes" >&2
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --allow-existing --python $(PYTHON) $(VENV) && \
	  uv pip install --quiet --python $(BIN)/python --editable '.[dev]'; \
	else \
	  $(PYTHON) -m venv $(VENV) && \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'; \
	fi
	@touch $(STAMP)
	@echo "leadhand is installed: $(BIN)/leadhand (put $(BIN) on your PATH, or activate $(VENV))" >&2

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup
	$(BIN)/basedpyright

imports: setup
	$(BIN)/lint-imports

# One process more than there are cores: many tests wait, for programs and by the clock.
unit: setup
	$(BIN)/pytest -n $$($(BIN)/python -c 'import os; print(os.cpu_count() + 1)') --dist worksteal

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup
	$(BIN)/python -m benchmarks

# How a model answers each prompt; MODEL=openai-chat:NAME, for example. What was asked is not asked again.
prompts: setup
	$(BIN)/python -m benchmarks.live_prompts $(MODEL) $(ARGS)

# Runs under simulation, SEEDS of them; SEED=N replays one and prints its events.
SEEDS ?= 10000

simulate: setup
	$(BIN)/python -m tests.simulation $(if $(SEED),--seed $(SEED),--seeds $(SEEDS))$(if $(KIND), --kind $(KIND))
