#!/usr/bin/python3
"""Events have the state at their times: its values, when it is recorded, and files without it."""
import csv
import os

import h5py
import numpy as np

from command import Case, datasets, differing, main

OSCILLATOR = """\
curvebody: 1
system:
  coordinates: [q]
  metric: [[1]]
  potential: q^2/2
  position: [1]
  velocity: [0]
events: [{expression: {chart: coordinates, value: q - 0.5, name: half}}]
integrator: {name: gauss, stages: 4, step: 0.05}
time: {end: 10}
"""

BALLS = """\
curvebody: 1
space: e2
bodies:
  - {kind: particles, name: first, radius: 0.25, mass: 1, place: {points: [[0, 0]]}, motion: {velocities: [[1, 0]]}}
  - {kind: particles, name: second, radius: 0.25, mass: 3, place: {points: [[2, 0]]}}
  - {kind: particles, name: other, radius: 0.25, mass: 2, place: {points: [[0, 5]]}, motion: {velocities: [[0.5, 0]]}}
contacts: {restitution: 1}
walls: [{plane: {at: {point: [1, 5]}, normal: [-1, 0], body: other}}]
integrator: {name: lobatto, stages: 2, step: 0.4}
time: {end: 3}
"""

FLOOR = """\
curvebody: 1
fluid:
  medium: none
  floor: {kind: reflecting}
bodies:
  - {name: still, shape: {name: ellipsoid, resolution: 8}, mass: 1, place: {position: [9, 0, 500]}}
  - {name: drop, shape: {name: ellipsoid, resolution: 8}, mass: 2, place: {position: [0, 0, 2]}}
integrator: {name: hamilton_pontryagin, step: 0.01}
time: {end: 0.6}
"""

MARKED = """\
curvebody: 1
space: ih
bodies:
  - {kind: particles, name: other, mass: 1, place: {points: [[0.1, 0.2, 1]]}}
  - {kind: particles, name: a, mass: 1, place: {points: [[0.3, 0.2, 0.1]]}, motion: {velocities: [[1, 0, 0]]}}
  - {kind: particles, name: b, mass: 1, place: {points: [[0.6, 0.2, 0.1]]}}
events: [{distance: {between: [[a, 0], [b, 0]], equals: 0.1}}]
integrator: {name: gauss, stages: 3, step: 0.05}
time: {end: 1}
"""

CAT = """\
curvebody: 1
bundle: {name: falling_cat, arm_1: 0.5, arm_2: 1}
shape:
  alpha: {start: 0, rate: 1, limits: [-0.5, 0.5], restitution: 0.5}
integrator: {name: hamilton_pontryagin, step: 0.01}
time: {end: 3}
record: {observables: [momentum, energy]}
"""


PENDULUM = """\
curvebody: 1
fluid: {medium: none, gravity: [0, 0, -9.81]}
bodies:
  - {name: upper, shape: {name: ellipsoid, a: 0.05, b: 0.05, c: 0.5, resolution: 8}, density: 100}
  - {name: lower, shape: {name: ellipsoid, a: 0.05, b: 0.07, c: 0.5, resolution: 8}, density: 100}
  - {kind: particles, name: bob, mass: 0.3, place: {points: [[0, 0, -2.5]]}}
joints:
  - {kind: hinge, name: a, of: [world, upper], in: [0, 0, 0.5], axis: [0, 1, 0], angle: 1.2, rate: -1}
  - {kind: hinge, name: b, of: [upper, lower], at: [0, 0, -0.5], in: [0, 0, 0.5], axis: [0.3, 1, 0], angle: 0.5}
interactions: [{spring: {between: [{body: lower, at: [0, 0, -0.5]}, [bob, 0]], stiffness: 20}}]
events: [{expression: {name: section, particle: [upper, 0], value: x, action: stop}}]
integrator: {name: hamilton_pontryagin, step: 0.01}
time: {end: 3}
record: {observables: [momentum, joints]}
"""
STATE = ["angle", "body_momentum", "momentum", "plot_position", "pose", "position", "rate", "twist"]

BOUNCES = """\
curvebody: 1
fluid: {medium: none, gravity: [0, 0, 0]}
bodies:
  - {name: rotor, shape: {name: ellipsoid, a: 0.5, b: 0.4, c: 0.3, resolution: 8}, mass: 2}
  - {kind: particles, name: ball, mass: 3, place: {points: [[4, 0, 0]]}, motion: {velocities: [[2, 0, 0]]}}
  - {kind: particles, name: still, mass: 1, place: {points: [[0, 0, 9]]}}
joints: [{kind: hinge, name: hip, of: [world, rotor], axis: [0, 0, 1], rate: 2, limits: [-1, 1], restitution: 0.5}]
walls: [{plane: {at: {point: [5, 0, 0]}, normal: [-1, 0, 0], body: ball, restitution: 0.25}}]
integrator: {name: hamilton_pontryagin, map: exponential, step: 0.06}
time: {end: 1}
"""

