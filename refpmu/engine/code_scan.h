/* SPDX-License-Identifier: MIT */
/*
 * Which pages may run natively on a processor with transactions: SDM volume 2, "XBEGIN", "XABORT",
 * "XACQUIRE/XRELEASE". QEMU's TCG decodes the first two as MOV (docs/TRICKS.md) and elides no lock,
 * so that a page which may hold one of them must not. XEND and XTEST raise #UD there, by which they
 * are found. Pure.
 *
 * Opcode and operand byte are always next to each other, prefixes come before. Where instructions
 * begin isn't known: the same bytes are parts of others, of constants and distances, of which
 * code_flow.h tells most. So a page may be suspected wrongly; it is trusted wrongly where the
 * fallback address of an XBEGIN is 64 MiB or more away, in 16-bit code, and where code_flow.h says.
 * XACQUIRE is found where at most LOCK, an operand size and REX are between it and the opcode, all
 * in one page; another one isn't elided, as it needn't be.
 */
#ifndef REFPMU_ENGINE_CODE_SCAN_H
#define REFPMU_ENGINE_CODE_SCAN_H

#include "spec/types.h"

#define CODE_SCAN_BYTES	4096
#define CODE_SCAN_FAR	BIT(26)		/* a fallback address that many bytes away isn't one */

/*
 * May an instruction be one of these whose operand byte, or XACQUIRE, is in this page, or whose
 * opcode is its last byte? Both pages are fetched for one that lies in two. page has
 * CODE_SCAN_BYTES, and is aligned to 8. before, after: code of the page before, and of the page
 * after it, stands there in memory as well; else what such a page has isn't known.
 */
bool code_scan_suspicious(const u8 *page, bool before, bool after);

#endif
