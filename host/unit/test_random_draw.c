/* SPDX-License-Identifier: MIT */
/* Drawn cases: the same number gives the same case, each case is legal, and its trace is
 * consistent. */
#include "host/check.h"
#include "host/random_env.h"
#include "pmu/version6/version6.h"
#include "tests/random/buffer.h"
#include "spec/adaptive.h"
#include "spec/msr.h"
#include "tests/random/prng.h"

#define CASES 3000

/* SplitMix64 from 0: the values that Vigna's reference gives. */
static void prng_gives_the_published_values(void)
{
	struct prng p = { 0 };

	CHECK_EQ(0xe220a8397b1dcdafULL, prng_next(&p));
	CHECK_EQ(0x6e789e6aa1b965f4ULL, prng_next(&p));
	CHECK_EQ(0x06c45d188009454fULL, prng_next(&p));
}

static void streams_and_cases_differ(void)
{
	struct prng a = prng_begin(1, 0, 0), b = prng_begin(1, 1, 0), c = prng_begin(1, 0, 1);
	struct prng d = prng_begin(2, 0, 0), again = prng_begin(1, 0, 0);
	u64 first = prng_next(&a);

	CHECK(first != prng_next(&b));
	CHECK(first != prng_next(&c));
	CHECK(first != prng_next(&d));
	CHECK_EQ(first, prng_next(&again));
	CHECK_EQ(0, prng_below(&a, 0));
}

static struct trace trace;

static void check_counters(const struct draw_env *env, const struct draw_case *c, u64 number)
{
	u64 legal = BITS(0, 17) | IA32_PERFEVTSEL_E | IA32_PERFEVTSEL_INT | IA32_PERFEVTSEL_EN |
		    IA32_PERFEVTSEL_INV | BITS(24, 31);

	if (env->adaptive.baseline)
		legal |= IA32_PERFEVTSEL_ADAPTIVE;
	for (unsigned i = 0; i < DRAW_GP; i++) {
		CHECK_EQ(0, c->select[i] & ~legal, "select of case %" PRIu64, number);
		CHECK_EQ(0, c->preset[i] >> env->gp_width, "preset of case %" PRIu64, number);
		CHECK(draw_has_general(env, i) || !c->select[i]);
	}
	CHECK_EQ(0, c->global & ~(BITS(0, 3) | BITS(32, 34)), "case %" PRIu64, number);
	CHECK_EQ(0,
		 c->fixed_control & ~(env->adaptive.baseline ? 0xbbbULL | 0x111ULL << 32 : 0xbbb),
		 "case %" PRIu64, number);
	CHECK_EQ(0, c->pebs_enable & ~(env->adaptive.baseline ? BITS(0, 3) | BITS(32, 34) : 0xf),
		 "case %" PRIu64, number);
	if (c->ds.used) {
		CHECK(c->ds.index >= 0 && c->ds.index <= c->ds.maximum);
		CHECK(c->ds.maximum <=
		      7 * (env->adaptive.baseline ? (int)draw_adaptive_bytes(c->ds.config) : 0xc0));
		CHECK(c->ds.base + c->ds.maximum + RECORD_ADAPTIVE_MAX_SIZE <= BUFFER_BYTES);
	}
}

static void check_arch(const struct draw_env *env, const struct draw_case *c, u64 number)
{
	const u64 enable = IA32_PMC_GP0_CFG_C_PEBS_EN, legal = enable | env->arch.groups;
	const u64 size = (u64)ARCH_PEBS_LEAST_BUFFER << c->arch.size;

	CHECK_EQ(c->class == DRAW_ARCH, c->arch.used, "case %" PRIu64, number);
	if (!c->arch.used)
		return;
	CHECK(c->arch.write * ARCH_PEBS_UNIT <= size && c->arch.write < c->arch.threshold);
	CHECK(c->arch.writes < DRAW_ARCH_RUNS);
	for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
		bool may = env->arch.pebs >> draw_status_bit(i) & 1;
		u64 config = c->arch.config[i];

		CHECK(may || !config);
		CHECK_EQ(0, config & ~legal & BITS(32, 63), "CFG_C of case %" PRIu64, number);
		/* The bits above the loaded value are ones, whatever its meaning. */
		CHECK(!(config & enable) || config & BIT(31));
	}
	for (unsigned i = 0; i < DRAW_OPERATIONS; i++)
		if (c->operation[i].msr == MSR_IA32_PEBS_INDEX && c->operation[i].low)
			CHECK((c->operation[i].low & IA32_PEBS_INDEX_WR) < size);
}

