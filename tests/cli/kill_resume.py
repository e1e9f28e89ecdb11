#!/usr/bin/python3
"""A run that is killed at any time leaves no file or a complete file under its name, which opens with ordinary readers, and
every row in it is right. repair makes it one ordinary file. resume completes it to a file identical to that of a run that was
never stopped, for every integrator and solver. The killed run also leaves its folder of segments; every command that reads
the record names this folder, and repair and resume remove it.

    kill_resume.py BINARY [CLOCK_LIBRARY] [kills, by default 12, or --all: 1000 [seed]]

CB_TEST_ALL in the environment means --all. Otherwise the seed chooses integrators and solvers.
"""
import glob
import json
import os
import random
import shutil
import sys
import time

CLOCK = os.path.abspath(sys.argv.pop(2)) if len(sys.argv) > 2 and sys.argv[2].endswith(".so") else None
from command import Case, NOTHING_TO_GO_ON_FROM, ROD, datasets, differing, main, rows_of_live, series  # noqa: E402

import h5py
import netCDF4
import numpy as np
import xarray

ALL = "CB_TEST_ALL" in os.environ or sys.argv[1:2] == ["--all"]
if ALL:
    sys.argv[1:2] = ["1000"]
# With a clock that is twenty times as fast, a run writes a file every 50 ms, so kills hit more states.
FAST = {"LD_PRELOAD": CLOCK, "FAULT_CLOCK": "fast"} if CLOCK else {}
SLOW = 1 if CLOCK else 4
KILLS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 12
SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else time.time_ns() % 10**9

CHART = ROD.replace("curvature: -1", "chart: polar").replace("boost_x", "rotation_z")
CHART = CHART.replace("[[0.5, pi/2, pi/2]", "[[0.7, 1.4, 0.3]")
SPHERE = ROD.replace("{name: h3, curvature: -1}", "{name: s3, curvature: 0.5}").replace("boost_x", "rotation_wx")

# In H3 the rod moves away and its origin follows it; the masses are different.
METHODS = {}
for solver in "fixed-point", "newton", "auto":
    METHODS[f"lobatto-{solver}"] = (ROD, f"name: lobatto, solver: {solver}, step: 0.05")
    METHODS[f"gauss-moving-{solver}"] = (ROD, f"name: gauss, stages: 2, solver: {solver}, step: 0.05")
    METHODS[f"gauss-canonical-{solver}"] = (CHART, f"name: gauss, stages: 2, solver: {solver}, step: 0.01")
    METHODS[f"gauss-velocity-{solver}"] = (CHART, f"name: gauss, form: velocity, solver: {solver}, step: 0.01")
for solver in "fixed-point", "newton":
    one_sided = f"name: gauss, stages: 2, symmetric: false, solver: {solver}, step: 0.05"
    METHODS[f"gauss-one-sided-{solver}"] = (SPHERE, one_sided)
METHODS["lobatto-plain-sum"] = (SPHERE, "name: lobatto, stages: 2, compensated: false, step: 0.05")
METHODS["rk4"] = (ROD, "name: rk4, step: 0.05")
METHODS["rk4-chart"] = (CHART, "name: rk4, step: 0.01")
METHODS["lobatto-chart"] = (CHART, "name: lobatto, stages: 3, step: 0.01")
# Near the chart's axis, which the rod reaches after t = 130, IDA's steps are tiny, so it runs only to t = 100.
for case, text, step in ("", ROD, 0.05), ("-chart", CHART, 0.01):
    METHODS[f"radau{case}"] = (text, "name: radau_iia, stages: 3, step: 0.01")
    METHODS[f"ida{case}"] = (text, f"name: ida, step: {step}")
RIGID = ROD.replace("link: {spring: {stiffness: 1, rest: 1}}", "link: rod")
assert RIGID != ROD
METHODS["lobatto-rigid"] = (RIGID, "name: lobatto, stages: 4, step: 0.05")
METHODS["lobatto-rigid-newton"] = (RIGID, "name: lobatto, stages: 3, solver: newton, step: 0.05")
METHODS["radau-rigid"] = (RIGID, "name: radau_iia, stages: 3, step: 0.05")
METHODS["radau-rigid-acceleration"] = (RIGID, "name: radau_iia, stages: 3, constraints: acceleration, step: 0.05")
METHODS["ida-rigid"] = (RIGID, "name: ida, step: 0.05")
# The ends of the rod are spheres that collide many times.
TOUCHING = SPHERE.replace("    mass: 1", "    radius: 0.3\n    mass: 1") + """\
contacts: {within: [a], restitution: 0.999}
events: [{distance: {between: [[a, 0], [a, 1]], equals: 0.8}}]
"""
METHODS["lobatto-contacts"] = (TOUCHING, "name: lobatto, stages: 4, step: 0.05")
METHODS["gauss-contacts"] = (TOUCHING, "name: gauss, stages: 2, step: 0.05")

