# SPDX-License-Identifier: BSD-3-Clause
"""Frames for tests: made with scapy, written to captures, read back as bytes."""

import random

from scapy.all import IP, TCP, UDP, Dot1Q, Ether, IPv6, Raw, rdpcap, wrpcap

# Of the ports of the virtual card, and of somebody else.
MAC = ("00:02:c9:00:00:01", "00:02:c9:00:00:02")
OTHER = "02:00:00:00:00:99"


def ether(dst=MAC[0], vlan=None):
    tag = Dot1Q(vlan=vlan) if vlan is not None else None
    frame = Ether(dst=dst, src=OTHER)
    return frame / tag if tag else frame


def udp(payload, dst=MAC[0], ident=1, vlan=None):
    return ether(dst, vlan) / IP(src="10.0.0.1", dst="10.0.0.2", id=ident) / \
        UDP(sport=1000 + ident % 50, dport=2000) / Raw(payload)


def tcp(payload, dst=MAC[0], vlan=None, **fields):
    return ether(dst, vlan) / IP(src="10.0.0.1", dst="10.0.0.2") / \
        TCP(**{"sport": 1, "dport": 2, "flags": "A", **fields}) / Raw(payload)


def ipv6(l4, payload, dst=MAC[0], vlan=None):
    return ether(dst, vlan) / IPv6(src="2001:db8::1", dst="2001:db8::2") / l4 / Raw(payload)


def random_frames(nb, dst=MAC[0], seed=1):
    """UDP frames of random sizes, each different, with all checksums right."""
    source = random.Random(seed)
    return [udp(source.randbytes(source.randint(18, 1400)), dst, i & 0xffff) for i in range(nb)]


def with_broken_checksums(frame):
    frame = frame.copy()
    for layer in (IP, TCP, UDP):
        if layer in frame:
            frame[layer].chksum = 0x1234
    return frame


def with_right_checksums(frame):
    """The same frame with the checksums that scapy computes."""
    again = Ether(bytes(frame))
    for layer in (IP, TCP, UDP):
        if layer in again:
            del again[layer].chksum
    return Ether(bytes(again))


def write_capture(path, frames):
    wrpcap(path, frames)
    return path


def read_capture(path):
    """The frames of a capture as bytes, so that nothing is interpreted."""
    return [bytes(frame) for frame in rdpcap(path)]
