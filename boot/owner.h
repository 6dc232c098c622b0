/* SPDX-License-Identifier: MIT */
/*
 * What of the processor's state belongs to the firmware and has to come back as it was. Read here
 * by other means than kernel/machine.c saves it, which this is to check.
 */
#ifndef BOOT_OWNER_H
#define BOOT_OWNER_H

#include "spec/types.h"

#define OWNER_ITEMS 28
struct owner_state { u64 item[OWNER_ITEMS]; };

/* Read it, with the machine given back; after machine_init(). */
void owner_read(struct owner_state *state);
/* NULL, or the name of the first item that differs. */
const char *owner_compare(const struct owner_state *before, const struct owner_state *after);

#endif
