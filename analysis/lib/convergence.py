"""Error against step size for the elastic bodies (figures 2.14 and 2.18): curves, fitted orders, tables, checks."""
import numpy as np
from matplotlib.lines import Line2D

import thesis
from checks import Check, at_most, fitted_order, three_digits
from elastic_runs import BALANCED, BONDS, DEFAULT, METHODS, SPACES, largest_error, plain, run, steps
from figure import Drawing, Table
from style import BLACK, GREY, ORDER_COLOR, SPACE_NAME, legend_below, panels

# Below this bound the error is round-off. The polar chart of H3 amplifies round-off by exp(2 a), where a is the
# distance from the origin.
FLOOR, FLOOR_POLAR_H3 = 3e-13, 3e-10
ORDER_TOLERANCE = 0.2
MARK = {"velocity": "o", "gauss": "s", "lobatto": "^"}
SIZE = {"velocity": 7, "gauss": 4, "lobatto": 3.5}  # of marks, so that all are visible where curves coincide
LINE = {"velocity": ":", "gauss": "--", "lobatto": "-"}
FAMILY = {"velocity": "Gauss (q, q'), polar chart", "gauss": "Gauss, balanced moving charts",
          "lobatto": "Lobatto IIIA–IIIB, embedding"}
# Lines of slope 2, 4, 6: height at h = 0.1, and the step at the left end.
GUIDE = {2: (0.15, 0.004), 4: (3e-4, 0.004), 6: (5e-12, 0.04)}
# Largest allowed errors on [0, 10] with the step 0.01: of the default integrator, and of Gauss with three stages.
REQUIRED = {"rod": (1e-14, 1e-13), "triangle": (1e-13, 1e-13)}


def runs(body, full):
  return [run(body, space, method, step) for space in SPACES for method in METHODS for step in steps(full)]


def draw(records, body, full):
  sizes = steps(full)
  errors = {(space, bond, method): np.array([largest_error(records, body, space, bond, method, h) for h in sizes])
            for space in SPACES for bond, _ in BONDS[body] for method in METHODS}
  shown = [bond for bond in BONDS[body] if bond[0] != 1]  # the triangle is symmetric: s13 = s12
  figure, axes = panels(len(shown), 2, height=3.7, sharex=True, sharey=True)
  for row, (bond, name) in enumerate(shown):
    for column, space in enumerate(SPACES):
      panel(axes[row, column], body, space, bond, name, sizes, errors)
  for ax in axes[-1]:
    ax.set_xlabel("step $h$")
  for ax in axes[:, 0]:
    ax.set_ylabel("largest relative error on [0, 10]")
  legend_below(figure, legend(), columns=3)
  return Drawing(figure, checks(body, sizes, errors), [table(body, space, sizes, errors) for space in SPACES])


def panel(ax, body, space, bond, name, sizes, errors):
  for method in METHODS:
    ax.loglog(sizes, np.maximum(errors[space, bond, method], 1e-17), LINE[method.family], marker=MARK[method.family],
              color=ORDER_COLOR[method.order], markerfacecolor="none" if method.family == "velocity" else None,
              markersize=SIZE[method.family], linewidth=1.2)
  for stages in (1, 2, 3):
    for h in (0.1, 0.01):
      value = thesis.published(body, space, bond, stages, h)
      if value:
        ax.plot(h, value, "x", color=BLACK, markersize=8, zorder=5)
  for order, (height, left) in GUIDE.items():
    guide = np.array([0.1, left])
    ax.loglog(guide, height * (guide / 0.1) ** order, color=GREY, linewidth=0.8)
    ax.annotate(f"$h^{order}$", (left, height * (left / 0.1) ** order), (-3, 0),
                textcoords="offset points", color=GREY, ha="right", va="center")
  ax.set_title(f"{SPACE_NAME[space]} {body}, {name}")
  ax.set_ylim(1e-16, 1)


def legend():
  orders = [Line2D([], [], color=color, linewidth=3, label=f"order {order}") for order, color in ORDER_COLOR.items()]
  families = [Line2D([], [], color=GREY, linestyle=LINE[f], marker=MARK[f], label=FAMILY[f],
                     markersize=SIZE[f], markerfacecolor="none" if f == "velocity" else None) for f in FAMILY]
  return orders + families + \
      [Line2D([], [], color=BLACK, marker="x", linestyle="", markersize=8, label="the thesis's published code")]


def order_of(method, space, sizes, values):
  return fitted_order(sizes, values, FLOOR_POLAR_H3 if (method.family, space) == ("velocity", "h3") else FLOOR)


def table(body, space, sizes, errors):
  shown = [h for h in (0.1, 0.01, 0.001, 1e-4, 1e-5) if h in sizes]
  rows = []
  for bond, name in BONDS[body]:
    for method in METHODS:
      values = errors[space, bond, method]
      fit, points = order_of(method, space, sizes, values)
      known = [thesis.published(body, space, bond, method.stages, h) if method.family == "velocity" else None
               for h in (0.1, 0.01)]
      rows.append([plain(name), method.label, str(method.order), f"{fit:.2f} ({points} points)"] +
                  [f"{values[sizes.index(h)]:.2e}" for h in shown] + [f"{k:.3g}" if k else "" for k in known])
  header = ["bond", "integrator", "expected order", "fitted order"] + [f"h = {h:g}" for h in shown] + \
      ["published code, h = 0.1", "published code, h = 0.01"]
  return Table(f"{space.upper()} {body}: largest relative error on [0, 10]", header, rows)


def checks(body, sizes, errors):
  found = []
  required_default, required_gauss = REQUIRED[body]
  for space in SPACES:
    where = f"{space.upper()} {body}"
    for method in METHODS:
      fits = [order_of(method, space, sizes, errors[space, bond, method])[0] for bond, _ in BONDS[body]]
      worst = max(fits, key=lambda f: abs(f - method.order) if f == f else np.inf)
      found.append(Check(f"{where}: order of {method.label}", f"{worst:.2f}", f"{method.order} ± {ORDER_TOLERANCE}",
                         bool(abs(worst - method.order) <= ORDER_TOLERANCE)))
    for stages in (1, 2, 3):
      method = next(m for m in METHODS if m.family == "velocity" and m.stages == stages)
      found.append(three_digits(f"{where}: error of gs{stages} at h = 0.1 as published",
                                errors[space, 0, method][sizes.index(0.1)],
                                thesis.published(body, space, 0, stages, 0.1)))
    at = sizes.index(0.01)
    default = max(errors[space, bond, DEFAULT][at] for bond, _ in BONDS[body])
    gauss = max(errors[space, bond, BALANCED][at] for bond, _ in BONDS[body])
    found.append(at_most(f"{where}: default integrator, h = 0.01", default, required_default))
    found.append(at_most(f"{where}: balanced Gauss 3, h = 0.01", gauss, required_gauss))
    best = min(value for by_step in thesis.MAXIMUM[body, space, 0].values() for value in by_step.values())
    found.append(at_most(f"{where}: default integrator, h = 0.01: error at most the smallest published one",
                         errors[space, 0, DEFAULT][at], best))
  return found
