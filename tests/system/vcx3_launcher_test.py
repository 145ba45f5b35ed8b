#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The launcher: rdma-core's tools, exit statuses, bad input, nothing left behind."""

import json
import os
import signal
import socket
import subprocess
import time

from lib import bed as testbed
from lib.bed import check, check_equal, wait_until


def test_ibv_devices(bed):
    done = bed.launch([], ["ibv_devices"])
    check_equal(done.returncode, 0, "exit status")
    lines = [line.split() for line in done.stdout.splitlines() if "mlx4" in line]
    check_equal(lines, [["mlx4_0", "0002c90000000001"]], "devices")
    check_equal(bed.leftovers(), [], "left behind")


def test_ibv_devinfo(bed):
    done = bed.launch([], ["ibv_devinfo", "-v"])
    check_equal(done.returncode, 0, "exit status")
    text = done.stdout
    check_equal(text.count("hca_id:"), 1, "cards")
    for wanted in ("fw_ver:\t\t\t\t2.42.5000", "vendor_part_id:\t\t\t4099",
                   "phys_port_cnt:\t\t\t2", "RAW_IP_CSUM", "MANAGED_FLOW_STEERING",
                   "max_tso:\t\t\t131072", "hca_core_clock:\t\t\t427000kHZ"):
        check(wanted in text, f"ibv_devinfo -v lacks {wanted!r}")
    check_equal(text.count("state:\t\t\tPORT_ACTIVE (4)"), 2, "active ports")
    check_equal(text.count("link_layer:\t\tEthernet"), 2, "Ethernet ports")
    check_equal(text.count("active_width:\t\t4X (2)"), 2, "ports of width 4X")
    check_equal(text.count("active_speed:\t\t10.0 Gbps (8)"), 2, "lanes of 10 Gb/s: 40G ports")


def test_identities(bed):
    for device, part in (("cx3", 0x1003), ("cx3pro", 0x1007), ("vf", 0x1004)):
        text = bed.launch(["--device", device], ["ibv_devinfo"]).stdout
        check(f"vendor_part_id:\t\t\t{part}" in text, f"{device} has not part id {part}: {text}")


def test_ports_and_modes(bed):
    text = bed.launch(["--ports", "1", "--speed", "10000", "--mtu", "9000"],
                      ["ibv_devinfo", "-v"]).stdout
    check_equal(text.count("\tport:\t"), 1, "ports")
    check("active_width:\t\t1X (1)" in text, "10G is one lane")
    check("active_mtu:\t\t4096 (5)" in text, "MTU of 9000 shows as 4096")
    text = bed.launch(["--infiniband", "2"], ["ibv_devinfo"]).stdout
    check_equal(text.count("link_layer:\t\tInfiniBand"), 1, "InfiniBand ports")


def test_exit_status(bed):
    check_equal(bed.launch([], ["sh", "-c", "exit 7"]).returncode, 7, "exit status")
    check_equal(bed.launch([], ["sh", "-c", "kill -9 $$"]).returncode, 137, "status of kill -9")
    check_equal(bed.launch([], ["/nonexistent/program"]).returncode, 127, "no such program")
    check_equal(bed.leftovers(), [], "left behind")


BAD_LINES = (
    (["--bogus"], "--bogus", "--ports"),
    (["--ports", "3"], "--ports", "1 or 2"),
    (["--ports"], "--ports", "value"),
    (["--wire", "1=rope"], "rope", "peer"),
    (["--wire", "3=sink"], "3=sink", "port 1 or 2"),
    (["--wire", "1=sink", "--wire", "1=self"], "port 1", "two wires"),
    (["--wire", "1=pcap:rx=/nonexistent.pcap"], "/nonexistent.pcap", "No such file"),
    (["--wire", "1=packet:nosuchif0"], "nosuchif0", ""),
    (["--device", "cx5"], "cx5", "cx3pro"),
    (["--speed", "100"], "100", "40000"),
    (["--mtu", "20000"], "20000", "68 to 9900"),
    (["--cqe-size", "128"], "128", "32 or 64"),
    (["--netdev", "none"], "none", "tap or virtual"),
    (["--fault", "nonsense"], "nonsense", "rx_error tx_error command"),
    (["--fault", "drop:speed=1"], "speed", "port dir skip count"),
    (["--fault", "command:name=EXPLODE"], "EXPLODE", "CREATE_CQ"),
    (["--fault", "command:name=REG_MR,errno=EWHAT"], "EWHAT", "errno.h"),
    (["--control", "/nonexistent/socket"], "/nonexistent/socket", "No such file"),
    (["--counters", "/nonexistent/counters.json"], "/nonexistent/counters.json", "No such file"),
    (["--vlan-insert", "maybe"], "maybe", "on or off"),
)


