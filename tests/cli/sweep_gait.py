#!/usr/bin/python3
"""`curvebody sweep` with tasks for gaits: each row is equal to the output of `curvebody gait ... --json` for the same values,
bit for bit. Failures are reported. The number of threads has no influence.
"""
import itertools
import json
import subprocess

from command import BINARY, PATIENCE, Case, main

import h5py
import numpy as np

GAIT = """\
curvebody: 1
bundle: {name: purcell, links: 3, ratio: 2}
gait: {fourier: {mean: [0, 0], cosine: [[0.7, 0]], sine: [[0, 0.7]]}, repeat: 3, period: 2}
optimum: {target: {move: 0.02}, starts: 2, seed: 4}
"""
ELASTIC = """\
curvebody: 1
bundle: purcell
shape: {parameters: {w: 1}, period: 2*pi/w, alpha1: {drive: "0.5*sin(w*t)"}, alpha2: {spring: {stiffness: 0.01}}}
"""
SWEEP = """\
curvebody: 1
sweep:
  scenario: g.yaml
  task: TASK
  over:
    - {key: bundle.ratio, values: [1.5, 2], name: ratio}
    - {key: KEY, values: VALUES, name: second}
  keep: last
  collect: {cost2: 2*last(cost), across: "g[y]", most: "max(g[0]) - first(g[x])"}
"""
SIDES = {"both": ("gait.fourier.cosine.0.0", [0.5, 0.9]), "target": ("optimum.target.move", [0.01, 0.02])}
TASKS = {  # the varied key, the command, and fields that the command does not print as numbers
    "holonomy": ("both", "holonomy", {}),
    "integral": ("both", "holonomy", {}),
    "optimize": ("target", "optimize", {"optima": lambda one: 1 + len(one["others"])}),
    "optimality": ("both", "optimality", {"active_constraints": lambda one: len(one["active_constraints"])}),
}


