#!/usr/bin/python3
"""`curvebody sweep`: members equal the runs of `curvebody run` with the same values. The result opens with h5py, netCDF4 and
xarray while it grows and after. It is identical for any threads, shards and ranks. Failures are reported and can be run
again. Results of another sweep are never used.
"""
import glob
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import time

from command import BINARY, PATIENCE, Case, ROD, main

import h5py
import netCDF4
import numpy as np
import xarray

MPIRUN = shutil.which("mpirun")
RANKS = [MPIRUN, "--allow-run-as-root", "--oversubscribe"]
HAS_MODULE = os.path.exists(os.path.join(os.path.dirname(BINARY), "curvebody-mpi.so"))

SHORT = ROD.replace("step: 0.01", "step: 0.05").replace("every: 1, observables: [separation, energy]",
                                                        "every: 2, observables: [separation, energy]")
SWEEP = """\
curvebody: 1
title: rods
sweep:
  scenario: rod.yaml
  over:
    - {key: bodies.0.link.spring.stiffness, from: 0.5, to: 8, count: 4, spacing: log, name: stiffness}
    - {key: [integrator.name, integrator.step], values: [[lobatto, 0.05], [gauss, 0.025], [lobatto, 0.03]], name: method}
    - {key: bodies.0.motion.speed, values: [0.5, 2], name: speed}
  collect:
    last: last(plot_position[0,2])
    first: first(plot_position[1,x])
    least: min(separation[0])
    most: max(separation[0]^2)
    mean: mean(kinetic_energy)
    rms: rms(separation[0] - 1)
    when: argmax(separation[0])
    count: count(separation[0] > 1.001)
    crossing: crossing(separation[0] - 1.0005, 2)
    bare: 2*energy - energy
    both: max(step)/2 + min(3, first(energy)*0)
"""


ROUGH = """\
curvebody: 1
sweep:
  scenario: rod.yaml
  over: [{key: integrator.step, values: [0.1, 0.35, 0.7], name: h}]
  collect: {most: max(energy)}
"""


def crossing(t, y, n):
    found = 0
    for i in range(1, len(y)):
        if y[i - 1] != 0 and (y[i] == 0 or (y[i - 1] < 0) != (y[i] < 0)):
            found += 1
            if found == n:
                return t[i - 1] + (t[i] - t[i - 1]) * (y[i - 1] / (y[i - 1] - y[i]))
    return np.nan


def reduced(f):
    x, d, t, E = f["plot_position"][:], f["separation"][:, 0], f["time"][:], f["energy"][:]
    return {"last": x[-1, 0, 2], "first": x[0, 1, 0], "least": d.min(), "most": (d * d).max(), "mean": f["kinetic_energy"][:].mean(),
            "rms": np.sqrt(((d - 1) ** 2).mean()), "when": t[d.argmax()], "count": (d > 1.001).sum(),
            "crossing": crossing(t, d - 1.0005, 2), "bare": E[-1], "both": f["step"][:].max() / 2}


def arrays(path):
    with h5py.File(path) as f:
        return {name: (d.dtype, d.shape, d[()].tobytes()) for name, d in f.items() if isinstance(d, h5py.Dataset) and
                d.dtype.kind in "fiS" and name not in ("letter",)}


