# SPDX-License-Identifier: MIT
"""The place of each field in a PEBS record, by the layouts that the Makefile packs.

The format word of an adaptive record names its groups, and so does the header of an architectural
record's fragment; for others the size identifies the format. Only the beginning of a long record is
available.
"""
import functools
import json

import packed

QUADWORD = 8
METRICS = 3     # in the head of counters: fixed counter 3 and MSR_PERF_METRICS follow


@functools.lru_cache(maxsize=None)
def layouts():
    try:
        return json.loads(packed.text("layouts.json"))
    except (OSError, KeyError):
        return {"formats": [], "adaptive": [], "architectural": {}, "status": [],
                "data_source": []}


def number(data, at, size):
    return int.from_bytes(data[at:at + size], "little")


def bits(word, span):
    low, high = span
    return word >> low & (1 << high - low + 1) - 1


class Fields:
    """The fields of a record's groups, one group after the other."""

    def __init__(self, data):
        self.data, self.end, self.fields, self.groups = data, 0, [], []

    def add(self, size, title):
        self.fields.append({"offset": self.end, "size": size, "title": title})
        self.end += size

    def add_group(self, group, prefix=""):
        """Its fields; where it begins."""
        begin = self.end
        self.fields += [{**one, "offset": begin + one["offset"], "title": prefix + one["title"]}
                        for one in group["fields"]]
        self.end += group["size"]
        return begin

    def add_entries(self, group, count):
        for entry in range(count):
            self.add_group(group, f"LBR[{entry}] ")

    def add_registers(self, size, title):
        """16-byte registers: each in two halves."""
        for at in range(0, size, 2 * QUADWORD):
            for half in (0, QUADWORD):
                name = f"{title}{at // 16}" if title == "XMM" else f"{title}, {at + half:03x}H"
                self.add(QUADWORD, f"{name}[{8 * half + 63}:{8 * half}]" if title == "XMM"
                         else name)

    def add_counters(self, group):
        """The head says which counters follow; one that isn't there says none."""
        begin = self.add_group(group)
        for at, name in ((0, "IA32_PMC{}"), (4, "fixed counter {}")):
            named = number(self.data, begin + at, 4)
            for counter in range(32):
                if named >> counter & 1:
                    self.add(QUADWORD, "counters: " + name.format(counter))
        if number(self.data, begin + 8, 4) & METRICS == METRICS:
            self.add(QUADWORD, "counters: fixed counter 3")
            self.add(QUADWORD, "counters: MSR_PERF_METRICS")

    def layout(self, form, size):
        cut = f", its first {len(self.data)} of {size} bytes" if size > len(self.data) else ""
        return {"title": f"{form}: {', '.join(self.groups)}{cut}", "size": size,
                "fields": [one for one in self.fields
                           if one["offset"] + one["size"] <= len(self.data)]}


def adaptive_layout(data):
    """The layout of an adaptive record, as its format word tells it; None: it is no such record."""
    word = number(data, 0, QUADWORD)
    asked, size, known = word & 0xffffffff, word >> 48, 0xff000000
    fields = Fields(data)
    for group in layouts().get("adaptive", []):
        name, bit = group["name"], group["bit"]
        known |= 1 << bit if bit is not None else 0
        # With the bit of metrics, which needs that of counters.
        known |= 1 << bit + 1 if name == "CNTR" else 0
        if bit is not None and not asked >> bit & 1:
            continue
        fields.groups.append(group["title"])
        if name == "LBR":
            fields.add_entries(group, (asked >> 24) + 1)
        elif name == "XMM":
            fields.add_registers(group["size"], "XMM")
        elif name == "CNTR":
            fields.add_counters(group)
        else:
            fields.add_group(group)
    # Of a record that is cut off before its counters their number isn't known.
    fits = size == fields.end or (asked >> 4 & 1 and fields.end > len(data))
    if not fields.groups or len(data) < 32 or asked & ~known or not fits or size < len(data):
        return None
    return fields.layout("format 4", size)


def architectural_layout(data):
    """The layout of a fragment of an architectural record, as its header tells it, or None."""
    spec = layouts().get("architectural")
    if not spec or len(data) < 16:
        return None
    word = number(data, 0, QUADWORD)
    groups = {group["name"]: group for group in spec["groups"]}
    has = {name: bits(word, span) for name, span in spec["bits"].items()}
    fields = Fields(data)
    for name in ("HEADER", "BASIC", "AUX", "GPR", "XER", "LBR", "CNTR"):
        if name != "HEADER" and not has[name]:
            continue
        group = groups["COUNTERS" if name == "CNTR" else name]
        fields.groups.append(group["title"].removesuffix(", head"))
        if name == "CNTR":
            fields.add_counters(group)
            continue
        begin = fields.add_group(group)
        if name == "XER":
            stored = number(data, begin, QUADWORD)
            for component in spec["xer"]:
                if stored >> component["number"] & 1:
                    title = "XMM" if component["number"] == 1 else component["title"]
                    fields.add_registers(component["size"], title)
        elif name == "LBR":
            entries = spec["entries"].get(str(has["LBR"]), 0) or number(data, begin + 0x10, 8)
            fields.add_entries(groups["LBR_ENTRY"], min(entries, len(data)))
    # A fragment may go on to a multiple of 16.
    if has["SIZE"] not in (fields.end, fields.end + 15 & ~15) or has["SIZE"] < len(data):
        return None
    more = ", and another fragment" if has["CONT"] else ""
    return fields.layout("architectural" + more, has["SIZE"])


def layout_of(data):
    """Its title, size and fields; None: no layout is known."""
    return adaptive_layout(data) or architectural_layout(data) or next(
        (one for one in layouts()["formats"] if one["size"] == len(data)), None)
