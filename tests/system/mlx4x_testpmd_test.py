#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""net_mlx4x in dpdk-testpmd on the virtual card, which checks what silicon needs (--strict)."""

import os
import random
import re

from scapy.all import IP, TCP, UDP, VXLAN, Dot1Q, Ether, IPv6, Raw, rdpcap, wrpcap

from lib import bed as testbed
from lib.bed import (KERNEL_REGISTRATIONS, Testpmd, build_dir, check, check_equal,
                     wait_until)
from lib.telemetry import Telemetry

MAC = ("00:02:c9:00:00:01", "00:02:c9:00:00:02")
OTHER = "02:00:00:00:00:99"
DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")
STRICT = ["--strict", "--vlan-insert", "on"]


def start_testpmd(bed, options, args=(), **keywords):
    bed.require_hugepages()
    return Testpmd(bed, [*STRICT, *options], args, driver=DRIVER, **keywords)


def end(pmd):
    """Ends testpmd; nothing of it may be left in the card."""
    pmd.quit()
    counters = pmd.final_counters()
    check_equal({name: nb for name, nb in counters["census"].items() if nb}, {},
                "objects at the end")
    check_equal(counters["violations"]["total"], 0, f"violations in {counters['violations']}")
    return counters


def bytes_of(path):
    return [bytes(frame) for frame in rdpcap(path)]


def udp(payload, dst=MAC[0], ident=1):
    return Ether(dst=dst, src=OTHER) / IP(src="10.0.0.1", dst="10.0.0.2", id=ident) / \
        UDP(sport=1000 + ident % 50, dport=2000) / Raw(payload)


def replay(bed, frames, *, args, commands=(), options=(), nb_out=None, eal=()):
    """Plays frames into port 0, waits until nb_out of them left port 1 and all were received."""
    wrpcap(bed.path("in.pcap"), frames)
    pmd = start_testpmd(bed, [*options, "--wire",
                              f"1=pcap:rx={bed.path('in.pcap')},loop=1,hold=1",
                              "--wire", f"2=pcap:tx={bed.path('out.pcap')}"],
                        ["--txd=2048", *args], eal=eal)
    for command in commands:
        pmd.cmd(command)
    pmd.cmd("start")
    pmd.ctl("go")
    nb_out = len(frames) if nb_out is None else nb_out
    wait_until(lambda: pmd.port_counters(2)["tx_frames"] >= nb_out, f"{nb_out} frames out", 15)
    wait_until(lambda: pmd.stats(0)["RX-packets"] == len(frames), f"{len(frames)} frames in", 15)
    pmd.cmd("stop")
    return pmd


def random_frames(nb, dst=MAC[0], seed=1):
    source = random.Random(seed)
    return [udp(source.randbytes(source.randint(18, 1400)), dst, i & 0xffff) for i in range(nb)]


def test_io_both_ways(bed):
    """Every byte of every frame, in order; rings wrap many times."""
    sent = [random_frames(1500, MAC[0], 1), random_frames(1500, MAC[1], 2)]
    for port in (0, 1):
        wrpcap(bed.path(f"in{port}.pcap"), sent[port])
    wires = [word for port in (0, 1) for word in
             ("--wire", f"{port + 1}=pcap:rx={bed.path(f'in{port}.pcap')},"
              f"tx={bed.path(f'out{port}.pcap')},loop=1,hold=1")]
    pmd = start_testpmd(bed, wires, ["--forward-mode=io", "--rxd=64", "--txd=4096"])
    pmd.cmd("start")
    pmd.ctl("go")
    wait_until(lambda: all(pmd.port_counters(p)["tx_frames"] == 1500 for p in (1, 2)),
               "1500 frames out of each port", 20)
    for port in (0, 1):
        check_equal(pmd.stats(port)["RX-packets"], 1500, f"packets of port {port}")
        check_equal(pmd.stats(port)["TX-packets"], 1500, f"packets of port {port}")
    check_equal(pmd.counters()["device"]["registrations"] - KERNEL_REGISTRATIONS, 1,
                "registrations")
    end(pmd)
    for port in (0, 1):
        check_equal(bytes_of(bed.path(f"out{1 - port}.pcap")), [bytes(f) for f in sent[port]],
                    f"frames that came in at port {port}")


