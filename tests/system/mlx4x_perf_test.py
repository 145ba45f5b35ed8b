#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""mlx4x-perf: a small comparison runs through, and its words are checked."""

import glob
import json
import os
import re

from lib import bed as testbed
from lib.bed import Skip, build_dir, check, check_equal

PERF = os.path.join(build_dir(), "app", "mlx4x-perf", "mlx4x-perf")
REPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "app", "mlx4x-perf",
                      "mlx4x-perf-report")
FEW = ["--rounds", "3", "--packets", "4096", "--no-huge"]


def compare(bed, *words):
    """Runs the comparison; its lines and the list in its JSON file."""
    path = bed.path("result.json")
    done = bed.run(PERF, "compare", "--json", path, *FEW, *words, timeout=60)
    check_equal(done.returncode, 0, f"exit status of compare ({done.stderr})")
    with open(path, encoding="utf-8") as file:
        return done.stdout.split("\n")[1:-1], json.load(file)


def test_compare(bed):
    """One line and one object a result, each with both drivers' cycles and their ratio."""
    names = ["rx-free", "tx", "io", "macswap"]
    lines, results = compare(bed, "--scenario", ",".join(names), "--burst", "32,4")
    check_equal([(r["scenario"], r["burst"]) for r in results],
                [(name, burst) for burst in (32, 4) for name in names], "results")
    check_equal(len(lines), len(results), "lines printed")
    for line, result in zip(lines, results):
        check(result["ours_cycles"] > 0 and result["stock_cycles"] > 0, f"cycles in {result}")
        check(result["ratio"] > 0 and result["spread"] >= 0, f"ratio in {result}")
        check_equal(result["fill"], result["burst"], "packets of a burst")
        printed = float(re.search(r"ratio +([0-9.]+)", line).group(1))
        check(abs(printed - result["ratio"]) < 0.01, f"{result['ratio']} is not in {line!r}")


def test_programs(bed):
    """Programs judge every frame; an object is also measured against its native twin."""
    names = ["hook-touch-drop", "object-count-drop", "object-filter-drop", "hook-tx",
             "object-pass", "object-cpumap"]
    if not glob.glob("/usr/lib/*/bpf/xdpfilt_dny_all.o"):
        names.remove("object-filter-drop")
    _, results = compare(bed, "--scenario", ",".join(names))
    check_equal([r["scenario"] for r in results], names, "results")
    for result in results:
        has_twin = result["scenario"] in ("object-count-drop", "object-pass")
        check((result["twin_ratio"] is not None) == has_twin, f"twin in {result}")
        check(result["fill"] >= result["burst"], f"frames judged by a poll in {result}")


def test_seeds(bed):
    """Every row is printed, and what does not depend on the clock holds; JSON has their source."""
    path = bed.path("seeds.json")
    done = bed.run(PERF, "seeds", "--json", path, *FEW, timeout=60)
    check_equal(done.returncode, 0, f"exit status of seeds ({done.stderr})")
    rows = dict(re.findall(r"^ ?(\d+)  (.*)$", done.stdout, re.M))
    check_equal(sorted(map(int, rows)),
                [4, 5, 10, 13, 14, 15, 16, 24, 25, 27, 28, 30, 32, 38, 39, 57], "rows")
    gain = float(re.search(r"([0-9.]+) times, ", rows["27"]).group(1))
    check(gain >= 1.8, f"recycling gains {gain} only")
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    # The first of a kind: with --no-huge a later one is at the same point.
    cycles = {r["scenario"]: r["ours_cycles"] for r in reversed(results)
              if (r["frame"], r["layout"], r["caches"]) == (60, "packed", "hot")}
    check(abs(gain - cycles["naive"] / cycles["rx-free"]) < 0.01 * gain, f"{gain} of {cycles}")
    check(any(r["caches"] == "cold completions and packets" for r in results), "cold results")


def test_scale(bed):
    """Two cores poll a queue each."""
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("needs two processors")
    names = ["rx-free", "hook-touch-drop"]
    done = bed.run(PERF, "scale", "--scenario", ",".join(names), *FEW, timeout=60)
    check_equal(done.returncode, 0, f"exit status of scale ({done.stderr})")
    gains = dict(re.findall(r"^(\S+) .* ([0-9.]+) times as fast", done.stdout, re.M))
    check_equal(sorted(gains), sorted(names), "lines")
    check(all(float(gain) > 0 for gain in gains.values()), f"gains {gains}")


def test_sweep(bed):
    """A list is varied while the rest stay; the base comes once."""
    _, results = compare(bed, "--sweep", "--scenario", "rx-free", "--burst", "32", "--ring", "512",
                         "--frame", "60,1514", "--queues", "1,2", "--flows", "16",
                         "--layout", "mbuf,packed", "--cqe-size", "64,32")
    report = bed.run(REPORT, bed.path("result.json"))
    check_equal(report.returncode, 0, f"exit status of the report ({report.stderr})")
    check_equal(report.stdout.count("<svg"), 4, "plots: one for each list of two")
    check_equal(report.stdout.count("<tr>"), 1 + len(results), "rows with their head")
    check("http" not in report.stdout, "the report needs the network")
    check_equal([(r["frame"], r["queues"], r["layout"], r["cqe_size"]) for r in results],
                [(60, 1, "mbuf", 64), (1514, 1, "mbuf", 64), (60, 2, "mbuf", 64),
                 (60, 1, "packed", 64), (60, 1, "mbuf", 32)], "points")


def test_count(bed):
    """Instructions repeat: ours need clearly fewer than the stock driver for the same work."""
    if bed.run("which", "valgrind").returncode != 0:
        raise Skip("needs valgrind")
    path = bed.path("count.json")
    wanted = {"tx": 2.2, "hook-touch-drop": 2.8}
    done = bed.run(PERF, "count", "--json", path, "--packets", "2048", "--scenario",
                   ",".join(wanted), timeout=120)
    check_equal(done.returncode, 0, f"exit status of count ({done.stderr})")
    with open(path, encoding="utf-8") as file:
        ratios = {result["scenario"]: result["ratio"] for result in json.load(file)}
    check_equal(sorted(ratios), sorted(wanted), "results")
    for name, least in wanted.items():
        check(ratios[name] >= least, f"{name}: {ratios[name]} times as many, want {least}")


def test_refusals(bed):
    """A wrong word is named and nothing runs."""
    for words, sentence in (
            (["--frame", "59"], "--frame: \"59\" is not allowed"),
            (["--queues", "3"], "--queues: \"3\" is not allowed"),
            (["--rounds", "0"], "--rounds: \"0\" is not a number from 1 to 1001"),
            (["--sweep=1"], "--sweep takes no value"),
            (["--what"], "unknown word \"--what\"")):
        done = bed.run(PERF, "compare", *words)
        check_equal((done.returncode, done.stdout), (2, ""), f"compare {words}")
        check(sentence in done.stderr, f"{words}: {done.stderr}")


def test_same_driver(bed):
    """A driver is not compared with itself: here a library that is no driver is ours."""
    library = os.path.join(build_dir(), "lib", "page_pool", "librte_page_pool.so")
    done = bed.run(PERF, "compare", "--ours", library, *FEW)
    check_equal(done.returncode, 1, "exit status")
    check("both workers run net_mlx4: nothing to compare" in done.stderr, done.stderr)


if __name__ == "__main__":
    testbed.main(globals())
