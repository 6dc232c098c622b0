/* SPDX-License-Identifier: MIT */
/*
 * All groups of one record together, for each counter, also at CPL 3, and in the second record of a
 * buffer: Linux setup_pebs_adaptive_sample_data. XMM registers are loaded before the window, and
 * the last branch records don't change during it.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/processor/time.h"
#include "pmu/lbr/any.h"
#include "spec/msr.h"
#include "tests/adaptive/adaptive.h"
#include "tests/lbr/branches.h"
#include "tests/measure/overflow.h"
#include "tests/measure/xmm_registers.h"

#define BRANCHES	EVENT_BR_INST_RETIRED_ALL_BRANCHES
/* Offsets in a record with the memory, GPR, XMM and LBR groups, as literal numbers. */
#define EVERY_GROUP	(CONFIG_MEMORY | CONFIG_GPR | CONFIG_XMM)
#define AT_EVENTING_IP	0x08u
#define AT_APPLICABLE	0x10u
#define AT_TSC		0x18u
#define XMM_AT		0xd0u
#define ENTRIES_AT	0x1d0u
#define ENTRY_BYTES	0x18u
#define WINDOWS_MOST	SLOW_WINDOWS	/* for fixed counters */

static u64 every_group(void)
{
	return EVERY_GROUP | CONFIG_LBR_OF(lbr_any_depth());
}

static void check_xmm(struct test *t, struct test_claim claim, unsigned at,
		      const struct xmm_registers *wanted, unsigned c)
{
	for (unsigned i = 0; i < 2 * XMM_REGISTERS; i++)
		test_check_eq(t, claim, wanted->half[i], adaptive_at(at + XMM_AT + 8 * i),
			      "%s half of XMM%u, counter %u", i & 1 ? "upper" : "lower", i / 2, c);
}

static void check_entries(struct test *t, struct test_claim claim, unsigned at,
			  const struct lbr_stack *wanted, unsigned c)
{
	for (unsigned i = 0; i < wanted->depth; i++) {
		const unsigned entry = at + ENTRIES_AT + ENTRY_BYTES * i;

		test_check_eq(t, claim, wanted->raw[i].from, adaptive_at(entry),
			      "FROM of entry %u, counter %u", i, c);
		test_check_eq(t, claim, wanted->raw[i].to, adaptive_at(entry + 8),
			      "TO of entry %u, counter %u", i, c);
		test_check_eq(t, claim, wanted->raw[i].info, adaptive_at(entry + 16),
			      "INFO of entry %u, counter %u", i, c);
	}
}

/* For any event EventingIP must be in the program, near the piece. */
static void check_eventing_ip(struct test *t, unsigned c)
{
	enum { NEAR = 0x800000 };
	const u64 piece = (u64)(uintptr_t)workload_load.begin;

	CHECK_RANGE(t, ADP_15, piece - NEAR, piece + NEAR, adaptive_at(AT_EVENTING_IP),
		    "EventingIP of a record of counter %u, near the piece", c);
}

/*
 * Decides ADP-01, ADP-06, ADP-15, ADP-16, ADP-18, ADP-24, ADP-25, ADP-27, ADP-38
 * (claims/requirement.def has their sentences).
 *
 * Given  XMM registers and last branch records that differ in each half and each entry; RDTSC
 *        before arming
 * When   each counter with PEBS, fixed ones too, makes a record with the memory, GPR, XMM and LBR
 *        groups, and RDTSC after it
 * Then   the format word has the size and MSR_PEBS_DATA_CFG, and 0 in 47:32 without retire latency;
 *        EventingIP is near the piece, the applicable counters are that counter alone, and the TSC
 *        is between the two; all registers and entries are at their places
 */
