/* SPDX-License-Identifier: MIT */
/*
 * refpmu-selftest.efi tests whether the reference PMU is exact and hides itself. The launcher
 * starts it on the reference PMU, and it uses hypercalls. It doesn't test the arithmetic of
 * counters, which the harness does. It tests whether each instruction is reported once, with its
 * accesses, in all circumstances. TAP on COM1, through the launcher's printing. Expects seed 0: a
 * PMI without skid.
 *
 * Options: programs=N first=S compares random programs S to S+N-1 on all engines, on one processor
 * and on all at once; if S isn't 1, it does nothing else. storm=N sends N INITs to the other
 * processors, if there are any. duels=N starts two of them N times, which send INITs to each other.
 * others=1 leaves out the parts that need only one processor. clock=1 only tests the TSC under
 * latitude tsc-by-reference. die=N only ends the machine, in one of the ways of deadly.h.
 */
#include <efi.h>

#include "refpmu/hv/architecture.h"
#include "refpmu/faults/fault_id.h"
#include "refpmu/vmm/hypercall.h"
#include "refpmu/launch/print.h"
#include "refpmu/selftest/blobs.h"
#include "refpmu/selftest/smc_shared_page.h"
#include "refpmu/selftest/smc.h"
#include "refpmu/selftest/clock.h"
#include "refpmu/selftest/xmc.h"
#include "refpmu/selftest/deadly.h"
#include "refpmu/selftest/disk.h"
#include "refpmu/selftest/engines.h"
#include "refpmu/selftest/machine.h"
#include "refpmu/selftest/options.h"
#include "refpmu/selftest/second.h"
#include "refpmu/selftest/init_storm.h"
#include "spec/event.h"
#include "spec/msr.h"

#define MSR_VM_CR	0xc0010114
#define VECTOR_UD	6
#define VECTOR_GP	13
#define PROGRAMS	24		/* compared on both engines, unless told otherwise */
#define INIT_STORMS	2000
#define INIT_RACES	100
#define TIMED_TRIES	5

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

/* machine.asm */
u64 machine_faults(void (*instruction)(void), u32 ecx, u64 rax, u32 edx);
void do_rdmsr(void);
void do_wrmsr(void);
void do_rdpmc(void);
void do_vmmcall(void);
void do_vmrun(void);
void do_vmload(void);
void do_vmsave(void);
void do_stgi(void);
void do_clgi(void);
void do_skinit(void);
void do_invlpga(void);
void do_femms(void);
void do_load_cr0(void);
void do_load_cr3(void);
void do_load_cr4(void);
void do_breakpoint(void);
void do_breakpoint_in_shadow(void);
void breakpoint_handler(void);

static unsigned number, failures;

static void verdict(bool good, const char *what)
{
	number++;
	failures += !good;
	print(good ? "ok %u - %s" : "not ok %u - %s", (u64)number, what);
}

static void say(const char *wrong, const char *what)
{
	if (wrong)
		print("# %s", wrong);
	verdict(!wrong, what);
}

/* ---- counts ---- */

static void start_counters(void)
{
	static const u64 event[4] = {
		EVENT_BR_INST_RETIRED_ALL_BRANCHES, EVENT_MEM_UOPS_RETIRED_ALL_LOADS,
		EVENT_MEM_UOPS_RETIRED_ALL_STORES, EVENT_MEM_UOPS_RETIRED_LOCK_LOADS,
	};

	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	for (u32 i = 0; i < 4; i++) {
		msr_write(MSR_IA32_PERFEVTSEL0 + i,
			  event[i] | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_EN);
		msr_write(MSR_IA32_PMC0 + i, 0);
	}
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 3);		/* all levels, no interrupt */
	msr_write(MSR_IA32_FIXED_CTR0, 0);
}

