#!/usr/bin/python3
"""Several errors in one scenario: each is reported at its place, in the order of the file, and nothing else is reported.

A fault is an edit of a line: the old text, the new text with `@` at the expected place of the message, and a word of the
message. Faults of different lines are put into one scenario, two and three at a time.
"""
import itertools
import random

from command import Case, main, sanitized

PARTICLES = """\
curvebody: 1
space: {name: h3, curvature: -1}
bodies:
  - {kind: rod, name: a, mass: 1, place: {chart: polar, points: [[0.5, pi/2, pi/2], [0.5, pi/2, 3*pi/2]]}}
  - {kind: particles, name: b, radius: 0.1, place: {chart: polar, points: [[1, pi/2, 0]]}}
potentials:
  - central: {pair_potential: gravity, strength: 1, body: a}
interactions:
  - {pair_potential: gravity, between: [a, b]}
constraints:
  - distance_to_point: {particle: [b, 0], at: {chart: polar, point: [0, 0, 0]}, length: 1}
contacts: {restitution: 1, except: [[a, b]]}
walls:
  - ball: {at: {chart: polar, point: [0, 0, 0]}, radius: 3, side: inside}
events:
  - distance: {between: [[a, 0], [b, 0]], equals: 0.2}
start: {project: auto}
integrator: {name: lobatto, stages: 3, step: 0.1}
time: {end: 0.2}
record: {every: 1, observables: [energy]}
"""
OF_PARTICLES = [
    ("curvebody: 1", "curvebody: @2", "expected 1"),
    ("{name: h3,", "{@nam: h3,", "did you mean 'name'"),
    ("curvature: -1", "curvature: @1", "curvature"),
    ("name: a, mass: 1", "name: a, mass: @-1", "mass"),
    ("name: a, mass: 1", "name: a, @mas: 1", "did you mean 'mass'"),
    ("kind: rod", "kind: @rodd", "did you mean 'rod'"),
    ("radius: 0.1", "@radios: 0.1", "did you mean 'radius'"),
    ("points: [[1, pi/2, 0]]", "points: [[1, pi/2, @q]]", "q"),
    ("strength: 1", "strength: @one", "strength"),
    ("body: a}", "@boby: a}", "did you mean 'body'"),
    ("between: [a, b]", "between: @[a]", "two bodies"),
    ("pair_potential: gravity, between", "pair_potential: @gravty, between", "did you mean 'gravity'"),
    ("length: 1}", "@lenght: 1}", "did you mean 'length'"),
    ("- distance_to_point:", "- @distance_to_piont:", "did you mean"),
    ("restitution: 1", "restitution: @2", "[0, 1]"),
    ("except: [[a, b]]", "except: [@a]", "two bodies"),
    ("radius: 3", "radius: @-3", "> 0"),
    ("side: inside", "@sid: inside", "did you mean 'side'"),
    ("equals: 0.2", "equals: @0", "> 0"),
    ("project: auto", "project: @always", "auto, never"),
    ("stages: 3", "@stagse: 3", "did you mean 'stages'"),
    ("step: 0.1", "step: @0", "> 0"),
    ("time: {end: 0.2}", "time: @{}", "missing key 'end'"),
    ("every: 1", "every: @0", ">= 1"),
    ("[energy]", "[@enrgy]", "did you mean 'energy'"),
]

SWIMMERS = """\
curvebody: 1
fluid:
  medium: water
  gravity: [0, 0, -9.81]
  flow: {uniform: [1, 0, 0]}
  floor: {kind: stiff, height: -1}
  parameters: {k: 2}
bodies:
  - name: ball
    shape: {name: ellipsoid, resolution: 16}
    density: 1200
    linear_drag: {normal: 1}
    wrenches: [{name: push, force: [1, 0, 0]}]
    place: {position: [0, 0, 1]}
    motion: {spin: [0, 0, k]}
  - name: other
    shape: eel
    added_mass: false
    place: {position: [0, 0, 2]}
    repeat: {count: 2}
integrator: {name: hamilton_pontryagin, step: 0.01}
time: {end: 0.1}
record: {observables: [energy]}
"""
OF_SWIMMERS = [
    ("medium: water", "medium: @watr", "did you mean 'water'"),
    ("[0, 0, -9.81]", "[0, 0, @g]", "g"),
    ("uniform: [1, 0, 0]", "uniform: @[1, 0]", "three"),
    ("kind: stiff", "kind: @soft", "stiff"),
    ("height: -1", "@hieght: -1", "did you mean 'height'"),
    ("{k: 2}", "{k: @2q}", "2q"),
    ("resolution: 16", "resolution: @1", "[8, 4000]"),
    ("name: ellipsoid", "name: @elipsoid", "did you mean 'ellipsoid'"),
    ("density: 1200", "density: @-1", ">= 0"),
    ("density: 1200", "@densty: 1200", "did you mean 'density'"),
    ("{normal: 1}", "{@norml: 1}", "did you mean 'normal'"),
    ("force: [1, 0, 0]", "force: @[1, 0]", "three"),
    ("position: [0, 0, 1]", "position: [0, @two, 1]", "two"),
    ("{spin:", "{@spinn:", "did you mean 'spin'"),
    ("shape: eel", "shape: @ell", "did you mean 'eel'"),
    ("added_mass: false", "added_mass: @no", "unknown added mass 'no'"),
    ("count: 2", "count: @0", "[1, "),
    ("hamilton_pontryagin", "@lobatto", "discrete Lagrangians on a Lie group"),
    ("step: 0.01", "step: @-1", "> 0"),
    ("time: {end", "@tiem: {end", "did you mean 'time'"),
    ("[energy]", "[@enrgy]", "did you mean 'energy'"),
]

