#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Debian's stock mlx4 driver in dpdk-testpmd, unmodified, on the virtual card in strict mode."""

import random

from scapy.all import TCP, UDP, Ether

from lib import bed as testbed
from lib.bed import PCI_ADDRESS, Testpmd, check, check_equal, wait_until
from lib.frames import (MAC, OTHER, ipv6, random_frames, read_capture, tcp, udp,
                        with_broken_checksums, with_right_checksums, write_capture)

GROUP = "01:00:5e:00:00:05"


def start_testpmd(bed, options, args=(), **keywords):
    bed.require_hugepages()
    return Testpmd(bed, ["--strict", *options], args, **keywords)


def end(pmd):
    """Ends testpmd; nothing of it is left in the card and no rule was broken."""
    pmd.quit()
    counters = pmd.final_counters()
    check_equal({name: nb for name, nb in counters["census"].items() if nb}, {},
                "objects at the end")
    check_equal(counters["device"]["live_mpts"], 0, "memory keys at the end")
    check_equal(counters["violations"]["total"], 0, f"violations in {counters['violations']}")


def source(bed, frames, name="in.pcap"):
    """A wire that plays these frames once, when told to go."""
    return f"pcap:rx={write_capture(bed.path(name), frames)},loop=1,hold=1"


def forward(bed, frames, args, options=(), commands=(), nb_out=None):
    """Plays frames into port 0; the bytes of what comes out of port 1."""
    nb_out = len(frames) if nb_out is None else nb_out
    pmd = start_testpmd(bed, [*options, "--wire", f"1={source(bed, frames)}",
                              "--wire", f"2=pcap:tx={bed.path('out.pcap')}"],
                        ["--txd=2048", *args])
    for command in commands:
        pmd.cmd(command)
    pmd.cmd("start")
    pmd.ctl("go")
    wait_until(lambda: pmd.port_counters(2)["tx_frames"] >= nb_out, f"{nb_out} frames out", 20)
    end(pmd)
    return read_capture(bed.path("out.pcap"))


def queue_frames(pmd, nb_queues):
    """Frames that each receive queue got: WQs of one port have consecutive numbers."""
    queues = sorted((queue["qpn"], queue["rx_frames"]) for queue in pmd.counters()["qps"])
    used = [index for index, (_, frames) in enumerate(queues) if frames]
    check(used, "some queue received")
    first = queues[used[0]][0]
    return [dict(queues).get(first + i, 0) for i in range(nb_queues)]


def test_io_pcap_to_pcap(bed):
    """Every byte of every frame, in order, both ways at once."""
    sent = [random_frames(800, MAC[0], 1), random_frames(800, MAC[1], 2)]
    wires = [word for port in (0, 1) for word in
             ("--wire", f"{port + 1}={source(bed, sent[port], f'in{port}.pcap')},"
              f"tx={bed.path(f'out{port}.pcap')}")]
    # Rings that hold all of it: testpmd drops what does not fit.
    pmd = start_testpmd(bed, wires, ["--forward-mode=io", "--txd=2048"])
    pmd.cmd("start")
    pmd.ctl("go")
    wait_until(lambda: all(pmd.port_counters(p)["tx_frames"] == 800 for p in (1, 2)),
               "800 frames out of each port", 20)
    for port in (0, 1):
        check_equal(pmd.stats(port)["RX-packets"], 800, f"packets of port {port}")
    end(pmd)
    for port in (0, 1):
        check_equal(read_capture(bed.path(f"out{1 - port}.pcap")),
                    [bytes(frame) for frame in sent[port]], f"frames into port {port}")


def test_identities(bed):
    """A Pro, a virtual function and a card with CQEs of 32 bytes forward as well."""
    frames = random_frames(200)
    for options in (["--device", "cx3pro"], ["--device", "vf"], ["--cqe-size", "32"]):
        out = forward(bed, frames, ["--forward-mode=io"], options)
        check_equal(out, [bytes(frame) for frame in frames], f"frames with {options}")


