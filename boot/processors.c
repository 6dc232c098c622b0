/* SPDX-License-Identifier: MIT */
/*
 * Each processor is started by itself and without waiting, and stays in its procedure for the whole
 * run: the firmware counts it as busy meanwhile and leaves it alone.
 */
#include "boot/firmware.h"
#include "boot/processors.h"
#include "boot/spread.h"
#include "kernel/interrupt/apic.h"
#include "kernel/processor/cpuid.h"
#include "kernel/processor/percpu.h"
#include "kernel/machine/smp.h"
#include "kernel/processor/time.h"
#include "spec/mp_services.h"

#define SEEN_MAX	1024u		/* processors that are looked at */
#define TYPE_US		100000u		/* to say what kind of core it is */
#define ARRIVAL_US	1000000		/* before the next one is started, */
#define LATE_US		5000000		/* and then all of them once more */
#define RETURN_ROUNDS	300u		/* the firmware looks every 100 ms */
#define RETURN_STALL_US	10000
#define WAKE_ROUNDS	20u		/* a wake-up that had no effect is sent again */

#define LEAF_HYBRID	0x1au		/* "Hybrid Information Enumeration Leaf" */

static struct mp_services *services;
static struct {
	unsigned all, enabled, unhealthy;
} found = { .all = 1, .enabled = 1 };
static unsigned count = 1;

static struct processor {
	UINTN number;		/* the firmware's */
	EFI_EVENT event;	/* signalled when it is back */
	unsigned cpu;		/* ours */
	u32 apic_id;		/* the firmware's word for it */
} processors[CPU_MAX];

static struct seen {
	u32 apic_id;
	UINTN number;
} seen[SEEN_MAX];
static struct spread_place places[SEEN_MAX];

static u32 core_type(void)
{
	if (!cpuid_get(CPUID_HYBRID))
		return 0;
	return cpuid_read(LEAF_HYBRID, 0).eax >> 24;
}

static MP_SERVICES_CALL void tell_type(void *argument)
{
	*(u32 *)argument = core_type();
}

/* Into seen[] and places[] at index n. false: the firmware doesn't give it away. */
static bool look_at(UINTN number, unsigned n)
{
	struct mp_processor_information info;
	u32 type = core_type();

	if (EFI_ERROR(services->get_info(services, number, &info)))
		return false;
	if (!(info.status_flag & MP_STATUS_BSP)) {
		if (!(info.status_flag & MP_STATUS_ENABLED))
			return false;
		if (!(info.status_flag & MP_STATUS_HEALTHY)) {
			found.unhealthy++;
			return false;
		}
		/* The static place of its answer outlives one that comes too late. */
		places[n].type = 0;
		if (type)
			services->startup_this(services, tell_type, number, NULL, TYPE_US,
					       &places[n].type, NULL);
		type = places[n].type;
	}
	seen[n] = (struct seen){ (u32)info.processor_id, number };
	places[n] = (struct spread_place){ info.package, info.core, info.thread, type };
	return true;
}

static bool is_first(UINTN number)
{
	struct mp_processor_information info;

	return !EFI_ERROR(services->get_info(services, number, &info)) &&
	       (info.status_flag & MP_STATUS_BSP);
}

unsigned processors_find(unsigned most)
{
	EFI_GUID guid = MP_SERVICES_GUID;
	void *protocol = NULL;
	unsigned chosen[CPU_MAX], n = 0, first = 0;
	u64 all, enabled;

	count = 1;
	if (EFI_ERROR(firmware.boot->LocateProtocol(&guid, NULL, &protocol)))
		return count;
	services = protocol;
	if (EFI_ERROR(services->get_number(services, &all, &enabled)))
		return count;
	found.all = (unsigned)all;
	found.enabled = (unsigned)enabled;
	found.unhealthy = 0;
	for (UINTN number = 0; number < all && n < SEEN_MAX; number++) {
		if (!look_at(number, n))
			continue;
		if (is_first(number))
			first = n;
		n++;
	}
	if (!n)
		return count;
	count = spread_choose(places, n, first, most, chosen);
	for (unsigned i = 1; i < count; i++)
		processors[i] = (struct processor){ seen[chosen[i]].number, NULL, i,
						    seen[chosen[i]].apic_id };
	return count;
}

void processors_limit(unsigned most)
{
	if (count > most)
		count = most;
}

static MP_SERVICES_CALL void procedure(void *argument)
{
	const struct processor *processor = argument;

	smp_serve(processor->cpu);
}

static void start(struct processor *processor)
{
	if (EFI_ERROR(firmware.boot->CreateEvent(0, 0, NULL, NULL, &processor->event))) {
		processor->event = NULL;
		return;
	}
	if (!EFI_ERROR(services->startup_this(services, procedure, processor->number,
					      processor->event, 0, processor, NULL)))
		return;
	firmware.boot->CloseEvent(processor->event);
	processor->event = NULL;
}

void processors_take(void)
{
	u64 deadline;

	smp_prepare();
	for (unsigned i = 1; i < count; i++) {
		start(&processors[i]);
		if (processors[i].event)
			smp_wait_idle(i, ARRIVAL_US);
	}
	deadline = time_deadline(LATE_US);
	for (unsigned i = 1; i < count; i++) {
		while (processors[i].event && !smp_is_idle(i) && !time_expired(deadline))
			__asm__ volatile("pause");
		smp_leave_out(i);
	}
}

void processors_describe(struct tap *tap)
{
	unsigned taken = 1;
	u64 adjust;

	for (unsigned i = 1; i < count; i++)
		taken += !smp_is_left_out(i);
	tap_comment(tap, "processors: %u of %u processors", taken, found.all);
	if (found.all > found.enabled)
		tap_comment(tap, "left out: %u that the firmware has disabled",
			    found.all - found.enabled);
	if (found.unhealthy)
		tap_comment(tap, "left out: %u that the firmware calls unhealthy", found.unhealthy);
	if (found.enabled - found.unhealthy > count)
		tap_comment(tap, "left out: %u more than can be taken at once",
			    found.enabled - found.unhealthy - count);
	for (unsigned i = 0; i < count; i++) {
		if (smp_is_left_out(i))
			tap_comment(tap, "left out: processor %u, APIC id %#x: %s", i,
				    processors[i].apic_id,
				    processors[i].event ? "it hasn't come in time" :
							  "the firmware doesn't start it");
		else if (smp_tsc_adjust(i, &adjust))
			tap_comment(tap, "processor %u: IA32_TSC_ADJUST = %ld", i, (long)adjust);
		else
			tap_comment(tap, "processor %u: no IA32_TSC_ADJUST", i);
	}
}

/* One that isn't back runs in our memory, or may at any time: an INIT ends that. */
static void hold(const struct processor *processor)
{
	apic_init_ipi(processor->apic_id);
}

static bool give(struct processor *processor)
{
	if (!processor->event)
		return true;
	for (unsigned i = 0; !smp_is_lost(processor->cpu) && i < RETURN_ROUNDS; i++) {
		if (!EFI_ERROR(firmware.boot->CheckEvent(processor->event))) {
			firmware.boot->CloseEvent(processor->event);
			processor->event = NULL;
			return true;
		}
		if (i % WAKE_ROUNDS == WAKE_ROUNDS - 1)
			smp_dismiss();
		firmware.boot->Stall(RETURN_STALL_US);
	}
	hold(processor);
	return false;
}

bool processors_give(void)
{
	static bool all = true;

	smp_dismiss();
	for (unsigned i = 1; i < count; i++)
		if (!give(&processors[i]))
			all = false;
	count = 1;
	return all;
}
