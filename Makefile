# SPDX-License-Identifier: GPL-3.0-or-later
# One Makefile for everything; `make help` lists the targets. Outputs go to
# build/PROFILE/. The user's CFLAGS and LDFLAGS are appended to ours; V=1
# shows the commands; PREFIX and DESTDIR say where `make install` puts things.

PROFILE ?= release
PREFIX ?= /usr/local
DESTDIR ?=
SECONDS ?= 60
EVALUATIONS ?= 2000
SEED ?=

BUILD := build/$(PROFILE)
OBJ := $(BUILD)/obj

# ---------------------------------------------------------------- sources

CORE_SRC := $(wildcard core/*.c core/*/*.c)
HOST_SRC := $(wildcard host/*.c)
# What the supervisor shares with the image program, the only one with ECL.
IMAGE_SHARED_SRC := $(addprefix image/,cache.c control.c covered.c covers.c descriptors.c \
  entries.c family.c folders.c homes.c linux.c listing.c paths.c sandbox.c submodules.c)
IMAGE_SRC := $(filter-out $(IMAGE_SHARED_SRC),$(wildcard image/*.c))
SUPERVISOR_SRC := $(wildcard supervisor/*.c) $(IMAGE_SHARED_SRC)
SERVER_SRC := $(wildcard server/*.c)
MODULE_SRC := $(wildcard module/*.c)
LISP_SRC := $(wildcard lisp/*.lisp)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
IMAGE_TEST_SRC := $(wildcard tests/image/test_*.c)
ECL_TESTS := $(addprefix tests/image/test_,constants interlude middle subtypes)
ELISP_SRC := $(wildcard elisp/*.el)
ELISP_TEST_SRC := $(wildcard tests/elisp/*.el)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
SUPPORT_SRC := $(wildcard tests/support/*.c)
BENCH_SRC := $(wildcard tests/bench/*.c)

PRODUCT_SRC := $(CORE_SRC) $(HOST_SRC) $(SUPERVISOR_SRC) $(IMAGE_SRC) $(SERVER_SRC) \
  $(MODULE_SRC)
TEST_SRC := $(wildcard tests/*/*.c)
HEADERS := $(wildcard core/*.h core/*/*.h host/*.h image/*.h supervisor/*.h \
  server/*.h module/*.h)
TEST_HEADERS := $(wildcard tests/*/*.h)

# ------------------------------------------------------------------ flags

ifeq ($(origin CC),default)
CC := $(if $(filter clang fuzz,$(PROFILE)),clang,gcc)
endif

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
  -Wcast-qual -Wformat=2 -Wundef -Wvla -Wwrite-strings -Wpointer-arith \
  -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
  -Wswitch-enum -Wimplicit-fallthrough -Wnull-dereference \
  -Wdouble-promotion -Werror
DIALECT := -std=c17 -D_POSIX_C_SOURCE=200809L -fno-common
# An include says its floor: "gate/policy.h" is in core/gate/, all others are
# found from here.
INCLUDES := -iquote core -iquote .
# All but the core use what Linux and glibc have beyond POSIX.
host_flags = $(if $(filter host/% image/% supervisor/% server/% module/% tests/bench/% tests/image/% tests/walls/% tests/support/imagehost.c tests/support/rights.c tests/unit/test_closing.c tests/unit/test_sandbox.c tests/unit/test_temporary.c,$<),-D_GNU_SOURCE)
TEST_INCLUDES := -iquote tests

# The flag, or the other one when the compiler or its library does not know it.
or_else = $(shell $(CC) -Werror -O2 $(1) -include stdlib.h -x c -c -o /dev/null \
  /dev/null 2>/dev/null && echo '$(1)' || echo '$(2)')

ifneq ($(filter release clang,$(PROFILE)),)
HARDENED := -O2 -g -U_FORTIFY_SOURCE \
  $(call or_else,-D_FORTIFY_SOURCE=3,-D_FORTIFY_SOURCE=2) \
  -fstack-protector-strong $(call or_else,-fstack-clash-protection) \
  $(call or_else,-fcf-protection) $(call or_else,-mbranch-protection=standard)
endif
SANITIZED := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
  -fno-sanitize-recover=all
CFLAGS_debug := -O0 -g3
# The core must not end an Emacs; the other profiles check what it asserts.
CFLAGS_release := $(HARDENED) -DNDEBUG
CFLAGS_clang := $(HARDENED)
CFLAGS_asan := $(SANITIZED)
CFLAGS_fuzz := $(SANITIZED) -fsanitize=fuzzer-no-link
LDFLAGS_release := -Wl,-z,relro,-z,now,-z,noexecstack
LDFLAGS_clang := $(LDFLAGS_release)
LDFLAGS_asan := -fsanitize=address,undefined
LDFLAGS_fuzz := -fsanitize=address,undefined

ifeq ($(CFLAGS_$(PROFILE)),)
$(error PROFILE=$(PROFILE) is none of debug release asan clang fuzz)
endif

