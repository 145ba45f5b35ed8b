#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""bpftool and an unmodified xdp-filter steer a program that runs in this process's child.

Everything happens in a mount namespace of its own with a bpffs and a /run of its own, so that
neither pins nor xdp-filter's lock file meet those of others. Verdicts and counters are waited
for; the time until they change is the delay that the library promises.

usage: sync_tools_test.py SYNC_RUN XDPFILT_OBJECT XDPVM COUNTER_OBJECT
"""

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from scapy.all import IP, UDP, Ether, IPv6, wrpcap

INSIDE = "XDPVM_SYNC_TOOLS_INSIDE"
PINS = "/sys/fs/bpf/xdp-filter"     # where xdp-filter looks
PERIOD_MS = 50
DEADLINE_S = 30
REPEAT_S = 5


def shell(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def bpftool(*arguments):
    return json.loads(shell("bpftool", "-j", "map", *arguments))


def packets(entry):
    """The first eight bytes of each copy of a per-CPU value, added up."""
    return sum(int.from_bytes([int(byte, 16) for byte in copy["value"][:8]], "little")
               for copy in entry["values"])


class Runner:
    """tests/xdp/sync_run.c"""

    def __init__(self, command, target):
        self.child = subprocess.Popen([command, target, PINS, str(PERIOD_MS)],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def line(self, deadline_s=DEADLINE_S):
        ready, _, _ = select.select([self.child.stdout], [], [], deadline_s)
        if not ready:
            raise AssertionError(f"nothing said in {deadline_s} s")
        return self.child.stdout.readline().decode().strip()

    def has_line(self, deadline_s):
        return bool(select.select([self.child.stdout], [], [], deadline_s)[0])

    def say(self, line):
        self.child.stdin.write(line.encode() + b"\n")
        self.child.stdin.flush()

    def packet(self, frame):
        self.say("packet " + bytes(frame).hex())

    def now(self):
        self.say("now")
        return self.line()

    def end(self):
        self.child.stdin.close()
        code = self.child.wait(DEADLINE_S)
        self.child.stdout.close()
        return code


def udp(port=5353, source="192.0.2.1"):
    return Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02") / IP(
        src=source, dst="192.0.2.9") / UDP(sport=1000, dport=port) / (b"x" * 40)


def udp6(source):
    return Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02") / IPv6(
        src=source, dst="2001:db8::9") / UDP(sport=1000, dport=9) / (b"x" * 40)


class Tools(unittest.TestCase):
    def setUp(self):
        self.runner = Runner(sys.argv[1], sys.argv[2])

    def tearDown(self):
        self.assertEqual(self.runner.end(), 0)
        shutil.rmtree(PINS, ignore_errors=True)

    def changes(self, verdict, *command):
        """The command changes the verdict; how long that took goes to the log."""
        shell(*command)
        start = time.monotonic()
        while not self.runner.has_line(REPEAT_S) and time.monotonic() - start < DEADLINE_S:
            # A write between the two system calls of a round is lost: doc/xdp_maps.rst.
            print(f"{' '.join(command)}: said again")
            subprocess.run(command, timeout=60, check=False)
        self.assertEqual(self.runner.line(), "verdict " + verdict)
        print(f"{' '.join(command)}: {verdict} after {(time.monotonic() - start) * 1e3:.0f} ms")

    def test_xdp_filter_port(self):
        self.runner.packet(udp())
        self.assertEqual(self.runner.line(), "verdict PASS")
        self.changes("DROP", "xdp-filter", "port", "5353", "-p", "udp", "-m", "dst")
        self.changes("PASS", "xdp-filter", "port", "5353", "-p", "udp", "-m", "dst", "-r")

    def test_xdp_filter_ip(self):
        self.runner.packet(udp())
        self.assertEqual(self.runner.line(), "verdict PASS")
        self.changes("DROP", "xdp-filter", "ip", "192.0.2.1", "-m", "src")
        self.changes("PASS", "xdp-filter", "ip", "192.0.2.1", "-m", "src", "-r")
        self.runner.packet(udp6("2001:db8::1"))
        self.changes("DROP", "xdp-filter", "ip", "2001:db8::1", "-m", "src")

    def test_xdp_filter_ether(self):
        self.runner.packet(udp())
        self.assertEqual(self.runner.line(), "verdict PASS")
        self.changes("DROP", "xdp-filter", "ether", "02:00:00:00:00:02", "-m", "src")
        self.changes("PASS", "xdp-filter", "ether", "02:00:00:00:00:02", "-m", "src", "-r")

    def test_xdp_filter_status(self):
        self.runner.packet(udp())
        self.assertEqual(self.runner.line(), "verdict PASS")
        self.changes("DROP", "xdp-filter", "port", "5353", "-p", "udp", "-m", "dst")
        self.assertEqual(self.runner.now(), "synced")
        # There it looks for the programs that it attached to interfaces: none, rightly.
        os.mkdir(PINS + "/programs")
        status = shell("xdp-filter", "status")
        print(status)
        dropped = [line for line in status.split("\n") if "XDP_DROP" in line][0].split()
        passed = [line for line in status.split("\n") if "XDP_PASS" in line][0].split()
        self.assertGreater(int(dropped[1]), 0)
        self.assertGreater(int(passed[1]), 0)
        # What the filter list says about hits is the program's counter, too.
        self.assertRegex(status, r"5353 +dst,udp +[1-9][0-9]*")

    def test_bpftool(self):
        pin = PINS + "/filter_ipv4"
        key = ["192", "0", "2", "77"]
        self.runner.packet(udp(source="192.0.2.77"))
        self.assertEqual(self.runner.line(), "verdict PASS")
        # Per-CPU values; 1 << 0 is "source" in xdp-filter's flags.
        value = ["1", "0", "0", "0", "0", "0", "0", "0"]
        self.changes("DROP", "bpftool", "map", "update", "pinned", pin, "key", *key, "value",
                     *(value))
        self.assertEqual(self.runner.now(), "synced")
        entries = bpftool("dump", "pinned", pin)
        self.assertEqual(len(entries), 1)
        self.changes("PASS", "bpftool", "map", "delete", "pinned", pin, "key", *key)
        self.assertEqual(bpftool("dump", "pinned", pin), [])

    def test_bpftool_sees_counters(self):
        self.runner.packet(udp())
        self.assertEqual(self.runner.line(), "verdict PASS")

        def passed():
            return packets(bpftool("lookup", "pinned", PINS + "/xdp_stats_map",
                                   "key", "2", "0", "0", "0"))

        before = passed()
        deadline = time.monotonic() + DEADLINE_S
        while passed() <= before and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertGreater(passed(), before)

    def test_cost(self):
        """A round over xdp-filter's 95,536 possible entries."""
        self.assertEqual(self.runner.now(), "synced")
        self.runner.say("stats")
        words = self.runner.line().split()
        print(f"{words[1]} rounds, the longest {int(words[3]) / 1000:.1f} ms")
        self.assertEqual((words[0], words[2]), ("rounds", "max_us"))


