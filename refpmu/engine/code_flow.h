/* SPDX-License-Identifier: MIT */
/*
 * May an instruction of a transaction (XBEGIN, XABORT, XACQUIRE) begin where code_scan.h has found
 * its bytes? They are often part of another instruction: E8 C6 F8 FF FF is a CALL. This depends on
 * where instructions begin. If x86 code is decoded from a wrong byte, the decoding soon arrives at
 * the right instruction boundaries. So the page is decoded from many addresses before the place.
 * Pure.
 *
 * An instruction is found if at least CODE_FLOW_SETTLED bytes of code without a taken branch lead
 * to it, or code from an address divisible by CODE_FLOW_ALIGNMENT. It may be missed if the code
 * jumps over bytes that aren't code and reaches it within fewer bytes, and if none of the decodings
 * arrives at its boundaries.
 */
#ifndef REFPMU_ENGINE_CODE_FLOW_H
#define REFPMU_ENGINE_CODE_FLOW_H

#include "spec/types.h"

#define CODE_FLOW_SETTLED	64u	/* bytes */
#define CODE_FLOW_ALIGNMENT	16u	/* of functions, as compilers lay them out */

/* at is the offset of the found byte in the page of size bytes; there are `before` more bytes of
 * code before the page. For 64-bit and 32-bit code; true if in doubt. */
bool code_flow_reaches(const u8 *page, unsigned before, unsigned size, unsigned at);

#endif
