/* SPDX-License-Identifier: MIT */
/* See arch_buffer.h. Linux init_arch_pebs_on_cpu(), intel_pmu_drain_arch_pebs(). */
#include "tests/random/arch/arch_buffer.h"

#include "kernel/interrupt/fault.h"
#include "kernel/memory/arena.h"
#include "kernel/memory/paging.h"
#include "kernel/processor/percpu.h"
#include "pmu/counter.h"
#include "pmu/lbr/arch.h"
#include "pmu/version6/arch_record.h"

#define PLACES		4u	/* pages at which a buffer may begin, after a guard page */
#define LARGEST		4u	/* size: 10000H bytes */
#define BUFFER_BYTES	((u64)ARCH_PEBS_LEAST_BUFFER << LARGEST)
#define MEMORY_BYTES	(PAGE_SIZE + (PLACES - 1) * PAGE_SIZE + BUFFER_BYTES + PAGE_SIZE)
#define LBR_DEPTH	16
#define NO_HEADER	BIT(44)	/* a header bit that belongs to no group */

static struct arch_buffer {
	u64 *memory;			/* a guard page, the places with the buffer, a guard page */
	u64 base;			/* contents of IA32_PEBS_BASE */
	u64 config[DRAW_COUNTERS];	/* contents of each CFG_C */
} buffers[CPU_MAX];

static struct arch_buffer *arch_buffer_here(void)
{
	return &buffers[cpu_index()];
}

static u64 pattern(u64 word)
{
	return ((word + 1) * 0x9e3779b97f4a7c15ULL) | NO_HEADER;
}

bool arch_buffer_take_memory(void)
{
	struct arch_buffer *b = arch_buffer_here();

	if (!counter_caps()->arch_pebs || b->memory)
		return true;
	b->memory = arena_alloc(MEMORY_BYTES);
	for (u64 i = 0; b->memory && i < MEMORY_BYTES / 8; i++)
		b->memory[i] = pattern(i);
	return b->memory;
}

static bool exists(const struct draw_env *env, unsigned i)
{
	return env->arch.pebs >> draw_status_bit(i) & 1;
}

static void set_config(struct arch_buffer *b, unsigned i, u64 value)
{
	if (b->config[i] != value)
		msr_write(version6_cfg_c(draw_status_bit(i)), value);
	b->config[i] = value;
}

/* LBRs stay off. Use a depth other than the greatest, if there is one. */
static void learn_lbr(struct draw_arch_env *env)
{
	const struct lbr_leaf leaf = arch_lbr_leaf();

	if (lbr_leaf_lists(&leaf, LBR_DEPTH))
		arch_lbr_open(LBR_DEPTH);
	env->lbr_ctl = msr_read(MSR_IA32_LBR_CTL);
	env->lbr_depth = msr_read(MSR_IA32_LBR_DEPTH);
}

void arch_buffer_learn(struct draw_arch_env *env)
{
	struct arch_buffer *b = arch_buffer_here();
	const struct pmu_caps *caps = counter_caps();

	*env = (struct draw_arch_env){ .pebs = 0 };
	if (!caps->arch_pebs)
		return;
	env->pebs = caps->v6.pebs & (draw_ones(DRAW_GP) | draw_ones(DRAW_FIXED) << 32);
	env->pdist = caps->v6.pdist;
	env->groups = (u64)caps->v6.groups << 32;
	env->memory = (u64)(uintptr_t)b->memory + PAGE_SIZE;
	if (caps->arch_lbr)
		learn_lbr(env);
	else
		env->groups &= ~IA32_PMC_GP0_CFG_C_LBR;
	*b = (struct arch_buffer){ .memory = b->memory };
}

void arch_buffer_open(const struct draw_env *env, const struct draw_case *c)
{
	struct arch_buffer *b = arch_buffer_here();
	u64 base = env->arch.memory + (u64)c->arch.place * PAGE_SIZE + c->arch.size;

	if (b->base != base) {
		msr_write(MSR_IA32_PEBS_INDEX, 0);
		msr_write(MSR_IA32_PEBS_BASE, base);
	}
	b->base = base;
	msr_write(MSR_IA32_PEBS_INDEX, draw_arch_index(c->arch.write, c->arch.threshold));
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (exists(env, i))
			set_config(b, i, c->arch.config[i]);
}

/* ---- what was written */

struct reader {
	const u8 *bytes;		/* bytes of the record */
	struct draw_arch_record *to;
	struct pebs_record *fields;
};

static u64 at(const struct reader *r, unsigned offset)
{
	return *(const volatile u64 *)(const void *)(r->bytes + offset);
}

static void set_field(const struct reader *r, enum record_field field, u64 value)
{
	r->fields->value[field] = value;
	r->fields->present |= 1u << field;
}

