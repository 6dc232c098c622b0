/* SPDX-License-Identifier: MIT */
/* Counters that RDPMC hides from CPL > 0: "rdpmc user disable". */
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/user.h"
#include "kernel/processor/cpu.h"
#include "spec/msr.h"
#include "spec/x86.h"
#include "tests/measure/user_probe.h"
#include "tests/version6/version6.h"

static bool need_user_disable(char *reason, size_t size)
{
	return version6_need(counter_caps()->v6.rdpmc_user_disable,
			     "rdpmc user disable (CPUID.(23H,0):EBX[2] = 0)", reason, size);
}

/* A value that no other counter has, as wide as the counter where software can write that much. */
static u64 own(unsigned c)
{
	const u64 highest = PMC_IS_FIXED(c) || counter_caps()->full_width ?
				    BIT(counter_width(c) - 1) :
				    0;

	return highest | (0x01020304 + 0x10000ULL * c);
}

static u32 index_of(unsigned c)
{
	return PMC_IS_FIXED(c) ? (u32)RDPMC_FIXED + c - PMC_FIXED(0) : c;
}

/* Select an event for all counters, with the local enable, and hide those of the set. */
static void hide(u64 set)
{
	u64 fixed = 0;

	FOR_EACH_COUNTER (c, counters_all().bits) {
		const bool hidden = set & BIT(c);

		if (PMC_IS_FIXED(c)) {
			const unsigned shift = 4 * (c - PMC_FIXED(0));

			fixed |= 3ULL << shift;
			if (hidden)
				fixed |= IA32_FIXED_CTR_CTRL_RDPMC_USER_DISABLE0 << shift;
		} else {
			msr_write(MSR_IA32_PERFEVTSEL0 + c,
				  EVENT_INST_RETIRED_ANY_P | COUNT_BOTH | IA32_PERFEVTSEL_EN |
					  (hidden ? IA32_PERFEVTSEL_RDPMC_USER_DISABLE : 0));
		}
	}
	msr_write(MSR_IA32_FIXED_CTR_CTRL, fixed);
}

/* What RDPMC of counter c reads at this CPL with CR4.PCE = 1. */
static u64 read_at(struct test *t, unsigned cpl, unsigned c)
{
	struct user_probe *probe = user_probe_get();
	const u64 cr4 = cr4_read();
	u64 seen;

	probe->ecx = index_of(c);
	cr4_write(cr4 | CR4_PCE);
	seen = user_call_at(cpl, user_rdpmc, (u64)(uintptr_t)probe);
	cr4_write(cr4);
	CHECK(t, V6_11, !probe->fault.raised, "RDPMC at CPL %u, ECX = %#x: vector %u", cpl,
	      index_of(c), probe->fault.vector);
	return seen;
}

/* Hide the counters of the set, and read all. */
static void check_hidden(struct test *t, u64 set)
{
	const u64 all = counters_all().bits;
	u64 value;

	hide(set);
	FOR_EACH_COUNTER (c, all)
		counter_write(c, own(c));
	FOR_EACH_COUNTER (c, all)
		for (unsigned cpl = 1; cpl <= 3; cpl++) {
			const u64 seen = read_at(t, cpl, c);

			if (set & BIT(c))
				CHECK_EQ(t, V6_11, 0, seen, "hidden counter %u at CPL %u", c, cpl);
			else
				CONTROL_EQ(t, V6_11, own(c), seen,
					   "counter %u at CPL %u, without the bit; hidden: %#lx", c,
					   cpl, set);
		}
	FOR_EACH_COUNTER (c, set) {
		CHECK(t, V6_11, !rdpmc_try(index_of(c), &value).raised,
		      "RDPMC of hidden counter %u at CPL 0", c);
		CHECK_EQ(t, V6_11, own(c), value, "hidden counter %u at CPL 0", c);
		counters_enable(pmc_one(c));
		CHECK_EQ(t, V6_11, 0, read_at(t, 3, c),
			 "hidden counter %u at CPL 3 while it is enabled", c);
		counters_disable();
	}
}

/*
 * V6-11  RDPMC at CPL > 0 of a counter with that bit must read 0 without #GP, and at CPL 0 the
 *        counter.
 *        Linux mailing list: rdpmc user disable, which quotes the manual; lkvs
 *
 * Given  CPUID.(23H,0):EBX[2] is 1; each counter has a different value, as wide as can be written;
 *        one in turn has IA32_PERFEVTSELx[37] or IA32_FIXED_CTR_CTRL[33 + 4i] set, then all have;
 *        IA32_PERF_GLOBAL_CTRL is 0
 * When   RDPMC reads each counter at CPL 1, 2 and 3 with CR4.PCE = 1, and a hidden one at CPL 0;
 *        then a hidden one counts instructions, and is read at CPL 3 again
 * Then   a hidden one reads 0 at CPL 1, 2 and 3 without #GP, and its value at CPL 0
 * Control: those without the bit read their values at CPL 1, 2 and 3; each counter that counts
 *          does at CPL 3 too, and a general-purpose one has counted
 */
TEST(msr, hidden_counter_reads_0_above_cpl_0_alone, REQS(V6_11),
     NEEDS(need_perfmon, need_instructions, need_user_disable))
{
	const u64 all = counters_all().bits;

	FOR_EACH_COUNTER (hidden, all)
		check_hidden(t, BIT(hidden));
	check_hidden(t, all);
	hide(0);
	FOR_EACH_COUNTER (c, all) {
		counter_write(c, own(c));
		counters_enable(pmc_one(c));
		/* A general-purpose counter has counted instructions by then. */
		CONTROL_RANGE(t, V6_11, own(c) + !PMC_IS_FIXED(c), own(c) + BIT(30),
			      read_at(t, 3, c),
			      "counter %u at CPL 3 while it is enabled, without the bit", c);
		counters_disable();
	}
	FOR_EACH_COUNTER (c, all)
		counter_program_disabled(c, 0, 0);
}
