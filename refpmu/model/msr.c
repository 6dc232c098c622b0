/* SPDX-License-Identifier: MIT */
/*
 * RDMSR, WRMSR and RDPMC of the PMU's registers: chapter "Performance Monitoring", Table 35-2
 * "IA-32 Architectural MSRs". A bit without a row in spec/msr.def is reserved, and writing 1 to it
 * raises #GP and changes nothing.
 */
#include "refpmu/model/archpebs/archpebs.h"
#include "refpmu/model/core.h"
#include "refpmu/model/lbr.h"
#include "refpmu/model/msr.h"
#include "refpmu/model/pmu.h"

#define GUARDED	(IA32_MISC_ENABLE_BTS_UNAVAILABLE | IA32_MISC_ENABLE_PEBS_UNAVAILABLE)

static const struct msr_result gp = { .status = MSR_GP };
static const struct msr_result done = { .status = MSR_DONE };

static struct msr_result answer(u64 value)
{
	return (struct msr_result){ .status = MSR_DONE, .value = value };
}

/*
 * true: the access to a register that this processor doesn't have succeeds, because KVM's
 * parameter ignore_msrs lets it. Otherwise RDMSR and WRMSR raise #GP ("Protected Mode
 * Exceptions").
 */
static bool absent_answers(struct model *m, const struct msr_ref *p)
{
	return fault_absent_answers(m, p, m->facts & FACT_MSRS_IGNORED);
}

/*
 * "IA32_PERF_GLOBAL_INUSE MSR": the event selects and enable fields that aren't 0, and whether any
 * of them asks for an interrupt, or PEBS is enabled.
 */
static u64 in_use(const struct model *m)
{
	u64 bits = 0, interrupts = m->pebs_enable;

	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		interrupts |= m->cfg_c[i] & IA32_PMC_GP0_CFG_C_PEBS_EN;
	for (unsigned i = 0; i < FIRST_FIXED; i++) {
		bits |= m->perfevtsel[i] & IA32_PERFEVTSEL_EVENT ? BIT(i) : 0;
		interrupts |= m->perfevtsel[i] & IA32_PERFEVTSEL_INT;
	}
	for (unsigned i = 0; i < MODEL_MAX_FIXED; i++) {
		u64 control = m->fixed_ctr_ctrl >> i * IA32_FIXED_CTR_CTRL_EN1_SHIFT;

		bits |= control & IA32_FIXED_CTR_CTRL_EN0 ? model_global_bit(FIRST_FIXED + i) : 0;
		interrupts |= control & IA32_FIXED_CTR_CTRL_PMI0;
	}
	return bits | (interrupts ? IA32_PERF_GLOBAL_INUSE_PMI : 0);
}

/* Table 35-2 and the figures of each register. What the registers at 390H and 391H read as isn't
 * stated (0 with KVM): latitude ovf-ctrl-reads. */
