/* SPDX-License-Identifier: MIT */
/* Declarations that the model's files share. Nothing outside refpmu/model/ includes this file. */
#ifndef REFPMU_MODEL_INTERNAL_H
#define REFPMU_MODEL_INTERNAL_H

#include "refpmu/model/hooks.h"
#include "refpmu/model/model.h"
#include "spec/event.h"
#include "spec/msr.h"

/* For faults that show the previous record: each byte of the record before the first one. */
#define MODEL_NO_RECORD_BEFORE 0xa5

#define FIRST_FIXED	MODEL_MAX_GP	/* counter index of fixed counter 0 */
#define SLOTS_COUNTER	(FIRST_FIXED + 3)	/* of fixed counter 3: TOPDOWN.SLOTS */

/* One row of spec/generation.def. It has no pointers, because refpmu.efi moves after its
 * relocation. */
struct generation {
	u8 family, model, stepping;
	char brand[48];
	u8 perfmon, gp, gp_no_ht, fixed, width, max_leaf, lbr_fmt, pebs_format;
	u64 pebs_mask, ll_mask;
	unsigned facilities;	/* enum generation_facility */
};

/* One row of spec/event.def. */
struct event_row {
	u32 gens;		/* enum generation_set */
	u32 code;		/* PERFEVTSELx[15:0], and UMASK2 above it */
	u16 flags;		/* enum event_flags */
	u8 kind;		/* enum event_kind */
	u16 counters;		/* bit n: general-purpose counter n */
};

/* One retired instruction on its way through the model. Bit n is counter n. */
struct retire_ctx {
	const struct model_retired *r;
	u8 cpl;			/* the level at which it counts */
	u64 active;		/* counters that count it, or other effects of it: */
	u64 opened, closed;	/* counters it switches on or off: they count its microcode too, */
	u64 uncounted;		/* and these don't count the instruction itself */
	u64 wrapped;
	u64 due;		/* counters due for an assist: armed, and an event has occurred */
	u64 interrupts;		/* counters due for an overflow interrupt */
	const struct model_rule *rule[MODEL_MAX_COUNTERS];	/* of the active counters */
	bool writes;		/* a WRMSR of the PMU's registers */
	bool exits;		/* RDMSR, WRMSR or RDPMC of them */
	bool interrupted;	/* the one interrupt for all counters that wrapped is requested */
	struct access_outcome {
		struct memory_result memory;
		bool tagged;
	} outcome[MODEL_MAX_ACCESSES];	/* of r->access[] */
	u64 cycles;		/* duration, its loads included */
	u8 tx;			/* enum model_tx_act */
	bool frontend;		/* it has the event FRONTEND_RETIRED */
	bool tx_abort;		/* not an instruction, but the abort of a transaction */
	bool aborts;		/* a due record has aborted the transaction: */
	struct model_retired aborted;	/* r points here since then */
};

/* model.c */
const struct generation *model_generation(const struct model *m);
const struct generation *model_generation_row(enum generation_id id);

/* enumeration.c */
/* Is this TOLD of latitude.def set? Its value, or `row` if it isn't set. */
bool model_told(const struct model *m, enum latitude_id knob);
u32 model_told_or(const struct model *m, enum latitude_id knob, u32 row);
/* Change the facts accordingly. */
void model_take_told(struct model *m);
/* The processor's own version of performance monitoring, even if its hypervisor shows another
 * one. */
unsigned model_core_version(const struct model *m);
/* CPUID.0AH:EDX[15]; is there an AnyThread bit? */
bool model_shows_no_anythread(const struct model *m);
bool model_has_anythread(const struct model *m);
/* IA32_PERF_CAPABILITIES. */
u64 model_capabilities(const struct model *m);
unsigned model_gp_counters(const struct model *m);
u64 model_gp_mask(const struct model *m);
/* The number in CPUID.0AH:EDX[4:0]; and the existing ones, bit i: fixed counter i. */
unsigned model_fixed_counters(const struct model *m);
u64 model_fixed_mask(const struct model *m);
/* General-purpose counters that can do PEBS, as bits. */
u64 model_pebs_counters(const struct model *m);
/* Bits of a counter that exist: how many, and which. */
unsigned model_width(const struct model *m, unsigned counter);
u64 model_width_mask(const struct model *m, unsigned counter);
bool model_has_counter(const struct model *m, unsigned counter);
/* A bit of the register formats of the three global registers: n, or 32 + i. */
u64 model_global_bit(unsigned counter);

