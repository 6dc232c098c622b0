/* SPDX-License-Identifier: MIT */
/* See fixture.h. */
#include "host/model/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* DS area offsets: Figure 18-22 "PEBS Programming Environment". */
enum { DS_BASE = 0x20, DS_INDEX = 0x28, DS_MAXIMUM = 0x30, DS_THRESHOLD = 0x38, DS_RESET = 0x40 };

static u8 *fixture_find(struct fixture *r, u64 linear, size_t bytes)
{
	u64 offset = linear - FIXTURE_MEMORY_BASE;

	if (r->unmapped)
		return NULL;
	if (offset > FIXTURE_MEMORY || bytes > FIXTURE_MEMORY - offset) {
		r->stray++;
		return NULL;
	}
	return r->memory + offset;
}

static bool host_read(void *ctx, u64 linear, void *to, size_t bytes)
{
	const u8 *from = fixture_find(ctx, linear, bytes);

	if (from)
		memcpy(to, from, bytes);
	return from;
}

static bool host_write(void *ctx, u64 linear, const void *from, size_t bytes)
{
	struct fixture *r = ctx;
	u8 *to = fixture_find(r, linear, bytes);

	if (!to)
		return false;
	memcpy(to, from, bytes);
	if (linear != FIXTURE_DS + DS_INDEX) {
		if (!r->dirty_hi || linear < r->dirty_lo)
			r->dirty_lo = linear;
		if (linear + bytes > r->dirty_hi)
			r->dirty_hi = linear + bytes;
	}
	return true;
}

static bool host_write_physical(void *ctx, u64 physical, const void *from, size_t bytes)
{
	return host_write(ctx, physical - FIXTURE_PHYSICAL + FIXTURE_MEMORY_BASE, from, bytes);
}

/* The lock is recursive, because PMI handlers run inside host_pmi(). */
static void host_lock(void *ctx, u32 *lock)
{
	struct fixture *r = ctx;

	r->lock_errors += *lock && !r->in_pmi;
	++*lock;
}

static void host_unlock(void *ctx, u32 *lock)
{
	struct fixture *r = ctx;

	r->lock_errors += !*lock;
	--*lock;
}

static void host_kick(void *ctx, unsigned processor)
{
	struct fixture *r = ctx;

	r->calls++;
	r->called |= BIT(processor);
}

static u32 host_lvtpc(void *ctx)
{
	return ((struct fixture *)ctx)->lvtpc;
}

static void fixture_take(struct fixture *r, struct pmi_delivery d)
{
	r->lvtpc = d.lvtpc;
	if (d.kind == PMI_DROPPED || r->n_interrupts == FIXTURE_LOG)
		return;
	r->interrupt[r->n_interrupts++] = (struct fixture_interrupt){
		.kind = d.kind,
		.vector = d.vector,
		.status = model_rdmsr(&r->m, MSR_IA32_PERF_GLOBAL_STATUS).value,
		.index = fixture_index(r),
		.at = r->now,
	};
}

static void host_deliver(void *ctx, const struct pmi_delivery *delivery)
{
	struct fixture *r = ctx;

	r->requests++;
	r->in_pmi = true;
	fixture_take(r, *delivery);
	r->in_pmi = false;
}

static void host_trace(void *ctx, enum model_action action, unsigned counter)
{
	struct fixture *r = ctx;

	if (r->n_actions < FIXTURE_LOG)
		r->action[r->n_actions++] = (struct fixture_action){ action, counter, r->now };
}

static void host_xmm(void *ctx, u8 *bytes)
{
	for (unsigned i = 0; i < 256; i++)
		bytes[i] = (u8)(i + ((struct fixture *)ctx)->xmm);
}

static void host_registers(void *ctx, const struct model_registers *registers)
{
	struct fixture *r = ctx;

	r->regs = *registers;
	r->ip = registers->rip;
}

bool fixture_has_pebs(const struct fixture *r)
{
	/* Architectural PEBS has no IA32_PEBS_ENABLE. */
	return !(r->m.misc_enable & IA32_MISC_ENABLE_PEBS_UNAVAILABLE) &&
	       !(BIT(r->m.config.generation) & GENS_ARCH_PEBS);
}

void fixture_open(struct fixture *r, enum fault_id fault, u64 seed, bool hyper_threading)
{
	const struct model_config config = {
		.generation = GEN_HASWELL, .hyper_threading = hyper_threading, .fault = fault,
		.latitude.seed = seed,
	};

	fixture_open_config(r, &config);
}

/* IA32_PERF_CAPABILITIES as software reads it; a broken processor may not have it. */
static u64 capabilities(struct fixture *r)
{
	return model_rdmsr(&r->m, MSR_IA32_PERF_CAPABILITIES).value;
}

/* The enumeration that software reads: CPUID.0AH:EAX[15:8], IA32_PERF_CAPABILITIES[11:8]. A broken
 * processor may enumerate more counters than it has. */