def test_scatter(bed):
    """Jumbo frames over several mbufs, and back out as chains."""
    source = random.Random(3)
    sent = [udp(source.randbytes(source.choice((18, 1900, 4000, 8900))), ident=i)
            for i in range(200)]
    pmd = replay(bed, sent, args=["--forward-mode=io", "--max-pkt-len=9018", "--enable-scatter",
                                  "--tx-offloads=0x8000"], options=["--mtu", "9000"])
    end(pmd)
    check_equal(bytes_of(bed.path("out.pcap")), [bytes(frame) for frame in sent], "frames")


def test_mtu_without_scatter_is_refused(bed):
    """The port does not start, and says which numbers do not fit."""
    pmd = start_testpmd(bed, ["--ports", "1", "--wire", "1=sink"], ["--forward-mode=io"])
    pmd.cmd("port stop all")
    text = pmd.cmd("port config mtu 0 9000")
    check("an mbuf of" in text and "9000" in text, f"a sentence: {text}")
    pmd.cmd("port start all")
    end(pmd)


def broken_checksums(frame):
    frame = frame.copy()
    for layer in (IP, TCP, UDP):
        if layer in frame:
            frame[layer].chksum = 0x1234
    return frame


def test_checksums(bed):
    """What testpmd asks the card to compute is right in the capture, IPv4 and IPv6."""
    good = [udp(b"x" * 50), udp(b"y" * 51, ident=2),
            Ether(dst=MAC[0], src=OTHER) / IP(src="10.0.0.1", dst="10.0.0.2") /
            TCP(sport=1, dport=2, flags="A") / Raw(b"tcp" * 40),
            Ether(dst=MAC[0], src=OTHER) / IPv6(src="2001:db8::1", dst="2001:db8::2") /
            UDP(sport=1, dport=2) / Raw(b"six" * 40)] * 20
    pmd = replay(bed, [broken_checksums(f) for f in good], args=["--forward-mode=csum"],
                 commands=["port stop all", "csum set ip hw 1", "csum set udp hw 1",
                           "csum set tcp hw 1", "csum mac-swap off 0", "csum mac-swap off 1",
                           "port start all"])
    end(pmd)
    got = [Ether(data) for data in bytes_of(bed.path("out.pcap"))]
    check_equal(len(got), len(good), "frames")
    for frame, want in zip(got, good):
        want = Ether(bytes(want))
        for layer in (IP, TCP, UDP):
            if layer in want:
                check_equal(frame[layer].chksum, want[layer].chksum, f"checksum of {want!r}")


def test_rx_checksum_flags(bed):
    """Good and bad checksums as testpmd sees them."""
    frames = [udp(b"x" * 50), broken_checksums(udp(b"x" * 50))]
    pmd = replay(bed, frames, args=["--forward-mode=rxonly", "--enable-rx-cksum"], nb_out=0,
                 commands=["set verbose 1"])
    flags = [line for line in pmd.output.splitlines() if "ol_flags:" in line]
    check_equal(len(flags), 2, f"frames shown: {flags}")
    check("IP_CKSUM_GOOD" in flags[0] and "L4_CKSUM_GOOD" in flags[0], flags[0])
    check("CKSUM_GOOD" not in flags[1], flags[1])
    end(pmd)


def vxlan(inner_ip=None, inner_udp=None, outer_ip=None):
    """A frame in VXLAN; a checksum that is given is wrong."""
    return Ether(dst=MAC[0], src=OTHER) / \
        IP(src="10.0.0.1", dst="10.0.0.2", chksum=outer_ip) / \
        UDP(sport=5000, dport=4789, chksum=0) / VXLAN(vni=7) / Ether(dst=OTHER, src=MAC[1]) / \
        IP(src="10.1.0.1", dst="10.1.0.2", chksum=inner_ip) / \
        UDP(sport=3, dport=4, chksum=inner_udp) / Raw(b"inner" * 10)


