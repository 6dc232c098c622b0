/* SPDX-License-Identifier: MIT */
/* The other processors by the firmware's MP services: "EFI_MP_SERVICES_PROTOCOL", UEFI Platform
 * Initialization Specification. */
#include "boot/firmware_processors.h"
#include "boot/uefi/uefi.h"
#include "spec/mp_services.h"

static struct mp_services *services;

/* The function that a processor runs. Static, because a processor may be late. */
static struct call {
	void (*fn)(void *arg);
	void *arg;
	EFI_EVENT event;	/* signalled after the function has returned */
} calls[FIRMWARE_PROCESSORS];

static MP_SERVICES_CALL void procedure(void *argument)
{
	const struct call *call = argument;

	call->fn(call->arg);
}

bool firmware_processors(unsigned *all, unsigned *enabled)
{
	EFI_GUID guid = MP_SERVICES_GUID;
	u64 every = 0, usable = 0;
	void *protocol = NULL;

	if (EFI_ERROR(uefi.boot->LocateProtocol(&guid, NULL, &protocol)))
		return false;
	services = protocol;
	if (EFI_ERROR(services->get_number(services, &every, &usable)))
		return false;
	*all = (unsigned)every;
	*enabled = (unsigned)usable;
	return true;
}

bool firmware_processor(unsigned number, struct firmware_processor *processor)
{
	struct mp_processor_information info;

	if (number >= FIRMWARE_PROCESSORS || EFI_ERROR(services->get_info(services, number, &info)))
		return false;
	*processor = (struct firmware_processor){
		.apic_id = (u32)info.processor_id,
		.first = info.status_flag & MP_STATUS_BSP,
		.enabled = info.status_flag & MP_STATUS_ENABLED,
		.healthy = info.status_flag & MP_STATUS_HEALTHY,
		.package = info.package, .core = info.core, .thread = info.thread,
	};
	return true;
}

void firmware_run_on(unsigned number, void (*fn)(void *arg), void *arg, u64 us)
{
	calls[number] = (struct call){ fn, arg, NULL };
	services->startup_this(services, procedure, number, NULL, us, &calls[number], NULL);
}

bool firmware_start_on(unsigned number, void (*fn)(void *arg), void *arg)
{
	struct call *call = &calls[number];

	*call = (struct call){ fn, arg, NULL };
	if (EFI_ERROR(uefi.boot->CreateEvent(0, 0, NULL, NULL, &call->event)))
		return false;
	if (!EFI_ERROR(services->startup_this(services, procedure, number, call->event, 0, call,
					      NULL)))
		return true;
	uefi.boot->CloseEvent(call->event);
	return false;
}

bool firmware_is_back(unsigned number)
{
	if (EFI_ERROR(uefi.boot->CheckEvent(calls[number].event)))
		return false;
	uefi.boot->CloseEvent(calls[number].event);
	return true;
}
