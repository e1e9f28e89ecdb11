"""Relative error of the elastic bodies over time at the smallest step (figures 2.15 and 2.19)."""
import numpy as np

import elastic
from checks import at_most
from elastic_runs import BALANCED, BONDS, DEFAULT, END, METHODS, SPACES, error, run, steps
from figure import Drawing
from style import ORDER_COLOR, PURPLE, SPACE_NAME, VERMILION, legend_below, panels

# The static polar chart (the thesis's form), and the two recommended integrators; the last one is drawn on top.
VELOCITY = tuple(m for m in METHODS if m.family == "velocity")
SHOWN = VELOCITY + (BALANCED, DEFAULT)
LOOK = {m: (":", ORDER_COLOR[m.order]) for m in VELOCITY} | {BALANCED: ("--", PURPLE), DEFAULT: ("-", VERMILION)}
LONG_END, LONG_STEP = 1000, 0.01
LONG_REQUIRED = {DEFAULT: 2e-13, BALANCED: 1e-11}
# At steps far below 0.01 the round-off of many steps adds up: a hundred times more steps give ten times the error.
SHORT_REQUIRED = 1e-12
BLOCKS = 200


def runs(body, full):
  wanted = [run(body, space, method, min(steps(full))) for space in SPACES for method in SHOWN]
  if body == "rod":
    wanted += [run(body, space, method, LONG_STEP, LONG_END) for space in SPACES for method in LONG_REQUIRED]
  return wanted


def draw(records, body, full):
  h = min(steps(full))
  rows = len(BONDS[body]) + (1 if body == "rod" else 0)
  figure, axes = panels(rows, 2, height=3.0, sharey="row")
  checks = []
  for column, space in enumerate(SPACES):
    for row, (bond, name) in enumerate(BONDS[body]):
      ax = axes[row, column]
      for method in SHOWN:
        times, values = error(records[run(body, space, method, h)], body, space, bond)
        envelope(ax, times, values, method)
        if method in LONG_REQUIRED:
          claim = f"{space.upper()} {body}, bond {bond}: {method.label}, h = {h:g}"
          checks.append(at_most(claim, float(np.max(values)), SHORT_REQUIRED))
      ax.set(title=f"{SPACE_NAME[space]} {body}, {name}, {tex_step(h)}", xlim=(0, END), ylim=(1e-17, 1e-4))
    if body == "rod":
      checks += long_run(axes[-1, column], records, space)
    axes[-1, column].set_xlabel("time $t$")
  for ax in axes[:, 0]:
    ax.set_ylabel("relative error")
  legend_below(figure, axes[0, 0].get_legend_handles_labels()[0])
  return Drawing(figure, checks)


def tex_step(h):
  """The step as TeX; below 0.001 as a power of ten."""
  return f"$h = {h:g}$" if h >= 1e-3 else f"$h = 10^{{{round(np.log10(h))}}}$"


def envelope(ax, times, values, method):
  """Draws the largest error in each of BLOCKS intervals, which shows growth without the zeros in between."""
  size = max(1, len(times) // BLOCKS)
  count = len(times) // size
  line, color = LOOK[method]
  height = np.max(values[:count * size].reshape(count, size), axis=1)
  ends = times[size - 1:count * size:size].astype(float)
  ax.semilogy(ends, np.maximum(height, 1e-19).astype(float), line, color=color, label=method.label)


def long_run(ax, records, space):
  """The rod on [0, 1000] by the two recommended integrators."""
  found = []
  times = records[run("rod", space, DEFAULT, LONG_STEP, LONG_END)].times()
  exact = elastic.rod_long(space, times)
  for method, bound in LONG_REQUIRED.items():
    record = records[run("rod", space, method, LONG_STEP, LONG_END)]
    values = np.abs(record["separation"][:, 0] - exact) / exact
    envelope(ax, times, values, method)
    ax.axhline(bound, color=LOOK[method][1], linewidth=0.8)
    claim = f"{space.upper()} rod on [0, {LONG_END}]: {method.label}, h = {LONG_STEP:g}"
    found.append(at_most(claim, float(np.max(values)), bound))
  title = f"{SPACE_NAME[space]} rod, [0, {LONG_END}], {tex_step(LONG_STEP)}"
  ax.set(title=title, xlim=(0, LONG_END), ylim=(1e-17, 1e-10))
  return found
