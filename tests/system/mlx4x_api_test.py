#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The ethdev API of net_mlx4x, called by programs in C, on several kinds of strict card."""

import os

from lib import bed as testbed
from lib.bed import PCI_ADDRESS, Card, build_dir, check, check_equal

DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")


def run_program(bed, name, *options, memory=("--in-memory",), strict=True, timeout=100):
    """Runs a test program in C on a card whose first port is connected to itself."""
    bed.require_hugepages()
    program = os.path.join(build_dir(), "tests", "system", name)
    strict = ["--strict"] if strict else []
    card = Card(bed, [*strict, "--ports", "1", "--wire", "1=self", *options],
                ["env", f"CARD_CONTROL={bed.path('control1')}", program, "-d", DRIVER, "-l", "0",
                 "-m", "192", *memory, "--no-telemetry", "-a", PCI_ADDRESS])
    status = card.finish(timeout)
    print(card.output)
    check_equal(status, 0, "exit status")
    check("FAILED" not in card.output, "no test failed")
    check_equal(card.final_counters()["violations"]["total"], 0, "violations")
    return card


def test_connectx3(bed):
    run_program(bed, "mlx4x_api_test")


def test_small_completions(bed):
    run_program(bed, "mlx4x_api_test", "--cqe-size", "32")


def test_connectx3_pro(bed):
    run_program(bed, "mlx4x_api_test", "--device", "cx3pro")


def test_bugs_of_the_stock_driver(bed):
    run_program(bed, "mlx4x_bugs_test", "--vlan-insert", "on")


def test_bugs_of_the_stock_driver_pro(bed):
    run_program(bed, "mlx4x_bugs_test", "--vlan-insert", "on", "--device", "cx3pro")


def test_secondary_process(bed):
    """Not strict: doorbells that another process rings cannot be trapped."""
    run_program(bed, "mlx4x_secondary_test", strict=False,
                memory=("--file-prefix", bed.prefix, "--proc-type=primary"))


if __name__ == "__main__":
    testbed.main(globals())
