/* SPDX-License-Identifier: MIT */
/*
 * The other processors without a firmware: ACPI names them, INIT and SIPI start them. SDM volume
 * 3A, "Multiple-Processor (MP) Initialization". Each runs one function at a time, on its own stack
 * and with the page tables of the entry, and then halts. Not handled: APIC ids above 254.
 */
#include "boot/direct/direct.h"
#include "boot/firmware_processors.h"
#include "kernel/interrupt/apic.h"
#include "kernel/machine/smp.h"
#include "kernel/machine/startup.h"
#include "kernel/processor/cpu.h"
#include "kernel/processor/time.h"
#include "platform/pvh.h"
#include "spec/msr.h"

#define STACK_SIZE	0x10000u
#define LOW_END		0xa0000u
#define XAPIC_IDS	255u		/* ids that an xAPIC can have */
#define INIT_US		10000u
#define SIPIS		2u
#define SIPI_US		20000u		/* us until a processor has started */

/* Indexed by APIC id, for processors.asm. */
u64 direct_stacks[XAPIC_IDS + 1] __attribute__((visibility("hidden")));
void direct_processor(u32 apic_id);
void direct_processor_entry(void);

static struct call {
	void (*fn)(void *arg);
	void *arg;
	volatile bool came, back;
} calls[XAPIC_IDS + 1];

static u32 ids[FIRMWARE_PROCESSORS];
static unsigned count;
static u64 page;		/* address below 1 MiB; 0: none yet */

void direct_processor(u32 apic_id)
{
	struct call *call = &calls[apic_id];

	call->came = true;
	call->fn(call->arg);
	__atomic_store_n(&call->back, true, __ATOMIC_RELEASE);
}

bool firmware_processors(unsigned *all, unsigned *enabled)
{
	count = acpi_processors(&direct.physical, direct.rsdp, ids, FIRMWARE_PROCESSORS);
	*all = *enabled = count;
	return count;
}

bool firmware_processor(unsigned number, struct firmware_processor *processor)
{
	struct topology at;

	if (number >= count || ids[number] >= XAPIC_IDS)
		return false;
	at = smp_topology_of(ids[number]);
	*processor = (struct firmware_processor){
		.apic_id = ids[number], .first = ids[number] == apic_id(),
		.enabled = true, .healthy = true,
		.package = at.package, .core = at.core, .thread = at.thread,
	};
	return true;
}

/* Place the code at which processors start, once. false: there is no page below 1 MiB. */
static bool place_startup(void)
{
	const struct startup startup = {
		.cr0 = CR0_PE | CR0_MP | CR0_ET | CR0_NE | CR0_PG,
		.cr3 = (u64)(uintptr_t)pvh_tables,
		.cr4 = CR4_PAE | CR4_OSFXSR | CR4_OSXMMEXCPT,
		.efer = EFER_LME,
		.entry = direct_processor_entry,
	};

	if (!page) {
		page = ram_take(&direct.ram, RAM_PAGE, RAM_PAGE, RAM_PAGE, LOW_END);
		if (page)
			startup_place(page, &startup);
	}
	return page;
}

static bool has_come(void *arg)
{
	return ((struct call *)arg)->came;
}

bool firmware_start_on(unsigned number, void (*fn)(void *arg), void *arg)
{
	u32 id = ids[number];
	struct call *call = &calls[id];

	if (!direct_stacks[id]) {
		u64 stack = ram_take(&direct.ram, STACK_SIZE, RAM_PAGE, RAM_PAGE, PVH_MAPPED);

		if (!stack)
			return false;
		direct_stacks[id] = stack + STACK_SIZE;
	}
	if (!place_startup())
		return false;
	*call = (struct call){ .fn = fn, .arg = arg };
	apic_init_ipi(id);
	time_stall(INIT_US);
	for (unsigned i = 0; i < SIPIS && !call->came; i++) {
		apic_startup_ipi(id, (u8)(page / RAM_PAGE));
		wait_until(has_come, call, SIPI_US);
	}
	return true;
}

bool firmware_is_back(unsigned number)
{
	return __atomic_load_n(&calls[ids[number]].back, __ATOMIC_ACQUIRE);
}

static bool is_back(void *arg)
{
	return firmware_is_back(*(unsigned *)arg);
}

void firmware_run_on(unsigned number, void (*fn)(void *arg), void *arg, u64 us)
{
	if (firmware_start_on(number, fn, arg))
		wait_until(is_back, &number, us);
}
