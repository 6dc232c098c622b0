/* SPDX-License-Identifier: MIT */
/*
 * Writable and reserved bits of the PMU's registers: SDM Table 35-2 "IA-32 Architectural MSRs",
 * Figures 18-6 to 18-8, 18-21 and 18-23, WRMSR "Protected Mode Exceptions". Bit numbers are those
 * of the figures. No counter counts meanwhile. Bits that start something by themselves (branch
 * trace messages, BTF), and bits whose meaning depends on the processor model, aren't written.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/cpuid.h"
#include "pmu/counter.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/register_bits.h"
#include "tests/measure/workload.h"

#define BRANCHES	32	/* before the overflow of IA32_PMC0 */

static void hold(struct test *t, struct test_claim claim, const struct register_bits *r, u64 value)
{
	struct fault fault = msr_try_write(r->msr, value);
	u64 got = ~value;

	if (test_check(t, claim, !fault.raised, "no exception", "writing 0x%lx to %s: vector %u",
		       value, r->name, fault.vector) &&
	    register_reads_back(t, r->msr) && !msr_try_read(r->msr, &got).raised)
		test_check_eq(t, claim, value, got, "%s after writing 0x%lx", r->name, value);
}

/* Write all bits, none, each one alone, and all except each one: so each bit is distinguished from
 * every other. */
static void check_holds(struct test *t, struct test_claim claim, const struct register_bits *r)
{
	hold(t, claim, r, r->writable | r->always);
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(r->writable & BIT(bit)))
			continue;
		hold(t, claim, r, BIT(bit) | r->always);
		hold(t, claim, r, (r->writable & ~BIT(bit)) | r->always);
	}
	hold(t, claim, r, r->always);
}

/* Every refused value has the inverse of each bit of the value that stays, so that a bit that is
 * written anyway shows. The control is the value that stays: its write was accepted. */
static void check_refuses(struct test *t, struct test_claim claim, const struct register_bits *r)
{
	u64 kept = r->always | (r->writable & 0x5555555555555555ULL);
	u64 other = r->always | (r->writable & ~kept), got = ~kept;
	/* Every bit of IA32_DEBUGCTL would start branch trace messages too. */
	const u64 together[] = { other | r->reserved,
				 r->msr == MSR_IA32_DEBUGCTL ? r->reserved : ~0ULL };

	hold(t, test_control(claim), r, kept);
	for (unsigned bit = 0; bit < 64; bit++)
		if (r->reserved & BIT(bit))
			test_check(t, claim, fault_is_gp(msr_try_write(r->msr, other | BIT(bit))),
				   "#GP", "bit %u of %s", bit, r->name);
	for (unsigned i = 0; r->reserved && i < 2; i++)
		test_check(t, claim, fault_is_gp(msr_try_write(r->msr, together[i])), "#GP",
			   "%#lx of %s", together[i], r->name);
	if (register_reads_back(t, r->msr) && !msr_try_read(r->msr, &got).raised)
		test_check_eq(t, claim, kept, got, "%s after the refused writes", r->name);
	hold(t, test_control(claim), r, r->always);
}

/*
 * MSR-28  A read/write register of the PMU must read back the legal value that was written to it.
 *         SDM Table 35-2 IA-32 Architectural MSRs (Read/Write registers), Table 35-13
 *
 * Given  IA32_PERFEVTSELx, IA32_FIXED_CTR_CTRL and IA32_PERF_GLOBAL_CTRL, with the bits that
 *        Figures 18-6, 18-7 and 18-8 name for this version
 * When   all of these bits, each one alone, all but each one, and none are written
 * Then   no write raises an exception, and each value is read back
 */
TEST(msr, event_selects_and_counter_controls_hold_every_bit, REQS(MSR_28), NEEDS(need_perfmon),
     .under_every_fault = true)
{
	struct register_bits r;

	FOR_EACH_COUNTER (i, counters_gp().bits) {
		r = bits_of_event_select(i);
		check_holds(t, AT(MSR_28), &r);
	}
	if (counter_caps()->fixed) {
		r = bits_of_fixed_control();
		check_holds(t, AT(MSR_28), &r);
	}
	r = bits_of_global_control();
	check_holds(t, AT(MSR_28), &r);
}

