#!/usr/bin/python3
"""Wrong gaits in a bundle give errors: bundles, gaits, starts, times, records; and shapes that are singular on the path."""
import os

from command import main
from refusals import Refusals

PURCELL = """\
curvebody: 1
bundle: {name: purcell, links: 3}
gait: {polygon: {corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]}, repeat: 3}
start: {group: [0, 0, 0]}
integrator: {name: magnus, step: 0.05}
time: {end: 1}
record: {observables: [connection]}
"""
GAIT = "polygon: {corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]}"

# claim: edits of PURCELL, expected words
CASES = {
    # the kind of scenario
    "fluid beside a bundle": ([("start:", "fluid: @{medium: water}\nstart:")], ["`fluid` next to `bundle`"]),
    "space beside a bundle": ([("start:", "space: @h3\nstart:")], ["`space` next to `bundle`"]),
    "bodies beside a bundle": ([("start:", "bodies: @[]\nstart:")], ["`bodies` next to `bundle`"]),
    "gait beside a fluid": ([("bundle: {name: purcell, links: 3}", "fluid: {medium: water}"), ("gait: ", "gait: @"),
                             ("start: {group: [0, 0, 0]}\n", "")],
                            ["`gait` next to `fluid`: expected only one of them, because the shape of a gait"]),
    "gait beside a space": ([("bundle: {name: purcell, links: 3}", "space: h3"), ("gait: ", "gait: @")],
                            ["`gait` next to `space`"]),
    "gait without a bundle": ([("bundle: {name: purcell, links: 3}\n", ""), ("gait: ", "gait: @")],
                              ["the key `bundle` is missing"]),
    "no gait": ([("gait: {" + GAIT + ", repeat: 3}\n", ""), ("curve", "@curve")], ["the key `gait` is missing"]),
    "no integrator": ([("integrator: {name: magnus, step: 0.05}\n", ""), ("curve", "@curve")],
                      ["the key `integrator` is missing"]),
    # the bundle
    "misspelt bundle": ([("purcell", "@purcel")], ["unknown bundle 'purcel', did you mean 'purcell'?"]),
    "unknown bundle": ([("purcell", "@fish")], ["unknown bundle 'fish', expected one of: "]),
    "misspelt parameter": ([("links: 3", "@link: 3")], ["unknown key 'link', did you mean 'links'?"]),
    "too many links": ([("links: 3", "links: @100")], ["[2, 12]"]),
    "bundle without a name": ([("{name: purcell, links: 3}", "@{links: 3}")], ["the key `name` is missing"]),
    "bundle as a list": ([("{name: purcell, links: 3}", "@[purcell]")], ["expected the name of a bundle"]),
    "bundle that needs more than its name": ([("{name: purcell, links: 3}", "@expressions")], ["missing key 'group'", "missing key 'shape'", "missing key 'A'"]),
    "window the wrong way round": (
        [("links: 3", "coordinates: {minimum_perturbation: @{low: [1, 1], high: [-1, 2], points: [9, 9]}}")],
        ["alpha1: expected low below high, found low 1 and high -1"]),
    "window of one number": (
        [("links: 3", "coordinates: {minimum_perturbation: {low: @[1], high: [2, 2], points: [9, 9]}}")],
        ["low: expected a list of 2 numbers"]),
    "misspelt coordinates": ([("links: 3", "coordinates: {@minimum: {}}")], ["unknown key 'minimum'"]),
    "table that is not there": ([("{name: purcell, links: 3}", "{name: samples, file: good.obj, degree: @4}")],
                                ["expected 3 or 5, found 4"]),
    "surface without poses": ([("{name: purcell, links: 3}", "@{name: surface_drag, shape: ellipsoid}")],
                              ["expected `poses`, or `variables` and `motion`"]),
    "motion of an unknown variable": (
        [("{name: purcell, links: 3}",
          "{name: surface_drag, shape: ellipsoid, variables: [a], motion: {y: Y + @b*X}}")],
        ["unknown name `b`"]),
    "variable that is a coordinate of the rest shape": (
        [("{name: purcell, links: 3}",
          "{name: surface_drag, shape: ellipsoid, variables: [a, @X], motion: {y: Y + a*X}}")],
        ["variables: the name 'X' is given twice: it is already a coordinate or variable"]),
    "variable that is a parameter": (
        [("{name: purcell, links: 3}",
          "{name: surface_drag, shape: ellipsoid, parameters: {a: 1}, variables: [b, @a], motion: {y: Y + a*X}}")],
        ["variables: the name 'a' is given twice: it is already a parameter"]),
    "parameter that would hide a coordinate": (
        [("{name: purcell, links: 3}",
          "{name: surface_drag, shape: ellipsoid, parameters: {X: 1}, variables: [a], motion: {x: a*@X}}")],
        ["`X` is both a variable and a parameter here"]),
    "motion beside poses": (
        [("{name: purcell, links: 3}",
          "{name: immersed, shape: ellipsoid, variables: [a], poses: {y: Y}, motion: @{y: Y}}")],
        ["`motion` next to `poses`"]),
    "wall that its form does not see": (
        [("{name: purcell, links: 3}",
          "@{name: immersed, shape: {name: ellipsoid, resolution: 12}, density: 900, fluid: {density: 998}, "
          "variables: [a], motion: {y: Y*(1 + a)}, added_mass: {name: exact, wall: rigid, wall_height: -9}}"),
         ("[[1, 1], [-1, 1], [-1, -1], [1, -1]]", "[[1], [-1], [0]]"), ("[0, 0, 0]", "[0, 0, 0, 1, 0, 0, 0]")],
        ["near a wall depends on the position of the body, but the form of a bundle may not"]),
    # the flow
    "misspelt flow": ([("start:", "flow: {@unifrom: [1, 0, 0]}\nstart:")], ["did you mean 'uniform'?"]),
    "stream of two numbers": ([("start:", "flow: {uniform: @[1, 0]}\nstart:")],
                              ["expected a list of three, along x, y, z"]),
    "no flow": ([("start:", "flow: @[]\nstart:")], ["expected a flow, or a list of them"]),
    "flow that is not linear": ([("start:", "flow: @{velocity: [y^2, 0, 0]}\nstart:")],
                                ["at (1, 0.3, -0.7), t = 0 is not that of a linear flow"]),
    "flow that depends on the time": ([("start:", "flow: @{velocity: [\"sin(t)\", 0, 0]}\nstart:")],
                                      ["t = 1.41421 is not that of a linear flow"]),
    "flow with a short period": ([("start:", "flow: @{velocity: [\"cos(200*pi*t)\", 0, 0]}\nstart:")],
                                 ["t = 1.41421 is not that of a linear flow"]),
    "flow with a divergence": ([("start:", "flow: {shear: {gradient: @[[1, 0, 0], [0, 0, 0], [0, 0, 0]]}}\nstart:")],
                               ["expected a flow without divergence"]),
    "flow out of the plane": ([("start:", "flow: @{uniform: [0, 0, 1]}\nstart:")],
                              ["moves on the plane z = 0: expected a flow that stays on it"]),
    "flow without a fluid": ([("{name: purcell, links: 3}", "floating_snake"), ("start:", "flow: @{uniform: [1, 0, 0]}\nstart:")],
                             ["bundle floating_snake is not in a fluid"]),
    "shear of a perfect fluid": (
        [("{name: purcell, links: 3}", "perfect_fish"),
         ("start:", "flow: @{shear: {gradient: [[0, 1, 0], [0, 0, 0], [0, 0, 0]]}}\nstart:")],
        ["bundle perfect_fish is in a perfect fluid", "expected {uniform: [..]}"]),
    "flow of links with inertia": (
        [("{name: purcell, links: 3}", "{name: links, of: inertia, shape: [a, b], links: [{length: 1}, {length: 1, parent: 0, at: 1, angle: a}, {length: 1, parent: 0, angle: b}]}"),
         ("start:", "flow: @{uniform: [1, 0, 0]}\nstart:")], ["bundle links is not in a fluid"]),
    # the gait
    "misspelt kind": ([("polygon", "@polygn")], ["unknown key 'polygn', did you mean 'polygon'?"]),
    "no kind": ([("{" + GAIT + ",", "@{")], ["expected a kind of gait: arcs, expressions, fourier, loop, polygon, samples, sequence or spline"]),
    "arcs without ends": ([(GAIT, "arcs: @{points: [[[1, 1], [0, 1], [1, 1]]]}")],
                          ["expected `ends` of the arcs, times from 0 to 1"]),
    "arcs without points": ([(GAIT, "arcs: @{ends: [0, 1]}")], ["expected `points`, a list of arcs"]),
    "too many ends": ([(GAIT, "arcs: {ends: @[0, 0.5, 1], points: [[[1, 1], [0, 1], [1, 1]]]}")],
                      ["expected 2 times for 1 arc, one more than arcs, found 3"]),
    "ends before the end": ([(GAIT, "arcs: {ends: @[0, 0.9], points: [[[1, 1], [0, 1], [1, 1]]]}")],
                            ["expected ends from 0 to 1, found 0 to 0.9"]),
    "an arc of one point": ([(GAIT, "arcs: {ends: [0, 1], points: [@[[1, 1]]]}")],
                            ["expected at least 2 points on an arc, found 1"]),
    "arcs of two degrees": (
        [(GAIT, "arcs: {ends: [0, 0.5, 1], points: [[[1, 1], [0, 1]], @[[0, 1], [1, 0], [1, 1]]]}")],
        ["expected 2 points, the same number as on the other arcs, found 3"]),
    "arcs that do not meet": ([(GAIT, "arcs: {ends: [0, 0.5, 1], points: @[[[1, 1], [0, 1]], [[0, 2], [1, 1]]]}")],
                              ["arc 0 of a gait ends with 1 in variable 1, but the next begins with 2"]),
    "an arc of numbers": ([(GAIT, "arcs: {ends: [0, 1], points: [@1]}")], ["expected a list of points"]),
    "two kinds": ([("polygon", "fourier: {cosine: [[1, 0]]}, polygon"), ("polygon: ", "polygon: @")],
                  ["`polygon` next to `fourier`: expected only one kind of gait"]),
    "gait as a list": ([("{" + GAIT + ", repeat: 3}", "@[1, 2]")], ["expected a gait"]),
    "too few variables": ([("[-1, 1]", "@[-1]")],
                          ["corner 2: expected a list of 2 numbers, one per shape variable (alpha1, alpha2), found 1"]),
    "too many variables": ([("[-1, 1]", "@[-1, 1, 0]")], ["corner 2: expected a list of 2 numbers", "found 3"]),
    "corner as a number": ([("[-1, 1]", "@5")], ["corner 2: expected a list of 2 numbers", "found '5'"]),
    "corner that is no number": ([("[-1, 1]", "[-1, @x]")], ["x"]),
    "one corner": ([(GAIT, "polygon: {corners: @[[1, 1]]}")], ["expected at least 2 corners, found 1"]),
    "corners all the same": ([(GAIT, "polygon: {corners: @[[1, 1], [1, 1]]}")], ["are all the same"]),
    "no corners": ([(GAIT, "polygon: @{}")], ["expected `corners`"]),
    "harmonic of one variable": ([(GAIT, "fourier: {cosine: [[1, 0]], sine: [@[1]]}")],
                                 ["harmonic 1: expected a list of 2 numbers"]),
    "mean of one variable": ([(GAIT, "fourier: {mean: @[1], sine: [[1, 0]]}")], ["mean: expected a list of 2 numbers"]),
    "no harmonics": ([(GAIT, "fourier: @{mean: [0, 0]}")], ["expected `cosine` or `sine`"]),
    "two points": ([(GAIT, "spline: {points: @[[0, 0], [1, 0]]}")], ["expected at least 3 points, found 2"]),
    "samples without times": ([(GAIT, "samples: @{points: [[0, 0], [1, 0], [1, 1]]}")], ["expected `times`"]),
    "times that descend": ([(GAIT, "samples: {points: [[0, 0], [1, 0], [1, 1]], times: [0, 0.5, @0.4]}")],
                           ["times: expected ascending times, found 0.4 after 0.5"]),
    "times beyond the cycle": ([(GAIT, "samples: {points: [[0, 0], [1, 0], [1, 1]], times: [0, 0.5, @1.4]}")],
                               ["expected times in [0, 1], as fractions of the cycle, found 1.4"]),
    "too few times": ([(GAIT, "samples: {points: [[0, 0], [1, 0], [1, 1]], times: @[0, 0.5]}")],
                      ["expected 3 times, one per point, found 2"]),
    "samples that do not close": ([(GAIT, "samples: {points: @[[0, 0], [1, 0], [1, 1], [2, 0]], times: [0, 0.3, 0.6, 1]}")],
                                  ["a point at time 1 must repeat the first point"]),
    "expression of an unknown name": ([(GAIT, "expressions: {alpha1: sin(tau*t), alpha2: cos(tau*@s)}")],
                                      ["unknown name `s`"]),
    "expression of another variable": ([(GAIT, "expressions: {alpha1: sin(tau*t), @alpha3: t}")],
                                       ["unknown shape variable 'alpha3', did you mean 'alpha1'?"]),
    "expression that is missing": ([(GAIT, "expressions: @{alpha1: sin(tau*t)}")],
                                   ["the shape variable `alpha2` is missing"]),
    "open gait": ([("{" + GAIT, "@{expressions: {alpha1: t, alpha2: sin(tau*t)}")], ["alpha1", "1"]),
    "breaks that descend": ([(GAIT, "expressions: {alpha1: 0, alpha2: 0}, breaks: [0.5, @0.2]")],
                            ["expected ascending times"]),
    "breaks of a polygon": ([("repeat", "breaks: @[0.5], repeat")], ["`breaks` applies only to `expressions`"]),
    "loop of a variable without a period": ([(GAIT, "loop: @alpha1")], ["`alpha1` is not periodic"]),
    "loop of an unknown variable": ([(GAIT, "loop: @alpa1")], ["did you mean 'alpha1'?"]),
    "sequence of gaits that begin elsewhere": (
        [(GAIT, "sequence: @[{fourier: {cosine: [[1, 0]]}}, {fourier: {cosine: [[2, 0]]}}]")], ["of a sequence"]),
    "sequence with a wrong part": ([(GAIT, "sequence: [{" + GAIT + "}, {polygon: {corners: @3}}]")],
                                   ["expected a list of corners"]),
    "period of a part": ([(GAIT, "sequence: [{" + GAIT + ", period: @2}]")], ["`period` applies only to the complete gait"]),
    "pace of an unknown name": ([("repeat", "pace: t + @r, repeat")], ["unknown name `r`"]),
    "pace that does not arrive": ([("repeat", "pace: @t/2, repeat")], ["1"]),
    "start beyond the cycle": ([("repeat", "start: @1.5, repeat")], ["[0, 1]"]),
    "scale of three": ([("repeat", "scale: @[1, 2, 3], repeat")], ["scale: expected a list of 2 numbers"]),
    "no cycle": ([("repeat: 3", "repeat: @0")], [">= 1"]),
    "no time for a cycle": ([("repeat: 3", "period: @0")], ["> 0"]),
    # start, integrator, time, record
    "group of two numbers": ([("[0, 0, 0]", "@[0, 0]")],
                             ["group: expected a list of 3 numbers of se2 (x, y, theta), found 2"]),
    "group as a number": ([("[0, 0, 0]", "@7")], ["group: expected a list of 3 numbers of se2", "found '7'"]),
    "element off the group": ([("{name: purcell, links: 3}", "rolling_ball"), ("[0, 0, 0]", "@[1, 1, 0, 0]")],
                              ["from the group so3"]),
    "misspelt start": ([("{group:", "{@grup:")], ["unknown key 'grup', did you mean 'group'?"]),
    "method of particles": ([("magnus", "@lobatto")], ["integrator `lobatto` is for Hamiltonian systems, not for paths in "
                                                      "a group; expected one of `magnus`"]),
    "method of bodies": ([("magnus", "@hamilton_pontryagin")], ["is for discrete Lagrangians on a Lie group, not for paths in a group"]),
    "order 5": ([("step: 0.05", "order: @5, step: 0.05")], ["expected one of 4, 6"]),
    "retries": ([("step: 0.05", "step: 0.05, retries: @3")], ["`retries` does not apply to gaits"]),
    "no step": ([(", step: 0.05", ""), ("integrator: ", "integrator: @")], ["missing key 'step'"]),
    "end before the start": ([("{end: 1}", "{start: 2, end: @1}")], ["the end 1 is before the start 2"]),
    "misspelt observable": ([("[connection]", "[@conection]")],
                            ["unknown observable 'conection', did you mean 'connection'?"]),
    "observable of particles": ([("[connection]", "[@separation]")], ["unknown observable 'separation'"]),
    "chart of particles": ([("{observables: [connection]}", "{chart: @polar}")], ["applies only to scenarios with particles"]),
}

