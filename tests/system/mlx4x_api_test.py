#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The ethdev API of net_mlx4x, called by programs in C, on several kinds of strict card."""

from lib import bed as testbed
from lib.self_port import run_program as run


def run_program(bed, name, *options, **keywords):
    run(bed, f"system/{name}", *options, **keywords)

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