static u64 read_register(struct model *m, const struct msr_ref *p)
{
	if (model_uncore_has(p->reg))
		return model_uncore_read(m, p);
	switch (p->reg) {
	case MODEL_REG_PMC:
	case MODEL_REG_A_PMC:
	case MODEL_REG_FIXED_CTR:
		return m->counter[p->counter].value;
	case MODEL_REG_PERFEVTSEL:
		return m->perfevtsel[p->i];
	case MODEL_REG_FIXED_CTR_CTRL:
		return m->fixed_ctr_ctrl;
	case MODEL_REG_GLOBAL_CTRL:
		return m->global_ctrl;
	case MODEL_REG_GLOBAL_STATUS:
		return m->global_status;
	case MODEL_REG_PEBS_ENABLE:
		return m->pebs_enable;
	case MODEL_REG_LD_LAT:
		return m->ld_lat_threshold;
	case MODEL_REG_DS_AREA:
		return m->ds_area;
	case MODEL_REG_DEBUGCTL:
		return m->debugctl;
	case MODEL_REG_OFFCORE_RSP_0:
		return m->offcore_rsp[0];
	case MODEL_REG_OFFCORE_RSP_1:
		return m->offcore_rsp[1];
	case MODEL_REG_PERF_CAPABILITIES:
		return m->perf_capabilities;
	case MODEL_REG_MISC_ENABLE:
		return m->misc_enable;
	case MODEL_REG_SMI_COUNT:
		return m->smi_count;
	case MODEL_REG_STATUS_SET:
		return m->latitude[LAT_OVF_CTRL_READS] ? m->status_set : 0;
	case MODEL_REG_INUSE:
		return fault_inuse(m, in_use(m));
	case MODEL_REG_PEBS_FRONTEND:
		return m->pebs_frontend;
	case MODEL_REG_PEBS_DATA_CFG:
		return m->pebs_data_cfg;
	case MODEL_REG_PERF_METRICS:
		return model_metrics_read(m);
	case MODEL_REG_TSX_FORCE_ABORT:
		return m->tsx_force_abort;
	case MODEL_REG_UNC_CTRL:
		return m->unc_global_ctrl;
	case MODEL_REG_UNC_STATUS:
		return 0;	/* no counter of that uncore counts here */
	case MODEL_REG_V6_CTR:
	case MODEL_REG_V6_CFG_A:
	case MODEL_REG_CFG_B:
	case MODEL_REG_CFG_C:
		return model_v6_read(m, p);
	case MODEL_REG_PEBS_BASE:
		return m->pebs_base;
	case MODEL_REG_PEBS_INDEX:
		return m->pebs_index;
	case MODEL_REG_LBR_SELECT:
	case MODEL_REG_LBR_TOS:
	case MODEL_REG_LBR_FROM:
	case MODEL_REG_LBR_TO:
	case MODEL_REG_LBR_INFO:
	case MODEL_REG_ARCH_LBR_CTL:
	case MODEL_REG_ARCH_LBR_DEPTH:
	case MODEL_REG_ARCH_LBR_FROM:
	case MODEL_REG_ARCH_LBR_TO:
	case MODEL_REG_ARCH_LBR_INFO:
		return model_lbr_read(m, p);
	default:
		return m->latitude[LAT_OVF_CTRL_READS] ? m->ovf_ctrl : 0;
	}
}

/* RDMSR, "Protected Mode Exceptions": a register that the processor doesn't have raises #GP. */
struct msr_result arch_rdmsr(struct model *m, u32 msr)
{
	struct msr_ref p = model_msr_find(m, msr);
	struct msr_result result;

	if (p.reg == MODEL_REG_NONE)
		return (struct msr_result){ .status = MSR_NOT_OURS };
	fault_next_sequence(m);
	fault_at_counter(m, p.counter);
	if (!model_msr_exists(m, &p))
		result = absent_answers(m, &p) ? answer(0) : gp;
	else
		result = answer(read_register(m, &p));
	fault_rdmsr(m, &p, &result);
	fault_at_counter(m, MODEL_NO_COUNTER);
	return result;
}

/* IA32_BIOS_SIGN_ID; an old revision is one with which PEBS is broken: Linux
 * intel_snb_check_microcode, latitude old-microcode. */
u64 model_microcode(const struct model *m, bool is_first)
{
	enum { NEW = 0xff, OLD = 0x10 };
	u32 old = m->latitude[LAT_OLD_MICROCODE];

	return (u64)(old == 1 || (old == 2 && !is_first) ? OLD : NEW) << 32;
}

/* Read-only in Table 35-2; that a write raises #GP is KVM's behaviour. Figure 18-20 labels two
 * bits of IA32_PERF_GLOBAL_STATUS (R/W): docs/READINGS.md decides for Table 35-2. */
static bool read_only(enum model_reg reg)
{
	return reg == MODEL_REG_INUSE || reg == MODEL_REG_UNC_STATUS ||
	       reg == MODEL_REG_PERF_CAPABILITIES || reg == MODEL_REG_GLOBAL_STATUS ||
	       reg == MODEL_REG_SMI_COUNT || reg == MODEL_REG_UNCORE_GLOBAL_STATUS;
}

/* The counter holds the written value, and the WRMSR isn't added to it: docs/READINGS.md, "Does
 * a WRMSR that starts or stops counting count itself?" */
static void write_counter(struct model *m, unsigned i, u64 value)
{
	model_preset_counter(m, i, value);
	m->counter_written = BIT(i);
}

/* A counter that is armed for one setting isn't armed for another one: docs/READINGS.md,
 * "Disarming". */
static void write_perfevtsel(struct model *m, unsigned i, u64 value)
{
	u64 changed = value != m->perfevtsel[i] ? BIT(i) : 0;

	m->perfevtsel[i] = value;
	model_disarm(m, fault_disarms(m, changed));
}

