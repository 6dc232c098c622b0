/* SPDX-License-Identifier: MIT */
/* The oracle, with cases whose counts were made by hand. */
#include "host/check.h"
#include "host/random_env.h"
#include "spec/adaptive.h"
#include "spec/msr.h"

#define OS	(IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN)
#define USR	(IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_EN)
#define END	BIT(48)

static struct draw_env env;
static struct draw_case c;
static struct trace trace;
static struct draw_observation seen;
static struct draw_verdict verdict;

static void program(const char *const names[])
{
	env = random_env();
	memset(&c, 0, sizeof(c));
	memset(&seen, 0, sizeof(seen));
	c.piece[c.pieces++] = (u16)piece_find("start", 0);
	for (; *names; names++)
		c.piece[c.pieces++] = (u16)piece_find(*names, 0);
	c.piece[c.pieces++] = (u16)piece_find("stop", 0);
	CHECK(trace_make(&env, &c, &trace));
}
#define PROGRAM(...) program((const char *const[]){ __VA_ARGS__, NULL })

static unsigned judge(void)
{
	oracle_judge(&env, &c, &trace, &seen, &verdict);
	return verdict.wrongs;
}

/* Two loads of the table in addition to the three of the piece: each transition to a piece has
 * one. */
#define LOADS_OF_PROGRAM 5

static void loads_are_counted_exactly(void)
{
	PROGRAM("load_bytes");
	c.select[1] = EVENT_MEM_UOPS_RETIRED_ALL_LOADS | OS;
	c.global = BIT(1);
	seen.value[1] = LOADS_OF_PROGRAM;
	CHECK_EQ(0, judge());
	seen.value[1]++;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_LOADS, verdict.wrong[0].claim);
	seen.value[1] -= 2;
	CHECK_EQ(1, judge());
}

/* The reference PMU must not count what processors may count beyond the manual. */
static void prefetches_may_be_loads_where_processors_have_it_so(void)
{
	PROGRAM("prefetches", "fences");
	c.select[1] = EVENT_MEM_UOPS_RETIRED_ALL_LOADS | OS;
	c.global = BIT(1);
	seen.value[1] = 3;	/* loads of the table */
	CHECK_EQ(0, judge());
	seen.value[1] += 5;
	CHECK_EQ(1, judge());
	env.strict = false;
	CHECK_EQ(1, judge());
	env.errata = BIT(ERRATUM_PREFETCH_LOADS);
	CHECK_EQ(0, judge());
	seen.value[1]++;
	CHECK_EQ(1, judge());
}

static void far_transfers_may_count_twice_where_processors_have_it_so(void)
{
	PROGRAM("far_return");
	c.select[1] = EVENT_BR_INST_RETIRED_ALL_BRANCHES | OS;
	c.global = BIT(1);
	seen.value[1] = 4;	/* one too many */
	CHECK_EQ(1, judge());
	env.strict = false;
	CHECK_EQ(1, judge());
	env.errata = BIT(ERRATUM_FAR_BRANCHES);
	CHECK_EQ(0, judge());
	seen.value[1]++;
	CHECK_EQ(1, judge());
}

/* Only counter 1 counts, at CPL 0, this event in place of the previous one. */
static struct draw_event *count_alone(u16 code, u16 kind)
{
	struct draw_event *event = &env.event[env.events - 1];

	*event = (struct draw_event){ .code = code, .kind = kind, .counters = 0xf };
	c.select[1] = code | OS;
	c.global = BIT(1);
	return event;
}

static void string_may_be_fewer_stores_where_processors_have_it_so(void)
{
	struct draw_event *event;

	PROGRAM("rep_stos");
	event = count_alone(EVENT_MEM_UOPS_RETIRED_ALL_STORES, EK_STORES);
	seen.value[1] = 6;
	CHECK_EQ(0, judge());
	seen.value[1] = 1;
	CHECK_EQ(1, judge());
	env.strict = false;
	CHECK_EQ(0, judge());
	seen.value[1] = 0;
	CHECK_EQ(1, judge());
	event->flags = EV_INSN;
	seen.value[1] = 1;
	CHECK_EQ(0, judge());
	seen.value[1] = 2;
	CHECK_EQ(1, judge());
}

