/* SPDX-License-Identifier: MIT */
/*
 * Faults of the contents of a record: the named ones of refpmu/faults/fault.def and the generated
 * ones of refpmu/faults/fault_record.def. The functions get the correct record as an array of
 * bytes.
 */
#include "refpmu/faults/record.h"
#include "refpmu/faults/broken.h"
#include "spec/x86.h"

#define STRING_LOADS	4	/* more than any instruction without a REP prefix has */
#define CACHE_LINE	64
#define LOW_WORD	0xffffu
#define INSTRUCTION_ABORT	BIT(34)	/* Table 18-51 */

/* The faults that are generated for one field. */
struct field_faults {
	u16 zero, stale, shifted, swapped;	/* enum fault_id; FAULT_NONE: there is none */
};

/* Indexed by offset / 8. */
static const struct field_faults fields[MODEL_RECORD_BYTES / sizeof(u64)] = {
#define FAULT_RECORD_FIELD(token, field, name, requirements, title, ...) \
	[FMT2_OFFSET_##field / sizeof(u64)].zero = FAULT_##token##_ZERO, \
	[FMT2_OFFSET_##field / sizeof(u64)].stale = FAULT_##token##_STALE, \
	[FMT2_OFFSET_##field / sizeof(u64)].shifted = FAULT_##token##_SHIFTED,
#define FAULT_RECORD_PAIR(token, field, name, requirements, title, ...) \
	[FMT2_OFFSET_##field / sizeof(u64)].swapped = FAULT_##token##_SWAPPED,
#define FAULT(token, name, requirements, sentence, ...)
#include "refpmu/faults/fault_record.def"
#undef FAULT
};

/* The present contents of memory at this address; 0 if nothing is mapped. */
static u64 already_there(const struct model *m, u64 linear)
{
	u8 bytes[sizeof(u64)];

	if (!m->host->read(m->host->ctx, linear, bytes, sizeof(bytes)))
		return 0;
	return get64(bytes);
}

static void shift(struct model *m, unsigned offset, u64 linear, u8 *bytes)
{
	unsigned end = model_record_bytes(m);
	u8 value[sizeof(u64)];

	__builtin_memcpy(value, bytes + offset, sizeof(value));
	put64(bytes + offset, already_there(m, linear + offset));
	if (offset + 2 * sizeof(u64) <= end)
		__builtin_memcpy(bytes + offset + sizeof(u64), value, sizeof(value));
	else
		m->host->write(m->host->ctx, linear + end, value, sizeof(value));
}

static void swap(u8 *a, u8 *b)
{
	u64 value = get64(a);

	put64(a, get64(b));
	put64(b, value);
}

static void break_field(struct model *m, unsigned n, const struct field_faults *faults, u64 linear,
			u8 *bytes)
{
	unsigned offset = n * (unsigned)sizeof(u64);

	if (broken(m, faults->zero))
		put64(bytes + offset, 0);
	if (broken(m, faults->stale))
		put64(bytes + offset, get64(faults_of(m)->previous_record + offset));
	if (broken(m, faults->shifted))
		shift(m, offset, linear, bytes);
	if (faults->swapped != FAULT_NONE && broken(m, faults->swapped))
		swap(bytes + offset, bytes + offset + sizeof(u64));
}

/* The order in which instructions encode the registers. */
static void encoding_order(u8 *bytes)
{
	u8 good[MODEL_RECORD_BYTES];

	__builtin_memcpy(good, bytes, sizeof(good));
	put64(bytes + FMT2_OFFSET_rbx, get64(good + FMT2_OFFSET_rcx));
	put64(bytes + FMT2_OFFSET_rcx, get64(good + FMT2_OFFSET_rdx));
	put64(bytes + FMT2_OFFSET_rdx, get64(good + FMT2_OFFSET_rbx));
	put64(bytes + FMT2_OFFSET_rsi, get64(good + FMT2_OFFSET_rsp));
	put64(bytes + FMT2_OFFSET_rdi, get64(good + FMT2_OFFSET_rbp));
	put64(bytes + FMT2_OFFSET_rbp, get64(good + FMT2_OFFSET_rsi));
	put64(bytes + FMT2_OFFSET_rsp, get64(good + FMT2_OFFSET_rdi));
}

static void without_flags(u8 *bytes)
{
	for (size_t offset = 0; offset < FMT2_OFFSET_latency; offset += sizeof(u64))
		put64(bytes + offset, get64(bytes + offset + sizeof(u64)));
	put64(bytes + FMT2_OFFSET_latency, 0);
}

static void keep_low_half(u8 *bytes, unsigned offset)
{
	put64(bytes + offset, get64(bytes + offset) & BITS(0, 31));
}

static bool is_taken(const struct model_retired *r)
{
	return r->branch != BRANCH_NONE && (r->branch != BRANCH_CONDITIONAL || r->taken);
}

static void break_flags(struct model *m, u8 *bytes)
{
	u64 flags = get64(bytes + FMT2_OFFSET_rflags);

	if (flags & RFLAGS_DF && broken(m, FAULT_RFLAGS_NO_DF))
		flags &= ~RFLAGS_DF;
	if (flags & (RFLAGS_IOPL | RFLAGS_NT | RFLAGS_AC) && broken(m, FAULT_RFLAGS_NO_SYSTEM))
		flags &= ~(RFLAGS_IOPL | RFLAGS_NT | RFLAGS_AC);
	if (broken(m, FAULT_RFLAGS_UPPER_RAX))
		flags = (flags & BITS(0, 31)) | (get64(bytes + FMT2_OFFSET_rax) & BITS(32, 63));
	put64(bytes + FMT2_OFFSET_rflags, flags);
}

static void keep_48_bits(u8 *bytes, unsigned at)
{
	put64(bytes + at, get64(bytes + at) & BITS(0, 47));
}

static void break_upper_halves(struct model *m, u8 *bytes)
{
	if (broken(m, FAULT_CODE_ADDRESS_32)) {
		keep_low_half(bytes, FMT2_OFFSET_rip);
		keep_low_half(bytes, FMT2_OFFSET_eventing_ip);
	}
	if (broken(m, FAULT_CODE_ADDRESS_48)) {
		keep_48_bits(bytes, FMT2_OFFSET_rip);
		keep_48_bits(bytes, FMT2_OFFSET_eventing_ip);
	}
	if (broken(m, FAULT_REGISTERS_32))
		for (unsigned at = FMT2_OFFSET_rax; at <= FMT2_OFFSET_r15; at += 8)
			keep_low_half(bytes, at);
}

static void break_precise_distribution(struct model *m, const struct retire_ctx *s, u8 *bytes)
{
	if (broken(m, FAULT_PDIR_BEFORE)) {
		put64(bytes + FMT2_OFFSET_eventing_ip, faults_of(m)->ip_before);
		put64(bytes + FMT2_OFFSET_rip, s->r->ip);
	}
	if (broken(m, FAULT_PDIR_DATA)) {
		put64(bytes + FMT2_OFFSET_data_linear_address, s->r->ip * 3);
		put64(bytes + FMT2_OFFSET_data_source, s->r->ip * 5);
		put64(bytes + FMT2_OFFSET_latency, s->r->ip * 7);
	}
}

static bool address_is_lost(struct model *m, const struct retire_ctx *s, unsigned x)
{
	return (x != 0 && broken(m, FAULT_DLA_PMC0_ONLY)) ||
	       (s->rule[x]->kind == EK_STORES && broken(m, FAULT_DLA_LOADS_ONLY)) ||
	       (!(m->pebs_enable & BIT(IA32_PEBS_ENABLE_LL_EN_PMC_SHIFT + x)) &&
		broken(m, FAULT_DLA_NEEDS_LL));
}

static void break_data_address(struct model *m, const struct retire_ctx *s, unsigned x, u8 *bytes)
{
	u64 address = get64(bytes + FMT2_OFFSET_data_linear_address);

	if (address_is_lost(m, s, x))
		put64(bytes + FMT2_OFFSET_data_linear_address, 0);
	if (broken(m, FAULT_DLA_LINE))
		put64(bytes + FMT2_OFFSET_data_linear_address, address & -(u64)CACHE_LINE);
	if (broken(m, FAULT_DATA_SOURCE_EXTRA))
		bytes[FMT2_OFFSET_data_source] |= 1 << 4;
	if (broken(m, FAULT_LATENCY_LEFT))
		put64(bytes + FMT2_OFFSET_latency, 7);
}

void fault_record_bytes(struct model *m, const struct retire_ctx *s, unsigned x, u64 linear,
			u8 *bytes)
{
	u8 good[MODEL_RECORD_BYTES];

	/* The offsets below are those of formats 1 to 3. */
	if (model_format_is_adaptive(m))
		return;
	__builtin_memcpy(good, bytes, sizeof(good));
	for (unsigned n = 0; n < model_record_bytes(m) / sizeof(u64); n++)
		break_field(m, n, &fields[n], linear, bytes);
	if (s->rule[x]->flags & EV_DLA)
		break_data_address(m, s, x, bytes);
	break_flags(m, bytes);
	break_upper_halves(m, bytes);
	if (s->rule[x]->flags & EV_PDIR)
		break_precise_distribution(m, s, bytes);
	if (is_taken(s->r) && broken(m, FAULT_BRANCH_RIP_EVENTING))
		put64(bytes + FMT2_OFFSET_rip, s->r->ip);
	if (s->r->compatibility && broken(m, FAULT_RIP_COMPATIBILITY_ZERO)) {
		put64(bytes + FMT2_OFFSET_rip, 0);
		put64(bytes + FMT2_OFFSET_eventing_ip, 0);
	}
	if (s->r->compatibility && broken(m, FAULT_COMPATIBILITY_EVENTING_NEXT))
		put64(bytes + FMT2_OFFSET_eventing_ip, s->r->after.rip);
	if (broken(m, FAULT_GPR_ORDER))
		encoding_order(bytes);
	if (broken(m, FAULT_RECORD_WITHOUT_FLAGS))
		without_flags(bytes);
	if (broken(m, FAULT_FLAGS_STALE))
		put64(bytes + FMT2_OFFSET_rflags, s->r->before.rflags);
	if (s->r->locked_loads && broken(m, FAULT_FLAGS_BEFORE_LOCK))
		put64(bytes + FMT2_OFFSET_rflags, s->r->before.rflags);
	if (broken(m, FAULT_EVENTING_IP_NEXT) ||
	    (is_by_level(s->rule[x]->kind) && broken(m, FAULT_LEVELS_IP_NEXT)))
		put64(bytes + FMT2_OFFSET_eventing_ip, s->r->after.rip);
	if (broken(m, FAULT_RIP_EVENTING) ||
	    (is_by_level(s->rule[x]->kind) && s->rule[x]->kind != EK_L1_HIT &&
	     broken(m, FAULT_LEVELS_RIP_SAME)))
		put64(bytes + FMT2_OFFSET_rip, s->r->ip);
	__builtin_memcpy(faults_of(m)->previous_record, good, sizeof(good));
}

#define ARITHMETIC_FLAGS \
	(RFLAGS_CF | RFLAGS_PF | RFLAGS_AF | RFLAGS_ZF | RFLAGS_SF | RFLAGS_OF)

#define CAPACITY_STATUS	BIT(3)	/* "RTM Abort Status Definition" */

/* Faults of an aborted transaction's registers and information. */
static void break_abort(struct model *m, const struct retire_ctx *s, struct record *record)
{
	if (broken(m, FAULT_TX_RIP_ABORTING) || (m->tx.elided && broken(m, FAULT_HLE_RIP_ABORTING)))
		record->rip = s->r->ip;
	if (s->tx_abort && record->tx_abort & INSTRUCTION_ABORT &&
	    broken(m, FAULT_TX_EVENTING_IP_LATE))
		record->eventing_ip++;
	if (s->tx_abort && s->r->cpl && broken(m, FAULT_TX_EVENTING_IP_USER))
		record->eventing_ip = record->rip;
	if (broken(m, FAULT_TX_RIP_INNER))
		record->rip = faults_of(m)->fallback_inner;
	if (s->tx_abort && broken(m, FAULT_TX_RECORD_NO_STATUS))
		record->rax = m->tx.gpr[REG_RAX];
	if (s->tx_abort && broken(m, FAULT_TX_RECORD_NO_REGISTERS))
		model_record_gprs((const u64[REG_COUNT]){ [REG_RAX] = record->rax }, record);
	if (s->tx_abort && m->tx.elided && broken(m, FAULT_HLE_RECORD_STATUS))
		record->rax = CAPACITY_STATUS;
	if (s->tx_abort && m->tx.elided && broken(m, FAULT_HLE_RECORD_NO_REGISTERS))
		model_record_gprs((const u64[REG_COUNT]){ [REG_RAX] = record->rax }, record);
	if (s->tx_abort && broken(m, FAULT_TX_RECORD_RSP))
		record->rsp -= 8;
	if (s->tx_abort && broken(m, FAULT_TX_RECORD_FLAGS))
		record->rflags &= ~ARITHMETIC_FLAGS;
}

/* A RIP at which the program doesn't continue. */
static void break_next_ip(struct model *m, const struct retire_ctx *s, struct record *record)
{
	enum model_branch branch = s->r->branch;

	if ((branch == BRANCH_CALL && broken(m, FAULT_CALL_RIP_BEHIND)) ||
	    (branch == BRANCH_RETURN && broken(m, FAULT_RETURN_RIP_BEHIND)) ||
	    (branch == BRANCH_FAR && broken(m, FAULT_FAR_RIP_BEHIND)) ||
	    (branch == BRANCH_CONDITIONAL && s->r->taken && broken(m, FAULT_TAKEN_RIP_BEHIND)))
		record->rip = s->r->next_ip;
}

/* The fault that gives RSP from before an instruction that changes it. */
static enum fault_id stack_fault(const struct model_retired *r)
{
	switch (r->branch) {
	case BRANCH_CALL:
		return FAULT_RSP_BEFORE_CALL;
	case BRANCH_RETURN:
		return FAULT_RSP_BEFORE_RETURN;
	default:
		return r->stores ? FAULT_RSP_BEFORE_PUSH : FAULT_RSP_BEFORE_POP;
	}
}

/* Registers that the instruction has changed have their old values. */
static void break_changes(struct model *m, const struct retire_ctx *s, struct record *record)
{
	const struct model_registers *before = &s->r->before, *after = &s->r->after;
	u64 gpr[REG_COUNT];
	unsigned n = 0;

	if (s->tx_abort || s->aborts)
		return;
	__builtin_memcpy(gpr, after->gpr, sizeof(gpr));
	for (unsigned i = 0; i < REG_COUNT; i++) {
		if (gpr[i] == before->gpr[i])
			continue;
		if (i != REG_RSP && n++ && broken(m, FAULT_SECOND_REGISTER_STALE))
			gpr[i] = before->gpr[i];
		if (s->r->locked_loads && broken(m, FAULT_LOCKED_REGISTER_STALE))
			gpr[i] = before->gpr[i];
		if (gpr[i] > LOW_WORD && gpr[i] >> 16 == before->gpr[i] >> 16 &&
		    broken(m, FAULT_PART_REGISTER_WHOLE))
			gpr[i] &= LOW_WORD;
		if (i > REG_RDI && broken(m, FAULT_UPPER_REGISTERS_STALE))
			gpr[i] = before->gpr[i];
		else if (before->gpr[i] >> 32 && !(gpr[i] >> 32) &&
			 broken(m, FAULT_UPPER_HALF_STALE))
			gpr[i] |= before->gpr[i] & BITS(32, 63);
	}
	if (gpr[REG_RSP] != before->gpr[REG_RSP] && broken(m, stack_fault(s->r)))
		gpr[REG_RSP] = before->gpr[REG_RSP];
	model_record_gprs(gpr, record);
	if (s->r->loads && s->r->stores && broken(m, FAULT_ADDED_FLAGS_STALE))
		record->rflags = before->rflags;
}

/* In a record of load latency or precise store: the fields that all records have. */
static void break_common_fields(struct model *m, const struct retire_ctx *s, unsigned x,
				struct record *record)
{
	u16 flags = s->rule[x]->flags;

	if (flags & EV_LL && broken(m, FAULT_LL_REGISTERS_STALE))
		model_record_gprs(s->r->before.gpr, record);
	if (flags & EV_LL && broken(m, FAULT_LL_FLAGS_STALE))
		record->rflags = s->r->before.rflags;
	if ((flags & EV_LL && broken(m, FAULT_LL_NO_STATUS)) ||
	    (flags & EV_PS && broken(m, FAULT_PS_NO_STATUS)))
		record->status = 0;
	if (flags & EV_PS && broken(m, FAULT_PS_REGISTERS_EMPTY))
		model_record_gprs((const u64[REG_COUNT]){ 0 }, record);
}

void fault_record_fields(struct model *m, const struct retire_ctx *s, unsigned x,
			 struct record *record)
{
	if (broken(m, FAULT_TSC_ZERO))
		record->tsc = 0;
	if (s->cpl && broken(m, FAULT_TSC_LOW_HALF_USER))
		record->tsc ^= BITS(32, 63);
	if (broken(m, FAULT_TSC_LOW_HALF))
		record->tsc ^= BITS(32, 63);
	if (m->config.fault == FAULT_TSC_FALLS && ++faults_of(m)->tick % 2 == 0 &&
	    broken(m, FAULT_TSC_FALLS))
		record->tsc -= BIT(40);
	if (m->config.fault == FAULT_NONE)
		return;
	break_changes(m, s, record);
	break_common_fields(m, s, x, record);
	if (broken(m, FAULT_GPR_STALE))
		model_record_gprs(s->r->before.gpr, record);
	if (s->r->compatibility && broken(m, FAULT_COMPATIBILITY_NO_R8))
		record->r8 = record->r9 = record->r10 = record->r11 = record->r12 = record->r13 =
			record->r14 = record->r15 = 0;
	if (model_status_bits(s->wrapped) & ~m->pebs_enable && broken(m, FAULT_APPLICABLE_BESIDE))
		record->applicable |= model_status_bits(s->wrapped);
	if (record->applicable & ~model_status_bits(s->due) && broken(m, FAULT_APPLICABLE_DUE_ONLY))
		record->applicable &= model_status_bits(s->due);
	break_next_ip(m, s, record);
	if (s->r->loads >= STRING_LOADS && broken(m, FAULT_EVENTING_IP_REP))
		record->eventing_ip = s->r->next_ip;
	if ((s->r->ip ^ (s->r->next_ip - 1)) & ~BITS(0, 11) && broken(m, FAULT_EVENTING_IP_PAGE))
		record->eventing_ip = s->r->next_ip & ~BITS(0, 11);
	if (s->tx_abort || s->aborts)
		break_abort(m, s, record);
}
