/* SPDX-License-Identifier: MIT */
/*
 * The functions of EFI_MP_SERVICES_PROTOCOL that the harness calls. gnu-efi declares them from
 * version 4 on, with names that aren't used here. UEFI Platform Initialization Specification,
 * volume 2, "MP Services Protocol". Functions return an EFI_STATUS.
 */
#ifndef SPEC_MP_SERVICES_H
#define SPEC_MP_SERVICES_H

#include "spec/types.h"

/* Initializer of an EFI_GUID. */
#define MP_SERVICES_GUID { 0x3fdda605, 0xa76e, 0x4f46, \
			   { 0xad, 0x29, 0x12, 0xf4, 0x53, 0x1b, 0x3d, 0x08 } }

#define MP_SERVICES_CALL __attribute__((ms_abi))

/* EFI_PROCESSOR_INFORMATION.StatusFlag: PROCESSOR_AS_BSP_BIT and so on */
#define MP_STATUS_BSP		BIT(0)
#define MP_STATUS_ENABLED		BIT(1)
#define MP_STATUS_HEALTHY	BIT(2)

struct mp_processor_information {
	u64 processor_id;		/* local APIC id */
	u32 status_flag;
	u32 package, core, thread;
	u32 extended[6];
};

struct mp_services {
	u64(MP_SERVICES_CALL *get_number)(struct mp_services *this, u64 *all, u64 *enabled);
	u64(MP_SERVICES_CALL *get_info)(struct mp_services *this, u64 number,
					struct mp_processor_information *info);
	void *startup_all;
	/* Without waiting, if there is an event, which is signalled when procedure has returned. */
	u64(MP_SERVICES_CALL *startup_this)(struct mp_services *this,
					    void(MP_SERVICES_CALL *procedure)(void *argument),
					    u64 number, void *event, u64 timeout_us, void *argument,
					    bool *finished);
	void *switch_bsp, *enable_disable, *who_am_i;
};

#endif
