/* SPDX-License-Identifier: MIT */
/* What refpmu/faults/ answers outside the model, for the model that is built without it. */
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
