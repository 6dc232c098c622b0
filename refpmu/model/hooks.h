/* SPDX-License-Identifier: MIT */
/*
 * The interface between the rules and the faults. The model first computes a plan or a value. A
 * hook is a function of refpmu/faults/ that changes the plan if the configured fault acts. Then the
 * model carries it out. The plan that a hook gets is correct, and without a fault the hook doesn't
 * change it.
 *
 * A comment above several hooks describes them in their order, one sentence or clause for each.
 *
 * This header belongs to the model; refpmu/faults/ defines the functions that it declares. So
 * faults/ depends on the model, but the model includes nothing from faults/. For the model a fault
 * is a number (struct model_config), and the state of a fault is an area of memory (fault_room in
 * state.h).
 *
 * Compiled with MODEL_WITHOUT_FAULTS the hooks are empty, and refpmu/model/ is complete without
 * refpmu/faults/.
 *
 *   HOOK(name, parameters)		changes what one of its parameters points to, or notes
 *					something for later
 *   HOOK_VALUE(type, name, value, parameters)
 *					returns the value, its last parameter, or another one
 *
 * A hook calls broken() (refpmu/faults/broken.h), which the model can't call, to ask whether its
 * fault acts. It calls broken() only where the answer makes a difference, because each call is an
 * injection point (refpmu/model/fault_when.h).
 */
#ifndef REFPMU_MODEL_HOOKS_H
#define REFPMU_MODEL_HOOKS_H

#include "refpmu/model/model.h"
#include "spec/event.h"
#include "spec/netburst.h"

#ifdef MODEL_WITHOUT_FAULTS
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define HOOK(name, ...)	static inline void name(__VA_ARGS__) { }
#define HOOK_VALUE(type, name, value, ...) \
	static inline type name(__VA_ARGS__, type value) { return value; }
#else
#define HOOK(name, ...)	void name(__VA_ARGS__);
#define HOOK_VALUE(type, name, value, ...) type name(__VA_ARGS__, type value);
#endif

struct retire_ctx;
struct access_outcome;
struct exercise;
struct offcore_access;
struct record;
struct service_plan;
struct assist_plan;
struct adaptive_layout;
struct snapshot;
struct arch_layout;
struct arch_plan;
struct metrics_clear;
struct pebs_event;
struct pmi_plan;
struct freeze_plan;
struct request_plan;
struct event_row;
struct counter_setting;
struct counter_overflow;
struct model_rule;
struct msr_ref;
struct msr_write;
struct uncore_setting;
struct uncore_listener;
struct uncore_overflow;
struct uncore_pmi;
struct lbr_branch;
struct lbr_plan;
struct netburst;
struct netburst_step;
struct netburst_place;
struct netburst_filter;
struct netburst_pmi;
struct netburst_input;
struct netburst_replay;
struct netburst_assist;
struct netburst_ds;

/* ---- everywhere: faults/fault.c ---- */

/* A new moment begins, an instruction or an access: at most one injection point. */
HOOK(fault_next_sequence, struct model *m)
/* What follows concerns this counter, or none: MODEL_NO_COUNTER. */
HOOK(fault_at_counter, struct model *m, unsigned counter)

/* ---- counter.c: faults/setting.c ---- */

/* What a counter can hold. Does its bit of IA32_PEBS_ENABLE enable it? */
HOOK_VALUE(u64, fault_counter_width, mask, struct model *m, unsigned counter)
HOOK_VALUE(bool, fault_pebs_enabled, enabled, struct model *m, unsigned counter)
/* The event of general-purpose counter n, or NULL; the control field of fixed counter n. */
HOOK_VALUE(const struct event_row *, fault_event, event, struct model *m, unsigned n)
HOOK_VALUE(u64, fault_fixed_control, control, struct model *m, unsigned n)
/* What counter i is set to do; what all of them are. */
HOOK(fault_counter_setting, struct model *m, unsigned i, struct counter_setting *setting)
HOOK(fault_counter_settings, struct model *m)

/* ---- counter.c: faults/count.c, faults/fault.c ---- */

