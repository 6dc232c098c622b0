/* SPDX-License-Identifier: MIT */
/* See rig.h. */
#include "host/model/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* DS area offsets: Figure 18-22 "PEBS Programming Environment". */
enum { DS_BASE = 0x20, DS_INDEX = 0x28, DS_MAXIMUM = 0x30, DS_THRESHOLD = 0x38, DS_RESET = 0x40 };

static u8 *find(struct rig *r, u64 linear, size_t bytes)
{
	u64 offset = linear - RIG_MEMORY_BASE;

	if (r->unmapped)
		return NULL;
	if (offset > RIG_MEMORY || bytes > RIG_MEMORY - offset) {
		r->stray++;
		return NULL;
	}
	return r->memory + offset;
}

static bool host_read(void *ctx, u64 linear, void *to, size_t bytes)
{
	const u8 *from = find(ctx, linear, bytes);

	if (from)
		memcpy(to, from, bytes);
	return from;
}

static bool host_write(void *ctx, u64 linear, const void *from, size_t bytes)
{
	struct rig *r = ctx;
	u8 *to = find(r, linear, bytes);

	if (!to)
		return false;
	memcpy(to, from, bytes);
	if (linear != RIG_DS + DS_INDEX) {
		if (!r->dirty_hi || linear < r->dirty_lo)
			r->dirty_lo = linear;
		if (linear + bytes > r->dirty_hi)
			r->dirty_hi = linear + bytes;
	}
	return true;
}

/* Locks nest here because PMI handlers run inside host_pmi(). */
static void host_lock(void *ctx, u32 *lock)
{
	struct rig *r = ctx;

	r->lock_errors += *lock && !r->in_pmi;
	++*lock;
}

static void host_unlock(void *ctx, u32 *lock)
{
	struct rig *r = ctx;

	r->lock_errors += !*lock;
	--*lock;
}

static void host_call(void *ctx, unsigned processor)
{
	struct rig *r = ctx;

	r->calls++;
	r->called |= BIT(processor);
}

static void take(struct rig *r, struct pmi_delivery d)
{
	r->lvtpc = d.lvtpc;
	if (d.kind == PMI_DROPPED || r->n_interrupts == RIG_LOG)
		return;
	r->interrupt[r->n_interrupts++] = (struct rig_interrupt){
		.kind = d.kind,
		.vector = d.vector,
		.status = model_rdmsr(&r->m, MSR_IA32_PERF_GLOBAL_STATUS).value,
		.index = rig_index(r),
		.at = r->now,
	};
}

static void host_pmi(void *ctx)
{
	struct rig *r = ctx;

	r->requests++;
	r->in_pmi = true;
	take(r, model_lvt_deliver(&r->m, r->lvtpc));
	r->in_pmi = false;
}

static void host_trace(void *ctx, enum model_action action, unsigned counter)
{
	struct rig *r = ctx;

	if (r->n_actions < RIG_LOG)
		r->action[r->n_actions++] = (struct rig_action){ action, counter, r->now };
}

static void host_registers(void *ctx, const struct model_registers *registers)
{
	struct rig *r = ctx;

	r->regs = *registers;
	r->ip = registers->rip;
}

bool rig_has_pebs(const struct rig *r)
{
	return !(r->m.misc_enable & IA32_MISC_ENABLE_PEBS_UNAVAILABLE);
}

void rig_open(struct rig *r, enum fault_id fault, u64 seed, bool hyper_threading)
{
	const struct model_config config = {
		.generation = GEN_HASWELL, .hyper_threading = hyper_threading, .fault = fault,
		.latitude.seed = seed,
	};

	rig_open_config(r, &config);
}

/* As software reads it, where a broken processor may have none. */
static u64 capabilities(struct rig *r)
{
	return model_rdmsr(&r->m, MSR_IA32_PERF_CAPABILITIES).value;
}

/* What software learns of the processor: CPUID.0AH:EAX[15:8], IA32_PERF_CAPABILITIES[11:8]. */
static void enumerate(struct rig *r)
{
	u32 regs[4] = { 0 };

	model_cpuid(&r->m, 0xa, 0, regs);
	r->gp = regs[0] >> 8 & 0xff;
	r->record = (capabilities(r) >> 8 & 0xf) == 1 ? RIG_RECORD_FMT1 : RIG_RECORD;
}

static void plug(struct rig *r)
{
	memset(r, 0, offsetof(struct rig, hierarchy));
	r->lvtpc = RIG_VECTOR;
	r->ip = 0x401000;
	r->host = (struct model_host){
		.ctx = r, .read = host_read, .write = host_write, .pmi = host_pmi,
		.trace = host_trace, .memory = &r->hierarchy, .tx_log = &r->tx_log,
		.registers = host_registers,
	};
}

