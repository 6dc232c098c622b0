/* SPDX-License-Identifier: MIT */
/*
 * Records of architectural PEBS: the groups that IA32_PMC_x_CFG_C selects, in fragments. The header
 * of each fragment has its size and its groups: spec/arch_pebs.def. The sizes of all groups except
 * the counters group are multiples of 16; a fragment is padded to a multiple of 16.
 */
#include "refpmu/model/archpebs/record.h"
#include "refpmu/model/lbr.h"

#define MOST_LATENCY	ARCH_PEBS_RETIRE_LATENCY
/* Latitude pebs-fragments. */
enum { ONE_FRAGMENT, TWO_FRAGMENTS, EMPTY_BETWEEN };

/* IA32_PMC_x_CFG_C[35], ALLOW_IN_RECORD: Linux sets it for each counter whose value it wants.
 * These are the counters among the given ones that have it. */
static u64 allowed_in_record(const struct model *m, u64 among)
{
	u64 all = 0;

	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (among & BIT(i) && m->cfg_c[i] & IA32_PMC_GP0_CFG_C_ALLOW_IN_RECORD)
			all |= BIT(i);
	return all;
}

/* The entries that a code of CFG_C[41:40] selects: Linux setup_arch_pebs_sample_data. */
static unsigned entries_of(const struct model *m, u64 config)
{
	switch ((config & IA32_PMC_GP0_CFG_C_LBR) >> IA32_PMC_GP0_CFG_C_LBR_SHIFT) {
	case 0:
		return 0;
#define ARCH_PEBS_LBR_CODE(code, entries, title, source) \
	case code: \
		return entries ? (entries) : model_lbr_entries(m);
#include "spec/arch_pebs.def"
	}
	return 0;
}

/* "XSAVES init optimization": a component in its initial state isn't stored (a mail on Linux,
 * which quotes the manual). With latitude xer-initial it is. */
static bool is_stored(const struct model *m, const u8 *component, unsigned bytes)
{
	if (m->latitude[LAT_XER_INITIAL])
		return true;
	for (unsigned i = 0; i < bytes; i++)
		if (component[i])
			return true;
	return false;
}

/* CFG_C[48 + n] selects XSAVE's component n, as CPUID.(23H,4):EBX[16 + n] enumerates it. */
static bool asks_for(u64 config, unsigned component)
{
	return config & BIT(IA32_PMC_GP0_CFG_C_XER_SHIFT + component);
}

/* A component that the program hasn't enabled is in its initial state; the latitude doesn't change
 * that. */
static void layout_of_xer(struct model *m, u64 config, struct arch_layout *l)
{
	if (m->host->xmm)
		m->host->xmm(m->host->ctx, l->xmm);
	if (asks_for(config, ARCH_PEBS_XER_XMM) && is_stored(m, l->xmm, sizeof(l->xmm)))
		l->xstate_bv |= BIT(ARCH_PEBS_XER_XMM);
	if (asks_for(config, ARCH_PEBS_XER_YMMH) && m->host->ymmh &&
	    m->host->ymmh(m->host->ctx, l->ymmh) && is_stored(m, l->ymmh, sizeof(l->ymmh)))
		l->xstate_bv |= BIT(ARCH_PEBS_XER_YMMH);
}

/*
 * CFG_C of the counter selects the groups, and each record has BASIC: Linux
 * setup_arch_pebs_sample_data. CFG_C[38:36] select general-purpose counters, fixed counters and
 * metrics.
 */
void model_arch_layout(struct model *m, unsigned x, struct arch_layout *l)
{
	const u64 config = fault_arch_config(m, x, m->cfg_c[x]);
	u64 gp = 0, fixed = 0;

	*l = (struct arch_layout){ .entries = entries_of(m, config) };
	if (config & IA32_PMC_GP0_CFG_C_CNTR_GP)
		gp = allowed_in_record(m, BITS(0, FIRST_FIXED - 1));
	if (config & IA32_PMC_GP0_CFG_C_CNTR_FIXED)
		fixed = allowed_in_record(m, BITS(FIRST_FIXED, MODEL_MAX_COUNTERS - 1));
	l->counters = gp | fixed;
	l->metrics = config & IA32_PMC_GP0_CFG_C_CNTR_METRICS && model_has_metrics(m);
	layout_of_xer(m, config, l);
	/* An empty group isn't in the record. */
	l->groups = ARCH_PEBS_BASIC |
		    (config & (IA32_PMC_GP0_CFG_C_AUX | IA32_PMC_GP0_CFG_C_GPR |
			       IA32_PMC_GP0_CFG_C_XER | IA32_PMC_GP0_CFG_C_LBR)) |
		    (gp ? IA32_PMC_GP0_CFG_C_CNTR_GP : 0) |
		    (fixed ? IA32_PMC_GP0_CFG_C_CNTR_FIXED : 0) |
		    (l->metrics ? IA32_PMC_GP0_CFG_C_CNTR_METRICS : 0);
	l->ler = ARCH_PEBS_LBR_BYTES;
	fault_arch_layout(m, x, l);
}

