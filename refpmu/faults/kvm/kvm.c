/* SPDX-License-Identifier: MIT */
/* Faults of the PMU of KVM's guests: registers, CPUID, RDPMC, records. They act only with a profile
 * of such a guest. */
#include "refpmu/faults/kvm/kvm.h"
#include "refpmu/faults/broken.h"

#define LBR_FORMAT	5u		/* of fault kvm-mediated-lbr */
#define RESET_OTHERS	BITS(58, 61)	/* of IA32_PERF_GLOBAL_OVF_CTRL */
#define OPCODE_CPUID	0x0fa2u
#define FREEZES		(IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI | IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI | \
			 IA32_DEBUGCTL_FREEZE_WHILE_SMM)

static bool is_broken(struct model *m, enum fault_id fault)
{
	return m->facts & FACT_KVM_SIGNATURE && broken(m, fault);
}

bool fault_kvm_answers(struct model *m, const struct msr_ref *p)
{
	switch (p->reg) {
	case MODEL_REG_STATUS_SET:
	case MODEL_REG_INUSE:
		return is_broken(m, FAULT_KVM_STATUS_SET_ANSWERS);
	case MODEL_REG_OFFCORE_RSP_0:
	case MODEL_REG_OFFCORE_RSP_1:
		return is_broken(m, FAULT_KVM_OFFCORE_ANSWERS);
	case MODEL_REG_LD_LAT:
		return is_broken(m, FAULT_KVM_LATENCY_ANSWERS);
	default:
		return false;
	}
}

u64 fault_kvm_bits(struct model *m, const struct msr_ref *p, u64 bits)
{
	switch (p->reg) {
	case MODEL_REG_PERFEVTSEL:
		if (is_broken(m, FAULT_KVM_ANYTHREAD_TAKEN))
			bits |= IA32_PERFEVTSEL_ANY;
		if (is_broken(m, FAULT_KVM_SELECT_WIDE))
			bits |= BITS(35, 63);
		return is_broken(m, FAULT_KVM_PIN_REFUSED) ? bits & ~(u64)IA32_PERFEVTSEL_PC : bits;
	case MODEL_REG_PEBS_ENABLE:
		if (is_broken(m, FAULT_KVM_PEBS_FIXED_TAKEN))
			bits |= BITS(32, 34);
		return is_broken(m, FAULT_KVM_PEBS_LAST_REFUSED) ? bits & ~BIT(7) : bits;
	case MODEL_REG_A_PMC:
		return is_broken(m, FAULT_KVM_FULL_WIDTH_WIDE) ? ~0ULL : bits;
	case MODEL_REG_OVF_CTRL:
		return is_broken(m, FAULT_KVM_RESET_WIDE) ? bits | RESET_OTHERS : bits;
	case MODEL_REG_DEBUGCTL:
		if (is_broken(m, FAULT_KVM_DEBUGCTL_TAKEN))
			bits |= FREEZES;
		return is_broken(m, FAULT_KVM_LBR_REFUSED) ? bits & ~(u64)IA32_DEBUGCTL_LBR : bits;
	default:
		return bits;
	}
}

u64 fault_kvm_takes(struct model *m, const struct msr_ref *p, u64 value)
{
	return p->reg == MODEL_REG_PMC && value >> 32 && is_broken(m, FAULT_KVM_PMC_UNSIGNED) ?
		       value & BITS(0, 31) :
		       value;
}

void fault_kvm_taken(struct model *m, const struct msr_ref *p, u64 value)
{
	if (p->reg == MODEL_REG_DEBUGCTL)
		faults_of(m)->debugctl_written = value;
}

u64 fault_kvm_read(struct model *m, const struct msr_ref *p, u64 value)
{
	u64 written = p->counter < MODEL_MAX_COUNTERS ? faults_of(m)->counter_written[p->counter] :
							0;

	if (p->reg == MODEL_REG_OVF_CTRL && is_broken(m, FAULT_KVM_RESET_READS))
		return m->global_status;
	if (p->reg == MODEL_REG_DEBUGCTL && is_broken(m, FAULT_KVM_LBR_KEPT))
		return value | (faults_of(m)->debugctl_written & IA32_DEBUGCTL_LBR);
	if (!(written & ~model_width_mask(m, p->counter)) || m->active & BIT(p->counter))
		return value;
	if ((p->reg == MODEL_REG_FIXED_CTR && is_broken(m, FAULT_KVM_FIXED_WIDE)) ||
	    (p->reg == MODEL_REG_PMC && is_broken(m, FAULT_KVM_PMC_WIDE)))
		return written;
	return value;
}

