#!/usr/bin/python3
"""Bodies in a fluid whose shape follows a gait: a gait from the file that `gait .. optimize -o` writes, the resolved
scenario, a run that is resumed, and wrong keys."""
import json

import h5py
import numpy as np

from command import main
from refusals import Refusals

BUNDLE = """\
curvebody: 1
bundle:
  name: immersed
  shape: {name: ellipsoid, resolution: 8}
  variables: [a, b]
  parameters: {k: 0.3}
  motion: {y: "Y + a*X^2 + k*b*X*Z", z: "Z + k*a*X*Y + b*X^2"}
  density: 900
  fluid: {density: 998}
gait: {fourier: {cosine: [[0.4, 0]], sine: [[0, 0.4]]}, period: 2}
integrator: {name: magnus, step: 0.1}
"""
BODY = """\
curvebody: 1
fluid: {medium: {density: 998}, gravity: [0, 0, 0]}
bodies:
  - name: swimmer
    shape: {name: ellipsoid, resolution: 8}
    density: 900
    drag: false
    poses: {variables: [a, b], y: "Y + a*X^2 + 0.3*b*X*Z", z: "Z + 0.3*a*X*Y + b*X^2", gait: {polygon: {corners: [[0.4, 0], [0, 0.4], [-0.4, 0]]}, period: 2}}
    motion: {momentum: zero}
integrator: {name: hamilton_pontryagin, step: 0.05}
time: {end: 2}
"""
GAIT = "gait: {polygon: {corners: [[0.4, 0], [0, 0.4], [-0.4, 0]]}, period: 2}"
POSES = '{variables: [a, b], y: "Y + a*X^2 + 0.3*b*X*Z", z: "Z + 0.3*a*X*Y + b*X^2", ' + GAIT + "}"

# claim: edits of BODY, expected words
CASES = {
    "variables without a gait": ([(", " + GAIT, ""), ("variables: [", "variables: @[")],
                                 ["expected `gait`, which the shape variables follow"]),
    "gait alone": ([(POSES, "@{" + GAIT + "}")], ["expected `variables` and x, y, z of the body's surface"]),
    "misspelt kind": ([("polygon", "@polygn")], ["did you mean 'polygon'?"]),
    "corner of one number": ([("[0, 0.4]", "@[0.4]")], ["expected a list of 2 numbers, one per shape variable (a, b)"]),
    "number of cycles": ([("period: 2}", "period: 2, repeat: @3}")], ["a body repeats its gait until the run ends"]),
    "negative period": ([("period: 2}", "period: @-2}")], ["> 0"]),
    "open gait": ([(GAIT, 'gait: @{expressions: {a: "t", b: "0"}}')],
                  ["the gait is open in bundle poses: a is 0 at its start and 1 at its end"]),
    "unknown name in a motion": ([('"Y + a*X^2 + 0.3*b*X*Z"', '"Y + @c*X^2"')], ["unknown name `c`"]),
    "variable with the name of a coordinate": ([("[a, b]", "[a, @X]")], ["the name 'X' is given twice"]),
    "too many variables": ([("[a, b]", "@[a, b, c, d, e, f, g, h, i]")], ["1 to 8 names"]),
    "period of an unknown variable": ([("variables: [a, b]", "variables: [a, b], period: {@c: 1}")],
                                      ["unknown key 'c'"]),
    "loop of a variable without a period": ([(GAIT, "gait: {loop: @a}")], ["period"]),
    "variables next to files": ([(POSES, '{@variables: [a], files: "p-#.obj", step: 0.1, ' + GAIT + "}")],
                                ["unknown key 'variables'"]),
    "file that is not there": ([(GAIT, "gait: {file: @none.yaml}")], ["none.yaml"]),
    "gait of a chain": ([(POSES, "{gait: {file: @chain.yaml}}")],
                        ["the gait is one of the bundle `purcell`, which has no surface: expected a gait of the "
                         "bundles immersed or surface_drag"]),
    "file with the arrays of a search": ([(GAIT, "gait: {file: @best.h5}")], ["optimize -o best.yaml"]),
    "scenario without a gait": ([(GAIT, "gait: {file: @body.yaml}")],
                                ["expected a scenario with `bundle` and with a `gait`"]),
    "two motions at the start": ([("momentum: zero", "momentum: zero, spin: @[0, 0, 1]")],
                                 ["`spin` next to `momentum: zero`"]),
    "momentum with a coupling": ([("gravity: [0, 0, 0]", "gravity: [0, 0, 0], coupling: exact"),
                                  ("momentum: zero", "momentum: @zero")], ["only to a body alone"]),
    "another momentum": ([("momentum: zero", "momentum: @one")], ["given, zero"]),
}


