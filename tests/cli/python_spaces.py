"""Spaces in Python: distances, exp, log, geodesics and transport of every space agree with the library and with closed forms,
also 40 radii out; points have the plot coordinates of the record."""
import os
import unittest

from package import SCENARIOS  # must be the first import: it ends the test if a library is missing

import curvebody
import numpy as np

SEED = 20261124


class Spaces(unittest.TestCase):
    def test_arrays_are_many_pairs(self):
        random = np.random.default_rng(SEED)
        for name in ("h3", "s3", "h2xe", "e2"):
            s = curvebody.Space(name)
            x = s.exp(s.base(), np.zeros((1000, s.embedding)))
            x, y = (s.point(random.uniform(0.1, 1, (1000, s.dim)), "cartesian" if name == "e2" else "polar") for _ in range(2))
            v = s.log(x, y)
            self.assertEqual(v.shape, (1000, s.embedding))
            np.testing.assert_allclose(s.exp(x, v), y, rtol=0, atol=1e-12, err_msg=name)
            for i in range(0, 1000, 97):
                self.assertEqual(s.distance(x, y)[i], s.distance(x[i], y[i]))
                np.testing.assert_array_equal(v[i], s.log(x[i], y[i]))
            self.assertEqual(s.distance(x[:, None], y[None, :30]).shape, (1000, 30))
            x, y, v = x[:3], y[:3], v[:3]
            many = s.transport(x, y, v), np.moveaxis(s.geodesic(x, y, 5), 0, 1), s.plot_coordinates(x)
            for i in range(3):
                for array, one in zip(many, (s.transport(x[i], y[i], v[i]), s.geodesic(x[i], y[i], 5), s.plot_coordinates(x[i]))):
                    np.testing.assert_array_equal(array[i], one)
                np.testing.assert_allclose(s.transport(x[i], y[i], v[i]), -s.log(y[i], x[i]), rtol=0, atol=1e-12)
            self.assertEqual(s.point(np.empty((0, s.dim)), "cartesian" if name == "e2" else "polar").shape, (0, s.embedding))
            self.assertEqual(s.plot_coordinates(x[:0]).shape, (0, 3))
            for q in [1] * (s.dim - 1), [1] * (s.dim + 1):
                with self.assertRaisesRegex(ValueError, f"expected {s.dim} numbers"):
                    s.point(q, "cartesian" if name == "e2" else "polar")
        self.assertEqual(curvebody.Space("h3", curvature=np.float32(-0.25)).distance([0, 0, 0, 2], [0, 0, 0, 2]), 0)
        with self.assertRaisesRegex(TypeError, "parameters"):
            curvebody.Space("name: h3\n", curvature=-1)
        s = curvebody.Space("s3")
        x = np.stack([s.base()] * 3)
        y = x.copy()
        y[1] *= -1
        with self.assertRaisesRegex(curvebody.Error, r"pair .*1.*: "):
            s.log(x, y)

    def test_the_world_has_the_plot_coordinates(self):
        for name in ("thesis/elastic-rod-h3", "thesis/h2xe-rigid-rod", "spaces/thrown-e3", "spaces/thrown-s3", "spaces/thrown-nil"):
            d = curvebody.run(os.path.join(SCENARIOS, name + ".yaml"))
            h = curvebody.Space.of(d)
            np.testing.assert_allclose(h.plot_coordinates(curvebody.to_world(d).values), d.plot_position.values, atol=1e-12, err_msg=name)
            with curvebody.open(os.path.join(SCENARIOS, name + ".yaml")) as sim:
                np.testing.assert_array_equal(curvebody.to_world(sim.step(int(d.step[-1]))), curvebody.to_world(d).values[-1], err_msg=name)

    def test_the_first_wrong_point_is_named(self):
        """In hyperbolic space the tolerance grows with the squares of the coordinates, of which <x,x> is a difference."""
        for name, wrong in (("s3", [0, 0, 0, 2]), ("h3", [1, 0, 0, 0]), ("h3", [0, 0, 0, -1]), ("h2xe", [0, 3, 2, 1]), ("s3", [np.nan, 0, 0, 1]),
                            ("h3", [0, 0, 0, 1 + 1e-8])):
            s = curvebody.Space(name)
            x = np.stack([np.stack([s.base()] * 4)] * 3)
            y = x.copy()
            y[1, 2] = y[2, 0] = wrong
            o = np.concatenate([[0, 1, 0, 0], np.eye(3).ravel(), np.zeros(3)])
            for call in (lambda: s.distance(x, y), lambda: s.log(x, y), lambda: s.geodesic(x, y, 3), lambda: s.transport(x, y, 0 * x),
                         lambda: s.distance(x, y, o, o)):
                with self.assertRaisesRegex(ValueError, r"^y\[1, 2\]: (the point is|coordinate )", msg=name):
                    call()
            for call in lambda: s.exp(y, 0 * y), lambda: s.plot_coordinates(y), lambda: s.local(y, o):
                with self.assertRaisesRegex(ValueError, r"^x\[1, 2\]: (the point is|coordinate )", msg=name):
                    call()
            with self.assertRaisesRegex(ValueError, "^y: (the point is|coordinate )"):
                s.distance(s.base(), wrong)
        for name, radius in ("h3", 354), ("s3", 3):
            s = curvebody.Space(name)
            far = s.point([[radius, angle, 1] for angle in np.linspace(0.1, 3, 50)])
            self.assertTrue(np.isfinite(s.distance(far, s.base())).all())

    def test_local_is_the_inverse_of_world(self):
        """Also with a direction, a rotation and a shift."""
        random = np.random.default_rng(SEED)
        for name in ("e2", "e3", "h2", "h3", "h2xe", "s3", "s2xe", "nil", "sol"):
            s = curvebody.Space(name)
            hyperbolic = name[0] == "h"
            n = int(name[1]) if name[0] in "eh" else 3
            turn = np.linalg.qr(random.normal(size=(n, n)))[0]
            origin = np.zeros((5, 16))
            origin[:, 1], origin[:, 4:4 + n * n] = 1, np.eye(n).ravel()
            if name[0] in "eh":
                origin[:, 0], origin[:, 1:1 + n], origin[:, 4:4 + n * n] = random.uniform(0, 2, 5), turn[0], turn.ravel()
            if name in ("h2xe", "s2xe", "nil", "sol"):
                origin[:, -1] = random.normal(size=5)
            if name in ("nil", "sol"):
                origin[:, -3:] = random.normal(size=(5, 3))
            x = s.exp(np.stack([s.base()] * 5), random.normal(size=(5, s.embedding)) * (s.base() == 0 if s.embedding > s.dim else 1))
            y = s.world(x, origin)
            self.assertEqual(np.array_equal(x, y), name == "s3")
            np.testing.assert_allclose(s.local(y, origin), x, rtol=0, atol=1e-13 * abs(y).max() ** (2 if hyperbolic else 1), err_msg=name)
            np.testing.assert_array_equal(s.local(y[0], origin[0]), s.local(y, origin)[0])

    def test_exp_and_log(self):
        random = np.random.default_rng(SEED)
        for name in ("e2", "e3", "s2", "s3", "h2", "h3", "h2xe", "s2xe"):
            s = curvebody.Space(name)
            x = s.exp(s.base(), 0 * s.base())
            for _ in range(5):
                chart = "cartesian" if name[0] == "e" else "polar"
                q = np.abs(random.normal(size=s.dim)) * 0.5 + 0.1
                a, b = s.point(q, chart), s.point(q * 1.3, chart)
                u = s.log(a, b)
                np.testing.assert_allclose(s.exp(a, u), b, rtol=0, atol=1e-12, err_msg=name)
                self.assertAlmostEqual(s.distance(a, s.geodesic(a, b, 3)[1]), s.distance(a, b) / 2, delta=1e-12)
            self.assertEqual(s.distance(x, x), 0)

    def test_closed_forms(self):
        h, s = curvebody.Space("h3", curvature=-0.25), curvebody.Space("s3", curvature=4)
        # the law of cosines for a triangle at the centre with sides a, b and their angle
        a, b, angle, R = 1.3, 2.1, 0.7, 2
        d = h.distance(h.point([a, angle, 0]), h.point([b, 0, 0]))
        self.assertAlmostEqual(np.cosh(d / R), np.cosh(a / R) * np.cosh(b / R) - np.sinh(a / R) * np.sinh(b / R) * np.cos(angle), delta=1e-13)
        a, b, R = 0.3, 0.5, 0.5
        d = s.distance(s.point([a, angle, 0]), s.point([b, 0, 0]))
        self.assertAlmostEqual(np.cos(d / R), np.cos(a / R) * np.cos(b / R) + np.sin(a / R) * np.sin(b / R) * np.cos(angle), delta=1e-13)
        for name in ("nil", "sol", "sl2"):
            g = curvebody.Space(name)
            x = g.base()
            y = g.exp(x, np.full(3, 0.2))
            self.assertAlmostEqual(g.distance(x, y), g.distance(y, x), delta=1e-9)

    def test_far_out(self):
        """Points local to origins 1 to 300 radii out, at a right angle: d = 2 L + log(1/2) + O(exp(-2 L))."""
        h = curvebody.Space("h3")
        origin = lambda length, n: np.concatenate([[length], n, np.eye(3).ravel(), np.zeros(3)])
        x = h.base()
        for length in (1, 10, 40, 300):
            d = h.distance(x, x, origin(length, [1, 0, 0]), origin(length, [0, 1, 0]))
            wanted = np.arccosh(np.cosh(length) ** 2) if length < 20 else 2 * length - np.log(2)
            self.assertAlmostEqual(d, wanted, delta=1e-12 * wanted)
            y = h.point([0.3, 0.4, 0.5])
            self.assertAlmostEqual(h.distance(x, y, origin(length, [1, 0, 0]), origin(length, [1, 0, 0])), 0.3, delta=1e-13)


if __name__ == "__main__":
    unittest.main()
