#!/usr/bin/python3
"""Bad input is refused with its place and what was expected, exit code 2 (3 for a file that cannot be read),
and without a record.

In the pieces of scenarios below `@` marks the place that the message must name; it is taken out before
the file is written.
"""
import os
import resource

from command import BINARY, Case, ROD, main

FORCE = "integrator: {name: l"  # pieces before this line


def with_force(text):
    return (FORCE, text + "\n" + FORCE)


def with_network(text):
    place = "    place: {chart: polar, points: [[1, 1, 1], [1, 2, 1]]}\n"
    return (FORCE, "  - kind: network\n" + place + "    " + text + "\n" + FORCE)


def with_mesh(text):
    return (FORCE, "  - kind: network\n    mesh: " + text + "\n" + FORCE)


TWO_POINTS = "chart: polar, points: [[0.5, pi/2, pi/2], [0.5, pi/2, 3*pi/2]]"

# claim: edits (old, new with @), expected words
SCENARIOS = {
    "unknown key": ([("time: {end", "@colour: red\ntime: {end")],
                    ["unknown key 'colour'", "expected one of: curvebody, title, space"]),
    "misspelt key": ([(FORCE, "@integrater: {name: l")], ["unknown key 'integrater'", "did you mean 'integrator'?"]),
    "misspelt key of a body": ([("    mass: 1\n", "    @mas: 1\n")], ["did you mean 'mass'?"]),
    "misspelt key of a spring": ([("stiffness", "@stifness")], ["did you mean 'stiffness'?"]),
    "misspelt required key": ([("step: 0.01", "@stpe: 0.01")], ["unknown key 'stpe'", "did you mean 'step'?"]),
    "misspelt key of time": ([("{end: 1}", "{@ned: 1}")], ["did you mean 'end'?"]),
    "misspelt key of the record": ([("every", "@evry")], ["did you mean 'every'?"]),
    "misspelt key of the space": ([("curvature", "@curvatur")], ["did you mean 'curvature'?"]),
    "key of another method": ([("name: lobatto, stages", "name: rk4, @stages")],
                              ["unknown key 'stages'", "expected one of: name, step, retries"]),
    "duplicate key": ([("    mass: 1\n", "    mass: 1\n    @mass: 2\n")], ["duplicate key 'mass'", "line 8, column 5"]),
    "duplicate key at the root": ([("time: {end: 1}", "time: {end: 1}\n@time: {end: 2}")],
                                  ["duplicate key 'time'", "line 12, column 1"]),
    "number with letters": ([("mass: 1\n", "mass: 1.0@x\n")], ["mass: expected a number", "found '1.0x'"]),
    "coordinate with letters": ([("[0.5, pi/2, pi/2]", "[0.5@x, pi/2, pi/2]")], ["expected a number", "'0.5x'"]),
    "number with a unit": ([("step: 0.01", "step: 0.1 @s")],
                           ["step: expected a dimensionless number", "found '0.1 s'"]),
    "infinite number": ([("step: 0.01", "step: @1/0")], ["expected a finite number"]),
    "nan": ([("step: 0.01", "step: @nan")], ["not finite"]),
    "negative mass": ([("mass: 1\n", "mass: @-1\n")], ["mass: expected a number > 0", "found '-1'"]),
    "no mass": ([("mass: 1\n", "mass: @0\n")], ["mass: expected a number > 0"]),
    "negative mass in a list": ([("mass: 1\n", "masses: [1, @-2]\n")],
                                ["mass of particle 1: expected a number > 0, found -2"]),
    "too many masses": ([("mass: 1\n", "masses: @[1, 2, 3]\n")], ["expected a list of 2 numbers, found 3"]),
    "zero step": ([("step: 0.01", "step: @0")], ["step: expected a dimensionless number > 0, found '0'"]),
    "negative step": ([("step: 0.01", "step: @-0.01")], ["step: expected a dimensionless number > 0"]),
    "more steps than can be counted": ([("step: 0.01", "step: 1e-300"), ("time: {", "time: @{")],
                                       ["1e+300 steps are too many"]),
    "end before the start": ([("{end: 1}", "{start: 2, end: @1}")], ["the end 1 lies before the start 2"]),
    "number out of range": ([("stages: 4", "stages: @9")], ["stages: expected an integer in [2, 5], found '9'"]),
    "broken integer": ([("stages: 4", "stages: @1.5")], ["stages: expected an integer, found '1.5'"]),
    "integer beyond all": ([("stages: 4", "stages: @1e30")], ["stages: expected an integer"]),
    "negative rest length": ([("rest: 1", "rest: @-1")], ["rest: expected a number >= 0"]),
    "rows every 0 steps": ([("every: 1", "every: @0")], ["every: expected an integer >= 1"]),
    "level of compression": ([("every: 1", "compress: @10")], ["compress: expected an integer in [0, 9]"]),
    "no bool": ([("every: 1", "state: @yes")], ["state: expected true or false, found 'yes'"]),
    "curvature of the wrong sign": ([("curvature: -1", "curvature: @1")], ["curvature: expected a number < 0"]),
    "point outside the space": ([(TWO_POINTS, "points: [@[0, 0, 1, 1], [1, 0, 0, 1]]")],
                                ["the point is not on h3", "expected -1"]),
    "point outside a chart": ([(TWO_POINTS, "chart: poincare, points: [[0, 0, 0], @[1, 1, 0]]")],
                              ["outside the chart"]),
    "point too far for the numbers": ([("[0.5, pi/2, pi/2]", "@[800, pi/2, pi/2]")],
                                      ["outside the chart or the range of numbers"]),
    "coordinate missing": ([("[0.5, pi/2, pi/2]", "@[0.5, pi/2]")], ["expected a list of 3 numbers"]),
    "point missing": ([("[[0.5, pi/2, pi/2], ", "@[")], ["expected 2 points, found 1"]),
    "coincident bonded points": ([("[[0.5, pi/2, pi/2], [0.5, pi/2, 3*", "@[[0.5, pi/2, pi/2], [0.5, pi/2, ")],
                                 ["two bonded points coincide"]),
    "antipodal bonded points": ([("{name: h3, curvature: -1}", "s3"), ("boost_x", "rotation_wx"),
                                 ("[[0.5, pi/2, pi/2], [0.5, ", "@[[pi/2, pi/2, pi/2], [pi/2, ")],
                                ["3.14159265 apart, are antipodal"]),
    "coincident bonded points of a network":
        ([with_network("springs: [[0, 1], @[0, 2]]"), ("[1, 2, 1]]", "[1, 2, 1], [1, 1, 1]]")],
                                              ["two bonded points coincide"]),
    "unknown space": ([("name: h3", "name: @h4")], ["no space `h4`", "did you mean `"]),
    "unknown space of a wrong name": ([("{name: h3, curvature: -1}", "@hyperbolic")],
                                      ["no space `hyperbolic`", "curvebody list spaces"]),
    "space without a name": ([("{name: h3, c", "@{c")], ["the key `name` is missing"]),
    "unknown kind of body": ([("kind: rod", "kind: @rodd")], ["no kind of body `rodd`; did you mean `rod`?"]),
    "body without a kind": ([("kind: rod", "@name: b"), ("    name: a\n", "")], ["the key `kind` is missing"]),
    "two bodies of one name":
        ([(FORCE, "  - {kind: rod, name: @a, place: {chart: polar, points: [[1, 1, 1], [1, 2, 1]]}}\n" + FORCE)],
                               ["a body 'a' is there already"]),
    "no body": ([(ROD[ROD.index("bodies:"):ROD.index(FORCE)], "bodies: @[]\n")],
                ["expected a list of bodies, at least one"]),
    "unknown integrator": ([("name: lobatto", "name: @lobato")], ["no integrator `lobato`; did you mean `lobatto`"]),
    "integrator of a wrong name": ([("name: lobatto", "name: @verlet")],
                                   ["no integrator `verlet`; see `curvebody list integrators`"]),
    "unknown solver": ([("stages: 4", "solver: @newtn")],
                       ["expected one of auto, fixed-point, newton", "did you mean 'newton'?"]),
    "unknown observable": ([("[separation, energy]", "[separation, @enrgy]")],
                           ["no observable `enrgy`; did you mean `energy`?"]),
    "observables that are no list": ([("[separation, energy]", "@energy")], ["expected a list of observables"]),
    "unknown chart": ([("chart: polar", "chart: @polr")], ["no chart 'polr', did you mean 'polar'?"]),
    "unknown chart of the space": ([("curvature: -1", "chart: @plar")], ["found 'plar', did you mean 'polar'?"]),
    "unknown picture": ([("curvature: -1", "picture: @ball")], ["picture: expected one of poincare, found 'ball'"]),
    "unknown chart of the record": ([("every: 1", "chart: @poincar")],
                                    ["no chart `poincar`; did you mean `poincare`?"]),
    "unknown Killing field": ([("boost_x", "@bost_x")], ["no Killing field 'bost_x', did you mean 'boost_x'?"]),
    "velocity form without a chart": ([("name: lobatto, stages: 4", "name: @gauss, form: velocity")],
                                      ["works in a fixed chart"]),
    "key missing": ([("{end: 1}", "@{start: 0}")], ["missing key 'end'"]),
    "another form of scenario": ([("curvebody: 1", "curvebody: @2")], ["form 2", "expected 1"]),
    "form missing": ([("curvebody: 1\n", "@")], ["the key `curvebody` is missing"]),
    "part missing": ([("curvebody: 1", "@curvebody: 1"), ("time: {end: 1}\n", "")], ["the key `time` is missing"]),
    "list where a map belongs": ([("{end: 1}", "@[1, 2]")], ["expected a map of keys and values, found a list"]),
    "list where a text belongs": ([("title: a rod", "title: @[a]")], ["expected a text, found a list"]),
    "broken YAML": ([("time: {end: 1}\nrecord", "time: {end: 1\nrecord@")], ["did not find expected ',' or '}'"]),
    "tab in the indentation": ([("    mass: 1", "@\tmass: 1")], ["a tab cannot indent, use spaces"]),
    "nested too deep": ([("title: a rod", "title: " + "[" * 63 + "@[" + "]" * 64)],
                        ["more than 64 lists and maps within each other"]),
    "index out of range": ([with_network("springs: [[0, @2]]")], ["expected a particle from 0 to 1, found 2"]),
    "negative index": ([with_network("springs: [[0, @-1]]")], ["expected a particle from 0 to 1, found -1"]),
    "broken index": ([with_network("springs: [[0, @0.5]]")], ["expected an integer, found '0.5'"]),
    "spring from a particle to itself": ([with_network("springs: [@[1, 1]]")],
                                         ["expected two particles, found 1 twice"]),
    "operator too many": ([with_force('potentials:\n  - central: {expression: "d^@^2"}')],
                          ["unexpected `^`", "expected a number"]),
    "bracket missing": ([with_force('potentials:\n  - central: {expression: "sin(d@"}')],
                        ["the expression ends", "`)`"]),
    "unknown name": ([with_force('potentials:\n  - central: {expression: "m*@dd"}')],
                     ["unknown name `dd`: did you mean `d`?"]),
    "unknown function": ([with_force('potentials:\n  - central: {expression: "@sine(d)"}')],
                         ["unknown function `sine`: did you mean `sin`?"]),
    "unknown coordinate": ([with_force('potentials:\n  - expression: {chart: polar, value: "9.8*@zz"}')],
                           ["unknown name `zz`", "a, b, g, t, m, q"]),
    "expression of an interaction": ([with_force('interactions:\n  - {expression: "1/d + @m3"}')],
                                     ["unknown name `m3`: did you mean `m1`?"]),
    "chart of a potential": ([with_force('potentials:\n  - expression: {chart: @polr, value: "9.8*a"}')],
                             ["no chart 'polr', did you mean 'polar'?"]),
    "body of a potential": ([with_force("potentials:\n  - central: {body: @b}")], ["no body is named `b`"]),
    "law of a potential": ([with_force("potentials:\n  - central: {law: @gravty}")],
                           ["found 'gravty', did you mean 'gravity'?"]),
    "kind of a potential": ([with_force("potentials:\n  - @centrl: {}")],
                            ["unknown key 'centrl', did you mean 'central'?"]),
    "two potentials in one": ([with_force("potentials:\n  - @{central: {}, harmonic: {}}")],
                              ["expected one of `central:`, `harmonic:`, `expression:`"]),
    "one body of two": ([with_force("interactions:\n  - {law: gravity, between: @[a]}")],
                        ["expected the names of two bodies"]),
    "unknown body of two": ([with_force("interactions:\n  - {law: gravity, between: [a, @c]}")],
                            ["no body is named `c`"]),
    "scale of a mesh": ([with_mesh("{file: good.obj, scale: @0}")], ["scale: expected a number > 0"]),
    "rotation of a mesh": ([with_mesh("{file: good.obj, rotate: @[[1, 0, 0], [0, 1, 0], [0, 0, 2]]}")],
                           ["expected orthonormal rows"]),
    "density beside a mass": ([with_mesh("{file: good.obj}\n    mass: 2\n    density: @1")],
                              ["density: given beside `mass`"]),
}

