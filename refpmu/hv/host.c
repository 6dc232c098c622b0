/* SPDX-License-Identifier: MIT */
/* The hypervisor's own tables. APM volume 2, "Long-Mode Page Translation", "Interrupts". */
#include "refpmu/hv/deliver.h"
#include "refpmu/hv/host.h"
#include "refpmu/hv/panic.h"
#include "refpmu/hv/svm.h"

#define ENTRY		(PTE_P | PTE_W)
#define ENTRY_LARGE	(ENTRY | PTE_PS)

#define HOST_CS	0x08
#define HOST_DS	0x10

/* The bits for which cpu_x86_update_cr4() flushes, without those that can't change in long mode. */
#define CR4_MATCHED	(CR4_PSE | CR4_PGE | CR4_SMEP | CR4_SMAP)

#define FIRST_INTERRUPT	16	/* SDM volume 3, "Valid Interrupt Vectors" */

/* Not in the image, which may be destroyed. */
static struct host_tables {
	struct {
		u64 low, high;
	} idt[256];
	u64 gdt[3];
} *tables;

static void build_page_tables(void)
{
	u64 *level5 = hypervisor_pages(1), *level4 = hypervisor_pages(1);
	u64 *level3 = hypervisor_pages(1);
	bool la57 = READ_REGISTER(cr4) & CR4_LA57;

	level5[0] = (u64)level4 | ENTRY;
	level4[0] = (u64)level3 | ENTRY;
	for (u64 i = 0; i < PAGE_TABLE_ENTRIES; i++)
		level3[i] = i << 30 | ENTRY_LARGE;
	hypervisor.host_cr3 = (u64)(la57 ? level5 : level4);
}

/* Interrupts and NMIs need the stubs of the image that waits for them: svm.asm. */
static u64 stub_of(unsigned vector, u64 second_image)
{
	u64 stub = (u64)host_stubs + 16 * vector;

	if (vector >= FIRST_INTERRUPT || vector == VECTOR_NMI)
		return stub;
	return stub - hypervisor.base + second_image;
}

void host_init(u64 image_size)
{
	void *second_image = hypervisor_pages((unsigned)((image_size + PAGE_SIZE - 1) / PAGE_SIZE));

	build_page_tables();
	tables = hypervisor_pages((sizeof(*tables) + PAGE_SIZE - 1) / PAGE_SIZE);
	__builtin_memcpy(second_image, (void *)hypervisor.base, image_size);
	tables->gdt[HOST_CS / 8] = 0x00af9b000000ffff;
	tables->gdt[HOST_DS / 8] = 0x00cf93000000ffff;
	for (unsigned v = 0; v < 256; v++) {
		u64 stub = stub_of(v, (u64)second_image);

		tables->idt[v].low = (stub & 0xffff) | (u64)HOST_CS << 16 | 0x8eULL << 40 |
				     (stub & 0xffff0000) << 32;
		tables->idt[v].high = stub >> 32;
	}
}

void host_load(struct cpu *cpu)
{
	struct descriptor_table gdtr = { sizeof(tables->gdt) - 1, (u64)tables->gdt };
	struct descriptor_table idtr = { sizeof(tables->idt) - 1, (u64)tables->idt };

	WRITE_REGISTER(cr3, hypervisor.host_cr3);
	load_descriptor_tables(&gdtr, &idtr, HOST_CS, HOST_DS);
	cpu->host_cr0 = READ_REGISTER(cr0);
	cpu->host_cr4 = READ_REGISTER(cr4);
}

void host_match_control_registers(struct cpu *cpu)
{
	u64 cr0 = (cpu->host_cr0 & ~CR0_WP) | (cpu->vmcb->save.cr0 & CR0_WP);
	u64 cr4 = (cpu->host_cr4 & ~CR4_MATCHED) | (cpu->vmcb->save.cr4 & CR4_MATCHED);

	if (cr0 != cpu->host_cr0) {
		WRITE_REGISTER(cr0, cr0);
		cpu->host_cr0 = cr0;
	}
	if (cr4 != cpu->host_cr4) {
		WRITE_REGISTER(cr4, cr4);
		cpu->host_cr4 = cr4;
	}
}
