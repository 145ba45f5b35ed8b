#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Without any capability objects load through the linker and the prover, and run as they do with
the kernel's verifier in front.

usage: unprivileged_test.py XDPVM OBJECT...
"""

import os
import subprocess
import sys
import tempfile
import unittest

from scapy.all import IP, TCP, UDP, Dot1Q, Ether, IPv6, Raw, wrpcap

XDPVM, OBJECTS = sys.argv[1], sys.argv[2:]
NO_CAPABILITY = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]


def run(*words, unprivileged):
    return subprocess.run([*(NO_CAPABILITY if unprivileged else []), XDPVM, *words],
                          capture_output=True, text=True, timeout=60, check=False)


def frames():
    head = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
    for size in (0, 10, 100, 1400):
        yield head / IP(src="192.0.2.1", dst="192.0.2.2") / UDP(sport=1, dport=53) / Raw(b"x" * size)
        yield head / IP(src="192.0.2.1", dst="192.0.2.2") / TCP(dport=80) / Raw(b"x" * size)
        yield head / IPv6(src="2001:db8::1", dst="2001:db8::2") / UDP(dport=53) / Raw(b"x" * size)
        yield head / Dot1Q(vlan=5) / IP(src="192.0.2.1", dst="192.0.2.2") / Raw(b"x" * size)
        yield head / Raw(b"x" * size)


class Unprivileged(unittest.TestCase):
    def test_objects(self):
        with tempfile.TemporaryDirectory() as folder:
            capture = os.path.join(folder, "in.pcap")
            wrpcap(capture, list(frames()))
            for path in OBJECTS:
                with self.subTest(os.path.basename(path)):
                    self.check_object(path, capture)

    def check_object(self, path, capture):
        done = run("check", path, unprivileged=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("verify=internal", done.stdout)
        verdicts = []
        for unprivileged in (True, False):
            out = capture + f".{unprivileged}"
            done = run("run", path, "--pcap", capture, "--out", out, unprivileged=unprivileged)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(out, "rb") as file:
                verdicts.append(file.read())
        self.assertEqual(*verdicts, "what comes out differs")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
