#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of tools/mutate/: which mutants a small source has, that all of them in one copy of it do
what each does alone, and what is dropped. The last line is "mutate.py: N passed, N failed".
"""
import os
import subprocess
import sys
import tempfile
import traceback

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tools"))
from mutate import (groups, known, legal, machine, model, render, report, rules,  # noqa: E402
                    same, syntax)
import run                                                  # noqa: E402
import spec                                                 # noqa: E402

HEAD = """#include <stdbool.h>
#include <stdint.h>
typedef uint64_t u64;
typedef uint32_t u32;
typedef uint8_t u8;
#define BIT(n) (1ULL << (n))
struct state { u64 status, value[4]; bool armed; };
void fault_note(struct state *s);
u64 fault_value(struct state *s, u64 value);
void serve(struct state *s);
"""
# What the copies are compared by: the result and the state, for some arguments.
MAIN = """
#include <stdio.h>
u32 mutant_number;
unsigned char mutant_reached[1000];
void fault_note(struct state *s) { (void)s; }
u64 fault_value(struct state *s, u64 value) { (void)s; return value; }
void serve(struct state *s) { s->value[3] = s->value[3] * 3 + s->status; }
static void show(u64 (*f)(struct state *, u32))
{
	for (u32 i = 0; i < 4; i++) {
		struct state s = { 5, { 1, 2, 3, 4 }, false };
		printf("%llx ", (unsigned long long)f(&s, i));
		printf("%llx %llx %llx %llx %llx %d;", (unsigned long long)s.status,
		       (unsigned long long)s.value[0], (unsigned long long)s.value[1],
		       (unsigned long long)s.value[2], (unsigned long long)s.value[3], s.armed);
	}
	printf("\\n");
}
"""
BODY = """
u64 f(struct state *s, u32 i)
{
	u64 mask = 0x30, n = 0;

	fault_note(s);
	if (i < 2 && !(s->status & BIT(i)))
		return s->value[i] & mask;
	for (u32 k = 0; k < 3; k++)
		n += s->value[k];
	s->status |= BIT(i);
	serve(s);
	s->value[0] = n;
	s->value[1] = fault_value(s, n == 6 ? 7 : 8);
	s->armed = i != 3;
	s->status &= ~BIT(0);
	while (n > 100)
		n--;
	return n;
}
"""


def function_of(body, name="f", folder=None):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(folder or work, "a.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD + body)
        unit = syntax.Unit(folder or work, "a.c", {}, lambda of: of == "a.c")
        return next(rules.Function(node) for node in unit.functions()
                    if node.cursor.spelling == name)


def mutants_of(function):
    return [mutant for point in function.points.values() for mutant in point.mutants]


def changes(body):
    return {(mutant.kind, mutant.original, mutant.mutated) for mutant in
            mutants_of(function_of("u64 f(struct state *s, u32 i)\n{\n" + body + "\n}\n"))}


def test_comparisons_are_exchanged():
    found = changes("return i < 3 ? 1 : 2;")
    assert ("comparison", "i < 3", "i <= 3") in found
    assert ("comparison", "i < 3", "i != 3") in found
    assert ("condition", "i < 3", "0") in found
    assert ("constant", "3", "(3 - 1)") in found


def test_each_bit_of_a_mask_is_dropped_and_added():
    found = changes("return s->status & 0x30;")
    assert {mutated for kind, original, mutated in found if kind == "bit"} == {
        "(0x30 & ~(1ULL << 4))", "(0x30 & ~(1ULL << 5))", "(0x30 | 1ULL << 3)",
        "(0x30 | 1ULL << 6)"}


def test_widths_are_narrowed_where_state_is_kept():
    found = changes("s->status = s->value[0] + 1; return 0;")
    assert sum(kind == "width" for kind, _, _ in found) == 3


def test_statements_are_left_out_doubled_and_late():
    found = changes("s->status |= 4; serve(s); s->armed = true; return 0;")
    assert ("left out", "s->status |= 4;", ";") in found
    assert ("operator", "s->status |= 4;", "s->status = 4;") in found
    assert ("late", "s->status |= 4;", "after the next statement") in found
    assert ("doubled", "serve(s);", "twice") in found


def test_indices_are_exchanged():
    found = changes("return s->value[i];")
    assert ("index", "i", "((i) + 1) % 4") in found
    assert ("index", "BIT(i)", "(BIT(i) << 1)") in changes("return s->status & BIT(i);")


def test_hooks_are_left_alone():
    assert not any("fault_note" in original for _, original, _ in
                   changes("fault_note(s); return 0;"))
    assert not any("fault_value" in original and kind == "left out" for kind, original, _ in
                   changes("s->status = fault_value(s, s->status); return 0;"))


def test_all_in_one_do_what_each_does_alone():
    """Each mutant, chosen at run time, against its own copy of the function."""
    with tempfile.TemporaryDirectory() as work:
        function = function_of(BODY, folder=work)
        number = 1
        places = [point for point in function.points.values() if point.mutants]
        for at, point in enumerate(places):
            point.number, point.first = at, number
            for mutant in point.mutants:
                mutant.number = number
                number += 1
        mutants = mutants_of(function)
        # Those that may never end or reach beyond an array aren't run.
        mutants = [mutant for mutant in mutants if "k" not in mutant.original and
                   "n--" not in mutant.original and "n > 100" not in mutant.original and
                   "100" not in mutant.original and "k++" not in mutant.original and
                   mutant.original != "3"]
        text = render.with_all(function.source, [function]).replace(
            '#include "refpmu/model/mutant.h"', "")
        at = ("#define mutant_at(p, f, c) (mutant_reached[p] = 1, mutant_number - (f) < (c))\n"
              "extern unsigned mutant_number; extern unsigned char mutant_reached[];\n")
        clones = "".join(render.clone(function, f"mutant_{mutant.number}", mutant)
                         for mutant in mutants)
        calls = "".join(f"mutant_number = {mutant.number}; show(f); mutant_number = 0; "
                        f"show(mutant_{mutant.number});\n" for mutant in mutants)
        program = os.path.join(work, "b")
        with open(program + ".c", "w", encoding="utf-8") as file:
            file.write(at + text + MAIN + clones + "int main(void) {\n" + calls + "}\n")
        subprocess.run(["gcc", "-w", "-O1", program + ".c", "-o", program], check=True)
        lines = subprocess.run([program], capture_output=True, text=True, check=True,
                               timeout=20).stdout.splitlines()
        assert len(lines) == 2 * len(mutants) > 60
        for mutant, one, alone in zip(mutants, lines[::2], lines[1::2]):
            assert one == alone, mutant.original + " -> " + mutant.mutated


def test_the_same_code_is_found():
    function = function_of("u64 f(struct state *s, u32 i)\n{\n\treturn i > 0 ? 3 : 4;\n}\n")
    base = render.clone(function, "mutant_0_of_f")
    clones = {f"mutant_{n}_of_f": render.clone(function, f"mutant_{n}_of_f", one)
              for n, one in enumerate(mutants_of(function), 1)}
    code = same.compile_clones("gcc", ROOT, HEAD, {"mutant_0_of_f": base, **clones})
    by_text = {one.mutated: code[f"mutant_{n}_of_f"]
               for n, one in enumerate(mutants_of(function), 1)}
    assert by_text["i != 0"] == code["mutant_0_of_f"]      # of a number without a sign
    assert by_text["i >= 0"] != code["mutant_0_of_f"]


def test_rows_name_mutants_by_patterns():
    key = ("refpmu/model/lvt.c", "model_request", "index", "a[i]", "((i) + 1) % 4")
    assert legal.Table.matches(["lvt.c", "model_*", "*", "a[i]", "*"], key)
    assert not legal.Table.matches(["lvt.c", "model_*", "*", "b[i]", "*"], key)


def test_numbered_mutants_are_those_that_are_kept():
    function = function_of("u64 f(struct state *s, u32 i)\n{\n\treturn i > 3 && i > 3;\n}\n")
    model.number_them([function], lambda of: of.key[3] == "i > 3 (2)")
    mutants = mutants_of(function)
    assert [mutant.number for mutant in mutants] == list(range(1, len(mutants) + 1))
    assert mutants and all(mutant.original == "i > 3" for mutant in mutants)


def test_known_mutants_are_kept_while_they_exist():
    rows = [known.Row((f"{name}.c", "f", "index", "i", "j", "haswell", test))
            for name, test in (("a", "old.a"), ("b", "old.b"), ("gone", "old.c"))]
    newer = known.Row((*rows[0].key, "haswell", "new.a"))
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "killed.tsv")
        known.write(known.merge(rows, [newer], lambda key: key[0] != "gone.c"), path)
        assert {row.key[0]: row.test for row in known.read(path)} == {"a.c": "new.a",
                                                                      "b.c": "old.b"}


def test_reached_places_are_read():
    jobs = [machine.job(name=str(n)) for n in range(2)]
    machine.Pool("build", 1, None).read_log(jobs, (
        "launch: run 1 cpu=x\r\nmutation: reached ff\r\nlaunch: run 2 cpu=x\r\n"
        "mutation: reached 81 endless\r\nlaunch: run 3 x\r\nmutation: reached 00\r\n"))
    assert machine.places(jobs[0].reached) == {3, 4} and jobs[0].endless
    assert jobs[1].reached == "00" and not jobs[1].endless


def test_what_gives_no_result_runs_once_more_and_is_counted_apart():
    begun = []

    class Lossy(machine.Machine):
        """A machine that loses mutant 1 once and mutant 2 each time."""

        def work_through(self, jobs, longest=machine.LONGEST):
            begun.append([one.name for one in jobs])
            for one in jobs:
                one.run = run.Run()
                one.run.complete = one.name == "3" or (one.name == "1" and len(begun) > 1)

    class Mutant:
        def __init__(self, number):
            self.number = number

    one, verdicts = Lossy("build", 1, "haswell", 1), {}
    one.know({"group.test": ()})
    mutants = [Mutant(number) for number in (1, 2, 3)]
    survived = one.stage(mutants, lambda of: ("group.test",), verdicts)
    assert begun == [["1", "2", "3"], ["1", "2"]]
    assert [of.number for of in survived] == [1, 3] and verdicts[2][0] == machine.NOT_RUN
    rows = [{"class": verdicts[of.number][0], "group": "LL"} for of in mutants]
    assert list(report.lines(rows, report.group_of))[-1][3] == 0    # of two, not of three
    rows[0]["class"] = machine.KILLED
    assert list(report.lines(rows, report.group_of))[-1][3] == 50


def test_each_function_of_the_model_has_a_group():
    names = [os.path.relpath(os.path.join(folder, name), ROOT)
             for folder, _, files in os.walk(os.path.join(ROOT, model.MODEL)) for name in files]
    for name in names:
        if name.endswith(".c"):
            assert groups.group_of(name, "any")


def test_groups_name_what_is_there():
    known_groups = {row["group"] for row in spec.requirements()} | {"latitude"}
    assert groups.all_groups() <= known_groups, groups.all_groups() - known_groups
    for path, named in groups.OF_FUNCTION.items():
        with open(os.path.join(ROOT, model.MODEL, path), encoding="utf-8") as file:
            text = file.read()
        for function in named:
            assert function == "*" or f"{function}(" in text, (path, function)


def test_each_row_of_legal_mutants_is_about_one_that_is_there():
    found = model.functions(ROOT)
    model.number_them(found, lambda mutant: True)
    stale = legal.Table().stale({mutant.key for mutant in model.mutants_of(found)})
    assert not stale, f"claims/mutants-legal.tsv: {stale}"


def main():
    tests = [value for name, value in sorted(globals().items()) if name.startswith("test_")]
    failed = 0
    for test in tests:
        try:
            test()
        except Exception:       # noqa: BLE001 # pylint: disable=broad-except
            failed += 1
            print(f"{test.__name__}:")
            traceback.print_exc(file=sys.stdout)
    print(f"mutate.py: {len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
