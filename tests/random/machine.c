/* SPDX-License-Identifier: MIT */
/*
 * Runs a case. A write of an MSR may cost an exit to a hypervisor, so a register is written only if
 * its value changes.
 */
#include "tests/random/machine.h"

#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/descriptor.h"
#include "kernel/interrupt/fault.h"
#include "kernel/memory/arena.h"
#include "kernel/memory/paging.h"
#include "kernel/memory/string.h"
#include "kernel/processor/cpu.h"
#include "kernel/processor/percpu.h"
#include "kernel/processor/time.h"
#include "pmu/counter.h"
#include "pmu/event.h"
#include "pmu/pebs.h"
#include "pmu/pmi.h"
#include "pmu/written.h"
#include "spec/msr.h"
#include "tests/frame/calibration.h"
#include "tests/frame/denied.h"
#include "tests/frame/needs.h"
#include "tests/random/arch/arch_buffer.h"
#include "tests/random/arch/arch_probe.h"
#include "tests/measure/sampling.h"
#include "tests/random/buffer.h"
#include "tests/random/branches/machine_branches.h"
#include "tests/random/adaptive/entries.h"

#define STACK_BYTES	8192
#define STACK_TOP	(STACK_BYTES - 256)
#define GATE_FRAME	512		/* below the top of the memory for the return from CPL 3 */
#define GATE_SAVED	256
#define PROBES		3
#define FIRST_COUNTERS	4		/* errata about further counters leave these out */
#define SILICON_PERIOD	32		/* min_period of most events in spec/event.def */

void draw_enter(struct draw_frame *frame);
void draw_back(void);

/* The stack of PUSH_PRESERVED and PUSHF, from the lowest address, and a return address
 * (kernel/interrupt/user.asm). */
struct way_back {
	u64 rflags;
	struct preserved_registers reg;
	u64 rip;
};

static struct machine {
	struct draw_env env;
	struct draw_frame *frame;
	struct draw_operation *operations;
	u64 *table;
	u8 *stack, *gate, *data;
	/* The present contents of the registers. */
	u64 select[DRAW_GP], value[DRAW_COUNTERS], fixed_control, status, debugctl, ds_area,
		data_cfg;
	struct draw_entry entry[DRAW_ENTRIES];	/* the last branch records */
	u64 cr4;
	struct trace trace;		/* trace of a probe */
	struct draw_observation seen;
} machines[CPU_MAX];

static u64 linear(const void *at)
{
	return (u64)(uintptr_t)at;
}

static bool take_memory(struct machine *m)
{
	if (m->frame)
		return true;
	m->frame = arena_alloc(sizeof(*m->frame));
	m->operations = arena_alloc(DRAW_OPERATIONS * sizeof(*m->operations));
	m->table = arena_alloc((DRAW_PROGRAM + 1) * sizeof(*m->table));
	m->stack = arena_alloc(STACK_BYTES);
	m->gate = arena_alloc(PAGE_SIZE);
	m->data = arena_alloc(6 * PAGE_SIZE);
	return buffer_take_memory() && arch_buffer_take_memory() && m->frame && m->operations &&
	       m->table && m->stack && m->gate && m->data;
}

static void learn_capabilities(struct machine *m)
{
	const struct pmu_caps *caps = counter_caps();

	m->env = (struct draw_env){
		.general = caps->gp_mask & (u32)draw_ones(DRAW_GP),
		.gp_width = caps->gp_width,
		.fixed = caps->fixed_mask & (u32)draw_ones(DRAW_FIXED),
		.fixed_width = caps->fixed_width,
		.version = caps->version,
		.full_width = caps->full_width,
		.hypervisor = caps->hypervisor,
		.code = linear(draw_code),
		.stack = linear(m->stack + STACK_TOP),
		.table = linear(m->table),
		.frame = linear(m->frame),
		.operations = linear(m->operations),
		.above = { PAGING_HIGH, PAGING_UPPER },
		.flags = RFLAGS_IF,
	};
	for (unsigned i = 0; i < 3; i++)
		m->env.data[i] = linear(m->data) + (2 * i + 1) * PAGE_SIZE;
}