SYSTEM = """\
curvebody: 1
system:
  coordinates: [a, b, c]
  metric: [[2], ["cos(a - b)", 1], [0, 0, "2 + cos(b)"]]
  potential: "-9*cos(a) - 4*cos(b)"
  forces: ["-0.01*a_dot", 0, sin(t)]
  constraints: []
  position: [1, 0.2, 0]
integrator: {name: gauss, step: 0.01}
time: {end: 600}
record: {every: 2, checkpoint: 50, sync: never, observables: [energy, coordinates]}
"""
SYSTEMS = {"name: gauss": "[]", "name: lobatto": '["a + sin(c) - 1"]', "name: radau_iia": '["a + sin(c) - 1"]',
           "name: ida": "[{velocity: [1, 0, a]}]"}


SWEEP = """\
curvebody: 1
sweep:
  scenario: rod.yaml
  over: [{key: bodies.0.motion.speed, values: [1, 2], name: speed}]
  keep: last
"""


def scenario(method):
    text, integrator = METHODS[method]
    text = text.replace("name: lobatto, stages: 4, step: 0.01", integrator).replace("mass: 1", "masses: [1, 2.7]")
    return text.replace("{every: 1, o", "{every: 2, checkpoint: 50, sync: never, o")


def some(methods, rng, most):
    """All methods with --all, otherwise a random choice of at most `most` of them."""
    return list(methods) if ALL else sorted(rng.sample(list(methods), min(most, len(methods))))


