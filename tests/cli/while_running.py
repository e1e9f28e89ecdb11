#!/usr/bin/python3
"""A record can be opened at any time during its run, like any file. Each reader finds the first rows of the finished record,
with its dimension scales and links, and they are at most around one second old. A second writer gets an error that names the
first one.

    while_running.py BINARY [moments, by default 6, or --all: 50 [seed]]

CB_TEST_ALL in the environment means --all. No reader needs a special option or waits. xdmf.py replaces ParaView's reader of
XDMF; it reads the numbers that a document names with h5py.
"""
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

from command import PATIENCE, Case, ROD, main

import h5py
import netCDF4
import numpy as np
import xarray
import xdmf

ALL = "CB_TEST_ALL" in os.environ or sys.argv[1:2] == ["--all"]
if ALL:
    sys.argv[1:2] = ["50"]
MOMENTS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 6
SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else time.time_ns() % 10**9

# The ends of the rod are spheres that collide many times, which gives many events. No sync, because the disk may be slow.
TOUCHING = ROD.replace("{name: h3, curvature: -1}", "{name: s3, curvature: 0.5}").replace("boost_x", "rotation_wx")
TOUCHING = TOUCHING.replace("step: 0.01", "step: 0.05").replace("{every: 1, o", "{every: 2, sync: never, o")
TOUCHING = TOUCHING.replace("    mass: 1", "    radius: 0.3\n    mass: 1") + """\
contacts: {within: [a], restitution: 0.999}
events: [{distance: {between: [[a, 0], [a, 1]], equals: 0.8}}]
"""
NAMES = "time", "step", "plot_position", "momentum", "energy", "separation", "event_time", "event_kind"
EVERY = 1000  # rows per frame of XDMF


def with_h5py(path, folder):
    with h5py.File(path) as file:
        return {name: file[name][()] for name in NAMES}


def with_netcdf(path, folder):
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        assert file["plot_position"].dimensions == ("time", "particle", "axis")
        return {name: file[name][...] for name in NAMES}


def with_xarray(path, folder):
    with xarray.open_dataset(path, engine="netcdf4", mask_and_scale=False) as data:
        return {name: data[name].values for name in NAMES}


def with_h5dump(path, folder):
    found = {}
    for name, kind in ("energy", "<f8"), ("step", "<i8"), ("event_time", "<f8"):
        binary = os.path.join(folder, "dumped")
        subprocess.run(["h5dump", "-d", "/" + name, "-b", "LE", "-o", binary, path], check=True, stdout=subprocess.DEVNULL)
        found[name] = np.fromfile(binary, kind)
    return found


def links(path):
    """Returns three maps: dataset -> type, shape, names of its dimensions, attributes; name -> other names of the same
    object; attributes of the file."""
    found, first = {}, {}
    with h5py.File(path) as file:
        def look(name, item):
            # visititems visits each object once; its other names are searched in the root
            if isinstance(item, h5py.Dataset) and not name.startswith(("checkpoint", "scenario")):
                scales = [[scale.name for scale in item.dims[d].values()] for d in range(item.ndim)]
                own = sorted(key for key in item.attrs if key not in ("DIMENSION_LIST", "REFERENCE_LIST"))
                found[name] = (str(item.dtype), item.shape[1:], item.maxshape, scales,
                               [(key, str(item.attrs[key])) for key in own])
        file.visititems(look)
        for name in file:
            other = [n for n in found if n != name and n in file and file[n] == file[name]]
            first[name] = sorted(other)
        own = {key: str(file.attrs[key]) for key in file.attrs if key not in ("completed", "warnings")}
    return found, first, own


