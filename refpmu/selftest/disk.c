/* SPDX-License-Identifier: MIT */
/*
 * See disk.h. UEFI specification, "EFI_BLOCK_IO_PROTOCOL". If the driver doesn't copy, the device
 * writes the sectors directly to the caller's buffer; this is so with virtio-blk under OVMF. So no
 * processor stores to the page that changes.
 */
#include "refpmu/selftest/disk.h"

#include "refpmu/launch/print.h"
#include "refpmu/selftest/smc.h"
#include "refpmu/selftest/machine.h"
#include "spec/msr.h"

#define SECTOR		512
#define CHUNK		65536
#define SIGNATURE	32		/* bytes in front of the function */
#define ROUNDS		3

extern const u8 disk_sectors[] __attribute__((visibility("hidden")));

static const struct {
	u64 value, instructions;
} function[2] = { { 0x1001, 4 }, { 0x2002, 13 } };	/* disk.asm */

static u8 chunk[CHUNK] __attribute__((aligned(4096)));
static u8 page[4096] __attribute__((aligned(4096)));
static EFI_BLOCK_IO_PROTOCOL *disk;
static EFI_LBA place;

static bool selftest_disk_read(EFI_BLOCK_IO_PROTOCOL *from, EFI_LBA at, void *to, UINTN bytes)
{
	return from->ReadBlocks(from, from->Media->MediaId, at, bytes, to) == EFI_SUCCESS;
}

static bool is_first_sector(const u8 *at)
{
	for (unsigned i = 0; i < SIGNATURE; i++)
		if (at[i] != disk_sectors[i])
			return false;
	return true;
}

static bool search(EFI_BLOCK_IO_PROTOCOL *on)
{
	EFI_BLOCK_IO_MEDIA *media = on->Media;

	if (!media->MediaPresent || media->LogicalPartition || media->BlockSize != SECTOR)
		return false;
	for (EFI_LBA at = 0; at + CHUNK / SECTOR <= media->LastBlock + 1; at += CHUNK / SECTOR) {
		if (!selftest_disk_read(on, at, chunk, CHUNK))
			return false;
		for (unsigned i = 0; i < CHUNK / SECTOR; i++)
			if (is_first_sector(chunk + i * SECTOR)) {
				disk = on;
				place = at + i;
				return true;
			}
	}
	return false;
}

bool disk_open(EFI_SYSTEM_TABLE *system)
{
	EFI_GUID guid = EFI_BLOCK_IO_PROTOCOL_GUID;
	EFI_BOOT_SERVICES *services = system->BootServices;
	EFI_HANDLE *handles;
	UINTN count = 0;

	if (services->LocateHandleBuffer(ByProtocol, &guid, NULL, &count, &handles) != EFI_SUCCESS)
		return false;
	for (UINTN i = 0; i < count && !disk; i++) {
		void *protocol;

		if (services->HandleProtocol(handles[i], &guid, &protocol) == EFI_SUCCESS)
			search(protocol);
	}
	services->FreePool(handles);
	return disk;
}

bool disk_read_to(u64 physical, u64 bytes)
{
	return selftest_disk_read(disk, place, (void *)physical, bytes);
}

static u64 selftest_disk_call(void)
{
	u64 (*code)(void) = (u64(*)(void))(void *)(page + SIGNATURE);

	return code();
}

static const char *selftest_disk_one(unsigned which, bool counting)
{
	struct smc_counts counts;
	u64 value;
	bool there;

	machine_hold();
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 3);
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, counting ? BIT(32) : 0);
	there = selftest_disk_read(disk, place + which, page, SECTOR);
	value = selftest_disk_call();
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	machine_release();
	if (!there)
		return "the disk can't be read";
	if (value != function[which].value)
		return "code that a device has written doesn't run";
	machine_enter();
	smc_measure((u64(*)(void *))(void *)(page + SIGNATURE), NULL, &counts);
	machine_leave();
	if (counts.result != function[which].value ||
	    counts.instructions != function[which].instructions || counts.branches != 1)
		return "code that a device has written counts wrong";
	return NULL;
}

const char *disk_check(void)
{
	const char *wrong = NULL;

	for (unsigned round = 0; round < 4 * ROUNDS && !wrong; round++)
		wrong = selftest_disk_one(round % 2, round / 2 % 2);
	return wrong;
}
