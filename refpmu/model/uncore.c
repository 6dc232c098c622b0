/* SPDX-License-Identifier: MIT */
/*
 * The uncore of Nehalem and Westmere: "Uncore Performance Monitoring Management Facility",
 * "Uncore Performance Event Configuration Facility". Eight counters and a fixed one, with enables
 * and a status of their own. An overflow may interrupt each core that asks for it twice: in
 * MSR_UNCORE_PERF_GLOBAL_CTRL and in its IA32_DEBUGCTL[13].
 *
 * One for all processors of the package (Table 35-13). Whoever's instruction makes a counter
 * overflow signals to the others; each requests its own interrupt when it looks at its model next.
 *
 * Time: the uncore's clock ticks with whichever core retires. A counter counts an instruction if it
 * was enabled before the instruction and is after it.
 *
 * Not handled: the address and opcode match (its register holds what is written, no event looks at
 * it), queue occupancies.
 */
#include "refpmu/model/access.h"
#include "refpmu/model/core.h"
#include "refpmu/model/msr.h"
#include "refpmu/model/uncore.h"
#include "spec/uncore.h"

#define UNCORE_FIXED	UNCORE_GP	/* index of the fixed counter */
#define UNCORE_WIDTH	48
#define SELECTABLE	4	/* cores that MSR_UNCORE_PERF_GLOBAL_CTRL has a bit for */
#define EVERY_CORE	(BITS(0, SELECTABLE - 1) << UNCORE_PERF_GLOBAL_CTRL_EN_PMI_CORE_SHIFT)
#define ALL_ENABLES	(UNCORE_PERF_GLOBAL_CTRL_EN_PC | UNCORE_PERF_GLOBAL_CTRL_EN_FC0)

static const struct { u16 code; u8 kind; } events[] = {
#define UNCORE_EVENT(name, event, umask, kind, source) { (umask) << 8 | (event), kind },
#include "spec/uncore.def"
};

/* ---- whose it is ---- */

static u64 bit_of(unsigned processor)
{
	return processor < UNCORE_PROCESSORS ? BIT(processor) : 0;
}

static u64 own_bit(const struct model *m)
{
	return bit_of(m->host->processor);
}

