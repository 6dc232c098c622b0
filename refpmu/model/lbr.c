/* SPDX-License-Identifier: MIT */
/*
 * Last branch records: "LBR Stack", "Filtering of Last Branch Records", and those sections for
 * Haswell and Skylake microarchitecture. A taken branch, an interrupt or an exception makes an
 * entry; MSR_LBR_SELECT filters kinds of branches out.
 *
 * Not handled: branch trace messages and store, LER, MSR_LBR_SELECT's old meaning of bit 9 on
 * Nehalem.
 */
#include "refpmu/model/lbr.h"

#include "refpmu/model/core.h"

/* "LBR Stack": the depth belongs to the format. Architectural: IA32_LBR_DEPTH, Linux. */
unsigned model_lbr_entries(const struct model *m)
{
	if (model_has_arch_lbr(m))
		return m->lbr.depth;
	if (!(model_generation(m)->facilities & FAC_LBR))
		return 0;
	switch (model_lbr_format(m)) {
#define LBR_FORMAT(format, entries, title, source) \
	case format: \
		return entries;
#include "spec/lbr.def"
	}
	return 0;
}

/* "IA32_PERF_CAPABILITIES MSR Enumeration", LBR_FMT; all bits 1 if architectural. */
unsigned model_lbr_format(const struct model *m)
{
	const unsigned architectural = IA32_PERF_CAPABILITIES_LBR_FMT;

	if (model_told(m, LAT_PERF_CAPABILITIES) || model_told(m, LAT_PDCM))
		return (unsigned)(model_capabilities(m) & IA32_PERF_CAPABILITIES_LBR_FMT);
	return model_has_arch_lbr(m) ? architectural : model_generation(m)->lbr_fmt;
}

/* "LBR Stack": MSR_LASTBRANCH_TOS is the newest entry's index, older ones are below it, modulo the
 * depth. */
static unsigned nth_newest(const struct model *m, unsigned n)
{
	const unsigned depth = model_lbr_entries(m);

	return depth ? (m->lbr.tos + depth - n % depth) % depth : 0;
}

const struct lbr_entry *model_lbr_entry(const struct model *m, unsigned n)
{
	return &m->lbr.entry[nth_newest(m, n)];
}

/* Flags of a register by format: the columns of spec/lbr.def. */
static const struct {
	u8 format, reg;
	u64 bits;
} fields[] = {
#define LBR_REG_FROM MODEL_REG_LBR_FROM
#define LBR_REG_INFO MODEL_REG_LBR_INFO
#define LBR_FIELD(format, register, field, lo, hi, source) \
	{ format, LBR_REG_##register, BITS(lo, hi) },
#include "spec/lbr.def"
};

/* Table 17-9 (format 3), 17-14 (format 4) and 17-16 (format 5), as spec/lbr.def has them. */
u64 model_lbr_flags(const struct model *m, enum model_reg reg)
{
	u64 bits = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].format == model_lbr_format(m) && fields[i].reg == reg)
			bits |= fields[i].bits;
	return bits;
}

/* MSR_LBR_INFO_x: Table 17-16, from Skylake on. */
bool model_lbr_has_info(const struct model *m)
{
	return model_lbr_flags(m, MODEL_REG_LBR_INFO);
}

/* "IA32_DEBUGCTL MSR", LBR; with architectural records IA32_LBR_CTL[0] instead: Linux. */
bool model_lbr_enabled(const struct model *m)
{
	return model_has_arch_lbr(m) ? m->lbr.control & IA32_LBR_CTL_LBREN :
				       m->debugctl & IA32_DEBUGCTL_LBR;
}

/* LBR_Frz stops recording: "Freezing LBR and Performance Counters on PMI". */
bool model_lbr_on(const struct model *m)
{
	bool on = model_lbr_enabled(m) && !(m->global_status & IA32_PERF_GLOBAL_STATUS_LBR_FRZ);

	return model_lbr_entries(m) && fault_lbr_on(m, on);
}

/* ---- registers ---- */

