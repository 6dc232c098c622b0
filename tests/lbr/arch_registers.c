/* SPDX-License-Identifier: MIT */
/*
 * Compares CPUID leaf 1CH with the registers that it describes; and writes of these registers by
 * software. CPUID "Last Branch Records Information"; SDM volume 4, IA32_LBR_CTL and IA32_LBR_DEPTH.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/processor/cpuid.h"
#include "pmu/counter.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/lbr/arch.h"

/*
 * ALBR-01  IA32_LBR_CTL, IA32_LBR_DEPTH and the entries of architectural last branch records must
 *          exist if and only if CPUID.07H:EDX[19] is 1.
 *          SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 07H,
 *          EDX[19]
 *
 * Given  CPUID.07H:EDX[19]
 * When   IA32_LBR_CTL, IA32_LBR_DEPTH, and FROM, TO and INFO of entry 0 are read
 * Then   #GP if and only if that bit is 0
 */
TEST(msr, architectural_lbr_registers_exist_if_cpuid_sets_their_bit, REQS(ALBR_01),
     NEEDS(need_perfmon, need_refused_msrs))
{
	static const u32 registers[] = { MSR_IA32_LBR_CTL, MSR_IA32_LBR_DEPTH, MSR_IA32_LBR_0_INFO,
					 MSR_IA32_LBR_0_FROM_IP, MSR_IA32_LBR_0_TO_IP };
	u64 value;

	for (unsigned i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		CHECK_EQ(t, ALBR_01, counter_caps()->arch_lbr,
			 !msr_try_read(registers[i], &value).raised,
			 "MSR %#x can be read, CPUID.7H:EDX[19] = %u", registers[i],
			 counter_caps()->arch_lbr);
}

/*
 * ALBR-02  CPUID.1CH:EAX[7:0] must not be 0, and IA32_LBR_DEPTH must hold one of its depths.
 *          SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 1CH
 * ALBR-23  Where CPUID.(0DH,1):ECX[15] is 1, CPUID.(0DH,15):EAX must be 28H and 18H for each entry
 *          of the greatest depth.
 *          Linux is_arch_lbr_xsave_available
 *
 * Given  CPUID leaf 1CH
 * When   IA32_LBR_DEPTH is read, and CPUID.(0DH,15):EAX where component 15 is there
 * Then   the depth is one of the leaf's, which lists one; the component's size is that of the
 *        greatest depth
 */
TEST(msr, leaf_1ch_lists_the_depth_and_leaf_0dh_has_its_size, REQS(ALBR_02, ALBR_23),
     NEEDS(need_arch_lbr))
{
	const struct lbr_leaf leaf = arch_lbr_leaf();
	const u64 depth = msr_read(MSR_IA32_LBR_DEPTH);
	const unsigned deepest = lbr_leaf_deepest(&leaf);

	CHECK_RANGE(t, ALBR_02, ARCH_LBR_DEPTH_UNIT, ARCH_LBR_MAX_ENTRIES, deepest,
		    "the greatest depth of CPUID.1CH:EAX[7:0] = %#x", leaf.depths);
	CHECK(t, ALBR_02, lbr_leaf_lists(&leaf, depth),
	      "IA32_LBR_DEPTH = %lu is listed, CPUID.1CH:EAX[7:0] = %#x", depth, leaf.depths);
	if (cpuid_get(CPUID_XSS_LBR))
		CHECK_EQ(t, ALBR_23, 0x28 + 0x18 * deepest, cpuid_get(CPUID_XSAVE_LBR_SIZE),
			 "CPUID.(0DH,15):EAX, %u entries", deepest);
	else
		CHECK_EQ(t, ALBR_23, 0, cpuid_get(CPUID_XSAVE_LBR_SIZE),
			 "CPUID.(0DH,15):EAX, no component 15");
}

/* Depths to write: each multiple of 8, and values that aren't one. 520 looks like 8 to a shift
 * whose count has six bits. */
static const u64 depths[] = { 0,  1,  7,  8,  9,  12,  16,  24,	 31,	  32,		 33,
			      40, 48, 56, 63, 64, 72, 128, 520, BIT(32), BIT(32) | 32, BIT(63) };

/*
 * ALBR-03  A write to IA32_LBR_DEPTH of a depth that CPUID.1CH:EAX[7:0] does not list must raise
 *          #GP.
 *          SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 1CH
 *
 * Given  the depths that CPUID.1CH:EAX[7:0] lists
 * When   0, numbers that are no multiple of 8, multiples that aren't listed, and a listed one with
 *        an upper bit are written to IA32_LBR_DEPTH
 * Then   each write raises #GP, and depth and entries are as before
 * Control: each depth that is listed is taken and reads back
 */
TEST(msr, depth_that_leaf_1ch_does_not_list_is_refused, REQS(ALBR_03),
     NEEDS(need_arch_lbr, need_refused_msrs))
{
	const struct lbr_leaf leaf = arch_lbr_leaf();
	struct lbr_stack before, after;
	u64 kept;

	arch_lbr_close();
	kept = msr_read(MSR_IA32_LBR_DEPTH);
	arch_lbr_go_on(&lbr_piece_lbr_chain, LBR_LINKS, arch_lbr_everything(), &before);
	(void)msr_try_write(MSR_IA32_LBR_DEPTH, 0);
	(void)msr_try_write(MSR_IA32_LBR_DEPTH, kept | BIT(32));
	arch_lbr_read(&after);
	CHECK(t, ALBR_03, lbr_same(&before, &after),
	      "entries are as before after refused depths; FROM of entry 0 %#lx, was %#lx",
	      after.raw[0].from, before.raw[0].from);
	for (unsigned i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		const bool refused = msr_try_write(MSR_IA32_LBR_DEPTH, depths[i]).raised;

		if (lbr_leaf_lists(&leaf, depths[i])) {
			kept = depths[i];
			CONTROL(t, ALBR_03, !refused, "depth %lu is taken", depths[i]);
		} else {
			CHECK(t, ALBR_03, refused, "#GP of depth %lu, not listed in %#x", depths[i],
			      leaf.depths);
		}
		CHECK_EQ(t, ALBR_03, kept, msr_read(MSR_IA32_LBR_DEPTH),
			 "IA32_LBR_DEPTH after %lu was written", depths[i]);
		(void)msr_try_write(MSR_IA32_LBR_DEPTH, kept);
	}
	arch_lbr_close();
}

/* The number of entries, of this depth, that aren't 0. */
static unsigned not_zero(unsigned depth)
{
	unsigned count = 0;

	for (unsigned i = 0; i < depth; i++) {
		const struct lbr_raw raw = arch_lbr_entry(i);

		count += (raw.from | raw.to | raw.info) != 0;
	}
	return count;
}

static void fill(unsigned depth)
{
	const u64 info = arch_lbr_leaf().timed ? ARCH_LBR_CYC_CNT : 0;
	const struct lbr_raw raw = { 0x123456789000, 0x6edcba987000, info };

	for (unsigned i = 0; i < depth; i++)
		arch_lbr_put(i, &raw);
}

/*
 * ALBR-04  A write to IA32_LBR_DEPTH, of the depth that it has too, must set each FROM, TO and
 *          INFO to 0.
 *          Linux intel_pmu_arch_lbr_reset
 *
 * Given  each entry of a depth holds something, written by software; then branches recorded
 * When   the same depth is written again; each other listed depth; each while LBR_Frz is set
 * Then   FROM, TO and INFO of each entry of that depth are 0
 * Control: none was 0 before
 */
TEST(lbr, write_to_the_depth_clears_the_entries, REQS(ALBR_04), NEEDS(need_arch_lbr),
     .under_every_fault = true)
{
	const struct lbr_leaf leaf = arch_lbr_leaf();
	const unsigned deepest = lbr_leaf_deepest(&leaf);
	struct lbr_stack stack;

	for (unsigned depth = ARCH_LBR_DEPTH_UNIT; depth <= deepest; depth += ARCH_LBR_DEPTH_UNIT) {
		if (!lbr_leaf_lists(&leaf, depth))
			continue;
		arch_lbr_close();
		fill(deepest);
		CONTROL_EQ(t, ALBR_04, deepest, not_zero(deepest), "entries that software filled");
		arch_lbr_open(depth);
		CHECK_EQ(t, ALBR_04, 0, not_zero(depth), "entries that aren't 0, depth %u written",
			 depth);
		arch_lbr_go_on(&lbr_piece_lbr_chain, LBR_LINKS, arch_lbr_everything(), &stack);
		CONTROL_EQ(t, ALBR_04, depth, arch_lbr_count(&stack), "entries recorded");
		arch_lbr_open(depth);
		CHECK_EQ(t, ALBR_04, 0, not_zero(depth),
			 "entries that aren't 0, depth %u written again", depth);
		if (counter_caps()->version < 4)
			continue;
		arch_lbr_close();
		fill(deepest);
		CONTROL_EQ(t, ALBR_04, deepest, not_zero(deepest), "entries that software filled");
		msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, IA32_PERF_GLOBAL_STATUS_LBR_FRZ);
		CONTROL_EQ(t, ALBR_04, IA32_PERF_GLOBAL_STATUS_LBR_FRZ,
			   counters_status() & IA32_PERF_GLOBAL_STATUS_LBR_FRZ, "LBR_FRZ");
		arch_lbr_open(depth);
		CHECK_EQ(t, ALBR_04, 0, not_zero(depth),
			 "entries that aren't 0, depth %u written while LBR_FRZ is set", depth);
		counters_clear(IA32_PERF_GLOBAL_STATUS_LBR_FRZ);
	}
	arch_lbr_close();
}

