/* SPDX-License-Identifier: MIT */
/*
 * The hypervisor's state of one logical processor, and the state that all processors share.
 *
 * The VMCB and gpr[] hold the guest's state as the guest sees it whenever the guest isn't
 * running: no trap flag of ours, no interrupt flag hidden.
 */
#ifndef REFPMU_HV_CPU_H
#define REFPMU_HV_CPU_H

#include "refpmu/model/model.h"
#include "refpmu/hv/statistics.h"
#include "refpmu/hv/vmcb.h"

#define PAGE_SIZE	4096ULL
#define PAGE_TABLE_ENTRIES 512
#define PROCESSORS_MAX	16
#define CODE_PAGE_WRITTEN 8

struct engine_cpu;

/* Interrupts are held off for the one instruction after STI, MOV SS and POP SS. */
enum shadow { SHADOW_NONE, SHADOW_STI, SHADOW_MOV_SS };

/* Pages that the guest reads directly; its stores exit. */
enum trapped_page { TRAPPED_APIC, TRAPPED_EXERCISER, TRAPPED_PAGES };

/* Actions of the PMU, for docs/TRACE.md, each with its two numbers. */
enum trace_event {
	TRACE_ACTION,		/* enum model_action, counter */
	TRACE_PMI,		/* enum pmi_kind, vector */
	TRACE_RDMSR,		/* MSR, value */
	TRACE_WRMSR,
	TRACE_RDPMC,		/* ECX, value */
	TRACE_EVENTS
};

/* The translation of a page of the guest, for one kind of access (guest_memory.c). */
struct translation {
	u64 key;		/* linear address of the page, and the use */
	u64 physical, generation;	/* valid in this one */
	u8 bits, type;		/* of struct memory_page */
	bool global;
};

#define TRANSLATIONS	64
/* A processor's TLB for accesses that the hypervisor makes for the guest. */
struct translations {
	u64 cr0, cr3, cr4, efer;	/* that they were found with */
	u64 generation;
	struct translation page[TRANSLATIONS];
};

struct cpu {
	u8 apic_id;
	volatile u8 startup_vector;	/* of the last SIPI */
	struct cpu *sibling;	/* whose APIC id differs in the lowest bit, or NULL */
	/* Written only by this processor, except `running`, which the sender of an INIT clears
	 * (processors.h). */
	volatile bool running;	/* since its last SIPI: it may be called */
	volatile bool kicked;	/* an NMI is on its way to it */
	volatile bool halted;	/* and so retires none */
	u64 epoch;		/* of the configuration that its model has */
	u32 fault_changes;	/* those of hypervisor.fault_changes that it has seen */
	/* code_page.h: odd while its guest runs; the changes of nested tables that it has seen; the
	 * pages to which it has written for the guest since. */
	volatile u32 inside;
	u32 nested_changes;
	unsigned n_written;
	u64 written[CODE_PAGE_WRITTEN];
	u64 tsc_adjust;		/* IA32_TSC_ADJUST: a part of the VMCB's TSC offset */
	bool drives_tsc;	/* its reference clock does (guest_tsc.h), from this on */
	u64 reference_from;
	bool comes_late;	/* and has not been held yet since its start */
	struct vmcb *vmcb;
	void *host_save;
	struct vmcb *extra;	/* FS, GS, TR, LDTR, MSRs: filled by svm_save() on demand */
	u64 gpr[REG_COUNT];	/* RAX and RSP are copied from and to the VMCB around VMRUN */

	struct model model;
	struct model_host model_host;

	bool untrusted;		/* the engine runs it, although its model doesn't watch */
	bool stepping;		/* the VMCB's intercepts are those for single steps */
	enum shadow shadow;	/* of the instruction at RIP */
	u32 device_interrupts;	/* delivered by vmrun_take_interrupt(): memory may have changed */
	bool nmis_may_be_blocked;	/* one may have been delivered, and no IRET seen since */
	struct engine_cpu *engine;	/* the engine's own (engine/engine_cpu.h) */
	struct translations translations;