class KillResume(Case):
    def check_rows(self, path, reference):
        """Checks that each row of a killed or repaired file is equal to that of the reference run. Returns the number of rows."""
        with h5py.File(path) as file:
            rows = file["step"].shape[0]
            self.assertEqual({file[name].shape[0] for name in series(file)}, {rows})
            for name in reference:
                self.assertTrue(np.array_equal(file[name][:], reference[name][:rows]), name)
            if rows < len(reference["time"]):
                self.assertEqual(file.attrs["completed"], 0)
        return rows

    def check_plain_readers(self, path, rows):
        with netCDF4.Dataset(path) as file:
            self.assertEqual(len(file.dimensions["time"]), rows)
            self.assertEqual(file["plot_position"][...].shape, (rows, 2, 3))
        with xarray.open_dataset(path) as data:
            self.assertEqual(data.sizes["time"], rows)
            self.assertEqual(data.separation.values.shape, (rows, 1))

    def checkpoint_rows(self):
        """Number of rows before the newest checkpoint of the record or its segments; None: no checkpoint or no file."""
        found = []
        for path in [self.path("part.h5"), *glob.glob(self.path("part.h5.parts/[0-9]*.h5"))]:
            if os.path.exists(path):
                with h5py.File(path) as file:
                    checkpoints, rows, _ = file["checkpoint/seal"][:3]
                    found += [int(rows)] if checkpoints else []
        return max(found, default=None)

    def kill(self, words, delay, begun=True):
        """Starts a run, kills it after a delay from its start (begun) or from its first file, and returns its exit code. No
        file may exist except those of the record."""
        run = self.start(*words, env=os.environ | FAST)
        while not begun and not os.path.exists(self.path("part.h5")) and run.poll() is None:
            time.sleep(0.001)
        time.sleep(delay)
        run.kill()
        run.wait()
        self.assertLessEqual(set(os.listdir(self.folder)), {"rod.yaml", "whole.h5", "part.h5", "part.h5.parts"}, words)
        return run.returncode

    def test_kill_repair_resume(self):
        rng, count = random.Random(SEED), {"nothing": 0, "no rows": 0, "rows": 0, "ended": 0, "no checkpoint": 0}
        self.kills = 0
        methods = some(METHODS, rng, max(KILLS // 3, 1))
        for m, method in enumerate(methods):
            until = KILLS * (m + 1) // len(methods)
            with self.subTest(method, seed=SEED):
                self.write("rod.yaml", scenario(method))
                steps = self.steps_for(0.4 * SLOW)
                words = ["--set", f"time.end={steps * 0.05 if 'step: 0.05' in scenario(method) else steps * 0.01}"]
                begin = time.monotonic()
                self.good("run", "rod.yaml", "-o", "whole.h5", "--quiet", *words)
                length = time.monotonic() - begin
                with h5py.File(self.path("whole.h5")) as file:
                    names = "time", "step", "plot_position", "position", "origin", "energy", "solver_iterations"
                    reference = {name: file[name][()] for name in names}
                    self.assertEqual(file["step"][-1], steps)
                first = True
                while self.kills < until:
                    count[self.one(words, first, length, reference, rng)] += 1
                    first = False
        print(f"seed {SEED}, {self.kills} kills: {count}")

    def steps_for(self, seconds):
        done = json.loads(self.good("run", "rod.yaml", "-o", "whole.h5", "--json", "--force", "--set", "time.end=20").stdout)
        return max(600, min(60000, int(seconds * done["step"] / done["seconds"]) // 100 * 100))

    def one(self, words, first, length, reference, rng):
        """Kills a run, checks its file, may repair it, and resumes it; the resumed run may be killed again."""
        path, until = self.path("part.h5"), repr(float(reference["time"][-1]))
        self.remove_record("part.h5")
        first = first or rng.random() < 0.1
        code = self.kill(["run", "rod.yaml", "-o", "part.h5", "--quiet", *words], rng.uniform(0, 0.4 if first else length), first)
        self.kills += 1
        if code == 0:
            self.assertEqual(self.read("part.h5"), self.read("whole.h5"))
            return "ended"
        again = rng.choice([0, 0, 1, 1, 2])
        while os.path.exists(path):
            rows = self.check_rows(path, reference)
            self.check_plain_readers(path, rows)
            kept = self.checkpoint_rows()
            if rng.random() < 0.4:
                done = self.good("repair", "part.h5")
                self.assertFalse(os.path.exists(path + ".parts"))
                if "unchanged" in done.stdout:  # the previous command was killed after its end or before it began
                    self.assertEqual(self.check_rows(path, reference), rows)
                else:  # a segment may already have its name while the virtual file does not yet contain it
                    self.assertGreaterEqual(self.check_rows(path, reference), rows)
                    self.assertIn(f" {self.check_rows(path, reference)} rows", done.stdout)
                self.check_plain_readers(path, self.check_rows(path, reference))
            if not again:
                break
            again -= 1
            doing = ["repair", "part.h5"] if rng.random() < 0.2 else ["resume", "part.h5", "--until", until, "--quiet"]
            self.kill(doing, rng.uniform(0, length))
            self.kills += 1
            self.assertTrue(os.path.exists(path), "what was there is lost")
            self.assertGreaterEqual(self.checkpoint_rows() or 0, kept or 0, "a checkpoint is lost")
        done = self.call("resume", "part.h5", "--until", until, "--quiet")
        if done.returncode:
            self.assertIsNone(self.checkpoint_rows())
            if os.path.exists(path):
                self.assertEqual((done.returncode, done.stderr), (2, "part.h5" + NOTHING_TO_GO_ON_FROM))
                return "no checkpoint"
            self.assertEqual(done.returncode, 3, done.stderr)
            return "nothing"
        self.assertEqual(self.read("part.h5"), self.read("whole.h5"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["part.h5", "rod.yaml", "whole.h5"])
        return "rows"

    def test_at_most_the_last_second_is_computed_again(self):
        """With the ordinary clock the file of a killed run is at most a second old, plus the time of writing. The age is the
        time between two changes of the file's number of rows."""
        rng = random.Random(SEED)
        self.write("rod.yaml", scenario("lobatto-fixed-point"))
        oldest = 0
        for _ in range(40 if ALL else 2):
            self.remove_record("part.h5")
            run = self.start("run", "rod.yaml", "-o", "part.h5", "--set", "time.end=1e6", "--quiet")
            begin = time.monotonic()
            self.wait_for("part.h5", run)
            appeared, seen = time.monotonic(), []
            self.assertLess(appeared - begin, 5)
            stop = appeared + rng.uniform(0.2, 2.5)
            while time.monotonic() < stop:
                seen.append((time.monotonic(), rows_of_live(self.path("part.h5"))))
                time.sleep(0.02)
            run.kill()
            run.wait()
            changes = [at for (at, rows), (_, before) in zip(seen[1:], seen) if rows > before]
            between = [b - a for a, b in zip([appeared, *changes], [*changes, stop])]
            oldest = max([oldest, *between])
        self.assertLess(oldest, 5)  # 1 s, plus the time that a busy machine takes to write the file
        print(f"at most {oldest:.2f} s until the next file")

    def test_system_killed_and_resumed_goes_on_to_the_same_bytes(self):
        rng = random.Random(SEED)
        for method, constraints in SYSTEMS.items():
            with self.subTest(method, seed=SEED):
                text = SYSTEM.replace("name: gauss", method).replace("constraints: []", "constraints: " + constraints)
                self.write("system.yaml", text)

                def repaired_and_a_second_more():
                    self.good("repair", "part.h5")
                    with h5py.File(self.path("part.h5")) as file:
                        return repr(0.01 * (int(max(file["step"][()], default=0)) + 100))

                until = self.killed_and_resumed(["run", "system.yaml"], "part.h5", rng.uniform(0.05, 0.2),
                                                repaired_and_a_second_more)
                self.good("run", "system.yaml", "-o", "whole.h5", "--quiet", "--force", "--set", f"time.end={until}")
                self.assertEqual(differing(datasets(self.path("part.h5")), datasets(self.path("whole.h5"))), [])
                os.remove(self.path("part.h5"))

    def left(self, name, *more):
        """Kills a run after it has some rows, and returns their number."""
        run = self.start("run", "rod.yaml", "-o", name, "--set", "time.end=1e4", *more, env=os.environ | FAST)
        self.wait_for(name, run, 1000)
        run.kill()
        run.wait()
        return rows_of_live(self.path(name))

    def copy_record(self, source, target):
        self.remove_record(target)
        shutil.copytree(self.path(source + ".parts"), self.path(target + ".parts"))
        shutil.copy(self.path(source), self.path(target))

    def test_resume_or_repair_killed_at_its_start_loses_no_row(self):
        rng = random.Random(SEED)
        self.write("rod.yaml", scenario("lobatto-fixed-point"))
        left = self.left("first.h5", "--set", "record.every=1", "--set", "record.checkpoint=100")
        for kill in range(40 if ALL else 8):
            # the copied folder has another name, but the virtual file still contains the first name
            self.copy_record("first.h5", "part.h5")
            run = self.start(*(["resume", "part.h5", "--until", "1e4"] if kill % 2 else ["repair", "part.h5"]))
            time.sleep(rng.uniform(0, 0.06))
            run.kill()
            run.wait()
            if kill % 4 == 3:  # an error, but for another reason than the kill
                done = self.call("resume", "part.h5", "--until", "0.01")
                self.assertIn("expected --until of at least this time", done.stderr)
            self.good("repair", "part.h5")
            with h5py.File(self.path("part.h5")) as file:
                rows = file["step"].shape[0]
                self.assertGreaterEqual(rows, left - 100)  # a resumed run removes the rows after the checkpoint
                self.assertTrue(np.array_equal(file["step"][()], np.arange(rows)), SEED)
                self.assertTrue(np.all(file["energy"][()] > 0), SEED)

    def test_every_command_names_the_folder_of_a_killed_run(self):
        self.write("rod.yaml", scenario("lobatto-fixed-point"))
        self.write("s.yaml", SWEEP)
        self.left("first.h5")
        for words, code in ((["verify", "o.h5"], 2), (["export", "o.h5", "--csv", "-o", "o.csv"], 0),
                            (["export", "o.h5", "--xdmf", "-o", "o.xdmf"], 0), (["view", "o.h5", "-o", "o.html"], 0),
                            (["classify", "o.h5"], 2), (["run", "rod.yaml", "-o", "o.h5"], 3),
                            (["sweep", "s.yaml", "-o", "o"], 3), (["repair", "o.h5"], 0),
                            (["resume", "o.h5", "--until", "1e4"], 0)):
            with self.subTest(words[0]):
                self.copy_record("first.h5", "o.h5")
                done = self.call(*words)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual((done.stdout + done.stderr).count("o.h5.parts"), 1, done.stdout + done.stderr)
                gone = words[0] in ("repair", "resume")
                self.assertEqual(os.path.exists(self.path("o.h5.parts")), not gone)
        self.copy_record("first.h5", "o.h5")
        self.good("run", "rod.yaml", "-o", "o.h5", "--force", "--quiet")
        self.assertFalse(os.path.exists(self.path("o.h5.parts")))

    def test_completed_run_goes_on_to_a_longer_one(self):
        for method in some(METHODS, random.Random(SEED), 8):
            with self.subTest(method, seed=SEED):
                self.write("rod.yaml", scenario(method))
                step = 0.05 if "step: 0.05" in scenario(method) else 0.01
                # with and without a shortened last step
                for steps, more in (273, 941), (101, 102), (100, 150), (600.4, 700.7):
                    self.good("run", "rod.yaml", "-o", "part.h5", "--force", "--set", f"time.end={steps * step}")
                    self.good("resume", "part.h5", "--until", f"{more * step}")
                    self.good("run", "rod.yaml", "-o", "later.h5", "--force", "--set", f"time.end={more * step}")
                    self.assertEqual(differing(datasets(self.path("part.h5")), datasets(self.path("later.h5"))), [])
                    with h5py.File(self.path("part.h5")) as file:
                        self.assertEqual(file.attrs["completed"], 1)
                        self.assertAlmostEqual(file["time"][-1], more * step, delta=1e-12)


if __name__ == "__main__":
    main()