static void enumerate(struct fixture *r)
{
	u32 regs[4] = { 0 };

	model_cpuid(&r->m, 0xa, 0, regs);
	r->gp = regs[0] >> 8 & 0xff;
	while (r->gp && model_rdmsr(&r->m, MSR_IA32_PERFEVTSEL0 + r->gp - 1).status == MSR_GP)
		r->gp--;
	switch (capabilities(r) >> 8 & 0xf) {
	case 1:
		r->record = FIXTURE_RECORD_FMT1;
		break;
	case 3:
		r->record = FIXTURE_RECORD_FMT3;
		break;
	case 4:
		r->record = FIXTURE_RECORD_BASIC;
		break;
	default:
		r->record = FIXTURE_RECORD;
	}
}

static void plug(struct fixture *r)
{
	memset(r, 0, offsetof(struct fixture, hierarchy));
	r->lvtpc = FIXTURE_VECTOR;
	r->ip = 0x401000;
	r->host = (struct model_host){
		.ctx = r, .read = host_read, .write = host_write,
		.write_physical = host_write_physical, .lvtpc = host_lvtpc,
		.deliver = host_deliver,
		.trace = host_trace, .memory = &r->hierarchy, .tx_log = &r->tx_log,
		.registers = host_registers,
		.xmm = host_xmm,
	};
}

static void power_on(struct fixture *r, const struct model_config *config)
{
	for (unsigned i = 0; i < REG_COUNT; i++)
		r->regs.gpr[i] = 0x0101010101010101ULL * (i + 1);
	r->regs.rflags = 2;
	model_init(&r->m, config, &r->host);
	enumerate(r);
	if (!r->gp)		/* a guest without a PMU */
		return;
	fixture_stop(r);
	if (fixture_has_pebs(r))
		fixture_set(r, MSR_IA32_PEBS_ENABLE, 0);
	fixture_set(r, MSR_IA32_FIXED_CTR_CTRL, 0);
	fixture_set(r, MSR_IA32_PERF_GLOBAL_OVF_CTRL,
		    IA32_PERF_GLOBAL_STATUS_COND_CHGD | BIT(32) | BIT(0));
	for (unsigned i = 0; i < 3; i++)
		fixture_set(r, MSR_IA32_FIXED_CTR0 + i, 0);
	for (unsigned i = 0; i < r->gp; i++) {
		fixture_set(r, MSR_IA32_PERFEVTSEL0 + i, 0);
		fixture_set(r, MSR_IA32_PMC0 + i, 0);
	}
	r->now = 0;
}

void fixture_open_config(struct fixture *r, const struct model_config *config)
{
	plug(r);
	power_on(r, config);
}

void fixture_open_package(struct fixture *processors, unsigned n, struct model_core *cores,
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
		processors[t].host.kick = host_kick;
		power_on(&processors[t], config);
	}
}

void fixture_open_core(struct fixture *threads, struct model_core *core,
		       const struct model_config *config)
{
	fixture_open_package(threads, CORE_THREADS, core, NULL, config);
}

void fixture_open_knob(struct fixture *r, enum latitude_id knob, u32 value)
{
	struct model_config config = { .generation = GEN_HASWELL, .hyper_threading = true };

	config.latitude.set = LATITUDE_BIT(knob);
	config.latitude.value[knob] = value;
	fixture_open_config(r, &config);
}

void fixture_write_lvtpc(struct fixture *r, u32 value)
{
	r->lvtpc = value;
	fixture_take(r, model_lvt_written(&r->m, value));
}

/* After an instruction: run the handlers of all delivered interrupts, which unmask. */
static void handlers(struct fixture *r)
{
	for (unsigned turn = 0; turn < 8 && r->unmasks && r->lvtpc & BIT(16); turn++)
		fixture_write_lvtpc(r, r->lvtpc & ~(u32)BIT(16));
}

void fixture_retire(struct fixture *r, struct model_retired *i)
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
	if (model_needs_retire(&r->m))
		model_retire(&r->m, i);
	r->now++;
	handlers(r);
}

enum msr_status fixture_wrmsr(struct fixture *r, u32 msr, u64 value)
{
	enum msr_status status = model_wrmsr(&r->m, msr, value).status;

	if (status != MSR_GP)
		fixture_nops(r, 1);
	return status;
}

static void must(bool held, const char *what, u32 msr)
{
	if (held)
		return;
	fprintf(stderr, "rig: %s of MSR %#x isn't possible\n", what, msr);
	abort();
}

/* The knob refused-events: a select of 0 raises #GP too. */
static bool is_refused(const struct fixture *r, u32 msr)
{
	return r->m.latitude[LAT_REFUSED_EVENTS] && msr - MSR_IA32_PERFEVTSEL0 < r->gp;
}

void fixture_set(struct fixture *r, u32 msr, u64 value)
{
	enum msr_status status = fixture_wrmsr(r, msr, value);

	must(status == MSR_DONE || (status == MSR_GP && is_refused(r, msr)), "write", msr);
}

u64 fixture_get(struct fixture *r, u32 msr)
{
	struct msr_result result = model_rdmsr(&r->m, msr);

	must(result.status == MSR_DONE, "read", msr);
	return result.value;
}

