"""The functions of the Python package that run commands and load records: datasets have labels, units and the numbers of the
record; errors and warnings are those of the program."""
import glob
import gzip
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

from package import BINARY, ROD, ROOT, SCENARIOS  # must be the first import: it ends the test if a library is missing

import curvebody
import h5py
import numpy as np
import xarray


class Records(unittest.TestCase):
    def test_run_is_the_record(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rod.h5")
            d = curvebody.run(ROD, path, time__end=1, set={"integrator.step": 0.1})
            with h5py.File(path) as f:
                for name in ("energy", "separation", "plot_position", "position", "killing_momentum"):
                    np.testing.assert_array_equal(d[name].values, f[name][:])
            self.assertEqual(d.energy.dims, ("time",))
            self.assertEqual(list(d.particle.values), ["rod.0", "rod.1"])
            self.assertIn("boost_x", list(d.killing.values))
            self.assertEqual(d.energy.attrs["units"], "1")
            self.assertIn("space:", d.attrs["scenario"])

    def test_a_record_of_an_older_version_has_the_names_of_today(self):
        old = os.path.join(ROOT, "tests", "data", "records-0.1", "rods.h5.gz")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rods.h5")
            with gzip.open(old) as packed, open(path, "wb") as out:
                out.write(packed.read())
            d = curvebody.load(path)
            with h5py.File(path) as f:
                np.testing.assert_array_equal(d.plot_position.values, f["x"][:])
                second = f["event_j"][:]
            np.testing.assert_array_equal(np.where(d.event_wall >= 0, -2 - d.event_wall, d.event_other), second)
            self.assertTrue({"start_moved", "x", "event_j"}.isdisjoint({*d.attrs, *d.variables}))

    def test_loaded_datasets_are_those_of_xarray_with_netcdf4(self):
        """But `scenario` and labels of particles are added, and xarray hides the attribute `coordinates`. netCDF4 cannot
        open the file of `gait .. path`, whose attribute `lines` has two dimensions."""
        at = lambda *names: os.path.join(SCENARIOS, *names)
        purcell = at("locomotion", "purcell.yaml")
        sweep = f"""curvebody: 1
sweep:
  scenario: {purcell}
  task: holonomy
  over: [{{key: bundle.ratio, from: 1, to: 2, count: 2}}, {{key: integrator.name, values: [magnus, rkmk4]}}]
  collect: {{way: "log[v_x]"}}
"""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "sweep.yaml"), "w") as file:
                file.write(sweep)
            for words in (["run", at("thesis", "elastic-rod-h3.yaml"), "--set", "time.end=0.5", "-o", "particles.h5"],
                          ["run", at("collisions", "head-on-s3.yaml"), "-o", "events.h5"],
                          ["run", at("immersed", "leaf.yaml"), "--set", "time.end=0.05", "-o", "fluid.h5"],
                          ["export", "fluid.h5", "--xdmf", "-o", "fluid.xdmf"],
                          ["run", purcell, "-o", "bundle.h5"],
                          ["sweep", "sweep.yaml", "-o", "sweep"],
                          ["gait", purcell, "curvature", "--grid", "5x5", "-o", "curvature.h5"],
                          ["gait", at("optimum", "purcell-far.yaml"), "optimize", "-o", "optimum.h5"],
                          ["geodesic", "h3", "--from=1,1,0", "--to=2,1,1", "-o", "geodesic.h5"]):
                subprocess.run([BINARY, *words], cwd=folder, check=True, capture_output=True)
            paths = sorted(glob.glob(folder + "/*.h5"))
            self.assertEqual(len(paths), 9)
            for path in paths:
                a = curvebody.load(path, surfaces=False)
                with xarray.open_dataset(path, engine="netcdf4", decode_times=False) as file:
                    b = file.load()
                if "particle_name" in b:
                    b = b.assign_coords(particle=("particle", b.particle_name.values.astype(str)))
                b.attrs.update({key: a.attrs[key] for key in ("scenario", "coordinates") if key in a.attrs})
                xarray.testing.assert_identical(a, b)
                self.assertEqual(*({name: v.dtype for name, v in data.variables.items()} for data in (a, b)))
            code = "import sys; sys.modules['netCDF4'] = None; sys.path.insert(0, sys.argv[1])\n" \
                   "import curvebody; curvebody.load(sys.argv[2])"
            subprocess.run([sys.executable, "-c", code, os.path.join(ROOT, "src", "python"), paths[0]], check=True)
            d = curvebody.gait(purcell, "path")
            self.assertEqual(d.plot_position.attrs["lines"].tolist(), d.lines.values.tolist())

    def test_a_text_and_a_dict_run(self):
        with open(ROD) as file:
            text = file.read()
        a = curvebody.run(text, time__end=0.5)
        b = curvebody.run({"curvebody": 1, "space": {"name": "e3"}, "bodies": [
            {"kind": "rod", "name": "a", "mass": 1, "link": {"spring": {"stiffness": 1, "rest": 1}},
             "place": {"chart": "cartesian", "points": [[0, 0, 0], [1.2, 0, 0]]}}],
            "integrator": {"name": "lobatto", "stages": 4, "step": 0.01}, "time": {"end": 0.5}})
        self.assertAlmostEqual(float(a.time[-1]), 0.5, delta=1e-12)
        # two unit masses on a spring of stiffness 1: omega^2 = k/mu = 2
        np.testing.assert_allclose(b.separation.values[:, 0], 1 + 0.2 * np.cos(np.sqrt(2) * b.time.values), atol=1e-9)

    def test_what_the_program_warns_of_is_a_warning(self):
        rough = {"integrator": {"name": "rk4", "step": 0.7}, "time.end": 35}
        with self.assertWarnsRegex(curvebody.Warning, "the energy has changed by .* try an integrator.step of") as told:
            d = curvebody.run(ROD, set=rough)
        self.assertEqual(os.path.basename(told.filename), os.path.basename(__file__))
        self.assertIn(str(told.warning), d.attrs["warnings"])
        with warnings.catch_warnings():
            warnings.simplefilter("error", curvebody.Warning)
            self.assertEqual(curvebody.run(ROD, time__end=0.5).attrs["warnings"], "")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cut.obj")
            with open(path, "w") as file:
                for i in range(2):
                    for x in (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1):
                        file.write("v %g %g %g\n" % tuple(c + 0.2 * i for c in x))
                    for f in (1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4):
                        file.write("f %d %d %d\n" % tuple(c + 4 * i for c in f))
            body = {"curvebody": 1, "fluid": {"medium": "water"}, "bodies": [{"name": "a", "mesh": path, "density": 1000}],
                    "integrator": {"name": "hamilton_pontryagin", "step": 0.01}, "time": {"end": 0.02}}
            for call in curvebody.check, curvebody.run:
                with self.assertWarnsRegex(curvebody.Warning, "cut each other"):
                    call(body)

    def test_run_replaces_no_unfinished_and_no_longer_record_unless_told(self):
        """The rules and the texts are those of the program, except for the names of the argument and of the function."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.h5")
            python = {"`run --force`": "`overwrite=True`", "`curvebody resume`": "`curvebody.resume`"}

            def refused(**more):
                with self.assertRaises(curvebody.Error) as wrong:
                    curvebody.run(ROD, path, **more)
                sets = [word for key, value in more.items() for word in ("--set", f"{key.replace('__', '.')}={value}")]
                done = subprocess.run([BINARY, "run", ROD, "-o", path, *sets], capture_output=True, text=True)
                text = done.stderr.splitlines()[0]
                for word, own in python.items():
                    text = text.replace(word, own)
                self.assertEqual(text, f"curvebody: error: {wrong.exception}")
                self.assertEqual(wrong.exception.status, "file")

            curvebody.run(ROD, path, time__end=0.4)
            curvebody.run(ROD, path, time__end=0.5)
            refused(time__end=0.3)
            refused(time__end=0.5, record__every=2)
            self.assertEqual(curvebody.run(ROD, path, time__end=0.3, overwrite=True).sizes["time"], 31)
            curvebody.run(ROD, path, callback=lambda sim: sim.steps == 5, overwrite=True)
            refused(time__end=1)
            curvebody.resume(path)
            with self.assertRaisesRegex(curvebody.Error, "exists already: expected another name, or `overwrite=True`"):
                curvebody.open(ROD, output=path)
            curvebody.open(ROD, output=path, overwrite=True).close()
            with open(path, "w") as file:
                file.write("no record")
            self.assertEqual(curvebody.run(ROD, path, time__end=0.3).sizes["time"], 31)

    def test_surfaces_and_events(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "leaf.h5")
            curvebody.run(os.path.join(SCENARIOS, "immersed", "leaf.yaml"), path, time__end=0.05)
            d = curvebody.load(path, surfaces=True)
            self.assertEqual(d.surface_plot_position.shape[0], d.sizes["time"])
            self.assertIn("event", d.dims)

    def test_gaits_and_space(self):
        answer = curvebody.gait(os.path.join(SCENARIOS, "locomotion", "purcell.yaml"))
        self.assertAlmostEqual(answer["g"][0], -0.04949902143, delta=1e-9)
        told = curvebody.space("h3", at=[1, 1, 0])
        self.assertAlmostEqual(told["metric"][1][1], np.sinh(1) ** 2, delta=1e-12)

    def test_what_is_refused(self):
        with self.assertRaisesRegex(curvebody.Error, "cannot read"):
            curvebody.run("/nowhere/x.yaml")
        with self.assertRaisesRegex(curvebody.Error, "error: .*stepp"):
            curvebody.check(ROD, integrator__stepp=1)
        with self.assertRaisesRegex(curvebody.Error, "the file does not exist"):
            curvebody.load("/nowhere/x.h5")
        with self.assertRaisesRegex(curvebody.Error, "h33"):
            curvebody.Space("h33")
        with self.assertRaisesRegex(curvebody.Error, "no chart"):
            curvebody.Space("h3").point([1, 1, 1], chart="polarr")
        with self.assertRaises(ValueError):
            curvebody.Space("h3").distance([1, 2], [3, 4])
        for version in "0.0.9", "0.1.1":
            with mock.patch.multiple("curvebody._library", __version__=version, _loaded=None):
                with self.assertRaisesRegex(curvebody.Error, f"version 0.1.0, and the Python package .* version {version}"):
                    curvebody.Space("h3")


if __name__ == "__main__":
    unittest.main()
