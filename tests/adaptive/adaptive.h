/* SPDX-License-Identifier: MIT */
/*
 * Taking records of formats 4 to 6: which groups, by which counter. Nothing here knows what is
 * right about a record; tests read fields at offsets that they type out themselves.
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

/* What makes the one record of a window. */
struct adaptive_run {
	unsigned counter;
	u16 event;		/* general-purpose counters; 0: LOADS */
	u64 config;		/* MSR_PEBS_DATA_CFG; 0 where there is none */
	bool basic;		/* the Adaptive_Record bit is 0 */
	const struct workload *workload;	/* NULL: workload_sample */
	unsigned capacity;	/* 0: 4 records */
	unsigned later;		/* marks after the first, on which the counter overflows */
};

/* Bytes of a record with these groups, added up by hand; other bits as in MSR_PEBS_DATA_CFG. */
unsigned adaptive_bytes(u64 config);
/* The same up to where the counters group begins. */
unsigned adaptive_bytes_before_counters(u64 config);

/*
 * The window of a run: DS area open with records of that size, the counter armed with PERIOD, and
 * everything stopped after it. Records can be looked at with ds_record().
 */
void adaptive_window(const struct adaptive_run *run);

/*
 * The same for any counter and workload_load: an overflow each ROUNDS_PERIOD of its own events
 * (fixed counters; branches on the general-purpose ones), until there is a record.
 */
void adaptive_any_window(const struct adaptive_run *run, struct ds_setup *setup);
/* A buffer of 8 records of the run's size, every reload out of reach. */
struct ds_setup adaptive_setup(const struct adaptive_run *run, struct adaptive_layout *layout);

/*
 * The index has moved by one record of the run. false, and the check has failed: it hasn't. No
 * record at all is INCONCLUSIVE under a hypervisor, which may keep it back.
 */
bool adaptive_one_record(struct test *t, struct test_claim claim, const struct adaptive_run *run);

/* The quadword at a byte of the buffer, read without a decoder. */
u64 adaptive_at(unsigned byte);

/*
 * Last branch records that stay as they are: recording on, each branch kept out. They can be read
 * with INFO, and such a filter is there.
 */
bool adaptive_need_entries(char *reason, size_t size);
void adaptive_keep_entries(void);
/* Counters with PEBS that surely overflow: slots of bad speculation and the like may be few. */
u64 adaptive_sure_counters(void);
/* General-purpose counters that record INST_RETIRED.ANY_P: on the reference PMU all. */
u64 adaptive_instruction_counters(const struct test *t);

/* Counters of the generation on which LOADS can be sampled: 0 to 3. */
#define LOAD_COUNTERS	4u

#endif
