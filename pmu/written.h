/* SPDX-License-Identifier: MIT */
/*
 * Remembers the last value written to those registers that some firmware changes in system
 * management mode (Linux: "the BIOS has corrupted hw-PMU resources", IA32_FIXED_CTR_CTRL = 330H on
 * HP's servers). If such a register later has another value, an SMI's handler has changed it. For
 * IA32_PERF_GLOBAL_CTRL only additional bits show this, because a freeze clears bits. For the
 * calling processor, CPL 0.
 */
#ifndef PMU_WRITTEN_H
#define PMU_WRITTEN_H

#include "spec/types.h"

#define WRITTEN_EVENTS	24u

/* What counters were set to count since written_forget_selects(); events beyond those are lost. */
struct written_selects {
	u16 event[WRITTEN_EVENTS];	/* of general-purpose counters, each once */
	unsigned events;
	u32 fixed;			/* bit i: fixed counter i */
	bool listened;			/* for interrupts of the PMU */
};

struct written_change {
	const char *name;
	u32 msr;
	u64 value, written;
};

/* value was written to msr, by any instruction. Other registers are ignored. */
void written_note(u32 msr, u64 value);
/* The same for the bits of mask only. */
void written_note_bits(u32 msr, u64 mask, u64 value);
/* Note that a counter was set to count this event. */
void written_note_select(u16 event);
/* Note that a fixed counter was set to count. */
void written_note_fixed(unsigned index);
/* Note that LVTPC was set up for an interrupt. */
void written_note_listening(void);
const struct written_selects *written_selects_of(unsigned cpu);
/* Forget the notes of all processors. Call while no other processor works. */
void written_forget_selects(void);
/* Does one of them have another value? Then *change describes it. */
bool written_differs(struct written_change *change);
/* "IA32_FIXED_CTR_CTRL (0x38d) is 0x330, 0 was written". Returns text. */
const char *written_format(const struct written_change *change, char *text, size_t size);

#endif
