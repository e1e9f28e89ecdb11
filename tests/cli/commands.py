#!/usr/bin/python3
"""The commands do what their help says: exit codes, output on both streams, files that they write."""
import glob
import json
import os
import re
import signal
import subprocess
import time

import h5py
import numpy as np

from command import Case, HAS_VIEW, NOTHING_TO_GO_ON_FROM, ROD, datasets, die_with_parent, differing, main, rows_of_live

SCENARIOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../analysis/scenarios")

# A stone is thrown at x = 1, the border of its potential's domain, and pulled over it; no smaller step helps.
EDGE = """\
curvebody: 1
space: e3
bodies:
  - {kind: particles, name: far, place: {points: [[-9, 1, 0]]}}
  - kind: particles
    name: stone
    masses: [1, 2]
    place: {points: [[0, 0, 0], [-3, 0, 0]]}
    motion: {killing: translation_x, speed: 0.5}
potentials: [expression: {value: "sqrt(1 - x)"}]
integrator: {name: lobatto, step: 0.01}
time: {end: 5}
"""

TWO_ELLIPSOIDS = """\
curvebody: 1
fluid: {medium: water, model: {name: viscous_drag, nu: 1}}
bodies:
  - name: two
    shape:
      - {name: a, shape: {name: ellipsoid, a: 0.3, b: 0.2, c: 0.1, resolution: 8}}
      - {name: b, shape: {name: ellipsoid, a: 0.3, b: 0.2, c: 0.1, resolution: 8}, position: [2, 0, 0]}
    density: 1200
integrator: {name: hamilton_pontryagin, step: 0.01}
time: {end: 0}
"""

STROKE = """\
curvebody: 1
bundle: {name: purcell, links: 3}
gait: {fourier: {mean: [0, 0], cosine: [[0.1, 0]], sine: [[0, 0.1]]}}
integrator: {name: magnus, step: 0.1}
"""

GAS = """\
curvebody: 1
space: s3
bodies: [{kind: gas, name: gas, count: 100, radius: 0.033, speed: 1, seed: 3}]
contacts: {within: [gas]}
integrator: {name: lobatto, stages: 3, step: 0.02}
time: {end: 0.2}
"""


