# Two commands on a fresh machine: `make bench` and `make test`. They need Python 3.11 or newer, and a package index.
# Everything they set up lives in the checkout: .tools (the driver), .envs (what is measured), .data (sample images).

PYTHON ?= python3
OLDEST_PYTHON := 3.11
# Our own packages in .tools, installed editable.
OURS := packages/bench-core packages/report packages/bench-score
NOX := .tools/bin/nox

# The stamp's name carries the interpreter's version and the checkout's place: another one makes .tools anew.
PYTHON_ID := $(shell $(PYTHON) -c 'import os, sys, zlib; print("%d.%d.%d-%08x" % (sys.version_info[:3] + (zlib.crc32(os.getcwd().encode()) & 0xFFFFFFFF,)))' 2>/dev/null)
STAMP := .tools/made-$(PYTHON_ID)

# What opens the page in its tests: the first of these that is there.
BROWSERS := chromium chromium-browser google-chrome

.PHONY: help setup bench score report publish named-run sample test browser lint clean
.DELETE_ON_ERROR:

help:
	@echo 'make bench    measure all libraries on the sample images, the quick profile, and write the page and tables'
	@echo '              (more flags for bench run: make bench ARGS="--processes 3")'
	@echo 'make score    score the published models on dcdft, and write the page and tables'
	@echo 'make test     lint, then every test (as root with apt, it installs Chromium where no browser is)'
	@echo 'make report   the page and tables again, from runs that exist'
	@echo 'make publish  put a run where others can report it again, and make the documents from it:'
	@echo '              make publish RUN=results/runs/NAME'
	@echo 'make lint     style, types and import rules'
	@echo 'make sample   the sample images'
	@echo 'make setup    only the tools, in .tools (PYTHON=/path/to/python3 chooses the interpreter for everything)'
	@echo 'make clean    remove .tools, .envs and .data; results stay'

setup: $(STAMP)

# 9: measured, but for a library that could not be; the tables say so, and make ends with the failure.
bench: $(STAMP)
	@$(NOX) -s sample
	@$(NOX) -s versus -- --profile quick $(ARGS); code=$$?; \
	  if [ $$code -eq 0 ] || [ $$code -eq 9 ]; then \
	    $(NOX) -s report && echo 'The page: $(CURDIR)/results/report/results.html' && exit $$code; else exit $$code; fi

# 9: scored, but for a model that could not be; the table says so.
score: $(STAMP)
	@.tools/bin/bench score --config scoring/dcdft.toml $(ARGS); code=$$?; \
	  if [ $$code -eq 0 ] || [ $$code -eq 9 ]; then \
	    $(NOX) -s report && echo 'The page: $(CURDIR)/results/report/results.html' && exit $$code; else exit $$code; fi

report: $(STAMP)
	@$(NOX) -s report -- $(ARGS)

# The documents come from all that is published: a run that is replaced is removed there first (git rm -r).
publish: named-run $(STAMP)
	@.tools/bin/bench publish $(RUN) $(ARGS)
	@.tools/bin/bench report --docs results/published/*/
	@.tools/bin/bench report --check results/published/*/

named-run:
	@test -n '$(RUN)' || { echo 'Which run? make publish RUN=results/runs/NAME'; exit 1; }

sample: $(STAMP)
	@$(NOX) -s sample -- $(ARGS)

lint: $(STAMP)
	@$(NOX) -s lint

test: lint browser
	@$(NOX) -s tests -- $(ARGS)

# The page is tested in a real browser, or not at all: without one this stops before the tests do.
browser:
	@for name in $(BROWSERS); do command -v $$name > /dev/null && exit 0; done; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    echo 'Installing Chromium, in which the page is tested'; \
	    apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends chromium; \
	  else \
	    echo 'The page is tested in a browser, and none of $(BROWSERS) is there.' \
	      'Install one (Debian and Ubuntu: apt-get install -y chromium), then again: make test'; exit 1; \
	  fi

clean:
	rm -rf .tools .envs .data

# The stamp is made last: what an interrupted setup leaves is made anew.
$(STAMP): locks/tools.txt $(OURS:=/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < tuple(map(int, "$(OLDEST_PYTHON)".split("."))))' 2>/dev/null || { \
	  echo 'bench needs Python $(OLDEST_PYTHON) or newer, and "$(PYTHON)" is $(or $(firstword $(subst -, ,$(PYTHON_ID))),not there).' \
	    'Name one that is: make PYTHON=/path/to/python3'; exit 1; }
	@echo 'Setting up the tools in .tools (about half a minute; log: .tools/setup.log)'
	@rm -rf .tools
	@mkdir .tools
	@{ $(PYTHON) -m venv .tools \
	  && .tools/bin/python -m pip install --disable-pip-version-check --no-input --require-hashes -r locks/tools.txt \
	  && .tools/bin/uv pip install --no-deps --python .tools/bin/python $(addprefix --editable ,$(OURS)); } \
	  > .tools/setup.log 2>&1 < /dev/null || { \
	  tail -n 15 .tools/setup.log; \
	  echo 'The tools could not be set up; these are the last lines of .tools/setup.log.'; exit 1; }
	@touch $@
