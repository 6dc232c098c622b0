/* SPDX-License-Identifier: MIT */
/* Further evidence of a failing test: the newest PEBS records at its first failing check. */
#ifndef TESTS_FRAME_EVIDENCE_H
#define TESTS_FRAME_EVIDENCE_H

#include "kernel/output/tap.h"
#include "pmu/record.h"

#define EVIDENCE_RECORDS 2u
#define EVIDENCE_BYTES	440u	/* of a record: in hexadecimal they fit a line of the log */

struct evidence {
	unsigned kept, total;	/* of the buffer's records */
	unsigned cpu;		/* whose buffer */
	struct {
		unsigned number;	/* its place in the buffer, from 0 */
		size_t size;		/* of all of it */
		u8 bytes[EVIDENCE_BYTES];
	} record[EVIDENCE_RECORDS];
};

/* A test begins: the records that are in the buffers now aren't its own. */
void evidence_begin(struct evidence *evidence);
/* Its first failing check, on the processor that executes it: keep the newest records. */
void evidence_take(struct evidence *evidence);
/* Print them as entries record_1 and so on of the failure's block: the bytes as they are in
 * memory. */
void evidence_print(const struct evidence *evidence, struct tap *tap);

#endif
