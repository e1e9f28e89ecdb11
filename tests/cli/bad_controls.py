#!/usr/bin/python3
"""Wrong controls give errors: names, values, laws, and expressions that cannot use controls."""
from command import main
from refusals import Refusals

FISH = """\
curvebody: 1
fluid: {medium: water, gravity: [0, 0, 0], parameters: {gain: 2}, flow: {uniform: [0, 0, 0]}}
controls:
  bend: 0.2
  turn: {start: 0, law: "-gain*head.x - neck_rate + bend", every: 4}
bodies:
  - {name: head, shape: {name: ellipsoid, a: 2, b: 1, c: 1, resolution: 8}, density: 998, place: {position: [0, 0, 0]}}
  - {name: tail, shape: {name: ellipsoid, a: 2, b: 1, c: 1, resolution: 8}, density: 998,
     wrenches: [{name: push, force: [turn, 0, 0]}]}
joints:
  - {kind: hinge, name: neck, of: [head, tail], at: [-2.1, 0, 0], in: [2.1, 0, 0], axis: [0, 0, 1],
     servo: {position: "bend*sin(t)", kp: 4}}
integrator: {name: hamilton_pontryagin, step: 0.01}
time: {end: 0.02}
"""
SERVO = 'servo: {position: "bend*sin(t)", kp: 4}'
WHERE = "a control can be used only in `motor` and `servo` of joints"

# claim: edits of FISH, expected words
CASES = {
    "value as a word": ([("bend: 0.2", "bend: @fast")], ["expected a number"]),
    "value that uses another control": ([("{start: 0,", "{start: @bend,")], [WHERE]),
    "name of a function": ([("bend: 0.2", "@sin: 0.2\n  bend: 0")], ["the name 'sin' is the name of a function"]),
    "name of a constant": ([("bend: 0.2", "@pi: 0.2\n  bend: 0")], ["the name 'pi' is the name of a constant"]),
    "name of the time": ([("bend: 0.2", "@t: 0.2\n  bend: 0")], ["a control has the name t, which is the time"]),
    "name with a blank": ([("bend: 0.2", "@'a b': 0.2\n  bend: 0")], ["expected a name of at most 31 letters"]),
    "name of a parameter": ([("{gain: 2}", "{gain: 2, @bend: 1}")], ["the name 'bend' is given twice: it is already a control"]),
    "name of a joint": ([("name: neck", "name: @bend")], ["the name 'bend' is given twice: it is already a control"]),
    "name of a quantity of bodies":
        ([("bend: 0.2", "vx: 0\n  bend: 0.2"), ("force: [turn", "force: [@vx")], ["`vx` is both a variable and a control here"]),
    "every without law": ([("bend: 0.2", "bend: {start: 0, every: @3}")], ["`every` applies only to `law`: expected a law"]),
    "every 0": ([("every: 4", "every: @0")], ["every", ">= 1"]),
    "misspelt key": ([("start: 0,", "@begin: 0,")], ["unknown key 'begin'"]),
    "law with an error": ([("neck_rate + bend", "neck_rate + @* bend")], ["unexpected `*`"]),
    "law of an unknown body":
        ([("head.x", "@hed.x")],
         ["unknown name `hed.x`", "quantities of bodies such as NAME.x or NAME.spin_z, and coordinates of joints"]),
    "law of an unknown quantity": ([("head.x", "@head.xx")], ["unknown name `head.xx`"]),
    "drive": ([(SERVO, "drive: @bend*sin(t)")],
              ["a drive cannot use a control, because a jump of a drive has no velocity: expected a `servo`"]),
    "flow": ([("uniform: [0, 0", "uniform: [@turn, 0")], ["`turn`: " + WHERE]),
    "place": ([("position: [0, 0", "position: [@turn, 0")], ["`turn`: " + WHERE]),
    "density": ([("density: 998, place", "density: @turn, place")], ["`turn`: " + WHERE]),
    "misspelt control in a servo": ([("bend*sin", "@bent*sin")], ["unknown name `bent`: did you mean `bend`?"]),
    "misspelt key controls": ([("controls:", "@control:")], ["unknown key 'control', did you mean 'controls'?"]),
}

