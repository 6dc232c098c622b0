/* SPDX-License-Identifier: MIT */
/*
 * XBEGIN, XEND, XABORT and XTEST on a processor with RTM, and elided locks, by the model's rules
 * (model/tsx/tx.h). QEMU's TCG decodes two of them as MOV (docs/TRICKS.md), so that they can only
 * be found by looking at each instruction; what runs in a transaction is stepped.
 */
#ifndef REFPMU_ENGINE_TRANSACTION_H
#define REFPMU_ENGINE_TRANSACTION_H

#include "refpmu/hv/cpu.h"
#include "refpmu/engine/decode.h"
#include "refpmu/hv/deliver.h"

/*
 * The instruction at RIP, NULL if it is unknown, comes next on a processor with RTM: carry it out
 * if it is one of the four; in a transaction, which XACQUIRE may begin, note what it will access,
 * or abort.
 * false: nothing has been done, run it.
 */
bool transaction_instruction(struct cpu *cpu, const struct instruction *insn);

/* The transaction aborts, in front of the instruction at RIP. */
void transaction_abort(struct cpu *cpu, enum tx_cause cause, u8 code);

/* An event comes in a transaction, which it aborts. true: and the program never hears of it. */
bool transaction_swallows(struct cpu *cpu, const struct guest_event *event);

/* struct model_host's registers(); ctx is the struct cpu. */
void transaction_registers(void *ctx, const struct model_registers *registers);

#endif
