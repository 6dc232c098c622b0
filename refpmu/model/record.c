/* SPDX-License-Identifier: MIT */
/*
 * What is in a PEBS record, in the format of the generation: Table 18-23 "PEBS Record Format for
 * Intel Core i7 Processor Family", Table 18-44 "PEBS Record Format for 4th Generation Intel Core
 * Processor Family". What belongs to memory accesses is in data_address.c.
 */
#include "refpmu/model/record.h"

static const u16 sizes[] = {
#define RECORD_SIZE(format, bytes) [FORMAT_##format] = (bytes),
#include "spec/record.def"
};

unsigned model_record_bytes(const struct model *m)
{
	return sizes[model_generation(m)->pebs_format];
}

static const struct { u8 format; u16 offset, member; } fields[] = {
#define RECORD_FIELD(format, field, offset, size, title) \
	{ FORMAT_##format, offset, offsetof(struct record, field) },
#include "spec/record.def"
};

static u64 member(const struct record *record, unsigned offset)
{
	u64 value;

	__builtin_memcpy(&value, (const u8 *)record + offset, sizeof(value));
	return value;
}

void model_fill_record(struct model *m, const struct step *s, unsigned x, u64 status, u8 *bytes)
{
	const u64 *gpr = broken(m, FAULT_GPR_STALE) ? s->r->before.gpr : s->r->after.gpr;
	struct record record = {
		.rflags = s->r->after.rflags,
		.rip = s->r->after.rip,
		.rax = gpr[REG_RAX],
		.rbx = gpr[REG_RBX],
		.rcx = gpr[REG_RCX],
		.rdx = gpr[REG_RDX],
		.rsi = gpr[REG_RSI],
		.rdi = gpr[REG_RDI],
		.rbp = gpr[REG_RBP],
		.rsp = gpr[REG_RSP],
		.r8 = gpr[REG_R8],
		.r9 = gpr[REG_R9],
		.r10 = gpr[REG_R10],
		.r11 = gpr[REG_R11],
		.r12 = gpr[REG_R12],
		.r13 = gpr[REG_R13],
		.r14 = gpr[REG_R14],
		.r15 = gpr[REG_R15],
		.status = status,
		.eventing_ip = s->r->ip,
	};

	record.tx_abort = model_tx_field(m, s);
	if ((s->tx_abort || s->aborts) && broken(m, FAULT_TX_RIP_ABORTING))
		record.rip = s->r->ip;
	if ((s->tx_abort || s->aborts) && m->tx.elided && broken(m, FAULT_HLE_RIP_ABORTING))
		record.rip = s->r->ip;
	/* Instruction_Abort. */
	if (s->tx_abort && record.tx_abort & BIT(34) && broken(m, FAULT_TX_EVENTING_IP_LATE))
		record.eventing_ip++;
	if ((s->tx_abort || s->aborts) && broken(m, FAULT_TX_RIP_INNER))
		record.rip = m->tx.fallback_inner;
	model_record_memory(m, s, x, &record);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].format == model_generation(m)->pebs_format)
			put64(bytes + fields[i].offset, member(&record, fields[i].member));
}
