#!/usr/bin/python3
"""`curvebody export --xdmf` of bodies in a fluid: the surfaces of the document agree with the record's poses and with the
mesh and the strokes in this file."""
import os

import h5py
import numpy as np

import xdmf
from command import Case, main

# A box of 2 x 1 x 0.5 m with outward normals.
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-.5, .5) for z in (-.25, .25)])
FACES = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
                  [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]])
BOX = "".join("v {} {} {}\n".format(*x) for x in CORNERS) + "".join("f {} {} {}\n".format(*f) for f in FACES + 1)

SCENARIO = """\
curvebody: 1
title: three boxes
fluid: {medium: none, gravity: [0, 0, -9.81]}
bodies:
  - name: stones
    mesh: box.obj
    density: 500
    place: {position: [i, 0, 1], rotation: {axis: [0, 1, 0], angle: pi/6}}
    motion: {velocity: [0, i, 0], spin: [0.5, 1, 2], frame: body}
    repeat: {count: 2, seed: 1}
  - name: wing
    mesh: box.obj
    poses: {z: "Z + 0.1*X*sin(3*t)"}
    density: 500
    place: {position: [0, 5, 0]}
    motion: {spin: [0.2, 0, -1], frame: world}
integrator: {name: hamilton_pontryagin, step: 1/200}
time: {end: 1}
record: {every: 2, observables: [energy]}
"""


def rest(t):
    return CORNERS, np.zeros_like(CORNERS)


def wing(t):
    return (CORNERS + np.outer(.1 * CORNERS[:, 0] * np.sin(3 * t), [0, 0, 1]),
            np.outer(.3 * CORNERS[:, 0] * np.cos(3 * t), [0, 0, 1]))


def rotated(q, a):
    """q a q* for each row a, computed without the rotation matrix."""
    w, u = q[0], q[1:]
    return a + 2 * np.cross(u, np.cross(u, a) + w * a)


