#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A trace as a picture: picture.py TRACE FILE [--events N]

TRACE is the output of run-qemu.sh --trace. FILE is an SVG of N successive events (24): those with
the most different kinds of events, then those on most processors. Each event is a column, in order;
distances don't show times. Each processor has a track for the program's accesses, and a track for
each kind of action of the PMU. Exit status: 0 done; 2 bad option, or there is no such event.
"""
import json
import os
import sys
from xml.sax.saxutils import escape

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import command      # noqa: E402

TRACKS = (("access", "#5f6b7a"), ("overflow", "#b3261e"), ("arm", "#b26a00"),
          ("record", "#1b6e3c"), ("threshold", "#6a3fa0"), ("pmi", "#0b57d0"))
LABELS = {"access": "RDMSR, WRMSR, RDPMC", "arm": "armed", "pmi": "PMI"}
ACCESS = 0          # its place in TRACKS
ACCESSES = ("rdmsr", "wrmsr", "rdpmc")
LEFT, COLUMN, LANE, GAP, LETTER = 170, 30, 24, 34, 7.2


def track_of(event):
    """Its place in TRACKS; the uncore's overflows are overflows."""
    kind = {"uncore": "overflow"}.get(event["cat"], event["cat"])
    kind = "access" if kind in ACCESSES else kind
    return next((i for i, (name, _) in enumerate(TRACKS) if name == kind), None)


def fullest(events, count):
    """Of the neighbours with the most kinds those with the most tracks, then with the
    most that the PMU did, and of these the first."""
    places = range(max(len(events) - count, 0) + 1)
    used = [(event["tid"], track_of(event)) for event in events]
    def seen(i):
        part = set(used[i:i + count])
        acts = sum(track != ACCESS for _, track in used[i:i + count])
        return len({track for _, track in part}), len(part), acts, -i

    best = max(places, key=seen)
    return events[best:best + count]


def said(event):
    value = event["args"].get("value")
    return event["name"] + (f" = {value}" if value else "")


def text(x, y, words, more=""):
    return f'<text x="{x}" y="{y}" {more}>{escape(words)}</text>'


def bands(cpus, right):
    """The tracks' lines and names, and each track's height by processor and number."""
    lines, height = [], {}
    y = 10
    for cpu in cpus:
        y += GAP
        lines.append(text(10, y - 14, f"processor {cpu}", 'font-weight="bold"'))
        for i, (name, colour) in enumerate(TRACKS):
            height[cpu, i] = y
            lines.append(f'<path d="M{LEFT} {y}H{right}" stroke="#d5d9df"/>')
            lines.append(text(LEFT - 12, y + 4, LABELS.get(name, name),
                              f'text-anchor="end" fill="{colour}"'))
            y += LANE
    return lines, height, y


def picture(events):
    cpus = sorted({event["tid"] for event in events})
    right = LEFT + COLUMN * len(events)
    lines, height, bottom = bands(cpus, right)
    for i, event in enumerate(events):
        x = LEFT + COLUMN * i + COLUMN // 2
        y, colour = height[event["tid"], track_of(event)], TRACKS[track_of(event)][1]
        lines += [f'<path d="M{x} {y}V{bottom}" stroke="{colour}" stroke-dasharray="1 3"/>',
                  f'<circle cx="{x}" cy="{y}" r="6" fill="{colour}"/>',
                  text(x + 4, bottom + 6, said(event),
                       f'text-anchor="end" fill="{colour}" '
                       f'transform="rotate(-90 {x + 4} {bottom + 6})"')]
    longest = round(LETTER * max(len(said(event)) for event in events))
    size = f'width="{right + 10}" height="{bottom + 16 + longest}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
                      'font-family="sans-serif" font-size="12">',
                      "<!-- tools/trace/picture.py -->",
                      f'<rect {size} fill="#ffffff"/>'] + lines + ["</svg>", ""])


def main():
    parser = command.Parser("picture.py", __doc__)
    parser.add_argument("trace")
    parser.add_argument("file")
    parser.add_argument("--events", type=command.number(1, 200), default=24)
    options = parser.parse_args()
    try:
        with open(options.trace, encoding="ascii") as file:
            told = json.load(file)["traceEvents"]
        events = [event for event in told if event["ph"] == "i" and track_of(event) is not None]
        if not events:
            raise ValueError("no event of the PMU in it")
        with open(options.file, "w", encoding="ascii") as file:
            file.write(picture(fullest(events, options.events)))
    except OSError as error:
        print(f"picture.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except (ValueError, KeyError, TypeError) as error:
        print(f"picture.py: {options.trace}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(command.run("picture.py", main))
