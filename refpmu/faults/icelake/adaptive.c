/* SPDX-License-Identifier: MIT */
/* Faults of adaptive records, and of the bits that make records adaptive: adaptive.c, counter.c. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/icelake/version5.h"
#include "refpmu/faults/kvm/kvm.h"
#include "refpmu/model/lbr.h"
#include "spec/lbr.h"
#include "spec/x86.h"

#define CACHE_LINE	64
#define FIRST_FOUR	4
#define CUT_SHORT	0x10u	/* bytes, of faults adaptive-*-short */

/* ---- which records are adaptive ---- */

bool fault_adaptive(struct model *m, unsigned x, bool adaptive)
{
	if (m->config.fault == FAULT_NONE)
		return adaptive;
	if (adaptive && broken(m, FAULT_ADAPTIVE_IGNORED))
		return false;
	if (x < FIRST_FIXED && broken(m, FAULT_ADAPTIVE_BY_PMC0))
		return m->perfevtsel[0] & IA32_PERFEVTSEL_ADAPTIVE;
	if (x >= FIRST_FIXED && broken(m, FAULT_ADAPTIVE_BY_NEIGHBOUR))
		return m->fixed_ctr_ctrl >>
			       (IA32_FIXED_CTR_CTRL_ADAPTIVE0_SHIFT + x - FIRST_FIXED) &
		       1;
	if (!adaptive && x >= FIRST_FOUR && x < FIRST_FIXED) {
		if (broken(m, FAULT_ADAPTIVE_UPPER_ALWAYS))
			return true;
		for (unsigned i = 0; i < model_gp_counters(m); i++)
			if (m->perfevtsel[i] & IA32_PERFEVTSEL_ADAPTIVE &&
			    broken(m, FAULT_ADAPTIVE_BY_ANY_SELECT))
				return true;
	}
	return adaptive || broken(m, FAULT_ADAPTIVE_NOT_NEEDED);
}

u64 fault_data_cfg(struct model *m, unsigned x, u64 config)
{
	struct fault_state *f = faults_of(m);

	(void)x;
	if (m->config.fault != FAULT_DATA_CFG_LATCHED || !config)
		return config;
	if (!f->first_data_cfg)
		f->first_data_cfg = config;
	return broken(m, FAULT_DATA_CFG_LATCHED) ? f->first_data_cfg : config;
}

/* ---- layout ---- */

