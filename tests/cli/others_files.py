#!/usr/bin/python3
"""HDF5 files of other programs, damaged and forged: a separate process probes each file first. If it crashes, the command
rejects the file with the name of the object that was being read. The command itself never ends by a signal, never hangs, and
its exit code is 0, 2 or 3.

    others_files.py BINARY [unittest options]; CURVEBODY_SEED: the first seed of damaged bytes for each kind of file (1).
"""
import os
import random
import re
import resource
import shutil
import struct
import time
import unittest
import zlib

from command import BALL, HAS_VIEW, PATIENCE, Case, ROD, sanitized
import h5py
import numpy as np

FACES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.]])
POSED = BALL.replace("    shape: {name: ellipsoid, resolution: 16}\n", "").replace(
    "    density: 1200", "    poses: {sequence: poses.h5, step: 0.01, end: clamped}")
BLOWN = BALL.replace("medium: water", "medium: water\n  flow: {grid: grid.h5}").replace("n: 16", "n: 8")
GAIT = """\
curvebody: 1
bundle: {name: samples, file: samples.h5}
gait: {fourier: {mean: [0, 0], cosine: [[.1, 0]], sine: [[0, .1]]}}
"""
SECONDS = 100 * PATIENCE  # more than the wall time that the program gives to a probe
TRIES = 10 if sanitized() else 75  # for each of four kinds of files
LEAKING = os.environ | {"LSAN_OPTIONS": f"print_suppressions=0:suppressions={os.path.dirname(__file__)}/hdf5.lsan"}
SEED = int(os.environ.get("CURVEBODY_SEED", "1"))


