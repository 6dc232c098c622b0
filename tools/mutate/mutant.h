/* SPDX-License-Identifier: MIT */
/*
 * In the sources that tools/mutation.py makes of refpmu/model/, and nowhere else: which mutant is
 * chosen, and which places were reached. A mutant is a number from 1 on; those of a place follow
 * each other.
 */
#ifndef REFPMU_MODEL_MUTANT_H
#define REFPMU_MODEL_MUTANT_H

#include "spec/types.h"

extern u32 mutant_number;	/* 0: none */
extern u8 mutant_reached[];	/* 1: that place was */

/* The chosen mutant is about to act. false: it has done so too often, and is none any more. */
bool mutant_acts(void);

/* Is one of these chosen? */
static inline __attribute__((always_inline)) bool mutant_at(u32 place, u32 first, u32 count)
{
	mutant_reached[place] = 1;
	return __builtin_expect(mutant_number - first < count, 0) && mutant_acts();
}

/*
 * The processor is configured. If it is processor 0: print on the serial line which places were
 * reached since the last call, and select mutant `number`.
 */
void mutant_begin(u32 number, unsigned processor);

#endif
