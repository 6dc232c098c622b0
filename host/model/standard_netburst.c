/* SPDX-License-Identifier: MIT */
/* The standard program for the PMU of spec/netburst.def, on the two threads of a core. */
#include "host/model/netburst_fixture.h"
#include "host/model/standard_internal.h"
#include "spec/netburst.h"

#define OPERATIONS	40	/* in a round */
#define ENABLE		BIT(12)
#define ANY_THREAD	(3ULL << 16)

static struct netburst_fixture fixture;
static struct standard *s;
static unsigned threads, t;
static bool user;

static u64 below(u64 n)
{
	return standard_below(s, n);
}

static bool one_in(unsigned n)
{
	return standard_one_in(s, n);
}

static const struct {
	u32 address, cccr;
	u8 number, pool;
} counters[] = {
#define NB_COUNTER(name, number, address, cccr, cccr_address, pool, alternate, extended, source) \
	{ address, cccr_address, number, pool },
#include "spec/netburst.def"
};
#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

static const struct {
	u32 address;
	u8 select, pool;
} escrs[] = {
#define NB_ESCR(name, address, select, pool, source) { address, select, pool },
#include "spec/netburst.def"
};
#define ESCRS (sizeof(escrs) / sizeof(escrs[0]))

static const struct {
	u8 select;
	u32 escr[2];
} events[] = {
#define NB_EVENT(name, select, escr0, escr1, cccr_select, flags, source) \
	{ select, { MSR_NB_##escr0, MSR_NB_##escr1 } },
#include "spec/netburst.def"
};
#define EVENTS (sizeof(events) / sizeof(events[0]))

static const struct {
	u8 event;
	u64 mask;
} masks[] = {
#define NB_MASK(event, name, bit, thread, counts, source) { NB_EVENT_##event, BIT(bit) },
#include "spec/netburst.def"
};
#define MASKS (sizeof(masks) / sizeof(masks[0]))

static const struct {
	u64 enable, vert, mask, upstream_mask;
	u8 event, upstream, tag;
} metrics[] = {
#define NB_METRIC(name, event, downstream, upstream, upstream_mask, tag, pebs_enable, matrix_vert, \
		  counts, source) \
	{ pebs_enable, matrix_vert, downstream, upstream_mask, NB_EVENT_##event, \
	  NB_EVENT_##upstream, tag },
#include "spec/netburst.def"
};
#define METRICS (sizeof(metrics) / sizeof(metrics[0]))

static void write(u32 msr, u64 value)
{
	standard_see(s, nbfixture_wrmsr(&fixture, t, msr, value));
}

/* A counter that can select this ESCR. */
static size_t counter_of(size_t escr)
{
	size_t n = below(COUNTERS);

	while (counters[n].pool != escrs[escr].pool)
		n = (n + 1) % COUNTERS;
	return n;
}

static u64 a_value(void)
{
	return one_in(4) ? below(200) : -below(6) & BITS(0, 39);
}

/* A counter counts this event; further bits are set in its CCCR. */
static void program(unsigned event, u64 mask, u64 tag, u64 bits)
{
	u32 address = events[event].escr[below(2)];
	u64 flags = one_in(3) ? below(16) : 15;
	size_t escr = 0, n;

	while (escrs[escr].address != address)
		escr++;
	n = counter_of(escr);
	write(counters[n].cccr, 0);
	write(counters[n].address, a_value());
	write(address, (u64)events[event].select << 25 | mask << 9 | tag | flags);
	write(counters[n].cccr, (u64)escrs[escr].select << 13 | ENABLE | bits |
					(one_in(4) ? below(4) << 16 : ANY_THREAD));
}

static u64 cccr_bits(void)
{
	u64 bits = one_in(2) ? below(4) << 26 : 0;

	if (one_in(4)) {
		bits |= BIT(18) | below(4) << 20;
		bits |= below(2) << 19;
		bits |= below(2) << 24;
	}
	if (one_in(6))
		bits |= BIT(25 + 5 * below(2));
	if (one_in(8))
		bits |= BIT(11);
	return bits;
}

static void program_event(void)
{
	size_t m = below(MASKS);
	u64 mask = masks[m].mask, tag;

	if (one_in(3))
		mask |= below(0x10000);
	tag = one_in(6) ? BIT(4) | below(16) << 5 : 0;
	program(masks[m].event, mask, tag, cccr_bits());
}

static void program_metric(void)
{
	size_t m = below(METRICS);
	u64 sample = one_in(2) ? BIT(24) | BIT(25 + below(2)) : 0;
	u64 tag = metrics[m].tag ? BIT(4) | (u64)metrics[m].tag << 5 : 0;

	write(0x3f1, metrics[m].enable | sample);
	write(0x3f2, metrics[m].vert);
	if (metrics[m].upstream < EVENTS)
		program(metrics[m].upstream, metrics[m].upstream_mask, tag, 0);
	program(metrics[m].event, metrics[m].mask, 0, one_in(2) ? below(4) << 26 : 0);
}

/* IQ_COUNTER4 is the sampling counter. */
static void sample(void)
{
	static const u8 precise[] = { NB_EVENT_FRONT_END_EVENT, NB_EVENT_EXECUTION_EVENT,
				      NB_EVENT_REPLAY_EVENT };
	unsigned event = precise[below(3)];
	size_t m = below(METRICS);

	while (metrics[m].event != event)
		m = (m + 1) % METRICS;
	write(0x3f1, 0);
	if (metrics[m].upstream < EVENTS)
		program(metrics[m].upstream, metrics[m].upstream_mask,
			metrics[m].tag ? BIT(4) | (u64)metrics[m].tag << 5 : 0, 0);
	write(0x370, 0);
	write(0x310, -(1 + below(4)) & BITS(0, 39));
	write(0x3cc, (u64)events[event].select << 25 | metrics[m].mask << 9 |
			     (one_in(3) ? below(16) : 15));
	write(0x370, 5ULL << 13 | ENABLE | ANY_THREAD | (one_in(4) ? BIT(26) : 0));
	write(0x3f2, metrics[m].vert);
	write(0x3f1, metrics[m].enable | BIT(24) | (1 + below(3)) << 25);
}

static void write_a_register(void)
{
	static const u32 others[] = { 0x3f0, 0x3f1, 0x3f2, 0x600, 0x1a0, 0x1d9, 0x3ba, 0x3bb, 0x38d,
				      0x38f, 0x345 };
	u64 value = standard_wide(s);
	u32 msr;

	switch (below(4)) {
	case 0:
		msr = counters[below(COUNTERS)].address;
		value &= one_in(3) ? ~0ULL : BITS(0, 39);
		break;
	case 1:
		msr = counters[below(COUNTERS)].cccr;
		value &= one_in(3) ? BIT(below(64)) : 0xcfff3000 | ANY_THREAD;
		break;
	case 2:
		msr = escrs[below(ESCRS)].address;
		value &= one_in(3) ? BIT(below(64)) : BITS(0, 30);
		break;
	default:
		msr = others[below(sizeof(others) / sizeof(others[0]))];
		value = msr == 0x600 ? NBFIXTURE_DS(t) :
			msr == 0x1a0 ? fixture.m[t].misc_enable ^ BIT(below(40)) :
			one_in(2)    ? BIT(below(64)) :
				       value & BITS(0, 26);
	}
	write(msr, value);
}

static u64 an_address(void)
{
	switch (below(4)) {
	case 0:
		return NBFIXTURE_DATA + 8 * below(64);
	case 1:
		return NBFIXTURE_DATA + 0x3c;
	case 2:
		return 0x40000000 + 4096 * below(300);
	default:
		return 0x60000000 + 32768 * below(20);
	}
}

static void accesses(void)
{
	unsigned n = 1 + (unsigned)below(6);
	u64 linear = an_address();
	bool store = one_in(3), same = one_in(2);

	while (n--) {
		u16 bytes = one_in(4) ? 16 : 8;
		struct model_retired i = {
			.loads = !store, .stores = store, .n_access = 1,
			.access = { { same ? linear : an_address(), bytes, store, false } },
		};

		nbfixture_retire(&fixture, t, user, &i);
	}
}

static void branches(void)
{
	unsigned n = 1 + (unsigned)below(5);
	enum model_branch branch = (enum model_branch)(1 + below(BRANCH_FAR));
	bool taken = one_in(2) || branch != BRANCH_CONDITIONAL;

	while (n--) {
		struct model_retired i = { .branch = branch, .taken = taken };

		nbfixture_retire(&fixture, t, user, &i);
	}
}

static void an_operation(void)
{
	unsigned records, threshold;

	if (one_in(4))
		t = (unsigned)below(threads);
	if (one_in(5))
		user = one_in(2);
	if (one_in(40))
		fixture.legacy = !fixture.legacy;
	switch (below(16)) {
	case 0:
	case 1:
		program_event();
		break;
	case 2:
		program_metric();
		break;
	case 3:
	case 4:
		sample();
		break;
	case 5:
		write_a_register();
		break;
	case 6:
		records = (unsigned)below(8);
		threshold = (unsigned)below(8);
		nbfixture_ds(&fixture, records, threshold, -(1 + below(4)) & BITS(0, 39));
		break;
	case 7:
		model_halt(&fixture.m[t]);
		if (one_in(2))
			model_resumed(&fixture.m[t], user ? 3 : 0);
		break;
	case 8:
	case 9:
		nbfixture_nops(&fixture, t, user, 1 + (unsigned)below(12));
		break;
	case 10:
		branches();
		break;
	case 11:
	case 12:
		nbfixture_compute(&fixture, t, user,
				  (enum model_arithmetic)(1 + below(ARITHMETIC_X87)));
		break;
	case 13: {
		struct model_retired i = { .act = ACT_DRAIN };

		nbfixture_retire(&fixture, t, user, &i);
		break;
	}
	default:
		accesses();
	}
	standard_see(s, model_needs_retire(&fixture.m[t]));
}

static void see_register(u32 msr)
{
	struct msr_result result = model_rdmsr(&fixture.m[t], msr);

	standard_see(s, result.status == MSR_DONE ? result.value : 0xbad0000 + (u64)result.status);
}

static void look(void)
{
	unsigned was = t;

	for (t = 0; t < threads; t++) {
		for (u32 msr = 0x300; msr < 0x3f4; msr++)
			see_register(msr);
		see_register(0x1a0);
		see_register(0x600);
		see_register(0x1d9);
		for (u32 n = 0; n < 20; n++) {
			struct msr_result fast = model_rdpmc(&fixture.m[t], n);
			struct msr_result low = model_rdpmc(&fixture.m[t], (u32)BIT(31) + n);

			standard_see(s, (u64)fast.status << 60 ^ fast.value);
			standard_see(s, (u64)low.status << 60 ^ low.value);
			standard_see(s, model_rdpmc(&fixture.m[t], 32 + n).status);
			standard_see(s, model_rdpmc(&fixture.m[t], (u32)BIT(30) + n).status);
		}
		for (u32 leaf = 0; leaf < 11; leaf++) {
			u32 regs[4] = { 0x16, 0x756e6547, 0xffffffff, 0x0fffffff };

			model_cpuid(&fixture.m[t], leaf, 0, regs);
			standard_see_bytes(s, regs, sizeof(regs));
		}
		standard_see(s, fixture.requests[t]);
	}
	t = was;
	standard_see_bytes(s, fixture.memory, sizeof(fixture.memory));
}

void standard_netburst_open(struct standard *of, const struct model_config *config)
{
	s = of;
	threads = config->hyper_threading ? 2 : 1;
	t = 0;
	user = false;
	nbfixture_open_config(&fixture, config, threads == 2);
	nbfixture_ds(&fixture, 6, 4, -2ULL & BITS(0, 39));
}

void standard_netburst_round(struct standard *of)
{
	s = of;
	program_event();
	sample();
	for (unsigned n = 0; n < OPERATIONS; n++)
		an_operation();
	look();
}
