/* SPDX-License-Identifier: MIT */
/*
 * Pieces of code that are one transaction each. A transaction can't be single-stepped, so their
 * counts can't be checked like those of tests/measure/workload.h. The expected counts follow from
 * EAX after each transaction, and from differences between two n.
 */
#ifndef TESTS_TSX_TRANSACTION_H
#define TESTS_TSX_TRANSACTION_H

#include "pmu/counter.h"
#include "pmu/record.h"
#include "tests/frame/test.h"

/* Transactions that aren't all aborted; elision of locks. */
bool need_rtm(char *reason, size_t size);
bool need_hle(char *reason, size_t size);

/* Twice the L1 of Haswell to Skylake, and more than that of later ones. */
#define TRANSACTION_LINES	1024
#define COMMITTED		(~0ULL)
/* "RTM Abort Status Definition": EAX after XABORT with the code of those here; its bits. */
#define BY_XABORT		0x5a000001ULL
#define EAX_XABORT		BIT(0)
#define EAX_RETRY		BIT(1)
#define EAX_CONFLICT		BIT(2)
#define EAX_OVERFLOW		BIT(3)
#define EAX_NESTED		BIT(5)
/* Table 18-51, offset B8H of a record. */
#define TX_CYCLES		BITS(0, 31)
#define TX_HLE_ABORT		BIT(32)
#define TX_RTM_ABORT		BIT(33)
#define TX_INSTRUCTION		BIT(34)
#define TX_NON_INSTRUCTION	BIT(35)
#define TX_RETRY		BIT(36)
#define TX_DATA_CONFLICT	BIT(37)
#define TX_CAPACITY_WRITES	BIT(38)
#define TX_CAPACITY_READS	BIT(39)
#define TX_RESERVED		BITS(40, 63)

/* As tests/tsx/transaction.asm lays it out. */
struct transaction {
	const char *name;
	u64 (*run)(u64 *words, u64 n);	/* COMMITTED; EAX of the abort; 0: not elided */
	const u8 *begin, *end;		/* inside, after XBEGIN; end not included */
	const u8 *fallback;		/* of the outermost XBEGIN */
	const u8 *cause;		/* instruction that is there to abort it, or end */
	u64 elides;			/* 1: a lock is elided; fallback follows XACQUIRE */
};

/* One store, n loads; then XEND, XABORT 5AH or PAUSE. */
extern const struct transaction transaction_commit __attribute__((visibility("hidden")));
extern const struct transaction transaction_xabort __attribute__((visibility("hidden")));
extern const struct transaction transaction_pause __attribute__((visibility("hidden")));
/* The same, ended by an exception: #UD, #DE, #GP. */
extern const struct transaction transaction_undefined __attribute__((visibility("hidden")));
extern const struct transaction transaction_divide __attribute__((visibility("hidden")));
extern const struct transaction transaction_address __attribute__((visibility("hidden")));
/* A store to each of n lines. */
extern const struct transaction transaction_stores __attribute__((visibility("hidden")));
/* A load from each of n lines, and no store. */
extern const struct transaction transaction_loads __attribute__((visibility("hidden")));
/* n loads of word TRANSACTION_WATCHED, and nothing else. */
#define TRANSACTION_WATCHED 8
extern const struct transaction transaction_watch __attribute__((visibility("hidden")));
/* XABORT in one that is nested in another, each with a fallback of its own. */
extern const struct transaction transaction_nested __attribute__((visibility("hidden")));
/* One store and n loads, then as many in a nested one; XABORT in that, or after its XEND. */
extern const struct transaction transaction_nested_inside __attribute__((visibility("hidden")));
extern const struct transaction transaction_nested_after __attribute__((visibility("hidden")));
/* One store and n loads in the inner one of two transactions, and in that of three; XEND of all. */
extern const struct transaction transaction_nested_commit __attribute__((visibility("hidden")));
extern const struct transaction transaction_nested_deep __attribute__((visibility("hidden")));
/* The same in the outer one of two: before the inner one, and after it. */
extern const struct transaction transaction_nested_first __attribute__((visibility("hidden")));
extern const struct transaction transaction_nested_last __attribute__((visibility("hidden")));

/* A store to each of n lines in the inner one of two. */
extern const struct transaction transaction_nested_stores __attribute__((visibility("hidden")));

