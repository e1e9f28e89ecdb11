"""Spaces: distances, geodesics, parallel transport, charts and plot coordinates, computed by libcurvebody."""
import ctypes

import numpy as np

from . import _library
from ._library import Error, c_size_t, check, library
from ._scenario import to_text


_ORIGIN = 16  # numbers of cb_origin (curvebody/space.h)
_TOLERANCE = 1e-9  # relative distance of a point from the quadric of the space, as in scenarios


def _pointer(x):
    return x.ctypes.data_as(ctypes.c_void_p)


def _broadcast(*given):
    """Broadcasts arrays [..., n], given with their n, in the shapes before the last axis. Returns them and this shape."""
    arrays = [np.asarray(array, float) for array, _ in given]
    for array, (_, n) in zip(arrays, given):
        if array.shape[-1:] != (n,):
            raise ValueError(f"expected {n} numbers or an array [..., {n}], not an array of shape {array.shape}")
    shape = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    return [np.ascontiguousarray(np.broadcast_to(array, shape + array.shape[-1:])) for array in arrays], shape


def _each(function, n, *given):
    """Calls a function of the library with each item of the arrays of `_broadcast`, for n numbers. Returns them [..., n]."""
    arrays, shape = _broadcast(*given)
    out = np.empty(shape + (n,))
    for i in np.ndindex(shape):
        check(function(*(_pointer(array[i]) for array in (*arrays, out))))
    return out


class Space:
    """A space of a scenario, given by its name and parameters, by its map, or by its text in YAML. A point is an array of
    coordinates in its embedding, or of its own coordinates if the space is given by a metric. Functions take one point or
    an array [..., coordinate]. They raise a ValueError if coordinates are not those of a point."""

    def __init__(self, name, **parameters):
        if isinstance(name, dict):
            name, parameters = None, {**name, **parameters}
        given = {**({"name": name} if name else {}), **parameters}
        text = name if name and ("\n" in name or ":" in name) else to_text(given)
        if text is name and parameters:
            raise TypeError("a space that is given as a text has its parameters there: expected no others")
        self._g = ctypes.c_void_p()
        check(library().cb_space_open_text(b"space", text.encode(), ctypes.byref(self._g)))
        told = ctypes.cast(self._g, ctypes.POINTER(_library.Space)).contents
        self.dim, self.embedding = told.dim, told.embedding

    @classmethod
    def of(cls, data):
        """The space of a record or of a simulation."""
        lines = (data.attrs.get("scenario", "") if hasattr(data, "attrs") else data.resolved).splitlines()
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
        """The point with coordinates q in a chart; q may be an array of coordinates [..., coordinate]."""
        chart = self._chart(chart)
        size = ctypes.cast(chart, ctypes.POINTER(_library.Chart)).contents.size
        zero, v = np.zeros(size), np.empty(self.embedding)
        return _each(lambda q, x: library().cb_chart_push(self._g, chart, q, _pointer(zero), x, _pointer(v)), self.embedding, (q, size))

    def _check(self, **points):
        """Raises a ValueError with the index of the first coordinates that are not those of a point."""
        for name, x in points.items():
            x, which = np.ascontiguousarray(x, float), c_size_t()
            if x.shape[-1:] != (self.embedding,):
                continue  # the message about the shape comes later
            try:
                check(library().cb_space_check_points(self._g, x.size // self.embedding, _pointer(x), _TOLERANCE, ctypes.byref(which)))
            except Error as error:
                at = f"[{', '.join(map(str, np.unravel_index(which.value, x.shape[:-1])))}]" if x.ndim > 1 else ""
                raise ValueError(f"{name}{at}: {error}") from None

    def _pairs(self, x, y):
        """Arrays of points with their shapes before the last axis broadcast; and this shape."""
        return _broadcast((x, self.embedding), (y, self.embedding))

    def distance(self, x, y, origin_x=None, origin_y=None):
        """Geodesic distance of points. With origin_x and origin_y, x and y are points local to these origins, as in a record;
        the distance then keeps all digits however far out they are."""
        n, lib = self.embedding, library()
        self._check(x=x, y=y)
        if origin_x is None and origin_y is None:
            (x, y), shape = self._pairs(x, y)
            out = np.empty(shape)
            lib.cb_distance_all(self._g, out.size, _pointer(x), _pointer(y), _pointer(out))
            return out[()]
        return _each(lambda *pointers: lib.cb_origin_distance(self._g, *pointers), 1,
                     (origin_x, _ORIGIN), (x, n), (origin_y, _ORIGIN), (y, n))[..., 0]

    def exp(self, x, v):
        """The end of the geodesic from x with velocity v, at time 1."""
        self._check(x=x)
        (x, v), shape = self._pairs(x, v)
        out = np.empty(x.shape)
        library().cb_exp_all(self._g, int(np.prod(shape, dtype=int)), _pointer(x), _pointer(v), _pointer(out))
        return out

    def log(self, x, y):
        """The velocity at x of the shortest geodesic that reaches y at time 1. An error for antipodal points names the pair."""
        self._check(x=x, y=y)
        (x, y), shape = self._pairs(x, y)
        out, which = np.empty(x.shape), c_size_t()
        status = library().cb_log_all(self._g, int(np.prod(shape, dtype=int)), _pointer(x), _pointer(y), _pointer(out), ctypes.byref(which))
        if status:
            at = f"pair {np.unravel_index(which.value, shape)}: " if shape else ""
            raise Error(at + library().cb_error_text().decode(), status=_library.STATUS.get(status))
        return out

    def geodesic(self, x, y, points=101):
        """Points of the shortest geodesic from x to y, as an array [points, ..., embedding]."""
        self._check(x=x, y=y)
        n, times = self.embedding, np.linspace(0, 1, points)
        if n == self.dim:
            return self.exp(x, np.multiply.outer(times, self.log(x, y)))
        return np.array([_each(lambda x, y, z: library().cb_geodesic_point(self._g, x, y, t, z), n, (x, n), (y, n)) for t in times])

    def transport(self, x, y, u):
        """The vector u after parallel transport from x to y along the shortest geodesic."""
        self._check(x=x, y=y)
        n = self.embedding
        return _each(lambda *pointers: library().cb_transport(self._g, *pointers), n, (x, n), (y, n), (u, n))

    def plot_coordinates(self, x):
        """Three plot coordinates of a point: the ball model, the stereographic projection, or the coordinates."""
        self._check(x=x)
        return _each(lambda x, p: library().cb_plot_coordinates(self._g, x, None, p, None), 3, (x, self.embedding))

    def world(self, x, origin):
        """The point in the world's embedding of a point that is local to an origin."""
        n = self.embedding
        return _each(lambda *pointers: library().cb_origin_world_point(self._g, *pointers), n, (origin, _ORIGIN), (x, n))

    def local(self, x, origin):
        """The point local to an origin of a point x in the world's embedding: the inverse of `world`. In hyperbolic space it loses
        digits like exp(distance from the base point)."""
        self._check(x=x)
        n = self.embedding
        return _each(lambda *pointers: library().cb_origin_local_point(self._g, *pointers), n, (origin, _ORIGIN), (x, n))
