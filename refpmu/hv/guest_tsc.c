/* SPDX-License-Identifier: MIT */
/* See guest_tsc.h. */
#include "refpmu/hv/code_page.h"
#include "refpmu/hv/guest_tsc.h"
#include "refpmu/hv/instructions.h"
#include "refpmu/hv/lock.h"
#include "refpmu/hv/processors.h"
#include "refpmu/hv/svm.h"
#include "spec/msr.h"

static u32 lock;
static volatile bool intercepted;
/* Access with the lock held. The guest's clock, to which all processors' offsets are added: its
 * highest value so far, and how far it is behind the machine's TSC. */
static u64 reached, behind;

static void guest_tsc_reach(u64 clock)
{
	if ((int64_t)(clock - reached) > 0)
		reached = clock;
}

static u64 reference_clock(const struct cpu *cpu)
{
	return cpu->reference_from + model_reference_clock(&cpu->model);
}

/* Call with the lock held. A processor that got an INIT doesn't advance the clock any more. */
static u64 clock_now(void)
{
	bool driven = false;

	for (unsigned i = 0; processors_get(i); i++) {
		const struct cpu *cpu = processors_get(i);

		if (!cpu->drives_tsc)
			continue;
		guest_tsc_reach(reference_clock(cpu));
		driven = driven || cpu->running;
	}
	if (driven)
		behind = tsc() - reached;
	else
		guest_tsc_reach(tsc() - behind);
	return reached;
}

u64 guest_tsc(struct cpu *cpu)
{
	u64 offset = cpu->vmcb->control.tsc_offset, now;

	if (!intercepted)
		return tsc() + offset;
	lock_take(cpu, &lock);
	now = clock_now();
	lock_give(cpu, &lock);
	return now + offset;
}

void guest_tsc_read(struct cpu *cpu, bool rdtscp)
{
	u64 value = guest_tsc(cpu);

	cpu->gpr[REG_RAX] = (u32)value;
	cpu->gpr[REG_RDX] = value >> 32;
	if (rdtscp)
		cpu->gpr[REG_RCX] = (u32)msr_read(MSR_IA32_TSC_AUX);
}

/* Intercept RDTSC: the guest doesn't read the machine's TSC any more. */
static void intercept_all(struct cpu *cpu)
{
	if (intercepted)
		return;
	__atomic_store_n(&intercepted, true, __ATOMIC_SEQ_CST);
	code_page_others_left(cpu);
}

static void drive(struct cpu *cpu, bool drives)
{
	u64 now;

	if (cpu->drives_tsc == drives)
		return;
	intercept_all(cpu);
	lock_take(cpu, &lock);
	now = clock_now();
	cpu->reference_from = now - model_reference_clock(&cpu->model);
	cpu->drives_tsc = drives;
	lock_give(cpu, &lock);
}

void guest_tsc_follow(struct cpu *cpu)
{
	if (cpu->model.latitude[LAT_TSC_BY_REFERENCE])
		drive(cpu, !cpu->halted && model_counts_reference(&cpu->model));
}

void guest_tsc_leave(struct cpu *cpu)
{
	drive(cpu, false);
}

void guest_tsc_started(struct cpu *cpu)
{
	lock_give(cpu, &lock);
	guest_tsc_leave(cpu);
	guest_tsc_follow(cpu);
}

void guest_tsc_intercept(struct cpu *cpu)
{
	if (!__atomic_load_n(&intercepted, __ATOMIC_SEQ_CST))
		return;
	cpu->vmcb->control.intercept_misc1 |= (u32)INTERCEPT_RDTSC;
	cpu->vmcb->control.intercept_misc2 |= (u32)INTERCEPT_RDTSCP;
}