OUR_CFLAGS := $(DIALECT) $(WARNINGS) $(CFLAGS_$(PROFILE)) $(INCLUDES)
OUR_LDFLAGS := -Wl,--as-needed $(LDFLAGS_$(PROFILE))

# What compiled Lisp code may use of the image.
IMAGE_LDFLAGS := -Wl,--export-dynamic-symbol=ecl_mcp_env

LIBS := -lnettle

# Linked into the server, where there is an archive: to load the library, with
# its look at the processor, takes a tenth of the time to the first answer.
SERVER_LIBS := $(or $(filter /%,$(shell $(CC) -print-file-name=libnettle.a)),$(LIBS))

# The released server is compiled as one: functions that call each other lie side
# by side, which saves a call 2 of 40 µs. It takes 12 s; LTO= does without.
ifeq ($(PROFILE) $(origin LTO),release undefined)
LTO := $(shell echo 'int main(void) { return 0; }' | \
  $(CC) -flto=auto -x c -o /dev/null - 2>/dev/null && echo '-flto=auto')
endif

# Asked for when a recipe needs it, so that `make deps` can install it first.
ECL_CFLAGS = $(shell ecl-config --cflags)
ECL_LDFLAGS = $(shell ecl-config --ldflags)

Q := $(if $(V),,@)
say = @$(if $(V),:,printf '  %-7s %s\n' $(1) $(2))

# -------------------------------------------------------------- the build

objects = $(patsubst %.c,$(OBJ)/%.o,$(1))

CORE_LIB := $(BUILD)/libecl-mcp-core.a
HOST_LIB := $(BUILD)/libecl-mcp-host.a
SUPERVISOR_LIB := $(BUILD)/libecl-mcp-supervisor.a
LISP_LIB := $(BUILD)/libecl-mcp-lisp.a
SERVER := $(BUILD)/ecl-mcp
IMAGE := $(BUILD)/ecl-mcp-image
MODULE := $(BUILD)/ecl-mcp-module.so
MODULE_FACTS := $(BUILD)/ecl-mcp-module.version
ELISP := $(BUILD)/elisp/.compiled
INFO := $(BUILD)/ecl-mcp.info
MAN := $(BUILD)/ecl-mcp.1

# The part for Emacs is built if Emacs and its header are installed.
HAS_EMACS := $(shell command -v emacs >/dev/null && \
  echo '\#include <emacs-module.h>' | $(CC) -E -x c - >/dev/null 2>&1 && echo yes)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: FORCE

.PHONY: all server image module elisp info
all: $(CORE_LIB) $(HOST_LIB) $(SUPERVISOR_LIB) $(if $(SERVER_SRC),server $(if $(filter release,$(PROFILE)),$(MAN))) $(if $(IMAGE_SRC),image) $(if $(HAS_EMACS),module $(if $(filter release,$(PROFILE)),elisp info)) ## build everything into build/PROFILE (debug, release, asan)
server: $(SERVER) ## build the server ecl-mcp
image: $(IMAGE) ## build the Lisp image ecl-mcp-image
module: $(MODULE) $(MODULE_FACTS) ## build the module for Emacs
elisp: $(ELISP) ## compile the elisp
info: $(INFO) ## make the manual for Emacs, if makeinfo (texinfo) is installed

# Objects are rebuilt when the compiler or a flag changes.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(OUR_CFLAGS) $(CFLAGS) $(OUR_LDFLAGS) $(LDFLAGS)' \
	  | cmp -s - $@ || \
	  echo '$(CC) $(OUR_CFLAGS) $(CFLAGS) $(OUR_LDFLAGS) $(LDFLAGS)' >$@

# The core is in programs and in the module, which exports nothing of it.
$(OBJ)/core/%.o $(OBJ)/host/%.o $(OBJ)/module/%.o: POSITION := -fPIC -fvisibility=hidden
$(OBJ)/%.o: POSITION := -fPIE
$(OBJ)/tests/%: INCLUDES_HERE := $(TEST_INCLUDES)
$(foreach ext,o tidy,$(IMAGE_SRC:%.c=$(OBJ)/%.$(ext))): INCLUDES_HERE = $(ECL_CFLAGS)
$(foreach name,$(ECL_TESTS) tests/bench/floor_lisp,$(OBJ)/$(name).o $(OBJ)/$(name).tidy): INCLUDES_HERE = $(TEST_INCLUDES) $(ECL_CFLAGS)

$(OBJ)/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -c -o $@ $< -MMD -MP -MF $(@:.o=.d) $(OUR_CFLAGS) $(host_flags) \
	  $(POSITION) $(INCLUDES_HERE) $(CFLAGS)

define archive
	$(call say,AR,$@)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)
endef

$(CORE_LIB): $(call objects,$(CORE_SRC))
	$(archive)

$(HOST_LIB): $(call objects,$(HOST_SRC))
	$(archive)

$(SUPERVISOR_LIB): $(call objects,$(SUPERVISOR_SRC))
	$(archive)

