/* SPDX-License-Identifier: MIT */
/*
 * Registers of NetBurst's PMU: "ESCR MSRs", "CCCR MSRs", "IA32_PEBS_ENABLE MSR", Table 35-41. What
 * they share with other generations, model/msr.c has: IA32_DS_AREA and IA32_MISC_ENABLE.
 *
 * Bits 25 and 26 of MSR_PEBS_ENABLE are "my thread" and "other thread" to whoever writes, and,
 * unless latitude has it otherwise, to whoever reads. Bits 63:40 of a counter are ignored.
 */
#include "refpmu/model/netburst/netburst.h"

#define DEBUGCTLA_BITS	BITS(0, 6)	/* LBR, BTF, TR, BTS, BTINT, BTS_OFF_OS, BTS_OFF_USR */

/* By the tokens of refpmu/faults/fault_netburst.def. */
enum nb_reg {
	NBR_NONE, NBR_COUNTER, NBR_CCCR, NBR_ESCR, NBR_PEBS_ENABLE, NBR_MATRIX_VERT,
	NBR_TC_PRECISE_EVENT, NBR_DEBUGCTLA, NBR_KINDS,
};

struct place {
	enum nb_reg reg;
	unsigned i;
};

static const struct { u16 write_dropped, reads_zero, reserved_accepted; } faults[NBR_KINDS] = {
#define FAULT(token, name, requirements, sentence, ...)
#define FAULT_NB_WRITE(token, name, requirements, title) \
	[NBR_##token].write_dropped = FAULT_NB_##token##_WRITE_DROPPED,
#define FAULT_NB_READ(token, name, requirements, title) \
	[NBR_##token].reads_zero = FAULT_NB_##token##_READS_ZERO,
#define FAULT_NB_RESERVED(token, name, requirements, title) \
	[NBR_##token].reserved_accepted = FAULT_NB_##token##_RESERVED_ACCEPTED,
#include "refpmu/faults/fault_netburst.def"
#undef FAULT
};

static const struct msr_result gp = { .status = MSR_GP };

static struct place find(u32 msr)
{
	switch (msr) {
#define NB_COUNTER(name, number, address, cccr, cccr_address, pool, alternate, extended, source) \
	case address: \
		return (struct place){ NBR_COUNTER, number }; \
	case cccr_address: \
		return (struct place){ NBR_CCCR, number };
#define NB_ESCR(name, address, select, pool, source) \
	case address: \
		return (struct place){ NBR_ESCR, NB_##name };
#define NB_REGISTER(name, address, source) \
	case address: \
		return (struct place){ NBR_##name, 0 };
#define NBR_PEBS_MATRIX_VERT NBR_MATRIX_VERT
#include "spec/netburst.def"
#undef NBR_PEBS_MATRIX_VERT
	default:
		return (struct place){ NBR_NONE, 0 };
	}
}

/* ---- bits ---- */

enum fields_of_nb { OF_ESCR, OF_CCCR, OF_PEBS_ENABLE, OF_PEBS_MATRIX_VERT };

static u64 defined(const struct model *m, enum fields_of_nb of, bool extended)
{
	static const struct { u8 of, lo, hi, who; } fields[] = {
#define NB_FIELD(reg, field, lo, hi, who, source) { OF_##reg, lo, hi, who },
#include "spec/netburst.def"
	};
	u64 bits = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (fields[i].of != of || (fields[i].who == NB_EXTENDED && !extended) ||
		    (fields[i].who == NB_HT_ONLY && !netburst_has_ht(m)))
			continue;
		bits |= BITS(fields[i].lo, fields[i].hi);
	}
	return bits;
}

static u64 writable(const struct model *m, const struct place *p)
{
	switch (p->reg) {
	case NBR_CCCR:
		return defined(m, OF_CCCR, netburst_counters[p->i].extended != NB_NONE);
	case NBR_ESCR:
		return defined(m, OF_ESCR, false);
	case NBR_PEBS_ENABLE:
		return defined(m, OF_PEBS_ENABLE, false);
	case NBR_MATRIX_VERT:
		return defined(m, OF_PEBS_MATRIX_VERT, false);
	case NBR_DEBUGCTLA:
		return DEBUGCTLA_BITS;
	default:
		return ~0ULL;
	}
}

/* ---- MSR_PEBS_ENABLE ---- */

static u64 swapped(u64 value)
{
	bool mine = value & NB_PEBS_ENABLE_MY_THR, other = value & NB_PEBS_ENABLE_OTH_THR;

	value &= ~(NB_PEBS_ENABLE_MY_THR | NB_PEBS_ENABLE_OTH_THR);
	return value | (other ? NB_PEBS_ENABLE_MY_THR : 0) | (mine ? NB_PEBS_ENABLE_OTH_THR : 0);
}

static u64 read_pebs_enable(struct model *m, unsigned thread)
{
	struct netburst *n = netburst_of(m);
	u64 value = n->now.pebs_enable;

	if (broken(m, FAULT_NB_PEBS_ENABLE_PER_THREAD))
		return n->thread[thread].own_pebs_enable;
	if (m->latitude[LAT_PEBS_BITS_READ])
		return n->literal;
	if (n->now.pebs_threads & BIT(0))
		value |= NB_PEBS_ENABLE_MY_THR;
	if (n->now.pebs_threads & BIT(1))
		value |= NB_PEBS_ENABLE_OTH_THR;
	return thread && !broken(m, FAULT_NB_PEBS_ABSOLUTE) ? swapped(value) : value;
}

static void write_pebs_enable(struct model *m, unsigned thread, u64 value)
{
	struct netburst *n = netburst_of(m);

	n->literal = n->thread[thread].own_pebs_enable = value;
	if (thread && !broken(m, FAULT_NB_PEBS_ABSOLUTE))
		value = swapped(value);
	n->now.pebs_threads = (u8)((value & NB_PEBS_ENABLE_MY_THR ? BIT(0) : 0) |
				   (value & NB_PEBS_ENABLE_OTH_THR ? BIT(1) : 0));
	n->now.pebs_enable = value & ~(NB_PEBS_ENABLE_MY_THR | NB_PEBS_ENABLE_OTH_THR);
	for (unsigned t = 0; t < NB_THREADS; t++)
		if (!(n->now.pebs_threads & BIT(t)))
			n->thread[t].armed = false;
}

/* ---- reading ---- */

static u64 read_cccr(struct model *m, unsigned i)
{
	u64 *cccr = &netburst_of(m)->now.cccr[i], value = *cccr;

	if (value & NB_CCCR_OVF && broken(m, FAULT_NB_OVF_READ_CLEARS))
		*cccr &= ~NB_CCCR_OVF;
	return value;
}

static u64 read(struct model *m, const struct place *p)
{
	struct netburst *n = netburst_of(m);
	const struct netburst_processor *t = &n->thread[netburst_thread_of(m)];

	switch (p->reg) {
	case NBR_COUNTER:
		return n->counter_writer[p->i] != netburst_thread_of(m) &&
		       broken(m, FAULT_NB_COUNTERS_PER_THREAD) ? 0 : n->counter[p->i];
	case NBR_CCCR:
		return n->cccr_writer[p->i] != netburst_thread_of(m) &&
		       broken(m, FAULT_NB_COUNTERS_PER_THREAD) ? 0 : read_cccr(m, p->i);
	case NBR_ESCR:
		return broken(m, FAULT_NB_REGISTERS_PER_THREAD) ? t->own_escr : n->now.escr[p->i];
	case NBR_PEBS_ENABLE:
		return read_pebs_enable(m, netburst_thread_of(m));
	case NBR_MATRIX_VERT:
		return broken(m, FAULT_NB_MATRIX_PER_THREAD) ? t->own_matrix_vert :
							       n->now.matrix_vert;
	case NBR_DEBUGCTLA:
		return m->debugctl;
	default:
		return n->tc_precise_event;
	}
}

struct msr_result netburst_rdmsr(struct model *m, u32 msr)
{
	struct netburst *n = netburst_of(m);
	struct place p = find(msr);
	struct msr_result result = { .status = MSR_DONE };

	if (msr == MSR_IA32_DS_AREA && broken(m, FAULT_NB_DS_AREA_SHARED))
		return (struct msr_result){ .status = MSR_DONE, .value = n->last_ds_area };
	if (p.reg == NBR_NONE)
		return (struct msr_result){ .status = MSR_NOT_OURS };
	m->faults.moment++;
	result.value = read(m, &p);
	if (broken(m, faults[p.reg].reads_zero))
		result.value = 0;
	return result;
}

struct msr_result netburst_rdpmc(struct model *m, u32 ecx)
{
	struct netburst *n = netburst_of(m);
	bool fast = ecx & NB_RDPMC_FAST;
	u32 i = ecx & ~(u32)NB_RDPMC_FAST;
	struct msr_result result = { .status = MSR_DONE };

	m->faults.moment++;
	if (i >= NB_COUNTERS)
		return broken(m, FAULT_NB_RDPMC_ABSENT) ? result : gp;
	if (broken(m, FAULT_NB_RDPMC_NEIGHBOUR))
		i ^= 1;
	result.value = n->counter[i];
	if (fast && !broken(m, FAULT_NB_RDPMC_FAST_FULL))
		result.value &= BITS(0, 31);
	return result;
}

/* ---- writing ---- */

static void write_cccr(struct model *m, unsigned i, u64 value)
{
	struct netburst *n = netburst_of(m);
	u64 old = n->now.cccr[i];

	if (old & NB_CCCR_OVF && broken(m, FAULT_NB_OVF_STICKS))
		value |= NB_CCCR_OVF;
	if (!(value & NB_CCCR_ENABLE) && broken(m, FAULT_NB_OVF_DISABLE_CLEARS))
		value &= ~NB_CCCR_OVF;
	n->now.cccr[i] = value;
	n->forced &= ~(u32)BIT(i);
	netburst_cccr_written(&n->now, i);
	/* A PMI that waits for the next count belongs to the overflow that the flag shows. */
	if (!(value & NB_CCCR_OVF))
		n->pmi_due &= ~(u32)BIT(i);
	if (!(value & NB_CCCR_ENABLE))
		n->condition &= ~(u32)BIT(i);
	if (i >= NB_IQ_COUNTER4 && (value ^ old) & ~NB_CCCR_OVF)
		n->thread[i - NB_IQ_COUNTER4].armed = false;
}

static void write(struct model *m, const struct place *p, u64 value)
{
	struct netburst *n = netburst_of(m);
	struct netburst_processor *t = &n->thread[netburst_thread_of(m)];

	switch (p->reg) {
	case NBR_COUNTER:
		n->counter[p->i] = value & netburst_width(m);
		if (p->i == NB_MS_COUNTER0 && broken(m, FAULT_NB_COUNTER_4_NARROW))
			n->counter[p->i] &= BITS(0, NB_WIDTH - 2);
		n->counter_writer[p->i] = (u8)netburst_thread_of(m);
		t->written = (u32)BIT(p->i);
		break;
	case NBR_CCCR:
		if (value & NB_CCCR_FORCE_OVF && broken(m, FAULT_NB_FORCE_AT_ONCE))
			value |= NB_CCCR_OVF;
		write_cccr(m, p->i, value);
		n->cccr_writer[p->i] = (u8)netburst_thread_of(m);
		break;
	case NBR_ESCR:
		n->now.escr[p->i] = t->own_escr = value;
		netburst_escr_written(&n->now, p->i);
		break;
	case NBR_PEBS_ENABLE:
		write_pebs_enable(m, netburst_thread_of(m), value);
		break;
	case NBR_MATRIX_VERT:
		n->now.matrix_vert = t->own_matrix_vert = value;
		break;
	case NBR_DEBUGCTLA:
		m->debugctl = value;
		break;
	default:
		n->tc_precise_event = value;
		break;
	}
}

/* Without Hyper-Threading: does a broken processor keep these bits? */
static u64 kept_without_ht(struct model *m, const struct place *p)
{
	u64 bits = p->reg == NBR_CCCR ? NB_CCCR_OVF_PMI_T1 :
		   p->reg == NBR_PEBS_ENABLE ? NB_PEBS_ENABLE_OTH_THR : 0;

	return bits && !netburst_has_ht(m) && broken(m, FAULT_NB_HT_BITS_ACCEPTED) ? bits : 0;
}

static u64 refused_without_ht(struct model *m, const struct place *p)
{
	if (netburst_has_ht(m))
		return 0;
	if (p->reg == NBR_PEBS_ENABLE && broken(m, FAULT_NB_ONE_REFUSES_PEBS))
		return NB_PEBS_ENABLE_MY_THR;
	return p->reg == NBR_CCCR && broken(m, FAULT_NB_ONE_REFUSES_PMI) ? NB_CCCR_OVF_PMI_T0 : 0;
}

struct msr_result netburst_wrmsr(struct model *m, u32 msr, u64 value)
{
	struct netburst *n = netburst_of(m);
	struct netburst_processor *t = &n->thread[netburst_thread_of(m)];
	struct place p = find(msr);
	struct msr_result result = { .status = MSR_DONE };
	u64 bits;

	if (msr == MSR_IA32_DS_AREA)
		n->last_ds_area = value;
	if (p.reg == NBR_NONE)
		return (struct msr_result){ .status = MSR_NOT_OURS };
	m->faults.moment++;
	bits = (writable(m, &p) | kept_without_ht(m, &p)) & ~refused_without_ht(m, &p);
	if (value & ~bits && !broken(m, faults[p.reg].reserved_accepted))
		return gp;
	t->before = n->now;
	t->written = 0;
	t->active = true;
	if (!broken(m, faults[p.reg].write_dropped))
		write(m, &p, value & bits);
	/* Writing its CCCR ends what a cascade has started. */
	netburst_configure(m, p.reg == NBR_CCCR ? ~(u32)BIT(p.i) : ~0u);
	t->writing = n->now.running || t->before.running;
	return result;
}
