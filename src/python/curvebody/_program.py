"""The commands of the program `curvebody`, for work that is not one run: gaits, sweeps, checks, exports."""
import builtins
import json
import os
import subprocess
import tempfile
from typing import Any, Mapping, Optional

from . import _library
from ._library import Error, program
from ._scenario import File, Scenario, explained, settings
from .records import load


def call(*words) -> str:
    """Runs the program and returns its standard output. Its warnings become Python warnings, its errors curvebody.Error."""
    before = [word for path in _library.plugins() for word in ("--plugin", path)]
    done = subprocess.run([program(), *before, *map(str, words)], capture_output=True, text=True)
    start = "curvebody: warning: "
    _library.warn([line[len(start):] for line in done.stderr.splitlines() if line.startswith(start)])
    if done.returncode:
        raise Error(done.stderr.strip() or done.stdout.strip(), done.returncode)
    return done.stdout


def _sets(given, more):
    return [word for text in settings(given, more) for word in ("--set", text)]


def _options(options: Mapping[str, Any]):
    """Options of a command: plane="a,b" is --plane a,b, json=True is --json, and a list repeats its option."""
    words = []
    for key, values in options.items():
        name = "--" + key.replace("_", "-")
        for value in values if isinstance(values, (builtins.list, tuple)) else [values]:
            words += [] if value is None or value is False else [name] if value is True else [name, value]
    return words


def check(scenario: Scenario, set: Optional[Mapping[str, Any]] = None, **more) -> str:
    """Returns the scenario with all its defaults, as YAML."""
    with File(scenario) as path:
        try:
            return call("check", path, *_sets(set, more))
        except Error as error:
            raise explained(error, more) from None


def gait(scenario: Scenario, task: str = "holonomy", set: Optional[Mapping[str, Any]] = None, output: Optional[str] = None, **options):
    """Runs `curvebody gait SCENARIO TASK`. Returns the JSON that it prints as a dict; if it writes arrays, returns these as
    a Dataset. `options` are the options of the command that have values: plane="a,b", grid="41x41", move=0.03 (see
    `curvebody gait --help`). A list repeats an option: vary=["shape.parameters.a=0.1:1", "shape.parameters.w=1:2"]."""
    with File(scenario) as path, tempfile.TemporaryDirectory() as folder:
        target = output or os.path.join(folder, "gait.h5")
        arrays = task in ("curvature", "path", "optimize")
        text = call("gait", path, task, *_options(options), *_sets(set, {}), *(["-o", target] if arrays or output else []), "--json")
        if os.path.exists(target) and not target.endswith((".yaml", ".yml")):
            return load(target)
        return json.loads(text)


def sweep(scenario: Scenario, output: str, *options, set: Optional[Mapping[str, Any]] = None):
    """Runs a sweep with the output OUT or OUT.h5, and returns the content of OUT.h5 as a Dataset. `options` are further
    arguments of `curvebody sweep`."""
    with File(scenario) as path:
        call("sweep", path, "-o", output, *options, *_sets(set, {}))
    return load(output + ".h5" if os.path.exists(output + ".h5") else output)


def space(name: str, at=None, chart: Optional[str] = None, **parameters) -> dict:
    """Metric, Christoffel symbols, curvature and Killing fields at a point: the output of `curvebody space --json`."""
    word = name if not parameters else name + ":" + ",".join(f"{k}={v}" for k, v in parameters.items())
    words = [] if at is None else ["--at=" + ",".join(repr(float(q)) for q in at)]
    return json.loads(call("space", word, *words, *([] if chart is None else ["--chart", chart]), "--json"))


def geodesic(name: str, start, to=None, velocity=None, length: Optional[float] = None, points: int = 101):
    """A geodesic of a space from the point `start`, as a Dataset of points: to a point, or with a velocity and a length."""
    numbers = lambda q: ",".join(repr(float(v)) for v in q)
    words = ["geodesic", name, "--from=" + numbers(start), "--points", points]
    words += ["--to=" + numbers(to)] if to is not None else ["--velocity=" + numbers(velocity)]
    words += [] if length is None else ["--length", length]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "g.h5")
        call(*words, "-o", path)
        return load(path)


def view(record, output: Optional[str] = None, frames: Optional[int] = None) -> str:
    """Writes the page of a record, and returns the path of the page."""
    words = ["view", record] + ([] if output is None else ["-o", output]) + ([] if frames is None else ["--frames", frames])
    return call(*words).strip()


def resume(record, *, until: Optional[float] = None):
    """Continues a run that was interrupted or killed, in its record, and returns the record as a Dataset. `until`: a new end time."""
    call("resume", record, "--quiet", *([] if until is None else ["--until", until]))
    return load(record)


def verify(record) -> bool:
    """Checks all that can be checked in a record without another run. Returns True, or raises curvebody.Error with the faults."""
    call("verify", record)
    return True


def export(record, output: str, **options) -> str:
    """Runs `curvebody export` with these options. The ending of `output` (.csv, .xdmf, .glb) is the format,
    unless an option names it."""
    ending = os.path.splitext(os.fspath(output))[1][1:]
    form = {"csv": "csv", "xdmf": "xdmf", "glb": "gltf"}.get(ending)
    if form and not {"csv", "xdmf", "gltf", "sequence", "flow"} & options.keys():
        options = {form: True, **options}
    call("export", record, *_options(options), "-o", output)
    return output


def inertia(mesh, **options) -> dict:
    """Mass, inertia and added mass of a body: the output of `curvebody inertia --json`, as a dict. Options are those of the command."""
    return json.loads(call("inertia", mesh, *_options(options), "--json"))


def classify(record, **options) -> dict:
    """The kind of motion in a record: the output of `curvebody classify --json`, as a dict. Options are those of the command."""
    return json.loads(call("classify", record, *_options(options), "--json"))


def list(section: Optional[str] = None) -> dict:
    """All that scenarios may contain, with parameters, ranges and defaults: the output of `curvebody list --json`."""
    return json.loads(call("list", *([] if section is None else [section]), "--json"))
