/* SPDX-License-Identifier: MIT */
/*
 * refpmu-count.efi counts the instructions of programs. It runs random programs, compiled C and a
 * loop, and prints for each how many more instructions it took than an empty program. On the
 * reference PMU the count is from IA32_FIXED_CTR0. On plain QEMU with -icount shift=0 it is from
 * the TSC, because there one instruction is one tick of all clocks (QEMU's documentation, "TCG
 * Instruction Counting"), and no code of this project counts. tools/icount.sh compares the two.
 *
 * Instructions that QEMU counts in another way than processors are left out: QEMU counts each
 * iteration of a REP string instruction. It also counts an instruction that raises #UD; these are
 * subtracted. All programs are at the same address, because their branches depend on addresses.
 *
 * Options: programs=N (default 40), size=N (rounds of the compiled C, thousands of the loop;
 * default 100).
 */
#include <efi.h>

#include "refpmu/hv/instructions.h"
#include "refpmu/launch/print.h"
#include "refpmu/selftest/machine.h"
#include "refpmu/selftest/options.h"
#include "refpmu/selftest/program.h"
#include "refpmu/selftest/workload.h"
#include "spec/msr.h"

#define PROGRAMS	40
#define SIZE		100
#define PLACE		(32ULL << 20)	/* of the programs */
#define PAGES		((PROGRAM_CODE + PROGRAM_DATA) / 4096)
#define ALL_LEVELS	3		/* of IA32_FIXED_CTR_CTRL, for counter 0 */
#define GENUINE		0x756e6547	/* of the vendor's name in EBX: "Genu" */

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

static bool has_pmu;
static u64 of_empty;
static struct program program;

static u64 by_counter(void)
{
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	msr_write(MSR_IA32_FIXED_CTR_CTRL, ALL_LEVELS);
	msr_write(MSR_IA32_FIXED_CTR0, 0);
	program.context.enable = BIT(32);
	program_run(&program);
	return msr_read(MSR_IA32_FIXED_CTR0);
}

static u64 by_tsc(void)
{
	u64 start;

	program.context.enable = 0;
	start = tsc();
	program_run(&program);
	return tsc() - start - program.context.faults;
}

/* Of what is prepared. */
static u64 count_count(void)
{
	return has_pmu ? by_counter() : by_tsc();
}

static void empty(u64 argument __attribute__((unused)))
{
}

static void count_call(const char *name, void (*function)(u64), u64 argument)
{
	program_call(&program, argument, function, argument);
	print("count: %s %u: %u", name, argument, count_count() - of_empty);
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	EFI_PHYSICAL_ADDRESS place = PLACE;
	u64 programs, size;
	u32 regs[4];

	options_open(image, system);
	programs = options_number("programs", PROGRAMS);
	size = options_number("size", SIZE);
	cpuid(0, 0, regs);
	has_pmu = regs[1] == GENUINE;
	print(has_pmu ? "# counted by IA32_FIXED_CTR0" : "# counted by the TSC");
	if (EFI_ERROR(system->BootServices->AllocatePages(AllocateAddress, EfiLoaderCode,
							  PAGES, &place))) {
		print("count: no memory at the same place everywhere");
		return EFI_OUT_OF_RESOURCES;
	}
	program.memory = (u8 *)place;
	machine_enter();
	machine_use_programs(true);
	program_call(&program, 0, empty, 0);
	of_empty = count_count();
	for (u64 seed = 1; seed <= programs; seed++) {
		program_generate(&program, seed, true);
		print("count: program %u: %u", seed, count_count() - of_empty);
	}
	count_call("compiled C, little", workload_c_little, 1);
	for (u64 n = size; n; n /= 10) {
		count_call("compiled C", workload_c, n);
		count_call("loop of 2", workload_loop, 1000 * n);
	}
	machine_leave();
	system->BootServices->FreePages(place, PAGES);
	print("count: done");
	if (!has_pmu)
		system->RuntimeServices->ResetSystem(EfiResetShutdown, EFI_SUCCESS, 0, NULL);
	return EFI_SUCCESS;
}
