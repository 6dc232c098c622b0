/* SPDX-License-Identifier: MIT */
/* Faults of architectural PEBS: what is enabled, the groups, the bytes, the buffer. */
#include "refpmu/faults/archpebs/archpebs.h"
#include "refpmu/faults/broken.h"
#include "refpmu/faults/state.h"
#include "refpmu/model/access.h"
#include "refpmu/model/lbr.h"
#include "spec/x86.h"

#define NOT_WRITTEN	0xa5a5a5a5a5a5a5a5ULL
#define BASIC_AT	ARCH_PEBS_HEADER_BYTES
#define ENTRIES_WHILE_OFF 8	/* of fault arch-lbr-8-while-off */
#define INSTRUCTIONS_LATE 2	/* instructions of the delay of fault arch-pdist-fixed-late */
#define MOST_ENTRIES	32	/* entries of the last branch records, at most */

bool fault_arch_enabled(struct model *m, unsigned counter, bool enabled)
{
	if (!enabled && model_arch_pebs_counters(m) & BIT(counter) &&
	    m->pebs_index & IA32_PEBS_INDEX_EN && broken(m, FAULT_ARCH_ANY_COUNTER))
		return true;
	return enabled;
}

/* The lowest counter that makes records. */
static unsigned first_enabled(const struct model *m, unsigned x)
{
	for (unsigned i = 0; i < x; i++)
		if (m->cfg_c[i] & IA32_PMC_GP0_CFG_C_PEBS_EN)
			return i;
	return x;
}

u64 fault_arch_config(struct model *m, unsigned x, u64 config)
{
	const unsigned first = first_enabled(m, x);

	if (x >= FIRST_FIXED && !first && broken(m, FAULT_ARCH_LAYOUT_OF_PMC0))
		return m->cfg_c[0];
	return first != x && broken(m, FAULT_ARCH_ONE_LAYOUT) ? m->cfg_c[first] : config;
}

static void layout_of_counters(struct model *m, struct arch_layout *l)
{
	if (!(l->counters & BITS(8, FIRST_FIXED - 1)) || !broken(m, FAULT_ARCH_COUNTERS_8))
		return;
	l->counters &= ~BITS(8, FIRST_FIXED - 1);
	if (!(l->counters & BITS(0, FIRST_FIXED - 1)))
		l->groups &= ~IA32_PMC_GP0_CFG_C_CNTR_GP;
}

static void layout_of_sampler(struct model *m, unsigned x, struct arch_layout *l)
{
	const u64 kind = x < FIRST_FIXED ? IA32_PMC_GP0_CFG_C_CNTR_GP :
					   IA32_PMC_GP0_CFG_C_CNTR_FIXED;

	if (!(m->cfg_c[x] & kind) || l->counters & BIT(x) || !broken(m, FAULT_ARCH_SAMPLER_ALWAYS))
		return;
	l->counters |= BIT(x);
	l->groups |= kind;
}

static bool is_zero(const u8 *bytes, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (bytes[i])
			return false;
	return true;
}

static void layout_of_ymmh(struct model *m, unsigned x, struct arch_layout *l)
{
	enum { FIRST_FOUR = 4 };
	const bool both = l->xstate_bv & BIT(ARCH_PEBS_XER_XMM);
	u8 kept[ARCH_PEBS_XER_YMMH_BYTES];

	__builtin_memcpy(kept, l->ymmh, sizeof(kept));
	if (broken(m, FAULT_ARCH_YMMH_LOWER_HALVES))
		__builtin_memcpy(l->ymmh, l->xmm, sizeof(l->ymmh));
	if (both && broken(m, FAULT_ARCH_YMMH_FIRST)) {
		__builtin_memcpy(l->ymmh, l->xmm, sizeof(l->ymmh));
		__builtin_memcpy(l->xmm, kept, sizeof(l->xmm));
	}
	if ((both && broken(m, FAULT_ARCH_YMMH_MISSING)) ||
	    (x >= FIRST_FOUR && broken(m, FAULT_ARCH_YMMH_FIRST_FOUR)) ||
	    (is_zero(l->ymmh, sizeof(l->ymmh) / 2) && broken(m, FAULT_ARCH_YMMH_LOWER_REGISTERS)))
		l->xstate_bv &= ~BIT(ARCH_PEBS_XER_YMMH);
}

