"""curvebody from Python: runs scenarios, steps them, loads their records, measures in their spaces.

    import curvebody
    d = curvebody.run("rod.yaml", integrator__step=0.1)     # an xarray.Dataset, with labels and units
    d.energy.plot()
    sim = curvebody.open("rod.yaml")                        # a simulation in this process
    sim.step(10)
    sim.observe("energy")
    b = curvebody.batch("rod.yaml", over={"bodies.0.mass": [1, 2, 3]})
    b.step(10).observe("energy")                            # an array [member]
    h3 = curvebody.Space("h3", curvature=-1)
    h3.distance(h3.point([1, 1, 0]), h3.point([2, 1, 1]))

Scenarios are paths, texts in YAML, or dictionaries, whose values may be arrays of numpy. The module calls libcurvebody; sweeps, gaits
and other commands call the program `curvebody`. Both are found where they are installed, or are named by CURVEBODY_LIBRARY and
CURVEBODY_PROGRAM. Errors are raised as curvebody.Error with their text; warnings are curvebody.Warning. Needs numpy, and for records
h5py and xarray.
"""
import os as _os
import tempfile as _tempfile
from typing import Any as _Any, Mapping as _Mapping, Optional as _Optional

from ._library import Error, Warning, __version__, plugin, plugins, threads
from ._program import check, classify, export, gait, geodesic, inertia, list, resume, space, sweep, verify, view
from ._scenario import Scenario as _Scenario
from .ensemble import Batch, batch
from .records import load, to_world
from .simulation import Simulation, open
from .spaces import Space

__all__ = ["Batch", "Error", "Simulation", "Space", "Warning", "batch", "check", "classify", "export", "gait", "geodesic", "inertia", "list", "load", "open",
           "plugin", "plugins", "resume", "run", "space", "sweep", "threads", "to_world", "verify", "view"]


def run(scenario: _Scenario, output: _Optional[str] = None, set: _Optional[_Mapping[str, _Any]] = None, *, progress: bool = False,
        callback=None, overwrite: bool = False, **more):
    """Runs a scenario (path, text or dict) and returns its record like `load`.

    output     the file that keeps the record. An existing file is replaced, except a record that is unfinished or longer:
               then an error is raised, as by `curvebody run`
    overwrite  whether such a record is replaced, too, as by `curvebody run --force`
    progress   shows a bar
    callback   called with the simulation after each step; if it returns a true value, the run stops there
    """
    with _tempfile.TemporaryDirectory() as folder:
        record = _os.fspath(output) if output else _os.path.join(folder, "run.h5")
        with open(scenario, set, output=record, overwrite=overwrite or None, **more) as sim:
            sim.run(progress=progress, callback=callback)
        return load(record)
