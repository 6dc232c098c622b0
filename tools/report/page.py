# SPDX-License-Identifier: MIT
"""Runs as one HTML page that needs no other file: the most important results first, then all.

Each text of a log goes through escape() or, as data for the page's own script, through data_of().
The page's policy allows that script and that style sheet alone, by their hashes.
"""
import base64
import hashlib
import html
import json
import re

import compare
import decide
import failures
import machines
import packed
import table
from run import VERDICTS

BADGES = {"FAILED": "FAIL", "NOT TRUSTWORTHY": "ERROR", "NOT TESTED": "INCONCLUSIVE",
          "PASSED": "PASS"}
MANY = 8            # runs, from which on the table's columns are narrow
OBSERVATIONS = 4    # of a broken requirement that are shown at once
SHORT = {"PASS": "pass", "SKIP": "skip", "INCONCLUSIVE": "open", "KNOWN": "known", "FAIL": "FAIL",
         "ERROR": "ERROR", "": ""}
LEGEND = (("PASS", "it was seen to hold"), ("FAIL", "it is broken"),
          ("ERROR", "the harness or its environment broke"),
          ("KNOWN", "broken as a published erratum says"),
          ("INCONCLUSIVE", "the test came to no verdict"),
          ("SKIP", "it can't be judged on this machine"))


CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef"
                     "\ufffe\uffff\u202a-\u202e\u2066-\u2069]")


def picture(match):
    """Of a control character; what turns the direction of text around is one, too."""
    char = match[0]
    return chr(0x2400 + ord(char)) if char < " " else "\ufffd"


def escape(text):
    """For HTML. A control character is shown as its picture, so that it does nothing."""
    return html.escape(CONTROL.sub(picture, str(text)))


def badge(verdict, text=None):
    return f'<span class="badge {verdict}">{escape(text or verdict)}</span>'


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def head(title):
    style, script = packed.text("page.css"), packed.text("page.js")
    policy = (f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; "
              "base-uri 'none'; form-action 'none'")
    return ['<!DOCTYPE html>', '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>", f"<style>{style}</style>", "</head><body>",
            '<a class="skip-link" href="#machines">To the results</a>']


def bar(run):
    """The verdicts of the requirements as a bar; its text says the same."""
    known = table.sentences()
    verdicts = [verdict for name, verdict in run.requirement_verdicts().items()
                if table.applies(known.get(name, {}), run)]
    total = len(verdicts)
    if not total:
        return ""
    order = ("FAIL", "ERROR", "KNOWN", "INCONCLUSIVE", "PASS", "SKIP")
    said = ", ".join(f"{verdicts.count(name)} {name}" for name in order if name in verdicts)
    parts, at = [], 0.0
    for name in order:
        width = 100 * verdicts.count(name) / total
        if width:
            parts.append(f'<rect class="{name}" x="{at:.2f}" y="0" width="{width:.2f}" '
                         'height="4"/>')
            at += width
    return (f'<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" '
            f'aria-label="Requirements: {said}"><title>Requirements: {said}</title>'
            f'{"".join(parts)}</svg>')


def machine_item(machine, short):
    run = machine.last
    result = machine.outcome
    out = [f"<li>{badge(BADGES[result], result)}<div><h3>{escape(machine.name)}</h3>",
           f"<p>{escape(machine.sentence)}</p>", bar(run)]
    facts = dict(machine.facts)
    said = [f"{key} {facts[key]}" for key in ("microcode", "bios") if key in facts]
    if facts.get("platform", "").startswith("hypervisor"):
        said.append(facts["platform"])
    if said and not machines.is_reference(run) and not (short and result == "PASSED"):
        out.append(f'<p><small>{escape("; ".join(said))}</small></p>')
    for note in run.notes:
        out.append(f'<p class="soft">{escape(note)}</p>')
    if len(machine.runs) > 1:
        out.append(f"<details><summary><small>all {len(machine.runs)} runs, the last first"
                   "</small></summary><ul>")
        for other in reversed(machine.runs):
            name = machines.outcome(other)
            out.append(f"<li>{badge(BADGES[name], name)} {escape(other.name)}: "
                       f"{escape(machines.sentence(other))}</li>")
        out.append("</ul></details>")
    return "".join([*out, "</div></li>"])


