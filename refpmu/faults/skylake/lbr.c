/* SPDX-License-Identifier: MIT */
/* Faults of refpmu/model/lbr.c: of last branch records. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/goldencove/arch_lbr.h"
#include "refpmu/faults/skylake/version4.h"
#include "refpmu/model/core.h"
#include "refpmu/model/lbr.h"
#include "spec/arch_lbr.h"

#define BRANCHES_AFTER_OFF 64u
#define HALF_OF_ENTRIES	16
#define CALLS_AND_RETURNS \
	(LBR_SELECT_NEAR_REL_CALL | LBR_SELECT_NEAR_IND_CALL | LBR_SELECT_NEAR_RET)
#define FREEZES	(IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI | IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI)

static const struct {
	u64 kind;
	enum fault_id fault;
} let_in[] = {
#define FAULT_LBR_KIND(token, field, name, requirements, title) \
	{ LBR_SELECT_##field, FAULT_LBR_##token##_LET_IN },
#include "refpmu/faults/skylake/fault_lbr.def"
};

/* Is it recorded, or kept out? */
#define LEVELS	(LBR_SELECT_CPL_EQ_0 | LBR_SELECT_CPL_NEQ_0)

static bool is_recorded(struct model *m, const struct lbr_branch *b, bool records)
{
	const u64 near_jumps = LBR_SELECT_JCC | LBR_SELECT_NEAR_REL_JMP | LBR_SELECT_NEAR_IND_JMP;

	if (!b->kind)
		return broken(m, FAULT_LBR_NOT_TAKEN);
	for (size_t i = 0; i < sizeof(let_in) / sizeof(let_in[0]) && !records; i++)
		if (let_in[i].kind == b->kind && m->lbr.select & b->kind)
			records = broken(m, let_in[i].fault);
	if (!records && (m->lbr.select & LEVELS) == LEVELS && !(m->lbr.select & b->kind) &&
	    broken(m, FAULT_LBR_BOTH_LEVELS_NONE))
		records = true;
	if (!records && b->kind == LBR_SELECT_NEAR_RET && m->lbr.select & LBR_SELECT_JCC &&
	    m->lbr.select & LBR_SELECT_NEAR_RET && broken(m, FAULT_LBR_JCC_LETS_RET_IN))
		records = true;
	if (!records && b->is_event &&
	    !(m->lbr.select & (b->cpl ? LBR_SELECT_CPL_NEQ_0 : LBR_SELECT_CPL_EQ_0)) &&
	    broken(m, FAULT_LBR_EVENTS_LET_IN))
		records = true;
	if (!records && b->abort && b->cpl && broken(m, FAULT_LBR_ABORT_LET_IN))
		records = true;
	if (m->lbr.select & LEVELS && broken(m, FAULT_LBR_LEVELS_EXCHANGED))
		records = !(m->lbr.select &
			    ((b->cpl ? LBR_SELECT_CPL_EQ_0 : LBR_SELECT_CPL_NEQ_0) | b->kind));
	if (!b->cpl != !b->cpl_before && m->lbr.select & LEVELS && !(m->lbr.select & b->kind) &&
	    (broken(m, b->is_event ? FAULT_LBR_EVENTS_BY_BEGIN : FAULT_LBR_RETURNS_BY_BEGIN) ||
	     (b->with_error && broken(m, FAULT_LBR_ERROR_CODE_BY_BEGIN))))
		records = !(m->lbr.select &
			    (b->cpl_before ? LBR_SELECT_CPL_NEQ_0 : LBR_SELECT_CPL_EQ_0));
	if (!records)
		return false;
	if (b->is_event && faults_of(m)->nmi_comes) {
		faults_of(m)->nmi_comes = false;
		if (broken(m, FAULT_LBR_NMI_MISSED))
			return false;
	}
	if (m->lbr.select & LBR_SELECT_EN_CALLSTACK && b->kind == LBR_SELECT_NEAR_IND_CALL &&
	    broken(m, FAULT_LBR_STACK_NO_INDIRECT))
		return false;
	if (m->lbr.select & LBR_SELECT_EN_CALLSTACK && m->lbr.select & LBR_SELECT_CPL_NEQ_0 &&
	    b->kind == LBR_SELECT_NEAR_IND_CALL && broken(m, FAULT_LBR_STACK_NO_INDIRECT_OF_OS))
		return false;
	if (b->kind == LBR_SELECT_JCC && b->cpl && m->lbr.select & LBR_SELECT_CPL_EQ_0 &&
	    broken(m, FAULT_LBR_JCC_BY_LEVEL))
		return false;
	return !(m->lbr.select & LBR_SELECT_JCC && b->kind & near_jumps &&
		 broken(m, FAULT_LBR_JCC_KEEPS_ALL)) &&
	       !(b->kind == LBR_SELECT_NEAR_RET && !m->lbr.select &&
		 broken(m, FAULT_LBR_RETURNS_MISSED)) &&
	       !(b->with_error && broken(m, FAULT_LBR_ERROR_CODE_MISSED)) &&
	       !(b->is_event && broken(m, FAULT_LBR_NO_INTERRUPTS));
}

