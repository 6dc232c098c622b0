/* SPDX-License-Identifier: MIT */
/*
 * The local APIC: "Local APIC Register Address Map", "Local Vector Table", "APIC Timer", "Extended
 * XAPIC (x2APIC)". An x2APIC register's MSR is the xAPIC offset divided by 16. All processors are
 * assumed to have the mode and the address of the first one. Not handled: switching modes.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/processor/cpu.h"
#include "kernel/interrupt/fault.h"
#include "kernel/processor/percpu.h"
#include "kernel/processor/time.h"
#include "spec/msr.h"

enum reg {
	REG_ID = 0x20, REG_VERSION = 0x30, REG_TPR = 0x80, REG_EOI = 0xb0, REG_SVR = 0xf0,
	REG_ISR = 0x100, REG_IRR = 0x200, REG_ICR = 0x300, REG_ICR_HIGH = 0x310,
	REG_LVT_CMCI = 0x2f0, REG_LVT_TIMER = 0x320, REG_LVT_THERMAL = 0x330, REG_LVT_PC = 0x340,
	REG_LVT_LINT0 = 0x350, REG_LVT_LINT1 = 0x360, REG_LVT_ERROR = 0x370,
	REG_TIMER_INITIAL = 0x380, REG_TIMER_CURRENT = 0x390, REG_TIMER_DIVIDE = 0x3e0,
};

#define APIC_BASE_EXTD		BIT(10)		/* IA32_APIC_BASE */
#define APIC_BASE_EN		BIT(11)
#define APIC_BASE_ADDRESS	BITS(12, 51)

#define SVR_ENABLE		BIT(8)
#define TPR_OWN_CLASS		0xe0		/* holds classes 0 to 14 */
#define ICR_NMI			(4u << 8)
#define ICR_INIT		(5u << 8)
#define ICR_STARTUP		(6u << 8)
#define ICR_PENDING		(1u << 12)
#define ICR_ASSERT		(1u << 14)
#define ICR_SELF		(1u << 18)
#define LVT_DELIVERY		(7u << 8)
#define LVT_DELIVERY_SMI	(2u << 8)
#define TIMER_MODE		(3u << 17)
#define TIMER_PERIODIC		(1u << 17)
#define TIMER_TSC_DEADLINE	(2u << 17)
#define TIMER_DIVIDE_BY_16	3

#define ICR_TIMEOUT_US		1000
#define CALIBRATION_US		5000

/* Local sources. Each exists if "Max LVT Entry" of the version register is at least this. */
static const struct {
	enum reg reg;
	unsigned max_lvt;
} lvt[] = {
	{ REG_LVT_TIMER, 0 }, { REG_LVT_LINT0, 0 }, { REG_LVT_LINT1, 0 }, { REG_LVT_ERROR, 3 },
	{ REG_LVT_PC, 4 }, { REG_LVT_THERMAL, 5 }, { REG_LVT_CMCI, 6 },
};
#define LVT_COUNT (sizeof lvt / sizeof lvt[0])

static bool x2apic;
static u64 base;
static u64 timer_ticks_per_ms;		/* at TIMER_DIVIDE_BY_16 */

static struct saved {
	u32 lvt[LVT_COUNT], tpr, svr, divide, initial, current;
	u64 tsc_deadline;
	u8 isr;
} saved_states[CPU_MAX];

static struct saved *saved_this_cpu(void)
{
	return &saved_states[cpu_index()];
}

static u32 msr_of(enum reg reg)
{
	return MSR_IA32_X2APIC_APICID + ((u32)reg - REG_ID) / 16;
}

static u32 apic_read_reg(enum reg reg)
{
	if (x2apic)
		return (u32)msr_read(msr_of(reg));
	return *(volatile u32 *)(uintptr_t)(base + (u64)reg);
}

static void apic_write_reg(enum reg reg, u32 value)
{
	if (x2apic)
		msr_write(msr_of(reg), value);
	else
		*(volatile u32 *)(uintptr_t)(base + (u64)reg) = value;
}

static bool icr_idle(void *arg)
{
	(void)arg;
	return !(apic_read_reg(REG_ICR) & ICR_PENDING);
}

