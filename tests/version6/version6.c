/* SPDX-License-Identifier: MIT */
/* See version6.h. */
#include "tests/version6/version6.h"

#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"

bool need_leaf_23h(char *reason, size_t size)
{
	if (counter_caps()->v6.leaf)
		return true;
	fmt_print(reason, size, "no CPUID leaf 23H (CPUID.(07H,1):EAX[8] = 0)");
	return false;
}

bool version6_need(bool there, const char *what, char *reason, size_t size)
{
	if (!need_leaf_23h(reason, size))
		return false;
	if (!there)
		fmt_print(reason, size, "no %s (CPUID.(23H,0):EAX = %#x)", what,
			  counter_caps()->v6.subleaves);
	return there;
}

bool need_counter_sets(char *reason, size_t size)
{
	return version6_need(counter_caps()->v6.counters, "CPUID.(23H,1)", reason, size);
}

bool need_events_set(char *reason, size_t size)
{
	return version6_need(counter_caps()->v6.subleaves & BIT(3), "CPUID.(23H,3)", reason, size);
}

bool need_version_6(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (c->version >= 6 && need_leaf_23h(reason, size))
		return true;
	if (c->version < 6)
		fmt_print(reason, size, "architectural monitoring version %u (CPUID.0AH:EAX = %#x)",
			  c->version, c->leaf_0a_eax);
	return false;
}

bool need_auto_reload(char *reason, size_t size)
{
	const struct version6 *v = &counter_caps()->v6;

	return version6_need(v->reloadable && v->causes, "auto counter reload", reason, size);
}

bool need_equal(char *reason, size_t size)
{
	return version6_need(counter_caps()->v6.equal, "Equal flag", reason, size);
}

u64 version6_loaded(unsigned counter, u32 load)
{
	return (BITS(32, 63) | load) & (BIT(counter_width(counter)) - 1);
}

bool version6_is_absent(u32 msr)
{
	u64 value;

	return fault_is_gp(msr_try_read(msr, &value)) && fault_is_gp(msr_try_write(msr, 0));
}
