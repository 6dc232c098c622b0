# SPDX-License-Identifier: MIT
# PMUTest86: `make help` lists what can be made. CC may be gcc or clang; BUILD is the output folder.

BUILD	?= build
ifeq ($(origin CC),default)
CC	:= gcc
endif
NASM	?= nasm
LD	?= ld
OBJCOPY	?= objcopy
ROOT	:= .
ifneq ($(words $(BUILD)),1)
$(error BUILD must be one folder without a blank in its name, not '$(BUILD)')
endif

MAKEFLAGS += --no-builtin-rules
# One line a file; V=1 shows the commands.
say	= $(if $(V),,@echo '  $(1)' '$(2)';)
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# ---------------------------------------------------------------- set-up
# On request: `make setup` and `make test` install what is missing, other goals say so. Silent and
# quick when nothing is missing. Help, clean, lines and new-test need nothing.
ifneq ($(filter-out help clean distclean lines new-test,$(or $(MAKECMDGOALS),all)),)
SETUP	:= tools/setup.sh $(if $(filter setup-all,$(MAKECMDGOALS)),--all, \
	   $(if $(filter setup test test-long,$(MAKECMDGOALS)),,--check))
ifneq ($(shell $(SETUP) >&2 && echo ready),ready)
$(error set-up is incomplete, see above)
endif
endif

ZYDIS	:= .cache/zydis
QR	:= .cache/qr/c
GEN	:= $(BUILD)/gen

# ---------------------------------------------------------------- flags
WARN	:= -Wall -Wextra -Werror -Wconversion -Wsign-conversion -Wshadow -Wcast-align -Wvla \
	   -Wstrict-prototypes -Wmissing-prototypes
ifneq ($(shell $(CC) --version | grep -c clang),0)
ONE_LINE := -fmacro-backtrace-limit=1
WARN	+= -Wshorten-64-to-32
else
# An error in a macro of tests/frame/test.h is told where the test uses it, without the macro's insides.
ONE_LINE := -ftrack-macro-expansion=0
WARN	+= -Warith-conversion
# The reference PMU as one piece, unless SEPARATE=1. Under QEMU's TCG each call and return that is
# left costs a look-up; docs/decisions/0005-link-time-optimisation.md has what that comes to.
INLINE	:= -finline-functions --param=max-inline-insns-auto=60 --param=inline-min-speedup=10 \
	   --param=inline-unit-growth=60
WHOLE	:= $(if $(SEPARATE),,-flto -ffat-lto-objects -flto-partition=one -ffunction-sections $(INLINE))
# Emulators take a turn for each iteration of a REP string.
NO_STRINGS := -mmemset-strategy=unrolled_loop:512:noalign,rep_8byte:-1:noalign \
	   -mmemcpy-strategy=unrolled_loop:512:noalign,rep_8byte:-1:noalign
endif
FREESTANDING := -std=gnu11 -O2 -g -ffreestanding -fPIC -fvisibility=hidden -fshort-wchar \
	   -mno-red-zone -mgeneral-regs-only -fno-stack-protector -fno-asynchronous-unwind-tables \
	   -fcf-protection=none -fno-strict-aliasing -U_FORTIFY_SOURCE -fdebug-prefix-map=$(CURDIR)=.
CFLAGS	:= $(FREESTANDING) $(WARN) -I. -I$(GEN)
# Most of the harness. What may run while a counter counts isn't among it: its calls would count.
SMALL	:= -Os
# Only boot/uefi/ and refpmu/ may know of UEFI: the others don't find its headers.
EFI_CFLAGS := -DGNU_EFI_USE_MS_ABI -isystem /usr/include/efi -isystem /usr/include/efi/x86_64
ZYDIS_CFLAGS := -DZYDIS_STATIC_BUILD -DZYCORE_STATIC_BUILD -DZYDIS_DISABLE_AVX512 \
	   -DZYDIS_DISABLE_KNC -DZYDIS_DISABLE_ENCODER -DZYDIS_DISABLE_FORMATTER \
	   -isystem $(ZYDIS)/include
