/* SPDX-License-Identifier: MIT */
/*
 * Each processor is started separately and without waiting, and stays in its procedure for the
 * whole run. For the firmware it is busy during this time, so the firmware doesn't use it.
 */
#include "boot/firmware.h"
#include "boot/firmware_processors.h"
#include "boot/processors.h"
#include "boot/spread.h"
#include "kernel/interrupt/apic.h"
#include "kernel/processor/cpuid.h"
#include "kernel/processor/percpu.h"
#include "kernel/machine/smp.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/time.h"

#define SEEN_MAX	FIRMWARE_PROCESSORS
#define TYPE_US		100000u		/* us for a processor to report its type of core */
#define ARRIVAL_US	1000000		/* us before the next processor is started, */
#define LATE_US		5000000		/* us until missing ones are left out */
#define RETURN_ROUNDS	300u		/* the firmware looks every 100 ms */
#define RETURN_STALL_US	10000
#define WAKE_ROUNDS	20u		/* rounds; each repeats wake-ups without an effect */

#define NAMED_MOST	256u		/* names of processors that are left out */

#define LEAF_HYBRID	0x1au		/* "Hybrid Information Enumeration Leaf" */

static struct {
	unsigned all, enabled, unhealthy;
	bool unknown;		/* the firmware doesn't tell of other processors */
} found = { .all = 1, .enabled = 1 };
static unsigned count = 1;

static struct processor {
	unsigned number;	/* the firmware's number */
	bool started;		/* started, and not returned yet */
	unsigned cpu;		/* the harness' number */
	u32 apic_id;		/* as the firmware reports it */
	u32 type;
} processors[CPU_MAX];
_Static_assert(CPU_MAX <= SPREAD_MOST && CPU_MAX <= 32, "places");

static struct seen {
	u32 apic_id;
	unsigned number;
} seen[SEEN_MAX];
static struct spread_place places[SEEN_MAX];
static unsigned usable, first_index;	/* processors in seen[]; index of the one that runs this */

/* The type of core with its native model. By the type alone an LP-E core of Arrow Lake (20H, native
 * model 2) would be an E core (20H, native model 3). */
static u32 core_type(void)
{
	if (!cpuid_get(CPUID_HYBRID))
		return 0;
	return cpuid_read(LEAF_HYBRID, 0).eax;
}

static void tell_type(void *argument)
{
	*(u32 *)argument = core_type();
}

/* Fill index n of seen[] and places[]. false: the firmware doesn't offer this processor. */
static bool look_at(unsigned number, unsigned n)
{
	struct firmware_processor found_there;
	u32 type = core_type();

	if (!firmware_processor(number, &found_there))
		return false;
	if (!found_there.first) {
		if (!found_there.enabled)
			return false;
		if (!found_there.healthy) {
			found.unhealthy++;
			return false;
		}
		/* The answer is static, because it may come too late. */
		places[n].type = 0;
		if (type)
			firmware_run_on(number, tell_type, &places[n].type, TYPE_US);
		type = places[n].type;
	}
	seen[n] = (struct seen){ found_there.apic_id, number };
	places[n] = (struct spread_place){ found_there.package, found_there.core,
					   found_there.thread, type };
	if (found_there.first)
		first_index = n;
	return true;
}

/* Choose the processor with this number for the last place, unless it has a place already. */
static void want(unsigned number, unsigned *chosen, unsigned n)
{
	unsigned index = spread_index(number, first_index);

	for (unsigned i = 0; i < n; i++)
		if (chosen[i] == index)
			return;
	if (number < usable && n > 1)
		chosen[n - 1] = index;
}

unsigned processors_find(unsigned most, unsigned batch, unsigned wanted)
{
	unsigned chosen[CPU_MAX], n = 0;

	count = 1;
	usable = 1;
	first_index = 0;
	found.unhealthy = 0;
	found.unknown = !firmware_processors(&found.all, &found.enabled);
	if (found.unknown)
		return count;
	for (unsigned number = 0; number < found.all && n < SEEN_MAX; number++)
		n += look_at(number, n);
	if (!n)
		return count;
	usable = n;
	count = spread_batch(places, n, first_index, most, batch, chosen);
	want(wanted, chosen, count);
	for (unsigned i = 0; i < count; i++) {
		processors[i] = (struct processor){ seen[chosen[i]].number, false, i,
						    seen[chosen[i]].apic_id,
						    places[chosen[i]].type };
		smp_set_number(i, spread_number(chosen[i], first_index));
	}
	return count;
}

unsigned processors_batches(unsigned most)
{
	return spread_batches(usable, most);
}

u32 processors_all(void)
{
	u32 bits = 1;

	for (unsigned i = 1; i < count; i++)
		bits |= smp_is_left_out(i) ? 0 : 1u << i;
	return bits;
}

