/* SPDX-License-Identifier: MIT */
/* See program.h. */
#include "host/model/program.h"

#include <string.h>

#define GP	8
#define FIXED	3

struct bytes {
	const u8 *at, *end;
};

static u8 next(struct bytes *b)
{
	return b->at < b->end ? *b->at++ : 0;
}

/* A 64-bit value from few bytes: small, near the maximum, with few bits, or any. */
static u64 next_value(struct bytes *b)
{
	u8 how = next(b);
	u64 value = next(b);

	switch (how % 5) {
	case 0:
		return value;
	case 1:
		return -value & BITS(0, 47);
	case 2:
		return BIT(value % 64) | BIT(how / 5 % 64);
	case 3:
		return (value & 0xf) | (value >> 4 & 7) << 32;
	default:
		for (int i = 0; i < 7; i++)
			value = value << 8 | next(b);
		return value;
	}
}

/* An event select that mostly has an effect. */
static u64 next_select(struct bytes *b)
{
	static const u16 codes[] = {
#define EVENT(name, event, umask, kind, source) EVENT_##name,
#include "spec/event.def"
	};
	u64 select = codes[next(b) % (sizeof(codes) / sizeof(codes[0]))];
	u8 bits = next(b);

	select |= (u64)(bits & 0x3f) << IA32_PERFEVTSEL_USR_SHIFT;
	if (bits & 0x40)
		select |= IA32_PERFEVTSEL_EN;
	if (bits & 0x80)
		select |= (u64)next(b) << IA32_PERFEVTSEL_INV_SHIFT;
	return select;
}

static const u32 registers[] = {
	MSR_IA32_MISC_ENABLE, MSR_OFFCORE_RSP_0, MSR_OFFCORE_RSP_1, MSR_IA32_DEBUGCTL,
	MSR_IA32_FIXED_CTR0, MSR_IA32_FIXED_CTR0 + 1, MSR_IA32_FIXED_CTR0 + 2,
	MSR_IA32_PERF_CAPABILITIES, MSR_IA32_FIXED_CTR_CTRL, MSR_IA32_PERF_GLOBAL_STATUS,
	MSR_IA32_PERF_GLOBAL_CTRL, MSR_IA32_PERF_GLOBAL_OVF_CTRL, MSR_IA32_PEBS_ENABLE,
	MSR_PEBS_LD_LAT_THRESHOLD, MSR_IA32_DS_AREA,
	MSR_UNCORE_PERF_GLOBAL_CTRL, MSR_UNCORE_PERF_GLOBAL_STATUS, MSR_UNCORE_PERF_GLOBAL_OVF_CTRL,
	MSR_UNCORE_FIXED_CTR0, MSR_UNCORE_FIXED_CTR_CTRL, MSR_UNCORE_PMC0, MSR_UNCORE_PERFEVTSEL0,
};
#define N_REGISTERS (sizeof(registers) / sizeof(registers[0]))

/* Everything that RDMSR can read. */
struct view {
	u64 perfevtsel[GP], pmc[GP], other[N_REGISTERS];
};

static void look(struct fixture *r, struct view *v)
{
	memset(v, 0, sizeof(*v));
	for (unsigned i = 0; i < GP; i++) {
		v->perfevtsel[i] = model_rdmsr(&r->m, MSR_IA32_PERFEVTSEL0 + i).value;
		v->pmc[i] = model_rdmsr(&r->m, MSR_IA32_PMC0 + i).value;
	}
	for (size_t i = 0; i < N_REGISTERS; i++)
		v->other[i] = model_rdmsr(&r->m, registers[i]).value;
}

static u64 shown(const struct view *v, u32 msr)
{
	for (size_t i = 0; i < N_REGISTERS; i++)
		if (registers[i] == msr)
			return v->other[i];
	return 0;
}