/* Each instruction follows the previous one, except after a branch; no instruction occurs twice. */
static void check_trace(const struct draw_case *c, u64 number)
{
	CHECK(!strcmp(piece_get(c->piece[0])->name, "start"));
	CHECK(!strcmp(piece_get(c->piece[c->pieces - 1])->name, "stop"));
	CHECK(trace.step[trace.steps - 1].row->flags & ROW_STOP);
	for (unsigned i = 0; i + 1 < trace.steps; i++) {
		const struct trace_step *step = &trace.step[i];
		bool jumps = step->row->flags & (ROW_TAKEN | ROW_FAR | ROW_REFUSED);

		if (!step->ip || !step[1].ip)
			continue;
		CHECK_EQ(i, (u64)trace_find(&trace, step->ip), "case %" PRIu64, number);
		if (!jumps)
			CHECK_EQ(step->ip + step->row->length, step[1].ip, "case %" PRIu64, number);
		if (step->row->loads > 1)
			CHECK(step->row->load.base != AT_NONE);
	}
}

static void check_branches(const struct draw_env *env, const struct draw_case *c, u64 number)
{
	const struct draw_branches *b = &c->branches;

	CHECK_EQ(c->class == DRAW_BRANCHES, b->depth != 0, "case %" PRIu64, number);
	CHECK(b->depth <= env->branches.deepest && (!b->depth || b->top < env->branches.deepest));
	CHECK_EQ(0, b->select & ~BITS(0, 9), "case %" PRIu64, number);
	CHECK(!b->freeze || c->global, "case %" PRIu64, number);
	for (unsigned i = 0; i < DRAW_OPERATIONS; i++)
		if (c->operation[i].msr == MSR_IA32_LBR_CTL)
			CHECK_EQ(0, c->operation[i].low & ~env->branches.control, "case %" PRIu64,
				 number);
}

static void are_legal(const struct draw_env *of)
{
	const struct draw_env env = *of;
	struct draw_case c;

	for (enum draw_class class = DRAW_COUNTS; class < DRAW_CLASSES; class ++)
		for (u64 n = 0; n < CASES; n++) {
			draw_make(&env, class, 7, n, &c, &trace);
			check_counters(&env, &c, n);
			check_arch(&env, &c, n);
			check_trace(&c, n);
			check_branches(&env, &c, n);
		}
}

static void cases_are_legal(void)
{
	struct draw_env env = random_env();

	are_legal(&env);
	env = random_env_architectural();
	are_legal(&env);
	env = random_env_adaptive();
	env.rings = true;
	are_legal(&env);
}

static void cases_are_the_same_from_the_same_number(void)
{
	const struct draw_env env = random_env();

	for (u64 n = 0; n < CASES; n++) {
		struct draw_case a, b;

		memset(&a, 0, sizeof(a));
		memset(&b, 0xff, sizeof(b));
		draw_make(&env, n % DRAW_CLASSES, 3, n, &a, &trace);
		draw_make(&env, n % DRAW_CLASSES, 3, n, &b, &trace);
		CHECK_EQ(a.constant, b.constant);
		CHECK(!memcmp(a.select, b.select, sizeof(a.select)));
		CHECK(!memcmp(a.preset, b.preset, sizeof(a.preset)));
		CHECK(!memcmp(a.operation, b.operation, sizeof(a.operation)));
		CHECK_EQ(a.pieces, b.pieces);
		CHECK(!memcmp(a.piece, b.piece, a.pieces * sizeof(a.piece[0])));
	}
}

static void pieces_are_found_by_name(void)
{
	CHECK(piece_find("start", 0) == 0);
	CHECK(piece_find("load_bytes", 2) > piece_find("load_bytes", 1));
	CHECK_EQ((u64)-1, (u64)piece_find("load_bytes", 3));
	CHECK_EQ((u64)-1, (u64)piece_find("", 0));
	CHECK_EQ(3, piece_rows((unsigned)piece_find("load_bytes", 0)));
}

int main(void)
{
	RUN(prng_gives_the_published_values);
	RUN(streams_and_cases_differ);
	RUN(pieces_are_found_by_name);
	RUN(cases_are_legal);
	RUN(cases_are_the_same_from_the_same_number);
	return check_end();
}
