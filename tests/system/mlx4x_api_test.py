#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The ethdev API of net_mlx4x, called by programs in C, on several kinds of strict card."""

import glob
import os
import re
import signal

from lib import bed as testbed
from lib.bed import check, check_equal
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


def run_primary(bed, *words, **keywords):
    """A primary that starts its secondaries itself; its files go when it is killed, too."""
    bed.on_close(lambda: [os.unlink(path) for path in
                          glob.glob(f"/dev/hugepages/{bed.prefix}map_*")])
    return run(bed, "system/mlx4x_secondary_test", words=words,
               memory=("--file-prefix", bed.prefix, "--proc-type=primary"), **keywords)


def test_every_bug_of_the_stock_driver_has_a_test(_):
    """The list in doc/testing.rst: all letters and numbers, and tests that are there."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "..", "doc", "testing.rst"), encoding="utf-8") as file:
        listed = re.findall(r"^(\w+) +``(\w+)`` +((?:system|fault)/\S+)", file.read(), re.M)
    check_equal({number for number, _, _ in listed}, set("abcdefghijk") |
                {str(number) for number in range(1, 12)}, "bugs")
    for number, name, path in listed:
        with open(os.path.join(here, "..", path), encoding="utf-8") as file:
            check(re.search(rf"\b{name}\b", file.read()), f"bug {number}: no {name} in {path}")


def test_secondary_process(bed):
    run_primary(bed)


def test_primary_leaves_first(bed):
    card = run_primary(bed, "leave")
    check("went on alone" in card.output, "the secondary ended well")


def test_primary_dies_first(bed):
    card = run_primary(bed, "die", wanted=128 + signal.SIGKILL)
    check("went on alone" in card.output, "the secondary ended well")


if __name__ == "__main__":
    testbed.main(globals())
