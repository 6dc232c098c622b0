/* SPDX-License-Identifier: MIT */
/*
 * What of the processor's state belongs to the firmware and has to come back as it was. Read here
 * by other means than kernel/machine/machine.c saves it, which this is to check.
 */
#ifndef BOOT_SAVED_STATE_H
#define BOOT_SAVED_STATE_H

#include "spec/types.h"

#define SAVED_STATE_ITEMS 28
struct saved_state {
	u64 item[SAVED_STATE_ITEMS];
};

/* Read it, with the machine given back; after machine_init(). */
void saved_state_read(struct saved_state *state);
/* NULL, or the name of the first item that differs. */
const char *saved_state_compare(const struct saved_state *before, const struct saved_state *after);

#endif
