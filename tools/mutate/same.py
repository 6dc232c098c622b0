# SPDX-License-Identifier: MIT
"""Which mutants compile to the code of the original, or of a mutant before: each function is
compiled once with each of its mutants. What isn't C is found as well.
"""
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import subprocess

from mutate import render

# Nothing that makes one of them from what is known of another one, and no code or tables that lie
# elsewhere.
FLAGS = ("-std=gnu11 -O2 -g0 -w -ffreestanding -fPIC -fvisibility=hidden -fshort-wchar "
         "-mno-red-zone -mgeneral-regs-only -fno-stack-protector -fno-asynchronous-unwind-tables "
         "-fcf-protection=none -fno-strict-aliasing -fno-ipa-icf -fno-ipa-cp -fno-ipa-sra "
         "-fno-ipa-ra -fno-jump-tables -fno-tree-switch-conversion "
         "-fno-reorder-blocks-and-partition -fno-toplevel-reorder -S -o - -x c -").split()
AT_A_TIME = 250     # functions a compilation
SAME, DUPLICATE, INVALID = "same code", "duplicate", "invalid"
NAME = re.compile(r"mutant_(\d+)_of_\w+")


def assembly(text):
    """Name of a function to its code, in which labels are numbered as they come."""
    code, name, labels, lines = {}, None, {}, []
    for line in text.split("\n"):
        match = re.match(r"(mutant_\w+):$", line)
        if match:
            name, labels, lines = match[1], {}, []
        elif name and line.startswith("\t.size\t"):
            code[name], name = hashlib.sha256("\n".join(lines).encode()).hexdigest(), None
        elif name and not re.match(r"\t\.(p2align|align|type|globl|hidden|section|text)\b", line):
            line = NAME.sub("mutant", line)
            line = re.sub(r"\.L[A-Z]*\d+", lambda of: labels.setdefault(of[0], f"L{len(labels)}"),
                          line)
            lines.append(re.sub(r"(\w)\.\d+\b", r"\1", line))
    return code


def compile_clones(compiler, tree, includes, clones):
    """clones: name to text. Name to its code; those that aren't C are missing."""
    left = dict(clones)
    while left:
        done = subprocess.run([compiler] + FLAGS + ["-I" + tree], text=True, capture_output=True,
                              input=includes + "".join(left.values()), check=False)
        if not done.returncode:
            return assembly(done.stdout)
        wrong = {match[1] for match in re.finditer(r"^(mutant_\w+):\d+:.*\berror:", done.stderr,
                                                   re.M)} & set(left)
        if not wrong:
            raise ValueError(done.stderr[:2000])
        for name in wrong:
            del left[name]
    return {}


def judge_function(compiler, tree, includes, function):
    """Verdicts of its mutants, in their order."""
    mutants = [mutant for point in function.points.values() for mutant in point.mutants]
    base = f"mutant_0_of_{function.name}"
    original = render.clone(function, base)
    names = [f"mutant_{number}_of_{function.name}" for number in range(1, len(mutants) + 1)]
    clones = {name: render.clone(function, name, mutant) for name, mutant in zip(names, mutants)}
    code = {}
    for at in range(0, len(names), AT_A_TIME):
        some = {name: clones[name] for name in names[at:at + AT_A_TIME]}
        code.update(compile_clones(compiler, tree, includes, {base: original, **some}))
    seen, verdicts = {code.get(base): SAME}, []
    for name in names:
        known = code.get(name)
        verdicts.append(INVALID if known is None else seen.get(known, ""))
        seen.setdefault(known, DUPLICATE)
    return verdicts


class Cache:
    """Verdicts by what they follow from."""

    def __init__(self, path, compiler, tree):
        self.path, self.kept, self.used = path, {}, {}
        texts = [compiler, FLAGS]
        for name in sorted(glob.glob(os.path.join(tree, "refpmu/model/**/*.h"), recursive=True) +
                           glob.glob(os.path.join(tree, "spec/*"))):
            with open(name, encoding="utf-8") as file:
                texts.append(file.read())
        self.common = json.dumps(texts)
        try:
            with open(path, encoding="utf-8") as file:
                self.kept = json.load(file)
        except (OSError, ValueError):
            pass

    def key(self, includes, function):
        edits = [mutant.edits for point in function.points.values() for mutant in point.mutants]
        return hashlib.sha256(json.dumps([self.common, includes, function.name, edits])
                              .encode()).hexdigest()

    def save(self):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump({**self.kept, **self.used}, file)
        os.replace(self.path + ".new", self.path)


def judge(compiler, tree, functions, path, workers):
    """Sets mutant.same of each: SAME, DUPLICATE, INVALID or "". path: where verdicts are kept."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    cache = Cache(path, compiler, tree)

    def verdicts_of(function):
        name = function.source.path
        includes = function.source.text(0, len(function.source.bytes)) if name.endswith(".c") \
            else f'#include "refpmu/model/internal.h"\n#include "{name}"\n'
        key = cache.key(includes, function)
        if not function.points:
            return []
        cache.used[key] = cache.kept.get(key) or judge_function(compiler, tree, includes, function)
        return cache.used[key]

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for function, verdicts in zip(functions, pool.map(verdicts_of, functions)):
            mutants = [mutant for point in function.points.values() for mutant in point.mutants]
            for mutant, verdict in zip(mutants, verdicts, strict=True):
                mutant.same = verdict
    cache.save()
