/* SPDX-License-Identifier: MIT */
/*
 * What a hypervisor keeps from its guest although CPUID promises it: an event that is accepted and
 * never counted (KVM_SET_PMU_EVENT_FILTER; Google Cloud's PMU types), one whose select raises #GP
 * (Xen, vpmu=ipc and vpmu=arch), interrupts of overflows (KVM without a local APIC of its own). A
 * test that fails is told so; what it has used is tried once more, by itself. All of it asks the
 * processor that calls, and is false without a hypervisor.
 */
#ifndef TESTS_FRAME_DENIED_H
#define TESTS_FRAME_DENIED_H

#include "spec/types.h"

/* Does a select of this event raise #GP, though one of instructions doesn't? Counters are off. */
bool denied_select(u16 event);

/*
 * It isn't counted by any general-purpose counter, though it occurs, and something else is counted.
 * Where it isn't known to occur: it is an event of the model, and loads are denied. Counters are
 * off, and reset afterwards.
 */
bool denied_event(u16 event);

/* Is it one of IA32_PERFEVTSELx? */
bool denied_is_select(u32 msr);

/* A test begins. */
void denied_forget(void);
/* Such a WRMSR of the test was refused. Those that it expects are noted by themselves. */
void denied_note_refusal(u32 msr, u64 value);
/*
 * Has the test that has ended used something that is denied? Then reason says what. Interrupts are
 * on, counters off; they are reset afterwards.
 */
bool denied_explains(char *reason, size_t size);

#endif
