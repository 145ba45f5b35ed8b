#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of driver/ on each kind of virtual card, which checks what silicon needs (--strict)."""

import os

from lib import bed as testbed
from lib.bed import Card, build_dir, check, check_equal

DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")


CARDS = (("--device", "cx3"), ("--device", "cx3pro"), ("--device", "vf"), ("--cqe-size", "32"))


def run(bed, name, *options):
    """The program ends well and leaves nothing in the card."""
    program = os.path.join(build_dir(), "tests", "system", "driver", f"driver_{name}_test")
    card = Card(bed, ["--strict", *options], [program, DRIVER])
    status = card.finish(timeout=120)
    check(status == 0, f"{name}, {options}, ended with {status}:\n{card.output[-3000:]}")
    counters = card.final_counters()
    check_equal({kind: nb for kind, nb in counters["census"].items() if nb}, {},
                "objects at the end")
    check_equal(counters["violations"]["total"], 0, f"violations in {counters['violations']}")


def test_filter(bed):
    for card in CARDS:
        run(bed, "filter", *card)


def test_flow_random(bed):
    for card in CARDS:
        run(bed, "flow_random", *card)


def test_flow_refusal(bed):
    for card in CARDS:
        run(bed, "flow_refusal", *card)


def test_rss(bed):
    for card in CARDS:
        run(bed, "rss", *card)


if __name__ == "__main__":
    testbed.main(globals())
