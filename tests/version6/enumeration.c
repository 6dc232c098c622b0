/* SPDX-License-Identifier: MIT */
/*
 * CPUID leaf 23H, "Architectural Performance Monitoring Extended": SDM volume 1, "Processor
 * Identification and Feature Determination". The existing sub-leaves, and their agreement with leaf
 * 0AH.
 */
#include "kernel/output/fmt.h"
#include "kernel/processor/cpuid.h"
#include "tests/measure/two_cpus.h"
#include "tests/version6/version6.h"

#define EXTENDED	0x23u
/* So many registers, from 0C1H and from 309H on, have no other use if the counter doesn't exist. */
#define GP_MOST		10u
#define FIXED_MOST	7u
#define SUBLEAVES	32u		/* bits of CPUID.(23H,0):EAX */

static u32 any_of(struct cpuid r)
{
	return r.eax | r.ebx | r.ecx | r.edx;
}

/*
 * V6-01  CPUID leaf 23H must be there if and only if CPUID.(07H,1):EAX[8] is 1; else it must be 0.
 *        SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 07H,
 *        sub-leaf 1, EAX[8]
 *
 * Given  CPUID.(07H,1):EAX[8]
 * When   CPUID.0H:EAX and leaf 23H, if it isn't above that, are read
 * Then   with the bit, leaf 23H is there, and its sub-leaf 0 has its own bit; without it, each
 *        sub-leaf from 0 to 31 is 0
 */
TEST(enumeration, leaf_23h_is_there_exactly_with_its_bit, REQS(V6_01), NEEDS(need_perfmon))
{
	const u32 highest = cpuid_get(CPUID_MAX_LEAF);
	const bool features = highest >= 7 && cpuid_read(7, 0).eax;
	const bool promised = features && cpuid_get(CPUID_PERFMON_EXT);

	if (promised) {
		CHECK_RANGE(t, V6_01, EXTENDED, ~0u, highest, "CPUID.0H:EAX");
		CHECK_EQ(t, V6_01, 1, cpuid_read(EXTENDED, 0).eax & 1,
			 "CPUID.(23H,0):EAX[0], with CPUID.(07H,1):EAX[8] = 1");
		return;
	}
	CHECK(t, V6_01, !counter_caps()->v6.leaf, "no leaf 23H without CPUID.(07H,1):EAX[8]");
	for (u32 n = 0; highest >= EXTENDED && n < SUBLEAVES; n++)
		CHECK_EQ(t, V6_01, 0, any_of(cpuid_read(EXTENDED, n)),
			 "CPUID.(23H,%u), with CPUID.(07H,1):EAX[8] = 0", n);
}

/*
 * V6-02  A sub-leaf n of CPUID leaf 23H whose CPUID.(23H,0):EAX[n] is 0 must be 0 in each
 *        register.
 *        SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 23H
 *
 * Given  CPUID.(23H,0):EAX
 * When   each sub-leaf from 1 to 31 is read, and some higher ones, for which it has no bit
 * Then   a sub-leaf whose bit is 0, and each above 31, has 0 in all four registers
 * Control: sub-leaf 1, if its bit is 1, has counters
 */
TEST(enumeration, subleaf_of_23h_without_its_bit_is_0, REQS(V6_02),
     NEEDS(need_perfmon, need_leaf_23h))
{
	/* Each of these is, in its lower 5, 8 or 16 bits, the number of a sub-leaf that may
	 * exist. */
	static const u32 above[] = { 0x20, 0x21, 0x25, 0x40, 0x101, 0x10001, 0x80000001 };
	const u32 subleaves = cpuid_read(EXTENDED, 0).eax;

	if (subleaves & BIT(1))
		CONTROL(t, V6_02, any_of(cpuid_read(EXTENDED, 1)), "CPUID.(23H,1)");
	for (u32 n = 1; n < SUBLEAVES; n++)
		if (!(subleaves & BIT(n)))
			CHECK_EQ(t, V6_02, 0, any_of(cpuid_read(EXTENDED, n)),
				 "CPUID.(23H,%u), CPUID.(23H,0):EAX = %#x", n, subleaves);
	for (unsigned i = 0; i < sizeof(above) / sizeof(above[0]); i++)
		CHECK_EQ(t, V6_02, 0, any_of(cpuid_read(EXTENDED, above[i])), "CPUID.(23H,%#x)",
			 above[i]);
}

/* The set of the first n. */
static u64 first(unsigned n)
{
	return n ? BITS(0, n - 1) : 0;
}

/*
 * V6-04  The counters that CPUID leaf 0AH tells of must all be in CPUID.(23H,1), but on a hybrid
 *        processor.
 *        SDM volume 1: CPUID leaves 0AH and 23H
 *
 * Given  the counters that CPUID.0AH:EAX[15:8], EDX[4:0] and ECX report
 * When   CPUID.(23H,1):EAX and EBX are read
 * Then   each of those counters has its bit
 */
