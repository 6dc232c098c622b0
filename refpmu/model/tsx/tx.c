/* SPDX-License-Identifier: MIT */
/* See tx.h: begin, end and abort. The status in EAX: volume 1, "RTM Abort Status
 * Definition". */
#include "refpmu/model/internal.h"

/* EAX. */
#define STATUS_EXPLICIT	BIT(0)
#define STATUS_RETRY	BIT(1)
#define STATUS_CONFLICT	BIT(2)
#define STATUS_CAPACITY	BIT(3)
#define STATUS_DEBUG	BIT(4)
#define STATUS_NESTED	BIT(5)
#define STATUS_CODE	24

/* Table 18-51. */
#define INFO_HLE		BIT(32)
#define INFO_RTM		BIT(33)
#define INFO_INSTRUCTION	BIT(34)
#define INFO_OTHER		BIT(35)		/* Non_Instruction_Abort */
#define INFO_RETRY		BIT(36)
#define INFO_CONFLICT		BIT(37)
#define INFO_WRITES		BIT(38)
#define INFO_READS		BIT(39)

#define KIND(kind)	(1u << ((kind) - EK_TX_FIRST))

/* What software is told, and which events occur besides RTM_RETIRED.ABORTED. */
static const struct {
	u32 status, kinds;
	u64 information;
} reasons[TX_CAUSES] = {
	[TX_EXPLICIT] = { STATUS_EXPLICIT, KIND(EK_TX_ABORTED_UNFRIENDLY), INFO_INSTRUCTION },
	[TX_INSTRUCTION] = { 0, KIND(EK_TX_ABORTED_UNFRIENDLY), INFO_INSTRUCTION },
	[TX_NESTING] = { 0, KIND(EK_TX_ABORTED_UNFRIENDLY), INFO_INSTRUCTION },
	[TX_EXCEPTION] = { 0, KIND(EK_TX_ABORTED_OTHER), INFO_INSTRUCTION },
	[TX_DEBUG] = { STATUS_DEBUG, KIND(EK_TX_ABORTED_OTHER), INFO_INSTRUCTION },
	[TX_MEMORY_TYPE] = { 0, KIND(EK_TX_ABORTED_MEMORY_TYPE), INFO_INSTRUCTION },
	[TX_EVENT] = { STATUS_RETRY, KIND(EK_TX_ABORTED_OTHER), INFO_OTHER | INFO_RETRY },
	[TX_CONFLICT] = { STATUS_CONFLICT | STATUS_RETRY,
			  KIND(EK_TX_ABORTED_MEMORY) | KIND(EK_TX_CONFLICT),
			  INFO_OTHER | INFO_RETRY | INFO_CONFLICT },
	[TX_CAPACITY_WRITES] = { STATUS_CAPACITY,
				 KIND(EK_TX_ABORTED_MEMORY) | KIND(EK_TX_CAPACITY_WRITES),
				 INFO_OTHER | INFO_WRITES },
	[TX_CAPACITY_READS] = { STATUS_CAPACITY, KIND(EK_TX_ABORTED_MEMORY),
				INFO_OTHER | INFO_READS },
};

bool model_has_tx(const struct model *m)
{
	return m->host->tx_log && model_generation(m)->facilities & FAC_TSX &&
	       !m->latitude[LAT_NO_RTM];
}

bool model_in_tx(const struct model *m)
{
	return m->tx.depth;
}

bool model_tx_is_elided(const struct model *m)
{
	return m->tx.depth && m->tx.elided;
}

bool model_tx_outermost(const struct model *m)
{
	return m->tx.depth == 1;
}

