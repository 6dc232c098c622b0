/* SPDX-License-Identifier: MIT */
/*
 * The model, set up with raw register values from the manual's pages, writes the golden bytes. No
 * step from WRMSR to memory uses a constant of spec/. Registers are numbers here on purpose (SDM
 * Table 35-2 and the pages named in test_tables.c).
 */
#include "host/check.h"

#include "host/golden/record_bytes.h"
#include "refpmu/faults/fault.h"
#include "refpmu/model/model.h"

#define DS_AREA		0x10000ULL
#define BUFFER		0x20000ULL
#define BUFFER_SIZE	0x1000ULL
#define POISON		0xee

struct machine {
	u8 ds[0x60];
	u8 buffer[BUFFER_SIZE];
	unsigned interrupts;
	struct model model;
};

static u8 *place(struct machine *machine, u64 linear, size_t bytes)
{
	if (linear >= DS_AREA && linear + bytes <= DS_AREA + sizeof(machine->ds))
		return machine->ds + (linear - DS_AREA);
	if (linear >= BUFFER && linear + bytes <= BUFFER + BUFFER_SIZE)
		return machine->buffer + (linear - BUFFER);
	return NULL;
}

static bool machine_read(void *ctx, u64 linear, void *to, size_t bytes)
{
	u8 *from = place(ctx, linear, bytes);

	if (CHECK(from, "reads %zu bytes at %#llx", bytes, (unsigned long long)linear))
		memcpy(to, from, bytes);
	return from;
}

static bool machine_write(void *ctx, u64 linear, const void *from, size_t bytes)
{
	u8 *to = place(ctx, linear, bytes);

	if (CHECK(to, "writes %zu bytes at %#llx", bytes, (unsigned long long)linear))
		memcpy(to, from, bytes);
	return to;
}

static u32 machine_lvtpc(void *ctx)
{
	(void)ctx;
	return 0xf0;
}

static void machine_deliver(void *ctx, const struct pmi_delivery *delivery)
{
	(void)delivery;
	((struct machine *)ctx)->interrupts++;
}

static struct machine machine;
static const struct model_host host = {
	.ctx = &machine, .read = machine_read, .write = machine_write,
	.lvtpc = machine_lvtpc, .deliver = machine_deliver,
};

static u64 ds_get(unsigned offset)
{
	u64 value;

	memcpy(&value, machine.ds + offset, sizeof(value));
	return value;
}

static void ds_set(unsigned offset, u64 value)
{
	memcpy(machine.ds + offset, &value, sizeof(value));
}

static const struct model_registers stale = {
	.gpr = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
	.rip = 0x300000, .rflags = 0x202,
};

static void retire_plain(void)
{
	struct model_retired r = { .ip = 0x2ffffe, .before = stale, .after = stale };

	model_retire(&machine.model, &r);
}

static void wrmsr(u32 msr, u64 value)
{
	struct msr_result result = model_wrmsr(&machine.model, msr, value);

	CHECK_EQ(MSR_DONE, result.status, "WRMSR %#x", msr);
	if (model_needs_retire(&machine.model))
		retire_plain();
}

static u64 rdmsr(u32 msr)
{
	struct msr_result result = model_rdmsr(&machine.model, msr);

	CHECK_EQ(MSR_DONE, result.status, "RDMSR %#x", msr);
	return result.value;
}

static void retire_load(u64 ip, const struct model_registers *after, u64 address)
{
	struct model_retired r = {
		.ip = ip, .loads = 1, .n_access = 1,
		.access = { { .linear = address, .bytes = 8 } },
		.before = stale, .after = *after,
	};

	model_retire(&machine.model, &r);
}

static const struct model_registers golden_after = {
	.gpr = {
		[REG_RAX] = GOLDEN_RAX, [REG_RBX] = GOLDEN_RBX, [REG_RCX] = GOLDEN_RCX,
		[REG_RDX] = GOLDEN_RDX, [REG_RSI] = GOLDEN_RSI, [REG_RDI] = GOLDEN_RDI,
		[REG_RBP] = GOLDEN_RBP, [REG_RSP] = GOLDEN_RSP, [REG_R8] = GOLDEN_R8,
		[REG_R9] = GOLDEN_R9, [REG_R10] = GOLDEN_R10, [REG_R11] = GOLDEN_R11,
		[REG_R12] = GOLDEN_R12, [REG_R13] = GOLDEN_R13, [REG_R14] = GOLDEN_R14,
		[REG_R15] = GOLDEN_R15,
	},
	.rip = GOLDEN_NEXT_IP, .rflags = GOLDEN_RFLAGS,
};