static u64 load(const u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void store(u64 *word, u64 value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static bool belongs(const struct model *m, const struct model_uncore *u)
{
	return u && load(&u->present) & own_bit(m);
}

const struct model_uncore *model_uncore_of(const struct model *m)
{
	return belongs(m, m->host->uncore) ? m->host->uncore : &m->uncore;
}

static void lock(struct model *m, struct model_uncore *u)
{
	if (m->host->lock)
		m->host->lock(m->host->ctx, &u->lock);
}

static void leave(struct model *m, struct model_uncore *u)
{
	if (u != &m->uncore && m->host->unlock)
		m->host->unlock(m->host->ctx, &u->lock);
}

/* A new configuration may have begun before the lock was there. */
static struct model_uncore *enter(struct model *m)
{
	struct model_uncore *u = m->host->uncore;

	if (!belongs(m, u))
		return &m->uncore;
	lock(m, u);
	if (belongs(m, u))
		return u;
	leave(m, u);
	return &m->uncore;
}

void model_uncore_reset(struct model_uncore *u)
{
	u32 lock = u->lock;

	store(&u->present, 0);
	*u = (struct model_uncore){ .lock = lock };
}

bool model_uncore_busy(const struct model *m)
{
	const struct model_uncore *u = model_uncore_of(m);

	return load(&u->active) || load(&u->signalled) & own_bit(m);
}

bool model_uncore_needs_others(const struct model *m)
{
	return belongs(m, m->host->uncore) && load(&m->host->uncore->active);
}

bool model_uncore_watches(const struct model *m)
{
	return __atomic_load_n(&model_uncore_of(m)->watches, __ATOMIC_ACQUIRE);
}

void model_uncore_listen(struct model *m)
{
	struct model_uncore *u = enter(m);

	u->listens &= ~own_bit(m);
	if (m->debugctl & IA32_DEBUGCTL_ENABLE_UNCORE_PMI)
		u->listens |= own_bit(m);
	leave(m, u);
}

/* ---- registers ---- */

/* The bit of a counter in MSR_UNCORE_PERF_GLOBAL_CTRL, _STATUS and _OVF_CTRL. */
static u64 global_bit(unsigned i)
{
	return i < UNCORE_FIXED ? BIT(i) : UNCORE_PERF_GLOBAL_CTRL_EN_FC0;
}

/* What it is set to do; false: it isn't enabled by its own register. */
static bool decode(struct model *m, const struct model_uncore *u, unsigned i,
		   struct model_rule *rule)
{
	u64 select;

	*rule = (struct model_rule){ .kind = EK_NONE };
	if (i == UNCORE_FIXED) {
		rule->kind = EK_REF_CYCLES;
		rule->interrupt = u->fixed_ctr_ctrl & UNCORE_FIXED_CTR_CTRL_PMI;
		return u->fixed_ctr_ctrl & UNCORE_FIXED_CTR_CTRL_EN;
	}
	select = u->perfevtsel[i];
	for (size_t n = 0; n < sizeof(events) / sizeof(events[0]); n++)
		if (events[n].code == (u16)select)
			rule->kind = events[n].kind;
	rule->cmask = (u8)(select >> UNCORE_PERFEVTSEL_CMASK_SHIFT);
	rule->edge = select & UNCORE_PERFEVTSEL_E && !broken(m, FAULT_UNCORE_EDGE_IGNORED);
	rule->invert = select & UNCORE_PERFEVTSEL_INV;
	rule->interrupt = select & UNCORE_PERFEVTSEL_PMI;
	return select & UNCORE_PERFEVTSEL_EN;
}

static void configure(struct model *m, struct model_uncore *u)
{
	bool watches = false;
	u64 active = 0;

	for (unsigned i = 0; i < UNCORE_COUNTERS; i++) {
		bool enabled = decode(m, u, i, &u->counter[i].rule) ||
			       broken(m, FAULT_UNCORE_ENABLE_IGNORED);

		if (!(u->global_ctrl & global_bit(i)))
			enabled = enabled && broken(m, FAULT_UNCORE_GLOBAL_CTRL_IGNORED);
		if (enabled && u->counter[i].rule.kind != EK_NONE) {
			active |= BIT(i);
			watches = watches || model_access_matters(&u->counter[i].rule);
		} else {
			u->counter[i].condition = false;
		}
	}
	__atomic_store_n(&u->watches, watches, __ATOMIC_RELEASE);
	store(&u->active, active);
}

bool model_uncore_has(enum reg reg)
{
	return reg >= REG_UNCORE_GLOBAL_CTRL && reg <= REG_UNCORE_PERFEVTSEL;
}

static u64 read_status(struct model *m, struct model_uncore *u)
{
	u64 status = u->global_status;

	if (status && broken(m, FAULT_UNCORE_STATUS_CLEARED_BY_READ))
		u->global_status = 0;
	return status;
}

static u64 read(struct model *m, struct model_uncore *u, const struct place *p)
{
	switch (p->reg) {
	case REG_UNCORE_GLOBAL_CTRL:
		return u->global_ctrl;
	case REG_UNCORE_GLOBAL_STATUS:
		return read_status(m, u);
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

u64 model_uncore_read(struct model *m, const struct place *p)
{
	struct model_uncore *u = enter(m);
	u64 value = read(m, u, p);

	leave(m, u);
	return value;
}

void model_uncore_clear(struct model *m, u64 bits)
{
	struct model_uncore *u = enter(m);

	u->global_status &= ~bits;
	leave(m, u);
}

static void clear_status(struct model *m, struct model_uncore *u, u64 value)
{
	u->global_status &= broken(m, FAULT_UNCORE_CLEARS_ALL) ? 0 : ~value;
	if (broken(m, FAULT_UNCORE_CLEARS_CORE))
		m->global_status &= ~IA32_PERF_GLOBAL_STATUS_OVF_UNCORE;
}

static u64 highest(struct model *m)
{
	return BITS(0, broken(m, FAULT_UNCORE_WIDTH_40) ? 39 : UNCORE_WIDTH - 1);
}

void model_uncore_write(struct model *m, const struct place *p, u64 value)
{
	struct model_uncore *u = enter(m);

	switch (p->reg) {
	case REG_UNCORE_GLOBAL_CTRL:
		u->global_ctrl = value;
		u->enabled_by = m->core;
		break;
	case REG_UNCORE_OVF_CTRL:
		clear_status(m, u, value);
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
	configure(m, u);
	leave(m, u);
}

/* What a firmware may leave behind: programmed counters of any value, and all of them off. */
static void make_dirty(struct model *m, struct model_uncore *u)
{
	for (unsigned i = 0; i < UNCORE_COUNTERS; i++)
		u->counter[i].value = model_random(m) & BITS(0, UNCORE_WIDTH - 1);
	for (unsigned i = 0; i < UNCORE_GP; i++)
		u->perfevtsel[i] = UNCORE_PERFEVTSEL_EN | UNCORE_PERFEVTSEL_PMI | events[0].code;
	u->fixed_ctr_ctrl = UNCORE_FIXED_CTR_CTRL_EN | UNCORE_FIXED_CTR_CTRL_PMI;
	u->global_status = BIT(0) | UNCORE_PERF_GLOBAL_STATUS_CHG;
}

void model_uncore_join(struct model *m, bool dirty)
{
	struct model_uncore *u = m->host->uncore;

	if (!u || !own_bit(m) || broken(m, FAULT_UNCORE_PER_PROCESSOR)) {
		if (dirty)
			make_dirty(m, &m->uncore);
		return;
	}
	lock(m, u);
	if (dirty && !u->present)
		make_dirty(m, u);
	u->listens &= ~own_bit(m);
	store(&u->signalled, u->signalled & ~own_bit(m));
	store(&u->present, u->present | own_bit(m));
	leave(m, u);
}

/* ---- interrupts ---- */

static unsigned core_of(const struct model *m, unsigned processor)
{
	return m->config.hyper_threading ? processor / CORE_THREADS : processor;
}

/* Will the interrupt of an uncore counter be taken by this processor? */
static bool takes(struct model *m, const struct model_uncore *u, unsigned processor)
{
	unsigned core = core_of(m, processor);
	u64 bit = core < SELECTABLE ?
		BIT(UNCORE_PERF_GLOBAL_CTRL_EN_PMI_CORE_SHIFT + core) : 0;

	if (u->global_ctrl & EVERY_CORE && broken(m, FAULT_UNCORE_ANY_CORE))
		bit = EVERY_CORE;
	if (!(u->global_ctrl & bit) && !broken(m, FAULT_UNCORE_PMI_EVERY_CORE))
		return false;
	return u->listens & bit_of(processor) || broken(m, FAULT_UNCORE_PMI_UNASKED);
}

/* Bit n: processor n gets it. */
static u64 audience(struct model *m, const struct model_uncore *u)
{
	u64 present = u == &m->uncore ? own_bit(m) : u->present, to = 0;

	for (u64 left = present; left; left &= left - 1) {
		unsigned processor = (unsigned)__builtin_ctzll(left);
		unsigned first = to ? (unsigned)__builtin_ctzll(to) : processor;

		if (takes(m, u, processor) &&
		    (core_of(m, first) == core_of(m, processor) ||
		     !broken(m, FAULT_UNCORE_PMI_FIRST_CORE_ONLY)))
			to |= BIT(processor);
	}
	return to;
}

void model_uncore_take(struct model *m)
{
	const struct model_uncore *now = model_uncore_of(m);
	unsigned times = 0, counter = 0;
	struct model_uncore *u;

	if (!(load(&now->signalled) & own_bit(m)))
		return;
	u = enter(m);
	if (u->signalled & own_bit(m)) {
		times = u->signal[m->host->processor].times;
		counter = u->signal[m->host->processor].counter;
		store(&u->signalled, u->signalled & ~own_bit(m));
	}
	leave(m, u);
	if (times && !broken(m, FAULT_OVF_UNCORE_DROPPED) &&
	    !(m->global_status && broken(m, FAULT_OVF_UNCORE_BESIDE_CORE)) &&
	    !(counter < UNCORE_FIXED && broken(m, FAULT_OVF_UNCORE_FIXED_ONLY)))
		m->global_status |= IA32_PERF_GLOBAL_STATUS_OVF_UNCORE;
	while (times--)
		model_request(m, ACTION_UNCORE_INT, counter);
}

/* An interrupt is signalled: freeze, tell the cores. */
static void signal(struct model *m, struct model_uncore *u, unsigned i)
{
	u64 to = audience(m, u);
	u8 times = 1;

	if (!broken(m, FAULT_UNCORE_OVF_PMI_DROPPED))
		u->global_status |= UNCORE_PERF_GLOBAL_STATUS_OVF_PMI;
	if (u->global_ctrl & UNCORE_PERF_GLOBAL_CTRL_PMI_FRZ ?
	    !broken(m, FAULT_UNCORE_FREEZE_IGNORED) : broken(m, FAULT_UNCORE_FREEZE_ALWAYS)) {
		u->global_ctrl &= ~ALL_ENABLES |
				  (broken(m, FAULT_UNCORE_FREEZE_HALF) ? global_bit(i) : 0);
		configure(m, u);
	}
	if (!to || broken(m, FAULT_UNCORE_PMI_LOST))
		return;
	if (broken(m, FAULT_UNCORE_PMI_DOUBLED))
		times = 2;
	for (u64 left = to; left; left &= left - 1) {
		unsigned processor = (unsigned)__builtin_ctzll(left);

		/* Two that nobody has taken yet are two. */
		if (!(u->signalled & BIT(processor)))
			u->signal[processor].times = 0;
		if (u->signal[processor].times < MODEL_MAX_REQUESTS)
			u->signal[processor].times = (u8)(u->signal[processor].times + times);
		u->signal[processor].counter = (u8)i;
	}
	store(&u->signalled, u->signalled | to);
}

static void overflow(struct model *m, struct model_uncore *u, unsigned i, bool interrupt)
{
	u64 bit = global_bit(i);

	if (broken(m, FAULT_UNCORE_STATUS_SHIFTED))
		bit = global_bit((i + 1) % UNCORE_COUNTERS);
	if (!broken(m, FAULT_UNCORE_STATUS_DROPPED))
		u->global_status |= bit;
	u->global_status |= UNCORE_PERF_GLOBAL_STATUS_CHG;
	if (i < UNCORE_FIXED && broken(m, interrupt ? FAULT_UNCORE_GP_PMI_LOST :
						      FAULT_UNCORE_GP_PMI_ALWAYS))
		interrupt = !interrupt;
	if (interrupt || broken(m, FAULT_UNCORE_INT_IGNORED))
		signal(m, u, i);
}

/* ---- counting ---- */

static void count(struct model *m, struct model_uncore *u, const struct step *s, unsigned i)
{
	struct model_counter *c = &u->counter[i];
	/* A copy: a freeze configures all of them anew. */
	struct model_rule rule = c->rule;
	bool clock = rule.kind == EK_REF_CYCLES;
	u64 before = c->value, add, top = highest(m);

	add = clock ? 1 : model_access_count(m, s, rule.kind);
	if (add && u->enabled_by != m->core && broken(m, FAULT_UNCORE_COUNTS_OWN_CORE_ONLY))
		add = 0;
	add = broken(m, FAULT_INERT) ? 0 : model_increment(c, &rule, clock, add, s->cycles);
	c->value = (before + add) & top;
	if (before + add <= top)
		return;
	overflow(m, u, i, rule.interrupt);
	if (s->wrapped && broken(m, FAULT_UNCORE_PMI_DROPS_CORE))
		m->global_status &= IA32_PERF_GLOBAL_STATUS_OVF_UNCORE;
}

/* Who was signalled and may not look by himself. */
static void call(struct model *m, u64 whom)
{
	for (u64 left = whom & ~own_bit(m); left && m->host->call; left &= left - 1)
		m->host->call(m->host->ctx, (unsigned)__builtin_ctzll(left));
}

void model_uncore_retire(struct model *m, struct step *s)
{
	struct model_uncore *u = enter(m);
	u64 counting = u->active & m->uncore_before, before = u->signalled, whom;

	m->uncore_before = u->active;
	for (u64 left = counting; left; left &= left - 1)
		count(m, u, s, (unsigned)__builtin_ctzll(left));
	whom = u->signalled & ~before;
	leave(m, u);
	call(m, whom);
	model_uncore_take(m);
}