static void break_abort(struct model *m, const struct lbr_branch *b, struct lbr_plan *plan)
{
	u64 *flags = model_lbr_format(m) >= 5 ? &plan->info : &plan->from;

	if (broken(m, FAULT_LBR_ABORT_UNMARKED))
		*flags &= ~LBR5_INFO_TSX_ABORT;
	if (broken(m, FAULT_LBR_ABORT_OUTSIDE))
		*flags &= ~LBR5_INFO_IN_TX;
	if (b->cpl && broken(m, FAULT_LBR_ABORT_USER_UNMARKED))
		*flags &= ~(LBR5_INFO_TSX_ABORT | LBR5_INFO_IN_TX);
	if (b->to >> 32 && broken(m, FAULT_LBR_ABORT_TO_32))
		plan->to &= BITS(0, 31);
	if (m->tx.elided && b->to >> 48 && broken(m, FAULT_LBR_ELIDED_TO_48))
		plan->to &= BITS(0, 47);
	if (broken(m, FAULT_LBR_ABORT_TO_CAUSE))
		plan->to = b->from;
}

static bool in_tx_missed(struct model *m, const struct lbr_branch *b)
{
	return (b->cpl && broken(m, FAULT_LBR_IN_TX_USER)) ||
	       (b->kind & CALLS_AND_RETURNS && broken(m, FAULT_LBR_IN_TX_NO_CALLS)) ||
	       (m->tx.depth > 1 && broken(m, FAULT_LBR_IN_TX_NESTED)) ||
	       (m->tx.depth == 1 && faults_of(m)->tx_nested_ended &&
		broken(m, FAULT_LBR_IN_TX_AFTER_NESTED));
}

/* Fault lbr-cycles-pass-far: cycles since the newest entry that isn't of a far branch. */
static void break_cycles(struct model *m, const struct lbr_branch *b, struct lbr_plan *plan)
{
	struct fault_state *f = faults_of(m);
	const u64 since = f->lbr_after_far ? f->lbr_since : m->lbr.cycles;
	const u64 cycles = m->cycles - since;

	if (f->lbr_after_far && broken(m, FAULT_LBR_CYCLES_PASS_FAR))
		plan->info = (plan->info & ~LBR5_INFO_CYC_CNT) |
			     (cycles < LBR5_INFO_CYC_CNT ? cycles : LBR5_INFO_CYC_CNT);
	f->lbr_after_far = b->kind == LBR_SELECT_FAR_BRANCH;
	f->lbr_since = since;
}

