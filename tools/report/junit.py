# SPDX-License-Identifier: MIT
"""Runs as JUnit XML: one test suite a run, one case a test.

It has what the schema of Ant's JUnit task demands and nothing that the schema of Jenkins' xunit
plugin refuses. JUnit knows no KNOWN and no INCONCLUSIVE: both become skipped, with the word in
the message. How long a test took isn't measured: each time is 0. The host's name is the machine's.
"""
import datetime
import re
from html import escape     # saxutils takes 60 ms to load

import machines

# What XML 1.0 has no character for, and what its parsers warn of.
FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd"
                       "\U00010000-\U0001fffd]")
SKIPPED = ("SKIP", "INCONCLUSIVE", "KNOWN")


def clean(text):
    return FORBIDDEN.sub(" ", text)


def attribute(text):
    """A value, with its quotes; none is empty."""
    text = clean(text)
    return f'"{escape(text if text.strip() else "-")}"'


def case(classname, name, child=()):
    head = f"  <testcase classname={attribute(classname)} name={attribute(name)} time=\"0\""
    return [head + ">", *child, "  </testcase>"] if child else [head + "/>"]


def point_case(point):
    group, _, claim = point.name.partition(".")
    if point.verdict in SKIPPED:
        message = attribute(f"{point.verdict}: {point.reason}")
        child = [f"   <skipped message={message}/>"]
    elif point.verdict in ("FAIL", "ERROR"):
        tag = "failure" if point.verdict == "FAIL" else "error"
        message = (f"{point.details.get('requirement', '')}: {point.details.get('sentence', '')}"
                   if tag == "failure" else point.details.get("message", "error"))
        text = "\n".join(f"{key}: {value}" for key, value in point.details.items())
        child = [f'   <{tag} type="{point.verdict}" message={attribute(message)}>'
                 f"{escape(clean(text))}</{tag}>"]
    else:
        child = []
    return case(f"pmutest86.{group}", claim or group, child)


def properties(run):
    values = [*machines.facts(run), *run.settings.items()]
    return ["  <properties>",
            *(f"   <property name={attribute(key)} value={attribute(text)}/>"
              for key, text in values if text), "  </properties>"]


def suite(number, run):
    wrong = {"is_complete": run.problem, "decides_something":
             run.not_tested and not run.problem and f"NOT TESTED: {run.not_tested}"}
    wrong = {name: text for name, text in wrong.items() if text}
    when = run.when or datetime.datetime.now(datetime.timezone.utc)
    skipped = sum(run.count(verdict) for verdict in SKIPPED)
    lines = [f' <testsuite id="{number}" package="pmutest86" name={attribute(run.title)} '
             f'timestamp="{when:%Y-%m-%dT%H:%M:%S}" '
             f"hostname={attribute(machines.machine_name(run))} "
             f'tests="{len(run.points) + len(wrong)}" failures="{run.count("FAIL")}" '
             f'errors="{run.count("ERROR") + len(wrong)}" skipped="{skipped}" time="0">']
    lines += properties(run)
    for point in run.points:
        lines += point_case(point)
    for name, text in wrong.items():
        lines += case("pmutest86.run", name,
                      [f'   <error type="ERROR" message={attribute(text)}/>'])
    return [*lines, "  <system-out/>", "  <system-err/>", " </testsuite>"]


def junit_xml(runs):
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    for number, run in enumerate(runs):
        lines += suite(number, run)
    return "\n".join([*lines, "</testsuites>"]) + "\n"
