/* SPDX-License-Identifier: MIT */
/*
 * The effects of one instruction: decodes only the instructions that occur in the workloads. The
 * self test checks the declared counts with it, so it shares nothing with the declarations. Pure.
 */
#ifndef TESTS_MEASURE_CLASSIFY_H
#define TESTS_MEASURE_CLASSIFY_H

#include "spec/types.h"

struct instruction_kind {
	u8 load;			/* how many */
	bool store, locked, branch;
	bool conditional, call, ret;	/* of branches */
	bool repeated;			/* REP: steps once an iteration */
	u8 length;			/* of conditional branches alone */
};

/* false: not an instruction of the workloads. Reads at most 5 bytes at code. */
bool classify_instruction(const u8 *code, struct instruction_kind *kind);

#endif
