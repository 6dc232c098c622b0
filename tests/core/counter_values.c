/* SPDX-License-Identifier: MIT */
/*
 * The value of a counter, bit by bit: writes of IA32_PMCx with any EDX, and increments with a carry
 * into each of its bits. SDM "Architectural Performance Monitoring Version 1 Facilities".
 */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"

static u64 sign_extended(u32 low)
{
	return (u64)(int64_t)(int32_t)low & (u64)(BIT(counter_caps()->gp_width) - 1);
}

static void check_write(struct test *t, unsigned c, u32 low, u32 high)
{
	msr_write(MSR_IA32_PMC0 + c, (u64)high << 32 | low);
	CHECK_EQ(t, MSR_04, sign_extended(low), counter_read(c),
		 "IA32_PMC%u after a write of EAX = %#x, EDX = %#x", c, low, high);
}

/*
 * MSR-04  A write to IA32_PMCx must take the low 32 bits and sign-extend them from bit 31 into the
 *         high-order bits.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  each general-purpose counter; EAX with bit 31 clear, and set
 * When   IA32_PMCx is written with each bit of EDX alone, with all bits but one, with all, and with
 *        none
 * Then   bits 31:0 of the counter are EAX, and all bits above them are EAX[31], for any EDX
 */
TEST(msr, write_of_each_counter_ignores_each_bit_of_edx, REQS(MSR_04), NEEDS(need_perfmon))
{
	static const u32 lows[] = { 0x12345678, 0x92345678 };

	FOR_EACH_COUNTER (c, counters_gp().bits)
		for (unsigned i = 0; i < sizeof(lows) / sizeof(lows[0]); i++) {
			check_write(t, c, lows[i], 0);
			check_write(t, c, lows[i], ~0u);
			for (unsigned bit = 0; bit < 32; bit++) {
				check_write(t, c, lows[i], (u32)BIT(bit));
				check_write(t, c, lows[i], ~(u32)BIT(bit));
			}
		}
}

#define ROUNDS	20	/* of a piece */
#define MOST	400	/* events in all rounds, at most */
#define SLACK	16	/* starting and stopping a counter may differ by so many events */
#define FIRST	7	/* bit: its value is far above SLACK */
#define BELOW		9u	/* cycles and slots below a bit */
#define SEVERAL		8u
#define CLOCK_ROUNDS	60	/* 180 instructions: 18 cycles or more on any processor */
#define MOST_OF_CLOCK	((u64)BIT(24) - 1)	/* of this work, SMIs included */

/* Events since the counter was written. */
static u64 counted_from(unsigned c, u64 preset, const struct workload *w)
{
	workload_run(w, ROUNDS, pmc_one(c));
	return (counter_read(c) - preset) & (u64)(BIT(counter_width(c)) - 1);
}

/* Preset each counter to `before` below a bit. The loads of one instruction pass the bit
 * together. */
static void check_carry(struct test *t, unsigned c, u16 event, const struct workload *w, u64 before)
{
	u64 want;

	counter_program(c, event, COUNT_BOTH);
	counter_write(c, 0);
	want = counted_from(c, 0, w);
	CONTROL_RANGE(t, CNT_44, 1, MOST, want, "events of %s from 0 on, IA32_PMC%u", w->name, c);
	for (unsigned bit = FIRST; bit < counter_width(c); bit++) {
		/* In a strict run each work passes every second bit, and the next counter the
		 * others. Without IA32_A_PMCx only few values can be written. */
		if ((test_is_strict(t) && (bit + c + before) % 2) ||
		    !counter_write(c, (u64)BIT(bit) - before))
			continue;
		CHECK_RANGE(t, CNT_44, want > SLACK ? want - SLACK : 0, want + SLACK,
			    counted_from(c, (u64)BIT(bit) - before, w),
			    "events of %s, IA32_PMC%u from %lu below bit %u on", w->name, c, before,
			    bit);
	}
}

/*
 * CNT-44  A counter must go on counting from the value written to it while it was stopped.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  each counter, preset just below each of its bits that can be written: odd and even
 *        distances
 * When   it counts instructions, of which several may retire in a cycle; loads of instructions with
 *        two loads, and of one with many. Some generations count such an instruction once
 * Then   it grows by as many events as when it starts at 0, except for those that the switching
 *        adds: no carry is lost
 * Control: from 0 on it counts them
 */
