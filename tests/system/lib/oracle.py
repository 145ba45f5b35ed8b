# SPDX-License-Identifier: BSD-3-Clause
"""What the card must make of frames, worked out from the frames with scapy alone.

It knows the documents (RSS hash of Microsoft, checksums and TCP of the RFCs, packet types of
rte_mbuf_ptype.h, the device's parser in connectx3-device.md) and neither driver nor vcx3.
"""

import functools
import struct
import zlib

from scapy.all import GRE, IP, TCP, UDP, VXLAN, Dot1Q, Ether, IPv6, IPv6ExtHdrFragment, Raw

KEY = bytes.fromhex("2cc681d15bdbf4f7fca28319db1a3e946b9e38d92c9c03d1ad9944a7d9563d59063c25f3fc1fdc2a")

# rte_mbuf_ptype.h, rte_mbuf_core.h
L2_ETHER, L3_IPV4_EXT, L3_IPV4_UNKNOWN, L3_IPV6_UNKNOWN = 0x1, 0x30, 0x90, 0xe0
L4_TCP, L4_UDP, L4_FRAG, L4_NONFRAG = 0x100, 0x200, 0x300, 0x600
INNER_L3_IPV4_UNKNOWN, INNER_L4_UDP = 0x400000, 0x2000000
RX_VLAN, RX_RSS_HASH, RX_VLAN_STRIPPED = 1 << 0, 1 << 1, 1 << 6
RX_IP_GOOD, RX_L4_GOOD = 1 << 7, 1 << 8

BUFFER, HEADROOM, TSO_SIZE = 2176, 128, 500