SYSTEM = """\
curvebody: 1
controls: {pull: 2}
system:
  coordinates: [a, b]
  parameters: {g: 9.81}
  metric: [[1], [0, 1]]
  potential: pull*a^2
  forces: [pull, 0]
integrator: {name: radau_iia, step: 0.01}
time: {end: 0.1}
"""
OF_SYSTEMS = {
    "metric": ([("[[1]", "[[@pull]")], ["`pull`: " + WHERE]),
    "constraint": ([("  forces", "  constraints: ['a - @pull']\n  forces")], ["`pull`: " + WHERE]),
    "wall": ([("integrator", "walls:\n  - expression: {value: a - @pull}\nintegrator")], ["`pull`: " + WHERE]),
    "name of a coordinate": ([("{pull: 2}", "{a: 2}"), ("[a, b]", "@[a, b]"), ("pull*a^2", "0"), ("[pull, 0]", "[0, 0]")],
                             ["the name 'a' is given twice: it is already a control"]),
    "name of a velocity": ([("{pull: 2}", "{pull: 2, a_dot: 1}"), ("forces: [pull", "forces: [@a_dot")],
                           ["`a_dot` is both a variable and a control here"]),
    "quantity of a law": ([("{pull: 2}", "{pull: {law: @c_dot}}")],
                          ["unknown name `c_dot`", "coordinates of a system and their velocities NAME_dot"]),
}

SNAKE = """\
curvebody: 1
bundle: floating_snake
controls: {push: {law: alpha1_rate}}
shape: {alpha1: {torque: push}, alpha2: {start: 0.5}}
integrator: {name: hamilton_pontryagin, step: 0.01}
time: {end: 0.1}
"""
OF_SHAPES = {
    "controls as a list": ([("{push: {law: alpha1_rate}}", "@[1]"), ("torque: push", "torque: 1")],
                           ["expected a map of names and numbers"]),
    "no controls": ([("{push: {law: alpha1_rate}}", "@{}"), ("torque: push", "torque: 1")], ["expected a map of names and numbers"]),
    "drive": ([("alpha2: {start: 0.5", "alpha2: {drive: @push")], ["`push`: " + WHERE]),
    "potential": ([("shape: {", "shape: {potential: @push*alpha1, ")], ["`push`: " + WHERE]),
    "name of a variable": ([("{push: {law: alpha1_rate}}", "{alpha2: 1}"), ("shape: {", "shape: @{"), ("torque: push", "torque: 1")],
                           ["the name 'alpha2' is given twice"]),
    "quantity of a law": ([("law: alpha1_rate", "law: @alpha3_rate")],
                          ["unknown name `alpha3_rate`", "shape variables, their rates NAME_rate, and group.NAME"]),
    "no shape": ([("shape: {alpha1: {torque: push}, alpha2: {start: 0.5}}", "gait: {fourier: {cosine: [[0.3, 0]], sine: [[0, 0.3]]}}"),
                  ("hamilton_pontryagin", "magnus"), ("{push: {law: alpha1_rate}}", "@{push: 1}")],
                 ["`controls` act on torques of `shape`, and a gait has none: expected `shape`"]),
}


class BadControls(Refusals):
    def test_bodies(self):
        self.check_cases(FISH, CASES)

    def test_systems(self):
        self.check_cases(SYSTEM, OF_SYSTEMS)

    def test_shapes(self):
        self.check_cases(SNAKE, OF_SHAPES)

    def warned(self, text, *words):
        self.write("u.yaml", text)
        return self.good("run", "u.yaml", "-o", "u.h5", "--force", "--quiet", *words).stderr

    def test_a_control_that_no_expression_uses_gives_a_warning(self):
        more = SYSTEM.replace("{pull: 2}", "{pull: 2, push: 3, seen: {law: seen + a}, lag: {law: push}}")
        for text, sets, expected in (
                (SYSTEM, [], ""), (more, ["controls.lag={law: push}"], ""),
                (more, ["controls.lag=1"], ["u.yaml:2:21: controls: push: is not used by any expression, so its value has no effect",
                                            "u.yaml:2:53: controls: lag: is not used by any expression, so its value has no effect"]),
                # what is not recorded cannot be observed either
                (more, ["record.observables=[energy]"],
                 ["u.yaml:2:30: controls: seen: is not used by any expression, so its law has no effect; with the observable "
                  "`controls` it would be recorded", "u.yaml:2:53: controls: lag: "]),
                (more, ["record.observables=[energy, controls]"], ""),
                (SNAKE, [], ""), (SNAKE, ["shape.alpha1.torque=1", "controls.push=1"], ["u.yaml:3:12: controls: push: is not used"])):
            said = self.warned(text, *(word for s in sets for word in ("--set", s)))
            if not expected:
                self.assertEqual(said, "", sets)
            lines = said.splitlines()
            self.assertEqual(len(lines), len(expected), said)
            for line, words in zip(lines, expected):
                self.assertIn("curvebody: warning: " + words, line)


if __name__ == "__main__":
    main()
