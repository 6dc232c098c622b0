#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that each test checks exactly the requirements that it declares in REQS. Part of the build.

A check is in the test, or in a function, table or macro that the test uses. Prints a line for each
finding, as a compiler does; exit status 1 if there is one.
"""
import sys

import test_source


def reached(test, local, shared):
    """Every definition that the test uses, itself included."""
    seen, todo = {}, [test]
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        names = local[one.file]
        for word in one.uses:
            for other in names.get(word, ()) or shared.get(word, ()):
                if not other.is_test:
                    todo.append(other)
    return seen.values()


def checked(test, local, shared):
    """Token to the place of a check of it; and the tokens that have more than controls."""
    found, claims = {}, set()
    every = list(reached(test, local, shared))
    macros = [one for one in every if one.parameters]
    for one in every:
        tokens = [check for check in one.checks() if check[0] not in one.parameters]
        for macro in macros:
            if macro.name in one.uses:
                tokens += one.relayed(macro)
        for token, line, control in tokens:
            found.setdefault(token, f"{one.file}:{line}")
            if not control:
                claims.add(token)
    return found, claims


def findings(every):
    local, shared = {}, {}
    for one in every:
        local.setdefault(one.file, {}).setdefault(one.name, []).append(one)
        if not one.is_static or one.file.endswith(".h"):
            shared.setdefault(one.name, []).append(one)
    for test in every:
        if not test.is_test:
            continue
        where = f"{test.file}:{test.line}: error: TEST({test.group}, {test.claim})"
        found, claims = checked(test, local, shared)
        for token in sorted(set(found) - set(test.declared)):
            yield f"{found[token]}: error: a check of {token}, which TEST({test.group}, " \
                  f"{test.claim}) doesn't declare ({test.file}:{test.line})"
        for token in test.declared:
            if token not in claims:
                yield f"{where} declares {token} and has " + \
                      ("only controls of it" if token in found else "no check of it")


def main():
    every = [one for file in test_source.files() if not file.startswith("tests/frame/test.h")
             for one in test_source.definitions(file)]
    bad = list(findings(every))
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
