#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Without any capability, as root and as a user who owns nothing, objects load through the linker
and the prover, and run as they do with the kernel's verifier in front.

usage: unprivileged_test.py XDPVM OBJECT...
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from scapy.all import IP, TCP, UDP, Dot1Q, Ether, IPv6, Raw, wrpcap

XDPVM, OBJECTS = sys.argv[1], sys.argv[2:]
NO_CAPABILITY = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
NOBODY = ["--reuid=65534", "--regid=65534", "--clear-groups"]
USERS = {
    "privileged": [],
    "root": NO_CAPABILITY,
    "nobody": [*NO_CAPABILITY, *NOBODY],
}


def frames():
    head = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
    for size in (0, 10, 100, 1400):
        yield head / IP(src="192.0.2.1", dst="192.0.2.2") / UDP(sport=1, dport=53) / Raw(b"x" * size)
        yield head / IP(src="192.0.2.1", dst="192.0.2.2") / TCP(dport=80) / Raw(b"x" * size)
        yield head / IPv6(src="2001:db8::1", dst="2001:db8::2") / UDP(dport=53) / Raw(b"x" * size)
        yield head / Dot1Q(vlan=5) / IP(src="192.0.2.1", dst="192.0.2.2") / Raw(b"x" * size)
        yield head / Raw(b"x" * size)


class Unprivileged(unittest.TestCase):
    """All that is run lies in a folder that everyone may enter, as a build folder may not."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        os.chmod(self.folder, 0o755)
        self.command = shutil.copy(XDPVM, self.folder)
        for library in glob.glob(os.path.join(os.path.dirname(XDPVM), "libxdpvm.so*[0-9]")):
            shutil.copy(library, self.folder)
        self.capture = os.path.join(self.folder, "in.pcap")
        wrpcap(self.capture, list(frames()))

    def run_as(self, user, *words):
        return subprocess.run([*USERS[user], self.command, *words], capture_output=True, text=True,
                              timeout=60, check=False,
                              env={**os.environ, "LD_LIBRARY_PATH": self.folder})

    def test_users_may_not_load(self):
        """Else the other test would show nothing."""
        path = shutil.copy(OBJECTS[0], self.folder)
        self.assertEqual(self.run_as("privileged", "check", path, "--verify", "kernel").returncode,
                         0)
        for user in ("root", "nobody"):
            done = self.run_as(user, "check", path, "--verify", "kernel")
            self.assertNotEqual(done.returncode, 0, done.stdout)

    def test_objects(self):
        for path in OBJECTS:
            with self.subTest(os.path.basename(path)):
                self.check_object(shutil.copy(path, self.folder))

    def check_object(self, path):
        packets = {user: self.packets_after(user, path) for user in USERS}
        self.assertEqual(packets["root"], packets["privileged"])
        self.assertEqual(packets["nobody"], packets["privileged"])

    def packets_after(self, user, path):
        done = self.run_as(user, "check", path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("verify=kernel" if user == "privileged" else "verify=internal", done.stdout)
        out = os.path.join(self.folder, user)
        os.makedirs(out, exist_ok=True)
        os.chmod(out, 0o777)
        done = self.run_as(user, "run", path, "--pcap", self.capture, "--out", f"{out}/out.pcap")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(f"{out}/out.pcap", "rb") as file:
            return file.read()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
