/* SPDX-License-Identifier: MIT */
/* Fills the page of kernel/machine/startup.asm. */
#include "kernel/machine/startup.h"

#include "kernel/memory/paging.h"
#include "kernel/memory/string.h"
#include "spec/msr.h"

#define LAST_PAGE	0xff000u	/* the last page that the vector of a SIPI can address */

/* As kernel/machine/startup.asm lays it out. */
struct startup_values {
	u32 gdt;
	u32 protected_offset;
	u16 protected_selector;
	u32 long_offset;
	u16 long_selector;
	u32 cr0, cr3, cr4, efer_number, efer;
	u64 entry;
} __attribute__((packed));

extern const u8 startup_begin[] __attribute__((visibility("hidden")));
extern const u8 startup_end[] __attribute__((visibility("hidden")));
extern const u8 startup_values[] __attribute__((visibility("hidden")));
void startup_entry(void);

u64 startup_stack;
static u8 vector;

void startup_place(u64 page, const struct startup *startup)
{
	struct startup_values values;
	u8 *copy = (u8 *)(uintptr_t)page;

	memcpy(copy, startup_begin, (size_t)(startup_end - startup_begin));
	memcpy(&values, startup_values, sizeof values);
	values.gdt += (u32)page;
	values.protected_offset += (u32)page;
	values.long_offset += (u32)page;
	values.cr0 = (u32)startup->cr0;
	values.cr3 = (u32)startup->cr3;
	values.cr4 = (u32)startup->cr4;
	values.efer_number = MSR_IA32_EFER;
	values.efer = (u32)startup->efer;
	values.entry = (u64)(uintptr_t)startup->entry;
	memcpy(copy + (startup_values - startup_begin), &values, sizeof values);
}

bool startup_init(u64 page, u64 cr0, u64 cr4, u64 efer)
{
	const struct startup startup = { cr0, paging_root(), cr4, efer, startup_entry };

	vector = 0;
	if (!page || page > LAST_PAGE || paging_root() > UINT32_MAX)
		return true;
	startup_place(page, &startup);
	if (!paging_set(page, PAGE_CODE))
		return false;
	vector = (u8)(page / PAGE_SIZE);
	return true;
}

u8 startup_vector(void)
{
	return vector;
}
