/* SPDX-License-Identifier: MIT */
/* See model_core.h. */
#include "refpmu/model_core.h"
#include "refpmu/model_netburst.h"

/* Faults that reach into the sibling's model. */
static bool reaches_over(enum fault_id fault)
{
	switch (fault) {
#define FAULT_PER_CORE(token) case FAULT_##token:
#include "spec/fault_scope.def"
		return true;
	default:
		return false;
	}
}

static struct model_core *core_of(const struct model *m)
{
	struct model_core *core = m->host->cores ? &m->host->cores[m->core] : NULL;

	return core && __atomic_load_n(&core->thread[m->thread], __ATOMIC_ACQUIRE) == m ? core :
		NULL;
}

static u8 watchers(const struct model_core *core)
{
	return __atomic_load_n(&core->watchers, __ATOMIC_ACQUIRE);
}

void model_core_reset(struct model_core *core)
{
	for (unsigned t = 0; t < CORE_THREADS; t++)
		__atomic_store_n(&core->thread[t], NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&core->watchers, 0, __ATOMIC_RELEASE);
}

void model_core_join(struct model *m)
{
	if (m->host->cores)
		__atomic_store_n(&m->host->cores[m->core].thread[m->thread], m, __ATOMIC_RELEASE);
}

struct model *model_core_sibling(const struct model *m)
{
	const struct model_core *core = core_of(m);

	return core ? __atomic_load_n(&core->thread[!m->thread], __ATOMIC_ACQUIRE) : NULL;
}

void model_core_watch(struct model *m, bool watch)
{
	struct model_core *core = m->host->cores ? &m->host->cores[m->core] : NULL;
	u8 bit = (u8)BIT(m->thread);

	/* Whether or not the sibling has been started yet; but there must be one. */
	if (!core || !m->config.hyper_threading || (m->host->processor ^ 1) >= m->host->processors)
		return;
	if (watch)
		__atomic_fetch_or(&core->watchers, bit, __ATOMIC_SEQ_CST);
	else if (watchers(core) & bit)
		__atomic_fetch_and(&core->watchers, (u8)~bit, __ATOMIC_SEQ_CST);
}

bool model_core_needs_sibling(const struct model *m)
{
	const struct model_core *core = core_of(m);

	if (!core)
		return false;
	if (model_is_netburst(m))
		return __atomic_load_n(&netburst_of(m)->now.running, __ATOMIC_ACQUIRE);
	return watchers(core) & BIT(m->thread) || reaches_over(m->config.fault);
}

bool model_core_is_watched(const struct model *m)
{
	const struct model_core *core = core_of(m);

	return core && watchers(core) & BIT(!m->thread);
}

bool model_core_is_quiet(const struct model *m)
{
	const struct model_core *core = core_of(m);

	return !core || !watchers(core);
}

bool model_core_enter(struct model *m)
{
	struct model_core *core = core_of(m);

	if (!core || !(model_is_netburst(m) || watchers(core) || reaches_over(m->config.fault)))
		return false;
	if (m->host->lock)
		m->host->lock(m->host->ctx, &core->lock);
	return true;
}

void model_core_leave(struct model *m, bool entered)
{
	if (entered && m->host->unlock)
		m->host->unlock(m->host->ctx, &m->host->cores[m->core].lock);
}

void model_core_call(struct model *m, struct model *to)
{
	if (to != m && m->host->call)
		m->host->call(m->host->ctx, to->host->processor);
}