def test_infiniband_port(bed):
    """The driver says why it does not take a card whose first port is in InfiniBand mode."""
    pmd = start_testpmd(bed, ["--infiniband", "1", "--wire", "2=self"])
    check("port 1 is not configured in Ethernet mode" in pmd.output, "the driver's sentence")
    check("net_mlx4" not in pmd.cmd("show port summary all"), "no port")
    pmd.quit()


def test_rss_over_four_queues(bed):
    """256 flows of the generator spread over 4 queues; nothing is lost by the device."""
    pmd = start_testpmd(bed, ["--ports", "1",
                              "--wire", "1=gen:size=60,flows=256,count=20000,hold=1"],
                        ["--rxq=4", "--txq=4", "--forward-mode=rxonly"])
    pmd.cmd("start")
    pmd.ctl("go")
    wait_until(lambda: pmd.port_counters(1)["rx_frames"] == 20000, "20000 frames", 20)
    wait_until(lambda: pmd.stats(0)["RX-packets"] == 20000, "their arrival")
    queues = queue_frames(pmd, 4)
    check(min(queues) > 20000 / 4 / 2, f"equal spread: {queues}")
    check_equal(sum(queues), 20000, "frames over all queues")
    end(pmd)


def test_txonly(bed):
    pmd = start_testpmd(bed, ["--ports", "1", "--wire", "1=sink"], ["--forward-mode=txonly"])
    pmd.cmd("start")
    wait_until(lambda: pmd.port_counters(1)["tx_frames"] > 10000, "10000 frames", 20)
    pmd.cmd("stop")
    wait_until(lambda: pmd.port_counters(1)["tx_frames"] == pmd.stats(0)["TX-packets"],
               "all frames that the driver counts")
    counters = pmd.counters()
    check_equal(counters["device"]["error_cqes"], 0, "errors")
    check(counters["device"]["doorbells"] >= 10000 / 32, "a doorbell for each burst")
    end(pmd)


CSUM_COMMANDS = ("port stop all", "csum set ip hw 1", "csum set udp hw 1", "csum set tcp hw 1",
                 "csum mac-swap off 0", "csum mac-swap off 1", "port start all")


def test_checksum_offload(bed):
    """Checksums that the driver asks for are right, IPv4 and IPv6, with and without a tag."""
    good = [frame for vlan in (None, 5) for frame in
            (udp(b"x" * 50, vlan=vlan), udp(b"odd" * 17, vlan=vlan), tcp(b"tcp" * 40, vlan=vlan),
             ipv6(UDP(sport=1, dport=2), b"six" * 40, vlan=vlan),
             ipv6(TCP(sport=1, dport=2), b"six" * 41, vlan=vlan))] * 20
    out = forward(bed, [with_broken_checksums(frame) for frame in good], ["--forward-mode=csum"],
                  commands=CSUM_COMMANDS)
    check_equal(out, [bytes(frame) for frame in good], "frames with their checksums")


def check_segments(frame, pieces, segment_size):
    """What a card makes of a TCP frame: payload, sequence, IP id, flags, lengths, checksums."""
    payload = bytes(frame[TCP].payload)
    check_equal(b"".join(bytes(piece[TCP].payload) for piece in pieces), payload, "payload")
    for i, piece in enumerate(pieces):
        last = i == len(pieces) - 1
        check_equal(len(piece[TCP].payload),
                    len(payload) - i * segment_size if last else segment_size, "segment size")
        check_equal(piece[TCP].seq, frame[TCP].seq + i * segment_size, "sequence number")
        flags = {"P": last, "F": last, "C": i == 0}
        for flag, wanted in flags.items():
            check_equal(flag in str(piece[TCP].flags), wanted, f"flag {flag} of segment {i}")
        check_equal(bytes(with_right_checksums(piece)), bytes(piece), f"checksums of segment {i}")
        if "IP" in piece:
            check_equal(piece["IP"].id, frame["IP"].id + i, "IP id")
            check_equal(piece["IP"].len, len(piece["IP"]), "IP length")


