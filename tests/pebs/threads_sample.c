/* SPDX-License-Identifier: MIT */
/*
 * Sampling on two processors at once, each with its own DS area and buffer: SDM "Writing the DS
 * Interrupt Service Routine" (separate save areas for each processor). Each side runs its own piece
 * of code, so that each record can be assigned to a side.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/pebs.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/measure/two_cpus.h"

#define RECORDS 3

struct sampling {
	struct two_cpus both;
	bool samples[2];
	unsigned records[2];
	unsigned foreign[2];	/* records of code that this side doesn't run */
	int64_t outside[2];	/* offset of a byte that was written outside the records */
	bool written[2];	/* such a byte exists */
	bool changed[2];	/* a field of the DS area other than the index has changed */
};

static const struct workload *const pieces[2] = { &workload_load, &workload_mixed };

/* Rounds for RECORDS records with one load a round, as in tests/measure/sampling.h; mixed has three
 * loads. */
static u64 rounds(unsigned side)
{
	return side ? (ROUNDS_FOR(RECORDS) + 2) / 3 : ROUNDS_FOR(RECORDS);
}

static void sample(void *arg)
{
	struct sampling *s = arg;
	unsigned side = two_cpus_side();
	enum record_format format = counter_caps()->record_format;
	struct ds_setup setup = sampling_setup(8);

	sampling_open_rounds(&setup);
	two_cpus_barrier(&s->both);	/* both have an area and an armed counter */
	if (s->samples[side])
		workload_run(pieces[side], rounds(side), pmc_one(0));
	two_cpus_barrier(&s->both);
	pebs_disarm();
	counter_program_disabled(0, 0, 0);
	s->records[side] = ds_records();
	for (unsigned i = 0; i < ds_records(); i++) {
		struct pebs_record record;
		u64 ip;

		record_decode(format, ds_record(i), record_size(format), &record);
		ip = sampling_field(&record, RECORD_rip);
		if (ip < (u64)(uintptr_t)pieces[side]->begin ||
		    ip > (u64)(uintptr_t)pieces[side]->end + 64)
			s->foreign[side]++;
	}
	s->written[side] = ds_written_outside(0, s->records[side], &s->outside[side]);
	s->changed[side] = !ds_area_unchanged();
	ds_close();
	counters_clear(counters_status());
}

/*
 * DS-18  Each logical processor must use the DS area of its own IA32_DS_AREA.
 *        SDM 17.4.9.5 Writing the DS Interrupt Service Routine (separate save areas for each
 *        processor)
 *
 * Given  two processors, each with a DS area and code of its own
 * When   the first processor samples, then the other one, then both
 * Then   each buffer has RECORDS records exactly if its processor samples, all of its own code; no
 *        other byte of the buffer, nor another field of the area, is written
 */
TEST(ds, each_processor_writes_records_to_its_own_ds_area, REQS(DS_18),
     NEEDS(need_perfmon, need_pebs, need_events, need_partner))
{

	if (!sampling_shadow_fits(t))
		return;
	FOR_EACH_PARTNER (cpu)
		for (unsigned which = 1; which < 4; which++) {
			struct sampling s = { .samples = { which & 1, which & 2 } };

			if (!two_cpus_run(t, &s.both, cpu, sample, &s))
				return;
			for (unsigned side = 0; side < 2; side++) {
				const char *whose = two_cpus_whose(cpu, side);

				CHECK_EQ(t, DS_18, s.samples[side] ? RECORDS : 0, s.records[side],
					 "records in the buffer of %s, which samples %u, the "
					 "other side %u",
					 whose, s.samples[side], s.samples[!side]);
				CHECK_EQ(t, DS_18, 0, s.foreign[side],
					 "records of other code in the buffer of %s", whose);
				CHECK(t, DS_18, !s.written[side],
				      "a byte at offset %ld of the buffer of %s",
				      (long)s.outside[side], whose);
				CHECK(t, DS_18, !s.changed[side],
				      "fields but the index in the DS area of %s", whose);
			}
		}
}
