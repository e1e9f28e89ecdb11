"""curvebody from Python: runs scenarios, loads their records, measures in their spaces.

    import curvebody
    d = curvebody.run("rod.yaml", integrator__step=0.1)     # an xarray.Dataset, with labels and units
    d.energy.plot()
    h3 = curvebody.Space("h3", curvature=-1)
    h3.distance(h3.point([1, 1, 0]), h3.point([2, 1, 1]))

The program `curvebody` runs scenarios, and libcurvebody computes in spaces; both are found where they are installed, or are
named by CURVEBODY_PROGRAM and CURVEBODY_LIBRARY. Their errors are raised as curvebody.Error with their text; their warnings
are curvebody.Warning. Needs numpy, h5py, xarray and netCDF4.
"""
import ctypes
import ctypes.util
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy as np

__all__ = ["Error", "Space", "check", "gait", "geodesic", "load", "run", "space", "sweep", "to_world", "view", "Warning"]


class Error(RuntimeError):
    """An error of the program or the library, with its text; `code` is the program's exit code."""

    def __init__(self, words, code=None):
        super().__init__(words)
        self.code = code


class Warning(UserWarning):
    """The program warns that a result may be wrong. Records also store warnings, in the attribute `warnings`."""


# --- the program ---


def _program():
    found = os.environ.get("CURVEBODY_PROGRAM") or shutil.which("curvebody")
    if not found:
        raise Error("the program `curvebody` is not found: install it, or set CURVEBODY_PROGRAM to its path")
    return found


def _warn(told):
    """Repeats the warnings on the program's standard error as Python warnings, at the caller's line outside this file."""
    start = "curvebody: warning: "
    lines = [line[len(start):] for line in told.splitlines() if line.startswith(start)]
    frame, level = sys._getframe(), 1
    while lines and frame.f_back and frame.f_code.co_filename == __file__:
        frame, level = frame.f_back, level + 1
    for line in lines:
        warnings.warn(line, Warning, stacklevel=level)


def _call(*words):
    done = subprocess.run([_program(), *map(str, words)], capture_output=True, text=True)
    _warn(done.stderr)
    if done.returncode:
        raise Error(done.stderr.strip() or done.stdout.strip(), done.returncode)
    return done.stdout


def _sets(given, more):
    """The --set options for {"integrator.step": 0.1} and for integrator__step=0.1."""
    words = []
    for key, value in {**(given or {}), **{k.replace("__", "."): v for k, v in more.items()}}.items():
        words += ["--set", f"{key}={value if isinstance(value, str) else json.dumps(value)}"]
    return words


class _Scenario:
    """Gives the path of a scenario file; a text (more than one line) or a dict is written to a temporary file."""

    def __init__(self, scenario):
        self.file = None
        if isinstance(scenario, dict):
            scenario = json.dumps(scenario) + "\n"
        if isinstance(scenario, str) and "\n" in scenario:
            self.file = tempfile.NamedTemporaryFile("w", suffix=".yaml")
            self.file.write(scenario)
            self.file.flush()
            scenario = self.file.name
        self.path = os.fspath(scenario)

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        if self.file:
            self.file.close()


def check(scenario, set=None, **more):
    """Returns the scenario with all its defaults, as YAML."""
    with _Scenario(scenario) as path:
        return _call("check", path, *_sets(set, more))


def run(scenario, output=None, set=None, **more):
    """Runs a scenario (path, text or dict) and returns its record like `load`. `output`: the file that keeps the record."""
    with _Scenario(scenario) as path, tempfile.TemporaryDirectory() as folder:
        record = output or os.path.join(folder, "run.h5")
        _call("run", path, "-o", record, "--quiet", *_sets(set, more))
        return load(record)


def gait(scenario, task="holonomy", set=None, output=None, **options):
    """Runs `curvebody gait SCENARIO TASK`. Returns the JSON that it prints as a dict; if it writes arrays, returns these as
    a Dataset. `options` are the options of the command that have values: plane="a,b", grid="41x41", move=0.03 (see
    `curvebody gait --help`). A list repeats an option: vary=["shape.parameters.a=0.1:1", "shape.parameters.w=1:2"]."""
    with _Scenario(scenario) as path, tempfile.TemporaryDirectory() as folder:
        words = [word for key, values in options.items() for value in (values if isinstance(values, list) else [values])
                 for word in ("--" + key.replace("_", "-"), value)]
        target = output or os.path.join(folder, "gait.h5")
        arrays = task in ("curvature", "path", "optimize")
        text = _call("gait", path, task, *words, *_sets(set, {}), *(["-o", target] if arrays or output else []), "--json")
        if os.path.exists(target) and not target.endswith((".yaml", ".yml")):
            return load(target)
        return json.loads(text)


