/* SPDX-License-Identifier: MIT */
/* See native_pages.h. APM volume 2, "Nested Paging", "Nested versus Guest Page Faults". */
#include "refpmu/hv/code_page.h"
#include "refpmu/engine/code_scan.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/engine/native_pages.h"
#include "refpmu/hv/nested_paging.h"
#include "refpmu/hv/vmrun.h"

#define SUSPECTS	64

/* Numbers of pages in which something was found, so that they needn't be scanned again. A race may
 * lose an entry. */
static struct {
	u64 page;
	u32 generation;
} suspect[SUSPECTS];

u64 native_pages_vmrun(struct cpu *cpu)
{
	u64 code;

	cpu->vmcb->control.nested_cr3 = nested_paging_native();
	code = vmrun(cpu);
	cpu->vmcb->control.nested_cr3 = cpu->nested_root;
	return code;
}

bool native_pages_fetch(const struct cpu *cpu)
{
	return cpu->vmcb->control.exit_info_1 & PF_FETCH;
}

/*
 * Is the page suspicious? The neighbours in physical memory are assumed to be the neighbours in
 * linear memory too. They can be read as ordinary memory if they are in the same 2 MiB
 * (code_page_protect()) and this isn't the first 2 MiB, which has more than memory.
 */
static bool scan(u64 page)
{
	const u64 of = TWO_MIB / PAGE_SIZE;
	bool known = page >= of;

	return code_scan_suspicious((const u8 *)(page * PAGE_SIZE), known && page % of,
				    known && page % of != of - 1);
}

static bool allow(struct cpu *cpu, u64 physical)
{
	u64 page = physical / PAGE_SIZE;
	u32 generation;

	if (code_page_is_executable(physical))
		return true;
	if (!code_page_protect(cpu, physical, &generation) ||
	    (suspect[page % SUSPECTS].page == page &&
	     suspect[page % SUSPECTS].generation == generation))
		return false;
	if (!scan(page))
		return code_page_make_executable(cpu, physical, generation);
	suspect[page % SUSPECTS].page = page;
	suspect[page % SUSPECTS].generation = generation;
	return false;
}

bool native_pages_allow(struct cpu *cpu)
{
	return allow(cpu, cpu->vmcb->control.exit_info_2);
}

bool native_pages_untrusted(struct cpu *cpu)
{
	const u8 *at;

	return guest_code_at(cpu, cpu_code_address(cpu), cpu_cpl(cpu) == 3, &at) == CODE_ALLOWED &&
	       !allow(cpu, (u64)at);
}