/*
 * MSR-28  A read/write register of the PMU must read back the legal value that was written to it.
 *         SDM Table 35-2 IA-32 Architectural MSRs (Read/Write registers), Table 35-13
 *
 * Given  IA32_PMCx (bits 30:0), IA32_A_PMCx and IA32_FIXED_CTRx (all bits of their width)
 * When   all bits, each one alone, all but each one, and none are written
 * Then   no write raises an exception, and each value is read back
 */
TEST(msr, counter_registers_hold_every_bit, REQS(MSR_28), NEEDS(need_perfmon))
{
	const struct pmu_caps *caps = counter_caps();
	struct register_bits r;

	FOR_EACH_COUNTER (i, counters_gp().bits) {
		r = bits_of_counter(i);
		check_holds(t, AT(MSR_28), &r);
	}
	r.name = "IA32_A_PMCx";
	r.writable = BIT(caps->gp_width) - 1;
	FOR_EACH_COUNTER (i, caps->full_width ? counters_gp().bits : 0) {
		r.msr = MSR_IA32_A_PMC0 + i;
		check_holds(t, AT(MSR_28), &r);
	}
	FOR_EACH_COUNTER (i, caps->fixed_mask) {
		r = bits_of_fixed_counter(i);
		check_holds(t, AT(MSR_28), &r);
	}
}

/*
 * MSR-28  A read/write register of the PMU must read back the legal value that was written to it.
 *         SDM Table 35-2 IA-32 Architectural MSRs (Read/Write registers), Table 35-13
 *
 * Given  IA32_PEBS_ENABLE (3:0, 35:32; 63 with precise store), MSR_PEBS_LD_LAT_THRESHOLD (15:0, of
 *        which the smallest value is 3), IA32_DS_AREA (canonical addresses of the lower half)
 * When   all bits, each one alone, all but each one, and none are written; bits 1:0 of the
 *        threshold together with a larger value
 * Then   no write raises an exception, and each value is read back
 */
TEST(msr, pebs_registers_hold_every_bit, REQS(MSR_28),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct register_bits r = bits_of_pebs_enable();

	check_holds(t, AT(MSR_28), &r);
	r = bits_of_load_latency();
	check_holds(t, AT(MSR_28), &r);
	r.always = 0x100;
	r.writable = 3;
	check_holds(t, AT(MSR_28), &r);
	msr_try_write(r.msr, 0);
	r = bits_of_ds_area();
	check_holds(t, AT(MSR_28), &r);
}

/*
 * MSR-28  A read/write register of the PMU must read back the legal value that was written to it.
 *         SDM Table 35-2 IA-32 Architectural MSRs (Read/Write registers), Table 35-13
 *
 * Given  IA32_DEBUGCTL: LBR (0; with architectural LBRs it reads 0 and is left out), the freeze
 *        bits 11 and 12 where the processor has them
 * When   all bits, each one alone, all but each one, and none are written
 * Then   no write raises an exception, and each value is read back
 */
TEST(msr, debug_control_holds_lbr_and_freeze_bits, REQS(MSR_28),
     NEEDS(need_perfmon, need_debug_control))
{
	struct register_bits r = bits_of_debug_control();

	check_holds(t, AT(MSR_28), &r);
}

/*
 * MSR-28  A read/write register of the PMU must read back the legal value that was written to it.
 *         SDM Table 35-2 IA-32 Architectural MSRs (Read/Write registers), Table 35-13
 *
 * Given  each MSR_OFFCORE_RSP_x, with the bits that "Off-core Response Performance Monitoring"
 *        names for every part
 * When   all bits, each one alone, all but each one, and none are written
 * Then   no write raises an exception, and each value is read back
 */
TEST(msr, off_core_response_registers_hold_every_bit, REQS(MSR_28),
     NEEDS(need_perfmon, need_offcore))
{
	for (u32 i = 0; i < bits_off_core_registers(); i++) {
		struct register_bits r = bits_of_off_core(t, i);

		check_holds(t, AT(MSR_28), &r);
	}
}

/*
 * MSR-24  Both off-core response MSRs, 1A6H and 1A7H, must exist.
 *         SDM 18.8.1 Enhancements of Performance Monitoring in the Processor Core (Nehalem) (two);
 *         18.8.1.3 (one on Nehalem)
 *
 * Given  MSR_OFFCORE_RSP_0 and MSR_OFFCORE_RSP_1, on a processor that has two
 * When   all bits that every part has, each one alone, all but each one, and none are written
 * Then   no write raises an exception, and each value is read back
 */
