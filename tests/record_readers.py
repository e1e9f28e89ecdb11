#!/usr/bin/python3
"""Opens the files of a folder with h5py, netCDF4 and xarray, without the readers of this project, and compares every number.

The folder contains finished.h5, interrupted.h5 and killed.h5 (repaired), all with the data of the test's sample, and
finished.xdmf and finished.csv, which were made from finished.h5. Row n of field f has the values f + n/8 + k/1024. Exit
status 77: a module is missing.
"""
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "cli"))
try:
    import h5py
    import netCDF4
    import numpy as np
    import xarray

    import xdmf
except ImportError as missing:
    print(missing)
    sys.exit(77)

FIELDS = ["time", "step", "plot_position", "plot_velocity", "position", "origin", "separation", "energy", "kinetic_energy", "killing_momentum",
          "solver_iterations"]


def expected(name, shape):
    rows = np.arange(shape[0]).reshape((-1,) + (1,) * (len(shape) - 1))
    if name in ("step", "solver_iterations"):
        return np.broadcast_to(rows, shape)
    index = np.arange(int(np.prod(shape[1:]))).reshape(shape[1:])
    return FIELDS.index(name) + rows / 8 + index / 1024


def with_h5py(path, rows, completed):
    with h5py.File(path) as file:
        assert file.attrs["completed"] == completed
        assert file.attrs["Conventions"].startswith("CF-")
        assert file["scenario/source"].asstr()[()] == "curvebody: 1\ntitle: größe\n"
        for name in FIELDS:
            assert file[name].shape[0] == rows, (name, file[name].shape)
            assert (file[name][()] == expected(name, file[name].shape)).all(), name
        assert [scale.name for scale in (file["plot_position"].dims[i][0] for i in range(3))] == ["/time", "/particle", "/axis"]
        assert file["particles/bodies/position/value"] == file["plot_position"]
        assert list(file["h5md"].attrs["version"]) == [1, 1]
        assert list(file["particles/bodies/box"].attrs["boundary"]) == ["none"] * 3


def with_netcdf(path, rows):
    with netCDF4.Dataset(path) as file:
        assert file.dimensions["time"].isunlimited() and len(file.dimensions["time"]) == rows
        for name in FIELDS:
            values = file[name][...]
            assert (values == expected(name, values.shape)).all(), name
        assert file["plot_position"].dimensions == ("time", "particle", "axis")
        assert file["event_kind"].dimensions == ("event",)
        assert file["killing_momentum"].units == "1"
        assert (file["/particles/bodies/position/value"][...] == file["plot_position"][...]).all()
        for group in file.groups.values():  # visits every group
            str(group)


def with_xarray(path, rows, engine):
    with xarray.open_dataset(path, engine=engine) as data:
        assert data.sizes["time"] == rows
        for name in FIELDS:
            values = data[name].values
            assert (values == expected(name, values.shape)).all(), name
        assert list(data.particle.values) == ["a0", "a1"]
        assert list(data.particle_mass.values) == [1, 2.7]
        boost = data.killing_momentum.sel(killing="boost_y").values
        assert (boost == FIELDS.index("killing_momentum") + np.arange(rows) / 8 + 1 / 1024).all()
        if rows:
            assert data.plot_position.sel(time=0, particle="a1", axis="y").item() == 2 + 4 / 1024
        assert data.sizes["event"] == rows // 7
        assert (data.event_gap.values == np.arange(rows // 7) + .25).all()
        assert data.step.dtype == np.int64


def with_xdmf(folder, rows):
    frames = xdmf.frames(f"{folder}/finished.xdmf")
    assert len(frames) == -(-rows // 10)
    for i in (0, 1, len(frames) - 1):
        frame, row = frames[i], 10 * i
        assert float(frame.find("Time").get("Value")) == row / 8
        assert (xdmf.numbers(frame.find("Topology")[0], folder) == [[0, 1]]).all()
        points = xdmf.numbers(frame.find("Geometry")[0], folder)
        assert (points == expected("plot_position", (rows, 2, 3))[row]).all()
        names = {}
        for attribute in frame.findall("Attribute"):
            names[attribute.get("Name")] = attribute.get("Center")
            values = xdmf.numbers(attribute[0], folder)
            if attribute.get("Name") == "plot_velocity":
                assert (values == expected("plot_velocity", (rows, 2, 3))[row]).all()
        assert names["plot_velocity"] == "Node" and names["separation"] == "Cell" and names["energy"] == "Grid"


def with_csv(folder, rows):
    with open(f"{folder}/finished.csv", newline="") as file:
        lines = list(csv.reader(file))
    names = lines[0]
    assert names[:3] == ["time", "step", "separation[0]"] and "killing_momentum[rotation_z]" in names
    assert not any(name.startswith("x[") for name in names)
    values = np.array(lines[1:], float)
    assert len(values) == rows
    assert (values[:, 0] == np.arange(rows) / 8).all()
    column = values[:, names.index("killing_momentum[boost_z]")]
    assert (column == FIELDS.index("killing_momentum") + np.arange(rows) / 8 + 2 / 1024).all()
    with open(f"{folder}/finished-events.csv", newline="") as file:
        events = list(csv.DictReader(file))
    assert len(events) == rows // 7
    assert [event["kind"] for event in events[:4]] == ["reflect", "stop", "mark", "retried_step"]
    assert [float(event["gap"]) for event in events] == [i + .25 for i in range(rows // 7)]


def main(folder):
    for name, rows, completed in (("finished", 1000, 1), ("interrupted", 300, 0), ("killed", 700, 0), ("empty", 0, 1)):
        path = f"{folder}/{name}.h5"
        with_h5py(path, rows, completed)
        with_netcdf(path, rows)
        with_xarray(path, rows, "netcdf4")
        if "h5netcdf" in xarray.backends.list_engines():
            with_xarray(path, rows, "h5netcdf")
    with_xdmf(folder, 1000)
    with_csv(folder, 1000)


main(sys.argv[1])