def in_bounded_time():
    resource.setrlimit(resource.RLIMIT_CPU, (5, 5))  # the child inherits this limit; its own limit would make the tests slow
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class OthersFiles(Case):
    def make(self, name, fill, libver="earliest"):
        with h5py.File(self.path(name), "w", libver=libver) as file:
            fill(file)

    @staticmethod
    def fill_poses(file):
        file["poses"] = np.array([CORNERS * (1 + 0.1 * i) for i in range(5)])
        file.create_dataset("time", data=np.arange(5.), chunks=(2,), compression=4, shuffle=True, fletcher32=True)
        file["face"] = FACES
        file["time"].make_scale("time")
        file["poses"].dims[0].attach_scale(file["time"])
        file["poses"].attrs["words"] = ["a", "b"]
        file.attrs["units"] = "m"

    @staticmethod
    def fill_grid(file):
        file.create_dataset("velocity", data=np.ones((3, 3, 3, 3)), chunks=(1, 3, 3, 3))
        for axis in "xyz":
            file[axis] = np.linspace(-10, 10, 3)

    @staticmethod
    def fill_samples(file):
        n = 6
        file["connection"] = 0.1 * (np.arange(n * n * 6) % 11).reshape(n, n, 3, 2)
        file["metric"] = np.tile(np.eye(2), (n, n, 1, 1))
        for d, name in enumerate(("left", "right")):
            file[name] = np.linspace(-1, 1.5, n)
            file[name].make_scale(name)
            file["connection"].dims[d].attach_scale(file[name])
        file.attrs["group"] = "se2"

    def posed(self, fill=None, libver="earliest"):
        self.write("posed.yaml", POSED)
        self.make("poses.h5", fill or self.fill_poses, libver)

    # ---- Random bytes

    def damaged(self, name, commands, seed, codes=(0, 2, 3)):
        whole = self.read(name)
        used = [i for i, byte in enumerate(whole) if byte]
        refused = 0
        for s in range(seed, seed + TRIES):
            r, bytes_ = random.Random(s), bytearray(whole)
            for _ in range(r.choice((1, 1, 2, 4, 8))):
                at = r.choice(used) if r.random() < 0.8 else r.randrange(len(whole))
                bytes_[at] = r.choice((0, 1, 127, 128, 255, r.randrange(256)))
            self.write(name, bytes(bytes_))
            words, begin = commands[s % len(commands)], time.time()
            done = self.call(*words, env=LEAKING, preexec_fn=in_bounded_time, timeout=60)
            self.assertIn(done.returncode, codes, f"seed {s} of {name}: {words}\n{done.stderr}")
            self.assertLess(time.time() - begin, SECONDS, f"seed {s} of {name}: {words}")
            refused += "cannot be read: " in done.stderr
        self.write(name, whole)
        self.good(*commands[0])
        print(f"{name}: seeds {seed} to {seed + TRIES - 1}, {refused} rejected by the probe")
        return refused

    def test_damaged_poses(self):
        self.posed()
        self.damaged("poses.h5", [["check", "posed.yaml"]], SEED)

    def test_damaged_grids(self):
        self.write("blown.yaml", BLOWN)
        self.make("grid.h5", self.fill_grid)
        self.damaged("grid.h5", [["check", "blown.yaml"]], SEED)

    def test_damaged_samples(self):
        self.write("gait.yaml", GAIT)
        self.make("samples.h5", self.fill_samples)
        self.damaged("samples.h5", [["gait", "gait.yaml", "holonomy"]], SEED, (0, 1, 2, 3))  # 1: the damaged numbers can make the computation fail

    def test_damaged_records(self):
        self.write("rod.yaml", ROD.replace("end: 1}", "end: 0.2}"))
        self.good("run", "rod.yaml", "-o", "rod.h5", "--quiet")
        self.damaged("rod.h5", [["verify", "rod.h5"], ["export", "rod.h5", "--csv"], ["export", "rod.h5", "--xdmf"],
                                *([["view", "rod.h5"]] if HAS_VIEW else []), ["repair", "rod.h5"],
                                ["resume", "rod.h5", "--quiet"]], SEED)

    def test_the_number_of_objects_is_limited_for_the_whole_record(self):
        """Hard links multiply objects: with 30 links from each group to the next level there are 30^4 paths to the last of
        four levels, and every group has few objects."""
        self.write("rod.yaml", ROD)
        self.good("run", "rod.yaml", "-o", "rod.h5", "--quiet")
        with h5py.File(self.path("rod.h5"), "a") as file:
            below = file.create_group("last")
            for level in "dcba":
                group = file.create_group(level)
                for i in range(30):
                    group[f"l{i:02}"] = below
                below = group
        done = self.call("verify", "rod.h5", timeout=SECONDS)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("rod.h5: error: expected a record with at most 20000 objects", done.stderr)

    # ---- Segments of a record that a killed run left

    def leave(self, name, segments):
        """Makes a record with this number of segments. Each is begun by a run, which is killed once the record names it. If a
        run was killed before its first checkpoint, it cannot be resumed, and the record is made again."""
        self.write("rod.yaml", ROD.replace("end: 1}", "end: 1e9}"))
        n = 1
        while n <= segments:
            if n == 1:
                shutil.rmtree(self.path(name + ".parts"), ignore_errors=True)
                if os.path.exists(self.path(name)):
                    os.remove(self.path(name))
            run = self.start(*(["run", "rod.yaml", "-o"] if n == 1 else ["resume"]), name, "--quiet")
            named = False
            while not named and run.poll() is None:
                time.sleep(0.01)
                named = os.path.exists(self.path(name)) and f"{n:06}.h5".encode() in self.read(name)
            run.kill()
            run.wait()
            n = n + 1 if named else 1

    def test_damaged_segments(self):
        self.leave("left.h5", 2)
        commands = [["verify", "left.h5"], ["export", "left.h5", "--csv"]]
        commands += [["view", "left.h5", "--frames", "10"]] if HAS_VIEW else []
        for n, name in enumerate(("left.h5", "left.h5.parts/000001.h5", "left.h5.parts/000002.h5")):
            whole = self.read(name)
            for s in range(SEED, SEED + TRIES // 25 + 1):
                r, bytes_ = random.Random(s), bytearray(whole)
                for _ in range(8):  # the part of the file with the structure
                    bytes_[r.randrange(44000)] = r.randrange(256)
                self.write(name, bytes(bytes_))
                done = self.call(*commands[s % len(commands)], env=LEAKING, preexec_fn=in_bounded_time, timeout=60)
                self.assertIn(done.returncode, (0, 2, 3), f"seed {s} of {name}: {commands[s % len(commands)]}\n{done.stderr}")
            self.write(name, whole)

    def test_one_process_reads_all_segments(self):
        """The dynamic linker writes a file for each process, which counts the probes. A segment that the virtual file does
        not name has a separate probe."""
        self.leave("left.h5", 3)
        segments = [name for name in os.listdir(self.path("left.h5.parts")) if re.fullmatch(r"\d*[1-9]\d*\.h5", name)]
        with h5py.File(self.path("left.h5")) as file:  # a segment without valid rows is not a source of the virtual file
            named = {os.path.basename(source.file_name) for source in file["time"].virtual_sources()}
        unnamed = [name for name in segments if name not in named]
        for expected, name in (2 + len(unnamed), None), (1 + len(segments), "left.h5"):
            if name:
                os.remove(self.path(name))
            self.good("export", "left.h5", "--csv", "-o", "left.csv",
                      env=os.environ | {"LD_DEBUG": "statistics", "LD_DEBUG_OUTPUT": self.path("process")})
            processes = [file for file in os.listdir(self.folder) if file.startswith("process.")]
            self.assertEqual(len(processes), expected, processes)
            for file in processes:
                os.remove(self.path(file))

    def test_a_segment_that_hdf5_does_not_survive_is_refused_and_not_the_record(self):
        """Rows before the damaged segment are kept. If there are none, the error names the segment."""
        self.leave("left.h5", 2)
        for n in 2, 1:
            name = f"left.h5.parts/{n:06}.h5"
            self.change(name, self.heap(name) + 24, struct.pack("<Q", 2**64 - 16))
            if n == 2:
                done = self.good("export", "left.h5", "--csv", "-o", "left.csv")
                self.assertRegex(done.stderr, "1 segments in .*left.h5.parts cannot be read: rows after [0-9]+ are lost")
            else:
                self.refused(r"left.h5.parts/000001.h5: error: /.*: cannot be read: the child process that reads the file "
                             "took more than (10 s of CPU time|60 s)\n$", "export", "left.h5", "--csv", "-o", "left.csv")

    def test_a_virtual_file_leads_to_its_own_segments_only(self):
        """An external link must not lead to a pipe, on which the probe would wait, under any name."""
        self.leave("left.h5", 1)
        os.mkfifo(self.path("pipe"))
        source = h5py.VirtualSource(self.path("pipe"), "x", shape=(2, 3), maxshape=(None, 3))
        layout = h5py.VirtualLayout(shape=(2, 3), dtype="f8", maxshape=(None, 3))
        layout[0:h5py.h5s.UNLIMITED, :] = source[0:h5py.h5s.UNLIMITED, :]
        with h5py.File(self.path("left.h5"), "r+") as file:
            file.create_virtual_dataset("other", layout)
        self.good("export", "left.h5", "--csv", "-o", "left.csv", timeout=20)

    # ---- Files that crash HDF5

    def refused(self, expected, *words, seconds=SECONDS):
        begin = time.time()
        done = self.call(*words)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, expected)
        self.assertLess(time.time() - begin, seconds)

    def change(self, name, at, new):
        bytes_ = bytearray(self.read(name))
        bytes_[at:at + len(new)] = new
        self.write(name, bytes(bytes_))

    def heap(self, name="poses.h5"):
        """The heap of texts: "GCOL", version, size; each object: index, references, 4 bytes, size (HDF5 File Format
        Specification III.E)."""
        return self.read(name).index(b"GCOL")

    def test_a_heap_through_which_hdf5_goes_without_end(self):
        """The rounded size of the heap's first object plus the size of its header overflows to 0."""
        self.posed()
        self.change("poses.h5", self.heap() + 24, struct.pack("<Q", 2**64 - 16))
        self.refused(r"^poses.h5: error: /.*: attribute '.*': cannot be read: the child process that reads the file "
                     "took more than (10 s of CPU time|60 s)\n$", "check", "posed.yaml")

    def test_a_text_of_more_memory_than_is_given(self):
        self.posed()
        reference = struct.pack("<IQ", 1, self.heap())
        at = self.read("poses.h5").index(reference)
        self.change("poses.h5", at, struct.pack("<I", 2**31 - 1))
        self.refused(r"^poses.h5: error: /.*: attribute '.*': cannot be read: ", "check", "posed.yaml")

    def test_a_chunk_of_more_memory_than_is_given(self):
        def fill(file):
            self.fill_poses(file)
            big = file.create_dataset("big", (2**28,), chunks=(2**28,), dtype="f8", compression=4)
            big.id.write_direct_chunk((0,), zlib.compress(bytes(2**16)))
        self.posed(fill)
        self.refused("^poses.h5: error: /big: cannot be read: it has chunks of more than 1 GiB\n$",
                     "check", "posed.yaml")

    def test_a_chunk_of_fewer_bytes_than_its_extents(self):
        """The last chunk has 99 or 101 numbers, expected 100, with each filter that the program supports."""
        for size in 8 * 99, 8 * 101:
            for filters in {"compression": 4}, {"compression": 4, "shuffle": True}, {"fletcher32": True}:
                packed = zlib.compress(bytes(size)) if "compression" in filters else bytes(size)
                def fill(file):
                    self.fill_poses(file)
                    short = file.create_dataset("short", (1000,), chunks=(100,), dtype="f8", **filters)
                    short[:] = 1
                    short.id.write_direct_chunk((900,), packed + bytes(4 * ("fletcher32" in filters)))
                self.posed(fill)
                self.refused("^poses.h5: error: /short: cannot be read: the length of a chunk does not agree with its extents\n$",
                             "check", "posed.yaml")

    def test_many_numbers_of_few_bytes(self):
        """2^40 bytes, but only one chunk exists."""
        def fill(file):
            self.fill_poses(file)
            file.create_dataset("long", (2**37,), chunks=(2**20,), dtype="f8")[0] = 1
        self.posed(fill)
        self.refused("^poses.h5: error: /long: cannot be read: it contains more numbers than the file can contain\n$",
                     "check", "posed.yaml")

    def test_filters_of_others_are_not_read(self):
        def fill(file):
            self.fill_poses(file)
            del file["poses"]
            file.create_dataset("poses", data=np.array([CORNERS] * 5), compression="lzf")
        self.posed(fill)
        self.refused("^poses.h5: error: dataset 'poses' passes through a filter other than shuffle, deflate and "
                     "fletcher32\n$", "check", "posed.yaml")

    # ---- Valid files

    def test_true_files_are_taken(self):
        for libver in "earliest", "latest":
            self.posed(libver=libver)
            self.good("check", "posed.yaml")

    def test_many_numbers_in_one_chunk_and_links_in_circles(self):
        """80 MB that deflate compresses to 80 kB; a group that contains itself; a deleted dimension scale."""
        def fill(file):
            self.fill_poses(file)
            file.create_dataset("zeros", data=np.zeros(10**7), chunks=(10**7,), compression=9)
            group = file.create_group("group")
            group["again"] = group
            group["root"] = file["/"]
            group["elsewhere"] = h5py.ExternalLink("not-there.h5", "/x")
            group["nowhere"] = h5py.SoftLink("/not/there")
            del file["time"]
        self.posed(fill)
        self.good("check", "posed.yaml")

    def test_a_user_who_trusts_files_has_them_read_once(self):
        self.posed()
        self.good("check", "posed.yaml", env=os.environ | {"CURVEBODY_TRUST_FILES": "1"})


if __name__ == "__main__":
    unittest.main()
