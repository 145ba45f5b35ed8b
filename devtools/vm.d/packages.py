# SPDX-License-Identifier: BSD-3-Clause
"""Debian packages of any suite, unpacked into a folder and never installed.

Each suite gets an apt of its own (lists, cache, an empty dpkg status) under the
cache folder while packages of it are fetched, so the machine's own sources and packages stay as they are.
"""

import pathlib
import shutil
import subprocess

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
MIRROR = "http://deb.debian.org"

SUITES = {
    "bookworm": [("debian", "bookworm"), ("debian-security", "bookworm-security")],
    "trixie": [("debian", "trixie")],
    "trixie-backports": [("debian", "trixie"), ("debian", "trixie-backports")],
    "forky": [("debian", "forky")],
}


class Unreachable(Exception):
    """A suite or a package that cannot be had here: the caller skips."""


class Suite:
    """The packages of one Debian suite."""

    def __init__(self, name, cache):
        self.name = name
        self.dir = pathlib.Path(cache).resolve() / "apt" / name
        self.config = self.dir / "apt.conf"
        self.updated = False

    def _write_config(self):
        for part in ("lists/partial", "cache/archives/partial", "parts"):
            (self.dir / part).mkdir(parents=True, exist_ok=True)
        (self.dir / "status").touch()
        (self.dir / "sources.list").write_text("".join(
            f"deb [signed-by={KEYRING}] {MIRROR}/{archive} {suite} main\n"
            for archive, suite in SUITES[self.name]))
        self.config.write_text(
            f'Dir::State "{self.dir}";\n'
            f'Dir::State::status "{self.dir}/status";\n'
            f'Dir::Cache "{self.dir}/cache";\n'
            f'Dir::Etc "{self.dir}/parts";\n'
            f'Dir::Etc::sourcelist "{self.dir}/sources.list";\n'
            f'Dir::Etc::sourceparts "{self.dir}/parts";\n'
            f'Dir::Etc::parts "{self.dir}/parts";\n'
            'APT::Sandbox::User "root";\n'
            'APT::Architecture "amd64";\n'
            'APT::Architectures "amd64";\n'
            'APT::Install-Recommends "false";\n'
            f'APT::Default-Release "{self.name}";\n'
            # A later suite may be read long after its release file was signed.
            'Acquire::Check-Valid-Until "false";\n'
            'Acquire::Languages "none";\n'
            'Acquire::Retries "2";\n')

    def _apt(self, *command):
        done = subprocess.run(command, cwd=self.dir, capture_output=True, text=True, check=False,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                                   "APT_CONFIG": str(self.config)}, timeout=600)
        if done.returncode:
            why = (done.stderr.strip().split("\n") or ["no message"])[-1]
            raise Unreachable(f"Debian's suite {self.name} cannot be read: {why}")
        return done.stdout

    def update(self):
        if self.updated:
            return
        self._write_config()
        self._apt("apt-get", "-qq", "--error-on=any", "update")
        self.updated = True

    def dependencies(self, package, mark):
        """The packages that one depends on directly and that have mark in their name."""
        self.update()
        lines = (line.strip() for line in self._apt("apt-cache", "depends", package).split("\n"))
        names = (line.removeprefix("Depends: ") for line in lines if line.startswith("Depends: "))
        return sorted({name for name in names if mark in name and name != package})

    def unpack(self, packages, target, closure=False):
        """Unpacks packages, with all that they depend on when closure is set."""
        self.update()
        archives = self.dir / "cache" / "archives"
        if closure:
            self._apt("apt-get", "-y", "--download-only", "install", *packages)
            debs = archives.glob("*.deb")
        else:
            work = self.dir / "download"
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            for package in packages:
                self._apt("sh", "-c", 'cd download && exec apt-get download "$1"', "sh", package)
            debs = work.glob("*.deb")
        target.mkdir(parents=True, exist_ok=True)
        for deb in debs:
            subprocess.run(["dpkg-deb", "-x", deb, target], check=True)
        shutil.rmtree(self.dir)
        self.updated = False