TEST(adaptive, record_of_each_counter_has_every_group_whole,
     REQS(ADP_01, ADP_06, ADP_15, ADP_16, ADP_18, ADP_24, ADP_25, ADP_27, ADP_38),
     NEEDS(need_perfmon, need_baseline, need_branches, need_any_lbr_info, adaptive_need_entries),
     .deadline_ms = 8000)
{
	const bool timed = adaptive_may_be_timed(t);
	static struct xmm_registers xmm, kept;
	struct lbr_stack stack;

	lbr_any_open();
	lbr_any_go_on(&lbr_piece_lbr_chain, LBR_LINKS, &stack);
	FOR_EACH_COUNTER (c, adaptive_sure_counters()) {
		const struct adaptive_run run = { .counter = c, .config = every_group() };
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);
		const u64 before = tsc_read();
		u64 word;

		xmm_fill(&xmm, c);
		adaptive_keep_entries();
		xmm_save(&kept);
		xmm_load(&xmm);
		adaptive_any_window(&run, &setup);
		xmm_load(&kept);
		msr_write(lbr_any_switch().msr, 0);
		if (!adaptive_one_record(t, AT(ADP_01, ADP_16), &run))
			return;
		word = adaptive_at(0);
		CHECK_EQ(t, ADP_01, adaptive_bytes(run.config), word >> 48,
			 "bits 63:48 of the format word, counter %u", c);
		CHECK_EQ(t, ADP_16, run.config, word & BITS(0, 31),
			 "bits 31:0 of the format word, counter %u", c);
		if (!timed)
			CHECK_EQ(t, ADP_18, 0, word & BITS(32, 47),
				 "bits 47:32 of the format word, counter %u", c);
		check_eventing_ip(t, c);
		CHECK_EQ(t, ADP_15, BIT(c), adaptive_at(AT_APPLICABLE),
			 "applicable counters, counter %u", c);
		CHECK_RANGE(t, ADP_38, before, tsc_read(), adaptive_at(AT_TSC),
			    "TSC, from RDTSC before arming to one after, counter %u", c);
		check_xmm(t, AT(ADP_06, ADP_24), 0, &xmm, c);
		check_entries(t, AT(ADP_25, ADP_27), 0, &stack, c);
	}
	lbr_any_close();
}

/* Take a record of code at CPL 3 with a counter that counts only there. */
static void take_at_cpl_3(const struct adaptive_run *run, const struct xmm_registers *xmm)
{
	const bool slow = run->counter == OVERFLOW_SLOW;
	static struct xmm_registers kept;
	struct adaptive_layout layout;
	struct ds_setup setup = adaptive_setup(run, &layout);

	ds_open(&setup);
	pebs_arm(run->counter, BRANCHES, COUNT_USR, slow ? SLOW_PERIOD : ROUNDS_PERIOD);
	xmm_save(&kept);
	xmm_load(xmm);
	for (unsigned i = 0; i < WINDOWS_MOST && !ds_bytes(); i++) {
		counters_enable(pmc_one(run->counter));
		workload_run_user(&workload_load, slow ? SLOW_ROUNDS : ROUNDS_FOR(1));
		counters_disable();
	}
	xmm_load(&kept);
	pebs_disarm();
	counter_program_disabled(run->counter, 0, 0);
	counters_clear(BIT(run->counter));
}

/*
 * Decides ADP-01, ADP-06, ADP-16, ADP-24, ADP-25, ADP-27, ADP-35, FIX-09 (claims/requirement.def
 * has their sentences).
 *
 * Given  XMM registers and last branch records that differ in each half and each entry
 * When   each counter with PEBS, fixed ones too, counts at CPL 3 alone, and makes a record with the
 *        memory, GPR, XMM and LBR groups there
 * Then   the format word has the size and MSR_PEBS_DATA_CFG, the applicable counters are that
 *        counter alone, and all registers and entries are at their places
 */
