/* SPDX-License-Identifier: MIT */
/*
 * Pieces of code whose instructions, loads, stores, locked loads and branches are known. Each
 * number is declared next to the code in tests/measure/workload.asm as a function of n. The self
 * test checks the declaration by single-stepping. The piece itself switches the counters on and
 * off, so that only the piece and a constant small number of other instructions are counted. Each
 * processor has its own data and stack. Only one piece with marked accesses (sample, walk) may run
 * at a time.
 */
#ifndef TESTS_MEASURE_WORKLOAD_H
#define TESTS_MEASURE_WORKLOAD_H

#include "pmu/counter.h"
#include "spec/types.h"

enum workload_count {
	WORKLOAD_INSTRUCTIONS,
	WORKLOAD_LOADS,
	WORKLOAD_STORES,
	WORKLOAD_LOCKS,
	WORKLOAD_BRANCHES,
	WORKLOAD_CONDITIONAL,
	WORKLOAD_TAKEN,
	WORKLOAD_CALLS,
	WORKLOAD_RETURNS,
	WORKLOAD_COUNTS
};

/* As tests/measure/workload.asm lays it out. */
struct workload {
	const char *name;
	u64 (*entry)(u64 call);
	const u8 *begin, *end;		/* what is counted, end not included */
	const u8 *marks;		/* first marked instruction; NULL: the piece has none */
	u32 mark_length, mark_stride;	/* bytes of a marked instruction, and to the next one */
	struct {
		int32_t each, once;
	} count[WORKLOAD_COUNTS]; /* each * n + once */
};

extern const struct workload workload_load	/* a load, and a loop's branch */
	__attribute__((visibility("hidden")));
extern const struct workload workload_store __attribute__((visibility("hidden")));
extern const struct workload workload_lock __attribute__((visibility("hidden")));
extern const struct workload workload_branch	/* taken, not taken and direct jumps */
	__attribute__((visibility("hidden")));
extern const struct workload workload_random	/* branches by unpredictable bits */
	__attribute__((visibility("hidden")));
extern const struct workload workload_mixed	/* of everything one, locked too */
	__attribute__((visibility("hidden")));
extern const struct workload workload_sparse	/* a load every 19 instructions */
	__attribute__((visibility("hidden")));
extern const struct workload workload_call	/* near calls and returns */
	__attribute__((visibility("hidden")));
extern const struct workload workload_split	/* loads and stores across a line's end */
	__attribute__((visibility("hidden")));
extern const struct workload workload_exchange	/* XCHG, which is locked without a prefix */
	__attribute__((visibility("hidden")));
extern const struct workload workload_packed	/* ADDPS: one packed micro-operation */
	__attribute__((visibility("hidden")));
/* Additions of two registers in a round, by kind; as in tests/measure/workload_simd.asm. */
enum { SIMD_PACKED_SP = 1, SIMD_PACKED_DP, SIMD_SCALAR_SP, SIMD_SCALAR_DP, SIMD_MMX_64,
       SIMD_MMX_128, X87_ADDITIONS };
extern const struct workload workload_simd	/* of vector registers */
	__attribute__((visibility("hidden")));
extern const struct workload workload_x87	/* of x87 registers */
	__attribute__((visibility("hidden")));
extern const struct workload workload_rep	/* one REP STOSB of n bytes */
	__attribute__((visibility("hidden")));
extern const struct workload workload_opening	/* IA32_PMC0 right after the opening */
	__attribute__((visibility("hidden")));
extern const struct workload workload_sled	/* n branches, then one-byte NOPs: the marks */
	__attribute__((visibility("hidden")));
extern const struct workload workload_long_sled	/* the same with more NOPs */
	__attribute__((visibility("hidden")));
extern const struct workload workload_marked_walk_loads	/* tests/measure/marked_walk.h */
	__attribute__((visibility("hidden")));
extern const struct workload workload_marked_walk_stores __attribute__((visibility("hidden")));
extern const struct workload workload_sample	/* n loads, then marked loads, registers known */
	__attribute__((visibility("hidden")));
