#!/usr/bin/python3
"""Bodies in a fluid from the command line: what is refused and where, the record, restart to the same bytes.

    immersed.py BINARY [seed]
"""
import json
import os
import random
import sys
import time

from command import Case, datasets, differing, main

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(missing)
    sys.exit(77)

SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else time.time_ns() % 10**9

BALL = """\
curvebody: 1
title: a ball
fluid:
  medium: water
bodies:
  - name: ball
    shape: {name: ellipsoid, resolution: 16}
    density: 1200
    place: {position: [0, 0, 1]}
integrator: {name: hamilton_pontryagin, step: 0.01}
time: {end: 0.1}
"""

# what stands in place of a line, and what is said: line, column, a part of the message
WRONG = [
    ("  medium: water", "  gravity: [0, 0, 0]", ":4:3:", "expected `medium`"),
    ("  medium: water", "  medium: -1", ":4:11:", "density"),
    ("  medium: water", "  medium: 'x + q'", ":4:16:", "unknown name `q`"),
    ("  medium: water", "  medium: {layers: [{density: 2}, {density: 1}]}", ":4:21:", "expected `below`"),
    ("  medium: water", "  medium: {layers: [{below: 1, density: 2}, {below: 0, density: 2}, {density: 1}]}", ":4:20:", "ascend"),
    ("  medium: water", "  medium: water\n  flow: {unifrom: [1, 0, 0]}", ":5:10:", "did you mean 'uniform'"),
    ("  medium: water", "  medium: water\n  flow: {uniform: [1, 0]}", ":5:19:", "expected a list of three"),
    ("  medium: water", "  medium: water\n  flow: {velocity: [0, 'sin(q)', 0]}", ":5:29:", "unknown name `q`"),
    ("  medium: water", "  medium: water\n  flow: {grid: none.h5}", "none.h5", ""),
    ("  medium: water", "  medium: water\n  floor: {kind: soft}", ":5:17:", "stiff"),
    ("  medium: water", "  medium: water\n  floor: {normal: [0, 0, 0]}", ":5:19:", "direction"),
    ("  medium: water", "  medium: water\n  gravity: [0, 0, 1/0]", ":5:", "finite"),
    ("    density: 1200", "    density: -1", ":8:14:", ">= 0"),
    ("    density: 1200", "    densty: 1", ":8:5:", "did you mean 'density'"),
    ("    density: 1200", "    parts: {boty: {density: 1}}", ":8:13:", "did you mean `body`"),
    ("    density: 1200", "    points: [{mass: -1, at: [0, 0, 0]}]", ":8:21:", "mass >= 0"),
    ("    density: 1200", "    points: [{mass: 1, vertex: 100000}]", ":8:32:", "a vertex from 1 to"),
    ("    density: 1200", "    poses: {z: 'Z + Q'}", ":8:21:", "unknown name `Q`"),
    ("    density: 1200", "    poses: {parts: [{part: fin, x: X}]}", ":8:", "fin"),
    ("    density: 1200", "    poses: {files: 'pose-##.obj', step: 1}", "pose-", ""),
    ("    density: 1200", "    poses: {sequence: none.h5}", "none.h5", ""),
    ("    density: 1200", "    wrenches: [{name: drag, force: [1, 0, 0]}]", ":8:23:", "of the fluid"),
    ("    density: 1200", "    wrenches: [{name: push}]", ":8:16:", "expected `force` or `torque`"),
    ("    density: 1200", "    wrenches: [{name: push, force: [1, 'T', 0]}]", ":8:41:", "unknown name `T`"),
    ("    density: 1200", "    linear_drag: {normal: -1}", ":8:18:", ">= 0"),
    ("    density: 1200", "    scale: 2", ":8:12:", "belongs to `mesh`"),
    ("    shape: {name: ellipsoid, resolution: 16}", "    shape: ellipsoyd", ":7:12:", "did you mean 'ellipsoid'"),
    ("    shape: {name: ellipsoid, resolution: 16}", "    shape: {name: ellipsoid, resolution: 1}", ":7:42:", "[8, 4000]"),
    ("    shape: {name: ellipsoid, resolution: 16}", "    mesh: none.obj", "none.obj", ""),
    ("    shape: {name: ellipsoid, resolution: 16}", "    mesh: open.obj", ":6:", "thickness"),
    ("    shape: {name: ellipsoid, resolution: 16}", "    mesh: twice.obj", ":7:11:", "face"),
    ("    shape: {name: ellipsoid, resolution: 16}", "    name: b", ":7:5:", ""),
    ("    place: {position: [0, 0, 1]}", "    place: {quaternion: [1, 1, 0, 0]}", ":9:25:", "unit quaternion"),
    ("    place: {position: [0, 0, 1]}", "    place: {rotation: {axis: [0, 0, 0], angle: 1}}", ":9:30:", "length 0"),
    ("    place: {position: [0, 0, 1]}", "    place: {position: [i, 0, 0]}", ":9:24:", "unknown name `i`"),
    ("    place: {position: [0, 0, 1]}", "    repeat: {count: 0}", ":9:21:", "[1, "),
    ("name: hamilton_pontryagin", "name: lobatto", ":10:20:", "`hamilton_pontryagin`, `rkmk4`"),
    ("name: hamilton_pontryagin", "name: hamilton_pontryagin, map: caley", ":10:46:", "cayley"),
    ("time: {end: 0.1}", "time: {end: 0.1}\nspace: e3", ":12:8:", "`space` beside `fluid`"),
    ("time: {end: 0.1}", "time: {end: 0.1}\nrecord: {observables: [wrench]}", ":12:24:", "did you mean `wrenches`"),
    ("time: {end: 0.1}", "time: {end: 0.1}\nrecord: {chart: polar}", ":12:17:", "belongs to particles"),
]

