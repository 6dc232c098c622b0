/* SPDX-License-Identifier: MIT */
/*
 * The uncore of Nehalem and Westmere: "Uncore Performance Monitoring Management Facility", "Uncore
 * Performance Event Configuration Facility". Eight counters and a fixed one, with enables and a
 * status of their own. An overflow interrupts each core for which two enables are set: in
 * MSR_UNCORE_PERF_GLOBAL_CTRL and in the core's IA32_DEBUGCTL[13].
 *
 * There is one uncore for all processors of the package (Table 35-13). The processor whose
 * instruction makes a counter overflow signals the others; each requests its own interrupt when it
 * next uses its model.
 *
 * Time: the uncore's clock advances with the instructions of every core. A counter counts an
 * instruction if it is enabled both before and after the instruction.
 *
 * Not handled: the address and opcode match (its register keeps its value, but no event uses it),
 * queue occupancies.
 */
#include "refpmu/model/access.h"
#include "refpmu/model/core.h"
#include "refpmu/model/msr.h"
#include "refpmu/model/uncore.h"
#include "spec/uncore.h"

#define UNCORE_FIXED	UNCORE_GP	/* index of the fixed counter */
#define UNCORE_WIDTH	48
#define SELECTABLE	4	/* cores that have a bit in MSR_UNCORE_PERF_GLOBAL_CTRL */
#define ALL_ENABLES	(UNCORE_PERF_GLOBAL_CTRL_EN_PC | UNCORE_PERF_GLOBAL_CTRL_EN_FC0)

