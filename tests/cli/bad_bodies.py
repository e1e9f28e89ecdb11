#!/usr/bin/python3
"""Bodies in a fluid: wrong input gives an error at the right place."""
from command import BALL, Case, main

# a line of the scenario, its replacement, line and column of the error, a part of the message
WRONG = [
    ("  medium: water", "  gravity: [0, 0, 0]", ":4:3:", "expected `medium`"),
    ("  medium: water", "  medium: -1", ":4:11:", "density"),
    ("  medium: water", "  medium: 'x + q'", ":4:16:", "unknown name `q`"),
    ("  medium: water", "  medium: watr", ":4:11:", "did you mean 'water'"),
    ("  medium: water", "  medium: water\n  parameters: {a: 2, b: 3*c}", ":5:27:", "unknown name `c`"),
    ("  medium: water", "  medium: water\n  parameters: {pi: 3}", ":5:16:", "the name 'pi' is the name of a constant"),
    ("  medium: water", "  medium: water\n  parameters: {a: 1, sin: 3}", ":5:22:", "the name 'sin' is the name of a function"),
    ("  medium: water", "  medium: water\n  parameters: {a-b: 3}", ":5:16:", "expected a name of at most 31 letters, digits and _"),
    ("  medium: water", "  medium: water\n  parameters: {a: 3, a: 2}", ":5:22:", "'a'"),
    ("  medium: water", "  medium: {layers: [{density: 2}, {density: 1}]}", ":4:21:", "expected `below`"),
    ("  medium: water", "  medium: {layers: [{below: 1, density: 2}, {below: 0, density: 2}, {density: 1}]}", ":4:20:", "ascend"),
    ("  medium: water", "  medium: layers", ":4:11:", "expected `layers`, a list of"),
    ("  medium: water", "  medium: {water: 3}", ":4:19:", "expected a map of keys and values, found '3'"),
    ("  medium: water", "  medium: {watr: {}}", ":4:12:", "did you mean 'water'"),
    ("  medium: water", "  medium: {air: {}, water: {}}", ":4:11:", "expected one key, as in {density: 998}"),
    ("  medium: water", "  medium: {density: 'x + q'}", ":4:26:", "unknown name `q`"),
    ("  medium: water", "  medium: water\n  flow: [{uniform: [1, 0, 0]}, {unifrom: [1, 0, 0]}]", ":5:33:", "did you mean 'uniform'"),
    ("  medium: water", "  medium: water\n  flow: [{uniform: [1, 0, 0]}, {velocity: [x, 0, 0]}]", ":5:43:", "without divergence"),
    ("  medium: water", "  medium: water\n  flow: []", ":5:9:", "expected a flow, or a list of them"),
    ("  medium: water", "  medium: water\n  flow: {}", ":5:9:", "expected one key, as in {uniform: [1, 0, 0]}"),
    ("  medium: water", "  medium: water\n  flow: {unifrom: [1, 0, 0]}", ":5:10:", "did you mean 'uniform'"),
    ("  medium: water", "  medium: water\n  flow: {uniform: [1, 0]}", ":5:19:", "expected a list of three"),
    ("  medium: water", "  medium: water\n  flow: {velocity: [0, 'sin(q)', 0]}", ":5:29:", "unknown name `q`"),
    ("  medium: water", "  medium: water\n  flow: {grid: none.h5}", "none.h5", ""),
    ("  medium: water", "  medium: water\n  flow: {velocity: [x, y, z]}", ":5:20:", "without divergence, found 3/s at (0, 0, 0)"),
    ("  medium: water", "  medium: water\n  flow: {shear: {gradient: [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}}", ":5:28:",
     "without divergence, found 1/s"),
    ("  medium: water", "  medium: water\n  floor: {kind: soft}", ":5:17:", "stiff"),
    ("  medium: water", "  medium: water\n  floor: {normal: [0, 0, 0]}", ":5:19:", "direction"),
    ("  medium: water", "  medium: water\n  gravity: [0, 0, 1/0]", ":5:", "finite"),
    ("    density: 1200", "    density: -1", ":8:14:", ">= 0"),
    ("    density: 1200", "    densty: 1", ":8:5:", "did you mean 'density'"),
    ("    density: 1200", "    parts: {boty: {density: 1}}", ":8:13:", "did you mean 'body'"),
    ("    density: 1200", "    thickness: 0.01", ":8:16:", "the body is closed: expected no thickness"),
    ("    density: 1200", "    parts: {body: {thickness: 0.01}}", ":8:31:", "part `body` is closed"),
    ("    density: 1200", "    points: [{mass: -1, at: [0, 0, 0]}]", ":8:21:", "mass >= 0"),
    ("    density: 1200", "    points: [{mass: 1, vertex: 100000}]", ":8:32:", "a vertex from 1 to"),
    ("    density: 1200", "    poses: {z: 'Z + Q'}", ":8:21:", "unknown name `Q`"),
    ("    density: 1200", "    poses: {parts: [{part: fin, x: X}]}", ":8:", "fin"),
    ("    density: 1200", "    poses: {z: 'Z*(1 + sin(t)/9)', period: 3}", ":8:44:", "the poses have no period 3: vertex"),
    ("    density: 1200", "    poses: {z: 'Z*(1 + sin(t)/9)', period: 0}", ":8:44:", "period 0: expected a number > 0"),
    ("    density: 1200", "    added_mass: {name: exact, wall: rigid, wall_height: 0.99}", ":6:",
     "body `ball`: the body reaches the wall of its fluid model: a vertex is "),
    ("    density: 1200", "    added_mass: {name: exact, wall: free, wall_z: 0}", ":6:", "a wall with the normal (0, 0, 0)"),
    ("    density: 1200", "    added_mass: {name: exact, wall_y: 1}", ":6:", "a wall is given without `wall`: expected wall: rigid"),
    ("    density: 1200", "    added_mass: {name: exact, wall: smooth}", ":8:37:", "expected one of none, rigid, free"),
    ("  medium: water", "  medium: water\n  flow: {uniform: [1, 0, 0]}\n  added_mass: {name: exact, wall: rigid}", ":8:",
     "near a wall needs a medium of one density at rest: expected no flow"),
    ("  medium: water", "  medium: {layers: [{below: 9, density: 2}, {density: 1}]}\n  added_mass: {name: exact, wall: rigid}",
     ":7:", "near a wall needs a medium of one density at rest: expected no layers"),
    ("    density: 1200", "    poses: {z: Z}\n    added_mass: {name: exact, table: 1e-9}", ":6:", "table: expected at least far_error, or 0, found 1e-09"),
    ("    density: 1200", "    poses: {files: 'pose-##.obj', step: 1}", "pose-", ""),
    ("    density: 1200", "    poses: {sequence: none.h5}", "none.h5", ""),
    ("    density: 1200", "    wrenches: [{name: drag, force: [1, 0, 0]}]", ":8:23:", "of the fluid"),
    ("    density: 1200", "    wrenches: [{name: push}]", ":8:16:", "expected `force` or `torque`"),
    ("    density: 1200", "    wrenches: [{name: push, force: [1, 'T', 0]}]", ":8:41:", "unknown name `T`"),
    ("    density: 1200", "    linear_drag: {normal: -1}", ":8:18:", ">= 0"),
    ("    density: 1200", "    scale: 2", ":8:12:", "applies only to `mesh`"),
    ("    density: 1200", "    weld: true", ":8:11:", "`weld` applies only to `mesh`"),
    ("    shape: {name: ellipsoid, resolution: 16}", "    shape: ellipsoyd", ":7:12:", "did you mean 'ellipsoid'"),
    ("    shape: {name: ellipsoid, resolution: 16}", "    shape: {name: ellipsoid, resolution: 1}", ":7:42:", "[8, 4000]"),
    ("    shape: {name: ellipsoid, resolution: 16}", "    mesh: none.obj", "none.obj", ""),
    ("    shape: {name: ellipsoid, resolution: 16}", "    mesh: open.obj", ":6:", "3 edges have one face, the first from vertex 1 to 2 at (0, 0, 0)"),
    ("    shape: {name: ellipsoid, resolution: 16}", "    mesh: twice.obj", ":7:11:", "face"),
    ("    shape: {name: ellipsoid, resolution: 16}", "    name: b", ":7:5:", ""),
    ("    place: {position: [0, 0, 1]}", "    place: {quaternion: [1, 1, 0, 0]}", ":9:25:", "unit quaternion"),
    ("    place: {position: [0, 0, 1]}", "    place: {rotation: {axis: [0, 0, 0], angle: 1}}", ":9:30:", "length 0"),
    ("    place: {position: [0, 0, 1]}", "    place: {position: [i, 0, 0]}", ":9:24:", "unknown name `i`"),
    ("    place: {position: [0, 0, 1]}", "    repeat: {count: 0}", ":9:21:", "[1, "),
    ("name: hamilton_pontryagin", "name: lobatto", ":10:20:", "`hamilton_pontryagin`, `mujoco_rk4`, `rkmk4`"),
    ("name: hamilton_pontryagin", "name: hamilton_pontryagin, map: caley", ":10:46:", "cayley"),
    ("time: {end: 0.1}", "time: {end: 0.1}\nspace: nil", ":12:8:", "`nil` has no isometries that can move a body"),
    ("time: {end: 0.1}", "time: {end: 0.1}\nrecord: {observables: [wrench]}", ":12:24:", "did you mean 'wrenches'"),
    ("time: {end: 0.1}", "time: {end: 0.1}\nrecord: {observables: [breathing]}", ":12:24:", "breathing was renamed to removed_normal_velocity"),
    ("time: {end: 0.1}", "time: {end: 0.1}\nrecord: {chart: polar}", ":12:17:", "applies only to scenarios with particles"),
]

