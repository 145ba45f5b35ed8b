# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs on the virtual card for tests: launcher, interactive testpmd, control socket.

Everything has a time limit and is gone afterwards: processes are killed by their own group, files
lie in one temporary folder. Names carry the process id, so that tests of two users do not meet.

A test file defines functions test_*(bed) and ends with bed.main(globals()). A test that raises has
failed, one that raises Skip is skipped; with --only NAME a single one runs.
"""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import tty

PCI_ADDRESS = "0000:03:00.0"
SKIPPED = 77
# Another launcher may be much slower: every wait takes so many times as long.
PATIENCE = float(os.environ.get("VCX3_PATIENCE", "1"))
# Memory that a kernel's own driver has registered, which counts as well.
KERNEL_REGISTRATIONS = int(os.environ.get("VCX3_KERNEL_REGISTRATIONS", "0"))
PROMPT = "testpmd> "
EVENT = re.compile(r"(?:Port \d+: [a-z -]+ event|(?:mlx4x|net_mlx4|EAL|ETHDEV): [^\n]*)\n")


class Skip(Exception):
    """This machine cannot run the test; the text says why."""


class Failure(AssertionError):
    """A program did not do what the test asks for."""


def build_dir():
    """The build folder: VCX3_BUILD, or build/ beside tests/."""
    here = os.path.dirname(os.path.abspath(__file__))
    return os.environ.get("VCX3_BUILD", os.path.join(here, "..", "..", "..", "build"))


def check(condition, sentence):
    """Like assert, but not switched off by -O and with a sentence that is always there."""
    if not condition:
        raise Failure(sentence)


def check_equal(got, wanted, what):
    check(got == wanted, f"{what}: got {got!r}, want {wanted!r}")


def wait_until(condition, sentence, timeout=15.0, interval=0.05):
    """Returns the first true value of condition()."""
    limit = time.monotonic() + PATIENCE * timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > limit:
            raise Failure(f"{sentence} did not happen within {timeout} s")
        time.sleep(interval)


def comm_of(process):
    """The name of a process; None when it has ended."""
    try:
        with open(f"/proc/{process}/comm", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return None


class Process:
    """A program in a process group of its own, with its output read in the background of waits."""

    def __init__(self, words, env=None):
        self.words = words
        self.output = ""
        # A terminal: C programs keep output for a pipe back until there is much of it.
        self.terminal, end = pty.openpty()
        tty.setraw(end)
        self.process = subprocess.Popen(words, stdin=end, stdout=end, stderr=end,
                                        start_new_session=True, env={**os.environ, **(env or {})})
        os.close(end)

    def read(self, timeout):
        """Reads what is there, waiting up to timeout for the first byte; False at the end."""
        if not select.select([self.terminal], [], [], timeout)[0]:
            return True
        try:
            piece = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.output += piece.decode(errors="replace").replace("\r", "")
        return len(piece) > 0

    def wait_for(self, pattern, timeout=15.0, start=0, view=str):
        """Waits for a match of the regular expression in view(output from start on)."""
        limit = time.monotonic() + PATIENCE * timeout
        while True:
            match = re.search(pattern, view(self.output[start:]), re.M | re.S)
            if match:
                return match
            left = limit - time.monotonic()
            if left <= 0 or not self.read(min(left, 0.5)):
                raise Failure(f"{self.words[0]} did not print {pattern!r}; it printed\n"
                              + self.output[start:][-3000:])

    def send(self, text):
        os.write(self.terminal, text.encode())

    def finish(self, timeout=15.0):
        """Waits for the end, reading; returns the exit status, kills it when it does not end."""
        limit = time.monotonic() + PATIENCE * timeout
        while time.monotonic() < limit and self.read(0.1):
            pass
        try:
            return self.process.wait(max(limit - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired as error:
            self.kill()
            raise Failure(f"{self.words[0]} did not end; it printed\n"
                          + self.output[-3000:]) from error

    def kill(self):
        """SIGKILL to the whole group; harmless when it has ended."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        if self.terminal >= 0:
            os.close(self.terminal)
            self.terminal = -1


