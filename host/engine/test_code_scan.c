/* SPDX-License-Identifier: MIT */
/*
 * Which pages may run natively. If code anywhere in the page leads to bytes that the decoder calls
 * XBEGIN or XABORT, the page is suspicious, except if the fallback address is far away. A page that
 * can't have one isn't suspicious.
 */
#include <string.h>

#include <Zydis/Zydis.h>

#include "host/check.h"
#include "host/random.h"
#include "refpmu/engine/code_flow.h"
#include "refpmu/engine/code_scan.h"

#define MODES	2
#define XACQUIRE_BYTES 8	/* with prefixes */
#define PAGES	40
#define SEEDS	300	/* places in a page that are made to look like such an instruction */

/* The page, with a page before and after it. */
static _Alignas(8) u8 memory[3 * CODE_SCAN_BYTES];
static u8 *const page = memory + CODE_SCAN_BYTES;
static struct random rng = { 1 };

/* Is this instruction's opcode in the page, and its fallback address near? */
static bool usual_prefixes(const ZydisDecodedInstruction *zi)
{
	for (unsigned i = 0; i < zi->raw.prefix_count; i++)
		if (zi->raw.prefixes[i].value != 0xf2 && zi->raw.prefixes[i].value != 0xf0)
			return false;
	return zi->raw.prefix_count <= 2;
}

static bool must_be_suspected(const ZydisDecodedInstruction *zi, unsigned where)
{
	if (zi->mnemonic == ZYDIS_MNEMONIC_XABORT)
		return true;
	/* The scan doesn't look through other prefixes. */
	if (zi->attributes & ZYDIS_ATTRIB_HAS_XACQUIRE)
		return where + XACQUIRE_BYTES <= CODE_SCAN_BYTES && usual_prefixes(zi);
	return zi->mnemonic == ZYDIS_MNEMONIC_XBEGIN &&
	       zi->raw.imm[0].value.s < (int64_t)CODE_SCAN_FAR &&
	       zi->raw.imm[0].value.s > -(int64_t)CODE_SCAN_FAR;
}

/* Does code that is decoded from here, without a taken branch, reach an instruction that must be
 * found? */
static bool code_from_here_has_one(const ZydisDecoder *decoder, unsigned first)
{
	ZydisDecodedInstruction zi;

	for (unsigned at = first; at < CODE_SCAN_BYTES; at += zi.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, &page[at],
								CODE_SCAN_BYTES - at, &zi)))
			return false;
		if ((at - first >= CODE_FLOW_SETTLED || first % CODE_FLOW_ALIGNMENT == 0) &&
		    must_be_suspected(&zi, at))
			return true;
	}
	return false;
}

static bool decoder_finds_one(void)
{
	static const ZydisMachineMode mode[MODES] = {
		ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
	};
	static const ZydisStackWidth width[MODES] = { ZYDIS_STACK_WIDTH_64, ZYDIS_STACK_WIDTH_32 };

	for (unsigned m = 0; m < MODES; m++) {
		ZydisDecoder decoder;

		ZydisDecoderInit(&decoder, mode[m], width[m]);
		for (unsigned at = 0; at < CODE_SCAN_BYTES; at++)
			if (code_from_here_has_one(&decoder, at))
				return true;
	}
	return false;
}

/* Random bytes, with the opcode, operand, prefixes and small displacements in many places. */
static void fill(unsigned seeds)
{
	static const u8 prefix[] = { 0x66, 0x48, 0x4f, 0x67, 0xf2, 0xf3, 0xf0, 0x2e, 0x90 };
	static const u8 locked[] = { 0x86, 0x87, 0x01, 0x31, 0x0f };

	for (unsigned i = 0; i < CODE_SCAN_BYTES; i++)
		page[i] = (u8)random_next(&rng);
	for (unsigned i = 0; i < seeds; i++) {
		unsigned at = (unsigned)(random_next(&rng) % (CODE_SCAN_BYTES - 16));

		for (u64 n = random_next(&rng) % 4; n; n--)
			page[at++] = prefix[random_next(&rng) % sizeof(prefix)];
		page[at] = (u8)(0xc5 + random_next(&rng) % 4);
		page[at + 1] = (u8)(0xf7 + random_next(&rng) % 3);
		if (random_next(&rng) % 4 == 0) {
			page[at] = locked[random_next(&rng) % sizeof(locked)];
			page[at + 1] = (u8)(random_next(&rng) % 0x40);
			continue;
		}
		page[at + 5] = (u8)random_next(&rng);
		if (random_next(&rng) % 2)
			page[at + 5] = random_next(&rng) % 2 ? 0 : 0xff;
	}
}

static bool suspicious(void)
{
	return code_scan_suspicious(page, false, false);
}

static void nothing_is_overlooked(void)
{
	unsigned found = 0, suspected = 0;

	for (unsigned i = 0; i < PAGES; i++) {
		fill(i % 4);
		found += decoder_finds_one();
		suspected += suspicious();
		if (decoder_finds_one())
			CHECK(suspicious(), "page %u", i);
	}
	CHECK(found && found < PAGES, "%u pages", found);
	CHECK(suspected < PAGES);
	fill(SEEDS);
	CHECK(suspicious());
}

static void at(unsigned where, const void *bytes, size_t n)
{
	memset(page, 0x90, CODE_SCAN_BYTES);
	memcpy(&page[where], bytes, n);
}

