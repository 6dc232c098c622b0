/* SPDX-License-Identifier: MIT */
/*
 * Which pages may run natively on a processor with transactions: SDM volume 2, "XBEGIN", "XABORT",
 * "XACQUIRE/XRELEASE". QEMU's TCG decodes the first two as MOV (docs/TRICKS.md) and elides no lock.
 * So a page that may hold one of these instructions must not run natively. XEND and XTEST raise #UD
 * in QEMU, which the hypervisor intercepts. Pure.
 *
 * Opcode and operand byte are always next to each other; prefixes come before them. The scan
 * doesn't know where instructions begin. The same bytes may be part of another instruction, a
 * constant or a displacement; code_flow.h recognises most of these cases. So a page may be wrongly
 * untrusted. A page is wrongly trusted if the fallback address of an XBEGIN is 64 MiB or more away,
 * in 16-bit code, and in the cases that code_flow.h lists. XACQUIRE is found if only LOCK, an
 * operand-size prefix and REX are between it and the opcode, all in one page. Other XACQUIREs
 * aren't elided, which is legal.
 */
#ifndef REFPMU_ENGINE_CODE_SCAN_H
#define REFPMU_ENGINE_CODE_SCAN_H

#include "spec/types.h"

#define CODE_SCAN_BYTES	4096
#define CODE_SCAN_FAR	BIT(26)		/* a fallback address that many bytes away isn't one */

/*
 * May there be such an instruction with its operand byte, or XACQUIRE, in this page, or with its
 * opcode in the page's last byte? For an instruction in two pages both pages are fetched. page has
 * CODE_SCAN_BYTES bytes and is aligned to 8. before, after: the page before or after it in memory
 * may be read too; otherwise its contents are unknown.
 */
bool code_scan_suspicious(const u8 *page, bool before, bool after);

#endif
