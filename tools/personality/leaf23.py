# SPDX-License-Identifier: MIT
"""CPUID leaves 23H and 1CH as knobs of refpmu/model/latitude.def: what a processor enumerates as
knobs (file.py), and what is drawn (sweep.py). A set of counters is a number: bits 9:0 are
general-purpose, bits 22:16 fixed counters.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import spec         # noqa: E402

EVENTS = 13         # architectural events, of CPUID.(23H,3):EAX
GENERAL, FIXED = 0x3ff, 0x7f
FEATURES, COUNTERS, RELOAD, GROUPS, PEBS = 0, 1, 2, 4, 5    # sub-leaves
EAX, EBX, ECX, EDX = range(4)
UMASK2_AND_EQ = 3
# CPUID.(23H,4):EBX
ALLOW_IN_RECORD, CNTR_METRICS, LBR = 1 << 3, 1 << 6, 3 << 8
VALUES = (1 << 4, 1 << 5, CNTR_METRICS)
ALONE = (1 << 17, 1 << 18, 1 << 29, 1 << 30)    # XMM, YMMH, GPR, AUX
DEPTHS = {0x0b: 0, 0x0f: 1, 0x08: 2}            # CPUID.1CH:EAX[7:0] to lbr-depths
# Of lbr-missing: the field of each bit.
LBR_FIELDS = ("LBR_CPL_FILTERING", "LBR_BRANCH_FILTERING", "LBR_CALL_STACK", "LBR_MISPREDICT",
              "LBR_TIMED", "LBR_BRANCH_TYPE", "LBR_IP_IS_LIP", "LBR_DEEP_C_RESET")
LOGGED = 0xf                                    # CPUID.1CH:ECX[19:16]
# Fields of spec/cpuid.def that tell of the PMU, and that aren't one knob's.
COMPARED = ("LBR_DEPTHS", *LBR_FIELDS, "LBR_EVENT_LOGGING", "PERFMON_EXT", "EXT_SUBLEAVES",
            "EXT_UMASK2", "EXT_EQ", "EXT_RDPMC_USER_DISABLE", "EXT_SLOTS_PER_CYCLE", "EXT_GP_MASK",
            "EXT_FIXED_MASK", "EXT_RELOAD_GP", "EXT_RELOAD_FIXED", "EXT_CAUSE_GP",
            "EXT_CAUSE_FIXED", "EXT_EVENTS", "EXT_ALLOW_IN_RECORD", "EXT_CNTR_GP",
            "EXT_CNTR_FIXED", "EXT_CNTR_METRICS", "EXT_LBR", "EXT_XER", "EXT_GPR", "EXT_AUX",
            "EXT_PEBS_GP", "EXT_PDIST_GP", "EXT_PEBS_FIXED", "EXT_PDIST_FIXED")


def rows_of(generation):
    """Sub-leaf to its four registers; {}: the generation has no leaf 23H."""
    return {int(row["subleaf"]): [int(row[name], 0) for name in ("eax", "ebx", "ecx", "edx")]
            for row in spec.table("spec/generation.def", "GENERATION_EXT",
                                  ["id", "subleaf", "eax", "ebx", "ecx", "edx", "source"])
            if row["id"] == generation["token"]}


def counters(general, fixed):
    return general & GENERAL | (fixed & FIXED) << 16


def in_row(rows, subleaf, general, fixed):
    """The counters in two registers of a sub-leaf."""
    registers = rows.get(subleaf, [0] * 4)
    return counters(registers[general], registers[fixed])


# ---- what a processor enumerates ----

def lbr_knobs(processor):
    if not processor.get("ARCH_LBR") or (0x1c, 0) not in processor.leaves:
        return {}
    told = {"lbr-missing": sum(1 << bit for bit, name in enumerate(LBR_FIELDS)
                               if not processor.get(name)),
            "lbr-unlogged": LOGGED & ~processor.get("LBR_EVENT_LOGGING")}
    if processor.get("LBR_DEPTHS") in DEPTHS:
        told["lbr-depths"] = DEPTHS[processor.get("LBR_DEPTHS")]
    return told


def leaf_knobs(processor, generation):
    """What the generation doesn't have stays away: differences.txt names it."""
    rows = rows_of(generation)
    if not rows or not processor.get("PERFMON_EXT") or (0x23, 0) not in processor.leaves or \
            processor.get("MAX_LEAF") < 0x23 or processor.get("PERFMON_VERSION") < 5:
        return {}
    reads = processor.get
    listed = reads("EXT_SUBLEAVES")
    told = {"rdpmc-user-disable": reads("EXT_RDPMC_USER_DISABLE"),
            "ext-features": (reads("EXT_UMASK2") | reads("EXT_EQ") << 1) & rows[FEATURES][EBX]}
    if listed >> COUNTERS & 1:
        told["gp-mask"] = reads("EXT_GP_MASK")
    if listed >> 3 & 1:
        told["missing-events"] = ~reads("EXT_EVENTS") & (1 << EVENTS) - 1
    there = counters(reads("EXT_GP_MASK"), reads("EXT_FIXED_MASK"))
    reloaded = counters(reads("EXT_RELOAD_GP"), reads("EXT_RELOAD_FIXED"))
    reloading = counters(reads("EXT_CAUSE_GP"), reads("EXT_CAUSE_FIXED"))
    if RELOAD in rows:
        reloaded &= there & in_row(rows, RELOAD, EAX, EBX)
        reloading &= there & in_row(rows, RELOAD, ECX, EDX)
        told |= {"reloaded": reloaded if reloading else 0,
                 "reloading": reloading if reloaded else 0}
    if PEBS in rows and listed >> PEBS & 1:
        pebs = counters(reads("EXT_PEBS_GP"), reads("EXT_PEBS_FIXED"))
        pdist = counters(reads("EXT_PDIST_GP"), reads("EXT_PDIST_FIXED"))
        pebs &= there & in_row(rows, PEBS, EAX, ECX)
        told |= {"pebs-groups": processor.register(0x23, GROUPS, "ebx") & rows[GROUPS][EBX],
                 "pebs-counters": pebs,
                 "pdist-counters": pdist & pebs & in_row(rows, PEBS, EBX, EDX)}
    return told


