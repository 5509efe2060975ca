# Every target sets itself up: a fresh machine needs Python 3.11 and make.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/
INSTALLED := $(VENV)/.ready
# Installed in place, the package follows its sources; the relay, a program, is made again when they change.
READY := $(VENV)/.relay
RELAY := src/hookline/hook/relay
CHECK_PYTHON := $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Hookline needs Python 3.11 or newer; say make PYTHON=python3.11")'

.DEFAULT_GOAL := help
.PHONY: help demo test lint house format bench soak clients test-adapters test-console pictures generate package release-check site watch clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(INSTALLED): pyproject.toml requirements/dev.txt requirements/constraints.txt
	@echo "setting up $(VENV) (a minute, once) ..."
	@$(CHECK_PYTHON)
	@$(PYTHON) -m venv $(VENV)
	@$(RUN)pip install -qq --disable-pip-version-check -c requirements/constraints.txt -e '.[agent,console,fleet,serve,otel]' -r requirements/dev.txt
	@touch $(INSTALLED)

$(READY): $(INSTALLED) $(RELAY)/relay.c $(RELAY)/start.sh $(RELAY)/shell.sh $(RELAY)/observed.txt $(RELAY)/build.py
	@$(RUN)python -m hookline.hook.relay.build $(RUN)hookline-relay
	@touch $(READY)

# The demo needs the package alone: 40 MB and some seconds, where the environment of developers is not there yet.
$(VENV)/.demo:
	@if [ -e $(INSTALLED) ]; then exit 0; fi; \
	$(CHECK_PYTHON) && echo "[1/2] making an environment in $(VENV) ..." && $(PYTHON) -m venv $(VENV) && \
	echo "[2/2] installing Hookline and the five packages it needs ..." && \
	$(RUN)pip install -q --disable-pip-version-check -c requirements/constraints.txt -e . && touch $@

demo: $(VENV)/.demo  ## an agent at work under the hooks of six agents
	@$(RUN)python examples/demo.py

# With bytecode kept, also where it is switched off: a second run does not compile all tests again.
test: export PYTHONDONTWRITEBYTECODE =
test: $(READY)  ## all tests, in about four minutes on two cores
	@$(RUN)python -m tools.run_tests

lint: $(READY)  ## format, lint, types
	@$(RUN)ruff format --check .
	@$(RUN)ruff check .
	@$(RUN)pyright
	@$(RUN)mypy

house: $(READY)  ## the laws of the layout (layers, dialects), which must hold, and figures about it
	@$(RUN)lint-imports
	@$(RUN)python -m tools.house

format: $(READY)  ## put the code into its form
	@$(RUN)ruff format .
	@$(RUN)ruff check --fix .

pictures: $(READY)  ## the pictures of the README, from a real run; the console needs Chromium
	@$(RUN)python -m tools.pictures

generate: $(READY)  ## write the schemas and the reference pages from the tables
	@$(RUN)python -m tools.generate

bench: $(READY)  ## what things cost, as ratios; AGAINST=DIR compares with another checkout, in turns
	@$(RUN)python -m bench $(if $(AGAINST),--against $(AGAINST))

soak: $(READY)  ## the long runs, at full counts; fails when a goal is missed
	@$(RUN)python -m bench.soak

clients: $(READY)  ## the real agents with Hookline as their hook and a scripted model; from npm, in .clients
	@$(RUN)python -m tools.clients $(CASES)

test-adapters: $(READY)  ## each adapter with its framework, in environments of their own in .adapters
	@$(RUN)python -m tools.adapters $(ADAPTERS)

test-console: $(READY)  ## the console in a real browser; screenshots go to .console
	@$(RUN)python -m tools.console $(ARGS)

package: $(READY)  ## a wheel and an sdist in dist/, each installed in a clean environment and tried out
	@$(RUN)python -m tools.package

site: $(READY)  ## the documentation site in .site/html, with search; ARGS=--browser looks at it in Chromium
	@$(RUN)python -m tools.site $(ARGS)

watch: $(READY)  ## what agents have changed since our tables were written; from npm, without running them
	@$(RUN)python -m tools.watch $(AGENTS)

release-check: $(READY)  ## all that a release needs: every Python, metadata, checksums, SBOM, notes; in dist/
	@$(RUN)python -m tools.release

clean:
	rm -rf $(VENV) .clients .adapters .console .site dist .pytest_cache .ruff_cache .mypy_cache .hypothesis .coverage*
