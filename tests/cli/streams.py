#!/usr/bin/python3
"""Closed standard streams: no file of a run gets their descriptors, so that output to a closed stream is lost and does not
appear in a file.

Every test tries all eight combinations of standard input, output and error, open or closed.
"""
import itertools
import os
import time

from command import Case, ROD, die_with_parent, main

# The start is projected to the rod's length; the message about this comes after the record was opened.
NOTED = ROD.replace("spring: {stiffness: 1, rest: 1}", "rod: {length: 1.001}")
NOTE = "note: the start was corrected to satisfy the constraints"
LOST = "curvebody: error: cannot write to the standard output: Bad file descriptor\n"


COMBINATIONS = list(itertools.product([False, True], repeat=3))


def without(closed):
    """Arguments of subprocess that start a command with these streams closed."""
    def close():
        die_with_parent()
        for stream in range(3):
            if closed[stream]:
                os.close(stream)
    return {"preexec_fn": close}


class Streams(Case):
    def setUp(self):
        super().setUp()
        self.write("rod.yaml", NOTED)

    def test_record_is_that_of_a_run_with_open_streams(self):
        whole = self.good("run", "rod.yaml", "-o", "whole.h5")
        self.assertIn(NOTE, whole.stderr)
        for closed in COMBINATIONS:
            with self.subTest(closed=closed):
                _, output, errors = closed
                done = self.call("run", "rod.yaml", "-o", "rod.h5", **without(closed))
                self.assertEqual(done.returncode, 3 if output else 0)
                self.assertEqual(done.stderr, "" if errors else whole.stderr + (LOST if output else ""))
                self.assertRegex(done.stdout, "^$" if output else "^rod.h5: time 1, 100 steps")
                self.assertEqual(self.read("rod.h5"), self.read("whole.h5"))
                quiet = self.call("run", "rod.yaml", "-o", "rod.h5", "--quiet", **without(closed))
                self.assertEqual((quiet.returncode, quiet.stdout, quiet.stderr), (0, "", ""))
                self.assertEqual(self.read("rod.h5"), self.read("whole.h5"))

    def test_killed_run_is_repaired(self):
        for closed in COMBINATIONS:
            with self.subTest(closed=closed):
                run = self.start("run", "rod.yaml", "-o", "rod.h5", "--set", "time.end=1e9", **without(closed))
                self.wait_for("rod.h5", run)
                while os.path.getsize(self.path("rod.h5.parts/000001.h5")) < 1 << 18 and run.poll() is None:
                    time.sleep(0.001)
                streams = [os.path.realpath(f"/proc/{run.pid}/fd/{stream}") for stream in range(3)]
                run.kill()
                run.wait()
                self.assertEqual(streams, ["/dev/null"] * 3)
                self.assertIn("rod.h5: repaired, ", self.good("repair", "rod.h5").stdout)
                os.remove(self.path("rod.h5"))

    def test_what_is_printed_is_lost_as_on_a_full_disk(self):
        listed = self.good("list").stdout
        for closed in COMBINATIONS:
            with self.subTest(closed=closed):
                _, output, errors = closed
                for words in ["list"], ["--help"], ["--version"], ["check", "rod.yaml"]:
                    done = self.call(*words, **without(closed))
                    self.assertEqual(done.returncode, 3 if output else 0, words)
                    self.assertEqual(done.stderr, LOST if output and not errors else "", words)
                    if words == ["list"]:
                        self.assertEqual(done.stdout, "" if output else listed)
                self.assertEqual(self.call("check", "none.yaml", **without(closed)).returncode, 3)
                self.assertEqual(self.call("lst", **without(closed)).returncode, 2)

    def test_closed_input_is_empty(self):
        for closed in COMBINATIONS:
            with self.subTest(closed=closed):
                done = self.call("run", "-", "-o", "rod.h5", "--quiet", input=NOTED, **without(closed))
                self.assertEqual(done.returncode, 2 if closed[0] else 0, done.stderr)


if __name__ == "__main__":
    main()
