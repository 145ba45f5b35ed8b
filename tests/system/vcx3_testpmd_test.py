#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Debian's stock mlx4 driver in dpdk-testpmd, unmodified, on the virtual card."""

import random

from scapy.all import IP, UDP, Ether, Raw, rdpcap, wrpcap

from lib import bed as testbed
from lib.bed import Testpmd, check, check_equal, wait_until

MAC = ("00:02:c9:00:00:01", "00:02:c9:00:00:02")
OTHER = "02:00:00:00:00:99"


def frames_of(nb, dst=MAC[0], seed=1):
    """UDP frames of random sizes, each different, with all checksums right."""
    source = random.Random(seed)
    return [Ether(dst=dst, src=OTHER) / IP(src="10.0.0.1", dst="10.0.0.2", id=i & 0xffff) /
            UDP(sport=1000 + i % 50, dport=2000) / Raw(source.randbytes(source.randint(18, 1400)))
            for i in range(nb)]


def bytes_of(path):
    return [bytes(frame) for frame in rdpcap(path)]


def test_io_pcap_to_pcap(bed):
    """Every byte of every frame, in order, both ways at once."""
    bed.require_hugepages()
    sent = [frames_of(800, MAC[0], 1), frames_of(800, MAC[1], 2)]
    for port in (0, 1):
        wrpcap(bed.path(f"in{port}.pcap"), sent[port])
    wires = [word for port in (0, 1) for word in
             ("--wire", f"{port + 1}=pcap:rx={bed.path(f'in{port}.pcap')},"
              f"tx={bed.path(f'out{port}.pcap')},loop=1,hold=1")]
    # Rings that hold all of it: testpmd drops what does not fit.
    pmd = Testpmd(bed, wires, ["--forward-mode=io", "--txd=2048"])
    pmd.cmd("start")
    pmd.ctl("go")
    wait_until(lambda: all(pmd.port_counters(p)["tx_frames"] == 800 for p in (1, 2)),
               "800 frames out of each port", 15)
    for port in (0, 1):
        check_equal(pmd.stats(port)["RX-packets"], 800, f"packets of port {port}")
    pmd.quit()
    for port in (0, 1):
        check_equal(bytes_of(bed.path(f"out{1 - port}.pcap")), [bytes(f) for f in sent[port]],
                    f"frames that came in at port {port}")


def test_rss_over_four_queues(bed):
    """256 flows of the generator spread over 4 queues; nothing is lost by the device."""
    bed.require_hugepages()
    pmd = Testpmd(bed, ["--ports", "1", "--wire", "1=gen:size=60,flows=256,count=20000,hold=1"],
                  ["--rxq=4", "--txq=4", "--forward-mode=rxonly"])
    pmd.cmd("start")
    pmd.ctl("go")
    wait_until(lambda: pmd.port_counters(1)["rx_frames"] == 20000, "20000 frames", 15)
    wait_until(lambda: pmd.stats(0)["RX-packets"] == 20000, "their arrival", 5)
    queues = [queue["rx_frames"] for queue in pmd.counters()["qps"] if queue["rx_frames"]]
    check_equal(len(queues), 4, "queues that received")
    check(min(queues) > 20000 / 4 / 2, f"equal spread: {queues}")
    check_equal(sum(queues), 20000, "frames over all queues")
    pmd.quit()


def test_txonly(bed):
    bed.require_hugepages()
    pmd = Testpmd(bed, ["--ports", "1", "--wire", "1=sink"], ["--forward-mode=txonly"])
    pmd.cmd("start")
    wait_until(lambda: pmd.port_counters(1)["tx_frames"] > 10000, "10000 frames", 10)
    pmd.cmd("stop")
    wait_until(lambda: pmd.port_counters(1)["tx_frames"] == pmd.stats(0)["TX-packets"],
               "all frames that the driver counts")
    counters = pmd.counters()
    check_equal(counters["device"]["error_cqes"], 0, "errors")
    pmd.quit()
    check_equal(pmd.final_counters()["device"]["live_mpts"], 0, "keys at the end")
    census = pmd.final_counters()["census"]
    check_equal({name: nb for name, nb in census.items() if nb}, {}, "objects at the end")


