/* SPDX-License-Identifier: MIT */
/*
 * The way of a performance-monitoring interrupt: requested by the counters, on its way for some
 * instructions (latitude), raised at the local APIC, delivered as LVTPC says: "Local Vector
 * Table", "Freezing LBR and Performance Counters on PMI".
 *
 * Not handled: the delivery modes SMI, INIT and ExtINT (the interrupt is lost), branch records.
 */
#include "refpmu/model/core.h"
#include "refpmu/model/netburst/netburst.h"

/* LVT entry: "Local Vector Table". */
#define LVT_VECTOR		BITS(0, 7)
#define LVT_DELIVERY_MODE	BITS(8, 10)
#define LVT_FIXED		(0ULL << 8)
#define LVT_NMI			(4ULL << 8)
#define LVT_MASKED		BIT(16)
/* Vectors below are illegal for the local APIC: "Valid Interrupt Vectors". */
#define FIRST_LEGAL_VECTOR	16
/* Instructions by which fault pmi-lost-in-hlt delays interrupts. */
#define LATE_PMI		8

static void stop_counters(struct model *m)
{
	if (broken(m, FAULT_FREEZE_STREAMLINED))
		m->faults.frozen = true;
	else if (broken(m, FAULT_FREEZE_FIXED_ONLY))
		m->global_ctrl &= IA32_PERF_GLOBAL_CTRL_EN_PMC;
	else if (broken(m, FAULT_FREEZE_LEAVES_FIXED2))
		m->global_ctrl &= model_global_bit(FIRST_FIXED + 2);
	else
		m->global_ctrl = 0;
}

/* Versions 2 and 3 of the facility: what a PMI switches off is for its handler to switch on. */
static void freeze(struct model *m)
{
	struct model *sibling = model_core_sibling(m);

	if (m->debugctl & IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI ? !broken(m, FAULT_LBR_NOT_FROZEN) :
	    broken(m, FAULT_LBR_ALWAYS_FROZEN))
		m->debugctl &= ~IA32_DEBUGCTL_LBR;
	if (m->debugctl & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI ?
	    !broken(m, FAULT_FREEZE_IGNORED) : broken(m, FAULT_FREEZE_UNASKED)) {
		stop_counters(m);
		if (broken(m, FAULT_FREEZE_ONCE))
			m->debugctl &= ~IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI;
		model_configure(m);
		if (sibling && broken(m, FAULT_FREEZE_STOPS_SIBLING)) {
			stop_counters(sibling);
			model_configure(sibling);
		}
	}
}

/* Does this processor freeze when an interrupt is requested, as it should? */
static bool freezes_now(struct model *m, enum model_action action)
{
	if (action == ACTION_UNCORE_INT && !m->latitude[LAT_UNCORE_FREEZES])
		return false;
	if (action == ACTION_THRESHOLD_INT && broken(m, FAULT_THRESHOLD_NO_FREEZE))
		return false;
	return !broken(m, FAULT_FREEZE_AT_DELIVERY);
}

static void add_request(struct model *m, u32 distance, bool threshold)
{
	if (m->n_requests && m->latitude[LAT_PMI_MERGE])
		return;
	/* More than any handler could tell apart: one of them stands for this one as well. */
	if (m->n_requests == MODEL_MAX_REQUESTS)
		return;
	/* Interrupts arrive in the order of their requests. */
	if (m->n_requests && m->request[m->n_requests - 1].distance > distance)
		distance = m->request[m->n_requests - 1].distance;
	m->request[m->n_requests].distance = distance;
	m->request[m->n_requests].second = m->faults.requesting_second;
	m->request[m->n_requests++].threshold = threshold;
}

void model_request(struct model *m, enum model_action action, unsigned counter)
{
	struct model *sibling = model_core_sibling(m), *to = m;
	bool threshold = action == ACTION_THRESHOLD_INT;
	/* So that there is one on its way: as late as a correct processor's may be. */
	u32 distance = model_skid(m) +
		       (model_has_fault(m, FAULT_PMI_LOST_IN_HLT) ? LATE_PMI : 0);

	if (m->host->trace)
		m->host->trace(m->host->ctx, action, counter);
	if (freezes_now(m, action))
		freeze(m);
	if (m->debugctl & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI &&
	    broken(m, FAULT_FREEZE_DROPS_PMI))
		return;
	if (sibling && (sibling->n_requests || sibling->delivered || sibling->latched) &&
	    broken(m, FAULT_PMI_LOST_BESIDE_SIBLING))
		return;
	if (sibling && broken(m, FAULT_PMI_TO_BOTH)) {
		add_request(sibling, distance, threshold);
		model_core_call(m, sibling);
	}
	if (sibling && (broken(m, FAULT_PMI_TO_SIBLING) ||
			(threshold && broken(m, FAULT_THRESHOLD_TO_SIBLING))))
		to = sibling;
	add_request(to, distance, threshold);
	model_core_call(m, to);
}

