#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Packets per second of the stock driver in testpmd, the card's engine in a thread of its own.

Figures, no verdict. testpmd forwards on lcore 1, the engine runs on processor 0. "Packets a turn"
tell who waits: near testpmd's burst of 32 the engine keeps up, near the ring size it is late.
"""

import time

from lib import bed as testbed
from lib.bed import Testpmd

SECONDS = 2
CASES = (
    ("rxonly, 60-byte frames", ["--ports", "1", "--wire", "1=gen:size=60"],
     ["--forward-mode=rxonly"], "RX-packets"),
    ("rxonly, 4 queues", ["--ports", "1", "--wire", "1=gen:size=60,flows=256"],
     ["--forward-mode=rxonly", "--rxq=4", "--txq=4"], "RX-packets"),
    ("rxonly, 1514-byte frames", ["--ports", "1", "--wire", "1=gen:size=1514"],
     ["--forward-mode=rxonly"], "RX-packets"),
    ("txonly, 60-byte frames", ["--ports", "1", "--wire", "1=sink"],
     ["--forward-mode=txonly"], "TX-packets"),
    ("io, generator to sink", ["--wire", "1=gen:size=60", "--wire", "2=sink"],
     ["--forward-mode=io"], "RX-packets"),
)


def measure(bed, options, args, name):
    """Packets per second, and packets that a turn of the engine moves."""
    pmd = Testpmd(bed, ["--engine-cpu", "0", *options], args)
    pmd.cmd("start")
    time.sleep(0.5)
    packets, began = pmd.stats(0)[name], time.monotonic()
    time.sleep(SECONDS)
    packets, ended = pmd.stats(0)[name] - packets, time.monotonic()
    device = pmd.counters()["device"]
    pmd.cmd("stop")
    pmd.quit()
    return (packets / (ended - began),
            (device["rx_wqes"] + device["tx_wqes"]) / device["slices"])


def test_speed(bed):
    bed.require_hugepages()
    for title, options, args, name in CASES:
        rate, a_turn = measure(bed, options, args, name)
        print(f"{title}: {rate / 1e6:.2f} million packets/s, {a_turn:.1f} packets a turn")


if __name__ == "__main__":
    testbed.main(globals())