TEST(msr, both_off_core_response_registers_hold_every_bit, REQS(MSR_24),
     NEEDS(need_perfmon, need_offcore_2))
{
	for (u32 i = 0; i < 2; i++) {
		struct register_bits r = bits_of_off_core(t, i);

		check_holds(t, AT(MSR_24), &r);
	}
}

/*
 * MSR-29  A write that sets a reserved bit of IA32_PERFEVTSELx must raise #GP and keep the old
 *         value.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions; Figure 18-6
 *
 * Given  each IA32_PERFEVTSELx with every other of its bits set
 * When   each bit that Figure 18-6, with IN_TX and IN_TXCP where there is TSX, doesn't name is
 *        written, together with the inverse of the bits that are set; not IN_TX and IN_TXCP under a
 *        hypervisor.
 *        Last, all of these are written at once, and every bit
 * Then   each write raises #GP and changes nothing
 * Control: the value that stays was accepted
 */
TEST(msr, event_selects_refuse_reserved_bits, REQS(MSR_29), NEEDS(need_perfmon, need_events),
     .under_every_fault = true)
{
	FOR_EACH_COUNTER (i, counters_gp().bits) {
		struct register_bits r = bits_of_event_select(i);

		check_refuses(t, AT(MSR_29), &r);
	}
}

/*
 * MSR-30  A write that sets a bit above the width of a fixed counter must raise #GP and keep the
 *         old value.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions; 18.2.2 (width of the fixed counters)
 *
 * Given  each fixed counter with every other bit of its width set
 * When   each bit above the width is written, together with the inverse of the bits that are set.
 *        Last, all of these are written at once, and every bit
 * Then   each write raises #GP and changes nothing
 * Control: the value that stays was accepted
 */
TEST(msr, fixed_counters_refuse_bits_above_their_width, REQS(MSR_30),
     NEEDS(need_perfmon, need_fixed_0_to_2))
{
	FOR_EACH_COUNTER (i, counter_caps()->fixed_mask) {
		struct register_bits r = bits_of_fixed_counter(i);

		check_refuses(t, AT(MSR_30), &r);
	}
}

/*
 * MSR-31  A write that sets a reserved bit of IA32_FIXED_CTR_CTRL must raise #GP and keep the old
 *         value.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions; Figure 18-7
 *
 * Given  IA32_FIXED_CTR_CTRL with every other of its bits set
 * When   each bit above the fields of the fixed counters is written, with baseline each bit of an
 *        absent one of fixed counters 0 to 7, together with the inverse of the bits that are set.
 *        Last, all of these are written at once, and every bit
 * Then   each write raises #GP and changes nothing
 * Control: the value that stays was accepted
 */
TEST(msr, fixed_control_refuses_reserved_bits, REQS(MSR_31),
     NEEDS(need_perfmon, need_fixed_0_to_2, need_events))
{
	struct register_bits r = bits_of_fixed_control();

	check_refuses(t, AT(MSR_31), &r);
}

/*
 * MSR-32  A write that sets a reserved bit of IA32_PERF_GLOBAL_OVF_CTRL must raise #GP and clear
 *         nothing.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions; Figure 18-8
 *
 * Given  IA32_PMC0 has overflowed: bit 0 of the status is set
 * When   each bit below 61 that Figure 18-8 doesn't name is written to IA32_PERF_GLOBAL_OVF_CTRL,
 *        together with bit 0. Last, all of these are written at once, and every bit
 * Then   each write raises #GP and clears nothing
 * Control: the status bit was set, and a write that isn't refused clears it
 */
