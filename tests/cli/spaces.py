#!/usr/bin/python3
"""`curvebody space` and `curvebody geodesic`: closed forms, places in messages, files, and agreement of a built-in space
with the same metric given as text."""
import json
import math
import os

import h5py

from command import Case, ROD, main

H2 = """\
space:
  metric: [[1], [0, "m*sinh(u)^2"]]
  coordinates: [u, v]
  parameters: {m: 1}
  domain: u > 0
  base: [1, 0]
  plot: [sinh(u)*cos(v), sinh(u)*sin(v), cosh(u)]
"""


class Spaces(Case):
    def setUp(self):
        super().setUp()
        self.write("h2.yaml", H2)
        self.write("rod.yaml", ROD)

    def near(self, a, b, tolerance):
        a, b = list(a), list(b)
        self.assertEqual(len(a), len(b))
        for x, y in zip(a, b):
            self.assertLessEqual(abs(x - y), tolerance, (a, b))

    def space(self, *words):
        return json.loads(self.good("space", *words, "--json").stdout)

    def rows(self, *words):
        lines = self.good("geodesic", *words).stdout.splitlines()
        return float(lines[0].split()[-1]), [[float(x) for x in line.split()] for line in lines if line[0] != "#"]

    def refused(self, words, message, code=2):
        done = self.call(*words)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertIn(message, done.stderr)

    def test_curvature_is_constant_where_it_is(self):
        for name, dim, k in ("h3", 3, -1), ("s3", 3, 1), ("e3", 3, 0), ("s2:curvature=4", 2, 4), ("rod.yaml", 3, -1):
            for chart in "polar", "stereographic":
                if name[0] in "hr" and chart == "stereographic":
                    chart = "poincare"
                if name == "e3" and chart == "stereographic":
                    continue
                found = self.space(name, "--chart", chart)
                self.assertEqual(found["dimension"], dim)
                self.assertAlmostEqual(found["scalar"], k * dim * (dim - 1), delta=1e-11 * max(1, abs(k)))
                for i in range(dim):
                    for j in range(i):
                        self.assertAlmostEqual(found["sectional"][i][j], k, delta=1e-11 * max(1, abs(k)))

    def test_set_changes_the_space(self):
        self.assertAlmostEqual(self.space("h3", "--set", "space.curvature=-2")["scalar"], -12, delta=1e-11)
        self.assertAlmostEqual(self.space("rod.yaml", "--set", "space.curvature=-2")["scalar"], -12, delta=1e-11)
        found = self.space("h2.yaml", "--set", "space.parameters.m=4", "--at", "2,0")
        self.assertAlmostEqual(found["metric"][1][1], 4 * math.sinh(2) ** 2, delta=1e-12)

    def test_polar_symbols_and_killing_fields(self):
        found = self.space("h2", "--at", "0.5,pi/3")
        s, c = math.sinh(0.5), math.cosh(0.5)
        self.near(sum(found["christoffel"], [])[1], [0, -s * c], 1e-15)
        self.assertAlmostEqual(found["christoffel"][1][0][1], c / s, delta=1e-14)
        self.near(found["killing"]["rotation_z"], [0, 1], 1e-15)
        self.near(found["killing"]["boost_x"], [math.cos(math.pi / 3), -math.sin(math.pi / 3) * c / s], 1e-14)

    def test_text_of_space(self):
        text = self.good("space", "h2.yaml").stdout
        for line in ("metric: a metric given as text, dimension 2", "at u = 1, v = 0", "Gamma^u_vv = -1.8134302039235",
                     "R^v_u,u,v = 1", "K(u, v)  -1"):
            self.assertIn(line, text)
        self.assertIn("rotation_z", self.good("space", "h3").stdout)

    def test_metric_as_text_agrees_with_the_space(self):
        a, b = self.space("h2.yaml", "--at", "0.7,1"), self.space("h2", "--at", "0.7,1")
        for key in "metric", "christoffel", "riemann", "ricci":
            self.near(flat(a[key]), flat(b[key]), 1e-12)
        words = ["--from", "1,0", "--velocity", "0.3,1", "--length", "3", "--points", "7"]
        (length, a), (_, b) = self.rows("h2.yaml", *words), self.rows("h2", *words)
        self.assertEqual((length, len(a)), (3, 7))
        for x, y in zip(a, b):
            self.near(x, y, 1e-11)
        words = ["--from", "1,0", "--to", "0.6,1.2", "--points", "3"]
        (d, a), (e, b) = self.rows("h2.yaml", *words), self.rows("h2", *words)
        self.assertAlmostEqual(d, e, delta=1e-12)
        law = math.cosh(1) * math.cosh(0.6) - math.sinh(1) * math.sinh(0.6) * math.cos(1.2)
        self.assertAlmostEqual(math.cosh(d), law, delta=1e-13)
        for x, y in zip(a, b):
            self.near(x, y, 1e-11)
        self.near(a[-1][1:3], [0.6, 1.2], 1e-12)

    def test_velocity_is_of_unit_length(self):
        length, rows = self.rows("s3", "--from", "1,1,0", "--velocity", "0,0,2")
        self.assertAlmostEqual(length, 2 * math.sin(1) ** 2, delta=1e-14)
        self.assertEqual(len(rows), 101)
        for s, a, b, _, da, db, dg, *_ in rows:
            self.assertAlmostEqual(da**2 + math.sin(a) ** 2 * (db**2 + math.sin(b) ** 2 * dg**2), 1, delta=1e-12)

    def test_through_the_axis_of_the_chart(self):
        done = self.good("geodesic", "h2", "--from", "1,0", "--velocity=-1,0", "--length", "2", "--points", "3")
        self.assertIn("singular at 1 of the points", done.stderr)
        self.assertIn("nan nan", done.stdout.splitlines()[3])

    def test_far_out_in_hyperbolic_space(self):
        # acosh(cosh^2 r - sinh^2 r cos 1) = 2 r + log((1 - cos 1)/2) for r >= 18; at r = 300 it is 598.5296666272293714577
        for r in 8, 10, 15, 18, 20, 300, 1000, 1e5:
            d, rows = self.rows("h2", "--from", f"{r},0", "--to", f"{r},1", "--points", "3")
            right = 2 * math.asinh(math.sinh(r) * math.sin(0.5)) if r < 300 else 2 * r + 2 * math.log(math.sin(0.5))
            self.assertAlmostEqual(d, right, delta=4e-16 * d)
            self.near(rows[-1][1:3], [r, 1], 4e-16 * r)
            # the middle of the geodesic is its closest point to the base point: tanh c = tanh(r) cos(1/2)
            self.near(rows[1][1:3], [math.atanh(math.tanh(r) * math.cos(0.5)), 0.5], 1e-15 + 4e-16 * r)
            self.near(rows[1][3:5], [0, 1 / math.sinh(rows[1][1])], 1e-15 + 4e-16 * r)
        # in a product with another curvature, 300 radii out; in another chart, 30 radii in both directions
        d, rows = self.rows("h2xe:curvature=-4", "--from", "150,0.25,1", "--to", "150,1.25,401", "--points", "2")
        self.assertAlmostEqual(d, math.hypot(300 + math.log(math.sin(0.5)), 400), delta=1e-12)
        self.near(rows[-1][1:4], [150, 1.25, 401], 1e-12)
        d, rows = self.rows("h3", "--from", "-30,0,0", "--to", "30,0,0", "--points", "3", "--chart", "translation")
        self.near([d, *rows[1][1:7]], [60, 0, 0, 0, 1, 0, 0], 1e-14)
        # coordinates in the ball give the distance from its border, 1 - q^2, exactly
        d, rows = self.rows("h2", "--from=-0.9999999,0", "--to", "0,0.9999999", "--points", "2", "--chart", "poincare")
        self.assertAlmostEqual(d, 32.92933838352930, delta=2e-14)
        # points close to each other
        d, rows = self.rows("h2", "--from", "300,0", "--to", "300,1e-130", "--points", "3")
        self.assertAlmostEqual(d, 2 * math.asinh(math.sinh(300) * 5e-131), delta=1e-13)
        self.near(rows[-1][1:2] + [rows[-1][2] / 1e-130], [300, 1], 1e-12)
        self.refused(["geodesic", "h2", "--from", "0.3,0.4", "--velocity", "1,0", "--length", "80", "--chart", "poincare"],
                     "coordinate x of the chart poincare has no correct digits", 2)

    def test_far_out_in_nil_and_sol(self):
        # 42.4: the straight line; 20.1 and 33.9: angles of rotation below 2 pi (mpmath); 13.8: 2 asinh(500)
        for space, to, right in (("nil", "30,30,450", 30 * math.sqrt(2)), ("nil", "3,2,50", 20.146407534606),
                                 ("nil", "1,0,100", 33.9055092646228), ("sol", "1000,0,0", 2 * math.asinh(500)),
                                 ("sol", "0,1e6,3", 2 * math.asinh(math.hypot(5e5 * math.exp(-1.5), math.sinh(1.5)))),
                                 ("nil", "0,0,6", 6)):
            d, rows = self.rows(space, "--from", "0,0,0", "--to", to, "--points", "3")
            self.assertAlmostEqual(d, right, delta=1e-14 * right)
            end = [float(x) for x in to.split(",")]
            self.near(rows[-1][1:4], end, 1e-14 * max(end))
        # at w = 7e-7 the naive formula w - sin(w) gives only three digits (reference: mpmath)
        self.assertAlmostEqual(self.rows("nil", "--from", "0,0,0", "--to", "30,30,450.0001", "--points", "2")[1][0][6],
                               1.56094212143272831e-8, delta=1e-19)
        self.refused(["geodesic", "sol", "--from", "0,0,0", "--to", "0,1e300,0"], "is too long", 2)
        # length sqrt(4 pi z - 4 pi^2) in every direction
        self.refused(["geodesic", "nil", "--from", "1,2,3", "--to", "1,2,53"],
                     "there is more than one shortest geodesic (length 24.2660279633)", 2)
        self.refused(["geodesic", "sol", "--from", "0,0,0", "--to", "1000,1,0"], "too long or bend too much", 2)

    def test_about_the_throat(self):
        # reference: integrals of the angle and the length over eta, R = 2M cosh^2 eta, by mpmath
        for points, right in ("0.8,0,0 -0.3,0.75,0", 4.09678182333855), ("0.6,0,0 0,0.6,0", 3.16537495331567):
            start, to = points.split()
            d, rows = self.rows("schwarzschild", "--from", start, "--to=" + to, "--points", "2")
            self.assertAlmostEqual(d, right, delta=1e-12)
            self.near(rows[-1][1:4], [float(x) for x in to.split(",")], 1e-12)
        for start, to in ("0.51,0,0", "0.1,0.51,0"), ("0.51,0,0", "-0.4,0.4,0.1"), ("0.5001,0,0", "-0.5,0.01,0.01"):
            d, rows = self.rows("schwarzschild", "--from", start, "--to=" + to, "--points", "2")
            self.near(rows[-1][1:4], [float(x) for x in to.split(",")], 1e-12)
        self.refused(["geodesic", "schwarzschild", "--from", "0.6,0,0", "--to=-0.6,0,0"], "more than one shortest", 2)
        # for nearly opposite points the transverse direction is a small difference, and Newton's method stops at conjugate points
        for to, right in (("-0.8,1e-6,0", 6.53845981441614), ("-0.8,1e-9,0", 6.53846236084218), ("-0.8,0,1e-13", 6.53846236339)):
            d, rows = self.rows("schwarzschild", "--from", "0.8,0,0", "--to=" + to, "--points", "2")
            self.assertAlmostEqual(d, right, delta=1e-11)
            self.near(rows[-1][1:4], [float(x) for x in to.split(",")], 1e-12)
        for start, to in (("0.8,0,0", "-0.8,0,0"), ("0.3,0.4,0.5", "-0.81,-1.08,-1.35")):
            self.refused(["geodesic", "schwarzschild", "--from", start, "--to=" + to], "more than one shortest", 2)
        # Newton's method from curves of the chart does not reach these points
        for start, to in (("0.7,0,0", "-40,1,2"), ("1e6,0,0", "-1e6,3,3"), ("0.500001,0,0", "-0.500001,1e-3,0")):
            d, rows = self.rows("schwarzschild", "--from", start, "--to=" + to, "--points", "2")
            end = [float(x) for x in to.split(",")]
            self.near(rows[-1][1:4], end, 1e-11 * max(map(abs, end)))

    def test_near_the_antipode(self):
        d, rows = self.rows("s2", "--from", "0.5,0.3", "--to", f"{math.pi - 0.5},{0.3 - math.pi + 1e-6!r}", "--points", "2")
        self.assertAlmostEqual(d, math.pi - math.sin(0.5) * 1e-6, delta=1e-12)
        self.near([rows[-1][1], math.cos(rows[-1][2] - 0.3)], [math.pi - 0.5, -1], 1e-12)

    def test_files(self):
        words = ["geodesic", "h3", "--from", "1,1,0", "--to", "2,1,1", "--points", "5"]
        self.assertEqual(self.good(*words, "-o", "g.h5").stdout, "")
        self.good(*words, "-o", "g.txt")
        self.assertEqual(self.read("g.txt").decode(), self.good(*words).stdout)
        rows = [[float(x) for x in line.split()] for line in self.read("g.txt").decode().splitlines()[2:]]
        with h5py.File(self.path("g.h5")) as file:
            self.assertEqual((file["s"].shape, file["q"].shape, file["u"].shape, file["plot_position"].shape),
                             ((5,), (5, 3), (5, 3), (5, 3)))
            for r, row in enumerate(rows):
                self.near(row, [file["s"][r], *file["q"][r], *file["u"][r], *file["plot_position"][r]], 0)
            self.assertEqual(file.attrs["distance"], rows[-1][0])
            self.assertEqual((file.attrs["space"], file.attrs["chart"], file.attrs["coordinates"]),
                             ("h3", "polar", "a b g"))
        before = self.read("g.h5")
        self.good(*words, "-o", "g.h5")
        self.assertEqual(self.read("g.h5"), before)
        for name in "no/g.h5", "no/g.txt":
            self.refused([*words, "-o", name], "no/g", 3)
        self.assertEqual(sorted(os.listdir(self.folder)), ["g.h5", "g.txt", "h2.yaml", "rod.yaml"])

    def test_messages(self):
        for command in "space", "geodesic":
            self.refused([command], "usage: curvebody " + command)
        for words in ("h3", "h3 --from 1,1,1", "h3 --from 1,1,1 --to 1,1,2 --velocity 1,1,1",
                      "h3 --from 1,1,1 --to 1,1,2 --length 1"):
            self.refused(["geodesic", *words.split()], "usage: curvebody geodesic")
        for command in ["space", "h4"], ["geodesic", "h4:curvature=-1", "--from", "1,1,0", "--to", "2,1,1"]:
            self.refused(command, "curvebody: error: unknown space 'h4', did you mean 'h")
        self.refused(["space", "hyperbolic"], "unknown space 'hyperbolic': expected one of `curvebody list spaces`")
        self.refused(["space", "h3:curvture=-1"],
                     "h3:curvture=-1: error: unknown key 'curvture', did you mean 'curvature'?")
        self.refused(["space", "h3:curvature=1"], "h3:curvature=1: error: curvature: expected a number < 0")
        self.refused(["space", "h3", "--set", "space.curvature=1"], "--set space.curvature=1:1:17: error: curvature")
        self.refused(["space", "none.yaml"], "none.yaml", 3)
        self.refused(["space", "h3", "--chart", "cylinder"], "expected a chart with a metric, one of: polar")
        self.refused(["space", "h3", "--at", "1,2"], "--at:1:1: error: expected 3 numbers separated by commas, found 2")
        self.refused(["space", "h3", "--at", "1,2x,3"], "--at:1:4: error:")
        self.refused(["space", "h3:curvature"], "h3:curvature: error: expected NAME:KEY=VALUE")
        self.refused(["space", "h3:curvature=x"], "error: curvature: expected a number")
        word = 'h3:curvature="error: x"'
        self.refused(["space", word], f"{word}: error: curvature: expected a number")
        self.refused(["space", "h3:foo=1,curvature=[1"], "while parsing a flow sequence\n")
        self.refused(["space", "h3:curvature=2,foo=1", "--set", "space.bar=1"],
                     "h3:curvature=2,foo=1: error: curvature: expected a number < 0, in 1/length^2, found '2'\n"
                     "h3:curvature=2,foo=1: error: unknown key 'foo', expected one of: curvature, name, chart, plot\n"
                     "--set space.bar=1:1:7: error: unknown key 'bar'")
        self.refused(["space", "h2.yaml", "--at", "-1,0"],
                     "u = -1, v = 0 is outside the domain of the space: expected u > 0")
        self.refused(["geodesic", "h2.yaml", "--from", "1,0", "--velocity", "-1,0", "--length", "2"], "u > 0")
        self.refused(["geodesic", "h3", "--from", "1,1,1", "--velocity", "0,0,0"], "expected a velocity other than 0")
        self.refused(["geodesic", "h3", "--from", "1,1,1", "--to", "1,1,2", "--points", "0"], "number of points from 1")
        self.refused(["geodesic", "s2", "--from", "0.5,0", "--to", "pi-0.5,pi"], "antipod")
        self.write("bad.yaml", H2.replace("sinh(u)", "sinh(w)"))
        self.refused(["space", "bad.yaml"], "bad.yaml:2:29: error: unknown name `w`")

    def test_bodies_where_the_metric_fails(self):
        self.write("edge.yaml", "curvebody: 1\nspace: {metric: [[1], [0, \"1 - u\"]]}\n"
                   "bodies: [{kind: particles, name: p, place: {points: [[0.5, 0]]}, motion: {velocities: [[1, 0]]}}]\n"
                   "integrator: {name: gauss, step: 0.1}\ntime: {end: 8}\n")
        self.refused(["check", "edge.yaml", "--set", "bodies.0.place.points=[[1.5, 0]]"],
                     "not positive definite at u = 1.5, v = 0: pivot 2 of 2 is -0.5")
        done = self.call("run", "edge.yaml", "--quiet")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, "at time 0.5, step 5: .*not positive definite at u = ")
        with h5py.File(self.path("edge.h5")) as file:
            self.assertGreaterEqual(len(file["time"]), 5)

    def test_what_is_no_number_is_printed_without_a_sign(self):
        self.write("kink.yaml", "curvebody: 1\nspace: {metric: [[1], [0, 1 + abs(u)^1.5]]}\n"
                   "bodies: [{kind: particles, name: p, place: {points: [[1, 0]]}}]\n"
                   "integrator: {name: gauss, step: 0.1}\ntime: {end: 8}\n")
        said = self.good("space", "kink.yaml", "--at", "0,1").stdout
        self.assertIn(" nan\n", said)
        self.assertNotIn("-nan", said)

    def test_check_prints_a_text_metric_that_reads_back(self):
        self.write("run.yaml", "curvebody: 1\n" + H2 +
                   "bodies: [{kind: particles, name: p, place: {points: [[1, 0]]}}]\n"
                   "integrator: {name: gauss, step: 0.1}\ntime: {end: 1}\n")
        resolved = self.good("check", "run.yaml").stdout
        self.assertIn("m*sinh(u)^2", resolved)
        self.write("again.yaml", resolved)
        self.assertEqual(self.good("check", "again.yaml").stdout, resolved)
        self.good("run", "run.yaml", "--quiet")
        with h5py.File(self.path("run.h5")) as file:
            self.near(file["plot_position"][0, 0], [math.sinh(1), 0, math.cosh(1)], 1e-15)


def flat(value):
    return [x for item in value for x in flat(item)] if isinstance(value, list) else [value]


if __name__ == "__main__":
    main()
