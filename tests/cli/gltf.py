#!/usr/bin/python3
"""`curvebody export --gltf` and `--sequence`: the files obey the glTF 2.0 specification, and show what the record contains at
its times. The numbers of a file are single precision, so that they are compared with a relative error of 2^-23."""
import base64
import json
import os
import shutil
import struct
import sys
import tempfile
import time
import unittest

import h5py
import numpy as np

from command import BALL, ROD, Case, main

HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIOS = os.path.join(HERE, "..", "..", "analysis", "scenarios")
THREE = "/usr/share/javascript/three/"
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-.5, .5) for z in (-.25, .25)])
FACES = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
                  [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]])
POINTS = np.concatenate([CORNERS, CORNERS + [0, 3, 0]])


def obj():
    """Two boxes, each a group of its own."""
    text = "".join("v {} {} {}\n".format(*x) for x in POINTS)
    for group in range(2):
        text += f"g part{group}\n" + "".join("f {} {} {}\n".format(*f) for f in FACES + 8 * group + 1)
    return text


BOXES = """\
curvebody: 1
title: "boxes \\"1\\""
fluid: {medium: none, gravity: [0, 0, -9.81]}
bodies:
  - name: stones
    mesh: boxes.obj
    density: 500
    place: {position: [i, 0, 1], rotation: {axis: [0, 1, 0], angle: pi/6}}
    motion: {velocity: [0, i, 0], spin: [0.5, 1, 20], frame: body}
    repeat: {count: 2, seed: 1}
  - name: wing
    mesh: boxes.obj
    poses: {z: "Z + 0.1*X*sin(3*t)"}
    density: 500
    place: {position: [0, 5, 0]}
    motion: {spin: [0.2, 0, -1], frame: world}
integrator: {name: hamilton_pontryagin, step: 1/200}
time: {end: 1}
record: {every: 5, observables: [energy]}
"""
BOUNCE = """\
curvebody: 1
space: e3
bodies:
  - {kind: particles, name: ball, radius: 0.1, place: {points: [[0, 0, 1.1]]}, motion: {chart: cartesian, velocities: [[0.3, 0, 0]]}}
potentials:
  - expression: {value: "m*9.81*z"}
contacts: {}
walls:
  - plane: {at: {point: [0, 2, 0.25]}, normal: [0, 0, 2], restitution: 0.8, name: ground}
  - plane: {at: {point: [0, 0, 5]}, normal: [0, 0, -1], name: ceiling}
  - plane: {at: {point: [9, 0, 0]}, normal: [-1, 2, -2], name: slope}
  - ball: {at: {point: [0, 1, 0]}, radius: 20, side: inside, name: room}
integrator: {name: lobatto, stages: 4, step: 0.01}
time: {start: 1, end: 2}
record: {every: 2, observables: [energy]}
"""


def number(x):
    raise AssertionError(f"{x} is not JSON")