# Linked anew when LTO changes.
$(BUILD)/lto: FORCE
	@mkdir -p $(@D)
	@echo '$(LTO)' | cmp -s - $@ || echo '$(LTO)' >$@

ifneq ($(LTO),)
$(OBJ)/whole/%.o: %.c $(BUILD)/flags $(BUILD)/lto
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -c -o $@ $< -MMD -MP -MF $(@:.o=.d) $(OUR_CFLAGS) $(host_flags) \
	  -fPIE $(LTO) $(CFLAGS)

WHOLE := $(patsubst %.c,$(OBJ)/whole/%.o,$(SERVER_SRC) $(SUPERVISOR_SRC) $(HOST_SRC) $(CORE_SRC))

$(SERVER): $(WHOLE) $(BUILD)/lto
	$(call say,LD,$@)
	$(Q)$(CC) $(LTO) -pie -o $@ $(filter %.o,$^) $(OUR_LDFLAGS) $(LDFLAGS) $(SERVER_LIBS)

-include $(WHOLE:.o=.d)
else
$(SERVER): $(call objects,$(SERVER_SRC)) $(CORE_LIB) $(HOST_LIB) $(SUPERVISOR_LIB) $(BUILD)/lto
	$(call say,LD,$@)
	$(Q)$(CC) -pie -o $@ $(filter %.o,$^) $(SUPERVISOR_LIB) $(HOST_LIB) $(CORE_LIB) \
	  $(OUR_LDFLAGS) $(LDFLAGS) $(SERVER_LIBS)
endif

ifeq ($(PROFILE),asan)
# ECL's garbage collector scans stacks, and the sanitizers may move them: so the
# image is not instrumented.
$(IMAGE): FORCE
	$(Q)$(MAKE) --no-print-directory PROFILE=release image
	$(Q)mkdir -p $(@D) && cp -u build/release/ecl-mcp-image $@

# For the transcripts of native code it is, with stacks left where they are.
INSTRUMENTED := $(BUILD)/instrumented/ecl-mcp-image
all: $(INSTRUMENTED)
$(INSTRUMENTED): $(call objects,$(IMAGE_SRC) $(IMAGE_SHARED_SRC)) $(CORE_LIB) $(IMAGE) $(SERVER)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && cp -u $(SERVER) $(@D)/
	$(Q)echo 'const char *__asan_default_options(void) \
	  { return "detect_stack_use_after_return=0:detect_leaks=0"; }' | $(CC) -x c -c -o $(@D)/options.o -
	$(Q)$(CC) -pie -o $@ $(@D)/options.o $(filter %.o,$^) build/release/$(notdir $(LISP_LIB)) $(CORE_LIB) \
	  $(OUR_LDFLAGS) $(LDFLAGS) $(IMAGE_LDFLAGS) $(ECL_LDFLAGS)
else
$(IMAGE): $(call objects,$(IMAGE_SRC) $(IMAGE_SHARED_SRC)) $(LISP_LIB) $(CORE_LIB)
	$(call say,LD,$@)
	$(Q)$(CC) -pie -o $@ $(filter %.o,$^) $(LISP_LIB) $(CORE_LIB) \
	  $(OUR_LDFLAGS) $(LDFLAGS) $(IMAGE_LDFLAGS) $(ECL_LDFLAGS)
endif

$(MODULE): $(call objects,$(filter-out module/version_facts.c,$(MODULE_SRC))) $(HOST_LIB) $(CORE_LIB)
	$(call say,LD,$@)
	$(Q)$(CC) -shared -o $@ $(filter %.o,$^) $(HOST_LIB) $(CORE_LIB) \
	  $(OUR_LDFLAGS) $(LDFLAGS) $(LIBS)

# What Emacs can know of the module before it loads it.
$(OBJ)/module/version_facts: $(call objects,module/version_facts.c)
	$(call say,LD,$@)
	$(Q)$(CC) -pie -o $@ $^ $(OUR_LDFLAGS) $(LDFLAGS)

$(MODULE_FACTS): $(OBJ)/module/version_facts $(MODULE)
	$(Q)$< >$@

# Compiled, and with the file of autoloads.
$(ELISP): $(ELISP_SRC) scripts/elisp-build.el
	$(call say,EMACS,$@)
	@rm -rf $(@D) && mkdir -p $(@D) && cp $(ELISP_SRC) $(@D)/
	$(Q)emacs -Q --batch -l scripts/elisp-build.el $(@D) >$(OBJ)/elisp.log 2>&1 \
	  || { cat $(OBJ)/elisp.log; exit 1; }
	@touch $@

$(INFO): elisp/ecl-mcp.texi
	$(call say,INFO,$@)
	@mkdir -p $(@D)
	$(Q)if command -v makeinfo >/dev/null; then makeinfo --no-split -o $@ $<; fi

$(MAN): $(SERVER) scripts/man.sh
	$(call say,MAN,$@)
	$(Q)sh scripts/man.sh $< >$@