def test_rx_inner_checksum_flags(bed):
    """ConnectX-3 Pro looks into VXLAN: a checksum that is wrong there is not called good.

    ConnectX-3 sees the outer headers only, and names no inner type.
    """
    frames = [vxlan(), vxlan(inner_ip=0x1234), vxlan(inner_udp=0x1234), vxlan(outer_ip=0x1234)]
    for device, wanted in (("cx3pro", [(1, 1), (0, 1), (1, 0), (0, 1)]),
                           ("cx3", [(1, 1), (1, 1), (1, 1), (0, 1)])):
        pmd = replay(bed, frames, args=["--forward-mode=rxonly", "--enable-rx-cksum"], nb_out=0,
                     commands=["port stop 0", "set port 0 ptype_mask 0x0fffffff", "port start 0",
                               "set verbose 1"], options=["--device", device])
        flags = [line for line in pmd.output.splitlines() if "ol_flags:" in line]
        check_equal([("IP_CKSUM_GOOD" in line, "L4_CKSUM_GOOD" in line) for line in flags],
                    wanted, f"good checksums on {device}: {flags}")
        types = re.findall("hw ptype: (.*)", pmd.output)
        check_equal(["INNER_L4_UDP" in line for line in types], 4 * [device == "cx3pro"],
                    f"types on {device}: {types}")
        end(pmd)


def test_tx_inner_checksums(bed):
    """ConnectX-3 Pro computes the checksums of both headers; ConnectX-3 does not offer it."""
    pmd = replay(bed, [vxlan(0x1234, 0x1234, 0x1234)] * 20, args=["--forward-mode=csum"],
                 options=["--device", "cx3pro"],
                 commands=["port stop all", "csum set ip hw 1", "csum set udp hw 1",
                           "csum set outer-ip hw 1", "csum parse-tunnel on 1",
                           "csum mac-swap off 1", "port start all"])
    check("OUTER_IPV4_CKSUM" in pmd.cmd("show port 1 tx_offload capabilities"), "offered")
    end(pmd)
    check_equal(set(bytes_of(bed.path("out.pcap"))), {bytes(vxlan())}, "frames with all sums right")
    pmd = start_testpmd(bed, [])
    check("OUTER_IPV4_CKSUM" not in pmd.cmd("show port 1 tx_offload capabilities"), "not offered")
    end(pmd)


def test_tso(bed):
    """A long TCP segment is cut; every piece is right."""
    payload = random.Random(5).randbytes(7000)
    frame = Ether(dst=MAC[0], src=OTHER) / IP(src="10.0.0.1", dst="10.0.0.2", id=7) / \
        TCP(sport=1, dport=2, seq=1000, flags="PA") / Raw(payload)
    pmd = replay(bed, [frame] * 10, nb_out=90, options=["--mtu", "9000"],
                 args=["--forward-mode=csum", "--max-pkt-len=9018", "--enable-scatter",
                       "--tx-offloads=0x8000"],
                 commands=["port stop all", "csum set ip hw 1", "csum set tcp hw 1",
                           "csum mac-swap off 1", "tso set 800 1", "port start all"])
    end(pmd)
    got = [Ether(data) for data in bytes_of(bed.path("out.pcap"))]
    check_equal(len(got), 90, "pieces")
    for start in range(0, 90, 9):
        pieces = got[start:start + 9]
        check_equal(b"".join(bytes(p[TCP].payload) for p in pieces), payload, "payload")
        for i, piece in enumerate(pieces):
            check_equal(piece[TCP].seq, 1000 + 800 * i, "sequence number")
            again = piece.copy()
            del again[IP].chksum, again[TCP].chksum
            check_equal(bytes(Ether(bytes(again))), bytes(piece), "checksums")


