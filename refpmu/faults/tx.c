/* SPDX-License-Identifier: MIT */
/* Faults of transactions: their events, the state that an abort restores, and the information about
 * it. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/record.h"
#include "refpmu/model/internal.h"

/* Table 18-51. */
#define INFO_HLE		BIT(32)
#define INFO_RTM		BIT(33)
#define INFO_INSTRUCTION	BIT(34)
#define INFO_OTHER		BIT(35)
#define INFO_RETRY		BIT(36)
#define INFO_CONFLICT		BIT(37)
#define INFO_WRITES		BIT(38)
#define INFO_READS		BIT(39)
#define INFO_DETAILS		BITS(35, 39)
#define INFO_RESERVED		BIT(40)
#define INFO_CYCLES		BITS(0, 31)
#define INFO_CYCLES_HIGH	BITS(16, 31)

/* The faults that are generated for one bit. */
static const struct {
	u64 mask;
	u16 never, always;
} bits[] = {
#define FAULT_TX_BIT(token, bit, name, requirements, title, ...) \
	{ BIT(bit), FAULT_##token##_NEVER, FAULT_##token##_ALWAYS },
#include "refpmu/faults/fault_tx_bit.def"
};

/* The event of RTM_RETIRED for an abort by this cause. */
static enum event_kind by_cause(enum tx_cause cause)
{
	if (cause == TX_INSTRUCTION || cause == TX_EXPLICIT)
		return EK_TX_ABORTED_UNFRIENDLY;
	return cause >= TX_CONFLICT ? EK_TX_ABORTED_MEMORY : EK_TX_ABORTED_OTHER;
}

/* Does an abort of this kind of transaction count as this event? */
static bool abort_occurs(struct model *m, const struct retire_ctx *s, enum event_kind kind,
			 bool occurs)
{
	const enum tx_cause cause = (enum tx_cause)m->tx.cause;

	if (m->tx.elided && kind == EK_TX_CONFLICT && broken(m, FAULT_HLE_CONFLICT_UNCOUNTED))
		return false;
	if (m->tx.elided && occurs && (kind == EK_TX_CAPACITY_WRITES || kind == EK_TX_CONFLICT))
		return !broken(m, FAULT_HLE_MEMORY_UNCOUNTED);
	if (m->tx.elided && kind == by_cause(cause))
		return broken(m, FAULT_HLE_COUNTS_BY_CAUSE);
	switch (kind) {
	case EK_TX_CAPACITY_WRITES:
		return occurs ||
		       (cause == TX_CAPACITY_READS && broken(m, FAULT_TX_READS_AS_WRITES));
	case EK_TX_CONFLICT:
		return (occurs && !broken(m, FAULT_TX_CONFLICT_UNCOUNTED) &&
			!(s->r->cpl && broken(m, FAULT_TX_CONFLICT_USER))) ||
		       (cause == TX_CAPACITY_WRITES && broken(m, FAULT_TX_CAPACITY_CONFLICT));
	case EK_TX_ABORTED_MEMORY:
		return occurs && !(cause == TX_CONFLICT && broken(m, FAULT_TX_CONFLICT_NO_ABORT)) &&
		       !(cause == TX_CAPACITY_READS && broken(m, FAULT_TX_READS_UNCOUNTED));
	case EK_TX_ABORTED_UNFRIENDLY:
		return occurs && !broken(m, FAULT_TX_UNFRIENDLY_UNCOUNTED);
	case EK_TX_ABORTED_OTHER:
		return occurs ? !broken(m, FAULT_TX_OTHERS_UNCOUNTED) &&
					!(cause == TX_EVENT &&
					  broken(m, FAULT_TX_EVENTS_NOT_AS_OTHERS)) :
				!m->tx.elided && broken(m, FAULT_TX_ALL_AS_OTHERS);
	case EK_TX_ABORTED_MEMORY_TYPE:
		return (occurs && !(s->r->cpl && broken(m, FAULT_TX_TYPE_USER))) ||
		       (cause == TX_INSTRUCTION && broken(m, FAULT_TX_UNFRIENDLY_AS_TYPE));
	case EK_TX_COMMITTED:
		return occurs || (!m->tx.elided && broken(m, FAULT_TX_COMMITS_ALL));
	case EK_TX_ABORTED_RTM:
		if (m->tx.elided)
			return broken(m, FAULT_HLE_COUNTS_AS_RTM);
		return occurs && !broken(m, FAULT_TX_ABORT_UNCOUNTED) &&
		       !(first_of(m) && broken(m, FAULT_TX_SECOND_UNCOUNTED)) &&
		       !(cause == TX_CONFLICT && broken(m, FAULT_TX_CONFLICT_NO_ABORT)) &&
		       !(cause == TX_EXCEPTION && broken(m, FAULT_TX_EXCEPTIONS_UNCOUNTED)) &&
		       !(cause == TX_EVENT &&
			 broken(m, faults_of(m)->tx_record_due ? FAULT_TX_RECORD_UNCOUNTED :
								 FAULT_TX_INTERRUPT_UNCOUNTED)) &&
		       !(s->r->cpl && broken(m, FAULT_TX_ABORTS_USER));
	case EK_TX_ABORTED_HLE:
		return occurs && !broken(m, FAULT_HLE_ABORT_UNCOUNTED) &&
		       !(cause == TX_EVENT &&
			 broken(m, faults_of(m)->tx_record_due ? FAULT_HLE_RECORD_UNCOUNTED :
								 FAULT_HLE_INTERRUPT_UNCOUNTED)) &&
		       !(s->r->cpl && broken(m, FAULT_HLE_ABORTS_USER));
	default:
		return occurs;
	}
}

bool fault_tx_forced(const struct model *m, bool forced)
{
	return forced && m->config.fault != FAULT_FORCE_ABORT_INERT;
}

bool fault_tx_occurs(struct model *m, const struct retire_ctx *s, enum event_kind kind, bool occurs)
{
	if (m->config.fault == FAULT_NONE)
		return occurs;
	if (s->tx_abort)
		return abort_occurs(m, s, kind, occurs) &&
		       !(kind >= EK_TX_ABORTED_MEMORY && s->r->cpl &&
			 broken(m, FAULT_TX_CAUSES_USER));
	switch (kind) {
	case EK_TX_STARTED:
		return (occurs && !broken(m, FAULT_TX_STARTS_MISSED)) ||
		       (s->tx == TX_STARTS_INNER && broken(m, FAULT_TX_STARTS_NESTED)) ||
		       (s->tx == TX_ELIDES && broken(m, FAULT_TX_STARTS_OF_LOCKS));
	case EK_TX_STARTED_HLE:
		return (occurs && !broken(m, FAULT_HLE_STARTS_MISSED) &&
			!(s->r->cpl && broken(m, FAULT_HLE_STARTS_USER))) ||
		       (s->tx == TX_ELIDES_INNER && broken(m, FAULT_HLE_STARTS_NESTED));
	case EK_TX_COMMITTED:
		return (occurs && !broken(m, FAULT_TX_COMMITS_MISSED) &&
			!(s->r->cpl && broken(m, FAULT_TX_COMMITS_USER))) ||
		       (s->tx == TX_COMMITS_INNER && broken(m, FAULT_TX_COMMITS_NESTED));
	case EK_TX_COMMITTED_HLE:
		return (occurs && !broken(m, FAULT_HLE_COMMITS_MISSED) &&
			!(s->r->cpl && broken(m, FAULT_HLE_COMMITS_USER))) ||
		       (s->tx == TX_RELEASES_INNER && broken(m, FAULT_HLE_COMMITS_NESTED)) ||
		       (s->tx == TX_COMMITS && broken(m, FAULT_HLE_COMMITS_OF_REGIONS));
	case EK_TX_ABORTED_RTM:
		return s->tx == TX_COMMITS && broken(m, FAULT_TX_COMMIT_ABORTS);
	case EK_TX_ABORTED_HLE:
		return s->tx == TX_RELEASES && broken(m, FAULT_HLE_COMMIT_ABORTS);
	default:
		return occurs;
	}
}

/* In a nested transaction: an abort restores the counters only to their values here. */
static void checkpoint_again(struct model *m, enum fault_id fault)
{
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++) {
		struct model_counter *c = &m->counter[i];

		if (c->rule.in_txcp && m->tx.counter[i] != c->value && broken(m, fault))
			m->tx.counter[i] = c->value;
	}
}

