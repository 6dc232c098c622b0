/* SPDX-License-Identifier: MIT */
/* See tx.h: begin, end and abort. The status in EAX: volume 1, "RTM Abort Status
 * Definition". */
#include "refpmu/model/internal.h"

/* Bits of EAX. */
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

/* The status for software, and the events that occur in addition to RTM_RETIRED.ABORTED. */
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
	/* Linux, "x86/tsx: Clear CPUID bits when TSX always force aborts": "EAX code 0". */
	[TX_FORCED] = { 0, KIND(EK_TX_ABORTED_OTHER), INFO_OTHER },
};

/* "Detection of RTM Support": CPUID.07H:EBX[11]. Firmware or microcode can remove it: latitude
 * no-rtm. */
bool model_has_tx(const struct model *m)
{
	return m->host->tx_log && model_generation(m)->facilities & FAC_TSX &&
	       !m->latitude[LAT_NO_RTM];
}

/* CPUID.07H:EDX[11], RTM_ALWAYS_ABORT, and IA32_TSX_FORCE_ABORT[0], RTM_FORCE_ABORT: SDM volume
 * 4, Table 2-2; Linux tfa_pmu. */
bool model_tx_always_aborts(const struct model *m)
{
	bool forced = m->tsx_force_abort & IA32_TSX_FORCE_ABORT_RTM_FORCE_ABORT;

	return m->latitude[LAT_RTM_ALWAYS_ABORT] || fault_tx_forced(m, forced);
}

bool model_in_tx(const struct model *m)
{
	return m->tx.depth;
}

bool model_tx_is_elided(const struct model *m)
{
	return m->tx.depth && m->tx.elided;
}

void model_tx_takes(struct model *m, u64 cycles)
{
	m->tx.cycles_so_far += cycles;
}

bool model_tx_outermost(const struct model *m)
{
	return m->tx.depth == 1;
}

/* SDM chapter 19: the events of "RTM_RETIRED" and "HLE_RETIRED", and TX_MEM for aborts. */
static bool occurs(const struct model *m, const struct retire_ctx *s, enum event_kind kind)
{
	bool aborts = s->tx_abort && !m->tx.elided;

	switch (kind) {
	case EK_TX_STARTED:
		return !s->tx_abort && s->tx == TX_STARTS;
	case EK_TX_STARTED_HLE:
		return !s->tx_abort && s->tx == TX_ELIDES;
	case EK_TX_COMMITTED:
		return !s->tx_abort && s->tx == TX_COMMITS;
	case EK_TX_COMMITTED_HLE:
		return !s->tx_abort && s->tx == TX_RELEASES;
	case EK_TX_ABORTED_RTM:
		return aborts;
	case EK_TX_ABORTED_HLE:
		return s->tx_abort && m->tx.elided;
	case EK_TX_CONFLICT:
	case EK_TX_CAPACITY_WRITES:
		return s->tx_abort && reasons[m->tx.cause].kinds & KIND(kind);
	default:
		return aborts && reasons[m->tx.cause].kinds & KIND(kind);
	}
}

bool model_tx_occurs(struct model *m, const struct retire_ctx *s, enum event_kind kind)
{
	return fault_tx_occurs(m, s, kind, occurs(m, s, kind));
}

/* Save the state that an abort restores. IN_TXCP: the counter gets its value from here back
 * ("Performance Monitoring and Intel TSX"). */
static void checkpoint(struct model *m, const struct model_registers *registers)
{
	struct model_tx *tx = &m->tx;

	tx->depth = 1;
	tx->rflags = registers->rflags;
	__builtin_memcpy(tx->gpr, registers->gpr, sizeof(tx->gpr));
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		tx->counter[i] = m->counter[i].value;
	tx->cycles_so_far = 0;
	fault_tx_checkpoint(m);
	model_tx_log_begin(m);
}

/* "RTM Nesting": XBEGIN increments the nesting count, and a count above MAX_RTM_NEST_COUNT
 * aborts. "Nesting HLE and RTM": XBEGIN while a lock is elided may abort. */
