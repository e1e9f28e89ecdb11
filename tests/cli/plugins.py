#!/usr/bin/python3
"""Spaces, integrators, bundles, fluid models, flows, media, pair potentials, constraints, joints, kinds of gaits and reductions from shared objects work like
built-in ones: they are listed, run and resumed, and give the same errors.

    plugins.py BINARY FOLDER/plugin_NAME.so...
"""
import json
import os
import sys

import h5py
import numpy as np

from command import Case, datasets, differing, main

PLUGIN = {os.path.basename(word)[len("plugin_"):-len(".so")]: word for word in sys.argv[1:] if word.endswith(".so")}
sys.argv[1:] = [word for word in sys.argv[1:] if not word.endswith(".so")]
CATENOID = PLUGIN["catenoid"]

SCENARIO = """\
curvebody: 1
space: catenoid
bodies:
  - kind: rod
    name: a
    link: {spring: {stiffness: 2}}
    masses: [1, 2]
    place: {points: [[0.3, 0.2], [0.5, 0.9]]}
    motion: {velocities: [[0.1, 0.5], [-0.2, 0.4]]}
integrator: {name: gauss, stages: 2, step: 0.02}
time: {end: 2}
"""
ROD = """\
curvebody: 1
space: s3
bodies:
  - kind: rod
    name: a
    link: {spring: {stiffness: 2}}
    masses: [1, 2]
    place: {chart: polar, points: [[0.5, pi/2, 0], [0.9, pi/2, 1]]}
    motion: {killing: rotation_wx, speed: 0.7}
integrator: {name: leapfrog, step: 0.02}
time: {end: 2}
"""
ROTOR = """\
curvebody: 1
rotor: {moments: [1, 1, 2], spin: [0.3, 0, 0.7]}
integrator: {name: rkmk4, step: 0.02}
time: {end: 4}
"""
STROKE = """\
curvebody: 1
bundle: {name: leg, mass: 0.7, length: 1.3}
gait: {fourier: {mean: [0.3, 0.1], cosine: [[1, 0.2]], sine: [[0.1, 0.5]]}}
integrator: {name: magnus, order: 6, step: 0.01}
"""
ROPE = """\
curvebody: 1
space: SPACE
bodies:
  - kind: particles
    name: a
    masses: [1, 2, 1.5]
    place: {chart: polar, points: [[0.4, 1.2, 0.1], [0.6, 1.7, 0.9], [0.3, 1.1, 2.1]]}
    motion: {killing: rotation_z, speed: 0.7}
potentials: [{harmonic: {stiffness: 2, at: {chart: polar, point: [0.1, 1.3, 0.2]}}}]
constraints: [{tackle: {through: [[a, 0], [a, 1], [a, 2]], parts: 2, name: rope}}]
integrator: {name: lobatto, stages: 3, step: 0.01}
time: {end: 2}
record: {observables: [energy, killing_momentum, constraints, separation]}
"""
BALL = """\
curvebody: 1
fluid: {medium: air, flow: {uniform: [0, 0, 0]}, model: {name: ball, c: 0.6, viscosity: 0.02}}
bodies:
  - name: ball
    shape: {name: ellipsoid, a: 0.05, b: 0.05, c: 0.05, resolution: 16}
    density: 30
    place: {position: [0, 0, 1], rotation: {axis: [1, 2, 3], angle: 1}}
    motion: {velocity: [2, 0, 1], spin: [3, -1, 2]}
integrator: {name: hamilton_pontryagin, step: 0.01}
time: {end: 0.5}
record: {observables: [wrenches]}
"""

TUBE = """\
curvebody: 1
space: e3
bodies:
  - {kind: particles, name: a, radius: 0.1, place: {points: [[0.3, 0, 0]]}, motion: {velocities: [[0.5, 0.7, 1]]}}
  - {kind: particles, name: b, place: {points: [[-0.2, 0.1, 1.5]]}, motion: {velocities: [[0.3, -0.4, 0.2]]}}
walls:
  - tube: {radius: 1, rate: 0.05, restitution: 0.8}
events:
  - level: {between: [[a, 0], [b, 0]], name: level}
integrator: {name: lobatto, stages: 3, step: 0.1}
time: {end: 4}
"""

SCREW = """\
curvebody: 1
fluid: {medium: none, gravity: [0, 0, -9.81]}
bodies:
  - {name: nut, shape: ball, inertial: {mass: 2, at: [0, 0, 0], inertia: [0.1, 0.2, 0.3]}}
joints:
  - {kind: screw, name: thread, of: [world, nut], axis: [0, 0, 1], pitch: 0.05, angle: 0.3, rate: 1}
integrator: {name: hamilton_pontryagin, map: exponential, step: 0.01}
time: {end: 4}
record: {observables: [energy, joints]}
"""


