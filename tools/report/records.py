# SPDX-License-Identifier: MIT
"""The bytes of PEBS records in a log, decoded by the layouts that the Makefile packs.

A failing test's block may hold "record_N: TEXT: HEX" or "record_N: HEX", with the bytes as they
stand in memory (layout.py).
"""
import re

from layout import layout_of, layouts

KEY = re.compile(r"record(?:_\d{1,4})?$")
HEX = re.compile(r"(?:^|[\s:])((?:[0-9a-fA-F]{2}[\s_]?){16,1024})$")


class Field:
    """One line of a decoded record."""

    def __init__(self, offset, data, title, meaning=""):
        self.offset, self.data, self.title, self.meaning = offset, data, title, meaning

    @property
    def value(self):
        return int.from_bytes(self.data, "little")


class Record:
    """Bytes of one record, its fields, and what the log calls it."""

    def __init__(self, name, data):
        self.name, self.data = name, data
        layout = layout_of(data)
        self.layout = layout["title"] if layout else f"no layout of {len(data)} bytes is known"
        self.fields = [Field(one["offset"], data[one["offset"]:one["offset"] + one["size"]],
                             one["title"]) for one in layout["fields"]] if layout else \
            [Field(at, data[at:at + 8], "") for at in range(0, len(data), 8)]
        for field in self.fields:
            if field.title == "IA32_PERF_GLOBAL_STATUS":
                field.meaning = status_words(field.value)
            elif field.title.startswith("Data Source"):
                field.meaning = source_words(field.value)


def status_words(value):
    """Names of the bits that are set."""
    said = []
    for row in layouts()["status"]:
        for bit in range(row["low"], row["high"] + 1):
            if value >> bit & 1:
                number = bit - row["low"]
                said.append(f"{row['name']}{number}" if row["high"] > row["low"] else row["name"])
    return " ".join(said)


def source_words(value):
    """Of a load latency record; other facilities give the same bits other meanings."""
    words = layouts()["data_source"]
    return f"as load latency: {words[value & 15]}" if value and value & 15 < len(words) else ""


def records_of(point):
    """The records in a test point's block."""
    found = []
    for key, text in point.details.items():
        match = HEX.search(text) if KEY.match(key) else None
        if match:
            data = bytes.fromhex(re.sub(r"[\s_]", "", match[1]))
            found.append(Record(text[:match.start()].strip(" :") or key.replace("_", " "), data))
    return found
