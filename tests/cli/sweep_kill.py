#!/usr/bin/python3
"""A sweep is killed at any time, as one process or under mpirun, one rank or all of them. The same command then completes it
to an identical result. Long members continue from their checkpoints.

    sweep_kill.py BINARY [kills, by default 8, or 200 with CB_TEST_ALL in the environment [seed]]
"""
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from command import BINARY, Case, ROD, die_with_parent, main

import h5py

KILLS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 200 if "CB_TEST_ALL" in os.environ else 8
SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else time.time_ns() % 10**9

MPIRUN = shutil.which("mpirun")
RANKS = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n"]
HAS_MODULE = os.path.exists(os.path.join(os.path.dirname(BINARY), "curvebody-mpi.so"))

SWEEP = """\
curvebody: 1
sweep:
  scenario: rod.yaml
  over:
    - {key: bodies.0.link.spring.stiffness, from: 0.5, to: 8, count: 40, name: stiffness}
    - {key: bodies.0.motion.speed, from: 0.5, to: 2, count: 25, name: speed}
    - {key: time.end, values: [5, 25], name: end}
  keep: last
  collect:
    top: max(energy)
    drift: last(plot_position[0,2]) - first(plot_position[0,2])
    rms: rms(separation[0])
"""


def arrays(path):
    with h5py.File(path) as f:
        return {name: d[()].tobytes() for name, d in f.items() if isinstance(d, h5py.Dataset) and d.dtype.kind in "fiS"
                and name != "letter"}


def processes(folder):
    """Process ids of the command in that folder."""
    found = []
    for entry in glob.glob("/proc/[0-9]*"):
        try:
            if os.readlink(entry + "/exe") == BINARY and os.readlink(entry + "/cwd") == os.path.realpath(folder):
                found.append(int(entry[6:]))
        except OSError:
            pass
    return found


class Kill(Case):
    def begin(self, prefix=(), out="o", name="s.yaml"):
        return subprocess.Popen([*prefix, BINARY, "sweep", name, "-o", out, "--quiet"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, preexec_fn=die_with_parent, start_new_session=True)

    def ended(self, run, seconds):
        """The exit status of the run; None for an mpirun that does not end after all its ranks: PMIx 4.2 sometimes waits for its
        own lock in PMIx_server_finalize."""
        try:
            return run.wait(seconds)
        except subprocess.TimeoutExpired:
            self.assertEqual((run.args[0], processes(self.folder)), (MPIRUN, []), f"seed {SEED}: does not end")
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            print("an mpirun without ranks did not end")

    def test_kills(self):
        print(f"{KILLS} kills, seed {SEED}")
        rng = random.Random(SEED)
        self.write("rod.yaml", ROD.replace("every: 1", "every: 10"))
        self.write("s.yaml", SWEEP)
        begin = time.monotonic()
        self.assertEqual(self.begin(out="whole").wait(100), 0)
        length = time.monotonic() - begin
        whole = arrays(self.path("whole.h5"))
        kinds = ["alone"] + (["ranks", "one rank"] if MPIRUN and HAS_MODULE else [])
        done, late = 0, 0
        while done < KILLS:
            for path in glob.glob(self.path("o*")):
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
            for _ in range(rng.randint(1, 4)):
                kind = rng.choice(kinds)
                run = self.begin([] if kind == "alone" else [*RANKS, str(rng.choice((2, 3)))])
                time.sleep(rng.uniform(0, length) + (0 if kind == "alone" else 0.4))
                victims = processes(self.folder)
                late += run.poll() is not None
                for victim in victims if kind != "one rank" else victims[:1]:
                    try:
                        os.kill(victim, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                self.ended(run, 60)
                while processes(self.folder):
                    time.sleep(0.01)
                done += 1
            last = self.begin(rng.choice([[], [*RANKS, "2"]] if len(kinds) > 1 else [[]]))
            self.assertIn(self.ended(last, 200), (0, None), f"seed {SEED}, after {done} kills")
            self.assertEqual(arrays(self.path("o.h5")), whole, f"seed {SEED}, after {done} kills")
            with open(self.path("o.h5"), "rb") as a, open(self.path("whole.h5"), "rb") as b:
                self.assertEqual(a.read(), b.read(), f"seed {SEED}, after {done} kills")
            self.assertFalse(os.path.exists(self.path("o.h5.parts")))
        print(f"{late} kills came after the end")

    def test_long_members_go_on(self):
        """Two members of some seconds are killed after both have a checkpoint. They do not start again from the beginning."""
        self.write("rod.yaml", ROD.replace("end: 1}", "end: 60000}").replace("every: 1,", "every: 50,"))
        self.write("s.yaml", """\
curvebody: 1
sweep:
  scenario: rod.yaml
  over: [{key: bodies.0.motion.speed, values: [0.5, 0.7], name: speed}]
  keep: rows
  collect:
    mean: mean(separation[0])
    crossing: crossing(separation[0] - 1.0001, 1000)
""")
        self.assertEqual(self.begin(out="whole").wait(110), 0)
        run = self.begin()
        deadline = time.monotonic() + 60
        while len(glob.glob(self.path("o.h5.parts/*.state"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        saved = sorted(glob.glob(self.path("o.h5.parts/*.state")))
        run.kill()
        run.wait()
        self.assertEqual(len(saved), 2)
        self.write("o.h5.parts/7.state", b"of nobody")
        with open(saved[1], "r+b") as file:  # an incomplete checkpoint is ignored
            file.seek(2000)
            file.write(b"\0\1\2\3")
        self.assertEqual(self.begin().wait(110), 0)
        self.assertEqual(arrays(self.path("o.h5")), arrays(self.path("whole.h5")))
        self.assertEqual(glob.glob(self.path("o.h5.parts/*")), [])
        status = json.loads(self.good("sweep", "--status", "o", "--json").stdout)
        self.assertEqual((status["done"], status["left"], status["runs"]), (2, 0, False))


if __name__ == "__main__":
    main()
