/* SPDX-License-Identifier: MIT */
/*
 * XBEGIN, XEND, XABORT and XTEST on a processor with RTM, and elided locks, by the model's rules
 * (model/tsx/tx.h). QEMU's TCG decodes two of them as MOV (docs/TRICKS.md), so they can be found
 * only by decoding each instruction. The instructions in a transaction run one by one.
 */
#ifndef REFPMU_ENGINE_TRANSACTION_H
#define REFPMU_ENGINE_TRANSACTION_H

#include "refpmu/hv/cpu.h"
#include "refpmu/engine/decode.h"
#include "refpmu/hv/deliver.h"

/*
 * insn is the next instruction, at RIP, on a processor with RTM; NULL if it is unknown. If it is
 * one of the four, carry it out. In a transaction (which XACQUIRE may begin) note its accesses, or
 * abort. false: it hasn't been carried out, run it.
 */
bool transaction_instruction(struct cpu *cpu, const struct instruction *insn);

/* Abort the transaction, before the instruction at RIP. */
void transaction_abort(struct cpu *cpu, enum tx_cause cause, u8 code);

/* An event arrives in a transaction and aborts it. true: the event isn't delivered to the
 * program. */
bool transaction_swallows(struct cpu *cpu, const struct guest_event *event);

/* struct model_host's registers(); ctx is the struct cpu. */
void transaction_registers(void *ctx, const struct model_registers *registers);

#endif
