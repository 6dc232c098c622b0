/* SPDX-License-Identifier: MIT */
/* The data from a loader of PVH or Multiboot2, free memory, ACPI's tables, and a program in a file.
 */
#include <stdlib.h>
#include <string.h>

#include "host/check.h"
#include "platform/acpi.h"
#include "platform/elf.h"
#include "platform/multiboot2.h"
#include "platform/start_info.h"
#include "spec/multiboot2.h"

#define BYTES	0x100000u
#define START	0x6000u
#define MAP	0x7000u
#define MODULES	0x7800u
#define COMMAND	0x8000u
#define NAME	0x8100u
#define MODULE	0x9000u

static u8 bytes[BYTES];

static const void *at(void *ctx, u64 address, u64 length)
{
	(void)ctx;
	return address && address < BYTES && length <= BYTES - address ? bytes + address : NULL;
}

static const struct physical physical = { at, NULL };
static struct pvh_start_info start;
static struct pvh_range map[8];
static struct pvh_module modules[2];
static struct start_info info;

static const char *read_info(void)
{
	memcpy(bytes + START, &start, sizeof start);
	memcpy(bytes + MAP, map, sizeof map);
	memcpy(bytes + MODULES, modules, sizeof modules);
	return start_info_read(&physical, START, &info);
}

/* A usual map from a loader: 640 KiB, a reserved range, 255 MiB. */
static void usual(void)
{
	memset(bytes, 0, sizeof bytes);
	memset(modules, 0, sizeof modules);
	start = (struct pvh_start_info){
		.magic = PVH_MAGIC, .version = 1, .command_line = COMMAND, .rsdp = 0xe0000,
		.memory_map = MAP, .memory_ranges = 3,
	};
	map[0] = (struct pvh_range){ 0, 0xa0000, PVH_RAM, 0 };
	map[1] = (struct pvh_range){ 0xf0000, 0x10000, PVH_RESERVED, 0 };
	map[2] = (struct pvh_range){ 0x100000, 0xff00000, PVH_RAM, 0 };
	strcpy((char *)bytes + COMMAND, "tests=count.* at_end=exit");
}

static void usual_start_info_is_taken(void)
{
	struct ram ram;

	usual();
	CHECK(!read_info());
	CHECK_EQ(0xe0000, info.rsdp);
	CHECK_EQ(25, info.command_length);
	CHECK(!memcmp(info.command, "tests=count.*", 13));
	CHECK_EQ(3, info.ranges);
	CHECK_EQ(0x10000000, info.memory_top);
	CHECK(start_info_free(&info, &ram));
	/* Without the first page, START, MAP and COMMAND. */
	CHECK_EQ(0x1000, ram.range[0].base);
	CHECK_EQ(0x6000, ram.range[0].end);
	CHECK_EQ(0x9000, ram.range[1].base);
	CHECK_EQ(0xa0000, ram.range[1].end);
	CHECK_EQ(0x100000, ram.range[2].base);
	CHECK_EQ(3, ram.ranges);
}

static void module_and_its_name_are_in_use(void)
{
	struct ram ram;

	usual();
	start.modules = 2;
	start.module_list = MODULES;
	modules[0] = (struct pvh_module){ MODULE, 0x1801, 0, 0 };
	modules[1] = (struct pvh_module){ 0x20000, 16, NAME, 0 };
	strcpy((char *)bytes + NAME, "exerciser");
	CHECK(!read_info());
	CHECK_EQ(2, info.modules);
	CHECK_STR("exerciser", info.module[1].name);
	CHECK(start_info_file(&info, 0) == &info.module[0]);
	CHECK(!start_info_file(&info, 1), "the other one is no file");
	CHECK(start_info_named(&info, "exerciser") == &info.module[1]);
	CHECK(!start_info_named(&info, "exercise"));
	CHECK(start_info_free(&info, &ram));
	CHECK_EQ(0xb000, ram.range[1].base);
	CHECK_EQ(0x20000, ram.range[1].end);
}

