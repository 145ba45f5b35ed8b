# SPDX-License-Identifier: BSD-3-Clause
"""A guest's whole root file system as one initramfs: programs of this machine
with the libraries that they need, kernel modules with the modules that those
need, and single files, written in the kernel's newc format.
"""

import os
import pathlib
import re
import stat
import subprocess


# Folders of / that are links into /usr, as Debian has them.
MERGED = ("bin", "sbin", "lib", "lib64")


def inside(path):
    """A guest's path without its first slash, through Debian's merged folders."""
    path = path.strip("/")
    return f"usr/{path}" if path.split("/")[0] in MERGED and "/" in path else path


class Initramfs:
    """Collects the files of a guest by their path there."""

    def __init__(self):
        self.entries = {}
        for name in MERGED:
            self.directory(f"usr/{name}")
            self.entries[name] = (stat.S_IFLNK | 0o777, f"usr/{name}".encode())

    def directory(self, path, mode=0o755):
        path = inside(path)
        if path and path not in self.entries:
            self.directory(os.path.dirname(path))
            self.entries[path] = (stat.S_IFDIR | mode, b"")

    def data(self, path, content, mode=0o644):
        path = inside(path)
        self.directory(os.path.dirname(path))
        self.entries[path] = (stat.S_IFREG | mode, content)

    def link(self, path, target):
        path = inside(path)
        self.directory(os.path.dirname(path))
        self.entries[path] = (stat.S_IFLNK | 0o777, str(target).encode())

    def remove(self, path):
        self.entries.pop(inside(path), None)

    def copy(self, source, path=None):
        """One file, or a whole folder, with the libraries of each program in it."""
        source = pathlib.Path(source)
        path = str(path or source)
        if source.is_dir() and not source.is_symlink():
            for child in sorted(source.iterdir()):
                self.copy(child, f"{path}/{child.name}")
        elif inside(path) not in self.entries:
            self._copy_file(source, path)

    def _copy_file(self, source, path):
        if source.is_symlink():
            target = os.readlink(source)
            self.link(path, target)
            self.copy(source.parent / target,
                      os.path.normpath(os.path.join(os.path.dirname(path), target)))
            return
        content = source.read_bytes()
        self.data(path, content, 0o755 if os.access(source, os.X_OK) else 0o644)
        if content.startswith(b"\x7fELF"):
            for library in libraries(source):
                self.copy(library)

    def modules(self, root, release, names):
        """Kernel modules by name with their dependencies, unpacked for insmod."""
        folder = pathlib.Path(root) / "lib/modules" / release
        for name in names:
            found = subprocess.run(
                ["modprobe", "-d", root, "-S", release, "--ignore-install", "-D", name],
                capture_output=True, text=True, check=False).stdout
            for path in re.findall(r"^insmod (\S+)", found, re.M):
                place = pathlib.Path(path).relative_to(root)
                self.copy(path, f"/{place}")
        for table in folder.glob("modules.*"):
            self.copy(table, f"/lib/modules/{release}/{table.name}")

    def write(self, file):
        for number, (path, (mode, content)) in enumerate(sorted(self.entries.items()), 1):
            _write_entry(file, number, path, mode, content)
        _write_entry(file, 0, "TRAILER!!!", 0, b"")


def libraries(program):
    """The shared objects that the loader would take, the loader included."""
    listing = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return [os.path.normpath(path)
            for path in re.findall(r"(?:=> |^\t)(/\S+) \(0x", listing, re.M)]


def _write_entry(file, number, path, mode, content):
    name = path.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
    file.write(head + b"\0" * (-len(head) % 4))
    file.write(content + b"\0" * (-len(content) % 4))
