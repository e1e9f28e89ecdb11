"""The Python package: a simulation in the process has the numbers of the program, bit for bit; loaded datasets have labels, units and the numbers of the record; distances of every space agree with the
library and with closed forms, also 40 radii out; points have the plot coordinates of the record; errors have the program's
messages."""
import glob
import gc
import gzip
import os
import signal
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

try:
    import h5py
    import netCDF4
    import numpy as np
    import xarray
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

BINARY = os.path.abspath(sys.argv.pop(1))
os.environ["CURVEBODY_PROGRAM"] = BINARY
os.environ["CURVEBODY_LIBRARY"] = os.path.join(os.path.dirname(BINARY), "libcurvebody.so")
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "src", "python"))
import curvebody

SCENARIOS = os.path.join(ROOT, "analysis", "scenarios")
ROD = os.path.join(SCENARIOS, "thesis", "elastic-rod-h3.yaml")
CART = {"curvebody": 1, "fluid": {"medium": "none", "gravity": [0, 0, 0]}, "controls": {"push": 1}, "time": {"end": 2},
        "bodies": [{"name": "cart", "shape": "ball", "mass": 2, "wrenches": [{"name": "motor", "force": ["push", 0, 0]}]}],
        "integrator": {"name": "hamilton_pontryagin", "step": 0.01}}
SEED = 20261124


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


