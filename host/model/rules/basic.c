/* SPDX-License-Identifier: MIT */
/*
 * Rules of counting, records and interrupts that the standard program doesn't reach: see rules.h.
 */
#include <string.h>

#include "host/model/rules/internal.h"

/* ---- counting ---- */

/* Counter 0 counts this for n instructions of a kind. */
static u64 counted_branches(struct fixture *r, u32 event, u64 bits, enum model_branch branch,
			    bool taken, unsigned n)
{
	fixture_program(r, 0, event, bits, 0);
	fixture_start(r, BIT(0));
	while (n--)
		fixture_branch(r, branch, taken);
	fixture_stop(r);
	/* The WRMSR that stopped it retired, and is no branch. */
	return PMC(0);
}

RULE(absent_event_is_silent,
     counted_branches(r, EVENT_TOPDOWN_SLOTS_P, 0, BRANCH_NONE, false, 10) == 0)

static bool no_level_no_count(struct fixture *r)
{
	fixture_set(r, MSR_IA32_PERFEVTSEL0, INST | IA32_PERFEVTSEL_EN);
	fixture_start(r, BIT(0));
	fixture_nops(r, 20);
	return PMC(0) == 0;
}

/* Bit 15 carries into bit 16. */
static bool loads_carry(struct fixture *r)
{
	fixture_program(r, 0, LOADS, 0, 0);
	fixture_set(r, MSR_IA32_PMC0, 0xfffc);
	fixture_start(r, BIT(0));
	for (unsigned i = 0; i < 8; i++)
		fixture_load(r, FIXTURE_MEMORY_BASE);
	fixture_stop(r);
	return PMC(0) == 0x10004;
}

static bool mispredictions_keep_to_their_level(struct fixture *r)
{
	fixture_wrmsr(r, 0x186, 0xc5 | BIT(16) | BIT(22));
	fixture_wrmsr(r, 0x187, 0xc5 | BIT(17) | BIT(22));
	fixture_start(r, BIT(0) | BIT(1));
	fixture_branch(r, BRANCH_CONDITIONAL, true);
	return !PMC(0) && PMC(1) == 1;
}

/* IA32_PMC1 overflows right before HLT. */
static bool halting_loses_no_interrupt(struct fixture *r)
{
	fixture_program(r, 1, INST, INT, 3);
	fixture_start(r, BIT(1));
	fixture_nops(r, 3);
	model_halt(&r->m);
	return r->n_interrupts == 1;
}

/* Only the shell can break this, so the rule checks whether the fault is on. */
RULE(exceptions_dont_retire, !model_fault(&r->m, FAULT_FAULTS_RETIRE))
RULE(user_rdpmc_is_checked, !model_fault(&r->m, FAULT_RDPMC_USER_ALLOWED))
RULE(user_rdpmc_below_cpl_3_is_checked, !model_fault(&r->m, FAULT_RDPMC_CPL_1_2_ALLOWED))
RULE(user_rdpmc_works, !model_fault(&r->m, FAULT_RDPMC_USER_REFUSED))
RULE(rdmsr_clears_rax, !model_fault(&r->m, FAULT_RDMSR_KEEPS_RAX))
RULE(rdpmc_clears_rax, !model_fault(&r->m, FAULT_RDPMC_KEEPS_RAX))

RULE(no_fast_rdpmc, model_rdpmc(&r->m, (u32)BIT(31)).status == MSR_GP)

/* ---- instructions and registers ---- */

#define CODE	(FIXTURE_MEMORY_BASE + 0x2000)	/* begins a page */
#define RFLAGS_IF BIT(9)

/* What counter 0 counts of one instruction with this code. */
static u64 counted(struct fixture *r, u32 event, u64 code, struct model_retired i)
{
	fixture_poke(r, CODE, code);
	fixture_program(r, 0, event, 0, 0);
	fixture_start(r, BIT(0));
	r->ip = CODE;
	fixture_retire(r, &i);
	return PMC(0);
}