def machines_section(grouped):
    worst = sorted(grouped, key=lambda one: machines.OUTCOMES.index(one.outcome))
    return ['<section id="machines"><h2>Machines</h2><ul class="machines">',
            *(machine_item(machine, len(grouped) > MANY) for machine in worst), "</ul></section>"]


def record_table(record):
    out = [f"<details open><summary>{escape(record.name)}: {len(record.data)} bytes, "
           f"{escape(record.layout)}</summary>", '<div class="scroll"><table class="record">'
           "<thead><tr><th>offset</th><th>bytes in memory</th><th>field</th><th>value</th></tr>"
           "</thead><tbody>"]
    for field in record.fields:
        meaning = f" {field.meaning}" if field.meaning else ""
        out.append(f'<tr{"" if field.value else " class=zero"}><td class="mono">{field.offset:02X}H'
                   f'</td><td class="mono">{field.data.hex(" ")}</td><td>{escape(field.title)}</td>'
                   f'<td class="mono">{field.value:#x}{escape(meaning)}</td></tr>')
    return "".join([*out, "</tbody></table></div></details>"])


def check_list(found):
    """The values of failing checks."""
    out = []
    for one in found:
        out.append(f"<p>{escape(one.what)}</p>" if one.what else "")
        out.append(f'<dl class="values"><dt>wanted</dt><dd>{escape(one.wanted)}</dd><dt>got</dt>'
                   f'<dd class="got">{escape(one.got)}</dd></dl>')
    return "".join(out)


def observation(seen):
    point, found = seen.point, seen.checks
    place = found[0].place if found else point.details.get("place", "")
    out = [f'<div class="seen"><h4>{escape(seen.run.full_name)}</h4>',
           f"<p><code>{escape(point.name)}</code>"
           f'{" <small>" + escape(place) + "</small>" if place else ""}</p>', check_list(found[:1])]
    if not found:
        out.append("<p>The log doesn't say which check failed.</p>")
    if found[1:]:
        out.append(f"<details><summary>{machines.plural(len(found) - 1, 'more check')} failed"
                   f"</summary>{check_list(found[1:])}</details>")
    if "failed" in point.details:
        out.append(f"<p><small>{escape(point.details['failed'])} of this test failed</small></p>")
    return "".join([*out, *map(record_table, seen.records), "</div>"])


def where_decidable(row):
    """What a requirement rests on, and where it can be decided."""
    if not row:
        return ""
    word = decide.WORDS[row["authority"]]
    rests = {"text": "the manual's text", "figure": "a figure of the manual",
             "practice": "the practice of other programs",
             "inference": "an inference from the manual"}
    return f"rests on {rests[word]}; can be decided on: {decide.where(row)}"


def failure_card(failure):
    row = failure.row
    if not row and failure.observations:    # a log of another version may know it
        details = failure.observations[0].point.details
        row = {"sentence": details.get("sentence", ""), "source": details.get("source", "")}
    known = failure.row or {}
    source = row.get("source", "")
    out = [f'<article class="card" id="fail-{escape(failure.requirement)}">',
           f"<h3>{badge('FAIL')} {escape(failure.requirement)}</h3>",
           f'<p class="sentence">{escape(row.get("sentence", ""))}</p>' if row else "",
           f"<p><small>{escape('; '.join(filter(None, [source, where_decidable(known)])))}"
           "</small></p>" if row else ""]
    if len(failure.runs) > 1:
        out.append(f"<p>Seen broken in {len(failure.runs)} runs.</p>")
    first, rest = failure.observations[:OBSERVATIONS], failure.observations[OBSERVATIONS:]
    out += map(observation, first)
    if rest:
        out.append(f"<details><summary>and {len(rest)} more</summary>")
        out += [*map(observation, rest), "</details>"]
    return "".join([*out, "</article>"])


