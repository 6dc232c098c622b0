/* SPDX-License-Identifier: MIT */
/* See code_page.h. */
#include "refpmu/hv/code_page.h"
#include "refpmu/hv/instructions.h"
#include "refpmu/hv/lock.h"
#include "refpmu/hv/nested_paging.h"
#include "refpmu/hv/processors.h"

#define REGION		TWO_MIB		/* the range of one level-1 table */
#define REGIONS		2048		/* 4 GiB */

/* A page isn't protected for SOON (TSC ticks: most of a second) after so many losses, each less
 * than SOON after the previous one. On a loaded host each loss may take a tenth of that, because it
 * waits for the other processors. */
#define MOST_LOSSES	8
#define SOON		BIT(31)
#define TIMEOUT_TICKS	4000000000ULL	/* TSC ticks: at least a second, on a loaded host */

enum state {
	OPEN,
	PENDING,		/* not yet read-only on all processors */
	PROTECTED,
};

struct page {
	u32 generation;
	u8 state, losses;
	bool executable;	/* for native_pages.h */
	u64 lost;		/* time of the last loss */
};

struct table {
	u64 entry[PAGE_TABLE_ENTRIES];
	u64 native[PAGE_TABLE_ENTRIES];		/* for native_pages.h */
	struct page page[PAGE_TABLE_ENTRIES];
};

static struct table *tables;
static unsigned n_tables;
static u8 table_of[REGIONS];		/* index plus one */
static volatile u32 epoch;
static u32 lock;

void code_page_init(void)
{
	tables = hypervisor_pages(
		(unsigned)((CODE_TABLES * sizeof(*tables) + PAGE_SIZE - 1) / PAGE_SIZE));
}

static struct table *find_table(u64 physical)
{
	unsigned number = physical < REGIONS * REGION ? table_of[physical / REGION] : 0;

	return number ? &tables[number - 1] : NULL;
}

static unsigned index_of(u64 physical)
{
	return (unsigned)(physical / PAGE_SIZE % PAGE_TABLE_ENTRIES);
}

/* Call with the lock held. The small pages have the rights of the large one, so nothing changes
 * yet. */
static struct table *make_table(u64 physical)
{
	struct table *table;

	if (find_table(physical) || physical >= REGIONS * REGION || n_tables == CODE_TABLES ||
	    !nested_paging_is_plain(physical))
		return find_table(physical);
	table = &tables[n_tables++];
	for (u64 i = 0; i < PAGE_TABLE_ENTRIES; i++) {
		u64 at = (physical & ~(REGION - 1)) + i * PAGE_SIZE;

		table->entry[i] = nested_paging_entry(at, true);
		table->native[i] = nested_paging_native_entry(at, true, false);
	}
	nested_paging_split(physical, table->entry, table->native);
	table_of[physical / REGION] = (u8)n_tables;
	return table;
}

bool code_page_others_left(struct cpu *cpu)
{
	u64 begin = tsc();
	bool all = true;

	if (!hypervisor.several)
		return true;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (unsigned i = 0; processors_get(i); i++) {
		struct cpu *other = processors_get(i);
		u32 inside = other->inside;

		if (other == cpu)
			continue;
		while ((inside & 1) && other->inside == inside && other->running) {
			processors_kick(cpu, other);
			if (tsc() - begin > TIMEOUT_TICKS) {
				all = false;
				break;
			}
			__builtin_ia32_pause();
		}
	}
	return all;
}

static void set_writable(struct table *table, u64 physical, bool writable)
{
	unsigned index = index_of(physical);
	u64 at = physical & ~(PAGE_SIZE - 1);

	table->page[index].executable = false;
	table->entry[index] = nested_paging_entry(at, writable);
	table->native[index] = nested_paging_native_entry(at, writable, false);
	__atomic_add_fetch(&hypervisor.nested_changes, 1, __ATOMIC_SEQ_CST);
}

static bool often(const struct page *page)
{
	return page->losses >= MOST_LOSSES && tsc() - page->lost < SOON;
}

bool code_page_protect(struct cpu *cpu, u64 physical, u32 *generation)
{
	struct table *table;
	struct page *page;
	bool done;

	lock_take(cpu, &lock);
	table = make_table(physical);
	page = table ? &table->page[index_of(physical)] : NULL;
	if (!page || (page->state == OPEN && often(page))) {
		lock_give(cpu, &lock);
		return false;
	}
	*generation = page->generation;
	done = page->state == PROTECTED;
	if (page->state == OPEN) {
		page->state = PENDING;
		set_writable(table, physical, false);
	}
	lock_give(cpu, &lock);
	if (done)
		return true;
	done = code_page_others_left(cpu);
	lock_take(cpu, &lock);
	done = done && page->generation == *generation;
	if (done)
		page->state = PROTECTED;
	lock_give(cpu, &lock);
	return done;
}