bool model_tx_occurs(struct model *m, const struct step *s, enum event_kind kind)
{
	bool aborts = s->tx_abort && !m->tx.elided;

	switch (kind) {
	case EK_TX_STARTED:
		return !s->tx_abort && s->tx == TX_STARTS && !broken(m, FAULT_TX_STARTS_MISSED);
	case EK_TX_STARTED_HLE:
		return !s->tx_abort && s->tx == TX_ELIDES && !broken(m, FAULT_HLE_STARTS_MISSED);
	case EK_TX_COMMITTED:
		if (s->tx_abort)
			return aborts && broken(m, FAULT_TX_COMMITS_ALL);
		return s->tx == TX_COMMITS && !broken(m, FAULT_TX_COMMITS_MISSED);
	case EK_TX_COMMITTED_HLE:
		return !s->tx_abort && s->tx == TX_RELEASES &&
		       !broken(m, FAULT_HLE_COMMITS_MISSED);
	case EK_TX_ABORTED_RTM:
		if (!s->tx_abort && s->tx == TX_COMMITS)
			return broken(m, FAULT_TX_COMMIT_ABORTS);
		if (s->tx_abort && m->tx.elided)
			return broken(m, FAULT_HLE_COUNTS_AS_RTM);
		return aborts && !broken(m, FAULT_TX_ABORT_UNCOUNTED);
	case EK_TX_ABORTED_HLE:
		if (!s->tx_abort && s->tx == TX_RELEASES)
			return broken(m, FAULT_HLE_COMMIT_ABORTS);
		return s->tx_abort && m->tx.elided && !broken(m, FAULT_HLE_ABORT_UNCOUNTED);
	case EK_TX_CONFLICT:
	case EK_TX_CAPACITY_WRITES:
		return s->tx_abort && reasons[m->tx.cause].kinds & KIND(kind);
	default:
		return aborts && reasons[m->tx.cause].kinds & KIND(kind);
	}
}

/* From here on all can be taken back. */
static void checkpoint(struct model *m, const struct model_registers *registers)
{
	struct model_tx *tx = &m->tx;

	tx->depth = 1;
	tx->rflags = registers->rflags;
	__builtin_memcpy(tx->gpr, registers->gpr, sizeof(tx->gpr));
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		tx->counter[i] = m->counter[i].value;
	tx->cycles_so_far = 0;
	tx->status = m->global_status;
	model_tx_log_begin(m);
}

enum tx_cause model_tx_begin(struct model *m, const struct model_registers *registers,
			     u64 fallback)
{
	struct model_tx *tx = &m->tx;

	if (tx->depth == TX_DEPTH)
		return TX_NESTING;
	if (tx->depth && tx->elided)
		return TX_INSTRUCTION;
	tx->fallback_inner = fallback;
	if (tx->depth) {
		tx->depth++;
		return TX_FINE;
	}
	tx->fallback = fallback;
	tx->elided = false;
	checkpoint(m, registers);
	return m->latitude[LAT_RTM_ALWAYS_ABORT] ? TX_EVENT : TX_FINE;
}

void model_tx_elide(struct model *m, const struct model_registers *registers, u64 ip, u64 behind)
{
	struct model_tx *tx = &m->tx;

	tx->elided = true;
	tx->acquires = tx->releases = tx->broken_lock = false;
	tx->n_locks = 0;
	tx->lock[0].ip = ip;
	tx->lock[0].behind = behind;
	tx->fallback = registers->rip;
	checkpoint(m, registers);
}

static void note_cycles(struct model *m)
{
	m->tx.cycles = (u32)m->tx.cycles_so_far;
}

void model_tx_end(struct model *m)
{
	if (!--m->tx.depth && !broken(m, FAULT_TX_CYCLES_OF_ABORTS))
		note_cycles(m);
}

/* IN_TXCP: "the value for that counter is restored to the value it had prior". */
static bool checkpoint_broken(struct model *m, enum tx_cause cause)
{
	return broken(m, FAULT_TX_CHECKPOINT_IGNORED) ||
	       (cause != TX_EXPLICIT && broken(m, FAULT_TX_CHECKPOINT_EXPLICIT)) ||
	       (cause == TX_EVENT && broken(m, FAULT_TX_CHECKPOINT_NO_EVENT)) ||
	       (m->tx.elided && broken(m, FAULT_HLE_CHECKPOINT_IGNORED));
}

static void undo_counts(struct model *m, enum tx_cause cause)
{
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++) {
		bool checkpointed = m->counter[i].rule.in_txcp;

		m->faults.at_counter = (u8)i;
		if (checkpointed && broken(m, FAULT_TX_CHECKPOINT_ZERO))
			model_set_counter(m, i, 0);
		else if (checkpointed ? !checkpoint_broken(m, cause) :
			 m->active & BIT(i) && broken(m, FAULT_TX_CHECKPOINT_ALL))
			model_set_counter(m, i, m->tx.counter[i]);
	}
	m->faults.at_counter = MODEL_NO_COUNTER;
}

