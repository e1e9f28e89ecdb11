#!/usr/bin/python3
"""`curvebody inertia`: closed forms, shapes and files, warnings, and errors in its options."""
import json
import math

from command import Case, main

try:
    import h5py
except ImportError:
    h5py = None  # without h5py the test does not read records

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"

SCENARIO = """\
curvebody: 1
fluid: {medium: water}
bodies: [{name: a, mesh: two.obj, density: 500, repeat: {count: 3}, place: {position: [30*i, 0, 0]}}]
integrator: {name: hamilton_pontryagin, step: 0.01}
time: {end: 0.02}
"""


class Inertia(Case):
    def facts(self, *words):
        return json.loads(self.good("inertia", *words, "--json").stdout)

    def refused(self, *words):
        done = self.call(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        return done.stderr

    def near(self, a, b, tolerance):
        self.assertLessEqual(abs(a - b), tolerance, (a, b))

    def test_a_tetrahedron_is_exact(self):
        self.write("t.obj", TETRAHEDRON)
        facts = self.facts("t.obj", "--density", "6")
        self.near(facts["mass"], 1, 1e-15)
        for c in facts["centre"]:
            self.near(c, 0.25, 1e-15)
        # the integral of y^2 + z^2 over the volume 1/6 is 2/60; times the density
        self.near(facts["inertia"][0][0], 6 * 2 / 60, 1e-15)
        self.near(facts["inertia"][3][3], 1, 1e-15)
        self.near(facts["inertia"][0][4], -0.25, 1e-15)  # m hat(c)
        self.near(sum(facts["moments"]), 2 * (3 * 0.1 - 3 / 16), 1e-14)

    def test_a_file_in_millimetres(self):
        self.write("t.stl", "solid\n" + "".join(
            "facet normal 0 0 0\nouter loop\n" + "".join("vertex %d %d %d\n" % v for v in face) + "endloop\nendfacet\n"
            for face in (((0, 0, 0), (0, 9, 0), (9, 0, 0)), ((0, 0, 0), (9, 0, 0), (0, 0, 9)),
                         ((0, 0, 0), (0, 0, 9), (0, 9, 0)), ((9, 0, 0), (0, 9, 0), (0, 0, 9)))) + "endsolid\n")
        self.near(self.facts("t.stl", "--scale", "1e-3")["mass"], 1000 * 9e-3**3 / 6, 1e-18)

    def test_the_added_mass_of_a_sphere_converges(self):
        error = []
        for resolution in (32, 64):
            facts = self.facts(f"ellipsoid:a=1,b=1,c=1,resolution={resolution}", "--fluid", "1")
            error.append(abs(facts["added_mass"][3][3] - 2 * math.pi / 3))
        self.assertLess(error[0], 0.05)
        self.assertLess(error[1], error[0] / 3)  # second order in the size of faces

    def test_a_prism_over_an_l_is_that_of_any_first_corner(self):
        corners = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
        vertices = "".join(f"v {x} {y} {z}\n" for z in (0, 1) for x, y in corners)
        sides = "".join(f"f {i + 1} {(i + 1) % 6 + 1} {(i + 1) % 6 + 7} {i + 7}\n" for i in range(6))
        # delta = area/(sum of angle times length): 5 vertical edges bend by pi/2 and one by -pi/2, 16 at the caps by pi/2
        delta = 14 / (10 * math.pi)
        for first in range(6):
            cap = [(first + k) % 6 for k in range(6)]
            self.write("l.obj", vertices + "f " + " ".join(str(6 - k) for k in cap) + "\nf " +
                       " ".join(str(7 + k) for k in cap) + "\n" + sides)
            facts = self.facts("l.obj", "--density", "1", "--fluid", "1")
            self.near(facts["mass"], 3, 1e-14)
            self.near(facts["area"], 14, 1e-13)
            for i, normal in ((3, 4), (4, 4), (5, 6)):  # the area whose normal is along the axis
                self.near(facts["added_mass"][i][i], delta * normal, 1e-14)

    def test_air_water_and_none(self):
        heavy, light, none = (self.facts("box", "--fluid", f)["added_mass"][5][5] for f in ("water", "air", "none"))
        self.near(heavy / light, 998.0 / 1.225, 1e-9)
        self.assertEqual(none, 0)

    def test_sheets_need_a_thickness(self):
        refused = self.call("inertia", "plate:thickness=0")
        if refused.returncode == 0:
            return  # the shape is closed without a thickness
        self.assertEqual(refused.returncode, 2)
        self.assertIn("thickness", refused.stderr)
        self.good("inertia", "plate:thickness=0", "--thickness", "0.001")

    def test_a_thickness_of_nothing_is_told(self):
        for words, told in (("box",), True), (("zeppelin",), False):
            said = self.good("inertia", *words, "--thickness", "0.001").stderr
            self.assertEqual("the body is closed: --thickness applies only to open parts" in said, told, said)

    def test_the_exact_added_mass_has_an_estimate_that_holds(self):
        closed = {"ellipsoid": 2 * math.pi / 3, "ellipsoid:c=0.5": 2.3353772201132, "box": 0.6382}
        for shape, known in closed.items():
            word = shape + (":" if shape.find(":") < 0 else ",") + "resolution=16"
            for error in 2e-2, 5e-3:
                facts = self.facts(word, "--fluid", "2", "--added-mass", "exact", "--error", str(error))
                told = facts["added_mass_of"]
                self.assertEqual(told["name"], "exact")
                self.assertLessEqual(told["error"], error)
                self.assertLessEqual(told["asymmetry"], told["error"])
                self.assertIn(told["method"], ("dense", "iterative"))
                self.near(facts["added_mass"][5][5] / 2, known, (told["error"] + 2e-4) * known)
        disc = self.facts("disc:radius=1,resolution=16", "--thickness", "1e-3", "--fluid", "1", "--added-mass", "exact")
        told = disc["added_mass_of"]
        self.assertLessEqual(told["error"], 1e-2)  # also for a sheet, without --error
        self.near(disc["added_mass"][5][5], 8 / 3, told["error"] * 8 / 3)
        self.near(disc["added_mass"][0][0], 16 / 45, told["error"] * 4 / 3)  # 4/3: 8/3 times the mean square of r, 1/2
        text = self.good("inertia", "box:resolution=16", "--added-mass", "exact").stdout
        self.assertRegex(text, r"\nexact: relative error 0\.00\d+ \(estimated\), raw asymmetry [^,]*, \d+ faces, ")

    def test_a_mesh_is_divided_and_says_of_what_its_error_is(self):
        octahedron = "".join(f"v {' '.join(str(s * (i == k)) for k in range(3))}\n" for i in range(3) for s in (1, -1))
        faces = "".join("f {} {} {}\n".format(*(a, b, c) if (a % 2 + b % 2 + c % 2) % 2 else (a, c, b))
                        for a in (1, 2) for b in (3, 4) for c in (5, 6))
        self.write("octahedron.obj", octahedron + faces)
        words = "octahedron.obj", "--fluid", "1", "--added-mass", "exact"
        coarse, fine = (self.facts(*words, "--error", e) for e in ("0.05", "0.01"))
        self.assertEqual(coarse["faces"], 8)
        self.assertGreater(fine["added_mass_of"]["faces"], coarse["added_mass_of"]["faces"])
        self.near(coarse["added_mass"][3][3], fine["added_mass"][3][3], 0.06 * fine["added_mass"][3][3])
        self.assertIn("estimated; for the flow around these flat faces", self.good("inertia", *words).stdout)
        as_it_is = self.facts(*words, "--error", "none")["added_mass_of"]
        self.assertEqual(as_it_is["faces"], 8)
        truth = fine["added_mass"][3][3]  # the reported error of one mesh is right, and above 3 % there is a warning
        raw = self.facts(*words, "--error", "none")["added_mass"][3][3]
        self.assertGreater(abs(raw - truth), 0.1 * truth)
        self.assertLess(abs(raw - truth), (as_it_is["error"] + 0.01) * truth)
        self.assertIn("the added mass has an estimated error of ", self.good("inertia", *words, "--error", "none").stderr)
        self.assertEqual(self.good("inertia", *words).stderr, "")

    def test_thin_bodies_are_told_of_and_refused_where_their_sides_do_not_face_each_other(self):
        words = "disc:radius=1,thickness=1e-2,resolution=16", "--added-mass", "exact", "--error"
        self.assertRegex(self.good("inertia", *words, "none").stderr, r"warning: the mean thickness of the body is only 0\.0\d+ of the width of its faces")
        self.assertNotIn("thick", self.good("inertia", *words, "0.2").stderr)
        self.assertNotIn("thick", self.good("inertia", "box", "--added-mass", "exact", "--error", "none").stderr)
        # a square of thickness 1e-3 whose two sides are divided along different diagonals
        plate = "".join("v {} {} {}\n".format(x, y, z) for z in (0, 1e-3) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)))
        sides = "".join("f {0} {1} {2}\nf {0} {2} {3}\n".format(i + 1, (i + 1) % 4 + 1, (i + 1) % 4 + 5, i + 5)
                        for i in range(4))
        self.write("same.obj", plate + "f 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\n" + sides)
        self.write("other.obj", plate + "f 1 3 2\nf 1 4 3\nf 5 6 8\nf 6 7 8\n" + sides)
        self.good("inertia", "same.obj", "--added-mass", "exact", "--error", "none")
        for error in ("none", "0.1"):
            done = self.call("inertia", "other.obj", "--added-mass", "exact", "--error", error)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, r"^other\.obj: error: (the error of .*)?the body is too thin for its 12 panels: at face ")

    def test_a_mesh_too_coarse_for_a_thin_body_is_divided_until_it_is_not(self):
        # a slab 1 x 1 x 0.01, with 4 x 4 squares on each side, divided along different diagonals
        at = {}
        corner = lambda *p: at.setdefault(p, len(at) + 1)
        faces = []
        for i, j in ((i, j) for i in range(4) for j in range(4)):
            a, b, c, d = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
            low, high = [corner(*p, 0) for p in (a, b, c, d)], [corner(*p, 1) for p in (a, b, c, d)]
            faces += [(low[0], low[2], low[1]), (low[0], low[3], low[2])]
            faces += [(high[0], high[1], high[3]), (high[1], high[2], high[3])]
        for i in range(4):
            for (x, y), (u, v) in (((i, 0), (i + 1, 0)), ((i + 1, 4), (i, 4)), ((0, i + 1), (0, i)), ((4, i), (4, i + 1))):
                a, b, c, d = corner(x, y, 0), corner(u, v, 0), corner(u, v, 1), corner(x, y, 1)
                faces += [(a, b, c), (a, c, d)]
        self.write("slab.obj", "".join(f"v {x / 4} {y / 4} {z / 100}\n" for x, y, z in at) +
                   "".join("f {} {} {}\n".format(*f) for f in faces))
        words = "slab.obj", "--fluid", "1", "--added-mass", "exact", "--error"
        self.assertIn("too thin for its 96 panels", self.call("inertia", *words, "none").stderr)
        facts = self.facts(*words, "0.05")
        self.assertLessEqual(facts["added_mass_of"]["error"], 0.05)
        # a plate of thickness 0 has 0.45475; a thickness d adds approximately d log(1/d)
        self.near(facts["added_mass"][5][5], 0.475, 0.025)

    def test_models_of_the_added_mass_have_names(self):
        local = self.good("inertia", "box").stdout
        self.assertEqual(self.good("inertia", "box", "--added-mass", "local").stdout, local)
        none = self.facts("box", "--added-mass", "none")
        self.assertEqual(none["added_mass"], [[0] * 6] * 6)
        self.assertEqual(none["added_mass_of"], {"name": "none"})
        dense = self.facts("box:resolution=32", "--added-mass", "exact:method=dense,error=0.02")["added_mass_of"]
        self.assertEqual((dense["method"], dense["iterations"]), ("dense", 0))

    def test_what_has_no_exact_added_mass_is_refused_with_the_place(self):
        shifted = [tuple(0.2 + (i == k) for k in range(3)) for i in (-1, 0, 1, 2)]
        self.write("cut.obj", TETRAHEDRON + "".join("v {} {} {}\n".format(*v) for v in shifted) +
                   "f 5 7 6\nf 5 6 8\nf 5 8 7\nf 6 7 8\n")
        self.write("open.obj", TETRAHEDRON.replace("f 2 3 4\n", ""))
        self.write("inward.obj", TETRAHEDRON.replace("f 1 3 2", "f 1 2 3"))
        self.write("third.obj", TETRAHEDRON + "v 1 1 1\nf 1 2 5\n")
        self.write("t.obj", TETRAHEDRON)
        self.write("far.obj", "v 1e8 0 0\nv 100000001 0 0\nv 1e8 1 0\nv 1e8 0 1\n" + TETRAHEDRON[TETRAHEDRON.index("f"):])
        box = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
        sides = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
        for name, d in ("touch", (1, 0.1, 0.2)), ("edges", (1, 1, 0)):
            both = box + [(x + d[0], y + d[1], z + d[2]) for x, y, z in box]
            self.write(name + ".obj", "".join("v %r %r %r\n" % v for v in both) + "".join(
                "f %d %d %d %d\n" % tuple(c + 1 + 8 * k for c in side) for k in (0, 1) for side in sides))
        self.write("touch.yaml", SCENARIO.replace("two.obj", "touch.obj").replace("{medium: water}",
                                                                                  "{medium: water, added_mass: exact}"))
        touch = "parts 'part1' and 'part2' touch in 3 pairs of faces, the first 3 and 14, at (1, "
        self.assertIn(touch, self.refused("check", "touch.yaml"))
        self.good("inertia", "edges.obj", "--added-mass", "exact", "--error", "none")
        exact = "--added-mass", "exact"
        for words, code, part in (
                (["touch.obj"], 2, "touch.obj: error: " + touch),
                (["cut.obj"], 2, "cut.obj: error: parts 'part1' and 'part2' cut each other in"),
                (["inward.obj"], 2, "inward.obj: error: "),
                (["third.obj"], 2, "more than two faces at the edge of vertices 1 and 2, from (0, 0, 0) to (1, 0, 0)"),
                (["t.obj", "--added-mass", "exat"], 2, "--added-mass:1:1: error: no fluid model 'exat', did you mean 'exact'?"),
                (["t.obj", "--added-mass", "local", "--error", "0.1"], 2, "the fluid model `local` has no error"),
                (["t.obj", "--added-mass", "none", "--error", "0.1"], 2, "--error:1:1: error: "),
                (["t.obj", "--error", "1"], 2, "expected a dimensionless number in [1e-8, 0.5], found '1'"),
                (["t.obj", "--error", "x"], 2, "--error:1:1: error: unknown name `x`"),
                (["t.obj", "--error", "0"], 2, "--error:1:1: error: expected a number > 0, found 0"),
                (["t.obj", "--error", "1e-2, table: 0"], 2, "--error:1:5: error: "),
                (["open.obj"], 2, "open.obj: error: part `body` is open and has no mass without a thickness: expected a thickness > 0"),
                (["t.obj", "--scale", "1e-9", "--added-mass", "exact:method=dence"], 2, "did you mean 'dense'?"),
                (["far.obj"], 2, "far.obj: error: the body is 1.3e+08 times its radius away from the origin"),
                (["t.obj", "--added-mass", "exact:memory=1e3"], 2, "t.obj: error: the tree of 4 panels takes"),
                (["t.obj", "--added-mass", "exact:wall=rigid,wall_z=0"], 2, "t.obj: error: a wall with the normal"),
                (["t.obj", "--added-mass", "exact:wall_height=1"], 2, "t.obj: error: the position of a wall is given without `wall`"),
                (["t.obj", "--added-mass", "exact:errror=1e-3"], 2, "did you mean 'error'?"),
                (["t.obj", "--added-mass", "exact:error"], 2, "expected MODEL:KEY=VALUE"),
                (["t.obj", "--added-mass", "exact:error=0.1", "--error", "0.1"], 2, "already sets an error"),
                (["t.obj", "--added-mass", "exact:memory=1e5", "--error", "1e-3"], 1, "t.obj: error: the error of 0.001 is not met")):
            done = self.call("inertia", words[0], *exact, *words[1:])
            self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assertIn(part, done.stderr, words)

    def test_balls_in_curved_spaces_have_their_closed_forms(self):
        for space, volume, added in (("h3", math.pi * (math.sinh(2) - 2), 2.20296026738426),
                                     ("s3", math.pi * (2 - math.sin(2)), 1.62106309457334),
                                     ("s3:curvature=.25", 8 * math.pi * (1 - math.sin(1)), 8 * .252628196135991)):
            facts = self.facts("ball:radius=1", "--space", space, "--fluid", "1", "--added-mass", "exact")
            told = facts["added_mass_of"]["error"]
            self.near(facts["volume"], volume, 0.02 * volume)  # error of the inscribed mesh
            coarse = self.facts("ball:radius=1,resolution=8", "--space", space, "--fluid", "1", "--added-mass", "exact")
            self.near(coarse["volume"], volume, 0.02 * volume)  # the volume of the refined mesh, not of the given 80 faces
            self.assertEqual(coarse["faces"], 80)
            self.near(facts["added_mass"][3][3], added, told * added)
            self.assertLess(told, 1e-2)
            self.near(facts["inertia"][3][3], facts["mass"] - facts["curvature"] * facts["inertia"][0][0],
                      1e-12 * facts["mass"])  # the inertia of a translation is m - K J

    def test_faces_of_a_mesh_too_large_for_the_curvature_are_told_however_they_are_divided(self):
        # a box of 12 geodesic triangles has 15 % less volume than the box that the chart maps; finer faces lie in its triangles
        self.write("box.obj", "".join(f"v {x} {y} {z}\n" for x in (-.5, .5) for y in (-.3, .3) for z in (-.2, .2))
                   + "".join("f %d %d %d\n" % f for f in ((1, 2, 4), (1, 4, 3), (5, 8, 6), (5, 7, 8), (1, 5, 6), (1, 6, 2),
                                                          (3, 4, 8), (3, 8, 7), (1, 3, 7), (1, 7, 5), (2, 6, 8), (2, 8, 4))))
        for error in ("none", "1e-1"):
            done = self.good("inertia", "box.obj", "--space", "h3", "--added-mass", "exact", "--error", error)
            self.assertIn("warning: the longest edge is 1.2 radii of curvature", done.stderr, error)
        fine = self.good("inertia", "ball:radius=.5,resolution=8", "--space", "h3", "--added-mass", "exact")
        self.assertNotIn("longest edge", fine.stderr)  # the finer faces of a shape are closer to the shape

    def test_the_local_model_is_that_of_balls_in_h3_and_has_another_flow_in_s3(self):
        local = self.facts("ball:radius=1,resolution=64", "--space", "h3", "--fluid", "1")
        self.near(local["parts"][0]["delta"], math.tanh(1) / 2, 2e-3)  # second order in the size of faces
        self.near(local["added_mass"][3][3], 2.20296026738426, 0.01)
        said = self.good("inertia", "ball:radius=1", "--space", "s3").stderr
        self.assertIn("too large by 0.42", said)
        self.assertEqual(self.good("inertia", "ball:radius=.1", "--space", "s3").stderr, "")

    def test_a_flat_space_and_charts_at_small_sizes_change_nothing(self):
        flat = self.facts("ellipsoid:a=.3,b=.2,c=.1", "--fluid", "1")
        named = self.facts("ellipsoid:a=.3,b=.2,c=.1", "--fluid", "1", "--space", "e3")
        self.assertEqual(flat["inertia"], named["inertia"])
        self.assertEqual(flat["added_mass"], named["added_mass"])
        for chart in ("exponential", "gnomonic"):
            near = self.facts("ellipsoid:a=.3,b=.2,c=.1", "--fluid", "1", "--space", "h3:curvature=-1e-9", "--chart", chart)
            for key in ("inertia", "added_mass"):
                for row, other in zip(flat[key], near[key]):
                    for a, b in zip(row, other):
                        self.near(a, b, 1e-7 * flat[key][3][3])

    def test_what_has_no_meaning_in_a_curved_space_is_said(self):
        ball = "ball:radius=1.5"
        for words, said in ((["--space", "h2"], "expected e3, s3 or h3"), (["--space", "nil"], "expected e3, s3 or h3"),
                            (["--space", "h4"], "unknown space 'h4'"), (["--chart", "gnomonic"], "a chart needs a space"),
                            (["--space", "h3", "--chart", "polar"], "expected exponential or gnomonic, found 'polar'"),
                            (["--space", "s3:curvature=30"], "the exponential chart of the space of curvature 30 expects distances below 0.57"),
                            (["--space", "h3", "--chart", "gnomonic"], "the gnomonic chart of the space of curvature -1 expects distances below 1"),
                            (["--space", "h3", "--added-mass", "ellipsoid"], "works only in flat space"),
                            (["--space", "h3", "--added-mass", "exact:method=hlu"], "method `hlu`"),
                            (["--space", "h3", "--added-mass", "exact:wall=rigid,wall_height=-9"], "wall"),
                            (["--space", "h3", "--added-mass", "exact:memory=1e4"], "GB, more than `memory`")):
            self.assertIn(said, self.refused("inertia", ball, *words))
        self.assertIn("is a sheet", self.refused("inertia", "disc:radius=.5", "--thickness", ".01", "--space", "s3"))

    def test_no_error_is_asked_of_those_that_have_none(self):
        for word in "local", "none":
            self.assertEqual(self.facts("box", "--added-mass", word, "--error", "none"), self.facts("box", "--added-mass", word))

    def test_text_shows_every_part(self):
        text = self.good("inertia", "zeppelin", "--thickness", "0.001").stdout
        for word in ("zeppelin", "closed", "mass", "centre", "added mass", "principal moments"):
            self.assertIn(word, text)

    def test_areas_of_parts_add_up_to_that_of_the_whole(self):
        sheet = "plate:length=0.4,width=0.3", "--thickness", "1e-3"
        for words in sheet, ("parachute", "--thickness", "1e-3"), ("box",):
            facts = self.facts(*words)
            self.near(sum(part["area"] for part in facts["parts"]), facts["area"], 1e-13 * facts["area"])
        self.assertRegex(self.good("inertia", *sheet).stdout, r"(?s)\nbody +sheet +0\.12 .* area 0\.12\d* m\^2\n")

    def test_parts_that_cut_each_other_are_told(self):
        # Two tetrahedra; the second is shifted by 0.2 or by 2 along each axis.
        for shift, told in ((0.2, True), (2, False)):
            second = "".join("v {} {} {}\n".format(*(shift + (i == k) for k in range(3))) for i in (-1, 0, 1, 2))
            faces = "f 5 7 6\nf 5 6 8\nf 5 8 7\nf 6 7 8\n"
            self.write("two.obj", TETRAHEDRON + second + faces)
            said = self.good("inertia", "two.obj").stderr
            self.assertEqual("parts 'part1' and 'part2' cut each other in" in said, told, said)
            self.write("two.yaml", SCENARIO)
            for words in (["check", "two.yaml"], ["run", "two.yaml"]):
                said = self.good(*words).stderr
                self.assertEqual(said.count("body `a.0`: parts 'part1' and 'part2' cut each other in"), told, said)
                self.assertEqual(said.count("cut"), told, said)  # once for the copies
            self.assertEqual(self.good("run", "two.yaml", "--quiet").stderr, said)
            kept = json.loads(self.good("run", "two.yaml", "--json").stdout)["warnings"]
            self.assertEqual([w["time"] for w in kept], [None] * told)
        for shape in ("propeller", "zeppelin", "turtle"):
            self.assertNotIn("cut", self.good("inertia", shape, "--thickness", "0.001").stderr)

    def test_vertices_at_one_place_are_told_and_welded(self):
        # The tetrahedron with separate vertices for each face: 12 vertices at 4 places.
        lines = [line.split()[1:] for line in TETRAHEDRON.splitlines()]
        place = [words for words, line in zip(lines, TETRAHEDRON.splitlines()) if line[0] == "v"]
        faces = [words for words, line in zip(lines, TETRAHEDRON.splitlines()) if line[0] == "f"]
        soup = "".join("v " + " ".join(place[int(c) - 1]) + "\n" for words in faces for c in words)
        soup += "".join(f"f {3 * f + 1} {3 * f + 2} {3 * f + 3}\n" for f in range(len(faces)))
        self.write("one.obj", TETRAHEDRON)
        self.write("two.obj", soup)
        told = "8 border vertices are at the same place as another vertex: `--weld` joins them"
        self.assertIn(told, self.good("inertia", "two.obj", "--thickness", "1e-3").stderr)
        self.assertIn(told, self.call("inertia", "two.obj").stderr)
        welded = self.good("inertia", "two.obj", "--weld")
        self.assertEqual(welded.stderr, "")
        self.assertEqual(welded.stdout.replace("two", "one"), self.good("inertia", "one.obj").stdout)
        self.write("two.yaml", SCENARIO)
        refused = self.call("check", "two.yaml")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("is open: expected `thickness`", refused.stderr)
        self.assertIn("8 border vertices are at the same place as another vertex: `weld: true` joins them", refused.stderr)
        for words, told in ((["bodies.0.thickness=1e-3"], 1), (["bodies.0.weld=true"], 0)):
            for command in "check", "run":
                said = self.good(command, "two.yaml", "--set", *words).stderr
                self.assertEqual(said.count("are at the same place as another vertex: `weld: true` joins them"), told, said)

    def test_a_hull_that_lacks_a_face_is_told_and_closed(self):
        # A cube of side 2 with a given mass of 8 m^3 of water floats. Without buoyancy it sank by g/2 in 1 s without a message.
        lines = "".join(f"v {x} {y} {z}\n" for x in (0, 2) for y in (0, 2) for z in (0, 2))
        faces = "f 1 2 4\nf 1 4 3\nf 5 7 8\nf 5 8 6\nf 1 5 6\nf 1 6 2\nf 3 4 8\nf 3 8 7\nf 1 3 7\nf 1 7 5\nf 2 6 8\nf 2 8 4\n"
        self.write("whole.obj", lines + faces)
        self.write("hull.obj", lines + faces.replace("f 1 2 4\n", ""))
        body = "{name: hull, mesh: hull.obj, inertial: {mass: 8000, at: [1, 1, 1], inertia: [5000, 5000, 5000]}}"
        self.write("hull.yaml", "curvebody: 1\nfluid: {medium: 1000}\nbodies: [" + body + "]\n"
                   "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 0.1}\n")
        told = ("body `hull`: part `body` is open, so it displaces no fluid and has no buoyancy: expected `close: true`, "
                "`thickness` or `buoyancy: false`; 3 edges have one face, the first from vertex 1 to 2 at (0, 0, 0)")
        for command in "check", "run":
            self.assertIn(told, self.good(command, "hull.yaml").stderr)
            for key in "thickness=1e-3", "buoyancy=false":
                self.assertNotIn("displaces no fluid", self.good(command, "hull.yaml", "--set", "bodies.0." + key).stderr)
            said = self.good(command, "hull.yaml", "--set", "bodies.0.close=true").stderr
            self.assertEqual(said, "curvebody: note: body `hull`: 1 hole of 3 edges is closed by 1 face, the largest is 8.3 % of its surface\n")
        if h5py:
            with h5py.File(self.path("hull.h5")) as file:  # the hull floats; the bound is round-off
                self.assertLess(abs(file["pose"][-1, 0, :3]).max(), 1e-14)
        for fluid, lacks in (("{medium: 1000, gravity: [0, 0, 0]}", "has the added mass of a sheet"),
                             ("{medium: 1000, gravity: [0, 0, 0], flow: {velocity: [\"sin(t)\", \"0\", \"0\"]}}",
                              "displaces no fluid and feels no pressure of the flow")):
            self.write("still.yaml", self.read("hull.yaml").decode().replace("{medium: 1000}", fluid))
            self.assertIn("part `body` is open, so it " + lacks, self.good("check", "still.yaml").stderr)
            self.assertNotIn("is open", self.good("check", "still.yaml", "--set", "bodies.0.close=true").stderr)
        self.near(self.facts("hull.obj", "--close")["mass"], 8000, 1e-11)
        self.near(self.facts("hull.obj", "--close=0.09")["mass"], 8000, 1e-11)
        self.assertIn("hull.obj: error: part `body` is open and has no mass without a thickness: expected a thickness > 0 "
                      "or `--close`; 3 edges have one face, the first from vertex 1 to 2 at (0, 0, 0)",
                      self.refused("inertia", "hull.obj"))
        self.assertIn("1 hole is left open", self.refused("inertia", "hull.obj", "--close=0.08"))
        self.assertIn("part `body` is open, so it has no volume", self.good("inertia", "hull.obj", "--density", "0").stderr)
        for option in "--close=0.5", "--close=x", "--weld=-1":
            self.refused("inertia", "hull.obj", option)
        for key in "close=1", "close=maybe", "weld=-1", "weld=maybe":
            self.refused("check", "hull.yaml", "--set", "bodies.0." + key)

    def test_a_file_in_millimetres_is_noticed_by_its_weight(self):
        cube = [(x, y, z) for x in (0, 40) for y in (0, 40) for z in (0, 40)]
        sides = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
        self.write("mm.obj", "".join("v %g %g %g\n" % v for v in cube) +
                   "".join("f %d %d %d %d\n" % tuple(c + 1 for c in side) for side in sides))
        told = "it is 40 m long and weighs 6.4e+04 t: a file in millimetres needs "
        self.assertIn("curvebody: note: " + told + "`--scale 1e-3`", self.good("inertia", "mm.obj").stderr)
        self.assertEqual(self.good("inertia", "mm.obj", "--scale", "1e-3").stderr, "")
        self.assertEqual(self.good("inertia", "box:a=40,b=40,c=40").stderr, "")
        self.write("mm.yaml", SCENARIO.replace("two.obj", "mm.obj").replace("density: 500", "density: 1000"))
        said = self.good("check", "mm.yaml").stderr
        self.assertEqual(said.count("body `a.0`: " + told + "`scale: 1e-3`"), 1, said)  # once for the copies
        # an explicit scale, also 1, confirms the unit, so there is no note
        self.assertEqual(self.good("inertia", "mm.obj", "--scale", "1").stderr, "")
        for scale in "1e-3", "1", "1.0", "2":
            self.assertNotIn("note", self.good("check", "mm.yaml", "--set", "bodies.0.scale=" + scale).stderr)
        for scale, count in ("", 1), (", scale: 1", 0), (", scale: [1, 1, -1]", 0):
            self.write("piece.yaml", SCENARIO.replace("mesh: two.obj", "shape: [{mesh: mm.obj%s}]" % scale)
                       .replace("density: 500", "density: 1000"))
            said = self.good("check", "piece.yaml").stderr
            self.assertEqual(said.count("in millimetres"), count, said)

    def test_an_open_tube_has_two_sides(self):
        # One side of radius 1 and length 3 with delta = r gives A/2 = 9.42. Both sides with the limit sqrt(A/4 pi)/2 give
        # A/2 sqrt(A/4 pi)/2 with A = 12 pi: 16.32, as in the manual. The error of the facets is of second order, 1e-3.
        K = self.facts("cylinder:length=3,caps=false,resolution=64", "--density", "0", "--fluid", "1")["added_mass"]
        self.near(K[3][3] / (6 * math.pi * math.sqrt(3) / 2), 1, 2e-3)

    def test_near_vertices_are_counted_and_a_tolerance_named(self):
        near = "".join(f"v {(c == 1) + 1e-6 * f} {(c == 2) + 2e-6 * f} {int(c == 3)}\n"
                       for f, face in enumerate(((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))) for c in face)
        self.write("near.obj", near + "".join(f"f {3 * f + 1} {3 * f + 2} {3 * f + 3}\n" for f in range(4)))
        self.assertIn("8 border vertices are within 1e-05 m of another vertex: `--weld=1e-05` joins them and leaves no border",
                      self.refused("inertia", "near.obj"))
        # Vertices move by 7e-6; the tetrahedron has 1/6 m^3.
        self.near(self.facts("near.obj", "--weld=1e-5")["mass"], 1000 / 6, 0.01)
        self.near(self.facts("near.obj", "--weld=1e-8", "--scale", "1e-3")["mass"], 1e-6 / 6, 1e-11)
        self.refused("inertia", "near.obj", "--weld=1e-9")
        self.write("near.yaml", SCENARIO.replace("two.obj", "near.obj"))
        self.assertIn("`weld: 1e-05` joins them", self.refused("check", "near.yaml"))
        self.assertEqual(self.good("check", "near.yaml", "--set", "bodies.0.weld=1e-5").stderr, "")

    def test_what_is_wrong_is_said(self):
        self.write("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        self.write("bad.obj", "v 0 0\n")
        self.write("inward.obj", TETRAHEDRON.replace("f 1 3 2", "f 1 2 3"))
        for words, code, part in ((["ellipsoyd"], 2, "did you mean 'ellipsoid'"), (["missing.obj"], 3, "missing.obj"),
                                  (["bad.obj"], 2, "bad.obj:1"), (["inward.obj"], 2, "inward.obj: error: "), (["open.obj"], 2, "thickness"),
                                  (["box:wide"], 2, "expected SHAPE:KEY=VALUE"), (["box:wdth=1"], 2, "wdth"),
                                  (["box", "--density", "-1"], 2, "--density:1:1"), (["box", "--fluid", "oil"], 2, "oil"),
                                  (["box", "--scale", "0"], 2, "--scale:1:1: error: expected a number > 0, found 0"),
                                  (["box", "--scale", "-2"], 2, "expected a number > 0, found -2"),
                                  ([], 2, "usage")):
            done = self.call("inertia", *words)
            self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assertIn(part, done.stderr, words)


if __name__ == "__main__":
    main()