static void iret_may_be_more_instructions_where_processors_have_it_so(void)
{
	PROGRAM("far_return");
	count_alone(EVENT_INST_RETIRED_ANY_P, EK_INSTRUCTIONS);
	while (judge() && seen.value[1] < 100)
		seen.value[1]++;
	CHECK_EQ(0, judge());
	seen.value[1]++;
	CHECK_EQ(1, judge());
	env.strict = false;
	CHECK_EQ(1, judge());
	env.errata = BIT(ERRATUM_IRET);
	CHECK_EQ(0, judge());
	seen.value[1]++;
	CHECK_EQ(1, judge());
}

static void loop_may_be_no_conditional_branch_where_processors_have_it_so(void)
{
	PROGRAM("loops", "jump_taken");
	count_alone(EVENT_BR_INST_RETIRED_CONDITIONAL, EK_COND_BRANCHES);
	seen.value[1] = 6;
	CHECK_EQ(0, judge());
	seen.value[1] = 2;
	CHECK_EQ(1, judge());
	env.strict = false;
	CHECK_EQ(1, judge());
	env.errata = BIT(ERRATUM_LOOPS);
	CHECK_EQ(0, judge());
	seen.value[1] = 1;
	CHECK_EQ(1, judge());
}

static void levels_and_enables_are_obeyed(void)
{
	PROGRAM("load_bytes");
	c.select[0] = EVENT_MEM_UOPS_RETIRED_ALL_LOADS | USR;
	c.select[1] = EVENT_MEM_UOPS_RETIRED_ALL_LOADS | OS;
	c.global = BIT(0);
	CHECK_EQ(0, judge());
	seen.value[0] = 1;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_LEVEL, verdict.wrong[0].claim);
	seen.value[0] = 0;
	seen.value[1] = 1;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_OFF, verdict.wrong[0].claim);
}

static void wrap_shows_in_the_status(void)
{
	PROGRAM("load_bytes");
	c.select[2] = EVENT_MEM_UOPS_RETIRED_ALL_LOADS | OS;
	c.preset[2] = END - LOADS_OF_PROGRAM + 1;
	c.global = BIT(2);
	seen.value[2] = 1;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_OVERFLOW, verdict.wrong[0].claim);
	seen.status = BIT(2);
	CHECK_EQ(0, judge());
	seen.status = BIT(2) | BIT(32);
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_NO_OVERFLOW, verdict.wrong[0].claim);
}

static void read_in_the_middle_has_its_upper_halves_clear(void)
{
	PROGRAM("load_bytes", "rdpmc3");
	c.select[0] = EVENT_MEM_UOPS_RETIRED_ALL_LOADS | OS;
	c.operation[3].msr = 0;
	c.global = BIT(0);
	seen.result[3].rax = LOADS_OF_PROGRAM + 1;	/* and the piece's load of ECX */
	seen.value[0] = LOADS_OF_PROGRAM + 2;
	CHECK_EQ(0, judge());
	seen.result[3].rdx = BIT(32);
	CHECK(judge());
	CHECK_EQ(DRAW_CLAIM_UPPER, verdict.wrong[0].claim);
}

/* The instruction at step i of a piece, from the piece's beginning. */
static u64 ip_of(const char *name, unsigned row)
{
	return env.code + draw_rows[piece_get((unsigned)piece_find(name, 0))->first + row].offset;
}

