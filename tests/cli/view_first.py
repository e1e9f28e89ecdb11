"""The first look at a page of `curvebody view`: what moves fills a fifth to four fifths of the picture, the picture names its
coordinates and has axes and a scale, every curve has a name and a unit, and no plot is empty.
needs: view"""
import os
import shutil
import tempfile
import unittest

from viewing import Folder, KINDS, SCENARIOS, call, page, record  # must be the first import: it ends the test if a library is missing

import h5py
import numpy as np
from browser import Browser

# what the caption of the picture says
NAMES = {"rod": "Poincaré ball", "s3": "stereographic projection", "h2xe": "Poincaré disc × line", "e3": "coordinates x, y, z",
         "e2": "coordinates x, y", "s2": "sphere in coordinates x, y, z", "nil": "plot coordinates x, y, z of nil",
         "metric": "plot coordinates x, y, z of schwarzschild", "leaf": "coordinates x, y, z, flat.0 in the centre",
         "pendulum": "plot coordinates x, y, z of the scenario", "joints": "coordinates x, y, z", "h2": "hyperboloid in coordinates x, y, w",
         "tied": "coordinates x, y, z", "bouncing": "coordinates x, y, z", "settling": "coordinates x, y, z",
         "eel": "coordinates x, y, z, eel in the centre", "leg": "plot coordinates x, y, z of the scenario"}
MORE = {"e2": ("spaces/thrown-e2", []), "h2": ("spaces/thrown-h2", []), "joints": ("joints/acrobot", ["time.end=0.5"]), "leaf": ("immersed/leaf", ["time.end=0.2"]),
        "tied": ("coupled/pendulum", ["time.end=2"]), "bouncing": ("collisions/bouncing-e3", []), "settling": ("coupled/settling", ["time.end=0.2"]),
        "leg": ("systems/hopping-leg", []), "limited": ("optimum/limited-cat", []), "fly": ("joints/fly-driven", ["time.end=0.02"]), "waving": ("locomotion/eel", []), "sphere": ("basics/parallel-transport-s2", [])}
# Points and small balls are framed with their paths, and arms are grey; other paths may leave the picture.
FILLED = ("const s = curvebody.shown, p = s.page; s.view.trail = s.byPaths || !!(p.pivots || p.particles && p.particles.arms); s.show(); return [s.view.frame, s.guides.marks, s.guides.scale, s.caption.textContent]")
# Pairs of texts in the picture that overlap, and texts that are not completely inside it. A letter is 9 pixels high.
OVERLAPS = ("const s = curvebody.shown, g = s.guides, c = g.element.getContext('2d'), all = [], own = c.fillText.bind(c), out = [];"
            "c.fillText = (text, x, y) => { const w = c.measureText(text).width, l = c.textAlign === 'center' ? x - w / 2 : x - w,"
            "top = c.textBaseline === 'middle' ? y - 4.5 : y - 9; all.push({text, l, r: l + w, top}); own(text, x, y); }; s.show(); delete c.fillText;"
            "for (const a of all) if (a.l < 0 || a.r > g.size.x || a.top < 0 || a.top + 9 > g.size.y) out.push(a.text);"
            "all.forEach((a, i) => all.slice(0, i).forEach(b => { if (a.l < b.r && b.l < a.r && Math.abs(a.top - b.top) < 9) out.push([a.text, b.text]); })); return out")
# Ends of axes, of their marks and of the scale bar that are not inside the picture.
OUTSIDE = ("const s = curvebody.shown, g = s.guides, out = [], own = g.stroke; g.stroke = (c, a, b) => { own.call(g, c, a, b);"
           "for (const p of [a, b]) if (p.some((v, i) => v < 0 || v > (i ? g.size.y : g.size.x))) out.push(p); }; s.show(); delete g.stroke; return out")
CURVES = ("return Array.from(document.querySelectorAll('#side > details[open], .charts > details[open]')).map(d => ({name: d.dataset.name, "
          "title: d.querySelector('summary').textContent, curves: Array.from(d.querySelectorAll('.curves span')).map(s => s.textContent), "
          "lines: (curvebody.shown.plots ? curvebody.shown.plots.open : []).filter(m => m.box === d).map(m => m.graph.getLabels().slice(1))}))")
