# Everything runs from .venv, which scripts/bootstrap makes from the lock files; once made, nothing needs the network.
SHELL := /bin/sh
VENV ?= .venv
export VENV
BIN := $(VENV)/bin

.PHONY: help demo test check format docs bench soak lock clean
.DEFAULT_GOAL := help

help: ## what can be made
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' Makefile

demo: ## sync the sample handbook and ask it three questions
	@scripts/bootstrap run
	@$(BIN)/python scripts/demo

# Root has what is missing installed, so no test may be skipped for want of it; FONTE_REQUIRE_BROWSER=0 and
# FONTE_REQUIRE_OCR=0 let it be.
ifeq ($(shell id -u),0)
test: export FONTE_REQUIRE_BROWSER ?= 1
test: export FONTE_REQUIRE_OCR ?= 1
endif
test: ## check, then every test but the soak ones
	@scripts/bootstrap dev
	@scripts/programs
	@scripts/check
	@$(BIN)/python -m pytest -q $(TESTS)

check: ## lint, format, types, import contracts
	@scripts/bootstrap dev
	@scripts/check

format: ## format in place
	@scripts/bootstrap dev
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: ## the documentation as a site, in site/
	@scripts/bootstrap dev
	@$(BIN)/mkdocs build --strict --quiet

bench: ## speed, on this machine
	@scripts/bootstrap dev
	@$(BIN)/python bench/run.py

soak: ## the tests that take minutes: kills, faults, long runs
	@scripts/bootstrap dev
	@$(BIN)/python -m pytest -q -m soak --timeout=3600 $(TESTS)

lock: ## write the lock files anew (needs uv and the network)
	@scripts/lock $(LOCKFLAGS)

SBOM ?= dist/fonte.cdx.json
sbom: ## write the bill of materials of a release (CycloneDX)
	@mkdir -p $(dir $(SBOM))
	@$(BIN)/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --output-reproducible -o $(SBOM)

clean: ## remove caches and the demo's home; .venv stays
	@rm -rf .fonte-demo site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	@find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +
