"""Runs every scenario that the figures need, draws the figures, writes out/report.html, prints the table of checks.

analysis/reproduce calls it. A result is reused as long as the program, the scenario, the files next to it and the
settings do not change.
"""
import argparse
import concurrent.futures
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ANALYSIS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ANALYSIS / "figures"), str(ANALYSIS / "reference")]

import report  # noqa: E402  (needs the paths above)
from runs import execute  # noqa: E402

OUT = ANALYSIS / "out"


def figure_names():
  """Names of all figures: the numbered ones in order, then the others."""
  names = [file.stem for file in (ANALYSIS / "figures").glob("figure_*.py")]
  return sorted(names, key=lambda n: (0, [int(w) for w in n.split("_")[1:]], "") if n[7].isdigit() else (1, [], n))


def progress(text):
  if sys.stderr.isatty():
    sys.stderr.write(f"\r\033[K{text}")
    sys.stderr.flush()


def execute_all(runs, program, workers):
  """Executes the runs. Returns {run: error text} for the failed runs, and {run: seconds} for all runs."""
  failed, seconds = {}, {}
  for wave in ([run for run in runs if not run.table], [run for run in runs if run.table]):
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
      tasks = {pool.submit(execute, run, program, OUT / "data"): run for run in wave}
      for task in concurrent.futures.as_completed(tasks):
        run = tasks[task]
        seconds[run], error = task.result()
        if error:
          failed[run] = error
        progress(f"runs {len(seconds)}/{len(runs)}")
  progress("")
  return failed, seconds


def draw(name, full):
  """Runs one figure script. Returns its result, or a result with the error as its only check."""
  result = OUT / "figures" / f"{name}.json"
  result.unlink(missing_ok=True)
  command = [sys.executable, str(ANALYSIS / "figures" / f"{name}.py"), "--data", str(OUT / "data"), "--out",
             str(OUT / "figures")]
  done = subprocess.run(command + (["--full"] if full else []), capture_output=True, text=True,
                        env=dict(os.environ, OMP_NUM_THREADS="1"))
  if result.exists():
    return json.loads(result.read_text())
  error = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}"
  return {"name": name, "title": name, "caption": "", "runs": [], "tables": [], "error": done.stderr,
          "checks": [{"claim": "the figure is drawn", "measured": error, "criterion": "no error", "passed": False}]}


def views(program):
  """Makes the pages of `curvebody view` of each subject. Returns {subject: [(path, command)]} without the failed ones."""
  (OUT / "views").mkdir(exist_ok=True)
  made = {}
  for subject, _, runs in report.SUBJECTS:
    made[subject] = []
    for run in runs:
      page = OUT / "views" / f"{pathlib.Path(run.scenario).name}.html"
      done = subprocess.run([program, "view", str(OUT / "data" / f"{run.name}.h5"), "-o", str(page)],
                            capture_output=True, text=True)
      if done.returncode == 0:
        made[subject].append((f"views/{page.name}", run.text))
      else:
        print(f"no view of {run.name}: {done.stderr.strip()}")
  return made


def main():
  arguments = argparse.ArgumentParser()
  arguments.add_argument("--quick", action="store_true", help="steps down to 0.001 (default)")
  arguments.add_argument("--full", action="store_true", help="steps down to 0.00001")
  arguments.add_argument("--curvebody", required=True, help="the program")
  options = arguments.parse_args()
  program = shutil.which(options.curvebody)
  if program is None:
    arguments.error(f"cannot run {options.curvebody}")
  for folder in ("data", "figures"):
    (OUT / folder).mkdir(parents=True, exist_ok=True)
  start = time.monotonic()
  workers = max(1, min(len(os.sched_getaffinity(0)), 8))
  names = figure_names()
  runs = list(dict.fromkeys(run for name in names for run in importlib.import_module(name).runs(options.full)))
  runs = list(dict.fromkeys(runs + [run for _, _, shown in report.SUBJECTS for run in shown]))
  print(f"{len(runs)} runs, {len(names)} figures, {workers} at a time")
  failed, seconds = execute_all(runs, program, workers)
  fresh = sum(1 for s in seconds.values() if s > 0)
  print(f"runs: {fresh} executed, {len(runs) - fresh} reused, {len(failed)} failed; "
        f"{time.monotonic() - start:.0f} s")
  for run, error in failed.items():
    print(f"  {run.name}: {error.splitlines()[-1]}")

  with concurrent.futures.ThreadPoolExecutor(workers) as pool:
    figures = list(pool.map(lambda name: draw(name, options.full), names))
  version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.strip()
  report.write(OUT / "report.html", figures, OUT / "figures", failed,
               {"program": version, "mode": "full" if options.full else "quick",
                "seconds": f"{time.monotonic() - start:.0f}"},
               views(program))
  passed = print_table(figures, failed)
  print(f"report: {OUT / 'report.html'} ({time.monotonic() - start:.0f} s)")
  return 0 if passed else 1


def print_table(figures, failed):
  """Prints one line per figure and all details of each failed check. Returns true if all checks passed."""
  total = good = 0
  for figure in figures:
    checks = figure["checks"]
    bad = [c for c in checks if not c["passed"]]
    total, good = total + len(checks), good + len(checks) - len(bad)
    print(f"{'FAIL' if bad else 'pass'}  {len(checks) - len(bad):3d}/{len(checks):<3d} {figure['title']}")
    for c in bad:
      print(f"            {c['claim']}: {c['measured']}, expected {c['criterion']}")
  print(f"{good} of {total} checks pass, {len(failed)} runs failed")
  return good == total and not failed


if __name__ == "__main__":
  sys.exit(main())
