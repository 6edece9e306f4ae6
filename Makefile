# `make` alone lists what can be done. Everything here works without a terminal, as root,
# and without a home directory; `make check test` is what continuous integration runs.

SHELL := /bin/sh
.SUFFIXES:
.DEFAULT_GOAL := help

# Go is often installed here without being on the PATH of a shell that sudo or cron starts.
export PATH := $(PATH):/usr/local/go/bin

# Go and the linters keep their caches in the home directory. Without one they get a
# folder of this tree, which git ignores.
ifneq ($(shell test -n "$$HOME" && test -d "$$HOME" && test -w "$$HOME" && echo yes),yes)
export HOME := $(CURDIR)/.cache/home
$(shell mkdir -p "$(HOME)")
endif

# A checkout that git refuses to read (another owner) is built without its revision.
VCS := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo true || echo false)

LINT := go tool -modfile=tools/go.mod golangci-lint

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/sandkeeper
	go build -trimpath -buildvcs=$(VCS) -o bin/sandkeeper ./cmd/sandkeeper

.PHONY: test
test: ## run all tests with the race detector, against a PostgreSQL they start
	@tools/setup.sh --tests
	CGO_ENABLED=1 go test -race -timeout 10m ./...

.PHONY: test-replicas
test-replicas: ## kill replicas of the daemon at random for FOR (60s) and audit what they did
	@tools/setup.sh
	go test -count=1 -v -timeout 0 -run '^TestReplicasAreKilled$$' ./cmd/sandkeeper -for $(or $(FOR),60s)

.PHONY: check
check: format vet lint generated ## formatting, vet, linters, generated files: all but the tests

.PHONY: demo
demo: ## a scripted day of incidents on a private PostgreSQL and simulated providers
	@SANDKEEPER_TEST_DATABASE_URL= tools/setup.sh # it starts a server of its own
	@$(MAKE) --no-print-directory build
	@bin/sandkeeper demo

.PHONY: bench
bench: ## run the benchmarks
	@tools/setup.sh
	go test -run '^$$' -bench . -benchmem -timeout 30m ./...

.PHONY: bench-daemon
bench-daemon: ## measure the daemon: idle cost, memory, detection, takeover (5 minutes)
	@tools/setup.sh
	@for bar in Idle Detection Takeover; do \
		go test -count=1 -v -timeout 30m -run "^TestBars$$bar$$" ./cmd/sandkeeper -bars || exit 1; done

.PHONY: screenshot
screenshot: ## take the picture of the page that README.md shows
	@tools/setup.sh --tests
	@mkdir -p docs
	SANDKEEPER_SCREENSHOT=$(CURDIR)/docs/page.png go test -count=1 -run '^TestPageOfABusyDay$$' ./cmd/sandkeeper

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (10s)
	@tools/setup.sh
	tools/fuzz.sh

.PHONY: generate
generate: ## write the generated files anew
	go generate ./...

.PHONY: lint
lint: ## run the linters of .golangci.yaml
	$(LINT) run ./...

.PHONY: clean
clean: ## remove what was built here
	@if [ -d .cache ]; then chmod -R u+w .cache; fi
	rm -rf bin .cache

.PHONY: format
format:
	@wrong=$$(find . -name '*.go' -not -path './.*' -exec gofmt -l {} +) && \
		if [ -n "$$wrong" ]; then printf 'not formatted, run gofmt -w on them:\n%s\n' "$$wrong" >&2; exit 1; fi

.PHONY: vet
vet:
	go vet ./...

.PHONY: generated
generated:
	tools/generated.sh