/* ---- groups ---- */

static void put32(u8 *to, u32 value)
{
	__builtin_memcpy(to, &value, sizeof(value));
}

/* Linux struct arch_pebs_basic. Bit 16 of the last field says whether bits 15:0 are a retire
 * latency. */
static unsigned fill_basic(struct model *m, const struct retire_ctx *s, const struct record *record,
			   u8 *at)
{
	const u64 latency = s->cycles < MOST_LATENCY ? s->cycles : MOST_LATENCY;

	put64(at + ARCH_PEBS_BASIC_eventing_ip, record->eventing_ip);
	put64(at + ARCH_PEBS_BASIC_applicable, record->applicable);
	put64(at + ARCH_PEBS_BASIC_tsc, record->tsc);
	if (!m->latitude[LAT_NO_RETIRE_LATENCY])
		put64(at + ARCH_PEBS_BASIC_retire, latency | ARCH_PEBS_RETIRE_VALID);
	return ARCH_PEBS_BASIC_BYTES;
}

/* Linux struct arch_pebs_aux. */
static unsigned fill_aux(const struct record *record, u8 *at)
{
	put64(at + ARCH_PEBS_AUX_data_linear_address, record->data_linear_address);
	put64(at + ARCH_PEBS_AUX_data_source, record->data_source);
	put64(at + ARCH_PEBS_AUX_latency, record->latency);
	put64(at + ARCH_PEBS_AUX_tx_abort, record->tx_abort);
	return ARCH_PEBS_AUX_BYTES;
}

