/* SPDX-License-Identifier: MIT */
/* The functions of refpmu/faults/ that code outside of the model calls, for a model that is built
 * without it. */
#include "refpmu/faults/fault.h"

bool model_fault(struct model *m, enum fault_id fault)
{
	(void)m;
	(void)fault;
	return false;
}

bool model_has_fault(const struct model *m, enum fault_id fault)
{
	(void)m;
	(void)fault;
	return false;
}