MESHES = {
    "number that is not finite": (b"v 0 0 0\nv 1 0 0\nv 0 @nan 0\nf 1 2 3\n",
                                  ["expected y, a finite number, found 'nan'"]),
    "number that overflows": (b"v 0 0 0\nv 1 0 0\nv 0 1 @1e999\nf 1 2 3\n", ["expected z, a finite number"]),
    "index out of range": (b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 @9\n", ["index 9 out of range, expected 1 to 3"]),
    "no mesh at all": (b"@\x01\x02\xff\xfe\x80", ["expected a statement such as v, f or l"]),
    "no vertex": (b"@", ["without vertices"]),
}

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
SYSTEMS = {
    "space beside a system": ([("system:", "space: @{name: e2}\nsystem:")],
                              ["`space` beside `system`: expected one or the other"]),
    "bodies beside a system": ([("time:", "bodies: @[]\ntime:")], ["`bodies` beside `system`"]),
    "potentials beside a system": ([("time:", "potentials: @[]\ntime:")], ["`potentials` beside `system`"]),
    "constraints beside a system": ([("time:", "constraints: @[]\ntime:")], ["`constraints` beside `system`"]),
    "misspelt key": ([("  velocity:", "  @velocities:")], ["unknown key 'velocities', did you mean 'velocity'?"]),
    "no metric": ([('  metric: [[2], ["cos(a - b)", 1]]\n', ""), ("  coord", "  @coord")], ["missing key 'metric'"]),
    "thirteen coordinates": ([('[[2], ["cos(a - b)", 1]]', "@[" + ", ".join(["[1]"] * 13) + "]")],
                             ["expected a list of 1 to 12 rows"]),
    "too few coordinates": ([("[a, b]\n", "@[a]\n")], ["coordinates: expected a list of 2 names"]),
    "coordinate t": ([("[a, b]\n", "@[a, t]\n"), (HEAD, "  metric: [[1], [0, 1]]\n")],
                     ["a coordinate is named t, which is time"]),
    "coordinate like a velocity": ([("[a, b]\n", "@[a, a_dot]\n"), (HEAD, "  metric: [[1], [0, 1]]\n")],
                                   ["a coordinate is named a_dot, which is a velocity"]),
    "parameter t": ([("{g: 9.81", "@{t: 1, g: 9.81")], ["a parameter is named t, which is time"]),
    "parameter like a velocity": ([("{g: 9.81", "@{b_dot: 1, g: 9.81")],
                                  ["a parameter is named b_dot, which is a velocity"]),
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
                       ["forces: expected a list of 2 expressions, one a coordinate"]),
    "one force": ([('["-c*a_dot", 0]', "@3")], ["forces: expected a list of 2 expressions"]),
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
    "right-hand side of a surface": ([(SECOND, "{surface: a, equals: @1}")], ["`equals` belongs to `velocity`"]),
    "misspelt key of a constraint": ([("name: sum", "@nam: sum")], ["unknown key 'nam', did you mean 'name'?"]),
    "too few coefficients": ([(SECOND, "{velocity: @[1]}")], ["velocity: expected a list of 2 expressions"]),
    "coefficient of an unknown name": ([(SECOND, "{velocity: [1, -@x]}")], ["unknown name `x`"]),
    "no coefficient": ([(SECOND, "@{velocity: [0, 0]}")], ["velocity: expected a coefficient other than 0"]),
    "right-hand side of an unknown name": ([(SECOND, "{velocity: [1, 0], equals: 2*@y}")], ["unknown name `y`"]),
    "constraint twice": ([(SECOND, '"2*a - 2*b - 0.6"'), ('["a - b', '@["a - b')],
                         ["depends on the others at the start"]),
    "position as a number": ([("[1, 0.7]", "@1")], ["position: expected a list of 2 numbers, one a coordinate"]),
    "too long a position": ([("[1, 0.7]", "@[1, 2, 3]")], ["position: expected a list of 2 numbers"]),
    "position of a coordinate": ([("[1, 0.7]", "[1, 2*@a]")], ["unknown name `a`"]),
    "position of lists": ([("[1, 0.7]", "[1, @[2]]")], ["expected a text, found a list"]),
    "infinite position": ([("[1, 0.7]", "[1, @1/0]")], ["position: expected a finite number, found inf"]),
    "too short a velocity": ([("velocity: [0.5, 0.5]", "velocity: @[0.5]")],
                             ["velocity: expected a list of 2 numbers"]),
    "too short a momentum": ([("velocity: [0.5, 0.5]", "momentum: @[0.5]")],
                             ["momentum: expected a list of 2 numbers"]),
    "velocity and momentum": ([("velocity: [0.5, 0.5]", "velocity: [0.5, 0.5]\n  momentum: @[1, 1]")],
                              ["`velocity` and `momentum` exclude one another"]),
    "no integrator": ([("integrator: {name: radau_iia, step: 0.01}\n", ""), ("curve", "@curve")],
                      ["the key `integrator` is missing"]),
    "method that takes no constraints": ([("radau_iia", "@gauss")], ["integrator `gauss` does not take constraints"]),
}