TEST(adaptive, record_of_cpl_3_has_xmm_registers_and_branches,
     REQS(ADP_01, ADP_06, ADP_16, ADP_24, ADP_25, ADP_27, ADP_35, FIX_09),
     NEEDS(need_perfmon, need_baseline, need_branches, need_any_lbr_info, adaptive_need_entries),
     .deadline_ms = 8000)
{
	static struct xmm_registers xmm;
	struct lbr_stack stack;

	lbr_any_open();
	lbr_any_go_on(&lbr_piece_lbr_chain, LBR_LINKS, &stack);
	FOR_EACH_COUNTER (c, adaptive_sure_counters()) {
		const struct adaptive_run run = { .counter = c, .config = every_group() };
		const struct test_claim record = PMC_IS_FIXED(c) ? AT(ADP_06, ADP_25, FIX_09) :
								   AT(ADP_06, ADP_25);

		xmm_fill(&xmm, c);
		adaptive_keep_entries();
		take_at_cpl_3(&run, &xmm);
		msr_write(lbr_any_switch().msr, 0);
		if (!adaptive_one_record(t, record, &run))
			return;
		CHECK_EQ(t, IDS(ADP_01, ADP_16),
			 run.config | (u64)adaptive_bytes(run.config) << 48,
			 adaptive_at(0) & ~BITS(32, 47),
			 "format word but for bits 47:32, counter %u at CPL 3", c);
		test_check_eq(t, PMC_IS_FIXED(c) ? AT(FIX_09) : AT(ADP_35), BIT(c),
			      adaptive_at(AT_APPLICABLE),
			      "applicable counters, counter %u at CPL 3", c);
		check_xmm(t, AT(ADP_06, ADP_24), 0, &xmm, c);
		check_entries(t, AT(ADP_25, ADP_27), 0, &stack, c);
	}
	lbr_any_close();
}

/*
 * ADP-06  The XMM group must hold the XMM registers of the program that was sampled.
 *         Linux setup_pebs_adaptive_sample_data
 * ADP-25  Entry 0 of the LBR group must be the most recent branch.
 * ADP-27  The third quadword of an LBR entry must have the layout of MSR_LBR_INFO_x.
 *         Linux intel_pmu_store_pebs_lbrs
 *
 * Given  one buffer, and a counter that makes two records in it; before each, XMM registers and
 *        last branch records that the other one hasn't
 * When   both are made, each counter with PEBS in turn, fixed ones too but 2, whose clock is slow
 * Then   each has the registers and entries of its own time
 */
TEST(adaptive, second_record_of_a_buffer_has_what_is_then, REQS(ADP_06, ADP_25, ADP_27),
     NEEDS(need_perfmon, need_baseline, need_branches, need_any_lbr_info, adaptive_need_entries),
     .deadline_ms = 8000)
{
	static const u64 links[2] = { LBR_LINKS, 5 };
	static struct xmm_registers xmm[2], kept;
	static struct lbr_stack stack[2];

	FOR_EACH_COUNTER (c, adaptive_sure_counters() & ~BIT(OVERFLOW_SLOW)) {
		const struct adaptive_run run = { .counter = c, .config = every_group(),
						  .capacity = 16 };
		const unsigned size = adaptive_bytes(run.config);
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);

		ds_open(&setup);
		xmm_save(&kept);
		for (unsigned i = 0; i < 2; i++) {
			lbr_any_open();
			lbr_any_go_on(&lbr_piece_lbr_chain, links[i], &stack[i]);
			xmm_fill(&xmm[i], 2 * c + i);
			adaptive_keep_entries();
			pebs_arm(c, BRANCHES, COUNT_BOTH, ROUNDS_PERIOD);
			xmm_load(&xmm[i]);
			for (unsigned n = 0; n < WINDOWS_MOST && (u64)ds_bytes() == i * size; n++)
				workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(c));
			xmm_load(&kept);
			pebs_disarm();
			counter_program_disabled(c, 0, 0);
			msr_write(lbr_any_switch().msr, 0);
			sampling_want(t, i + 1);
		}
		counters_clear(BIT(c));
		if (!ds_bytes() && counter_caps()->hypervisor) {
			test_inconclusive(t, "no record");
			return;
		}
		if (!CHECK_EQ(t, IDS(ADP_06, ADP_25), 2 * size, (u64)ds_bytes(),
			      "bytes of two records of counter %u", c))
			return;
		for (unsigned i = 0; i < 2; i++) {
			check_xmm(t, AT(ADP_06), i * size, &xmm[i], c);
			check_entries(t, AT(ADP_25, ADP_27), i * size, &stack[i], c);
		}
	}
	lbr_any_close();
}