IN_H3 = """\
curvebody: 1
space: h3
fluid: {medium: none}
bodies:
  - {name: trunk, shape: {name: ellipsoid, a: 0.3, b: 0.2, c: 0.15, resolution: 8}, density: 2, drag: false,
     place: {position: [0.5, 0, 0]}, motion: {velocity: [0, 0.3, 0.1], spin: [0.2, 0, 0.4]}}
  - {name: arm, shape: {name: ellipsoid, a: 0.25, b: 0.1, c: 0.2, resolution: 8}, density: 2, drag: false}
joints: [{kind: hinge, name: root, of: [trunk, arm], at: [0.35, 0, 0], in: [-0.3, 0, 0], axis: [0, 1, 0], angle: 0.4, rate: 1}]
events: [{distance: {between: [[trunk, 0], {body: arm, at: [0.25, 0, 0]}], equals: 0.86, action: stop}}]
integrator: {name: hamilton_pontryagin, step: 0.02}
time: {end: 2}
record: {observables: [momentum, joints]}
"""

IN_FLUID = """\
curvebody: 1
fluid: {medium: 1, gravity: [0, 0, 0], coupling: dipole}
bodies:
  - {name: a, shape: {name: ball, radius: 1, resolution: 8}, density: 1, drag: false, motion: {velocity: [1, 0, 0]}}
  - {name: b, shape: {name: ball, radius: 1, resolution: 8}, density: 1, drag: false, place: {position: [0, 3, 0]},
     motion: {velocity: [1, 0, 0.3], spin: [0.1, 0.2, 0.3]}}
events: [{distance: {between: [[a, 0], [b, 0]], equals: 2.9, action: stop}}]
integrator: {name: hamilton_pontryagin, step: 0.1}
time: {end: 9}
record: {observables: [momentum]}
"""


