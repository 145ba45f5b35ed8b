#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions a packet, as callgrind counts them: the same on every run, whatever else the machine
does. The workloads of bench.c, net of a program that only drops; each must stay within its limit.

usage: instructions_test.py XDPVM-BENCH BENCH-OBJECT XDPFILT-OBJECT
"""

import re
import shutil
import subprocess
import sys

RUNS = 2000	# COUNT_RUNS in bench.c

# What is measured on x86-64 today, and a little for another compiler of the objects.
LIMITS = {
    "parse+array": 40,
    "parse+percpu-array": 44,
    "ip-hash": 57,
    "5-tuple-hash": 77,
    "xdpfilt_dny_all": 258,
}


def count(name):
    got = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--smc-check=all",
         "--toggle-collect=count_runs", sys.argv[1], "--count", name, *sys.argv[2:]],
        capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r"Collected : (\d+)", got.stderr)
    if got.returncode != 0 or not found:
        sys.exit(f"{name}: callgrind counted nothing:\n{got.stderr}")
    return int(found.group(1)) / RUNS


def main():
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed")
        sys.exit(77)
    bad = False
    loop = count("drop")
    for name, limit in LIMITS.items():
        instructions = count(name) - loop
        print(f"{name:20} {instructions:8.1f} instructions/packet, limit {limit}")
        bad |= not 0 < instructions <= limit
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
