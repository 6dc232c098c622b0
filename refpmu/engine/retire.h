/* SPDX-License-Identifier: MIT */
/* Building the report on one retired instruction. */
#ifndef REFPMU_ENGINE_RETIRE_H
#define REFPMU_ENGINE_RETIRE_H

#include "refpmu/hv/cpu.h"
#include "refpmu/engine/decode.h"

/* Before the instruction: note where it is and the registers. */
void retire_begin(struct cpu *cpu, struct model_retired *retired);

/* Add the instruction's accesses (of one iteration, for a string) with these registers, which
 * are those before the instruction or the iteration. */
void retire_accesses(struct cpu *cpu, struct model_retired *retired, const struct instruction *insn,
		     const u64 gpr[REG_COUNT]);

/* After it: complete the report and give it to the model if that is watching, or was before
 * the instruction. insn may be NULL: an unknown instruction. */
void retire_end(struct cpu *cpu, struct model_retired *retired, const struct instruction *insn,
		bool needed_retire);

/* Instead of both, where the model watched neither before the instruction nor because of it. */
void retire_uncounted(struct cpu *cpu, const struct instruction *insn);

#endif
