#!/usr/bin/python3
"""The power fails at any time during a run, resume, the join at the end, or repair. After that, data that was not synced is
on the disk, missing, torn at any multiple of 512 bytes, or zero. Names that were made, replaced or removed without a later
sync of their folder are in the new or in the old state, independently of each other. In each of these states the record is
absent or complete, repair and verify find no error and every published row, and resume ends with a file that is identical
to that of an undisturbed run.

A seed chooses the states. The test always tries the states in which, of all changes that were not synced, only the change
of the record's name is on the disk.

    power.py BINARY IO_LIBRARY CLOCK_LIBRARY [--states N] [--seed S] [--only NAME] [--keep FOLDER]

io.c lists the operations of a command in order. clock.c adds a second at each call for the time, so that a short run
publishes as often as a long one. --keep: keeps the first state that fails a check in FOLDER.
"""
import argparse
import collections
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

BINARY, LIBRARY, CLOCK = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
sys.argv.insert(1, BINARY)
from command import NOTHING_TO_GO_ON_FROM, PATIENCE, ROD  # noqa: E402

import h5py  # noqa: E402

RUN = ROD.replace("end: 1}", "end: 250}").replace("{every: 1, o", "{every: 10, checkpoint: 20, o")
SECTOR, SECONDS = 512, 60 * PATIENCE
RESUME = ["resume", "rod.h5", "--quiet"]
# The folder of inputs whose files exist before (None: none), the command, and the command that resumes (None: none).
Case = collections.namedtuple("Case", "before words resume", defaults=[RESUME])
CASES = {
    "run": Case(None, ["run", "rod.yaml", "-o", "rod.h5", "--quiet"]),
    "run-over": Case("old", ["run", "rod.yaml", "-o", "rod.h5", "--quiet"]),
    "resume": Case("killed", RESUME),
    "resume-whole": Case("half", RESUME + ["--until", "250"], RESUME + ["--until", "250"]),
    "repair": Case("killed", ["repair", "rod.h5"]),
    "large": Case("large", ["repair", "rod.h5"], None),
}


# ---- The operations

Done = collections.namedtuple("Done", "name number offset size path second data")


def read_trace(path):
    with open(path, "rb") as file:
        text = file.read()
    at, done = 0, []
    while at < len(text):
        end = text.index(b"\n", at)
        name, number, offset, size, paths = text[at:end].decode().split(" ", 4)
        first, _, second = paths.partition("\t")
        data = text[end + 1:end + 1 + int(size)] if name == "write" else b""
        done.append(Done(name, int(number), int(offset), int(size), first, second, data))
        at = end + 1 + len(data)
    return done


# ---- A disk

LAST = object()  # instead of a random choice: in each folder only the last change of names is on the disk


def put(content, offset, data):
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset:offset + len(data)] = data