void fault_tx_begins(struct model *m, u64 fallback)
{
	faults_of(m)->fallback_inner = fallback;
	faults_of(m)->tx_nested_ended = false;
	faults_of(m)->tx_had_nested = m->tx.depth;
	if (m->tx.depth)
		checkpoint_again(m, FAULT_TX_CHECKPOINT_INNER);
	if (m->tx.depth && broken(m, FAULT_TX_CYCLES_INNER))
		m->tx.cycles_so_far = 0;
}

void fault_tx_ends(struct model *m)
{
	faults_of(m)->tx_nested_ended = m->tx.depth > 1;
	if (m->tx.depth > 1)
		checkpoint_again(m, FAULT_TX_CHECKPOINT_INNER_END);
	faults_of(m)->tx_committed = true;
}

void fault_tx_checkpoint(struct model *m)
{
	faults_of(m)->tx_status = m->global_status;
	faults_of(m)->tx_record_due = false;
	if (m->tx.cycles && broken(m, faults_of(m)->tx_committed ? FAULT_TX_CYCLES_ADD_COMMITS :
								   FAULT_TX_CYCLES_ADD_ABORTS))
		m->tx.cycles_so_far = m->tx.cycles;
}

bool fault_tx_end_noted(struct model *m, enum tx_cause cause, bool noted)
{
	if (m->config.fault == FAULT_NONE)
		return noted;
	return noted && !(cause == TX_FINE && broken(m, FAULT_TX_CYCLES_OF_ABORTS)) &&
	       !(m->tx.elided && broken(m, FAULT_TX_CYCLES_NOT_OF_LOCKS)) &&
	       !(m->tx.elided && cause == TX_FINE && broken(m, FAULT_TX_CYCLES_NOT_OF_RELEASED)) &&
	       !(cause == TX_EVENT && faults_of(m)->tx_record_due &&
		 broken(m, FAULT_TX_CYCLES_NOT_OF_RECORDS)) &&
	       !(cause == TX_EVENT && m->tx.elided && faults_of(m)->tx_record_due &&
		 broken(m, FAULT_HLE_CYCLES_NOT_OF_RECORDS)) &&
	       !(cause == TX_FINE && faults_of(m)->tx_had_nested && !m->tx.elided &&
		 broken(m, FAULT_TX_CYCLES_NOT_OF_NESTED)) &&
	       !(cause == TX_EXCEPTION && broken(m, FAULT_TX_CYCLES_NOT_OF_EXCEPTIONS)) &&
	       !(cause == TX_CAPACITY_READS && broken(m, FAULT_TX_CYCLES_NOT_OF_READS)) &&
	       !(cause == TX_CONFLICT && broken(m, FAULT_TX_CYCLES_NOT_OF_CONFLICTS)) &&
	       !(cause > TX_CONFLICT && broken(m, FAULT_TX_CYCLES_NOT_OF_CAPACITY));
}

