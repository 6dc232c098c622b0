/* SPDX-License-Identifier: MIT */
/*
 * Effects of instructions: SDM chapter 19's events of retired instructions, branches and memory
 * accesses; "Repeat String Operation Prefix": one instruction, for any number of iterations.
 */
#include "tests/random/trace.h"

#include "pmu/adaptive.h"
#include "spec/msr.h"

#define LINE	64
#define DRAW_VECTORS_AT 16	/* offset in the constants: after those of R8 to R12 */
#define NEXT_LENGTH (DRAW_NEXT_ADD + DRAW_NEXT_JMP)

/* Every piece ends with ADD R15, 8 and JMP [R15 - 8]. */
static const struct draw_row row_add = { .length = DRAW_NEXT_ADD };
static const struct draw_row row_jmp = { .flags = ROW_BRANCH | ROW_TAKEN | ROW_INDIRECT,
					 .length = DRAW_NEXT_JMP,
					 .loads = 1,
					 .load = { AT_15, 8, -8 } };

u64 draw_constant(const struct draw_case *c, unsigned n)
{
	return (c->constant + n) * 0x9e3779b97f4a7c15ULL | 1;
}

u64 draw_pointer(const struct draw_env *env, const struct draw_case *c, unsigned n)
{
	const int16_t offset[] = { c->si, c->bp, c->bx };

	return env->data[n] + (u64)(int64_t)offset[n] +
	       (c->high >> n & 1 ? env->above[c->upper] : 0);
}

u64 draw_code_of(const struct draw_env *env, const struct draw_case *c)
{
	return env->code + (c->high & 8 ? env->above[c->upper] : 0);
}

const struct draw_event *draw_event_of(const struct draw_env *env, u64 select)
{
	for (unsigned i = 0; i < env->events; i++)
		if (env->event[i].code == (u16)select)
			return &env->event[i];
	return NULL;
}

u64 draw_vector(const struct draw_case *c, unsigned n, unsigned half)
{
	return draw_constant(c, DRAW_VECTORS_AT + 2 * n + half);
}

unsigned draw_adaptive_bytes(u64 config)
{
	struct adaptive_layout layout;

	/* Without the group's bit the counters' bits add nothing. */
	if (!(config & PEBS_DATA_CFG_CNTR))
		config &= ~(PEBS_DATA_CFG_CNTR_GP | PEBS_DATA_CFG_CNTR_FIXED);
	return adaptive_lay_out(config, &layout) ? layout.size : 0;
}

bool draw_is_adaptive(u64 select, u64 fixed_control, unsigned i)
{
	if (i < DRAW_GP)
		return select & IA32_PERFEVTSEL_ADAPTIVE;
	return fixed_control & IA32_FIXED_CTR_CTRL_ADAPTIVE0 << 4 * (i - DRAW_GP);
}

struct walk {
	struct trace *trace;
	u64 rsp, r15;
	u8 user, if_set, xmm0;
};

static bool add(struct walk *w, const struct draw_row *row, u64 ip, unsigned piece, unsigned slot)
{
	struct trace *t = w->trace;

	if (t->steps == TRACE_STEPS)
		return false;
	w->rsp += (u64)(int64_t)row->stack;
	if (row == &row_add)
		w->r15 += 8;
	if (row->flags & ROW_IF_SET)
		w->if_set = 1;
	if (row->flags & ROW_IF_CLEARED)
		w->if_set = 0;
	if (row->flags & ROW_XMM0_ZERO)
		w->xmm0 = TRACE_XMM0_ZERO;
	if (row->flags & ROW_XMM0)
		w->xmm0 = TRACE_XMM0_UNKNOWN;
	t->step[t->steps++] = (struct trace_step){
		.row = row, .ip = ip, .rsp = w->rsp, .r15 = w->r15, .piece = (u16)piece,
		.user = w->user, .slot = (u8)slot, .if_set = w->if_set,
		.xmm0 = w->xmm0,
	};
	if (row->flags & ROW_TO_USER)
		w->user = 1;
	if (row->flags & ROW_TO_KERNEL)
		w->user = 0;
	return true;
}

