#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Filters, RSS and rte_flow of net_mlx4x as a user of testpmd meets them, and when the card refuses.

What each rule does to traffic is the matter of driver/; here it is the commands.
"""

import errno
import os
import re

from scapy.all import IP, UDP, Dot1Q, Ether, Raw, wrpcap

from lib import bed as testbed
from lib.bed import Testpmd, build_dir, check, check_equal, wait_until

MAC = "00:02:c9:00:00:01"
SECOND = "02:00:00:00:00:01"
GROUP = "01:00:5e:00:00:05"
OTHER = "02:00:00:00:00:99"
BROADCAST = "ff:ff:ff:ff:ff:ff"
DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")


def udp(dst, vlan=None, ip_dst="10.0.0.9"):
    tag = Ether(dst=dst, src=OTHER) / Dot1Q(vlan=vlan) if vlan else Ether(dst=dst, src=OTHER)
    return tag / IP(src="10.0.0.1", dst=ip_dst) / UDP(sport=1, dport=53) / Raw(b"x" * 30)


class Receiver(Testpmd):
    """One port in rxonly mode, and frames that come when play() is called."""

    def __init__(self, bed, frames, args=()):
        bed.require_hugepages()
        wrpcap(bed.path("in.pcap"), frames)
        super().__init__(bed, ["--strict", "--ports", "1", "--wire",
                               f"1=pcap:rx={bed.path('in.pcap')},loop=1,hold=1"],
                         ["--forward-mode=rxonly", *args], driver=DRIVER)
        # Promiscuous is what testpmd wants of every port; here it would hide the rest.
        self.cmd("set promisc 0 off")
        self.nb_frames = len(frames)

    def play(self):
        """All frames once; [(destination, queue)] of those that arrived, in order."""
        self.cmd("set verbose 1")
        start = len(self.output)
        self.cmd("start")
        self.ctl("go")
        wait_until(lambda: sum(self.port_counters(1)[name] for name in (
            "rx_frames", "rx_drop_no_rule", "rx_drop_by_rule")) == self.nb_frames,
                   "every frame", 20)
        nb_taken = self.port_counters(1)["rx_frames"]
        found = wait_until(lambda: self.read(0.1) and len(packets := re.findall(
            r"dst=([0-9A-F:]+) .*Receive queue=0x(\w+)", self.output[start:])) >= nb_taken
            and packets, f"{nb_taken} packets", 20)
        self.cmd("stop")
        return [(dst.lower(), int(queue, 16)) for dst, queue in found]

    def refuse(self, text, nth=1):
        """What a command prints of which the nth rule is refused by the card."""
        self.ctl("fail", "CREATE_FLOW", str(nth), str(errno.ENOMEM))
        return self.cmd(text)

    def end(self):
        self.quit()
        counters = self.final_counters()
        check_equal({name: nb for name, nb in counters["census"].items() if nb}, {},
                    "objects at the end")
        check_equal(counters["violations"]["total"], 0, f"violations {counters['violations']}")


def test_addresses_and_vlans(bed):
    """mac_addr, mcast_addr, rx_vlan; they survive a stop of the port."""
    frames = [udp(dst, vlan) for vlan in (None, 5, 6, 7)
              for dst in (MAC, SECOND, GROUP, OTHER, BROADCAST)]
    pmd = Receiver(bed, frames, ["--enable-hw-vlan-filter"])
    pmd.cmd(f"mac_addr add 0 {SECOND}")
    check(SECOND.upper() in pmd.cmd("show port 0 macs"), "the address in the list")
    pmd.cmd(f"mcast_addr add 0 {GROUP}")
    check(GROUP.upper() in pmd.cmd("show port 0 mcast_macs"), "the group in the list")
    for command in ("rx_vlan add 5 0", "rx_vlan add 6 0", "rx_vlan add 7 0", "rx_vlan rm 7 0"):
        check_equal(pmd.cmd(command).strip(), "", command)
    pmd.cmd("port stop 0")
    pmd.cmd("port start 0")
    pmd.cmd("set promisc 0 off")
    got = [dst for dst, _ in pmd.play()]
    check_equal(got, [MAC, SECOND, GROUP, BROADCAST] * 2, "destinations, VLANs 5 and 6")
    pmd.end()


def test_vlan_filter_while_running(bed):
    """Switched on and off; without a VLAN in the list it keeps nothing out."""
    pmd = Receiver(bed, [udp(MAC), udp(MAC, 5), udp(MAC, 6)])
    pmd.cmd("vlan set filter on 0")
    check("filter on" in pmd.cmd("show port info 0"), "filter on")
    pmd.cmd("rx_vlan add 5 0")
    check_equal(len(pmd.play()), 1, "frames")
    pmd.end()


def test_rss_commands(bed):
    """rss-hash key and types, the redirection table, three queues."""
    pmd = Receiver(bed, [udp(MAC)], ["--rxq=4", "--txq=4"])
    key = "6d5a" * 20
    check_equal(pmd.cmd(f"port config 0 rss-hash-key ipv4-udp {key}").strip(), "", "new key")
    check(key.upper() in pmd.cmd("show port 0 rss-hash key"), "the key")
    functions = pmd.cmd("show port 0 rss-hash")
    check("ipv4-udp" in functions and "ipv6-udp" not in functions, f"the types: {functions}")
    check("error" not in pmd.cmd("port config all rss all").lower(), "all types")
    text = pmd.cmd("show port 0 rss-hash")
    check("ipv6-tcp" in text and "ipv4-frag" in text, f"all types: {text}")
    size = int(re.search(r"Redirection table size: (\d+)", pmd.cmd("show port info 0")).group(1))
    masks = ",".join(["0xffffffffffffffff"] * max(size // 64, 1))
    table = pmd.cmd(f"show port 0 rss reta {size} ({masks})")
    check_equal([int(queue) for queue in re.findall(r"queue=(\d+)", table)],
                [i % 4 for i in range(size)], "redirection table")
    text = pmd.cmd("port config 0 rss reta (0,3)")
    check("entry 0 of the redirection table cannot be queue 3" in text, f"a sentence: {text}")
    pmd.cmd("port stop all")
    pmd.cmd("port config all rxq 3")
    text = pmd.cmd("port start all")
    check("of 3 Rx queues the first 2 share the traffic" in text, f"a sentence: {text}")
    pmd.end()


def test_flow_commands(bed):
    """create, list, destroy, flush; what a rule takes goes where it says."""
    pmd = Receiver(bed, [udp(MAC, None, f"10.0.0.{i}") for i in range(1, 5)] +
                   [udp(OTHER, 7), udp(MAC, 7)], ["--rxq=4", "--txq=4"])
    text = pmd.cmd("flow validate 0 ingress pattern eth / ipv4 dst is 10.0.0.1 / "
                   "udp dst is 53 / end actions queue index 1 / end")
    check("Flow rule validated" in text, text)
    rules = ["pattern eth / ipv4 dst is 10.0.0.1 / udp dst is 53 / end actions queue index 1",
             "pattern eth / ipv4 dst is 10.0.0.2 / end actions drop",
             "pattern eth / ipv4 dst is 10.0.0.3 / end actions rss queues 2 3 end "
             f"types ipv4-udp end key {'00' * 40} key_len 40",
             "pattern eth / vlan vid is 7 / end actions queue index 3",
             f"pattern eth dst is {MAC} / vlan vid is 7 / end actions drop"]
    for number, rule in enumerate(rules):
        check(f"Flow rule #{number} created" in pmd.cmd(f"flow create 0 ingress {rule} / end"),
              f"rule {number}")
    check_equal(len(re.findall(r"^\d\s", pmd.cmd("flow list 0"), re.M)), 5, "rules in the list")
    check("#4 destroyed" in pmd.cmd("flow destroy 0 rule 4"), "rule 4 destroyed")
    got = dict.fromkeys(range(4), 0)
    for _, queue in pmd.play():
        got[queue] += 1
    check_equal((got[1], got[2] >= 1, got[3] >= 2), (1, True, True), f"frames per queue {got}")
    check_equal(sum(got.values()), 5, "frames, of which one is dropped")
    pmd.cmd("flow flush 0")
    check_equal(re.findall(r"^\d\s", pmd.cmd("flow list 0"), re.M), [], "rules in the list")
    pmd.end()


def test_flow_refusals(bed):
    """The sentence of each limit reaches the user of testpmd."""
    pmd = Receiver(bed, [udp(MAC)])
    for rule, sentence in (
            ("egress pattern eth / end actions drop", "egress is not possible"),
            ("ingress pattern eth / end actions mark id 1 / queue index 0",
             "neither marks, counts nor changes frames"),
            ("ingress pattern eth / ipv6 / end actions drop",
             "the device knows eth, vlan, ipv4, tcp and udp"),
            ("ingress pattern eth type is 0x8809 / end actions queue index 0",
             "LACP by destination MAC 01:80:c2:00:00:02"),
            ("ingress pattern eth / end actions rss queues 0 end types ipv4-sctp end",
             "the device hashes IPv4 and IPv6 addresses and TCP and UDP ports")):
        text = pmd.cmd(f"flow create 0 {rule} / end")
        check(sentence in text, f"{rule}: {text}")
    text = pmd.cmd("flow create 0 ingress pattern eth dst is 01:80:c2:00:00:02 / end "
                   "actions queue index 0 / end")
    check("Flow rule #0 created" in text, f"LACP by its address: {text}")
    pmd.end()


def test_isolated_mode(bed):
    """Only rules of the application count, promiscuous mode or not; and back."""
    pmd = Receiver(bed, [udp(MAC), udp(OTHER), udp(SECOND), udp(BROADCAST)])
    for _ in range(2):
        pmd.cmd("flow isolate 0 1")
        pmd.cmd("flow isolate 0 0")
    check("now restricted" in pmd.cmd("flow isolate 0 1"), "isolated")
    pmd.cmd("set promisc 0 on")
    pmd.cmd("set allmulti 0 on")
    pmd.cmd(f"flow create 0 ingress pattern eth dst is {SECOND} / end actions queue index 0 / end")
    check_equal([dst for dst, _ in pmd.play()], [SECOND], "frames")
    pmd.end()


def test_refused_by_the_card(bed):
    """A rule that the card refuses is told, and all is as it was before."""
    pmd = Receiver(bed, [udp(MAC), udp(OTHER), udp(SECOND), udp(GROUP), udp(BROADCAST)],
                   ["--rxq=2", "--txq=2"])
    text = pmd.refuse("set promisc 0 on")
    check("the device refuses the rule for promiscuous mode: Cannot allocate memory" in text, text)
    check("Promiscuous mode: disabled" in pmd.cmd("show port info 0"), "mode unchanged")
    text = pmd.refuse("set allmulti 0 on")
    check("the device refuses the rule for all-multicast mode" in text, text)
    check("Allmulticast mode: disabled" in pmd.cmd("show port info 0"), "mode unchanged")
    text = pmd.refuse(f"mac_addr add 0 {SECOND}")
    check(f"the device refuses the rule for {SECOND.upper()}" in text, text)
    check(SECOND not in pmd.cmd("show port 0 macs"), "address not in the list")
    text = pmd.refuse(f"mcast_addr add 0 {GROUP}")
    check(f"the device refuses the rule for {GROUP.upper()}" in text, text)
    text = pmd.refuse("flow create 0 ingress pattern eth / end actions drop / end")
    check("the device refuses the rule: it has no room" in text, text)
    text = pmd.refuse(f"port config 0 rss-hash-key ipv4 {'11' * 40}", nth=2)
    check("the receive hash stays as it is: Cannot allocate memory" in text, text)
    check("11" * 40 not in pmd.cmd("show port 0 rss-hash key"), "key unchanged")
    pmd.cmd("port stop 0")
    text = pmd.refuse("port start 0", nth=2)
    check("the device refuses the rule for" in text, text)
    pmd.cmd("port start 0")
    pmd.cmd("set promisc 0 off")
    check_equal([dst for dst, _ in pmd.play()], [MAC, BROADCAST], "frames")
    pmd.end()


if __name__ == "__main__":
    testbed.main(globals())
