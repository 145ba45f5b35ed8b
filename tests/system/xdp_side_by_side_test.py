#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The same object in the kernel (native XDP of a veth) and in the driver, the same frames to both:
what passes, what comes back and what is dropped must be the same, byte by byte.
"""

import os
import random
import select
import socket
import sys
import time

from scapy.all import rdpcap, wrpcap

from lib import bed as testbed
from lib.bed import Testpmd, build_dir, check, check_equal, wait_until

DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")
OBJECT = os.path.join(build_dir(), "tests", "system", "progs", "verdicts.bpf.o")
PASS_OBJECT = os.path.join(build_dir(), "examples", "progs", "pass.bpf.o")
NB_FRAMES = 800
ETHERTYPE = b"\x88\xb5"     # IEEE 802: local experiments
DROP, PASS, TX = 1, 2, 3
QUIET_S = 1.0
SO_RCVBUFFORCE = 33         # asm-generic/socket.h; Python has no name for it


def frames():
    source = random.Random(7)
    for number in range(NB_FRAMES):
        yield b"\x02\0\0\0\0\2\x02\0\0\0\0\1" + ETHERTYPE + bytes([number & 3]) + \
            number.to_bytes(2, "big") + source.randbytes(source.randint(50, 1400))


def expected(verdict):
    """What must come of the frames with a verdict."""
    for frame in frames():
        if frame[14] == verdict:
            yield frame[6:12] + frame[:6] + frame[12:] if verdict == TX else frame


# --- inside the network namespace ---

def open_socket(interface):
    packet = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
    packet.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
    packet.bind((interface, 0))
    return packet


def received(packet, quiet_s=QUIET_S):
    """Frames that come in until it is quiet, without what this host sent."""
    while select.select([packet], [], [], quiet_s)[0]:
        frame, address = packet.recvfrom(65536)
        if address[2] != socket.PACKET_OUTGOING and frame[12:14] == ETHERTYPE:
            yield frame


def peer(sends_on, listens_on, out_back, out_passed):
    """Sends all frames and records what comes back, and what passes on the other end."""
    back = open_socket(sends_on)
    passed = open_socket(listens_on) if listens_on != "-" else None
    for number, frame in enumerate(frames()):
        back.send(frame)
        if number % 50 == 49:
            time.sleep(0.02)    # the rings of both hold more than this
    wrpcap(out_back, list(received(back)))
    if passed:
        wrpcap(out_passed, list(received(passed)))


# --- outside ---

def recorded(path):
    return [bytes(frame) for frame in rdpcap(path)]


def same(got, wanted, what):
    """Like check_equal, with a sentence that a person can read."""
    for number, (one, other) in enumerate(zip(got, wanted)):
        check(one == other, f"{what}: frame {number} is {one[:24].hex()}.. ({len(one)} bytes), "
              f"want {other[:24].hex()}.. ({len(other)} bytes)")
    check_equal(len(got), len(wanted), f"{what}: number of frames")


def run_peer(bed, netns, *words):
    done = bed.run("ip", "netns", "exec", netns, sys.executable, os.path.abspath(__file__), "--peer",
                   *words, timeout=60)
    check_equal(done.returncode, 0, f"status of the peer: {done.stderr}")


def veth(bed, netns, one, other):
    for words in (["link", "add", one, "type", "veth", "peer", "name", other],
                  ["link", "set", one, "up"], ["link", "set", other, "up"]):
        done = bed.run("ip", "-n", netns, *words)
        check_equal(done.returncode, 0, f"ip {' '.join(words)}: {done.stderr}")


def in_kernel(bed, netns):
    """(passed, back) of the kernel's veth."""
    veth(bed, netns, "k0", "k1")
    # A veth takes frames of XDP_TX only when it has a program itself.
    for interface, program in (("k0", PASS_OBJECT), ("k1", OBJECT)):
        done = bed.run("ip", "-n", netns, "link", "set", interface, "xdpdrv", "obj", program,
                       "sec", "xdp")
        check_equal(done.returncode, 0, f"{program} to {interface}: {done.stderr}")
    run_peer(bed, netns, "k0", "k1", bed.path("kernel-back"), bed.path("kernel-passed"))
    return recorded(bed.path("kernel-passed")), recorded(bed.path("kernel-back"))


def in_driver(bed, netns):
    """(passed, back) of the driver: what it passes, testpmd forwards to port 1."""
    veth(bed, netns, "v0", "v1")
    pmd = Testpmd(bed, ["--strict", "--wire", "1=packet:v1",
                        "--wire", f"2=pcap:tx={bed.path('driver-passed')}"],
                  ["--forward-mode=io"], driver=DRIVER, netns=netns,
                  device_args=f"xdp_prog={OBJECT}")
    pmd.cmd("start")
    run_peer(bed, netns, "v0", "-", bed.path("driver-back"), "-")
    wait_until(lambda: pmd.port_counters(2)["tx_frames"] >= len(list(expected(PASS))),
               "all that passes to be sent", 20)
    pmd.cmd("stop")
    pmd.quit()
    check_equal(pmd.final_counters()["violations"]["total"], 0, "violations")
    return recorded(bed.path("driver-passed")), recorded(bed.path("driver-back"))


def test_same_as_kernel(bed):
    bed.require_hugepages()
    netns = bed.netns("side")
    bed.run("ip", "netns", "exec", netns, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
            "net.ipv6.conf.default.disable_ipv6=1")
    kernel = in_kernel(bed, netns)
    driver = in_driver(bed, netns)
    same(kernel[0], list(expected(PASS)), "what the kernel passes")
    same(kernel[1], list(expected(TX)), "what the kernel sends back")
    same(driver[0], kernel[0], "what the driver passes")
    same(driver[1], kernel[1], "what the driver sends back")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        peer(*sys.argv[2:])
    else:
        testbed.main(globals())