static void each_place(void)
{
	for (unsigned i = 0; i + 7 <= CODE_SCAN_BYTES; i++) {
		at(i, "\xc7\xf8\x10\x00\x00\x00", 6);
		CHECK(suspicious(), "XBEGIN at %u", i);
		at(i, "\xc6\xf8\x10", 3);
		CHECK(suspicious(), "XABORT at %u", i);
		at(i, "\x81\xc7\xf8\x1e\x00\x00\x48", 7);
		CHECK(i < 16 || i + 16 > CODE_SCAN_BYTES || !suspicious(), "ADD EDI, 1EF8H at %u",
		      i);
	}
}

static void the_page_ends(void)
{
	at(0, "\xf8", 1);
	CHECK(suspicious(), "after C6H or C7H");
	at(CODE_SCAN_BYTES - 1, "\xc7", 1);
	CHECK(!suspicious(), "the next one is suspected");
	at(CODE_SCAN_BYTES - 2, "\xc7\xf8", 2);
	CHECK(suspicious());
	at(CODE_SCAN_BYTES - 1, "\xf8", 1);
	CHECK(!suspicious());
	at(100, "\xf8\xc7", 2);
	CHECK(!suspicious(), "the other way round");
}

static void elided_locks(void)
{
	at(100, "\xf2\x87\x07", 3);
	CHECK(suspicious(), "XCHG [RDI], EAX");
	at(100, "\xf2\xf0\x48\x01\x07", 5);
	CHECK(suspicious(), "LOCK ADD [RDI], RAX");
	at(100, "\xf0\xf2\x0f\xb1\x07", 5);
	CHECK(suspicious(), "LOCK CMPXCHG [RDI], EAX");
	at(100, "\xf2\x87\xc7", 3);
	CHECK(!suspicious(), "XCHG EDI, EAX");
	at(100, "\xf2\x0f\x10\x07", 4);
	CHECK(!suspicious(), "MOVSD XMM0, [RDI]");
}

static void distances(void)
{
	at(100, "\xc7\xf8\xff\xff\xff\x03", 6);
	CHECK(suspicious(), "64 MiB less one ahead");
	at(100, "\xc7\xf8\x00\x00\x00\x04", 6);
	CHECK(!suspicious(), "64 MiB ahead");
	at(100, "\xc7\xf8\x01\x00\x00\xfc", 6);
	CHECK(suspicious(), "64 MiB less one back");
	at(100, "\x66\xc7\xf8\x00\x00\x00\x04", 7);
	CHECK(suspicious(), "with a distance of 16 bits");
}

/* XABORT's bytes as a part of another instruction, as in firmware and elsewhere. */
static void parts_of_others(void)
{
	at(400, "\xe8\xc6\xf8\xff\xff\x84\xc0", 7);
	CHECK(!suspicious(), "CALL");
	at(400, "\x48\x8b\x87\xc6\xf8\x00\x00", 7);
	CHECK(!suspicious(), "MOV RAX, [RDI + F8C6H]");
	at(400, "\xc6\xf8\xff\xff\xc0", 5);
	CHECK(suspicious(), "XABORT FFH, INC EAX");
	at(10, "\xe8\xc6\xf8\xff\xff\x84\xc0", 7);
	CHECK(suspicious(), "CALL, where too little comes before");
}

/* Bytes across two consecutive pages, with `first` of them in the first page. */
static void across(unsigned first, const void *bytes, size_t n)
{
	memset(memory, 0x90, sizeof(memory));
	memcpy(page - first, bytes, n);
}

static void two_pages(void)
{
	const u8 *one_before = page - CODE_SCAN_BYTES;

	across(2, "\xe8\x4d\xf8\x00\x00\x41\x89\xda", 8);
	CHECK(!code_scan_suspicious(page, true, true), "CALL that ends in F8H 00H 00H");
	CHECK(code_scan_suspicious(page, false, true), "what is before isn't known");
	across(1, "\xc6\xf8\x10", 3);
	CHECK(code_scan_suspicious(page, true, true), "XABORT");
	CHECK(code_scan_suspicious(one_before, true, true), "that page can change alone");
	CHECK(!code_scan_suspicious(one_before, true, false), "what is after suspects itself");
	across(1, "\xc7\xf8\x10\x00\x00\x00", 6);
	CHECK(code_scan_suspicious(page, true, true), "XBEGIN");
	CHECK(code_scan_suspicious(one_before, true, true));
	across(2, "\xe8\xc6\xf8\xff\xff\x84\xc0", 7);
	CHECK(!code_scan_suspicious(page, true, true), "CALL with C6H F8H");
	CHECK(!code_scan_suspicious(one_before, true, true));
	across(0, "\x90\xe8\xc6\xf8\xff\xff\x84\xc0", 8);
	CHECK(!code_scan_suspicious(page, true, true), "CALL, with enough before it");
	across(0, "\x90\xc6\xf8\x10", 4);
	CHECK(code_scan_suspicious(page, true, true), "XABORT at 1");
}

int main(void)
{
	RUN(two_pages);
	RUN(parts_of_others);
	RUN(nothing_is_overlooked);
	RUN(each_place);
	RUN(the_page_ends);
	RUN(elided_locks);
	RUN(distances);
	return check_end();
}