static bool sti_counts_once(struct fixture *r)
{
	struct model_retired sti = { .ip = CODE, .after.rflags = RFLAGS_IF };

	fixture_program(r, 0, INST, 0, 0);
	fixture_start(r, BIT(0));
	model_retire(&r->m, &sti);
	return PMC(0) == 1;
}

static bool across_a_page_counts_once(struct fixture *r)
{
	fixture_program(r, 0, INST, 0, 0);
	fixture_start(r, BIT(0));
	r->ip = CODE - 2;
	fixture_nops(r, 1);
	return PMC(0) == 1;
}

#define FAR	(struct model_retired){ .branch = BRANCH_FAR, .taken = true }
#define RETURN	(struct model_retired){ .branch = BRANCH_RETURN, .taken = true, .loads = 1 }
#define STRING	(struct model_retired){ .loads = 9 }

RULE(cpuid_counts, counted(r, INST, 0xa20f, (struct model_retired){ 0 }) == 1)
RULE(rdpmc_counts, counted(r, INST, 0x330f, (struct model_retired){ 0 }) == 1)
RULE(iretq_counts, counted(r, INST, 0xcf48, FAR) == 1)
RULE(hlt_counts, counted(r, INST, 0xf4, (struct model_retired){ 0 }) == 1)
RULE(iretq_is_a_branch, counted(r, EVENT_BR_INST_RETIRED_ALL_BRANCHES, 0xcf48, FAR) == 1)
RULE(ret_imm16_is_a_return, counted(r, EVENT_BR_INST_RETIRED_NEAR_RETURN, 0x0008c2, RETURN) == 1)
RULE(each_iteration_loads, counted(r, LOADS, 0xa4f3, STRING) == 9)

/* Only the shell can break this, so the rule checks whether the fault is on. */
RULE(wrmsr_ignores_upper_rdx, !model_fault(&r->m, FAULT_WRMSR_WIDE_RDX))
RULE(rdpmc_ignores_upper_rcx, !model_fault(&r->m, FAULT_RDPMC_WIDE_RCX))
RULE(user_rdpmc_of_fixed_is_checked, !model_fault(&r->m, FAULT_RDPMC_USER_FIXED_ALLOWED))
RULE(user_rdpmc_of_fixed_works, !model_fault(&r->m, FAULT_RDPMC_USER_FIXED_REFUSED))
RULE(rdpmc_looks_at_each_bit, model_rdpmc(&r->m, (u32)BIT(20)).status == MSR_GP)

RULE(rdmsr_clears_rdx, !model_fault(&r->m, FAULT_RDMSR_KEEPS_RDX))
RULE(rdpmc_clears_rdx, !model_fault(&r->m, FAULT_RDPMC_KEEPS_RDX))

RULE(status_refuses_62, fixture_wrmsr(r, MSR_IA32_PERF_GLOBAL_STATUS, BIT(62)) == MSR_GP)
RULE(fixed_control_refuses_all_ones, fixture_wrmsr(r, MSR_IA32_FIXED_CTR_CTRL, ~0ULL) == MSR_GP)

static bool leaf_0ah_has_no_subleaf(struct fixture *r)
{
	u32 regs[4] = { 0 };

	model_cpuid(&r->m, 0xa, 1, regs);
	return regs[0];
}

/* ---- arming, records and the DS area ---- */

#define SECOND_DS (FIXTURE_MEMORY_BASE + 0x800)

static bool record_at_its_level_only(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_set(r, MSR_IA32_PERFEVTSEL0, LOADS | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_USR);
	fixture_start(r, BIT(0));
	r->cpl = 3;
	loads(r, 2);
	r->cpl = 0;
	loads(r, 2);
	return fixture_records(r) == 0;
}

static bool uses_the_area_set_last(struct fixture *r)
{
	fixture_set(r, MSR_IA32_DS_AREA, FIXTURE_DS + 0x200);
	memcpy(r->memory + (SECOND_DS - FIXTURE_MEMORY_BASE), r->memory, 0x60);
	fixture_set(r, MSR_IA32_DS_AREA, SECOND_DS);
	fixture_poke(r, SECOND_DS + 0x40, MINUS(2));
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 3);
	return fixture_peek(r, SECOND_DS + 0x28) == FIXTURE_BUFFER + 0xc0;
}

