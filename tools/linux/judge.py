# SPDX-License-Identifier: MIT
"""Judges perf's output by the program that ran (hot.asm).

Each step has a judge here: a function of the step's output and of the program's symbols. It returns
the result in one line, or raises Wrong with the error.
"""
import re

MOST_OTHERS = 0.05          # of the samples: the kernel's, and the program's first instructions
ENOUGH = 20                 # samples
FEW = 1000                  # instructions of a program besides its loop


class Wrong(Exception):
    """Why a step shows something else than it should, in one line."""


class Symbols:
    """The program's functions and its table, by address."""

    FUNCTIONS = ("spin", "touch", "write", "jump", "left", "right", "deep", "one", "two", "three")

    def __init__(self, said):
        """said: what nm prints."""
        self.at = {name: int(address, 16)
                   for address, name in re.findall(r"^([0-9a-f]+) \w (\w+)$", said, re.M)}
        starts = sorted(self.at[name] for name in self.FUNCTIONS)
        ends = dict(zip(starts, starts[1:] + [self.at["functions_end"]]))
        self.range = {name: (self.at[name], ends[self.at[name]]) for name in self.FUNCTIONS}

    def holds(self, name, address):
        first, end = self.range[name]
        return first <= address < end

    def name(self, address):
        """Of the function there, or None."""
        return next((name for name in self.FUNCTIONS if self.holds(name, address)), None)

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


def exact(got, rounds, instructions, branches, more=FEW):
    """So many instructions and branches a round, and little else."""
    for name, each in (("instructions", instructions), ("branches", branches)):
        if name not in got:
            raise Wrong(f"{name} weren't counted")
        if not 0 <= got[name] - each * rounds <= more:
            raise Wrong(f"{got[name]} {name}, not {each * rounds} and at most {more}")


def counted(said):
    """perf stat -x,: name to value. Of a hybrid's two PMUs, which name their events pmu/name/u, the
    sum."""
    got = {}
    for value, name in re.findall(r"^(\d+),[^,]*,(?:cpu_\w+/)?([\w-]+)(?:[:/]u)?,", said, re.M):
        got[name] = got.get(name, 0) + int(value)
    return got


def counts(rounds, instructions, branches, more=FEW, beside=""):
    """perf stat: those of one program, and at most so many more; the line `beside` is there too."""
    def judge(said, _symbols):
        got = counted(said)
        if beside and beside not in said.splitlines():
            raise Wrong(f"no line '{beside}'")
        exact(got, rounds, instructions, branches, more)
        return ", ".join(f"{value} {name}" for name, value in got.items())
    return judge


