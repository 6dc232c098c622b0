/* SPDX-License-Identifier: MIT */
/*
 * The model's configuration: the generation it presents, and the state after power-on ("IA-32
 * Processor States Following Power-up, Reset, or INIT").
 */
#include "refpmu/model/core.h"
#include "refpmu/model/exerciser.h"
#include "refpmu/model/lbr.h"
#include "refpmu/model/pmu.h"
#include "refpmu/model/uncore.h"
#include "spec/adaptive.h"
#include "spec/arch_pebs.h"

/* IA32_MISC_ENABLE: fast strings, thermal control, SpeedStep, MONITOR. */
#define OTHER_FEATURES (BIT(0) | BIT(3) | BIT(16) | BIT(18))

static const struct generation generations[GEN_COUNT] = {
#define GENERATION(id, code, name, title, family, model, stepping, brand, perfmon, gp, gp_no_ht, \
		   fixed, width, max_leaf, lbr_fmt, pebs_format, pebs_mask, ll_mask, facilities, \
		   source) \
	[GEN_##id] = { family, model, stepping, brand, perfmon, gp, gp_no_ht, fixed, width, \
		       max_leaf, lbr_fmt, pebs_format, pebs_mask, ll_mask, facilities },
#include "spec/generation.def"
};

const struct generation *model_generation_row(enum generation_id id)
{
	return &generations[id];
}

const struct generation *model_generation(const struct model *m)
{
	return model_generation_row(m->config.generation);
}

/* The cores that a package may have. */
static const struct {
	u8 package, type, id;
	u32 native;
} cores[] = {
#define GENERATION_CORE(package, type, native, id) { GEN_##package, (type), GEN_##id, (native) },
#include "spec/generation.def"
};

static const u8 *other_core_of(enum generation_id package)
{
	for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++)
		if (cores[i].package == package && cores[i].id != package)
			return &cores[i].id;
	return NULL;
}

static bool has_one_thread(enum generation_id generation)
{
	return BIT(generation) & GENS_ONE_THREAD;
}

/* The first half of a hybrid's processors, rounded up to whole cores, belongs to P-cores. */
static unsigned processors_of_p_cores(const struct model_config *config,
				      const struct model_host *host)
{
	unsigned half = host->processors > 1 ? (host->processors + 1) / 2 : 1;

	if (!other_core_of(config->generation))
		return ~0u;
	return config->hyper_threading ? (half + 1) / CORE_THREADS * CORE_THREADS : half;
}

static void take_core(struct model *m, unsigned processor)
{
	unsigned first_e = processors_of_p_cores(&m->config, m->host);

	m->package = (u8)m->config.generation;
	if (m->config.hyper_threading && !has_one_thread(m->config.generation))
		m->paired = first_e;
	m->has_e_cores = first_e < m->host->processors;
	if (processor >= first_e)
		m->config.generation = *other_core_of(m->config.generation);
	m->core = model_core_of(m, processor);
	m->thread = processor < m->paired ? processor % CORE_THREADS : 0;
	m->config.hyper_threading = processor < m->paired;
}

unsigned model_core_of(const struct model *m, unsigned processor)
{
	return processor < m->paired ? processor / CORE_THREADS : processor;
}

bool model_is_hybrid(const struct model *m)
{
	return m->facts & FACT_HYBRID || other_core_of(m->package);
}

bool model_core_beside(const struct model *m, enum generation_id *other)
{
	const u8 *smaller = other_core_of(m->package);

	if (!smaller)
		return false;
	*other = m->config.generation == m->package ? *smaller : m->package;
	return true;
}

u32 model_core_type(const struct model *m)
{
	for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++)
		if (cores[i].package == m->package && cores[i].id == m->config.generation)
			return (u32)cores[i].type << CORE_TYPE_SHIFT | cores[i].native;
	return 0;
}

bool model_is_e_core(const struct model *m)
{
	return has_one_thread(m->config.generation) || model_is_small_core(m);
}

/* Only in a profile: a core of the same generation with fewer counters. */
bool model_is_small_core(const struct model *m)
{
	return m->facts & FACT_HYBRID && m->latitude[LAT_E_CORES] && m->core && !model_core_type(m);
}

unsigned model_pebs_format(const struct model *m)
{
	const struct generation *g = model_generation(m);

	return g->facilities & FAC_RETIRE_LATENCY && m->latitude[LAT_PEBS_FORMAT_5] ?
		       PEBS_FORMAT_MORE_RESETS :
		       g->pebs_format;
}

bool model_format_is_adaptive(const struct model *m)
{
	const unsigned format = model_generation(m)->pebs_format;

	return format >= PEBS_FORMAT_ADAPTIVE && format != PEBS_FORMAT_ARCHITECTURAL;
}