class Sweep(Case):
    def setUp(self):
        super().setUp()
        self.write("rod.yaml", SHORT)
        self.write("s.yaml", SWEEP)

    def sweep(self, *words, code=0, name="s.yaml", out="o", prefix=(), binary=()):
        done = subprocess.run([*prefix, BINARY, *binary, "sweep", name, "-o", out, *words], cwd=self.folder, text=True,
                              capture_output=True, timeout=200 * PATIENCE)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def test_members_are_runs(self):
        self.sweep("--json")
        with h5py.File(self.path("o.h5")) as f:
            self.assertEqual(f["last"].shape, (4, 3, 2))
            self.assertTrue((f["status"][:] == 1).all())
            stiffness, speed = f["stiffness"][:], f["speed"][:]
            np.testing.assert_allclose(stiffness, 0.5 * 16 ** (np.arange(4) / 3), rtol=1e-14)
            self.assertEqual([n.decode() for n in f["integrator.name"][:]], ["lobatto", "gauss", "lobatto"])
            for i, j, k in itertools.product(range(4), range(3), range(2)):
                method = [("lobatto", 0.05), ("gauss", 0.025), ("lobatto", 0.03)][j]
                self.run_command("run", "rod.yaml", "-o", "one.h5", "--force", "--set", f"bodies.0.link.spring.stiffness={float(stiffness[i])!r}",
                                 "--set", f"integrator.name={method[0]}", "--set", f"integrator.step={method[1]}", "--set",
                                 f"bodies.0.motion.speed={float(speed[k])!r}")
                with h5py.File(self.path("one.h5")) as one:
                    for key, value in reduced(one).items():
                        # the order of the sum differs from numpy's
                        np.testing.assert_allclose(f[key][i, j, k], value, rtol=1e-14 if key in ("mean", "rms", "crossing") else 0,
                                                   err_msg=f"{key} {i} {j} {k}")

    def run_command(self, *words):
        subprocess.run([BINARY, *words, "--quiet"], cwd=self.folder, check=True, capture_output=True)

    def test_members_that_are_warned_of_are_told(self):
        """Also with --quiet. If a sweep continues after an interruption, each command reports all warnings at its end."""
        self.write("rough.yaml", ROUGH)
        self.write("rod.yaml", SHORT.replace("lobatto, stages: 4", "rk4").replace("end: 1}", "end: 35}"))
        said = self.sweep("--quiet", name="rough.yaml", out="r")
        told = r"curvebody: warning: 2 members have warnings, for example member 1: at time 35, the energy has changed by "
        self.assertRegex(said.stderr, "^" + told)
        self.assertEqual(said.stdout, "")
        again = self.sweep("--json", name="rough.yaml", out="r")
        self.assertRegex(again.stderr, told)
        self.assertEqual(json.loads(again.stdout)["warned"], 2)
        with h5py.File(self.path("r.h5")) as f:
            self.assertEqual(list(f["warned"][:]), [0, 1, 1])
            words = [b"".join(row).rstrip(b"\0").decode() for row in f["warning"][:]]
        self.assertEqual(words[0], "")
        for i, step in (1, "0.35"), (2, "0.7"):
            self.assertIn(f"the step of {step} is too long", words[i])

    def test_keeps_rows_and_last(self):
        for keep in "rows", "last":
            self.write("k.yaml", SWEEP.replace("  collect:", f"  keep: {keep}\n  collect:"))
            self.sweep(name="k.yaml", out="k" + keep)
        with h5py.File(self.path("krows.h5")) as rows, h5py.File(self.path("klast.h5")) as last:
            self.assertEqual(rows["plot_position"].shape[:4], (4, 3, 2, rows["row"].shape[0]))
            for i, j, k in itertools.product(range(4), range(3), range(2)):
                n = rows["rows"][i, j, k]
                self.assertEqual(n, [11, 21, 18][j])
                for name in "plot_position", "energy", "separation", "time":
                    self.assertTrue(np.isfinite(rows[name][i, j, k, :n]).all())
                    self.assertTrue(np.isnan(rows[name][i, j, k, n:]).all())
                    np.testing.assert_array_equal(rows[name][i, j, k, n - 1], last[name][i, j, k])
                self.assertEqual(last["plot_position"][i, j, k, 0, 2], last["last"][i, j, k])
            self.run_command("run", "rod.yaml", "-o", "one.h5", "--force", "--set", "bodies.0.link.spring.stiffness=0.5", "--set",
                             "bodies.0.motion.speed=0.5")
            with h5py.File(self.path("one.h5")) as one:
                np.testing.assert_array_equal(rows["plot_position"][0, 0, 0, :11], one["plot_position"][:])
                np.testing.assert_array_equal(rows["step"][0, 0, 0, :11], one["step"][:])

    def test_workers_of_every_kind_give_the_same_bytes(self):
        text = SWEEP.replace("count: 4", "count: 40").replace("  collect:", "  keep: last\n  collect:")
        self.write("s.yaml", text)
        self.sweep(out="o")
        whole = arrays(self.path("o.h5"))
        self.assertEqual(len(whole), len(arrays(self.path("o.h5"))))
        for threads in 1, 2, 4:
            self.sweep(out=f"t{threads}", binary=("--threads", str(threads)))
            self.assertEqual(arrays(self.path(f"t{threads}.h5")), whole, threads)
        self.assertFalse(glob.glob(self.path("*.parts")))
        with open(self.path("o.h5"), "rb") as a, open(self.path("t4.h5"), "rb") as b:
            self.assertEqual(a.read(), b.read())
        shards = [subprocess.Popen([BINARY, "sweep", "s.yaml", "-o", "p", "--shard", f"{k}/3", "--quiet"], cwd=self.folder)
                  for k in (1, 3, 2)]
        self.assertEqual([p.wait(100) for p in shards], [0, 0, 0])
        self.sweep("--shard", "2/3", out="p")  # a second time: there is nothing to do
        self.assertEqual(self.read("p.h5"), self.read("o.h5"))
        for ranks in 2, 4:
            if not (MPIRUN and HAS_MODULE):
                continue
            self.sweep(out=f"m{ranks}", prefix=(*RANKS, "-n", str(ranks)))
            self.assertEqual(arrays(self.path(f"m{ranks}.h5")), whole, ranks)

    def test_readers_after_and_while(self):
        self.write("s.yaml", SWEEP.replace("count: 4", "count: 400").replace("values: [0.5, 2]", "from: 0.5, to: 2, count: 10"))
        self.sweep(out="o")
        whole = h5py.File(self.path("o.h5"))
        x = xarray.open_dataset(self.path("o.h5"))
        self.assertEqual(x["last"].dims, ("stiffness", "method", "speed"))
        self.assertEqual(x["failure"].shape, (400, 3, 10))
        self.assertEqual(x["failure"].values[3, 1, 2], b"")
        self.assertEqual(float(x["last"].sel(speed=2).isel(stiffness=3, method=0)), whole["last"][3, 0, 9])
        with netCDF4.Dataset(self.path("o.h5")) as n:
            np.testing.assert_array_equal(np.asarray(n["most"][:]), whole["most"][:])
        p = subprocess.Popen([BINARY, "--threads", "1", "sweep", "s.yaml", "-o", "w", "--quiet"], cwd=self.folder)
        seen, between = set(), 0
        while p.poll() is None:
            if not os.path.exists(self.path("w.h5")):
                continue
            opened = os.stat(self.path("w.h5")).st_ino
            with xarray.open_dataset(self.path("w.h5")) as live, h5py.File(self.path("w.h5")) as plain:
                status, last = live["status"].values, live["last"].values
                done = status == 1
                values = plain["last"][:]
                if os.stat(self.path("w.h5")).st_ino != opened:
                    continue  # a new file has replaced it, and the segments of the old one may be removed
                np.testing.assert_array_equal(values[done], whole["last"][:][done])
                self.assertTrue(np.isfinite(last).sum() >= 0)
                seen.add(int(done.sum()))
                between += 0 < done.sum() < done.size
        self.assertEqual(p.returncode, 0)
        self.assertGreater(between, 0, seen)
        self.assertEqual(arrays(self.path("w.h5")), arrays(self.path("o.h5")))
        self.assertEqual(self.read("w.h5"), self.read("o.h5"))
        self.sweep("--shard", "2/3", out="s")  # the folder must be moved with its file, under the same name
        os.mkdir(self.path("elsewhere"))
        shutil.move(self.path("s.h5"), self.path("elsewhere/s.h5"))
        shutil.move(self.path("s.h5.parts"), self.path("elsewhere/s.h5.parts"))
        with h5py.File(self.path("elsewhere/s.h5")) as moved:
            done = moved["status"][:] == 1
            self.assertEqual(done.sum(), done.size // 3)
            np.testing.assert_array_equal(moved["last"][:][done], whole["last"][:][done])

    def test_designs(self):
        head = SWEEP.split("  over:")[0]
        axes = """\
  over:
    - {key: bodies.0.link.spring.stiffness, from: 1, to: 3, name: k}
    - {key: bodies.0.mass, from: 1, to: 100, spacing: log, name: m}
    - key: bodies.0.motion.speed
      random: normal(1, 0.01)
      name: v
  collect: {top: max(energy)}
"""
        for name in "latin_hypercube", "sobol", "halton":
            for seed in 1, 2:
                self.write("d.yaml", head + f"  design: {{name: {name}, count: 64, seed: {seed}}}\n" + axes)
                self.sweep(name="d.yaml", out=f"{name}{seed}")
            with h5py.File(self.path(name + "1.h5")) as a, h5py.File(self.path(name + "2.h5")) as b:
                self.assertEqual(a["top"].shape, (64,))
                self.assertFalse(np.array_equal(a["k"][:], b["k"][:]))
                k, m, v = (a[n][:] for n in "kmv")
                self.assertTrue(((k >= 1) & (k <= 3) & (m >= 1) & (m <= 100)).all())
                for u in (k - 1) / 2, np.log(m) / np.log(100):
                    counts = np.histogram(u, 16, (0, 1))[0]
                    # four in each of 16 bins; a shifted sequence may put one into the next bin
                    self.assertTrue((abs(counts - 4) <= (0 if name == "latin_hypercube" else 2)).all(), counts)
                self.assertLess(abs(v.mean() - 1), 0.005)
        together = head + """\
  design: together
  over:
    - {key: bodies.0.link.spring.stiffness, values: [1, 2, 3], name: k}
    - {key: bodies.0.mass, from: 1, to: 3, count: 3, name: m}
  collect: {top: max(energy)}
"""
        self.write("d.yaml", together)
        self.sweep(name="d.yaml", out="t")
        with h5py.File(self.path("t.h5")) as t:
            np.testing.assert_array_equal(t["k"][:], t["m"][:])
            self.assertEqual(t["top"].dims[0][0].name, "/member")
        self.write("d.yaml", head + """\
  over:
    - {key: bodies.0.motion.speed, random: [uniform(0, 1), 0, 2], count: 3, name: v}
  collect: {top: max(energy)}
""")
        done = self.sweep(name="d.yaml", out="v", code=2)
        self.assertIn("d.yaml:6:44: error: ", done.stderr)

    def test_the_one_of_the_documentation(self):
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
        with open(os.path.join(root, "analysis/docs/sweeps.md"), encoding="utf-8") as file:
            self.write("s.yaml", file.read().split("```yaml file=sweep.yaml\n")[1].split("```")[0])
        shutil.copy(os.path.join(root, "analysis/scenarios/thesis/elastic-rod-h3.yaml"), self.path("rod.yaml"))
        self.sweep(out="out")
        with xarray.open_dataset(self.path("out.h5")) as out:
            self.assertEqual(out["top"].shape, (24, 2, 16))
            self.assertTrue(np.isfinite(out.top.sel(stiffness=2, method="nearest").values).all())
            self.assertTrue((out["turns"].values == 0).all())

    def test_works_of_a_gait(self):
        self.write("g.yaml", """\
curvebody: 1
bundle: {name: purcell, links: 3, ratio: 2}
gait: {fourier: {mean: [0, 0], cosine: [[1, 0]], sine: [[0, 1]]}}
integrator: {name: magnus, order: 6, step: 0.01}
""")
        self.write("s.yaml", """\
curvebody: 1
sweep:
  scenario: g.yaml
  task: holonomy
  over:
    - {key: bundle.ratio, values: [1.5, 2.5], name: ratio}
    - {key: [gait.fourier.cosine.0.0, gait.fourier.sine.0.1], values: [[0.5, 0.5], [1.2, 1.2]], name: amplitude}
  keep: last
  collect:
    e: efficiency
    dx: g[x]
""")
        self.sweep()
        with h5py.File(self.path("o.h5")) as f:
            for i, j in itertools.product(range(2), range(2)):
                sets = [f"bundle.ratio={[1.5, 2.5][i]}"] + [f"gait.fourier.{k}={[0.5, 1.2][j]}" for k in ("cosine.0.0", "sine.0.1")]
                words = [w for s in sets for w in ("--set", s)]
                one = json.loads(subprocess.run([BINARY, "gait", "g.yaml", "holonomy", "--json", *words], cwd=self.folder,
                                                check=True, capture_output=True).stdout)
                for name in "g", "log", "length", "cost", "efficiency", "g_repeated":
                    np.testing.assert_array_equal(f[name][i, j], one[name])
                self.assertEqual((f["e"][i, j], f["dx"][i, j]), (one["efficiency"], one["g"][0]))
        self.write("r.yaml", "curvebody: 1\nsweep:\n  scenario: rod.yaml\n  task: holonomy\n  over: [{key: title, values: [a]}]\n"
                   "  keep: last\n")
        self.assertIn("bundle", self.sweep(name="r.yaml", out="r", code=2).stderr)

    # Few iterations do not converge.
    FAILS = """\
curvebody: 1
title: some fail
sweep:
  scenario: f.yaml
  over:
    - {key: integrator.iterations, values: [1, 2, 30], name: iterations}
  keep: rows
  collect: {top: max(energy)}
"""

    def test_failures_are_told_and_run_again(self):
        self.write("f.yaml", SHORT.replace("name: lobatto,", "name: lobatto, solver: fixed-point, retries: 0, iterations: 30,"))
        self.write("s.yaml", self.FAILS)
        done = self.sweep(code=1)
        self.assertIn("2 members failed", done.stderr)
        with h5py.File(self.path("o.h5")) as f:
            self.assertEqual(f["status"][:].tolist(), [2, 2, 1])
            words = [f["failure"][m].tobytes().rstrip(b"\0").decode() for m in range(3)]
            self.assertIn("no convergence", words[0])
            self.assertEqual(words[2], "")
            self.assertTrue(np.isnan(f["top"][:2]).all() and f["top"][2] > 0)
            self.assertEqual(f["rows"][0], 1)  # the rows before the failure
            self.assertTrue(np.isfinite(f["energy"][0, 0]))
        status = subprocess.run([BINARY, "sweep", "--status", "o"], cwd=self.folder, text=True, capture_output=True)
        self.assertIn("1 done", status.stdout)
        self.assertIn("member 1 failed: no convergence", status.stdout)
        done = self.sweep("--json", code=1)
        self.assertEqual(json.loads(done.stdout)["here"], 0)
        done = self.sweep("--json", "--retry-failed", code=1)
        self.assertEqual(json.loads(done.stdout)["here"], 2)

    def test_what_has_changed_is_refused(self):
        self.write("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        self.write("rod.yaml", SHORT.replace("  - kind: rod", "  - kind: truss\n    name: b\n    mesh: {file: m.obj, at: {chart: polar, "
                                             "point: [1, 1, 1]}, scale: 0.1}\n  - kind: rod"))
        sweep = SWEEP.replace("bodies.0", "bodies.1").replace("gauss, 0.025", "lobatto, 0.025")
        self.write("s.yaml", sweep)
        self.sweep()
        before = self.read("o.h5")
        self.write("s.yaml", sweep.replace("count: 4", "count: 5"))
        self.assertIn("sweep.over.0.count was '4', now it is '5'", self.sweep(code=2).stderr)
        self.write("s.yaml", sweep)
        text = self.read("rod.yaml")
        self.write("rod.yaml", text.replace(b"scale: 0.1", b"scale: 0.2"))
        self.assertIn("sweep.scenario.bodies.0.mesh.scale was '0.1', now it is '0.2'", self.sweep(code=2).stderr)
        self.write("rod.yaml", text)
        self.write("m.obj", "v 0 0 0\nv 1 0 0\nv 0 2 0\nf 1 2 3\n")
        self.assertIn("other contents of ", self.sweep(code=2).stderr)
        self.assertEqual(before, self.read("o.h5"))

    def test_folders(self):
        self.write("file.h5.parts", "mine")
        self.assertIn("cannot write", self.sweep(out="file", code=3).stderr)
        self.assertEqual(self.read("file.h5.parts"), b"mine")
        self.assertIn("cannot write", self.sweep(out="no/such/folder", code=3).stderr)
        os.mkdir(self.path("empty.h5.parts"))
        self.sweep(out="empty")
        self.sweep(out="with.h5")
        self.assertEqual(glob.glob(self.path("with*")), [self.path("with.h5")])
        self.run_command("run", "rod.yaml", "-o", "run.h5")
        record = self.read("run.h5")
        self.assertIn("run.h5: this file exists", self.sweep(out="run", code=3).stderr)
        self.assertEqual(self.read("run.h5"), record)
        os.mkdir(self.path("left.h5.parts"))
        self.write("left.h5.parts/000001.h5", record)
        self.assertIn("this is the folder of a run, not of a sweep", self.sweep(out="left", code=3).stderr)
        self.assertEqual(self.read("left.h5.parts/000001.h5"), record)

    def test_a_run_does_not_write_over_a_sweep_that_is_not_done(self):
        self.sweep("--shard", "1/2")
        shown = self.read("o.h5")
        done = subprocess.run([BINARY, "run", "rod.yaml", "-o", "o.h5"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, "a sweep has left its members in .*o.h5.parts: expected the same `curvebody sweep`")
        self.assertEqual(self.read("o.h5"), shown)
        done = subprocess.run([BINARY, "repair", "o.h5"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, "o.h5: [0-9]+ of [0-9]+ members have not ended: run the same `curvebody sweep`")
        self.run_command("run", "rod.yaml", "-o", "o.h5", "--force")
        self.assertFalse(os.path.exists(self.path("o.h5.parts")))

    def test_two_at_once(self):
        self.write("rod.yaml", SHORT.replace("end: 1", "end: 40"))
        first = subprocess.Popen([BINARY, "sweep", "s.yaml", "-o", "o", "--quiet"], cwd=self.folder)
        while not os.path.exists(self.path("o.h5")):
            self.assertIsNone(first.poll())
            time.sleep(0.01)
        second = subprocess.run([BINARY, "sweep", "s.yaml", "-o", "o", "--quiet"], cwd=self.folder, text=True, capture_output=True)
        status = subprocess.run([BINARY, "sweep", "--status", "o", "--json"], cwd=self.folder, text=True, capture_output=True)
        running = first.poll() is None
        first.wait(100)
        if running:
            self.assertEqual(second.returncode, 3, second.stderr)
            self.assertIn("o.h5: in use: ", second.stderr)
            self.assertEqual(status.returncode, 0, status.stderr)

    def test_scripts_for_slurm_make_the_sweep(self):
        """The scripts run with programs that stand for srun and mpirun, and with the variables of Slurm."""
        self.sweep(out="whole")
        os.mkdir(self.path("bin"))
        for name, command in ("srun", 'exec "$@"'), ("mpirun", 'echo "$1 $2" > ranks; shift 2; exec "$@"'):
            self.write("bin/" + name, f"#!/bin/sh\n{command}\n")
            os.chmod(self.path("bin/" + name), 0o755)
        array, mpi = (os.path.join(os.path.dirname(__file__), "../../analysis/scenarios/sweeps", name + ".sbatch")
                      for name in ("array", "mpi"))
        env = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        env |= {"PATH": self.path("bin") + ":" + env["PATH"], "CURVEBODY": BINARY}
        call = lambda script, *words, **more: subprocess.run([os.path.abspath(script), *words], cwd=self.folder, env=env | more,
                                                             capture_output=True, text=True)
        for k in 3, 1, 2:
            self.assertFalse(os.path.exists(self.path("a.h5")) and self.status_of("a.h5").all())
            done = call(array, "s.yaml", "a", SLURM_ARRAY_TASK_ID=str(k), SLURM_ARRAY_TASK_COUNT="3", SLURM_ARRAY_TASK_MIN="1",
                        SLURM_CPUS_PER_TASK="2")
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        done = call(mpi, "s.yaml", "m", SLURM_NTASKS="5")
        self.assertEqual((done.returncode, self.read("ranks")), (0, b"-n 5\n"), done.stderr)
        for name in "a.h5", "m.h5":
            self.assertEqual(arrays(self.path(name)), arrays(self.path("whole.h5")))
        for words, variables in (("s.yaml",), {"SLURM_ARRAY_TASK_COUNT": "3"}), (("s.yaml", "a"), {}), \
                (("s.yaml", "a"), {"SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_MIN": "0"}):
            done = call(array, *words, **variables)
            self.assertEqual((done.returncode, done.stderr[:24]), (2, "usage: sbatch --array=1-"))

    def test_scripts_for_slurm_stop_at_its_signal(self):
        """Slurm sends the signal of --signal to what srun has started or, with B:, to the process of the script."""
        self.write("rod.yaml", SHORT.replace("end: 1", "end: 30"))
        os.mkdir(self.path("bin"))
        for name, command in ("srun", 'echo $$ > step; exec "$@"'), ("mpirun", 'shift 2; exec "$@"'):
            self.write("bin/" + name, f"#!/bin/sh\n{command}\n")
            os.chmod(self.path("bin/" + name), 0o755)
        env = os.environ | {"PATH": self.path("bin") + ":" + os.environ["PATH"], "CURVEBODY": BINARY, "SLURM_ARRAY_TASK_ID": "1",
                            "SLURM_ARRAY_TASK_COUNT": "1", "SLURM_ARRAY_TASK_MIN": "1"}
        for name in "array", "mpi":
            script = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../analysis/scenarios/sweeps", name + ".sbatch"))
            with open(script) as file:
                ((batch, kind),) = re.findall(r"^#SBATCH --signal=(B:)?(\w+)@60$", file.read(), re.M)
            p = subprocess.Popen([script, "s.yaml", name], cwd=self.folder, env=env, text=True, stderr=subprocess.PIPE)
            self.addCleanup(p.kill)
            number = signal.Signals["SIG" + kind]
            while number not in self.signals(p, "SigCgt") and p.poll() is None:
                time.sleep(0.001)
            os.kill(p.pid if batch else int(self.read("step")), number)
            err = p.communicate()[1]
            self.assertEqual(p.returncode, 130, err)
            if not batch:
                os.remove(self.path("step"))

    def status_of(self, name):
        with h5py.File(self.path(name)) as file:
            return file["status"][()]

    def test_interrupt(self):
        self.write("rod.yaml", SHORT.replace("end: 1", "end: 30"))
        self.sweep(out="whole")
        for by, wait in (signal.SIGINT, 0), (signal.SIGTERM, 0.1), (signal.SIGHUP, 0.2), (signal.SIGUSR1, 0.1), (signal.SIGUSR2, 0.1):
            p = subprocess.Popen([BINARY, "sweep", "s.yaml", "-o", "o"], cwd=self.folder, text=True, stderr=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
            while not (heeded := by in self.signals(p, "SigCgt")) and p.poll() is None:
                time.sleep(0.001)
            self.assertTrue(heeded)
            time.sleep(wait)
            p.send_signal(by)
            out, err = p.communicate()
            self.assertIn(p.returncode, (0, 130), err)
            if p.returncode:
                self.assertRegex(err, "the same command continues|interrupted before any member ran")
        self.sweep(out="o")
        self.assertEqual(arrays(self.path("o.h5")), arrays(self.path("whole.h5")))

    def test_dry_run(self):
        done = json.loads(self.sweep("--dry-run", "--json").stdout)
        self.assertEqual(done["members"], 24)
        self.assertGreater(done["seconds"], 0)
        self.assertEqual(done["failed"], 0)
        self.assertFalse(os.path.exists(self.path("o")))
        self.assertIn("24 members; ", self.sweep("--dry-run").stdout)

    def test_damage(self):
        self.sweep(out="whole")
        whole = self.read("whole.h5")
        self.sweep("--shard", "1/2")
        segment, = glob.glob(self.path("o.h5.parts/*.h5"))
        with h5py.File(segment) as f:
            at = f["mean"].id.get_chunk_info(0).byte_offset
        with open(segment, "r+b") as file:  # the checksum shows the damage
            file.seek(at + 8 * 5)
            file.write(b"\1\2\3\4\5\6\7\0")
        self.write("o.h5.parts/000007.h5", b"no HDF5 file")
        done = self.sweep("--json")
        self.assertEqual(json.loads(done.stdout)["here"], 24)
        self.assertEqual(done.stderr.count("this segment is damaged: its members are computed again"), 2, done.stderr)
        self.assertEqual(self.read("o.h5"), whole)
        self.sweep("--shard", "1/2", out="p")
        os.truncate(self.path("p.h5"), 3000)  # the segments contain all of its results
        done = self.sweep("--shard", "1/2", "--json", out="p")
        self.assertEqual(json.loads(done.stdout)["here"], 0)
        self.assertIn("its segments are read", done.stderr)
        self.write("p.h5.parts/checked", b"rows 0\n")
        self.assertIn("the list of checked files is damaged", self.sweep(out="p", code=2).stderr)

    def test_a_complete_result_goes_on(self):
        """Failed members run again; the others are taken from the result, which stays complete until it is replaced."""
        self.write("f.yaml", SHORT.replace("name: lobatto,", "name: lobatto, solver: fixed-point, retries: 0, iterations: 30,"))
        self.write("s.yaml", self.FAILS.replace("rows", "last").replace("values: [1, 2, 30]", "values: [1, 30, 2, 31]").replace(
            "  keep", "    - {key: bodies.0.motion.speed, values: [0.5, 1, 2], name: speed}\n  keep"))
        self.sweep(code=1)
        first = self.read("o.h5")
        done = json.loads(self.sweep("--retry-failed", "--json", code=1).stdout)
        self.assertEqual((done["here"], done["done"], done["failed"]), (6, 6, 6))
        self.assertEqual(self.read("o.h5"), first)
        self.assertFalse(os.path.exists(self.path("o.h5.parts")))


if __name__ == "__main__":
    main()
