#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every XDP program of Linux 6.1's samples and selftests does the same in native code, in the
interpreter and in the kernel: object_test with all of them, each compiled for the default
instruction set and for v3.

usage: corpus_test.py OBJECT-TEST SOURCE-ROOT BUILD-DIR CLANG BPFTOOL

XDPVM_CORPUS_PACKETS sets the number of packets a program (3000).
"""

import glob
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

OBJECT_TEST, SOURCE, BUILD, CLANG, BPFTOOL = sys.argv[1:]
LINUX = f"{BUILD}/linux-6.1"
OBJECTS = f"{BUILD}/xdp-corpus"
PACKETS = os.environ.get("XDPVM_CORPUS_PACKETS", "3000")
JOBS = 2
CPUS = ("generic", "v3")

SHIM = f"{SOURCE}/tests/xdp/corpus/kernel_types.h"
SAMPLES = "samples/bpf"
SELFTESTS = "tools/testing/selftests/bpf"

# Programs that do not load, each with a piece of the sentence that says why. The kernel loads
# those of the first part; it does not load the others either.
REFUSED = {
    "nf_xdp_ct_test": "calls a function of the kernel",
    "check_syncookie_xdp": "helper 99 (skc_lookup_tcp)",

    "xdp_mimtest0": "failed to create inner map",
    "xdpdm_devlog": "invalid bpf_context access",	# wants the attach type of a device map
    "syncookie_xdp": "BPF program is too large",	# for Linux 6.18, from clang 14
}
# Programs for tc and the like, in sections whose names do not say so.
NOT_XDP = {"_tc_mark", "_tc_progA", "ing_cls"}


def run(words, **options):
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def skip(sentence):
    print(f"skipped: {sentence}")
    sys.exit(77)


def fetch():
    got = run([f"{SOURCE}/devtools/fetch-linux-xdp", LINUX])
    if got.returncode != 0:
        skip(got.stderr.strip())


def make_vmlinux():
    """The kernel's types, which some sources include instead of headers."""
    got = run([BPFTOOL, "btf", "dump", "file", "/sys/kernel/btf/vmlinux", "format", "c"])
    if got.returncode != 0:
        skip(f"bpftool cannot print the kernel's types: {got.stderr.strip()}")
    with open(f"{OBJECTS}/vmlinux.h", "w", encoding="ascii") as file:
        file.write(got.stdout)


def sources():
    """Files that define a function of an XDP context."""
    names = glob.glob(f"{LINUX}/{SAMPLES}/*.c") + glob.glob(f"{LINUX}/{SELFTESTS}/progs/*.c")
    for name in sorted(names):
        with open(name, encoding="utf-8") as file:
            if "struct xdp_md" in file.read():
                yield name


def is_built(output):
    """Whether it is there and what builds it has not changed since."""
    return os.path.exists(output) and \
        os.path.getmtime(output) > max(os.path.getmtime(SHIM), os.path.getmtime(__file__))


def compile_one(source, cpu, output):
    """Compiles unless it was done before; returns what the compiler said against it."""
    if is_built(output):
        return ""
    # Samples in the old style include headers from inside the kernel.
    shim = ["-include", SHIM] if source.endswith("_kern.c") and SAMPLES in source else []
    got = run([CLANG, "-target", "bpf", "-O2", "-g", f"-mcpu={cpu}", "-Wno-everything",
               "-D__TARGET_ARCH_x86", *shim, f"-I{OBJECTS}", f"-I{LINUX}/{SAMPLES}",
               f"-I{LINUX}/{SELFTESTS}", f"-I{LINUX}/{SELFTESTS}/progs", f"-I{LINUX}/include",
               "-isystem", f"/usr/include/{os.uname().machine}-linux-gnu",
               "-c", source, "-o", output + ".part"])
    if got.returncode != 0:
        return got.stderr
    os.rename(output + ".part", output)
    return ""


def link_sample(output, cpu):
    """Samples that share xdp_sample.bpf.c are linked with it, as their Makefile does."""
    shared = f"{OBJECTS}/shared/xdp_sample.{cpu}.o"
    error = compile_one(f"{LINUX}/{SAMPLES}/xdp_sample.bpf.c", cpu, shared)
    if error:
        return error
    got = run([BPFTOOL, "gen", "object", output + ".linked", output, shared])
    if got.returncode == 0:
        os.rename(output + ".linked", output)
    return got.stderr


def build(job):
    source, cpu = job
    name = os.path.basename(source)[:-2].removesuffix(".bpf")
    output = f"{OBJECTS}/{name}.{cpu}.o"
    if is_built(output):
        return output, ""
    error = compile_one(source, cpu, output)
    with open(source, encoding="utf-8") as file:
        if not error and '"xdp_sample.bpf.h"' in file.read():
            error = link_sample(output, cpu)
    if error and os.path.exists(output):
        os.remove(output)
    return output, error


def build_all():
    os.makedirs(f"{OBJECTS}/shared", exist_ok=True)
    make_vmlinux()
    for cpu in CPUS:	# before two jobs want it at once
        compile_one(f"{LINUX}/{SAMPLES}/xdp_sample.bpf.c", cpu,
                    f"{OBJECTS}/shared/xdp_sample.{cpu}.o")
    with ThreadPoolExecutor(JOBS) as pool:
        results = list(pool.map(build, [(s, cpu) for s in sources() for cpu in CPUS]))
    for output, error in results:
        if error:
            print(f"not compiled: {os.path.basename(output)}: {error.splitlines()[0]}")
    return [output for output, error in results if not error], any(e for _, e in results)


def compare(objects):
    return run([OBJECT_TEST, "--report", "--packets", PACKETS, *objects])


def check_refusals(text):
    """Exactly the programs of REFUSED are refused, for the reasons given there."""
    bad, seen = False, set()
    for name, program, reason in re.findall(r"^refused (\S+) (\S+): (.*)$", text, re.M):
        if program in NOT_XDP:
            continue
        seen.add(program)
        if REFUSED.get(program, "\n") not in reason:
            print(f"refused, which was not expected: {name} {program}: {reason}")
            bad = True
    for program in REFUSED.keys() - seen:
        print(f"{program} should have been refused")
        bad = True
    return bad


def main():
    fetch()
    objects, failed = build_all()
    with ThreadPoolExecutor(JOBS) as pool:
        results = list(pool.map(compare, [objects[i::JOBS] for i in range(JOBS)]))
    if all(r.returncode == 77 for r in results):
        skip(results[0].stdout.strip())
    text = "".join(r.stdout for r in results)
    print(text + "".join(r.stderr for r in results))
    failed |= check_refusals(text) or any(r.returncode != 0 for r in results)
    print(f"{len(objects)} objects; programs that are the same: "
          f"{len(re.findall('^same: ', text, re.M))}, but for maps with time in them: "
          f"{len(re.findall('^same but', text, re.M))}, without the kernel: "
          f"{len(re.findall('^same without', text, re.M))}; of these not with verify=internal: "
          f"{len(re.findall('^not internally', text, re.M))}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
