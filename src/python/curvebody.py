"""curvebody from Python: runs scenarios, loads their records, measures in their spaces.

    import curvebody
    d = curvebody.run("rod.yaml", integrator__step=0.1)     # an xarray.Dataset, with labels and units
    d.energy.plot()
    h3 = curvebody.Space("h3", curvature=-1)
    h3.distance(h3.point([1, 1, 0]), h3.point([2, 1, 1]))

The program `curvebody` runs, and libcurvebody measures; both are found where they are installed, or are named by
CURVEBODY_PROGRAM and CURVEBODY_LIBRARY. What they refuse raises curvebody.Error with their words; what they warn of is a
curvebody.Warning. Needs numpy, h5py,
xarray and netCDF4.
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
    """The words of the program or the library; `code` is the program's exit code."""

    def __init__(self, words, code=None):
        super().__init__(words)
        self.code = code


class Warning(UserWarning):
    """A number that the program gives may be wrong: what is said of it. Records keep it, as the attribute `warnings`."""


# --- the program ---


def _program():
    found = os.environ.get("CURVEBODY_PROGRAM") or shutil.which("curvebody")
    if not found:
        raise Error("no program `curvebody`: install it, or name it in CURVEBODY_PROGRAM")
    return found


def _warn(told):
    """What the program warns of on its standard error, as warnings at the first line that is not of this file."""
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
    """--set of {"integrator.step": 0.1} and of integrator__step=0.1."""
    words = []
    for key, value in {**(given or {}), **{k.replace("__", "."): v for k, v in more.items()}}.items():
        words += ["--set", f"{key}={value if isinstance(value, str) else json.dumps(value)}"]
    return words


class _Scenario:
    """A path, a text, or a dict as a file, for as long as it is needed. A text has more than one line."""

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
    """The scenario with all its defaults, as YAML."""
    with _Scenario(scenario) as path:
        return _call("check", path, *_sets(set, more))


def run(scenario, output=None, set=None, **more):
    """Runs a scenario (path, text or dict); its record as by `load`. Kept where `output` is given."""
    with _Scenario(scenario) as path, tempfile.TemporaryDirectory() as folder:
        record = output or os.path.join(folder, "run.h5")
        _call("run", path, "-o", record, "--quiet", *_sets(set, more))
        return load(record)


def gait(scenario, task="holonomy", set=None, output=None, **options):
    """`curvebody gait SCENARIO TASK`: its answer as a dict, or the arrays that it writes as a Dataset. Options are those of the
    command: over="a,b", grid="41x41", amplitude=... (see `curvebody gait --help`)."""
    with _Scenario(scenario) as path, tempfile.TemporaryDirectory() as folder:
        words = [word for key, value in options.items() for word in ("--" + key.replace("_", "-"), value)]
        target = output or os.path.join(folder, "gait.h5")
        arrays = task in ("curvature", "path", "optimize")
        text = _call("gait", path, task, *words, *_sets(set, {}), *(["-o", target] if arrays or output else []), "--json")
        if os.path.exists(target):
            return load(target)
        return json.loads(text)


def sweep(scenario, output, *options, set=None):
    """Runs a sweep into the folder's or file's name OUT; what OUT.h5 has as a Dataset."""
    with _Scenario(scenario) as path:
        _call("sweep", path, "-o", output, *options, *_sets(set, {}))
    return load(output + ".h5" if os.path.exists(output + ".h5") else output)


def space(name, at=None, chart=None, **parameters):
    """Metric, Christoffel symbols, curvature and Killing fields at a point, as `curvebody space --json` has them."""
    word = name if not parameters else name + ":" + ",".join(f"{k}={v}" for k, v in parameters.items())
    words = [] if at is None else ["--at=" + ",".join(repr(float(q)) for q in at)]
    return json.loads(_call("space", word, *words, *([] if chart is None else ["--chart", chart]), "--json"))


def geodesic(name, start, to=None, velocity=None, length=None, points=101):
    """A geodesic of a space as a Dataset of points: to a point, or with a velocity and a length."""
    numbers = lambda q: ",".join(repr(float(v)) for v in q)
    words = ["geodesic", name, "--from=" + numbers(start), "--points", points]
    words += ["--to=" + numbers(to)] if to is not None else ["--velocity=" + numbers(velocity)]
    words += [] if length is None else ["--length", length]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "g.h5")
        _call(*words, "-o", path)
        return load(path)


def view(record, output=None, frames=None):
    """Writes the page of a record; its path."""
    words = ["view", record] + ([] if output is None else ["-o", output]) + ([] if frames is None else ["--frames", frames])
    return _call(*words).strip()


# --- records ---