/* The counters and metrics for which MSR_PEBS_DATA_CFG has bits. */
static u64 counters_of_records(const struct pmu_caps *caps)
{
	if (caps->pebs_format != PEBS_FORMAT_SNAPSHOT)
		return 0;
	return PEBS_DATA_CFG_CNTR | (caps->metrics ? PEBS_DATA_CFG_METRICS : 0) |
	       ((u64)caps->gp_mask << PEBS_DATA_CFG_CNTR_GP_SHIFT & PEBS_DATA_CFG_CNTR_GP) |
	       ((u64)caps->fixed_mask << PEBS_DATA_CFG_CNTR_FIXED_SHIFT & PEBS_DATA_CFG_CNTR_FIXED);
}

static void learn_adaptive(struct machine *m)
{
	const struct pmu_caps *caps = counter_caps();
	struct draw_adaptive *a = &m->env.adaptive;

	a->baseline = true;
	a->timing = caps->perf_capabilities & IA32_PERF_CAPABILITIES_PEBS_TIMING_INFO;
	a->fixed = (u8)(caps->pebs_fixed_mask & m->env.fixed);
	a->tx_bits = sampling_tx_mask();
	a->counters = counters_of_records(caps);
	a->entries = entries_most();
	/* Precise distribution, or reduced skid: docs/READINGS.md. */
	a->soon = BIT(draw_status_bit(DRAW_GP));
	for (unsigned i = 0; i < pebs_first_without_pdist(); i++)
		a->soon |= BIT(i);
	/* On Lion Cove, the first core with record format 5, sources differ about IA32_PMC1;
	 * Skymont has PDist there. */
	if (!m->env.strict && caps->pebs_format >= PEBS_FORMAT_MORE_RESETS)
		a->soon |= BIT(1);
	msr_write(MSR_PEBS_DATA_CFG, 0);
	m->data_cfg = 0;
}

static u32 highest(u32 set)
{
	return set ? 1u << (31 - __builtin_clz(set)) : 0;
}

/* The host's NMI watchdog uses a counter for cycles, so a guest may not get all counters at the
 * same time (Linux, watchdog_perf.c). */
static void leave_to_host(struct draw_env *env)
{
	if (env->general >> 2)
		env->general &= ~highest(env->general);
	env->fixed &= ~(u32)BIT(1);
}

/* Don't draw counters that an erratum makes unreliable. */
static void leave_unreliable(struct draw_env *env)
{
	const u64 later = BIT(ERRATUM_CTR_FRZ) | BIT(ERRATUM_READ_EVENT_SELECT) |
			  BIT(ERRATUM_USR_ALONE);

	if (env->errata & later)
		env->general &= (u32)draw_ones(FIRST_COUNTERS);
	if (env->errata & BIT(ERRATUM_FIXED_0_MORE))
		env->fixed &= ~(u32)BIT(0);
}

