#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command xdpvm from the shell: what it prints, what it writes, how it exits.

usage: command_test.py XDPVM CLANG OBJECT-DIR EVENTS-OBJECT
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from scapy.all import IP, TCP, UDP, Dot1Q, Ether, rdpcap, wrpcap

XDPVM, CLANG, OBJECTS, EVENTS = sys.argv[1:5]

HEAD = """
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
char _license[] SEC("license") = "GPL";
"""
RANDOM = HEAD + """
SEC("xdp") int toss(struct xdp_md *ctx)
{
	return bpf_get_prandom_u32() & 1 ? XDP_PASS : XDP_DROP;
}
"""
GREET = HEAD + """
SEC("xdp") int greet(struct xdp_md *ctx)
{
	bpf_printk("%d bytes", (int)(ctx->data_end - ctx->data));
	return XDP_PASS;
}
"""
OUTSIDE = HEAD + """
SEC("xdp") int good(struct xdp_md *ctx)
{
	return XDP_PASS;
}
SEC("xdp") int outside(struct xdp_md *ctx)
{
	return *(char *)(long)ctx->data;
}
"""


def xdpvm(*words):
    return subprocess.run([XDPVM, *words], capture_output=True, text=True, timeout=120,
                          check=False)


def may_load():
    """Whether this process may ask the kernel's verifier."""
    return "verify=kernel" in xdpvm("check", f"{OBJECTS}/drop.bpf.o").stdout


