#!/usr/bin/python3
"""Wrong contacts, walls, events and gases give errors."""
from command import main
from refusals import Refusals

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
    """Edits of CONTACTS: another space, with the two balls at the points a and b of the embedding."""
    return [("space: h3", "space: " + space), ("chart: polar, points: [[1, pi/2, 0]]", f"points: [{a}]"),
            ("chart: polar, points: [[1, pi/2, pi]]", f"points: [{b}]")]


def with_gas(keys, mark=""):
    return [("  - {kind: particles, name: b, ", "  - " + mark + "{kind: gas, name: b, " + keys + ", "),
            (", place: {chart: polar, points: [[1, pi/2, pi]]}", "")]


IN_S3 = in_space("s3", "[0, 0, 0, 1]", "[0, 0, 1, 0]")
IN_PRODUCT = in_space("h2xe", "[0, 0, 1, 0]", "[0, 0, 1, 1]")
IN_NIL = in_space("nil", "[0, 0, 0]", "[0, 0, 1]")

# claim: edits of CONTACTS, expected words
CASES = {
    "misspelt key": ([(OPTIONS, "{@restituton: 1}")], ["did you mean 'restitution'?"]),
    "restitution above 1": ([(OPTIONS, "{restitution: @1.1}")], ["restitution: expected a", "number in [0, 1]"]),
    "negative restitution": ([(OPTIONS, "{restitution: @-0.1}")], ["number in [0, 1], found '-0.1'"]),
    "unknown rule": ([(OPTIONS, "{rule: @sequental}")], ["did you mean 'sequential'?"]),
    "unknown accumulation": ([(OPTIONS, "{accumulation: @sleep}")], ["accumulation: expected one of stop, rest"]),
    "former name of accumulation": ([(OPTIONS, "{@pile: rest}")], ["pile was renamed to accumulation"]),
    "unknown broad phase": ([(OPTIONS, "{broad_phase: @cell}")], ["did you mean 'cells'?"]),
    "between as a text": ([(OPTIONS, "{between: @a}")], ["between: expected a list of pairs of bodies"]),
    "between one body": ([(OPTIONS, "{between: [@[a]]}")], ["between: expected two bodies, such as [a, b]"]),
    "between unknown bodies": ([(OPTIONS, "{between: [[a, @c]]}")], ["unknown body 'c'"]),
    "except as a text": ([(OPTIONS, "{except: @a}")], ["except: expected a list of pairs of bodies"]),
    "except a body": ([(OPTIONS, "{except: [@a]}")], ["except: expected two bodies, such as [a, b]"]),
    "within as a text": ([(OPTIONS, "{within: @a}")], ["within: expected a list of bodies"]),
    "within an unknown body": ([(OPTIONS, "{within: [a, @c]}")], ["unknown body 'c'"]),
    "walls as a map": ([("- " + BALL, "  @" + BALL)], ["walls: expected a list"]),
    "wall without a kind": ([(BALL, "@floor")], ["expected a map with one key: ball, expression or plane"]),
    "wall of two kinds": ([(BALL, "@{ball: 1, plane: 2}")], ["expected a map with one key"]),
    "unknown kind of wall": ([(BALL, BALL.replace("ball", "@bal"))], ["unknown key 'bal', did you mean 'ball'?"]),
    "ball without a radius": ([(BALL, "ball: @{at: {point: [0, 0, 0, 1]}}")], ["missing key 'radius'"]),
    "ball of radius 0": ([("radius: 3", "radius: @0")], ["radius: expected a number > 0"]),
    "ball at no point": ([("{chart: polar, point: [0, 0, 0]}", "{point: @[0, 0, 0, 2]}")], ["is not on h3"]),
    "unknown side": ([("side: inside", "side: @in")], ["side: expected one of outside, inside"]),
    "body of a wall": ([("side: inside", "body: @c")], ["unknown body 'c'"]),
    "bodies of a wall": ([("side: inside", "body: [a, @c]")], ["unknown body 'c'"]),
    "ball that is all of a sphere": ([*IN_S3, ("ball: {", "ball: @{"), ("radius: 3", "radius: 3.2")],
                                     ["wall 'ball': a ball of radius 3.2 contains all of s3", "< 3.14159"]),
    "short normal": ([(BALL, PLANE.replace("[-1, 0, 0]", "@[-1, 0]"))], ["expected a list of 3 numbers"]),
    "normal of length 0": ([(BALL, PLANE.replace("{at", "@{at").replace("-1", "0"))],
                           ["a wall's normal of length 0: expected > 0"]),
    "normal across the factors of a product":
        ([*IN_PRODUCT, (BALL, "plane: @{at: {point: [0, 0, 1, 0]}, normal: [1, 0, 0, 1]}")],
         ["components in both factors of h2xe", "expected a normal in one factor"]),
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
    "event of an unknown body": ([("[[a, 0], [b, 0]]", "[[a, 0], [@c, 0]]")], ["unknown body 'c'"]),
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
                                    ["particle `a.0` is inside the wall `room` at the start, by 0.6"]),
    "gas that does not fit": (with_gas("container_radius: 0.4, count: @99"),
                              ["of 99 spheres of radius 0.1 could be placed, but"]),
    "gas without a ball": (with_gas("count: 9", "@"), ["missing key 'container_radius'", "only a sphere S^n can be filled"]),
    "gas in a ball too small": (with_gas("count: 9, container_radius: @0.1"),
                                ["a ball of radius 0.1 cannot contain a sphere of radius 0.1"]),
    "gas in a ball too large": (with_gas("count: 9, container_radius: @16"), ["container_radius: expected a radius of at most 15"]),
    "gas of too many": (with_gas("count: @10000001, container_radius: 1"), ["count: expected at most 10000000"]),
    "gas with a speed and a temperature": (with_gas("count: 9, container_radius: 2, speed: 1, temperature: @1"),
                                           ["temperature: given next to `speed`"]),
    "former name of container_radius": (with_gas("count: 9, @ball: 2"), ["ball was renamed to container_radius"]),
    "gas whose mass_max is light": (with_gas("count: 9, container_radius: 2, mass_max: @0.5"),
                                    ["mass_max: expected at least the mass 1"]),
    "gas with masses and a mass_max": (with_gas("count: 2, container_radius: 2, masses: [1, 2], mass_max: @3"),
                                       ["mass_max: given next to `masses`"]),
    "gas of two masses": (with_gas("count: 2, container_radius: 2, mass: 1, masses: @[1, 2]"), ["masses: given next to `mass`"]),
    "gas of too few masses": (with_gas("count: 2, container_radius: 2, masses: @[1]"), ["expected a list of 2 numbers"]),
}


class BadContacts(Refusals):
    def test_contacts(self):
        self.check_cases(CONTACTS, CASES)

    def test_contacts_of_points_have_no_effect(self):
        self.write("points.yaml", CONTACTS.replace("radius: 0.1", "radius: 0"))
        self.assertNotIn("no effect", self.good("run", "points.yaml", "-o", "walls.h5").stderr)
        self.assertIn("`contacts` has no effect: all particles have radius 0",
                      self.good("run", "points.yaml", "-o", "none.h5", "--set", "walls=null").stderr)


if __name__ == "__main__":
    main()
