/* SPDX-License-Identifier: MIT */
/*
 * Pieces of code that are one transaction each. Nobody can step through a transaction, so that
 * their counts aren't proved like those of tests/workload.h; what is counted is told from what
 * EAX says behind each of them, and from differences between two n.
 */
#ifndef TESTS_TRANSACTION_H
#define TESTS_TRANSACTION_H

#include "tests/test.h"

#define TRANSACTION_LINES	1024	/* twice the first-level data cache of Haswell to Skylake */
#define COMMITTED		(~0ULL)
/* EAX: XABORT, and the code of those here. */
#define BY_XABORT		0x5a000001ULL

/* As tests/transaction.asm lays it out. */
struct transaction {
	const char *name;
	u64 (*run)(u64 *words, u64 n);	/* COMMITTED, or EAX behind the abort */
	const u8 *begin, *end;		/* inside, behind XBEGIN; end not included */
	const u8 *fallback;		/* of the outermost XBEGIN */
};

/* One store, n loads; then XEND, XABORT 5AH or PAUSE. */
extern const struct transaction transaction_commit __attribute__((visibility("hidden")));
extern const struct transaction transaction_explicit __attribute__((visibility("hidden")));
extern const struct transaction transaction_pause __attribute__((visibility("hidden")));
/* A store to each of n lines. */
extern const struct transaction transaction_lines __attribute__((visibility("hidden")));
/* n loads of word TRANSACTION_WATCHED, and nothing else. */
#define TRANSACTION_WATCHED 8
extern const struct transaction transaction_watch __attribute__((visibility("hidden")));
/* XABORT in one that is nested in another, each with a fallback of its own. */
extern const struct transaction transaction_nested __attribute__((visibility("hidden")));

/* TRANSACTION_LINES lines for them; the first word counts the stores of those that committed. */
u64 *transaction_words(void);

/* So many runs; how many of them committed. */
unsigned transaction_run(const struct transaction *piece, u64 n, unsigned times);

/* Is this address inside? */
bool transaction_holds(const struct transaction *piece, u64 address);

/*
 * Do transactions commit here at all? CPUID shows RTM also where firmware has every one abort at
 * once. false: the test is INCONCLUSIVE.
 */
bool transaction_works(struct test *t);

#endif