static void break_entry(struct model *m, const struct lbr_branch *b, struct lbr_plan *plan)
{
	const unsigned format = model_lbr_format(m);
	u64 flag = format >= 5 ? LBR5_INFO_MISPRED : LBR4_FROM_MISPRED;
	u64 cycles = m->cycles - m->lbr.cycles;
	const struct lbr_entry *over = &m->lbr.entry[(m->lbr.tos + 1u) % plan->entries];

	if (broken(m, FAULT_LBR_FROM_NEXT))
		plan->from += 4;
	if (b->from >> 48 && broken(m, FAULT_LBR_ADDRESS_48)) {
		plan->from &= ~BITS(48, 60);
		plan->to &= BITS(0, 47);
	}
	if (broken(m, FAULT_LBR_TO_FROM))
		plan->to = b->from;
	if ((format >= 5 ? over->info : over->from) & flag && broken(m, FAULT_LBR_MISPRED_STAYS))
		*(format >= 5 ? &plan->info : &plan->from) |= flag;
	if (b->cpl && b->mispredicted && broken(m, FAULT_LBR_MISPRED_OS_ONLY))
		*(format >= 5 ? &plan->info : &plan->from) &= ~flag;
	if (format < 5 && b->from >> 63 && broken(m, FAULT_LBR_MISPRED_SIGN))
		plan->from |= flag;
	if (b->mispredicted && (m->lbr.tos + 1u) % plan->entries == plan->entries - 1u &&
	    broken(m, FAULT_LBR_MISPRED_LAST_LOST)) {
		plan->from &= ~LBR4_FROM_MISPRED;
		plan->info &= ~LBR5_INFO_MISPRED;
	}
	if (b->mispredicted && b->from >> 63 && broken(m, FAULT_LBR_MISPRED_UPPER_LOST))
		*(format >= 5 ? &plan->info : &plan->from) &= ~flag;
	if (broken(m, FAULT_LBR_MISPRED_INVERTED))
		*(format >= 5 ? &plan->info : &plan->from) ^= flag;
	if (format == 4 && broken(m, FAULT_LBR_FLAGS_IN_TO)) {
		plan->to |= plan->from & (LBR4_FROM_MISPRED | LBR4_FROM_IN_TX);
		plan->from = b->from;
	}
	if (b->abort)
		break_abort(m, b, plan);
	if (b->in_tx && in_tx_missed(m, b))
		*(format >= 5 ? &plan->info : &plan->from) &= ~LBR5_INFO_IN_TX;
	if (b->is_event && b->from >> 32 && broken(m, FAULT_LBR_EVENT_FROM_32))
		plan->from &= ~BITS(32, 60);
	if (b->mispredicted && format >= 4 && broken(m, FAULT_LBR_MISPRED_IN_TX))
		*(format >= 5 ? &plan->info : &plan->from) |= LBR5_INFO_IN_TX;
	if (b->mispredicted && b->in_tx && broken(m, FAULT_LBR_IN_TX_NO_MISPRED))
		*(format >= 5 ? &plan->info : &plan->from) &= ~flag;
	if (format < 5)
		return;
	break_cycles(m, b, plan);
	if (over - m->lbr.entry >= HALF_OF_ENTRIES && broken(m, FAULT_LBR_INFO_UPPER_STALE))
		plan->info = over->info;
	if (broken(m, FAULT_LBR_FLAGS_IN_FROM))
		plan->from ^= LBR4_FROM_MISPRED;
	if (broken(m, FAULT_LBR_INFO_NOISE))
		plan->info ^= LBR5_INFO_IN_TX;
	if (broken(m, FAULT_LBR_CYCLES_ADD_UP)) {
		cycles += m->lbr.entry[m->lbr.tos].info & LBR5_INFO_CYC_CNT;
		plan->info &= ~LBR5_INFO_CYC_CNT;
		plan->info |= cycles < LBR5_INFO_CYC_CNT ? cycles : LBR5_INFO_CYC_CNT;
	}
	if (b->cpl && cycles && broken(m, FAULT_LBR_CYCLES_OS_ONLY))
		plan->info &= ~LBR5_INFO_CYC_CNT;
	if (m->lbr.cycles > LBR5_INFO_CYC_CNT && broken(m, FAULT_LBR_CYCLES_KEPT_SHORT))
		plan->info |= LBR5_INFO_CYC_CNT;
	if (cycles > LBR5_INFO_CYC_CNT && broken(m, FAULT_LBR_CYCLES_WRAP))
		plan->info = (plan->info & ~LBR5_INFO_CYC_CNT) | (cycles & LBR5_INFO_CYC_CNT);
}

