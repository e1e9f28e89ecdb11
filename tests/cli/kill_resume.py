#!/usr/bin/python3
"""A run killed at any moment leaves nothing or a whole file under its name; every row in it is readable and right;
repaired, it opens with plain readers; resumed, it goes on to the bytes of a run that was never stopped, with every
method and solver. What a killed run leaves beside its record, OUT.h5.rescue, goes with either.

    kill_resume.py BINARY [kills, by default 12, or --all: 1000 [seed]]

With CB_TEST_ALL in the environment it is --all. Otherwise methods and solvers are a choice by the seed.
"""
import json
import os
import random
import shutil
import sys
import time

from command import Case, NOTHING_TO_GO_ON_FROM, ROD, datasets, differing, main, rows_of_live, whole_rows

try:
    import h5py
    import netCDF4
    import numpy as np
    import xarray
except ImportError as missing:
    print(missing)
    sys.exit(77)

ALL = "CB_TEST_ALL" in os.environ or sys.argv[1:2] == ["--all"]
if ALL:
    sys.argv[1:2] = ["1000"]
KILLS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 12
SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else time.time_ns() % 10**9

CHART = ROD.replace("curvature: -1", "chart: polar").replace("boost_x", "rotation_z")
CHART = CHART.replace("[[0.5, pi/2, pi/2]", "[[0.7, 1.4, 0.3]")
SPHERE = ROD.replace("{name: h3, curvature: -1}", "{name: s3, curvature: 0.5}").replace("boost_x", "rotation_wx")

