/* SPDX-License-Identifier: MIT */
/* What a run cost and where it wasn't exact; read through the STATISTICS hypercall. */
#ifndef REFPMU_VMM_STATISTICS_H
#define REFPMU_VMM_STATISTICS_H

#include "spec/types.h"

/* Why an instruction may have been reported wrongly to the model. */
enum inexact_reason {
	INEXACT_UNDECODED,	/* ran, but the decoder doesn't know it: no accesses reported */
	INEXACT_ACCESSES,	/* accesses that aren't enumerated: gather, ENTER with nesting */
	INEXACT_TWO_STEPS,	/* LSS and the like: two instructions in one step */
	INEXACT_UNSTEPPED,	/* an event that the processor delivered: its handler is lost */
	INEXACT_LEGACY_MODE,	/* outside long mode, where code can't be read reliably */
	INEXACT_SIBLING,	/* the other thread of the core didn't come when it was called */
	INEXACT_REASONS
};

/* Why an instruction was stepped although the engine isn't ENGINE_STEP. */
enum fallback_reason {
#define FALLBACK(token, name, meaning) FALLBACK_##token,
#include "refpmu/engine/fallback.def"
	FALLBACK_REASONS
};

enum exit_kind {
	KIND_STEP, KIND_EXCEPTION, KIND_INTERRUPT, KIND_NMI, KIND_CPUID, KIND_MSR, KIND_RDPMC,
	KIND_HYPERCALL, KIND_APIC, KIND_OTHER,
	EXIT_KINDS
};

struct statistics {
	u64 stepped;			/* instructions reported to the model */
	u64 exits[EXIT_KINDS];
	u64 inexact[INEXACT_REASONS];
	u64 in_blocks;			/* further instructions, counted in blocks */
	u64 block_runs;
	u64 emulated_system;		/* of the stepped ones: by engine_system() */
	u64 emulated;			/* of the stepped ones: run without a world switch */
	u64 fallback[FALLBACK_REASONS];
	u64 fault_acted;		/* times that the fault made a difference to the model */
};

#endif
