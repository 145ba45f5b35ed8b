# SPDX-License-Identifier: BSD-3-Clause
"""One run of a guest: the device's process, QEMU, a deadline, the files left."""

import pathlib
import json
import re
import socket
import subprocess
import threading
import time


# The guest's second serial line on this program's terminal.
TERMINAL = ["-chardev", "stdio,id=terminal,signal=off", "-serial", "chardev:terminal"]

# The kernel lets the card through (iommu=pt): the device takes few DMA regions.
IOMMU = ["-device", "intel-iommu,caching-mode=on"]

# Behind the third port of a PCI Express root, so that the card is 0000:03:00.0, as below the
# launcher.
ROOT_PORTS = [word for port in (1, 2, 3) for word in
              ("-device", f"pcie-root-port,id=port{port},chassis={port},addr={16 + port:#x}")]


class Failed(Exception):
    """The guest or the device ended in another way than the script's own status."""


def stop(process):
    """Ends one child, by force when it does not listen."""
    if process and process.poll() is None:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def serve_control(listener, client):
    """Passes lines of the guest's third serial line to `vcx3 ctl` and answers back."""
    line = listener.accept()[0].makefile("rw", newline="\n")
    for words in line:
        done = subprocess.run([*client, *words.split()], capture_output=True, text=True,
                              check=False, timeout=10)
        line.write(f"{done.stdout}{done.stderr}\nstatus {done.returncode}\n")
        line.flush()


def start_control(path, client):
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(1)
    threading.Thread(target=serve_control, args=(listener, client), daemon=True).start()


def start_device(command, path, out):
    with open(out / "device.log", "wb") as log:
        device = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    for _ in range(100):
        if path.exists():
            return device
        if device.poll() is not None:
            break
        time.sleep(0.05)
    stop(device)
    raise Failed(f"the device made no socket {path}: see {out}/device.log")


def qemu_command(qemu, options, kernel, initrd, out):
    command = [
        *qemu, "-machine", "q35,memory-backend=ram", "-accel", "tcg,thread=multi",
        "-cpu", "max", "-smp", str(options.cpus), "-m", str(options.memory),
        "-object", f"memory-backend-memfd,id=ram,size={options.memory}M,share=on",
        "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
        "-kernel", str(kernel), "-initrd", str(initrd),
        "-append", f"console=ttyS0 panic=-1 quiet loglevel=6 "
        f"{'intel_iommu=on iommu=pt' if options.iommu else ''} {options.append}",
        "-serial", f"file:{out}/console.log",
        *(TERMINAL if options.terminal else ["-serial", f"file:{out}/transcript.txt"]),
    ]
    if options.iommu:
        command += IOMMU
    if options.share:
        command += ["-virtfs", f"local,path={options.share},mount_tag=share,security_model=none"]
    if options.device:
        command += [
            *ROOT_PORTS,
            "-chardev", f"socket,id=control,path={out}/serial.sock", "-serial", "chardev:control",
            "-device", json.dumps({"driver": "vfio-user-pci", "bus": "port3",
                                   "socket": {"type": "unix", "path": f"{out}/vfio-user.sock"}}),
        ]
    return command


def wait_for_guest(process, deadline, out):
    try:
        process.wait(max(1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise Failed(f"the guest was still running at its time limit: see {out}") from None
    if process.returncode:
        raise Failed(f"QEMU ended with status {process.returncode}: see {out}/qemu.log")


def guest_status(out):
    """What the guest's script returned, from the last line of the console."""
    text = (out / "console.log").read_text(errors="replace")
    found = re.search(r"^exit status: (\d+)\r?$", text, re.M)
    if not found:
        raise Failed(f"the guest ended without a status of its script: see {out}/console.log")
    return int(found[1])


def run(qemu, options, kernel, initrd):
    """Runs one guest to its end and returns its script's status."""
    out = pathlib.Path(options.out).resolve()
    deadline = time.monotonic() + options.timeout
    device = guest = None
    try:
        if options.device:
            path = out / "vfio-user.sock"
            path.unlink(missing_ok=True)
            start_control(out / "serial.sock", [options.vcx3, "ctl", out / "control.sock"])
            device = start_device([*options.device, "--socket", path,
                                   "--control", out / "control.sock"], path, out)
        with open(out / "qemu.log", "wb") as log:
            guest = subprocess.Popen(qemu_command(qemu, options, kernel, initrd, out), stderr=log,
                                     stdin=None if options.terminal else subprocess.DEVNULL,
                                     stdout=None if options.terminal else log)
        wait_for_guest(guest, deadline, out)
        status = guest_status(out)
        if device:
            check_device(device, out)
        return status
    finally:
        stop(guest)
        stop(device)


def check_device(device, out):
    """A device that died under the guest fails the run, whatever the guest saw."""
    if device.poll() not in (None, 0):
        raise Failed(f"the device ended with status {device.returncode}: see {out}/device.log")
