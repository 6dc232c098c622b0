/* SPDX-License-Identifier: MIT */
/*
 * XER of an architectural PEBS record when most of the XMM registers are 0: "a component that is in
 * its initial state" isn't in the record; a component with at least one nonzero register is in it.
 */
#include "tests/archpebs/archpebs.h"
#include "tests/measure/xmm_registers.h"

#define PATTERN		0x5a17c3e4d2b60f81ULL

static bool need_xmm(char *reason, size_t size)
{
	return need_arch_groups(GROUP_XMM, reason, size);
}

/* Take one record with these contents of XMM0 to XMM15. */
static void take(unsigned counter, const struct xmm_registers *registers)
{
	const struct arch_run run = { .counter = counter, .groups = GROUP_XMM };
	static struct xmm_registers before;

	xmm_save(&before);
	xmm_load(registers);
	arch_window(&run);
	xmm_load(&before);
}

/*
 * APEBS-21  XER must begin with 10H bytes that have XSTATE_BV of the components that follow; one
 *           in its initial state doesn't.
 *           Linux; Linux mailing list, which quotes the manual
 * APEBS-22  The XMM component must have 100H bytes, with XMMn at 10H * n.
 *           Linux
 *
 * Given  XMM0 to XMM15 of which one isn't 0, in its lower or its upper half, each in turn
 * When   a record with XMM is made
 * Then   XSTATE_BV has the component, and XMMn is at 10H * n of it: the one register has its value,
 *        the others are 0
 */
TEST(archpebs, xmm_component_is_written_if_any_one_register_is_not_0, REQS(APEBS_21, APEBS_22),
     NEEDS(need_perfmon, need_xmm, need_loads_or_branches))
{
	static struct xmm_registers registers;
	const unsigned counter = counter_next(arch_load_counters(), 0);

	for (unsigned half = 0; half < 2 * XMM_REGISTERS; half++) {
		struct arch_fragment f;
		u64 xer;

		registers = (struct xmm_registers){ .half = { 0 } };
		registers.half[half] = PATTERN;
		take(counter, &registers);
		if (!arch_one_record(t, AT(APEBS_21), 0))
			return;
		xer = arch_group(0, ARCH_XER, &f);
		if (!CHECK(t, APEBS_21, xer, "XER") ||
		    !CHECK_EQ(t, APEBS_21, BIT(1), arch_at(xer),
			      "XSTATE_BV, XMM%u not 0 in half %u", half / 2, half % 2))
			return;
		for (unsigned i = 0; i < 2 * XMM_REGISTERS; i++)
			CHECK_EQ(t, APEBS_22, registers.half[i], arch_at(xer + 0x10 + 8 * i),
				 "half %u of XMM%u, XMM%u not 0 in half %u", i % 2, i / 2, half / 2,
				 half % 2);
	}
}
