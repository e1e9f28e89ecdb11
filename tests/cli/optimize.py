#!/usr/bin/python3
"""Optimal gaits from the command line: output and files of `gait .. optimize`, use of its gait by other commands, results of
`optimality` for it and for other gaits, and families of such gaits.

    optimize.py BINARY
"""
import json
import os

from command import Case, main

import h5py
import numpy as np
import xarray

PURCELL = """\
curvebody: 1
title: Purcell's swimmer, optimal
bundle: {name: purcell, links: 3}
gait: {fourier: {cosine: [[0.7, 0]], sine: [[0, 0.7]]}}
optimum: {target: {move: 0.03}, starts: 0}
"""
# for the swimmer of length 1 and drag 1 and 2, by shooting with Wong's equations for four unknowns until the gait closes
COST, LAMBDA = 0.126266414425, 2.627947737
# cost with the outer links folded to a Z, by arcs and by Fourier series
FOLDED = 0.118182747176


class Optimize(Case):
    def json(self, *words):
        return json.loads(self.good("gait", *words, "--json").stdout)

    def test_least_cost(self):
        self.write("p.yaml", PURCELL)
        found = self.json("p.yaml", "optimize")
        np.testing.assert_allclose(found["cost"], COST, rtol=1e-10)
        np.testing.assert_allclose(np.hypot(*found["g"][:2]), 0.03, rtol=1e-12)
        np.testing.assert_allclose(found["g"][2], 0, rtol=0, atol=1e-12)
        np.testing.assert_allclose(np.hypot(*found["lambda"][:2]), LAMBDA, rtol=1e-8)
        np.testing.assert_allclose(found["efficiency"], 0.03**2 / COST, rtol=1e-10)
        self.assertEqual((found["target"], found["objective"], found["group"]), ("move", "cost", "se2"))
        self.assertEqual((found["optimality"], found["index"], found["abnormal"]), ("minimum", 0, False))
        self.assertIsNone(found["falling"])
        self.assertLess(max(found["check_cost"], found["check_g"]), 1e-10)
        text = self.good("gait", "p.yaml", "optimize").stdout
        for word in ("purcell: 2 shape variables, fibre se2", "minimum cost, to move by 0.03", "cost        0.12626641",
                     "optimality  minimum", "invariants  speed", "found by"):
            self.assertIn(word, text)

    def test_other_optima_are_named(self):
        self.write("p.yaml", PURCELL)
        found = self.json("p.yaml", "optimize", "--starts", "12")
        np.testing.assert_allclose(found["cost"], FOLDED, rtol=1e-10)
        others = found["others"]
        self.assertTrue(any(abs(other["cost"] / COST - 1) < 1e-10 for other in others), others)
        costs = [found["cost"]] + [other["cost"] for other in others]
        self.assertEqual(costs, sorted(costs))
        self.assertGreaterEqual(found["starts"], 13)
        self.assertEqual(found["failed"] + found["found"] + sum(other["found"] for other in others), found["starts"])
        self.assertIn("others", self.good("gait", "p.yaml", "optimize", "--starts", "12").stdout)
        # the seed chooses the starts
        again = self.json("p.yaml", "optimize", "--starts", "12", "--seed", "1")
        self.assertEqual(again, found)

    def test_what_is_found_is_a_scenario(self):
        os.mkdir(self.path("there"))
        self.write("p.yaml", PURCELL)
        found = self.json("p.yaml", "optimize", "-o", "there/best.yaml")
        again = self.json("there/best.yaml", "holonomy")
        np.testing.assert_allclose(again["cost"], found["cost"], rtol=1e-12)
        np.testing.assert_allclose(again["g"], found["g"], rtol=0, atol=1e-13)
        self.good("gait", "there/best.yaml", "path", "-o", "path.h5")
        self.good("run", "there/best.yaml", "-o", "run.h5", "--quiet")
        with h5py.File(self.path("run.h5")) as run, h5py.File(self.path("path.h5")) as path:
            np.testing.assert_allclose(run["group"][-1], path["group"][-1], rtol=0, atol=1e-9)
            np.testing.assert_allclose(run["group"][-1], found["g"], rtol=0, atol=1e-9)
        # the next search starts from the gait that was found
        once_more = self.json("there/best.yaml", "optimize")
        np.testing.assert_allclose(once_more["cost"], found["cost"], rtol=1e-10)
        self.assertIn("optimum:", self.read("there/best.yaml").decode())

    def test_keys_of_the_scenario_stay(self):
        self.write("table.yaml", PURCELL)
        self.good("gait", "table.yaml", "curvature", "--grid", "41x41", "--window=-1.6:1.6,-1.6:1.6", "-o", "table.h5")
        self.write("t.yaml", "curvebody: 1\nbundle: {name: samples, file: table.h5}\n"
                             "gait: {fourier: {cosine: [[0.6, 0]], sine: [[0, 0.6]]}, repeat: 3, period: 2}\n"
                             "start: {group: [1, 2, 3]}\nintegrator: {name: magnus, step: 0.05}\n"
                             "optimum: {target: {move: 0.01}, starts: 0}\n")
        os.mkdir(self.path("there"))
        self.good("gait", "t.yaml", "optimize", "--move", "0.012", "-o", "there/t.yaml")
        again = self.json("there/t.yaml", "holonomy")  # the path of the table is relative to the new file
        self.assertEqual((again["repeat"], again["period"]), (3, 2))
        np.testing.assert_allclose(np.hypot(*again["g"][:2]), 0.012, rtol=1e-9)
        text = self.read("there/t.yaml").decode()
        for word in "step: 0.05", "group: [1, 2, 3]", "move: 0.012":
            self.assertIn(word, text)

    def test_arrays(self):
        self.write("p.yaml", PURCELL)
        found = self.json("p.yaml", "optimize", "-o", "best.h5")
        self.assertEqual(found["output"], "best.h5")
        with xarray.open_dataset(self.path("best.h5")) as data:
            self.assertEqual((data.attrs["bundle"], data.attrs["group"], data.attrs["target"], data.attrs["objective"]),
                             ("purcell", "se2", "move", "cost"))
            self.assertEqual(data.shape.dims, ("time", "variable"))
            self.assertEqual(data.multiplier.dims, ("time", "algebra"))
            self.assertEqual(data["lambda"].dims, ("optimum", "algebra"))
            for key in "cost", "length", "amount", "efficiency", "index", "found":
                self.assertEqual(data[key].dims, ("optimum",))
                self.assertEqual(float(data[key][0]), found[key])
            np.testing.assert_array_equal(data["lambda"][0], found["lambda"])
            np.testing.assert_array_equal(data.start[0], found["at"])
            np.testing.assert_allclose(data.group[-1], found["g"], rtol=0, atol=1e-12)
            np.testing.assert_array_equal(data.shape[0], data.shape[-1])
            # the speed is constant, p is periodic, and Ad*_{g^-1} lambda is constant; its length is that of its translational part
            np.testing.assert_allclose(data.power, found["cost"], rtol=1e-5)
            np.testing.assert_allclose(data.momentum[0], data.momentum[-1], rtol=0, atol=1e-6)
            np.testing.assert_allclose(np.hypot(data.multiplier[:, 0], data.multiplier[:, 1]), LAMBDA, rtol=1e-8)
            turn = data.group[:, 2].values
            np.testing.assert_allclose(np.cos(turn) * data.multiplier[:, 0] - np.sin(turn) * data.multiplier[:, 1],
                                       data.multiplier[0, 0], rtol=1e-8)

    def test_bounds_and_lines_apart(self):
        """The costs are computed by shooting with arcs at the bounds, and for a loop with a corner where the tips meet.
        Bounds limit the distance that one cycle can reach."""
        self.write("p.yaml", PURCELL)
        for words, cost in ((["--bounds=-.7:.7"], 0.134475538116),
                            (["--turn", "0.1", "--no-crossing", "--starts", "6"], 0.034983464790)):
            found = self.json("p.yaml", "optimize", *words)
            np.testing.assert_allclose([found["cost"], found["wong"]], cost, rtol=2e-11)
            self.assertEqual((found["optimality"], found["index"]), ("minimum", 0))
        # bounds that the gait does not reach change nothing
        most = [self.json("p.yaml", "optimize", "--objective", "efficiency", *more)["efficiency"]
                for more in ([], ["--bounds=-pi/2:pi/2"])]
        np.testing.assert_allclose(most[0], most[1], rtol=1e-11)
        # the result for the most efficient gait does not depend on the given size
        same = [self.json("p.yaml", "optimize", "--objective", "efficiency", "--starts", "4", "--move", size)
                for size in ("any", "0.05", "7")]
        self.assertEqual(same[0], same[1])
        self.assertEqual(same[0], same[2])
        # a gait that leaves the bounds cannot be a start
        done = self.good("gait", "p.yaml", "optimize", "--move", "0.01", "--starts", "4", "--bounds=-.45:.45")
        self.assertIn("the gait of the scenario is outside the bounds", done.stderr)
        done = self.call("gait", "p.yaml", "optimize", "--move", "0.05", "--bounds=-.8:.8")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("one cycle reached at most about 0.043", done.stderr)

    def test_optimality_of_a_gait(self):
        self.write("p.yaml", PURCELL)
        found = self.json("p.yaml", "optimize", "-o", "best.yaml")
        best = self.json("best.yaml", "optimality")
        np.testing.assert_allclose([best["cost"], best["wong"]], found["cost"], rtol=1e-12)
        self.assertLess(max(best["slope"], best["fit"]), 1e-8)
        self.assertLess(abs(best["gain"]), 1e-12)  # rounding errors of two costs
        self.assertEqual((best["optimality"], best["stationary"], best["index"]), ("minimum", True, 0))
        # without a target the gait is compared with gaits to the same group element
        text = self.read("best.yaml").decode()
        self.write("bare.yaml", text[:text.index("optimum:")] + text[text.index("integrator:"):])
        bare = self.json("bare.yaml", "optimality")
        self.assertIsNone(bare["amount"])
        self.assertLess(bare["slope"], 1e-6)  # the slope along gaits with a corner at the start, to which a series of harmonics converges slowly
        np.testing.assert_allclose(bare["cost"], found["cost"], rtol=1e-12)
        # a circle is not optimal, and costs more than the optimal gait for the same distance
        circle = self.json("p.yaml", "optimality")
        self.assertGreater(circle["slope"], 0.1)
        self.assertEqual((circle["optimality"], circle["stationary"], circle["wong"]), ("not stationary", False, None))
        same = self.json("p.yaml", "optimize", "--move", repr(circle["amount"]))
        self.assertGreater(circle["gain"], 0)
        self.assertLess(circle["gain"], 1 - same["cost"] / circle["cost"])
        text = self.good("gait", "p.yaml", "optimality").stdout
        for word in "slope       0.", "not stationary", "gain        a step":
            self.assertIn(word, text)

    def test_optimality_of_a_gait_that_goes_round(self):
        # a turn around the axis at d = 1/2 is stationary: cost 4 pi^2 (1 + d^2), X = -pi d^2, 2 lambda = dE/dX = -4 pi
        self.write("round.yaml", "curvebody: 1\nbundle: {name: expressions, group: r1, shape: [phi, d], "
                                 "period: {phi: 2*pi}, A: [[d^2/2, 0]], M: [[1 + d^2, 0], [0, 1]]}\n"
                                 "gait: {expressions: {phi: 2*pi*t, d: 0.5}}\n")
        found = self.json("round.yaml", "optimality")
        np.testing.assert_allclose([found["cost"], found["wong"]], 5 * np.pi**2, rtol=1e-13)
        np.testing.assert_allclose([found["g"][0], found["lambda"][0]], [-np.pi / 4, -2 * np.pi], rtol=1e-13)
        self.assertEqual((found["optimality"], found["index"]), ("minimum", 0))

    def test_numbers_that_depend_on_one_another(self):
        # four numbers of a unit quaternion ask for the same as three of them; the end position of the body is free
        turned, found = "q_x: 0.09983341664682815, q_y: 0, q_z: 0", []
        for parts in turned, "q_w: 0.9950041652780258, " + turned:
            self.write("turn.yaml", "curvebody: 1\nbundle: {name: expressions, group: se3, shape: [a, b, c], A: "
                       "[[0, -1, 0], [1, 0, 0], [0, 0, 0], [0, a, 0], [0, 0, 0], [0, 0, 0]]}\n"
                       "gait: {fourier: {mean: [0, 0, 0], cosine: [[1, 0, 0]], sine: [[0, 1, 1]]}}\n"
                       f"optimum: {{target: {{parts: {{{parts}}}}}, start_shape: [0, 0, 0]}}\n")
            found.append(self.json("turn.yaml", "optimize"))
        few, all_four = found
        np.testing.assert_allclose(all_four["cost"], few["cost"], rtol=1e-10)
        self.assertEqual(all_four["conjugates"], few["conjugates"])
        np.testing.assert_allclose(all_four["conjugate"][1], few["conjugate"][1], rtol=1e-9)  # the first one after t = 1

    def test_optimality_within_walls(self):
        self.write("p.yaml", PURCELL)
        found = self.json("p.yaml", "optimize", "--bounds=-.7:.7", "-o", "held.yaml")
        held = self.json("held.yaml", "optimality")
        np.testing.assert_allclose([held["cost"], held["wong"]], found["cost"], rtol=1e-10)
        self.assertEqual((held["optimality"], held["index"], held["loose"]), ("minimum", 0, 0))
        self.assertEqual(len(held["active_constraints"]), 4)
        for constraint in held["active_constraints"]:
            self.assertGreater(constraint["impulse"], 0)
            np.testing.assert_allclose(constraint["to"] - constraint["from"], 0.17948156 - 0.07539712, rtol=0, atol=2e-8)
        self.assertIn("alpha1 <= 0.7, from t = ", self.good("gait", "held.yaml", "optimality").stdout)
        wide = self.json("held.yaml", "optimality", "--set", "optimum.bounds=[-1, 1]")
        self.assertEqual((wide["stationary"], wide["active_constraints"]), (False, []))
        # links 1 and 3 cross
        done = self.call("gait", "p.yaml", "optimality", "--no-crossing", "--set", "gait.fourier.mean=[2.2, 2.2]")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("the gait violates a constraint: lines 0 and 2 apart, by ", done.stderr)

    def test_what_has_no_optimality(self):
        self.write("s.yaml", "curvebody: 1\nbundle: {name: surface_drag, shape: {name: ellipsoid, resolution: 8}, "
                             "poses: {y: Y + 0.1*sin(2*pi*(X - t))}}\ngait: {loop: phase, at: [0.2]}\n")
        self.write("open.yaml", PURCELL.replace("{fourier: {cosine: [[0.7, 0]], sine: [[0, 0.7]]}}",
                                                "{expressions: {alpha1: t, alpha2: sin(2*pi*t)}}"))
        loop = self.json("s.yaml", "optimality")  # the loop encloses no area: only its pace could change
        self.assertEqual((loop["stationary"], loop["lambda"]), (False, [0] * 6))
        self.assertLess(loop["gain"], 1 - loop["length"]**2 / loop["cost"])
        done = self.call("gait", "open.yaml", "optimality")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("the gait is open", done.stderr)
        self.write("none.yaml", "curvebody: 1\nbundle: purcell\n")
        done = self.call("gait", "none.yaml", "optimality")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("the key `gait` is missing: `optimality` needs a gait", done.stderr)

    def test_family(self):
        self.write("p.yaml", PURCELL)
        told = self.json("p.yaml", "family", "--move", "0.01:fold", "--members", "60", "-o", "family.h5")
        self.assertEqual((told["output"], told["branches"], told["members"]), ("family.h5", 1, 60))
        events = {event["kind"]: event for event in told["events"]}
        best = self.json("p.yaml", "optimize", "--objective", "efficiency")
        np.testing.assert_allclose([events["efficient"]["target"], events["efficient"]["cost"]],
                                   [best["amount"], best["cost"]], rtol=1e-7)
        self.assertGreater(events["farthest"]["target"], 0.1)
        with xarray.open_dataset(self.path("family.h5")) as data:
            self.assertEqual(data.shape.dims, ("member", "time", "variable"))
            self.assertEqual((data.attrs["bundle"], data.attrs["target"]), ("purcell", "move"))
            X, E = data.target.values, data.cost.values
            np.testing.assert_allclose(X[0], 0.01, rtol=1e-12)
            np.testing.assert_allclose(X[-1], events["farthest"]["target"], rtol=1e-6)
            self.assertTrue((np.diff(E) > 0).all() and (np.diff(X) > 0).all())
            np.testing.assert_allclose(np.hypot(*data.group.values.T[:2]), X, rtol=1e-10)
            self.assertTrue((data["index"].values == 0).all() and (data.cheapest.values == 1).all())
            # between members the slope of the cost is 2 lambda; the trapezium rule has second order
            inner = slice(0, 30)
            mean = np.diff(X)[inner] * (data.multiplier.values[:-1] + data.multiplier.values[1:])[inner]
            np.testing.assert_allclose(mean, np.diff(E)[inner], rtol=1e-3)
            names = [name.decode() if isinstance(name, bytes) else str(name) for name in data.event_name.values]
            self.assertEqual([names[kind] for kind in data.event_kind.values], [e["kind"] for e in told["events"]])
            np.testing.assert_array_equal(data.event_target, [e["target"] for e in told["events"]])
        # a range of amounts, and a part of the group's numbers
        told = self.json("p.yaml", "family", "--parts", "x=0.01:0.03,theta=0", "--members", "5", "-o", "some.h5")
        with h5py.File(self.path("some.h5")) as file:
            first = file["branch"][()] == 0
            np.testing.assert_allclose(file["target"][first], np.linspace(0.01, 0.03, 5), rtol=1e-10)
            np.testing.assert_allclose(file["group"][first, 0], file["target"][first], rtol=0, atol=1e-12)
        for words, begins in (
                (["--move", "0.02:0.01"], "--move: error: expected LO:HI with HI beyond LO"),
                (["--turn", "0.1:-0.1"], "--turn: error: expected LO:HI with HI beyond LO"),
                (["--move", "0.02:far"], "--move:1:1: error: expected a number"),
                (["--members", "1"], "--members: error: expected a whole number from 2"),
                (["--objective", "efficiency"], "--set optimum.objective=efficiency:1:"),
                (["--element", "0.1,0.2,0.3"], "--set optimum.target={element: [0.1,0.2,0.3]}:1:")):
            with self.subTest(words):
                done = self.call("gait", "p.yaml", "family", *words, "-o", "bad.h5")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertTrue(done.stderr.startswith(begins), done.stderr)
        self.assertFalse(os.path.exists(self.path("bad.h5")))

    def test_best_ratio_of_lengths(self):
        """With the metric `identity`, small strokes have the maximum distance for a middle link of .7207592017 times the
        others; the relative error is the square of the stroke's size, 4e-7."""
        self.write("p.yaml", "curvebody: 1\nbundle: {name: purcell, shares: [1, 1, 1]}\n"
                             "gait: {fourier: {cosine: [[7e-4, 0]], sine: [[0, 7e-4]], mean: [-7e-4, 0]}}\n"
                             "optimum: {target: {move: 1e-8}, starts: 0, start_shape: [0, 0], metric: identity}\n")
        told = self.json("p.yaml", "family", "--vary", "bundle.shares.1=0.65:0.8", "--members", "4", "-o", "ratio.h5")
        best, = told["events"]
        np.testing.assert_allclose(best["varied"], 0.7207592017, rtol=1e-6)
        with xarray.open_dataset(self.path("ratio.h5")) as data:
            self.assertEqual(data.varied.attrs["long_name"], "bundle.shares.1")
            np.testing.assert_allclose(data.varied, np.linspace(0.65, 0.8, 4), rtol=1e-14)
            self.assertEqual(data.shape.dims, ("member", "time", "variable"))
            self.assertEqual(data.event_varied.values[~np.isnan(data.event_varied)].tolist(), [best["varied"]])
            self.assertLess(best["cost"], float(data.cost.min()))
        told = self.good("gait", "p.yaml", "family", "--vary", "bundle.shares.1=0.65:0.7", "--members", "2", "-o", "end.h5")
        self.assertIn("\nbest at an end, 0.7: cost ", told.stdout)
        for words, begins in (
                (["bundle.shares.1"], "--vary: error: expected KEY=LO:HI"), (["bundle.shares.1=1:1"], "--vary: error: "),
                (["bundle.shares.1=0:1"], "p.yaml:2:9: error: bundle purcell: shares: 0"),
                (["bundle.share.1=1:2"], "--set bundle.share.1=1:1:8: error: unknown key 'share'")):
            done = self.call("gait", "p.yaml", "family", "--vary", *words, "-o", "bad.h5")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertTrue(done.stderr.startswith(begins), done.stderr)
        self.assertFalse(os.path.exists(self.path("bad.h5")))

    def test_options_are_keys(self):
        self.write("p.yaml", PURCELL)
        for options, key in (
                (["--move", "0.02"], ["target={move: 0.02}"]),
                (["--parts", "x=0.02,theta=0"], ["target={parts: {x: 0.02, theta: 0}}"]),
                (["--bounds=-1.2:pi/2", "--seed", "3"], ["bounds=[-1.2, pi/2]", "seed=3"]),
                (["--bounds", "alpha1=-1.2:,alpha2=:1.3"], ["bounds={alpha1: [-1.2, ~], alpha2: [~, 1.3]}"]),
                (["--objective", "target", "--length", "0.3"], ["objective=target", "length=0.3"])):
            with self.subTest(options):
                sets = [word for one in key for word in ("--set", "optimum." + one)]
                self.assertEqual(self.good("gait", "p.yaml", "optimize", *options).stdout,
                                 self.good("gait", "p.yaml", "optimize", *sets).stdout)
        # the option replaces the key of the file
        for options in ["--turn", "pi"], ["--element", "0.02,0,0.05"]:
            done = self.call("gait", "p.yaml", "connection", "--at", "0,0", *options)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_wrong_is_refused(self):
        self.write("p.yaml", PURCELL)
        self.write("none.yaml", PURCELL[:PURCELL.index("optimum")])
        for words, code, begins in (
                (["none.yaml"], 2, "none.yaml:1:1: error: the key `optimum` is missing"),
                (["p.yaml", "--move", "1", "--turn", "2"], 2, "--turn: error: expected only one target"),
                (["p.yaml", "--move", "far"], 2, "--set optimum.target={move: far}:1:"),
                (["p.yaml", "--move=-1"], 2, "--set optimum.target={move: -1}:1:"),
                (["p.yaml", "--parts", "x"], 2, "--parts: error: expected NAME=NUMBER,.., found 'x'"),
                (["p.yaml", "--parts", "z=1"], 2, "--set optimum.target={parts: {z: 1}}:1:"),
                (["p.yaml", "--bounds", "1"], 2, "--bounds: error: expected LO:HI, or NAME=LO:HI,.., found '1'"),
                (["p.yaml", "--bounds", "1:2:3"], 2, "--bounds: error: expected LO:HI"),
                (["p.yaml", "--bounds", "alpha1"], 2, "--bounds: error: expected LO:HI"),
                (["p.yaml", "--bounds", "alpha1=0:1,2"], 2, "--bounds: error: expected NAME=LO:HI,.., found '2'"),
                (["p.yaml", "--bounds", "alpha=0:1"], 2, "--set optimum.bounds={alpha: [0, 1]}:1:"),
                (["p.yaml", "--bounds=2:1"], 2, "--set optimum.bounds=[2, 1]:1:"),
                (["p.yaml", "--starts=-1"], 2, "--set optimum.starts=-1:1:"),
                (["p.yaml", "--seek", "cost"], 2, "curvebody gait: error: --seek was renamed to --objective"),
                (["p.yaml", "--base=0,0"], 2, "curvebody gait: error: --base was renamed to --start-shape"),
                (["p.yaml", "--apart"], 2, "curvebody gait: error: --apart was renamed to --no-crossing"),
                (["p.yaml", "--objective", "effort"], 2, "--set optimum.objective=effort:1:"),
                (["p.yaml", "--error=-1"], 2, "--error: error: expected a number >= 0"),
                (["p.yaml", "-o", "best.csv"], 2, "--output: error: expected a file name that ends with .yaml or .h5"),
                (["p.yaml", "-o", "p.yaml"], 2, "p.yaml: "),
                (["p.yaml", "-o", "nowhere/best.yaml"], 3, "curvebody: error: "),
                (["p.yaml", "-o", "nowhere/best.h5"], 3, "curvebody: error: ")):
            with self.subTest(words):
                done = self.call("gait", words[0], "optimize", *words[1:])
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertTrue(done.stderr.startswith(begins), done.stderr)
                self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
        self.assertEqual(self.read("p.yaml").decode(), PURCELL)
        self.assertEqual(sorted(os.listdir(self.folder)), ["none.yaml", "p.yaml"])

    def test_no_gait_does_it(self):
        """In the plane the curvature is zero: a change of shape moves nothing."""
        self.write("flat.yaml", "curvebody: 1\nbundle: {name: constant_curvature_swimmer, space: E2}\n"
                                "optimum: {target: {move: 0.1}, starts: 2}\n")
        done = self.call("gait", "flat.yaml", "optimize", "-o", "best.yaml")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertFalse(os.path.exists(self.path("best.yaml")))


if __name__ == "__main__":
    main()
