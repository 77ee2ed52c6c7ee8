# The front door. `make` alone prints this help.
.DEFAULT_GOAL := help
SHELL := /bin/sh
NODE_FLAGS :=
STAMP := .make
# Where nats-server is unpacked when it cannot be installed.
export PATH := $(PATH):$(or $(NOETL_CP_DATA_DIR),$(or $(XDG_DATA_HOME),$(HOME)/.local/share)/noetl-cp)/tools
PREFIX ?= /usr/local
SOURCES := $(shell find src -name '*.ts' -o -name '*.cts' 2>/dev/null) package.json tsconfig.json tsconfig.build.json
CONSOLE := $(shell find console -type f 2>/dev/null)

.PHONY: help
help: ## print this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build nats-server ## build and start the daemon with its own Postgres and NATS
	@bin/noetl-cp.js serve $(ARGS)

.PHONY: test
test: sound nats-server chromium ## lint, types and every test, on real Postgres and NATS
	npx vitest run

.PHONY: test-long
test-long: build nats-server ## the tests that come in two sizes, in the large one
	TEST_LONG=1 npx vitest run $$(grep -rl support/scale test lab)

.PHONY: check
check: sound ## format, lint, types, unused exports and unit tests: no service, seconds
	npx vitest run --project unit

.PHONY: build
build: $(STAMP)/build $(STAMP)/console ## compile src and the console into dist

# Side by side: each of them keeps one core busy, and none needs what another makes.
.PHONY: sound
sound:
	@$(MAKE) --no-print-directory -j 4 build lint types unused

.PHONY: lint
lint: $(STAMP)/install
	npx biome check --error-on-warnings .

.PHONY: types
types: $(STAMP)/install
	npx tsc -p tsconfig.json --noEmit
	npx tsc -p console --noEmit

# Exports that nothing of the product reaches; tests alone do not keep a part alive.
.PHONY: unused
unused: $(STAMP)/install
	npx knip --production

.PHONY: fmt
fmt: $(STAMP)/install ## format the sources
	npx biome check --write .

.PHONY: nats-server
nats-server:
	@sh scripts/ensure-nats-server.sh

# For the tests of the console; without one they are skipped, by name, except in CI.
.PHONY: chromium
chromium:
	@sh scripts/ensure-chromium.sh

.PHONY: bench
bench: build nats-server ## measure speed as ratios; prints a table, writes JSON
	node bench/run.mjs

.PHONY: bench-full
bench-full: build nats-server ## the same with millions of rows, and beside other tools
	node bench/run.mjs --full

.PHONY: chaos
chaos: build nats-server ## three minutes of faults under load, then a verdict (ARGS="--seed x --minutes 10 --cluster")
	node lab/run.mjs $(ARGS)

.PHONY: soak
soak: build nats-server ## 20 minutes at steady load with few faults: memory and handles stay flat
	node lab/run.mjs --soak $(ARGS)

.PHONY: bench-report
bench-report: build ## keep the newest benchmark run: docs/bench and its table
	node scripts/benchReport.mjs
	node scripts/readme.mjs

.PHONY: schema
schema: build nats-server ## write sql/schema.json from the migrations
	UPDATE_SCHEMA=1 npx vitest run --project pg test/sql/schema.pg.test.ts

.PHONY: readme
readme: build ## write the generated tables of the documentation
	node scripts/readme.mjs

.PHONY: screenshots
screenshots: build nats-server chromium ## take the pictures of the console that the README shows
	node scripts/screenshots.mjs

.PHONY: client
client: build ## write the types of the client from the routes
	node scripts/client.mjs

.PHONY: package
package: build nats-server ## build, pack, install the tarball in an empty folder and run it
	sh scripts/package.sh

.PHONY: install
install: build ## copy noetl-cp to PREFIX=/usr/local and put it on PATH
	sh scripts/install.sh install "$(PREFIX)"

.PHONY: uninstall
uninstall: ## remove what `make install` copied
	sh scripts/install.sh uninstall "$(PREFIX)"

.PHONY: clean
clean: ## remove what was built and installed
	rm -rf dist node_modules $(STAMP) bench/node_modules bench/results lab/results

# From the lock file, which --no-save leaves as it is, and held to it afterwards. Not `npm ci`: that refuses a lock file
# without the binaries of platforms that the registry at hand does not carry.
$(STAMP)/install: package-lock.json package.json
	@mkdir -p $(STAMP)
	npm install --no-save --loglevel=error
	@node scripts/installed-as-locked.mjs
	@touch $@

$(STAMP)/build: $(STAMP)/install $(SOURCES) scripts/bundle.mjs scripts/fastForms.mjs
	npx tsc -p tsconfig.build.json
	@node scripts/bundle.mjs
	@touch $@

$(STAMP)/console: $(STAMP)/install $(CONSOLE)
	npx vite build console --logLevel warn
	@touch $@
