/* SPDX-License-Identifier: MIT */
/* See core.h. */
#include "refpmu/model/core.h"
#include "refpmu/model/pmu.h"

static bool is_package_wide(const struct model *m)
{
	return m->host->cores && fault_reaches_package(m, false);
}

/* The record of watching threads and the lock: one for each core, or one for the whole package. */
static struct model_core *lock_domain(const struct model *m)
{
	return m->host->cores ? &m->host->cores[is_package_wide(m) ? 0 : m->core] : NULL;
}

static u64 own_bit(const struct model *m)
{
	return BIT(is_package_wide(m) ? m->host->processor : m->thread);
}

static struct model_core *core_of(const struct model *m)
{
	struct model_core *core = m->host->cores ? &m->host->cores[m->core] : NULL;

	return core && __atomic_load_n(&core->thread[m->thread], __ATOMIC_ACQUIRE) == m ? core :
											  NULL;
}

static u64 watchers(const struct model_core *core)
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

/* AnyThread, "Architectural Performance Monitoring Version 3": the processors that may count
 * this one's events. */
struct model *model_core_other(const struct model *m, unsigned *next)
{
	if (!is_package_wide(m))
		return (*next)++ ? NULL : model_core_sibling(m);
	while (*next < m->host->processors) {
		unsigned processor = (*next)++;
		struct model_core *core = &m->host->cores[model_core_of(m, processor)];
		unsigned thread = processor < m->paired ? processor % CORE_THREADS : 0;
		struct model *other = __atomic_load_n(&core->thread[thread], __ATOMIC_ACQUIRE);

		if (other && other != m)
			return other;
	}
	return NULL;
}

void model_core_watch(struct model *m, bool watch)
{
	struct model_core *core = lock_domain(m);
	u64 bit = own_bit(m);

	/* The sibling need not have been started yet, but it must exist. */
	if (!core || !m->config.hyper_threading || (m->host->processor ^ 1) >= m->host->processors)
		return;
	if (watch)
		__atomic_fetch_or(&core->watchers, bit, __ATOMIC_SEQ_CST);
	else if (watchers(core) & bit)
		__atomic_fetch_and(&core->watchers, ~bit, __ATOMIC_SEQ_CST);
}

bool model_core_needs_sibling(const struct model *m)
{
	if (!core_of(m))
		return false;
	return pmu_shared_counts(m) || watchers(lock_domain(m)) & own_bit(m) ||
	       fault_reaches_core(m, false);
}

bool model_core_needs_others(const struct model *m)
{
	return is_package_wide(m) && model_core_needs_sibling(m);
}

bool model_core_is_watched(const struct model *m)
{
	return core_of(m) && watchers(lock_domain(m)) & ~own_bit(m);
}

bool model_core_is_quiet(const struct model *m)
{
	return !core_of(m) || !watchers(lock_domain(m));
}

bool model_core_enter(struct model *m)
{
	struct model_core *tie = lock_domain(m);

	if (!core_of(m) || !(pmu_is_shared(m) || watchers(tie) || fault_reaches_core(m, false)))
		return false;
	if (m->host->lock)
		m->host->lock(m->host->ctx, &tie->lock);
	return true;
}

void model_core_leave(struct model *m, bool entered)
{
	if (entered && m->host->unlock)
		m->host->unlock(m->host->ctx, &lock_domain(m)->lock);
}

void model_core_kick(struct model *m, struct model *to)
{
	if (to != m && m->host->kick)
		m->host->kick(m->host->ctx, to->host->processor);
}
