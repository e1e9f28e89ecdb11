#!/usr/bin/python3
"""Any write may fail, once or permanently: the exit code is 3 with the reason, never a signal. An old file is kept, and an
unfinished record can be resumed to the same rows. Opens may also fail, or be interrupted by a signal.
CB_TEST_ALL in the environment: every write is tried, otherwise a seed chooses some."""
import os
import random
import sys
import time

from command import BALL, ROD, Case, datasets, differing, main

FAULTS = os.path.abspath(sys.argv.pop(1))

PURCELL = """\
curvebody: 1
bundle: {name: purcell, links: 3, ratio: 2}
gait: {fourier: {mean: [0, 0], cosine: [[.5, 0]], sine: [[0, .5]]}}
"""
MOST = 20000
SEED = time.time_ns() % 10**9
STEP = 1 if "CB_TEST_ALL" in os.environ else 5  # the maximum distance between two writes that are tried
# The filter of system calls stays active after an exec, where no handler receives its signal, so no process probes files.
PRELOADED = {"LD_PRELOAD": FAULTS, "CURVEBODY_TRUST_FILES": "1"}


class RefusedWrites(Case):
    def refused_at(self, n, once, words):
        told = self.path("told")
        how = PRELOADED | {"FAULT_FOLDER": self.folder, "FAULT_OF": "write truncate rename",
               "FAULT_AT": str(n), "FAULT_TOLD": told} | ({} if once else {"FAULT_THEN": "all"})
        done = self.call(*words, env=os.environ | how)
        refused = os.path.exists(told)
        self.assertIn(done.returncode, (0, 3) if refused else (0,), f"write {n} of {words}\n{done.stderr}")
        if refused:
            os.remove(told)
        if done.returncode:
            self.assertIn("Input/output error", done.stderr, f"write {n} of {words}")
        return refused, done.returncode

    def each(self, words, prepare, check, whole=None, step=STEP):
        """Makes the first write of the command fail, then a later one, and so on until the last. whole: checks the files if the
        command succeeded without this write, such as that of the text in the lock of a record."""
        rng = random.Random(SEED)
        print(f"seed {SEED}")
        for once in True, False:
            n = 0
            while n < MOST:
                n += rng.randint(1, step) if n else 1
                prepare()
                refused, code = self.refused_at(n, once, words)
                if not refused:
                    break
                self.assertTrue(code or whole, f"write {n} of {words}")
                (check if code else whole)(n)
            self.assertGreater(n, 2)
            self.assertLess(n, MOST - 1)

    def keeps_the_old_file(self, name, *words):
        def prepare():
            self.write(name, "old")

        def check(n):
            self.assertEqual(self.read(name), b"old", f"write {n} of {words}")
            self.assertEqual(self.parts(name), [])

        self.each([*words, "-o", name], prepare, check)

    def test_files_that_are_made_at_once(self):
        self.write("purcell.yaml", PURCELL)
        self.keeps_the_old_file("g.h5", "geodesic", "h3", "--from", "1,1,0", "--to", "2,1,1", "--points", "5")
        self.keeps_the_old_file("p.h5", "gait", "purcell.yaml", "path", "--times", "5")
        self.keeps_the_old_file("c.h5", "gait", "purcell.yaml", "curvature", "--grid", "5x5")

    def test_surfaces(self):
        self.good("run", self.write("ball.yaml", BALL))
        self.each(["export", "ball.h5", "--xdmf"], lambda: self.write("ball-surface.h5", "old"),
                  lambda n: self.assertIn(self.read("ball-surface.h5")[:3], (b"old", b"\x89HD")))

    def test_run(self):
        """The file is the old one, or a record that can be resumed."""
        self.write("rod.yaml", ROD)
        self.good("run", "rod.yaml", "-o", "good.h5")
        good = datasets(self.path("good.h5"))

        def check(n):
            if self.read("rod.h5") == b"old":
                return
            done = self.call("resume", "rod.h5")
            if "no complete checkpoint" in done.stderr or "no segment" in done.stderr:
                return
            self.assertEqual(done.returncode, 0, done.stderr)
            whole(n)

        def whole(n):
            self.assertEqual(differing(datasets(self.path("rod.h5")), good), [], f"write {n}")
            self.assertFalse(os.path.exists(self.path("rod.h5.parts")), f"write {n}")

        def prepare():
            self.copy_record("no-record", "rod.h5")
            self.write("rod.h5", "old")

        self.each(["run", "rod.yaml"], prepare, check, whole)

    def test_resume(self):
        self.write("rod.yaml", ROD)
        self.good("run", "rod.yaml", "-o", "good.h5")
        self.good("run", "rod.yaml", "-o", "half.h5", "--set", "time.end=0.5")
        good = datasets(self.path("good.h5"))

        def check(n):
            self.good("repair", "rod.h5")
            self.good("resume", "rod.h5", "--until", "1")
            whole(n)

        def whole(n):
            self.assertEqual(differing(datasets(self.path("rod.h5")), good), [], f"write {n}")
            self.assertFalse(os.path.exists(self.path("rod.h5.parts")), f"write {n}")

        self.each(["resume", "rod.h5", "--until", "1"], lambda: self.copy_record("half.h5", "rod.h5"), check, whole)

    def test_repair(self):
        self.repair("record.every=50")

    def test_repair_of_a_large_record(self):
        """HDF5 needs some thousand writes for the repair."""
        self.repair("record.every=1", 1500, 17 * 2**20)

    def repair(self, setting, step=STEP, least=0):
        self.write("rod.yaml", ROD)
        run = self.start("run", "rod.yaml", "-o", "killed.h5", "--set", "time.end=1e7", "--set", setting)
        self.wait_for("killed.h5", run)
        while sum(entry.stat().st_size for entry in os.scandir(self.path("killed.h5.parts"))) < least:
            time.sleep(0.01)
        run.kill()
        run.wait()
        self.copy_record("killed.h5", "good.h5")
        self.good("repair", "good.h5")
        good = datasets(self.path("good.h5"))

        def check(n):
            self.good("repair", "rod.h5")
            whole(n)

        def whole(n):
            self.assertEqual(differing(datasets(self.path("rod.h5")), good), [], f"write {n}")
            self.assertFalse(os.path.exists(self.path("rod.h5.parts")), f"write {n}")

        self.each(["repair", "rod.h5"], lambda: self.copy_record("killed.h5", "rod.h5"), check, whole, step)

    def test_opens_that_are_refused(self):
        """An open that a signal interrupts is repeated. Another failure is reported, and not as an error of the record, or the
        file was not needed."""
        self.write("rod.yaml", ROD)
        self.good("run", "rod.yaml", "-o", "half.h5", "--set", "time.end=0.5")
        run = self.start("run", "rod.yaml", "-o", "killed.h5", "--set", "time.end=1e5", "--set", "record.every=50")
        self.wait_for("killed.h5", run)
        run.kill()
        run.wait()
        for words, record in ((["resume", "rod.h5", "--until", "1"], "half.h5"), (["repair", "rod.h5"], "killed.h5"),
                              (["verify", "rod.h5"], "half.h5"), (["run", "rod.yaml"], None)):
            opens = 0
            while self.is_refused(words, record, "EINTR", opens + 1):
                opens += 1
            self.assertGreater(opens, 2, words)
            for at in random.Random(SEED).sample(range(opens), opens if STEP == 1 else min(opens, 8)):
                self.assertTrue(self.is_refused(words, record, "EIO", at + 1), words)
                self.is_refused(words, record, "ENOSPC", at + 1)  # an open that creates a file

    def is_refused(self, words, record, kind, at):
        self.copy_record(record or "no-record", "rod.h5")
        self.copy_record("no-record", "told")
        how = PRELOADED | {"FAULT_FOLDER": self.folder, "FAULT_OF": "open", "FAULT_KIND": kind,
               "FAULT_AT": str(at), "FAULT_TOLD": self.path("told")}
        done = self.call(*words, env=os.environ | how)
        what = f"{kind} at open {at} of {words}\n{done.stderr}"
        self.assertIn(done.returncode, (0,) if kind == "EINTR" else (0, 3), what)
        if done.returncode == 0 and os.path.exists(self.path("rod.h5.parts")):
            self.assertIn("rod.h5.parts: it is no longer needed, but cannot be removed: ", done.stderr, what)
        return os.path.exists(self.path("told"))


if __name__ == "__main__":
    main()
