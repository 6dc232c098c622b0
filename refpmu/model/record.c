/* SPDX-License-Identifier: MIT */
/*
 * The contents of a PEBS record, in the format of the generation: Table 18-23 "PEBS Record Format
 * for Intel Core i7 Processor Family", Table 18-44 "PEBS Record Format for 4th Generation Intel
 * Core Processor Family". Fields of memory accesses are in data_address.c. Table 18-55, format 3:
 * the applicable counters, and the time of the assist.
 */
#include "refpmu/model/record.h"

static const u16 sizes[] = {
#define RECORD_SIZE(format, bytes) [FORMAT_##format] = (bytes),
#include "spec/record.def"
};

/* Formats 1 to 3: the sizes of Tables 18-23, 18-44 and 18-55. Adaptive records: Linux ds.c. */
unsigned model_record_bytes(const struct model *m)
{
	if (model_format_is_adaptive(m))
		return m->record_bytes;
	return sizes[model_generation(m)->pebs_format];
}

static const struct {
	u8 format;
	u16 offset, member;
} fields[] = {
#define RECORD_FIELD(format, field, offset, size, title) \
	{ FORMAT_##format, offset, offsetof(struct record, field) },
#include "spec/record.def"
};

/* Format 2 is "almost identical" to Table 18-23; "Offset B0H is a new field". Format 3 is Table
 * 18-55. */
static void write_fields(const struct model *m, const struct record *record, u8 *bytes)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].format == model_generation(m)->pebs_format)
			put64(bytes + fields[i].offset,
			      get64((const u8 *)record + fields[i].member));
}

/* The general registers of Table 18-44, R/EAX to R15. */
void model_record_gprs(const u64 *gpr, struct record *record)
{
	record->rax = gpr[REG_RAX];
	record->rbx = gpr[REG_RBX];
	record->rcx = gpr[REG_RCX];
	record->rdx = gpr[REG_RDX];
	record->rsi = gpr[REG_RSI];
	record->rdi = gpr[REG_RDI];
	record->rbp = gpr[REG_RBP];
	record->rsp = gpr[REG_RSP];
	record->r8 = gpr[REG_R8];
	record->r9 = gpr[REG_R9];
	record->r10 = gpr[REG_R10];
	record->r11 = gpr[REG_R11];
	record->r12 = gpr[REG_R12];
	record->r13 = gpr[REG_R13];
	record->r14 = gpr[REG_R14];
	record->r15 = gpr[REG_R15];
}

/*
 * The registers are those after the instruction: R/EIP "points to the instruction following" it.
 * "Offset B0H is a new field that records the eventing IP address of the retired instruction that
 * triggered the PEBS assist." The status field is IA32_PERF_GLOBAL_STATUS as it was at the assist.
 */
void model_collect_record(struct model *m, const struct retire_ctx *s, unsigned x, u64 status,
			  u64 applicable, struct record *record)
{
	*record = (struct record){
		.rflags = s->r->after.rflags,
		.rip = s->r->after.rip,
		.status = status,
		.applicable = applicable,
		.tsc = m->host->tsc ? m->host->tsc(m->host->ctx) : m->cycles,
		.eventing_ip = s->r->ip,
		.tx_abort = model_tx_field(m, s),
	};

	model_record_gprs(s->r->after.gpr, record);
	model_record_memory(m, s, x, record);
	fault_record_fields(m, s, x, record);
}

/* IA32_PERF_CAPABILITIES[11:8] chooses the layout: "IA32_PERF_CAPABILITIES MSR Enumeration". */
void model_fill_record(struct model *m, const struct retire_ctx *s, unsigned x, u64 status,
		       u64 applicable, const struct adaptive_layout *layout, u8 *bytes)
{
	struct record record;

	model_collect_record(m, s, x, status, applicable, &record);
	if (!model_format_is_adaptive(m)) {
		write_fields(m, &record, bytes);
		return;
	}
	model_adaptive_fill(m, s, layout, &record, bytes);
	fault_adaptive_bytes(m, s, x, layout, bytes);
}
