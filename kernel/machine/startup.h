/* SPDX-License-Identifier: MIT */
/* The page to which a SIPI sends a processor that is started again. For kernel/ itself. */
#ifndef KERNEL_STARTUP_H
#define KERNEL_STARTUP_H

#include "spec/types.h"

/* page: physical, below 1 MiB and not the first; 0: there is none, and what an INIT has stopped
 * stays stopped. cr0, cr4, efer: what the processor gets before it runs this program's code. Once,
 * after paging_init(), with the firmware's map in place. false: the map can't hold the page. */
bool startup_init(u64 page, u64 cr0, u64 cr4, u64 efer);

/* What a SIPI carries; 0: there is no page. */
u8 startup_vector(void);

/* The stack on which the next processor begins in smp_restarted(). */
extern u64 startup_stack;

#endif