static const struct {
	u16 code;
	u8 kind;
} events[] = {
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

static u64 uncore_load(const u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void store(u64 *word, u64 value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static bool belongs(const struct model *m, const struct model_uncore *u)
{
	return u && uncore_load(&u->present) & own_bit(m);
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

static void uncore_leave(struct model *m, struct model_uncore *u)
{
	if (u != &m->uncore && m->host->unlock)
		m->host->unlock(m->host->ctx, &u->lock);
}

/* Lock the shared uncore. A new configuration may have begun before the lock was taken. */
static struct model_uncore *uncore_enter(struct model *m)
{
	struct model_uncore *u = m->host->uncore;

	if (!belongs(m, u))
		return &m->uncore;
	lock(m, u);
	if (belongs(m, u))
		return u;
	uncore_leave(m, u);
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

	return uncore_load(&u->active) || uncore_load(&u->signalled) & own_bit(m);
}

bool model_uncore_needs_others(const struct model *m)
{
	return belongs(m, m->host->uncore) && uncore_load(&m->host->uncore->active);
}

bool model_uncore_watches(const struct model *m)
{
	return __atomic_load_n(&model_uncore_of(m)->watches, __ATOMIC_ACQUIRE);
}

/* "IA32_DEBUGCTL MSR", bit 13: this processor takes the uncore's interrupts. */
void model_uncore_listen(struct model *m)
{
	struct model_uncore *u = uncore_enter(m);

	u->listens &= ~own_bit(m);
	if (m->debugctl & IA32_DEBUGCTL_ENABLE_UNCORE_PMI)
		u->listens |= own_bit(m);
	uncore_leave(m, u);
}

/* ---- registers ---- */

/* "Layout of MSR_UNCORE_PERF_GLOBAL_CTRL MSR": EN_PCn is bit n, EN_FC0 bit 32. */
u64 model_uncore_bit(unsigned i)
{
	return i < UNCORE_FIXED ? BIT(i) : UNCORE_PERF_GLOBAL_CTRL_EN_FC0;
}

/* "Layout of MSR_UNCORE_FIXED_CTR_CTRL MSR". It counts the uncore's clock. */
static struct uncore_setting decode_fixed(const struct model_uncore *u)
{
	return (struct uncore_setting){
		.rule.kind = EK_REF_CYCLES,
		.rule.interrupt = u->fixed_ctr_ctrl & UNCORE_FIXED_CTR_CTRL_PMI,
		.enabled = u->fixed_ctr_ctrl & UNCORE_FIXED_CTR_CTRL_EN,
		.global = u->global_ctrl & model_uncore_bit(UNCORE_FIXED),
	};
}

/* "Layout of MSR_UNCORE_PERFEVTSELx". */
static struct uncore_setting decode_gp(const struct model_uncore *u, unsigned i)
{
	u64 select = u->perfevtsel[i];
	struct uncore_setting setting = {
		.rule.kind = EK_NONE,
		.rule.cmask = (u8)(select >> UNCORE_PERFEVTSEL_CMASK_SHIFT),
		.rule.edge = select & UNCORE_PERFEVTSEL_E,
		.rule.invert = select & UNCORE_PERFEVTSEL_INV,
		.rule.interrupt = select & UNCORE_PERFEVTSEL_PMI,
		.enabled = select & UNCORE_PERFEVTSEL_EN,
		.global = u->global_ctrl & model_uncore_bit(i),
	};

	for (size_t n = 0; n < sizeof(events) / sizeof(events[0]); n++)
		if (events[n].code == (u16)select)
			setting.rule.kind = events[n].kind;
	return setting;
}

/* "Uncore Performance Monitoring Management Facility": a counter counts if both its enables are
 * set. */
static void configure(struct model *m, struct model_uncore *u)
{
	bool watches = false;
	u64 active = 0;

	for (unsigned i = 0; i < UNCORE_COUNTERS; i++) {
		struct uncore_setting setting = i == UNCORE_FIXED ? decode_fixed(u) :
								    decode_gp(u, i);

		setting.counter = i;
		fault_uncore_setting(m, &setting);
		u->counter[i].rule = setting.rule;
		if (setting.enabled && setting.global && setting.rule.kind != EK_NONE) {
			active |= BIT(i);
			watches = watches || model_access_matters(&u->counter[i].rule);
		} else {
			u->counter[i].condition = false;
		}
	}
	__atomic_store_n(&u->watches, watches, __ATOMIC_RELEASE);
	store(&u->active, active);
}

bool model_uncore_has(enum model_reg reg)
{
	return reg >= MODEL_REG_UNCORE_GLOBAL_CTRL && reg <= MODEL_REG_UNCORE_PERFEVTSEL;
}

/* "Uncore Performance Monitoring Management Facility", Table 35-13. */
static u64 uncore_read_reg(const struct model_uncore *u, const struct msr_ref *p)
{
	switch (p->reg) {
	case MODEL_REG_UNCORE_GLOBAL_CTRL:
		return u->global_ctrl;
	case MODEL_REG_UNCORE_GLOBAL_STATUS:
		return u->global_status;
	case MODEL_REG_UNCORE_FIXED_CTR:
		return u->counter[UNCORE_FIXED].value;
	case MODEL_REG_UNCORE_FIXED_CTR_CTRL:
		return u->fixed_ctr_ctrl;
	case MODEL_REG_UNCORE_MATCH:
		return u->match;
	case MODEL_REG_UNCORE_PMC:
		return u->counter[p->i].value;
	case MODEL_REG_UNCORE_PERFEVTSEL:
		return u->perfevtsel[p->i];
	default:	/* MSR_UNCORE_PERF_GLOBAL_OVF_CTRL */
		return 0;
	}
}

u64 model_uncore_read(struct model *m, const struct msr_ref *p)
{
	struct model_uncore *u = uncore_enter(m);
	u64 value = uncore_read_reg(u, p);

	fault_uncore_read(m, u, p, value);
	uncore_leave(m, u);
	return value;
}

void model_uncore_clear(struct model *m, u64 bits)
{
	struct model_uncore *u = uncore_enter(m);

	u->global_status &= ~bits;
	uncore_leave(m, u);
}

/* "Uncore Performance Event Configuration Facility": counters of 48 bits. */
static u64 highest(struct model *m)
{
	return fault_uncore_width(m, BITS(0, UNCORE_WIDTH - 1));
}

/* "Layout of MSR_UNCORE_PERF_GLOBAL_OVF_CTRL MSR": a 1 clears the bit of the status. The
 * counters and their controls: "Uncore Performance Event Configuration Facility". */
void model_uncore_write(struct model *m, const struct msr_ref *p, u64 value)
{
	struct model_uncore *u = uncore_enter(m);

	switch (p->reg) {
	case MODEL_REG_UNCORE_GLOBAL_CTRL:
		u->global_ctrl = value;
		u->enabled_by = m->host->processor;
		break;
	case MODEL_REG_UNCORE_OVF_CTRL:
		u->global_status &= ~fault_uncore_clears(m, value);
		break;
	case MODEL_REG_UNCORE_FIXED_CTR:
		u->counter[UNCORE_FIXED].value = value & highest(m);
		break;
	case MODEL_REG_UNCORE_FIXED_CTR_CTRL:
		u->fixed_ctr_ctrl = value;
		break;
	case MODEL_REG_UNCORE_MATCH:
		u->match = value;
		break;
	case MODEL_REG_UNCORE_PMC:
		u->counter[p->i].value = value & highest(m);
		break;
	case MODEL_REG_UNCORE_PERFEVTSEL:
		/* The write resets the occupancy; the bit reads as 0. */
		u->perfevtsel[p->i] = value & ~UNCORE_PERFEVTSEL_OCC_CTR_RST;
		break;
	default:
		break;
	}
	configure(m, u);
	uncore_leave(m, u);
}

/* Set a state that firmware may leave, latitude dirty-msrs: programmed counters with any value,
 * all of them off. */
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

	if (!fault_uncore_shared(m, u && own_bit(m))) {
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
	uncore_leave(m, u);
}

/* ---- interrupts ---- */

/*
 * "Uncore counters may be programmed to interrupt one or more processor cores": EN_PMI_COREn of
 * MSR_UNCORE_PERF_GLOBAL_CTRL must select this processor's core, and its IA32_DEBUGCTL[13] must
 * be set.
 */
static bool takes(struct model *m, const struct model_uncore *u, unsigned processor)
{
	unsigned core = model_core_of(m, processor);
	u64 bit = core < SELECTABLE ? BIT(UNCORE_PERF_GLOBAL_CTRL_EN_PMI_CORE_SHIFT + core) : 0;
	struct uncore_listener listener = {
		.processor = processor,
		.selected = u->global_ctrl & bit, .listens = u->listens & bit_of(processor),
	};

	fault_uncore_listener(m, u, &listener);
	return listener.selected && listener.listens;
}

/* Bit n: processor n is interrupted. docs/READINGS.md, "Processor core n": each thread of a
 * core. */
static u64 audience(struct model *m, const struct model_uncore *u)
{
	u64 present = u == &m->uncore ? own_bit(m) : u->present, to = 0;

	for (u64 left = present; left; left &= left - 1)
		if (takes(m, u, (unsigned)__builtin_ctzll(left)))
			to |= left & -left;
	return to;
}

/*
 * "It is possible for interrupts posted from the uncore facility to occur coincident with counter
 * overflow interrupts from the processor core." That the interrupt sets Ovf_Uncore is inferred
 * from its name: docs/READINGS.md.
 */
void model_uncore_take(struct model *m)
{
	const struct model_uncore *now = model_uncore_of(m);
	unsigned times = 0, counter = 0;
	struct model_uncore *u;

	if (!(uncore_load(&now->signalled) & own_bit(m)))
		return;
	u = uncore_enter(m);
	if (u->signalled & own_bit(m)) {
		times = u->signal[m->host->processor].times;
		counter = u->signal[m->host->processor].counter;
		store(&u->signalled, u->signalled & ~own_bit(m));
	}
	uncore_leave(m, u);
	if (fault_uncore_shows(m, counter, times))
		m->global_status |= IA32_PERF_GLOBAL_STATUS_OVF_UNCORE;
	while (times--)
		model_request(m, ACTION_UNCORE_INT, counter);
}

/* An interrupt is signalled: freeze the counters (PMI_FRZ), and notify the cores. "Layout of
 * MSR_UNCORE_PERF_GLOBAL_CTRL MSR", and OVF_PMI of MSR_UNCORE_PERF_GLOBAL_STATUS. */
static void signal(struct model *m, struct model_uncore *u, unsigned i)
{
	struct uncore_pmi pmi = {
		.counter = i,
		.status = UNCORE_PERF_GLOBAL_STATUS_OVF_PMI,
		.stops = u->global_ctrl & UNCORE_PERF_GLOBAL_CTRL_PMI_FRZ ? ALL_ENABLES : 0,
		.to = audience(m, u),
		.times = 1,
	};

	fault_uncore_pmi(m, &pmi);
	u->global_status |= pmi.status;
	if (pmi.stops) {
		u->global_ctrl &= ~pmi.stops;
		configure(m, u);
	}
	for (u64 left = pmi.to; left; left &= left - 1) {
		unsigned processor = (unsigned)__builtin_ctzll(left);

		/* Two interrupts that haven't been taken yet stay two. */
		if (!(u->signalled & BIT(processor)))
			u->signal[processor].times = 0;
		if (u->signal[processor].times < MODEL_MAX_REQUESTS)
			u->signal[processor].times = (u8)(u->signal[processor].times + pmi.times);
		u->signal[processor].counter = (u8)i;
	}
	store(&u->signalled, u->signalled | pmi.to);
}

/* Counter i has overflowed: "Layout of MSR_UNCORE_PERF_GLOBAL_STATUS MSR". Its bit is set, and
 * CHG with any of them: docs/READINGS.md, "OVF_PMI and CHG". */
static void overflow(struct model *m, struct model_uncore *u, unsigned i, bool interrupt)
{
	struct uncore_overflow o = {
		.counter = i, .interrupt = interrupt,
		.status = model_uncore_bit(i) | UNCORE_PERF_GLOBAL_STATUS_CHG,
	};

	fault_uncore_overflow(m, &o);
	u->global_status |= o.status;
	if (o.interrupt)
		signal(m, u, i);
}

/* ---- counting ---- */

/* CMASK, INV and E as in the core: "Layout of MSR_UNCORE_PERFEVTSELx". */
static void uncore_count(struct model *m, struct model_uncore *u, const struct retire_ctx *s,
			 unsigned i)
{
	struct model_counter *c = &u->counter[i];
	/* A copy, because a freeze configures all rules again. */
	struct model_rule rule = c->rule;
	bool clock = rule.kind == EK_REF_CYCLES;
	u64 before = c->value, add, top = highest(m);

	add = clock ? 1 : model_access_count(m, s, rule.kind);
	add = fault_uncore_occurrences(m, u, add);
	add = model_increment(c, &rule, clock, add, s->cycles);
	c->value = (before + add) & top;
	if (before + add <= top)
		return;
	overflow(m, u, i, rule.interrupt);
	fault_uncore_overflowed(m, s);
}

/* Call processors that were signalled and may not use their model by themselves. */
static void uncore_call(struct model *m, u64 whom)
{
	for (u64 left = whom & ~own_bit(m); left && m->host->kick; left &= left - 1)
		m->host->kick(m->host->ctx, (unsigned)__builtin_ctzll(left));
}

/* Each instruction of any core is a tick: docs/READINGS.md, "The uncore's clock". */
void model_uncore_retire(struct model *m, struct retire_ctx *s)
{
	struct model_uncore *u = uncore_enter(m);
	u64 counting = u->active & m->uncore_before, before = u->signalled, whom;

	m->uncore_before = u->active;
	for (u64 left = counting; left; left &= left - 1)
		uncore_count(m, u, s, (unsigned)__builtin_ctzll(left));
	whom = u->signalled & ~before;
	uncore_leave(m, u);
	uncore_call(m, whom);
	model_uncore_take(m);
}
