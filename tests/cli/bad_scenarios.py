#!/usr/bin/python3
"""Scenarios of bodies that are refused: keys, numbers, names, points, expressions."""
from command import ROD, main
from refusals import FORCE, Refusals, with_mesh


def with_force(text):
    return (FORCE, text + "\n" + FORCE)


def with_network(text):
    place = "    place: {chart: polar, points: [[1, 1, 1], [1, 2, 1]]}\n"
    return (FORCE, "  - kind: network\n" + place + "    " + text + "\n" + FORCE)


TWO_POINTS = "chart: polar, points: [[0.5, pi/2, pi/2], [0.5, pi/2, 3*pi/2]]"

# claim: edits of ROD, expected words
CASES = {
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
    "point too far for the numbers": ([("[0.5, pi/2, pi/2]", "@[800, pi/2, pi/2]"),
                                       ("{name: h3, curvature: -1}", "{name: h3, chart: polar}")],
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
    "unknown space": ([("name: h3", "name: @h4")], ["unknown space 'h4'", "did you mean '"]),
    "unknown space of a wrong name": ([("{name: h3, curvature: -1}", "@hyperbolic")],
                                      ["unknown space 'hyperbolic'", "expected one of: "]),
    "space without a name": ([("{name: h3, c", "@{c")], ["the key `name` is missing"]),
    "unknown kind of body": ([("kind: rod", "kind: @rodd")], ["unknown kind of body 'rodd', did you mean 'rod'?"]),
    "body without a kind": ([("kind: rod", "@name: b"), ("    name: a\n", "")], ["the key `kind` is missing"]),
    "two bodies of one name":
        ([(FORCE, "  - {kind: rod, name: @a, place: {chart: polar, points: [[1, 1, 1], [1, 2, 1]]}}\n" + FORCE)],
                               ["a body 'a' is there already"]),
    "no body": ([(ROD[ROD.index("bodies:"):ROD.index(FORCE)], "bodies: @[]\n")],
                ["expected a list of bodies, at least one"]),
    "unknown integrator": ([("name: lobatto", "name: @lobato")], ["unknown integrator 'lobato', did you mean 'lobatto'"]),
    "integrator of a wrong name": ([("name: lobatto", "name: @verlet")],
                                   ["unknown integrator 'verlet', expected one of: "]),
    "unknown solver": ([("stages: 4", "solver: @newtn")],
                       ["expected one of auto, fixed-point, newton", "did you mean 'newton'?"]),
    "unknown observable": ([("[separation, energy]", "[separation, @enrgy]")],
                           ["unknown observable 'enrgy', did you mean 'energy'?"]),
    "observables that are no list": ([("[separation, energy]", "@energy")], ["expected a list of observables"]),
    "unknown chart": ([("chart: polar", "chart: @polr")], ["unknown chart 'polr', did you mean 'polar'?"]),
    "unknown chart of the space": ([("curvature: -1", "chart: @plar")], ["unknown chart 'plar', did you mean 'polar'?"]),
    "unknown picture": ([("curvature: -1", "picture: @ball")], ["unknown picture 'ball', expected poincare"]),
    "unknown chart of the record": ([("every: 1", "chart: @poincar")],
                                    ["unknown chart 'poincar', did you mean 'poincare'?"]),
    "unknown Killing field": ([("boost_x", "@bost_x")], ["unknown Killing field 'bost_x', did you mean 'boost_x'?"]),
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
                             ["unknown chart 'polr', did you mean 'polar'?"]),
    "body of a potential": ([with_force("potentials:\n  - central: {body: @b}")], ["unknown body 'b'"]),
    "law of a potential": ([with_force("potentials:\n  - central: {law: @gravty}")],
                           ["found 'gravty', did you mean 'gravity'?"]),
    "kind of a potential": ([with_force("potentials:\n  - @centrl: {}")],
                            ["unknown key 'centrl', did you mean 'central'?"]),
    "two potentials in one": ([with_force("potentials:\n  - @{central: {}, harmonic: {}}")],
                              ["expected one of `central:`, `harmonic:`, `expression:`"]),
    "one body of two": ([with_force("interactions:\n  - {law: gravity, between: @[a]}")],
                        ["expected the names of two bodies"]),
    "unknown body of two": ([with_force("interactions:\n  - {law: gravity, between: [a, @c]}")],
                            ["unknown body 'c'"]),
    "scale of a mesh": ([with_mesh("{file: good.obj, scale: @0}")], ["scale: expected a number > 0"]),
    "rotation of a mesh": ([with_mesh("{file: good.obj, rotate: @[[1, 0, 0], [0, 1, 0], [0, 0, 2]]}")],
                           ["expected orthonormal rows"]),
    "density beside a mass": ([with_mesh("{file: good.obj}\n    mass: 2\n    density: @1")],
                              ["density: given beside `mass`"]),
}


class BadScenarios(Refusals):
    def test_scenarios(self):
        self.check_cases(ROD, CASES)


if __name__ == "__main__":
    main()
