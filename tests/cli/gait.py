#!/usr/bin/python3
"""Gaits in a bundle from the command line: output and files of `gait`, runs and their records, and resumed runs with
identical records.

    gait.py BINARY [seed]
"""
import json
import os
import random
import sys
import time
import xml.etree.ElementTree

from command import Case, datasets, differing, main

import h5py
import numpy as np
import xarray

SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else time.time_ns() % 10**9

PURCELL = """\
curvebody: 1
title: a stroke
bundle: {name: purcell, links: 3, ratio: 2}
gait: {fourier: {mean: [0, 0], cosine: [[1, 0]], sine: [[0, 1]]}}
integrator: {name: magnus, order: 6, step: 0.01}
"""
LINKS = """\
curvebody: 1
bundle:
  name: links
  shape: [a, b]
  links: [{length: 1}, {length: 1, parent: 0, at: 1, angle: a}, {length: 1, parent: 1, at: 1, angle: b}]
gait: {polygon: {corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]}, repeat: 2, period: 3}
start: {group: [0.5, -1, pi/6]}
integrator: {name: magnus, step: 0.05}
record: {observables: [connection, momentum, power]}
"""
ELASTIC = """\
curvebody: 1
bundle: purcell
shape: {parameters: {a: 0.5}, period: 2*pi, alpha1: {drive: a*sin(t)}, alpha2: {spring: {stiffness: 16/2187}}}
"""
# results of an independent program: circle of radius 1 from (1, 0), square with corners +-1 from (1, 1)
CIRCLE, CIRCLE_LENGTH = [-0.04949902143485, 0.01340036636874, 0], 0.512235406963
SQUARE, SQUARE_LENGTH = [-0.06018752110694, 0, 0], 0.7066804999
CORNERS = "polygon: {corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]}"


def se2(a, b):
    """The product of two elements of SE(2)."""
    x, y, t = a
    return np.array([x + np.cos(t) * b[0] - np.sin(t) * b[1], y + np.sin(t) * b[0] + np.cos(t) * b[1], t + b[2]])