def broken(rounds, instructions, branches):
    """perf stat while every 4th instruction isn't counted, and once more when that has ended."""
    def judge(said, _symbols):
        parts = [counted(part) for part in said.split("# started on")[1:]]
        if len(parts) != 2:
            raise Wrong(f"{len(parts)} programs were counted, not 2")
        exact(parts[1], rounds, instructions, branches)
        missed = parts[1]["instructions"] - parts[0].get("instructions", 0)
        if abs(missed - parts[1]["instructions"] // 4) > FEW or \
                parts[0].get("branches") != parts[1]["branches"]:
            raise Wrong(f"while every 4th instruction is missed: {parts[0]}; then: {parts[1]}")
        return (f"{parts[0]['instructions']} instructions, then {parts[1]['instructions']}; "
                f"{parts[0]['branches']} branches both times")
    return judge


def soaked(rounds, instructions, branches, period):
    """perf stat -a and perf record -a at once, while a program ran again and again: all that it
    did was counted, beside what perf itself did; its samples are as many as its cycles give, and in
    its loop; and the kernel complains of nothing."""
    def judge(said, symbols):
        found = re.search(r"^rounds (\d+)$", said, re.M)
        times = int(found.group(1)) if found else 0
        if not times:
            raise Wrong("no round was done")
        got = counted(said)
        for name, each in (("instructions", instructions), ("branches", branches)):
            if got.get(name, 0) < times * rounds * each:
                raise Wrong(f"{got.get(name, 0)} {name} in {times} rounds")
        samples = {int(at, 16): int(n) for n, at in
                   re.findall(r"^\s*(\d+)\s+([0-9a-f]+)\s*$", said, re.M)}
        good = sum(n for at, n in samples.items() if symbols.holds("spin", at))
        if good < times * (rounds * instructions // period - 1):
            raise Wrong(f"{good} samples in spin in {times} rounds")
        complaint = re.search(r"^\[.*(?:lockup|BUG:|WARNING:|Uhhuh|stall).*", said, re.M)
        if complaint:
            raise Wrong(complaint.group())
        return (f"{times} rounds, {got['instructions']} instructions, "
                f"{good} of {sum(samples.values())} samples in spin")
    return judge


def switched(rounds, instructions, branches):
    """perf stat of programs that take turns on a processor: to each its own."""
    def judge(said, _symbols):
        parts = said.split("# started on")[1:]
        if len(parts) != len(rounds):
            raise Wrong(f"{len(parts)} programs were counted, not {len(rounds)}")
        for each, part in zip(rounds, parts):
            exact(counted(part), each, instructions, branches)
        switches = [counted(part).get("context-switches", 0) for part in parts]
        if not sum(switches):
            raise Wrong("they didn't take turns: no context switch")
        return (", ".join(f"{counted(part)['instructions']} instructions" for part in parts)
                + f"; {' and '.join(map(str, switches))} context switches")
    return judge


def groups(number, rounds, instructions, branches):
    """perf stat --no-scale of groups that take turns: twice branches, and instructions by their
    event. Both numbers of branches are the same, and that of instructions fits them."""
    def judge(said, _symbols):
        rows = [(int(value), float(share)) for value, share in
                re.findall(r"^(\d+),[^,]*,[\w-]+:u,\d+,([\d.]+),", said, re.M)]
        if len(rows) != 3 * number:
            raise Wrong(f"{len(rows)} events were counted, not {3 * number}")
        for first, second, third in zip(rows[::3], rows[1::3], rows[2::3]):
            if first[0] != second[0] or not 0 < first[0] <= branches * rounds + FEW:
                raise Wrong(f"the same event twice in a group: {first[0]} and {second[0]}")
            if abs(third[0] * branches - first[0] * instructions) > FEW * instructions:
                raise Wrong(f"{third[0]} instructions beside {first[0]} branches")
        shares = [share for _, share in rows]
        if min(shares) >= 100:
            raise Wrong("all groups counted all the time")
        return f"{number} groups, each counted {min(shares)} to {max(shares)} % of the time"
    return judge


def hybrid(rounds, instructions, branches, loop, loads):
    """A program on a processor of each type, counted and sampled by both types' PMUs: the one has
    all of it, the other one nothing."""
    def check(pmu, said, symbols):
        other = "cpu_atom" if pmu == "cpu_core" else "cpu_core"
        names = set(re.findall(r"^\d+,[^,]*,(\w+)/", said, re.M))
        if names != {pmu} or f"<not counted>,,{other}/instructions/u," not in said:
            raise Wrong(f"on {pmu} these counted: {', '.join(sorted(names)) or 'none'}")
        exact(counted(said), rounds, instructions, branches)
        sampled = re.findall(r"^\s*(\w+)/[^/]*/\w*:((?: +[0-9a-f]+)+)\s*$", said, re.M)
        if {name for name, _ in sampled} != {pmu}:
            raise Wrong(f"on {pmu} these sampled: {', '.join(sorted({n for n, _ in sampled}))}")
        rows = [[int(word, 16) for word in words.split()] for _, words in sampled]
        cycles = [row[0] for row in rows if len(row) == 1]
        accesses = [row for row in rows if len(row) == 2]
        return (share(cycles, lambda at: symbols.holds(loop, at)),
                share(accesses, lambda row: symbols.in_table(row[0])
                      and symbols.holds(loads, row[1])))

    def judge(said, symbols):
        pmus = re.search(r"^pmus cpu_core (\S+) cpu_atom (\S+)$", said, re.M)
        parts = dict(re.findall(r"^on (cpu_\w+)\n(.*?)(?=^on cpu_|\Z)", said, re.M | re.S))
        if not pmus or set(parts) != {"cpu_core", "cpu_atom"}:
            raise Wrong("not both PMUs are there")
        seen = [f"{pmu}: {counted(part)['instructions']} instructions, "
                "{} samples in {}, {} in {}".format(cycles, loop, accesses, loads)
                for pmu, part in parts.items()
                for cycles, accesses in [check(pmu, part, symbols)]]
        return f"processors {pmus[1]} and {pmus[2]}; {'; '.join(seen)}"
    return judge


def registers(function, rounds):
    """perf script -F ip,iregs: RDI, which counts rounds down, differs from one sample to the next
    by so many."""
    def judge(said, symbols):
        samples = [(int(ip, 16), int(value, 16)) for ip, value in
                   re.findall(r"^\s*([0-9a-f]+) ABI:2 +DI:0x([0-9a-f]+)", said, re.M)]
        count = share(samples, lambda sample: symbols.holds(function, sample[0]))
        steps = [one[1] - two[1] for one, two in zip(samples, samples[1:])]
        if any(abs(step - rounds) > 1 for step in steps):
            raise Wrong(f"rounds between samples: {steps[:5]}, not {rounds}")
        return f"{count} samples, {min(steps)} to {max(steps)} rounds from one to the next"
    return judge


def snapshots(function, instructions, branches):
    """perf script -F event,period,ip of a group's counters in one record: as many branches as the
    instructions have."""
    def judge(said, symbols):
        rows = [(int(period), name, int(ip, 16)) for period, name, ip in
                re.findall(r"^\s*(\d+)\s+(?:\w+/)?([a-z]+)[/:]\w*:\s+([0-9a-f]+)\s*$", said,
                           re.M)]
        groups = list(zip(rows[::3], rows[1::3], rows[2::3]))
        count = share(groups, lambda group: symbols.holds(function, group[0][2]))
        for group in groups:
            if [name for _, name, _ in group] != ["cycles", "instructions", "branches"]:
                raise Wrong(f"not one of each: {group}")
            if abs(group[1][0] * branches - group[2][0] * instructions) > instructions:
                raise Wrong(f"{group[2][0]} branches of {group[1][0]} instructions")
        return f"{count} records, {groups[-1][1][0]} instructions, {groups[-1][2][0]} branches each"
    return judge


def reloaded(function, wanted):
    """Samples by the number of branches after which the counters begin again."""
    def judge(said, symbols):
        parts = {int(branches): text for branches, text in
                 re.findall(r"^branches (\d+)\n(.*?)(?=^branches |\Z)", said, re.M | re.S)}
        if set(parts) != set(wanted):
            raise Wrong(f"{len(parts)} programs were sampled, not {len(wanted)}")
        seen = []
        for branches, number in wanted.items():
            samples = [int(word, 16) for word in
                       re.findall(r"^\s*([0-9a-f]+)\s*$", parts[branches], re.M)]
            if abs(len(samples) - number) > number // 20:
                raise Wrong(f"{len(samples)} samples with {branches} branches, not {number}")
            if samples:
                share(samples, lambda at: symbols.holds(function, at))
            seen.append(f"{len(samples)} samples with {branches} branches")
        return ", ".join(seen)
    return judge


def difference(rounds, instructions):
    """hot read: RDPMC around so many rounds, and around twice as many."""
    def judge(said, _symbols):
        found = re.search(r"^(\d+) (\d+) (\d+) ?$", said, re.M)
        if not found:
            raise Wrong("it read nothing")
        index, once, twice = map(int, found.groups())
        if twice - once != rounds * instructions:
            raise Wrong(f"{once} and {twice}: not {rounds * instructions} apart")
        return f"index {index}: {once} and {twice} instructions"
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


def callers(*functions):
    """perf script -F ip,sym with call chains: the function that runs, and those that called it,
    from the innermost to the outermost."""
    def judge(said, symbols):
        chains = [[symbols.name(int(at, 16))
                   for at in re.findall(r"^\s*([0-9a-f]+) ", text, re.M)]
                  for text in said.split("\n\n") if text.strip()]
        names = [tuple(chain[:len(functions)]) for chain in chains if chain and chain[0]]

        def is_good(chain):
            want = functions[functions.index(chain[0]):] if chain[0] in functions else ("",)
            return chain[:len(want)] == want

        count = share(names, is_good)
        whole = sum(chain == functions for chain in names)
        if not whole:
            raise Wrong(f"no sample in {functions[0]}")
        return f"{count} of {len(names)} chains, {whole} of them {' < '.join(functions)}"
    return judge


def c2c():
    """perf c2c report --stats: loads, none of lines that another processor changed."""
    def judge(said, _symbols):
        got = {name.strip(): int(value) for name, value in
               re.findall(r"^\s+([A-Z][^:\n]*?)\s*:\s+(\d+)\s*$", said, re.M)}
        for name in ("Total records", "Load Operations", "Load Local HITM", "Load Remote HITM"):
            if name not in got:
                raise Wrong(f"no line '{name}'")
        if got["Load Operations"] < ENOUGH:
            raise Wrong(f"{got['Load Operations']} loads, fewer than {ENOUGH}")
        if got["Load Local HITM"] or got["Load Remote HITM"]:
            raise Wrong("lines that no other processor has were changed by one")
        return f"{got['Total records']} records, {got['Load Operations']} loads"
    return judge


def report_names(function):
    """perf report --stdio: the function comes first."""
    def judge(said, _symbols):
        rows = re.findall(r"^\s*([\d.]+)%.*\]\s+(\S+)", said, re.M)
        if not rows or rows[0][1] != function:
            raise Wrong(f"the first row isn't {function}: {rows[:1]}")
        return f"{rows[0][0]} % {function}"
    return judge