TEST(enumeration, leaf_23h_has_each_counter_of_leaf_0ah, REQS(V6_04),
     NEEDS(need_perfmon, need_counter_sets, need_not_hybrid))
{
	const u64 general = first(cpuid_get(CPUID_GP_COUNTERS));
	const u64 fixed = first(cpuid_get(CPUID_FIXED_COUNTERS)) | cpuid_get(CPUID_FIXED_MASK);
	const struct cpuid r = cpuid_read(EXTENDED, 1);

	CHECK_EQ(t, V6_04, general, general & r.eax,
		 "counters of CPUID.0AH:EAX that CPUID.(23H,1):EAX = %#x has", r.eax);
	CHECK_EQ(t, V6_04, fixed, fixed & r.ebx,
		 "fixed counters of CPUID.0AH that CPUID.(23H,1):EBX = %#x has", r.ebx);
}

/* The events that CPUID.0AH enumerates; a hybrid's leaf marks an event that one type of core
 * lacks. */
static u64 events_of_leaf_0ah(void)
{
	const unsigned length = cpuid_get(CPUID_EVENTS_LENGTH);
	const u64 told = BIT(length < 32 ? length : 32) - 1;

	return counter_caps()->hybrid ? told & ~(u64)counter_caps()->leaf_0a_ebx : told;
}

static bool need_events_of_leaf_0ah(char *reason, size_t size)
{
	if (events_of_leaf_0ah())
		return true;
	fmt_print(reason, size, "CPUID.0AH tells of no event that each core has");
	return false;
}

/*
 * V6-05  CPUID.(23H,3):EAX[i] must be 1 where architectural event i is there: the other way round
 *        than CPUID.0AH:EBX[i].
 *        SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 23H,
 *        sub-leaf 3
 *
 * Given  the architectural events in CPUID.0AH:EBX, whose number is EAX[31:24]
 * When   CPUID.(23H,3):EAX is read
 * Then   bit i is 1 exactly where CPUID.0AH:EBX[i] is 0; on a hybrid, whose leaf 0AH marks what one
 *        type of core lacks, it is 1 at least there
 */
TEST(enumeration, events_of_leaf_23h_are_those_that_leaf_0ah_has_not_as_absent, REQS(V6_05),
     NEEDS(need_perfmon, need_events_set, need_events_of_leaf_0ah))
{
	const u32 absent = counter_caps()->leaf_0a_ebx, there = cpuid_read(EXTENDED, 3).eax;

	FOR_EACH_COUNTER (i, events_of_leaf_0ah())
		CHECK_EQ(t, V6_05, !(absent & BIT(i)), !!(there & BIT(i)),
			 "CPUID.(23H,3):EAX[%u], CPUID.0AH:EBX = %#x", i, absent);
}

/* CPUID.(23H,1) of the calling processor, and the counters that can be read there. */
struct look {
	struct two_cpus both;
	struct {
		bool leaf;
		u64 told, answer;
	} of[2];
};

static void look(void *arg)
{
	struct look *l = arg;
	const unsigned side = two_cpus_side();
	struct cpuid r;

	l->of[side].leaf = cpuid_get(CPUID_MAX_LEAF) >= EXTENDED && cpuid_get(CPUID_PERFMON_EXT) &&
			   cpuid_read(EXTENDED, 0).eax & BIT(1);
	if (!l->of[side].leaf)
		return;
	r = cpuid_read(EXTENDED, 1);
	l->of[side].told = r.eax | (u64)r.ebx << 32;
	for (unsigned n = 0; n < GP_MOST; n++)
		l->of[side].answer |= version6_is_absent(MSR_IA32_PMC0 + n) ? 0 : BIT(n);
	for (unsigned n = 0; n < FIXED_MOST; n++)
		l->of[side].answer |= version6_is_absent(MSR_IA32_FIXED_CTR0 + n) ?
					      0 :
					      BIT(PMC_FIXED(n));
}

/*
 * V6-28  CPUID leaf 23H must tell of the logical processor that executes CPUID.
 *        SDM volume 1, Processor Identification and Feature Determination: CPUID leaf 23H
 *
 * Given  two processors of different types, which both have CPUID leaf 23H
 * When   each reads its sub-leaf 1, and RDMSR its IA32_PMC0 to IA32_PMC9 and fixed counters 0 to 6
 * Then   the bits of each are those of the counters that it has itself
 * Control: the two have different counters
 */
TEST(enumeration, leaf_23h_tells_of_the_processor_that_asks, REQS(V6_28),
     NEEDS(need_perfmon, need_counter_sets, need_refused_msrs, need_other_kind))
{
	const u64 looked_at = BITS(0, GP_MOST - 1) | BITS(32, 32 + FIXED_MOST - 1);
	struct look l = { .of = { { 0 } } };

	if (!two_cpus_run(t, &l.both, smp_other_kind(), look, &l))
		return;
	if (!l.of[1].leaf) {
		test_skip(t, "no CPUID.(23H,1) on the core of the other type");
		return;
	}
	if (l.of[0].answer == l.of[1].answer) {
		test_inconclusive(t, "cores of both types have the same counters (%#lx)",
				  l.of[0].answer);
		return;
	}
	for (unsigned side = 0; side < 2; side++)
		CHECK_EQ(t, V6_28, l.of[side].answer, l.of[side].told & looked_at,
			 "counters of CPUID.(23H,1) on the %s processor", side ? "other" : "first");
}
