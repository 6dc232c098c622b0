# SPDX-License-Identifier: MIT
"""Runs as JSON, for other programs: results.schema.json says what each member is.

Members may be added within a version; a reader ignores those that it doesn't know. The version
changes when a member is removed or changes its meaning.
"""
import json

import compare
import decide
import machines
import records

FORMAT, VERSION = "pmutest86-results", 1


def record_dict(record):
    return {"name": record.name, "layout": record.layout, "bytes": record.data.hex(),
            "fields": [{"offset": field.offset, "name": field.title, "value": field.value,
                        "meaning": field.meaning} for field in record.fields]}


def point_dict(point):
    found = records.records_of(point)
    return point.as_dict() | ({"records": list(map(record_dict, found))} if found else {})


def run_dict(run):
    said = run.as_dict() | {
        "outcome": machines.outcome(run), "sentence": machines.sentence(run),
        "platform": decide.platform(run), "machine": dict(machines.facts(run)),
        "points": list(map(point_dict, run.points))}
    if run.source:
        said |= {"source": run.source, "written": f"{run.when:%Y-%m-%dT%H:%M:%SZ}"}
    return said | ({"notes": run.notes} if run.notes else {})


def change_dict(one):
    return {"requirement": one.requirement, "before": one.before, "after": one.after,
            "kind": one.kind}


def document(runs):
    grouped = machines.group(runs)
    place = {id(run): i for i, run in enumerate(runs)}
    return {
        "format": FORMAT, "version": VERSION, "runs": list(map(run_dict, runs)),
        "machines": [{"name": machine.name, "outcome": machine.outcome,
                      "sentence": machine.sentence,
                      "runs": [place[id(run)] for run in machine.runs]} for machine in grouped],
        "changes": [{"before": place[id(before)], "after": place[id(after)],
                     "requirements": list(map(change_dict, changes))}
                    for _, before, after, changes, _ in compare.between_runs(grouped)],
    }


def json_text(runs):
    return json.dumps(document(runs), indent=1) + "\n"
