/* SPDX-License-Identifier: MIT */
/* See virtualise.h. APM volume 2, "VMRUN Instruction", "Enabling SVM". */
#include "refpmu/virtualise.h"

#include "refpmu/engine_block.h"
#include "refpmu/exits.h"
#include "refpmu/guest_memory.h"
#include "refpmu/host.h"
#include "refpmu/nested_paging.h"
#include "refpmu/panic.h"
#include "refpmu/segment.h"
#include "refpmu/svm.h"

#define MSR_PAT			0x277
#define MSR_PERMISSION_PAGES	2
#define IO_PERMISSION_PAGES	3
#define RFLAGS_FIXED		BIT(1)

struct hypervisor hypervisor;

void *hypervisor_pages(unsigned pages)
{
	u8 *first = hypervisor.free;

	hypervisor.free += pages * PAGE_SIZE;
	if ((u64)hypervisor.free > hypervisor.base + hypervisor.size)
		panic("out of memory of its own (pages)", 1, pages, 0, 0, 0);
	return first;
}

static void init_segment(struct vmcb_segment *segment, u16 selector, u64 gdt)
{
	*segment = (struct vmcb_segment){ .selector = selector };
	if (selector & ~3u)
		segment_unpack(*(u64 *)(gdt + (selector & ~7u)), selector, segment);
}

/* The guest goes on where the firmware is. Host and firmware share all that VMRUN doesn't load. */
static void init_guest_state(struct cpu *cpu, u64 rip, u64 rsp)
{
	struct vmcb_save *save = &cpu->vmcb->save;
	struct descriptor_table gdtr, idtr;

	__asm__ volatile("sgdt %0" : "=m"(gdtr));
	__asm__ volatile("sidt %0" : "=m"(idtr));
	init_segment(&save->es, (u16)READ_REGISTER(es), gdtr.base);
	init_segment(&save->cs, (u16)READ_REGISTER(cs), gdtr.base);
	init_segment(&save->ss, (u16)READ_REGISTER(ss), gdtr.base);
	init_segment(&save->ds, (u16)READ_REGISTER(ds), gdtr.base);
	save->gdtr.limit = gdtr.limit;
	save->gdtr.base = gdtr.base;
	save->idtr.limit = idtr.limit;
	save->idtr.base = idtr.base;
	save->efer = msr_read(MSR_AMD_EFER);
	save->cr0 = READ_REGISTER(cr0);
	save->cr2 = READ_REGISTER(cr2);
	save->cr3 = READ_REGISTER(cr3);
	save->cr4 = READ_REGISTER(cr4);
	save->dr6 = READ_REGISTER(dr6);
	save->dr7 = READ_REGISTER(dr7);
	save->g_pat = msr_read(MSR_PAT);
	save->rflags = RFLAGS_FIXED;
	save->rip = rip;
	save->rsp = rsp;
	cpu->gpr[REG_RSP] = rsp;
}

static void init_control(struct cpu *cpu)
{
	struct vmcb_control *control = &cpu->vmcb->control;

	control->intercept_misc1 = (u32)(INTERCEPT_CPUID | INTERCEPT_RDPMC | INTERCEPT_MSR |
					 INTERCEPT_SHUTDOWN);
	control->intercept_misc2 = INTERCEPT_SVM;
	control->msrpm_base = (u64)hypervisor.msr_permissions;
	control->iopm_base = (u64)hypervisor.io_permissions;
	control->asid = 1;
}

static void init_model(struct cpu *cpu)
{
	static const struct model_config config = {
		.generation = GEN_HASWELL, .hyper_threading = true, .fault = FAULT_NONE,
	};

	cpu->model_host = (struct model_host){
		.ctx = cpu, .read = guest_model_read, .write = guest_model_write,
		.pmi = exit_apic_pmi, .translate = guest_model_translate,
		.memory = hypervisor_pages((unsigned)((sizeof(struct memory) + PAGE_SIZE - 1) /
						      PAGE_SIZE)),
	};
	exit_hypercall_reset(cpu, &config);
}

static struct cpu *new_cpu(void)
{
	unsigned pages = (unsigned)((sizeof(struct cpu) + PAGE_SIZE - 1) / PAGE_SIZE);
	struct cpu *cpu = hypervisor_pages(pages);

	cpu->vmcb = hypervisor_pages(1);
	cpu->extra = hypervisor_pages(1);
	cpu->apic_scratch = hypervisor_pages(1);
	nested_paging_init(cpu);
	decode_init(cpu);
	engine_block_init(cpu);
	return cpu;
}

void virtualise_boot_processor(void *memory, u64 rip, u64 rsp)
{
	const struct virtualise_memory *given = memory;
	struct cpu *cpu;

	__asm__ volatile("clgi");
	hypervisor.base = given->base;
	hypervisor.size = given->size;
	hypervisor.free = (u8 *)given->free;
	hypervisor.dummy_page = hypervisor_pages(1);
	hypervisor.msr_permissions = hypervisor_pages(MSR_PERMISSION_PAGES);
	hypervisor.io_permissions = hypervisor_pages(IO_PERMISSION_PAGES);
	exit_msr_permissions(hypervisor.msr_permissions);
	host_init();

	cpu = new_cpu();
	init_guest_state(cpu, rip, rsp);
	init_control(cpu);
	init_model(cpu);
	msr_write(MSR_AMD_VM_HSAVE_PA, (u64)hypervisor_pages(1));
	host_load(cpu);
	exits_run(cpu);
}
