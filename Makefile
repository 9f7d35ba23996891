# Needs git, make and Python 3.11 or later; everything else lands in .venv.
# QUIET=1 says less. PYTHON, WORKERS (test processes) and MB (benchmark size) can be set.
# GENAI (a version) and WHEELS (a folder of wheels, instead of downloads) are for the prices.

PYTHON ?= python3
WORKERS ?= 2
MB ?= 200
QUIET ?=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
LOCKED := $(VENV)/.locked
INSTALLED := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check $(if $(QUIET),-qq,-q)
SAY := @$(if $(QUIET),:,echo)

.PHONY: help setup run test faults gear fuzz lint types fix golden docs real bench prices prices-diff lock clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | \
		while IFS='|' read -r name text; do printf '  make %-11s %s\n' "$$name" "$$text"; done

setup: $(INSTALLED) ## make .venv with the locked packages and .venv/bin/cclake

# A changed lock starts from an empty environment, so nothing unlisted lingers.
$(LOCKED): requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "cclake needs Python 3.11 or later; try: make setup PYTHON=python3.12")'
	$(SAY) "setting up $(VENV) (once; takes a moment)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --require-hashes -r requirements.lock
	@touch $@

$(INSTALLED): $(LOCKED) pyproject.toml
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

FIRST_QUESTION := select day, \
	sum(responses)::bigint as responses, \
	sum(output_tokens)::bigint as output_tokens, \
	sum(cache_read_tokens)::bigint as cache_read_tokens, \
	sum(cost_usd)::decimal(12, 2) as cost_usd, \
	sum(unpriced_tokens)::bigint as unpriced_tokens \
	from daily_spend group by day order by day desc limit 14

# Exit code 1 of a sync means: committed, but some files could not be read. There is an answer.
run: $(INSTALLED) ## sync your own logs (a made-up tree if there are none) and show a first answer
	@set -e; \
	if [ -n "$${CLAUDE_CONFIG_DIR:-}" ]; then set -- "$$CLAUDE_CONFIG_DIR/projects"; \
	else set -- "$$HOME/.claude/projects" "$$HOME/.config/claude/projects"; fi; \
	if find -L "$$@" -name '*.jsonl' 2>/dev/null | grep -q .; then \
		where=''; \
		$(BIN)/cclake sync || [ $$? -eq 1 ]; \
	else \
		where=' --warehouse .demo/warehouse'; \
		if [ ! -e .demo/.made ]; then \
			echo "no Claude Code logs found in $$*; making some up in .demo"; \
			rm -rf .demo; mkdir .demo; \
			$(BIN)/cclake demo .demo/logs --mb 5 --seed 1 --json > .demo/truth.json; \
			touch .demo/.made; \
		fi; \
		$(BIN)/cclake sync --logs .demo/logs$$where || [ $$? -eq 1 ]; \
	fi; \
	$(BIN)/cclake query '$(FIRST_QUESTION)'$$where; \
	echo "cost_usd is logged usage at list price, not a bill; on a subscription an equivalent"; \
	echo "next: $(BIN)/cclake status$$where; README.md has more to ask"

test: lint types ## everything a change must pass: lint, types, tests (slow ones: make faults)
	$(SAY) "pytest"
	@$(BIN)/python -m pytest -q -n $(WORKERS) -m 'not slow'

GROUP ?=
# Beside the faults themselves: what holds for all inputs, with many more of them, and what is slow.
THOROUGH = tests/test_properties.py tests/test_spend.py $(shell grep -l mark.slow tests/test_*.py)

faults: $(INSTALLED) gear ## inject every fault, slow ones too: GROUP=power for tests/faults/test_power*.py
	@EXAMPLES=10 $(BIN)/python -m pytest -q -n $(WORKERS) --maxschedchunk 1 --skips-fail \
		$(if $(GROUP),$(wildcard tests/faults/test_$(GROUP)*.py),tests/faults $(THOROUGH))

gear: $(INSTALLED) ## install what the faults need (Debian, as root), or say what is missing
	@$(BIN)/python -m tests.faults.gear

lint: $(INSTALLED) ## ruff: rules and format
	$(SAY) "ruff"
	@$(BIN)/ruff check $(if $(QUIET),-q)
	@$(BIN)/ruff format --check $(if $(QUIET),-q)

types: $(INSTALLED) ## mypy, strict
	$(SAY) "mypy"
	@$(BIN)/mypy $(if $(QUIET),--no-error-summary)

fix: $(INSTALLED) ## format, and mend what ruff can mend
	@$(BIN)/ruff check --fix $(if $(QUIET),-q)
	@$(BIN)/ruff format $(if $(QUIET),-q)

golden: $(INSTALLED) ## write the expected results again; read the diff before you keep it
	@$(BIN)/python -m pytest tests/test_golden.py tests/pages --rewrite-golden -q

docs: $(INSTALLED) ## write sql/README.md from the SQL headers, and the answers in sql/QUESTIONS.md
	@$(BIN)/cclake views --docs sql/README.md
	@$(BIN)/python -m tests.questions

LOGS ?= $(HOME)/.claude

real: $(INSTALLED) ## account for every line of real logs: LOGS=DIR (~/.claude), read only
	@$(BIN)/python -m tests.real $(LOGS)

bench: $(INSTALLED) ## measure on a made-up tree of MB megabytes (MB=200), or answers of WAREHOUSE
	@$(BIN)/python -m tests.benchmarks$(if $(WAREHOUSE),.answers $(WAREHOUSE), $(MB))

SECONDS ?= 60

# atheris steers by coverage; it has no wheel for every Python, so it is a guest in .fuzz.
fuzz: $(INSTALLED) ## change lines at random for SECONDS (60) and look for one that is read wrongly
	@[ -e .fuzz/atheris ] || $(PIP) install --no-deps --target .fuzz/atheris atheris==3.0.0 2>/dev/null \
		|| { mkdir -p .fuzz/atheris; echo "no atheris for this Python; Hypothesis alone looks"; }
	@PYTHONPATH=.fuzz/atheris $(BIN)/python -m tests.fuzz $(SECONDS)

prices: $(INSTALLED) ## write etl/prices/others.toml from the newest genai-prices (GENAI=0.2.2)
	@$(BIN)/python -m tests.prices.refresh $(GENAI) $(if $(WHEELS),--wheels $(WHEELS))

prices-diff: $(INSTALLED) ## the Claude book beside two libraries; a difference needs a reason
	@$(BIN)/python -m tests.prices.differences $(if $(WHEELS),--wheels $(WHEELS))

lock: $(INSTALLED) ## resolve the newest releases into requirements.lock
	@$(BIN)/python -m uv --version >/dev/null 2>&1 || $(PIP) install uv
	@$(BIN)/python -m uv pip compile pyproject.toml --group dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header \
		--upgrade --quiet --output-file requirements.lock
	$(SAY) "requirements.lock is new; make setup installs it"

clean: ## remove what make made
	@rm -rf $(VENV) .demo .bench .fuzz .mypy_cache .pytest_cache .ruff_cache .hypothesis dist build
	@find etl tests -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
