/* SPDX-License-Identifier: MIT */
/*
 * Registers of NetBurst's PMU: "ESCR MSRs", "CCCR MSRs", "IA32_PEBS_ENABLE MSR", Table 35-41.
 * IA32_DS_AREA and IA32_MISC_ENABLE, which other generations have too, are in model/msr.c.
 *
 * Bits 25 and 26 of MSR_PEBS_ENABLE are "my thread" and "other thread" relative to the writer, and,
 * unless latitude has it otherwise, to the reader. Bits 63:40 of a counter are ignored.
 */
#include "refpmu/model/netburst/netburst.h"

#define DEBUGCTLA_BITS	BITS(0, 6)	/* LBR, BTF, TR, BTS, BTINT, BTS_OFF_OS, BTS_OFF_USR */

static const struct msr_result gp = { .status = MSR_GP };

/* Table 18-63: counters, CCCRs and ESCRs. Table 35-41: the other registers. */
static struct netburst_place netburst_msr_find(u32 msr)
{
	switch (msr) {
#define NB_COUNTER(name, number, address, cccr, cccr_address, pool, alternate, extended, source) \
	case address: \
		return (struct netburst_place){ NBR_COUNTER, number }; \
	case cccr_address: \
		return (struct netburst_place){ NBR_CCCR, number };
#define NB_ESCR(name, address, select, pool, source) \
	case address: \
		return (struct netburst_place){ NBR_ESCR, NB_##name };
#define NB_REGISTER(name, address, source) \
	case address: \
		return (struct netburst_place){ NBR_##name, 0 };
#define NBR_PEBS_MATRIX_VERT NBR_MATRIX_VERT
#include "spec/netburst.def"
#undef NBR_PEBS_MATRIX_VERT
	default:
		return (struct netburst_place){ NBR_NONE, 0 };
	}
}

/* ---- bits ---- */

enum fields_of_nb { OF_ESCR, OF_CCCR, OF_PEBS_ENABLE, OF_PEBS_MATRIX_VERT };

/* "ESCR MSRs", "CCCR MSRs", Table 35-41: the bits that aren't reserved. Without Hyper-Threading
 * some more are reserved. Bit 11 of a CCCR: Table 18-65. */
static u64 defined(const struct model *m, enum fields_of_nb of, bool extended)
{
	static const struct {
		u8 of, lo, hi, present;
	} fields[] = {
#define NB_FIELD(reg, field, lo, hi, present, source) { OF_##reg, lo, hi, present },
#include "spec/netburst.def"
	};
	u64 bits = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (fields[i].of != of || (fields[i].present == NB_EXTENDED && !extended) ||
		    (fields[i].present == NB_HT_ONLY && !netburst_has_ht(m)))
			continue;
		bits |= BITS(fields[i].lo, fields[i].hi);
	}
	return bits;
}

/* Setting any other bit raises #GP: docs/READINGS.md, "Reserved bits". */
static u64 writable(const struct model *m, const struct netburst_place *p)
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

/* ENABLE_PEBS_MY_THR and ENABLE_PEBS_OTH_THR "do not explicitly identify a specific logical
 * processor by logic processor ID(T0 or T1)". */
static u64 swapped(u64 value)
{
	bool mine = value & NB_PEBS_ENABLE_MY_THR, other = value & NB_PEBS_ENABLE_OTH_THR;

	value &= ~(NB_PEBS_ENABLE_MY_THR | NB_PEBS_ENABLE_OTH_THR);
	return value | (other ? NB_PEBS_ENABLE_MY_THR : 0) | (mine ? NB_PEBS_ENABLE_OTH_THR : 0);
}

/* The sentences are about the writer. What a read shows on the other logical processor isn't
 * stated: latitude pebs-bits-read. */
static u64 read_pebs_enable(struct model *m, unsigned thread)
{
	struct netburst *n = netburst_of(m);
	u64 value = n->now.pebs_enable;

	if (m->latitude[LAT_PEBS_BITS_READ])
		return n->literal;
	if (n->now.pebs_threads & BIT(0))
		value |= NB_PEBS_ENABLE_MY_THR;
	if (n->now.pebs_threads & BIT(1))
		value |= NB_PEBS_ENABLE_OTH_THR;
	return fault_nb_relative(m, thread) ? swapped(value) : value;
}

/*
 * The bits "allow a software agent to enable PEBS for subsequent threads of execution on the same
 * logical processor on which the agent is running" or "for the other logical processor in the
 * physical package".
 */
static void write_pebs_enable(struct model *m, unsigned thread, u64 value)
{
	struct netburst *n = netburst_of(m);

	n->literal = value;
	if (fault_nb_relative(m, thread))
		value = swapped(value);
	n->now.pebs_threads = (u8)((value & NB_PEBS_ENABLE_MY_THR ? BIT(0) : 0) |
				   (value & NB_PEBS_ENABLE_OTH_THR ? BIT(1) : 0));
	n->now.pebs_enable = value & ~(NB_PEBS_ENABLE_MY_THR | NB_PEBS_ENABLE_OTH_THR);
	for (unsigned t = 0; t < NB_THREADS; t++)
		if (!(n->now.pebs_threads & BIT(t)))
			n->thread[t].armed = false;
}

/* ---- reading ---- */

static u64 netburst_msr_read(struct model *m, const struct netburst_place *p)
{
	const struct netburst *n = netburst_of(m);

	switch (p->reg) {
	case NBR_COUNTER:
		return n->counter[p->i];
	case NBR_CCCR:
		return n->now.cccr[p->i];
	case NBR_ESCR:
		return n->now.escr[p->i];
	case NBR_PEBS_ENABLE:
		return read_pebs_enable(m, netburst_thread_of(m));
	case NBR_MATRIX_VERT:
		return n->now.matrix_vert;
	case NBR_DEBUGCTLA:
		return m->debugctl;
	default:
		return n->tc_precise_event;
	}
}

struct msr_result netburst_rdmsr(struct model *m, u32 msr)
{
	struct netburst_place p = netburst_msr_find(msr);

