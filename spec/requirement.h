/* SPDX-License-Identifier: MIT */
/* Names for spec/requirement.def: REQ_<token>, and the table's two judgement columns. */
#ifndef SPEC_REQUIREMENT_H
#define SPEC_REQUIREMENT_H

#include "spec/types.h"

/* What stands behind a requirement. Only AUTH_TEXT may FAIL silicon; weaker rows are reported. */
enum authority {
	AUTH_TEXT,		/* a sentence or table of the manual */
	AUTH_FIGURE,		/* a figure of the manual, bit labels only */
	AUTH_PRACTICE,		/* what KVM or Linux does or relies on */
	AUTH_INFERENCE,		/* follows from the text on one reading of it */
};

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
#include "spec/requirement.def"
	REQ_COUNT
};

#endif
