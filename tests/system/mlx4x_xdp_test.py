#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""XDP programs in the receive path of net_mlx4x, on strict cards."""

import os

from lib import bed as testbed
from lib.bed import PCI_ADDRESS, Card, build_dir, check, check_equal

PAGE_POOL = ["--mbuf-pool-ops-name", "page_pool"]
SELF = ["--step", "--ports", "1", "--wire", "1=self"]
GENERATOR = "1=gen:size=60,flows=64"
LOAD = ["--step", "--ports", "1", "--wire", GENERATOR]
OBJECTS = os.path.join(build_dir(), "examples", "progs")


def run_program(bed, name, options, eal=(), words=(), lcores=("-l", "0"),
                device_args="", timeout=100):
    """A test program in C that links the driver; the card at its end."""
    bed.require_hugepages()
    program = os.path.join(build_dir(), "tests", "system", name)
    card = Card(bed, ["--strict", *options],
                ["env", f"CARD_CONTROL={bed.path('control1')}", program, *lcores, "-m", "192",
                 "--in-memory", "--no-telemetry", "-a", PCI_ADDRESS + device_args, *eal,
                 "--", *words])
    status = card.finish(timeout)
    print(card.output)
    check_equal(status, 0, "exit status")
    check("FAILED" not in card.output, "no test failed")
    check_equal(card.final_counters()["violations"]["total"], 0, "violations")
    return card


def test_verdicts(bed):
    run_program(bed, "mlx4x_xdp_test", SELF, PAGE_POOL)


def test_verdicts_small_completions(bed):
    run_program(bed, "mlx4x_xdp_test", [*SELF, "--cqe-size", "32"], PAGE_POOL)


def test_unplug(bed):
    """With a program, while frames are on their way back."""
    run_program(bed, "mlx4x_xdp_test", SELF, words=["unplug"])


def test_loopback_of_a_virtual_function(bed):
    run_program(bed, "mlx4x_xdp_test", [*SELF, "--device", "vf"], words=["loopback"])


def test_row3_row9_a_million_drops(bed):
    """Nothing is allocated or mapped."""
    card = run_program(bed, "mlx4x_xdp_load_test", LOAD, PAGE_POOL, ["drop"])
    device = card.final_counters()["device"]
    check_equal(device["deregistrations"], device["registrations"], "row 9: all mappings undone")


def test_row64_row66_a_million_sent_back(bed):
    """Nothing is allocated or mapped, one doorbell for many frames."""
    run_program(bed, "mlx4x_xdp_load_test", LOAD, PAGE_POOL, ["send"])


def test_row65_full_ring(bed):
    """What does not fit is counted, and its page stays."""
    run_program(bed, "mlx4x_xdp_load_test", LOAD, PAGE_POOL, ["full"])


FIVE_LCORES = ("--lcores", "0@0,1@0,2@1,3@0,4@1")


def test_row6_replace_under_load(bed):
    """A thousand times, on four queues."""
    run_program(bed, "mlx4x_xdp_load_test", ["--ports", "1", "--wire", GENERATOR + ",rate=200000"],
                PAGE_POOL, ["replace"], FIVE_LCORES)


def test_objects_under_load(bed):
    run_program(bed, "mlx4x_xdp_load_test", ["--ports", "1", "--wire", GENERATOR + ",rate=100000"],
                PAGE_POOL, ["objects", OBJECTS], FIVE_LCORES)


def run_redirect(bed, *words, **keywords):
    program = os.path.join(build_dir(), "tests", "system", "progs", "redirect.bpf.o")
    run_program(bed, "mlx4x_xdp_redirect_test", ["--step", "--wire", "1=self", "--wire", "2=self"],
                [*PAGE_POOL, "--vdev", "net_ring0"], [program, *words], **keywords)


def test_redirect(bed):
    """To another port, to one of another driver, to all, to a ring that is read."""
    run_redirect(bed)


def test_cpumap(bed):
    """Rows 52, 53: to software queues."""
    run_redirect(bed, "cpumap", device_args=",xdp_cpumap_queues=2")


if __name__ == "__main__":
    testbed.main(globals())
