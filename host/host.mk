# SPDX-License-Identifier: MIT
# Host tests: the pure parts, compiled for the development machine. Included by the top Makefile,
# and usable alone: make -f host/host.mk check
#
#   make check            every test program, with gcc as the code is used and with clang under ASan
#                         and UBSan, and a short fuzz run that is the same every time. With LONG=1
#                         more inputs, the sanitizers with gcc too, and the searches (HOST_SEARCHES)
#                         with clang too
#   make fuzz SECONDS=n   all fuzz targets together for n seconds, from a random start
#
# Tests are found by name: host/{unit,golden,model,engine}/test_*.c and host/fuzz/fuzz_*.c.

ROOT	?= .
BUILD	?= build
SECONDS	?= 60
LONG	?=
HOST_CHECK_RUNS ?= $(if $(LONG),20000,5000)

HOST_CC_NAMES	?= gcc clang
HOST_WARNINGS	?= -Wall -Wextra -Werror -Wconversion -Wsign-conversion -Wshadow -Wcast-align -Wvla \
		   -Wstrict-prototypes -Wmissing-prototypes
HOST_QR := $(ROOT)/.cache/qr/c
HOST_CFLAGS	?= -std=gnu11 -O1 -g1 $(HOST_WARNINGS) -isystem $(HOST_QR)
HOST_SANITIZE	?= -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# What the sanitizers see doesn't depend on the compiler; they double what each program costs.
HOST_LINK_gcc := $(if $(LONG),$(HOST_SANITIZE))
HOST_LINK_clang := $(HOST_SANITIZE)
HOST_SANITIZE_gcc := $(HOST_LINK_gcc)
HOST_CFLAGS_gcc   ?= -Warith-conversion
HOST_CFLAGS_clang ?= -Wshorten-64-to-32
# Tests and fuzz targets share clang's objects, which tell a fuzz target which branches were taken.
HOST_SANITIZE_clang := $(HOST_SANITIZE) -fsanitize=fuzzer-no-link

# Everything that may be compiled for the host: no privileged instruction, no firmware.
HOST_PURE := $(sort $(wildcard $(addprefix $(ROOT)/, refpmu/model/*.c refpmu/model/*/*.c refpmu/faults/*.c refpmu/faults/*/*.c \
	     refpmu/launch/plan.c refpmu/launch/fault.c refpmu/launch/span.c refpmu/launch/pe.c \
	     refpmu/vmm/configure.c platform/*.c \
	     pmu/hypervisor.c pmu/lbr/format.c pmu/lbr/arch_format.c pmu/leaves.c pmu/version6/version6.c pmu/version6/arch_record.c pmu/adaptive.c pmu/record.c boot/config.c boot/direct/words.c boot/smbios.c boot/spread.c boot/summary.c boot/watchdog/timer.c boot/watchdog/wdat.c boot/results/frame.c boot/results/items.c boot/results/totals.c boot/results/variable.c boot/results/reports.c boot/results/text.c boot/results/machine.c \
	     boot/screen/grid.c boot/screen/progress.c boot/screen/pages.c boot/screen/keys.c boot/screen/code.c kernel/output/raster.c \
	     kernel/processor/confidential.c \
	     kernel/output/fmt.c kernel/output/tap.c kernel/processor/topology.c \
	     tests/frame/applies.c tests/frame/glob.c tests/frame/old_names.c tests/frame/tally.c tests/frame/verdict.c \
	     tests/random/claim.c tests/random/draw*.c tests/random/oracle*.c \
	     tests/random/adaptive/draw_adaptive.c tests/random/adaptive/oracle*.c \
	     tests/random/arch/draw*.c tests/random/arch/oracle*.c tests/random/registers/shadow.c \
	     tests/random/branches/branch.c tests/random/branches/draw_branches.c tests/random/branches/oracle*.c \
	     tests/random/refused/*.c \
	     tests/random/piece.c tests/random/prng.c tests/random/trace.c)))
HOST_TESTS := $(sort $(wildcard $(addprefix $(ROOT)/host/, unit/test_*.c golden/test_*.c \
	      model/test_*.c)))
HOST_FUZZ  := $(sort $(wildcard $(ROOT)/host/fuzz/fuzz_*.c))
# What several tests or fuzz targets share: every other source below host/.
HOST_SHARED := $(sort $(filter-out $(HOST_TESTS) $(HOST_FUZZ) $(ROOT)/host/engine/% \
	       $(ROOT)/host/model/without_faults.c, \
	       $(wildcard $(ROOT)/host/*/*.c $(ROOT)/host/*/*/*.c)))