def test_bad_lines(bed):
    for options, named, choices in BAD_LINES:
        done = bed.launch(options, ["true"])
        check_equal(done.returncode, 2, f"exit status of {options}")
        check(named in done.stderr and choices in done.stderr,
              f"{options}: the sentence names not {named!r} and {choices!r}: {done.stderr}")
    done = bed.run(bed.vcx3, "--ports", "1")
    check_equal(done.returncode, 2, "exit status without a command")
    check_equal(bed.leftovers(), [], "left behind")


def client(name):
    """One of the verbs clients; they need --step --ports 1 --wire 1=self."""
    return os.path.join(testbed.build_dir(), "tests", "system", "verbs", "verbs-" + name)


ONE_PORT = ["--step", "--ports", "1", "--wire", "1=self"]


def test_strict_tells_what_is_wrong(bed):
    """A client that makes errors on purpose: rule, object and words are named; status 3."""
    done = bed.launch([*ONE_PORT, "--strict"], [client("traffic")])
    check_equal(done.returncode, 3, "exit status")
    for wanted in ("rule lkey broken by", "rule mr_range broken by", "words:", "violations of rules"):
        check(wanted in done.stderr, f"{wanted!r} is missing: {done.stderr}")
    done = bed.launch([*ONE_PORT, "--strict"], [client("traffic"), "--no-errors"])
    check_equal(done.returncode, 0, f"status of one without errors: {done.stderr}")


def test_faults_of_commands(bed):
    """The nth command fails with the errno asked for, by name or number."""
    for error in ("ENOMEM", "12"):
        done = bed.launch([*ONE_PORT, "--fault", f"command:name=REG_MR,nth=1,errno={error}"],
                          [client("traffic")])
        check_equal(done.returncode, 1, "exit status")
        check("ibv_reg_mr: Cannot allocate memory" in done.stderr, f"the error: {done.stderr}")


def test_counters_of_wires(bed):
    path = bed.path("counters.json")
    check_equal(bed.launch([*ONE_PORT, "--counters", path], [client("traffic")]).returncode, 0,
                "exit status")
    with open(path, encoding="utf-8") as file:
        port = json.load(file)["ports"][0]
    check(port["tx_frames"] > 80000, f"frames sent: {port}")
    check_equal([port["wire"]["tx_frames"], port["wire"]["tx_bytes"]],
                [port["tx_frames"], port["tx_bytes"]], "frames and bytes into the wire")
    check_equal(port["wire"]["rx_frames"], port["tx_frames"], "and out of it again")


def test_mount(bed):
    """Tools that know no environment variable find the card, and only below the launcher."""
    bed.require_root()
    listed = bed.launch(["--mount"], ["lspci", "-D", "-k", "-d", "15b3:"])
    check_equal(listed.returncode, 0, f"status of lspci: {listed.stderr}")
    check("0000:03:00.0 Ethernet controller" in listed.stdout and "ConnectX-3" in listed.stdout,
          f"lspci: {listed.stdout}")
    check("Kernel driver in use: mlx4_core" in listed.stdout, f"lspci: {listed.stdout}")
    status = bed.launch(["--mount"], ["dpdk-devbind.py", "--status-dev", "net"])
    check(any("0000:03:00.0" in line and "drv=mlx4_core" in line
              for line in status.stdout.splitlines()), f"devbind: {status.stdout}{status.stderr}")
    classes = bed.launch(["--mount"], ["ls", "/sys/class/infiniband", "/sys/class/net"])
    check("mlx4_0" in classes.stdout and "lo" in classes.stdout, f"classes: {classes.stdout}")
    # Without the variables: what the tree is for.
    found = bed.launch(["--mount"], ["env", "-u", "SYSFS_PATH", "ibv_devinfo"])
    check("mlx4_0" in found.stdout, f"ibv_devinfo: {found.stdout}{found.stderr}")
    outside = bed.run("lspci", "-d", "15b3:").stdout
    check_equal(outside.count("ConnectX-3"), 0, "cards of this kind outside")
    check_equal(bed.leftovers(), [], "left behind")


