/* SPDX-License-Identifier: MIT */
/*
 * Takes records of formats 4 to 6, with given groups, by a given counter. This file doesn't judge
 * records; tests read fields at their own literal offsets.
 */
#ifndef TESTS_ADAPTIVE_ADAPTIVE_H
#define TESTS_ADAPTIVE_ADAPTIVE_H

#include "pmu/adaptive.h"
#include "tests/frame/calibration.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

#define BASIC_BYTES	0x20u
#define CONFIG_MEMORY	0x1u
#define CONFIG_GPR	0x2u
#define CONFIG_XMM	0x4u
#define CONFIG_LBR	0x8u
/* n entries of the LBR group, 1 to 256. */
#define CONFIG_LBR_OF(n) (CONFIG_LBR | ((u32)(n) - 1) << 24)
#define CONFIGS		16u	/* of bits 3:0 */
/* Format 6: the counters of these sets, then slots and metrics. */
#define CONFIG_COUNTERS	0x10u
#define CONFIG_METRICS	0x20u
#define CONFIG_COUNTERS_OF(gp, fixed) \
	(CONFIG_COUNTERS | (u64)(gp) << 32 | (u64)(fixed) << 48)

/* The setting that makes one record in a window. */
struct adaptive_run {
	unsigned counter;
	u16 event;		/* general-purpose counters; 0: sampling_any_event() */
	u64 config;		/* MSR_PEBS_DATA_CFG; 0 where there is none */
	bool basic;		/* the Adaptive_Record bit is 0 */
	const struct workload *workload;	/* NULL: sampling_any_piece() */
	unsigned capacity;	/* 0: 4 records */
	unsigned later;		/* marks after the first, on which the counter overflows */
};

/* Bytes of a record with these groups, added up by hand; other bits as in MSR_PEBS_DATA_CFG. */
unsigned adaptive_bytes(u64 config);
/* The same up to where the counters group begins. */
unsigned adaptive_bytes_before_counters(u64 config);

/*
 * The window of a run: opens the DS area with records of that size, arms the counter with PERIOD,
 * and stops everything afterwards. Records can be read with ds_record().
 */
void adaptive_window(const struct adaptive_run *run);

/*
 * The same for any counter and workload_load: an overflow each ROUNDS_PERIOD of its own events
 * (fixed counters; branches on the general-purpose ones), until there is a record.
 */
void adaptive_any_window(const struct adaptive_run *run, struct ds_setup *setup);
/* A buffer of `capacity` records of the run's size (4 by default), every reload out of reach. */
struct ds_setup adaptive_setup(const struct adaptive_run *run, struct adaptive_layout *layout);

/*
 * Checks that the index has moved by one record of the run; false: it hasn't, and the check has
 * failed. If there is no record at all under a hypervisor, which may suppress it, the test is
 * INCONCLUSIVE.
 */
bool adaptive_one_record(struct test *t, struct test_claim claim, const struct adaptive_run *run);

/* The quadword at a byte of the buffer, read without a decoder. */
u64 adaptive_at(unsigned byte);

/*
 * Needs last branch records that don't change: recording is on, but each branch is filtered out.
 * They can be read with INFO, and such a filter exists.
 */
bool adaptive_need_entries(char *reason, size_t size);
void adaptive_keep_entries(void);
/* Counters with PEBS that certainly overflow; there may be too few slots of bad speculation and
 * similar events. */
u64 adaptive_sure_counters(void);
/* May bits 47:32 of a format word hold a retire latency? IA32_PERF_CAPABILITIES[17] says so. KVM of
 * Linux 6.17 and before hides it, and the processor writes the latency all the same (0c5caea762de).
 */
bool adaptive_may_be_timed(const struct test *t);
/* General-purpose counters that record INST_RETIRED.ANY_P: on the reference PMU all. */
u64 adaptive_instruction_counters(const struct test *t);

/* Counters of the generation on which LOADS can be sampled: 0 to 3. */
#define LOAD_COUNTERS	4u

#endif
