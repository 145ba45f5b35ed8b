#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What people type into testpmd when they try a driver, and what they expect to see.

The numbers of the tests are rows of a checklist. Rows about rules and RSS (17 to 20, 22, 26, 39
to 43) are in mlx4x_rules_test.py, those about frames that pass and queues (10, 11, 27 to 31, 50) in
mlx4x_testpmd_test.py, those about ports that come and go (38, 49) in mlx4x_probe_test.py; all of
them end with 51, quit, and nothing is left in the card.
"""

import os
import re

from lib import bed as testbed
from lib.bed import Testpmd, build_dir, check, check_equal, wait_until

DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")
NAME = "0000:03:00.0_port"


def start(bed, options=(), args=(), **keywords):
    bed.require_hugepages()
    return Testpmd(bed, ["--strict", *options], args, driver=DRIVER, **keywords)


def end(pmd):
    pmd.quit()
    census = pmd.final_counters()["census"]
    check_equal({name: nb for name, nb in census.items() if nb}, {}, "objects at the end")


def expect(pmd, command, *wanted):
    """Each regular expression matches in the answer."""
    text = pmd.cmd(command)
    for pattern in wanted:
        check(re.search(pattern, text, re.M), f"{command}: no {pattern!r} in {text}")
    return text


def test_information(bed):
    """1, 2, 3, 7, 8, 9, 15, 35 to 37: what a port says of itself."""
    pmd = start(bed, args=["--rxq=2", "--txq=2"])
    text = expect(pmd, "show port info 0", "Driver name: net_mlx4x", "Firmware-version: 2.42.5000",
                  "Link speed: 40 Gbps", "Max possible RX queues: [1-9]",
                  "Minimum size of RX buffer: 14", "MTU: 1500", "Hash key size in bytes: 40",
                  "Max possible number of RXDs per queue: [1-9]", "Min possible number of RXDs")
    longest = int(re.search(r"Maximum configurable length of RX packet: (\d+)", text).group(1))
    check(9600 < longest < 10000, f"longest packet {longest}")
    expect(pmd, "show port summary all", f"^0 .*{NAME}0 +net_mlx4x +up +40 Gbps",
           f"^1 .*{NAME}1 +net_mlx4x +up +40 Gbps")
    expect(pmd, "show device info all", "Device name: 0000:03:00.0", f"{NAME}0", f"{NAME}1")
    receive = "VLAN_STRIP IPV4_CKSUM UDP_CKSUM TCP_CKSUM VLAN_FILTER SCATTER TIMESTAMP " \
              "KEEP_CRC RSS_HASH"
    expect(pmd, "show port 0 rx_offload capabilities", *receive.split())
    send = "VLAN_INSERT IPV4_CKSUM UDP_CKSUM TCP_CKSUM TCP_TSO MULTI_SEGS MBUF_FAST_FREE"
    expect(pmd, "show port 0 tx_offload capabilities", *send.split())
    expect(pmd, "show port 0 rx_offload configuration", "Port : *RSS_HASH")
    expect(pmd, "show port 0 ptypes", "L2_ETHER", "L3_IPV4_EXT_UNKNOWN", "L3_IPV6_EXT_UNKNOWN",
           "L4_TCP", "L4_UDP", "L4_FRAG", "L4_NONFRAG")
    expect(pmd, "show port 0 flow_ctrl", "Rx pause: o", "Tx pause: o")
    expect(pmd, "show port 0 module_eeprom", "^00000000: 0D 00", "76 63 78 33",
           "Finish -- Port: 0 MODULE EEPROM length: 256 bytes")
    expect(pmd, "show port 0 eeprom", "not supported")
    expect(pmd, "show port 0 fec capabilities", "not implemented|not supported")
    end(pmd)


def test_descriptors(bed):
    """12, 13, 14: states of descriptors."""
    pmd = start(bed, ["--ports", "1", "--wire", "1=gen:size=60,flows=1,count=5,hold=1"])
    expect(pmd, "show port 0 rxq 0 desc 0 status", "AVAILABLE")
    expect(pmd, "show port 0 rxq 0 desc used count", "0$")
    pmd.cmd("set promisc 0 on")
    pmd.ctl("go")
    wait_until(lambda: "DONE" in pmd.cmd("show port 0 rxq 0 desc 4 status"), "5 frames")
    expect(pmd, "show port 0 rxq 0 desc 5 status", "AVAILABLE")
    expect(pmd, "show port 0 rxq 0 desc used count", "5$")
    expect(pmd, "show port 0 txq 0 desc 0 status", "DONE")
    end(pmd)


def test_statistics(bed):
    """4, 5, 6, 44: counters count, and are zero after clear; zeros can be hidden."""
    pmd = start(bed)
    pmd.cmd("start tx_first 32")
    wait_until(lambda: pmd.stats(0)["RX-packets"] > 2000, "traffic")
    text = pmd.cmd("stop")
    check("Bad-ipcsum" not in text or "Bad-ipcsum: 0" in text, text)
    for index in (0, 1):
        stats = pmd.stats(index)
        check(stats["TX-packets"] > 2000, f"{stats}")
        check_equal(stats["RX-errors"] + stats["TX-errors"] + stats["RX-nombuf"], 0, "errors")
        pmd.cmd(f"clear port stats {index}")
        check_equal(set(pmd.stats(index).values()), {0}, "counters after clear")
        # Not cleared with them. The kernel reads the port's counters four times a second.
        wait_until(lambda: pmd.xstats(index)["rx_phy_packets"] > 2000, "the port's counters")
        xstats = pmd.xstats(index)
        pmd.cmd("set xstats-hide-zero on")
        shown = pmd.xstats(index)
        check("rx_phy_packets" in shown and 0 not in shown.values(), f"hidden zeros: {shown}")
        pmd.cmd("set xstats-hide-zero off")
        pmd.cmd(f"clear port xstats {index}")
        cleared = pmd.xstats(index)
        check_equal(list(cleared), list(xstats), "names after clear")
        check_equal(set(cleared.values()), {0}, "extended counters after clear")
    end(pmd)


def names_of(text):
    return re.findall(r"^(\w+): \d+$", text, re.M)


def test_extended_statistics(bed):
    """5, 6: generic names first, the same at every time; clear; those that are zero are hidden."""
    pmd = start(bed, args=["--rxq=2", "--txq=2"])
    pmd.cmd("start tx_first 32")
    wait_until(lambda: pmd.xstats(0)["rx_q0_packets"] > 1000, "traffic")
    pmd.cmd("stop")
    names = names_of(pmd.cmd("show port xstats 0"))
    generic = ["rx_good_packets", "tx_good_packets", "rx_good_bytes", "tx_good_bytes",
               "rx_missed_errors", "rx_errors", "tx_errors", "rx_mbuf_allocation_errors"]
    check_equal(names[:8], generic, "first names")
    check_equal(len(set(names)), len(names), "names that differ")
    for name in ("rx_q1_packets", "tx_q1_bytes", "rx_q0_xdp_drop", "rx_phy_packets"):
        check(name in names, f"{name} in {names}")
    pmd.cmd("set xstats-hide-zero on")
    shown = pmd.xstats(0)
    check(shown["rx_good_packets"] > 1000 and 0 not in shown.values(), f"{shown}")
    pmd.cmd("clear port xstats 0")
    check_equal(pmd.xstats(0), {}, "shown after clear")
    pmd.cmd("set xstats-hide-zero off")
    check_equal(names_of(pmd.cmd("show port xstats 0")), names, "names after clear")
    check_equal(set(pmd.xstats(0).values()), {0}, "values after clear")
    end(pmd)


def test_mac_table(bed):
    """21: addresses come and go, up to as many as the port says."""
    pmd = start(bed, ["--ports", "1", "--wire", "1=sink"])
    size = int(re.search(r"Maximum number of MAC addresses: (\d+)",
                         pmd.cmd("show port info 0")).group(1))
    pmd.cmd("mac_addr add 0 02:00:00:00:00:01")
    expect(pmd, "show port 0 macs", "Number of MAC address added: 2", "02:00:00:00:00:01")
    pmd.cmd("mac_addr remove 0 02:00:00:00:00:01")
    expect(pmd, "show port 0 macs", "Number of MAC address added: 1")
    pmd.cmd("mac_addr set 0 02:00:00:00:00:02")
    expect(pmd, "show port info 0", "MAC address: 02:00:00:00:00:02")
    for number in range(1, size):
        check_equal(pmd.cmd(f"mac_addr add 0 02:00:00:00:01:{number:02x}").strip(), "",
                    f"address {number} of {size}")
    expect(pmd, "mac_addr add 0 02:00:00:00:02:00", "No space left on device")
    expect(pmd, "show port 0 macs", f"Number of MAC address added: {size}$")
    end(pmd)


def test_modes(bed):
    """23: they survive a stop of the port."""
    pmd = start(bed, ["--ports", "1", "--wire", "1=sink"])
    for promisc, allmulti in (("off", "on"), ("on", "off"), ("off", "off"), ("on", "on")):
        for command in (f"set promisc 0 {promisc}", f"set allmulti 0 {allmulti}", "port stop 0",
                        "port start 0"):
            pmd.cmd(command)
        words = {"on": "enabled", "off": "disabled"}
        expect(pmd, "show port info 0", f"Promiscuous mode: {words[promisc]}",
               f"Allmulticast mode: {words[allmulti]}")
    end(pmd)


def test_packet_types(bed):
    """16: with all types asked for they are shown; with none every type is 0."""
    for mask, nb_shown in (("0x0fffffff", 3), ("0", 0)):
        pmd = start(bed, ["--ports", "1", "--wire", "1=gen:size=100,flows=1,count=3,hold=1"],
                    ["--forward-mode=rxonly"])
        for command in ("port stop 0", f"set port 0 ptype_mask {mask}", "port start 0",
                        "set promisc 0 on", "set verbose 1", "start"):
            pmd.cmd(command)
        pmd.ctl("go")
        wait_until(lambda: pmd.stats(0)["RX-packets"] == 3, "3 frames")
        pmd.cmd("stop")
        check_equal(pmd.output.count("hw ptype: L2_ETHER L3_IPV4_EXT_UNKNOWN L4_UDP"), nb_shown,
                    "types shown")
        check_equal(pmd.output.count("hw ptype"), nb_shown, "types shown")
        end(pmd)


def test_mtu(bed):
    """24, 25: an MTU that fits is taken, others are refused with a number."""
    pmd = start(bed, ["--ports", "1", "--wire", "1=sink"])
    pmd.cmd("port stop 0")
    text = expect(pmd, "port config mtu 0 9000", "MTU 9000 take up to 9022 bytes", "holds 2048")
    check("1500" in pmd.cmd("show port info 0"), text)
    expect(pmd, "port config mtu 0 9601", "MTU \\(9601\\) > device max MTU \\(9600\\)")
    pmd.cmd("port config mtu 0 1800")
    check("MTU: 1800" in pmd.cmd("show port info 0"), "MTU 1800")
    pmd.cmd("port start 0")
    pmd.cmd("port stop 0")
    # testpmd configures the port when it starts.
    for command in ("port config 0 rx_offload scatter on", "port start 0", "port stop 0",
                    "port config mtu 0 9600"):
        text = pmd.cmd(command)
    check("MTU: 9600" in pmd.cmd("show port info 0"), f"MTU 9600: {text}")
    expect(pmd, "port start 0", "Done")
    end(pmd)


def test_queue_offload(bed):
    """32: an offload of one send queue."""
    pmd = start(bed, ["--ports", "1", "--wire", "1=self"], ["--txq=2", "--rxq=2"])
    for command in ("port stop 0", "port 0 txq 1 tx_offload multi_segs on", "port start 0"):
        pmd.cmd(command)
    expect(pmd, "show port 0 tx_offload configuration", r"Queue\[ ?1\] :.*MULTI_SEGS")
    pmd.cmd("set txpkts 64,64,64")
    pmd.cmd("set fwd txonly")
    pmd.cmd("start")
    wait_until(lambda: pmd.stats(0)["TX-packets"] > 500, "frames")
    pmd.cmd("stop")
    end(pmd)


def test_send_queue_stop(bed):
    """33: a send queue that is stopped sends nothing, the other goes on; then it sends again."""
    pmd = start(bed, ["--ports", "1", "--wire", "1=sink"],
                ["--txq=2", "--rxq=2", "--forward-mode=txonly", "--nb-cores=1"])

    def sent():
        xstats = pmd.xstats(0)
        return xstats["tx_q0_packets"], xstats["tx_q1_packets"]

    for command, queue_1_sends in (("stop", False), ("start", True)):
        pmd.cmd(f"port 0 txq 1 {command}")
        before = sent()
        pmd.cmd("start")
        wait_until(lambda: sent()[0] > before[0] + 200, "frames of queue 0")
        if queue_1_sends:
            wait_until(lambda: sent()[1] > before[1] + 200, "frames of queue 1")
        pmd.cmd("stop")
        check_equal(sent()[1] > before[1], queue_1_sends, f"queue 1 sends after {command}")
    end(pmd)


def test_module(bed):
    """36: the module's EEPROM as the kernel reads it; the card's own is not for users."""
    pmd = start(bed)
    expect(pmd, "show port 0 module_eeprom", "Finish -- Port: 0 MODULE EEPROM length: [1-9]")
    expect(pmd, "show port 0 eeprom", "not supported|Operation not supported|-95")
    end(pmd)


def test_queue_numbers(bed):
    """34: other numbers of queues; not a power of two is told."""
    pmd = start(bed, ["--ports", "1", "--wire", "1=gen:size=60,flows=64,rate=20000"],
                ["--forward-mode=rxonly"])
    for nb in (3, 4, 1, 2, 5):
        for command in ("port stop 0", f"port config all rxq {nb}", f"port config all txq {nb}"):
            pmd.cmd(command)
        text = pmd.cmd("port start 0")
        check("power of two of queues" in text if nb in (3, 5) else "mlx4x:" not in text, text)
        pmd.cmd("set promisc 0 on")
        before = pmd.stats(0)["RX-packets"]
        pmd.cmd("start")
        wait_until(lambda: pmd.stats(0)["RX-packets"] > before + 200, f"frames on {nb} queues")
        pmd.cmd("stop")
    end(pmd)


def test_flow_control(bed):
    """35: pause frames are the kernel interface's."""
    pmd = start(bed)
    for receive, send in (("off", "on"), ("on", "off"), ("off", "off")):
        pmd.cmd(f"set flow_ctrl rx {receive} tx {send} 300 50 10 1 mac_ctrl_frame_fwd off "
                "autoneg off 0")
        expect(pmd, "show port 0 flow_ctrl", f"Rx pause: {receive}", f"Tx pause: {send}")
        expect(pmd, "show port 1 flow_ctrl", "Rx pause: on", "Tx pause: on")
    end(pmd)