/* The same for a fixed counter whose fields change: Figure 18-7, and Linux for the fields above
 * bit 31. */
static void write_fixed_ctr_ctrl(struct model *m, u64 value)
{
	u64 changed = 0;

	for (unsigned i = 0; i < MODEL_MAX_FIXED; i++) {
		const u64 fields = (BITS(0, 3) | IA32_FIXED_CTR_CTRL_ADAPTIVE0 |
				    IA32_FIXED_CTR_CTRL_RDPMC_USER_DISABLE0)
				   << i * IA32_FIXED_CTR_CTRL_EN1_SHIFT;

		changed |= (value ^ m->fixed_ctr_ctrl) & fields ? BIT(FIRST_FIXED + i) : 0;
	}
	m->fixed_ctr_ctrl = value;
	model_disarm(m, changed);
}

/* Clearing the bit of a counter disarms it: docs/READINGS.md, "Disarming". */
static void write_pebs_enable(struct model *m, u64 value)
{
	u64 off = 0;

	m->pebs_enable = value;
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		off |= value & model_global_bit(i) ? 0 : BIT(i);
	model_disarm(m, fault_disarms(m, off));
}

/* Figure 18-8, and 18-11 in version 4: a 1 clears the bit of IA32_PERF_GLOBAL_STATUS. */
static void write_ovf_ctrl(struct model *m, u64 value)
{
	u64 bits = fault_status_clears(m, value);

	m->ovf_ctrl = value;
	m->global_status &= ~bits;
	model_errata_cleared(m, bits);
	fault_late_record(m);
}

/* IA32_MISC_ENABLE[7], [11] and [12] ignore writes: Table 35-2. With architectural last branch
 * records IA32_DEBUGCTL[0] reads 0: docs/READINGS.md. */
void model_msr_take(struct model *m, const struct msr_ref *p, u64 value)
{
	u64 kept;

	fault_msr_taken(m, p, value);
	if (model_uncore_has(p->reg)) {
		model_uncore_write(m, p, value);
		return;
	}
	switch (p->reg) {
	case MODEL_REG_PMC:
	case MODEL_REG_A_PMC:
	case MODEL_REG_FIXED_CTR:
	case MODEL_REG_V6_CTR:
		write_counter(m, p->counter, value);
		break;
	case MODEL_REG_PERFEVTSEL:
	case MODEL_REG_V6_CFG_A:
		write_perfevtsel(m, p->i, value);
		break;
	case MODEL_REG_CFG_B:
	case MODEL_REG_CFG_C:
		model_v6_take(m, p, value);
		break;
	case MODEL_REG_PEBS_BASE:
		m->pebs_base = value;
		break;
	case MODEL_REG_PEBS_INDEX:
		m->pebs_index = value;
		break;
	case MODEL_REG_FIXED_CTR_CTRL:
		write_fixed_ctr_ctrl(m, value);
		break;
	case MODEL_REG_GLOBAL_CTRL:
		m->global_ctrl = value;
		model_errata_global_ctrl(m, value);
		break;
	case MODEL_REG_OVF_CTRL:
		write_ovf_ctrl(m, value);
		break;
	case MODEL_REG_PEBS_ENABLE:
		write_pebs_enable(m, value);
		break;
	case MODEL_REG_STATUS_SET:
		m->status_set = value;
		m->global_status = fault_status_sets(m, value, m->global_status | value);
		break;
	case MODEL_REG_PEBS_FRONTEND:
		m->pebs_frontend = value;
		break;
	case MODEL_REG_PEBS_DATA_CFG:
		m->pebs_data_cfg = value;
		break;
	case MODEL_REG_PERF_METRICS:
		model_metrics_write(m, value);
		break;
	case MODEL_REG_TSX_FORCE_ABORT:
		m->tsx_force_abort = value;
		break;
	case MODEL_REG_UNC_CTRL:
		m->unc_global_ctrl = value;
		break;
	case MODEL_REG_LBR_SELECT:
	case MODEL_REG_LBR_TOS:
	case MODEL_REG_LBR_FROM:
	case MODEL_REG_LBR_TO:
	case MODEL_REG_LBR_INFO:
	case MODEL_REG_ARCH_LBR_CTL:
	case MODEL_REG_ARCH_LBR_DEPTH:
	case MODEL_REG_ARCH_LBR_FROM:
	case MODEL_REG_ARCH_LBR_TO:
	case MODEL_REG_ARCH_LBR_INFO:
		model_lbr_write(m, p, value);
		break;
	case MODEL_REG_LD_LAT:
		m->ld_lat_threshold = value;
		break;
	case MODEL_REG_DS_AREA:
		m->ds_area = value;
		break;
	case MODEL_REG_DEBUGCTL:
		if (m->debugctl & ~value & IA32_DEBUGCTL_LBR)
			fault_lbr_stopped(m, LBR_STOP_FLAG);
		m->debugctl = m->facts & FACT_DEBUGCTL_EMPTY ? 0 : value;
		if (model_has_arch_lbr(m))
			m->debugctl &= ~(u64)IA32_DEBUGCTL_LBR;
		model_uncore_listen(m);
		break;
	case MODEL_REG_OFFCORE_RSP_0:
	case MODEL_REG_OFFCORE_RSP_1:
		m->offcore_rsp[p->reg - MODEL_REG_OFFCORE_RSP_0] = value;
		break;
	case MODEL_REG_MISC_ENABLE:
		/* Bits of other facilities keep the written value; those of the PMU ignore
		 * writes. */
		kept = model_defined_bits(m, OF_IA32_MISC_ENABLE);
		m->misc_enable = (value & ~kept) | (m->misc_enable & kept);
		break;
	default:
		break;
	}
}

