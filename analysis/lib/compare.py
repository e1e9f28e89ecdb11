#!/usr/bin/python3
"""Checks that two programs compute the same results. Both run every scenario of analysis/ with one instruction set. All
datasets and attributes of their records must be identical, except the attributes that name the writing program.

    analysis/lib/compare.py PROGRAM PROGRAM [--isa x86-64] [--within TOLERANCE] [PART OF A NAME]...

Programs for different processors differ in round-off. --within compares only datasets of floating-point numbers; the
difference of a dataset is its largest difference divided by max(1, largest number).
Exit code 0 if nothing differs, 1 if something does.
"""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

SCENARIOS = Path(__file__).resolve().parent.parent / "scenarios"
WRITER = {"git_commit", "compiler", "curvebody_version"}


def content(path):
    """Every attribute except references and those that name the writer, and every dataset as type, shape and
    bytes."""
    found = {}

    def take(name, item):
        for key, value in item.attrs.items():
            if key not in WRITER and getattr(value, "dtype", None) != object:  # objects are references of dimension scales
                found[f"{name}@{key}"] = repr(value)
        if isinstance(item, h5py.Dataset):
            values = item[()]
            bytes_ = repr(values.tolist()) if getattr(values, "dtype", None) == object else np.asarray(values).tobytes()
            found[name] = (str(item.dtype), item.shape, bytes_)

    with h5py.File(path) as file:
        take("", file)
        file.visititems(take)
    return found


def numbers(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]})
                        if isinstance(item, h5py.Dataset) and item.dtype.kind == "f" else None)
    return found


def difference(a, b):
    """Largest difference of two arrays, divided by max(1, largest number of a); inf if they cannot be compared. Numbers
    that are infinite or nan in both arrays are skipped."""
    if a is None or b is None or a.shape != b.shape or (np.isfinite(a) != np.isfinite(b)).any():
        return np.inf
    a, b = a[np.isfinite(a)], b[np.isfinite(b)]
    return np.abs(a - b).max(initial=0) / np.abs(a).max(initial=1)


def run(program, scenario, isa, folder, read):
    output = os.path.join(folder, "r.h5")
    done = subprocess.run([program, *(["--isa", isa] if isa else []), "--threads", "1", "run", str(scenario), "-o", output, "--quiet"],
                          capture_output=True, text=True, cwd=folder)
    words = done.stderr.replace(folder, "")
    return done.returncode, words, read(output) if os.path.exists(output) else {}


def compare(programs, scenario, isa, within):
    read = content if within is None else numbers
    with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
        code, words, first = run(programs[0], scenario, isa, a, read)
        code2, words2, second = run(programs[1], scenario, isa, b, read)
    names = sorted(first.keys() | second.keys())
    if within is None:
        differing = [name for name in names if first.get(name) != second.get(name)]
    else:
        by = {name: difference(first.get(name), second.get(name)) for name in names}
        differing = [f"{name} by {by[name]:.2g}" for name in names if not by[name] <= within]
    if code != code2 or words != words2:
        differing.insert(0, f"exit codes {code} and {code2}, messages: {words} | {words2}")
    return differing, len(first)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program", nargs=2)
    options.add_argument("part", nargs="*")
    options.add_argument("--isa")
    options.add_argument("--within", type=float)
    o = options.parse_intermixed_args()
    isa = o.isa or ("x86-64" if o.within is None else None)
    programs = [os.path.abspath(p) for p in o.program]
    names = sorted(p for p in SCENARIOS.rglob("*.yaml") if not o.part or any(part in str(p) for part in o.part))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {name: pool.submit(compare, programs, name, isa, o.within) for name in names}
        for name, job in jobs.items():
            differing, count = job.result()
            failed += bool(differing)
            if differing:
                print(f"{name.relative_to(SCENARIOS)}: {', '.join(differing[:6])}"
                      f"{f' and {len(differing) - 6} more' if len(differing) > 6 else ''}")
    print(f"{len(names) - failed} of {len(names)} scenarios have the same results")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
