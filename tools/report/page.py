# SPDX-License-Identifier: MIT
"""Runs as one self-contained HTML page."""
import html

import decide
import table

STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em;
       color: #222; background: #fff; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { border: 1px solid #ccc; padding: .2em .6em; text-align: left; vertical-align: top; }
thead th { position: sticky; top: 0; background: #f3f3f3; }
code, pre { font: 13px/1.4 ui-monospace, monospace; }
pre { background: #f6f6f6; padding: .6em; overflow-x: auto; }
.PASS { background: #d9f2d9; } .FAIL { background: #f8c8c8; font-weight: bold; }
.ERROR { background: #f3d0f3; font-weight: bold; } .KNOWN { background: #fbe7c0; }
.SKIP, .INCONCLUSIVE { background: #eee; color: #555; } .none { color: #aaa; }
summary { cursor: pointer; }
@media (prefers-color-scheme: dark) {
 body { color: #ddd; background: #181818; } thead th, pre { background: #262626; }
 th, td { border-color: #444; } .PASS { background: #1d4021; } .FAIL { background: #6b1f1f; }
 .ERROR { background: #57225a; } .KNOWN { background: #5a4513; }
 .SKIP, .INCONCLUSIVE { background: #333; color: #bbb; } }
"""


def html_point(point):
    escape = html.escape
    head = (f'<span class="{point.verdict}">{point.verdict}</span> '
            f"<code>{escape(point.name)}</code> [{escape(', '.join(point.requirements))}] "
            f"{escape(point.reason)}")
    if not point.details:
        return f"<li>{head}</li>"
    text = "\n".join(f"{key}: {value}" for key, value in point.details.items())
    return f"<li><details><summary>{head}</summary><pre>{escape(text)}</pre></details></li>"


def html_page(runs):
    escape = html.escape
    names = table.titles(runs)
    out = ["<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
           '<meta name="viewport" content="width=device-width">',
           f"<title>PMUTest86</title><style>{STYLE}</style></head><body>", "<h1>PMUTest86</h1>",
           "<table><thead><tr><th>machine</th><th>result</th></tr></thead><tbody>"]
    for i, (run, name) in enumerate(zip(runs, names)):
        out.append(f'<tr><td><a href="#run{i}">{escape(name)}</a></td>'
                   f'<td{" class=ERROR" * bool(run.not_tested)}>{escape(table.totals(run))}</td></tr>')
    out.append("</tbody></table><h2>Requirement by machine</h2><table><thead><tr>"
               "<th>requirement</th><th>decidable on</th>" +
               "".join(f"<th>{escape(name)}</th>" for name in names) +
               "</tr></thead><tbody>")
    for name, row, verdicts in table.matrix(runs):
        out.append(f'<tr><td><b>{escape(name)}</b> {escape(row.get("sentence", ""))} '
                   f'<small>{escape(row.get("source", ""))}</small></td>'
                   f'<td>{escape(decide.where(row) if row else "")}</td>' +
                   "".join(f'<td class="{verdict or "none"}">{verdict or "-"}</td>'
                           for verdict in verdicts) + "</tr>")
    out.append("</tbody></table>")
    for i, (run, name) in enumerate(zip(runs, names)):
        out.append(f'<h2 id="run{i}">{escape(name)}</h2><p>{escape(table.totals(run))}</p>')
        if run.comments:
            out.append(f"<details><summary>what the machine is</summary>"
                       f"<pre>{escape(chr(10).join(run.comments))}</pre></details>")
        out.append("<ol>" + "\n".join(html_point(point) for point in run.points) + "</ol>")
    out.append("</body></html>")
    return "\n".join(out) + "\n"