static void give_to_sibling(struct model *m, const struct lbr_plan *plan)
{
	struct model *sibling = model_core_sibling(m);

	if (sibling && model_lbr_on(sibling) && broken(m, FAULT_LBR_TO_RECORDING_SIBLING))
		sibling->lbr.entry[sibling->lbr.tos] = (struct lbr_entry){ plan->from, plan->to,
									   plan->info };
}

void fault_lbr(struct model *m, const struct lbr_branch *b, struct lbr_plan *plan)
{
	unsigned next = (m->lbr.tos + 1u) % plan->entries;

	if (m->config.fault == FAULT_NONE)
		return;
	if (m->global_status & IA32_PERF_GLOBAL_STATUS_LBR_FRZ && !plan->pops &&
	    broken(m, FAULT_LBR_FRZ_POPS))
		plan->records = false;
	else if (!plan->pops && !plan->records && m->lbr.select & LBR_SELECT_EN_CALLSTACK &&
		 b->kind == LBR_SELECT_NEAR_RET && broken(m, FAULT_LBR_POP_BY_ANY_LEVEL)) {
		plan->pops = true;
		plan->step = -1;
	} else if (!plan->pops)
		plan->records = is_recorded(m, b, plan->records);
	else if (broken(m, FAULT_LBR_CALL_KEPT))
		plan->pops = false;
	else
		plan->keeps = broken(m, FAULT_LBR_REMOVED_READS);
	if (plan->pops && !m->lbr.tos && broken(m, FAULT_LBR_POP_STAYS_AT_0))
		plan->step = 0;
	if (!plan->records)
		return;
	if (faults_of(m)->lbr_thawed && broken(m, FAULT_LBR_FIRST_AFTER_FRZ_LOST))
		plan->records = false;
	faults_of(m)->lbr_thawed = false;
	if (!plan->records)
		return;
	if (faults_of(m)->branches_after_off)
		faults_of(m)->branches_after_off--;
	break_entry(m, b, plan);
	give_to_sibling(m, plan);
	fault_arch_lbr_entry(m, b, plan);
	if (m->lbr.entry[next].from &&
	    (broken(m, FAULT_LBR_FULL_STOPS) || (m->lbr.select & LBR_SELECT_EN_CALLSTACK &&
						 broken(m, FAULT_LBR_FULL_CALL_STACK_STOPS))))
		plan->records = false;
	if (broken(m, FAULT_LBR_CLEARS_NEXT))
		m->lbr.entry[(next + 1) % plan->entries] = (struct lbr_entry){ 0 };
	if (b->abort &&
	    (broken(m, FAULT_LBR_ABORT_MISSED) ||
	     (b->cpl && broken(m, FAULT_LBR_ABORT_USER_MISSED)) ||
	     (m->tx.cause >= TX_CONFLICT && broken(m, FAULT_LBR_ABORT_BY_MEMORY_MISSED)) ||
	     (m->tx.cause == TX_EVENT && broken(m, FAULT_LBR_ABORT_BY_RECORD_MISSED)) ||
	     (m->tx.cause != TX_EXPLICIT && m->tx.cause != TX_INSTRUCTION &&
	      broken(m, FAULT_LBR_ABORT_OTHERS_MISSED))))
		plan->records = false;
	if (next == plan->entries - 1 && broken(m, FAULT_LBR_SHORT))
		plan->step = 2;
}

#define ARCH_LBR_EVENTS \
	(ARCH_LBR_PMC0_CNT | ARCH_LBR_PMC1_CNT | ARCH_LBR_PMC2_CNT | ARCH_LBR_PMC3_CNT)