void fault_arch_layout(struct model *m, unsigned x, struct arch_layout *l)
{
	layout_of_sampler(m, x, l);
	layout_of_counters(m, l);
	if (x && l->metrics && broken(m, FAULT_ARCH_METRICS_OF_PMC0)) {
		l->metrics = false;
		l->groups &= ~IA32_PMC_GP0_CFG_C_CNTR_METRICS;
	}
	if (l->xstate_bv & BIT(ARCH_PEBS_XER_XMM) && is_zero(l->xmm, ARCH_PEBS_XER_XMM_BYTES / 2) &&
	    broken(m, FAULT_ARCH_XER_LOWER_REGISTERS))
		l->xstate_bv &= ~BIT(ARCH_PEBS_XER_XMM);
	if (l->xstate_bv & BIT(ARCH_PEBS_XER_YMMH))
		layout_of_ymmh(m, x, l);
	if (!(l->groups & ARCH_PEBS_LBR))
		return;
	if (broken(m, FAULT_ARCH_LBR_WITHOUT_HEAD))
		l->ler = 0;
	if ((l->groups & ARCH_PEBS_LBR) == ARCH_PEBS_LBR && l->entries &&
	    l->entries != MOST_ENTRIES && broken(m, FAULT_ARCH_LBR_32))
		l->entries = MOST_ENTRIES;
	if (l->entries != model_lbr_entries(m) && broken(m, FAULT_ARCH_LBR_ALL))
		l->entries = model_lbr_entries(m);
	if (l->entries > ENTRIES_WHILE_OFF && !model_lbr_enabled(m) &&
	    broken(m, FAULT_ARCH_LBR_8_WHILE_OFF))
		l->entries = ENTRIES_WHILE_OFF;
}

/* ---- bytes, of the first fragment ---- */

static unsigned aux_at(void)
{
	return BASIC_AT + ARCH_PEBS_BASIC_BYTES;
}

static unsigned gpr_at(const struct arch_layout *l)
{
	return aux_at() + (l->groups & ARCH_PEBS_AUX ? (unsigned)ARCH_PEBS_AUX_BYTES : 0);
}

static unsigned xer_at(const struct arch_layout *l)
{
	return gpr_at(l) + (l->groups & ARCH_PEBS_GPR ? (unsigned)ARCH_PEBS_GPR_BYTES : 0);
}

static void exchange(u8 *a, u8 *b, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++) {
		u8 kept = a[i];

		a[i] = b[i];
		b[i] = kept;
	}
}

static void header(struct model *m, const struct retire_ctx *s, u8 *bytes)
{
	u64 format = get64(bytes);

	if (broken(m, FAULT_ARCH_SIZE_OF_GROUPS))
		format -= ARCH_PEBS_HEADER_BYTES;
	if (format & ARCH_PEBS_MODE_64 && broken(m, FAULT_ARCH_MODE_CLEAR))
		format &= ~ARCH_PEBS_MODE_64;
	if (format & ARCH_PEBS_MODE_64 && s->r->cpl && broken(m, FAULT_ARCH_MODE_CLEAR_CPL3))
		format &= ~ARCH_PEBS_MODE_64;
	if (s->r->compatibility && broken(m, FAULT_ARCH_MODE_IN_COMPATIBILITY))
		format |= ARCH_PEBS_MODE_64;
	if (format & ARCH_PEBS_GPR && broken(m, FAULT_ARCH_HEADER_WITHOUT_GPR))
		format &= ~ARCH_PEBS_GPR;
	if (format & ARCH_PEBS_CONT && broken(m, FAULT_ARCH_CONT_LOST))
		format &= ~ARCH_PEBS_CONT;
	else if (broken(m, FAULT_ARCH_CONT_SET))
		format |= ARCH_PEBS_CONT;
	put64(bytes, format);
	if (broken(m, FAULT_ARCH_RESERVED_KEPT))
		put64(bytes + ARCH_PEBS_HEADER_reserved, NOT_WRITTEN);
}

static void basic(struct model *m, unsigned x, u8 *at)
{
	enum { FIRST_FOUR = 4 };

	if (x >= FIRST_FOUR && broken(m, FAULT_ARCH_IP_FIRST_FOUR))
		put64(at + ARCH_PEBS_BASIC_eventing_ip, 0);
	if (broken(m, FAULT_ARCH_BASIC_EXCHANGED))
		exchange(at + ARCH_PEBS_BASIC_applicable, at + ARCH_PEBS_BASIC_tsc, sizeof(u64));
	if (get64(at + ARCH_PEBS_BASIC_retire) & ARCH_PEBS_RETIRE_VALID &&
	    broken(m, FAULT_ARCH_RETIRE_ZERO))
		put64(at + ARCH_PEBS_BASIC_retire, ARCH_PEBS_RETIRE_VALID);
	if (x >= FIRST_FIXED && broken(m, FAULT_ARCH_FIXED_AT_8))
		put64(at + ARCH_PEBS_BASIC_applicable, BIT(8 + x - FIRST_FIXED));
}

