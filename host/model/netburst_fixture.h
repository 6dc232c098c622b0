/* SPDX-License-Identifier: MIT */
/*
 * A bench for NetBurst: the two logical processors of a core, each with its model, registers, DS
 * area and local APIC, over one piece of memory. They run in the order in which a test says.
 */
#ifndef HOST_MODEL_NETBURST_FIXTURE_H
#define HOST_MODEL_NETBURST_FIXTURE_H

#include "refpmu/faults/fault.h"
#include "refpmu/model/core.h"
#include "refpmu/model/netburst/netburst.h"

#define NBFIXTURE_BASE	0x10000000ULL		/* linear address of memory[0] */
#define NBFIXTURE_MEMORY	0x8000
#define NBFIXTURE_DS(t)	(NBFIXTURE_BASE + 0x1000ULL * (t))
#define NBFIXTURE_BUFFER(t)	(NBFIXTURE_BASE + 0x2000 + 0x1000ULL * (t))
#define NBFIXTURE_DATA	(NBFIXTURE_BASE + 0x4000)

struct netburst_fixture {
	struct model m[2];
	struct model_host host[2];
	struct netburst shared;
	struct model_core core;
	u8 memory[NBFIXTURE_MEMORY];
	struct model_registers regs[2];
	u64 ip[2];
	bool legacy;			/* instructions run outside IA-32e mode */
	u8 user_cpl;			/* of instructions at user level: 3 */
	unsigned requests[2];		/* calls of host.pmi */
	unsigned called;		/* calls of host.call */
	struct memory hierarchy;
};

/* Power on; without Hyper-Threading there is logical processor 0 only. */
void nbfixture_open(struct netburst_fixture *r, enum fault_id fault, bool hyper_threading);
void nbfixture_open_config(struct netburst_fixture *r, const struct model_config *config, bool two);

/* WRMSR by logical processor t: it retires unless it faults. */
enum msr_status nbfixture_wrmsr(struct netburst_fixture *r, unsigned t, u32 msr, u64 value);
/* Must succeed. RDMSR doesn't retire. */
void nbfixture_set(struct netburst_fixture *r, unsigned t, u32 msr, u64 value);
u64 nbfixture_get(struct netburst_fixture *r, unsigned t, u32 msr);

/* Instructions of logical processor t at CPL 3 or 0. */
void nbfixture_retire(struct netburst_fixture *r, unsigned t, bool user, struct model_retired *i);
void nbfixture_nops(struct netburst_fixture *r, unsigned t, bool user, unsigned n);
void nbfixture_load(struct netburst_fixture *r, unsigned t, u64 linear);
void nbfixture_store(struct netburst_fixture *r, unsigned t, u64 linear);
void nbfixture_branch(struct netburst_fixture *r, unsigned t, enum model_branch branch, bool taken);
void nbfixture_compute(struct netburst_fixture *r, unsigned t, bool user,
		       enum model_arithmetic what);
void nbfixture_halt(struct netburst_fixture *r, unsigned t);

/* DS areas of both in the 64-bit form: number of records, record of the threshold, reset value. */
void nbfixture_ds(struct netburst_fixture *r, unsigned records, unsigned threshold, u64 reset);
u64 nbfixture_peek(const struct netburst_fixture *r, u64 linear, unsigned bytes);
void nbfixture_poke(struct netburst_fixture *r, u64 linear, u64 value, unsigned bytes);
/* Records by the index of logical processor t, and a field of record n. */
unsigned nbfixture_records(const struct netburst_fixture *r, unsigned t);
u64 nbfixture_record(const struct netburst_fixture *r, unsigned t, unsigned n, unsigned offset);

#endif
