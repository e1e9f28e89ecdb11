#!/usr/bin/python3
"""Two bodies that attract each other in S3 and H3 (not a figure of the thesis)."""
import numpy as np
from matplotlib.ticker import MaxNLocator

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import orbits
from checks import at_most
from pictures import to_embedding
from runs import Run
from style import BLUE, GREY, ORANGE, SPACE_NAME, plt

TITLE = "Two bodies that attract each other in H³ and S³"
CAPTION = ("V = -m₁m₂ coth d or -m₁m₂ cot d, masses 1 and 2.7. Unlike in flat space there is no centre of mass that "
           "moves freely, and the relative motion does not separate. Left: the paths in plot coordinates, with marks "
           "at the end. Right: distance from a solution in extended precision, and the largest drift of the energy so "
           "far.")
SPACES = ("h3", "s3")
MASSES = (1, 2.7)


def run(space):
  return Run(f"basics/kepler-{space}")


def runs(full):
  return [run(space) for space in SPACES]


def start(space):
  """Embedding positions and velocities from the polar ones of the scenarios, in extended precision."""
  q = np.array([[0.4, np.pi / 2, 0], [0.2, np.pi / 2, np.pi]], dtype=np.longdouble)
  u = np.array([[0.1, 0.2, 3.9], [0, -0.3, 2.9]], dtype=np.longdouble)
  (a, b, g), (da, db, dg) = q.T, u.T
  s, c = orbits.sine(space, a), orbits.cosine(space, a)
  turn = -1 if space == "s3" else 1
  ray = np.stack([np.sin(b) * np.cos(g), np.sin(b) * np.sin(g), np.cos(b)], axis=-1)
  dray = np.stack([np.cos(b) * np.cos(g) * db - np.sin(b) * np.sin(g) * dg,
                   np.cos(b) * np.sin(g) * db + np.sin(b) * np.cos(g) * dg, -np.sin(b) * db], axis=-1)
  x = np.concatenate([s[:, None] * ray, c[:, None]], axis=1)
  v = np.concatenate([(c * da)[:, None] * ray + s[:, None] * dray, (turn * s * da)[:, None]], axis=1)
  return x, v


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 6))
  places = canvas.add_gridspec(2, 2, width_ratios=(1, 1.1))
  checks = []
  for row, space in enumerate(SPACES):
    record = records[run(space)]
    t, points = record.times(), to_embedding(record["plot_position"], orbits.SIGN[space])
    error = np.max(np.abs(points - orbits.two_bodies(space, 1, MASSES, *start(space), t)), axis=(1, 2)).astype(float)
    energy = record["energy"]
    drift = np.abs(energy / energy[0] - 1)
    name = space.upper()
    checks += [at_most(f"{name}: position error on [0, {t[-1]:g}]", float(np.max(error)), 1e-7),
               at_most(f"{name}: relative drift of the energy", float(np.max(drift)), 1e-9),
               at_most(f"{name}: drift of the six Killing momenta", record.drift("killing_momentum"), 1e-13)]
    axes = canvas.add_subplot(places[row, 0], projection="3d")
    x = record["plot_position"]
    for k, color in enumerate((ORANGE, BLUE)):
      axes.plot(*x[:, k].T, color=color, linewidth=0.7, label=f"mass {MASSES[k]:g}")
      axes.plot(*x[-1:, k].T, "o", color=color, markersize=3 + 2 * MASSES[k])
    axes.set_box_aspect(np.ptp(x.reshape(-1, 3), axis=0) + 0.02, zoom=1.15)
    axes.set(title=f"{SPACE_NAME[space]}, " + ("Poincaré ball" if space == "h3" else "stereographic projection"),
             xlabel="$x$", ylabel="$y$", zlabel="$z$")
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
      axis.set_major_locator(MaxNLocator(3))
    axes.zaxis.labelpad = -3
    ax = canvas.add_subplot(places[row, 1])
    ax.semilogy(t, np.maximum(error, 1e-18), color=BLUE, label="position error")
    ax.semilogy(t, np.maximum(np.maximum.accumulate(drift), 1e-18), color=GREY,
                label="relative energy error, largest so far")
    ax.set(xlabel="time $t$", ylabel="error", xlim=(0, float(t[-1])), ylim=(1e-17, 1e-11),
           title=f"{SPACE_NAME[space]}, $h = 0.01$")
    ax.xaxis.set_major_locator(MaxNLocator(4))
  axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
  ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25))
  return figure.Drawing(canvas, checks)


if __name__ == "__main__":
  figure.main(globals())
