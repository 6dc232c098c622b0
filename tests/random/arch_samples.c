/* SPDX-License-Identifier: MIT */
/*
 * Drawn programs with records of architectural PEBS: Linux events/intel/ds.c. The oracle computes
 * the expected results.
 */
#include "tests/archpebs/archpebs.h"
#include "tests/random/decide.h"

static void decide_record(struct test *t, const struct session *s)
{
	DECIDE(*s, DRAW_CLAIM_INDEX, APEBS_06, "another WR after the records");
	DECIDE(*s, DRAW_CLAIM_INDEX, APEBS_11, "records that don't agree with their headers");
	DECIDE(*s, DRAW_CLAIM_OUTSIDE, APEBS_06, "bytes of the buffer written in no record");
	DECIDE(*s, DRAW_CLAIM_NO_RECORD, APEBS_08, "records without an overflow or enable");
	DECIDE(*s, DRAW_CLAIM_RECORD, APEBS_33, "records that are missing");
	DECIDE(*s, DRAW_CLAIM_EVENT, APEBS_16, "records of an instruction without the event");
	DECIDE(*s, DRAW_CLAIM_RELOAD, APEBS_10, "counters reloaded otherwise");
	DECIDE(*s, DRAW_CLAIM_MODE, APEBS_12, "headers without 64-bit mode");
	DECIDE(*s, DRAW_CLAIM_GROUPS, APEBS_13, "other groups than CFG_C asks for");
	DECIDE(*s, DRAW_CLAIM_RESERVED, APEBS_14, "reserved bits of a header");
	DECIDE(*s, DRAW_CLAIM_APPLICABLE, APEBS_16, "other applicable counters");
	DECIDE(*s, DRAW_CLAIM_TSC, APEBS_16, "another TSC");
	DECIDE(*s, DRAW_CLAIM_ADDRESS, APEBS_18, "another address in AUX");
	DECIDE(*s, DRAW_CLAIM_RIP, APEBS_20, "another RIP");
	DECIDE(*s, DRAW_CLAIM_REGISTERS, APEBS_20, "other registers");
	DECIDE(*s, DRAW_CLAIM_FLAGS, APEBS_20, "other flags");
	DECIDE(*s, DRAW_CLAIM_RSP, APEBS_20, "another RSP");
	DECIDE(*s, DRAW_CLAIM_XSTATE, APEBS_21, "another XSTATE_BV");
	DECIDE(*s, DRAW_CLAIM_VECTORS, APEBS_22, "other XMM registers");
	DECIDE(*s, DRAW_CLAIM_ENTRIES, APEBS_23, "another head of last branch records");
	DECIDE(*s, DRAW_CLAIM_ENTRIES, APEBS_24, "another number of last branch records");
	DECIDE(*s, DRAW_CLAIM_VALUES, APEBS_25, "other counters in a record");
	DECIDE(*s, DRAW_CLAIM_BEYOND, APEBS_35, "bytes written outside the buffer");
}

static void decide_threshold(struct test *t, const struct session *s)
{
	DECIDE(*s, DRAW_CLAIM_THRESHOLD, APEBS_28, "threshold interrupts that are missing");
	DECIDE(*s, DRAW_CLAIM_THRESHOLD_BIT, APEBS_28, "bit 54 of the status");
	DECIDE(*s, DRAW_CLAIM_PMI_NONE, APEBS_29, "interrupts without a cause");
	/* These are freezes by overflows too, but not alone. */
	DECIDE(*s, DRAW_CLAIM_FREEZE, APEBS_43, "CTR_Frz or IA32_PERF_GLOBAL_CTRL of a freeze");
	DECIDE(*s, DRAW_CLAIM_FREEZE_KEPT, FRZ_18, "IA32_DEBUGCTL changed by a freeze");
	DECIDE(*s, DRAW_CLAIM_NO_OVF_BUF, APEBS_31, "bit 62 of the status");
	DECIDE(*s, DRAW_CLAIM_NO_OVERFLOW, APEBS_40, "overflow bits that should be clear");
	DECIDE(*s, DRAW_CLAIM_OVERFLOW, APEBS_40, "overflow bits of others that are missing");
	DECIDE(*s, DRAW_CLAIM_PMI_STATUS, PMI_03, "another status at an interrupt");
	DECIDE(*s, DRAW_CLAIM_PMI_MASK, PMI_04, "LVTPC not masked at an interrupt");
	DECIDE(*s, DRAW_CLAIM_PMI_MODE, PMI_06, "interrupts in another mode than LVTPC's");
	DECIDE(*s, DRAW_CLAIM_REGISTER, APEBS_05, "registers that read otherwise than written");
}

/*
 * Decides APEBS-05, APEBS-06, APEBS-08, APEBS-10, APEBS-11, APEBS-12, APEBS-13, APEBS-14,
 * APEBS-16, APEBS-18, APEBS-20, APEBS-21, APEBS-22, APEBS-23, APEBS-24, APEBS-25, APEBS-28,
 * APEBS-29, APEBS-31, APEBS-33, APEBS-35, APEBS-40, APEBS-43, PMI-03, PMI-04, PMI-06, FRZ-18,
 * APEBS-09, APEBS-39 (claims/requirement.def has their sentences).
 *
 * Given  drawn cases as before, and a buffer of drawn place and size, WR anywhere in it, a drawn
 *        threshold; counters with drawn events, presets, groups and reload values in CFG_C
 * When   each program runs once
 * Then   each record is of an overflow of the counter that it names and has the groups that this
 *        counter's CFG_C asks for; they hold the registers, address and counters after its
 *        instruction; WR, reloads, status and threshold follow it, and no other byte is written
 * Control: records have been written
 */
TEST(random, drawn_samples_of_architectural_pebs_are_recorded_as_the_oracle_has_it,
     REQS(APEBS_05, APEBS_06, APEBS_08, APEBS_10, APEBS_11, APEBS_12, APEBS_13, APEBS_14, APEBS_16,
	  APEBS_18, APEBS_20, APEBS_21, APEBS_22, APEBS_23, APEBS_24, APEBS_25, APEBS_28, APEBS_29,
	  APEBS_31, APEBS_33, APEBS_35, APEBS_40, APEBS_43, PMI_03, PMI_04, PMI_06,
	  FRZ_18, APEBS_09, APEBS_39),
     NEEDS(need_perfmon, need_arch_pebs, need_instructions, need_branches, need_events))
{
	struct session s;

	if (!session_run(t, DRAW_ARCH, &s))
		return;
	test_note(t, "draw: in %u cases all records were as the oracle has them",
		  s.looked[DRAW_CLAIM_RECORD]);
	decide_record(t, &s);
	decide_threshold(t, &s);
	DECIDE(s, DRAW_CLAIM_REFUSED_CONFIG, APEBS_09, REFUSED_TEXT);
	DECIDE(s, DRAW_CLAIM_REFUSED_INDEX, APEBS_39, REFUSED_TEXT);
	CHECK_EQ(t, APEBS_10, 0, session_wrong_counts(&s),
		 "%u drawn cases: counts and reads that are wrong, with records", s.cases);
}