class Card(Process):
    """A program below the vcx3 launcher. options and command are lists of words."""

    def __init__(self, bed, options, command, env=None, netns=None):
        self.bed = bed
        self.control = bed.path(f"control{bed.next_number()}")
        self.counters_file = bed.path(f"counters{bed.next_number()}.json")
        words = [bed.vcx3, "--control", self.control, "--counters", self.counters_file,
                 *options, "--", *command]
        if netns:
            words = ["ip", "netns", "exec", netns, *words]
        super().__init__(words, {"TMPDIR": bed.dir, **(env or {})})
        bed.register(self)

    def ctl(self, *words, check_status=True, timeout=20):
        """`vcx3 ctl` on this card; its output."""
        done = subprocess.run([self.bed.vcx3, "ctl", self.control, *words], timeout=timeout,
                              capture_output=True, text=True)
        if check_status:
            check(done.returncode == 0, f"vcx3 ctl {' '.join(words)}: {done.stderr}")
        return done.stdout

    def child(self, name):
        """The process id of the program, once the launcher has started it.

        Not with pgrep: it reads command lines, which waits for a program that maps much memory.
        """
        def look():
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children",
                      encoding="ascii") as file:
                children = file.read().split()
            return next((int(child) for child in children if comm_of(child) == name), None)
        return wait_until(look, f"a child named {name}")

    def counters(self):
        """All counters of the running card."""
        return json.loads(self.ctl("counters"))

    def port_counters(self, port):
        """Counters of a port, from 1."""
        return self.counters()["ports"][port - 1]

    def final_counters(self):
        """What the launcher wrote at the end."""
        with open(self.counters_file, encoding="utf-8") as file:
            return json.load(file)


class Testpmd(Card):
    """dpdk-testpmd in interactive mode, at its prompt when the constructor returns.

    driver is "stock" (Debian's mlx4) or the path of another driver library; secondary processes
    need a file_prefix, else everything stays in memory. So does telemetry, which is then on.
    """

    def __init__(self, bed, options, args=(), eal=(), driver="stock", lcores="0,1",
                 file_prefix=None, env=None, netns=None, binary="dpdk-testpmd",
                 device_args="", mbufs=8192):
        memory = ["--file-prefix", file_prefix] if file_prefix else \
            ["--in-memory", "--no-telemetry"]
        plugin = [] if driver == "stock" else ["-d", driver]
        device = PCI_ADDRESS + ("," + device_args if device_args else "")
        command = [binary, *plugin, "-l", lcores, "-m", "192", *memory,
                   "-a", device, *eal, "--", "-i", f"--total-num-mbufs={mbufs}", "--no-flush-rx",
                   *args]
        super().__init__(bed, options, command, env, netns)
        self.wait_for(re.escape(PROMPT), timeout=30)

    def cmd(self, text, timeout=15.0):
        """Sends one command, waits for the next prompt, returns what was printed between, with
        events and what was logged in front.

        testpmd echoes a character at a time, and its interrupt thread prints events and what
        drivers log whenever they come: right into echo, answer and prompt, sometimes in two
        pieces.
        """
        def apart(word):
            return r"\n*".join(re.escape(letter) for letter in word)

        while select.select([self.terminal], [], [], 0)[0] and self.read(0):
            pass
        start = len(self.output)
        self.send(text + "\n")
        answer = self.wait_for(f"{apart(text)}(.*?){apart(PROMPT)}", timeout, start,
                               view=lambda output: EVENT.sub("", output)).group(1)
        return "".join(EVENT.findall(self.output, start)) + answer

    def stats(self, port):
        """`show port stats`: {"RX-packets": n, ...}; ports from 0, as testpmd counts."""
        text = self.cmd(f"show port stats {port}")
        return {name: int(value) for name, value in
                re.findall(r"([RT]X-[a-z]+): +(\d+)", text)}

    def xstats(self, port):
        text = self.cmd(f"show port xstats {port}")
        return {name: int(value) for name, value in re.findall(r"^(\w+): (\d+)$", text, re.M)}

    def link_up(self, port):
        return "Link status: up" in self.cmd(f"show port info {port}")

    def quit(self, timeout=15.0):
        """Ends testpmd; checks that it and the launcher ended well."""
        self.send("quit\n")
        status = self.finish(timeout)
        check(status == 0, f"testpmd below vcx3 ended with {status}:\n{self.output[-3000:]}")


