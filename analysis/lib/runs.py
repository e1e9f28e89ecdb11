"""Runs of the command `curvebody run`: a scenario, settings laid over it, and the HDF5 file that comes out."""
import hashlib
import json
import os
import pathlib
import subprocess
import time
from dataclasses import dataclass

ANALYSIS = pathlib.Path(__file__).resolve().parent.parent
SCENARIOS = ANALYSIS / "scenarios"


@dataclass(frozen=True)
class Run:
  """A scenario by its path below scenarios/ (no extension) and settings KEY=VALUE as for `--set`."""
  scenario: str
  settings: tuple = ()
  threads: int = 0  # 0: the program's choice

  @property
  def name(self):
    """File name of the result: the scenario's name and the values set (what the record holds left out)."""
    values = [s.split("=", 1)[1] for s in self.settings if not s.startswith("record.")]
    return "_".join([pathlib.Path(self.scenario).name] + values)

  @property
  def path(self):
    return SCENARIOS / f"{self.scenario}.yaml"

  def command(self, binary, out):
    settings = [word for setting in self.settings for word in ("--set", setting)]
    threads = ["--threads", str(self.threads)] if self.threads else []
    return [str(binary)] + threads + ["run", str(self.path), "-o", str(out), "--quiet"] + settings


def digest(*files):
  total = hashlib.sha256()
  for file in files:
    total.update(pathlib.Path(file).read_bytes())
  return total.hexdigest()


def execute(run, binary, folder):
  """Runs it into folder/NAME.h5 unless that file already came from the same binary, scenario, meshes and settings.
  Returns (seconds, error text or None); seconds is 0 for a result that was there. NAME.json keeps where it came from,
  and the processor's time."""
  out = folder / f"{run.name}.h5"
  stamp = folder / f"{run.name}.json"
  meshes = sorted(run.path.parent.glob("*.obj"))
  key = {"digest": digest(binary, run.path, *meshes), "settings": list(run.settings)}
  if out.exists() and stamp.exists() and key.items() <= json.loads(stamp.read_text()).items():
    return 0.0, None
  out.unlink(missing_ok=True)
  stamp.unlink(missing_ok=True)
  start = time.monotonic()
  with subprocess.Popen(run.command(binary, out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as done:
    errors = done.stderr.read().strip()
    _, status, used = os.wait4(done.pid, 0)
    done.returncode = os.waitstatus_to_exitcode(status)
  if done.returncode != 0 or not out.exists():
    return time.monotonic() - start, errors or f"exit code {done.returncode} and no {out.name}"
  stamp.write_text(json.dumps(key | {"processor_seconds": used.ru_utime + used.ru_stime}))
  return time.monotonic() - start, None