def sweep(scenario, output, *options, set=None):
    """Runs a sweep with the output OUT or OUT.h5, and returns the content of OUT.h5 as a Dataset. `options` are further
    arguments of `curvebody sweep`."""
    with _Scenario(scenario) as path:
        _call("sweep", path, "-o", output, *options, *_sets(set, {}))
    return load(output + ".h5" if os.path.exists(output + ".h5") else output)


def space(name, at=None, chart=None, **parameters):
    """Metric, Christoffel symbols, curvature and Killing fields at a point: the output of `curvebody space --json`."""
    word = name if not parameters else name + ":" + ",".join(f"{k}={v}" for k, v in parameters.items())
    words = [] if at is None else ["--at=" + ",".join(repr(float(q)) for q in at)]
    return json.loads(_call("space", word, *words, *([] if chart is None else ["--chart", chart]), "--json"))


def geodesic(name, start, to=None, velocity=None, length=None, points=101):
    """A geodesic of a space from the point `start`, as a Dataset of points: to a point, or with a velocity and a length."""
    numbers = lambda q: ",".join(repr(float(v)) for v in q)
    words = ["geodesic", name, "--from=" + numbers(start), "--points", points]
    words += ["--to=" + numbers(to)] if to is not None else ["--velocity=" + numbers(velocity)]
    words += [] if length is None else ["--length", length]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "g.h5")
        _call(*words, "-o", path)
        return load(path)


def view(record, output=None, frames=None):
    """Writes the page of a record, and returns the path of the page."""
    words = ["view", record] + ([] if output is None else ["-o", output]) + ([] if frames is None else ["--frames", frames])
    return _call(*words).strip()


# --- records ---


def load(path, surfaces=None):
    """Loads a record, a result of `gait`, or the result of a sweep as an xarray.Dataset in memory: dimensions are labelled,
    units are attributes, events have the dimension `event`, and `scenario` is an attribute. The moving surfaces of bodies in
    a fluid are added from PATH-surface.h5 if it exists (surface_plot_position, surface_face ...); surfaces=True computes
    them if that file does not exist."""
    import h5py
    import xarray

    path = os.fspath(path)
    try:
        with xarray.open_dataset(path, engine="netcdf4", decode_times=False) as file:
            data = file.load()
    except OSError as failure:
        if not os.path.exists(path):
            raise Error(f"{path}: the file does not exist") from None
        raise Error(f"{path}: cannot be read: {failure}; if a run is writing the record, wait for it; if its writer was killed, "
                    f"use `curvebody repair`") from None
    with h5py.File(path) as file:
        if "scenario" in file and "resolved" in file["scenario"]:
            text = file["scenario/resolved"][()]
            data.attrs["scenario"] = text.decode() if isinstance(text, bytes) else str(text)
        if "particle_name" in data and "particle" in data.dims:
            data = data.assign_coords(particle=("particle", data["particle_name"].values.astype(str)))
    if "event_i" in data:
        data = _renamed(data)
    beside = (path[:-3] if path.endswith(".h5") else path) + "-surface.h5"
    if surfaces or (surfaces is None and os.path.exists(beside)):
        data = data.merge(_surfaces(path, beside))
    return data


# Names in older versions and present names, of arrays (also in src/record/record_contents.c) and of attributes.
_NAMES = {"x": "plot_position", "v": "plot_velocity", "event_i": "event_particle", "event_j": "event_other",
          "breathing": "removed_normal_velocity"}
_ATTRIBUTES = {"start_moved": "start_position_change", "start_turned": "start_velocity_change"}


def _renamed(data):
    """Gives a record of an older version the present names. Its event_j was -2 - k for number k of the walls, of the watched
    events or of the warnings."""
    data = data.rename({old: name for old, name in _NAMES.items() if old in data})
    data.attrs = {_ATTRIBUTES.get(name, name): value for name, value in data.attrs.items()}
    second = data["event_other"]
    data["event_wall"] = second.copy(data=np.where(second < -1, -2 - second, -1).astype("int32"))
    data["event_other"] = second.copy(data=np.where(second < -1, -1, second).astype("int32"))
    return data


def _surfaces(path, beside):
    import xarray

    with tempfile.TemporaryDirectory() as folder:
        if not os.path.exists(beside):
            _call("export", path, "--xdmf", "-o", os.path.join(folder, "s.xdmf"))
            beside = os.path.join(folder, "s-surface.h5")
        with xarray.open_dataset(beside, engine="netcdf4", decode_times=False) as file:
            data = file.load()
    own = [name for name in {*data.variables, *data.dims}]
    return data.rename({name: "surface_" + name for name in own}).assign_attrs({})


