/* SPDX-License-Identifier: MIT */
/* The entries of the GDT. */
#ifndef KERNEL_SELECTORS_H
#define KERNEL_SELECTORS_H

/*
 * Selectors, and the two vectors that only INT uses (their gates are open to CPL 3). The .def file
 * has no comment, because C and NASM, which both read it, have no common syntax for comments.
 */
#define DEFINE(name, value) name = (value),
enum {
#include "kernel/processor/selectors.def"
};
#undef DEFINE

/* Bytes of a TSS descriptor in 64-bit mode. */
#define TSS_DESCRIPTOR_SIZE	16u

#endif