def toeplitz(data):
    """The hash of Microsoft's RSS: the key slides over the data bit by bit."""
    key, result = int.from_bytes(KEY, "big"), 0
    for bit in range(8 * len(data)):
        if data[bit // 8] & 0x80 >> bit % 8:
            result ^= key >> 320 - 32 - bit & 0xffffffff
    return result


def is_ip(packet):
    return IP in packet or IPv6 in packet


def is_fragment(packet):
    if IPv6 in packet:
        return IPv6ExtHdrFragment in packet
    return IP in packet and bool(packet[IP].flags.MF or packet[IP].frag)


def outermost(data):
    """The frame as a card sees it that knows no tunnels: nothing behind the first L4 header."""
    packet = Ether(data)
    for layer in (VXLAN, GRE):
        if layer in packet:
            packet[layer].underlayer.remove_payload()
            return packet / Raw(data[len(packet):])
    if IP in packet and isinstance(packet[IP].payload, IP):
        packet[IP].payload = Raw(bytes(packet[IP].payload))
    return packet


def is_right(packet, layer):
    """True if a checksum is what it must be."""
    if layer is UDP and packet[UDP].chksum == 0:
        return True
    again = packet.copy()
    del again[layer].chksum
    return Ether(bytes(again))[layer].chksum == packet[layer].chksum


def packet_type(packet):
    if not is_ip(packet):
        return L2_ETHER
    l3 = L3_IPV6_UNKNOWN if IPv6 in packet else \
        L3_IPV4_EXT if packet[IP].ihl > 5 else L3_IPV4_UNKNOWN
    if is_fragment(packet):
        return L2_ETHER | l3 | L4_FRAG
    return L2_ETHER | l3 | (L4_TCP if TCP in packet else L4_UDP if UDP in packet else L4_NONFRAG)


def rss_hash(packet):
    """0 for what has no hash."""
    if not is_ip(packet):
        return 0
    raw = bytes(packet[IPv6] if IPv6 in packet else packet[IP])
    data = raw[8:40] if IPv6 in packet else raw[12:20]
    if not is_fragment(packet) and (TCP in packet or UDP in packet):
        l4 = packet[TCP] if TCP in packet else packet[UDP]
        data += struct.pack(">HH", l4.sport, l4.dport)
    return toeplitz(data)


def checksum_flags(packet):
    flags = 0
    if IPv6 in packet or (IP in packet and is_right(packet, IP)):
        flags |= RX_IP_GOOD
    for layer in (TCP, UDP):
        if layer in packet and not is_fragment(packet) and is_right(packet, layer):
            flags |= RX_L4_GOOD
    return flags


def nb_segments(length):
    """Buffers that a frame takes: the first one has headroom."""
    rest = length - (BUFFER - HEADROOM)
    return 1 if rest <= 0 else 1 + (rest + BUFFER - 1) // BUFFER


@functools.lru_cache(maxsize=None)
def parsed(data, is_pro):
    """Hash, type and flags of a frame, and whether it has a tag; the same frames come often."""
    packet = outermost(data)
    type_ = packet_type(packet)
    if is_pro and VXLAN in Ether(data):		# here always UDP over IPv4, all sums right
        type_ = L2_ETHER | L3_IPV4_UNKNOWN | INNER_L3_IPV4_UNKNOWN | INNER_L4_UDP
    flags = RX_RSS_HASH if is_ip(packet) else 0
    return rss_hash(packet), type_, flags | checksum_flags(packet), Dot1Q in packet


class Seen:
    """A frame as a driver must hand it up. words: see frame_dump.c; a Pro knows tunnels."""

    def __init__(self, data, nb_queues, words, is_pro=False):
        self.hash, self.type, self.flags, tagged = parsed(data, is_pro)
        tagged = tagged and "strip" in words
        self.queue = self.hash & (1 << nb_queues.bit_length() - 1) - 1
        if "checksum" not in words:
            self.flags &= RX_RSS_HASH
        if tagged:
            self.flags |= RX_VLAN | RX_VLAN_STRIPPED
        self.tag = int.from_bytes(data[14:16], "big") if tagged else 0
        self.data = data[:12] + data[16:] if tagged else data
        self.length = len(self.data)
        self.segments = nb_segments(len(data))
        self.crc = zlib.crc32(self.data)
        # The check sequence of the frame on the wire, least significant byte first; it has to
        # lie in the last buffer of the frame.
        used = len(data) + HEADROOM - (self.segments - 1) * BUFFER
        self.kept_crc = zlib.crc32(data) if "crc" in words and used <= BUFFER - 4 else 0


@functools.lru_cache(maxsize=None)
def with_right_checksums(data):
    """What the request for checksums makes of a frame: they are right. Parsed, and as bytes."""
    packet = outermost(data)
    if not is_ip(packet) or VXLAN in Ether(data) or GRE in Ether(data) or \
            (IP in packet and packet[IP].proto == 4):
        return packet, data
    packet = packet.copy()
    if IP in packet:
        del packet[IP].chksum
    for layer in (TCP, UDP):
        if layer in packet and not is_fragment(packet):
            del packet[layer].chksum
    return packet, bytes(packet)


@functools.lru_cache(maxsize=None)
def segmented(data):
    """A TCP frame in pieces of TSO_SIZE, as a host would have sent them."""
    packet = Ether(data)
    payload = bytes(packet[TCP].payload)
    if len(payload) <= TSO_SIZE:
        return [data]
    pieces = []
    for at in range(0, len(payload), TSO_SIZE):
        piece = Ether(data)
        piece[TCP].remove_payload()
        piece = piece / Raw(payload[at:at + TSO_SIZE])
        piece[TCP].seq += at
        piece[TCP].flags = str(piece[TCP].flags).translate(
            {ord(flag): None for flag in ("" if at == 0 else "C") +
             ("" if at + TSO_SIZE >= len(payload) else "FP")})
        del piece[TCP].chksum
        if IP in piece:
            piece[IP].id = piece[IP].id + at // TSO_SIZE & 0xffff
            del piece[IP].len, piece[IP].chksum
        else:
            del piece[IPv6].plen
        pieces.append(bytes(piece))
    return pieces


def sent(seen, words):
    """The frames on the wire when frame_dump sends back what it was handed."""
    packet, data = with_right_checksums(seen.data)
    is_segmented = "tso" in words and TCP in packet and not is_fragment(packet)
    frames = segmented(data) if is_segmented else [data]
    if "insert" in words:
        tag = struct.pack(">HH", 0x8100, 0x6000 | seen.length & 0xfff)
        frames = [frame[:12] + tag + frame[12:] for frame in frames]
    return [frame + bytes(max(0, 60 - len(frame))) for frame in frames]
