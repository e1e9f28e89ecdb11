"""Runs of commands of curvebody for the figures. `run` and `gait` take a scenario with settings and give an HDF5 file or an
answer in JSON; `inertia` answers in JSON about a surface; `export` makes a flow or surfaces from the file of another run;
`sweep` runs a sweep."""
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass

ANALYSIS = pathlib.Path(__file__).resolve().parent.parent
SCENARIOS = ANALYSIS / "scenarios"


@dataclass(frozen=True)
class Run:
  """A scenario, named by its path below scenarios/ without extension, and settings KEY=VALUE as for `--set`."""
  scenario: str
  settings: tuple = ()
  threads: int = 0  # 0: the program chooses
  gait: tuple = ()  # words after `curvebody gait SCENARIO`; empty: `curvebody run`
  table: "Run" = None  # the run whose file is the `bundle.file` of this run; it is executed first

  @property
  def name(self):
    """File name of the result without its ending: the scenario's name, the words of `gait`, the values of the
    settings, except settings of `record`, and the name of `table`."""
    values = [s.split("=", 1)[1] for s in self.settings if not s.startswith("record.")]
    table = ["of", self.table.name] if self.table else []
    name = "_".join([pathlib.Path(self.scenario).name, *self.gait] + values + table)
    return re.sub(r"[^\w.=+-]+", "-", name) if self.gait else name

  @property
  def path(self):
    return SCENARIOS / f"{self.scenario}.yaml"

  def sources(self):
    """Files of the run: if one of them changes, the result is computed again."""
    return [self.path, *sorted([*self.path.parent.glob("*.obj"), *self.path.parent.glob("*.h5")])]

  @property
  def answers(self):
    """True if the result is an answer in JSON instead of a file."""
    return bool(self.gait) and self.gait[0] in ("holonomy", "connection")

  def words(self, path, folder):
    """The words of the command after the program's name, without the output. folder: folder of results."""
    table = (f"bundle.file={folder}/{self.table.name}.h5",) if self.table else ()
    settings = [word for setting in self.settings + table for word in ("--set", setting)]
    return (["gait", str(path), *self.gait] if self.gait else ["run", str(path)]) + settings

  @property
  def text(self):
    """The command as a user would type it."""
    return shlex.join(["curvebody"] + self.words(f"analysis/scenarios/{self.scenario}.yaml", "analysis/out/data"))

  def command(self, binary, out):
    threads = ["--threads", str(self.threads)] if self.threads else []
    ending = ["--json"] if self.answers else ["-o", str(out)] + ([] if self.gait else ["--quiet"])
    return [str(binary)] + threads + self.words(self.path, pathlib.Path(out).parent.resolve()) + ending


@dataclass(frozen=True)
class Best(Run):
  """A run of the cheapest gait, which `curvebody gait SCENARIO optimize` finds. The settings apply to the run."""

  @property
  def name(self):
    return "best-" + super().name

  def command(self, binary, out):
    found = shlex.quote(str(pathlib.Path(out).with_suffix(".yaml")))
    run = [binary, "run", pathlib.Path(out).with_suffix(".yaml"), *self.words(self.path, "")[2:], "-o", out, "--quiet"]
    return ["sh", "-c", f"{shlex.quote(str(binary))} gait {shlex.quote(str(self.path))} optimize -o {found} && "
            + shlex.join(map(str, run))]

  @property
  def text(self):
    return f"curvebody gait analysis/scenarios/{self.scenario}.yaml optimize -o best.yaml; curvebody " + \
        shlex.join(["run", "best.yaml", *self.words("", "")[2:]])


@dataclass(frozen=True)
class Inertia(Run):
  """`curvebody inertia`. scenario: SHAPE:KEY=VALUE,... or the path of a mesh below scenarios/; settings: options."""
  answers = True

  @property
  def name(self):
    return re.sub(r"[^\w.=+-]+", "-", "_".join(["inertia", self.scenario, *self.settings]))

  @property
  def path(self):
    return SCENARIOS / self.scenario

  def sources(self):
    return [self.path] if self.scenario.endswith(".obj") else []

  def words(self, path, folder):
    return ["inertia", str(path) if self.sources() else self.scenario, *self.settings]

  @property
  def text(self):
    return shlex.join(["curvebody"] + self.words(f"analysis/scenarios/{self.scenario}", ""))


