/* SPDX-License-Identifier: MIT */
/* See virtualise.h. APM volume 2, "VMRUN Instruction", "Enabling SVM". */
#include "refpmu/vmm/virtualise.h"

#include "refpmu/hv/code_page.h"
#include "refpmu/hv/deliver.h"
#include "refpmu/engine/engine.h"
#include "refpmu/engine/exits.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/hv/guest_tsc.h"
#include "refpmu/hv/host.h"
#include "refpmu/hv/lock.h"
#include "refpmu/model/netburst/state.h"
#include "refpmu/hv/nested_paging.h"
#include "refpmu/hv/processors.h"
#include "refpmu/hv/segment.h"
#include "refpmu/engine/siblings.h"
#include "refpmu/hv/svm.h"
#include "refpmu/engine/transaction.h"
#include "refpmu/hv/vmrun.h"
#include "refpmu/engine/configuration.h"
#include "refpmu/vmm/exit_hypercall.h"
#include "refpmu/vmm/main_loop.h"
#include "refpmu/vmm/trace.h"
#include "refpmu/vmm/vectors.h"
#include "spec/msr.h"

#define LEAF_VERSION		1
#define MSR_PERMISSION_PAGES	2
#define IO_PERMISSION_PAGES	3
#define MEMORY_HOT_PAGES	3	/* its shape, and what the first core has first */
#define STACK_IN_USE		(2 * PAGE_SIZE)	/* usually */

/* SDM volume 3, "IA-32 Processor States Following Power-up, Reset, or INIT". */
#define REAL_LIMIT		0xffff
#define CR0_STARTED		0x60000010
#define DR6_STARTED		0xffff0ff0
#define DR7_STARTED		0x400

#define PVH_CODE		0x08
#define PVH_DATA		0x10

/* exit_info_1 of an access to a port: "IOIO Intercept Information". */
#define PORT_IN			BIT(0)
#define PORT_BYTES(info)	((info) >> 4 & 7)

/* Of the copy that this runs in: its tables and variables. */
extern const u8 _etext[] __attribute__((visibility("hidden")));
extern const u8 _edata[] __attribute__((visibility("hidden")));

static struct {
	u16 port;
	void (*fn)(struct cpu *cpu, u32 value);
} end;

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
	save->efer = msr_read(MSR_IA32_EFER);
	save->cr0 = READ_REGISTER(cr0);
	save->cr2 = READ_REGISTER(cr2);
	save->cr3 = READ_REGISTER(cr3);
	save->cr4 = READ_REGISTER(cr4);
	save->dr6 = READ_REGISTER(dr6);
	save->dr7 = READ_REGISTER(dr7);
	save->g_pat = msr_read(MSR_IA32_PAT);
	save->rflags = RFLAGS_FIXED;
	save->rip = rip;
	save->rsp = rsp;
	cpu->gpr[REG_RSP] = rsp;
}

/*
 * A PVH entry: Xen, "x86/HVM direct boot ABI". Flat segments, paging off, EBX at the start info.
 * FS, GS, TR and LDTR are as the loader has left them to us.
 */
static void init_pvh_state(struct cpu *cpu, u32 entry, u32 start_info)
{
	const struct vmcb_segment data = {
		.selector = PVH_DATA, .limit = ~(u32)0,
		.attributes = SEG_P | SEG_S | SEG_WRITABLE | SEG_ACCESSED | SEG_DB | SEG_G,
	};
	struct vmcb_save *save = &cpu->vmcb->save;

	*save = (struct vmcb_save){ .es = data, .cs = data, .ss = data, .ds = data };
	save->cs.selector = PVH_CODE;
	save->cs.attributes |= SEG_CODE;
	save->efer = EFER_SVME;
	save->cr0 = CR0_PE | CR0_ET;
	save->dr6 = DR6_STARTED;
	save->dr7 = DR7_STARTED;
	save->g_pat = msr_read(MSR_IA32_PAT);
	save->rflags = RFLAGS_FIXED;
	save->rip = entry;
	cpu->gpr[REG_RBX] = start_info;
}