/*
 * ALBR-05  IA32_LBR_CTL must take the bits that CPUID.1CH:EBX allows and raise #GP for each other
 *          one.
 *          SDM volume 1, CPUID leaf 1CH; volume 4, IA32_LBR_CTL; Linux
 *
 * Given  IA32_LBR_CTL = 0, CPUID.1CH:EBX
 * When   all bits that it allows, each one of them, and each other bit is written, alone and
 *        together with some that it allows
 * Then   these are taken and read back; each other one raises #GP, and the register keeps its value
 */
TEST(msr, lbr_control_takes_what_leaf_1ch_allows_and_nothing_else, REQS(ALBR_05),
     NEEDS(need_arch_lbr, need_refused_msrs))
{
	const struct lbr_leaf leaf = arch_lbr_leaf();
	const u64 legal = lbr_leaf_control(&leaf);
	const u64 kept = legal & 0x2aaaaaaULL, other = legal & ~kept;

	CHECK(t, ALBR_05, !msr_try_write(MSR_IA32_LBR_CTL, legal).raised, "WRMSR of %#lx", legal);
	CHECK_EQ(t, ALBR_05, legal, msr_read(MSR_IA32_LBR_CTL), "IA32_LBR_CTL, all its bits");
	msr_write(MSR_IA32_LBR_CTL, kept);
	for (unsigned bit = 0; bit < 64; bit++)
		if (!(legal & BIT(bit))) {
			(void)msr_try_write(MSR_IA32_LBR_CTL, BIT(bit) | other);
			CHECK_EQ(t, ALBR_05, kept, msr_read(MSR_IA32_LBR_CTL),
				 "IA32_LBR_CTL after a write of bit %u beside others was refused",
				 bit);
		}
	msr_write(MSR_IA32_LBR_CTL, 0);
	for (unsigned bit = 0; bit < 64; bit++) {
		const bool refused = msr_try_write(MSR_IA32_LBR_CTL, BIT(bit)).raised;

		CHECK_EQ(t, ALBR_05, !(legal & BIT(bit)), refused,
			 "#GP of bit %u of IA32_LBR_CTL, legal are %#lx", bit, legal);
		CHECK_EQ(t, ALBR_05, legal & BIT(bit), msr_read(MSR_IA32_LBR_CTL),
			 "IA32_LBR_CTL after bit %u was written", bit);
		(void)msr_try_write(MSR_IA32_LBR_CTL, 0);
	}
	arch_lbr_close();
}