class ExportSurface(Case):
    def frames(self, document):
        folder = os.path.dirname(self.path(document))
        for grid in xdmf.frames(self.path(document)):
            values = {a.get("Name"): (a.get("Center"), xdmf.numbers(a[0], folder)) for a in grid.findall("Attribute")}
            yield (float(grid.find("Time").get("Value")), xdmf.numbers(grid.find("Geometry")[0], folder),
                   xdmf.numbers(grid.find("Topology")[0], folder), values)

    def check(self, record, document, shapes, every):
        """Every number of the document agrees with the record and the shapes."""
        with h5py.File(self.path(record)) as file:
            time, pose, twist = (file[name][::every] for name in ("time", "pose", "twist"))
        n, found = len(CORNERS), list(self.frames(document))
        self.assertEqual(len(found), len(time))
        for i, (t, x, faces, values) in enumerate(found):
            self.assertEqual(t, time[i])
            self.assertTrue((faces == np.concatenate([FACES + n * b for b in range(len(shapes))])).all())
            self.assertEqual(values["body"][0], "Cell")
            self.assertTrue((values["body"][1] == np.repeat(np.arange(len(shapes)), len(FACES))).all())
            self.assertTrue((values["part"][1] == 0).all())
            self.assertEqual(values["velocity"][0], "Node")
            for b, shape in enumerate(shapes):
                (place, speed), (q, w) = shape(t), (pose[i, b], twist[i, b])
                own = slice(n * b, n * (b + 1))
                self.assertLess(abs(x[own] - q[:3] - rotated(q[3:], place)).max(), 1e-13)  # round-off of metres
                velocity = rotated(q[3:], np.cross(w[:3], place) + w[3:] + speed)
                self.assertLess(abs(values["velocity"][1][own] - velocity).max(), 1e-5)  # single precision
        return found

    def test_vertices_are_the_poses_of_the_shapes(self):
        self.write("box.obj", BOX)
        self.good("run", self.write("boxes.yaml", SCENARIO), "-o", "boxes.h5")
        self.assertEqual(self.good("export", "boxes.h5", "--xdmf").stdout, "boxes.xdmf\n")
        found = self.check("boxes.h5", "boxes.xdmf", [rest, rest, wing], 1)
        # Velocities agree with central differences of the positions, whose error is h^2 x'''/6.
        for i in range(1, len(found) - 1):
            h = found[i + 1][0] - found[i - 1][0]
            self.assertLess(abs((found[i + 1][1] - found[i - 1][1]) / h - found[i][3]["velocity"][1]).max(), 0.01)

    def test_frames_are_every_nth_row(self):
        self.write("box.obj", BOX)
        self.good("run", self.write("boxes.yaml", SCENARIO), "-o", "boxes.h5")
        os.mkdir(self.path("out"))
        self.good("export", "boxes.h5", "--xdmf", "--every", "7", "-o", "out/a.b.xdmf")
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["a.b-surface.h5", "a.b.xdmf"])
        self.check("boxes.h5", "out/a.b.xdmf", [rest, rest, wing], 7)
        with h5py.File(self.path("out/a.b-surface.h5")) as file, h5py.File(self.path("boxes.h5")) as record:
            self.assertTrue((file["time"][()] == record["time"][::7]).all())

    def test_dimensions_are_named_as_in_the_record(self):
        self.write("box.obj", BOX)
        self.good("run", self.write("boxes.yaml", SCENARIO), "-o", "boxes.h5")
        self.good("export", "boxes.h5", "--xdmf", "--every", "7")
        names = {"plot_position": ["time", "vertex", "axis"], "plot_velocity": ["time", "vertex", "axis"], "face": ["triangle", "corner"],
                 "body": ["triangle"], "part": ["triangle"], "row": ["time"]}
        with h5py.File(self.path("boxes-surface.h5")) as file, h5py.File(self.path("boxes.h5")) as record:
            self.assertEqual(file.attrs["title"], record.attrs["title"])
            self.assertEqual(file.attrs["Conventions"], record.attrs["Conventions"])
            for name, dims in names.items():
                self.assertEqual([file[name].dims[i][0].name for i in range(len(dims))], ["/" + d for d in dims])
            for name in file:
                self.assertTrue(file[name].attrs["long_name"], name)
            self.assertEqual([file[name].attrs["units"] for name in ("time", "plot_position", "plot_velocity")], ["s", "m", "m/s"])
            self.assertTrue((record["time"][()][file["row"][()]] == file["time"][()]).all())
        try:
            import xarray
        except ImportError as missing:
            self.skipTest(str(missing))
        with xarray.open_dataset(self.path("boxes-surface.h5"), engine="netcdf4") as data:
            self.assertEqual(dict(data.plot_position.sizes), {"time": len(data.time), "vertex": 3 * len(CORNERS), "axis": 3})
            self.assertEqual([str(a) for a in data.axis.values], ["x", "y", "z"])

    def test_what_is_wrong_is_said(self):
        self.write("box.obj", BOX)
        self.good("run", self.write("boxes.yaml", SCENARIO), "-o", "boxes.h5")
        os.mkdir(self.path("a-surface.h5"))
        refused = self.call("export", "boxes.h5", "--xdmf", "-o", "a.xdmf")
        self.assertEqual(refused.returncode, 3)
        self.assertIn("a-surface.h5: cannot write: expected a regular file", refused.stderr)
        os.link(self.path("boxes.h5"), self.path("b-surface.h5"))
        refused = self.call("export", "boxes.h5", "--xdmf", "-o", "b.xdmf")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("b-surface.h5: error: the output would replace the input 'boxes.h5'", refused.stderr)
        os.remove(self.path("box.obj"))
        refused = self.call("export", "boxes.h5", "--xdmf")
        self.assertEqual(refused.returncode, 3)
        self.assertIn("box.obj", refused.stderr)
        self.assertFalse(os.path.exists(self.path("boxes.xdmf")))
        self.assertFalse(os.path.exists(self.path("boxes-surface.h5")))


if __name__ == "__main__":
    main()
