/* SPDX-License-Identifier: MIT */
/*
 * Calls the workloads of tests/measure/workload.asm. Their call block, data and stack are in memory
 * that CPL 3 can access.
 */
#include "tests/measure/workload.h"
#include "tests/measure/window.h"

#include "kernel/memory/arena.h"
#include "kernel/memory/paging.h"
#include "kernel/processor/percpu.h"
#include "kernel/processor/time.h"
#include "kernel/interrupt/user.h"
#include "pmu/written.h"
#include "spec/msr.h"
#include "tests/frame/disturbance.h"
#include "tests/measure/addressing_mode.h"

/* tests/measure/workload.asm has these offsets as CALL_*. */
struct workload_call {
	u64 n, memory, msr, on, off, stack, stride, mask;
};
_Static_assert(offsetof(struct workload_call, mask) == 56, "CALL_MASK");

#define MEMORY_BYTES	(8 * WORKLOAD_WORDS)
#define STACK_BYTES	16384
#define STACK_SAVED	16	/* above the top: return address and the caller's RSP */

static const struct workload *const workloads[] = {
	&workload_load, &workload_store, &workload_lock, &workload_branch, &workload_mixed,
	&workload_sparse, &workload_call, &workload_packed, &workload_rep, &workload_split,
	&workload_sled, &workload_long_sled,
	&workload_kind_cpuid, &workload_kind_iretq, &workload_kind_far_return,
	&workload_kind_return_pop, &workload_kind_indirect, &workload_kind_prefetch,
	&workload_kind_compare, &workload_kind_rep_load, &workload_kind_rep_split,
	&workload_kind_page, &workload_kind_page_load,
	&workload_again, &workload_sample, &workload_sample_store, &workload_marked_walk_loads,
	&workload_marked_walk_stores,
	&workload_stride,
	&workload_uncached,
	&workload_pending,
	&workload_fresh_page,
	&workload_two_places,
	&workload_prefetch_t0,
	&workload_prefetch_t1,
	&workload_prefetch_t2,
	&workload_prefetch_nta,
	&workload_prefetch_w,
	&workload_cancelled,
	&workload_missed_store,
	&workload_fresh_page_store,
	&workload_partial,
	&workload_partial_above,
	&workload_within_store,
	&workload_bytes,
	&workload_sixteen,
	&workload_stride_store,
	&workload_stride_lock,
	&workload_fresh_page_lock,
	&workload_slow_split,
	&workload_split_fresh_load,
	&workload_split_fresh_store,
	&workload_missed_lock,
	&workload_exchange,
	&workload_split_lock,
	&workload_lock_widths,
	&workload_missed_fresh_store,
	&workload_missed_split_store,
	&workload_missed_split_lock,
	&workload_flush,
	&workload_jumps,
	&workload_backward,
	&workload_lock_kinds,
	&workload_user_sample,
	&workload_sample_registers,
	&workload_sample_add,
	&workload_load_base,
	&workload_load_disp8,
	&workload_load_disp32,
	&workload_load_rip,
	&workload_load_absolute,
	&workload_load_wrapped,
	&workload_load_own_base,
	&workload_store_own_base,
	&workload_load_fs,
	&workload_load_gs,
	&workload_store_disp32,
	&workload_store_rip,
	&workload_store_fs,
	&workload_store_gs,
	&workload_load_index,
	&workload_store_index,
	&workload_load_string,
	&workload_store_string,
	&workload_move_string,
	&workload_store_push,
	&workload_load_pop,
	&workload_call_return,
	&workload_simd,
	&workload_x87,
	&workload_xmm_sample,
	&workload_xmm_jumps,
	&workload_chain_sample,
	&workload_push_sample,
	&workload_call_sample,
	&workload_return_sample,
	&workload_pop_sample,
};

/* One for each processor: several processors may run a piece at the same time. */
static struct workload_cpu {
	struct workload_call *call;
	u64 *memory;
	u8 *stack;
} places[CPU_MAX];

static const struct workload_cpu *workload_this_cpu(void)
{
	struct workload_cpu *place = &places[cpu_index()];

	if (!place->call) {
		place->memory = arena_alloc(MEMORY_BYTES);
		place->stack = arena_alloc(STACK_BYTES);
		place->call = arena_alloc(sizeof(*place->call));
	}
	return place;
}

