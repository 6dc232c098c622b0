/* SPDX-License-Identifier: MIT */
/* See install.h. */
#include "refpmu/hv/nested_paging.h"
#include "refpmu/hv/svm.h"
#include "refpmu/hv/vmcb.h"
#include "refpmu/vmm/install.h"
#include "spec/msr.h"

/* Of a processor, and for all. The sum is a power of two, aligned to itself: it must not cross a
 * GiB. */
#define MEMORY_SIZE	(24ULL << 20)
#define MEMORY_SHARED	(4ULL << 20)
#define MEMORY_LEAST	(32ULL << 20)
#define STACK_SIZE	(64ULL << 10)

#define VM_CR_SVMDIS	BIT(4)

/* What platform/relocate.asm relocated; entries of the dynamic section. */
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

const char *install_missing(void)
{
	u32 regs[4];

	cpuid(0x80000000, 0, regs);
	if (regs[0] < 0x8000000a)
		return "this processor has no AMD-V (SVM), or the reference PMU runs already; "
		       "with QEMU use -cpu max";
	cpuid(0x80000001, 0, regs);
	if (!(regs[2] & BIT(2)))
		return "this processor has no AMD-V (SVM); with QEMU use -cpu max";
	if (!(regs[3] & BIT(26)))
		return "this processor has no 1 GiB pages; with QEMU use -cpu max";
	cpuid(0x8000000a, 0, regs);
	if (!(regs[3] & BIT(0)))
		return "this processor has no nested paging; with QEMU use -cpu max";
	if (msr_read(MSR_AMD_VM_CR) & VM_CR_SVMDIS)
		return "AMD-V (SVM) is switched off by the firmware";
	return NULL;
}

u64 install_size(unsigned others)
{
	u64 size = MEMORY_LEAST;

	while (size < (others + 1) * MEMORY_SIZE + MEMORY_SHARED)
		size *= 2;
	return size;
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

bool install(struct virtualise_memory *memory, u64 image_bytes)
{
	memory->image_size = (image_bytes + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
	if (memory->image_size + STACK_SIZE > MEMORY_SHARED)
		return false;
	memory->free = memory->base + memory->image_size + STACK_SIZE;
	__builtin_memset((void *)memory->base, 0, memory->size);
	__builtin_memcpy((void *)memory->base, ImageBase, image_bytes);
	relocate((u8 *)memory->base);
	if (memory->at_end)
		memory->at_end = (void (*)(struct cpu *, u32))(
			memory->base + ((u64)memory->at_end - (u64)ImageBase));
	return true;
}

void install_begin(struct virtualise_memory *memory)
{
	void (*entry)(void *, u64, u64);

	msr_write(MSR_IA32_EFER, msr_read(MSR_IA32_EFER) | EFER_SVME);
	entry = (void (*)(void *, u64, u64))(memory->base +
					     ((u64)virtualise_boot_processor - (u64)ImageBase));
	svm_launch(entry, (void *)memory->free, memory);
}
