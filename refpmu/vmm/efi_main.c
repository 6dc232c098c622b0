/* SPDX-License-Identifier: MIT */
/*
 * refpmu.efi: reserve memory, copy this image there, let the copy make the boot processor its
 * guest, and return to the caller, which is a guest from then on and finds an Intel processor.
 * What is unloaded afterwards is only the original.
 *
 * The other processors become guests when their start-up IPI enters the guest (hv/processors.h).
 */
#include <efi.h>

#include "refpmu/hv/efi_processors.h"
#include "refpmu/hv/efi_version.h"
#include "refpmu/hv/nested_paging.h"
#include "refpmu/hv/svm.h"
#include "refpmu/vmm/virtualise.h"
#include "refpmu/hv/vmcb.h"
#include "spec/exerciser.h"
#include "spec/msr.h"

/* Of a processor, and for all. The sum is a power of two, aligned to itself: it must not cross a
 * GiB. */
#define MEMORY_SIZE	(15ULL << 20)
#define MEMORY_SHARED	(4ULL << 20)
#define MEMORY_LEAST	(32ULL << 20)
#define LOW_MEMORY_TOP	0x9ffffULL	/* what a SIPI can name, below the video memory */
#define MEMORY_TOP	0xffffffffULL
#define STACK_SIZE	(64ULL << 10)
#define REMOTE_SIZE	(1U << 20)	/* memory whose home is another package */
#define PAGE		4096ULL

#define VM_CR_SVMDIS	BIT(4)

/* What start.asm relocated; entries of the dynamic section. */
struct dynamic {
	u64 tag, value;
};
struct relocation {
	u64 offset, info;
	int64_t addend;
};
#define DT_RELA			7
#define DT_RELASZ		8
#define RELOCATION_RELATIVE	8

extern const u8 ImageBase[] __attribute__((visibility("hidden")));
extern const struct dynamic _DYNAMIC[] __attribute__((visibility("hidden")));

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

static EFI_STATUS refuse(EFI_SYSTEM_TABLE *system, CHAR16 *reason, EFI_STATUS status)
{
	system->ConOut->OutputString(system->ConOut, L"\r\nrefpmu: ");
	system->ConOut->OutputString(system->ConOut, reason);
	system->ConOut->OutputString(system->ConOut, L"\r\n");
	return status;
}

/* NULL: this processor can do it. */
static CHAR16 *missing(void)
{
	u32 regs[4];

	cpuid(0x80000000, 0, regs);
	if (regs[0] < 0x8000000a)
		return L"this processor has no AMD-V (SVM), or the reference PMU runs already; "
		       L"with QEMU use -cpu max";
	cpuid(0x80000001, 0, regs);
	if (!(regs[2] & BIT(2)))
		return L"this processor has no AMD-V (SVM); with QEMU use -cpu max";
	if (!(regs[3] & BIT(26)))
		return L"this processor has no 1 GiB pages; with QEMU use -cpu max";
	cpuid(0x8000000a, 0, regs);
	if (!(regs[3] & BIT(0)))
		return L"this processor has no nested paging; with QEMU use -cpu max";
	if (msr_read(MSR_AMD_VM_CR) & VM_CR_SVMDIS)
		return L"AMD-V (SVM) is switched off by the firmware";
	return NULL;
}

/* Aligned memory that no operating system will use; 0: there is none. */
static u64 reserve(EFI_BOOT_SERVICES *services, u64 size)
{
	EFI_PHYSICAL_ADDRESS first = MEMORY_TOP;
	u64 base, before, behind;

	if (services->AllocatePages(AllocateMaxAddress, EfiReservedMemoryType, 2 * size / PAGE,
				    &first) != EFI_SUCCESS)
		return 0;
	base = (first + size - 1) & ~(size - 1);
	before = base - first;
	behind = size - before;
	if (before)
		services->FreePages(first, before / PAGE);
	if (behind)
		services->FreePages(base + size, behind / PAGE);
	return base;
}