# abs() and labs() are instructions; the other functions are the harness's.
QR_CFLAGS := -fhosted $(SMALL) -DNDEBUG -w
ASFLAGS	:= -f elf64 -g -F dwarf -w+error -I./
LDFLAGS	:= -nostdlib -shared -Bsymbolic --no-undefined -z nocombreloc -z noexecstack \
	   -z max-page-size=4096 --hash-style=sysv --build-id=none -T linker.ld

# ---------------------------------------------------------------- what is built from what
objects	= $(patsubst %,$(BUILD)/obj/%.o,$(sort $(1)))
sources	= $(wildcard $(foreach folder,$(1),$(folder)/*.c $(folder)/*.asm))
LAUNCH_SOURCES := $(call sources,refpmu/launch)
# What the tests call is linked in the middle of them. A distance of 473,000 bytes has the bytes of an
# XBEGIN or XABORT, and the reference PMU steps the page of such a call (refpmu/engine/code_scan.h).
HARNESS_SOURCES := $(filter-out platform/pvh.asm, \
		   $(call sources,platform boot boot/* kernel/* pmu pmu/* tests/* tests/*/*))
HARNESS_FIRST := $(foreach letter,a b c d e f g h i j k l,$(filter tests/$(letter)%,$(HARNESS_SOURCES)))
HARNESS_OBJS := $(call objects,$(HARNESS_FIRST)) \
		$(call objects,$(filter-out $(HARNESS_FIRST),$(HARNESS_SOURCES)))
# Its two ways to be started (boot/firmware.h).
HARNESS_BOTH := $(filter-out $(BUILD)/obj/boot/uefi/% $(BUILD)/obj/boot/direct/% \
	   $(BUILD)/obj/boot/start.asm.o,$(HARNESS_OBJS))
HARNESS_UEFI := $(HARNESS_BOTH) $(filter $(BUILD)/obj/boot/uefi/% $(BUILD)/obj/boot/start.asm.o,$(HARNESS_OBJS))
HARNESS_DIRECT := $(HARNESS_BOTH) $(filter $(BUILD)/obj/boot/direct/%,$(HARNESS_OBJS)) \
	   $(call objects,platform/pvh.asm)
