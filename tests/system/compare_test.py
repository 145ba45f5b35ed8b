#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""net_mlx4x against the stock mlx4 driver, and both against a model made here from scapy.

The same frames go through both drivers, on cards that differ in nothing. What they hand up
(queue, order, length, type, checksum flags, hash), send (every byte) and count is compared. A
difference is a failure, unless it is one of STOCK_BUGS, and then the stock driver must show it.
"""

import os
import random
import re
import struct
import zlib

from scapy.all import (ARP, GRE, ICMP, IP, TCP, UDP, VXLAN, Dot1Q, Ether, IPOption_Router_Alert,
                       IPv6, IPv6ExtHdrFragment, Raw, fragment, rdpcap, wrpcap)

from lib import bed as testbed
from lib.bed import PCI_ADDRESS, Card, build_dir, check, check_equal

MAC = "00:02:c9:00:00:01"
OTHER = "02:00:00:00:00:99"
DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")
PROGRAM = os.path.join(build_dir(), "tests", "system", "frame_dump")

KEY = bytes.fromhex("2cc681d15bdbf4f7fca28319db1a3e946b9e38d92c9c03d1ad9944a7d9563d59063c25f3fc1fdc2a")

# rte_mbuf_ptype.h, rte_mbuf_core.h
L2_ETHER, L3_IPV4_EXT, L3_IPV4_UNKNOWN, L3_IPV6_UNKNOWN = 0x1, 0x30, 0x90, 0xe0
L4_TCP, L4_UDP, L4_FRAG, L4_NONFRAG = 0x100, 0x200, 0x300, 0x600
RX_RSS_HASH, RX_IP_GOOD, RX_L4_GOOD = 1 << 1, 1 << 7, 1 << 8

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
    tcp = TCP(sport=source.randrange(1024, 65536), dport=80, flags="PA")
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


def all_frames(scatter):
    source = random.Random(11)
    frames = []
    for size in (46, 300, 1200):
        frames += ip_frames(source, size)
    frames += tunnels(source)
    frames += [ethernet("ff:ff:ff:ff:ff:ff") / ARP(pdst="10.0.0.2"),
               ethernet() / ARP(pdst="10.0.0.2"),		# shorter than the shortest frame
               Ether(dst=MAC, src=OTHER, type=0x88cc) / Raw(b"l" * 80)]
    if scatter:
        frames += [ethernet() / IP(src="10.0.0.3", dst="10.0.0.2") / UDP(sport=7, dport=9) /
                   Raw(source.randbytes(size)) for size in (1990, 2100, 4000, 8900)]
    foreign = [ethernet("02:00:00:00:00:77") / ARP(), ethernet("01:00:5e:00:00:05") / ARP()]
    source.shuffle(frames)
    return [bytes(frame) for frame in frames], [bytes(frame) for frame in foreign]


class Handed:
    """A frame as a driver hands it up."""

    def __init__(self, words):
        self.queue, self.length, self.segments = (int(word) for word in words[:3])
        self.type, self.flags, self.hash, self.crc = (int(word, 16) for word in words[3:])


class Result:
    """What one driver did."""

    def __init__(self, output, sent):
        self.frames = [Handed(line.split()) for line in re.findall(r"^frame (.*)$", output, re.M)]
        self.stats = re.search(r"^stats (.*)$", output, re.M).group(1)
        self.sent = sent

    def queue(self, number):
        return [frame for frame in self.frames if frame.queue == number]


def run(bed, driver, frames, foreign, nb_queues, scatter, checksum, options):
    """Runs one driver; foreign frames are mixed in and must not arrive."""
    number = bed.next_number()
    source, sink = bed.path(f"in{number}.pcap"), bed.path(f"out{number}.pcap")
    wrpcap(source, [Ether(data) for data in foreign[:1] + frames + foreign[1:]])
    plugin = [] if driver == "stock" else ["-d", driver]
    card = Card(bed, [*options, "--strict", "--ports", "1", "--wire",
                      f"1=pcap:rx={source},tx={sink},loop=1,hold=1"],
                [PROGRAM, *plugin, "-l", "0", "-m", "192", "--in-memory", "--no-telemetry", "-a",
                 PCI_ADDRESS, "--", str(len(frames)), str(nb_queues), str(int(scatter)),
                 str(int(checksum))])
    card.wait_for("^ready", timeout=30)
    card.ctl("go")
    status = card.finish(40)
    # 3: the stock driver breaks rules of the strict card.
    check(status in (0, 3) if driver == "stock" else status == 0,
          f"{driver} ended with {status}: {card.output[-500:]}")
    return Result(card.output, sorted(bytes(frame) for frame in rdpcap(sink)))


def toeplitz(data):
    """The hash of Microsoft's RSS: the key slides over the data bit by bit."""
    key, result = int.from_bytes(KEY, "big"), 0
    for bit in range(8 * len(data)):
        if data[bit // 8] & 0x80 >> bit % 8:
            result ^= key >> 320 - 32 - bit & 0xffffffff
    return result


def is_fragment(packet):
    if IPv6 in packet:
        return IPv6ExtHdrFragment in packet
    return bool(packet[IP].flags.MF or packet[IP].frag)


def model_type(packet):
    if IP not in packet and IPv6 not in packet:
        return L2_ETHER
    l3 = L3_IPV6_UNKNOWN if IPv6 in packet else \
        L3_IPV4_EXT if packet[IP].ihl > 5 else L3_IPV4_UNKNOWN
    if is_fragment(packet):
        return L2_ETHER | l3 | L4_FRAG
    return L2_ETHER | l3 | (L4_TCP if TCP in packet else L4_UDP if UDP in packet else L4_NONFRAG)


def model_hash(packet):
    """0 for what has no hash."""
    if IP not in packet and IPv6 not in packet:
        return 0
    layer = packet[IPv6] if IPv6 in packet else packet[IP]
    raw = bytes(layer)
    data = raw[8:40] if IPv6 in packet else raw[12:20]
    if not is_fragment(packet) and (TCP in packet or UDP in packet):
        l4 = packet[TCP] if TCP in packet else packet[UDP]
        data += struct.pack(">HH", l4.sport, l4.dport)
    return toeplitz(data)


def is_right(packet, layer):
    """True if a checksum is what it must be."""
    if layer is UDP and packet[UDP].chksum == 0:
        return True
    again = packet.copy()
    del again[layer].chksum
    return Ether(bytes(again))[layer].chksum == packet[layer].chksum


def model_flags(packet, checksum):
    flags = RX_RSS_HASH if IP in packet or IPv6 in packet else 0
    if not checksum:
        return flags
    if IPv6 in packet or (IP in packet and is_right(packet, IP)):
        flags |= RX_IP_GOOD
    for layer in (TCP, UDP):
        if layer in packet and not is_fragment(packet) and is_right(packet, layer):
            flags |= RX_L4_GOOD
    return flags


def outermost(data):
    """The frame as a card sees it that knows no tunnels: nothing behind the first L4 header."""
    packet = Ether(data)
    for layer in (VXLAN, GRE):
        if layer in packet:
            packet[layer].underlayer.remove_payload()
            packet = packet / Raw(data[len(packet):])
            break
    else:
        if IP in packet and isinstance(packet[IP].payload, IP):
            packet[IP].payload = Raw(bytes(packet[IP].payload))
    return packet


def check_model(result, frames, nb_queues, checksum, what):
    """Each frame once, and all that is said of it as the model says."""
    wanted = {}
    for data in frames:
        wanted.setdefault(zlib.crc32(data), []).append(data)
    for got in result.frames:
        check(wanted.get(got.crc), f"{what}: a frame that nobody sent, or twice: {vars(got)}")
        data = wanted[got.crc].pop()
        packet = outermost(data)
        hash_ = model_hash(packet)
        check_equal(got.length, len(data), f"{what}: length of {packet!r}")
        check_equal(hex(got.type), hex(model_type(packet)), f"{what}: type of {packet!r}")
        check_equal(hex(got.flags), hex(model_flags(packet, checksum)),
                    f"{what}: flags of {packet!r}")
        check_equal(hex(got.hash), hex(hash_), f"{what}: hash of {packet!r}")
        check_equal(got.queue, hash_ & (nb_queues - 1), f"{what}: queue of {packet!r}")
    check(not any(wanted.values()), f"{what}: frames are missing")


def as_sent(data):
    """What the request for checksums makes of a received frame: they are right."""
    packet = outermost(data)
    if IP not in packet and IPv6 not in packet:
        return data
    if Ether(data).haslayer(VXLAN) or GRE in Ether(data) or \
            (IP in packet and packet[IP].proto == 4):
        return data
    packet = packet.copy()
    if IP in packet:
        del packet[IP].chksum
    for layer in (TCP, UDP):
        if layer in packet and not is_fragment(packet):
            del packet[layer].chksum
    return bytes(packet)


def padded(data):
    return data + bytes(max(0, 60 - len(data)))


def check_same_frames(got, wanted, what):
    check_equal(len(got), len(wanted), f"number of {what}")
    for one, other in zip(got, wanted):
        check(one == other, f"{what}: {Ether(one)!r} and {Ether(other)!r}")


def compare(ours, stock, nb_queues, checksum, what):
    """No difference but the listed bugs, each of which the stock driver shows."""
    seen = set()
    for queue in range(nb_queues):
        pairs = list(zip(ours.queue(queue), stock.queue(queue)))
        check_equal(len(ours.queue(queue)), len(stock.queue(queue)),
                    f"{what}: frames of queue {queue}")
        for mine, theirs in pairs:
            for name in ("crc", "length", "segments", "type"):
                check_equal(getattr(mine, name), getattr(theirs, name), f"{what}: {name}")
            if mine.hash != theirs.hash:
                check_equal(mine.hash, int.from_bytes(theirs.hash.to_bytes(4, "little"), "big"),
                            f"{what}: hash")
                seen.add("b")
            if mine.flags != theirs.flags:
                check_equal(mine.flags ^ theirs.flags, RX_RSS_HASH, f"{what}: flags")
                seen.add("a" if mine.flags & RX_RSS_HASH else "k")
    check_same_frames(ours.sent, stock.sent, f"{what}: frames sent by both drivers")
    check_equal(ours.stats, stock.stats, f"{what}: counters")
    check_equal(seen, {"a", "b"} if checksum else {"b", "k"}, f"{what}: bugs of the stock driver")


def one_case(bed, nb_queues, scatter, checksum, *options):
    what = f"{nb_queues} queues, scatter {scatter}, checksum {checksum}, {' '.join(options)}"
    frames, foreign = all_frames(scatter)
    ours, stock = (run(bed, driver, frames, foreign, nb_queues, scatter, checksum, options)
                   for driver in (DRIVER, "stock"))
    compare(ours, stock, nb_queues, checksum, what)
    if "cx3pro" not in options:
        check_model(ours, frames, nb_queues, checksum, what)
        check_same_frames(ours.sent, sorted(padded(as_sent(data)) for data in frames),
                          f"{what}: frames sent, and the model's")


def test_one_queue(bed):
    for scatter in (False, True):
        for size in ("32", "64"):
            one_case(bed, 1, scatter, scatter ^ (size == "64"), "--cqe-size", size)


def test_many_queues(bed):
    for nb_queues, scatter, checksum, size in ((2, False, True, "32"), (4, True, False, "64"),
                                               (8, False, False, "32"), (8, True, True, "64")):
        one_case(bed, nb_queues, scatter, checksum, "--cqe-size", size)


def test_connectx3_pro(bed):
    for nb_queues, scatter, checksum in ((1, False, True), (4, True, False)):
        one_case(bed, nb_queues, scatter, checksum, "--device", "cx3pro")


if __name__ == "__main__":
    testbed.main(globals())