# a parameter, a line of the scenario, its replacement, line and column of the error, a part of the message
HIDING = [
    ("x", "  medium: water", "  medium: 'x + z'", ":4:12:", "`x` is both a variable and a parameter here"),
    ("water", "  medium: water", "  medium: water", ":4:11:", "`water` is the name of a medium and of a parameter"),
    ("t", "  medium: water", "  medium: water\n  flow: {velocity: ['t', 0, 0]}", ":5:22:", "`t` is both a variable and a parameter here"),
    ("X", "    density: 1200", "    poses: {x: 'X + sin(t)'}", ":9:17:", "`X` is both a variable and a parameter here"),
    ("X", "    density: 1200", "    poses: {y: 'Y + sin(t)'}", ":9:12:", "`X` is both a variable and a parameter here"),
    ("t", "    density: 1200", "    poses: {y: 'Y + sin(t)'}", ":9:25:", "`t` is both a variable and a parameter here"),
    ("wx", "    density: 1200", "    wrenches: [{name: push, torque: ['-wx', 0, 0]}]", ":9:40:", "`wx` is both a variable and a parameter here"),
    ("r1", "    density: 1200", "    repeat: {count: 2}\n    motion: {spin: [0, 0, '2*r1']}", ":10:30:", "`r1` is both a variable and a parameter here"),
    ("i", "    place: {position: [0, 0, 1]}", "    repeat: {count: 2}\n    place: {position: [i, 0, 0]}", ":11:24:",
     "`i` is both a variable and a parameter here"),
]


