/* SPDX-License-Identifier: MIT */
/*
 * The program's vector registers, for the model. The hypervisor is compiled without them, so they
 * keep the program's values while the hypervisor runs. SDM volume 1, "Managing State Using the
 * XSAVE Feature Set".
 */
#ifndef REFPMU_VMM_VECTORS_H
#define REFPMU_VMM_VECTORS_H

#include "spec/types.h"

/* struct model_host's xmm() and ymmh(); ctx is the struct cpu. */
void vectors_xmm(void *ctx, u8 *bytes);
bool vectors_ymmh(void *ctx, u8 *bytes);

#endif