bool model_has_force_abort(const struct model *m)
{
	return m->latitude[LAT_TSX_FORCE_ABORT] && model_core_version(m) == 4 && model_has_tx(m);
}

u64 model_global_bit(unsigned counter)
{
	if (counter < FIRST_FIXED)
		return BIT(counter);
	return BIT(IA32_PERF_GLOBAL_CTRL_EN_FIXED_CTR_SHIFT + counter - FIRST_FIXED);
}

/*
 * Set a state that firmware may leave: programmed counters with any value, an old overflow. The
 * global enables stay off, because an enabled counter would be watched from the first instruction
 * on.
 */
static void make_dirty(struct model *m)
{
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++) {
		if (model_has_counter(m, i))
			model_set_counter(m, i, model_random(m));
		if (i < FIRST_FIXED && model_has_counter(m, i))
			m->perfevtsel[i] = IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS |
					   IA32_PERFEVTSEL_INT | EVENT_INST_RETIRED_ANY_P;
	}
	m->fixed_ctr_ctrl = IA32_FIXED_CTR_CTRL_EN0 | IA32_FIXED_CTR_CTRL_PMI0 |
			    IA32_FIXED_CTR_CTRL_EN1 | IA32_FIXED_CTR_CTRL_EN2;
	m->global_ctrl = 0;
	m->offcore_rsp[0] = OFFCORE_RSP_REQUEST & model_random(m);
	if (!(m->facts & FACT_WITHOUT_PEBS)) {
		if (model_generation(m)->pebs_format != PEBS_FORMAT_ARCHITECTURAL)
			m->pebs_enable = model_pebs_counters(m) & model_random(m);
		m->ds_area = model_random(m) >> 20;
		m->ld_lat_threshold = 0x40;
	}
	m->global_status = IA32_PERF_GLOBAL_STATUS_COND_CHGD | model_global_bit(0) |
			   model_global_bit(FIRST_FIXED);
}

void model_init(struct model *m, const struct model_config *config, const struct model_host *host)
{
	*m = (struct model){ .config = *config, .host = host };
	take_core(m, host->processor);
	fault_init(m);
	model_take_latitude(m);
	/* Of several processors, the first one clears the hierarchy. */
	if (model_memory(m) && !host->processor) {
		const struct memory_shape shape = model_memory_shape(m);

		memory_reset(model_memory(m), &shape, config->latitude.seed);
		model_memory(m)->remote_base = host->remote_base;
		model_memory(m)->remote_size = host->remote_bytes;
	}
	if (host->exerciser && !host->processor)
		model_exerciser_reset(m);
	m->perf_capabilities = fault_perf_capabilities(m, model_capabilities(m));
	/* BTS isn't available: the model stores no branch records. */
	m->misc_enable = IA32_MISC_ENABLE_PERFMON_AVAILABLE | IA32_MISC_ENABLE_BTS_UNAVAILABLE;
	if (m->facts & FACT_WITHOUT_PEBS)
		m->misc_enable |= IA32_MISC_ENABLE_PEBS_UNAVAILABLE;
	if (m->latitude[LAT_MISC_ENABLE_OTHERS])
		m->misc_enable |= OTHER_FEATURES;
	pmu_reset(m);
	model_core_join(m);
}

void model_set_fault(struct model *m, u32 fault, const struct fault_when *when)
{
	m->config.fault = fault;
	m->config.when = *when;
	__builtin_memset(m->fault_room, 0, sizeof(m->fault_room));
	fault_init(m);
	m->perf_capabilities = fault_perf_capabilities(m, model_capabilities(m));
	if (!(model_generation(m)->facilities & FAC_NETBURST))
		model_configure(m);
}

void arch_reset(struct model *m)
{
	m->global_ctrl = model_gp_mask(m);
	model_arch_lbr_reset(m);
	fault_reset(m);
	if (m->latitude[LAT_DIRTY_MSRS])
		make_dirty(m);
	if (m->latitude[LAT_FROZEN_STATUS] && model_version_4(m))
		m->global_status |= IA32_PERF_GLOBAL_STATUS_LBR_FRZ |
				    IA32_PERF_GLOBAL_STATUS_CTR_FRZ;
	if (model_generation(m)->facilities & FAC_UNCORE && !(m->facts & FACT_NO_UNCORE))
		model_uncore_join(m, m->latitude[LAT_DIRTY_MSRS]);
	model_configure(m);
}

bool model_counts_reference(const struct model *m)
{
	for (u64 left = m->active; left; left &= left - 1)
		if (m->counter[__builtin_ctzll(left)].rule.kind == EK_REF_CYCLES)
			return true;
	return false;
}

u64 model_reference_clock(const struct model *m)
{
	return __atomic_load_n(&m->cycles, __ATOMIC_RELAXED);
}
