#!/usr/bin/python3
"""Wrong files and assignments give errors: meshes, `--set`, files that are no scenario, files that cannot be read."""
import os
import resource

from command import ROD, main, sanitized
from refusals import FORCE, Refusals, taken, with_mesh

MESHES = {
    "number that is not finite": (b"v 0 0 0\nv 1 0 0\nv 0 @nan 0\nf 1 2 3\n",
                                  ["expected y, a finite number, found 'nan'"]),
    "number that overflows": (b"v 0 0 0\nv 1 0 0\nv 0 1 @1e999\nf 1 2 3\n", ["expected z, a finite number"]),
    "index out of range": (b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 @9\n", ["index 9 is out of range, expected 1 to 3"]),
    "no mesh at all": (b"@\x01\x02\xff\xfe\x80", ["expected a statement such as v, f or l"]),
    "no vertex": (b"@", ["expected at least one vertex"]),
}

SETS = {
    "no value": ("foo@", ["expected KEY=VALUE, found no '='"]),
    "no key": ("@=1", ["expected a key"]),
    "misspelt key": ("integrator.@stpe=1", ["unknown key 'stpe', did you mean 'step'?"]),
    "number with letters": ("integrator.step=1@x", ["found '1x'"]),
    "index out of range": ("bodies.@3.mass=1", ["expected an index from 0 to 0 into a list, found '3'"]),
    "below a number": ("bodies.0.mass.@x=1", ["'x' is a key of '1', which is a value without keys: expected a map there"]),
    "broken YAML": ("bodies.0.mass={a@", ["did not find expected ',' or '}'"]),
}


class BadFiles(Refusals):
    def test_meshes(self):
        self.write("net.yaml", ROD.replace(FORCE, with_mesh("{file: bad.obj}")[1], 1))
        for claim, (text, expected) in MESHES.items():
            with self.subTest(claim):
                text, line, column = taken(text.decode("latin-1"))
                self.write("bad.obj", text.encode("latin-1"))
                self.refused(["run", "net.yaml", "-o", "out.h5"], 2, f"bad.obj:{line}:{column}: error: ", expected)

    def test_mesh_that_cannot_be_read(self):
        for name, why in ("none.obj", "No such file or directory"), ("folder.ply", "Is a directory"):
            text, line, column = taken(ROD.replace(FORCE, with_mesh("{file: @%s}" % name)[1], 1))
            self.write("net.yaml", text)
            os.makedirs(self.path("folder.ply"), exist_ok=True)
            begins = f"net.yaml:{line}:{column}: error: cannot read '{name}'"
            self.refused(["run", "net.yaml", "-o", "out.h5"], 3, begins, [why])

    def test_assignments(self):
        self.write("good.yaml", ROD)
        for claim, (text, expected) in SETS.items():
            with self.subTest(claim):
                text, line, column = taken(text)
                begins = f"--set {text}:{line}:{column}: error: "
                self.refused(["run", "good.yaml", "-o", "out.h5", "--set", text], 2, begins, expected)
                self.refused(["check", "good.yaml", "--set=" + text], 2, begins, expected)

    def test_scenario_that_cannot_be_read(self):
        self.refused(["run", "none.yaml"], 3, "curvebody: error: cannot read 'none.yaml'", ["No such file"])
        self.refused(["run", "."], 3, "curvebody: error: cannot read '.'", ["directory"])
        self.refused(["check", "none.yaml"], 3, "curvebody: error: cannot read 'none.yaml'", ["No such file"])

    def test_what_is_no_scenario(self):
        aliases = [b"%c: &%c [%s]\n" % (i, i, b",".join([b"*%c" % (i - 1)] * 9)) for i in range(98, 107)]
        for claim, text, begins in [("empty", b"", "bad.yaml:1:1: error: expected a scenario"),
                                    ("a word", b"hello\n", "bad.yaml:1:1: error: expected a scenario"),
                                    ("zeros", b"curvebody: 1\n\0\0\0\n", "bad.yaml:2:1: error: "),
                                    ("HDF5", b"\x89HDF\r\n\x1a\n" + bytes(64), "bad.yaml:1:1: error: "),
                                    ("two documents", b"curvebody: 1\n---\na: 1\n", "bad.yaml:2:1: error: "),
                                    ("many aliases", b"a: &a [1,1,1,1,1,1,1,1]\n" + b"".join(aliases), "bad.yaml:")]:
            with self.subTest(claim):
                self.write("bad.yaml", text)
                self.refused(["run", "bad.yaml", "-o", "out.h5"], 2, begins, [])

    def test_scenario_of_100_megabytes_costs_no_memory(self):
        self.write("large.yaml", ROD + "#")
        os.truncate(self.path("large.yaml"), 100 << 20)
        limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))
        done = self.call("run", "large.yaml", "-o", "out.h5", **({} if sanitized() else {"preexec_fn": limit}))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"^large.yaml:1:1: error: .*expected at most 67108864")


if __name__ == "__main__":
    main()
