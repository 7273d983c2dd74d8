# The commands of this project; `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

comma := ,
CACHE ?= $(or $(NEXUS_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/nexus-operator)
TOOLS := $(CACHE)/tools
CONTROLLER_GEN_VERSION := v0.23.0
STATICCHECK_VERSION := v0.8.2
GOLANGCI_VERSION := v2.15.0
DEADCODE_VERSION := v0.40.0
CONTROLLER_GEN := $(TOOLS)/controller-gen-$(CONTROLLER_GEN_VERSION)
STATICCHECK := $(TOOLS)/staticcheck-$(STATICCHECK_VERSION)
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
DEADCODE := $(TOOLS)/deadcode-$(DEADCODE_VERSION)
# Rooms in which data races would hurt most; their tests run with the race detector.
# The race detector needs a C compiler on Linux, which is no prerequisite.
RACE_FLAG = $(if $(shell command -v $$(go env CC)),-race)
RACE := ./internal/engine/... ./internal/controller/... ./internal/awssession/... ./internal/apply/... ./internal/awsclient/...
# A package is covered by the tests of every package of the set: those of internal/controller run the reconcilers together.
COVERED := $(subst $(eval ) ,$(comma),$(RACE))

# Both tags leave out code through which any method of any type could be called: with it the linker keeps every method of
# every AWS client, and the binaries are more than twice as large (docs/adr/0038).
BUILD_TAGS := grpcnotrace,kustomize_disable_go_plugin_support

.PHONY: help
help: ## List the commands.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 16

.PHONY: build
build: ## Build the operator and nexusctl into bin/.
	go build -trimpath -tags $(BUILD_TAGS) -ldflags '-s -w' -o bin/nexusctl ./cmd/nexusctl
	go build -trimpath -tags $(BUILD_TAGS) -ldflags '-s -w' -o bin/nexus-operator ./cmd/nexus-operator

.PHONY: image
image: ## Build the container image for amd64 and arm64 into bin/image, an OCI layout with its SPDX documents; prints the digest.
	@go -C dev/image run . build ../.. ../../bin/image

.PHONY: bed
bed: ## Build the test bed's control plane and AWS emulator, once, into the cache.
	@cd dev && go run ./bed

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Regenerate deep copies, definitions, role, admission policy, the pages of metrics, error codes and kinds, the chart's and plain manifests, and the copy of the test bed's builder.
	$(CONTROLLER_GEN) object paths=./api/...
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=config/crd/bases
	$(CONTROLLER_GEN) rbac:roleName=nexus-operator paths=./internal/controller output:rbac:dir=config/rbac
	go run ./config/admission
	go run ./internal/metrics/document docs/metrics.md
	go run ./internal/status/document docs/errors.md
	go run ./config/crd/document examples docs/reference
	go -C dev/chart run . generate ../..
	go run ./internal/devworld/programs/copy dev internal/devworld/programs/module

# Folders and files that are generated.
GENERATED := api config charts manifests docs/metrics.md docs/errors.md docs/reference internal/devworld/programs/module

.PHONY: verify
verify: generate ## Fail when generated files are not up to date.
	@git diff --exit-code -- $(GENERATED) || { echo 'generated files differ: run make generate and commit'; exit 1; }
	@test -z "$$(git status --porcelain -- $(GENERATED))" || { git status --short -- $(GENERATED); echo 'generated files are not committed'; exit 1; }

.PHONY: vet
vet: $(STATICCHECK) ## Formatting, go vet and staticcheck.
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run gofmt'; exit 1; }
	go vet ./...
	go -C dev/chart vet ./...
	go -C dev/gitops vet ./...
	go -C dev/image vet ./...
	go -C dev/promtool vet ./...
	$(STATICCHECK) ./...

.PHONY: lint
lint: vet $(GOLANGCI) $(DEADCODE) ## vet, golangci-lint, dead code, and the budgets of sizes and complexity.
	./test/house/budgets.sh
	$(GOLANGCI) run ./...
	./test/house/deadcode.sh $(DEADCODE)
	go run ./test/house/planted $(GOLANGCI) $(STATICCHECK)

.PHONY: test
test: bed ## Run every test; the control plane and AWS are real and emulated, nothing is mocked.
	@# What takes seconds comes first, so that it fails before half an hour has passed.
	go -C dev/chart test -count=1 ./...
	go -C dev/gitops test -count=1 ./...
	@# Never a cached answer: what builds the operator's binary does not import what it is built of. The package that takes
	@# longest, and mostly waits, starts first.
	go test -count=1 -timeout 40m ./test/e2e $$(go list ./... | grep -v '/test/e2e$$' | grep -vE '$(subst $(eval ) ,|,$(patsubst ./%/...,/%(/|$$),$(RACE)))')
	go -C dev/image test -count=1 -timeout 25m ./...
	go -C dev/promtool test -count=1 -timeout 25m ./...
	go test -count=1 -timeout 25m $(RACE_FLAG) -coverprofile=cover.out -coverpkg=$(COVERED) $(RACE)

.PHONY: bench
bench: bed ## Measure: times are reported; calls, writes, CPU and memory are judged.
	go test -run '^$$' -bench . -skip '$(BENCH_ONCE)' -benchtime 3x -timeout 25m ./test/bench/...
	go test -run '^$$' -bench '$(BENCH_ONCE)' -benchtime 1x -timeout 60m ./test/bench/...

# Benchmarks of many objects, which run once.
BENCH_ONCE = Idle|Buckets|Capabilities|Shards

.PHONY: budgets
budgets: ## Measure sizes, complexity, duplication and coverage against the design's budgets.
	@./test/house/budgets.sh $(wildcard cover.out)

.PHONY: docs
docs: ## Build the documentation, a site and a PDF, into bin/docs; fails on broken links.
	@NEXUS_CACHE='$(CACHE)' dev/docs/build

.PHONY: screenshots
screenshots: bed ## Run the demo for several minutes and draw the pictures of the documentation, docs/images, from it.
	@NEXUS_CACHE='$(CACHE)' dev/docs/screenshots

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

$(DEADCODE):
	@echo "building deadcode $(DEADCODE_VERSION)"
	@mkdir -p $(TOOLS) && t=$$(mktemp -d) && GOBIN=$$t GOFLAGS= go install golang.org/x/tools/cmd/deadcode@$(DEADCODE_VERSION) && mv $$t/deadcode $@