BALLS = """\
curvebody: 1
bundle:
  name: immersed
  space: s3
  shape:
    - {name: left, shape: {name: ball, radius: 0.1, resolution: 8}}
    - {name: right, shape: {name: ball, radius: 0.1, resolution: 8}}
  variables: [l]
  motion: {parts: [{part: left, x: X, shift: [l, "0", "0"]}, {part: right, x: X, shift: ["0", l, "0"]}]}
  density: 1
  fluid: {density: 1}
gait: {polygon: {corners: [[0.3], [1]]}}
integrator: {name: magnus, step: 0.125}
"""

# claim: edits of BALLS, expected words
CURVED = {
    "a space that does not turn bodies": ([("space: s3", "space: @nil")],
                                          ["space: expected e3, s3 or h3, whose isometries can move a body"]),
    "a surface as a space": ([("space: s3", "space: {name: @h2}")], ["space: expected e3, s3 or h3"]),
    "unknown space": ([("space: s3", "space: @s4")], ["unknown space 's4'"]),
    "a chart of particles": ([("space: s3", "space: {name: s3, chart: @polar}")],
                             ["space: expected no `chart`: set `chart` of the bundle instead"]),
    "misspelt chart": ([("space: s3", "space: s3\n  chart: @gnomnic")],
                       ["chart: expected one of exponential, gnomonic, found 'gnomnic', did you mean 'gnomonic'?"]),
    "shift of an unknown part": ([("part: left, x: X", "part: lft, x: @X")], ["unknown part 'lft', did you mean 'left'?"]),
    "shift of two numbers": ([("[l, \"0\", \"0\"]", "@[l, 0]")],
                             ["shift: expected [x, y, z], three expressions of the variables"]),
    "shift as a number": ([("[l, \"0\", \"0\"]", "@l")], ["shift: expected [x, y, z]"]),
    "shift by an unknown variable": ([("[l, \"0\"", "[l, @k")], ["unknown name `k`"]),
    "misspelt shift": ([("shift: [l", "@shft: [l")], ["unknown key 'shft', did you mean 'shift'?"]),
    "body that meets its antipode": ([("radius: 0.1", "radius: 4"), ("    - {name: left", "    @- {name: left")],
                                     ["is 4 from the origin: the exponential chart of the space of curvature 1 expects distances below 3.14159"]),
    "body beyond the chart": ([("space: s3", "space: h3\n  chart: gnomonic"), ("radius: 0.1", "radius: 1.5"),
                               ("    - {name: left", "    @- {name: left")],
                              ["the gnomonic chart of the space of curvature -1 expects distances below 1"]),
    "body that grows in a sphere": ([("  name: immersed", "  @name: immersed"), ("x: X,", "x: X*(1 + l),")],
                                    ["the volume changes by ", " m^3 per unit of l, ", "of the volume that the surface sweeps"]),
    "sheet": ([("density: 1\n", "density: 1\n  thickness: @0.01\n")], ["the body is closed"]),
    "added mass of flat space": ([("  name: immersed", "  @name: immersed"),
                                  ("fluid: {density: 1}\n", "fluid: {density: 1}\n  added_mass: ellipsoid\n")],
                                 ["the added mass of the fluid model `ellipsoid` is valid only in flat space: expected exact or local in a space of curvature 1"]),
}

