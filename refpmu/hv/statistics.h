/* SPDX-License-Identifier: MIT */
/* Counts for one processor: the reasons of exits, and the reports to the model that weren't
 * exact. */
#ifndef REFPMU_HV_STATISTICS_H
#define REFPMU_HV_STATISTICS_H

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

enum exit_kind {
	KIND_STEP, KIND_EXCEPTION, KIND_INTERRUPT, KIND_NMI, KIND_CPUID, KIND_MSR, KIND_RDPMC,
	KIND_HYPERCALL, KIND_APIC, KIND_OTHER,
	EXIT_KINDS
};

struct exit_statistics {
	u64 exits[EXIT_KINDS];
	u64 inexact[INEXACT_REASONS];
};

#endif
