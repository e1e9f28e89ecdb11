#!/usr/bin/python3
"""The key `coupling` of `fluid`: its list, the estimated error that `check` prints, its warning, and its errors."""
import json
import os

import h5py
import numpy as np

from command import Case, datasets, differing, main

SCENARIOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../analysis/scenarios/coupling")
PAIR = """\
curvebody: 1
fluid:
  medium: 1
  gravity: [0, 0, 0]
  coupling: dipole
  parameters: {d: 3}
bodies:
  - name: a
    shape: {name: ball, radius: 1, resolution: 8}
    density: 1
    drag: false
    motion: {velocity: [1, 0, 0]}
  - name: b
    shape: {name: ball, radius: 1, resolution: 8}
    density: 1
    drag: false
    place: {position: [0, d, 0]}
    motion: {velocity: [1, 0, 0]}
integrator: {name: hamilton_pontryagin, step: 0.1}
time: {end: 2}
"""
HERE = "pair.yaml:5:13: error: "  # the value of `coupling`
PLACE = "place: {position: [0, d, 0]}"


class Coupling(Case):
    def setUp(self):
        super().setUp()
        self.write("pair.yaml", PAIR)

    def run_of(self, *sets, scenario="pair.yaml", name="r.h5"):
        self.good("run", scenario, "-o", name, "--force", "--quiet", *(word for s in sets for word in ("--set", s)))
        with h5py.File(self.path(name)) as file:
            return {key: item[()] for key, item in file.items() if isinstance(item, h5py.Dataset)}

    def refused(self, *sets, text=PAIR):
        self.write("pair.yaml", text)
        done = self.call("check", "pair.yaml", *(word for s in sets for word in ("--set", s)))
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        return done.stderr

    def test_lists(self):
        listed = json.loads(self.good("list", "--json").stdout)
        couplings = {entry["name"]: [row["name"] for row in entry["parameters"]] for entry in listed["couplings"]}
        plane = ["wall", "wall_height", "wall_x", "wall_y", "wall_z"]
        self.assertEqual(couplings, {"dipole": plane, "exact": plane + ["samples", "range"]})
        self.assertEqual(self.good("list", "couplings").stdout.splitlines()[0], "couplings:")
        self.assertIn(" couplings ", self.good("completion", "bash").stdout)

    def test_side_by_side_attracts_and_in_line_repels(self):
        for place, sign in ("[0, d, 0]", -1), ("[d, 0, 0]", 1):
            for coupling in "dipole", "exact":
                pose = self.run_of(f"bodies.1.place.position={place}", f"fluid.coupling={coupling}")["pose"][:, :, :3]
                change = np.diff(np.linalg.norm(pose[:, 1] - pose[:, 0], axis=1))
                self.assertTrue((sign*change > 0).all(), (place, coupling))
            alone = self.run_of(f"bodies.1.place.position={place}", "fluid.coupling=none")["pose"][:, :, :3]
            np.testing.assert_allclose(alone[-1, 1] - alone[-1, 0], alone[0, 1], rtol=0, atol=1e-13)  # round-off

    def test_spheres_in_line_converge_although_their_rotation_is_round_off(self):
        """The rotation is 0 but for round-off, which never converges relative to itself."""
        found = self.run_of("time.end=1", scenario=os.path.join(SCENARIOS, "in-line.yaml"))
        self.assertLess(abs(found["twist"][:, :, :3]).max(), 1e-14)

    def test_a_wall_keeps_the_momentum_along_it(self):
        sets = ["fluid.coupling={name: dipole, wall: rigid, wall_height: -1.5}", "bodies.0.motion.velocity=[1, 0.3, -0.2]",
                "bodies.0.place.position=[0, 0, 0.5]"]
        words = [word for s in sets for word in ("--set", s)]
        said = self.good("run", "pair.yaml", "-o", "w.h5", *words).stdout
        self.assertRegex(said, r"momentum \de-1\d\b")
        with h5py.File(self.path("w.h5")) as file:
            momentum = file["spatial_momentum"][()].sum(axis=1)
        self.assertLess(abs(momentum - momentum[0])[:, 3:5].max(), 1e-13)  # of 17 kg m/s
        self.assertGreater(abs(momentum - momentum[0])[:, 5].max(), 1e-3)  # the wall repels a body that moves along it

    def test_check_prints_the_error_and_warns_above_a_tenth(self):
        for d, coupling, warned in (3, "dipole", False), (2.05, "dipole", True), (2.5, "exact", False):
            done = self.good("check", "pair.yaml", "--set", f"fluid.parameters.d={d}", "--set", f"fluid.coupling={coupling}")
            line = [text for text in done.stdout.splitlines() if text.startswith("# coupling")]
            self.assertEqual(len(line), 1, done.stdout)
            self.assertRegex(line[0], r"^# coupling: estimated error [\de.+-]+ of the added mass, largest for body `a` and body `b`$")
            error = float(line[0].split()[4])
            self.assertEqual(error > 0.1, warned, line)
            self.assertEqual("the coupling has an estimated error of" in done.stderr and "try smaller faces" in done.stderr, warned)
        self.assertNotIn("# coupling", self.good("check", "pair.yaml", "--set", "fluid.coupling=none").stdout)
        near = self.good("check", "pair.yaml", "--set", "fluid.coupling={name: dipole, wall: rigid, wall_height: -1.1}")
        self.assertIn("and the wall\n", near.stdout)

    def test_resolved_and_resumed_runs_are_the_same(self):
        self.good("run", "pair.yaml", "-o", "whole.h5", "--set", "fluid.coupling={name: dipole, wall: free, wall_height: -2}")
        self.write("full.yaml", self.good("check", "pair.yaml", "--set", "fluid.coupling={name: dipole, wall: free, wall_height: -2}").stdout)
        self.assertEqual(self.good("check", "full.yaml").stdout, self.read("full.yaml").decode())
        self.good("run", "full.yaml", "-o", "full.h5")
        self.good("run", "full.yaml", "-o", "half.h5", "--set", "time.end=0.7")
        self.good("resume", "half.h5", "--until", "2")
        whole = datasets(self.path("whole.h5"))
        for name in "full.h5", "half.h5":
            self.assertEqual(differing(whole, datasets(self.path(name))), [], name)

    def test_wrong_values_are_refused_at_their_place(self):
        for value, message in (
                ("dipol", "unknown coupling 'dipol', did you mean 'dipole'?"),
                ("3", "unknown coupling '3', expected one of: none, dipole, exact"),
                ("true", "unknown coupling 'true'"),
                ("[dipole]", "expected a text"),
                ("{wall: rigid}", "the key `name` is missing: expected none, dipole or exact"),
                ("{name: none, wall: rigid}", "unknown key 'wall'"),
                ("{name: dipole, wal: rigid}", "unknown key 'wal', did you mean 'wall'?"),
                ("{name: dipole, wall: hard}", "expected one of none, rigid, free, found 'hard'"),
                ("{name: dipole, wall: rigid, wall_height: low}", "expected a number"),
                ("{name: dipole, wall: rigid, wall_height: .nan}", "expected a"),
                ("{name: dipole, wall_height: -2}", "`wall_height` without `wall`: expected also `wall: rigid` or `wall: free`"),
                ("{name: exact, wall: rigid, wall_z: 0}", "the normal of the wall is (0, 0, 0): expected a direction"),
                ("{name: dipole, wall: rigid, wall_height: 1}", "the centre of body `a` is at the height -1 above the plane"),
                ("{name: exact, wall: rigid, wall_height: 0.5}", "wall"),
                ("{name: exact, memory: 1e3}", "unknown key 'memory'")):
            said = self.refused(text=PAIR.replace("coupling: dipole", f"coupling: {value}"))
            self.assertRegex(said, r"^pair\.yaml:5:\d+: error: ", value)
            self.assertIn(message, said, value)
            self.assertEqual(len(said.splitlines()), 1, said)

    def test_what_does_not_go_with_a_coupling_is_refused(self):
        ball = "    shape: {name: ball, radius: 1, resolution: 8}\n"
        for old, new, place, message in (
                ("d: 3", "d: 1.5", HERE, "bodies `a` and `b` are too near for dipoles: distance of their centres 1.5, expected at least"),
                ("coupling: dipole\n  parameters: {d: 3}", "coupling: exact\n  parameters: {d: 1.5}", HERE, "overlap"),
                ("medium: 1\n", "medium: none\n", HERE, "needs a fluid of one density"),
                ("medium: 1\n", "medium: 0\n", HERE, "needs the added mass of all bodies"),
                ("medium: 1\n", "medium: {layers: [{below: 0, density: 998}, {density: 1}]}\n", HERE, "needs a fluid of one density"),
                ("medium: 1\n", "medium: 1 + z^2\n", HERE, "needs a fluid of one density"),
                ("drag: false\n", "drag: false\n    added_mass: false\n", HERE, "body `a` has none: expected `added_mass`"),
                ("coupling: dipole", "coupling: exact\n  added_mass: none", HERE, "expected `added_mass`"),
                ("name: hamilton_pontryagin", "name: rkmk4", "pair.yaml:19:13: error: ",
                 "the integrator `rkmk4` cannot move coupled bodies: expected hamilton_pontryagin"),
                ("coupling: dipole", "coupling: {name: exact, wall: rigid, wall_height: -0.5}", HERE, "body `a` is behind its wall")):
            said = self.refused(text=PAIR.replace(old, new, 1))
            self.assertTrue(said.startswith(place), (new, said))
            self.assertIn(message, said, new)
        sheet = PAIR.replace("coupling: dipole", "coupling: exact").replace(ball, "    shape: {name: leaf}\n    thickness: 0.01\n", 1)
        said = self.refused(text=sheet)
        self.assertTrue(said.startswith(HERE), said)
        self.assertIn("is an open sheet: expected a closed part, such as a disc with a `thickness`, or `coupling: dipole`", said)
        eel = PAIR.replace("coupling: dipole", "coupling: exact").replace("drag: false\n", "drag: false\n    poses: {x: X*(1 + sin(t)/9), y: Y, z: Z}\n", 1)
        said = self.refused(text=eel)
        self.assertTrue(said.startswith(HERE), said)
        self.assertIn("body `a`: `coupling: exact` is for rigid bodies, and this one changes its shape: expected dipole or none", said)
        said = self.refused(text=PAIR.replace("medium: 1\n", "medium: 1\n  flow: {velocity: [0.1*y, 0, 0]}\n", 1))
        self.assertIn("`coupling` needs a fluid at rest or a flow that is the same at all places", said)
        self.assertTrue(said.startswith(HERE[:10]), said)


if __name__ == "__main__":
    main()
