/* SPDX-License-Identifier: MIT */
/* Faults of adaptive records, and of what makes one adaptive: adaptive.c, counter.c. */
#include "refpmu/faults/broken.h"
#include "refpmu/model/record.h"

bool fault_adaptive(struct model *m, unsigned x, bool adaptive)
{
	(void)m;
	(void)x;
	return adaptive;
}

u64 fault_data_cfg(struct model *m, unsigned x, u64 config)
{
	(void)m;
	(void)x;
	return config;
}

void fault_adaptive_layout(struct model *m, unsigned x, struct adaptive_layout *layout)
{
	(void)m;
	(void)x;
	(void)layout;
}

void fault_adaptive_bytes(struct model *m, const struct retire_ctx *s, unsigned x,
			  const struct adaptive_layout *layout, u8 *bytes)
{
	(void)m;
	(void)s;
	(void)x;
	(void)layout;
	(void)bytes;
}