def error_card(run, point):
    text = "\n".join(f"{key}: {value}" for key, value in point.details.items()
                     if key not in ("severity", "message"))
    message = point.details.get("message", "")
    return (f'<article class="card error"><h3>{badge("ERROR")} {escape(run.full_name)}</h3>'
            f"<p><code>{escape(point.name)}</code></p><p>{escape(message)}</p>" +
            (f"<details><summary>more</summary><pre>{escape(text)}</pre></details>" if text else "")
            + "</article>")


def failures_section(broken, errors):
    out = ['<section id="failures"><h2>Failures</h2>']
    if not broken and not errors:
        out.append("<p>No run saw a requirement broken.</p>")
    out += map(failure_card, broken)
    out += [error_card(run, point) for run, point in errors[:OBSERVATIONS * 5]]
    if errors[OBSERVATIONS * 5:]:
        out.append(f"<p>and {len(errors) - OBSERVATIONS * 5} more errors, in the runs below.</p>")
    return [*out, "</section>"]


def verdict_change(before, after):
    return (f"{badge(before or 'none', before or 'no test')} &rarr; "
            f"{badge(after or 'none', after or 'no test')}")


def run_differences(machine, before, after, changes, conditions):
    count = {kind: sum(one.kind == kind for one in changes) for kind in compare.KINDS}
    said = ", ".join(f"{number} {compare.KINDS[kind]}" for kind, number in count.items() if number)
    bad = " other" * (not count["broken"])
    out = [f'<article class="card{bad}"><h3>{escape(machine.name)}</h3>',
           f"<p>{escape(before.name or 'earlier run')} &rarr; {escape(after.name or 'later run')}: "
           f"{escape(said)}</p>"]
    if conditions:
        out.append("<p><small>Besides: " + escape("; ".join(
            f"{key} {one} → {other}" for key, one, other in conditions)) + "</small></p>")
    rows = [f'<tr><td>{verdict_change(one.before, one.after)}</td><td><b>{escape(one.requirement)}'
            f'</b> {escape(table.sentences().get(one.requirement, {}).get("sentence", ""))}</td>'
            "</tr>" for one in changes]
    most = count["broken"] or OBSERVATIONS
    out.append(f'<div class="scroll"><table><tbody>{"".join(rows[:most])}</tbody></table></div>')
    if rows[most:]:
        out.append(f"<details><summary>{len(rows) - most} other changes</summary>"
                   f'<div class="scroll"><table><tbody>{"".join(rows[most:])}</tbody></table></div>'
                   "</details>")
    return "".join([*out, "</article>"])


def machine_differences(found):
    out = ["<h3>Between machines</h3><p>Held on one machine, broken on another.</p>",
           '<div class="scroll"><table><tbody>']
    for name, by in found:
        cells = []
        for verdict in ("FAIL", "ERROR", "KNOWN", "PASS"):
            names = [machine.name for machine in by.get(verdict, [])]
            if names:
                text = ", ".join(names) if len(names) <= OBSERVATIONS else \
                    f"{len(names)} machines"
                cells.append(f"{badge(verdict)} {escape(text)}")
        sentence = table.sentences().get(name, {}).get("sentence", "")
        out.append(f"<tr><td><b>{escape(name)}</b> {escape(sentence)}</td>"
                   f'<td>{"<br>".join(cells)}</td></tr>')
    return "".join([*out, "</tbody></table></div>"])


def differences_section(by_run, by_machine):
    out = ['<section id="differences"><h2>Differences</h2>']
    out += [run_differences(*one) for one in by_run]
    if by_machine:
        out.append(machine_differences(by_machine))
    return [*out, "</section>"]