/*
 * IA32_PMC0 counts the loads (event select load, EN and OS set) at CPL 0 with PEBS, one short of a
 * wrap. Fixed counter 1, core cycles, wraps before that, without PEBS and without an interrupt.
 */
static void set_up_generation(enum generation_id generation, u32 load, enum fault_id fault)
{
	struct model_config config = { .generation = generation, .hyper_threading = true,
				       .fault = fault };

	memset(&machine, 0, sizeof(machine));
	memset(machine.buffer, POISON, sizeof(machine.buffer));
	model_init(&machine.model, &config, &host);
	ds_set(0x20, BUFFER);
	ds_set(0x28, BUFFER);
	ds_set(0x30, BUFFER + 4 * 192);
	ds_set(0x38, BUFFER + 4 * 192);
	ds_set(0x40, 0x0000ffffffffff9c);	/* -100, 48 bits */
	wrmsr(0x600, DS_AREA);
	wrmsr(0x0c1, 0xffffffff);		/* sign-extended: all ones */
	wrmsr(0x186, load);
	wrmsr(0x30a, 0x0000ffffffffffff);
	wrmsr(0x38d, 0x010);			/* fixed counter 1 at ring 0 */
	wrmsr(0x3f1, 0x1);
	wrmsr(0x38f, 0x0000000200000001);
	retire_plain();
}

/* A Haswell, and MEM_UOPS_RETIRED.ALL_LOADS (81D0H). */
static void set_up(enum fault_id fault)
{
	set_up_generation(GEN_HASWELL, 0x004281d0, fault);
}

static void model_writes_the_golden_record(void)
{
	set_up(FAULT_NONE);
	retire_load(0x400ff0, &stale, 0x7000);		/* wraps and arms */
	CHECK_EQ(BUFFER, ds_get(0x28), "arming writes nothing");
	CHECK_EQ(0x0000000200000001, rdmsr(0x38e), "both overflows");
	CHECK_EQ(POISON, machine.buffer[0]);
	retire_load(GOLDEN_EVENTING_IP, &golden_after, GOLDEN_ADDRESS);
	for (unsigned i = 0; i < sizeof(golden_record); i++)
		CHECK_EQ(golden_record[i], machine.buffer[i], "byte %#x of the record", i);
	for (unsigned i = sizeof(golden_record); i < BUFFER_SIZE; i++)
		if (!CHECK_EQ(POISON, machine.buffer[i], "byte %#x after the record", i))
			break;
}

/*
 * Table 18-23 is the beginning of Table 18-44: the same bytes up to 97H. 98H to AFH are for load
 * latency and precise store, and are 0 for other events; there is nothing after AFH.
 */
static void model_writes_format_1_where_it_is(void)
{
	static const struct {
		enum generation_id generation;
		u32 load;
	} machines[] = {
		{ GEN_NEHALEM, 0x0042010b },
		{ GEN_WESTMERE, 0x0042010b },
		{ GEN_SANDYBRIDGE, 0x004281d0 },
		{ GEN_IVYBRIDGE, 0x004281d0 },
	};

	for (size_t k = 0; k < sizeof(machines) / sizeof(machines[0]); k++) {
		set_up_generation(machines[k].generation, machines[k].load, FAULT_NONE);
		retire_load(0x400ff0, &stale, 0x7000);
		retire_load(GOLDEN_EVENTING_IP, &golden_after, GOLDEN_ADDRESS);
		CHECK_EQ(BUFFER + 0xb0, ds_get(0x28), "the index advanced by one record");
		for (unsigned i = 0; i < 0x98; i++)
			CHECK_EQ(golden_record[i], machine.buffer[i], "byte %#x of the record", i);
		for (unsigned i = 0x98; i < 0xb0; i++)
			CHECK_EQ(0, machine.buffer[i], "byte %#x of the record", i);
		CHECK_EQ(POISON, machine.buffer[0xb0], "after the record");
	}
}

