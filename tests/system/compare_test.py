#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""net_mlx4x against the stock mlx4 driver, and both against lib/oracle.py.

The same frames go through both drivers, on strict cards that differ in nothing. What they hand
up (queue, order, length, buffers, ptype, flags, hash, check sequence), send (every byte) and count
is compared. A difference is a failure, unless it is one of STOCK_BUGS, and then the stock driver
must show it. Where the stock driver lacks an offload the oracle is alone.
"""

import functools
import os
import random
import re

from scapy.all import (ARP, DLT_EN10MB, GRE, ICMP, IP, TCP, UDP, VXLAN, Dot1Q, Ether, IPOption_Router_Alert,
                       IPv6, IPv6ExtHdrFragment, Raw, RawPcapReader, fragment, wrpcap)

from lib import bed as testbed
from lib import oracle
from lib.bed import PCI_ADDRESS, Card, Failure, build_dir, check, check_equal

MAC = "00:02:c9:00:00:01"
OTHER = "02:00:00:00:00:99"
DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")
PROGRAM = os.path.join(build_dir(), "tests", "system", "frame_dump")

STOCK_BUGS = {
    "a": "the hash flag is lost when checksums are looked at (3.1 a)",
    "b": "the hash is byte-swapped (3.1 b)",
    "k": "the hash flag is set on frames that have no hash",
}


def ethernet(dst=MAC):
    return Ether(dst=dst, src=OTHER)


def bad(frame, layer):
    frame = Ether(bytes(frame))
    frame[layer].chksum ^= 0x5555
    return frame


def ip_frames(source, size):
    """All kinds of IP frames with a payload of one size."""
    v4 = IP(src=f"10.0.{source.randrange(256)}.1", dst="10.0.0.2", id=source.randrange(65536))
    v6 = IPv6(src=f"2001:db8::{source.randrange(65536):x}", dst="2001:db8::2")
    optional = IP(src="10.0.0.1", dst="10.0.0.9", options=[IPOption_Router_Alert()])
    udp = UDP(sport=source.randrange(1024, 65536), dport=2000)
    tcp = TCP(sport=source.randrange(1024, 65536), dport=80, flags=source.choice(("PA", "FPAEC")),
              seq=source.randrange(1 << 31))
    payload = Raw(source.randbytes(size))
    good = [l3 / l4 / payload for l3 in (v4, v6, optional) for l4 in (udp, tcp)]
    good += [v4 / ICMP() / payload, optional / ICMP() / payload]
    frames = [ethernet() / packet for packet in good]
    frames += [ethernet() / Dot1Q(vlan=5, prio=2) / packet for packet in good]
    frames += [bad(frame, layer) for frame in frames for layer in (IP, TCP, UDP)
               if layer in frame]
    frames += [ethernet() / part for part in
               fragment(v4 / udp / Raw(source.randbytes(size + 200)), fragsize=size // 2 + 64)]
    frames.append(ethernet() / v4 / UDP(sport=1, dport=2, chksum=0) / payload)
    frames.append(ethernet() / v6 / IPv6ExtHdrFragment(offset=0, m=1, id=7) / udp / payload)
    return frames


def tunnels(source):
    outer = IP(src="192.0.2.1", dst="192.0.2.2")
    inner = Ether(dst=MAC, src=OTHER) / IP(src="10.1.0.1", dst="10.1.0.2") / \
        UDP(sport=5, dport=6) / Raw(source.randbytes(60))
    return [ethernet() / outer / UDP(sport=source.randrange(1024, 65536), dport=4789) /
            VXLAN(vni=7) / inner, ethernet() / outer / GRE() / inner[IP],
            ethernet() / outer / inner[IP]]


@functools.lru_cache(maxsize=None)
def all_frames(scatter):
    source = random.Random(11)
    frames = []
    for size in (46, 300, 1200):
        frames += ip_frames(source, size)
    frames += tunnels(source)
    frames += [ethernet("ff:ff:ff:ff:ff:ff") / ARP(pdst="10.0.0.2"),
               ethernet() / ARP(pdst="10.0.0.2"),		# shorter than the shortest frame
               Ether(dst=MAC, src=OTHER, type=0x88cc) / Raw(b"l" * 80)]
    # The longest without and with a tag; then the ends of buffers, and the longest jumbos.
    for size in (1472, *((1990, 2002, 2003, 2004, 2006, 2007, 4180, 4182, 8972) if scatter else ())):
        l3 = IP(src="10.0.0.3", dst="10.0.0.2", id=size)
        l4 = UDP(sport=7, dport=size) / Raw(source.randbytes(size))
        frames += [ethernet() / l3 / l4, ethernet() / Dot1Q(vlan=size) / l3 / l4,
                   ethernet() / l3 / TCP(sport=7, dport=size, seq=size) / Raw(l4.load[:-12])]
    foreign = [ethernet("02:00:00:00:00:77") / ARP(), ethernet("01:00:5e:00:00:05") / ARP()]
    source.shuffle(frames)
    return [bytes(frame) for frame in frames], [bytes(frame) for frame in foreign]


class Handed:
    """A frame as a driver hands it up."""

    def __init__(self, words):
        self.queue, self.length, self.segments = (int(word) for word in words[:3])
        self.type, self.flags, self.tag, self.kept_crc, self.hash, self.crc = \
            (int(word, 16) for word in words[3:])


class Result:
    """What one driver did."""

    def __init__(self, output, sent):
        self.frames = [Handed(line.split()) for line in re.findall(r"^frame (.*)$", output, re.M)]
        self.stats = [line.split() for line in re.findall(r"^stats (.*)$", output, re.M)]
        self.sent = sent

    def queue(self, number):
        return [frame for frame in self.frames if frame.queue == number]


class Case:
    """One configuration of port and card; words are those of frame_dump."""

    def __init__(self, nb_queues, words, *card):
        self.nb_queues, self.words, self.card = nb_queues, words.split(), card
        self.frames, self.foreign = all_frames("scatter" in self.words)

    def __str__(self):
        return f"{self.nb_queues} queues, {' '.join(self.words)}, {' '.join(self.card)}"


class Run(Card):
    """One driver at work; foreign frames are mixed in and must not arrive."""

    def __init__(self, bed, driver, case):
        number = bed.next_number()
        source, self.sink = bed.path(f"in{number}.pcap"), bed.path(f"out{number}.pcap")
        wrpcap(source, case.foreign[:1] + case.frames + case.foreign[1:], linktype=DLT_EN10MB)
        plugin = [] if driver == "stock" else ["-d", driver]
        super().__init__(bed, [*case.card, "--strict", "--ports", "1", "--wire",
                               f"1=pcap:rx={source},tx={self.sink},loop=1,hold=1"],
                         [PROGRAM, *plugin, "-l", "0", "-m", "192", "--in-memory",
                          "--no-telemetry", "-a", PCI_ADDRESS, "--", str(len(case.frames)),
                          str(case.nb_queues), *case.words])

    def result(self):
        self.wait_for("^ready", timeout=30)
        self.ctl("go")
        status = self.finish(40)
        check(status == 0, f"{self.words} ended with {status}: {self.output[-500:]}")
        return Result(self.output, [data for data, _ in RawPcapReader(self.sink)])


def check_received(result, wanted, case):
    """Each queue has its frames in the order of the wire, and all that is said of them is right."""
    for queue in range(case.nb_queues):
        here = [seen for seen in wanted if seen.queue == queue]
        check_equal(len(result.queue(queue)), len(here), f"{case}: frames of queue {queue}")
        for got, seen in zip(result.queue(queue), here):
            for name, value in vars(got).items():
                if value != getattr(seen, name):
                    check_equal(hex(value), hex(getattr(seen, name)),
                                f"{case}: {name} of {Ether(seen.data)!r}")


def check_sent(result, wanted, case):
    """What is on the wire, for each queue in the order in which it was received."""
    queues = [[frame for seen in wanted if seen.queue == queue
               for frame in oracle.sent(seen, case.words)] for queue in range(case.nb_queues)]
    for frame in result.sent:
        queue = next((queue for queue in queues if queue[:1] == [frame]), None)
        if queue is None:
            raise Failure(f"{case}: not in its place: {Ether(frame)!r}; next would be "
                          f"{[Ether(queue[0]) for queue in queues if queue]!r}")
        queue.pop(0)
    check(not any(queues), f"{case}: not sent: {queues}")


def check_counters(result, wanted, case):
    """Of the port and of each queue: frames and bytes, both ways, and no errors."""
    def numbers(frames, nb_errors):
        counts = [len(frames), sum(seen.length for seen in frames)]
        return [str(number) for number in counts * 2 + [0] * nb_errors]

    check_equal(result.stats, [["all", *numbers(wanted, 3)]] + [
        [str(queue), *numbers([seen for seen in wanted if seen.queue == queue], 1)]
        for queue in range(case.nb_queues)], f"{case}: counters")


def check_model(result, case):
    """Each frame once, and all that is said of it as the model says."""
    wanted = [oracle.Seen(data, case.nb_queues, case.words, "cx3pro" in case.card)
              for data in case.frames]
    check_received(result, wanted, case)
    check_sent(result, wanted, case)
    check_counters(result, wanted, case)


def same_or_swapped(mine, theirs, what):
    check_equal(mine, int.from_bytes(theirs.to_bytes(4, "little"), "big"), what)


def differences(mine, theirs, case):
    """Bugs of the stock driver that one frame shows."""
    seen = set()
    for name in ("crc", "length", "segments", "type", "tag", "kept_crc"):
        check_equal(getattr(mine, name), getattr(theirs, name), f"{case}: {name}")
    if mine.hash != theirs.hash:
        same_or_swapped(mine.hash, theirs.hash, f"{case}: hash")
        seen.add("b")
    if mine.flags != theirs.flags:
        check_equal(mine.flags ^ theirs.flags, oracle.RX_RSS_HASH, f"{case}: flags")
        seen.add("a" if mine.flags & oracle.RX_RSS_HASH else "k")
    return seen


def compare(ours, stock, case):
    """No difference but the listed bugs, each of which the stock driver shows."""
    seen = set()
    for queue in range(case.nb_queues):
        check_equal(len(ours.queue(queue)), len(stock.queue(queue)),
                    f"{case}: frames of queue {queue}")
        for mine, theirs in zip(ours.queue(queue), stock.queue(queue)):
            seen |= differences(mine, theirs, case)
    check(sorted(ours.sent) == sorted(stock.sent), f"{case}: the drivers sent different frames")
    check_equal(ours.stats, stock.stats, f"{case}: counters")
    check_equal(seen, {"a", "b"} if "checksum" in case.words else {"b", "k"},
                f"{case}: bugs of the stock driver")


def one_case(bed, nb_queues, words, *card):
    case = Case(nb_queues, words, *card)
    ours = Run(bed, DRIVER, case)
    # The stock driver knows no VLAN offloads.
    stock = None if {"strip", "insert"} & set(case.words) else Run(bed, "stock", case)
    result = ours.result()
    check_model(result, case)
    if stock:
        compare(result, stock.result(), case)


def test_one_queue(bed):
    for size in ("32", "64"):
        for words in ("", "checksum", "scatter", "scatter checksum"):
            one_case(bed, 1, words, "--cqe-size", size)


def test_many_queues(bed):
    for nb_queues in range(2, 9):
        for i, size in enumerate(("32", "64")):
            words = ("scatter checksum", "checksum", "scatter", "")[(nb_queues + i) % 4]
            one_case(bed, nb_queues, words, "--cqe-size", size)


def test_check_sequence(bed):
    for nb_queues, words, size in ((1, "crc", "64"), (2, "crc checksum", "32"),
                                   (1, "crc scatter", "32"), (4, "crc scatter checksum", "64")):
        one_case(bed, nb_queues, words, "--cqe-size", size)


def test_segmentation(bed):
    for nb_queues, words, size in ((1, "tso", "64"), (2, "tso scatter checksum", "32")):
        one_case(bed, nb_queues, words, "--cqe-size", size)


def test_vlan(bed):
    for nb_queues, words, size in (
            (1, "strip", "64"), (2, "strip checksum scatter", "32"), (1, "insert", "32"),
            (4, "insert strip checksum", "64"), (3, "insert scatter", "64"),
            (2, "insert strip tso scatter crc", "32"), (1, "strip crc tso", "64")):
        one_case(bed, nb_queues, words, "--cqe-size", size, "--vlan-insert", "on")


def test_connectx3_pro(bed):
    for nb_queues, words in ((1, "checksum"), (4, "scatter"), (2, "crc tso scatter checksum")):
        one_case(bed, nb_queues, words, "--device", "cx3pro")
    one_case(bed, 8, "insert strip tso checksum", "--device", "cx3pro", "--vlan-insert", "on")


if __name__ == "__main__":
    testbed.main(globals())