extern const struct workload workload_sample_store	/* n stores, then marked stores */
	__attribute__((visibility("hidden")));
extern const struct workload workload_again	/* n loads, 64 NOPs, marked loads */
	__attribute__((visibility("hidden")));
/* tests/measure/workload_record.asm */
extern const struct workload workload_jumps	/* n branches, then marked ones, each to the next */
	__attribute__((visibility("hidden")));
extern const struct workload workload_backward	/* n loads, then marked ones with DF set */
	__attribute__((visibility("hidden")));
extern const struct workload workload_lock_kinds	/* 4 marked read-modify-writes a round */
	__attribute__((visibility("hidden")));
extern const struct workload workload_user_sample	/* workload_sample on its caller's stack */
	__attribute__((visibility("hidden")));
extern const struct workload workload_precise	/* RDPMC of counter 1, then NOPs: the marks */
	__attribute__((visibility("hidden")));
extern const struct workload workload_precise_jumps /* the same with as many jumps */
	__attribute__((visibility("hidden")));
extern const struct workload workload_precise_conditional /* ... JE, taken, and JNE in turn */
	__attribute__((visibility("hidden")));

extern const struct workload workload_sample_registers	/* n loads, then into each register */
	__attribute__((visibility("hidden")));
extern const struct workload workload_sample_add /* n stores, then marked additions to memory */
	__attribute__((visibility("hidden")));
extern const struct workload workload_call_sample /* n calls, then marked ones, each of the next */
	__attribute__((visibility("hidden")));
extern const struct workload workload_return_sample /* n returns, then marked ones, to the next */
	__attribute__((visibility("hidden")));
extern const struct workload workload_pop_sample /* n loads, then marked pops */
	__attribute__((visibility("hidden")));
#define SAMPLE_TURNS	6	/* workload_sample_registers: of 19 marks each */

/* tests/measure/workload_adaptive.asm */
extern const struct workload workload_xmm_sample /* workload_sample with known XMM registers */
	__attribute__((visibility("hidden")));
extern const struct workload workload_chain_sample /* and after a chain of CHAIN_LINKS jumps */
	__attribute__((visibility("hidden")));
extern const struct workload workload_push_sample /* n stores, then marked pushes */
	__attribute__((visibility("hidden")));
extern const struct workload workload_xmm_jumps /* n branches, then marked jumps, registers known */
	__attribute__((visibility("hidden")));

#define CHAIN_LINKS	48	/* workload_chain_sample: link i is at the first mark less */
#define CHAIN_STRIDE	16	/* (CHAIN_LINKS - i) * CHAIN_STRIDE, and jumps to the next */
/* workload_xmm_sample: XMMn, and its upper half is this with its halves exchanged. */
#define SAMPLE_XMM(n)	(0xb1c2d300e4f5a600ULL + 0x0000010100000003ULL * (u64)(n))

#define PRECISE_NOPS	256	/* marks of workload_precise: */
#define PRECISE_FIRST	6	/* number of the first of them in the window, from 1 */
#define PRECISE_READ	3	/* number of the instruction that reads the counter */
#define JUMP_STRIDE	16	/* bytes from a marked branch to its target */

/* tests/measure/workload_kinds.asm: instructions of unusual kinds. */
#define KIND_DECLARE(name) \
	extern const struct workload workload_kind_##name __attribute__((visibility("hidden")))
KIND_DECLARE(cpuid);
KIND_DECLARE(rdpmc);
KIND_DECLARE(iretq);
KIND_DECLARE(far_return);
KIND_DECLARE(flags);		/* CLI, STI, POPF */
KIND_DECLARE(return_pop);	/* RET with a number */
KIND_DECLARE(indirect);		/* CALL and JMP of registers */
KIND_DECLARE(prefetch);
KIND_DECLARE(compare);		/* CMPSQ: two loads */
KIND_DECLARE(rep_load);		/* one REP LODSB of n bytes */
KIND_DECLARE(rep_split);	/* REP LODSQ, two of 16 loads across a line's end */
KIND_DECLARE(page);		/* an instruction in two pages */
KIND_DECLARE(page_load);	/* a load in two pages */
#undef KIND_DECLARE

