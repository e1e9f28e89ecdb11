#!/usr/bin/python3
"""Wrong settings of `optimum` give errors: targets, objectives, bounds, start shapes, drawings; one and two at a time."""
import itertools

from command import main
from refusals import Refusals, taken

PURCELL = """\
curvebody: 1
bundle: {name: purcell, links: 3}
gait: {polygon: {corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]}}
integrator: {name: magnus, step: 0.05}
optimum:
  target: {move: 0.03}
  objective: cost
  start_shape: [0.5, -0.3]
  bounds: {alpha1: [-pi/2, pi/2], alpha2: [-2, ~]}
  no_crossing: true
  starts: 24
  seed: 7
"""
TARGET = "target: {move: 0.03}"
BALL = "{name: rolling_ball}"
HEISENBERG = "{name: expressions, group: heisenberg, shape: [a, b], A: [[1, 0], [0, 1], [0, 0]]}"
BUNDLE = "{name: purcell, links: 3}"
NO_GAIT = ("gait: {polygon: {corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]}}\nintegrator: {name: magnus, step: 0.05}\n",
           "gait: {polygon: {corners: [[0.5], [1]]}}\nintegrator: {name: magnus, step: 0.05}\n")
ONE = "{name: expressions, group: r1, shape: [bend], A: [[bend]]}"