static void broadwell_writes_the_record_of_haswell(void)
{
	set_up_generation(GEN_BROADWELL, 0x004281d0, FAULT_NONE);
	retire_load(0x400ff0, &stale, 0x7000);
	retire_load(GOLDEN_EVENTING_IP, &golden_after, GOLDEN_ADDRESS);
	CHECK(!memcmp(golden_record, machine.buffer, sizeof(golden_record)));
	CHECK_EQ(BUFFER + 0xc0, ds_get(0x28));
}

static void model_keeps_the_books(void)
{
	set_up(FAULT_NONE);
	retire_load(0x400ff0, &stale, 0x7000);
	retire_load(GOLDEN_EVENTING_IP, &golden_after, GOLDEN_ADDRESS);
	CHECK_EQ(BUFFER + 0xc0, ds_get(0x28), "the index advanced by one record");
	CHECK_EQ(BUFFER, ds_get(0x20));
	CHECK_EQ(BUFFER + 0x300, ds_get(0x30));
	CHECK_EQ(BUFFER + 0x300, ds_get(0x38));
	CHECK_EQ(0x0000ffffffffff9c, rdmsr(0x0c1), "reloaded");
	CHECK_EQ(0x0000000200000000, rdmsr(0x38e), "the assist clears its own bit only");
	CHECK_EQ(0, machine.interrupts, "below the threshold, no INT bit");
}

/* The positive control of the two tests above: with a fault the same machine must not pass them. */
static void a_fault_changes_the_bytes(void)
{
	set_up(FAULT_GPR_ORDER);
	retire_load(0x400ff0, &stale, 0x7000);
	retire_load(GOLDEN_EVENTING_IP, &golden_after, GOLDEN_ADDRESS);
	CHECK(memcmp(golden_record, machine.buffer, sizeof(golden_record)));
	CHECK_EQ(0xc0, machine.buffer[0x18], "RCX at 18H, the encoding order");
	set_up(FAULT_INERT);
	retire_load(0x400ff0, &stale, 0x7000);
	retire_load(GOLDEN_EVENTING_IP, &golden_after, GOLDEN_ADDRESS);
	CHECK_EQ(POISON, machine.buffer[0]);
	CHECK_EQ(BUFFER, ds_get(0x28));
}

/* From the manual: 38EH is drawn with reset value 0; capabilities of Haswell: format 2, trap,
 * FW_WRITE. */
static void registers_read_as_printed(void)
{
	set_up(FAULT_NONE);
	wrmsr(0x38f, 0);
	wrmsr(0x390, 0xe000000700000001 & 0xc00000070000000f);
	CHECK_EQ(0, rdmsr(0x38e), "every bit cleared through 390H");
	CHECK_EQ(0x2240, rdmsr(0x345) & 0x2f40, "trap-like, format 2, full-width writes");
	wrmsr(0x3f1, 0x0000000100000001);	/* the value printed for load latency on PMC0 */
	CHECK_EQ(0x0000000100000001, rdmsr(0x3f1));
	CHECK_EQ(MSR_GP, model_wrmsr(&machine.model, 0x3f1, 0x8000000000000000).status);
	CHECK_EQ(0x0000000100000001, rdmsr(0x3f1), "a #GP changes nothing");
	wrmsr(0x0c1, 0x80000000);
	CHECK_EQ(0x0000ffff80000000, rdmsr(0x0c1), "bit 31 sign-extended to 48 bits");
	wrmsr(0x4c1, 0x0000123456789abc);
	CHECK_EQ(0x0000123456789abc, rdmsr(0x0c1), "full-width alias");
}

int main(void)
{
	RUN(model_writes_the_golden_record);
	RUN(model_writes_format_1_where_it_is);
	RUN(broadwell_writes_the_record_of_haswell);
	RUN(model_keeps_the_books);
	RUN(a_fault_changes_the_bytes);
	RUN(registers_read_as_printed);
	return check_end();
}
