/* SPDX-License-Identifier: MIT */
/* See rules.h. Finds the rule of a fault, and the processors on which it holds. */
#include "host/model/rules/rules.h"
#include "host/model/rules/internal.h"

/* The generations on which the rules of a table hold. */
static const struct {
	enum generation_id generation;
	rule *const *rules;
	enum profile_id profile;
} tables[] = {
	{ GEN_HASWELL, basic_rules, PROFILE_NONE },
	{ GEN_HASWELL, class_rules, PROFILE_NONE },
	{ GEN_HASWELL, each_haswell_rules, PROFILE_NONE },
	{ GEN_ICELAKE, each_icelake_rules, PROFILE_NONE },
	{ GEN_SAPPHIRERAPIDS, each_goldencove_rules, PROFILE_NONE },
	{ GEN_GRANITERAPIDS, each_timed_rules, PROFILE_NONE },
	{ GEN_ICELAKE, single_icelake_rules, PROFILE_NONE },
	{ GEN_SAPPHIRERAPIDS, single_goldencove_rules, PROFILE_NONE },
	{ GEN_SKYLAKE, single_skylake_rules, PROFILE_NONE },
	{ GEN_PANTHERLAKE, single_version_6_rules, PROFILE_NONE },
	{ GEN_HASWELL, memory_rules, PROFILE_NONE },
	{ GEN_NEHALEM, uncore_rules, PROFILE_NONE },
	{ GEN_BROADWELL, tx_rules, PROFILE_NONE },
	{ GEN_BROADWELL, tx_counts_rules, PROFILE_NONE },
	{ GEN_HASWELL, remote_lines_rules, PROFILE_NONE },
	{ GEN_SKYLAKE, skylake_rules, PROFILE_NONE },
	{ GEN_SKYLAKE, skylake_record_rules, PROFILE_NONE },
	{ GEN_ICELAKE, icelake_rules, PROFILE_NONE },
	{ GEN_ICELAKE, metrics_rules, PROFILE_NONE },
	{ GEN_SAPPHIRERAPIDS, goldencove_rules, PROFILE_NONE },
	{ GEN_SIERRAFOREST, event_log_rules, PROFILE_NONE },
	{ GEN_LUNARLAKE, lioncove_rules, PROFILE_NONE },
	{ GEN_PANTHERLAKE, version6_rules, PROFILE_NONE },
	{ GEN_CLEARWATERFOREST, version6_smaller_core_rules, PROFILE_NONE },
	{ GEN_PANTHERLAKE, archpebs_rules, PROFILE_NONE },
	{ GEN_CLEARWATERFOREST, archpebs_hole_rules, PROFILE_NONE },
	{ GEN_ALDERLAKE, hybrid_rules, PROFILE_NONE },
	{ GEN_GRANITERAPIDS, timed_rules, PROFILE_NONE },
	{ GEN_GRANITERAPIDS, redwood_cove_rules, PROFILE_NONE },
	{ GEN_SAPPHIRERAPIDS, kinds_of_cores_rules, PROFILE_NONE },
	{ GEN_ALDERLAKE, p_core_rules, PROFILE_NONE },
	{ GEN_GRACEMONT, gracemont_rules, PROFILE_NONE },
	{ GEN_SKYMONT, skymont_rules, PROFILE_NONE },
	{ GEN_HASWELL, without_arch_lbr_rules, PROFILE_NONE },
	{ GEN_SKYLAKE, skylake_without_rules, PROFILE_NONE },
	{ GEN_HASWELL, version_3_rules, PROFILE_NONE },
	{ GEN_HASWELL, kvm_rules, PROFILE_KVM_6_12 },
	{ GEN_ICELAKE_SP, kvm_pebs_rules, PROFILE_KVM_PEBS },
};

static void rules_open(struct fixture *r, size_t table, enum fault_id fault, bool hyper_threading,
		       const struct fault_when *when)
{
	struct model_config config = {
		.generation = tables[table].generation, .latitude.profile = tables[table].profile,
		.fault = fault, .hyper_threading = hyper_threading, .when = *when,
	};

	fixture_open_config(r, &config);
	fixture_ds(r, 8, 8);
}

static bool rules_holds(enum fault_id of, enum fault_id on, bool hyper_threading,
			const struct fault_when *when)
{
	static struct fixture r;

	if (netburst_has_rule(of))
		return netburst_rule(of, on);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].rules[of]) {
			rules_open(&r, i, on, hyper_threading, when);
			return tables[i].rules[of](&r);
		}
	return true;
}

bool rule_exists(enum fault_id of)
{
	if (netburst_has_rule(of))
		return true;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].rules[of])
			return true;
	return false;
}

bool rule_holds(enum fault_id of, enum fault_id on, bool hyper_threading)
{
	static const struct fault_when always;

	return rules_holds(of, on, hyper_threading, &always);
}

bool rule_holds_when(enum fault_id of, enum fault_id on, const struct fault_when *when)
{
	return rules_holds(of, on, true, when);
}

bool fault_is_visible(enum fault_id fault)
{
	static struct fixture r;
	unsigned on = 0;

	fixture_open(&r, fault, 0, true);
	for (unsigned f = FAULT_NONE; f < FAULT_COUNT; f++)
		on += model_fault(&r.m, f);
	return on == 1 && model_fault(&r.m, fault);
}
