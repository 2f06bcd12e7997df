# Needs make and Python 3.11 or newer; everything else goes into .venv (see tools/set_up.py).
# ARGS is passed on: make demo ARGS="--port 8123", make test ARGS="tests/evaluator -k overlap".

ARGS ?=
# On Debian, its own before any other `python3`, if its package python3-venv is there: it is compiled with optimisations,
# which pyenv leaves out by default, and takes a sixth less time.
DEBIAN_PYTHON = $(and $(wildcard /etc/debian_version),$(wildcard /usr/lib/python3*/ensurepip),/usr/bin/python3)
PYTHON ?= $(or $(shell for python in $(DEBIAN_PYTHON) \
	python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; \
	done),python3)
COMPILE = .venv/bin/uv pip compile pyproject.toml server/pyproject.toml --no-emit-package vocboard --quiet --no-config --universal --python-version 3.11 \
	--generate-hashes --no-annotate --prerelease if-necessary \
	--custom-compile-command "make lock" --group build

# What Python has compiled is kept: the tests start hundreds of Python processes.
unexport PYTHONDONTWRITEBYTECODE

# A test that hangs is stopped after this many seconds, fixtures included, and fails with the stacks of its threads; 0: never.
export PYTEST_TIMEOUT ?= 300
# One that cannot even be stopped ends its process, which is replaced.
STUCK = -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true

TEST_PROCESSES ?= $(shell $(PYTHON) -c 'import os; print(min(4, (os.cpu_count() or 1) + 1))')

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-long test-pythons soak bench growth docs pictures statistics-pictures lint format lock deploy-env pin-images set-up set-up-server

help: ## list what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' Makefile

demo: set-up-server ## a whole server on this machine, with results to look at, until Ctrl-C
	@exec .venv/bin/vocboard demo $(ARGS)

# One process more than the machine has processors (at most 4): tests wait for servers, too; those of `make test` do not.
# A file's tests stay in one process: sets of tests that processes take from each other cut files into pieces, and each
# piece starts the file's servers and databases again. tests/support/order.py says which files come first.
# tests/support/tiers.py says which tests each of these runs.
PYTEST = .venv/bin/pytest -n $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder

test: TEST_PROCESSES = $(shell $(PYTHON) -c 'import os; print(min(4, os.cpu_count() or 1))')
test: set-up ## the tests that run in one process, on SQLite, and a look at the pages in Chromium: in minutes
	@exec $(PYTEST) -m "not full and not long" $(ARGS)

test-all: set-up ## also PostgreSQL and Redis, several processes, Chromium, attacks, deployment: what CI runs
	@exec $(PYTEST) $(STUCK) -m "not long" $(ARGS)

test-long: set-up ## what searches for long: fuzzing (VOCBOARD_FUZZ_SECONDS for each reader), bombs, whole attacks
	@exec $(PYTEST) -m long $(ARGS)

test-pythons: set-up ## the tests that need no services, on the oldest and newest Python of this machine from 3.11 on
	@.venv/bin/python tools/other_pythons.py $(ARGS)

soak: set-up ## two machines under load and faults, then a count; ARGS="--seconds 1800 --seed 3" for longer
	@exec .venv/bin/python -m tests.soak $(ARGS)

bench: set-up ## ours next to peers and floors, in one table; ARGS="--quick" for a minute's worth
	@.venv/bin/python -m benchmarks $(ARGS)

growth: set-up ## how cost grows with detections, methods and workers, as tables and plots
	@.venv/bin/python -m benchmarks.growth $(ARGS)

pictures: set-up ## the pictures of docs/a-year.md, taken in Chromium
	@.venv/bin/python -m tools.year

statistics-pictures: set-up ## the pictures of docs/statistics.md
	@.venv/bin/python -m tools.statistics_pictures

docs: set-up ## the documentation as a site, with search, in .cache/docs/site
	@.venv/bin/python -m tools.docs_site

lint: set-up ## ruff's rules and format, and the type checker
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

format: set-up ## rewrite the code in ruff's format, with its safe fixes
	.venv/bin/ruff check --fix-only .
	.venv/bin/ruff format .

lock: set-up ## resolve the packages of both pyproject.toml again, keeping what still fits (ARGS=--upgrade: the newest)
	.venv/bin/python -m pip install --quiet "uv>=0.9"
	$(COMPILE) --group dev $(ARGS) --output-file requirements-dev.lock
	$(COMPILE) --constraints requirements-dev.lock --output-file requirements.lock
	@$(MAKE) set-up

deploy-env: ## .env with new secrets for docker compose: make deploy-env HOST=voc.example.org TLS=admin@example.org
	@$(PYTHON) tools/deploy_env.py "$(HOST)" "$(TLS)" '$(MAIL)'

pin-images: ## the images of Docker by digest, which asks their registries
	@$(PYTHON) tools/pin_images.py

set-up: ## .venv with all that development needs
	@$(PYTHON) tools/set_up.py development

set-up-server:
	@$(PYTHON) tools/set_up.py server
