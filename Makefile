# Two commands do everything on a fresh machine that has Go:
#   make dev    the whole system on this machine (ARGS="--http 127.0.0.1:9000" passes flags on)
#   make test   every check and every test
# The others are parts of these. While you work:
#   make quick  the tests of what your changes touch, within a minute for most of them
#   make record writes the recorded files that tests compare with

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build
.PHONY: dev build dist test check fmt lint tidy-check workflowcheck unit quick record mutants postgres browser rscript chaos storm faults race bench bench-test eval eval-real people record-history openapi-lint oidc

# What is published and tested is one static binary, and SQLite needs no C
# compiler here. `make dev` takes Go's own default, so that a plain `go build`
# after it finds every package compiled.
build dist test check unit quick record chaos storm faults bench bench-test eval eval-real people record-history lint workflowcheck openapi-lint: export CGO_ENABLED := 0

GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint
GOLANGCI_LINT_VERSION := v2.15.0
WORKFLOWCHECK := go.temporal.io/sdk/contrib/tools/workflowcheck
WORKFLOWCHECK_VERSION := v0.6.0

# go build -v names each package as it begins to compile it.
dev:
	@total=$$(go list -deps -f '{{if .Stale}}{{.ImportPath}}{{end}}' ./dev | grep -c . || true); \
	if [ "$$total" -gt 100 ]; then \
		echo "Building the development system with its own Temporal server: the first build takes some minutes."; \
		go build -v -o build/dev ./dev 2>&1 | awk -v total="$$total" ' \
			/^[^ :#]+$$/ { n++; if (n % 10 == 0 || n >= total) { printf "\r  %d of %d packages", (n > total ? total : n), total; fflush() } next } \
			{ print "\n" $$0 > "/dev/stderr" } END { print "" }'; \
	else go build -o build/dev ./dev; fi
	@exec build/dev $(ARGS)

build:
	go build -trimpath -ldflags "-s -w" -o build/coachline .

# Programs for every platform with their checksums and a bill of materials, in
# build/dist, named by the tag or commit that is checked out; PLATFORMS="linux/amd64"
# builds some of them.
VERSION = $(shell git describe --tags --always --dirty)
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
dist:
	@rm -rf build/dist && mkdir -p build/dist
	@for platform in $(PLATFORMS); do \
		for program in coachline dev; do \
			package=.; name=coachline; \
			if [ $$program = dev ]; then package=./dev; name=coachline-dev; fi; \
			echo "building $$name for $$platform"; \
			GOOS=$${platform%/*} GOARCH=$${platform#*/} go build -buildvcs=auto -trimpath -ldflags "-s -w" \
				-o "build/dist/$$name-$(VERSION)-$${platform%/*}-$${platform#*/}" $$package; \
		done; \
	done
	@cd tools && go run ./sbom ../build/dist/coachline-* >../build/dist/sbom.cdx.json
	@cd build/dist && sha256sum coachline-* sbom.cdx.json >SHA256SUMS && cat SHA256SUMS

# Two lanes: the tests of the packages, which wait for a good part, and beside them one
# by one what is left.
test: postgres browser rscript
	@$(MAKE) --no-print-directory -j 2 unit check openapi-lint storm

check: fmt tidy-check lint workflowcheck

fmt: .bin/golangci-lint-$(GOLANGCI_LINT_VERSION)
	.bin/golangci-lint fmt --diff

# Runs go vet too, on tests as well.
lint: .bin/golangci-lint-$(GOLANGCI_LINT_VERSION)
	.bin/golangci-lint run
	cd tools && ../.bin/golangci-lint run

# Names modules whose version their authors have taken back, too.
RETRACTED := {{if .Retracted}}{{.Path}} {{.Version}} is retracted: {{join .Retracted "; "}}{{end}}
tidy-check:
	go mod tidy -diff
	cd tools && go mod tidy -diff
	go mod verify
	@retracted=$$(go list -e -m -retracted -f '$(RETRACTED)' $$(go mod edit -json | awk -F'"' '$$2 == "Path" && $$4 != "coachline" { print $$4 }')); \
	if [ -n "$$retracted" ]; then echo "$$retracted" >&2; exit 1; fi

# The tool looks into every package that a checked one imports; dev is left
# out, because it holds no workflow code and all of the Temporal server.
workflowcheck: .bin/workflowcheck-$(WORKFLOWCHECK_VERSION)
	.bin/workflowcheck ./workflows/... ./worker/...

# Temporary files of tests are kept in memory where there is room and programs may run.
SCRATCH = $(shell at=/dev/shm; probe=$$at/coachline-probe; \
	if [ -w $$at ] && [ "$$(df -Pk $$at | awk 'NR == 2 { print $$4 }')" -gt 6000000 ] && cp "$$(command -v true)" $$probe && $$probe; \
	then echo $$at; else echo "$${TMPDIR:-/tmp}"; fi 2>/dev/null; rm -f $$probe)
unit quick: export TMPDIR = $(SCRATCH)

