#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The requests of doc/xdp_hook.rst as they go over DPDK's telemetry socket, to testpmd."""

import os
import socket
import threading

from lib import bed as testbed
from lib.bed import Testpmd, build_dir, check, check_equal, wait_until
from lib.telemetry import Telemetry

DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")
PROGS = os.path.join(build_dir(), "examples", "progs")
TEST_PROGS = os.path.join(build_dir(), "tests", "system", "progs")
GENERATOR = ["--ports", "1", "--wire", "1=gen:size=60,flows=16,rate=20000"]


class App:
    """testpmd on a strict card with one port, and a connection to its telemetry."""

    def __init__(self, bed, options=GENERATOR, args=(), device_args="", **keywords):
        bed.require_hugepages()
        prefix = f"{bed.prefix}-{bed.next_number()}"
        self.pmd = Testpmd(bed, ["--strict", *options], ["--forward-mode=rxonly", *args],
                           driver=DRIVER, file_prefix=prefix, device_args=device_args, **keywords)
        self.prefix = prefix
        self.telemetry = Telemetry(prefix)
        self.pmd.cmd("start")

    def ask(self, verb, **parameters):
        """An answer; {"error": ...} has its pieces joined."""
        answer = self.telemetry.ask("/mlx4x/xdp/" + verb, **parameters)
        if "error" in answer:
            answer["error"] = "".join(answer["error"])
        return answer

    def refused(self, number, word, verb, **parameters):
        answer = self.ask(verb, **parameters)
        check_equal(answer.get("errno"), number, f"errno of {verb} {parameters}: {answer}")
        check(word in answer["error"], f"{word!r} in {answer['error']!r}")

    def stats(self, **parameters):
        return self.ask("stats", port=0, **parameters)

    def grows(self, counter, **parameters):
        begin = self.stats(**parameters)[counter]
        wait_until(lambda: self.stats(**parameters)[counter] > begin, f"{counter} to grow", 20)

    def adds_up(self, **parameters):
        """received = sum of all verdicts, once traffic rests."""
        stats = self.stats(**parameters)
        verdicts = ("pass", "drop", "aborted", "tx", "tx_full", "redirect", "redirect_fail")
        check_equal(stats["rx_xdp_packets"], sum(stats["rx_xdp_" + name] for name in verdicts),
                    "received frames")

    def end(self):
        self.pmd.cmd("stop")
        self.adds_up()
        self.telemetry.close()
        self.pmd.quit()
        counters = self.pmd.final_counters()
        check_equal(counters["violations"]["total"], 0, "violations")
        check_equal({name: nb for name, nb in counters["census"].items() if nb}, {}, "objects left")


def prog(name):
    return os.path.join(PROGS, name + ".bpf.o")


def verdict(app, value):
    answer = app.ask("maps/update", port=0, map="verdict", key="00000000",
                     value=value.to_bytes(4, "little").hex())
    check_equal(answer, {"map": "verdict"}, "answer to an update")


def test_row67_events(bed):
    """ABORTED and unknown verdicts: counters, and an event with program, action, queue, bytes."""
    app = App(bed)
    loaded = app.ask("load", port=0, path=os.path.join(TEST_PROGS, "any_verdict.bpf.o"))
    begin = app.ask("trace", port=0)["next"]
    for action in (0, 5, 255):
        verdict(app, action)
        app.grows("rx_xdp_aborted")
    verdict(app, 1)
    app.grows("rx_xdp_drop")  # no frame is aborted any more
    seen, lost = set(), 0
    while True:
        answer = app.ask("trace", port=0, since=begin)
        if answer["events"] == 0:
            break
        check(answer["events"] <= 32, "a page of events")
        lost += answer["lost"]
        for i in range(answer["events"]):
            event = answer[f"event_{i}"]
            check(event["number"] > begin, "events in order")
            begin = event["number"]
            seen.add(event["action"])
            check_equal((event["id"], event["queue"], event["len"]), (loaded["id"], 0, 60),
                        f"event {event}")
            check_equal(len(event["bytes"]), 64, "hex digits of the first bytes")
            check_equal(event["bytes"][24:28], "0800", "EtherType")
    check(255 in seen, f"the last actions are seen: {seen}")
    aborted = app.stats()["rx_xdp_aborted"]
    check_equal(begin, aborted, "events ever written")
    app.end()


