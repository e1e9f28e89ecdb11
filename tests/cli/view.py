"""`curvebody view` in Chromium, for pages of every kind: no error on the console, no network request; the body is visible from
outside, followed and from inside; values and positions agree with the record, distances with the library; the drawing
without WebGL is the same.
needs: view"""
import fcntl
import os
import shutil
import subprocess
import tempfile
import unittest

# must be the first import: it ends the test if a library is missing
from viewing import BINARY, INSIDE, KINDS, near, NOWHERE, page, record, STATES, until

import curvebody
import h5py
import numpy as np
from browser import Browser

SEED = 20261124


def empty(path):
    """Removes all rows from a record."""
    with h5py.File(path, "a") as f:
        rows = f["time"].shape[0]
        f.visititems(lambda _, o: o.resize(0, axis=0) if isinstance(o, h5py.Dataset) and o.chunks and o.maxshape[0] is None and
                     o.shape[0] == rows else None)


class Held:
    """An incomplete copy of a record. Its lock makes it look as if this process were writing it."""

    def __init__(self, path, folder):
        self.path = os.path.join(folder, "held.h5")
        shutil.copy(path, self.path)

    def __enter__(self):
        with h5py.File(self.path, "r+", libver="latest") as f:
            f.attrs.modify("completed", np.int32(0))
        os.mkdir(self.path + ".parts")
        self.lock = open(self.path + ".parts/lock", "w")
        fcntl.lockf(self.lock, fcntl.LOCK_EX)
        return self.path

    def __exit__(self, *_):
        self.lock.close()
        shutil.rmtree(self.path + ".parts")


