/* SPDX-License-Identifier: MIT */
/*
 * The path of a performance-monitoring interrupt: the counters request it, after some instructions
 * (latitude) it arrives at the local APIC, and is delivered as LVTPC says: "Local Vector Table",
 * "Freezing LBR and Performance Counters on PMI".
 *
 * Not handled: the delivery modes SMI, INIT and ExtINT (the interrupt is lost).
 */
#include "refpmu/model/core.h"
#include "refpmu/model/pmu.h"

/*
 * "Freezing LBR and Performance Counters on PMI", versions 2 and 3 of the facility: with
 * FREEZE_LBRS_ON_PMI the processor clears IA32_DEBUGCTL.LBR, with FREEZE_PERFMON_ON_PMI all enables
 * of IA32_PERF_GLOBAL_CTRL. The handler of the interrupt switches them on again. From version 4 on
 * (streamlined) it sets LBR_Frz and CTR_Frz instead, and the handler clears these.
 */
struct freeze_plan model_freeze_plan(const struct model *m)
{
	return (struct freeze_plan){
		.lbrs = m->debugctl & IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI,
		.counters = m->debugctl & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI,
		.streamlined = model_version_4(m),
	};
}

/* "Freezing LBR and Performance Counters on PMI": version 4 sets status bits and leaves the
 * enables unchanged; versions 2 and 3 clear the enables. */
void model_freeze(struct model *m, const struct freeze_plan *plan)
{
	if (plan->lbrs)
		fault_lbr_stopped(m, LBR_STOP_FREEZE);
	if (plan->streamlined) {
		m->global_status |= (plan->lbrs ? IA32_PERF_GLOBAL_STATUS_LBR_FRZ : 0) |
				    (plan->counters ? IA32_PERF_GLOBAL_STATUS_CTR_FRZ : 0);
		model_configure(m);
		return;
	}
	if (plan->lbrs)
		m->debugctl &= ~IA32_DEBUGCTL_LBR;
	if (!plan->counters)
		return;
	m->global_ctrl &= plan->left;
	model_configure(m);
}

/*
 * "Freezing LBR and Performance Counters on PMI": with the request of the interrupt, not with its
 * delivery. Whether an interrupt of the uncore freezes isn't stated: latitude uncore-freezes.
 */
static void freeze(struct model *m, const struct pmi *pmi)
{
	struct freeze_plan plan = model_freeze_plan(m);

	if (pmi->action == ACTION_UNCORE_INT && !m->latitude[LAT_UNCORE_FREEZES])
		return;
	fault_freeze(m, pmi, &plan);
	model_freeze(m, &plan);
}

/* Whether two interrupts that are on their way are one isn't stated: latitude pmi-merge. */
static void add_request(struct model *m, u32 distance, const struct pmi *pmi)
{
	if (m->n_requests && m->latitude[LAT_PMI_MERGE])
		return;
	/* More requests than any handler could distinguish: an earlier one also stands for this
	 * one. */
	if (m->n_requests == MODEL_MAX_REQUESTS)
		return;
	/* Interrupts arrive in the order of their requests. */
	if (m->n_requests && m->request[m->n_requests - 1].distance > distance)
		distance = m->request[m->n_requests - 1].distance;
	m->request[m->n_requests].distance = distance;
	m->request[m->n_requests++].pmi = *pmi;
}

/*
 * The counters ask for an interrupt: it freezes at once, and arrives at the local APIC of this
 * processor some instructions later. "Local Vector Table": each logical processor has its own
 * entry. The manual gives no distance: latitude pmi-skid.
 */
void model_request_pmi(struct model *m, const struct pmi *pmi)
{
	struct request_plan plan = { .to = { m }, .distance = model_skid(m) };

	if (m->host->trace)
		m->host->trace(m->host->ctx, pmi->action, pmi->counter);
	if (m->latitude[LAT_NO_PMI])
		return;
	freeze(m, pmi);
	fault_request(m, pmi, &plan);
	for (unsigned t = 0; t < CORE_THREADS; t++)
		if (plan.to[t]) {
			add_request(plan.to[t], plan.distance, pmi);
			model_core_kick(m, plan.to[t]);
		}
}

