# The commands of this project; `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

CACHE ?= $(or $(NEXUS_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/nexus-operator)
TOOLS := $(CACHE)/tools
CONTROLLER_GEN_VERSION := v0.23.0
STATICCHECK_VERSION := v0.8.2
GOLANGCI_VERSION := v2.15.0
CONTROLLER_GEN := $(TOOLS)/controller-gen-$(CONTROLLER_GEN_VERSION)
STATICCHECK := $(TOOLS)/staticcheck-$(STATICCHECK_VERSION)
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
# Rooms in which data races would hurt most; their tests run with the race detector.
# The race detector needs a C compiler on Linux, which is no prerequisite.
RACE_FLAG = $(if $(shell command -v $$(go env CC)),-race)
RACE := ./internal/engine/... ./internal/controller/... ./internal/apply/... ./internal/awsclient/...

.PHONY: help
help: ## List the commands.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 16

.PHONY: build
build: ## Build the operator into bin/.
	go build -trimpath -o bin/nexus-operator ./cmd/nexus-operator

.PHONY: bed
bed: ## Build the test bed's control plane and AWS emulator, once, into the cache.
	@cd dev && go run ./bed

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Regenerate deep copies, resource definitions and the operator's role.
	$(CONTROLLER_GEN) object paths=./api/...
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=config/crd/bases
	$(CONTROLLER_GEN) rbac:roleName=nexus-operator paths=./internal/controller output:rbac:dir=config/rbac

.PHONY: verify
verify: generate ## Fail when generated files are not up to date.
	@git diff --exit-code -- api config || { echo 'generated files differ: run make generate and commit'; exit 1; }
	@test -z "$$(git status --porcelain -- api config)" || { git status --short -- api config; echo 'generated files are not committed'; exit 1; }

.PHONY: vet
vet: $(STATICCHECK) ## Formatting, go vet and staticcheck.
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run gofmt'; exit 1; }
	go vet ./...
	$(STATICCHECK) ./...

.PHONY: lint
lint: vet $(GOLANGCI) ## vet and golangci-lint.
	$(GOLANGCI) run ./...

.PHONY: test
test: bed ## Run every test; the control plane and AWS are real and emulated, nothing is mocked.
	@# Never a cached answer: what builds the operator's binary does not import what it is built of.
	go test -count=1 -timeout 25m $$(go list ./... | grep -vE '$(subst $(eval ) ,|,$(patsubst ./%/...,/%(/|$$),$(RACE)))')
	go test -count=1 -timeout 25m $(RACE_FLAG) -coverprofile=cover.out $(RACE)

.PHONY: bench
bench: bed ## Measure: times are reported, writes are judged.
	go test -run '^$$' -bench . -benchtime 3x -timeout 25m ./test/bench/...

.PHONY: budgets
budgets: ## Measure sizes, complexity, duplication and coverage against the design's budgets.
	@./test/house/budgets.sh $(wildcard cover.out)

.PHONY: demo
demo: bed build ## Bring up a local world, the operator and three capabilities; leaves it running.
	@go run ./test/demo up -f examples/test-capability.yaml -f examples/nexus-ai-complete.yaml

.PHONY: demo-down
demo-down: ## Stop what demo started.
	@go run ./test/demo down

$(CONTROLLER_GEN):
	@echo "building controller-gen $(CONTROLLER_GEN_VERSION)"
	@mkdir -p $(TOOLS) && t=$$(mktemp -d) && GOBIN=$$t GOFLAGS= go install sigs.k8s.io/controller-tools/cmd/controller-gen@$(CONTROLLER_GEN_VERSION) && mv $$t/controller-gen $@

$(STATICCHECK):
	@echo "building staticcheck $(STATICCHECK_VERSION)"
	@mkdir -p $(TOOLS) && t=$$(mktemp -d) && GOBIN=$$t GOFLAGS= go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION) && mv $$t/staticcheck $@

$(GOLANGCI):
	@echo "building golangci-lint $(GOLANGCI_VERSION)"
	@mkdir -p $(TOOLS) && t=$$(mktemp -d) && GOBIN=$$t GOFLAGS= go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION) && mv $$t/golangci-lint $@
