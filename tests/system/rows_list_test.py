#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Rows: the list in doc/testing.rst against the sources of the tests, and what needs no card."""

import os
import re

from lib import bed as testbed
from lib.bed import build_dir, check, check_equal

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "..", "..", "doc", "testing.rst")
# What issue "the hook" asks for.
WANTED = {*range(1, 4), *range(6, 10), *range(17, 20), *range(21, 24), 29, 31, 33, 35, 36, 52,
          *range(54, 57), *range(58, 73)}


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
                text = source.read()
            names |= set(re.findall(r'^(?:\t\t\{ "|def test_|test_|def )(row\d+_\w+)', text, re.M))
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
