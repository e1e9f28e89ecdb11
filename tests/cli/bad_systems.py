#!/usr/bin/python3
"""Wrong configuration spaces give errors: coordinates, metric, forces, constraints, starts."""
from command import main
from refusals import Refusals

SYSTEM = """\
curvebody: 1
system:
  coordinates: [a, b]
  parameters: {g: 9.81, c: 0.1}
  metric: [[2], ["cos(a - b)", 1]]
  potential: "-2*g*cos(a) - g*cos(b)"
  forces: ["-c*a_dot", 0]
  constraints: ["a - b - 0.3", {surface: "a + b - t - 1.7", name: sum}]
  position: [1, 0.7]
  velocity: [0.5, 0.5]
integrator: {name: radau_iia, step: 0.01}
time: {end: 0.1}
"""
SECOND = '{surface: "a + b - t - 1.7", name: sum}'
HEAD = SYSTEM[SYSTEM.index("  parameters"):SYSTEM.index("  potential")]

# claim: edits of SYSTEM, expected words
CASES = {
    "space beside a system": ([("system:", "space: @{name: e2}\nsystem:")],
                              ["`space` next to `system`: expected only one of them, because the coordinates"]),
    "bodies beside a system": ([("time:", "bodies: @[]\ntime:")], ["`bodies` next to `system`"]),
    "potentials beside a system": ([("time:", "potentials: @[]\ntime:")], ["`potentials` next to `system`"]),
    "constraints beside a system": ([("time:", "constraints: @[]\ntime:")], ["`constraints` next to `system`"]),
    "contacts beside a system": ([("time: {", "contacts: @{accumulation: rest}\ntime: {")],
                                 ["one point of its configuration space", "expected `walls` next to `contacts`"]),
    "contacts between particles of a system":
        ([("time: {", "contacts: {restitution: @0.5}\nwalls:\n  - expression: {value: 2 - a}\ntime: {")],
         ["restitution: a system is one point", "expected only `rule` and `accumulation`"]),
    "ball in a system of many coordinates":
        ([("[a, b]\n", "[a, b, c, d]\n"), (HEAD, "  metric: [[1], [0, 1], [0, 0, 1], [0, 0, 0, 1]]\n"),
          ('  potential: "-2*g*cos(a) - g*cos(b)"\n  forces: ["-c*a_dot", 0]\n', ""),
          ("  constraints: [\"a - b - 0.3\", " + SECOND + "]\n  position: [1, 0.7]\n  velocity: [0.5, 0.5]\n", ""),
          ("time: {", "walls:\n  - ball: @{at: {point: [0, 0, 0, 2]}, radius: 1}\ntime: {")],
         ["has no distances between points"]),
    "misspelt key": ([("  velocity:", "  @velocities:")], ["unknown key 'velocities', did you mean 'velocity'?"]),
    "no metric": ([('  metric: [[2], ["cos(a - b)", 1]]\n', ""), ("  coord", "  @coord")], ["missing key 'metric'"]),
    "thirteen coordinates": ([('[[2], ["cos(a - b)", 1]]', "@[" + ", ".join(["[1]"] * 13) + "]")],
                             ["expected a list of 1 to 12 rows"]),
    "too few coordinates": ([("[a, b]\n", "@[a]\n")], ["coordinates: expected a list of 2 names"]),
    "coordinate t": ([("[a, b]\n", "@[a, t]\n"), (HEAD, "  metric: [[1], [0, 1]]\n")],
                     ["a coordinate has the name t, which is the time"]),
    "coordinate like a velocity": ([("[a, b]\n", "@[a, a_dot]\n"), (HEAD, "  metric: [[1], [0, 1]]\n")],
                                   ["a coordinate has the name a_dot, which is a velocity"]),
    "parameter t": ([("{g: 9.81", "@{t: 1, g: 9.81")], ["a parameter has the name t, which is the time"]),
    "parameter pi": ([("{g: 9.81", "{@pi: 3, g: 9.81")], ["the name 'pi' is the name of a constant"]),
    "parameter that would hide the radius": (
        [("{g: 9.81", "{r: 1, g: 9.81"),
         ("time: {", "events:\n  - expression: {particle: [system, 0], value: a - @r}\ntime: {")],
        ["`r` is both a variable and a parameter here"]),
    "parameter like a velocity": ([("{g: 9.81", "@{b_dot: 1, g: 9.81")],
                                  ["a parameter has the name b_dot, which is a velocity"]),
    "metric not positive": ([('"cos(a - b)"', "2*sin(a)"), ("[1, 0.7]", "@[1, 1]")],
                            ["the metric is not positive definite at a = 1, b = 1: pivot 2 of 2 is -0.416"]),
    "metric not positive at the base": ([("[[2]", "@[[0.2]")], ["not positive definite at a = 0, b = 0", "`base`"]),
    "start outside the domain": ([("[1, 0.7]", "@[1, 0.7]\n  domain: a < 0.5")],
                                 ["a = 1, b = 0.7 is outside the domain of the space: expected a < 0.5"]),
    "potential of an unknown name": ([("cos(b)", "cos(@x)")], ["unknown name `x`: the variables here are: a, b, t"]),
    "potential of a mass": ([("-2*g", "@m*g")], ["unknown name `m`"]),
    "potential of a velocity": ([("cos(b)", "cos(@b_dot)")], ["unknown name `b_dot`"]),
    "potential as a list": ([('"-2*g*cos(a) - g*cos(b)"', "@[1]")], ["expected a text, found a list"]),
    "too few forces": ([(", 0]", "]"), ("forces: [", "forces: @[")],
                       ["forces: expected a list of 2 expressions, one per coordinate"]),
    "one force": ([('["-c*a_dot", 0]', "@3")], ["forces: expected a list of 2 expressions"]),
    "force that is not finite": ([('"-c*a_dot"', "1/0"), ("  coord", "  @coord")],
                                 ["the force along coordinate a is not finite"]),
    "force as a list": ([('"-c*a_dot"', "@[1]")], ["expected a text, found a list"]),
    "misspelt velocity": ([("c*a_dot", "c*@adot")], ["unknown name `adot`: did you mean `a_dot`?"]),
    "force of a charge": ([("c*a_dot", "@q*a_dot")], ["unknown name `q`"]),
    "constraints as a map": ([('["a - b - 0.3", ' + SECOND + "]", "@{a: 1}")], ["constraints: expected a list"]),
    "constraint of an unknown name": ([("a - b - 0.3", "a - @d")], ["unknown name `d`"]),
    "constraint of nothing": ([('"a - b - 0.3"', '@"3"')], ["surface: '3' does not depend on the position"]),
    "constraint as a list": ([('"a - b - 0.3"', "@[a]")], ["expected a text, found a list"]),
    "neither surface nor velocity": ([(SECOND, "@{name: none}")], ["expected one of `surface` and `velocity`"]),
    "surface and velocity": ([(SECOND, "@{surface: a, velocity: [1, 0]}")],
                             ["expected one of `surface` and `velocity`"]),
    "right-hand side of a surface": ([(SECOND, "{surface: a, equals: @1}")], ["`equals` applies only to `velocity`"]),
    "misspelt key of a constraint": ([("name: sum", "@nam: sum")], ["unknown key 'nam', did you mean 'name'?"]),
    "too few coefficients": ([(SECOND, "{velocity: @[1]}")], ["velocity: expected a list of 2 expressions"]),
    "coefficient of an unknown name": ([(SECOND, "{velocity: [1, -@x]}")], ["unknown name `x`"]),
    "no coefficient": ([(SECOND, "@{velocity: [0, 0]}")], ["velocity: expected a coefficient other than 0"]),
    "right-hand side of an unknown name": ([(SECOND, "{velocity: [1, 0], equals: 2*@y}")], ["unknown name `y`"]),
    "constraint twice": ([(SECOND, '"2*a - 2*b - 0.6"'), ('["a - b', '@["a - b')],
                         ["depends on the others at the start"]),
    "constraint that no place meets": ([(SECOND, '"a^2 + b^2 + 1"'), ("  coord", "  @coord")],
                                       ["the start cannot be projected onto the constraints: constraint"]),
    "position as a number": ([("[1, 0.7]", "@1")], ["position: expected a list of 2 numbers, one per coordinate"]),
    "too long a position": ([("[1, 0.7]", "@[1, 2, 3]")], ["position: expected a list of 2 numbers"]),
    "position of a coordinate": ([("[1, 0.7]", "[1, 2*@a]")], ["unknown name `a`"]),
    "position of lists": ([("[1, 0.7]", "[1, @[2]]")], ["expected a text, found a list"]),
    "infinite position": ([("[1, 0.7]", "[1, @1/0]")], ["position: expected a finite number, found inf"]),
    "too short a velocity": ([("velocity: [0.5, 0.5]", "velocity: @[0.5]")],
                             ["velocity: expected a list of 2 numbers"]),
    "too short a momentum": ([("velocity: [0.5, 0.5]", "momentum: @[0.5]")],
                             ["momentum: expected a list of 2 numbers"]),
    "velocity and momentum": ([("velocity: [0.5, 0.5]", "velocity: [0.5, 0.5]\n  momentum: @[1, 1]")],
                              ["`velocity` and `momentum` exclude each other"]),
    "no integrator": ([("integrator: {name: radau_iia, step: 0.01}\n", ""), ("curve", "@curve")],
                      ["the key `integrator` is missing"]),
    "method that takes no constraints": ([("radau_iia", "@gauss")], ["integrator `gauss` does not support constraints"]),
}


class BadSystems(Refusals):
    def test_systems(self):
        self.check_cases(SYSTEM, CASES)


if __name__ == "__main__":
    main()