static void what_is_wrong_is_refused(void)
{
	usual();
	start.magic++;
	CHECK(read_info());
	usual();
	start.version = 0;
	CHECK(read_info(), "no memory map");
	usual();
	start.memory_ranges = START_RANGES + 1;
	CHECK(read_info());
	usual();
	start.memory_map = BYTES - 24;
	CHECK(read_info(), "beyond memory");
	usual();
	start.modules = START_MODULES + 1;
	CHECK(read_info());
	usual();
	start.modules = 1;
	start.module_list = MODULES;
	modules[0] = (struct pvh_module){ MODULE, BYTES, 0, 0 };
	CHECK(read_info(), "a module beyond memory");
	usual();
	map[2].size = ~0ULL;
	CHECK(read_info(), "a range beyond 64 bits");
	usual();
	start.command_line = BYTES + 1;
	CHECK(!read_info());
	CHECK(!info.command && !info.command_length, "a command line that isn't there is none");
}

/* ---- Multiboot2 ---- */

static u32 tags_end;

static void add_tag(u32 type, u32 size, const void *content, u32 length)
{
	u8 *to = bytes + START + tags_end;

	memcpy(to, &(struct multiboot2_tag){ type, size }, sizeof(struct multiboot2_tag));
	memcpy(to + sizeof(struct multiboot2_tag), content, length);
	tags_end += (size + 7) & ~7u;
	memcpy(bytes + START, &tags_end, sizeof tags_end);
}

static void end_tags(void)
{
	add_tag(MULTIBOOT2_END, 8, "", 0);
}

/* As GRUB passes them, typed from the specification: "Boot command line", "Modules", "Memory map",
 * "Framebuffer info", "ACPI old RSDP". */
static void begin_tags(void)
{
	static const u32 module[] = { MODULE, MODULE + 0x1801, 0 };
	static const u32 memory[] = { 24, 0, 0, 0, 0xa0000, 0, 1, 0,
				      0x100000, 0, 0xff00000, 0, 1, 0,
				      0xf0000, 0, 0x10000, 0, 2, 0 };

	memset(bytes, 0, sizeof bytes);
	tags_end = 8;
	add_tag(1, 8 + 12, "results=off", 12);
	add_tag(3, 16 + 1, module, sizeof module);
	add_tag(6, 8 + sizeof memory, memory, sizeof memory);
}

static const char *read_multiboot2(void)
{
	return start_info_read(&physical, START, &info);
}

static void multiboot2_information_is_taken(void)
{
	static const u8 screen[] = { 0, 0, 0, 0xfd, 0, 0,  0, 0, 0, 0x10, 0, 0, 0, 4, 0,
				     0, 0, 3, 0,    0, 32, 1, 0, 0, 16,	  8, 8, 8, 0, 8 };
	struct ram ram;

	begin_tags();
	add_tag(8, 8 + sizeof screen, screen, sizeof screen);
	add_tag(14, 8 + 20, "RSD PTR ", 8);
	end_tags();
	CHECK(!read_multiboot2());
	CHECK(info.multiboot2);
	CHECK_EQ(11, info.command_length);
	CHECK(!memcmp(info.command, "results=off", 11));
	CHECK_EQ(1, info.modules);
	CHECK_EQ(0x1801, info.module[0].size);
	CHECK(start_info_file(&info, 0) == &info.module[0]);
	CHECK_EQ(3, info.ranges);
	CHECK_EQ(0x10000000, info.memory_top);
	CHECK(!memcmp(bytes + info.rsdp, "RSD PTR ", 8));
	CHECK_EQ(0xfd000000, info.screen.address);
	CHECK_EQ(4096, info.screen.pitch);
	CHECK_EQ(1024, info.screen.width);
	CHECK_EQ(768, info.screen.height);
	CHECK_EQ(4, info.screen.bytes);
	CHECK_EQ(0xff0000, info.screen.red);
	CHECK_EQ(0xff00, info.screen.green);
	CHECK_EQ(0xff, info.screen.blue);
	CHECK(start_info_free(&info, &ram));
	/* Without the first page, the tags and the module. */
	CHECK_EQ(START, ram.range[0].end);
	CHECK_EQ(0x7000, ram.range[1].base);
	CHECK_EQ(MODULE, ram.range[1].end);
	CHECK_EQ(0xb000, ram.range[2].base);
}