const struct workload *workload_get(unsigned i)
{
	return i < sizeof(workloads) / sizeof(workloads[0]) ? workloads[i] : NULL;
}

u64 workload_declared(const struct workload *w, enum workload_count what, u64 n)
{
	return (u64)((int64_t)w->count[what].each * (int64_t)n + w->count[what].once);
}

u64 workload_mark(const struct workload *w, unsigned i)
{
	return (u64)(uintptr_t)(w->marks + i * w->mark_stride);
}

int workload_mark_at(const struct workload *w, unsigned marks, u64 address)
{
	for (unsigned i = 0; i < marks; i++)
		if (workload_mark(w, i) == address)
			return (int)i;
	return -1;
}

u64 *workload_memory(void)
{
	return workload_this_cpu()->memory;
}

u64 workload_stack(void)
{
	return (u64)(uintptr_t)(workload_this_cpu()->stack + STACK_BYTES - STACK_SAVED);
}

static struct workload_call *set_up(u64 n, u32 msr, u64 on)
{
	const struct workload_cpu *place = workload_this_cpu();

	*place->call = (struct workload_call){ .n = n, .memory = (u64)(uintptr_t)place->memory,
					       .msr = msr, .on = on, .stack = workload_stack() };
	return place->call;
}

/* Run one window and measure its duration. */
static void run_window(const struct workload *w, u64 n, const struct workload_call *call)
{
	u64 begin;

	written_note((u32)call->msr, call->on);
	begin = tsc_read();
	w->entry((u64)(uintptr_t)call);
	written_note((u32)call->msr, call->off);
	disturbance_window(w, n, tsc_read() - begin);
}

void workload_run(const struct workload *w, u64 n, struct pmc_mask on)
{
	const struct pmc_mask company = company_begin(on);

	run_window(w, n, set_up(n, MSR_IA32_PERF_GLOBAL_CTRL, on.bits | company.bits));
	company_end(company);
}

static struct workload moved(const struct workload *w, u64 above)
{
	struct workload there = *w;

	there.entry = (u64(*)(u64))((uintptr_t)w->entry + above);
	return there;
}

void workload_run_above(const struct workload *w, u64 n, u64 above, struct pmc_mask on)
{
	struct workload_call *call = set_up(n, MSR_IA32_PERF_GLOBAL_CTRL, on.bits);
	struct workload there = moved(w, above);

	call->memory += above;
	run_window(&there, n, call);
}

static void put_at(struct workload_call *call, const struct workload_place *at)
{
	call->memory = (u64)(uintptr_t)at->memory;
	call->stride = at->stride;
	call->mask = at->mask;
}

void workload_run_at(const struct workload *w, u64 n, const struct workload_place *at,
		     struct pmc_mask on)
{
	const struct pmc_mask company = company_begin(on);
	struct workload_call *call = set_up(n, MSR_IA32_PERF_GLOBAL_CTRL, on.bits | company.bits);

	put_at(call, at);
	run_window(w, n, call);
	company_end(company);
}

void workload_run_switched(const struct workload *w, u64 n, const struct workload_switch *by)
{
	workload_run_switched_at(w, n, by, NULL);
}

void workload_run_switched_at(const struct workload *w, u64 n, const struct workload_switch *by,
			      const struct workload_place *at)
{
	struct workload_call *call = set_up(n, by->msr, by->on);

	call->off = by->off;
	if (at)
		put_at(call, at);
	call->memory += by->above;
	written_note((u32)call->msr, call->on);
	moved(w, by->above).entry((u64)(uintptr_t)call);
	written_note((u32)call->msr, call->off);
}

void workload_run_uncounted(const struct workload *w, u64 n)
{
	w->entry((u64)(uintptr_t)set_up(n, 0, 0));
}

u64 workload_run_user(const struct workload *w, u64 n)
{
	return workload_run_at_cpl(3, w, n);
}

void workload_run_user_at(const struct workload *w, u64 n, const struct workload_place *at)
{
	struct workload_call *call = set_up(n, 0, 0);

	put_at(call, at);
	user_call_at(3, w->entry, (u64)(uintptr_t)call);
}

u64 workload_run_at_cpl(unsigned cpl, const struct workload *w, u64 n)
{
	return user_call_at(cpl, w->entry, (u64)(uintptr_t)set_up(n, 0, 0));
}
