#!/usr/bin/python3
"""Bodies in a fluid that fills S3 or H3: errors and their places, motions with exact solutions, records, resumed runs,
exported surfaces."""
import math

import h5py
import numpy as np

from command import Case, datasets, differing, main

STONE = """\
curvebody: 1
space: {name: h3, curvature: -1}
fluid: {medium: 1, added_mass: exact}
potentials:
  - central: {expression: "m*2*d^2"}
bodies:
  - name: seed
    shape: {name: ellipsoid, a: 0.3, b: 0.2, c: 0.15, resolution: 8}
    density: 3
    place: {position: [1, 0.2, 0]}
    motion: {velocity: [0, 0.5, 0.2], spin: [0.1, 0, 1]}
integrator: {name: hamilton_pontryagin, step: 0.02}
time: {end: 1}
"""
S3 = "space={name: s3, curvature: 1}"

# settings, place of the message, a part of the message
WRONG = [
    (["space=nil"], "--set space=nil:1:7:", "`nil` has no isometries that can move a body to every point"),
    (["space=h2"], ":1:7:", "expected e3, s3 or h3 for a fluid"),
    (["space={name: h3, chart: polar}"], ":1:25:", "not by coordinates: expected no `chart` of the space"),
    (["space={name: h3, curvature: 1}"], ":1:29:", "expected a number < 0"),
    (["space=hh3"], ":1:7:", "did you mean 'h3'"),
    (["fluid.gravity=[0,0,-1]"], ":1:15:", "there is no uniform direction; expected `potentials`"),
    (["fluid.flow={uniform: [1,0,0]}"], ":1:12:", "there is no uniform stream"),
    (["fluid.medium={layers: [{below: 0, density: 1},{density: 2}]}"], ":1:14:", "a fluid in a curved space has one density"),
    (["fluid.medium=1+z"], ":1:14:", "a fluid in a curved space has one density"),
    (["fluid.floor={kind: stiff}"], ":1:13:", "plane at a height"),
    (["fluid.compat=paper"], ":1:14:", "the paper's momentum is defined only in flat space"),
    (["fluid.model=mujoco_ellipsoid"], ":1:13:", "has forces that are defined in flat space only: expected local, or exact"),
    (["fluid.model=[local, thin_plate]"], ":1:21:", "`thin_plate` has forces that are defined in flat space only"),
    (["fluid.added_mass=ellipsoid"], ":1:18:", "has an added mass that is defined in flat space only: expected local, exact or none"),
    (["fluid.added_mass={name: exact, wall: rigid}"], ":1:38:", "`wall` has no meaning in a curved space"),
    (["integrator.name=mujoco_rk4"], ":12:13:", "works only in flat space: expected hamilton_pontryagin or rkmk4"),
    (["bodies.0.chart=polar"], ":1:16:", "expected one of: exponential, gnomonic"),
    (["bodies.0.chart=gnomonic", "bodies.0.shape={name: ellipsoid, a: 2}"], ":1:16:",
     "the gnomonic chart of the space of curvature -1 expects distances below 1"),
    (["bodies.0.shape=plate"], ":1:16:", "part `body` is open: expected closed parts, because bodies in a curved space are solids"),
    (["bodies.0.poses={x: X}"], ":1:16:", "bodies are rigid there"),
    (["bodies.0.model=mujoco_inertia_box"], ":1:16:", "has forces that are defined in flat space only"),
    (["bodies.0.thickness=0.1"], ":1:20:", "which only open parts have"),
    (["bodies.0.mass_model=vertices"], ":1:21:", "expected solid"),
    (["potentials=[{harmonic: {stiffness: 1}}]"], ":1:14:", "a body is a continuum"),
    (["potentials=[{central: {pair_potential: coulomb}}]"], ":1:40:", "expected gravity, or an expression of m"),
    (["potentials=[{central: {expression: 'd^2'}}]"], ":1:12:", "expected expressions proportional to m"),
    (["potentials=[{central: {expression: 'm^2*d'}}]"], ":1:12:", "expected expressions proportional to m"),
    (["potentials=[{central: {expression: 'm*dd'}}]"], ":1:39:", "unknown name `dd`"),
    (["potentials=[{central: {body: sed, strength: 1}}]"], ":1:30:", "did you mean 'seed'"),
    (["potentials=3"], ":1:12:", "expected a list"),
    (["interactions=[]", "integrator.name=rkmk4"], "stone.yaml:", "the integrator `rkmk4` has no discrete Lagrangian"),
    (["constraints=[{knife_edge: {particle: [seed, 0], towards: {body: seed, at: [0, 0, 0.1]}}}]"], ":1:27:",
     "expected a space of dimension 2"),
    (["interactions=[{spring: {between: [[seed, 0], [seed, 1]]}}]"], ":1:53:", "expected a particle from 0 to 0"),
    (["interactions=[{spring: {between: [[seed, 0], {body: sed, at: [0, 0, 1]}]}}]"], ":1:53:", "did you mean 'seed'"),
    (["record.observables=[falling_regime]"], ":1:20:", "`falling_regime` needs gravity"),
    ([S3, "bodies.0.place.position=[4,0,0]"], ":1:25:", "expected at most 3.14159, the distance to the antipode on this sphere"),
    ([S3, "bodies.0.shape={name: ball, radius: 4}"], ":1:16:", "expects distances below 3.14159"),
    # pairs of errors: both are reported, or only the first if the second depends on it
    (["space=nil", "fluid.gravity=[0,0,-1]"], ":1:7:", "`nil` has no isometries"),
    (["fluid.gravity=[0,0,-1]", "bodies.0.chart=polar"], ":1:15:", "there is no uniform direction"),
    (["fluid.gravity=[0,0,-1]", "bodies.0.chart=polar"], ":1:16:", "expected one of: exponential, gnomonic"),
    (["bodies.0.density=-1", "bodies.0.place.position=[1,2]"], ":1:18:", ">= 0"),
    (["fluid.floor={kind: stiff}", "fluid.flow={uniform: [1,0,0]}"], ":1:12:", "there is no uniform stream"),
]

