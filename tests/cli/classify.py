#!/usr/bin/python3
"""`curvebody classify`: how a plate falls, in the plane and as a body in a fluid; and errors in its options."""
import json
import os

import h5py
import numpy as np

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


def double_pendulum(time, h=1/100):
    """The exponent and its error of two bars of length 0.5, mass 1 and inertia 0.02 with the angles of the scenario above,
    from below: Runge and Kutta's method with a second motion at the distance 1e-7, which is brought back after each step."""
    def force(y):
        a, b, u, v = y
        m = 0.125*np.cos(a - b)  # the mass times the length of the first bar and the distance of the second one's centre
        A, B, C = 0.02 + 0.0625 + 0.25, m, 0.02 + 0.0625
        s = 0.125*np.sin(a - b)
        f, g = -s*v*v - 9.81*(0.25 + 0.5)*np.sin(a), s*u*u - 9.81*0.25*np.sin(b)
        det = A*C - B*B
        return np.array([u, v, (C*f - B*g)/det, (A*g - B*f)/det])

    def step(y):
        k = force(y)
        l = force(y + h/2*k)
        m = force(y + h/2*l)
        return y + h/6*(k + 2*l + 2*m + force(y + h*m))
    y = np.array([np.pi - 0.5, np.pi - 1.5, 0, 0])
    d, rates = np.array([1e-7, 0, 0, 0]), []
    for _ in range(round(time/h)):
        z = step(y + d)
        y = step(y)
        rates.append(np.log(np.linalg.norm(z - y)/1e-7)/h)
        d = (z - y)*1e-7/np.linalg.norm(z - y)
    parts = [np.mean(part) for part in np.array_split(rates[len(rates)//10:], 8)]
    return np.mean(parts), np.std(parts)/7**0.5


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

    # --- joined bodies ---

    def linear(self, joints, bodies):
        """The exponent of hinges about the vertical axis, along which gravity acts, that rest at an unstable equilibrium."""
        lines = ["curvebody: 1", "fluid: {medium: none, gravity: [0, 0, -9.81]}", "bodies:"]
        lines += [f"  - {{name: l{i}, shape: ball, inertial: {{mass: {i + 1}, inertia: [0.3, 0.2, {0.1*(i + 1)}]}}}}" for i in range(bodies)]
        lines += ["joints:"] + joints
        lines += ["integrator: {name: hamilton_pontryagin, step: 1/100}", "time: {end: 0.1}", "record: {observables: [joints]}"]
        self.write("linear.yaml", "\n".join(lines) + "\n")
        self.good("run", "linear.yaml", "-o", "linear.h5", "--force", "--quiet")
        return self.bodies("linear.h5", "--body", "l0", "--exponent", "30")[0]["exponent"]

    def test_an_exponent_of_joined_bodies_is_that_of_their_linear_equations(self):
        """M q'' = K q with the motors K q, rotors and a spring: the exponent is the root of the largest eigenvalue. The step is
        the midpoint rule in q, whose exponent differs in order 2."""
        hinge = "  - {kind: hinge, name: %s, of: [%s, %s], at: [%s, 0, 0], in: [-0.4, 0, 0], axis: [0, 0, 1], armature: %s, "
        joints = [hinge % ("a", "world", "l0", 0, 0.2) + "motor: 3*q - b, spring: {stiffness: 1, rest: 0}}",
                  hinge % ("b", "l0", "l1", 0.4, 0.05) + "motor: 2*q + a}"]
        # the arms are stretched: the centres move by 0.4 a and by 0.8 a + 0.4 (a + b)
        J = [np.array([[0.4, 0]]), np.array([[1.2, 0.4]])]
        M = np.diag([0.2, 0.05]) + J[0].T @ J[0] + 2*J[1].T @ J[1] + 0.1*np.diag([1, 0]) + 0.2*np.ones((2, 2))
        w = np.sqrt(np.linalg.eigvals(np.linalg.solve(M, [[2, -1], [1, 2]])).astype(complex))
        self.assertAlmostEqual(self.linear(joints, 2), 2/0.01*np.arctanh(0.005*w.max()), delta=1e-5)

    def test_joined_bodies_fall_chaotically(self):
        """A double pendulum against its equations in Lagrange's form, with their own linearisation, by another integrator. A
        single pendulum has no exponent."""
        found = {}
        for name, bodies in ("double", 2), ("single", 1):
            lines = ["curvebody: 1", "fluid: {medium: none, gravity: [0, 0, -9.81]}", "bodies:"]
            lines += [f"  - {{name: l{i}, shape: ball, inertial: {{mass: 1, inertia: [0.02, 0.02, 0.02]}}}}" for i in range(bodies)]
            lines += ["joints:", "  - {kind: hinge, of: [world, l0], in: [-0.25, 0, 0], axis: [0, 1, 0], angle: -pi/2 + 0.5}"]
            if bodies == 2:
                lines.append("  - {kind: hinge, of: [l0, l1], at: [0.25, 0, 0], in: [-0.25, 0, 0], axis: [0, 1, 0], angle: 1}")
            lines += ["integrator: {name: hamilton_pontryagin, order: 4, step: 1/100}", "time: {end: 1}", "record: {checkpoint: 50, observables: [joints]}"]
            self.write("p.yaml", "\n".join(lines) + "\n")
            self.good("run", "p.yaml", "-o", "p.h5", "--force", "--quiet")
            found[name] = self.bodies("p.h5", "--body", "l0", "--exponent", "300")[0]
        value, error = double_pendulum(300)
        double, single = found["double"], found["single"]
        self.assertGreater(single["exponent_from"], 0.4)
        self.assertGreater(double["exponent"], 5*double["exponent_error"])
        self.assertLess(abs(double["exponent"] - value), 4*np.hypot(error, double["exponent_error"]))
        self.assertLess(abs(single["exponent"]), 0.02)

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
        for name, key, message in (("friction", "friction: 0.1", "without `friction` and without `limits` that reflect"),
                                   ("limits", "limits: [-1, 1]", "without `friction` and without `limits` that reflect"),
                                   ("rkmk4", "damping: 0.1", "with the integrator `rkmk4`: expected hamilton_pontryagin")):
            self.write("j.yaml", "curvebody: 1\nfluid: {medium: none}\nbodies: [{name: l, shape: ball, density: 1}]\njoints: [{kind: hinge, of: "
                       f"[world, l], in: [1, 0, 0], axis: [0, 1, 0], {key}}}]\nintegrator: "
                       f"{{name: {'rkmk4' if name == 'rkmk4' else 'hamilton_pontryagin'}, step: 0.01}}\ntime: {{end: 0.1}}\n")
            self.good("run", "j.yaml", "-o", "j.h5", "--force", "--quiet")
            self.assertIn(message, self.call("classify", "j.h5", "--exponent", "1").stderr)
        done = self.call("classify", "nothing.h5")
        self.assertEqual(done.returncode, 3, done.stderr)


if __name__ == "__main__":
    main()
