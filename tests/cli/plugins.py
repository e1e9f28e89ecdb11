#!/usr/bin/python3
"""A space from a shared object is listed, run, resumed and refused like a built-in one.

    plugins.py BINARY CATENOID.so OTHER_VERSION.so
"""
import sys

import h5py
import numpy as np

from command import Case, datasets, differing, main

CATENOID, OTHER = sys.argv.pop(1), sys.argv.pop(1)

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
            self.assertLess(np.ptp(energy) / energy[0], 1e-7)  # fourth order, h = 0.02
            self.assertLess(np.ptp(momentum) / momentum[0], 1e-11)  # round-off of distances found to 1e-12
        self.with_plugin("run", "c.yaml", "-o", "half.h5", "--set", "time.end=1")
        self.with_plugin("resume", "half.h5", "--until", "2")
        whole, resumed = datasets(self.path("c.h5")), datasets(self.path("half.h5"))
        self.assertEqual(len(whole["time"]), len(resumed["time"]))

    def test_what_is_no_plugin_is_refused(self):
        self.write("c.yaml", SCENARIO)
        without = self.call("run", "c.yaml")
        self.assertEqual(without.returncode, 2)
        self.assertIn("unknown space 'catenoid'", without.stderr)
        missing = self.call("--plugin", "missing.so", "list")
        self.assertEqual(missing.returncode, 3)
        self.assertIn("cannot load the plugin", missing.stderr)
        other = self.call("--plugin", OTHER, "list")
        self.assertEqual(other.returncode, 2)
        self.assertIn("a plugin of version 3: expected 2", other.stderr)
        twice = self.call("--plugin", CATENOID, "--plugin", CATENOID, "list")
        self.assertEqual(twice.returncode, 2)
        self.assertIn("there is a space `catenoid` already", twice.stderr)


if __name__ == "__main__":
    main()