/* An instruction retires; these counters count it; it has been counted. */
HOOK(fault_instruction, struct model *m, const struct model_retired *r)
HOOK_VALUE(u64, fault_counters, counters, struct model *m, const struct model_retired *r)
HOOK(fault_retired, struct model *m, const struct model_retired *r)
/* Does a counter with IN_TX count here? */
HOOK_VALUE(bool, fault_in_scope, inside, struct model *m, const struct retire_ctx *s,
	   const struct model_rule *rule)
/* The privilege level that USR and OS are about. */
HOOK_VALUE(u8, fault_level, cpl, struct model *m)
/* Counter i doesn't count here, but would so many occurrences. */
HOOK(fault_not_selected, struct model *m, struct retire_ctx *s, unsigned i, bool scope,
     u64 occurred)
/* How often its event has occurred; what the counter adds; does it overflow? */
HOOK_VALUE(u64, fault_occurrences, occurred, struct model *m, const struct model_rule *rule,
	   const struct model_retired *r)
HOOK_VALUE(u64, fault_increment, add, struct model *m, unsigned i, const struct model_rule *rule)
HOOK_VALUE(bool, fault_overflows, overflows, struct model *m, unsigned i)
/* AnyThread: the level at which the sibling's instruction counts; does counter i count it? It has
 * been counted. */
HOOK_VALUE(u8, fault_sibling_cpl, cpl, struct model *m)
HOOK_VALUE(bool, fault_sibling_counts, counts, struct model *m, const struct retire_ctx *s,
	   unsigned i, bool same_core)
HOOK(fault_sibling_served, struct model *m, struct retire_ctx *s)
/* Is the instruction one of FRONTEND_RETIRED? */
HOOK_VALUE(bool, fault_frontend, occurs, struct model *m)
/* How often an abort counts. */
HOOK_VALUE(unsigned, fault_abort_counts, times, struct model *m)

/* ---- counter.c: faults/overflow.c ---- */

HOOK(fault_overflow, struct model *m, struct retire_ctx *s, unsigned i,
     struct counter_overflow *overflow)
/* An armed counter: does it look at this instruction? Is it the event? It has counted it. */
HOOK_VALUE(bool, fault_event_seen, seen, struct model *m, const struct retire_ctx *s)
HOOK_VALUE(bool, fault_meets_event, meets, struct model *m)
HOOK(fault_event_counts, struct model *m, struct retire_ctx *s, unsigned i, u64 occurred)

/* ---- msr.c, msr_bits.c: faults/msr.c ---- */

/* Does the processor have the register? Does it answer, where not? Which bits can be written? */
HOOK_VALUE(bool, fault_msr_exists, exists, struct model *m, const struct msr_ref *p)
HOOK_VALUE(bool, fault_absent_answers, answers, struct model *m, const struct msr_ref *p)
HOOK_VALUE(u64, fault_msr_bits, bits, struct model *m, const struct msr_ref *p)
/* RDMSR has read this. */
HOOK(fault_rdmsr, struct model *m, const struct msr_ref *p, struct msr_result *result)
/* RDPMC: the counter that ECX names; it has read this, or there is none, MODEL_NO_COUNTER. */
HOOK_VALUE(u32, fault_rdpmc_select, ecx, struct model *m)
HOOK(fault_rdpmc, struct model *m, u32 ecx, unsigned counter, struct msr_result *result)
/* WRMSR is about to do this with the value. */
HOOK(fault_wrmsr, struct model *m, const struct msr_ref *p, u64 value, struct msr_write *write)
/* Does a write that changes bits 12:11 of IA32_MISC_ENABLE raise #GP? */
HOOK_VALUE(bool, fault_guards_misc_enable, guards, struct model *m)
/* A register is about to take the value. */
HOOK(fault_msr_taken, struct model *m, const struct msr_ref *p, u64 value)
/* A write has disarmed these counters; clears these bits of IA32_PERF_GLOBAL_STATUS. */
HOOK_VALUE(u64, fault_disarms, counters, struct model *m)
HOOK_VALUE(u64, fault_status_clears, bits, struct model *m)
/* A write to IA32_PERF_GLOBAL_STATUS_SET has made it that; what IA32_PERF_GLOBAL_INUSE reads. */
HOOK_VALUE(u64, fault_status_sets, status, struct model *m, u64 written)
HOOK_VALUE(u64, fault_inuse, value, struct model *m)
/* These counters begin to count. */
HOOK(fault_counters_start, struct model *m, u64 started)