static bool below_the_base_nothing(struct fixture *r)
{
	fixture_poke(r, FIXTURE_DS + 0x20, FIXTURE_BUFFER + 0x300);
	one_record(r, 0, 0);
	return fixture_index(r) == FIXTURE_BUFFER;
}

static bool goes_on_after_a_reset(struct fixture *r)
{
	fixture_ds(r, 1, 8);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 9);
	fixture_poke(r, FIXTURE_DS + 0x28, FIXTURE_BUFFER);
	fixture_set(r, MSR_IA32_PMC0, 0xffffffff);
	loads(r, 2);
	return fixture_records(r) == 1;
}

static bool index_is_written_last(struct fixture *r)
{
	/* Memory doesn't show the order, so the rule checks whether the fault is on. */
	return !model_fault(&r->m, FAULT_INDEX_FIRST) && one_record(r, 0, 0);
}

/* ---- what shows at one place only ---- */

#define RFLAGS_DF	BIT(10)
#define CMASK_1		BIT(IA32_PERFEVTSEL_CMASK_SHIFT)

static bool flags_are_whole(struct fixture *r)
{
	r->regs.rflags |= RFLAGS_DF;
	return one_record(r, 0, 0) && fixture_record(r, 0, 0) == r->regs.rflags &&
	       r->regs.rflags & RFLAGS_DF;
}

static bool code_addresses_are_whole(struct fixture *r)
{
	r->ip = 0xffff800000401000;
	return one_record(r, 0, 0) && fixture_record(r, 0, RECORD_RIP) == r->ip &&
	       fixture_record(r, 0, RECORD_EVENTING) == r->ip - 4;
}

static bool no_records_with_cmask(struct fixture *r)
{
	return !one_record(r, 0, CMASK_1);
}

/* The last 40H bytes of the record are in the second page; nothing before the record's begin is
 * changed. */
static bool record_across_a_page(struct fixture *r)
{
	const u64 place = FIXTURE_BUFFER + 0x1000 - (FIXTURE_RECORD - 0x40);

	memset(r->memory + 0x1000, 0x5e, FIXTURE_RECORD);
	fixture_poke(r, FIXTURE_DS + 0x28, place);
	fixture_poke(r, FIXTURE_DS + 0x30, place + 0x800);
	fixture_poke(r, FIXTURE_DS + 0x38, place + 0x800);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 3);
	return fixture_peek(r, place + RECORD_RIP) == r->ip &&
	       fixture_peek(r, place + RECORD_DLA) == ADDRESS &&
	       fixture_peek(r, place + RECORD_EVENTING) == r->ip - 4 &&
	       fixture_peek(r, FIXTURE_BUFFER) == 0x5e5e5e5e5e5e5e5e;
}

/* One record with the DS area at this address and a buffer that begins 8 bytes after a line; it
 * reaches the threshold. */
static bool record_of_an_area_at(struct fixture *r, u64 area)
{
	const u64 buffer = FIXTURE_BUFFER + 0x1008, end = buffer + FIXTURE_RECORD;

	for (unsigned field = 0; field < 0x60; field += 8)
		fixture_poke(r, area + field, 0);
	fixture_poke(r, area + 0x20, buffer);
	fixture_poke(r, area + 0x28, buffer);
	fixture_poke(r, area + 0x30, end);
	fixture_poke(r, area + 0x38, end);
	fixture_wrmsr(r, 0x600, area);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 3);
	return fixture_peek(r, area + 0x28) == end && fixture_peek(r, buffer + RECORD_RIP) == r->ip;
}

/* The absolute maximum is the first field in the second page. */
RULE(record_of_an_area_across_pages, record_of_an_area_at(r, FIXTURE_DS + 0x1000 - 0x30))
RULE(record_of_an_area_behind_a_line, record_of_an_area_at(r, FIXTURE_DS + 8))

static bool (*write_memory)(void *ctx, u64 linear, const void *bytes, size_t size);