def test_ports_and_queues(bed):
    """A queue's own program goes before the port's, and survives a restart."""
    app = App(bed, args=["--rxq=2", "--txq=2"])
    app.ask("load", port=0, path=prog("drop"))
    second = app.ask("load", port=0, queue=1, path=prog("pass"))
    status = app.ask("status", port=0)
    check_equal((status["program"]["name"], status["program_1"]["name"]),
                ("xdp_drop", "xdp_pass"), "programs")
    check_equal(status["program_1"]["queue"], 1, "its queue")
    app.grows("rx_xdp_drop", queue=0)
    app.grows("rx_xdp_pass", queue=1)
    check_equal(app.stats(queue=0)["rx_xdp_pass"], 0, "frames passed on queue 0")
    for command in ("stop", "port stop 0", "port start 0", "start"):
        app.pmd.cmd(command)
    app.grows("rx_xdp_drop", queue=0)
    app.grows("rx_xdp_pass", queue=1)
    app.refused(2, "not attached", "unload", port=0, queue=1, id=second["id"] + 7)
    check_equal(app.ask("unload", port=0, queue=1, id=second["id"]), {"port": 0}, "unload")
    app.grows("rx_xdp_drop", queue=1)
    app.refused(2, "no program of its own", "unload", port=0, queue=1)
    app.pmd.cmd("stop")
    for queue in (0, 1):
        app.adds_up(queue=queue)
    app.pmd.cmd("start")
    app.end()


def test_refusals(bed):
    """Each is a sentence with an errno, and changes nothing."""
    app = App(bed, device_args=f"xdp_prog={prog('drop')},xdp_sec=xdp,xdp_verify=internal")
    before = app.ask("status", port=0)
    check_equal(before["program"]["verify"], "internal", "verify= of the device argument")
    app.refused(16, "already", "load", port=0, path=prog("pass"))
    app.refused(2, "No such file", "load", port=0, path="/nowhere.o", replace=1)
    app.refused(2, "nosec", "load", port=0, path=prog("pass"), sec="nosec", replace=1)
    app.refused(22, "verify=maybe", "load", port=0, path=prog("pass"), verify="maybe", replace=1)
    app.refused(22, "replace=2", "load", port=0, path=prog("pass"), replace=2)
    app.refused(22, "needs path=", "load", port=0)
    app.refused(22, "no parameter", "load", port=0, path=prog("pass"), colour="red")
    app.refused(22, "not a number", "stats", port="zero")
    app.refused(19, "port 7", "stats", port=7)
    app.refused(22, "the port has 1", "stats", port=0, queue=1)
    app.refused(22, "not a number", "unload", port=0, id=-1)
    app.refused(2, "no map", "maps/dump", port=0, map="none")
    app.pmd.cmd("stop")
    app.pmd.cmd("port stop 0")
    text = app.pmd.cmd("port config mtu 0 1899")
    check("1899" in text and "1898" in text, f"both numbers in {text}")
    app.pmd.cmd("port start 0")
    app.pmd.cmd("start")
    check_equal(app.ask("status", port=0), before, "status after all refusals")
    app.end()


def test_programs_of_entries(bed):
    """func= names the second program of an entry."""
    app = App(bed, options=["--wire", "1=gen:size=60,flows=1,rate=20000", "--wire", "2=sink"])
    check("id" in app.ask("load", port=0, path=os.path.join(TEST_PROGS, "redirect.bpf.o")), "load")
    for key, value in enumerate((6, 3, 0)):
        app.ask("maps/update", port=0, map="order", key=key.to_bytes(4, "little").hex(),
                value=value.to_bytes(4, "little").hex())
    entry = {"port": 0, "key": "03000000",
             "value": app.ask("status", port=1)["ifindex"].to_bytes(8, "little").hex()}
    check_equal(app.ask("maps/update", map="ports_prog", func="xdp_at_port", **entry),
                {"map": "ports_prog"}, "update")
    app.grows("rx_xdp_redirect_dropped")   # it drops what has an odd byte there, as IPv4 has
    check_equal(app.pmd.port_counters(2)["tx_frames"], 0, "frames that left")
    entry["value"] = entry["value"][:8] + "00000000"
    app.ask("maps/update", map="ports_prog", **entry)
    wait_until(lambda: app.pmd.port_counters(2)["tx_frames"] > 100, "frames without the program")
    app.refused(2, "no program other", "maps/update", map="ports_prog", func="other", **entry)
    app.refused(22, "needs value=", "maps/update", port=0, map="order", key="00000000")
    app.refused(22, "either value= or name=", "maps/update", port=0, map="order", key="00000000",
                value="00000000", name="order")
    app.refused(22, "have no programs", "maps/update", port=0, map="order", key="00000000",
                value="00000000", func="xdp_at_port")
    app.end()


def number(value):
    """A 32-bit key or value as hex digits."""
    return value.to_bytes(4, "little").hex()


