/* SPDX-License-Identifier: MIT */
/* The program of standard_program.h. The next operation never depends on an observation. */
#include "host/model/standard_internal.h"

#include "host/model/fixture.h"

#define PROCESSORS	4
#define CORES		4	/* without Hyper-Threading */
#define OPERATIONS	40	/* in a round */
#define FAR		0x500000ULL	/* memory that no other operation uses */

static struct fixture processors[PROCESSORS], *r;
static size_t turn;	/* event that was used in the last turn */
static struct model_core cores[CORES];
static struct model_uncore uncore;
static struct standard standard;
static enum generation_id generation;

static u64 below(u64 n)
{
	return standard_below(&standard, n);
}

static bool one_in(unsigned n)
{
	return standard_one_in(&standard, n);
}

static void see(u64 value)
{
	standard_see(&standard, value);
}

static void see_bytes(const void *from, size_t bytes)
{
	standard_see_bytes(&standard, from, bytes);
}

/* ---- registers ---- */

static const struct {
	u32 msr;
	u64 legal, reserved;
} registers[] = {
	{ MSR_IA32_PMC0, 0x7fffffff, 0 },
	{ MSR_IA32_PMC0 + 1, 0xffffffff, 0 },
	{ MSR_IA32_A_PMC0, BITS(0, 47), BIT(60) },
	{ MSR_IA32_A_PMC0 + 3, BITS(0, 47), BIT(48) },
	{ MSR_IA32_PERFEVTSEL0, BITS(0, 31), BIT(40) },
	{ MSR_IA32_PERFEVTSEL0 + 2, BITS(0, 33), BIT(34) },
	{ MSR_IA32_FIXED_CTR0, BITS(0, 47), BIT(48) },
	{ MSR_IA32_FIXED_CTR0 + 1, BITS(0, 47), BIT(63) },
	{ MSR_IA32_FIXED_CTR0 + 2, BITS(0, 47), BIT(50) },
	{ MSR_IA32_FIXED_CTR_CTRL, 0xfff, BIT(12) },
	{ MSR_IA32_PERF_GLOBAL_CTRL, 0x70000000f, BIT(35) },
	{ MSR_IA32_PERF_GLOBAL_STATUS, 0, BIT(0) },
	{ MSR_IA32_PERF_GLOBAL_OVF_CTRL, 0xe00000070000000f, BIT(35) },
	{ MSR_IA32_PEBS_ENABLE, 0x800000000000000f, BIT(62) },
	{ MSR_IA32_PEBS_ENABLE, 0xf0000000f, BIT(36) },
	{ MSR_PEBS_LD_LAT_THRESHOLD, 0xffff, BIT(16) },
	{ MSR_IA32_DS_AREA, 0x3fff, BIT(63) },
	{ MSR_IA32_DEBUGCTL, 0x7fc3, BIT(16) },
	{ MSR_IA32_MISC_ENABLE, 0x1880, 0 },
	{ MSR_OFFCORE_RSP_0, BITS(0, 37), BIT(38) },
	{ MSR_OFFCORE_RSP_1, BITS(0, 37), BIT(38) },
	{ MSR_IA32_PERF_CAPABILITIES, 0, BIT(0) },
	{ MSR_UNCORE_PERF_GLOBAL_CTRL, BIT(63) | BITS(48, 51) | BIT(32) | 0xff, BIT(33) },
	{ MSR_UNCORE_PERF_GLOBAL_STATUS, 0, BIT(0) },
	{ MSR_UNCORE_PERF_GLOBAL_OVF_CTRL, BIT(63) | BIT(61) | BIT(32) | 0xff, BIT(20) },
	{ MSR_UNCORE_FIXED_CTR0, BITS(0, 47), BIT(48) },
	{ MSR_UNCORE_FIXED_CTR_CTRL, 5, BIT(1) },
	{ MSR_UNCORE_PMC0, BITS(0, 47), BIT(48) },
	{ MSR_UNCORE_PMC0 + 3, BITS(0, 47), BIT(50) },
	{ MSR_UNCORE_PERFEVTSEL0, 0xff7effff, BIT(16) },
	{ MSR_UNCORE_PERFEVTSEL0 + 3, 0xff7effff, BIT(32) },
};
#define REGISTERS (sizeof(registers) / sizeof(registers[0]))