class BadBodies(Case):
    def hiding(self, parameter, old, new):
        """Checks BALL with a parameter and an edit."""
        self.assertIn(old, BALL)
        text = BALL.replace(old, new).replace("bodies:", "  parameters: {%s: 2}\nbodies:" % parameter, 1)
        return self.call("check", self.write("bad.yaml", text))

    def test_a_parameter_hides_no_variable_of_a_place_that_uses_it(self):
        for parameter, old, new, where, part in HIDING:
            with self.subTest(new):
                done = self.hiding(parameter, old, new)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn("bad.yaml" + where + " error: ", done.stderr)
                self.assertIn(part + ": give the parameter another name", done.stderr)
        for parameter in "i", "X", "t", "r":
            done = self.hiding(parameter, "[0, 0, 1]", f"[{parameter}, 0, 1]")
            self.assertEqual(done.returncode, 0, done.stderr)
    def test_what_is_wrong_is_said_where(self):
        self.write("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        self.write("twice.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nf 2 3 4\n")
        for old, new, where, part in WRONG:
            with self.subTest(new):
                self.assertIn(old, BALL)
                self.write("bad.yaml", BALL.replace(old, new))
                done = self.call("check", "bad.yaml")
                self.assertIn(done.returncode, (2, 3), done.stdout + done.stderr)
                self.assertIn("error: ", done.stderr)
                self.assertIn(where, done.stderr)
                self.assertIn(part, done.stderr)
        self.write("bad.yaml", BALL.replace("density: 1200", "density: 0").replace("water", "none"))
        self.assertIn("mass", self.call("check", "bad.yaml").stderr)


main()
