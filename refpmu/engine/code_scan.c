/* SPDX-License-Identifier: MIT */
/* See code_scan.h. */
#include "refpmu/engine/code_flow.h"
#include "refpmu/engine/code_scan.h"
#include "refpmu/engine/decode_insn.h"

#define OPCODE_XABORT	0xc6
#define OPCODE_XBEGIN	0xc7
#define OPERAND		0xf8	/* second byte of both; other instructions have ModRM there */
#define OPERAND_SIZE	0x66	/* prefix: the displacement has 16 bits */
#define XACQUIRE	0xf2	/* prefix */
#define LOCK		0xf0	/* prefix */
#define OPCODE_XCHG	0x86	/* and 87H */
#define REX		0x40	/* to 4FH */
#define ESCAPE		0x0f	/* to two-byte opcodes */
#define MOD		0xc0	/* of ModRM: all ones, a register */
#define LONGEST_BEHIND	6	/* XACQUIRE, two prefixes, REX, opcode, ModRM */
#define MOST_PREFIXES	10	/* before the opcode: an instruction has at most 15 bytes */

#define WORD		8u
#define EACH_BYTE	0x0101010101010101ULL

static bool code_scan_holds(u64 word, u8 byte)
{
	u64 difference = word ^ EACH_BYTE * byte;

	return (difference - EACH_BYTE) & ~difference & EACH_BYTE << 7;
}

/* Are these the opcode, operand and displacement of an XBEGIN? */
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

/* An opcode of the one-byte map that may have LOCK. */
static bool may_be_locked(u8 opcode)
{
	if (opcode < 0x38)
		return (opcode & 7) < 2;
	return (opcode >= 0x80 && opcode <= 0x83) || (opcode & 0xfe) == OPCODE_XCHG ||
	       (opcode & 0xf6) == 0xf6;
}

/* Is XACQUIRE here the prefix of a locked instruction with a memory operand? */
static bool elides(const u8 *page, unsigned at)
{
	unsigned next = at + 1;
	bool locked = at && page[at - 1] == LOCK;

	if (at + LONGEST_BEHIND > CODE_SCAN_BYTES)
		return false;
	for (; page[next] == LOCK || page[next] == OPERAND_SIZE; next++) {
		locked = locked || page[next] == LOCK;
		if (next == at + 2)
			break;
	}
	if ((page[next] & 0xf0) == REX)
		next++;
	if (page[next] == ESCAPE)
		return locked;
	return (locked ? may_be_locked(page[next]) : (page[next] & 0xfe) == OPCODE_XCHG) &&
	       (page[next + 1] & MOD) != MOD;
}

static bool is_one(const u8 *page, unsigned at, bool before)
{
	if (page[at] == XACQUIRE)
		return elides(page, at);
	if (page[at] != OPERAND)
		return false;
	if (!at)
		/* The previous page may end in either byte. */
		return !before || page[-1] == OPCODE_XABORT || page[-1] == OPCODE_XBEGIN;
	return page[at - 1] == OPCODE_XABORT ||
	       (page[at - 1] == OPCODE_XBEGIN && is_xbegin(page, at - 1));
}

/* Such an instruction may begin here and end in the next page. Without the next page's bytes it is
 * suspicious. */
static bool begins_one(const u8 *page, unsigned before)
{
	const unsigned last = CODE_SCAN_BYTES - 1;

	return (page[last] == OPCODE_XABORT || page[last] == OPCODE_XBEGIN) &&
	       page[last + 1] == OPERAND &&
	       code_flow_reaches(page, before, CODE_SCAN_BYTES + INSN_MAX_BYTES, last + 1);
}

bool code_scan_suspicious(const u8 *page, bool page_before, bool page_after)
{
	const unsigned before = page_before ? CODE_SCAN_BYTES : 0;
	const unsigned size = CODE_SCAN_BYTES + (page_after ? INSN_MAX_BYTES : 0);
	u64 word;

	for (unsigned at = 0; at < CODE_SCAN_BYTES; at += WORD) {
		__builtin_memcpy(&word, &page[at], WORD);
		if (!code_scan_holds(word, OPERAND) && !code_scan_holds(word, XACQUIRE))
			continue;
		for (unsigned i = at; i < at + WORD; i++)
			if (is_one(page, i, page_before) &&
			    code_flow_reaches(page, before, size, i))
				return true;
	}
	return page_after && begins_one(page, before);
}