static void see_register(u32 msr)
{
	struct msr_result result = model_rdmsr(&r->m, msr);

	see(result.status == MSR_DONE ? result.value : 0xbad0000ULL + (u64)result.status);
}

static void write(u32 msr, u64 value)
{
	see(fixture_wrmsr(r, msr, value));
}

static void look(void)
{
	struct fixture *was = r;

	for (unsigned t = 0; t < PROCESSORS; t++) {
		r = &processors[t];
		for (size_t i = 0; i < REGISTERS; i++)
			see_register(registers[i].msr);
		for (u32 n = 0; n < 4; n++) {
			see_register(MSR_IA32_PMC0 + n);
			see_register(MSR_IA32_PERFEVTSEL0 + n);
			see(model_rdpmc(&r->m, n).value);
			see(model_rdpmc(&r->m, (u32)BIT(30) + n).value);
		}
	}
	r = was;
}

/* The interrupts since the last call. */
static void look_at_interrupts(void)
{
	for (unsigned t = 0; t < PROCESSORS; t++) {
		struct fixture *p = &processors[t];

		for (unsigned i = 0; i < p->n_actions; i++)
			see(p->action[i].at << 8 | (u64)p->action[i].action << 4 |
			    p->action[i].counter);
		for (unsigned i = 0; i < p->n_interrupts; i++) {
			see((u64)p->interrupt[i].kind << 8 | p->interrupt[i].vector);
			see(p->interrupt[i].status);
			see(p->interrupt[i].index);
			see(p->interrupt[i].at);
		}
		see(p->lvtpc);
		see(p->ip);
		see_bytes(p->regs.gpr, sizeof(p->regs.gpr));
		see_bytes(p->memory, sizeof(p->memory));
		p->n_actions = p->n_interrupts = 0;
	}
}

