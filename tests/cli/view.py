"""`curvebody view`: pages of every kind in Chromium: no error on the console, no request, the body in sight outside, followed
and inside; values and places are the record's, distances the library's; without WebGL the same picture."""
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import h5py
    import numpy as np
    import xarray
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

BINARY = os.path.abspath(sys.argv.pop(1))
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
sys.path[:0] = [os.path.join(HERE, "..", "view"), os.path.join(ROOT, "src", "python")]
os.environ["CURVEBODY_PROGRAM"] = BINARY
os.environ["CURVEBODY_LIBRARY"] = os.path.join(os.path.dirname(BINARY), "libcurvebody.so")
if not shutil.which("chromedriver"):
    print("skipped: no chromedriver")
    sys.exit(77)
import curvebody
from browser import Browser

SEED = 20261124
SCENARIOS = os.path.join(ROOT, "analysis", "scenarios")
KINDS = {"rod": ("thesis/elastic-rod-h3", ["time.end=3"]), "s3": ("thesis/rigid-triangle-s3", ["time.end=3"]),
         "h2xe": ("thesis/h2xe-rigid-triangle", ["time.end=2"]), "e3": ("spaces/thrown-e3", []), "s2xe": ("spaces/thrown-s2xe", []),
         "nil": ("spaces/thrown-nil", []), "s2": ("spaces/thrown-s2", []), "ih": ("spaces/thrown-ih", []),
         "leaf": ("immersed/leaf", ["time.end=1"]), "eel": ("immersed/eel", ["time.end=0.5"]),
         "clifford": ("curved-fluid/clifford", ["time.end=2"]), "pendulum": ("systems/double-pendulum", []),
         "purcell": ("locomotion/purcell", []), "cat": ("locomotion/immersed-cat", []), "shell": ("networks/shell-h3", ["time.end=0.1"]),
         "sol": ("spaces/thrown-sol", []), "sl2": ("spaces/thrown-sl2", []), "metric": ("spaces/thrown-schwarzschild", []),
         "cradle": ("collisions/cradle-s3", ["time.end=2"]), "ball": ("locomotion/rolling-ball", [])}
INSIDE = {"rod", "s3", "h2xe", "e3", "s2xe", "leaf", "eel", "clifford", "shell", "cradle"}
NOWHERE = {"ball"}  # nothing of it has a place
STATES = ("rod", "leaf", "purcell", "pendulum")  # particles, bodies, a gait, a system


def call(*words, **more):
    return subprocess.run([BINARY, *words], capture_output=True, text=True, **more)


def record(folder, name, scenario=None, sets=()):
    path = os.path.join(folder, name + ".h5")
    scenario = scenario or os.path.join(SCENARIOS, KINDS[name][0] + ".yaml")
    done = call("run", scenario, "-o", path, "--quiet", *[w for s in sets or KINDS.get(name, ("", ()))[1] for w in ("--set", s)])
    assert done.returncode == 0, done.stderr
    return path