static void multiboot2_without_a_screen_or_with_text_has_none(void)
{
	static const u8 text[] = { 0, 0x80, 0xb, 0, 0, 0,  0, 0, 160, 0, 0, 0, 80, 0, 0,
				   0, 25,   0,	 0, 0, 16, 2, 0, 0,   0, 0, 0, 0,  0, 0 };
	static const u8 pixels[] = { 0, 0, 0, 0xfd, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 4, 0, 0, 0, 3, 0,
				     0, 32, 1, 0, 0, 28, 8, 8, 8, 0, 8 };

	begin_tags();
	end_tags();
	CHECK(!read_multiboot2());
	CHECK_EQ(0, info.screen.bytes);
	CHECK_EQ(0, info.rsdp);
	begin_tags();
	add_tag(8, 8 + sizeof text, text, sizeof text);
	end_tags();
	CHECK(!read_multiboot2());
	CHECK_EQ(0, info.screen.bytes);
	begin_tags();
	add_tag(8, 37, pixels, 29);
	end_tags();
	CHECK(!read_multiboot2());
	CHECK_EQ(0, info.screen.bytes, "a tag that is cut");
	begin_tags();
	add_tag(8, 8 + sizeof pixels, pixels, sizeof pixels);
	end_tags();
	CHECK(!read_multiboot2());
	CHECK_EQ(0, info.screen.red, "a colour beyond 32 bits");
}

static void wrong_multiboot2_information_is_refused(void)
{
	u32 word;

	begin_tags();
	CHECK(read_multiboot2(), "no end tag");
	begin_tags();
	add_tag(99, 7, "", 0);
	end_tags();
	CHECK(read_multiboot2(), "a tag shorter than its head");
	begin_tags();
	add_tag(99, 0x1000, "", 0);
	tags_end -= 0x800;
	end_tags();
	CHECK(read_multiboot2(), "a tag beyond the end");
	memset(bytes, 0, sizeof bytes);
	tags_end = 8;
	end_tags();
	CHECK(read_multiboot2(), "no memory map");
	begin_tags();
	add_tag(3, 15, "", 0);
	end_tags();
	CHECK(read_multiboot2(), "a module's tag that is cut");
	begin_tags();
	add_tag(3, 17, (const u32[]){ MODULE, BYTES + 1, 0 }, 12);
	end_tags();
	CHECK(read_multiboot2(), "a module beyond memory");
	begin_tags();
	for (unsigned i = 0; i < START_MODULES; i++)
		add_tag(3, 17, (const u32[]){ MODULE, MODULE + 1, 0 }, 12);
	end_tags();
	CHECK(read_multiboot2(), "17 modules");
	begin_tags();
	add_tag(6, 16, (const u32[]){ 20, 0 }, 8);
	end_tags();
	CHECK(read_multiboot2(), "entries of the map that are too short");
	begin_tags();
	for (unsigned i = 0; i < START_RANGES; i++) {
		static const u32 range[] = { 24, 0, 0, 0, 0x1000, 0, 2, 0 };

		add_tag(6, 8 + sizeof range, range, sizeof range);
	}
	end_tags();
	CHECK(read_multiboot2(), "more than 128 ranges in all maps");
	begin_tags();
	end_tags();
	word = 1;
	memcpy(bytes + START + 4, &word, sizeof word);
	CHECK(read_multiboot2(), "the reserved word isn't 0");
}

static void reserved_memory_wins_over_ram(void)
{
	struct ram ram;

	usual();
	map[1] = (struct pvh_range){ 0x300800, 0x1000, PVH_RESERVED, 0 };
	CHECK(!read_info());
	CHECK(start_info_free(&info, &ram));
	CHECK_EQ(0x300000, ram.range[2].end);
	CHECK_EQ(0x302000, ram.range[3].base);
}

static void guest_map_has_no_hidden_memory(void)
{
	const struct ram_range hidden[2] = { { 0x200000, 0x400000 }, { 0x9f000, 0xa0000 } };
	struct pvh_range out[8];

	usual();
	CHECK(!read_info());
	CHECK_EQ(6, start_info_map(&info, hidden, 2, out, 8));
	CHECK_EQ(0, out[0].address);
	CHECK_EQ(0x9f000, out[0].size);
	CHECK_EQ(0x100000, out[1].address);
	CHECK_EQ(0x100000, out[1].size);
	CHECK_EQ(0x400000, out[2].address);
	CHECK_EQ(0x10000000 - 0x400000, out[2].size);
	CHECK_EQ(PVH_RESERVED, out[3].type, "that of the loader");
	CHECK_EQ(0xf0000, out[3].address);
	CHECK_EQ(PVH_RESERVED, out[4].type);
	CHECK_EQ(0x200000, out[4].address);
	CHECK_EQ(0x200000, out[4].size);
	CHECK_EQ(0x9f000, out[5].address);
	CHECK_EQ(0, start_info_map(&info, hidden, 2, out, 5), "there is no room for it");
}