class Gait(Case):
    def json(self, *words):
        return json.loads(self.good("gait", *words, "--json").stdout)

    def test_holonomy(self):
        self.write("p.yaml", PURCELL)
        found = self.json("p.yaml", "holonomy")
        self.assertEqual(set(found), {"bundle", "group", "shape", "numbers", "axes", "g", "log", "length", "cost",
                                      "efficiency", "cbvi", "period", "repeat", "g_repeated"})
        self.assertEqual((found["bundle"], found["group"], found["repeat"]), ("purcell", "se2", 1))
        self.assertEqual((found["numbers"], found["shape"]), (["x", "y", "theta"], ["alpha1", "alpha2"]))
        np.testing.assert_allclose(found["g"], CIRCLE, rtol=0, atol=1e-11)
        np.testing.assert_allclose(found["length"], CIRCLE_LENGTH, rtol=0, atol=1e-11)
        np.testing.assert_allclose(np.abs(found["cbvi"][0]), 0.0519181, rtol=0, atol=5e-8)
        np.testing.assert_allclose(found["efficiency"], np.dot(found["g"], found["g"]) / found["length"]**2, rtol=1e-9)
        square = ["--set", "gait={" + CORNERS + ", repeat: 3, period: 4}"]
        found = self.json("p.yaml", "holonomy", *square)
        np.testing.assert_allclose(found["g"], SQUARE, rtol=0, atol=1e-11)
        np.testing.assert_allclose(found["length"], SQUARE_LENGTH, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found["g_repeated"], 3 * np.array(SQUARE), rtol=0, atol=1e-11)
        # at a quarter of the speed the cost is a quarter
        quick = self.json("p.yaml", "holonomy", "--set", "gait={" + CORNERS + "}")
        np.testing.assert_allclose(found["cost"], quick["cost"] / 4, rtol=1e-12)
        text = self.good("gait", "p.yaml", "holonomy", *square).stdout
        for word in "purcell: 2 shape variables, fibre se2", "3 cycles", "efficiency", "x = -0.06018752110":
            self.assertIn(word, text)

    def test_gaits_that_are_the_same(self):
        self.write("p.yaml", PURCELL)
        circle = self.json("p.yaml", "holonomy")["g"]
        for gait, expected in (
                ("{expressions: {alpha1: cos(2*pi*t), alpha2: sin(2*pi*t)}}", circle),
                ("{expressions: {alpha1: cos(2*pi*t), alpha2: sin(2*pi*t)}, breaks: [0.3], pace: t^2*(3 - 2*t)/2 + t/2}",
                 circle),
                ("{fourier: {cosine: [[0.5, 0]], sine: [[0, 0.25]]}, scale: [2, 4]}", circle),
                ("{fourier: {mean: [1, 1], cosine: [[2, 0]], sine: [[0, 2]]}, scale: 0.5, offset: [-0.5, -0.5]}", circle),
                ("{arcs: {ends: [0, 0.2, 0.5, 0.9, 1], points: [[[1, 1], [0, 1], [-1, 1]], [[-1, 1], [-1, 0.5], [-1, -1]], "
                 "[[-1, -1], [-0.3, -1], [1, -1]], [[1, -1], [1, 0], [1, 1]]]}}", SQUARE),
                ("{sequence: [{fourier: {cosine: [[1, 0]], sine: [[0, 1]]}}, {fourier: {cosine: [[1, 0]], sine: [[0, 1]]}}]}",
                 se2(circle, circle)),
                ("{sequence: [{fourier: {cosine: [[1, 0]], sine: [[0, 1]]}}, "
                 "{fourier: {cosine: [[1, 0]], sine: [[0, 1]]}, reversed: true}]}", [0, 0, 0])):
            with self.subTest(gait):
                found = self.json("p.yaml", "holonomy", "--set", "gait=" + gait)
                np.testing.assert_allclose(found["g"], expected, rtol=0, atol=1e-11)

    def test_phase_once_round_has_a_holonomy_but_no_integral(self):
        self.write("s.yaml", "curvebody: 1\nbundle: {name: surface_drag, shape: {name: ellipsoid, resolution: 12}, "
                             "poses: {y: Y + 0.1*sin(2*pi*(X - t))}}\ngait: {loop: phase, at: [0.2]}\n")
        found = self.json("s.yaml", "holonomy")
        self.assertEqual((found["shape"], found["group"], found["cbvi"]), (["phase"], "se3", [None] * 6))
        self.assertGreater(found["length"], 0)
        # the reversed gait moves the swimmer back
        back = self.json("s.yaml", "holonomy", "--set", "gait.reversed=true")
        np.testing.assert_allclose(back["log"], -np.array(found["log"]), rtol=0, atol=1e-12)
        self.assertGreater(max(abs(x) for x in found["log"]), 1e-6)

    def test_connection(self):
        self.write("p.yaml", PURCELL)
        found = self.json("p.yaml", "connection", "--at", "0,0")
        np.testing.assert_allclose(found["A"], [[0, 0], [1 / 18, 1 / 18], [-7 / 27, 7 / 27]], rtol=0, atol=1e-14)
        np.testing.assert_allclose(found["B"], [[5 / 243, 0, 0]], rtol=0, atol=1e-14)
        np.testing.assert_allclose(found["M"], np.array([[16, 11], [11, 16]]) / 2187, rtol=0, atol=1e-15)
        self.assertEqual(found["pairs"], [["alpha1", "alpha2"]])
        self.assertEqual(self.json("p.yaml", "connection")["at"], [1, 0])  # the shape at which the gait begins
        self.write("l.yaml", LINKS)
        found = self.json("l.yaml", "connection", "--at", "1, 2*pi/7")
        P = np.array(found["P"])
        np.testing.assert_allclose(P, P.T, rtol=0, atol=1e-14)
        self.assertGreater(np.linalg.eigvalsh(P).min(), 0)
        self.write("long.yaml", "curvebody: 1\nbundle: {name: purcell, links: 8}\n")
        long = self.json("long.yaml", "connection", "--at", "0,0,0.1,0.2,0,0,-0.1")
        self.assertEqual((np.shape(long["A"]), np.shape(long["B"])), ((3, 7), (21, 3)))
        text = self.good("gait", "l.yaml", "connection", "--at", "0,0").stdout
        for word in "links: fibre se2", "connection A", "curvature", "cost metric M", "locked form P":
            self.assertIn(word, text)

    def test_curvature_over_a_window(self):
        self.write("p.yaml", PURCELL)
        self.good("gait", "p.yaml", "curvature", "--grid", "5x9", "--window=-pi/2:pi/2,-1:3", "-o", "c.h5")
        with xarray.open_dataset(self.path("c.h5")) as data:
            self.assertEqual(data.connection.dims, ("alpha1", "alpha2", "algebra", "variable"))
            self.assertEqual(data.curvature.dims, ("alpha1", "alpha2", "algebra"))
            self.assertEqual(data.metric.shape, (5, 9, 2, 2))
            self.assertEqual(data.gait.shape, (512, 2))
            self.assertEqual(list(data.algebra.values), ["v_x", "v_y", "omega"])
            np.testing.assert_allclose(data.alpha1, np.linspace(-np.pi / 2, np.pi / 2, 5), rtol=0, atol=1e-15)
            for i, j in (0, 0), (2, 2), (4, 8):
                at = ",".join(repr(float(x)) for x in (data.alpha1[i], data.alpha2[j]))
                here = self.json("p.yaml", "connection", f"--at={at}")
                np.testing.assert_array_equal(data.connection[i, j], here["A"])
                np.testing.assert_array_equal(data.curvature[i, j], here["B"][0])
                np.testing.assert_array_equal(data.metric[i, j], here["M"])
        # the written file is a table for the bundle `samples`
        self.good("gait", "p.yaml", "curvature", "--grid", "81x81", "--window=-1.5:1.5,-1.5:1.5", "-o", "table.h5")
        found = self.json("p.yaml", "holonomy", "--set", "bundle={name: samples, file: table.h5}")
        np.testing.assert_allclose(found["g"], CIRCLE, rtol=0, atol=1e-9)
        # the same plane with the variables in the other order
        self.good("gait", "p.yaml", "curvature", "--grid", "9x5", "--window=-1:3,-pi/2:pi/2", "--plane", "alpha2,alpha1",
                  "-o", "turned.h5")
        with h5py.File(self.path("c.h5")) as one, h5py.File(self.path("turned.h5")) as two:
            np.testing.assert_allclose(two["curvature"][()], -one["curvature"][()].swapaxes(0, 1), rtol=0, atol=1e-15)

    def test_curvature_in_minimum_perturbation_coordinates(self):
        self.write("p.yaml", PURCELL)
        self.good("gait", "p.yaml", "curvature", "-o", "own.h5")
        self.good("gait", "p.yaml", "curvature", "--coordinates", "minimum_perturbation", "-o", "best.h5")
        with h5py.File(self.path("own.h5")) as own, h5py.File(self.path("best.h5")) as best:
            self.assertEqual(best.attrs["coordinates"], "minimum_perturbation")
            self.assertEqual(best.attrs["bundle"], "purcell")
            self.assertLess(np.sum(best["connection"][()]**2), np.sum(own["connection"][()]**2))

    def test_singular_shapes_are_nans_with_a_warning(self):
        self.write("s.yaml", "curvebody: 1\nbundle: pmpy\n")
        done = self.good("gait", "s.yaml", "curvature", "--grid", "5x3", "--window=-1:3,1:2", "-o", "s.h5")
        self.assertIn("warning: 6 of 15 nodes are nan, for example", done.stderr)
        self.assertEqual(self.json("s.yaml", "curvature", "--grid", "5x3", "--window=-1:3,1:2", "-o", "s.h5"),
                         {"output": "s.h5", "grid": [5, 3], "singular": 6})
        with h5py.File(self.path("s.h5")) as file:
            self.assertEqual(np.isnan(file["curvature"][:, 0, 0]).tolist(), [True, True, False, False, False])
            self.assertIn("6 of 15 nodes are nan, for example", file.attrs["warnings"])
            self.assertNotIn("gait", file)

    def test_surfaces_of_bundles_are_warned_of(self):
        corner = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
        face = [(1, 3, 2), (2, 3, 4), (5, 6, 7), (6, 8, 7), (1, 2, 6), (1, 6, 5), (3, 7, 8), (3, 8, 4), (1, 5, 7), (1, 7, 3)]
        side = [(2, 4, 8), (2, 8, 6)]
        lines = ["o box"] + ["v %g %g %g" % c for c in corner]

        def mesh(faces, more=()):
            return "\n".join(lines + list(more) + ["f %d %d %d" % f for f in faces]) + "\n"

        self.write("open.obj", mesh(face))
        self.write("closed.obj", mesh(face + side))
        apart = ["v %g %g %g" % c for c in corner if c[0] == 1]
        self.write("seam.obj", mesh(face + [(9, 10, 12), (9, 12, 11)], apart))
        body = ("curvebody: 1\nbundle:\n  name: immersed\n  mesh: closed.obj\n  density: 900\n  variables: [a, b]\n"
                '  motion: {x: "X + a*Y", y: "Y + b*Z^2"}\n  fluid: {density: 1000}\n'
                "gait: {fourier: {mean: [0, 0], cosine: [[0.1, 0]], sine: [[0, 0.1]]}}\n"
                "integrator: {name: magnus, step: 0.1}\n")
        sheet = body.replace("density: 900", "density: 0\n  points: [{mass: 2, at: [0.5, 0.5, 0.5]}]")
        ball = "shape: {name: ball, resolution: 8}"
        two = body.replace("mesh: closed.obj", f"shape: [{{name: u, {ball}}}, {{name: v, {ball}, position: [1, 0, 0]}}]")
        cases = {"closed": (body, None), "bent": (body.replace("900", "900\n  added_mass: local"), None),
                 "open": (sheet.replace("closed", "open"),
                          "bundle immersed: part `box` is open, so it has the added mass of a sheet"),
                 "seam": (sheet.replace("closed", "seam"), "4 border vertices are at the same place as another vertex: `weld: true` joins them"),
                 "cut": (two, "bundle immersed: parts 'u' and 'v' cut each other in ")}
        for name, (text, words) in cases.items():
            self.write(name + ".yaml", text)
            for what in (["holonomy"], ["connection"], ["curvature", "--grid", "2x2", "-o", "w.h5"],
                         ["path", "--times", "2", "-o", "w.h5"]):
                with self.subTest(name, what=what[0]):
                    told = self.good("gait", name + ".yaml", *what).stderr
                    self.assertEqual("warning: " in told, words is not None, told)
                    self.assertIn(words or "", told)
                    if "-o" in what:
                        with h5py.File(self.path("w.h5")) as file:
                            kept = file.attrs["warnings"].splitlines()
                        self.assertEqual(kept, [line.split("warning: ")[1] for line in told.splitlines()])
            told = self.good("check", name + ".yaml").stderr
            self.assertEqual(words is not None and words in told, words is not None, told)
        # parts that intersect from some value on: one warning, with the number of the member
        self.write("over.yaml", two.split("integrator")[0].replace("[1, 0, 0]", "[3, 0, 0]") +
                   "optimum: {starts: 0, target: {move: 1e-4}}\n")
        told = self.good("gait", "over.yaml", "family", "--vary", "bundle.shape.1.position.0=3:1.8", "--members", "2", "-o",
                         "over.h5").stderr
        self.assertRegex(told, "^curvebody: warning: 1 members have warnings, for example number 1: bundle immersed: parts "
                         "'u' and 'v' cut each other[^\n]*\n$")
        with h5py.File(self.path("over.h5")) as file:
            self.assertEqual(file["warned"][()].tolist(), [0, 1])
            self.assertIn(b"".join(file["warning"][1]).decode(), told)

    def test_path(self):
        self.write("l.yaml", LINKS)
        self.good("gait", "l.yaml", "path", "--times", "13", "-o", "path.h5")
        cycle = self.json("l.yaml", "holonomy")
        with h5py.File(self.path("path.h5")) as file:
            self.assertEqual(file.attrs["group"], "se2")
            self.assertEqual((file.attrs["repeat"], file.attrs["period"]), (2, 3))
            np.testing.assert_allclose(file["time"], np.linspace(0, 6, 13), rtol=0, atol=1e-15)
            g = file["group"][()]
            np.testing.assert_allclose(g[0], [0.5, -1, np.pi / 6], rtol=0, atol=1e-15)
            for k in 1, 2:
                np.testing.assert_allclose(g[6 * k], se2(g[6 * k - 6], cycle["g"]), rtol=0, atol=1e-11)
                np.testing.assert_allclose(file["length"][6 * k], k * cycle["length"], rtol=1e-11)
                np.testing.assert_allclose(file["cost"][6 * k], k * cycle["cost"], rtol=1e-11)
            self.assertEqual(file["plot_position"].shape[0], 13)
            lines = file["plot_position"].attrs["lines"]
            np.testing.assert_array_equal(lines, file["lines"])
            lengths = np.linalg.norm(file["plot_position"][:, lines[:, 0]] - file["plot_position"][:, lines[:, 1]], axis=-1)
            np.testing.assert_allclose(lengths, 1, rtol=0, atol=1e-14)  # links keep their length

    def test_periodic_motion_and_its_start(self):
        self.write("e.yaml", ELASTIC)
        found = self.json("e.yaml", "cycle", "-o", "o.yaml")
        self.assertEqual(set(found), {"bundle", "group", "shape", "numbers", "axes", "period", "steps", "start", "rate", "g", "log",
                                      "distance", "work", "dissipated", "per_work", "efficiency", "effort", "multipliers",
                                      "stable", "output", "residual", "error"})
        np.testing.assert_allclose(found["g"], [-5.27450392e-3, 2.40684830e-4, 0], rtol=1e-8, atol=1e-15)
        text = self.good("gait", "e.yaml", "cycle").stdout
        self.assertEqual([line[:12].strip() for line in text.splitlines()[1:]],
                         ["period", "start", "its rates", "moves by", "its log", "distance", "work", "dissipated", "per work",
                          "efficiency", "effort", "multipliers", "residual"])
        # the written scenario starts there: its run of one period returns, and `cycle` finds nothing to change
        self.good("run", "o.yaml", "-o", "o.h5")
        with h5py.File(self.path("o.h5")) as f:
            np.testing.assert_allclose(f["shape"][-1], f["shape"][0], rtol=0, atol=1e-11)
            np.testing.assert_allclose(f["group"][-1], found["g"], rtol=0, atol=1e-11)
        self.assertEqual(self.good("gait", "e.yaml", "cycle", "-o", "-").stdout, self.read("o.yaml").decode())
        again = self.json("o.yaml", "cycle", "--set", "integrator.step=pi/200")
        np.testing.assert_allclose(again["start"], found["start"], rtol=0, atol=1e-12)

    def test_best_values_of_keys(self):
        self.write("e.yaml", ELASTIC)
        words = ["--vary", "shape.alpha2.spring.stiffness=0.002:0.004", "--starts", "1", "--objective", "v_x"]
        found = self.json("e.yaml", "cycle", *words, "-o", "b.yaml")
        self.assertEqual(found["varied"], ["shape.alpha2.spring.stiffness"])
        self.assertEqual((found["best"], found["at_bound"], found["converged"]), ([0.004], [1], True))
        self.assertAlmostEqual(found["objective"], abs(self.json("b.yaml", "cycle")["log"][0]), delta=1e-12)
        self.assertIn("stiffness = 0.004, its upper bound\n", self.good("gait", "e.yaml", "cycle", *words).stdout)

    def test_motion_of_least_torque_replaces_the_integrator_of_gaits(self):
        self.write("cat.yaml", "curvebody: 1\nbundle: falling_cat\nintegrator: {name: magnus, step: 0.1}\noptimum: {objective: torque, "
                   "duration: 2, start_shape: [0], end_shape: [0.5], starts: 0}\n")
        self.good("gait", "cat.yaml", "optimize", "-o", "motion.yaml")
        self.good("run", "motion.yaml", "--quiet")
        with h5py.File(self.path("motion.h5")) as file:
            np.testing.assert_allclose(file["shape"][-1], 0.5, rtol=0, atol=1e-12)

    def test_wrong_options_of_cycle(self):
        self.write("e.yaml", ELASTIC)
        for words, text in ((["--vary", "shape.period"], "--vary: error: expected KEY=LO:HI, such as shape.alpha2.spring"),
                            (["--vary", "shape.period=2:1"], "--vary: error: expected LO:HI with LO below HI, found 2:1"),
                            (["--vary", "shape.perod=1:2"], "--vary: error: unknown key 'perod', did you mean 'period'?"),
                            (["--objective", "efficiency"], "expected --vary KEY=LO:HI next to them"),
                            (["--objective", "x", "--vary", "shape.period=1:2"],
                             "--objective: error: expected one of displacement, efficiency, v_x, v_y, omega, found 'x'"),
                            (["--vary", "shape.period=1:2", "--vary", "shape.period=1:3"],
                             "--vary: error: expected each key once, found shape.period twice"),
                            (["-o", "o.h5"], "--output: error: expected a file name that ends with .yaml, found 'o.h5'"),
                            (["--error", "-1"], "--error: error: expected a number >= 0"),
                            (["--starts", "0", "--vary", "shape.period=1:2"], "--starts: error: expected a whole number from 1")):
            with self.subTest(words):
                done = self.call("gait", "e.yaml", "cycle", *words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(text, done.stderr)
        done = self.call("gait", "e.yaml", "cycle", "--error", "1e-30") # it ends at round-off
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the tolerance 1e-30 was not reached, because of round-off", done.stderr)
        done = self.call("gait", "e.yaml", "family", "--vary", "a=1:2", "--vary", "b=1:2", "-o", "f.h5")
        self.assertIn("varies one key: expected --vary once", done.stderr)

    def test_run_ends_where_the_path_does(self):
        self.write("l.yaml", LINKS)
        self.good("gait", "l.yaml", "path", "-o", "path.h5")
        self.good("run", "l.yaml", "--quiet")
        with h5py.File(self.path("path.h5")) as path, h5py.File(self.path("l.h5")) as file:
            self.assertEqual(file["time"].shape, (121,))
            for name in "group", "length", "cost", "plot_position", "shape":
                np.testing.assert_allclose(file[name][-1], path[name][-1], rtol=1e-10, atol=1e-10, err_msg=name)
            self.assertEqual(file.attrs["bundle"], "links")
            self.assertLess(np.abs(file["momentum"][()]).max(), 1e-13)
            self.assertEqual([name.decode() for name in file["dof"]], ["a", "b"])
            self.assertEqual([name.decode() for name in file["number"]], ["x", "y", "theta"])
            np.testing.assert_array_equal(file["connectivity/bonds"], path["lines"])

    def test_export(self):
        self.write("l.yaml", LINKS)
        self.good("run", "l.yaml", "--quiet")
        self.good("export", "l.h5", "--xdmf")
        self.good("export", "l.h5", "--csv")
        grids = xml.etree.ElementTree.parse(self.path("l.xdmf")).findall(".//Grid[@GridType='Uniform']")
        self.assertEqual(len(grids), 121)
        self.assertEqual(grids[0].find("Topology").get("TopologyType"), "Polyline")
        self.assertIn("group[", self.read("l.csv").decode().splitlines()[0])

    def test_check_prints_what_reads_back_the_same(self):
        self.write("eel.obj", "v 1 0 0\nv -1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nv 0 0 -1\nf 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\n"
                              "f 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n")
        drag = ("curvebody: 1\nbundle: {name: surface_drag, mesh: eel.obj, parameters: {k: 0.2}, "
                "poses: {y: Y + k*sin(2*pi*(X - t))}}\ngait: {loop: phase}\nintegrator: {name: magnus, step: 0.1}\n")
        for k in range(6):
            y, z = 0.2 * np.cos(k * np.pi / 3), 0.3 * np.sin(k * np.pi / 3)
            moved = f"v 1 {y:.17g} {z:.17g}".encode()
            self.write(f"pose-{k:02d}.obj", self.read("eel.obj").replace(b"v 1 0 0", moved))
        poses = drag.replace("mesh: eel.obj, parameters: {k: 0.2}, ", "")
        poses = poses.replace("{y: Y + k*sin(2*pi*(X - t))}", '{files: "pose-##.obj", step: 0.5}')
        for text in PURCELL, LINKS, drag, poses, drag.replace("surface_drag", "immersed"), PURCELL.replace(
                "ratio: 2", "coordinates: {minimum_perturbation: {low: [-2, -2], high: [2, 2], points: [9, 9]}}"):
            self.write("one.yaml", text)
            first = self.good("check", "one.yaml").stdout
            self.write("two.yaml", first)
            self.assertEqual(self.good("check", "two.yaml").stdout, first)
            self.good("run", "one.yaml", "--quiet")
            self.good("run", "two.yaml", "--quiet")
            self.assertEqual(differing(datasets(self.path("one.h5")), datasets(self.path("two.h5"))), [])
        # a changed mesh is noticed
        self.write("one.yaml", drag)
        self.good("run", "one.yaml", "--quiet", "--set", "time.end=0.5")
        self.write("eel.obj", self.read("eel.obj").replace(b"v 1 0 0", b"v 1.1 0 0"))
        done = self.call("resume", "one.h5", "--until", "1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("has changed since", done.stderr)

    def test_killed_and_resumed_goes_on_to_the_same_bytes(self):
        rng = random.Random(SEED)
        for method in "step: 0.0003", "order: 4, step: 0.0003", "error: 1e-10, step: 0.001":
            with self.subTest(method, seed=SEED):
                text = LINKS.replace("step: 0.05", method).replace("repeat: 2", "repeat: 100")
                self.write("l.yaml", text.replace("record: {", "record: {every: 2, checkpoint: 50, "))
                if os.path.exists(self.path("part.h5")):
                    os.remove(self.path("part.h5"))

                def repaired_and_some_steps_more():
                    self.good("repair", "part.h5")
                    with h5py.File(self.path("part.h5")) as file:
                        return repr(float(max(file["time"][()], default=0)) + 0.05)

                until = self.killed_and_resumed(["run", "l.yaml"], "part.h5", rng.uniform(0.05, 0.2),
                                                repaired_and_some_steps_more)
                self.good("run", "l.yaml", "-o", "whole.h5", "--quiet", "--set", f"time.end={until}")
                self.assertEqual(differing(datasets(self.path("part.h5")), datasets(self.path("whole.h5"))), [])

    def test_list(self):
        found = json.loads(self.good("list", "bundles", "--json").stdout)["bundles"]
        names = [bundle["name"] for bundle in found]
        for name in ("purcell", "pmpy", "three_sphere", "floating_snake", "hopping_leg", "rolling_ball", "heisenberg",
                     "hopf", "falling_cat", "constant_curvature_swimmer", "sphere_robot", "kinematic_snake",
                     "raft_pendulum", "perfect_fish", "expressions", "points", "links", "surface_drag", "immersed",
                     "samples"):
            self.assertIn(name, names)
        text = self.good("list", "bundles").stdout
        self.assertIn("ratio", text)
        self.assertIn("fourier", self.good("list", "gaits").stdout)


if __name__ == "__main__":
    main()
