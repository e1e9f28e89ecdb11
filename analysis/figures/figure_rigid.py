#!/usr/bin/python3
"""Generic rigid bodies in E3, S3 and H3 by three integrators: triangle, tetrahedron, chain of 100 links."""
import numpy as np
from matplotlib.lines import Line2D

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from agreement import (BODIES, LOOSER, METHODS, MULTIPLIERS, PLACES, SPACES, TOLERANCE, allowed, apart, length_error,
                       multipliers_apart, run)
from checks import Check, at_most
from style import GREEN, GREY, SPACE_COLOR, SPACE_NAME, VERMILION, legend_below, panels

TITLE = "Rigid bodies without symmetry: three integrators in three spaces"
CAPTION = ("A triangle and a tetrahedron without symmetry tumble, and a bent chain of 100 links is thrown; each moves "
           "freely or is pulled towards a point. Above: largest distance of a particle from its position by Lobatto "
           "IIIA–IIIB. Below: the chain under the potential, in plot coordinates; dots mark its first particle, with "
           "the time next to it. At the dotted line the pulled chain whips: the load of its rods is largest and every "
           "error is magnified, so the curves jump.")
TITLES = {"triangle": "triangle", "tetrahedron": "tetrahedron", "chain": "chain of 100 links"}
COLOR = {"radau_iia": GREEN, "ida": VERMILION}
LABEL = {"radau_iia": "Radau IIA", "ida": "IDA, tolerance 1e-12"}
LINE = {True: "--", False: "-"}
ENERGY, MOMENTUM = 1e-9, 1e-11


def runs(full):
  return [run(body, space, method, free) for body in BODIES for space in SPACES for free in (True, False)
          for method in METHODS] + \
      [run("tetrahedron", space, "ida", False, LOOSER) for space in SPACES]


def draw(records, full):
  canvas, axes = panels(4, 3, width=3.9, height=2.8)
  checks = []
  for row, body in enumerate(BODIES):
    for ax, space in zip(axes[row], SPACES):
      checks += compare(ax, records, body, space)
    axes[row, 0].set_ylabel("distance apart")
  checks += [tolerance(records, space) for space in SPACES]
  for ax, space in zip(axes[3], SPACES):
    picture(ax, records[run("chain", space, "lobatto", False)], space)
  handles = [Line2D([], [], color=COLOR[m], linewidth=3, label=LABEL[m]) for m in COLOR]
  handles += [Line2D([], [], color=GREY, linestyle=LINE[free], label="free" if free else "pulled towards a point")
              for free in LINE]
  legend_below(canvas, handles, columns=4)
  return figure.Drawing(canvas, checks)


def compare(ax, records, body, space):
  where = f"{space.upper()} {body}"
  found = []
  for free in (True, False):
    kind = where + (", free" if free else ", pulled")
    first = records[run(body, space, "lobatto", free)]
    for method in COLOR:
      other = records[run(body, space, method, free)]
      distance = apart(first, other, space)
      ax.semilogy(first["time"][1:], np.maximum(distance[1:], 1e-16), LINE[free], color=COLOR[method])
      found.append(at_most(f"{kind}: difference of positions, {method} and lobatto", float(np.max(distance)),
                           allowed(PLACES, method, body, free)))
      found.append(at_most(f"{kind}: difference of multipliers, {method} and lobatto", multipliers_apart(first, other),
                           allowed(MULTIPLIERS, method, body, free)))
    found.append(at_most(f"{kind}: |d - D|, largest of the three integrators",
                         max(length_error(records[run(body, space, m, free)]) for m in METHODS), 1e-13))
    found.append(at_most(f"{kind}: relative error of the energy, lobatto", first.drift("energy"), ENERGY))
    if free:
      found.append(at_most(f"{kind}: drift of the Killing momenta, lobatto", first.drift("killing_momentum"), MOMENTUM))
  if body == "chain":
    mark_whip(ax, records[run(body, space, "lobatto", False)])
  ax.set(title=f"{SPACE_NAME[space]} {TITLES[body]}", xlim=(0, float(first["time"][-1])), ylim=(1e-17, 1e-7),
         xlabel="time $t$")
  return found


def mark_whip(ax, record):
  """Marks the time, after the start, at which the load of a rod of the pulled chain is largest."""
  t, force = record["time"][1:], np.max(np.abs(record["multiplier"][1:]), axis=1)
  most = t[np.argmax(force)]
  ax.axvline(most, color=GREY, linestyle=":", linewidth=1)
  ax.annotate("whip", (most, 2e-8), textcoords="offset points", xytext=(-3, 0), ha="right", va="center", fontsize=8)


def tolerance(records, space):
  """The difference of IDA and Lobatto is IDA's error, because it decreases with the tolerance."""
  first = records[run("tetrahedron", space, "lobatto", False)]
  loose, tight = (float(np.max(apart(first, records[run("tetrahedron", space, "ida", False, tolerance)], space)))
                  for tolerance in (LOOSER, TOLERANCE))
  return Check(f"{space.upper()} tetrahedron, pulled: difference of positions, ida with tolerances 1e-9 and 1e-12, and lobatto",
               f"{loose:.2g}, {tight:.2g}", "fall ≥ 20 times", loose >= 20 * tight)


def picture(ax, record, space):
  x, t = record["plot_position"], record["time"]
  for k in range(0, len(t), 4):
    shade = 0.25 + 0.75 * k / (len(t) - 1)
    ax.plot(x[k, :, 0], x[k, :, 1], color=SPACE_COLOR[space], alpha=shade)
    ax.annotate(f"{t[k]:.1f}", x[k, 0, :2], textcoords="offset points", fontsize=8, color=GREY, ha="center", va="center",
                xytext=(0, 8) if k == 0 else (12, 2) if k == len(t) - 1 else (0, -8))
    ax.plot(*x[k, 0, :2], ".", color=GREY, markersize=4)
  ax.set(aspect="equal", xlabel="$x$", ylabel="$y$", title=f"{SPACE_NAME[space]} chain, pulled")
  ax.margins(0.12, 0.3)


if __name__ == "__main__":
  figure.main(globals())