class SweepGait(Case):
    def setUp(self):
        super().setUp()
        self.write("g.yaml", GAIT)

    def sweep(self, text, out, code=0, words=()):
        self.write("s.yaml", text)
        done = subprocess.run([BINARY, *words, "sweep", "s.yaml", "-o", out], cwd=self.folder, text=True,
                              capture_output=True, timeout=200 * PATIENCE)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def one(self, command, sets):
        words = [w for s in sets for w in ("--set", s)]
        done = subprocess.run([BINARY, "gait", "g.yaml", command, "--json", *words], cwd=self.folder, text=True,
                              capture_output=True, check=True)
        return json.loads(done.stdout)

    def test_members_are_warned_of(self):
        self.write("g.yaml", "curvebody: 1\nbundle:\n  name: immersed\n  density: 900\n  variables: [a, b]\n  shape: "
                   "[{name: u, shape: {name: ball, resolution: 8}}, {name: v, shape: {name: ball, resolution: 8}, position: [2.5, 0, 0]}]\n"
                   '  motion: {x: "X + a*Y", y: "Y + b*Z^2"}\n'
                   "gait: {fourier: {mean: [0, 0], cosine: [[0.1, 0]], sine: [[0, 0.1]]}}\n")
        done = self.sweep("curvebody: 1\nsweep:\n  scenario: g.yaml\n  task: holonomy\n  over:\n"
                          "    - {key: bundle.shape.1.position.0, values: [2.5, 0.5]}\n  keep: last\n", "w")
        self.assertIn("1 members have warnings, for example member 1: bundle immersed: parts 'u' and 'v' cut", done.stderr)
        with h5py.File(self.path("w.h5")) as f:
            self.assertEqual(f["warned"][:].tolist(), [0, 1])

    def test_rows_are_what_the_command_tells(self):
        for task, (side, command, others) in TASKS.items():
            key, values = SIDES[side]
            self.sweep(SWEEP.replace("TASK", task).replace("KEY", key).replace("VALUES", str(values)), task)
            with h5py.File(self.path(task + ".h5")) as f:
                self.assertTrue((f["status"][:] == 1).all())
                fields = [n for n, d in f.items() if isinstance(d, h5py.Dataset) and d.ndim >= 2 and d.shape[:2] == (2, 2) and
                          n not in ("status", "failure", "cost2", "across", "most", "member", "seconds", "warned", "warning")]
                self.assertTrue({"cost", "length", "efficiency", "g"} <= set(fields), fields)
                self.assertEqual("cbvi" in fields, task == "integral")
                told = set()
                for i, j in itertools.product(range(2), range(2)):
                    one = self.one(command, [f"bundle.ratio={[1.5, 2][i]}", f"{key}={values[j]}"])
                    for name in fields:
                        expected = others[name](one) if name in others else one[name]
                        expected = np.array(expected, dtype=float)
                        found = f[name][i, j]
                        found = np.where(np.isfinite(found), found, np.nan)  # JSON has null for numbers that are not finite
                        np.testing.assert_array_equal(found, expected, err_msg=f"{task} {name}")
                    told = {k for k, v in one.items() if isinstance(v, (int, float, list)) and k not in fields}
                    self.assertEqual((f["cost2"][i, j], f["across"][i, j], f["most"][i, j]), (2 * one["cost"], one["g"][1], 0))
                # the other output of the command: names, keys of the scenario, and the other gaits
                self.assertEqual(told - {"shape", "numbers", "axes", "period", "repeat", "others", "cbvi"}, set(), task)

    def test_periodic_motions(self):
        """The rows of the task `cycle` are the output of `gait cycle`, over a stiffness and a parameter of the drive."""
        self.write("g.yaml", ELASTIC)
        self.sweep("curvebody: 1\nsweep:\n  scenario: g.yaml\n  task: cycle\n  keep: last\n  over:\n"
                   "    - {key: shape.alpha2.spring.stiffness, values: [0.004, 0.02], name: k}\n"
                   "    - {key: shape.parameters.w, values: [1, 3], name: w}\n"
                   "  collect: {longest: last(distance)}\n", "c")
        with h5py.File(self.path("c.h5")) as f:
            self.assertTrue((f["status"][:] == 1).all())
            for i, j in itertools.product(range(2), range(2)):
                one = self.one("cycle", [f"shape.alpha2.spring.stiffness={[0.004, 0.02][i]}", f"shape.parameters.w={[1, 3][j]}"])
                for name in ("period", "start", "rate", "g", "log", "distance", "work", "dissipated", "per_work", "efficiency",
                             "effort", "residual", "error", "stable"):
                    np.testing.assert_array_equal(f[name][i, j], one[name], err_msg=name)
                self.assertEqual([f["multiplier_real"][i, j, 0], f["multiplier_imaginary"][i, j, 0]], one["multipliers"][0])
                self.assertTrue(np.isnan(f["multiplier_real"][i, j, 1:]).all())
                self.assertEqual(f["longest"][i, j], one["distance"])
        missing = "".join(line for line in ELASTIC.splitlines(True) if not line.startswith("shape"))
        self.write("g.yaml", missing)
        text = "curvebody: 1\nsweep:\n  scenario: g.yaml\n  task: cycle\n  keep: last\n  over:\n    - {key: title, values: [a, b]}\n"
        self.assertIn("the key `shape` is missing: the task `cycle` needs", self.sweep(text, "b", code=2).stderr)

    def test_threads_do_not_matter(self):
        text = SWEEP.replace("TASK", "optimize").replace("KEY", "optimum.target.move").replace("VALUES", "[0.01, 0.015, 0.02]")
        arrays = []
        for threads in "1", "2":
            self.sweep(text, "t" + threads, words=("--threads", threads))
            with h5py.File(self.path(f"t{threads}.h5")) as f:
                arrays.append({n: f[n][()].tobytes() for n in ("cost", "lambda", "g", "at", "drift", "cost2", "found")})
        self.assertEqual(*arrays)

    def test_what_fails_is_told(self):
        text = SWEEP.replace("TASK", "optimize").replace("KEY", "optimum.target.move").replace("VALUES", "[0.02, 1000]")
        done = self.sweep(text, "f", code=1)
        alone = subprocess.run([BINARY, "gait", "g.yaml", "optimize", "--set", "optimum.target.move=1000"], cwd=self.folder,
                               text=True, capture_output=True)
        with h5py.File(self.path("f.h5")) as f:
            np.testing.assert_array_equal(f["status"][:], [[1, 2], [1, 2]])
            self.assertTrue(np.isnan(f["cost"][:, 1]).all() and np.isnan(f["cost2"][:, 1]).all())
            self.assertTrue(np.isfinite(f["cost"][:, 0]).all())
        self.assertNotEqual(alone.returncode, 0)
        self.assertIn("2 failed", done.stdout + done.stderr)

    def test_bad_input(self):
        for task, key in ("holonomy", "gait"), ("integral", "gait"), ("optimality", "gait"), ("optimize", "optimum"):
            self.write("g.yaml", "".join(line for line in GAIT.splitlines(True) if not line.startswith((key, "optimum"))))
            text = SWEEP.replace("TASK", task).replace("KEY", "title").replace("VALUES", "[a, b]")
            self.assertIn(f"the key `{key}` is missing: the task `{task}` needs", self.sweep(text, "b", code=2).stderr)
        self.write("g.yaml", GAIT)
        for said, column, meant in (("g[w]", 24, "label"), ("efficency", 22, "did you mean 'efficiency'"),
                                    ("connection", 22, "unknown field")):
            text = SWEEP.replace("TASK", "holonomy").replace("KEY", "title").replace("VALUES", "[a, b]")
            text = text[:text.index("  collect")] + f"  collect: {{across: \"{said}\"}}\n"
            error = self.sweep(text, "b", code=2).stderr
            self.assertIn(f"s.yaml:9:{column}: error: ", error)
            self.assertIn(meant, error)


if __name__ == "__main__":
    main()