class File:
    """The content that is certainly on the disk, and the changes since the last sync."""

    def __init__(self, content=b""):
        self.sure, self.since = bytearray(content), []

    @staticmethod
    def apply(content, change):
        offset, data = change
        if data is None:
            del content[offset:]
            content.extend(bytes(offset - len(content)))
        else:
            put(content, offset, data)

    def sync(self):
        for change in self.since:
            self.apply(self.sure, change)
        self.since = []

    def whole(self):
        content = bytearray(self.sure)
        for change in self.since:
            self.apply(content, change)
        return bytes(content)

    def after_loss(self, rng):
        content = bytearray(self.sure)
        fate = rng.choice(("all", "none", "mixed"))
        for offset, data in self.since:
            kind = {"all": "there", "none": "missing"}.get(fate) or rng.choice(("there", "missing", "torn", "zeros", "sectors"))
            if kind == "there" or (data is None and kind != "missing"):
                self.apply(content, (offset, data))
            elif kind == "torn":
                put(content, offset, data[:rng.randrange(len(data) // SECTOR + 1) * SECTOR])
            elif kind == "zeros":
                put(content, offset, bytes(len(data)))
            elif kind == "sectors":
                mixed = bytearray(len(data))
                for at in range(0, len(data), SECTOR):
                    if rng.random() < 0.5:
                        mixed[at:at + SECTOR] = data[at:at + SECTOR]
                put(content, offset, mixed)
        return bytes(content)


class Folder:
    """Entries that are certainly on the disk, and changes since the last sync: names with their targets; None: removed."""

    def __init__(self):
        self.sure, self.since = {}, []

    def now(self, kept=None):
        entries = dict(self.sure)
        for change, keep in zip(self.since, kept or [True] * len(self.since)):
            if keep:
                entries.update(change)
        return {name: item for name, item in entries.items() if item is not None}

    def sync(self):
        self.sure, self.since = self.now(), []


class Disk:
    def __init__(self, root):
        self.root, self.top = root, Folder()
        self.read(root, self.top)

    def read(self, path, folder):
        for name in os.listdir(path):
            below = os.path.join(path, name)
            if os.path.isdir(below):
                folder.sure[name] = Folder()
                self.read(below, folder.sure[name])
            else:
                with open(below, "rb") as file:
                    folder.sure[name] = File(file.read())

    def find(self, path):
        """The folder of the name, and the name; None, "": the top itself."""
        words = [word for word in path.removeprefix(self.root).split("/") if word]
        folder = self.top
        for word in words[:-1]:
            folder = folder.now()[word]
        return (folder, words[-1]) if words else (None, "")

    def item(self, path):
        folder, name = self.find(path)
        return folder.now().get(name) if folder else self.top

    def do(self, done):
        folder, name = self.find(done.path)
        if done.name == "sync":
            self.item(done.path).sync()
        elif done.name == "open":
            if name not in folder.now():
                folder.since.append({name: File()})
            elif done.size:
                folder.now()[name].since.append((0, None))
        elif done.name == "write":
            folder.now()[name].since.append((done.offset, done.data))
        elif done.name == "truncate":
            folder.now()[name].since.append((done.size, None))
        elif done.name == "mkdir":
            folder.since.append({name: Folder()})
        elif done.name == "unlink":
            folder.since.append({name: None})
        elif done.name in ("rename", "link"):
            other, new = self.find(done.second)
            item = folder.now()[name]
            if other is folder:
                folder.since.append({name: None, new: item} if done.name == "rename" else {new: item})
            else:
                other.since.append({new: item})
                if done.name == "rename":
                    folder.since.append({name: None})

    def write(self, rng, path, folder=None, made=None):
        """Writes one possible state after a loss of power, chosen by `rng`."""
        folder, made = folder or self.top, {} if made is None else made
        os.mkdir(path)
        share = 1 if rng is LAST else rng.choice((0, 0.5, 0.9, 1))
        kept = [change is folder.since[-1] if rng is LAST else rng.random() < share for change in folder.since]
        for name, item in folder.now(kept).items():
            below = os.path.join(path, name)
            if isinstance(item, Folder):
                self.write(rng, below, item, made)
            elif id(item) in made:
                os.link(made[id(item)], below)
            else:
                made[id(item)] = below
                with open(below, "wb") as file:
                    file.write(bytes(item.sure) if rng is LAST else item.after_loss(rng))


# ---- Commands

def call(folder, words, **fault):
    env = os.environ | {"CURVEBODY_TRUST_FILES": "1"} | {key: str(value) for key, value in fault.items()}
    return subprocess.run([BINARY, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=SECONDS)


def good(folder, *words, **fault):
    done = call(folder, words, **fault)
    if done.returncode:
        sys.exit(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")


def rows_of(content):
    with h5py.File(io.BytesIO(content)) as file:
        return file["time"].shape[0]


def read(path):
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


class Story:
    """An undisturbed command: its operations, and the state of the record that is guaranteed after each of them."""

    def __init__(self, root, name, inputs, whole):
        self.name, self.case, self.whole = name, CASES[name], whole
        self.root = os.path.join(root, name)
        self.work = os.path.join(self.root, "w")
        os.mkdir(self.root)
        shutil.copytree(os.path.join(inputs, self.case.before or "empty"), self.work)
        shutil.copy(os.path.join(inputs, "rod.yaml"), self.work)
        before = os.path.join(root, name + "-before")
        shutil.copytree(self.root, before)
        trace = os.path.join(root, name + ".trace")
        good(self.work, *self.case.words, LD_PRELOAD=f"{LIBRARY}:{CLOCK}", FAULT_CLOCK="leaps", FAULT_FOLDER=self.root,
             FAULT_TRACE=trace)
        if name == "resume-whole":  # the result has the scenario of the first run, which ends earlier
            self.whole = read(os.path.join(self.work, "rod.h5"))
        elif name in ("run", "run-over", "resume") and read(os.path.join(self.work, "rod.h5")) != whole:
            sys.exit(f"{name}: the record differs from that of the run")
        shutil.rmtree(self.root)
        shutil.move(before, self.root)
        self.done = read_trace(trace)
        self.promise()

    def promise(self):
        """The rows that must exist after each operation, and the contents that the record has had."""
        disk, path = Disk(self.root), os.path.join(self.work, "rod.h5")
        first = disk.item(path)
        self.versions = {first.whole()} if first else set()
        rows = rows_of(first.whole()) if first and self.name != "run-over" else 0
        self.old = first.whole() if first else None
        since, self.rows = [], [rows]
        for done in self.done:
            disk.do(done)
            if done.name == "rename" and done.second == path:
                content = disk.item(path).whole()
                self.versions.add(content)
                since.append(rows_of(content))
            elif done.name == "sync" and disk.item(done.path) is disk.find(path)[0] and since:
                rows, since = since[-1], []
            self.rows.append(min([rows, *since]))
        if self.name.startswith("resume"):  # resume computes the rows after the newest checkpoint again
            self.rows = [min(self.rows[at:]) for at in range(len(self.rows))]
        self.publishes = len(self.versions)

    def state(self, seed, path):
        """Writes the state after a number of operations that the seed chooses, or after operation -seed if seed < 0. Returns
        the number of operations, and the number of rows that must exist."""
        rng = LAST if seed < 0 else random.Random(seed)
        cut = -seed if seed < 0 else rng.randrange(len(self.done) + 1)
        disk = Disk(self.root)
        for done in self.done[:cut]:
            disk.do(done)
        disk.write(rng, path)
        return cut, self.rows[cut]

    def check(self, seed, path):
        """Checks one state. Returns a list of errors."""
        shutil.rmtree(path, ignore_errors=True)
        cut, rows = self.state(seed, path)
        work, copy = os.path.join(path, "w"), os.path.join(path, "copy")
        if not os.path.exists(work):
            os.mkdir(work)
        content = read(os.path.join(work, "rod.h5"))
        wrong = [f"operation {cut}"]
        if content is not None and content not in self.versions:
            wrong.append("the record is not complete")
        shutil.copytree(work, copy)
        wrong += self.repaired(copy, rows)
        if self.case.resume and not (self.name == "run-over" and content in (None, self.old)):
            wrong += self.resumed(work, rows)
        return wrong if len(wrong) > 1 else []

    def repaired(self, folder, rows):
        for words in ["repair", "rod.h5"], ["verify", "rod.h5"]:
            done = call(folder, words)
            if done.returncode and not rows and done.returncode in (2, 3):
                return []  # nothing had been published
            if done.returncode:
                return [f"{words[0]}: {done.returncode} {done.stdout.strip()} {done.stderr.strip()}"]
        found = rows_of(read(os.path.join(folder, "rod.h5")))
        return [f"{found} rows of {rows}"] if found < rows else []

    def resumed(self, folder, rows):
        done = call(folder, self.case.resume)
        if done.returncode in (2, 3) and not rows:
            return []
        if done.returncode:
            return [f"resume: {done.returncode} {done.stderr.strip()}"]
        wrong = [] if read(os.path.join(folder, "rod.h5")) == self.whole else ["resume: other bytes"]
        return wrong + ["resume: segments are left"] * os.path.exists(os.path.join(folder, "rod.h5.parts"))


def make_inputs(root, names):
    """Makes folders with no record, another record, a record half as long, one of a killed run, a large one of a killed
    run, and the whole record."""
    inputs = os.path.join(root, "inputs")
    for name in "empty", "old", "half", "killed", "large", "whole":
        os.makedirs(os.path.join(inputs, name))
    scenario = os.path.join(inputs, "rod.yaml")
    with open(scenario, "w") as file:
        file.write(RUN)
    run = ["run", scenario, "-o", "rod.h5", "--quiet"]
    good(os.path.join(inputs, "whole"), *run)
    good(os.path.join(inputs, "old"), *run, "--set", "time.end=10")
    good(os.path.join(inputs, "half"), *run, "--set", "time.end=125")
    fast = {"LD_PRELOAD": f"{LIBRARY}:{CLOCK}", "FAULT_CLOCK": "leaps", "FAULT_OF": "rename", "FAULT_KIND": "KILL"}
    call(os.path.join(inputs, "killed"), run, FAULT_FOLDER=os.path.join(inputs, "killed"), FAULT_AT=6, **fast)
    if "large" in names:
        call(os.path.join(inputs, "large"), [*run, "--set", "record.every=1"], FAULT_FOLDER=os.path.join(inputs, "large"),
             FAULT_AT=60, **fast)
    return inputs, read(os.path.join(inputs, "whole", "rod.h5"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--states", type=int, default=2000 if "CB_TEST_ALL" in os.environ else 20)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    parser.add_argument("--only", choices=CASES)
    parser.add_argument("--keep")
    how = parser.parse_args()
    names = [how.only] if how.only else [name for name in CASES if name != "large" or "CB_TEST_ALL" in os.environ]
    root = tempfile.mkdtemp(prefix="curvebody-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    bad, begin = 0, time.time()
    try:
        inputs, whole = make_inputs(root, names)
        for name in names:
            story, tried, failed = Story(root, name, inputs, whole), 0, 0
            named = [-at - 1 for at, done in enumerate(story.done) if done.name == "rename" and done.second.endswith("/rod.h5")]
            for seed in [*named, *range(how.seed, how.seed + -(-how.states // len(names)))]:
                wrong, tried = story.check(seed, os.path.join(root, "state")), tried + 1
                if wrong:
                    failed += 1
                    print(f"--only {name} --seed {seed} --states 1: {'; '.join(wrong)}", flush=True)
                    if how.keep and not bad + failed - 1:
                        story.state(seed, how.keep)
            bad += failed
            print(f"{name}: {len(story.done)} operations, {story.publishes} contents of the record, {tried} states tried, "
                  f"{tried - failed} survived", flush=True)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print(f"seed {how.seed}, {time.time() - begin:.0f} s")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