static void read_basic(const struct reader *r, unsigned from)
{
	set_field(r, RECORD_eventing_ip, at(r, from + ARCH_PEBS_BASIC_eventing_ip));
	r->to->applicable = at(r, from + ARCH_PEBS_BASIC_applicable);
	r->to->tsc = at(r, from + ARCH_PEBS_BASIC_tsc);
}

static void read_registers(const struct reader *r, unsigned from)
{
	static const struct {
		u8 field, offset;
	} table[] = {
#define GPR(name) { RECORD_##name, ARCH_PEBS_GPR_##name }
		GPR(rflags), GPR(rip), GPR(rax), GPR(rcx), GPR(rdx), GPR(rbx), GPR(rsp),
		GPR(rbp), GPR(rsi), GPR(rdi), GPR(r8), GPR(r9), GPR(r10), GPR(r11), GPR(r12),
		GPR(r13), GPR(r14), GPR(r15),
#undef GPR
	};

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		set_field(r, table[i].field, at(r, from + table[i].offset));
}

static void read_xer(const struct reader *r, const struct arch_fragment *f)
{
	r->to->xer = true;
	r->to->xstate_bv = at(r, f->offset[ARCH_XER] + ARCH_PEBS_XER_xstate_bv);
	for (unsigned i = 0; f->component[ARCH_PEBS_XER_XMM] && i < DRAW_ARCH_XMM; i++)
		r->to->xmm[i] = at(r, f->component[ARCH_PEBS_XER_XMM] + 8 * i);
}

static void read_lbr(const struct reader *r, const struct arch_fragment *f)
{
	r->to->lbr = true;
	r->to->lbr_ctl = at(r, f->offset[ARCH_LBR] + ARCH_PEBS_LBR_ctl);
	r->to->lbr_depth = at(r, f->offset[ARCH_LBR] + ARCH_PEBS_LBR_depth);
	r->to->lbr_entries = f->entries;
}

static void read_counters(const struct reader *r, const struct arch_fragment *f)
{
	r->to->counters = true;
	r->to->metrics = f->metrics;
	r->to->there = f->gp | (u64)f->fixed << 32;
	for (unsigned i = 0; i < DRAW_COUNTERS; i++) {
		unsigned offset = arch_counter_at(f, draw_status_bit(i));

		if (offset)
			r->to->value[i] = at(r, offset);
	}
}

static void read_fragment(const struct reader *r, const struct arch_fragment *f)
{
	r->to->header |= f->header & ~ARCH_PEBS_SIZE;
	r->to->reserved |= at(r, ARCH_PEBS_HEADER_reserved);
	r->to->bytes += f->size;
	if (arch_has(f, ARCH_BASIC))
		read_basic(r, f->offset[ARCH_BASIC]);
	if (arch_has(f, ARCH_AUX))
		set_field(r, RECORD_data_linear_address,
			  at(r, f->offset[ARCH_AUX] + ARCH_PEBS_AUX_data_linear_address));
	if (arch_has(f, ARCH_GPR))
		read_registers(r, f->offset[ARCH_GPR]);
	if (arch_has(f, ARCH_XER))
		read_xer(r, f);
	if (arch_has(f, ARCH_LBR))
		read_lbr(r, f);
	if (arch_has(f, ARCH_COUNTERS))
		read_counters(r, f);
}

/* Read the record at bytes; size: bytes from there to the buffer's end. Returns the record's
 * length; 0: there is no record. */
static u64 read_record(const u8 *bytes, u64 size, struct draw_arch_record *to,
		       struct pebs_record *fields)
{
	struct arch_fragment f = { .last = false };

	*to = (struct draw_arch_record){ .at = 0 };
	*fields = (struct pebs_record){ .present = 0 };
	if (!arch_record_bytes(bytes, size))
		return 0;
	while (!f.last) {
		const struct reader r = { bytes + to->bytes, to, fields };

		if (arch_fragment_read(r.bytes, size - to->bytes, &f) != ARCH_WHOLE)
			return 0;
		read_fragment(&r, &f);
	}
	return (to->bytes + ARCH_PEBS_UNIT - 1) & ~(u64)(ARCH_PEBS_UNIT - 1);
}

/* Find the begins of the runs of records: the first WR, and each WR that the program has
 * written. */
static void find_runs(const struct draw_case *c, const struct trace *trace,
		      u64 first[DRAW_ARCH_RUNS], struct draw_arch_seen *seen)
{
	first[0] = c->arch.write * (u64)ARCH_PEBS_UNIT;
	seen->runs = 1;
	for (unsigned i = 0; i < trace->steps && seen->runs < DRAW_ARCH_RUNS; i++) {
		const struct draw_operation *op = &c->operation[trace->step[i].slot];

		if (trace->step[i].row->flags & ROW_WRMSR &&
		    !(trace->step[i].row->flags & ROW_STOP) && op->msr == MSR_IA32_PEBS_INDEX)
			first[seen->runs++] = op->low & IA32_PEBS_INDEX_WR;
	}
}