u64 fixture_status(struct fixture *r)
{
	return fixture_get(r, MSR_IA32_PERF_GLOBAL_STATUS);
}

void fixture_nops(struct fixture *r, unsigned n)
{
	while (n--)
		fixture_retire(r, &(struct model_retired){ .branch = BRANCH_NONE });
}

void fixture_load(struct fixture *r, u64 linear)
{
	fixture_retire(r, &(struct model_retired){ .loads = 1, .n_access = 1,
						   .access = { { linear, 8, false, false } } });
}

void fixture_store(struct fixture *r, u64 linear)
{
	fixture_retire(r, &(struct model_retired){ .stores = 1, .n_access = 1,
						   .access = { { linear, 8, true, false } } });
}

void fixture_locked_add(struct fixture *r, u64 linear)
{
	fixture_retire(r, &(struct model_retired){ .loads = 1,
						   .stores = 1,
						   .locked_loads = 1,
						   .n_access = 2,
						   .access = { { linear, 8, false, true },
							       { linear, 8, true, true } } });
}

void fixture_branch(struct fixture *r, enum model_branch branch, bool taken)
{
	fixture_retire(r, &(struct model_retired){ .branch = branch, .taken = taken });
}

void fixture_backward_branch(struct fixture *r, bool taken)
{
	fixture_retire(r, &(struct model_retired){
				  .branch = BRANCH_CONDITIONAL, .taken = taken, .backward = true });
}

u64 fixture_peek(const struct fixture *r, u64 linear)
{
	u64 value;

	memcpy(&value, r->memory + (linear - FIXTURE_MEMORY_BASE), sizeof(value));
	return value;
}

void fixture_poke(struct fixture *r, u64 linear, u64 value)
{
	memcpy(r->memory + (linear - FIXTURE_MEMORY_BASE), &value, sizeof(value));
}

void fixture_ds(struct fixture *r, unsigned records, unsigned threshold)
{
	fixture_poke(r, FIXTURE_DS + DS_BASE, FIXTURE_BUFFER);
	fixture_poke(r, FIXTURE_DS + DS_INDEX, FIXTURE_BUFFER);
	fixture_poke(r, FIXTURE_DS + DS_MAXIMUM, FIXTURE_BUFFER + records * r->record);
	fixture_poke(r, FIXTURE_DS + DS_THRESHOLD, FIXTURE_BUFFER + threshold * r->record);
	if (fixture_has_pebs(r))
		fixture_set(r, MSR_IA32_DS_AREA, FIXTURE_DS);
}

void fixture_set_reset(struct fixture *r, unsigned counter, u64 value)
{
	fixture_poke(r, FIXTURE_DS + DS_RESET + 8 * counter, value);
}

u64 fixture_index(const struct fixture *r)
{
	return fixture_peek(r, FIXTURE_DS + DS_INDEX);
}

unsigned fixture_records(const struct fixture *r)
{
	return (unsigned)((fixture_index(r) - FIXTURE_BUFFER) / r->record);
}

u64 fixture_record(const struct fixture *r, unsigned n, unsigned offset)
{
	return fixture_peek(r, FIXTURE_BUFFER + n * r->record + offset);
}

void fixture_program(struct fixture *r, unsigned n, u32 event, u64 bits, u64 period)
{
	fixture_set(r, MSR_IA32_PERFEVTSEL0 + n, 0);
	/* A broken processor may enumerate features that it doesn't have. */
	if (!(capabilities(r) & IA32_PERF_CAPABILITIES_FW_WRITE) ||
	    fixture_wrmsr(r, MSR_IA32_A_PMC0 + n, -period & BITS(0, 47)) != MSR_DONE)
		fixture_set(r, MSR_IA32_PMC0 + n, -period & BITS(0, 31));
	fixture_set(r, MSR_IA32_PERFEVTSEL0 + n,
		    event | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_USR | bits);
}

void fixture_program_pebs(struct fixture *r, unsigned n, u32 event, u64 bits, u64 period)
{
	fixture_program(r, n, event, bits, period);
	fixture_set_reset(r, n, -period & BITS(0, 47));
	/* Don't read it back: the read may be broken. */
	fixture_set(r, MSR_IA32_PEBS_ENABLE, r->m.pebs_enable | BIT(n));
}

void fixture_start(struct fixture *r, u64 counters)
{
	fixture_set(r, MSR_IA32_PERF_GLOBAL_CTRL, counters);
}

void fixture_stop(struct fixture *r)
{
	fixture_set(r, MSR_IA32_PERF_GLOBAL_CTRL, 0);
}

const char *fixture_actions(const struct fixture *r)
{
	static const char *const names[] = { "ARM", "ASSIST", "THRESHOLD", "OVERFLOW",
					    "UNCORE" };
	static char text[FIXTURE_LOG * 16];
	size_t used = 0;

	text[0] = 0;
	for (unsigned i = 0; i < r->n_actions; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%u", i ? " " : "",
					 names[r->action[i].action], r->action[i].counter);
	return text;
}
