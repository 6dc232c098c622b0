/* SPDX-License-Identifier: MIT */
/* gnu-efi doesn't declare the protocol; what isn't called here isn't typed. */
#include "refpmu/efi_processors.h"

#define STATUS_BSP	BIT(0)		/* EFI_PROCESSOR_INFORMATION.StatusFlag */
#define STATUS_ENABLED	BIT(1)
#define XAPIC_IDS	255u		/* ids that an xAPIC can have */

struct processor_information {
	u64 processor_id;
	u32 status_flag;
	u32 package, core, thread;
	u32 extended[6];
};

struct mp_services {
	EFI_STATUS (EFIAPI *get_number)(struct mp_services *this, UINTN *all, UINTN *enabled);
	EFI_STATUS (EFIAPI *get_info)(struct mp_services *this, UINTN number,
				      struct processor_information *info);
};

unsigned efi_processors(EFI_BOOT_SERVICES *services, u8 *apic_ids, unsigned most)
{
	EFI_GUID guid = { 0x3fdda605, 0xa76e, 0x4f46,
			  { 0xad, 0x29, 0x12, 0xf4, 0x53, 0x1b, 0x3d, 0x08 } };
	struct processor_information info;
	struct mp_services *mp;
	UINTN all = 0, enabled;
	void *protocol = NULL;
	unsigned count = 0;

	if (services->LocateProtocol(&guid, NULL, &protocol) != EFI_SUCCESS)
		return 0;
	mp = protocol;
	if (mp->get_number(mp, &all, &enabled) != EFI_SUCCESS)
		return 0;
	for (UINTN i = 0; i < all && count < most; i++) {
		if (mp->get_info(mp, i, &info) != EFI_SUCCESS || (info.status_flag & STATUS_BSP) ||
		    !(info.status_flag & STATUS_ENABLED) || info.processor_id >= XAPIC_IDS)
			continue;
		apic_ids[count++] = (u8)info.processor_id;
	}
	return count;
}
