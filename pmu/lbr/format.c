/* SPDX-License-Identifier: MIT */
/*
 * See format.h. SDM "LBR Stack", "Last Branch Record Stack MSRs", "LBR Stack and IA-32 Processors"
 * and Table 17-16 (MSR_LBR_INFO_x). Format 4's bits 62:61 are flags, so software extends its
 * address from bit 47.
 */
#include "pmu/lbr/format.h"

#include "spec/lbr.h"

#define ADDRESS_BITS	48	/* in formats 3 and 4 */

#define FLAG_MISPREDICTED BIT(63)	/* of FROM in formats 3 and 4, of INFO in 5 and 7 */
#define FLAG_IN_TX	  BIT(62)
#define FLAG_ABORTED	  BIT(61)
#define INFO_CYCLES	  BITS(0, 15)

static const struct format {
	u8 depth;		/* 0: not decoded here */
	bool info, transactions;
} formats[] = {
	[3] = { 16, false, false },	/* EIP with flags */
	[4] = { 16, false, true },	/* and flags of transactions */
	[5] = { 32, true, true },	/* EIP and INFO */
	[7] = { 32, true, false },	/* the same without transactions */
};

static const struct format *format_of(unsigned number)
{
	static const struct format none;

	return number < sizeof(formats) / sizeof(formats[0]) ? &formats[number] : &none;
}

unsigned lbr_format_depth(unsigned format)
{
	return format_of(format)->depth;
}

bool lbr_format_has_info(unsigned format)
{
	return format_of(format)->info;
}

bool lbr_format_has_transactions(unsigned format)
{
	return format_of(format)->transactions;
}

static u64 canonical(u64 value)
{
	const unsigned above = 64 - ADDRESS_BITS;

	return (u64)((int64_t)(value << above) >> above);
}

bool lbr_format_decode(unsigned number, const struct lbr_raw *raw, struct lbr_branch *branch)
{
	const struct format *format = format_of(number);
	u64 flags = format->info ? raw->info : raw->from;

	if (!format->depth)
		return false;
	*branch = (struct lbr_branch){
		.from = format->info ? raw->from : canonical(raw->from),
		.to = format->info ? raw->to : canonical(raw->to),
		.mispredicted = flags & FLAG_MISPREDICTED,
		.in_transaction = format->transactions && (flags & FLAG_IN_TX),
		.aborted = format->transactions && (flags & FLAG_ABORTED),
		.cycles = format->info ? (unsigned)(raw->info & INFO_CYCLES) : 0,
	};
	return true;
}