def options(names):
    return "".join(f'<option value="{escape(value)}">{escape(text)}</option>'
                   for value, text in names)


def filters(rows):
    groups = sorted({row["group"] for _, row, _ in rows if row})
    cpus = list(dict.fromkeys(cpu for _, row, _ in rows for cpu in row.get("cpus", [])))
    verdicts = [("", "all"), ("differs", "not the same in each run"),
                *((name, name) for name in ("FAIL", "ERROR", "KNOWN", "INCONCLUSIVE", "PASS",
                                            "SKIP"))]
    return "".join([
        '<form id="filters" class="filters needs-js">',
        '<label>search<input type="search" name="text" autocomplete="off"></label>',
        f'<label>verdict<select name="verdict">{options(verdicts)}</select></label>',
        f'<label>group<select name="group">{options([("", "all"), *zip(groups, groups)])}'
        "</select></label>",
        f'<label>generation<select name="cpu">{options([("", "all"), *zip(cpus, cpus)])}'
        "</select></label>",
        '<label>can be decided on<select name="where">' + options([
            ("", "all"), ("silicon", "silicon"), ("kvm", "KVM"),
            ("reference", "reference PMU")]) + "</select></label>",
        '<label class="check"><input type="checkbox" name="here">can be decided on one of these '
        "machines</label>", '<button type="reset">Show all</button>',
        '<output id="shown"></output></form>'])


def places_of(row):
    """Where a requirement can be decided, for a narrow column."""
    return escape(decide.where(row).replace(" (one-sided)", "*").replace(" PMU", "")) if row else ""


def matrix_row(name, row, verdicts, runs):
    places = [place for place in ("silicon", "kvm", "reference")
              if row and decide.decides(row, place)]
    here = any(table.decidable_here(row, run) for run in runs)
    cells = "".join(f'<td class="{verdict or "none"}" data-run="{i}">{SHORT[verdict]}</td>'
                    for i, verdict in enumerate(verdicts))
    return (f'<tr data-group="{escape(row.get("group", ""))}" data-cpus="'
            f'{escape(" ".join(row.get("cpus", [])))}" data-where="{" ".join(places)}" '
            f'data-here="{int(here)}" data-source="{escape(row.get("source", ""))}">'
            f'<th scope="row" class="first"><button type="button">{escape(name)}</button>'
            f'<span class="text">{escape(row.get("sentence", ""))}</span></th>'
            f'<td class="where">{places_of(row)}</td>{cells}</tr>')


def table_section(runs, rows):
    many = " many" * (len(runs) > MANY)
    columns = "".join(f'<th scope="col" class="run" title="{escape(run.full_name)}"><button '
                      f'type="button" data-column="{i}">{escape(run.full_name)}</button></th>'
                      for i, run in enumerate(runs))
    legend = "".join(f'<li>{badge(name, SHORT[name])} {text}</li>' for name, text in LEGEND)
    return [f'<section id="requirements" class="wide{many}"><h2>All requirements</h2>',
            f'<ul class="legend">{legend}</ul>', filters(rows),
            '<p class="needs-js soft"><small>A requirement or a cell opens the list of its tests. '
            "A column's heading sorts.</small></p>",
            '<p class="soft"><small>* only a breach can be seen there, not that it holds'
            "</small></p>",
            '<div id="table" class="scroll" tabindex="0" role="region" '
            'aria-label="Requirements by run"><table id="matrix"><thead><tr>',
            '<th scope="col" class="first"><button type="button" data-sort="number">requirement'
            '</button> &middot; <button type="button" data-sort="severity">the worst first</button>'
            '</th><th scope="col" class="where"><button type="button" data-sort="where">can be '
            f"decided on</button></th>{columns}</tr></thead><tbody>",
            *(matrix_row(*row, runs) for row in rows), "</tbody></table></div></section>"]