static void memory_is_taken_from_the_top_and_given_back(void)
{
	struct ram ram = { .ranges = 0 };
	u64 base;

	CHECK(ram_add(&ram, 0x1000, 0x9000) && ram_add(&ram, 0x100000, 0x400000));
	CHECK_EQ(0x400000, ram_take(&ram, 0x100000, 0x100000, 0, ~0ULL));
	CHECK_EQ(0x300000, ram_take(&ram, 0x1001, 0x100000, 0, 0x400000));
	CHECK_EQ(3, ram.ranges);
	CHECK_EQ(0x9000, ram_take(&ram, 1, 1, 0x1000, 0xa0000));
	CHECK_EQ(0, ram_take(&ram, 0x9000, 1, 0x1000, 0xa0000), "8 pages are left there");
	CHECK_EQ(0, ram_take(&ram, 1, 1, 0x600000, ~0ULL));
	CHECK(ram_add(&ram, 0x9000, 1) && ram_add(&ram, 0x9000, 0x1000));
	CHECK(ram_add(&ram, 0x300000, 0x2000) && ram_add(&ram, 0x400000, 0x100000));
	CHECK_EQ(2, ram.ranges);
	CHECK_EQ(0x500000, ram.range[1].end);
	base = ram_take(&ram, 0x400000, 0x100000, 0, ~0ULL);
	CHECK_EQ(0x100000, base);
	CHECK_EQ(0, ram_take(&ram, 0, 1, 0, ~0ULL), "nothing is nowhere");
}

static void put(u64 where, u64 value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		bytes[where + i] = (u8)(value >> (8 * i));
}

/* As a BIOS has them: RSDP of ACPI 1.0 at 0xf0010, RSDT, MADT, FADT, DSDT. */
static void acpi_tables(void)
{
	u8 sum = 0;

	memset(bytes, 0, sizeof bytes);
	memcpy(bytes + 0xf0010, "RSD PTR ", 8);
	put(0xf0010 + 16, 0x40000, 4);
	for (unsigned i = 0; i < 20; i++)
		sum = (u8)(sum + bytes[0xf0010 + i]);
	bytes[0xf0010 + 8] = (u8)-sum;
	memcpy(bytes + 0x40000, "RSDT", 4);
	put(0x40004, 36 + 8, 4);
	put(0x40000 + 36, 0x41000, 4);
	put(0x40000 + 40, 0x42000, 4);
	memcpy(bytes + 0x41000, "APIC", 4);
	put(0x41004, 44 + 8 * 3 + 16, 4);
	memcpy(bytes + 0x41000 + 44, "\0\10\0\2\1\0\0\0", 8);	/* APIC id 2 */
	memcpy(bytes + 0x41000 + 52, "\0\10\1\3\0\0\0\0", 8);	/* not enabled */
	memcpy(bytes + 0x41000 + 60, "\1\10\0\0\0\0\0\0", 8);
	memcpy(bytes + 0x41000 + 68, "\11\20\0\0\0\1\0\0\1\0\0\0\0\0\0\0", 16);
	memcpy(bytes + 0x42000, "FACP", 4);
	put(0x42004, 244, 4);
	put(0x42000 + 40, 0x43000, 4);
	put(0x42000 + 64, 0x604, 4);
	put(0x42000 + 76, 0x608, 4);
	put(0x42000 + 112, BIT(10), 4);
	put(0x42000 + 116, 1, 1);
	put(0x42000 + 120, 0xcf9, 8);
	put(0x42000 + 128, 0xf, 1);
	memcpy(bytes + 0x43000, "DSDT", 4);
	put(0x43004, 36 + 16, 4);
	memcpy(bytes + 0x43000 + 36, "\xff\x08_S5_\x12\x08\x04\x0a\x05\x00\x00\x00", 14);
}

static void processors_and_power_are_found(void)
{
	struct acpi_power power;
	u32 ids[4] = { 0 };

	acpi_tables();
	CHECK_EQ(0xf0010, acpi_search(&physical));
	CHECK_EQ(2, acpi_processors(&physical, 0xf0010, ids, 4));
	CHECK_EQ(2, ids[0]);
	CHECK_EQ(0x100, ids[1]);
	CHECK_EQ(1, acpi_processors(&physical, 0xf0010, ids, 1));
	acpi_power(&physical, 0xf0010, &power);
	CHECK_EQ(0x604, power.off[0].address);
	CHECK_EQ(5 << 10 | BIT(13), power.off[0].value);
	CHECK(power.off[0].is_port && power.off[0].bytes == 2);
	CHECK_EQ(0, power.off[1].address);
	CHECK_EQ(0xcf9, power.reset.address);
	CHECK_EQ(0xf, power.reset.value);
	CHECK_EQ(0x608, power.timer_port);
}

