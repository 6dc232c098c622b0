/* SPDX-License-Identifier: MIT */
/* Names for spec/generation.def. */
#ifndef SPEC_GENERATION_H
#define SPEC_GENERATION_H

#include "spec/types.h"

enum generation_facility {
	FAC_FW_WRITE = 1,	/* IA32_PERF_CAPABILITIES[13] */
	FAC_SMM_FREEZE = 2,	/* IA32_PERF_CAPABILITIES[12] */
	FAC_DATALA = 4,		/* "PEBS Data Address Profiling" */
	FAC_PDIR = 8,		/* "Precise Distribution of Instructions Retired" */
	FAC_LOAD_LATENCY = 16,
	FAC_PRECISE_STORE = 32,
	FAC_TSX = 64,
};

enum generation_id {
#define GENERATION(id, ...) GEN_##id,
#include "spec/generation.def"
	GEN_COUNT
};

#endif