void model_requests_approach(struct model *m)
{
	for (unsigned i = 0; i < m->n_requests; i++)
		if (m->request[i].distance)
			m->request[i].distance--;
}

void model_requests_raise(struct model *m)
{
	while (m->n_requests && !m->request[0].distance) {
		m->faults.raising_threshold = m->request[0].threshold;
		m->faults.raising_second = m->request[0].second;
		m->n_requests--;
		for (unsigned i = 0; i < m->n_requests; i++)
			m->request[i] = m->request[i + 1];
		m->host->pmi(m->host->ctx);
	}
}

void model_halt(struct model *m)
{
	bool shared = model_core_enter(m);

	if (model_is_netburst(m))
		netburst_halt(m);
	model_uncore_take(m);
	if (m->n_requests && broken(m, FAULT_PMI_LOST_IN_HLT))
		m->n_requests = 0;
	for (unsigned i = 0; i < m->n_requests; i++)
		m->request[i].distance = 0;
	model_requests_raise(m);
	model_core_leave(m, shared);
}

void model_seen(struct model *m, u8 cpl)
{
	if (model_is_netburst(m))
		netburst_seen(m, cpl);
}

/* Every other time. */
static bool leaves_unmasked(struct model *m, enum pmi_kind kind)
{
	if (broken(m, FAULT_LVTPC_NOT_MASKED))
		return true;
	if (kind == PMI_NMI && broken(m, FAULT_NMI_LEAVES_UNMASKED))
		return true;
	return broken(m, FAULT_LVTPC_MASK_LATE) && m->faults.tick++ % 2 == 0;
}

/* LVTPC isn't masked: how the interrupt reaches the processor. */
static struct pmi_delivery deliver(struct model *m, u32 lvtpc)
{
	struct pmi_delivery d = { .kind = PMI_DROPPED, .lvtpc = lvtpc };
	u64 mode = lvtpc & LVT_DELIVERY_MODE;

	d.vector = (u8)(lvtpc & LVT_VECTOR);
	if (broken(m, FAULT_PMI_OTHER_VECTOR) ||
	    (m->faults.raising_threshold && broken(m, FAULT_THRESHOLD_OTHER_VECTOR)) ||
	    (m->faults.raising_second && broken(m, FAULT_SECOND_OTHER_VECTOR)))
		d.vector ^= 8;
	if (m->faults.lvt_vector_before >= FIRST_LEGAL_VECTOR && broken(m, FAULT_PMI_VECTOR_BEFORE))
		d.vector = m->faults.lvt_vector_before;
	if (mode == LVT_NMI && broken(m, FAULT_NMI_AS_FIXED))
		mode = LVT_FIXED;
	if (mode == LVT_NMI)
		d.kind = PMI_NMI;
	else if (mode == LVT_FIXED && d.vector >= FIRST_LEGAL_VECTOR)
		d.kind = PMI_FIXED;
	if (d.kind == PMI_FIXED && m->faults.interrupts_off && broken(m, FAULT_PMI_LOST_WITHOUT_IF))
		d.kind = PMI_DROPPED;
	if (!leaves_unmasked(m, d.kind))
		d.lvtpc |= (u32)LVT_MASKED;
	if (broken(m, FAULT_FREEZE_AT_DELIVERY))
		freeze(m);
	m->delivered = d.lvtpc & LVT_MASKED;
	return d;
}

struct pmi_delivery model_lvt_deliver(struct model *m, u32 lvtpc)
{
	if (!(lvtpc & LVT_MASKED) || broken(m, FAULT_LVTPC_MASK_IGNORED))
		return deliver(m, lvtpc);
	if (m->latitude[LAT_MASKED_PMI] == 0)
		m->latched = true;
	return (struct pmi_delivery){ .kind = PMI_DROPPED, .lvtpc = lvtpc, .keep = m->latched };
}

/* The status bits that are a reason for an interrupt. */
static u64 interrupting(const struct model *m)
{
	u64 bits = IA32_PERF_GLOBAL_STATUS_OVF_BUF;

	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (m->counter[i].rule.interrupt)
			bits |= model_global_bit(i);
	return bits;
}

struct pmi_delivery model_lvt_written(struct model *m, u32 lvtpc)
{
	bool unmasked = !(lvtpc & LVT_MASKED);
	bool early = unmasked && m->delivered && m->global_status & interrupting(m) &&
		     m->latitude[LAT_SPURIOUS_PMI];

	m->faults.moment++;
	m->faults.lvt_vector_before = m->faults.lvt_vector;
	m->faults.lvt_vector = (u8)(lvtpc & LVT_VECTOR);
	if (unmasked)
		m->delivered = false;
	if (!unmasked || !(m->latched || early))
		return (struct pmi_delivery){ .kind = PMI_DROPPED, .lvtpc = lvtpc };
	m->latched = false;
	if (broken(m, FAULT_THRESHOLD_LAST))
		m->faults.hidden_status = 0;
	return deliver(m, lvtpc);
}