/* Legacy registers have the number of the entry, and MSR_LASTBRANCH_TOS tells which is the
 * newest: "LBR Stack". Architectural entry 0 is the newest: Linux. */
u64 model_lbr_read(const struct model *m, const struct msr_ref *p)
{
	switch (p->reg) {
	case MODEL_REG_LBR_SELECT:
		return m->lbr.select;
	case MODEL_REG_LBR_TOS:
		return m->lbr.tos;
	case MODEL_REG_LBR_FROM:
		return m->lbr.entry[p->i].from;
	case MODEL_REG_LBR_TO:
		return m->lbr.entry[p->i].to;
	case MODEL_REG_LBR_INFO:
		return m->lbr.entry[p->i].info;
	case MODEL_REG_ARCH_LBR_CTL:
		return m->lbr.control;
	case MODEL_REG_ARCH_LBR_DEPTH:
		return m->lbr.depth;
	case MODEL_REG_ARCH_LBR_FROM:
		return model_lbr_entry(m, p->i)->from;
	case MODEL_REG_ARCH_LBR_TO:
		return model_lbr_entry(m, p->i)->to;
	default:
		return model_lbr_entry(m, p->i)->info;
	}
}

/* "LBR Stack". Linux writes FROM, TO and INFO to restore them; a write of IA32_LBR_DEPTH clears
 * all: Linux intel_pmu_arch_lbr_reset. */
void model_lbr_write(struct model *m, const struct msr_ref *p, u64 value)
{
	struct lbr_entry *entry = &m->lbr.entry[nth_newest(m, p->i)];

	switch (p->reg) {
	case MODEL_REG_LBR_SELECT:
		m->lbr.select = value;
		break;
	case MODEL_REG_LBR_TOS:
		m->lbr.tos = (u8)value;
		break;
	case MODEL_REG_LBR_FROM:
		m->lbr.entry[p->i].from = value;
		break;
	case MODEL_REG_LBR_TO:
		m->lbr.entry[p->i].to = value;
		break;
	case MODEL_REG_LBR_INFO:
		m->lbr.entry[p->i].info = value;
		break;
	case MODEL_REG_ARCH_LBR_CTL:
		if (m->lbr.control & ~value & IA32_LBR_CTL_LBREN)
			fault_lbr_stopped(m, LBR_STOP_FLAG);
		model_arch_lbr_control(m, value);
		break;
	case MODEL_REG_ARCH_LBR_DEPTH:
		model_arch_lbr_set_depth(m, value);
		break;
	case MODEL_REG_ARCH_LBR_FROM:
		entry->from = value;
		break;
	case MODEL_REG_ARCH_LBR_TO:
		entry->to = value;
		break;
	default:
		entry->info = value;
		break;
	}
}

/* ---- recording ---- */

/* FROM[63] with formats 3 and 4 (Table 17-9), [62] and [61] with format 4 (Table 17-14);
 * MSR_LBR_INFO_x with 5 and later (Table 17-16). */
static void fill_flags(const struct model *m, const struct lbr_branch *b, struct lbr_plan *plan)
{
	u64 cycles = m->cycles - m->lbr.cycles;

	if (model_has_arch_lbr(m)) {
		model_arch_lbr_fill(m, b, plan);
		return;
	}
	switch (model_lbr_format(m)) {
	case 3:
		plan->from = (plan->from & ~LBR3_FROM_MISPRED) |
			     (b->mispredicted ? LBR3_FROM_MISPRED : 0);
		break;
	case 4:
		plan->from &= ~(LBR4_FROM_MISPRED | LBR4_FROM_IN_TX | LBR4_FROM_TSX_ABORT);
		plan->from |= (b->mispredicted ? LBR4_FROM_MISPRED : 0) |
			      (b->in_tx ? LBR4_FROM_IN_TX : 0) |
			      (b->abort ? LBR4_FROM_TSX_ABORT : 0);
		break;
	default:
		plan->info = (b->mispredicted ? LBR5_INFO_MISPRED : 0) |
			     (b->in_tx ? LBR5_INFO_IN_TX : 0) |
			     (b->abort ? LBR5_INFO_TSX_ABORT : 0) |
			     (cycles < LBR5_INFO_CYC_CNT ? cycles : LBR5_INFO_CYC_CNT);
	}
}

