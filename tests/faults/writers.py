#!/usr/bin/python3
"""Two processes want to write one record: the second one gets an error that the record is in use, and changes nothing; the
first one ends as if there were no other process. Readers disturb no writer, even if they lock the record itself.

    writers.py BINARY [--all] [--seed S]
"""
import fcntl
import os
import random
import signal
import subprocess
import sys
import time

ALL = "--all" in sys.argv and not sys.argv.remove("--all") or "CB_TEST_ALL" in os.environ
SEED = int(sys.argv.pop(sys.argv.index("--seed") + 1)) if "--seed" in sys.argv else time.time_ns() % 10**9
if "--seed" in sys.argv:
    sys.argv.remove("--seed")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from command import BINARY, PATIENCE, ROD, Case, datasets, differing, main  # noqa: E402

import h5py  # noqa: E402

PAIRS = 400 if ALL else 24
RUN = ROD.replace("end: 1}", "end: 12}").replace("{every: 1, o", "{every: 1, checkpoint: 50, sync: every flush, o")
WORDS = {
    "run": ["run", "rod.yaml", "-o", "rod.h5", "--quiet"],
    "resume": ["resume", "rod.h5", "--until", "12", "--quiet"],
    "repair": ["repair", "rod.h5"],
}
IN_USE = "in use: a run is writing it"


class Writers(Case):
    def setUp(self):
        super().setUp()
        self.write("rod.yaml", RUN)
        self.good("run", "rod.yaml", "-o", "whole.h5", "--quiet")
        self.good("run", "rod.yaml", "-o", "half.h5", "--quiet", "--set", "time.end=6")
        run = self.start("run", "rod.yaml", "-o", "killed.h5", "--set", "time.end=1e5")
        self.wait_for("killed.h5", run)
        run.kill()
        run.wait()
        self.whole = datasets(self.path("whole.h5"))

    def begin(self, name):
        return subprocess.Popen([BINARY, *WORDS[name]], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True)

    def end(self, process):
        try:
            return process.communicate(timeout=60 * PATIENCE)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail(f"{process.args} hangs")

    def test_pairs(self):
        """The second process starts after a random time. Then resume must give the rows of an undisturbed run."""
        rng, told = random.Random(SEED), 0
        for _ in range(PAIRS):
            self.copy_record("half.h5", "rod.h5")
            pair = [rng.choice(list(WORDS)) for _ in range(2)]
            first = self.begin(pair[0])
            time.sleep(rng.uniform(0, 0.06))
            second = self.begin(pair[1])
            errors = [self.end(first), self.end(second)]
            codes = [first.returncode, second.returncode]
            self.assertIn(0, codes, (SEED, pair, errors))
            for code, error in zip(codes, errors):
                self.assertIn(code, (0, 3), (SEED, pair, error))
                if code:
                    self.assertIn(IN_USE, error, (SEED, pair))
                    told += 1
            self.good(*WORDS["resume"])
            self.assertEqual(differing(datasets(self.path("rod.h5")), self.whole), [], (SEED, pair))
            left = [file for file in os.listdir(self.folder) if file.endswith((".part", "rod.h5.parts"))]
            self.assertEqual(left, [], (SEED, pair))
        print(f"two writers: {PAIRS} pairs tried, {PAIRS} survived, 0 rows lost, {told} errors that it is in use, seed {SEED}")

    def unchanged(self, names, holder):
        """While one process has locked a record, each other writer gets an error and changes nothing."""
        def now():
            return self.read("rod.h5") if os.path.exists(self.path("rod.h5")) else None

        before = now()
        for name in names:
            words = ["1e6" if word == "12" else word for word in WORDS[name]]  # a killed run may have passed t = 12
            done = self.call(*words, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (3, ""), (holder, name, done.stderr))
            self.assertIn(IN_USE, done.stderr, (holder, name))
            self.assertEqual(now(), before, (holder, name))
        self.assertEqual(self.parts("rod.h5"), [])

    def test_a_reader_that_holds_it(self):
        """A reader still sees the rows of the file that it has opened, and no writer waits for it."""
        for name in WORDS:
            self.copy_record("half.h5", "rod.h5")
            with h5py.File(self.path("rod.h5"), "r") as file:
                rows = file["time"][()]
                self.good(*WORDS[name])
                self.good("export", "rod.h5", "--csv", "-o", "rod.csv")
                self.assertEqual(file["time"][()].tobytes(), rows.tobytes(), name)
            self.good(*WORDS["resume"])
            self.assertEqual(differing(datasets(self.path("rod.h5")), self.whole), [], name)

    def test_another_program_with_a_lock_on_the_record(self):
        """A program has a shared lock, which HDF5 takes for reading."""
        for name in WORDS:
            self.copy_record("half.h5", "rod.h5")
            with open(self.path("rod.h5"), "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                self.good(*WORDS[name])
            self.good(*WORDS["resume"])
            self.assertEqual(differing(datasets(self.path("rod.h5")), self.whole), [], name)

    def test_another_program_with_the_lock_of_writers(self):
        """Another process has the lock of writers, as if another host had it."""
        for source in "half.h5", "killed.h5":
            self.copy_record(source, "rod.h5")
            os.makedirs(self.path("rod.h5.parts"), exist_ok=True)
            with open(self.path("rod.h5.parts/lock"), "w") as file:
                fcntl.lockf(file, fcntl.LOCK_EX)
                self.unchanged(WORDS, source)
            self.good(*WORDS["repair"])
            self.assertFalse(os.path.exists(self.path("rod.h5.parts")), source)

    def test_a_reader_of_a_live_record(self):
        """Readers open and close the record while it is written, and none of them delays the writer."""
        run = self.begin("run")
        self.wait_for("rod.h5", run)
        looks = 0
        while run.poll() is None:
            done = self.call("export", "rod.h5", "--csv", "-o", "rod.csv", timeout=60)
            self.assertIn(done.returncode, (0, 3), done.stderr)
            looks += done.returncode == 0
        self.assertEqual((run.returncode, self.end(run)), (0, ""))
        self.assertEqual(differing(datasets(self.path("rod.h5")), self.whole), [])

    def test_a_writer_that_is_stopped(self):
        """A stopped process still has the lock of its record."""
        run = self.begin("run")
        while not os.path.exists(self.path("rod.h5.parts/lock")) or not self.read("rod.h5.parts/lock"):
            self.assertIsNone(run.poll())
        run.send_signal(signal.SIGSTOP)
        os.waitpid(run.pid, os.WUNTRACED)
        self.unchanged(WORDS, "a run")
        run.send_signal(signal.SIGCONT)
        self.assertEqual((self.end(run), run.returncode), ("", 0))
        self.assertEqual(differing(datasets(self.path("rod.h5")), self.whole), [])


if __name__ == "__main__":
    main()
