#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every XDP program of Debian's xdp-tools and of examples/progs, behind the driver in a testpmd
that plays a capture, does to its frames what the kernel (BPF_PROG_TEST_RUN) does: the same ones
pass and come back, byte by byte, and as many are dropped, aborted and redirected.

usage: xdp_oracle_test.py tools|examples
"""

import glob
import os
import random
import re
import sys

from scapy.all import ARP, ICMP, IP, TCP, UDP, Dot1Q, Ether, IPv6, Raw

from lib import bed as testbed
from lib.bed import Skip, Testpmd, build_dir, check, check_equal, wait_until
from lib.frames import read_capture, write_capture
from lib.telemetry import Telemetry

DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")
XDPVM = os.path.join(build_dir(), "lib", "xdpvm", "xdpvm")
OBJECTS = {
    "tools": "/usr/lib/*/bpf/*.o",
    "examples": os.path.join(build_dir(), "examples", "progs", "*.bpf.o"),
}
NOT_XDP = {"xdpdump_bpf.o"}     # tracing programs of xdpdump
NB_FRAMES = 300
SHORTEST = 60                   # the card pads what is shorter
VERDICTS = ("ABORTED", "DROP", "PASS", "TX", "REDIRECT")


def entry(name, key, value):
    return name, bytes(key).hex(), bytes(value).hex()


def number(value, size=4):
    return value.to_bytes(size, "little")


FLAGS = number(0x3f, 8)     # of xdp-filter: source and destination, TCP and UDP
# Entries that frames below meet, by map.
ENTRIES = [
    entry("filter_ports", number(0x3500), FLAGS),   # port 53 in network order
    entry("filter_ports", number(0x5000), FLAGS),   # port 80
    entry("filter_ipv4", (10, 0, 0, 3), FLAGS),
    entry("filter_ipv6", bytes.fromhex("20010db8000000000000000000000003"), FLAGS),
    entry("filter_ethernet", (2, 0, 0, 0, 0, 3), FLAGS),
    entry("blocked_port", number(0), number(53)),
    entry("refused", number(31) + bytes((10, 0, 0, 2)), number(0, 8)),
    entry("allowed", bytes((10, 0, 0, 3, 0, 80, 6, 0)), number(0, 8)),
    entry("limits", number(0), number(0, 8) + number(7, 8)),    # no refill: time plays no part
    entry("config", number(0), bytes((10, 0, 0, 2, 10, 0, 0, 9)) + number(2)),
    entry("backends", number(0), bytes((10, 1, 0, 1, 2, 0, 0, 0, 1, 1, 0, 0))),
    entry("backends", number(1), bytes((10, 1, 0, 2, 2, 0, 0, 0, 1, 2, 0, 0))),
    entry("cpu_count", number(0), number(2)),       # CPUs without entries in the CPUMAP
    entry("pushed_tci", number(0), number(0x6007)),
]


def one_frame(source):
    """A frame of a mixed network; addresses and ports come from small pools."""
    last = source.randint(1, 4)
    ether = Ether(dst=f"02:00:00:00:00:0{source.randint(1, 4)}", src=f"02:00:00:00:00:0{last}")
    for _ in range(source.choice((0, 0, 0, 1, 2))):
        ether = ether / Dot1Q(vlan=source.choice((7, 4011)))
    ports = {"sport": source.choice((1000, 53)), "dport": source.choice((9, 53, 80, 443))}
    above = source.choice((UDP(**ports), TCP(**ports), ICMP()))
    network = source.choice((
        IP(src=f"10.0.0.{last}", dst=f"10.0.0.{source.randint(1, 4)}", ttl=source.randint(1, 64)),
        IP(src=f"10.0.0.{last}", dst="10.0.0.2", options=b"\1\1\1\0"),
        IPv6(src=f"2001:db8::{last}", dst=f"2001:db8::{source.randint(1, 4)}")))
    payload = Raw(source.randbytes(source.choice((0, 18, 60, 600, 1400))))
    return source.choice((ether / network / above / payload,) * 9 + (ether / ARP(),))


def frames():
    """Also frames that are cut short, and noise. At least a header, at most what MTU 1500 has."""
    source = random.Random(11)
    for i in range(NB_FRAMES):
        data = bytes(one_frame(source))
        if i % 10 == 0:
            data = data[:source.randint(14, min(60, len(data)))]
        elif i % 25 == 1:
            data = source.randbytes(source.randint(14, 1514))
        yield Ether(data[:1514])


def programs(bed, which):
    """(object, program) of all that are installed or built."""
    for path in sorted(glob.glob(OBJECTS[which])):
        if os.path.basename(path) in NOT_XDP:
            continue
        done = bed.run(XDPVM, "check", path)
        names = re.findall(r"^program (\S+) ", done.stdout, re.M)
        check(names, f"{path} has programs: {done.stderr}")
        for name in names:
            yield path, name


def entries_of(bed, path, name):
    """Entries for the maps that this program has."""
    text = bed.run(XDPVM, "run", path, "-p", name, "--pcap", bed.path("in.pcap"), "--maps").stdout
    return [item for item in ENTRIES if re.search(rf"\b{item[0]}\b", text)]


class Outcome:
    """What becomes of the frames: how many had each verdict, and those that still exist."""

    def __init__(self, verdicts, passed, sent):
        self.verdicts = verdicts
        self.passed = passed
        self.sent = sent


def padded(frame):
    return frame.ljust(SHORTEST, b"\0")


def in_kernel(bed, path, name, entries):
    out = bed.path("kernel.pcap")
    done = bed.run(XDPVM, "run", path, "-p", name, "--engine", "kernel", "--pcap",
                   bed.path("in.pcap"), "--out", out, "--packets",
                   *(word for item in entries for word in ("--set", "{}:{}={}".format(*item))))
    check_equal(done.returncode, 0, f"the kernel with {path} {name}: {done.stderr}")
    verdicts = re.findall(r"^\d+ ([A-Z]+) \d+$", done.stdout, re.M)
    check_equal(len(verdicts), NB_FRAMES, f"verdicts in {done.stdout[:200]!r}")
    kept = [verdict for verdict in verdicts if verdict in ("PASS", "TX", "REDIRECT")]
    left = read_capture(out)
    check_equal(len(left), len(kept), "frames that the kernel left")
    return Outcome({verdict: verdicts.count(verdict) for verdict in VERDICTS},
                   [padded(frame) for frame, verdict in zip(left, kept) if verdict == "PASS"],
                   [padded(frame) for frame, verdict in zip(left, kept) if verdict == "TX"])


def load(telemetry, path, name, entries):
    answer = telemetry.ask("/mlx4x/xdp/load", port=0, path=path, func=name)
    check("id" in answer, f"{path} {name}: {answer}")
    for map_name, key, value in entries:
        answer = telemetry.ask("/mlx4x/xdp/maps/update", port=0, map=map_name, key=key, value=value)
        check_equal(answer, {"map": map_name}, "answer to an update")


def in_driver(bed, path, name, entries):
    prefix = f"{bed.prefix}-{bed.next_number()}"
    sent, passed = (bed.path(f"{what}.pcap") for what in ("sent", "passed"))
    pmd = Testpmd(bed, ["--strict", "--wire",
                        f"1=pcap:rx={bed.path('in.pcap')},tx={sent},hold=1",
                        "--wire", f"2=pcap:tx={passed}"], ["--forward-mode=io"],
                  driver=DRIVER, file_prefix=prefix)
    telemetry = Telemetry(prefix)
    load(telemetry, path, name, entries)
    pmd.cmd("start")
    pmd.ctl("go")
    stats = {}

    def all_judged():
        stats.update(telemetry.ask("/mlx4x/xdp/stats", port=0))
        return stats["rx_xdp_packets"] == NB_FRAMES and \
            pmd.port_counters(1)["tx_frames"] == stats["rx_xdp_tx"] and \
            pmd.port_counters(2)["tx_frames"] == stats["rx_xdp_pass"]
    wait_until(all_judged, f"all frames to be judged by {name}", 20)
    telemetry.close()
    pmd.cmd("stop")
    pmd.quit()
    check_equal(pmd.final_counters()["violations"]["total"], 0, "violations")
    verdicts = {verdict: stats["rx_xdp_" + verdict.lower()] for verdict in VERDICTS}
    verdicts["REDIRECT"] += stats["rx_xdp_redirect_fail"]
    verdicts["TX"] += stats["rx_xdp_tx_full"]
    return Outcome(verdicts, read_capture(passed), read_capture(sent))


def same(one, other, what):
    for i, (left, right) in enumerate(zip(one, other)):
        check(left == right, f"{what} {i}: driver {left.hex()}, kernel {right.hex()}")
    check_equal(len(one), len(other), what)


def compare(bed, path, name):
    entries = entries_of(bed, path, name)
    kernel = in_kernel(bed, path, name, entries)
    driver = in_driver(bed, path, name, entries)
    what = f"{os.path.basename(path)} {name}"
    check_equal(driver.verdicts, kernel.verdicts, f"{what}: verdicts")
    same(driver.passed, kernel.passed, f"{what}: passed")
    same(driver.sent, kernel.sent, f"{what}: sent back")
    print(f"same: {what}, {len(entries)} entries, " +
          ", ".join(f"{nb} {verdict}" for verdict, nb in kernel.verdicts.items() if nb))
    return {verdict for verdict, nb in kernel.verdicts.items() if nb}


def test_same_as_kernel(bed):
    bed.require_root()
    bed.require_hugepages()
    which = sys.argv[1]
    write_capture(bed.path("in.pcap"), list(frames()))
    wanted = list(programs(bed, which))
    if not wanted:
        raise Skip(f"{OBJECTS[which]}: nothing is there")
    verdicts = [compare(bed, path, name) for path, name in wanted]
    print(f"{len(verdicts)} programs, {NB_FRAMES} frames each")
    # Entries and frames meet: in both folders there are programs that do not treat all alike.
    check(sum(len(some) > 1 for some in verdicts) >= 5, "programs that tell frames apart")


if __name__ == "__main__":
    testbed.main(globals())
