#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""XDP programs in the receive path of net_mlx4x, on strict cards."""

import os

from lib import bed as testbed
from lib.bed import PCI_ADDRESS, Card, build_dir, check, check_equal


def run_program(bed, name, options, eal=(), words=(), timeout=100):
    """A test program in C that links the driver; the card at its end."""
    bed.require_hugepages()
    program = os.path.join(build_dir(), "tests", "system", name)
    card = Card(bed, ["--strict", "--ports", "1", *options],
                ["env", f"CARD_CONTROL={bed.path('control1')}", program, "-l", "0", "-m", "192",
                 "--in-memory", "--no-telemetry", "-a", PCI_ADDRESS, *eal, "--", *words])
    status = card.finish(timeout)
    print(card.output)
    check_equal(status, 0, "exit status")
    check("FAILED" not in card.output, "no test failed")
    check_equal(card.final_counters()["violations"]["total"], 0, "violations")
    return card


def test_verdicts(bed):
    run_program(bed, "mlx4x_xdp_test", ["--step", "--wire", "1=self"],
                ["--mbuf-pool-ops-name", "page_pool"])


def test_verdicts_small_completions(bed):
    run_program(bed, "mlx4x_xdp_test", ["--step", "--wire", "1=self", "--cqe-size", "32"],
                ["--mbuf-pool-ops-name", "page_pool"])


def test_unplug(bed):
    """With a program, while frames are on their way back."""
    run_program(bed, "mlx4x_xdp_test", ["--step", "--wire", "1=self"], words=["unplug"])


if __name__ == "__main__":
    testbed.main(globals())