TEST(msr, overflow_control_refuses_reserved_bits, REQS(MSR_32),
     NEEDS(need_perfmon, need_not_hybrid, need_events, need_branches))
{
	u64 named = counters_all().bits | BITS(61, 63);

	/* KVM may pass the register through, although it shows version 2. */
	if (counter_caps()->version >= 4 || counter_caps()->hypervisor)
		named |= IA32_PERF_GLOBAL_OVF_CTRL_CLR_TRACE_TOPA_PMI |
			 IA32_PERF_GLOBAL_OVF_CTRL_CLR_LBR_FRZ |
			 IA32_PERF_GLOBAL_OVF_CTRL_CLR_CTR_FRZ | IA32_PERF_GLOBAL_OVF_CTRL_CLR_ASCI;
	if (cpuid_get(CPUID_PT))	/* Broadwell has this bit with version 3 */
		named |= IA32_PERF_GLOBAL_OVF_CTRL_CLR_TRACE_TOPA_PMI;
	if (counter_caps()->metrics || counter_caps()->metrics_open)
		named |= IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_PERF_METRICS;
	if (counter_caps()->arch_pebs)
		named |= IA32_PERF_GLOBAL_OVF_CTRL_CLR_ARCH_PEBS_THRESHOLD;
	counter_program(0, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH);
	counter_preset(0, BRANCHES);
	workload_run(&workload_branch, BRANCHES, pmc_one(0));
	CONTROL_EQ(t, MSR_32, 1, counters_status() & 1, "status bit of IA32_PMC0, which wrapped");
	for (unsigned bit = 0; bit < 61; bit++)
		if (!(named & BIT(bit)))
			CHECK(t, MSR_32,
			      fault_is_gp(
				      msr_try_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, BIT(bit) | 1)),
			      "bit %u of IA32_PERF_GLOBAL_OVF_CTRL", bit);
	for (unsigned i = 0; ~named & BITS(0, 60) && i < 2; i++) {
		const u64 value = i ? ~0ULL : (~named & BITS(0, 60)) | 1;

		CHECK(t, MSR_32, fault_is_gp(msr_try_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, value)),
		      "%#lx of IA32_PERF_GLOBAL_OVF_CTRL", value);
	}
	CHECK_EQ(t, MSR_32, 1, counters_status() & 1, "status bit after the refused writes");
	counters_clear(1);
	CONTROL_EQ(t, MSR_32, 0, counters_status() & 1, "status bit after one that isn't refused");
}

/*
 * MSR-33  A write that sets a reserved bit of MSR_PEBS_LD_LAT_THRESHOLD must raise #GP and keep
 *         the old value.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions; Figure 18-23
 *
 * Given  MSR_PEBS_LD_LAT_THRESHOLD with every other of the bits 15:0 set
 * When   each bit above 15 is written, together with the inverse of the bits that are set.
 *        Last, all of these are written at once, and every bit
 * Then   each write raises #GP and changes nothing
 * Control: the value that stays was accepted
 */
TEST(msr, load_latency_threshold_refuses_reserved_bits, REQS(MSR_33),
     NEEDS(need_perfmon, need_pebs, need_load_latency))
{
	struct register_bits r = bits_of_load_latency();

	check_refuses(t, AT(MSR_33), &r);
	msr_try_write(MSR_PEBS_LD_LAT_THRESHOLD, 0);
}

/*
 * MSR-34  A write that sets a reserved bit of IA32_DEBUGCTL must raise #GP and keep the old value.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions; 17.4.1 IA32_DEBUGCTL MSR
 *
 * Given  IA32_DEBUGCTL with every other of the bits that bits_of_debug_control() names set
 * When   each of the bits 5:3 and 63:16, and bit 2 where CPUID.(07H,0):ECX[24] is 0, is written,
 *        together with the inverse of the bits that are set.
 *        Last, all of these are written at once
 * Then   each write raises #GP and changes nothing
 * Control: the value that stays was accepted
 */
TEST(msr, debug_control_refuses_reserved_bits, REQS(MSR_34),
     NEEDS(need_perfmon, need_events, need_debug_control_write))
{
	struct register_bits r = bits_of_debug_control();

	check_refuses(t, AT(MSR_34), &r);
}

/*
 * MSR-35  A write that sets a reserved bit of an off-core response MSR must raise #GP and keep the
 *         old value.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions; Off-core Response Performance Monitoring
 *
 * Given  each MSR_OFFCORE_RSP_x with every other of its bits set
 * When   each bit above the highest that "Off-core Response Performance Monitoring" names is
 *        written, together with the inverse of the bits that are set.
 *        Last, all of these are written at once, and every bit
 * Then   each write raises #GP and changes nothing
 * Control: the value that stays was accepted
 */
TEST(msr, off_core_response_registers_refuse_reserved_bits, REQS(MSR_35),
     NEEDS(need_perfmon, need_offcore))
{
	for (u32 i = 0; i < bits_off_core_registers(); i++) {
		struct register_bits r = bits_of_off_core(t, i);

		check_refuses(t, AT(MSR_35), &r);
	}
}

#define CANONICAL_FROM	47	/* with 48-bit addresses bits 63:47 are alike, */
#define CANONICAL_LA57	56	/* with 57-bit ones bits 63:56 */

