/* SPDX-License-Identifier: MIT */
/*
 * The rules that faults of LBR event logging break, on Crestmont. The expected values are typed
 * from Linux (LBR_INFO_BR_CNTR_OFFSET, ARCH_PERFMON_EVENTSEL_BR_CNTR) and from quotations in mails.
 */
#include "host/model/rules/internal.h"

#define CTL		0x14ce
#define EVERYTHING	0x7f0007	/* every kind, at both levels, enabled */
#define JUMPS		0x020007	/* near relative ones alone */
#define LOG		BIT(35)
#define USR		BIT(16)
#define OS		BIT(17)
#define EN		BIT(22)
#define CPL_3		3
/* The logged events of IA32_PMCn in entry i, where 0 is the newest. */
#define OF(n, i)	(get(r, 0x1200 + (i)) >> (32 + 2 * (n)) & 3)

static void stores(struct fixture *r, unsigned n, u8 cpl)
{
	r->cpl = cpl;
	while (n--)
		fixture_store(r, ADDRESS);
	r->cpl = 0;
}

static void jump(struct fixture *r, enum model_branch branch)
{
	r->cpl = CPL_3;
	fixture_retire(r, &(struct model_retired){
		.branch = branch, .taken = true, .cpl_after = CPL_3,
			  });
	r->cpl = 0;
}

/* IA32_PMC0 counts instructions, IA32_PMC1 stores, IA32_PMC2 stores without a log. */
static void log_stores(struct fixture *r, u64 control, u64 levels)
{
	fixture_stop(r);
	fixture_wrmsr(r, 0x186, 0x00c0 | EN | levels);
	fixture_wrmsr(r, 0x187, STORES | LOG | EN | levels);
	fixture_wrmsr(r, 0x188, STORES | EN | levels);
	fixture_wrmsr(r, CTL, control);
	fixture_start(r, 7);
	jump(r, BRANCH_JUMP);
}

static bool entries_have_up_to_three(struct fixture *r, unsigned most)
{
	log_stores(r, EVERYTHING, USR | OS);
	for (unsigned n = 0; n <= most; n++) {
		stores(r, n, n % 2 ? CPL_3 : 0);
		jump(r, BRANCH_JUMP);
		if (OF(1, 0) != (n < 3 ? n : 3) || OF(0, 0) || OF(2, 0) || OF(3, 0))
			return false;
	}
	return true;
}

RULE(four_counters_have_the_bit,
     TAKEN(0x186, LOG) && TAKEN(0x189, LOG) && REFUSED(0x18a, LOG) && get(r, 0x189) == LOG)
RULE(entries_have_three_at_most, entries_have_up_to_three(r, 9))
RULE(entries_have_what_was_since_the_one_before, entries_have_up_to_three(r, 2))

RULE(info_has_events_that_are_written,
     TAKEN(0x1200, BITS(32, 39)) && get(r, 0x1200) == BITS(32, 39))

static bool branches_that_are_kept_out_dont_end_it(struct fixture *r)
{
	log_stores(r, JUMPS, USR | OS);
	stores(r, 1, CPL_3);
	jump(r, BRANCH_CONDITIONAL);
	stores(r, 1, CPL_3);
	jump(r, BRANCH_JUMP);
	return OF(1, 0) == 2;
}

static bool only_what_the_counter_counts(struct fixture *r)
{
	log_stores(r, EVERYTHING, USR);
	stores(r, 2, 0);
	stores(r, 1, CPL_3);
	jump(r, BRANCH_JUMP);
	return OF(1, 0) == 1;
}

/* Loads at CPL 0 make records; one record has the newest two entries at 20H. */
static bool records_have_it_too(struct fixture *r)
{
	empty_buffer(r);
	fixture_wrmsr(r, 0x3f2, BIT(3) | 1 << 24);
	fixture_program_pebs(r, 3, LOADS, BIT(34), 2);
	log_stores(r, EVERYTHING, USR | OS);
	fixture_start(r, BITS(0, 3));
	stores(r, 2, CPL_3);
	jump(r, BRANCH_JUMP);
	loads(r, 3);
	return fixture_index(r) == FIXTURE_BUFFER + 0x20 + 2 * 0x18 &&
	       (at(r, 0x20 + 0x10) >> 32 & 0xff) == 2 << 2 &&
	       (at(r, 0x20 + 0x10) == get(r, 0x1200));
}

static bool wraps_are_logged(struct fixture *r)
{
	log_stores(r, EVERYTHING, USR | OS);
	fixture_wrmsr(r, 0xc2, -2ULL);
	stores(r, 2, 0);
	jump(r, BRANCH_JUMP);
	return OF(1, 0) == 2;
}

static bool what_is_off_logs_nothing(struct fixture *r)
{
	log_stores(r, EVERYTHING, USR | OS);
	fixture_stop(r);
	jump(r, BRANCH_JUMP);
	stores(r, 1, 0);
	jump(r, BRANCH_JUMP);
	return !OF(1, 0);
}

static bool older_entries_keep_it(struct fixture *r)
{
	log_stores(r, EVERYTHING, USR | OS);
	stores(r, 1, 0);
	jump(r, BRANCH_JUMP);
	for (unsigned i = 0; i < 8; i++)
		jump(r, BRANCH_JUMP);
	return OF(1, 8) == 1 && !OF(1, 7);
}

static bool calls_have_it_too(struct fixture *r)
{
	log_stores(r, EVERYTHING, USR | OS);
	stores(r, 1, 0);
	jump(r, BRANCH_CALL);
	jump(r, BRANCH_JUMP);
	return OF(1, 1) == 1 && !OF(1, 0);
}

rule *const event_log_rules[FAULT_COUNT] = {
	[FAULT_ARCH_LBR_INFO_EVENTS_LOST] = info_has_events_that_are_written,
	[FAULT_LBR_LOG_REFUSED] = four_counters_have_the_bit,
	[FAULT_LBR_LOG_WRAPS] = entries_have_three_at_most,
	[FAULT_LBR_LOG_ADDS_UP] = entries_have_what_was_since_the_one_before,
	[FAULT_LBR_LOG_NEIGHBOUR] = entries_have_what_was_since_the_one_before,
	[FAULT_LBR_LOG_ONE_UP] = entries_have_what_was_since_the_one_before,
	[FAULT_LBR_LOG_ALL_BRANCHES] = branches_that_are_kept_out_dont_end_it,
	[FAULT_LBR_LOG_OS_ONLY] = entries_have_what_was_since_the_one_before,
	[FAULT_LBR_LOG_ANY_LEVEL] = only_what_the_counter_counts,
	[FAULT_LBR_LOG_LOST_AT_WRAP] = wraps_are_logged,
	[FAULT_LBR_LOG_WHILE_OFF] = what_is_off_logs_nothing,
	[FAULT_LBR_LOG_NEWEST_8] = older_entries_keep_it,
	[FAULT_LBR_LOG_OF_JUMPS] = calls_have_it_too,
	[FAULT_LBR_LOG_SINCE_JUMPS] = calls_have_it_too,
	[FAULT_LBR_LOG_NOT_RECORDED] = records_have_it_too,
};
