#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch, as Debian ships it, forwards between the two ports of net_mlx4x.

    host - veth - port 1 [card, ovs-vswitchd] port 2 - veth - host

Hosts are network namespaces. Ports are removed and added again while the switch runs.
"""

import json
import os
import re

from lib import bed as testbed
from lib.bed import PCI_ADDRESS, Card, Process, Skip, build_dir, check, check_equal, wait_until

DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")
CTL = os.path.join(build_dir(), "app", "mlx4x-ctl", "mlx4x-ctl")
DROP = os.path.join(build_dir(), "examples", "progs", "drop.bpf.o")
PASS = os.path.join(build_dir(), "examples", "progs", "pass.bpf.o")
SWITCH = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
MACS = ("00:02:c9:00:00:01", "00:02:c9:00:00:02")
MTU = 3000


class Hosts:
    """Two namespaces, each with one end of a veth pair; the other ends are the wires."""

    def __init__(self, bed):
        self.bed = bed
        self.names = [bed.netns(f"h{number}") for number in (1, 2)]
        self.wires = [f"{bed.prefix}v{number}"[-15:] for number in (1, 2)]
        for number, (name, wire) in enumerate(zip(self.names, self.wires), 1):
            self.must("ip", "link", "add", wire, "mtu", str(MTU), "type", "veth", "peer", "name",
                      "eth0", "mtu", str(MTU), "netns", name)
            bed.on_close(lambda wire=wire: bed.run("ip", "link", "del", wire))
            self.must("ip", "link", "set", wire, "up")
            self.must("ip", "-n", name, "addr", "add", f"10.9.0.{number}/24", "dev", "eth0")
            self.must("ip", "-n", name, "link", "set", "eth0", "up")

    def must(self, *words):
        done = self.bed.run(*words)
        check(done.returncode == 0, f"{' '.join(words)}: {done.stderr}")

    def on(self, number, *words, timeout=40):
        return self.bed.run("ip", "netns", "exec", self.names[number - 1], *words, timeout=timeout)

    def ping(self, nb, *words):
        return self.on(1, "ping", "-c", str(nb), "-i", "0.02", "-W", "2", *words, "10.9.0.2")

    def reaches(self):
        return self.ping(1).returncode == 0


class Switch:
    """ovsdb-server and ovs-vswitchd with their files in the bed's folder."""

    def __init__(self, bed, wires):
        self.bed = bed
        self.remote = f"unix:{bed.path('db.sock')}"
        self.env = {f"OVS_{what}DIR": bed.dir for what in ("RUN", "LOG", "DB", "SYSCONF")}
        check_equal(bed.run("ovsdb-tool", "create", bed.path("conf.db"), SCHEMA).returncode, 0,
                    "ovsdb-tool")
        self.database = Process(["ovsdb-server", bed.path("conf.db"), f"--remote=p{self.remote}",
                                 f"--unixctl={bed.path('db.ctl')}"], self.env)
        bed.register(self.database)
        wait_until(lambda: os.path.exists(bed.path("db.sock")), "a database", 20)
        self.vsctl("--no-wait", "init")
        self.vsctl("--no-wait", "set", "Open_vSwitch", ".", "other_config:dpdk-init=true",
                   "other_config:dpdk-socket-mem=256", "other_config:pmd-cpu-mask=0x1",
                   f"other_config:dpdk-extra=-d {DRIVER} -a {PCI_ADDRESS} --file-prefix "
                   f"{bed.prefix}")
        self.card = Card(bed, [word for number, wire in enumerate(wires, 1) for word in
                               ("--wire", f"{number}=packet:{wire}")] + ["--mtu", str(MTU)],
                         [SWITCH, self.remote, f"--unixctl={bed.path('switch.ctl')}",
                          "-vconsole:info", "-vfile:off", "-vsyslog:off"], self.env)
        self.vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev")

    def vsctl(self, *words):
        done = self.bed.run("ovs-vsctl", f"--db={self.remote}", "--timeout=100", *words, timeout=110,
                            env={**os.environ, **self.env})
        check(done.returncode == 0, f"ovs-vsctl {' '.join(words)}: {done.stderr}")
        return done.stdout

    def add_port(self, index):
        self.vsctl("add-port", "br0", f"p{index}", "--", "set", "interface", f"p{index}",
                   "type=dpdk", f"options:dpdk-devargs=class=eth,mac={MACS[index]}",
                   f"mtu_request={MTU}")
        check_equal(self.vsctl("get", "interface", f"p{index}", "error").strip(), "[]",
                    f"error of port {index}")

    def set_mtu(self, mtu):
        for index in (0, 1):
            self.vsctl("set", "interface", f"p{index}", f"mtu_request={mtu}")
            wait_until(lambda: self.vsctl("get", "interface", f"p{index}", "mtu").strip() == str(mtu),
                       f"MTU {mtu}", 20)

    def ctl(self, *words, status=0):
        """mlx4x-ctl on the switch; what it says."""
        done = self.bed.run(CTL, "-f", self.bed.prefix, *words)
        check_equal(done.returncode, status, f"mlx4x-ctl {' '.join(words)}: {done.stderr}")
        return done.stdout + done.stderr

    def statistics(self, index):
        text = self.vsctl("get", "interface", f"p{index}", "statistics")
        return {name.strip(): int(value) for name, value in
                (pair.split("=") for pair in text.strip("{}\n").split(","))}

    def stop(self):
        done = self.bed.run("ovs-appctl", "-t", self.bed.path("switch.ctl"), "exit", timeout=30)
        check_equal(done.returncode, 0, "the end of the switch")
        check_equal(self.card.finish(30), 0, "exit status of the switch")