def test_bpf_load(bed):
    """45 to 48: librte_bpf's programs run on the port as on every other, compiled or not."""
    source, program = bed.path("none.c"), bed.path("none.o")
    with open(source, "w", encoding="ascii") as file:
        file.write("unsigned long entry(void *p) { return 0; }\n")
    done = bed.run("clang", "-O2", "-mcpu=v1", "-target", "bpf", "-c", source, "-o", program)
    check_equal(done.returncode, 0, f"clang: {done.stderr}")
    pmd = start(bed, ["--ports", "1", "--wire", "1=gen:size=60,flows=1,rate=20000"],
                ["--forward-mode=io"])
    pmd.cmd("set promisc 0 on")

    def forwarded_of_some_frames():
        """Frames that testpmd sends back while the port receives a hundred."""
        before = pmd.stats(0)
        pmd.cmd("start")
        wait_until(lambda: pmd.stats(0)["RX-packets"] > before["RX-packets"] + 100, "frames")
        pmd.cmd("stop")
        return pmd.stats(0)["TX-packets"] - before["TX-packets"]

    check(forwarded_of_some_frames() > 90, "without a program frames go on")
    expect(pmd, f"bpf-load rx 0 0 J {program}", "0:Success")
    check_equal(forwarded_of_some_frames(), 0, "frames that the program lets pass")
    for _ in range(2):
        pmd.cmd("bpf-unload rx 0 0")
    for way, flags in (("rx", "JM"), ("rx", "M"), ("tx", "-"), ("tx", "J")):
        expect(pmd, f"bpf-load {way} 0 0 {flags} {program}", "0:Success")
        check_equal(forwarded_of_some_frames(), 0, f"frames that pass, {way} {flags}")
        pmd.cmd(f"bpf-unload {way} 0 0")
    expect(pmd, f"bpf-load rx 7 0 J {program}", "-22")
    expect(pmd, f"bpf-load rx 0 9 J {program}", "-22")
    check(forwarded_of_some_frames() > 90, "unloaded, it drops nothing any more")
    end(pmd)


if __name__ == "__main__":
    testbed.main(globals())