class Plugins(Case):
    def with_plugin(self, *words):
        return self.good("--plugin", CATENOID, *words)

    def test_a_plugin_is_listed_and_shown(self):
        self.assertIn("catenoid", self.with_plugin("list", "spaces").stdout)
        shown = self.with_plugin("space", "catenoid", "--at", "0.3,0.2").stdout
        curvature = -1 / np.cosh(0.3)**4
        found = [float(line.split()[-1]) for line in shown.splitlines() if "sectional" in line]
        np.testing.assert_allclose(found, [curvature], rtol=1e-12)

    def test_a_run_keeps_energy_and_momentum_and_resumes(self):
        self.write("c.yaml", SCENARIO)
        self.with_plugin("run", "c.yaml", "-o", "c.h5")
        with h5py.File(self.path("c.h5")) as file:
            energy, momentum = file["energy"][()], file["killing_momentum"][:, 0]
            self.assertLess(np.ptp(energy) / energy[0], 1e-7)  # error of fourth order with h = 0.02
            self.assertLess(np.ptp(momentum) / momentum[0], 1e-11)  # distances have an error of 1e-12
        self.with_plugin("run", "c.yaml", "-o", "half.h5", "--set", "time.end=1")
        self.with_plugin("resume", "half.h5", "--until", "2")
        whole, resumed = datasets(self.path("c.h5")), datasets(self.path("half.h5"))
        self.assertEqual(len(whole["time"]), len(resumed["time"]))

    def test_a_bundle_is_its_built_in_twin(self):
        self.write("g.yaml", STROKE)
        with_leg = ["--plugin", PLUGIN["leg"]]
        listed = json.loads(self.good(*with_leg, "list", "bundles", "--json").stdout)["bundles"]
        rows = {bundle["name"]: [row["name"] for row in bundle["parameters"]] for bundle in listed}
        self.assertEqual(rows["leg"], rows["hopping_leg"])
        twin = ["--set", "bundle.name=hopping_leg"]
        for words in (["holonomy"], ["connection", "--at", "0.4,-0.2"]):
            mine = json.loads(self.good(*with_leg, "gait", "g.yaml", *words, "--json").stdout)
            other = json.loads(self.good("gait", "g.yaml", *words, *twin, "--json").stdout)
            self.assertEqual(set(mine), set(other) - {"P"})  # the plugin gives no form
            for key in {"A", "B", "M", "g", "log", "length", "cost", "cbvi"} & set(mine):
                np.testing.assert_allclose(mine[key], other[key], rtol=0, atol=1e-12)  # round-off
        self.good(*with_leg, "run", "g.yaml", "-o", "g.h5")
        self.good("run", "g.yaml", *twin, "-o", "twin.h5")
        with h5py.File(self.path("g.h5")) as file, h5py.File(self.path("twin.h5")) as other:
            np.testing.assert_allclose(file["group"][()], other["group"][()], rtol=0, atol=1e-12)

    def test_a_method_has_its_order(self):
        self.write("rod.yaml", ROD)
        errors = []
        self.good("run", "rod.yaml", "--set", "integrator={name: lobatto, stages: 4, step: 0.02}", "-o", "exact.h5")
        with h5py.File(self.path("exact.h5")) as file:
            exact = file["position"][-1]
        for step in ("0.04", "0.02"):
            self.good("--plugin", PLUGIN["leapfrog"], "run", "rod.yaml", "--set", "integrator.step=" + step, "-o", "r.h5")
            with h5py.File(self.path("r.h5")) as file:
                errors.append(np.abs(file["position"][-1] - exact).max())
                self.assertLess(np.ptp(file["killing_momentum"][()], axis=0).max(), 1e-12)  # round-off
            os.remove(self.path("r.h5"))
        self.assertAlmostEqual(np.log2(errors[0] / errors[1]), 2, delta=0.02)  # contribution of the next order at h = .02
        warned = self.good("--plugin", PLUGIN["leapfrog"], "run", "rod.yaml", "--set", "integrator.step=0.5", "-o", "w.h5")
        self.assertIn("the step of 0.5 is too long\n", warned.stderr)  # the plugin does not give its order, so no step is recommended
        refused = self.call("--plugin", PLUGIN["leapfrog"], "run", "rod.yaml", "--set", "space={name: s3, chart: polar}")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("does not take a space in one chart", refused.stderr)
        self.write("g.yaml", STROKE)
        refused = self.call("--plugin", PLUGIN["leapfrog"], "--plugin", PLUGIN["leg"], "run", "g.yaml", "--set",
                            "integrator.name=leapfrog")
        self.assertIn("is for Hamiltonian systems, not for paths in a group; expected one of `magnus`", refused.stderr)

    def rope(self, *words):
        self.good("--plugin", PLUGIN["tackle"], "run", "rope.yaml", "-o", "rope.h5", *words)
        with h5py.File(self.path("rope.h5")) as file:
            found = {name: file[name][()] for name in file if name in ("position", "energy", "constraint_residual")}
            found["names"] = [name.decode() for name in file["constraint_name"]] if "constraint_name" in file else []
        os.remove(self.path("rope.h5"))
        return found

    def test_a_constraint_is_kept_and_is_a_potential(self):
        listed = self.good("--plugin", PLUGIN["tackle"], "list", "constraints").stdout
        self.assertIn("rope with several parts", listed)
        self.assertIn("parts of the rope", listed)
        through = "{through: [[a, 0], [a, 1], [a, 2]]}"
        for space in "e3", "s3", "{name: h3, chart: polar}", "h2xe":
            self.write("rope.yaml", ROPE.replace("SPACE", space))
            found = self.rope()
            self.assertEqual(found["names"], ["rope"])
            self.assertLess(np.abs(found["constraint_residual"]).max(), 1e-12)  # round-off
            self.assertLess(np.ptp(found["energy"]) / abs(found["energy"][0]), 1e-7)  # error of fourth order with h = 0.01
            self.assertGreater(np.abs(found["position"][-1] - found["position"][0]).max(), 0.1)
            # with one part it is the built-in class, also as a potential
            for key, more in ("constraints", ""), ("interactions", ", stiffness: 30, rest: 1"):
                other = "interactions" if key == "constraints" else "constraints"
                mine, twin = (self.rope("--set", f"{other}=[]", "--set", f"{key}=[{{{name}: {through}{more}}}]")
                              for name in ("tackle", "path_length"))
                np.testing.assert_allclose(mine["position"], twin["position"], rtol=0, atol=1e-11)  # round-off of 200 steps
        wrong = self.call("--plugin", PLUGIN["tackle"], "check", "rope.yaml", "--set", "constraints.0.tackle.parts=0")
        self.assertIn("parts: expected a dimensionless number > 0", wrong.stderr)
        unknown = self.call("check", "rope.yaml")
        self.assertIn("unknown constraint 'tackle'", unknown.stderr)

    def fall(self, *words):
        self.good("--plugin", PLUGIN["ball"], "run", "b.yaml", "-o", "b.h5", *words)
        with h5py.File(self.path("b.h5")) as file:
            found = {name: file[name][()] for name in ("time", "pose", "twist", "wrench_drag") if name in file}
        os.remove(self.path("b.h5"))
        return found

    def test_a_fluid_model_is_the_same_forces_as_expressions(self):
        self.write("b.yaml", BALL)
        self.assertIn("drag of a ball", self.good("--plugin", PLUGIN["ball"], "list", "fluids").stdout)
        found = self.fall()
        inertia = self.good("inertia", "ellipsoid:a=0.05,b=0.05,c=0.05,resolution=16", "--json").stdout
        r = float(np.cbrt(3 * json.loads(inertia)["volume"] / (4 * np.pi)))
        k = f"{0.6 / 2 * 1.225 * np.pi * r**2!r}*sqrt(vx^2 + vy^2 + vz^2) + {6 * np.pi * 0.02 * r!r}"
        force = ", ".join(f'"-({k})*v{axis}"' for axis in "xyz")
        torque = ", ".join(f'"-{8 * np.pi * 0.02 * r**3!r}*w{axis}"' for axis in "xyz")
        twin = self.fall("--set", "fluid.model=local", "--set", "bodies.0.drag=false", "--set",
                         f"bodies.0.wrenches=[{{name: twin, force: [{force}], torque: [{torque}]}}]")
        np.testing.assert_allclose(found["pose"], twin["pose"], rtol=0, atol=1e-13)  # round-off of 50 steps
        speed = np.linalg.norm(found["twist"][:, 0, 3:], axis=1)
        expected = -found["twist"][:, 0, 3:] * (0.6 / 2 * 1.225 * np.pi * r**2 * speed + 6 * np.pi * 0.02 * r)[:, None]
        np.testing.assert_allclose(found["wrench_drag"][:, 0, 3:], expected, rtol=0, atol=1e-12)
        # in a wind the motion relative to the air is the same, except for the second-order error of the step
        apart = []
        for step in ("0.0025", "0.00125"):
            still = self.fall("--set", "integrator.step=" + step)
            wind = self.fall("--set", "integrator.step=" + step, "--set", "fluid.flow.uniform=[3, -2, 0]", "--set",
                             "bodies.0.motion.velocity=[5, -2, 1]")
            apart.append(np.abs(wind["pose"][-1, 0, :3] - 0.5 * np.array([3, -2, 0]) - still["pose"][-1, 0, :3]).max())
        self.assertAlmostEqual(np.log2(apart[0] / apart[1]), 2, delta=0.1)
        shown = self.good("--plugin", PLUGIN["ball"], "check", "b.yaml", "--set", "fluid.model={name: ball}").stdout
        self.assertRegex(shown, r"c: 0\.47\b")
        unknown = self.call("--plugin", PLUGIN["ball"], "check", "b.yaml", "--set", "fluid.model=bal")
        self.assertIn("unknown fluid model 'bal', did you mean 'ball'?", unknown.stderr)
        left = self.good("--plugin", PLUGIN["ball"], "check", "b.yaml", "--set", "fluid.model.name=local").stdout
        self.assertIn("`viscosity` of ball is left out", left)

    def test_a_fluid_model_acts_on_each_face_and_has_an_added_mass(self):
        self.write("b.yaml", BALL.replace("{name: ball, c: 0.6, viscosity: 0.02}", "{name: newton, a: 1.5, b: 0.3}"))

        def run(*words):
            self.good("--plugin", PLUGIN["newton"], "run", "b.yaml", "-o", "b.h5", "--set", "time.end=0.05", "--set",
                      "record.observables=[wrenches, inertia]", *words)
            with h5py.File(self.path("b.h5")) as file:
                return {name: file[name][()] for name in file if name.startswith("wrench_") or name in ("twist", "inertia")}

        fine = run("--set", "bodies.0.shape.resolution=64")
        os.remove(self.path("b.h5"))
        v = fine["twist"][:, 0, 3:]
        for term, k in ("windward", 1.5), ("lee", 0.3):  # half a sphere: int cos^3 = pi/2; the error is of second order for 64 faces per turn
            expected = -k / 2 * 1.225 * np.pi * 0.05**2 / 2 * np.linalg.norm(v, axis=1)[:, None] * v
            np.testing.assert_allclose(fine["wrench_" + term][:, 0, 3:], expected, atol=6e-3 * np.abs(expected).max())
            np.testing.assert_allclose(fine["wrench_" + term][:, 0, :3], 0, atol=1e-4 * np.abs(expected).max())
        self.assertNotIn("wrench_drag", fine)
        without = run("--set", "bodies.0.added_mass=false")
        os.remove(self.path("b.h5"))
        with_ = run()
        os.remove(self.path("b.h5"))
        volume = 4 / 3 * np.pi * 0.05**3 * (1 - 0.1)  # 16 faces per turn: the volume is 10 % smaller
        added = with_["inertia"][0, 0] - without["inertia"][0, 0]
        np.testing.assert_allclose(added[3:, 3:], 1.225 / 2 * volume * np.eye(3), atol=0.06 * 1.225 / 2 * volume)
        np.testing.assert_allclose(added[:3], 0, atol=1e-15)
        local = run("--set", "fluid.model=local", "--set", "fluid.added_mass={name: newton}")
        np.testing.assert_array_equal(local["inertia"], with_["inertia"])
        self.assertIn("wrench_drag", local)
        shown = self.good("--plugin", PLUGIN["newton"], "check", "b.yaml", "--set", "fluid.added_mass={name: newton}").stdout
        self.assertRegex(shown, r"added_mass:\n(    .*\n)*    b: 0\.5\b")
        refused = self.call("--plugin", PLUGIN["newton"], "check", "b.yaml", "--set", "fluid.added_mass=newtn")
        self.assertIn("unknown added mass 'newtn', did you mean 'newton'?", refused.stderr)
        taken = self.call("--plugin", PLUGIN["newton"], "check", "b.yaml", "--set",
                          "bodies.0.wrenches=[{name: lee, force: [1, 0, 0]}]")
        self.assertIn("two wrenches of a body are called `lee`: expected different names", taken.stderr)

    def fields(self, plugin, *sets):
        """The fields of a run of BALL that depend on the fluid; sets: KEY=VALUE."""
        words = [word for value in ("time.end=0.2", *sets) for word in ("--set", value)]
        self.good(*plugin, "run", "b.yaml", "-o", "b.h5", *words)
        with h5py.File(self.path("b.h5")) as file:
            found = {name: file[name][()] for name in file if name.startswith("wrench_") or name in ("twist", "pose")}
        os.remove(self.path("b.h5"))
        return found

    def same(self, mine, twin):
        self.assertEqual(set(mine), set(twin))
        for name in mine:
            np.testing.assert_allclose(mine[name], twin[name], rtol=1e-9, atol=1e-9 * np.abs(twin[name]).max() + 1e-15)

    def test_a_flow_and_a_medium_on_jets_are_their_expressions(self):
        flow = ["--plugin", PLUGIN["taylor_green"]]
        medium = ["--plugin", PLUGIN["pycnocline"]]
        self.write("b.yaml", BALL.replace("{name: ball, c: 0.6, viscosity: 0.02}", "local"))
        mine = self.fields(flow, "fluid.flow={taylor_green: {speed: 2, wave_number: 3, viscosity: 0.1}}")
        twin = self.fields([], "fluid.flow={velocity: [2*exp(-1.8*t)*sin(3*x)*cos(3*y), -2*exp(-1.8*t)*cos(3*x)*sin(3*y), 0]}")
        self.same(mine, twin)
        self.assertGreater(np.abs(mine["twist"][-1] - self.fields([])["twist"][-1]).max(), 1e-3)
        both = self.fields(flow, "fluid.flow=[{taylor_green: {wave_number: 3}}, {taylor_green: {wave_number: 3}}]")
        once = self.fields(flow, "fluid.flow={taylor_green: {speed: 2, wave_number: 3}}")
        self.same(both, once)
        mine = self.fields(medium, "fluid.medium={pycnocline: {height: 1, thickness: 0.5}}")
        self.same(mine, self.fields([], "fluid.medium=1000 - 10*tanh((z - 1)/0.5)"))
        shown = self.good(*medium, "check", "b.yaml", "--set", "fluid.medium=pycnocline").stdout
        self.assertRegex(shown, r"  medium:\n    pycnocline:\n      mean: 1000\n      difference: 20\n")
        self.write("b.yaml", shown)
        self.assertEqual(self.good(*medium, "check", "b.yaml").stdout, shown)
        listed = json.loads(self.good(*flow, *medium, "list", "--json").stdout)
        self.assertIn("taylor_green", [entry["name"] for entry in listed["flows"]])
        self.assertIn("pycnocline", [entry["name"] for entry in listed["media"]])
        for value, message in ("{pycnocline: {hieght: 1}}", "did you mean 'height'?"), ("pycnoclin", "did you mean 'pycnocline'?"):
            refused = self.call(*medium, "check", "b.yaml", "--set", "fluid.medium=" + value)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(message, refused.stderr)

    def test_a_joint_is_its_equation_of_motion(self):
        with_screw = ["--plugin", PLUGIN["screw"]]
        self.write("s.yaml", SCREW)
        self.good(*with_screw, "run", "s.yaml", "-o", "s.h5")
        mass, inertia, pitch, g = 2, 0.3, 0.05, 9.81  # (I + m pitch^2) q'' = -m g pitch
        with h5py.File(self.path("s.h5")) as file:
            t, q, pose = (file[name][()] for name in ("time", "angle", "pose"))
            exact = 0.3 + t - mass*g*pitch/(inertia + mass*pitch**2)*t**2/2
            np.testing.assert_allclose(q[:, 0], exact, rtol=0, atol=1e-11)  # `exponential` has no error here but round-off
            np.testing.assert_allclose(pose[:, 0, 2], pitch*q[:, 0], rtol=0, atol=1e-13)
            self.assertGreater(np.ptp(q), 6*np.pi)
            self.assertLess(file["joint_residual"][()].max(), 1e-13)
            self.assertLess(np.ptp(file["energy"][()]), 1e-9)
        self.good(*with_screw, "run", "s.yaml", "-o", "half.h5", "--set", "time.end=2")
        self.good(*with_screw, "resume", "half.h5", "--until", "4")
        self.assertEqual(differing(datasets(self.path("s.h5")), datasets(self.path("half.h5"))), [])
        shown = self.good(*with_screw, "check", "s.yaml").stdout
        self.assertIn("    pitch: 0.05\n", shown)
        self.write("s.yaml", shown)
        self.assertEqual(self.good(*with_screw, "check", "s.yaml").stdout, shown)
        self.assertRegex(self.good(*with_screw, "list", "joints").stdout, r"screw .*\n +pitch +real \(m/rad\), required")
        for value, message in (("joints.0.pich=1", "did you mean 'pitch'?"), ("joints.0.kind=scew", "did you mean 'screw'?"),
                               ("joints.0.kind=hinge", "unknown key 'pitch'"), ("joints.0.pitch=a", "pitch: expected a number")):
            refused = self.call(*with_screw, "check", "s.yaml", "--set", value)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(message, refused.stderr)

    def test_a_pair_potential_is_the_same_as_an_expression(self):
        charges = SCENARIO.replace("space: catenoid", "space: h3").replace(
            "    masses: [1, 2]\n    place: {points: [[0.3, 0.2], [0.5, 0.9]]}\n"
            "    motion: {velocities: [[0.1, 0.5], [-0.2, 0.4]]}\n",
            "    masses: [1, 2]\n    charges: [1.5, 0.5]\n    place: {chart: polar, points: [[0.5, 1, 0], [0.9, 1, 1]]}\n")
        self.write("y.yaml", charges + "interactions: [{pair_potential: yukawa, strength: 0.6, screening: 0.8}]\n"
                   "potentials: [{central: {pair_potential: yukawa, screening: 2}}]\n")
        with_yukawa = ["--plugin", PLUGIN["yukawa"]]
        self.assertIn("yukawa", self.good(*with_yukawa, "list", "pair_potentials").stdout)
        self.good(*with_yukawa, "run", "y.yaml", "-o", "y.h5")
        self.write("twin.yaml", charges + "interactions: [{expression: 0.6*q1*q2*exp(-d/0.8)/d}]\n"
                   "potentials: [{central: {expression: q*exp(-d/2)/d}}]\n")
        self.good("run", "twin.yaml", "-o", "twin.h5")
        with h5py.File(self.path("y.h5")) as file, h5py.File(self.path("twin.h5")) as other:
            np.testing.assert_allclose(file["plot_position"][()], other["plot_position"][()], rtol=0, atol=1e-12)
            self.assertLess(np.ptp(file["energy"][()]), 1e-6)  # error of fourth order with h = 0.02
        wrong = self.call(*with_yukawa, "check", "y.yaml", "--set", "interactions.0.screening=0")
        self.assertIn("screening: expected a number > 0", wrong.stderr)
        left = self.good(*with_yukawa, "check", "y.yaml", "--set", "interactions.0.pair_potential=coulomb").stdout
        self.assertIn("`screening` of yukawa is left out: coulomb has no such key", left)

    def test_a_configuration_space_runs_is_recorded_and_resumes(self):
        def rotor(*words):
            return self.good("--plugin", PLUGIN["rotor"], *words)
        self.write("rotor.yaml", ROTOR)
        listed = json.loads(rotor("list", "configurations", "--json").stdout)["configurations"]
        self.assertIn("rotor", [entry["name"] for entry in listed])
        errors = []
        for step in ("0.04", "0.02"):
            rotor("run", "rotor.yaml", "--set", "integrator.step=" + step, "-o", "r.h5", "--force")
            with h5py.File(self.path("r.h5")) as file:
                t, spin, energy = file["time"][()], file["spin"][()], file["energy"][()]
            # a symmetric top with moments 1, 1, 2: in the body the spin turns about the axis with the rate (2/1 - 1) 0.7
            exact = np.stack([0.3 * np.cos(0.7 * t), 0.3 * np.sin(0.7 * t), 0.7 + 0 * t], 1)
            errors.append(np.abs(spin - exact).max())
            np.testing.assert_allclose(energy, energy[0], rtol=1e-7)
        self.assertLess(errors[1], 1e-8)
        self.assertAlmostEqual(np.log2(errors[0] / errors[1]), 4, delta=0.2)
        other = ["--set", "integrator={name: hamilton_pontryagin, step: 0.02}"]
        rotor("run", "rotor.yaml", *other, "-o", "h.h5")
        with h5py.File(self.path("h.h5")) as file:
            np.testing.assert_allclose(file["momentum"][()], file["momentum"][0] + 0 * file["momentum"][()], atol=1e-14)
        for words in ([], other):
            rotor("run", "rotor.yaml", *words, "-o", "half.h5", "--set", "time.end=2", "--set", "record.checkpoint=25", "--force")
            rotor("run", "rotor.yaml", *words, "-o", "whole.h5", "--set", "record.checkpoint=25", "--force")
            rotor("resume", "half.h5", "--until", "4")
            different = differing(datasets(self.path("whole.h5")), datasets(self.path("half.h5")))
            self.assertEqual([name for name in different if not name.startswith("scenario")], [])
            rotor("verify", "half.h5")
        refused = self.call("--plugin", PLUGIN["rotor"], "check", "rotor.yaml", "--set", "integrator.name=lobatto")
        self.assertIn("is for Hamiltonian systems, not for discrete Lagrangians on a Lie group", refused.stderr)
        wrong = self.call("--plugin", PLUGIN["rotor"], "check", "rotor.yaml", "--set", "rotor.moments=[1, 0, 2]")
        self.assertIn("error: moments: expected numbers > 0, found 0", wrong.stderr)
        without = self.call("check", "rotor.yaml")
        self.assertIn("unknown key 'rotor'", without.stderr)

    def test_a_wall_and_an_event_are_the_same_as_expressions(self):
        self.write("t.yaml", TUBE)
        with_tube = ["--plugin", PLUGIN["tube"]]
        self.assertRegex(self.good(*with_tube, "list", "walls").stdout, r"tube .*\n    radius  .*\n    rate ")
        self.assertRegex(self.good(*with_tube, "list", "events").stdout, r"level .*\n    between ")
        self.good(*with_tube, "run", "t.yaml", "-o", "t.h5")
        self.good("run", "t.yaml", "-o", "twin.h5", "--set", "events=[]", "--set",
                  "walls=[{expression: {value: '1 + 0.05*t - hypot(x, y) - r', restitution: 0.8}}]")
        with h5py.File(self.path("t.h5")) as file, h5py.File(self.path("twin.h5")) as twin:
            np.testing.assert_allclose(file["position"][()], twin["position"][()], rtol=0, atol=1e-12)  # round-off
            hits = file["event_kind"][()] == 0
            self.assertGreater(hits.sum(), 2)
            np.testing.assert_allclose(file["event_time"][hits], twin["event_time"][()], rtol=0, atol=1e-13)
            np.testing.assert_allclose(file["event_time"][~hits], [1.5 / 0.8], rtol=0, atol=1e-14)  # 0 + t = 1.5 + 0.2 t
        stopped = self.good(*with_tube, "run", "t.yaml", "-o", "s.h5", "--set", "events.0.level.action=stop").stdout
        self.assertIn("stopped by the event `level`", stopped)
        for edit, words in (("space=s3", "a tube is a wall of the space e3"), ("walls.0.tube.radius=-1", "radius: expected a"),
                            ("events.0.level.between=[[a, 0], [a, 0]]", "expected different particles")):
            refused = self.call(*with_tube, "check", "t.yaml", "--set", edit)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(words, refused.stderr)
        unknown = self.call("check", "t.yaml")
        self.assertIn("unknown key 'tube', expected one of: ball, expression, plane", unknown.stderr)

    def test_a_kind_of_gait_is_its_fourier_series(self):
        with_eight = ["--plugin", PLUGIN["eight"]]
        listed = {entry["name"]: entry for entry in json.loads(self.good(*with_eight, "list", "gaits", "--json").stdout)["gaits"]}
        self.assertEqual([row["name"] for row in listed["eight"]["parameters"]], ["width", "height"])
        beside = "reversed: true, start: 0.2, scale: [1, 0.5], repeat: 2, period: 3"
        self.write("g.yaml", STROKE.replace("leg,", "hopping_leg,").replace(
            "gait: {fourier: {mean: [0.3, 0.1], cosine: [[1, 0.2]], sine: [[0.1, 0.5]]}}",
            "gait: {eight: {width: 0.4}, offset: [0.3, 0.1], %s}" % beside))
        self.good(*with_eight, "run", "g.yaml", "-o", "g.h5")
        twin = "gait={fourier: {sine: [[0.4, 0], [0, 1]]}, offset: [0.3, 0.1], %s}" % beside
        self.good("run", "g.yaml", "--set", twin, "-o", "twin.h5")
        with h5py.File(self.path("g.h5")) as file, h5py.File(self.path("twin.h5")) as other:
            for name in "shape", "group":
                np.testing.assert_allclose(file[name][()], other[name][()], rtol=0, atol=1e-12)  # round-off
            self.assertGreater(np.ptp(file["shape"][:, 1]), 0.9)
        shown = self.good(*with_eight, "check", "g.yaml").stdout
        self.assertRegex(shown, r"\ngait:\n  eight:\n    width: 0\.4\n    height: 1\n  reversed: true\n")
        self.write("shown.yaml", shown)
        self.assertEqual(self.good(*with_eight, "check", "shown.yaml").stdout, shown)
        for value, message in (("{eight: {widht: 1}}", "unknown key 'widht', did you mean 'width'?"),
                               ("{eight: {width: 0}}", "width: expected a dimensionless number > 0"),
                               ("{eight: {height: 1}}", "missing key 'width'"),
                               ("{eigth: {width: 1}}", "unknown key 'eigth', did you mean 'eight'?"),
                               ("{eight: {width: 1}, loop: a}", "`eight` next to `loop`: expected only one kind of gait"),
                               ("{eight: {width: 1}, breaks: [0]}", "`breaks` applies only to `expressions`")):
            refused = self.call(*with_eight, "check", "g.yaml", "--set", "gait=" + value)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(message, refused.stderr)
        self.assertIn("expected a kind of gait: arcs, ", self.call("check", "g.yaml", "--set", "gait={repeat: 2}").stderr)
        other = self.call(*with_eight, "check", "g.yaml", "--set", "bundle={name: purcell, links: 4}")
        self.assertIn("expected a bundle with 2 shape variables, found 3", other.stderr)

    def test_a_reduction_is_its_closed_form(self):
        """r1 = sin(2 pi t) is above 1/2 for a third of the cycle, and above 0 for a half."""
        self.write("g.yaml", STROKE.replace("leg,", "hopping_leg,").replace(
            "{mean: [0.3, 0.1], cosine: [[1, 0.2]], sine: [[0.1, 0.5]]}", "{sine: [[1, 0.5]]}"))
        self.write("s.yaml", "curvebody: 1\nsweep:\n  scenario: g.yaml\n  over: [{key: gait.scale, values: [1, 0.5]}]\n"
                   "  collect: {third: \"above(shape[0], 0.5)\", half: \"above(shape[0])\", both: \"2*above(shape[0], -9) + above(shape[1], 9)\"}\n")
        with_above = ["--plugin", PLUGIN["eight"]]
        self.good(*with_above, "sweep", "s.yaml", "-o", "s.h5")
        with h5py.File(self.path("s.h5")) as file:
            np.testing.assert_allclose(file["third"][()], [1 / 3, 0], rtol=0, atol=3e-4)  # lines between rows 0.01 apart
            np.testing.assert_allclose(file["half"][()], [0.5, 0.5], rtol=0, atol=1e-12)
            np.testing.assert_allclose(file["both"][()], [2, 2], rtol=0, atol=1e-12)
        for text, message in (("above(shape[0], x)", "expected level, the level, as a number"),
                              ("above(shape[0], )", "expected level, the level, as a number"),
                              ("above(shape[0], 1, 2)", "expected level, the level, as a number"),
                              ("abov(shape[0])", "unknown reduction or function 'abov', did you mean 'above'?")):
            with open(self.path("s.yaml"), encoding="utf-8") as file:
                self.write("wrong.yaml", file.read().replace("above(shape[0], 0.5)", text))
            refused = self.call(*with_above, "sweep", "wrong.yaml", "--dry-run")
            self.assertEqual(refused.returncode, 2)
            self.assertIn(message, refused.stderr)

    def test_a_class_that_lacks_something_is_refused(self):
        still = self.call("--plugin", PLUGIN["no_step"], "list")
        self.assertEqual(still.returncode, 2)
        self.assertIn("integrator `still` of the plugin: expected name, title, doc, the problem", still.stderr)
        taken = self.call("--plugin", PLUGIN["taken"], "list")
        self.assertEqual(taken.returncode, 2)
        self.assertIn("a bundle `purcell` already exists", taken.stderr)

    def test_what_is_no_plugin_is_refused(self):
        self.write("c.yaml", SCENARIO)
        without = self.call("run", "c.yaml")
        self.assertEqual(without.returncode, 2)
        self.assertIn("unknown space 'catenoid'", without.stderr)
        missing = self.call("--plugin", "missing.so", "list")
        self.assertEqual(missing.returncode, 3)
        self.assertIn("cannot load the plugin", missing.stderr)
        other = self.call("--plugin", PLUGIN["other_version"], "list")
        self.assertEqual(other.returncode, 2)
        self.assertIn("the plugin has version 5, expected 4", other.stderr)
        twice = self.call("--plugin", CATENOID, "--plugin", CATENOID, "list")
        self.assertEqual(twice.returncode, 2)
        self.assertIn("a space `catenoid` already exists", twice.stderr)


if __name__ == "__main__":
    main()
