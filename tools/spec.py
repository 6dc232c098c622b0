#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Read the X-macro tables (spec/, claims/, refpmu/faults/, refpmu/model/) through the preprocessor.

spec.py list WHAT     cpus, hybrids, faults, requirements, groups, latitude or profiles: one line
                      an item, name, tab, sentence
spec.py json          all requirements, with the names of the cpus that they apply to, for the
                      report's pages
spec.py layouts       layouts of PEBS records, names of their bits, likewise
As a module: table(file, macro, fields) gives the rows as dictionaries.
"""
import functools
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MARK = "SPEC_ROW"
FAULTS = "refpmu/faults/"
TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([(),])|([^"(),\s][^"(),]*)')

REQUIREMENT = ("token id group authority silicon kvm reference generations source "
               "sentence").split()
FAULT = "token name requirements sentence scope runs".split()
GENERATION = ("token code name title family model stepping brand perfmon gp gp_no_ht fixed width "
              "max_leaf lbr_fmt pebs_format pebs_mask ll_mask facilities source").split()
ARCHITECTURAL_PEBS = 15     # of IA32_PERF_CAPABILITIES[11:8]: no DS area
LATITUDE = "token name low high source".split()
PROFILE = "token name title".split()


def split_row(text):
    """The arguments of one row: adjacent string literals joined, other text as it stands."""
    fields, depth = [""], 0
    for string, mark, word in TOKEN.findall(text):
        if mark == "," and depth == 1:
            fields.append("")
        elif mark:
            depth += {"(": 1, ")": -1}.get(mark, 0)
            if depth == 0:
                return fields
            if depth > 1:
                fields[-1] += mark
        else:
            fields[-1] += re.sub(r"\\(.)", r"\1", string) if string else word.strip()
    raise ValueError(f"row without an end: {text[:60]}")


def table(file, macro, fields, optional=0):
    """The rows of one macro of one table, in order; none when there is no such table. Optional:
    how many of the last fields may be left out."""
    if not os.path.exists(os.path.join(ROOT, file)):
        return []
    source = f"#define {macro}(...) {MARK} (__VA_ARGS__)\n#include \"{file}\"\n"
    text = subprocess.run(["gcc",
                           "-E", "-P", "-x", "c", "-I", ROOT, "-"], input=source, text=True,
                          capture_output=True, check=True).stdout
    rows = []
    for piece in re.split(rf"\b{MARK}\b", text)[1:]:
        values = split_row(piece.strip())
        if len(fields) - optional <= len(values) < len(fields):
            values += [""] * (len(fields) - len(values))
        if len(values) != len(fields):
            raise ValueError(f"{file}: {macro} has {len(values)} fields, not {len(fields)}")
        rows.append(dict(zip(fields, values)))
    return rows


def requirements():
    return table("claims/requirement.def", "REQUIREMENT", REQUIREMENT)


def faults():
    """The rows, runs as a list of words; legal: why a correct machine may be so, or ""."""
    rows = table(FAULTS + "fault.def", "FAULT", FAULT, optional=2)
    for row in rows:
        words, _, row["legal"] = row["runs"].partition("legal: ")
        row["runs"] = words.split()
        row["requirements"] = [word.strip() for word in row["requirements"].split(",")]
    return rows


def undecidable():
    """Name of a fault to the reason why no test can tell it from a legal machine."""
    return {row["name"]: row["legal"] for row in faults() if row["legal"]}


def variants():
    """Faults with parameters that `make mutants` runs as well: NAME@PARAMETER."""
    return [row["name"] + word for row in faults() for word in row["runs"]
            if word.startswith("@") and ":" not in word]


def elsewhere():
    """Fault, generation and number of processors that `make mutants` runs it with as well."""
    runs = [(row["name"] + word).split(":") + ["1"] for row in faults() for word in row["runs"]
            if ":" in word and "=" not in word]
    return [(name, cpu, int(count)) for name, cpu, count, *_ in runs]


def with_profiles():
    """Fault and profile that `make mutants` runs it with as well."""
    return [(row["name"], word[1:]) for row in faults() for word in row["runs"]
            if word.startswith("/")]


def processors():
    """Name of a fault to the number of processors to run it with, where that isn't one."""
    return {row["name"]: int(word.partition("=")[2]) for row in faults() for word in row["runs"]
            if word.startswith("processors=")}


def settings():
    """Name of a fault to what its runs are made with: cpu, profile, latitude, ht."""
    words = ("cpu", "profile", "latitude", "ht")
    return {row["name"]: {key: value for key, _, value in
                          (word.partition("=") for word in row["runs"]) if key in words}
            for row in faults()}


def under_all_tests():
    """Names of faults that run under every test, not under those of their requirements only."""
    return {row["name"] for row in faults() if "all-tests" in row["runs"]}


def generations():
    return table("spec/generation.def", "GENERATION", GENERATION)


def hybrids():
    """Generations whose package has cores of several types."""
    cores = table("spec/generation.def", "GENERATION_CORE", ["package", "type", "native", "id"])
    types = {}
    for row in cores:
        types.setdefault(row["package"], set()).add(row["type"])
    return [row for row in generations() if len(types.get(row["token"], ())) > 1]