static void overflow_interrupts_once(void)
{
	PROGRAM("load_bytes", "nops");
	c.class = DRAW_INTERRUPTS;
	c.select[0] = EVENT_MEM_UOPS_RETIRED_ALL_LOADS | OS | IA32_PERFEVTSEL_INT;
	c.preset[0] = END - 2;	/* the table's load, and the first one of the piece */
	c.global = BIT(0);
	c.freeze = 1;
	seen.debugctl = IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI;
	CHECK(judge());
	CHECK_EQ(DRAW_CLAIM_PMI_GP, verdict.wrong[0].claim, "none");
	seen.interrupts = 1;
	seen.interrupt[0] = (struct draw_interrupt){ .vector = env.pmi_vector, .lvtpc = 1 << 16,
						     .status = BIT(0),
						     .debugctl = seen.debugctl,
						     .rip = ip_of("load_bytes", 1) };
	CHECK_EQ(0, judge());
	seen.interrupt[0].rip = ip_of("nops", 2);
	CHECK_EQ(0, judge(), "late");
	seen.interrupt[0].rip = ip_of("load_bytes", 0);
	CHECK(judge(), "early");
	seen.interrupt[0].rip = ip_of("load_bytes", 1);
	seen.interrupt[0].lvtpc = 0;
	CHECK(judge());
	CHECK_EQ(DRAW_CLAIM_PMI_MASK, verdict.wrong[0].claim);
}

static void interrupt_may_come_again_where_processors_have_it_so(void)
{
	PROGRAM("load_bytes", "nops");
	c.class = DRAW_INTERRUPTS;
	c.select[0] = EVENT_MEM_UOPS_RETIRED_ALL_LOADS | OS | IA32_PERFEVTSEL_INT;
	c.preset[0] = END - 2;
	c.global = BIT(0);
	c.freeze = 1;
	seen.debugctl = IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI;
	seen.interrupts = 2;
	for (unsigned i = 0; i < 2; i++)
		seen.interrupt[i] = (struct draw_interrupt){ .vector = env.pmi_vector,
							     .lvtpc = 1 << 16,
							     .status = BIT(0),
							     .debugctl = seen.debugctl,
							     .rip = ip_of("nops", i) };
	CHECK_EQ(2, judge());
	CHECK_EQ(DRAW_CLAIM_PMI_NONE, verdict.wrong[0].claim);
	CHECK_EQ(DRAW_CLAIM_PMI_STATUS, verdict.wrong[1].claim);
	env.strict = false;
	CHECK_EQ(2, judge());
	env.errata = BIT(ERRATUM_PMI_AGAIN);
	CHECK_EQ(0, judge());
	seen.interrupt[1].lvtpc = 0;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_PMI_MASK, verdict.wrong[0].claim);
}

/* The program's write ends the freeze before the interrupt comes, so the handler's instructions are
 * counted. */
static void overflow_in_the_handler_may_freeze_again(void)
{
	PROGRAM("load_bytes", "write1", "nops");
	c.class = DRAW_INTERRUPTS;
	c.select[0] = EVENT_MEM_UOPS_RETIRED_ALL_LOADS | OS | IA32_PERFEVTSEL_INT;
	c.preset[0] = END - 2;
	c.select[1] = EVENT_INST_RETIRED_ANY_P | OS;
	c.preset[1] = END - 100;
	c.operation[1].msr = MSR_IA32_PERF_GLOBAL_CTRL;
	c.operation[1].low = 3;
	c.global = BIT(0) | BIT(1);
	c.freeze = 1;
	seen.debugctl = IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI;
	seen.interrupts = 1;
	seen.interrupt[0] = (struct draw_interrupt){ .vector = env.pmi_vector, .lvtpc = 1 << 16,
						     .status = BIT(0),
						     .debugctl = seen.debugctl,
						     .rip = ip_of("nops", 1) };
	CHECK(judge());
	CHECK_EQ(DRAW_CLAIM_FREEZE, verdict.wrong[0].claim, "nothing else freezes");
	c.select[1] |= IA32_PERFEVTSEL_INT;
	CHECK_EQ(0, judge());
	CHECK(verdict.vague);
}

