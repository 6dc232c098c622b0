/* SPDX-License-Identifier: MIT */
/* See configure.h. */
#include "refpmu/vmm/configure.h"
#include "refpmu/faults/fault_id.h"
#include "refpmu/model/model.h"

/* As bytes: a bool that is neither has no value. */
static bool is_bool(const bool *flag)
{
	return *(const volatile u8 *)flag <= 1;
}

static bool when_is_valid(const struct fault_when *when)
{
	return is_bool(&when->one_counter) && is_bool(&when->page_crossing) &&
	       (!when->one_counter || when->counter < FAULT_COUNTERS) &&
	       !(when->conditions & ~(u32)FAULT_CONDITIONS) &&
	       !!when->nth + !!when->from + !!when->every <= 1;
}

static bool knobs_are_valid(const struct model_latitude *latitude)
{
	if (latitude->set >= LATITUDE_BIT(LAT_COUNT))
		return false;
	for (unsigned i = 0; i < LAT_COUNT; i++)
		if ((latitude->set & LATITUDE_BIT(i)) &&
		    !model_latitude_allows((enum latitude_id)i, latitude->value[i]))
			return false;
	return true;
}

static const enum hypercall_status contradictions[CONTRADICTIONS] = {
	[CONTRADICTION_NONE] = HYPERCALL_DONE,
#define CONTRADICTION(token, text) [CONTRADICTION_##token] = HYPERCALL_##token,
#include "refpmu/vmm/status.def"
};

enum hypercall_status configure_check(const struct model_config *config)
{
	if (config->generation >= GEN_COUNT)
		return HYPERCALL_BAD_GENERATION;
	if (!is_bool(&config->hyper_threading))
		return HYPERCALL_BAD_HYPER_THREADING;
	if (config->fault >= FAULT_COUNT)
		return HYPERCALL_BAD_FAULT;
	if (!when_is_valid(&config->when))
		return HYPERCALL_BAD_WHEN;
	if (config->latitude.profile >= PROFILE_COUNT)
		return HYPERCALL_BAD_PROFILE;
	if (!knobs_are_valid(&config->latitude))
		return HYPERCALL_BAD_KNOB;
	return contradictions[model_contradiction(config)];
}