bool code_page_holds(u64 physical, u32 generation)
{
	const struct table *table = find_table(physical);

	return table && table->page[index_of(physical)].generation == generation;
}

bool code_page_is_executable(u64 physical)
{
	const struct table *table = find_table(physical);

	return table && table->page[index_of(physical)].executable;
}

bool code_page_make_executable(struct cpu *cpu, u64 physical, u32 generation)
{
	struct table *table = find_table(physical);
	struct page *page = &table->page[index_of(physical)];
	bool done;

	lock_take(cpu, &lock);
	done = page->state == PROTECTED && page->generation == generation;
	if (done) {
		table->native[index_of(physical)] = nested_paging_native_entry(physical &
										       ~(PAGE_SIZE -
											 1),
									       false, true);
		page->executable = true;
	}
	lock_give(cpu, &lock);
	return done;
}

u32 code_page_epoch(void)
{
	return epoch;
}

static void code_page_open(struct cpu *cpu, u64 physical)
{
	struct table *table = find_table(physical);
	struct page *page = &table->page[index_of(physical)];
	u64 now = tsc();
	bool closed;

	lock_take(cpu, &lock);
	closed = page->state != OPEN;
	if (closed) {
		page->state = OPEN;
		page->generation++;
		if (now - page->lost > SOON)
			page->losses = 0;
		if (page->losses < MOST_LOSSES)
			page->losses++;
		page->lost = now;
		set_writable(table, physical, true);
		__atomic_add_fetch(&epoch, 1, __ATOMIC_SEQ_CST);
	}
	lock_give(cpu, &lock);
	if (closed)
		code_page_others_left(cpu);
}

static bool is_closed(u64 physical)
{
	const struct table *table = find_table(physical);

	return table && table->page[index_of(physical)].state != OPEN;
}

/*
 * Another processor may protect the page again before the store is complete. So check once more
 * after it: at the latest when the guest runs again, or a few stores later.
 */
static void look_again(struct cpu *cpu)
{
	while (cpu->n_written) {
		u64 physical = cpu->written[--cpu->n_written];

		if (is_closed(physical))
			code_page_open(cpu, physical);
	}
}

void code_page_written(struct cpu *cpu, u64 physical)
{
	if (!find_table(physical))
		return;
	if (is_closed(physical))
		code_page_open(cpu, physical);
	if (!hypervisor.several)
		return;
	if (cpu->n_written == CODE_PAGE_WRITTEN)
		look_again(cpu);
	cpu->written[cpu->n_written++] = physical;
}

bool code_page_fault(struct cpu *cpu)
{
	struct vmcb_control *control = &cpu->vmcb->control;
	u64 physical = control->exit_info_2;
	u32 delivering = (u32)control->exit_int_info;

	if (!(control->exit_info_1 & PF_WRITE) || !find_table(physical))
		return false;
	if (is_closed(physical))
		code_page_open(cpu, physical);
	/* The stack was accessible. An INT instruction will execute again. */
	if ((delivering & EVENT_VALID) && (delivering & EVENT_TYPE) != EVENT_TYPE_SOFT) {
		control->event_injection = delivering;
		control->event_injection_error = (u32)(control->exit_int_info >> 32);
	}
	return true;
}

bool code_page_enter(struct cpu *cpu, const u32 *seen)
{
	if (hypervisor.several) {
		look_again(cpu);
		__atomic_add_fetch(&cpu->inside, 1, __ATOMIC_SEQ_CST);
	}
	if (seen && *seen != epoch) {
		code_page_leave(cpu);
		return false;
	}
	if (cpu->nested_changes != hypervisor.nested_changes) {
		cpu->nested_changes = hypervisor.nested_changes;
		cpu->vmcb->control.tlb_control = TLB_FLUSH_ALL;
	}
	return true;
}

void code_page_leave(struct cpu *cpu)
{
	if (hypervisor.several)
		__atomic_add_fetch(&cpu->inside, 1, __ATOMIC_SEQ_CST);
}

void code_page_started(struct cpu *cpu)
{
	lock_give(cpu, &lock);
	cpu->inside += cpu->inside & 1;
	cpu->n_written = 0;
}
