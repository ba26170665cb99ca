# Everything needs only Python 3.11+ (with venv and pip) and make. `make help` lists the commands.
PYTHON ?= python3
DEV := $(PYTHON) scripts/dev.py
NAME ?=
ROOM ?=

.DEFAULT_GOAL := help
.PHONY: help up test test-fast soak bench release image fmt clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

up: ## Set up and start Steward (PORT=, HOST=, STEWARD_HOME= may be given)
	@$(DEV) up $(if $(HOST),--host $(HOST)) $(if $(PORT),--port $(PORT))

test: ## Everything: format, lint, types, imports, tests, web, browser; ROOM=store: what a change there can break
	@$(DEV) test $(ROOM)

test-fast: ## The inner loop: lint, types and the quick tests on SQLite
	@$(DEV) test-fast

soak: ## Long runs with their full numbers, and batteries of further cases: make soak NAME=crash
	@$(DEV) soak $(NAME)

bench: ## Benchmarks beside their peers: make bench NAME=startup, or all of them
	@$(DEV) bench $(NAME)

release: ## Build wheel, sdist, SBOM and checksums into dist/, and try the wheel in an empty environment
	@$(PYTHON) -m scripts.release

image: ## Build the container image from dist/ (BASE=, OPTIONS= may be given)
	@$(PYTHON) -m scripts.release --image $(if $(BASE),--base $(BASE)) $(OPTIONS)

fmt: ## Format Python and web sources, refresh generated files
	@$(DEV) fmt

clean: ## Remove what set-up and tests made; keeps ./.steward, your data
	@$(DEV) clean
