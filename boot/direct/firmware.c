/* SPDX-License-Identifier: MIT */
/*
 * Memory, tables, options and the end of the program, when a loader of PVH or Multiboot2 has
 * started it: from the data that the loader passes and leaves in memory. There is no clock and no
 * file; lines go to COM1.
 */
#include "boot/firmware.h"
#include "boot/direct/direct.h"
#include "boot/direct/words.h"
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/reset.h"
#include "kernel/memory/string.h"
#include "kernel/output/fmt.h"
#include "kernel/output/serial.h"
#include "kernel/processor/cpu.h"
#include "kernel/processor/time.h"
#include "platform/pvh.h"

#define TWO_MIB		BIT(21)
#define FOUR_GIB	BIT(32)
#define LOW_END		0xa0000u	/* end of the memory for a SIPI, below the video memory */
#define COM1		0x3f8
#define PIC_FIRST_MASK	0x21		/* 8259A data sheet, "Operation Command Word 1" */
#define PIC_SECOND_MASK	0xa1
#define PIC_ALL		0xff
#define END_US		1000000u	/* us until the machine is off */
#define LEFT_SIZE	60
#define SCI_EN		BIT(0)
#define ACPI_LOOKS	300u		/* a BIOS may take its time */
#define ACPI_US		10000u

/* "System Management BIOS Reference Specification", "Structure Table Entry Point". */
#define SMBIOS_BEGIN	0xf0000u
#define SMBIOS_BYTES	0x10000u

struct direct direct;

/* Stands before the memory that firmware_allocate() returns. */
struct block {
	u64 base, size;
};
#define BLOCK_HEADER	64u

static struct {
	u64 base, size;
} arena;
static u64 startup;	/* address of a page; 0: none */

extern const u8 image_end[] __asm__("_end") __attribute__((visibility("hidden")));

const char *direct_init(u64 start_info)
{
	static const u64 mapped = PVH_MAPPED;
	const char *wrong;
	u64 apic_page;

	apic_find(&apic_page);
	/* No handler exists for devices that the BIOS has left on. QEMU takes a request that is
	 * pending while the local APIC's entry is masked for one without a vector. */
	port_write8(PIC_FIRST_MASK, PIC_ALL);
	port_write8(PIC_SECOND_MASK, PIC_ALL);
	direct.physical = physical_mapped(&mapped);
	wrong = start_info_read(&direct.physical, start_info, &direct.info);
	direct.rsdp = direct.info.rsdp ? direct.info.rsdp : acpi_search(&direct.physical);
	acpi_power(&direct.physical, direct.rsdp, &direct.power);
	firmware_measure_tsc();
	if (wrong)
		return wrong;
	if (!start_info_free(&direct.info, &direct.ram) ||
	    !ram_remove(&direct.ram, (u64)(uintptr_t)firmware_image,
			(u64)(image_end - firmware_image)))
		return "the memory map is in too many pieces";
	return NULL;
}

void firmware_say(const char *line)
{
	serial_init(COM1);
	serial_borrow();
	for (; *line; line++)
		serial_put(*line);
	serial_put('\r');
	serial_put('\n');
	serial_return();
}

/* Words of the command line that are for Linux. */
static char left_alone[LEFT_SIZE];

void firmware_describe(char *text, size_t size)
{
	fmt_print(text, size, "none, entered by %s; %u MiB, %u modules, ACPI tables %s%s%s%s",
		  direct.info.multiboot2 ? "Multiboot2" : "PVH",
		  (unsigned)(direct.info.memory_top >> 20), direct.info.modules,
		  direct.rsdp ? "found" : "not found",
		  direct.tsc_assumed ? "; the TSC's rate is unknown: 4 GHz is assumed" : "",
		  left_alone[0] ? "; left alone:" : "", left_alone);
}

void firmware_stall(u64 us)
{
	time_stall(us);
}

size_t firmware_load_options(char *text, size_t size)
{
	size_t length = 0;

	while (length < direct.info.command_length && length < size) {
		char c = direct.info.command[length];

		text[length++] = (c >= ' ' && c <= '~') || c == '\t' ? c : '?';
	}
	return words_of_ours(text, length, left_alone, sizeof(left_alone));
}

