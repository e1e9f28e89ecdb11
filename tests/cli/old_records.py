#!/usr/bin/python3
"""Every command opens records of version 0.1 (two checkpoint slots, a digest of each row, older names of datasets), and
resume computes the same rows as version 0.1.

../data/records-0.1 has files that the last commit of version 0.1, bb38154, wrote with `--isa x86-64`: NAME-half.h5, and
NAME.h5 of the same scenario with a later end. rods: collisions/generic-e3, with events; bundle: locomotion/purcell; ball: a
body in a fluid, compressed; plate: systems/falling-plate. A killed process left killed.h5 and killed.h5.rescue.
"""
import glob
import gzip
import os
import shutil
import time

import h5py
import numpy as np
from command import ROD, Case, datasets, main

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "records-0.1")
NAMES = ("rods", "bundle", "ball", "plate")
KILLED = "killed.h5: error: version 0.1 was interrupted while it wrote the file: repair it with that version\n"
CLOSE = 1e-11  # relative to the largest number of a field; another compiler or processor rounds differently


def before_last(dataset):
    """The bytes of a dataset from datasets() without its last row, because a longer run has no row at this end."""
    shape, _, content = dataset
    return content[:len(content) // shape[0] * (shape[0] - 1)] if shape and shape[0] else b""


class OldRecords(Case):
    def setUp(self):
        super().setUp()
        for path in glob.glob(os.path.join(FOLDER, "*.gz")):
            with gzip.open(path) as file, open(self.path(os.path.basename(path)[:-3]), "wb") as out:
                shutil.copyfileobj(file, out)

    def test_they_open_in_every_command(self):
        self.write("new.yaml", ROD)
        self.good("run", "new.yaml", "-o", "new.h5")
        views = self.call("view", "new.h5").returncode  # 0 if three.js and dygraphs are installed
        for name in NAMES:
            path = name + "-half.h5"
            before = self.read(path)
            with h5py.File(self.path(path)) as file:
                rows, events = len(file["time"]), len(file["event_time"])
                self.assertEqual(file.attrs["curvebody_record"], 1)
                self.assertIn("slot1", file["checkpoint"])
                last = file["time"][-1]
            self.assertEqual(events > 0, name == "rods")
            self.assertIn(f" {rows} rows, {events} events, ", self.good("verify", path).stdout)
            self.good("export", path, "--csv", "-o", name + ".csv")
            lines = self.read(name + ".csv").decode().splitlines()
            self.assertEqual((len(lines), float(lines[-1].split(",")[0])), (rows + 1, last))
            self.assertEqual(os.path.exists(self.path(name + "-events.csv")), events > 0)
            self.good("export", path, "--xdmf", "-o", name + ".xdmf")
            if name != "ball":  # the surfaces of bodies are in a separate file
                self.assertIn(f"{path}:/x", self.read(name + ".xdmf").decode())
            self.assertEqual(self.call("view", path, "-o", name + ".html").returncode, views)
            self.assertEqual(self.call("classify", path).returncode, 0 if name in ("ball", "plate") else 2)
            self.assertIn(f"complete, {rows} rows", self.good("repair", path).stdout)
            self.assertEqual(self.read(path), before)
        self.assertIn("plate: undecided, ", self.good("classify", "plate-half.h5").stdout)

    def test_their_names_are_read_as_those_of_today(self):
        self.good("export", "rods-half.h5", "--csv", "--field", "plot_position", "--field", "plot_velocity", "-o", "rods.csv")
        rows = np.genfromtxt(self.path("rods.csv"), delimiter=",", skip_header=1)
        events = np.genfromtxt(self.path("rods-events.csv"), delimiter=",", names=True)
        with h5py.File(self.path("rods-half.h5")) as file:
            self.assertNotIn("plot_position", file)
            stored = np.concatenate([file[name][()].reshape(len(rows), -1) for name in ("x", "v")], axis=1)
            first, second = file["event_i"][()], file["event_j"][()]
        np.testing.assert_array_equal(rows[:, 2:], stored)
        np.testing.assert_array_equal(events["particle"], first)
        np.testing.assert_array_equal(events["other"], np.where(second < 0, -1, second))
        np.testing.assert_array_equal(events["wall"], np.where(second < 0, -2 - second, -1))
        done = self.call("export", "rods-half.h5", "--csv", "--field", "x", "-o", "x.csv")
        self.assertIn("x was renamed to plot_position", done.stderr)

    def test_they_go_on(self):
        """resume gives the rows of an uninterrupted run of version 0.1, and does not change the existing rows."""
        for name in NAMES:
            old, whole = datasets(self.path(name + "-half.h5")), self.path(name + ".h5")
            with h5py.File(whole) as file:
                end = repr(float(file["time"][-1]))
            self.good("resume", name + "-half.h5", "--until", end, "--quiet")
            self.assertFalse(os.path.exists(self.path(name + "-half.h5.parts")))
            with h5py.File(self.path(name + "-half.h5")) as file, h5py.File(whole) as expected:
                self.assertEqual(file.attrs["completed"], 1)
                self.assertEqual(file.attrs["curvebody_version"], expected.attrs["curvebody_version"])
                compared = 0
                for field in expected:
                    if not isinstance(expected[field], h5py.Dataset) or expected[field].dtype.kind == "O":
                        continue
                    a, b = file[field][()], expected[field][()]
                    self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype), field)
                    kept = before_last(old[field])
                    self.assertEqual(a.tobytes()[:len(kept)], kept, field)
                    if a.size:
                        self.assertTrue(np.allclose(a, b, rtol=0, atol=CLOSE * max(1, np.nanmax(np.abs(b))), equal_nan=True), field)
                    compared += 1
                self.assertGreater(compared, 20)
            self.assertIn("no errors", self.good("verify", name + "-half.h5").stdout)

    def test_one_that_goes_on_and_is_killed(self):
        """The old record becomes the first segment of the virtual file, and is joined with the others."""
        old = datasets(self.path("rods-half.h5"))
        run = self.start("resume", "rods-half.h5", "--until", "1e6", "--quiet")
        while not os.path.exists(self.path("rods-half.h5.parts/000002.h5")):
            self.assertIsNone(run.poll())
            time.sleep(0.01)
        time.sleep(0.3)
        run.kill()
        run.wait()
        for mend in False, True:
            if mend:
                self.good("repair", "rods-half.h5")
            with h5py.File(self.path("rods-half.h5")) as file:
                self.assertGreater(len(file["time"]), 100)
                self.assertTrue((np.diff(file["step"][()]) == 10).all())
                for field in "time", "x", "position", "energy", "event_time":
                    kept = before_last(old[field])
                    self.assertEqual(file[field][()].tobytes()[:len(kept)], kept, field)
        self.assertIn("no errors", self.good("verify", "rods-half.h5").stdout)

    def test_one_that_was_killed(self):
        for rescue in True, False:
            if not rescue:
                os.remove(self.path("killed.h5.rescue"))
            before = self.read("killed.h5")
            for words in ["verify"], ["repair"], ["resume"], ["view"], ["classify"], ["export", "--csv"], ["export", "--xdmf"]:
                done = self.call(words[0], "killed.h5", *words[1:])
                self.assertEqual((done.returncode, done.stderr.replace("curvebody: ", "")), (2, KILLED), words)
            self.assertEqual(self.read("killed.h5"), before)
            self.assertFalse(os.path.exists(self.path("killed.h5.parts")))


if __name__ == "__main__":
    main()