/* Linux struct arch_pebs_gprs. There is no shadow stack, so SSP is 0. */
static unsigned fill_gpr(const struct record *record, u8 *at)
{
	static const struct {
		u16 offset, member;
	} fields[] = {
#define FIELD(field) { ARCH_PEBS_GPR_##field, offsetof(struct record, field) }
		FIELD(rflags), FIELD(rip), FIELD(rax), FIELD(rcx), FIELD(rdx),
		FIELD(rbx), FIELD(rsp), FIELD(rbp), FIELD(rsi), FIELD(rdi),
		FIELD(r8), FIELD(r9), FIELD(r10), FIELD(r11), FIELD(r12),
		FIELD(r13), FIELD(r14), FIELD(r15),
#undef FIELD
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		put64(at + fields[i].offset, get64((const u8 *)record + fields[i].member));
	return ARCH_PEBS_GPR_BYTES;
}

/* Linux struct arch_pebs_xer_header: XSTATE_BV of the components that follow, in the order of
 * their numbers. */
static unsigned fill_xer(const struct arch_layout *l, u8 *at)
{
	unsigned size = ARCH_PEBS_XER_BYTES;

	put64(at + ARCH_PEBS_XER_xstate_bv, l->xstate_bv);
	if (l->xstate_bv & BIT(ARCH_PEBS_XER_XMM)) {
		__builtin_memcpy(at + size, l->xmm, sizeof(l->xmm));
		size += ARCH_PEBS_XER_XMM_BYTES;
	}
	if (l->xstate_bv & BIT(ARCH_PEBS_XER_YMMH)) {
		__builtin_memcpy(at + size, l->ymmh, sizeof(l->ymmh));
		size += ARCH_PEBS_XER_YMMH_BYTES;
	}
	return size;
}

/* Linux struct arch_pebs_lbr_header, then the entries. The registers of the last exception or
 * interrupt aren't modelled: they are 0. */
static unsigned fill_lbr(struct model *m, const struct retire_ctx *s, const struct arch_layout *l,
			 u8 *at)
{
	if (l->ler) {
		put64(at + ARCH_PEBS_LBR_ctl, m->lbr.control);
		put64(at + ARCH_PEBS_LBR_depth, model_lbr_entries(m));
	}
	model_fill_lbr_entries(m, s, l->entries, at + l->ler);
	return l->ler + l->entries * ARCH_PEBS_LBR_ENTRY_BYTES;
}

/* Linux struct arch_pebs_cntr_header. First the general-purpose counters, then the fixed ones;
 * slots, then the metrics. */
static unsigned fill_counters(struct model *m, const struct arch_layout *l, u8 *at)
{
	u8 *to = at + ARCH_PEBS_COUNTERS_BYTES;

	put32(at + ARCH_PEBS_COUNTERS_gp, (u32)(l->counters & BITS(0, FIRST_FIXED - 1)));
	put32(at + ARCH_PEBS_COUNTERS_fixed, (u32)(l->counters >> FIRST_FIXED));
	put32(at + ARCH_PEBS_COUNTERS_metrics, l->metrics ? (u32)ARCH_PEBS_METRICS_BITS : 0);
	for (u64 left = l->counters; left; left &= left - 1, to += ARCH_PEBS_COUNTER_BYTES)
		put64(to, m->counter[__builtin_ctzll(left)].value);
	if (l->metrics) {
		put64(to, m->counter[SLOTS_COUNTER].value);
		put64(to + ARCH_PEBS_COUNTER_BYTES, model_metrics_read(m));
		to += 2 * ARCH_PEBS_COUNTER_BYTES;
	}
	return (unsigned)(to - at);
}

/* ---- fragments ---- */

/* Records begin at multiples of 16 bytes: Linux. No source says whether the size of a fragment
 * is rounded up. */
static unsigned rounded(unsigned bytes)
{
	return (bytes + ARCH_PEBS_UNIT - 1) / ARCH_PEBS_UNIT * ARCH_PEBS_UNIT;
}

/*
 * Fill one fragment with these groups, in the order BASIC, AUX, GPR, XER, LBR, counters: Linux
 * setup_arch_pebs_sample_data. The header has the bytes of the fragment and its groups: struct
 * arch_pebs_header. Returns the bytes.
 */
static unsigned fill_fragment(struct model *m, const struct retire_ctx *s,
			      const struct arch_layout *l, const struct record *record, u64 groups,
			      u64 flags, u8 *bytes)
{
	unsigned size = ARCH_PEBS_HEADER_BYTES;

	if (groups & ARCH_PEBS_BASIC)
		size += fill_basic(m, s, record, bytes + size);
	if (groups & ARCH_PEBS_AUX)
		size += fill_aux(record, bytes + size);
	if (groups & ARCH_PEBS_GPR)
		size += fill_gpr(record, bytes + size);
	if (groups & ARCH_PEBS_XER)
		size += fill_xer(l, bytes + size);
	if (groups & ARCH_PEBS_LBR)
		size += fill_lbr(m, s, l, bytes + size);
	if (groups & ARCH_PEBS_CNTR)
		size += fill_counters(m, l, bytes + size);
	size = rounded(size);
	put64(bytes + ARCH_PEBS_HEADER_format, size | groups | flags);
	return size;
}

/*
 * A fragment with CONT, or without any group, is followed by another one of its record: Linux
 * arch_pebs_record_continued. How a record is divided is latitude pebs-fragments. Bit 30 of a
 * header is 1 for a sample in 64-bit mode: struct arch_pebs_header.
 */
unsigned model_arch_fill(struct model *m, const struct retire_ctx *s, unsigned x,
			 const struct arch_layout *l, u8 *bytes)
{
	const u64 mode = s->r->compatibility || s->r->legacy ? 0 : ARCH_PEBS_MODE_64;
	u64 last = l->groups & (ARCH_PEBS_LBR | ARCH_PEBS_CNTR);
	struct record record;
	unsigned size;

	model_collect_record(m, s, x, m->global_status, model_global_bit(x), &record);
	if (m->latitude[LAT_PEBS_FRAGMENTS] == ONE_FRAGMENT)
		last = 0;
	size = fill_fragment(m, s, l, &record, l->groups & ~last,
			     mode | (last ? ARCH_PEBS_CONT : 0), bytes);
	if (last && m->latitude[LAT_PEBS_FRAGMENTS] == EMPTY_BETWEEN) {
		put64(bytes + size + ARCH_PEBS_HEADER_format, ARCH_PEBS_HEADER_BYTES);
		size += ARCH_PEBS_HEADER_BYTES;
	}
	if (last)
		size += fill_fragment(m, s, l, &record, last, mode, bytes + size);
	fault_arch_bytes(m, s, x, l, bytes, &size);
	return size;
}