# claim: edits of PURCELL, expected words; each error is in one line, so that any two can be made together
TARGETS = {
    "misspelt target": ([(TARGET, "target: {@mov: 0.03}")], ["unknown key 'mov', did you mean 'move'?"]),
    "no target": ([(TARGET, "target: @{}")], ["target: expected one of move, turn, element, parts"]),
    "two targets": ([(TARGET, "target: {move: 1, turn: @2}")], ["`turn` next to `move`: expected only one target"]),
    "target as a number": ([(TARGET, "target: @0.03")], ["target: expected a map such as {move: 0.03}"]),
    "distance of no size": ([(TARGET, "target: {move: @0}")], ["move: expected a distance > 0, found 0"]),
    "distance that is negative": ([(TARGET, "target: {move: @-1}")], ["move: expected a distance > 0, found -1"]),
    "distance with a unit": ([(TARGET, "target: {move: 1@m}")], ["move: expected a number", "without a unit"]),
    "any distance at the least cost": ([(TARGET, "target: {move: @any}")], ["`any` applies only to `objective: efficiency`"]),
    "no angle": ([(TARGET, "target: {turn: @0}")],
                 ["turn: expected a number that is not 0: a body that does not move has no cost"]),
    "element of two numbers": ([(TARGET, "target: {element: @[1, 2]}")],
                               ["element: expected a list of 3 numbers of se2 (x, y, theta), found 2"]),
    "the identity": ([(TARGET, "target: {element: @[0, 0, 0]}")],
                     ["other than the identity: a body that does not move has no cost"]),
    "parts that are not there": ([(TARGET, "target: {parts: {x: 1, @thet: 0}}")],
                                 ["unknown number of se2 'thet', did you mean 'theta'?"]),
    "parts that are all the identity's": ([(TARGET, "target: {parts: @{x: 0, theta: 0}}")],
                                          ["expected a number that differs from the identity"]),
    "parts as a list": ([(TARGET, "target: {parts: @[1]}")], ["parts: expected a map of numbers of se2"]),
}
SOUGHT = {
    "former name of objective": ([("objective: cost", "@seek: cost")], ["seek was renamed to objective"]),
    "former name of start_shape": ([("start_shape: [0.5", "@base: [0.5")], ["base was renamed to start_shape"]),
    "former name of no_crossing": ([("no_crossing: true", "@apart: true")], ["apart was renamed to no_crossing"]),
    "misspelt objective": ([("objective: cost", "objective: @efficency")], ["objective: expected one of cost, efficiency, target, torque, work",
                                                              "did you mean 'efficiency'?"]),
    "most of a target without a length": ([("objective: cost", "objective: @target")], ["missing key 'length'"]),
    "length beside another": ([("objective: cost", "length: @1")], ["`length` applies only to `objective: target`"]),
    "length of no size": ([("objective: cost", "objective: target\n  length: @0")], ["length: expected a number > 0"]),
}
BASES = {
    "start shape of three numbers": ([("start_shape: [0.5, -0.3]", "start_shape: @[1, 2, 3]")],
                              ["start_shape: expected a list of 2 numbers, one per shape variable (alpha1, alpha2), found 3"]),
    "start shape that is no number": ([("-0.3]", "@q]")], ["unknown name `q`"]),
}
BOUNDS = {
    "bounds of another variable": ([("alpha1: [", "@alpha: [")],
                                   ["unknown shape variable 'alpha', did you mean 'alpha1'?"]),
    "crossed bounds": ([("alpha1: [-pi/2, pi/2]", "alpha1: @[pi/2, -pi/2]")],
                       ["alpha1: expected [low, high] with low below high, found [1.5708, -1.5708]"]),
    "bound of one number": ([("[-2, ~]", "@[-2]")], ["alpha2: expected [low, high], found another list"]),
    "bound that is a number": ([("[-2, ~]", "@2")], ["alpha2: expected [low, high], found '2'"]),
    "bounds without the start shape": ([("alpha2: [-2, ~]", "alpha2: @[~, -1]"), ("gait: {polygon: {corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]}}", "gait: {polygon: {corners: [[1, -1], [-1, -1], [-1, -2], [1, -2]]}}")],
                                ["alpha2: expected bounds that contain the start shape, whose value is -0.3; found the upper bound -1"]),
    "bounds of all without the gait": ([("bounds: {alpha1: [-pi/2, pi/2], alpha2: [-2, ~]}", "bounds: [0, @2, 3]"), ("[0, @2", "@[0, 2")],
                                       ["bounds: expected [low, high], found another list"]),
    "bounds as a number": ([("{alpha1: [-pi/2, pi/2], alpha2: [-2, ~]}", "@1")],
                           ["bounds: expected {alpha1: [low, high], ..} or [low, high], found '1'"]),
}
OTHERS = {
    "fewer starts than none": ([("starts: 24", "starts: @-1")], ["starts: expected an integer >= 0, found '-1'"]),
    "misspelt key": ([("starts: 24", "@start: 24")], ["unknown key 'start', did you mean 'starts'?"]),
}
METRICS = {
    "misspelt metric": ([("  seed: 7", "  metric: @identiy")], ["metric: expected bundle, identity or rows of expressions"]),
    "metric of one row": ([("  seed: 7", "  metric: @[[1, 0]]")], ["expected 2 rows of expressions"]),
    "metric of another's variables": ([("  seed: 7", "  metric: [[1, 0], [0, @beta1]]")], ["metric: unknown name `beta1`"]),
    "metric that is not symmetric": ([("  seed: 7", "  metric: [[1, @alpha1], [0, 1]]")], ["metric is not symmetric"]),
    "metric that is not positive": ([("  seed: 7", "  metric: @[[1, 0], [0, alpha1]]")],
                                    ["at alpha1 = ", "the cost metric is not positive definite: a change of alpha2"]),
    "what is added takes too much away": ([("  seed: 7", "  add: @[0, -1]")],
                                          ["at alpha1 = 0.5, alpha2 = -0.3: the cost metric is not positive definite"]),
}
NO_CROSSING = ("  no_crossing: true\n", "")
START_SHAPE = ("  start_shape: [0.5, -0.3]\n", "")
WITHOUT_BOUNDS = ("  bounds: {alpha1: [-pi/2, pi/2], alpha2: [-2, ~]}\n", "")
ALONE = {
    "the target is missing": ([("  " + TARGET + "\n", ""), ("  objective", "  @objective")], ["missing key 'target'"]),
    "optimum as a list": ([(PURCELL[PURCELL.index("\n  target"):], " @[1]\n")], ["expected a map"]),
    "optimum beside a space": ([("bundle: " + BUNDLE + "\n", "space: h3\n"), (PURCELL[PURCELL.index("gait"):PURCELL.index("integ")], ""), ("magnus", "lobatto"),
                                ("optimum:\n", "optimum: @{}\n"), (PURCELL[PURCELL.index("  target"):], "bodies: []\ntime: {end: 1}\n")],
                               ["`optimum` next to `space`: expected only one of them, because the shape of a gait"]),
    "optimum without a bundle": ([("bundle: " + BUNDLE + "\n", ""), (PURCELL[PURCELL.index("gait"):PURCELL.index("integ")], ""),
                                  ("optimum:", "optimum: @{}"), (PURCELL[PURCELL.index("\n  target"):], "\n")],
                                 ["the key `bundle` is missing"]),
    "the most of what has no amount": (
        [(TARGET, "target: @{element: [0.02, 0, 0.05]}"), ("objective: cost", "objective: efficiency")],
        ["`objective: efficiency` needs an amount: expected move, turn, or parts with exactly one number that is not 0"]),
    "the most of two amounts": (
        [(TARGET, "target: @{parts: {x: 0.02, y: 0.05}}"), ("objective: cost", "objective: target\n  length: 1")],
        ["`objective: target` needs an amount"]),
    "a distance of rotations": ([(BUNDLE, BALL), (TARGET, "target: {move: @1}"), NO_CROSSING, START_SHAPE, WITHOUT_BOUNDS],
                                ["move: so3 has no distance that is independent of the start of the cycle; expected one of turn, "
                                 "element, parts"]),
    "an angle beyond a turn": ([(BUNDLE, BALL), (TARGET, "target: {turn: @7}"), NO_CROSSING, START_SHAPE, WITHOUT_BOUNDS],
                               ["turn: expected an angle in (0, 2*pi), found 7"]),
    "numbers off the group": ([(BUNDLE, BALL), (TARGET, "target: {element: @[1, 1, 0, 0]}"), NO_CROSSING, START_SHAPE, WITHOUT_BOUNDS],
                              ["element: expected an element of the group, found numbers at a distance 0.293 from the group so3"]),
    "an angle of what does not turn": ([(BUNDLE, "{name: pmpy}"), (TARGET, "target: {turn: @1}"),
                                        ("corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]", "corners: [[5, 4], [6, 4], [6, 3]]"),
                                        NO_CROSSING, START_SHAPE, WITHOUT_BOUNDS],
                                       ["turn: r1 has no angle", "expected one of move, element, parts"]),
    "a distance in Heisenberg's group": ([(BUNDLE, HEISENBERG), (TARGET, "target: {move: @1}"), NO_CROSSING, START_SHAPE, WITHOUT_BOUNDS],
                                         ["move: heisenberg has no distance", "expected one of element, parts"]),
    "crossing without a drawing": ([(BUNDLE, HEISENBERG), (TARGET, "target: {parts: {z: 1}}"), ("no_crossing: true", "no_crossing: @true"),
                                    START_SHAPE, WITHOUT_BOUNDS],
                                   ["no_crossing: bundle expressions has no lines that could cross"]),
    "nothing is enclosed": ([(BUNDLE, ONE), NO_GAIT, (TARGET, "target: {move: 0.1}"), NO_CROSSING, START_SHAPE, WITHOUT_BOUNDS,
                             ("  target", "  @target")],
                            ["bundle expressions has one shape variable, bend, which is not a phase: every cycle has zero holonomy"]),
}


