/* SPDX-License-Identifier: MIT */
/* See second.h. */
#include "refpmu/selftest/second.h"
#include "refpmu/selftest/machine.h"
#include "refpmu/selftest/timeout.h"
#include "refpmu/selftest/init_storm.h"
#include "spec/event.h"
#include "spec/msr.h"

#define STACK		8192
#define PAGE		4096
#define LEAF_VERSION	1
#define FIRST_LOCKS	3000
#define SECOND_LOCKS	2000

struct second_values {
	u32 gdt, far_offset;
	u16 far_selector;
	u32 cr3;
	u64 stack, argument, entry;
} __attribute__((packed));

extern const u8 second_code[] __attribute__((visibility("hidden")));
extern const u8 second_code_end[] __attribute__((visibility("hidden")));
extern const u8 second_values[] __attribute__((visibility("hidden")));

static u8 stacks[SECOND_STACKS][STACK] __attribute__((aligned(16)));

/* Where the two threads meet, without anything locked. */
static struct meeting {
	volatile bool counts;		/* the second one has counters of its own */
	volatile u32 second, first;	/* how far each has come */
	volatile u64 counted;		/* by the second one */
} meeting;
static volatile u32 rounds[2];		/* INITs that each has sent */

static void start(u8 apic_id, unsigned which, void (*entry)(void *), void *argument)
{
	u8 *page = init_storm_page();
	struct second_values *values = (void *)(page + (second_values - second_code));
	u64 cr3;

	for (u64 i = 0; i < (u64)(second_code_end - second_code); i++)
		page[i] = second_code[i];
	__asm__ volatile("mov %%cr3, %0" : "=r"(cr3));
	values->gdt += (u32)(u64)page;
	values->far_offset += (u32)(u64)page;
	values->cr3 = (u32)cr3;
	values->stack = (u64)(stacks[which] + STACK);
	values->argument = (u64)argument;
	values->entry = (u64)entry;
	init_storm_send_init(apic_id);
	init_storm_send_startup(apic_id);
}

void second_start(unsigned which, void (*entry)(void *), void *argument)
{
	start(init_storm_apic_id(which), which, entry, argument);
}

/* ---- two threads count ---- */

static u8 own_id(void)
{
	u32 regs[4];

	cpuid(LEAF_VERSION, 0, regs);
	return (u8)(regs[1] >> 24);
}

bool second_has_sibling(void)
{
	for (unsigned i = 0; i < init_storm_count(); i++)
		if (init_storm_apic_id(i) == (own_id() ^ 1))
			return true;
	return false;
}

static void locks(u64 times)
{
	static u64 places[2];
	u64 *place = &places[times == FIRST_LOCKS];

	while (times--)
		__asm__ volatile("lock incq %0" : "+m"(*place));
}

static void program(u32 counter, u64 bits)
{
	msr_write(MSR_IA32_PERFEVTSEL0 + counter, EVENT_MEM_UOPS_RETIRED_LOCK_LOADS |
							  IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN |
							  bits);
	msr_write(MSR_IA32_PMC0 + counter, 0);
}

static void second_thread(void *argument)
{
	struct meeting *at = argument;

	if (at->counts) {
		program(0, 0);
		msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 1);
	}
	at->second = 1;
	wait_for(&at->first, 1);
	locks(SECOND_LOCKS);
	if (at->counts) {
		msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
		at->counted = msr_read(MSR_IA32_PMC0);
	}
	at->second = 2;
}

static const char *count_together(bool both)
{
	u64 alone, any;
	bool came;

	meeting = (struct meeting){ .counts = both };
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	start(own_id() ^ 1, 0, second_thread, &meeting);
	if (!wait_for(&meeting.second, 1))
		return "the other thread doesn't come";
	program(0, 0);
	program(1, IA32_PERFEVTSEL_ANY);
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 3);
	meeting.first = 1;
	locks(FIRST_LOCKS);
	came = wait_for(&meeting.second, 2);
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	alone = msr_read(MSR_IA32_PMC0);
	any = msr_read(MSR_IA32_PMC0 + 1);
	init_storm_send_init(own_id() ^ 1);
	if (!came)
		return "the other thread doesn't go on";
	if (alone != FIRST_LOCKS)
		return "a counter counts what isn't its own thread's";
	if (any != FIRST_LOCKS + SECOND_LOCKS)
		return "AnyThread doesn't count both threads";
	if (both && meeting.counted != SECOND_LOCKS)
		return "the other thread has counted wrong";
	return NULL;
}

const char *second_counts(void)
{
	const char *wrong = count_together(true);

	return wrong ? wrong : count_together(false);
}

/* ---- two processors stop each other ---- */

bool second_has_two(void)
{
	return init_storm_count() >= 2;
}

static void stop_the_other(void *argument)
{
	unsigned which = argument == &rounds[1];

	for (;;) {
		rounds[which]++;
		init_storm_send_init(init_storm_apic_id(!which));
	}
}

static const char *round(void)
{
	u32 before = rounds[0] + rounds[1];
	u64 begin = tsc();

	for (unsigned i = 0; i < 2; i++)
		second_start(i, stop_the_other, (void *)&rounds[i]);
	while (rounds[0] + rounds[1] == before)
		if (tsc() - begin > TIMEOUT_TICKS)
			return "neither of two that stop each other comes";
	return NULL;
}

const char *second_init_race(unsigned times)
{
	const char *wrong = NULL;

	while (times-- && !wrong)
		wrong = round();
	for (unsigned i = 0; i < 2; i++)
		init_storm_send_init(init_storm_apic_id(i));
	return wrong ? wrong : init_storm(2 * init_storm_count());
}