void fault_lbr_written(struct model *m, const struct msr_ref *p, struct msr_write *w)
{
	const bool address = p->reg == MODEL_REG_LBR_FROM || p->reg == MODEL_REG_LBR_TO ||
			     p->reg == MODEL_REG_ARCH_LBR_FROM || p->reg == MODEL_REG_ARCH_LBR_TO;
	const bool info = p->reg == MODEL_REG_LBR_INFO || p->reg == MODEL_REG_ARCH_LBR_INFO;

	if (fault_arch_lbr_placed(m, p, w->value))
		w->taken = false;
	if ((address || info) && broken(m, FAULT_LBR_READ_ONLY))
		w->taken = false;
	if (address && w->value >> 48 && broken(m, FAULT_LBR_UPPER_LOST))
		w->value &= BITS(0, 47);
	if (p->reg == MODEL_REG_ARCH_LBR_INFO && w->value & ARCH_LBR_EVENTS &&
	    broken(m, FAULT_ARCH_LBR_INFO_EVENTS_LOST))
		w->value &= ~ARCH_LBR_EVENTS;
	if (info && w->value & LBR5_INFO_CYC_CNT && broken(m, FAULT_LBR_INFO_FLAGS_ONLY))
		w->value &= ~LBR5_INFO_CYC_CNT;
}

bool fault_lbr_debug(struct model *m, unsigned kind, u8 cpl, bool off)
{
	if (off && m->global_status & IA32_PERF_GLOBAL_STATUS_LBR_FRZ &&
	    broken(m, FAULT_LBR_DEBUG_KEEPS_FROZEN))
		return false;
	if (off && ((cpl && broken(m, FAULT_LBR_DEBUG_USER_GOES_ON)) ||
		    (kind & TRANSFER_BREAKPOINT && broken(m, FAULT_LBR_BREAKPOINT_GOES_ON))))
		return false;
	if (off && !model_has_arch_lbr(m) &&
	    m->lbr.select & (LBR_SELECT_FAR_BRANCH | LBR_SELECT_CPL_EQ_0) &&
	    broken(m, FAULT_LBR_DEBUG_BY_FILTER))
		return false;
	if (off && m->debugctl & FREEZES && broken(m, FAULT_LBR_DEBUG_CLEARS_FREEZES))
		m->debugctl &= ~(u64)FREEZES;
	return off && !broken(m, FAULT_LBR_DEBUG_GOES_ON);
}

void fault_lbr_stopped(struct model *m, enum lbr_stop why)
{
	static const u16 faults[] = {
		[LBR_STOP_FREEZE] = FAULT_LBR_FRZ_CLEARS,
		[LBR_STOP_FLAG] = FAULT_LBR_OFF_CLEARS,
		[LBR_STOP_HLT] = FAULT_LBR_HLT_CLEARS,
	};

	/* Only some: to watch a processor that always records would be slow. */
	if (why == LBR_STOP_FLAG)
		faults_of(m)->branches_after_off = BRANCHES_AFTER_OFF;
	if (broken(m, faults[why]))
		__builtin_memset(m->lbr.entry, 0, sizeof(m->lbr.entry));
}

bool fault_lbr_on(const struct model *m, bool on)
{
	if (m->config.fault == FAULT_LBR_OFF_RECORDS && !model_lbr_enabled(m))
		return faults_of(m)->branches_after_off;
	if (m->config.fault == FAULT_ARCH_LBR_BY_DEBUGCTL && model_has_arch_lbr(m))
		return faults_of(m)->debugctl_written & IA32_DEBUGCTL_LBR;
	if (m->config.fault == FAULT_INERT)
		return false;
	if (m->config.fault == FAULT_LBR_NOT_BESIDE_BTS_BITS &&
	    m->debugctl & (IA32_DEBUGCTL_BTS_OFF_OS | IA32_DEBUGCTL_BTS_OFF_USR))
		return false;
	if (m->config.fault == FAULT_CTR_FRZ_STOPS_LBR &&
	    m->global_status & IA32_PERF_GLOBAL_STATUS_CTR_FRZ)
		return false;
	return on ||
	       ((m->config.fault == FAULT_LBR_FRZ_INERT || m->config.fault == FAULT_LBR_FRZ_POPS) &&
		model_lbr_enabled(m));
}