static const u8 *find_smbios(const char *anchor)
{
	const u8 *at = direct.physical.at(direct.physical.ctx, SMBIOS_BEGIN, SMBIOS_BYTES);

	for (u32 i = 0; at && i < SMBIOS_BYTES; i += 16)
		if (!memcmp(at + i, anchor, strlen(anchor)))
			return at + i;
	return NULL;
}

const void *firmware_find_table(enum firmware_table table)
{
	const struct start_module *module;

	switch (table) {
	case TABLE_RSDP:
		return (const void *)(uintptr_t)direct.rsdp;
	case TABLE_SMBIOS3:
		return find_smbios("_SM3_");
	case TABLE_SMBIOS:
		return find_smbios("_SM_");
	case TABLE_EXERCISER:
		module = start_info_named(&direct.info, PVH_EXERCISER_MODULE);
		return module ? (const void *)(uintptr_t)module->address : NULL;
	default:
		return NULL;
	}
}

u64 firmware_memory(void)
{
	return direct.info.memory_top;
}

u64 firmware_need(unsigned processors, u64 spare)
{
	return machine_arena_need(direct.info.memory_top, processors) + spare;
}

firmware_status firmware_setup(struct machine_setup *setup, unsigned processors, u64 spare,
			       bool with_screen)
{
	*setup = (struct machine_setup){ .processors = processors };
	setup->memory_top = direct.info.memory_top;
	setup->arena_size = firmware_need(processors, spare);
	arena.base = ram_take(&direct.ram, setup->arena_size, TWO_MIB, TWO_MIB, FOUR_GIB);
	if (!arena.base)
		return FIRMWARE_OUT_OF_RESOURCES;
	arena.size = setup->arena_size;
	setup->arena_base = arena.base;
	memset((void *)(uintptr_t)arena.base, 0, arena.size);
	if (processors > 1)
		startup = ram_take(&direct.ram, RAM_PAGE, RAM_PAGE, RAM_PAGE, LOW_END);
	setup->startup_page = startup;
	if (with_screen)
		direct_find_screen(&setup->framebuffer);
	return FIRMWARE_DONE;
}

void firmware_release(void)
{
	if (arena.base)
		ram_add(&direct.ram, arena.base, arena.size);
	arena.base = 0;
	if (startup)
		ram_add(&direct.ram, startup, RAM_PAGE);
	startup = 0;
}

void *firmware_allocate(size_t size)
{
	u64 bytes = size + BLOCK_HEADER;
	u64 base = ram_take(&direct.ram, bytes, RAM_PAGE, TWO_MIB, FOUR_GIB);

	if (!base)
		return NULL;
	*(struct block *)(uintptr_t)base = (struct block){ base, bytes };
	return (u8 *)(uintptr_t)base + BLOCK_HEADER;
}

void firmware_free(void *memory)
{
	const struct block *block;

	if (!memory)
		return;
	block = (const void *)((const u8 *)memory - BLOCK_HEADER);
	ram_add(&direct.ram, block->base, block->size);
}

struct firmware_time firmware_time(void)
{
	return (struct firmware_time){ .year = 0 };
}

unsigned firmware_count_ticks(unsigned wanted, u64 us)
{
	(void)wanted;
	(void)us;
	return 0;
}

static void write(const struct acpi_register *at)
{
	if (!at->address)
		return;
	if (at->is_port && at->bytes == 2)
		port_write16((u16)at->address, (u16)at->value);
	else if (at->is_port)
		port_write8((u16)at->address, (u8)at->value);
	else if (at->address < PVH_MAPPED)
		*(volatile u8 *)(uintptr_t)at->address = (u8)at->value;
}

void firmware_reset(void)
{
	write(&direct.power.reset);
	time_stall(END_US);
	machine_reset();
}

/* ACPI Specification, "PM1 Control Registers" (SCI_EN), "Transitioning from Legacy to ACPI". */
static void enter_acpi_mode(void)
{
	const struct acpi_register *control = &direct.power.off[0];

	if (!direct.power.enable.address || !control->address || !control->is_port)
		return;
	for (unsigned n = 0; n < ACPI_LOOKS; n++) {
		if (port_read16((u16)control->address) & SCI_EN)
			return;
		if (!n)
			write(&direct.power.enable);
		time_stall(ACPI_US);
	}
}

void firmware_switch_off(void)
{
	enter_acpi_mode();
	write(&direct.power.off[0]);
	write(&direct.power.off[1]);
	time_stall(END_US);
}
