# SPDX-License-Identifier: MIT
"""The group of requirements that a part of the model is about: a function, a folder or a file."""
import os

OF_FILE = {
    "access.c": "LL", "bulk.c": "CNT", "core.c": "CNT", "counter.c": "CNT", "event.c": "CNT",
    "data_address.c": "DLA", "errata.c": "latitude", "exerciser.c": "LL", "internal.h": "MSR",
    "latitude.c": "latitude", "lbr.c": "LBR", "load_latency.c": "LL", "lvt.c": "PMI",
    "model.c": "MSR",
    "model.h": "CNT", "msr.c": "MSR", "msr_bits.c": "MSR", "offcore.c": "LL", "pebs.c": "DS",
    "pmu.c": "MSR", "priority.c": "PRIO", "record.c": "REC", "record.h": "REC", "uncore.c": "UNC",
}
OF_FOLDER = {
    "archpebs": "APEBS", "enumeration": "MSR", "goldencove": "ALBR", "icelake": "ADP",
    "lioncove": "V6",
    "memory": "LL", "netburst": "NB", "tsx": "TSX",
}
# By path below refpmu/model/; * is each function of that file.
OF_FUNCTION = {
    "counter.c": {
        "model_meet_event": "ARM", "overflow_of": "ARM", "wrap": "ARM", "model_disarm": "ARM",
        "model_pebs_enabled": "ARM", "with_pdist": "ARM", "keep_load_latency_alone": "LL",
        "decode_fixed": "FIX",
    },
    "data_address.c": {"precise_store": "PS", "store_status": "PS", "latency_enabled": "LL"},
    "enumeration/leaf_0a.c": {"tells_what_both_have": "HYB", "of_generation": "HYB"},
    "enumeration/enumeration.c": {
        "model_fixed_counters": "FIX", "model_fixed_mask": "FIX", "can_have_metrics": "MET",
        "model_has_metrics": "MET",
    },
    "icelake/metrics.c": {"*": "MET"},
    "lvt.c": {"model_freeze_plan": "FRZ", "model_freeze": "FRZ", "freeze": "FRZ"},
    "memory/frontend.c": {"*": "SKL"},
    "model.c": {
        "other_core_of": "HYB", "has_one_thread": "HYB", "processors_of_p_cores": "HYB",
        "take_core": "HYB", "model_is_hybrid": "HYB", "model_core_type": "HYB",
        "model_is_e_core": "HYB", "model_is_small_core": "HYB", "model_has_force_abort": "TSX",
    },
    "msr.c": {
        "in_use": "STS", "write_ovf_ctrl": "STS", "write_fixed_ctr_ctrl": "FIX",
        "rdpmc_metrics": "MET",
    },
}


def group_of(path, function):
    below = path.removeprefix("refpmu/model/")
    named = OF_FUNCTION.get(below, {})
    folder, name = os.path.split(below)
    return named.get(function) or named.get("*") or OF_FOLDER.get(folder) or OF_FILE[name]


def all_groups():
    return {*OF_FILE.values(), *OF_FOLDER.values(),
            *(group for named in OF_FUNCTION.values() for group in named.values())}
