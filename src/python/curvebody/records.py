"""Records, and results of gaits and sweeps, as datasets of xarray."""
import os
import tempfile

import numpy as np

from ._library import Error


def load(path, surfaces=None):
    """Loads a record, a result of `gait`, or the result of a sweep as an xarray.Dataset in memory: dimensions are labelled,
    units are attributes, events have the dimension `event`, and `scenario` is an attribute. The moving surfaces of bodies in
    a fluid are added from PATH-surface.h5 if it exists (surface_plot_position, surface_face ...); surfaces=True computes
    them if that file does not exist."""
    path = os.fspath(path)
    data = _dataset(path)
    if "particle_name" in data and "particle" in data.dims:
        data = data.assign_coords(particle=("particle", data["particle_name"].values.astype(str)))
    if "event_i" in data:
        data = _renamed(data)
    beside = (path[:-3] if path.endswith(".h5") else path) + "-surface.h5"
    if surfaces or (surfaces is None and os.path.exists(beside)):
        data = data.merge(_surfaces(path, beside))
    return data


def _dataset(path):
    """Reads the arrays at the root of an HDF5 file, with the names of their dimensions, which are dimension scales as in
    netCDF-4. An array that is the scale of a dimension becomes a coordinate."""
    try:
        import h5py
        import xarray
    except ImportError as failure:
        raise Error(f"records are read with the Python packages h5py and xarray: {failure}; install the Debian "
                    f"packages python3-h5py and python3-xarray, or use `python3 -m pip install h5py xarray`") from None
    try:
        with h5py.File(path, "r") as file:
            arrays = {name: _array(item) for name, item in file.items()
                      if isinstance(item, h5py.Dataset) and not _only_a_length(item)}
            attributes = _attributes(file)
            resolved = file.get("scenario/resolved")
            if resolved is not None:
                attributes["scenario"] = resolved.asstr()[()]
    except OSError as failure:
        if not os.path.exists(path):
            raise Error(f"{path}: the file does not exist") from None
        raise Error(f"{path}: cannot be read: {failure}; if a run is writing the record, wait for it; if its writer was killed, "
                    f"use `curvebody repair`") from None
    return xarray.Dataset(arrays, attrs=attributes)


def _only_a_length(dataset):
    """Whether an array only gives a dimension its length, which the attribute NAME of netCDF says."""
    return b"but not a netCDF variable" in dataset.attrs.get("NAME", b"")


def _array(dataset):
    """The dimensions, the values and the attributes of an array."""
    import h5py

    own = dataset.name.rsplit("/", 1)[1]
    scale = dataset.attrs.get("CLASS", b"") == b"DIMENSION_SCALE"
    dims = [own] if scale else [d[0].name.rsplit("/", 1)[1] if len(d) else f"{own}_dim_{i}"
                                for i, d in enumerate(dataset.dims)]
    text = h5py.check_string_dtype(dataset.dtype)
    values = dataset.asstr()[()] if text and text.length is None else dataset[()]
    if values.dtype == "S1" and values.ndim:  # letters, of which the last dimension makes words
        dims, values = dims[:-1], np.ascontiguousarray(values).view(f"S{values.shape[-1]}")[..., 0]
    return dims, values, _attributes(dataset)


# Attributes by which HDF5 connects arrays and dimensions.
_HIDDEN = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST"}


def _attributes(item):
    """Attributes of the file or of an array. An array of one number becomes the number."""
    import h5py

    found = {}
    for name, value in item.attrs.items():
        if name in _HIDDEN or name.startswith("_Netcdf4") or name == "_NCProperties":
            continue
        value = "" if isinstance(value, h5py.Empty) else value.decode() if isinstance(value, bytes) else value
        if isinstance(value, np.ndarray):
            if value.dtype.kind in "OS":
                value = [text.decode() if isinstance(text, bytes) else text for text in value]
            value = value if len(value) != 1 or np.ndim(value) != 1 else value[0]
        found[name] = value
    return found


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
    from ._program import call

    with tempfile.TemporaryDirectory() as folder:
        if not os.path.exists(beside):
            call("export", path, "--xdmf", "-o", os.path.join(folder, "s.xdmf"))
            beside = os.path.join(folder, "s-surface.h5")
        data = _dataset(beside)
    return data.rename({name: "surface_" + name for name in {*data.variables, *data.dims}})


def to_world(data):
    """Positions of all particles in the world's embedding: of a record as an array [time, particle, coordinate], from
    /position and /origin; of a simulation, at the present time, as an array [particle, coordinate]. In hyperbolic space
    these numbers grow like exp(distance from the base point), and their differences lose digits. To keep the digits, use
    `Space.distance` with origins."""
    from .spaces import Space

    if not hasattr(data, "attrs"):
        return Space.of(data).world(data.observe("position"), data.observe("origin")[data._components()])
    if "position" not in data or "origin" not in data:
        raise Error("the record has no state: it was written with `record: {state: false}`; /plot_position has its plot coordinates")
    position, origin = data["position"].values, data["origin"].values
    component = data["particle_component"].values.astype(int)
    return data["position"].copy(data=Space.of(data).world(position, origin[:, component])).assign_attrs(long_name="position in the world's embedding")