def test_tso(bed):
    """A long TCP frame comes out in segments, each right in every header field."""
    payload = random.Random(5).randbytes(7000)
    flags = {"flags": "PAFC", "seq": 1000}
    sent = [tcp(payload, **flags), tcp(payload[:6900], vlan=7, **flags),
            ipv6(TCP(sport=1, dport=2, **flags), payload)] * 8
    nb_segments = [-(-len(frame[TCP].payload) // 500) for frame in sent]
    out = forward(bed, sent, ["--forward-mode=csum", "--max-pkt-len=9018", "--enable-scatter",
                              "--tx-offloads=0x8000"], ["--mtu", "9000"],
                  [*CSUM_COMMANDS[:-1], "tso set 500 1", "port start all"], sum(nb_segments))
    check_equal(len(out), sum(nb_segments), "segments")
    for frame, nb in zip(sent, nb_segments):
        check_segments(Ether(bytes(frame)), [Ether(piece) for piece in out[:nb]], 500)
        out = out[nb:]


def jumbo_frames(nb):
    payload = random.Random(3).randbytes(9000)
    return [udp(payload[i:i + 7900], ident=i) for i in range(nb)]


def test_scatter_of_jumbo_frames(bed):
    sent = jumbo_frames(64)
    out = forward(bed, sent, ["--forward-mode=io", "--max-pkt-len=9018", "--enable-scatter"],
                  ["--mtu", "9000"])
    check_equal(out, [bytes(frame) for frame in sent], "frames")


def test_oversize_frames(bed):
    """The port drops and counts what is longer than MTU + 22, in and out, until the MTU grows."""
    fits, too_long = udp(b"f" * (1522 - 42)), udp(b"t" * (1523 - 42))
    pmd = start_testpmd(bed, ["--wire", f"1={source(bed, [fits, too_long, fits])}",
                              "--wire", "2=sink"], ["--forward-mode=io"])
    # More than the MTU of the other port: what comes in there does not go out here.
    pmd.cmd("start")
    pmd.ctl("go")
    wait_until(lambda: pmd.stats(0)["RX-packets"] == 2, "the frames that fit")
    check_equal(pmd.port_counters(1)["rx_drop_oversize"], 1, "frames too long to come in")
    pmd.cmd("stop")
    end(pmd)
    pmd = start_testpmd(bed, ["--wire", f"1={source(bed, [fits, too_long, fits])}",
                              "--wire", "2=sink"], ["--forward-mode=io"])
    pmd.cmd("port config mtu 0 2000")
    pmd.cmd("start")
    pmd.ctl("go")
    wait_until(lambda: pmd.stats(0)["RX-packets"] == 3, "all frames")
    wait_until(lambda: pmd.port_counters(2)["tx_drop_oversize"] == 1, "one too long to go out")
    check_equal(pmd.port_counters(2)["tx_frames"], 2, "frames out")
    pmd.cmd("stop")
    end(pmd)


def test_filters(bed):
    """Unicast to others, multicast and VLANs pass as promiscuous, allmulti and filters say."""
    frames = [udp(b"own" * 20), udp(b"other" * 12, OTHER), udp(b"all" * 20, "ff:ff:ff:ff:ff:ff"),
              udp(b"group" * 12, GROUP), udp(b"five" * 20, vlan=5), udp(b"six" * 20, vlan=6)]
    off = "set promisc all off"
    cases = (([], [off], 4), ([], ["set promisc all on"], 6),
             ([], [off, "set allmulti all on"], 5), ([], [off, f"mac_addr add 0 {OTHER}"], 5),
             ([], [off, f"mac_addr add 0 {OTHER}", f"mac_addr remove 0 {OTHER}"], 4),
             ([], [off, f"mcast_addr add 0 {GROUP}"], 5),
             ([], [off, "mac_addr set 0 02:00:00:00:00:55"], 1),
             (["--enable-hw-vlan-filter"], [off, "rx_vlan add 5 0"], 1))
    for args, commands, passed in cases:
        pmd = start_testpmd(bed, ["--ports", "1", "--wire", f"1={source(bed, frames)}"],
                            ["--forward-mode=rxonly", *args])
        for command in commands:
            pmd.cmd(command)
        pmd.cmd("start")
        pmd.ctl("go")
        wait_until(lambda: sum(pmd.port_counters(1)[name] for name in
                               ("rx_frames", "rx_drop_no_rule")) == len(frames), "all frames seen")
        check_equal(pmd.port_counters(1)["rx_frames"], passed,
                    f"frames that pass {args} {commands}")
        end(pmd)


def test_flow_rules(bed):
    """Rules of rte_flow: to a queue, over two queues by hash, away; the rest as before."""
    to_queue, to_hash, away = (f"02:00:00:00:01:0{i}" for i in range(3))
    frames = [udp(b"queue" * 12, to_queue, i) for i in range(40)] + \
        [udp(b"hash" * 15, to_hash, i) for i in range(400)] + \
        [udp(b"away" * 15, away, i) for i in range(30)] + \
        [udp(b"nobody" * 10, OTHER, i) for i in range(20)]
    for i, frame in enumerate(frames):
        frame["IP"].src = f"10.0.{i % 8}.{i % 251}"
    pmd = start_testpmd(bed, ["--ports", "1", "--wire", f"1={source(bed, frames)}"],
                        ["--forward-mode=rxonly", "--rxq=4", "--txq=4"])
    pmd.cmd("set promisc all off")
    for index, (dst, action) in enumerate((
            (to_queue, "queue index 1"), (away, "drop"),
            (to_hash, "rss queues 2 3 end types ipv4 end"))):
        text = pmd.cmd(f"flow create 0 ingress pattern eth dst is {dst} / end "
                       f"actions {action} / end")
        check(f"Flow rule #{index} created" in text, f"{action}: {text}")
    pmd.cmd("start")
    pmd.ctl("go")
    wait_until(lambda: pmd.stats(0)["RX-packets"] == 440, "440 frames")
    wait_until(lambda: pmd.port_counters(1)["rx_drop_no_rule"] == 20, "20 frames of nobody")
    check_equal(pmd.port_counters(1)["rx_drop_by_rule"], 30, "frames of the drop rule")
    frames_of = queue_frames(pmd, 3)
    check_equal(frames_of[0], 40, "frames of queue 1")
    check_equal(frames_of[1] + frames_of[2], 400, "frames of queues 2 and 3")
    check(min(frames_of[1:]) > 100, f"both of them: {frames_of}")
    for index in range(3):
        check("destroyed" in pmd.cmd(f"flow destroy 0 rule {index}"), f"rule {index} is destroyed")
    end(pmd)


def test_link_events(bed):
    pmd = start_testpmd(bed, [], [])
    check(pmd.link_up(0) and pmd.link_up(1), "both links are up at start")
    start = len(pmd.output)
    pmd.ctl("link", "1", "down")
    pmd.wait_for("Port [01]: link state change event", start=start)
    # The ports are each other's wire: one end without carrier is both.
    wait_until(lambda: not pmd.link_up(0) and not pmd.link_up(1), "link down")
    start = len(pmd.output)
    pmd.ctl("link", "1", "up")
    pmd.wait_for("Port [01]: link state change event", start=start)
    wait_until(lambda: pmd.link_up(0) and pmd.link_up(1), "link up")
    pmd.cmd("set link-down port 0")
    wait_until(lambda: not pmd.link_up(0), "link down by the driver")
    pmd.cmd("set link-up port 0")
    wait_until(lambda: pmd.link_up(0), "link up by the driver")
    end(pmd)


def test_removal_event(bed):
    """testpmd hears of it, lets go of both ports and ends in order."""
    pmd = start_testpmd(bed, [], ["--forward-mode=io"])
    pmd.cmd("start tx_first")
    start = len(pmd.output)
    pmd.ctl("unplug")
    pmd.wait_for("Port 0: device removal event", start=start)
    # No command meanwhile: testpmd echoes it in pieces between its own words.
    pmd.wait_for("Now total ports is 0", start=start)
    end(pmd)


def below_the_same_launcher(bed, pmd, *words):
    """Runs a program on the card of a running testpmd."""
    with open(f"/proc/{pmd.child('dpdk-testpmd')}/environ", encoding="utf-8") as file:
        env = dict(entry.split("=", 1) for entry in file.read().split("\0") if "=" in entry)
    return bed.run(*words, env=env, timeout=30)


REFUSED_VERBS = (
    (["link", "1", "sideways"], "PORT up|down"), (["link", "3", "up"], "PORT up|down"),
    (["link", "1x", "down"], "no port of the card"), (["link", "1"], "PORT up|down"),
    (["inject", "explosion"], "rx_error"), (["fail", "EXPLODE", "1"], "CREATE_CQ"),
    (["inject", "drop:port=2"], "no port 2"), (["fail", "REG_MR"], "usage: fail"),
    (["fail", "REG_MR", "0"], "nth"), (["fail", "REG_MR", "2x"], "nth"),
    (["fail", "REG_MR", "1", "ENIX"], "errno"), (["fail", "REG_MR", "1", "0"], "errno"),
    (["resume", "now"], "takes no words"), (["unplug", "now"], "takes no words"),
    (["counters", "all"], "takes no words"), (["step", "0"], "usage: step"),
    (["step", "1x"], "usage: step"), (["stall", "sq"], "usage: stall"),
    (["stall", "sq", "99999"], "no sq 99999"), (["stall", "bq", "1"], "sq, rq or cq"),
    (["step"], "not in step mode"), (["replug"], "plugged in"), (["go"], "no port has a source"),
)


def test_control_verbs(bed):
    """What is refused is named and changes nothing; a stalled queue stands still until resume."""
    pmd = start_testpmd(bed, ["--ports", "1", "--wire", "1=sink"], ["--forward-mode=txonly"])
    for words, sentence in REFUSED_VERBS:
        done = bed.run(bed.vcx3, "ctl", pmd.control, *words)
        check_equal(done.returncode, 2, f"exit status of {words}: {done.stdout}{done.stderr}")
        check(sentence in done.stderr, f"{words}: {done.stderr}")
    for name in ("create_flow", "Create_Flow"):
        pmd.ctl("fail", name, "1", "enomem")
        refused = pmd.cmd("flow create 0 ingress pattern eth dst is 02:00:00:00:00:09 / end "
                          "actions queue index 0 / end")
        check("rejected by device" in refused, f"fail {name}: {refused}")
    pmd.cmd("start")
    wait_until(lambda: pmd.port_counters(1)["tx_frames"] > 1000, "frames")
    sender = next(queue["qpn"] for queue in pmd.counters()["qps"] if queue["tx_frames"])
    pmd.ctl("stall", "sq", str(sender))
    stalled = pmd.port_counters(1)["tx_frames"]
    check("Tx-pps" in pmd.cmd("show port stats 0"), "testpmd goes on")
    check_equal(pmd.port_counters(1)["tx_frames"], stalled, "frames of a stalled queue")
    pmd.ctl("resume")
    wait_until(lambda: pmd.port_counters(1)["tx_frames"] > stalled + 1000, "frames after resume")
    pmd.cmd("stop")
    check_equal(pmd.ctl("violations").strip(), "0", "violations")
    check('"mr": 1' in pmd.ctl("census"), f"one MR in the census: {pmd.ctl('census')}")
    end(pmd)


def test_steps_by_control(bed):
    """In step mode nothing moves by itself, whatever testpmd does."""
    pmd = start_testpmd(bed, ["--step", "--ports", "1", "--wire", "1=gen:count=1000,hold=1"],
                        ["--forward-mode=rxonly"])
    pmd.cmd("start")
    pmd.ctl("go")
    check_equal(pmd.stats(0)["RX-packets"], 0, "packets before the first step")
    wait_until(lambda: int(pmd.ctl("step", "10")) == 0, "the last step")
    wait_until(lambda: pmd.stats(0)["RX-packets"] == 1000, "all packets")
    pmd.cmd("stop")
    end(pmd)


def test_replug(bed):
    """A program that comes after the card was removed and put back finds one that works."""
    pmd = start_testpmd(bed, [], ["--forward-mode=io"])
    pmd.ctl("unplug")
    pmd.wait_for("Now total ports is 0")
    pmd.ctl("replug")
    check("Port 0 is attached" in pmd.cmd(f"port attach {PCI_ADDRESS}"), "the port is back")
    pmd.cmd("port start 0")
    check("Link status: up" in pmd.cmd("show port info 0"), "with its link")
    pmd.quit()


def test_kernel_gets_the_rest(bed):
    """With --netdev tap the kernel has what no rule takes, and sends: the two share the card."""
    here, there = bed.netns("card"), bed.netns("host")
    commands = (f"ip -n {here} link add cable type veth peer name eth0 netns {there}",
                f"ip -n {here} link set cable up", f"ip -n {there} link set eth0 up",
                f"ip -n {there} addr add 10.9.0.2/24 dev eth0",
                # Else the kernel answers for its address on the cable's end, too.
                f"ip netns exec {here} sysctl -q net.ipv4.conf.all.arp_ignore=1")
    for command in commands:
        check_equal(bed.run(*command.split()).returncode, 0, command)
    pmd = start_testpmd(bed, ["--netdev", "tap", "--ports", "1", "--wire", "1=packet:cable"],
                        ["--forward-mode=rxonly", "--flow-isolate-all"], netns=here)
    bed.run("ip", "-n", here, "addr", "add", "10.9.0.1/24", "dev", "mlx4p0")
    text = pmd.cmd(f"flow create 0 ingress pattern eth dst is {MAC[0]} / ipv4 / udp dst is 7 / end "
                   "actions queue index 0 / end")
    check("Flow rule #0 created" in text, text)
    pmd.cmd("start")
    ping = ("ip", "netns", "exec", there, "ping", "-c", "1", "-W", "2", "10.9.0.1")
    for _ in range(3):
        wait_until(lambda: bed.run(*ping).returncode == 0, "an answer of the kernel")
    check_equal(pmd.stats(0)["RX-packets"], 0, "packets of testpmd")
    for _ in range(10):
        bed.run("ip", "netns", "exec", there, "bash", "-c", "echo >/dev/udp/10.9.0.1/7")
    wait_until(lambda: pmd.stats(0)["RX-packets"] == 10, "testpmd gets what its rule takes")
    port = pmd.port_counters(1)
    check(port["rx_host"] >= 3 and port["tx_host"] >= 3, f"the kernel's frames: {port}")
    pmd.cmd("stop")
    end(pmd)


def test_proc_info_as_secondary(bed):
    """dpdk-proc-info maps the doorbell page through the descriptor that the primary sends."""
    prefix = bed.prefix
    pmd = start_testpmd(bed, ["--ports", "1", "--wire", "1=gen:count=1000,hold=1"],
                        ["--forward-mode=rxonly"], file_prefix=prefix,
                        # A place that is free in both, also below a sanitizer.
                        eal=["--base-virtaddr=0x200000000000"])
    pmd.cmd("start")
    pmd.ctl("go")
    wait_until(lambda: pmd.stats(0)["RX-packets"] == 1000, "1000 frames")
    done = below_the_same_launcher(bed, pmd, "dpdk-proc-info", f"--file-prefix={prefix}",
                                   "-a", PCI_ADDRESS, "--", "-p", "1", "--stats")
    check_equal(done.returncode, 0, f"exit status of dpdk-proc-info: {done.stdout}{done.stderr}")
    check("RX-packets: 1000" in done.stdout, f"it sees what the primary counts: {done.stdout}")
    end(pmd)


if __name__ == "__main__":
    testbed.main(globals())