static bool may_have_57_bits(void)
{
	enum { LEAF = 7, LA57 = 16 };	/* CPUID.07H:ECX[16] */

	return cpuid_get(CPUID_MAX_LEAF) >= LEAF && cpuid_read(LEAF, 0).ecx >> LA57 & 1;
}

/*
 * DS-19   A write of a non-canonical address to IA32_DS_AREA must raise #GP.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions
 * MSR-28  A read/write register of the PMU must read back the legal value that was written to it.
 *         SDM Table 35-2 IA-32 Architectural MSRs (Read/Write registers), Table 35-13
 *
 * Given  IA32_DS_AREA; addresses of the lower and of the upper half of the address space
 * When   each upper address with one bit clear, and all, are written; each address of both halves
 *        with one of the bits inverted that have to be alike: 63:47, or 63:56 where there may be
 *        57-bit addresses
 * Then   the upper addresses are read back; each address with an inverted bit raises #GP, and the
 *        register is unchanged
 * Control: the address that stays, one of each half, was accepted
 */
TEST(msr, ds_area_takes_addresses_of_either_half_and_refuses_others, REQS(DS_19, MSR_28),
     NEEDS(need_perfmon, need_pebs, need_ds_write))
{
	const unsigned alike = may_have_57_bits() ? CANONICAL_LA57 : CANONICAL_FROM;
	const struct register_bits upper = { "IA32_DS_AREA", MSR_IA32_DS_AREA,
					     BITS(CANONICAL_FROM, 63),
					     BITS(3, CANONICAL_FROM - 1), 0, 0 };
	u64 got = 0;

	check_holds(t, AT(MSR_28), &upper);
	for (unsigned half = 0; half < 2; half++) {
		const u64 kept = (half ? BITS(CANONICAL_FROM, 63) : 0) | 0x1000;

		hold(t, CONTROL_AT(DS_19), &upper, kept);
		for (unsigned bit = alike; bit < 64; bit++) {
			const u64 bad = kept ^ BIT(bit);

			CHECK(t, DS_19, fault_is_gp(msr_try_write(MSR_IA32_DS_AREA, bad)),
			      "address %#lx in IA32_DS_AREA", bad);
		}
		msr_try_read(MSR_IA32_DS_AREA, &got);
		CHECK_EQ(t, DS_19, kept, got, "IA32_DS_AREA after the refused writes");
	}
	msr_write(MSR_IA32_DS_AREA, 0);
}

/* The value that is written to one of the registers below; no two registers get the same. */
static u64 value_of_its_own(const struct register_bits *r, unsigned n)
{
	return r->always | (((n + 1) * 0x1111111111ULL) & r->writable);
}

/*
 * MSR-28  A read/write register of the PMU must read back the legal value that was written to it.
 *         SDM Table 35-2 IA-32 Architectural MSRs (Read/Write registers), Table 35-13
 *
 * Given  each event select, counter, IA32_FIXED_CTR_CTRL, IA32_DS_AREA, MSR_PEBS_LD_LAT_THRESHOLD
 *        and off-core response register; IA32_PERF_GLOBAL_CTRL = 0, so that nothing counts
 * When   a different value is written to each of them, then all are read; the same with other
 *        values in reverse order
 * Then   each reads the value that was written to it
 */
TEST(msr, registers_hold_values_of_their_own_at_once, REQS(MSR_28), NEEDS(need_perfmon))
{
	struct register_bits r[REGISTERS_MOST];
	const unsigned n = bits_of_all(t, r);

	for (unsigned turn = 0; turn < 2; turn++) {
		for (unsigned k = 0; k < n; k++) {
			const unsigned i = turn ? n - 1 - k : k;

			msr_try_write(r[i].msr, value_of_its_own(&r[i], i + turn));
		}
		for (unsigned i = 0; i < n; i++)
			if (register_reads_back(t, r[i].msr))
				CHECK_EQ(t, MSR_28, value_of_its_own(&r[i], i + turn),
					 msr_read(r[i].msr), "%s, MSR %#x, all registers written",
					 r[i].name, r[i].msr);
	}
	for (unsigned i = 0; i < n; i++)
		msr_write(r[i].msr, 0);
}

static bool need_capabilities(char *reason, size_t size)
{
	const struct pmu_caps *caps = counter_caps();

	if (caps->pdcm || !caps->hypervisor)
		return true;
	fmt_print(reason, size, "no IA32_PERF_CAPABILITIES (PDCM 0, hypervisor \"%s\")",
		  caps->host.signature);
	return false;
}

