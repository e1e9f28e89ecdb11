#!/usr/bin/python3
"""Every input must be a regular file: a pipe without a writer, an endless device, a socket or a folder gives an immediate
error with its name. `-` is the scenario on the standard input."""
import os
import socket

from command import BALL, HAS_VIEW, ROD, Case, datasets, differing, main

SHAPE = "    shape: {name: ellipsoid, resolution: 16}\n"
NETWORK = """\
curvebody: 1
space: e3
bodies:
  - {kind: network, mesh: {file: pose-0.obj}, link: {spring: {stiffness: 1}}}
integrator: {name: lobatto, stages: 2, step: 0.01}
time: {end: 0.1}
"""
TABLE = """\
curvebody: 1
bundle: {name: samples, file: odd}
gait: {fourier: {mean: [0, 0], cosine: [[.5, 0]], sine: [[0, .5]]}}
"""
SWEEP = """\
curvebody: 1
sweep:
  scenario: odd
  over:
    - {key: bodies.0.mass, values: [1, 2], name: mass}
  keep: last
"""

INPUTS = {
    "scenario": [["run", "odd"], ["check", "odd"], ["geodesic", "odd", "--from", "1,1,0", "--to", "2,1,1"]],
    "mesh of a body": [["run", "mesh.yaml"]],
    "mesh of a network": [["run", "network.yaml"]],
    "mesh of a shape": [["inertia", "./odd"]],
    "poses": [["run", "poses.yaml"]],
    "sequence of poses": [["run", "sequence.yaml"]],
    "grid": [["check", "grid.yaml"]],
    "samples": [["gait", "table.yaml", "path", "-o", "path.h5"]],
    "record": [["resume", "odd"], ["repair", "odd"], ["export", "odd", "--csv"], ["classify", "odd"],
               *([["view", "odd"], ["view", "odd", "--watch"]] if HAS_VIEW else [])],
    "sweep": [["sweep", "odd", "-o", "o"]],
    "scenario of a sweep": [["sweep", "sweep.yaml", "-o", "o"]],
    "plugin": [["--plugin", "./odd", "list"]],
    "model": [["import", "odd"]],
}


class Regular(Case):
    def make(self, kind):
        path = self.path("odd")
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "link to a pipe":
            os.mkfifo(self.path("pipe"))
            os.symlink("pipe", path)
        elif kind == "device":
            os.symlink("/dev/zero", path)
        elif kind == "socket":
            listener = socket.socket(socket.AF_UNIX)
            self.addCleanup(listener.close)
            listener.bind(path)
        else:
            os.mkdir(path)
        os.symlink("odd", self.path("pose-0.obj"))
        return "Is a directory" if kind == "folder" else "not a regular file"

    def refused(self, kind):
        self.write("mesh.yaml", BALL.replace(SHAPE, "    mesh: odd\n"))
        self.write("network.yaml", NETWORK)
        self.write("poses.yaml", BALL.replace(SHAPE, "    poses: {files: 'pose-#.obj', step: 0.1}\n"))
        self.write("sequence.yaml", BALL.replace(SHAPE, "    poses: {sequence: odd}\n"))
        self.write("grid.yaml", BALL.replace("medium: water", "medium: water\n  flow: {grid: odd}"))
        self.write("table.yaml", TABLE)
        self.write("sweep.yaml", SWEEP)
        why = self.make(kind)
        for what, commands in INPUTS.items():
            for words in commands:
                with self.subTest(what, kind=kind, words=words):
                    done = self.call(*words, timeout=20)
                    self.assertIn(done.returncode, (2, 3), done.stderr)
                    self.assertIn(why, done.stderr)
                    self.assertIn("pose-0.obj" if what in ("poses", "mesh of a network") else "odd", done.stderr)

    def test_pipe(self):
        self.refused("pipe")

    def test_link_to_a_pipe(self):
        self.refused("link to a pipe")

    def test_device(self):
        self.refused("device")

    def test_socket(self):
        self.refused("socket")

    def test_folder(self):
        self.refused("folder")

    def test_scenario_on_the_standard_input(self):
        self.write("rod.yaml", ROD)
        self.good("run", "rod.yaml", "-o", "good.h5")
        self.good("run", "-", "-o", "rod.h5", input=ROD)
        self.assertEqual(differing(datasets(self.path("rod.h5")), datasets(self.path("good.h5"))), [])
        self.assertEqual(self.good("check", "-", input=ROD).stdout, self.good("check", "rod.yaml").stdout)
        done = self.call("run", "-", "-o", "h4.h5", input=ROD.replace("h3", "h4"), timeout=20)
        self.assertEqual(done.returncode, 2)
        self.assertIn("-:3:15: error: ", done.stderr)


if __name__ == "__main__":
    main()
