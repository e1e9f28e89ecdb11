#!/usr/bin/python3
"""`curvebody verify`: a whole record of every kind has no fault; what is changed in one is told with its place, exit code 2."""
import os
import shutil

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
        """All lines that verify says, each begun by one of those expected, in order."""
        done = self.call("verify", name)
        said = done.stderr.splitlines()
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
            self.assertIn("no fault", done.stdout)
            self.assertNotIn(" 0 states", done.stdout, name)
            self.assertEqual(self.read(name + ".h5"), before)
        self.assertEqual(self.good("verify", "rod.h5", "--quiet").stdout, "")

    def test_a_resumed_and_a_compressed_record(self):
        self.good("resume", "rod.h5", "--until", "3")
        self.good("verify", "rod.h5")
        self.good("run", "rod.yaml", "-o", "small.h5", "--set", "record.compress=4", "--set", "record.sync=never")
        self.good("verify", "small.h5")

    def test_a_number_that_was_changed(self):
        with h5py.File(self.path("rod.h5"), "r+") as f:
            f["x"][40, 1, 2] += 1e-15
        self.faults(["row 40 is not as it was written"])

    def test_a_row_whose_digest_was_made_to_fit(self):
        """An energy that is no longer that of the state."""
        with h5py.File(self.path("rod.h5"), "r+") as f:
            f["energy"][50] *= 1 + 1e-6
            self.assertEqual(f["checkpoint/row_digest"].shape, (101,))
        self.faults(["row 50 is not as it was written"])
        with h5py.File(self.path("rod.h5"), "r+") as f:
            del f["checkpoint/row_digest"]
        self.faults(["/energy of row 50 is "])

    def test_a_state_that_was_changed(self):
        with h5py.File(self.path("rod.h5"), "r+") as f:
            del f["checkpoint/row_digest"]
            f["momentum"][7, 0, 1] += 1e-3
        self.assertTrue(self.call("verify", "rod.h5").stderr.startswith("rod.h5: error: /v of row 7 is "))

    def test_time_that_goes_back(self):
        with h5py.File(self.path("rod.h5"), "r+") as f:
            del f["checkpoint/row_digest"]
            f["time"][60] = f["time"][59]
        self.faults(["/time of row 60 is "])

    def test_a_field_of_fewer_rows(self):
        with h5py.File(self.path("rod.h5"), "r+") as f:
            f["energy"].resize(90, axis=0)
        self.assertIn("/time has 101 rows, others 90", self.call("verify", "rod.h5").stderr)

    def test_checkpoints(self):
        with h5py.File(self.path("rod.h5"), "r+") as f:
            for slot in "slot0", "slot1":
                for item in f["checkpoint"][slot].values():
                    if item.name.endswith("position"):
                        item[0] = 3
        self.faults(["/checkpoint has none that is whole"])

    def test_the_scenario(self):
        with h5py.File(self.path("rod.h5"), "r+") as f:
            del f["scenario/source"]
            f["scenario"].create_dataset("source", data=ROD + "\n", dtype=h5py.string_dtype())
        self.faults(["/scenario/source is not the text"])
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
        self.faults(["a file that its scenario names"], "net.h5")
        os.remove(self.path("cube.obj"))
        gone = self.call("verify", "net.h5")
        self.assertEqual(gone.returncode, 3, gone.stderr)
        self.assertIn("cube.obj': No such file or directory", gone.stderr)

    def test_a_killed_run(self):
        run = self.start("run", "rod.yaml", "-o", "killed.h5", "--set", "time.end=1e5")
        self.wait_for("killed.h5", run, 600)
        live = self.call("verify", "killed.h5")
        self.assertIn(live.returncode, (0, 3), live.stderr)  # 3: between two writes of the run
        run.kill()
        run.wait()
        self.assertTrue(os.path.exists(self.path("killed.h5.rescue")))
        self.assertIn("was not closed", self.call("verify", "killed.h5").stderr)
        self.good("repair", "killed.h5")
        self.assertFalse(os.path.exists(self.path("killed.h5.rescue")))
        self.good("verify", "killed.h5")

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
