#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""mlx4x-ctl against a running testpmd: what it does, what it refuses, what its manual says."""

import json
import os
import re
import subprocess
import sys

from lib import bed as testbed
from lib.bed import Testpmd, build_dir, check, check_equal, wait_until

DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")
CTL = os.path.join(build_dir(), "app", "mlx4x-ctl", "mlx4x-ctl")
PROGS = os.path.join(build_dir(), "examples", "progs")
TEST_PROGS = os.path.join(build_dir(), "tests", "system", "progs")
UNSAFE = os.path.join(TEST_PROGS, "unsafe.bpf.o")
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..", "..", "app", "mlx4x-ctl")
GENERATOR = ["--wire", "1=gen:size=60,flows=16,proto=mix,rate=20000", "--wire", "2=sink"]


def prog(name):
    return os.path.join(PROGS, f"{name}.bpf.o")


class Controlled:
    """testpmd with a telemetry socket, and the tool for it."""

    def __init__(self, bed, options=GENERATOR, device_args="", args=(), **keywords):
        bed.require_hugepages()
        self.prefix = f"{bed.prefix}-{bed.next_number()}"
        self.pmd = Testpmd(bed, ["--strict", *options], ["--forward-mode=rxonly", *args],
                           driver=DRIVER, file_prefix=self.prefix, device_args=device_args,
                           **keywords)
        self.pmd.cmd("start")

    def run(self, *words):
        return subprocess.run([CTL, "-f", self.prefix, *words], capture_output=True, text=True,
                              timeout=60, check=False)

    def ctl(self, *words):
        done = self.run(*words)
        check_equal(done.returncode, 0, f"{' '.join(words)}: {done.stderr}")
        return done.stdout

    def refused(self, pattern, *words, status=1):
        """The tool must say a sentence with this pattern, and nothing may have changed."""
        before = self.ctl("-j", "status")
        done = self.run(*words)
        check_equal(done.returncode, status, f"exit status of {' '.join(words)}")
        check(re.search(pattern, done.stderr), f"{' '.join(words)} said {done.stderr!r}")
        check_equal(self.ctl("-j", "status"), before, f"status after {' '.join(words)}")

    def program(self, port=0):
        """The program of a port, {} when there is none."""
        return json.loads(self.ctl("-j", "status", str(port)))[0].get("program", {})

    def counters(self, port=0):
        return list(json.loads(self.ctl("-j", "stats", str(port))).values())[0]

    def grows(self, counter, port=0):
        begin = self.counters(port)[counter]
        wait_until(lambda: self.counters(port)[counter] > begin, f"{counter} to grow", 20)

    def adds_up(self, port):
        """Received = sum of all verdicts, once traffic rests."""
        counters = self.counters(port)
        verdicts = ("pass", "drop", "aborted", "tx", "tx_full", "redirect", "redirect_fail")
        check_equal(counters["rx_xdp_packets"],
                    sum(counters["rx_xdp_" + name] for name in verdicts), f"frames of port {port}")

    def quit(self):
        self.pmd.cmd("stop")
        for port in (0, 1):
            self.adds_up(port)
        self.pmd.quit()
        check_equal(self.pmd.final_counters()["violations"]["total"], 0, "violations")


def test_load_replace_unload(bed):
    app = Controlled(bed)
    app.ctl("load", "0", prog("drop"))
    first = app.program()
    check_equal(first["name"], "xdp_drop", "program")
    check(re.fullmatch("[0-9a-f]{16}", first["tag"]), f"tag {first['tag']}")
    app.grows("rx_xdp_drop")
    app.refused("already|attached|replace", "load", "0", prog("pass"))
    app.ctl("load", "0", prog("pass"), "--replace")
    check(app.program()["id"] != first["id"], "a new program has a new number")
    app.grows("rx_xdp_pass")
    app.refused("no|not", "unload", "0", "--id", str(first["id"]))
    app.ctl("unload", "0", "--id", str(app.program()["id"]))
    check_equal(app.program(), {}, "program after unload")
    app.refused("no", "unload", "0", "--all")
    text = app.ctl("status")
    check_equal(text.count("<No XDP program loaded!>"), 2, f"ports without program in {text}")
    app.quit()


