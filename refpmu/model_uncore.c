/* SPDX-License-Identifier: MIT */
/*
 * The uncore of Nehalem and Westmere: "Uncore Performance Monitoring Management Facility",
 * "Uncore Performance Event Configuration Facility". Eight counters and a fixed one, with enables
 * and a status of their own. An overflow may interrupt each core that asks for it twice: in
 * MSR_UNCORE_PERF_GLOBAL_CTRL and in its IA32_DEBUGCTL[13].
 *
 * Time: the uncore's clock ticks with the core's. A counter counts an instruction if it was
 * enabled before the instruction and is after it.
 *
 * Not handled: the address and opcode match (its register holds what is written, no event looks at
 * it), queue occupancies, and cores other than core 0, where the model is.
 */
#include "refpmu/model_access.h"
#include "refpmu/model_uncore.h"
#include "spec/uncore.h"

#define UNCORE_FIXED	UNCORE_GP	/* index of the fixed counter */
#define UNCORE_WIDTH	48
#define THIS_CORE	BIT(UNCORE_PERF_GLOBAL_CTRL_EN_PMI_CORE_SHIFT)	/* core 0 */
#define ALL_ENABLES	(UNCORE_PERF_GLOBAL_CTRL_EN_PC | UNCORE_PERF_GLOBAL_CTRL_EN_FC0)

static const struct { u16 code; u8 kind; } events[] = {
#define UNCORE_EVENT(name, event, umask, kind, source) { (umask) << 8 | (event), kind },
#include "spec/uncore.def"
};

/* The bit of a counter in MSR_UNCORE_PERF_GLOBAL_CTRL, _STATUS and _OVF_CTRL. */
static u64 global_bit(unsigned i)
{
	return i < UNCORE_FIXED ? BIT(i) : UNCORE_PERF_GLOBAL_CTRL_EN_FC0;
}

/* What it is set to do; false: it isn't enabled by its own register. */
static bool decode(const struct model *m, unsigned i, struct model_rule *rule)
{
	u64 select;

	*rule = (struct model_rule){ .kind = EK_NONE };
	if (i == UNCORE_FIXED) {
		rule->kind = EK_REF_CYCLES;
		rule->interrupt = m->uncore.fixed_ctr_ctrl & UNCORE_FIXED_CTR_CTRL_PMI;
		return m->uncore.fixed_ctr_ctrl & UNCORE_FIXED_CTR_CTRL_EN;
	}
	select = m->uncore.perfevtsel[i];
	for (size_t n = 0; n < sizeof(events) / sizeof(events[0]); n++)
		if (events[n].code == (u16)select)
			rule->kind = events[n].kind;
	rule->cmask = (u8)(select >> UNCORE_PERFEVTSEL_CMASK_SHIFT);
	rule->edge = select & UNCORE_PERFEVTSEL_E;
	rule->invert = select & UNCORE_PERFEVTSEL_INV;
	rule->interrupt = select & UNCORE_PERFEVTSEL_PMI;
	return select & UNCORE_PERFEVTSEL_EN;
}

static void configure(struct model *m)
{
	struct model_uncore *u = &m->uncore;

	u->active = 0;
	for (unsigned i = 0; i < UNCORE_COUNTERS; i++) {
		bool enabled = decode(m, i, &u->counter[i].rule) ||
			       broken(m, FAULT_UNCORE_ENABLE_IGNORED);

		if (!(u->global_ctrl & global_bit(i)))
			enabled = enabled && broken(m, FAULT_UNCORE_GLOBAL_CTRL_IGNORED);
		if (enabled && u->counter[i].rule.kind != EK_NONE)
			u->active |= BIT(i);
		else
			u->counter[i].condition = false;
	}
}

bool model_uncore_has(enum reg reg)
{
	return reg >= REG_UNCORE_GLOBAL_CTRL && reg <= REG_UNCORE_PERFEVTSEL;
}

static u64 read_status(struct model *m)
{
	u64 status = m->uncore.global_status;

	if (status && broken(m, FAULT_UNCORE_STATUS_CLEARED_BY_READ))
		m->uncore.global_status = 0;
	return status;
}

u64 model_uncore_read(struct model *m, const struct place *p)
{
	const struct model_uncore *u = &m->uncore;

	switch (p->reg) {
	case REG_UNCORE_GLOBAL_CTRL:
		return u->global_ctrl;
	case REG_UNCORE_GLOBAL_STATUS:
		return read_status(m);
	case REG_UNCORE_FIXED_CTR:
		return u->counter[UNCORE_FIXED].value;
	case REG_UNCORE_FIXED_CTR_CTRL:
		return u->fixed_ctr_ctrl;
	case REG_UNCORE_MATCH:
		return u->match;
	case REG_UNCORE_PMC:
		return u->counter[p->i].value;
	case REG_UNCORE_PERFEVTSEL:
		return u->perfevtsel[p->i];
	default:	/* MSR_UNCORE_PERF_GLOBAL_OVF_CTRL */
		return 0;
	}
}

static void clear_status(struct model *m, u64 value)
{
	m->uncore.global_status &= broken(m, FAULT_UNCORE_CLEARS_ALL) ? 0 : ~value;
	if (broken(m, FAULT_UNCORE_CLEARS_CORE))
		m->global_status &= ~IA32_PERF_GLOBAL_STATUS_OVF_UNCORE;
}

static u64 highest(struct model *m)
{
	return BITS(0, broken(m, FAULT_UNCORE_WIDTH_40) ? 39 : UNCORE_WIDTH - 1);
}

