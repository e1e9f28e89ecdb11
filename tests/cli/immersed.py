#!/usr/bin/python3
"""Bodies in a fluid from the command line: poses from files, the record, and resumed runs with identical records.

    immersed.py BINARY [seed]
"""
import json
import os
import random
import re
import sys
import time

from command import BALL, HAS_VIEW, Case, datasets, differing, main

import h5py
import numpy as np

SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else time.time_ns() % 10**9

# A body without symmetry, with all features together: poses, layers, a flow, wrenches, drag, floor.
SWIMMER = """\
curvebody: 1
title: all at once
fluid:
  medium: {layers: [{below: 0, density: 998}, {density: 1.225}]}
  flow: {shear: {velocity: [0.1, 0, 0], gradient: [[0, 0, 0.2], [0, 0, 0], [0.1, 0, 0]]}}
  floor: {kind: FLOOR, height: -3}
  parameters: {a: 0.1}
bodies:
  - name: swimmer
    shape: {name: eel, resolution: 16}
    density: 900
    poses: {y: "Y + a*sin(6*(X - t))"}
    points: [{mass: 0.1, at: [0.1, 0.02, -0.05]}]
    linear_drag: {normal: 2, tangential: 1}
    wrenches: [{name: push, force: ["0.1*cos(t)", "-0.1*vy", 0], at: [0, 0.1, 0]}]
    place: {position: [0, 0, 0.4], rotation: {axis: [1, 2, 3], angle: 1}}
    motion: {velocity: [0.1, 0, -0.5], spin: [0.3, 0.2, 1]}
  - name: leaf
    shape: {name: leaf, resolution: 12}
    thickness: 0.001
    density: 800
    repeat: {count: 3, seed: 7}
    place: {position: ["i", "r1", "0.5 + r2"], rotation: {axis: [1, 0, 0], angle: "2*pi*r3"}}
integrator: {name: METHOD, step: 0.005}
time: {end: 1}
record: {every: 4, checkpoint: 5, observables: [energy, wrenches, momentum, inertia, centre, removed_normal_velocity]}
"""


# Bodies with a computed added mass, two of them with a table along their poses, and one body with the local model.
SOLVED = """\
curvebody: 1
fluid: {medium: water, added_mass: exact}
bodies:
  - {name: rigid, shape: {name: ellipsoid, c: 2, resolution: 16}, added_mass: {name: exact, error: 0.02}}
  - {name: stroke, shape: {name: ellipsoid, resolution: 8}, poses: {z: "Z*(1 + 0.1*sin(2*pi*t))", period: 1}}
  - {name: local, shape: {name: ellipsoid, resolution: 8}, added_mass: local}
  - name: estimated
    shape: {name: ellipsoid, resolution: 8}
    poses: {z: "Z*(1 + 0.1*sin(2*pi*t))", period: 1}
    added_mass: {name: exact, error: 0.1, table: 1e-3}
integrator: {name: hamilton_pontryagin, step: 0.01}
time: {end: 0}
record: {every: 1, observables: [inertia]}
"""