/* Addresses stored in the image point into the original: move them. */
static void relocate(u8 *copy)
{
	u64 table = 0, size = 0;

	for (const struct dynamic *d = _DYNAMIC; d->tag; d++) {
		if (d->tag == DT_RELA)
			table = d->value;
		else if (d->tag == DT_RELASZ)
			size = d->value;
	}
	for (u64 at = 0; at < size; at += sizeof(struct relocation)) {
		const struct relocation *r = (const void *)(ImageBase + table + at);

		if ((u32)r->info == RELOCATION_RELATIVE)
			*(u64 *)(void *)(copy + r->offset) = (u64)copy + (u64)r->addend;
	}
}

/*
 * Let programs find the exerciser (docs/EXERCISER.md). Without memory for it there is none: it is
 * optional.
 */
static void offer_exerciser(EFI_BOOT_SERVICES *services, struct virtualise_memory *memory)
{
	EFI_GUID guid = EXERCISER_GUID;
	EFI_PHYSICAL_ADDRESS remote = MEMORY_TOP;
	struct exerciser_table *table;

	if (services->AllocatePool(EfiReservedMemoryType, sizeof(*table), (void **)&table) !=
	    EFI_SUCCESS)
		return;
	if (services->AllocatePages(AllocateMaxAddress, EfiReservedMemoryType, REMOTE_SIZE / PAGE,
				    &remote) == EFI_SUCCESS) {
		memory->remote_base = remote;
		memory->remote_bytes = REMOTE_SIZE;
	}
	*table = (struct exerciser_table){
		.signature = EXERCISER_TABLE, .bytes = sizeof(*table), .registers = EXERCISER_PAGE,
	};
	services->InstallConfigurationTable(&guid, table);
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	EFI_GUID loaded_image_guid = LOADED_IMAGE_PROTOCOL;
	EFI_BOOT_SERVICES *services = system->BootServices;
	struct virtualise_memory memory = { .size = MEMORY_LEAST };
	EFI_PHYSICAL_ADDRESS startup = LOW_MEMORY_TOP;
	void (*entry)(void *, u64, u64);
	EFI_LOADED_IMAGE *loaded;
	CHAR16 *reason;
	u64 image_size;

	if (efi_version_asked(image, system))
		return EFI_SUCCESS;
	reason = missing();
	if (reason)
		return refuse(system, reason, EFI_UNSUPPORTED);
	if (services->HandleProtocol(image, &loaded_image_guid, (void **)&loaded) != EFI_SUCCESS)
		return refuse(system, L"the firmware doesn't know this image", EFI_LOAD_ERROR);
	image_size = (loaded->ImageSize + PAGE - 1) & ~(PAGE - 1);
	memory.others = efi_processors(services, memory.apic_ids, PROCESSORS_MAX - 1);
	while (memory.size < (memory.others + 1) * MEMORY_SIZE + MEMORY_SHARED)
		memory.size *= 2;
	if (memory.others && services->AllocatePages(AllocateMaxAddress, EfiReservedMemoryType, 1,
						     &startup) != EFI_SUCCESS)
		return refuse(system, L"there is no page below 640 KiB for starting processors",
			      EFI_OUT_OF_RESOURCES);
	memory.startup_page = memory.others ? startup : 0;
	memory.base = reserve(services, memory.size);
	if (!memory.base || image_size + STACK_SIZE > MEMORY_SHARED)
		return refuse(system, L"there isn't enough memory below 4 GiB: 32 MiB a processor",
			      EFI_OUT_OF_RESOURCES);
	memory.image_size = image_size;
	memory.free = memory.base + image_size + STACK_SIZE;
	offer_exerciser(services, &memory);

	services->SetMem((void *)memory.base, memory.size, 0);
	services->CopyMem((void *)memory.base, (void *)ImageBase, loaded->ImageSize);
	relocate((u8 *)memory.base);
	msr_write(MSR_IA32_EFER, msr_read(MSR_IA32_EFER) | EFER_SVME);
	entry = (void (*)(void *, u64, u64))(memory.base +
					     ((u64)virtualise_boot_processor - (u64)ImageBase));
	svm_launch(entry, (void *)memory.free, &memory);
	return EFI_SUCCESS;
}
