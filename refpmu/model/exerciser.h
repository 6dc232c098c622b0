/* SPDX-License-Identifier: MIT */
/*
 * The exerciser: docs/EXERCISER.md, spec/exerciser.def. It acts on the memory hierarchy that the
 * processors share, and each command is done at once.
 */
#ifndef REFPMU_MODEL_EXERCISER_H
#define REFPMU_MODEL_EXERCISER_H

#include "refpmu/model/model.h"

#define EXERCISER_WORDS	16

/* The register page begins like this; the rest of it reads 0. */
struct exerciser {
	u32 word[EXERCISER_WORDS];
};

/* The most bytes of one command: that many lines stay where they are put, in each shape of the
 * hierarchy. */
#define EXERCISER_MOST	0x10000u

/* A processor has stored 32 bits at an offset in the page. */
void model_exerciser_write(struct model *m, u32 offset, u32 value);

/* ---- for refpmu/model/ ---- */

/* The plan of a command: its effect, and the result that it reports. */
struct exercise {
	enum exerciser_status status;
	enum exerciser_state state;
	u32 lines, placed;
};

/* Set it to its state after power-on, or remove it, as the latitude says. */
void model_exerciser_reset(struct model *m);

#endif
