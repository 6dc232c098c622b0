/* SPDX-License-Identifier: MIT */
/* The launcher's lines on COM1. */
#ifndef REFPMU_LAUNCH_PRINT_H
#define REFPMU_LAUNCH_PRINT_H

#include "spec/types.h"

/*
 * One line, beginning at column 0 and ended with CR LF. In the format: %s a string, %u an
 * unsigned 64-bit number in decimal, %x the same in hexadecimal after 0x; nothing else.
 */
void print(const char *format, ...);

#endif