class Command(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.pcap = f"{cls.dir.name}/in.pcap"
        cls.packets = [Ether(src=f"02:00:00:00:00:{i:02x}", dst="02:00:00:00:01:00")
                       / IP(src="192.0.2.1", dst="192.0.2.2") / UDP(sport=i, dport=53)
                       / (b"x" * i) for i in range(40)]
        cls.packets += [Ether() / Dot1Q(vlan=5) / IP() / TCP()] * 24
        wrpcap(cls.pcap, cls.packets)

    @classmethod
    def tearDownClass(cls):
        cls.dir.cleanup()

    def compile(self, name, text):
        path = f"{self.dir.name}/{name}.o"
        subprocess.run([CLANG, "-target", "bpf", "-O2", "-g", "-x", "c", "-", "-o", path, "-c",
                        f"-I/usr/include/{os.uname().machine}-linux-gnu"],
                       input=text, text=True, check=True)
        return path

    def test_histogram_and_output(self):
        out = f"{self.dir.name}/out.pcap"
        got = xdpvm("run", f"{OBJECTS}/swap_tx.bpf.o", "--pcap", self.pcap, "--out", out)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn("64 packets: 64 TX", got.stdout)
        first = rdpcap(out)[0]
        self.assertEqual(first[Ether].dst, "02:00:00:00:00:00")
        self.assertEqual(first[Ether].src, "02:00:00:00:01:00")

    def test_drop_writes_nothing(self):
        out = f"{self.dir.name}/none.pcap"
        got = xdpvm("run", f"{OBJECTS}/drop.bpf.o", "--pcap", self.pcap, "--out", out)
        self.assertIn("64 packets: 64 DROP", got.stdout)
        self.assertEqual(len(rdpcap(out)), 0)

    def test_engines_agree_in_json(self):
        results = []
        for engine in ["jit", "interp", "kernel"]:
            got = xdpvm("run", f"{OBJECTS}/counter.bpf.o", "--pcap", self.pcap, "--packets",
                        "--maps", "--engine", engine, "-j")
            self.assertEqual(got.returncode, 0, got.stderr)
            result = json.loads(got.stdout)
            self.assertEqual(result["engine"], engine)
            # The CPU differs from run to run, its counters do not.
            for one in result["maps"]:
                for entry in one["entries"]:
                    entry["values"] = list(entry.get("values", {}).values())
            results.append((result["packets"], result["maps"]))
        self.assertEqual(len(results[0][0]), 64)
        udp = [e for e in results[0][1][0]["entries"] if e["key"] == "11000000"]
        size = sum(len(p) for p in self.packets if UDP in p)
        self.assertEqual(udp[0]["values"], [(40).to_bytes(8, "little").hex()
                                            + size.to_bytes(8, "little").hex()])
        for other in results[1:]:
            self.assertEqual(results[0], other)

    def test_set_entry(self):
        got = xdpvm("run", f"{OBJECTS}/counter.bpf.o", "--pcap", self.pcap, "--set",
                    "blocked_port:00000000=35000000")
        self.assertIn("64 packets: 40 DROP 24 PASS", got.stdout)
        got = xdpvm("run", f"{OBJECTS}/counter.bpf.o", "--pcap", self.pcap, "--set",
                    "blocked_port:00=35000000")
        self.assertEqual(got.returncode, 3)
        self.assertIn("wants 4 bytes of key", got.stderr)

    def test_compare(self):
        got = xdpvm("compare", f"{OBJECTS}/vlan.bpf.o", "--pcap", self.pcap)
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
        self.assertEqual(got.stdout.count("64 packets, equal in jit, interp"), 2)
        got = xdpvm("compare", self.compile("random", RANDOM), "--pcap", self.pcap, "-j")
        self.assertEqual(got.returncode, 1)
        self.assertIn("packet", json.loads(got.stdout)[0]["difference"])

    def test_times(self):
        got = xdpvm("compare", f"{OBJECTS}/drop.bpf.o", "--pcap", self.pcap, "-n", "3", "-j")
        times = json.loads(got.stdout)[0]["ns_per_packet"]
        self.assertGreater(times["interp"], times["jit"])

    def test_trace(self):
        got = xdpvm("run", self.compile("greet", GREET), "--pcap", self.pcap)
        self.assertIn("trace: 42 bytes\ntrace: 43 bytes\n", got.stdout)

    def test_records(self):
        got = xdpvm("run", EVENTS, "--pcap", self.pcap, "-p", "ring_reserve", "-j")
        records = json.loads(got.stdout)["records"]
        self.assertEqual({r["map"] for r in records}, {"ring"})
        data = records[0]["data"]
        self.assertEqual(len(data), 2 * 24)
        got = xdpvm("run", EVENTS, "--pcap", self.pcap, "-p", "ring_reserve")
        self.assertIn("\nring: " + bytes.fromhex(data).hex(" ") + "\n", got.stdout)
        self.assertEqual(got.stdout.count("\nring: "), len(records))

    def test_check(self):
        got = xdpvm("check", f"{OBJECTS}/drop.bpf.o")
        self.assertEqual(got.returncode, 0)
        self.assertIn("loads: 2 instructions", got.stdout)

    def test_check_says_why_not(self):
        got = xdpvm("check", self.compile("outside", OUTSIDE), "-j")
        self.assertEqual(got.returncode, 1)
        good, outside = json.loads(got.stdout)
        self.assertTrue(good["loads"])
        self.assertFalse(outside["loads"])
        self.assertIn("outside of the packet", outside["reason"])

    def test_cached(self):
        path = self.compile("two", OUTSIDE)
        folder = f"{self.dir.name}/cache"
        os.mkdir(folder, 0o755)
        cached = ("--verify", "cached", "--cache", folder)
        got = xdpvm("check", path, "-p", "good", *cached)
        self.assertEqual(got.returncode, 1)
        self.assertIn("does not say that a kernel accepted", got.stdout)
        got = xdpvm("check", path, "-p", "good", "--cache", folder)
        self.assertIn("verify=kernel", got.stdout)
        got = xdpvm("check", path, "-p", "good", *cached)
        self.assertEqual(got.returncode, 0)
        self.assertIn("verify=cached", got.stdout)
        # The other program of the object was never accepted, and another object neither.
        self.assertEqual(xdpvm("check", path, "-p", "outside", *cached).returncode, 1)
        with open(path, "ab") as file:
            file.write(b"\0")
        self.assertEqual(xdpvm("check", path, "-p", "good", *cached).returncode, 1)
        os.chmod(folder, 0o777)
        got = xdpvm("check", path, "-p", "good", *cached)
        self.assertIn("is not trusted", got.stdout)

    def test_dump(self):
        code = f"{self.dir.name}/code.bin"
        got = xdpvm("dump", f"{OBJECTS}/drop.bpf.o", "-p", "xdp_drop", "--code", code)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn("   0: (b7) r0 = 1\n", got.stdout)
        self.assertIn("   1: (95) exit\n", got.stdout)
        with open(code, "rb") as file:
            self.assertEqual(file.read()[-1:], b"\xc3")
        got = json.loads(xdpvm("dump", f"{OBJECTS}/counter.bpf.o", "-j").stdout)
        self.assertIn("(18) r1 = map[counters]", got[0]["linked"])
        self.assertIn("(61) r6 = *(u32 *)(r1 +4)", got[0]["linked"])
        self.assertIn("(79) r6 = *(u64 *)(r1 +8)", got[0]["rewritten"])

    def test_refusals(self):
        for words, sentence in [
                ([], "the first word is"),
                (["walk"], "the first word is"),
                (["run", "a.o"], "--pcap"),
                (["dump", "a.o", "--pcap", "x"], "dump knows no option --pcap"),
                (["dump", "a.o", "--code", "x"], "--code wants one program"),
                (["run", "a.o", "--pcap", "x", "-n", "0"], "from 1 to 1000000"),
                (["run", "a.o", "--pcap", "x", "--engine", "cbpf"], "jit, interp or kernel")]:
            got = xdpvm(*words)
            self.assertEqual(got.returncode, 2, words)
            self.assertIn(sentence, got.stderr)
        got = xdpvm("run", f"{OBJECTS}/drop.bpf.o", "--pcap", "/nonexistent.pcap")
        self.assertEqual((got.returncode, got.stdout), (3, ""))
        got = xdpvm("run", self.pcap, "--pcap", self.pcap)
        self.assertEqual((got.returncode, got.stdout), (3, ""))

    def test_help(self):
        got = xdpvm("--help")
        self.assertEqual(got.returncode, 0)
        for word in ["run", "compare", "check", "dump", "--repeat N", "--verify MODE"]:
            self.assertIn(word, got.stdout)


if __name__ == "__main__":
    if not may_load():
        print("skipped: this process may not load XDP programs into the kernel")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
