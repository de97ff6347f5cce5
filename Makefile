# Everything works on a fresh clone, without a virtual environment. PYTHON: 3.11 or later; ARGS go to the command;
# WORKERS is how many processes run the tests, each a file at a time (much of the suite waits for other processes).
PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin

.PHONY: install up test check fuzz

install:
	@$(PYTHON) install.py

up: install
	@exec $(BIN)/fusescope up $(ARGS)

test:
	@$(PYTHON) install.py --dev
	@exec $(BIN)/pytest -n $(WORKERS) --dist loadfile $(ARGS)

check:
	@$(PYTHON) install.py --dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy install.py
	$(BIN)/lint-imports

# 20,000 hostile traces through the reader; ARGS="--inputs N --seed N" for more, or the same ones again.
fuzz:
	@$(PYTHON) install.py --dev
	@exec $(BIN)/python -m tests.fuzzing $(ARGS)
