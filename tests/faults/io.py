#!/usr/bin/python3
"""Any operation on a file may fail, once or permanently. No command may crash or hang: it ends with exit code 0 and the
right output, or with 3 and an error that names the file and the reason. The files on disk stay usable: an old output is
kept or replaced completely. A record can be resumed to the rows of an undisturbed run, and has at least the rows that a run
would have had if it had been killed at that operation. A record that could not be read is unchanged.

    io.py BINARY IO_LIBRARY CLOCK_LIBRARY [--all | --faults N] [--seed S] [--jobs J] [--only COMMAND]
          [--of OPERATION,..] [--at N --kind K --then T]
"""
import argparse
import collections
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BINARY, LIBRARY, CLOCK = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
sys.argv.insert(1, BINARY)
from command import BALL, NOTHING_TO_GO_ON_FROM, PATIENCE, ROD, datasets, differing  # noqa: E402
from memory_commands import MODEL, STROKE, SYSTEMS  # noqa: E402

import h5py  # noqa: E402
import numpy as np  # noqa: E402

SECONDS = 60 * PATIENCE  # a command that takes longer hangs
RUN = ROD.replace("end: 1}", "end: 200}").replace("{every: 1, o", "{every: 50, checkpoint: 100, sync: every flush, o")
PLATE = os.path.join(SYSTEMS, "falling-plate.yaml")
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
SWEEP = """\
curvebody: 1
sweep:
  scenario: short.yaml
  over:
    - {key: bodies.0.mass, values: [1, 2, 3], name: mass}
  keep: last
  collect: {top: max(energy)}
"""

Command = collections.namedtuple("Command", "words inputs outputs record", defaults=[(), (), None])
COMMANDS = {
    "run": Command(["run", "rod.yaml", "-o", "rod.h5", "--quiet"], ["rod.yaml"], ["rod.h5"], "rod.h5"),
    "resume": Command(["resume", "half.h5", "--until", "200", "--quiet"], ["half.h5"], [], "half.h5"),
    "resume-killed": Command(["resume", "killed.h5", "--quiet"], ["killed.h5", "killed.h5.parts"], [], "killed.h5"),
    "repair": Command(["repair", "killed.h5"], ["killed.h5", "killed.h5.parts"], [], "killed.h5"),
    "csv": Command(["export", "ball.h5", "--csv", "-o", "ball.csv"], ["ball.h5"], ["ball.csv", "ball-events.csv"]),
    "xdmf": Command(["export", "ball.h5", "--xdmf"], ["ball.h5"], ["ball.xdmf", "ball-surface.h5"]),
    "view": Command(["view", "good.h5", "-o", "rod.html", "--frames", "50"], ["good.h5"], ["rod.html"]),
    "verify": Command(["verify", "good.h5"], ["good.h5"]),
    "verify-body": Command(["verify", "body.h5"], ["body.h5", "body.obj", "grid.h5"]),
    "check": Command(["check", "body.yaml"], ["body.yaml", "body.obj", "grid.h5"]),
    "gait": Command(["gait", "purcell.yaml", "curvature", "--grid", "5x5", "-o", "c.h5"], ["purcell.yaml"], ["c.h5"]),
    "geodesic": Command(["geodesic", "h3", "--from", "1,1,0", "--to", "2,1,1", "--points", "5", "-o", "g.h5"], [],
                        ["g.h5"]),
    "inertia": Command(["inertia", "body.obj", "--density", "1200", "--fluid", "water"], ["body.obj"]),
    "optimize": Command(["gait", "purcell.yaml", "optimize", "-o", "o.yaml"], ["purcell.yaml"], ["o.yaml"]),
    "import": Command(["import", "model.xml", "-o", "o.yaml"], ["model.xml"], ["o.yaml"]),
    "classify": Command(["classify", "plate.h5", "--exponent", "3"], ["plate.h5"]),
    "status": Command(["sweep", "--status", "swept"], ["swept.h5"]),
    "sweep": Command(["--threads", "1", "sweep", "sweep.yaml", "-o", "o", "--quiet"], ["sweep.yaml", "short.yaml"],
                     ["o.h5"]),
    "sweep-killed": Command(["--threads", "1", "sweep", "sweep.yaml", "-o", "o", "--quiet"],
                            ["sweep.yaml", "short.yaml", "o.h5", "o.h5.parts"], ["o.h5"]),
}
OLD = b"what was there before"
REASONS = {"EIO": "Input/output error", "ENOSPC": "No space left on device", "EINTR": "Interrupted system call"}


