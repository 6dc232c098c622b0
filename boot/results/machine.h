/* SPDX-License-Identifier: MIT */
/*
 * machine.json: the description of the machine from a run's first lines, for programs
 * (docs/RESULTS-FORMAT.md). tools/report/machine.py makes the same from any log. Pure.
 */
#ifndef BOOT_RESULTS_MACHINE_H
#define BOOT_RESULTS_MACHINE_H

#include "boot/results/text.h"
#include "spec/types.h"

void machine_json(const char *lines, size_t length, const struct text_sink *sink);

#endif