static void broken_tables_are_none(void)
{
	struct acpi_power power;
	u32 ids[4];

	acpi_tables();
	bytes[0xf0010 + 9]++;
	CHECK_EQ(0, acpi_search(&physical), "a wrong sum");
	acpi_tables();
	put(0x41000 + 45, 0, 1);
	CHECK_EQ(0, acpi_processors(&physical, 0xf0010, ids, 4), "an entry of no length");
	acpi_tables();
	put(0x40004, ~0U, 4);
	CHECK_EQ(0, acpi_processors(&physical, 0xf0010, ids, 4), "a root table beyond memory");
	acpi_tables();
	put(0x43000 + 42, 0x13, 1);
	acpi_power(&physical, 0xf0010, &power);
	CHECK_EQ(0, power.off[0].address, "a package that isn't there");
	CHECK_EQ(0, acpi_processors(&physical, 0, ids, 4));
}

#define FILE_BYTES	0x200u

/* An ELF file with one segment and one note. */
static void program(void)
{
	memset(bytes, 0, FILE_BYTES);
	memcpy(bytes, "\177ELF\2\1\1", 7);
	put(18, 62, 2);
	put(32, 64, 8);
	put(54, 56, 2);
	put(56, 2, 2);
	put(64, 1, 4);
	put(64 + 8, 0x100, 8);
	put(64 + 24, 0x1000000, 8);
	put(64 + 32, 0x80, 8);
	put(64 + 40, 0x1000, 8);
	put(120, 4, 4);
	put(120 + 8, 0x180, 8);
	put(120 + 32, 24, 8);
	put(120 + 48, 4, 8);
	put(0x180, 4, 4);
	put(0x184, 8, 4);
	put(0x188, 18, 4);
	memcpy(bytes + 0x18c, "Xen", 4);
	put(0x190, 0x1000010, 8);
}

static void program_with_a_note_is_taken(void)
{
	struct elf_image image;

	program();
	CHECK(!elf_read(bytes, FILE_BYTES, &image));
	CHECK_EQ(0x1000010, image.entry);
	CHECK_EQ(1, image.segments);
	CHECK_EQ(0x100, image.segment[0].offset);
	CHECK_EQ(0x80, image.segment[0].file_bytes);
	CHECK_EQ(0x1000000, image.segment[0].address);
	CHECK_EQ(0x1000, image.segment[0].bytes);
}

static void program_that_is_none_is_refused(void)
{
	struct elf_image image;

	program();
	CHECK(elf_read(bytes, 63, &image), "cut");
	put(18, 3, 2);
	CHECK(elf_read(bytes, FILE_BYTES, &image), "another machine's");
	program();
	put(0x188, 17, 4);
	CHECK(elf_read(bytes, FILE_BYTES, &image), "no such note");
	program();
	put(64 + 8, FILE_BYTES - 0x7f, 8);
	CHECK(elf_read(bytes, FILE_BYTES, &image), "a segment beyond the file");
	program();
	put(64 + 24, BIT(32) - 0xfff, 8);
	CHECK(elf_read(bytes, FILE_BYTES, &image), "a segment beyond 4 GiB");
	program();
	put(32, ~0ULL - 8, 8);
	CHECK(elf_read(bytes, FILE_BYTES, &image), "headers beyond the file");
}

int main(void)
{
	RUN(usual_start_info_is_taken);
	RUN(module_and_its_name_are_in_use);
	RUN(what_is_wrong_is_refused);
	RUN(multiboot2_information_is_taken);
	RUN(multiboot2_without_a_screen_or_with_text_has_none);
	RUN(wrong_multiboot2_information_is_refused);
	RUN(reserved_memory_wins_over_ram);
	RUN(guest_map_has_no_hidden_memory);
	RUN(memory_is_taken_from_the_top_and_given_back);
	RUN(processors_and_power_are_found);
	RUN(broken_tables_are_none);
	RUN(program_with_a_note_is_taken);
	RUN(program_that_is_none_is_refused);
	return check_end();
}