CONTACTS = """\
curvebody: 1
space: h3
bodies:
  - {kind: particles, name: a, radius: 0.1, place: {chart: polar, points: [[1, pi/2, 0]]}}
  - {kind: particles, name: b, radius: 0.1, place: {chart: polar, points: [[1, pi/2, pi]]}}
contacts: {restitution: 1}
walls:
  - ball: {at: {chart: polar, point: [0, 0, 0]}, radius: 3, side: inside}
events:
  - distance: {between: [[a, 0], [b, 0]], equals: 1}
integrator: {name: lobatto, stages: 3, step: 0.1}
time: {end: 0.2}
"""
OPTIONS, BALL = "{restitution: 1}", "ball: {at: {chart: polar, point: [0, 0, 0]}, radius: 3, side: inside}"
DISTANCE = "distance: {between: [[a, 0], [b, 0]], equals: 1}"
PLANE = "plane: {at: {chart: polar, point: [2, 1, 1]}, normal: [-1, 0, 0]}"


def in_space(space, a, b):
    """CONTACTS elsewhere, with points of the embedding."""
    return [("space: h3", "space: " + space), ("chart: polar, points: [[1, pi/2, 0]]", f"points: [{a}]"),
            ("chart: polar, points: [[1, pi/2, pi]]", f"points: [{b}]")]