/* ---- an abort ---- */

bool fault_tx_undoes_stores(struct model *m, bool undoes)
{
	return undoes && !broken(m, FAULT_TX_MEMORY_KEPT);
}

u64 fault_tx_restores(struct model *m, unsigned i, enum tx_cause cause, u64 value)
{
	const struct model_counter *c = &m->counter[i];

	if (m->config.fault == FAULT_NONE)
		return value;
	fault_at_counter(m, i);
	if (broken(m, FAULT_TX_CHECKPOINT_ZERO))
		return 0;
	if (broken(m, FAULT_TX_CHECKPOINT_IGNORED) ||
	    (cause != TX_EXPLICIT && broken(m, FAULT_TX_CHECKPOINT_EXPLICIT)) ||
	    (cause == TX_EVENT && broken(m, FAULT_TX_CHECKPOINT_NO_EVENT)) ||
	    (cause == TX_EXCEPTION && broken(m, FAULT_TX_CHECKPOINT_NO_EXCEPTION)) ||
	    (cause == TX_EVENT && !faults_of(m)->tx_record_due &&
	     broken(m, FAULT_TX_CHECKPOINT_INTERRUPT)) ||
	    (cause == TX_EVENT && m->tx.elided && broken(m, FAULT_HLE_CHECKPOINT_NO_EVENT)) ||
	    (cause == TX_CONFLICT && broken(m, FAULT_TX_CHECKPOINT_CONFLICT)) ||
	    (cause == TX_CAPACITY_READS && broken(m, FAULT_TX_CHECKPOINT_READS)) ||
	    (m->tx.elided && broken(m, FAULT_HLE_CHECKPOINT_IGNORED)) ||
	    (faults_of(m)->cpl && broken(m, FAULT_TX_CHECKPOINT_USER)) ||
	    (c->rule.cmask && broken(m, FAULT_TX_CHECKPOINT_CMASK)) ||
	    (c->rule.invert && broken(m, FAULT_TX_CHECKPOINT_INV)) ||
	    (c->rule.edge && broken(m, FAULT_TX_CHECKPOINT_EDGE)))
		return c->value;
	if (c->rule.kind != EK_LOADS && c->rule.kind != EK_STORES &&
	    broken(m, FAULT_TX_CHECKPOINT_LOADS_ONLY))
		return c->value;
	if (c->rule.kind == EK_CORE_CYCLES && broken(m, FAULT_TX_CHECKPOINT_CYCLES))
		return c->value;
	if ((c->value ^ value) >> 32 && broken(m, FAULT_TX_CHECKPOINT_32))
		return (c->value & ~BITS(0, 31)) | (u32)value;
	return value >> 40 && broken(m, FAULT_TX_CHECKPOINT_40) ? value & BITS(0, 39) : value;
}

