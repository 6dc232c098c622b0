# SPDX-License-Identifier: MIT
"""pmutest86-report: results of PMUTest86, for people and for other programs."""
import argparse
import sys

import as_json
import bundle
import junit
import machines
import markdown
import output
import packed
import page
import read

USAGE = ("pmutest86-report [--html FILE] [--junit FILE] [--json FILE] [--markdown FILE]\n"
         "                 [--bug REQUIREMENT TARGET] RESULT...\n"
         "  RESULT  a result folder, a folder of such, a TAP file or a serial log, of any\n"
         "          machine; of one machine's runs the earlier first\n"
         "  FILE    - is standard output; without any option: --markdown -\n"
         "  TARGET  a new folder, or a .tar, .tar.gz or .tgz file: what a bug report of that\n"
         "          broken requirement needs\n"
         "--version prints the version, --help this text")


class Parser(argparse.ArgumentParser):
    def error(self, message):
        print(f"pmutest86-report: {message}", file=sys.stderr)
        sys.exit(2)


def main():
    parser = Parser(prog="pmutest86-report", usage=USAGE, add_help=False)
    writers = {"html": page.html_page, "junit": junit.junit_xml, "json": as_json.json_text,
               "markdown": markdown.markdown_page}
    for name in writers:
        parser.add_argument(f"--{name}", metavar="FILE", action="append", default=[])
    parser.add_argument("--bug", nargs=2, metavar=("REQUIREMENT", "TARGET"), action="append",
                        default=[])
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--version", action="store_true")
    parser.add_argument("results", metavar="RESULT", nargs="*")
    options = parser.parse_args()
    if options.help:
        print(f"usage: {USAGE}")
        return 0
    if options.version:
        print(f"PMUTest86 {packed.text('version.txt').strip()}")
        return 0
    if not options.results:
        parser.error("no RESULT given, see --help")
    try:
        runs = [run for path in options.results for run in read.read(path)]
        machines.group(runs)
        if not options.bug and not any(getattr(options, name) for name in writers):
            options.markdown = ["-"]
        for name, write in writers.items():
            for target in getattr(options, name):
                text = write(runs)
                if target == "-":
                    sys.stdout.write(text)
                else:
                    with open(target, "w", encoding="utf-8") as file:
                        file.write(text)
        for requirement, target in options.bug:
            bundle.write(runs, requirement, target)
    except (read.ReadError, bundle.BundleError) as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(output.guarded("pmutest86-report", main))
