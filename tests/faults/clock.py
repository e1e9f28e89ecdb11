#!/usr/bin/python3
"""With any wrong clock a command must end, with the same result as with a right clock.

    clock.py BINARY CLOCK_LIBRARY [--all]
"""
import os
import random
import shutil
import sys
import time

LIBRARY = os.path.abspath(sys.argv.pop(2))
ALL = "--all" in sys.argv and not sys.argv.remove("--all") or "CB_TEST_ALL" in os.environ
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from command import ROD, Case, datasets, differing, main  # noqa: E402

WAYS = "forward", "back", "still", "wild"
PLACES = range(1, 41) if ALL else (1, 2, 3, 5, 8, 13, 21, 34)
RUN = ROD.replace("end: 1}", "end: 4}")
SWEEP = """\
curvebody: 1
sweep:
  scenario: rod.yaml
  over:
    - {key: bodies.0.mass, values: [1, 2, 3], name: mass}
  keep: last
"""


class Clock(Case):
    def by_wrong_clocks(self, name, words, prepare=lambda: None):
        prepare()
        self.good(*words)
        right, tried = datasets(self.path(name)), 0
        seed = time.time_ns() % 10**9
        rng = random.Random(seed)
        for way in WAYS:
            for place in PLACES if ALL else rng.sample(PLACES, 3):
                prepare()
                how = {"LD_PRELOAD": LIBRARY, "FAULT_CLOCK": way, "FAULT_AT": str(place)}
                self.good(*words, env=os.environ | how, timeout=60)
                self.assertEqual(differing(datasets(self.path(name)), right), [], f"{way} from question {place}")
                tried += 1
        print(f"{words[0]}: {tried} wrong clocks tried, {tried} survived, seed {seed}")

    def test_run(self):
        for sync in "never", "checkpoint", "every flush":
            self.write("rod.yaml", RUN.replace("{every: 1, o", f"{{every: 1, checkpoint: 50, sync: {sync}, o"))
            self.by_wrong_clocks("rod.h5", ["run", "rod.yaml", "--quiet"])

    def test_resume(self):
        self.write("rod.yaml", RUN)

        def half():
            self.good("run", "rod.yaml", "--set", "time.end=2", "--quiet")

        self.by_wrong_clocks("rod.h5", ["resume", "rod.h5", "--until", "4", "--quiet"], half)

    def test_sweep(self):
        self.write("rod.yaml", ROD)
        self.write("s.yaml", SWEEP)

        def anew():
            for file in os.listdir(self.folder):
                if file.startswith("o"):
                    path = self.path(file)
                    shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)

        self.by_wrong_clocks("o.h5", ["sweep", "s.yaml", "-o", "o", "--quiet"], anew)


if __name__ == "__main__":
    main()
