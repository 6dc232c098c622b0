/* SPDX-License-Identifier: MIT */
/*
 * The actions of the PMU, each written at once as a line to QEMU's isa-debugcon (port E9H):
 *
 *	TSC CPU RIP EVENT FIRST SECOND
 *
 * All except EVENT are hexadecimal; CPU is the APIC id. EVENT is one of trace_names[]; enum
 * trace_event and enum model_action say what the two numbers are. tools/trace/convert.py reads the
 * lines.
 */
#ifndef REFPMU_VMM_TRACE_H
#define REFPMU_VMM_TRACE_H

#include "refpmu/hv/cpu.h"

/* On or off, for all processors. */
void trace_switch(bool on);

/* struct model_host's trace(); ctx is the struct cpu. */
void trace_model(void *ctx, enum model_action action, unsigned counter);

#endif
