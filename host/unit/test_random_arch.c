/* SPDX-License-Identifier: MIT */
/* The oracle's part for architectural PEBS, with a case whose counts were made by hand. */
#include "host/check.h"
#include "host/random_env.h"
#include "spec/msr.h"

#define OS	(IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN)
#define END	BIT(48)
#define COUNTER	1u	/* without PDist */
#define RECORD	0x40u	/* bytes of a header and BASIC */
#define BEGIN	0x80u	/* position of WR */

static struct draw_env env;
static struct draw_case c;
static struct trace trace;
static struct draw_observation seen;
static struct draw_verdict verdict;
static struct draw_arch_record *const r = &seen.arch.record[0];

static unsigned judge(void)
{
	oracle_judge(&env, &c, &trace, &seen, &verdict);
	return verdict.wrongs;
}

/* Three loads, and one more in the code between pieces. The second one overflows; the third is
 * recorded. */
static void prepare(void)
{
	static const char *const names[] = { "start", "load_bytes", "stop" };
	const unsigned piece = (unsigned)piece_find("load_bytes", 0);

	env = random_env();
	memset(&c, 0, sizeof(c));
	memset(&seen, 0, sizeof(seen));
	c.class = DRAW_ARCH;
	for (unsigned i = 0; i < 3; i++)
		c.piece[c.pieces++] = (u16)piece_find(names[i], 0);
	CHECK(trace_make(&env, &c, &trace));
	c.select[COUNTER] = EVENT_MEM_UOPS_RETIRED_ALL_LOADS | OS;
	c.preset[COUNTER] = END - 2;
	c.global = BIT(COUNTER);
	c.arch = (struct draw_arch){ .used = 1, .write = BEGIN / ARCH_PEBS_UNIT,
				     .threshold = 0x1000 };
	c.arch.config[COUNTER] = IA32_PMC_GP0_CFG_C_PEBS_EN | 0xffffff00;
	seen.records = 1;
	seen.record[0].present = BIT(RECORD_eventing_ip);
	seen.record[0].value[RECORD_eventing_ip] = env.code +
						   draw_rows[piece_get(piece)->first + 1].offset;
	seen.arch.runs = 1;
	seen.arch.last[0] = 1;
	seen.begin = 100;
	seen.end = 200;
	seen.arch.index = draw_arch_index((BEGIN + RECORD) / ARCH_PEBS_UNIT, 0x1000);
	*r = (struct draw_arch_record){ .at = BEGIN, .bytes = RECORD, .applicable = BIT(COUNTER),
					.header = ARCH_PEBS_MODE_64 | ARCH_PEBS_BASIC,
					.tsc = 150 };
	seen.value[COUNTER] = END - 0x100 + 2;
}

static void check_wrong(enum draw_claim claim)
{
	CHECK(judge());
	CHECK_EQ(claim, verdict.wrong[0].claim, "%s", oracle_claim_name(verdict.wrong[0].claim));
}

static void record_is_judged(void)
{
	prepare();
	CHECK_EQ(0, judge());
	CHECK(!verdict.vague);
	r->tsc = 99;
	check_wrong(DRAW_CLAIM_TSC);
	prepare();
	r->header &= ~ARCH_PEBS_MODE_64;
	check_wrong(DRAW_CLAIM_MODE);
	prepare();
	r->header |= ARCH_PEBS_GPR;
	check_wrong(DRAW_CLAIM_GROUPS);
	prepare();
	r->reserved = 1;
	check_wrong(DRAW_CLAIM_RESERVED);
	prepare();
	r->applicable = BIT(0);
	check_wrong(DRAW_CLAIM_APPLICABLE);
	prepare();
	seen.value[COUNTER]++;
	check_wrong(DRAW_CLAIM_RELOAD);
	prepare();
	seen.arch.outside = true;
	check_wrong(DRAW_CLAIM_OUTSIDE);
}

static void record_that_is_missing_is_wrong_where_the_event_is_told(void)
{
	prepare();
	seen.records = seen.arch.last[0] = 0;
	check_wrong(DRAW_CLAIM_RECORD);
	prepare();
	env.arch.exact = false;
	seen.records = seen.arch.last[0] = 0;
	seen.arch.index = draw_arch_index(BEGIN / ARCH_PEBS_UNIT, 0x1000);
	seen.value[COUNTER] = 3;
	CHECK_EQ(0, judge());
}

static void record_before_the_overflow_is_wrong(void)
{
	prepare();
	c.preset[COUNTER] = END - 4;
	check_wrong(DRAW_CLAIM_NO_RECORD);
}

static void threshold_interrupts_once(void)
{
	prepare();
	c.arch.threshold = (BEGIN + RECORD) / ARCH_PEBS_UNIT;
	seen.arch.index = draw_arch_index((BEGIN + RECORD) / ARCH_PEBS_UNIT, c.arch.threshold);
	seen.status = IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD;
	check_wrong(DRAW_CLAIM_THRESHOLD);
	c.lvt = DRAW_LVT_MASKED;
	CHECK_EQ(0, judge());
	seen.status = 0;
	check_wrong(DRAW_CLAIM_THRESHOLD_BIT);
	c.arch.threshold++;
	seen.arch.index = draw_arch_index((BEGIN + RECORD) / ARCH_PEBS_UNIT, c.arch.threshold);
	CHECK_EQ(0, judge());
}

static void bytes_outside_the_buffer_are_wrong_in_the_end_too(void)
{
	prepare();
	c.arch.write = (u32)(ARCH_PEBS_LEAST_BUFFER / ARCH_PEBS_UNIT - 1);
	seen.records = seen.arch.last[0] = 0;
	CHECK_EQ(0, judge());
	CHECK(verdict.vague, "no room");
	seen.arch.beyond = true;
	check_wrong(DRAW_CLAIM_BEYOND);
}

int main(void)
{
	RUN(record_is_judged);
	RUN(record_that_is_missing_is_wrong_where_the_event_is_told);
	RUN(record_before_the_overflow_is_wrong);
	RUN(threshold_interrupts_once);
	RUN(bytes_outside_the_buffer_are_wrong_in_the_end_too);
	return check_end();
}