class Bed:
    """What tests run in: a temporary folder and all processes that they started."""

    def __init__(self):
        # VCX3_LAUNCHER: another program that takes the launcher's words (tests/vm/launcher).
        self.vcx3 = os.environ.get("VCX3_LAUNCHER", os.path.join(build_dir(), "vcx3", "vcx3"))
        self.dir = tempfile.mkdtemp(prefix="bed-")
        self.prefix = f"bed{os.getpid()}"
        self.processes = []
        self.cleanups = []
        self.number = 0

    def next_number(self):
        self.number += 1
        return self.number

    def path(self, name):
        return os.path.join(self.dir, name)

    def register(self, process):
        self.processes.append(process)

    def on_close(self, function):
        """Calls function() at the end, last registered first."""
        self.cleanups.append(function)

    def run(self, *words, timeout=20, **keywords):
        """A program to its end; the subprocess.CompletedProcess with text output."""
        keywords.setdefault("capture_output", True)
        return subprocess.run(words, timeout=timeout, text=True, **keywords)

    def launch(self, options, command, timeout=20, **keywords):
        """A short program below the launcher, to its end."""
        env = {**os.environ, "TMPDIR": self.dir, **keywords.pop("env", {})}
        return self.run(self.vcx3, *options, "--", *command, timeout=timeout, env=env, **keywords)

    def leftovers(self):
        """State folders of launchers that have not been removed."""
        return [name for name in os.listdir(self.dir) if name.startswith("vcx3-")]

    def require_root(self):
        if os.geteuid() != 0:
            raise Skip("needs root")

    def require_hugepages(self, megabytes=256):
        if "VCX3_LAUNCHER" in os.environ:
            return  # a guest has its own
        with open("/proc/meminfo", encoding="ascii") as file:
            text = file.read()
        free = int(re.search(r"HugePages_Free: +(\d+)", text).group(1))
        size = int(re.search(r"Hugepagesize: +(\d+)", text).group(1))
        if free * size < megabytes * 1024:
            raise Skip(f"needs {megabytes} MB of free hugepages, {free * size // 1024} there")

    def netns(self, name):
        """A network namespace that lives as long as the bed; its full name."""
        self.require_root()
        full = f"{self.prefix}-{name}"
        done = self.run("ip", "netns", "add", full)
        if done.returncode != 0:
            raise Skip(f"cannot make a network namespace: {done.stderr.strip()}")
        self.on_close(lambda: self.run("ip", "netns", "del", full))
        return full

    def close(self):
        for process in self.processes:
            process.kill()
        for function in reversed(self.cleanups):
            function()
        shutil.rmtree(self.dir, ignore_errors=True)


def run_one(name, function):
    """Runs a test in a fresh bed: "ok", "FAILED" or "skipped"."""
    bed = Bed()
    began = time.monotonic()
    try:
        function(bed)
        result = "ok"
    except Skip as reason:
        result = f"skipped: {reason}"
    except Exception:
        traceback.print_exc(file=sys.stdout)
        result = "FAILED"
    finally:
        bed.close()
    print(f"{name}: {result} ({time.monotonic() - began:.1f} s)", flush=True)
    return result


def main(names):
    """Runs all test_* of a module; exit status 1 when one failed, 77 when one was skipped."""
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    results = [run_one(name, function) for name, function in list(names.items())
               if name.startswith("test_") and callable(function) and only in (None, name)]
    if "FAILED" in results or not results:
        sys.exit(1)
    sys.exit(SKIPPED if any(result.startswith("skipped") for result in results) else 0)
