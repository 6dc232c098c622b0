/* SPDX-License-Identifier: MIT */
/* For any bytes, the decoder of the usual encodings must agree with the decoder of all
 * encodings. */
#include <stdlib.h>
#include <string.h>

#include "host/check.h"
#include "refpmu/engine/dbt/block_op.h"

#define RIP		0x7fff12345678ULL
#define ALL_FLAGS	(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | \
			 ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF)
#define RANDOM_TRIES	3000000

static ZydisDecoder decoder;
static u64 n_known, n_relative, n_free;

static const char *hex(const u8 *bytes)
{
	static char text[3 * INSN_ROOM + 1];

	for (unsigned i = 0; i < INSN_ROOM; i++)
		snprintf(text + 3 * i, 4, "%02x ", bytes[i]);
	return text;
}

/* All six flags are written and none is read, by an instruction without a memory operand. */
static bool flags_are_free(const u8 *bytes)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, INSN_MAX_BYTES, &zi, operands)))
		return false;
	for (unsigned i = 0; i < zi.operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return false;
	return zi.cpu_flags && !(zi.cpu_flags->tested & ALL_FLAGS) &&
	       ((zi.cpu_flags->modified | zi.cpu_flags->set_0 | zi.cpu_flags->set_1 |
		 zi.cpu_flags->undefined) &
		ALL_FLAGS) == ALL_FLAGS;
}

static bool same(const u8 *bytes)
{
	const u16 saved = BIT(REG_RAX) | BIT(REG_RCX);
	unsigned before = check_errors;
	struct block_op fast, full;

	if (!block_op_fast(&fast, RIP, bytes))
		return true;
	block_op_decode(&decoder, &full, RIP, bytes, INSN_MAX_BYTES);
	n_known++;
	n_relative += fast.kind == OP_RIP_RELATIVE || fast.kind == OP_CONSTANT;
	n_free += fast.frees_flags;
	CHECK_EQ(full.kind, fast.kind, "%s", hex(bytes));
	CHECK_EQ(full.length, fast.length, "%s", hex(bytes));
	CHECK_EQ(full.loads, fast.loads, "%s", hex(bytes));
	CHECK_EQ(full.stores, fast.stores, "%s", hex(bytes));
	CHECK_EQ(full.locked, fast.locked, "%s", hex(bytes));
	CHECK_EQ(full.branch, fast.branch, "%s", hex(bytes));
	CHECK_EQ(full.shadow, fast.shadow, "%s", hex(bytes));
	CHECK_EQ(full.target, fast.target, "%s", hex(bytes));
	CHECK_EQ(full.scratch_register, fast.scratch_register, "%s", hex(bytes));
	CHECK_EQ(full.wide, fast.wide, "%s", hex(bytes));
	CHECK_EQ(full.modrm, fast.modrm, "%s", hex(bytes));
	CHECK_EQ(full.displacement, fast.displacement, "%s", hex(bytes));
	CHECK_EQ(full.condition, fast.condition, "%s", hex(bytes));
	CHECK_EQ(full.release, fast.release, "%s", hex(bytes));
	CHECK_EQ(full.changes & saved, fast.changes & saved, "%s", hex(bytes));
	CHECK_EQ(full.rip, fast.rip, "%s", hex(bytes));
	CHECK(!memcmp(full.bytes, fast.bytes, full.length), "%s", hex(bytes));
	CHECK(!fast.frees_flags || flags_are_free(bytes), "flags, %s", hex(bytes));
	return check_errors == before;
}

static u64 next_random(u64 *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 24;
}

/* Each opcode and ModRM with each prefix that matters; then any bytes. */
static void all_opcodes(void)
{
	static const u8 prefixes[][2] = {
		{ 0 }, { 0x66 }, { 0x48 }, { 0x40 }, { 0x4f }, { 0x41 }, { 0x44 }, { 0x42 },
		{ 0x66, 0x48 }, { 0x66, 0x45 }, { 0xf3 }, { 0xf2 }, { 0x67 }, { 0xf0 },
		{ 0x48, 0x66 }, { 0x64 }, { 0x65, 0x48 }, { 0x66, 0x64 }, { 0x64, 0x66 },
	};
	u64 state = 1;

	for (unsigned p = 0; p < sizeof(prefixes) / sizeof(prefixes[0]); p++)
		for (unsigned i = 0; i < 2 * 256 * 256; i++) {
			u8 bytes[INSN_ROOM], n = 0;

			for (unsigned k = 0; k < 2 && prefixes[p][k]; k++)
				bytes[n++] = prefixes[p][k];
			if (i >> 16)
				bytes[n++] = 0x0f;
			bytes[n++] = (u8)(i >> 8);
			bytes[n++] = (u8)i;
			while (n < INSN_ROOM)
				bytes[n++] = (u8)next_random(&state);
			if (!same(bytes))
				return;
		}
	CHECK(n_known > 100000 && n_relative > 1000 && n_free > 10000,
	      "%" PRIu64 " known, %" PRIu64 " RIP-relative, %" PRIu64 " that free the flags",
	      n_known, n_relative, n_free);
}

static void any_bytes(void)
{
	const char *wanted = getenv("FIRST");
	u64 state = wanted ? strtoull(wanted, NULL, 0) : 2;

	for (unsigned i = 0; i < RANDOM_TRIES; i++) {
		u8 bytes[INSN_ROOM];

		for (unsigned k = 0; k < INSN_ROOM; k++)
			bytes[k] = (u8)next_random(&state);
		if (!same(bytes))
			return;
	}
}

int main(void)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	RUN(all_opcodes);
	RUN(any_bytes);
	return check_end();
}