/* Write as if the memory began one record earlier. */
static bool write_earlier(void *ctx, u64 linear, const void *bytes, size_t size)
{
	return linear == FIXTURE_MEMORY_BASE - FIXTURE_RECORD ||
	       write_memory(ctx, linear, bytes, size);
}

/* The memory begins at a multiple of 64 KiB. */
static bool index_is_a_multiple_of_64_kib(struct fixture *r)
{
	const u64 buffer = FIXTURE_MEMORY_BASE - FIXTURE_RECORD;

	write_memory = r->host.write;
	r->host.write = write_earlier;
	fixture_poke(r, FIXTURE_DS + 0x20, buffer);
	fixture_poke(r, FIXTURE_DS + 0x28, buffer);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 3);
	return fixture_peek(r, FIXTURE_DS + 0x28) == FIXTURE_MEMORY_BASE;
}

#define FOUR_GIB	(FIXTURE_MEMORY_BASE & ~BITS(0, 31))

/* Write as if there were memory for one record before a multiple of 4 GiB. */
static bool write_below_4_gib(void *ctx, u64 linear, const void *bytes, size_t size)
{
	return linear == FOUR_GIB - FIXTURE_RECORD || write_memory(ctx, linear, bytes, size);
}

static bool index_is_a_multiple_of_4_gib(struct fixture *r)
{
	write_memory = r->host.write;
	r->host.write = write_below_4_gib;
	fixture_poke(r, FIXTURE_DS + 0x20, FOUR_GIB - FIXTURE_RECORD);
	fixture_poke(r, FIXTURE_DS + 0x28, FOUR_GIB - FIXTURE_RECORD);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 3);
	return fixture_peek(r, FIXTURE_DS + 0x28) == FOUR_GIB;
}

/* The second store's record says whether it hit, and this is right. */
static bool stores_hit(struct fixture *r, u64 linear, u16 width, u64 pushed)
{
	fixture_program_pebs(r, 0, STORES, 0, 1);
	fixture_start(r, BIT(0));
	for (unsigned i = 0; i < 2; i++)
		model_retire(&r->m,
			     &(struct model_retired){ .ip = r->ip,
						      .cpl = r->cpl,
						      .stores = 1,
						      .n_access = 1,
						      .access = { { linear, width, true, false } },
						      .before.gpr[REG_RSP] = linear + pushed,
						      .after.gpr[REG_RSP] = linear });
	return fixture_records(r) == 1 && at(r, RECORD_SOURCE) == 1;
}

static bool system_flags_are_recorded(struct fixture *r)
{
	const u64 flags = BIT(18) | BIT(14) | BITS(12, 13) | BIT(1);

	fixture_program_pebs(r, 0, STORES, 0, 1);
	fixture_start(r, BIT(0));
	for (unsigned i = 0; i < 2; i++)
		model_retire(&r->m, &(struct model_retired){
					    .ip = r->ip, .stores = 1, .n_access = 1,
						      .access = { { ADDRESS, 8, true, false } },
						      .after.rflags = flags });
	return fixture_records(r) == 1 && at(r, 0) == flags;
}

/* The second instruction's record names it; the instruction has so many bytes and loads. */
static bool is_named(struct fixture *r, u64 ip, unsigned bytes, u32 n)
{
	fixture_program_pebs(r, 0, LOADS, 0, 1);
	fixture_start(r, BIT(0));
	for (unsigned i = 0; i < 2; i++)
		model_retire(&r->m, &(struct model_retired){
					    .ip = ip, .next_ip = ip + bytes, .loads = n,
						      .n_access = 1,
						      .access = { { ADDRESS, 8, false, false } } });
	return fixture_records(r) == 1 && at(r, RECORD_EVENTING) == ip;
}

RULE(a_string_load_is_named, is_named(r, 0x401000, 3, 16))
RULE(a_load_in_two_pages_is_named, is_named(r, 0x401ffd, 7, 1))

static bool stores_at_cpl_3_hit(struct fixture *r)
{
	r->cpl = 3;
	return stores_hit(r, ADDRESS, 8, 0);
}

