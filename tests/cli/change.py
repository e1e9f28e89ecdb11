#!/usr/bin/python3
"""The change of conserved quantities in the output and the report of `run` and `resume`, and the warning about a step that
is too long."""
import json
import re
import unittest

import numpy as np

from command import BALL, ROD, Case, h5py

TWO = """\
curvebody: 1
title: two masses on a spring
space: h3
bodies:
  - kind: rod
    name: a
    link: {spring: {stiffness: 1, rest: 1}}
    place: {chart: polar, points: [[0.6, pi/2, pi/2], [0.6, pi/2, 3*pi/2]]}
integrator: {name: lobatto, stages: 4, step: 5}
time: {end: 100}
record: {observables: [energy, killing_momentum]}
"""

SLEIGH = """\
curvebody: 1
system:
  coordinates: [x, y, a]
  metric: [[1], [0, 1], [0, 0, 0.5]]
  constraints: [{velocity: ["sin(a)", "-cos(a)", 0]}]
  position: [0, 0, 0.2]
  velocity: ["cos(0.2)", "sin(0.2)", 0.7]
integrator: {name: radau_iia, step: 0.1}
time: {end: 3}
"""


class Change(Case):
    def report(self, *words, code=0):
        force = ["--force"] if words[0] == "run" else []
        done = self.call(*words, "--json", *force)
        self.assertIn(done.returncode, (0, 1) if code is None else (code,), done.stderr)
        return json.loads(done.stdout)

    def warned(self, report):
        return [w["text"] for w in report["warnings"] if "the energy has changed" in w["text"]]

    def test_line_is_what_json_has(self):
        self.write("rod.yaml", ROD)
        line = self.good("run", "rod.yaml").stdout
        report = self.report("run", "rod.yaml")
        self.assertEqual(set(report["change"]), {"energy", "momentum"})
        self.assertEqual(report["since"], 0)
        numbers = ", ".join(f"{name} {value:.1g}" for name, value in report["change"].items())
        self.assertEqual(line[line.index("; "):], f"; changed since time 0: {numbers}\n")
        self.assertEqual(self.warned(report), [])

    def test_numbers_are_those_of_the_record(self):
        """The numbers agree with their definitions. The Killing fields X have |X|^2 = w^2 - x_i^2 for a boost and
        x_i^2 + x_j^2 for a rotation. rk4 conserves neither energy nor momenta."""
        self.write("two.yaml", TWO)
        turning = "bodies.0.motion={chart: polar, velocities: [[0, 0.1, 0.2], [0, -0.1, 0.2]]}"
        change = self.report("run", "two.yaml", "--set", "integrator={name: rk4, step: 0.25}", "--set", turning,
                             "--set", "time.end=75")["change"]
        with h5py.File(self.path("two.h5")) as file:
            kinetic, potential = file["kinetic_energy"][()], file["potential_energy"][()]
            momentum, x, p = (file[name][()] for name in ("killing_momentum", "position", "momentum"))
            self.assertEqual(np.max(np.abs(file["origin"][:, :, 0])), 0)
        off = np.max(np.abs(kinetic + potential - kinetic[0] - potential[0]))
        scale = np.max(kinetic + np.abs(potential - potential[0]))
        self.assertAlmostEqual(change["energy"] * scale / off, 1, delta=1e-9)
        size = np.sqrt(np.sum(p[..., :3] ** 2, axis=-1) - p[..., 3] ** 2)
        squares = x ** 2
        fields = [squares[..., 3] - squares[..., i] for i in range(3)]
        fields += [squares[..., i] + squares[..., (i + 1) % 3] for i in range(3)]
        sums = np.sum(size * np.sqrt(np.max(fields, axis=0)), axis=1)
        scale = np.max(sums[[0, 256, 300]])
        off = np.max(np.abs(momentum - momentum[0]))
        self.assertGreater(off, 1e-9)
        self.assertAlmostEqual(change["momentum"] * scale / off, 1, delta=1e-9)

    def test_a_constant_in_the_potential_does_not_matter(self):
        self.write("two.yaml", TWO + "potentials:\n  - expression: {chart: polar, value: 0}\n")
        base = ["run", "two.yaml", "--set", "integrator.step=1", "--set"]
        without = self.report(*base, "potentials.0.expression.value=0")["change"]["energy"]
        by_much = self.report(*base, "potentials.0.expression.value=100")["change"]["energy"]
        self.assertAlmostEqual(by_much / without, 1, delta=1e-6)

    def test_a_long_step_is_warned_of(self):
        self.write("two.yaml", TWO)
        done = self.call("run", "two.yaml", "--set", "integrator.name=gauss", "--set", "integrator.stages=2",
                         "--set", "integrator.solver=newton")
        self.assertRegex(done.stderr, r"warning: at time \S+, the energy has changed by \S+ of its scale since time 0, "
                                      r"which no work of a force explains: the step of 5 is too long; "
                                      r"try an integrator.step of \S+\n")
        for stages in 2, 3, 4:
            step, tried = 5.0, 0
            while True:
                report = self.report("run", "two.yaml", "--set", f"integrator.stages={stages}", "--set",
                                     f"integrator.step={step}", code=None)
                if not self.warned(report) and report["status"] == "ok":
                    break
                self.assertGreater(report["change"]["energy"], 1e-3)
                step = float(re.search(r"integrator.step of (\S+)$", self.warned(report)[0])[1])
                tried += 1
            self.assertLessEqual(report["change"]["energy"], 1e-3)
            self.assertLessEqual(tried, 4, f"{stages} stages: step {step}")
            self.assertGreaterEqual(tried, 1)

    def test_a_momentum_that_is_lost_is_warned_of(self):
        """Balls that come to rest on each other conserve the angular momentum 0 only to first order in the step."""
        ball = "  - {{kind: particles, name: {}, mass: {}, radius: {}, place: {{chart: embedding, points: [{}]}}}}\n"
        balls = ("a", 1, 0.2, [-0.6, 0, 0]), ("b", 3, 0.3, [0.6, 0, 0]), ("c", 2, 0.1, [0, 0.9, 0])
        self.write("three.yaml", "curvebody: 1\nspace: e3\nbodies:\n" + "".join(ball.format(*b) for b in balls) +
                   "interactions: [{pair_potential: gravity, strength: 1}]\ncontacts: {restitution: 0, accumulation: rest}\n"
                   "integrator: {name: lobatto, stages: 4, step: 0.01}\ntime: {end: 10}\n")
        report = self.report("run", "three.yaml")
        self.assertGreater(report["change"]["momentum"], 0.01)
        self.assertEqual([w["text"].startswith("a Killing momentum has changed by 0.") for w in report["warnings"]], [True])
        self.assertEqual(self.report("run", "three.yaml", "--set", "time.end=0.1")["warnings"], [])

    def test_the_warning_is_no_event_and_is_kept(self):
        self.write("two.yaml", TWO)
        report = self.report("run", "two.yaml", "--set", "integrator.stages=2", "--set", "integrator.step=1")
        self.assertEqual(len(self.warned(report)), 1)
        with h5py.File(self.path("two.h5")) as file:
            self.assertEqual(len(file["event_kind"]), 0)
            self.assertIn(self.warned(report)[0], file.attrs["warnings"].decode())
        quiet = self.good("run", "two.yaml", "--quiet", "--set", "integrator.stages=2", "--set", "integrator.step=1")
        self.assertEqual(quiet.stdout, "")
        self.assertIn(self.warned(report)[0], quiet.stderr)
        # A resumed run replaces the warning of its first end by that of its own end, so it equals an uninterrupted run.
        self.good("resume", "two.h5", "--until", "2000", "--quiet")
        self.good("run", "two.yaml", "-o", "whole.h5", "--quiet", "--set", "integrator.stages=2", "--set",
                  "integrator.step=1", "--set", "time.end=2000")
        with h5py.File(self.path("two.h5")) as resumed, h5py.File(self.path("whole.h5")) as whole:
            self.assertEqual(resumed.attrs["warnings"], whole.attrs["warnings"])
            self.assertEqual(whole.attrs["warnings"].count(b"the energy has changed"), 1)

    def test_tolerances_are_named_where_there_are(self):
        self.write("two.yaml", TWO)
        report = self.report("run", "two.yaml", "--set", "integrator={name: ida, rtol: 0.05, atol: 0.05, step: 1}")
        self.assertRegex(self.warned(report)[0], r": integrator.rtol is too large$")

    def test_what_is_not_conserved_is_left_out(self):
        self.write("two.yaml", TWO.replace("step: 5", "step: 0.1").replace("end: 100", "end: 1"))
        keys = lambda *sets: set(self.report("run", "two.yaml", *[w for s in sets for w in ("--set", s)])["change"])
        self.assertEqual(keys(), {"energy", "momentum"})
        self.assertEqual(keys("bodies.0.link.spring.damping=0.1"), {"momentum"})
        self.assertEqual(keys("constraints=[{pin: {particle: [a, 0]}}]"), {"energy", "momentum", "constraint"})
        self.assertEqual(keys("potentials=[{expression: {value: x + y + z}}]"), {"energy"})
        self.assertEqual(keys("potentials=[{expression: {value: z*t}}]"), {"momentum"})
        self.assertEqual(keys("potentials=[{expression: {value: (x + y + z)*t}}]"), set())
        self.write("sleigh.yaml", SLEIGH)
        self.assertEqual(set(self.report("run", "sleigh.yaml")["change"]), {"energy", "constraint"})

    def test_rest_has_no_change(self):
        self.write("two.yaml", TWO.replace("0.6", "0.5"))
        self.assertEqual(self.report("run", "two.yaml")["change"], {"energy": 0, "momentum": 0})
        self.write("far.yaml", TWO.replace(", rest: 1", "").replace("[[0.6, pi/2, pi/2], [0.6, pi/2, 3*pi/2]]",
                                                                         "[[30, 1, 0.5], [30.5, 1, 0.5]]"))
        report = self.report("run", "far.yaml", "--set", "time.end=10")
        self.assertEqual(report["change"], {"energy": 0, "momentum": 0})
        self.assertEqual(self.report("resume", "far.h5", "--until", "100")["change"], {"energy": 0, "momentum": 0})

    def test_resume_compares_with_the_start(self):
        """The added rows are those of the uninterrupted run. If the largest deviation is in these rows, the reported numbers
        are the same."""
        self.write("two.yaml", TWO.replace("step: 5", "step: 0.5"))
        whole = self.report("run", "two.yaml")["change"]
        with h5py.File(self.path("two.h5")) as file:
            energy = file["energy"][()]
        self.report("run", "two.yaml", "--set", "time.end=1")
        resumed = self.report("resume", "two.h5", "--until", "100")
        self.assertEqual(resumed["since"], 0)
        self.assertGreater(np.argmax(np.abs(energy - energy[0])), 2)
        self.assertAlmostEqual(resumed["change"]["energy"] / whole["energy"], 1, delta=1e-9)
        self.report("run", "two.yaml", "--set", "time.end=1")
        self.assertRegex(self.good("resume", "two.h5", "--until", "2").stdout,
                         r"changed since time 0: energy \S+, momentum \S+\n$")

    def test_few_rows(self):
        """If neither energy nor momenta are recorded, they are computed at the first and the last row."""
        self.write("two.yaml", TWO.replace("step: 5", "step: 1").replace("[energy, killing_momentum]", "[separation]")
                   + "  # every\n")
        for every in 1, 7, 1000:
            change = self.report("run", "two.yaml", "--set", f"record.every={every}")["change"]
            self.assertGreater(change["energy"], 1e-12)
            self.assertEqual(set(change), {"energy", "momentum"})

    def test_bodies_in_a_fluid(self):
        self.write("ball.yaml", BALL)
        keys = lambda *sets: set(self.report("run", "ball.yaml", *[w for s in sets for w in ("--set", s)])["change"])
        free = ["fluid.medium=none"]
        self.assertEqual(keys(), set())
        self.assertEqual(keys(*free), {"energy", "momentum"})
        self.assertEqual(keys(*free, "fluid.flow={uniform: [1, 0, 0]}"), {"momentum"})
        self.assertEqual(keys(*free, "bodies.0.wrenches=[{name: push, frame: world, force: [1, 0, 0]}]"), set())
        self.assertEqual(keys(*free, "fluid.floor={kind: reflecting, height: -2, restitution: 0.5}"), {"momentum"})
        self.assertEqual(keys(*free, "bodies.0.poses={y: Y + 0.05*X*sin(t)}"), {"momentum"})
        change = self.report("run", "ball.yaml", "--set", "fluid.medium=none", "--set", "fluid.gravity=[0, 0, -9.81]",
                             "--set", "bodies.0.motion={spin: [0, 3, 1], velocity: [1, 0, 0]}", "--set", "time.end=1")
        self.assertEqual(set(change["change"]), {"energy", "momentum"})
        self.assertLess(change["change"]["momentum"], 1e-13)
        self.assertLess(change["change"]["energy"], 1e-3)
        self.assertEqual(change["warnings"], [])

    def test_bodies_keep_what_is_told_to_the_order(self):
        """In water of one density, without drag, and over an elastic floor. Energy is conserved to second or fourth order in
        the step. hamilton_pontryagin conserves the momenta that gravity does not change to round-off."""
        self.write("ball.yaml", BALL.replace("density: 1200", "density: 1200\n    drag: false").replace(
            "name: ellipsoid, ", "name: ellipsoid, a: 1, b: 0.8, c: 0.6, "))
        spun = "bodies.0.motion={spin: [0.4, 1.5, 1], velocity: [0.5, 0, -1]}"
        floor = "fluid.floor={kind: stiff, height: -2, stiffness: 2e5, damping: 0, friction: 0}"
        for sets, method, order in (([], "hamilton_pontryagin", 2), ([], "rkmk4", 4),
                                    ([floor], "hamilton_pontryagin", 2)):
            found = []
            for step in 0.02, 0.01:
                words = [w for s in (spun, "fluid.gravity=[0, 0, -9.81]", "time.end=2",
                                         f"integrator={{name: {method}, step: {step}}}", *sets)
                         for w in ("--set", s)]
                found.append(self.report("run", "ball.yaml", *words)["change"])
            self.assertAlmostEqual(np.log2(found[0]["energy"] / found[1]["energy"]), order, delta=0.3, msg=found)
            self.assertLess(found[1]["momentum"], 1e-13 if order == 2 else 1e-6)


if __name__ == "__main__":
    unittest.main()