class Immersed(Case):
    def test_how_an_added_mass_was_found_is_told_and_recorded(self):
        first = self.first_row(SOLVED)
        told = [line for line in self.good("check", "one.yaml").stdout.splitlines() if line.startswith("#")]
        self.assertEqual(len(told), 5, told)
        self.assertRegex(told[0], r"# body `rigid`: exact: relative error 0\.0\d+ \(estimated\), raw asymmetry .*, \d+ faces")
        self.assertRegex(told[1], r"# body `stroke`: exact: relative error 0\.0\d+ \(estimated.*\), .*, \d+ faces")
        self.assertRegex(told[2], r"# body `stroke`: the added mass is a table of \d+ points along the poses, relative error ")
        self.assertRegex(told[3], r"# body `estimated`: exact: relative error 0\.0\d+ \(estimated.*\), .*, \d+ faces")
        self.assertRegex(told[4], r"# body `estimated`: the added mass is a table of \d+ points along the poses, relative error ")
        self.assertTrue(0 < first["body_added_mass_error"][0] <= 0.02)
        self.assertTrue(0 < first["body_added_mass_error"][1] <= 0.01)  # the default
        self.assertTrue(np.isnan(first["body_added_mass_error"][2]))
        self.assertTrue(0 < first["body_added_mass_error"][3] <= 0.1)
        self.assertTrue((first["body_added_mass_asymmetry"][:2] < 0.02).all())
        self.assertGreater(first["body_added_mass_faces"][1], first["body_faces"][1])
        self.assertEqual(first["body_added_mass_faces"][2], 0)
        self.assertEqual(first["body_added_mass_method"][2], b"none")
        self.assertGreater(first["body_table_points"][1], 0)

    def test_what_takes_long_is_told_before(self):
        fine = BALL.replace("    place", "    added_mass: {name: exact, error: 1e-4}\n    place")
        self.write("fine.yaml", re.sub("resolution: [0-9]+", "resolution: 32", fine))
        for words in ("check", "fine.yaml"), ("run", "fine.yaml", "--set", "time.end=0"):
            self.assertRegex(self.good(*words).stderr, r"curvebody: fine\.yaml: \d+ faces take [\d.e+]+ MB")
        self.assertEqual(self.good("run", "fine.yaml", "--set", "time.end=0", "--quiet").stderr, "")

    def first_row(self, text, *sets):
        self.write("one.yaml", text)
        self.good("run", "one.yaml", "--quiet", "--set", "time.end=0", *(word for s in sets for word in ("--set", s)))
        with h5py.File(self.path("one.h5")) as file:
            return {name: item[()] for name, item in file.items() if isinstance(item, h5py.Dataset)}

    def test_the_fluid_moves_along_with_bodies_that_say_so_where_it_does_not_with_others(self):
        text = SOLVED.replace("added_mass: exact}", "added_mass: none}", 1)
        first = self.first_row(text.replace("added_mass: local", "added_mass: true"))
        added = first["inertia"][0, :, 3, 3] - first["body_mass"]
        self.assertTrue((added[1:3] == 0).all() and (added[[0, 3]] > 100).all(), added)

    def test_models_that_are_named_twice_are_refused_where_they_are(self):
        self.write("one.yaml", SOLVED)
        refused = self.call("check", "one.yaml", "--set", "fluid.model=[local, exact, local]")
        self.assertIn("fluid.model=[local, exact, local]:1:28: error: the fluid model `local` is listed twice", refused.stderr)

    def test_what_a_scenario_says_is_what_there_is(self):
        turned = BALL.replace("{position: [0, 0, 1]}", "{position: [1, 2, 3], rotation: {axis: [0, 0, 2], angle: pi/2}}")
        turned += "record: {observables: [energy, wrenches, momentum, centre]}\n"
        world = self.first_row(turned.replace("    place", "    motion: {velocity: [1, 0, 0], spin: [0, 1, 0]}\n    place"))
        np.testing.assert_allclose(world["plot_velocity"][0, 0], [1, 0, 0], atol=1e-15)  # the body's x axis is the world's y
        np.testing.assert_allclose(world["twist"][0, 0], [1, 0, 0, 0, -1, 0], atol=1e-15)
        body = self.first_row(turned.replace(
            "    place", "    motion: {velocity: [1, 0, 0], spin: [0, 1, 0], frame: body}\n    place"))
        np.testing.assert_allclose(body["twist"][0, 0], [0, 1, 0, 1, 0, 0], atol=1e-15)
        np.testing.assert_allclose(body["plot_velocity"][0, 0], [0, 1, 0], atol=1e-15)
        by_four = self.first_row(turned.replace("rotation: {axis: [0, 0, 2], angle: pi/2}",
                                                "quaternion: [sqrt(1/2), 0, 0, sqrt(1/2)]"))
        np.testing.assert_allclose(by_four["pose"][0, 0], [1, 2, 3, 0.5**0.5, 0, 0, 0.5**0.5], atol=1e-15)
        np.testing.assert_allclose(world["pose"], by_four["pose"], atol=1e-15)
        # a mass in place of a density; an additional point mass; a separate density of a part
        heavy = self.first_row(turned.replace("density: 1200", "mass: 7\n    points: [{mass: 1, at: [0.5, 0, 0]}]"))
        self.assertAlmostEqual(heavy["body_mass"][0], 8, places=12)
        np.testing.assert_allclose(heavy["centre"][0, 0], [1, 2 + 0.5 / 8, 3], atol=1e-12)
        half = self.first_row(turned.replace("density: 1200", "parts: {body: {density: 600}}"))
        self.assertAlmostEqual(half["body_mass"][0] / world["body_mass"][0], 0.5, places=12)

    def test_the_lowest_layer_is_below(self):
        layers = BALL.replace("water", "{layers: [{below: 0, density: 900}, {below: 2, density: 500}, {density: 1}]}")
        volume = None
        for height, density in (-1.5, 900), (1, 500), (3.5, 1):
            shape = layers.replace("{name: ellipsoid, ", "{name: ellipsoid, a: 0.5, b: 0.4, c: 0.3, ")
            row = self.first_row(shape.replace("[0, 0, 1]", f"[0, 0, {height}]"))
            volume = volume or row["body_mass"][0] / 1200
            self.assertAlmostEqual(row["wrench_buoyancy"][0, 0, 5] / (density * volume * 9.81), 1, places=12)
        sideways = shape.replace("medium", "gravity: [0, 9.81, 0]\n  medium").replace("[0, 0, 1]", "[0, -1, 0]")
        row = self.first_row(sideways)  # up is -y, and the body is 1 m up
        self.assertAlmostEqual(row["wrench_buoyancy"][0, 0, 4] / (-500 * volume * 9.81), 1, places=12)

    def test_copies_are_random_by_their_seed(self):
        text = BALL.replace("    place: {position: [0, 0, 1]}",
                            "    repeat: {count: 50, seed: 3}\n    place: {position: [i/n, r1, r2]}")
        a, again = self.first_row(text)["plot_position"][0], self.first_row(text)["plot_position"][0]
        other = self.first_row(text, "bodies.0.repeat.seed=4")["plot_position"][0]
        np.testing.assert_array_equal(a, again)
        np.testing.assert_array_equal(a[:, 0], np.arange(50) / 50)
        self.assertTrue((a[:, 1:] != other[:, 1:]).all())
        self.assertEqual(len(set(a[:, 1:].ravel())), 100)
        self.assertTrue(((a[:, 1:] >= 0) & (a[:, 1:] < 1)).all())

    def test_a_pose_with_nan_is_a_failed_run_with_body_and_time(self):
        self.write("nan.yaml", BALL.replace("    density: 1200", "    poses: {z: 'Z*sqrt(0.05 - t)/sqrt(0.05)'}"))
        done = self.call("run", "nan.yaml")
        self.assertEqual(done.returncode, 1, done.stderr)
        for part in "body `ball`", "time 0.0", "vertex":
            self.assertIn(part, done.stderr)
        with h5py.File(self.path("nan.h5")) as file:  # the rows before the error are in the file
            self.assertGreaterEqual(file["time"].shape[0], 4)

    def test_a_pose_that_jumps_is_told(self):
        rest = np.vstack([np.eye(3), -np.eye(3)])
        faces = [[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]]
        poses = np.array([rest * (1 + 0.2 * np.sin(2 * np.pi * i / 24)) for i in range(24)])
        for shift, told in (0, None), (3, "vertex 1 jumps by 2.97 m from pose 9 to pose 10: expected poses that are continuous in time\n"):
            poses[9:, 0, 0] += shift
            with h5py.File(self.path("poses.h5"), "w") as file:
                file["poses"], file["face"] = poses, faces
            self.write("seen.yaml", BALL.replace("    shape: {name: ellipsoid, resolution: 16}",
                                                 "    poses: {sequence: poses.h5, step: 0.01, end: clamped}"))
            said = self.good("run", "seen.yaml").stderr
            self.assertEqual(told in said if told else not said, True, said)
        for x, told in ("X + 2*step(t - 0.05)", "vertex 1 jumps by 2 m at t = 0.05: expected poses that are continuous in time\n"), ("X + 2*t", None):
            self.write("jump.yaml", BALL.replace("    density", f"    poses: {{x: {x}}}\n    density"))
            said = self.good("check", "jump.yaml").stderr
            self.assertEqual(told in said if told else not said, True, said)

    def test_the_record_says_one_thing_in_several_ways(self):
        self.write("swimmer.yaml", SWIMMER.replace("FLOOR", "stiff").replace("METHOD", "hamilton_pontryagin"))
        self.good("run", "swimmer.yaml", "--quiet")
        with h5py.File(self.path("swimmer.h5")) as file:
            data = {name: item[()] for name, item in file.items() if isinstance(item, h5py.Dataset)}
        rows, bodies = len(data["time"]), 4
        self.assertEqual([name.decode() for name in data["body"]], ["swimmer", "leaf.0", "leaf.1", "leaf.2"])
        self.assertEqual(data["pose"].shape, (rows, bodies, 7))
        np.testing.assert_array_equal(data["plot_position"], data["pose"][:, :, :3])
        np.testing.assert_allclose(np.linalg.norm(data["pose"][:, :, 3:], axis=2), 1, atol=1e-14)
        np.testing.assert_allclose(data["body_energy"].sum(axis=1), data["energy"], rtol=1e-12)
        np.testing.assert_allclose(data["kinetic_energy"] + data["potential_energy"], data["energy"], rtol=1e-12)
        # p = K Y + mu_0; the momentum in the world frame is that of the body frame, rotated and moved
        K, Y, p = data["inertia"], data["twist"], data["body_momentum"]
        np.testing.assert_allclose(np.einsum("tbij,tbj->tbi", K, Y) + data["own_momentum"], p,
                                   atol=1e-9 * abs(p).max())
        w, u = data["pose"][..., 3:4], data["pose"][..., 4:]
        turn = lambda a: a + 2 * np.cross(u, np.cross(u, a) + w * a)
        linear = turn(p[..., 3:])
        angular = turn(p[..., :3]) + np.cross(data["plot_position"], linear)
        np.testing.assert_allclose(data["spatial_momentum"], np.concatenate([angular, linear], axis=2),
                                   atol=1e-12 * abs(data["spatial_momentum"]).max())
        np.testing.assert_allclose(turn(Y[..., 3:]), data["plot_velocity"], atol=1e-12)
        self.assertTrue((data["wrench_push"][:, 1:] == 0).all())  # the leaves have no such wrench
        self.assertGreater(abs(data["wrench_push"][:, 0]).max(), 0)
        for name in "gravity", "buoyancy", "drag", "flow", "linear_drag":
            self.assertIn("wrench_" + name, data)

    def test_killed_and_resumed_goes_on_to_the_same_bytes(self):
        rng = random.Random(SEED)
        for method in "hamilton_pontryagin", "hamilton_pontryagin, map: exponential", "rkmk4":
            for floor in "stiff", "reflecting":
                with self.subTest(method, floor=floor, seed=SEED):
                    self.write("a.yaml", SWIMMER.replace("FLOOR", floor).replace("METHOD", method))
                    self.good("run", "a.yaml", "-o", "whole.h5", "--quiet")
                    self.killed_and_resumed(["run", "a.yaml"], "part.h5", rng.uniform(0, 0.2), lambda: "1")
                    self.assertEqual(differing(datasets(self.path("part.h5")), datasets(self.path("whole.h5"))), [])
                    os.remove(self.path("part.h5"))

    def test_a_pose_before_a_wall_is_its_finer_mesh(self):
        """The inertia K of a body with poses, whose twelve faces the program refines, agrees to round-off of 1e3 kg with that of
        a rigid mesh of the same faces in the same pose and place, which this test refines."""
        corner = np.array([(x, y, z) for z in (-.5, .5) for y in (-.4, .4) for x in (-.6, .6)])
        face = [(0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 5), (0, 5, 4), (2, 6, 7), (2, 7, 3), (0, 4, 6), (0, 6, 2),
                (1, 3, 7), (1, 7, 5)]

        def write(name, x, faces):
            self.write(name, "".join("v %r %r %r\n" % tuple(map(float, v)) for v in x) +
                       "".join("f %d %d %d\n" % tuple(k + 1 for k in f) for f in faces))

        def divide(x, faces):
            x, middles, out = list(x), {}, []
            for f in faces:
                m = []
                for a, b in zip(f, (*f[1:], f[0])):
                    if (min(a, b), max(a, b)) not in middles:
                        middles[min(a, b), max(a, b)] = len(x)
                        x.append((x[a] + x[b]) / 2)
                    m.append(middles[min(a, b), max(a, b)])
                out += [(f[0], m[0], m[2]), (m[0], f[1], m[1]), (m[2], m[1], f[2]), tuple(m)]
            return np.array(x), out

        write("box.obj", corner, face)
        body = ("curvebody: 1\nfluid: {medium: water, gravity: [0, 0, 0], added_mass: {name: exact, wall: rigid, wall_x: 0.36, "
                "wall_y: -0.48, wall_z: 0.8, wall_height: -0.3%s}}\nbodies:\n  - name: a\n    mesh: %s\n    density: 500\n"
                "    drag: false\n%s    place: {position: %s, quaternion: %s}\n    motion: {velocity: [0.5, 0, 0]}\n"
                "integrator: {name: hamilton_pontryagin, step: 1/100}\ntime: {end: 0.02}\nrecord: {observables: [inertia]}\n")
        self.write("posed.yaml", body % ("", "box.obj", '    poses: {y: "Y + 0.1*sin(50*t)*X", z: "Z + 0.2*sin(50*t)*X^2"}\n',
                                         "[0.2, 0.1, 0.7]", "[1, 0, 0, 0]"))
        done = self.good("run", "posed.yaml")
        self.assertRegex(done.stdout, "momentum [0-9.]+e-1[4-9]")  # the momentum along the wall is conserved
        with h5py.File(self.path("posed.h5")) as record:
            pose, t, posed = record["pose"][-1, 0], record["time"][-1], record["inertia"][-1, 0]
            faces = int(record["body_added_mass_faces"][0])
        bend, x = np.sin(50 * t), corner.copy()
        x[:, 1] += 0.1 * bend * corner[:, 0]
        x[:, 2] += 0.2 * bend * corner[:, 0]**2
        while len(face) < faces:
            x, face = divide(x, face)
        self.assertEqual(len(face), faces)
        self.assertGreater(faces, 12)
        write("fine.obj", x, face)
        self.write("rigid.yaml", body % (", refine: false", "fine.obj", "", list(map(float, pose[:3])),
                                         list(map(float, pose[3:]))))
        self.good("run", "rigid.yaml", "--set", "time.end=0")
        with h5py.File(self.path("rigid.h5")) as record:
            np.testing.assert_allclose(posed, record["inertia"][0, 0], rtol=0, atol=1e-10 * np.max(posed))

    def test_warnings_of_a_run(self):
        spun = BALL.replace("    place", "    repeat: {count: 25, seed: 1}\n    motion: {spin: [30, 0, 0]}\n    place")
        self.write("spun.yaml", spun + "record: {checkpoint: 3}\n")
        done = self.good("run", "spun.yaml")
        lines = done.stderr.splitlines()
        self.assertEqual(lines[0], "curvebody: warning: at time 0.01, body `ball.0`: a step of 0.01 rotates it by 0.3 rad, "
                         "and the error of its path is proportional to the square of this angle; try an integrator.step of 0.0033")
        self.assertEqual(lines[10:], ["curvebody: warning: 15 more warnings are in spun.h5, where /event_kind is 4"])
        with h5py.File(self.path("spun.h5")) as file:
            self.assertEqual(file["warning_name"].asstr()[0], "turn")
            self.assertEqual(list(file["event_kind"][()]), [4] * 25)
            self.assertEqual(list(file["event_particle"][()]), list(range(25)))
            self.assertEqual((set(file["event_other"][()]), set(file["event_wall"][()])), ({-1}, {0}))
            self.assertIn("warning", file["event_kind"].attrs["flag_meanings"].split())
        self.good("export", "spun.h5", "--csv", "-o", "spun.csv")
        self.assertIn(b"0.01,warning,24,-1,0,0.2999", self.read("spun-events.csv"))
        if HAS_VIEW:
            shown = self.good("view", "spun.h5").stderr.splitlines()  # with all digits, equal to the record
            self.assertEqual(([line.split(", body")[1] for line in shown], len(shown)),
                             ([line.split(", body")[1] for line in lines[:10]], 10))
        quiet = self.good("run", "spun.yaml", "--quiet")
        self.assertEqual((quiet.stdout, quiet.stderr), ("", done.stderr))  # warnings are not progress
        report = json.loads(self.good("run", "spun.yaml", "--json").stdout)
        self.assertEqual(len(report["warnings"]), 25)
        self.assertEqual(report["warnings"][24]["time"], 0.01)
        self.assertIn("body `ball.24`: a step", report["warnings"][24]["text"])
        self.assertEqual(json.loads(self.good("resume", "spun.h5", "--until", "0.2", "--json").stdout)["warnings"], [])
        self.good("run", "spun.yaml", "-o", "whole.h5", "--quiet", "--set", "time.end=0.2")
        self.assertEqual(differing(datasets(self.path("spun.h5")), datasets(self.path("whole.h5"))), [])
        with h5py.File(self.path("spun.h5")) as resumed, h5py.File(self.path("whole.h5")) as whole:
            kept = resumed.attrs["warnings"].decode()
            self.assertEqual(kept, whole.attrs["warnings"].decode())
        lines = kept.splitlines()
        self.assertEqual(lines[0], "at time 0.01, body `ball.0`: a step of 0.01 rotates it by 0.3 rad, and the error of its "
                         "path is proportional to the square of this angle; try an integrator.step of 0.0033")
        self.assertEqual(lines[-1], "...")  # 25 lines take more than 3 kB
        self.assertIn("ball.0`: a step of 0.01", self.good("resume", "spun.h5", "--until", "0.3", "--quiet").stderr)
        self.assertEqual(json.loads(self.good("run", "spun.yaml", "--json", "--set", "integrator.step=0.003")
                                    .stdout)["warnings"], [])

    def test_a_shape_with_less_volume_than_the_one_of_its_added_mass_is_told(self):
        for shape, kind, share in (("{name: ball, resolution: 8}", "volume", "12"), ("{name: ball, resolution: 24}", "", ""),
                                   ("{name: disc, resolution: 8}, thickness: .001", "area", "9.8")):
            self.write("shape.yaml", "curvebody: 1\nfluid: {medium: water, added_mass: exact}\nbodies:\n"
                       f"  - {{name: b, shape: {shape}, density: 500}}\n"
                       "integrator: {name: hamilton_pontryagin, step: .01}\ntime: {end: .01}\n")
            lines = self.good("run", "shape.yaml").stderr.splitlines()
            told = [line for line in lines if " less " in line]
            self.assertEqual(len(told), 1 if kind else 0, lines)
            self.assertIn(f"% less {kind} than the" if kind else "", "".join(told))
            self.assertIn(f" have {share} %" if kind else "", "".join(told))

    def test_bodies_that_come_near_are_told_once(self):
        """The warning comes when the gap is smaller than the smaller body: balls of .1 m and .3 m approach at 1 m/s from a gap
        of .55 m, so it comes at the first step after t = .45."""
        ball = "    shape: {name: ellipsoid, a: R, b: R, c: R, resolution: 32}\n    density: 1200\n    drag: false\n"
        head, tail = BALL.split("bodies:\n")[0], "integrator: {name: METHOD, step: 0.01}\ntime: {end: 1}\nrecord: {checkpoint: 9}\n"
        small, large = ball.replace("R", "0.05"), ball.replace("R", "0.15")
        told = "bodies `a` and `b` are 0.09\\d* m apart, less than the size of the smaller one, 0.1 m: without " \
               "`contacts` bodies do not touch, and the fluid transmits no force between them"
        for method, fluid in (("hamilton_pontryagin", "exact"), ("rkmk4", "local")):
            text = (head.replace("medium: water", "medium: water\n  added_mass: " + fluid) + "bodies:\n  - name: a\n" + small +
                    "    motion: {velocity: [1, 0, 0]}\n  - name: b\n" + large + "    place: {position: [0.75, 0, 0]}\n" +
                    "  - name: far\n" + small + "    place: {position: [0, 9, 0]}\n" + tail.replace("METHOD", method))
            self.write("near.yaml", text)
            said = self.good("run", "near.yaml", "--quiet").stderr
            self.assertRegex(said, "^curvebody: warning: at time 0.46, " + told + "\n$")
            with h5py.File(self.path("near.h5")) as file:
                self.assertRegex(file.attrs["warnings"].decode(), "at time 0.46, " + told)
                self.assertEqual(file["warning_name"].asstr()[3], "near")
                self.assertEqual([list(file["event_kind"]), list(file["event_wall"])], [[4], [3]])
            self.good("run", "near.yaml", "-o", "part.h5", "--quiet", "--set", "time.end=0.5")
            self.good("resume", "part.h5", "--until", "1", "--quiet")
            self.assertEqual(differing(datasets(self.path("part.h5")), datasets(self.path("near.h5"))), [])
            beside = self.good("run", "near.yaml", "--set", "bodies.1.place.position=[0.75, 0.35, 0]").stderr
            self.assertEqual(beside, "")  # the gap stays above .15 m
            touching = self.good("run", "near.yaml", "--set", "bodies.1.place.position=[0.1, 0, 0]", "--set", "time.end=0.01").stderr
            self.assertIn("warning: bodies `a` and `b` overlap or nearly so", touching)
        self.assertEqual(self.good("run", "near.yaml", "--set", "bodies.1.place.position=[9, 0, 0]").stderr, "")

    def test_warnings_outlast_a_kill(self):
        """Warnings before the last checkpoint of a killed run are not repeated: the record has them, and resume prints them."""
        spun = BALL.replace("    place", "    motion: {spin: [30, 0, 0]}\n    place")
        self.write("spun.yaml", spun.replace("end: 0.1", "end: 1e6") + "record: {checkpoint: 3}\n")
        run = self.start("run", "spun.yaml")
        self.wait_for("spun.h5", run)
        while os.path.getsize(self.path("spun.h5")) < 1 << 16 and run.poll() is None:
            time.sleep(0.01)
        run.kill()
        run.wait()
        self.good("repair", "spun.h5")
        with h5py.File(self.path("spun.h5")) as file:
            end = float(file["time"][-1]) + 1
            self.assertIn("at time 0.01, body `ball`: a step of 0.01 rotates it by 0.3 rad", file.attrs["warnings"].decode())
        said = self.good("resume", "spun.h5", "--until", str(end), "--quiet").stderr
        self.assertEqual(said.count("a step of 0.01 rotates it by 0.3 rad"), 1)

    def test_a_grid_that_is_compressible_or_left_is_warned_of(self):
        places = np.arange(16) / 16
        x, y, _ = np.meshgrid(places, places, places, indexing="ij")
        k = 2 * np.pi
        for name, by, periodic in ("good", 1, 1), ("other", 2, 1), ("open", 1, 0):
            velocity = 0.1 * np.stack([by * np.sin(k * x) * np.cos(k * y), -np.cos(k * x) * np.sin(k * y), 0 * x], -1)
            with h5py.File(self.path(name + ".grid.h5"), "w") as file:
                file["velocity"] = velocity
                file["velocity"].attrs["periodic"] = [periodic] * 3
                file.update({axis: places for axis in "xyz"})
        text = BALL.replace("  medium: water", "  medium: water\n  flow: {grid: GRID}").replace(
            "resolution: 16}", "resolution: 12, a: 0.05, b: 0.05, c: 0.05}")
        for name, place, told in (("good", [0.5, 0.25, 0.3], ""), ("good", [0.3, 0.3, 0.3], ""),
                                  ("other", [0.1, 0.1, 0.3], "is the grid too coarse"),
                                  ("open", [0.5, 0.5, 0.5], ""), ("open", [-0.5, 0.5, 0.5], "or is the body outside?")):
            with self.subTest(name, place=place):
                self.write("a.yaml", text.replace("GRID", name + ".grid.h5").replace("[0, 0, 1]", str(place)))
                done = self.good("run", "a.yaml")
                self.assertEqual(done.stderr.count("has a divergence"), bool(told), done.stderr)
                self.assertIn(told, done.stderr)

    def tetrahedron(self, name, height, faces="f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"):
        return self.write(name, f"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 {height}\n" + faces)

    def test_poses_from_files(self):
        body = "    mesh: rest.obj\n    poses: {files: 'p-##.obj', step: 0.1, end: clamped}"
        text = BALL.replace("    shape: {name: ellipsoid, resolution: 16}", body)
        self.tetrahedron("rest.obj", 1)
        for i, height in enumerate((1, 1.1, 1.2)):
            self.tetrahedron(f"p-0{i}.obj", height)
        self.write("a.yaml", text)
        self.write("small.yaml", text.replace("    mesh: rest.obj", "    mesh: rest.obj\n    scale: 0.5"))
        self.write("alone.yaml", text.replace("    mesh: rest.obj\n", "    scale: 0.5\n"))
        mass, inertia = {}, {}
        for name in "a", "small", "alone":
            self.good("run", name + ".yaml", "--quiet", "--set", "record.observables=[inertia]")
            with h5py.File(self.path(name + ".h5")) as file:
                mass[name], inertia[name] = file["body_mass"][0], file["inertia"][-1, 0]
        self.assertAlmostEqual(mass["small"] / mass["a"], 0.5**3, places=12)
        np.testing.assert_allclose(inertia["small"][:3, :3], inertia["a"][:3, :3] * 0.5**5, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(inertia["alone"], inertia["small"], rtol=0, atol=0)
        # a missing file, another diagonal, and a pose turned inside out
        os.rename(self.path("p-01.obj"), self.path("p-03.obj"))
        self.assertIn("p-01.obj: error: the file is missing, although 'p-02.obj'", self.call("check", "a.yaml").stderr)
        os.rename(self.path("p-03.obj"), self.path("p-01.obj"))
        self.tetrahedron("rest.obj", 1, "f 3 2 1\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        self.assertIn("p-00.obj:5:1: error: face 1 has vertex 1 at its corner 1, expected 3 as in 'rest.obj'",
                      self.call("check", "a.yaml").stderr)
        self.tetrahedron("rest.obj", 1)
        self.tetrahedron("p-01.obj", -1)
        self.assertIn("pose 2: part", self.call("check", "a.yaml").stderr)

    def test_a_vertex_of_no_face_changes_nothing(self):
        corners, lone = ["0 0 0", "1 0 0", "0 1 0", "0 0 1"], ["7 7 -9", "0 0 -5"]
        faces = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
        shifted = "".join("f " + " ".join(str(int(c) + 1) for c in line.split()[1:]) + "\n"
                          for line in faces.splitlines())
        self.write("plain.obj", "".join(f"v {c}\n" for c in corners) + faces)
        self.write("lone.obj", "".join(f"v {c}\n" for c in lone[:1] + corners + lone[1:]) + shifted)
        for i, stretch in enumerate((1, 1.1, 1.2)):
            posed = corners[:3] + [f"0 0 {stretch}"]
            self.write(f"plain-{i}.obj", "".join(f"v {c}\n" for c in posed) + faces)
            self.write(f"lone-{i}.obj", "".join(f"v {c}\n" for c in lone[:1] + posed + lone[1:]) + shifted)
        for floor in "reflecting", "stiff":
            for poses in ("", "    poses: {z: 'Z*(1 + 0.1*sin(t))'}\n",
                          "    poses: {files: 'KIND-#.obj', step: 0.1, end: clamped}\n"):
                text = f"""\
curvebody: 1
fluid:
  medium: 1.2
  flow: {{shear: {{velocity: [0.1, 0, 0], gradient: [[0, 0, 0.2], [0, 0, 0], [0.1, 0, 0]]}}}}
  floor: {{kind: {floor}, height: -1}}
bodies:
  - mesh: KIND.obj
    mass_model: vertices
    points: [{{mass: 1, vertex: NUMBER}}]
{poses}    motion: {{spin: [1, 2, 3]}}
integrator: {{name: hamilton_pontryagin, step: 0.01}}
time: {{end: 0.7}}
record: {{every: 5, observables: [energy, wrenches, momentum, inertia, centre]}}
"""
                for kind, number in ("plain", "4"), ("lone", "5"):
                    self.write(kind + ".yaml", text.replace("KIND", kind).replace("NUMBER", number))
                    self.good("run", kind + ".yaml", "--quiet")
                self.assertEqual(differing(datasets(self.path("plain.h5")), datasets(self.path("lone.h5"))), [])
        with h5py.File(self.path("lone.h5")) as file:
            self.assertTrue((file["wrench_floor"][:] != 0).any())
        self.good("export", "lone.h5", "--xdmf")
        with h5py.File(self.path("lone-surface.h5")) as file:
            self.assertEqual(file["plot_position"].shape[1], 4)
        self.write("lone.yaml", text.replace("KIND", "lone").replace("NUMBER", "1"))
        self.assertIn("vertex 1 is not in any face: expected `at`, or another vertex", self.call("check", "lone.yaml").stderr)

    def test_a_body_that_has_changed_is_not_gone_on_with(self):
        self.tetrahedron("rest.obj", 1)
        self.write("a.yaml", BALL.replace("    shape: {name: ellipsoid, resolution: 16}", "    mesh: rest.obj"))
        self.good("run", "a.yaml", "--quiet")
        self.good("resume", "a.h5", "--until", "0.2", "--quiet")
        self.tetrahedron("rest.obj", 1.3)
        done = self.call("resume", "a.h5", "--until", "0.3", "--quiet")
        self.assertEqual(done.returncode, 2)
        self.assertIn("has changed since", done.stderr)

    def test_resume_goes_to_the_end_of_the_scenario(self):
        self.write("a.yaml", SWIMMER.replace("FLOOR", "stiff").replace("METHOD", "rkmk4"))
        self.good("run", "a.yaml", "-o", "whole.h5", "--quiet")
        self.good("run", "a.yaml", "-o", "part.h5", "--quiet", "--set", "time.end=0.5")
        self.good("resume", "part.h5", "--until", "1", "--quiet")
        self.assertEqual(differing(datasets(self.path("part.h5")), datasets(self.path("whole.h5"))), [])
        self.killed_and_resumed(["run", "a.yaml"], "killed.h5", 0.3, lambda: None)
        self.assertEqual(differing(datasets(self.path("killed.h5")), datasets(self.path("whole.h5"))), [])

    def test_threads_and_order_of_bodies_change_nothing(self):
        text = BALL.replace("    place", "    repeat: {count: 400, seed: 3}\n    motion: {spin: [r1, r2, r3]}\n    place")
        self.write("many.yaml", text.replace("[0, 0, 1]", "[i, 0, 0]"))
        for threads in "1", "2", "5":
            self.good("run", "many.yaml", "-o", threads + ".h5", env=os.environ | {"OMP_NUM_THREADS": threads})
            self.assertEqual(differing(datasets(self.path("1.h5")), datasets(self.path(threads + ".h5"))), [])

    def test_resolved_scenario_and_lists(self):
        self.write("mesh.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        self.write("a.yaml", SWIMMER.replace("FLOOR", "stiff").replace("METHOD", "hamilton_pontryagin")
                   .replace("shape: {name: eel, resolution: 16}", "mesh: mesh.obj\n    scale: 0.2"))
        first = self.good("check", "a.yaml").stdout
        os.mkdir(self.path("elsewhere"))
        self.write("elsewhere/b.yaml", first)
        self.assertEqual(self.good("check", "elsewhere/b.yaml").stdout, first)
        names = {entry["name"] for entry in json.loads(self.good("list", "fluids", "--json").stdout)["fluids"]}
        self.assertEqual(names, {"fluid", "floor", "particles", "body", "ellipsoid", "exact", "local", "mujoco_ellipsoid",
                             "mujoco_inertia_box", "offset_sources", "thin_plate", "viscous_drag"})
        names = {entry["name"] for entry in json.loads(self.good("list", "integrators", "--json").stdout)["integrators"]}
        self.assertLessEqual({"hamilton_pontryagin", "rkmk4"}, names)


main()
