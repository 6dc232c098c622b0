/* SPDX-License-Identifier: MIT */
/* A model's host without memory or local APIC, for what registers take and give back. */
#ifndef HOST_GOLDEN_NO_HOST_H
#define HOST_GOLDEN_NO_HOST_H

#include <string.h>

#include "refpmu/faults/fault.h"
#include "refpmu/model/model.h"

static inline bool nothing(void *ctx, u64 linear, void *to, size_t bytes)
{
	(void)ctx;
	(void)linear;
	memset(to, 0, bytes);
	return false;
}

static inline bool nowhere(void *ctx, u64 linear, const void *from, size_t bytes)
{
	(void)ctx;
	(void)linear;
	(void)from;
	(void)bytes;
	return false;
}

static inline u32 no_lvtpc(void *ctx)
{
	(void)ctx;
	return 0;
}

static inline void no_delivery(void *ctx, const struct pmi_delivery *delivery)
{
	(void)ctx;
	(void)delivery;
}

static const struct model_host no_host = {
	.read = nothing, .write = nowhere, .lvtpc = no_lvtpc, .deliver = no_delivery,
};

#endif
