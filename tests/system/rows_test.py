#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the table of claims about the kernel's drivers, on strict cards: doc/testing.rst has the
list.

After each program nothing is mapped any more (row 62).
"""

import os
import re

from lib import bed as testbed
from lib.bed import PCI_ADDRESS, Card, build_dir, check, check_equal

PAGE_POOL = ["--mbuf-pool-ops-name", "page_pool"]
SELF = ["--step", "--ports", "1", "--wire", "1=self"]
GENERATOR = "1=gen:size=60,flows=64"
LOAD = ["--step", "--ports", "1", "--wire", GENERATOR]


def row62_nothing_mapped(card):
    """At the end of a process the card has no key left, and each was made and voided once."""
    device = card.final_counters()["device"]
    check_equal((device["registered_bytes"], device["live_mpts"]), (0, 0), "row 62: bytes, keys")
    check_equal(device["deregistrations"], device["registrations"], "row 62: keys voided")
    check("still mapped" not in card.output, "row 62: the pool warns of nothing")


def run_program(bed, name, options, words=(), memory=("--in-memory", "-m", "192"), pools=PAGE_POOL,
                lcores=("--lcores", "0@0,1@1"), env=()):
    """A test program in C that links the driver; the card at its end."""
    bed.require_hugepages()
    program = os.path.join(build_dir(), "tests", "system", name)
    card = Card(bed, ["--strict", *options],
                ["env", f"CARD_CONTROL={bed.path(f'control{bed.number + 1}')}", *env, program, *lcores, *memory,
                 "--no-telemetry", "-a", PCI_ADDRESS, *pools, "--", *words])
    status = card.finish(150)
    print(card.output)
    check_equal(status, 0, "exit status")
    check("FAILED" not in card.output, "no test failed")
    check_equal(card.final_counters()["violations"]["total"], 0, "violations")
    row62_nothing_mapped(card)
    return card


def test_pages(bed):
    run_program(bed, "rows_pages_test", SELF)


def test_frames_held_at_close(bed):
    run_program(bed, "rows_pages_test", SELF, ["close"])


def test_faults(bed):
    run_program(bed, "rows_faults_test", SELF)


def test_row2_recycle_cache(bed):
    run_program(bed, "rows_load_test", LOAD, ["row2_recycle_cache"])


def test_row18_one_mapping(bed):
    card = run_program(bed, "rows_load_test", LOAD, ["row18_one_mapping"])
    check_equal(card.final_counters()["device"]["registrations"], 1, "mappings, ever")


def test_row19_trim(bed):
    run_program(bed, "rows_load_test", ["--ports", "1", "--wire", GENERATOR + ",rate=100000"],
                ["row19_trim"])


def test_row21_hostile_hold(bed):
    run_program(bed, "rows_load_test", LOAD, ["row21_hostile_hold"])


def test_row22_everything_in_small_blocks(bed):
    """The tests of programs once more, while no block, or only some, can be had at full size."""
    for percent in (100, 30):
        for name, wires, word in (("mlx4x_xdp_test", SELF, "any_layout"),
                                  ("mlx4x_xdp_load_test", LOAD, "full")):
            card = run_program(bed, name, wires, [word], env=[f"BLOCK_FAULTS={percent}"],
                               pools=["--mbuf-pool-ops-name", "page_pool_packed"])
            errors = re.search(r"^(\d+) blocks were smaller$", card.output, re.M)
            check(int(errors.group(1)) > 0, "row 22: blocks were smaller")


def test_row55_jumbo_memory(bed):
    """In memory that is not of hugepages: 341 MiB of them are much for a test."""
    run_program(bed, "rows_load_test", LOAD, ["row55_jumbo_memory"],
                memory=("--no-huge", "-m", "480", "--file-prefix", bed.prefix))


def test_row63_no_allocation(bed):
    run_program(bed, "rows_load_test", LOAD, ["row63_no_allocation"])


if __name__ == "__main__":
    testbed.main(globals())
