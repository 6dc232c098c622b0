# SPDX-License-Identifier: MIT
"""machine.json: the description of the machine from a run's first lines, for programs.
docs/RESULTS-FORMAT.md describes it; the harness writes the same to its stick
(boot/results/machine.c)."""
import re

ONCE = ("version", "processor", "microcode", "generation", "platform", "perfmon", "pebs",
        "firmware", "bios", "system", "board", "acpi", "processors", "serial", "screen", "hpet",
        "exerciser")
REGISTERS = ("eax", "ebx", "ecx", "edx")
PROCESSOR = re.compile(r"processor ([0-9]{1,4}): ")
KIND = re.compile(r"cpuid of processor ([0-9]{1,4})[:,]")
LEAF = re.compile(r"cpuid: ([0-9a-f]{8})\.([0-9a-f]{1,8})" + " ([0-9a-f]{8})" * 4 + "$")


def said(run, key):
    return [text[len(key) + 2:] for text in run.comments if text.startswith(key + ": ")]


def processors(run):
    found = (PROCESSOR.match(text) for text in run.comments)
    for number in sorted({int(match[1]) for match in found if match}):
        yield {"number": number, "said": said(run, f"processor {number}")}


def kinds(run):
    """The first processor of each kind: its leaves and registers."""
    found = []
    for text in run.comments:
        kind, leaf = KIND.match(text), LEAF.match(text)
        if kind:
            msrs = [text.split(" ", 3) for text in said(run, f"rdmsr of processor {kind[1]}")]
            found.append({"processor": int(kind[1]), "cpuid": [],
                          "msrs": [{"index": words[0], "value": words[2], "name": words[3]}
                                   for words in msrs if len(words) == 4]})
        elif leaf and found:
            words = ["0x" + word for word in leaf.groups()]
            found[-1]["cpuid"].append({"leaf": words[0], "subleaf": words[1],
                                       **dict(zip(REGISTERS, words[2:]))})
    return found


def machine(run):
    return {"format": "pmutest86-machine", "version": 1,
            "said": {key: said(run, key)[0] for key in ONCE if said(run, key)},
            "left_out": said(run, "left out"),
            "processors": list(processors(run)), "kinds": kinds(run)}