/* ---- uncore.c: faults/uncore.c ---- */

/* Do all processors of the package have one uncore? */
HOOK_VALUE(bool, fault_uncore_shared, shared, struct model *m)
HOOK(fault_uncore_setting, struct model *m, struct uncore_setting *setting)
/* RDMSR has read this. WRMSR clears these bits of the status. What a counter can hold. */
HOOK(fault_uncore_read, struct model *m, struct model_uncore *u, const struct msr_ref *p, u64 value)
HOOK_VALUE(u64, fault_uncore_clears, bits, struct model *m)
HOOK_VALUE(u64, fault_uncore_width, mask, struct model *m)
/* Counting; overflow; its interrupt; which processor takes it, and shows it in its status. */
HOOK_VALUE(u64, fault_uncore_occurrences, occurred, struct model *m, const struct model_uncore *u)
HOOK(fault_uncore_overflow, struct model *m, struct uncore_overflow *overflow)
HOOK(fault_uncore_pmi, struct model *m, struct uncore_pmi *pmi)
HOOK(fault_uncore_listener, struct model *m, const struct model_uncore *u,
     struct uncore_listener *listener)
HOOK_VALUE(bool, fault_uncore_shows, shows, struct model *m, unsigned counter)
HOOK(fault_uncore_overflowed, struct model *m, const struct retire_ctx *s)

/* ---- core.c, model.c, bulk.c, cpuid.c: faults/fault.c, faults/msr.c ---- */

/* Nothing has happened yet. The registers have their values of a RESET. */
HOOK(fault_init, struct model *m)
HOOK(fault_reset, struct model *m)
/* Bits 47:32 of an adaptive record's format word. */
HOOK_VALUE(u64, fault_retire_latency, cycles, struct model *m, const struct retire_ctx *s)
/* How many general-purpose counters there are. */
HOOK_VALUE(unsigned, fault_gp_counters, count, const struct model *m)
HOOK_VALUE(u64, fault_perf_capabilities, value, struct model *m)
/* CPUID leaves 01H and 0AH; one that the processor hasn't. */
HOOK(fault_cpuid_version, struct model *m, u32 regs[4])
HOOK(fault_cpuid_perfmon, struct model *m, u32 subleaf, u32 regs[4])
/* Leaves 07H and 1AH. */
HOOK(fault_cpuid_core, struct model *m, u32 leaf, u32 regs[4])
HOOK(fault_cpuid_absent, struct model *m, u32 leaf, u32 regs[4])

/* Do counters of this processor count what others do? */
HOOK_VALUE(bool, fault_watches, watches, struct model *m)
/* Does what this processor does change its core's other logical processor? All cores, as if they
 * were one? */
HOOK_VALUE(bool, fault_reaches_core, reaches, const struct model *m)
HOOK_VALUE(bool, fault_reaches_package, reaches, const struct model *m)
/* May many instructions retire at once? Each of them is an injection point of a fault. */
HOOK_VALUE(bool, fault_permits_bulk, permits, const struct model *m)

/* ---- tsx/: faults/tx.c ---- */

/* Does this event of transactions occur? */
HOOK_VALUE(bool, fault_tx_occurs, occurs, struct model *m, const struct retire_ctx *s,
	   enum event_kind kind)
/* Does IA32_TSX_FORCE_ABORT end it? */
HOOK_VALUE(bool, fault_tx_forced, forced, const struct model *m)
/* XBEGIN; the beginning of a transaction; XEND; is the length of one that ends so kept? */
HOOK(fault_tx_begins, struct model *m, u64 fallback)
HOOK(fault_tx_checkpoint, struct model *m)
HOOK(fault_tx_ends, struct model *m)
HOOK_VALUE(bool, fault_tx_end_noted, noted, struct model *m, enum tx_cause cause)
/* An abort: does it take back stores? What does it restore of a counter with IN_TXCP? They are
 * restored. It is an abort of nested ones, and this is the information on it. */
