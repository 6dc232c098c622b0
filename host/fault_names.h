/* SPDX-License-Identifier: MIT */
/* What each fault is called, for tests that walk all of them. */
#ifndef HOST_FAULT_NAMES_H
#define HOST_FAULT_NAMES_H

#include "refpmu/faults/fault_id.h"

static const char *const fault_names[FAULT_COUNT] = {
	[FAULT_NONE] = "none",
#define FAULT(token, name, requirements, sentence, ...) [FAULT_##token] = name,
#include "refpmu/faults/fault.def"
};

#endif
