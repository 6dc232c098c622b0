/* SPDX-License-Identifier: MIT */
/*
 * Each processor is started by itself and without waiting, and stays in its procedure for the whole
 * run: the firmware counts it as busy meanwhile and leaves it alone.
 */
#include "boot/firmware.h"
#include "boot/processors.h"
#include "kernel/smp.h"
#include "spec/mp_services.h"

#define ARRIVAL_US	1000000
#define RETURN_ROUNDS	300		/* the firmware looks every 100 ms */
#define RETURN_STALL_US	10000

static struct mp_services *services;
static unsigned count = 1;

static struct processor {
	UINTN number;		/* the firmware's */
	EFI_EVENT event;	/* signalled when it is back */
	unsigned cpu;		/* ours */
} processors[CPU_MAX];

static bool is_usable(UINTN number)
{
	struct mp_processor_information info;

	return !EFI_ERROR(services->get_info(services, number, &info)) &&
	       !(info.status_flag & MP_STATUS_BSP) &&
	       (info.status_flag & MP_STATUS_ENABLED) &&
	       (info.status_flag & MP_STATUS_HEALTHY);
}

unsigned processors_find(unsigned most)
{
	EFI_GUID guid = MP_SERVICES_GUID;
	void *protocol = NULL;
	u64 all, enabled;

	count = 1;
	if (EFI_ERROR(firmware.boot->LocateProtocol(&guid, NULL, &protocol)))
		return count;
	services = protocol;
	if (EFI_ERROR(services->get_number(services, &all, &enabled)))
		return count;
	for (UINTN number = 0; number < all && count < most; number++) {
		if (!is_usable(number))
			continue;
		processors[count] = (struct processor){ number, NULL, count };
		count++;
	}
	return count;
}

static MP_SERVICES_CALL void procedure(void *argument)
{
	const struct processor *processor = argument;

	smp_serve(processor->cpu);
}

static bool take(struct processor *processor)
{
	if (EFI_ERROR(firmware.boot->CreateEvent(0, 0, NULL, NULL, &processor->event)))
		return false;
	if (!EFI_ERROR(services->startup_this(services, procedure, processor->number,
					      processor->event, 0, processor, NULL)))
		return smp_wait_idle(processor->cpu, ARRIVAL_US);
	firmware.boot->CloseEvent(processor->event);
	processor->event = NULL;
	return false;
}

unsigned processors_take(void)
{
	unsigned missing = 0;

	for (unsigned i = 1; i < count; i++)
		if (!take(&processors[i]))
			missing++;
	return missing;
}

static bool give(struct processor *processor)
{
	if (!processor->event)
		return true;
	if (smp_is_lost(processor->cpu))
		return false;
	for (unsigned i = 0; i < RETURN_ROUNDS; i++) {
		if (!EFI_ERROR(firmware.boot->CheckEvent(processor->event))) {
			firmware.boot->CloseEvent(processor->event);
			processor->event = NULL;
			return true;
		}
		firmware.boot->Stall(RETURN_STALL_US);
	}
	return false;
}

bool processors_give(void)
{
	bool all = true;

	smp_dismiss();
	for (unsigned i = 1; i < count; i++)
		if (!give(&processors[i]))
			all = false;
	return all;
}