static void fill_record(unsigned row)
{
	struct pebs_record *r = &seen.record[0];

	memset(r, 0, sizeof(*r));
	r->present = BIT(RECORD_FIELDS) - 1;
	r->value[RECORD_eventing_ip] = ip_of("load_bytes", row);
	r->value[RECORD_rip] = ip_of("load_bytes", row + 1);
	r->value[RECORD_rflags] = BIT(1) | BIT(9);
	r->value[RECORD_rsp] = env.stack;
	r->value[RECORD_rsi] = env.data[0];
	r->value[RECORD_rbp] = env.data[1];
	r->value[RECORD_rbx] = env.data[2];
	for (unsigned i = 0; i < 5; i++)
		r->value[RECORD_r8 + i] = draw_constant(&c, i);
	r->value[RECORD_r13] = env.operations;
	r->value[RECORD_r14] = env.frame;
	r->value[RECORD_r15] = env.table + 8;
	r->value[RECORD_status] = BIT(0);
	r->value[RECORD_data_linear_address] = env.data[1] + 5;
	seen.records = 1;
	seen.index = 0xc0;
}

static void overflow_arms_and_the_next_event_is_recorded(void)
{
	PROGRAM("load_bytes");
	c.class = DRAW_RECORDS;
	c.select[0] = EVENT_MEM_UOPS_RETIRED_ALL_LOADS | OS;
	c.preset[0] = END - 2;
	c.global = BIT(0);
	c.pebs_enable = BIT(0);
	c.ds = (struct draw_ds){ .used = 1, .maximum = 2 * 0xc0, .threshold = 2 * 0xc0,
				 .reset = { 100 } };
	seen.value[0] = 3;
	CHECK(judge());
	CHECK_EQ(DRAW_CLAIM_RECORD, verdict.wrong[0].claim);
	fill_record(1);
	seen.value[0] = 102;
	CHECK_EQ(0, judge());
	fill_record(0);
	CHECK(judge());
	CHECK_EQ(DRAW_CLAIM_NO_RECORD, verdict.wrong[0].claim, "at the overflow");
	fill_record(1);
	seen.record[0].value[RECORD_data_linear_address]++;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_ADDRESS, verdict.wrong[0].claim);
	fill_record(1);
	seen.value[0] = 3;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_RELOAD, verdict.wrong[0].claim);
	fill_record(1);
	seen.value[0] = 102;
	seen.status = BIT(0);
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_NO_OVERFLOW, verdict.wrong[0].claim, "its bit stays");
	env.strict = false;
	CHECK_EQ(1, judge());
	env.errata = BIT(ERRATUM_STATUS_STAYS);
	CHECK_EQ(0, judge());
	seen.status = 0;
	CHECK_EQ(0, judge());
}

/* The first record, of a load of load_bytes, as made by IA32_PMC0 with these groups. */
static void adaptive_record(u64 config)
{
	const u64 size = draw_adaptive_bytes(config);
	struct pebs_record *r = &seen.record[0];

	fill_record(1);
	r->present = BIT(RECORD_eventing_ip) | BIT(RECORD_format) | BIT(RECORD_applicable) |
		     BIT(RECORD_tsc);
	if (config & PEBS_DATA_CFG_GPR)
		r->present |= BIT(RECORD_r8) | BIT(RECORD_rip);
	if (config & PEBS_DATA_CFG_MEMORY)
		r->present |= BIT(RECORD_data_linear_address) | BIT(RECORD_tx_abort);
	r->value[RECORD_format] = size << ADAPTIVE_FORMAT_SIZE_SHIFT |
				  (config & ADAPTIVE_FORMAT_DATA_CFG);
	r->value[RECORD_applicable] = BIT(0);
	r->value[RECORD_tsc] = 1;
	seen.end = 2;
	seen.groups[0].config = config;
	for (unsigned n = 0; n < DRAW_VECTORS; n++)
		for (unsigned half = 0; half < 2; half++)
			seen.groups[0].vector[n][half] = draw_vector(&c, n, half);
	seen.index = seen.walked = size;
}

