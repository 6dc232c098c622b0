/* SPDX-License-Identifier: MIT */
/*
 * The identity map of the borrowed machine: "4-Level Paging and 5-Level Paging". Every leaf is
 * present, writable, accessible at CPL 3, accessed and dirty, and not executable, until
 * paging_set() says otherwise for a page.
 */
#ifndef KERNEL_PAGING_H
#define KERNEL_PAGING_H

#include "spec/x86.h"

#define PAGE_SIZE	4096u

/* PTE_NX is left out if the processor doesn't have it. */
#define PAGE_DATA	(PTE_P | PTE_W | PTE_U | PTE_A | PTE_D | PTE_NX)
#define PAGE_CODE	(PTE_P | PTE_U | PTE_A)
/* Entry 3 of IA32_PAT, uncacheable unless it was changed: for device registers. */
#define PAGE_DEVICE	(PAGE_DATA | PTE_PWT | PTE_PCD)
/* Entry 2, uncacheable but an MTRR may make it write-combining: for a framebuffer. */
#define PAGE_VIDEO	(PAGE_DATA | PTE_PCD)

/* The first 512 GiB are mapped a second time, at this offset: entry 255 of the level that maps 512
 * GiB each, the last one in the lower half of a 48-bit address space. */
#define PAGING_HIGH	((u64)255 << 39)
/* They are mapped a third time in the highest 512 GiB: addresses of the upper half, whose bits
 * 63:47 are 1. */
#define PAGING_UPPER	(~0ULL << 39)

/* Build the map of [0, top). Depth follows CR4.LA57. Once. false: the arena is too small. */
bool paging_init(u64 top);

/* Map one 4 KiB page to itself with these flags, or unmap it (0); splits a large page, and maps
 * pages above top as well. Not for the page tables in use: call it before the borrow.
 * false: the arena is too small. */
bool paging_set(u64 page, u64 flags);
/* Map one 4 KiB page at this linear address to this physical one. Otherwise as paging_set(). */
bool paging_map(u64 linear, u64 physical, u64 flags);
/* paging_set() for all pages that touch [base, base + size). */
bool paging_set_range(u64 base, u64 size, u64 flags);

/* The value for CR3, and whether EFER.NXE must be on. */
u64 paging_root(void);
bool paging_uses_nx(void);

#endif