def call(folder, words, seen=None, **fault):
    """Runs a command with a fault. seen() is called just before the fault and looks at the files on disk."""
    env = os.environ | {"FAULT_" + name.upper(): str(value) for name, value in fault.items() if value}
    if fault:
        # The filter of system calls stays active after an exec, where no handler receives its signal, so no process may
        # probe files.
        env |= {"LD_PRELOAD": f"{LIBRARY}:{CLOCK}", "FAULT_FOLDER": folder, "CURVEBODY_TRUST_FILES": "1"}
    if seen:
        env["FAULT_STOP"] = "1"
    with tempfile.TemporaryFile("w+", errors="replace") as out, tempfile.TemporaryFile("w+", errors="replace") as err:
        process = subprocess.Popen([BINARY, *words], cwd=folder, env=env, stdout=out, stderr=err)
        code, late = None, time.time() + SECONDS
        while code is None and time.time() < late:
            pid, status = os.waitpid(process.pid, os.WNOHANG | os.WUNTRACED)
            if not pid:
                time.sleep(0.001)
            elif os.WIFSTOPPED(status):
                seen()
                process.send_signal(signal.SIGCONT)
            else:
                code = process.returncode = os.waitstatus_to_exitcode(status)
        if code is None:
            process.kill()
            process.wait()
        out.seek(0), err.seek(0)
        return subprocess.CompletedProcess(words, code, out.read(), err.read())