HOOK_VALUE(bool, fault_tx_undoes_stores, undoes, struct model *m)
HOOK_VALUE(u64, fault_tx_restores, value, struct model *m, unsigned i, enum tx_cause cause)
HOOK(fault_tx_restored, struct model *m)
HOOK(fault_tx_aborts, struct model *m, bool nested)
HOOK_VALUE(u64, fault_tx_information, value, struct model *m)
/* The lock after whose XACQUIRE the program goes on. */
HOOK_VALUE(unsigned, fault_tx_lock, lock, struct model *m)
/* The TX abort information of a record. */
HOOK_VALUE(u64, fault_tx_field, value, struct model *m, bool aborted, u8 cpl)

/* ---- netburst/: faults/netburst/netburst.c ---- */

HOOK(fault_nb_init, struct model *m, struct netburst *n)
/* Registers: what a counter can hold; are bits of MSR_PEBS_ENABLE relative to the accessor? Which
 * bits can be written; RDMSR, RDPMC, WRMSR. */
HOOK_VALUE(u64, fault_nb_width, mask, struct model *m)
HOOK_VALUE(bool, fault_nb_relative, relative, struct model *m)
HOOK_VALUE(u64, fault_nb_bits, bits, struct model *m, const struct netburst_place *p)
HOOK_VALUE(u64, fault_nb_rdmsr, value, struct model *m, const struct netburst_place *p)
HOOK(fault_nb_rdpmc, struct model *m, u32 ecx, struct msr_result *result)
HOOK(fault_nb_wrmsr, struct model *m, const struct netburst_place *p, struct msr_write *write)
/* Which counters run; does one that waited for an overflow start; does counter i count here? */
HOOK_VALUE(u32, fault_nb_running, running, struct model *m)
HOOK_VALUE(bool, fault_nb_starts, starts, struct model *m)
HOOK_VALUE(bool, fault_nb_counts, counts, struct model *m, unsigned i, u64 cccr)
/* An instruction; has it an event for counter i; its filter; its sum; is an overflow forced? */
HOOK(fault_nb_instruction, struct model *m)
HOOK_VALUE(bool, fault_nb_has_event, has, struct model *m, const struct netburst_step *s,
	   unsigned i)
HOOK(fault_nb_filter, struct model *m, unsigned i, u64 cccr, struct netburst_filter *filter)
HOOK_VALUE(u64, fault_nb_sum, sum, struct model *m, unsigned i)
HOOK_VALUE(bool, fault_nb_forced, forced, struct model *m, unsigned i)
/* An overflow: the CCCR shows it; it has happened; those that it starts; its PMI, and where to. */
HOOK_VALUE(u64, fault_nb_shows, shown, struct model *m, unsigned i, u64 cccr)
HOOK(fault_nb_wrapped, struct model *m, unsigned i)
HOOK_VALUE(u32, fault_nb_started, started, struct model *m, const struct netburst_step *s,
	   unsigned i)
HOOK(fault_nb_interrupt, struct model *m, unsigned i, bool wrapped, struct netburst_pmi *pmi)
HOOK(fault_nb_pmi, struct model *m, unsigned cause, unsigned i, bool *to)
/* Does counter i make records for this logical processor? */
HOOK_VALUE(bool, fault_nb_samples, samples, struct model *m, const struct netburst_step *s,
	   unsigned i)

/* ---- netburst/event.c, replay.c: faults/netburst/netburst_event.c ---- */

/* Is this level the USR flags', and not the OS flags'? */
HOOK_VALUE(bool, fault_nb_user, user, struct model *m, unsigned cpl)
/* Does an event of this logical processor at this level count? Tables 18-66 and 18-67. */
HOOK_VALUE(bool, fault_nb_thread_specific, counts, struct model *m, u64 escr, unsigned thread,
	   bool user)
HOOK_VALUE(bool, fault_nb_thread_independent, counts, struct model *m, u64 escr, unsigned thread,
	   bool user)
HOOK_VALUE(bool, fault_nb_selected, selected, struct model *m, const struct netburst_step *s,
	   u64 escr, unsigned event, enum netburst_what what)
/* Is the branch taken? How often has this happened? Which ESCR has counter n? Its input. */
HOOK_VALUE(bool, fault_nb_taken, taken, struct model *m)
HOOK_VALUE(u64, fault_nb_happened, n, struct model *m, const struct netburst_step *s,
	   enum netburst_what what)
