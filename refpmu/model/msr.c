/* SPDX-License-Identifier: MIT */
/*
 * What RDMSR, WRMSR and RDPMC do with the registers of the PMU: chapter "Performance Monitoring",
 * Table 35-2 "IA-32 Architectural MSRs". A bit without a row in spec/msr.def is reserved, and
 * writing 1 to it raises #GP and changes nothing.
 */
#include "refpmu/model/core.h"
#include "refpmu/model/msr.h"
#include "refpmu/model/netburst/netburst.h"

#define WIDEST_COUNTER	48	/* bits, of fault counters-above-width: bit 47 is the sign */

/* The faults that are generated of each register; FAULT_NONE: there is none. */
static const struct { u16 write_dropped, reads_zero, reserved_accepted, refused_taken, shared; }
	faults[REG_KINDS] = {
#define FAULT_MSR_WRITE(token, msr, members, name, requirements, title, ...) \
	[REG_##token].write_dropped = FAULT_##token##_WRITE_DROPPED,
#define FAULT_MSR_READ(token, msr, members, name, requirements, title, ...) \
	[REG_##token].reads_zero = FAULT_##token##_READS_ZERO,
#define FAULT_MSR_RESERVED(token, msr, members, name, requirements, title, ...) \
	[REG_##token].reserved_accepted = FAULT_##token##_RESERVED_ACCEPTED,
#define FAULT_MSR_REFUSED(token, msr, name, requirements, title) \
	[REG_##token].refused_taken = FAULT_##token##_REFUSED_TAKEN,
#include "refpmu/faults/fault_msr.def"
#define FAULT_MSR_SHARED(token, msr, name, requirements, title) \
	[REG_##token].shared = FAULT_##token##_SHARED,
#include "refpmu/faults/fault_shared.def"
};

/* A member of a bank that isn't there: absent_answers() is what a broken processor does. */
static bool absent_answers(struct model *m, const struct place *p)
{
	return p->counter < FIRST_FIXED && broken(m, FAULT_ABSENT_COUNTERS_ANSWER);
}

static const struct msr_result gp = { .status = MSR_GP };
static const struct msr_result done = { .status = MSR_DONE };

static struct msr_result answer(u64 value)
{
	return (struct msr_result){ .status = MSR_DONE, .value = value };
}

static u64 sign_extended(u64 value)
{
	return value & BIT(WIDEST_COUNTER - 1) ? value | BITS(WIDEST_COUNTER, 63) : value;
}

/* What RDMSR and RDPMC take from a counter. */
static u64 read_counter(struct model *m, unsigned i)
{
	u64 value = m->counter[i].value;

	m->faults.at_counter = (u8)i;
	if (!(m->active & BIT(i)) && broken(m, FAULT_STOPPED_READ_CLEARS))
		m->counter[i].value = 0;
	return value;
}

/* What RDMSR does. */
static u64 read_by_number(struct model *m, unsigned i)
{
	u64 value = read_counter(m, i);

	if (m->active & BIT(i) && i < FIRST_FIXED && broken(m, FAULT_RDMSR_LOSES_ONE))
		model_set_counter(m, i, value - 1);
	return value;
}

static u64 read_status(struct model *m)
{
	u64 status = m->global_status & ~m->faults.hidden_status;
	u64 fixed = status & IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR;

	if (fixed && broken(m, FAULT_FIXED_STATUS_MISPLACED))
		status = (status & ~fixed) |
			 fixed >> (IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR_SHIFT - 4);
	if (m->faults.hidden_status && broken(m, FAULT_STATUS_LATE))
		m->faults.hidden_status = 0;
	if (status && broken(m, FAULT_STATUS_CLEARED_BY_READ))
		m->global_status = 0;
	return status;
}

static u64 read_register(struct model *m, const struct place *p)
{
	u64 value;

	if (model_uncore_has(p->reg))
		return model_uncore_read(m, p);
	switch (p->reg) {
	case REG_PMC:
	case REG_A_PMC:
	case REG_FIXED_CTR:
		value = read_by_number(m, p->counter);
		return broken(m, FAULT_COUNTERS_ABOVE_WIDTH) ? sign_extended(value) : value;
	case REG_PERFEVTSEL:
		return m->perfevtsel[p->i];
	case REG_FIXED_CTR_CTRL:
		return m->fixed_ctr_ctrl;
	case REG_GLOBAL_CTRL:
		return m->global_ctrl;
	case REG_GLOBAL_STATUS:
		return read_status(m);
	case REG_PEBS_ENABLE:
		return m->pebs_enable;
	case REG_LD_LAT:
		return m->ld_lat_threshold;
	case REG_DS_AREA:
		return m->ds_area;
	case REG_DEBUGCTL:
		return m->debugctl;
	case REG_OFFCORE_RSP_0:
		return m->offcore_rsp[0];
	case REG_OFFCORE_RSP_1:
		return m->offcore_rsp[1];
	case REG_PERF_CAPABILITIES:
		return m->perf_capabilities;
	case REG_MISC_ENABLE:
		return m->misc_enable | (broken(m, FAULT_PEBS_SHOWN_UNAVAILABLE) ?
					 IA32_MISC_ENABLE_PEBS_UNAVAILABLE : 0);
	case REG_SMI_COUNT:
		return m->smi_count;
	default:
		return m->latitude[LAT_OVF_CTRL_READS] ? m->ovf_ctrl : 0;
	}
}

static bool unreadable(struct model *m, enum reg reg)
{
	return (reg == REG_PEBS_ENABLE && broken(m, FAULT_PEBS_ENABLE_UNREADABLE)) ||
	       (reg == REG_LD_LAT && broken(m, FAULT_LD_LAT_UNREADABLE)) ||
	       (reg == REG_PERF_CAPABILITIES && broken(m, FAULT_CAPABILITIES_UNREADABLE));
}

static struct msr_result rdmsr(struct model *m, u32 msr)
{
	struct place p = model_msr_find(msr);
	struct msr_result result;

	if (model_is_netburst(m)) {
		result = netburst_rdmsr(m, msr);
		if (result.status != MSR_NOT_OURS)
			return result;
	}
	if (p.reg == REG_NONE)
		return (struct msr_result){ .status = MSR_NOT_OURS };
	m->faults.moment++;
	m->faults.at_counter = (u8)p.counter;
	if (!model_msr_exists(m, &p))
		result = absent_answers(m, &p) || m->facts & FACT_MSRS_IGNORED ? answer(0) : gp;
	else if (unreadable(m, p.reg))
		result = gp;
	else
		result = answer(read_register(m, &p));
	if (result.status == MSR_DONE && broken(m, faults[p.reg].reads_zero))
		result.value = 0;
	m->faults.at_counter = MODEL_NO_COUNTER;
	return result;
}

u64 model_microcode(const struct model *m, bool is_first)
{
	enum { NEW = 0xff, OLD = 0x10 };
	u32 old = m->latitude[LAT_OLD_MICROCODE];

	return (u64)(old == 1 || (old == 2 && !is_first) ? OLD : NEW) << 32;
}

struct msr_result model_rdmsr(struct model *m, u32 msr)
{
	bool shared = model_core_enter(m);
	struct msr_result result;

	model_uncore_take(m);
	result = rdmsr(m, msr);
	model_core_leave(m, shared);
	return result;
}

static bool read_only(enum reg reg)
{
	return reg == REG_PERF_CAPABILITIES || reg == REG_GLOBAL_STATUS || reg == REG_SMI_COUNT ||
	       reg == REG_UNCORE_GLOBAL_STATUS;
}

/* Must be refused: does a broken processor accept it? */
static bool accepts(struct model *m, enum reg reg, u64 value)
{
	if (reg == REG_GLOBAL_STATUS && value == IA32_PERF_GLOBAL_STATUS_OVF_BUF &&
	    broken(m, FAULT_STATUS_62_WRITABLE))
		return true;
	return (!read_only(reg) && broken(m, FAULT_RESERVED_ACCEPTED)) ||
	       (reg == REG_GLOBAL_STATUS &&
		(broken(m, FAULT_STATUS_WRITABLE) || broken(m, FAULT_STATUS_TAKES_WRITES))) ||
	       (reg == REG_PERF_CAPABILITIES && broken(m, FAULT_CAPABILITIES_TAKE_WRITES)) ||
	       broken(m, faults[reg].reserved_accepted);
}

static void write_counter(struct model *m, unsigned i, u64 value)
{
	if (m->active & BIT(i) && broken(m, FAULT_WRITE_WHILE_COUNTING_LOST))
		return;
	model_set_counter(m, i, value);
	m->counter[i].written = m->counter[i].value;
	m->counter_written = BIT(i);
}

/* IA32_PMCx: only EAX is taken; its bit 31 is extended to the width of the counter. */
static void write_low_half(struct model *m, unsigned i, u64 value)
{
	u64 low = value & BITS(0, 31);

	if (low & BIT(31) && !broken(m, FAULT_PMC_NOT_SIGN_EXTENDED))
		low |= BITS(32, 63);
	write_counter(m, i, low);
}

static void write_perfevtsel(struct model *m, unsigned i, u64 value)
{
	u64 old = m->perfevtsel[i];

	if (m->config.fault)
		model_break_enable(m, i, value);
	m->perfevtsel[i] = value;
	/* What was armed for one setting isn't for another. */
	if (value != old && !broken(m, FAULT_ARM_SURVIVES))
		model_disarm(m, BIT(i));
}

static void write_pebs_enable(struct model *m, u64 value)
{
	u64 set = value & ~m->pebs_enable & IA32_PEBS_ENABLE_PEBS_EN_PMC;
	u64 cleared = ~value & m->pebs_enable & IA32_PEBS_ENABLE_PEBS_EN_PMC;

	if (cleared && broken(m, FAULT_PEBS_CLEAR_DROPS_ARMS))
		model_disarm(m, IA32_PEBS_ENABLE_PEBS_EN_PMC);
	m->pebs_enable = value;
	m->faults.was_full = false;
	for (unsigned i = 0; i < FIRST_FIXED; i++) {
		m->faults.at_counter = (u8)i;
		if (~value & BIT(i) && !broken(m, FAULT_ARM_SURVIVES))
			model_disarm(m, BIT(i));
		if (set & BIT(i) && broken(m, FAULT_ENABLE_ARMS))
			m->counter[i].armed = true;
	}
}

static void write_ovf_ctrl(struct model *m, u64 value)
{
	m->ovf_ctrl = value;
	if (broken(m, FAULT_OVF_UNCORE_STICKS))
		value &= ~IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_UNCORE;
	if (value & ~IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_BUF && broken(m, FAULT_OVFBUF_STAYS_BESIDE))
		value &= ~IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_BUF;
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (m->active & BIT(i) && broken(m, FAULT_RUNNING_BITS_STAY))
			value &= ~model_global_bit(i);
	m->global_status &= broken(m, FAULT_OVF_CTRL_CLEARS_ALL) ? 0 : ~value;
	model_errata_cleared(m, value);
	if (broken(m, FAULT_CORE_CLEARS_UNCORE))
		model_uncore_drop_status(m);
	model_write_late_record(m);
}

static void write_register(struct model *m, const struct place *p, u64 value)
{
	u64 kept;

	if (model_uncore_has(p->reg)) {
		model_uncore_write(m, p, value);
		return;
	}
	switch (p->reg) {
	case REG_PMC:
		write_low_half(m, p->i, value);
		break;
	case REG_A_PMC:
		write_counter(m, p->i, broken(m, FAULT_FULL_WIDTH_TRUNCATED) ?
			      value & BITS(0, 31) : value);
		break;
	case REG_FIXED_CTR:
		write_counter(m, p->counter, value);
		break;
	case REG_PERFEVTSEL:
		write_perfevtsel(m, p->i, value);
		break;
	case REG_FIXED_CTR_CTRL:
		if (m->config.fault)
			model_break_fixed_ctrl(m, value);
		m->fixed_ctr_ctrl = value;
		break;
	case REG_GLOBAL_CTRL:
		m->global_ctrl = value;
		model_errata_global_ctrl(m, value);
		m->faults.frozen = false;
		m->faults.not_started = 0;
		break;
	case REG_OVF_CTRL:
		write_ovf_ctrl(m, value);
		break;
	case REG_PEBS_ENABLE:
		write_pebs_enable(m, value);
		break;
	case REG_LD_LAT:
		m->faults.threshold_before = m->ld_lat_threshold;
		m->ld_lat_threshold = value;
		break;
	case REG_DS_AREA:
		if (m->ds_area && value && broken(m, FAULT_DS_AREA_STICKS))
			break;
		if (!m->faults.first_ds_area)
			m->faults.first_ds_area = value;
		m->ds_area = value;
		break;
	case REG_DEBUGCTL:
		m->debugctl = m->facts & FACT_DEBUGCTL_EMPTY ? 0 : value;
		if (m->facts & FACT_ARCH_LBR)
			m->debugctl &= ~(u64)IA32_DEBUGCTL_LBR;
		model_uncore_listen(m);
		break;
	case REG_OFFCORE_RSP_0:
	case REG_OFFCORE_RSP_1:
		m->offcore_rsp[p->reg - REG_OFFCORE_RSP_0] = value;
		if (broken(m, FAULT_OFFCORE_REGISTERS_ONE))
			m->offcore_rsp[REG_OFFCORE_RSP_1 - p->reg] = value;
		break;
	case REG_MISC_ENABLE:
		/* Other facilities' bits are kept as written; those of the PMU ignore writes. */
		kept = model_defined_bits(m, OF_IA32_MISC_ENABLE);
		m->misc_enable = (value & ~kept) | (m->misc_enable & kept);
		break;
	default:
		break;
	}
}

/* By a filter or a lock, whatever the value: latitude refused-msr. */
static bool is_filtered(const struct model *m, enum reg reg, u64 value)
{
	switch (m->latitude[LAT_REFUSED_MSR]) {
	case 1:
		return reg == REG_DEBUGCTL;
	case 2:
		return reg == REG_DS_AREA;
	case 3:
		return reg == REG_PEBS_ENABLE;
	case 4:
		return reg == REG_OVF_CTRL && value & (IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_BUF |
						       IA32_PERF_GLOBAL_OVF_CTRL_CLR_COND_CHGD);
	case 5:
		return reg == REG_GLOBAL_CTRL;
	default:
		return false;
	}
}

static struct msr_result try_to_write(struct model *m, const struct place *p, u64 value)
{
	struct model *sibling = model_core_sibling(m);
	u64 bits;

	if (!model_msr_exists(m, p))
		return absent_answers(m, p) || m->facts & FACT_MSRS_IGNORED ? done : gp;
	if (is_filtered(m, p->reg, value))
		return gp;
	bits = model_msr_writable(m, p, value);
	if ((read_only(p->reg) || value & ~bits) && !accepts(m, p->reg, value)) {
		if (!read_only(p->reg) && broken(m, faults[p->reg].refused_taken)) {
			write_register(m, p, value & bits);
			model_configure(m);
		}
		return gp;
	}
	if (p->reg == REG_DEBUGCTL && value & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI &&
	    broken(m, FAULT_FREEZE_REFUSED))
		return gp;
	if (!read_only(p->reg) && !broken(m, faults[p->reg].write_dropped))
		write_register(m, p, value & bits);
	if (sibling && broken(m, faults[p->reg].shared)) {
		write_register(sibling, p, value & bits);
		model_configure(sibling);
		model_core_call(m, sibling);
	}
	if (p->reg == REG_GLOBAL_STATUS && broken(m, FAULT_STATUS_TAKES_WRITES))
		m->global_status = value;
	if (p->reg == REG_PERF_CAPABILITIES && broken(m, FAULT_CAPABILITIES_TAKE_WRITES))
		m->perf_capabilities = value;
	return done;
}

/* Faults of the moment in which these counters begin to count. */
static void break_start(struct model *m, u64 started)
{
	u64 others = started & (started - 1);

	m->faults.next_ip = m->faults.handlers = 0;
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++) {
		m->faults.at_counter = (u8)i;
		if (started & BIT(i) && broken(m, FAULT_START_ROUNDS))
			m->counter[i].value &= ~BITS(0, 3);
	}
	m->faults.at_counter = MODEL_NO_COUNTER;
	if (others && broken(m, FAULT_START_STAGGERED)) {
		m->faults.staggered = others;
		m->faults.stagger_left = 16;
	}
}

static struct msr_result wrmsr(struct model *m, u32 msr, u64 value)
{
	u64 active_before = m->active;
	struct place p = model_msr_find(msr);
	struct msr_result result;

	if (model_is_netburst(m)) {
		result = netburst_wrmsr(m, msr, value);
		if (result.status != MSR_NOT_OURS)
			return result;
	}
	if (p.reg == REG_NONE)
		return (struct msr_result){ .status = MSR_NOT_OURS };
	m->faults.moment++;
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		m->rule_before[i] = m->counter[i].rule;
	m->counter_written = 0;
	m->writing = false;
	m->faults.at_counter = (u8)p.counter;
	result = try_to_write(m, &p, value);
	m->faults.at_counter = MODEL_NO_COUNTER;
	if (result.status != MSR_DONE)
		return result;
	model_configure(m);
	if (m->config.fault)
		break_start(m, m->active & ~active_before);
	m->active_before = active_before;
	m->writing = m->active || active_before || model_uncore_of(m)->active;
	return result;
}

struct msr_result model_wrmsr(struct model *m, u32 msr, u64 value)
{
	bool shared = model_core_enter(m);
	struct msr_result result;

	model_uncore_take(m);
	result = wrmsr(m, msr, value);
	model_core_leave(m, shared);
	return result;
}

static struct msr_result rdpmc(struct model *m, u32 ecx)
{
	const struct generation *g = model_generation(m);
	bool fixed = ecx & RDPMC_FIXED;
	unsigned i;
	u64 value;

	if (model_is_netburst(m))
		return netburst_rdpmc(m, ecx);
	m->faults.moment++;
	if (broken(m, FAULT_RDPMC_REFUSED))
		return gp;
	if (m->facts & FACT_RDPMC_BIT_31 ||
	    (ecx & BIT(31) && broken(m, FAULT_RDPMC_FAST_ALLOWED)))
		ecx &= ~(u32)BIT(31);
	if (fixed && broken(m, FAULT_RDPMC_FIXED_AS_GP))
		fixed = false;
	i = ecx & ~(u32)RDPMC_FIXED;
	if (i >= (fixed ? g->fixed : model_gp_counters(m)))
		return broken(m, FAULT_RDPMC_ABSENT_ANSWERS) ? answer(0) : gp;
	if (fixed && i == 2 && broken(m, FAULT_RDPMC_FIXED2_READS_1))
		i = 1;
	else if (fixed && i == 1 && broken(m, FAULT_RDPMC_FIXED1_READS_0))
		return answer(0);
	if (fixed)
		i += FIRST_FIXED;
	value = read_counter(m, i);
	if (broken(m, FAULT_RDPMC_STALE))
		value = m->counter[i].written;
	if (broken(m, FAULT_RDPMC_ABOVE_WIDTH))
		value = sign_extended(value);
	m->faults.at_counter = MODEL_NO_COUNTER;
	return answer(value);
}

struct msr_result model_rdpmc(struct model *m, u32 ecx)
{
	bool shared = model_core_enter(m);
	struct msr_result result = rdpmc(m, ecx);

	model_core_leave(m, shared);
	return result;
}
