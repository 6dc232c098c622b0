/* SPDX-License-Identifier: MIT */
/* See tx.h: the lines that a transaction has accessed, with their old contents. */
#include "refpmu/model/internal.h"

#define COMPARED	4	/* lines compared at a time */
#define LINE_MASK	(~(u64)(TX_LINE - 1))

void model_tx_log_begin(struct model *m)
{
	struct tx_log *log = m->host->tx_log;

	log->n = log->n_written = log->next = log->n_fresh = log->checks = 0;
	__builtin_memset(log->bucket, 0, sizeof(log->bucket));
}

static u16 *bucket_of(struct tx_log *log, u64 linear)
{
	u64 at = linear / TX_LINE;

	for (at ^= at >> 11;; at++) {
		u16 *bucket = &log->bucket[at % TX_BUCKETS];

		if (!*bucket || log->line[*bucket - 1].linear == linear)
			return bucket;
	}
}

/* "Runtime Considerations": only write-back memory can be in a transaction. An access to an
 * unmapped page faults. */
static bool cacheable(const struct model *m, u64 linear)
{
	struct memory_page page;

	return !m->host->translate || !m->host->translate(m->host->ctx, linear, &page) ||
	       page.type == MEMORY_WRITE_BACK;
}

/*
 * "Runtime Considerations": a transaction that is too large may abort. The manual guarantees no
 * size.
 *
 * Returns the line at this address; a new one if the transaction hasn't accessed it yet. NULL
 * with TX_FINE: the page isn't mapped, and the access will fault.
 */
static struct tx_line *look_up(struct model *m, u64 linear, enum tx_cause *cause)
{
	struct tx_log *log = m->host->tx_log;
	u16 *bucket = bucket_of(log, linear);
	struct tx_line *line;

	*cause = TX_FINE;
	if (*bucket)
		return &log->line[*bucket - 1];
	if (!cacheable(m, linear)) {
		*cause = TX_MEMORY_TYPE;
		return NULL;
	}
	if (log->n == TX_LINES) {
		*cause = TX_CAPACITY_READS;
		return NULL;
	}
	line = &log->line[log->n];
	line->linear = linear;
	line->written = line->fresh = 0;
	if (!m->host->read(m->host->ctx, linear, line->before, TX_LINE))
		return NULL;
	__builtin_memcpy(line->seen, line->before, TX_LINE);
	*bucket = (u16)++log->n;
	return line;
}

static u64 bytes_of(u64 line, u64 linear, unsigned bytes)
{
	u64 first = linear > line ? linear - line : 0;
	u64 last = linear + bytes - 1 - line;

	return BITS(first, last < TX_LINE ? last : TX_LINE - 1);
}

/* "Runtime Considerations", "RTM Abort Status Definition": too many lines set bit 3 of EAX.
 * Table 18-51 has one bit for writes and one for reads. */
enum tx_cause model_tx_access(struct model *m, u64 linear, unsigned bytes, bool store)
{
	struct tx_log *log = m->host->tx_log;
	enum tx_cause cause = TX_FINE;

	if (!bytes)
		return TX_FINE;
	for (u64 at = linear & LINE_MASK, n = (linear + bytes - 1 - at) / TX_LINE + 1; n;
	     n--, at += TX_LINE) {
		struct tx_line *line = look_up(m, at, &cause);

		if (cause != TX_FINE)
			return cause;
		if (!line || !store)
			continue;
		if (!line->written && log->n_written++ == TX_WRITES)
			return TX_CAPACITY_WRITES;
		if (!line->fresh)
			log->fresh[log->n_fresh++] = (u16)(line - log->line);
		line->fresh |= bytes_of(at, linear, bytes);
		line->written |= line->fresh;
	}
	return TX_FINE;
}

/* The stores of the last instruction are those of the transaction itself. */
static void take_stores(struct model *m)
{
	struct tx_log *log = m->host->tx_log;
	u32 kept = 0;

	for (u32 i = 0; i < log->n_fresh; i++) {
		struct tx_line *line = &log->line[log->fresh[i]];
		u8 now[TX_LINE];

		if (!m->host->read(m->host->ctx, line->linear, now, TX_LINE)) {
			log->fresh[kept++] = log->fresh[i];
			continue;
		}
		for (u64 left = line->fresh; left; left &= left - 1)
			line->seen[__builtin_ctzll(left)] = now[__builtin_ctzll(left)];
		line->fresh = 0;
	}
	log->n_fresh = kept;
}

/* A write by another processor shows by the bytes. A write of the same bytes isn't noticed:
 * docs/READINGS.md, "Capacity and conflicts". */
static bool unchanged(struct model *m, const struct tx_line *line)
{
	u8 now[TX_LINE];
	u64 a, b, differs = 0;

	if (!m->host->read(m->host->ctx, line->linear, now, TX_LINE))
		return false;
	for (size_t i = 0; i < TX_LINE; i += sizeof(a)) {
		__builtin_memcpy(&a, now + i, sizeof(a));
		__builtin_memcpy(&b, line->seen + i, sizeof(b));
		differs |= a ^ b;
	}
	return !differs;
}

/* "Runtime Considerations": a write by another logical processor to a line of the transaction
 * may abort it. */
enum tx_cause model_tx_compare(struct model *m)
{
	struct tx_log *log = m->host->tx_log;

	/* "... the processor will abort": the lock doesn't have its value from before XACQUIRE. */
	if (m->tx.elided && m->tx.broken_lock)
		return TX_INSTRUCTION;
	take_stores(m);
	if (++log->checks % TX_COMPARE_EVERY)
		return TX_FINE;
	for (u32 i = 0; i < COMPARED && i < log->n; i++) {
		log->next = (log->next + 1) % log->n;
		if (!unchanged(m, &log->line[log->next]))
			return TX_CONFLICT;
	}
	return TX_FINE;
}

/* "Runtime Considerations": conflicts, as model_tx_compare(), but with all lines. */
enum tx_cause model_tx_may_end(struct model *m)
{
	struct tx_log *log = m->host->tx_log;

	take_stores(m);
	for (u32 i = 0; i < log->n; i++)
		if (!unchanged(m, &log->line[i]))
			return TX_CONFLICT;
	return TX_FINE;
}

/*
 * "Programming Considerations": the stores of an aborted transaction never become visible.
 * Restore only the bytes that the transaction wrote: another processor may have written other
 * bytes of the line.
 */
void model_tx_log_undo(struct model *m)
{
	struct tx_log *log = m->host->tx_log;

	for (u32 i = 0; i < log->n; i++) {
		const struct tx_line *line = &log->line[i];

		for (unsigned first = 0, end; first < TX_LINE; first = end + 1) {
			for (end = first; end < TX_LINE && line->written & BIT(end); end++)
				;
			if (end > first)
				m->host->write(m->host->ctx, line->linear + first,
					       &line->before[first], end - first);
		}
	}
}