/*
 * ALBR-14  An entry at or above the depth must not be there: its FROM, TO and INFO raise #GP.
 *          SDM volume 1, CPUID leaf 1CH: IA32_LBR_DEPTH is the number of entries
 *
 * Given  a listed depth below the greatest
 * When   FROM, TO and INFO of the entry with that number are read; 0 is written to them
 * Then   each raises #GP
 * Control: the entry before it can be read; with the greatest depth that one too
 */
TEST(msr, entry_at_the_depth_is_not_there, REQS(ALBR_14),
     NEEDS(need_arch_lbr, need_arch_lbr_depths, need_refused_msrs))
{
	static const u32 banks[] = { MSR_IA32_LBR_0_FROM_IP, MSR_IA32_LBR_0_TO_IP,
				     MSR_IA32_LBR_0_INFO };
	const struct lbr_leaf leaf = arch_lbr_leaf();
	const unsigned deepest = lbr_leaf_deepest(&leaf);
	u64 value;

	for (unsigned depth = ARCH_LBR_DEPTH_UNIT; depth < deepest; depth += ARCH_LBR_DEPTH_UNIT) {
		if (!lbr_leaf_lists(&leaf, depth))
			continue;
		for (unsigned bank = 0; bank < 3; bank++) {
			arch_lbr_open(depth);
			CONTROL(t, ALBR_14, !msr_try_read(banks[bank] + depth - 1, &value).raised,
				"MSR %#x can be read, depth %u", banks[bank] + depth - 1, depth);
			CHECK(t, ALBR_14,
			      msr_try_read(banks[bank] + depth, &value).raised &&
				      msr_try_write(banks[bank] + depth, 0).raised,
			      "#GP of MSR %#x, depth %u", banks[bank] + depth, depth);
			arch_lbr_close();
			CONTROL(t, ALBR_14, !msr_try_read(banks[bank] + depth, &value).raised,
				"MSR %#x can be read, depth %u", banks[bank] + depth, deepest);
		}
	}
	arch_lbr_close();
}

