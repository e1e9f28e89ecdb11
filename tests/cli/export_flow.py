#!/usr/bin/python3
"""`curvebody export --flow`: the flow of a ball that sinks in a perfect fluid agrees with a dipole; the document names its
numbers; a sheet has two sides; the pressure on bodies is that which they felt in the run, with every `coupling`; bodies
without such a flow give an error."""
import re
import xml.etree.ElementTree as tree

import h5py
import numpy as np

from command import Case, main

RADIUS, RHO = 0.05, 998.0
BALL = """\
curvebody: 1
title: a sinking ball
fluid: {medium: water, gravity: [0, 0, -9.81]}
bodies:
  - name: ball
    shape: {name: ellipsoid, a: 0.05, b: 0.05, c: 0.05, resolution: 24}
    density: 2000
    drag: false
    motion: {velocity: [0.1, 0, 0]}
integrator: {name: hamilton_pontryagin, step: 1/100}
time: {end: 0.1}
record: {every: 1, observables: [energy]}
"""
DISC = """\
curvebody: 1
title: a disc broadside on
fluid: {medium: water, gravity: [0, 0, -9.81]}
bodies:
  - name: disc
    shape: {name: disc, radius: 0.05, resolution: 64}
    density: 2000
    thickness: 0.001
    drag: false
    motion: {velocity: [0, 0, -0.1]}
integrator: {name: hamilton_pontryagin, step: 1/100}
time: {end: 0.1}
record: {every: 1, observables: [energy]}
"""
# Two ellipsoids that approach each other, with no force but that of the fluid. {}: the coupling, and a resolution.
PAIR = """\
curvebody: 1
title: two ellipsoids
fluid: {{medium: water, gravity: [0, 0, 0], added_mass: {{name: exact, refine: false}}, coupling: {0}}}
bodies:
  - name: a
    shape: {{name: ellipsoid, a: 0.05, b: 0.04, c: 0.03, resolution: {1}}}
    density: 1500
    drag: false
    motion: {{velocity: [0.2, 0.02, 0], spin: [0.3, 0.5, 1]}}
  - name: b
    shape: {{name: ellipsoid, a: 0.05, b: 0.05, c: 0.04, resolution: {1}}}
    density: 1200
    drag: false
    place: {{position: [0.13, 0.02, 0.01]}}
    motion: {{velocity: [-0.1, 0.05, 0.02]}}
integrator: {{name: hamilton_pontryagin, step: 1/1000}}
time: {{end: 0.002}}
record: {{every: 1, observables: [energy]}}
"""
DENSITIES = 1500, 1200
DIPOLES = "this run used `coupling: dipole`, with an estimated error of "
ALONE = "this run used `coupling: none`: the exported flow is the sum"