@dataclass(frozen=True)
class Flow(Run):
  """`curvebody export --flow` of the result of `table`. scenario: the scenario of `table`; settings: options."""

  @property
  def name(self):
    return re.sub(r"[^\w.=+-]+", "-", "_".join(["flow", self.table.name, *self.settings]))

  def words(self, path, folder):
    return ["export", f"{folder}/{self.table.name}.h5", "--flow", *self.settings]

  def command(self, binary, out):
    return super().command(binary, pathlib.Path(out).with_suffix(".xdmf"))[:-1]  # without --quiet


@dataclass(frozen=True)
class Surface(Run):
  """Surfaces of the bodies of `table` in the world frame: the second file of `curvebody export --xdmf`; settings: options."""

  @property
  def name(self):
    return re.sub(r"[^\w.=+-]+", "-", "_".join([self.table.name, *self.settings])) + "-surface"

  def words(self, path, folder):
    return ["export", f"{folder}/{self.table.name}.h5", "--xdmf", *self.settings]

  def command(self, binary, out):
    return super().command(binary, str(out).replace("-surface.h5", ".xdmf"))[:-1]  # without --quiet


@dataclass(frozen=True)
class Sweep(Run):
  """`curvebody sweep` of sweeps/NAME.yaml. of: path of the scenario of its members below scenarios/."""
  of: str = ""

  @property
  def name(self):
    return "sweep-" + super().name

  @property
  def path(self):
    return SCENARIOS / "sweeps" / f"{self.scenario}.yaml"

  def sources(self):
    return [self.path, SCENARIOS / f"{self.of}.yaml"]

  def words(self, path, folder):
    return ["sweep", *super().words(path, folder)[1:]]

  @property
  def text(self):
    return shlex.join(["curvebody"] + self.words(f"analysis/scenarios/sweeps/{self.scenario}.yaml", ""))


def digest(*files):
  total = hashlib.sha256()
  for file in files:
    total.update(pathlib.Path(file).read_bytes())
  return total.hexdigest()


def execute(run, binary, folder):
  """Executes a run with the output folder/NAME.h5, unless that file already exists from the same binary, scenario,
  meshes, tables and settings. Returns (seconds, error text or None); seconds is 0 for an existing result. NAME.json
  keeps the digest of the inputs, the CPU time, and an answer in JSON."""
  out = folder / f"{run.name}.h5"
  stamp = folder / f"{run.name}.json"
  key = {"digest": digest(binary, *run.sources()), "settings": list(run.settings)}
  if (run.answers or out.exists()) and stamp.exists() and key.items() <= json.loads(stamp.read_text()).items():
    return 0.0, None
  out.unlink(missing_ok=True)
  shutil.rmtree(out.with_suffix(""), ignore_errors=True)  # the folder of segments of a sweep
  stamp.unlink(missing_ok=True)
  start = time.monotonic()
  with tempfile.TemporaryFile("w+") as said, \
      subprocess.Popen(run.command(binary, out), stdout=said, stderr=subprocess.PIPE, text=True) as done:
    errors = done.stderr.read().strip()
    _, status, used = os.wait4(done.pid, 0)
    done.returncode = os.waitstatus_to_exitcode(status)
    said.seek(0)
    answer = {"answer": json.load(said)} if run.answers and done.returncode == 0 else {}
  if done.returncode != 0 or not (run.answers or out.exists()):
    return time.monotonic() - start, errors or f"exit code {done.returncode} and no {out.name}"
  stamp.write_text(json.dumps(key | {"processor_seconds": used.ru_utime + used.ru_stime} | answer))
  return time.monotonic() - start, None