/* One store, n loads with a lock that is elided; with PAUSE, which aborts; in two locks. */
extern const struct transaction transaction_elided __attribute__((visibility("hidden")));
extern const struct transaction transaction_elided_pause __attribute__((visibility("hidden")));
extern const struct transaction transaction_elided_nested __attribute__((visibility("hidden")));
extern const struct transaction transaction_elided_well
	__attribute__((visibility("hidden")));	/* in two locks, without PAUSE */

/* A store to each of n lines with a lock that is elided. */
extern const struct transaction transaction_elided_stores __attribute__((visibility("hidden")));

/* n loads of word TRANSACTION_WATCHED with a lock that is elided. */
extern const struct transaction transaction_elided_watch __attribute__((visibility("hidden")));

/* TRANSACTION_LINES lines for them; the first word counts the stores of those that committed. */
u64 *transaction_words(void);

/* That many runs; how many of them committed. */
unsigned transaction_run(const struct transaction *piece, u64 n, unsigned times);

/* The same; how many of them ended as transaction_ended() says. */
unsigned transaction_run_ended(const struct transaction *piece, u64 n, unsigned times);

/* A transaction may abort at any time. Did one that returns this status end by its own XEND or
 * XABORT? */
bool transaction_ended(u64 status);
/* Windows that are tried for one in which each transaction ended so. */
#define TRANSACTION_WINDOWS 100
/* There was none: the test is INCONCLUSIVE. In a strict run nothing aborts by chance, and the last
 * window is judged: true. */
bool transaction_judge_last(struct test *t, const struct transaction *piece);

/* Between these two calls another processor stores to word TRANSACTION_WATCHED. false: it
 * didn't. */
#define WATCHED 2000	/* loads of transaction_watch: a store comes between two */
bool transaction_write_on(struct test *t);
bool transaction_write_off(struct test *t);

/* Loads of a transaction half-way through which a counter overflows: its interrupt comes before the
 * end, even if it comes late. Where it comes at once, in strict runs, few are enough. */
u64 transaction_long(const struct test *t);

/* Is this address inside? */
bool transaction_holds(const struct transaction *piece, u64 address);

/* A record of RTM_RETIRED.ABORTED or HLE_RETIRED.ABORTED, of a transaction of piece. */
struct transaction_abort {
	struct pebs_record record;
	u64 eventing_ip, rip, tx;
	const struct transaction *piece;	/* that asked for, or what came before it */
	u64 status;			/* what running it has returned */
};

/*
 * Take the record of an abort by this piece on a counter that overflows on its PERIODth abort. The
 * aborts before the last are by XABORT, or by PAUSE if the piece elides a lock. Then the piece runs
 * until there is a record, at most as often as the longest shadow. false: the check that there is
 * one record has failed.
 */
bool transaction_record(struct test *t, struct test_claim claim, unsigned counter,
			const struct transaction *piece, u64 n, struct transaction_abort *abort);

/*
 * The same on IA32_PMC0, until the recorded abort is the piece's own, by XABORT or PAUSE, as EAX
 * shows, or the record where locks are elided. A transaction may abort earlier, for a reason of its
 * own. Also returns false if no abort of the piece's own was recorded; then the test is
 * INCONCLUSIVE.
 */
bool transaction_record_own(struct test *t, struct test_claim claim,
			    const struct transaction *piece, u64 n,
			    struct transaction_abort *abort);

/* Runs of a piece up to the first record of an instruction inside. For a piece that elides a lock,
 * only runs that report an elision count. */
struct transaction_inside {
	const struct transaction *piece;
	u64 period;		/* and loads in each; 0: PERIOD, and PERIOD / 2 loads */
	unsigned runs;
	unsigned committed;	/* of these */
	u64 status, words;	/* of the run that it came in; stores that are left of it */
	struct pebs_record record;
};

/*
 * Run in->piece until there is a record of the event for an instruction in it, as most are. It runs
 * at CPL 3 if the counter counts only CPL 3. with: further counters to enable.
 */
bool transaction_record_inside(const struct test *t, u16 event, unsigned counter, u64 flags,
			       struct pmc_mask with, struct transaction_inside *in);

/*
 * Do transactions commit on this machine? CPUID may show RTM although every transaction aborts at
 * once. false: the test is INCONCLUSIVE.
 */
bool transaction_works(struct test *t);
bool transaction_elision_works(struct test *t);

#endif