QR_OBJ	:= $(BUILD)/qr/qrcodegen.o
# Lowest layer first (tools/check_includes.py).
REFPMU_OBJS := $(call objects,$(call sources,refpmu/model refpmu/model/* refpmu/faults refpmu/faults/* refpmu/hv \
	   refpmu/engine refpmu/engine/* refpmu/vmm))
# DBT=0: without the translator.
DBT	?= 1
REFPMU_OBJS := $(filter-out $(if $(filter 0,$(DBT)),$(BUILD)/obj/refpmu/engine/dbt/%, \
	   $(BUILD)/obj/refpmu/engine/no_translator.c.o),$(REFPMU_OBJS))
REFPMU_UEFI := $(filter %/efi_main.c.o %/efi_processors.c.o %/efi_version.c.o,$(REFPMU_OBJS))
# Compilers call memset and memcpy where they like: every program has them.
MEMORY_SOURCES := refpmu/hv/string.c
# The same without a firmware.
DIRECT_OBJS := $(call objects,$(call sources,refpmu/direct platform) \
	   $(addprefix refpmu/launch/,plan.c fault.c span.c print.c report.c))
LAUNCH_OBJS := $(call objects,$(LAUNCH_SOURCES) refpmu/hv/efi_version.c $(MEMORY_SOURCES))
REFTEST_SHARED := $(filter-out refpmu/selftest/selftest.c refpmu/selftest/engines.c, \
	   $(call sources,refpmu/selftest)) \
	   refpmu/hv/instructions.asm refpmu/launch/print.c refpmu/launch/span.c \
	   refpmu/hv/efi_processors.c $(MEMORY_SOURCES)
REFTEST_OBJS := $(call objects,$(REFTEST_SHARED) refpmu/selftest/selftest.c \
	   refpmu/selftest/engines.c)
BENCH_OBJS := $(call objects,refpmu/bench/bench.c refpmu/selftest/workload.c \
	   refpmu/launch/print.c refpmu/launch/firmware.c refpmu/launch/pe.c $(MEMORY_SOURCES))
COUNT_OBJS := $(call objects,$(REFTEST_SHARED) refpmu/count/count.c)
ZYDIS_SOURCES := Decoder DecoderData SharedData Register
ZYDIS_OBJS := $(patsubst %,$(BUILD)/zydis/efi/%.o,$(ZYDIS_SOURCES))
ZYDIS_HOST_OBJS := $(patsubst %,$(BUILD)/zydis/host/%.o,$(ZYDIS_SOURCES))

PROGRAMS := $(BUILD)/refpmu.elf $(BUILD)/pmutest86.elf $(BUILD)/pmutest86.efi $(BUILD)/refpmu.efi $(BUILD)/launch.efi \
	   $(BUILD)/refpmu-selftest.efi $(BUILD)/refpmu-count.efi $(BUILD)/refpmu-bench.efi

.PHONY: all
all: $(PROGRAMS) $(BUILD)/tests.tsv $(BUILD)/pmutest86-report $(BUILD)/refpmu-fault

# Its tables hold thousands of addresses: one bit each instead of 24 bytes (boot/start.asm).
$(BUILD)/pmutest86.so: LDFLAGS += -z pack-relative-relocs
$(BUILD)/pmutest86.so: $(HARNESS_UEFI) $(QR_OBJ)
$(BUILD)/pmutest86-direct.so: LDFLAGS += -z pack-relative-relocs
$(BUILD)/pmutest86-direct.so: $(HARNESS_DIRECT) $(QR_OBJ)
# Both programs of the reference PMU hold the same piece.
$(BUILD)/refpmu-direct.so: $(DIRECT_OBJS) $(BUILD)/refpmu-both.o $(filter-out %.c.o,$(REFPMU_OBJS)) $(ZYDIS_OBJS)
$(BUILD)/refpmu.so: $(REFPMU_UEFI) $(BUILD)/refpmu-both.o $(filter-out %.c.o,$(REFPMU_OBJS)) $(ZYDIS_OBJS)
$(BUILD)/refpmu-both.o: $(filter-out $(REFPMU_UEFI),$(filter %.c.o,$(REFPMU_OBJS)))
	$(call say,WHOLE   ,$@)$(CC) $(FREESTANDING) $(NO_STRINGS) -r -nostdlib \
		$(if $(WHOLE),$(WHOLE) -flinker-output=nolto-rel) $^ -o $@
$(BUILD)/launch.so: $(LAUNCH_OBJS)
$(BUILD)/refpmu-selftest.so: $(REFTEST_OBJS)
$(BUILD)/refpmu-count.so: $(COUNT_OBJS)
$(BUILD)/refpmu-bench.so: $(BENCH_OBJS)

$(patsubst %.efi,%.so,$(filter %.efi,$(PROGRAMS))): $(BUILD)/obj/boot/start.asm.o
# Firmware loads the image anywhere, and the reference PMU copies itself: nothing but
# R_X86_64_RELATIVE may be left for run time.
$(BUILD)/%.so: linker.ld refpmu/hot.ld $(BUILD)/flags $(BUILD)/obj/platform/relocate.asm.o
	$(call say,LINK    ,$@)$(LD) $(LDFLAGS) $(filter %.o,$^) -o $@
	@! readelf -rW $@ | grep 'R_X86_64_' | grep -v 'R_X86_64_RELATIVE'

# The reference PMU not where the program lies that it starts: this one, or Linux.
DIRECT_AT = 0x1000000
$(BUILD)/refpmu.elf: DIRECT_AT = 0x400000
$(BUILD)/%.elf: $(BUILD)/%-direct.so tools/images/direct_image.py
	$(call say,DIRECT  ,$@)tools/images/direct_image.py $< $@ $(DIRECT_AT)

PE_SECTIONS := .text .rodata .data .reloc .dynamic .rela .relr
$(BUILD)/%.efi: $(BUILD)/%.so tools/efi_image.py
	$(call say,EFI     ,$@)$(OBJCOPY) -S $(PE_SECTIONS:%=-j %) --target=efi-app-x86_64 $< $@
	@tools/efi_image.py $@ .text .data .reloc .dynamic

# A test that checks what it doesn't declare stops the build.
$(BUILD)/tests.tsv: $(BUILD)/pmutest86.so tools/testlist.py tools/check_test_claims.py \
		tools/test_source.py tests/frame/old_names.def
	@tools/check_test_claims.py
	@tools/testlist.py $< > $@

# ---------------------------------------------------------------- rules
$(BUILD)/obj/boot/uefi/%.c.o $(BUILD)/obj/refpmu/%.c.o: CFLAGS += $(EFI_CFLAGS)
$(BUILD)/obj/tests/%.c.o: CFLAGS += $(ONE_LINE)
$(filter-out $(BUILD)/obj/kernel/% $(BUILD)/obj/pmu/% $(BUILD)/obj/tests/measure/%,$(HARNESS_OBJS)): \
	CFLAGS += $(SMALL)
$(BUILD)/obj/refpmu/%.c.o: CFLAGS += $(ZYDIS_CFLAGS) $(NO_STRINGS)
$(filter-out $(REFPMU_UEFI),$(REFPMU_OBJS)): CFLAGS += $(WHOLE)

$(BUILD)/obj/%.c.o: %.c $(BUILD)/flags | $(GEN)/version.h $(GEN)/font_data.h
	@mkdir -p $(@D)
	$(call say,CC      ,$<)$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

# What assembly includes. NASM 2.16's -MD leaves these files out.
ASM_INCLUDED := $(wildcard */*/*.inc spec/register.def kernel/interrupt/registers.def \
	   kernel/processor/selectors.def refpmu/selftest/context.def tests/random/frame.def)
$(BUILD)/obj/%.asm.o: %.asm $(BUILD)/flags $(ASM_INCLUDED)
	@mkdir -p $(@D)
	$(call say,NASM    ,$<)$(NASM) $(ASFLAGS) $< -o $@

$(BUILD)/obj/boot/screen/code.c.o: CFLAGS += -isystem $(QR)
# As it comes.
$(QR_OBJ): $(QR)/qrcodegen.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC      ,$<)$(CC) $(FREESTANDING) $(QR_CFLAGS) -c $< -o $@

# Zydis is built as it comes, with its own memory functions replaced (refpmu/engine/zydis_libc.h).
$(BUILD)/zydis/efi/%.o: $(ZYDIS)/src/%.c refpmu/engine/zydis_libc.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC      ,$<)$(CC) $(FREESTANDING) $(ZYDIS_CFLAGS) -I$(ZYDIS)/src -DNDEBUG -w \
		-include refpmu/engine/zydis_libc.h -I. -c $< -o $@

$(BUILD)/zydis/host/%.o: $(ZYDIS)/src/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,HOSTCC  ,$<)$(CC) -std=gnu11 -O1 -g $(ZYDIS_CFLAGS) -I$(ZYDIS)/src -w -c $< -o $@

# One executable file: the package, packed with the sentences of the requirements.
$(BUILD)/pmutest86-report: $(GEN)/version.h $(wildcard tools/report/*.*) tools/spec.py $(wildcard spec/*.def claims/*.def)
	@rm -rf $(GEN)/report
	@mkdir -p $(GEN)/report
	@cp $(filter tools/report/%.py tools/report/%.css tools/report/%.js tools/report/%.json,$^) $(GEN)/report
	@tools/spec.py json > $(GEN)/report/requirements.json
	@tools/spec.py layouts > $(GEN)/report/layouts.json
	@tools/version.sh > $(GEN)/report/version.txt
	@python3 -m zipapp $(GEN)/report -p '/usr/bin/env python3' -o $@
	@chmod 755 $@

# For Linux on the reference PMU.
FAULT_SOURCES := tools/linux/fault.c refpmu/launch/fault.c refpmu/launch/span.c
$(BUILD)/refpmu-fault: $(FAULT_SOURCES) refpmu/faults/fault.def refpmu/vmm/hypercall.h refpmu/model/model.h
	@mkdir -p $(@D)
	$(call say,LINUX   ,$@)$(CC) -std=gnu11 -O2 -Wall -Wextra -Werror -static -I. $(FAULT_SOURCES) -o $@

# Everything is rebuilt when compiler or flags change.
FLAGS	:= DBT=$(DBT) $(shell $(CC) -dumpfullversion -dumpversion) $(CC) $(CFLAGS) $(EFI_CFLAGS) \
	   $(ZYDIS_CFLAGS) $(QR_CFLAGS) $(WHOLE) $(SMALL) $(NO_STRINGS) $(ASFLAGS) $(LDFLAGS)
$(BUILD)/flags: force
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' > $@

# The font's licence is in it; nothing of it is in this tree.
FONT	:= $(firstword $(wildcard /usr/share/consolefonts/spleen-8x16.psfu*))
$(GEN)/font_data.h: tools/screen/font.py $(FONT)
	@mkdir -p $(@D)
	@tools/screen/font.py $(FONT) > $@

# PMUTEST86_VERSION, for the banner: the version, the commit, and "+" when the tree differs from it.
$(GEN)/version.h: force
	@mkdir -p $(@D)
	@tools/version.sh header | cmp -s - $@ || tools/version.sh header > $@

# ---------------------------------------------------------------- what else can be made
SEEDS	?= 100
CPU	?= haswell
SECONDS	?= 60
# What two compilers don't see. Not wanted: that it limits itself (from 2.13 on), addresses of the
# linker compared and subtracted on purpose, and an array that is filled if it is used. A name for
# the linker isn't C to it.
UNWANTED := missingInclude normalCheckLevelMaxBranches comparePointers subtractPointers \
	   arrayIndexOutOfBoundsCond:refpmu/engine/dbt/engine_mapping.c \
	   uninitvar:refpmu/engine/dbt/block_translate.c
ANALYSED := boot kernel platform pmu tests refpmu
.PHONY: analyse
analyse: $(GEN)/version.h $(GEN)/font_data.h
	@cppcheck --quiet -j$(shell nproc) --enable=warning,portability --inline-suppr --std=c11 \
		--platform=unix64 -D__x86_64__ '-D__asm__(name)=' --max-configs=1 -I. -I$(GEN) \
		$(UNWANTED:%=--suppress=%) --error-exitcode=1 $(ANALYSED)
	@echo 'analyse: no finding'

# tools/format/format.sh says what of it is left out where a formatter is missing.
.PHONY: format
format:
	@tools/format/format.sh

.PHONY: lines
lines:
	@tools/lines.py

.PHONY: new-test
new-test:
	@tools/new_test.py '$(NAME)' '$(REQS)'

# SAMPLE=n of them, drawn from SEED; GROUP=PRIO,ARM. KNOWN=1: of those that a test has killed, under
# that test.
.PHONY: mutation
mutation: all
	@tools/mutation.py --build $(BUILD) --cpu $(CPU) $(if $(SAMPLE),--sample $(SAMPLE)) \
		$(if $(SEED),--seed $(SEED)) $(if $(GROUP),--group $(GROUP)) $(if $(KNOWN),--known)

.PHONY: setup setup-all test test-long mutants seeds coverage usb iso sign release bench engine-soak peers help
setup setup-all:
	@echo 'everything is installed'

test:
	@tools/test.sh $(BUILD)

# What is a sample in `make test` is whole: docs/TESTING.md.
test-long:
	@LONG=1 tools/test.sh $(BUILD)

mutants: all
	@tools/mutants.py --build $(BUILD)

seeds: all
	@tools/seeds.py --build $(BUILD) --cpu $(CPU) --seeds $(SEEDS) \
		$(if $(SAMPLE),--sample $(SAMPLE) --draw $(or $(DRAW),0))

coverage: all
	@tools/coverage.py --build $(BUILD)

EFI	?= $(BUILD)/pmutest86.efi
usb: all
	@CFG='$(CFG)' tools/images/usb.sh $(BUILD) $(EFI)

iso: all
	@KIND=iso CFG='$(CFG)' tools/images/usb.sh $(BUILD) $(EFI)

sign: all
	@tools/images/sign.sh $(BUILD) '$(KEY)' '$(CERT)'

release: usb iso
	@tools/images/release.sh $(BUILD)

engine-soak: all $(BUILD)/host/gcc/host/engine/test_blocks
	@tools/engine_soak.sh $(BUILD) $(SECONDS) $(FIRST)

bench: all
	@tools/bench.sh $(BUILD)

# Each is tried, whatever the one before has shown.
CPUS_OF_PERF ?= haswell skylake icelake-sp
peers: all
	@status=0; \
	tools/peers/run.py --build $(BUILD) $(if $(PEERS),--programs $(PEERS)) || status=1; \
	tools/peers/kvm.py --build $(BUILD) || status=1; \
	tools/peers/perf_test.py --build $(BUILD) --skip 23 || status=1; \
	for cpu in $(CPUS_OF_PERF); do tools/linux/run.py --cpu $$cpu --timeout 1800 || status=1; done; \
	exit $$status

help:
	@echo 'make              the EFI programs and the report tool, into $(BUILD)/'
	@echo 'make setup        install missing packages, as root or with sudo; setup-all: also'
	@echo '                  packages that only some tests need'
	@echo 'make test         run every test of the project; last line "N passed, N failed";'
	@echo '                  JOBS=n tests at a time (default: as many as processors)'
	@echo 'make test-long    the same, with whole tests instead of samples (docs/TESTING.md)'
	@echo 'make new-test     NAME=group.claim [REQS=PMI-01]: write the skeleton of a test'
	@echo 'make check-source check style, includes and calls between folders, purity'
	@echo 'make analyse      run cppcheck on the programs'
	@echo 'make lines        print the size of the tree, by folder'
	@echo 'make format       format with clang-format 19 and shfmt; tools/format/format.sh --check lists'
	@echo 'make check        run only the host tests: the pure parts under ASan and UBSan'
	@echo 'make mutants      run every fault of the reference PMU with tests of its requirements'
	@echo 'make mutation     break every expression and statement of the model; SAMPLE=n SEED=s'
	@echo '                  GROUP=PRIO,... of them; KNOWN=1: those that a test killed; CPU=NAME'
	@echo 'make seeds        run the correct model with SEEDS=n seeds and all profiles; CPU=NAME'
	@echo '                  or all; SAMPLE=n DRAW=k: n of these runs, drawn from k'
	@echo 'make coverage     $(BUILD)/COVERAGE.md: requirements, tests, and the faults that these catch'
	@echo 'make usb          $(BUILD)/pmutest86.img, to be written to a stick; EFI=signed program,'
	@echo '                  CFG=another configuration; BIOS=no: without GRUB'
	@echo 'make iso          $(BUILD)/pmutest86.iso, a CD, for UEFI and a BIOS'
	@echo 'make sign         KEY=file CERT=file: $(BUILD)/signed/pmutest86.efi, for Secure Boot'
	@echo 'make release      make an archive for users, with checksums'
	@echo 'make fuzz         run all fuzz targets for SECONDS=n'
	@echo 'make engine-soak  compare the engines for SECONDS=n, from seed FIRST=n on'
	@echo 'make bench        measure speed and durations'
	@echo 'make peers        run programs of other projects (docs/PEERS.md); PEERS=folder of *.efi,'
	@echo '                  CPUS_OF_PERF="NAME ...": generations for perf'
	@echo 'make clean        remove $(BUILD)/; make distclean: also the fetched sources'
	@echo 'SEPARATE=1 links the reference PMU from separate objects (gcc): 8 s less a build, runs take a fourth more'
	@echo 'CC=gcc|clang, BUILD=folder, V=1 shows commands, DBT=0 leaves the translator out;'
	@echo './run-qemu.sh --help for runs'

.PHONY: force clean distclean
force:

clean:
	rm -rf $(BUILD)

distclean: clean
	rm -rf .cache

-include host/host.mk
-include $(shell test -d $(BUILD) && find $(BUILD) -name '*.d')
