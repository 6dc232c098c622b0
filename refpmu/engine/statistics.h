/* SPDX-License-Identifier: MIT */
/* How many instructions of one processor took each way (engine.c). */
#ifndef REFPMU_ENGINE_STATISTICS_H
#define REFPMU_ENGINE_STATISTICS_H

#include "spec/types.h"

/* The reason why an instruction was stepped although the engine isn't ENGINE_STEP. */
enum fallback_reason {
#define FALLBACK(token, name, meaning) FALLBACK_##token,
#include "refpmu/engine/fallback.def"
	FALLBACK_REASONS
};

struct engine_statistics {
	u64 stepped;			/* instructions reported to the model */
	u64 in_blocks;			/* further instructions, counted in blocks */
	u64 block_runs;
	u64 user_only_runs;		/* natively, at CPL 0 (user_only.h) */
	u64 emulated_system;		/* of the stepped ones: by engine_system() */
	u64 emulated;			/* of the stepped ones: run without a world switch */
	u64 fallback[FALLBACK_REASONS];
};

#endif
