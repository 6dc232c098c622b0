/* SPDX-License-Identifier: MIT */
/*
 * The uncore's registers together, its status bit by bit, and the freeze: SDM "Uncore Performance
 * Monitoring Management Facility", "Uncore Performance Event Configuration Facility".
 */
#include "kernel/interrupt/fault.h"
#include "pmu/counter.h"
#include "pmu/pmi.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/uncore/uncore.h"

#define COUNTERS	(UNCORE_COUNTERS + 1)	/* the last one is the fixed counter */
#define ALL_COUNTERS	(BITS(0, UNCORE_COUNTERS - 1) | EN_FC0)
#define PRESET		200	/* clocks before a wrap */
#define WAITS		64	/* waits for the wrap, each of several hundred clocks */
/* Bits of MSR_UNCORE_ADDR_OPCODE_MATCH: address, opcode, selection. */
#define MATCH_BITS	(BITS(3, 39) | BITS(40, 47) | BITS(61, 63))

static unsigned counter_name(unsigned n)
{
	return n < UNCORE_COUNTERS ? n : UNCORE_FIXED;
}

/* All counters count clocks from 0; those in pmi have their PMI enables set. */
static void count_clocks(u64 pmi)
{
	for (unsigned c = 0; c < UNCORE_COUNTERS; c++) {
		uncore_count_filtered(c, UNCORE_CLOCKS | (pmi & BIT(c) ? UNCORE_PMI : 0));
		uncore_write(c, 0);
	}
	uncore_program(UNCORE_FIXED, 0, pmi & EN_FC0);
	uncore_write(UNCORE_FIXED, 0);
}

/* Wait until these bits of the status are set, but not longer than WAITS. */
static void wait_for(u64 bits)
{
	for (unsigned i = 0; i < WAITS && (uncore_status() & bits) != bits; i++)
		uncore_spin();
}

/* The values that the registers hold at the same time: all differ, and no bit is the same in
 * all. */
static u64 own_count(unsigned n)
{
	return 0x010203040506ULL * (n + 1);
}

static u64 own_select(unsigned n)
{
	return 0x0101 * (n + 1) | UNCORE_CMASK(n + 1);
}

/*
 * UNC-01  Each uncore counter must hold 48 bits, and its event select what is written to it.
 *         SDM 18.8.2.2 Uncore Performance Event Configuration Facility
 * UNC-06  MSR_UNCORE_PERF_GLOBAL_CTRL must hold its enable, core and freeze bits.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility
 *
 * Given  the uncore's registers, nothing enabled
 * When   a different value is written to each counter, to each event select, to
 *        MSR_UNCORE_FIXED_CTR_CTRL and to MSR_UNCORE_PERF_GLOBAL_CTRL, and all are read after that;
 *        the same in reverse order
 * Then   each reads the value that was written to it
 */
TEST(msr, uncore_registers_hold_values_of_their_own_at_once, REQS(UNC_01, UNC_06),
     NEEDS(need_uncore))
{
	for (unsigned turn = 0; turn < 2; turn++) {
		for (unsigned k = 0; k < COUNTERS; k++) {
			const unsigned n = turn ? COUNTERS - 1 - k : k;

			uncore_write(counter_name(n), own_count(n));
			if (n < UNCORE_COUNTERS)
				msr_write(MSR_UNCORE_PERFEVTSEL0 + n, own_select(n));
		}
		msr_write(MSR_UNCORE_FIXED_CTR_CTRL, UNCORE_FIXED_CTR_CTRL_PMI);
		uncore_enable(PMI_FRZ | uncore_cores());
		for (unsigned n = 0; n < COUNTERS; n++)
			CHECK_EQ(t, UNC_01, own_count(n), uncore_read(counter_name(n)),
				 "uncore counter %u, all registers written", counter_name(n));
		for (u32 n = 0; n < UNCORE_COUNTERS; n++)
			CHECK_EQ(t, UNC_01, own_select(n), msr_read(MSR_UNCORE_PERFEVTSEL0 + n),
				 "MSR_UNCORE_PERFEVTSEL%u, all registers written", n);
		CHECK_EQ(t, UNC_01, UNCORE_FIXED_CTR_CTRL_PMI, msr_read(MSR_UNCORE_FIXED_CTR_CTRL),
			 "MSR_UNCORE_FIXED_CTR_CTRL, all registers written");
		CHECK_EQ(t, UNC_06, PMI_FRZ | uncore_cores(), msr_read(MSR_UNCORE_PERF_GLOBAL_CTRL),
			 "391H, all registers written");
		uncore_off();
	}
}