/* "Filtering of Last Branch Records", Table 17-11: a bit that is set filters out its kind. */
static bool passes_filter(const struct model *m, const struct lbr_branch *b)
{
	u64 level = b->cpl ? LBR_SELECT_CPL_NEQ_0 : LBR_SELECT_CPL_EQ_0;

	if (b->kind == LBR_SELECT_NEAR_REL_CALL && model_has_erratum(m, ERRATUM_CALL_FILTER))
		level |= LBR_SELECT_NEAR_REL_JMP;
	return b->kind && !(m->lbr.select & (level | b->kind));
}

/* Call-stack mode, Table 17-13: a call is recorded and a return removes the last entry. A call
 * to the next instruction doesn't return, so it isn't recorded. */
static void stack_calls(const struct model *m, const struct lbr_branch *b, struct lbr_plan *plan)
{
	if (!(m->lbr.select & LBR_SELECT_EN_CALLSTACK) || !plan->records)
		return;
	if (b->kind == LBR_SELECT_NEAR_RET) {
		plan->pops = true;
		plan->records = false;
		plan->step = -1;
	} else if (b->kind == LBR_SELECT_NEAR_REL_CALL && b->to == b->next) {
		plan->records = false;
	}
}

/* "LBR Stack": MSR_LASTBRANCH_TOS moves to the new entry. In call-stack mode a return moves it
 * back and leaves zeros: docs/READINGS.md, "Last branch records". */
static void apply_plan(struct model *m, const struct lbr_plan *plan)
{
	const unsigned entries = plan->entries;

	if (plan->pops && !plan->keeps)
		m->lbr.entry[m->lbr.tos] = (struct lbr_entry){ 0 };
	if (plan->pops || plan->records)
		m->lbr.tos = (u8)((m->lbr.tos + entries + (unsigned)plan->step) % entries);
	if (plan->records ? !plan->log_goes_on : plan->log_begins)
		model_lbr_log_begin(m);
	if (!plan->records)
		return;
	m->lbr.entry[m->lbr.tos] = (struct lbr_entry){ plan->from, plan->to, plan->info };
	m->lbr.cycles = m->cycles;
}

/* "IA32_DEBUGCTL MSR": taken branches, interrupts and exceptions are recorded while LBR is set.
 * The filter may leave them out. */
static bool record_branch(struct model *m, const struct lbr_branch *b)
{
	struct lbr_plan plan = {
		.records = passes_filter(m, b),
		.entries = model_lbr_entries(m),
		.from = b->from,
		.to = b->to,
		.step = 1,
	};

	fill_flags(m, b, &plan);
	stack_calls(m, b, &plan);
	fault_lbr(m, b, &plan);
	fault_lbr_log(m, b, &plan);
	apply_plan(m, &plan);
	return plan.records;
}

/* The kind of a taken branch: the rows of Table 17-11. */
static u64 kind_of(enum model_branch branch, bool indirect)
{
	switch (branch) {
	case BRANCH_NONE:
		return LBR_NO_KIND;
	case BRANCH_CONDITIONAL:
		return LBR_SELECT_JCC;
	case BRANCH_JUMP:
		return indirect ? LBR_SELECT_NEAR_IND_JMP : LBR_SELECT_NEAR_REL_JMP;
	case BRANCH_CALL:
		return indirect ? LBR_SELECT_NEAR_IND_CALL : LBR_SELECT_NEAR_REL_CALL;
	case BRANCH_RETURN:
		return LBR_SELECT_NEAR_RET;
	case BRANCH_FAR:
		return LBR_SELECT_FAR_BRANCH;
	}
	return LBR_NO_KIND;
}

