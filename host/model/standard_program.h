/* SPDX-License-Identifier: MIT */
/*
 * A program that is the same every time, and what software can see of it: counters, registers,
 * records, interrupts, refused accesses, CPUID. It uses every facility of a generation, drawn from
 * spec/ by a seed, on several logical processors. A fault that acts changes what is seen.
 */
#ifndef HOST_MODEL_STANDARD_PROGRAM_H
#define HOST_MODEL_STANDARD_PROGRAM_H

#include "refpmu/faults/fault_id.h"
#include "refpmu/model/model.h"

#define STANDARD_SEEDS	300	/* 20 do; a change of the program moves what each shows */
#define STANDARD_ROUNDS	12

struct standard_difference {
	enum generation_id generation;
	unsigned seed;
	unsigned round;		/* after which more is seen than on the correct processor */
};

/* Is that fault seen on this generation, with this seed? Sets the round. */
bool standard_program_shows(enum fault_id fault, const struct fault_when *when,
			    struct standard_difference *where);

/* Is it seen on any generation, with any seed? */
bool standard_program_finds(enum fault_id fault, struct standard_difference *where);

#endif
