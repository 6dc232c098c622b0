/* SPDX-License-Identifier: MIT */
/*
 * What RDMSR, WRMSR and RDPMC do with the registers of the PMU: chapter "Performance Monitoring",
 * Table 35-2 "IA-32 Architectural MSRs". The fields come from spec/msr.def; a bit without a row is
 * reserved, and writing 1 to it raises #GP and changes nothing.
 */
#include "refpmu/model_internal.h"

/* The first names in the rows of MSR_FIELD. */
enum fields_of {
	OF_IA32_PERFEVTSEL, OF_IA32_FIXED_CTR_CTRL, OF_IA32_PERF_GLOBAL_CTRL,
	OF_IA32_PERF_GLOBAL_STATUS, OF_IA32_PERF_GLOBAL_OVF_CTRL, OF_IA32_PEBS_ENABLE,
	OF_PEBS_LD_LAT_THRESHOLD, OF_OFFCORE_RSP, OF_IA32_PERF_CAPABILITIES, OF_IA32_DEBUGCTL,
	OF_IA32_MISC_ENABLE, OF_IA32_APIC_BASE,
};

static const struct {
	u8 of, lo, hi, cap, access;
} fields[] = {
#define MSR_FIELD(msr, field, lo, hi, cap, access, source) { OF_##msr, lo, hi, cap, access },
#include "spec/msr.def"
};

/* Which bits of a field exist on this processor, counted from the field's lowest bit. */
static u64 existing_bits(const struct model *m, enum spec_cap cap)
{
	const struct generation *g = model_generation(m);
	const u64 all = ~0ULL;

	switch (cap) {
	case CAP_ALWAYS:
	case CAP_DS:
		return all;
	case CAP_V2:
		return g->perfmon >= 2 ? all : 0;
	case CAP_V3:
		return g->perfmon >= 3 ? all : 0;
	case CAP_GP_MASK:
		return BITS(0, model_gp_counters(m) - 1);
	case CAP_FIXED_MASK:
		return BIT(g->fixed) - 1;
	case CAP_FIXED0:
		return g->fixed > 0 ? all : 0;
	case CAP_FIXED1:
		return g->fixed > 1 ? all : 0;
	case CAP_FIXED2:
		return g->fixed > 2 ? all : 0;
	case CAP_FIXED0_V3:
		return g->fixed > 0 && g->perfmon >= 3 ? all : 0;
	case CAP_FIXED1_V3:
		return g->fixed > 1 && g->perfmon >= 3 ? all : 0;
	case CAP_FIXED2_V3:
		return g->fixed > 2 && g->perfmon >= 3 ? all : 0;
	case CAP_PEBS_MASK:
		return g->pebs_mask;
	case CAP_LL_MASK:
		return g->ll_mask;
	case CAP_LL:
		return g->facilities & FAC_LOAD_LATENCY ? all : 0;
	case CAP_PRECISE_STORE:
		return g->facilities & FAC_PRECISE_STORE ? all : 0;
	case CAP_SMM_FREEZE:
		return g->facilities & FAC_SMM_FREEZE ? all : 0;
	case CAP_RTM:
	case CAP_RTM_PMC2:
		return g->facilities & FAC_TSX ? all : 0;
	}
	return 0;
}

/* The bits that a register has on this processor. */
static u64 defined_bits(const struct model *m, enum fields_of of)
{
	u64 bits = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].of == of)
			bits |= BITS(fields[i].lo, fields[i].hi) &
				existing_bits(m, fields[i].cap) << fields[i].lo;
	return bits;
}

struct legal {
	bool gp;
	u64 value;
};

/* The one rule of all registers: a reserved bit is refused. */
static struct legal legalize(const struct model *m, u64 defined, u64 value)
{
	if (value & ~defined && !broken(m, FAULT_RESERVED_ACCEPTED))
		return (struct legal){ .gp = true };
	return (struct legal){ .value = value & defined };
}

static bool canonical(u64 linear)
{
	u64 top = linear >> 47;

	return top == 0 || top == BITS(0, 16);
}

static const struct msr_result gp = { .status = MSR_GP };
static const struct msr_result done = { .status = MSR_DONE };

static struct msr_result answer(u64 value)
{
	return (struct msr_result){ .status = MSR_DONE, .value = value };
}

static struct msr_result write_fields(const struct model *m, enum fields_of of, u64 *reg, u64 value)
{
	struct legal l = legalize(m, defined_bits(m, of), value);

	if (l.gp)
		return gp;
	*reg = l.value;
	return done;
}

static void write_counter(struct model *m, unsigned i, u64 value)
{
	model_set_counter(m, i, value);
	m->counter[i].written = m->counter[i].value;
	m->counter_written = BIT(i);
}

/* IA32_A_PMCx and the fixed counters: the full width; bits above it are reserved. */
static struct msr_result write_full_width(struct model *m, unsigned i, u64 value)
{
	struct legal l = legalize(m, model_width_mask(m), value);