static void power_on(struct rig *r, const struct model_config *config)
{
	for (unsigned i = 0; i < REG_COUNT; i++)
		r->regs.gpr[i] = 0x0101010101010101ULL * (i + 1);
	r->regs.rflags = 2;
	model_init(&r->m, config, &r->host);
	enumerate(r);
	if (!r->gp)		/* a guest without a PMU */
		return;
	rig_stop(r);
	if (rig_has_pebs(r))
		rig_set(r, MSR_IA32_PEBS_ENABLE, 0);
	rig_set(r, MSR_IA32_FIXED_CTR_CTRL, 0);
	rig_set(r, MSR_IA32_PERF_GLOBAL_OVF_CTRL,
		IA32_PERF_GLOBAL_STATUS_COND_CHGD | BIT(32) | BIT(0));
	for (unsigned i = 0; i < 3; i++)
		rig_set(r, MSR_IA32_FIXED_CTR0 + i, 0);
	for (unsigned i = 0; i < r->gp; i++) {
		rig_set(r, MSR_IA32_PERFEVTSEL0 + i, 0);
		rig_set(r, MSR_IA32_PMC0 + i, 0);
	}
	r->now = 0;
}

void rig_open_config(struct rig *r, const struct model_config *config)
{
	plug(r);
	power_on(r, config);
}

void rig_open_package(struct rig *processors, unsigned n, struct model_core *cores,
		      struct model_uncore *uncore, const struct model_config *config)
{
	memset(cores, 0, (config->hyper_threading ? (n + 1) / 2 : n) * sizeof(*cores));
	if (uncore)
		memset(uncore, 0, sizeof(*uncore));
	for (unsigned t = 0; t < n; t++) {
		plug(&processors[t]);
		processors[t].host.processor = t;
		processors[t].host.processors = n;
		processors[t].host.memory = &processors[0].hierarchy;
		processors[t].host.cores = cores;
		processors[t].host.uncore = uncore;
		processors[t].host.lock = host_lock;
		processors[t].host.unlock = host_unlock;
		processors[t].host.call = host_call;
		power_on(&processors[t], config);
	}
}

void rig_open_core(struct rig *threads, struct model_core *core, const struct model_config *config)
{
	rig_open_package(threads, CORE_THREADS, core, NULL, config);
}

void rig_open_knob(struct rig *r, enum latitude_id knob, u32 value)
{
	struct model_config config = { .generation = GEN_HASWELL, .hyper_threading = true };

	config.latitude.set = BIT(knob);
	config.latitude.value[knob] = value;
	rig_open_config(r, &config);
}

void rig_write_lvtpc(struct rig *r, u32 value)
{
	r->lvtpc = value;
	take(r, model_lvt_written(&r->m, value));
}

/* After an instruction: the handlers of whatever was delivered run and unmask. */
static void handlers(struct rig *r)
{
	for (unsigned turn = 0; turn < 8 && r->unmasks && r->lvtpc & BIT(16); turn++)
		rig_write_lvtpc(r, r->lvtpc & ~(u32)BIT(16));
}

void rig_retire(struct rig *r, struct model_retired *i)
{
	i->ip = r->ip;
	i->cpl = r->cpl;
	r->regs.rip = r->ip;
	i->before = r->regs;
	for (unsigned n = 0; n < REG_COUNT; n++)
		r->regs.gpr[n] += n + 1;
	r->regs.rflags ^= 1;
	r->ip += 4;
	r->regs.rip = r->ip;
	i->after = r->regs;
	if (model_watching(&r->m))
		model_retire(&r->m, i);
	r->now++;
	handlers(r);
}

enum msr_status rig_wrmsr(struct rig *r, u32 msr, u64 value)
{
	enum msr_status status = model_wrmsr(&r->m, msr, value).status;

	if (status != MSR_GP)
		rig_nops(r, 1);
	return status;
}

static void must(bool held, const char *what, u32 msr)
{
	if (held)
		return;
	fprintf(stderr, "rig: %s of MSR %#x isn't possible\n", what, msr);
	abort();
}

void rig_set(struct rig *r, u32 msr, u64 value)
{
	must(rig_wrmsr(r, msr, value) == MSR_DONE, "write", msr);
}

u64 rig_get(struct rig *r, u32 msr)
{
	struct msr_result result = model_rdmsr(&r->m, msr);

	must(result.status == MSR_DONE, "read", msr);
	return result.value;
}