def page(path, *more):
    done = call("view", path, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def painted(picture):
    """Pixels of a colour: no white, no grey of landmarks, frames and bonds."""
    p = picture.astype(int)
    return p.max(axis=2) - p.min(axis=2) > 40


def near(mask, by):
    """What is painted within so many pixels, across and down."""
    for axis in (0, 1):
        mask = np.any([np.roll(mask, shift, axis) for shift in range(-by, by + 1)], axis=0)
    return mask


def until(true, wait=20):
    end = time.time() + wait
    while time.time() < end:
        try:
            if true():
                return
        except RuntimeError:  # the page loads
            pass
        time.sleep(0.05)
    raise AssertionError("it does not come about")


def empty(path):
    """Takes all rows from a record."""
    with h5py.File(path, "a") as f:
        rows = f["time"].shape[0]
        f.visititems(lambda _, o: o.resize(0, axis=0) if isinstance(o, h5py.Dataset) and o.chunks and o.maxshape[0] is None and
                     o.shape[0] == rows else None)


class Held:
    """A copy of a record that is not complete, and that looks written, by this process, as long as it is held."""

    def __init__(self, path, folder):
        self.path = os.path.join(folder, "held.h5")
        shutil.copy(path, self.path)

    def __enter__(self):
        with h5py.File(self.path, "r+", libver="latest") as f:
            f.attrs.modify("completed", np.int32(0))
        self.file = open(self.path, "r+b")
        fcntl.lockf(self.file, fcntl.LOCK_EX)
        return self.path

    def __exit__(self, *_):
        self.file.close()


class Made(dict):
    """Pages of KINDS by name, each made when it is first asked for."""

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
                self.assertIn("Nothing of this record has a place", b.js("return document.body.textContent"))
            else:
                self.in_sight(b, name, (0, 0.5, 1))
            self.quiet(name)

    def in_sight(self, b, name, shares):
        """The body is seen, and more than it; followed, it is near the middle."""
        span = b.js("return [curvebody.shown.frames.time[0], curvebody.shown.frames.time[curvebody.shown.frames.count - 1]]")
        for view in ["view=outside", "view=outside&follow=0"] + (["view=inside&follow=0"] if name in INSIDE else []):
            for share in shares:
                b.js("location.hash = arguments[0]", f"t={span[0] + share * (span[1] - span[0])}&{view}")
                b.js("curvebody.shown.read(); curvebody.shown.fit(); curvebody.shown.show()")
                self.assertEqual(b.js("return curvebody.shown.view.follow"), 0 if "follow" in view else None)
                seen = painted(b.canvas())
                self.assertGreater(seen.sum(), 20, f"{name} {view} {share}")
                self.assertLess(seen.mean(), 0.6, f"{name} {view} {share}")
                if "follow" in view:
                    h, w = seen.shape
                    self.assertGreater(seen[h // 8:-(h // 8), w // 8:-(w // 8)].sum(), 20, f"{name} {view} {share}")

    def test_running_interrupted_and_without_rows(self):
        """What is shown while a run goes on, after it was cut off, and before its first row."""
        for name in STATES:
            b, path, out = self.browser, os.path.join(self.folder, name + ".h5"), os.path.join(self.folder, "state.html")
            self.assertTrue(self.page[name])
            with Held(path, self.folder) as held:
                watch = subprocess.Popen([BINARY, "view", held, "-o", out, "--watch"], stdout=subprocess.DEVNULL)
                until(lambda: os.path.exists(out))
                b.open(out + "#view=outside")
                until(lambda: b.js("return [curvebody.shown.page.state, document.querySelector('.state').textContent]") == ["running", "running"])
                until(lambda: painted(b.canvas()).sum() > 20)
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
                    one, two = painted(self.browser.canvas()), painted(plain.canvas())
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
                        if s["sparse"]:  # a row has what its columns chose
                            self.assertTrue((np.isfinite(value).sum(axis=0) >= 2).all())
                            value = np.where(np.isnan(value), data, value)
                        np.testing.assert_array_equal(value, data, s["name"])
                    else:
                        told = np.stack([data.min(axis=1), data.mean(axis=1), data.max(axis=1)], axis=1)
                        np.testing.assert_allclose(np.array(s["value"], float).reshape(told.shape), told, rtol=1e-12, err_msg=s["name"])
                    np.testing.assert_array_equal(f["time"][:][np.array(s["row"], int)], s["time"])

    def test_places_are_the_records(self):
        """What is drawn from outside is /x: to 1e-6 of its scale, as float32 keeps it."""
        for name in ("rod", "h2xe", "s3", "nil", "e3", "s2", "ih", "s2xe", "pendulum", "shell"):
            b = self.browser
            b.open(self.page[name])
            rows = b.js("return Array.from(curvebody.shown.page.row.data)")
            with h5py.File(os.path.join(self.folder, name + ".h5")) as f:
                x, bonds = f["x"][:], [f[key][:] for key in ("bond_i", "bond_j") if key in f]
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
        """Place and axes of a surface are the pose's, and arrows point along the forces, in the body's axes in the record."""
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
        """Nil's are sampled by the program: each sample divides the library's distance."""
        b, g = self.browser, curvebody.Space("nil")
        b.open(self.page["nil"])
        with h5py.File(os.path.join(self.folder, "nil.h5")) as f:
            x, i, j = f["x"][:], f["bond_i"][:], f["bond_j"][:]
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
        """Of points local to origins, near and 40 radii out; and the geodesic to what the logarithm says."""
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
        for t in (min(0.25, 1 / d), min(0.8, 3 / d)):  # local to its first end: further out a place is rounded too much
            z = place(np.array(b.js(page_axes + "s.apply(s.to(x), s.exp(arguments[1]))", told[0], list(t * v))))
            for other, share in ((0, t), (1, 1 - t)):
                found = g.distance(z, points[other], origins[0], origins[other])
                self.assertLess(abs(found - share * d), 1e-10 * max(1, d), f"{space} geodesic at {t} of {d}")

    def within(self, g, space, order, origin, points, told):
        """Local to one origin: the logarithm as a vector, and points of the geodesic."""
        v, way, n = g.log(*points), g.geodesic(*points, points=5), len(points[0])
        found = self.browser.js(
            "const s = curvebody.shown.frames.space, x = arguments[0], y = arguments[1], to = s.to(x), o = s.origin(arguments[2], 0);"
            "const u = s.far(o, x, o, y).v, theta = s.angle(x, y); return [s.apply(to, u.concat(0)), s.apply(to, [0, 0, 0, 0]), "
            "[0, 1, 2, 3, 4].map(i => s.between(x, y, theta, i / 4))]", told[0], told[1], list(origin))
        vector = np.array(found[0]) - np.array(found[1])
        back = (lambda w: w[:3]) if space == "e3" else (lambda w: np.array([w[order.index(i)] for i in range(4)]))
        np.testing.assert_allclose(back(vector)[:n], v, rtol=0, atol=1e-10, err_msg=space)
        np.testing.assert_allclose([back(np.array(p))[:n] for p in found[2]], way, rtol=0, atol=1e-10, err_msg=space)


class Sights(unittest.TestCase):
    """What is seen from inside, told by hand."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()

    def tearDown(self):
        shutil.rmtree(self.folder)

    def scenario(self, text):
        path = os.path.join(self.folder, "s.yaml")
        with open(path, "w") as file:
            file.write(text)
        return path

    def test_a_ball_beyond_a_quarter_turn_is_seen_from_both_sides(self):
        path = record(self.folder, "two", self.scenario(TWO))
        with Browser(700, 500) as b:
            b.open(page(path) + "#view=ride&follow=0&t=0")
            yaw = b.js("return curvebody.shown.yaw")  # towards the other
            for turn in (0, np.pi):
                b.js("const s = curvebody.shown; s.yaw = arguments[0]; s.pitch = 0; s.show()", yaw + turn)
                picture = b.canvas().astype(int)
                y, x = np.array(picture.shape[:2]) // 2
                self.assertTrue((picture[y - 2:y + 3, x - 2:x + 3, 0] > picture[y - 2:y + 3, x - 2:x + 3, 2] + 40).all(), f"turned by {turn}")
                self.assertLess(painted(picture).mean(), 0.9)

    def test_far_out(self):
        """Origins go along: from outside places stay the record's, and followed 30 radii out a rod is as long as it is."""
        path = record(self.folder, "far", self.scenario(FAR))
        with Browser(700, 500) as b, h5py.File(path) as f:
            x, separation = f["x"][:], f["separation"][:, 0]
            self.assertGreater(f["origin"][-1, 0, 0], 20)
            b.open(page(path) + "#view=outside")
            for k in (0, 30, 50, 80, 300):
                b.js("const s = curvebody.shown; s.view.follow = null; s.go(arguments[0])", k)
                np.testing.assert_allclose(b.js("return curvebody.shown.pixels().map(q => q.p)"), x[k], rtol=0, atol=1e-6)
                for name in ("outside", "inside"):
                    b.js("const s = curvebody.shown; s.view.name = arguments[1]; s.view.follow = 0; s.fit(); s.go(arguments[0])", k, name)
                    length = b.js("const s = curvebody.shown, g = s.scene.space, p = s.built.balls.map(q => g.apply(q.m, g.base())); return g.distance(p[0], p[1])")
                    self.assertAlmostEqual(length, separation[k], delta=1e-5)
                    self.assertGreater(painted(b.canvas()).sum(), 20)
                b.js("curvebody.shown.view.name = 'outside'")

    def test_riding_round_a_loop_shows_the_holonomy(self):
        """A circle of radius r about a centre in S3: 2 pi (1 - cos r), told by 2000 chords of it, which is right to 1e-5."""
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


CHAIN = """
curvebody: 1
title: chain
space: e3
bodies: [{kind: chain, name: c, count: 20, length: 1, along: [1, 0, 0], link: {spring: {stiffness: 10}}, motion: {killing: rotation_z, speed: 3}}]
integrator: {name: lobatto, stages: 2, step: 0.01}
time: {end: 10}
"""
ODD = """
curvebody: 1
title: '%s'
space: e3
bodies: [{kind: particles, name: '%s', mass: 1, place: {chart: cartesian, points: [[0, 0, 0]]}, motion: {killing: translation_x, speed: 1}}]
integrator: {name: lobatto, stages: 2, step: 0.1}
time: {end: 0.5}
"""
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
  - central: {law: gravity, strength: 1, at: {chart: embedding, point: [0, 0, 0, 1]}}
integrator: {name: lobatto, stages: 4, step: %(step).17g}
time: {end: %(end).17g}
"""


class Files(unittest.TestCase):
    """What a page is as a file."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()

    def tearDown(self):
        shutil.rmtree(self.folder)

    def test_size_bytes_and_title(self):
        path = record(self.folder, "rod", sets=["time.end=0.01", 'title="</script><b>x</b> & co"'])
        with open(page(path), "rb") as file:
            first = file.read()
        with open(page(path, "-o", os.path.join(self.folder, "again.html")), "rb") as file:
            self.assertEqual(file.read(), first)
        self.assertLess(len(first), 900_000)
        with Browser(700, 500) as b:
            b.open(os.path.join(self.folder, "again.html"))
            self.assertEqual(b.js("return document.querySelector('h1').textContent"), "</script><b>x</b> & co")
            self.assertEqual(b.js("return document.title"), "</script><b>x</b> & co")

    def test_no_peak_is_lost_of_many_rows(self):
        path = record(self.folder, "rod", sets=["time.end=200", "record.observables=[energy, killing_momentum, separation]"])
        with Browser(700, 500) as b, h5py.File(path) as f:
            b.open(page(path))
            series = b.js("return curvebody.shown.page.series.map(s => ({name: s.name, row: Array.from(s.row.data), "
                          "value: Array.from(s.value.data), columns: s.labels.length}))")
            for s in series:
                rows, data = np.array(s["row"], int), f[s["name"]][:].reshape(20001, -1)
                value = np.array(s["value"], float).reshape(len(rows), -1)
                self.assertLess(len(rows), 20001)
                self.assertEqual((rows[0], rows[-1]), (0, 20000))
                np.testing.assert_array_equal(value, data[rows])
                n = max(32, 2000 // (2 * s["columns"]))
                for part in np.array_split(np.arange(20001), 32):  # several bins each, so that one at least lies within
                    inner = part[20001 // n:-(20001 // n)]
                    kept = value[(rows >= part[0]) & (rows <= part[-1])]
                    if len(inner):
                        self.assertTrue((kept.max(axis=0) >= data[inner].max(axis=0)).all() and
                                        (kept.min(axis=0) <= data[inner].min(axis=0)).all(), s["name"])

    def test_no_peak_is_lost_of_many_columns(self):
        """Each column has its own rows: those of the least and greatest value of each bin, and the ends."""
        path = os.path.join(self.folder, "chain.yaml")
        with open(path, "w") as file:
            file.write(CHAIN)
        path = record(self.folder, "chain", path)
        with Browser(700, 500) as b, h5py.File(path) as f:
            b.open(page(path))
            s = b.js("const s = curvebody.shown.page.series.find(s => s.name === 'separation'); "
                     "return [Array.from(s.row.data), Array.from(s.value.data), s.sparse, s.labels.length]")
            data, rows = f["separation"][:], np.array(s[0], int)
            self.assertEqual(s[2:], [1, 19])
            value = np.array([np.nan if v is None else v for v in s[1]], float).reshape(len(rows), 19)
            kept = ~np.isnan(value)
            np.testing.assert_array_equal(value[kept], data[rows][kept])
            self.assertLessEqual(kept.sum(axis=0).max(), 2 * 80 + 2)
            self.assertTrue(kept[0].all() and kept[-1].all() and (rows[0], rows[-1]) == (0, len(data) - 1))
            bins = np.arange(len(data)) * 80 // len(data)
            for k in range(80):
                part, here = data[bins == k], bins[rows] == k
                np.testing.assert_array_equal(np.nanmin(value[here], axis=0), part.min(axis=0))
                np.testing.assert_array_equal(np.nanmax(value[here], axis=0), part.max(axis=0))
            self.assertTrue(all(v is None or np.isfinite(v) for row in b.js(
                "const p = curvebody.shown.plots, s = curvebody.shown.page.series.find(s => s.name === 'separation'); "
                "return p.rows(s, true)") for v in row))
            self.assertEqual(b.console(), [])

    def test_pictures_and_films(self):
        path = record(self.folder, "rod", sets=["time.end=0.5"])
        with Browser(700, 500) as b:
            b.open(page(path))
            b.js("window.kept = []; const s = curvebody.shown; s.download = (blob, ending) => kept.push([ending, blob.size]); "
                 "s.speed = 10; s.save(); s.film()")
            for _ in range(60):
                time.sleep(0.1)
                kept = dict(b.js("return window.kept"))
                if len(kept) == 2:
                    break
            self.assertGreater(kept["png"], 1000)
            self.assertGreater(kept["webm"], 1000)
            self.assertEqual(b.console(), [])

    def test_odd_records(self):
        """One row, numbers that are none, names of every kind, and a title longer than the page is wide."""
        path = os.path.join(self.folder, "odd.yaml")
        odd = """</script><img src=x onerror="window.evil = 1">'\\<!-- \u00fc\u6f22 """ + "x" * 3000
        with open(path, "w") as file:
            file.write(ODD % (odd.replace("'", "''"), odd.replace("'", "''")))
        one, none = record(self.folder, "odd", path), os.path.join(self.folder, "none.h5")
        shutil.copy(one, none)
        with h5py.File(one, "a") as f:
            rows = len(f["time"])
            f.visititems(lambda _, o: o.resize(1, axis=0) if isinstance(o, h5py.Dataset) and o.chunks and o.maxshape[0] is None and
                         o.shape[0] == rows else None)
        with h5py.File(none, "a") as f:
            for name in ("x", "position", "energy"):
                f[name][1], f[name][2] = np.nan, np.inf
            f.move("kinetic_energy", "</script><b onclick=x>")
        with Browser(700, 500) as b:
            for path in (one, none):
                for view in ("", "#view=inside&follow=0", "#view=ride&follow=0", "#t=1e9&view=nothing&follow=-7&yaw=x&far=0"):
                    b.open(page(path) + view)
                    b.js("for (const d of document.querySelectorAll('details')) d.open = true;"
                         "const s = curvebody.shown; for (let k = 0; k < s.frames.count; k++) s.go(k)")
                    self.assertEqual(b.js("return document.querySelector('h1').textContent"), odd)
                    self.assertEqual(b.js("return curvebody.shown.following.options[1].textContent"), "follow " + odd)
                    self.assertFalse(b.js("return !!window.evil || !!document.querySelector('img, b')"))
                    self.assertLess(b.js("return document.documentElement.scrollWidth"), 701)
                    self.assertEqual(b.console(), [], view)
            b.open(page(one))
            self.assertGreater(painted(b.canvas()).sum(), 20)

    def test_a_map_leaves_out_shapes_that_are_none(self):
        """Balls that swim touch each other within the window of the map, beside the gait."""
        path = os.path.join(self.folder, "swimmer.yaml")
        with open(os.path.join(SCENARIOS, "curved-fluid/swimmer.yaml")) as file, open(path, "w") as coarse:
            coarse.write(file.read().replace("resolution: 12", "resolution: 8"))
        with Browser(700, 500) as b:
            b.open(page(record(self.folder, "swimmer", path, ["integrator.step=0.5"])))
            curvature = np.array(b.js("return Array.from(curvebody.shown.page.shapes.curvature.data)"), float)
            self.assertTrue(np.isnan(curvature).any() and np.isfinite(curvature).any())
            b.js("const s = curvebody.shown.shapes, c = s.canvas.getContext('2d'); s.draw(0); "
                 "window.corner = Array.from(c.getImageData(4, s.canvas.height - 4, 1, 1).data)")
            self.assertEqual(b.js("return window.corner")[:3], [160, 160, 160])
            self.assertEqual(b.console(), [])

    def test_frames(self):
        path = record(self.folder, "rod", sets=["time.end=1"])
        with Browser(700, 500) as b:
            b.open(page(path, "--frames", "7"))
            self.assertEqual(b.js("return curvebody.shown.frames.count"), 7)
            self.assertEqual(b.js("return Array.from(curvebody.shown.page.row.data)"), [0, 17, 33, 50, 67, 83, 100])
            times = b.js("return Array.from(curvebody.shown.frames.time)")
            for asked, k in ((times[3], 3), (times[3] - 1e-6, 2), (times[6] + 5, 6), (-1, 0)):  # a link's time is the last frame not after it
                b.js("location.hash = arguments[0]", f"t={asked!r}&view=outside")
                until(lambda: b.js("return curvebody.shown.k") == k)

    def test_bad_input(self):
        path, link = record(self.folder, "rod", sets=["time.end=0.1"]), os.path.join(self.folder, "link.html")
        os.symlink("nothing.html", link)
        for words, code in ((["view"], 2), (["view", "/nowhere.h5"], 3), (["view", path, "--frames", "0"], 2), (["view", path, "--frames", "x"], 2),
                            (["view", path, "--frames", "1000000000"], 2), (["view", path, "-o", self.folder], 3),
                            (["view", path, "-o", link], 3), (["view", path, "-o", path], 2), (["view", path, "-o", "/nowhere/x.html"], 3), (["view", path, "--wach"], 2),
                            (["view", os.path.join(SCENARIOS, "thesis/elastic-rod-h3.yaml")], 2)):
            done = call(*words)
            self.assertEqual(done.returncode, code, f"{words}: {done.stderr}")
            self.assertTrue(done.stderr, words)

    def test_watched_and_killed(self):
        """While the run goes on rows grow, and time and camera stay; when it is killed the page says so and loads no more."""
        path, out = os.path.join(self.folder, "long.h5"), os.path.join(self.folder, "long.html")
        run = subprocess.Popen([BINARY, "run", os.path.join(SCENARIOS, "networks/shell-h3.yaml"), "-o", path, "--quiet",
                                "--set", "time.end=3000", "--set", "record.every=40"])
        watch = run
        try:
            for _ in range(200):
                if os.path.exists(path) and h5py_rows(path) > 2:
                    break
                time.sleep(0.1)
            watch = subprocess.Popen([BINARY, "view", path, "-o", out, "--watch"], stdout=subprocess.DEVNULL)
            for _ in range(100):
                if os.path.exists(out):
                    break
                time.sleep(0.1)
            with Browser(700, 500) as b:
                b.open(out)
                until(lambda: b.js("return curvebody.shown.page.state") == "running")
                kept = []
                until(lambda: kept.extend(b.js("const s = curvebody.shown; s.go(1); s.yaw = 0.5; s.pitch = 0.2; s.write(); "
                                               "return [s.frames.time[s.k], s.page.rows]")) or True)
                for _ in range(40):
                    time.sleep(0.5)
                    b.ready()
                    try:
                        now = b.js("const s = curvebody.shown; return [s.frames.time[s.k], s.page.rows, s.yaw, s.pitch, "
                                   "+new URLSearchParams(location.hash.slice(1)).get('t'), s.frames.time[1]]")
                    except RuntimeError:
                        continue
                    if now[1] > kept[1]:
                        break
                self.assertGreater(now[1], kept[1])
                self.assertAlmostEqual(now[0], kept[0], delta=now[5])  # the frame at or before it, of those there are now
                self.assertEqual(now[2:5], [0.5, 0.2, kept[0]])
                run.send_signal(signal.SIGKILL)
                run.wait()
                self.assertEqual(watch.wait(20), 0)
                time.sleep(2.5)
                b.ready()
                until(lambda: b.js("return curvebody.shown.page.state") == "unfinished")
                b.js("window.here = true")
                time.sleep(2)
                self.assertTrue(b.js("return window.here === true"))
        finally:
            run.kill()
            run.wait()
            watch.wait(20)


def h5py_rows(path):
    try:
        with h5py.File(path, "r", swmr=True, libver="latest") as f:
            return f["time"].shape[0]
    except OSError:
        return 0


if __name__ == "__main__":
    unittest.main()
