/* SPDX-License-Identifier: MIT */
/*
 * Random programs for the machine: all addressing forms, all kinds of near branches, locked and
 * vector instructions, strings, faults, code that changes itself, and any bytes that decode.
 */
#ifndef HOST_ENGINE_GENERATE_H
#define HOST_ENGINE_GENERATE_H

#include "host/engine/machine.h"

/* Fill machine_code[], machine_data[] and the registers to begin with from a seed. */
void generate(u64 seed, struct machine_state *begin);

#endif