/* The slot is the digit at the end of a name like "write3". */
static unsigned slot_of(const struct draw_piece *piece)
{
	const char *at = piece->name;

	if (!(piece->flags & PIECE_OPERATION))
		return 0;
	while (at[1])
		at++;
	return (unsigned)(*at - '0') % DRAW_OPERATIONS;
}

bool trace_make(const struct draw_env *env, const struct draw_case *c, struct trace *trace)
{
	u64 code = draw_code_of(env, c);
	struct walk w = { trace, env->stack, env->table, 0, env->flags != 0, TRACE_XMM0_DRAWN };

	trace->steps = 0;
	for (unsigned p = 0; p < c->pieces; p++) {
		const struct draw_piece *piece = piece_get(c->piece[p]);
		u64 next = code + piece->next;
		unsigned rows = piece_rows(c->piece[p]);

		for (unsigned r = 0; r < rows; r++) {
			const struct draw_row *row = &draw_rows[piece->first + r];

			if (!add(&w, row,
				 row->flags & ROW_NOT_HERE ? 0 : code + row->offset,
				 c->piece[p], slot_of(piece)))
				return false;
			if (row->flags & ROW_STOP)
				return true;
		}
		if (!add(&w, &row_add, next, c->piece[p], 0) ||
		    !add(&w, &row_jmp, next + DRAW_NEXT_ADD, c->piece[p], 0))
			return false;
	}
	return false;
}

u64 trace_next_ip(const struct trace *trace, unsigned i)
{
	return i + 1 < trace->steps ? trace->step[i + 1].ip :
				      trace->step[i].ip + trace->step[i].row->length;
}

int trace_find(const struct trace *trace, u64 ip)
{
	for (unsigned i = 0; ip && i < trace->steps; i++)
		if (trace->step[i].ip == ip)
			return (int)i;
	return -1;
}

u64 trace_address(const struct draw_env *env, const struct draw_case *c,
		  const struct trace_step *step, const struct row_operand *operand)
{
	u64 offset = (u64)(int64_t)operand->offset;

	if (!operand->size)
		return 0;
	switch (operand->base) {
	case AT_SI:
	case AT_BP:
	case AT_BX:
		return draw_pointer(env, c, (unsigned)operand->base - AT_SI) + offset;
	case AT_14:
		return env->frame + offset;
	case AT_13:
		return env->operations + offset;
	case AT_15:
		return step->r15 + offset;
	case AT_SP:
		return step->rsp - (u64)(int64_t)step->row->stack + offset;
	default:
		return 0;
	}
}

/* How many of these consecutive accesses are split over two lines. */
static struct span splits(u64 address, unsigned size, unsigned accesses)
{
	u64 n = 0;

	if (!accesses || !size)
		return (struct span){ 0, accesses };
	for (unsigned i = 0; i < accesses; i++, address += size)
		n += address % LINE + size > LINE;
	return (struct span){ n, n };
}

static struct span exactly(u64 n)
{
	return (struct span){ n, n };
}

#define ROW_EXITS	(ROW_WRMSR | ROW_RDMSR | ROW_RDPMC)	/* may exit to a hypervisor */
#define MICROCODE_MOST	8	/* accesses */
/* Micro-operations off the reference PMU: a gate, a task-state segment, descriptors and their
 * accessed bits, and a frame of five or more words may be some each. */
#define MICROCODE_UOPS	64

bool trace_exits(const struct draw_row *row)
{
	return row->flags & (ROW_EXITS | ROW_CPUID);
}

static struct span up_to(u64 most)
{
	return (struct span){ 0, most };
}

static u64 errata_of_far(const struct draw_event *event)
{
	if (event->kind == EK_INSTRUCTIONS)
		return BIT(ERRATUM_FAR_INSTRUCTIONS) | BIT(ERRATUM_IRET);
	return event->kind == EK_BRANCHES ? BIT(ERRATUM_FAR_BRANCHES) : 0;
}

u64 trace_exit_adds(const struct draw_env *env, const struct draw_event *event)
{
	return env->hypervisor && env->errata & errata_of_far(event) ? 2 : 0;
}

/* Events that some processors count in addition, by errata: for far transfers and exceptions, for
 * string instructions, for instructions that exit to a hypervisor. */
