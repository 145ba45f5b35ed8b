#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The example applications on net_mlx4x and the strict card."""

import json
import os
import signal

from scapy.all import ARP, IP, UDP, Ether, Raw, rdpcap, wrpcap

from lib import bed as testbed
from lib.bed import PCI_ADDRESS, Card, build_dir, check, check_equal, wait_until

CTL = os.path.join(build_dir(), "app", "mlx4x-ctl", "mlx4x-ctl")
DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")
MAC = ("00:02:c9:00:00:01", "00:02:c9:00:00:02")
OTHER = "02:00:00:00:00:99"


def start(bed, name, ready, *options, words=(), memory=("--in-memory", "--no-telemetry")):
    bed.require_hugepages()
    card = Card(bed, ["--strict", *options],
                [os.path.join(build_dir(), "examples", name), "-d", DRIVER, "-l", "0", "-m", "64",
                 *memory, "-a", PCI_ADDRESS, *words])
    card.wait_for(f"^{ready}$", timeout=30)
    return card


def end(card):
    os.kill(card.process.pid, signal.SIGINT)
    check_equal(card.finish(20), 0, f"exit status: {card.output[-500:]}")
    census = card.final_counters()["census"]
    check_equal({name: nb for name, nb in census.items() if nb}, {}, "objects at the end")


def udp(number, dst="198.18.1.5", ttl=64):
    return Ether(dst=MAC[0], src=OTHER) / IP(src="198.18.0.1", dst=dst, ttl=ttl, id=number) / \
        UDP(sport=1, dport=2) / Raw(bytes([number & 255]) * 60)


def test_reflect(bed):
    """Every frame comes back, in order, with its addresses swapped."""
    sent = [udp(number) for number in range(300)]
    wrpcap(bed.path("in.pcap"), sent)
    card = start(bed, "reflect", "reflecting", "--ports", "1", "--wire",
                 f"1=pcap:rx={bed.path('in.pcap')},tx={bed.path('out.pcap')},loop=1,hold=1")
    card.ctl("go")
    wait_until(lambda: card.port_counters(1)["tx_frames"] == 300, "300 frames", 20)
    end(card)
    check("300 frames in, 300 out" in card.output, card.output[-200:])
    for got, want in zip(rdpcap(bed.path("out.pcap")), sent):
        want[Ether].dst, want[Ether].src = OTHER, MAC[0]
        check_equal(bytes(got), bytes(want), "a frame")


def test_sleepy_router(bed):
    """It sleeps until frames come, wakes by interrupt, and routes them right."""
    good = [udp(number) for number in range(200)]
    bad = [udp(1, ttl=1), udp(2, dst="203.0.113.1"), Ether(dst=MAC[0], src=OTHER) / ARP()]
    wrpcap(bed.path("in.pcap"), good[:100] + bad + good[100:])
    card = start(bed, "sleepy_router", "routing",
                 "--wire", f"1=pcap:rx={bed.path('in.pcap')},loop=1,hold=1",
                 "--wire", f"2=pcap:tx={bed.path('out.pcap')}")
    wait_until(lambda: card.counters()["device"]["cq_arms"] >= 2, "both ports armed", 20)
    check_equal(card.counters()["device"]["completion_events"], 0, "interrupts without traffic")
    card.ctl("go")
    wait_until(lambda: card.port_counters(2)["tx_frames"] == 200, "200 frames", 20)
    check(card.counters()["device"]["completion_events"] > 0, "an interrupt woke it")
    end(card)
    check("times asleep" in card.output, card.output[-200:])
    routed = rdpcap(bed.path("out.pcap"))
    check_equal(len(routed), 200, "frames routed")
    for got, want in zip(routed, good):
        want[Ether].dst, want[Ether].src, want[IP].ttl = "ff:ff:ff:ff:ff:ff", MAC[1], 63
        del want[IP].chksum
        check_equal(bytes(got), bytes(want), "a frame")


def guard(bed, *words):
    """200 IPv4 frames and 50 others meet the guard; what xdp_guard printed at its end."""
    sent = [udp(number) for number in range(200)] + [Ether(dst=MAC[0], src=OTHER) / ARP()] * 50
    wrpcap(bed.path("in.pcap"), sent)
    card = start(bed, "xdp_guard", "guarding", "--ports", "1", "--wire",
                 f"1=pcap:rx={bed.path('in.pcap')},loop=1,hold=1", words=words)
    card.ctl("go")
    wait_until(lambda: card.port_counters(1)["rx_frames"] == 250, "250 frames", 20)
    end(card)
    return card.output


def test_xdp_guard(bed):
    output = guard(bed)
    for line in ("the C function saw 250 frames", "rx_xdp_pass: 200", "rx_xdp_drop: 50"):
        check(line in output, f"{line!r} in {output[-400:]}")


def test_xdp_guard_with_object(bed):
    output = guard(bed, "--", os.path.join(build_dir(), "examples", "progs", "drop.bpf.o"))
    for line in ("the C function saw 0 frames", "rx_xdp_drop: 250"):
        check(line in output, f"{line!r} in {output[-400:]}")


def test_xdp_guard_with_tool(bed):
    """mlx4x-ctl sees the C function, does not replace it unasked, and does when it is asked."""
    card = start(bed, "xdp_guard", "guarding", "--ports", "1", "--wire", "1=gen:size=60,rate=20000",
                 memory=("--file-prefix", bed.prefix))
    drop = os.path.join(build_dir(), "examples", "progs", "drop.bpf.o")

    def ctl(*words):
        return bed.run(CTL, "-f", bed.prefix, "-j", *words)

    def counters():
        return list(json.loads(ctl("stats", "0").stdout).values())[0]
    program = json.loads(ctl("status", "0").stdout)[0]["program"]
    check_equal((program["name"], program["kind"]), ("only_ipv4", "hook"), "the C function")
    wait_until(lambda: counters()["rx_xdp_pass"] > 0, "frames that pass", 20)
    refused = ctl("load", "0", drop)
    check_equal(refused.returncode, 1, "exit status without --replace")
    check("only_ipv4" in refused.stderr, f"the reason in {refused.stderr}")
    check_equal(json.loads(ctl("status", "0").stdout)[0]["program"], program, "the program")
    check_equal(ctl("load", "0", drop, "--replace").returncode, 0, "exit status")
    wait_until(lambda: counters()["rx_xdp_drop"] > 0, "frames that are dropped", 20)
    check_equal(ctl("unload", "0", "--all").returncode, 0, "exit status of unload")
    end(card)


if __name__ == "__main__":
    testbed.main(globals())
