"""libcurvebody by ctypes: finding it, the structures of its headers that the package needs, its errors and warnings."""
import ctypes
import ctypes.util
import glob
import os
import re
import shutil
import sys
import warnings
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p

__version__ = "0.1.0"
_SONAME = "libcurvebody.so." + __version__.rpartition(".")[0]

_PLACE = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+): error: ", re.M)

# The values of cb_status (curvebody/status.h).
STATUS = {-1: "memory", -2: "argument", -3: "input", -4: "file", -5: "domain", -6: "unsupported", -7: "step", -8: "interrupted",
          -9: "contact accumulation", 1: "no convergence", 2: "domain", 3: "not finite", 4: "singular"}


class Error(RuntimeError):
    """An error of the library or of the program, with its text.

    status   the kind of the error: "input", "file", "domain", "step" ..; None for an error of the program
    code     the exit code of the program; None for an error of the library
    places   the places in files that the text names: a list of (file, line, column)
    """

    def __init__(self, text, code=None, status=None):
        super().__init__(text)
        self.code, self.status = code, status
        self.places = [(m["file"], int(m["line"]), int(m["column"])) for m in _PLACE.finditer(text)]


class Warning(UserWarning):
    """A result may be wrong. Records also store warnings, in the attribute `warnings`."""


def warn(texts):
    """Gives warnings at the caller's line outside this package."""
    if not texts:
        return
    frame, level, here = sys._getframe(), 1, os.path.dirname(__file__)
    while frame.f_back and os.path.dirname(frame.f_code.co_filename) == here:
        frame, level = frame.f_back, level + 1
    for text in texts:
        warnings.warn(text, Warning, stacklevel=level)


# --- structures of the headers ---

FIELD_TYPES = ("f8", "i8", "i4")  # cb_field_type


class Blob(Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("count", c_size_t), ("data", c_void_p), ("may_lack", c_bool)]


class Dimension(Structure):
    _fields_ = [("name", c_char_p), ("count", c_size_t), ("values", POINTER(c_double)), ("labels", POINTER(c_char_p)), ("doc", c_char_p)]


class Field(Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("rank", c_int), ("dims", c_char_p * 3), ("units", c_char_p), ("doc", c_char_p)]


class Constant(Structure):
    _fields_ = [("name", c_char_p), ("dim", c_char_p), ("values", POINTER(c_double)), ("labels", POINTER(c_char_p)),
                ("units", c_char_p), ("doc", c_char_p), ("integers", POINTER(c_int64))]


class Layout(Structure):
    _fields_ = [("title", c_char_p), ("source", c_char_p), ("resolved", c_char_p), ("attributes", POINTER(c_char_p)),
                ("dimensions", POINTER(Dimension)), ("n_dimensions", c_size_t), ("constants", POINTER(Constant)),
                ("n_constants", c_size_t), ("fields", POINTER(Field)), ("n_fields", c_size_t),
                ("event_fields", POINTER(Field)), ("n_event_fields", c_size_t), ("state", POINTER(Blob)),
                ("n_state", c_size_t), ("observables", c_void_p), ("old_names", c_bool)]


class EventRow(Structure):
    _fields_ = [("time", c_double), ("kind", c_int32), ("particle", c_int32), ("other", c_int32), ("wall", c_int32),
                ("gap", c_double), ("speed_before", c_double), ("speed_after", c_double), ("impulse", c_double),
                ("state", POINTER(c_double))]


class RowState(Structure):
    _fields_ = [("time", c_double), ("step", c_int64), ("field", POINTER(POINTER(c_double)))]


EVENT = CFUNCTYPE(c_int, c_void_p, POINTER(EventRow))
WARNING = CFUNCTYPE(c_int, c_void_p, c_double, c_char_p)


class Sink(Structure):
    _fields_ = [("self", c_void_p), ("row", CFUNCTYPE(c_int, c_void_p, POINTER(c_void_p))), ("event", EVENT),
                ("checkpoint", CFUNCTYPE(c_int, c_void_p, POINTER(Blob), c_size_t)), ("close", CFUNCTYPE(c_int, c_void_p, c_bool))]


class RecordOptions(Structure):
    _fields_ = [("overwrite", c_bool), ("deflate", c_int), ("flush_interval", c_double), ("buffer_bytes", c_size_t),
                ("sync", c_int), ("discard", c_bool), ("join_bytes", c_double)]


