#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""doc/xdp_maps.rst lists the helpers of helper_table.c with their versions and the map types of
map.c, all of them and no others.

usage: doc_test.py SOURCE_ROOT
"""

import pathlib
import re
import sys


def documented(text, heading):
    """Lines of the table below a heading, from its second rule to its third."""
    table = text.split(f"\n{heading}\n---", 1)[1].split("\n\n")
    rules = [block for block in table if block.startswith("===")][0].split("\n")
    ends = [i for i, line in enumerate(rules) if line.startswith("===")]
    return rules[ends[1] + 1:ends[2]]


def compare(what, doc, code):
    for name in sorted(doc - code):
        print(f"{what} {name} is documented, but not in the code")
    for name in sorted(code - doc):
        print(f"{what} {name} is in the code, but not documented")
    return doc == code


def main(root):
    text = (root / "doc/xdp_maps.rst").read_text()
    table = (root / "lib/xdpvm/helper_table.c").read_text()
    maps = (root / "lib/xdpvm/map.c").read_text()
    code = set(re.findall(r'\.name = "(\w+)", \.since = "([\d.]+)"', table))
    doc = {tuple(line.split()[:2]) for line in documented(text, "Helpers")}
    ok = compare("helper", doc, code) and len(code) > 30
    code = set(re.findall(r"\[BPF_MAP_TYPE_(\w+)\] =", maps))
    doc = set(re.findall(r"\b[A-Z][A-Z_]{3,}\b",
                         " ".join(line[:26] for line in documented(text, "Maps"))))
    ok = compare("map type", doc, code) and len(code) > 15 and ok
    print("doc and code agree" if ok else "doc and code differ")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
