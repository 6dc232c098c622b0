# SPDX-License-Identifier: MIT
"""All mutants of the model, and the tree that holds them: links to everything but refpmu/model/."""
import glob
import os
import shutil

from mutate import render, rules, same, syntax

MODEL = "refpmu/model/"
NOT_MUTATED = ("refpmu/model/hooks.h", "refpmu/model/state.h")
KNOB = ('TROUBLE(MUTANT, "mutant", 0, 1000000, "which mutant of the model this is: '
        'tools/mutation.py; 0 none")\n')
LAST_OF_LATITUDE = "#undef TROUBLE\n"


def is_wanted(name):
    return name.startswith(MODEL) and name.endswith((".c", ".h")) and name not in NOT_MUTATED


def functions(root, wanted=None):
    """All functions of the model, each once, with their mutants. wanted: paths of the sources that
    are read, or all."""
    sources, seen, found = {}, set(), []
    paths = sorted(os.path.relpath(path, root)
                   for path in glob.glob(os.path.join(root, MODEL, "**", "*.c"), recursive=True))
    for path in paths:
        if wanted is not None and path not in wanted:
            continue
        unit = syntax.Unit(root, path, sources, is_wanted)
        for node in unit.functions():
            if (node.source.path, node.start) not in seen:
                seen.add((node.source.path, node.start))
                found.append(rules.Function(node))
    return found


def number_them(found, keep):
    """Mutants with numbers and names, places with numbers; keep(mutant): is it one?"""
    number, place = 1, 0
    for function in found:
        seen = {}
        for point in sorted(function.points.values(), key=lambda of: (of.start, -of.end)):
            for mutant in point.mutants:
                seen[mutant.key] = seen.get(mutant.key, 0) + 1
                if seen[mutant.key] > 1:
                    mutant.which = f" ({seen[mutant.key]})"
            point.mutants = [mutant for mutant in point.mutants if keep(mutant)]
            if not point.mutants:
                continue
            point.number, point.first = place, number
            place += 1
            for mutant in point.mutants:
                mutant.number = number
                number += 1


def some_mutants(root, keys):
    """The functions, with the mutants that have these keys alone."""
    # Those of a header are found by way of any source that includes it. Where the chosen one comes
    # in is a function of its own (render.BEGIN).
    headers = any(key[0].endswith(".h") for key in keys)
    found = functions(root, None if headers else {key[0] for key in keys} | {render.BEGINS_IN})
    number_them(found, lambda mutant: mutant.key in keys)
    for function in found:
        function.late = {at: [mutant for mutant in late if mutant.number]
                         for at, late in function.late.items()}
    return found


def all_mutants(root, cache, compiler="gcc", workers=1, wanted=lambda of: True):
    """The functions, whose mutants are numbered now, without what is the same code; and the counts
    of what was dropped. wanted(function): has it mutants at all?"""
    found = functions(root)
    for function in found:
        if not wanted(function):
            function.points = {}
    same.judge(compiler, root, found, cache, workers)
    dropped = {}

    def keep(mutant):
        if mutant.same:
            dropped.setdefault(mutant.same, []).append(mutant)
        return not mutant.same

    number_them(found, keep)
    return found, dropped


def mutants_of(found):
    return [mutant for function in found for point in function.points.values()
            for mutant in point.mutants]


def places_of(found):
    return [point for function in found for point in function.points.values() if point.mutants]


def write(path, text):
    """Only where it is another text, so that make builds what has changed."""
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    except OSError:
        pass
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_tree(root, tree, found, tells):
    """Links to the tree, but for the model: its files with all mutants in them."""
    os.makedirs(os.path.join(tree, "refpmu"), exist_ok=True)
    for folder in (".", "refpmu"):
        for name in os.listdir(os.path.join(root, folder)):
            link = os.path.join(tree, folder, name)
            if (folder, name) not in ((".", "refpmu"), ("refpmu", "model")) and \
                    name not in ("build", ".git") and not os.path.islink(link):
                os.symlink(os.path.abspath(os.path.join(root, folder, name)), link)
    by_file = {}
    for function in found:
        by_file.setdefault(function.source.path, []).append(function)
    for path in glob.glob(os.path.join(root, MODEL, "**", "*"), recursive=True):
        name = os.path.relpath(path, root)
        target = os.path.join(tree, name)
        if os.path.isdir(path):
            os.makedirs(target, exist_ok=True)
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if name in by_file:
            write(target, render.with_all(by_file[name][0].source, by_file[name]))
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if name == MODEL + "latitude.def":
            text = text.replace(LAST_OF_LATITUDE, KNOB + LAST_OF_LATITUDE, 1)
        write(target, text)
    here = os.path.dirname(os.path.abspath(__file__))
    shutil.copy(os.path.join(here, "mutant.h"), os.path.join(tree, MODEL, "mutant.h"))
    places = len(places_of(found))
    with open(os.path.join(here, "mutant.c"), encoding="utf-8") as file:
        write(os.path.join(tree, MODEL, "mutant.c"),
              f"#define MUTANT_PLACES {places}\n#define MUTANT_TELLS {int(tells)}\n" + file.read())