RULE(byte_stores_hit, stores_hit(r, ADDRESS, 1, 0))
RULE(split_stores_hit, stores_hit(r, ADDRESS + 52, 8, 0))
RULE(pushes_hit, stores_hit(r, ADDRESS, 8, 8))

static bool arms_of_others_stay(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_set(r, MSR_IA32_PEBS_ENABLE, BIT(0) | BIT(1));
	fixture_start(r, BIT(0));
	loads(r, 2);
	fixture_set(r, MSR_IA32_PEBS_ENABLE, BIT(0));
	loads(r, 1);
	return fixture_records(r) == 1;
}

/* IA32_PMC2 counts BR_INST_RETIRED.NEAR_CALL. */
static bool indirect_calls_are_near_calls(struct fixture *r)
{
	fixture_program(r, 2, 0x02c4, 0, 0);
	fixture_start(r, BIT(2));
	fixture_retire(r, &(struct model_retired){
				  .branch = BRANCH_CALL, .indirect = true, .taken = true });
	fixture_stop(r);
	return PMC(2) == 1;
}

/* Its last bytes are in the next page. */
static bool record_across_a_page_ends_at_the_maximum(struct fixture *r)
{
	const u64 begin = FIXTURE_BUFFER + 0xfa0;

	empty_buffer(r);
	fixture_poke(r, FIXTURE_DS + 0x28, begin);
	fixture_poke(r, FIXTURE_DS + 0x30, begin + FIXTURE_RECORD);
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 4);
	return fixture_index(r) == begin + FIXTURE_RECORD;
}

static bool room_for_an_older_one_is_none(struct fixture *r)
{
	fixture_poke(r, FIXTURE_DS + 0x30, FIXTURE_BUFFER + FIXTURE_RECORD_FMT1);
	one_record(r, 0, 0);
	return fixture_index(r) == FIXTURE_BUFFER;
}

static bool vector_of_the_last_write(struct fixture *r)
{
	fixture_write_lvtpc(r, FIXTURE_VECTOR + 1);
	fixture_write_lvtpc(r, FIXTURE_VECTOR + 2);
	return one_overflow(r) && r->interrupt[0].vector == FIXTURE_VECTOR + 2;
}

static bool clear_after_reset(struct fixture *r)
{
	struct model_config config = r->m.config;

	model_init(&r->m, &config, &r->host);
	return fixture_status(r) == 0;
}

/* ---- two logical processors of a core ---- */

static struct fixture thread[CORE_THREADS];
static struct model_core core;

static void open_core(const struct fixture *r)
{
	struct model_config config = r->m.config;

	config.hyper_threading = true;
	fixture_open_core(thread, &core, &config);
}

static void stores(unsigned n)
{
	while (n--)
		fixture_store(&thread[0], FIXTURE_MEMORY_BASE + 0x3000);
}

/* Both have a DS area, each in its own memory. */
static bool records_are_in_the_own_area(struct fixture *r)
{
	open_core(r);
	fixture_ds(&thread[0], 8, 8);
	fixture_ds(&thread[1], 8, 8);
	fixture_set(&thread[1], MSR_IA32_DS_AREA, FIXTURE_DS + 0x200);
	fixture_program_pebs(&thread[0], 0, STORES, 0, 2);
	fixture_start(&thread[0], BIT(0));
	stores(5);
	return fixture_records(&thread[0]);
}

static bool threads_enumerate_the_same(struct fixture *r)
{
	u32 regs[CORE_THREADS][4] = { { 0 } };

	open_core(r);
	for (unsigned i = 0; i < CORE_THREADS; i++)
		model_cpuid(&thread[i].m, 0xa, 0, regs[i]);
	return !memcmp(regs[0], regs[1], sizeof(regs[0]));
}

static bool each_thread_has_what_it_enumerates(struct fixture *r)
{
	u32 regs[4] = { 0 };

	open_core(r);
	model_cpuid(&thread[1].m, 0xa, 0, regs);
	return model_rdmsr(&thread[1].m, 0xc1 + (regs[0] >> 8 & 0xff) - 1).status == MSR_DONE;
}

/* Delivery mode NMI, vector 1. */
static bool an_nmi_needs_no_vector(struct fixture *r)
{
	fixture_write_lvtpc(r, 0x401);
	return one_overflow(r);
}