static void measure(const struct blob *blob, u64 count[COUNTS])
{
	for (u64 *v = observed; v < observed_end; v++)
		*v = 0;
	skip = 2;
	start_counters();
	blob->run();
	count[COUNT_INSTRUCTIONS] = msr_read(MSR_IA32_FIXED_CTR0);
	for (u32 i = 0; i < 4; i++)
		count[COUNT_BRANCHES + i] = msr_read(MSR_IA32_PMC0 + i);
}

/* `tries`: as long as no interrupt came in time, which is up to the host and its load. */
static void check_blob(const struct blob *blob, const u64 empty[COUNTS], unsigned tries)
{
	static const char *const name[COUNTS] = {
		"instructions", "branches", "loads", "stores", "locked loads",
	};
	bool good = true;
	u64 count[COUNTS];

	do
		measure(blob, count);
	while (--tries && !events);
	for (unsigned i = 0; i < COUNTS; i++)
		if (count[i] - empty[i] != blob->count[i]) {
			print("# %s: wanted %u, got %u", name[i], blob->count[i],
			      count[i] - empty[i]);
			good = false;
		}
	for (unsigned i = 0; i < BLOB_EXPECTATIONS && blob->expect[i].variable; i++)
		if (*blob->expect[i].variable != blob->expect[i].value) {
			print("# observation %u: wanted %x, got %x", (u64)i, blob->expect[i].value,
			      *blob->expect[i].variable);
			good = false;
		}
	verdict(good, blob->name);
}

static void check_blobs(const struct blob *further)
{
	u64 empty[COUNTS];

	measure(&blobs[0], empty);
	for (const struct blob *blob = &blobs[1]; blob->name; blob++)
		check_blob(blob, empty, 1);
	for (const struct blob *blob = further; blob->name; blob++)
		check_blob(blob, empty, TIMED_TRIES);
}

/* ---- what the guest must not see ---- */

static bool faults(void (*instruction)(void), u32 ecx, u64 rax)
{
	return machine_faults(instruction, ecx, rax, 0) == 1;
}

static void check_presentation(void)
{
	u32 regs[4];

	cpuid(0, 0, regs);
	verdict(regs[1] == 0x756e6547 && regs[3] == 0x49656e69 && regs[2] == 0x6c65746e,
		"the_vendor_is_GenuineIntel");
	cpuid(0x80000001, 0, regs);
	verdict(!(regs[2] & BIT(2)), "cpuid_shows_no_amd_v");
	verdict(!(msr_read(MSR_IA32_EFER) & EFER_SVME), "efer_shows_no_amd_v");

	skip = 2;
	verdict(faults(do_wrmsr, MSR_IA32_EFER, msr_read(MSR_IA32_EFER) | EFER_SVME),
		"efer_refuses_to_enable_amd_v");
	verdict(faults(do_rdmsr, MSR_VM_CR, 0), "amd_v_has_no_registers");
	verdict(faults(do_rdmsr, MSR_IA32_PERFEVTSEL0 + 4, 0) &&
			faults(do_rdmsr, MSR_IA32_A_PMC0 + 4, 0) &&
			faults(do_rdmsr, MSR_IA32_FIXED_CTR0 + 3, 0) &&
			faults(do_rdmsr, 0x40000000, 0),
		"absent_registers_fault");
	verdict(faults(do_rdpmc, 4, 0) && !machine_faults(do_rdpmc, 3, 0, 0),
		"absent_counters_fault");
}

/* #UD has no error code, #GP here one of 0: what error_handler leaves. */
static bool faults_with(void (*instruction)(void), u64 rax, u8 vector)
{
	seen_error = ~0ULL;
	return faults(instruction, 0, rax) && seen_error == (vector == VECTOR_UD ? ~0ULL : 0);
}

/* Of all that AMD has and Intel hasn't, with each address in RAX that AMD refuses and one that it
 * doesn't. */
