/* SPDX-License-Identifier: MIT */
/* See archpebs.h. */
#include "tests/archpebs/archpebs.h"

#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "tests/frame/calibration.h"
#include "tests/measure/overflow.h"

bool need_arch_pebs(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (c->arch_pebs)
		return true;
	fmt_print(reason, size,
		  "no architectural PEBS (CPUID.(07H,1):EAX[8] = %u, "
		  "CPUID.(23H,0):EAX = %#x)",
		  c->v6.leaf, c->v6.subleaves);
	return false;
}

bool need_arch_load(char *reason, size_t size)
{
	if (!need_arch_pebs(reason, size))
		return false;
	if (arch_load_counters())
		return true;
	fmt_print(reason, size, "no PEBS on the first four counters (CPUID.(23H,5): %#lx)",
		  counter_caps()->v6.pebs);
	return false;
}

u64 arch_counters_of(enum event_kind kind, struct event *event)
{
	if (!event_get(kind, EV_PEBS, event))
		return 0;
	return counter_caps()->v6.pebs & event->counters;
}

static bool need_counters_of(enum event_kind kind, const char *what, char *reason, size_t size)
{
	struct event event;

	if (!need_events(reason, size))
		return false;
	if (arch_counters_of(kind, &event))
		return true;
	fmt_print(reason, size, "no %s with PEBS (CPUID.(23H,5): %#lx)", what,
		  counter_caps()->v6.pebs);
	return false;
}

bool need_arch_latency(char *reason, size_t size)
{
	return need_load_latency(reason, size) &&
	       need_counters_of(EK_LOAD_LATENCY, "load latency", reason, size);
}

bool need_arch_stores(char *reason, size_t size)
{
	return need_counters_of(EK_STORE_SAMPLE, "sampled stores", reason, size);
}

bool need_arch_groups(u64 groups, char *reason, size_t size)
{
	const u64 there = (u64)counter_caps()->v6.groups << 32;

	if (!need_arch_load(reason, size))
		return false;
	if ((there & groups) == groups)
		return true;
	fmt_print(reason, size, "groups that aren't there (CPUID.(23H,4):EBX = %#x)",
		  counter_caps()->v6.groups);
	return false;
}

u64 arch_load_counters(void)
{
	return counter_caps()->v6.pebs & BITS(0, 3);
}

static bool has_pdist(unsigned counter)
{
	return counter_caps()->v6.pdist & BIT(counter);
}

static void stop(const struct arch_run *run)
{
	arch_pebs_disarm();
	counter_program_disabled(run->counter, 0, 0);
	counters_clear(BIT(run->counter));
}

static void begin(const struct arch_run *run)
{
	arch_pebs_open(run->size, run->threshold ? run->threshold : ARCH_PEBS_NEVER);
}

void arch_go_on(const struct arch_run *run)
{
	const struct workload *w = run->workload ? run->workload : sampling_any_piece();
	const u16 event = run->event ? run->event : sampling_any_event();
	/* With PDist the record is of the event that overflows; otherwise it is of a later
	 * event. */
	const u64 period = calibration_period(event, PERIOD) + has_pdist(run->counter);

	arch_pebs_arm(run->counter, event, COUNT_BOTH, period, run->groups, NEVER);
	if (run->without_enable)
		msr_write(version6_cfg_c(run->counter), run->groups | (u32)(0 - NEVER));
	workload_run(w, PERIOD, pmc_one(run->counter));
	stop(run);
}

void arch_window(const struct arch_run *run)
{
	begin(run);
	arch_go_on(run);
}