SNAKE = """\
curvebody: 1
bundle: kinematic_snake
gait: {polygon: {corners: [[1, 0], [1, 2], [2, 2], [2, 0]]}}
integrator: {name: magnus, step: 0.05, error: 1e-10}
"""


class BadGaits(Refusals):
    def test_gaits(self):
        self.check_cases(PURCELL, CASES)

    def test_gaits_in_curved_spaces(self):
        self.check_cases(BALLS, CURVED)

    def test_shift_that_reaches_the_antipode_on_the_way(self):
        self.write("far.yaml", BALLS.replace("[[0.3], [1]]", "[[0.3], [4]]"))
        done = self.call("run", "far.yaml", "-o", "far.h5")
        self.assertEqual(done.returncode, 1, done.stderr)
        for word in ("at time 0.375", "bundle immersed at l = 3.17924904",
                     "the shift (3.17925, 0, 0) reaches the antipode of the origin", "expected a finite shift of a length below 3.14159", 
                     "the results so far are in far.h5"):
            self.assertIn(word, done.stderr)

    def test_shape_that_is_singular_on_the_way(self):
        self.write("snake.yaml", SNAKE)
        done = self.call("run", "snake.yaml", "-o", "snake.h5")
        self.assertEqual(done.returncode, 1, done.stderr)
        for word in ("at time 0.15", "step 3", "bundle kinematic_snake at alpha1 = 1", "alpha2 = ",
                     "try a gait that keeps away", "the results so far are in snake.h5"):
            self.assertIn(word, done.stderr)
        self.assertIn("4 rows", self.good("repair", "snake.h5").stdout)
        for words in ["holonomy"], ["path", "-o", "path.h5"]:
            done = self.call("gait", "snake.yaml", *words)
            self.assertEqual(done.returncode, 1, done.stderr)
            for word in "kinematic_snake at alpha1 = 1", "alpha2 = ", "try a gait that keeps away from this shape":
                self.assertIn(word, done.stderr)
            self.assertFalse(os.path.exists(self.path("path.h5")))
            self.assertFalse(os.path.exists(self.path("path.h5.part")))

    def test_pole_that_no_step_meets(self):
        """The circle crosses alpha1 = alpha2 between all nodes."""
        self.write("snake.yaml", SNAKE.replace("polygon: {corners: [[1, 0], [1, 2], [2, 2], [2, 0]]}",
                                               "fourier: {mean: [0.2, 0], cosine: [[1, 0]], sine: [[0, 1]]}"))
        self.write("plain.yaml", SNAKE.replace("polygon: {corners: [[1, 0], [1, 2], [2, 2], [2, 0]]}",
                                               "fourier: {mean: [0.2, 0], cosine: [[1, 0]], sine: [[0, 1]]}")
                   .replace(", error: 1e-10", ""))
        for words in (["holonomy"], ["holonomy", "--error", "1e-3"], ["holonomy", "--error", "1e-10"], ["optimality"],
                      ["path", "-o", "path.h5"], ["path", "-o", "path.h5", "--error", "1e-4"]):
            with self.subTest(" ".join(words)):
                done = self.call("gait", "snake.yaml", *words)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, r"kinematic_snake at alpha1 = 0\.(8|79999)\d*, alpha2 = 0\.(8|79999)")
                self.assertNotIn("converge to an error of 0 ", done.stderr)
        for name in "snake.yaml", "plain.yaml":
            done = self.call("run", name, "-o", name + ".h5")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, r"kinematic_snake at alpha1 = 0\.(8|79999)\d*, alpha2 = 0\.(8|79999)")
        told = self.good("gait", "snake.yaml", "curvature", "-o", "c.h5").stderr
        self.assertRegex(told, "warning: the window has singular shapes between nodes, [^\\n]*: the connection is singular or not smooth at this shape\\n")  # without a gait, and without a time
        self.assertIn("warning: the gait passes a singular shape and has no holonomy", told)
        told = self.good("gait", "snake.yaml", "curvature", "--window=0.1:1,-1:-0.1", "-o", "d.h5").stderr
        self.assertNotIn("the window has singular shapes", told)

    def test_no_holonomy_in_a_flow(self):
        self.write("flow.yaml", PURCELL.replace("start:", "flow: {uniform: [1, 0, 0]}\nstart:"))
        for words in ["holonomy"], ["optimality"], ["path", "-o", "x.h5"]:
            done = self.call("gait", "flow.yaml", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertTrue(done.stderr.startswith("flow.yaml:4:7: error: `flow`: holonomies"), done.stderr)

    def test_command(self):
        self.write("p.yaml", PURCELL)
        self.write("shape.yaml", "curvebody: 1\nbundle: pmpy\n")
        self.write("one.yaml", "curvebody: 1\nbundle: falling_cat\n")
        for words, code, expected in (
                (["p.yaml"], 2, "usage: curvebody gait"),
                (["p.yaml", "holonmy"], 2, "did you mean `holonomy`?"),
                (["p.yaml", "curvature"], 2, "expected its name after -o"),
                (["p.yaml", "holonomy", "--jsn"], 2, "did you mean `--json`?"),
                (["none.yaml", "holonomy"], 3, "none.yaml"),
                (["shape.yaml", "holonomy"], 2, "the key `gait` is missing"),
                (["shape.yaml", "connection"], 2, "--at: error: expected a shape"),
                (["shape.yaml", "connection", "--at", "1"], 2, "expected 2 numbers"),
                (["shape.yaml", "connection", "--at=-1,2"], 1, "l = -1"),
                (["shape.yaml", "curvature", "-o", "x.h5"], 2, "--window: error: expected LO:HI,LO:HI"),
                (["one.yaml", "curvature", "-o", "x.h5"], 2, "only one shape variable, so it has no curvature"),
                (["p.yaml", "curvature", "-o", "x.h5", "--grid", "51"], 2, "--grid: error: expected two numbers"),
                (["p.yaml", "curvature", "-o", "x.h5", "--grid", "1x1"], 2, "--grid: error: expected two numbers"),
                (["p.yaml", "curvature", "-o", "x.h5", "--window", "1:-1,0:1"], 2, "LO:HI,LO:HI with LO < HI"),
                (["p.yaml", "curvature", "-o", "x.h5", "--plane", "alpha1,alfa2"], 2, "did you mean `alpha2`?"),
                (["p.yaml", "curvature", "-o", "x.h5", "--plane", "alpha1,alpha1"], 2, "two different"),
                (["p.yaml", "curvature", "-o", "x.h5", "--coordinates", "best"], 2, "minimum_perturbation"),
                (["p.yaml", "curvature", "-o", "none/x.h5"], 3, "none/x.h5"),
                (["p.yaml", "path", "-o", "x.h5", "--times", "1"], 2, "--times: error: expected a whole number from 2"),
                (["p.yaml", "holonomy", "--error", "-1"], 2, ""),
                (["p.yaml", "holonomy", "--set", "bundle.links=1"], 2, "--set bundle.links=1:1:14: error: ")):
            with self.subTest(" ".join(words)):
                done = self.call("gait", *words)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(expected, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertFalse(os.path.exists(self.path("x.h5")))


if __name__ == "__main__":
    main()
