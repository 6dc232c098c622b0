/* SPDX-License-Identifier: MIT */
/*
 * Any sequence of instructions and MSR accesses: the model keeps its rules and its bounds. The
 * first bytes choose seed, counters and fault (a quarter of the inputs has one).
 */
#include <stdio.h>
#include <stdlib.h>

#include "host/model/program.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct rig r;
	enum fault_id fault = FAULT_NONE;
	const char *wrong;

	if (size < 3)
		return 0;
	if (data[1] < 64)
		fault = data[2] % FAULT_COUNT;
	wrong = program_run(&r, data + 3, size - 3, fault, data[0] & 0x7f, data[0] & 0x80);
	if (wrong) {
		fprintf(stderr, "instruction %llu: %s\n", (unsigned long long)r.now, wrong);
		abort();
	}
	return 0;
}