# ---- what is drawn ----

def some(dice, of):
    """A part of a set, perhaps all of it or nothing."""
    return of & dice.getrandbits(24)


def drawn_lbr(dice):
    told = {}
    for knob, most in (("lbr-depths", 2), ("lbr-missing", 255), ("lbr-unlogged", LOGGED)):
        if dice.random() < 0.5:
            told[knob] = dice.randint(0, most)
    return told


def drawn_reload(dice, rows, there):
    """One that is reloaded needs one that reloads it."""
    reloaded = some(dice, there & in_row(rows, RELOAD, EAX, EBX))
    reloading = some(dice, there & in_row(rows, RELOAD, ECX, EDX))
    return {"reloaded": reloaded if reloading else 0, "reloading": reloading if reloaded else 0}


def drawn_groups(dice, usual):
    """Of the generation's groups. Not told: what one bit of LBR is without the other, and what
    values are without ALLOW_IN_RECORD, or it without them."""
    groups = sum(bit for bit in ALONE if dice.random() < 0.5) | (LBR if dice.random() < 0.5 else 0)
    groups |= sum(bit for bit in VALUES if dice.random() < 0.5)
    groups &= usual
    return groups | ALLOW_IN_RECORD if groups & sum(VALUES) else groups


def drawn_pebs(dice, rows, there):
    """Architectural PEBS is on one counter at least; PDist is of counters with PEBS."""
    of = there & in_row(rows, PEBS, EAX, ECX)
    pebs = some(dice, of) or of
    return {"pebs-counters": pebs,
            "pdist-counters": some(dice, pebs & in_row(rows, PEBS, EBX, EDX))}


def drawn_mask(dice, usual):
    """A bitmap with holes, of no more than the generation's counters. Tests need IA32_PMC0, so
    most have it."""
    return some(dice, (1 << usual) - 1) | (dice.random() < 0.9) or 1
