/* SPDX-License-Identifier: MIT */
/*
 * The upper halves of YMM registers in XER of an architectural PEBS record: CPUID.(23H,4):EBX[18],
 * IA32_PMC_x_CFG_C[50]. This file has its own literal offsets. The harness doesn't use YMM
 * registers, so they are enabled only during the window.
 */
#include "kernel/output/fmt.h"
#include "tests/archpebs/archpebs.h"
#include "tests/measure/xmm_registers.h"
#include "tests/archpebs/ymm_registers.h"

#define HEAD		0x10u
#define COMPONENT	0x100u	/* bytes of XMM, and of the upper halves */
#define WITH_XMM	BIT(1)	/* bit of XSTATE_BV */
#define WITH_YMMH	BIT(2)
#define PATTERN		0x3c5a0f96e178d24bULL

static bool need_ymm(char *reason, size_t size)
{
	if (!need_arch_groups(GROUP_XMM | GROUP_YMMH, reason, size))
		return false;
	if (!ymm_are_there())
		fmt_print(reason, size, "no AVX (CPUID.01H:ECX[28] = 0)");
	return ymm_are_there();
}

static struct xmm_registers lower;
static struct ymm_halves upper;

/* Take a record with these groups while all parts of the registers differ. enabled: are the upper
 * halves enabled? Returns the offset of XER; 0: there is none. */
static u64 xer_of(struct test *t, unsigned counter, u64 groups, bool enabled)
{
	const struct arch_run run = { .counter = counter, .groups = groups };
	static struct xmm_registers before;
	struct arch_fragment f;

	xmm_fill(&lower, counter);
	for (unsigned i = 0; i < 2 * YMM_REGISTERS; i++)
		upper.quad[i] = PATTERN + i;
	xmm_save(&before);
	xmm_load(&lower);
	if (enabled)
		ymm_begin(&upper);
	arch_window(&run);
	if (enabled)
		ymm_end();
	xmm_load(&before);
	if (!arch_one_record(t, AT(APEBS_42), 0))
		return 0;
	return arch_group(0, ARCH_XER, &f);
}

static void check_quads(struct test *t, const u64 *wanted, u64 at, const char *what)
{
	for (unsigned i = 0; i < 2 * YMM_REGISTERS; i++)
		CHECK_EQ(t, APEBS_42, wanted[i], arch_at(at + 8 * i), "half %u of %s%u", i % 2,
			 what, i / 2);
}

/*
 * APEBS-42  The YMMH component must have 100H bytes, with bits 255:128 of YMMn at 10H * n, after
 *           the XMM component if that is there.
 *           CPUID leaf 23H, sub-leaf 4; SDM volume 1, XSAVE-Managed State
 *
 * Given  YMM0 to YMM15 with values that differ in each quadword
 * When   each counter that samples loads makes a record with XMM and YMMH, and with YMMH alone; and
 *        with both while XCR0 doesn't enable the upper halves
 * Then   XSTATE_BV has the components, and each value is at its place; the last one has XMM alone
 */
TEST(archpebs, xer_group_holds_the_upper_halves_of_ymm_registers_after_xmm, REQS(APEBS_42),
     NEEDS(need_perfmon, need_ymm, need_events))
{
	static const struct {
		u64 groups, wanted;	/* bits of CFG_C; of XSTATE_BV */
		bool enabled;
		const char *name;
	} turns[] = {
		{ GROUP_XMM | GROUP_YMMH, WITH_XMM | WITH_YMMH, true, "XMM and YMMH" },
		{ GROUP_YMMH, WITH_YMMH, true, "YMMH" },
		{ GROUP_XMM | GROUP_YMMH, WITH_XMM, false, "YMMH not enabled" },
	};

	FOR_EACH_COUNTER (c, arch_load_counters()) {
		for (unsigned i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
			const u64 wanted = turns[i].wanted;
			u64 at = xer_of(t, c, turns[i].groups, turns[i].enabled);

			if (!CHECK(t, APEBS_42, at, "XER, %s, IA32_PMC%u", turns[i].name, c) ||
			    !CHECK_EQ(t, APEBS_42, wanted, arch_at(at), "XSTATE_BV, %s, IA32_PMC%u",
				      turns[i].name, c))
				return;
			at += HEAD;
			if (wanted & WITH_XMM) {
				check_quads(t, lower.half, at, "XMM");
				at += COMPONENT;
			}
			if (wanted & WITH_YMMH)
				check_quads(t, upper.quad, at, "YMMH");
		}
		arch_pebs_close();
	}
}

/*
 * APEBS-21  XER must begin with 10H bytes that have XSTATE_BV of the components that follow; one
 *           in its initial state doesn't.
 *           Linux; Linux mailing list, which quotes the manual
 * APEBS-42  The YMMH component must have 100H bytes, with bits 255:128 of YMMn at 10H * n, after
 *           the XMM component if that is there.
 *           CPUID leaf 23H, sub-leaf 4; SDM volume 1, XSAVE-Managed State
 *
 * Given  YMM0 to YMM15 of whose upper halves one quadword isn't 0, each in turn
 * When   a record with YMMH is made
 * Then   XSTATE_BV has the component, and the upper half of YMMn is at 10H * n of it: that value, 0
 *        of the others
 */
TEST(archpebs, ymmh_component_is_written_if_any_one_upper_half_is_not_0, REQS(APEBS_21, APEBS_42),
     NEEDS(need_perfmon, need_ymm, need_events))
{
	const struct arch_run run = { .counter = counter_next(arch_load_counters(), 0),
				      .groups = GROUP_YMMH };

	for (unsigned quad = 0; quad < 2 * YMM_REGISTERS; quad++) {
		struct arch_fragment f;
		u64 xer;

		upper = (struct ymm_halves){ .quad = { 0 } };
		upper.quad[quad] = PATTERN;
		ymm_begin(&upper);
		arch_window(&run);
		ymm_end();
		if (!arch_one_record(t, AT(APEBS_21, APEBS_42), 0))
			return;
		xer = arch_group(0, ARCH_XER, &f);
		if (!CHECK(t, APEBS_21, xer, "XER") ||
		    !CHECK_EQ(t, APEBS_21, WITH_YMMH, arch_at(xer),
			      "XSTATE_BV, upper half of YMM%u not 0 in quadword %u", quad / 2,
			      quad % 2))
			return;
		check_quads(t, upper.quad, xer + HEAD, "YMMH");
	}
	arch_pebs_close();
}