TEST(count, several_events_at_once_carry_into_each_bit, REQS(CNT_44),
     NEEDS(need_perfmon, need_instructions, need_events))
{
	struct pmc_mask counters = counters_for(LOADS);

	FOR_EACH_COUNTER (c, counters_gp().bits) {
		check_carry(t, c, EVENT_INST_RETIRED_ANY_P, &workload_mixed, ROUNDS);
		if (!(counters.bits & BIT(c)))
			continue;
		check_carry(t, c, LOADS, &workload_kind_compare, ROUNDS);
		check_carry(t, c, LOADS, &workload_kind_compare, ROUNDS - 1);
		check_carry(t, c, LOADS, &workload_kind_rep_load, ROUNDS / 2);
	}
}

/* Preset each counter to BELOW below each bit from which on the bit's value is more than the work
 * counts several times: a lost carry is far from any count then. */
static void check_clock_carries(struct test *t, u16 event, const char *name)
{
	FOR_EACH_COUNTER (c, counters_for(event).bits) {
		u64 all;

		counter_program(c, event, COUNT_BOTH);
		counter_write(c, 0);
		workload_run(&workload_mixed, CLOCK_ROUNDS, pmc_one(c));
		all = counter_read(c);
		CONTROL_RANGE(t, CNT_44, BELOW, MOST_OF_CLOCK, all, "%s, IA32_PMC%u from 0 on",
			      name, c);
		for (unsigned bit = FIRST; bit < counter_width(c); bit++) {
			const u64 preset = (u64)BIT(bit) - BELOW;

			/* Without IA32_A_PMCx only few values can be written. */
			if (BIT(bit) < SEVERAL * all || !counter_write(c, preset))
				continue;
			workload_run(&workload_mixed, CLOCK_ROUNDS, pmc_one(c));
			CHECK_RANGE(t, CNT_44, BELOW, MOST_OF_CLOCK,
				    (counter_read(c) - preset) & (BIT(counter_width(c)) - 1),
				    "%s, IA32_PMC%u from %u below bit %u on", name, c, BELOW, bit);
		}
		counter_program_disabled(c, 0, 0);
	}
}

/*
 * CNT-44  A counter must go on counting from the value written to it while it was stopped.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  each counter, preset just below each of its bits that can be written; from a bit on whose
 *        value is several times the work's count
 * When   it counts core cycles of work that takes longer
 * Then   it has passed the bit, and has grown by less than 16777216
 * Control: it counts them from 0 on
 */
TEST(count, core_cycles_carry_into_each_bit, REQS(CNT_44), NEEDS(need_perfmon, need_cycles))
{
	check_clock_carries(t, EVENT_UNHALTED_CORE_CYCLES, "core cycles");
}

/*
 * CNT-44  A counter must go on counting from the value written to it while it was stopped.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  each counter, preset just below each of its bits that can be written; from a bit on whose
 *        value is several times the work's count
 * When   it counts top-down slots, of which a cycle has
 *        several, of work that has more
 * Then   it has passed the bit, and has grown by less than 16777216
 * Control: it counts them from 0 on
 */
TEST(count, top_down_slots_carry_into_each_bit, REQS(CNT_44), NEEDS(need_perfmon, need_slots))
{
	check_clock_carries(t, EVENT_TOPDOWN_SLOTS_P, "slots");
}

/*
 * CNT-44  A counter must go on counting from the value written to it while it was stopped.
 *         SDM 18.2.1.1 Architectural Performance Monitoring Version 1 Facilities
 *
 * Given  each fixed counter up to 3, one below the values where bits 8, 16, 31, 32, 40 and the
 *        highest begin
 * When   it counts work, fixed counter 2 long enough for its clock
 * Then   it reads that value or a higher one, by less than 16777216: the carry has passed each bit,
 *        and no higher bit has changed
 */
TEST(count, fixed_counters_carry_into_each_bit, REQS(CNT_44),
     NEEDS(need_perfmon, need_fixed_0_to_2))
{
	const unsigned top = counter_caps()->fixed_width - 1;
	const unsigned bits[] = { 8, 16, 31, 32, 40, top };

	FOR_EACH_COUNTER (i, counters_fixed().bits >> PMC_FIXED(0))
		for (unsigned b = 0; b < sizeof(bits) / sizeof(bits[0]); b++) {
			const unsigned c = PMC_FIXED(i);
			const u64 at = BIT(bits[b]);

			if (bits[b] > top)
				continue;
			counter_program(c, 0, COUNT_BOTH);
			counter_write(c, at - 1);
			workload_run(&workload_sled, overflow_rounds(c), pmc_one(c));
			CHECK_RANGE(t, CNT_44, at, at + BIT(24), counter_read(c),
				    "fixed counter %u from one below bit %u on", i, bits[b]);
			counter_program_disabled(c, 0, 0);
		}
}
