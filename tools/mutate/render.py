# SPDX-License-Identifier: MIT
"""From places and mutants to sources: a copy of each file in which all of them are and one is
chosen when it runs; and, to find what compiles to the same code, a copy of each function for each
of its mutants.
"""
import re

HEADER = "refpmu/model/mutant.h"
# Where the chosen mutant comes in, and the parameters that it has by then.
BEGINS_IN = "refpmu/model/model.c"
BEGIN = ("model_init", "mutant_begin(config->latitude.value[LAT_MUTANT], host->processor);")


def chosen(mutant):
    return f"mutant_number == {mutant.number}"


def expression(point):
    """What stands before and after the expression of a place."""
    texts = [mutant.edits[0][2] for mutant in point.mutants]
    choice = f"({texts[-1]})"
    for mutant, text in reversed(list(zip(point.mutants[:-1], texts[:-1]))):
        choice = f"{chosen(mutant)} ? ({text}) : {choice}"
    if point.condition:
        choice = f"!!({choice})"
    return f"({at(point)} ? ({choice}) : {'!!' * point.condition}(", "))"


def statement(point):
    choice = " else ".join(f"if ({chosen(mutant)}) {{ {mutant.edits[0][2]} }}"
                           for mutant in point.mutants)
    return f"{{ if ({at(point)}) {{ {choice} }} else {{ ", " } }"


def at(point):
    return f"mutant_at({point.number}, {point.first}, {len(point.mutants)})"


def with_all(source, functions):
    """The text of a source with all mutants of its functions in it."""
    pieces = []         # offset, whether it opens, order among those there, text
    for function in functions:
        for point in function.points.values():
            if not point.mutants:
                continue
            before, after = (statement if point.statement else expression)(point)
            size = point.end - point.start
            pieces.append((point.start, 1, (-size, not point.statement), before))
            pieces.append((point.end, 0, (size, point.statement), after))
        for offset, mutants in function.late.items():
            for mutant in mutants:
                if mutant.number:
                    # After all that ends there.
                    pieces.append((offset, 0, (1 << 30, True),
                                   f" if ({chosen(mutant)}) {{ {mutant.edits[1][2]} }}"))
        if function.name == BEGIN[0]:
            pieces.append((function.body.start + 1, 1, (-(1 << 30), False), f"\n\t{BEGIN[1]}\n"))
    text, last = [f'#include "{HEADER}"\n#line 1\n'], 0
    for offset, _, _, piece in sorted(pieces, key=lambda of: of[:3]):
        text += [source.text(last, offset), piece]
        last = offset
    return "".join(text + [source.text(last, len(source.bytes))])


def edited(source, start, end, edits):
    text, last = [], start
    for first, after, piece in sorted(edits):
        text += [source.text(last, first), piece]
        last = after
    return "".join(text + [source.text(last, end)])


def clone(function, name, mutant=None):
    """The function under another name, with a mutant."""
    node, source = function.node, function.source
    at_name = node.cursor.location.offset
    head = re.sub(r"\b(static|inline)\b|__attribute__\s*\(\(.*?\)\)", "",
                  source.text(node.start, at_name))
    parameters = source.text(at_name + len(function.name), function.body.start)
    body = edited(source, function.body.start, function.body.end, mutant.edits if mutant else [])
    return f'\n#line 1 "{name}"\n__attribute__((noinline)) {head} {name}{parameters}{body}\n'