static void learn_sampling(struct machine *m, bool strict, u64 errata)
{
	const struct pmu_caps *caps = counter_caps();
	const struct calibration *known = calibration_get();
	enum record_format format;
	char reason[128];

	m->env.strict = strict;
	if (caps->hypervisor && !strict)
		leave_to_host(&m->env);
	m->env.errata = errata;
	leave_unreliable(&m->env);
	/* The other thread sleeps in strict runs. On a processor it may be the firmware's and may
	 * work. */
	m->env.any_thread = strict && need_any_thread(reason, sizeof(reason));
	m->env.period_least = strict ? 1 : SILICON_PERIOD;
	m->env.nmi_vector = VECTOR_NMI;
	m->env.pmi_vector = VECTOR_PMI;
	/* Only the reference PMU's delay of a freeze is known. */
	m->env.freeze = strict && need_freeze(reason, sizeof(reason)) &&
			need_legacy_freeze(reason, sizeof(reason));
	m->env.pebs = need_pebs(reason, sizeof(reason)) && need_events(reason, sizeof(reason)) &&
		      need_ds_write(reason, sizeof(reason));
	if (m->env.pebs && caps->baseline)
		learn_adaptive(m);
	m->env.rings = true;
	m->env.refuses = !caps->hypervisor;
	m->env.int_open = !strict && !sampling_source_tells_int();
	m->env.shadow_exact = known->shadow_known && !known->shadow_least && !known->shadow_most;
	arch_buffer_learn(&m->env.arch);
	if (caps->hypervisor && !strict)
		m->env.arch.pebs &= draw_every_counter(&m->env);
	m->env.arch.freeze = m->env.arch.pebs && need_freeze(reason, sizeof(reason));
	format = caps->record_format;
	m->env.format = (u8)format;
	m->env.record_bytes = (unsigned)record_size(format);
}

static bool has_conditional_branches(u16 kind)
{
	return kind == EK_BRANCHES || kind == EK_COND_BRANCHES || kind == EK_NEAR_TAKEN;
}

static void add_event(struct machine *m, u16 code, u16 kind, u16 flags, u32 counters)
{
	struct draw_env *env = &m->env;
	const u32 pebs = counter_caps()->pebs_mask;

	if (env->errata & BIT(ERRATUM_BEFORE_BRANCH) && has_conditional_branches(kind))
		flags &= (u16)~EV_PEBS;
	for (unsigned i = 0; i < env->events && env->adaptive.baseline && flags & EV_PEBS; i++)
		if (env->event[i].code == code) {
			env->event[i].flags |= flags;
			env->event[i].pebs |= (u16)(counters & pebs);
			return;
		}
	/* No existing counter certainly counts it. */
	if (!(counters & counter_caps()->gp_mask))
		return;
	if (!env->strict && (denied_select(code) || denied_event(code)))
		return;
	if (env->events == DRAW_EVENTS || draw_event_of(env, code))
		return;
	env->event[env->events++] = (struct draw_event){
		.code = code, .kind = kind, .flags = flags, .counters = (u16)counters,
		.pebs = (u16)(flags & EV_PEBS ? counters & pebs : 0),
	};
}

static void learn_events(struct machine *m)
{
	static const u16 kinds[] = {
		EK_INSTRUCTIONS, EK_BRANCHES, EK_COND_BRANCHES, EK_NEAR_CALLS, EK_NEAR_RETURNS,
		EK_NEAR_TAKEN, EK_LOADS, EK_STORES, EK_LOCK_LOADS, EK_SPLIT_LOADS, EK_SPLIT_STORES,
	};
	char reason[128];
	struct event e;

	if (need_instructions(reason, sizeof(reason)))
		add_event(m, EVENT_INST_RETIRED_ANY_P, EK_INSTRUCTIONS, 0, ~0u);
	if (need_branches(reason, sizeof(reason)))
		add_event(m, EVENT_BR_INST_RETIRED_ALL_BRANCHES, EK_BRANCHES, 0, ~0u);
	if (need_cycles(reason, sizeof(reason)))
		add_event(m, EVENT_UNHALTED_CORE_CYCLES, EK_CORE_CYCLES, 0, ~0u);
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!need_events(reason, sizeof(reason)))
			break;
		if (event_get(kinds[i], 0, &e))
			add_event(m, e.code, kinds[i], e.flags, e.sure);
		/* A period that isn't a multiple of the unit may make two records. */
		if (event_get(kinds[i], EV_PEBS, &e) && (m->env.strict || e.period_unit == 1))
			add_event(m, e.code, kinds[i], e.flags, e.sure);
	}
}

/* ---- what opening and closing a window adds */

