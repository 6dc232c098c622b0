/* SPDX-License-Identifier: MIT */
/*
 * Is what HYPERCALL_CONFIGURE was given a configuration? Pure: any bytes may come from a guest.
 */
#ifndef REFPMU_VMM_CONFIGURE_H
#define REFPMU_VMM_CONFIGURE_H

enum hypercall_status {
#define HYPERCALL_STATUS(token, text) HYPERCALL_##token,
#include "refpmu/vmm/status.def"
	HYPERCALL_STATUSES
};

struct model_config;

/* HYPERCALL_DONE: the model takes it. Otherwise the first member that it doesn't. */
enum hypercall_status configure_check(const struct model_config *config);

#endif