# A long run's objects are others.
HOST_OUT := $(BUILD)/host$(if $(LONG),-long)
# The pieces of drawn programs: their table. Nothing runs them here.
HOST_ASM := $(HOST_OUT)/asm/tests/random/piece.o
# V=1 shows the commands.
HOST_Q := $(if $(V),,@)
host_objects = $(patsubst $(ROOT)/%.c, $(HOST_OUT)/$(1)/%.o, $(2))

# $(1): gcc or clang. One static library of the pure parts; each test is one source over it.
define host_compiler
$$(HOST_OUT)/$(1)/%.o: $$(ROOT)/%.c
	@mkdir -p $$(@D)
	@echo "  $(1) $$<"
	$$(HOST_Q)$(1) $$(HOST_CFLAGS) $$(HOST_CFLAGS_$(1)) $$(HOST_SANITIZE_$(1)) -I$$(ROOT) -MMD -MP -c $$< -o $$@

# The maker of QR Codes, as it comes.
$$(HOST_OUT)/$(1)/qrcodegen.o: $$(HOST_QR)/qrcodegen.c
	@mkdir -p $$(@D)
	@echo "  $(1) $$<"
	$$(HOST_Q)$(1) -std=gnu11 -O1 -g -w $$(HOST_SANITIZE_$(1)) -c $$< -o $$@

$$(HOST_OUT)/$(1)/libpure.a: $$(call host_objects,$(1),$$(HOST_PURE) $$(HOST_SHARED)) $$(HOST_ASM) \
		$$(HOST_OUT)/$(1)/qrcodegen.o
	@mkdir -p $$(@D)
	@rm -f $$@
	@ar qcs $$@ $$^

$$(HOST_OUT)/$(1)/%: $$(HOST_OUT)/$(1)/%.o $$(HOST_OUT)/$(1)/libpure.a
	$$(HOST_Q)$(1) $$(HOST_LINK_$(1)) $$^ -o $$@

host-tests-$(1): $$(patsubst $$(ROOT)/%.c,$$(HOST_OUT)/$(1)/%,$$(HOST_TESTS))
.PHONY: host-tests-$(1)
-include $$(patsubst %.o,%.d,$$(call host_objects,$(1),$$(HOST_PURE) $$(HOST_SHARED) $$(HOST_TESTS)))
endef
$(foreach cc,$(sort $(HOST_CC_NAMES) clang),$(eval $(call host_compiler,$(cc))))

# The model without refpmu/faults/ (refpmu/model/hooks.h), and over it, once more, the tests that need
# no fault.
HOST_NO_FAULTS := $(filter $(ROOT)/refpmu/model/%,$(HOST_PURE))
HOST_NO_FAULTS_TESTS := $(filter $(addprefix $(ROOT)/host/model/test_model_, access.c core.c counter.c \
	       cpuid.c elision.c event_log.c generations.c latitude.c memory.c msr.c netburst.c pebs.c pmi.c \
	       priority.c random.c rules.c tx.c uncore.c), $(HOST_TESTS))
host_no_fault_objects = $(patsubst $(ROOT)/%.c, $(HOST_OUT)/$(1)-no-faults/%.o, $(HOST_NO_FAULTS))

define host_no_faults
$$(HOST_OUT)/$(1)-no-faults/%.o: $$(ROOT)/%.c
	@mkdir -p $$(@D)
	@echo "  $(1) $$< (without faults)"
	$$(HOST_Q)$(1) $$(HOST_CFLAGS) $$(HOST_CFLAGS_$(1)) $$(HOST_SANITIZE_$(1)) -DMODEL_WITHOUT_FAULTS \
		-I$$(ROOT) -MMD -MP -c $$< -o $$@

$$(HOST_OUT)/$(1)-no-faults/libpure.a: $$(call host_no_fault_objects,$(1)) \
		$$(call host_objects,$(1),$$(HOST_SHARED) $(ROOT)/host/model/without_faults.c)
	@mkdir -p $$(@D)
	@rm -f $$@
	@ar qcs $$@ $$^