static void probe_case(struct draw_case *c, const struct draw_event *e, unsigned counter,
		       bool reads)
{
	*c = (struct draw_case){ .class = DRAW_COUNTS, .global = BIT(counter) };
	c->select[counter] = e->code | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN;
	c->operation[0].msr = counter;
	c->piece[c->pieces++] = (u16)piece_find("start", 0);
	if (reads)
		c->piece[c->pieces++] = (u16)piece_find("rdpmc0", 0);
	c->piece[c->pieces++] = (u16)piece_find("stop", 0);
}

static u64 least_of(u64 a, u64 b)
{
	return a < b ? a : b;
}

/*
 * What a counter has counted beside the program, at least: where RDPMC reads it, or in the end. Not
 * in the end of a program that reads it: a hypervisor may count RDPMC, or not.
 */
static u64 probe_added(struct machine *m, const struct draw_event *e, unsigned counter, bool reads)
{
	const u32 last = reads ? ROW_RDPMC : ROW_STOP;
	struct trace *trace = &m->trace;
	struct draw_case c;
	u64 added = ~0ULL, declared = 0;

	probe_case(&c, e, counter, reads);
	if (!trace_make(&m->env, &c, trace))
		return 0;
	for (unsigned i = 0; i < trace->steps && !(trace->step[i].row->flags & last); i++)
		declared += trace_count(&m->env, &c, e, &trace->step[i]).least;
	for (unsigned i = 0; i < PROBES; i++) {
		struct draw_observation seen;

		machine_run(&c, trace, &seen);
		added = least_of(added,
				 (reads ? seen.result[0].rax : seen.value[counter]) - declared);
	}
	return added;
}

static void probe(struct machine *m, struct draw_event *e)
{
	unsigned counter = 0;
	u64 read, whole;

	while (!(e->counters >> counter & 1))
		counter++;
	read = probe_added(m, e, counter, true);
	whole = probe_added(m, e, counter, false);
	e->whole = whole;
	/* RDPMC may count itself in the value that it reads; no other instruction may. */
	e->open_most = least_of(read, whole);
	e->open_least = e->kind == EK_INSTRUCTIONS && read == 1 ? 0 : e->open_most;
}

static bool is_exact(unsigned kind)
{
	return kind != EK_CORE_CYCLES && kind != EK_REF_CYCLES;
}

const struct draw_env *machine_begin(bool strict, u64 errata)
{
	struct machine *m = &machines[cpu_index()];

	if (!take_memory(m))
		return NULL;
	calibration_get();
	counter_reset();
	descriptor_open_rings(true);
	m->cr4 = cr4_read();
	cr4_write(m->cr4 | CR4_PCE);
	memset(m->select, 0, sizeof(m->select));
	memset(m->value, 0, sizeof(m->value));
	m->fixed_control = m->status = m->debugctl = m->ds_area = 0;
	learn_capabilities(m);
	learn_sampling(m, strict, errata);
	m->env.branches = machine_branches_learn(strict);
	learn_events(m);
	for (unsigned i = 0; i < m->env.events; i++)
		if (is_exact(m->env.event[i].kind))
			probe(m, &m->env.event[i]);
	m->env.arch.precise = arch_precise(&m->env);
	m->env.arch.exact = arch_probe(&m->env, &m->trace, &m->seen);
	return &m->env;
}

void machine_end(void)
{
	struct machine *m = &machines[cpu_index()];

	arch_buffer_close(&m->env);
	machine_branches_close(&m->env);
	if (m->env.adaptive.entry)
		entries_release();
	cr4_write(m->cr4);
	descriptor_open_rings(false);
	counter_reset();
}

/* ---- one case */

