#!/usr/bin/python3
"""`curvebody verify`: a complete record of every kind has no error. A change in a record is reported with its place, and the
exit code is 2."""
import os
import shutil
import signal
import time

import h5py
from command import BALL, ROD, Case, main

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
KINDS = {"rod": ROD, "ball": BALL,
         "gait": "curvebody: 1\nbundle: {name: purcell, links: 3, ratio: 2}\ngait: {fourier: {mean: [0, 0], cosine: [[.5, 0]], sine: [[0, .5]]}}\n"
                "integrator: {name: magnus, order: 4, step: 0.01}\n"}
SCENARIOS = ["systems/double-pendulum", "thesis/h2xe-rigid-rod", "thesis/ih-curvature-detector", "networks/shell-h3",
             "collisions/collision-rods-e3", "locomotion/purcell", "curved-fluid/clifford"]


class Verify(Case):
    def setUp(self):
        super().setUp()
        self.write("rod.yaml", ROD)
        self.good("run", "rod.yaml", "-o", "rod.h5")

    def faults(self, expected, name="rod.h5"):
        """Checks that the lines of verify begin with the expected texts, in order."""
        done = self.call("verify", name)
        said = [line for line in done.stderr.splitlines() if not line.startswith("curvebody: note: ")]
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(len(said), len(expected), said)
        for line, words in zip(said, expected):
            self.assertTrue(line.startswith(f"{name}: error: {words}"), f"{line}\nexpected {words}")

    def test_whole_records_of_every_kind(self):
        for name, text in KINDS.items():
            self.write(name + ".yaml", text)
            self.good("run", name + ".yaml", "-o", name + ".h5")
        for path in SCENARIOS:
            name = os.path.basename(path)
            scenario = os.path.join(ROOT, "analysis/scenarios", path + ".yaml")
            if os.path.exists(scenario):
                self.good("run", scenario, "-o", name + ".h5", "--quiet")
                KINDS[name] = ""
        for name in KINDS:
            before = self.read(name + ".h5")
            done = self.good("verify", name + ".h5")
            self.assertIn("no errors", done.stdout)
            self.assertNotIn(" 0 states", done.stdout, name)
            self.assertEqual(self.read(name + ".h5"), before)
        self.assertEqual(self.good("verify", "rod.h5", "--quiet").stdout, "")

    def test_a_resumed_and_a_compressed_record(self):
        self.good("resume", "rod.h5", "--until", "3")
        self.good("verify", "rod.h5")
        self.good("run", "rod.yaml", "-o", "small.h5", "--set", "record.compress=4", "--set", "record.sync=never")
        self.good("verify", "small.h5")

    def flip(self, name, dataset, n):
        """Changes the lowest bit of a number of the first chunk directly in the file, without HDF5."""
        with h5py.File(self.path(name)) as f:
            chunk = f[dataset].id.get_chunk_info(0)
        at = chunk.byte_offset + n * 8
        with open(self.path(name), "r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1]))

    def test_a_bit_that_was_changed(self):
        """A bit of a number in any field or in the checkpoint. A record with a damaged checkpoint cannot be resumed."""
        whole = self.read("rod.h5")
        with h5py.File(self.path("rod.h5")) as f:
            rows = [name for name, item in f.items() if isinstance(item, h5py.Dataset) and item.chunks and item.shape[0]]
            state = ["checkpoint/" + name for name in f["checkpoint"]]
        self.assertGreater(len(rows), 5)
        self.assertGreater(len(state), 3)
        for name in rows:
            self.flip("rod.h5", name, 40 if name != "origin" else 0)
            said = self.call("verify", "rod.h5")
            self.assertEqual(said.returncode, 2)
            self.assertRegex(said.stderr, r"rod.h5: error: /\S+(:| of row 0 to 100) cannot be read: ", name)
            self.write("rod.h5", whole)
        for name in state:
            self.flip("rod.h5", name, 0)
            self.assertEqual(self.call("verify", "rod.h5").returncode, 2, name)
            done = self.call("resume", "rod.h5", "--until", "2")
            self.assertIn(done.returncode, (2, 3), name)
            self.assertIn("rod.h5: ", done.stderr)
            self.write("rod.h5", whole)

    def test_an_energy_that_is_not_of_the_state(self):
        with h5py.File(self.path("rod.h5"), "r+") as f:
            f["energy"][50] *= 1 + 1e-6
        self.faults(["/energy of row 50 is "])

    def test_a_state_that_was_changed(self):
        with h5py.File(self.path("rod.h5"), "r+") as f:
            f["momentum"][7, 0, 1] += 1e-3
        self.assertTrue(self.call("verify", "rod.h5").stderr.startswith("rod.h5: error: /plot_velocity of row 7 is "))

    def test_time_that_goes_back(self):
        with h5py.File(self.path("rod.h5"), "r+") as f:
            f["time"][60] = f["time"][59]
        self.faults(["/time of row 60 is "])

    def test_a_field_of_fewer_rows(self):
        with h5py.File(self.path("rod.h5"), "r+") as f:
            f["energy"].resize(90, axis=0)
        self.assertIn("/time has 101 rows, other fields have 90", self.call("verify", "rod.h5").stderr)

    def test_checkpoints(self):
        with h5py.File(self.path("rod.h5"), "r+") as f:
            f["checkpoint/seal"][...] = 0
        self.faults(["/checkpoint holds no complete checkpoint"])
        with h5py.File(self.path("rod.h5"), "r+") as f:
            f["checkpoint/seal"][...] = 1, 100000, 0
        self.faults(["/checkpoint holds no complete checkpoint"])

    def test_the_scenario(self):
        with h5py.File(self.path("rod.h5"), "r+") as f:
            del f["scenario/source"]
            f["scenario"].create_dataset("source", data=ROD + "\n", dtype=h5py.string_dtype())
        self.faults(["scenario_sha256 is not the digest of /scenario/source"])
        with h5py.File(self.path("rod.h5"), "r+") as f:
            text = f["scenario/resolved"][()].decode()
            del f["scenario/resolved"], f["scenario/source"]
            f["scenario"].create_dataset("source", data=ROD, dtype=h5py.string_dtype())
            f["scenario"].create_dataset("resolved", data=text.replace("stiffness: 1", "stiffness: 2"), dtype=h5py.string_dtype())
        said = self.call("verify", "rod.h5").stderr
        self.assertTrue("energy" in said or "resolved" in said, said)

    def test_a_mesh_that_has_changed(self):
        self.write("cube.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
                   "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n")
        self.write("net.yaml", "curvebody: 1\nspace: e3\nbodies: [{kind: network, mesh: {file: cube.obj}}]\n"
                   "integrator: {step: 0.05}\ntime: {end: 0.5}\n")
        self.good("run", "net.yaml", "-o", "net.h5")
        self.good("verify", "net.h5")
        self.write("cube.obj", self.read("cube.obj") + b"# another\n")
        self.faults(["an input file of its scenario"], "net.h5")
        os.remove(self.path("cube.obj"))
        gone = self.call("verify", "net.h5")
        self.assertEqual(gone.returncode, 3, gone.stderr)
        self.assertIn("cube.obj': No such file or directory", gone.stderr)

    def test_a_killed_run(self):
        run = self.start("run", "rod.yaml", "-o", "killed.h5", "--set", "time.end=1e6")
        self.wait_for("killed.h5", run)
        segments = 0
        while segments < 3:
            self.assertIsNone(run.poll())
            time.sleep(0.05)
            with h5py.File(self.path("killed.h5")) as file:
                segments = len(file["checkpoint/segments"])
        run.send_signal(signal.SIGSTOP)  # otherwise verify would also have to check rows that are written meanwhile
        live = self.call("verify", "killed.h5")
        self.assertEqual(live.returncode, 0, live.stderr)
        run.kill()
        run.wait()
        self.faults(["was not closed"], "killed.h5")
        with open(self.path("killed.h5.parts/000001.h5"), "r+b") as file:
            whole = file.read()
            at = whole.index(b"a rod\0")  # the title of the record
            file.seek(at)
            file.write(b"b")
        self.faults(["was not closed", "segment 000001.h5 has changed since it was written"], "killed.h5")
        self.write("killed.h5.parts/000001.h5", whole)
        self.good("repair", "killed.h5")
        self.assertFalse(os.path.exists(self.path("killed.h5.parts")))
        self.assertIn("no errors", self.good("verify", "killed.h5").stdout)

    def test_what_is_no_record(self):
        self.assertEqual(self.call("verify", "nowhere.h5").returncode, 3)
        self.assertEqual(self.call("verify").returncode, 2)
        self.assertEqual(self.call("verify", "rod.yaml").returncode, 2)
        with h5py.File(self.path("other.h5"), "w") as f:
            f["a"] = 1
        self.assertEqual(self.call("verify", "other.h5").returncode, 2)
        shutil.copy(self.path("rod.h5"), self.path("cut.h5"))
        with open(self.path("cut.h5"), "r+b") as file:
            file.truncate(100000)
        self.assertEqual(self.call("verify", "cut.h5").returncode, 2)


if __name__ == "__main__":
    main()
