/* SPDX-License-Identifier: MIT */
/* Names for claims/requirement.def: REQ_<token>, and the table's two judgement columns. */
#ifndef CLAIMS_REQUIREMENT_H
#define CLAIMS_REQUIREMENT_H

#include "spec/authority.h"

/* How well software can see on a platform whether a requirement holds. */
enum observable {
	OBS_EXACT,		/* every single observation decides */
	OBS_STATISTICAL,	/* many observations decide, with a stated confidence */
	OBS_ONE_SIDED,		/* a breach can be seen, holding can't be proved (or the reverse) */
	OBS_NONE,		/* not at all */
};

enum requirement_id {
#define REQUIREMENT(token, id, group, authority, silicon, kvm, reference, gens, source, sentence) \
	REQ_##token,
#include "claims/requirement.def"
	REQ_COUNT
};

#endif
