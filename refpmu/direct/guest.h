/* SPDX-License-Identifier: MIT */
/* The guest of a boot without firmware: a program with a PVH entry, and its start info. */
#ifndef REFPMU_DIRECT_GUEST_H
#define REFPMU_DIRECT_GUEST_H

#include "platform/start_info.h"
#include "refpmu/vmm/virtualise.h"

#define GUEST_HIDDEN	4u

struct guest {
	const struct start_info *info;	/* ours: the guest is its first module */
	struct ram *ram;		/* that is free, for it and for us */
	struct ram_range hidden[GUEST_HIDDEN];	/* what of it isn't the guest's */
	unsigned hidden_ranges;
	const char *command;		/* terminated */
};

/* Load it, write its start info, and set memory->entry and memory->start_info. exerciser: physical
 * address of its registers. NULL: success. Otherwise the reason of the error. */
const char *guest_load(struct guest *guest, u64 exerciser, struct virtualise_memory *memory);

#endif
