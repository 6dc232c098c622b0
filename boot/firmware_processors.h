/* SPDX-License-Identifier: MIT */
/* The firmware's services for the other processors. Like firmware.h it has two implementations.
 * Processors have the firmware's numbers. */
#ifndef BOOT_FIRMWARE_PROCESSORS_H
#define BOOT_FIRMWARE_PROCESSORS_H

#include "spec/types.h"

#define FIRMWARE_PROCESSORS	1024u	/* at most this many are looked at */

/* How many there are; false: only this one is known. */
bool firmware_processors(unsigned *all, unsigned *enabled);

struct firmware_processor {
	u32 apic_id;
	bool first;			/* it runs this program */
	bool enabled, healthy;
	unsigned package, core, thread;
};
/* false: the firmware doesn't give this processor to programs. */
bool firmware_processor(unsigned number, struct firmware_processor *processor);

/* Make that processor run fn(arg), and wait at most us microseconds. fn may still run later. */
void firmware_run_on(unsigned number, void (*fn)(void *arg), void *arg, u64 us);
/* The same without waiting. false: it isn't started. */
bool firmware_start_on(unsigned number, void (*fn)(void *arg), void *arg);
/* Has the function that firmware_start_on() started returned? Don't call this again after true. */
bool firmware_is_back(unsigned number);

#endif