/* The layouts in the manual's section: the bits of a register, without EN and the reset of an
 * occupancy. */
static const struct {
	const char *name;
	u32 msr, members;	/* number of registers in this bank */
	u64 bits, left;	/* not written: they start something, or read as 0 */
} layouts[] = {
	{ "MSR_UNCORE_PERF_GLOBAL_CTRL", MSR_UNCORE_PERF_GLOBAL_CTRL, 1, PMI_FRZ | EN_PMI_CORES,
	  ALL_COUNTERS },
	{ "MSR_UNCORE_PERF_GLOBAL_OVF_CTRL", MSR_UNCORE_PERF_GLOBAL_OVF_CTRL, 1, 0,
	  ALL_COUNTERS | OVF_PMI | UNCORE_PERF_GLOBAL_STATUS_CHG },
	{ "MSR_UNCORE_FIXED_CTR_CTRL", MSR_UNCORE_FIXED_CTR_CTRL, 1, UNCORE_FIXED_CTR_CTRL_PMI,
	  UNCORE_FIXED_CTR_CTRL_EN },
	{ "MSR_UNCORE_FIXED_CTR0", MSR_UNCORE_FIXED_CTR0, 1, BITS(0, UNCORE_WIDTH - 1), 0 },
	{ "MSR_UNCORE_ADDR_OPCODE_MATCH", MSR_UNCORE_ADDR_OPCODE_MATCH, 1, MATCH_BITS, 0 },
	{ "MSR_UNCORE_PMC", MSR_UNCORE_PMC0, UNCORE_COUNTERS, BITS(0, UNCORE_WIDTH - 1), 0 },
	{ "MSR_UNCORE_PERFEVTSEL", MSR_UNCORE_PERFEVTSEL0, UNCORE_COUNTERS, 0xff94ffff,
	  BIT(17) | BIT(22) },
};

/* Check the reserved bits of register n of this bank. */
static void check_reserved(struct test *t, unsigned i, u32 n)
{
	const u32 msr = layouts[i].msr + n;
	const u64 none = msr == MSR_UNCORE_PERF_GLOBAL_CTRL ? EN_PMI_CORES & ~uncore_cores() : 0;
	const u64 kept = layouts[i].bits & ~none & 0x5555555555555555ULL;
	const u64 other = layouts[i].bits & ~none & ~kept;

	if (kept) {
		msr_write(msr, kept);
		CONTROL_EQ(t, UNC_11, kept, msr_read(msr), "%s, member %u", layouts[i].name, n);
	} else {
		CONTROL(t, UNC_11, !msr_try_write(msr, layouts[i].left).raised,
			"no #GP of the bits of %s", layouts[i].name);
	}
	for (unsigned bit = 0; bit < 64; bit++)
		if (!((layouts[i].bits | layouts[i].left) & BIT(bit)))
			CHECK(t, UNC_11, msr_try_write(msr, other | BIT(bit)).raised,
			      "#GP of bit %u of %s, member %u", bit, layouts[i].name, n);
	if (kept)
		CHECK_EQ(t, UNC_11, kept, msr_read(msr), "%s, member %u, after what was refused",
			 layouts[i].name, n);
	uncore_off();
}

/*
 * UNC-11  A write that sets a reserved bit of a register of the uncore must raise #GP and keep the
 *         old value.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions; 18.8.2.1 and 18.8.2.2, layouts of the
 *         registers
 *
 * Given  the global control, the fixed counter and its control, the match register, each
 *        general-purpose counter and event select, with every other of its bits set;
 *        MSR_UNCORE_PERF_GLOBAL_OVF_CTRL
 * When   each bit that its layout doesn't name is written, together with the inverse of the bits
 *        that are set
 * Then   each write raises #GP and changes nothing
 * Control: the value that stays, or of MSR_UNCORE_PERF_GLOBAL_OVF_CTRL each bit of its layout, was
 *        accepted
 */