/* A load overflows IA32_PMC0, then there is a record; the buffer has room for two. */
static void adaptive_case(u64 config, u64 select)
{
	const int16_t size = (int16_t)draw_adaptive_bytes(config);

	PROGRAM("load_bytes");
	env = random_env_adaptive();
	c.class = DRAW_RECORDS;
	c.select[0] = EVENT_MEM_UOPS_RETIRED_ALL_LOADS | OS | select;
	c.preset[0] = END - 2;
	c.global = BIT(0);
	c.pebs_enable = BIT(0);
	c.ds = (struct draw_ds){ .used = 1, .config = config, .maximum = (int16_t)(2 * size),
				 .threshold = (int16_t)(2 * size), .reset = { 100 } };
	seen.value[0] = 102;
}

/* The basic group has neither registers nor an address. */
static void record_of_the_basic_group_has_no_registers_to_judge(void)
{
	adaptive_case(PEBS_DATA_CFG_GPR, 0);
	adaptive_record(0);
	CHECK_EQ(0, judge());
	CHECK(!verdict.vague);
	CHECK(!verdict.looked[DRAW_CLAIM_REGISTERS] && !verdict.looked[DRAW_CLAIM_RIP]);
	CHECK(!verdict.looked[DRAW_CLAIM_FLAGS] && !verdict.looked[DRAW_CLAIM_ADDRESS]);
	seen.index = 2 * ADAPTIVE_BASIC_BYTES;
	CHECK(judge());
	CHECK_EQ(DRAW_CLAIM_SIZE, verdict.wrong[0].claim, "the sizes don't lead there");
	adaptive_record(0);
	seen.record[0].value[RECORD_tsc] = 3;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_TSC, verdict.wrong[0].claim);
	adaptive_record(0);
	c.select[0] |= IA32_PERFEVTSEL_INT;
	judge();
	CHECK(verdict.vague, "INT beside PEBS");
}

/* The groups according to the format word, and their contents. */
static void groups_of_an_adaptive_record_are_judged(void)
{
	const u64 config = PEBS_DATA_CFG_MEMORY | PEBS_DATA_CFG_GPR | PEBS_DATA_CFG_XMM;
	struct pebs_record *r = &seen.record[0];

	adaptive_case(config, IA32_PERFEVTSEL_ADAPTIVE);
	adaptive_record(config);
	CHECK_EQ(0, judge());
	CHECK(!verdict.vague);
	r->value[RECORD_r8]++;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_REGISTERS, verdict.wrong[0].claim);
	adaptive_record(config);
	r->value[RECORD_data_linear_address]++;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_ADDRESS, verdict.wrong[0].claim);
	adaptive_record(config);
	r->value[RECORD_tx_abort] = BIT(32);
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_TX, verdict.wrong[0].claim);
	adaptive_record(config);
	seen.groups[0].vector[15][1]++;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_VECTORS, verdict.wrong[0].claim);
	adaptive_record(config);
	r->value[RECORD_format] ^= PEBS_DATA_CFG_GPR;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_GROUPS, verdict.wrong[0].claim);
	adaptive_record(config);
	r->value[RECORD_format] ^= 1ULL << ADAPTIVE_FORMAT_SIZE_SHIFT;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_SIZE, verdict.wrong[0].claim);
	adaptive_record(config);
	r->value[RECORD_applicable] |= BIT(1);
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_APPLICABLE, verdict.wrong[0].claim);
}

/* Two counters are due on one load, and one of them has its Adaptive_Record bit: both layouts are
 * right. */
static void record_for_two_counters_has_the_layout_of_either(void)
{
	for (unsigned i = 0; i < 2; i++) {
		adaptive_case(PEBS_DATA_CFG_XMM, IA32_PERFEVTSEL_ADAPTIVE);
		c.select[1] = c.select[0] & ~IA32_PERFEVTSEL_ADAPTIVE;
		c.preset[1] = c.preset[0];
		c.global = c.pebs_enable = BIT(0) | BIT(1);
		c.ds.reset[1] = 200;
		seen.value[1] = 202;
		adaptive_record(i ? PEBS_DATA_CFG_XMM : 0);
		CHECK(judge(), "both are named");
		seen.record[0].value[RECORD_applicable] = BIT(0) | BIT(1);
		CHECK_EQ(0, judge());
		CHECK(!verdict.vague);
	}
}

