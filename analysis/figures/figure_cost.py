#!/usr/bin/python3
"""Time per step over the number of vertices, for a deforming and for a rigid body."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most, between
from runs import Run
from style import BLUE, GREY, ORANGE, panels

TITLE = "Cost of a step against the number of vertices"
CAPTION = ("CPU time per step: the CPU time of the program minus that of a run with few steps, divided by the "
           "difference of steps. It is the minimum of three measurements, because other work on the machine affects "
           "the caches. An ellipsoid falls through water: one with a shape given by expressions, which changes in each "
           "step, and one that is rigid. Grey: 40 µs, and 30 ms as published for the paper's program, per step and "
           "1000 vertices.")
RESOLUTIONS = {False: (64, 128, 256, 512), True: (64, 128, 256, 512, 1024, 2000)}
# resolution^2, which is proportional to the vertices, times steps of the longer run; both kinds of runs take half a second
WORK = {False: 8e6, True: 6.4e7}
STEP = 0.005
TIMES = 3
TARGET, PUBLISHED = 40e-6, 30e-3  # s per step and 1000 vertices


def vertices_of(record):
  """Number of vertices of a closed surface of genus 0, by Euler's formula from its triangles."""
  return int(record["body_faces"][0]) // 2 + 2


def steps_of(resolution, rigid):
  """Steps of the longer run and of the shorter one."""
  longer = max(16, round(WORK[rigid] / resolution**2))
  return longer, longer // 8


def run(resolution, rigid, steps, time=0):
  settings = (f"bodies.0.shape.resolution={resolution}", f"time.end={steps * STEP:g}", f"title=time-{time + 1}")
  return Run("immersed/cost-rigid" if rigid else "immersed/cost", settings, threads=1)


def runs(full):
  return [run(n, rigid, steps, time) for time in range(TIMES) for n in RESOLUTIONS[full] for rigid in (False, True)
          for steps in steps_of(n, rigid)]


def draw(records, full):
  canvas, ((ax,),) = panels(1, 1, 6.4, 4.4)
  sizes = np.array([vertices_of(records[run(n, True, steps_of(n, True)[1])]) for n in RESOLUTIONS[full]])
  rows, checks = [], []
  for rigid, colour, name, share in ((False, BLUE, "deforming", 0.1), (True, ORANGE, "rigid", 0.01)):
    seconds = []
    for n in RESOLUTIONS[full]:
      many, few = steps_of(n, rigid)
      least = [min(records.processor_seconds(run(n, rigid, steps, time)) for time in range(TIMES))
               for steps in (many, few)]
      seconds.append((least[0] - least[1]) / (many - few))
    seconds = np.array(seconds)
    ax.loglog(sizes, seconds, "o-", color=colour, label=name)
    rows.append([name] + [f"{1e6 * s:.4g}" for s in seconds / sizes * 1000])
    order = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    checks += [between(f"{name}: exponent of the time per step in the number of vertices", order, 0.8, 1.2),
               at_most(f"{name}: largest µs per step and 1000 vertices; {share:g} of the published 30 ms is allowed",
                       float(1e6 * np.max(seconds / sizes * 1000)), 1e6 * PUBLISHED * share)]
  for rate, style, label in ((TARGET, "--", "40 µs for 1000 vertices"),
                             (PUBLISHED, ":", "30 ms for 1000, as published")):
    ax.loglog(sizes, rate * sizes / 1000, style, color=GREY, linewidth=1, label=label)
  ax.set(xlabel="vertices", ylabel="CPU time per step (s)")
  ax.set_ylim(top=20)
  ax.legend(loc="upper left", ncols=2)
  return figure.Drawing(canvas, checks, [figure.Table("Microseconds per step and 1000 vertices", [
      "shape"] + [f"{n} vertices" for n in sizes], rows)])


if __name__ == "__main__":
  figure.main(globals())
