/* SPDX-License-Identifier: MIT */
/* See exerciser.h. */
#include "refpmu/model/exerciser.h"
#include "refpmu/model/internal.h"

#define WORD(name)	(EXERCISER_##name / 4)
#define OFFERED		BITS(EXERCISE_NOWHERE, EXERCISE_PENDING)

void model_exerciser_reset(struct model *m)
{
	struct exerciser *e = m->host->exerciser;

	*e = (struct exerciser){ .word = { 0 } };
	if (m->latitude[LAT_NO_EXERCISER] || !model_memory(m))
		return;
	e->word[WORD(SIGNATURE)] = EXERCISER_HERE;
	e->word[WORD(VERSION)] = EXERCISER_NUMBER;
	e->word[WORD(STATES)] = (u32)OFFERED;
	e->word[WORD(LINE_BYTES)] = MEMORY_LINE;
	e->word[WORD(MOST_BYTES)] = EXERCISER_MOST;
	e->word[WORD(REMOTE_LOW)] = (u32)m->host->remote_base;
	e->word[WORD(REMOTE_HIGH)] = (u32)(m->host->remote_base >> 32);
	e->word[WORD(REMOTE_BYTES)] = m->host->remote_bytes;
	e->word[WORD(STATUS)] = EXERCISER_IS_IDLE;
}

static u64 address_of(const struct exerciser *e)
{
	return e->word[WORD(ADDRESS_LOW)] | (u64)e->word[WORD(ADDRESS_HIGH)] << 32;
}

static u32 lines_of(const struct exerciser *e)
{
	u64 first = address_of(e) / MEMORY_LINE;
	u64 last = (address_of(e) + e->word[WORD(LENGTH)] - 1) / MEMORY_LINE;

	return (u32)(last - first + 1);
}

/* DONE: the command is valid. */
static enum exerciser_status check(const struct model *m, const struct exerciser *e)
{
	u32 state = e->word[WORD(STATE)], bytes = e->word[WORD(LENGTH)];

	if (state >= 32 || !(e->word[WORD(STATES)] & BIT(state)))
		return EXERCISER_IS_NO_STATE;
	if (e->word[WORD(PROCESSOR)] >= (m->host->processors ? m->host->processors : 1))
		return EXERCISER_IS_NO_PROCESSOR;
	if (!bytes || bytes > EXERCISER_MOST || (state == EXERCISE_PENDING && lines_of(e) > 1))
		return EXERCISER_IS_BAD_LENGTH;
	if (m->host->cacheable && !m->host->cacheable(m->host->ctx, address_of(e), bytes))
		return EXERCISER_IS_BAD_ADDRESS;
	return EXERCISER_IS_DONE;
}

static void place(struct model *m, const struct exerciser *e, const struct exercise *plan)
{
	u32 processor = e->word[WORD(PROCESSOR)];
	unsigned core = model_core_of(m, processor);
	struct memory *memory = m->host->memory;

	memory_enter(memory);
	memory_place_begin(memory);
	for (u64 i = 0; i < plan->placed; i++)
		memory_place(memory, core, address_of(e) + i * MEMORY_LINE, plan->state);
	memory_leave(memory);
}

/* docs/EXERCISER.md: a write of STATE begins the command; STATUS and LINES have its result. */
static void exerciser_command(struct model *m, struct exerciser *e)
{
	struct exercise plan = {
		.status = check(m, e),
		.state = (enum exerciser_state)e->word[WORD(STATE)],
	};

	if (plan.status == EXERCISER_IS_DONE)
		plan.lines = plan.placed = lines_of(e);
	fault_exercise(m, &plan);
	if (plan.placed)
		place(m, e, &plan);
	e->word[WORD(LINES)] = plan.lines;
	e->word[WORD(STATUS)] = plan.status;
}

void model_exerciser_write(struct model *m, u32 offset, u32 value)
{
	struct exerciser *e = m->host->exerciser;

	if (e->word[WORD(SIGNATURE)] != EXERCISER_HERE)
		return;
	fault_next_sequence(m);
	switch (offset) {
	case EXERCISER_ADDRESS_LOW:
	case EXERCISER_ADDRESS_HIGH:
	case EXERCISER_LENGTH:
	case EXERCISER_PROCESSOR:
	case EXERCISER_STATE:
		e->word[offset / 4] = value;
		break;
	default:
		break;
	}
	if (offset == EXERCISER_STATE)
		exerciser_command(m, e);
}