/* "WRMSR": a write to an x2APIC register isn't serialising and may overtake earlier stores, which
 * the processor that it wakes must see. MFENCE alone doesn't order WRMSR, LFENCE after it does. */
static void order_stores(void)
{
	__asm__ volatile("mfence; lfence" ::: "memory");
}

static void set_icr(u32 destination, u32 command)
{
	if (x2apic) {		/* there is no delivery status */
		order_stores();
		msr_write(msr_of(REG_ICR), (u64)destination << 32 | command);
		return;
	}
	wait_until(icr_idle, NULL, ICR_TIMEOUT_US);
	apic_write_reg(REG_ICR_HIGH, destination << 24);
	apic_write_reg(REG_ICR, command);
	wait_until(icr_idle, NULL, ICR_TIMEOUT_US);
}

static bool lvt_exists(unsigned i)
{
	return lvt[i].max_lvt <= ((apic_read_reg(REG_VERSION) >> 16) & 0xff);
}

bool apic_find(u64 *page)
{
	u64 value = msr_read(MSR_IA32_APIC_BASE);

	x2apic = value & APIC_BASE_EXTD;
	base = value & APIC_BASE_ADDRESS;
	*page = x2apic ? 0 : base;
	return value & APIC_BASE_EN;
}

static void calibrate(void)
{
	u64 start = tsc_read();
	u64 ticks, us;

	apic_write_reg(REG_TIMER_INITIAL, UINT32_MAX);
	time_stall(CALIBRATION_US);
	ticks = UINT32_MAX - apic_read_reg(REG_TIMER_CURRENT);
	us = (tsc_read() - start) / time_tsc_per_us;
	apic_write_reg(REG_TIMER_INITIAL, 0);
	timer_ticks_per_ms = ticks * 1000 / us;
	if (!timer_ticks_per_ms)
		timer_ticks_per_ms = 1;
}

static void save(void)
{
	struct saved *saved = saved_this_cpu();

	saved->tpr = apic_read_reg(REG_TPR);
	saved->svr = apic_read_reg(REG_SVR);
	saved->isr = apic_highest_isr();
	for (unsigned i = 0; i < LVT_COUNT; i++)
		if (lvt_exists(i))
			saved->lvt[i] = apic_read_reg(lvt[i].reg);
	saved->divide = apic_read_reg(REG_TIMER_DIVIDE);
	saved->initial = apic_read_reg(REG_TIMER_INITIAL);
	saved->current = apic_read_reg(REG_TIMER_CURRENT);
	if ((saved->lvt[0] & TIMER_MODE) == TIMER_TSC_DEADLINE)
		saved->tsc_deadline = msr_read(MSR_IA32_TSC_DEADLINE);
}

void apic_resume(void)
{
	const struct saved *saved = saved_this_cpu();

	apic_open_own_class();
	apic_write_reg(REG_SVR, SVR_ENABLE | VECTOR_SPURIOUS);
	/* TPR doesn't hold ExtINT and NMI, so LINT0 and LINT1 are masked at their source. A thermal
	 * SMI protects the platform, so it isn't masked. */
	for (unsigned i = 0; i < LVT_COUNT; i++)
		if (lvt_exists(i) && (saved->lvt[i] & LVT_DELIVERY) != LVT_DELIVERY_SMI)
			apic_write_reg(lvt[i].reg, saved->lvt[i] | LVT_MASKED);
	apic_lvtpc_write(LVT_MASKED | VECTOR_PMI);
	apic_write_reg(REG_LVT_TIMER, LVT_MASKED | VECTOR_TIMER);
	apic_write_reg(REG_TIMER_INITIAL, 0);
	apic_write_reg(REG_TIMER_DIVIDE, TIMER_DIVIDE_BY_16);
	if (!timer_ticks_per_ms)
		calibrate();
	apic_write_reg(REG_LVT_TIMER, VECTOR_TIMER);	/* one-shot */
}

void apic_init(void)
{
	save();
	apic_resume();
}

