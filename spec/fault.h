/* SPDX-License-Identifier: MIT */
/* Names for spec/fault.def: FAULT_<token>. FAULT_NONE is the correct processor. */
#ifndef SPEC_FAULT_H
#define SPEC_FAULT_H

enum fault_id {
	FAULT_NONE,
#define FAULT(token, name, requirements, sentence) FAULT_##token,
#include "spec/fault.def"
	FAULT_COUNT
};

#endif