class Redirecting(App):
    """Redirects everything to one place, with ports of other drivers beside the card's."""

    def __init__(self, bed, *vdevs, device_args=""):
        words = [word for vdev in vdevs for word in ("--vdev", vdev)]
        program = os.path.join(TEST_PROGS, "redirect.bpf.o")
        super().__init__(bed, device_args=f"xdp_prog={program}{device_args}", eal=words)
        self.leave_alone()

    def leave_alone(self):
        """testpmd forwards nothing to the other ports, so that they can be stopped."""
        self.pmd.cmd("stop")
        self.pmd.cmd("set portlist 0")
        self.pmd.cmd("start")

    def attach(self, vdev, port):
        check(f"Port {port} is attached" in self.pmd.cmd(f"port attach {vdev}"), f"{vdev} attached")
        check(f"Port {port}: " in self.pmd.cmd(f"port start {port}"), f"{vdev} started")
        self.leave_alone()

    def detach(self, port):
        self.pmd.cmd(f"port stop {port}")
        check("is detached" in self.pmd.cmd(f"port detach {port}"), f"port {port} detached")

    def aim(self, ifindex):
        for key, value in ((0, 1), (1, ifindex), (2, 0)):
            answer = self.ask("maps/update", port=0, map="order", key=number(key),
                              value=number(value))
            check("error" not in answer, f"an order that is refused: {answer}")

    def targets(self):
        answer = self.ask("targets/list", port=0)
        return {target["name"]: target for target in answer.values() if isinstance(target, dict)}

    def arrives(self):
        self.grows("rx_xdp_redirect")
        self.adds_up_soon()

    def is_lost(self):
        self.grows("rx_xdp_redirect_unknown")

    def adds_up_soon(self):
        """Counters are read while they move: in the end the sums agree."""
        names = ("unknown", "full", "too_long")
        def fits():
            stats = self.stats()
            return stats["rx_xdp_redirect_fail"] == sum(stats[f"rx_xdp_redirect_{name}"]
                                                        for name in names)
        wait_until(fits, "reasons to add up to the failures", 20)


def test_targets_come_and_go(bed):
    """A port of another driver: named before it is there, stopped, removed, back again."""
    app = Redirecting(bed, "net_null0,no-rx=1", device_args=",xdp_target=net_null0:0")
    app.aim(1000000001)
    app.arrives()
    check_equal(app.targets()["net_null0"]["txq"], 0, "send queue")
    app.pmd.cmd("port stop 1")
    app.is_lost()
    app.pmd.cmd("port start 1")
    app.arrives()
    app.detach(1)
    app.is_lost()
    check("net_null0" not in app.targets(), f"removed: {app.targets()}")
    app.attach("net_null7,no-rx=1", 1)
    app.is_lost()  # the same number, but nobody has named it
    app.detach(1)
    app.attach("net_null0,no-rx=1", 1)
    app.arrives()
    app.end()


def test_targets_by_request(bed):
    """Given and taken while traffic flows; a port with an interface goes by its ifindex."""
    bed.require_root()
    tap = f"mxt{os.getpid() % 100000}"
    app = Redirecting(bed, f"net_tap0,iface={tap}", "net_ring0")
    app.aim(socket.if_nametoindex(tap))
    app.is_lost()
    app.ask("targets/set", port=0, target="net_tap0")
    check_equal(app.targets()["net_tap0"]["ifindex"], socket.if_nametoindex(tap), "ifindex")
    app.arrives()
    def received():
        with open(f"/sys/class/net/{tap}/statistics/rx_packets", encoding="ascii") as file:
            return int(file.read())
    begin = received()
    wait_until(lambda: received() > begin, "frames at the interface", 20)
    app.ask("targets/delete", port=0, target="net_tap0")
    app.is_lost()
    app.aim(1000000002)
    app.ask("targets/set", port=0, target=2, txq=0)
    app.grows("rx_xdp_redirect_full")  # nobody empties that ring
    before = app.targets()
    app.refused(19, "no port net_nix", "targets/set", port=0, target="net_nix")
    app.refused(19, "no port 9", "targets/set", port=0, target=9)
    app.refused(22, "is one of this driver", "targets/set", port=0, target=0)
    app.refused(22, "has 1 send queues: too few", "targets/set", port=0, target=2, txq=1)
    app.refused(22, "not a number", "targets/set", port=0, target=2, txq="x")
    app.refused(2, "not set as a target", "targets/delete", port=0, target="net_tap0")
    check_equal(app.targets(), before, "targets after refusals")
    app.end()


