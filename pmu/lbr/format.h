/* SPDX-License-Identifier: MIT */
/*
 * Decodes the registers of one last branch record, by the format in IA32_PERF_CAPABILITIES[5:0].
 * Pure: no machine access, no globals. The formats of Nehalem to Rocket Lake: 3 and 4 have flags
 * above a 48-bit address, 5 and 7 a third register. arch_format.h decodes architectural ones. Those
 * of Core 2 and Atom aren't supported.
 */
#ifndef PMU_LBR_FORMAT_H
#define PMU_LBR_FORMAT_H

#include "spec/msr.h"
#include "spec/types.h"

/* Bits of MSR_LBR_SELECT that name a kind of branch: 2 to 8. */
enum lbr_kind {
	LBR_CONDITIONAL = LBR_SELECT_JCC_SHIFT,
	LBR_RELATIVE_CALL,
	LBR_INDIRECT_CALL,
	LBR_RETURN,
	LBR_INDIRECT_JUMP,
	LBR_RELATIVE_JUMP,
	LBR_FAR,
	LBR_KINDS_END
};

/* The registers of one entry, as RDMSR reads them. info is 0 where there is no such register. */
struct lbr_raw {
	u64 from, to, info;
};

#define LBR_LOGGED	4u	/* counters whose events an entry may have */

struct lbr_branch {
	u64 from, to;			/* canonical addresses */
	bool mispredicted;
	bool in_transaction, aborted;	/* false if the format has no such field */
	bool timed;			/* architectural: cycles is valid */
	unsigned cycles;		/* since the previous entry; 0 without such a field */
	unsigned type;			/* architectural: enum arch_lbr_type of spec/arch_lbr.h */
	u8 events[LBR_LOGGED];		/* architectural: of IA32_PMCn since the previous entry */
};

/* Entries of a processor whose records have this format; 0: the format isn't decoded here. */
unsigned lbr_format_depth(unsigned format);

/* Does an entry have the third register? */
bool lbr_format_has_info(unsigned format);

/* Does an entry say whether it was in a transaction? */
bool lbr_format_has_transactions(unsigned format);

/* false, with *branch unchanged: the format isn't decoded here. */
bool lbr_format_decode(unsigned format, const struct lbr_raw *raw, struct lbr_branch *branch);

#endif
