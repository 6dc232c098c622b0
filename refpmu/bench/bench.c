/* SPDX-License-Identifier: MIT */
/*
 * refpmu-bench.efi measures the speed of the reference PMU. It is booted without the reference PMU
 * and times some workloads on the plain machine. Then it starts \refpmu.efi and times them again:
 * without a counter, and with IA32_FIXED_CTR0 on the engine `fast`. It prints a line for each on
 * COM1, in thousand instructions per second; tools/bench.sh makes a table of them. Each number is
 * the best of a few tries, because the machine may be busy.
 */
#include <efi.h>

#include "refpmu/vmm/hypercall.h"
#include "refpmu/hv/instructions.h"
#include "refpmu/launch/firmware.h"
#include "refpmu/launch/print.h"
#include "refpmu/selftest/machine.h"
#include "refpmu/selftest/workload.h"
#include "spec/msr.h"

#define TRIES		5
#define ALL_LEVELS	3		/* of IA32_FIXED_CTR_CTRL, for counter 0 */
#define CALIBRATION_US	100000
#define COLD_INSNS	40000
#define COLD_LENGTH	6		/* of ADD RAX, imm32 */
#define COLD_PAGES	(COLD_INSNS * COLD_LENGTH / 4096 + 1)
#define COLD_ROUNDS	4

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

static u8 *cold;
static u64 ticks_per_us;

/* Code that is different each time. */
static void cold_prepare(u32 salt)
{
	u8 *at = cold;

	for (u32 i = 0; i < COLD_INSNS - 1; i++) {
		u32 value = i * 2654435761u ^ salt;

		*at++ = 0x48;
		*at++ = 0x05;
		for (unsigned byte = 0; byte < 4; byte++)
			*at++ = (u8)(value >> 8 * byte);
	}
	*at = 0xc3;
}

static void cold_run(u64 times)
{
	while (times--)
		__asm__ volatile("call *%0" ::"r"(cold) : "rax", "cc", "memory");
}

static const struct workload {
	const char *name;
	void (*run)(u64 times);
	u64 times;
} workloads[] = {
	{ "compiled C", workload_c, 200 },
	{ "loop of 2", workload_loop, 10000000 },
	{ "cold code", cold_run, COLD_ROUNDS },
};
#define WORKLOADS (sizeof(workloads) / sizeof(workloads[0]))

static u64 instructions[WORKLOADS], plain[WORKLOADS], unwatched[WORKLOADS], counted[WORKLOADS];

static u64 once(const struct workload *w, bool watched)
{
	u64 start;

	__asm__ volatile("cli");
	if (watched)
		msr_write(MSR_IA32_PERF_GLOBAL_CTRL, BIT(32));
	start = tsc();
	w->run(w->times);
	start = tsc() - start;
	if (watched)
		msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	__asm__ volatile("sti");
	return start;
}

static void measure(u64 ticks[WORKLOADS], bool watched)
{
	static u32 salt;

	for (unsigned i = 0; i < WORKLOADS * TRIES; i++) {
		unsigned w = i % WORKLOADS;
		u64 took;

		cold_prepare(++salt);
		if (watched)
			msr_write(MSR_IA32_FIXED_CTR0, 0);
		took = once(&workloads[w], watched);
		if (watched)
			instructions[w] = msr_read(MSR_IA32_FIXED_CTR0);
		if (!ticks[w] || took < ticks[w])
			ticks[w] = took;
	}
}

static bool start_reference_pmu(void)
{
	EFI_STATUS status;

	if (!firmware_load("\\refpmu.efi", "", &status))
		return false;
	if (EFI_ERROR(firmware_start()))
		return false;
	return hypercall(HYPERCALL_ENGINE, (void *)(u64)ENGINE_FAST) == HYPERCALL_DONE;
}

static void bench_run(EFI_BOOT_SERVICES *services)
{
	u64 start;

	__asm__ volatile("cli");
	start = tsc();
	services->Stall(CALIBRATION_US);
	ticks_per_us = (tsc() - start) / CALIBRATION_US;
	__asm__ volatile("sti");
	measure(plain, false);
	if (!start_reference_pmu()) {
		print("bench: \\refpmu.efi doesn't start, or has no fast engine");
		return;
	}
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	measure(unwatched, false);
	msr_write(MSR_IA32_FIXED_CTR_CTRL, ALL_LEVELS);
	measure(counted, true);
	for (unsigned w = 0; w < WORKLOADS; w++)
		print("bench: %s: %u %u %u", workloads[w].name,
		      instructions[w] * ticks_per_us * 1000 / plain[w],
		      instructions[w] * ticks_per_us * 1000 / unwatched[w],
		      instructions[w] * ticks_per_us * 1000 / counted[w]);
	print("bench: done");
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	EFI_PHYSICAL_ADDRESS place;

	if (!firmware_open(image, system) ||
	    EFI_ERROR(system->BootServices->AllocatePages(AllocateAnyPages, EfiLoaderCode,
							  COLD_PAGES, &place))) {
		print("bench: no volume, or no memory");
	} else {
		cold = (u8 *)place;
		bench_run(system->BootServices);
	}
	system->RuntimeServices->ResetSystem(EfiResetShutdown, EFI_SUCCESS, 0, NULL);
	return EFI_DEVICE_ERROR;
}