void arch_any_window(const struct arch_run *run, u64 reload)
{
	const bool slow = run->counter == OVERFLOW_SLOW;
	/* Fixed counters from 4 on count slots of wrong paths, and slots in which the front end
	 * delivers nothing. */
	const struct workload *w = BIT(run->counter) & ARCH_SURE ? &workload_load :
								   &workload_random;

	begin(run);
	arch_pebs_arm(run->counter, run->event ? run->event : EVENT_BR_INST_RETIRED_ALL_BRANCHES,
		      COUNT_BOTH, slow ? SLOW_PERIOD : ROUNDS_PERIOD, run->groups, reload);
	for (unsigned i = 0; i < SLOW_WINDOWS && !arch_pebs_written(); i++)
		workload_run(w, slow ? SLOW_ROUNDS : ROUNDS_FOR(1), pmc_one(run->counter));
}

bool arch_stood_still(struct test *t, unsigned counter)
{
	const u64 before = BIT(counter_width(counter)) - ROUNDS_PERIOD;

	if (arch_pebs_written() || BIT(counter) & ARCH_SURE || counter_read(counter) < before)
		return false;
	test_note(t, "counter %u has counted %lu events, fewer than %u", counter,
		  counter_read(counter) - before, ROUNDS_PERIOD);
	arch_pebs_close();
	counter_reset();
	return true;
}

u64 arch_at(u64 byte)
{
	return *(const volatile u64 *)((uintptr_t)arch_pebs_buffer() + byte);
}

static u64 rounded(u64 bytes)
{
	return (bytes + ARCH_PEBS_UNIT - 1) & ~(u64)(ARCH_PEBS_UNIT - 1);
}

bool arch_one_record(struct test *t, struct test_claim claim, u64 from)
{
	const u64 written = arch_pebs_written();
	const size_t there = written > from ? written - from : 0;
	const size_t bytes = arch_record_bytes(arch_pebs_buffer() + from, there);

	if (!there)
		test_missed(t);
	return test_check(t, claim, bytes && rounded(bytes) == there, "one record",
			  "%#zx bytes of fragments that agree with their headers, of %#zx by which "
			  "WR grew from %#lx; header %#lx",
			  bytes, there, from, there ? arch_at(from) : 0);
}

u64 arch_next(u64 from)
{
	const u64 written = arch_pebs_written();
	const size_t there = written > from ? written - from : 0;
	const size_t bytes = there ? arch_record_bytes(arch_pebs_buffer() + from, there) : 0;

	return bytes ? from + rounded(bytes) : 0;
}

u64 arch_group(u64 from, enum arch_group group, struct arch_fragment *fragment)
{
	const u64 written = arch_pebs_written();

	fragment->last = false;
	while (!fragment->last) {
		if (from >= written || arch_fragment_read(arch_pebs_buffer() + from, written - from,
							  fragment) != ARCH_WHOLE)
			return 0;
		if (arch_has(fragment, group))
			return from + fragment->offset[group];
		from += fragment->size;
	}
	return 0;
}

void arch_check_registers(struct test *t, struct test_claim claim, u64 gpr, u64 rsp)
{
	const struct {
		unsigned offset;
		const char *name;
		u64 value;
	} table[] = {
		{ 0x18, "RCX", SAMPLE_RCX },   { 0x20, "RDX", SAMPLE_RDX },
		{ 0x28, "RBX", SAMPLE_RBX },   { 0x30, "RSP", rsp },
		{ 0x38, "RBP", SAMPLE_RBP },   { 0x40, "RSI", (u64)(uintptr_t)workload_memory() },
		{ 0x48, "RDI", SAMPLE_RDI },   { 0x50, "R8", SAMPLE_R(8) },
		{ 0x58, "R9", SAMPLE_R(9) },   { 0x60, "R10", SAMPLE_R(10) },
		{ 0x68, "R11", SAMPLE_R(11) }, { 0x70, "R12", SAMPLE_R(12) },
		{ 0x78, "R13", SAMPLE_R(13) }, { 0x80, "R14", SAMPLE_R(14) },
		{ 0x88, "R15", SAMPLE_R(15) },
	};

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		test_check_eq(t, claim, table[i].value, arch_at(gpr + table[i].offset), "%s at %#x",
			      table[i].name, table[i].offset);
}
