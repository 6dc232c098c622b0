/* SPDX-License-Identifier: MIT */
/* Names for refpmu/faults/fault.def: FAULT_<token>. FAULT_NONE is the correct processor. */
#ifndef REFPMU_FAULTS_FAULT_ID_H
#define REFPMU_FAULTS_FAULT_ID_H

enum fault_id {
	FAULT_NONE,
#define FAULT(token, name, requirements, sentence, ...) FAULT_##token,
#include "refpmu/faults/fault.def"
	FAULT_COUNT
};

/* The scope of a fault: which parameters its name may have, and which processors it affects. */
enum fault_scope {
	OF_COUNTER = 1 << 0,	/* one counter: @pmc0 to 9, @fixed0 to 6, @int, @beside */
	OF_RECORD = 1 << 1 | OF_COUNTER,	/* one record: @page-crossing as well */
	REACHES_CORE = 1 << 2,		/* also the other logical processor of the core */
	REACHES_PACKAGE = 1 << 3,	/* also all of other cores */
};

/* Of the arguments of FAULT() after the sentence. */
#define FAULT_SCOPE(...)		FAULT_SCOPE_OF(__VA_ARGS__, , )
#define FAULT_SCOPE_OF(scope, ...)	(scope + 0)
#define FAULT_RUNS(...)			FAULT_RUNS_OF(__VA_ARGS__, , )
#define FAULT_RUNS_OF(scope, runs, ...)	"" runs

#endif