class Space(Structure):
    """The beginning of cb_space (curvebody/space.h)."""

    class Factor(Structure):
        _fields_ = [("offset", c_int), ("count", c_int), ("curvature", c_double)]

    _fields_ = [("class_", c_void_p), ("dim", c_int), ("k", c_int), ("n_factors", c_int), ("factor", Factor * 2), ("embedding", c_int)]


class Chart(Structure):
    """The beginning of cb_chart (curvebody/space.h)."""
    _fields_ = [("name", c_char_p), ("alias", c_char_p), ("doc", c_char_p), ("size", c_int)]


TEXTS = POINTER(c_char_p)

# The functions: name, type of the result, types of the arguments.
_FUNCTIONS = [
    ("cb_error_text", c_char_p, []),
    ("cb_threads_set", None, [c_int]),
    ("cb_plugin_load", c_int, [c_char_p]),
    ("cb_scenario_open", c_int, [c_char_p, TEXTS, c_size_t, POINTER(c_void_p)]),
    ("cb_scenario_open_text", c_int, [c_char_p, c_char_p, TEXTS, c_size_t, POINTER(c_void_p)]),
    ("cb_scenario_free", None, [c_void_p]),
    ("cb_scenario_run", c_void_p, [c_void_p]),
    ("cb_scenario_resolved", c_char_p, [c_void_p]),
    ("cb_scenario_title", c_char_p, [c_void_p]),
    ("cb_scenario_warn", c_int, [c_void_p]),
    ("cb_scenario_controls", c_size_t, [c_void_p, POINTER(TEXTS), POINTER(POINTER(c_double))]),
    ("cb_scenario_layout", POINTER(Layout), [c_void_p]),
    ("cb_scenario_check_replaced", c_int, [c_void_p, c_char_p]),
    ("cb_scenario_record", RecordOptions, [c_void_p]),
    ("cb_run_state", POINTER(Blob), [c_void_p, POINTER(c_size_t)]),
    ("cb_run_checkpoint", POINTER(Blob), [c_void_p, POINTER(c_size_t)]),
    ("cb_run_restore", c_int, [c_void_p]),
    ("cb_run_state_fields", POINTER(c_char_p), [c_void_p]),
    ("cb_run_restore_row", c_int, [c_void_p, POINTER(RowState)]),
    ("cb_run_advance", c_int, [c_void_p, POINTER(Sink), c_int64, c_double, c_void_p]),
    ("cb_runs_advance", c_int, [POINTER(c_void_p), c_size_t, c_int64, c_int, POINTER(c_int), c_void_p]),
    ("cb_run_ended", c_bool, [c_void_p]),
    ("cb_run_set_end", c_int, [c_void_p, c_double]),
    ("cb_run_evaluate", c_int, [c_void_p, POINTER(POINTER(c_void_p))]),
    ("cb_run_on_warning", c_int, [c_void_p, WARNING, c_void_p]),
    ("cb_run_end", c_double, [c_void_p]),
    ("cb_run_step", c_double, [c_void_p]),
    ("cb_run_time", c_double, [c_void_p]),
    ("cb_run_steps", c_int64, [c_void_p]),
    ("cb_run_stopped", c_char_p, [c_void_p]),
    ("cb_record_create", c_int, [c_char_p, POINTER(Layout), POINTER(RecordOptions), POINTER(c_void_p)]),
    ("cb_record_sink", Sink, [c_void_p]),
    ("cb_record_warning", c_int, [c_void_p, c_double, c_char_p]),
    ("cb_record_free", None, [c_void_p]),
    ("cb_space_open_text", c_int, [c_char_p, c_char_p, POINTER(c_void_p)]),
    ("cb_space_free", None, [c_void_p]),
    ("cb_space_base_point", None, [c_void_p, c_void_p]),
    ("cb_chart_find", c_void_p, [c_void_p, c_char_p]),
    ("cb_chart_push", c_int, [c_void_p] * 6),
    ("cb_distance", c_double, [c_void_p] * 3),
    ("cb_log", c_int, [c_void_p] * 4),
    ("cb_exp", None, [c_void_p] * 5),
    ("cb_space_check_points", c_int, [c_void_p, c_size_t, c_void_p, c_double, POINTER(c_size_t)]),
    ("cb_distance_all", None, [c_void_p, c_size_t, c_void_p, c_void_p, c_void_p]),
    ("cb_exp_all", None, [c_void_p, c_size_t, c_void_p, c_void_p, c_void_p]),
    ("cb_log_all", c_int, [c_void_p, c_size_t, c_void_p, c_void_p, c_void_p, POINTER(c_size_t)]),
    ("cb_geodesic_point", c_int, [c_void_p, c_void_p, c_void_p, c_double, c_void_p]),
    ("cb_transport", c_int, [c_void_p] * 5),
    ("cb_plot_coordinates", None, [c_void_p] * 5),
    ("cb_origin_distance", c_int, [c_void_p] * 6),
    ("cb_origin_world_point", None, [c_void_p] * 4),
    ("cb_origin_local_point", None, [c_void_p] * 4),
]

