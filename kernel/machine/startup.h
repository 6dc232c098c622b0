/* SPDX-License-Identifier: MIT */
/* The page at which a processor begins after a SIPI. The code there enters 64-bit mode. */
#ifndef KERNEL_STARTUP_H
#define KERNEL_STARTUP_H

#include "spec/types.h"

/* Fill a page below 1 MiB: a processor that begins there loads these registers and jumps to entry
 * without a stack. The page and its GDT must stay in memory. cr3: below 4 GiB. */
struct startup {
	u64 cr0, cr3, cr4, efer;
	void (*entry)(void);
};
void startup_place(u64 page, const struct startup *startup);

/* Only for kernel/ itself: prepare the page for processors that are restarted. page: physical,
 * below 1 MiB and not the first page; 0: there is none, and a processor that an INIT has stopped
 * stays stopped. cr0, cr4, efer: the values that the processor loads before it runs this program's
 * code. Once, after paging_init(), with the firmware's page tables. false: the page can't be
 * mapped. */
bool startup_init(u64 page, u64 cr0, u64 cr4, u64 efer);

/* The vector of the SIPI; 0: there is no page. */
u8 startup_vector(void);

/* The stack on which the next processor begins in smp_restarted(). */
extern u64 startup_stack;

#endif