MAP = ("const c = curvebody.shown.charts.find(c => c.array.name === arguments[0]), of = c.canvas.getContext('2d').getImageData(66, 16, 380, 330).data, "
       "all = new Set(); for (let i = 0; i < of.length; i += 44) all.add(of[i] + ',' + of[i + 1] + ',' + of[i + 2]); "
       "return [c.plan.kind, all.size, c.legend.textContent, c.plan.x, c.plan.y || '']")
CATENOID = """
curvebody: 1
title: a particle on a catenoid
space:
  metric: [["cosh(u)^2"], [0, "cosh(u)^2"]]
  periodic: [0, 2*pi]
  plot: [cosh(u)*cos(v), cosh(u)*sin(v), u]
bodies: [{kind: particles, name: p, mass: 1, place: {points: [[0.5, 0]]}, motion: {velocities: [[-0.3, 0.7]]}}]
integrator: {name: lobatto, step: 0.05}
time: {end: 2}
"""
SWEEP = """
curvebody: 1
title: %(title)s
sweep:
  scenario: %(scenario)s
  set:
    system.parameters: {m1: 1, m2: 1, l1: 1, l2: 1, g: 1}
    integrator: {name: rk4, step: 0.05}
    time: {end: 1}
    record: {every: 1, observables: [energy]}
  over:
    - {key: system.position.0, from: -3, to: %(to)s, count: 8, name: a}
%(second)s
  collect: {start: first(potential_energy), still: first(energy) - first(energy)}
"""


def filled(painted):
    """The share of the width or the height of the picture between the first and the last painted column or row."""
    return max((np.ptp(np.nonzero(painted.any(axis=axis))[0]) + 1) / painted.shape[1 - axis] for axis in (0, 1))