SNAKE = """\
curvebody: 1
bundle: {name: floating_snake}
gait: {polygon: {corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]}}
integrator: {name: hamilton_pontryagin, step: 0.05}
shape: {alpha1: {spring: {stiffness: 1}, drive: gait}, alpha2: gait}
optimum:
  objective: torque
  target: {parts: {theta: 0.3}}
  start_shape: [0, 0.5]
  end_shape: [0, 0.2]
  duration: 2
  torque: {alpha1: 1}
  starts: 4
"""
END = ("  end_shape: [0, 0.2]\n", "")
MOTIONS = {
    "negative duration": ([("duration: 2", "duration: @-2")], ["duration: expected a number > 0"]),
    "duration of a gait of least cost": (
        [("objective: torque", "objective: cost"), END, ("  torque: {alpha1: 1}\n", ""), ("duration: 2", "duration: @2")],
        ["`duration` applies only to `objective: torque` and `work`"]),
    "no duration and no gait": (
        [("  duration: 2\n", ""), (SNAKE[SNAKE.index("gait:"):SNAKE.index("integ")], ""),
         (SNAKE[SNAKE.index("shape:"):SNAKE.index("optimum")], ""), ("objective: torque", "objective: @torque"),
         ("step: 0.05}\n", "step: 0.05}\ntime: {end: 1}\n")],
        ["missing key 'duration': expected the duration of the motion in s"]),
    "end without a start": ([("  start_shape: [0, 0.5]\n", ""), ("end_shape: [0, 0.2]", "end_shape: @[0, 0.2]")],
                            ["`end_shape` without `start_shape`"]),
    "end of one number": ([("end_shape: [0, 0.2]", "end_shape: @[0]")], ["end_shape: expected a list of 2 numbers"]),
    "end outside the bounds": (
        [("  starts: 4\n", "  starts: 4\n  bounds: {alpha1: [-2, 2], alpha2: @[0.3, 2]}\n"),
         (SNAKE[SNAKE.index("gait:"):SNAKE.index("integ")], "gait: {polygon: {corners: [[1, 1], [-1, 1], [1, 0.5]]}}\n")],
        ["alpha2: expected bounds that contain the end shape, whose value is 0.2; found the lower bound 0.3"]),
    "torque of an unknown variable": ([("torque: {alpha1: 1}", "torque: {@alpha: 1}")],
                                      ["unknown shape variable 'alpha', did you mean 'alpha1'?"]),
    "torque that is not positive": ([("torque: {alpha1: 1}", "torque: {alpha1: @0}")],
                                    ["alpha1: expected a largest torque > 0, found 0"]),
    "torques as a list": ([("torque: {alpha1: 1}", "torque: @[1, 1]")],
                          ["torque: expected {alpha1: 0.5, ..} or one number for all shape variables, found a list"]),
    "least work without all torques": ([("objective: torque", "objective: work"), ("torque: {alpha1: 1}", "torque: @{alpha1: 1}")],
                                       ["`objective: work` without a largest torque of alpha2"]),
    "metric of torques": ([("  starts: 4\n", "  metric: @identity\n")], ["a metric with `objective: torque` or `work`"]),
    "flow of torques": ([("  starts: 4\n", "  method: @flow\n")], ["method: expected newton"]),
    "friction of a sought motion": ([("drive: gait", "friction: @0.1")], ["`friction` of alpha1 next to `objective: torque`"]),
    "drive of a sought motion": ([("drive: gait", 'drive: @"sin(t)"')], ["`drive` of alpha1 next to `objective: torque`"]),
    "torques against drag": ([("floating_snake", "purcell"), ("hamilton_pontryagin", "gauss"), ("objective: torque", "objective: @torque")],
                             ["bundle purcell has drag and no inertia: expected cost, efficiency or target"]),
    "parts of a cycle": ([("  start_shape: [0, 0.5]\n", ""), END, ("  objective", "  @objective")],
                         ["missing key 'start_shape': expected the shape at which the motion begins at rest"]),
    "no target and no end": ([END, ("  target: {parts: {theta: 0.3}}\n", ""), ("  objective", "  @objective")], ["missing key 'target'"]),
}


