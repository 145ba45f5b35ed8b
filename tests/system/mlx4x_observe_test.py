#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What net_mlx4x tells of its ports, against the card's own counters."""

import re

from lib import bed as testbed
from lib.bed import Testpmd, check, check_equal, wait_until
from lib.self_port import DRIVER, run_program
from lib.telemetry import Telemetry


def test_observe(bed):
    """The program in C: extended statistics, module EEPROM, LED, fast free, a removed card."""
    run_program(bed, "system/mlx4x_observe_test")


def test_virtual_function(bed):
    """The kernel tells a virtual function nothing of the port, its module and its LED."""
    bed.require_hugepages()
    pmd = Testpmd(bed, ["--strict", "--device", "vf", "--ports", "1", "--wire", "1=self"],
                  driver=DRIVER)
    names = pmd.xstats(0)
    check("rx_q0_xdp_drop" in names, f"own counters in {names}")
    check_equal([name for name in names if "_phy_" in name], [], "counters of the port")
    text = pmd.cmd("show port 0 module_eeprom")
    check("the kernel does not read the module: Input/output error" in text, text)
    pmd.quit()


class App:
    """testpmd on a strict card, and a connection to its telemetry."""

    def __init__(self, bed, options=(), args=(), device_args=""):
        bed.require_hugepages()
        prefix = f"{bed.prefix}-{bed.next_number()}"
        self.pmd = Testpmd(bed, ["--strict", *options], args, driver=DRIVER, file_prefix=prefix,
                           device_args=device_args)
        self.telemetry = Telemetry(prefix)
        self.ask = self.telemetry.ask

    def refused(self, number, word, command, **parameters):
        answer = self.ask(command, **parameters)
        check_equal(answer.get("errno"), number, f"errno of {command} {parameters}: {answer}")
        check(word in "".join(answer["error"]), f"{word!r} in {answer['error']!r}")

    def end(self):
        self.telemetry.close()
        self.pmd.quit()
        counters = self.pmd.final_counters()
        check_equal(counters["violations"]["total"], 0, "violations")
        check_equal({name: nb for name, nb in counters["census"].items() if nb}, {}, "objects left")


def test_telemetry(bed):
    """/mlx4x/list and /mlx4x/info say what testpmd and the card say."""
    app = App(bed, ["--device", "cx3pro"],
              ["--rxq=2", "--txq=3", "--rxd=256", "--txd=512"],
              "port=0,port=1,xdp_cpumap_queues=1")
    check_equal(app.ask("/mlx4x/list"), {"ports": [0, 1]}, "ports")
    info = app.ask("/mlx4x/info", port=1)
    want = {"port": 1, "name": "0000:03:00.0_port1", "number": 1, "started": 1, "promiscuous": 1,
            "all_multicast": 0, "isolated": 0, "led": 0, "device": "0000:03:00.0",
            "devargs": ["port=0,port=1,xdp_cpumap_queues=1"], "function": "physical",
            "part": 0x1007, "firmware": "2.42.5000", "removed": 0, "memory_regions": 1,
            "secondaries": 0, "mac": "00:02:C9:00:00:02", "mtu": 1500, "link": "up",
            "speed_mbps": 40000, "rx_queues": 2, "soft_queues": 1, "tx_queues": 3}
    check_equal({name: info[name] for name in want}, want, "what is told of port 1")
    shown = app.pmd.cmd("show rxq info 1 0") + app.pmd.cmd("show txq info 1 0")
    bursts = re.findall(r"Burst mode: (.*)", shown)
    check_equal([info["rx_burst"], info["tx_burst"]], bursts, "burst functions")
    check_equal(app.ask("/ethdev/info,1")["name"], info["name"], "name in DPDK's own list")
    queues = app.ask("/mlx4x/info", port=0, queue=0, txq=2)
    for way, want in (("rx", {"queue": 0, "state": "running", "descriptors": 256, "segments": 1,
                              "mempool": "mb_pool_0", "recoveries": 0, "last_syndrome": 0}),
                      ("tx", {"queue": 2, "state": "running", "descriptors": 512})):
        check_equal({name: queues[way][name] for name in want}, want, f"{way} queue")
    app.pmd.cmd("port stop 1")
    app.pmd.cmd("set promisc 1 off")
    app.pmd.ctl("link", "2", "down")
    info = wait_until(lambda: (answer := app.ask("/mlx4x/info", port=1))["link"] == "down" and answer,
                      "the link to go down")
    check_equal((info["started"], info["promiscuous"]), (0, 0), "a stopped port")
    check_equal(app.ask("/mlx4x/info", port=1, txq=0)["tx"]["state"], "stopped", "a stopped queue")
    app.refused(22, "needs port=", "/mlx4x/info")
    app.refused(22, "no parameter", "/mlx4x/list", port=0)
    app.refused(22, "no Tx queue 3", "/mlx4x/info", port=0, txq=3)
    app.refused(22, "no Rx queue 2", "/mlx4x/info", port=0, queue=2)
    app.refused(19, "port 7", "/mlx4x/info", port=7)
    app.end()


def test_stats_per_queue(bed):
    """What each queue received and sent is what the card says of its work queue and queue pair."""
    app = App(bed, ["--wire", "1=gen:size=60,flows=64,count=2000,hold=1", "--wire", "2=sink"],
              ["--forward-mode=io", "--rxq=4", "--txq=4"])
    app.pmd.cmd("start")
    app.pmd.ctl("go")
    wait_until(lambda: app.pmd.port_counters(2)["tx_frames"] == 2000, "2000 frames out", 30)
    app.pmd.cmd("stop")
    card = {queue["qpn"]: queue for queue in app.pmd.counters()["qps"]}
    for port, way, counted, number in ((0, "Rx", "rx_frames", "WQ"), (1, "Tx", "tx_frames", "QP")):
        stats = app.ask(f"/ethdev/stats,{port}")
        dump = app.ask(f"/ethdev/dump_priv,{port}")
        queues = re.findall(rf"{way} queue \d: running, {number} 0x(\w+)", dump)
        wanted = [card[int(queue, 16)][counted] for queue in queues]
        letter = "i" if way == "Rx" else "o"
        check_equal(stats[f"q_{letter}packets"][:4], wanted, f"packets of {way} queues")
        check_equal(stats[f"q_{letter}bytes"][:4], [60 * nb for nb in wanted],
                    f"bytes of {way} queues")
        check_equal(sum(wanted), 2000, "sum")
        check(min(wanted) > 100, f"traffic on each: {wanted}")
        xstats = app.pmd.xstats(port)
        check_equal([xstats[f"{way.lower()}_q{i}_packets"] for i in range(4)], wanted, "xstats")
    app.end()


if __name__ == "__main__":
    testbed.main(globals())
