/* SPDX-License-Identifier: MIT */
/*
 * Borrowing the machine from the firmware and giving it back. Knows nothing of UEFI: boot/ provides
 * the memory. docs/ARCHITECTURE.md, "Borrowing the machine", lists what is saved and restored, and
 * in which order.
 */
#ifndef KERNEL_MACHINE_H
#define KERNEL_MACHINE_H

#include "kernel/output/raster.h"
#include "spec/types.h"

struct machine_setup {
	u64 arena_base, arena_size;	/* zeroed; below 4 GiB, 2 MiB aligned */
	u64 memory_top;			/* highest physical address to identity map */
	u16 serial_port;		/* I/O port of a 16550, 0: none */
	unsigned processors;		/* that may be borrowed, 1 to CPU_MAX */
	u64 startup_page;		/* of ours below 1 MiB, for startup.h; 0: none */
	u64 hpet_base, ioapic_base;	/* of the I/O APIC whose inputs the HPET names; 0: none */
	u64 exerciser_page;		/* of docs/EXERCISER.md: its registers; 0: none */
	struct {
		u64 base, bytes;
	} exerciser_memory; /* and its memory */
	struct raster framebuffer;
};

/* Once, before the first borrow. false: the arena is too small, or the local APIC is switched off.
 * Allocates only from the arena. */
bool machine_init(const struct machine_setup *setup);

/* Bytes of arena that page tables and stacks take for this memory_top and this number of
 * processors; arena_alloc() has the rest. */
u64 machine_arena_need(u64 memory_top, unsigned processors);

/* Set the function that is called first when the machine is given back, while the machine is still
 * ours: it switches off what would otherwise continue (counters, writing of records). There is one
 * function, called on each processor; NULL: none. */
void machine_on_return(void (*fn)(void));

/* Take this processor, which is cpu from now on: page tables, GDT, IDT, CR0/CR4, APIC. Called with
 * the firmware's state in place, at CPL 0 in long mode; returns with interrupts off. CPU_BOOT takes
 * the HPET and the serial line along. */
void machine_borrow_cpu(unsigned cpu);

/* Take a borrowed processor again after an INIT: called on that processor, in 64-bit mode with our
 * page tables. The state with which it must be given back is still remembered. */
void machine_resume_cpu(unsigned cpu);

/* Give this processor back exactly as it was; the caller's firmware state works afterwards. */
void machine_return_cpu(void);

#endif