static struct lbr_branch branch_of(const struct model *m, const struct model_retired *r)
{
	return (struct lbr_branch){
		.from = r->ip,
		.to = r->after.rip,
		.kind = r->branch != BRANCH_CONDITIONAL || r->taken ?
				kind_of(r->branch, r->indirect) :
				LBR_NO_KIND,
		.next = r->next_ip,
		.cpl = r->cpl_after,
		.cpl_before = r->cpl,
		.mispredicted = model_mispredicted(r),
		.in_tx = model_in_tx(m),
	};
}

/* LBR_INSERTS counts entries (intel/perfmon). The entry of an interrupt counts with the next
 * instruction: docs/READINGS.md, "CPUID.0AH:EBX". */
u64 model_lbr_inserts(const struct model *m, const struct model_retired *r)
{
	const struct lbr_branch b = branch_of(m, r);
	struct lbr_plan plan = { .records = passes_filter(m, &b) };

	stack_calls(m, &b, &plan);
	return m->lbr.inserted + (r->branch != BRANCH_NONE && model_lbr_on(m) && plan.records);
}

void model_lbr_retired(struct model *m, const struct model_retired *r)
{
	const struct lbr_branch b = branch_of(m, r);

	if (r->branch != BRANCH_NONE && model_lbr_on(m))
		record_branch(m, &b);
}

/* The bits of Table 17-11 for privilege levels. */
bool model_lbr_records(const struct model *m, u8 cpl)
{
	return model_lbr_on(m) &&
	       !(m->lbr.select & (cpl ? LBR_SELECT_CPL_NEQ_0 : LBR_SELECT_CPL_EQ_0));
}

void model_lbr_taken(struct model *m, u8 cpl, const struct model_taken *b)
{
	const struct lbr_branch taken = {
		.from = b->ip,
		.to = b->target,
		.kind = kind_of(b->branch, b->indirect),
		.next = b->next_ip,
		.cpl = cpl,
		.cpl_before = cpl,
		.mispredicted = b->branch == BRANCH_CONDITIONAL &&
				!model_branch_is_backward(b->next_ip, b->target),
	};

	record_branch(m, &taken);
}

/* Table 17-14, TSX_ABORT: the abort of a transaction makes an entry. */
void model_lbr_aborted(struct model *m, const struct model_retired *r)
{
	const struct lbr_branch b = {
		.from = r->ip,
		.to = r->after.rip,
		.kind = LBR_SELECT_FAR_BRANCH,
		.cpl = r->cpl,
		.cpl_before = r->cpl,
		.in_tx = true,
		.abort = true,
	};

	if (model_lbr_on(m))
		m->lbr.inserted += record_branch(m, &b);
}

/* "IA32_DEBUGCTL MSR", LBR; with architectural records IA32_LBR_CTL.LBREn. */
static void stop_recording(struct model *m)
{
	if (model_has_arch_lbr(m))
		m->lbr.control &= ~(u64)IA32_LBR_CTL_LBREN;
	else
		m->debugctl &= ~(u64)IA32_DEBUGCTL_LBR;
}

/*
 * "IA32_DEBUGCTL MSR": a debug exception clears the LBR flag before its handler runs, so the
 * exception isn't recorded. Architectural records: "On a debug breakpoint event (#DB),
 * IA32_LBR_CTL.LBREn is cleared."
 */
void model_transfer(struct model *m, u64 from, u64 to, u8 cpl_before, u8 cpl, unsigned kind)
{
	const struct lbr_branch b = {
		.from = from,
		.to = to,
		.kind = LBR_SELECT_FAR_BRANCH,
		.cpl = cpl,
		.cpl_before = cpl_before,
		.is_event = true,
		.with_error = kind & TRANSFER_ERROR_CODE,
	};

	if (kind & TRANSFER_DEBUG && model_lbr_enabled(m) &&
	    fault_lbr_debug(m, kind, cpl_before, true))
		stop_recording(m);
	else if (model_lbr_on(m))
		m->lbr.inserted += record_branch(m, &b);
}
