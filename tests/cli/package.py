"""What the tests of the Python package share: the package of the source tree, with the program and the library of the build.
It must be the first import: it ends the test if a library is missing."""
import os
import sys

try:
    import h5py
    import netCDF4
    import numpy
    import xarray
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

BINARY = os.path.abspath(sys.argv.pop(1))
os.environ["CURVEBODY_PROGRAM"] = BINARY
os.environ["CURVEBODY_LIBRARY"] = os.path.join(os.path.dirname(BINARY), "libcurvebody.so")
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "src", "python"))
SCENARIOS = os.path.join(ROOT, "analysis", "scenarios")
ROD = os.path.join(SCENARIOS, "thesis", "elastic-rod-h3.yaml")