def to_world(data):
    """Positions of all particles in the world's embedding, [time, particle, coordinate], from /position and /origin. In
    hyperbolic space these numbers grow like exp(distance from the base point), and their differences lose digits. To keep
    the digits, use `Space.distance` with origins."""
    if "position" not in data or "origin" not in data:
        raise Error("the record has no state: it was written with `record: {state: false}`; /plot_position has its plot coordinates")
    h = Space.of(data)
    position, origin = data["position"].values, data["origin"].values
    component = data["particle_component"].values.astype(int)
    out = np.empty(position.shape)
    for t in range(position.shape[0]):
        for i in range(position.shape[1]):
            out[t, i] = h.world(position[t, i], origin[t, component[i]])
    return data["position"].copy(data=out).assign_attrs(long_name="position in the world's embedding")


# --- spaces ---


class _Factor(ctypes.Structure):
    _fields_ = [("offset", ctypes.c_int), ("count", ctypes.c_int), ("curvature", ctypes.c_double)]


class _Geometry(ctypes.Structure):
    """The beginning of cb_space (curvebody/space.h)."""
    _fields_ = [("class_", ctypes.c_void_p), ("dim", ctypes.c_int), ("k", ctypes.c_int), ("n_factors", ctypes.c_int),
                ("factor", _Factor * 2), ("embedding", ctypes.c_int)]


_loaded = None


def _library():
    global _loaded
    if _loaded:
        return _loaded
    named = os.environ.get("CURVEBODY_LIBRARY")
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("curvebody") or "/usr/bin/curvebody")))
    near = sorted(glob.glob(os.path.join(prefix, "lib", "libcurvebody.so*")) +
                  glob.glob(os.path.join(prefix, "lib", "*", "libcurvebody.so*")))
    found = named or (near[0] if near else None) or ctypes.util.find_library("curvebody")
    if not found:
        raise Error("the library libcurvebody is not found: install it, or set CURVEBODY_LIBRARY to its path")
    library = ctypes.CDLL(found)
    library.cb_error_text.restype = ctypes.c_char_p
    library.cb_chart_find.restype = ctypes.c_void_p
    for name in ("cb_space_open_text", "cb_log", "cb_geodesic_point", "cb_transport", "cb_chart_push", "cb_chart_pull", "cb_origin_distance"):
        getattr(library, name).restype = ctypes.c_int
    library.cb_distance.restype = ctypes.c_double
    _loaded = library
    return library


def _numbers(x, n):
    x = np.ascontiguousarray(x, float)
    if x.shape != (n,):
        raise ValueError(f"expected {n} numbers, not an array of shape {x.shape}")
    return x


def _pointer(x):
    return x.ctypes.data_as(ctypes.c_void_p)


