#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""How net_mlx4x finds its ports, what it says when it cannot, and how ports come and go."""

import os
import re

from lib import bed as testbed
from lib.bed import PCI_ADDRESS, Testpmd, build_dir, check, check_equal, wait_until

DRIVER = os.path.join(build_dir(), "drivers", "net", "mlx4x", "librte_net_mlx4x.so")
NAMES = [f"{PCI_ADDRESS}_port{index}" for index in (0, 1)]


def start(bed, options=(), args=(), edit="", **keywords):
    """testpmd on a strict card; edit is shell text that changes the card's sysfs before."""
    bed.require_hugepages()
    script = bed.path(f"start{bed.next_number()}")
    with open(script, "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\nset -e\npci=$SYSFS_PCI_DEVICES/{PCI_ADDRESS}\n'
                   f'class=$SYSFS_PATH/class\n{edit}\nexec dpdk-testpmd "$@"\n')
    os.chmod(script, 0o755)
    return Testpmd(bed, ["--strict", *options], args, driver=DRIVER, binary=script, **keywords)


def ports(pmd):
    return re.findall(r"^\d+ +\S+ +(\S+) +net_mlx4x", pmd.cmd("show port summary all"), re.M)


def end(pmd):
    pmd.quit()
    counters = pmd.final_counters()
    check_equal({name: nb for name, nb in counters.get("census", {}).items() if nb}, {},
                "objects at the end")


def passes_frames(pmd, index):
    """Frames of testpmd leave a port."""
    before = pmd.stats(index)["TX-packets"]
    pmd.cmd("set fwd txonly")
    pmd.cmd("start")
    wait_until(lambda: pmd.stats(index)["TX-packets"] > before + 100, f"frames of port {index}")
    pmd.cmd("stop")


def test_names(bed):
    """port= selects, several add up; names are those of the function and the port."""
    for arguments, wanted in (("", NAMES), ("port=0", NAMES[:1]), ("port=1", NAMES[1:]),
                              ("port=1,port=0", NAMES)):
        pmd = start(bed, device_args=arguments)
        check_equal(ports(pmd), wanted, f"ports of {arguments!r}")
        end(pmd)


def test_bad_arguments(bed):
    for arguments, sentence in (("port=2", "has the ports 0 to 1"), ("port=x", "ports 0 to 1"),
                                ("colour=red", "not one of: port=")):
        pmd = start(bed, device_args=arguments)
        check(sentence in pmd.output, f"{arguments}: {pmd.output[-800:]}")
        check_equal(ports(pmd), [], f"ports of {arguments!r}")
        end(pmd)


UNUSABLE = (
    ("bound to vfio-pci", "mkdir -p $pci/../../drivers/vfio-pci; "
     "ln -sfn ../../drivers/vfio-pci $pci/driver; rm -r $class/infiniband_verbs/uverbs0",
     "bind it back, dpdk-devbind.py -b mlx4_core"),
    ("no ib_uverbs", "rm -r $class/infiniband_verbs; mkdir -p $pci/infiniband/mlx4_0",
     "load ib_uverbs"),
    ("no device node", "rm $class/infiniband_verbs/uverbs0/dev; mkdir -p $pci/infiniband/mlx4_0",
     "no usable /dev/infiniband/uverbs node"),
    ("no mlx4_ib", "rm -r $class/infiniband_verbs/uverbs0; rm -rf $pci/infiniband",
     "modprobe -a mlx4_en mlx4_ib ib_uverbs"),
    ("no line with the slot", "sed -i /PCI_SLOT_NAME/d $pci/uevent", "has "),
    ("no mlx4_en", "rm -r $pci/net", "load mlx4_en"),
)


def test_unusable(bed):
    """Each way a device can be out of reach is a sentence; the application has its other ports."""
    for what, edit, sentence in UNUSABLE:
        pmd = start(bed, edit=edit, eal=["--vdev=net_null0"])
        said = [line for line in pmd.output.splitlines() if line.startswith("mlx4x: ")]
        check(any(sentence in line and PCI_ADDRESS in line for line in said), f"{what}: {said}")
        check_equal(ports(pmd), [], f"ports with {what}")
        check("net_null0" in pmd.cmd("show port summary all"), f"the other port with {what}")
        passes_frames(pmd, 0)
        end(pmd)


def test_refused_by_the_kernel(bed):
    pmd = start(bed, ["--fault", "command:name=GET_CONTEXT,errno=EPERM"])
    check("cannot open mlx4_0: Operation not permitted" in pmd.output, pmd.output[-800:])
    end(pmd)


def test_infiniband_port(bed):
    """A port in InfiniBand mode is told of, the other works."""
    for number in (1, 2):
        pmd = start(bed, ["--infiniband", str(number)])
        check(f"port {number - 1} is in InfiniBand mode" in pmd.output, pmd.output[-800:])
        check_equal(ports(pmd), [NAMES[2 - number]], "ports")
        passes_frames(pmd, 0)
        end(pmd)


