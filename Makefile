# specviz: `make` lists the targets. All of them work in .venv, which they make when it is needed.

# 3.11, 3.12 or 3.13; without one named, scripts/python.sh finds it
PYTHON ?=
SPECVIZ_PORT ?= 8501
ARGS ?=
# pytest's processes: one has the tests with browsers, and the others use what it and the servers
# leave idle of two cores
WORKERS ?= 3

BIN := .venv/bin
# Tests start hundreds of Python processes: what one has compiled, the next ones read.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/pytest
# Browsers and servers begin first: by the number of their tests, what takes minutes would come last.
IN_ORDER := --no-loadscope-reorder
# The environment is complete when this file exists: another lock or another project file gives
# another name, so a changed lock is installed by the next `make run` or `make test`.
INPUTS := Makefile scripts/install.sh pyproject.toml $(wildcard requirements/*.lock)
STAMP := .venv/.installed-$(shell cat $(INPUTS) | sha256sum | cut -c1-16)

.DEFAULT_GOAL := help
.PHONY: help install run test test-slow test-long test-pythons lint format bench lock

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

install: $(STAMP) ## .venv from the lock that fits this machine

$(STAMP):
	@scripts/install.sh $(PYTHON)
	@rm -f .venv/.installed-*
	@touch $@

run: $(STAMP) ## the app on 127.0.0.1:8501 (SPECVIZ_PORT, SPECVIZ_STORE)
	$(BIN)/streamlit run app.py --server.port $(SPECVIZ_PORT)

test: $(STAMP) ## every feature, with real servers and browsers (ARGS="-k name")
	@scripts/chromium.sh
	@scripts/postgres.sh
	@scripts/triton.sh
	$(PYTEST) -n $(WORKERS) $(IN_ORDER) $(ARGS)

test-slow: $(STAMP) ## what takes minutes, and the second case of each kind
	@scripts/chromium.sh
	@scripts/postgres.sh
	@scripts/triton.sh
	$(PYTEST) -m slow -n $(WORKERS) $(IN_ORDER) $(ARGS)

test-long: $(STAMP) ## 100,000 draws of every method, before a release
	$(PYTEST) -m long -n $(WORKERS) $(ARGS)

test-pythons: $(STAMP) ## the unit tests in a second Python, in .venv-3.12 or -3.13 (PYTHON)
	scripts/test_pythons.sh $(PYTHON) -- $(ARGS)

lint: $(STAMP) ## ruff and mypy, changing nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP) ## what ruff can put right by itself
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP) ## every documented performance figure, measured again (ARGS=NAME)
	$(BIN)/python -m benchmarks $(ARGS)

lock: $(STAMP) ## the locks again, from requirements.txt and requirements/dev.txt (ARGS=--upgrade)
	scripts/lock.sh $(ARGS)
