#!/usr/bin/python3
"""Wrong keys of `shape` give errors, and commands do what they should with records of shapes that move by themselves."""
import os
import shutil

import h5py
import numpy as np

from command import main
from refusals import Refusals

SNAKE = """\
curvebody: 1
bundle: floating_snake
shape:
  momentum: [0.6, -0.3, 0.5]
  alpha1: {start: 0.3, rate: 0.4, spring: {stiffness: 0.3, rest: 0.1}, limits: [-1, 1], restitution: 0.5}
  alpha2: {drive: "0.5*sin(t)"}
integrator: {name: hamilton_pontryagin, step: 0.02}
time: {end: 1}
"""
DRIVE = 'alpha2: {drive: "0.5*sin(t)"}'
SPRING = "{stiffness: 0.3, rest: 0.1}"
GAIT = "gait: {fourier: {cosine: [[0.3, 0]], sine: [[0, 0.3]]}}\nshape:"
CASES = {
    # names and kinds of values
    "unknown variable": ([("alpha1:", "@alfa1:")], ["unknown key 'alfa1', did you mean 'alpha1'?"]),
    "unknown key of a variable": ([("rate: 0.4", "@speed: 0.4")], ["unknown key 'speed'", "restitution"]),
    "variable that is a number": ([(DRIVE, "alpha2: @3")], ["alpha2: expected a map", "found '3'"]),
    "variable that is a word": ([(DRIVE, "alpha2: @free")], ["alpha2: expected a map", "or `gait`, found 'free'"]),
    "variable of a gait that is not there": ([(DRIVE, "alpha2: @gait")], ["expected the key `gait` next to `shape`"]),
    "shape that is a list": ([("shape:\n  momentum: [0.6, -0.3, 0.5]\n", "shape: @[]\n"),
                              ("  alpha1: {start: 0.3, rate: 0.4, spring: {stiffness: 0.3, rest: 0.1}, limits: [-1, 1], "
                               "restitution: 0.5}\n", ""), ("  " + DRIVE + "\n", "")],
                             ["expected a map", "found a list"]),
    "shape without a bundle": ([("bundle: floating_snake\n", ""), ("momentum", "@momentum")],
                               ["the key `bundle` is missing: expected the bundle whose shape moves"]),
    # springs, dampers, friction
    "negative stiffness": ([("stiffness: 0.3", "stiffness: @-0.3")], ["expected a number >= 0, found -0.3"]),
    "spring that is a number": ([(SPRING, "@0.3")], ["spring: expected a map with `stiffness`"]),
    "spring without stiffness": ([("{stiffness: 0.3, ", "@{")], ["spring: expected a map with `stiffness`"]),
    "damping in a spring": ([("rest: 0.1", "@damping: 0.1")], ["unknown key 'damping', expected one of: stiffness, rest"]),
    "stiffness that is a word": ([("stiffness: 0.3", "stiffness: @soft")], ["unknown name `soft`"]),
    "infinite stiffness": ([("stiffness: 0.3", "stiffness: @.inf")], ["not finite"]),
    "rest that is no number": ([("rest: 0.1", "rest: @.nan")], ["not finite"]),
    "negative damping": ([("rate: 0.4", "damping: @-1")], ["expected a dimensionless number >= 0, found '-1'"]),
    "negative friction": ([("rate: 0.4", "friction: @-1")], ["expected a dimensionless number >= 0, found '-1'"]),
    "dry friction in steps that run backwards": (
        [("rate: 0.4", "friction: @0.1"), ("pontryagin,", "pontryagin, order: 4,")], ["expected `order: 2`"]),
    # limits
    "limits in the wrong order": ([("[-1, 1]", "@[1, -1]")], ["[lowest, highest], two finite numbers in this order"]),
    "limits that are equal": ([("[-1, 1]", "@[1, 1]")], ["[lowest, highest]"]),
    "one limit": ([("[-1, 1]", "@[1]")], ["[lowest, highest]"]),
    "limits as a map": ([("[-1, 1]", "@{low: 1}")], ["[lowest, highest]"]),
    "infinite limit": ([("[-1, 1]", "@[-1, .inf]")], ["two finite numbers"]),
    "start outside the limits": ([("start: 0.3", "start: 1.3"), ("[-1, 1]", "@[-1, 1]")],
                                 ["expected the start 1.3 within [-1, 1]"]),
    "restitution above 1": ([("restitution: 0.5", "restitution: @2")], ["[0, 1]"]),
    "restitution without limits": ([("limits: [-1, 1], restitution: 0.5", "restitution: @0.5")], ["expected limits"]),
    # drives and torques
    "drive by an unknown name": ([("sin(t)", "sin(@q)")], ["unknown name `q`: the variables here are: t"]),
    "drive by another variable": ([('"0.5*sin(t)"', "@alpha1")], ["unknown name `alpha1`: the variables here are: t"]),
    "drive that is a list": ([('"0.5*sin(t)"', "@[1]")], ["expected an expression"]),
    "drive that is not finite": ([('{drive: "0.5*sin(t)"}', '@{drive: "sqrt(t - 1)"}')], ["is not finite"]),
    "drive with an infinite rate": ([('{drive: "0.5*sin(t)"}', '@{drive: "sqrt(t)"}')], ["t = 0, is not finite"]),
    "start of a driven variable": ([('sin(t)"', 'sin(t)", start: @1')], ["`start` next to `drive`"]),
    "limits of a driven variable": ([('sin(t)"', 'sin(t)", limits: @[-1, 1]')], ["`limits` next to `drive`"]),
    "friction of a driven variable": ([('sin(t)"', 'sin(t)", friction: @1')], ["`friction` next to `drive`"]),
    "torque by an unknown name": ([("rate: 0.4", "torque: @q")], ["alpha1, alpha2, alpha1_rate, alpha2_rate"]),
    "torque that is not finite": ([("rate: 0.4", 'torque: @"log(-1 - alpha1^2)"')],
                                  ["torque: expected a finite number at the start, t = 0, found nan"]),
    "torque that is 0/0": ([("rate: 0.4", 'torque: @"(alpha1 - 0.3)/(alpha1 - 0.3)"')], ["found nan"]),
    # momentum and potential
    "momentum of two numbers": ([("[0.6, -0.3, 0.5]", "@[0.6, -0.3]")], ["3 numbers, along the axes v_x, v_y, omega"]),
    "momentum that is a number": ([("[0.6, -0.3, 0.5]", "@1")], ["expected a list of 3 numbers"]),
    "momentum with a word": ([("-0.3, 0.5]", "@x, 0.5]")], ["unknown name `x`"]),
    "infinite momentum": ([("-0.3, 0.5]", "@.inf, 0.5]")], ["not finite"]),
    "potential of the place without its prefix": ([("  momentum", "  potential: @x\n  momentum")], ["group.x, group.y"]),
    "potential of a number that the group has not": ([("  momentum", "  potential: @group.z\n  momentum")],
                                                     ["unknown name `group.z`"]),
    "potential of the time": ([("  momentum", "  potential: @t\n  momentum")], ["unknown name `t`"]),
    "potential that is not finite": ([("  momentum", '  potential: @"log(-1 - alpha1^2)"\n  momentum')],
                                     ["expected a finite number, with finite derivatives, at the start"]),
    "momentum of a table": ([("floating_snake", "{name: samples, file: table, degree: 3}"),
                             ("[0.6, -0.3, 0.5]", "@[0.6, -0.3, 0.5]")],
                            ["bundle samples has no form of inertia, so its momentum is 0"]),
    "place of a table in a potential": ([("floating_snake", "{name: samples, file: table, degree: 3}"),
                                         ("momentum: [0.6, -0.3, 0.5]", "potential: @group.x")],
                                        ["expected a potential of the shape variables only"]),
    # integrators, times, other keys
    "integrator of gaits": ([("hamilton_pontryagin", "@magnus")], ["not for shapes with inertia; expected one of `hamilton_pontryagin`"]),
    "integrator for drag": ([("hamilton_pontryagin", "@gauss")], ["not for shapes with inertia; expected one of `hamilton_pontryagin`"]),
    "integrator of particles": ([("hamilton_pontryagin", "@lobatto")], ["not for shapes with inertia"]),
    "order 3": ([("pontryagin,", "pontryagin, order: @3,")], ["expected one of 2, 4"]),
    "map of bodies": ([("pontryagin,", "pontryagin, @map: cayley,")], ["unknown key 'map'"]),
    "no end": ([("time: {end: 1}\n", ""), ("curve", "@curve")], ["the key `end` of `time` is missing"]),
    "end before the start": ([("{end: 1}", "{start: 3, end: @1}")], ["the end 1 is before the start 3"]),
    "flow": ([("integrator:", "flow: @{uniform: [1, 0, 0]}\nintegrator:")], ["is not in a fluid"]),
    "gait that no variable follows": ([("shape:", GAIT.replace("gait: ", "gait: @"))],
                                      ["no shape variable follows the gait"]),
    "observable that is not there": ([("time:", "record: {observables: [@torque]}\ntime:")], ["unknown observable 'torque'"]),
}
PURCELL = """\
curvebody: 1
bundle: purcell
shape:
  alpha1: {start: 0.3, spring: {stiffness: 0.3}}
  alpha2: {drive: "0.5*sin(t)"}
integrator: {name: gauss, step: 0.02}
time: {end: 1}
"""
WITH_DRAG = {
    "rate": ([("start: 0.3", "rate: @1")], ["`rate` is for shapes with inertia: bundle purcell moves against drag"]),
    "friction": ([("start: 0.3", "friction: @1")], ["`friction` is for shapes with inertia"]),
    "limits": ([("start: 0.3", "limits: @[-1, 1]")], ["`limits` is for shapes with inertia"]),
    "momentum": ([("  alpha1", "  momentum: @[0, 0, 0]\n  alpha1")], ["`momentum` with drag"]),
    "integrator for inertia": ([("gauss", "@hamilton_pontryagin")], ["not for shapes with drag; expected one of `gauss`, `radau_iia`"]),
    "observable momentum": ([("time:", "record: {observables: @[momentum]}\ntime:")], ["not available with drag"]),
    "flow": ([("integrator:", "flow: @{uniform: [1, 0, 0]}\nintegrator:")], ["`flow` next to `shape`"]),
    "torque that is not finite": ([("start: 0.3", 'torque: @"1/alpha2_rate*0 + log(-1)"')], ["found nan"]),
}
LIMITED = """\
curvebody: 1
bundle: floating_snake
shape:
  momentum: [0.6, -0.3, 0.5]
  alpha1: {start: 0.3, rate: 0.4, spring: {stiffness: 0.3}, limits: [-1, 1], friction: 0.01}
  alpha2: {start: 0.5, rate: 0.9, spring: {stiffness: 0.3}, limits: [-0.2, 0.9]}
integrator: {name: hamilton_pontryagin, step: 0.02}
time: {start: -3, end: 4}
record: {checkpoint: 50}
"""


