"""Errors of the multipliers of the rigid bodies over time (figures 2.16, 2.20, 2.21): panels and checks."""
import numpy as np
from matplotlib.lines import Line2D

import thesis
from checks import Check, at_most, fitted_order
from figure import Drawing, Table
from rigid_runs import FAMILIES, SPACES, STEPS, end_of, lobatto, multiplier_error, off_the_flow, run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, SPACE_NAME, legend_below, panels

COLOR = dict(zip(STEPS, (ORANGE, GREEN, BLUE)))
LINE = dict(zip(STEPS, (":", "--", "-")))
FAMILY = {"published": "as published: polar chart, unscaled", "scaled": "polar chart, scaled by the step",
          "embedding": "embedding, moving origin"}
COLUMN = {"published": "as published", "scaled": "scaled by the step", "embedding": "embedding"}
# Rows of panels: the names of the multipliers, and their indices. The triangle is symmetric, so that l12 = l13.
SHOWN = {"rod": (("\\lambda", (0,)),),
         "triangle": (("\\lambda_{12}, \\lambda_{13}", (0, 1)), ("\\lambda_{23}", (2,)))}
BLOCKS, LOWEST = 50, 1e-17
REQUIRED, LENGTH, ON_THE_FLOW, LONG = 1e-11, 1e-13, 1e-12, 1000


def runs(body, stages, full):
  wanted = [run(body, space, family, n, step, end_of(body, space, family, step, full))
            for n in stages for space in SPACES for family in FAMILIES[space] for step in STEPS]
  wanted += [lobatto(body, space) for space in SPACES]
  if 3 in stages:
    wanted += [one for space in SPACES for one in long_runs(body, space)]
    wanted += [run(body, "e3", "embedding", 3, 0.01), lobatto(body, "e3")]
  return wanted


def long_runs(body, space):
  return (run(body, space, "embedding", 3, 0.01, LONG), lobatto(body, space, 0.01, LONG))


def draw(records, body, stages, full):
  """Columns of panels: forms of the equations. Rows: spaces, and integrators or multipliers."""
  lines = [(space, n, name, which) for space in SPACES for n in stages for name, which in SHOWN[body]]
  figure, axes = panels(len(lines), 3, width=2.6, height=2.05, sharex=True, sharey="row")
  for (space, n, name, which), row in zip(lines, axes):
    for ax, family in zip(row, FAMILY):
      if family not in FAMILIES[space]:
        ax.set_axis_off()
        continue
      panel(ax, records, body, space, family, n, which, full)
      ax.set_title(f"{SPACE_NAME[space]}, rs{n}, {COLUMN[family]}" if body == "rod" else
                   f"{SPACE_NAME[space]}, ${name}$, {COLUMN[family]}")
    row[0].set_ylabel(f"error of ${name}$")
  for ax in axes[-1]:
    ax.set_xlabel("time $t$")
  legend_below(figure, legend(body == "rod"), columns=5 if body == "triangle" else 3)
  found = [c for n in stages for space in SPACES for c in checks(records, body, space, n, full)]
  return Drawing(figure, found + (flat(records, body) if 3 in stages else []), [table(records, body, stages, full)] +
                 ([flow_table(records, body)] if 3 in stages else []))


def panel(ax, records, body, space, family, stages, which, full):
  for step in STEPS:
    record = records[run(body, space, family, stages, step, end_of(body, space, family, step, full))]
    times, errors = multiplier_error(record, body, space)
    envelope(ax, times, np.max(errors[:, which], axis=1), LINE[step], COLOR[step])
  times, errors = multiplier_error(records[lobatto(body, space)], body, space, "multiplier")
  envelope(ax, times, np.max(errors[:, which], axis=1), "-", GREY)
  if (body, space, family) == ("rod", "h3", "published"):
    for value in thesis.MULTIPLIER[stages].values():
      ax.plot((0, 2), (value, value), "|-", color=BLACK, markersize=7, linewidth=1, zorder=5)
  ax.set(xlim=(0, 10), yscale="log")