class Commands(Case):
    def setUp(self):
        super().setUp()
        self.write("rod.yaml", ROD)

    def misused(self, words, *expected):
        done = self.call(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        for text in expected:
            self.assertIn(text, done.stderr)

    def files(self):
        return sorted(os.listdir(self.folder))

    def test_usage(self):
        self.misused([], "Usage: curvebody [OPTION]... COMMAND", "\n  resume ")
        self.misused(["rnu"], "no command `rnu`; did you mean `run`?")
        self.misused(["--isa", "sse", "list"], "expected one of: auto ")
        self.misused(["--threads", "0", "list"], "from 1 to 1024, not `0`")
        self.misused(["--threads", "2x", "list"], "from 1 to 1024, not `2x`")
        self.misused(["--ias", "auto", "list"], "no option `--ias`; did you mean `--isa`?")
        self.misused(["--completion"], "--completion was renamed to completion\n")
        self.misused(["completion", "tcsh"], "no shell `tcsh`")
        for words in ("run", "run a b", "check", "resume", "resume --until 3", "repair", "export a.h5",
                      "export a.h5 --csv --xdmf", "list spaces bodies"):
            self.misused(words.split(), "usage: curvebody " + words.split()[0])
        self.misused(["run", "rod.yaml", "--ouput", "x"], "no option `--ouput`; did you mean `--output`?")
        self.misused(["run", "rod.yaml", "-o"], "`-o` needs a value")
        self.misused(["run", "rod.yaml", "--output"], "`--output` needs a value")
        self.misused(["run", "rod.yaml", "-x"], "no option `-x`")
        self.misused(["run"], "curvebody run: error: SCENARIO is missing\nusage: curvebody run SCENARIO [OPTION]...\n")
        self.misused(["run", "a", "b"], "curvebody run: error: unexpected operand `b`")
        self.misused(["run", "rod.yaml", "--quiet=1"], "`--quiet` takes no value")
        self.misused(["run", "rod.yaml"] + ["--set", "time.end=2"] * 65, "`--set` is used too often")
        self.misused(["run", "rod.yaml", "-o", "./rod.yaml"], "would replace the input 'rod.yaml'")
        self.misused(["list", "bodys"], "no section `bodys`; did you mean `bodies`?")
        self.misused(["list", "works"], "curvebody list: error: works was renamed to tasks\n")
        self.misused(["gait", "g.yaml", "verdict"], "curvebody gait: error: verdict was renamed to optimality\n")
        for option, now in (("--over", "--vary"), ("--seek", "--objective"), ("--base", "--start-shape"),
                            ("--apart", "--no-crossing")):
            for words in [option, "1"], [option + "=1"]:
                self.misused(["gait", "g.yaml", "family", *words],
                             f"curvebody gait: error: {option} was renamed to {now}\n")
        self.misused(["export", "rod.h5", "--csv", "--every", "0"], "expected a positive number of rows")
        self.misused(["export", "rod.h5", "--xdmf", "--field", "time"], "--field needs --csv")
        self.misused(["gait", "g.yaml", "holonomy", "-o", "g.h5"], "`holonomy` writes no file: expected no --output")
        self.misused(["sweep", "--status", "s", "-o", "t"], "--status runs nothing")
        self.misused(["run", "rod.yaml", "-o", ""], "--output: expected the name of a file, found ''")
        self.misused(["space", "h3", "--set", "curvature=-2"], "--set curvature=-2:1:1: error: unknown key 'curvature'")
        self.assertEqual(self.files(), ["rod.yaml"])

    def test_help(self):
        self.assertIn("Exit status:\n  0    The command succeeded.\n", self.good("--help").stdout)
        self.assertRegex(self.good("--version").stdout, r"^curvebody \d+\.\d+\.\d+\n$")
        text = self.good("resume", "--help").stdout
        self.assertTrue(text.startswith("Usage: curvebody resume OUT.h5 [OPTION]...\n"))
        self.assertRegex(text, r"\n  -u, --until T +time at which the run ends, [^(]*\(default: the end of the\s+scenario\)\n")
        self.assertIn("\nExamples:\n  curvebody resume rod.h5\n", text)
        for words in ["resume", "-h"], ["resume", "rod.h5", "--help"], ["--help", "resume"]:
            self.assertEqual(self.good(*words).stdout, text)

    def test_options_of_the_program_stand_before_or_after_the_command(self):
        text = self.good("list", "integrators").stdout
        for words in (["--threads", "2", "list", "integrators"], ["list", "--threads=2", "integrators"],
                      ["list", "integrators", "--isa", "auto", "--threads", "2"], ["list", "--", "integrators"]):
            self.assertEqual(self.good(*words).stdout, text)
        self.misused(["list", "--threads", "0"], "from 1 to 1024, not `0`")
        self.misused(["list", "--isa", "sse"], "expected one of: auto ")
        self.assertEqual(self.call("list", "--plugin", "none.so").returncode,
                         self.call("--plugin", "none.so", "list").returncode)

    def test_the_standard_streams_are_a_dash(self):
        self.good("run", "rod.yaml", "--set", "record.observables=[energy]")
        for words in ["export", "rod.h5", "--csv"], ["export", "rod.h5", "--xdmf"], ["view", "rod.h5"]:
            if words[0] == "view" and not HAS_VIEW:
                continue
            done = self.good(*words, "-o", "file")
            self.assertEqual(done.stdout, "file\n")
            self.assertEqual(self.good(*words, "-o", "-").stdout.encode(), self.read("file"))
            with open("/dev/full", "w") as full:
                done = self.call(*words, "-o", "-", capture_output=False, stdout=full, stderr=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (3, 1), done.stderr)
            self.assertIn("No space left on device", done.stderr)
        os.remove(self.path("file"))
        table = ["geodesic", "h3", "--from", "1,1,0", "--to", "2,1,1", "--points", "3"]
        self.assertEqual(self.good(*table, "-o", "-").stdout, self.good(*table).stdout)
        self.misused(["run", "-"], "the standard input has no name: expected -o OUT.h5")
        self.misused(["sweep", "-"], "the standard input has no name: expected -o OUT")
        self.write("g.yaml", STROKE)
        hdf5 = "--output: expected the name of a file, found `-`: HDF5 cannot be written to the standard output"
        for words in ["run", "rod.yaml"], ["sweep", "rod.yaml"], ["export", "rod.h5", "--flow"], ["gait", "g.yaml", "path"]:
            self.misused([*words, "-o", "-"], hdf5)
        self.good("run", "-", "-o", "again.h5", input=ROD)
        self.assertEqual(self.files(), ["again.h5", "g.yaml", "rod.h5", "rod.yaml"])

    def test_output_that_cannot_be_printed(self):
        with open("/dev/full", "w") as full:
            for words in ["list"], ["--help"], ["--version"], ["check", "rod.yaml"], ["run", "rod.yaml"]:
                done = self.call(*words, capture_output=False, stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 3, words)
                self.assertIn("No space left on device", done.stderr)

    def test_run(self):
        os.mkdir(self.path("deep"))
        self.write("deep/other.name.yaml", ROD)
        self.assertRegex(self.good("run", "rod.yaml").stdout,
                         r"^rod.h5: time 1, 100 steps in .* s; changed since time 0: energy \S+, momentum \S+\n$")
        self.assertEqual(self.good("run", "deep/other.name.yaml", "--quiet").stdout, "")
        self.assertEqual(self.files(), ["deep", "other.name.h5", "rod.h5", "rod.yaml"])
        done = self.good("run", "rod.yaml", "-o", "deep/out", "--json", "--set", "time.end=0.5",
                         "--set=integrator.name=gauss")
        report = json.loads(done.stdout)
        self.assertEqual((report["status"], report["output"]), ("ok", "deep/out"))
        self.assertEqual((report["time"], report["step"]), (0.5, 50))
        with h5py.File(self.path("deep/out")) as file:
            self.assertEqual(file.attrs["completed"], 1)
            self.assertEqual(file.attrs["integrator"], "gauss")
            self.assertEqual(file["time"].shape, (51,))
            self.assertEqual(file["scenario/source"].asstr()[()], ROD)
            self.assertIn("end: 0.5", file["scenario/resolved"].asstr()[()])

    def test_run_replaces_a_record_at_once(self):
        self.good("run", "rod.yaml")
        before = datasets(self.path("rod.h5"))
        self.assertEqual(self.call("run", "rod.yaml", "--set", "bodies.0.mass=-1").returncode, 2)
        self.assertEqual(differing(before, datasets(self.path("rod.h5"))), [])
        self.good("run", "rod.yaml", "--set", "time.end=2")
        with h5py.File(self.path("rod.h5")) as file:
            self.assertEqual(file["time"].shape, (201,))

    def test_last_step_is_shortened(self):
        self.good("run", "rod.yaml", "--set", "integrator.step=0.03", "--set", "record.every=10")
        with h5py.File(self.path("rod.h5")) as file:
            self.assertEqual(list(file["step"][()]), [0, 10, 20, 30, 34])
            self.assertAlmostEqual(file["time"][-1], 1, delta=1e-15)
            self.assertAlmostEqual(file["step_size"][-1], 0.01, delta=1e-15)

    def test_run_of_no_length(self):
        self.good("run", "rod.yaml", "--set", "time.end=0")
        with h5py.File(self.path("rod.h5")) as file:
            self.assertEqual(list(file["time"][()]), [0])

    def test_check_prints_what_reads_back_the_same(self):
        scenarios = [path for path in glob.glob(SCENARIOS + "/**/*.yaml", recursive=True) if "/sweeps/" not in path]
        self.assertGreater(len(scenarios), 10)
        for path in scenarios:
            with open(path) as file:
                if "name: samples" in file.read():  # the table of this scenario is written by another command
                    continue
            with self.subTest(os.path.basename(path)):
                resolved = self.good("check", path).stdout
                self.write("resolved.yaml", resolved)
                self.assertEqual(self.good("check", "resolved.yaml").stdout, resolved)

    def test_sweeps_of_the_report_are_right(self):
        for path in glob.glob(SCENARIOS + "/sweeps/*.yaml"):
            with self.subTest(os.path.basename(path)):
                self.assertIn("members", self.good("sweep", path, "--dry-run").stdout)

    def test_resolved_scenario_runs_to_the_same_bytes_anywhere(self):
        os.mkdir(self.path("here"))
        self.write("here/patch.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n")
        net = ROD.replace("kind: rod", "kind: network")
        mesh = "    mesh: {file: patch.obj, scale: 0.1}\n    density: 2\n"
        self.write("here/net.yaml", net[:net.index("    link")] + mesh + net[net.index("    motion"):])
        listed = ROD.replace("mass: 1", "masses: [1, e/1]\n    charges: [1/3, -2]")
        self.write("here/listed.yaml", listed.replace("{name: h3, curvature: -1}", "h3"))
        # a file that is named on the command line is searched in the current folder
        done = self.call("run", "here/net.yaml", "-o", "set.h5", "--set", "bodies.0.mesh.file=patch.obj")
        self.assertEqual(done.returncode, 3)
        self.good("run", "here/net.yaml", "-o", "set.h5", "--set", "bodies.0.mesh.file=here/patch.obj")
        for name in "here/net.yaml", "here/listed.yaml":
            self.write("resolved.yaml", self.good("check", name, "--set", "time.end=0.7").stdout)
            self.good("run", name, "-o", "here/a.h5", "--set", "time.end=0.7", "--force")
            self.good("run", "resolved.yaml", "-o", "b.h5", "--force")
            self.assertEqual(differing(datasets(self.path("here/a.h5")), datasets(self.path("b.h5"))), [])
            self.good("resume", "here/a.h5", "--until", "1")
            self.good("run", name, "-o", "long.h5")
            self.assertEqual(differing(datasets(self.path("here/a.h5")), datasets(self.path("long.h5"))), [])

    def test_keys_of_the_former_class_are_left_out_with_a_note(self):
        """Unknown keys that --set itself gives are errors."""
        self.write("rod.yaml", ROD)
        note = "integrator: `stages` of lobatto is left out: rk4 has no such key\n"
        done = self.good("run", "rod.yaml", "--set", "integrator.name=rk4")
        self.assertEqual(done.stderr, "curvebody: note: " + note)
        self.assertEqual(self.good("run", "rod.yaml", "--quiet", "--set", "integrator.name=rk4").stderr, "")
        self.assertTrue(self.good("check", "rod.yaml", "--set", "integrator.name=rk4").stdout.startswith("# " + note))
        whole = self.good("run", "rod.yaml", "-o", "whole.h5", "--set", "integrator={name: rk4, step: 0.01}")
        self.assertEqual(whole.stderr, "")
        self.assertEqual(differing(datasets(self.path("rod.h5")), datasets(self.path("whole.h5"))), [])
        own = self.call("run", "rod.yaml", "--set", "integrator.name=rk4", "--set", "integrator.stages=2")
        self.assertEqual(own.returncode, 2)
        self.assertIn("unknown key 'stages'", own.stderr)

    def test_keys_are_left_out_wherever_a_map_names_a_class(self):
        self.write("rod.yaml", ROD)
        self.write("two.yaml", TWO_ELLIPSOIDS)
        self.write("gait.yaml", STROKE)
        still = ["--set", "bodies.0.motion=[]", "--set", "bodies.0.place={points: [[1, 0, 0], [0, 1, 0]]}"]
        for words, set_, left in ((["run", "rod.yaml", *still], "space.name=nil", "`curvature` of h3"),
                                  (["run", "rod.yaml"], "bodies.0.kind=particles", "`link` of rod"),
                                  (["run", "two.yaml"], "bodies.0.shape.1.shape.name=ball", "`a` of ellipsoid"),
                                  (["run", "two.yaml"], "fluid.model.name=local", "`nu` of viscous_drag"),
                                  (["gait", "gait.yaml", "holonomy"], "bundle.name=three_sphere", "`links` of purcell")):
            self.assertIn(left + " is left out", self.call(*words, "--set", set_).stderr)

    def test_a_record_without_the_state_is_smaller_and_goes_on(self):
        """An origin has 16 numbers. In S3 a particle's position, momentum, plot position and plot velocity have 4, 4, 3, 3."""
        self.write("gas.yaml", GAS)
        self.good("run", "gas.yaml", "-o", "whole.h5")
        sizes = {name: data[0] for name, data in datasets(self.path("whole.h5")).items()}
        bytes_of = {name: 8 * np.prod(shape) for name, shape in sizes.items() if len(shape) == 3}
        self.assertGreater(bytes_of["origin"], 0.5 * sum(bytes_of.values()))
        self.good("run", "gas.yaml", "-o", "part.h5", "--set", "record.state=false", "--set", "time.end=0.1")
        self.good("resume", "part.h5", "--until", "0.2")
        left = differing(datasets(self.path("part.h5")), datasets(self.path("whole.h5")))
        self.assertEqual(left, ["momentum", "origin", "position"])

    def test_list(self):
        kinds = ["spaces", "systems", "bodies", "shapes", "constraints", "contacts", "walls", "events", "joints",
                 "couplings", "integrators", "bundles", "gaits", "fluids", "flows", "media", "observables",
                 "functions", "sweeps", "tasks", "reductions", "maps", "pair_potentials", "configurations"]
        text, everything = self.good("list").stdout, json.loads(self.good("list", "--json").stdout)
        self.assertEqual(list(everything), kinds)
        for kind in kinds:
            self.assertIn(kind + ":\n", text)
            alone = self.good("list", kind).stdout
            self.assertIn(alone, text)
            self.assertEqual(json.loads(self.good("list", kind, "--json").stdout), {kind: everything[kind]})
            for entry in everything[kind]:
                self.assertIn("\n  " + entry["name"], alone)
        names = {kind: [entry["name"] for entry in everything[kind]] for kind in kinds}
        self.assertLessEqual({"e2", "e3", "s2", "s3", "h2", "h3"}, set(names["spaces"]))
        self.assertLessEqual({"rod", "triangle", "network", "particles"}, set(names["bodies"]))
        self.assertLessEqual({"lobatto", "gauss", "rk4"}, set(names["integrators"]))
        self.assertLessEqual({"purcell", "expressions", "surface_drag", "samples"}, set(names["bundles"]))
        spaces = {entry["name"]: entry for entry in everything["spaces"]}
        self.assertEqual(spaces["h3"]["killing_fields"][:3], ["boost_x", "boost_y", "boost_z"])
        for name in "e3", "h3", "s3", "nil", "torus":  # `curvebody space` knows the same charts
            for chart in set(spaces[name]["charts"]) - {"embedding"}:  # the embedding has no metric
                self.good("space", name, "--chart", chart)
            self.assertIn("charts", alone_spaces := self.good("list", "spaces").stdout)
            self.assertIn(" ".join(spaces[name]["killing_fields"]), alone_spaces)
        paths = names["maps"]
        self.assertLessEqual({"record", "time", "start", "integrator", "interactions.*", "bodies.*.place"}, set(paths))
        record = everything["maps"][paths.index("record")]["parameters"]
        resolved = self.good("check", self.write("keys.yaml", ROD)).stdout
        for p in record:
            if p["name"] not in ("chart", "join"):  # chart applies to an observable that is not recorded; join has no default
                self.assertRegex(resolved, rf"\n  {p['name']}:")
        every = [p for p in record if p["name"] == "every"][0]
        self.assertEqual((every["type"], every["default"], every["range"]), ("int", "1", ">= 1"))
        for kind in kinds:
            for entry in everything[kind]:
                for p in entry["parameters"]:
                    self.assertTrue(p["doc"], f"{kind} {entry['name']}.{p['name']} has no text")
        self.assertIn("along -gravity", text)
        self.assertIn("circulation/(2 pi r) (1 - exp(-r^2/core^2))", text)
        self.assertIn("the frame whose axes are used (default: world)", text)
        self.assertIn("variational with the maps cayley and exponential", text)
        self.assertEqual(names["gaits"], ["gait", "arcs", "expressions", "fourier", "loop", "polygon", "samples", "sequence",
                                          "spline", "optimum"])
        self.assertEqual(names["tasks"], ["cycle", "family", "holonomy", "integral", "optimality", "optimize", "run",
                                          "steering"])
        crossing = everything["reductions"][names["reductions"].index("crossing")]["parameters"]
        self.assertEqual([(p["name"], p["type"], p["default"], p["range"]) for p in crossing], [("n", "int", "1", ">= 1")])
        self.assertEqual(names["fluids"], ["fluid", "floor", "particles", "body", "ellipsoid", "exact", "local", "mujoco_ellipsoid",
                                           "mujoco_inertia_box", "offset_sources", "thin_plate", "viscous_drag"])
        self.assertEqual(names["flows"], ["grid", "shear", "uniform", "velocity", "vortex"])
        self.assertEqual(names["media"], ["air", "density", "layers", "none", "water"])
        stages = [p for p in everything["integrators"][0]["parameters"] if p["name"] == "stages"][0]
        self.assertEqual((stages["type"], stages["range"], stages["default"]), ("int", "[1, 8]", "3"))

    def test_the_border_of_a_chart_is_told_as_that(self):
        """A fall to the horizon r = 2, which the coordinate r cannot cross: no smaller step helps."""
        self.write("horizon.yaml", "curvebody: 1\nspace: {metric: [[1/(1 - 2/r)], [0, r^2]], coordinates: [r, phi], base: [5, 0]}\n"
                   "bodies: [{kind: particles, name: p, mass: 1, place: {chart: coordinates, points: [[3, 0]]}, "
                   "motion: {velocities: [[-1, 0]]}}]\nintegrator: {name: gauss, step: 0.01}\ntime: {end: 10}\n")
        for words in ((), ("--set", "space.domain=r > 2"), ("--set", "integrator.name=rk4"), ("--set", "integrator.step=0.003"),
                      ("--set", "space.metric=[[1], [0, 1]]", "--set", "space.domain=[r - 2, 9 - r]", "--set",
                       "integrator.name=ida")):
            said = self.call("run", "horizon.yaml", "--force", *words).stderr
            self.assertIn("the path reaches the border of the chart, and a smaller step does not help", said)
            self.assertNotIn("try a smaller integrator.step", said)

    def test_failing_run(self):
        self.write("edge.yaml", EDGE)
        for method in "lobatto", "gauss", "rk4":
            done = self.call("run", "edge.yaml", "--force", "--set", "integrator.name=" + method)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            words = re.match(r"curvebody: error: (?:stage not finite|singular Newton matrix) at time (1\.\d+), "
                             r"step (\d+), .*body `stone`, particle `stone.0`: "
                             r".*\(step 0.01, halved 4 times\); try a smaller integrator.step\n"
                             r"curvebody: note: the results so far are in edge.h5\n$", done.stderr)
            self.assertTrue(words, done.stderr)
            report = json.loads(self.call("run", "edge.yaml", "--json", "--force", "--set", "integrator.name=" + method).stdout)
            self.assertEqual((report["status"], report["step"]), ("step failed", int(words[2])))
            with h5py.File(self.path("edge.h5")) as file:
                self.assertEqual(file.attrs["completed"], 0)
                self.assertEqual(file["step"][-1], int(words[2]))
                self.assertEqual(file["time"][-1], float(words[1]))
                self.assertEqual(list(file["event_kind"][-4:]), [3] * 4)
                self.assertEqual(list(file["event_gap"][-4:]), [0.01, 0.005, 0.0025, 0.00125])

    def test_retried_steps_are_recorded(self):
        stiff = ["--set=bodies.0.link={spring: {stiffness: 300, rest: 0.5}}", "--set=integrator.solver=fixed-point",
                 "--set=time.end=2", "--set=integrator.step=0.5"]
        self.good("run", "rod.yaml", *stiff)
        with h5py.File(self.path("rod.h5")) as file:
            self.assertEqual(list(file["step"][()]), [0, 1, 2, 3, 4])
            self.assertAlmostEqual(file["time"][-1], 2, delta=1e-14)
            self.assertEqual(set(file["event_kind"][()]), {3})
            self.assertEqual((file["event_time"][0], file["event_gap"][0]), (0, 0.5))
        done = self.call("run", "rod.yaml", *stiff, "--set", "integrator.retries=0")
        self.assertEqual(done.returncode, 1)
        self.assertIn(" at time 0, step 0, ", done.stderr)
        self.assertIn("body `a`, particle `a.", done.stderr)
        with h5py.File(self.path("rod.h5")) as file:
            self.assertEqual((list(file["step"][()]), file["event_kind"].shape), ([0], (0,)))

    def test_interrupted_run_goes_on(self):
        for by in signal.SIGINT, signal.SIGTERM:
            run = self.start("run", "rod.yaml", "--set", "time.end=1e4", "-o", f"part{by}.h5", stderr=subprocess.PIPE)
            self.wait_for(f"part{by}.h5", run, 1)  # the run handles signals from its first step on
            run.send_signal(by)
            text = run.communicate()[1].decode()
            self.assertEqual(run.returncode, 130, text)
            self.assertRegex(text, r"^curvebody: note: interrupted at time .*, step \d+\n"
                             r".*the results so far are in part\d+.h5; `curvebody resume` continues")
            with h5py.File(self.path(f"part{by}.h5")) as file:
                self.assertEqual(file.attrs["completed"], 0)
                last = float(file["time"][-1])
                self.assertEqual(int(file["step"][-1]) + 1, file["step"].shape[0])
            self.good("run", "rod.yaml", "--set", f"time.end={last + 1}", "-o", "whole.h5", "--force")
            if last > 1:
                self.assertEqual(self.call("resume", f"part{by}.h5", "--until", str(last - 1)).returncode, 2)
            done = self.good("resume", f"part{by}.h5", "--until", str(last + 1), "--quiet")
            self.assertEqual(done.stdout, "")
            self.assertEqual(differing(datasets(self.path(f"part{by}.h5")), datasets(self.path("whole.h5"))), [])

    def test_run_and_resume_stop_at_signals_of_batch_systems(self):
        for by in signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2:
            self.remove_record("rod.h5")
            rows = 1
            for words in ("run", "rod.yaml", "--set", "time.end=1e4"), ("resume", "rod.h5", "--until", "2e4"):
                run = self.start(*words, stderr=subprocess.PIPE)
                self.wait_for("rod.h5", run, rows)
                run.send_signal(by)
                text = run.communicate()[1].decode()
                self.assertEqual(run.returncode, 130, text)
                self.assertIn("the results so far are in rod.h5; `curvebody resume` continues", text)
                with h5py.File(self.path("rod.h5")) as file:
                    self.assertEqual(file.attrs["completed"], 0)
                    rows = len(file["time"]) + 1

    def test_the_second_signal_of_a_user_ends_a_run_at_once(self):
        """The handler of SIGINT and SIGTERM acts once: after it the process has no handler of this signal."""
        for by, acts_again in (signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGHUP, True), (signal.SIGUSR1, True):
            seen, tries = None, 0
            while seen is None:
                tries += 1
                run = self.start("run", "rod.yaml", "--set", "time.end=1e4", "-o", f"twice{by}-{tries}.h5")
                self.wait_for(f"twice{by}-{tries}.h5", run, 1)
                self.assertIn(by, self.signals(run, "SigCgt"))
                run.send_signal(by)
                run.send_signal(signal.SIGSTOP)  # after the handler, and before the run has closed its record
                os.waitid(os.P_PID, run.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                if by not in self.signals(run, "SigPnd") | self.signals(run, "ShdPnd"):
                    seen = self.signals(run, "SigCgt")
                run.send_signal(signal.SIGCONT)
                self.assertEqual(run.wait(), 130)
            self.assertEqual(by in seen, acts_again)

    def test_a_run_survives_repeated_hangups_and_ignores_one_under_nohup(self):
        def ignore():
            die_with_parent()
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        run = self.start("run", "rod.yaml", "--set", "time.end=1e4", "-o", "twice.h5", stderr=subprocess.PIPE)
        self.wait_for("twice.h5", run, 1)
        for _ in range(3):  # a shell repeats the signal of its terminal
            run.send_signal(signal.SIGHUP)
            time.sleep(0.002)
        self.assertEqual((run.communicate()[0], run.returncode), (None, 130))
        run = self.start("run", "rod.yaml", "--set", "time.end=1e4", "-o", "nohup.h5", preexec_fn=ignore)
        self.wait_for("nohup.h5", run, 1)
        run.send_signal(signal.SIGHUP)
        for _ in range(2):  # a run that stops writes its last rows once
            self.wait_for("nohup.h5", run, rows_of_live(self.path("nohup.h5")) + 1)
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGUSR1)
        self.assertEqual(run.wait(), 130)

    def test_a_run_replaces_no_longer_or_unfinished_record(self):
        def refused(words, *expected):
            before = self.read("rod.h5")
            done = self.call("run", "rod.yaml", *words)
            self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
            for text in expected:
                self.assertIn(text, done.stderr)
            self.assertEqual(self.read("rod.h5"), before)
            self.assertFalse(os.path.exists(self.path("rod.h5.parts")))

        def replaced(*words):
            done = self.call("run", "rod.yaml", *words)
            self.assertEqual(done.returncode, 0, done.stderr)

        replaced("--set", "time.end=2")
        refused([], "rod.h5: cannot write: the record ends at time 2, after the end 1 of this run: expected another output, or "
                    "`run --force` to replace it")
        refused(["--set", "time.end=2", "--set", "record.every=2"], "the record has 201 rows, this run would have 101")
        replaced("--set", "time.end=2", "--set", "integrator.stages=3")  # the same length
        replaced("--set", "time.end=3")
        replaced("--force")
        self.remove_record("rod.h5")
        run = self.start("run", "rod.yaml", "--set", "time.end=1e4")
        self.wait_for("rod.h5", run, 1)
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(), 130)
        refused(["--set", "time.end=1e4"], "rod.h5: cannot write: its run is unfinished, at time ",
                "expected `curvebody resume`, or `run --force` to replace it")
        replaced("--force")
        self.write("rod.h5", "no record")
        replaced()
        self.write("edge.yaml", EDGE)
        for _ in range(2):  # a run that fails before its second row leaves nothing to continue
            self.assertEqual(self.call("run", "edge.yaml", "--set", "record.every=1000").returncode, 1)

    def test_resume(self):
        self.good("run", "rod.yaml", "--set", "time.end=3", "-o", "whole.h5")
        self.good("run", "rod.yaml")
        before = self.read("rod.h5")
        self.misused(["resume", "rod.h5", "--until", "0.5"],
                     "rod.h5: error: the record ends at time 1: expected --until of at least this time, found 0.5")
        self.misused(["resume", "rod.h5", "--until", "4x"], "end: expected a dimensionless number", "'4x'")
        self.misused(["resume", "rod.h5", "--until", "-1"], "the end -1 is before the start 0")
        self.misused(["resume", "rod.h5", "--until", "2" * 300], "--until: expected a time")
        self.misused(["resume", "rod.yaml", "--until", "2"], "rod.yaml: error: this is not an HDF5 file")
        self.assertEqual(self.read("rod.h5"), before)
        self.assertEqual(self.call("resume", "none.h5", "--until", "2").returncode, 3)
        self.write("early.h5", before)
        with h5py.File(self.path("early.h5"), "r+") as file:
            file["checkpoint/seal"][...] = 0
        done = self.call("resume", "early.h5", "--until", "2")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", "early.h5" + NOTHING_TO_GO_ON_FROM))
        for until, seen in ("1", 1), ("2*1", 2), ("3", 3):
            report = json.loads(self.good("resume", "rod.h5", "--until", until, "--json").stdout)
            self.assertEqual((report["status"], report["time"]), ("ok", seen))
        self.assertEqual(differing(datasets(self.path("rod.h5")), datasets(self.path("whole.h5"))), [])

    def test_bonds_are_labelled_by_their_particles(self):
        self.write("two.yaml", ROD.replace("integrator", """\
  - {kind: chain, name: arm, mass: 1, place: {chart: polar, points: [[0.5, pi/3, 0], [0.5, pi/3, 1], [0.5, pi/3, 2]]}}
integrator""", 1))
        self.good("run", "two.yaml", "--set", "time.end=0.1")
        with h5py.File(self.path("two.h5")) as file:
            labels = [label.decode() for label in file["bond"][()]]
            ends = [[file["particle_name"][i].decode() for i in (file["bond_i"][b], file["bond_j"][b])] for b in range(len(labels))]
            self.assertEqual(labels, ["-".join(pair) for pair in ends])
            self.assertEqual(labels, ["a.0-a.1", "arm.0-arm.1", "arm.1-arm.2"])
            self.assertEqual(file["separation"].dims[1][0].name, "/bond")

    def test_repair_and_export(self):
        self.good("run", "rod.yaml")
        before = self.read("rod.h5")
        self.assertEqual(self.good("repair", "rod.h5").stdout, "rod.h5: complete, 101 rows, unchanged\n")
        self.assertEqual(self.read("rod.h5"), before)
        self.assertEqual(self.good("export", "rod.h5", "--xdmf").stdout, "rod.xdmf\n")
        done = self.good("export", "rod.h5", "--csv", "-o", "t.csv", "--field", "energy", "--every", "50")
        self.assertEqual(done.stdout, "t.csv\n")
        rows = self.read("t.csv").decode().splitlines()
        self.assertEqual(rows[0], "time,step,energy")
        with h5py.File(self.path("rod.h5")) as file:
            self.assertEqual([tuple(map(float, row.split(","))) for row in rows[1:]],
                             [(file["time"][i], i, file["energy"][i]) for i in (0, 50, 100)])
        self.misused(["export", "rod.h5", "--csv", "--field", "enrgy"], "enrgy")
        self.misused(["export", "rod.yaml", "--csv"], "not an HDF5 file")
        self.misused(["repair", "rod.yaml"], "not an HDF5 file")
        for words in (["export", "none.h5", "--csv"], ["repair", "none.h5"], ["repair", ""],
                      ["export", "rod.h5", "--csv", "-o", "none/t.csv"]):
            done = self.call(*words)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertIn("No such file or directory", done.stderr)


if __name__ == "__main__":
    main()