HOOK_VALUE(unsigned, fault_nb_escr, e, struct model *m, unsigned n)
HOOK(fault_nb_input, struct model *m, const struct netburst_step *s, unsigned n, unsigned e,
     struct netburst_input *input)
/* Does ESCR e, which can tag, tag events of this logical processor at this level? */
HOOK_VALUE(bool, fault_nb_tags, tags, struct model *m, const struct netburst_step *s, unsigned e)
/* What uop_type tags, what replay tagging tags, and the replays of tagged ones. */
HOOK(fault_nb_access_tags, struct model *m, u64 escr, bool *loads, bool *stores)
HOOK(fault_nb_replay, struct model *m, struct netburst_replay *replay)
HOOK_VALUE(u64, fault_nb_replayed, n, struct model *m, const struct netburst_step *s)
/* Why a load waits for a store: does it want bytes above it? */
HOOK_VALUE(u64, fault_nb_overlap, cause, struct model *m, bool above)

/* ---- netburst/pebs.c: faults/netburst/netburst_pebs.c ---- */

/* Where the DS area is; the form of a record; what the assist does; the record; it is written. */
HOOK_VALUE(u64, fault_nb_ds_area, linear, struct model *m)
HOOK_VALUE(unsigned, fault_nb_form, form, struct model *m)
HOOK(fault_nb_assist, struct model *m, unsigned thread, const struct netburst_ds *ds,
     struct netburst_assist *assist)
HOOK(fault_nb_record, struct model *m, unsigned thread, unsigned form, bool first, u8 *bytes)
HOOK(fault_nb_record_written, struct model *m, u64 end)
/* The processor that the threshold's interrupt goes to, or NULL. */
HOOK_VALUE(struct model *, fault_nb_threshold, to, struct model *m, const struct netburst_ds *ds)

/* ---- priority.c: faults/priority.c ---- */

/* The actions of this instruction, and their order. */
HOOK(fault_service, struct model *m, const struct retire_ctx *s, struct service_plan *plan)
/* A counter is to record. */
HOOK(fault_pebs_event, struct model *m, unsigned i, struct pebs_event *event)
/* An interrupt was requested already that covers this counter's overflow. */
HOOK_VALUE(bool, fault_pmi_covered, covered, struct model *m)
/* An action asks for interrupts: of its counter, and of the overflow's. */
HOOK(fault_pmis, struct model *m, const struct retire_ctx *s, struct pmi_plan *plan)

/* ---- pebs.c: faults/assist.c ---- */

/* In the order in which an assist comes to them. Where is the DS save area? */
HOOK(fault_assist_begins, struct model *m, struct assist_plan *plan)
/* It has been read. */
HOOK(fault_ds_area, struct model *m, const struct retire_ctx *s, struct assist_plan *plan)
/* Does a record fit? */
HOOK(fault_bounds, struct model *m, struct assist_plan *plan)
/* It doesn't. */
HOOK(fault_buffer_full, struct model *m, const struct assist_plan *plan)
/* The status field of the record. */
HOOK_VALUE(u64, fault_status_image, status, struct model *m, u64 covered)
/* All the rest is planned, and the record of counter x is complete. */
HOOK(fault_assist, struct model *m, const struct retire_ctx *s, unsigned x,
     struct assist_plan *plan)
/* The counters that a record of format 3 names. */
HOOK_VALUE(u64, fault_applicable, counters, struct model *m)
HOOK(fault_record_written, struct model *m, const struct assist_plan *plan)
/* An MSR is accessed. */
HOOK(fault_late_record, struct model *m)

/* ---- record.c, data_address.c: faults/record.c, faults/data_address.c ---- */

/* A record's fields are complete. */
HOOK(fault_record_fields, struct model *m, const struct retire_ctx *s, unsigned x,
     struct record *record)
/* Does a record of counter x describe load latency? Does a record of precise store's event describe
 * the store? */
HOOK_VALUE(bool, fault_latency_enabled, enabled, struct model *m, unsigned x)
HOOK_VALUE(bool, fault_store_enabled, enabled, struct model *m)
/* The record's description of access a of the instruction is complete. */
HOOK(fault_precise_store, struct model *m, const struct retire_ctx *s, unsigned a,
     struct record *record)
