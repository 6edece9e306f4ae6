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

# Packages tested at once: twice as many as there are processors, for many of them wait; in continuous integration, whose
# machine others may share, as many as there are.
SIDE_BY_SIDE := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * $(if $(CI),1,2) )))

# The newest one that can be built from modules alone.
GOVULNCHECK := v1.8.0

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/sandkeeper
	CGO_ENABLED=0 go build -trimpath -buildvcs=$(VCS) -o bin/sandkeeper ./cmd/sandkeeper

# What is shipped (deploy/Dockerfile): stripped, and without the default types of Go values that pgx
# registers for the two modes of queries that sandkeeper does not use. -tags nokubernetes and
# nodocker leave out the adapters with the heaviest clients, nomcp the tools for agents.
.PHONY: size
size: ## build what is shipped, whole and without Kubernetes, Docker and agents, and hold what a download of each may weigh
	@for line in "15000000" "12400000 nokubernetes,nodocker,nomcp"; do set -- $$line; \
		CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -tags "nopgxregisterdefaulttypes,$$2" \
			-o bin/shipped ./cmd/sandkeeper || exit 1; \
		size=$$(gzip -9 -c bin/shipped | wc -c); \
		printf '%s bytes compressed, at most %s: %s\n' "$$size" "$$1" "$${2:-everything}"; \
		[ "$$size" -le "$$1" ] || exit 1; done

.PHONY: test
test: ## run all tests with the race detector, against a PostgreSQL they start
	@tools/setup.sh --tests
	CGO_ENABLED=1 go test -race -timeout 25m -p $(SIDE_BY_SIDE) ./...

# The tests that cmd/sandkeeper/spared_test.go lists, and beside them the packages that ask test/raced how much to
# play, themselves or in the conformance suite of providers: the longest first, for it waits most of its time. Two
# tests have a target of their own: make sim, make guards.
.PHONY: test-whole
test-whole: ## without the race detector, what make test plays only in part or leaves out
	@tools/setup.sh
	go test -timeout 25m ./cmd/sandkeeper -spared & spared=$$!; \
	go test -timeout 25m -p $(SIDE_BY_SIDE) -skip '^Test(Simulation|Guards)$$' ./test/platforms \
		$$(grep -rlE --include='*_test.go' '/(test/raced|providertest)"' . | xargs -n 1 dirname | sort -u | \
		grep -vxE './cmd/sandkeeper|./test/platforms'); bad=$$?; \
	wait $$spared && exit $$bad

.PHONY: test-replicas
test-replicas: ## kill replicas of the daemon at random for FOR (60s) and audit what they did
	@tools/setup.sh
	go test -count=1 -v -timeout 0 -run '^TestReplicasAreKilled$$' ./cmd/sandkeeper -for $(or $(FOR),60s)

.PHONY: test-faults
test-faults: ## strike databases, network, provider and replicas with real faults, FOR (60s) of them at random
	@tools/setup.sh
	go test -count=1 -v -timeout 0 -run '^TestFaults$$' ./cmd/sandkeeper -faults -for $(or $(FOR),60s)

.PHONY: test-vendors
test-vendors: ## let the vendors' own clients drive our simulators, and judge what they made
	@tools/setup.sh
	@tools/vendors.sh
	go test -count=1 -v -timeout 15m -run '^TestVendors$$' ./test/vendors -vendors

.PHONY: test-worker
test-worker: ## the example Cloudflare Worker in the real Workers runtime, then the adapter against it (needs Node.js)
	cd deploy/cloudflare-worker && npm ci --ignore-scripts --loglevel=error && npm test
	go test -count=1 -timeout 5m -run '^TestWorker$$' ./providers/cloudflare -worker

.PHONY: test-engines
test-engines: test-engine-docker test-engine-kubernetes ## both of the next, on real engines

.PHONY: test-engine-kubernetes
test-engine-kubernetes: ## let the janitor keep a real Kubernetes cluster of one node, in which the chart is installed too (root; builds it once, minutes)
	@tools/setup.sh
	tools/engines-kubernetes.sh run go test -count=1 -v -p 1 -timeout 20m -run '^TestEngine(Kubernetes|Accepts|Runs)$$' ./cmd/sandkeeper ./deploy

.PHONY: test-engine-docker
test-engine-docker: ## break real containers of a Docker engine and of Podman, and repair them; starts both, as root
	@tools/setup.sh
	tools/engines-docker.sh go test -count=1 -v -timeout 30m -run '^TestEngineDocker$$' ./cmd/sandkeeper

.PHONY: test-upgrade
test-upgrade: ## let the version before this one keep a platform while this one migrates its ledger and takes over; FROM=COMMIT
	@tools/setup.sh
	tools/upgrade.sh go test -count=1 -v -timeout 15m -run '^TestUpgrade$$' ./cmd/sandkeeper

.PHONY: test-migration
test-migration: ## migrate a ledger with ROWS (1000000) lines of history in each large table, and measure what waits for it
	@tools/setup.sh
	go test -count=1 -v -timeout 30m -run '^TestMigrationOfALargeLedger$$' ./store/ledger -rows $(or $(ROWS),1000000)

