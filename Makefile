# The handful of commands that a person types; `make help` lists them.
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
PORT ?= 8080
ROOT ?= apps/web/site
WORKERS ?= 0
BENCH ?= --scale 0.25
FUZZ ?= --seconds 60
BENCH_WEB ?= --rounds 3 --seconds 1

build: ## build the library, optimized, in build/release
	@$(call build_target,release,tartan)

serve: export ROOT := $(ROOT)
serve: export PORT := $(PORT)
serve: export WORKERS := $(WORKERS)
serve: ## build the web server and serve a small site on http://127.0.0.1:8080 (PORT, ROOT, WORKERS); Ctrl-C ends it
	@tools/packages build apps
	@cmake --preset release -DTARTAN_APPS=ON --log-level=WARNING && cmake --build --preset release --target tartan-web -j $(JOBS)
	@exec build/release/apps/web/tartan-web --root "$$ROOT" --listen "127.0.0.1:$$PORT" --workers "$$WORKERS"

test: ## install what is missing (Debian), build release, asan and tsan, run every test
	@tools/packages build apps test fuzz
	@tests/run

soak: ## the long forms of the tests: 8 and 64 workers, many more rounds
	@tools/packages build apps test soak conformance fuzz
	@tests/run --soak

conformance: ## outside judges of the web server: curl, wrk, ab, h2load, REDbot, slowhttptest, Chromium; floods of 10 000 slow clients (some five minutes)
	@tools/packages build apps conformance
	@cmake --preset release -DTARTAN_APPS=ON --log-level=WARNING && cmake --build --preset release --target tartan-web -j $(JOBS)
	@tests/conformance/run build/release/apps/web/tartan-web
	@tests/conformance/floods build/release/apps/web/tartan-web

faults: ## plant each known fault in a copy of the tree and see a test fail (some minutes)
	@tools/packages build apps test
	@tests/faults/run

fuzz: ## let libFuzzer look for requests, targets and headers that break a promise of the web server's parsers: a minute each (FUZZ="--seconds 600")
	@tools/packages build apps test fuzz
	@tests/fuzz/run $(FUZZ)

bench: ## a quick table of the figures, against the plain loop and other libraries: some five minutes (BENCH="--scale 1": full length)
	@tools/packages build bench
	@$(call build_target,bench,all)
	@bench/run $(BENCH)

bench-full: ## at full length, with tokio and Go, if they can be had, and the papers' schedulers; pictures in bench/results/plots; an hour (BENCH_FULL="--scale 0.25": a quarter)
	@tools/packages build bench
	@$(call build_target,bench,all)
	@bench/run --full --plots $(BENCH_FULL)

bench-gate: ## stealing is never worse than none, in any workload and at any event cost: some 15 minutes on a quiet machine (BENCH_GATE=--quick)
	@tools/packages build bench
	@$(call build_target,bench,bench_gate)
	@bench/gate $(BENCH_GATE)

bench-io: ## sockets and the web server, against bare epoll, Asio, libuv and nginx
	@tools/packages build apps bench bench-io
	@cmake --preset bench -DTARTAN_APPS=ON --log-level=WARNING && cmake --build --preset bench --target all -j $(JOBS)
	@BENCH_NGINX="$$(bench/nginx)" bench/run --group io $(BENCH_IO)

bench-key-value: ## W14: a key-value server under redis-benchmark, beside Asio, tokio and Redis: some five minutes (BENCH_KEY_VALUE="--docs": also into docs/benchmarks.md)
	@tools/packages build bench bench-key-value
	@$(call build_target,bench,bench_key_value)
	@bench/rivals/build
	@bench/run --group key_value $(BENCH_KEY_VALUE)

bench-rpc: ## a call over Unix sockets, TCP and TLS, beside libtirpc: some three minutes (BENCH_RPC="--rounds 3 --seconds 0.2")
	@tools/packages build bench bench-rpc
	@$(call build_target,bench,bench_rpc)
	@bench/rpc/run $(BENCH_RPC)

bench-scale: ## what more workers bring and cost, 1 to 16 of them: eight minutes (BENCH_SCALE="--pack <folder>": gathers all of it for a machine that has nothing)
	@tools/packages build apps bench bench-key-value
	@bench/scale $(BENCH_SCALE)

bench-web: ## the web server under load, H1 to H6, against nginx, h2o, lighttpd, Apache, Beast, hyper; pictures in bench/results/plots; an hour and a half on two cores (BENCH_WEB="--rounds 7 --seconds 2")
	@tools/packages build apps bench-web
	@cmake --preset bench -DTARTAN_APPS=ON --log-level=WARNING && cmake --build --preset bench --target bench_web -j $(JOBS)
	@JOBS=$(JOBS) bench/web/build
	@bench/web/run --plots $(BENCH_WEB)
	@$(if $(findstring --only,$(BENCH_WEB))$(findstring --show,$(BENCH_WEB))$(findstring -h,$(BENCH_WEB)),:,if command -v perf >/dev/null; then bench/web/profile || echo "no shares of the profile"; else echo "no perf: no shares of the profile"; fi)

simulate: ## the schedulers on simulated cores: the papers' 4 and 8, and 16 to 128 (some minutes)
	@tools/packages build apps test
	@$(call build_target,release,simulations)
	@simulation/run

tidy: ## the test of the repository itself
	@tools/tidy

lint: ## clang-format on all C++ files, clang-tidy on the sources
	@tools/packages build apps test lint
	@tools/lint

install: build ## install the library under PREFIX (/usr/local)
	@cmake --install build/release --prefix $(PREFIX)

clean: ## remove everything that was built
	@rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

build_target = { [ -f build/$(1)/build.ninja ] || cmake --preset $(1); } && cmake --build --preset $(1) --target $(2) -j $(JOBS)

.PHONY: build serve test soak conformance faults fuzz simulate bench bench-full bench-gate bench-io bench-key-value bench-rpc bench-scale bench-web tidy lint install clean help