/* The faults that are generated for each group; FAULT_NONE: there is none. */
static const struct {
	u16 missing, doubled, cut, padded, always, late;
} groups[ADAPTIVE_GROUPS] = {
#define FAULT(token, name, requirements, sentence, ...)
#define FAULT_FORMAT_BIT(token, bit, name, title)
#define FAULT_ADAPTIVE_GROUP(token, group, name, requirements, title) \
	[GROUP_##group].missing = FAULT_ADAPTIVE_##token##_MISSING, \
	[GROUP_##group].doubled = FAULT_ADAPTIVE_##token##_DOUBLED, \
	[GROUP_##group].cut = FAULT_ADAPTIVE_##token##_SHORT, \
	[GROUP_##group].padded = FAULT_ADAPTIVE_##token##_LONG, \
	[GROUP_##group].always = FAULT_ADAPTIVE_##token##_ALWAYS,
#define FAULT_ADAPTIVE_ORDER(token, group, name, requirements, title) \
	[GROUP_##group].late = FAULT_ADAPTIVE_##token##_LATE,
#include "refpmu/faults/icelake/fault_icelake.def"
#undef FAULT
	[GROUP_LBR].late = FAULT_SNAPSHOT_BEFORE_LBR,
	[GROUP_COUNTERS].missing = FAULT_SNAPSHOT_MISSING,
	[GROUP_COUNTERS].doubled = FAULT_SNAPSHOT_DOUBLED,
	[GROUP_COUNTERS].padded = FAULT_SNAPSHOT_LONG,
};

static const u16 group_bytes[ADAPTIVE_GROUPS] = {
#define ADAPTIVE_GROUP(group, bytes, title, source) [GROUP_##group] = (bytes),
#include "spec/adaptive.def"
	[GROUP_COUNTERS] = ADAPTIVE_COUNTERS_BYTES,
};

static void remove_part(struct adaptive_layout *layout, unsigned at)
{
	layout->n--;
	for (unsigned i = at; i < layout->n; i++)
		layout->part[i] = layout->part[i + 1];
}

/* Only if the model's buffer has room for it. */
static void insert_part(struct adaptive_layout *layout, unsigned at, struct adaptive_part part)
{
	if (layout->n == sizeof(layout->part) / sizeof(layout->part[0]) ||
	    model_adaptive_bytes(layout) + part.bytes > MODEL_RECORD_BYTES)
		return;
	for (unsigned i = layout->n++; i > at; i--)
		layout->part[i] = layout->part[i - 1];
	layout->part[at] = part;
}

static void break_present(struct model *m, struct adaptive_layout *layout, unsigned i)
{
	struct adaptive_part *part = &layout->part[i];
	const struct adaptive_part kept = *part;

	if (broken(m, (enum fault_id)groups[kept.group].missing)) {
		remove_part(layout, i);
	} else if (broken(m, (enum fault_id)groups[kept.group].doubled)) {
		insert_part(layout, i, kept);
	} else if (broken(m, (enum fault_id)groups[kept.group].cut)) {
		part->bytes = (u16)(part->bytes - CUT_SHORT);
	} else if (model_adaptive_bytes(layout) + sizeof(u64) <= MODEL_RECORD_BYTES &&
		   broken(m, (enum fault_id)groups[kept.group].padded)) {
		part->bytes = (u16)(part->bytes + sizeof(u64));
	} else if (i + 1 < layout->n && broken(m, (enum fault_id)groups[kept.group].late)) {
		*part = layout->part[i + 1];
		layout->part[i + 1] = kept;
	}
}

static void add_absent(struct model *m, struct adaptive_layout *layout, u8 group)
{
	unsigned at = 0;

	while (at < layout->n && layout->part[at].group < group)
		at++;
	if (at < layout->n && layout->part[at].group == group)
		return;
	if (!broken(m, (enum fault_id)groups[group].always))
		return;
	if (group == GROUP_LBR)
		layout->entries = 1;
	insert_part(layout, at, (struct adaptive_part){ group, group_bytes[group] });
}

static void break_entries(struct model *m, struct adaptive_layout *layout)
{
	unsigned entries = layout->entries;

	if (!entries)
		return;
	if (entries > 1 && broken(m, FAULT_GROUP_LBR_ONE_LESS))
		layout->entries--;
	if (broken(m, FAULT_GROUP_LBR_ALL))
		layout->entries = LBR_MAX_ENTRIES;
	if (layout->entries != entries)
		layout->part[layout->n - 1].bytes = (u16)(layout->entries * ADAPTIVE_LBR_BYTES);
}

static u64 format_word(struct model *m, u64 config)
{
	static const struct {
		u16 fault;
		u8 bit;
	} bits[] = {
#define FAULT(token, name, requirements, sentence, ...)
#define FAULT_ADAPTIVE_GROUP(token, group, name, requirements, title)
#define FAULT_ADAPTIVE_ORDER(token, group, name, requirements, title)
#define FAULT_FORMAT_BIT(token, bit, name, title) { FAULT_FORMAT_##token##_FLIPPED, bit },
#include "refpmu/faults/icelake/fault_icelake.def"
#undef FAULT
	};

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (broken(m, (enum fault_id)bits[i].fault))
			config ^= BIT(bits[i].bit);
	if (broken(m, FAULT_FORMAT_WITHOUT_ENTRIES))
		config &= ~PEBS_DATA_CFG_LBR_ENTRIES;
	if (broken(m, FAULT_FORMAT_ZERO))
		config = 0;
	if (broken(m, FAULT_FORMAT_ALWAYS))
		config = m->pebs_data_cfg;
	return broken(m, FAULT_FORMAT_RESERVED) ? config | BIT(4) : config;
}

void fault_adaptive_layout(struct model *m, unsigned x, struct adaptive_layout *layout)
{
	if (m->config.fault == FAULT_NONE)
		return;
	layout->config = format_word(m, layout->config);
	break_entries(m, layout);
	for (u8 group = GROUP_BASIC + 1; group < ADAPTIVE_GROUPS; group++)
		add_absent(m, layout, group);
	for (unsigned i = 1; i < layout->n; i++) {
		unsigned n = layout->n;
		struct adaptive_part before = layout->part[i];

		break_present(m, layout, i);
		if (layout->n != n || layout->part[i].group != before.group ||
		    layout->part[i].bytes != before.bytes)
			break;
	}
	fault_kvm_layout(m, layout);
	layout->bytes = model_adaptive_bytes(layout);
	if (broken(m, FAULT_FORMAT_SIZE_ZERO))
		layout->bytes = 0;
	if (broken(m, FAULT_FORMAT_SIZE_BASIC))
		layout->bytes = ADAPTIVE_BASIC_BYTES;
	if (x >= FIRST_FIXED && broken(m, FAULT_FORMAT_SIZE_OF_FIXED))
		layout->bytes = ADAPTIVE_BASIC_BYTES;
}

/* ---- contents ---- */

static void swap(u8 *a, u8 *b)
{
	u64 value = get64(a);

	put64(a, get64(b));
	put64(b, value);
}

static void keep_48_bits(u8 *at)
{
	put64(at, get64(at) & BITS(0, 47));
}

static void break_basic(struct model *m, const struct retire_ctx *s, unsigned x, u8 *basic)
{
	u64 tsc = get64(basic + ADAPTIVE_BASIC_tsc);

	if (s->cpl && broken(m, FAULT_FORMAT_USER_EMPTY))
		put64(basic, get64(basic) & ADAPTIVE_FORMAT_RETIRE_LATENCY);
	if (s->cpl && broken(m, FAULT_APPLICABLE_USER_EMPTY))
		put64(basic + ADAPTIVE_BASIC_applicable, 0);
	if (s->cpl && broken(m, FAULT_EVENTING_IP_USER))
		put64(basic + ADAPTIVE_BASIC_eventing_ip, s->r->next_ip);
	if (s->r->ip >> 48 && broken(m, FAULT_EVENTING_IP_48))
		keep_48_bits(basic + ADAPTIVE_BASIC_eventing_ip);

	if (broken(m, FAULT_FORMAT_TSC))
		put64(basic, get64(basic) | (tsc & 0xffff) << ADAPTIVE_FORMAT_RETIRE_LATENCY_SHIFT);
	if (broken(m, FAULT_BASIC_TSC_COUNTER))
		put64(basic + ADAPTIVE_BASIC_tsc, m->counter[x].value);
	if (m->config.fault == FAULT_BASIC_TSC_FALLS && ++faults_of(m)->tick % 2 == 0 &&
	    broken(m, FAULT_BASIC_TSC_FALLS))
		put64(basic + ADAPTIVE_BASIC_tsc, tsc - BIT(32));
	if (broken(m, FAULT_BASIC_EXCHANGED))
		swap(basic + ADAPTIVE_BASIC_applicable, basic + ADAPTIVE_BASIC_tsc);
	if (broken(m, FAULT_BASIC_IP_FORMAT))
		swap(basic + ADAPTIVE_BASIC_format, basic + ADAPTIVE_BASIC_eventing_ip);
	if (x == FIRST_FIXED && broken(m, FAULT_FIXED_IP_BEFORE))
		put64(basic + ADAPTIVE_BASIC_eventing_ip, faults_of(m)->first_ip);
}

static void break_memory(struct model *m, u8 *memory)
{
	u64 address = get64(memory);

	if (broken(m, FAULT_MEMORY_SOURCE_FIRST))
		swap(memory + ADAPTIVE_MEMORY_data_linear_address,
		     memory + ADAPTIVE_MEMORY_data_source);
	if (broken(m, FAULT_MEMORY_LATENCY_LAST))
		swap(memory + ADAPTIVE_MEMORY_latency, memory + ADAPTIVE_MEMORY_tx_abort);
	if (broken(m, FAULT_MEMORY_ADDRESS_LINE))
		put64(memory, address & -(u64)CACHE_LINE);
	if (!get64(memory + ADAPTIVE_MEMORY_tx_abort) && broken(m, FAULT_MEMORY_TX_STALE))
		put64(memory + ADAPTIVE_MEMORY_tx_abort, 7);
	if (broken(m, FAULT_LATENCY_BELOW))
		put64(memory + ADAPTIVE_MEMORY_latency,
		      get64(memory + ADAPTIVE_MEMORY_latency) / 2);
}

/* The order of formats 1 to 3: RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP. */
static void old_order(u8 *gpr)
{
	static const u8 from[] = {
		ADAPTIVE_GPR_rax, ADAPTIVE_GPR_rbx, ADAPTIVE_GPR_rcx, ADAPTIVE_GPR_rdx,
		ADAPTIVE_GPR_rsi, ADAPTIVE_GPR_rdi, ADAPTIVE_GPR_rbp, ADAPTIVE_GPR_rsp,
	};
	u8 good[ADAPTIVE_GPR_BYTES];

	__builtin_memcpy(good, gpr, sizeof(good));
	for (unsigned i = 0; i < sizeof(from); i++)
		put64(gpr + ADAPTIVE_GPR_rax + i * sizeof(u64), get64(good + from[i]));
}

static void break_gpr(struct model *m, const struct retire_ctx *s, unsigned x, u8 *gpr)
{
	const u64 *before = s->r->before.gpr;
	const u64 flags = get64(gpr + ADAPTIVE_GPR_rflags);

	if (x >= FIRST_FOUR && flags & RFLAGS_STATUS && broken(m, FAULT_GROUP_FLAGS_FIRST_FOUR))
		put64(gpr + ADAPTIVE_GPR_rflags, flags & ~RFLAGS_STATUS);
	if (x >= FIRST_FIXED && broken(m, FAULT_GROUP_RIP_OF_FIXED))
		put64(gpr + ADAPTIVE_GPR_rip, s->r->ip);

	if (broken(m, FAULT_GROUP_RIP_EVENTING))
		put64(gpr + ADAPTIVE_GPR_rip, s->r->ip);
	if (broken(m, FAULT_GROUP_RSP_RBP))
		swap(gpr + ADAPTIVE_GPR_rsp, gpr + ADAPTIVE_GPR_rbp);
	if (s->r->branch != BRANCH_NONE && get64(gpr + ADAPTIVE_GPR_rsp) != before[REG_RSP] &&
	    broken(m, FAULT_GROUP_RSP_OF_BRANCHES))
		put64(gpr + ADAPTIVE_GPR_rsp, before[REG_RSP]);
	if (broken(m, FAULT_GROUP_OLD_ORDER))
		old_order(gpr);
	/* The group has the registers in the order of their encoding. */
	if (broken(m, FAULT_GROUP_REGISTERS_STALE) ||
	    (x >= FIRST_FOUR && broken(m, FAULT_GROUP_REGISTERS_STALE_UPPER)))
		for (unsigned i = 0; i < REG_COUNT; i++)
			put64(gpr + ADAPTIVE_GPR_rax + i * sizeof(u64), before[i]);
}

static void break_xmm(struct model *m, unsigned x, u8 *xmm)
{
	enum { REGISTER = ADAPTIVE_XMM_REGISTER_BYTES };
	u8 *first = faults_of(m)->first_xmm, good[ADAPTIVE_XMM_BYTES];

	__builtin_memcpy(good, xmm, sizeof(good));
	for (unsigned n = 0; n < ADAPTIVE_XMM_REGISTERS; n++) {
		if (broken(m, FAULT_XMM_HALVES))
			swap(xmm + n * REGISTER, xmm + n * REGISTER + sizeof(u64));
		if (broken(m, FAULT_XMM_REVERSED))
			__builtin_memcpy(xmm + n * REGISTER, good + (15 - n) * REGISTER, REGISTER);
		if (n >= 8 && (broken(m, FAULT_XMM_LOW_EIGHT) ||
			       (x >= FIRST_FIXED && broken(m, FAULT_XMM_LOW_EIGHT_FIXED))))
			__builtin_memset(xmm + n * REGISTER, 0, REGISTER);
	}
	if (m->config.fault != FAULT_XMM_STALE)
		return;
	if (!faults_of(m)->has_xmm)
		__builtin_memcpy(first, good, sizeof(good));
	faults_of(m)->has_xmm = true;
	if (broken(m, FAULT_XMM_STALE))
		__builtin_memcpy(xmm, first, sizeof(good));
}

static void reverse(u8 *lbr, unsigned entries)
{
	for (unsigned i = 0; i < entries / 2; i++)
		for (unsigned at = 0; at < ADAPTIVE_LBR_BYTES; at += (unsigned)sizeof(u64))
			swap(lbr + i * ADAPTIVE_LBR_BYTES + at,
			     lbr + (entries - 1 - i) * ADAPTIVE_LBR_BYTES + at);
}

static void physical_order(const struct model *m, u8 *lbr, unsigned entries)
{
	for (unsigned i = 0; i < entries; i++, lbr += ADAPTIVE_LBR_BYTES) {
		put64(lbr + ADAPTIVE_LBR_from, m->lbr.entry[i].from);
		put64(lbr + ADAPTIVE_LBR_to, m->lbr.entry[i].to);
		put64(lbr + ADAPTIVE_LBR_info, m->lbr.entry[i].info);
	}
}

static void break_lbr(struct model *m, const struct retire_ctx *s, unsigned x, u8 *lbr,
		      unsigned entries)
{
	if (broken(m, FAULT_GROUP_LBR_OLDEST))
		reverse(lbr, entries);
	if (broken(m, FAULT_GROUP_LBR_PHYSICAL))
		physical_order(m, lbr, entries);
	for (unsigned i = 0; i < entries; i++, lbr += ADAPTIVE_LBR_BYTES) {
		u64 info = get64(lbr + ADAPTIVE_LBR_info);

		if (model_lbr_entries(m) < LBR_MAX_ENTRIES && broken(m, FAULT_GROUP_LBR_DEPTH))
			put64(lbr + ADAPTIVE_LBR_from, 0);
		if (get64(lbr + ADAPTIVE_LBR_from) >> 48 && broken(m, FAULT_GROUP_LBR_48)) {
			keep_48_bits(lbr + ADAPTIVE_LBR_from);
			keep_48_bits(lbr + ADAPTIVE_LBR_to);
		}
		if (broken(m, FAULT_GROUP_LBR_TO_FIRST))
			swap(lbr + ADAPTIVE_LBR_from, lbr + ADAPTIVE_LBR_to);
		if (!get64(lbr + ADAPTIVE_LBR_from) && broken(m, FAULT_GROUP_LBR_LEAKS))
			put64(lbr + ADAPTIVE_LBR_from, s->r->ip ^ BIT(20));
		if (broken(m, FAULT_GROUP_LBR_INFO))
			put64(lbr + ADAPTIVE_LBR_info, info << 1 | info >> 63);
		if (info && x >= FIRST_FOUR && x < FIRST_FIXED &&
		    broken(m, FAULT_GROUP_LBR_INFO_FIRST_FOUR))
			put64(lbr + ADAPTIVE_LBR_info, 0);
	}
}

/* A group that is empty where the LBR group is there too. */
static void break_beside(struct model *m, const struct adaptive_layout *layout, unsigned i,
			 u8 *group)
{
	if (!(layout->config & PEBS_DATA_CFG_LBR))
		return;
	if ((layout->part[i].group == GROUP_MEMORY && broken(m, FAULT_GROUP_MEMORY_NOT_WITH_LBR)) ||
	    (layout->part[i].group == GROUP_GPR && broken(m, FAULT_GROUP_GPR_NOT_WITH_LBR)))
		__builtin_memset(group, 0, layout->part[i].bytes);
}

void fault_adaptive_bytes(struct model *m, const struct retire_ctx *s, unsigned x,
			  const struct adaptive_layout *layout, u8 *bytes)
{
	if (m->config.fault == FAULT_NONE)
		return;
	for (unsigned i = 0; i < layout->n; bytes += layout->part[i].bytes, i++) {
		break_beside(m, layout, i, bytes);
		if (layout->part[i].group == GROUP_BASIC)
			break_basic(m, s, x, bytes);
		else if (layout->part[i].group == GROUP_MEMORY)
			break_memory(m, bytes);
		else if (layout->part[i].group == GROUP_GPR)
			break_gpr(m, s, x, bytes);
		else if (layout->part[i].group == GROUP_XMM)
			break_xmm(m, x, bytes);
		else if (layout->part[i].group == GROUP_LBR) {
			break_lbr(m, s, x, bytes, layout->entries);
			if (layout->config & PEBS_DATA_CFG_XMM &&
			    broken(m, FAULT_GROUP_LBR_NOT_WITH_XMM))
				__builtin_memset(bytes, 0, layout->entries * ADAPTIVE_LBR_BYTES);
		}
	}
}
