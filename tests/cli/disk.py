#!/usr/bin/python3
"""On a full disk, in a read-only folder or with a size limit the exit code is 3, the message gives the reason, and written
data stays readable.

The disks are small file systems in memory, mounted in a private namespace. If that is not allowed, these tests are skipped.
"""
import os
import resource
import subprocess
import sys

if "CURVEBODY_MOUNTS" not in os.environ:
    os.environ["CURVEBODY_MOUNTS"] = ""
    for namespace in ["unshare", "-m"], ["unshare", "-Urm"]:
        try:
            mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/mnt"]
            trial = subprocess.run([*namespace, *mount], capture_output=True)
        except OSError:
            break
        if trial.returncode == 0:
            os.environ["CURVEBODY_MOUNTS"] = "1"
            os.execvp("unshare", [*namespace, sys.executable, *sys.argv])

from command import Case, HAS_VIEW, ROD, datasets, differing, main

FAULTS = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].endswith(".so") else ""  # missing in some builds

import h5py
import numpy as np

LONG = ["--set", "time.end=1200"]  # about 50 MB: three segments
NOT_JOINED = "curvebody: note: {0} is in segments, in {0}.parts: `curvebody repair {0}` joins them\n"

SWEEP = """\
curvebody: 1
sweep:
  scenario: rod.yaml
  over:
    - {key: bodies.0.mass, from: 1, to: 2, count: 1000, name: mass}
  collect: {top: max(energy), low: min(energy), last: last(energy)}
"""


