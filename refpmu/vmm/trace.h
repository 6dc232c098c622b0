/* SPDX-License-Identifier: MIT */
/*
 * What the PMU does, told at once at QEMU's isa-debugcon (port E9H), a line each:
 *
 *	TSC CPU RIP EVENT FIRST SECOND
 *
 * all but EVENT hexadecimal; CPU is the APIC id. EVENT is one of trace_names[]; what the two
 *numbers are stands at enum trace_event and enum model_action. tools/trace/convert.py reads it.
 */
#ifndef REFPMU_VMM_TRACE_H
#define REFPMU_VMM_TRACE_H

#include "refpmu/hv/cpu.h"

/* On or off, for all processors. */
void trace_switch(bool on);

/* struct model_host's trace(); ctx is the struct cpu. */
void trace_model(void *ctx, enum model_action action, unsigned counter);

#endif