class EventState(Case):
    def record(self, text, *words, name="r.h5"):
        self.write("s.yaml", text)
        self.good("run", "s.yaml", "-o", name, "--quiet", "--force", *words)
        with h5py.File(self.path(name)) as file:
            return {key: file[key][()] for key in file if isinstance(file[key], h5py.Dataset)}

    def test_an_oscillator_has_the_exact_state_at_its_zeros(self):
        f = self.record(OSCILLATOR)
        t, q, p = f["event_time"], f["event_position"][:, 0, 0], f["event_momentum"][:, 0, 0]
        exact = [2 * np.pi * n + a * np.arccos(0.5) for n in range(3) for a in (-1, 1)]
        exact = np.array([t for t in exact if 0 < t < 10])
        # the integrator has order 8: its error at this step is below 1e-10
        np.testing.assert_allclose(t, exact, rtol=0, atol=1e-9)
        np.testing.assert_allclose(q, 0.5, rtol=0, atol=1e-12)
        np.testing.assert_allclose(p, -np.sin(exact), rtol=0, atol=1e-9)
        self.assertEqual(f["event_plot_position"].shape, (len(exact), 1, 3))

    def test_a_contact_has_the_momenta_after_it_and_only_those_of_its_partners(self):
        f = self.record(BALLS)
        by_time = np.argsort(f["event_time"])
        self.assertEqual(list(f["event_time"][by_time]), list(f["event_time"]))
        pair, wall = [int(np.flatnonzero(f["event_other"] == other)[0]) for other in (1, -1)]
        # masses 1 and 3 and a velocity of 1: the first ball returns with -1/2, the second one gets 1/2; they meet at 1.5
        self.assertAlmostEqual(f["event_time"][pair], 1.5, delta=1e-12)
        np.testing.assert_allclose(f["event_momentum"][pair, :, 0], [-0.5, 1.5, np.nan], atol=1e-12)
        np.testing.assert_allclose(f["event_plot_position"][pair, :2], [[1.5, 0, 0], [2, 0, 0]], atol=1e-12)
        self.assertTrue(np.isnan(f["event_plot_position"][pair, 2]).all())
        self.assertAlmostEqual(f["event_momentum"][wall, 2, 0], -1, delta=1e-12)
        self.assertAlmostEqual(f["event_plot_position"][wall, 2, 0], 0.75, delta=1e-12)
        self.assertTrue(np.isnan(f["event_momentum"][wall, :2]).all())

    def test_the_partners_of_an_event_have_plot_coordinates_where_others_have_none(self):
        f = self.record(MARKED)  # the plot coordinates of the space ih are its coordinates, which have a domain
        self.assertGreater(len(f["event_time"]), 0)
        self.assertTrue(np.isnan(f["event_plot_position"][:, 0]).all())
        self.assertTrue(np.isfinite(f["event_position"][:, 1:]).all())
        np.testing.assert_array_equal(f["event_plot_position"][:, 1:], f["event_position"][:, 1:])

    def test_a_repeated_step_has_the_state_at_its_start(self):
        f = self.record(OSCILLATOR, "--set", "integrator={name: gauss, stages: 4, step: 1, solver: fixed-point, iterations: 10}")
        repeated = f["event_kind"] == 3
        self.assertGreater(repeated.sum(), 1)
        # q = cos(t): the error of the integrator is about 1e-8 at this step, in which q changes by more than 0.1
        np.testing.assert_allclose(f["event_position"][repeated, 0, 0], np.cos(f["event_time"][repeated]), rtol=0, atol=1e-6)
        np.testing.assert_allclose(f["event_momentum"][repeated, 0, 0], -np.sin(f["event_time"][repeated]), rtol=0, atol=1e-6)

    def test_a_repeated_step_of_joined_bodies_has_the_state_at_its_start(self):
        f = self.record(PENDULUM.replace("rate: -1", "rate: 12"), "--set", "integrator.step=0.2", "--set", "events=[]", "--set",
                        "joints.1.limits=[-9, 9]")
        compared = 0
        for e in np.flatnonzero(f["event_kind"] == 3):
            row = np.flatnonzero(abs(f["time"] - f["event_time"][e]) < 1e-12)
            for name in STATE:
                self.assertTrue(np.isfinite(f["event_" + name][e]).all(), name)
                if len(row):  # round-off of numbers of the size 10
                    np.testing.assert_allclose(f["event_" + name][e], f[name][row[0]], rtol=0, atol=1e-12, err_msg=name)
            compared += len(row)
        self.assertGreater(compared, 3)

    def test_a_warning_has_no_state(self):
        f = self.record(OSCILLATOR.replace("q - 0.5,", "q - 1, action: stop,"))
        self.assertEqual(list(f["event_kind"]), [1, 4, 1])
        self.assertEqual(f["event_position"][0, 0, 0], 1)  # the start, which the warning is about
        f = {"of a particle": f, "of a body": self.record(FLOOR, "--set", "bodies.0.motion={spin: [0, 0, 300]}")}
        for what, names in ("of a particle", ("position", "momentum")), ("of a body", ("pose", "body_momentum")):
            warning = int(np.flatnonzero(f[what]["event_kind"] == 4)[0])
            for name in *names, "plot_position":
                self.assertTrue(np.isnan(f[what]["event_" + name][warning]).all(), (what, name))

    def test_a_body_on_the_floor_has_the_pose_and_the_momentum_after_the_impact(self):
        f = self.record(FLOOR)
        hit = int(np.flatnonzero(f["event_kind"] == 0)[0])
        self.assertEqual(f["event_particle"][hit], 1)
        # it falls from the height 2 until its lowest point, 1 below its centre, is on the floor
        speed = np.sqrt(2 * 9.81)
        self.assertAlmostEqual(f["event_pose"][hit, 1, 2], 1, delta=1e-9)
        self.assertAlmostEqual(f["event_plot_position"][hit, 1, 2], 1, delta=1e-9)
        self.assertAlmostEqual(f["event_body_momentum"][hit, 1, 5], 2 * speed, delta=1e-6)
        self.assertAlmostEqual(f["event_twist"][hit, 1, 5], speed, delta=1e-6)
        self.assertTrue(np.isnan(f["event_pose"][hit, 0]).all())
        self.assertTrue(np.isnan(f["event_twist"][hit, 0]).all())

    def test_the_twist_at_the_floor_is_that_in_the_flow_at_the_time_of_the_impact(self):
        """With added mass, a momentum determines the twist only together with the flow: p = (m + m_f) v - m_f u. The masses are
        found from the rows, which are at other times than the impact. u changes by up to 0.4 in a step."""
        text = (FLOOR.replace("medium: none", "medium: {density: 500}\n  flow: {velocity: ['sin(40*t)', '0', '0']}")
                .replace("mass: 2", "mass: 4000").replace("[0, 0, 2]", "[0, 0, 2.003]").replace("0.6}", "0.9}"))
        f = self.record(text, "--set", "record={every: 1, observables: [momentum]}")
        rows = np.stack([f["twist"][:, 1, 3], np.sin(40 * f["time"][:])], axis=1)
        masses = np.linalg.lstsq(rows, f["body_momentum"][:, 1, 3], rcond=None)[0]
        hit = int(np.flatnonzero(f["event_kind"] == 0)[0])
        expected = masses @ [f["event_twist"][hit, 1, 3], np.sin(40 * f["event_time"][hit])]
        self.assertAlmostEqual(f["event_body_momentum"][hit, 1, 3], expected, delta=1e-10 * masses[0])  # round-off of the fit

    def test_a_stop_has_the_state_of_the_last_row(self):
        for text, lacking in (PENDULUM, []), (IN_H3, ["momentum", "position"]), (IN_FLUID, ["angle", "momentum", "position", "rate"]):
            f = self.record(text)
            self.assertEqual(list(f["event_kind"]), [1])
            self.assertAlmostEqual(f["event_time"][0], f["time"][-1], delta=1e-14)
            for name in STATE:
                self.assertEqual("event_" + name in f, name not in lacking, (name, text))
                if name not in lacking:  # the twists of a row are solved in another order: they differ by round-off
                    np.testing.assert_allclose(f["event_" + name][0], f[name][-1], rtol=0, atol=1e-13, err_msg=name)

    def test_joined_bodies_and_particles_have_the_state_at_the_time_of_a_mark(self):
        """A run with small steps that ends at this time is the reference."""
        for order, steps, fine, ratio in (2, (0.04, 0.02), 0.001, 3.5), (4, (0.04, 0.02), 0.004, 12):
            errors = []
            integrator = f"integrator={{name: hamilton_pontryagin, order: {order}, step: "
            for step in steps:
                mark = self.record(PENDULUM.replace("stop", "mark"), "--set", f"{integrator}{step}}}", "--set", "time.end=0.7")
                at = int(np.flatnonzero(mark["event_kind"] == 2)[0])  # long steps give warnings, which are events, too
                self.assertLess(abs(mark["event_angle"][at, 0]), 1e-11)
                end = mark["event_time"][at]
                f = self.record(PENDULUM.replace("stop", "mark"), "--set", f"{integrator}{fine}}}", "--set", f"time.end={end:.17g}")
                errors.append([np.abs(mark["event_" + name][at] - f[name][-1]).max() for name in STATE])
            # the ratio of the errors is 2^order, up to terms of higher order and the error of the reference
            for name, first, second in zip(STATE, *errors):
                self.assertGreater(first, ratio * second, (order, name, errors))
                self.assertGreater(first, 1e-9, (order, name))

    def test_limits_and_walls_have_the_state_after_the_impact(self):
        f = self.record(BOUNCES)
        np.testing.assert_allclose(f["event_time"], [0.5, 0.5], rtol=0, atol=1e-12)  # both happen at the same time
        for e in 0, 1:
            np.testing.assert_allclose(f["event_angle"][e], [1], rtol=0, atol=1e-12)
            np.testing.assert_allclose(f["event_rate"][e], [-1], rtol=0, atol=1e-12)
            np.testing.assert_allclose(f["event_twist"][e, 0], [0, 0, -1, 0, 0, 0], rtol=0, atol=1e-12)
            np.testing.assert_allclose(f["event_position"][e], [[5, 0, 0], [0, 0, 9]], rtol=0, atol=1e-12)
            np.testing.assert_allclose(f["event_momentum"][e], [[-1.5, 0, 0], [0, 0, 0]], rtol=0, atol=1e-12)

    def test_the_motion_does_not_depend_on_the_state_at_events(self):
        mark = IN_FLUID.replace("stop", "mark").replace("end: 9", "end: 3")
        for text in PENDULUM.replace("stop", "mark"), BOUNCES, IN_H3, mark:
            self.record(text, name="with.h5")
            self.record(text, "--set", "record.event_state=false", name="without.h5")
            other = differing(datasets(self.path("with.h5")), datasets(self.path("without.h5")))
            names = [name for name in other if not name.startswith("scenario")]
            self.assertTrue(set(names) <= {"event_" + name for name in STATE}, names)
            self.assertIn("event_pose", names)

    def test_a_shape_at_its_limit_has_its_rate_after_the_reflection(self):
        f = self.record(CAT)
        # nothing acts on the variable, which moves with constant kinetic energy between its limits
        np.testing.assert_allclose(f["event_shape"][:2, 0], [0.5, -0.5], atol=1e-9)
        np.testing.assert_allclose(f["event_shape_rate"][:2, 0] * [-1, 1], f["event_speed_after"][:2], rtol=1e-12)
        np.testing.assert_allclose(f["event_speed_after"][:2], -0.5 * f["event_speed_before"][:2], rtol=1e-9)
        self.assertEqual(f["event_group"].shape[1:], f["group"].shape[1:])

    def test_without_events_a_record_has_no_state_of_events(self):
        plain = OSCILLATOR.replace(OSCILLATOR[OSCILLATOR.index("events"):OSCILLATOR.index("integrator")], "")
        for text, words in ((plain, []), (OSCILLATOR, ["--set", "record.event_state=false"])):
            f = self.record(text, *words)
            self.assertEqual([name for name in f if name in ("event_position", "event_momentum", "event_plot_position")], [])
        own = datasets(self.path("r.h5"))
        self.record(OSCILLATOR)
        other = [name for name in differing(own, datasets(self.path("r.h5"))) if not name.startswith("scenario")]
        self.assertEqual(other, ["event_momentum", "event_plot_position", "event_position"])

    def test_a_large_state_is_not_recorded_at_events(self):
        for count, there in (146, True), (147, False):  # 7 numbers per particle; the maximum is 1024
            points = ", ".join(f"[{i}, 40]" for i in range(count - 3))
            crowd = f"  - {{kind: particles, name: crowd, radius: 0.1, mass: 1, place: {{points: [{points}]}}}}\ncontacts"
            f = self.record(BALLS.replace("contacts", crowd), "--set", "time.end=1.6")
            self.assertGreater(len(f["event_time"]), 0)
            self.assertEqual("event_position" in f, there, count)

    def test_a_resumed_record_is_that_of_one_run(self):
        for text, half, end in (OSCILLATOR, "4", "10"), (PENDULUM.replace("stop", "mark"), "1", "3"):
            self.record(text, name="whole.h5")
            self.record(text, "--set", f"time.end={half}", name="half.h5")
            self.good("resume", "half.h5", "--until", end, "--quiet")
            self.assertEqual(differing(datasets(self.path("half.h5")), datasets(self.path("whole.h5"))), [])
            self.assertIn("no errors", self.good("verify", "half.h5").stdout)

    def test_a_record_of_an_older_version_goes_on_without_the_state(self):
        self.record(OSCILLATOR, "--set", "time.end=4", name="old.h5")
        with h5py.File(self.path("old.h5"), "r+") as file:
            for name in "event_position", "event_momentum", "event_plot_position":
                del file[name]
        self.good("resume", "old.h5", "--until", "10", "--quiet")
        self.assertIn("no errors", self.good("verify", "old.h5").stdout)
        self.record(OSCILLATOR, name="whole.h5")
        self.assertEqual(differing(datasets(self.path("old.h5")), datasets(self.path("whole.h5"))),
                         ["event_momentum", "event_plot_position", "event_position"])

    def test_a_record_without_the_last_fields_of_the_state_goes_on_without_them(self):
        self.record(FLOOR, "--set", "time.end=0.4", name="old.h5")
        with h5py.File(self.path("old.h5"), "r+") as file:
            del file["event_twist"]
        self.good("resume", "old.h5", "--until", "0.6", "--quiet")
        self.record(FLOOR, name="whole.h5")
        self.assertEqual(differing(datasets(self.path("old.h5")), datasets(self.path("whole.h5"))), ["event_twist"])

    def test_verify_finds_a_state_that_is_too_short(self):
        self.record(OSCILLATOR)
        with h5py.File(self.path("r.h5"), "r+") as file:
            file["event_position"].resize(2, axis=0)
        self.assertIn("r.h5: error: /event_momentum has 3 events, other fields have 2", self.call("verify", "r.h5").stderr)

    def test_tables_have_a_column_per_number(self):
        f = self.record(BALLS)
        self.good("export", "r.h5", "--csv", "-o", "t.csv")
        with open(self.path("t-events.csv")) as stream:
            rows = list(csv.DictReader(stream))
        self.assertEqual(len(rows), len(f["event_time"]))
        for e, row in enumerate(rows):
            for i in range(3):
                for a, axis in enumerate("xy"):
                    np.testing.assert_equal(float(row[f"event_momentum[{i};{axis}]"]), f["event_momentum"][e, i, a])
        self.assertTrue(os.path.exists(self.path("t.csv")))


if __name__ == "__main__":
    main()
