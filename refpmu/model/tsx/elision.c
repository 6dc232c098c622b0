/* SPDX-License-Identifier: MIT */
/*
 * Hardware lock elision: volume 1, "Programming with Intel Transactional Synchronization
 * Extensions", "Requirements for HLE Locks" and "HLE Nesting and Elision". A transaction begins
 * before the instruction with XACQUIRE, whose store belongs to the transaction. It ends after the
 * XRELEASE that restores the old value of the outermost lock. After an abort the instruction with
 * XACQUIRE is executed without elision, as are the nested ones.
 *
 * An XACQUIRE in a transaction of XBEGIN, or with more than TX_LOCKS locks, is executed without
 * elision.
 */
#include "refpmu/model/internal.h"

/* "HLE Nesting and Elision": if the execution can't commit, it is repeated as if the first
 * instruction had no XACQUIRE prefix. Where transactions always abort, no lock is elided. */
bool model_tx_declines(struct model *m, u64 ip)
{
	for (unsigned i = 0; i < TX_LOCKS; i++) {
		if (m->tx.not_again[i] != ip)
			continue;
		m->tx.not_again[i] = 0;
		return true;
	}
	return !model_has_tx(m) || model_tx_always_aborts(m);
}

/* Each elided lock of the aborted transaction goes without elision once. The manual says so of
 * the first one. */
void model_tx_elision_aborted(struct model *m)
{
	struct model_tx *tx = &m->tx;

	for (unsigned i = 0; i < TX_LOCKS; i++)
		tx->not_again[i] = !i || i < tx->n_locks ? tx->lock[i].ip : 0;
}

/*
 * "HLE Nesting and Elision": at most MAX_HLE_ELIDED_LOCKS locks are elided. A further one isn't,
 * and its store belongs to the transaction. "Nesting HLE and RTM": the hint may be ignored in a
 * transaction of XBEGIN.
 */
void model_tx_acquire(struct model *m, u64 linear, unsigned bytes, u64 ip, u64 behind)
{
	struct model_tx *tx = &m->tx;
	struct tx_lock *lock = &tx->lock[tx->n_locks];

	if (!tx->elided || tx->n_locks == TX_LOCKS || bytes > sizeof(lock->before) ||
	    !m->host->read(m->host->ctx, linear, lock->before, bytes))
		return;
	lock->linear = linear;
	lock->bytes = bytes;
	lock->ip = ip;
	lock->behind = behind;
	tx->acquires = true;
}

/* "Requirements for HLE Locks": XRELEASE must have the address and the size of its XACQUIRE.
 * Here locks are released in the reverse order; any other order is a plain store. */
bool model_tx_release(struct model *m, u64 linear, unsigned bytes)
{
	struct model_tx *tx = &m->tx;
	const struct tx_lock *last = &tx->lock[tx->n_locks - 1u];

	tx->releases = tx->elided && tx->n_locks && last->linear == linear && last->bytes == bytes;
	return tx->releases && tx->n_locks == 1;
}

/* "Requirements for HLE Locks": XRELEASE must restore the value from before XACQUIRE. Does the
 * last elided lock have its old value again? */
static bool restored(struct model *m)
{
	const struct tx_lock *lock = &m->tx.lock[m->tx.n_locks - 1u];
	u8 now[sizeof(lock->before)];

	return m->host->read(m->host->ctx, lock->linear, now, lock->bytes) &&
	       !__builtin_memcmp(now, lock->before, lock->bytes);
}

/* "HLE Nesting and Elision": transactional execution begins when the nesting count goes from 0
 * to 1. It ends when the count is 0 and each lock has its old value. */
enum model_tx_act model_tx_elision_act(struct model *m)
{
	struct model_tx *tx = &m->tx;
	bool acquires = tx->acquires, releases = tx->releases;

	tx->acquires = tx->releases = false;
	if (acquires)
		return tx->n_locks++ ? TX_ELIDES_INNER : TX_ELIDES;
	if (!releases)
		return TX_NO_ACT;
	if (!restored(m)) {
		tx->broken_lock = true;
		return TX_NO_ACT;
	}
	return --tx->n_locks ? TX_RELEASES_INNER : TX_RELEASES;
}

void model_tx_elision_retired(struct model *m, enum model_tx_act act)
{
	if (act == TX_RELEASES)
		model_tx_end(m);
}