class Space:
    """A space of a scenario, given by its name and parameters, by its map, or by its text in YAML. A point is an array of
    coordinates in its embedding, or of its own coordinates if the space is given by a metric. Functions take one point or
    an array [..., coordinate]."""

    def __init__(self, name, **parameters):
        if isinstance(name, dict):
            name, parameters = None, {**name, **parameters}
        given = {**({"name": name} if name else {}), **parameters}
        text = name if name and ("\n" in name or ":" in name) else json.dumps(given)
        self._g = ctypes.c_void_p()
        library = _library()
        self._check(library.cb_space_open_text(b"space", text.encode(), ctypes.byref(self._g)))
        told = ctypes.cast(self._g, ctypes.POINTER(_Geometry)).contents
        self.dim, self.embedding = told.dim, told.embedding

    @classmethod
    def of(cls, data):
        """The space of a record."""
        lines = data.attrs.get("scenario", "").splitlines()
        first = next((i for i, line in enumerate(lines) if line.startswith("space:")), None)
        if first is None:
            raise Error("expected a record with a space")
        here = lines[first][len("space:"):].strip()
        if here:
            return cls(here + "\n")
        last = first + 1
        while last < len(lines) and lines[last][:1] in (" ", "\t", ""):
            last += 1
        return cls("\n".join(lines[first + 1:last]) + "\n")

    def __del__(self):
        if _loaded and getattr(self, "_g", None):
            _loaded.cb_space_free(self._g)

    @staticmethod
    def _check(status):
        if status:
            raise Error(_library().cb_error_text().decode())

    def _each(self, function, x, y, result=None):
        """Applies `function` to every pair of points of the arrays x and y. The shapes before the last axis are broadcast."""
        x, y = np.asarray(x, float), np.asarray(y, float)
        shape = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
        x = np.broadcast_to(x, shape + x.shape[-1:]).reshape(-1, x.shape[-1])
        y = np.broadcast_to(y, shape + y.shape[-1:]).reshape(-1, y.shape[-1])
        out = np.array([function(a, b) for a, b in zip(x, y)])
        return out.reshape(shape + out.shape[1:])[()]

    def base(self):
        """The base point of the space, at which the charts have their origin."""
        x = np.empty(self.embedding)
        _library().cb_space_base_point(self._g, _pointer(x))
        return x

    def _chart(self, chart):
        found = _library().cb_chart_find(self._g, chart.encode())
        if not found:
            raise Error(f"the space has no chart `{chart}`")
        return ctypes.c_void_p(found)

    def point(self, q, chart="polar"):
        """The point with coordinates q in a chart; q may be an array of coordinates [..., dim]."""
        chart, n = self._chart(chart), self.embedding
        q = np.asarray(q, float)

        def one(q):
            x, v, q4 = np.empty(n), np.empty(n), np.zeros(16)
            q4[:len(q)] = q
            self._check(_library().cb_chart_push(self._g, chart, _pointer(q4), _pointer(np.zeros(16)), _pointer(x), _pointer(v)))
            return x
        return one(q) if q.ndim == 1 else np.apply_along_axis(one, -1, q)

    def distance(self, x, y, origin_x=None, origin_y=None):
        """Geodesic distance of points. With origin_x and origin_y, x and y are single points local to these origins, as in a
        record; the distance then keeps all digits however far out they are."""
        n, library = self.embedding, _library()
        if origin_x is None and origin_y is None:
            return self._each(lambda a, b: library.cb_distance(self._g, _pointer(_numbers(a, n)), _pointer(_numbers(b, n))), x, y)
        a, b, d = _numbers(x, n), _numbers(y, n), ctypes.c_double()
        o, p = _numbers(origin_x, 16), _numbers(origin_y, 16)
        self._check(library.cb_origin_distance(self._g, _pointer(o), _pointer(a), _pointer(p), _pointer(b), ctypes.byref(d)))
        return d.value

    def exp(self, x, v):
        """The end of the geodesic from x with velocity v, at time 1."""
        n = self.embedding

        def one(a, u):
            y = np.empty(16)
            _library().cb_exp(self._g, _pointer(_numbers(a, n)), _pointer(_numbers(u, n)), _pointer(y), None)
            return y[:n]
        return self._each(one, x, v)

    def log(self, x, y):
        """The velocity at x of the shortest geodesic that reaches y at time 1."""
        n = self.embedding

        def one(a, b):
            v = np.empty(16)
            self._check(_library().cb_log(self._g, _pointer(_numbers(a, n)), _pointer(_numbers(b, n)), _pointer(v)))
            return v[:n]
        return self._each(one, x, y)

    def geodesic(self, x, y, points=101):
        """Points of the shortest geodesic from x to y, as an array [points, embedding]."""
        n = self.embedding
        if n == self.dim:
            v = self.log(x, y)
            return np.array([self.exp(x, t * v) for t in np.linspace(0, 1, points)])

        def at(t):
            z = np.empty(16)
            self._check(_library().cb_geodesic_point(self._g, _pointer(_numbers(x, n)), _pointer(_numbers(y, n)), ctypes.c_double(t), _pointer(z)))
            return z[:n]
        return np.array([at(t) for t in np.linspace(0, 1, points)])

    def transport(self, x, y, u):
        """The vector u after parallel transport from x to y along the shortest geodesic."""
        n, w = self.embedding, np.empty(16)
        self._check(_library().cb_transport(self._g, *(_pointer(_numbers(a, n)) for a in (x, y, u)), _pointer(w)))
        return w[:n]

    def plot_coordinates(self, x):
        """Three plot coordinates of a point: the ball model, the stereographic projection, or the coordinates."""
        n = self.embedding

        def one(a, _):
            p = np.empty(3)
            _library().cb_plot_coordinates(self._g, _pointer(_numbers(a, n)), None, _pointer(p), None)
            return p
        return self._each(one, x, x)

    def world(self, x, origin):
        """The point in the world's embedding of a point that is local to an origin."""
        w = np.empty(16)
        _library().cb_origin_world_point(self._g, _pointer(_numbers(origin, 16)), _pointer(_numbers(x, self.embedding)), _pointer(w))
        return w[:self.embedding]
