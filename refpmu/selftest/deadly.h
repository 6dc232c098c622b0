/* SPDX-License-Identifier: MIT */
/*
 * Ways in which a program ends the machine. Each must end it at once and with a message, by the
 * hypervisor on COM1 or by run-qemu.sh.
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

/* With the firmware's state in place. Returns if the machine didn't end. */
void deadly_die(EFI_SYSTEM_TABLE *system, u64 way);

#endif
