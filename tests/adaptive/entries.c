/* SPDX-License-Identifier: MIT */
/*
 * Compares the LBR group with the registers, for each counter: Linux intel_pmu_store_pebs_lbrs.
 * Recording is enabled, but every branch is filtered out, so that the registers don't change.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/memory/paging.h"
#include "kernel/output/fmt.h"
#include "pmu/lbr/any.h"
#include "spec/msr.h"
#include "tests/adaptive/adaptive.h"
#include "tests/lbr/arch.h"

#define ENTRY_AT(i)	(BASIC_BYTES + ADAPTIVE_LBR_BYTES * (i))

/* Is INFO of a taken branch never 0? It isn't if it has the cycles since the previous branch, or
 * the kind. */
static bool info_is_never_0(void)
{
	const struct lbr_leaf leaf = arch_lbr_leaf();

	return !counter_caps()->arch_lbr || leaf.timed || leaf.branch_type;
}

/* Clear the stack. Where its depth can be chosen, it is 8, 16, 24 or 32, by the counter. */
static void open_entries(unsigned c)
{
	const struct lbr_leaf leaf = arch_lbr_leaf();
	const unsigned depth = ARCH_LBR_DEPTH_UNIT * (1 + c % 4);

	lbr_any_open();
	if (counter_caps()->arch_lbr && lbr_leaf_lists(&leaf, depth))
		arch_lbr_open(depth);
}

/*
 * ADP-25  Entry 0 of the LBR group must be the most recent branch.
 * ADP-27  The third quadword of an LBR entry must have the layout of MSR_LBR_INFO_x.
 *         Linux intel_pmu_store_pebs_lbrs
 *
 * Given  the stack is full of recorded branches. For odd counters their code is in the upper half.
 *        Where the depth can be chosen, it is 8, 16, 24 or 32, by the counter. Recording is
 *        enabled, with a filter that keeps out every branch
 * When   each counter with PEBS, fixed ones too, makes a record with the LBR group
 * Then   FROM, TO and INFO of each entry are those of the register of the same age
 * Control: after each record the registers are unchanged; where CPUID.1CH:ECX reports cycles or
 *        kinds, INFO isn't 0 in all of them
 */
TEST(adaptive, lbr_group_of_each_counters_record_is_the_registers, REQS(ADP_25, ADP_27),
     NEEDS(need_perfmon, need_baseline, need_branches, need_any_lbr_info, adaptive_need_entries))
{
	struct lbr_stack stack, after;
	u64 info = 0;

	FOR_EACH_COUNTER (c, adaptive_sure_counters()) {
		struct adaptive_run run = { .counter = c };
		struct adaptive_layout layout;
		struct ds_setup setup;

		open_entries(c);
		run.config = CONFIG_LBR_OF(lbr_any_depth());
		setup = adaptive_setup(&run, &layout);
		lbr_any_go_on_above(&lbr_piece_lbr_chain, LBR_LINKS, c & 1 ? PAGING_UPPER : 0,
				    &stack);
		for (unsigned i = 0; i < stack.depth; i++)
			info |= stack.raw[i].info;
		CONTROL_EQ(t, ADP_25, c & 1, stack.raw[stack.depth - 1].from >> 63,
			   "bit 63 of FROM of the oldest register, counter %u", c);
		adaptive_keep_entries();
		adaptive_any_window(&run, &setup);
		msr_write(lbr_any_switch().msr, 0);
		if (!adaptive_one_record(t, CONTROL_AT(ADP_25, ADP_27), &run))
			return;
		for (unsigned i = 0; i < stack.depth; i++) {
			CHECK_EQ(t, ADP_25, stack.raw[i].from, adaptive_at(ENTRY_AT(i)),
				 "FROM of entry %u, counter %u", i, c);
			CHECK_EQ(t, ADP_25, stack.raw[i].to, adaptive_at(ENTRY_AT(i) + 0x08),
				 "TO of entry %u, counter %u", i, c);
			CHECK_EQ(t, ADP_27, stack.raw[i].info, adaptive_at(ENTRY_AT(i) + 0x10),
				 "INFO of entry %u, counter %u", i, c);
		}
		lbr_any_read(&after);
		CONTROL(t, IDS(ADP_25, ADP_27), lbr_same(&stack, &after),
			"the registers are unchanged by the record of counter %u", c);
	}
	if (info_is_never_0())
		CONTROL_RANGE(t, ADP_27, 1, ~0ULL, info, "INFO of all registers together");
	lbr_any_close();
}

static bool need_stores_logged(char *reason, size_t size)
{
	struct event stores;

	if (!need_arch_lbr_events(reason, size) || !need_arch_lbr_kinds(reason, size))
		return false;
	if (event_get(EK_STORES, 0, &stores) && stores.counters & arch_lbr_leaf().event_logging)
		return true;
	fmt_print(reason, size, "no counter of stores whose events are logged");
	return false;
}

/*
 * ALBR-18  Where CPUID.1CH:ECX[16+n] and IA32_PERFEVTSELn[35] are 1, INFO[33+2n:32+2n] of an entry
 *          must be the events of IA32_PMCn since the entry before, at most 3.
 *          Linux LBR_INFO_BR_CNTR_OFFSET, intel_pmu_lbr_counters_reorder; public headers of SDM
 *          volume 4, IA32_LBR_x_INFO
 * ADP-27   The third quadword of an LBR entry must have the layout of MSR_LBR_INFO_x.
 *          Linux intel_pmu_store_pebs_lbrs
 *
 * Given  branches recorded with stores between them, which a counter of CPUID.1CH:ECX[19:16] counts
 *        with bit 35 of its event select set; then recording is enabled, and every branch is
 *        filtered out
 * When   another counter makes a record with the LBR group
 * Then   the third quadword of each entry is INFO of the register of the same age
 * Control: in one entry at least INFO has events of the counter
 */
TEST(adaptive, lbr_group_of_a_record_has_the_logged_events, REQS(ALBR_18, ADP_27),
     NEEDS(need_perfmon, need_baseline, need_branches, need_events, need_stores_logged))
{
	struct event stores;
	struct lbr_stack stack;

	event_get(EK_STORES, 0, &stores);
	for (unsigned c = 0; c < LBR_LOGGED; c++) {
		const struct adaptive_run run = { .counter = c + 1,
						  .config = CONFIG_LBR_OF(lbr_any_depth()) };
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);
		unsigned events = 0;

		if (!(stores.counters & arch_lbr_leaf().event_logging & BIT(c)))
			continue;
		counter_program(c, stores.code, COUNT_BOTH | COUNT_LBR_LOG);
		counters_enable(pmc_one(c));
		lbr_any_open();
		lbr_any_go_on(&lbr_piece_lbr_events, 0, &stack);
		counters_disable();
		for (unsigned i = 0; i < stack.depth; i++)
			events += stack.branch[i].events[c];
		CONTROL_RANGE(t, IDS(ALBR_18, ADP_27), 1, ~0ULL, events,
			      "stores of IA32_PMC%u in the registers", c);
		adaptive_keep_entries();
		adaptive_any_window(&run, &setup);
		msr_write(MSR_IA32_LBR_CTL, 0);
		if (!adaptive_one_record(t, CONTROL_AT(ALBR_18, ADP_27), &run))
			return;
		for (unsigned i = 0; i < stack.depth; i++)
			CHECK_EQ(t, IDS(ALBR_18, ADP_27), stack.raw[i].info,
				 adaptive_at(ENTRY_AT(i) + 0x10), "INFO of entry %u, IA32_PMC%u", i,
				 c);
		counter_program_disabled(c, 0, 0);
	}
	lbr_any_close();
}
