/* SPDX-License-Identifier: MIT */
/*
 * PMIs through the local APIC's performance counter entry: SDM "Local Vector Table". Fixed and NMI
 * delivery; SMI and INIT delivery aren't used. Each processor has its own log.
 */
#include "pmu/pmi.h"

#include "kernel/interrupt/apic.h"
#include "kernel/processor/cpu.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "kernel/processor/percpu.h"
#include "kernel/memory/string.h"
#include "kernel/processor/time.h"
#include "pmu/counter.h"
#include "pmu/ds.h"
#include "pmu/written.h"

/* An interrupt may be late by some time, or by thousands of instructions. */
#define SETTLE_US		20
#define SETTLE_INSTRUCTIONS	4096
#define DRAIN_WINDOWS		16	/* a window may be over before the interrupt arrives */

static struct pmi {
	struct pmi_options options;
	struct pmi_log log;
	struct pmi_entry scratch;	/* for interrupts that don't fit in the log */
	bool listening;
	volatile unsigned spurious;
} states[CPU_MAX];

static struct pmi *pmi_this_cpu(void)
{
	return &states[cpu_index()];
}

/* The vector is also written in NMI mode, where it has no effect: if the delivery mode is ignored,
 * the interrupt has a vector and is distinguished from an NMI. */
static u32 lvtpc(const struct pmi *pmi, bool masked)
{
	u32 value = VECTOR_PMI;

	value |= pmi->options.nmi ? LVT_DELIVERY_NMI : LVT_DELIVERY_FIXED;
	if (masked)
		value |= (u32)LVT_MASKED;
	return value;
}

static void look(const struct pmi *pmi, struct pmi_entry *entry, const struct trap_frame *frame)
{
	entry->index = ds_index();	/* first, before the handler causes any record */
	entry->vector = (u8)frame->vector;
	entry->lvtpc = apic_lvtpc_read();
	entry->rip = frame->rip;
	entry->rflags = frame->rflags;
	entry->tsc = tsc_read();
	counter_caps()->operations->interrupted(entry, pmi->options.keep_counting);
}

static void drain(struct pmi_entry *entry)
{
	size_t bytes = record_size(counter_caps()->record_format);

	if (counter_caps()->record_known && entry->index >= ds_buffer() + bytes)
		memcpy(entry->record, (const void *)(uintptr_t)(entry->index - bytes), bytes);
}

static void handler(struct trap_frame *frame)
{
	struct pmi *pmi = pmi_this_cpu();
	struct pmi_log *log = &pmi->log;
	struct pmi_entry *entry = log->count < PMI_LOG_SIZE ? &log->entry[log->count] :
							      &pmi->scratch;

	if (pmi->listening) {
		look(pmi, entry, frame);
		log->count++;
		drain(entry);
		if (!pmi->options.keep_status && entry->status)
			counter_caps()->operations->clear(entry->status);
	} else {
		pmi->spurious++;
	}
	if (frame->vector != VECTOR_NMI)
		apic_eoi();
	if (pmi->listening && !pmi->options.stay_masked)
		apic_lvtpc_write(lvtpc(pmi, false));
}

/* A spurious interrupt isn't in service: SDM "Spurious Interrupt". */
static void last_vector(struct trap_frame *frame)
{
	if (apic_isr(VECTOR_SPURIOUS))
		handler(frame);
}

void pmi_init(void)
{
	struct pmi *pmi = pmi_this_cpu();

	pmi->listening = false;
	pmi->options = (struct pmi_options){ .masked = true };
	apic_lvtpc_write(lvtpc(pmi, true));
	intr_set_handler(VECTOR_PMI, handler);
	/* These vectors have no source: an interrupt with a vector other than LVTPC's is logged. */
	for (u8 vector = VECTOR_IPI + 1; vector < VECTOR_TIMER; vector++)
		intr_set_handler(vector, handler);
	intr_set_handler(VECTOR_SPURIOUS, last_vector);
	intr_set_handler(VECTOR_NMI, handler);
}

/* An interrupt that was raised while LVTPC was masked may be pending: it belongs to no window. */
static void drain_latched(struct pmi *pmi)
{
	unsigned spurious = pmi->spurious;
	bool enabled = rflags_read() & RFLAGS_IF;

	pmi->listening = false;
	pmi->options = (struct pmi_options){ .nmi = false };
	apic_lvtpc_write(lvtpc(pmi, false));
	for (unsigned i = 0; i < DRAIN_WINDOWS; i++)
		intr_window();
	if (enabled)
		intr_enable();
	pmi->spurious = spurious;
}

void pmi_open(const struct pmi_options *wanted)
{
	struct pmi *pmi = pmi_this_cpu();

	written_note_listening();
	drain_latched(pmi);
	pmi->options = wanted ? *wanted : (struct pmi_options){ .nmi = false };
	memset(&pmi->log, 0, sizeof(pmi->log));
	pmi->listening = true;
	apic_lvtpc_write(lvtpc(pmi, pmi->options.masked));
}

void pmi_unmask(void)
{
	apic_lvtpc_write(lvtpc(pmi_this_cpu(), false));
}

void pmi_mask(void)
{
	apic_lvtpc_write(lvtpc(pmi_this_cpu(), true));
}

const struct pmi_log *pmi_settle(void)
{
	unsigned rounds = SETTLE_INSTRUCTIONS / 2;

	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(rounds)::"cc", "memory");
	time_stall(SETTLE_US);
	return &pmi_this_cpu()->log;
}

void pmi_close(void)
{
	struct pmi *pmi = pmi_this_cpu();

	apic_lvtpc_write(lvtpc(pmi, true));
	pmi->listening = false;
}

const struct pmi_log *pmi_end(void)
{
	const struct pmi_log *log = pmi_settle();

	pmi_close();
	return log;
}

unsigned pmi_spurious(void)
{
	struct pmi *pmi = pmi_this_cpu();
	unsigned count = pmi->spurious;

	pmi->spurious = 0;
	return count;
}
