#!/usr/bin/python3
"""Threads: the results are identical for any number of threads. With ThreadSanitizer or under helgrind, the test also checks
that there are no data races.

    threads.py BINARY                       runs with 1, 2 and 4 threads
    CURVEBODY_LAUNCHER='valgrind ..' threads.py BINARY [Class]

Exit code 66: one of these tools has reported an error (tests/run threads).
"""
import os
import resource
import subprocess
import sys
import unittest

from command import BINARY, HAS_VIEW, Case, ROD, datasets, die_with_parent, differing, main

LAUNCHER = os.environ.get("CURVEBODY_LAUNCHER", "").split()
NUMBERS = ["1", "4"] if LAUNCHER or "TSAN_OPTIONS" in os.environ else ["1", "2", "4"]

LATTICE = """\
curvebody: 1
space: {name: SPACE}
bodies:
  - kind: network
    lattice: {size: [20, 20, 12], spacing: 0.02}
    stiffness: 3
    rest: 0.03
    mass: 0.01
integrator: {name: METHOD, step: 0.01}
time: {end: 0.02}
"""

SHELL = """\
curvebody: 1
space: {name: h3}
bodies:
  - kind: network
    name: shell
    mesh: {file: ball.obj, at: {chart: embedding, point: [0, 0, 0, 1]}, scale: 0.5}
    mass: 0.001
    stiffness: 0.1
    neighbours: 2
    bending_stiffness: 0.1
    motion: {killing: boost_x, speed: 1}
integrator: {name: METHOD, step: 0.01}
time: {end: 0.03}
record: {every: 1, observables: [separation, energy, killing_momentum, karcher_mean]}
"""

# All pairs attract each other.
CLUSTER = """\
curvebody: 1
space: {name: s3}
bodies:
  - {kind: gas, name: gas, count: 300, radius: 0.01, speed: 1, mass: 0.001, seed: 3}
interactions:
  - {pair_potential: gravity, within: gas, strength: 0.01}
integrator: {name: rk4, step: 0.01}
time: {end: 0.02}
"""

GAS = """\
curvebody: 1
space: {name: SPACE}
bodies:
  - {kind: gas, name: gas, count: 300, radius: 0.04, container_radius: 0.9, speed: 1, mass_max: 3, seed: 3}
contacts: {within: [gas]}
walls:
  - ball: {at: {point: CENTRE}, radius: 1.2, side: inside, name: room}
integrator: {name: lobatto, stages: 3, step: 0.02}
time: {end: 0.1}
record: {every: 1, observables: [energy]}
"""

SWIMMERS = """\
curvebody: 1
fluid:
  medium: {layers: [{below: 0, density: 998}, {density: 1.225}]}
  flow: {shear: {velocity: [0.1, 0, 0], gradient: [[0, 0, 0.2], [0, 0, 0], [0.1, 0, 0]]}}
  floor: {kind: stiff, height: -3}
bodies:
  - name: eel
    shape: {name: eel, resolution: 12}
    density: 900
    poses: {y: "Y + 0.1*sin(6*(X - t))"}
    linear_drag: {normal: 2, tangential: 1}
    wrenches: [{name: push, force: ["0.1*cos(t)", "-0.1*vy", 0], at: [0, 0.1, 0]}]
    place: {position: [0, 0, 0.4], rotation: {axis: [1, 2, 3], angle: 1}}
  - name: leaf
    shape: {name: leaf, resolution: 8}
    thickness: 0.001
    density: 800
    repeat: {count: 5, seed: 7}
    place: {position: ["i", "r1", "0.5 + r2"], rotation: {axis: [1, 0, 0], angle: "2*pi*r3"}}
integrator: {name: METHOD, step: 0.005}
time: {end: 0.03}
record: {every: 2, checkpoint: 2, observables: [energy, wrenches, momentum, inertia, centre, removed_normal_velocity]}
"""

PANELS = """\
curvebody: 1
fluid: {medium: water, added_mass: exact}
bodies:
  - {name: rigid, shape: {name: ellipsoid, c: 2, resolution: 12}, added_mass: {name: exact, error: 0.1}}
  - {name: stroke, shape: {name: ellipsoid, resolution: 8}, poses: {z: "Z*(1 + 0.1*sin(2*pi*t))", period: 1}}
integrator: {name: hamilton_pontryagin, step: 0.01}
time: {end: 0.02}
record: {every: 1, observables: [inertia]}
"""

STONE = """\
curvebody: 1
space: {name: h3, curvature: -1}
fluid: {medium: 1, added_mass: exact}
bodies:
  - name: seed
    shape: {name: ellipsoid, a: 0.3, b: 0.2, c: 0.15, resolution: 8}
    density: 3
    motion: {velocity: [0, 0.5, 0.2], spin: [0.1, 0, 1]}
integrator: {name: hamilton_pontryagin, step: 0.02}
time: {end: 0.1}
"""

SWEEP = """\
curvebody: 1
sweep:
  scenario: rod.yaml
  over:
    - {key: bodies.0.link.spring.stiffness, from: 0.5, to: 8, count: 12, spacing: log, name: stiffness}
    - {key: bodies.0.motion.speed, values: [0.5, 2], name: speed}
  collect: {last: "last(plot_position[0,2])", least: "min(separation[0])"}
"""

PURCELL = """\
curvebody: 1
bundle: {name: purcell, links: 3}
gait: {fourier: {cosine: [[0.7, 0]], sine: [[0, 0.7]]}}
optimum: {target: {move: 0.03}, starts: 3}
"""