/* A filter or a lock refuses the write, whatever its value: latitude refused-msr. */
static bool is_filtered(const struct model *m, enum model_reg reg, u64 value)
{
	switch (m->latitude[LAT_REFUSED_MSR]) {
	case 1:
		return reg == MODEL_REG_DEBUGCTL;
	case 2:
		return reg == MODEL_REG_DS_AREA;
	case 3:
		return reg == MODEL_REG_PEBS_ENABLE;
	case 4:
		return reg == MODEL_REG_OVF_CTRL &&
		       value & (IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_BUF |
				IA32_PERF_GLOBAL_OVF_CTRL_CLR_COND_CHGD);
	case 5:
		return reg == MODEL_REG_GLOBAL_CTRL;
	default:
		return false;
	}
}

/* "Architectural Performance Monitoring Version 1 Facilities": a write of IA32_PMCx takes EAX
 * only; its bit 31 is extended to the width of the counter. */
static u64 sign_extended(u64 value)
{
	u64 low = value & BITS(0, 31);

	return low & BIT(31) ? low | BITS(32, 63) : low;
}

/* WRMSR, "Protected Mode Exceptions": a reserved bit that is 1 raises #GP. So does writing a
 * register that is read-only (KVM). */
static struct msr_result try_to_write(struct model *m, const struct msr_ref *p, u64 value)
{
	struct msr_write write;
	u64 bits;

	if (!model_msr_exists(m, p))
		return absent_answers(m, p) ? done : gp;
	if (is_filtered(m, p->reg, value) ||
	    (p->reg == MODEL_REG_PERFEVTSEL && model_event_is_refused(m, (u16)value)))
		return gp;
	if (m->facts & FACT_MISC_ENABLE_FIXED && p->reg == MODEL_REG_MISC_ENABLE &&
	    (value ^ m->misc_enable) & GUARDED && fault_guards_misc_enable(m, true))
		return gp;
	bits = model_msr_writable(m, p, value);
	write.read_only = read_only(p->reg);
	write.refused = write.read_only || value & ~bits ||
			(p->reg == MODEL_REG_ARCH_LBR_DEPTH && !model_arch_lbr_is_depth(m, value));
	write.taken = !write.refused;
	write.value = p->reg == MODEL_REG_PMC ? sign_extended(value & bits) : value & bits;
	fault_wrmsr(m, p, value, &write);
	if (write.taken)
		model_msr_take(m, p, write.value);
	return write.refused ? gp : done;
}

struct msr_result arch_wrmsr(struct model *m, u32 msr, u64 value)
{
	u64 active_before = m->active;
	struct msr_ref p = model_msr_find(m, msr);
	struct msr_result result;