/* The manual names the formats of processors up to Skylake. A later row of the table may stand for
 * several: Lunar Lake has format 6, and Arrow Lake, with the same cores, has format 5. */
static bool tells_record_format(const struct test *t)
{
	const struct generation *generation = counter_caps()->generation;

	return generation && (generation->set & GENS_TO_SKL || test_is_strict(t));
}

/*
 * MSR-01  CPUID leaf 0AH, DS, DTES64, PDCM and IA32_PERF_CAPABILITIES must agree with the
 *         registers that exist.
 *         SDM 18.18 IA32_PERF_CAPABILITIES MSR Enumeration; SDM 18.2.1.1 Architectural Performance
 *         Monitoring Version 1 Facilities
 *
 * Given  "IA32_PERF_CAPABILITIES MSR Enumeration": bits 11:8 are the record format, 0001B from
 *        Nehalem to the 3rd generation, 0010B for the 4th and 5th. They say nothing where
 *        IA32_MISC_ENABLE[12] says that there is no PEBS (a guest of KVM). Bit 13 stands for
 *        full-width writes
 * When   IA32_PERF_CAPABILITIES and IA32_A_PMC0 are read
 * Then   bits 11:8 are the generation's format, bits 7:6 are 1 (records are taken after the
 *        instruction, with the architectural registers); of processors later than Skylake both are
 *        only reported. IA32_A_PMC0 exists if and only if bit 13 is 1
 */
TEST(msr, perf_capabilities_name_record_format_and_full_width_writes, REQS(MSR_01),
     NEEDS(need_perfmon, need_events, need_capabilities))
{
	u64 caps = 0, value;
	bool readable = !msr_try_read(MSR_IA32_PERF_CAPABILITIES, &caps).raised;

	CHECK(t, MSR_01, readable, "IA32_PERF_CAPABILITIES, PDCM %u", counter_caps()->pdcm);
	if (counter_caps()->pebs && tells_record_format(t)) {
		CHECK_EQ(t, MSR_01, counter_caps()->generation->pebs_format, caps >> 8 & 0xf,
			 "IA32_PERF_CAPABILITIES[11:8]");
		/* Records are taken after the instruction, and have the registers after it. */
		if (!counter_caps()->hypervisor)
			CHECK_EQ(t, MSR_01, 3, caps >> 6 & 3, "IA32_PERF_CAPABILITIES[7:6]");
	} else if (counter_caps()->pebs) {
		test_note(t, "IA32_PERF_CAPABILITIES[11:6] = %#lx", caps >> 6 & 0x3f);
	}
	if (counter_caps()->msrs_ignored)
		return;
	CHECK_EQ(t, MSR_01, caps >> 13 & 1, !msr_try_read(MSR_IA32_A_PMC0, &value).raised,
		 "IA32_A_PMC0 exists as IA32_PERF_CAPABILITIES[13] says");
}

/*
 * MSR-46  A write to IA32_MISC_ENABLE must change none of the bits 7, 11 and 12.
 *         SDM Table 35-2 IA-32 Architectural MSRs: IA32_MISC_ENABLE, bits 7, 11 and 12 (R, RO)
 *
 * Given  IA32_MISC_ENABLE as it was found; bit 7 is performance monitoring available, 11 BTS
 *        unavailable, 12 PEBS unavailable
 * When   its own value is written; the value with each of the three bits inverted; the value with
 *        all of them inverted
 * Then   it reads as before, whether the write raised an exception or not
 */
TEST(msr, misc_enable_keeps_its_bits_of_performance_monitoring, REQS(MSR_46),
     NEEDS(need_perfmon, need_events))
{
	const u64 before = msr_read(MSR_IA32_MISC_ENABLE);
	static const u64 inverted[] = { 0, BIT(7), BIT(11), BIT(12), BIT(7) | BIT(11) | BIT(12) };
	u64 got;

	for (unsigned i = 0; i < sizeof(inverted) / sizeof(inverted[0]); i++) {
		msr_try_write(MSR_IA32_MISC_ENABLE, before ^ inverted[i]);
		got = msr_read(MSR_IA32_MISC_ENABLE);
		CHECK_EQ(t, MSR_46, before, got, "IA32_MISC_ENABLE, bits %#lx inverted in a write",
			 inverted[i]);
		if (got != before)
			msr_try_write(MSR_IA32_MISC_ENABLE, before);
	}
}
