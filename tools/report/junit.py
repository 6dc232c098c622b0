# SPDX-License-Identifier: MIT
"""Runs as JUnit XML: one test suite a run, one case a test. JUnit knows no KNOWN and no
INCONCLUSIVE: both become skipped, with the word in the message."""
from xml.sax.saxutils import escape, quoteattr

CONTROL = {code: " " for code in range(32) if code not in (9, 10, 13)}


def clean(text):
    return text.translate(CONTROL)


def case(point, suite):
    group, _, claim = point.name.partition(".")
    lines = [f"  <testcase classname={quoteattr(clean(suite + '.' + group))} "
             f"name={quoteattr(clean(claim or group))}>"]
    if point.verdict in ("SKIP", "INCONCLUSIVE", "KNOWN"):
        message = quoteattr(clean(f"{point.verdict}: {point.reason}"))
        lines.append(f"   <skipped message={message}/>")
    elif point.verdict in ("FAIL", "ERROR"):
        tag = "failure" if point.verdict == "FAIL" else "error"
        message = (f"{point.details.get('requirement', '')}: {point.details.get('sentence', '')}"
                   if tag == "failure" else point.details.get("message", "error"))
        text = "\n".join(f"{key}: {value}" for key, value in point.details.items())
        lines.append(f"   <{tag} message={quoteattr(clean(message))}>{escape(clean(text))}</{tag}>")
    lines.append("  </testcase>")
    return lines


def junit_xml(runs):
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    for run in runs:
        skipped = sum(run.count(verdict) for verdict in ("SKIP", "INCONCLUSIVE", "KNOWN"))
        wrong = {"is_complete": run.problem, "decides_something":
                 run.not_tested and not run.problem and f"NOT TESTED: {run.not_tested}"}
        wrong = {name: text for name, text in wrong.items() if text}
        errors = run.count("ERROR") + len(wrong)
        lines.append(f' <testsuite name={quoteattr(clean(run.title))} '
                     f'tests="{len(run.points) + len(wrong)}" '
                     f'failures="{run.count("FAIL")}" errors="{errors}" skipped="{skipped}">')
        for point in run.points:
            lines += case(point, "pmutest86")
        for name, text in wrong.items():
            lines += [f'  <testcase classname="pmutest86.run" name="{name}">',
                      f"   <error message={quoteattr(clean(text))}/>", "  </testcase>"]
        lines.append(" </testsuite>")
    lines.append("</testsuites>")
    return "\n".join(lines) + "\n"
