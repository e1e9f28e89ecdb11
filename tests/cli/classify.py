#!/usr/bin/python3
"""`curvebody classify`: how a plate falls, in the plane and as a body in a fluid; and errors in its options."""
import json
import os

import h5py

from command import BALL, ROD, Case, datasets, differing, main

SCENARIOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../analysis/scenarios")
SYSTEMS = os.path.join(SCENARIOS, "systems")

PLATES = """\
curvebody: 1
fluid: {medium: 1, gravity: [0, 0, -1]}
bodies:
  - name: heavy
    shape: {name: box, a: 1, b: 1, c: 0.1, resolution: 8}
    density: 20
    model: ellipsoid
    place: {rotation: {axis: [0, 1, 0], angle: -0.2}}
    wrenches: [{name: hold, force: [0, -2*vy, 0], torque: [-0.3*wx, 0, -0.4*wz]}]
  - name: light
    shape: {name: box, a: 1, b: 1, c: 0.1, resolution: 8}
    density: 5
    model: mujoco_ellipsoid
    place: {rotation: {axis: [0, 1, 0], angle: -0.2}}
    wrenches: [{name: hold, force: [0, -vy, 0], torque: [-0.1*wx, 0, -0.1*wz]}]
integrator: {name: rkmk4, step: 0.02}
time: {end: 240}
record: {every: 4, observables: [falling_regime]}
"""


