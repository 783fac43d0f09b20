PYTHON ?= python

.PHONY: check format test slow

check: ## what must be clean before you stop
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTHON) -m pytest -q

format: ## put the code in shape
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

test:
	$(PYTHON) -m pytest -q

slow: ## every test there is
	SLOW=1 FACTS_ALL=1 $(PYTHON) -m pytest -q