.PHONY: head-to-head
head-to-head: ## compare with others in WORLDS (300) simulated worlds; writes docs/head-to-head.md
	go test -count=1 -timeout 0 -run '^TestHeadToHead$$' ./reconcile/simtest/peers \
		-worlds $(or $(WORLDS),300) -paper $(CURDIR)/docs/head-to-head.md

.PHONY: sim
sim: ## simulate fresh seeds until PASSES (1000000) passes were made; what breaks is told with what plays it again; MILD=true: does not fail
	@mkdir -p bin
	@go test -c -o bin/simulation.test ./reconcile/run
	@cd reconcile/run && { ../../bin/simulation.test -test.run '^TestSimulation$$' -test.timeout 0 -fresh -on -told -mild=$(or $(MILD),false) \
		-passes $(or $(PASSES),1000000) || echo FAILED; } | awk '$$0 == "FAILED" { bad = 1; next } $$0 != "PASS"; END { exit bad }'

.PHONY: check
check: format vet lint generated ## formatting, vet, linters, generated files: all but the tests

.PHONY: demo
demo: ## a scripted day of incidents on a private PostgreSQL and simulated providers; DEMO="--once --hurry": a short one
	@SANDKEEPER_TEST_DATABASE_URL= tools/setup.sh # it starts a server of its own
	@echo "building sandkeeper and the demo: some minutes the first time, seconds later"
	@$(MAKE) --no-print-directory build
	@CGO_ENABLED=0 go build -trimpath -buildvcs=$(VCS) -o bin/sandkeeper-demo ./cmd/sandkeeper-demo
	@bin/sandkeeper-demo $(DEMO)

.PHONY: site
site: ## write the documentation as a static site to bin/site; a link that leads nowhere fails it
	@rm -rf bin/site
	@go run ./docs/site -to bin/site

# What is shipped, measured from outside. -rounds 1 is quicker and noisier.
SIZES ?= 10000,100000
MEASURE = CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -tags nopgxregisterdefaulttypes -o bin/measured ./cmd/sandkeeper && \
	go build -o bin/scale ./test/scale && bin/scale -program bin/measured -sizes $(SIZES)
PACE = $(MEASURE:$(SIZES)=100000) -only pace -to bench.json

.PHONY: bench
bench: ## measure passes, a slow listing and acts of real processes next to their limits, at SIZES (10000,100000); writes bench.json and docs/scale.md
	@tools/setup.sh
	$(MEASURE) -to bench.json
	$(PACE)
	go test -count=1 ./test/scale -update
	@$(MAKE) --no-print-directory bench-page

.PHONY: bench-pace
bench-pace: ## measure quick passes of `run`, one a second, over 100,000 tasks, and keep the other rows of bench.json (6 minutes)
	@tools/setup.sh
	$(PACE)
	go test -count=1 ./test/scale -update

.PHONY: bench-large
bench-large: ## measure passes over 250,000 tasks and sandboxes, and keep the other rows of bench.json (20 minutes, 4 GB)
	@tools/setup.sh
	$(MEASURE) -only passes -rounds 1 -to bench.json
	go test -count=1 ./test/scale -update
bench-large: SIZES = 250000

.PHONY: bench-server
bench-server: ## measure `run` of 10,000 tasks: what PostgreSQL does, passes beside probes, probes, acts, replicas (30 minutes)
	@tools/setup.sh
	$(MEASURE) -only acts-run,events,lanes,probes,replicas,idle -to bench.json
	go test -count=1 ./test/scale -update
bench-server: SIZES = 10000

.PHONY: bench-page
bench-page: ## measure the first page of 100,000 sandboxes, 200 open pages of it, and a search, next to what each may take
	@tools/setup.sh
	go test -run '^$$' -bench '^BenchmarkPage$$' -benchtime 1x -timeout 10m ./cmd/sandkeeper
	go test -run '^$$' -bench '^BenchmarkSearch$$' -benchtime 50x -timeout 10m ./store/ledger

.PHONY: bench-check
bench-check: ## measure the same, and fail where a ratio is more than 10 % worse than in bench.json
	@tools/setup.sh
	$(MEASURE) -against bench.json

.PHONY: bench-parts
bench-parts: ## run the benchmarks of the packages
	@tools/setup.sh
	go test -run '^$$' -bench . -benchmem -timeout 30m ./...

.PHONY: bench-daemon
bench-daemon: ## measure the daemon: idle cost, memory, detection, takeover (5 minutes)
	@tools/setup.sh
	@for bar in Idle Detection Takeover; do \
		go test -count=1 -v -timeout 30m -run "^TestBars$$bar$$" ./cmd/sandkeeper -bars || exit 1; done

