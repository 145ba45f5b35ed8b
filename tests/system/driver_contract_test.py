#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the hardware and ethdev ask of a driver, for two drivers: --driver stock | mlx4x.

Each test asserts the contract. Where Debian's stock driver is known to be wrong, the deviation has
a name below, and the test then asserts that it shows: a model that hides a driver's bug is wrong
too. A deviation that is gone fails, so that the list stays true.
"""

import os
import random
import re
import sys

from scapy.all import UDP, Ether

from lib import bed as testbed
from lib.bed import PCI_ADDRESS, Card, Testpmd, build_dir, check, check_equal, wait_until
from lib.frames import MAC, OTHER, read_capture, udp, write_capture

DRIVERS = {
    "stock": "stock",
    "mlx4x": os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so"),
}
DRIVER = sys.argv[sys.argv.index("--driver") + 1]
# What both hash with unless told, 40 bytes.
RSS_KEY = "2cc681d15bdbf4f7fca28319db1a3e946b9e38d92c9c03d1ad9944a7d9563d59063c25f3fc1fdc2a"

# Places in DPDK 22.11's drivers/net/mlx4.
STOCK_DEVIATIONS = {
    "rss-flag": "mlx4_rx_burst() assigns the checksum flags over RTE_MBUF_F_RX_RSS_HASH",
    "hash-order": "mlx4_rx_burst() hands the hash up in the byte order of the card",
    "error-cqe": "mlx4_cq_poll_one() does not look for error completions",
    "send-error": "mlx4_txq_complete() takes an error for a success; the queue is dead",
    "shortage": "mlx4_tx_burst() keeps sent mbufs until their slot comes again",
    "shortage-damage": "mlx4_rx_burst() loses its place when it has no mbuf amid a packet",
    "checksum-unasked": "mlx4_tx_burst() asks for the L4 checksum when only IP's is wanted",
    "rx-length": "mlx4_dev_infos_get() reports 65536 bytes for a card of 9.9 kB",
    "rss-conf": "its table of operations has no rss_hash_conf_get",
    "infiniband-port": "a second port in InfiniBand mode takes the device from the first",
    "link-event-port": "mlx4_collect_interrupt_events() does not look at the event's port",
}


def contract(name, holds, sentence):
    """The driver fulfils this; or it is the stock driver, and this is a known deviation."""
    if DRIVER == "stock" and name in STOCK_DEVIATIONS:
        check(not holds, f"the stock driver has lost its deviation {name}: {sentence}")
        print(f"    known deviation {name}: {STOCK_DEVIATIONS[name]}")
    else:
        check(holds, f"{name}: {sentence}")


def start_testpmd(bed, options, args=(), **keywords):
    bed.require_hugepages()
    return Testpmd(bed, ["--strict", *options], args, driver=DRIVERS[DRIVER], **keywords)


def play(bed, frames, args, commands=(), options=(), waiting=0, stall=False, **keywords):
    """testpmd that forwards and gets these frames at port 0, some before it looks.

    With stall nothing is sent before `resume`.
    """
    path = write_capture(bed.path("in.pcap"), frames)
    pmd = start_testpmd(bed, [*options, "--wire", f"1=pcap:rx={path},loop=1,hold=1",
                              "--wire", f"2=pcap:tx={bed.path('out.pcap')}"], args, **keywords)
    for command in commands:
        pmd.cmd(command)
    if waiting > 0:
        pmd.ctl("go")
        wait_until(lambda: pmd.port_counters(1)["rx_frames"] >= waiting, "frames that wait")
    for queue in pmd.counters()["qps"] if stall else []:
        pmd.ctl("stall", "sq", str(queue["qpn"]))
    pmd.cmd("start")
    if waiting == 0:
        pmd.ctl("go")
    return pmd


def shown_packets(bed, args, nb):
    """The lines of `set verbose 1` about nb frames of different addresses, with the frames."""
    frames = [udp(b"shown" * 10, ident=i) for i in range(nb)]
    for i, frame in enumerate(frames):
        frame["IP"].src = f"10.1.{i}.{7 * i + 1}"
    pmd = play(bed, frames, ["--forward-mode=rxonly", "--rxq=2", "--txq=2", *args],
               ["set verbose 1"])
    wait_until(lambda: pmd.read(0.1) and pmd.output.count("ol_flags:") >= nb, "packets shown")
    lines = [text for text in re.split(r"(?=src=)", pmd.output) if "ol_flags" in text]
    pmd.cmd("stop")
    pmd.quit()
    return lines, frames


def toeplitz(data):
    """Microsoft's definition: the 32 bits of the key at each bit that is set."""
    key, bits = int(RSS_KEY, 16), 4 * len(RSS_KEY)
    value = 0
    for i in range(8 * len(data)):
        if data[i // 8] >> (7 - i % 8) & 1:
            value ^= key >> (bits - 32 - i) & 0xffffffff
    return value


def test_rss_hash(bed):
    lines, frames = shown_packets(bed, [], 8)
    by_source = {frame["IP"].src: frame for frame in frames}
    wanted = {toeplitz(bytes(frame["IP"])[12:20]) for frame in by_source.values()}
    got = {int(value, 16) for line in lines for value in re.findall("RSS hash=0x([0-9a-f]+)", line)}
    contract("hash-order", got == wanted, f"hashes {got}, want {wanted}")
    lines, _ = shown_packets(bed, ["--enable-rx-cksum"], 8)
    check(all("IP_CKSUM_GOOD" in line for line in lines), f"checksum flags: {lines}")
    contract("rss-flag", all("RX_RSS_HASH" in line for line in lines), f"flags: {lines}")


def happens(condition):
    """Whether it becomes true in time, and before testpmd dies of it."""
    try:
        # What the stock driver does not do never happens: no need to wait as for a busy machine.
        return bool(wait_until(condition, "", 4 if DRIVER == "stock" else 30))
    except (testbed.Failure, KeyError):
        return False


def test_receive_errors(bed):
    """As many error completions as the ring is long; then frames as before."""
    pmd = start_testpmd(bed, ["--ports", "1", "--wire",
                              "1=gen:size=60,flows=1,count=5000,rate=10000,hold=1"],
                        ["--forward-mode=rxonly", "--rxd=64"])
    pmd.ctl("inject", "rx_error:port=1,count=64,msb=0")
    pmd.cmd("start")
    pmd.ctl("go")
    wait_until(lambda: pmd.port_counters(1)["rx_drop_error"] == 64, "64 errors")
    holds = happens(lambda: pmd.stats(0)["RX-packets"] == 5000 - 64 and
                    pmd.stats(0)["RX-errors"] == 64)
    contract("error-cqe", holds, f"64 errors and 4936 packets: {pmd.stats(0)}")
    pmd.kill()


def test_send_error(bed):
    """One send ends in error: it is counted, and the queue sends again."""
    pmd = start_testpmd(bed, ["--ports", "1", "--wire", "1=sink"], ["--forward-mode=txonly"])
    pmd.cmd("start")
    wait_until(lambda: pmd.port_counters(1)["tx_frames"] > 1000, "frames")
    before = pmd.port_counters(1)["tx_frames"]
    pmd.ctl("inject", "tx_error:port=1,syndrome=4")
    contract("send-error", happens(lambda: pmd.stats(0)["TX-errors"] > 0 and
                                   pmd.port_counters(1)["tx_frames"] > before + 10000),
             "the error is counted and the queue recovers")
    pmd.kill()


# Jumbo frames that fit into a ring of 512 mbufs; the stock driver takes 8 for each.
JUMBO_RING = 512 // 8


def play_jumbo(bed, nb, tx_depth, spare, stall=False):
    """Frames of several mbufs, from a pool that has few more than the rings take: it runs dry."""
    source = random.Random(9)
    sent = [udp(source.randbytes(8900), ident=i) for i in range(nb)]
    pmd = play(bed, sent, ["--forward-mode=io", "--max-pkt-len=9018", "--enable-scatter",
                           "--rxd=512", f"--txd={tx_depth}", "--mbcache=0", "--burst=64",
                           "--tx-offloads=0x8000"],
               options=["--mtu", "9000"], waiting=JUMBO_RING, stall=stall,
               mbufs=2 * 512 + spare)
    return pmd, sent


def all_sent(pmd, nb):
    """Whether nb frames went out. If not, frees what was sent, which testpmd itself does only
    when it sends: with every mbuf in the Tx ring it would receive nothing and stand still."""
    if pmd.port_counters(2)["tx_frames"] == nb:
        return True
    for command in ("stop", "port cleanup 1 txq 0 0", "start"):
        pmd.cmd(command)
    return False


def test_mbuf_shortage(bed):
    """The pool runs dry amid packets. All frames come out in the end, none is damaged."""
    pmd, sent = play_jumbo(bed, 400, tx_depth=1024, spare=40, stall=True)
    wait_until(lambda: pmd.stats(0)["RX-nombuf"] > 0, "a pool that is dry")
    pmd.ctl("resume")
    holds = happens(lambda: all_sent(pmd, len(sent)))
    pmd.kill()
    out = read_capture(bed.path("out.pcap"))
    holds = holds and out == [bytes(frame) for frame in sent]
    contract("shortage", holds, f"400 frames as they were sent: {len(out)} came")


def test_damage_after_shortage(bed):
    """Whatever a dry pool and a short Tx ring let through is a frame that was sent."""
    pmd, sent = play_jumbo(bed, 1000, tx_depth=64, spare=346)
    wait_until(lambda: pmd.port_counters(1)["rx_frames"] == 1000, "1000 frames taken", 30)
    pmd.cmd("stop")
    dry = pmd.stats(0)["RX-nombuf"]
    pmd.kill()
    out, good = read_capture(bed.path("out.pcap")), {bytes(frame) for frame in sent}
    damaged = sum(frame not in good for frame in out)
    check(len(out) > 100, f"frames came out: {len(out)}")
    contract("shortage-damage", damaged == 0,
             f"{damaged} of {len(out)} frames are damaged; the pool was dry {dry} times")


def test_unasked_checksum(bed):
    """A UDP checksum of 0 (none) stays when only the IP checksum is asked for."""
    frames = [udp(b"none" * 15, ident=i) for i in range(20)]
    for frame in frames:
        frame[UDP].chksum = 0
    pmd = play(bed, frames, ["--forward-mode=csum"],
               ["port stop all", "csum set ip hw 1", "csum set udp sw 1", "csum mac-swap off 1",
                "port start all"])
    wait_until(lambda: pmd.port_counters(2)["tx_frames"] == 20, "20 frames out")
    pmd.quit()
    out = read_capture(bed.path("out.pcap"))
    contract("checksum-unasked", out == [bytes(frame) for frame in frames],
             "frames are sent as the application made them")


def test_longest_frame(bed):
    """The length that the driver reports can be had."""
    pmd = start_testpmd(bed, ["--ports", "1", "--wire", "1=sink"])
    text = pmd.cmd("show port info 0")
    length = int(re.search(r"Maximum configurable length of RX packet: (\d+)", text).group(1))
    contract("rx-length", length <= 10000, f"the longest frame is of {length} bytes")
    pmd.quit()


def test_rss_hash_is_told(bed):
    pmd = start_testpmd(bed, ["--ports", "1", "--wire", "1=sink"], ["--rxq=2", "--txq=2"])
    text = pmd.cmd("show port 0 rss-hash key")
    contract("rss-conf", RSS_KEY.upper() in text, f"the key in force: {text}")
    pmd.quit()


def test_rx_interrupts(bed):
    """A program that sleeps gets every packet, an event for each time it slept, none when quiet."""
    bed.require_hugepages()
    plugin = [] if DRIVER == "stock" else ["-d", DRIVERS[DRIVER]]
    card = Card(bed, ["--strict", "--ports", "1", "--wire",
                      "1=gen:size=60,flows=64,count=3000,rate=3000,hold=1"],
                [os.path.join(build_dir(), "tests", "system", "rx_interrupts"), *plugin, "-l", "0",
                 "-m", "64", "--in-memory", "--no-telemetry", "-a", PCI_ADDRESS, "--", "3000"])
    card.wait_for("quiet: 0 events", 30)
    card.ctl("go")
    card.wait_for("queue 1: .* interrupts", 30)
    check_equal(card.finish(), 0, "exit status")
    queues = [tuple(map(int, found)) for found in
              re.findall(r"queue \d: (\d+) packets (\d+) interrupts", card.output)]
    check_equal(sum(packets for packets, _ in queues), 3000, "packets")
    check(all(packets > 500 and nb > 10 for packets, nb in queues), f"both queues slept: {queues}")
    device = card.final_counters()["device"]
    check(device["completion_events"] >= sum(nb for _, nb in queues), f"events: {device}")
    check(device["cq_arms"] >= device["completion_events"], f"no event without arming: {device}")


def test_infiniband_port(bed):
    """The Ethernet port works beside one that is in InfiniBand mode."""
    try:
        pmd = start_testpmd(bed, ["--infiniband", "2", "--wire", "1=self"], ["--forward-mode=io"])
        pmd.cmd("start tx_first")
        wait_until(lambda: pmd.stats(0)["RX-packets"] > 1000, "frames")
        pmd.cmd("stop")
        pmd.quit()
        works = True
    except testbed.Failure as error:
        check("port 2 is not configured in Ethernet mode" in str(error), f"its reason: {error}")
        works = False
    contract("infiniband-port", works, "the other port works")


def test_link_event_names_its_port(bed):
    pmd = start_testpmd(bed, ["--wire", "1=sink", "--wire", "2=sink"])
    start = len(pmd.output)
    pmd.ctl("link", "1", "down")
    pmd.wait_for("Port 0: link state change event", start=start)
    pmd.ctl("link", "2", "down")
    wait_until(lambda: not pmd.link_up(1), "the other link is down")
    pmd.wait_for("Port 1: link state change event", start=start)
    events = re.findall("Port ([01]): link state change event", pmd.output[start:])
    contract("link-event-port", events == ["0", "1"], f"events of ports {events}")
    pmd.quit()


if __name__ == "__main__":
    testbed.main(globals())