static bool amd_is_invalid(void)
{
	static void (*const instruction[])(void) = {
		do_vmmcall, do_vmrun, do_vmload, do_vmsave, do_stgi, do_clgi, do_skinit,
		do_invlpga,
	};
	static const u64 address[] = { 0, 4096, 1, 1ULL << 40, ~0ULL };
	bool good = true;

	skip = 3;
	for (unsigned i = 0; i < sizeof(instruction) / sizeof(instruction[0]); i++)
		for (unsigned k = 0; k < sizeof(address) / sizeof(address[0]); k++)
			if (!faults_with(instruction[i], address[k], VECTOR_UD)) {
				print("# instruction %u with RAX %x: %u exceptions, error %x",
				      (u64)i, address[k], events, seen_error);
				good = false;
			}
	skip = 2;
	return faults_with(do_femms, 0, VECTOR_UD) && good;
}

/* SDM volume 2, "MOV--Move to/from Control Registers". */
static bool bad_control_values_fault(void)
{
	u64 cr0, cr3, cr4;
	bool good = true;

	__asm__ volatile("mov %%cr0, %0" : "=r"(cr0));
	__asm__ volatile("mov %%cr3, %0" : "=r"(cr3));
	__asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
	const struct {
		void (*instruction)(void);
		u64 value;
	} bad[] = {
		{ do_load_cr0, cr0 & ~CR0_PG }, { do_load_cr0, cr0 & ~CR0_PE },
		{ do_load_cr0, (cr0 & ~CR0_CD) | CR0_NW }, { do_load_cr0, cr0 | BIT(32) },
		{ do_load_cr3, cr3 | BIT(51) },
		{ do_load_cr4, cr4 & ~CR4_PAE }, { do_load_cr4, cr4 | BIT(32) },
		{ do_load_cr4, 0xffffffff }, { do_load_cr4, cr4 | BIT(15) },
	};
	skip = 3;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!faults_with(bad[i].instruction, bad[i].value, VECTOR_GP)) {
			print("# control value %x: %u exceptions, error %x", bad[i].value, events,
			      seen_error);
			good = false;
		}
	return good && !machine_faults(do_load_cr0, 0, cr0, 0) &&
	       !machine_faults(do_load_cr3, 0, cr3, 0) && !machine_faults(do_load_cr4, 0, cr4, 0);
}

/* SDM volume 3, "Masking Exceptions and Interrupts When Switching Stacks". */
static bool breakpoints_wait(void)
{
	u64 plain, in_shadow;

	machine_use_traps(breakpoint_handler);
	plain = machine_faults(do_breakpoint, 0, 0, 0);
	in_shadow = machine_faults(do_breakpoint_in_shadow, 0, 0, 0);
	machine_use_traps(trap_handler);
	if (plain != 1 || in_shadow)
		print("# breakpoints met: %u, and %u in the shadow", plain, in_shadow);
	return plain == 1 && !in_shadow;
}

static void check_refusals(bool counted)
{
	if (counted) {
		start_counters();
		msr_write(MSR_IA32_PERF_GLOBAL_CTRL, BIT(32) | 0xf);
	}
	verdict(amd_is_invalid(), counted ? "instructions_of_amd_are_invalid_when_counted" :
					    "instructions_of_amd_are_invalid");
	verdict(bad_control_values_fault(),
		counted ? "bad_values_of_control_registers_fault_when_counted" :
			  "bad_values_of_control_registers_fault");
	verdict(breakpoints_wait(), counted ? "no_breakpoint_is_met_after_mov_ss_when_counted" :
					      "no_breakpoint_is_met_after_mov_ss");
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
}

/* Loads that a piece of code has, with stores counted as loads meanwhile. */
static void check_fault_now(void)
{
	struct hypercall_fault fault = { .fault = FAULT_LOADS_COUNT_STORES };
	u64 before[COUNTS], broken[COUNTS], after[COUNTS];
	const struct blob *piece = &blobs[1];

	while (piece->name && !piece->count[COUNT_STORES])
		piece++;
	measure(piece, before);
	hypercall(HYPERCALL_FAULT, &fault);
	measure(piece, broken);
	fault.fault = FAULT_NONE;
	hypercall(HYPERCALL_FAULT, &fault);
	measure(piece, after);
	print("# loads: %u, %u with the fault, %u after it", before[COUNT_LOADS],
	      broken[COUNT_LOADS], after[COUNT_LOADS]);
	verdict(before[COUNT_STORES] && broken[COUNT_LOADS] > before[COUNT_LOADS] &&
			after[COUNT_LOADS] == before[COUNT_LOADS],
		"a_fault_comes_and_goes_while_the_guest_runs");
	fault.fault = FAULT_COUNT;
	verdict(hypercall(HYPERCALL_FAULT, &fault) == HYPERCALL_BAD_FAULT, "no_other_fault_comes");
}

