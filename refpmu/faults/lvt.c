/* SPDX-License-Identifier: MIT */
/* Faults of refpmu/model/lvt.c: of an interrupt between request and delivery, and of freezing. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/icelake/version5.h"
#include "refpmu/faults/kvm/kvm.h"
#include "refpmu/faults/skylake/version4.h"
#include "refpmu/model/core.h"
#include "refpmu/model/internal.h"
#include "refpmu/model/msr.h"

/* Fault pmi-lost-in-hlt delays interrupts by so many instructions, so that one is on its way. A
 * correct processor may be as late. */
#define LATE_PMI	8
#define FIRST_FREE_VECTOR 32	/* the first one after the exceptions' vectors */
#define OTHER_VECTOR	8	/* the bit in which the vectors differ */
#define FREEZES		(IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI | IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI)

/* ---- freezing ---- */

static void freeze_other_counters(struct model *m, struct freeze_plan *plan)
{
	struct model *sibling = model_core_sibling(m);

	if (broken(m, FAULT_FREEZE_STREAMLINED)) {
		faults_of(m)->frozen = true;
		plan->left = ~0ULL;
	} else if (broken(m, FAULT_FREEZE_FIXED_ONLY)) {
		plan->left = IA32_PERF_GLOBAL_CTRL_EN_PMC;
	} else if (broken(m, FAULT_FREEZE_LEAVES_FIXED2)) {
		plan->left = model_global_bit(FIRST_FIXED + 2);
	}
	if (model_uncore_of(m)->global_ctrl && broken(m, FAULT_FREEZE_STOPS_UNCORE))
		model_uncore_write(m, &(struct msr_ref){ .reg = MODEL_REG_UNCORE_GLOBAL_CTRL }, 0);
	if (broken(m, FAULT_FREEZE_ONCE))
		m->debugctl &= ~IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI;
	if (sibling && (broken(m, FAULT_FREEZE_STOPS_SIBLING) ||
			(sibling->debugctl & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI &&
			 broken(m, FAULT_FREEZE_STOPS_ASKING_SIBLING))))
		model_freeze(sibling, &(struct freeze_plan){
					      .counters = true,
					      .streamlined = plan->streamlined,
				      });
}

static void freeze_recording_of_sibling(struct model *m, const struct freeze_plan *plan)
{
	struct model *sibling = model_core_sibling(m);

	if (sibling && broken(m, FAULT_FREEZE_STOPS_SIBLING_LBR))
		model_freeze(sibling, &(struct freeze_plan){
					      .lbrs = true,
					      .streamlined = plan->streamlined,
				      });
}

/* The freeze by an overflow that the other logical processor's event causes. */
static void break_freeze_by_sibling(struct model *m, struct freeze_plan *plan)
{
	struct model *sibling = model_core_sibling(m);

	if (broken(m, FAULT_ANYTHREAD_NO_FREEZE) ||
	    (m->thread && broken(m, FAULT_ANYTHREAD_SECOND_NO_FREEZE)))
		plan->counters = false;
	if (!sibling || !broken(m, FAULT_ANYTHREAD_FREEZES_SIBLING))
		return;
	model_freeze(sibling, plan);
	plan->counters = false;
}

static void freeze_by_pmc0_only(struct model *m, struct freeze_plan *plan)
{
	if (plan->counters && broken(m, FAULT_FREEZE_BY_PMC0_ONLY))
		plan->counters = false;
	if (plan->lbrs && broken(m, FAULT_LBR_FREEZE_BY_PMC0_ONLY))
		plan->lbrs = false;
}

/* Do the counters go on, because of the state in which the interrupt comes about? */
static bool goes_on(struct model *m, const struct pmi *pmi)
{
	const bool threshold = pmi->action == ACTION_THRESHOLD_INT;

	if (!threshold && faults_of(m)->was_shown & BIT(pmi->counter) &&
	    broken(m, FAULT_FREEZE_WANTS_NEW_BIT))
		return true;
	if (threshold && faults_of(m)->ovfbuf_was_set &&
	    broken(m, FAULT_THRESHOLD_FREEZE_WANTS_NEW_BIT))
		return true;
	if (threshold && m->host->lvtpc(m->host->ctx) & LVT_MASKED &&
	    broken(m, FAULT_THRESHOLD_FREEZE_WANTS_LVT))
		return true;
	return (faults_of(m)->interrupts_off && broken(m, FAULT_FREEZE_WANTS_IF)) ||
	       (faults_of(m)->cpl == 3 && broken(m, FAULT_FREEZE_WANTS_CPL_0));
}