def latitude():
    """Knobs, with their bounds as numbers."""
    rows = table("refpmu/model/latitude.def", "LATITUDE", LATITUDE)
    for row in rows:
        row["low"], row["high"] = int(row["low"], 0), int(row["high"], 0)
    return rows


def drawn_latitude():
    """The knobs that seeds draw: not those of machines in trouble."""
    trouble = {row["name"] for row in table("refpmu/model/latitude.def", "TROUBLE", LATITUDE)}
    return [row for row in latitude() if row["name"] not in trouble]


def profiles():
    return table("refpmu/model/profile.def", "PROFILE", PROFILE)


def profiles_of(cpu):
    """Those that there are of this generation: by their rows, or without a row of all."""
    rows = table("refpmu/model/profile.def", "PROFILE_ON", ["profile", "cpu"])
    named = {row["profile"] for row in rows}
    here = {row["profile"] for row in rows if row["cpu"] == cpu}
    never = table("refpmu/model/profile.def", "PROFILES_NOT_ON", ["begins", "cpu", "source"])
    without = tuple(row["begins"] for row in never if row["cpu"] == cpu)
    return [row for row in profiles() if row["token"] in here or
            row["token"] not in named and not row["name"].startswith(without)]


def untested():
    """Requirement id to the reason why it has no test."""
    return {row["token"].replace("_", "-"): row["reason"]
            for row in table("claims/untested.def", "UNTESTED", ["token", "reason"])}


def old_names():
    """What a test was called in the last release, and its name."""
    return {f"{row['group']}.{row['old']}": f"{row['group']}.{row['claim']}"
            for row in table("tests/frame/old_names.def", "OLD_NAME", ["group", "old", "claim"])}


def statements():
    """The statements of the pages: requirements, faults that break each, cpus that it is about."""
    cpus, through = generations(), codes()
    rows = table("claims/statement.def", "STATEMENT",
                 ["page", "generations", "requirements", "faults", "text"])
    for row in rows:
        row["requirements"] = row["requirements"].split()
        row["faults"] = row["faults"].split()
        row["cpus"] = [cpu["name"] for cpu in cpus if applies(row["generations"], cpu, through)]
    return rows


def codes():
    """The codes of a requirement's column of generations, in order: to the last one each means."""
    return {row["code"]: row["through"]
            for row in table("spec/generation.def", "GENERATION_CODE", ["code", "through"])}


def needs_rtm(text):
    """Is a row with this column of generations about processors with transactions only?"""
    return any(f"with {name}" in text for name in ("RTM", "HLE", "TSX"))


@functools.cache
def with_leaf_23h():
    """Tokens of the generations that have CPUID leaf 23H."""
    return {row["token"] for row in table("spec/generation.def", "GENERATION_EXT",
                                          "token subleaf eax ebx ecx edx source".split())}


def applies(text, cpu, through):
    """Does a requirement's column of generations include this row of generation.def? through is
    codes(). What follows "with" is taken as given, except for full-width writes, formats of
    records, a DS area for PEBS, architectural PEBS and leaf 23H, which the rows know of.
    tests/frame/applies.c says the same to the harness."""
    order = list(through)
    own = order.index(cpu["code"])
    full_width = "FAC_FW_WRITE" in cpu["facilities"]
    if ("with FW_WRITE" in text and not full_width) or ("without FW_WRITE" in text and full_width):
        return False
    if needs_rtm(text) and "FAC_TSX" not in cpu["facilities"]:
        return False
    least = re.search(r"with format (\d+)", text)
    if least and not int(least[1]) <= int(cpu["pebs_format"]) < ARCHITECTURAL_PEBS:
        return False
    if "a DS area for PEBS" in text and int(cpu["pebs_format"]) == ARCHITECTURAL_PEBS:
        return False
    if "with architectural PEBS" in text and int(cpu["pebs_format"]) != ARCHITECTURAL_PEBS:
        return False
    if "with leaf 23H" in text and cpu["token"] not in with_leaf_23h():
        return False
    for word in re.sub(r",? (with|without|client|formats)\b.*", "", text).replace(",", " ").split():
        low, _, high = word.rstrip("+").partition("-")
        if low == "all" or (low == "KVM" and int(cpu["perfmon"]) >= 2):
            return True
        if low[0] == "v":
            number, version = int(low[1:]), int(cpu["perfmon"])
            if version == number or (version > number and word.endswith("+")):
                return True
        elif low in through:
            last = len(order) if word.endswith("+") else order.index(through[high or low])
            if order.index(low) <= own <= last:
                return True
    return False


def with_cpus():
    """requirements(), each with the names of the cpus that it applies to."""
    cpus = generations()
    rows, through = requirements(), codes()
    for row in rows:
        row["cpus"] = [cpu["name"] for cpu in cpus if applies(row["generations"], cpu, through)]
    return rows


