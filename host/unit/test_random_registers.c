/* SPDX-License-Identifier: MIT */
/* The shadow of drawn register accesses, with writes whose effect is known. */
#include "host/check.h"
#include "spec/msr.h"
#include "tests/random/registers/shadow.h"

enum { SELECT, COUNTER, FULL, CONTROL, ROWS };

static struct shadow s;

static void prepare(void)
{
	s = (struct shadow){
		.rows = ROWS, .width = 48, .refuses = true, .settable = BIT(0) | BIT(32), .fixed = 7
	};
	for (unsigned i = 0; i < ROWS; i++)
		s.row[i].of = SHADOW_NONE;
	s.row[SELECT].kind = SHADOW_SELECT;
	s.row[SELECT].number = 3;
	s.row[SELECT].bits.writable = 0xffd7ffff;
	s.row[SELECT].bits.reserved = BITS(32, 63);
	s.row[COUNTER].kind = SHADOW_COUNTER;
	s.row[FULL].of = COUNTER;
	s.row[FULL].bits.writable = BITS(0, 47);
	s.row[CONTROL].kind = SHADOW_FIXED_CONTROL;
	s.row[CONTROL].bits.writable = 0xbbb;
	shadow_begin(&s);
}

static void write_to(unsigned row, enum shadow_access access, u64 value)
{
	const struct shadow_write w = { access, row, value };

	shadow_apply(&s, &w);
}

static void value_of_a_counter_is_eax_and_its_sign_or_all_of_it(void)
{
	prepare();
	write_to(COUNTER, SHADOW_WRITE, 0x123480000000);
	CHECK_EQ(0xffff80000000, shadow_of(&s, COUNTER));
	CHECK_EQ(0xffff80000000, shadow_of(&s, FULL));
	write_to(COUNTER, SHADOW_WRITE, 0x12347fffffff);
	CHECK_EQ(0x7fffffff, shadow_of(&s, FULL));
	write_to(FULL, SHADOW_WRITE, 0x123480000000);
	CHECK_EQ(0x123480000000, shadow_of(&s, COUNTER));
}

static void refused_write_changes_nothing(void)
{
	prepare();
	write_to(SELECT, SHADOW_WRITE, 0x4300c0);
	write_to(SELECT, SHADOW_REFUSED, BIT(40) | 0x4300c4);
	CHECK_EQ(0x4300c0, shadow_of(&s, SELECT));
	CHECK_EQ(0, shadow_of(&s, COUNTER));
}

static void status_bits_are_set_and_cleared_alone(void)
{
	prepare();
	write_to(0, SHADOW_SET, BIT(0) | BIT(32));
	write_to(0, SHADOW_RESET, BIT(0));
	CHECK_EQ(BIT(32), s.status);
	CHECK_EQ(0, shadow_of(&s, SELECT));
}

/* "IA32_PERF_GLOBAL_INUSE MSR": the event's bits 7:0; the enables of a fixed counter; any INT. */
static void counters_in_use_are_those_with_an_event_or_an_enable(void)
{
	prepare();
	write_to(SELECT, SHADOW_WRITE, 0x43ff00);
	CHECK_EQ(0, shadow_in_use(&s));
	write_to(SELECT, SHADOW_WRITE, 0x80);
	CHECK_EQ(BIT(3), shadow_in_use(&s));
	write_to(SELECT, SHADOW_WRITE, IA32_PERFEVTSEL_INT);
	CHECK_EQ(IA32_PERF_GLOBAL_INUSE_PMI, shadow_in_use(&s));
	write_to(SELECT, SHADOW_WRITE, 0);
	write_to(CONTROL, SHADOW_WRITE, 0x280);
	CHECK_EQ(BIT(34) | IA32_PERF_GLOBAL_INUSE_PMI, shadow_in_use(&s));
}

/* PMI_InUse of fixed counter 3 and of IA32_PEBS_ENABLE[35:32] isn't in the manual's list. */
static void later_users_of_the_interrupt_are_told_apart(void)
{
	prepare();
	s.fixed = 0xf;
	s.pebs_listed = 0xf;
	write_to(CONTROL, SHADOW_WRITE, 0x8000);
	CHECK_EQ(IA32_PERF_GLOBAL_INUSE_PMI, shadow_in_use(&s));
	CHECK_EQ(0, shadow_in_use_listed(&s));
	write_to(CONTROL, SHADOW_WRITE, 0x8800);
	CHECK_EQ(IA32_PERF_GLOBAL_INUSE_PMI, shadow_in_use_listed(&s));
	write_to(CONTROL, SHADOW_WRITE, 0);
	s.row[SELECT].kind = SHADOW_PEBS_ENABLE;
	write_to(SELECT, SHADOW_WRITE, BIT(33));
	CHECK_EQ(IA32_PERF_GLOBAL_INUSE_PMI, shadow_in_use(&s));
	CHECK_EQ(0, shadow_in_use_listed(&s));
	write_to(SELECT, SHADOW_WRITE, BIT(33) | BIT(1));
	CHECK_EQ(IA32_PERF_GLOBAL_INUSE_PMI, shadow_in_use_listed(&s));
}

/* Legal writes have no reserved bit, refused ones have at least one; both kinds occur. */
static void drawn_writes_are_legal_or_have_a_reserved_bit(void)
{
	struct prng p = prng_begin(1, 2, 3);
	unsigned seen[4] = { 0 };

	prepare();
	for (unsigned i = 0; i < 1000; i++) {
		struct shadow_write w = { .row = 0 };

		shadow_draw(&s, &p, &w);
		seen[w.access]++;
		if (w.access == SHADOW_SET || w.access == SHADOW_RESET)
			CHECK_EQ(0, w.value & ~s.settable);
		else if (s.row[w.row].kind != SHADOW_COUNTER)
			CHECK_EQ(w.access == SHADOW_REFUSED,
				 (w.value & ~s.row[w.row].bits.writable) != 0);
		shadow_apply(&s, &w);
	}
	for (unsigned i = 0; i < 4; i++)
		CHECK(seen[i] > 50);
}

int main(void)
{
	RUN(value_of_a_counter_is_eax_and_its_sign_or_all_of_it);
	RUN(refused_write_changes_nothing);
	RUN(status_bits_are_set_and_cleared_alone);
	RUN(counters_in_use_are_those_with_an_event_or_an_enable);
	RUN(later_users_of_the_interrupt_are_told_apart);
	RUN(drawn_writes_are_legal_or_have_a_reserved_bit);
	return check_end();
}