# Three packages at a time: several of them run a Temporal server or PostgreSQL, and
# dev waits for most of its time. The linter vets them. Those of bench are left out.
unit: postgres browser rscript
	go test -vet=off -p 3 -timeout 30m $$(go list ./... | grep -v '^coachline/bench')
	cd tools && go test -vet=off ./...

# In short, the tests of the packages in which files differ from BASE, or are new, and of
# those that import them. Packages that run whole systems, and importers that take long,
# are named instead.
BASE ?= main
quick: postgres browser
	@touched=$$({ git diff --name-only "$$(git merge-base HEAD $(BASE))"; git ls-files --others --exclude-standard; } | while read -r file; do \
		folder=$$(dirname "./$$file"); \
		while ! compgen -G "$$folder/*.go" >/dev/null; do folder=$$(dirname "$$folder"); done; \
		echo "$$folder"; done | { grep -v '^./tools' || true; } | sort -u | xargs -r go list); \
	if git diff --name-only "$$(git merge-base HEAD $(BASE))" | grep -qE '^(tools|deploy)/|^docker-compose.yml'; then (cd tools && go test -vet=off ./...); fi; \
	edges='{{range .Imports}}{{.}} {{$$.ImportPath}}{{"\n"}}{{end}}'; \
	importers=$$(go list -f "$$edges$${edges/.Imports/.TestImports}$${edges/.Imports/.XTestImports}" ./... | \
		awk 'NR == FNR { touched[$$0]; next } $$1 in touched && !($$2 in touched) { print $$2 }' <(echo "$$touched") - | sort -u); \
	systems='^coachline/(bench|chaos|dev|eval)($$|/)' server='^coachline/(worker|workflows|internal/rehearsal)$$'; \
	left=$$(echo "$$touched" | grep -E "$$systems"; echo "$$importers" | grep -E "$$systems|$$server") || true; \
	touched=$$(echo "$$touched" | grep -Ev "$$systems" || true); importers=$$(echo "$$importers" | grep -Ev "$$systems|$$server" || true); \
	if [ -n "$$touched$$importers" ]; then go test -vet=off -short $$touched $$importers; fi; \
	if [ -n "$$left" ]; then echo "Not tested, name a test with -run:" $$left; fi

