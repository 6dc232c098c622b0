/* SPDX-License-Identifier: MIT */
/*
 * May an instruction of a transaction (XBEGIN, XABORT, XACQUIRE) begin where code_scan.h has found
 * its bytes? They are often parts of others: E8 C6 F8 FF FF is a CALL. Which they are is decided by
 * where instructions begin, and x86 code decoded from a wrong byte soon falls into step with the
 * code decoded from the right one. So the page is decoded from many bytes before the place at once.
 * Pure.
 *
 * Found is every one that is reached by at least CODE_FLOW_SETTLED bytes of code without a taken
 * branch, and every one that such code reaches from an address divisible by CODE_FLOW_ALIGNMENT.
 * Code that jumps over bytes that aren't code and within fewer bytes reaches one, is missed if none
 * of these decodings falls into step with it.
 */
#ifndef REFPMU_ENGINE_CODE_FLOW_H
#define REFPMU_ENGINE_CODE_FLOW_H

#include "spec/types.h"

#define CODE_FLOW_SETTLED	64u	/* bytes */
#define CODE_FLOW_ALIGNMENT	16u	/* of functions, as compilers lay them out */

/* at is the offset of the found byte in the page of size bytes, which has so many more bytes of
 * code before it. In 64-bit or in 32-bit code; in doubt true. */
bool code_flow_reaches(const u8 *page, unsigned before, unsigned size, unsigned at);

#endif