.PHONY: screenshots
screenshots: ## take a picture of each page, light, dark and on a phone, into bin/screenshots, and those that README.md shows
	@tools/setup.sh --tests
	@mkdir -p docs bin/screenshots
	SANDKEEPER_SCREENSHOT=$(CURDIR)/docs/page.png SANDKEEPER_SCREENSHOTS=$(CURDIR)/bin/screenshots \
		go test -count=1 -run '^(TestPageOfABusyDay|TestPagesAreAccessible)$$' ./cmd/sandkeeper
	cp bin/screenshots/incident.png docs/page-incident.png
	cp bin/screenshots/task-dark.png docs/page-task.png

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (10s)
	@tools/setup.sh
	tools/fuzz.sh

.PHONY: guards
guards: ## show what each guard is for: without it a property breaks; SEARCH=N tries N seeds for those that no history shows
	@tools/setup.sh
	go generate ./reconcile/guards
	go test -count=1 -timeout 0 -run '^TestGuards$$' ./reconcile/run -guards-strict $(if $(SEARCH),-v -guards-search $(SEARCH) -guards-from $(or $(FROM),1))
	go test -count=1 -timeout 0 -run '^TestSQLGuards$$' ./store/ledger ./store/tasks

.PHONY: generate
generate: ## write the generated files again
	go generate ./...

.PHONY: lint
lint: ## run the linters of .golangci.yaml
	$(LINT) run ./...

# What is released, by modules alone: with the time of the commit and not of the build, and the same bytes wherever it
# is built from the same sources with the same Go.
TIME := $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
REVISION := $(shell git rev-parse HEAD 2>/dev/null)
VERSION ?= $(shell tools/version.sh)
ARCHES ?= amd64 arm64
SHIPPED := -trimpath -buildvcs=$(VCS) -tags timetzdata,nopgxregisterdefaulttypes -ldflags '-s -w'

.PHONY: programs
programs: ## build what is shipped, for Linux on amd64 and arm64
	@for arch in $(ARCHES); do CGO_ENABLED=0 GOOS=linux GOARCH=$$arch go build $(SHIPPED) \
		-o bin/linux-$$arch/sandkeeper ./cmd/sandkeeper || exit 1; done

.PHONY: chart
chart: ## lint and render the Helm chart by Helm's own code, and compare with deploy/testdata/chart; UPDATE=true: write it
	go test -count=1 -timeout 20m -run '^TestChart' ./deploy -chart $(if $(UPDATE),-update)

.PHONY: image
image: programs ## write the container image of both as bin/image, an OCI layout; needs no container engine
	@go -C tools build -o ../bin/make-image ./image
	@bin/make-image -to bin/image -version '$(VERSION)' -revision '$(REVISION)' -time $(TIME) -most 20000000 \
		$(foreach arch,$(ARCHES),bin/linux-$(arch)/sandkeeper)

.PHONY: manual
manual: ## write the manual pages to bin/man, and what shells complete to bin/completions
	@rm -rf bin/man bin/completions && mkdir -p bin/man bin/completions
	@CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags manual -o bin/manual ./cmd/sandkeeper
	@bin/manual manual --time $(TIME) bin/man && gzip -n9 bin/man/*
	@bin/manual completion bash >bin/completions/sandkeeper.bash
	@bin/manual completion zsh >bin/completions/_sandkeeper
	@bin/manual completion fish >bin/completions/sandkeeper.fish

.PHONY: package
package: programs manual ## build the Debian packages, bin/sandkeeper_VERSION_ARCH.deb
	@for arch in $(ARCHES); do VERSION='$(VERSION)' tools/package.sh $$arch || exit 1; done

.PHONY: test-package
test-package: ## install, upgrade and remove the Debian package of this machine, in a copy of it (root)
	@$(MAKE) --no-print-directory package ARCHES=$$(go env GOARCH)
	tools/package-test.sh

.PHONY: release
release: ## all that a release has, in bin/release: archives, packages, image, bills of materials, checksums
	@$(MAKE) --no-print-directory image package
	VERSION='$(VERSION)' TIME='$(TIME)' ARCHES='$(ARCHES)' tools/release.sh

.PHONY: reproducible
reproducible: ## build twice, in different places with different caches, and compare the bytes
	tools/reproducible.sh

.PHONY: pin-images
pin-images: ## pin the images of our Dockerfiles and of the compose file to the digests of their tags (needs the registries)
	tools/pin-images.sh

.PHONY: sbom
sbom: build ## write bin/sandkeeper.cdx.json, a CycloneDX list of what is linked into the program
	@go -C tools run ./sbom ../bin/sandkeeper >bin/sandkeeper.cdx.json
	@echo bin/sandkeeper.cdx.json

.PHONY: vulnerabilities
vulnerabilities: build ## ask the Go vulnerability database about the program (needs the internet)
	go run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK) -C $(CURDIR) ./...
	go run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK) -mode binary bin/sandkeeper

.PHONY: security
security: ## the tests of SECURITY.md, and all that gosec says, also where it was allowed
	@tools/setup.sh
	go test -count=1 -timeout 20m -run "^($$(grep -oE '`Test[A-Za-z0-9]+`' SECURITY.md | tr -d '`' | sort -u | paste -sd'|' -))$$" ./...
	-@$(LINT) run -c tools/gosec.yaml ./...

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
