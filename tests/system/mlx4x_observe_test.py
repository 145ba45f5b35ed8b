#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What net_mlx4x tells of its ports, against the card's own counters."""

from lib import bed as testbed
from lib.bed import Testpmd, check, check_equal
from lib.self_port import DRIVER, run_program


def test_observe(bed):
    """The program in C: extended statistics, module EEPROM, LED, fast free, a removed card."""
    run_program(bed, "system/mlx4x_observe_test")


def test_virtual_function(bed):
    """The kernel tells a virtual function nothing of the port, its module and its LED."""
    bed.require_hugepages()
    pmd = Testpmd(bed, ["--strict", "--device", "vf", "--ports", "1", "--wire", "1=self"],
                  driver=DRIVER)
    names = pmd.xstats(0)
    check("rx_q0_xdp_drop" in names, f"own counters in {names}")
    check_equal([name for name in names if "_phy_" in name], [], "counters of the port")
    text = pmd.cmd("show port 0 module_eeprom")
    check("the kernel does not read the module: Input/output error" in text, text)
    pmd.quit()


if __name__ == "__main__":
    testbed.main(globals())