static void source(struct model *m, enum event_kind kind, u8 *at)
{
	const u64 lock = model_further_bits(m, &(struct tagged_load){ .locked = true });
	const u64 stlb = model_further_bits(m, &(struct tagged_load){ .stlb_miss = true });
	const u64 source = get64(at);

	if (kind == EK_STORE_SAMPLE) {
		if (source & (lock | stlb) && broken(m, FAULT_ARCH_STORE_BITS_LOST))
			put64(at, source & ~(lock | stlb));
		return;
	}
	if (source & lock && broken(m, FAULT_ARCH_AUX_UNLOCKED))
		put64(at, source & ~lock);
	if (source & stlb && broken(m, FAULT_ARCH_AUX_STLB_HIT))
		put64(at, source & ~stlb);
}

static void aux(struct model *m, enum event_kind kind, u8 *at)
{
	const u64 address = get64(at + ARCH_PEBS_AUX_data_linear_address);
	const u64 latency = get64(at + ARCH_PEBS_AUX_latency);

	source(m, kind, at + ARCH_PEBS_AUX_data_source);
	if (get64(at + ARCH_PEBS_AUX_data_source) && broken(m, FAULT_ARCH_AUX_AS_MEMORY))
		exchange(at + ARCH_PEBS_AUX_reserved_08, at + ARCH_PEBS_AUX_data_source,
			 sizeof(u64));
	if (address >> 32 && broken(m, FAULT_ARCH_AUX_ADDRESS_32))
		put64(at + ARCH_PEBS_AUX_data_linear_address, (u32)address);
	if (latency >> ARCH_PEBS_CACHE_LATENCY_SHIFT && broken(m, FAULT_ARCH_CACHE_LATENCY_ZERO))
		put64(at + ARCH_PEBS_AUX_latency, latency & ARCH_PEBS_INSTRUCTION_LATENCY);
	if (latency && broken(m, FAULT_ARCH_LATENCIES_EXCHANGED))
		put64(at + ARCH_PEBS_AUX_latency, latency >> ARCH_PEBS_CACHE_LATENCY_SHIFT |
							  (latency & ARCH_PEBS_INSTRUCTION_LATENCY)
								  << ARCH_PEBS_CACHE_LATENCY_SHIFT);
}

static void xer(struct model *m, u8 *at)
{
	u8 *xmm = at + ARCH_PEBS_XER_BYTES;

	if (broken(m, FAULT_ARCH_XSTATE_BV_ZERO))
		put64(at + ARCH_PEBS_XER_xstate_bv, 0);
	if (broken(m, FAULT_ARCH_XMM_REVERSED))
		for (unsigned i = 0; i < ADAPTIVE_XMM_REGISTERS / 2; i++)
			exchange(xmm + i * ADAPTIVE_XMM_REGISTER_BYTES,
				 xmm + (ADAPTIVE_XMM_REGISTERS - 1 - i) *
						 ADAPTIVE_XMM_REGISTER_BYTES,
				 ADAPTIVE_XMM_REGISTER_BYTES);
}

static void gpr(struct model *m, u8 *at)
{
	const u64 flags = get64(at + ARCH_PEBS_GPR_rflags);

	if (flags >> 16 && broken(m, FAULT_ARCH_RFLAGS_16))
		put64(at + ARCH_PEBS_GPR_rflags, (u16)flags);
	if (flags & (RFLAGS_IOPL | RFLAGS_NT) && broken(m, FAULT_ARCH_RFLAGS_NO_IOPL))
		put64(at + ARCH_PEBS_GPR_rflags, flags & ~(RFLAGS_IOPL | RFLAGS_NT));
}

/* The counters group is the last group of the record. */
static void counters(struct model *m, const struct arch_layout *l, u8 *end)
{
	unsigned n = bits_set(l->counters);
	u8 *first;

	first = end - 8ULL * (n + (l->metrics ? 2 : 0) + (n & 1));

	if (n > 1 && broken(m, FAULT_ARCH_COUNTERS_REVERSED))
		for (unsigned i = 0; i < n / 2; i++)
			exchange(first + 8ULL * i, first + 8ULL * (n - 1 - i), sizeof(u64));
	if (l->metrics && broken(m, FAULT_ARCH_METRICS_FIRST))
		exchange(first + 8ULL * n, first + 8ULL * (n + 1), sizeof(u64));
	if (l->metrics && m->active & BIT(SLOTS_COUNTER) &&
	    broken(m, FAULT_ARCH_METRICS_RUNNING_ZERO))
		__builtin_memset(first + 8ULL * n, 0, 2 * sizeof(u64));
}