static void stop_recording(struct model *m)
{
	if (model_has_arch_lbr(m) && broken(m, FAULT_THRESHOLD_CLEARS_LBREN))
		m->lbr.control &= ~IA32_LBR_CTL_LBREN;
	if (!model_has_arch_lbr(m) && broken(m, FAULT_THRESHOLD_CLEARS_LBR))
		m->debugctl &= ~(u64)IA32_DEBUGCTL_LBR;
}

void fault_freeze(struct model *m, const struct pmi *pmi, struct freeze_plan *plan)
{
	if (m->config.fault == FAULT_NONE)
		return;
	if ((pmi->action == ACTION_THRESHOLD_INT &&
	     (broken(m, FAULT_THRESHOLD_NO_FREEZE) ||
	      (pmi->counter >= FIRST_FIXED && broken(m, FAULT_THRESHOLD_NO_FREEZE_FIXED)))) ||
	    broken(m, FAULT_FREEZE_AT_DELIVERY)) {
		*plan = (struct freeze_plan){ .lbrs = false };
		return;
	}
	if (plan->lbrs && m->lbr.select & LBR_SELECT_EN_CALLSTACK &&
	    broken(m, FAULT_FREEZE_NOT_IN_CALL_STACK))
		plan->lbrs = false;
	if (faults_of(m)->two_wrapped && broken(m, FAULT_FREEZE_NOT_OF_TWO)) {
		*plan = (struct freeze_plan){ .lbrs = false };
		return;
	}
	if ((m->debugctl ^ faults_of(m)->debugctl_enabled) & FREEZES &&
	    broken(m, FAULT_FREEZE_LATCHED)) {
		plan->counters = faults_of(m)->debugctl_enabled &
				 IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI;
		plan->lbrs = faults_of(m)->debugctl_enabled & IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI;
	}
	if (plan->counters && plan->streamlined && broken(m, FAULT_FREEZE_COUNTERS_ONCE))
		m->debugctl &= ~(u64)IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI;
	if (plan->lbrs && broken(m, FAULT_FREEZE_LBRS_ONCE))
		m->debugctl &= ~(u64)IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI;
	plan->lbrs = plan->lbrs ? !broken(m, FAULT_LBR_NOT_FROZEN) :
				  broken(m, FAULT_LBR_ALWAYS_FROZEN);
	plan->counters = plan->counters ? !broken(m, FAULT_FREEZE_IGNORED) :
					  broken(m, FAULT_FREEZE_UNASKED);
	if (m->debugctl & IA32_DEBUGCTL_ENABLE_UNCORE_PMI && broken(m, FAULT_FREEZE_BY_BIT_13))
		plan->counters = true;
	if (pmi->counter)
		freeze_by_pmc0_only(m, plan);
	if (pmi->action == ACTION_THRESHOLD_INT && plan->lbrs &&
	    broken(m, FAULT_THRESHOLD_KEEPS_LBRS))
		plan->lbrs = false;
	if (pmi->action == ACTION_THRESHOLD_INT && pmi->counter && plan->counters &&
	    broken(m, FAULT_THRESHOLD_FREEZES_BY_PMC0))
		plan->counters = false;
	if (pmi->action == ACTION_THRESHOLD_INT && pmi->counter && pmi->counter != FIRST_FIXED &&
	    !plan->counters && broken(m, FAULT_THRESHOLD_FREEZES_UNASKED))
		plan->counters = true;
	if (plan->counters && goes_on(m, pmi))
		plan->counters = false;
	if (plan->counters && plan->lbrs && broken(m, FAULT_FREEZE_ONE_OF_TWO))
		plan->counters = false;
	if (plan->counters && (m->host->lvtpc(m->host->ctx) & LVT_DELIVERY_MODE) == LVT_NMI &&
	    broken(m, FAULT_FREEZE_NOT_BY_NMI))
		plan->counters = false;
	if (plan->counters && faults_of(m)->by_sibling)
		break_freeze_by_sibling(m, plan);
	if (plan->counters && m->tx.depth && broken(m, FAULT_TX_NO_FREEZE))
		plan->counters = false;
	if (plan->lbrs)
		freeze_recording_of_sibling(m, plan);
	if (plan->counters) {
		freeze_other_counters(m, plan);
		fault_disarm_all(m, FAULT_FREEZE_DISARMS);
		if (!plan->streamlined && m->pebs_enable &&
		    broken(m, FAULT_FREEZE_CLEARS_PEBS_ENABLE))
			m->pebs_enable = 0;
	}
	if (pmi->action == ACTION_THRESHOLD_INT && plan->counters && !plan->streamlined &&
	    broken(m, FAULT_THRESHOLD_LEAVES_FIXED))
		plan->left = IA32_PERF_GLOBAL_CTRL_EN_FIXED_CTR;
	if (pmi->action == ACTION_OVERFLOW_INT && pmi->counter > FIRST_FIXED && plan->counters &&
	    !plan->streamlined && broken(m, FAULT_FREEZE_BY_CYCLES_LEAVES_GP))
		plan->left = IA32_PERF_GLOBAL_CTRL_EN_PMC;
	faults_of(m)->froze |= plan->counters && plan->streamlined;
	fault_freeze_way(m, plan);
	if (pmi->action == ACTION_THRESHOLD_INT && plan->lbrs && plan->streamlined)
		stop_recording(m);
}

