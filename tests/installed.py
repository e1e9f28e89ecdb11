"""Runs a scenario with the installed Python package, whose library and program must be under a prefix.

    installed.py PREFIX VERSION
"""
import os
import sys

import curvebody

prefix, version = sys.argv[1:]
for path in curvebody.__file__, curvebody._library._path(), curvebody._library.program():
    assert os.path.realpath(path).startswith(os.path.realpath(prefix) + os.sep), f"{path} is not under {prefix}"
assert curvebody.__version__ == version, curvebody.__version__
rod = {"curvebody": 1, "space": {"name": "e3"}, "integrator": {"name": "gauss", "step": 0.1}, "time": {"end": 1}, "bodies": [
    {"kind": "rod", "name": "a", "mass": 1, "link": {"spring": {"stiffness": 1, "rest": 1}},
     "place": {"chart": "cartesian", "points": [[0, 0, 0], [1, 0, 0]]}}]}
d = curvebody.run(rod)
assert abs(d.separation - 1).max() < 1e-14 and d.sizes["time"] == 11, d  # the rod is at rest; round-off
assert "kind: rod" in curvebody.check(rod)
