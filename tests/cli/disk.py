#!/usr/bin/python3
"""A disk that is full, a folder that is read-only, a size limit: exit code 3, the reason in words, and what was written
stays readable.

The disks are small file systems in memory, mounted in a namespace of this test's own; where that is not allowed,
those tests are skipped.
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

from command import Case, ROD, datasets, differing, main

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(missing)
    sys.exit(77)

LONG = ["--set", "time.end=300"]  # about 15 MB


class Disk(Case):
    def setUp(self):
        super().setUp()
        self.write("rod.yaml", ROD)

    def disk(self, size):
        if not os.environ["CURVEBODY_MOUNTS"]:
            self.skipTest("no file system can be mounted here")
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
        """A run that the disk stops: its rows are those of a run on a good disk, and with room again it goes
        on to the end of that."""
        self.good("run", "rod.yaml", "-o", "whole.h5", *LONG)
        name = os.path.relpath(path, self.folder)
        self.refused(["run", "rod.yaml", "-o", name, *LONG], name, f"note: what was computed is in {name}\n", **how)
        with h5py.File(path) as file, h5py.File(self.path("whole.h5")) as whole:
            self.assertEqual(file.attrs["completed"], 0)
            rows = file["time"].shape[0]
            self.assertGreater(rows, 1000)
            for field in "time", "x", "energy", "step_size":
                self.assertTrue(np.array_equal(file[field][()], whole[field][:rows]), field)

    def goes_on(self, path):
        self.good("resume", path, "--until", "300")
        self.assertEqual(differing(datasets(path), datasets(self.path("whole.h5"))), [])

    def test_disk_gets_full(self):
        self.disk("4m")
        self.ends_early(self.path("disk/rod.h5"))
        self.refused(["resume", "disk/rod.h5", "--until", "300"], "disk/rod.h5", "No space left on device")
        self.refused(["export", "disk/rod.h5", "--csv"], "No space left on device")
        self.assertNotIn("rod.csv", os.listdir(self.path("disk")))
        self.remount("size=64m")
        self.goes_on(self.path("disk/rod.h5"))

    def test_a_sweep_that_has_no_room(self):
        """It takes its room before anything runs; with room, the same command goes on."""
        self.disk("1m")
        self.write("s.yaml", """\
curvebody: 1
sweep:
  scenario: rod.yaml
  over:
    - {key: bodies.0.mass, from: 1, to: 2, count: 3000, name: mass}
  keep: last
  collect: {top: max(energy)}
""")
        self.refused(["sweep", "s.yaml", "-o", "disk/o", "--quiet"], "disk/o/all.h5: no room: the results take ", " MB are free")
        self.assertNotIn("all.h5", os.listdir(self.path("disk/o")))
        self.remount("size=64m")
        self.good("sweep", "s.yaml", "-o", "disk/o")
        with h5py.File(self.path("disk/o.h5")) as file:
            self.assertTrue((file["status"][()] == 1).all())

    def test_disk_is_full_from_the_first(self):
        self.disk("4k")
        for size in list(range(4, 52, 4)) + [64, 96, 128, 192, 256]:
            self.remount(f"size={size}k")
            self.refused(["run", "rod.yaml", "-o", "disk/rod.h5", *LONG], "disk/rod.h5", "No space left on device")
            if os.listdir(self.path("disk")):
                self.assertEqual(os.listdir(self.path("disk")), ["rod.h5"])
                with h5py.File(self.path("disk/rod.h5")) as file:
                    self.assertEqual(file["x"].shape[0], file["time"].shape[0])
                os.remove(self.path("disk/rod.h5"))

    def test_full_in_the_middle_of_a_row(self):
        """The last page of room goes to one field or another of a row: rows are whole, and it goes on."""
        self.disk("64m")
        self.good("run", "rod.yaml", "-o", "whole.h5", *LONG)
        for size in range(600, 680, 12):
            self.remount(f"size={size}k")
            self.refused(["run", "rod.yaml", "-o", "disk/rod.h5", *LONG], "disk/rod.h5", "No space left on device")
            with h5py.File(self.path("disk/rod.h5")) as file:
                self.assertEqual(len({file[name].shape[0] for name in ("time", "step", "x", "energy", "separation")}), 1)
            self.remount("size=64m")
            self.goes_on(self.path("disk/rod.h5"))
            self.assertEqual(os.listdir(self.path("disk")), ["rod.h5"])
            os.remove(self.path("disk/rod.h5"))

    def test_limit_on_the_size_of_a_file(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))
        self.ends_early(self.path("rod.h5"), preexec_fn=limit)
        self.goes_on(self.path("rod.h5"))

    def test_read_only_folder(self):
        self.disk("64m")
        self.good("run", "rod.yaml", "-o", "disk/rod.h5")
        run = self.start("run", "rod.yaml", "-o", "disk/killed.h5", "--set", "time.end=1e4")
        self.wait_for("disk/killed.h5", run)
        run.kill()
        run.wait()
        files = lambda: {name: self.read(f"disk/{name}") for name in os.listdir(self.path("disk"))}
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
            self.skipTest("permissions do not bind here")
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
