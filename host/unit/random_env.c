/* SPDX-License-Identifier: MIT */
/* See random_env.h. */
#include "host/random_env.h"

#include "pmu/record.h"
#include "spec/msr.h"
#include "spec/lbr.h"
#include "tests/random/branches/branch.h"

#define CODE	0x11c00000
#define DATA	0x10500000
#define GATE	0x11b00000

struct draw_env random_env(void)
{
	static const struct draw_event events[] = {
		{ .code = EVENT_INST_RETIRED_ANY_P, .kind = EK_INSTRUCTIONS, .counters = 0xff,
		  .whole = 1 },
		{ .code = EVENT_BR_INST_RETIRED_ALL_BRANCHES, .kind = EK_BRANCHES,
		  .counters = 0xff },
		{ .code = EVENT_UNHALTED_CORE_CYCLES, .kind = EK_CORE_CYCLES, .counters = 0xff },
		{ .code = EVENT_BR_INST_RETIRED_NEAR_CALL, .kind = EK_NEAR_CALLS,
		  .flags = EV_PEBS, .counters = 0xff, .pebs = 0xf },
		{ .code = EVENT_MEM_UOPS_RETIRED_ALL_LOADS, .kind = EK_LOADS,
		  .flags = EV_PEBS | EV_DLA, .counters = 0xf, .pebs = 0xf },
		{ .code = EVENT_MEM_UOPS_RETIRED_SPLIT_STORES, .kind = EK_SPLIT_STORES,
		  .flags = EV_PEBS | EV_DLA, .counters = 0xf, .pebs = 0xf },
	};
	struct draw_env env = {
		.general = 0xf, .gp_width = 48, .fixed = 7, .fixed_width = 48, .version = 3,
		.full_width = true, .strict = true, .code = CODE, .stack = DATA,
		.table = DATA + 0x1000, .frame = DATA + 0x2000, .operations = DATA + 0x3000,
		.data = { DATA + 0x5000, DATA + 0x7000, DATA + 0x9000 },
		.above = { (u64)255 << 39, ~0ULL << 39 },
		.flags = BIT(9),
		.freeze = true,
		.pebs = true,
		.refuses = true,
		.shadow_exact = true,
		.period_least = 1,
		.format = RECORD_FMT2,
		.record_bytes = 0xc0,
		.nmi_vector = 2,
		.pmi_vector = 0xf0,
		.arch = { .pebs = BITS(0, 3) | BITS(32, 34), .pdist = BIT(0) | BIT(32),
			  .groups = 0x60020378ULL << 32, .memory = DATA + 0x20000,
			  .lbr_depth = 32, .precise = 0x38, .exact = true },
	};

	env.branches = (struct draw_branch_env){
		.legacy = true,
		.info = true,
		.call_stack = true,
		.freeze = true,
		.deepest = LBR5_ENTRIES,
		.from_bits = ~0ULL,
		.gate = GATE,
		.gate_return = GATE + 0x10, .pmi_gate = GATE + 0x20,
		.nmi_gate = GATE + 0x30,
	};
	for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		env.event[env.events++] = events[i];
	return env;
}

struct draw_env random_env_adaptive(void)
{
	static const struct draw_entry entries[4];
	struct draw_env env = random_env();

	env.format = RECORD_ADAPTIVE;
	env.adaptive = (struct draw_adaptive){
		.baseline = true,
		.fixed = 7,
		.soon = BIT(32),
		.tx_bits = ~0ULL,
		.counters = PEBS_DATA_CFG_CNTR | PEBS_DATA_CFG_METRICS | PEBS_DATA_CFG_CNTR_GP |
			    PEBS_DATA_CFG_CNTR_FIXED,
		.entries = sizeof(entries) / sizeof(entries[0]),
		.entry = entries,
	};
	return env;
}

struct draw_env random_env_architectural(void)
{
	struct draw_env env = random_env();

	env.version = 5;
	env.freeze = false;
	env.branches.legacy = false;
	env.branches.architectural = env.branches.streamlined = true;
	env.branches.types = true;
	env.branches.depths = 0xb;	/* 8, 16 and 32 */
	env.branches.control = BRANCH_CONTROL_KINDS | IA32_LBR_CTL_LBREN | IA32_LBR_CTL_OS |
			       IA32_LBR_CTL_USR | IA32_LBR_CTL_CALL_STACK;
	return env;
}