def test_chain(bed):
    """Objects on one port, in libxdp's order: each is added and taken out while traffic flows."""
    app = Controlled(bed)
    app.ctl("load", "0", prog("drop"))
    drop = app.program()["id"]
    app.grows("rx_xdp_drop")
    app.ctl("load", "0", prog("counter"), "--append", "--prio", "10")
    def chain():
        return [(link["name"], link["prio"]) for name, link in app.program().items()
                if name.startswith("chain_")]
    check_equal(app.program()["name"], "xdp_dispatcher", "name of the whole")
    check_equal(chain(), [("xdp_counter", 10), ("xdp_drop", 50)], "order")
    check_equal(app.program()["chain_0"]["actions"], "XDP_PASS", "what lets the next one run")
    app.grows("rx_xdp_drop")
    text = app.ctl("status", "0")
    check(text.index("xdp_dispatcher") < text.index("xdp_counter") < text.index("xdp_drop"), text)
    udp = ["counters", "key", "17", "0", "0", "0"]
    def counted(name="counters"):
        values = json.loads(app.ctl("-j", "maps", "lookup", "0", name, *udp[1:]))["value"]
        return sum(int.from_bytes(bytes.fromhex(copy)[:8], "little") for copy in values.values())
    begin = counted()
    wait_until(lambda: counted("xdp_counter:counters") > begin, "frames that both have seen", 20)
    check("of xdp_counter" in app.ctl("maps", "list", "0"), "whose map it is")
    app.refused("no map xdp_drop:counters", "maps", "dump", "0", "xdp_drop:counters")
    app.refused("already", "load", "0", prog("pass"))
    app.refused("either --append or --replace", "load", "0", prog("pass"), "-a", "-R", status=2)
    app.refused("No such file|cannot", "load", "0", os.path.join(HERE, "bed.py"), "--append")
    app.ctl("load", "0", prog("swap_tx"), "-a", "-P", "20")
    check_equal(chain(), [("xdp_counter", 10), ("xdp_swap_tx", 20), ("xdp_drop", 50)], "order")
    app.grows("rx_xdp_tx")
    app.ctl("unload", "0", "--id", str(app.program()["chain_1"]["id"]))
    app.grows("rx_xdp_drop")
    begin = counted()
    wait_until(lambda: counted() > begin, "the map to live on", 20)
    app.ctl("unload", "0", "--id", str(app.program()["chain_0"]["id"]))
    check_equal((app.program()["name"], app.program()["id"]), ("xdp_drop", drop), "the last one")
    app.grows("rx_xdp_drop")
    for _ in range(9):
        app.ctl("load", "0", prog("pass"), "--append")
    app.refused("more than 10", "load", "0", prog("pass"), "--append")
    app.ctl("load", "0", prog("pass"), "--replace")
    check_equal(app.program()["name"], "xdp_pass", "one for all of them")
    app.grows("rx_xdp_pass")
    app.quit()


def test_port_by_name(bed):
    app = Controlled(bed)
    app.ctl("load", "0000:03:00.0_port1", prog("drop"))
    check_equal(app.program(0), {}, "program of the other port")
    check_equal(app.program(1)["name"], "xdp_drop", "program of the named port")
    check("NETDEV_XDP_ACT_BASIC" in app.ctl("features", "0"), "features name BASIC")
    app.quit()


