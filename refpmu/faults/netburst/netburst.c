/* SPDX-License-Identifier: MIT */
/* Faults of NetBurst: its registers, counting, overflows, cascades and interrupts. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/netburst/netburst_state.h"
#include "refpmu/model/netburst/netburst.h"

/* The faults of each kind of register; FAULT_NONE: there is none. */
static const struct {
	u16 write_dropped, reads_zero, reserved_accepted;
} generated[NBR_KINDS] = {
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

#define RDPMC_5_BITS	0x1fu

static struct netburst_thread_faults *own(struct model *m)
{
	return netburst_thread_faults(&netburst_of(m)->thread[netburst_thread_of(m)]);
}

void fault_nb_init(struct model *m, struct netburst *n)
{
	(void)m;
	for (unsigned t = 0; t < NB_THREADS; t++)
		for (unsigned i = 0; i < NB64_BYTES; i++)
			netburst_thread_faults(&n->thread[t])
				->previous_record[i] = MODEL_NO_RECORD_BEFORE;
}

/* ---- registers ---- */

u64 fault_nb_width(struct model *m, u64 mask)
{
	return broken(m, FAULT_NB_WIDTH_32) ? BITS(0, 31) : mask;
}

bool fault_nb_relative(struct model *m, bool relative)
{
	return relative && !broken(m, FAULT_NB_PEBS_ABSOLUTE);
}

static u64 fault_netburst_read(struct model *m, const struct netburst_place *p, u64 value)
{
	struct netburst *n = netburst_of(m);
	u8 thread = (u8)netburst_thread_of(m);

	switch (p->reg) {
	case NBR_COUNTER:
		return netburst_faults(n)->counter_writer[p->i] != thread &&
				       broken(m, FAULT_NB_COUNTERS_PER_THREAD) ?
			       0 :
			       value;
	case NBR_CCCR:
		if (netburst_faults(n)->cccr_writer[p->i] != thread &&
		    (broken(m, FAULT_NB_COUNTERS_PER_THREAD) ||
		     (p->i == NB_FLAME_COUNTER1 && broken(m, FAULT_NB_CCCR_9_PER_THREAD))))
			return 0;
		if (value & NB_CCCR_OVF && broken(m, FAULT_NB_OVF_READ_CLEARS))
			n->now.cccr[p->i] &= ~NB_CCCR_OVF;
		return value;
	case NBR_ESCR:
		return broken(m, FAULT_NB_REGISTERS_PER_THREAD) ? own(m)->own_escr : value;
	case NBR_PEBS_ENABLE:
		return broken(m, FAULT_NB_PEBS_ENABLE_PER_THREAD) ? own(m)->own_pebs_enable : value;
	case NBR_MATRIX_VERT:
		return broken(m, FAULT_NB_MATRIX_PER_THREAD) ? own(m)->own_matrix_vert : value;
	case NBR_DEBUGCTLA:
		return broken(m, FAULT_NB_DEBUGCTLA_SHARED) ? netburst_faults(n)->last_debugctla :
							      value;
	default:
		return value;
	}
}

u64 fault_nb_rdmsr(struct model *m, const struct netburst_place *p, u64 value)
{
	if (m->config.fault == FAULT_NONE)
		return value;
	value = fault_netburst_read(m, p, value);
	return broken(m, generated[p->reg].reads_zero) ? 0 : value;
}

void fault_nb_rdpmc(struct model *m, u32 ecx, struct msr_result *result)
{
	const struct netburst *n = netburst_of(m);
	u32 i = ecx & ~(u32)NB_RDPMC_FAST;

	if (m->config.fault == FAULT_NONE)
		return;
	if (i >= NB_COUNTERS) {
		if ((i == NB_COUNTERS && broken(m, FAULT_NB_RDPMC_ABSENT)) ||
		    (i & (BIT(30) | BIT(29)) && broken(m, FAULT_NB_RDPMC_TYPES)))
			*result = (struct msr_result){ .status = MSR_DONE };
		i &= RDPMC_5_BITS;
		if (i < NB_COUNTERS && broken(m, FAULT_NB_RDPMC_5_BITS))
			*result = (struct msr_result){ .status = MSR_DONE, .value = n->counter[i] };
		return;
	}
	if (netburst_thread_of(m) && broken(m, FAULT_NB_RDPMC_SECOND))
		result->value = 0;
	if (broken(m, FAULT_NB_RDPMC_NEIGHBOUR))
		result->value = n->counter[i ^ 1] & (ecx & NB_RDPMC_FAST ? BITS(0, 31) : ~0ULL);
	if (ecx & NB_RDPMC_FAST && broken(m, FAULT_NB_RDPMC_FAST_FULL))
		result->value = n->counter[i];
}

u64 fault_nb_bits(struct model *m, const struct netburst_place *p, u64 bits)
{
	u64 other = p->reg == NBR_CCCR ? NB_CCCR_OVF_PMI_T1 :
		    p->reg == NBR_PEBS_ENABLE ? NB_PEBS_ENABLE_OTH_THR :
						0;

	if (m->config.fault == FAULT_NONE)
		return bits;
	if (p->reg == NBR_CCCR && broken(m, FAULT_NB_OVF_BIT_29))
		bits |= BIT(29);
	if (netburst_has_ht(m))
		return bits;
	if (other && broken(m, FAULT_NB_HT_BITS_ACCEPTED))
		bits |= other;
	if (p->reg == NBR_PEBS_ENABLE && broken(m, FAULT_NB_ONE_REFUSES_PEBS))
		bits &= ~NB_PEBS_ENABLE_MY_THR;
	if (p->reg == NBR_CCCR && broken(m, FAULT_NB_ONE_REFUSES_PMI))
		bits &= ~NB_CCCR_OVF_PMI_T0;
	return bits;
}

/* Bits 25 and 26, if this logical processor didn't enable PEBS, and one of them differs. */
static u64 pebs_bits_of_first(struct model *m, u64 value)
{
	const u64 bits = NB_PEBS_ENABLE_MY_THR | NB_PEBS_ENABLE_OTH_THR;
	struct netburst *n = netburst_of(m);
	u64 set = value & bits;

	return n->now.pebs_threads && set && set != bits &&
			       netburst_faults(n)->pebs_writer != netburst_thread_of(m) &&
			       broken(m, FAULT_NB_PEBS_BITS_OF_FIRST) ?
		       value ^ bits :
		       value;
}

/* Is this the register of a counter that its CCCR has enabled? */
static bool is_running(const struct model *m, const struct netburst_place *p)
{
	return p->reg == NBR_COUNTER && netburst_of(m)->now.cccr[p->i] & NB_CCCR_ENABLE;
}

/* Is this an ESCR that a running counter selects? */
static bool is_in_use(const struct model *m, const struct netburst_place *p)
{
	const struct netburst_settings *now = &netburst_of(m)->now;

	for (u32 left = p->reg == NBR_ESCR ? now->running : 0; left; left &= left - 1)
		if (now->selected[__builtin_ctz(left)] == p->i)
			return true;
	return false;
}

/* The value that the register takes in place of the written one. */
static u64 taken(struct model *m, const struct netburst_place *p, u64 value)
{
	if (p->reg == NBR_COUNTER && p->i == NB_MS_COUNTER0 && broken(m, FAULT_NB_COUNTER_4_NARROW))
		value &= BITS(0, NB_WIDTH - 2);
	if (is_running(m, p) && broken(m, FAULT_NB_RUNNING_NARROW))
		value = (netburst_of(m)->counter[p->i] & ~BITS(0, 31)) | (value & BITS(0, 31));
	if (p->reg == NBR_PEBS_ENABLE) {
		if (netburst_of(m)->now.pebs_threads & BIT(!netburst_thread_of(m)) &&
		    broken(m, FAULT_NB_PEBS_OTHER_STAYS))
			value |= NB_PEBS_ENABLE_OTH_THR;
		return pebs_bits_of_first(m, value);
	}
	if (p->reg != NBR_CCCR)
		return value;
	if (value & NB_CCCR_FORCE_OVF && broken(m, FAULT_NB_FORCE_AT_ONCE))
		value |= NB_CCCR_OVF;
	if (netburst_of(m)->now.cccr[p->i] & NB_CCCR_OVF &&
	    (broken(m, FAULT_NB_OVF_STICKS) ||
	     (value & NB_CCCR_ENABLE && broken(m, FAULT_NB_OVF_STICKS_ENABLED))))
		value |= NB_CCCR_OVF;
	if (!(value & NB_CCCR_ENABLE) && broken(m, FAULT_NB_OVF_DISABLE_CLEARS))
		value &= ~NB_CCCR_OVF;
	return value;
}

/* Stop the counters that a cascade has started and whose CCCR isn't being written. */
static void stop_cascaded(struct model *m)
{
	struct netburst_settings *now = &netburst_of(m)->now;

	for (u32 left = now->running; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctz(left);

		if (!(now->cccr[i] & NB_CCCR_ENABLE))
			now->running &= ~(u32)BIT(i);
	}
}

static void note_write(struct model *m, const struct netburst_place *p, u64 value)
{
	struct netburst_core_faults *f = netburst_faults(netburst_of(m));

	switch (p->reg) {
	case NBR_COUNTER:
		f->counter_writer[p->i] = (u8)netburst_thread_of(m);
		f->first_had[p->i] = 0;
		break;
	case NBR_CCCR:
		f->cccr_writer[p->i] = (u8)netburst_thread_of(m);
		f->forced &= ~(u32)BIT(p->i);
		if (!(value & NB_CCCR_CASCADE))
			f->cascaded &= ~(u32)BIT(p->i);
		if (!(value & NB_CCCR_EXTENDED_CASCADE))
			f->extended &= ~(u32)BIT(p->i);
		break;
	case NBR_ESCR:
		own(m)->own_escr = value;
		break;
	case NBR_PEBS_ENABLE:
		own(m)->own_pebs_enable = value;
		own(m)->stopped_at = 0;
		own(m)->is_kept = own(m)->was_full = own(m)->has_interrupted = false;
		f->pebs_writer = (u8)netburst_thread_of(m);
		break;
	case NBR_MATRIX_VERT:
		own(m)->own_matrix_vert = value;
		break;
	case NBR_DEBUGCTLA:
		f->last_debugctla = value;
		break;
	default:
		break;
	}
}

void fault_nb_wrmsr(struct model *m, const struct netburst_place *p, struct msr_write *write)
{
	if (m->config.fault == FAULT_NONE)
		return;
	if (write->refused && broken(m, generated[p->reg].reserved_accepted)) {
		write->refused = false;
		write->taken = true;
	}
	if (write->taken && broken(m, generated[p->reg].write_dropped))
		write->taken = false;
	if (write->taken && ((is_running(m, p) && broken(m, FAULT_NB_RUNNING_KEEPS)) ||
			     (is_in_use(m, p) && broken(m, FAULT_NB_ESCR_RUNNING))))
		write->taken = false;
	if (!write->taken)
		return;
	write->value = taken(m, p, write->value);
	if (p->reg == NBR_MATRIX_VERT && broken(m, FAULT_NB_MATRIX_STICKS))
		write->value |= netburst_of(m)->now.matrix_vert;
	note_write(m, p, write->value);
	if ((p->reg == NBR_CCCR && broken(m, FAULT_NB_CASCADED_STOPS)) ||
	    ((p->reg == NBR_COUNTER || p->reg == NBR_ESCR) &&
	     broken(m, FAULT_NB_CASCADED_STOPS_ANY)))
		stop_cascaded(m);
}

/* ---- which counters run ---- */

/* Does the counter run without the enable flag in its CCCR? */
static bool runs_disabled(struct model *m, unsigned i)
{
	const struct netburst_settings *now = &netburst_of(m)->now;
	u64 cccr = now->cccr[i];

	/* Only a counter with an event: if all ran, they would be watched forever. */
	if (now->selected[i] == NB_ESCRS || !now->escr[now->selected[i]])
		return false;
	return (cccr && broken(m, FAULT_NB_ENABLE_IGNORED)) ||
	       (i == NB_FLAME_COUNTER1 && cccr && broken(m, FAULT_NB_COUNTER_9_STARTED)) ||
	       (cccr & NB_CCCR_CASCADE && broken(m, FAULT_NB_CASCADE_AT_ONCE)) ||
	       (cccr & NB_CCCR_EXTENDED_CASCADE && broken(m, FAULT_NB_EXTENDED_AT_ONCE));
}

u32 fault_nb_running(struct model *m, u32 running)
{
	if (m->config.fault == FAULT_NONE)
		return running;
	for (unsigned i = 0; i < NB_COUNTERS; i++)
		if (!(running & BIT(i)) && runs_disabled(m, i))
			running |= (u32)BIT(i);
	return broken(m, FAULT_INERT) ? 0 : running;
}

bool fault_nb_starts(struct model *m, bool starts)
{
	return (starts || broken(m, FAULT_NB_CASCADE_UNASKED)) && !broken(m, FAULT_INERT);
}

static bool threads_fit(struct model *m, unsigned i, u64 cccr, bool fit)
{
	u64 field = (cccr & NB_CCCR_ACTIVE_THREAD) >> NB_CCCR_ACTIVE_THREAD_SHIFT;

	if (!netburst_has_ht(m) || broken(m, FAULT_NB_ACTIVE_IGNORED) ||
	    broken(m, i < NB_MS_COUNTER0    ? FAULT_NB_ACTIVE_BPU :
		      i < NB_FLAME_COUNTER0 ? FAULT_NB_ACTIVE_MS :
		      i < NB_IQ_COUNTER0    ? FAULT_NB_ACTIVE_FLAME :
					      FAULT_NONE))
		return true;
	return broken(m, FAULT_NB_HALTED_ACTIVE) ?
		       field != NB_ACTIVE_NONE && field != NB_ACTIVE_ONE :
		       fit;
}

bool fault_nb_counts(struct model *m, unsigned i, u64 cccr, bool counts)
{
	if (m->config.fault == FAULT_NONE)
		return counts;
	return threads_fit(m, i, cccr, counts) &&
	       !(i == NB_IQ_COUNTER2 && broken(m, FAULT_NB_COUNTER_14_DEAD)) &&
	       !(i == NB_FLAME_COUNTER0 && broken(m, FAULT_NB_COUNTER_8_DEAD));
}

/* ---- counting ---- */

void fault_nb_instruction(struct model *m)
{
	own(m)->seen++;
}

bool fault_nb_has_event(struct model *m, const struct netburst_step *s, unsigned i, bool has)
{
	/* Instructions of logical processor 1 that it executes while the other one runs a short
	 * program and it must wait for its turn. */
	enum { MOMENT = 4096 };
	struct netburst *n = netburst_of(m);
	u64 now = netburst_thread_faults(&n->thread[1])->seen + 1ULL;
	u64 *first = &netburst_faults(n)->first_had[i];

	if (has && s->with->cccr[i] & NB_CCCR_FORCE_OVF && s->with->cccr[i] & NB_CCCR_COMPARE &&
	    broken(m, FAULT_NB_FORCED_UNFILTERED))
		n->now.cccr[i] |= NB_CCCR_OVF;
	if (m->config.fault != FAULT_NB_SECOND_LOST || !has)
		return has;
	if (!s->thread) {
		*first = now;
		return true;
	}
	return !(*first && now - *first < MOMENT && broken(m, FAULT_NB_SECOND_LOST));
}

u64 fault_nb_sum(struct model *m, unsigned i, u64 sum)
{
	const u64 mask = BITS(0, NB_WIDTH - 1);

	if (sum > mask && sum & mask && broken(m, FAULT_NB_OVF_AT_ZERO))
		return sum & mask;
	return i == NB_IQ_COUNTER3 && broken(m, FAULT_NB_COUNTER_15_CARRY) ?
		       (netburst_of(m)->counter[i] & ~BITS(0, 31)) | (sum & BITS(0, 31)) :
		       sum;
}

bool fault_nb_forced(struct model *m, unsigned i, bool forced)
{
	struct netburst_core_faults *f = netburst_faults(netburst_of(m));

	if (m->config.fault == FAULT_NONE)
		return forced;
	if (forced && (broken(m, FAULT_NB_FORCE_OVF_IGNORED) ||
		       (netburst_thread_of(m) && broken(m, FAULT_NB_FORCE_T0_ONLY)) ||
		       (netburst_of(m)->counter[i] & 1 && broken(m, FAULT_NB_FORCE_OVF_EVEN)) ||
		       (netburst_of(m)->now.cccr[i] & NB_CCCR_COMPARE &&
			broken(m, FAULT_NB_FORCED_NOT_FILTERED_IN)) ||
		       (f->forced & BIT(i) && broken(m, FAULT_NB_FORCE_OVF_ONCE))))
		forced = false;
	if (i == NB_FLAME_COUNTER0 && broken(m, FAULT_NB_COUNTER_8_FORCED))
		forced = true;
	if (forced)
		f->forced |= (u32)BIT(i);
	return forced;
}

/* ---- overflow ---- */

static bool is_started_by_bit_11(const struct model *m, unsigned i, u64 cccr)
{
	return netburst_faults(netburst_of(m))->extended & BIT(i) && !(cccr & NB_CCCR_ENABLE);
}

/* Has another counter overflowed on this instruction before? */
static bool is_second(struct model *m, unsigned i)
{
	struct netburst_core_faults *f = netburst_faults(netburst_of(m));
	const u64 now = (u64)own(m)->seen << 1 | netburst_thread_of(m);

	if (f->overflow_at == now)
		return f->overflow_of != i;
	f->overflow_at = now;
	f->overflow_of = (u8)i;
	return false;
}

u64 fault_nb_shows(struct model *m, unsigned i, u64 cccr, u64 shown)
{
	u32 *flagged = &netburst_faults(netburst_of(m))->flagged;

	*flagged = (*flagged & ~(u32)BIT(i)) | (cccr & NB_CCCR_OVF ? (u32)BIT(i) : 0);
	if ((netburst_is_cascaded(netburst_of(m), i, cccr) &&
	     broken(m, FAULT_NB_CASCADED_NO_OVF)) ||
	    (netburst_thread_of(m) && broken(m, FAULT_NB_OVF_T0_ONLY)) ||
	    (is_second(m, i) && broken(m, FAULT_NB_TOGETHER_ONE_SHOWN)))
		return cccr;
	if (is_started_by_bit_11(m, i, cccr) && broken(m, FAULT_NB_EXTENDED_NO_OVF))
		return cccr;
	if (!(cccr & (NB_CCCR_OVF_PMI_T0 | NB_CCCR_OVF_PMI_T1)) &&
	    broken(m, FAULT_NB_OVF_NEEDS_PMI))
		return cccr;
	if (cccr & NB_CCCR_FORCE_OVF && cccr & (NB_CCCR_OVF_PMI_T0 | NB_CCCR_OVF_PMI_T1) &&
	    broken(m, FAULT_NB_FORCED_HIDDEN_BY_PMI))
		return cccr;
	if (broken(m, FAULT_NB_OVF_BIT_29))
		return cccr | BIT(29);
	return cccr & NB_CCCR_OVF && broken(m, FAULT_NB_OVF_TOGGLES) ? cccr & ~NB_CCCR_OVF : shown;
}

void fault_nb_wrapped(struct model *m, unsigned i)
{
	const bool flame = i >= NB_FLAME_COUNTER0 && i < NB_IQ_COUNTER0;
	const bool ms = i >= NB_MS_COUNTER0 && i < NB_FLAME_COUNTER0;
	struct netburst *n = netburst_of(m);

	if (broken(m, FAULT_NB_STOPS_AT_WRAP) || (flame && broken(m, FAULT_NB_FLAME_STOPS)))
		n->now.running &= ~(u32)BIT(i);
	if (ms && broken(m, FAULT_NB_MS_WRAPS_HIGH))
		n->counter[i] |= BIT(NB_WIDTH - 1);
}

/* Does counter k, with this CCCR, wait for the overflow of counter i by Table 18-65? */
static bool is_extended(unsigned k, u64 cccr, unsigned i)
{
	return cccr & NB_CCCR_EXTENDED_CASCADE && netburst_counters[k].extended == i;
}

/* Does counter k, with this CCCR, wait for the overflow of counter i? */
static bool waits_for(struct model *m, unsigned k, u64 cccr, unsigned i)
{
	const u64 both = NB_CCCR_CASCADE | NB_CCCR_EXTENDED_CASCADE;
	unsigned alternate = netburst_counters[k].alternate;

	if ((cccr & both) == both && broken(m, FAULT_NB_EXTENDED_NOT_BOTH))
		cccr &= ~(u64)NB_CCCR_EXTENDED_CASCADE;
	if ((cccr & both) == both && broken(m, FAULT_NB_CASCADE_NOT_BOTH))
		cccr &= ~(u64)NB_CCCR_CASCADE;
	if (netburst_of(m)->now.cccr[i] & NB_CCCR_OVF_PMI_T1 &&
	    broken(m, FAULT_NB_CASCADE_LOST_WITH_PMI))
		return false;
	if (broken(m, FAULT_NB_CASCADE_NEIGHBOUR))
		alternate ^= 1;
	if ((k == NB_IQ_COUNTER2 || k == NB_IQ_COUNTER3) && broken(m, FAULT_NB_CASCADE_16_INTO_14))
		alternate = k + 2;
	return (alternate == i && !broken(m, FAULT_NB_CASCADE_NEVER) &&
		(cccr & NB_CCCR_CASCADE || broken(m, FAULT_NB_CASCADE_UNASKED))) ||
	       (is_extended(k, cccr, i) && !broken(m, FAULT_NB_EXTENDED_NEVER));
}

/* Without those among them that an overflow has started before, or that run. */
static u32 start_again(struct model *m, u32 started)
{
	struct netburst *n = netburst_of(m);
	u32 *cascaded = &netburst_faults(n)->cascaded, run = started & n->now.running;

	if (run && broken(m, FAULT_NB_CASCADE_TOGGLES)) {
		n->now.running &= ~run;
		return started & ~run;
	}
	if (started & *cascaded && broken(m, FAULT_NB_CASCADE_ONCE))
		return started & ~*cascaded;
	*cascaded |= started;
	return started;
}

/* Without those among them that flags of earlier overflows keep from starting. */
static u32 overflowed_before(struct model *m, const struct netburst_step *s, unsigned i,
			     u32 started)
{
	if (netburst_faults(netburst_of(m))->flagged & BIT(i) &&
	    broken(m, FAULT_NB_CASCADE_FIRST_OVF))
		return 0;
	for (u32 left = started; left; left &= left - 1) {
		const unsigned k = (unsigned)__builtin_ctz(left);

		if (s->with->cccr[k] & NB_CCCR_OVF && broken(m, FAULT_NB_CASCADE_OWN_OVF))
			started &= ~(u32)BIT(k);
	}
	return started;
}

/* Of the counters that counter i starts: without those that a fault of extended cascading keeps
 * from starting. */
static u32 extended_again(struct model *m, const struct netburst_step *s, unsigned i, u32 started)
{
	struct netburst_core_faults *f = netburst_faults(netburst_of(m));

	for (u32 left = started; left; left &= left - 1) {
		const unsigned k = (unsigned)__builtin_ctz(left);
		const u64 cccr = s->with->cccr[k];

		if (!is_extended(k, cccr, i))
			continue;
		if ((f->extended & BIT(k) && broken(m, FAULT_NB_EXTENDED_ONCE)) ||
		    (cccr & NB_CCCR_OVF && broken(m, FAULT_NB_EXTENDED_OWN_OVF)) ||
		    (f->flagged & BIT(i) && broken(m, FAULT_NB_EXTENDED_FIRST_OVF)))
			started &= ~(u32)BIT(k);
		f->extended |= (u32)BIT(k);
	}
	return started;
}

/* If several wait for the same counter: those that start. */
static u32 one_of(struct model *m, u32 started)
{
	if (!(started & (started - 1)))
		return started;
	if (broken(m, FAULT_NB_CASCADE_LOWEST))
		return started & -started;
	if (broken(m, FAULT_NB_CASCADE_HIGHEST))
		return (u32)BIT(31 - (unsigned)__builtin_clz(started));
	return started;
}

u32 fault_nb_started(struct model *m, const struct netburst_step *s, unsigned i, u32 started)
{
	if (m->config.fault == FAULT_NONE)
		return started;
	started = 0;
	for (unsigned k = 0; k < NB_COUNTERS; k++)
		if (waits_for(m, k, s->with->cccr[k], i))
			started |= (u32)BIT(k);
	if (started && ((netburst_is_cascaded(netburst_of(m), i, s->with->cccr[i]) &&
			 broken(m, FAULT_NB_CASCADE_NO_CHAIN)) ||
			(is_started_by_bit_11(m, i, s->with->cccr[i]) &&
			 broken(m, FAULT_NB_EXTENDED_NO_CHAIN)) ||
			(s->thread && broken(m, FAULT_NB_CASCADE_T0_ONLY)) ||
			(is_second(m, i) && broken(m, FAULT_NB_TOGETHER_ONE_STARTS))))
		return 0;
	started = extended_again(m, s, i, one_of(m, started));
	return start_again(m, overflowed_before(m, s, i, started));
}

/* A PMI isn't raised by an event of the other logical processor. */
static bool waits_for_its_thread(struct model *m, unsigned i)
{
	return netburst_faults(netburst_of(m))->due_by[i] != netburst_thread_of(m) &&
	       broken(m, FAULT_NB_PMI_NEXT_SAME);
}

void fault_nb_interrupt(struct model *m, unsigned i, bool wrapped, struct netburst_pmi *pmi)
{
	u32 *later = &netburst_faults(netburst_of(m))->pmi_later, bit = (u32)BIT(i);
	bool pmi_deferred = *later & bit;

	if (m->config.fault == FAULT_NONE)
		return;
	*later &= ~bit;
	if (pmi->was_due && waits_for_its_thread(m, i)) {
		*pmi = (struct netburst_pmi){ .was_due = true, .due = true };
		return;
	}
	if (pmi->due)
		netburst_faults(netburst_of(m))->due_by[i] = (u8)netburst_thread_of(m);
	if (pmi->was_due && broken(m, FAULT_NB_PMI_LATE)) {
		*later |= bit;
		pmi->raised = wrapped && !pmi->due;
	}
	if (wrapped && (broken(m, FAULT_NB_PMI_AT_OVERFLOW) ||
			(i >= NB_IQ_COUNTER0 && broken(m, FAULT_NB_PMI_IQ_EARLY)) ||
			(i == NB_FLAME_COUNTER3 && broken(m, FAULT_NB_PMI_FLAME_3_EARLY)))) {
		pmi->raised = true;
		pmi->due = false;
	}
	if (pmi_deferred)
		pmi->raised = true;
}

/* Faults of one counter, or of those that a cascade has started. */
static void pmi_of_one(struct model *m, unsigned i, bool *to)
{
	const bool t0 = to[0];

	if (i == NB_IQ_COUNTER4 && to[0] != to[1] && broken(m, FAULT_NB_PMI_IQ_4_EXCHANGED)) {
		to[0] = to[1];
		to[1] = t0;
	}
	if (i == NB_MS_COUNTER3 && !to[0] && !to[1] && broken(m, FAULT_NB_PMI_MS_UNASKED))
		to[1] = true;
	if (i != NB_FLAME_COUNTER0 && to[0] && !to[1] && broken(m, FAULT_NB_PMI_T0_BOTH))
		to[1] = true;
	if (netburst_is_cascaded(netburst_of(m), i, netburst_of(m)->now.cccr[i]) &&
	    broken(m, FAULT_NB_CASCADED_PMI))
		to[0] = to[1] = false;
}

void fault_nb_pmi(struct model *m, unsigned cause, unsigned i, bool *to)
{
	bool t0 = to[0];

	if (m->config.fault == FAULT_NONE)
		return;
	pmi_of_one(m, i, to);
	if (!to[0] && !to[1] && broken(m, FAULT_NB_PMI_ALWAYS))
		to[0] = true;
	if ((to[0] || to[1]) && broken(m, FAULT_NB_PMI_TO_CAUSE)) {
		to[cause] = true;
		to[!cause] = false;
	}
	if (i >= NB_IQ_COUNTER0 && to[0] && to[1] && broken(m, FAULT_NB_PMI_FIRST_OF_TWO))
		to[1] = false;
	if (is_second(m, i) && broken(m, FAULT_NB_TOGETHER_ONE_PMI))
		to[0] = to[1] = false;
	if (to[0] != to[1] && broken(m, FAULT_NB_PMI_EXCHANGED)) {
		to[0] = to[1];
		to[1] = t0;
	}
	for (unsigned t = 0; t < NB_THREADS; t++)
		if (to[t] && !netburst_of(m)->thread[t].active &&
		    broken(m, FAULT_NB_PMI_LOST_HALTED))
			to[t] = false;
	if (broken(m, FAULT_NB_PMI_NEVER))
		to[0] = to[1] = false;
}

bool fault_nb_samples(struct model *m, const struct netburst_step *s, unsigned i, bool samples)
{
	unsigned counter = NB_IQ_COUNTER4 + s->thread;
	u8 enabled = s->with->pebs_threads;

	if (m->config.fault == FAULT_NONE)
		return samples;
	if (s->core.r->cpl && broken(m, FAULT_NB_PEBS_USER_LOST))
		return false;
	if (s->thread && s->core.r->cpl && broken(m, FAULT_NB_PEBS_T1_USER_LOST))
		return false;
	if (broken(m, FAULT_NB_PEBS_EXCHANGED))
		counter = NB_IQ_COUNTER4 + !s->thread;
	if (i != counter && !(i >= NB_IQ_COUNTER0 && broken(m, FAULT_NB_PEBS_ANY_COUNTER)))
		return false;
	if (enabled && broken(m, FAULT_NB_PEBS_BOTH))
		return true;
	if (s->thread && enabled & BIT(0) && broken(m, FAULT_NB_PEBS_ONE_THREAD))
		return false;
	return enabled & BIT(s->thread) || broken(m, FAULT_NB_PEBS_UNASKED);
}
