/* SPDX-License-Identifier: MIT */
/* See denied.h. */
#include "tests/frame/denied.h"

#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/percpu.h"
#include "pmu/counter.h"
#include "pmu/event.h"
#include "pmu/pmi.h"
#include "pmu/written.h"

#define ROUNDS		64u
#define WINDOWS		2u	/* a host may have no counter to spare for a while */
#define OVERFLOWS	4u	/* tries, of each counter */
#define REFUSALS	16u
#define LINE		64u

/* Events of refused writes. Several processors may note at once: one may be lost then. */
static u16 refused[REFUSALS];
static unsigned refusals;

bool denied_is_select(u32 msr)
{
	return msr - MSR_IA32_PERFEVTSEL0 < 32 &&
	       counters_gp().bits >> (msr - MSR_IA32_PERFEVTSEL0) & 1;
}

void denied_note_refusal(u32 msr, u64 value)
{
	unsigned i = 0, n = refusals;

	if (!denied_is_select(msr))
		return;
	while (i < n && refused[i] != (u16)value)
		i++;
	if (i == n && n < REFUSALS) {
		refused[n] = (u16)value;
		refusals = n + 1;
	}
}

void denied_forget(void)
{
	fault_on_refused_write = denied_note_refusal;
	refusals = 0;
	written_forget_selects();
}

/* Does a write of this event with OS, USR and EN 0 raise #GP? IA32_PERFEVTSEL0 is 0 afterwards or,
 * if 0 is refused too (Xen with vpmu=ipc), it has the event of instructions at no level. */
static bool is_refused(u16 event)
{
	const bool raised = msr_try_write(MSR_IA32_PERFEVTSEL0, event).raised;

	(void)msr_try_write(MSR_IA32_PERFEVTSEL0, EVENT_INST_RETIRED_ANY_P);
	(void)msr_try_write(MSR_IA32_PERFEVTSEL0, 0);
	return raised;
}

bool denied_select(u16 event)
{
	return counter_caps()->hypervisor && counter_caps()->gp && is_refused(event) &&
	       !is_refused(EVENT_INST_RETIRED_ANY_P);
}

/* A piece of code with all events of occurs(). It fetches its line from memory in each round. */
static void exercise(void)
{
	static u8 lines[3 * LINE] __attribute__((aligned(64)));
	u8 *split = lines + 2 * LINE - 4;

	for (unsigned i = 0; i < ROUNDS; i++)
		__asm__ volatile("	clflush (%0)\n"
				 "	mfence\n"
				 "	mov	(%0), %%rax\n"
				 "	mov	%%rax, 8(%0)\n"
				 "	lock incq 16(%0)\n"
				 "	mov	(%1), %%rax\n"
				 "	mov	%%rax, (%1)\n"
				 "	call	1f\n"
				 "	test	%%rsp, %%rsp\n"
				 "	jz	2f\n"
				 "	jnz	2f\n"
				 "1:	ret\n"
				 "2:\n"
				 :
				 : "r"(lines), "r"(split)
				 : "rax", "cc", "memory");
}

/* The count of exercise() on one counter. A fixed counter ignores the event. */
static u64 counted(unsigned counter, u16 event)
{
	u64 value;

	counter_program(counter, event, COUNT_BOTH);
	counter_write(counter, 0);
	counters_enable(pmc_one(counter));
	exercise();
	counters_disable();
	value = counter_read(counter);
	counter_reset();
	return value;
}

/* Does any general-purpose counter count the event in exercise()? */
static bool is_counted(u16 event)
{
	for (unsigned i = 0; i < WINDOWS; i++)
		FOR_EACH_COUNTER (c, counters_gp().bits)
			if (counted(c, event))
				return true;
	return false;
}

static bool is_fixed_counted(unsigned index)
{
	for (unsigned i = 0; i < WINDOWS; i++)
		if (counted(PMC_FIXED(index), 0))
			return true;
	return false;
}

/* Does any counter count instructions, cycles or its own event? If none does, the PMU is dead, and
 * no event is denied. */
static bool something_is_counted(void)
{
	if (is_counted(EVENT_INST_RETIRED_ANY_P) || is_counted(EVENT_UNHALTED_CORE_CYCLES))
		return true;
	FOR_EACH_COUNTER (c, counters_fixed().bits)
		if (is_fixed_counted(c - PMC_FIXED(0)))
			return true;
	return false;
}

