/* SPDX-License-Identifier: MIT */
/* Building the report on one retired instruction. */
#ifndef REFPMU_ENGINE_RETIRE_H
#define REFPMU_ENGINE_RETIRE_H

#include "refpmu/hv/cpu.h"
#include "refpmu/engine/decode.h"

/* Before the instruction: note its address and the registers. */
void retire_begin(struct cpu *cpu, struct model_retired *retired);

/* Add the instruction's accesses (for a string: of one iteration). The registers are those before
 * the instruction or the iteration. */
void retire_accesses(struct cpu *cpu, struct model_retired *retired, const struct instruction *insn,
		     const u64 gpr[REG_COUNT]);

/* After the instruction: complete the report and pass it to the model, if model_needs_retire() is
 * true or was true before the instruction. insn may be NULL: an unknown instruction. */
void retire_end(struct cpu *cpu, struct model_retired *retired, const struct instruction *insn,
		bool needed_retire);

/* Instead of both, if model_needs_retire() was false before the instruction and is false after
 * it. */
void retire_uncounted(struct cpu *cpu, const struct instruction *insn);

#endif