class Glb:
    """A reader that checks what the specification demands of every file."""
    WIDTH = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        magic, version, length, size, kind = struct.unpack_from("<4sIII4s", data)
        assert (magic, version, length, kind) == (b"glTF", 2, len(data), b"JSON") and size % 4 == 0
        self.json = json.loads(data[20:20 + size], parse_constant=number)
        size, kind = struct.unpack_from("<I4s", data, 20 + size)
        self.bin = data[len(data) - size:]
        assert kind == b"BIN\0" and size % 4 == 0 and self.json["buffers"] == [{"byteLength": size}]
        assert self.json["asset"]["version"] == "2.0"
        self.accessors = [self.accessor(a) for a in self.json["accessors"]]
        self.nodes = {n["name"]: n for n in self.json["nodes"]}
        self.animation()
        self.tree()
        for mesh in self.json["meshes"]:
            self.mesh(mesh)

    def accessor(self, a):
        view = self.json["bufferViews"][a["bufferView"]]
        kind, n = {5126: "<f4", 5125: "<u4"}[a["componentType"]], a["count"] * self.WIDTH[a["type"]]
        assert view["byteOffset"] % 4 == 0 and 0 < 4 * n == view["byteLength"] and view["byteOffset"] + 4 * n <= len(self.bin)
        x = np.frombuffer(self.bin, kind, n, view["byteOffset"]).reshape(a["count"], -1)
        assert np.isfinite(x).all()
        if kind == "<f4":
            assert (np.float32(a["min"]) == x.min(0)).all() and (np.float32(a["max"]) == x.max(0)).all()
        return x

    def animation(self):
        self.channels = {}
        for a in self.json.get("animations", []):
            for c in a["channels"]:
                sampler, target = a["samplers"][c["sampler"]], c["target"]
                self.keys, x = self.accessors[sampler["input"]][:, 0], self.accessors[sampler["output"]]
                node = self.json["nodes"][target["node"]]
                name = node["name"], target["path"]
                assert self.keys[0] >= 0 and (np.diff(self.keys) > 0).all() and sampler["interpolation"] == "LINEAR"
                assert name not in self.channels
                targets = len(self.json["meshes"][node["mesh"]]["primitives"][0].get("targets", [])) if "mesh" in node else 0
                assert len(x) == len(self.keys) * (targets if target["path"] == "weights" else 1)
                assert x.shape[1] == {"translation": 3, "rotation": 4, "scale": 3, "weights": 1}[target["path"]]
                self.channels[name] = x.reshape(len(self.keys), -1)
                if target["path"] == "rotation":
                    assert abs(np.linalg.norm(x, axis=1) - 1).max() < 1e-6

    def tree(self):
        """All nodes but one are children of `record`, which is the root of the scene."""
        children = self.nodes["record"]["children"]
        assert self.json["scenes"][0]["nodes"] == [len(self.json["nodes"]) - 1]
        assert sorted(children) == list(range(len(self.json["nodes"]) - 1))
        q = np.array(self.nodes["record"]["rotation"])
        assert abs(rotated(q, [[0, 0, 1]]) - [0, 1, 0]).max() < 1e-6  # the z axis points up

    def mesh(self, mesh):
        for p in mesh["primitives"]:
            vertices = self.accessors[p["attributes"]["POSITION"]]
            assert self.accessors[p["indices"]].max() < len(vertices) and p["material"] < len(self.json["materials"])
            assert len(self.accessors[p["indices"]]) % {1: 2, 4: 3}[p.get("mode", 4)] == 0
            assert len(p.get("targets", [])) == len(mesh["primitives"][0].get("targets", []))
            for t in p.get("targets", []):
                assert len(self.accessors[t["POSITION"]]) == len(vertices)
            if "NORMAL" in p["attributes"]:
                assert abs(np.linalg.norm(self.accessors[p["attributes"]["NORMAL"]], axis=1) - 1).max() < 1e-6

    def value(self, name, path, key):
        x = self.channels.get((name, path))
        return np.array(self.nodes[name][path] if x is None else x[key], float)

    def primitives(self, name):
        return self.json["meshes"][self.nodes[name]["mesh"]]["primitives"]

    def own(self, name, key, primitive=0):
        """The vertices of a node in its own coordinates, with its morph targets."""
        p = self.primitives(name)[primitive]
        x = self.accessors[p["attributes"]["POSITION"]].astype(float)
        if "targets" in p:
            w = self.channels[name, "weights"][key]
            x = x + sum(w[i] * self.accessors[p["targets"][i]["POSITION"]].astype(float) for i in np.flatnonzero(w))
        return x

    def place(self, name, key, x):
        x = rotated(self.value(name, "rotation", key), x * self.value(name, "scale", key))
        return x + self.value(name, "translation", key)


def rotated(q, a):
    """The rotation by a quaternion x, y, z, w of each row of a, without its matrix."""
    u, w, a = np.array(q[:3]), q[3], np.array(a, float)
    return a + 2 * np.cross(u, np.cross(u, a) + w * a)


def pose_rotated(pose, a):
    return rotated(np.append(pose[4:], pose[3]), a) + pose[:3]