def rotation(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def solid_momentum(triangles, density, pose, twist):
    """(angular about the world's origin, linear) momentum of the solid with these triangles in the body frame."""
    volume = np.linalg.det(triangles) / 6
    total = np.sum(triangles, axis=1)
    second = density * np.einsum("i,ij,ik->jk", volume / 20, total, total)
    second += density * np.einsum("i,icj,ick->jk", volume / 20, triangles, triangles)
    first, mass = density * volume @ total / 4, density * np.sum(volume)
    turn, speed = twist[:3], twist[3:]
    linear = rotation(pose[3:]) @ (mass * speed + np.cross(turn, first))
    angular = rotation(pose[3:]) @ (np.trace(second) * turn - second @ turn + np.cross(first, speed))
    return np.concatenate([angular + np.cross(pose[:3], linear), linear])


class ExportFlow(Case):
    def test_a_ball_is_a_dipole(self):
        self.write("ball.yaml", BALL)
        self.good("run", "ball.yaml")
        done = self.good("export", "ball.h5", "--flow", "--at", "0.05", "--grid", "9x7x1", "--streamlines", "3")
        self.assertEqual(done.stdout, "ball-flow.xdmf\n")
        root = tree.parse(self.path("ball-flow.xdmf")).getroot()
        names = {a.get("Name") for a in root.iter("Attribute")}
        self.assertEqual(names, {"u", "p", "body", "phi", "face_p", "face_u", "line_u", "radius"})
        with h5py.File(self.path("ball-flow.h5")) as file, h5py.File(self.path("ball.h5")) as record:
            for item in root.iter("DataItem"):
                if item.get("Format") == "HDF":
                    data = file[item.text.split(":")[1]]
                    self.assertEqual(list(data.shape), [int(n) for n in item.get("Dimensions").split()])
            row = int(np.argmin(np.abs(record["time"][:] - 0.05)))
            V, centre = record["twist"][row, 0, 3:], record["pose"][row, 0, :3]
            A = (record["twist"][row + 1, 0, 3:] - record["twist"][row - 1, 0, 3:]) / 0.02
            low, step = ([float(n) for n in item.text.split()][::-1] for item in root.find(".//Geometry"))
            self.assertEqual([*file["origin"][:], *file["spacing"][:]], [*low, *step])
            u, p, x = file["u"][:], file["p"][:], file["x"][:]
            k = np.stack(np.meshgrid(range(1), range(7), range(9), indexing="ij")[::-1], axis=-1)
            d = low + k * step - centre
            r = np.linalg.norm(d, axis=-1)[..., None]
            exact = RADIUS**3 * (3 * (d @ V)[..., None] * d / r**2 - V) / (2 * r**3)
            q = RADIUS**3 * (d @ A) / (2 * r[..., 0]**3)
            pressure = RHO * (q + exact @ V - np.sum(exact**2, axis=-1) / 2)
            inside = r[..., 0] < RADIUS
            self.assertTrue(np.array_equal(np.isnan(p), inside) and inside.any())
            # An inscribed mesh of resolution 24 has 2 % less volume.
            self.assertLess(np.max(np.abs(u - exact)[~inside]), 0.03 * np.linalg.norm(V))
            self.assertLess(np.max(np.abs(p - pressure)[~inside]), 0.04 * np.max(np.abs(pressure[~inside])))
            a, b, c = (x[file["face"][:, i]] for i in range(3))
            force = -np.sum(file["face_p"][:][:, None] * np.cross(b - a, c - a) / 2, axis=0)
            wanted = -2 * np.pi / 3 * RHO * RADIUS**3 * A
            self.assertLess(np.max(np.abs(force - wanted)), 0.06 * np.max(np.abs(wanted)))
            lines, speed, radius = file["line"][:], file["line_u"][:], file["radius"][:]
            flux = radius**2 * np.linalg.norm(speed, axis=-1)
            self.assertLess(np.max(np.abs(flux / flux[:, :1] - 1)), 1e-12)
            self.assertGreater(np.min(np.linalg.norm(lines - centre, axis=-1)), 0.98 * RADIUS)

    def test_two_bodies_have_the_flows_that_they_had(self):
        """Without a `coupling` each body moves as if the other were absent: it has its own pressure, and the flow is the sum
        of the dipoles."""
        one = BALL.split("bodies:\n")[1].split("integrator")[0]
        other = one.replace("name: ball", "name: other").replace("[0.1, 0, 0]}", "[-0.2, 0.1, 0]}\n    place: {position: "
                                                                                "[0.13, 0, 0.02]}").replace("2000", "1500")
        for name, bodies in (("both", one + other), ("one", one), ("other", other)):
            self.write(name + ".yaml", BALL.replace(one, bodies))
            self.good("run", name + ".yaml", "--quiet")
            self.good("export", name + ".h5", "--flow", "--at", "0.05", "--grid", "9x7x1", "--streamlines", "2")
        with h5py.File(self.path("both-flow.h5")) as both, h5py.File(self.path("both.h5")) as record:
            for b, name in enumerate(("one", "other")):
                with h5py.File(self.path(name + "-flow.h5")) as alone:
                    mine = both["body"][:] == b
                    for field in ("face_p", "phi", "face_u"):
                        np.testing.assert_array_equal(both[field][:][mine], alone[field][:])
            row = int(np.argmin(np.abs(record["time"][:] - 0.05)))
            k = np.stack(np.meshgrid(range(1), range(7), range(9), indexing="ij")[::-1], axis=-1)
            x, exact, pressure, inside, speeds = both["origin"][:] + k * both["spacing"][:], 0, 0, False, 0
            for b in range(2):
                V, d = record["twist"][row, b, 3:], x - record["pose"][row, b, :3]
                A = (record["twist"][row + 1, b, 3:] - record["twist"][row - 1, b, 3:]) / 0.02
                r = np.linalg.norm(d, axis=-1)[..., None]
                own = RADIUS**3 * (3 * (d @ V)[..., None] * d / r**2 - V) / (2 * r**3)
                exact, speeds = exact + own, speeds + np.linalg.norm(V)
                pressure = pressure + RHO * (RADIUS**3 * (d @ A) / (2 * r[..., 0]**3) + own @ V - np.sum(own**2, axis=-1) / 2)
                inside = inside | (r[..., 0] < RADIUS)
            u, p = both["u"][:], both["p"][:]
            self.assertTrue(np.array_equal(np.isnan(p), inside) and inside.any())
            # an inscribed mesh of resolution 24 has 2 % less volume
            self.assertLess(np.max(np.abs(u - exact)[~inside]), 0.03 * speeds)
            self.assertLess(np.max(np.abs(p - pressure)[~inside]), 0.05 * np.max(np.abs(pressure[~inside])))
            self.assertTrue(np.all(np.isfinite(both["line"][:])))

    def wrenches(self, text, name):
        """Runs `text` and exports its flow in the middle. Returns, for the bodies, the wrench of the exported pressure about the
        body's origin, the rate of the momentum of the solid in the run, and the number of faces; and what was printed."""
        self.write(name + ".yaml", text)
        self.good("run", name + ".yaml", "--quiet")
        done = self.good("export", name + ".h5", "--flow", "--at", "0.001", "--grid", "3x3x2")
        pressed, needed, faces = [], [], []
        with h5py.File(self.path(name + "-flow.h5")) as flow, h5py.File(self.path(name + ".h5")) as record:
            x, row, h = flow["x"][:], 1, record["time"][1]
            for b, density in enumerate(DENSITIES[:record["pose"].shape[1]]):
                mine = flow["body"][:] == b
                triangles, p = x[flow["face"][:][mine]], flow["face_p"][:][mine]
                pose, twist = record["pose"][:, b], record["twist"][:, b]
                own = (triangles - pose[row, :3]) @ rotation(pose[row, 3:])
                before, after = (solid_momentum(own, density, pose[i], twist[i]) for i in (row - 1, row + 1))
                rate = (after - before) / (2 * h)
                rate[:3] -= np.cross(pose[row, :3], rate[3:])
                a, b, c = (triangles[:, k] - pose[row, :3] for k in range(3))
                force = -p[:, None] * np.cross(b - a, c - a) / 2
                pressed.append([np.sum(np.cross((a + b + c) / 3, force), axis=0), np.sum(force, axis=0)])
                needed.append(rate.reshape(2, 3))
                faces.append(len(p))
        return np.array(pressed), np.array(needed), np.array(faces)[:, None, None], done.stderr

    def imbalance(self, text, name="pair"):
        """The differences of torques and forces [body, 2] of pressure and motion, relative to the largest one of the bodies,
        with resolution 24, and without the error of the faces: it is proportional to 1/their number, so two resolutions give
        the limit. What is left in the limit is of higher order in the size of the faces."""
        (p, q, n, _), (pressed, needed, faces, told) = (self.wrenches(text.replace("@", r), name + r) for r in ("16", "24"))
        limits = ((faces * fine - n * coarse) / (faces - n) for coarse, fine in ((p, pressed), (q, needed)))
        pairs = (pressed, needed), tuple(limits)
        return *(np.linalg.norm(a - b, axis=2) / np.max(np.linalg.norm(b, axis=2), axis=0) for a, b in pairs), told

    def test_pressure_balances_motion_with_the_coupling_exact(self):
        found, limit, told = self.imbalance(PAIR.format("exact", "@"))
        self.assertLess(np.max(found), 0.08)
        self.assertLess(np.max(limit), 0.03)
        self.assertNotIn("in this run", told)

    def test_without_coupling_there_is_no_force_of_the_other_body(self):
        """Body b moves along its symmetric axes: alone it does not accelerate."""
        pressed, needed, _, told = self.wrenches(PAIR.format("none", 24), "alone")
        felt, _, _, _ = self.wrenches(PAIR.format("exact", 24), "felt")
        for force in (pressed, needed):
            self.assertLess(np.linalg.norm(force[1, 1]), 0.01 * np.linalg.norm(felt[1, 1]))
        self.assertIn(ALONE, told)

    def test_pressure_balances_motion_with_the_coupling_dipole(self):
        """Two balls at a distance of 5 radii: the coupling misses (radius/distance)^3 = 0.8 % of the added mass of each."""
        balls = PAIR.replace("b: 0.04, c: 0.03", "b: 0.05, c: 0.05").replace("b: 0.05, c: 0.04", "b: 0.05, c: 0.05")
        balls = balls.replace(", spin: [0.3, 0.5, 1]", "").replace("[0.13, 0.02, 0.01]", "[0.23, 0.1, 0.01]")
        _, limit, told = self.imbalance(balls.format("dipole", "@"))
        self.assertLess(np.max(limit[:, 1]), 0.03)
        self.assertIn(DIPOLES, told)

    def test_pressure_balances_motion_near_the_wall_of_a_coupling(self):
        """A ball moves along a wall, or a free surface, at a height of 2 radii. Behind it there is no fluid. A dipole in the
        middle of the ball misses (radius/(2 height))^3 = 1.6 % of the added mass."""
        ball = PAIR.replace("b: 0.04, c: 0.03", "b: 0.05, c: 0.05").replace(", spin: [0.3, 0.5, 1]", "")
        ball = ball[:ball.index("  - name: b\n")] + ball[ball.index("integrator"):]
        for coupling, error in (("exact", 0.03), ("dipole", 0.06)):
            for wall in ("rigid", "free"):
                text = ball.format(f"{{name: {coupling}, wall: {wall}, wall_height: -0.1}}", "@")
                _, limit, _ = self.imbalance(text, coupling + wall)
                self.assertLess(limit[0, 1], error)
                with h5py.File(self.path(coupling + wall + "24-flow.h5")) as flow:
                    z = flow["origin"][2] + flow["spacing"][2] * np.arange(2)
                    self.assertTrue(z[0] < -0.1 < z[1])
                    for name in ("u", "p"):
                        self.assertTrue(np.all(np.isnan(flow[name][0])) and np.all(np.isfinite(flow[name][1])))

    def test_the_error_of_the_given_faces_is_told(self):
        """The kinetic energy of the flow of a ball is pi/3 rho R^3 V^2."""
        still = BALL.replace("-9.81", "0").replace("{medium: water", "{medium: water, added_mass: exact")
        for resolution, least, kind in ((12, 0.01, "warning"), (24, 0.01, "warning"), (48, 1e-3, "note")):
            self.write("still.yaml", still.replace("resolution: 24", f"resolution: {resolution}"))
            self.good("run", "still.yaml", "--quiet")
            done = self.good("export", "still.h5", "--flow", "--grid", "3x3x1", "--streamlines", "1")
            told = re.fullmatch(r"curvebody: (\w+): body `ball`: the exported flow uses its (\d+) given faces, and its "
                                r"kinetic energy is (\S+) % below the energy in the run, which used up to (\d+) faces\n", done.stderr)
            self.assertTrue(told, done.stderr)
            self.assertEqual(told[1], kind)
            with h5py.File(self.path("still-flow.h5")) as file:
                x, face, phi = file["x"][:], file["face"][:], file["phi"][:]
                a, b, c = (x[face[:, i]] for i in range(3))
                normal = np.cross(b - a, c - a) / 2
                drawn = -phi @ (normal @ [0.1, 0, 0]) / 2
                self.assertEqual(int(told[2]), len(face))
            exact = np.pi / 3 * RADIUS**3 * 0.1**2
            # the run's own error is below 1e-2 by default; for this shape it is 1e-3
            self.assertLess(abs(drawn / exact - 1 + float(told[3]) / 100), 2e-3)
            self.assertGreater(float(told[3]) / 100, least)
            # refinement is switched off: there is no error
            self.good("run", "still.yaml", "--quiet", "--set", "fluid.added_mass={name: exact, refine: false}", "-o", "as.h5")
            done = self.good("export", "as.h5", "--flow", "--grid", "3x3x1", "--streamlines", "1")
            self.assertNotIn("drawn", done.stderr)

    def test_a_record_next_to_the_output_is_kept(self):
        """The numbers of disc.xdmf would go to disc.h5."""
        self.write("disc.yaml", DISC)
        self.good("run", "disc.yaml", "-o", "disc.h5")
        self.good("run", "disc.yaml", "-o", "other.h5")
        before = self.read("disc.h5")
        done = self.call("export", "other.h5", "--flow", "--grid", "3x3x1", "-o", "disc.xdmf")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("disc.h5: error: the export also writes this file, but it exists and is a record", done.stderr)
        self.assertEqual(self.read("disc.h5"), before)
        for _ in range(2):  # its own file is replaced
            self.good("export", "other.h5", "--flow", "--grid", "3x3x1", "-o", "flow.xdmf")

    def test_a_disc_has_two_sides(self):
        self.write("disc.yaml", DISC)
        self.good("run", "disc.yaml")
        self.good("export", "disc.h5", "--flow", "--at", "0.05", "--grid", "9x9x4", "--streamlines", "2")
        root = tree.parse(self.path("disc-flow.xdmf")).getroot()
        names = {a.get("Name") for a in root.iter("Attribute")}
        self.assertTrue({"phi_back", "face_p_back", "face_u_back"} < names)
        with h5py.File(self.path("disc-flow.h5")) as file, h5py.File(self.path("disc.h5")) as record:
            row = int(np.argmin(np.abs(record["time"][:] - 0.05)))
            V, turn = record["twist"][row, 0, 3:], record["twist"][row, 0, :3]
            A = (record["twist"][row + 1, 0, 3:] - record["twist"][row - 1, 0, 3:]) / 0.02
            self.assertLess(np.max(np.abs(turn)), 1e-6)
            x, p = file["x"][:], file["face_p_back"][:] - file["face_p"][:]
            a, b, c = (x[file["face"][:, i]] for i in range(3))
            area = np.cross(b - a, c - a) / 2
            # Lamb, article 108; faces of this size miss a few percent.
            self.assertLess(abs((p @ area)[2] / (-8 / 3 * RHO * RADIUS**3 * A[2]) - 1), 0.05)
            r2 = np.sum(((a + b + c) / 3 - np.mean(x, axis=0))[:, :2]**2, axis=1)
            jump = 4 / np.pi * V[2] * np.sqrt(np.maximum(0, RADIUS**2 - r2)) * np.sign(area[:, 2])
            step = (file["phi_back"][:] - file["phi"][:])
            self.assertLess(np.max(np.abs(step - jump)[r2 < 0.5 * RADIUS**2]), 0.03 * np.max(np.abs(jump)))
            through = np.sum(file["face_u_back"][:] * area, axis=1) / np.linalg.norm(area, axis=1)
            self.assertLess(np.max(np.abs(np.abs(through) - abs(V[2]))), 1e-6)
            self.assertTrue(np.all(np.isfinite(file["p"][:])) and np.all(np.isfinite(file["line"][:])))

    def test_refusals(self):
        self.write("ball.yaml", BALL)
        self.good("run", "ball.yaml")
        for words, told in ((("--grid", "3x3"), "like 41x41x1"), (("--at", "x"), "a time in seconds"),
                            (("--streamlines", "-1"), "a number up to")):
            refused = self.call("export", "ball.h5", "--flow", *words)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(told, refused.stderr)
        self.assertEqual(self.call("export", "ball.h5", "--xdmf", "--grid", "3x3x3").returncode, 2)
        refused = self.call("export", "ball.h5", "--flow", "--at", "3")
        self.assertIn("rows from 0 s to 0.1 s", refused.stderr)
        self.write("wind.yaml", BALL.replace("fluid: {", "fluid: {flow: {uniform: [1, 0, 0]}, "))
        self.good("run", "wind.yaml")
        self.assertIn("has a `flow`", self.call("export", "wind.h5", "--flow").stderr)
        self.assertIn("another ending", self.call("export", "ball.h5", "--flow", "-o", "a.h5").stderr)


if __name__ == "__main__":
    main()
