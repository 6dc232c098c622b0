/* SPDX-License-Identifier: MIT */
/*
 * The two logical processors of a core, while one counts events of the other (model/core.h), and
 * all processors, while their uncore counts (model/uncore.h). The other processor must then retire
 * instruction by instruction, and report each at once, even if none of its own counters count. It
 * may be running natively or in a block, or it may be halted. So it is called by an NMI (a kick)
 * that its guest doesn't see.
 *
 * If an NMI for the guest (from an I/O APIC or a message) arrives at the same moment as a kick, it
 * is lost: a processor keeps only one pending NMI, and can't know where it came from.
 */
#ifndef REFPMU_ENGINE_SIBLINGS_H
#define REFPMU_ENGINE_SIBLINGS_H

#include "refpmu/hv/cpu.h"

/* The state that a processor publishes for the others, and other state of this module. */
struct siblings_state {
	volatile bool untracked;	/* its retired instructions aren't reported one by one */
	volatile u32 track_generation;	/* how often that has ended */
	volatile u32 steps;	/* odd: one instruction may have retired that isn't reported yet */
	bool pausing;		/* a PAUSE has retired: siblings_pause() is due */
	u64 interleave_random;	/* siblings_interleave(): where its random numbers are */
};

/* After an INIT: it is seen, and between instructions. */
void siblings_started(struct cpu *cpu);

/*
 * Between these two calls the processor's retired instructions aren't reported one by one. Ask the
 * model whether that is allowed after siblings_untracked(), not only before it.
 */
void siblings_untracked(struct cpu *cpu);
void siblings_tracked(struct cpu *cpu);

/*
 * The guest has written an MSR of the model: if a counter now counts events of other processors,
 * wait until these report every instruction.
 */
void siblings_synchronize(struct cpu *cpu);

/*
 * The guest is about to read or write an MSR of the model: first wait until the instructions that
 * the counted processors have retired so far are counted, as far as their effects may be visible.
 */
void siblings_drain(struct cpu *cpu);

/*
 * The guest has executed a PAUSE, which is already reported. Mostly it waits for its sibling, which
 * retires slowly too, and needs the same lock. Let the sibling continue for a moment. Bounded.
 */
void siblings_pause(struct cpu *cpu);

/*
 * Latitude `interleaving`: sometimes this processor waits until its sibling has retired some
 * instructions, or for some tens of microseconds. Called between instructions.
 */
void siblings_interleave(struct cpu *cpu);

/* Make another processor check its model and its configuration soon, without waiting for it. */
void siblings_kick(struct cpu *cpu, struct cpu *to);
/* struct model_host's call(); ctx is the struct cpu. */
void siblings_kick_for_model(void *ctx, unsigned processor);

#endif