def test_what_needs_root(bed):
    """Another user is told so before anything is made; the rest works for everybody."""
    bed.require_root()
    os.chmod(bed.dir, 0o777)
    become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if bed.run(*become, "test", "-x", bed.vcx3).returncode != 0:
        raise testbed.Skip("another user cannot reach the build folder")
    user = [*become, bed.vcx3]
    env = {**os.environ, "TMPDIR": bed.dir}
    for options in (["--mount"], ["--netdev", "tap"], ["--wire", "1=packet:lo"],
                    ["--wire", "1=tap:uvx0"]):
        done = bed.run(*user, "--ports", "1", *options, "--", "true", env=env)
        check_equal(done.returncode, 2, f"exit status of {options}: {done.stderr}")
        check("Operation not permitted" in done.stderr and "needs" in done.stderr,
              f"{options}: {done.stderr}")
    done = bed.run(*user, "--", "ibv_devinfo", env=env)
    check("mlx4_0" in done.stdout, f"the card of another user: {done.stdout}{done.stderr}")
    check_equal(bed.leftovers(), [], "left behind")


def test_truncated_pcap(bed):
    with open(bed.path("short.pcap"), "wb") as file:
        file.write(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
        file.write(bytes.fromhex("0000000000000000400000004000000000"))
    done = bed.launch(["--wire", f"1=pcap:rx={bed.path('short.pcap')}"], ["true"])
    check_equal(done.returncode, 2, "exit status")
    check("short.pcap" in done.stderr, f"the sentence names the file: {done.stderr}")


def test_help_and_ctl(bed):
    done = bed.run(bed.vcx3, "--help")
    check_equal(done.returncode, 0, "exit status of --help")
    for option in ("--ports", "--wire", "--strict", "--mount", "--control", "--fault"):
        check(option in done.stdout, f"--help lacks {option}")
    done = bed.run(bed.vcx3, "ctl", "/nonexistent", "explode")
    check_equal(done.returncode, 2, "exit status of an unknown verb")
    check("explode" in done.stderr and "unplug" in done.stderr, "it names the verbs")
    done = bed.run(bed.vcx3, "ctl", "/nonexistent", "go")
    check_equal(done.returncode, 2, "exit status without a server")
    check("/nonexistent" in done.stderr, "it names the socket")


PCI_REFUSED = (
    (["link", "1", "sideways"], "PORT up|down"), (["link", "9", "up"], "PORT up|down"),
    (["link", "1x", "up"], "PORT up|down"), (["link", "1"], "PORT up|down"),
    (["inject", "command:name=REG_MR"], "SW2HW_MPT"), (["inject", "drop:port=3"], "port"),
    (["inject"], "usage: inject"), (["unplug", "now"], "usage: unplug"),
    (["go"], "no port has a source"), (["step"], "the PCI device knows"),
)


def test_control_of_the_pci_device(bed):
    """Bad words are named and change nothing, as with the other front end."""
    control = bed.path("pci.ctl")
    card = subprocess.Popen([bed.vcx3, "pci", "--socket", bed.path("pci"), "--control", control,
                             "--wire", "1=sink", "--wire", "2=sink"])
    try:
        wait_until(lambda: os.path.exists(control), "the control socket")
        for words, sentence in PCI_REFUSED:
            done = bed.run(bed.vcx3, "ctl", control, *words)
            check_equal(done.returncode, 2, f"exit status of {words}: {done.stdout}")
            check(sentence in done.stderr, f"{words}: {done.stderr}")
        counters = json.loads(bed.run(bed.vcx3, "ctl", control, "counters").stdout)
        check_equal([port["wire"]["carrier"] for port in counters["ports"]], [True, True], "links")
        check_equal(counters["device"]["dead"], False, "an unplugged device")
        done = bed.run(bed.vcx3, "ctl", control, "inject", "command:name=sw2hw_mpt,nth=2")
        check_equal(done.returncode, 0, f"a name in lower case: {done.stderr}")
    finally:
        card.terminate()
        card.wait(20)


def test_help_is_the_man_page(bed):
    """One set of tables makes both."""
    text = bed.run(bed.vcx3, "--help").stdout
    with open(os.path.join(testbed.build_dir(), "vcx3", "vcx3.1"), encoding="utf-8") as file:
        page = file.read().replace("\\-", "-")
    for line in text.splitlines():
        words = " ".join(line.split())
        option = line.split()[0] if line.startswith("  ") else ""
        if option:
            check(option in page, f"the man page lacks {option!r} of {words!r}")


def test_control_socket_is_taken(bed):
    path = bed.path("taken")
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    done = bed.launch(["--control", path], ["true"])
    check_equal(done.returncode, 2, "exit status")
    check("another vcx3" in done.stderr, f"it says why: {done.stderr}")
    server.close()
    done = bed.launch(["--control", path], ["true"])
    check_equal(done.returncode, 0, "exit status after the other has died")


def test_counters_without_a_card_user(bed):
    path = bed.path("counters.json")
    check_equal(bed.launch(["--counters", path], ["true"]).returncode, 0, "exit status")
    with open(path, encoding="utf-8") as file:
        check_equal(json.load(file), {}, "counters of a card that nobody opened")


def test_kill_leaves_nothing(bed):
    # The child: the launcher removes the folder and tells how the child died.
    card = testbed.Card(bed, [], ["sleep", "60"])
    wait_until(bed.leftovers, "the state folder")
    child = card.child("sleep")
    os.kill(child, signal.SIGKILL)
    check_equal(card.finish(), 137, "exit status")
    check_equal(bed.leftovers(), [], "left behind by a killed child")
    # The launcher itself: its janitor removes the folder, and the child goes too.
    card = testbed.Card(bed, [], ["sleep", "60"])
    wait_until(bed.leftovers, "the state folder")
    child = card.child("sleep")
    os.kill(card.process.pid, signal.SIGKILL)
    wait_until(lambda: not bed.leftovers(), "the removal of the folder")
    wait_until(lambda: not os.path.exists(f"/proc/{child}"), "the end of the child")


def test_kill_of_a_busy_card(bed):
    """What wires and netdevs made goes too: interfaces, sockets, the control socket."""
    bed.require_root()
    tap, path = f"uvt{os.getpid() % 100000}", bed.path("cable")
    before = set(os.listdir("/sys/class/net"))
    pmd = testbed.Testpmd(bed, ["--netdev", "tap", "--wire", f"1=tap:{tap}",
                                "--wire", f"2=unix:{path}"], [])
    made = set(os.listdir("/sys/class/net")) - before
    check(tap in made and len(made) == 3, f"the wire's interface and two netdevs: {made}")
    check(os.path.exists(path) and os.path.exists(pmd.control), "the sockets")
    second = bed.launch(["--wire", f"1=tap:{tap}", "--wire", "2=sink"], ["true"])
    check_equal(second.returncode, 2, "status of a second card on this interface")
    check(tap in second.stderr, f"it names the interface: {second.stderr}")
    os.kill(pmd.child("dpdk-testpmd"), signal.SIGKILL)
    check_equal(pmd.finish(), 137, "exit status")
    wait_until(lambda: not made & set(os.listdir("/sys/class/net")), "the end of the interfaces")
    check_equal([os.path.exists(path), os.path.exists(pmd.control)], [False, False], "sockets")
    check_equal(bed.leftovers(), [], "left behind")


def test_waits_for_daemons(bed):
    began = time.monotonic()
    done = bed.launch([], ["sh", "-c", "(sleep 1; ibv_devices) & exit 0"])
    check_equal(done.returncode, 0, "exit status")
    check(time.monotonic() - began >= 1, "the launcher waits for what the program left running")
    check("mlx4_0" in done.stdout, "and the card is still there for it")


if __name__ == "__main__":
    testbed.main(globals())
