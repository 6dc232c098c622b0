/* SPDX-License-Identifier: MIT */
/*
 * Any sequence of instructions and MSR accesses: the model must keep its rules and bounds. The
 * first bytes choose seed, counters, profile or fault (a quarter of the inputs has one).
 */
#include <stdio.h>
#include <stdlib.h>

#include "host/model/program.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct fixture r;
	struct model_config config = { .fault = FAULT_NONE };
	const char *wrong;

	if (size < 3)
		return 0;
	if (data[1] < 64)
		config.fault = ((unsigned)data[2] | (unsigned)data[1] << 8) % FAULT_COUNT;
	else
		config.latitude.profile = data[2] % PROFILE_COUNT;
	config.generation = (enum generation_id)(data[0] % GEN_ARCH_COUNT);
	config.hyper_threading = data[0] & 0x80;
	config.latitude.seed = data[0] & 0x7f;
	wrong = program_run(&r, data + 3, size - 3, &config);
	if (wrong) {
		fprintf(stderr, "instruction %llu: %s\n", (unsigned long long)r.now, wrong);
		abort();
	}
	return 0;
}
