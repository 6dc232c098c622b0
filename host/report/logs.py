# SPDX-License-Identifier: MIT
"""Logs as the harness writes them, for the tests of the report."""
SENTENCE = "Runs of one workload must differ in retired loads by exactly the declared difference."
BRAND = "Intel(R) Core(TM) i7-4770 CPU @ 3.40GHz"
# A record of format 2: each field holds its offset but the status, where PMC1, fixed counter 0 and
# OvfBuf are set, and the data source, code 3.
RECORD = b"".join({0x90: 1 << 62 | 1 << 32 | 2, 0xa0: 3}.get(at, at).to_bytes(8, "little")
                  for at in range(0, 0xc0, 8))


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def failing(number, name, requirement, wanted="0x0 (0)", got="0x50 (80)", records=(), also=()):
    """Lines of a test point that failed. also: requirements of further failing checks."""
    lines = [f"not ok {number} - {name} [{','.join([requirement, *also])}]", "  ---",
             f"  requirement: {requirement}", f"  sentence: {SENTENCE}",
             "  source: \"SDM chapter 19, events of each generation\"",
             f"  wanted: {quote(wanted)}",
             f"  got: {quote(got)}", "  place: \"tests/core/count.c:145\"",
             "  what: \"loads in 80 more rounds of store, IA32_PMC0\""]
    lines += [f"  also_{i}: \"{one} another thing, IA32_PMC1: wanted 1, got 2 (tests/a.c:7)\""
              for i, one in enumerate(also, 2)]
    lines += [f"  record_{i}: \"the record of IA32_PMC0: {data.hex()}\""
              for i, data in enumerate(records, 1)]
    return [*lines, "  failed: 1 of 8 checks", "  ..."]


def log(points, brand=BRAND, microcode="0x28", system="Example Corp., Model 1", more=(), total=9,
        reference=False, ends=True):
    """A whole log. points: (verdict, name, requirement), or the lines of one."""
    lines = ["TAP version 14", "# run: pmu=reference cpu=haswell fault=none seed=0 profile=none"
             if reference else "# run: pmu=silicon", f"1..{len(points)}",
             f"# processor: GenuineIntel 06_3c stepping 3, {brand}", f"# microcode: {microcode}",
             "# generation: 4th generation Intel Core (Haswell)",
             "# platform: no hypervisor (CPUID.01H:ECX[31] = 0)", f"# system: {system}",
             "# version: PMUTest86 0.1.0 (0123456789)", *more]
    counts = dict.fromkeys(("PASS", "SKIP", "INCONCLUSIVE", "KNOWN", "FAIL", "ERROR"), 0)
    for number, point in enumerate(points, 1):
        if isinstance(point, list):
            counts["FAIL"] += 1
            lines += point
            continue
        verdict, name, requirement = point
        counts[verdict] += 1
        if verdict == "FAIL":
            lines += failing(number, name, requirement)
            continue
        head = f"ok {number} - {name} [{requirement}]"
        tail = {"SKIP": " # SKIP no such counter (CPUID.0AH:EAX = 0)",
                "INCONCLUSIVE": " # SKIP INCONCLUSIVE: disturbed each time",
                "KNOWN": " # TODO KNOWN HSW1: as published"}.get(verdict, "")
        lines.append(("not " if verdict in ("KNOWN", "ERROR") else "") + head + tail)
        if verdict == "ERROR":
            lines += ["  ---", "  severity: error", "  message: \"the test hung\"", "  ..."]
        elif verdict == "KNOWN":
            lines += ["  ---", f"  requirement: {requirement}", "  ..."]
    decided = counts["PASS"] + counts["FAIL"] + counts["KNOWN"]
    if ends:
        status = 1 if counts["FAIL"] else 2 if counts["ERROR"] or not decided else 0
        lines += [f"# end of PMUTest86: exit {status}",
                  f"# requirements decided {decided} of {total} decidable here (9 of 10 are about "
                  "this processor)"]
        lines.append(f"# decided {counts['PASS']}, skipped {counts['SKIP']}, inconclusive "
                     f"{counts['INCONCLUSIVE']}, known {counts['KNOWN']}, failed "
                     f"{counts['FAIL']}, errors {counts['ERROR']}")
        if not decided:
            lines.append("# NOT TESTED: this processor has no PMU")
    return "\n".join(lines) + "\n"