static void init_control(struct cpu *cpu)
{
	struct vmcb_control *control = &cpu->vmcb->control;

	control->intercept_misc1 = (u32)(INTERCEPT_CPUID | INTERCEPT_RDPMC | INTERCEPT_MSR |
					 INTERCEPT_INVLPGA | INTERCEPT_SHUTDOWN);
	control->intercept_misc2 = INTERCEPT_SVM;
	control->msrpm_base = (u64)hypervisor.msr_permissions;
	control->iopm_base = (u64)hypervisor.io_permissions;
	control->asid = 1;
	if (end.port)
		control->intercept_misc1 |= (u32)INTERCEPT_IOIO;
}

/* What INIT and SIPI leave. FS, GS, TR and LDTR are in the processor; EFER.SVME isn't the guest's.
 * The PMU is as it was before. */
static void init_started_state(struct cpu *cpu)
{
	const struct vmcb_segment segment = {
		.attributes = SEG_P | SEG_S | SEG_WRITABLE | SEG_ACCESSED, .limit = REAL_LIMIT,
	};
	struct vmcb_save *save = &cpu->vmcb->save;
	u32 regs[4];

	*save = (struct vmcb_save){ .es = segment, .cs = segment, .ss = segment, .ds = segment };
	save->cs.attributes |= SEG_CODE;
	save->cs.selector = (u16)(cpu->startup_vector << 8);
	save->cs.base = (u64)cpu->startup_vector << 12;
	save->gdtr.limit = save->idtr.limit = REAL_LIMIT;
	save->efer = EFER_SVME;
	save->cr0 = CR0_STARTED;
	save->dr6 = DR6_STARTED;
	save->dr7 = DR7_STARTED;
	save->g_pat = msr_read(MSR_IA32_PAT);
	save->rflags = RFLAGS_FIXED;
	for (unsigned i = 0; i < REG_COUNT; i++)
		cpu->gpr[i] = 0;
	cpuid(LEAF_VERSION, 0, regs);
	model_cpuid(&cpu->model, LEAF_VERSION, 0, regs);
	cpu->gpr[REG_RDX] = regs[0];
}

/* The processors share one memory hierarchy. */
static u64 time_stamp_for_model(void *ctx)
{
	return guest_tsc(ctx);
}

static void init_model(struct cpu *cpu, struct tlb_places *places)
{
	static struct netburst *netburst;
	static struct memory *memory;

	if (!netburst)
		netburst = hypervisor_pages(
			(unsigned)((PROCESSORS_MAX * sizeof(*netburst) + PAGE_SIZE - 1) /
				   PAGE_SIZE));
	if (!memory)
		memory = hypervisor_pages_apart(places,
						(unsigned)((sizeof(*memory) + PAGE_SIZE - 1) /
							   PAGE_SIZE),
						MEMORY_HOT_PAGES);
	cpu->model_host = (struct model_host){
		.ctx = cpu, .read = guest_model_read, .write = guest_model_write,
		.write_physical = guest_model_write_physical,
		.lvtpc = exit_apic_lvtpc, .deliver = exit_apic_deliver,
		.translate = guest_model_translate,
		.memory = memory,
		.remote_base = hypervisor.remote_base, .remote_bytes = hypervisor.remote_bytes,
		.exerciser = hypervisor.exerciser, .cacheable = guest_model_cacheable,
		.lock = lock_model, .unlock = unlock_model,
		.kick = siblings_kick_for_model,
		.tx_log = hypervisor_pages(
			(unsigned)((sizeof(struct tx_log) + PAGE_SIZE - 1) / PAGE_SIZE)),
		.registers = transaction_registers,
		.netburst = netburst,
		.xmm = vectors_xmm,
		.ymmh = vectors_ymmh,
		.tsc = time_stamp_for_model,
		.trace = trace_model,
	};
}

/* The hypervisor's stack on that processor ends there. */
static struct cpu *new_cpu(const u8 *stack_top)
{
	unsigned pages = (unsigned)((sizeof(struct cpu) + PAGE_SIZE - 1) / PAGE_SIZE);
	struct tlb_places places = { { 0 } };
	struct cpu *cpu;

	hypervisor_note_places(&places, _etext, _edata);
	hypervisor_note_places(&places, stack_top - STACK_IN_USE, stack_top);
	cpu = hypervisor_pages_apart(&places, pages, pages);

	cpu->vmcb = hypervisor_pages_apart(&places, 1, 1);
	cpu->extra = hypervisor_pages(1);
	cpu->trapped_scratch = hypervisor_pages(1);
	cpu->host_save = hypervisor_pages(1);
	nested_paging_init(cpu);
	engine_init(cpu, &places);
	init_control(cpu);
	init_model(cpu, &places);
	return cpu;
}

