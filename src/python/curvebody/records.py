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

    from ._program import call

    with tempfile.TemporaryDirectory() as folder:
        if not os.path.exists(beside):
            call("export", path, "--xdmf", "-o", os.path.join(folder, "s.xdmf"))
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
    from .spaces import Space

    h = Space.of(data)
    position, origin = data["position"].values, data["origin"].values
    component = data["particle_component"].values.astype(int)
    out = np.empty(position.shape)
    for t in range(position.shape[0]):
        for i in range(position.shape[1]):
            out[t, i] = h.world(position[t, i], origin[t, component[i]])
    return data["position"].copy(data=out).assign_attrs(long_name="position in the world's embedding")