# A generic body, unsymmetric, with everything at once: poses, layers, a flow, wrenches, drag, floor.
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
record: {every: 4, checkpoint: 5, observables: [energy, wrenches, momentum, inertia, centre, breathing]}
"""


class Immersed(Case):
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

    def test_a_pose_with_nan_is_a_failed_run_with_body_and_time(self):
        self.write("nan.yaml", BALL.replace("    density: 1200", "    poses: {z: 'Z*sqrt(0.05 - t)/sqrt(0.05)'}"))
        done = self.call("run", "nan.yaml")
        self.assertEqual(done.returncode, 1, done.stderr)
        for part in "body `ball`", "time 0.0", "vertex":
            self.assertIn(part, done.stderr)
        with h5py.File(self.path("nan.h5")) as file:  # what was computed before is there
            self.assertGreaterEqual(file["time"].shape[0], 4)

    def test_the_record_says_one_thing_in_several_ways(self):
        self.write("swimmer.yaml", SWIMMER.replace("FLOOR", "stiff").replace("METHOD", "hamilton_pontryagin"))
        self.good("run", "swimmer.yaml", "--quiet")
        with h5py.File(self.path("swimmer.h5")) as file:
            data = {name: item[()] for name, item in file.items() if isinstance(item, h5py.Dataset)}
        rows, bodies = len(data["time"]), 4
        self.assertEqual([name.decode() for name in data["body"]], ["swimmer", "leaf.0", "leaf.1", "leaf.2"])
        self.assertEqual(data["pose"].shape, (rows, bodies, 7))
        np.testing.assert_array_equal(data["x"], data["pose"][:, :, :3])
        np.testing.assert_allclose(np.linalg.norm(data["pose"][:, :, 3:], axis=2), 1, atol=1e-14)
        np.testing.assert_allclose(data["body_energy"].sum(axis=1), data["energy"], rtol=1e-12)
        np.testing.assert_allclose(data["kinetic_energy"] + data["potential_energy"], data["energy"], rtol=1e-12)
        # p = K Y + mu_0, and the world's momentum is the body's, turned and moved
        K, Y, p = data["inertia"], data["twist"], data["body_momentum"]
        np.testing.assert_allclose(np.einsum("tbij,tbj->tbi", K, Y) + data["fluid_momentum"], p,
                                   atol=1e-9 * abs(p).max())
        w, u = data["pose"][..., 3:4], data["pose"][..., 4:]
        turn = lambda a: a + 2 * np.cross(u, np.cross(u, a) + w * a)
        linear = turn(p[..., 3:])
        angular = turn(p[..., :3]) + np.cross(data["x"], linear)
        np.testing.assert_allclose(data["spatial_momentum"], np.concatenate([angular, linear], axis=2),
                                   atol=1e-12 * abs(data["spatial_momentum"]).max())
        np.testing.assert_allclose(turn(Y[..., 3:]), data["v"], atol=1e-12)
        self.assertTrue((data["wrench_push"][:, 1:] == 0).all())  # the leaves have none
        self.assertGreater(abs(data["wrench_push"][:, 0]).max(), 0)
        for name in "gravity", "buoyancy", "drag", "flow", "linear_drag":
            self.assertIn("wrench_" + name, data)

    def test_killed_and_resumed_goes_on_to_the_same_bytes(self):
        rng, resumed = random.Random(SEED), 0
        for method in "hamilton_pontryagin", "hamilton_pontryagin, map: exponential", "rkmk4":
            for floor in "stiff", "reflecting":
                with self.subTest(method, floor=floor, seed=SEED):
                    self.write("a.yaml", SWIMMER.replace("FLOOR", floor).replace("METHOD", method))
                    self.good("run", "a.yaml", "-o", "whole.h5", "--quiet")
                    run = self.start("run", "a.yaml", "-o", "part.h5", "--quiet")
                    while not os.path.exists(self.path("part.h5")):
                        self.assertIsNone(run.poll())
                    time.sleep(rng.uniform(0, 0.2))
                    run.kill()
                    run.wait()
                    done = self.call("resume", "part.h5", "--until", "1", "--quiet")
                    if done.returncode:  # killed before its first checkpoint
                        self.assertIn("no whole checkpoint", done.stderr)
                        continue
                    resumed += 1
                    self.assertEqual(differing(datasets(self.path("part.h5")), datasets(self.path("whole.h5"))), [])
                    os.remove(self.path("part.h5"))
        self.assertGreater(resumed, 0)

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
        self.assertEqual(names, {"fluid", "floor", "body"})
        names = {entry["name"] for entry in json.loads(self.good("list", "integrators", "--json").stdout)["integrators"]}
        self.assertLessEqual({"hamilton_pontryagin", "rkmk4"}, names)


main()