static void remove_bytes(u8 *bytes, unsigned *size, unsigned at, unsigned n)
{
	for (unsigned i = at; i + n < *size; i++)
		bytes[i] = bytes[i + n];
	*size -= n;
	put64(bytes, get64(bytes) - n);
}

void fault_arch_bytes(struct model *m, const struct retire_ctx *s, unsigned x,
		      const struct arch_layout *l, u8 *bytes, unsigned *size)
{
	if (l->groups & ARCH_PEBS_CNTR)
		counters(m, l, bytes + *size);
	basic(m, x, bytes + BASIC_AT);
	if (l->groups & ARCH_PEBS_AUX)
		aux(m, s->rule[x]->kind, bytes + aux_at());
	if (l->xstate_bv & BIT(ARCH_PEBS_XER_XMM))
		xer(m, bytes + xer_at(l));
	if (l->groups & ARCH_PEBS_GPR)
		gpr(m, bytes + gpr_at(l));
	if (l->groups & ARCH_PEBS_GPR && broken(m, FAULT_ARCH_GPR_SHORT))
		remove_bytes(bytes, size, gpr_at(l) + ARCH_PEBS_GPR_ssp, 16);
	if (l->groups & ARCH_PEBS_AUX && l->groups & ARCH_PEBS_GPR &&
	    broken(m, FAULT_ARCH_GPR_FIRST)) {
		u8 kept[ARCH_PEBS_AUX_BYTES];

		__builtin_memcpy(kept, bytes + aux_at(), sizeof(kept));
		for (unsigned i = 0; i < ARCH_PEBS_GPR_BYTES; i++)
			bytes[aux_at() + i] = bytes[gpr_at(l) + i];
		__builtin_memcpy(bytes + aux_at() + ARCH_PEBS_GPR_BYTES, kept, sizeof(kept));
	}
	header(m, s, bytes);
}

/* ---- the buffer ---- */

/* Bytes of the record up to the end of its first page. */
static u64 in_first_page(const struct arch_plan *plan)
{
	const u64 left = ARCH_PEBS_LEAST_BUFFER - plan->at % ARCH_PEBS_LEAST_BUFFER;

	return plan->size < left ? plan->size : left;
}

#define BYTES_64K	0x10000u

void fault_arch_fits(struct model *m, struct arch_plan *plan)
{
	const u64 first = in_first_page(plan);

	if (first < plan->size && broken(m, FAULT_ARCH_SECOND_PAGE_ZERO))
		__builtin_memset(plan->bytes + first, 0, plan->size - first);
	if (plan->fits && plan->at + plan->size > plan->begin + ARCH_PEBS_LEAST_BUFFER &&
	    broken(m, FAULT_ARCH_BUFFER_1000H))
		plan->fits = false;
	if (plan->fits && plan->at + plan->size > plan->begin + BYTES_64K &&
	    broken(m, FAULT_ARCH_BUFFER_64K))
		plan->fits = false;
	if (plan->fits)
		return;
	if (plan->at < plan->end && broken(m, FAULT_ARCH_END_UNCHECKED))
		plan->fits = true;
	if (broken(m, FAULT_ARCH_OVERRUN))
		plan->fits = true;
	if (broken(m, FAULT_ARCH_WRAPS)) {
		plan->fits = true;
		plan->at = plan->begin;
		m->pebs_index &= ~IA32_PEBS_INDEX_WR;
	}
}

static u64 field(u64 index, u64 mask)
{
	return (index & mask) / (mask & -mask);
}

static void threshold(struct arch_plan *plan, bool now)
{
	const u64 bit = IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD;

	plan->threshold = now;
	plan->set = now ? plan->set | bit : plan->set & ~bit;
}

/* The first counter whose record is of this instruction. */
static unsigned first_of_instruction(struct model *m, unsigned x)
{
	if (faults_of(m)->arch_recorded != faults_of(m)->sequence)
		faults_of(m)->arch_first = (u8)x;
	faults_of(m)->arch_recorded = faults_of(m)->sequence;
	return faults_of(m)->arch_first;
}

