/* SPDX-License-Identifier: MIT */
/*
 * Checks the configuration that HYPERCALL_CONFIGURE was given. Pure: a guest may pass any bytes.
 */
#ifndef REFPMU_VMM_CONFIGURE_H
#define REFPMU_VMM_CONFIGURE_H

enum hypercall_status {
#define HYPERCALL_STATUS(token, text) HYPERCALL_##token,
#include "refpmu/vmm/status.def"
	HYPERCALL_STATUSES
};

struct model_config;

/* HYPERCALL_DONE: it is valid. Otherwise the first invalid member. */
enum hypercall_status configure_check(const struct model_config *config);

#endif