def test_maps(bed):
    app = Controlled(bed, device_args=f"xdp_prog={prog('counter')}")
    maps = app.ctl("maps", "list", "0")
    check("counters" in maps and "blocked_port" in maps, f"maps {maps}")
    check("00 00 00 00" in app.ctl("maps", "lookup", "0", "blocked_port", "key", "0", "0", "0", "0"),
          "an array begins with zeros")
    app.ctl("maps", "update", "0", "blocked_port", "key", "hex", "00", "00", "00", "00",
            "value", "53", "0x1", "0", "0")
    entry = json.loads(app.ctl("-j", "maps", "lookup", "0", "blocked_port", "key", "0", "0", "0",
                               "0"))
    check_equal(entry["value"], "35010000", "the value that was written")
    app.grows("rx_xdp_pass")
    udp = json.loads(app.ctl("-j", "maps", "lookup", "0", "counters", "key", "17", "0", "0", "0"))
    packets = sum(int.from_bytes(bytes.fromhex(copy)[:8], "little")
                  for copy in udp["value"].values())
    check(packets > 0, f"UDP frames counted in {udp}")
    check("Found 256 elements" in app.ctl("maps", "dump", "0", "counters"), "a dump is whole")
    app.refused("", "maps", "delete", "0", "blocked_port", "key", "0", "0", "0", "0")
    app.refused("blocked|4|bytes", "maps", "lookup", "0", "blocked_port", "key", "0")
    app.refused("nix", "maps", "dump", "0", "nix")
    app.refused("takes", "maps", "update", "0", "blocked_port", "key", "0", status=2)
    app.refused("not a byte", "maps", "lookup", "0", "blocked_port", "key", "256", status=2)
    app.quit()


def key(number):
    """A 32-bit key in words."""
    return ["key", *map(str, number.to_bytes(4, "little"))]


def test_programs_and_maps_in_maps(bed):
    """What programs find in their maps shows in the verdicts."""
    app = Controlled(bed)
    app.ctl("load", "0", os.path.join(TEST_PROGS, "by_name.bpf.o"))
    app.grows("rx_xdp_pass")
    app.ctl("maps", "update", "0", "tables", *key(1), "value", "name", "drops")
    app.grows("rx_xdp_drop")
    app.ctl("maps", "update", "0", "calls", *key(0), "value", "1", "0", "0", "0")
    app.ctl("maps", "update", "0", "tables", *key(1), "value", "name", "calls")
    app.grows("rx_xdp_aborted")
    app.ctl("maps", "update", "0", "programs", *key(1), "value", "name", "xdp_sends_back")
    app.grows("rx_xdp_tx")
    app.refused("no program nix", "maps", "update", "0", "programs", *key(0), "value", "name", "nix")
    app.refused("no map nix", "maps", "update", "0", "tables", *key(0), "value", "name", "nix")
    app.refused("cannot update", "maps", "update", "0", "tables", *key(0), "value", "name",
                "programs")
    app.refused("cannot update", "maps", "update", "0", "programs", *key(2), "value", "name",
                "xdp_sends_back")
    app.refused("cannot update", "maps", "update", "0", "programs", *key(0), "value", "name",
                "xdp_sends_back", "exist")
    app.refused("have no name", "maps", "update", "0", "calls", *key(0), "value", "name", "drops")
    app.refused("have no programs", "maps", "update", "0", "calls", *key(0), "value", "dev", "0",
                "prog", "xdp_sends_back")
    app.refused("missing", "maps", "update", "0", "tables", *key(0), "value", "name", status=2)
    app.grows("rx_xdp_tx")
    app.ctl("maps", "delete", "0", "programs", *key(1))
    app.grows("rx_xdp_aborted")
    app.quit()


