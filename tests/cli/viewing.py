"""Shared code of the tests of `curvebody view`: records and their pages, painted pixels, a folder. It takes the path of the
program from the command line."""
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BINARY = os.path.abspath(sys.argv.pop(1))
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
sys.path[:0] = [os.path.join(HERE, "..", "view"), os.path.join(ROOT, "src", "python")]
os.environ["CURVEBODY_PROGRAM"] = BINARY
os.environ["CURVEBODY_LIBRARY"] = os.path.join(os.path.dirname(BINARY), "libcurvebody.so")
missing = [name for name in ("h5py", "numpy", "xarray") if not importlib.util.find_spec(name)]
if missing or not shutil.which("chromedriver"):
    print(f"skipped: no {missing[0] if missing else 'chromedriver'}")
    sys.exit(77)
import numpy as np  # noqa: E402

SCENARIOS = os.path.join(ROOT, "analysis", "scenarios")
KINDS = {"rod": ("thesis/elastic-rod-h3", ["time.end=3"]), "s3": ("thesis/rigid-triangle-s3", ["time.end=3"]),
         "h2xe": ("thesis/h2xe-rigid-triangle", ["time.end=2"]), "e3": ("spaces/thrown-e3", []), "s2xe": ("spaces/thrown-s2xe", []),
         "nil": ("spaces/thrown-nil", []), "s2": ("spaces/thrown-s2", []), "ih": ("spaces/thrown-ih", []),
         "leaf": ("immersed/leaf", ["time.end=1"]), "eel": ("immersed/eel", ["time.end=0.5"]),
         "clifford": ("curved-fluid/clifford", ["time.end=2"]), "pendulum": ("systems/double-pendulum", []),
         "purcell": ("locomotion/purcell", []), "cat": ("locomotion/immersed-cat", []), "shell": ("networks/shell-h3", ["time.end=0.1"]),
         "sol": ("spaces/thrown-sol", []), "sl2": ("spaces/thrown-sl2", []), "metric": ("spaces/thrown-schwarzschild", []),
         "cradle": ("collisions/cradle-s3", ["time.end=2"]), "ball": ("locomotion/rolling-ball", [])}
INSIDE = {"rod", "s3", "h2xe", "e3", "s2xe", "leaf", "eel", "clifford", "shell", "cradle"}
NOWHERE = {"ball"}  # its bundle has no plot positions
STATES = ("rod", "leaf", "purcell", "pendulum")  # particles, bodies, a gait, a system


def call(*words, **more):
    return subprocess.run([BINARY, *words], capture_output=True, text=True, **more)


def record(folder, name, scenario=None, sets=()):
    path = os.path.join(folder, name + ".h5")
    scenario = scenario or os.path.join(SCENARIOS, KINDS[name][0] + ".yaml")
    done = call("run", scenario, "-o", path, "--quiet", *[w for s in sets or KINDS.get(name, ("", ()))[1] for w in ("--set", s)])
    assert done.returncode == 0, done.stderr
    return path


def page(path, *more):
    done = call("view", path, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def near(mask, by):
    """The pixels that are at most `by` columns and rows from a painted one."""
    for axis in (0, 1):
        mask = np.any([np.roll(mask, shift, axis) for shift in range(-by, by + 1)], axis=0)
    return mask


def until(true, wait=20):
    end = time.time() + wait
    while time.time() < end:
        try:
            if true():
                return
        except RuntimeError:  # the page is still loading
            pass
        time.sleep(0.05)
    raise AssertionError("the condition has not become true in time")


class Folder(unittest.TestCase):
    """Makes a temporary folder for each test."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()

    def tearDown(self):
        shutil.rmtree(self.folder)