class Command(unittest.TestCase):
    """xdpvm run --pin"""

    def test_two_runs(self):
        pins = "/sys/fs/bpf/counter"
        with tempfile.TemporaryDirectory() as folder:
            pcap = os.path.join(folder, "in.pcap")
            wrpcap(pcap, [udp() for _ in range(7)])
            for runs in (1, 2):
                shell(sys.argv[3], "run", sys.argv[4], "--pcap", pcap, "--pin", pins)
                entry = bpftool("lookup", "pinned", pins + "/counters", "key", "17", "0", "0", "0")
                self.assertEqual(packets(entry), 7 * runs)
        shutil.rmtree(pins)


def enter():
    """Starts itself again in a new mount namespace; 77 when that is not allowed here."""
    for tool in ("xdp-filter", "bpftool", "unshare"):
        if shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            print(f"skipped: no {tool} here")
            sys.exit(77)
    if os.geteuid() != 0:
        print("skipped: needs to be root")
        sys.exit(77)
    os.environ[INSIDE] = "1"
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    script = 'mount -t bpf bpf /sys/fs/bpf && mount -t tmpfs tmpfs /run && exec "$@"'
    os.execvp("unshare", ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable]
              + sys.argv)


if __name__ == "__main__":
    if INSIDE not in os.environ:
        enter()
    unittest.main(argv=sys.argv[:1], verbosity=2)
