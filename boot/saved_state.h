/* SPDX-License-Identifier: MIT */
/*
 * The part of the processor's state that belongs to the firmware and must be restored. It is read
 * here by other code than that of kernel/machine/machine.c, because it is used to check that file.
 */
#ifndef BOOT_SAVED_STATE_H
#define BOOT_SAVED_STATE_H

#include "spec/types.h"

#define SAVED_STATE_ITEMS 28
struct saved_state {
	u64 item[SAVED_STATE_ITEMS];
};

/* Read the state. Call while the firmware has the machine, after machine_init(). */
void saved_state_read(struct saved_state *state);
/* NULL, or the name of the first item that differs. */
const char *saved_state_compare(const struct saved_state *before, const struct saved_state *after);

#endif
