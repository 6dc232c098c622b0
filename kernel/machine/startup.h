/* SPDX-License-Identifier: MIT */
/* A page to which a SIPI sends a processor, and from which it comes to 64-bit mode. */
#ifndef KERNEL_STARTUP_H
#define KERNEL_STARTUP_H

#include "spec/types.h"

/* Fill a page below 1 MiB: a processor that begins there gets these registers, and goes to entry
 * without a stack. The page and its GDT must stay. cr3: below 4 GiB. */
struct startup {
	u64 cr0, cr3, cr4, efer;
	void (*entry)(void);
};
void startup_place(u64 page, const struct startup *startup);

/* For kernel/ itself: the page for processors that are started again. page: physical, below 1 MiB
 * and not the first; 0: there is none, and what an INIT has stopped stays stopped. cr0, cr4, efer:
 * what the processor gets before it runs this program's code. Once, after paging_init(), with the
 * firmware's map in place. false: the map can't hold the page. */
bool startup_init(u64 page, u64 cr0, u64 cr4, u64 efer);

/* What a SIPI carries; 0: there is no page. */
u8 startup_vector(void);

/* The stack on which the next processor begins in smp_restarted(). */
extern u64 startup_stack;

#endif
