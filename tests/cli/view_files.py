"""The file of a page: its size and bytes, rows omitted from long records, unusual records, wrong input, `--watch`.
needs: view"""
import os
import shutil
import signal
import subprocess
import time
import unittest

# must be the first import: it ends the test if a library is missing
from viewing import BINARY, call, Folder, page, record, SCENARIOS, until

import h5py
import numpy as np
from browser import Browser

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


class Files(Folder):
    """Tests of the files of pages."""

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
        path = record(self.folder, "rod", sets=["time.end=10", "integrator.step=0.0005", "record.observables=[energy, killing_momentum, separation]"])
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
                for part in np.array_split(np.arange(20001), 32):  # each part covers several bins, so that at least one bin lies inside
                    inner = part[20001 // n:-(20001 // n)]
                    kept = value[(rows >= part[0]) & (rows <= part[-1])]
                    if len(inner):
                        self.assertTrue((kept.max(axis=0) >= data[inner].max(axis=0)).all() and
                                        (kept.min(axis=0) <= data[inner].min(axis=0)).all(), s["name"])

    def test_no_peak_is_lost_of_many_columns(self):
        """Each column keeps its own rows: those with the minimum and maximum of each bin, and the first and last row."""
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
        """One row, nan and infinity, unusual names, and a title that is wider than the page."""
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
            for name in ("plot_position", "position", "energy"):
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
            self.assertGreater(b.painted().sum(), 20)

    def test_a_map_leaves_out_shapes_that_are_none(self):
        """Two balls swim; in the window of the map, away from the gait, they touch each other."""
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
            for asked, k in ((times[3], 3), (times[3] - 1e-6, 2), (times[6] + 5, 6), (-1, 0)):  # the time of a link selects the last frame at or before it
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
        """While the run continues, rows are added, and the shown time and camera do not change. After a kill the page says so
        and stops loading."""
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
                self.assertAlmostEqual(now[0], kept[0], delta=now[5])  # the last existing frame at or before it
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
