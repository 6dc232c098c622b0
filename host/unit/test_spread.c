/* SPDX-License-Identifier: MIT */
/* Which processors of a large machine are taken. */
#include "boot/spread.h"
#include "host/check.h"

#define MOST	16u

static unsigned chosen[MOST];

static bool has(unsigned n, unsigned index)
{
	for (unsigned i = 0; i < n; i++)
		if (chosen[i] == index)
			return true;
	return false;
}

/* Where all fit the order is the firmware's, after the first. */
static void all_that_fit_stay_in_order(void)
{
	const struct spread_place places[4] = {
		{ 1, 0, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 1, 0 }, { 1, 1, 0, 0 },
	};
	const unsigned wanted[4] = { 1, 0, 2, 3 };

	CHECK_EQ(4, spread_choose(places, 4, 1, MOST, chosen));
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(wanted[i], chosen[i]);
}

/* Two packages of 28 cores and 56 threads, the second package numbered last. */
static void each_package_has_one(void)
{
	struct spread_place places[112];

	for (unsigned i = 0; i < 112; i++)
		places[i] = (struct spread_place){ i / 56, i % 56 / 2, i % 2, 0 };
	CHECK_EQ(MOST, spread_choose(places, 112, 0, MOST, chosen));
	CHECK_EQ(0, chosen[0]);
	CHECK_EQ(56, chosen[1]);
	CHECK_EQ(1, chosen[2]);		/* the first one's other thread */
	for (unsigned i = 0; i < MOST; i++)
		for (unsigned j = i + 1; j < MOST; j++)
			CHECK(chosen[i] != chosen[j], "%u twice", chosen[i]);
}

/* 8 cores of one kind with two threads, 16 of another after them. */
static void each_type_of_core_has_one(void)
{
	struct spread_place places[32];

	for (unsigned i = 0; i < 32; i++)
		places[i] = (struct spread_place){ 0, i < 16 ? i / 2 : i - 8, i < 16 ? i % 2 : 0,
						   i < 16 ? 0x40 : 0x20 };
	CHECK_EQ(MOST, spread_choose(places, 32, 0, MOST, chosen));
	CHECK(has(MOST, 16), "no core of the other type");
	CHECK(has(MOST, 1), "no thread of the first core");
	CHECK(has(MOST, 2), "no other core of the first type");
}

/* More kinds than places: no more than may be, and the first stays. */
static void places_are_kept_to(void)
{
	struct spread_place places[40];

	for (unsigned i = 0; i < 40; i++)
		places[i] = (struct spread_place){ i, 0, 0, 0 };
	CHECK_EQ(MOST, spread_choose(places, 40, 39, MOST, chosen));
	CHECK_EQ(39, chosen[0]);
	CHECK_EQ(1, spread_choose(places, 40, 5, 1, chosen));
	CHECK_EQ(5, chosen[0]);
}

int main(void)
{
	RUN(all_that_fit_stay_in_order);
	RUN(each_package_has_one);
	RUN(each_type_of_core_has_one);
	RUN(places_are_kept_to);
	return check_end();
}