GAIT = """\
curvebody: 1
bundle: {name: purcell, links: 3, ratio: 2}
gait:
  fourier: {mean: [0, 0], cosine: [[1, 0]], sine: [[0, 1]]}
  offset: [0, 0.1]
  pace: t
  repeat: 2
  period: 1
start: {group: [0, 0, 0]}
integrator: {name: magnus, step: 0.01}
record: {every: 1, observables: [connection]}
"""
OF_GAITS = [
    ("name: purcell", "name: @purcel", "did you mean 'purcell'"),
    ("links: 3", "links: @1", "[2, 12]"),
    ("ratio: 2", "@ration: 2", "did you mean 'ratio'"),
    ("repeat: 2", "repeat: @0", ">= 1"),
    ("period: 1", "period: @0", "> 0"),
    ("  pace: t", "  @pcae: t", "did you mean 'pace'"),
    ("start: {group", "start: {@gruop", "did you mean 'group'"),
    ("name: magnus", "name: @lobatto", "paths in a group"),
    ("step: 0.01", "step: @0", "> 0"),
    ("every: 1", "every: @half", "integer"),
    ("[connection]", "[@conection]", "did you mean 'connection'"),
]
# these keys are read only if the bundle is known
IN_A_BUNDLE = [
    ("mean: [0, 0]", "mean: @[0]", "list of 2 numbers"),
    ("cosine: [[1, 0]]", "cosine: [[1, @x]]", "x"),
    ("sine: [[0, 1]]", "sine: [@[0, 1, 2]]", "list of 2 numbers"),
    ("offset: [0, 0.1]", "offset: @[0]", "list of 2 numbers"),
    ("pace: t", "pace: @q", "q"),
    ("group: [0, 0, 0]", "group: @[0, 0]", "3 numbers"),
]
# if the space is wrong, the keys in DEEP are not read
OF_SPACE = ("{name: h3,", "curvature: -1")
DEEP = {"points: [[1, pi/2, 0]]", "between: [a, b]", "except: [[a, b]]"}


def hides(fault, other):
    """True if the key of the other fault cannot be read because of this fault."""
    if fault[0] in OF_SPACE:
        return other[0] in DEEP or fault[0] == OF_SPACE[0] and other[0] == OF_SPACE[1]
    if fault[0] in ("kind: rod", "name: a, mass: 1"):  # other keys refer to this body
        return other[0] in ("kind: rod", "name: a, mass: 1")
    if fault[0] == "radius: 0.1":
        return other[0] == "points: [[1, pi/2, 0]]"
    if fault[0] == "name: ellipsoid":
        return other[0] == "resolution: 16"
    if fault[0] == "name: purcell":
        return other[0] in ("links: 3", "ratio: 2")
    if fault[0] == "- distance_to_point:":
        return other[0] == "length: 1}"
    return fault[0] == "start: {group" and other[0] == "group: [0, 0, 0]"


def seeded(text, faults):
    """The scenario with the faults, and the expected places of messages: (line, column) -> word."""
    for number, (old, new, _) in enumerate(faults):
        assert text.count(old) == 1, old
        text = text.replace(old, new.replace("@", chr(1 + number)))
    places = {}
    for row, line in enumerate(text.split("\n"), 1):
        column = 1
        for letter in line:
            if ord(letter) < 8:
                places[row, column] = faults[ord(letter) - 1][2]
            else:
                column += 1
    for number in range(len(faults)):
        text = text.replace(chr(1 + number), "")
    return text, places


class BadSeveral(Case):
    def check(self, start, faults):
        text, places = seeded(start, faults)
        self.write("bad.yaml", text)
        done = self.call("check", "bad.yaml")
        said = done.stderr.splitlines()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(len(said), len(places), f"{text}\n{done.stderr}")
        for line, (place, word) in zip(said, sorted(places.items())):
            self.assertTrue(line.startswith("bad.yaml:%d:%d: error: " % place), f"{place} {word}\n{text}\n{done.stderr}")
            self.assertIn(word, line)

    def seed(self, start, faults, triples):
        choice = random.Random(20261122)
        every = list(itertools.combinations(faults, 2))
        more = choice.sample(list(itertools.combinations(faults, 3)), triples)
        if sanitized():  # sanitized processes start slowly
            every, more = choice.sample(every, len(every) // 8), more[:triples // 8]
        for together in [[fault] for fault in faults] + every + more:
            if any(a[0] in b[0] or b[0] in a[0] or hides(a, b) or hides(b, a)
                   for a, b in itertools.combinations(together, 2)):
                continue
            with self.subTest(" and ".join(new for _, new, _ in together)):
                self.check(start, together)

    def test_particles(self):
        self.seed(PARTICLES, OF_PARTICLES, 200)

    def test_bodies_in_a_fluid(self):
        self.seed(SWIMMERS, OF_SWIMMERS, 150)

    def test_gaits(self):
        self.seed(GAIT, OF_GAITS, 100)
        self.seed(GAIT, OF_GAITS[3:] + IN_A_BUNDLE, 100)

    def test_twenty_are_told(self):
        keys = "".join(f", key{i}: 1" for i in range(23))
        self.write("bad.yaml", PARTICLES.replace("start: {project: auto", "start: {project: auto" + keys))
        said = self.call("check", "bad.yaml").stderr.splitlines()
        self.assertEqual((len(said), said[-1]), (21, "and 3 more"))
        self.assertTrue(all(line.startswith("bad.yaml:17:") for line in said[:-1]))


if __name__ == "__main__":
    main()