/* tests/measure/workload_memory.asm: for tests/measure/cache_workload.h. */
extern const struct workload workload_stride	/* loads a stride apart, one after the other */
	__attribute__((visibility("hidden")));
extern const struct workload workload_uncached	/* loads of a line that was just flushed */
	__attribute__((visibility("hidden")));
extern const struct workload workload_pending	/* the same, and three loads more of that line */
	__attribute__((visibility("hidden")));
extern const struct workload workload_fresh_page	/* loads right after INVLPG; CPL 0 */
	__attribute__((visibility("hidden")));
extern const struct workload workload_two_places	/* near, far, near */
	__attribute__((visibility("hidden")));
/* Prefetches of a line just flushed, and no load. PREFETCHW does nothing where it isn't known. */
extern const struct workload workload_prefetch_t0 __attribute__((visibility("hidden")));
extern const struct workload workload_prefetch_t1 __attribute__((visibility("hidden")));
extern const struct workload workload_prefetch_t2 __attribute__((visibility("hidden")));
extern const struct workload workload_prefetch_nta __attribute__((visibility("hidden")));
extern const struct workload workload_prefetch_w __attribute__((visibility("hidden")));
extern const struct workload workload_cancelled	/* a load that is never meant to happen */
	__attribute__((visibility("hidden")));
extern const struct workload workload_missed_store	/* to a line that was just flushed */
	__attribute__((visibility("hidden")));
extern const struct workload workload_fresh_page_store	/* right after INVLPG; CPL 0 */
	__attribute__((visibility("hidden")));

extern const struct workload workload_partial	/* loads of a part of the store before, */
	__attribute__((visibility("hidden")));
extern const struct workload workload_partial_above	/* with bytes above it instead of below, */
	__attribute__((visibility("hidden")));
extern const struct workload workload_within_store	/* and of nothing else */
	__attribute__((visibility("hidden")));

/* tests/measure/workload_access.asm: loads from the memory, and stores ACCESS_STORE further on. */
extern const struct workload workload_bytes	/* one byte each */
	__attribute__((visibility("hidden")));
extern const struct workload workload_sixteen	/* sixteen bytes each */
	__attribute__((visibility("hidden")));
extern const struct workload workload_slow_split	/* two flushed lines, after INVLPG; CPL 0 */
	__attribute__((visibility("hidden")));
extern const struct workload workload_stride_store	/* stores a stride apart */
	__attribute__((visibility("hidden")));
extern const struct workload workload_stride_lock	/* locked additions a stride apart */
	__attribute__((visibility("hidden")));
extern const struct workload workload_fresh_page_lock	/* locked, right after INVLPG; CPL 0 */
	__attribute__((visibility("hidden")));

/* tests/measure/workload_forms.asm: accesses of two kinds at once. */
extern const struct workload workload_split_fresh_load	/* split, after INVLPG; CPL 0 */
	__attribute__((visibility("hidden")));
extern const struct workload workload_split_fresh_store __attribute__((visibility("hidden")));
extern const struct workload workload_missed_lock	/* locked, to a line that was flushed */
	__attribute__((visibility("hidden")));
extern const struct workload workload_lock_byte		/* locked, of 1, 2 and 4 bytes */
	__attribute__((visibility("hidden")));
extern const struct workload workload_lock_word __attribute__((visibility("hidden")));
extern const struct workload workload_lock_dword __attribute__((visibility("hidden")));
extern const struct workload workload_split_lock	/* locked, across a line's end */
	__attribute__((visibility("hidden")));
#define LOCK_WIDTHS	5u	/* 1, 2, 4 and 8 bytes, and XCHG: a quadword each */
extern const struct workload workload_lock_widths __attribute__((visibility("hidden")));

extern const struct workload workload_missed_fresh_store /* flushed, after INVLPG; CPL 0 */
	__attribute__((visibility("hidden")));