def test_without_hugepages(bed):
    pmd = start(bed, ["--ports", "1"], eal=["--no-huge"], mbufs=4096,
                file_prefix=bed.prefix)
    passes_frames(pmd, 0)
    end(pmd)


def test_identities(bed):
    for device in ("cx3", "cx3pro", "vf"):
        pmd = start(bed, ["--device", device])
        check_equal(ports(pmd), NAMES, f"ports of {device}")
        text = pmd.cmd("show port info 0")
        check("Driver name: net_mlx4x" in text and "Firmware-version: 2.42.5000" in text, text)
        for index in (0, 1):
            passes_frames(pmd, index)
        end(pmd)


def test_link_events(bed):
    """The event goes to the port whose link it is."""
    pmd = start(bed, ["--wire", "1=sink", "--wire", "2=sink"])

    def change(index, state):
        at = len(pmd.output)
        pmd.ctl("link", str(index + 1), state)
        pmd.wait_for(f"Port {index}: link state change event", start=at)
        wait_until(lambda: pmd.link_up(index) == (state == "up"), f"link {state}")
        return pmd.output.count(f"Port {1 - index}: link state change event")

    for index in (0, 1):
        # The first change comes after all that went before.
        others = change(index, "down")
        for state in ("up", "down", "up"):
            check_equal(change(index, state), others, f"events of port {1 - index}")
    pmd.cmd("set link-down port 0")
    wait_until(lambda: not pmd.link_up(0), "link down")
    check(pmd.link_up(1), "the other link stays")
    pmd.cmd("set link-up port 0")
    wait_until(lambda: pmd.link_up(0), "link up")
    end(pmd)


def is_quiet(pmd):
    """Nothing was printed for a second."""
    printed = len(pmd.output)
    pmd.read(1.0)
    return len(pmd.output) == printed


def test_removal_event(bed):
    """Pulled out under traffic: one event for each port, testpmd goes on and ends well."""
    pmd = start(bed, args=["--forward-mode=io"])
    pmd.cmd("start tx_first")
    wait_until(lambda: pmd.stats(0)["RX-packets"] > 100, "traffic")
    pmd.ctl("unplug")
    for index in (0, 1):
        pmd.wait_for(f"Port {index}: device removal event")
    # No command before that is over: testpmd shows and closes ports in two threads without a lock.
    for index in (0, 1):
        pmd.wait_for(f"Port {index} is closed")
    wait_until(lambda: is_quiet(pmd), "silence", 20)
    check_equal(ports(pmd), [], "ports")
    check_equal(len(re.findall("device removal event", pmd.output)), 2, "events")
    pmd.ctl("replug")
    pmd.cmd(f"port attach {PCI_ADDRESS}")
    check_equal(ports(pmd), NAMES, "ports of the new card")
    pmd.cmd("port start all")
    pmd.cmd("stop")
    passes_frames(pmd, 0)
    end(pmd)


def test_close_and_attach(bed):
    """A closed port leaves the other alone; both come back."""
    pmd = start(bed)
    pmd.cmd("port stop 0")
    pmd.cmd("port close 0")
    check_equal(ports(pmd), NAMES[1:], "ports")
    passes_frames(pmd, 1)
    pmd.cmd(f"port attach {PCI_ADDRESS}")
    check_equal(sorted(ports(pmd)), NAMES, "ports after attaching")
    pmd.cmd("port start all")
    passes_frames(pmd, 0)
    passes_frames(pmd, 1)
    pmd.cmd("port stop all")
    pmd.cmd(f"device detach {PCI_ADDRESS}")
    check_equal(ports(pmd), [], "ports after detaching")
    check_equal(sum(pmd.counters()["census"].values()), 0, "objects after detaching")
    end(pmd)


def test_devbind(bed):
    """dpdk-devbind.py lists the card as one that the kernel's driver has."""
    bed.require_root()
    done = bed.launch(["--mount"], ["dpdk-devbind.py", "--status"])
    check_equal(done.returncode, 0, f"exit status, {done.stderr}")
    line = [line for line in done.stdout.splitlines() if line.startswith(PCI_ADDRESS)]
    check(len(line) == 1 and "drv=mlx4_core" in line[0] and "if=" in line[0], done.stdout)
    kernel = done.stdout.index("using kernel driver")
    check(done.stdout.index(PCI_ADDRESS) > kernel, done.stdout)


def test_pmdinfo(bed):
    done = bed.run("dpdk-pmdinfo.py", os.path.realpath(DRIVER))
    for wanted in ("net_mlx4x", "mlx4_core", "1003", "1004", "1007"):
        check(wanted in done.stdout, f"{wanted} in {done.stdout} {done.stderr}")


if __name__ == "__main__":
    testbed.main(globals())