TEST(msr, uncore_registers_refuse_reserved_bits, REQS(UNC_11), NEEDS(need_uncore))
{
	for (unsigned i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		for (u32 n = 0; n < layouts[i].members; n++)
			check_reserved(t, i, n);
}

/*
 * UNC-13  MSR_UNCORE_ADDR_OPCODE_MATCH must hold an address, an opcode and what of them is
 *         compared.
 *         SDM 18.8.2.3 Uncore Address/Opcode Match MSR, layout
 *
 * Given  the bits of the layout: address 39:3, opcode 47:40, selection 63:61
 * When   each of them alone is written, and all of them, while each counter holds a different value
 * Then   the value read is the value written
 */
TEST(msr, uncore_match_register_holds_each_bit_of_its_layout, REQS(UNC_13), NEEDS(need_uncore))
{
	for (unsigned n = 0; n < COUNTERS; n++)
		uncore_write(counter_name(n), own_count(n));
	for (unsigned bit = 0; bit <= 64; bit++) {
		const u64 value = bit < 64 ? BIT(bit) & MATCH_BITS : MATCH_BITS;

		if (!value)
			continue;
		msr_write(MSR_UNCORE_ADDR_OPCODE_MATCH, value);
		CHECK_EQ(t, UNC_13, value, msr_read(MSR_UNCORE_ADDR_OPCODE_MATCH),
			 "MSR_UNCORE_ADDR_OPCODE_MATCH after writing it");
	}
	msr_write(MSR_UNCORE_ADDR_OPCODE_MATCH, 0);
	uncore_off();
}

/*
 * UNC-03  An uncore counter that wraps must set its bit of MSR_UNCORE_PERF_GLOBAL_STATUS.
 * UNC-04  A bit of MSR_UNCORE_PERF_GLOBAL_STATUS must stay until 1 is written to it in
 *         MSR_UNCORE_PERF_GLOBAL_OVF_CTRL; writing 0 must have no effect.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility
 *
 * Given  all nine counters count clocks and wrap
 * When   1 is written to their bits in MSR_UNCORE_PERF_GLOBAL_OVF_CTRL one after the other, upward,
 *        then, after they have wrapped again, downward
 * Then   all nine bits are set, and each write clears its own alone
 */
TEST(unc, each_uncore_status_bit_is_cleared_alone, REQS(UNC_03, UNC_04), NEEDS(need_uncore))
{
	for (unsigned turn = 0; turn < 2; turn++) {
		u64 left = ALL_COUNTERS;

		count_clocks(0);
		for (unsigned n = 0; n < COUNTERS; n++)
			uncore_preset(counter_name(n), PRESET + n);
		uncore_enable(ALL_COUNTERS);
		wait_for(ALL_COUNTERS);
		uncore_enable(0);
		CHECK_EQ(t, UNC_03, ALL_COUNTERS, uncore_status() & ALL_COUNTERS,
			 "uncore status after all counters have wrapped");
		for (unsigned k = 0; k < COUNTERS; k++) {
			const unsigned c = counter_name(turn ? COUNTERS - 1 - k : k);

			uncore_clear(BIT(c));
			left &= ~BIT(c);
			CHECK_EQ(t, UNC_04, left, uncore_status() & ALL_COUNTERS,
				 "uncore status after 393H[%u] = 1", c);
		}
		uncore_off();
	}
}

/*
 * UNC-12  OVF_PMI, bit 61 of MSR_UNCORE_PERF_GLOBAL_STATUS, must be set by an overflow whose
 *         counter has its PMI enable set, and by no other.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility, Figure 18-20
 * UNC-04  A bit of MSR_UNCORE_PERF_GLOBAL_STATUS must stay until 1 is written to it in
 *         MSR_UNCORE_PERF_GLOBAL_OVF_CTRL; writing 0 must have no effect.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility
 *
 * Given  each counter wraps, with its PMI enable 0, then 1; all cores are selected
 * When   the status is read; then 1 is written to the counter's bit in
 *        MSR_UNCORE_PERF_GLOBAL_OVF_CTRL, and to bit 61
 * Then   bit 61 is as the PMI enable was, stays when the counter's bit is cleared, and is 0 then
 * Control: the counter's own bit is set each time
 */
TEST(unc, ovf_pmi_is_set_by_counters_with_their_pmi_enable_alone, REQS(UNC_12, UNC_04),
     NEEDS(need_perfmon, need_uncore))
{
	for (unsigned n = 0; n < COUNTERS; n++) {
		const unsigned c = counter_name(n);

		for (unsigned pmi = 0; pmi < 2; pmi++) {
			msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
			pmi_open(NULL);
			count_clocks(pmi ? BIT(c) : 0);
			uncore_preset(c, PRESET);
			uncore_enable(ALL_COUNTERS | uncore_cores());
			wait_for(BIT(c));
			uncore_enable(0);
			pmi_end();
			CONTROL_EQ(t, IDS(UNC_12, UNC_04), BIT(c), uncore_status() & BIT(c),
				   "392H[%u]: the counter has wrapped", c);
			CHECK_EQ(t, UNC_12, pmi ? OVF_PMI : 0, uncore_status() & OVF_PMI,
				 "392H[61], counter %u has PMI enable %u", c, pmi);
			uncore_clear(BIT(c));
			CHECK_EQ(t, UNC_04, pmi ? OVF_PMI : 0, uncore_status() & OVF_PMI,
				 "392H[61] after 393H[%u] = 1", c);
			uncore_clear(OVF_PMI);
			CHECK_EQ(t, UNC_04, 0, uncore_status() & OVF_PMI,
				 "392H[61] after 393H[61] = 1");
			uncore_off();
		}
	}
}

/* Let the counter wrap; only its value is written. Returns the interrupts so far. */
static unsigned wrap_and_settle(unsigned c)
{
	uncore_preset(c, PRESET);
	uncore_enable(ALL_COUNTERS | uncore_cores() | PMI_FRZ);
	wait_for(BIT(c));
	return pmi_settle()->count;
}

/* The bits of the counters that have moved during some hundred clocks. */
static u64 moving(void)
{
	u64 before[COUNTERS], moved = 0;

	for (unsigned n = 0; n < COUNTERS; n++)
		before[n] = uncore_read(counter_name(n));
	uncore_spin();
	for (unsigned n = 0; n < COUNTERS; n++)
		if (uncore_read(counter_name(n)) != before[n])
			moved |= BIT(counter_name(n));
	return moved;
}

/*
 * PMI-13  With PMI_FRZ set, the uncore counters must stop when one of them signals, until software
 *         enables them again.
 *         SDM 18.8.2 Performance Monitoring Facility in the Uncore
 * PMI-10  An uncore interrupt must reach every selected core.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Performance Counter Prioritization
 * UNC-12  OVF_PMI, bit 61 of MSR_UNCORE_PERF_GLOBAL_STATUS, must be set by an overflow whose
 *         counter has its PMI enable set, and by no other.
 *         SDM 18.8.2.1 Uncore Performance Monitoring Management Facility, Figure 18-20
 *
 * Given  all nine counters count clocks, PMI_FRZ = 1
 * When   each counter in turn wraps with its PMI enable 0, then with it 1; then
 *        MSR_UNCORE_PERF_GLOBAL_CTRL enables all again; then, with its PMI enable 1, the counter
 *        wraps a second time, after its status bit and OVF_PMI were cleared and its value and
 *        MSR_UNCORE_PERF_GLOBAL_CTRL alone were written
 * Then   all go on after a wrap that signals nothing; all stand after one that signals; all move
 *        when they are enabled again; the second wrap interrupts, sets OVF_PMI and stops all as the
 *        first did
 * Control: the wrap that signals has interrupted once
 */
TEST(unc, interrupt_of_each_uncore_counter_freezes_all_of_them, REQS(PMI_13, PMI_10, UNC_12),
     NEEDS(need_perfmon, need_uncore))
{
	if (!uncore_reaches(t))
		return;
	for (unsigned n = 0; n < COUNTERS; n++) {
		const unsigned c = counter_name(n);

		for (unsigned pmi = 0; pmi < 2; pmi++) {
			unsigned count;

			msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
			pmi_open(NULL);
			count_clocks(pmi ? BIT(c) : 0);
			count = wrap_and_settle(c);
			CONTROL_EQ(t, IDS(PMI_13, PMI_10, UNC_12), pmi, count,
				   "interrupts of counter %u, PMI enable %u", c, pmi);
			CHECK_EQ(t, PMI_13, pmi ? 0 : ALL_COUNTERS, moving(),
				 "counters that move after counter %u wrapped, PMI enable %u", c,
				 pmi);
			uncore_clear(BIT(c) | OVF_PMI);
			uncore_enable(ALL_COUNTERS);
			CHECK_EQ(t, PMI_13, ALL_COUNTERS, moving(),
				 "counters that move when they are enabled again");
			if (pmi) {
				uncore_enable(0);
				uncore_clear(ALL_COUNTERS | OVF_PMI);
				count = wrap_and_settle(c);
				CHECK_EQ(t, PMI_10, 2, count,
					 "interrupts of counter %u after its second wrap", c);
				CHECK_EQ(t, UNC_12, OVF_PMI, uncore_status() & OVF_PMI,
					 "392H[61] after that");
				CHECK_EQ(t, PMI_13, 0, moving(), "counters that move after that");
			}
			pmi_close();
			uncore_off();
		}
	}
}

/* Does IA32_PMC0, which counts instructions, move? */
static bool core_moves(void)
{
	const u64 before = counter_read(0);

	uncore_spin();
	return counter_read(0) != before;
}

/*
 * PMI-13  With PMI_FRZ set, the uncore counters must stop when one of them signals, until software
 *         enables them again.
 *         SDM 18.8.2 Performance Monitoring Facility in the Uncore
 *
 * Given  all nine counters of the uncore count clocks, PMI_FRZ = 1, and IA32_PMC0 of the core
 *        counts instructions; the handler doesn't write IA32_PERF_GLOBAL_CTRL
 * When   a general-purpose counter of the uncore, then the fixed one, wraps with its PMI enable 1
 * Then   IA32_PERF_GLOBAL_CTRL is unchanged, and IA32_PMC0 goes on
 * Control: there was an interrupt, and all counters of the uncore stand
 */
TEST(unc, freeze_of_the_uncore_leaves_the_core_counting, REQS(PMI_13),
     NEEDS(need_perfmon, need_instructions, need_uncore))
{
	static const struct pmi_options keep = { .keep_counting = true };

	if (!uncore_reaches(t))
		return;
	for (unsigned n = 0; n < COUNTERS; n += COUNTERS - 1) {
		const unsigned c = counter_name(n);

		msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_ENABLE_UNCORE_PMI);
		pmi_open(&keep);
		counter_program(0, EVENT_INST_RETIRED_ANY_P, COUNT_BOTH);
		counter_write(0, 0);
		counters_enable(pmc_one(0));
		count_clocks(BIT(c));
		CONTROL_EQ(t, PMI_13, 1, wrap_and_settle(c), "interrupts of counter %u", c);
		CONTROL_EQ(t, PMI_13, 0, moving(), "counters of the uncore that move after that");
		CHECK_EQ(t, PMI_13, 1, msr_read(MSR_IA32_PERF_GLOBAL_CTRL),
			 "IA32_PERF_GLOBAL_CTRL, counter %u of the uncore has frozen it", c);
		CHECK(t, PMI_13, core_moves(),
		      "IA32_PMC0 moves, counter %u of the uncore has frozen it", c);
		counters_disable();
		counter_program_disabled(0, 0, 0);
		pmi_close();
		uncore_off();
	}
}

