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

struct written_change {
	const char *name;
	u32 msr;
	u64 value, written;
};

/* value was written to msr, by any instruction. Other registers are ignored. */
void written_note(u32 msr, u64 value);
/* The same for the bits of mask only. */
void written_note_bits(u32 msr, u64 mask, u64 value);
/* Does one of them have another value? Then *change describes it. */
bool written_differs(struct written_change *change);
/* "IA32_FIXED_CTR_CTRL (0x38d) is 0x330, 0 was written". Returns text. */
const char *written_format(const struct written_change *change, char *text, size_t size);

#endif
