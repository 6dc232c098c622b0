#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests judge.py and initramfs.py with texts and files whose right result is known.

check_judge.py: prints nothing and exits 0, or ends with what is wrong.
"""
import judge
import initramfs

NM = """00000000004010b0 T deep
00000000004010c0 T functions_end
0000000000401098 T jump
00000000004010a8 T left
00000000004010b8 T one
00000000004010ac T right
000000000040105e T spin
0000000000402000 B table
0000000000802000 B table_end
00000000004010bc T three
000000000040106a T touch
00000000004010ba T two
0000000000401081 T write
"""
SYMBOLS = judge.Symbols(NM)


def refuses(judged, said):
    try:
        return not judged(said, SYMBOLS)
    except judge.Wrong:
        return True


def lines(*parts):
    return "".join(f"{line}\n" for count, line in parts for _ in range(count))


def check_samples():
    judged = judge.samples_in("spin")
    assert judged(lines((99, "          401061 "), (1, " ffffffff81000000 ")), SYMBOLS)
    assert refuses(judged, lines((19, "401061")))
    assert judged(lines((60, "401061"), (40, "ffffffff81000000")), SYMBOLS)
    assert refuses(judged, lines((40, "401061"), (60, "ffffffff81000000")))
    assert refuses(judged, lines((90, "401061"), (10, "40106a")))
    assert refuses(judged, "")


def check_accesses():
    judged = judge.accesses_by("touch")
    assert judged(lines((50, "     403040      40106a")), SYMBOLS)
    assert refuses(judged, lines((50, "     802000      40106a")))
    assert refuses(judged, lines((50, "     403040      401081")))
    assert refuses(judged, lines((50, "          0      40106a")))
    judged = judge.accesses_by("touch", addresses=False)
    assert judged(lines((50, "          0      40106a")), SYMBOLS)
    assert refuses(judged, lines((50, "     403040      40106a")))
    assert refuses(judged, lines((50, "          0      401081")))


def check_refused():
    judged = judge.refused("cycles:pp")
    assert judged("Error:\nThe sys_perf_event_open() syscall returned with 22 (Invalid argument) "
                  "for event (cycles:pp).\n", SYMBOLS)
    assert refuses(judged, "[ perf record: Captured and wrote 0.012 MB /tmp/record ]\n401061\n")
    assert refuses(judged, "perf: Invalid argument\n")


def check_branches():
    judged = judge.branches_of("jump", "left", "right")
    good = "  40109d 0x401098/0x4010a8/P/-/-/0//-  0x4010ab/0x40109d/P/-/-/0//- "
    assert judged(lines((20, good)), SYMBOLS)
    assert refuses(judged, lines((19, good)))
    assert refuses(judged, lines((20, good), (3, "40109d 0xffffffff81000000/0x401098/P/-/-/0//-")))
    assert refuses(judged, lines((20, "40109d 0x4010ab/0x40109d/P/-/-/0//-")))


def check_counts():
    judged = judge.counts(1000, 4, 1)
    said = "{},,instructions:u,1,100.00,,\n{},,branches:u,1,100.00,,\n"
    assert judged(said.format(4080, 1020), SYMBOLS)
    for wrong in ((3999, 1020), (4080, 999), (9000, 1020)):
        assert refuses(judged, said.format(*wrong))
    assert refuses(judged, said.format(4080, "<not counted>"))
    judged = judge.counts(1000, 4, 1, beside="watchdog 1")
    assert judged("watchdog 1\n" + said.format(4080, 1020), SYMBOLS)
    assert refuses(judged, "watchdog 0\n" + said.format(4080, 1020))


STAT = "{},,instructions:u,1,100.00,,\n{},,branches:u,1,100.00,,\n{},,context-switches,1,100.00,,\n"


def check_broken():
    judged = judge.broken(1000, 4, 1)
    said = "# started on Mon\n\n" + STAT.split("{},,context")[0]
    assert judged(said.format(3060, 1020) + said.format(4080, 1020), SYMBOLS)
    for one, two in (((4080, 1020), (4080, 1020)), ((3060, 1020), (3060, 1020)),
                     ((3060, 765), (4080, 1020))):
        bad = said.format(one[0] * 10, one[1] * 10) + said.format(two[0] * 10, two[1] * 10)
        assert refuses(judge.broken(10000, 4, 1), bad)
    assert refuses(judged, said.format(4080, 1020))


def check_soaked():
    judged = judge.soaked(10000, 4, 1, 1000)
    said = "rounds {}\n" + STAT.split("{},,context")[0] + "    {}  401061\n     12 401099\n"
    assert judged(said.format(10, 400900, 100900, 395), SYMBOLS)
    for wrong in ((0, 400900, 100900, 395), (10, 399999, 100900, 395),
                  (10, 400900, 99999, 395), (10, 400900, 100900, 380)):
        assert refuses(judged, said.format(*wrong))
    assert refuses(judged, said.format(10, 400900, 100900, 395) + "[  9.9] watchdog: soft lockup\n")


def check_switched():
    judged = judge.switched((1000, 2000), 4, 1)
    said = "# started on Mon\n\n" + STAT
    assert judged(said.format(4080, 1020, 3) + said.format(8080, 2020, 0), SYMBOLS)
    assert refuses(judged, said.format(4080, 1020, 0) + said.format(8080, 2020, 0))
    assert refuses(judged, said.format(8080, 2020, 3) + said.format(4080, 1020, 3))
    assert refuses(judged, said.format(4080, 1020, 3))


def check_groups():
    judged = judge.groups(2, 100000, 4, 1)
    group = "{},,branches:u,1,{share},,\n{},,branches:u,1,{share},,\n{},,r00c0:u,1,{share},,\n"
    good = group.format(50000, 50000, 200010, share=50.00)
    assert judged(good + good, SYMBOLS)
    assert refuses(judged, good)
    for wrong in ((50000, 50001, 200000), (50000, 50000, 100000), (0, 0, 0),
                  (200000, 200000, 800000)):
        assert refuses(judged, good + group.format(*wrong, share=50.00))
    assert refuses(judged, 2 * group.format(50000, 50000, 200010, share=100.00))


def check_difference():
    judged = judge.difference(1000, 2)
    assert judged("1073741825 2008 4008 \n", SYMBOLS)
    assert refuses(judged, "1073741825 2008 4009 \n")
    assert refuses(judged, "")


def check_hybrid():
    judged = judge.hybrid(1000, 4, 1, "spin", "touch")

    def part(pmu, other, count=4080, event=None, at="401061", data="403040"):
        event = event or pmu
        said = (f"on {pmu}\n{count},,{pmu}/instructions/u,1,100.00,,\n"
                f"1020,,{pmu}/branches/u,1,100.00,,\n"
                f"<not counted>,,{other}/instructions/u,0,0.00,,\n")
        return said + 20 * (f" {event}/cycles/ppu:            {at}\n"
                            f" {pmu}/mem-loads,ldlat=3/P:      {data}     40106a\n")

    pmus, core, atom = "pmus cpu_core 0-1 cpu_atom 2-3\n", "cpu_core", "cpu_atom"
    small = part(atom, core)
    assert judged(pmus + part(core, atom) + small, SYMBOLS)
    for wrong in (part(core, atom, count=3999), part(core, atom, event=atom),
                  part(core, atom, at="40106a"), part(core, atom, data="802000"),
                  part(core, atom).replace("<not counted>", "12"), ""):
        assert refuses(judged, pmus + wrong + small)
    assert refuses(judged, part(core, atom) + small)


def check_registers():
    judged = judge.registers("spin", 100)
    rows = [f"  401061 ABI:2    DI:0x{5000 - 100 * i:x} \n" for i in range(20)]
    assert judged("".join(rows), SYMBOLS)
    assert refuses(judged, "".join(rows[:19]))
    assert refuses(judged, "".join(rows[:5] + rows[6:]) + rows[0])
    assert refuses(judged, "".join(rows).replace("401061", "40106a"))


def check_snapshots():
    judged = judge.snapshots("spin", 4, 1)
    good = "  100 cycles:ppu:  401061\n 100 cpu/instructions/u:  401061\n 25 branches:u: 401061\n"
    assert judged(20 * good, SYMBOLS)
    assert refuses(judged, 19 * good)
    assert refuses(judged, 20 * good + good.replace(" 25 ", " 27 "))
    assert refuses(judged, 20 * good.replace("401061", "40106a"))
    assert refuses(judged, 20 * good.replace("instructions", "branches"))


def check_reloaded():
    judged = judge.reloaded("spin", {60: 40, 40: 0})
    good = "branches 60\n" + 40 * "  401061\n" + "branches 40\n"
    assert judged(good, SYMBOLS)
    for wrong in (good + "  401061\n", good.replace("  401061\n", "", 3),
                  good.replace("401061", "40106a"), "branches 60\n" + 40 * "  401061\n", ""):
        assert refuses(judged, wrong)


def check_callers():
    judged = judge.callers("three", "two", "one", "deep")
    good = ("\t  4010bc three\n\t  4010ba two\n\t  4010b8 one\n"
            "\t  4010b1 deep\n\t  401050 _start\n\n")
    short = "\t  4010b8 one\n\t  4010b1 deep\n\n"
    assert judged(20 * good, SYMBOLS) and judged(good + 20 * short, SYMBOLS)
    assert refuses(judged, 20 * short)
    assert refuses(judged, 19 * good)
    assert refuses(judged, 20 * good + 3 * good.replace("4010ba two\n", "4010b8 one\n"))
    assert refuses(judged, 20 * good.replace("\t  4010ba two\n", ""))


def check_c2c():
    judged = judge.c2c()
    said = ("  Total records                     :        {}\n"
            "  Load Operations                   :        {}\n"
            "  Load Local HITM                   :        {}\n"
            "  Load Remote HITM                  :          0\n")
    assert judged(said.format(80, 40, 0), SYMBOLS)
    assert refuses(judged, said.format(80, 19, 0))
    assert refuses(judged, said.format(80, 40, 1))
    assert refuses(judged, "")


def check_report():
    judged = judge.report_names("spin")
    assert judged("    99.61%  hot      hot                [.] spin\n"
                  "     0.39%  hot      [kernel.kallsyms]  [k] clear_page\n", SYMBOLS)
    assert refuses(judged, "    60.00%  hot  [kernel.kallsyms]  [k] clear_page\n"
                           "    40.00%  hot  hot  [.] spin\n")
    assert refuses(judged, "")


def check_archive():
    archive = initramfs.Archive()
    archive.add("a/b/file", b"12345")
    archive.link("link", "a")
    content = archive.content()
    names, at = [], 0
    while not names or names[-1] != "TRAILER!!!":
        assert content[at:at + 6] == b"070701" and at % 4 == 0, at
        size, length = int(content[at + 54:at + 62], 16), int(content[at + 94:at + 102], 16)
        names.append(content[at + 110:at + 109 + length].decode())
        start = (at + 110 + length + 3) & ~3
        if names[-1] == "a/b/file":
            assert content[start:start + size] == b"12345"
        at = (start + size + 3) & ~3
    assert names == ["a", "a/b", "a/b/file", "link", "TRAILER!!!"], names
    assert at == len(content)


if __name__ == "__main__":
    for check in (check_samples, check_accesses, check_branches, check_counts, check_broken,
                  check_soaked, check_switched,
                  check_groups, check_difference, check_hybrid, check_registers,
                  check_snapshots, check_reloaded, check_callers, check_c2c,
                  check_report, check_refused, check_archive):
        check()