class Made(dict):
    """Pages of KINDS by name; each is made when it is first used."""

    def __init__(self, folder):
        self.folder = folder

    def __missing__(self, name):
        self[name] = page(record(self.folder, name))
        return self[name]


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.page = Made(cls.folder)
        cls.browser = Browser(900, 600)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.browser.console()
        self.browser.requests()

    def quiet(self, name):
        self.assertEqual(self.browser.console(), [], name)
        asked = [a for a in self.browser.requests() if not a.startswith(("data:", "blob:", "about:", "chrome:"))]
        self.assertEqual([a for a in asked if not a.startswith("file://" + self.folder)], [], name)

    def test_the_body_is_in_sight(self):
        for name in KINDS:
            b, path = self.browser, self.page[name]
            b.open(path)
            self.assertEqual(b.js("return curvebody.shown.drawing.name"), "webgl")
            if name in NOWHERE:
                b.open(path + "#view=inside&follow=0")
                self.assertIn("This record has no positions to draw", b.js("return document.body.textContent"))
            else:
                self.in_sight(b, name, (0, 0.5, 1))
            self.quiet(name)

    def in_sight(self, b, name, shares):
        """The body is visible and does not fill the view. If the view follows it, it is near the middle."""
        span = b.js("return [curvebody.shown.frames.time[0], curvebody.shown.frames.time[curvebody.shown.frames.count - 1]]")
        for view in ["view=outside", "view=outside&follow=0"] + (["view=inside&follow=0"] if name in INSIDE else []):
            for share in shares:
                follow = b.js("const s = curvebody.shown; history.replaceState(null, '', '#' + arguments[0]);"  # drawn once
                              "s.read(); s.fit(); s.show(); return s.view.follow",
                              f"t={span[0] + share * (span[1] - span[0])}&{view}")
                self.assertEqual(follow, 0 if "follow" in view else None)
                seen = b.painted()
                self.assertGreater(seen.sum(), 20, f"{name} {view} {share}")
                self.assertLess(seen.mean(), 0.6, f"{name} {view} {share}")
                if "follow" in view:
                    h, w = seen.shape
                    self.assertGreater(seen[h // 8:-(h // 8), w // 8:-(w // 8)].sum(), 20, f"{name} {view} {share}")

    def test_running_interrupted_and_without_rows(self):
        """The page while a run continues, after it was interrupted, and before its first row."""
        for name in STATES:
            b, path, out = self.browser, os.path.join(self.folder, name + ".h5"), os.path.join(self.folder, "state.html")
            self.assertTrue(self.page[name])
            with Held(path, self.folder) as held:
                watch = subprocess.Popen([BINARY, "view", held, "-o", out, "--watch"], stdout=subprocess.DEVNULL)
                until(lambda: os.path.exists(out))
                b.open(out + "#view=outside")
                until(lambda: b.js("return [curvebody.shown.page.state, document.querySelector('.state').textContent]") == ["running", "running"])
                until(lambda: b.painted().sum() > 20)
            self.assertEqual(watch.wait(20), 0)
            until(lambda: b.js("return typeof curvebody !== 'undefined' && !!curvebody.shown && curvebody.shown.page.state === 'unfinished'"))
            self.in_sight(b, name, (0, 1))
            self.assertIn("interrupted", b.js("return document.querySelector('.state').textContent"))
            os.remove(out)
            empty(held)
            b.open(page(held, "-o", out))
            self.assertIn("no rows", b.js("return document.body.textContent"))
            os.remove(out)
            self.quiet(name)

    def test_without_webgl_the_picture_is_the_same(self):
        with Browser(900, 600, webgl=False) as plain:
            for name in ("rod", "s3", "h2xe", "nil", "eel", "s2"):
                for view in ("#view=outside&t=1", "#view=outside&follow=0&t=1") + (("#view=inside&follow=0&t=1",) if name in INSIDE else ()):
                    self.browser.open(self.page[name] + view)
                    plain.open(self.page[name] + view)
                    self.assertEqual(plain.js("return curvebody.shown.drawing.name"), "2d")
                    one, two = self.browser.painted(), plain.painted()
                    self.assertEqual(one.shape, two.shape)
                    for p, q in ((one, two), (two, one)):
                        self.assertGreater((p & near(q, 5)).sum(), 0.95 * p.sum(), f"{name} {view}")
                self.assertEqual(plain.console(), [])

    def test_values_are_the_records(self):
        for name in ("rod", "h2xe", "s3", "nil", "leaf", "purcell", "pendulum", "shell"):
            self.browser.open(self.page[name])
            series = self.browser.js("return curvebody.shown.page.series.map(s => ({name: s.name, row: Array.from(s.row.data), "
                                     "time: Array.from(s.time.data), value: Array.from(s.value.data), sparse: s.sparse, columns: s.labels.length}))")
            with h5py.File(os.path.join(self.folder, name + ".h5")) as f:
                self.assertIn("energy" if name != "purcell" else "shape", [s["name"] for s in series])
                for s in series:
                    data = f[s["name"]][:][np.array(s["row"], int)].reshape(len(s["row"]), -1)
                    if data.shape[1] == s["columns"]:
                        value = np.array(s["value"], float).reshape(data.shape)
                        if s["sparse"]:  # a row has values only for the columns that kept it
                            self.assertTrue((np.isfinite(value).sum(axis=0) >= 2).all())
                            value = np.where(np.isnan(value), data, value)
                        np.testing.assert_array_equal(value, data, s["name"])
                    else:
                        told = np.stack([data.min(axis=1), data.mean(axis=1), data.max(axis=1)], axis=1)
                        np.testing.assert_allclose(np.array(s["value"], float).reshape(told.shape), told, rtol=1e-12, err_msg=s["name"])
                    np.testing.assert_array_equal(f["time"][:][np.array(s["row"], int)], s["time"])

    def test_places_are_the_records(self):
        """The view from outside draws /plot_position, with an error of 1e-6 of its scale because of float32."""
        for name in ("rod", "h2xe", "s3", "nil", "e3", "s2", "ih", "s2xe", "pendulum", "shell"):
            b = self.browser
            b.open(self.page[name])
            rows = b.js("return Array.from(curvebody.shown.page.row.data)")
            with h5py.File(os.path.join(self.folder, name + ".h5")) as f:
                x, bonds = f["plot_position"][:], [f[key][:] for key in ("bond_i", "bond_j") if key in f]
            scale = np.abs(x).max()
            for k in (0, len(rows) // 2, len(rows) - 1):
                b.js("const s = curvebody.shown; s.view.name = 'outside'; s.view.follow = null; s.k = arguments[0]; s.show()", k)
                p = np.array(b.js("return curvebody.shown.pixels().map(q => q.p)"))
                np.testing.assert_allclose(p[:x.shape[1]], x[int(rows[k])], rtol=0, atol=1e-6 * scale, err_msg=name)
                ends = np.array(b.js("const s = curvebody.shown, n = s.page.particles.bond_i ? s.page.particles.bond_i.data.length : 0, "
                                     "each = s.page.particles.bonds ? s.page.particles.bonds.shape[2] / 3 - 1 : 1; "
                                     "return Array.from({length: n}, (_, i) => [s.scene.space.shown(s.built.segments[i * each].a), "
                                     "s.scene.space.shown(s.built.segments[i * each + each - 1].b)])"))
                if len(ends):
                    i, j = bonds
                    np.testing.assert_allclose(ends, np.stack([x[int(rows[k])][i], x[int(rows[k])][j]], axis=1), rtol=0,
                                               atol=2e-6 * scale, err_msg=name)

    def test_bodies_are_the_records(self):
        """Surfaces have the position and axes of the pose, and arrows point along the forces, which the record has in the body
        frame."""
        b = self.browser
        b.open(self.page["leaf"] + "#view=outside")
        with h5py.File(os.path.join(self.folder, "leaf.h5")) as f:
            pose, forces = f["pose"][:], {name[7:]: f[name][:] for name in f if name.startswith("wrench_")}
        for k in (0, 40, 100):
            m, heads, names = b.js("const s = curvebody.shown; s.go(arguments[0]); return [s.built.surfaces.map(q => q.m), "
                                   "s.built.segments.filter(q => q.head).map(q => [q.a, q.b, q.colour]), s.page.bodies.forces.map(q => q.name)]", k)
            colours = b.js("return curvebody.colours")
            row, m, told = int(b.js("return curvebody.shown.page.row.data[arguments[0]]", k)), np.array(m).reshape(-1, 4, 4), []
            for i, p in enumerate(pose[row]):
                w, v = p[3], p[4:]
                r = np.eye(3) + 2 * w * np.cross(np.eye(3), v) + 2 * (np.outer(v, v) - v @ v * np.eye(3))
                np.testing.assert_allclose(m[i, :3, 3], p[:3], rtol=0, atol=1e-12)
                np.testing.assert_allclose(m[i, :3, :3], r, rtol=0, atol=1e-12)
                told += [(colours[(number + 3) % 8], p[:3], r @ forces[name][row][i][3:]) for number, name in enumerate(names)]
            for _, tip, colour in heads:
                self.assertTrue(any(c == colour and np.linalg.norm(np.cross(np.array(tip)[:3] - p, f)) < 1e-5 * (np.array(tip)[:3] - p) @ f
                                    for c, p, f in told), f"{k} {colour}")
            self.assertGreater(len(heads), len(pose[row]))

    def test_bonds_of_other_spaces_are_geodesics(self):
        """The program samples bonds in Nil: each sample divides the library's distance in the right ratio."""
        b, g = self.browser, curvebody.Space("nil")
        b.open(self.page["nil"])
        with h5py.File(os.path.join(self.folder, "nil.h5")) as f:
            x, i, j = f["plot_position"][:], f["bond_i"][:], f["bond_j"][:]
        for k in (0, 20):
            row, samples, lead = b.js("const s = curvebody.shown.page, k = arguments[0], n = s.particles.bonds.shape; return [s.row.data[k], "
                                      "Array.from(s.particles.bonds.data.subarray(k * n[1] * n[2], (k + 1) * n[1] * n[2])), "
                                      "Array.from(s.particles.lead.data.subarray(16 * k, 16 * k + 4))]", k)
            way = np.array(samples).reshape(len(i), 9, 3) + lead[0] * np.array(lead[1:])
            for bond in range(len(i)):
                start, end = x[int(row)][i[bond]], x[int(row)][j[bond]]
                d = g.distance(start, end)
                for s in range(9):
                    self.assertAlmostEqual(g.distance(start, way[bond, s]), s / 8 * d, delta=1e-5 * d)
                    self.assertAlmostEqual(g.distance(way[bond, s], end), (1 - s / 8) * d, delta=1e-5 * d)

    def test_distances_are_the_librarys(self):
        """Distances of points local to origins, close and 40 radii out, and the geodesics from their logarithms."""
        random = np.random.default_rng(SEED)
        print("seed", SEED)
        for name, space in (("rod", "h3"), ("h2xe", "h2xe"), ("e3", "e3"), ("s3", "s3"), ("s2xe", "s2xe")):
            self.browser.open(self.page[name])
            g, part = curvebody.Space(space), {"h3": 3, "h2xe": 2, "e3": 3}.get(space, 0)
            order = [0, 1, 3, 2] if space in ("h2xe", "s2xe") else [0, 1, 2, 3]  # x, y, w, z -> x, y, z, w
            for length in (0.1, 3, 40):
                for _ in range(4):
                    origins, points, told = [], [], []
                    for _ in range(2):
                        o = np.zeros(16)
                        o[1] = 1
                        if part:
                            n = random.normal(size=part)
                            q = np.linalg.qr(random.normal(size=(part, part)))[0]
                            q *= np.sign(np.linalg.det(q)) if part == 3 else 1
                            o[0], o[1:1 + part], o[4:4 + part * part] = length * random.uniform(0.8, 1), n / np.linalg.norm(n), q.ravel()
                        if space in ("h2xe", "s2xe"):
                            o[15] = random.normal()
                        x = g.point(random.uniform(0.1, 0.6, size=g.dim), "cartesian" if space == "e3" else "polar")
                        origins.append(o), points.append(x)
                        told.append(list(x) + [1] if space == "e3" else [x[i] for i in order])
                    d = g.distance(points[0], points[1], *origins)
                    script = ("const s = curvebody.shown.frames.space, f = s.far(s.origin(arguments[0], 0), arguments[1], "
                              "s.origin(arguments[2], 0), arguments[3]); const e = s.exp(f.v); return [f.length, Math.hypot(...s.log(e)), f.v]")
                    found = self.browser.js(script, list(origins[0]), told[0], list(origins[1]), told[1])
                    self.assertLess(abs(found[0] - d), 1e-10 * max(1, d), f"{space} {length}")
                    self.assertLess(abs(found[1] - d), 1e-10 * max(1, d), f"{space} {length}")
                    self.along(g, space, order, origins, points, told, np.array(found[2]), d)
                    self.within(g, space, order, origins[0], points, told)

    def along(self, g, space, order, origins, points, told, v, d):
        """The logarithm is -grad of half the library's distance squared, and its geodesic divides the distance."""
        b, page_axes = self.browser, "const s = curvebody.shown.frames.space, x = arguments[0]; return "

        def place(four):
            return four[:3] if space == "e3" else np.array([four[order.index(i)] for i in range(4)])
        sizes = [0.02 * size for size in (1, -1, 2, -2, 3, -3, 4, -4)]
        ends = b.js(page_axes + "[0, 1, 2].map(i => arguments[1].map(h => s.apply(s.to(x), s.exp([0, 1, 2].map(e => e === i ? h : 0)))))",
                    told[0], sizes)
        for i in range(3):
            near = [g.distance(place(np.array(e)), points[1], *origins) for e in ends[i]]
            steps = [(near[k] - near[k + 1]) / 0.02 for k in (0, 2, 4, 6)]
            slope = np.dot((4 / 5, -1 / 5, 4 / 105, -1 / 280), steps)
            self.assertLess(abs(slope + v[i] / d), 1e-10 * max(1, 1 / d ** 8), f"{space} axis {i} at distance {d}")
        for t in (min(0.25, 1 / d), min(0.8, 3 / d)):  # relative to the first end: farther out the rounding of positions is too large
            z = place(np.array(b.js(page_axes + "s.apply(s.to(x), s.exp(arguments[1]))", told[0], list(t * v))))
            for other, share in ((0, t), (1, 1 - t)):
                found = g.distance(z, points[other], origins[0], origins[other])
                self.assertLess(abs(found - share * d), 1e-10 * max(1, d), f"{space} geodesic at {t} of {d}")

    def within(self, g, space, order, origin, points, told):
        """Checks the logarithm as a vector and points of the geodesic, local to one origin."""
        v, way, n = g.log(*points), g.geodesic(*points, points=5), len(points[0])
        found = self.browser.js(
            "const s = curvebody.shown.frames.space, x = arguments[0], y = arguments[1], to = s.to(x), o = s.origin(arguments[2], 0);"
            "const u = s.far(o, x, o, y).v, theta = s.angle(x, y); return [s.apply(to, u.concat(0)), s.apply(to, [0, 0, 0, 0]), "
            "[0, 1, 2, 3, 4].map(i => s.between(x, y, theta, i / 4))]", told[0], told[1], list(origin))
        vector = np.array(found[0]) - np.array(found[1])
        back = (lambda w: w[:3]) if space == "e3" else (lambda w: np.array([w[order.index(i)] for i in range(4)]))
        np.testing.assert_allclose(back(vector)[:n], v, rtol=0, atol=1e-10, err_msg=space)
        np.testing.assert_allclose([back(np.array(p))[:n] for p in found[2]], way, rtol=0, atol=1e-10, err_msg=space)


if __name__ == "__main__":
    unittest.main()