class GaitPoses(Refusals):
    def setUp(self):
        super().setUp()
        self.write("bundle.yaml", BUNDLE)
        self.write("body.yaml", BODY)
        self.write("chain.yaml", "curvebody: 1\nbundle: purcell\ngait: {fourier: {cosine: [[1, 0]], sine: [[0, 1]]}}\n")

    def end(self, name):
        with h5py.File(self.path(name)) as record:
            return record["pose"][-1, 0]

    def test_refused(self):
        self.check_cases(BODY, CASES)

    def test_gait_in_a_bundle_scenario_only(self):
        text = BUNDLE.replace("  variables: [a, b]\n", "")
        self.write("bad.yaml", text.replace("motion: {", "poses: {gait: {loop: phase}, "))
        self.refused(["run", "bad.yaml", "-o", "out.h5"], 2, "bad.yaml:6:", ["expected the key `gait` of the scenario"])

    def test_best_gait_of_a_search(self):
        """The body performs the gait in the file, with the motion of that bundle's surface; it moves as the bundle."""
        self.good("gait", "bundle.yaml", "optimize", "--turn", "0.02", "--starts", "0", "-o", "best.yaml")
        g = self.good("gait", "best.yaml", "holonomy", "--json").stdout
        import json
        g = np.array(json.loads(g)["g"])
        self.write("swim.yaml", BODY.replace(POSES, "{gait: {file: best.yaml}}"))
        self.good("run", "swim.yaml", "-o", "swim.h5", "--set", "integrator.order=4")
        end = self.end("swim.h5")
        self.assertLess(np.abs(np.r_[end[3:], end[:3]] - g).max(), 1e-6)  # the error of order 4 with 40 steps

    def test_file_is_the_same_as_its_text(self):
        """The resolved scenario has the gait itself, and its run ends at the same pose bit for bit."""
        self.write("swim.yaml", BODY.replace(POSES, "{gait: {file: bundle.yaml, reversed: true}}"))
        self.good("run", "swim.yaml", "-o", "swim.h5")
        resolved = self.good("check", "swim.yaml").stdout
        self.assertNotIn("file:", resolved)
        self.write("resolved.yaml", resolved)
        self.good("run", "resolved.yaml", "-o", "resolved.h5")
        self.assertTrue((self.end("swim.h5") == self.end("resolved.h5")).all())
        self.assertEqual(self.good("check", "resolved.yaml").stdout, resolved)

    def test_parameters_of_the_fluid(self):
        """Poses use the parameters of `fluid`, unless they have their own."""
        fluid = BODY.replace("gravity: [0, 0, 0]", "gravity: [0, 0, 0], parameters: {k: 0.3}").replace("0.3*", "k*")
        own = fluid.replace("parameters: {k: 0.3}", "parameters: {k: 7}").replace(
            "{variables:", "{parameters: {k: 0.3}, variables:")
        for name, text in (("body", BODY), ("fluid", fluid), ("own", own)):
            self.write(name + ".yaml", text)
            self.good("run", name + ".yaml", "-o", name + ".h5")
        self.assertTrue((self.end("fluid.h5") == self.end("body.h5")).all())
        self.assertTrue((self.end("own.h5") == self.end("body.h5")).all())

    def test_parameters_of_the_bundle_of_a_phase(self):
        """The poses of a bundle keep the bundle's parameters, also if `fluid` has others of the same names."""
        bundle = BUNDLE.replace("  variables: [a, b]\n", "").replace("  motion: {", "  poses: {").replace(
            "a*X^2", "0.2*sin(t)*X^2").replace("b*X^2", "0.2*cos(t)*X^2").replace("b*X*Z", "X*Z").replace(
            "a*X*Y", "X*Y*sin(t)").replace('"}', '", period: 2*pi}').replace(
            "{fourier: {cosine: [[0.4, 0]], sine: [[0, 0.4]]}", "{loop: phase")
        self.write("phase.yaml", bundle)
        body = BODY.replace(POSES, "{gait: {file: phase.yaml}}")
        for name, text in (("plain", body), ("named", body.replace("gravity:", "parameters: {k: 7}, gravity:"))):
            self.write(name + ".yaml", text)
            self.good("run", name + ".yaml", "-o", name + ".h5")
        self.assertTrue((self.end("plain.h5") == self.end("named.h5")).all())

    def test_bundle_reads_the_gait_of_a_file(self):
        self.write("again.yaml", BUNDLE.replace("gait: {fourier: {cosine: [[0.4, 0]], sine: [[0, 0.4]]}, period: 2}",
                                                "gait: {file: bundle.yaml, repeat: 2}"))
        one = self.good("gait", "bundle.yaml", "holonomy").stdout
        two = self.good("gait", "again.yaml", "holonomy").stdout
        self.assertEqual(one.splitlines()[1], two.splitlines()[1])
        self.assertIn("2 cycles", two)

    def test_resumed_run_is_the_same(self):
        """The steps after a checkpoint, with corners inside, are those of a run without a break."""
        self.write("long.yaml", BODY.replace("end: 2", "end: 3.7"))
        self.good("run", "long.yaml", "-o", "long.h5")
        self.write("short.yaml", BODY.replace("end: 2", "end: 1.3"))
        self.good("run", "short.yaml", "-o", "short.h5")
        self.good("resume", "short.h5", "--until", "3.7")
        self.assertTrue((self.end("long.h5") == self.end("short.h5")).all())
        self.assertIn("no errors", self.good("verify", "long.h5").stdout)


if __name__ == "__main__":
    main()