/* The hierarchy that its core is in. NULL: none. */
static inline struct memory *model_memory(const struct model *m)
{
	return m->core < MEMORY_PROGRAMS ? m->host->memory : NULL;
}

/* On a package with cores of two types: is this one of the smaller cores, all of whose counters
 * CPUID.0AH lists? */
bool model_is_e_core(const struct model *m);
bool model_is_small_core(const struct model *m);
/* CPUID.1AH:EAX by the rows of the package; 0: it has none. */
u32 model_core_type(const struct model *m);
/* The package of this configuration has cores of two types. */
bool model_is_hybrid(const struct model *m);
/* The number of a processor's core in the package. */
unsigned model_core_of(const struct model *m, unsigned processor);
/* The other type of core of its package; false: there is none. */
bool model_core_beside(const struct model *m, enum generation_id *other);
#define MODEL_MORE_OF_A_P_CORE	2	/* counters that a small core of a profile lacks */

/* Has the processor version 4 or later of performance monitoring, and does it show it? */
bool model_version_4(const struct model *m);
/* Microcode of Skylake that takes IA32_PMC3 while transactions can run: IA32_TSX_FORCE_ABORT. */
bool model_has_force_abort(const struct model *m);

/* latitude.c */
void model_take_latitude(struct model *m);
u64 model_random(struct model *m);
/* Draw a new value, from the lower end of the knob's range to the knob's value. */
u32 model_draw(struct model *m, enum latitude_id id);
/* Draw a value from 0 to bound, from the caller's own sequence. */
u32 model_draw_below(u64 *random, u32 bound);
/* The shape of the memory hierarchy that the seed draws. */
struct memory_shape model_memory_shape(const struct model *m);
/* Instructions between the request of an interrupt and the interrupt. */
u32 model_skid(struct model *m);
/* The program doesn't run for a while, before the instruction that is being counted. */
void model_steal(struct model *m);

/*
 * Does the next instruction count towards the next window of steal time? Only while a counter of
 * this processor counts: whether a counter of another processor counts here too may change in the
 * middle of a run of blocks.
 */
static inline bool model_may_be_stolen(const struct model *m)
{
	return m->steal_in && m->active;
}

/* memory/frontend.c */
/* Is this instruction one of FRONTEND_RETIRED? Ask once for each that retires. */
bool model_frontend_occurs(struct model *m, const struct model_retired *r);

/* Bits of IA32_PERF_GLOBAL_STATUS (Figure 18-20), and of a record's counters, of a set of
 * counters: OVF_PCn is bit n, OVF_FCi bit 32 + i. */
static inline u64 model_status_bits(u64 counters)
{
	return (counters & BITS(0, FIRST_FIXED - 1)) |
	       counters >> FIRST_FIXED << IA32_PERF_GLOBAL_CTRL_EN_FIXED_CTR_SHIFT;
}

/* IA32_PERF_CAPABILITIES[14]: PEBS on every counter, adaptive records, any event. */
bool model_has_baseline(const struct model *m);
/* IA32_PERF_CAPABILITIES[11:8]. */
unsigned model_pebs_format(const struct model *m);
/* Are its records those of spec/adaptive.def, even if only with the basic group? */
bool model_format_is_adaptive(const struct model *m);
bool model_has_metrics(const struct model *m);

/* icelake/metrics.c: MSR_PERF_METRICS. */
/* What RDPMC of the metrics clears. */
struct metrics_clear {
	bool metrics, slots;
};
u64 model_metrics_read(struct model *m);
void model_metrics_write(struct model *m, u64 value);
/* An instruction has taken `cycles`; the first `base` of them without waiting for its loads. */
void model_metrics_retired(struct model *m, const struct model_retired *r, u64 cycles, u64 base);
/* Are the metrics counted? They are counted together with fixed counter 3. */
bool model_metrics_run(const struct model *m);
/* Slots of an instruction, which takes so many cycles, of one of these kinds: fixed counters 4 to
 * 6, architectural events 8 to 11. */
u64 model_topdown(const struct model *m, const struct model_retired *r, u64 cycles,
		  enum event_kind kind);
/* Slots of a cycle: TOPDOWN.SLOTS. */
u64 model_slots(const struct model *m);

