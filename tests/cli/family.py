#!/usr/bin/python3
"""Families of optimal gaits from the command line: members along a range and up to the maximum distance, events, steering,
and errors in the input.

    family.py BINARY
"""
import json
import os
import shutil
import signal
import unittest

from command import Case, main, sanitized

import h5py
import numpy as np
import xarray

PURCELL = """\
curvebody: 1
bundle: {name: purcell, links: 3}
gait: {fourier: {cosine: [[0.2, 0]], sine: [[0, 0.2]]}}
optimum: {starts: 0}
"""
# costs at the distances .001, .01, .03, .05 by shooting with Wong's equations
TABLE = {0.001: 0.003274173125, 0.01: 0.035480647743, 0.03: 0.126266414425, 0.05: 0.247785398952}
# the family of this swimmer turns back, and another branch starts from it; the test takes seconds
FOUR = """\
curvebody: 1
bundle: {name: purcell, links: 4}
gait: {fourier: {cosine: [[0.2, 0, 0.1]], sine: [[0, 0.2, 0.1]]}}
optimum: {starts: 0}
"""
# cost with |alpha| <= .7, by arcs and by shooting
HELD = 0.134475538116
OVER = 240  # number of members, which take seconds to compute
SEARCHES = unittest.skipIf(sanitized(), "too slow with sanitizers; test_family has such searches")
FARTHEST, EFFICIENT = 0.10353224, 0.0840325232