u32 processors_one(unsigned number)
{
	for (unsigned i = 0; i < count; i++)
		if (smp_number(i) == number && !smp_is_left_out(i))
			return 1u << i;
	return 0;
}

/* Uses the processors' own data, and for their type the firmware's. */
u32 processors_first_of_kinds(void)
{
	struct spread_place came[CPU_MAX];
	unsigned n = 0;
	u32 bits = 0;

	for (unsigned i = 0; i < count; i++) {
		struct topology at;

		if (smp_is_left_out(i))
			continue;
		at = smp_topology(i);
		came[n] = (struct spread_place){ at.package, at.core, at.thread,
						 processors[i].type };
		if (spread_is_first_of_kind(came, n++))
			bits |= 1u << i;
	}
	return bits;
}

static void procedure(void *argument)
{
	const struct processor *processor = argument;

	smp_serve(processor->cpu);
}

static void start(struct processor *processor)
{
	processor->started = firmware_start_on(processor->number, procedure, processor);
}

void processors_take(void)
{
	u64 deadline;

	smp_prepare();
	for (unsigned i = 1; i < count; i++) {
		start(&processors[i]);
		if (processors[i].started)
			smp_wait_idle(i, ARRIVAL_US);
	}
	deadline = time_deadline(LATE_US);
	for (unsigned i = 1; i < count; i++) {
		while (processors[i].started && !smp_is_idle(i) && !time_expired(deadline))
			__asm__ volatile("pause");
		smp_leave_out(i);
	}
}

static bool is_taken(unsigned number)
{
	for (unsigned i = 0; i < count; i++)
		if (smp_number(i) == number)
			return true;
	return false;
}

/* Name each processor: a number without a processor would tell a reader nothing. */
static void describe_others(struct tap *tap, const char *why)
{
	unsigned named = 0;

	for (unsigned number = 0; number < usable; number++) {
		unsigned index = spread_index(number, first_index);
		const struct spread_place *at = &places[index];

		if (is_taken(number) || named++ >= NAMED_MOST)
			continue;
		tap_comment(tap,
			    "left out: processor %u, APIC id %#x, thread %u of core %u, "
			    "package %u: %s",
			    number, seen[index].apic_id, at->thread, at->core, at->package, why);
	}
	if (named > NAMED_MOST)
		tap_comment(tap, "left out: %u more like these", named - NAMED_MOST);
}

void processors_describe(struct tap *tap, unsigned batch, unsigned batches)
{
	char which[48] = "";
	unsigned taken = 1;
	u64 adjust;

	for (unsigned i = 1; i < count; i++)
		taken += !smp_is_left_out(i);
	if (batches > 1)
		fmt_print(which, sizeof(which), ", batch %u of %u", batch + 1, batches);
	if (found.unknown)
		tap_comment(tap,
			    "processors: 1; others aren't taken: the firmware doesn't tell "
			    "of them (UEFI: no EFI_MP_SERVICES_PROTOCOL; without it: no MADT)");
	else
		tap_comment(tap, "processors: %u of %u processors%s", taken, found.all, which);
	if (found.all > found.enabled)
		tap_comment(tap, "left out: %u that the firmware has disabled",
			    found.all - found.enabled);
	if (found.unhealthy)
		tap_comment(tap, "left out: %u that the firmware calls unhealthy", found.unhealthy);
	if (found.enabled - found.unhealthy > count)
		tap_comment(tap, "left out: %u more than can be taken at once%s",
			    found.enabled - found.unhealthy - count,
			    batches > 1 ? "; other batches have them" : "");
	describe_others(tap, batches > 1 ? "in another batch" : "no place");
	for (unsigned i = 0; i < count; i++) {
		if (smp_is_left_out(i))
			tap_comment(tap, "left out: processor %u, APIC id %#x: %s", smp_number(i),
				    processors[i].apic_id,
				    processors[i].started ? "it hasn't come in time" :
							    "the firmware doesn't start it");
		else if (smp_tsc_adjust(i, &adjust))
			tap_comment(tap, "processor %u: IA32_TSC_ADJUST = %ld", smp_number(i),
				    (long)adjust);
		else
			tap_comment(tap, "processor %u: no IA32_TSC_ADJUST", smp_number(i));
	}
}

/* A processor that hasn't returned runs in the harness' memory, or may do so at any time: an INIT
 * stops it. */
static void hold(const struct processor *processor)
{
	apic_init_ipi(processor->apic_id);
}

static bool give(struct processor *processor)
{
	if (!processor->started)
		return true;
	for (unsigned i = 0; !smp_is_lost(processor->cpu) && i < RETURN_ROUNDS; i++) {
		if (firmware_is_back(processor->number)) {
			processor->started = false;
			return true;
		}
		if (i % WAKE_ROUNDS == WAKE_ROUNDS - 1)
			smp_dismiss();
		firmware_stall(RETURN_STALL_US);
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