def with_gas(keys, mark=""):
    return [("  - {kind: particles, name: b, ", "  - " + mark + "{kind: gas, name: b, " + keys + ", "),
            (", place: {chart: polar, points: [[1, pi/2, pi]]}", "")]


IN_S3 = in_space("s3", "[0, 0, 0, 1]", "[0, 0, 1, 0]")
IN_PRODUCT = in_space("h2xe", "[0, 0, 1, 0]", "[0, 0, 1, 1]")
IN_NIL = in_space("nil", "[0, 0, 0]", "[0, 0, 1]")

# claim: edits of CONTACTS, expected words
CONTACT_CASES = {
    "misspelt key": ([(OPTIONS, "{@restituton: 1}")], ["did you mean 'restitution'?"]),
    "restitution above 1": ([(OPTIONS, "{restitution: @1.1}")], ["restitution: expected a", "number in [0, 1]"]),
    "negative restitution": ([(OPTIONS, "{restitution: @-0.1}")], ["number in [0, 1], found '-0.1'"]),
    "unknown rule": ([(OPTIONS, "{rule: @sequental}")], ["did you mean 'sequential'?"]),
    "unknown pile": ([(OPTIONS, "{pile: @sleep}")], ["pile: expected one of stop, rest"]),
    "unknown broad phase": ([(OPTIONS, "{broad_phase: @cell}")], ["did you mean 'cells'?"]),
    "between as a text": ([(OPTIONS, "{between: @a}")], ["between: expected a list of pairs of bodies"]),
    "between one body": ([(OPTIONS, "{between: [@[a]]}")], ["between: expected two bodies, such as [a, b]"]),
    "between unknown bodies": ([(OPTIONS, "{between: [[a, @c]]}")], ["no body is named `c`"]),
    "except as a text": ([(OPTIONS, "{except: @a}")], ["except: expected a list of pairs of bodies"]),
    "except a body": ([(OPTIONS, "{except: [@a]}")], ["except: expected two bodies, such as [a, b]"]),
    "within as a text": ([(OPTIONS, "{within: @a}")], ["within: expected a list of bodies"]),
    "within an unknown body": ([(OPTIONS, "{within: [a, @c]}")], ["no body is named `c`"]),
    "walls as a map": ([("- " + BALL, "  @" + BALL)], ["walls: expected a list"]),
    "wall without a kind": ([(BALL, "@floor")], ["expected a map with one key: ball, plane or expression"]),
    "wall of two kinds": ([(BALL, "@{ball: 1, plane: 2}")], ["expected a map with one key"]),
    "unknown kind of wall": ([(BALL, BALL.replace("ball", "@bal"))], ["unknown key 'bal', did you mean 'ball'?"]),
    "ball without a radius": ([(BALL, "ball: @{at: {point: [0, 0, 0, 1]}}")], ["missing key 'radius'"]),
    "ball of radius 0": ([("radius: 3", "radius: @0")], ["radius: expected a number > 0"]),
    "ball at no point": ([("{chart: polar, point: [0, 0, 0]}", "{point: @[0, 0, 0, 2]}")], ["is not on h3"]),
    "unknown side": ([("side: inside", "side: @in")], ["side: expected one of outside, inside"]),
    "body of a wall": ([("side: inside", "body: @c")], ["no body is named `c`"]),
    "bodies of a wall": ([("side: inside", "body: [a, @c]")], ["no body is named `c`"]),
    "ball that is all of a sphere": ([*IN_S3, ("ball: {", "ball: @{"), ("radius: 3", "radius: 3.2")],
                                     ["wall 'ball': a ball of radius 3.2 is the whole of s3", "< 3.14159"]),
    "short normal": ([(BALL, PLANE.replace("[-1, 0, 0]", "@[-1, 0]"))], ["expected a list of 3 numbers"]),
    "normal of length 0": ([(BALL, PLANE.replace("{at", "@{at").replace("-1", "0"))],
                           ["a wall's normal of length 0: expected > 0"]),
    "normal across the factors of a product":
        ([*IN_PRODUCT, (BALL, "plane: @{at: {point: [0, 0, 1, 0]}, normal: [1, 0, 0, 1]}")],
         ["parts in both factors of h2xe", "expected it to lie in one"]),
    "plane where there is none":
        ([*IN_NIL, (BALL, "plane: @{at: {point: [0, 0, -1]}, normal: [0, 0, 1]}")], ["no totally geodesic planes"]),
    "expression of a wall": ([(BALL, "expression: {chart: polar, value: \"3 - @d\"}")],
                             ["unknown name `d`", "a, b, g, t, r"]),
    "list as an expression": ([(BALL, "expression: {value: @[a]}")], ["expected a text, found a list"]),
    "chart of a wall": ([(BALL, "expression: {chart: polr, value: @3 - a}")], ["no chart 'polr'"]),
    "events as a map": ([("- " + DISTANCE, "  @" + DISTANCE)], ["events: expected a list"]),
    "event without a kind": ([(DISTANCE, "@near")], ["expected a map with one key: distance or expression"]),
    "unknown kind of event": ([("distance:", "@distanc:")], ["did you mean 'distance'?"]),
    "event of one particle": ([("[[a, 0], [b, 0]]", "@[[a, 0]]")], ["between: expected two particles"]),
    "event of an unknown body": ([("[[a, 0], [b, 0]]", "[[a, 0], [@c, 0]]")], ["no body is named `c`"]),
    "event of an unknown particle": ([("[[a, 0], [b, 0]]", "[[a, 0], [b, @1]]")], ["expected a particle"]),
    "event of a particle with itself": ([("distance: {between: [[a, 0], [b,", "distance: @{between: [[a, 0], [a,")],
                                        ["expected different particles, found 0 twice"]),
    "event at no distance": ([("equals: 1", "equals: @0")], ["equals: expected a number > 0"]),
    "event that reflects": ([("equals: 1", "equals: 1, action: @reflect")], ["action: expected one of stop, mark"]),
    "direction of an event": ([("equals: 1", "equals: 1, direction: @up")],
                              ["direction: expected one of both, falling, rising"]),
    "expression of an event": ([(DISTANCE, 'expression: {value: "x - @yy"}')], ["unknown name `yy`"]),
    "chart of an event": ([(DISTANCE, "expression: {chart: polr, value: @a}")], ["no chart 'polr'"]),
    "particle of an event": ([(DISTANCE, "expression: {particle: [a, @3], chart: polar, value: a}")],
                             ["expected a particle"]),
    "sphere larger than the space": ([*IN_S3, ("  - {kind", "  @- {kind"), ("radius: 0.1", "radius: 4")],
                                    ["a.0: a sphere of radius 4 is too large for s3"]),
    "overlap at the start": ([("  - {kind", "  @- {kind"), ("radius: 0.1", "radius: 1.95")],
                             ["particles `a.0` and `b.0` overlap at the start, by 0.05", "expected a gap >= 0"]),
    "body in a wall at the start": ([("  - {kind", "  @- {kind"), ("radius: 3", "radius: 0.5, name: room")],
                                    ["particle `a.0` is in the wall `room` at the start, by 0.6"]),
    "gas that does not fit": (with_gas("ball: 0.4, count: @99"),
                              ["of 99 spheres of radius 0.1 found a place, the next none"]),
    "gas without a ball": (with_gas("count: 9", "@"), ["missing key 'ball'", "only a sphere S^n can be filled"]),
    "gas in a ball too small": (with_gas("count: 9, ball: @0.1"), ["a ball of radius 0.1 holds no sphere of radius 0.1"]),
    "gas in a ball too large": (with_gas("count: 9, ball: @16"), ["ball: expected a radius of at most 15"]),
    "gas of too many": (with_gas("count: @10000001, ball: 1"), ["count: expected at most 10000000"]),
    "gas with a speed and a temperature": (with_gas("count: 9, ball: 2, speed: 1, temperature: @1"),
                                           ["temperature: given beside `speed`"]),
    "gas whose heaviest is light": (with_gas("count: 9, ball: 2, heaviest: @0.5"),
                                    ["heaviest: expected at least the mass 1"]),
    "gas with masses and a heaviest": (with_gas("count: 2, ball: 2, masses: [1, 2], heaviest: @3"),
                                       ["heaviest: given beside `masses`"]),
    "gas of two masses": (with_gas("count: 2, ball: 2, mass: 1, masses: @[1, 2]"), ["masses: given beside `mass`"]),
    "gas of too few masses": (with_gas("count: 2, ball: 2, masses: @[1]"), ["expected a list of 2 numbers"]),
}

