# SPDX-License-Identifier: MIT
"""The group of requirements that a part of the model is about: a file, or a function in it."""

OF_FILE = {
    "access.c": "LL", "bulk.c": "CNT", "core.c": "CNT", "counter.c": "CNT",
    "data_address.c": "DLA", "errata.c": "latitude", "exerciser.c": "LL", "internal.h": "MSR",
    "latitude.c": "latitude", "lbr.c": "LBR", "load_latency.c": "LL", "lvt.c": "PMI",
    "model.c": "MSR",
    "model.h": "CNT", "msr.c": "MSR", "msr_bits.c": "MSR", "offcore.c": "LL", "pebs.c": "DS",
    "pmu.c": "MSR", "priority.c": "PRIO", "record.c": "REC", "record.h": "REC", "uncore.c": "UNC",
}
OF_FOLDER = {
    "enumeration": "MSR", "goldencove": "LBR", "icelake": "ADP", "memory": "LL", "netburst": "NB",
    "tsx": "TSX",
}
OF_FUNCTION = {
    "model_meet_event": "ARM", "overflow_of": "ARM", "wrap": "ARM", "model_disarm": "ARM",
    "model_pebs_enabled": "ARM", "keep_load_latency_alone": "LL",
}


def group_of(path, function):
    folder, name = path.split("/")[-2:]
    return OF_FUNCTION.get(function) or OF_FOLDER.get(folder) or OF_FILE[name]