/* The bits that may be written to IA32_PERF_GLOBAL_OVF_CTRL. */
static u64 every_status(const struct machine *m)
{
	return draw_every_counter(&m->env) | (m->env.pebs ? IA32_PERF_GLOBAL_STATUS_OVF_BUF : 0) |
	       (m->env.arch.pebs ? IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD |
					   IA32_PERF_GLOBAL_STATUS_CTR_FRZ :
				   0) |
	       (m->env.branches.streamlined ? IA32_PERF_GLOBAL_STATUS_LBR_FRZ : 0);
}

static void write_counter(const struct machine *m, unsigned i, u64 value)
{
	u64 sign = (u64)(int64_t)(int32_t)(u32)value;

	if (i >= DRAW_GP)
		msr_write(MSR_IA32_FIXED_CTR0 + i - DRAW_GP, value);
	else if (!m->env.full_width || ((sign ^ value) << (64 - m->env.gp_width) == 0 && value & 1))
		msr_write(MSR_IA32_PMC0 + i, (u32)value);
	else
		msr_write(MSR_IA32_A_PMC0 + i, value);
}

static void program(struct machine *m, const struct draw_case *c)
{
	FOR_EACH_COUNTER (i, m->env.general) {
		if (m->select[i] != c->select[i])
			msr_write(MSR_IA32_PERFEVTSEL0 + i, c->select[i]);
		if (m->value[i] != c->preset[i])
			write_counter(m, i, c->preset[i]);
	}
	for (unsigned i = 0; i < DRAW_FIXED; i++)
		if (draw_has_fixed(&m->env, i) && m->value[DRAW_GP + i] != c->fixed_preset[i])
			write_counter(m, DRAW_GP + i, c->fixed_preset[i]);
	if (m->fixed_control != c->fixed_control) {
		msr_write(MSR_IA32_FIXED_CTR_CTRL, c->fixed_control);
		written_note(MSR_IA32_FIXED_CTR_CTRL, c->fixed_control);
	}
}

/* Note the values of the registers that the program itself has written. */
static void after_operations(struct machine *m, const struct draw_case *c,
			     const struct trace *trace)
{
	if (draw_counts(c)) {
		memcpy(m->select, c->select, sizeof(m->select));
		m->fixed_control = c->fixed_control;
	}
	for (unsigned i = 0; i < trace->steps; i++) {
		const struct draw_operation *op = &c->operation[trace->step[i].slot];
		u64 value = (u64)op->high << 32 | op->low;

		if (!(trace->step[i].row->flags & ROW_WRMSR) ||
		    trace->step[i].row->flags & ROW_STOP)
			continue;
		if (op->msr - MSR_IA32_PERFEVTSEL0 < DRAW_GP)
			m->select[op->msr - MSR_IA32_PERFEVTSEL0] = value;
		if (op->msr == MSR_IA32_DEBUGCTL)
			m->debugctl = value;
		if (op->msr == MSR_IA32_FIXED_CTR_CTRL) {
			m->fixed_control = value;
			written_note(MSR_IA32_FIXED_CTR_CTRL, value);
		}
	}
	/* The program's last write ended recording. */
	if (c->class == DRAW_BRANCHES && m->env.branches.legacy)
		m->debugctl = 0;
}

/* Prepare the gate's return path: execution continues in the piece, with R15 as the program has it
 * there. */
static void prepare_way_back(struct machine *m, const struct draw_case *c,
			     const struct trace *trace)
{
	u64 top = linear(m->gate) + PAGE_SIZE - GATE_FRAME;
	struct way_back *saved = (struct way_back *)(void *)(m->gate + GATE_SAVED);
	const struct draw_frame *f = m->frame;
	u64 high = draw_code_of(&m->env, c) - m->env.code;

	for (unsigned i = 0; i < trace->steps; i++) {
		if (!(trace->step[i].row->flags & ROW_TO_KERNEL))
			continue;
		*saved = (struct way_back){
			.rflags = rflags_read(),
			.reg = { .r15 = trace->step[i].r15, .r14 = linear(f), .r13 = f->r13,
				 .r12 = f->r12, .rbp = f->rbp, .rbx = f->rbx },
			.rip = high + (u64)(uintptr_t)draw_back,
		};
		*(u64 *)(uintptr_t)top = linear(saved);
		descriptor_set_rsp0(top);
	}
}

