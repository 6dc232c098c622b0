/* SPDX-License-Identifier: MIT */
/* Takes PEBS records of NetBurst, on either thread, and keeps the data that are checked
 * afterwards. */
#ifndef TESTS_NETBURST_SAMPLING_H
#define TESTS_NETBURST_SAMPLING_H

#include "pmu/ds.h"
#include "tests/netburst/netburst.h"

#define NETBURST_PERIOD		64u
/* Half of this is more than the number of events between three overflows and their records, which
 * the manual doesn't give. */
#define NETBURST_LONG_PERIOD	(4 * NETBURST_PERIOD)
#define NETBURST_RECORDS	8u	/* room in the buffer */

/* How records are taken. The counter and MSR_PEBS_ENABLE are programmed before. */
struct netburst_sampling {
	struct netburst_setting what;
	u64 nth, every;			/* overflow on the nth event, then on every period-th */
	unsigned threshold, start;	/* of the buffer and of the index, in records */
	u64 threshold_bytes, maximum_bytes;	/* where else; 0: as above, and after 8 records */
	bool masked;			/* LVTPC */
	u64 above;			/* as of struct workload_switch */
	const struct workload *w;
	u64 n;
	bool user;			/* at CPL 3 */
};

/* The result in the DS area of the thread that has sampled. */
struct netburst_taken {
	unsigned records, interrupts;
	int64_t bytes;			/* by which the index has moved */
	bool outside;			/* a byte that is in no record was written */
	unsigned unwritten;  /* records of which no byte was, from where the index began */
	u8 first[RECORD_MAX_SIZE];	/* the first record ... */
	struct pebs_record record;	/* ... and decoded */
	u64 counter;
	const struct workload *w;	/* that was run */
	u64 memory, stack;		/* of the thread's workloads */
	u64 rax[SAMPLE_MARKS + 1];	/* RAX before each marked load, and after the last */
	u64 flags[SAMPLE_MARKS + 1];	/* the status flags there; before the first: 0 */
};

/* Loads on a counter, tagged by the front end, with PEBS enabled for neither thread; one record of
 * the sample piece, of a marked load, with the buffer's threshold far away. */
struct netburst_sampling netburst_sample_loads(unsigned counter, u64 levels);

/* The loads of the calling thread, on its PEBS counter. */
struct netburst_sampling netburst_own_loads(void);

/* Open this thread's DS area. */
void netburst_sample_open(const struct netburst_sampling *s);
/* Run the workload from the nth event before the overflow, and log interrupts. */
void netburst_sample_run(const struct netburst_sampling *s, struct netburst_taken *taken);
/* Both, with PEBS enabled for the calling thread in between. */
void netburst_sample(const struct netburst_sampling *s, struct netburst_taken *taken);

/* Record i of this thread's buffer. */
struct pebs_record netburst_record(unsigned i);
/* The marked load at that address, or right before it; -1: none. */
int netburst_mark_of(const struct workload *w, u64 ip);

/*
 * Is there one record, of a marked load of that sample piece? Its IP is that of the load, or the
 * one after it, and RAX the one before or after that load.
 */
bool netburst_check_one(struct test *t, struct test_claim claim, const struct netburst_taken *taken,
			const char *what);

#endif
