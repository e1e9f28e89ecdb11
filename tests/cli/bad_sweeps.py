#!/usr/bin/python3
"""Wrong sweeps: each error is reported at its place with the expected value, one and two at a time; no file is written."""
import itertools
import os
import random
import subprocess

from command import BINARY, Case, ROD, main

GOOD = """\
curvebody: 1
title: rods
sweep:
  scenario: rod.yaml
  set: {time.end: 0.1}
  task: run
  over:
    - {key: bodies.0.mass, from: 1, to: 2, count: 3, spacing: log, name: mass}
    - {key: [integrator.name, integrator.step], values: [[lobatto, 0.05], [gauss, 0.1]], name: method}
    - {key: bodies.0.motion.speed, random: "uniform(0.5, 1)", count: 2, seed: 3}
  design: grid
  keep: last
  collect:
    top: max(energy)
    drift: last(plot_position[0,2]) - first(plot_position[0,2])
"""

# The old text, the new text with @ at the expected place of the message, words of the message.
FAULTS = [
    ("curvebody: 1", "curvebody: @2", "expected 1"),
    ("title: rods", "@titel: rods", "did you mean 'title'"),
    ("scenario: rod.yaml", "scenario: @no.yaml", "No such file"),
    ("scenario: rod.yaml", "@scenari: rod.yaml", "did you mean 'scenario'"),
    ("set: {time.end: 0.1}", "set: @3", "expected a map"),
    ("task: run", "@work: run", "work was renamed to task"),
    ("task: run", "task: @verdict", "verdict was renamed to optimality"),
    ("task: run", "task: @runn", "did you mean 'run'"),
    ("spacing: log", "spacing: @lag", "did you mean 'log'"),
    ("from: 1, to: 2", "from: 1, to: @x", "expected a number"),
    ("- {key: bodies.0.mass, from: 1, to: 2", "- @{key: bodies.0.mass, from: 1", "the key `to` is missing"),
    ("count: 3, spacing", "count: @0, spacing", "expected 1 to"),
    ("count: 3, spacing", "count: @2.5, spacing", "expected an integer"),
    ("count: 3, spacing", "@coun: 3, spacing", "did you mean 'count'"),
    ("from: 1, to: 2", "from: -1, to: 2", "> 0 for a logarithm"),
    ("{key: bodies.0.mass, from: 1, to: 2, count: 3, spacing: log", "@{key: bodies.0.mass", "expected one of `values`"),
    ("values: [[lobatto, 0.05], [gauss, 0.1]]", "values: [[lobatto, 0.05], @[gauss]]", "a list of 2 values"),
    ("values: [[lobatto, 0.05], [gauss, 0.1]]", "values: @3", "expected a list of values"),
    ("values: [[lobatto, 0.05], [gauss, 0.1]]", "values: [[lobatto, 0.05], [gauss, 0.1]], count: @2", "expected no `count` next to `values`"),
    ('"uniform(0.5, 1)"', '@uniform(0.5, 1)', "quotes around a distribution"),
    ('"uniform(0.5, 1)"', '@"uniorm(0.5, 1)"', "did you mean 'uniform'"),
    ('"uniform(0.5, 1)"', '@"uniform(1, 0.5)"', "from a smaller to a larger"),
    ('"uniform(0.5, 1)"', '"uniform(0.5, @y)"', "unknown name"),
    ('"uniform(0.5, 1)"', '@"uniform(0.5)"', "2 numbers"),
    ('"uniform(0.5, 1)"', '@"normal(0.5, 0)"', "positive standard deviation"),
    ('"uniform(0.5, 1)"', '@"normal(0.5, 1) + 1"', "expected normal with"),
    ("seed: 3", "seed: @-3", "at least 0"),
    ("design: grid", "design: @grit", "did you mean 'grid'"),
    ("design: grid", "design: @{name: sobol}", "`count` is missing"),
    ("design: grid", "design: {name: grid, count: @3}", "takes no count: set it for each axis"),
    ("keep: last", "keep: @lost", "did you mean 'last'"),
    ("keep: last", "@keeps: last", "did you mean 'keep'"),
]
# Errors that are found only after the sweep itself is right.
LATER = [
    ("- {key: bodies.0.mass", "- {key: bodies.@1.mass", "expected an index from 0 to 0"),
    ("- {key: bodies.0.mass", "- {key: bodies.0.mass.@x", "which is a value without keys"),
    ("- {key: bodies.0.mass", "- {key: bodies.0.@mas", "unknown key 'mas', did you mean 'mass'"),
    ("- {key: bodies.0.mass, from: 1, to: 2, count: 3, spacing: log", "- {key: bodies.0.mass, from: @-2, to: -1, count: 3", "mass: expected"),
    ("[gauss, 0.1]", "[@gaus, 0.1]", "did you mean 'gauss'"),
    ("[gauss, 0.1]", "[gauss, @0]", "step: expected"),
    ("set: {time.end: 0.1}", "set: {time.@ende: 0.1}", "did you mean 'end'"),
    ("top: max(energy)", "top: max(@enrgy)", "did you mean 'energy'"),
    ("top: max(energy)", "top: max(energy", "expected `)`"),
    ("top: max(energy)", "top: @maxx(energy)", "maxx"),
    ("top: max(energy)", "top: max(max(energy))", "a reduction cannot be inside another one"),
    ("top: max(energy)", "top: max(@plot_position)", "expected an element of /plot_position: its shape is [particle of 2, axis of 3]"),
    ("top: max(energy)", "top: max(plot_position[0,@4])", "expected 0 to 2 for the dimension `axis`"),
    ("top: max(energy)", "top: max(plot_position[@q,0])", "an index from 0 to 1, or a label, of the dimension `particle`"),
    ("top: max(energy)", "top: max(plot_position[0@])", "/plot_position has 2 indices"),
    ("top: max(energy)", "top: max(energy@[0])", "expected no indices"),
    ("top: max(energy)", "top: max(@multiplier[0])", "add `constraints` to record.observables"),
    ("top: max(energy)", "top: max(@nothing)", "unknown field 'nothing', expected one of: time, step"),
    ("top: max(energy)", "top: max(@karcher_mean[0,0])", "add `karcher_mean` to record.observables"),
    ("top: max(energy)", "top: max(@x[0,1])", "x was renamed to plot_position"),
    ("top: max(energy)", "top: @event_kind", "expected a field of events inside a reduction"),
    ("top: max(energy)", "top: count(event_kind == @energy)", "expected either fields of events or fields of rows"),
    ("top: max(energy)", "top: crossing(energy, @0)", "n, which zero is meant, as an integer >= 1"),
    ("top: max(energy)", "top: max(energy) + @foo(2)", "foo"),
    ("top: max(energy)", "top: max(energy) +@", "expected"),
    ("top: max(energy)", "top: max(@2)", "expected a field of the record"),
    ("top: max(energy)", "@energy: max(energy)", "the name `energy` already exists"),
    ("top: max(energy)", "@t/p: max(energy)", "cannot be the name"),
    ("top: max(energy)", "@status: max(energy)", "the name `status` already exists"),
    ("name: mass}", "name: @particle}", "already exists"),
    ("name: method}", "name: @a/b}", "cannot be the name"),
]