void fault_tx_restored(struct model *m)
{
	if (m->config.fault == FAULT_NONE)
		return;
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++) {
		fault_at_counter(m, i);
		if (!m->counter[i].rule.in_txcp && m->active & BIT(i) &&
		    broken(m, FAULT_TX_CHECKPOINT_ALL))
			model_set_counter(m, i, m->tx.counter[i]);
	}
	fault_at_counter(m, MODEL_NO_COUNTER);
	if (broken(m, FAULT_TX_OVERFLOW_TAKEN_BACK))
		m->global_status = faults_of(m)->tx_status;
}

u64 fault_tx_information(struct model *m, u64 value)
{
	if (m->config.fault == FAULT_NONE)
		return value;
	if (broken(m, m->tx.elided ? FAULT_HLE_SAYS_RTM : FAULT_TX_SAYS_HLE))
		value ^= INFO_HLE | INFO_RTM;
	if (m->tx.elided && m->tx.n_locks > 1 && broken(m, FAULT_HLE_NESTED_SAYS_RTM))
		value ^= INFO_HLE | INFO_RTM;
	if (m->tx.elided && value & INFO_INSTRUCTION && broken(m, FAULT_HLE_WITHOUT_INSTRUCTION))
		value &= ~INFO_INSTRUCTION;
	if (m->tx.elided && !(value & INFO_INSTRUCTION) &&
	    broken(m, FAULT_HLE_INFORMATION_BY_INSTRUCTIONS))
		value &= INFO_HLE;
	if (m->tx.depth > 1 && broken(m, FAULT_TX_NESTED_CAUSE_LOST))
		value &= ~INFO_DETAILS;
	if (m->tx.cause == TX_EXCEPTION && broken(m, FAULT_TX_EXCEPTION_RETRY))
		value |= INFO_RETRY;
	if (m->tx.elided && value & INFO_CONFLICT && broken(m, FAULT_HLE_CONFLICT_HIDDEN))
		value &= ~INFO_CONFLICT;
	if (broken(m, FAULT_TX_CAUSE_EXCHANGED))
		value ^= INFO_INSTRUCTION | INFO_OTHER;
	if (broken(m, FAULT_TX_CAPACITY_MISSING))
		value &= ~(INFO_WRITES | INFO_READS);
	if (value & INFO_READS && broken(m, FAULT_TX_READS_SAY_WRITES))
		value ^= INFO_READS | INFO_WRITES;
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (broken(m, value & bits[i].mask ? bits[i].never : bits[i].always))
			value ^= bits[i].mask;
	if (broken(m, FAULT_TX_INFORMATION_SHIFTED))
		value <<= 1;
	if (broken(m, FAULT_TX_RESERVED_SET))
		value |= INFO_RESERVED;
	return value;
}

void fault_tx_aborts(struct model *m, bool nested)
{
	faults_of(m)->was_nested = nested;
	faults_of(m)->tx_committed = false;
	faults_of(m)->information_before = m->tx.information;
}

unsigned fault_tx_lock(struct model *m, unsigned lock)
{
	return m->tx.n_locks && broken(m, FAULT_HLE_RIP_INNER) ? m->tx.n_locks - 1u : lock;
}

u64 fault_tx_field(struct model *m, bool aborted, u8 cpl, u64 value)
{
	const u64 not_instruction = INFO_OTHER | INFO_WRITES | INFO_READS;
	const struct model *first = first_of(m);

	if (m->config.fault == FAULT_NONE)
		return value;
	if (first && broken(m, FAULT_TX_SECOND_FIELD))
		value = first->tx.cycles | (aborted ? first->tx.information : 0);
	if (value & not_instruction && broken(m, FAULT_TX_INFORMATION_COUNTER))
		value &= ~not_instruction;
	if (aborted && cpl && broken(m, FAULT_TX_INFORMATION_USER))
		return 0;
	if (value & INFO_CYCLES_HIGH && broken(m, FAULT_TX_CYCLES_16))
		value &= ~INFO_CYCLES_HIGH;
	if (broken(m, FAULT_TX_CYCLES_ZERO))
		value &= ~INFO_CYCLES;
	if (!aborted)
		return broken(m, FAULT_TX_CYCLES_IN_ABORTS) ? 0 : value;
	if (broken(m, FAULT_TX_INFORMATION_EMPTY))
		return value & INFO_CYCLES;
	return broken(m, FAULT_TX_INFORMATION_STALE) ?
		       (value & INFO_CYCLES) | faults_of(m)->information_before :
		       value;
}