/* ---- on its way ---- */

static bool is_lost(struct model *m, const struct pmi *pmi)
{
	const struct model *sibling = model_core_sibling(m);

	if (m->debugctl & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI && broken(m, FAULT_FREEZE_DROPS_PMI))
		return true;
	if (faults_of(m)->halted && broken(m, FAULT_HALTED_PMI_LOST))
		return true;
	if (faults_of(m)->halted && pmi->action == ACTION_UNCORE_INT &&
	    broken(m, FAULT_UNCORE_HALTED_LOST))
		return true;
	return sibling && (sibling->n_requests || sibling->delivered || sibling->latched) &&
	       broken(m, FAULT_PMI_LOST_BESIDE_SIBLING);
}

void fault_request(struct model *m, const struct pmi *pmi, struct request_plan *plan)
{
	struct model *sibling;

	if (m->config.fault == FAULT_NONE)
		return;
	sibling = model_core_sibling(m);
	if (model_has_fault(m, FAULT_PMI_LOST_IN_HLT) ||
	    model_has_fault(m, FAULT_PMI_OF_OTHERS_LOST_IN_HLT))
		plan->distance += LATE_PMI;
	if (is_lost(m, pmi))
		plan->to[0] = NULL;
	if (sibling && broken(m, FAULT_PMI_TO_BOTH))
		plan->to[1] = sibling;
	if (sibling && (broken(m, FAULT_PMI_TO_SIBLING) || (pmi->action == ACTION_THRESHOLD_INT &&
							    broken(m, FAULT_THRESHOLD_TO_SIBLING))))
		plan->to[0] = sibling;
}

/* Fixed counter 1 counts from HLT to the next instruction. */
static void count_halt(struct model *m)
{
	const unsigned i = FIRST_FIXED + 1;

	if (faults_of(m)->halted_at || !m->host->tsc ||
	    !model_has_fault(m, FAULT_FIXED1_COUNTS_HALTS))
		return;
	if (m->active & BIT(i) && m->counter[i].rule.os)
		faults_of(m)->halted_at = m->host->tsc(m->host->ctx);
}

void fault_halt(struct model *m)
{
	fault_v5_halt(m);
	count_halt(m);
	faults_of(m)->halted = true;
	fault_disarm_all(m, FAULT_HLT_DISARMS);
	if (m->debugctl & IA32_DEBUGCTL_LBR && broken(m, FAULT_HLT_CLEARS_LBR))
		m->debugctl &= ~(u64)IA32_DEBUGCTL_LBR;
	if (m->n_requests &&
	    (broken(m, FAULT_PMI_LOST_IN_HLT) ||
	     (m->request[0].pmi.counter && broken(m, FAULT_PMI_OF_OTHERS_LOST_IN_HLT))))
		m->n_requests = 0;
}

void fault_raise(struct model *m, const struct pmi *pmi)
{
	faults_of(m)->raising = *pmi;
}

/* ---- at the local APIC ---- */

bool fault_lvt_masked(struct model *m, bool masked)
{
	if (masked && faults_of(m)->raising.action == ACTION_UNCORE_INT &&
	    broken(m, FAULT_UNCORE_PMI_IGNORES_MASK))
		return false;
	return masked && !broken(m, FAULT_LVTPC_MASK_IGNORED);
}

static bool has_other_vector(struct model *m)
{
	const struct pmi *pmi = &faults_of(m)->raising;

	return broken(m, FAULT_PMI_OTHER_VECTOR) ||
	       (pmi->action == ACTION_THRESHOLD_INT && broken(m, FAULT_THRESHOLD_OTHER_VECTOR)) ||
	       (pmi->second && broken(m, FAULT_SECOND_OTHER_VECTOR));
}