static void look_at_cpuid(void)
{
	static const u32 leaves[] = { 0, 1, 2, 4, 6, 7, 0xa, 0xb, 0xd, 0x80000001, 0x80000007 };

	for (unsigned i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {
		u32 regs[4] = { 0x16, 0x756e6547, 0xffffffff, 0x0fffffff };

		model_cpuid(&r->m, leaves[i], 0, regs);
		see_bytes(regs, sizeof(regs));
	}
	see(model_microcode(&r->m, true));
	see(model_microcode(&r->m, false));
	for (u32 n = 0; n < 16; n++) {
		struct msr_result result = model_rdpmc(&r->m, n);

		see((u64)result.status);
		see_register(MSR_IA32_PMC0 + n);
		see_register(MSR_IA32_A_PMC0 + n);
		see_register(MSR_IA32_PERFEVTSEL0 + n);
		see_register(MSR_IA32_FIXED_CTR0 + n);
	}
	see_register(0x9c);
	see_register(0x3fd);
}

/* ---- what a program sets up ---- */

static const struct {
	u32 gens;
	u16 code, flags, counters;
} events[] = {
#define EVENT_ON(gens, name, flags, counters, sure, min_period, period_unit, source) \
	{ gens, EVENT_##name, flags, counters },
#include "spec/event.def"
};
#define EVENTS (sizeof(events) / sizeof(events[0]))

/* Not drawn: micro-operations, which test_model_counter.c and test_model_pebs.c have, and the
 * last-level cache: rules/memory.c. */
static bool is_drawn(size_t e)
{
	return events[e].gens & GENS_TO_BDW && events[e].code != EVENT_UOPS_RETIRED_ALL &&
	       events[e].code != EVENT_LONGEST_LAT_CACHE_REFERENCE &&
	       events[e].code != EVENT_LONGEST_LAT_CACHE_MISS;
}

/* Row n of the rows for the program's generations; rows of other generations don't change the
 * draws. */
static size_t nth_event(u64 n)
{
	size_t e = 0;

	while (e < EVENTS && (!is_drawn(e) || n--))
		e++;
	return e;
}

static size_t an_event(u16 flags)
{
	size_t e = 0, drawn = 0;

	while (nth_event(drawn) < EVENTS)
		drawn++;
	for (unsigned tries = 0; tries < 200; tries++) {
		e = nth_event(below(drawn));
		if (events[e].gens & BIT(generation) && (events[e].flags & flags) == flags)
			break;
	}
	return e;
}

static u64 small(void)
{
	return one_in(3) ? below(200) : below(6);
}

static void set_counter(unsigned n, u64 value)
{
	if (one_in(4) || fixture_wrmsr(r, MSR_IA32_A_PMC0 + n, value & BITS(0, 47)) != MSR_DONE)
		write(MSR_IA32_PMC0 + n, value & BITS(0, 31));
}

static u64 levels(void)
{
	return one_in(4) ? (1 + below(3)) << IA32_PERFEVTSEL_USR_SHIFT :
			   IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_OS;
}

static void program_counter(void)
{
	unsigned n = (unsigned)below(4);
	u64 select = events[an_event(0)].code;

	select |= levels();
	if (one_in(2))
		select |= IA32_PERFEVTSEL_INT;
	if (one_in(5))
		select |= below(4) << 24;
	if (one_in(5))
		select |= IA32_PERFEVTSEL_E;
	if (one_in(5))
		select |= IA32_PERFEVTSEL_INV;
	if (one_in(5))
		select |= IA32_PERFEVTSEL_ANY;
	if (one_in(4) && generation >= GEN_HASWELL)
		select |= BIT(32 + below(2));
	if (!one_in(12))
		select |= IA32_PERFEVTSEL_EN;
	write(MSR_IA32_PERFEVTSEL0 + n, 0);
	set_counter(n, -small());
	write(MSR_IA32_PERFEVTSEL0 + n, select);
}

static void program_fixed(void)
{
	u32 n = (u32)below(3);

	write(MSR_IA32_FIXED_CTR0 + n, -small() & BITS(0, 47));
	write(MSR_IA32_FIXED_CTR_CTRL, one_in(2) ? 0xbbb : below(0x1000));
}

static size_t a_precise_event(void)
{
	static const u16 kinds[] = { EV_PEBS, EV_PEBS, EV_PEBS, EV_DLA, EV_LL, EV_PS, EV_PDIR,
				     EV_PEBS | EV_TSX };

	return an_event(kinds[below(sizeof(kinds) / sizeof(kinds[0]))]);
}

/* Each precise event has its turn, because a single one would seldom be drawn. */
static size_t next_precise_event(void)
{
	do
		turn = (turn + 1) % EVENTS;
	while (!is_drawn(turn) ||
	       !(events[turn].gens & BIT(generation) && events[turn].flags & EV_PEBS));
	return turn;
}

/* A counter makes records of this event. */
static void program_pebs(size_t e)
{
	unsigned n = (unsigned)below(4);
	u64 value = -(one_in(4) ? small() : 1 + below(3)) & BITS(0, 47), enable = BIT(n);
	u64 select = events[e].code | levels() | IA32_PERFEVTSEL_EN;

	while (!(events[e].counters & BIT(n)))
		n = (n + 1) % 8;
	enable = BIT(n);
	if (events[e].flags & EV_LL)
		enable |= BIT(32 + n);
	if (events[e].flags & EV_PS)
		enable |= BIT(63);
	if (one_in(3))
		enable |= r->m.pebs_enable;
	write(MSR_PEBS_LD_LAT_THRESHOLD, one_in(3) ? below(0x40) : 3 + below(5));
	write(MSR_IA32_PERFEVTSEL0 + n, 0);
	set_counter(n, value);
	if (one_in(3))
		select |= IA32_PERFEVTSEL_INT;
	if (one_in(6) && generation >= GEN_HASWELL)
		select |= BIT(32);
	write(MSR_IA32_PERFEVTSEL0 + n, select);
	fixture_set_reset(r, n, value);
	write(MSR_IA32_PEBS_ENABLE, enable);
}

static void start(void)
{
	write(MSR_IA32_PERF_GLOBAL_CTRL,
	      one_in(6) ? BITS(0, 3) & below(16) : BITS(0, 3) | BITS(32, 34));
}

static void program_ds(void)
{
	unsigned records = (unsigned)below(10), threshold = (unsigned)below(10);
	u64 far = BIT(40);	/* only the upper halves differ */

	if (threshold == 7) {	/* the memory changes, IA32_DS_AREA doesn't */
		fixture_poke(r, FIXTURE_DS + 0x30, FIXTURE_BUFFER + records * r->record);
		fixture_poke(r, FIXTURE_DS + 0x38, FIXTURE_BUFFER + records / 2 * r->record);
		return;
	}
	fixture_ds(r, records, threshold);
	if (records == 9)
		fixture_poke(r, FIXTURE_DS + 0x30, FIXTURE_BUFFER + far);
	if (threshold == 9)
		fixture_poke(r, FIXTURE_DS + 0x38, FIXTURE_BUFFER + far);
	if (records == 8 && threshold == 8) {
		fixture_poke(r, FIXTURE_DS + 0x20, FIXTURE_BUFFER + far);
		fixture_poke(r, FIXTURE_DS + 0x30, FIXTURE_BUFFER + 2 * far);
	}
	for (unsigned n = 0; n < 4; n++)
		if (one_in(2))
			fixture_set_reset(r, n, -small() & BITS(0, 47));
	if (one_in(6)) {	/* after its end, before its base, across a page */
		static const u64 at[] = { 0x800, 0xf80, 0xff8, 0x1f80, 0x1000 };

		fixture_poke(r, FIXTURE_DS + 0x28, FIXTURE_BUFFER + at[below(5)] - 0x800);
	}
}

static void write_a_register(void)
{
	size_t i = below(REGISTERS);
	u64 value = standard_wide(&standard);

	if (registers[i].msr == MSR_IA32_DS_AREA)
		value = one_in(3) ? value : FIXTURE_DS;
	else if (registers[i].msr == MSR_IA32_MISC_ENABLE)
		value = (r->m.misc_enable ^ (one_in(2) ? 0 : BIT(below(40))));
	else if (one_in(3))
		value = (value & registers[i].legal) ^ registers[i].reserved;
	else
		value &= registers[i].legal;
	write(registers[i].msr, value);
	see_register(registers[i].msr);
}

static void clear_status(void)
{
	u64 status = model_rdmsr(&r->m, MSR_IA32_PERF_GLOBAL_STATUS).value;

	see(status);
	write(MSR_IA32_PERF_GLOBAL_OVF_CTRL,
	      one_in(3) ? BIT(below(4)) : BITS(0, 3) | BITS(32, 34) | BIT(62) | BIT(63));
}

static void program_freezing(void)
{
	u64 bit = BIT(11 + below(4)), other = BIT(11 + below(4));

	write(MSR_IA32_DEBUGCTL, bit | other);
}

static void program_offcore(void)
{
	u64 request = one_in(2) ? BITS(0, 15) : BIT(below(16));
	u64 from = BIT(16 + below(22)), snoop = BIT(16 + below(22));
	u64 response = one_in(2) ? BITS(16, 37) : from | snoop;
	u32 msr = one_in(2) ? MSR_OFFCORE_RSP_0 : MSR_OFFCORE_RSP_1;

	if (generation < GEN_SANDYBRIDGE)
		response &= BITS(8, 15) | BITS(16, 37);
	write(msr, generation < GEN_SANDYBRIDGE ? (one_in(2) ? 0xffff : below(0x10000)) :
						  request | response);
}

static void program_uncore(void)
{
	u32 n = (u32)below(8);
	u64 select = BIT(22), core;
	static const u8 codes[] = { 0x00, 0x02, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x20, 0x27 };

	if (one_in(2)) {
		write(MSR_UNCORE_FIXED_CTR0, -small() & BITS(0, 47));
		write(MSR_UNCORE_FIXED_CTR_CTRL, one_in(4) ? below(8) & 5 : 5);
	} else {
		write(MSR_UNCORE_PMC0 + n, -small() & BITS(0, 47));
		select |= codes[below(sizeof(codes))];
		select |= BIT(8 + below(8));
		select |= one_in(4) ? 0 : BIT(20);
		select |= one_in(5) ? BIT(17 + below(2)) : 0;
		select |= one_in(5) ? below(4) << 24 | BIT(23) : 0;
		write(MSR_UNCORE_PERFEVTSEL0 + n, select);
	}
	core = BIT(48 + below(4));
	write(MSR_UNCORE_PERF_GLOBAL_CTRL, BITS(0, 7) | BIT(32) | core | (one_in(2) ? BIT(63) : 0));
	if (!one_in(3))
		write(MSR_IA32_DEBUGCTL, BIT(13) | (one_in(3) ? BIT(12) : 0));
	if (one_in(4))
		write(MSR_UNCORE_PERF_GLOBAL_OVF_CTRL, BITS(0, 7) | BIT(32) | BIT(61) | BIT(63));
}

/* ---- instructions ---- */

static u64 an_address(void)
{
	switch (below(8)) {
	case 0:
		return FIXTURE_MEMORY_BASE + 0x3000 + 8 * below(64);
	case 1:
		return FIXTURE_MEMORY_BASE + 0x303c;		/* across a line */
	case 2:
		return FIXTURE_MEMORY_BASE + 0x2ffc;		/* across a page */
	case 3:
		return FAR + 64 * below(4);
	case 4:
		return FAR + 4096 * below(600);
	case 5:
		return FAR + 32768 * below(16) + 0x10000000;
	case 6:
		return FAR + 0x20000000 + (below(4) << 34);
	default:
		return FIXTURE_MEMORY_BASE + 0x3008;
	}
}

static void retire(struct model_retired *i)
{
	i->compatibility = r->cpl && one_in(20);
	fixture_retire(r, i);
	see(model_stolen_tsc(&r->m));
}

static void access(u64 linear, bool store, bool locked, u16 bytes)
{
	struct model_retired i = {
		.loads = !store || locked, .stores = store || locked, .locked_loads = locked,
		.n_access = 1, .access = { { linear, bytes, store && !locked, locked } },
	};

	if (locked)
		i.access[i.n_access++] = (struct model_access){ linear, bytes, true, true };
	retire(&i);
}

static void accesses(void)
{
	unsigned n = 1 + (unsigned)below(6);
	u64 linear = an_address();
	bool store = one_in(3), locked = one_in(6), same = one_in(2);
	u16 bytes = (u16)(one_in(3) ? 1U << below(6) : 8U);

	while (n--)
		access(same ? linear : an_address(), store, locked, bytes);
}

/* This processor reads lines that another one has just got, clean or modified. */
static void lines_of_another_processor(void)
{
	struct fixture *was = r, *other = &processors[below(PROCESSORS)];
	unsigned n = 4 + (unsigned)below(12);
	u64 linear = one_in(4) ? an_address() : FAR + 64 * below(16384);
	bool store = one_in(2);

	for (; n; n--, linear += 64) {
		r = other;
		access(linear, store, false, 8);
		r = was;
		access(linear, false, false, 8);
	}
}

/* A REP string of loads and stores; access[] holds only its last ones. */
static void a_string(void)
{
	struct model_retired i = { 0 };
	unsigned n = (unsigned)below(14);
	u64 linear = an_address();

	for (unsigned k = 0; k < n; k++) {
		if (i.n_access == MODEL_MAX_ACCESSES) {
			model_spill_access(&r->m, &i, &i.access[0]);
			memmove(&i.access[0], &i.access[1], sizeof(i.access) - sizeof(i.access[0]));
			i.n_access--;
		}
		i.access[i.n_access++] = (struct model_access){ linear + 8 * k, 8, k & 1, false };
		i.loads += !(k & 1);
		i.stores += k & 1;
	}
	retire(&i);
}

static void branches(void)
{
	unsigned n = 1 + (unsigned)below(5);
	enum model_branch branch = (enum model_branch)(1 + below(BRANCH_FAR));
	bool taken = one_in(2) || branch != BRANCH_CONDITIONAL;

	while (n--)
		retire(&(struct model_retired){ .branch = branch, .taken = taken,
						.loads = branch == BRANCH_RETURN,
						.stores = branch == BRANCH_CALL });
}

static void an_act(void)
{
	enum memory_act act = (enum memory_act)(1 + below(MEMORY_ACTS - 1));

	retire(&(struct model_retired){ .act = act, .act_linear = an_address() });
}

static void a_cancelled_load(void)
{
	struct model_retired i = { .ip = r->ip, .cpl = r->cpl, .loads = 1, .n_access = 1,
				   .access = { { an_address(), 8, false, false } },
				   .before = r->regs, .after = r->regs };

	model_cancel(&r->m, &i);
}

static void nops(unsigned n)
{
	while (n--)
		retire(&(struct model_retired){ .branch = BRANCH_NONE });
}

static void abort_for(enum tx_cause cause)
{
	model_tx_abort(&r->m, cause, (u8)below(256), r->ip, r->cpl);
}

static void a_transaction(void)
{
	struct model_registers before = r->regs;
	enum tx_cause cause = TX_FINE;

	if (!model_has_tx(&r->m) || model_in_tx(&r->m))
		return;
	fixture_retire(r, &(struct model_retired){ .tx = TX_STARTS });
	model_tx_begin(&r->m, &before, 0x600000);
	for (unsigned n = (unsigned)below(6); n && model_in_tx(&r->m) && cause == TX_FINE; n--) {
		u64 linear = FIXTURE_MEMORY_BASE + 0x3000 + 8 * below(64);
		bool store = one_in(2);

		cause = model_tx_access(&r->m, linear, 8, store);
		if (cause == TX_FINE && store)
			fixture_poke(r, linear, random_next(&standard.stream));
		if (cause == TX_FINE)
			access(linear, store, false, 8);
	}
	see((u64)cause);
	if (model_in_tx(&r->m) && (cause != TX_FINE || one_in(2)))
		abort_for(cause != TX_FINE ? cause : (enum tx_cause)(1 + below(TX_FORCED - 1)));
	if (!model_in_tx(&r->m))
		return;
	if (model_tx_may_end(&r->m) != TX_FINE) {
		abort_for(model_tx_may_end(&r->m));
		return;
	}
	fixture_retire(r, &(struct model_retired){ .tx = TX_COMMITS });
	model_tx_end(&r->m);
}

static void an_operation(void)
{
	if (one_in(6))
		r = &processors[one_in(3) ? below(PROCESSORS) : 0];
	if (one_in(6))
		r->cpl = one_in(2) ? 3 : 0;
	switch (below(24)) {
	case 0:
		program_counter();
		break;
	case 1:
		program_fixed();
		break;
	case 2:
	case 3:
		program_pebs(a_precise_event());
		break;
	case 4:
		start();
		break;
	case 5:
		program_ds();
		break;
	case 6:
		write_a_register();
		break;
	case 7:
		clear_status();
		break;
	case 8:
		if (generation < GEN_SANDYBRIDGE)
			program_uncore();
		else
			program_freezing();
		break;
	case 9:
		program_offcore();
		break;
	case 10:
		fixture_write_lvtpc(r, one_in(4) ? 0x400 : one_in(4) ? BIT(16) : FIXTURE_VECTOR);
		break;
	case 11:
		model_halt(&r->m);
		model_resumed(&r->m, r->cpl);
		break;
	case 12:
	case 13:
		nops(1 + (unsigned)below(30));
		break;
	case 14:
	case 15:
		branches();
		break;
	case 16:
		a_string();
		break;
	case 17:
		an_act();
		break;
	case 18:
		a_transaction();
		break;
	case 19:
		a_cancelled_load();
		break;
	case 20:
	case 21:
		lines_of_another_processor();
		break;
	default:
		accesses();
	}
	see(model_needs_retire(&r->m));
	see(model_counts_reference(&r->m));
}

void standard_open(const struct standard_difference *where, enum fault_id fault,
		   const struct fault_when *when)
{
	const struct model_config config = {
		.generation = where->generation, .hyper_threading = where->seed % 2 == 0,
		.fault = fault, .when = *when,
		.latitude = { .set = BIT(LAT_TAG_GAP), .value[LAT_TAG_GAP] = 0 },
	};

	generation = where->generation;
	turn = where->seed * STANDARD_ROUNDS % EVENTS;
	standard_begin(&standard, where->seed);
	if (generation == GEN_NETBURST) {
		standard_netburst_open(&standard, &config);
		return;
	}
	fixture_open_package(processors, PROCESSORS, cores, &uncore, &config);
	for (unsigned t = 0; t < PROCESSORS; t++) {
		r = &processors[t];
		r->unmasks = t % 2;
		fixture_ds(r, 8, 4);
	}
	r = &processors[0];
	look_at_cpuid();
}

u64 standard_round(void)
{
	if (generation == GEN_NETBURST) {
		standard_netburst_round(&standard);
		return standard.seen;
	}
	program_counter();
	program_pebs(next_precise_event());
	start();
	for (unsigned n = 0; n < OPERATIONS; n++)
		an_operation();
	look();
	look_at_interrupts();
	return standard.seen;
}
