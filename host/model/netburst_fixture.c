/* SPDX-License-Identifier: MIT */
/* See netburst_fixture.h. */
#include "host/model/netburst_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* DS area, 64-bit form: "64 Bit Format of the DS Save Area". */
enum {
	DS_BASE = 0x20,
	DS_INDEX = 0x28,
	DS_MAXIMUM = 0x30,
	DS_THRESHOLD = 0x38,
	DS_RESET = 0x40,
	RECORD = 0x90
};

#define NBFIXTURE_VECTOR	0xf0	/* LVTPC: fixed, and not masked */

/* host[0] and host[1] belong to the same fixture; each is the context of one processor. */
static struct netburst_fixture *fixture_of(void *ctx, unsigned *t)
{
	struct model_host *host = ctx;
	void *first = host - host->processor;

	*t = host->processor;
	return (void *)((char *)first - offsetof(struct netburst_fixture, host));
}

static u8 *netburst_fixture_find(struct netburst_fixture *r, u64 linear, size_t bytes)
{
	u64 offset = linear - NBFIXTURE_BASE;

	return offset > NBFIXTURE_MEMORY || bytes > NBFIXTURE_MEMORY - offset ? NULL :
										r->memory + offset;
}

static bool host_read(void *ctx, u64 linear, void *to, size_t bytes)
{
	unsigned t;
	const u8 *from = netburst_fixture_find(fixture_of(ctx, &t), linear, bytes);

	if (from)
		memcpy(to, from, bytes);
	return from;
}

static bool host_write(void *ctx, u64 linear, const void *from, size_t bytes)
{
	unsigned t;
	u8 *to = netburst_fixture_find(fixture_of(ctx, &t), linear, bytes);

	if (to)
		memcpy(to, from, bytes);
	return to;
}

static u32 host_lvtpc(void *ctx)
{
	(void)ctx;
	return NBFIXTURE_VECTOR;
}

static void host_deliver(void *ctx, const struct pmi_delivery *delivery)
{
	unsigned t;
	struct netburst_fixture *r = fixture_of(ctx, &t);

	(void)delivery;
	r->requests[t]++;
}

static void host_kick(void *ctx, unsigned processor)
{
	unsigned t;

	(void)processor;
	fixture_of(ctx, &t)->called++;
}

void nbfixture_open_config(struct netburst_fixture *r, const struct model_config *config, bool two)
{
	memset(r, 0, offsetof(struct netburst_fixture, hierarchy));
	r->user_cpl = 3;
	for (unsigned t = 0; t < (two ? 2 : 1); t++) {
		r->host[t] = (struct model_host){
			.ctx = &r->host[t], .read = host_read, .write = host_write,
			.lvtpc = host_lvtpc, .deliver = host_deliver,
			.processor = t, .processors = two ? 2 : 1,
			.memory = &r->hierarchy, .netburst = &r->shared,
			.cores = &r->core,
			.kick = host_kick,
		};
		r->ip[t] = 0x401000 + 0x100000 * t;
		for (unsigned i = 0; i < REG_COUNT; i++)
			r->regs[t].gpr[i] = 0x0101010101010101ULL * (i + 1 + 0x20 * t);
		r->regs[t].rflags = 2 | BIT(21);	/* ID */
		model_init(&r->m[t], config, &r->host[t]);
	}
}

void nbfixture_open(struct netburst_fixture *r, enum fault_id fault, bool hyper_threading)
{
	const struct model_config config = {
		.generation = GEN_NETBURST, .hyper_threading = hyper_threading, .fault = fault,
	};

	nbfixture_open_config(r, &config, hyper_threading);
}

void nbfixture_retire(struct netburst_fixture *r, unsigned t, bool user, struct model_retired *i)
{
	struct model_registers *regs = &r->regs[t];

	i->ip = r->ip[t];
	i->cpl = user ? r->user_cpl : 0;
	i->legacy = r->legacy;
	regs->rip = i->ip;
	i->before = *regs;
	r->ip[t] += 4;
	regs->rip = r->ip[t];
	regs->rflags ^= 1;
	for (unsigned n = 0; n < REG_COUNT; n++)
		regs->gpr[n] += n + 1;
	i->after = *regs;
	if (model_needs_retire(&r->m[t]))
		model_retire(&r->m[t], i);
}