HOOK(fault_data_address, struct model *m, const struct retire_ctx *s, unsigned x, unsigned a,
     struct record *record)

/* ---- access.c: faults/access.c ---- */

/* An access is an occurrence of the event. */
HOOK_VALUE(bool, fault_access_is, is, struct model *m, enum event_kind kind,
	   const struct model_access *a, const struct access_outcome *o)
/* Cycles that an access holds the processor up for. */
HOOK_VALUE(u64, fault_duration, cycles, struct model *m)
/* What the instruction does to caches is a load to the load latency facility; how many were so. */
HOOK_VALUE(bool, fault_prefetch, is_load, struct model *m, const struct retire_ctx *s)
HOOK_VALUE(u64, fault_prefetched, n, const struct model *m, enum event_kind kind)

/* ---- load_latency.c: faults/load_latency.c ---- */

/* Loads that pass before the next tag. */
HOOK_VALUE(u32, fault_tag_gap, gap, struct model *m)
/* A latency is above the threshold. */
HOOK_VALUE(bool, fault_eligible, eligible, struct model *m, u32 latency)
/* The facility sees a load; it has been tagged; its latency and data source have been updated. */
HOOK_VALUE(bool, fault_load_seen, seen, struct model *m, const struct model_access *a,
	   const struct memory_result *o)
HOOK_VALUE(bool, fault_load_updates, tagged, struct model *m)
HOOK(fault_load_kept, struct model *m, const struct model_access *a, const struct memory_result *o)
/* The loads of this instruction were cancelled. */
HOOK(fault_cancelled, struct model *m, const struct model_retired *r)
/* An access is an occurrence of the load latency event. */
HOOK_VALUE(bool, fault_latency_event, counts, struct model *m, const struct model_access *a,
	   const struct access_outcome *o)
/* The record of the last tagged load. */
HOOK(fault_latency_record, struct model *m, const struct retire_ctx *s, struct record *record)

/* ---- offcore.c: faults/offcore.c ---- */

HOOK(fault_offcore, struct model *m, struct offcore_access *access)

/* ---- exerciser.c: faults/exerciser.c ---- */

HOOK(fault_exercise, struct model *m, struct exercise *plan)

/* ---- lbr.c: faults/lbr.c ---- */

/* What becomes of a branch; does a debug exception switch recording off? */
HOOK(fault_lbr, struct model *m, const struct lbr_branch *branch, struct lbr_plan *plan)
HOOK_VALUE(bool, fault_lbr_debug, off, struct model *m, unsigned kind, u8 cpl)
/* Is recording on? It has stopped. */
HOOK_VALUE(bool, fault_lbr_on, on, const struct model *m)
HOOK(fault_lbr_stopped, struct model *m, enum lbr_stop why)

/* ---- goldencove/: faults/goldencove/ ---- */

/* CPUID leaf 1CH. What IA32_LBR_CTL keeps out; a write of the depth has cleared these entries. */
HOOK(fault_cpuid_lbr, struct model *m, u32 regs[4])
HOOK(fault_cpuid_state, struct model *m, u32 subleaf, u32 regs[4])
HOOK_VALUE(u64, fault_arch_lbr_select, select, struct model *m, u64 control)
HOOK(fault_arch_lbr_depth, struct model *m, u64 depth, const struct lbr_entry *before)
/* What a counter adds to the log at this level; a branch is about to be recorded, or kept out; INFO
 * of an entry in a record. */
HOOK_VALUE(u64, fault_lbr_logged, add, struct model *m, unsigned i, u8 cpl)
HOOK(fault_lbr_log, struct model *m, const struct lbr_branch *branch, struct lbr_plan *plan)
HOOK_VALUE(u64, fault_lbr_record_info, info, struct model *m)
/* What LBR Inserts counts of an instruction. */
HOOK_VALUE(u64, fault_lbr_inserts, n, struct model *m, const struct model_retired *r)

/* ---- archpebs/: faults/archpebs/ ---- */