	u64 nested_root;	/* of its nested tables */
	u64 *trapped_entry[TRAPPED_PAGES];	/* their nested page table entries */
	volatile u32 *trapped_scratch;	/* stands in for one of them while a store is stepped, */
	enum trapped_page trapped_page;	/* for this one, */
	u32 trapped_offset;		/* and for this register of it */

	u64 host_cr0, host_cr4;	/* what the registers hold while the hypervisor runs */
	struct exit_statistics statistics;
};

/* The state that all processors share. Except the configuration it is written only before the first
 * VMRUN. */
struct hypervisor {
	u64 base, size;		/* the hidden memory, physical */
	u8 *free;		/* the rest of it */
	u8 *dummy_page;		/* what the guest finds in the hidden memory */
	u64 host_cr3;
	u8 *msr_permissions, *io_permissions;
	/* The launcher's latest configuration. A processor whose epoch differs adopts it at its
	 * next #VMEXIT. */
	struct model_config config;
	volatile u64 epoch;
	volatile u32 fault_changes;	/* of config.fault, since the first configuration */
	u32 wake_ups;		/* IPIs from one processor to another since then */
	bool several;		/* there is more than one processor */
	volatile u32 nested_changes;	/* number of changes of a page's rights */
	struct model_core *cores;	/* by number, as many as there are APIC ids */
	unsigned n_cores;
	struct model_uncore *uncore;	/* of the package: there is one */
	struct exerciser *exerciser;	/* a page */
	u64 remote_base;		/* memory whose home is another package */
	u32 remote_bytes;
	u32 telling;		/* lock of what is traced; NULL: nothing is */
	void (*trace)(struct cpu *cpu, enum trace_event event, u64 first, u64 second);
};
extern struct hypervisor hypervisor;

static inline void cpu_trace(struct cpu *cpu, enum trace_event event, u64 first, u64 second)
{
	if (hypervisor.trace)
		hypervisor.trace(cpu, event, first, second);
}

/* Zeroed pages of the hidden memory, never freed. Before the first VMRUN only; ends the machine
 * with a line on the serial port when there are none left. */
void *hypervisor_pages(unsigned pages);

/*
 * The same, for pages that are accessed at each exit. The TLB of QEMU's TCG is a direct-mapped
 * table, so two pages with the same place in it replace each other at each access. The first `hot`
 * of these pages get places of their own while there are free ones. A processor has one struct
 * tlb_places, initially zero, in which it first notes the other pages that it accesses.
 */
#define TLB_PLACES	256
struct tlb_places {
	u64 taken[TLB_PLACES / 64];
};
void hypervisor_note_places(struct tlb_places *places, const void *first, const void *end);
void *hypervisor_pages_apart(struct tlb_places *places, unsigned pages, unsigned hot);

static inline bool cpu_long_mode(const struct cpu *cpu)
{
	return cpu->vmcb->save.efer & EFER_LMA;
}

/* 64-bit code, as opposed to compatibility and legacy modes. */
static inline bool cpu_64bit_code(const struct cpu *cpu)
{
	return cpu_long_mode(cpu) && (cpu->vmcb->save.cs.attributes & SEG_L);
}

static inline u8 cpu_cpl(const struct cpu *cpu)
{
	return cpu->vmcb->save.cpl;
}

/* Linear address of the instruction at RIP. */
static inline u64 cpu_code_address(const struct cpu *cpu)
{
	const struct vmcb_save *save = &cpu->vmcb->save;

	return cpu_64bit_code(cpu) ? save->rip : (u32)(save->cs.base + save->rip);
}

/* Move RIP after an instruction of `bytes` bytes. */
static inline void cpu_skip(struct cpu *cpu, unsigned bytes)
{
	u64 rip = cpu->vmcb->save.rip + bytes;

	cpu->vmcb->save.rip = cpu_64bit_code(cpu) ? rip : (u32)rip;
}

#endif
