/* SPDX-License-Identifier: MIT */
/* What each claim of the oracle is called in the log. */
#include "tests/random/oracle.h"

const char *oracle_claim_name(enum draw_claim claim)
{
	static const char *const names[DRAW_CLAIMS] = {
		[DRAW_CLAIM_INSTRUCTIONS] = "instructions",
		[DRAW_CLAIM_BRANCHES] = "branches",
		[DRAW_CLAIM_CONDITIONAL] = "conditional branches",
		[DRAW_CLAIM_CALLS] = "near calls",
		[DRAW_CLAIM_RETURNS] = "near returns",
		[DRAW_CLAIM_TAKEN] = "near taken branches",
		[DRAW_CLAIM_LOADS] = "loads",
		[DRAW_CLAIM_STORES] = "stores",
		[DRAW_CLAIM_LOCKS] = "locked loads",
		[DRAW_CLAIM_SPLITS] = "split accesses",
		[DRAW_CLAIM_FIXED] = "fixed counter 0",
		[DRAW_CLAIM_RUNS] = "a counter goes on",
		[DRAW_CLAIM_LEVEL] = "privilege levels",
		[DRAW_CLAIM_FIXED_LEVEL] = "privilege levels of a fixed counter",
		[DRAW_CLAIM_OFF] = "both enables",
		[DRAW_CLAIM_FILTER] = "CMASK and INV",
		[DRAW_CLAIM_WRITTEN] = "a counter written while it counts",
		[DRAW_CLAIM_OVERFLOW] = "overflow shown",
		[DRAW_CLAIM_NO_OVERFLOW] = "no overflow shown",
		[DRAW_CLAIM_CLEARED] = "status cleared",
		[DRAW_CLAIM_RDPMC] = "RDPMC",
		[DRAW_CLAIM_RDPMC_FIXED] = "RDPMC of a fixed counter",
		[DRAW_CLAIM_RDMSR] = "RDMSR of a counter",
		[DRAW_CLAIM_REGISTER] = "register as written",
		[DRAW_CLAIM_UPPER] = "upper halves of RAX and RDX",
	};

	return claim < DRAW_CLAIMS && names[claim] ? names[claim] : "?";
}
