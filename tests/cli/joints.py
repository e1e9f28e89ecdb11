#!/usr/bin/python3
"""The key `joints`: what it does to a run, what the record contains of it, its errors, and the commands that use it."""
import json
import os

import h5py
import numpy as np

from command import Case, datasets, differing, main

SCENARIOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../analysis/scenarios/joints")
PENDULUM = """\
curvebody: 1
fluid: {medium: none, gravity: [0, 0, -9.81], parameters: {gain: 3}}
bodies:
  - {name: arm, shape: ball, inertial: {mass: 2, at: [0, 0, 0], inertia: [0.1, 0.2, 0.3]}}
  - {name: hand, shape: ball, inertial: {mass: 1, at: [0, 0, 0], inertia: [0.02, 0.03, 0.03]}}
joints:
  - {kind: hinge, name: root, of: [world, arm], at: [0, 0, 1], in: [-0.5, 0, 0], axis: [0, 1, 0], angle: 0.4, damping: 0.2,
     spring: {stiffness: 2, rest: 0.1}, armature: 0.05}
  - {kind: hinge, name: tip, of: [arm, hand], at: [0.5, 0, 0], in: [-0.3, 0, 0], axis: [0, 1, 0], rate: 1,
     servo: {position: sin(gain*t) + root/4, kp: 4, kv: 0.1}, effort: [-3, 3]}
integrator: {name: hamilton_pontryagin, step: 0.005}
time: {end: 2}
record: {observables: [energy, joints]}
"""

FOUR_BAR = """\
curvebody: 1
fluid: {medium: none, gravity: [0, 0, -9.81]}
bodies:
  - {name: crank, shape: {name: ellipsoid, a: 0.05, b: 0.01, c: 0.01}, density: 2700}
  - {name: coupler, shape: {name: ellipsoid, a: 0.15, b: 0.01, c: 0.01}, density: 2700}
  - {name: rocker, shape: {name: ellipsoid, a: 0.1, b: 0.06, c: 0.01}, density: 2700}
joints:
  - {kind: hinge, name: a, of: [world, crank], in: [-0.05, 0, 0], axis: [0, -1, 0]}
  - {kind: hinge, name: b, of: [crank, coupler], at: [0.05, 0, 0], in: [-0.15, 0, 0], axis: [0, -1, 0], angle: acos(3/4)}
  - {kind: hinge, name: c, of: [coupler, rocker], at: [0.15, 0, 0], in: [0.1, 0, 0], axis: [0, -1, 0], angle: acos(3/4)}
  - {kind: hinge, name: d, of: [world, rocker], at: [0.3, 0, 0], in: [-0.1, 0, 0], axis: [0, -1, 0]}
integrator: {name: hamilton_pontryagin, step: 1/400}
time: {end: 2}
record: {observables: [energy, joints]}
"""

CURVED = """\
curvebody: 1
space: SPACE
fluid: {medium: none}
bodies:
  - {name: trunk, shape: {name: ellipsoid, a: 0.3, b: 0.2, c: 0.15}, density: 2, drag: false,
     place: {position: [0.5, 0, 0]}, motion: {velocity: [0, 0.3, 0.1], spin: [0.2, 0, 0.4]}}
  - {name: arm, shape: {name: ellipsoid, a: 0.25, b: 0.1, c: 0.2}, density: 2, drag: false}
  - {name: hand, shape: {name: ellipsoid, a: 0.2, b: 0.1, c: 0.1}, density: 2, drag: false}
joints:
  - {kind: hinge, name: root, of: [trunk, arm], at: [0.35, 0, 0], in: [-0.3, 0, 0], axis: [0, 1, 0], angle: 0.4,
     spring: {stiffness: 0.1, rest: 0.1}, damping: 0.001}
  - {kind: hinge, name: tip, of: [hand, arm], at: [0.25, 0, 0], in: [0.3, 0, 0], axis: [0, 0, 1], motor: 0.01*sin(5*t)}
integrator: {name: hamilton_pontryagin, step: 0.02}
time: {end: 2}
"""