void model_uncore_write(struct model *m, const struct place *p, u64 value)
{
	struct model_uncore *u = &m->uncore;

	switch (p->reg) {
	case REG_UNCORE_GLOBAL_CTRL:
		u->global_ctrl = value;
		break;
	case REG_UNCORE_OVF_CTRL:
		clear_status(m, value);
		break;
	case REG_UNCORE_FIXED_CTR:
		u->counter[UNCORE_FIXED].value = value & highest(m);
		break;
	case REG_UNCORE_FIXED_CTR_CTRL:
		u->fixed_ctr_ctrl = value;
		break;
	case REG_UNCORE_MATCH:
		u->match = value;
		break;
	case REG_UNCORE_PMC:
		u->counter[p->i].value = value & highest(m);
		break;
	case REG_UNCORE_PERFEVTSEL:
		/* The reset of an occupancy happens with the write; the bit reads as 0. */
		u->perfevtsel[p->i] = value & ~UNCORE_PERFEVTSEL_OCC_CTR_RST;
		break;
	default:
		break;
	}
	configure(m);
}

void model_uncore_make_dirty(struct model *m)
{
	struct model_uncore *u = &m->uncore;

	for (unsigned i = 0; i < UNCORE_COUNTERS; i++)
		u->counter[i].value = model_random(m) & BITS(0, UNCORE_WIDTH - 1);
	for (unsigned i = 0; i < UNCORE_GP; i++)
		u->perfevtsel[i] = UNCORE_PERFEVTSEL_EN | UNCORE_PERFEVTSEL_PMI | events[0].code;
	u->fixed_ctr_ctrl = UNCORE_FIXED_CTR_CTRL_EN | UNCORE_FIXED_CTR_CTRL_PMI;
	u->global_status = BIT(0) | UNCORE_PERF_GLOBAL_STATUS_CHG;
}

/* Will the interrupt of an uncore counter be taken by this core? */
static bool core_listens(struct model *m)
{
	if (!(m->uncore.global_ctrl & THIS_CORE) && !broken(m, FAULT_UNCORE_PMI_EVERY_CORE))
		return false;
	return m->debugctl & IA32_DEBUGCTL_ENABLE_UNCORE_PMI ||
	       broken(m, FAULT_UNCORE_PMI_UNASKED);
}

/* An interrupt is signalled: freeze, tell the cores. */
static void signal(struct model *m, unsigned i)
{
	struct model_uncore *u = &m->uncore;
	bool listens = core_listens(m);

	if (!broken(m, FAULT_UNCORE_OVF_PMI_DROPPED))
		u->global_status |= UNCORE_PERF_GLOBAL_STATUS_OVF_PMI;
	if (u->global_ctrl & UNCORE_PERF_GLOBAL_CTRL_PMI_FRZ ?
	    !broken(m, FAULT_UNCORE_FREEZE_IGNORED) : broken(m, FAULT_UNCORE_FREEZE_ALWAYS)) {
		u->global_ctrl &= ~ALL_ENABLES |
				  (broken(m, FAULT_UNCORE_FREEZE_HALF) ? global_bit(i) : 0);
		configure(m);
	}
	if (!listens || broken(m, FAULT_UNCORE_PMI_LOST))
		return;
	if (!broken(m, FAULT_OVF_UNCORE_DROPPED))
		m->global_status |= IA32_PERF_GLOBAL_STATUS_OVF_UNCORE;
	model_request(m, ACTION_UNCORE_INT, i);
	if (broken(m, FAULT_UNCORE_PMI_DOUBLED))
		model_request(m, ACTION_UNCORE_INT, i);
}

static void overflow(struct model *m, unsigned i, bool interrupt)
{
	u64 bit = global_bit(i);

	if (broken(m, FAULT_UNCORE_STATUS_SHIFTED))
		bit = global_bit((i + 1) % UNCORE_COUNTERS);
	if (!broken(m, FAULT_UNCORE_STATUS_DROPPED))
		m->uncore.global_status |= bit;
	m->uncore.global_status |= UNCORE_PERF_GLOBAL_STATUS_CHG;
	if (interrupt || broken(m, FAULT_UNCORE_INT_IGNORED))
		signal(m, i);
}

bool model_uncore_watches(const struct model *m)
{
	for (u64 left = m->uncore.active; left; left &= left - 1)
		if (model_access_matters(&m->uncore.counter[__builtin_ctzll(left)].rule))
			return true;
	return false;
}

void model_uncore_retire(struct model *m, struct step *s)
{
	struct model_uncore *u = &m->uncore;
	u64 counting = u->active & u->active_before;
	u64 top = highest(m);

	u->active_before = u->active;
	for (u64 left = counting; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		struct model_counter *c = &u->counter[i];
		/* A copy: a freeze configures all of them anew. */
		struct model_rule rule = c->rule;
		bool clock = rule.kind == EK_REF_CYCLES;
		u64 before = c->value, add;

		add = clock ? 1 : model_access_count(m, s, rule.kind);
		add = broken(m, FAULT_INERT) ? 0 : model_increment(m, c, &rule, clock, add);
		c->value = (before + add) & top;
		if (before + add <= top)
			continue;
		overflow(m, i, rule.interrupt);
		if (s->wrapped && broken(m, FAULT_UNCORE_PMI_DROPS_CORE))
			m->global_status &= IA32_PERF_GLOBAL_STATUS_OVF_UNCORE;
	}
}