	if (p.reg == MODEL_REG_NONE)
		return (struct msr_result){ .status = MSR_NOT_OURS };
	fault_next_sequence(m);
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		m->rule_before[i] = m->counter[i].rule;
	m->counter_written = 0;
	m->writing = false;
	fault_at_counter(m, p.counter);
	result = try_to_write(m, &p, value);
	fault_at_counter(m, MODEL_NO_COUNTER);
	if (result.status != MSR_DONE)
		return result;
	model_configure(m);
	fault_counters_start(m, m->active & ~active_before);
	m->active_before = active_before;
	m->writing = m->active || active_before || model_uncore_of(m)->active;
	return result;
}

#define TIME_BY_RDPMC	0x10000u	/* VMware's pseudo performance counters: */
#define TIMES_BY_RDPMC	3u		/* the host's TSC, real and apparent time */

/* "RDPMC - Read Performance-Monitoring Counters", METRICS_CLEAR_EN: if it is set, a read of the
 * metrics clears them and fixed counter 3. */
static struct msr_result rdpmc_metrics(struct model *m)
{
	struct msr_result result = answer(model_metrics_read(m));
	struct metrics_clear clear = { .metrics = true, .slots = true };

	if (!(m->fixed_ctr_ctrl & IA32_FIXED_CTR_CTRL_METRICS_CLEAR))
		clear = (struct metrics_clear){ 0 };
	fault_metrics_clear(m, &clear);
	if (clear.metrics)
		model_metrics_write(m, 0);
	if (clear.slots)
		model_set_counter(m, SLOTS_COUNTER, 0);
	return result;
}

/* Is the counter hidden from CPL > 0? CPUID.23H.0:EBX[2], RDPMC user disable. */
static bool is_hidden(const struct model *m, u32 ecx)
{
	u32 i = ecx & ~(u32)RDPMC_FIXED;

	if (!model_has_rdpmc_user_disable(m) || ecx & RDPMC_METRICS || i >= FIRST_FIXED)
		return false;
	return ecx & RDPMC_FIXED ?
		       m->fixed_ctr_ctrl & IA32_FIXED_CTR_CTRL_RDPMC_USER_DISABLE0
						   << i * IA32_FIXED_CTR_CTRL_EN1_SHIFT :
		       m->perfevtsel[i] & IA32_PERFEVTSEL_RDPMC_USER_DISABLE;
}

/* A hidden counter reads 0, and there is no #GP: Linux mailing list, "Add support for rdpmc user
 * disable feature". */
struct msr_result model_rdpmc_user(struct model *m, u32 ecx)
{
	struct msr_result result = model_rdpmc(m, ecx);

	if (result.status == MSR_DONE && fault_rdpmc_hidden(m, ecx, is_hidden(m, ecx)))
		result.value = 0;
	result.value = fault_rdpmc_user(m, ecx, result.value);
	return result;
}

/* KVM: ECX = 10000H to 10002H read times, whatever CPL and CR4.PCE are. */
bool model_rdpmc_tells_time(const struct model *m, u32 ecx)
{
	return m->facts & FACT_TIME_BY_RDPMC && ecx - TIME_BY_RDPMC < TIMES_BY_RDPMC;
}

/* "RDPMC - Read Performance-Monitoring Counters": ECX[30] selects the fixed counters, type 2000H
 * the metrics. */
struct msr_result arch_rdpmc(struct model *m, u32 ecx)
{
	unsigned counter = MODEL_NO_COUNTER;
	struct msr_result result = gp;
	bool fixed;
	u32 i;

	fault_next_sequence(m);
	if (m->facts & FACT_RDPMC_BIT_31)
		ecx &= ~(u32)BIT(31);
	ecx = fault_rdpmc_select(m, ecx);
	fixed = ecx & RDPMC_FIXED;
	i = ecx & ~(u32)RDPMC_FIXED;
	if (ecx == RDPMC_METRICS && model_has_metrics(m))
		return fault_rdpmc_metrics(m, rdpmc_metrics(m));
	if (i < FIRST_FIXED && model_has_counter(m, fixed ? FIRST_FIXED + i : i)) {
		counter = fixed ? FIRST_FIXED + i : i;
		result = answer(m->counter[counter].value);
	} else if (model_rdpmc_tells_time(m, ecx)) {
		return answer(m->host->tsc ? m->host->tsc(m->host->ctx) : m->cycles);
	}
	fault_rdpmc(m, ecx, counter, &result);
	return result;
}