def without_capabilities(bed):
    """A testpmd that the kernel lets load no program, as one of another user than root."""
    path = bed.path("testpmd")
    with open(path, "w", encoding="ascii") as file:
        file.write('#!/bin/sh\nexec setpriv --bounding-set=-all --inh-caps=-all dpdk-testpmd "$@"\n')
    os.chmod(path, 0o755)
    return path


def test_cache(bed):
    """What a kernel accepted is loaded afterwards without its help, and nothing else."""
    bed.require_root()
    folder = bed.path("accepted")
    os.mkdir(folder, 0o755)
    app = App(bed, device_args=f"xdp_prog={prog('drop')},xdp_verify=kernel,xdp_cache={folder}")
    check_equal(app.ask("status", port=0)["program"]["verify"], "kernel", "who vouches")
    app.end()
    check_equal([name.split(".")[1] for name in os.listdir(folder)], ["xdp_drop"], "accepted")
    app = App(bed, device_args=f"xdp_prog={prog('drop')},xdp_verify=cached,xdp_cache={folder}",
              binary=without_capabilities(bed))
    check_equal(app.ask("status", port=0)["program"]["verify"], "cached", "who vouches")
    app.grows("rx_xdp_drop")
    app.refused(13, "does not say that a kernel accepted this object", "load", port=0,
                path=prog("pass"), verify="cached", replace=1)
    app.refused(1, "needs CAP_BPF", "load", port=0, path=prog("pass"), verify="kernel", replace=1)
    os.chmod(folder, 0o777)
    app.refused(1, "nobody else may write to it", "load", port=0, path=prog("drop"),
                verify="cached", replace=1)
    app.grows("rx_xdp_drop")
    app.end()


def ask_until(stop, prefix, answers):
    """Asks for port 0, there or not, as fast as answers come."""
    telemetry = Telemetry(prefix)
    while not stop.is_set():
        for command in ("/mlx4x/info", "/mlx4x/xdp/status", "/mlx4x/xdp/stats"):
            answers["error" in telemetry.ask(command, port=0)] += 1
    telemetry.close()


def test_asked_while_ports_go(bed):
    """Requests find a port or find none, while it is closed and probed again."""
    app = App(bed)
    answers, stop = [0, 0], threading.Event()
    threads = [threading.Thread(target=ask_until, args=(stop, app.prefix, answers))
               for _ in range(2)]
    for thread in threads:
        thread.start()
    app.pmd.cmd("stop")
    for _ in range(10):
        app.pmd.cmd("port stop 0")
        check("is detached" in app.pmd.cmd("port detach 0"), "port 0 detached")
        before = answers[1]
        wait_until(lambda: answers[1] > before, "a refusal", 20)
        app.pmd.cmd(f"port attach {testbed.PCI_ADDRESS}")
        app.pmd.cmd("port start 0")
        before = answers[0]
        wait_until(lambda: answers[0] > before, "an answer", 20)
    stop.set()
    for thread in threads:
        thread.join()
    app.end()


def test_wrong_device_arguments(bed):
    """No port, and a sentence."""
    everybodys = bed.path("everybodys")
    os.mkdir(everybodys)
    os.chmod(everybodys, 0o777)
    for words, word in ((f"xdp_prog={prog('none')}", "No such file"),
                        (f"xdp_prog={prog('drop')},xdp_sec=other", "other"),
                        ("xdp_verify=perhaps", "one of auto"), ("xdp_cpumap_queues=x", "x"),
                        ("xdp_cache=/nowhere", "cannot be opened: No such file"),
                        (f"xdp_cache={everybodys}", "nobody else may write to it"),
                        (f"xdp_prog={prog('drop')},xdp_verify=cached", "argument xdp_cache="),
                        ("xdp_target=net_null0", "a colon and a send queue"),
                        ("xdp_target=:0", "a colon and a send queue"),
                        ("xdp_target=net_null0:x", "a colon and a send queue"),
                        ("xdp_target=net_null0:4096", "a colon and a send queue"),
                        (",".join(f"xdp_target=net_null{i}:0" for i in range(9)), "more than 8"),
                        ("page_pool=big", "one of page")):
        done = bed.launch(["--ports", "1"], ["dpdk-testpmd", "-d", DRIVER, "-l", "0", "-m", "64",
                                             "--in-memory", "--no-telemetry", "-a",
                                             f"{testbed.PCI_ADDRESS},{words}", "--", "--help"])
        check(word in done.stdout + done.stderr, f"{word!r} for {words}: {done.stderr[-500:]}")


if __name__ == "__main__":
    testbed.main(globals())