/* Does this kind of event count slots of one category? */
static inline bool model_is_topdown(enum event_kind kind)
{
	return kind >= EK_SLOTS_BAD_SPECULATION && kind <= EK_SLOTS_BACKEND_BOUND;
}

/* event.c */
/* Is the branch mispredicted? */
bool model_mispredicted(const struct model_retired *r);
/* How often does this event occur on the instruction? */
u64 model_events_of(struct model *m, struct retire_ctx *s, const struct model_rule *rule);
/* Does general-purpose counter n count all cycles as a precise event? */
bool model_is_total_cycles(const struct model *m, unsigned n);

/* counter.c */
/* The setting of a counter; it counts if both enables are set and it isn't frozen. */
struct counter_setting {
	struct model_rule rule;
	bool enabled;		/* by its own register */
	bool global;		/* by IA32_PERF_GLOBAL_CTRL */
	bool frozen;
};
/* The effect of an overflow. */
struct counter_overflow {
	u64 status;		/* bits of IA32_PERF_GLOBAL_STATUS that it sets */
	bool interrupt;		/* it interrupts, */
	bool arms;		/* or arms its counter for PEBS: */
	bool pmi_deferred;	/* its interrupt waits for the assist */
	bool due;		/* and the assist is due at once, */
	u8 shadow;		/* or so many events after the next one */
};
/* An event has occurred for which counter i is armed. */
void model_meet_event(struct model *m, struct retire_ctx *s, unsigned i);
/* Is PEBS enabled for this counter (its index)? By IA32_PEBS_ENABLE or, with architectural PEBS, by
 * its CFG_C. */
bool model_pebs_enabled(struct model *m, unsigned counter);
/* The event of this encoding, or NULL. */
const struct event_row *model_event(const struct model *m, u32 code);
/* Latitude uncounted-events and refused-events: what a hypervisor does with a select of it. */
bool model_event_is_uncounted(const struct model *m, u32 code);
bool model_event_is_refused(const struct model *m, u16 code);
/* The architectural events in the order of CPUID.0AH:EBX. */
#define MODEL_ARCHITECTURAL_EVENTS	13
u16 model_architectural_event(unsigned n);
/* The architectural events of this processor; those with a row for any generation. Bit n is event
 * n. */
u64 model_architectural_events(const struct model *m);
u64 model_architectural_events_of(enum generation_id id);
/* A control register has changed: decode all rules again. */
void model_configure(struct model *m);
/*
 * The increment of a counter for an instruction that takes `cycles`, and in which its event has
 * `occurred` so often; a cycle event occurs in each cycle.
 */
u64 model_increment(struct model_counter *c, const struct model_rule *rule, bool cycle_event,
		    u64 occurred, u64 cycles);
/* Drop the arm of these counters, and the interrupt that waits for it. */
void model_disarm(struct model *m, u64 counters);
/* Set a counter: to the value that counting gives; to the one that software or a reload writes. */
void model_set_counter(struct model *m, unsigned counter, u64 value);
void model_preset_counter(struct model *m, unsigned counter, u64 value);

/* errata.c */
/* Do counters miscount, because they haven't been set up yet or by another erratum? */
bool model_errata_miscounts(const struct model *m);
/* The processor has the erratum of this number: latitude erratum. */
enum { ERRATUM_MEMORY_EVENTS = 1, ERRATUM_CALL_FILTER };
bool model_has_erratum(const struct model *m, unsigned erratum);
/* IA32_PERF_GLOBAL_CTRL has been written. */
void model_errata_global_ctrl(struct model *m, u64 value);
/* The increment of counter i with the errata, instead of add. */
u64 model_errata_increment(struct model *m, unsigned i, u64 add);
/* How many events counter i may add beyond those that occur. */
u64 model_errata_ahead(const struct model *m, unsigned i);
/* Counter i has wrapped; these status bits are cleared; an instruction has been counted. */
void model_errata_wrapped(struct model *m, unsigned i);
void model_errata_cleared(struct model *m, u64 status);
void model_errata_repeat_overflow(struct model *m);

/* counter.c: a transaction has aborted, and its event occurs. */
void model_retire_abort(struct model *m, const struct model_retired *r);