def test_vlan_insert_and_strip(bed):
    """A tag is inserted by the card; a tag is taken off at the other end."""
    tagged = Ether(dst=MAC[0], src=OTHER) / Dot1Q(vlan=7, prio=3) / \
        IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=1, dport=2) / Raw(b"tag" * 30)
    plain = udp(b"plain" * 20)
    pmd = replay(bed, [tagged, plain] * 40, args=["--forward-mode=mac", "--enable-hw-vlan-strip"],
                 commands=["port stop all", "tx_vlan set 1 5", "port start all"])
    end(pmd)
    got = [Ether(data) for data in bytes_of(bed.path("out.pcap"))]
    check_equal(len(got), 80, "frames")
    for frame, want in zip(got, [tagged, plain] * 40):
        check(Dot1Q in frame and frame[Dot1Q].vlan == 5, f"one tag of VLAN 5: {frame!r}")
        check_equal(bytes(frame[Dot1Q].payload), bytes(Ether(bytes(want))[IP]), "behind the tag")


def test_multi_segment_frames(bed):
    """Frames of txonly that lie in several mbufs."""
    pmd = start_testpmd(bed, ["--ports", "1", "--wire", f"1=pcap:tx={bed.path('out.pcap')}"],
                        ["--forward-mode=txonly", "--tx-offloads=0x8000"])
    pmd.cmd("set txpkts 64,70,80,90,100,110,64,64,64")
    pmd.cmd("start")
    wait_until(lambda: pmd.port_counters(1)["tx_frames"] > 3000, "3000 frames", 15)
    pmd.cmd("stop")
    end(pmd)
    check_equal({len(frame) for frame in bytes_of(bed.path("out.pcap"))}, {706}, "lengths")


def test_keep_crc(bed):
    """With the CRC kept, packets are as long as without."""
    pmd = replay(bed, random_frames(50), args=["--forward-mode=io", "--disable-crc-strip"])
    stats = pmd.stats(0)
    check_equal(stats["RX-bytes"], sum(len(f) for f in random_frames(50)), "bytes")
    end(pmd)


def test_restart(bed):
    """Stop and start ten times; traffic flows after each."""
    pmd = start_testpmd(bed, ["--ports", "1", "--wire", "1=self"],
                        ["--forward-mode=io", "--rxq=3", "--txq=3"])
    for round_ in range(10):
        before = pmd.stats(0)["RX-packets"]
        pmd.cmd("start tx_first 2")
        wait_until(lambda: pmd.stats(0)["RX-packets"] > before + 100, f"frames, round {round_}")
        pmd.cmd("stop")
        pmd.cmd("port stop 0")
        pmd.cmd("port start 0")
    end(pmd)


def test_queue_stop_and_start(bed):
    """A stopped queue gets nothing, the other goes on; started again it receives."""
    pmd = start_testpmd(bed, ["--ports", "1", "--wire", "1=gen:size=60,flows=64,rate=20000"],
                        ["--forward-mode=rxonly", "--rxq=2", "--txq=2"])
    pmd.cmd("set promisc all on")
    pmd.cmd("start")

    def frames_of_queues():
        return {q["qpn"]: q["rx_frames"] for q in pmd.counters()["qps"]}

    def received():
        frames = frames_of_queues()
        return [frames.get(qpn, 0) for qpn in queues]

    wait_until(lambda: pmd.stats(0)["RX-packets"] > 100, "frames")
    before = frames_of_queues() # of the kernel's queues, too, if it has had frames
    wait_until(lambda: pmd.stats(0)["RX-packets"] > 10000, "more frames")
    queues = sorted(qpn for qpn, nb in frames_of_queues().items() if nb > before.get(qpn, 0))
    check_equal(len(queues), 2, "receiving queues")
    pmd.cmd("stop")
    pmd.cmd("port 0 rxq 1 stop")
    pmd.cmd("start")
    stopped = received()
    wait_until(lambda: received()[0] > stopped[0] + 100, "queue 0 goes on")
    check_equal(received()[1], stopped[1], "frames of the stopped queue")
    pmd.cmd("stop")
    pmd.cmd("port 0 rxq 1 start")
    pmd.cmd("start")
    wait_until(lambda: received()[1] > stopped[1] + 100, "queue 1 receives again")
    pmd.cmd("stop")
    end(pmd)


