# Sluice: `make` shows what there is.
GO ?= go
# Two cores are the measure: two packages' tests at a time, of which most use one core each.
TEST = $(GO) test -p 2
# What is measured in real time, on a machine that does other things too: a test that failed is
# run again by itself, twice at the most. One that fails three times has failed.
PATIENT = $(GO) tool -modfile=.ci/lint.mod gotestsum --format standard-verbose --rerun-fails=2 --rerun-fails-max-failures=4 --packages=./internal/e2e/ -- -p 1 -count 1
# The same for the race detector, which makes all ten times slower. A data race is never tried again.
RACE = $(GO) tool -modfile=.ci/lint.mod gotestsum --format pkgname --rerun-fails=2 --rerun-fails-max-failures=4 --rerun-fails-abort-on-data-race
BIN  = bin/sluice

.DEFAULT_GOAL := help
.PHONY: help run build test race e2e cluster drill soak browser postgres bench rival haproxy eval lint alerts fmt

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## Build and run everything on embedded defaults; signals reach the program.
	@exec $(BIN) serve

build: ## Build bin/sluice.
	@$(GO) build -o $(BIN) .

test: ## Unit and bubble tests; needs Go and PostgreSQL (found on the machine, or fetched by npm).
	$(TEST) -timeout 10m ./...

race: ## The same under the race detector; of what only learns, in no goroutine of its own, the tests that share it.
	$(RACE) --packages="$$($(GO) list ./... | grep -vE '/internal/(faq|intent)$$' | tr '\n' ' ')" -- -p 2 -race -timeout 15m
	$(TEST) -race -timeout 5m -run 'AtOnce$$' ./internal/faq/ ./internal/intent/

e2e: ## The built binary: kill -9, signals, overdue answers in real time, a burst.
	$(PATIENT) -tags e2e -timeout 12m

cluster: ## Three NATS nodes and processes by role: killed, paused, replaced, under load.
	$(PATIENT) -tags cluster -timeout 15m

drill: build ## All fault drills, quick: five minutes; one that failed is played again, twice at the most.
	$(BIN) drill all --quick --again 2

soak: ## What takes long: a million calls through the gate, a fifth of them aborted; a milder cut of a cluster; 20,000 sockets; 1,000 conversations over a bad network; half an hour.
	SLUICE_SOAK=1000000 $(TEST) -run '^TestCallsLeaveNothingBehindHoweverMany$$' -count 1 -v -timeout 60m .
	SLUICE_CHURN=20000 SLUICE_SOCKETS=9000 $(TEST) -run '^(TestSocketsThatComeAndGoLeaveNothingBehind|TestAnIdleSocketCostsLittleMoreThanABareOne)$$' -count 1 -v -timeout 15m ./api/
	SLUICE_CHAOS=1000 $(TEST) -tags e2e -run '^TestABadNetworkLosesAndDoublesNothing$$' -count 1 -v -timeout 60m ./internal/e2e/
	SLUICE_SOAK=1 $(TEST) -tags cluster -run '^TestADispatcherIsCutOff$$' -count 1 -v -timeout 5m ./internal/e2e/

browser: ## The widget in a real Chromium; axe-core, which judges it, comes through npm.
	@test -f web/node_modules/axe-core/axe.min.js || npm ci --prefix web --no-audit --no-fund --ignore-scripts --silent
	$(TEST) -tags browser -timeout 10m ./web/

postgres: ## The ledger on PostgreSQL 15 and 18; passages found by pgvector, which comes through npm.
	SLUICE_TEST_PG=15 $(TEST) -count 1 -timeout 5m ./internal/ledger/... ./internal/record/... ./internal/pgchild/...
	SLUICE_TEST_PG=18 $(TEST) -count 1 -timeout 5m ./internal/ledger/... ./internal/record/... ./internal/pgchild/...
	$(TEST) -tags pgvector -count 1 -timeout 5m ./internal/pgvector/
	$(TEST) -tags pgvector -run '^TestPassagesAreFoundInADatabaseOfVectors$$' -count 1 -timeout 5m .

bench: haproxy ## Benchmarks, ready for benchstat; five minutes.
	$(GO) test -run '^$$' -bench . -benchmem ./internal/... ./dispatcher/...
	$(GO) test -tags pgvector -run '^$$' -bench . -benchmem ./internal/pgvector/

rival: haproxy ## Of these, the gate beside a plain proxy and HAProxy.
	$(GO) test -run '^$$' -bench . ./internal/gate/rival/

haproxy:
	@command -v haproxy >/dev/null || test -x /usr/sbin/haproxy || { test "$$(id -u)" = 0 && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends haproxy >/dev/null; } || \
		echo 'HAProxy cannot be installed here: the benchmarks go without it.'

eval: build ## How well messages are understood: on examples that were held back, with the learning curve.
	$(BIN) eval --curve

lint: ## gofmt, vet, go fix and staticcheck (pinned in .ci/lint.mod).
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'run: make fmt'; exit 1; }
	$(GO) vet -tags 'e2e cluster browser pgvector' ./...
	@test -z "$$($(GO) fix -diff ./... 2>&1)" || { $(GO) fix -diff ./...; echo 'run: go fix ./...'; exit 1; }
	$(GO) tool -modfile=.ci/lint.mod staticcheck -tags 'e2e cluster browser pgvector' ./...

alerts: ## The rules for Prometheus, by its own parser and engine (pinned in .ci/prom).
	$(GO) run -C .ci/prom . $(CURDIR)/deploy/prometheus/alerts_test.yml

fmt: ## Format.
	gofmt -w .