class Classify(Case):
    def bodies(self, *words):
        return json.loads(self.good("classify", *words, "--json").stdout)["bodies"]

    def plane(self, *sets):
        words = [word for key in sets for word in ("--set", key)]
        self.good("run", os.path.join(SYSTEMS, "falling-plate.yaml"), "-o", "p.h5", "--quiet", *words)
        return self.bodies("p.h5", "--exponent", "200")[0]

    def test_what_goes_apart_as_a_power_of_time_has_no_exponent(self):
        """A body that rests or falls freely: neighbouring motions separate linearly in time, so the exponent is 0.
        An earlier version used a mean of rates, which gave 2.4."""
        self.write("rest.yaml", "curvebody: 1\nfluid: {medium: MEDIUM}\nbodies:\n  - {name: rest, shape: {name: ellipsoid, "
                   "a: 0.1, b: 0.08, c: 0.05, resolution: 8}, density: 998.2}\nintegrator: {name: hamilton_pontryagin, step: 0.01}\n"
                   "time: {end: 4}\n")
        for medium in "998.2", "none":
            self.good("run", "rest.yaml", "-o", "rest.h5", "--quiet", "--set", "fluid.medium=" + medium)
            for follow in "1", "5":
                told = json.loads(self.good("classify", "rest.h5", "--exponent", follow, "--json").stdout)["bodies"][0]
                self.assertEqual(told["exponent"], 0)
                self.assertTrue(0 < told["exponent_error"] < 3 / float(follow))  # the error is of order 1/t, less than log t/t

    def test_free_points_have_no_exponent(self):
        """The deviation is |a + b t| at rest and in flat space; on a sphere it also has a bounded part."""
        for space, motion in (("h3", "[[0, 0, 0], [0, 0, 0]]"), ("e3", "[[0, 0, 0.2], [0, 0.1, 0]]"), ("s3", "[[0, 0, 0.2], [0, 0.1, 0]]")):
            self.write("free.yaml", f"curvebody: 1\nspace: {space}\nbodies: [{{kind: particles, name: a, masses: [1, 2], place: {{chart: "
                       f"polar, points: [[1, 1, 1], [0.5, 1, 2]]}}, motion: {{chart: polar, velocities: {motion}}}}}]\n"
                       "integrator: {name: lobatto, step: 0.01}\ntime: {end: 5}\n")
            self.good("run", "free.yaml", "-o", "free.h5", "--quiet")
            for follow in "20", "60":
                self.assertEqual(self.bodies("free.h5", "--exponent", follow)[0]["exponent"], 0, space)
        # here the points are 12 radii of curvature from their start; an earlier version gave an exponent of 199
        self.good("run", "free.yaml", "-o", "far.h5", "--quiet", "--set", "space=h3")
        self.assertIn("the tangent vector could not be computed in step", self.call("classify", "far.h5", "--exponent", "60").stderr)

    def test_four_regimes_of_the_plane(self):
        flutter = self.plane("system.parameters.I=1")
        self.assertEqual((flutter["body"], flutter["regime"]), ("plate", "flutter"))
        self.assertAlmostEqual(flutter["turns"], 0, places=6)
        self.assertTrue(1.2 < flutter["swing"] < 1.6, flutter)
        tumble = self.plane("system.parameters.I=1.35")
        self.assertEqual((tumble["regime"], abs(round(tumble["turns"], 6))), ("tumble", 1))
        self.assertGreater(tumble["drift"], 0.5)  # it glides while it tumbles
        self.assertLess(abs(flutter["exponent"]) + abs(tumble["exponent"]), 0.02)
        chaotic = self.plane("system.parameters.I=2.2")
        self.assertEqual((chaotic["regime"], chaotic["period"]), ("chaotic", None))
        self.assertGreater(chaotic["exponent"], 0.08)
        steady = self.plane("system.parameters.I=4", "system.parameters.mu1=0.6")
        self.assertEqual(steady["regime"], "steady")
        # broadside: the weight 1 equals the drag (A + B) v^2/pi, with the parameters A and B of the scenario
        self.assertAlmostEqual(steady["descent"], (3.14159265358979 / 2.4)**0.5, places=6)

    def test_what_is_recorded_is_what_is_told(self):
        self.write("s.yaml", PLATES)
        self.good("run", "s.yaml", "-o", "s.h5", "--quiet")
        names = ["undecided", "steady", "flutter", "tumble", "chaotic"]
        told = self.bodies("s.h5", "--exponent", "0")
        with h5py.File(self.path("s.h5")) as file:
            recorded = [names[k] for k in file["falling_regime"][-1]]
            turned = abs(file["falling_angle"][-1] - file["falling_angle"][0])
        self.assertEqual([body["regime"] for body in told], recorded)
        self.assertEqual(recorded, ["tumble", "flutter"])
        self.assertGreater(turned[0], 20)
        self.assertLess(turned[1], 3.2)
        self.assertEqual(self.bodies("s.h5", "--body", "light", "--exponent", "0"), told[1:])
        text = self.good("classify", "s.h5", "--body", "heavy").stdout
        self.assertTrue(text.startswith("heavy: tumble, period ") and ", exponent " in text, text)

    def test_four_regimes_of_discs(self):
        """The regimes that Field, Klaus, Moore & Nori (1997) observed, for free bodies with the model of the corrected
        ellipsoid."""
        self.good("run", os.path.join(SCENARIOS, "immersed", "falling-discs.yaml"), "-o", "d.h5", "--quiet")
        bodies = self.bodies("d.h5", "--exponent", "0")
        self.assertEqual([body["regime"] for body in bodies], ["steady", "flutter", "tumble", "chaotic"])
        self.assertEqual(abs(round(bodies[2]["turns"], 3)), 1)
        chaotic = self.bodies("d.h5", "--body", "chaotic", "--exponent", "200")[0]
        self.assertGreater(chaotic["exponent"], 5 * chaotic["exponent_error"])

    def test_mujocos_ellipsoid_does_not_tumble_where_the_corrected_one_does(self):
        path = os.path.join(SCENARIOS, "immersed", "falling-plate.yaml")
        for model, regime in (("ellipsoid", "tumble"), ("mujoco_ellipsoid", "flutter")):
            self.good("run", path, "-o", f"{model}.h5", "--quiet", "--set", f"bodies.0.model.name={model}",
                      "--set", "bodies.0.density=13", "--set", "fluid.gravity.2=-1/(1.3 - 0.1)")
            self.assertEqual(self.bodies(f"{model}.h5", "--exponent", "0")[0]["regime"], regime)

    def test_a_run_that_goes_on_says_the_same(self):
        path = os.path.join(SYSTEMS, "falling-plate.yaml")
        self.good("run", path, "-o", "whole.h5", "--quiet", "--set", "time.end=60")
        self.good("run", path, "-o", "parts.h5", "--quiet", "--set", "time.end=25")
        self.good("resume", "parts.h5", "--until", "60", "--quiet")
        self.assertEqual(differing(datasets(self.path("whole.h5")), datasets(self.path("parts.h5"))), [])

    def test_an_exponent_is_of_any_motion(self):
        self.good("run", os.path.join(SYSTEMS, "lorenz.yaml"), "-o", "l.h5", "--quiet")
        body = self.bodies("l.h5", "--exponent", "100")[0]
        self.assertEqual((body["body"], body["regime"], body["descent"]), ("air", None, None))
        self.assertTrue(0.8 < body["exponent"] < 1.0, body)

    def test_what_is_refused(self):
        def refused(words, *expected):
            done = self.call(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            for text in expected:
                self.assertIn(text, done.stderr)
        self.write("rod.yaml", ROD)
        self.good("run", "rod.yaml", "-o", "rod.h5", "--quiet")
        self.write("ball.yaml", BALL)
        self.good("run", "ball.yaml", "-o", "ball.h5", "--quiet", "--set", "fluid.gravity=[0, 0, 0]")
        refused(["classify"], "usage: curvebody classify OUT.h5")
        refused(["classify", "rod.h5"], "rod.h5: error: ", "a system with coordinates x, y (up) and theta")
        refused(["classify", "ball.h5"], "ball.h5: error: ", "needs gravity")
        refused(["classify", "ball.h5", "--body", "bal"], "ball.h5: error: no body `bal` in the record")
        refused(["classify", "ball.h5", "--exponent", "x"], "--exponent:1:1: error: ")
        refused(["classify", "ball.h5", "--exponent", "-1"], "expected a time >= 0, found -1")
        refused(["run", "rod.yaml", "-o", "x.h5", "--set", "record.observables=[falling_regime]"],
                "record.observables", "coordinates x, y (up) and theta")
        refused(["run", "ball.yaml", "-o", "x.h5", "--set", "fluid.gravity=[0, 0, 0]", "--set",
                 "record.observables=[falling_regime]"], "needs gravity")
        done = self.call("classify", "nothing.h5")
        self.assertEqual(done.returncode, 3, done.stderr)


if __name__ == "__main__":
    main()