enum tx_cause model_tx_begin(struct model *m, const struct model_registers *registers, u64 fallback)
{
	struct model_tx *tx = &m->tx;

	if (tx->depth == TX_DEPTH)
		return TX_NESTING;
	if (tx->depth && tx->elided)
		return TX_INSTRUCTION;
	fault_tx_begins(m, fallback);
	if (tx->depth) {
		tx->depth++;
		return TX_FINE;
	}
	tx->fallback = fallback;
	tx->elided = false;
	checkpoint(m, registers);
	return model_tx_always_aborts(m) ? TX_FORCED : TX_FINE;
}

/* "Transactional Nesting": an abort restores the state of the outermost XACQUIRE. */
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

/* Table 18-51, Cycles_Last_TX: "The number of cycles in the last TSX region, regardless of
 * whether that region had aborted or committed". cause: TX_FINE, or the cause of the abort. */
static void note_cycles(struct model *m, enum tx_cause cause)
{
	if (fault_tx_end_noted(m, cause, true))
		m->tx.cycles = (u32)m->tx.cycles_so_far;
}

/* "RTM Nesting": XEND decrements the nesting count, and the transaction commits only at 0. */
void model_tx_end(struct model *m)
{
	fault_tx_ends(m);
	if (!--m->tx.depth)
		note_cycles(m, TX_FINE);
}

/* IN_TXCP, "Performance Monitoring and Intel TSX": "the value for that counter is restored to
 * the value it had prior". */
static void undo_counts(struct model *m, enum tx_cause cause)
{
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (m->counter[i].rule.in_txcp)
			model_set_counter(m, i, fault_tx_restores(m, i, cause, m->tx.counter[i]));
	fault_tx_restored(m);
}

/* Offset B8H, Table 18-51, for all PEBS events: "Intel TSX and PEBS Support". Bits 63:32 are set
 * only in the record of an abort. */
u64 model_tx_field(struct model *m, const struct retire_ctx *s)
{
	bool aborted = s->tx_abort || s->aborts;

	return fault_tx_field(m, aborted, s->r->cpl,
			      (model_has_tx(m) ? m->tx.cycles : 0) |
				      (aborted ? m->tx.information : 0));
}

/* "RTM Software Interface": execution restarts at the fallback address with the state of XBEGIN,
 * except for EAX, which has "RTM Abort Status Definition". */
void model_tx_undo(struct model *m, enum tx_cause cause, u8 code, struct model_registers *after)
{
	struct model_tx *tx = &m->tx;
	u32 nested = tx->depth > 1 ? (u32)STATUS_NESTED : 0;

	if (fault_tx_undoes_stores(m, true))
		model_tx_log_undo(m);
	undo_counts(m, cause);
	note_cycles(m, cause);
	after->rip = tx->fallback;
	after->rflags = tx->rflags;
	__builtin_memcpy(after->gpr, tx->gpr, sizeof(after->gpr));
	if (tx->elided)
		model_tx_elision_aborted(m);
	else
		after->gpr[REG_RAX] = reasons[cause].status | nested |
				      (cause == TX_EXPLICIT ? (u32)code << STATUS_CODE : 0);
	tx->cause = (u8)cause;
	fault_tx_aborts(m, nested);
	tx->information = fault_tx_information(m, reasons[cause].information |
							  (tx->elided ? INFO_HLE : INFO_RTM));
	tx->depth = 0;
	if (m->host->registers)
		m->host->registers(m->host->ctx, after);
	/* "The instruction following the outermost XACQUIRE", which executes again first. */
	if (tx->elided)
		after->rip = tx->lock[fault_tx_lock(m, 0)].behind;
}

/* "Intel TSX and PEBS Support": in the record of an abort only EventingIP, R/EIP and the TX
 * field are valid. R/EIP is the fallback address. EventingIP is ip here. */
void model_tx_abort(struct model *m, enum tx_cause cause, u8 code, u64 ip, u8 cpl)
{
	struct model_retired aborted = { .ip = ip, .cpl = cpl };

	model_tx_undo(m, cause, code, &aborted.after);
	aborted.before = aborted.after;
	model_retire_abort(m, &aborted);
}
