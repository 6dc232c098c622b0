/* SPDX-License-Identifier: MIT */
/* See code_scan.h. */
#include "refpmu/code_scan.h"

#define OPCODE_XABORT	0xc6
#define OPCODE_XBEGIN	0xc7
#define OPERAND		0xf8	/* of both, where others have their ModRM byte */
#define OPERAND_SIZE	0x66	/* prefix: the distance has 16 bits */
#define MOST_PREFIXES	10	/* in front of it: an instruction has 15 bytes at most */

#define WORD		8u
#define EACH_BYTE	0x0101010101010101ULL

static bool holds_operand(u64 word)
{
	u64 difference = word ^ EACH_BYTE * OPERAND;

	return (difference - EACH_BYTE) & ~difference & EACH_BYTE << 7;
}

/* Are these an XBEGIN's opcode, operand and distance? */
static bool is_xbegin(const u8 *page, unsigned opcode)
{
	int32_t distance;

	for (unsigned i = 1; i <= MOST_PREFIXES && i <= opcode; i++)
		if (page[opcode - i] == OPERAND_SIZE)
			return true;
	if (opcode + 2 + sizeof(distance) > CODE_SCAN_BYTES || opcode < MOST_PREFIXES)
		return true;
	__builtin_memcpy(&distance, &page[opcode + 2], sizeof(distance));
	return distance < (int32_t)CODE_SCAN_FAR && distance > -(int32_t)CODE_SCAN_FAR;
}

bool code_scan_suspicious(const u8 page[CODE_SCAN_BYTES])
{
	u8 last = page[CODE_SCAN_BYTES - 1];
	u64 word;

	for (unsigned at = 0; at < CODE_SCAN_BYTES; at += WORD) {
		__builtin_memcpy(&word, &page[at], WORD);
		if (!holds_operand(word))
			continue;
		for (unsigned i = at ? at : 1; i < at + WORD; i++) {
			if (page[i] != OPERAND)
				continue;
			if (page[i - 1] == OPCODE_XABORT ||
			    (page[i - 1] == OPCODE_XBEGIN && is_xbegin(page, i - 1)))
				return true;
		}
	}
	return last == OPCODE_XABORT || last == OPCODE_XBEGIN;
}
