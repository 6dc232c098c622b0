/* SPDX-License-Identifier: MIT */
/*
 * Latitude: the knobs, values that are drawn again for each occurrence, the shape of the memory
 * hierarchy, and steal time, in which the program doesn't run (SMI, preemption by a host).
 */
#include "refpmu/model/internal.h"

#define MILLION		1000000

static const struct {
	u32 low, high;
	bool never_drawn;
} knobs[LAT_COUNT] = {
#define LATITUDE(token, name, low, high, source) [LAT_##token] = { low, high, false },
#define TROUBLE(token, name, low, high, source) [LAT_##token] = { low, high, true },
#include "refpmu/model/latitude.def"
};

static const struct {
	u8 profile, knob;
	u32 low, high;
} profile_knobs[] = {
#define PROFILE_KNOB(profile, knob, low, high, source) \
	{ PROFILE_##profile, LAT_##knob, low, high },
#include "refpmu/model/profile.def"
};

static const struct {
	u8 generation, knob;
	u32 low, high;
} generation_knobs[] = {
#define GENERATION_KNOB(id, knob, low, high, source) { GEN_##id, LAT_##knob, low, high },
#include "spec/generation.def"
};

static const struct {
	u8 profile;
	u32 fact;
} profile_facts[] = {
#define PROFILE_FACT(profile, fact, source) { PROFILE_##profile, FACT_##fact },
#include "refpmu/model/profile.def"
};

bool model_latitude_allows(enum latitude_id knob, u32 value)
{
	return knob < LAT_COUNT && value >= knobs[knob].low && value <= knobs[knob].high;
}

/* The splitmix64 generator: a full-period sequence from any starting value. */
static u64 random_from(u64 *random)
{
	u64 z = *random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

u64 model_random(struct model *m)
{
	return random_from(&m->random);
}

static u32 between_from(u64 *random, u32 low, u32 high)
{
	if (low >= high)
		return high;
	return low + (u32)(random_from(random) % (high - low + 1));
}

static u32 between(struct model *m, u32 low, u32 high)
{
	return between_from(&m->random, low, high);
}

u32 model_draw_below(u64 *random, u32 bound)
{
	return between_from(random, 0, bound);
}

u32 model_draw(struct model *m, enum latitude_id id)
{
	return between(m, knobs[id].low, m->latitude[id]);
}

u32 model_skid(struct model *m)
{
	return between(m, m->latitude[LAT_PMI_SKID_LEAST], m->latitude[LAT_PMI_SKID]);
}

static void schedule_steal(struct model *m)
{
	u32 rate = m->latitude[LAT_SMI_RATE] + m->latitude[LAT_PREEMPTION_RATE];

	m->steal_in = rate ? between(m, 1, 2 * (MILLION / rate)) : 0;
}

#define SMM_ARMS_GLOBALLY 2	/* refpmu/model/latitude.def */
/* Firmware that uses the PMU itself enables two fixed counters, at every privilege level. */
#define SMM_FIXED_CTRL	(IA32_FIXED_CTR_CTRL_EN1 | IA32_FIXED_CTR_CTRL_EN2)

/* An SMI's handler has run. */
static void arm_in_smm(struct model *m)
{
	if (!m->latitude[LAT_SMM_ARMS] || !model_generation(m)->fixed || m->facts & FACT_NO_PMU)
		return;
	m->fixed_ctr_ctrl = SMM_FIXED_CTRL;
	if (m->latitude[LAT_SMM_ARMS] == SMM_ARMS_GLOBALLY)
		m->global_ctrl |= model_global_bit(FIRST_FIXED + 1) |
				  model_global_bit(FIRST_FIXED + 2);
	model_configure(m);
}

void model_steal(struct model *m)
{
	u32 smis = m->latitude[LAT_SMI_RATE], preemptions = m->latitude[LAT_PREEMPTION_RATE];

	m->stolen_tsc += model_draw(m, LAT_STOLEN_TICKS);
	if (between(m, 1, smis + preemptions) <= smis) {
		m->smi_count++;
		arm_in_smm(m);
		if (!(m->debugctl & IA32_DEBUGCTL_FREEZE_WHILE_SMM))
			m->smm_events = model_draw(m, LAT_SMM_EVENTS);
	}
	schedule_steal(m);
}

u64 model_stolen_tsc(struct model *m)
{
	u64 ticks = m->stolen_tsc;

	m->stolen_tsc = 0;
	return ticks;
}

struct memory_shape model_memory_shape(const struct model *m)
{
	struct memory_shape shape = memory_usual_shape();

	shape.l2_sets >>= m->latitude[LAT_CACHE_SIZE];
	shape.stlb_sets <<= m->latitude[LAT_CACHE_SIZE];
	shape.replacement = (u8)m->latitude[LAT_CACHE_REPLACEMENT];
	shape.clean_forward = !m->latitude[LAT_CLEAN_LINE];
	shape.fill_window = m->latitude[LAT_FILL_WINDOW];
	shape.spread = m->latitude[LAT_LATENCY_SPREAD];
	for (unsigned i = SOURCE_L3; i < MEMORY_SOURCES; i++)
		shape.latency[i] += shape.latency[i] * m->latitude[LAT_MEMORY_LATENCY] / 100;
	return shape;
}

void model_take_latitude(struct model *m)
{
	const struct model_latitude *config = &m->config.latitude;

	m->random = config->seed;
	for (unsigned i = 0; i < LAT_COUNT; i++) {
		u32 low = knobs[i].low, high = knobs[i].high;
		u64 random = model_random(m);

		for (size_t n = 0; n < sizeof(profile_knobs) / sizeof(profile_knobs[0]); n++)
			if (profile_knobs[n].profile == config->profile &&
			    profile_knobs[n].knob == i) {
				low = profile_knobs[n].low;
				high = profile_knobs[n].high;
			}
		for (size_t n = 0; n < sizeof(generation_knobs) / sizeof(generation_knobs[0]); n++)
			if (generation_knobs[n].generation == m->config.generation &&
			    generation_knobs[n].knob == i) {
				low = generation_knobs[n].low;
				high = generation_knobs[n].high;
			}
		m->latitude[i] = low;
		if (config->seed && !knobs[i].never_drawn)
			m->latitude[i] += (u32)(random % (high - low + 1));
		if (config->set & LATITUDE_BIT(i))
			m->latitude[i] = config->value[i];
	}
	for (size_t n = 0; n < sizeof(profile_facts) / sizeof(profile_facts[0]); n++)
		if (profile_facts[n].profile == config->profile)
			m->facts |= profile_facts[n].fact;
	model_take_told(m);
	m->tag_random = model_random(m);
	schedule_steal(m);
}