extern const struct workload workload_missed_split_store /* split, both lines flushed */
	__attribute__((visibility("hidden")));
extern const struct workload workload_missed_split_lock /* the same, locked */
	__attribute__((visibility("hidden")));
extern const struct workload workload_flush	/* both lines flushed, no access */
	__attribute__((visibility("hidden")));

#define ACCESS_STORE	256	/* workload_bytes, workload_sixteen */
#define TWO_PLACES_COLD	4096	/* workload_two_places: near at 0 and 64, far at this offset */
#define CANCELLED_OFFSET 1024	/* workload_cancelled: the load that never is */

#define SLED_NOPS	256	/* marks of workload_sled */
#define LONG_SLED_NOPS	2560	/* marks of workload_long_sled */
#define SAMPLE_MARKS	128	/* marks of the sample pieces */
#define AGAIN_MARKS	128	/* marks of workload_again */
#define SAMPLE_OFFSET	64	/* mark i's operand is at memory + this + 8 * i */
#define WORKLOAD_WORDS	2560

/* The registers at a marked load of workload_sample (RAX changes at each mark). */
#define SAMPLE_RAX	0x7a00000000000a5aULL
#define SAMPLE_RBX	0x7b00000000000b5bULL
#define SAMPLE_RCX	0x7c00000000000c5cULL
#define SAMPLE_RDX	0x7d00000000000d5dULL
#define SAMPLE_RDI	0x7e00000000000e5eULL
#define SAMPLE_RBP	0x7f00000000000f5fULL
#define SAMPLE_R(n)	(0x7000000000000050ULL | (u64)(n) << 8 | (u64)(n))	/* R8 to R15 */

/* All pieces, by number from 0; NULL after the last. */
const struct workload *workload_get(unsigned i);

/* The declared count. */
u64 workload_declared(const struct workload *w, enum workload_count what, u64 n);

/* The address of mark i. */
u64 workload_mark(const struct workload *w, unsigned i);
/* Which mark is at that address; -1: none. */
int workload_mark_at(const struct workload *w, unsigned marks, u64 address);

/* The piece's data, WORKLOAD_WORDS words, and the top of the sample pieces' stack. */
u64 *workload_memory(void);
u64 workload_stack(void);

/* Run it at CPL 0 with these counters on, and in every other window of one counter with company
 * (window.h). Interrupts stay as they are. */
void workload_run(const struct workload *w, u64 n, struct pmc_mask on);
/* The same with another memory, and the stride and mask of workload_stride. */
struct workload_place {
	void *memory;
	u64 stride, mask;	/* bytes; mask + 1 is a power of two and as much memory is there */
};

void workload_run_at(const struct workload *w, u64 n, const struct workload_place *at,
		     struct pmc_mask on);
/* The same with another register as the switch: its values during the window and after it. The
 * duration of such a window is no evidence of a disturbance (tests/frame/disturbance.h), because
 * the other thread of the core slows it down. */
struct workload_switch {
	u32 msr;
	u64 on, off;
	u64 above;	/* as of workload_run_above() */
};

void workload_run_switched(const struct workload *w, u64 n, const struct workload_switch *by);
/* NULL: the memory of the other functions. */
void workload_run_switched_at(const struct workload *w, u64 n, const struct workload_switch *by,
			      const struct workload_place *at);
/* Run it with its code and data at other linear addresses: PAGING_HIGH or PAGING_UPPER higher. */
void workload_run_above(const struct workload *w, u64 n, u64 above, struct pmc_mask on);
/* Run it at CPL 0, or at CPL 3, without accessing the PMU. At CPL 3 the only sample piece that may
 * run is user_sample; the function returns its RSP in the window. */
void workload_run_uncounted(const struct workload *w, u64 n);
u64 workload_run_user(const struct workload *w, u64 n);
void workload_run_user_at(const struct workload *w, u64 n, const struct workload_place *at);
/* The same at CPL 1, 2 or 3. */
u64 workload_run_at_cpl(unsigned cpl, const struct workload *w, u64 n);

#endif
