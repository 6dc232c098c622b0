/* SPDX-License-Identifier: MIT */
/* What this program asks of its firmware about the other processors; as firmware.h, with two
 * implementations. Numbers are the firmware's. */
#ifndef BOOT_FIRMWARE_PROCESSORS_H
#define BOOT_FIRMWARE_PROCESSORS_H

#include "spec/types.h"

#define FIRMWARE_PROCESSORS	1024u	/* that are looked at */

/* How many there are; false: only this one is known. */
bool firmware_processors(unsigned *all, unsigned *enabled);

struct firmware_processor {
	u32 apic_id;
	bool first;			/* it runs this */
	bool enabled, healthy;
	unsigned package, core, thread;
};
/* false: the firmware doesn't give it away. */
bool firmware_processor(unsigned number, struct firmware_processor *processor);

/* Have that processor run fn(arg), and wait so long at most. What is late may still come. */
void firmware_run_on(unsigned number, void (*fn)(void *arg), void *arg, u64 us);
/* The same without waiting. false: it isn't started. */
bool firmware_start_on(unsigned number, void (*fn)(void *arg), void *arg);
/* Has that returned? After true not to be asked again. */
bool firmware_is_back(unsigned number);

#endif