static void reload(struct model *m, unsigned x, struct arch_plan *plan)
{
	const unsigned first = first_of_instruction(m, x);

	if (x && broken(m, FAULT_ARCH_RELOAD_PMC0))
		plan->reload = model_reload_value(m, 0);
	if (x >= FIRST_FIXED + 4 && broken(m, FAULT_ARCH_RELOAD_FIXED_4))
		plan->reload = model_reload_value(m, x - 4);
	if (x != first && broken(m, FAULT_ARCH_RELOAD_OF_FIRST))
		plan->reload = model_reload_value(m, first);
}

void fault_arch_plan(struct model *m, unsigned x, struct arch_plan *plan)
{
	const u64 wr = field(plan->index, IA32_PEBS_INDEX_WR);
	const u64 thresh = field(plan->index, IA32_PEBS_INDEX_THRESH);

	if (!plan->fits)
		return;
	if (broken(m, FAULT_ARCH_WR_IN_BYTES))
		plan->index = (m->pebs_index & ~IA32_PEBS_INDEX_WR) |
			      (((m->pebs_index & IA32_PEBS_INDEX_WR) +
				plan->size * (u64)ARCH_PEBS_UNIT) &
			       IA32_PEBS_INDEX_WR);
	if (broken(m, FAULT_ARCH_CLEARS_OTHERS))
		plan->cleared = IA32_PERF_GLOBAL_STATUS_OVF_PMC |
				IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR;
	if (broken(m, FAULT_ARCH_NO_RELOAD))
		plan->reloads = false;
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (i != x && m->counter[i].armed && broken(m, FAULT_ARCH_FIRST_ENDS_OTHERS))
			plan->covered |= BIT(i);
	reload(m, x, plan);
	if (x >= FIRST_FIXED && plan->threshold && broken(m, FAULT_ARCH_THRESHOLD_NOT_FIXED))
		threshold(plan, false);
	if (x >= FIRST_FIXED + 4 && plan->threshold && broken(m, FAULT_ARCH_OVFBUF_FIXED_4))
		plan->set |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	if (!plan->threshold && m->global_status & IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD &&
	    broken(m, FAULT_ARCH_THRESHOLD_FALLS))
		plan->cleared |= IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD;
	if (!plan->threshold && broken(m, FAULT_ARCH_INTERRUPT_EACH))
		threshold(plan, true);
	if (plan->threshold && wr == thresh && broken(m, FAULT_ARCH_THRESHOLD_BEYOND))
		threshold(plan, false);
	if (plan->threshold && broken(m, FAULT_ARCH_THRESHOLD_NO_RELOAD))
		plan->reloads = false;
	if (plan->threshold && thresh == 1 && faults_of(m)->thresh_interrupted &&
	    broken(m, FAULT_ARCH_THRESHOLD_ONE))
		threshold(plan, false);
	faults_of(m)->thresh_interrupted |= plan->threshold;
	if (plan->threshold && broken(m, FAULT_ARCH_THRESHOLD_OVFBUF))
		plan->set = IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	if (broken(m, FAULT_ARCH_OVFBUF_TOO))
		plan->set |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	if (broken(m, FAULT_ARCH_BASE_LINEAR))
		plan->linear = true;
}

/* Does the overflow of counter i reload another counter? */
static bool reloads_another(const struct model *m, unsigned i)
{
	for (unsigned n = 0; n < MODEL_MAX_COUNTERS; n++)
		if (n != i && m->cfg_b[n] & model_global_bit(i))
			return true;
	return false;
}

void fault_ext_overflow(struct model *m, unsigned i, struct counter_overflow *overflow)
{
	if (overflow->interrupt && reloads_another(m, i) && broken(m, FAULT_RELOAD_WITHOUT_PMI))
		overflow->interrupt = false;
	if (!(overflow->due && model_pdist_counters(m) & BIT(i)))
		return;
	if (m->pebs_index & IA32_PEBS_INDEX_WR && broken(m, FAULT_ARCH_PDIST_FIRST_ALONE))
		overflow->due = false;
	if (m->cfg_c[i] & model_arch_pebs_groups(m) && broken(m, FAULT_ARCH_PDIST_BASIC_ALONE))
		overflow->due = false;
	if (broken(m, FAULT_ARCH_PDIST_NEXT))
		overflow->due = false;
	if (i == FIRST_FIXED && broken(m, FAULT_ARCH_PDIST_FIXED_LATE)) {
		overflow->due = false;
		overflow->shadow = INSTRUCTIONS_LATE;
	}
}