def test_entries_with_programs(bed):
    """A DEVMAP's and a CPUMAP's entry by words, with the program that runs there."""
    app = Controlled(bed, device_args="xdp_cpumap_queues=1", args=["--rxq=2", "--txq=2"])
    app.ctl("load", "0", os.path.join(TEST_PROGS, "redirect.bpf.o"))
    def order(*numbers):
        for index, number in enumerate(numbers):
            app.ctl("maps", "update", "0", "order", *key(index), "value",
                    *map(str, number.to_bytes(4, "little")))
    app.ctl("maps", "update", "0", "ports_prog", *key(3), "value", "dev", "1", "prog", "xdp_at_port")
    entry = json.loads(app.ctl("-j", "maps", "lookup", "0", "ports_prog", *key(3)))
    other = json.loads(app.ctl("-j", "status", "1"))[0]["ifindex"]
    check_equal((entry["func"], entry["value"][:8]),
                ("xdp_at_port", other.to_bytes(4, "little").hex()), "entry")
    order(6, 3, 0)
    app.grows("rx_xdp_redirect_dropped")  # it drops what has an odd byte there, as IPv4 has
    app.ctl("maps", "update", "0", "ports_prog", *key(3), "value", "dev", "0000:03:00.0_port1")
    app.grows("rx_xdp_xmit")
    app.ctl("maps", "update", "0", "cpus_prog", *key(0), "value", "qsize", "64", "prog", "xdp_at_cpu")
    order(7, 0, 0)
    app.grows("rx_cpumap_dropped")
    before = app.ctl("-j", "maps", "dump", "0", "ports_prog")
    app.refused("none that programs can redirect", "maps", "update", "0", "ports_prog", *key(3),
                "value", "dev", "net_nix")
    app.refused("not a number", "maps", "update", "0", "cpus_prog", *key(0), "value", "qsize", "x",
                status=2)
    app.refused("no program nix", "maps", "update", "0", "ports_prog", *key(3), "value", "dev", "1",
                "prog", "nix")
    app.refused("cannot update", "maps", "update", "0", "cpus_prog", *key(0), "value", "qsize",
                "16385")
    check_equal(app.ctl("-j", "maps", "dump", "0", "ports_prog"), before, "entries after refusals")
    app.quit()


def test_targets(bed):
    """A port of another driver becomes a target, and is none again."""
    app = Controlled(bed, eal=["--vdev", "net_ring0"])
    app.ctl("load", "0", os.path.join(TEST_PROGS, "redirect.bpf.o"))
    app.refused("none that programs can redirect", "maps", "update", "0", "ports", *key(0), "value",
                "dev", "net_ring0")
    app.ctl("targets", "set", "0", "net_ring0", "-q", "0")
    check("net_ring0" in app.ctl("targets", "list", "0"), "the list names it")
    app.ctl("maps", "update", "0", "ports", *key(0), "value", "dev", "net_ring0")
    for index, number in enumerate((2, 0, 0)):
        app.ctl("maps", "update", "0", "order", *key(index), "value", str(number), "0", "0", "0")
    app.grows("rx_xdp_redirect")
    before = app.ctl("-j", "targets", "list", "0")
    app.refused("no port net_nix", "targets", "set", "0", "net_nix")
    app.refused("too few", "targets", "set", "0", "net_ring0", "--txq", "5")
    app.refused("no such verb", "targets", "nix", "0", status=2)
    app.refused("takes a port and a target", "targets", "set", "0", status=2)
    check_equal(app.ctl("-j", "targets", "list", "0"), before, "targets after refusals")
    app.ctl("targets", "delete", "0", "net_ring0")
    app.grows("rx_xdp_redirect_unknown")
    app.quit()


def test_rates(bed):
    app = Controlled(bed, device_args=f"xdp_prog={prog('drop')}")
    app.grows("rx_xdp_drop")
    lines = [json.loads(line) for line in
             app.ctl("-j", "stats", "0", "-i", "1", "-c", "2").splitlines()]
    check_equal(len(lines), 2, "lines")
    # A burst of 64 adds to one counter after the other, while they are read; on a loaded machine
    # a second may go by without one.
    check(any(line["drop/s"] > 0 for line in lines) and
          all(abs(line["drop/s"] - line["rx/s"]) <= 2 * 64 for line in lines),
          f"everything is dropped: {lines}")
    check("drop/s" in app.ctl("stats", "-i", "1", "-c", "1"), "text has the same columns")
    app.quit()