# The files that tests compare with, written anew; review the changes like code. RUN
# names tests. Histories, pictures and the worked example have commands of their own.
RUN ?= .
record: postgres
	go test -vet=off -count=1 -run '$(RUN)' $$(git grep -l '"coachline/internal/goldens"' -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|') -record

# Which changes of conditions and constants no test notices, some of each package;
# ARGS="-sample 0 ./internal/coach" tries all of one package, which takes an hour.
mutants:
	go run ./deploy/mutants $(or $(ARGS),-sample 40 ./internal/segments ./internal/trial ./internal/agent/toolcall ./internal/coach ./activities)

# Tests of the product with the race detector, half an hour; needs a C compiler.
race: postgres browser
	CGO_ENABLED=1 go test -vet=off -race -p 2 -timeout 60m . ./activities ./internal/... ./starter/... ./worker ./workflows

# Real processes, killed at random for some minutes while people text; ARGS="-seed 5"
# runs a seed again. Then every point of a turn, one fault at a time, and the same in
# small without a cache of workflows, with one of a single workflow, and on a Temporal
# server whose own database fails. ARGS=-hostile: instead of all that a hostile texter and
# a model that obeys them, beside ten ordinary people.
chaos: postgres
	@go build -ldflags "-s -w" -o build/chaos ./chaos
ifneq (,$(findstring -hostile,$(ARGS)))
	build/chaos $(ARGS)
else
	build/chaos -storm $(ARGS)
	build/chaos
	build/chaos -short -cache 0
	build/chaos -short -cache 1
	build/chaos -server
	go test -vet=off -count=1 -timeout 60m -run TestHistoriesHaveOneOrder ./chaos -histories 500 -history-seed $$(date +%s)
endif

# Some points of a turn, half a minute; what fails says how it is run alone. It is one of
# the tests.
faults:
	go test -vet=off -count=1 -v -run TestShortForm ./chaos

# The storm in small, in two minutes.
storm: postgres
	go test -vet=off -tags storm -count=1 -run TestShortStorm -v ./chaos

# The API document against the linters that its readers use. npm fetches them; where
# it cannot, tests of Go check the document alone.
SPECTRAL := @stoplight/spectral-cli@6.15.0
REDOCLY := @redocly/cli@1.34.0
# Ten sign-ins at the certified provider of npm with its defaults; needs node, and npm once.
oidc:
	@mkdir -p build/oidc && cp deploy/oidc/provider.mjs build/oidc
	@cd build/oidc && { [ -d node_modules/oidc-provider ] || npm install --no-save --no-fund --no-audit oidc-provider@8.8.1; }
	go test -vet=off -count=1 -tags provider -run TestRealProvider -v ./internal/console -provider "$(CURDIR)/build/oidc"

openapi-lint:
	@mkdir -p build/openapi
	go test ./starter -count=1 -run TestDocumentFile -document "$(CURDIR)/build/openapi/openapi.json"
	@cd build/openapi && echo 'extends: ["spectral:oas"]' > .spectral.yaml; \
	if npx --yes $(SPECTRAL) --version >/dev/null && npx --yes $(REDOCLY) --version >/dev/null; then \
		npx --yes $(SPECTRAL) lint --fail-severity warn openapi.json && npx --yes $(REDOCLY) lint openapi.json; \
	else echo "npm cannot fetch $(SPECTRAL) and $(REDOCLY): the document is not linted." >&2; fi

# The product against a bare workflow on the same server, some minutes, and
# what a fixed set of conversations asks of the model; docs/performance.md says
# what the figures mean. ARGS="-load prompts -people 10000" asks for one load,
# ARGS="-compare a.json b.json" compares two kept runs.
bench:
	@go build -buildvcs=false -o build/bench ./bench
	@go build -o build/eval ./eval
	@build/bench $(ARGS)
	@$(if $(ARGS),,build/eval -costs)

bench-test: postgres
	go test -vet=off ./bench/...

# Scripted conversations, graded, with the scripted model or any other; minutes
# with a real one. docs/evaluation.md says what is judged.
# OPENAI_API_KEY=... make eval ARGS="-model gpt-4.1-mini -model other -json a.json"
eval:
	@go build -o build/eval ./eval
	@build/eval $(ARGS)

# Five people against a small real model on this machine, an hour on two cores; skips with
# the reason where Python or its package index is missing. ARGS="-case ben" plays one.
eval-real:
	@eval/real/run.sh $(ARGS)

# Fourteen simulated people in five languages live with the product for sixty days on the real
# engine, which skips time; minutes. build/people has what each of them read and wrote, as
# text and as a page. ARGS="-people keen,plain -days 14" plays a part.
people:
	@go build -ldflags "-s -w" -o build/people-run ./dev/people
	@build/people-run $(ARGS)

# The histories that workflows/replay_test.go replays, recorded anew on the real
# server; about a minute. HISTORY=intake records one kind.
record-history:
	go test ./dev -count 1 -run 'TestRecordHistories/$(HISTORY)' -record
	go test ./workflows -count 1 -run 'Recorded|Continued|Histories|Cost'

# A marker file per version makes a new version install over an old binary.
.bin/golangci-lint-$(GOLANGCI_LINT_VERSION):
	@mkdir -p .bin
	@if ! go version -m .bin/golangci-lint 2>/dev/null | grep -q "mod.*golangci-lint/v2.*$(GOLANGCI_LINT_VERSION)"; then \
		GOBIN=$(CURDIR)/.bin go install $(GOLANGCI_LINT)@$(GOLANGCI_LINT_VERSION); fi
	@rm -f .bin/golangci-lint-v* && touch $@

.bin/workflowcheck-$(WORKFLOWCHECK_VERSION):
	@mkdir -p .bin
	@if ! go version -m .bin/workflowcheck 2>/dev/null | grep -q "mod.*workflowcheck.*$(WORKFLOWCHECK_VERSION)"; then \
		GOBIN=$(CURDIR)/.bin go install $(WORKFLOWCHECK)@$(WORKFLOWCHECK_VERSION); fi
	@rm -f .bin/workflowcheck-v* && touch $@

# The store tests start a PostgreSQL server of their own from these programs.
# apt would also start one as a service; the setting keeps it from doing so.
postgres:
	@for folder in "$$(pg_config --bindir 2>/dev/null)" /usr/lib/postgresql/*/bin; do \
		if [ -x "$$folder/initdb" ] && [ -x "$$folder/postgres" ]; then exit 0; fi; \
	done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		mkdir -p /etc/postgresql-common; \
		[ -e /etc/postgresql-common/createcluster.conf ] || \
			echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf; \
		apt-get update -q; \
		DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends \
			-o Dpkg::Options::=--force-confold postgresql; \
	else \
		echo "The store tests need PostgreSQL's server programs (initdb, postgres); install them, for example with:" >&2; \
		echo "  sudo apt-get install postgresql     or     brew install postgresql@17" >&2; \
		exit 1; \
	fi

# The worked example analyses its study in R too.
rscript:
	@if command -v Rscript >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -q; \
		DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends r-base-core; \
	else \
		echo "The worked example needs R (Rscript); install it, for example with:" >&2; \
		echo "  sudo apt-get install r-base-core     or     brew install r" >&2; \
		exit 1; \
	fi

# The tests of web pages open them in Chromium.
browser:
	@for program in chromium chromium-browser google-chrome google-chrome-stable \
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" /Applications/Chromium.app/Contents/MacOS/Chromium; do \
		if command -v "$$program" >/dev/null; then exit 0; fi; \
	done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -q; \
		DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends chromium fonts-dejavu-core; \
	else \
		echo "The tests of web pages need Chromium; install it, for example with:" >&2; \
		echo "  sudo apt-get install chromium fonts-dejavu-core     or     brew install --cask chromium" >&2; \
		exit 1; \
	fi