	if (l.gp)
		return gp;
	if (broken(m, FAULT_FULL_WIDTH_TRUNCATED) && i < FIRST_FIXED)
		l.value &= BITS(0, 31);
	write_counter(m, i, l.value);
	return done;
}

/* IA32_PMCx: only EAX is taken; its bit 31 is extended to the width of the counter. */
static struct msr_result write_low_half(struct model *m, unsigned i, u64 value)
{
	u64 low = value & BITS(0, 31);

	if (low & BIT(31) && !broken(m, FAULT_PMC_NOT_SIGN_EXTENDED))
		low |= BITS(32, 63);
	write_counter(m, i, low);
	return done;
}

static struct msr_result write_perfevtsel(struct model *m, unsigned i, u64 value)
{
	u64 old = m->perfevtsel[i];
	u64 defined = defined_bits(m, OF_IA32_PERFEVTSEL);
	struct legal l;

	if (i != 2)
		defined &= ~IA32_PERFEVTSEL_IN_TXCP;
	l = legalize(m, defined, value);
	if (l.gp)
		return gp;
	m->perfevtsel[i] = l.value;
	/* What was armed for one setting isn't for another. */
	if (l.value != old && !broken(m, FAULT_ARM_SURVIVES))
		model_disarm(m, BIT(i));
	return done;
}

static struct msr_result write_pebs_enable(struct model *m, u64 value)
{
	struct msr_result result = write_fields(m, OF_IA32_PEBS_ENABLE, &m->pebs_enable, value);

	if (!broken(m, FAULT_ARM_SURVIVES))
		model_disarm(m, ~m->pebs_enable);
	return result;
}

static struct msr_result write_ovf_ctrl(struct model *m, u64 value)
{
	struct legal l = legalize(m, defined_bits(m, OF_IA32_PERF_GLOBAL_OVF_CTRL), value);

	if (l.gp)
		return gp;
	if (broken(m, FAULT_OVF_CTRL_CLEARS_ALL))
		l.value = ~0ULL;
	m->global_status &= ~l.value;
	model_write_late_record(m);
	return done;
}

static struct msr_result write_misc_enable(struct model *m, u64 value)
{
	/* Other facilities' bits are kept as written; those of the PMU ignore writes. */
	u64 read_only = defined_bits(m, OF_IA32_MISC_ENABLE);

	m->misc_enable = (value & ~read_only) | (m->misc_enable & read_only);
	return done;
}

u64 model_shown_status(const struct model *m)
{
	u64 status = m->global_status & ~m->hidden_status;
	u64 fixed = status & IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR;

	if (broken(m, FAULT_FIXED_STATUS_MISPLACED))
		status = (status & ~fixed) |
			 fixed >> (IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR_SHIFT - 4);
	return status;
}

static u64 read_status(struct model *m)
{
	u64 status = model_shown_status(m);

	if (broken(m, FAULT_STATUS_LATE))
		m->hidden_status = 0;
	if (broken(m, FAULT_STATUS_CLEARED_BY_READ))
		m->global_status = 0;
	return status;
}

/* Banks: a member that this processor doesn't have raises #GP. */
enum bank { BANK_NONE, BANK_PMC, BANK_A_PMC, BANK_PERFEVTSEL, BANK_FIXED };

static enum bank find_bank(u32 msr, unsigned *i)
{
	static const struct { u32 first, count; u8 bank; } banks[] = {
		{ MSR_IA32_PMC0, MODEL_MAX_GP, BANK_PMC },
		{ MSR_IA32_A_PMC0, MODEL_MAX_GP, BANK_A_PMC },
		{ MSR_IA32_PERFEVTSEL0, MODEL_MAX_GP, BANK_PERFEVTSEL },
		/* One more than there ever were on processors with this layout. */
		{ MSR_IA32_FIXED_CTR0, MODEL_MAX_FIXED + 1, BANK_FIXED },
	};

	for (size_t b = 0; b < sizeof(banks) / sizeof(banks[0]); b++) {
		*i = msr - banks[b].first;
		if (*i < banks[b].count)
			return banks[b].bank;
	}
	return BANK_NONE;
}

static bool bank_member_exists(const struct model *m, enum bank bank, unsigned i)
{
	if (bank == BANK_FIXED)
		return i < model_generation(m)->fixed;
	if (bank == BANK_A_PMC && !(m->perf_capabilities & IA32_PERF_CAPABILITIES_FW_WRITE))
		return false;
	return i < model_gp_counters(m);
}

struct msr_result model_rdmsr(struct model *m, u32 msr)
{
	unsigned i;
	enum bank bank = find_bank(msr, &i);