def icosphere():
    """An octahedron whose edges are divided in two, twice: 66 vertices, as OBJ."""
    points = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    faces = [(a, b, c) for a in (0, 1) for b in (2, 3) for c in (4, 5)]
    for _ in range(2):
        between, finer = {}, []
        for face in faces:
            middle = []
            for i, j in ((0, 1), (1, 2), (2, 0)):
                edge = tuple(sorted((face[i], face[j])))
                if edge not in between:
                    sum_ = [a + b for a, b in zip(points[edge[0]], points[edge[1]])]
                    size = sum(s * s for s in sum_) ** 0.5
                    between[edge] = len(points)
                    points.append(tuple(s / size for s in sum_))
                middle.append(between[edge])
            finer += [(face[0], middle[0], middle[2]), (face[1], middle[0], middle[1]), (face[2], middle[1], middle[2]),
                      tuple(middle)]
        faces = finer
    return "".join(f"v {x:.17g} {y:.17g} {z:.17g}\n" for x, y, z in points) + "".join(
        f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces)


class Threads(Case):
    def call(self, *words, **how):
        how = {"cwd": self.folder, "capture_output": True, "text": True, "errors": "replace", "timeout": 600} | how
        return subprocess.run([*LAUNCHER, BINARY, *words], **how)

    def start(self, *words, **how):
        return subprocess.Popen([*LAUNCHER, BINARY, *words], **{"cwd": self.folder, "preexec_fn": die_with_parent} | how)

    def same(self, text, *options):
        self.write("case.yaml", text)
        made = []
        for number in NUMBERS:
            self.good("--threads", number, "run", "case.yaml", "-o", number + ".h5", "--quiet", *options)
            made.append(datasets(self.path(number + ".h5")))
        for other in made[1:]:
            self.assertEqual(differing(made[0], other), [])


class Networks(Threads):
    def test_lattices(self):
        for space, method in (("h3", "lobatto, solver: fixed-point"), ("s3", "gauss, solver: fixed-point"), ("e3", "rk4")):
            with self.subTest(space):
                self.same(LATTICE.replace("SPACE", space).replace("METHOD", method))

    def test_shell(self):
        self.write("ball.obj", icosphere())
        for method in "lobatto, solver: newton", "lobatto, solver: fixed-point", "gauss, solver: newton":
            with self.subTest(method):
                self.same(SHELL.replace("METHOD", method))

    def test_pairs(self):
        self.same(CLUSTER)


class Contacts(Threads):
    def test_gas(self):
        for space, centre in ("s3", "[0, 0, 0, 1]"), ("h3", "[0, 0, 0, 1]"), ("e3", "[0, 0, 0]"):
            with self.subTest(space):
                self.same(GAS.replace("SPACE", space).replace("CENTRE", centre))


class Fluids(Threads):
    def test_several_bodies(self):
        for method in "hamilton_pontryagin", "rkmk4":
            with self.subTest(method):
                self.same(SWIMMERS.replace("METHOD", method))

    def test_panels(self):
        self.same(PANELS)

    def test_curved(self):
        self.same(STONE)


class Records(Threads):
    """Records of 2 MB, written through buffers of some rows, so that the writer's thread is always busy."""

    def test_syncs(self):
        for sync in "checkpoint", "every flush", "never":
            with self.subTest(sync):
                self.same(ROD, "--set", "record.sync=" + sync, "--set", "record.checkpoint=3", "--set", "time.end=3")

    def test_resumed(self):
        self.write("rod.yaml", ROD)
        self.good("--threads", "4", "run", "rod.yaml", "-o", "long.h5", "--quiet", "--set", "time.end=3")
        self.good("--threads", "4", "run", "rod.yaml", "-o", "rod.h5", "--quiet")
        self.good("--threads", "4", "resume", "rod.h5", "--until", "3", "--quiet")
        self.assertEqual(differing(datasets(self.path("rod.h5")), datasets(self.path("long.h5"))), [])

    def test_no_room(self):
        self.write("rod.yaml", ROD)

        run = self.start("--threads", "4", "run", "rod.yaml", "-o", "rod.h5", "--quiet", "--set", "time.end=3000",
                         stderr=subprocess.PIPE, text=True)
        self.wait_for("rod.h5", run)
        resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (400000, 400000))
        told = run.communicate()[1]
        self.assertEqual(run.returncode, 3, told)

    @unittest.skipUnless(HAS_VIEW, "built without view")
    def test_page(self):
        self.write("rod.yaml", ROD)
        self.good("--threads", "4", "run", "rod.yaml", "-o", "rod.h5", "--quiet")
        self.good("--threads", "4", "view", "rod.h5")


class Sweeps(Threads):
    def test_members(self):
        self.write("rod.yaml", ROD.replace("step: 0.01", "step: 0.05"))
        self.write("sweep.yaml", SWEEP)
        made = []
        for number in NUMBERS:
            self.good("--threads", number, "sweep", "sweep.yaml", "-o", number + ".h5")
            made.append({k: v for k, v in datasets(self.path(number + ".h5")).items() if "seconds" not in k})
        for other in made[1:]:
            self.assertEqual(differing(made[0], other), [])

    def test_gaits(self):
        self.write("p.yaml", PURCELL)
        told = [self.good("--threads", number, "gait", "p.yaml", "optimize", "--json").stdout for number in NUMBERS]
        self.assertEqual(told, [told[0]] * len(told))


if __name__ == "__main__":
    main()
