/* SPDX-License-Identifier: MIT */
/*
 * Bytes as a program for the rig, for random tests and for the fuzzer: each few bytes are one
 * operation (an instruction, an MSR access, a change of the DS area, an unmasking). After each
 * operation everything is checked that holds whatever a program does.
 */
#ifndef HOST_MODEL_PROGRAM_H
#define HOST_MODEL_PROGRAM_H

#include "host/model/fixture.h"

/*
 * Run the program from power-on. NULL, or the first rule that didn't hold (static text); r->now
 * says where. With a fault nothing is checked but that the model stays within its bounds.
 */
const char *program_run(struct fixture *r, const u8 *bytes, size_t n,
			const struct model_config *config);

#endif