static bool a_select_disarms(struct fixture *r)
{
	u64 select;

	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_start(r, BIT(0));
	loads(r, 2);
	select = get(r, MSR_IA32_PERFEVTSEL0);
	fixture_wrmsr(r, MSR_IA32_PERFEVTSEL0, 0);
	fixture_wrmsr(r, MSR_IA32_PERFEVTSEL0, select);
	loads(r, 2);
	return fixture_status(r) == BIT(0) && !fixture_records(r);
}

static bool os_alone_records_nothing_at_cpl_3(struct fixture *r)
{
	fixture_program_pebs(r, 0, LOADS, 0, 2);
	fixture_wrmsr(r, MSR_IA32_PERFEVTSEL0,
		      get(r, MSR_IA32_PERFEVTSEL0) & ~(u64)IA32_PERFEVTSEL_USR);
	fixture_start(r, BIT(0));
	r->cpl = 3;
	loads(r, 5);
	r->cpl = 0;
	return !fixture_status(r) && !fixture_records(r);
}

/* Each of eight records is of a store to the same line. */
static bool each_store_hits(struct fixture *r)
{
	fixture_store(r, ADDRESS);
	fixture_program_pebs(r, 0, STORES, 0, 2);
	fixture_start(r, BIT(0));
	for (unsigned i = 0; i < 60; i++)
		fixture_store(r, ADDRESS);
	fixture_stop(r);
	for (unsigned i = 0; i < fixture_records(r); i++)
		if (fixture_record(r, i, RECORD_SOURCE) != 1)
			return false;
	return fixture_records(r) >= 4;
}

