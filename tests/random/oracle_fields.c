/* SPDX-License-Identifier: MIT */
/*
 * Fields of a record that every format has: SDM "PEBS Record Format", "PEBS Data Address
 * Profiling".
 */
#include "spec/x86.h"
#include "tests/random/oracle_internal.h"

#define RFLAGS_KNOWN	(RFLAGS_FIXED | RFLAGS_TF | RFLAGS_IF | RFLAGS_DF)

/* Check the field if the format has it. */
void oracle_expect_field(struct oracle *o, enum draw_claim claim, const struct pebs_record *r,
			 enum record_field field, u64 want, const char *what)
{
	u64 got;

	if (record_get(r, field, &got))
		oracle_expect(o, claim, want, 0, got, what, o->record);
}

void oracle_judge_registers(struct oracle *o, const struct trace_step *step,
			    const struct pebs_record *r)
{
	static const u8 drawn[] = { RECORD_r8, RECORD_r9, RECORD_r10, RECORD_r11, RECORD_r12 };
	const struct draw_piece *piece = piece_get(step->piece);
	u64 flags;

	for (unsigned n = 0; n < sizeof(drawn); n++)
		oracle_expect_field(o, DRAW_CLAIM_REGISTERS, r, drawn[n], draw_constant(o->c, n),
				    "R8 to R12 of record %lu");
	oracle_expect_field(o, DRAW_CLAIM_REGISTERS, r, RECORD_r13, o->env->operations,
			    "R13 of record %lu");
	oracle_expect_field(o, DRAW_CLAIM_REGISTERS, r, RECORD_r14, o->env->frame,
			    "R14 of record %lu");
	oracle_expect_field(o, DRAW_CLAIM_REGISTERS, r, RECORD_r15, step->r15, "R15 of record %lu");
	oracle_expect_field(o, DRAW_CLAIM_REGISTERS, r, RECORD_rbp, draw_pointer(o->env, o->c, 1),
			    "RBP of record %lu");
	if (!(piece->flags & PIECE_EXITS))
		oracle_expect_field(o, DRAW_CLAIM_REGISTERS, r, RECORD_rbx,
				    draw_pointer(o->env, o->c, 2), "RBX of record %lu");
	if (!(piece->flags & PIECE_MOVES_SI))
		oracle_expect_field(o, DRAW_CLAIM_REGISTERS, r, RECORD_rsi,
				    draw_pointer(o->env, o->c, 0), "RSI of record %lu");
	oracle_expect_field(o, DRAW_CLAIM_RSP, r, RECORD_rsp, step->rsp, "RSP of record %lu");
	if (record_get(r, RECORD_rflags, &flags))
		oracle_expect(o, DRAW_CLAIM_FLAGS,
			      RFLAGS_FIXED | (step->if_set ? RFLAGS_IF : 0) |
				      (step->row->flags & ROW_DF ? RFLAGS_DF : 0),
			      0, flags & RFLAGS_KNOWN, "RFLAGS of record %lu: bit 1, TF, IF and DF",
			      o->record);
}

/* The data linear address must be that of one of the accesses that cause the event. */
static bool is_accessed(const struct oracle *o, const struct trace_step *step,
			const struct row_operand *operand, unsigned accesses, u64 address)
{
	u64 first = trace_address(o->env, o->c, step, operand);

	/* If the table doesn't give all addresses, any address may be right. */
	if (!first)
		return accesses;
	return accesses && address >= first && address < first + (u64)accesses * operand->size;
}

void oracle_judge_address(struct oracle *o, const struct trace_step *step, unsigned counter,
			  const struct pebs_record *r)
{
	const struct draw_event *event = oracle_event_of(o, counter);
	const struct draw_row *row = step->row;
	u64 address;
	bool store;

	if (!event || !(event->flags & EV_DLA) ||
	    !record_get(r, RECORD_data_linear_address, &address))
		return;
	/* A WRMSR may have loads of its own (calibration); the manual doesn't give their
	 * addresses. */
	if (row->flags & ROW_WRMSR)
		return;
	store = event->kind == EK_STORES || event->kind == EK_SPLIT_STORES;
	/* Nor does it give the address of a prefetch or of a fence that counts. */
	if (row->flags & (ROW_PREFETCH | ROW_STORE_FENCE))
		return;
	oracle_expect(o, DRAW_CLAIM_ADDRESS, 1, 0,
		      store ? is_accessed(o, step, &row->store, row->stores, address) :
			      is_accessed(o, step, &row->load, row->loads, address),
		      "record %lu has an address that its instruction accesses", o->record);
	/* In adaptive records only load latency has the other fields (docs/READINGS.md). */
	if (o->env->adaptive.baseline)
		return;
	oracle_expect(o, DRAW_CLAIM_SOURCE, 0, 1, r->value[RECORD_data_source],
		      "data source of record %lu", o->record);
	oracle_expect(o, DRAW_CLAIM_LATENCY, 0, 0, r->value[RECORD_latency],
		      "latency of record %lu", o->record);
}