static u64 counted_again(const struct draw_env *env, const struct draw_event *event,
			 const struct draw_row *row)
{
	const u32 far = ROW_FAR | ROW_REFUSED;

	if (env->errata & BIT(ERRATUM_FAST_STRINGS) && row->flags & ROW_FAST_STRING)
		return row->stores ? row->stores : 1;
	if (row->flags & ROW_EXITS)
		return trace_exit_adds(env, event);
	return env->errata & errata_of_far(event) && row->flags & far;
}

/* With events of micro-operations, fast-string operation doesn't determine their number. */
static bool is_fast_string(const struct draw_env *env, const struct draw_event *event,
			   const struct draw_row *row)
{
	return row->flags & ROW_FAST_STRING && !(event->flags & EV_INSN) && !env->strict;
}

/* The loads or stores of an instruction. */
static struct span accesses(const struct draw_env *env, const struct draw_event *event,
			    const struct draw_row *row)
{
	u64 n = event->kind == EK_LOADS ? row->loads : row->stores;

	if (event->flags & EV_INSN && n)
		n = 1;
	/* The manual doesn't give the micro-operations of a far transfer. */
	if (row->flags & ROW_MICROCODE)
		return up_to(env->strict || event->flags & EV_INSN ? MICROCODE_MOST :
								     MICROCODE_UOPS);
	/* The manual doesn't say what their microcode loads and stores. */
	if (trace_exits(row) && !env->strict)
		return up_to(event->flags & EV_INSN ? 1 : MICROCODE_UOPS);
	if (event->kind == EK_LOADS && row->flags & ROW_PREFETCH)
		return up_to(env->errata & BIT(ERRATUM_PREFETCH_LOADS) ? 1 : 0);
	if (event->kind == EK_STORES && row->flags & ROW_STORE_FENCE)
		return up_to(!env->strict);
	if (n && is_fast_string(env, event, row))
		return (struct span){ 1, n };
	return exactly(n);
}

static struct span branches(const struct draw_row *row, u32 flag, u64 again)
{
	bool is = row->flags & flag;

	return (struct span){ is, is + again };
}

struct span trace_count(const struct draw_env *env, const struct draw_case *c,
			const struct draw_event *event, const struct trace_step *step)
{
	const struct draw_row *row = step->row;
	bool far = row->flags & ROW_FAR;
	const u64 again = counted_again(env, event, row);

	/* "An instruction that faults must not count": no source says what processors add. */
	if (row->flags & ROW_REFUSED &&
	    (event->kind == EK_INSTRUCTIONS || event->kind == EK_BRANCHES))
		return up_to(!env->strict + again);
	switch (event->kind) {
	case EK_INSTRUCTIONS:
		/* What is emulated doesn't retire. KVM before Linux 5.17 doesn't add it. */
		return (struct span){ !(env->hypervisor && !env->strict && trace_exits(row)),
				      1 + again };
	case EK_BRANCHES:
		/* The manual doesn't say whether INT n is a retired branch. */
		if (row->flags & ROW_TO_KERNEL)
			return up_to(1 + again);
		return branches(row, ROW_BRANCH, again);
	case EK_COND_BRANCHES:
		if (env->errata & BIT(ERRATUM_LOOPS) && row->flags & ROW_LOOP)
			return up_to(1);
		return branches(row, ROW_CONDITIONAL, again);
	case EK_NEAR_CALLS:
		return branches(row, ROW_CALL, again);
	case EK_NEAR_RETURNS:
		return branches(row, ROW_RETURN, again);
	case EK_NEAR_TAKEN:
		return far ? exactly(0) : branches(row, ROW_TAKEN, again);
	case EK_LOADS:
	case EK_STORES:
		return accesses(env, event, row);
	case EK_LOCK_LOADS:
		return exactly(row->flags & ROW_LOCKED ? row->loads : 0);
	case EK_SPLIT_LOADS:
		if (is_fast_string(env, event, row))
			return up_to(row->loads);
		return splits(trace_address(env, c, step, &row->load), row->load.size, row->loads);
	case EK_SPLIT_STORES:
		if (is_fast_string(env, event, row))
			return up_to(row->stores);
		return splits(trace_address(env, c, step, &row->store), row->store.size,
			      row->stores);
	default:
		return (struct span){ 0, 1ULL << 32 };
	}
}
