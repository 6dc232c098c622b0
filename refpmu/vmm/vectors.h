/* SPDX-License-Identifier: MIT */
/*
 * The program's vector registers, for the model. Nothing here is compiled to use them, so what the
 * program has in them stays there while the hypervisor runs. SDM volume 1, "Managing State Using
 * the XSAVE Feature Set".
 */
#ifndef REFPMU_VMM_VECTORS_H
#define REFPMU_VMM_VECTORS_H

#include "spec/types.h"

/* struct model_host's xmm() and ymmh(); ctx is the struct cpu. */
void vectors_xmm(void *ctx, u8 *bytes);
bool vectors_ymmh(void *ctx, u8 *bytes);

#endif