FREE = """\
curvebody: 1
space: {name: %s, curvature: %d}
fluid: {medium: %s, added_mass: exact}
bodies:
  - name: ball
    shape: {name: ball, radius: 0.5, resolution: 16}
    density: 2
    drag: false
    motion: {velocity: [0.25, 0, 0], spin: [0, 0, 8]}
integrator: {name: rkmk4, step: 0.005}
time: {end: %.12g}
record: {every: 4, observables: [energy, momentum, inertia]}
"""


SWIMMER = """\
curvebody: 1
bundle:
  name: immersed
  space: h3
  shape:
    - {name: apex, shape: {name: ball, radius: 0.1, resolution: 8}}
    - {name: tip, shape: {name: ball, radius: 0.07, resolution: 8}}
  variables: [l, a]
  motion:
    parts:
      - {part: tip, shift: [l*cos(a), l*sin(a), 0]}
  density: 1
  fluid: {density: 1}
  added_mass: exact
gait: {polygon: {corners: [[0.3, 0.4], [1, 0.4], [1, 1.2], [0.3, 1.2]]}, repeat: 2}
integrator: {name: magnus, step: 0.125}
"""


class CurvedFluid(Case):
    def run_of(self, text, *words, name="run"):
        self.write(name + ".yaml", text)
        self.good("run", name + ".yaml", *words, "-o", name + ".h5", "--quiet")
        return h5py.File(self.path(name + ".h5"))

    def test_what_has_no_meaning_is_refused_where_it_stands(self):
        self.write("stone.yaml", STONE)
        for sets, where, part in WRONG:
            with self.subTest(sets):
                done = self.call("check", "stone.yaml", *(word for text in sets for word in ("--set", text)))
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertTrue(any(where in line and " error: " in line and part in line
                                    for line in done.stderr.splitlines()), done.stderr)

    def test_what_has_a_meaning_is_not(self):
        self.write("stone.yaml", STONE)
        for sets in (["fluid.flow={uniform: [0,0,0]}"], ["fluid.added_mass=local"], ["fluid.added_mass=none"],
                     ["fluid.medium=none"], ["potentials=[{expression: {chart: polar, value: 'm*a'}}]"], ["potentials=[]"],
                     ["bodies.0.chart=gnomonic"], ["bodies.0.repeat={count: 3}", "bodies.0.place.position=[i, 0, 0]"],
                     ["space={name: h3, curvature: -1e-9}"],
                     [S3, "bodies.0.place.position=[3.141592653589793, 0, 0]"], ["integrator.name=rkmk4"],
                     ["bodies.0.points=[{mass: 1, at: [0.1, 0, 0]}]"]):
            with self.subTest(sets):
                self.good("check", "stone.yaml", *(word for text in sets for word in ("--set", text)))

    def test_a_spinning_ball_runs_along_a_circle(self):
        """The path has the geodesic curvature K J w/(M v), for the recorded moment of inertia J and mass M, the spin w and
        the speed v. It is a circle of radius R that closes after 2 pi sin(R)/v (h3: sinh). The fourth-order error of the
        steps at the end is 1e-9. Without and with the fluid."""
        for name, K in ("s3", 1), ("h3", -1):
            for medium in "none", "1":
                with self.subTest(f"{name} {medium}"):
                    # the first run gives the inertia of the faces
                    with self.run_of(FREE % (name, K, medium, 0.02)) as file:
                        I = file["inertia"][0, 0]
                    kappa = I[2, 2] * 8 / (I[3, 3] * 0.25)
                    radius = math.atan(1 / kappa) if K > 0 else math.atanh(1 / kappa)
                    s = math.sin(radius) if K > 0 else math.sinh(radius)
                    with self.run_of(FREE % (name, K, medium, 2 * math.pi * s / 0.25)) as file:
                        x = file["plot_position"][:, 0]
                        self.assertLess(np.abs(x[-1]).max(), 1e-7)
                        far = np.linalg.norm(x, axis=1).max()
                        # rows are 0.02 apart: the farthest point is between two rows, which changes it by (0.01 v/s)^2/8 of it
                        self.assertLess(abs(far / (math.tan(radius) if K > 0 else math.tanh(radius)) - 1), 1e-4)
                        self.assertGreater(x[len(x) // 2, 1] * K, 0)

    def test_a_clifford_translation_is_free_in_vacuum_alone(self):
        text = FREE.replace("shape: {name: ball, radius: 0.5, resolution: 16}",
                            "shape: {name: ellipsoid, a: 0.6, b: 0.5, c: 0.4, resolution: 8}\n    chart: gnomonic")
        text = text.replace("velocity: [0.25, 0, 0], spin: [0, 0, 8]", "velocity: [0.5, -0.3, 0.4], spin: [0.5, -0.3, 0.4]")
        with self.run_of(text % ("s3", 1, "none", 10)) as file:
            twist = file["twist"][:, 0]
            self.assertLess(np.abs(twist - twist[0]).max(), 1e-10)  # round-off of 2000 steps
        with self.run_of(text % ("s3", 1, "1", 10)) as file:
            twist = file["twist"][:, 0]
            self.assertGreater(np.abs(twist - twist[0]).max(), 0.1)

    def test_what_is_recorded(self):
        for name, K in ("s3", 1), ("h3", -1):
            with self.subTest(name), self.run_of(FREE % (name, K, "1", 2)) as file:
                p, q, x = file["pose"][:, 0, :3], file["pose"][:, 0, 3:], file["plot_position"][:, 0]
                d = np.linalg.norm(p, axis=1)
                half = np.tan(d[1:] / 2) if K > 0 else np.tanh(d[1:] / 2)
                np.testing.assert_allclose(x[1:], p[1:] * (half / d[1:])[:, None], rtol=1e-13)
                np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1, rtol=1e-14)
                mu = file["body_momentum"][:, 0]
                l, m = mu[:, :3], mu[:, 3:]
                np.testing.assert_allclose(file["casimir"][:, 0, 0], (m * m).sum(1) + K * (l * l).sum(1), rtol=1e-12)
                np.testing.assert_allclose(file["casimir"][:, 0, 1], (l * m).sum(1), atol=1e-13)
                # round-off; the numbers are of order 1
                change = np.abs(file["spatial_momentum"][:, 0] - file["spatial_momentum"][0, 0]).max()
                self.assertLess(change, max(1e-12, file["spatial_momentum_error"][:, 0].max()))
                if K > 0:
                    a, b = file["group"][:, 0, :4], file["group"][:, 0, 4:]
                    np.testing.assert_allclose(np.linalg.norm(a, axis=1), 1, rtol=1e-14)
                    # o is moved to a b*, whose real part is cos d and whose vector is sin d along p
                    real = (a * b).sum(1)
                    np.testing.assert_allclose(real, np.cos(d), atol=1e-14)
                else:
                    self.assertNotIn("group", file)

    def test_known_inertia_is_anisotropic_in_translation_too(self):
        """A mass at the origin has the inertia I = [[J, 0], [0, m - K J]]."""
        for name, K in ("s3", 1), ("h3", -1):
            text = FREE.replace("density: 2", "inertial: {mass: 2, inertia: [0.1, 0.2, 0.25]}")
            with self.subTest(name), self.run_of(text % (name, K, "none", 0.01)) as file:
                J = np.array([0.1, 0.2, 0.25])
                np.testing.assert_allclose(file["inertia"][0, 0], np.diag(np.concatenate([J, 2 - K * J])), atol=1e-14)

    def test_far_out_nothing_is_lost_and_the_spatial_momentum_says_that_it_is(self):
        text = FREE % ("h3", -1, "1", 1)
        with self.run_of(text) as file:
            near = file["twist"][:], file["casimir"][:]
        with self.run_of(text.replace("    motion:", "    place: {position: [300, 0, 0]}\n    motion:")) as file:
            # round-off of 200 steps with twists of 8; a naive formula would lose a factor e^300
            np.testing.assert_allclose(file["twist"][:], near[0], atol=1e-12)
            np.testing.assert_allclose(file["casimir"][:], near[1], rtol=1e-12)
            error = file["spatial_momentum_error"][:]
            self.assertTrue(np.all(np.isnan(error) | (error > 1)))

    def test_a_run_goes_on_to_the_same_bytes(self):
        for space in "{name: h3, curvature: -1}", "{name: s3, curvature: 1}":
            for method in "hamilton_pontryagin", "rkmk4":
                with self.subTest(f"{space} {method}"):
                    sets = ["--set", f"space={space}", "--set", f"integrator.name={method}"]
                    self.write("whole.yaml", STONE)
                    self.good("run", "whole.yaml", *sets, "-o", "whole.h5", "--quiet")
                    self.good("run", "whole.yaml", *sets, "--set", "time.end=0.4", "-o", "part.h5", "--quiet")
                    self.good("resume", "part.h5", "--until", "1", "--quiet")
                    differ = differing(datasets(self.path("whole.h5")), datasets(self.path("part.h5")))
                    self.assertFalse([name for name in differ if not name.startswith(("scenario", "checkpoint"))], differ)

    def test_a_gait_goes_on_to_the_same_bytes_and_its_body_stays_in_plot_coordinates(self):
        for space in "h3", "s3":
            with self.subTest(space):
                sets = ["--set", f"bundle.space={space}"]
                with self.run_of(SWIMMER, *sets, name="whole") as file:
                    x = file["plot_position"][:]
                    self.assertLess(np.linalg.norm(x, axis=2).max(), 1)
                    self.assertGreater(np.abs(x[-1] - x[0]).max(), 1e-3)
                self.run_of(SWIMMER, *sets, "--set", "time.end=1", name="part").close()
                self.good("resume", "part.h5", "--until", "2", "--quiet")
                differ = differing(datasets(self.path("whole.h5")), datasets(self.path("part.h5")))
                self.assertFalse([name for name in differ if not name.startswith(("scenario", "checkpoint"))], differ)
                self.good("export", "whole.h5", "--xdmf", "-o", "whole.xdmf")

    def test_e3_is_what_there_is_without_a_space(self):
        flat = STONE.replace("space: {name: h3, curvature: -1}\n", "")
        flat = flat.replace("potentials:\n  - central: {expression: \"m*2*d^2\"}\n", "")
        self.write("a.yaml", flat)
        self.write("b.yaml", flat.replace("fluid:", "space: e3\nfluid:"))
        for name in "a", "b":
            self.good("run", name + ".yaml", "-o", name + ".h5", "--quiet")
        differ = differing(datasets(self.path("a.h5")), datasets(self.path("b.h5")))
        self.assertFalse([name for name in differ if not name.startswith("scenario")], differ)

    def test_surfaces_are_exported_in_plot_coordinates(self):
        for name, K in ("s3", 1), ("h3", -1):
            with self.subTest(name), self.run_of(FREE % (name, K, "1", 0.2)) as file:
                x = file["plot_position"][-1, 0]
                self.good("export", "run.h5", "--xdmf", "-o", "run.xdmf")
                with h5py.File(self.path("run-surface.h5")) as out:
                    there, t = out["plot_position"][-1], out["time"][:]
                    # velocities in plot coordinates: central differences of rows h apart for a rotation of 8/s, error (8 h)^2/6
                    by = (out["plot_position"][2] - out["plot_position"][0]) / (t[2] - t[0])
                    np.testing.assert_allclose(out["plot_velocity"][1], by, atol=0.02 * np.abs(by).max())
                if K < 0:
                    self.assertLess(np.linalg.norm(there, axis=1).max(), 1)
                # vertices of the ball are half a radius of curvature from its centre, also when computed from plot coordinates
                chord = np.linalg.norm(there - x, axis=1)
                if K < 0:
                    sizes = (1 - (there * there).sum(1)) * (1 - x @ x)
                    d = np.arccosh(1 + 2 * chord**2 / sizes)
                else:
                    d = 2 * np.arcsin(chord / np.sqrt((1 + (there * there).sum(1)) * (1 + x @ x)))
                np.testing.assert_allclose(d, 0.5, rtol=1e-6)  # the document has positions with at least single precision
        done = self.call("export", "run.h5", "--flow")
        self.assertEqual(done.returncode, 2)
        self.assertIn("only in flat space", done.stderr)


main()
