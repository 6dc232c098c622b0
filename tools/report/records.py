# SPDX-License-Identifier: MIT
"""The bytes of PEBS records in a log, decoded by the layouts that the Makefile packs.

A failing test's block may hold "record_N: TEXT: HEX" or "record_N: HEX", with the bytes as they
stand in memory. The format word of an adaptive record tells its layout, the size that of others; of
a long record there is the beginning.
"""
import functools
import json
import re

import packed

KEY = re.compile(r"record(?:_\d{1,4})?$")
HEX = re.compile(r"(?:^|[\s:])((?:[0-9a-fA-F]{2}[\s_]?){16,1024})$")


@functools.lru_cache(maxsize=None)
def layouts():
    try:
        return json.loads(packed.text("layouts.json"))
    except (OSError, KeyError):
        return {"formats": [], "adaptive": [], "status": [], "data_source": []}


class Field:
    """One line of a decoded record."""

    def __init__(self, offset, data, title, meaning=""):
        self.offset, self.data, self.title, self.meaning = offset, data, title, meaning

    @property
    def value(self):
        return int.from_bytes(self.data, "little")


def group_fields(group, begin, count):
    """Fields of a group at an offset; the LBR group's of so many entries, XMM0's of so many."""
    for entry in range(count):
        for field in group["fields"]:
            at = begin + entry * group["size"] + field["offset"]
            if field["size"] > 8:
                for n in range(group["size"] // field["size"]):
                    for half in (0, 8):
                        yield {"offset": at + n * field["size"] + half, "size": 8,
                               "title": f"XMM{n}[{8 * half + 63}:{8 * half}]"}
            else:
                number = f"LBR[{entry}] " if group["entries"] else ""
                yield {**field, "offset": at, "title": number + field["title"]}


def adaptive_layout(data):
    """The layout of an adaptive record, as its format word tells it; None: it is no such record."""
    word = int.from_bytes(data[:8], "little")
    asked, size, end = word & 0xffffffff, word >> 48, 0
    groups, fields, known = [], [], 0xff000000
    for group in layouts().get("adaptive", []):
        known |= 1 << group["bit"] if group["bit"] is not None else 0
        if group["bit"] is not None and not asked >> group["bit"] & 1:
            continue
        count = (asked >> 24) + 1 if group["entries"] else 1
        fields += group_fields(group, end, count)
        end += group["size"] * count
        groups.append(group["title"])
    if not groups or len(data) < 32 or asked & ~known or size != end or size < len(data):
        return None
    cut = f", its first {len(data)} of {size} bytes" if size > len(data) else ""
    return {"title": f"format 4: {', '.join(groups)}{cut}", "size": size,
            "fields": [one for one in fields if one["offset"] + one["size"] <= len(data)]}


class Record:
    """Bytes of one record, its fields, and what the log calls it."""

    def __init__(self, name, data):
        self.name, self.data = name, data
        layout = adaptive_layout(data) or next(
            (one for one in layouts()["formats"] if one["size"] == len(data)), None)
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
