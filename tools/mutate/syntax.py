# SPDX-License-Identifier: MIT
"""The syntax tree of a source, as libclang gives it, with what mutation asks of it: the text that a
node stands for, its operator, its value where that is a constant. What a macro stands for is one
piece: nothing inside is told apart.
"""
import bisect
import ctypes
import glob
import os
import re
import sys

# Where Debian has it, for a Python that isn't Debian's own.
sys.path.append("/usr/lib/python3/dist-packages")

ARGUMENTS = ("-std=gnu11 -ffreestanding -fshort-wchar -mgeneral-regs-only -w").split()
WRAPPERS = ("UNEXPOSED_EXPR", "PAREN_EXPR")
EVALUATED_INT = 1


def library():
    """Module clang.cindex, or None where it or its library is missing."""
    try:
        from clang import cindex
        cindex.Index.create()
    except (ImportError, OSError):
        return None
    except cindex.LibclangError:
        files = sorted(glob.glob("/usr/lib/llvm-*/lib/libclang.so*") +
                       glob.glob("/usr/lib/*/libclang-*.so*"))
        if not files:
            return None
        cindex.Config.library_file = files[-1]
        try:
            cindex.Index.create()
        except cindex.LibclangError:
            return None
    return cindex


class Source:
    """One file of the sources that were read, and where its macros are used."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.path, self.macros, self.starts = path, [], []

    def text(self, start, end):
        return self.bytes[start:end].decode("utf-8")

    def add_macros(self, ranges):
        """Only those that aren't inside another one."""
        self.macros = []
        for start, end, name in sorted(ranges, key=lambda of: (of[0], -of[1])):
            if not self.macros or start >= self.macros[-1][1]:
                self.macros.append((start, end, name))
        self.starts = [start for start, _, _ in self.macros]

    def macro_at(self, offset):
        """(start, end, name) of the macro that is used there, or None."""
        at = bisect.bisect_right(self.starts, offset) - 1
        return self.macros[at] if at >= 0 and offset < self.macros[at][1] else None


class Node:
    """A node of the tree, within one file."""

    def __init__(self, unit, cursor):
        self.unit, self.cursor = unit, cursor
        self.kind = cursor.kind.name
        source, extent = unit.source_of(cursor), cursor.extent
        self.source, self.start, self.end, self.macro = source, 0, 0, ""
        if not source:
            return
        self.start, self.end = extent.start.offset, extent.end.offset
        first = source.macro_at(self.start)
        last = source.macro_at(max(self.end - 1, self.start)) or source.macro_at(self.end)
        if first:
            self.start = first[0]
        if last and last[0] <= self.end:
            self.end = max(self.end, last[1])
        if first and (self.start, self.end) == first[:2]:
            self.macro = first[2]

    @property
    def text(self):
        return self.source.text(self.start, self.end)

    @property
    def line(self):
        return self.source.bytes.count(b"\n", 0, self.start) + 1

    def children(self):
        return [Node(self.unit, cursor) for cursor in self.cursor.get_children()]

    def here(self):
        """Written in the file that it is used in: not of a table that is included there."""
        return self.source is not None and self.cursor.extent.end.file is not None and \
            self.cursor.extent.end.file.name == self.cursor.extent.start.file.name

    def bare(self):
        """Without implicit conversions and parentheses."""
        node = self
        while node.kind in WRAPPERS and not node.macro:
            inside = node.children()
            if len(inside) != 1:
                break
            node = inside[0]
        return node

    def type_kind(self):
        return self.cursor.type.get_canonical().kind.name

    def is_bool(self):
        return self.type_kind() == "BOOL"

    def bits(self):
        """Of its integer type, or 0."""
        kind = self.type_kind()
        return {"ULONG": 64, "ULONGLONG": 64, "LONG": 64, "LONGLONG": 64, "UINT": 32, "INT": 32,
                "USHORT": 16, "UCHAR": 8, "ENUM": 32}.get(kind, 0)

    def operator(self, children):
        """Of a node with two operands: the text between them."""
        between = self.source.text(children[0].end, children[1].start)
        return re.sub(r"/\*.*?\*/|[\s()]", "", between, flags=re.S)

    def prefix(self, child):
        """The operator of a node with one operand: what is before it, or after it."""
        return self.source.text(self.start, child.start).strip(" (") or \
            self.source.text(child.end, self.end).strip(" )")

    def value(self):
        """Of a constant expression of an integer type, or None."""
        if not self.bits() and not self.is_bool():
            return None
        return self.unit.evaluate(self.cursor)


class Unit:
    """A translation unit."""

    def __init__(self, root, path, sources, wanted):
        """sources: path to Source, those that are known, shared by all units. wanted(path): is the
        file one whose nodes are asked for?"""
        cindex = library()
        self.root, self.sources, self.wanted, self.library = root, sources, wanted, cindex.conf.lib
        for name, result in (("clang_Cursor_Evaluate", ctypes.c_void_p),
                             ("clang_EvalResult_getKind", ctypes.c_int),
                             ("clang_EvalResult_getAsUnsigned", ctypes.c_ulonglong),
                             ("clang_EvalResult_dispose", None)):
            function = getattr(self.library, name)
            function.argtypes = [cindex.Cursor if name.endswith("Evaluate") else ctypes.c_void_p]
            function.restype = result
        self.unit = cindex.Index.create().parse(
            os.path.join(root, path), args=ARGUMENTS + ["-I" + root],
            options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        errors = [str(one) for one in self.unit.diagnostics if one.severity >= 3]
        if errors:
            raise ValueError(errors[0])
        macros = {}
        for cursor in self.unit.cursor.get_children():
            if cursor.kind.name == "MACRO_INSTANTIATION" and self.name_of(cursor):
                macros.setdefault(self.name_of(cursor), set()).add(
                    (cursor.extent.start.offset, cursor.extent.end.offset, cursor.spelling))
        for name, ranges in macros.items():
            self.source(name).add_macros(ranges)

    def name_of(self, cursor):
        """The file of a node, within the tree, if it is wanted; or ""."""
        file = cursor.extent.start.file
        name = os.path.relpath(file.name, self.root) if file else ""
        return name if name and self.wanted(name) else ""

    def source(self, name):
        if name not in self.sources:
            self.sources[name] = Source(os.path.join(self.root, name))
            self.sources[name].path = name
        return self.sources[name]

    def source_of(self, cursor):
        name = self.name_of(cursor)
        return self.source(name) if name else None

    def evaluate(self, cursor):
        result = self.library.clang_Cursor_Evaluate(cursor)
        if not result:
            return None
        try:
            if self.library.clang_EvalResult_getKind(result) != EVALUATED_INT:
                return None
            return self.library.clang_EvalResult_getAsUnsigned(result)
        finally:
            self.library.clang_EvalResult_dispose(result)

    def functions(self):
        """The functions with a body that are written in wanted files."""
        for cursor in self.unit.cursor.get_children():
            if cursor.kind.name == "FUNCTION_DECL" and cursor.is_definition() and \
                    self.name_of(cursor):
                yield Node(self, cursor)