class BadOptima(Refusals):
    def refused(self, words, code, begins, expected):
        super().refused(words, code, begins, expected)
        if words[0] == "check" and b"bundle:" in self.read(words[1]):  # `connection` reads this key, too
            done = self.call("gait", words[1], "connection", "--at", "0,0")
            self.assertEqual((done.returncode, done.stderr.splitlines()[0][:len(begins)]), (2, begins))

    def test_good_as_it_stands(self):
        self.write("good.yaml", PURCELL)
        self.good("check", "good.yaml")
        self.good("gait", "good.yaml", "holonomy")
        self.good("run", "good.yaml", "-o", "out.h5", "--quiet")

    def test_each(self):
        self.check_cases(PURCELL, TARGETS | SOUGHT | BASES | BOUNDS | OTHERS | METRICS | ALONE)

    def test_motions_with_inertia(self):
        self.write("good.yaml", SNAKE)
        self.good("check", "good.yaml")
        self.check_cases(SNAKE, MOTIONS)
        wrong = self.call("gait", "good.yaml", "optimality")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("objective: torque and work are for `optimize` only", wrong.stderr)
        self.write("sweep.yaml", "curvebody: 1\nsweep:\n  scenario: good.yaml\n  task: family\n  over:\n"
                   "    - {key: optimum.duration, values: [2, 3]}\n  collect: {cost: cost}\n")
        wrong = self.call("sweep", "sweep.yaml", "-o", "sweep.h5")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("objective: torque and work are for `optimize` only", wrong.stderr)
        self.write("cat.yaml", "curvebody: 1\nbundle: falling_cat\noptimum: {objective: torque, target: {turn: 0.3}, duration: 0,\n"
                   "  start_shape: [0], end_shape: [2]}\n")
        wrong = self.call("gait", "cat.yaml", "optimize")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("duration: expected a number > 0", wrong.stderr)
        self.assertNotIn("missing key", wrong.stderr)
        wrong = self.call("gait", "cat.yaml", "optimize", "--set", "optimum.duration=2")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("every motion between two shapes has the same displacement", wrong.stderr)
        wrong = self.call("gait", "good.yaml", "optimize", "-o", "out.h5")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("--output: error: expected a file name that ends with .yaml", wrong.stderr)

    def test_two_at_once(self):
        groups = TARGETS, SOUGHT, BOUNDS, OTHERS, METRICS
        for one, other in itertools.combinations(groups, 2):
            pairs = [(a, b) for a in one.values() for b in other.values()]
            for (edits, expected), (more, beside) in pairs[::5]:
                text = PURCELL
                if any("gait" in old for old, _ in edits + more):
                    continue
                with self.subTest((edits, more)):
                    places = []
                    for old, new in edits + more:
                        self.assertIn(old, text)
                        text = text.replace(old, new, 1)
                    self.assertEqual(text.count("@"), 2)
                    first, line, column = taken(text)
                    places.append((line, column))
                    text, line, column = taken(first)
                    places.append((line, column))
                    self.write("bad.yaml", text)
                    done = self.call("check", "bad.yaml")
                    told = done.stderr.splitlines()
                    self.assertEqual(len(told), 2, done.stderr)
                    for (line, column), said in zip(places, told):
                        self.assertTrue(said.startswith(f"bad.yaml:{line}:{column}: error: "), (places, told))
                    for word in expected + beside:
                        self.assertIn(word, done.stderr)



if __name__ == "__main__":
    main()
