PYTHON ?= python

.PHONY: check format test slow

check: ## what must be clean before you stop: all but the tests that `.ci/run` adds
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTHON) -m pytest -q -m "not ci" -n auto --dist worksteal

format: ## put the code in shape
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

test: ## every test but the slow ones, as `.ci/run` runs them
	$(PYTHON) -m pytest -q -n auto --dist worksteal

slow: ## every test there is
	SLOW=1 FACTS_ALL=1 $(PYTHON) -m pytest -q
