# SPDX-License-Identifier: MIT
"""The files for a bug report about one broken requirement: a folder, or a tar archive.

report.md       to paste: sentence, section, wanted and got, machine, how to repeat
points.tap      the failing test points, as the log has them
log.txt         the log around them
machine.txt     the log's lines on the machine; machine.json, where the run has one
record-N.bin    the bytes of a record that a failing test printed; record-N.txt decodes them
With several runs each has a folder of its own.
"""
import io
import json
import os
import re
import shlex
import tarfile

import decide
import failures
import machines
import markdown

NAME = re.compile(r"[A-Za-z0-9_.]*")    # of a test, without the processor
SETTINGS = ("cpu", "fault", "seed", "profile", "latitude", "smp")   # options of run-qemu.sh
AROUND = 15     # lines of the log before and after
ARCHIVES = {".tar": "w", ".tar.gz": "w:gz", ".tgz": "w:gz"}


class BundleError(Exception):
    """No such bundle; the text is for the user."""


def name_of(text):
    """That text as a part of a file's name."""
    return re.sub(r"[^A-Za-z0-9.+]+|\.\.+", "-", text).strip("-.")[:60] or "run"


def block_of(run, point):
    """First line and line after the last, in run.lines, of a test point with its YAML block."""
    end = point.line + 1
    while end < len(run.lines) and run.lines[end].startswith("  "):
        end += 1
    return point.line, end


def log_part(run, points):
    """The log around these points, "[...]" where lines are left out."""
    keep = set()
    for point in points:
        start, end = block_of(run, point)
        keep |= set(range(max(0, start - AROUND), min(len(run.lines), end + AROUND)))
    out, last = [], -1
    for number in sorted(keep):
        if number != last + 1:
            out.append("[...]")
        out.append(run.lines[number])
        last = number
    return out + ["[...]"] * (last + 1 < len(run.lines))


def repeat(run, points):
    """Commands, or lines of the stick's configuration, that run the failing tests again."""
    tests = ",".join(dict.fromkeys(NAME.match(point.name)[0] for point in points))
    if machines.is_reference(run):
        words = [word for key in SETTINGS if run.settings.get(key, "none") not in ("none", "0", "")
                 for word in (f"--{key}", shlex.quote(markdown.printable(run.settings[key])))]
        return ["    ./run-qemu.sh " + " ".join([*words, f"--tests {tests}"])]
    if run.settings.get("pmu") == "host":
        return [f"    ./run-qemu.sh --pmu host --tests {tests}"]
    return ["In `\\pmutest86.cfg` on the stick:", "", f"    tests = {tests}"]


def record_text(record):
    lines = [f"{record.name}: {len(record.data)} bytes, {record.layout}", ""]
    lines += [f"{field.offset:02X}H  {field.data.hex(' '):23}  {field.value:#18x}  {field.title}"
              f"{'  ' + field.meaning if field.meaning else ''}".rstrip()
              for field in record.fields]
    return "\n".join(lines) + "\n"


def report(failure, run, seen):
    row, plain = failure.row, markdown.plain
    details = seen[0].point.details
    out = [f"# {failure.requirement} is broken on {plain(run.machine_name)}", "",
           f"> {plain(row.get('sentence', details.get('sentence', '')))}", "",
           plain(row.get("source", details.get("source", ""))) +
           (f" ({decide.where(row)} can decide it)" if row else ""), "", "## What was seen"]
    for one in seen:
        out += ["", plain(one.point.name), ""]
        out += markdown.fenced("\n".join(
            f"{markdown.printable(check.what)}\n  wanted: {markdown.printable(check.wanted)}\n"
            f"  got:    {markdown.printable(check.got)}\n  at {markdown.printable(check.place)}"
            for check in one.checks) or "(the log has no values)")
        for record in one.records:
            out += ["", *markdown.fenced(markdown.printable_lines(record_text(record)))]
    out += ["", "## Machine", ""]
    out += [f"* {key}: {plain(text)}" for key, text in machines.facts(run)]
    condition = machines.condition(run)
    out += [f"* told to be so: {plain(condition)}"] if condition else []
    points = [one.point for one in seen]
    return "\n".join([*out, "", "## How to repeat it", "", *repeat(run, points)]) + "\n"


def files_of(failure, run):
    """Name to text or bytes."""
    seen = [one for one in failure.observations if one.run is run]
    points = [one.point for one in seen]
    lines = [line for point in points for line in run.lines[slice(*block_of(run, point))]]
    files = {"report.md": report(failure, run, seen), "points.tap": "\n".join(lines) + "\n",
             "log.txt": "\n".join(log_part(run, points)) + "\n",
             "machine.txt": "\n".join(run.comments) + "\n"}
    if run.machine:
        files["machine.json"] = json.dumps(run.machine, indent=1) + "\n"
    found = [record for one in seen for record in one.records]
    for number, record in enumerate(found, 1):
        files[f"record-{number}.bin"] = record.data
        files[f"record-{number}.txt"] = record_text(record)
    return {name: text if isinstance(text, bytes) else text.encode("utf-8", "replace")
            for name, text in files.items()}


def collect(runs, requirement):
    """Name to bytes of every file of the bundle. The runs have their names (machines.group())."""
    broken = {failure.requirement: failure for failure in failures.collect(runs)}
    if requirement not in broken:
        known = ", ".join(broken) or "none"
        raise BundleError(f"no run saw {requirement!a} broken; broken are: {known}")
    failure = broken[requirement]
    if len(failure.runs) == 1:
        return files_of(failure, failure.runs[0])
    return {f"{number}-{name_of(run.full_name)}/{name}": data
            for number, run in enumerate(failure.runs, 1)
            for name, data in files_of(failure, run).items()}


def write(runs, requirement, target):
    """To a tar archive if the name ends so, else to a new or empty folder. Raises OSError."""
    files = collect(runs, requirement)
    mode = next((mode for end, mode in ARCHIVES.items() if target.endswith(end)), None)
    if not mode:
        os.makedirs(target, exist_ok=True)
        if os.listdir(target):
            raise BundleError(f"--bug {target}: the folder isn't empty")
        for name, data in files.items():
            path = os.path.join(target, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
        return
    top = f"pmutest86-{name_of(requirement)}"
    with tarfile.open(target, mode) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(f"{top}/{name}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
