/* SPDX-License-Identifier: MIT */
/*
 * refpmu.elf: the reference PMU without a firmware. A PVH loader starts it with a command line that
 * is a line of a plan (launch/plan.h) and with the guest, another program with a PVH entry, as its
 * first module; args is the guest's command line; efi is only a name. The reference PMU's own
 * memory is removed from the guest's memory map. The guest ends by writing its exit status to
 * END_PORT, as for QEMU's isa-debug-exit; then the machine is switched off. The output is that of
 * the launcher.
 */
#include "platform/acpi.h"
#include "platform/pvh.h"
#include "refpmu/direct/guest.h"
#include "refpmu/engine/engine.h"
#include "refpmu/hv/instructions.h"
#include "refpmu/hv/nested_paging.h"
#include "refpmu/hv/panic.h"
#include "refpmu/launch/print.h"
#include "refpmu/launch/report.h"
#include "refpmu/vmm/configure.h"
#include "refpmu/vmm/exit_hypercall.h"
#include "refpmu/vmm/install.h"

#define END_PORT	0x501
#define END_TICKS	BIT(33)			/* a few seconds */
#define IMAGE_FROM	BIT(20)			/* memory above the first MiB */
#define LOW_END		0xa0000u		/* what a SIPI can name, below the video memory */
#define REMOTE_SIZE	(1u << 20)		/* memory whose home is another package */
#define XAPIC_IDS	255u			/* ids that an xAPIC can have */

extern const u8 image[] __asm__("ImageBase") __attribute__((visibility("hidden")));
extern const u8 image_end[] __asm__("_end") __attribute__((visibility("hidden")));

static struct start_info info;
static struct ram ram;
static struct plan_run run;
static struct acpi_power power;
static u32 all_ids[4 * PROCESSORS_MAX];

static void write(const struct acpi_register *at)
{
	if (!at->address)
		return;
	if (!at->is_port)
		*(volatile u8 *)at->address = (u8)at->value;
	else if (at->bytes == 2)
		__asm__ volatile("outw %0, %1" ::"a"((u16)at->value), "Nd"((u16)at->address));
	else
		__asm__ volatile("outb %0, %1" ::"a"((u8)at->value), "Nd"((u16)at->address));
}

static _Noreturn void switch_off(void)
{
	write(&power.off[0]);
	write(&power.off[1]);
	/* It may take its time. */
	for (u64 begin = tsc(); tsc() - begin < END_TICKS;)
		__builtin_ia32_pause();
	panic("the machine can't be switched off", 0, 0, 0, 0, 0);
}

/* In the copy of this image that the hypervisor runs in. */
static void end_guest(struct cpu *cpu, u32 status)
{
	struct statistics statistics;

	hypercall_statistics(cpu, &statistics);
	report_end(1, engine_chosen(), &statistics, status);
	print("launch: done");
	switch_off();
}

static _Noreturn void refuse(const char *reason)
{
	print("launch: %s", reason);
	switch_off();
}

/* NULL: the command line is a run. */
static const char *read_plan(void)
{
	static const char *const refused[HYPERCALL_STATUSES] = {
#define HYPERCALL_STATUS(token, text) [HYPERCALL_##token] = (text),
#include "refpmu/vmm/status.def"
	};
	const char *reason = "the command line is no line of a plan: run cpu=... efi=... args=...";
	enum hypercall_status status;
	struct plan plan;

	if (!info.command)
		return reason;
	plan_open(&plan, info.command, info.command_length);
	if (plan_next(&plan, &run, &reason) != PLAN_RUN)
		return reason;
	status = configure_check(&run.config);
	return status == HYPERCALL_DONE ? NULL : refused[status];
}

static void find_processors(const struct physical *physical, u64 rsdp,
			    struct virtualise_memory *memory)
{
	unsigned count = acpi_processors(physical, rsdp, all_ids,
					 sizeof(all_ids) / sizeof(all_ids[0]));
	u32 regs[4], own;

	cpuid(1, 0, regs);
	own = regs[1] >> 24;
	for (unsigned i = 0; i < count && memory->others + 1 < PROCESSORS_MAX; i++)
		if (all_ids[i] != own && all_ids[i] < XAPIC_IDS)
			memory->apic_ids[memory->others++] = (u8)all_ids[i];
}

static void hide(struct guest *guest, u64 base, u64 size)
{
	guest->hidden[guest->hidden_ranges++] = (struct ram_range){ base, base + size };
}

/* NULL: done. */
static const char *take_memory(struct guest *guest, struct virtualise_memory *memory)
{
	memory->size = install_size(memory->others);
	memory->base = ram_take(&ram, memory->size, memory->size, IMAGE_FROM, PVH_MAPPED);
	if (!memory->base)
		return "there isn't enough memory below 4 GiB: 32 MiB a processor";
	hide(guest, memory->base, memory->size);
	memory->remote_base = ram_take(&ram, REMOTE_SIZE, RAM_PAGE, IMAGE_FROM, PVH_MAPPED);
	if (memory->remote_base) {
		memory->remote_bytes = REMOTE_SIZE;
		hide(guest, memory->remote_base, REMOTE_SIZE);
	}
	if (!memory->others)
		return NULL;
	memory->startup_page = ram_take(&ram, RAM_PAGE, RAM_PAGE, RAM_PAGE, LOW_END);
	if (!memory->startup_page)
		return "there is no page below 640 KiB for starting processors";
	hide(guest, memory->startup_page, RAM_PAGE);
	return NULL;
}

void pvh_main(u64 start_info)
{
	static const u64 mapped = PVH_MAPPED;
	const struct physical physical = physical_mapped(&mapped);
	struct virtualise_memory memory = {
		.config = &run.config, .end_port = END_PORT, .at_end = end_guest,
	};
	struct guest guest = { .info = &info, .ram = &ram, .command = run.args };
	const char *wrong = start_info_read(&physical, start_info, &info);
	u64 rsdp = info.rsdp ? info.rsdp : acpi_search(&physical);

	acpi_power(&physical, rsdp, &power);
	if (!wrong)
		wrong = read_plan();
	if (!wrong)
		wrong = install_missing();
	if (wrong)
		refuse(wrong);
	info.rsdp = rsdp;
	memory.engine = run.engine;
	memory.trace = run.trace;
	if (!start_info_free(&info, &ram) ||
	    !ram_remove(&ram, (u64)image, (u64)(image_end - image)))
		refuse("the memory map is in too many pieces");
	find_processors(&physical, rsdp, &memory);
	wrong = take_memory(&guest, &memory);
	if (!wrong)
		wrong = guest_load(&guest, EXERCISER_PAGE, &memory);
	if (wrong)
		refuse(wrong);
	/* Without the stack and the tables that this runs on. */
	if (!install(&memory, (u64)((const u8 *)pvh_tables - image)))
		refuse("the image is too large");
	print("launch: hypervisor at %x", memory.base);
	report_begin(1, &run);
	install_begin(&memory);
	__builtin_unreachable();	/* the guest begins at its own entry */
}