/* Faults that are generated of one bit. */
static const struct {
	u64 mask;
	enum fault_id never, always;
} bits[] = {
#define FAULT_TX_BIT(token, bit, name, requirements, title, ...) \
	{ BIT(bit), FAULT_##token##_NEVER, FAULT_##token##_ALWAYS },
#include "refpmu/faults/fault_tx_bit.def"
};

static u64 information(struct model *m, enum tx_cause cause)
{
	u64 value = reasons[cause].information | (m->tx.elided ? INFO_HLE : INFO_RTM);

	if (broken(m, m->tx.elided ? FAULT_HLE_SAYS_RTM : FAULT_TX_SAYS_HLE))
		value ^= INFO_HLE | INFO_RTM;
	if (broken(m, FAULT_TX_CAUSE_EXCHANGED))
		value ^= INFO_INSTRUCTION | INFO_OTHER;
	if (broken(m, FAULT_TX_CAPACITY_MISSING))
		value &= ~(INFO_WRITES | INFO_READS);
	if (value & INFO_READS && broken(m, FAULT_TX_READS_SAY_WRITES))
		value ^= INFO_READS | INFO_WRITES;
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		if (value & bits[i].mask ? broken(m, bits[i].never) : broken(m, bits[i].always))
			value ^= bits[i].mask;
	}
	if (broken(m, FAULT_TX_INFORMATION_SHIFTED))
		value <<= 1;
	if (broken(m, FAULT_TX_RESERVED_SET))
		value |= BIT(40);
	return value;
}

u64 model_tx_field(struct model *m, const struct step *s)
{
	u64 value = model_has_tx(m) && !broken(m, FAULT_TX_CYCLES_ZERO) ? m->tx.cycles : 0;

	if (!s->tx_abort && !s->aborts && broken(m, FAULT_TX_CYCLES_IN_ABORTS))
		return 0;
	if ((!s->tx_abort && !s->aborts) || broken(m, FAULT_TX_INFORMATION_EMPTY))
		return value;
	return value | (broken(m, FAULT_TX_INFORMATION_STALE) ? m->tx.information_before :
								m->tx.information);
}

void model_tx_undo(struct model *m, enum tx_cause cause, u8 code, struct model_registers *after)
{
	struct model_tx *tx = &m->tx;
	u32 nested = tx->depth > 1 ? (u32)STATUS_NESTED : 0;

	if (!broken(m, FAULT_TX_MEMORY_KEPT))
		model_tx_log_undo(m);
	undo_counts(m, cause);
	if (broken(m, FAULT_TX_OVERFLOW_TAKEN_BACK))
		m->global_status = tx->status;
	note_cycles(m);
	after->rip = tx->fallback;
	after->rflags = tx->rflags;
	__builtin_memcpy(after->gpr, tx->gpr, sizeof(after->gpr));
	if (tx->elided)
		model_tx_elision_aborted(m);
	else
		after->gpr[REG_RAX] = reasons[cause].status | nested |
				      (cause == TX_EXPLICIT ? (u32)code << STATUS_CODE : 0);
	tx->cause = (u8)cause;
	tx->was_nested = nested;
	tx->information_before = tx->information;
	tx->information = information(m, cause);
	tx->depth = 0;
	if (m->host->registers)
		m->host->registers(m->host->ctx, after);
	/* "The instruction following the outermost XACQUIRE", which is done again first. */
	if (tx->elided)
		after->rip = tx->lock[tx->n_locks && broken(m, FAULT_HLE_RIP_INNER) ?
				      tx->n_locks - 1u : 0].behind;
}

void model_tx_abort(struct model *m, enum tx_cause cause, u8 code, u64 ip, u8 cpl)
{
	struct model_retired aborted = { .ip = ip, .cpl = cpl };

	model_tx_undo(m, cause, code, &aborted.after);
	aborted.before = aborted.after;
	model_retire_abort(m, &aborted);
}