/* The record of fixed counter 0 is of the instruction that overflows, or of the next one. */
static void record_of_fixed_counter_0_is_of_the_overflow_or_the_next(void)
{
	for (unsigned row = 0; row < 3; row++) {
		PROGRAM("nops");
		env = random_env_adaptive();
		c.class = DRAW_RECORDS;
		c.fixed_control = BIT(0);
		c.global = c.pebs_enable = BIT(32);
		/* Two instructions of the table, then the first two of the piece: the second of
		 * these overflows. */
		c.fixed_preset[0] = END - 4;
		c.ds = (struct draw_ds){ .used = 1, .maximum = 64, .threshold = 64,
					 .reset = { [DRAW_GP] = 100 } };
		adaptive_record(0);
		seen.record[0].value[RECORD_eventing_ip] = ip_of("nops", row);
		seen.record[0].value[RECORD_applicable] = BIT(32);
		/* The other ones of the five, two of the table, four of the end. */
		seen.value[DRAW_GP] = 100 + 4 - row + 2 + 4;
		CHECK_EQ(row == 0, judge() != 0, "row %u", row);
	}
}

/* RDMSR of the status in the program, after the record that reaches the threshold. */
static void ovf_buf_is_judged_where_the_program_reads_it(void)
{
	PROGRAM("load_bytes", "read0");
	env = random_env_adaptive();
	c.class = DRAW_RECORDS;
	c.lvt = DRAW_LVT_MASKED;
	c.select[0] = EVENT_MEM_UOPS_RETIRED_ALL_LOADS | OS;
	c.preset[0] = END - 2;
	c.global = BIT(0);
	c.pebs_enable = BIT(0);
	c.operation[0].msr = MSR_IA32_PERF_GLOBAL_STATUS;
	c.ds = (struct draw_ds){ .used = 1, .maximum = 2 * ADAPTIVE_BASIC_BYTES,
				 .threshold = ADAPTIVE_BASIC_BYTES, .reset = { 100 } };
	adaptive_record(0);
	seen.status = IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	seen.result[0].rdx = IA32_PERF_GLOBAL_STATUS_OVF_BUF >> 32;
	/* Three loads of the piece, two between pieces, one of the read. */
	seen.value[0] = 104;
	CHECK_EQ(0, judge());
	seen.result[0].rdx = 0;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_OVF_BUF, verdict.wrong[0].claim);
	c.ds.threshold = 2 * ADAPTIVE_BASIC_BYTES;
	seen.status = 0;
	CHECK_EQ(0, judge());
	seen.result[0].rdx = IA32_PERF_GLOBAL_STATUS_OVF_BUF >> 32;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_NO_OVF_BUF, verdict.wrong[0].claim);
}

/* The counter overflows on the write that clears its own PMI bit. */
static void overflow_on_the_write_that_takes_its_interrupt_is_open(void)
{
	PROGRAM("write0");
	c.class = DRAW_INTERRUPTS;
	c.fixed_control = BIT(0) | BIT(3);
	c.global = BIT(32);
	c.operation[0].msr = MSR_IA32_FIXED_CTR_CTRL;
	/* The two instructions of "start", and three before WRMSR. */
	c.fixed_preset[0] = END - 6;
	seen.interrupts = 1;
	seen.interrupt[0].rip = ip_of("write0", 4);
	judge();
	CHECK(verdict.vague);
	c.fixed_preset[0] = END - 60;
	judge();
	CHECK(!verdict.vague);
	CHECK_EQ(DRAW_CLAIM_PMI_NONE, verdict.wrong[0].claim);
}

/* Fixed counter 1 counts cycles: the place of its overflow isn't known, but its value shows the
 * overflow. */