/* The access of the program that must be refused, if it has one. */
static const struct trace_step *refused_step(const struct trace *trace)
{
	for (unsigned i = 0; i < trace->steps; i++)
		if (trace->step[i].row->flags & ROW_REFUSED)
			return &trace->step[i];
	return NULL;
}

static void lead_refused(struct machine *m, const struct trace *trace)
{
	const struct trace_step *step = refused_step(trace);

	if (!step)
		return;
	m->frame->result[step->slot] = (struct draw_result){ .rax = ~0ULL };
	draw_elsewhere = descriptor_gate(VECTOR_GP);
	descriptor_lead(VECTOR_GP, step[1].ip);
}

static void look_at_refused(struct machine *m, const struct draw_case *c, const struct trace *trace,
			    struct draw_observation *seen)
{
	const struct trace_step *step = refused_step(trace);
	u32 msr = step ? c->operation[step->slot].msr : 0;
	bool reads = step && piece_get(step->piece)->flags & (PIECE_READ | PIECE_RDPMC);

	if (!step)
		return;
	descriptor_lead(VECTOR_GP, 0);
	if (reads || (msr - MSR_IA32_PERFEVTSEL0 >= DRAW_GP && msr != MSR_IA32_FIXED_CTR_CTRL))
		return;
	seen->left = msr_read(msr);
	if (msr == MSR_IA32_FIXED_CTR_CTRL)
		m->fixed_control = seen->left;
	else
		m->select[msr - MSR_IA32_PERFEVTSEL0] = seen->left;
}

/* Hold the entries before the first case with recording, because it takes as long as ten cases.
 * Cases before it have unknown entries. */
static void hold_entries(struct machine *m, const struct draw_case *c)
{
	if (!c->ds.recording || m->env.adaptive.entry)
		return;
	entries_hold(m->entry);
	m->env.adaptive.entry = m->entry;
}

/* Program interrupts, freezing and PEBS; this must be the last step. */
static void program_sampling(struct machine *m, const struct draw_case *c)
{
	u64 debugctl = draw_debugctl(c);
	struct pmi_options options = { .nmi = c->lvt == DRAW_LVT_NMI,
				       .masked = c->lvt == DRAW_LVT_MASKED,
				       .keep_status = c->keep_status,
				       .stay_masked = c->stay_masked };

	if (m->debugctl != debugctl)
		msr_write(MSR_IA32_DEBUGCTL, debugctl);
	m->debugctl = debugctl;
	if (c->ds.used) {
		u64 area = buffer_open(&m->env, &c->ds);

		if (m->ds_area != area)
			msr_write(MSR_IA32_DS_AREA, area);
		m->ds_area = area;
		hold_entries(m, c);
		if (m->data_cfg != c->ds.config)
			msr_write(MSR_PEBS_DATA_CFG, c->ds.config);
		m->data_cfg = c->ds.config;
		msr_write(MSR_IA32_PEBS_ENABLE, c->pebs_enable);
	}
	pmi_open(&options);
	if (c->arch.used)
		arch_buffer_open(&m->env, c);
}

static void look_at_sampling(struct machine *m, const struct draw_case *c,
			     const struct trace *trace, struct draw_observation *seen)
{
	const struct pmi_log *log = pmi_settle();

	seen->interrupts = log->count;
	for (unsigned i = 0; i < log->count && i < DRAW_INTERRUPTS_SEEN && i < PMI_LOG_SIZE; i++) {
		const struct pmi_entry *e = &log->entry[i];

		seen->interrupt[i] = (struct draw_interrupt){
			.vector = e->vector, .lvtpc = e->lvtpc, .status = e->status,
			.global = e->global_ctrl, .debugctl = e->debugctl, .rip = e->rip,
			.arch_index = e->arch_index,
		};
	}
	pmi_close();
	if (c->arch.used)
		arch_buffer_look(&m->env, c, trace, seen);
	if (draw_debugctl(c))
		seen->debugctl = m->debugctl = msr_read(MSR_IA32_DEBUGCTL);
	if (c->ds.used) {
		msr_write(MSR_IA32_PEBS_ENABLE, 0);
		buffer_look(&m->env, c, seen);
	}
}