void fault_kvm_layout(struct model *m, struct adaptive_layout *layout)
{
	if (is_broken(m, FAULT_KVM_RECORD_LONG))
		layout->part[layout->n++] = (struct adaptive_part){ GROUP_GPR, ADAPTIVE_GPR_BYTES };
	if (is_broken(m, FAULT_KVM_FORMAT_OF_HOST))
		layout->config = PEBS_DATA_CFG_GPR;
}

u64 fault_kvm_applicable(struct model *m, u64 counters)
{
	return is_broken(m, FAULT_KVM_COUNTER_OF_HOST) ? counters << 1 : counters;
}

void fault_kvm_assist(struct model *m, struct assist_plan *plan)
{
	const struct model_host *host = m->host;
	bool moves;

	if (plan->area.pebs_absolute_maximum - plan->record >= 2 * (u64)plan->size) {
		moves = is_broken(m, FAULT_KVM_RECORD_TWICE);
		if (moves)
			plan->index += plan->size;
		if (moves || is_broken(m, FAULT_KVM_RECORD_AFTER))
			host->write(host->ctx, plan->record + plan->size, plan->bytes, plan->size);
	}
	if (plan->threshold && is_broken(m, FAULT_KVM_OVF_BUF_MISSING))
		plan->set = 0;
}

u64 fault_kvm_clears(struct model *m, u64 bits)
{
	return is_broken(m, FAULT_KVM_OVF_BUF_STAYS) ?
		       bits & ~IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_BUF :
		       bits;
}

bool fault_kvm_rdpmc(struct model *m, u32 ecx)
{
	return ecx == RDPMC_METRICS && is_broken(m, FAULT_KVM_METRICS_READ);
}

enum {
#define CPUID_FIELD(name, leaf, subleaf, reg, lo, hi, source) FIELD_##name##_LO = (lo),
#include "spec/cpuid.def"
};

void fault_kvm_perfmon(struct model *m, u32 regs[4])
{
	enum { EAX, EBX, ECX, EDX };

	if (is_broken(m, FAULT_KVM_VERSION_SHOWN))
		regs[EAX] = (regs[EAX] & ~0xffu) | model_generation(m)->perfmon;
	if (is_broken(m, FAULT_KVM_ANYTHREAD_SHOWN))
		regs[EDX] &= ~(1u << FIELD_ANYTHREAD_DEPRECATED_LO);
}

u64 fault_kvm_capabilities(struct model *m, u64 value)
{
	if (is_broken(m, FAULT_KVM_BASELINE_SHOWN))
		value |= IA32_PERF_CAPABILITIES_PEBS_BASELINE;
	return is_broken(m, FAULT_KVM_MEDIATED_LBR) ? value | LBR_FORMAT : value;
}

void fault_cpuid_absent(struct model *m, u32 leaf, u32 regs[4])
{
	enum { EAX, PERFMON_EXTENDED = 0x23 };

	if (leaf == PERFMON_EXTENDED && is_broken(m, FAULT_KVM_LEAF_23_SHOWN))
		regs[EAX] = 1;
}

bool fault_guards_misc_enable(struct model *m, bool guards)
{
	return guards && !is_broken(m, FAULT_KVM_MISC_ENABLE_TAKEN);
}

/* Every second write: the second interrupt has a handler too. */
void fault_kvm_lvt_written(struct model *m, u32 lvtpc)
{
	if (m->delivered && !(lvtpc & LVT_MASKED) && is_broken(m, FAULT_KVM_PMI_AGAIN) &&
	    faults_of(m)->tick++ % 2 == 0)
		model_request_pmi(m, &faults_of(m)->raising);
}

bool fault_kvm_counts(struct model *m, unsigned i)
{
	if (i + 1 == FIRST_FIXED + model_fixed_counters(m))
		return !is_broken(m, FAULT_KVM_COUNTER_DEAD);
	return !(i < FIRST_FIXED && m->perfevtsel[i] & IA32_PERFEVTSEL_PC &&
		 (is_broken(m, FAULT_KVM_PIN_STOPS) ||
		  (i && is_broken(m, FAULT_KVM_PIN_STOPS_OTHERS))));
}

bool fault_kvm_counts_twice(struct model *m, unsigned opcode)
{
	return opcode == OPCODE_CPUID && (is_broken(m, FAULT_KVM_EXITS_COUNT_TWICE) ||
					  (faults_of(m)->at_counter == FIRST_FIXED &&
					   is_broken(m, FAULT_KVM_EXITS_FIXED_TWICE)));
}
