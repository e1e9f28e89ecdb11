"""The 29 commands of memory.py, with their inputs. Together they use every sub-command and kind of run. Each takes only a
short time."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from command import Case, ROD  # noqa: E402 (takes the binary's name from the command line)

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "..", "fuzz", "corpus")
SYSTEMS = os.path.join(HERE, "..", "..", "analysis", "scenarios", "systems")

CUBE = """\
curvebody: 1
space: e3
bodies:
  - {kind: network, name: m, mesh: {file: cube.obj, scale: 0.5}, link: rod, springs: [[0, 6]], density: 2}
integrator: {step: 0.05}
time: {end: 0.1}
"""
BALL = """\
curvebody: 1
fluid: {medium: water, gravity: [0, 0, -9.81]}
bodies:
  - name: ball
    shape: {name: ellipsoid, a: 0.05, b: 0.05, c: 0.05, resolution: 8}
    density: 2000
    drag: false
    motion: {velocity: [0.1, 0, 0]}
integrator: {name: hamilton_pontryagin, step: 1/100}
time: {end: 0.02}
record: {every: 1, observables: [energy]}
"""
IMMERSED = """\
curvebody: 1
fluid: {medium: water, floor: {kind: reflecting}}
bodies:
  - name: a
    shape: {name: box, resolution: 8}
    density: 300
    model: local
    place: {position: [0, 0, 3]}
    poses: {z: "Z*(1 + 0.1*sin(t))"}
integrator: {name: rkmk4, step: 0.01}
time: {end: 0.02}
record: {observables: [energy]}
"""
STROKE = """\
curvebody: 1
bundle: {name: purcell, links: 3, ratio: 2}
gait: {fourier: {cosine: [[0.7, 0]], sine: [[0, 0.7]]}}
integrator: {name: magnus, step: 0.1}
optimum: {target: {move: 0.03}, starts: 0}
"""
SWEEP = """\
curvebody: 1
sweep:
  scenario: rod.yaml
  over: [{key: bodies.0.mass, from: 1, to: 2, count: 3, name: mass}]
  keep: last
  collect: {top: max(energy)}
"""
MODEL = """\
<mujoco model="a ball and a card">
  <option density="1.2" viscosity="1e-3" wind="0 0 1" timestep="0.001"/>
  <worldbody>
    <body name="ball" pos="0 0 1"><freejoint/><geom size=".1" mass="2"/></body>
    <body name="card"><freejoint/><geom type="box" size=".1 .05 .001" density="300" fluidshape="ellipsoid"/></body>
  </worldbody>
</mujoco>
"""


class Command:
    """words: the command; needs: files that must exist before; makes: the file that it writes, in place of an old one;
    then: commands that must complete the result after a failure that was reported."""

    def __init__(self, name, words, needs=(), makes=None, then=()):
        self.name, self.words, self.needs, self.makes, self.then = name, words.split(), needs, makes, then


def run(name, words, needs):
    return Command("run " + name, words + " -o o.h5", needs, "o.h5", ["resume o.h5"])


COMMANDS = [
    run("rod", "run rod.yaml", ["rod.yaml"]),
    run("gauss", "run rod.yaml --set integrator.name=gauss --set integrator.solver=newton", ["rod.yaml"]),
    run("ida", "run rod.yaml --set integrator.name=ida --set integrator.solver=klu", ["rod.yaml"]),
    run("network", "run cube.yaml", ["cube.yaml", "cube.obj"]),
    run("contacts", "run contacts.yaml", ["contacts.yaml"]),
    run("constraints", "run constraints.yaml", ["constraints.yaml"]),
    run("bundle", "run gait.yaml", ["gait.yaml"]),
    run("system", "run system.yaml", ["system.yaml"]),
    run("ball", "--threads 2 run ball.yaml", ["ball.yaml"]),
    run("immersed", "run immersed.yaml", ["immersed.yaml"]),
    Command("resume", "resume half.h5 --until 0.05", ["half.h5"], None, ["repair half.h5", "resume half.h5 --until 0.05"]),
    Command("repair", "repair killed.h5", ["killed.h5"], None, ["repair killed.h5"]),
    Command("verify", "verify rod.h5", ["rod.h5"]),
    Command("export csv", "export rod.h5 --csv -o o.csv", ["rod.h5"], "o.csv"),
    Command("export xdmf", "export ball.h5 --xdmf -o o.xdmf", ["ball.h5"], "o.xdmf"),
    Command("export flow", "export ball.h5 --flow --grid 3x3x3 -o o.xdmf", ["ball.h5"], "o.xdmf"),
    Command("view", "view rod.h5 -o o.html", ["rod.h5"], "o.html"),
    Command("check", "check rod.yaml", ["rod.yaml"]),
    Command("list", "list --json"),
    Command("geodesic", "geodesic h3 --from 1,1,0 --to 2,1,1 --points 5 -o o.h5", [], "o.h5"),
    Command("space", "space h3 --at 1,pi/3,0"),
    Command("inertia", "--threads 2 inertia ellipsoid:a=2,b=1,c=1,resolution=8 --fluid water --added-mass exact "
            "--error 0.3"),
    Command("inertia hlu", "--threads 2 inertia ellipsoid:a=2,b=1,c=1,resolution=10 --fluid water --added-mass "
            "exact:method=hlu --error none"),
    Command("gait holonomy", "gait purcell.yaml holonomy", ["purcell.yaml"]),
    Command("gait optimize", "gait purcell.yaml optimize -o o.yaml", ["purcell.yaml"], "o.yaml"),
    Command("import", "import model.xml -o o.yaml", ["model.xml"], "o.yaml"),
    Command("classify", "classify plate.h5 --exponent 3", ["plate.h5"]),
    Command("sweep", "sweep sweep.yaml -o o --quiet", ["sweep.yaml", "rod.yaml"], None, ["sweep sweep.yaml -o o"]),
    Command("status", "sweep --status swept", ["swept"]),
]


class Inputs(Case):
    """A folder with all inputs of all commands."""

    def make(self):
        self.setUp()
        rod = self.write("rod.yaml", ROD.replace("end: 1}", "end: 0.05}"))
        for name, text in (("cube.yaml", CUBE), ("ball.yaml", BALL), ("immersed.yaml", IMMERSED), ("purcell.yaml", STROKE),
                           ("sweep.yaml", SWEEP), ("model.xml", MODEL)):
            self.write(name, text)
        for name in "contacts", "constraints", "gait", "system":
            shutil.copy(os.path.join(CORPUS, "scenario", name + ".yaml"), self.folder)
        shutil.copy(os.path.join(CORPUS, "mesh", "cube.obj"), self.folder)
        self.good("run", rod, "--quiet")
        self.good("run", rod, "-o", "half.h5", "--set", "time.end=0.03", "--quiet")
        self.good("run", "ball.yaml", "--quiet")
        self.good("run", os.path.join(SYSTEMS, "falling-plate.yaml"), "-o", "plate.h5", "--set", "time.end=8", "--quiet")
        self.good("sweep", "sweep.yaml", "-o", "swept", "--quiet")
        killed = self.start("run", rod, "-o", "killed.h5", "--set", "time.end=1e5")
        self.wait_for("killed.h5", killed, 5)
        killed.kill()
        killed.wait()
        return self.folder