class Gltf(Case):
    shared = None

    def near(self, a, b):
        """Equal up to a few roundings of single precision."""
        self.assertEqual(np.shape(a), np.shape(b))
        self.assertLess(abs(np.array(a) - b).max(), 4 * 2**-23 * max(1, abs(np.array(b)).max()))

    def in_picture(self, glb, names):
        """At every key the camera sees these nodes completely, also in a picture as wide as high."""
        camera = glb.nodes["camera"]
        half = np.tan(glb.json["cameras"][0]["perspective"]["yfov"] / 2)
        for name in names:
            for k in range(len(glb.keys)):
                x = glb.place(name, k, glb.own(name, k)) - camera["translation"]
                x = rotated(camera["rotation"] * np.array([-1, -1, -1, 1]), x)
                self.assertLess((abs(x[:, :2]).max(1) + half * x[:, 2]).max(), 0, name)

    def circles(self, glb, name, size):
        """The wires of a node are closed circles of 64 vertices around its place, on a sphere of this radius."""
        (wires,) = glb.primitives(name)
        x, edges = glb.place(name, 0, glb.own(name, 0)), glb.accessors[wires["indices"]].reshape(-1, 2)
        self.near(np.linalg.norm(x - glb.nodes[name]["translation"], axis=1), np.full(len(x), size))
        self.assertTrue((np.bincount(edges.ravel()) == 2).all())
        self.assertLess(np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1).max(), 2 * np.sin(np.pi / 64) * size * (1 + 1e-6))

    def record(self):
        """The record of three boxes, which all tests share with its mesh."""
        if not Gltf.shared:
            Gltf.shared = tempfile.mkdtemp(prefix="curvebody-")
            self.addClassCleanup(shutil.rmtree, Gltf.shared)
            for name, text in ("boxes.obj", obj()), ("boxes.yaml", BOXES):
                with open(os.path.join(Gltf.shared, name), "w") as file:
                    file.write(text)
            self.good("run", os.path.join(Gltf.shared, "boxes.yaml"), "-o", os.path.join(Gltf.shared, "boxes.h5"))
        shutil.copy(os.path.join(Gltf.shared, "boxes.h5"), self.path("boxes.h5"))

    def boxes(self, *options):
        self.record()
        self.assertEqual(self.good("export", "boxes.h5", "--gltf", *options).stdout, "boxes.glb\n")
        return Glb(self.path("boxes.glb"))

    def test_bodies_are_at_the_poses_of_the_record(self):
        glb = self.boxes()
        with h5py.File(self.path("boxes.h5")) as file:
            t, pose, names = file["time"][()], file["pose"][()], ["stones.0", "stones.1", "wing"]
            self.assertEqual(glb.json["scenes"][0]["name"], file.attrs["title"])
        self.assertTrue((glb.keys == np.float32(t)).all())
        self.in_picture(glb, names)
        for b, name in enumerate(names):
            for k in range(len(t)):
                self.assertTrue((glb.value(name, "translation", k) == np.float32(pose[k, b, :3])).all())
                q = glb.value(name, "rotation", k)
                self.near(q * np.sign(q[3] * pose[k, b, 3]), np.append(pose[k, b, 4:], pose[k, b, 3]))
                moved = POINTS + (np.outer(.1 * POINTS[:, 0] * np.sin(3 * t[k]), [0, 0, 1]) if name == "wing" else 0)
                self.near(glb.place(name, k, glb.own(name, k)), pose_rotated(pose[k, b], moved))

    def test_quaternions_of_neighbouring_keys_are_on_one_side(self):
        self.record()
        with h5py.File(self.path("boxes.h5"), "r+") as file:
            pose = file["pose"][()]
            pose[3::4, :, 3:] *= -1  # the same rotations
            file["pose"][...] = pose
        self.good("export", "boxes.h5", "--gltf")
        q = Glb(self.path("boxes.glb")).channels["stones.0", "rotation"]
        self.assertGreater((q[1:] * q[:-1]).sum(1).min(), 0)
        self.assertLess((q * q[0]).sum(1).min(), 0)  # the body turns far: not all quaternions are on the side of the first

    def test_copies_share_a_mesh_whose_parts_have_colours(self):
        glb = self.boxes()
        self.assertEqual(glb.nodes["stones.0"]["mesh"], glb.nodes["stones.1"]["mesh"])
        first, second = glb.primitives("stones.0")
        self.assertNotEqual(first["material"], second["material"])
        for p, primitive in enumerate((first, second)):
            corners = glb.accessors[primitive["indices"]].reshape(-1, 3)
            self.assertEqual(sorted(map(tuple, corners)), sorted(map(tuple, FACES + 8 * p)))

    def test_every_chooses_rows_and_the_time_scale_stretches_time(self):
        glb = self.boxes("--every", "7", "--time-scale", "2.5")
        with h5py.File(self.path("boxes.h5")) as file:
            self.assertTrue((glb.keys == np.float32(2.5 * file["time"][::7])).all())
            self.assertTrue((glb.channels["wing", "translation"] == np.float32(file["pose"][::7, 2, :3])).all())
        extras = glb.json["scenes"][0]["extras"]
        self.assertEqual((extras["time_scale"], extras["every"], extras["curvature"]), (2.5, 7, 0))

    def test_few_rows_are_chosen_if_a_body_deforms(self):
        self.record()
        self.good("run", os.path.join(Gltf.shared, "boxes.yaml"), "-o", "all.h5", "--set", "record.every=1")
        note = "all.h5: only one of every 2 rows is exported"
        self.assertIn(note, self.good("export", "all.h5", "--gltf").stderr)  # 201 rows are too many
        self.assertEqual(len(Glb(self.path("all.glb")).keys), 101)
        self.assertNotIn(note, self.good("export", "all.h5", "--gltf", "--every", "1").stderr)
        self.assertEqual(len(Glb(self.path("all.glb")).keys), 201)

    def test_rows_at_equal_times_of_the_animation_are_left_out(self):
        self.record()
        done = self.good("export", "boxes.h5", "--gltf", "--time-scale", "1e-300")
        self.assertIn("boxes.h5: 40 rows are left out, because their times", done.stderr)
        self.assertEqual(Glb(self.path("boxes.glb")).json.get("animations"), None)

    def test_a_body_in_a_curved_space_has_its_plot_coordinates(self):
        self.good("run", os.path.join(SCENARIOS, "curved-fluid", "clifford.yaml"), "-o", "c.h5", "--set", "time.end=1")
        self.good("export", "c.h5", "--gltf")
        self.good("export", "c.h5", "--xdmf")
        glb = Glb(self.path("c.glb"))
        name = glb.json["nodes"][0]["name"]
        with h5py.File(self.path("c-surface.h5")) as file:
            for k, x in enumerate(file["plot_position"][()]):
                self.near(glb.place(name, k, glb.own(name, k)), x)
        self.assertEqual(glb.nodes["equator"]["scale"], [1, 1, 1])

    def test_particles_and_bonds_follow_the_plot_positions(self):
        oblique = ROD.replace("[0.5, pi/2, pi/2]", "[0.7, pi/3, pi/5]")
        self.good("run", self.write("rod.yaml", oblique), "-o", "rod.h5")
        self.good("export", "rod.h5", "--gltf", "-o", "r.glb")
        glb = Glb(self.path("r.glb"))
        with h5py.File(self.path("rod.h5")) as file:
            x = file["plot_position"][()]
        spheres = [n["name"] for n in glb.json["nodes"][:2]]
        line = glb.primitives("bond 0")[0]
        self.assertEqual(line["mode"], 1)
        for k in range(len(x)):
            for i in range(2):
                self.assertTrue((glb.value(spheres[i], "translation", k) == np.float32(x[k, i])).all())
            self.near(glb.place("bond 0", k, glb.accessors[line["attributes"]["POSITION"]].astype(float)), x[k])
        self.circles(glb, "border of the space", 1)
        self.in_picture(glb, [*spheres, "bond 0"])

    def test_walls_sizes_and_events_are_in_the_file(self):
        self.good("run", self.write("b.yaml", BOUNCE), "-o", "b.h5")
        self.good("export", "b.h5", "--gltf", "--time-scale", "3")
        glb = Glb(self.path("b.glb"))
        plane = glb.place("ground", 0, glb.own("ground", 0))
        self.near(plane[:, 2], np.full(4, .25))
        self.assertGreater(np.ptp(plane[:, 0]), 0.3)
        self.near(glb.place("ceiling", 0, glb.own("ceiling", 0))[:, 2], np.full(4, 5))
        self.near((glb.place("slope", 0, glb.own("slope", 0)) - [9, 0, 0]) @ [-1, 2, -2] / 3, np.zeros(4))
        self.near(glb.nodes["room"]["translation"], [0, 1, 0])
        self.circles(glb, "room", 20)
        self.near(glb.nodes[glb.json["nodes"][0]["name"]]["scale"], [.1] * 3)
        with h5py.File(self.path("b.h5")) as file:
            self.assertTrue((glb.keys == np.float32(3 * (file["time"][()] - 1))).all())
            events = glb.json["scenes"][0]["extras"]["events"]
            self.assertGreater(len(events), 0)
            self.assertEqual([e["time"] for e in events], list(file["event_time"]))
            self.assertEqual({e["kind"] for e in events}, {"reflect"})
            for name in "particle", "other", "wall":
                self.assertEqual([e[name] for e in events], list(file["event_" + name]))
            self.near([e["seconds"] for e in events], 3 * (file["event_time"][()] - 1))

    def test_a_floor_and_the_end_of_the_fluid_are_planes(self):
        for fluid, name, height in (("medium: water, floor: {kind: reflecting, height: -0.25}", "floor", -.25),
                                    ("medium: water, floor: {stiffness: 100, height: -0.75}", "floor", -.75),
                                    ("medium: water, added_mass: {name: exact, wall: rigid, wall_height: -3, refine: false}", "wall of the fluid", -3)):
            self.good("run", self.write("f.yaml", BALL.replace("  medium: water", "  {" + fluid + "}")), "-o", "f.h5",
                      "--force", "--set", "time.end=0.01")
            self.good("export", "f.h5", "--gltf")
            glb = Glb(self.path("f.glb"))
            self.near(glb.place(name, 0, glb.own(name, 0))[:, 2], np.full(4, height))

    def test_a_sequence_has_the_surface_of_each_frame(self):
        self.record()
        self.good("export", "boxes.h5", "--xdmf", "--every", "10")
        stl = self.good("export", "boxes.h5", "--sequence", "stl", "--every", "10", "-o", "s.stl").stdout
        obj_ = self.good("export", "boxes.h5", "--sequence", "obj", "--every", "10").stdout
        with h5py.File(self.path("boxes-surface.h5")) as file:
            x, face = file["plot_position"][()], file["face"][()]
        self.assertEqual(stl, f"s-0000.stl .. s-{len(x) - 1:04}.stl\n")
        self.assertEqual(obj_, f"boxes-0000.obj .. boxes-{len(x) - 1:04}.obj\n")
        self.assertFalse(os.path.exists(self.path(f"s-{len(x):04}.stl")))
        for k in range(len(x)):
            with open(self.path(f"s-{k:04}.stl"), "rb") as file:
                data = file.read()
            (n,) = struct.unpack_from("<I", data, 80)
            self.assertEqual((n, len(data)), (len(face), 84 + 50 * n))
            facet = np.frombuffer(data, np.dtype([("x", "<f4", 12), ("end", "<u2")]), n, 84)["x"].reshape(n, 4, 3)
            self.assertTrue((facet[:, 1:] == np.float32(x[k][face])).all())
            normal = np.cross(x[k][face[:, 1]] - x[k][face[:, 0]], x[k][face[:, 2]] - x[k][face[:, 0]])
            self.near(facet[:, 0], normal / np.linalg.norm(normal, axis=1)[:, None])
            with open(self.path(f"boxes-{k:04}.obj")) as file:
                lines = [line.split() for line in file]
            self.assertTrue((np.array([w[1:] for w in lines if w[0] == "v"], float) == x[k]).all())
            self.assertEqual(sorted(tuple(map(int, w[1:])) for w in lines if w[0] == "f"), sorted(map(tuple, face + 1)))
            bodies = ["stones.0", "stones.1", "wing"]
            self.assertEqual([w[1] for w in lines if w[0] == "o"], bodies)
            self.assertEqual([w[1] for w in lines if w[0] == "g"], [f"{b}/part{p}" for b in bodies for p in range(2)])

    def test_wrong_options_are_named(self):
        self.good("run", self.write("rod.yaml", ROD), "-o", "rod.h5")
        for words, text in [(["--gltf", "--csv"], "expected one of --csv, --xdmf, --gltf, --sequence and --flow"),
                            (["--gltf", "--time-scale", "0"], "expected a positive number after --time-scale, not `0`"),
                            (["--gltf", "--time-scale", "nan"], "expected a positive number after --time-scale, not `nan`"),
                            (["--csv", "--time-scale", "2"], "--time-scale needs --gltf"),
                            (["--gltf", "-o", "-"], "--gltf does not write to the standard output"),
                            (["--gltf", "--every", "0"], "expected a positive number of rows after --every"),
                            (["--gltf", "--field", "time"], "--field needs --csv"),
                            (["--gltf", "--at", "1"], "--at, --grid and --streamlines need --flow"),
                            (["--sequence", "ply"], "expected stl or obj after --sequence, not `ply`"),
                            (["--sequence", "stl", "-o", "a.obj"], "expected a name that ends with .stl after --output")]:
            done = self.call("export", "rod.h5", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(text, done.stderr)
        self.assertEqual([n for n in os.listdir(self.folder) if n.endswith((".glb", ".stl", ".obj"))], [])

    def test_wrong_records_are_refused_without_a_file(self):
        self.good("run", self.write("rod.yaml", ROD), "-o", "rod.h5")
        self.good("run", self.write("ball.yaml", BALL), "-o", "ball.h5")

        def refused(text, *words):
            done = self.call("export", *words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(text, done.stderr)

        refused("a sequence of surfaces needs a record of bodies in a fluid", "rod.h5", "--sequence", "stl")
        refused("the output would replace the input", "rod.h5", "--gltf", "-o", "rod.h5")
        refused("ball.yaml: error: this is not an HDF5 file", "ball.yaml", "--gltf")
        for name, at, value, text in [("plot_position", (3, 0, 1), np.nan, "row 3: expected finite times and positions, found nan"),
                                      ("bond_j", 0, 7, "bond 0 connects a particle that does not exist")]:
            shutil.copy(self.path("rod.h5"), self.path("wrong.h5"))
            with h5py.File(self.path("wrong.h5"), "r+") as file:
                file[name][at] = value
            refused("wrong.h5: error: " + text, "wrong.h5", "--gltf")
        self.write("boxes.obj", obj())
        self.good("run", self.write("boxes.yaml", BOXES), "-o", "boxes.h5", "--set", "time.end=0.1")
        for name in "far.h5", "empty.h5":
            shutil.copy(self.path("boxes.h5"), self.path(name))
        with h5py.File(self.path("far.h5"), "r+") as file:  # the poses of the wing leave the range of single precision
            text = file["scenario/resolved"][()].decode()
            self.assertIn("0.1*X*sin(3*t)", text)
            file["scenario/resolved"][...] = text.replace("0.1*X*sin(3*t)", "1e43*X*t")
        with h5py.File(self.path("empty.h5"), "r+") as file:
            for data in file.values():
                if isinstance(data, h5py.Dataset) and data.maxshape and data.maxshape[0] is None:
                    data.resize(0, axis=0)
        for words in ("--gltf",), ("--sequence", "stl"), ("--sequence", "obj"):
            refused("far.h5: error: row 1: expected finite times and positions", "far.h5", *words)
            refused("empty.h5: error: the record has no rows", "empty.h5", *words)
        os.remove(self.path("boxes.obj"))
        refused("boxes.obj", "boxes.h5", "--gltf")
        self.assertEqual([n for n in os.listdir(self.folder) if n.endswith((".glb", ".stl")) and n != "far-0000.stl"], [])

    @unittest.skipUnless(shutil.which("chromedriver") and os.path.exists(THREE), "no chromedriver or no three.js")
    def test_three_js_moves_nodes_to_the_poses(self):
        glb = self.boxes("--every", "20")
        sys.path.insert(0, os.path.join(HERE, "..", "view"))
        from browser import Browser
        with open(self.path("boxes.glb"), "rb") as file:
            data = base64.b64encode(file.read()).decode()
        page = self.write("page.html", f"""<script src="file://{THREE}three.min.js"></script>
<script src="file://{THREE}examples/js/loaders/GLTFLoader.js"></script><script>
new THREE.GLTFLoader().parse(Uint8Array.from(atob("{data}"), c => c.charCodeAt(0)).buffer, "", g => {{
  const mixer = new THREE.AnimationMixer(g.scene), action = mixer.clipAction(g.animations[0]).play();
  window.at = (t, name, x) => {{
    action.time = t, mixer.update(0), g.scene.updateMatrixWorld(true);
    const node = g.scene.getObjectByName(name);
    return x.map(p => node.localToWorld(new THREE.Vector3(...p)).toArray());
  }};
  window.weights = () => g.scene.getObjectByName("wing").children[0].morphTargetInfluences;
}}, e => {{ window.failed = String(e); }});</script>""")
        with h5py.File(self.path("boxes.h5")) as file:
            t, pose = file["time"][::20], file["pose"][::20]
        with Browser(webgl=False) as b:
            b.call("POST", "/url", {"url": "file://" + page})
            for _ in range(200):
                if b.js("return !!window.at || window.failed"):
                    break
                time.sleep(0.05)
            for k in range(len(t) - 1):  # at its end an animation starts again
                for body, name in enumerate(["stones0", "stones1", "wing"]):  # three.js removes points from names
                    x = np.array(b.js("return at(arguments[0], arguments[1], arguments[2])", float(glb.keys[k]), name, CORNERS.tolist()))
                    self.near(np.stack([x[:, 0], -x[:, 2], x[:, 1]], 1), pose_rotated(pose[k, body], CORNERS))
                self.near(b.js("return weights()"), glb.channels["wing", "weights"][k])


if __name__ == "__main__":
    main()