class WhileRunning(Case):
    def begin(self):
        """Starts a run that does not end by itself."""
        self.write("rod.yaml", TOUCHING)
        run = self.start("run", "rod.yaml", "-o", "rod.h5", "--set", "time.end=1e8")
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        self.wait_for("rod.h5", run)
        return run

    def segments(self):
        """Number of segments of the file; 0: they have been joined."""
        with h5py.File(self.path("rod.h5")) as file:
            return len(file["checkpoint/segments"]) if "segments" in file["checkpoint"] else 0

    def with_xdmf(self, path, folder):
        """The last frames of a document, and the times of all frames."""
        self.good("export", "rod.h5", "--xdmf", "--every", str(EVERY), "-o", "rod.xdmf")
        frames = xdmf.frames(self.path("rod.xdmf"))
        points = [xdmf.numbers(frame.find("Geometry")[0], folder, grows=True) for frame in frames[-3:]]
        return {"plot_position": [None] * (len(frames) - len(points)) + points,
                "time": [float(frame.find("Time").get("Value")) for frame in frames]}

    def look(self, readers, rng):
        """The data that readers found during the run, the largest age of the file, and its final number of segments."""
        seen, oldest, moments = [], 0, 0
        while moments < MOMENTS or self.segments() < 3:
            time.sleep(rng.uniform(0, 0.3))
            moments += 1
            for name in readers:
                oldest = max(oldest, time.time() - os.stat(self.path("rod.h5")).st_mtime)
                found = readers[name](self.path("rod.h5"), self.folder)
                if moments <= MOMENTS:
                    seen.append((name, found))
        return seen, oldest, self.segments()

    def test_readers(self):
        rng = random.Random(SEED)
        readers = {"h5py": with_h5py, "netCDF4": with_netcdf, "xarray": with_xarray, "XDMF": self.with_xdmf}
        if shutil.which("h5dump"):
            readers["h5dump"] = with_h5dump
        else:
            print("h5dump is not installed and not tested")
        run = self.begin()
        built = links(self.path("rod.h5"))
        seen, oldest, segments = self.look(readers, rng)
        run.send_signal(signal.SIGINT)
        run.wait()
        self.assertEqual(self.segments(), 0)
        self.assertFalse(os.path.exists(self.path("rod.h5.parts")))
        self.assertEqual(built, links(self.path("rod.h5")))
        with h5py.File(self.path("rod.h5")) as file:
            whole = {name: file[name][()] for name in NAMES}
        self.assertGreater(len(whole["event_time"]), 100)
        for name, found in seen:
            lengths = {len(values) for field, values in found.items() if not field.startswith("event")}
            if name in ("h5py", "netCDF4", "xarray"):
                self.assertEqual(len(lengths), 1, name)
                # events and rows end at about the same time
                self.assertTrue(np.array_equal(found["event_time"], whole["event_time"][:len(found["event_time"])]))
                behind = found["time"][-1] - found["event_time"][-1] if len(found["event_time"]) else 0
                self.assertTrue(-1 < behind < 50, (name, behind))
            for field, values in found.items():
                right = whole[field][::EVERY][:len(values)] if name == "XDMF" else whole[field][:len(values)]
                if name == "XDMF" and field == "plot_position":
                    values, right = values[-3:], right[-3:]
                self.assertTrue(np.array_equal(values, right), f"{name}: {field}, seed {SEED}")
        self.assertLess(oldest, 8 * PATIENCE)  # a second, plus the time that a busy machine takes to write the next file
        print(f"seed {SEED}: {MOMENTS} moments, {len(seen)} readings by {', '.join(readers)}, rows {len(seen[0][1]['time'])} "
              f"to {len(whole['time'])} in {segments} segments, files up to {oldest:.2f} s old")

    def test_second_writer_is_refused_and_readers_are_not(self):
        run = self.begin()
        me = f"process {run.pid} on {socket.gethostname()} since 20"
        self.write("s.yaml", "curvebody: 1\nsweep:\n  scenario: rod.yaml\n  keep: last\n"
                             "  over: [{key: bodies.0.motion.speed, values: [1, 2], name: speed}]\n")
        self.good("geodesic", "h3", "--from", "1,1,0", "--to", "2,1,1", "--points", "5", "-o", "g.h5")
        with h5py.File(self.path("rod.h5")) as held:
            rows = len(held["time"])
            for words in (["run", "rod.yaml", "-o", "rod.h5"], ["run", "rod.yaml", "-o", "rod.h5", "--force"],
                          ["resume", "rod.h5", "--until", "1e6"], ["repair", "rod.h5"], ["sweep", "s.yaml", "-o", "rod"],
                          ["geodesic", "h3", "--from", "1,1,0", "--to", "2,1,1", "--points", "5", "-o", "rod.h5"]):
                done = self.call(*words)
                self.assertEqual((done.returncode, done.stdout), (3, ""), (words, done.stderr))
                self.assertIn("rod.h5: in use: a run is writing it (" + me, done.stderr, words)
            for words in (["export", "rod.h5", "--csv", "--every", "100", "-o", "rod.csv"],
                          ["view", "rod.h5", "-o", "rod.html"], ["verify", "rod.h5"]):
                self.good(*words)
            self.assertEqual(len(held["time"]), rows)
            self.assertIsNone(run.poll())


if __name__ == "__main__":
    main()