def load(path, surfaces=None):
    """A record, an answer of `gait`, or the result of a sweep as an xarray.Dataset in memory: dimensions are labelled, units are
    attributes, events have the dimension `event`, and `scenario` is an attribute. The moving surfaces of bodies in a fluid are
    added from PATH-surface.h5 where it is there (surface_x, surface_face ...); surfaces=True makes them."""
    import h5py
    import xarray

    path = os.fspath(path)
    try:
        with xarray.open_dataset(path, engine="netcdf4", decode_times=False) as file:
            data = file.load()
    except OSError as failure:
        if not os.path.exists(path):
            raise Error(f"{path}: no such file") from None
        raise Error(f"{path}: cannot be read: {failure}; a record that is being written or whose writer was killed is made "
                    f"plain by `curvebody repair`") from None
    with h5py.File(path) as file:
        if "scenario" in file and "resolved" in file["scenario"]:
            text = file["scenario/resolved"][()]
            data.attrs["scenario"] = text.decode() if isinstance(text, bytes) else str(text)
        if "particle_name" in data and "particle" in data.dims:
            data = data.assign_coords(particle=("particle", data["particle_name"].values.astype(str)))
    beside = (path[:-3] if path.endswith(".h5") else path) + "-surface.h5"
    if surfaces or (surfaces is None and os.path.exists(beside)):
        data = data.merge(_surfaces(path, beside))
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
    """Positions of all particles in the world's embedding, [time, particle, coordinate], from /position and /origin. Far out in
    hyperbolic space these numbers grow like exp(distance), and differences of them lose what `Space.distance` with origins keeps."""
    if "position" not in data or "origin" not in data:
        raise Error("the record has no state: it was written with `record: {state: false}`; /x has its picture")
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
    """The beginning of cb_geometry (curvebody/geometry.h)."""
    _fields_ = [("kind", ctypes.c_void_p), ("dim", ctypes.c_int), ("k", ctypes.c_int), ("n_factors", ctypes.c_int),
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
        raise Error("no library libcurvebody: install it, or name it in CURVEBODY_LIBRARY")
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
    """A space of a scenario: by name with parameters, or as its map or text of YAML. Points are numbers of its embedding (in a
    space given by a metric, coordinates); one point, or an array [..., embedding]."""

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
            raise Error("the record has no space")
        here = lines[first][len("space:"):].strip()
        if here:
            return cls(here + "\n")
        last = first + 1
        while last < len(lines) and lines[last][:1] in (" ", "\t", ""):
            last += 1
        return cls("\n".join(lines[first + 1:last]) + "\n")

    def __del__(self):
        if _loaded and getattr(self, "_g", None):
            _loaded.cb_geometry_free(self._g)

    @staticmethod
    def _check(status):
        if status:
            raise Error(_library().cb_error_text().decode())

    def _each(self, function, x, y, result=None):
        """function of every pair of points."""
        x, y = np.asarray(x, float), np.asarray(y, float)
        shape = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
        x = np.broadcast_to(x, shape + x.shape[-1:]).reshape(-1, x.shape[-1])
        y = np.broadcast_to(y, shape + y.shape[-1:]).reshape(-1, y.shape[-1])
        out = np.array([function(a, b) for a, b in zip(x, y)])
        return out.reshape(shape + out.shape[1:])[()]

    def base(self):
        """The point that charts start from."""
        x = np.empty(self.embedding)
        _library().cb_geometry_base_point(self._g, _pointer(x))
        return x

    def _chart(self, chart):
        found = _library().cb_chart_find(self._g, chart.encode())
        if not found:
            raise Error(f"no chart `{chart}`")
        return ctypes.c_void_p(found)

    def point(self, q, chart="polar"):
        """The point at coordinates of a chart."""
        chart, n = self._chart(chart), self.embedding
        q = np.asarray(q, float)

        def one(q):
            x, v, q4 = np.empty(n), np.empty(n), np.zeros(16)
            q4[:len(q)] = q
            self._check(_library().cb_chart_push(self._g, chart, _pointer(q4), _pointer(np.zeros(16)), _pointer(x), _pointer(v)))
            return x
        return one(q) if q.ndim == 1 else np.apply_along_axis(one, -1, q)

    def distance(self, x, y, origin_x=None, origin_y=None):
        """Geodesic distance of points; of points local to origins, as a record has them, to all digits at any distance."""
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
        """The velocity at x of the shortest geodesic that is at y at time 1."""
        n = self.embedding

        def one(a, b):
            v = np.empty(16)
            self._check(_library().cb_log(self._g, _pointer(_numbers(a, n)), _pointer(_numbers(b, n)), _pointer(v)))
            return v[:n]
        return self._each(one, x, y)

    def geodesic(self, x, y, points=101):
        """[points, embedding] of the shortest geodesic from x to y."""
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
        """u parallel transported from x to y along the shortest geodesic."""
        n, w = self.embedding, np.empty(16)
        self._check(_library().cb_transport(self._g, *(_pointer(_numbers(a, n)) for a in (x, y, u)), _pointer(w)))
        return w[:n]

    def picture(self, x):
        """Three numbers to draw a point by: the ball, the stereographic projection, or the coordinates."""
        n = self.embedding

        def one(a, _):
            p = np.empty(3)
            _library().cb_picture(self._g, _pointer(_numbers(a, n)), None, _pointer(p), None)
            return p
        return self._each(one, x, x)

    def world(self, x, origin):
        """The point of the world of one that is local to an origin."""
        w = np.empty(16)
        _library().cb_origin_world_point(self._g, _pointer(_numbers(origin, 16)), _pointer(_numbers(x, self.embedding)), _pointer(w))
        return w[:self.embedding]
