#!/usr/bin/python3
"""Do two programs compute the same? Every scenario of analysis/ is run by both, with one instruction set, and what they
record is compared to the last byte: all datasets and attributes but those that say who wrote the file.

    analysis/lib/compare.py PROGRAM PROGRAM [--isa x86-64] [PART OF A NAME]...
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
    """Every attribute, and every dataset as type, shape and bytes."""
    found = {}

    def take(name, item):
        for key, value in item.attrs.items():
            if key not in WRITER and getattr(value, "dtype", None) != object:  # those are references of dimension scales
                found[f"{name}@{key}"] = repr(value)
        if isinstance(item, h5py.Dataset):
            values = item[()]
            bytes_ = repr(values.tolist()) if getattr(values, "dtype", None) == object else np.asarray(values).tobytes()
            found[name] = (str(item.dtype), item.shape, bytes_)

    with h5py.File(path) as file:
        take("", file)
        file.visititems(take)
    return found


def run(program, scenario, isa, folder):
    output = os.path.join(folder, "r.h5")
    done = subprocess.run([program, "--isa", isa, "--threads", "1", "run", str(scenario), "-o", output, "--quiet"],
                          capture_output=True, text=True, cwd=folder)
    words = done.stderr.replace(folder, "")
    return done.returncode, words, content(output) if os.path.exists(output) else {}


def compare(programs, scenario, isa):
    with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
        code, words, first = run(programs[0], scenario, isa, a)
        code2, words2, second = run(programs[1], scenario, isa, b)
    differing = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
    if code != code2 or words != words2:
        differing.insert(0, f"ends with {code} and {code2}: {words} | {words2}")
    return differing, len(first)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program", nargs=2)
    options.add_argument("part", nargs="*")
    options.add_argument("--isa", default="x86-64")
    o = options.parse_args()
    programs = [os.path.abspath(p) for p in o.program]
    names = sorted(p for p in SCENARIOS.rglob("*.yaml") if not o.part or any(part in str(p) for part in o.part))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {name: pool.submit(compare, programs, name, o.isa) for name in names}
        for name, job in jobs.items():
            differing, count = job.result()
            failed += bool(differing)
            if differing:
                print(f"{name.relative_to(SCENARIOS)}: {', '.join(differing[:6])}"
                      f"{f' and {len(differing) - 6} more' if len(differing) > 6 else ''}")
    print(f"{len(names) - failed} of {len(names)} scenarios the same")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
