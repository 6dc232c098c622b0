/* SPDX-License-Identifier: MIT */
/* Has a deadline of the HPET passed? With counters of 32 and of 64 bits. */
#include "host/check.h"
#include "kernel/interrupt/hpet.h"

static void a_deadline_may_lie_behind_the_wrap(void)
{
	CHECK(!hpet_is_past(0xfffffff0, 0x10, false), "it begins anew first");
	CHECK(!hpet_is_past(0xffffffff, 0x10, false));
	CHECK(!hpet_is_past(0, 0x10, false));
	CHECK(hpet_is_past(0x10, 0x10, false));
	CHECK(hpet_is_past(0x1000, 0x10, false));
	CHECK(!hpet_is_past(0, 0x7fffffff, false), "as far ahead as it may be");
	CHECK(hpet_is_past(5, 0xfffffff0, false), "it has begun anew since");
}

static void a_counter_of_64_bits_has_no_wrap(void)
{
	CHECK(!hpet_is_past(0xfffffff0, 0x100000010, true));
	CHECK(hpet_is_past(0x100000010, 0x100000010, true));
	CHECK(hpet_is_past(0xfffffff0, 0x10, true));
	CHECK(!hpet_is_past(0x1234, BIT(62), true));
}

int main(void)
{
	RUN(a_deadline_may_lie_behind_the_wrap);
	RUN(a_counter_of_64_bits_has_no_wrap);
	return check_end();
}
