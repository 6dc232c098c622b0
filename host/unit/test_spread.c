/* SPDX-License-Identifier: MIT */
/* The processors of a large machine that are used. */
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

/* If all processors fit, the first comes first, and the others are in the firmware's order. */
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
	CHECK_EQ(1, chosen[2]);		/* the other thread of the first one's core */
	for (unsigned i = 0; i < MOST; i++)
		for (unsigned j = i + 1; j < MOST; j++)
			CHECK(chosen[i] != chosen[j], "%u twice", chosen[i]);
}

/* As on Arrow Lake, cores of one type have two native models: the last two are LP-E cores. */
static void each_native_model_has_one(void)
{
	struct spread_place places[24];

	for (unsigned i = 0; i < 24; i++) {
		places[i] = (struct spread_place){ 0, i, 0, i < 8 ? 0x40000003 : 0x20000003 };
		if (i >= 22)
			places[i].type = 0x20000002;
		CHECK_EQ(i == 0 || i == 8 || i == 22, spread_is_first_of_kind(places, i), "%u", i);
	}
	CHECK_EQ(MOST, spread_choose(places, 24, 0, MOST, chosen));
	CHECK(has(MOST, 22), "no core of the third kind");
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

/* More kinds than places: no more than allowed, and the first one stays. */
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

/* A desktop: 8 cores with two threads, 16 smaller ones with one. */
static void one_of_each_kind_and_position_stands_for_it(void)
{
	struct spread_place places[32];
	unsigned first = 0;

	for (unsigned i = 0; i < 32; i++)
		places[i] = (struct spread_place){ 0, i < 16 ? i / 2 : i - 8, i < 16 ? i % 2 : 0,
						   i < 16 ? 0x40 : 0x20 };
	for (unsigned i = 0; i < 32; i++)
		if (spread_is_first_of_kind(places, i)) {
			first++;
			CHECK(i == 0 || i == 1 || i == 16, "%u", i);
		}
	CHECK_EQ(3, first);
}

/* 14 packages with two threads each: there is no place for the second thread of every package, but
 * each package has one. 4 packages: each has both. */
static void each_position_has_one_where_there_is_room(void)
{
	struct spread_place places[56];
	unsigned n;

	for (unsigned i = 0; i < 56; i++)
		places[i] = (struct spread_place){ i / 14, i % 14 / 2, i % 2, 0 };
	n = spread_choose(places, 56, 0, MOST, chosen);
	CHECK_EQ(MOST, n);
	for (unsigned package = 0; package < 4; package++) {
		CHECK(has(n, package * 14), "no first thread of package %u", package);
		CHECK(has(n, package * 14 + 1), "no second thread of package %u", package);
	}
}

/* Each processor is in exactly one batch, except the first, which is in all. */
static void batches_have_each_once(void)
{
	static struct spread_place places[1024];
	static unsigned seen[1024];
	static const struct {
		unsigned count, first, most;
	} machines[] = { { 112, 0, 16 },  { 112, 60, 16 }, { 17, 0, 16 },
			 { 16, 3, 16 },	  { 31, 0, 16 },   { 32, 31, 16 },
			 { 1024, 5, 16 }, { 24, 0, 2 },	   { 1, 0, 1 } };

	for (unsigned m = 0; m < sizeof(machines) / sizeof(machines[0]); m++) {
		unsigned count = machines[m].count, first = machines[m].first;
		unsigned batches = spread_batches(count, machines[m].most);

		for (unsigned i = 0; i < count; i++) {
			places[i] = (struct spread_place){ i * 2 / count, i / 2, i % 2, 0 };
			seen[i] = 0;
		}
		for (unsigned b = 0; b < batches; b++) {
			unsigned n = spread_batch(places, count, first, machines[m].most, b,
						  chosen);

			CHECK(n > (b != 0) && n <= machines[m].most, "batch %u has %u", b, n);
			CHECK_EQ(first, chosen[0]);
			for (unsigned i = 0; i < n; i++)
				seen[chosen[i]]++;
		}
		CHECK_EQ(0, batches == 1 ? 0 :
					   spread_batch(places, count, first, machines[m].most,
							batches, chosen));
		for (unsigned i = 0; i < count; i++)
			CHECK_EQ(i == first ? batches : 1, seen[i]);
	}
	CHECK_EQ(8, spread_batches(112, 16));
	CHECK_EQ(2, spread_batches(17, 16));
	CHECK_EQ(1, spread_batches(16, 16));
	/* One processor at most: one batch is all that was requested. */
	CHECK_EQ(1, spread_batches(112, 1));
}

static void numbers_are_those_of_a_machine_that_fits(void)
{
	for (unsigned first = 0; first < 5; first++)
		for (unsigned i = 0; i < 5; i++)
			CHECK_EQ(i, spread_index(spread_number(i, first), first));
	CHECK_EQ(0, spread_number(3, 3));
	CHECK_EQ(1, spread_number(0, 3));
	CHECK_EQ(4, spread_number(4, 3));
}

int main(void)
{
	RUN(all_that_fit_stay_in_order);
	RUN(each_package_has_one);
	RUN(each_type_of_core_has_one);
	RUN(each_native_model_has_one);
	RUN(places_are_kept_to);
	RUN(one_of_each_kind_and_position_stands_for_it);
	RUN(each_position_has_one_where_there_is_room);
	RUN(batches_have_each_once);
	RUN(numbers_are_those_of_a_machine_that_fits);
	return check_end();
}