def test_link_events(bed):
    bed.require_hugepages()
    pmd = Testpmd(bed, [], [])
    check(pmd.link_up(0) and pmd.link_up(1), "both links are up at start")
    start = len(pmd.output)
    pmd.ctl("link", "1", "down")
    pmd.wait_for("Port [01]: link state change event", start=start)
    wait_until(lambda: not pmd.link_up(0), "link down")
    pmd.ctl("link", "1", "up")
    wait_until(lambda: pmd.link_up(0), "link up")
    pmd.cmd("set link-down port 0")
    wait_until(lambda: not pmd.link_up(0), "link down by the driver")
    pmd.cmd("set link-up port 0")
    wait_until(lambda: pmd.link_up(0), "link up by the driver")
    pmd.quit()


def test_removal_event(bed):
    bed.require_hugepages()
    pmd = Testpmd(bed, [], [])
    start = len(pmd.output)
    pmd.ctl("unplug")
    pmd.wait_for("device removal event", start=start)
    pmd.kill()


def test_scatter_of_jumbo_frames(bed):
    bed.require_hugepages()
    payload = random.Random(3).randbytes(8000)
    sent = [Ether(dst=MAC[0], src=OTHER) / IP(src="10.0.0.1", dst="10.0.0.2", id=i) /
            UDP(sport=1, dport=2) / Raw(payload[i:i + 7900]) for i in range(64)]
    wrpcap(bed.path("in.pcap"), sent)
    pmd = Testpmd(bed, ["--mtu", "9000", "--wire", f"1=pcap:rx={bed.path('in.pcap')},loop=1,hold=1",
                        "--wire", f"2=pcap:tx={bed.path('out.pcap')}"],
                  ["--forward-mode=io", "--max-pkt-len=9018", "--enable-scatter"])
    pmd.cmd("start")
    pmd.ctl("go")
    wait_until(lambda: pmd.port_counters(2)["tx_frames"] == 64, "64 frames", 10)
    pmd.quit()
    check_equal(bytes_of(bed.path("out.pcap")), [bytes(frame) for frame in sent], "frames")


def test_filters(bed):
    """Unicast to others, multicast and VLANs pass as promiscuous, allmulti and filters say."""
    bed.require_hugepages()
    frames = [Ether(dst=MAC[0]) / Raw(b"own" * 20), Ether(dst=OTHER) / Raw(b"other" * 12),
              Ether(dst="ff:ff:ff:ff:ff:ff") / Raw(b"all" * 20),
              Ether(dst="01:00:5e:00:00:05") / Raw(b"group" * 12)]
    wrpcap(bed.path("in.pcap"), frames)
    wire = f"1=pcap:rx={bed.path('in.pcap')},loop=1,hold=1"
    cases = ((["set promisc all off"], 2), (["set promisc all on"], 4),
             (["set promisc all off", "set allmulti all on"], 3),
             (["set promisc all off", f"mac_addr add 0 {OTHER}"], 3))
    for commands, passed in cases:
        pmd = Testpmd(bed, ["--ports", "1", "--wire", wire], ["--forward-mode=rxonly"])
        for command in commands:
            pmd.cmd(command)
        pmd.cmd("start")
        pmd.ctl("go")
        wait_until(lambda: sum(pmd.port_counters(1)[name] for name in
                               ("rx_frames", "rx_drop_no_rule")) == 4, "4 frames seen")
        check_equal(pmd.port_counters(1)["rx_frames"], passed, f"frames that pass {commands}")
        pmd.quit()


if __name__ == "__main__":
    testbed.main(globals())
