#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The life of a port of net_mlx4x when commands fail, and in any order, on the strict card."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from lib import bed as testbed  # noqa: E402
from lib.self_port import run_program  # noqa: E402

WALK = os.path.join("fault", "mlx4x_walk_test")


def test_faults(bed):
    run_program(bed, os.path.join("fault", "mlx4x_fault_test"), timeout=200)


def test_walk(bed):
    run_program(bed, WALK, words=("1", "3000"), timeout=200)


def test_walk_on_pro(bed):
    run_program(bed, WALK, "--device", "cx3pro", "--cqe-size", "32", words=("2", "1500"),
                timeout=200)


if __name__ == "__main__":
    testbed.main(globals())