def groups_of(file, prefix):
    """Groups of a record in their order, each with the fields that it, or its head, has."""
    fields = table(file, prefix + "_FIELD", ["group", "field", "offset", "size", "title", "source"])
    return [{"name": row["group"], "title": row["title"], "size": int(row["bytes"], 0), "fields": [
        {"offset": int(one["offset"], 0), "size": int(one["size"], 0), "title": one["title"]}
        for one in fields if one["group"] == row["group"]]}
            for row in table(file, prefix + "_GROUP", ["group", "bytes", "title", "source"])]


def adaptive_groups():
    """Groups of an adaptive record in their order, with the bit that asks for each (None: none)."""
    bits = {row["field"]: int(row["low"]) for row in table(
        "spec/msr.def", "MSR_FIELD",
        ["reg", "field", "low", "high", "present", "access", "source"])
            if row["reg"] == "PEBS_DATA_CFG"}
    head = [{"offset": int(row["offset"], 0), "size": int(row["size"], 0), "title": row["title"]}
            for row in table("spec/adaptive.def", "ADAPTIVE_COUNTERS_FIELD",
                             ["field", "offset", "size", "title", "source"])]
    counters, = table("spec/adaptive.def", "ADAPTIVE_COUNTERS", ["bytes", "title", "source"])
    groups = groups_of("spec/adaptive.def", "ADAPTIVE")
    groups.append({"name": "CNTR", "title": counters["title"], "size": int(counters["bytes"], 0),
                   "fields": head})
    return [{**group, "bit": bits.get(group["name"])} for group in groups]


def architectural_groups():
    """What an architectural record's layout depends on, beside the groups: bits and components."""
    file = "spec/arch_pebs.def"
    return {
        "groups": groups_of(file, "ARCH_PEBS"),
        "bits": {row["name"]: [int(row["low"]), int(row["high"])] for row in table(
            file, "ARCH_PEBS_BITS", ["group", "field", "name", "low", "high", "title", "source"])
                 if row["group"] == "HEADER"},
        "xer": [{"number": int(row["number"]), "size": int(row["bytes"], 0), "title": row["title"]}
                for row in table(file, "ARCH_PEBS_XER",
                                 ["component", "number", "bytes", "title", "source"])],
        "entries": {row["code"]: int(row["entries"]) for row in table(
            file, "ARCH_PEBS_LBR_CODE", ["code", "entries", "title", "source"])},
    }


def record_layouts():
    """Layouts of PEBS records by size; bits of the status; meanings of a data source's low bits."""
    formats = []
    for file, prefix, titles in (
            ("spec/record.def", "", {"FMT1": "format 1", "FMT2": "format 2",
                                     "FMT3": "format 3"}),
            ("spec/netburst.def", "NB_", {"NB64": "NetBurst, 64 bits",
                                          "NB32": "NetBurst, 32 bits"})):
        fields = table(file, prefix + "RECORD_FIELD", ["form", "field", "offset", "size", "title"])
        for row in table(file, prefix + "RECORD_SIZE", ["form", "bytes"]):
            formats.append({"title": titles[row["form"]], "size": int(row["bytes"], 0), "fields": [
                {"offset": int(one["offset"], 0), "size": int(one["size"], 0),
                 "title": one["title"]} for one in fields if one["form"] == row["form"]]})
    bits = table("spec/msr.def", "MSR_FIELD",
                 ["reg", "field", "low", "high", "present", "access", "source"])
    sources = ["reserved"] * 16
    for row in table("spec/data_source.def", "DATA_SOURCE",
                     ["gens", "code", "outcome", "authority", "title", "source"]):
        if row["authority"] == "AUTH_TEXT":
            sources[int(row["code"], 0)] = row["title"]
    return {"formats": formats, "adaptive": adaptive_groups(),
            "architectural": architectural_groups(), "data_source": sources, "status": [
        {"name": row["field"], "low": int(row["low"]), "high": int(row["high"])}
        for row in bits if row["reg"] == "IA32_PERF_GLOBAL_STATUS"]}


def main():
    lists = {
        "cpus": lambda: [(row["name"], row["title"]) for row in generations()],
        "hybrids": lambda: [(row["name"], row["title"]) for row in hybrids()],
        "faults": lambda: [(row["name"], row["sentence"]) for row in faults()],
        "requirements": lambda: [(row["id"], row["sentence"]) for row in requirements()],
        "groups": lambda: sorted({(row["group"], "") for row in requirements()}),
        "latitude": lambda: [(row["name"], f"{row['low']} to {row['high']}: {row['source']}")
                             for row in latitude()],
        "profiles": lambda: [(row["name"], row["title"]) for row in profiles()],
    }
    if len(sys.argv) == 3 and sys.argv[1] == "list" and sys.argv[2] in lists:
        for name, sentence in lists[sys.argv[2]]():
            print(f"{name}\t{sentence}")
    elif sys.argv[1:] == ["json"]:
        json.dump(with_cpus(), sys.stdout, indent=1)
    elif sys.argv[1:] == ["layouts"]:
        json.dump(record_layouts(), sys.stdout, indent=1)
    else:
        sys.exit(f"usage: spec.py list {'|'.join(lists)}, or spec.py json|layouts")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "report"))
    import output
    sys.exit(output.guarded("spec.py", main))