static _Noreturn void virtualise_run(struct cpu *cpu)
{
	msr_write(MSR_AMD_VM_HSAVE_PA, (u64)cpu->host_save);
	host_load(cpu);
	/* For NX in nested tables. */
	msr_write(MSR_IA32_EFER, msr_read(MSR_IA32_EFER) | EFER_NXE);
	main_loop(cpu);
}

/* For processors_init(). The guest begins in the state that INIT and SIPI leave. */
static void virtualise_other_processor(u32 apic_id)
{
	struct cpu *cpu = processors_find(apic_id);
	struct vmcb_control *control = &cpu->vmcb->control;
	u64 nested_control = control->nested_control, tsc_offset = control->tsc_offset;

	/* An INIT may have come in the middle of anything. */
	*control = (struct vmcb_control){ .nested_control = nested_control,
					  .nested_cr3 = cpu->nested_root,
					  .tsc_offset = tsc_offset };
	init_control(cpu);
	cpu->stepping = false;
	cpu->shadow = SHADOW_NONE;
	nested_paging_trap_again(cpu);
	engine_forget(cpu);
	processors_started(cpu);
	code_page_started(cpu);
	configuration_follow(cpu);
	init_started_state(cpu);
	vmrun_set_intercepts(cpu, false);
	virtualise_run(cpu);
}

/* That one, or the next fastest that there is. */
static void choose_engine(const struct cpu *cpu, enum engine_name engine)
{
	while (engine != ENGINE_STEP && !engine_choose(cpu, engine))
		engine--;
}

/* No other port is intercepted. Reading it reads an empty bus. */
static bool access_end_port(struct cpu *cpu)
{
	u64 info = cpu->vmcb->control.exit_info_1;
	u64 mask = BITS(0, 8 * PORT_BYTES(info) - 1);

	if (!(info & PORT_IN))
		end.fn(cpu, (u32)(cpu->gpr[REG_RAX] & mask));
	cpu->gpr[REG_RAX] |= mask;
	return true;
}

static void catch_end(const struct virtualise_memory *given)
{
	if (!given->end_port)
		return;
	end.port = given->end_port;
	end.fn = given->at_end;
	hypervisor.io_permissions[end.port / 8] |= (u8)(1u << end.port % 8);
	exits_on_port(access_end_port);
}

void virtualise_boot_processor(void *memory, u64 rip, u64 rsp)
{
	const struct virtualise_memory *given = memory;
	static const struct model_config config = {
		.generation = GEN_HASWELL, .hyper_threading = true, .fault = FAULT_NONE,
	};
	struct cpu *cpu;
	u32 regs[4];

	__asm__ volatile("clgi");
	hypervisor.base = given->base;
	hypervisor.size = given->size;
	hypervisor.free = (u8 *)given->free;
	hypervisor.several = given->others;
	hypervisor.dummy_page = hypervisor_pages(1);
	hypervisor.exerciser = hypervisor_pages(1);
	hypervisor.remote_base = given->remote_base;
	hypervisor.remote_bytes = given->remote_bytes;
	hypervisor.msr_permissions = hypervisor_pages(MSR_PERMISSION_PAGES);
	hypervisor.io_permissions = hypervisor_pages(IO_PERMISSION_PAGES);
	exit_msr_permissions(hypervisor.msr_permissions);
	exits_on_vmmcall(exit_hypercall);
	trace_switch(given->trace);
	catch_end(given);
	host_init(given->image_size);
	nested_paging_init_native();

	cpu = new_cpu((u8 *)given->free);
	if (given->entry)
		init_pvh_state(cpu, given->entry, given->start_info);
	else
		init_guest_state(cpu, rip, rsp);
	cpuid(LEAF_VERSION, 0, regs);
	cpu->apic_id = (u8)(regs[1] >> 24);
	processors_add(cpu);
	deliver_in_transactions(transaction_swallows);
	processors_init(given->startup_page, given->apic_ids, given->others, new_cpu,
			virtualise_other_processor);
	code_page_init();
	configuration_reset(cpu, given->config ? given->config : &config);
	if (given->config)
		choose_engine(cpu, given->engine);
	virtualise_run(cpu);
}