def test_bad_input(bed):
    app = Controlled(bed)
    garbage = bed.path("garbage.o")
    with open(garbage, "wb") as file:
        file.write(b"\x7fELF" + bytes(100))
    comma = bed.path("a,b.o")
    os.symlink(prog("drop"), comma)
    app.ctl("load", "0", prog("pass"))
    app.refused("garbage", "load", "0", garbage, "--replace")
    app.refused("No such file", "load", "0", bed.path("absent.o"))
    app.refused("xdp_unsafe.*packet", "load", "0", UNSAFE, "--replace")
    app.refused("nix", "load", "1", prog("drop"), "-s", "nix")
    app.refused("nix", "load", "1", prog("drop"), "-n", "nix")
    app.refused("nix", "load", "1", prog("drop"), "-v", "nix")
    app.refused("port 7", "load", "7", prog("drop"))
    app.refused("queue", "load", "1", prog("drop"), "-q", "9")
    app.refused("not supported", "load", "1", prog("drop"), "-m", "skb", status=2)
    app.refused("comma", "load", "1", comma, "-s", "a,b")
    app.refused("no command", "nix", status=2)
    app.refused("needed", "load", "1", status=2)
    app.refused("number", "stats", "-i", "x", status=2)
    done = subprocess.run([CTL, "-f", "nobody-has-this", "status"], capture_output=True, text=True,
                          check=False)
    check_equal(done.returncode, 1, "exit status without an application")
    check("no DPDK application answers" in done.stderr and app.prefix in done.stderr,
          f"without an application: {done.stderr}")
    app.quit()


def test_large_mtu(bed):
    """A program is refused on a port whose frames would not fit one buffer behind its headroom."""
    app = Controlled(bed)
    for command in ("stop", "port stop 0", "port config mtu 0 1899", "port start 0", "start"):
        app.pmd.cmd(command)
    app.refused("MTU 1899 is above 1898", "load", "0", prog("drop"))
    app.ctl("load", "1", prog("drop"))
    app.quit()


def test_two_at_once(bed):
    """Of tools that load at the same time, one wins, and the others are told."""
    app = Controlled(bed)
    tools = [subprocess.Popen([CTL, "-f", app.prefix, "load", "0", prog(name)],
                              stderr=subprocess.PIPE) for name in ("drop", "pass", "counter")]
    codes = sorted(tool.wait(60) for tool in tools)
    for tool in tools:
        tool.stderr.close()
    check_equal(codes, [0, 1, 1], "exit statuses")
    check(app.program() != {}, "a program is attached")
    app.quit()


def test_manual(_):
    """Every command and option of --help is in the manual page and in the completion."""
    with open(os.path.join(SOURCES, "mlx4x-ctl.8"), encoding="utf-8") as file:
        manual = file.read().replace("\\-", "-")
    with open(os.path.join(SOURCES, "mlx4x-ctl.bash"), encoding="utf-8") as file:
        completion = file.read()
    def help_of(*words):
        return subprocess.run([CTL, *words, "--help"], capture_output=True, text=True,
                              check=True).stdout
    commands = re.findall(r"^  ([a-z]+) .{4,}", help_of().split("Commands:")[1], re.M)
    check(len(commands) >= 7, f"commands {commands}")
    for command in commands:
        check(f".SS {command}" in manual, f"{command} is not in the manual")
        check(command in completion, f"{command} is not in the completion")
        for option in re.findall(r"--([a-z-]+)", help_of(command)):
            if option not in ("help", "usage"):
                check(f"--{option}" in manual, f"{command} --{option} is not in the manual")
                check(f"--{option}" in completion, f"{command} --{option}: no completion")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    testbed.main(globals())