def test_receive_errors(bed):
    """A frame that ends in error is counted; all others arrive, on small rings."""
    pmd = start_testpmd(bed, ["--ports", "1",
                              "--wire", "1=gen:size=60,flows=1,count=20000,hold=1"],
                        ["--forward-mode=rxonly", "--rxd=64"])
    pmd.ctl("inject", "rx_error:port=1,skip=100,count=150,syndrome=1")
    pmd.cmd("start")
    pmd.ctl("go")
    wait_until(lambda: pmd.stats(0)["RX-packets"] + pmd.stats(0)["RX-errors"] == 20000,
               "every frame, good or bad", 15)
    check_equal(pmd.stats(0)["RX-errors"], 150, "errors")
    end(pmd)


def test_bad_fcs_is_dropped(bed):
    pmd = start_testpmd(bed, ["--ports", "1",
                              "--wire", "1=gen:size=60,flows=1,count=2000,hold=1"],
                        ["--forward-mode=rxonly"])
    pmd.ctl("inject", "bad_fcs:port=1,skip=100,count=50")
    pmd.cmd("start")
    pmd.ctl("go")
    wait_until(lambda: pmd.stats(0)["RX-packets"] == 1950, "the good frames", 10)
    end(pmd)


def test_queue_info(bed):
    """What queues were set up with, and the burst functions that serve them."""
    pmd = start_testpmd(bed, [], ["--rxd=256", "--txd=512"])
    receive, send = pmd.cmd("show rxq info 0 0"), pmd.cmd("show txq info 0 0")
    for sentence in ("Number of RXDs: 256", "RX scattered packets: off", "Mempool: mb_pool_0"):
        check(sentence in receive, f"{sentence} in {receive}")
    check(re.search("Burst mode: (Vector|Scalar)", receive), f"the burst in {receive}")
    check("Number of TXDs: 512" in send and "Burst mode: Scalar" in send, f"512 in {send}")
    end(pmd)
    pmd = start_testpmd(bed, [], ["--max-pkt-len=4000", "--mbuf-size=1024", "--enable-scatter"])
    receive = pmd.cmd("show rxq info 0 0")
    check("RX scattered packets: on" in receive and "Burst mode: Scattered" in receive,
          f"scatter in {receive}")
    end(pmd)


def test_dump(bed):
    """The text of /ethdev/dump_priv names every queue and its state."""
    prefix = f"{bed.prefix}-dump"
    pmd = start_testpmd(bed, [], ["--rxq=2", "--txq=2", "--rxd=128"], file_prefix=prefix)
    telemetry = Telemetry(prefix)
    text = telemetry.ask("/ethdev/dump_priv,0")
    telemetry.close()
    check("port 1 of 0000:03:00.0_port0: started" in text, f"the port in {text}")
    for queue in ("Rx queue 0: running", "Rx queue 1: running", "Tx queue 1: running"):
        check(queue in text, f"{queue} in {text}")
    check("ring 128, segments 1, posted 128, completed 0" in text, f"the ring in {text}")
    end(pmd)


def test_send_error_recovers(bed):
    """The queue that the card puts in error sends again, by itself; the loss is counted."""
    pmd = start_testpmd(bed, ["--ports", "1", "--wire", "1=sink"], ["--forward-mode=txonly"])
    pmd.cmd("start")
    wait_until(lambda: pmd.port_counters(1)["tx_frames"] > 1000, "frames")
    for round_ in range(3):
        before = pmd.stats(0)["TX-errors"]
        pmd.ctl("inject", "tx_error:port=1,syndrome=4")
        wait_until(lambda: pmd.stats(0)["TX-errors"] > before, f"an error, round {round_}")
        sent = pmd.port_counters(1)["tx_frames"]
        wait_until(lambda: pmd.port_counters(1)["tx_frames"] > sent + 1000, "frames afterwards")
    pmd.cmd("stop")
    stats = pmd.stats(0)
    wait_until(lambda: pmd.port_counters(1)["tx_frames"] + stats["TX-errors"] ==
               stats["TX-packets"], "sent and lost frames add up")
    check("in error (syndrome 0x04" in pmd.output, "a sentence about the error")
    end(pmd)


if __name__ == "__main__":
    testbed.main(globals())