	if (p.reg == NBR_NONE)
		return (struct msr_result){ .status = MSR_NOT_OURS };
	fault_next_sequence(m);
	return (struct msr_result){
		.status = MSR_DONE, .value = fault_nb_rdmsr(m, &p, netburst_msr_read(m, &p)),
	};
}

/* "RDPMC": ECX[31] selects a fast read, of the lower 32 bits. */
struct msr_result netburst_rdpmc(struct model *m, u32 ecx)
{
	u32 i = ecx & ~(u32)NB_RDPMC_FAST;
	struct msr_result result = gp;

	fault_next_sequence(m);
	if (i < NB_COUNTERS) {
		result.status = MSR_DONE;
		result.value = netburst_of(m)->counter[i];
		if (ecx & NB_RDPMC_FAST)
			result.value &= BITS(0, 31);
	}
	fault_nb_rdpmc(m, ecx, &result);
	return result;
}

/* ---- writing ---- */

/* OVF flag: "Indicates that the counter has overflowed when set. This flag is a sticky flag that
 * must be explicitly cleared by software." */
static void write_cccr(struct model *m, unsigned i, u64 value)
{
	struct netburst *n = netburst_of(m);
	u64 old = n->now.cccr[i];

	n->now.cccr[i] = value;
	netburst_cccr_written(&n->now, i);
	/* A PMI that waits for the next count belongs to the overflow shown by the flag. */
	if (!(value & NB_CCCR_OVF))
		n->pmi_due &= ~(u32)BIT(i);
	if (!(value & NB_CCCR_ENABLE))
		n->condition &= ~(u32)BIT(i);
	if (i >= NB_IQ_COUNTER4 && (value ^ old) & ~NB_CCCR_OVF)
		n->thread[i - NB_IQ_COUNTER4].armed = false;
}

/* Counters, CCCRs, ESCRs, MSR_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT are shared by the logical
 * processors of a core: Table 35-41. */
static void netburst_msr_take(struct model *m, const struct netburst_place *p, u64 value)
{
	struct netburst *n = netburst_of(m);
	struct netburst_processor *t = &n->thread[netburst_thread_of(m)];

	switch (p->reg) {
	case NBR_COUNTER:
		n->counter[p->i] = value & netburst_width(m);
		t->written = (u32)BIT(p->i);
		break;
	case NBR_CCCR:
		write_cccr(m, p->i, value);
		break;
	case NBR_ESCR:
		n->now.escr[p->i] = value;
		netburst_escr_written(&n->now, p->i);
		break;
	case NBR_PEBS_ENABLE:
		write_pebs_enable(m, netburst_thread_of(m), value);
		break;
	case NBR_MATRIX_VERT:
		n->now.matrix_vert = value;
		break;
	case NBR_DEBUGCTLA:
		m->debugctl = value;
		break;
	default:
		n->tc_precise_event = value;
		break;
	}
}

/* A reserved bit raises #GP: docs/READINGS.md, "Reserved bits". Bits 63:40 of a counter are
 * ignored. */
struct msr_result netburst_wrmsr(struct model *m, u32 msr, u64 value)
{
	struct netburst *n = netburst_of(m);
	struct netburst_processor *t = &n->thread[netburst_thread_of(m)];
	struct netburst_place p = netburst_msr_find(msr);
	struct msr_write write = { .read_only = false };
	u64 bits;

	if (p.reg == NBR_NONE)
		return (struct msr_result){ .status = MSR_NOT_OURS };
	fault_next_sequence(m);
	bits = fault_nb_bits(m, &p, writable(m, &p));
	write.refused = value & ~bits;
	write.taken = !write.refused;
	write.value = value & bits;
	fault_nb_wrmsr(m, &p, &write);
	if (write.refused)
		return gp;
	t->before = n->now;
	t->written = 0;
	t->active = true;
	if (write.taken)
		netburst_msr_take(m, &p, write.value);
	/* A write of the CCCR stops a counter that a cascade has started. */
	netburst_configure(m, p.reg == NBR_CCCR ? ~(u32)BIT(p.i) : ~0u);
	t->writing = n->now.running || t->before.running;
	return (struct msr_result){ .status = MSR_DONE };
}
