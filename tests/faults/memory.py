#!/usr/bin/python3
"""Requests for memory fail anywhere in the program or in a library, once or permanently. 29 commands must end with their
usual result or report that memory is short. A signal, a hang, another result or an unfinished file is a failure.

    memory.py BINARY ALLOCATOR [--all] [--only NAME] [--kinds own,library,...] [--samples N] [--seed S] [--jobs N]

ALLOCATOR is memory.c as a library; memory.c lists the kinds of requests, and the name of a library is a kind as well.
Without --all, the seed (default 1) chooses the requests that fail. For each command and kind the test prints the number of
failures that were tried, the number after which the result was complete, the number of signals in a library at a place that
memory_known.py lists, and the number of rows that a record lacks after it was resumed. A signal at any other place is a
failure of the test.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import h5py

ALLOCATOR = os.path.abspath(sys.argv.pop(2))
from memory_commands import COMMANDS, Inputs  # noqa: E402
from memory_known import known_crash, known_text  # noqa: E402
from command import BINARY, PATIENCE, datasets, differing  # noqa: E402

# The kinds, and the number of failures that are tried for each. Nearly all requests of libraries come from HDF5, so other
# libraries are separate kinds.
KINDS = {"own": 3, "library": 4, "all": 2, "thread": 1, "map": 1, "libklu": 3, "libsundials": 3, "libc.so": 3}
SECONDS = 20 * PATIENCE
OF_MEMORY = re.compile(r"memory|allocat|threads?\b", re.I)
OLD = b"old"


def plain(text):
    """The text without the parts that differ from run to run."""
    return re.sub(r'in \S+ s\b|"seconds": [^,}]*', "", text)


def contents(path):
    """The arrays and attributes of a file, except references and the times that members of a sweep took."""
    found = {name: value for name, value in datasets(path).items() if name != "seconds"}
    with h5py.File(path) as file:
        for name, item in [("", file), *file.items()]:
            for key, value in item.attrs.items():
                if key not in ("DIMENSION_LIST", "REFERENCE_LIST"):
                    found[name + "@" + key] = repr(value)
    return found


class Trial:
    """One call in its own folder, and the files that exist after it."""

    def __init__(self, inputs, command, where):
        self.command, self.folder = command, tempfile.mkdtemp(prefix="curvebody-", dir=where)
        for name in os.listdir(inputs):
            if any(name.startswith(need) for need in command.needs):
                source = os.path.join(inputs, name)
                copy = shutil.copytree if os.path.isdir(source) else shutil.copy
                copy(source, os.path.join(self.folder, name))
        if command.makes:
            with open(os.path.join(self.folder, command.makes), "wb") as file:
                file.write(OLD)
        self.before = set(os.listdir(self.folder))

    def call(self, words, **how):
        self.code, self.out, self.err, self.told = None, "", "", []
        told = self.folder + ".told"
        env = os.environ | ({"LD_PRELOAD": ALLOCATOR, "FAIL_TOLD": told, "CURVEBODY_TRUST_FILES": "1"} | how if how else {})
        try:
            done = subprocess.run([BINARY, *words], cwd=self.folder, env=env, capture_output=True, text=True, errors="replace",
                                  timeout=SECONDS if how else 300 * PATIENCE)
            self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            pass
        if os.path.exists(told):
            with open(told) as file:
                self.told = file.read().splitlines()
            os.remove(told)
        return self

    def go(self, **how):
        return self.call(self.command.words, **how)

    def files(self):
        """All files after the command, also those inside a folder: name -> bytes."""
        found = {}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.folder)] = file.read()
        return found

    def same_files(self, good):
        """Compares records by their arrays, because a writer that could not start its thread writes them in another order."""
        mine = self.files()
        if mine.keys() != good.files.keys():
            return "files " + " ".join(sorted(mine.keys() ^ good.files.keys()))
        for name, content in mine.items():
            if content == good.files[name] or name == "o/checked":  # this file differs from run to run
                continue
            if not name.endswith(".h5"):
                return f"another {name}"
            others = differing(contents(os.path.join(self.folder, name)), good.arrays[name])
            if others:
                return f"another {name}: {' '.join(others)}"
        return ""

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Good:
    """The undisturbed outcome of a command."""

    def __init__(self, inputs, command, where):
        trial = Trial(inputs, command, where).go()
        if trial.code != 0:
            sys.exit(f"{command.name}: {trial.code}\n{trial.out}{trial.err}")
        self.out, self.err, self.files = plain(trial.out), plain(trial.err), trial.files()
        self.arrays = {n: contents(os.path.join(trial.folder, n)) for n in self.files if n.endswith(".h5")}
        trial.close()


def count_rows(arrays):
    return arrays["time"][0][0] if "time" in arrays and arrays["time"][0] else 0


def rows_lost(trial, good):
    """Rows of the complete result that a record lacks after it was resumed."""
    lost = 0
    for name, arrays in good.arrays.items():
        path = os.path.join(trial.folder, name)
        mine = contents(path) if os.path.exists(path) else {}
        lost += max(0, count_rows(arrays) - count_rows(mine))
    return lost


def wrong_with_failure(trial, good):
    """Describes errors in the files after a failure that was reported; "" if there are none."""
    command, files = trial.command, trial.files()
    left = [n for n in files if n.endswith(".part") or n.endswith(".rescue") and not command.then]
    if left:
        return "leaves " + " ".join(re.sub(r"\d+-\d+", "N", n) for n in left)
    old = command.makes and files.get(command.makes) == OLD
    if command.makes and not command.then and not old:
        return "the old file is missing"
    if old or not command.then:
        return ""
    for words in command.then:
        trial.call(words.split())
        if trial.code == 2 and "no complete checkpoint" in trial.err:
            return ""
        if trial.code != 0:
            return f"cannot be continued: {trial.err.strip()[:300]}"
    wrong = trial.same_files(good)
    return wrong and "continues to " + wrong


def crash_of(told):
    """The origin of a signal: the innermost call outside of the C library that has a name, as `OBJECT FUNCTION`. For
    curvebody, whose functions the loader does not know, and for an exception of C++ it is the address."""
    thrown = False
    for line in told:
        words = line.split()
        thrown |= words[0] == "at" and words[1].startswith("libstdc++")
        if words[0] != "at" or words[1].startswith(("libc.", "ld-", "libgcc", "libstdc++")):
            continue
        name = words[2].split("+")[0]
        if name or thrown or words[1] == "program":
            return words[1] + " " + (name or words[2])
    return "? ?"


Outcome = collections.namedtuple("Outcome", "wrong survived lost crash asked", defaults=("", False, 0, "", ""))


def ended_well(trial, good, kind):
    """Describes errors of a run whose exit code is 0; "" if there are none."""
    more = [line for line in plain(trial.err).splitlines() if line not in good.err.splitlines()]
    if kind == "thread" and not any(OF_MEMORY.search(line) for line in more):
        return "no message says that a thread could not start"
    wrong = "a different output" if plain(trial.out) != good.out else trial.same_files(good)
    if not wrong and any(not OF_MEMORY.search(line) for line in more):
        wrong = "says " + " | ".join(more)[:300]
    return wrong


def outcome(trial, good, kind):
    if trial.code is None:
        return Outcome("hangs")
    if "infinite loop" in trial.err:
        return Outcome("HDF5 loops at exit")
    if trial.code == 0:
        wrong = ended_well(trial, good, kind)
        return Outcome(wrong and "ends with 0, " + wrong, not wrong)
    crash = crash_of(trial.told) if trial.code < 0 else ""
    if crash and (kind == "own" or not known_crash(crash)):
        return Outcome(f"signal {-trial.code} in {crash}", crash=crash)
    if crash and not OF_MEMORY.search(trial.err):
        return Outcome(f"signal {-trial.code} in {crash}, without a message", crash=crash)
    if not crash and trial.code not in (1, 2, 3):
        return Outcome(f"exit code {trial.code}")
    if not crash and not OF_MEMORY.search(trial.err) and not known_text(trial.err):
        return Outcome(f"exit code {trial.code} without a message about memory: {trial.err.strip()[:300]}")
    wrong = wrong_with_failure(trial, good)
    return Outcome(wrong, False, rows_lost(trial, good) if wrong.startswith("continues") else 0, crash)


def attempt(inputs, command, good, where, kind, at, stays):
    trial = Trial(inputs, command, where)
    try:
        trial.go(FAIL_ON=kind, FAIL_AT=str(at), **({"FAIL_STAYS": "1"} if stays else {}))
        asked = " ".join(trial.told[0].split()[2:]) if trial.told else ""
        return outcome(trial, good, kind)._replace(asked=asked)
    finally:
        trial.close()


def count(inputs, command, where, kind):
    trial = Trial(inputs, command, where).go(FAIL_ON=kind)
    trial.close()
    return int(trial.told[-1].split()[1]) if trial.told else 0


def options_of_words():
    words = argparse.ArgumentParser()
    words.add_argument("--all", action="store_true", default="CB_TEST_ALL" in os.environ)
    words.add_argument("--only", default="")
    words.add_argument("--kinds", default=",".join(KINDS))
    words.add_argument("--samples", type=int)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--jobs", type=int, default=1)
    return words.parse_args()


def main():
    options = options_of_words()
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    source = Inputs()
    inputs = source.make()
    chance = random.Random(options.seed)
    sums, crashes = collections.Counter(), collections.Counter()
    print(f"seed {options.seed}")

    def go(pool, command, good, kind, stays, total):
        most = total if options.all else options.samples or KINDS.get(kind, 5)
        places = range(1, total + 1) if total <= most else sorted(chance.sample(range(1, total + 1), most))
        runs = [pool.submit(attempt, inputs, command, good, where, kind, at, stays) for at in places]
        found = [run.result() for run in runs]
        mode = kind + (" and all after" if stays else "")
        crashes.update(o.crash for o in found if o.crash)
        for at, o in zip(places, found):
            if o.wrong:
                print(f"  {command.name}: {mode}, request {at} of {o.asked}: {o.wrong}")
        here = {"tried": len(found), "survived": sum(o.survived for o in found), "crashed": sum(bool(o.crash) for o in found),
                "lost rows": sum(o.lost for o in found), "wrong": sum(bool(o.wrong) for o in found)}
        sums.update({mode + " " + key: n for key, n in here.items()})
        sums.update(here)
        print(f"{command.name}, {mode}: {total} requests, " + ", ".join(f"{n} {key}" for key, n in here.items()), flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for command in COMMANDS:
            if options.only not in command.name:
                continue
            good = Good(inputs, command, where)
            for kind in options.kinds.split(","):
                total = count(inputs, command, where, kind)
                for stays in (False, True) if total else ():
                    go(pool, command, good, kind, stays, total)
    for place, n in crashes.most_common():
        print(f"{n} crashes in {place}")
    for kind in [*options.kinds.split(","), ""]:
        for mode in (kind, kind + " and all after") if kind else ("",):
            keys = "tried", "survived", "crashed", "lost rows", "wrong"
            print((mode or "together") + ": " + ", ".join(f"{sums[(mode + ' ' + key).strip()]} {key}" for key in keys))
    source.doCleanups()
    sys.exit(sums["wrong"] > 0)


if __name__ == "__main__":
    main()