class First(Folder):
    @classmethod
    def setUpClass(cls):
        cls.browser, cls.kept, cls.pages = Browser(1100, 700), tempfile.mkdtemp(), {}

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        shutil.rmtree(cls.kept)

    def setUp(self):
        super().setUp()
        self.browser.console()

    def shown(self, b, name):
        scenario, sets = MORE.get(name) or KINDS[name]
        if name not in self.pages:
            self.pages[name] = page(record(self.kept, name, os.path.join(SCENARIOS, scenario + ".yaml"), sets))
        b.open(self.pages[name])

    def test_what_moves_fills_the_picture_that_says_what_it_is(self):
        b = self.browser
        for name, caption in NAMES.items():
            self.shown(b, name)
            frame, marks, scale, told = b.js(FILLED)
            share = filled(b.painted())
            self.assertTrue(0.2 <= share <= 0.8, f"{name}: {share} of the picture {frame}")
            self.assertEqual(told.removesuffix(", triangle in the centre"), caption, name)
            axes = ["x", "y"] if name in ("e2", "pendulum", "leg") else ["x", "y", "w"] if name == "h2" else ["x", "y", "z"]
            self.assertEqual([m.split()[0] for m in marks], axes, name)
            self.assertEqual(b.js(OVERLAPS), [], name)
            self.assertEqual(b.js(OUTSIDE), [], name)
            self.assertRegex(scale, r"^[0-9.e+-]+( m)?(, in the middle)?$", name)
            self.assertEqual(b.console(), [], name)

    def test_the_complete_ball_is_in_the_picture_if_asked_for(self):
        b = self.browser
        for name in ("rod", "s3", "s2", "h2xe"):
            self.shown(b, name)
            edge = b.js("const s = curvebody.shown; s.framing.value = 'space'; s.framing.dispatchEvent(new Event('change'));"
                        "const far = s.extent.far; return curvebody.Guides.rectangle(s.scene.edge(), s.extent)")
            self.assertLess(max(map(abs, edge)), 1, name)
            self.assertGreater(max(map(abs, edge)), 0.3, name)
        self.shown(b, "e3")
        self.assertEqual(b.js("return Array.from(curvebody.shown.framing.options).map(o => o.value)"), ["body", "motion"])

    def test_the_scale_bar_is_a_true_length(self):
        """Points at the distances d and d + h on a geodesic through the origin are h apart."""
        b = self.browser
        for name in ("rod", "s3", "h2xe", "e3"):
            self.shown(b, name)
            for d in (0, 0.3, 0.8):
                plotted, told = b.js("const s = curvebody.shown, q = s.scene.space, at = d => q.shown(q.exp([0.6 * d, -0.8 * d, 0])), "
                                     "[d, h] = arguments, a = at(d), b = at(d + h); return [Math.hypot(...a.map((v, i) => v - b[i])) / h, s.guides.trueLength(a)]",
                                     d, 1e-5)
                self.assertAlmostEqual(told / plotted, 1, delta=1e-4, msg=name)  # ten times the difference h

    def test_the_numbers_of_axes_are_where_the_camera_shows_them(self):
        b = self.browser
        self.shown(b, "e2")
        marks = b.js("const s = curvebody.shown, g = s.guides, out = [[], []], [x, y] = s.extent.t; let at, axis = 0;"
                     "g.stroke = (c, a) => at = a; g.text = (c, text) => isNaN(text) ? axis++ : out[axis].push([+text, at[axis]]); s.show();"
                     "return out.map((marks, e) => marks.map(([v, pixel]) => { const p = new THREE.Vector3(e ? x : v, e ? v : y, 0).project(s.camera);"
                     "return [pixel, e ? (1 - p.y) / 2 * g.size.y : (1 + p.x) / 2 * g.size.x]; }))")
        for axis in marks:
            self.assertGreaterEqual(len(axis), 2)
            for drawn, seen in axis:
                self.assertAlmostEqual(drawn, seen, delta=4)  # pixels: the plane is seen at a small angle

    def named(self, panels, name):
        self.assertGreater(len(panels), 0, name)
        for p in panels:
            self.assertRegex(p["title"], r"\(.+\)", name)
            for curve in p["curves"]:
                self.assertRegex(curve, r"^— \S.* \(.+\)$", f"{name} {p['name']}")
                self.assertNotRegex(curve, r"^— \d", f"{name} {p['name']}")  # a number alone is no name
            for lines in p["lines"]:
                self.assertEqual([f"— {line}" for line in lines], [c[:c.rindex(" (")] for c in p["curves"]])

    def test_every_curve_has_a_name_and_a_unit_and_no_plot_is_empty(self):
        b = self.browser
        for name in ("rod", "s3", "e3", "leaf", "pendulum", "joints", "purcell"):
            self.shown(b, name)
            panels = b.js(CURVES)
            self.named(panels, name)
            for p in panels:
                self.assertTrue(p["curves"], f"{name} {p['name']}")
            every = b.js("return curvebody.shown.page.series.flatMap(s => s.curves)")
            self.assertEqual([c for c in every if not c.strip(" 0123456789")], [], name)  # also in closed plots
            series = b.js("return curvebody.shown.plots.open.map(m => [m.series.name, Array.from(m.series.value.data), m.series.labels.length])")
            for label, value, columns in series:
                v = np.array(value, float).reshape(-1, columns)
                self.assertGreater(np.nanmax(np.ptp(v, axis=0)), 1e-12 * np.nanmax(np.abs(v)), f"{name}: {label} is constant")
            self.assertEqual(b.console(), [], name)

    def test_each_part_of_a_vector_has_its_own_unit(self):
        b = self.browser
        for name, series, units in (("tied", "twist", {"ball angular x": "rad/s", "ball linear x": "m/s"}), ("joints", "angle", {"waist": "rad"}),
                                    ("fly", "angle", {"rail": "m", "left.1": "rad"})):
            self.shown(b, name)
            legend = next(p["curves"] for p in b.js(CURVES) if p["name"] == series)
            for curve, unit in units.items():
                self.assertIn(f"— {curve} ({unit})", legend)

    def test_a_record_without_positions_is_plots_side_by_side(self):
        b = self.browser
        self.shown(b, "ball")
        boxes = b.js("return Array.from(document.querySelectorAll('#side > section, #side > details[open]')).map(e => e.getBoundingClientRect()).map(r => [r.left, r.top, r.width])")
        self.assertGreater(len(boxes), 3)
        self.assertEqual(boxes[0][1], boxes[1][1])
        self.assertGreater(boxes[1][0], boxes[0][0] + 290)  # the map of the shapes is 300 pixels wide
        self.assertEqual(b.js("return document.querySelector('.stage').getBoundingClientRect().height"), 0)
        self.assertEqual(b.console(), [])
        self.shown(b, "limited")  # it gets a vertical scroll bar while its plots are made
        self.assertLessEqual(*b.js("const e = document.scrollingElement; return [e.scrollWidth, e.clientWidth]"))

    def test_a_rod_from_a_fixed_point_is_drawn(self):
        b = self.browser
        self.shown(b, "tied")
        for k in (0, 50):
            rod, centre = b.js("const s = curvebody.shown; s.go(arguments[0]); return [s.built.segments.filter(q => q.colour === '#222222').map(q => [q.a, q.b]), s.pixels().pop().p]", k)
            (fixed, end), = np.array(rod)[:, :, :3]
            np.testing.assert_array_equal(fixed, 0)
            self.assertAlmostEqual(np.linalg.norm(end), 1, delta=1e-6)  # positions in the page are single precision
            np.testing.assert_allclose(end, centre, rtol=0, atol=1e-6)
        self.assertEqual(b.js("return curvebody.shown.view.frame"), "motion")

    def test_straight_bonds_take_no_space(self):
        """The eel of the bundle has 1872 bonds at 101 rows. Nine points of three numbers on each would be 20 MB."""
        b = self.browser
        self.shown(b, "waving")
        self.assertLess(os.path.getsize(self.pages["waving"]), 2e6)
        bonds, drawn = b.js("const s = curvebody.shown; return [s.page.particles.bond_i.data.length, s.built.segments.filter(q => q.colour === '#222222').length]")
        self.assertGreater(bonds, 1000)
        self.assertEqual(drawn, bonds)

    def test_names_of_axes_do_not_overlap_on_a_sphere(self):
        self.shown(self.browser, "sphere")
        self.assertEqual(self.browser.js(OVERLAPS), [])

    def test_round_off_is_folded_with_the_reason(self):
        """The triangle in E3 is rigid and free: its energy and its sides change only by round-off."""
        b = self.browser
        self.shown(b, "e3")
        folded = b.js("return Array.from(document.querySelectorAll('.folded details summary')).map(s => s.textContent)")
        self.assertFalse(b.js("return document.querySelector('.folded').open"))
        for name in ("separation", "energy", "kinetic energy"):
            self.assertTrue([f for f in folded if f.startswith(name + " (") and "constant" in f], f"{name}: {folded}")
        self.assertTrue([f for f in folded if f.startswith("potential energy") and f.endswith("always zero")], folded)

    def test_bonds_are_named_by_their_particles(self):
        b = self.browser
        self.shown(b, "rod")
        self.assertEqual(b.js("return curvebody.shown.page.series.find(s => s.name === 'separation').curves"), ["rod.0-rod.1"])

    def test_time_runs_as_in_reality_if_it_is_in_seconds(self):
        b = self.browser
        for name, rate in (("leaf", 1), ("rod", 0.3)):  # 3 units of time are shown in ten seconds
            self.shown(b, name)
            passed = b.js("const s = curvebody.shown, start = performance.now(); let step; window.requestAnimationFrame = f => step = f; s.play(); "
                          "step(performance.now() + 150); s.play(); const t = s.frames.time; return [t[s.k], t[1] - t[0], 0.15]")
            self.assertAlmostEqual(passed[0], rate * passed[2], delta=passed[1] + 0.05)

    def test_a_path_of_each_particle_is_drawn(self):
        b = self.browser
        self.shown(b, "e3")
        ends = b.js("const s = curvebody.shown, n = s.frames.count; s.go(0); const count = () => s.built.segments.filter(q => q.width === 1).length; "
                    "const a = count(); s.view.trail = false; s.show(); return [a, count(), n]")
        self.assertEqual(ends[:2], [3 * (ends[2] - 1), 0])

    def test_arms_end_at_the_joints_of_the_double_pendulum(self):
        b = self.browser
        self.shown(b, "pendulum")
        for k in (0, 100):
            lines, mass = b.js("const s = curvebody.shown; s.go(arguments[0]); return [s.built.segments.slice(0, 2).map(q => [q.a, q.b]), s.pixels()[0].p]", k)
            (pivot, first), (second, end) = np.array(lines)[:, :, :3]
            np.testing.assert_allclose(pivot, 0, rtol=0, atol=1e-6)  # positions in the page are single precision
            self.assertAlmostEqual(np.linalg.norm(first), 1, delta=1e-6)
            np.testing.assert_array_equal(first, second)
            self.assertAlmostEqual(np.linalg.norm(end - second), 0.8, delta=1e-6)
            np.testing.assert_allclose(end, mass, rtol=0, atol=1e-6)
        self.assertEqual(b.console(), [])

    def test_the_surface_of_a_metric_of_two_dimensions_is_drawn(self):
        """On the catenoid x^2 + y^2 = cosh(z)^2."""
        b, path = self.browser, os.path.join(self.folder, "catenoid.yaml")
        with open(path, "w") as file:
            file.write(CATENOID)
        b.open(page(record(self.folder, "catenoid", path)))
        x = np.array(b.js("return Array.from(curvebody.shown.scene.lattice.data)")).reshape(-1, 3)
        np.testing.assert_allclose(np.hypot(x[:, 0], x[:, 1]), np.cosh(x[:, 2]), rtol=1e-6)  # single precision
        self.assertGreater(np.ptp(np.arctan2(x[:, 1], x[:, 0])), 6)  # a complete period
        self.assertGreater(b.js("return curvebody.shown.built.segments.filter(q => q.colour === '#cccccc').length"), 1000)
        self.assertEqual(b.js("return curvebody.shown.framing.options[2].textContent"), "frame: complete surface")
        self.assertEqual(b.console(), [])

    # --- pages of files that are not records ---

    def made(self, *words):
        done = call(*words, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return page(os.path.join(self.folder, words[words.index("-o") + 1]))

    def sweep(self, name, second="", to=3):
        path = os.path.join(self.folder, name + ".yaml")
        with open(path, "w") as file:
            file.write(SWEEP % {"title": name, "second": second, "to": to, "scenario": os.path.join(SCENARIOS, "systems/double-pendulum.yaml")})
        return self.made("sweep", path, "-o", name + ".h5")

    def test_a_sweep_over_two_axes_is_maps(self):
        b = self.browser
        b.open(self.sweep("two", "    - {key: system.position.1, from: -2, to: 2, count: 6, name: b}"))
        kind, colours, legend, x, y = b.js(MAP, "start")
        self.assertEqual((kind, x, y), ("map", "a", "b"))
        self.assertGreater(colours, 10)
        self.assertEqual(legend, "start (no unit) as colour")
        self.assertIn("48 of 48 members done", b.js("return document.querySelector('header').textContent"))
        self.assertIn("still: first(energy) - first(energy) (no unit): always zero", b.js("return document.querySelector('.folded').textContent"))
        self.assertEqual(b.js("return document.querySelectorAll('.charts > details[open]').length"), 1)
        self.assertEqual(b.console(), [])

    def test_a_map_has_the_values_of_its_array_at_their_places(self):
        """The energy -2 cos a - cos b of -3 <= a <= 0 and -2 <= b <= 0.5 has another value at each corner. From red to blue,
        these values fall."""
        b = self.browser
        b.open(self.sweep("two", "    - {key: system.position.1, from: -2, to: 0.5, count: 6, name: b}", to=0))
        corners = [(72, 346), (72, 22), (442, 346), (442, 22)]  # (-3, -2): 2.4, (-3, 0.5): 1.1, (0, -2): -1.6, (0, 0.5): -2.9
        colours = b.js("const c = curvebody.shown.charts[0].canvas, d = c.getContext('2d', {willReadFrequently: true}); return arguments[0]"
                       ".map(p => Array.from(d.getImageData(...p, 1, 1).data))", corners)
        redness = [c[0] - c[2] for c in colours]
        self.assertEqual(redness, sorted(set(redness), reverse=True))
        self.assertGreater(redness[1], 0)
        self.assertLess(redness[2], 0)

    def test_a_sweep_over_one_axis_is_curves(self):
        b = self.browser
        b.open(self.sweep("one"))
        self.named(b.js(CURVES), "one")
        value = b.js("const p = curvebody.shown.charts[0].plot; return [p.getLabels(), Array.from({length: p.numRows()}, (_, i) => [p.getValue(i, 0), p.getValue(i, 1)])]")
        self.assertEqual(value[0], ["x", "start"])
        a = np.linspace(-3, 3, 8)
        np.testing.assert_allclose(value[1], np.stack([a, -2 * np.cos(a) - np.cos(1)], axis=1), rtol=0, atol=1e-12)
        self.assertEqual(b.console(), [])

    def test_failed_members_are_counted(self):
        b, path = self.browser, os.path.join(self.folder, "one.h5")
        self.sweep("one")
        with h5py.File(path, "r+") as f:
            f["status"][2], f["start"][2] = 2, np.nan
        b.open(page(path))
        self.assertIn("7 of 8 members done, 1 failed: their values are left out", b.js("return document.querySelector('header').textContent"))
        self.assertEqual(b.js("return curvebody.shown.charts[0].plot.getValue(2, 1)"), None)
        self.assertEqual(b.console(), [])

    def test_a_sweep_that_has_not_ended_is_refused(self):
        path = os.path.join(self.folder, "half.h5")
        layout = h5py.VirtualLayout(shape=(4,), dtype="f8")
        layout[:2] = h5py.VirtualSource("half.h5.parts/000001.h5", "upper", shape=(2,))
        with h5py.File(path, "w") as f:
            f.attrs["sweep_digest"] = ""
            f.create_virtual_dataset("upper", layout)
        done = call("view", path, cwd=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, f"{path}: error: the sweep has not ended: expected a complete sweep; the same command `curvebody sweep` continues it\n")

    def test_an_array_beyond_the_size_of_a_page_is_named(self):
        path = os.path.join(self.folder, "big.h5")
        with h5py.File(path, "w") as f:
            f.attrs["sweep_digest"] = ""
            for name in "abc":
                f[name] = np.zeros(400000)  # a page has at most 2^20 numbers
        done = call("view", path, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, f"curvebody: warning: {path}: the page has no space for all arrays; `c` is left out of it\n"))

    def test_the_curvature_is_a_map_with_the_gait(self):
        b = self.browser
        b.open(self.made("gait", os.path.join(SCENARIOS, "locomotion/purcell.yaml"), "curvature", "--grid", "21x21", "-o", "map.h5"))
        kind, colours, legend, x, y = b.js(MAP, "curvature")
        self.assertEqual((kind, x, y), ("map", "alpha1", "alpha2"))
        self.assertGreater(colours, 20)
        self.assertIn("black: the gait", legend)
        self.assertEqual(b.js("return Array.from(document.querySelector('details select').options).map(o => o.textContent)"),
                         ["algebra v_x", "algebra v_y", "algebra omega"])
        self.assertEqual(b.console(), [])

    def test_a_family_is_curves_over_the_target_and_gaits(self):
        b = self.browser
        b.open(self.made("gait", os.path.join(SCENARIOS, "optimum/purcell.yaml"), "family", "--move", "0.01:0.04", "--members", "3",
                         "-o", "family.h5"))
        self.named(b.js(CURVES), "family")
        loops = b.js("const c = curvebody.shown.charts.find(c => c.array.name === 'shape'); return [c.plan.kind, c.names]")
        self.assertEqual(loops, ["loops", ["target 0.01", "target 0.025", "target 0.04"]])
        self.assertEqual(b.js("return curvebody.shown.charts.find(c => c.array.name === 'cost').plot.getOption('xlabel')"),
                         "target: amount of the target (no unit)")
        self.assertEqual(b.console(), [])

    def test_single_numbers_of_an_optimum_are_text(self):
        b = self.browser
        b.open(self.made("gait", os.path.join(SCENARIOS, "optimum/purcell.yaml"), "optimize", "-o", "best.h5"))
        with h5py.File(os.path.join(self.folder, "best.h5"), "r") as f:
            cost = f["cost"][0]
        lines = b.js("return Array.from(document.querySelectorAll('.folded[open] p')).map(p => p.textContent)")
        self.assertAlmostEqual(float(next(line for line in lines if line.startswith("cost")).split(": ")[-1]), cost, delta=1e-7 * cost)  # 8 digits
        shape = b.js("const c = curvebody.shown.charts; return [c[0].array.name, c[0].names, c.some(c => c.array.name === 'cost')]")
        self.assertEqual(shape, ["shape", ["shape"], False])
        self.assertEqual(b.console(), [])

    def test_other_files_are_refused(self):
        path = os.path.join(self.folder, "other.h5")
        with h5py.File(path, "w") as f:
            f["x"] = np.arange(3)
        done = call("view", path)
        self.assertEqual((done.returncode, done.stderr), (2, f"{path}: error: this HDF5 file is not a record of curvebody\n"))


if __name__ == "__main__":
    unittest.main()