class Simulations(unittest.TestCase):
    def test_steps_have_the_rows_of_the_program(self):
        for name, keys in (("thesis/elastic-rod-h3", ("energy", "separation", "position")), ("immersed/leaf", ("energy", "pose")),
                           ("locomotion/purcell", ("shape", "g"))):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "a.h5")
                scenario = os.path.join(SCENARIOS, name + ".yaml")
                subprocess.run([BINARY, "run", scenario, "-o", path, "--quiet"], check=True)
                with h5py.File(path) as f, curvebody.open(scenario) as sim:
                    keys = [key for key in keys if key in f]
                    self.assertTrue(keys)
                    for row in range(min(len(f["time"]), 40)):
                        sim.step(int(f["step"][row]) - sim.steps)
                        self.assertEqual(sim.time, f["time"][row])
                        for key in keys:
                            np.testing.assert_array_equal(sim.observe(key), f[key][row], err_msg=f"{name} {key} {row}")

    def check_record_from_python(self, scenario, end):
        with tempfile.TemporaryDirectory() as folder:
            a, b = os.path.join(folder, "a.h5"), os.path.join(folder, "b.h5")
            subprocess.run([BINARY, "run", scenario, "-o", a, "--quiet", "--set", f"time.end={end}"], check=True)
            with curvebody.open(scenario, output=b, time__end=end) as sim:
                while not sim.ended:
                    sim.step(7)
                events = sim.events
            self.assert_same_record(b, a)
            with h5py.File(a) as f:
                self.assertGreater(len(events), 0)
                self.assertEqual(len(events), len(f["event_time"]))
                for key in (key for key in f if key.startswith("event_") and f[key].ndim > 1):
                    np.testing.assert_array_equal(f[key][()], [event[key[len("event_"):]] for event in events], err_msg=key)
                return events[0]

    def test_a_record_from_python_is_that_of_the_program(self):
        self.assertIn("momentum", self.check_record_from_python(os.path.join(SCENARIOS, "collisions", "bouncing-e3.yaml"), 2))
        event = self.check_record_from_python(os.path.join(SCENARIOS, "joints", "chain-floor.yaml"), 0.6)
        self.assertEqual(event["pose"].shape, event["twist"].shape[:1] + (7,))

    def test_the_state_is_seen_set_copied_and_restored(self):
        with curvebody.open(ROD) as sim:
            before = sim.state["position"]
            start = before.copy()
            first = sim.checkpoint()
            sim.step(5)
            self.assertFalse(np.array_equal(start, before), "the view must show the new state")
            with self.assertRaises(ValueError):
                before[0, 0] = 1
            other = sim.copy()
            other.step(10)
            sim.step(10)
            np.testing.assert_array_equal(other.state["position"], sim.state["position"])
            self.assertEqual(other.time, sim.time)
            here = sim.observe("position")
            sim.restore(first)
            self.assertEqual((sim.time, sim.steps), (0, 0))
            np.testing.assert_array_equal(sim.state["position"], start)
            sim.step(15)
            np.testing.assert_allclose(sim.observe("position"), here, rtol=0, atol=1e-13)  # the history was deleted at other steps
            still = curvebody.open(ROD)
            still.set(momentum=0 * still.state["momentum"])
            self.assertEqual(still.observe("kinetic_energy"), 0)
            np.testing.assert_array_equal(still.observe("position"), start)
            with self.assertRaisesRegex(curvebody.Error, "`momenta` cannot be set: expected position, momentum"):
                sim.set(momenta=1)
            with self.assertRaisesRegex(ValueError, "expected .* numbers, found 1"):
                sim.set(momentum=[1.0])
            with self.assertRaisesRegex(curvebody.Error, "`energies` is not measured"):
                sim.observe("energies")

    def test_a_wrong_checkpoint_changes_nothing(self):
        with curvebody.open(ROD) as sim:
            first = sim.checkpoint()
            sim.step(5)
            kept = {name: array.copy() for name, array in sim.state.items()}
            with self.assertRaisesRegex(ValueError, "watch: expected .* numbers, found 77"):
                sim.restore({**first, "watch": np.zeros(77)})
            for state in {}, {"position": first["position"]}, {**first, "positions": 1}:
                with self.assertRaisesRegex(curvebody.Error, r"expected a result of checkpoint\(\), with time, step, position"):
                    sim.restore(state)
            for name, array in kept.items():
                np.testing.assert_array_equal(sim.state[name], array)

    def test_a_run_that_an_event_has_stopped_continues_from_another_state(self):
        stop = {"expression": {"chart": "polar", "value": "t - 0.2", "name": "half", "action": "stop"}}
        with curvebody.open(ROD, events=[stop], time__end=0.5) as sim:
            first = sim.checkpoint()
            for _ in range(2):
                self.assertEqual(sim.run().stopped_by, "half")
                self.assertAlmostEqual(sim.time, 0.2, delta=1e-12)
                self.assertFalse(sim.restore(first).ended)
            sim.run().set(momentum=sim.observe("momentum"))
            self.assertIsNone(sim.stopped_by)
            self.assertAlmostEqual(sim.run().time, 0.5, delta=1e-12)

    def test_a_copy_has_the_end_of_its_simulation(self):
        with curvebody.open(ROD) as sim:
            for sim.end in 0.1, 12345:
                self.assertEqual(sim.copy().end, sim.end)

    def test_a_closed_record_continues_from_the_last_state(self):
        """What was set from outside is kept: the numbers are those of the simulation that was not closed. The energy is not
        compared with that of the start, which would give a warning here."""
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("error", curvebody.Warning)
        for scenario, field, change in ((ROD, "position", lambda sim: sim.set(momentum=3 * sim.observe("momentum"))),
                                        (CART, "twist", lambda sim: sim.control.update(push=3))):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "a.h5")
                sim = curvebody.open(scenario, output=path, time__end=1)
                sim.step(10)
                change(sim)
                sim.step(23)
                with self.assertRaisesRegex(curvebody.Error, "use `restore` in a simulation without `output`"):
                    sim.restore(sim.checkpoint())
                other = sim.copy()
                sim.close()
                before = curvebody.load(path)[field].values
                after = curvebody.resume(path)[field].values
                np.testing.assert_array_equal(after[:len(before)], before)
                np.testing.assert_array_equal(after[-1], other.run().observe(field))
                self.assertTrue(curvebody.verify(path))

    def test_an_interrupted_run_continues_with_the_numbers_of_one_that_was_not(self):
        """Bit for bit, in all arrays, after a regular checkpoint at step 256: after Ctrl-C, an exception, and an early end."""
        def interrupt(sim):
            if sim.steps == 333:
                os.kill(os.getpid(), signal.SIGINT)

        def fail(sim):
            if sim.steps == 333:
                raise ZeroDivisionError

        def run(callback, failure):
            def ends(path):
                with self.assertRaises(failure), curvebody.open(ROD, output=path, time__end=5) as sim:
                    sim.run(callback=callback)
            return ends

        def early(path):
            with curvebody.open(ROD, output=path, time__end=5) as sim:
                for _ in range(333):
                    sim.step()

        with tempfile.TemporaryDirectory() as folder:
            whole, part = os.path.join(folder, "a.h5"), os.path.join(folder, "b.h5")
            subprocess.run([BINARY, "run", ROD, "-o", whole, "--set", "time.end=5", "--quiet"], check=True)
            for ends in run(interrupt, KeyboardInterrupt), run(fail, ZeroDivisionError), early:
                ends(part)
                self.assertEqual(curvebody.load(part).sizes["time"], 334)
                curvebody.resume(part)
                self.assert_same_record(part, whole)
                os.remove(part)

    def assert_same_record(self, path, wanted):
        with h5py.File(path) as f, h5py.File(wanted) as g:
            self.assertEqual(set(f), set(g))
            self.assertEqual(f.attrs["completed"], g.attrs["completed"])
            for key in g:
                if isinstance(g[key], h5py.Dataset) and g[key].dtype.kind in "fi":
                    np.testing.assert_array_equal(f[key][()], g[key][()], err_msg=key)

    def test_what_was_changed_is_kept_by_a_run_that_ended_or_was_stopped(self):
        """The record is resumed from a checkpoint that follows the change: the rows are those of a run that was not stopped."""
        for scenario, change in ((ROD, lambda sim: sim.set(momentum=1.1 * sim.observe("momentum"))),
                                 (CART, lambda sim: sim.control.update(push=sim.control["push"] + 1))):
            with tempfile.TemporaryDirectory() as folder:
                paths = [os.path.join(folder, name) for name in ("whole.h5", "ended.h5", "early.h5")]
                for path, end, last in zip(paths, (1, 0.405, 1), (1, 0.405, 0.4)):
                    with curvebody.open(scenario, output=path, time__end=end) as sim:
                        for _ in range(3):
                            sim.step(7)
                            change(sim)
                        sim.run(last)
                for path in paths[1:]:
                    curvebody.resume(path, until=1)
                    self.assert_same_record(path, paths[0])

    def test_a_body_in_a_fluid_is_placed_and_thrown(self):
        body = {"name": "ball", "shape": {"name": "ball", "radius": 0.1}, "density": 2000}
        with curvebody.open({"curvebody": 1, "fluid": {"medium": "none", "gravity": [0, 0, 0]}, "bodies": [body], "time": {"end": 2},
                             "integrator": {"name": "hamilton_pontryagin", "step": 0.01}}) as sim:
            pose, twist = sim.observe("pose"), sim.observe("twist")
            pose[0, :3], twist[0, 5] = (1, 2, 3), 0.25
            sim.set(pose=pose, twist=twist)
            sim.run(1)
            np.testing.assert_allclose(sim.observe("pose")[0, :3], (1, 2, 3.25), rtol=0, atol=1e-13)
        with curvebody.open(os.path.join(SCENARIOS, "joints", "robot-fish.yaml")) as sim:
            with self.assertRaisesRegex(curvebody.Error, r"`pose` cannot be set: .* open the scenario .* joints\.0\.angle; .* checkpoint\(\)"):
                sim.set(pose=sim.observe("pose"))

    def test_a_particle_is_placed_in_the_world(self):
        """In flat space with an origin 1.1 above the world's, and in hyperbolic space with origins that have moved."""
        with curvebody.open(os.path.join(SCENARIOS, "collisions", "bouncing-e3.yaml")) as sim:
            sim.set(world_position=[0, 0.1, 1.7])
            np.testing.assert_allclose(sim.observe("plot_position")[0], [0, 0.1, 1.7], rtol=0, atol=1e-15)
            np.testing.assert_allclose(sim.observe("position")[0], [0, 0.1, 0.6], rtol=0, atol=1e-15)
            with self.assertRaisesRegex(ValueError, "expected one of `position` and `world_position`"):
                sim.set(world_position=[[0, 0, 2]], position=[[0, 0, 2]])
        with curvebody.open(ROD) as sim:
            sim.run(3)
            self.assertGreater(sim.observe("origin")[0, 0], 0.5)
            h, place = curvebody.Space.of(sim), curvebody.to_world(sim)
            place[0] = h.geodesic(place[0], place[1], 3)[1]
            sim.set(world_position=place)
            np.testing.assert_allclose(curvebody.to_world(sim), place, rtol=1e-13)
            with self.assertRaisesRegex(ValueError, r"x\[1\]: expected a point"):
                sim.set(world_position=place * [[1], [2]])

    def test_a_control_is_set_between_steps(self):
        with curvebody.open(CART) as sim:
            sim.control["push"] = 3
            sim.step(10)
            self.assertEqual(list(sim.observe("control")), [3])
            self.assertEqual(sim.labels("control_name"), ["push"])
            self.assertAlmostEqual(sim.observe("twist")[0, 3], 0.15, delta=1e-14)
            other = sim.copy()
            sim.control["push"] = -3
            sim.step(10)
            self.assertAlmostEqual(sim.observe("twist")[0, 3], 0, delta=1e-14)
            self.assertAlmostEqual(other.step(10).observe("twist")[0, 3], 0.3, delta=1e-14)
            with self.assertRaisesRegex(KeyError, "no control `pull`: its controls are push"):
                sim.control["pull"] = 1

    def test_run_goes_to_a_time_and_beyond_the_end(self):
        with curvebody.open(ROD, time__end=1) as sim:
            seen = []
            sim.run(0.3, callback=lambda s: seen.append(s.time))
            self.assertAlmostEqual(sim.time, 0.3, delta=1e-12)
            self.assertEqual(len(seen), sim.steps)
            sim.run(callback=lambda s: s.time > 0.5)
            self.assertAlmostEqual(sim.time, 0.5 + sim.step_size, delta=1e-9)
            sim.run()
            self.assertTrue(sim.ended)
            sim.run(2)
            self.assertAlmostEqual(sim.time, 2, delta=1e-12)
            with curvebody.open(ROD, time__end=2) as whole:
                np.testing.assert_array_equal(whole.run().state["position"], sim.state["position"])
        self.assertTrue(sim.ended)
        self.assertEqual((sim.steps, sim.end, sim.stopped_by, sim.events, sim.warnings), (200, 2, None, [], []))
        self.assertAlmostEqual(sim.time, 2, delta=1e-12)
        for use in (sim.step, sim.run, sim.observe, sim.checkpoint, sim.copy, lambda: sim.resolved,
                    lambda: sim.labels("particle"), lambda: sim.set(momentum=0), lambda: sim.state_fields):
            with self.assertRaisesRegex(curvebody.Error, "is closed"):
                use()
        sim.close()
        self.assertIn("closed", repr(sim))

    def test_arrays_of_the_state_and_controls_outlive_their_simulation(self):
        sim = curvebody.open(ROD)
        position = sim.step(5).state["position"]
        kept = position.copy()
        cart = curvebody.open(CART)
        control = cart.control
        control["push"] = 3
        for closed in sim, cart:
            closed.close()
        del sim, cart, closed
        other = [curvebody.open(scenario) for scenario in (ROD, CART) for _ in range(20)]  # they would take the memory if it were free
        np.testing.assert_array_equal(position, kept)
        self.assertEqual(dict(control), {"push": 3})
        del other

    def test_a_simulation_that_nothing_refers_to_closes_its_record(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.h5")
            gc.disable()
            try:
                sim = curvebody.open(ROD, output=path).step(3)
                del sim
            finally:
                gc.enable()
            self.assertEqual(curvebody.load(path).sizes["time"], 4)

    def test_wrong_numbers(self):
        with curvebody.open(ROD) as sim:
            sim.step(10)
            with self.assertRaisesRegex(ValueError, "at least 0, found -1"):
                sim.step(-1)
            with self.assertRaises(TypeError):
                sim.step(2.5)
            with self.assertRaisesRegex(ValueError, "expected a time from 0.1"):
                sim.run(0.05)
            with self.assertRaisesRegex(ValueError, "momentum: expected finite numbers"):
                sim.set(momentum=np.full_like(sim.observe("momentum"), np.nan))
            with self.assertRaisesRegex(curvebody.Error, "expected a time after"):
                sim.end = 0.01
            with self.assertRaises(ZeroDivisionError):
                sim.run(callback=lambda _: 1 / 0)
            self.assertEqual(sim.steps, 11)

    def test_ctrl_c_leaves_a_whole_record_that_resumes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "long.h5")
            sim = curvebody.open(ROD, output=path, time__end=1e6)
            signal.setitimer(signal.ITIMER_REAL, 0.4)
            previous = signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
            with self.assertRaises(KeyboardInterrupt):
                sim.run()
            signal.signal(signal.SIGALRM, previous)
            with h5py.File(path) as f:
                self.assertGreater(len(f["time"]), 1)
                self.assertEqual(f.attrs["completed"], 0)
                last = float(f["time"][-1])
            self.assertGreater(float(curvebody.resume(path, until=last + 1).time[-1]), last + 0.5)

    def test_errors_and_warnings_have_places(self):
        with self.assertRaises(curvebody.Error) as wrong:
            curvebody.open(ROD, integrator__step=-1)
        self.assertEqual(wrong.exception.status, "input")
        self.assertEqual(len(wrong.exception.places), 1)
        for call in curvebody.open, curvebody.check, curvebody.run, curvebody.batch:
            for name, key in ("time_end", "time.end"), ("integrator_step", "integrator.step"):
                with self.assertRaisesRegex(curvebody.Error, f"unknown key '{name}'.*\nnote: .*`{key}` is the argument `{key.replace('.', '__')}`"):
                    call(ROD, **{name: 3})
            with self.assertRaises(curvebody.Error) as wrong:
                call(ROD, end_time=3)
            self.assertNotIn("underscores", str(wrong.exception))
        with self.assertRaisesRegex(curvebody.Error, "expected the keys|no run|integrator"):
            curvebody.open("curvebody: 1\nbundle: purcell\n")
        with self.assertWarnsRegex(curvebody.Warning, "the energy has changed by") as told:
            curvebody.open(ROD, set={"integrator": {"name": "rk4", "step": 0.7}, "time.end": 35}).run()
        self.assertEqual(os.path.basename(told.filename), os.path.basename(__file__))

    def test_numbers_of_numpy_are_scenarios(self):
        body = {"kind": "rod", "name": "a", "mass": np.float64(1), "link": {"spring": {"stiffness": np.int64(1), "rest": 1}},
                "place": {"chart": "cartesian", "points": np.array([[0, 0, 0], [1.2, 0, 0]])}}
        with curvebody.open({"curvebody": 1, "space": {"name": "e3"}, "bodies": [body], "time": {"end": np.float32(0.5)},
                             "integrator": {"name": "lobatto", "stages": 4, "step": 0.01}}) as sim:
            sim.run()
            self.assertAlmostEqual(sim.observe("separation")[0], 1 + 0.2 * np.cos(np.sqrt(2) * 0.5), delta=1e-9)

    def test_commands_as_functions(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rod.h5")
            curvebody.run(ROD, path, time__end=1)
            self.assertTrue(curvebody.verify(path))
            self.assertEqual(float(curvebody.resume(path, until=1.5).time[-1]), 1.5)
            table = curvebody.export(path, os.path.join(folder, "rod.csv"))
            with open(table) as file:
                self.assertIn("time", file.readline())
        self.assertIn("h3", str(curvebody.list("spaces")))


class ClosedLoops(unittest.TestCase):
    def test_a_loop_in_python_has_the_numbers_of_the_laws_of_the_scenario(self):
        """The robot fish keeps a heading: once by the laws of `controls`, once by the environment of the examples."""
        scenario = os.path.join(SCENARIOS, "joints", "robot-fish-heading.yaml")
        sys.path.insert(0, os.path.join(ROOT, "analysis", "examples"))
        import robot_fish

        keys = {f"bodies.{i}.shape.resolution": 8 for i in range(3)}
        with curvebody.open(scenario, set=keys) as law:
            law.run(2)
            real = curvebody.open
            robot_fish.curvebody.open = lambda *words, **more: real(*words, set=keys, **more)
            try:
                fish = robot_fish.RobotFish(scenario)
            finally:
                robot_fish.curvebody.open = real
            for again in range(2):  # the second time from the checkpoint of the start
                mean = 0.0
                fish.reset()
                while fish.sim.time < 2 - 1e-9:
                    mean += 0.1 * (fish.heading - mean)
                    fish.step(0.6 * (fish.goal - mean))
                np.testing.assert_allclose(fish.sim.observe("pose"), law.observe("pose"), rtol=0, atol=1e-10)
            self.assertGreater(abs(fish.heading), 0.01)


class Batches(unittest.TestCase):
    def test_members_have_the_numbers_of_single_simulations(self):
        for name, over in ((ROD, {"bodies.0.mass": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}),
                           (os.path.join(SCENARIOS, "locomotion", "purcell.yaml"), {"bundle.ratio": [1.5, 2, 2.5]})):
            with curvebody.batch(name, over=over) as b:
                self.assertEqual(len(b), len(next(iter(over.values()))))
                b.step(3).step(40).step(7)
                for i, sim in enumerate(b.members):
                    with curvebody.open(name, set={key: values[i] for key, values in over.items()}) as alone:
                        alone.step(50)
                        for key, value in alone.state.items():
                            np.testing.assert_array_equal(b.state[key][i], value, err_msg=f"{name} {key} {i}")
                    self.assertEqual(b.time[i], sim.time)

    def test_observe_set_and_run(self):
        with curvebody.batch(ROD, members=5, time__end=1) as b:
            momentum = b.observe("momentum")
            self.assertEqual(momentum.shape[0], 5)
            b.set(momentum=momentum * np.arange(5).reshape(-1, 1, 1))
            np.testing.assert_allclose(b.observe("kinetic_energy"), b.observe("kinetic_energy")[1] * np.arange(5) ** 2, rtol=1e-14)
            self.assertFalse(b.ended.any())
            with warnings.catch_warnings():
                warnings.simplefilter("error", curvebody.Warning)  # the energy is not compared with that of the start
                self.assertTrue(b.run().ended.all())
                np.testing.assert_allclose(b.run(1.5).time, 1.5, rtol=1e-14)
        with curvebody.batch(ROD, over={"bodies.0.mass": [1, 2], "integrator.step": [0.1, 0.05]}, product=True) as b:
            self.assertEqual(b.over["integrator.step"], [0.1, 0.05, 0.1, 0.05])
            b[1].step(3)
            np.testing.assert_allclose(b.run(1).time, 1, rtol=1e-14)
            with self.assertRaisesRegex(ValueError, "momentum: expected an array .* of 4 members, found the shape"):
                b.set(momentum=b.observe("momentum")[:3])
        for wrong in {"members": 0}, {"over": {"bodies.0.mass": []}}:
            with self.assertRaisesRegex(ValueError, "at least one"):
                curvebody.batch(ROD, **wrong)
        with self.assertRaisesRegex(curvebody.Error, r"^member 1, bodies\.0\.mass=-2:1:\d+: error: mass: expected"):
            curvebody.batch(ROD, over={"bodies.0.mass": [1, -2]})
        with self.assertRaisesRegex(curvebody.Error, "cannot read(.|\n)*member 0, with time.end = 3"):
            curvebody.batch("none.yaml", over={"time.end": [3]})
        with self.assertRaisesRegex(TypeError, "a batch writes no records"):
            curvebody.batch(ROD, members=2, output="a.h5")
        with self.assertRaisesRegex(ValueError, "equally many values"):
            curvebody.batch(ROD, over={"bodies.0.mass": [1, 2], "integrator.step": [0.1]})

    def test_a_member_that_fails_leaves_the_others(self):
        text = """curvebody: 1
system: {name: s, coordinates: [q], metric: [[1]], potential: "a*log(1 - q)", parameters: {a: 0}, position: [0], velocity: [0.5]}
integrator: {name: lobatto, stages: 3, step: 0.01}
time: {end: 1.9}
"""
        with curvebody.batch(text, over={"system.parameters.a": [0, 10, 0]}) as b:
            b.run()
            self.assertEqual([e is None for e in b.errors], [True, False, True])
            self.assertRegex(b.errors[1], "at time .*step")
            np.testing.assert_allclose(b.time[[0, 2]], 1.9, rtol=1e-14)


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
                with self.assertRaisesRegex(ValueError, r"^y\[1, 2\]: expected a point", msg=name):
                    call()
            for call in lambda: s.exp(y, 0 * y), lambda: s.plot_coordinates(y), lambda: s.local(y, o):
                with self.assertRaisesRegex(ValueError, r"^x\[1, 2\]: expected a point", msg=name):
                    call()
            with self.assertRaisesRegex(ValueError, "^y: expected a point"):
                s.distance(s.base(), wrong)
            self.assertEqual(s.distance(x, y, check=False)[0, 0], 0)
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