/*
 * PMI-23  Freezing on a PMI must stop the counters of the logical processor that has it, and no
 *         others.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; Table 35-13 (scope: Thread)
 *
 * Given  all nine counters of the uncore count clocks; IA32_DEBUGCTL[12] = 1
 * When   IA32_PMC0 of the core overflows with INT
 * Then   all counters of the uncore go on
 * Control: there was an interrupt, at whose handler's entry IA32_PERF_GLOBAL_CTRL was 0
 */
TEST(unc, freeze_of_the_core_leaves_the_uncore_counting, REQS(PMI_23),
     NEEDS(need_perfmon, need_branches, need_freeze, need_uncore))
{
	const struct pmi_log *log;

	pmi_open(NULL);
	msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI);
	count_clocks(0);
	uncore_enable(ALL_COUNTERS);
	overflow(0, COUNT_INT);
	log = pmi_settle();
	if (CONTROL_RANGE(t, PMI_23, 1, ~0ULL, log->count, "interrupts of IA32_PMC0"))
		CONTROL_EQ(t, PMI_23, 0, log->entry[0].global_ctrl,
			   "IA32_PERF_GLOBAL_CTRL at the handler's entry");
	CHECK_EQ(t, PMI_23, ALL_COUNTERS, moving(),
		 "counters of the uncore that move after a freeze of the core");
	pmi_close();
	overflow_off(0);
	uncore_off();
}