static void counter_of_cycles_says_by_its_value_that_it_has_passed_its_end(void)
{
	PROGRAM("nops");
	c.class = DRAW_INTERRUPTS;
	c.fixed_control = (BIT(0) | BIT(3)) << 4;
	c.global = BIT(33);
	c.fixed_preset[1] = END - 3;
	seen.begin = 1000;
	seen.end = 2000;
	seen.value[DRAW_GP + 1] = END - 1;
	CHECK_EQ(0, judge());
	seen.value[DRAW_GP + 1] = 5;
	seen.status = BIT(33);
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_PMI_FIXED, verdict.wrong[0].claim);
	c.lvt = DRAW_LVT_MASKED;
	CHECK_EQ(0, judge());
	seen.status = 0;
	CHECK(judge());
	CHECK_EQ(DRAW_CLAIM_OVERFLOW_FIXED, verdict.wrong[0].claim);
	/* More than 16 for each tick of the time-stamp counter. */
	seen.status = BIT(33);
	seen.value[DRAW_GP + 1] = 16000;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_RUNS, verdict.wrong[0].claim);
}

/* WRMSR raises #GP: it isn't counted, but the ten instructions of the handler are. */
static void refused_write_leaves_its_register(void)
{
	PROGRAM("refused7");
	c.class = DRAW_OPERATIONS_CLASS;
	c.fixed_control = BIT(0);
	c.global = BIT(32);
	c.operation[DRAW_SLOT_REFUSED] =
		(struct draw_operation){ .msr = MSR_IA32_PERFEVTSEL0, .high = BIT(31) };
	seen.result[DRAW_SLOT_REFUSED].rdx = env.stack - 40;
	/* Two of "start", three before WRMSR, the handler, two after it, four of the end. */
	seen.value[DRAW_GP] = 2 + 3 + 10 + 2 + 4;
	CHECK_EQ(0, judge());
	seen.value[DRAW_GP]++;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_FIXED, verdict.wrong[0].claim);
	seen.value[DRAW_GP]--;
	seen.left = IA32_PERFEVTSEL_EN;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_REFUSED_SELECT, verdict.wrong[0].claim);
	seen.result[DRAW_SLOT_REFUSED].rax = ~0ULL;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_REFUSED_SELECT, verdict.wrong[0].claim);
	CHECK(verdict.vague);
}

static void claims_have_names(void)
{
	for (enum draw_claim claim = 0; claim < DRAW_CLAIMS; claim++)
		CHECK(strcmp(oracle_claim_name(claim), "?"), "claim %u", claim);
}

int main(void)
{
	RUN(loads_are_counted_exactly);
	RUN(far_transfers_may_count_twice_where_processors_have_it_so);
	RUN(string_may_be_fewer_stores_where_processors_have_it_so);
	RUN(iret_may_be_more_instructions_where_processors_have_it_so);
	RUN(loop_may_be_no_conditional_branch_where_processors_have_it_so);
	RUN(prefetches_may_be_loads_where_processors_have_it_so);
	RUN(levels_and_enables_are_obeyed);
	RUN(wrap_shows_in_the_status);
	RUN(read_in_the_middle_has_its_upper_halves_clear);
	RUN(overflow_interrupts_once);
	RUN(interrupt_may_come_again_where_processors_have_it_so);
	RUN(overflow_in_the_handler_may_freeze_again);
	RUN(overflow_arms_and_the_next_event_is_recorded);
	RUN(record_of_the_basic_group_has_no_registers_to_judge);
	RUN(groups_of_an_adaptive_record_are_judged);
	RUN(record_for_two_counters_has_the_layout_of_either);
	RUN(record_of_fixed_counter_0_is_of_the_overflow_or_the_next);
	RUN(ovf_buf_is_judged_where_the_program_reads_it);
	RUN(overflow_on_the_write_that_takes_its_interrupt_is_open);
	RUN(counter_of_cycles_says_by_its_value_that_it_has_passed_its_end);
	RUN(refused_write_leaves_its_register);
	RUN(claims_have_names);
	return check_end();
}
