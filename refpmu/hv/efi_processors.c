/* SPDX-License-Identifier: MIT */
/* See efi_processors.h. */
#include "refpmu/hv/efi_processors.h"

#include "spec/mp_services.h"

#define XAPIC_IDS	255u		/* ids that an xAPIC can have */

unsigned efi_processors(EFI_BOOT_SERVICES *services, u8 *apic_ids, unsigned most)
{
	EFI_GUID guid = MP_SERVICES_GUID;
	struct mp_processor_information info;
	struct mp_services *mp;
	u64 all = 0, enabled;
	void *protocol = NULL;
	unsigned count = 0;

	if (services->LocateProtocol(&guid, NULL, &protocol) != EFI_SUCCESS)
		return 0;
	mp = protocol;
	if (mp->get_number(mp, &all, &enabled) != EFI_SUCCESS)
		return 0;
	for (UINTN i = 0; i < all && count < most; i++) {
		if (mp->get_info(mp, i, &info) != EFI_SUCCESS ||
		    (info.status_flag & MP_STATUS_BSP) || !(info.status_flag & MP_STATUS_ENABLED) ||
		    info.processor_id >= XAPIC_IDS)
			continue;
		apic_ids[count++] = (u8)info.processor_id;
	}
	return count;
}
