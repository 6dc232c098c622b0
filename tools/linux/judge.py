# SPDX-License-Identifier: MIT
"""What perf printed in the machine, against what the program that ran is (hot.asm).

Each step has a judge here: a function of what the step printed and of the program's symbols, which
returns what it saw in one line, or raises Wrong with what is wrong.
"""
import re

MOST_OTHERS = 0.05          # of the samples: the kernel's, and the program's first instructions
ENOUGH = 20                 # samples


class Wrong(Exception):
    """Why a step shows something else than it should, in one line."""


class Symbols:
    """The program's functions and its table, by address."""

    FUNCTIONS = ("spin", "touch", "write", "jump", "left", "right")

    def __init__(self, said):
        """said: what nm prints."""
        self.at = {name: int(address, 16)
                   for address, name in re.findall(r"^([0-9a-f]+) \w (\w+)$", said, re.M)}
        starts = sorted(self.at[name] for name in self.FUNCTIONS)
        # The last one, right, is a DEC and a RET.
        ends = {one: after for one, after in zip(starts, starts[1:] + [starts[-1] + 4])}
        self.range = {name: (self.at[name], ends[self.at[name]]) for name in self.FUNCTIONS}

    def holds(self, name, address):
        first, end = self.range[name]
        return first <= address < end

    def in_table(self, address):
        return self.at["table"] <= address < self.at["table_end"]


def share(samples, good):
    """How many are good; too few, or too many others, are wrong."""
    count = sum(map(good, samples))
    if len(samples) < ENOUGH:
        raise Wrong(f"{len(samples)} samples, fewer than {ENOUGH}")
    if count < len(samples) * (1 - MOST_OTHERS):
        others = [sample for sample in samples if not good(sample)]
        raise Wrong(f"{count} of {len(samples)} samples are as they should be; "
                    f"not so: {others[:3]}")
    return count


def driver(wanted):
    """The lines of the PMU's driver in the kernel's log."""
    def judge(said, _symbols):
        for text in wanted:
            if text not in said:
                raise Wrong(f"no line has '{text}'")
        return "; ".join(wanted)
    return judge


def counts(rounds, instructions, branches):
    """perf stat -x,: so many instructions and branches a round, and little else."""
    def judge(said, _symbols):
        got = {name: int(value) for value, name in
               re.findall(r"^(\d+),[^,]*,([\w-]+):u,", said, re.M)}
        for name, each in (("instructions", instructions), ("branches", branches)):
            if name not in got:
                raise Wrong(f"{name} weren't counted")
            if not 0 <= got[name] - each * rounds <= 1000:
                raise Wrong(f"{got[name]} {name}, not {each * rounds} and a few")
        return ", ".join(f"{value} {name}" for name, value in got.items())
    return judge


def samples_in(*functions):
    """perf script -F ip: addresses in these functions. Events of the kernel's level have the
    kernel's addresses as well: its share depends on how often its timer came."""
    def judge(said, symbols):
        samples = [int(word, 16) for word in re.findall(r"^\s*([0-9a-f]+)\s*$", said, re.M)]
        own = [at for at in samples if not at >> 63]
        count = share(own, lambda at: any(symbols.holds(name, at) for name in functions))
        if 2 * len(own) < len(samples):
            raise Wrong(f"{len(own)} of {len(samples)} samples at addresses of programs")
        return (f"{count} of {len(samples)} samples in {', '.join(functions)}, "
                f"{len(samples) - len(own)} in the kernel")
    return judge


def accesses_by(function, addresses=True):
    """perf script -F ip,addr: that function, and the data that it touches; without addresses, what
    records without them show: 0."""
    def judge(said, symbols):
        def is_good(sample):
            at, data = sample
            known = symbols.in_table(data) if addresses else not data
            return known and symbols.holds(function, at)

        samples = [(int(ip, 16), int(data, 16)) for data, ip in
                   re.findall(r"^\s*([0-9a-f]+)\s+([0-9a-f]+)\s*$", said, re.M)]
        count = share(samples, is_good)
        lines = len({data for _, data in samples if symbols.in_table(data)})
        return f"{count} of {len(samples)} samples in {function}, {lines} addresses of its table"
    return judge


def refused(event):
    """perf record: the kernel doesn't sample this event."""
    def judge(said, _symbols):
        line = next((line for line in said.splitlines() if event in line and
                     re.search("Invalid argument|not supported|isn't supported", line)), None)
        if line is None:
            raise Wrong(f"{event} wasn't refused")
        return line.strip()
    return judge


def branches_of(*functions):
    """perf script -F ip,brstack: each branch is one that these functions have."""
    def judge(said, symbols):
        stacks = [re.findall(r"0x([0-9a-f]+)/0x([0-9a-f]+)/", line)
                  for line in said.splitlines() if "/0x" in line]
        pairs = [(int(source, 16), int(target, 16)) for stack in stacks for source, target in stack]
        entries = {symbols.at[name] for name in functions}
        inside = [pair for pair in pairs
                  if all(any(symbols.holds(name, at) for name in functions) for at in pair)]
        if len(stacks) < ENOUGH:
            raise Wrong(f"{len(stacks)} samples with branches, fewer than {ENOUGH}")
        share(pairs, set(inside).__contains__)
        if not entries & {target for _, target in inside}:
            raise Wrong("no branch leads to the beginning of a function")
        return (f"{len(stacks)} samples, {len(inside)} of {len(pairs)} branches in "
                f"{', '.join(functions)}, {len(set(inside))} different")
    return judge


def report_names(function):
    """perf report --stdio: the function comes first."""
    def judge(said, _symbols):
        rows = re.findall(r"^\s*([\d.]+)%.*\]\s+(\S+)", said, re.M)
        if not rows or rows[0][1] != function:
            raise Wrong(f"the first row isn't {function}: {rows[:1]}")
        return f"{rows[0][0]} % {function}"
    return judge