def good(folder, *words):
    done = call(folder, words)
    if done.returncode:
        sys.exit(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def read(path):
    if os.path.isdir(path):
        return {name: read(os.path.join(path, name)) for name in os.listdir(path)}
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def same(path, other):
    return read(path) == read(other) or (path.endswith(".h5") and differing(datasets(path), datasets(other)) == [])


class Master:
    """A folder with all inputs, the undisturbed output of each command, and the operations that it takes."""

    def __init__(self, root):
        self.root, self.inputs = root, os.path.join(root, "inputs")
        os.mkdir(self.inputs)
        self.operations, self.printed = {}, {}
        self.make_inputs()
        for name, command in COMMANDS.items():
            folder = self.fresh(name, os.path.join(root, "good-" + name))
            log = os.path.join(root, name + ".log")
            done = call(folder, command.words, log=log)
            if done.returncode:
                sys.exit(f"{name}: {done.returncode}\n{done.stderr}")
            self.printed[name] = done.stdout
            with open(log) as lines:
                self.operations[name] = [line.split(" ", 3) for line in lines]

    def make_inputs(self):
        def write(name, text):
            with open(os.path.join(self.inputs, name), "w") as file:
                file.write(text)

        write("rod.yaml", RUN)
        write("short.yaml", ROD.replace("end: 1}", "end: 0.1}"))
        write("sweep.yaml", SWEEP)
        write("purcell.yaml", STROKE)
        write("model.xml", MODEL)
        write("body.obj", TETRAHEDRON)
        write("ball.yaml", BALL)
        body = BALL.replace("    shape: {name: ellipsoid, resolution: 16}\n", "    mesh: body.obj\n")
        write("body.yaml", body.replace("medium: water", "medium: water\n  flow: {grid: grid.h5}"))
        with h5py.File(os.path.join(self.inputs, "grid.h5"), "w") as file:
            file["velocity"] = np.zeros((3, 3, 3, 3))
            for axis in "xyz":
                file[axis] = np.linspace(-1, 1, 3)
        good(self.inputs, "run", "ball.yaml", "-o", "ball.h5")
        good(self.inputs, "run", "body.yaml", "-o", "body.h5")
        good(self.inputs, "run", "rod.yaml", "-o", "good.h5")
        good(self.inputs, "run", "rod.yaml", "-o", "half.h5", "--set", "time.end=75")
        good(self.inputs, "run", PLATE, "-o", "plate.h5", "--set", "time.end=8")
        good(self.inputs, "sweep", "sweep.yaml", "-o", "swept")
        self.kill_record("killed.h5")
        self.kill("o", COMMANDS["sweep"].words, 0.7)

    def kill(self, name, words, part):
        """Leaves the files that the command had made after the fraction `part` of its operations."""
        log = os.path.join(self.root, name + ".log")
        folder = os.path.join(self.root, "killed")
        shutil.copytree(self.inputs, folder)
        call(folder, words, log=log)
        shutil.rmtree(folder)
        with open(log) as lines:
            count = len(list(lines))
        call(self.inputs, words, at=int(part * count), kind="KILL")

    def kill_record(self, name):
        """Kills a run before the final file gets its name. With the clock that leaps, the record has been published by then."""
        for _ in range(20):
            call(self.inputs, ["run", "rod.yaml", "-o", name, "--force", "--quiet"], of="rename", at=4, kind="KILL", clock="leaps")
            if all(os.path.exists(os.path.join(self.inputs, name + end)) for end in ("", ".parts")):
                return
        sys.exit("no segments of the killed record")

    def fresh(self, name, folder):
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for file in COMMANDS[name].inputs:
            source = os.path.join(self.inputs, file)
            (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, os.path.join(folder, file))
        for file in COMMANDS[name].outputs if not name.startswith("sweep") else ():
            with open(os.path.join(folder, file), "wb") as old:
                old.write(OLD)
        return folder

    def faults(self, name):
        """Every operation with every possible fault: its number, the kind of fault, and FAULT_THEN of io.c."""
        for number, operation, size, _ in self.operations[name]:
            what = operation.rstrip("+")
            for then in "", "same", "all":
                yield int(number), "EIO", then
            if operation.endswith("+"):
                for then in "", "all":
                    yield int(number), "ENOSPC", then
            if what in ("open", "read", "write", "truncate", "lock", "sync", "close"):
                yield int(number), "EINTR", ""
            if what in ("read", "write") and int(size) > 1:
                for then in "", "same":
                    yield int(number), "SHORT", then

    def operation(self, name, fault):
        return self.operations[name][fault[0] - 1][1].rstrip("+")

    def is_of(self, name, fault, operations):
        return not operations or self.operation(name, fault) in operations.split(",")

    def choose(self, rng, name, those, evenly, more):
        """A number of faults for each kind of operation in turn, and a number of others."""
        turns, seen = [], collections.Counter()
        for fault in rng.sample(those, len(those)):
            operation = self.operation(name, fault)
            turns.append((seen[operation], fault))
            seen[operation] += 1
        turns.sort(key=lambda turn: turn[0])
        return [fault for _, fault in turns[:evenly]] + rng.sample([fault for _, fault in turns[evenly:]],
                                                                   min(more, max(0, len(turns) - evenly)))


class Trial:
    """Tries one fault of one command, and checks everything that must be true after it."""

    def __init__(self, master, name, number, kind, then):
        self.master, self.name, self.command, self.number, self.kind, self.then = (
            master, name, COMMANDS[name], number, kind, then)
        self.folder = os.path.join(master.root, f"work-{os.getpid()}")
        self.wrong, self.lost = [], 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def good(self, name):
        return os.path.join(self.master.root, "good-" + self.name, name)

    def expect(self, holds, text):
        if not holds:
            self.wrong.append(text)

    def run(self):
        self.master.fresh(self.name, self.folder)
        told = os.path.join(self.master.root, f"told-{os.getpid()}")
        if os.path.exists(told):
            os.remove(told)
        killed = self.folder + "-killed"
        shutil.rmtree(killed, ignore_errors=True)
        seen = (lambda: shutil.copytree(self.folder, killed)) if self.command.record else None
        done = call(self.folder, self.command.words, seen, at=self.number, kind=self.kind, then=self.then, told=told)
        what = read(told)
        if what is None:
            return None
        self.what = what.decode()
        self.check_end(done)
        if not self.wrong:
            self.check_files(done.returncode)
        return self

    def check_end(self, done):
        code = done.returncode
        if code is None or code < 0:
            self.wrong.append("hangs" if code is None else f"crashes: {signal.Signals(-code).name}")
            return
        self.expect(code in (0, 3), f"exit code {code}: {done.stderr.strip()}")
        taken = self.kind in ("SHORT", "EINTR")
        self.expect(not taken or code == 0, f"not taken: {done.stderr.strip()}")
        if code == 3:
            self.expect(REASONS.get(self.kind, "") in done.stderr, f"no reason: {done.stderr.strip()}")
            names = [*self.command.inputs, *self.command.outputs, "o/", "o:"]
            self.expect(any(name in done.stderr for name in names), f"no file named: {done.stderr.strip()}")
        if code == 0 and not self.command.outputs and not self.command.record:
            expected = self.master.printed[self.name].replace(self.good(""), self.path(""))
            self.expect(done.stdout == expected, "another output")

    def check_files(self, code):
        left = os.listdir(self.folder)
        if self.what != "unlink" and self.then != "all":
            self.expect(not [file for file in left if file.endswith(".part")], f"parts are left: {left}")
            if self.command.record and self.what not in ("list", "open", "stat"):
                self.expect(code or not [file for file in left if file.endswith(".parts")], f"segments are left: {left}")
        for file in self.command.inputs:
            if not file.startswith("o.h5") and self.command.record != file.removesuffix(".parts"):
                self.expect(read(self.path(file)) == read(os.path.join(self.master.inputs, file)), f"{file} changed")
        if self.command.record:
            self.check_record(code)
        elif self.name.startswith("sweep"):
            self.check_sweep(code)
        else:
            self.check_outputs(code)

    def check_outputs(self, code):
        for file in self.command.outputs:
            old = OLD if code else None
            expected = self.good(file)
            self.expect(read(self.path(file)) == old or same(self.path(file), expected), f"{file} is another")

    def check_sweep(self, code):
        if code:
            done = call(self.folder, self.command.words)
            self.expect(done.returncode == 0, f"the same command again: {done.returncode} {done.stderr.strip()}")
        self.expect(same(self.path("o.h5"), self.good("o.h5")), "another result")

    # ---- Records

    def repaired(self, folder):
        """The rows of the record after a repair, and an error or "". Rows None: there is no record, or only the old file."""
        path = os.path.join(folder, self.command.record)
        if read(path) == OLD or not (os.path.exists(path) or os.path.exists(path + ".parts/000001.h5")):
            return None, ""
        done = call(folder, ["repair", self.command.record])
        if done.returncode:
            return None, f"repair: {done.returncode} {done.stderr.strip()}"
        with h5py.File(path) as file:
            return file["time"].shape[0], ""

    def check_record(self, code):
        record, whole = self.command.record, os.path.join(self.master.inputs, "good.h5")
        if code == 0:
            self.expect(same(self.path(record), self.good(record)), "another record")
        copy = self.folder + "-copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder, copy)
        rows, why = self.repaired(copy)
        least, trouble = self.repaired(self.folder + "-killed")  # the files that a kill at this operation would have left
        self.expect(not why, why)
        self.expect(not trouble, f"killed there: {trouble}")
        if why or trouble:
            return
        again = 3 if self.name == "resume-killed" else 0  # rows after the newest checkpoint are computed again
        self.lost = max(0, (least or 0) - again - (rows or 0))
        self.expect(not self.lost, f"{rows} rows, after a kill {least}")
        if rows is None:
            return
        done = call(self.folder, ["resume", record, *(["--until", "200"] if record == "half.h5" else []), "--quiet"])
        if done.returncode == 2 and done.stderr == record + NOTHING_TO_GO_ON_FROM:
            self.expect(rows <= 3, f"no checkpoint among {rows} rows")
            return
        self.expect(done.returncode == 0, f"resume: {done.returncode} {done.stderr.strip()}")
        self.expect(done.returncode or differing(datasets(self.path(record)), datasets(whole)) == [], "other rows")
        left = os.listdir(self.folder)
        self.expect(not [file for file in left if file.endswith(".parts")], f"resume leaves segments: {left}")


MASTER = None


def one(fault):
    trial = Trial(MASTER, *fault).run()
    return fault, trial and trial.wrong, trial.lost if trial else 0, trial.what if trial else ""


def main():
    global MASTER
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", default="CB_TEST_ALL" in os.environ)
    parser.add_argument("--faults", type=int, default=120)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", choices=COMMANDS)
    parser.add_argument("--of", default="", help="operations by name, such as open,lock")
    parser.add_argument("--at", type=int)
    parser.add_argument("--kind", default="EIO")
    parser.add_argument("--then", default="")
    how = parser.parse_args()
    root = tempfile.mkdtemp(prefix="curvebody-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    try:
        MASTER = Master(root)
        names = [how.only] if how.only else list(COMMANDS)
        faults = {name: [f for f in MASTER.faults(name) if MASTER.is_of(name, f, how.of)] for name in names}
        every = sum(map(len, faults.values()))
        if how.at:
            faults = {how.only: [(how.at, how.kind, how.then)]}
        elif not how.all:  # the same number of faults for each command, and some more for commands with many operations
            rng = random.Random(how.seed)
            share = how.faults // (2 * len(names))
            for name, those in faults.items():
                faults[name] = MASTER.choose(rng, name, those, share, how.faults * len(those) // (2 * every))
        return report([(name, *fault) for name in faults for fault in faults[name]], every, how)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def report(faults, every, how):
    tried, missed, lost, bad = collections.Counter(), 0, 0, collections.Counter()
    begin = time.time()
    with multiprocessing.get_context("fork").Pool(how.jobs) as pool:
        for fault, wrong, rows, what in pool.imap_unordered(one, faults, chunksize=4):
            if wrong is None:
                missed += 1
                continue
            tried[fault[0]] += 1
            lost += rows
            if wrong:
                bad[fault[0]] += 1
                print(f"{fault[0]}: --at {fault[1]} --kind {fault[2]} --then '{fault[3]}' ({what}): {'; '.join(wrong)}",
                      flush=True)
    for name in tried:
        print(f"{name}: {tried[name]} of {len(list(MASTER.faults(name)))} faults tried, {tried[name] - bad[name]} survived")
    n, failed = sum(tried.values()), sum(bad.values())
    print(f"seed {how.seed}: {n} of {every} faults tried, {n - failed} survived, {lost} rows lost; "
          f"{missed} not met; {time.time() - begin:.0f} s")
    return failed > 0 or n == 0 or missed > len(faults) // 10


if __name__ == "__main__":
    sys.exit(main())
