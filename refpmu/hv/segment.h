/* SPDX-License-Identifier: MIT */
/* The guest's descriptor tables: SDM volume 3, "Segment Descriptors". */
#ifndef REFPMU_HV_SEGMENT_H
#define REFPMU_HV_SEGMENT_H

#include "refpmu/hv/cpu.h"

/* Linear address of the selector's descriptor; false: beyond its table. */
bool segment_locate(struct cpu *cpu, u16 selector, u64 *linear);

/* A code or data descriptor as the processor keeps it. */
void segment_unpack(u64 descriptor, u16 selector, struct vmcb_segment *segment);

#endif