class Family(Case):
    def json(self, *words):
        return json.loads(self.good("gait", "p.yaml", "family", *words, "--json").stdout)

    def events(self, told, kind):
        return [event for event in told["events"] if event["kind"] == kind]

    def test_over_a_range(self):
        self.write("p.yaml", PURCELL)
        told = self.json("--move", "0.001:0.05", "--members", "50", "-o", "f.h5")
        self.assertEqual((told["members"], told["branches"], told["events"]), (50, 1, []))
        with xarray.open_dataset(self.path("f.h5")) as data:
            np.testing.assert_allclose(data.target, np.linspace(0.001, 0.05, 50), rtol=1e-14)
            for target, cost in TABLE.items():
                member = round(1000 * target) - 1
                np.testing.assert_allclose(data.cost[member], cost, rtol=3e-10)
            np.testing.assert_allclose(data.efficiency, data.target**2 / data.cost, rtol=1e-14)
            # dE/dX = 2 lambda; the error of the trapezium rule is 1e-3^2/12 times the change of 2 lambda', divided by E
            rise = np.sum((data.multiplier[1:].values + data.multiplier[:-1].values) * np.diff(data.target))
            np.testing.assert_allclose(rise, data.cost[-1] - data.cost[0], rtol=3e-5)
            self.assertEqual(data.shape.dims, ("member", "time", "variable"))
            np.testing.assert_allclose(data.shape[:, 0], data.shape[:, -1], rtol=0, atol=1e-14)
            self.assertTrue((data["index"] == 0).all() and (data.cheapest == 1).all() and (data.branch == 0).all())
            self.assertLess(float(data["tail"].max()), 1.1e-5)

    def test_to_the_farthest(self):
        self.write("p.yaml", PURCELL)
        told = self.json("--move", "0.01:fold", "--members", "20", "-o", "f.h5")
        np.testing.assert_allclose([e["target"] for e in self.events(told, "farthest")], [FARTHEST], rtol=1e-7)
        np.testing.assert_allclose([e["target"] for e in self.events(told, "efficient")], [EFFICIENT], rtol=1e-8)
        with xarray.open_dataset(self.path("f.h5")) as data:
            self.assertEqual(data.sizes["member"], 20)
            self.assertTrue((np.diff(data.target) > 0).all())
            self.assertGreater(float(data.multiplier[-1]), 1e3)
        text = self.good("gait", "p.yaml", "family", "--move", "0.01:fold", "--members", "3", "-o", "f.h5").stdout
        for word in ("1 branch, 3 gaits\n", "farthest     at 0.1035322", "efficient    at 0.0840325",
                     "cycles       at 0.10264201"):
            self.assertIn(word, text)

    @SEARCHES
    def test_both_branches(self):
        """Random starts also find the gaits that fold the outer links, which are cheaper for distances above .0156."""
        self.write("p.yaml", PURCELL)
        told = self.json("--move", "0.005:0.03", "--members", "6", "--starts", "24", "-o", "f.h5")
        cheaper, = self.events(told, "cheaper")
        np.testing.assert_allclose(cheaper["target"], 0.01561743408, rtol=1e-9)
        with xarray.open_dataset(self.path("f.h5")) as data:
            best = data.where(data.cheapest == 1, drop=True)
            self.assertEqual(len(set(data.branch.values)), 2)
            np.testing.assert_allclose(best.cost[best.target > 0.0299], 0.118182747176, rtol=1e-10)

    @SEARCHES
    def test_along_bounds(self):
        """After its gaits reach the bounds, the family continues to the gait that `optimize` finds, and to the maximum
        distance within the bounds."""
        self.write("p.yaml", PURCELL)
        told = self.json("--move", "0.01:0.03", "--members", "5", "--bounds=-.7:.7", "-o", "f.h5")
        self.assertEqual({e["other"] for e in self.events(told, "bound")}, {0, 1})
        with xarray.open_dataset(self.path("f.h5")) as data:
            np.testing.assert_allclose(data.target[-1], 0.03, rtol=1e-12)
            np.testing.assert_allclose(data.cost[-1], HELD, rtol=1e-11)
            np.testing.assert_allclose(abs(data.shape[-1]).max(), 0.7, rtol=1e-9)
            self.assertTrue((data["index"] == 0).all())
        done = self.call("gait", "p.yaml", "family", "--move", "0.03:0.05", "--members", "11", "--bounds=-.8:.8", "-o",
                         "f.h5")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("no branch of the family reaches 0.05: the last gait in f.h5 has the target 0.043", done.stderr)

    def test_steering(self):
        self.write("p.yaml", PURCELL)
        told = self.json("--move", "0:0.02", "--turn=-0.1:0.1", "--grid", "3x3", "--starts", "6", "-o", "g.h5")
        self.assertEqual((told["grid"], told["found"]), ([3, 3], 9))
        with xarray.open_dataset(self.path("g.h5")) as data:
            self.assertEqual(data.cost.dims, ("move", "turn"))
            self.assertEqual(float(data.cost[0, 1]), 0)
            # the reflected swimmer turns in the opposite direction at the same cost
            np.testing.assert_allclose(data.cost[:, 0], data.cost[:, 2], rtol=1e-7)
            # moving and turning cost at least as much as turning or moving with a free start of the cycle
            self.assertGreater(float(data.cost[0, 0]), 0.034936705669 * (1 - 1e-9))
            np.testing.assert_allclose(data.cost[1, 1], TABLE[0.01], rtol=1e-6)

    def refused(self, words, code, says):
        done = self.call(*words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(says, done.stderr)

    def test_a_number_and_a_range_at_once(self):
        self.write("p.yaml", PURCELL)
        self.refused(["gait", "p.yaml", "family", "--vary", "bundle.ratio=1.5:2", "--move", "0.01:0.03", "-o", "f.h5"], 2,
                     "--vary: error: expected one number for the target, found a range that ends with 0.03")

    def killed_and_run_again(self, scenario, *words):
        """A command that is killed and run again gives the same file as an uninterrupted one. While it runs, no other
        process can use the file; after the kill, no other command can. Returns the path of the file that was left."""
        self.write("p.yaml", scenario)
        words = ["gait", "p.yaml", "family", *words, "-o"]
        self.good(*words, "whole.h5")
        run = self.start(*words, "f.h5")
        self.wait_for("f.h5", run)
        self.refused(words + ["f.h5"], 3, "f.h5: in use: a run is writing it (process ")
        run.kill()
        self.assertLess(run.wait(), 0)
        shutil.copy(self.path("f.h5"), self.path("left.h5"))
        with h5py.File(self.path("left.h5")) as file:
            self.assertEqual(file.attrs["complete"], 0)
        self.good(*words, "f.h5")
        with h5py.File(self.path("f.h5")) as f, h5py.File(self.path("whole.h5")) as whole:
            self.assertEqual(set(f), set(whole))
            self.assertEqual((f.attrs["complete"], f.attrs["request"]), (1, whole.attrs["request"]))
            for name in whole:
                np.testing.assert_array_equal(f[name][()], whole[name][()], name)
        before = self.read("left.h5")
        self.refused(words[:3] + ["--move", "0.02:0.03", "-o", "left.h5"], 2,
                     "left.h5: error: this file was left by a different interrupted command (# curvebody")
        self.refused(words[:3] + ["--move", "0:0.01", "--turn=0:0.1", "--grid", "2x2", "-o", "left.h5"], 3,
                     "is not the result of a sweep")
        self.write("p.yaml", scenario + "# another\n")
        self.refused(words + ["left.h5"], 2, ", with another scenario or other options)")
        self.assertEqual(self.read("left.h5"), before)
        self.write("p.yaml", scenario)
        return self.path("left.h5")

    @SEARCHES
    def test_killed_and_run_again(self):
        words = ["--move", "0.08:fold", "--members", "5"]
        left = self.killed_and_run_again(FOUR, *words)
        shutil.copy(left, self.path("lies.h5"))
        with h5py.File(self.path("lies.h5"), "a") as file:
            file["state"][:, 8] = 1  # marks the branch as ended, so that it is followed again
        self.good("gait", "p.yaml", "family", *words, "-o", "lies.h5")
        with h5py.File(self.path("lies.h5")) as file, h5py.File(self.path("whole.h5")) as whole:
            np.testing.assert_allclose(file["event_target"], whole["event_target"], rtol=1e-12)
        with h5py.File(left, "a") as file:
            rows = len(file["target"])
            if rows < 3:
                return  # on a slow machine the command was killed before the branch began
            for name in [name for name, data in file.items() if data.shape[:1] == (rows,)]:
                first = file[name][:8]  # keeps the rows before the branch turns
                del file[name]
                file[name] = first
            target = file["target"][-1]
            file["state"][-1, 6] = 1  # marks the branch as complete at this row
        self.good("gait", "p.yaml", "family", *words, "-o", "left.h5")
        with h5py.File(left) as file:
            self.assertEqual(file["target"][file["branch"][:] == 0].max(), target)

    def killed_sweep(self, *words):
        """Kills a family that runs as a sweep after its first segment exists. No other command can use its folder, and the
        same command completes it to an identical file. Returns the words of the command, and the path of the segment."""
        self.write("p.yaml", PURCELL)
        words = ["gait", "p.yaml", "family", *words, "-o"]
        self.good(*words, "whole.h5")
        run = self.start(*words, "f.h5")
        self.wait_for("f.h5.parts/000001.h5", run)
        run.send_signal(signal.SIGSTOP)  # otherwise the run may end meanwhile on a busy machine
        self.refused(words + ["f.h5"], 3, "f.h5: in use: a run is writing it (process ")
        run.kill()
        self.assertLess(run.wait(), 0)
        told = json.loads(self.good("sweep", "--status", "f", "--json").stdout)
        self.assertTrue(told["left"] > 0 and not told["runs"], told)
        self.refused(words[:-1] + ["--seed", "2", "-o", "f.h5"], 2, "f.h5: error: another sweep was begun here: sweep.set.optimum.seed")
        shutil.copytree(self.path("f.h5.parts"), self.path("left.h5.parts"))
        self.good(*words, "f.h5")
        self.assertEqual(self.read("f.h5"), self.read("whole.h5"))
        self.assertFalse(os.path.exists(self.path("f.h5.parts")))
        return words, self.path("left.h5.parts/000001.h5")

    def test_killed_over_a_number(self):
        words, left = self.killed_sweep("--move", "0.03", "--set", "bundle.shares=[1, 1, 1]", "--vary",
                                        "bundle.shares.1=0.75:0.8", "--members", str(OVER))
        with h5py.File(left, "a") as file:
            self.assertTrue(2 < len(file["cost"]) < OVER)
            file["cost"][1] = 7  # cost of the second member: known results are not computed again
        self.good(*words, "left.h5")
        with h5py.File(self.path("left.h5")) as file, h5py.File(self.path("whole.h5")) as whole:
            np.testing.assert_allclose(file["varied"], np.linspace(0.75, 0.8, OVER), rtol=1e-14)
            self.assertEqual(file["cost"][1], 7)
            np.testing.assert_array_equal(file["cost"][2:], whole["cost"][2:])

    def test_killed_on_a_grid(self):
        _, left = self.killed_sweep("--move", "0:0.02", "--turn=-0.1:0.1", "--grid", "3x3", "--starts", "3")
        with h5py.File(left) as file:
            self.assertTrue((file["status"][()] == 0).all() and len(file["state"]) > 0)  # rows before the kill

    def test_as_a_sweep(self):
        """On a grid of two axes each search starts from the previous gait along the last axis, or, if there is none, along
        the first axis. It finds the same gaits as `optimize`."""
        self.write("p.yaml", PURCELL)
        self.write("s.yaml", "curvebody: 1\nsweep:\n  scenario: p.yaml\n  set: {optimum.target: {move: 0.03}, bundle.shares: "
                             "[1, 1, 1]}\n  task: family\n  keep: last\n  over:\n    - {key: bundle.shares.0, values: [1, 1.1]}\n"
                             "    - {key: bundle.shares.1, from: 0.9, to: 1, count: 3}\n")
        self.good("sweep", "s.yaml", "-o", "family")
        self.good("sweep", "s.yaml", "-o", "optimize", "--set", "sweep.task=optimize")
        with h5py.File(self.path("family.h5")) as family, h5py.File(self.path("optimize.h5")) as each:
            np.testing.assert_allclose(family["cost"], each["cost"], rtol=1e-11)
            np.testing.assert_allclose(np.hypot(*family["group"][()].T[:2]), 0.03, rtol=1e-9)  # the start of the cycle is free
        self.refused(["sweep", "s.yaml", "--shard", "1/2"], 2, "depend on each other: expected one process and no --shard")
        steering = ["sweep", "s.yaml", "--dry-run", "--set", "sweep.task=steering", "--set", "sweep.over.0.key=x"]
        self.refused(steering, 2, "unknown coordinate of the group 'bundle.shares.1'")
        self.good(*steering, "--set", "sweep.over.1.key=y")

    def test_refused(self):
        self.write("p.yaml", PURCELL)
        for words, code, says in (
                (["--move", "0:fold"], 2, "move: expected a distance > 0, found 0"),
                (["--move", "0:0.01", "--turn", "1"], 2, "error: expected only one target"),
                (["--move", "0:0.01", "--turn=-1:1", "--grid", "3"], 2, "--grid: error"),
                (["--move", "0:0.01", "--turn=1:1"], 2, "--turn: error: expected LO:HI, two numbers")):
            with self.subTest(words):
                done = self.call("gait", "p.yaml", "family", *words, "-o", "bad.h5")
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(says, done.stderr)
                self.assertFalse(os.path.exists(self.path("bad.h5")))

    def test_beyond_the_farthest(self):
        """The file has the gaits that were found, and the message reports the end."""
        self.write("p.yaml", PURCELL)
        done = self.call("gait", "p.yaml", "family", "--move", "0.05:0.2", "--members", "6", "-o", "f.h5")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("no branch of the family reaches 0.2: the last gait in f.h5 has the target 0.1035322", done.stderr)
        with xarray.open_dataset(self.path("f.h5")) as data:
            np.testing.assert_allclose(data.target, [0.05, 0.08, 0.1035322], rtol=1e-6)


if __name__ == "__main__":
    main()
