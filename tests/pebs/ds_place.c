/* SPDX-License-Identifier: MIT */
/*
 * The allowed addresses of the DS area and the PEBS buffer: SDM "Setting Up the DS Save Area". Both
 * may be at any doubleword boundary, and may extend over several consecutive pages.
 */
#include "kernel/processor/time.h"
#include "pmu/pmi.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

#define FIRST_FIELDS	0x20		/* bytes of the area before the PEBS fields */
#define PLACES		14u
#define RELOAD		0x123456780000ULL	/* plus the number of the counter */
#define SLACK		1024	/* loads after the record, and loads of the interrupt's handler */

#define FULL_EVERY	3u	/* in each such place the buffer has room for one record alone */

/* In the first place a record ends at the page boundary; in the others a record crosses it. */
static unsigned bytes_before(unsigned place)
{
	return place ? 12 * place : (unsigned)record_size(counter_caps()->record_format);
}

static void check_place(struct test *t, unsigned place, unsigned c)
{
	const bool full = place % FULL_EVERY == FULL_EVERY - 1;
	struct ds_setup setup = sampling_setup(full ? 1 : 8);
	const u64 before = tsc_read();
	struct pebs_record record;
	const struct pmi_log *log;
	int64_t offset = 0;
	u64 tsc;

	setup.threshold = 1;
	setup.reset[c] = RELOAD + c;
	ds_place(FIRST_FIELDS + 8 * place, bytes_before(place));
	ds_open(&setup);
	pmi_open(NULL);
	sampling_overflow_on(c, COUNT_BOTH);
	log = pmi_end();
	sampling_want(t, 1);
	CHECK(t, DS_01, ds_record_written(0),
	      "a record at the index, 0x%lx, the DS area being at 0x%lx, IA32_PMC%u", ds_buffer(),
	      ds_area(), c);
	CHECK_EQ(t, DS_03, ds_buffer() + ds_record_size(), ds_index(),
		 "index in memory after a record of IA32_PMC%u", c);
	CHECK(t, REC_13, !ds_written_outside(0, 1, &offset), "a byte at offset %ld of the buffer",
	      (long)offset);
	if (record_decode(setup.format, ds_record(0), ds_record_size(), &record) &&
	    record_get(&record, RECORD_tsc, &tsc))
		CHECK_RANGE(t, IDS(SKL_02, ADP_38), before, tsc_read(), tsc,
			    "TSC of a record at 0x%lx, IA32_PMC%u", ds_buffer(), c);
	CHECK_EQ(t, DS_05, 1, log->count, "interrupts of a record at the threshold");
	CHECK_RANGE(t, DS_12, RELOAD + c, RELOAD + c + SLACK, counter_read(c),
		    "IA32_PMC%u after a record, the DS area being at 0x%lx", c, ds_area());
	counter_reset();
}

/*
 * Decides DS-01, REC-13, DS-03, DS-05, DS-12, SKL-02, ADP-38 (claims/requirement.def has their
 * sentences).
 *
 * Given  a DS area across the end of a page, with another part in each page each time; a buffer
 *        whose first record ends at a multiple of 64 KiB or crosses it, in four of the places
 *        at the absolute maximum; both on doubleword boundaries that aren't line boundaries
 * When   each PEBS counter makes a record that reaches the threshold
 * Then   it is at the buffer's base, the index in memory has advanced by its size, nothing else is
 *        written, there is one interrupt, the counter has its reset value, and the record's TSC,
 *        if it has one, is of that time
 */
TEST(ds, area_and_buffer_may_lie_across_pages_on_any_doubleword_boundary,
     REQS(DS_01, REC_13, DS_03, DS_05, DS_12, SKL_02, ADP_38),
     NEEDS(need_perfmon, need_pebs, need_events))
{
	ds_use(DS_PLACED);
	for (unsigned place = 0; place < PLACES; place++)
		check_place(t, place, place % sampling_gp_counters());
	ds_use(0);
}