$$(HOST_OUT)/$(1)-no-faults/%: $$(HOST_OUT)/$(1)/%.o $$(HOST_OUT)/$(1)-no-faults/libpure.a
	@mkdir -p $$(@D)
	$$(HOST_Q)$(1) $$(HOST_LINK_$(1)) $$^ -o $$@

host-tests-$(1): $$(patsubst $$(ROOT)/%.c,$$(HOST_OUT)/$(1)-no-faults/%,$$(HOST_NO_FAULTS_TESTS))
-include $$(patsubst %.o,%.d,$$(call host_no_fault_objects,$(1)))
endef
# Which code there is without them is no matter of the compiler: the first one, in a long run each.
HOST_NO_FAULTS_CC := $(if $(LONG),$(HOST_CC_NAMES),$(firstword $(HOST_CC_NAMES)))
$(foreach cc,$(HOST_NO_FAULTS_CC),$(eval $(call host_no_faults,$(cc))))

# The engine's blocks run in the test's own process and may write anywhere: no ASan, whose shadow
# they would find. They need the decoder, which the top Makefile fetches.
HOST_ENGINE := $(sort $(wildcard $(addprefix $(ROOT)/, refpmu/engine/dbt/block_*.c refpmu/engine/emulate/emulate_*.c \
	       refpmu/engine/dbt/code_fields.c refpmu/engine/decode_insn.c refpmu/engine/code_flow.c refpmu/engine/code_scan.c)) \
	       $(filter-out $(ROOT)/host/engine/test_%, $(wildcard $(ROOT)/host/engine/*.c)))
HOST_ENGINE_TESTS := $(sort $(wildcard $(ROOT)/host/engine/test_*.c))
# DBT=0: there is no translator, so no tests of it.
ifeq ($(DBT),0)
HOST_ENGINE := $(addprefix $(ROOT)/refpmu/engine/,decode_insn.c code_flow.c code_scan.c)
HOST_SKIPPED := $(ROOT)/host/engine/test_blocks.c $(ROOT)/host/engine/test_fast_decode.c
HOST_ENGINE_TESTS := $(filter-out $(HOST_SKIPPED),$(HOST_ENGINE_TESTS))
endif
HOST_ENGINE_SANITIZE := -fsanitize=undefined -fno-sanitize-recover=all
HOST_ZYDIS := $(ROOT)/.cache/zydis
HOST_ZYDIS_CFLAGS := -DZYDIS_STATIC_BUILD -DZYCORE_STATIC_BUILD -DZYDIS_DISABLE_AVX512 \
	       -DZYDIS_DISABLE_KNC -DZYDIS_DISABLE_ENCODER -DZYDIS_DISABLE_FORMATTER \
	       -isystem $(HOST_ZYDIS)/include
HOST_ZYDIS_OBJS := $(patsubst %,$(HOST_OUT)/zydis/%.o,Decoder DecoderData SharedData Register)

HOST_ENGINE_ASM := $(HOST_OUT)/asm/refpmu/engine/emulate/emulate.o

$(HOST_OUT)/asm/%.o: $(ROOT)/%.asm
	@mkdir -p $(@D)
	$(HOST_Q)$(or $(NASM),nasm) -f elf64 -I$(ROOT)/ -MD $(@:.o=.d) -MP -MT $@ $< -o $@

-include $(HOST_ASM:.o=.d)

$(HOST_OUT)/zydis/%.o: $(HOST_ZYDIS)/src/%.c
	@mkdir -p $(@D)
	$(HOST_Q)gcc -std=gnu11 -O1 -g $(HOST_ZYDIS_CFLAGS) -I$(HOST_ZYDIS)/src -w -c $< -o $@

host_engine_objects = $(patsubst $(ROOT)/%.c, $(HOST_OUT)/$(1)-engine/%.o, $(2))

define host_engine
$$(HOST_OUT)/$(1)-engine/%.o: $$(ROOT)/%.c
	@mkdir -p $$(@D)
	@echo "  $(1) $$<"
	$$(HOST_Q)$(1) $$(HOST_CFLAGS) $$(HOST_CFLAGS_$(1)) $$(HOST_ENGINE_SANITIZE) -I$$(ROOT) \
		$$(HOST_ZYDIS_CFLAGS) -MMD -MP -c $$< -o $$@

$$(HOST_OUT)/$(1)/host/engine/%: $$(HOST_OUT)/$(1)-engine/host/engine/%.o \
		$$(call host_engine_objects,$(1),$$(HOST_ENGINE)) $$(HOST_ENGINE_ASM) $$(HOST_ZYDIS_OBJS)
	@mkdir -p $$(@D)
	$$(HOST_Q)$(1) $$(HOST_ENGINE_SANITIZE) $$^ -o $$@

host-tests-$(1): $$(patsubst $$(ROOT)/%.c,$$(HOST_OUT)/$(1)/%,$$(HOST_ENGINE_TESTS))
-include $$(patsubst %.o,%.d,$$(call host_engine_objects,$(1),$$(HOST_ENGINE) $$(HOST_ENGINE_TESTS)))
endef
$(foreach cc,$(HOST_CC_NAMES),$(eval $(call host_engine,$(cc))))

$(HOST_OUT)/clang/host/fuzz/%: $(HOST_OUT)/clang/host/fuzz/%.o $(HOST_OUT)/clang/libpure.a
	$(HOST_Q)clang $(HOST_SANITIZE) -fsanitize=fuzzer $^ -o $@
-include $(patsubst %.o,%.d,$(call host_objects,clang,$(HOST_FUZZ)))

HOST_FUZZ_BINS := $(patsubst $(ROOT)/%.c,$(HOST_OUT)/clang/%,$(HOST_FUZZ))
.PHONY: host-fuzzers check fuzz
.SECONDARY:
host-fuzzers: $(HOST_FUZZ_BINS)

# They take longer than all others. A compiler's mistake or undefined behaviour in what they run shows
# in the others as well.
HOST_SEARCHES := $(foreach folder,clang clang-no-faults,$(addprefix $(HOST_OUT)/$(folder)/host/model/, \
	       test_model_faults test_model_random))
host_programs = $(foreach cc,$(HOST_CC_NAMES),$(patsubst $(ROOT)/%.c,$(HOST_OUT)/$(cc)/%,$(HOST_TESTS) \
			$(HOST_ENGINE_TESTS))) \
		$(foreach cc,$(HOST_NO_FAULTS_CC), \
			$(patsubst $(ROOT)/%.c,$(HOST_OUT)/$(cc)-no-faults/%,$(HOST_NO_FAULTS_TESTS)))

# The longest first: at the end no processor waits for another.
HOST_LONGEST := %/test_model_faults %/test_model_bulk %/test_model_latitude %/test_blocks %/test_model_random
host_ordered = $(filter $(HOST_LONGEST),$(1)) $(filter-out $(HOST_LONGEST),$(1))

check: $(addprefix host-tests-,$(HOST_CC_NAMES)) host-fuzzers
	@$(foreach test,$(HOST_SKIPPED),echo '$(notdir $(test)): skipped, no translator (DBT=0)';)
	@LONG=$(LONG) $(ROOT)/host/run-tests.sh $(HOST_OUT) $(HOST_CHECK_RUNS) \
		$(call host_ordered,$(filter-out $(if $(LONG),,$(HOST_SEARCHES)),$(host_programs))) -- $(HOST_FUZZ_BINS)

fuzz: host-fuzzers
	@$(ROOT)/host/fuzz/fuzz_results.py $$(($(SECONDS) / 8))
	@$(ROOT)/host/run-fuzz.sh $(HOST_OUT) $(SECONDS) $(HOST_FUZZ_BINS)

# For tools/check_pure.py.
.PHONY: pure-sources
pure-sources:
	@echo $(HOST_PURE)

# The rules that a compiler doesn't check. No build needed.
.PHONY: check-source
check-source:
	@passed=0; failed=0; \
	for rule in 'includes.py $(if $(wildcard $(BUILD)/obj),$(BUILD))' pure.py style.py paths.py \
			test_comments.py; do \
		if $(ROOT)/tools/check_$$rule; then passed=$$((passed + 1)); \
		else failed=$$((failed + 1)); fi; \
	done; \
	if $(ROOT)/tools/lines.py --check; then passed=$$((passed + 1)); \
	else failed=$$((failed + 1)); fi; \
	echo "$$passed passed, $$failed failed"; [ $$failed = 0 ]
