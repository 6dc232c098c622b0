/* SPDX-License-Identifier: MIT */
/*
 * The model's state. Only model.h includes this file, and only refpmu/model/ uses the members. The
 * state has no pointer into itself, so that a test may copy and compare it.
 */
#ifndef REFPMU_MODEL_STATE_H
#define REFPMU_MODEL_STATE_H

#define MODEL_MAX_REQUESTS	16
#define MODEL_RECORD_BYTES	0x580	/* all groups of spec/adaptive.def */
#define MODEL_NO_COUNTER	0xff
#define MODEL_METRICS		4	/* categories of MSR_PERF_METRICS */

/*
 * These two structures have no padding. Tests compare whole models byte by byte; the structures are
 * assigned as a whole, and a copy may put anything into padding.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"

/* The setting of a counter: its control registers, decoded at every change of one of them. */
struct model_rule {
	u16 flags;		/* enum event_flags of the event */
	u16 kind;		/* enum event_kind; EK_NONE: counts nothing */
	u8 cmask;
	bool os, usr, edge, invert;
	bool any;		/* AnyThread */
	bool in_tx, in_txcp;	/* transactions only; without the counts of an aborted one */
	bool interrupt;		/* PERFEVTSELx.INT, or the PMI bit of a fixed counter */
	bool pebs;		/* enabled for PEBS, with an event that can make a record */
	bool adaptive;		/* its records have the groups of MSR_PEBS_DATA_CFG */
	bool equal;		/* cycles with exactly CMASK events, not with CMASK or more */
};

struct model_counter {
	u64 value;
	struct model_rule rule;
	bool condition;		/* of the last cycle: edge detection compares with it */
	bool armed;		/* wrapped with PEBS enabled: a later event starts the assist */
	bool pmi_deferred;	/* its overflow interrupt waits for that assist */
	u8 shadow;		/* events that still pass without the assist (latitude) */
	bool misses;		/* an event was dropped last: latitude counters-need-setup */
	bool near;		/* preset less than PDIST_LEAST_PERIOD before its overflow */
	u8 unused[2];
};

#pragma GCC diagnostic pop

/* One performance-monitoring interrupt. */
struct pmi {
	u8 action;		/* enum model_action: its reason */
	u8 counter;
	bool second;		/* of two separate ones: the overflow's, after the threshold's */
};

/* The outcome of a tagged load. */
struct tagged_load {
	bool valid;
	u8 source;		/* enum memory_source */
	bool stlb_miss, locked;
	bool blocked;		/* by a store in front of it: only in faults */
	u32 latency;
	u64 linear;
};

/* Last branch records: the contents of an entry's registers. */
#define MODEL_LBR_ENTRIES	32
#define MODEL_LBR_CORE2		4	/* entries of Core 2, at other addresses */
#define MODEL_LBR_LOGGED	4	/* counters whose events entries can have */
struct lbr_entry {
	u64 from, to, info;
};

/* The uncore of Nehalem and Westmere: eight counters, and a fixed one after them. */
#define UNCORE_GP	8
#define UNCORE_COUNTERS	(UNCORE_GP + 1)

/* Processors with numbers below this can share one uncore. Others have their own, which interrupts
 * no other processor. */
#define UNCORE_PROCESSORS 64

struct model_uncore {
	u32 lock;		/* the host's: see model_host.lock */
	u64 global_ctrl, global_status, fixed_ctr_ctrl, match;
	u64 perfevtsel[UNCORE_GP];
	struct model_counter counter[UNCORE_COUNTERS];
	u64 active;		/* bit n: counter n counts */
	bool watches;		/* a counter depends on where data comes from */
	unsigned enabled_by;	/* the processor that wrote the enables last */
	/* Bit n is processor n: */
	u64 present;		/* belongs to this uncore, in this configuration */
	u64 listens;		/* has set IA32_DEBUGCTL[13] */
	u64 signalled;		/* will be interrupted, by `signal`: */
	struct {
		u8 times, counter;
	} signal[UNCORE_PROCESSORS];
};

struct model {
	struct model_config config;
	const struct model_host *host;
	unsigned core, thread;	/* number of its core in the package; number in that core */
	u8 package;  /* the generation of the P-cores, or of all; config.generation is its own */
	bool has_e_cores;	/* the package also has E-cores */
	unsigned paired;	/* of this many processors, from 0 on, two share a core */
	u32 latitude[LAT_COUNT];
	u32 facts;		/* of the profile, enum profile_fact */
	u64 random;		/* generator of the latitude that differs from case to case */

