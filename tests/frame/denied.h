/* SPDX-License-Identifier: MIT */
/*
 * What a hypervisor keeps from its guest although CPUID promises it: an event that is accepted and
 * never counted (KVM_SET_PMU_EVENT_FILTER; Google Cloud's PMU types), one whose select raises #GP
 * (Xen, vpmu=ipc and vpmu=arch), interrupts of overflows (KVM without a local APIC of its own). A
 * test that fails is compared with that: each thing that the test used is tried once more, alone.
 * These functions look at the processor that calls them, and return false without a hypervisor.
 */
#ifndef TESTS_FRAME_DENIED_H
#define TESTS_FRAME_DENIED_H

#include "spec/types.h"

/* Does a select of this event raise #GP, though one of instructions doesn't? Counters are off. */
bool denied_select(u16 event);

/*
 * Does no general-purpose counter count this event, although it occurs and other events are
 * counted? An event that may not occur here is denied only if it belongs to the processor model and
 * loads are denied as well. Call with counters off; they are reset afterwards.
 */
bool denied_event(u16 event);

/* Is it one of IA32_PERFEVTSELx? */
bool denied_is_select(u32 msr);

/* Forget the notes of the test before. Call when a test begins. */
void denied_forget(void);
/* Note a refused WRMSR of an event select. Refusals that a test expects are noted automatically. */
void denied_note_refusal(u32 msr, u64 value);
/*
 * Has the last test used an event, an event select or an interrupt that is denied? Then reason
 * names it. Call with interrupts on and counters off; counters are reset afterwards.
 */
bool denied_explains(char *reason, size_t size);

#endif