u64 rig_status(struct rig *r)
{
	return rig_get(r, MSR_IA32_PERF_GLOBAL_STATUS);
}

void rig_nops(struct rig *r, unsigned n)
{
	while (n--)
		rig_retire(r, &(struct model_retired){ .branch = BRANCH_NONE });
}

void rig_load(struct rig *r, u64 linear)
{
	rig_retire(r, &(struct model_retired){ .loads = 1, .n_access = 1,
					       .access = { { linear, 8, false, false } } });
}

void rig_store(struct rig *r, u64 linear)
{
	rig_retire(r, &(struct model_retired){ .stores = 1, .n_access = 1,
					       .access = { { linear, 8, true, false } } });
}

void rig_locked_add(struct rig *r, u64 linear)
{
	rig_retire(r, &(struct model_retired){
		.loads = 1, .stores = 1, .locked_loads = 1, .n_access = 2,
		.access = { { linear, 8, false, true }, { linear, 8, true, true } } });
}

void rig_branch(struct rig *r, enum model_branch branch, bool taken)
{
	rig_retire(r, &(struct model_retired){ .branch = branch, .taken = taken });
}

u64 rig_peek(const struct rig *r, u64 linear)
{
	u64 value;

	memcpy(&value, r->memory + (linear - RIG_MEMORY_BASE), sizeof(value));
	return value;
}

void rig_poke(struct rig *r, u64 linear, u64 value)
{
	memcpy(r->memory + (linear - RIG_MEMORY_BASE), &value, sizeof(value));
}

void rig_ds(struct rig *r, unsigned records, unsigned threshold)
{
	rig_poke(r, RIG_DS + DS_BASE, RIG_BUFFER);
	rig_poke(r, RIG_DS + DS_INDEX, RIG_BUFFER);
	rig_poke(r, RIG_DS + DS_MAXIMUM, RIG_BUFFER + records * r->record);
	rig_poke(r, RIG_DS + DS_THRESHOLD, RIG_BUFFER + threshold * r->record);
	if (rig_has_pebs(r))
		rig_set(r, MSR_IA32_DS_AREA, RIG_DS);
}

void rig_set_reset(struct rig *r, unsigned counter, u64 value)
{
	rig_poke(r, RIG_DS + DS_RESET + 8 * counter, value);
}

u64 rig_index(const struct rig *r)
{
	return rig_peek(r, RIG_DS + DS_INDEX);
}

unsigned rig_records(const struct rig *r)
{
	return (unsigned)((rig_index(r) - RIG_BUFFER) / r->record);
}

u64 rig_record(const struct rig *r, unsigned n, unsigned offset)
{
	return rig_peek(r, RIG_BUFFER + n * r->record + offset);
}

void rig_program(struct rig *r, unsigned n, u32 event, u64 bits, u64 period)
{
	rig_set(r, MSR_IA32_PERFEVTSEL0 + n, 0);
	/* A broken processor may announce what it doesn't have. */
	if (!(capabilities(r) & IA32_PERF_CAPABILITIES_FW_WRITE) ||
	    rig_wrmsr(r, MSR_IA32_A_PMC0 + n, -period & BITS(0, 47)) != MSR_DONE)
		rig_set(r, MSR_IA32_PMC0 + n, -period & BITS(0, 31));
	rig_set(r, MSR_IA32_PERFEVTSEL0 + n, event | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS |
					     IA32_PERFEVTSEL_USR | bits);
}

void rig_program_pebs(struct rig *r, unsigned n, u32 event, u64 bits, u64 period)
{
	rig_program(r, n, event, bits, period);
	rig_set_reset(r, n, -period & BITS(0, 47));
	/* Not read back: that may be what is broken. */
	rig_set(r, MSR_IA32_PEBS_ENABLE, r->m.pebs_enable | BIT(n));
}

void rig_start(struct rig *r, u64 counters)
{
	rig_set(r, MSR_IA32_PERF_GLOBAL_CTRL, counters);
}

void rig_stop(struct rig *r)
{
	rig_set(r, MSR_IA32_PERF_GLOBAL_CTRL, 0);
}

const char *rig_actions(const struct rig *r)
{
	static const char *const names[] = { "ARM", "ASSIST", "THRESHOLD", "OVERFLOW",
					    "UNCORE" };
	static char text[RIG_LOG * 16];
	size_t used = 0;

	text[0] = 0;
	for (unsigned i = 0; i < r->n_actions; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%u", i ? " " : "",
					 names[r->action[i].action], r->action[i].counter);
	return text;
}
