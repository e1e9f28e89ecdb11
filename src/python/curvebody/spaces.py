"""Spaces: distances, geodesics, parallel transport, charts and plot coordinates, computed by libcurvebody."""
import ctypes
import json

import numpy as np

from . import _library
from ._library import Error, check, library


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
        self._check(library().cb_space_open_text(b"space", text.encode(), ctypes.byref(self._g)))
        told = ctypes.cast(self._g, ctypes.POINTER(_library.Space)).contents
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
        if _library and _library._loaded and getattr(self, "_g", None):
            _library._loaded.cb_space_free(self._g)

    _check = staticmethod(check)

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
        library().cb_space_base_point(self._g, _pointer(x))
        return x

    def _chart(self, chart):
        found = library().cb_chart_find(self._g, chart.encode())
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
            self._check(library().cb_chart_push(self._g, chart, _pointer(q4), _pointer(np.zeros(16)), _pointer(x), _pointer(v)))
            return x
        return one(q) if q.ndim == 1 else np.apply_along_axis(one, -1, q)

    def _pairs(self, x, y):
        """Arrays of points with their shapes before the last axis broadcast, for the library; and this shape."""
        x, y = np.asarray(x, float), np.asarray(y, float)
        for a in x, y:
            if not a.ndim or a.shape[-1] != self.embedding:
                raise ValueError(f"expected arrays [..., {self.embedding}], not an array of shape {a.shape}")
        shape = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
        whole = shape + (self.embedding,)
        return np.ascontiguousarray(np.broadcast_to(x, whole)), np.ascontiguousarray(np.broadcast_to(y, whole)), shape

    def distance(self, x, y, origin_x=None, origin_y=None):
        """Geodesic distance of points. With origin_x and origin_y, x and y are single points local to these origins, as in a
        record; the distance then keeps all digits however far out they are."""
        n, lib = self.embedding, library()
        if origin_x is None and origin_y is None:
            x, y, shape = self._pairs(x, y)
            out = np.empty(shape)
            lib.cb_distance_all(self._g, out.size, _pointer(x), _pointer(y), _pointer(out))
            return out[()]
        a, b, d = _numbers(x, n), _numbers(y, n), ctypes.c_double()
        o, p = _numbers(origin_x, 16), _numbers(origin_y, 16)
        self._check(lib.cb_origin_distance(self._g, _pointer(o), _pointer(a), _pointer(p), _pointer(b), ctypes.byref(d)))
        return d.value

    def exp(self, x, v):
        """The end of the geodesic from x with velocity v, at time 1."""
        x, v, shape = self._pairs(x, v)
        out = np.empty(x.shape)
        library().cb_exp_all(self._g, int(np.prod(shape, dtype=int)), _pointer(x), _pointer(v), _pointer(out))
        return out

    def log(self, x, y):
        """The velocity at x of the shortest geodesic that reaches y at time 1."""
        x, y, shape = self._pairs(x, y)
        out, which = np.empty(x.shape), ctypes.c_size_t()
        status = library().cb_log_all(self._g, int(np.prod(shape, dtype=int)), _pointer(x), _pointer(y), _pointer(out), ctypes.byref(which))
        if status:
            at = f"pair {np.unravel_index(which.value, shape)}: " if shape else ""
            raise Error(at + library().cb_error_text().decode(), status=_library.STATUS.get(status))
        return out

    def geodesic(self, x, y, points=101):
        """Points of the shortest geodesic from x to y, as an array [points, embedding]."""
        n = self.embedding
        if n == self.dim:
            v = self.log(x, y)
            return np.array([self.exp(x, t * v) for t in np.linspace(0, 1, points)])

        def at(t):
            z = np.empty(16)
            self._check(library().cb_geodesic_point(self._g, _pointer(_numbers(x, n)), _pointer(_numbers(y, n)), ctypes.c_double(t), _pointer(z)))
            return z[:n]
        return np.array([at(t) for t in np.linspace(0, 1, points)])

    def transport(self, x, y, u):
        """The vector u after parallel transport from x to y along the shortest geodesic."""
        n, w = self.embedding, np.empty(16)
        self._check(library().cb_transport(self._g, *(_pointer(_numbers(a, n)) for a in (x, y, u)), _pointer(w)))
        return w[:n]

    def plot_coordinates(self, x):
        """Three plot coordinates of a point: the ball model, the stereographic projection, or the coordinates."""
        n = self.embedding

        def one(a, _):
            p = np.empty(3)
            library().cb_plot_coordinates(self._g, _pointer(_numbers(a, n)), None, _pointer(p), None)
            return p
        return self._each(one, x, x)

    def world(self, x, origin):
        """The point in the world's embedding of a point that is local to an origin."""
        w = np.empty(16)
        library().cb_origin_world_point(self._g, _pointer(_numbers(origin, 16)), _pointer(_numbers(x, self.embedding)), _pointer(w))
        return w[:self.embedding]