/* Read the records of one run, which begins at byte `from`. Returns the offset after them. */
static u64 read_run(const struct arch_buffer *b, u64 from, u64 size, struct draw_observation *seen)
{
	const u8 *bytes = (const u8 *)(uintptr_t)(b->base & ~(u64)(PAGE_SIZE - 1));

	while (from < size && seen->records < DRAW_RECORDS_SEEN) {
		struct draw_arch_record *to = &seen->arch.record[seen->records];
		u64 length = read_record(bytes + from, size - from, to,
					 &seen->record[seen->records]);

		if (!length || length > size - from)
			break;
		to->at = (u32)from;
		from += length;
		seen->records++;
	}
	return from;
}

/* The end of the bytes that were written from that offset on, records or not: another run may have
 * overwritten the last record. */
static u64 end_of_run(const struct arch_buffer *b, u64 from, u64 size)
{
	u64 word = ((b->base & ~(u64)(PAGE_SIZE - 1)) - (u64)(uintptr_t)b->memory + from) / 8;

	while (from < size && *(volatile u64 *)&b->memory[word] != pattern(word)) {
		word++;
		from += 8;
	}
	return from;
}

static bool is_in_a_run(const u64 first[DRAW_ARCH_RUNS], const struct draw_arch_seen *seen,
			u64 offset)
{
	for (unsigned i = 0; i < seen->runs; i++)
		if (offset >= first[i] && offset < seen->after[i])
			return true;
	return false;
}

/* Write the pattern again over all changed bytes, also in the page before the buffer and the page
 * after it. */
static void clean(const struct arch_buffer *b, const u64 first[DRAW_ARCH_RUNS], u64 size,
		  struct draw_arch_seen *seen)
{
	u64 base = b->base & ~(u64)(PAGE_SIZE - 1);
	u64 word = (base - PAGE_SIZE - (u64)(uintptr_t)b->memory) / 8;
	u64 end = word + (PAGE_SIZE + size + PAGE_SIZE) / 8;

	for (u64 offset = 0 - (u64)PAGE_SIZE; word < end; word++, offset += 8) {
		if (*(volatile u64 *)&b->memory[word] == pattern(word))
			continue;
		if (offset >= size)
			seen->beyond = true;
		else if (!is_in_a_run(first, seen, offset))
			seen->outside = true;
		b->memory[word] = pattern(word);
	}
}

void arch_buffer_look(const struct draw_env *env, const struct draw_case *c,
		      const struct trace *trace, struct draw_observation *seen)
{
	const u64 size = (u64)ARCH_PEBS_LEAST_BUFFER << c->arch.size;
	struct arch_buffer *b = arch_buffer_here();
	u64 first[DRAW_ARCH_RUNS];

	seen->arch.index = msr_read(MSR_IA32_PEBS_INDEX);
	find_runs(c, trace, first, &seen->arch);
	for (unsigned i = 0; i < seen->arch.runs; i++) {
		seen->arch.after[i] = read_run(b, first[i], size, seen);
		seen->arch.last[i] = seen->records;
	}
	for (unsigned i = 0; i < seen->arch.runs; i++)
		for (unsigned k = 0; k < seen->arch.runs; k++)
			seen->arch.overlap |= k != i && first[i] <= first[k] &&
					      first[k] < end_of_run(b, seen->arch.after[i], size);
	clean(b, first, size, &seen->arch);
	/* The program may have written CFG_C. Clearing it also disarms the counter. */
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (exists(env, i) && (c->arch.config[i] & IA32_PMC_GP0_CFG_C_PEBS_EN)) {
			msr_write(version6_cfg_c(draw_status_bit(i)), 0);
			b->config[i] = 0;
		}
	for (unsigned i = 0; i < trace->steps; i++) {
		const struct draw_operation *op = &c->operation[trace->step[i].slot];

		for (unsigned k = 0; k < DRAW_COUNTERS; k++)
			if (trace->step[i].row->flags & ROW_WRMSR && exists(env, k) &&
			    op->msr == version6_cfg_c(draw_status_bit(k))) {
				msr_write(op->msr, 0);
				b->config[k] = 0;
			}
	}
}

void arch_buffer_close(const struct draw_env *env)
{
	struct arch_buffer *b = arch_buffer_here();

	if (!env->arch.pebs)
		return;
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (exists(env, i))
			set_config(b, i, 0);
	msr_write(MSR_IA32_PEBS_INDEX, 0);
	msr_write(MSR_IA32_PEBS_BASE, 0);
	b->base = 0;
	if (env->arch.lbr_depth == LBR_DEPTH)
		arch_lbr_close();
}