static void check_hidden_memory(void)
{
	struct hypercall_version version;
	volatile u64 *memory;
	u64 seen = 0;

	if (hypercall(HYPERCALL_VERSION, &version) != HYPERCALL_DONE) {
		verdict(false, "the_hypervisor_says_where_it_is");
		return;
	}
	memory = (volatile u64 *)version.hidden_base;
	for (u64 i = 0; i < version.hidden_size / 8; i++)
		seen |= memory[i];
	verdict(!seen, "its_memory_reads_as_zeros");
	for (u64 i = 0; i < version.hidden_size / 8; i++)
		memory[i] = ~0ULL;
	for (u64 i = 0; i < 512; i++)
		memory[i] = 0;
	verdict(hypercall(HYPERCALL_VERSION, &version) == HYPERCALL_DONE,
		"it_survives_when_its_memory_is_overwritten");
}

static void check_statistics(void)
{
	static const char *const kind[EXIT_KINDS] = {
		"step", "exception", "interrupt", "NMI", "CPUID", "MSR", "RDPMC", "hypercall",
		"APIC", "other",
	};
	static const char *const fallback[FALLBACK_REASONS] = {
#define FALLBACK(token, name, meaning) name,
#include "refpmu/engine/fallback.def"
	};
	struct statistics statistics;
	const struct engine_statistics *engine = &statistics.engine;
	u64 inexact = 0;

	engines_statistics(&statistics);
	for (unsigned i = 0; i < INEXACT_REASONS; i++) {
		if (statistics.exit.inexact[i])
			print("# reason %u: %u", (u64)i, statistics.exit.inexact[i]);
		inexact += statistics.exit.inexact[i];
	}
	verdict(!inexact && engine->stepped, "nothing_was_inexact");
	for (unsigned i = 0; i < EXIT_KINDS; i++)
		print("# exits, %s: %u", kind[i], statistics.exit.exits[i]);
	print("# stepped %u (%u system, %u emulated), in blocks %u in %u runs", engine->stepped,
	      engine->emulated_system, engine->emulated, engine->in_blocks, engine->block_runs);
	for (unsigned i = 0; i < FALLBACK_REASONS; i++)
		print("# stepped because of %s: %u", fallback[i], engine->fallback[i]);
}

static void check_changes(enum engine_name engine)
{
	static const char *const changed[ENGINES] = {
		"changed_code_counts_as_it_is_now",
		"changed_code_executed_directly_counts_as_it_is_now",
		"changed_code_counts_as_it_is_now_in_blocks",
	};
	static const char *const beside[ENGINES] = {
		"code_beside_its_data_counts", "code_beside_its_data_executed_directly_counts",
		"code_beside_its_data_runs_in_blocks",
	};
	static const char *const crossing[ENGINES] = {
		"code_that_another_processor_changes_counts_as_it_is_now",
		"code_that_another_processor_changes_executed_directly_counts_as_it_is_now",
		"code_that_another_processor_changes_counts_as_it_is_now_in_blocks",
	};

	say(smc_check(), changed[engine]);
	say(smc_shared_page_check(engine == ENGINE_FAST), beside[engine]);
	if (init_storm_count())
		say(xmc_check(), crossing[engine]);
}

static void check_programs(u64 first)
{
	u64 programs = options_number("programs", PROGRAMS);

	verdict(!engines_compare(first, programs, 1),
		"random_programs_are_the_same_on_all_engines");
	if (init_storm_count())
		verdict(!engines_compare(first, programs, 1 + init_storm_count()),
			"programs_of_several_processors_at_once_are_the_same_on_all_engines");
}

