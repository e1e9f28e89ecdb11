"""Shared code of the tests of the command line: calls in a temporary folder, scenarios, comparison of records.

Each test is `SUBJECT.py BINARY [unittest options]`. Exit status 77: a module that it needs is missing.
"""
import ctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest


def skip(kind, error, trace):
    """Skips a test that needs a Python module which is not installed: exit code 77."""
    if not issubclass(kind, ModuleNotFoundError):
        return sys.__excepthook__(kind, error, trace)
    print(error)
    sys.exit(77)


sys.excepthook = skip
import h5py  # noqa: E402

BINARY = os.path.abspath(sys.argv.pop(1))
PATIENCE = float(os.environ.get("CB_PATIENCE", 1))  # CURVEBODY_PATIENCE of CMake: a factor of all timeouts
HAS_VIEW = "view" not in os.environ.get("CB_WITHOUT", "").split()

ROD = """\
curvebody: 1
title: a rod
space: {name: h3, curvature: -1}
bodies:
  - kind: rod
    name: a
    link: {spring: {stiffness: 1, rest: 1}}
    mass: 1
    place: {chart: polar, points: [[0.5, pi/2, pi/2], [0.5, pi/2, 3*pi/2]]}
    motion: {killing: boost_x, speed: 1}
integrator: {name: lobatto, stages: 4, step: 0.01}
time: {end: 1}
record: {every: 1, observables: [separation, energy]}
"""


BALL = """\
curvebody: 1
title: a ball
fluid:
  medium: water
bodies:
  - name: ball
    shape: {name: ellipsoid, resolution: 16}
    density: 1200
    place: {position: [0, 0, 1]}
integrator: {name: hamilton_pontryagin, step: 0.01}
time: {end: 0.1}
"""


NOTHING_TO_GO_ON_FROM = ": error: it has no complete checkpoint; run its scenario again\n"


def die_with_parent():
    """Ensures that a started run ends with the test."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))


def sanitized():
    with open(BINARY, "rb") as file:
        return b"__asan_init" in file.read()


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="curvebody-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def copy_record(self, source, target):
        """Copies a record with the folder of its segments, if it has one, in place of an old target."""
        for end in "", ".parts":
            path, copy = self.path(source + end), self.path(target + end)
            if os.path.isdir(copy):
                shutil.rmtree(copy)
            if os.path.isdir(path):
                shutil.copytree(path, copy)
            elif os.path.exists(path):
                shutil.copy(path, copy)
            elif os.path.exists(copy):
                os.remove(copy)

    def parts(self, name):
        """Names of the temporary files in which a record or an export of that name is written until it is complete."""
        return [f for f in os.listdir(self.folder) if f.startswith(name + ".") and f.endswith(".part")]

    def remove_record(self, name):
        """Removes a record with all files that a killed run left."""
        shutil.rmtree(self.path(name + ".parts"), ignore_errors=True)
        for left in [name, *self.parts(name)]:
            if os.path.exists(self.path(left)):
                os.remove(self.path(left))

    def call(self, *words, **how):
        how = {"cwd": self.folder, "capture_output": True, "text": True, "errors": "replace", "timeout": 300} | how
        return subprocess.run([BINARY, *words], **how | {"timeout": PATIENCE * how["timeout"]})

    def good(self, *words, **how):
        """Calls the program, which must succeed. `run` replaces any record."""
        done = self.call(*words, *["--force"] * ("run" in words and "--force" not in words), **how)
        self.assertEqual(done.returncode, 0, f"curvebody {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done

    def start(self, *words, **how):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        how = {"cwd": self.folder, "preexec_fn": die_with_parent} | quiet | how
        return subprocess.Popen([BINARY, *words], **how)

    def wait_for(self, name, run, rows=0):
        """Waits until the file of a started run exists and has this number of rows. The run may have ended by then, but the
        file must exist."""
        while not os.path.exists(self.path(name)) and run.poll() is None:
            time.sleep(0.001)
        self.assertTrue(os.path.exists(self.path(name)), name)
        while rows and rows_of_live(self.path(name)) < rows and run.poll() is None:
            time.sleep(0.01)

    def signals(self, process, which):
        """The set of the signals of a line of /proc/PID/status: SigCgt, those with a handler; SigPnd and ShdPnd, pending ones."""
        with open(f"/proc/{process.pid}/status") as status:
            mask = [int(line.split()[1], 16) for line in status if line.startswith(which + ":")]
        return {number for number in range(1, 65) if mask and mask[0] >> (number - 1) & 1}

    def killed_and_resumed(self, words, name, seconds, until):
        """Kills a run some time after its file exists, and resumes it to until(), or to the end of the scenario if that is
        None. If it was killed before its first checkpoint, resume reports this, and the next run gets twice the time."""
        while True:
            run = self.start(*words, "-o", name, "--quiet")
            self.wait_for(name, run)
            time.sleep(seconds)
            run.kill()
            run.wait()
            end = until()
            done = self.call("resume", name, *(["--until", end] if end else []), "--quiet")
            if done.returncode == 0:
                return end
            self.assertEqual((done.returncode, done.stderr), (2, name + NOTHING_TO_GO_ON_FROM))
            self.remove_record(name)
            seconds *= 2


def series(file):
    """Names of the datasets that have a value for each row."""
    return sorted(name for name, item in file.items() if isinstance(item, h5py.Dataset)
                  and item.maxshape[:1] == (None,) and not name.startswith("event"))


def rows_of_live(path):
    """Number of rows of a record that another process may be writing, opened without special options."""
    with h5py.File(path) as file:
        return file["step"].shape[0]


def datasets(path):
    """Every dataset of the root, as bytes."""
    found = {}
    with h5py.File(path) as file:
        for name, item in file.items():
            if isinstance(item, h5py.Dataset):
                values = item[()]
                content = repr(values.tolist()) if values.dtype.kind == "O" else values.tobytes()
                found[name] = (values.shape, str(values.dtype), content)
    return found


def differing(a, b):
    """Names of datasets that exist in only one of two results of datasets(), or differ in a byte."""
    return sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))


def main():
    unittest.main(verbosity=1)