void nbfixture_nops(struct netburst_fixture *r, unsigned t, bool user, unsigned n)
{
	while (n--) {
		struct model_retired i = { .branch = BRANCH_NONE };

		nbfixture_retire(r, t, user, &i);
	}
}

void nbfixture_load(struct netburst_fixture *r, unsigned t, u64 linear)
{
	struct model_retired i = {
		.loads = 1, .n_access = 1, .access[0] = { .linear = linear, .bytes = 8 },
	};

	nbfixture_retire(r, t, false, &i);
}

void nbfixture_store(struct netburst_fixture *r, unsigned t, u64 linear)
{
	struct model_retired i = {
		.stores = 1, .n_access = 1,
		.access[0] = { .linear = linear, .bytes = 8, .store = true },
	};

	nbfixture_retire(r, t, false, &i);
}

void nbfixture_branch(struct netburst_fixture *r, unsigned t, enum model_branch branch, bool taken)
{
	struct model_retired i = { .branch = branch, .taken = taken };

	nbfixture_retire(r, t, false, &i);
}

void nbfixture_compute(struct netburst_fixture *r, unsigned t, bool user,
		       enum model_arithmetic what)
{
	struct model_retired i = { .arithmetic = what };

	nbfixture_retire(r, t, user, &i);
}

void nbfixture_halt(struct netburst_fixture *r, unsigned t)
{
	model_halt(&r->m[t]);
}

enum msr_status nbfixture_wrmsr(struct netburst_fixture *r, unsigned t, u32 msr, u64 value)
{
	struct model_retired i = { .act = ACT_DRAIN };
	bool needs_retire = model_needs_retire(&r->m[t]);
	enum msr_status status = model_wrmsr(&r->m[t], msr, value).status;

	if (status == MSR_DONE && (needs_retire || model_needs_retire(&r->m[t])))
		nbfixture_retire(r, t, false, &i);
	return status;
}

void nbfixture_set(struct netburst_fixture *r, unsigned t, u32 msr, u64 value)
{
	if (nbfixture_wrmsr(r, t, msr, value) != MSR_DONE) {
		fprintf(stderr, "WRMSR %#x of %#llx fails\n", msr, (unsigned long long)value);
		abort();
	}
}

u64 nbfixture_get(struct netburst_fixture *r, unsigned t, u32 msr)
{
	struct msr_result result = model_rdmsr(&r->m[t], msr);

	if (result.status != MSR_DONE) {
		fprintf(stderr, "RDMSR %#x fails\n", msr);
		abort();
	}
	return result.value;
}

u64 nbfixture_peek(const struct netburst_fixture *r, u64 linear, unsigned bytes)
{
	u64 value = 0;

	memcpy(&value, r->memory + (linear - NBFIXTURE_BASE), bytes);
	return value;
}

void nbfixture_poke(struct netburst_fixture *r, u64 linear, u64 value, unsigned bytes)
{
	memcpy(r->memory + (linear - NBFIXTURE_BASE), &value, bytes);
}

void nbfixture_ds(struct netburst_fixture *r, unsigned records, unsigned threshold, u64 reset)
{
	for (unsigned t = 0; t < 2; t++) {
		u64 ds = NBFIXTURE_DS(t), buffer = NBFIXTURE_BUFFER(t);

		nbfixture_poke(r, ds + DS_BASE, buffer, 8);
		nbfixture_poke(r, ds + DS_INDEX, buffer, 8);
		nbfixture_poke(r, ds + DS_MAXIMUM, buffer + RECORD * records, 8);
		nbfixture_poke(r, ds + DS_THRESHOLD, buffer + RECORD * threshold, 8);
		nbfixture_poke(r, ds + DS_RESET, reset, 8);
		if (r->host[t].processors)
			nbfixture_set(r, t, 0x600, ds);
	}
}

unsigned nbfixture_records(const struct netburst_fixture *r, unsigned t)
{
	return (unsigned)((nbfixture_peek(r, NBFIXTURE_DS(t) + DS_INDEX, 8) - NBFIXTURE_BUFFER(t)) /
			  RECORD);
}

u64 nbfixture_record(const struct netburst_fixture *r, unsigned t, unsigned n, unsigned offset)
{
	return nbfixture_peek(r, NBFIXTURE_BUFFER(t) + RECORD * n + offset, 8);
}
