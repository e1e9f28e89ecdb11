"""The view from inside curved spaces, compared with known results: a ball in both directions, thirty radii out, and a loop.
needs: view"""
import os
import unittest

from viewing import Folder, page, record  # must be the first import: it ends the test if a library is missing

import h5py
import numpy as np
from browser import Browser

FAR = """
curvebody: 1
title: far
space: h3
bodies:
  - {kind: rod, name: a, link: {spring: {stiffness: 1, rest: 1}}, mass: 1, place: {chart: polar, points: [[1, 1.2, 1.5], [1.6, 1.4, 2.5]]},
     motion: {killing: boost_x, speed: 1}}
integrator: {name: lobatto, stages: 3, step: 0.02}
time: {end: 30}
record: {every: 5}
"""
TWO = """
curvebody: 1
title: two
space: s3
bodies:
  - {kind: particles, name: a, mass: 1, radius: 0.05, place: {chart: polar, points: [[0.001, pi/2, pi/2]]}}
  - {kind: particles, name: b, mass: 1, radius: 0.3, place: {chart: polar, points: [[2, pi/2, pi/2]]}}
integrator: {name: lobatto, stages: 2, step: 0.1}
time: {end: 0.2}
"""
LOOP = """
curvebody: 1
title: loop
space: s3
bodies:
  - {kind: particles, name: a, mass: 1, place: {chart: polar, points: [[%(r).17g, pi/2, 0]]}, motion: {killing: rotation_z, speed: %(v).17g}}
potentials:
  - central: {pair_potential: gravity, strength: 1, at: {chart: embedding, point: [0, 0, 0, 1]}}
integrator: {name: lobatto, stages: 4, step: %(step).17g}
time: {end: %(end).17g}
"""


class Sights(Folder):
    """The view from inside, compared with known results."""

    def scenario(self, text):
        path = os.path.join(self.folder, "s.yaml")
        with open(path, "w") as file:
            file.write(text)
        return path

    def test_a_ball_beyond_a_quarter_turn_is_seen_from_both_sides(self):
        path = record(self.folder, "two", self.scenario(TWO))
        with Browser(700, 500) as b:
            b.open(page(path) + "#view=ride&follow=0&t=0")
            yaw = b.js("return curvebody.shown.yaw")  # towards the other ball
            for turn in (0, np.pi):
                b.js("const s = curvebody.shown; s.yaw = arguments[0]; s.pitch = 0; s.show()", yaw + turn)
                picture = b.canvas().astype(int)
                y, x = np.array(picture.shape[:2]) // 2
                self.assertTrue((picture[y - 2:y + 3, x - 2:x + 3, 0] > picture[y - 2:y + 3, x - 2:x + 3, 2] + 40).all(), f"turned by {turn}")
                self.assertLess(b.painted().mean(), 0.9)

    def test_far_out(self):
        """Origins follow the bodies: from outside the positions agree with the record, and a rod that is followed 30 radii out has
        its true length."""
        path = record(self.folder, "far", self.scenario(FAR))
        with Browser(700, 500) as b, h5py.File(path) as f:
            x, separation = f["plot_position"][:], f["separation"][:, 0]
            self.assertGreater(f["origin"][-1, 0, 0], 20)
            b.open(page(path) + "#view=outside")
            for k in (0, 30, 50, 80, 300):
                b.js("const s = curvebody.shown; s.view.follow = null; s.go(arguments[0])", k)
                np.testing.assert_allclose(b.js("return curvebody.shown.pixels().map(q => q.p)"), x[k], rtol=0, atol=1e-6)
                for name in ("outside", "inside"):
                    b.js("const s = curvebody.shown; s.view.name = arguments[1]; s.view.follow = 0; s.fit(); s.go(arguments[0])", k, name)
                    length = b.js("const s = curvebody.shown, g = s.scene.space, p = s.built.balls.map(q => g.apply(q.m, g.base())); return g.distance(p[0], p[1])")
                    self.assertAlmostEqual(length, separation[k], delta=1e-5)
                    self.assertGreater(b.painted().sum(), 20)
                b.js("curvebody.shown.view.name = 'outside'")

    def test_riding_round_a_loop_shows_the_holonomy(self):
        """The holonomy of a circle of radius r in S3 is 2 pi (1 - cos r); from 2000 chords it has an error of 1e-5."""
        r = 0.6
        speed = (1 / (np.sin(r) * np.cos(r))) ** 0.5  # v^2 cot r = k/sin^2 r, k = 1
        period = 2 * np.pi * np.sin(r) / speed
        path = record(self.folder, "loop", self.scenario(LOOP % {"r": r, "v": speed / np.sin(r), "step": period / 2000, "end": period}))
        with Browser(700, 500) as b:
            b.open(page(path))
            first, last = b.js("const f = curvebody.shown.frames; return [f.carried(0, 0).m, f.carried(f.count - 1, 0).m]")
        turn = np.linalg.inv(np.array(first).reshape(4, 4)) @ np.array(last).reshape(4, 4)
        angle = np.arccos((np.trace(turn[:3, :3]) - 1) / 2)
        self.assertAlmostEqual(angle, 2 * np.pi * (1 - np.cos(r)), delta=2e-5)


if __name__ == "__main__":
    unittest.main()
