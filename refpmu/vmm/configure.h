/* SPDX-License-Identifier: MIT */
/*
 * Is what HYPERCALL_CONFIGURE was given a configuration? Pure: any bytes may come from a guest.
 */
#ifndef REFPMU_VMM_CONFIGURE_H
#define REFPMU_VMM_CONFIGURE_H

enum hypercall_status {
	HYPERCALL_DONE,
	HYPERCALL_UNKNOWN,		/* no such function */
	HYPERCALL_BAD_ADDRESS,		/* the structure isn't mapped */
	HYPERCALL_BAD_ENGINE,		/* not in this build, nor on this machine */
	/* Members of struct model_config: */
	HYPERCALL_BAD_GENERATION,
	HYPERCALL_BAD_HYPER_THREADING,
	HYPERCALL_BAD_FAULT,
	HYPERCALL_BAD_WHEN,
	HYPERCALL_BAD_PROFILE,
	HYPERCALL_BAD_KNOB,
	HYPERCALL_STATUSES
};

struct model_config;

/* HYPERCALL_DONE: the model takes it. Otherwise the first member that it doesn't. */
enum hypercall_status configure_check(const struct model_config *config);

#endif
