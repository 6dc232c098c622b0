/* SPDX-License-Identifier: MIT */
/* What a failing test leaves besides its checks: the PEBS records that it looked at. */
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

/* A test begins: what is in the buffers is not its own. */
void evidence_begin(struct evidence *evidence);
/* Its first failing check, on the processor that executes it: keep the newest records. */
void evidence_take(struct evidence *evidence);
/* As entries record_1 and so on of the failure's block: the bytes as they stand in memory. */
void evidence_print(const struct evidence *evidence, struct tap *tap);

#endif