rule *const basic_rules[FAULT_COUNT] = {
	[FAULT_DLA_HIT_FOURTH] = each_store_hits,
	[FAULT_ARM_SURVIVES_SELECT] = a_select_disarms,
	[FAULT_PEBS_OS_AT_CPL_3] = os_alone_records_nothing_at_cpl_3,
	[FAULT_NMI_WANTS_VECTOR] = an_nmi_needs_no_vector,
	[FAULT_ABSENT_EVENT_COUNTS] = absent_event_is_silent,
	[FAULT_NO_LEVEL_COUNTS] = no_level_no_count,
	[FAULT_LOADS_LOSE_A_CARRY] = loads_carry,
	[FAULT_FAULTS_RETIRE] = exceptions_dont_retire,
	[FAULT_RDPMC_USER_ALLOWED] = user_rdpmc_is_checked,
	[FAULT_RDPMC_CPL_1_2_ALLOWED] = user_rdpmc_below_cpl_3_is_checked,
	[FAULT_RDPMC_USER_REFUSED] = user_rdpmc_works,
	[FAULT_RDPMC_FAST_ALLOWED] = no_fast_rdpmc,
	[FAULT_IF_SETTERS_COUNT_TWICE] = sti_counts_once,
	[FAULT_PAGE_CROSSERS_COUNT_TWICE] = across_a_page_counts_once,
	[FAULT_CPUID_UNCOUNTED] = cpuid_counts,
	[FAULT_RDPMC_UNCOUNTED] = rdpmc_counts,
	[FAULT_IRETQ_UNCOUNTED] = iretq_counts,
	[FAULT_HLT_UNCOUNTED] = hlt_counts,
	[FAULT_HLT_COUNTS_TWICE] = hlt_counts,
	[FAULT_IRETQ_IS_NO_BRANCH] = iretq_is_a_branch,
	[FAULT_RET_IMM16_UNCOUNTED] = ret_imm16_is_a_return,
	[FAULT_REP_LOADS_COUNT_ONCE] = each_iteration_loads,
	[FAULT_RDMSR_KEEPS_RAX] = rdmsr_clears_rax,
	[FAULT_PMI_OF_OTHERS_LOST_IN_HLT] = halting_loses_no_interrupt,
	[FAULT_ARCHITECTURAL_ANY_LEVEL] = mispredictions_keep_to_their_level,
	[FAULT_RDPMC_KEEPS_RAX] = rdpmc_clears_rax,
	[FAULT_WRMSR_WIDE_RDX] = wrmsr_ignores_upper_rdx,
	[FAULT_RDPMC_WIDE_RCX] = rdpmc_ignores_upper_rcx,
	[FAULT_RDPMC_USER_FIXED_ALLOWED] = user_rdpmc_of_fixed_is_checked,
	[FAULT_RDPMC_USER_FIXED_REFUSED] = user_rdpmc_of_fixed_works,
	[FAULT_RDPMC_INDEX_SHORT] = rdpmc_looks_at_each_bit,
	[FAULT_RDMSR_KEEPS_RDX] = rdmsr_clears_rdx,
	[FAULT_RDPMC_KEEPS_RDX] = rdpmc_clears_rdx,
	[FAULT_STATUS_62_WRITABLE] = status_refuses_62,
	[FAULT_ALL_ONES_ACCEPTED] = fixed_control_refuses_all_ones,
	[FAULT_CPUID_0AH_SUBLEAF] = leaf_0ah_has_no_subleaf,
	[FAULT_ASSIST_AT_ANY_CPL] = record_at_its_level_only,
	[FAULT_INDEX_FIRST] = index_is_written_last,
	[FAULT_DS_AREA_FIRST] = uses_the_area_set_last,
	[FAULT_DS_AREA_STICKS] = uses_the_area_set_last,
	[FAULT_BASE_UNCHECKED] = below_the_base_nothing,
	[FAULT_FULL_STAYS_FULL] = goes_on_after_a_reset,
	[FAULT_RFLAGS_NO_DF] = flags_are_whole,
	[FAULT_CODE_ADDRESS_32] = code_addresses_are_whole,
	[FAULT_CODE_ADDRESS_48] = code_addresses_are_whole,
	[FAULT_CMASK_RECORDS] = no_records_with_cmask,
	[FAULT_RECORD_TAIL_LOST] = record_across_a_page,
	[FAULT_RECORD_TAIL_WRAPS] = record_across_a_page,
	[FAULT_DS_AREA_ONE_PAGE] = record_of_an_area_across_pages,
	[FAULT_DS_AREA_AT_LINE] = record_of_an_area_behind_a_line,
	[FAULT_RECORD_AT_LINE] = record_of_an_area_behind_a_line,
	[FAULT_INDEX_LOSES_CARRY_32] = index_is_a_multiple_of_4_gib,
	[FAULT_INDEX_LOSES_CARRY] = index_is_a_multiple_of_64_kib,
	[FAULT_RFLAGS_NO_SYSTEM] = system_flags_are_recorded,
	[FAULT_EVENTING_IP_REP] = a_string_load_is_named,
	[FAULT_EVENTING_IP_PAGE] = a_load_in_two_pages_is_named,
	[FAULT_DLA_HIT_WIDTHS] = byte_stores_hit,
	[FAULT_DLA_HIT_SPLIT] = split_stores_hit,
	[FAULT_DLA_HIT_PUSH] = pushes_hit,
	[FAULT_DLA_HIT_USER] = stores_at_cpl_3_hit,
	[FAULT_PEBS_CLEAR_DROPS_ARMS] = arms_of_others_stay,
	[FAULT_INDIRECT_CALLS_MISSED] = indirect_calls_are_near_calls,
	[FAULT_FULL_ACROSS_PAGE] = record_across_a_page_ends_at_the_maximum,
	[FAULT_OLDER_ROOM_SUFFICES] = room_for_an_older_one_is_none,
	[FAULT_PMI_VECTOR_BEFORE] = vector_of_the_last_write,
	[FAULT_STATUS_AFTER_RESET] = clear_after_reset,
	[FAULT_RECORD_TO_SIBLING] = records_are_in_the_own_area,
	[FAULT_SECOND_THREAD_TELLS_EIGHT] = each_thread_has_what_it_enumerates,
	[FAULT_SECOND_THREAD_OTHER_EVENTS] = threads_enumerate_the_same,
	[FAULT_SECOND_THREAD_FEWER_FIXED] = threads_enumerate_the_same,
};