static bool is_of_table_18_1(u16 event)
{
	static const u16 events[] = {
		EVENT_INST_RETIRED_ANY_P,	 EVENT_UNHALTED_CORE_CYCLES,
		EVENT_UNHALTED_REF_CYCLES,	 EVENT_BR_INST_RETIRED_ALL_BRANCHES,
		EVENT_LONGEST_LAT_CACHE_MISS,	 EVENT_LONGEST_LAT_CACHE_REFERENCE,
		EVENT_BR_MISP_RETIRED_ALL_BRANCHES,
	};

	for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i] == event)
			return true;
	return false;
}

/* Does the event occur in exercise()? */
static bool occurs(u16 event)
{
	static const enum event_kind kinds[] = {
		EK_UOPS, EK_COND_BRANCHES, EK_NEAR_CALLS, EK_NEAR_RETURNS, EK_NEAR_TAKEN,
		EK_COND_TAKEN, EK_COND_NOT_TAKEN, EK_LOADS, EK_STORES, EK_LOCK_LOADS,
		EK_SPLIT_LOADS, EK_SPLIT_STORES,
	};
	struct event e;

	if (is_of_table_18_1(event))
		return event != EVENT_BR_MISP_RETIRED_ALL_BRANCHES;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (event_get(kinds[i], 0, &e) && e.code == event)
			return true;
	return false;
}

bool denied_event(u16 event)
{
	struct event loads;

	if (!counter_caps()->hypervisor || denied_select(event) || is_counted(event) ||
	    !something_is_counted())
		return false;
	return occurs(event) || (!is_of_table_18_1(event) && event_get(EK_LOADS, 0, &loads) &&
				 !is_counted(loads.code));
}

/* Does no fixed counter count, while another counter does? Then the host's filter denies them all.
 * One dead fixed counter among others is a fault of the PMU. */
static bool are_fixed_denied(void)
{
	FOR_EACH_COUNTER (c, counters_fixed().bits)
		if (is_fixed_counted(c - PMC_FIXED(0)))
			return false;
	return something_is_counted();
}

/* Does an overflow of this counter raise an interrupt? *wrapped becomes true if it overflows. */
static bool interrupts(unsigned counter, u16 event, bool *wrapped)
{
	const struct pmi_log *log;

	pmi_open(NULL);
	counter_program(counter, event, COUNT_BOTH | COUNT_INT);
	counter_preset(counter, ROUNDS);
	counters_enable(pmc_one(counter));
	exercise();
	counters_disable();
	*wrapped |= counters_status() & BIT(counter);
	log = pmi_end();
	counter_reset();
	return log->count;
}

/* Do counters overflow without any interrupt? */
static bool are_interrupts_denied(void)
{
	const u16 event = is_counted(EVENT_INST_RETIRED_ANY_P) ? EVENT_INST_RETIRED_ANY_P :
								 EVENT_UNHALTED_CORE_CYCLES;
	bool wrapped = false;

	for (unsigned i = 0; i < OVERFLOWS; i++)
		FOR_EACH_COUNTER (c, counters_gp().bits | counters_fixed().bits)
			if (interrupts(c, event, &wrapped))
				return false;
	return wrapped;
}

static bool explain_by_selects(const struct written_selects *used, char *reason, size_t size)
{
	for (unsigned i = 0; i < used->events; i++)
		if (denied_event(used->event[i])) {
			fmt_print(reason, size,
				  "event %#x is never counted here, others are: hypervisor \"%s\" "
				  "denies it",
				  used->event[i], counter_caps()->host.signature);
			return true;
		}
	if (used->fixed && are_fixed_denied()) {
		fmt_print(reason, size,
			  "fixed counters never count here, others do: hypervisor \"%s\" denies "
			  "them",
			  counter_caps()->host.signature);
		return true;
	}
	if (!used->listened || !are_interrupts_denied())
		return false;
	fmt_print(reason, size,
		  "no overflow interrupts here: hypervisor \"%s\" delivers no interrupt",
		  counter_caps()->host.signature);
	return true;
}

bool denied_explains(char *reason, size_t size)
{
	const unsigned n = refusals;
	struct written_selects used[CPU_MAX];

	if (!counter_caps()->hypervisor || counter_caps()->version < 2 || !counter_caps()->gp)
		return false;
	/* The tries below note their own selects, so those of the test are copied first. */
	for (unsigned cpu = 0; cpu < CPU_MAX; cpu++)
		used[cpu] = *written_selects_of(cpu);
	for (unsigned i = 0; i < n; i++)
		if (denied_select(refused[i])) {
			fmt_print(reason, size,
				  "hypervisor \"%s\" refuses to select event %#x (#GP)",
				  counter_caps()->host.signature, refused[i]);
			return true;
		}
	for (unsigned cpu = 0; cpu < CPU_MAX; cpu++)
		if (explain_by_selects(&used[cpu], reason, size))
			return true;
	return false;
}