# In H3 the rod leaves the origin, which follows it; masses are unequal.
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
# Near the chart's axis, where the rod comes after t = 130, IDA's steps are tiny: there it goes to about 100.
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
# The ends of the rod are spheres that meet, again and again.
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
record: {every: 2, checkpoint: 50, observables: [energy, coordinates]}
"""
SYSTEMS = {"name: gauss": "[]", "name: lobatto": '["a + sin(c) - 1"]', "name: radau_iia": '["a + sin(c) - 1"]',
           "name: ida": "[{velocity: [1, 0, a]}]"}


def scenario(method):
    text, integrator = METHODS[method]
    text = text.replace("name: lobatto, stages: 4, step: 0.01", integrator).replace("mass: 1", "masses: [1, 2.7]")
    return text.replace("{every: 1, o", "{every: 2, checkpoint: 50, o")


def some(methods, rng, most):
    """All of them, or so many by chance."""
    return list(methods) if ALL else sorted(rng.sample(list(methods), min(most, len(methods))))


class KillResume(Case):
    copies, half = 0, 0  # killed runs that left one beside their record, that were in the middle of a write

    def check_no_copy(self, name):
        self.assertFalse(os.path.exists(self.path(name + ".rescue")), name)

    def is_half_written(self, path):
        """Killed in the middle of a write: what was to be written is behind the end ."""
        with open(path, "rb") as file:
            file.seek(-32, os.SEEK_END)
            half = file.read(8) == b"cbwrite\n"
        self.half += half
        return half

    def check_rows(self, path, reference, **how):
        """The number of rows of a killed or repaired file, each the row of the run that was not stopped."""
        with h5py.File(path, **how) as file:
            rows = whole_rows(file)
            for name in reference:
                self.assertTrue(np.array_equal(file[name][:rows], reference[name][:rows]), name)
        return rows

    def check_plain_readers(self, path, rows, whole):
        with h5py.File(path) as file:
            if rows < whole:
                self.assertEqual(file.attrs["completed"], 0)
            self.assertEqual({file[name].shape[0] for name in ("time", "x", "separation", "step_size")}, {rows})
        with netCDF4.Dataset(path) as file:
            self.assertEqual(len(file.dimensions["time"]), rows)
            self.assertEqual(file["x"][...].shape, (rows, 2, 3))
        with xarray.open_dataset(path) as data:
            self.assertEqual(data.sizes["time"], rows)
            self.assertEqual(data.separation.values.shape, (rows, 1))

    def killed(self, words, name, first, delay, reference):
        """Starts, watches through SWMR, kills: after a time from the start, or from when there is a file.
        Returns whether there is one."""
        path, seen = self.path(name), 0
        run = self.start(*words, "--quiet")
        while not first and not os.path.exists(path) and not self.parts(name) and run.poll() is None:
            time.sleep(0.001)
        time.sleep(delay)
        if delay > 0.2 and os.path.exists(path):
            seen = rows_of_live(path)
        run.kill()
        run.wait()
        for part in self.parts(name):
            os.remove(self.path(part))
        self.assertLessEqual(set(os.listdir(self.folder)), {"rod.yaml", "whole.h5", name, name + ".rescue"})
        self.copies += os.path.exists(path + ".rescue")
        if not os.path.exists(path):
            return False
        if run.returncode == 0:
            return True
        if words[0] == "resume":  # at its start it is no file for readers: it is repaired, or resumed once more
            return True
        if self.is_half_written(path):  # HDF5's readers wait for a writer that is no more: it is repaired, or resumed
            return True
        self.assertGreaterEqual(self.check_rows(path, reference, swmr=True, libver="latest"), seen)
        return True

    def test_kill_repair_resume(self):
        rng, count = random.Random(SEED), {"nothing": 0, "no rows": 0, "rows": 0, "ended": 0, "no checkpoint": 0}
        methods = some(METHODS, rng, KILLS)
        for m, method in enumerate(methods):
            kills = KILLS // len(methods) + (m < KILLS % len(methods))
            with self.subTest(method, seed=SEED):
                self.write("rod.yaml", scenario(method))
                steps = self.steps_for(0.4)
                words = ["--set", f"time.end={steps * 0.05 if 'step: 0.05' in scenario(method) else steps * 0.01}"]
                self.good("run", "rod.yaml", "-o", "whole.h5", *words)
                whole = datasets(self.path("whole.h5"))
                with h5py.File(self.path("whole.h5")) as file:
                    names = "time", "step", "x", "position", "origin", "energy", "solver_iterations"
                    reference = {name: file[name][()] for name in names}
                    self.assertEqual(file["step"][-1], steps)
                for kill in range(kills):
                    first = kill == 0
                    delay = rng.uniform(0, 0.06) if first else rng.uniform(0, 0.4)
                    count[self.one(words, first, delay, reference, whole, rng)] += 1
        self.assertTrue(self.copies or not ALL)
        print(f"seed {SEED}, {KILLS} kills: {count}, {self.copies} left a copy beside the record, {self.half} a half-done write")

    def steps_for(self, seconds):
        done = json.loads(self.good("run", "rod.yaml", "-o", "whole.h5", "--json", "--set", "time.end=20").stdout)
        return max(600, min(60000, int(seconds * done["step"] / done["seconds"]) // 100 * 100))

    def one(self, words, first, delay, reference, whole, rng):
        for name in "part.h5", "part.h5.part", "part.h5.rescue":
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        if not self.killed(["run", "rod.yaml", "-o", "part.h5", *words], "part.h5", first, delay, reference):
            return "nothing"
        path, until = self.path("part.h5"), repr(float(reference["time"][-1]))
        done = self.call("repair", "part.h5") if rng.random() < 0.7 else None
        if done:
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check_no_copy("part.h5")
            if "left as it is" in done.stdout:
                self.assertEqual(differing(datasets(path), whole), [])
                return "ended"
            rows = self.check_rows(path, reference)
            self.check_plain_readers(path, rows, len(reference["time"]))
            self.assertIn(f" {rows} rows", done.stdout)
        if rng.random() < 0.3:
            self.killed(["resume", "part.h5", "--until", until], "part.h5", False, rng.uniform(0, 0.2), reference)
            if rng.random() < 0.5:
                self.good("repair", "part.h5")
                self.check_rows(path, reference)
        done = self.call("resume", "part.h5", "--until", until, "--quiet")
        if done.returncode == 2:
            self.assertEqual(done.stderr, "part.h5" + NOTHING_TO_GO_ON_FROM)
            return "no checkpoint"
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_no_copy("part.h5")
        self.assertEqual(differing(datasets(path), whole), [])
        return "rows"

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
                self.good("run", "system.yaml", "-o", "whole.h5", "--quiet", "--set", f"time.end={until}")
                self.assertEqual(differing(datasets(self.path("part.h5")), datasets(self.path("whole.h5"))), [])
                os.remove(self.path("part.h5"))

    def test_resume_or_repair_killed_at_its_start_loses_no_row(self):
        rng = random.Random(SEED)
        self.write("rod.yaml", scenario("lobatto-fixed-point"))
        run = self.start("run", "rod.yaml", "-o", "first.h5", "--set", "time.end=1e4", "--set", "record.every=1",
                         "--set", "record.checkpoint=100")
        self.wait_for("first.h5", run, 5000)  # more than can be in the file while its first checkpoint waits
        run.kill()
        run.wait()
        for kill in range(40 if ALL else 12):
            shutil.copy(self.path("first.h5"), self.path("part.h5"))
            words = ["resume", "part.h5", "--until", "1e4"] if kill % 2 else ["repair", "part.h5"]
            run = self.start(*words)
            late = time.time() + 0.3
            # until HDF5 marks the file as open, but not for readers yet
            with open(self.path("part.h5"), "rb", buffering=0) as file:
                while os.pread(file.fileno(), 1, 11) != b"\x01" and time.time() < late:
                    pass
            time.sleep(rng.uniform(0, 0.004))
            run.kill()
            run.wait()
            if kill % 4 == 3:  # refused, but not for having been killed
                done = self.call("resume", "part.h5", "--until", "0.01")
                self.assertIn("expected --until of at least that", done.stderr)
            self.good("repair", "part.h5")
            with h5py.File(self.path("part.h5")) as file:
                rows = file["step"].shape[0]
                self.assertGreaterEqual(rows, 100)
                self.assertTrue(np.array_equal(file["step"][()], np.arange(rows)), SEED)
                self.assertTrue(np.all(file["energy"][()] > 0), SEED)

    def test_completed_run_goes_on_to_a_longer_one(self):
        for method in some(METHODS, random.Random(SEED), 8):
            with self.subTest(method, seed=SEED):
                self.write("rod.yaml", scenario(method))
                step = 0.05 if "step: 0.05" in scenario(method) else 0.01
                # with and without a shortened last step
                for steps, more in (273, 941), (101, 102), (100, 150), (600.4, 700.7):
                    self.good("run", "rod.yaml", "-o", "part.h5", "--set", f"time.end={steps * step}")
                    self.good("resume", "part.h5", "--until", f"{more * step}")
                    self.good("run", "rod.yaml", "-o", "later.h5", "--set", f"time.end={more * step}")
                    self.assertEqual(differing(datasets(self.path("part.h5")), datasets(self.path("later.h5"))), [])
                    with h5py.File(self.path("part.h5")) as file:
                        self.assertEqual(file.attrs["completed"], 1)
                        self.assertAlmostEqual(file["time"][-1], more * step, delta=1e-12)


if __name__ == "__main__":
    main()