/* CPUID leaf 23H, and sub-leaf 1 of leaf 7. UMASK2 of select n; is EQ set; CMASK beside EQ. */
HOOK(fault_cpuid_ext, struct model *m, u32 leaf, u32 subleaf, u32 regs[4])
HOOK_VALUE(u64, fault_umask2, umask2, struct model *m, unsigned n)
HOOK_VALUE(bool, fault_equal, equal, struct model *m)
HOOK_VALUE(u8, fault_equal_cmask, cmask, struct model *m, u64 equal)
/* Is what ECX names hidden from RDPMC at CPL > 0? */
HOOK_VALUE(bool, fault_rdpmc_hidden, hidden, struct model *m, u32 ecx)
/* What RDPMC returns there. */
HOOK_VALUE(u64, fault_rdpmc_user, value, struct model *m, u32 ecx)
/* Does counter i reload itself? Of those that have wrapped, which reload others; is counter i
 * reloaded; with what? */
HOOK_VALUE(bool, fault_reloads_itself, itself, struct model *m, unsigned i)
HOOK_VALUE(u64, fault_reload_causes, causes, struct model *m, u64 wrapped)
HOOK_VALUE(bool, fault_reloads, reloads, struct model *m, unsigned i, u64 causes)
HOOK_VALUE(u64, fault_reload_value, value, struct model *m, unsigned i)

/* Does the counter make records? What its CFG_C is for them; the groups, the bytes; does it fit;
 * all of it is planned. */
HOOK_VALUE(bool, fault_arch_enabled, enabled, struct model *m, unsigned counter)
HOOK_VALUE(u64, fault_arch_config, config, struct model *m, unsigned x)
HOOK(fault_arch_layout, struct model *m, unsigned x, struct arch_layout *layout)
HOOK(fault_arch_bytes, struct model *m, const struct retire_ctx *s, unsigned x,
     const struct arch_layout *layout, u8 *bytes, unsigned *size)
HOOK(fault_arch_fits, struct model *m, struct arch_plan *plan)
HOOK(fault_arch_plan, struct model *m, unsigned x, struct arch_plan *plan)

/* ---- lioncove/: faults/lioncove/ ---- */

/* MSR_PEBS_DATA_CFG as the counters group has it; the group. */
HOOK_VALUE(u64, fault_snapshot_config, config, struct model *m)
HOOK(fault_snapshot, struct model *m, struct snapshot *s)

/* ---- icelake/: faults/icelake/ ---- */

/* Are records of counter x adaptive? What MSR_PEBS_DATA_CFG is for them; the groups, before they
 * are filled in; the record is complete. */
HOOK_VALUE(bool, fault_adaptive, adaptive, struct model *m, unsigned x)
HOOK_VALUE(u64, fault_data_cfg, config, struct model *m, unsigned x)
HOOK(fault_adaptive_layout, struct model *m, unsigned x, struct adaptive_layout *layout)
HOOK(fault_adaptive_bytes, struct model *m, const struct retire_ctx *s, unsigned x,
     const struct adaptive_layout *layout, u8 *bytes)
/* RDPMC of the metrics: what it clears, what it returns. What MSR_PERF_METRICS reads. */
HOOK(fault_metrics_clear, struct model *m, struct metrics_clear *clear)
HOOK_VALUE(struct msr_result, fault_rdpmc_metrics, result, struct model *m)
HOOK_VALUE(u64, fault_metrics, value, struct model *m)
/* Are the metrics counted? */
HOOK_VALUE(bool, fault_metrics_run, run, const struct model *m)

/* ---- lvt.c: faults/lvt.c ---- */

HOOK(fault_freeze, struct model *m, const struct pmi *pmi, struct freeze_plan *plan)
HOOK(fault_request, struct model *m, const struct pmi *pmi, struct request_plan *plan)
/* The processor halts while interrupts are on their way. */
HOOK(fault_halt, struct model *m)
HOOK(fault_raise, struct model *m, const struct pmi *pmi)
/* LVTPC is masked when an interrupt arrives. */
HOOK_VALUE(bool, fault_lvt_masked, masked, struct model *m)
HOOK(fault_delivery, struct model *m, struct pmi_delivery *delivery)
/* Software has written LVTPC, which delivers an interrupt that waited, or not. */
HOOK_VALUE(bool, fault_lvt_written, delivers, struct model *m, u32 lvtpc)

#endif