	if (bank != BANK_NONE) {
		if (!bank_member_exists(m, bank, i))
			return gp;
		if (bank == BANK_PERFEVTSEL)
			return answer(m->perfevtsel[i]);
		return answer(m->counter[bank == BANK_FIXED ? FIRST_FIXED + i : i].value);
	}
	switch (msr) {
	case MSR_IA32_MISC_ENABLE:
		return answer(m->misc_enable);
	case MSR_OFFCORE_RSP_0:
	case MSR_OFFCORE_RSP_1:
		return answer(m->offcore_rsp[msr - MSR_OFFCORE_RSP_0]);
	case MSR_IA32_DEBUGCTL:
		return answer(m->debugctl);
	case MSR_IA32_PERF_CAPABILITIES:
		return answer(m->perf_capabilities);
	case MSR_IA32_FIXED_CTR_CTRL:
		return answer(m->fixed_ctr_ctrl);
	case MSR_IA32_PERF_GLOBAL_STATUS:
		return answer(read_status(m));
	case MSR_IA32_PERF_GLOBAL_CTRL:
		return answer(m->global_ctrl);
	case MSR_IA32_PERF_GLOBAL_OVF_CTRL:
		return answer(0);
	case MSR_IA32_PEBS_ENABLE:
		return answer(m->pebs_enable);
	case MSR_PEBS_LD_LAT_THRESHOLD:
		return answer(m->ld_lat_threshold);
	case MSR_IA32_DS_AREA:
		return answer(m->ds_area);
	}
	return (struct msr_result){ .status = MSR_NOT_OURS };
}

static struct msr_result write_register(struct model *m, u32 msr, u64 value)
{
	unsigned i;
	enum bank bank = find_bank(msr, &i);

	if (bank != BANK_NONE && !bank_member_exists(m, bank, i))
		return gp;
	switch (bank) {
	case BANK_PMC:
		return write_low_half(m, i, value);
	case BANK_A_PMC:
		return write_full_width(m, i, value);
	case BANK_FIXED:
		return write_full_width(m, FIRST_FIXED + i, value);
	case BANK_PERFEVTSEL:
		return write_perfevtsel(m, i, value);
	case BANK_NONE:
		break;
	}
	switch (msr) {
	case MSR_IA32_MISC_ENABLE:
		return write_misc_enable(m, value);
	case MSR_OFFCORE_RSP_0:
	case MSR_OFFCORE_RSP_1:
		return write_fields(m, OF_OFFCORE_RSP, &m->offcore_rsp[msr - MSR_OFFCORE_RSP_0],
				    value);
	case MSR_IA32_DEBUGCTL:
		return write_fields(m, OF_IA32_DEBUGCTL, &m->debugctl, value);
	case MSR_IA32_PERF_CAPABILITIES:
		return gp;
	case MSR_IA32_FIXED_CTR_CTRL:
		return write_fields(m, OF_IA32_FIXED_CTR_CTRL, &m->fixed_ctr_ctrl, value);
	case MSR_IA32_PERF_GLOBAL_STATUS:
		return broken(m, FAULT_STATUS_WRITABLE) ? done : gp;
	case MSR_IA32_PERF_GLOBAL_CTRL:
		return write_fields(m, OF_IA32_PERF_GLOBAL_CTRL, &m->global_ctrl, value);
	case MSR_IA32_PERF_GLOBAL_OVF_CTRL:
		return write_ovf_ctrl(m, value);
	case MSR_IA32_PEBS_ENABLE:
		return write_pebs_enable(m, value);
	case MSR_PEBS_LD_LAT_THRESHOLD:
		return write_fields(m, OF_PEBS_LD_LAT_THRESHOLD, &m->ld_lat_threshold, value);
	case MSR_IA32_DS_AREA:
		if (!canonical(value))
			return gp;
		m->ds_area = value;
		return done;
	}
	return (struct msr_result){ .status = MSR_NOT_OURS };
}

struct msr_result model_wrmsr(struct model *m, u32 msr, u64 value)
{
	u64 active_before = m->active;
	struct msr_result result;

	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		m->rule_before[i] = m->counter[i].rule;
	m->counter_written = 0;
	m->writing = false;
	result = write_register(m, msr, value);
	if (result.status != MSR_DONE)
		return result;
	model_configure(m);
	m->active_before = active_before;
	m->writing = m->active || active_before;
	return result;
}

struct msr_result model_rdpmc(struct model *m, u32 ecx)
{
	unsigned i = ecx & ~(u32)RDPMC_FIXED;
	const struct generation *g = model_generation(m);
	bool fixed = ecx & RDPMC_FIXED;

	if (i >= (fixed ? g->fixed : model_gp_counters(m)))
		return broken(m, FAULT_RDPMC_ABSENT_ANSWERS) ? answer(0) : gp;
	if (fixed)
		i += FIRST_FIXED;
	if (broken(m, FAULT_RDPMC_STALE))
		return answer(m->counter[i].written);
	return answer(m->counter[i].value);
}