static void break_vector(struct model *m, struct pmi_delivery *d)
{
	if (has_other_vector(m))
		d->vector ^= OTHER_VECTOR;
	if (faults_of(m)->lvt_vector_before >= FIRST_LEGAL_VECTOR &&
	    broken(m, FAULT_PMI_VECTOR_BEFORE))
		d->vector = faults_of(m)->lvt_vector_before;
	if (d->vector < FIRST_LEGAL_VECTOR ||
	    (d->vector < FIRST_FREE_VECTOR && broken(m, FAULT_VECTORS_BELOW_32_LOST)))
		d->kind = PMI_DROPPED;
}

static bool leaves_unmasked(struct model *m, enum pmi_kind kind)
{
	if (broken(m, FAULT_LVTPC_NOT_MASKED))
		return true;
	if (faults_of(m)->raising.counter >= FIRST_FIXED && broken(m, FAULT_FIXED_LEAVES_UNMASKED))
		return true;
	if (faults_of(m)->raising.action == ACTION_UNCORE_INT &&
	    broken(m, FAULT_UNCORE_PMI_LEAVES_UNMASKED))
		return true;
	if (faults_of(m)->raising.action == ACTION_THRESHOLD_INT &&
	    broken(m, FAULT_THRESHOLD_LEAVES_UNMASKED))
		return true;
	if (kind == PMI_NMI && broken(m, FAULT_NMI_LEAVES_UNMASKED))
		return true;
	if (faults_of(m)->delivered_by_write && broken(m, FAULT_KEPT_PMI_LEAVES_UNMASKED))
		return true;
	/* Every second time. */
	return broken(m, FAULT_LVTPC_MASK_LATE) && faults_of(m)->tick++ % 2 == 0;
}

void fault_delivery(struct model *m, struct pmi_delivery *d)
{
	if (m->config.fault == FAULT_NONE)
		return;
	if (d->kind == PMI_NMI && broken(m, FAULT_NMI_AS_FIXED))
		d->kind = PMI_FIXED;
	if (d->kind == PMI_NMI && faults_of(m)->raising.action == ACTION_UNCORE_INT &&
	    broken(m, FAULT_UNCORE_PMI_AS_FIXED))
		d->kind = PMI_FIXED;
	if (d->kind == PMI_NMI && faults_of(m)->raising.action == ACTION_THRESHOLD_INT &&
	    broken(m, FAULT_THRESHOLD_NOT_AS_NMI))
		d->kind = PMI_FIXED;
	if (d->kind == PMI_NMI && d->vector && d->vector < FIRST_LEGAL_VECTOR &&
	    broken(m, FAULT_NMI_WANTS_VECTOR))
		d->kind = PMI_DROPPED;
	if (d->kind == PMI_FIXED)
		break_vector(m, d);
	if (d->kind == PMI_FIXED && faults_of(m)->interrupts_off &&
	    broken(m, FAULT_PMI_LOST_WITHOUT_IF))
		d->kind = PMI_DROPPED;
	if (d->kind == PMI_FIXED && faults_of(m)->interrupts_off && broken(m, FAULT_PMI_IGNORES_IF))
		d->kind = PMI_NMI;
	faults_of(m)->nmi_comes = d->kind == PMI_NMI;
	if (leaves_unmasked(m, d->kind))
		d->lvtpc &= ~(u32)LVT_MASKED;
	faults_of(m)->delivered_by_write = false;
	if (broken(m, FAULT_LVTPC_REWRITTEN))
		d->lvtpc &= (u32)LVT_MASKED;
	if (broken(m, FAULT_LVTPC_RESERVED_SET))
		d->lvtpc |= (u32)LVT_MASKED << 1;
	if (broken(m, FAULT_FREEZE_AT_DELIVERY)) {
		const struct freeze_plan plan = model_freeze_plan(m);

		model_freeze(m, &plan);
	}
}

bool fault_lvt_written(struct model *m, u32 lvtpc, bool delivers)
{
	if (!delivers && m->latched && broken(m, FAULT_MASKED_WRITE_DELIVERS))
		delivers = true;
	fault_kvm_lvt_written(m, lvtpc);
	faults_of(m)->lvt_vector_before = faults_of(m)->lvt_vector;
	faults_of(m)->lvt_vector = (u8)(lvtpc & LVT_VECTOR);
	faults_of(m)->lvt_mask_written = lvtpc & LVT_MASKED;
	faults_of(m)->delivered_by_write = delivers;
	if (delivers && broken(m, FAULT_THRESHOLD_LAST))
		faults_of(m)->hidden_status = 0;
	return delivers;
}
