/* SPDX-License-Identifier: MIT */
/* Faults of refpmu/model/lbr.c: of last branch records. */
#include "refpmu/faults/broken.h"
#include "refpmu/model/lbr.h"

void fault_lbr(struct model *m, const struct lbr_branch *b, struct lbr_plan *plan)
{
	(void)m;
	(void)b;
	(void)plan;
}

bool fault_lbr_debug(struct model *m, bool off)
{
	(void)m;
	return off;
}
