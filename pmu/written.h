/* SPDX-License-Identifier: MIT */
/*
 * What was written last to the registers with which firmware counts in system management mode
 * (Linux: "the BIOS has corrupted hw-PMU resources", IA32_FIXED_CTR_CTRL = 330H on HP's servers):
 * should one hold something else later, an SMI's handler has changed it. Of IA32_PERF_GLOBAL_CTRL
 * only bits that appear tell so, because a freeze clears bits. The processor that calls, CPL 0.
 */
#ifndef PMU_WRITTEN_H
#define PMU_WRITTEN_H

#include "spec/types.h"

struct written_change {
	const char *name;
	u32 msr;
	u64 value, written;
};

/* value has been written to msr, by whatever way; other registers are ignored. */
void written_note(u32 msr, u64 value);
/* The same of the bits of mask alone. */
void written_note_bits(u32 msr, u64 mask, u64 value);
/* Does one of them hold something else? Then *change says what. */
bool written_differs(struct written_change *change);
/* "IA32_FIXED_CTR_CTRL (0x38d) is 0x330, 0 was written". Returns text. */
const char *written_format(const struct written_change *change, char *text, size_t size);

#endif