def edited(faults):
    """The text with all faults, and the expected place of each message."""
    text, places = GOOD, []
    for old, new, words in faults:
        assert text.count(old) == 1, old
        at = text.index(old)
        text = text[:at] + new + text[at + len(old):]
    while "@" in text:
        at = text.index("@")
        line = text.count("\n", 0, at) + 1
        places.append(f"s.yaml:{line}:{at - (text.rfind(chr(10), 0, at) + 1) + 1}: error: ")
        text = text[:at] + text[at + 1:]
    return text, places


class Bad(Case):
    def setUp(self):
        super().setUp()
        self.write("rod.yaml", ROD)

    def refused(self, faults):
        text, places = edited(faults)
        self.write("s.yaml", text)
        done = self.call("sweep", "s.yaml", "-o", "o")
        codes = {3 if words == "No such file" else 2 for _, _, words in faults}  # the first error decides, whichever that is
        self.assertIn(done.returncode, codes, f"{faults}\n{done.stderr}")
        for place in places:
            self.assertIn(place, done.stderr, f"{faults}")
        for _, _, words in faults:
            self.assertIn(words, done.stderr, f"{faults}")
        self.assertFalse(os.path.exists(self.path("o")) or os.path.exists(self.path("o.h5")))
        return done

    def test_the_good_one(self):
        self.write("s.yaml", GOOD)
        self.good("sweep", "s.yaml", "-o", "o")

    def test_each(self):
        for fault in FAULTS + LATER:
            with self.subTest(fault):
                self.refused([fault])

    def test_pairs(self):
        pairs = [(a, b) for a, b in itertools.combinations(FAULTS, 2) if edited_together(a, b)]
        for pair in random.Random(19).sample(pairs, 80):
            with self.subTest(pair):
                self.refused(pair)

    def test_a_member_out_of_range(self):
        """The message names the first wrong member with its values, before any member runs."""
        self.write("s.yaml", """\
curvebody: 1
sweep:
  scenario: rod.yaml
  over:
    - {key: bodies.0.mass, from: 10, to: 1, count: 100, name: mass}
    - {key: integrator.step, from: 0.471, to: -0.529, count: 1001, name: step}
  collect: {top: max(energy)}
""")
        self.write("rod.yaml", ROD.replace("end: 1", "end: 100"))
        done = self.call("sweep", "s.yaml", "-o", "o", "--set", "sweep.over.1.from=0.4711", "--set", "sweep.over.1.to=-0.5289")
        self.assertEqual(done.returncode, 2)
        self.assertIn("s.yaml", done.stderr)
        self.assertIn("note: this error is in member 472 (bodies.0.mass = 10, integrator.step = -0.000", done.stderr)
        self.write("one.yaml", """\
curvebody: 1
sweep:
  scenario: rod.yaml
  over:
    - {key: bodies.0.mass, values: [%s]}
  collect: {top: max(energy)}
""" % ", ".join("-1" if m in (4711, 4800) else str(1 + m) for m in range(5000)))
        done = self.call("sweep", "one.yaml", "-o", "o")
        self.assertIn("one.yaml:5:", done.stderr)
        self.assertIn("this error is in member 4711 (bodies.0.mass = -1)", done.stderr)
        self.assertFalse(os.path.exists(self.path("o")))

    def test_too_many(self):
        axis = "    - {key: bodies.0.%s, from: 1, to: 2, count: 1000000, name: %s}\n"
        self.write("s.yaml", "curvebody: 1\nsweep:\n  scenario: rod.yaml\n  over:\n" + axis % ("mass", "a") + axis % ("radius", "b")
                   + "  collect: {top: max(energy)}\n")
        done = self.call("sweep", "s.yaml", "-o", "o")
        self.assertEqual(done.returncode, 2)
        self.assertIn("s.yaml:5:5: error: the sweep has 1e+12 members: expected at most 100000000", done.stderr)

    def test_axes(self):
        def over(text, words, design="grid"):
            self.write("s.yaml", f"curvebody: 1\nsweep:\n  scenario: rod.yaml\n  design: {design}\n  over:\n{text}  collect: {{top: max(energy)}}\n")
            done = self.call("sweep", "s.yaml", "-o", "o")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)

        mass, speed = "    - {key: bodies.0.mass, values: [1, 2]}\n", "    - {key: bodies.0.motion.speed, values: [1, 2, 3]}\n"
        over(mass + speed, "s.yaml:7:7: error: axes that are varied together need the same number of values: expected 2, found 3", "together")
        over(mass + mass, "s.yaml:7:13: error: `bodies.0.mass` is varied twice")
        over(mass + speed.replace("values", "name: bodies.0.mass, values"), "two axes have the name `bodies.0.mass`")
        over("    - {key: bodies.0.mass, from: 1, to: 2, count: 3}\n", "the design sets it", "{name: sobol, count: 4}")
        over("    - {key: bodies.0.mass, from: 1, to: 2, seed: 3}\n", "or to the design", "{name: sobol, count: 4}")
        over("    - 3\n", "expected a map with `key`")
        over("    []\n", "expected a list of 1 to 16 axes")
        over(mass.replace("{key: bodies.0.mass, ", "{"), "the key `key` is missing")
        over(mass.replace("bodies.0.mass", "[]"), "expected 1 to 16 keys")

    def test_other_files(self):
        for text, words in (("3\n", "`sweep` is missing"), ("", "`sweep` is missing"), (ROD, "`sweep` is missing"),
                            ("curvebody: 1\nsweep: 3\n", "expected a map with"), ("curvebody: 1\nsweep: {}\n", "`scenario` is missing"),
                            ("{", "s.yaml:")):
            self.write("s.yaml", text)
            done = self.call("sweep", "s.yaml", "-o", "o")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)
        self.assertEqual(self.call("sweep", "no.yaml").returncode, 3)
        self.write("s.yaml", GOOD)
        for words in ["--shard", "0/2"], ["--shard", "3/2"], ["--shard", "x"], ["--shard", "1/2x"], ["--frob"], ["t.yaml"]:
            self.assertEqual(self.call("sweep", "s.yaml", *words).returncode, 2, words)
        self.assertEqual(self.call("sweep", "--status", "nothing").returncode, 3)
        for command in "check", "run":
            done = self.call(command, "s.yaml")
            self.assertEqual(done.returncode, 2)
            self.assertIn("error: expected a scenario, found a sweep: run it with `curvebody sweep`", done.stderr)
        self.assertEqual(self.call("sweep").returncode, 2)

    def test_random_texts(self):
        """Changed, removed and doubled bytes and lines give an error or a run, never a crash."""
        rng = random.Random(7)
        for _ in range(150):
            lines = GOOD.splitlines(keepends=True)
            for _ in range(rng.randint(1, 3)):
                at, what = rng.randrange(len(lines)), rng.randrange(4)
                if what == 0 and len(lines) > 2:
                    del lines[at]
                elif what == 1:
                    lines.insert(at, rng.choice(lines))
                else:
                    k = rng.randrange(len(lines[at]))
                    lines[at] = lines[at][:k] + rng.choice("()[]{},:@x0-\"'\t#") + lines[at][k + (what == 2):]
            self.write("s.yaml", "".join(lines))
            done = self.call("sweep", "s.yaml", "-o", "r", "--quiet")
            self.assertIn(done.returncode, (0, 1, 2, 3), "".join(lines) + done.stderr)
            subprocess.run(["rm", "-rf", self.path("r"), self.path("r.h5")])


def edited_together(a, b):
    try:
        text, places = edited([a, b])
    except AssertionError:
        return False
    lines = [GOOD[:GOOD.index(f[0])].count("\n") for f in (a, b)]
    return lines[0] != lines[1]  # an error may hide another one in the same line


if __name__ == "__main__":
    main()