void model_request(struct model *m, enum model_action action, unsigned counter)
{
	model_request_pmi(m, &(struct pmi){ .action = (u8)action, .counter = (u8)counter });
}

void model_requests_approach(struct model *m)
{
	for (unsigned i = 0; i < m->n_requests; i++)
		if (m->request[i].distance)
			m->request[i].distance--;
}

/*
 * "Local Vector Table", "Delivery Mode": as a fixed interrupt with the vector of LVTPC, or as an
 * NMI. "When a local APIC handles a performance-monitoring counters interrupt, it automatically
 * sets the mask flag in the LVT performance counter register."
 */
static struct pmi_delivery deliver(struct model *m, u32 lvtpc)
{
	struct pmi_delivery d = {
		.kind = PMI_DROPPED,
		.vector = (u8)(lvtpc & LVT_VECTOR),
		.lvtpc = m->facts & FACT_LVTPC_UNMASKED ? lvtpc : lvtpc | (u32)LVT_MASKED,
	};

	if ((lvtpc & LVT_DELIVERY_MODE) == LVT_NMI)
		d.kind = PMI_NMI;
	else if ((lvtpc & LVT_DELIVERY_MODE) == LVT_FIXED && d.vector >= FIRST_LEGAL_VECTOR)
		d.kind = PMI_FIXED;
	fault_delivery(m, &d);
	m->delivered = d.lvtpc & LVT_MASKED;
	return d;
}

/* "Local Vector Table": a mask bit of 1 "inhibits reception of the interrupt". Whether the
 * interrupt is kept or lost is latitude masked-pmi. */
static struct pmi_delivery arrive(struct model *m, u32 lvtpc)
{
	if (!fault_lvt_masked(m, lvtpc & LVT_MASKED))
		return deliver(m, lvtpc);
	if (m->latitude[LAT_MASKED_PMI] == 0)
		m->latched = true;
	return (struct pmi_delivery){ .kind = PMI_DROPPED, .lvtpc = lvtpc };
}

/* Interrupts that have arrived: "two separate interrupts", where LVTPC allows it. */
void model_requests_raise(struct model *m)
{
	struct pmi_delivery delivery;

	while (m->n_requests && !m->request[0].distance) {
		fault_raise(m, &m->request[0].pmi);
		m->n_requests--;
		for (unsigned i = 0; i < m->n_requests; i++)
			m->request[i] = m->request[i + 1];
		delivery = arrive(m, m->host->lvtpc(m->host->ctx));
		m->host->deliver(m->host->ctx, &delivery);
	}
}

/* HLT lets all interrupts arrive: docs/READINGS.md, "Distance of an interrupt". */
void model_halt(struct model *m)
{
	bool shared = model_core_enter(m);

	pmu_halt(m);
	model_uncore_take(m);
	fault_halt(m);
	fault_lbr_stopped(m, LBR_STOP_HLT);
	for (unsigned i = 0; i < m->n_requests; i++)
		m->request[i].distance = 0;
	model_requests_raise(m);
	model_core_leave(m, shared);
}

/* The status bits that can cause an interrupt: Figure 18-20, overflows and OvfBuf. */
static u64 interrupting(const struct model *m)
{
	u64 bits = IA32_PERF_GLOBAL_STATUS_OVF_BUF;

	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (m->counter[i].rule.interrupt)
			bits |= model_global_bit(i);
	return bits;
}

/*
 * The handler clears the mask bit: an interrupt that has waited is delivered (latitude
 * masked-pmi). If the status isn't cleared yet, Haswell may interrupt once more: Linux
 * intel_pmu_handle_irq, latitude spurious-pmi.
 */
struct pmi_delivery model_lvt_written(struct model *m, u32 lvtpc)
{
	bool unmasked = !(lvtpc & LVT_MASKED);
	bool early = unmasked && m->delivered && m->global_status & interrupting(m) &&
		     m->latitude[LAT_SPURIOUS_PMI];
	bool delivers = unmasked && (m->latched || early);

	fault_next_sequence(m);
	delivers = fault_lvt_written(m, lvtpc, delivers);
	if (unmasked)
		m->delivered = false;
	if (!delivers)
		return (struct pmi_delivery){ .kind = PMI_DROPPED, .lvtpc = lvtpc };
	m->latched = false;
	return deliver(m, lvtpc);
}