/* model/tsx/tx.c */
/* Do all transactions abort where they begin? */
bool model_tx_always_aborts(const struct model *m);
/* End the transaction and undo its effects. after: the registers after that. */
void model_tx_undo(struct model *m, enum tx_cause cause, u8 code, struct model_registers *after);
/* Does this event of transactions occur? Kinds from EK_TX_FIRST on. */
bool model_tx_occurs(struct model *m, const struct retire_ctx *s, enum event_kind kind);
/* The field of Table 18-51 for the record that is being made. */
u64 model_tx_field(struct model *m, const struct retire_ctx *s);
/* model/tsx/elision.c: call for the instruction that retires, before it counts, and after that. */
enum model_tx_act model_tx_elision_act(struct model *m);
void model_tx_elision_retired(struct model *m, enum model_tx_act act);
/* An elision has aborted: XACQUIRE of its locks executes once more, without elision. */
void model_tx_elision_aborted(struct model *m);
/* model/tsx/log.c: begin with no lines; restore the contents of all lines that were written. */
void model_tx_log_begin(struct model *m);
void model_tx_log_undo(struct model *m);

/* priority.c */
/* The actions that one instruction causes, in order, for its counters. */
struct service_plan {
	unsigned n;
	struct service {
		u8 counter;
		bool assist;	/* else an overflow interrupt */
	} service[2 * MODEL_MAX_COUNTERS];
};

/* The interrupts that one of these actions asks for, in order. */
struct pmi_plan {
	bool assist;		/* the action is an assist */
	bool shared;		/* one interrupt for all overflows on the same instruction */
	unsigned n;
	struct pmi pmi[6];	/* two, and the additions of faults */
};

/* A PEBS event that is due: the effect on a transaction and on the record. */
struct pebs_event {
	bool aborts, record;
};

/* Carry out the actions that are due on this instruction, in order. */
void model_serve(struct model *m, struct retire_ctx *s);

/* pebs.c */
/* The assist of counter x: record, index, reload, status. */
struct assist {
	u64 covered;	/* the counters that it was for: no longer armed */
	bool threshold;	/* it wrote a record, and the index has reached the threshold */
};
struct assist model_assist(struct model *m, struct retire_ctx *s, unsigned x);

/* uncore.c */
/* The uncore that this processor belongs to. Other processors may change it, except between enter
 * and leave. */
const struct model_uncore *model_uncore_of(const struct model *m);
/* Does a counter of the uncore count, or has it an interrupt for this processor? */
bool model_uncore_busy(const struct model *m);
/* The instruction has been counted by the core: count it here. */
void model_uncore_retire(struct model *m, struct retire_ctx *s);
/* Does a counter that is enabled depend on where data comes from? */
bool model_uncore_watches(const struct model *m);
/* Request the interrupts that the uncore has signalled to this processor. */
void model_uncore_take(struct model *m);
/* The bit of a counter in MSR_UNCORE_PERF_GLOBAL_CTRL, _STATUS and _OVF_CTRL. */
u64 model_uncore_bit(unsigned i);
/* The setting of an uncore counter, and its two enables. */
struct uncore_setting {
	struct model_rule rule;
	unsigned counter;
	bool enabled;		/* by its own register */
	bool global;		/* by MSR_UNCORE_PERF_GLOBAL_CTRL */
};
/* A processor takes the uncore's interrupts if both members are true. */
struct uncore_listener {
	unsigned processor;	/* its number */
	bool selected;		/* EN_PMI_COREn of its core */
	bool listens;		/* IA32_DEBUGCTL[13] of its own */
};
/* An uncore counter has overflowed: */
struct uncore_overflow {
	unsigned counter;
	u64 status;		/* bits of MSR_UNCORE_PERF_GLOBAL_STATUS that it sets */
	bool interrupt;
};
/* and interrupts: */
struct uncore_pmi {
	unsigned counter;
	u64 status;		/* further bits that this sets */
	u64 stops;		/* bits of MSR_UNCORE_PERF_GLOBAL_CTRL that it clears */
	u64 to;			/* bit n: processor n is interrupted, */
	u8 times;		/* so often */
};
/* This processor clears bits of the uncore's status. */
void model_uncore_clear(struct model *m, u64 bits);
/* This processor's IA32_DEBUGCTL has been written. */
void model_uncore_listen(struct model *m);

