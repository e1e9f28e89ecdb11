"""Simulations in the process of Python: step by step, with controls, and many together. They have the numbers of the program,
bit for bit; errors have the messages and places of the library."""
import gc
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

from package import BINARY, ROD, ROOT, SCENARIOS  # must be the first import: it ends the test if a library is missing

import curvebody
import h5py
import numpy as np

CART = {"curvebody": 1, "fluid": {"medium": "none", "gravity": [0, 0, 0]}, "controls": {"push": 1}, "time": {"end": 2},
        "bodies": [{"name": "cart", "shape": "ball", "mass": 2, "wrenches": [{"name": "motor", "force": ["push", 0, 0]}]}],
        "integrator": {"name": "hamilton_pontryagin", "step": 0.01}}


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
            with self.assertRaisesRegex(ValueError, r"x\[1\]: the point is not on h3"):
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


if __name__ == "__main__":
    unittest.main()
