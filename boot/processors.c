/* SPDX-License-Identifier: MIT */
/*
 * Each processor is started by itself and without waiting, and stays in its procedure for the whole
 * run: the firmware counts it as busy meanwhile and leaves it alone. gnu-efi doesn't declare the
 * protocol; what isn't called here is a pointer without a type.
 */
#include "boot/firmware.h"
#include "boot/processors.h"
#include "kernel/smp.h"

#define ARRIVAL_US	1000000
#define RETURN_ROUNDS	300		/* the firmware looks every 100 ms */
#define RETURN_STALL_US	10000

#define STATUS_BSP	BIT(0)		/* EFI_PROCESSOR_INFORMATION.StatusFlag */
#define STATUS_ENABLED	BIT(1)
#define STATUS_HEALTHY	BIT(2)

struct processor_information {
	u64 processor_id;
	u32 status_flag;
	u32 package, core, thread;
	u32 extended[6];
};

typedef VOID (EFIAPI *ap_procedure)(VOID *argument);

struct mp_services {
	EFI_STATUS (EFIAPI *get_number)(struct mp_services *this, UINTN *all, UINTN *enabled);
	EFI_STATUS (EFIAPI *get_info)(struct mp_services *this, UINTN number,
				      struct processor_information *info);
	void *startup_all;
	EFI_STATUS (EFIAPI *startup_this)(struct mp_services *this, ap_procedure procedure,
					  UINTN number, EFI_EVENT event, UINTN timeout_us,
					  VOID *argument, BOOLEAN *finished);
	void *switch_bsp, *enable_disable, *who_am_i;
};

static struct mp_services *services;
static unsigned count = 1;

static struct processor {
	UINTN number;		/* the firmware's */
	EFI_EVENT event;	/* signalled when it is back */
	unsigned cpu;		/* ours */
} processors[CPU_MAX];

static bool is_usable(UINTN number)
{
	struct processor_information info;

	return !EFI_ERROR(services->get_info(services, number, &info)) &&
	       !(info.status_flag & STATUS_BSP) && (info.status_flag & STATUS_ENABLED) &&
	       (info.status_flag & STATUS_HEALTHY);
}

unsigned processors_find(unsigned most)
{
	EFI_GUID guid = { 0x3fdda605, 0xa76e, 0x4f46,
			  { 0xad, 0x29, 0x12, 0xf4, 0x53, 0x1b, 0x3d, 0x08 } };
	void *protocol = NULL;
	UINTN all, enabled;

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

static VOID EFIAPI procedure(VOID *argument)
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