static const struct {
	u32 gens;
	u16 code, flags;
	u16 counters;
	u8 kind;
} events[] = {
#define EVENT_ON(gens, name, flags, counters, sure, min_period, period_unit, source) \
	{ gens, EVENT_##name, flags, counters, EVENT_KIND_##name },
#include "spec/event.def"
};

/*
 * The number that counter n of this generation adds for the instruction with this event, without
 * cycles and conditions.
 */
static bool simple_count(enum generation_id generation, u16 code, unsigned n,
			 const struct model_retired *i, u64 *count)
{
	u8 kind = EK_NONE;
	bool once = false;

	for (size_t e = 0; e < sizeof(events) / sizeof(events[0]); e++)
		if (events[e].gens & BIT(generation) && events[e].code == code &&
		    events[e].counters & BIT(n)) {
			kind = events[e].kind;
			once = events[e].flags & EV_INSN;
		}
	switch (kind) {
	case EK_NONE:
		*count = 0;
		break;
	case EK_INSTRUCTIONS:
		*count = 1;
		break;
	case EK_BRANCHES:
		*count = i->branch != BRANCH_NONE;
		break;
	case EK_LOADS:
		*count = i->loads;
		break;
	case EK_STORES:
		*count = i->stores;
		break;
	case EK_LOCK_LOADS:
		*count = i->locked_loads;
		break;
	default:
		return false;
	}
	if (once && *count > 1)
		*count = 1;
	return true;
}

/* A counter that PEBS doesn't change has moved by the instruction's events, or not at all. */
static bool counted_right(const struct fixture *r, const struct view *before,
			  const struct view *after, const struct model_retired *i, unsigned n)
{
	u64 select = before->perfevtsel[n], count;
	bool enabled = select & IA32_PERFEVTSEL_EN &&
		       shown(before, MSR_IA32_PERF_GLOBAL_CTRL) & BIT(n) &&
		       select & (i->cpl ? IA32_PERFEVTSEL_USR : IA32_PERFEVTSEL_OS);

	if (shown(before, MSR_IA32_PEBS_ENABLE) & BIT(n))
		return true;
	if (!enabled)
		return before->pmc[n] == after->pmc[n];
	if (select & (IA32_PERFEVTSEL_CMASK | IA32_PERFEVTSEL_E))
		return true;
	if (!simple_count(r->m.config.generation, (u16)select, n, i, &count))
		return true;
	return ((before->pmc[n] + count) & BITS(0, 47)) == after->pmc[n];
}

/* Are the actions of one instruction, from `first` to the last one so far, in the right order? */
static bool in_order(const struct fixture *r, unsigned first)
{
	int last = -1, acted = 0;

	for (unsigned n = first; n < r->n_actions; n++) {
		const struct fixture_action *a = &r->action[n];

		switch (a->action) {
		case ACTION_ARM:
			if (acted)
				return false;
			break;
		case ACTION_ASSIST:
			if ((int)a->counter <= last)
				return false;
			last = (int)a->counter;
			acted = 1;
			break;
		case ACTION_THRESHOLD_INT:
			if (n == first || a[-1].action != ACTION_ASSIST ||
			    a[-1].counter != a->counter)
				return false;
			break;
		case ACTION_UNCORE_INT:
			acted = 1;
			break;
		case ACTION_OVERFLOW_INT:
			/* Right after an assist it may be the interrupt of any covered counter. */
			if (!acted || a[-1].action == ACTION_OVERFLOW_INT)
				last = (int)a->counter;
			acted = 1;
			break;
		}
	}
	return true;
}

/* Only bits that were written to clear them, or that an assist cleared, may have vanished from the
 * status. */
static bool status_sticky(const struct view *before, const struct view *after, u64 cleared,
			  bool assist)
{
	u64 gone = shown(before, MSR_IA32_PERF_GLOBAL_STATUS) &
		   ~shown(after, MSR_IA32_PERF_GLOBAL_STATUS);

	if (assist)
		cleared |= IA32_PEBS_ENABLE_PEBS_EN_PMC;
	return !(gone & ~cleared);
}

static u64 ds_field(const struct fixture *r, unsigned offset)
{
	u64 area = r->m.ds_area - FIXTURE_MEMORY_BASE;

	return area <= FIXTURE_MEMORY - 0x60 ? fixture_peek(r, r->m.ds_area + offset) : 0;
}

/* Records are written from the index on, and end at or before the maximum. */
static bool writes_inside(const struct fixture *r, u64 index, u64 maximum)
{
	return !r->dirty_hi || (r->dirty_lo >= index && r->dirty_hi <= maximum &&
				(r->dirty_hi - r->dirty_lo) % r->record == 0);
}

static void instruction(struct bytes *b, struct model_retired *i)
{
	u8 what = next(b), how = next(b);
	u64 linear = FIXTURE_MEMORY_BASE + 0x3000 + 8ULL * how;

	*i = (struct model_retired){ .branch = BRANCH_NONE };
	switch (what % 6) {
	case 0:
		i->branch = (enum model_branch)(how % (BRANCH_FAR + 1));
		i->taken = how & 0x80;
		i->backward = how & 0x40;
		break;
	case 1:
		i->loads = 1;
		i->access[i->n_access++] = (struct model_access){ linear, 8, false, false };
		break;
	case 2:
		i->stores = 1;
		i->access[i->n_access++] = (struct model_access){ linear, 8, true, false };
		break;
	case 3:
		i->loads = i->stores = i->locked_loads = 1;
		i->access[i->n_access++] = (struct model_access){ linear, 8, false, true };
		i->access[i->n_access++] = (struct model_access){ linear, 8, true, true };
		break;
	case 4:
		i->loads = i->stores = how;
		break;
	}
}

/* Set up a valid DS area, except that next_value() may be in one of its fields. */
static void change_ds(struct fixture *r, struct bytes *b)
{
	u8 how = next(b);

	fixture_ds(r, how % 8, how / 8 % 8);
	for (unsigned i = 0; i < 4; i++)
		fixture_set_reset(r, i, -(u64)next(b) & BITS(0, 47));
	if (how >= 0xc0)
		fixture_poke(r, FIXTURE_DS + 8ULL * (next(b) % 12), next_value(b));
}

/* Returns the value of a successful write of IA32_PERF_GLOBAL_OVF_CTRL, or 0. */
static u64 write_msr(struct fixture *r, struct bytes *b)
{
	u32 what = next(b), msr;
	u64 value;

	if (what < 0x50) {
		msr = MSR_IA32_PERFEVTSEL0 + what % GP;
		value = next_select(b);
	} else {
		msr = what < 0x80 ? MSR_IA32_A_PMC0 + what % GP :
		      what < 0x90 ? MSR_IA32_PMC0 + what % GP :
				    registers[what % (u32)N_REGISTERS];
		value = next_value(b);
	}
	if (fixture_wrmsr(r, msr, value) == MSR_DONE && msr == MSR_IA32_PERF_GLOBAL_OVF_CTRL)
		return value;
	return 0;
}

/* Set up the PMU as a program would, so that something happens soon. */
static void set_up(struct fixture *r, struct bytes *b)
{
	u64 select = next_select(b);
	u8 how = next(b);
	unsigned n = how % 4;

	fixture_program(r, n, (u32)select & 0xffff, select & IA32_PERFEVTSEL_INT, 1ULL + how / 16);
	if (how & 4 && fixture_has_pebs(r)) {
		fixture_set_reset(r, n, -(1ULL + how / 16) & BITS(0, 47));
		/* A broken processor may refuse to read it. */
		fixture_set(r, MSR_IA32_PEBS_ENABLE,
			    model_rdmsr(&r->m, MSR_IA32_PEBS_ENABLE).value | BIT(n));
	}
	fixture_start(r, BITS(0, 3) | BITS(32, 34));
}

static const char *step(struct fixture *r, struct bytes *b)
{
	struct model_retired i = { 0 };
	struct view before, after;
	unsigned first = r->n_actions;
	bool is_instruction = false, assist = false;
	u64 cleared = 0, index, maximum, now = r->now, smis = r->m.smi_count;
	u8 op = next(b);

	r->cpl = op & 0x80 ? 3 : 0;
	r->dirty_lo = r->dirty_hi = 0;
	look(r, &before);
	switch (op % 32) {
	case 0:
	case 1:
	case 2:
		cleared = write_msr(r, b);
		break;
	case 3:
		change_ds(r, b);
		break;
	case 4:
		model_halt(&r->m);
		break;
	case 5:
	case 6:
		fixture_write_lvtpc(r, next(b) & 1 ? 0x400 : FIXTURE_VECTOR);
		break;
	case 7:
	case 8:
	case 9:
		set_up(r, b);
		break;
	default:
		is_instruction = true;
		instruction(b, &i);
	}
	index = ds_field(r, 0x28);
	maximum = ds_field(r, 0x30);
	if (is_instruction) {
		bool needs_retire = model_needs_retire(&r->m);

		fixture_retire(r, &i);
		look(r, &after);
		if (!needs_retire && r->m.config.fault == FAULT_NONE &&
		    memcmp(&before, &after, sizeof(after)))
			return "nothing counts, and yet something changed";
	}
	look(r, &after);
	if (r->m.config.fault != FAULT_NONE)
		return NULL;

	for (unsigned n = first; n < r->n_actions; n++)
		assist |= r->action[n].action == ACTION_ASSIST;
	if (is_instruction && !writes_inside(r, index, maximum))
		return "written outside of the buffer";
	if (!status_sticky(&before, &after, cleared, assist))
		return "a status bit went away by itself";
	if (r->now - now <= 1 && !in_order(r, first))
		return "served out of order";
	/* An SMI adds its own counts. */
	for (unsigned n = 0; is_instruction && smis == r->m.smi_count && n < GP; n++)
		if (!counted_right(r, &before, &after, &i, n))
			return "a counter isn't the sum of its events";
	for (unsigned n = 0; n < GP; n++)
		if (after.pmc[n] >> 48)
			return "a counter shows more bits than it has";
	if (shown(&after, MSR_IA32_PERF_GLOBAL_STATUS) & BITS(35, 60))
		return "a reserved status bit is set";
	if (r->n_interrupts > r->requests && !r->m.latitude[LAT_SPURIOUS_PMI])
		return "more interrupts than were requested";
	return NULL;
}

/* The rules are for processors without errata: no seed draws errata, and no profile sets them
 * here. */
static void without_errata(const struct model_config *config, struct model *m)
{
	static const struct {
		u32 low;
		bool trouble;
	} knobs[LAT_COUNT] = {
#define LATITUDE(token, name, low, high, source) { low, false },
#define TROUBLE(token, name, low, high, source) { low, true },
#include "refpmu/model/latitude.def"
	};

	for (unsigned i = 0; i < LAT_COUNT; i++)
		if (knobs[i].trouble && !(config->latitude.set & LATITUDE_BIT(i)))
			m->latitude[i] = knobs[i].low;
}

const char *program_run(struct fixture *r, const u8 *bytes, size_t n,
			const struct model_config *config)
{
	struct bytes b = { bytes, bytes + n };
	const char *wrong = NULL;

	fixture_open_config(r, config);
	without_errata(config, &r->m);
	if (!r->gp)
		return NULL;
	fixture_ds(r, 6, 4);
	while (b.at < b.end && !wrong)
		wrong = step(r, &b);
	return wrong;
}