def envelope(ax, times, values, line, color):
  """Draws the largest error in each of BLOCKS intervals."""
  size = max(1, len(times) // BLOCKS)
  count = len(times) // size
  height = np.max(values[:count * size].reshape(count, size), axis=1)
  ax.plot(times[size - 1:count * size:size], np.maximum(height, LOWEST), line, color=color, linewidth=1.3)


def legend(published):
  items = [Line2D([], [], color=COLOR[h], linestyle=LINE[h], label=f"$h = {h:g}$") for h in STEPS]
  items.append(Line2D([], [], color=GREY, label="Lobatto IIIA–IIIB 4, $h = 0.01$"))
  if published:
    items.append(Line2D([], [], color=BLACK, marker="|", markersize=7, linewidth=1,
                        label="the thesis's code, largest error on [0, 2]"))
  return items


def largest(record, body, space, which="method_multiplier", end=None):
  times, errors = multiplier_error(record, body, space, which)
  return float(np.max(errors if end is None else errors[times <= end + 1e-9]))


def table(records, body, stages, full):
  rows = []
  for n in stages:
    for space in SPACES:
      for family in FAMILIES[space]:
        found = [records[run(body, space, family, n, h, end_of(body, space, family, h, full))] for h in STEPS]
        rows.append([f"rs{n}", space.upper(), FAMILY[family]] + [f"{largest(r, body, space):.2e}" for r in found] +
                    [f"{largest(r, body, space, 'multiplier'):.2e}" for r in found] +
                    [f"{np.mean(r['solver_iterations'][1:]):.1f}, {np.max(r['solver_iterations'])}" for r in found])
  header = ["integrator", "space", "form"] + [f"{what}, h = {h:g}" for what in
                                          ("integrator's multiplier", "multiplier from the new state",
                                           "solves per step: mean, maximum")
                                          for h in STEPS]
  return Table(f"rigid {body}: largest error of a multiplier on [0, 10] (form of the thesis with h = 0.001: a shorter time)",
               header, rows)


def flow_table(records, body):
  """Distances from the exact motion. That of rs3, which has order 5 and is not symplectic, is its truncation
  error."""
  rows = []
  for space in SPACES:
    wanted = [run(body, space, "embedding", 3, h) for h in STEPS] + [lobatto(body, space)]
    rows.append([space.upper()] + [f"{off_the_flow(records[one], body, space):.2e}" for one in wanted])
  return Table(f"rigid {body}: distance from the Killing flow at t = 10, embedding, relative to the coordinates",
               ["space"] + [f"rs3, h = {h:g}" for h in STEPS] + ["Lobatto 4, h = 0.01"], rows)


def checks(records, body, space, stages, full):
  where = f"{space.upper()} {body}"
  found = []
  if (body, space) == ("rod", "h3"):
    for step, value in thesis.MULTIPLIER[stages].items():
      ours = largest(records[run(body, space, "published", stages, step)], body, space, end=2)
      found.append(Check(f"{where}: `form: velocity`, rs{stages}, h = {step:g}: error on [0, 2] as published",
                         f"{ours:.3g}", f"{value:.3g} within a factor 1.5", value / 1.5 <= ours <= 1.5 * value))
  if (body, space, stages) == ("rod", "s3", 2):
    found += oddity(records, body, space, full)
  if stages == 2:
    errors = [largest(records[run(body, space, "embedding", 2, h)], body, space) for h in STEPS]
    order = fitted_order(STEPS, errors, 1e-12)[0]
    found.append(Check(f"{where}: order of rs2's own multipliers, in the embedding", f"{order:.2f}", "2 ± 0.2",
                       abs(order - 2) <= 0.2))
  if stages == 3:
    found.append(at_most(f"{where}: multipliers, rs3 in the embedding, h = 0.01",
                         largest(records[run(body, space, "embedding", 3, 0.01)], body, space), REQUIRED))
    found.append(at_most(f"{where}: multipliers, Lobatto 4, h = 0.01",
                         largest(records[lobatto(body, space)], body, space, "multiplier"), REQUIRED))
    for one, name in ((run(body, space, "embedding", 3, 0.001), "rs3, h = 0.001"),
                      (lobatto(body, space), "Lobatto 4, h = 0.01")):
      found.append(at_most(f"{where}: distance from the Killing flow at t = 10, {name}", off_the_flow(records[one], body, space),
                           ON_THE_FLOW))
    for one, name in zip(long_runs(body, space), ("rs3", "Lobatto 4")):
      drift = float(np.max(np.abs(records[one]["separation"] - 1)))
      found.append(at_most(f"{where}: |d - 1| on [0, {LONG}], {name}", drift, LENGTH))
  return found


def flat(records, body):
  """In E3 the rods carry no load and the body moves uniformly."""
  found = []
  for one, which, name in ((run(body, "e3", "embedding", 3, 0.01), "method_multiplier", "rs3"),
                           (lobatto(body, "e3"), "multiplier", "Lobatto 4")):
    found += [at_most(f"E3 {body}: multipliers, {name}", largest(records[one], body, "e3", which), REQUIRED),
              at_most(f"E3 {body}: distance from the Killing flow at t = 10, {name}",
                      off_the_flow(records[one], body, "e3"), ON_THE_FLOW)]
  return found


def oddity(records, body, space, full):
  """Figure 2.16b: the large error at the smallest step, which disappears if the multipliers are scaled."""
  odd, fine = (largest(records[run(body, space, "published", 2, h, end_of(body, space, "published", h, full))], body,
                       space) for h in (0.001, 0.1))
  ours = records[run(body, space, "scaled", 2, 0.001)]
  most = int(np.max(ours["solver_iterations"]))
  return [Check("S3 rod: `form: velocity`, rs2: the error at h = 0.001 is larger than at h = 0.1",
                f"{odd:.2g}, {fine:.2g}", "≥ 10 times", odd >= 10 * fine),
          at_most("S3 rod: rs2 with scaled multipliers, error at h = 0.001", largest(ours, body, space), 1e-9),
          Check("S3 rod: rs2 with scaled multipliers, h = 0.001: maximum of solves per step", str(most), "≤ 4", most <= 4)]
