"""What the tests of the command line share: running it in a folder of its own, scenarios, comparing records.

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
    """A test whose program needs a module that is not installed is skipped: exit code 77."""
    if not issubclass(kind, ModuleNotFoundError):
        return sys.__excepthook__(kind, error, trace)
    print(error)
    sys.exit(77)


sys.excepthook = skip
import h5py  # noqa: E402

BINARY = os.path.abspath(sys.argv.pop(1))
PATIENCE = float(os.environ.get("CB_PATIENCE", 1))  # CURVEBODY_PATIENCE: times what a command may take
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


NOTHING_TO_GO_ON_FROM = ": error: no whole checkpoint in it; run its scenario again\n"


def die_with_parent():
    """A run that a test has started does not outlive it."""
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
        """With the folder of its segments, where it has one; what was there before goes."""
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
        """What a record or an export of that name is called until it is whole."""
        return [f for f in os.listdir(self.folder) if f.startswith(name + ".") and f.endswith(".part")]

    def remove_record(self, name):
        """With what a killed run left of it."""
        shutil.rmtree(self.path(name + ".parts"), ignore_errors=True)
        for left in [name, *self.parts(name)]:
            if os.path.exists(self.path(left)):
                os.remove(self.path(left))

    def call(self, *words, **how):
        how = {"cwd": self.folder, "capture_output": True, "text": True, "errors": "replace", "timeout": 300} | how
        return subprocess.run([BINARY, *words], **how | {"timeout": PATIENCE * how["timeout"]})

    def good(self, *words, **how):
        done = self.call(*words, **how)
        self.assertEqual(done.returncode, 0, f"curvebody {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done

    def start(self, *words, **how):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        how = {"cwd": self.folder, "preexec_fn": die_with_parent} | quiet | how
        return subprocess.Popen([BINARY, *words], **how)

    def wait_for(self, name, run, rows=0):
        """Until there is the file, with so many rows, of a run that was started: it may be at its end by then, but not
        without a file."""
        while not os.path.exists(self.path(name)) and run.poll() is None:
            time.sleep(0.001)
        self.assertTrue(os.path.exists(self.path(name)), name)
        while rows and rows_of_live(self.path(name)) < rows and run.poll() is None:
            time.sleep(0.01)

    def killed_and_resumed(self, words, name, seconds, until):
        """A run that is killed some time after its file is there, and goes on to until(), or to the end of the scenario
        where that is None. One killed before its first checkpoint says so, and the next has twice the time."""
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
    """Names of what has a value for each row."""
    return sorted(name for name, item in file.items() if isinstance(item, h5py.Dataset)
                  and item.maxshape[:1] == (None,) and not name.startswith("event"))


def rows_of_live(path):
    """Rows of a record that may be written meanwhile, as any program opens it."""
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
    """Names of datasets that are not in both, or differ in a byte."""
    return sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))


def main():
    unittest.main(verbosity=1)