class Joints(Case):
    def run_of(self, scenario, *sets, name="r.h5"):
        self.good("run", scenario, "-o", name, "--force", "--quiet", *(word for s in sets for word in ("--set", s)))
        with h5py.File(self.path(name)) as file:
            return {key: item[()] for key, item in file.items() if isinstance(item, h5py.Dataset)}

    def test_an_acrobot_moves_as_independent_equations_say(self):
        """The reference was solved in other coordinates, by two methods, to 1e-12."""
        last = self.run_of(os.path.join(SCENARIOS, "acrobot.yaml"), "time.end=1")
        np.testing.assert_allclose(last["angle"][-1], [-1.883429113080, 0.001794825759], rtol=0, atol=1e-9)  # order 4, h = 1e-3
        np.testing.assert_allclose(last["rate"][-1], [0.142923609649, -3.239764947414], rtol=0, atol=1e-8)

    def test_a_swimmer_moves_as_independent_equations_say(self):
        """Three boxes with motors and MuJoCo's drag by the box of inertia, whose |v|v is not smooth; reference to 1e-9."""
        mass, (a, b, c) = 0.01, (0.002, 0.1, 0.02)
        inertia = [mass/12*(b*b + c*c), mass/12*(a*a + c*c), mass/12*(a*a + b*b)]
        lines = ["curvebody: 1", "fluid: {medium: 3000, model: {name: mujoco_inertia_box, viscosity: 0}}", "bodies:"]
        for i in range(3):
            lines.append(f"  - {{name: l{i}, shape: {{name: box, a: {a}, b: {b}, c: {c}}}, buoyancy: false, "
                         f"inertial: {{mass: {mass}, inertia: {inertia}}}}}")
        lines += ["joints:", "  - {kind: planar, name: root, of: [world, l0], axis: [0, 0, 1]}"]
        for i in range(2):
            lines.append(f"  - {{kind: hinge, name: j{i}, of: [l{i}, l{i + 1}], at: [0, 0.05, 0], in: [0, -0.05, 0], "
                         f"axis: [0, 0, 1], angle: 0.2*cos({i}), armature: 1e-6, motor: 5e-4*sin(2*pi*t + 1.3*{i})}}")
        lines += ["integrator: {name: hamilton_pontryagin, order: 4, step: 1/800}", "time: {end: 5}", "record: {every: 4000}"]
        self.write("o3.yaml", "\n".join(lines) + "\n")
        expected = [0.0329028150, 0.0540238104, 0.5919653825, 1.1402799033, -2.5323134303]
        np.testing.assert_allclose(self.run_of("o3.yaml")["angle"][-1], expected, rtol=0, atol=3e-8)  # measured 3e-9

    def test_a_loop_of_bars_stays_closed(self):
        found = self.run_of(os.path.join(SCENARIOS, "four-bar.yaml"), "time.end=1")
        crank, elbow, wrist = found["angle"][:, :3].T
        end = 0.1*np.exp(1j*crank) + 0.3*np.exp(1j*(crank + elbow)) + 0.2*np.exp(1j*(crank + elbow + wrist + np.pi))
        self.assertLess(abs(end - 0.3).max(), 1e-13)  # the paddle runs from the wrist back to the pivot
        np.testing.assert_allclose(crank, 2*np.pi*found["time"], rtol=0, atol=1e-12)
        self.assertTrue(np.isnan(found["effort"][0, 0]))
        self.assertTrue((found["effort"][:, 1:] == 0).all())

    def test_conditions_that_follow_from_other_joints_are_named(self):
        """The hinge that closes a planar loop has five conditions, of which the two in its plane count; a drive of it is one
        more. A ball has three, of which these two count."""
        third = "joints.2={kind: %s, name: c, of: [coupler, rocker], at: [0.15, 0, 0], in: [0.1, 0, 0], %s}"
        driven, ball = third % ("hinge", "axis: [0, -1, 0], drive: acos(3/4)"), third % ("ball", "angle: [0, -acos(3/4), 0]")
        self.write("l.yaml", FOUR_BAR)
        for sets, named, dropped in (
                ((), "joint `c`: 3 of its 5 conditions follow from the other joints at the start and are dropped", 3),
                (("joints.0.drive=0", driven), "joint `c`: 4 of its 6 conditions follow", 4),
                ((ball,), "joint `c`: 1 of its 3 conditions follows from the other joints at the start and is", 1)):
            words = [word for s in sets for word in ("--set", s)]
            warned = self.good("check", "l.yaml", *words).stderr
            self.assertEqual(warned.count("warning: joint"), 1, warned)
            self.assertIn(named, warned)
            self.good("run", "l.yaml", "-o", "l.h5", "--force", "--set", "time.end=0.01", *words)
            with h5py.File(self.path("l.h5")) as file:
                self.assertEqual(file["joint_dropped"][()].tolist(), [0, 0, dropped, 0])
                self.assertIn(named, str(file.attrs["warnings"]))
        self.write("p.yaml", PENDULUM)
        self.assertNotIn("conditions", self.good("check", "p.yaml").stderr)
        self.assertEqual(self.run_of("p.yaml", "time.end=0.01")["joint_dropped"].tolist(), [0, 0])

    def test_friction_in_a_loop_takes_its_work_and_opens_nothing(self):
        """With one degree of freedom the balance of energy is the equation of motion. The work of friction is that of the
        angles that the hinges turn to and fro, which come to rest for a moment one after another."""
        self.write("l.yaml", FOUR_BAR)
        off = []
        for h in 1/400, 1/800:
            found = self.run_of("l.yaml", f"integrator.step={h}", *(f"joints.{i}.friction=0.001" for i in range(4)))
            turned = abs(np.diff(found["angle"], axis=0)).sum(axis=1).cumsum()
            self.assertGreater(turned[-1], 30)
            self.assertLess(found["joint_residual"].max(), 1e-13)
            off.append(abs(found["energy"][1:] + 0.001*turned - found["energy"][0]).max())
        self.assertLess(off[0], 2e-3)  # of 0.8 J; measured: 6e-4, and a quarter with half of the step
        self.assertLess(off[1], off[0]/3)
        rest = self.run_of("l.yaml", *(f"joints.{i}.friction=0.1" for i in range(4)))["angle"]
        self.assertLess(abs(rest - rest[0]).max(), 1e-12)

    def test_the_change_of_energy_is_the_work(self):
        """The step is of order 2, so the difference decreases by 4 or more if it is halved."""
        self.write("p.yaml", PENDULUM)
        off = []
        for h in 0.005, 0.0025:
            found = self.run_of("p.yaml", f"integrator.step={h}")
            work = sum(found[name].sum(axis=1) for name in ("motor_work", "damping_work", "limit_work"))
            self.assertGreater(abs(work).max(), 0.5)
            off.append(abs(found["energy"] - found["energy"][0] - work).max())
        self.assertLess(off[0], 2e-3)
        self.assertGreater(off[0], 3.5*off[1])
        self.assertLessEqual(abs(found["effort"][:, 1]).max(), 3)

    def test_energy_that_limits_take_is_not_warned_of(self):
        """Without gravity, spring, damper and servo only limits change the energy of the arm."""
        self.write("limits.yaml", "curvebody: 1\nfluid: {medium: none}\nbodies:\n  - {name: arm, shape: ball, inertial: "
                   "{mass: 2, at: [0, 0, 0], inertia: [0.1, 0.2, 0.3]}}\njoints:\n  - {kind: hinge, of: [world, arm], "
                   "in: [-0.5, 0, 0], axis: [0, 1, 0], rate: 1, limits: [-0.1, 0.1]}\n"
                   "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 1}\n")
        for limit, kept in ("restitution=0.5", 0.5), ("stiff={stiffness: 100, damping: 1}", 0.9), ("restitution=1", 1):
            with self.subTest(limit):
                done = self.good("run", "limits.yaml", "-o", "limits.h5", "--force", "--set", "joints.0." + limit)
                self.assertNotIn("energy has changed", done.stderr)
                with h5py.File(self.path("limits.h5")) as file:
                    self.assertLess(file["energy"][-1, ...].sum(), (kept + 1e-9) * file["energy"][0, ...].sum())

    def test_a_wrench_carries_the_weight(self):
        self.write("p.yaml", PENDULUM)
        found = self.run_of("p.yaml", "joints.0.drive=pi/2", "joints.0={kind: hinge, of: [world, arm], at: [0, 0, 1], in: [-0.5, 0, 0], "
                            "axis: [0, 1, 0], drive: pi/6}", "joints.1={kind: weld, of: [arm, hand], at: [0.5, 0, 0], in: [-0.3, 0, 0]}")
        # both bodies rest, inclined by pi/6: their weights, and the torque about the hinges of those beyond them
        lever = np.cos(np.pi/6)*9.81
        np.testing.assert_allclose(found["joint_wrench"][-1],
                                   [[0, -(2*0.5 + 1*1.3)*lever, 0, 0, 0, 3*9.81], [0, -0.3*lever, 0, 0, 0, 9.81]], rtol=0, atol=1e-9)
        np.testing.assert_allclose(found["effort"][-1], [-(2*0.5 + 1.3)*lever], rtol=1e-10)
        self.assertTrue(np.isnan(found["joint_wrench"][0]).all())

    def test_frames_at_angle_0(self):
        """Axes in both bodies coincide, and so do the two axes z × axis (the axis x, if `axis` is along z)."""
        self.write("p.yaml", PENDULUM)
        hinge = "joints.0={kind: hinge, name: root, of: [world, arm], in: [-0.5, 0, 0], axis: [0, 0, 1], axis_in: [1, 0, 0], angle: %s}"
        for angle in 0, 0.7:
            w, x, y, z = self.run_of("p.yaml", hinge % angle, "time.end=0.005")["pose"][0, 0, 3:]
            R = np.array([[1 - 2*(y*y + z*z), 2*(x*y - w*z), 2*(x*z + w*y)], [2*(x*y + w*z), 1 - 2*(x*x + z*z), 2*(y*z - w*x)],
                          [2*(x*z - w*y), 2*(y*z + w*x), 1 - 2*(x*x + y*y)]])
            # the axis x of the body is along z of the world, and z × x = y of the body along x of the world, turned by the angle
            np.testing.assert_allclose(R @ [1, 0, 0], [0, 0, 1], rtol=0, atol=1e-15)
            np.testing.assert_allclose(R @ [0, 1, 0], [np.cos(angle), np.sin(angle), 0], rtol=0, atol=1e-15)

    def test_resolved_and_resumed_runs_are_the_same(self):
        self.write("p.yaml", PENDULUM)
        self.good("run", "p.yaml", "-o", "whole.h5")
        self.write("full.yaml", self.good("check", "p.yaml").stdout)
        self.assertEqual(self.good("check", "full.yaml").stdout, self.read("full.yaml").decode())
        self.good("run", "full.yaml", "-o", "full.h5")
        self.good("run", "p.yaml", "-o", "half.h5", "--set", "time.end=0.7")
        self.good("resume", "half.h5", "--until", "2")
        whole = datasets(self.path("whole.h5"))
        for name in "full.h5", "half.h5":
            self.assertEqual(differing(whole, datasets(self.path(name))), [], name)
        self.good("verify", "whole.h5")

    def test_a_loop_with_friction_is_resumed_bit_for_bit(self):
        """Which conditions are dropped depends on the past of the run, because other hinges stick at other times."""
        self.write("l.yaml", FOUR_BAR)
        sets = [word for i in range(4) for word in ("--set", f"joints.{i}.friction=0.001")]
        self.good("run", "l.yaml", "-o", "whole.h5", *sets)
        whole = datasets(self.path("whole.h5"))
        for until in "0.31", "1.1":
            self.good("run", "l.yaml", "-o", "half.h5", "--force", "--set", f"time.end={until}", *sets)
            self.good("resume", "half.h5", "--until", "2")
            self.assertEqual(differing(whole, datasets(self.path("half.h5"))), [], until)

    def test_a_fish_turns_to_its_heading_and_keeps_it(self):
        fish = os.path.join(SCENARIOS, "robot-fish-heading.yaml")
        for goal in 0.6, -0.4:
            last = self.run_of(fish, f"controls.goal={goal}")
            x, y = np.diff(last["pose"][[-61, -1], 1, :2], axis=0)[0]  # three seconds, six beats of the tail
            self.assertAlmostEqual(np.arctan2(y, x), goal, delta=0.05)
            self.assertLess(abs(last["control"][-1, list(last["control_name"]).index(b"turn")]), 0.05)

    def test_a_run_with_controls_is_resumed_bit_for_bit_between_samples(self):
        """A checkpoint after 66 steps is between the samples, which are made every 10 steps."""
        fish = os.path.join(SCENARIOS, "robot-fish-heading.yaml")
        self.good("run", fish, "-o", "half.h5", "--set", "time.end=0.33", "--set", "record.every=3")
        self.good("run", fish, "-o", "whole.h5", "--set", "time.end=0.5", "--set", "record.every=3")
        self.good("resume", "half.h5", "--until", "0.5")
        self.assertEqual(differing(datasets(self.path("whole.h5")), datasets(self.path("half.h5"))), [])
        self.good("verify", "half.h5")

    def test_tables_sweeps_and_pages_have_the_names(self):
        self.write("p.yaml", PENDULUM)
        self.good("run", "p.yaml", "-o", "p.h5")
        self.good("export", "p.h5", "--csv", "--field", "angle", "--every", "100", "-o", "p.csv")
        self.assertEqual(self.read("p.csv").decode().splitlines()[0], "time,step,angle[root],angle[tip]")
        self.good("view", "p.h5", "-o", "p.html")
        page = self.read("p.html").decode()
        for name, units in ("angle", "rad, m"), ("rate", "rad/s, m/s"), ("effort", "N m, N"), ("motor_work", "J"):
            self.assertRegex(page.replace(",\n", ","), f'"name":"{name}","units":"{units}"[^{{}}]*"labels":\\["root","tip"\\]')
        self.write("s.yaml", 'curvebody: 1\nsweep:\n  scenario: p.yaml\n  over: [{key: joints.0.damping, values: [0, 5]}]\n'
                   '  collect: {q: "last(angle[root])"}\n')
        self.good("sweep", "s.yaml", "-o", "s.h5")
        with h5py.File(self.path("s.h5")) as file:
            for damping, q in zip((0, 5), file["q"][()]):
                self.assertEqual(q, self.run_of("p.yaml", f"joints.0.damping={damping}")["angle"][-1, 0])

    def test_commands_know_joined_bodies_in_curved_spaces(self):
        for space, K in ("h3", -1), ("s3", 1):
            with self.subTest(space):
                self.write("c.yaml", CURVED.replace("SPACE", f"{{name: {space}, curvature: {K}}}"))
                self.write("full.yaml", self.good("check", "c.yaml").stdout)
                self.good("run", "full.yaml", "-o", "whole.h5", "--force", "--quiet")
                self.good("run", "c.yaml", "-o", "half.h5", "--force", "--quiet", "--set", "time.end=0.7")
                self.good("resume", "half.h5", "--until", "2", "--quiet")
                whole = datasets(self.path("whole.h5"))
                self.assertEqual(differing(whole, datasets(self.path("half.h5"))), [])
                self.good("verify", "whole.h5")
                self.good("export", "whole.h5", "--csv", "--field", "angle", "-o", f"{space}.csv")
                self.assertEqual(self.read(f"{space}.csv").decode().splitlines()[0], "time,step,angle[root],angle[tip]")
                self.good("export", "whole.h5", "--xdmf", "-o", f"{space}.xdmf")
                self.good("view", "whole.h5", "-o", f"{space}.html")
                with h5py.File(self.path("whole.h5")) as file:
                    casimir, gap = file["tree_casimir"][:], file["joint_residual"][:]
                    self.assertEqual([name.decode() for name in file["tree"][:]], ["trunk"])
                    self.assertIn("in the axes of the second body", file["joint_wrench"].attrs["long_name"])
                self.assertLess(gap.max(), 1e-15)
                self.assertLess(np.abs(casimir - casimir[0]).max(), 1e-15)  # of numbers up to 1

    def test_lists(self):
        listed = json.loads(self.good("list", "--json").stdout)
        joints = {entry["name"]: [row["name"] for row in entry["parameters"]] for entry in listed["joints"]}
        self.assertEqual(joints["rod"], ["length"])
        self.assertEqual(joints["hinge"], [])
        self.assertIn("joints", [entry["name"] for entry in listed["observables"]])

    def test_errors(self):
        self.write("p.yaml", PENDULUM)
        for value, message in (
                ("joints.0.kind=hing", "unknown joint 'hing', did you mean 'hinge'?"),
                ("joints.0.dampng=1", "unknown key 'dampng', did you mean 'damping'?"),
                ("joints.0.length=1", "unknown key 'length'"),
                ("joints.1={kind: rod, of: [arm, hand]}", "missing key 'length': expected a number > 0, in m"),
                ("joints.0.of=[world, am]", "unknown body 'am', did you mean 'arm'?"),
                ("joints.0.of=[arm, arm]", "a joint of `arm` with itself"),
                ("joints.1.name=root", "two joints have the name `root`"),
                ("joints.0.axis=[0, 0, 0]", "expected an axis, found a vector of length 0"),
                ("joints.0.angle=[1, 2]", "expected a list of 1"),
                ("joints.0.damping=-1", "expected a number >= 0, found -1"),
                ("joints.1.motor=1", "expected only one of `motor`, `servo` and `drive`"),
                ("joints.1.servo={position: 1}", "expected {position: EXPRESSION, kp: .., kv: ..}"),
                ("joints.1.servo.position=sin(z)", "unknown name `z`"),
                ("joints.0.control=[0, 1]", "ranges of a motor or servo"),
                ("bodies.0.place={position: [0, 0, 0]}", "joint `root` already gives the place and the motion of body `arm`"),
                ("joints.0.limits=[1, 2]", "the start is outside of the limits"),
                ("joints.0.at=[0, 0, 1e300]", "body `arm` at the start is too large"),
                ("joints=[]", "expected a list of joints, each with `kind` and `of`"),
                ("joints=[{of: [world, arm]}]", "missing key 'kind'")):
            refused = self.call("check", "p.yaml", "--set", value)
            self.assertEqual(refused.returncode, 2, value)
            self.assertIn(message, refused.stderr, value)

    def test_all_wrong_laws_are_reported(self):
        self.write("p.yaml", PENDULUM.replace("damping: 0.2,", "motor: tn(t),").replace("sin(gain*t) + root/4", "sin(gain*t) + roots/4"))
        refused = self.call("check", "p.yaml")
        self.assertEqual(refused.returncode, 2)
        self.assertEqual(refused.stderr.splitlines(), ["p.yaml:7:118: error: unknown function `tn`: did you mean `tan`?",
                                                       "p.yaml:10:38: error: unknown name `roots`: did you mean `root`?"])


if __name__ == "__main__":
    main()
