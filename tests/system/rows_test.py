#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the table of claims about the kernel's drivers, on strict cards: doc/testing.rst lists them.

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
HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "..", "..", "doc", "testing.rst")
# What issue "the hook" asks for.
WANTED = {*range(1, 4), *range(6, 10), *range(17, 20), *range(21, 24), 29, 31, 33, 35, 36, 52,
          *range(54, 57), *range(58, 73)}


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


def test_row63_library_of_its_own(bed):
    """lib/page_pool knows neither driver nor verbs."""
    library = os.path.join(build_dir(), "lib", "page_pool", "librte_page_pool.so")
    text = bed.run("readelf", "-dsW", library).stdout
    check("page_pool_attach" in text, "readelf reads it")
    check(not re.search("mlx|ibv|verbs", text), "nothing of mlx4 or verbs in it")


def names_of_tests():
    """Tests in this folder whose names say rows: functions, and what C programs call them."""
    names = set()
    for file in os.listdir(HERE):
        if file.endswith((".c", ".py")):
            with open(os.path.join(HERE, file), encoding="utf-8") as source:
                names |= set(re.findall(r'^(?:\t\t\{ "|def test_|test_|def )(row\d+_\w+)', source.read(),
                                        re.M))
    return names


def rows_of(name):
    return [int(number) for number in re.findall(r"row(\d+)_", name)]


def test_every_row_has_a_test(_):
    """Each row wanted is in the list of doc/testing.rst, with a test that exists."""
    names = names_of_tests()
    with open(LIST, encoding="utf-8") as file:
        listed = re.findall(r"^(\d+)  +``(row\w+)``", file.read(), re.M)
    for number, name in listed:
        check(name in names, f"row {number}: there is no test {name}")
        check(int(number) in rows_of(name), f"row {number}: {name} is not named after it")
    check_equal({int(number) for number, _ in listed} & WANTED, WANTED, "rows in the list")
    missing = names - {name for _, name in listed}
    check_equal(missing, set(), "tests that the list does not have")


if __name__ == "__main__":
    testbed.main(globals())
