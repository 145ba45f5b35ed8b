# SPDX-License-Identifier: BSD-3-Clause
"""Runs test programs in C that use self_port.h, on a card with one port."""

import os

from .bed import PCI_ADDRESS, Card, build_dir, check, check_equal

DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")


def run_program(bed, name, *options, memory=("--in-memory",), words=(), wanted=0,
                timeout=100):
    """Runs a test program in C on a card whose first port is connected to itself."""
    bed.require_hugepages()
    program = os.path.join(build_dir(), "tests", name)
    card = Card(bed, ["--strict", "--ports", "1", "--wire", "1=self", *options],
                ["env", f"CARD_CONTROL={bed.path('control1')}", program, "-d", DRIVER, "-l", "0",
                 "-m", "64", *memory, "--no-telemetry", "-a", PCI_ADDRESS, "--", *words])
    status = card.finish(timeout)
    print(card.output)
    check_equal(status, wanted, "exit status")
    check("FAILED" not in card.output, "no test failed")
    if status == 0:		# of a program that was killed nobody writes them
        check_equal(card.final_counters()["violations"]["total"], 0, "violations")
    return card
