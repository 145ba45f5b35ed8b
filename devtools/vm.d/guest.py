# SPDX-License-Identifier: BSD-3-Clause
"""What a guest is made of: which QEMU, which kernels, which files."""

import pathlib
import shutil
import subprocess

import initramfs
import packages

HERE = pathlib.Path(__file__).resolve().parent

# Kernel name on the command line -> Debian suite that has it.
KERNELS = {"6.1": "bookworm", "6.12": "trixie", "7": "trixie-backports"}
QEMU_SUITE = "trixie-backports"

MODULES = (
    "mlx4_core", "mlx4_en", "mlx4_ib", "ib_uverbs", "rdma_ucm", "vfio-pci", "tun", "veth", "8021q",
    "9p", "9pnet_virtio", "virtio_pci",
)

PROGRAMS = (
    "ip", "bridge", "ethtool", "ping", "iperf3", "rdma", "modprobe", "lsmod", "rmmod", "lspci",
    "ibv_devinfo", "ibv_devices", "dpdk-testpmd", "bpftool", "xdp-loader", "stty", "timeout",
    "tcpdump", "bash", "sh", "jq", "socat",
)

PLUGINS = (
    "bus_pci", "bus_vdev", "mempool_ring", "mempool_stack", "net_mlx4", "net_null", "net_ring",
    "net_tap", "net_pcap", "net_af_packet",
)


def qemu(cache):
    """The command line's start for a QEMU that has vfio-user-pci."""
    root = pathlib.Path(cache).resolve() / "qemu"
    done = root / ".unpacked"
    if not done.exists():
        shutil.rmtree(root, ignore_errors=True)
        packages.Suite(QEMU_SUITE, cache).unpack(["qemu-system-x86"], root, closure=True)
        done.touch()
    libs = root / "usr/lib/x86_64-linux-gnu"
    # Run by its own loader and libraries: nothing of it is installed, no chroot is needed.
    return ["env", f"QEMU_MODULE_DIR={libs}/qemu", f"{root}/usr/lib64/ld-linux-x86-64.so.2",
            "--library-path", str(libs), f"{root}/usr/bin/qemu-system-x86_64",
            "-L", f"{root}/usr/share/qemu", "-L", f"{root}/usr/share/seabios"]


def kernel_packages(suite):
    """The image that linux-image-amd64 stands for, with the parts later kernels split off."""
    images = suite.dependencies("linux-image-amd64", "linux-image-")
    if not images:
        raise packages.Unreachable(f"linux-image-amd64 of {suite.name} names no kernel")
    release = images[-1].removeprefix("linux-image-")
    return [images[-1], *suite.dependencies(images[-1], release)]


class Kernel:
    """One unpacked kernel: its folder, release and boot image."""

    def __init__(self, name, cache):
        self.root = pathlib.Path(cache).resolve() / f"kernel-{name}"
        done = self.root / ".unpacked"
        if not done.exists():
            self._unpack(packages.Suite(KERNELS[name], cache))
            done.touch()
        self.release = self._release()
        images = (self.root / f"boot/vmlinuz-{self.release}",
                  self.root / f"lib/modules/{self.release}/vmlinuz")
        self.image = next(image for image in images if image.exists())

    def _release(self):
        return next((self.root / "lib/modules").iterdir()).name

    def _unpack(self, suite):
        shutil.rmtree(self.root, ignore_errors=True)
        suite.unpack(kernel_packages(suite), self.root)
        if not (self.root / "lib").exists():
            (self.root / "lib").symlink_to("usr/lib")
        subprocess.run(["depmod", "-b", self.root, self._release()], check=True)


def busybox(cache):
    root = pathlib.Path(cache).resolve() / "busybox"
    if not (root / "bin/busybox").exists():
        packages.Suite("bookworm", cache).unpack(["busybox-static"], root)
    return root / "bin/busybox"


def build_root(kernel, cache):
    """The files of every guest; a run adds its script and what that needs."""
    root = initramfs.Initramfs()
    for name in ("proc", "sys", "dev", "tmp", "root", "run", "test", "etc", "var", "mnt"):
        root.directory(name)
    shell = busybox(cache)
    applets = subprocess.run([shell, "--list"], check=True, capture_output=True, text=True)
    for applet in applets.stdout.split():
        root.link(f"/bin/{applet}", "busybox")
    root.remove("/bin/busybox")
    root.copy(shell, "/bin/busybox")
    for program in PROGRAMS:
        path = shutil.which(program, path="/usr/sbin:/usr/bin")
        if path:
            root.remove(f"/bin/{program}")
            root.copy(path)
    _add_dpdk(root)
    for path in ("/etc/ld.so.cache", "/etc/libibverbs.d", "/usr/share/misc/pci.ids"):
        if pathlib.Path(path).exists():
            root.copy(path)
    for provider in pathlib.Path("/usr/lib/x86_64-linux-gnu/libibverbs").glob("libmlx4-*"):
        root.copy(provider)
    root.copy("/usr/lib/x86_64-linux-gnu/libgcc_s.so.1")
    root.copy("/usr/libexec/coreutils/libstdbuf.so")
    root.data("/etc/modprobe.d/mlx4.conf", b"options mlx4_core log_num_mgm_entry_size=-1\n")
    root.data("/etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
    root.modules(kernel.root, kernel.release, MODULES)
    root.copy(HERE / "guest-init", "/init")
    root.copy(HERE / "guest-host", "/usr/bin/host")
    return root


def _add_dpdk(root):
    folders = sorted(pathlib.Path("/usr/lib/x86_64-linux-gnu/dpdk").glob("pmds-*"))
    if not folders:
        return
    for plugin in PLUGINS:
        for path in folders[-1].glob(f"librte_{plugin}.so*"):
            root.copy(path)