/* goldencove/arch_lbr.c: CPUID.07H:EDX[19], and the filters that leaf 1CH enumerates. */
bool model_has_arch_lbr(const struct model *m);
bool model_arch_lbr_filters_cpl(const struct model *m);
bool model_arch_lbr_filters_branches(const struct model *m);
bool model_arch_lbr_has_call_stack(const struct model *m);
/* goldencove/event_log.c: CPUID.1CH:ECX[19:16]. */
u64 model_lbr_logging(const struct model *m);
/* Called by model_configure(): find the counters whose events are logged. */
void model_lbr_log_configure(struct model *m);
/* model_lbr_log(): counter i has counted `add` events at this level. model_lbr_log_settle():
 * the instruction that caused them is complete; its events now belong to the next entry. */
void model_lbr_log(struct model *m, unsigned i, u8 cpl, u64 add);
void model_lbr_log_settle(struct model *m);

/* lbr.c */
/* Are branches recorded? */
bool model_lbr_on(const struct model *m);

/* lvt.c */
/* LVT entry: "Local Vector Table". */
#define LVT_VECTOR		BITS(0, 7)
#define LVT_DELIVERY_MODE	BITS(8, 10)
#define LVT_FIXED		(0ULL << 8)
#define LVT_NMI			(4ULL << 8)
#define LVT_MASKED		BIT(16)
/* Vectors below are illegal for the local APIC: "Valid Interrupt Vectors". */
#define FIRST_LEGAL_VECTOR	16

/* The destination of an interrupt: the local APICs of these threads, after that many
 * instructions. */
struct request_plan {
	struct model *to[CORE_THREADS];	/* NULL: none */
	u32 distance;
};

/* The counters that an interrupt freezes. */
struct freeze_plan {
	bool lbrs, counters;
	bool streamlined;	/* by bits of the status, which software clears */
	u64 left;	/* enables of IA32_PERF_GLOBAL_CTRL that aren't cleared */
};

void model_request(struct model *m, enum model_action action, unsigned counter);
void model_request_pmi(struct model *m, const struct pmi *pmi);
struct freeze_plan model_freeze_plan(const struct model *m);
void model_freeze(struct model *m, const struct freeze_plan *plan);
void model_requests_approach(struct model *m);	/* an instruction has begun */
void model_requests_raise(struct model *m);	/* the instruction is done: raise what is due */

/* msr_bits.c; the rest of it is in msr.h */
/* The first names in the rows of MSR_FIELD. */
enum fields_of {
	OF_IA32_PERFEVTSEL,
	OF_IA32_FIXED_CTR_CTRL,
	OF_IA32_PERF_GLOBAL_CTRL,
	OF_IA32_PERF_GLOBAL_STATUS,
	OF_IA32_PERF_GLOBAL_OVF_CTRL,
	OF_IA32_PEBS_ENABLE,
	OF_PEBS_LD_LAT_THRESHOLD,
	OF_PEBS_DATA_CFG,
	OF_PERF_METRICS,
	OF_OFFCORE_RSP,
	OF_IA32_PERF_CAPABILITIES,
	OF_IA32_DEBUGCTL,
	OF_IA32_MISC_ENABLE,
	OF_IA32_APIC_BASE,
	OF_UNCORE_PERF_GLOBAL_CTRL,
	OF_UNCORE_PERF_GLOBAL_STATUS,
	OF_UNCORE_PERF_GLOBAL_OVF_CTRL,
	OF_UNCORE_FIXED_CTR,
	OF_UNCORE_FIXED_CTR_CTRL,
	OF_UNCORE_ADDR_OPCODE_MATCH,
	OF_UNCORE_PMC,
	OF_UNCORE_PERFEVTSEL,
	OF_IA32_PERF_GLOBAL_STATUS_SET,
	OF_IA32_PERF_GLOBAL_INUSE,
	OF_PEBS_FRONTEND,
	OF_LBR_SELECT,
	OF_LASTBRANCH_TOS,
	OF_IA32_LBR_CTL,
	OF_IA32_TSX_FORCE_ABORT,
	OF_UNC_PERF_GLOBAL_CTRL,
	OF_UNC_PERF_GLOBAL_STATUS,
	OF_IA32_PEBS_BASE,
	OF_IA32_PEBS_INDEX,
	OF_IA32_PMC_GP0_CFG_B,
	OF_IA32_PMC_FX0_CFG_B,
	OF_IA32_PMC_GP0_CFG_C,
};
/* The bits that a register has on this processor. */
u64 model_defined_bits(const struct model *m, enum fields_of of);

#endif
