# The whole developer interface. Every target sets up what it needs.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help venv proto demo demo-node demo-node-down test test-all test-affected shards check bench bench-cluster bench-reports bench-downloads bench-boots pictures engines image image-check docs kubernetes-types cluster cluster-real cluster-down machineadm constraints clean

help: ## Show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | column -ts $$'\t'

.venv/ready: pyproject.toml sdk/python/pyproject.toml sdk/python/hatch_build.py constraints.txt tools/protogen.py tools/errorgen.py $(wildcard proto/slipway/v1alpha1/*) $(wildcard proto/slipway/conformance/v1alpha1/*)
	@echo "setting up .venv (once)"
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) has no venv: apt-get install python3-venv" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r constraints.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable sdk/python --editable .
	@touch $@

venv: .venv/ready ## Make the virtual environment .venv with everything in it

demo-node: .venv/ready ## Boot three real nodes from nothing but user data, and leave them running
	@$(BIN)/python -m tools.node check
	@echo "building what a node consists of: a quarter of an hour the first time, then nothing"
	@$(BIN)/python -m tools.oracles.build node-1.34
	@$(BIN)/python -m tools.node.demo

demo-node-down: .venv/ready ## Switch the nodes of the demo off; nothing of them is left
	@$(BIN)/python -m tools.node.demo down

proto: .venv/ready ## Generate the code of the contract again; that for Go needs Go
	@$(BIN)/python tools/protogen.py
	@if command -v go >/dev/null; then cd sdk/go && go generate .; fi

demo: .venv/ready ## Run the main job: four provisioners, every example machine
	@$(BIN)/python -m tools.demo

# Tests that wait for a program leave a processor idle, so that three processes take less time on two than two do.
# Bytecode is kept also where the environment asks for none: else each program that a test starts compiles everything.
test: export PYTHONDONTWRITEBYTECODE :=
test: .venv/ready ## Run the tests of the sources, and of programs that are built; what takes long is left to test-affected and test-all
	@$(BIN)/python -m pytest -q -n 3 --dist loadgroup --quick $(TEST_OPTIONS)

engines: .venv/ready ## Build the real engines (Debian packages, Go)
	@$(BIN)/python -m tools.oracles.build

machineadm: .venv/ready ## Build the node agent for every platform into dist/machineadm; needs Go
	@$(BIN)/python -m tools.oracles.machineadm dist/machineadm

image: .venv/ready ## Build the image of all services with podman, and the real docker compose
	@$(BIN)/python -m tools.image build

image-check: image ## Run the compose file with it, try what it promises, take everything down
	@$(BIN)/python -m tools.image check

test-all: .venv/ready ## Run all tests with every engine, and record which suites passed in full
	@$(BIN)/python -m tools.shards all

test-affected: .venv/ready ## Run the suites of real programs that a change can affect, and record which passed
	@$(BIN)/python -m tools.shards affected

shards: .venv/ready ## Show these suites: when each last passed in full, and whether it is affected
	@$(BIN)/python -m tools.shards list

check: .venv/ready ## Lint, format, types, import rules, contract, the map of the shards, words
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/buf lint
	@$(BIN)/buf breaking --against proto/baseline.binpb
	@$(BIN)/python -m tools.shards check
	@$(BIN)/python -m tools.words check

bench: .venv/ready ## Measure speed and size
	@$(BIN)/python -m tools.bench

bench-reports: .venv/ready ## Measure how a node gateway receives reports of machines
	@$(BIN)/python -m tools.bench.reports

bench-downloads: .venv/ready ## Measure how machines download from a node gateway
	@$(BIN)/python -m tools.bench.downloads

bench-boots: .venv/ready ## Measure boots of a real node by delivery and executor; root
	@$(BIN)/python -m tools.oracles.build node-1.34 machineadm
	@$(BIN)/python -m tools.bench.boots

bench-cluster: .venv/ready ## Measure bootstrap providers in a real management cluster
	@$(BIN)/python -m tools.oracles.build cluster cluster-api-1.14-kubeadm-bootstrap
	@$(BIN)/python -m tools.bench.cluster

docs: .venv/ready ## Generate the reference pages and the custom resource definitions again
	@$(BIN)/python -m tools.docgen
	@$(BIN)/python -m tools.crdgen

pictures: .venv/ready ## Take the pictures of the web page in docs/images again
	@$(BIN)/python -m tools.oracles.build browser
	@SLIPWAY_WRITE_PICTURES=1 $(BIN)/python -m pytest -q tests/services/node_gateway/web/test_pictures.py

kubernetes-types: .venv/ready ## Write the table of Kubernetes' types again, from its Go modules; needs Go
	@$(BIN)/python -m tools.kubernetes_types

cluster: .venv/ready ## Start a management cluster with Cluster API and Slipway on loopback, in the background
	@$(BIN)/python -m tools.cluster up --slipway

cluster-real: .venv/ready ## The same with a real node behind each Machine; root
	@$(BIN)/python -m tools.cluster up --slipway --real-machines

cluster-down: .venv/ready ## End it
	@$(BIN)/python -m tools.cluster down

conformance: .venv/ready ## Run the conformance suite on our provisioners, and keep their reports
	@$(BIN)/python -m tools.conformance_reports

constraints: .venv/ready ## Pin the newest versions that pyproject.toml allows, with hashes
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-package slipway-sdk --no-annotate --no-header --quiet --upgrade --output-file constraints.txt
	@$(BIN)/uv pip compile pyproject.toml --extra directory --extra otlp --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-package slipway-sdk --no-annotate --no-header --quiet --constraint constraints.txt --output-file runtime.txt

clean: ## Remove everything that was generated
	rm -rf .venv build dist out sdk/python/build