$(LISP_LIB): $(LISP_SRC) lisp/ecl-mcp.asd
	$(call say,ECL,$@)
	@mkdir -p $(OBJ)/lisp
	$(Q)ecl --norc --shell lisp/build.lisp -- $(OBJ)/lisp/ >$(OBJ)/lisp.log 2>&1 \
	  || { cat $(OBJ)/lisp.log; exit 1; }
	@cp $(OBJ)/lisp/$(@F) $@

-include $(patsubst %.c,$(OBJ)/%.d,$(PRODUCT_SRC) $(TEST_SRC)) \
  $(HEADERS:%=$(OBJ)/%.d)

# ----------------------------------------------------------- dependencies

.PHONY: deps deps-demo deps-check
deps: deps-check ## install all Debian packages for build and tests that are missing
deps-demo:
	$(Q)sh scripts/deps.sh demo
deps-check:
	$(Q)sh scripts/deps.sh check

# ------------------------------------------------------------------ tests

UNIT := $(UNIT_SRC:%.c=$(BUILD)/%)
IMAGE_TESTS := $(IMAGE_TEST_SRC:%.c=$(BUILD)/%)
FUZZERS := $(FUZZ_SRC:%.c=$(BUILD)/%)
SUITES := $(if $(wildcard tests/server/run.mjs),server asan-server asan-native) \
  $(if $(wildcard tests/clients/run.mjs),clients conformance agents) \
  $(if $(wildcard tests/hostile/run.mjs),hostile attacks) \
  $(if $(wildcard tests/shared/run.mjs),shared asan-shared) \
  $(if $(wildcard tests/walls/run.mjs),walls) \
  $(if $(wildcard tests/lisp/*.lisp),lisp lisp-native) \
  $(if $(wildcard tests/terminal/run.mjs),terminal) \
  $(if $(wildcard tests/window/run.mjs),window) \
  $(if $(ELISP_TEST_SRC),elisp) \
  $(if $(IMAGE_TEST_SRC),image) $(if $(FUZZ_SRC),fuzz-corpus) install docs diff \
  module asan-module $(if $(UNIT_SRC),unit oom asan-unit)
jobs = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
suite = @sh scripts/suite.sh $(BUILD)/suites

.PHONY: demo
demo: deps-demo ## install what is missing, build, and play a conversation with the server
	+$(Q)$(MAKE) --no-print-directory $(jobs) all
	$(Q)node tests/server/run.mjs --show tests/server/demo.mcp

.PHONY: check check-suites tests $(SUITES:%=check-%) check-server-interpreted bench
check: deps-check ## install what the tests need, then run every test
	+$(Q)$(MAKE) --no-print-directory $(jobs) check-suites

# Transcripts share a home. Once a library is in its cache, no transcript waits
# for another one that compiles it.
LIBRARIES := build/tests/home/.libraries
$(LIBRARIES): | all
	$(call say,DEMO,tests/server/demo.mcp)
	@mkdir -p $(@D)
	$(Q)node tests/server/run.mjs tests/server/demo.mcp \
	  tests/server/load-system.mcp --jobs 1 >$@.log || cat $@.log
	@touch $@

TRIXIE_TARGET := check
.PHONY: check-trixie
check-trixie: ## every test in a Debian 13 below build/trixie; as root (TRIXIE_TARGET=check)
	$(Q)sh scripts/trixie.sh $(CURDIR)/build/trixie '$(TRIXIE_TARGET)'

check-suites: all tests asan-tests $(LIBRARIES)
	@rm -rf $(BUILD)/suites
	+@$(MAKE) --no-print-directory -k $(jobs) $(SUITES:%=check-%); \
	  sh scripts/total.sh $(BUILD)/suites $(SUITES)

tests: $(UNIT) $(UNIT:%=%.oom) $(IMAGE_TESTS) $(FUZZERS)

define link
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -pie -o $@ $^ $(OUR_LDFLAGS) $(LDFLAGS)
endef

# In the profile fuzz the fuzzer has its own main; otherwise replay.c has it.
$(FUZZERS): $(BUILD)/%: $(OBJ)/%.o $(if $(filter fuzz,$(PROFILE)),,\
  $(OBJ)/tests/fuzz/replay.o) $(SUPERVISOR_LIB) $(CORE_LIB)
	$(link) $(if $(filter fuzz,$(PROFILE)),-fsanitize=fuzzer) $(LIBS)

TEST_LIBS = $(call objects,$(SUPPORT_SRC)) $(SUPERVISOR_LIB) $(HOST_LIB) $(CORE_LIB)
WRAPPED := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free

$(UNIT): $(BUILD)/%: $(OBJ)/%.o $(TEST_LIBS)
	$(link) -lcmocka $(LIBS)

# These tests also enter the sandbox themselves.
$(IMAGE_TESTS): $(BUILD)/%: $(OBJ)/%.o $(call objects,image/sandbox_enter.c \
  image/aliases.c image/connection.c image/frozen.c image/hidden.c \
  image/hidden_paths.c image/keeper.c image/landlock.c image/listing.c image/mounts.c \
  image/namespace.c image/nothing.c image/remembered.c image/sleeper.c image/slot.c \
  image/syscall_filter.c image/syscall_table.c image/syscall_arguments.c \
  image/filter_program.c) $(TEST_LIBS)
	$(link) -lcmocka $(LIBS) -lseccomp $(ECL_HERE)
$(ECL_TESTS:%=$(BUILD)/%): ECL_HERE = $(ECL_LDFLAGS) $(IMAGE_LDFLAGS)

$(UNIT:%=%.oom): $(BUILD)/%.oom: $(OBJ)/%.o $(TEST_LIBS)
	$(link) $(WRAPPED) -lcmocka $(LIBS)

# These are also about parts of the server's loop.
$(BUILD)/tests/unit/test_sockets $(BUILD)/tests/unit/test_sockets.oom: $(call objects,\
  server/address.c server/emacs.c server/link_attach.c)

check-image: $(IMAGE) $(IMAGE_TESTS) ## the supervisor with real images
	$(suite) image sh scripts/cmocka.sh image $(IMAGE_TESTS:%='% $(IMAGE)')

# The module in a real Emacs. LD_PRELOAD brings the sanitizers into it; they do
# not look for leaks, since Emacs has many. One test loads a copy of the module.
EMACS_TEST := emacs -Q --batch --module-assertions -l tests/support/quiet.el \
  -l tests/module/run.el

check-module: all ## the module for Emacs, in a real Emacs
	$(suite) module $(EMACS_TEST) $(BUILD) module

check-asan-module: asan-tests
	$(suite) asan-module env LD_PRELOAD="$$($(CC) -print-file-name=libasan.so)" \
	  ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0:suppressions=$(CURDIR)/tests/module/asan.supp \
	  $(EMACS_TEST) build/asan asan-module

check-unit: $(UNIT) ## unit tests in C
	$(suite) unit sh scripts/cmocka.sh unit $(UNIT)

check-oom: $(UNIT:%=%.oom) ## unit tests, with every allocation failing in turn
	$(suite) oom sh scripts/cmocka.sh oom $(UNIT:%=%.oom)

# One build for all suites; after `all`, because it uses that image.
.PHONY: asan-tests
asan-tests: all
	+$(Q)$(MAKE) --no-print-directory PROFILE=asan all tests

.PHONY: check-asan
check-asan: check-asan-unit check-asan-server check-asan-native check-asan-shared check-asan-module check-fuzz-corpus ## unit tests, corpus and transcripts under the sanitizers

check-asan-unit: asan-tests
	$(suite) asan-unit sh scripts/cmocka.sh asan-unit $(UNIT:$(BUILD)/%=build/asan/%)

# Without the transcripts that limit memory: the sanitizer needs more of it.
check-asan-server: asan-tests $(LIBRARIES)
	$(suite) asan-server node tests/server/run.mjs \
	  --program $(CURDIR)/build/asan/ecl-mcp \
	  $(shell grep -L '^memory front' tests/server/*.mcp)

# The image, too: what makes functions native is C in it.
check-asan-native: asan-tests
	$(suite) asan-native node tests/server/run.mjs \
	  --program $(CURDIR)/build/asan/instrumented/ecl-mcp \
	  $(wildcard tests/server/native*.mcp)

check-fuzz-corpus: asan-tests ## the kept inputs of the fuzzers, under sanitizers
	$(suite) fuzz-corpus sh scripts/corpus.sh fuzz-corpus tests/fuzz/corpus \
	  $(FUZZERS:$(BUILD)/%=build/asan/%)

.PHONY: fuzz
fuzz: ## search for new inputs, SECONDS=60 for each parser
	+$(Q)$(MAKE) --no-print-directory PROFILE=fuzz fuzz-run

.PHONY: fuzz-run
fuzz-run: $(FUZZERS)
	$(Q)for program in $(FUZZERS); do \
	  name=$${program##*/fuzz_}; mkdir -p $(BUILD)/found/$$name; \
	  $$program -max_total_time=$(SECONDS) -print_final_stats=1 \
	    -artifact_prefix=$(BUILD)/found/ \
	    $(BUILD)/found/$$name tests/fuzz/corpus/$$name || exit 1; done

.PHONY: soak
soak: all ## EVALUATIONS=2000 random evaluations under random kills, against a model
	$(Q)EVALUATIONS='$(EVALUATIONS)' node tests/soak/soak.mjs $(SEED)

check-shared: all ## several servers that share Lisp images
	$(suite) shared node tests/shared/run.mjs

check-asan-shared: asan-tests
	$(suite) asan-shared node tests/shared/run.mjs --suite asan-shared \
	  --program $(CURDIR)/build/asan/ecl-mcp

check-hostile: all ## evaluations that broke other servers
	$(suite) hostile node tests/hostile/run.mjs --part evaluations

check-attacks: all ## attacks on its own process, and kills in the middle of calls
	$(suite) attacks node tests/hostile/run.mjs --part attacks

ATTEMPT := $(BUILD)/attempt
WITHOUT := $(BUILD)/without
$(ATTEMPT): $(call objects,$(filter-out %/without.c,$(wildcard tests/walls/*.c)))
	$(link)

$(WITHOUT): $(call objects,tests/walls/without.c)
	$(link) -lseccomp

check-walls: all $(ATTEMPT) $(WITHOUT) ## attempts against the sandbox, with controls
	$(suite) walls node tests/walls/run.mjs --build $(abspath $(BUILD))

$(BUILD)/differ: $(call objects,tests/diff/differ.c) $(CORE_LIB)
	$(link) $(LIBS)

check-diff: $(BUILD)/differ ## the diff engine against diff(1) and patch(1)
	$(suite) diff node tests/diff/run.mjs $(BUILD)/differ $(SEED)

check-docs: all ## the documents agree with the program and the code
	$(suite) docs node tests/docs/run.mjs $(SERVER)

.PHONY: docs
docs: server ## write docs/tools.md
	$(Q)node scripts/tools-doc.mjs $(SERVER) >docs/tools.md

$(BUILD)/print-tools: $(call objects,tests/lisp/print_tools.c) \
  $(SUPERVISOR_LIB) $(CORE_LIB)
	$(link) $(LIBS)

# What the tools of the core send, for the tests of the operations.
$(OBJ)/lisp/tools.sexp: $(BUILD)/print-tools
	@mkdir -p $(@D)
	$(Q)$< >$@

check-lisp: all $(OBJ)/lisp/tools.sexp ## the Lisp library in a real ECL
	$(suite) lisp ecl --norc --shell tests/lisp/run.lisp -- $(OBJ)/lisp/ \
	  $(OBJ)/lisp/tools.sexp

# Compiled functions find the thread's environment here, as in the image.
$(OBJ)/lisp/thread_env.so: image/thread_env.c
	$(call say,LD,$@)
	$(Q)$(CC) $(OUR_CFLAGS) -D_GNU_SOURCE -fPIC -shared $(ECL_CFLAGS) -o $@ $<

check-lisp-native: export SUITE_SECONDS ?= 900
check-lisp-native: all $(OBJ)/lisp/tools.sexp $(OBJ)/lisp/thread_env.so ## the Lisp library, with functions native at once
	$(suite) lisp-native env ECL_MCP_NATIVE=now LD_PRELOAD=$(abspath $(OBJ))/lisp/thread_env.so \
	  ecl --norc --shell tests/lisp/run.lisp -- $(OBJ)/lisp/ $(OBJ)/lisp/tools.sexp

# Each key waits as long as a human does.
check-terminal: export SUITE_SECONDS ?= 900
check-terminal: all ## keys, windows and redisplay in an Emacs in a terminal
	$(suite) terminal node tests/terminal/run.mjs

check-window: all ## mouse, menus, fonts and frames in an Emacs with windows, if there is one
	$(suite) window node tests/window/run.mjs

.PHONY: window-emacs
window-emacs: ## unpack an Emacs with windows below build/x11, for check-window
	$(Q)sh scripts/window-emacs.sh

check-elisp: all ## the elisp in Emacs, in batch; ELISP_TESTS=REGEXP selects tests
	$(suite) elisp sh tests/elisp/run.sh $(BUILD)

check-install: all ## install, use what is installed, uninstall
	+$(suite) install sh tests/install/run.sh $(CURDIR)/$(BUILD)/installed

check-clients: all ## the official clients and schemas, from the npm registry
	$(suite) clients node tests/clients/run.mjs

# Some compile libraries of Debian.
check-server check-server-interpreted check-asan-server: export SUITE_SECONDS ?= 900
check-server: all $(LIBRARIES) $(WITHOUT) ## transcripts against the real program
	$(suite) server node tests/server/run.mjs

check-server-interpreted: all $(LIBRARIES) $(WITHOUT) ## transcripts, while functions stay interpreted
	$(suite) server-interpreted node tests/server/run.mjs \
	  --program '$(CURDIR)/$(SERVER) --native off'

# The server with the fixtures of the suite instead of extras.c.
CONFORMANCE := $(BUILD)/ecl-mcp-conformance
$(CONFORMANCE): $(call objects,$(filter-out %/extras.c,$(SERVER_SRC)) \
  tests/conformance/fixtures.c) $(SUPERVISOR_LIB) $(HOST_LIB) $(CORE_LIB)
	$(link) $(LIBS)

check-conformance: all $(CONFORMANCE) ## the official conformance suite of MCP
	$(suite) conformance node tests/conformance/run.mjs $(CONFORMANCE)

# The first run downloads some 600 MB.
check-agents: export SUITE_SECONDS ?= 600
check-agents: all ## sessions with real coding agents and a scripted model
	$(suite) agents node tests/agents/run.mjs $(SERVER)

$(BUILD)/bench: $(call objects,$(filter-out %/echo.c %/floor.c %/floor_lisp.c,$(BENCH_SRC))) $(CORE_LIB)
	$(link) $(LIBS)

$(BUILD)/bench-echo: $(call objects,tests/bench/echo.c)
	$(link)

$(BUILD)/bench-floor: $(call objects,tests/bench/floor.c tests/bench/floor_lisp.c)
	$(link) $(LIBS) $(ECL_LDFLAGS)

bench: all $(BUILD)/bench $(BUILD)/bench-echo $(BUILD)/bench-floor ## speed and memory against references; PART=growth for a part of it
	@rm -rf $(BUILD)/bench-home && mkdir -p $(BUILD)/bench-home
	$(Q)HOME=$(CURDIR)/$(BUILD)/bench-home $(BUILD)/bench $(SERVER) $(BUILD)/bench-echo $(BUILD)/bench-floor tests/bench/client.mjs tests/bench/turns.mjs tests/bench/speed.lisp $(PART)
	$(if $(PART),,$(Q)emacs -Q --batch -L $(BUILD)/elisp -l tests/bench/emacs.el $(BUILD))
	$(if $(PART),,$(Q)TERM=xterm timeout 300 script -qec 'stty cols 100 rows 40; emacs -Q -nw -L $(BUILD)/elisp -L tests/elisp \
		-l tests/bench/emacs-review.el -f bench-review-all $(BUILD) $(BUILD)/reviews.txt' \
		/dev/null >/dev/null; cat $(BUILD)/reviews.txt; ! grep -q MISSED $(BUILD)/reviews.txt)

# ------------------------------------------------------------------- lint

C_SRC = $(PRODUCT_SRC) $(TEST_SRC)
C_FILES = $(C_SRC) $(HEADERS) $(TEST_HEADERS)

.PHONY: lint lint-clang tidy format-check format layers headers plain lisp-lint elisp-lint
lint: deps-check ## all checks of the sources below, and clang's warnings
	+$(Q)$(MAKE) --no-print-directory $(jobs) PROFILE=clang plain layers format-check \
	  headers lisp-lint elisp-lint lint-clang tidy
	@echo 'lint: clean'

lint-clang: $(call objects,$(C_SRC))

tidy: $(patsubst %.c,$(OBJ)/%.tidy,$(C_SRC)) ## clang-tidy on files that have changed

$(OBJ)/%.tidy: %.c $(OBJ)/%.o .clang-tidy
	$(call say,TIDY,$<)
	$(Q)clang-tidy --quiet $< -- $(OUR_CFLAGS) $(host_flags) $(INCLUDES_HERE) \
	  >$@.log 2>&1 || { cat $@.log; exit 1; }
	@touch $@

# Other versions break lines in other places.
format-check: ## clang-format 14 would change nothing
	$(Q)case $$(clang-format --version) in \
	*'version 14.'*) clang-format --dry-run --Werror $(C_FILES) ;; \
	*) echo 'format-check: skipped, this is not clang-format 14' ;; \
	esac

format: ## format every C file with clang-format
	$(Q)clang-format -i $(C_FILES)

layers: $(CORE_LIB) ## who includes whom, and what the core imports
	$(Q)sh scripts/imports.sh $(CORE_LIB) scripts/core-imports.txt
	$(Q)awk -f scripts/layers.awk scripts/LAYERS core/core.h \
	  $(filter-out core/core.h,$(PRODUCT_SRC) $(HEADERS))

headers: $(HEADERS:%=$(OBJ)/%.ok) ## every header compiles alone

$(OBJ)/%.h.ok: %.h $(BUILD)/flags
	$(call say,HEADER,$<)
	@mkdir -p $(@D)
	$(Q)echo 'extern int one;' | $(CC) -fsyntax-only -include $< -x c - -MMD -MP -MT $@ \
	  -MF $(@:.ok=.d) $(OUR_CFLAGS) $(TEST_INCLUDES) $(ECL_CFLAGS) $(CFLAGS)
	@touch $@

plain: ## licence lines, sizes, no absolute paths; tests of limits; the image protocol
	$(Q)sh scripts/plain.sh
	$(Q)sh scripts/limits.sh
	$(Q)awk -f scripts/protocol-doc.awk core/wire/wire.h image/control.h \
	  docs/image-protocol.md

lisp-lint: ## form, ECL's symbols only in their files, docstrings
	$(Q)awk -f scripts/lisp-lint.awk $(LISP_SRC)
	$(Q)ecl --norc --shell scripts/lisp-docs.lisp -- lisp/packages.lisp \
	  $(filter-out lisp/packages.lisp lisp/build.lisp,$(LISP_SRC)) >$(BUILD)/lisp-docs.log \
	  || { cat $(BUILD)/lisp-docs.log; exit 1; }

elisp-lint: ## byte-compiler, checkdoc, check-declare, package-lint, relint
	@mkdir -p $(BUILD)/elc
	$(Q)emacs -Q --batch -L elisp -L tests/elisp -l scripts/elisp-lint.el \
	  $(BUILD)/elc $(ELISP_SRC) $(ELISP_TEST_SRC) scripts/elisp-lint.el \
	  >$(BUILD)/elisp-lint.log 2>&1 || { cat $(BUILD)/elisp-lint.log; exit 1; }

# ---------------------------------------------------------------- install

DOC := $(DESTDIR)$(PREFIX)/share/doc/ecl-mcp
# Files for one architecture, and for all; the elisp finds the module from its
# own folder.
LIB := $(DESTDIR)$(PREFIX)/lib/ecl-mcp
MAN_DIR := $(DESTDIR)$(PREFIX)/share/man/man1
COMPLETIONS := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
SITE_LISP := $(DESTDIR)$(PREFIX)/share/emacs/site-lisp/ecl-mcp
INFO_DIR := $(DESTDIR)$(PREFIX)/share/info
# Adds the manual to the menu. Not with DESTDIR: a package does it on installing.
info_dir = { [ -n '$(DESTDIR)' ] || ! command -v install-info >/dev/null || \
  install-info $(1) --info-dir='$(INFO_DIR)' '$(INFO_DIR)/ecl-mcp.info'; }

# A relative one would mean a folder of the clone, and a ~ in it one named ~.
ifneq ($(filter install install-emacs uninstall,$(MAKECMDGOALS)),)
ifneq ($(filter-out /%,$(firstword $(PREFIX))),)
$(error PREFIX=$(PREFIX) is not absolute; give the whole path, such as PREFIX=$(HOME)/.local)
endif
endif

.PHONY: install install-emacs may-install uninstall
# What install(1) says then does not name the cause.
may-install:
	@for folder in bin lib libexec share; do \
	  at='$(DESTDIR)$(PREFIX)'/$$folder; \
	  while [ ! -e "$$at" ]; do at=$$(dirname "$$at"); done; \
	  [ -d "$$at" ] && [ -w "$$at" ] || { \
	    echo "make install: $$at is not a folder in which you may write;" \
	      "run it as root, or give another PREFIX, such as PREFIX=$(HOME)/.local" >&2; \
	    exit 1; }; \
	done

install: may-install all $(if $(HAS_EMACS),install-emacs) ## install below DESTDIR and PREFIX (default: /usr/local)
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/libexec/ecl-mcp' \
	  '$(DOC)/docs/adr' '$(DOC)/docs/images' '$(MAN_DIR)' '$(COMPLETIONS)'
	install -m 755 $(SERVER) '$(DESTDIR)$(PREFIX)/bin/'
	install -m 755 $(IMAGE) '$(DESTDIR)$(PREFIX)/libexec/ecl-mcp/'
	install -m 644 $(MAN) '$(MAN_DIR)/'
	install -m 644 scripts/completion.bash '$(COMPLETIONS)/ecl-mcp'
	install -m 644 README.md CHANGELOG.md LICENSE '$(DOC)/'
	install -m 644 $(wildcard docs/*.md) '$(DOC)/docs/'
	install -m 644 $(wildcard docs/adr/*.md) '$(DOC)/docs/adr/'
	install -m 644 $(wildcard docs/images/*.png) '$(DOC)/docs/images/'

install-emacs: may-install module elisp info
	install -d '$(LIB)' '$(SITE_LISP)'
	install -m 644 $(MODULE) $(MODULE_FACTS) '$(LIB)/'
	install -m 644 $(BUILD)/elisp/*.el $(BUILD)/elisp/*.elc '$(SITE_LISP)/'
	[ ! -e $(INFO) ] || { install -d '$(INFO_DIR)' && \
	  install -m 644 $(INFO) '$(INFO_DIR)/' && $(call info_dir,); }

uninstall: ## remove what install installed, with the same DESTDIR and PREFIX
	[ ! -e '$(INFO_DIR)/ecl-mcp.info' ] || $(call info_dir,--delete)
	rm -f '$(INFO_DIR)/ecl-mcp.info'
	rm -f '$(DESTDIR)$(PREFIX)/bin/ecl-mcp' '$(MAN_DIR)/ecl-mcp.1' '$(COMPLETIONS)/ecl-mcp'
	rm -rf '$(DESTDIR)$(PREFIX)/libexec/ecl-mcp' '$(DOC)' '$(LIB)' '$(SITE_LISP)'

# ----------------------------------------------------------------- others

.PHONY: compdb clean help
compdb: ## write compile_commands.json for editors
	@{ printf '['; comma=; for file in $(C_SRC); do \
	  printf '%s\n{"directory": "%s", "file": "%s", "command": "%s"}' \
	    "$$comma" "$$PWD" $$file "$(CC) -c $$file $(OUR_CFLAGS) $(TEST_INCLUDES) $(ECL_CFLAGS)"; \
	  comma=,; done; printf '\n]\n'; } >compile_commands.json

clean: ## remove everything that was built
	rm -rf build compile_commands.json

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-24s %s\n", $$1, $$2 }' \
	  Makefile