class Disk(Case):
    def setUp(self):
        super().setUp()
        self.write("rod.yaml", ROD)

    def disk(self, size):
        if not os.environ["CURVEBODY_MOUNTS"]:
            self.skipTest("this process cannot mount a file system")
        os.mkdir(self.path("disk"))
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", self.path("disk")], check=True)
        self.addCleanup(subprocess.run, ["umount", self.path("disk")], check=True)

    def remount(self, options):
        subprocess.run(["mount", "-o", "remount," + options, self.path("disk")], check=True)

    def refused(self, words, *expected, **how):
        done = self.call(*words, **how)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        for text in expected:
            self.assertIn(text, done.stderr)

    def ends_early(self, path, **how):
        """A full disk stops a run. Its rows are equal to those of a run on a good disk."""
        self.good("run", "rod.yaml", "-o", "whole.h5", *LONG)
        name = os.path.relpath(path, self.folder)
        self.refused(["run", "rod.yaml", "-o", name, *LONG], name, f"note: the results so far are in {name}\n", **how)
        self.assertTrue(os.path.exists(path + ".parts/000001.h5"))
        with h5py.File(path) as file, h5py.File(self.path("whole.h5")) as whole:
            self.assertEqual(file.attrs["completed"], 0)
            rows = file["time"].shape[0]
            self.assertGreater(rows, 1000)
            for field in "time", "plot_position", "energy", "step_size":
                self.assertTrue(np.array_equal(file[field][()], whole[field][:rows]), field)

    def goes_on(self, path):
        self.good("resume", path, "--until", "1200")
        self.is_whole(path)

    def is_whole(self, path):
        self.assertFalse(os.path.exists(path + ".parts"))
        self.assertTrue(self.read(path) == self.read("whole.h5"))

    def test_disk_gets_full(self):
        self.disk("40m")
        self.ends_early(self.path("disk/rod.h5"))
        self.refused(["resume", "disk/rod.h5", "--until", "1200"], "disk/rod.h5", "No space left on device")
        with self.assertRaises(OSError), open(self.path("disk/filler"), "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        self.refused(["export", "disk/rod.h5", "--csv"], "No space left on device")
        os.remove(self.path("disk/filler"))
        self.assertNotIn("rod.csv", os.listdir(self.path("disk")))
        self.remount("size=160m")
        self.goes_on(self.path("disk/rod.h5"))

    def stays_in_segments(self, name):
        """A complete record in segments, which every command reads."""
        with h5py.File(self.path(name)) as file, h5py.File(self.path("whole.h5")) as whole:
            self.assertEqual(file.attrs["completed"], 1)
            for field in "time", "plot_position", "energy":
                self.assertTrue(np.array_equal(file[field][()], whole[field][()]), field)
        self.assertIn("complete, ", self.good("verify", name).stdout)

    def test_no_room_to_join(self):
        """The run is complete and its segments stay, which the last line reports. After space is free, repair joins them to
        the same file as that of a run with enough space."""
        self.disk("160m")
        self.good("run", "rod.yaml", "-o", "whole.h5", *LONG)
        self.remount("size=64m")
        done = self.call("run", "rod.yaml", "-o", "disk/rod.h5", *LONG)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertTrue(done.stderr.startswith("curvebody: error: disk/rod.h5: cannot join its segments: No space left"), done.stderr)
        self.assertTrue(done.stderr.endswith(NOT_JOINED.format("disk/rod.h5")), done.stderr)
        before = sorted(os.listdir(self.path("disk/rod.h5.parts")))
        self.refused(["repair", "disk/rod.h5"], "disk/rod.h5: cannot join its segments: No space left on device")
        self.assertEqual(sorted(os.listdir(self.path("disk/rod.h5.parts"))), before)
        self.assertEqual(sorted(os.listdir(self.path("disk"))), ["rod.h5", "rod.h5.parts"])
        self.stays_in_segments("disk/rod.h5")
        self.remount("size=160m")
        self.good("repair", "disk/rod.h5")
        self.is_whole(self.path("disk/rod.h5"))

    def test_no_room_for_so_large_a_file(self):
        """The joined file would exceed a limit on the size of files; its segments do not."""
        self.good("run", "rod.yaml", "-o", "whole.h5", *LONG)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40 << 20, 40 << 20))
        done = self.call("run", "rod.yaml", "-o", "rod.h5", *LONG, preexec_fn=limit)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("rod.h5: cannot join its segments: File too large", done.stderr)
        self.assertTrue(done.stderr.endswith(NOT_JOINED.format("rod.h5")), done.stderr)
        self.stays_in_segments("rod.h5")
        self.good("repair", "rod.h5")
        self.is_whole(self.path("rod.h5"))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 20, 8 << 20))
        self.refused(["run", "rod.yaml", "-o", "rod.h5", *LONG], "File too large", preexec_fn=limit)
        self.is_whole(self.path("rod.h5"))

    def test_an_operation_of_the_join_that_fails(self):
        """The join fails for another reason than space: the result is the same, and the message gives the reason."""
        if not FAULTS:
            self.skipTest("this build has no library that makes operations fail")
        some = ["--set", "time.end=500"]
        self.good("run", "rod.yaml", "-o", "whole.h5", *some)
        env = os.environ | {"LD_PRELOAD": FAULTS, "CURVEBODY_TRUST_FILES": "1", "FAULT_FOLDER": self.folder}
        log = self.path("log")
        self.good("run", "rod.yaml", "-o", "rod.h5", *some, env=env | {"FAULT_LOG": log, "FAULT_OF": "write truncate rename"})
        with open(log) as file:
            operations = file.read().splitlines()
        first = next(n for n, line in enumerate(operations, 1) if "truncate" in line and line.endswith(".part"))  # this operation reserves space
        self.assertGreater(len(operations), first + 20)
        for n in first, first + 1, first + 9, (first + len(operations)) // 2, len(operations):
            os.remove(self.path("rod.h5"))
            done = self.call("run", "rod.yaml", "-o", "rod.h5", *some, env=env | {
                "FAULT_OF": "write truncate rename", "FAULT_AT": str(n), "FAULT_KIND": "EIO", "FAULT_TOLD": self.path("told")})
            if n == len(operations) and not os.path.exists(self.path("told")):
                break  # this run had fewer operations than the run that was counted
            os.remove(self.path("told"))
            self.assertEqual(done.returncode, 3, f"{n} {done.stderr}")
            self.assertIn("Input/output error", done.stderr)
            if done.stderr.endswith(NOT_JOINED.format("rod.h5")):
                self.stays_in_segments("rod.h5")
            self.good("resume", "rod.h5")
            self.is_whole(self.path("rod.h5"))

    def test_a_size_above_which_it_is_not_joined(self):
        for size, joined in ("20 GB", True), ("1 MB", False):
            limit = ["--set", f"record.join={size}"]
            done = self.good("run", "rod.yaml", "-o", "rod.h5", *LONG, *limit, "--force")
            self.assertEqual(done.stderr.endswith(NOT_JOINED.format("rod.h5")), not joined, done.stderr)
            self.assertEqual(os.path.exists(self.path("rod.h5.parts")), not joined)
        self.good("run", "rod.yaml", "-o", "whole.h5", *LONG)
        self.stays_in_segments("rod.h5")
        os.truncate(self.path("rod.h5.parts/000000.h5"), 30000)  # this segment can be computed again from the scenario
        self.assertTrue(self.good("resume", "rod.h5", "--until", "1300").stderr.endswith(NOT_JOINED.format("rod.h5")))
        self.good("run", "rod.yaml", "-o", "whole.h5", "--set", "time.end=1300", "--set", "record.join=90 MB")
        self.stays_in_segments("rod.h5")
        os.truncate(self.path("rod.h5"), 20000)  # the segments have all rows
        self.assertIn("expected `curvebody resume` or `repair`, or `run --force`", self.call("run", "rod.yaml").stderr)
        self.assertIn("error: cannot be opened by its name: its segments in ", self.call("verify", "rod.h5").stderr)
        self.assertRegex(self.good("repair", "rod.h5").stderr, "^$")
        self.assertFalse(os.path.exists(self.path("rod.h5.parts")))
        self.assertEqual(differing(datasets(self.path("rod.h5")), datasets(self.path("whole.h5"))), [])
        self.good("run", "rod.yaml", "-o", "small.h5")
        for name in "other.h5", "50 %b.h5", "%s%%":  # HDF5 treats % as a pattern in the names of sources
            self.good("run", "rod.yaml", "-o", name, "--set", "record.join=1 B")
            self.assertTrue(os.path.exists(self.path(name + ".parts/000001.h5")))
            found, expected = datasets(self.path(name)), datasets(self.path("small.h5"))
            self.assertEqual([field for field in expected if found[field] != expected[field]], [])

    def test_a_sweep_that_has_no_room(self):
        """A sweep reserves its space before any member runs. After space is free, the same command works."""
        self.disk("1m")
        self.write("s.yaml", SWEEP.replace("1000", "3000") + "  keep: last\n")
        self.refused(["sweep", "s.yaml", "-o", "disk/o", "--quiet"], "disk/o.h5: the disk has too little space: expected ", " MB for the results, found ")
        self.assertNotIn("o.h5", os.listdir(self.path("disk")))
        self.remount("size=64m")
        self.good("sweep", "s.yaml", "-o", "disk/o")
        with h5py.File(self.path("disk/o.h5")) as file:
            self.assertTrue((file["status"][()] == 1).all())

    def test_a_limit_on_files_is_an_error_and_no_signal(self):
        self.good("run", "rod.yaml", "-o", "rod.h5")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        for words in (["export", "rod.h5", "--csv"], ["view", "rod.h5"] if HAS_VIEW else ["export", "rod.h5", "--csv"],
                      ["repair", "rod.h5"], ["resume", "rod.h5", "--until", "2"], ["run", "rod.yaml", "-o", "new.h5"]):
            done = self.call(*words, preexec_fn=limit)
            self.assertEqual(done.returncode, 0 if words[0] == "repair" else 3, f"{words}\n{done.stderr}")
        self.good("resume", "rod.h5", "--until", "2")
        self.assertEqual(sorted(os.listdir(self.folder)), ["rod.h5", "rod.yaml"])

    def test_a_sweep_that_cannot_be_joined(self):
        """Each half is smaller than the limit, the joined file is larger."""
        self.write("s.yaml", SWEEP)
        self.good("sweep", "s.yaml", "-o", "whole")
        self.good("sweep", "s.yaml", "-o", "o%b", "--shard", "1/2")
        most = os.path.getsize(self.path("whole.h5")) - 1
        done = self.call("sweep", "s.yaml", "-o", "o%b", "--shard", "2/2",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, "error: .*o%b.h5: cannot .*File too large\n.*note: the results remain in o%b.h5.parts")
        with h5py.File(self.path("o%b.h5")) as file:
            self.assertTrue((file["status"][()] == 1).all())
        os.remove(self.path("o%b.h5"))  # the segments contain all results
        self.good("repair", "o%b.h5")
        self.assertEqual(self.good("repair", "o%b.h5").stdout, "o%b.h5: complete, 1000 members, unchanged\n")
        self.assertEqual(self.read("o%b.h5"), self.read("whole.h5"))
        self.assertFalse(os.path.exists(self.path("o%b.h5.parts")))

    def test_disk_is_full_from_the_first(self):
        self.disk("4k")
        for size in list(range(4, 52, 4)) + [64, 96, 128, 192, 256]:
            self.remount(f"size={size}k")
            self.refused(["run", "rod.yaml", "-o", "disk/rod.h5", *LONG], "disk/rod.h5", "No space left on device")
            self.assertEqual(os.listdir(self.path("disk")), [])

    def test_an_old_file_stays(self):
        """If there is no space even for the first segment, the old file is unchanged."""
        self.disk("2m")
        self.good("run", "rod.yaml", "-o", "disk/rod.h5")
        before = self.read("disk/rod.h5")
        self.refused(["run", "rod.yaml", "-o", "disk/rod.h5", *LONG], "disk/rod.h5", "No space left on device",
                     "note: no result could be recorded in disk/rod.h5\n")
        self.assertEqual(os.listdir(self.path("disk")), ["rod.h5"])
        self.assertEqual(self.read("disk/rod.h5"), before)
        self.refused(["resume", "disk/rod.h5", "--until", "1200"], "disk/rod.h5", "No space left on device")
        with h5py.File(self.path("disk/rod.h5")) as file:
            self.assertEqual(file["time"].shape, (101,))

    def test_read_only_folder(self):
        self.disk("64m")
        self.good("run", "rod.yaml", "-o", "disk/rod.h5")
        run = self.start("run", "rod.yaml", "-o", "disk/killed.h5", "--set", "time.end=1e4")
        self.wait_for("disk/killed.h5", run)
        run.kill()
        run.wait()
        files = lambda: {path: self.read(path) for folder, _, names in os.walk(self.path("disk"))
                         for path in (os.path.join(folder, name) for name in names)}
        before = files()
        self.remount("ro")
        why = "Read-only file system"
        self.refused(["run", "rod.yaml", "-o", "disk/new.h5"], "disk/new.h5", why)
        self.refused(["run", "rod.yaml", "-o", "disk/rod.h5"], "disk/rod.h5", why)
        self.refused(["resume", "disk/rod.h5", "--until", "2"], "disk/rod.h5", why)
        self.refused(["repair", "disk/killed.h5"], "disk/killed.h5", why)
        self.refused(["export", "disk/rod.h5", "--csv"], "disk/rod.csv", why)
        self.refused(["export", "disk/rod.h5", "--xdmf"], "disk/rod.xdmf", why)
        self.assertEqual(sorted(files()), sorted(before))
        self.assertEqual(files(), before)

    def test_no_permission(self):
        if os.getuid() != 0 or os.environ.get("CURVEBODY_MOUNTS") and not os.access("/root", os.W_OK):
            user = {}
        else:
            user = {"user": 65534}
        os.mkdir(self.path("closed"))
        os.chmod(self.folder, 0o755)
        os.chmod(self.path("closed"), 0o555)
        self.write("secret.yaml", ROD)
        os.chmod(self.path("secret.yaml"), 0)
        if subprocess.run(["test", "-r", self.path("secret.yaml")], **user).returncode == 0:
            self.skipTest("permissions have no effect for this user")
        self.refused(["run", "rod.yaml", "-o", "closed/rod.h5"], "closed/rod.h5", "Permission denied", **user)
        self.refused(["run", "secret.yaml"], "cannot read 'secret.yaml'", "Permission denied", **user)

    def test_what_is_no_file(self):
        os.mkdir(self.path("folder"))
        self.refused(["run", "rod.yaml", "-o", "folder"], "folder")
        self.refused(["run", "rod.yaml", "-o", "none/rod.h5"], "none/rod.h5", "No such file or directory")
        self.refused(["run", "rod.yaml", "-o", "/dev/null"], "/dev/null")
        self.assertEqual(os.listdir(self.path("folder")), [])
        self.assertEqual(sorted(os.listdir(self.folder)), ["folder", "rod.yaml"])


if __name__ == "__main__":
    main()