static void restore_timer(void)
{
	const struct saved *saved = saved_this_cpu();
	u32 mode = saved->lvt[0] & TIMER_MODE;

	apic_write_reg(REG_TIMER_DIVIDE, saved->divide);
	apic_write_reg(REG_LVT_TIMER, saved->lvt[0]);
	if (mode == TIMER_TSC_DEADLINE) {
		/* "TSC-Deadline Mode": the write to LVTT must be complete before the write to the
		 * MSR. */
		order_stores();
		msr_write(MSR_IA32_TSC_DEADLINE, saved->tsc_deadline);
	} else if (mode == TIMER_PERIODIC) {
		apic_write_reg(REG_TIMER_INITIAL, saved->initial);
	} else if (saved->current) {
		/* ticks that were left of the one-shot */
		apic_write_reg(REG_TIMER_INITIAL, saved->current);
	}
}

void apic_release(void)
{
	struct saved *saved = saved_this_cpu();

	apic_write_reg(REG_LVT_TIMER, LVT_MASKED | VECTOR_TIMER);
	apic_write_reg(REG_TIMER_INITIAL, 0);
	for (unsigned i = 1; i < LVT_COUNT; i++)
		if (lvt_exists(i))
			apic_write_reg(lvt[i].reg, saved->lvt[i]);
	restore_timer();
	apic_write_reg(REG_SVR, saved->svr);
	apic_write_reg(REG_TPR, saved->tpr);
}

u32 apic_id(void)
{
	return x2apic ? apic_read_reg(REG_ID) : apic_read_reg(REG_ID) >> 24;
}

u32 apic_read(u32 offset)
{
	return apic_read_reg((enum reg)offset);
}

void apic_eoi(void)
{
	apic_write_reg(REG_EOI, 0);
}

u32 apic_lvtpc_read(void)
{
	return apic_read_reg(REG_LVT_PC);
}

void apic_lvtpc_write(u32 value)
{
	apic_write_reg(REG_LVT_PC, value);
}

static bool test_bit(enum reg first, u8 vector)
{
	return apic_read_reg(first + 0x10 * (enum reg)(vector / 32)) & BIT(vector % 32);
}

static u8 highest(enum reg first)
{
	for (unsigned i = 8; i-- > 0; ) {
		u32 bits = apic_read_reg(first + 0x10 * (enum reg)i);

		if (bits)
			return (u8)(32 * i + 31 - (unsigned)__builtin_clz(bits));
	}
	return 0;
}

bool apic_isr(u8 vector)
{
	return test_bit(REG_ISR, vector);
}

u8 apic_highest_irr(void)
{
	return highest(REG_IRR);
}

u8 apic_highest_isr(void)
{
	return highest(REG_ISR);
}

u32 apic_low_irr(void)
{
	return apic_read_reg(REG_IRR);
}

void apic_eoi_all(void)
{
	struct saved *saved = saved_this_cpu();

	for (unsigned i = 0; i < 256 && apic_highest_isr() > saved->isr; i++)
		apic_eoi();
}

void apic_self_ipi(u8 vector)
{
	set_icr(0, ICR_SELF | ICR_ASSERT | vector);
}

void apic_self_nmi(void)
{
	/* "Interrupt Command Register": the self shorthand is for fixed delivery only. */
	apic_nmi(apic_id());
}

void apic_nmi(u32 id)
{
	set_icr(id, ICR_NMI | ICR_ASSERT);
}

void apic_init_ipi(u32 id)
{
	set_icr(id, ICR_INIT | ICR_ASSERT);
}

void apic_startup_ipi(u32 id, u8 vector)
{
	set_icr(id, ICR_STARTUP | ICR_ASSERT | vector);
}

void apic_ipi(u32 id, u8 vector)
{
	set_icr(id, ICR_ASSERT | vector);
}

void apic_open_own_class(void)
{
	apic_write_reg(REG_TPR, TPR_OWN_CLASS);
}

void apic_open_all_classes(void)
{
	apic_write_reg(REG_TPR, 0);
}

void apic_timer_start(u64 deadline)
{
	u64 now = tsc_read();
	u64 us = (int64_t)(deadline - now) > 0 ? (deadline - now) / time_tsc_per_us : 0;
	u64 ticks = us * timer_ticks_per_ms / 1000;

	if (ticks > UINT32_MAX)
		ticks = UINT32_MAX;
	apic_write_reg(REG_TIMER_INITIAL, ticks ? (u32)ticks : 1);
}

void apic_timer_stop(void)
{
	apic_write_reg(REG_TIMER_INITIAL, 0);
}