def iperf(hosts, *words):
    """Bytes that iperf3 moved from host 1 to host 2."""
    server = Process(["ip", "netns", "exec", hosts.names[1], "iperf3", "-s", "-1"])
    hosts.bed.register(server)
    server.wait_for("Server listening")
    done = hosts.on(1, "iperf3", "-c", "10.9.0.2", "-t", "2", "-J", *words)
    check_equal(done.returncode, 0, f"iperf3 {words}: {done.stdout[-300:]}")
    server.finish()
    end = json.loads(done.stdout)["end"]
    return end.get("sum_received", end.get("sum"))["bytes"]


def run_programs(hosts, switch):
    """mlx4x-ctl gives programs to the ports of the switch: one passes, one drops, and they go."""
    said = switch.ctl("load", "0", PASS, status=1)
    check(re.search(rf"MTU {MTU} is above \d+", said), f"no program at MTU {MTU}: {said}")
    switch.set_mtu(1500)
    switch.ctl("load", "0", PASS)
    check(hosts.reaches(), "an answer through a program that passes")
    switch.ctl("load", "0", DROP, "--replace")
    check("xdp_drop" in switch.ctl("status"), "the program in the status")
    check(not hosts.reaches(), "no answer through a program that drops")
    counters = list(json.loads(switch.ctl("-j", "stats", "0")).values())[0]
    check(counters["rx_xdp_pass"] > 0 and counters["rx_xdp_drop"] > 0, f"verdicts in {counters}")
    switch.ctl("unload", "0", "--all")
    wait_until(hosts.reaches, "an answer without the program", 20)
    switch.set_mtu(MTU)


def require_switch(bed):
    bed.require_root()
    bed.require_hugepages(600)
    for program in (SWITCH, SCHEMA, "/usr/bin/iperf3"):
        if not os.path.exists(program):
            raise Skip(f"needs {program}")


def test_forwarding(bed):
    require_switch(bed)
    hosts = Hosts(bed)
    switch = Switch(bed, hosts.wires)
    for index in (0, 1):
        switch.add_port(index)
    wait_until(hosts.reaches, "a first answer", 30)
    for words in ((), ("-s", "1400"), ("-s", str(MTU - 28), "-M", "do")):
        done = hosts.ping(50, *words)
        check(" 0% packet loss" in done.stdout, f"ping {words}: {done.stdout[-300:]}")
    check(iperf(hosts) > 1000000, "a megabyte by TCP")
    check(iperf(hosts, "-R") > 1000000, "a megabyte by TCP, the other way")
    check(iperf(hosts, "-u", "-b", "20M") > 1000000, "a megabyte by UDP")
    for index in (0, 1):	# which the switch reads every five seconds
        wait_until(lambda: switch.statistics(index)["rx_bytes"] > 1000000,
                   f"a megabyte in the counters of port {index}", 20)
        statistics = switch.statistics(index)
        check_equal(statistics["rx_errors"] + statistics["tx_errors"], 0, "errors")
    run_programs(hosts, switch)
    for round_ in range(3):
        for index in ((0, 1) if round_ == 2 else (round_,)):
            switch.vsctl("del-port", "br0", f"p{index}")
        check(not hosts.reaches(), "no way without the port")
        for index in ((0, 1) if round_ == 2 else (round_,)):
            switch.add_port(index)
        wait_until(hosts.reaches, f"an answer after port {round_} came back", 30)
    for index in (0, 1):
        switch.vsctl("del-port", "br0", f"p{index}")
    # The switch stops ports that it did not attach itself, but does not close them.
    census = switch.card.counters()["census"]
    check_equal([census[name] for name in ("wq", "table", "flow")], [0, 0, 0],
                f"objects of stopped ports in {census}")
    switch.stop()


if __name__ == "__main__":
    testbed.main(globals())
