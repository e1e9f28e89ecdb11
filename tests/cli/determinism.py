#!/usr/bin/python3
"""The same binary, instruction set and scenario give identical records for any number of threads. The record names the
instruction set."""

import h5py
import numpy as np

from command import Case, ROD, datasets, differing, main

# Enough springs for several threads.
LATTICE = """\
curvebody: 1
space: {name: SPACE}
bodies:
  - kind: network
    lattice: {size: [40, 40, 20], spacing: 0.02}
    stiffness: 3
    rest: 0.03
    mass: 0.01
    motion: {killing: KILLING}
integrator: {name: METHOD, step: 0.01}
time: {end: 0.05}
"""


def lattice(space, killing, method):
    return LATTICE.replace("SPACE", space).replace("KILLING", killing).replace("METHOD", method)


class Determinism(Case):
    def bytes_of(self, *before, name="rod.yaml"):
        self.good(*before, "run", name, "-o", "out.h5")
        return datasets(self.path("out.h5"))

    def test_again(self):
        self.write("rod.yaml", ROD.replace("end: 1", "end: 20"))
        self.assertEqual(differing(self.bytes_of(), self.bytes_of()), [])

    def test_threads(self):
        for words in (("h3", "boost_x", "lobatto, solver: fixed-point"),
                      ("s3", "rotation_wx", "gauss, solver: fixed-point"), ("e3", "rotation_z", "rk4")):
            with self.subTest(words[0]):
                self.write("net.yaml", lattice(*words))
                one = self.bytes_of("--threads", "1", name="net.yaml")
                for threads in "2", "3":
                    self.assertEqual(differing(one, self.bytes_of("--threads", threads, name="net.yaml")), [])

    def test_instruction_sets(self):
        small = lattice("h3", "boost_x", "lobatto, solver: fixed-point").replace("40, 40, 20", "9, 8, 7")
        self.write("net.yaml", small)
        x = {}
        for isa in "x86-64", "aarch64", "avx2", "avx512":
            done = self.call("--isa", isa, "run", "net.yaml", "-o", "out.h5", "--force")
            if "this processor does not support " + isa in done.stderr:
                self.assertEqual(done.returncode, 2)
                continue
            self.assertEqual(done.returncode, 0, done.stderr)
            with h5py.File(self.path("out.h5")) as file:
                self.assertEqual(file.attrs["isa"], isa)
                x[isa] = file["plot_position"][()]
            self.assertEqual(differing(datasets(self.path("out.h5")), self.bytes_of("--isa", isa, name="net.yaml")), [])
            # resume uses the instruction set of the record, not the best one.
            self.good("--isa", isa, "run", "net.yaml", "-o", "long.h5", "--set", "time.end=0.09")
            self.good("resume", "out.h5", "--until", "0.09")
            self.assertEqual(differing(datasets(self.path("out.h5")), datasets(self.path("long.h5"))), [])
        self.assertGreater(len(x), 0)
        for isa, value in x.items():
            self.assertLess(np.abs(value - next(iter(x.values()))).max(), 1e-13, isa)  # round-off of 5 steps


if __name__ == "__main__":
    main()