/* All but ENGINE_STEP. */
static void check_faster_engines(void)
{
	static struct statistics before, after;
	enum engine_name fastest = engines_fastest();

	engines_statistics(&before);
	for (enum engine_name engine = ENGINE_DIRECT; engine <= fastest; engine++) {
		hypercall(HYPERCALL_ENGINE, (void *)(u64)engine);
		check_refusals(true);
		/* Blocks are made in the first turn and run in the second. */
		for (unsigned turn = 0; turn < (engine == ENGINE_FAST ? 2 : 1); turn++) {
			check_changes(engine);
			check_blobs(fast_blobs);
		}
	}
	check_programs(1);
	engines_statistics(&after);
	if (fastest == ENGINE_FAST)
		verdict(after.engine.in_blocks > before.engine.in_blocks + PROGRAMS,
			"blocks_were_run");
	else
		print("# no translator in this reference PMU: blocks_were_run is skipped");
	engines_speed();
}

static void check_storm(void)
{
	u64 times = options_number("storm", INIT_STORMS);
	const char *wrong = init_storm((unsigned)times);

	if (wrong)
		print("# %s", wrong);
	print("# %u INITs", times);
	verdict(!wrong, "processors_start_whatever_an_init_interrupts");
}

static void check_others(void)
{
	if (second_has_sibling())
		say(second_counts(), "two_threads_of_a_core_count_at_once");
	if (second_has_two())
		say(second_init_race((unsigned)options_number("duels", INIT_RACES)),
		    "two_processors_that_stop_each_other_come_again");
}

static void check_all(bool init_storm)
{
	hypercall(HYPERCALL_ENGINE, (void *)(u64)ENGINE_STEP);
	check_presentation();
	check_refusals(false);
	check_refusals(true);
	check_changes(ENGINE_STEP);
	check_blobs(stepped_blobs);
	check_hidden_memory();
	check_fault_now();
	check_blobs(stepped_blobs);			/* once more, from the decoder's cache */
	check_faster_engines();
	if (init_storm) {
		check_storm();
		check_others();
	}
}

static void check_all_of_several(void)
{
	enum engine_name fastest = engines_fastest();

	for (enum engine_name engine = ENGINE_STEP; engine <= fastest; engine++) {
		hypercall(HYPERCALL_ENGINE, (void *)(u64)engine);
		for (unsigned turn = 0; turn < (engine == ENGINE_FAST ? 2 : 1); turn++)
			check_changes(engine);
	}
	check_programs(1);
	check_storm();
	check_others();
}

static void check_disk(EFI_SYSTEM_TABLE *system)
{
	if (!disk_open(system)) {
		verdict(false, "this_program_is_on_a_disk");
		return;
	}
	hypercall(HYPERCALL_ENGINE, (void *)(u64)ENGINE_STEP);
	say(disk_check(), "code_from_a_device_counts_as_it_is_now");
	engines_fastest();
	say(disk_check(), "code_from_a_device_counts_as_it_is_now_on_the_fastest_engine");
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	bool others;
	u64 first;

	options_open(image, system);
	if (options_number("die", 0)) {
		deadly_die(system, options_number("die", 0));
		return EFI_ABORTED;
	}
	others = init_storm_open(system);
	first = options_number("first", 1);
	print("TAP version 14");
	machine_enter();
	if (options_number("clock", 0))
		say(clock_by_reference(), "the_tsc_advances_with_reference_cycles");
	else if (first == 1 && others && options_number("others", 0))
		check_all_of_several();
	else if (first == 1)
		check_all(others);
	else
		check_programs(first);
	machine_leave();
	if (first == 1 && !options_number("clock", 0))
		check_disk(system);
	check_statistics();
	print("1..%u", (u64)number);
	print("# failures: %u", (u64)failures);
	return failures ? EFI_ABORTED : EFI_SUCCESS;
}
