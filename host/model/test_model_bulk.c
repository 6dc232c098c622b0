/* SPDX-License-Identifier: MIT */
/*
 * Many instructions at once must have the same effects as one by one. This holds for random
 * settings of the counters, random instructions, and runs up to the very last instruction that the
 * budget allows. On a broken processor each instruction is counted separately: any may be an
 * injection point of its fault.
 */
#include "host/check.h"
#include "host/model/fixture.h"
#include "host/random.h"
#include "refpmu/faults/state.h"
#include "refpmu/model/bulk.h"

#define LONGEST	400

static struct fixture one, bulk;
static u64 n_bulk, n_single, n_branches, n_untold;
static struct random random_state;

static u64 below(u64 n)
{
	return random_next(&random_state) % n;
}

static void both_wrmsr(u32 msr, u64 value)
{
	const struct model_retired wrmsr = { .ip = 0x1000, .branch = BRANCH_NONE };

	for (unsigned i = 0; i < 2; i++) {
		struct fixture *r = i ? &bulk : &one;

		if (model_wrmsr(&r->m, msr, value).status == MSR_DONE && model_needs_retire(&r->m))
			model_retire(&r->m, &wrmsr);
	}
}

/* Counters near their overflow, some with PEBS; conditions only sometimes. */
static void program_counters(void)
{
	bool user_only = !below(3);
	static const u16 codes[] = {
#define EVENT(name, event, umask, kind, source) EVENT_##name,
#include "spec/event.def"
	};

	both_wrmsr(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	both_wrmsr(MSR_IA32_PEBS_ENABLE, below(4) ? 0 : below(16));
	for (unsigned i = 0; i < 4; i++) {
		u64 select = codes[below(sizeof(codes) / sizeof(codes[0]))];

		select |= below(64) << IA32_PERFEVTSEL_USR_SHIFT | IA32_PERFEVTSEL_EN;
		if (below(8))
			select &= ~IA32_PERFEVTSEL_E;
		else if (below(2))
			/* All cycles, as Linux counts them. */
			select = (select & ~IA32_PERFEVTSEL_E) | IA32_PERFEVTSEL_INV |
				 (u64)TOTAL_CYCLES_CMASK << IA32_PERFEVTSEL_CMASK_SHIFT;
		else
			select |= below(8) << IA32_PERFEVTSEL_INV_SHIFT;
		if (user_only)
			select &= ~IA32_PERFEVTSEL_OS;
		both_wrmsr(MSR_IA32_PERFEVTSEL0 + i, 0);
		/* Extended to the counter's width. */
		both_wrmsr(MSR_IA32_PMC0 + i, -below(below(2) ? 3000 : 100000) & BITS(0, 31));
		both_wrmsr(MSR_IA32_PERFEVTSEL0 + i, select);
	}
	both_wrmsr(MSR_IA32_FIXED_CTR0, -below(5000) & BITS(0, 47));
	both_wrmsr(MSR_IA32_FIXED_CTR0 + 1, -below(50000) & BITS(0, 47));
	both_wrmsr(MSR_IA32_FIXED_CTR_CTRL, below(0x1000) & (user_only ? 0xeee : 0xfff));
	/* This raises #GP without such an uncore. */
	both_wrmsr(MSR_UNCORE_FIXED_CTR0, -below(500) & BITS(0, 47));
	both_wrmsr(MSR_UNCORE_FIXED_CTR_CTRL, below(8) & 5);
	both_wrmsr(MSR_UNCORE_PERF_GLOBAL_CTRL, below(6) ? 0 : BIT(32) | BIT(48));
	both_wrmsr(MSR_LBR_SELECT, below(2) ? below(0x400) : 0);
	both_wrmsr(MSR_IA32_LBR_CTL, !user_only && below(2) ? (below(4) << 1 | 0x7f0001) : 0);
	both_wrmsr(MSR_IA32_DEBUGCTL, (below(2) ? IA32_DEBUGCTL_ENABLE_UNCORE_PMI : 0) |
					      (!user_only && below(2) ? IA32_DEBUGCTL_LBR : 0));
	both_wrmsr(MSR_IA32_PERF_GLOBAL_CTRL, BITS(0, 3) | BITS(32, 34));
}

/* Events that are logged in entries of branches; the levels may differ from those of the
 * entries. */
static void program_logging(void)
{
	static const u16 codes[] = { 0x00c0, 0x82d0, 0x81d0, 0x00c4 };

	both_wrmsr(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	for (unsigned i = 0; i < 4; i++)
		both_wrmsr(MSR_IA32_PERFEVTSEL0 + i,
			   codes[i] | below(4) << 16 | BIT(22) | (below(2) ? BIT(35) : 0));
	both_wrmsr(MSR_IA32_LBR_CTL, 0x7f0000 | below(8));
	both_wrmsr(MSR_IA32_PERF_GLOBAL_CTRL, BITS(0, 3));
}

static void random_instruction(struct model_retired *i, u64 *ip, u8 cpl)
{
	*i = (struct model_retired){ .ip = *ip, .cpl = cpl, .cpl_after = cpl };
	*ip += 4;
	i->after.rip = i->next_ip = *ip;
	switch (below(4)) {
	case 0:
		i->branch = (enum model_branch)below(BRANCH_FAR + 1);
		i->taken = below(2);
		i->backward = below(2);
		i->indirect = below(2);
		i->after.rip = i->backward ? *ip - 64 * below(100) - 4 : *ip + 64 * below(100);
		break;
	case 1:
		i->loads = (u32)below(MODEL_BULK_ACCESSES + 1);
		i->stores = (u32)below(MODEL_BULK_ACCESSES + 1);
		i->locked_loads = i->loads ? (u32)below(i->loads + 1) : 0;
		i->n_access = 1;
		i->access[0] = (struct model_access){
			.linear = 64 * below(16), .bytes = 8, .store = i->stores,
		};
		break;
	default:
		break;
	}
}

static void add(struct model_events *events, const struct model_retired *i)
{
	events->instructions++;
	events->loads += i->loads;
	events->stores += i->stores;
	events->locked_loads += i->locked_loads;
	events->loading += !!i->loads;
	events->storing += !!i->stores;
	events->locking += !!i->locked_loads;
	events->branches[i->branch]++;
	events->taken += i->branch == BRANCH_CONDITIONAL && i->taken;
	events->mispredicted += i->branch == BRANCH_CONDITIONAL &&
				(i->backward ? !i->taken : i->taken);
}

/* The record of a branch, the last of so many in a run. */
static void tell_branch(const struct model_retired *i, u64 instructions, u8 cpl)
{
	if (i->branch == BRANCH_NONE || (i->branch == BRANCH_CONDITIONAL && !i->taken) ||
	    !model_bulk_needs_branches(&bulk.m, cpl))
		return;
	model_bulk_taken(&bulk.m, cpl, &(struct model_taken){
		.instructions = instructions, .ip = i->ip, .next_ip = i->next_ip,
		.target = i->after.rip, .branch = i->branch, .indirect = i->indirect,
			 });
	n_branches++;
}

static bool same_models(const char *after)
{
	struct model a = one.m, b = bulk.m;

	a.host = b.host = NULL;
	/* Only one fault uses this, and it never gets a budget. */
	faults_of(&a)->next_ip = faults_of(&b)->next_ip = 0;
	faults_of(&a)->handlers = faults_of(&b)->handlers = 0;
	faults_of(&a)->ip_before = faults_of(&b)->ip_before = 0;
	/* This is used when an interrupt is raised, which no run does. */
	faults_of(&a)->interrupts_off = faults_of(&b)->interrupts_off = false;
	return CHECK(!memcmp(&a, &b, sizeof(a)), "fault %u: the models differ after %s",
		     a.config.fault, after) &&
	       CHECK(!memcmp(one.memory, bulk.memory, sizeof(one.memory)), "after %s", after) &&
	       CHECK_EQ(one.requests, bulk.requests, "after %s", after);
}

static bool single(const struct model_retired *instruction)
{
	model_retire(&one.m, instruction);
	model_retire(&bulk.m, instruction);
	n_single++;
	return same_models("an instruction");
}

/* As many instructions as the budget allows, of any kind. */
static bool go_blindly(u64 *ip, u8 cpl)
{
	u64 budget = model_bulk_budget(&bulk.m, cpl, MODEL_BULK_ACCESSES), n = 1 + below(LONGEST);
	struct model_events events = { 0 };
	struct model_retired instruction;

	if (n > budget)
		n = budget;
	n_bulk += n;
	while (n--) {
		random_instruction(&instruction, ip, cpl);
		add(&events, &instruction);
		tell_branch(&instruction, events.instructions, cpl);
		model_retire(&one.m, &instruction);
	}
	if (!model_bulk_needs_taken(&bulk.m))
		events.taken = events.mispredicted = below(1000);
	model_bulk_retire(&bulk.m, cpl, &events);
	return same_models("a run");
}

/* Exactly these instructions, up to the first that doesn't fit any more. */
static bool go_exactly(u64 *ip, u8 cpl)
{
	struct model_events events = { 0 }, more = { 0 };
	struct model_retired instruction;
	u64 n = 1 + below(LONGEST);
	bool fits = true;

	for (; n--; n_bulk++) {
		random_instruction(&instruction, ip, cpl);
		add(&more, &instruction);
		fits = model_bulk_fits(&bulk.m, cpl, &more);
		if (!fits)
			break;
		events = more;
		tell_branch(&instruction, events.instructions, cpl);
		model_retire(&one.m, &instruction);
	}
	model_bulk_retire(&bulk.m, cpl, &events);
	if (!same_models("a run that fits"))
		return false;
	return fits || single(&instruction);
}

/* Some instructions are reported to only one model. The other one misses only the time that they
 * take. */
static bool go_untold(u64 *ip, u8 cpl)
{
	struct model_retired instruction;

	for (u64 n = 1 + below(LONGEST); n; n--, n_untold++) {
		random_instruction(&instruction, ip, cpl);
		model_retire(&one.m, &instruction);
	}
	model_bulk_ignore(&bulk.m);
	bulk.m.cycles = one.m.cycles;
	return same_models("instructions that needn't be told");
}

/* One run, of the allowed length or shorter, or one instruction. */
static bool go_on(u64 *ip)
{
	u8 cpl = (u8)(below(3) ? 0 : 3);
	struct model_retired instruction;

	if (!model_bulk_possible(&bulk.m, cpl)) {
		random_instruction(&instruction, ip, cpl);
		return single(&instruction);
	}
	if (model_bulk_ignores(&bulk.m, cpl) && below(2))
		return go_untold(ip, cpl);
	return below(2) ? go_exactly(ip, cpl) : go_blindly(ip, cpl);
}

static void open(struct fixture *r, enum generation_id generation, enum fault_id fault, u64 seed)
{
	const struct model_config config = {
		.generation = generation,
		.hyper_threading = true,
		.fault = fault,
		.latitude.seed = seed % 3 ? seed : 0,
	};

	memset(r, 0, sizeof(*r));
	fixture_open_config(r, &config);
	fixture_ds(r, 20, 3);
}

static void open_both_of(enum generation_id generation, enum fault_id fault, u64 seed)
{
	random_state.state = seed * 1000 + fault + 1;
	open(&one, generation, fault, seed);
	open(&bulk, generation, fault, seed);
	memcpy(&bulk.m, &one.m, sizeof(one.m));
	bulk.m.host = &bulk.host;
}

static void open_both(enum fault_id fault, u64 seed)
{
	open_both_of((enum generation_id)((seed + fault) % GEN_ARCH_COUNT), fault, seed);
}

static bool run(enum fault_id fault, u64 seed)
{
	u64 ip = 0x401000;

	open_both(fault, seed);
	for (unsigned i = 0; i < 6; i++) {
		program_counters();
		for (unsigned k = 0; k < 120 && model_needs_retire(&one.m); k++)
			if (!go_on(&ip))
				return false;
		one.lvtpc &= ~(u32)BIT(16);
		bulk.lvtpc &= ~(u32)BIT(16);
	}
	return true;
}

static void bulk_equals_single_retirement(void)
{
	for (u64 seed = 0; seed < 30; seed++)
		if (!run(FAULT_NONE, seed))
			return;
	CHECK(n_bulk > 10 * n_single, "%" PRIu64 " in runs, %" PRIu64 " alone", n_bulk, n_single);
	CHECK(n_single > 100);
	CHECK(n_untold > 10000, "%" PRIu64 " untold", n_untold);
	CHECK(n_branches > 1000, "%" PRIu64 " branches recorded", n_branches);
}

/* The events logged in an entry are the same whether a run is reported at once or instruction by
 * instruction. */
static void logged_events_are_those_of_single_retirement(void)
{
	static const enum generation_id generations[] = {
		GEN_SIERRAFOREST, GEN_LUNARLAKE, GEN_CLEARWATERFOREST,
	};
	const u64 bulk_before = n_bulk, single_before = n_single;
	u64 ip = 0x401000;

	for (u64 seed = 0; seed < 30; seed++) {
		open_both_of(generations[seed / 3 % 3], FAULT_NONE, seed);
		for (unsigned i = 0; i < 10; i++) {
			program_logging();
			for (unsigned k = 0; k < 40 && model_needs_retire(&one.m); k++)
				if (!go_on(&ip))
					return;
		}
	}
	CHECK(n_bulk > bulk_before + 10000 && n_single > single_before + 1000);
}

/* At the next instruction of CPL 3 the condition begins again. */
static void untold_instructions_end_a_condition(void)
{
	u64 ip = 0x401000;
	struct model_retired instruction;

	open_both(FAULT_NONE, 0);
	both_wrmsr(MSR_IA32_PERFEVTSEL0, EVENT_INST_RETIRED_ANY_P | IA32_PERFEVTSEL_USR |
						 IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_E |
						 BIT(IA32_PERFEVTSEL_CMASK_SHIFT));
	both_wrmsr(MSR_IA32_PERF_GLOBAL_CTRL, 1);
	for (unsigned i = 0; i < 4; i++) {
		random_instruction(&instruction, &ip, 3);
		if (!single(&instruction) ||
		    !CHECK(model_bulk_ignores(&bulk.m, 0) && !model_bulk_ignores(&bulk.m, 3)) ||
		    !go_untold(&ip, 0))
			return;
	}
	CHECK_EQ(4, model_rdpmc(&bulk.m, 0).value);
}

static void there_are_none_under_a_fault(void)
{
	u64 before = n_bulk;

	for (unsigned fault = FAULT_NONE + 1; fault < FAULT_COUNT; fault++)
		if (!run((enum fault_id)fault, 0))
			return;
	CHECK_EQ(before, n_bulk);
}

int main(void)
{
	RUN(bulk_equals_single_retirement);
	RUN(logged_events_are_those_of_single_retirement);
	RUN(untold_instructions_end_a_condition);
	RUN(there_are_none_under_a_fault);
	return check_end();
}
