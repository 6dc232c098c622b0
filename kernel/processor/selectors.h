/* SPDX-License-Identifier: MIT */
/* What the entries of the one GDT are. */
#ifndef KERNEL_SELECTORS_H
#define KERNEL_SELECTORS_H

/*
 * Selectors, and the two vectors that only INT uses (their gates are open to CPL 3). The .def
 * file is read by C and by NASM, which have no comment in common: it has none.
 */
#define DEFINE(name, value) name = (value),
enum {
#include "kernel/processor/selectors.def"
};
#undef DEFINE

/* Bytes of a TSS descriptor in 64-bit mode. */
#define TSS_DESCRIPTOR_SIZE	16u

#endif