/*
 * ALBR-19  A write that sets IA32_PERFEVTSELx[35] must raise #GP where CPUID.1CH:ECX[16+x] is 0.
 *          SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 1CH,
 *          ECX[19:16]
 *
 * Given  CPUID.1CH:ECX[19:16], 0 where there is no such leaf
 * When   bit 35 of each event select is written
 * Then   #GP if and only if the counter's bit of ECX is 0, and a refused write changed nothing
 */
TEST(msr, event_select_bit_35_exists_if_leaf_1ch_logs_the_counter, REQS(ALBR_19),
     NEEDS(need_perfmon, need_refused_msrs))
{
	const struct lbr_leaf leaf = arch_lbr_leaf();

	FOR_EACH_COUNTER (c, counters_gp().bits) {
		const bool logs = c < 4 && (leaf.event_logging & BIT(c));
		const bool refused = msr_try_write(MSR_IA32_PERFEVTSEL0 + c, BIT(35)).raised;

		CHECK_EQ(t, ALBR_19, !logs, refused, "#GP of IA32_PERFEVTSEL%u[35]", c);
		CHECK_EQ(t, ALBR_19, logs ? BIT(35) : 0, msr_read(MSR_IA32_PERFEVTSEL0 + c),
			 "IA32_PERFEVTSEL%u after it", c);
		msr_write(MSR_IA32_PERFEVTSEL0 + c, 0);
	}
}

/*
 * ALBR-22  FROM, TO and INFO must read back what WRMSR wrote.
 *          Linux intel_pmu_arch_lbr_restore; lkvs tdx-compliance
 *
 * Given  recording is off
 * When   FROM and TO of the entries are written with each bit of an address alone, of the lower
 *        half and of the upper one, and INFO with each bit of the fields that the leaf promises,
 *        the events of counters among them; then five branches are recorded, and FROM, TO and
 *        INFO are written again
 * Then   each register reads as it was written
 */
TEST(msr, architectural_lbr_entries_hold_each_bit_of_what_is_recorded_there, REQS(ALBR_22),
     NEEDS(need_arch_lbr))
{
	const struct lbr_leaf leaf = arch_lbr_leaf();
	const u64 upper = BITS(47, 63), address = BITS(0, 46);
	u64 info = (leaf.timed ? ARCH_LBR_CYC_CNT | ARCH_LBR_CYC_CNT_VALID : 0) |
		   (leaf.branch_type ? ARCH_LBR_BR_TYPE : 0) |
		   (leaf.mispredict ? ARCH_LBR_MISPRED : 0) |
		   (cpuid_get(CPUID_RTM) ? ARCH_LBR_TSX_ABORT | ARCH_LBR_IN_TSX : 0);
	struct lbr_stack stack;
	unsigned depth;

	for (unsigned n = 0; n < ARCH_LBR_LOGGED; n++)
		info |= leaf.event_logging & BIT(n) ? 3ULL << (ARCH_LBR_PMC0_CNT_SHIFT + 2 * n) : 0;
	arch_lbr_close();
	depth = arch_lbr_depth();
	lbr_check_each_bit(t, AT(ALBR_22), MSR_IA32_LBR_0_FROM_IP, depth, 0, address);
	lbr_check_each_bit(t, AT(ALBR_22), MSR_IA32_LBR_0_TO_IP, depth, 0, address);
	lbr_check_each_bit(t, AT(ALBR_22), MSR_IA32_LBR_0_FROM_IP, depth, upper, address);
	lbr_check_each_bit(t, AT(ALBR_22), MSR_IA32_LBR_0_TO_IP, depth, upper, address);
	lbr_check_each_bit(t, AT(ALBR_22), MSR_IA32_LBR_0_INFO, depth, 0, info);
	arch_lbr_go_on(&lbr_piece_lbr_chain, 4, arch_lbr_everything(), &stack);
	lbr_check_each_bit(t, AT(ALBR_22), MSR_IA32_LBR_0_FROM_IP, depth, 0, address);
	lbr_check_each_bit(t, AT(ALBR_22), MSR_IA32_LBR_0_TO_IP, depth, 0, address);
	lbr_check_each_bit(t, AT(ALBR_22), MSR_IA32_LBR_0_INFO, depth, 0, info);
	arch_lbr_close();
}
