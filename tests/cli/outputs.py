#!/usr/bin/python3
"""No output replaces an input, under any name. Only one run at a time can write an output."""
import os
import subprocess
import sys

from command import BALL, BINARY, ROD, Case, datasets, differing, main

import h5py
import numpy as np

PLUGIN = sys.argv.pop(1)

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"

NETWORK = """\
curvebody: 1
space: e3
bodies:
  - {kind: network, mesh: {file: mesh.obj}, link: {spring: {stiffness: 1}}}
integrator: {name: lobatto, stages: 2, step: 0.01}
time: {end: 0.1}
"""

PURCELL = """\
curvebody: 1
bundle: {name: purcell, links: 3, ratio: 2}
gait: {fourier: {mean: [0, 0], cosine: [[.5, 0]], sine: [[0, .5]]}}
integrator: {name: magnus, order: 4, step: 0.1}
"""


class Outputs(Case):
    def setUp(self):
        super().setUp()
        self.write("rod.yaml", ROD)

    def kept(self, output, reads, *words):
        """The command gives an error with both names, and the input is unchanged."""
        before = self.read(reads)
        files = sorted(os.listdir(self.folder))
        done = self.call(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn(f"{output}: error: the output would replace the input '", done.stderr)
        self.assertIn(f"{reads}': expected another name", done.stderr)
        self.assertEqual(self.read(reads), before)
        self.assertEqual(sorted(os.listdir(self.folder)), files)

    def by_all_names(self, reads, *words):
        """Checks kept() with each name of the input: its name, a path, a symbolic link and a hard link."""
        self.kept(reads, reads, *words, "-o", reads)
        self.kept("./" + reads, reads, *words, "-o", "./" + reads)
        for link in os.symlink, os.link:
            link(self.path(reads), self.path("other.h5"))
            self.kept("other.h5", reads, *words, "-o", "other.h5")
            os.remove(self.path("other.h5"))

    def grid(self):
        with h5py.File(self.path("grid.h5"), "w") as file:
            file["velocity"] = np.zeros((3, 3, 3, 3))
            for axis in "xyz":
                file[axis] = np.linspace(-1, 1, 3)

    def test_scenario(self):
        self.by_all_names("rod.yaml", "run", "rod.yaml")
        self.by_all_names("rod.yaml", "geodesic", "rod.yaml", "--from", "1,1,0", "--to", "2,1,1")
        self.write("purcell.yaml", PURCELL)
        self.by_all_names("purcell.yaml", "gait", "purcell.yaml", "path")
        self.by_all_names("purcell.yaml", "gait", "purcell.yaml", "curvature")

    def test_grid_of_a_flow(self):
        self.grid()
        self.write("grid.yaml", BALL.replace("medium: water", "medium: water\n  flow: {grid: grid.h5}"))
        self.kept("grid.h5", "grid.h5", "run", "grid.yaml")
        self.by_all_names("grid.h5", "run", "grid.yaml")
        self.good("run", "grid.yaml", "-o", "good.h5")

    def test_meshes(self):
        self.write("mesh.obj", TETRAHEDRON)
        self.write("mesh.yaml", NETWORK)
        self.by_all_names("mesh.obj", "run", "mesh.yaml")
        shape = "    shape: {name: ellipsoid, resolution: 16}\n"
        self.write("body.yaml", BALL.replace(shape, "    mesh: mesh.obj\n"))
        self.by_all_names("mesh.obj", "run", "body.yaml")
        self.good("run", "body.yaml", "-o", "good.h5")
        self.by_all_names("mesh.obj", "export", "good.h5", "--xdmf")
        for n in range(3):
            self.write(f"pose-{n}.obj", TETRAHEDRON.replace("v 1", f"v 1.{n}"))
        self.write("poses.yaml", BALL.replace(shape, "    poses: {files: 'pose-#.obj', step: 0.1}\n"))
        self.by_all_names("pose-2.obj", "run", "poses.yaml")
        with h5py.File(self.path("sequence.h5"), "w") as file:
            x = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
            file["poses"] = np.array([x, x, x], float)
            file["time"] = [0.0, 0.1, 0.2]
            file["face"] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
        self.write("sequence.yaml", BALL.replace(shape, "    poses: {sequence: sequence.h5}\n"))
        self.kept("sequence.h5", "sequence.h5", "run", "sequence.yaml")
        self.by_all_names("sequence.h5", "run", "sequence.yaml")

    def test_table_of_a_bundle(self):
        self.write("purcell.yaml", PURCELL)
        self.good("gait", "purcell.yaml", "curvature", "--window=-1:1,-1:1", "--grid", "21x21", "-o", "table.h5")
        table = PURCELL.replace("{name: purcell, links: 3, ratio: 2}", "{name: samples, file: table.h5}")
        self.write("table.yaml", table)
        self.kept("table.h5", "table.h5", "run", "table.yaml")
        for words in ["run", "table.yaml"], ["gait", "table.yaml", "path"], ["gait", "table.yaml", "curvature"]:
            self.by_all_names("table.h5", *words)
        self.good("gait", "table.yaml", "path", "-o", "path.h5")

    def test_record_and_what_lies_beside(self):
        self.good("run", "rod.yaml", "-o", "rod.h5")
        for form in "--csv", "--xdmf":
            self.by_all_names("rod.h5", "export", "rod.h5", form)
        os.link(self.path("rod.h5"), self.path("a-events.csv"))
        self.kept("a-events.csv", "rod.h5", "export", "rod.h5", "--csv", "-o", "a.csv")

    def test_plugin(self):
        with open(PLUGIN, "rb") as file:
            self.write("space.so", file.read())
        self.by_all_names("space.so", "--plugin", "./space.so", "run", "rod.yaml")
        self.by_all_names("space.so", "--plugin", "./space.so", "geodesic", "h2", "--from", "1,0", "--to", "1,1")

    def test_links(self):
        """A link stays a link, and its target is replaced. A link to a missing file is an error."""
        self.good("run", "rod.yaml", "-o", "rod.h5")
        self.write("old.h5", "")
        os.symlink("old.h5", self.path("link.h5"))
        os.symlink("none.h5", self.path("nowhere.h5"))
        self.good("run", "rod.yaml", "-o", "link.h5")
        self.assertTrue(os.path.islink(self.path("link.h5")))
        self.assertEqual(self.read("old.h5"), self.read("rod.h5"))
        done = self.call("run", "rod.yaml", "-o", "nowhere.h5")
        self.assertEqual(done.returncode, 3)
        self.assertIn("nowhere.h5: cannot write: it is a link to a file that does not exist", done.stderr)

    def test_runs_on_one_output(self):
        """Each process ends with 0 or an error that another one has the file. The record is complete."""
        self.good("run", "rod.yaml", "-o", "good.h5", "--set", "time.end=3")
        good = datasets(self.path("good.h5"))
        done = 0
        for existing in False, True, True, False:
            if not existing and os.path.exists(self.path("rod.h5")):
                os.remove(self.path("rod.h5"))
            how = {"cwd": self.folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
            runs = [subprocess.Popen([BINARY, "run", "rod.yaml", "--set", "time.end=3", "--quiet"], **how)
                    for _ in range(8)]
            for run in runs:
                error = run.communicate()[1]
                self.assertIn(run.returncode, (0, 3), error)
                if run.returncode:
                    self.assertIn("rod.h5: in use: ", error)
                done += run.returncode == 0
            self.assertEqual(differing(datasets(self.path("rod.h5")), good), [])
            with h5py.File(self.path("rod.h5")) as file:
                self.assertEqual(file.attrs["completed"], 1)
            self.assertEqual(self.parts("rod.h5"), [])
        self.assertGreaterEqual(done, 4)


if __name__ == "__main__":
    main()
