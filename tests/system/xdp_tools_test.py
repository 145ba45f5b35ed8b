#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kernel tools on a program in the driver: xdp-filter and bpftool steer what testpmd drops.

Runs in a mount namespace of its own with a bpffs and a /run of its own, so that neither pins nor
lock files meet those of others.
"""

import json
import os
import sys

from scapy.all import IP, UDP, Ether, wrpcap

from lib import bed as testbed
from lib.bed import Failure, Skip, Testpmd, build_dir, check, wait_until

DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")
CTL = os.path.join(build_dir(), "app", "mlx4x-ctl", "mlx4x-ctl")
OBJECT = "/usr/lib/x86_64-linux-gnu/bpf/xdpfilt_alw_all.o"
PINS = "/sys/fs/bpf/xdp-filter"     # where xdp-filter looks
MAC = "02:00:00:00:00:02"
INSIDE = "MLX4X_XDP_TOOLS_INSIDE"


class Filtered:
    """testpmd that receives two frames, over and over, through xdp-filter's program."""

    def __init__(self, bed):
        bed.require_root()
        bed.require_hugepages()
        if not os.path.exists(OBJECT):
            raise Skip(f"{OBJECT} is not there: install xdp-tools")
        self.bed = bed
        wrpcap(bed.path("in.pcap"), [
            Ether(dst="00:02:c9:00:00:01", src=source) / IP(src=address, dst="192.0.2.9") /
            UDP(sport=1000, dport=port) / (b"x" * 40)
            for source, address, port in ((MAC, "192.0.2.1", 5353),
                                          ("02:00:00:00:00:03", "192.0.2.2", 9))])
        self.pmd = Testpmd(bed, ["--strict", "--wire", f"1=pcap:rx={bed.path('in.pcap')},loop=0",
                                 "--wire", "2=sink"], ["--forward-mode=rxonly"],
                           driver=DRIVER, file_prefix=bed.prefix)
        self.pmd.cmd("start")
        self.tool(CTL, "-f", bed.prefix, "load", "0", OBJECT, "-p", PINS)

    def tool(self, *words):
        done = self.bed.run(*words)
        check(done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def counters(self):
        answer = json.loads(self.tool(CTL, "-f", self.bed.prefix, "-j", "stats", "0"))
        return list(answer.values())[0]

    def share_of_drops(self):
        """Of the frames that are judged while this looks."""
        before = self.counters()
        wait_until(lambda: self.counters()["rx_xdp_packets"] > before["rx_xdp_packets"] + 2000,
                   "2000 frames more", 20)
        after = self.counters()
        return (after["rx_xdp_drop"] - before["rx_xdp_drop"]) / \
            (after["rx_xdp_packets"] - before["rx_xdp_packets"])

    def becomes(self, low, high, *words):
        """The command changes the share of frames that are dropped."""
        self.tool(*words)
        for _ in range(3):
            try:
                wait_until(lambda: low <= self.share_of_drops() <= high,
                           f"from {low:.0%} to {high:.0%} dropped after {' '.join(words)}", 10)
                return
            except Failure as failure:
                # A write between the two system calls of a round is lost: doc/xdp_maps.rst.
                print(f"{failure}: said again")
                self.bed.run(*words)
        raise Failure(f"{' '.join(words)} has no effect")

    def entries(self, pin):
        return json.loads(self.tool("bpftool", "-j", "map", "dump", "pinned", pin))

    def quit(self):
        self.pmd.cmd("stop")
        self.pmd.quit()


def test_xdp_filter(bed):
    """Each filter takes one of the two frames; removing it gives the frame back."""
    app = Filtered(bed)
    check(app.share_of_drops() == 0, "nothing is dropped before")
    for words in (["port", "5353", "-p", "udp", "-m", "dst"], ["ip", "192.0.2.1", "-m", "src"],
                  ["ether", MAC, "-m", "src"]):
        app.becomes(0.4, 0.6, "xdp-filter", *words)
        app.becomes(0, 0, "xdp-filter", *words, "-r")
    app.quit()


def test_bpftool(bed):
    """The map of MAC addresses, byte by byte, and the program's count of hits in it."""
    app = Filtered(bed)
    mac = ["hex", *MAC.split(":")]
    pin = f"{PINS}/filter_ethernet"
    # Per-CPU values; 1 << 0 is "source" in xdp-filter's flags.
    app.becomes(0.4, 0.6, "bpftool", "map", "update", "pinned", pin, "key", *mac,
                "value", "hex", *"01 00 00 00 00 00 00 00".split())
    wait_until(lambda: any(value["value"][1:] != ["0x00"] * 7
                           for entry in app.entries(pin) for value in entry["values"]),
               "bpftool to see the hits of the entry", 20)
    app.becomes(0, 0, "bpftool", "map", "delete", "pinned", pin, "key", *mac)
    check(app.entries(pin) == [], "the map is empty again")
    app.quit()


if __name__ == "__main__":
    if INSIDE not in os.environ and os.geteuid() == 0:
        os.execvpe("unshare", ["unshare", "--mount", "sh", "-c",
                               "mount -t tmpfs run /run && mount -t bpf bpf /sys/fs/bpf && "
                               'exec "$@"', "sh", *sys.argv], {**os.environ, INSIDE: "1"})
    testbed.main(globals())