SETS = {
    "no value": ("foo@", ["expected KEY=VALUE, found no '='"]),
    "no key": ("@=1", ["expected a key"]),
    "misspelt key": ("integrator.@stpe=1", ["unknown key 'stpe', did you mean 'step'?"]),
    "number with letters": ("integrator.step=1@x", ["found '1x'"]),
    "index out of range": ("bodies.@3.mass=1", ["expected an index from 0 to 0 into a list, found '3'"]),
    "below a number": ("bodies.0.mass.@x=1", ["'x' is below the value '1', which has no keys"]),
    "broken YAML": ("bodies.0.mass={a@", ["did not find expected ',' or '}'"]),
}


def taken(text):
    """text without its mark, and line and column of it, from 1."""
    at = text.index("@")
    line = text.count("\n", 0, at) + 1
    return text[:at] + text[at + 1:], line, at - (text.rfind("\n", 0, at) + 1) + 1


class BadInput(Case):
    def refused(self, words, code, begins, expected):
        done = self.call(*words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith(begins), f"{done.stderr!r} does not begin with {begins!r}")
        for word in expected:
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, "one error is one line")
        self.assertEqual([name for name in os.listdir(self.folder) if ".h5" in name], [])

    def test_scenarios(self):
        self.write("good.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        for start, claim, (edits, expected) in [(ROD, *case) for case in SCENARIOS.items()] + [
                (SYSTEM, "system: " + claim, case) for claim, case in SYSTEMS.items()] + [
                (CONTACTS, "contacts: " + claim, case) for claim, case in CONTACT_CASES.items()]:
            with self.subTest(claim):
                text = start
                for old, new in edits:
                    self.assertIn(old, text)
                    text = text.replace(old, new, 1)
                text, line, column = taken(text)
                self.write("bad.yaml", text)
                for words in ["run", "bad.yaml", "-o", "out.h5"], ["check", "bad.yaml"]:
                    self.refused(words, 2, f"bad.yaml:{line}:{column}: error: ", expected)

    def test_meshes(self):
        self.write("net.yaml", ROD.replace(FORCE, with_mesh("{file: bad.obj}")[1], 1))
        for claim, (text, expected) in MESHES.items():
            with self.subTest(claim):
                text, line, column = taken(text.decode("latin-1"))
                self.write("bad.obj", text.encode("latin-1"))
                self.refused(["run", "net.yaml", "-o", "out.h5"], 2, f"bad.obj:{line}:{column}: error: ", expected)

    def test_mesh_that_cannot_be_read(self):
        for name, why in ("none.obj", "No such file or directory"), ("folder.ply", "Is a directory"):
            text, line, column = taken(ROD.replace(FORCE, with_mesh("{file: @%s}" % name)[1], 1))
            self.write("net.yaml", text)
            os.makedirs(self.path("folder.ply"), exist_ok=True)
            begins = f"net.yaml:{line}:{column}: error: cannot read '{name}'"
            self.refused(["run", "net.yaml", "-o", "out.h5"], 3, begins, [why])

    def test_assignments(self):
        self.write("good.yaml", ROD)
        for claim, (text, expected) in SETS.items():
            with self.subTest(claim):
                text, line, column = taken(text)
                begins = f"--set {text}:{line}:{column}: error: "
                self.refused(["run", "good.yaml", "-o", "out.h5", "--set", text], 2, begins, expected)
                self.refused(["check", "good.yaml", "--set=" + text], 2, begins, expected)

    def test_scenario_that_cannot_be_read(self):
        self.refused(["run", "none.yaml"], 3, "curvebody: error: cannot read 'none.yaml'", ["No such file"])
        self.refused(["run", "."], 3, "curvebody: error: cannot read '.'", ["directory"])
        self.refused(["check", "none.yaml"], 3, "curvebody: error: cannot read 'none.yaml'", ["No such file"])

    def test_what_is_no_scenario(self):
        aliases = [b"%c: &%c [%s]\n" % (i, i, b",".join([b"*%c" % (i - 1)] * 9)) for i in range(98, 107)]
        for claim, text, begins in [("empty", b"", "bad.yaml:1:1: error: expected a scenario"),
                                    ("a word", b"hello\n", "bad.yaml:1:1: error: expected a scenario"),
                                    ("zeros", b"curvebody: 1\n\0\0\0\n", "bad.yaml:2:1: error: "),
                                    ("HDF5", b"\x89HDF\r\n\x1a\n" + bytes(64), "bad.yaml:1:1: error: "),
                                    ("two documents", b"curvebody: 1\n---\na: 1\n", "bad.yaml:2:1: error: "),
                                    ("many aliases", b"a: &a [1,1,1,1,1,1,1,1]\n" + b"".join(aliases), "bad.yaml:")]:
            with self.subTest(claim):
                self.write("bad.yaml", text)
                self.refused(["run", "bad.yaml", "-o", "out.h5"], 2, begins, [])

    def test_scenario_of_100_megabytes_costs_no_memory(self):
        self.write("large.yaml", ROD + "#")
        os.truncate(self.path("large.yaml"), 100 << 20)
        limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))
        done = self.call("run", "large.yaml", "-o", "out.h5", **({} if self.sanitized() else {"preexec_fn": limit}))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"^large.yaml:1:1: error: .*expected at most 67108864")

    def sanitized(self):
        with open(BINARY, "rb") as file:
            return b"__asan_init" in file.read()


if __name__ == "__main__":
    main()
