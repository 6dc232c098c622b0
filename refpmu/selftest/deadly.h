/* SPDX-License-Identifier: MIT */
/*
 * Ways in which a program ends the machine. Each must end in last words, the hypervisor's on COM1
 * or those of run-qemu.sh, and at once.
 */
#ifndef REFPMU_SELFTEST_DEADLY_H
#define REFPMU_SELFTEST_DEADLY_H

#include <efi.h>

#include "spec/types.h"

enum deadly_way {
	DEADLY_TRIPLE_FAULT = 1,
	DEADLY_COUNTED_TRIPLE_FAULT,	/* in blocks */
	DEADLY_INIT,			/* sent to itself */
	DEADLY_RESET,			/* the chip set's */
	DEADLY_DMA,			/* over the hypervisor's memory, from its beginning */
	DEADLY_DMA_END,			/* the same, from its end */
};

/* Under the firmware's state. Comes back if nothing has ended the machine. */
void deadly_die(EFI_SYSTEM_TABLE *system, u64 way);

#endif