/* Set R8 to R15 and the other registers to their values at the program's beginning. */
static void fill_frame(struct machine *m, const struct draw_case *c)
{
	struct draw_frame *f = m->frame;

	f->stack = m->env.stack;
	f->msr = MSR_IA32_PERF_GLOBAL_CTRL;
	f->on = c->global;
	f->rsi = draw_pointer(&m->env, c, 0);
	f->rbp = draw_pointer(&m->env, c, 1);
	f->rbx = draw_pointer(&m->env, c, 2);
	f->r8 = draw_constant(c, 0);
	f->r9 = draw_constant(c, 1);
	f->r10 = draw_constant(c, 2);
	f->r11 = draw_constant(c, 3);
	f->r12 = draw_constant(c, 4);
	f->r13 = m->env.operations;
	f->r15 = m->env.table;
	for (unsigned n = 0; n < DRAW_VECTORS; n++)
		for (unsigned half = 0; half < 2; half++)
			f->vector[n][half] = c->arch.used ? draw_arch_xmm(&c->arch, 2 * n + half) :
							    draw_vector(c, n, half);
}

static void look_at_counters(struct machine *m, struct draw_observation *seen)
{
	FOR_EACH_COUNTER (i, m->env.general)
		seen->value[i] = m->value[i] = msr_read(MSR_IA32_PMC0 + i);
	for (unsigned i = 0; i < DRAW_FIXED; i++)
		if (draw_has_fixed(&m->env, i))
			seen->value[DRAW_GP + i] = m->value[DRAW_GP + i] = msr_read(
				MSR_IA32_FIXED_CTR0 + i);
	seen->status = counters_status();
	m->status = seen->status & every_status(m);
}

void machine_run(const struct draw_case *c, const struct trace *trace,
		 struct draw_observation *seen)
{
	struct machine *m = &machines[cpu_index()];
	void (*enter)(struct draw_frame *frame);

	*seen = (struct draw_observation){ .interrupts = 0 };
	for (unsigned i = 1; i < c->pieces; i++)
		m->table[i - 1] = draw_code_of(&m->env, c) + piece_get(c->piece[i])->begin;
	memcpy(m->operations, c->operation, sizeof(c->operation));
	fill_frame(m, c);
	enter = (void (*)(struct draw_frame *))(uintptr_t)((u64)(uintptr_t)draw_enter +
							   draw_code_of(&m->env, c) - m->env.code);
	prepare_way_back(m, c, trace);
	if (draw_counts(c))
		program(m, c);
	if (m->status)
		counters_clear(m->status);
	m->status = 0;
	if (c->class == DRAW_BRANCHES)
		machine_branches_open(&m->env, c);
	if (draw_samples(c))
		program_sampling(m, c);
	/* Each instruction may take longer during recording. */
	if (c->ds.recording)
		entries_keep();
	lead_refused(m, trace);
	seen->begin = tsc_read();
	enter(m->frame);
	seen->end = tsc_read();
	if (c->ds.recording)
		entries_stop();
	written_note(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	if (draw_samples(c))
		look_at_sampling(m, c, trace, seen);
	if (c->class == DRAW_BRANCHES)
		machine_branches_look(&m->env, c, seen);
	after_operations(m, c, trace);
	look_at_refused(m, c, trace, seen);
	if (draw_counts(c))
		look_at_counters(m, seen);
	memcpy(seen->result, m->frame->result, sizeof(seen->result));
}