class Shapes(Refusals):
    def test_with_inertia(self):
        self.check_cases(SNAKE, {claim: case for claim, case in CASES.items() if "table" not in claim})

    def test_tables(self):
        """A table has A and M, but no form: it moves with momentum 0, as the bundle from which it was made."""
        self.write("snake.yaml", "curvebody: 1\nbundle: floating_snake\n")
        self.good("gait", "snake.yaml", "curvature", "--grid", "17x17", "--window=-1.28:1.28,-1.28:1.28", "-o", "table.h5")
        shutil.move(self.path("table.h5"), self.path("table"))
        self.check_cases(SNAKE, {claim: case for claim, case in CASES.items() if "table" in claim})
        text = SNAKE.replace("  momentum: [0.6, -0.3, 0.5]\n", "")
        found = []
        for name in "floating_snake", "{name: samples, file: table, degree: 5}":
            self.write("run.yaml", text.replace("floating_snake", name))
            self.good("run", "run.yaml", "-o", "run.h5")
            with h5py.File(self.path("run.h5")) as file:
                found.append({key: file[key][()] for key in ("shape", "group", "momentum", "energy")})
        for key in found[0]:
            # the error of splines of degree 5 on 16 intervals of 0.16
            np.testing.assert_allclose(found[1][key], found[0][key], rtol=0, atol=1e-6)
        self.assertEqual(np.max(np.abs(found[1]["momentum"])), 0)

    def test_with_drag(self):
        self.check_cases(PURCELL, WITH_DRAG)

    def test_torque_that_is_not_finite_later(self):
        for text in SNAKE.replace("rate: 0.4", 'torque: "sqrt(0.5 - t)"'), PURCELL.replace(
                "start: 0.3", 'torque: "0.001*sqrt(0.5 - t)"'):
            self.write("late.yaml", text)
            done = self.call("run", "late.yaml", "-o", "late.h5")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("the torque of alpha1 is not finite", done.stderr)
            os.remove(self.path("late.h5"))

    def test_parts_of_gait(self):
        """Holonomies are those of gaits that all variables follow."""
        self.write("free.yaml", SNAKE)
        self.write("some.yaml", SNAKE.replace("shape:", GAIT).replace("  " + DRIVE + "\n", ""))
        for part in ["holonomy"], ["optimality"], ["path", "-o", "x.h5"]:
            self.refused(["gait", "free.yaml", *part], 2, "free.yaml:1:1: error: the key `gait` is missing",
                         ["the motion of `shape` is that of `curvebody run`"])
            self.refused(["gait", "some.yaml", *part], 2, "some.yaml:1:1: error: `shape`",
                         ["the variable `alpha1` does not follow the gait"])
        self.assertIn("connection A", self.good("gait", "free.yaml", "connection", "--at", "0.1,0.2").stdout)

    def test_records(self):
        """A run that is resumed has the same data as one without a stop, and knows what was conserved from the start."""
        self.write("snake.yaml", LIMITED)
        self.good("run", "snake.yaml", "-o", "long.h5", "--set", "time.end=6")
        self.good("run", "snake.yaml", "-o", "short.h5")
        done = self.good("resume", "short.h5", "--until", "6")
        self.assertEqual(done.stderr, "")
        with h5py.File(self.path("long.h5")) as one, h5py.File(self.path("short.h5")) as other:
            self.assertGreater(len(one["event_time"]), 2)
            for name in "time", "shape", "group", "momentum", "energy", "friction_work", "event_time", "event_impulse":
                self.assertTrue(np.array_equal(one[name], other[name]), name)
            names = [name.decode() for name in one["wall_name"][()]]
        self.assertEqual(names, ["alpha1 lowest limit", "alpha1 highest limit", "alpha2 lowest limit",
                                 "alpha2 highest limit"])
        self.assertIn("no errors", self.good("verify", "short.h5").stdout)
        self.good("export", "short.h5", "--csv", "-o", "short.csv")
        with open(self.path("short.csv")) as table:
            self.assertIn("shape[alpha1],shape[alpha2]", table.readline())
        self.good("view", "short.h5", "-o", "page.html")
        with open(self.path("page.html")) as page:
            text = page.read()
        for word in "alpha1", "alpha2":
            self.assertIn(word, text)
        done = self.call("classify", "short.h5", "--exponent", "5")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("the Lyapunov exponent of variables of `shape` is not computed", done.stderr)

    def test_sweep_over_keys_of_shape(self):
        self.write("snake.yaml", LIMITED)
        self.write("sweep.yaml", "curvebody: 1\nsweep:\n  scenario: snake.yaml\n  set: {time.end: 0}\n  over:\n"
                   "    - {key: shape.alpha1.spring.stiffness, values: [0.1, 0.2]}\n"
                   "    - {key: shape.momentum.2, values: [0, 1]}\n"
                   "  collect: {far: \"max(shape[alpha1])\"}\n")
        self.good("sweep", "sweep.yaml", "-o", "sweep.h5")
        with h5py.File(self.path("sweep.h5")) as file:
            far = file["far"][()]
        self.assertEqual(far.shape, (2, 2))
        self.assertEqual(len(np.unique(far)), 4)


if __name__ == "__main__":
    main()
