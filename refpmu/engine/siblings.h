/* SPDX-License-Identifier: MIT */
/*
 * The two logical processors of a core, while one counts what the other one does (model/core.h),
 * and all processors, while their uncore counts (model/uncore.h):
 * the other one must then retire instruction by instruction, each reported at once, even if nothing
 * counts on itself. It may be running unobserved, or many instructions in a block; it may be
 * halted. So it is called, by an NMI that its guest never sees.
 *
 * A guest's NMI from outside (I/O APIC, message) that arrives at the very moment of a call is one
 * with it: processors keep one NMI, and nothing tells where it came from.
 */
#ifndef REFPMU_ENGINE_SIBLINGS_H
#define REFPMU_ENGINE_SIBLINGS_H

#include "refpmu/hv/cpu.h"

/* What a processor says of itself for the others, and what this module keeps of it. */
struct siblings_state {
	volatile bool untracked;	/* it retires what the model isn't told of one by one */
	volatile u32 track_generation;	/* how often that has ended */
	volatile u32 steps;	/* odd: one instruction may have retired that isn't reported yet */
	bool pausing;		/* a PAUSE has retired: siblings_pause() is due */
	u64 interleave_random;	/* siblings_interleave(): where its random numbers are */
};

/* After an INIT: it is seen, and between instructions. */
void siblings_started(struct cpu *cpu);

/*
 * Between these two the processor retires what its model isn't told of one by one. Ask the model
 * whether that may be after siblings_untracked(), not only before it.
 */
void siblings_untracked(struct cpu *cpu);
void siblings_tracked(struct cpu *cpu);

/*
 * The guest has written an MSR of the model: if that lets a counter watch others, wait until they
 * are seen.
 */
void siblings_synchronize(struct cpu *cpu);

/*
 * The guest is about to read or to write an MSR of the model: what those that are watched have done
 * so far, as far as other processors can have noticed, is to be counted before.
 */
void siblings_drain(struct cpu *cpu);

/*
 * The guest has executed a PAUSE, which is reported: most often it waits for its sibling, which
 * retires slowly, too, and under the same lock. Let it go on for a moment. Bounded.
 */
void siblings_pause(struct cpu *cpu);

/*
 * Latitude `interleaving`: now and then this processor waits until its sibling has retired some
 * instructions, or for some tens of microseconds. Between instructions.
 */
void siblings_interleave(struct cpu *cpu);

/* Have another processor look at its model and its configuration soon, without waiting for it. */
void siblings_kick(struct cpu *cpu, struct cpu *to);
/* struct model_host's call(); ctx is the struct cpu. */
void siblings_kick_for_model(void *ctx, unsigned processor);

#endif