	/* registers */
	u64 perfevtsel[MODEL_MAX_GP];
	u64 fixed_ctr_ctrl, global_ctrl, global_status, pebs_enable;
	u64 ld_lat_threshold, ds_area, debugctl, misc_enable, perf_capabilities;
	u64 offcore_rsp[2];
	u64 pebs_frontend, tsx_force_abort, unc_global_ctrl;
	u64 pebs_data_cfg;
	/* The registers from 1900H on: cfg_b: the counters that reload this one; cfg_c: the value
	 * that is reloaded, and the groups of the counter's records. */
	u64 cfg_b[MODEL_MAX_COUNTERS], cfg_c[MODEL_MAX_COUNTERS];
	u64 pebs_base, pebs_index;
	u16 record_bytes;	/* of the adaptive record that is or was written last */
	struct {
		u64 select;
		u64 control;	/* architectural ones: IA32_LBR_CTL, IA32_LBR_DEPTH */
		u8 depth;
		u8 tos;
		u64 cycles;	/* at which the newest entry was made */
		u64 inserted;	/* entries of events; the next instruction counts them */
		struct lbr_entry entry[MODEL_LBR_ENTRIES];
		/* Event logging of IA32_PMC0 to IA32_PMC3: the counters whose events are logged;
		 * the events since the newest entry; those of the instruction that is counted. */
		u64 logs;
		u64 logged[MODEL_LBR_LOGGED], own[MODEL_LBR_LOGGED];
	} lbr;
	/* MSR_PERF_METRICS: the value written, and the slots since then by category. */
	struct {
		u64 written;
		u64 slots[MODEL_METRICS];
		u64 parts[MODEL_METRICS];	/* of these, the slots of level 2 */
	} metrics;
	/* The lines and pages fetched lately, by number, for FRONTEND_RETIRED. */
	struct {
		u64 line;		/* of the instruction before */
		u32 dsb[64], l1i[64], l2[256], itlb[16], stlb[128];
	} fetch;
	u32 leaks;
	u64 status_set, ovf_ctrl;	/* the values written last, for the latitude of reads */
	struct model_counter counter[MODEL_MAX_COUNTERS];
	u64 active;		/* bit n: counter n counts */
	struct model_uncore uncore;	/* its own, unless the package has one */
	u64 uncore_before;	/* counters of the uncore that counted at its last instruction */

	/*
	 * A WRMSR has run and hasn't retired yet: the counters that counted before it, their rules,
	 * and the counter that it wrote.
	 */
	bool writing;
	u64 active_before;
	u64 counter_written;
	bool exited; /* RDMSR, WRMSR or RDPMC has run while counters are on, and is yet to retire */
	struct model_rule rule_before[MODEL_MAX_COUNTERS];

	struct model_tx tx;

	/* Interrupts that are requested and not yet raised, oldest first. distance: instructions
	 * that still retire before. */
	unsigned n_requests;
	struct {
		u32 distance;
		struct pmi pmi;
	} request[MODEL_MAX_REQUESTS];
	bool latched;		/* an interrupt waits in the local APIC until LVTPC is unmasked */
	bool delivered;		/* a delivery has set the mask bit of LVTPC */

	/* Windows in which the program doesn't run. */
	u32 steal_in;		/* instructions until the next window; 0: there are none */
	u32 smm_events;		/* events of an SMI that counters of CPL 0 count */
	u64 smi_count, stolen_tsc;

	bool setting_up, set_up;	/* latitude counters-need-setup: spec/setup.def */
	u64 cycles;		/* of all instructions so far: both clocks tick together */
	u32 ref_ticks;		/* latitude ref-tsc-slow: ticks not yet in fixed counter 2 */
	bool ref_wrapped;	/* latitude ref-tsc-sticky: its status bit isn't cleared yet, */
	u32 ref_overflow_again_in;	/* or is set again after that many instructions; 0: not */

	/* Only some events need this state of the processor: */
	bool watch_memory;	/* an event or a record depends on where an access hits */
	bool watch_frontend;	/* a counter counts the events of MSR_PEBS_FRONTEND */
	bool watch_latency;	/* a counter counts load latency: loads are tagged */

	/* The load latency facility. */
	u64 tag_random;		/* a generator of its own: nothing else decides what is tagged */
	u32 tag_gap;		/* loads that pass before the next tag */
	struct tagged_load tagged;	/* the last one above the threshold */

	/* Memory for the state of faults. Only refpmu/faults/ knows its contents, as with `cb` of
	 * Linux's struct sk_buff. */
	u64 fault_room[640];
};

#endif