def run_details(run):
    result = machines.outcome(run)
    out = [f"<details><summary>{badge(BADGES[result], result)} <b>{escape(run.full_name)}</b> "
           f"<small>{escape(table.counts(run))}</small></summary>"]
    told = machines.facts(run)
    told += [("result", decide.summary(run)), ("engine", run.engine_text),
             ("read from", run.source)]
    out.append('<dl class="facts">' + "".join(
        f"<dt>{escape(key)}</dt><dd>{escape(text)}</dd>" for key, text in told if text) + "</dl>")
    if run.comments:
        out.append("<details><summary>all that the log says of the machine</summary><pre>"
                   f"{escape(chr(10).join(run.comments))}</pre></details>")
    if run.machine:
        text = json.dumps(run.machine, indent=1)
        out.append(f"<details><summary>machine.json</summary><pre>{escape(text)}</pre></details>")
    return "".join([*out, "</details>"])


def data_of(runs, rows):
    """The test points, for the page's script. No text can end the element that holds it."""
    requirements = [name for name, _, _ in rows]
    place = {name: i for i, name in enumerate(requirements)}
    tests, reasons = {}, {"": 0}
    points = []
    for run in runs:
        points.append({"name": run.full_name, "points": [
            [tests.setdefault(point.name, len(tests)), VERDICTS.index(point.verdict),
             reasons.setdefault(point.reason, len(reasons)),
             [place[name] for name in dict.fromkeys(point.requirements + point.broken)
              if name in place]]
            for point in run.points]})
    text = json.dumps({"requirements": requirements, "verdicts": VERDICTS, "tests": list(tests),
                       "reasons": list(reasons), "runs": points}, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def html_page(runs):
    grouped = machines.group(runs)
    rows = table.matrix(runs)
    broken, errors = failures.collect(runs), failures.errors(runs)
    by_run = compare.between_runs(grouped)
    by_machine = compare.between_machines(grouped)
    results = [machine.outcome for machine in grouped]
    worst = next((name for name in machines.OUTCOMES if name in results), "NOT TESTED")
    line = machines.headline(grouped)
    links = [("machines", f"Machines ({len(grouped)})"),
             ("failures", f"Failures ({len(broken) + len(errors)})")]
    if by_run or by_machine:
        links.append(("differences", f"Differences ({len(by_run) + len(by_machine)})"))
    links += [("requirements", f"All requirements ({len(rows)})"), ("runs", f"Runs ({len(runs)})")]
    versions = sorted({run.comment("version") for run in runs} - {""})
    out = head(f"{line} - PMUTest86")
    out += [f'<header><div><h1 class="{BADGES[worst]}">{escape(line)}</h1>'
            f"<p>Report of {machines.plural(len(runs), 'run')} on "
            f"{machines.plural(len(grouped), 'machine')}"
            f"{', by ' + escape(', '.join(versions)) if versions else ''}</p></div></header>",
            "<nav><ul>" + "".join(f'<li><a href="#{name}">{text}</a></li>'
                                  for name, text in links) + "</ul></nav><main>"]
    out += machines_section(grouped) + failures_section(broken, errors)
    if by_run or by_machine:
        out += differences_section(by_run, by_machine)
    out += table_section(runs, rows)
    out += ['<section id="runs"><h2>Runs</h2>', *map(run_details, runs), "</section></main>",
            '<dialog id="tests" aria-label="Tests of a requirement"><form method="dialog">'
            '<button class="close">Close</button></form><div id="tests-content"></div></dialog>',
            f'<footer>Written by pmutest86-report {escape(packed.version())}. '
            "A verdict's meaning: README.md, &ldquo;How to read a result&rdquo;.</footer>",
            f'<script type="application/json" id="data">{data_of(runs, rows)}</script>',
            f'<script>{packed.text("page.js")}</script>', "</body></html>"]
    return "\n".join(out) + "\n"