_loaded = None


_HERE = os.path.dirname(os.path.realpath(__file__))
# Where `pip` and `cmake --install` put bin/ and lib/: into this package, and into the prefix that has this package in
# lib/python3*/dist-packages.
_PREFIXES = (_HERE, os.path.abspath(os.path.join(_HERE, "..", "..", "..", "..")))


def program():
    """The path of the program `curvebody`: the one that is named, that was installed with this package, or of PATH."""
    near = [os.path.join(prefix, "bin", "curvebody") for prefix in _PREFIXES]
    found = os.environ.get("CURVEBODY_PROGRAM") or next(filter(os.path.isfile, near), None) or shutil.which("curvebody")
    if not found:
        raise Error("the program `curvebody` is not found: install it, or set CURVEBODY_PROGRAM to its path")
    return found


def _path():
    """The path of the library: the one that is named, that was installed with the named program or with this package,
    that is next to the program, or that the system finds. The loader of the system searches only some folders, and only
    after `ldconfig`; a path does not depend on them."""
    named = os.environ.get("CURVEBODY_LIBRARY")
    if named:
        return named
    programs = os.environ.get("CURVEBODY_PROGRAM"), shutil.which("curvebody")
    of = [path and os.path.dirname(os.path.dirname(os.path.realpath(path))) for path in programs]
    for prefix in filter(None, (of[0], *_PREFIXES, of[1])):
        for name in _SONAME, "libcurvebody.so*":
            folders = (os.path.join(glob.escape(prefix), *folder) for folder in (("lib*",), ("lib", "*")))
            near = sorted(path for folder in folders for path in glob.glob(os.path.join(folder, name)))
            if near:
                return near[0]
    found = ctypes.util.find_library("curvebody")
    if not found:
        raise Error("the library libcurvebody is not found: install it, or set CURVEBODY_LIBRARY to its path")
    return found


def _check_version(library, path):
    """Raises an error if the library has another version than this package, whose structures would then be wrong."""
    try:
        library.cb_version.restype = c_char_p
        version = "the version " + library.cb_version().decode()
    except AttributeError:
        version = "an older version"
    if version != "the version " + __version__:
        raise Error(f"the library {path} has {version}, and the Python package {_HERE} has the version {__version__}: "
                    f"install both from the same version of curvebody")


def library():
    """The library. Its functions are those of the headers in curvebody/; their types are set once."""
    global _loaded
    if _loaded:
        return _loaded
    path = _path()
    try:
        found = ctypes.CDLL(path)
        _check_version(found, path)
        for name, result, arguments in _FUNCTIONS:
            function = getattr(found, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as failure:
        raise Error(f"the library {path} cannot be used by version {__version__} of the Python package: {failure}") from None
    _loaded = found
    return found


def check(status):
    """Raises the last error of the library if a status is one."""
    if status:
        raise Error(library().cb_error_text().decode(), status=STATUS.get(status))


def texts(items):
    """An array of C strings."""
    return (c_char_p * max(len(items), 1))(*[item.encode() for item in items])


def threads(n=0):
    """Sets the number of threads of this process; 0: the number in OMP_NUM_THREADS, or the number of cores."""
    library().cb_threads_set(int(n))


_plugins = []


def plugin(path):
    """Loads a plugin: spaces, bodies, integrators and other classes of your own, for the rest of the process."""
    path = os.path.abspath(os.fspath(path))
    check(library().cb_plugin_load(path.encode()))
    _plugins.append(path)


def plugins():
    """The paths of the plugins that were loaded."""
    return list(_plugins)
