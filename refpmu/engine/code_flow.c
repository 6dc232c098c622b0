/* SPDX-License-Identifier: MIT */
/* See code_flow.h. */
#include "refpmu/engine/code_flow.h"
#include "refpmu/engine/decode_insn.h"

#define WINDOW	(CODE_FLOW_SETTLED + 6 * INSN_MAX_BYTES)	/* bytes that are decoded */
#define MODES	2

struct mode {
	ZydisMachineMode machine;
	ZydisStackWidth stack;
};

static const struct mode mode[MODES] = {
	{ ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64 },
	{ ZYDIS_MACHINE_MODE_LONG_COMPAT_32, ZYDIS_STACK_WIDTH_32 },
};

static bool is_of_a_transaction(const ZydisDecodedInstruction *zi)
{
	return zi->mnemonic == ZYDIS_MNEMONIC_XBEGIN || zi->mnemonic == ZYDIS_MNEMONIC_XABORT ||
	       zi->attributes & ZYDIS_ATTRIB_HAS_XACQUIRE;
}

/* Decode from each byte at which code may begin, and from each byte that such code reaches. */
static bool reaches(const ZydisDecoder *decoder, const u8 *page, unsigned size, unsigned at)
{
	int first = (int)at - (int)WINDOW;
	bool begins[WINDOW + 1] = { false };

	for (unsigned i = 0; i <= WINDOW; i++) {
		int here = first + (int)i;
		ZydisDecodedInstruction zi;
		ZyanStatus status;

		if (!begins[i] && i > WINDOW - CODE_FLOW_SETTLED &&
		    (unsigned)here % CODE_FLOW_ALIGNMENT)
			continue;
		status = ZydisDecoderDecodeInstruction(decoder, NULL, page + here,
						       (unsigned)((int)size - here), &zi);
		if (status == ZYDIS_STATUS_NO_MORE_DATA)
			return true;
		if (!ZYAN_SUCCESS(status))
			continue;
		if (i + zi.length <= WINDOW)
			begins[i + zi.length] = true;
		else if (is_of_a_transaction(&zi))
			return true;
	}
	return false;
}

bool code_flow_reaches(const u8 *page, unsigned before, unsigned size, unsigned at)
{
	if (before + at < WINDOW)
		return true;
	for (unsigned i = 0; i < MODES; i++) {
		ZydisDecoder decoder;

		ZydisDecoderInit(&decoder, mode[i].machine, mode[i].stack);
		if (reaches(&decoder, page, size, at))
			return true;
	}
	return false;
}
