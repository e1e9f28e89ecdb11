#!/usr/bin/python3
"""The same triangle thrown through the built-in spaces."""
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most
from pictures import bond_in_picture, geodesic, shortest
from runs import Run
from style import GREY, plt

TITLE = "One rigid triangle thrown through every space of three dimensions, and three planes"
CAPTION = ("Equal masses with the same initial velocities in the coordinates of each space, t from 0 (dark) to 2.4 "
           "(bright), in plot coordinates x, y; the grey line follows particle 1. The rods are drawn as geodesics. The "
           "conserved quantities differ: the number of Killing fields, each of which conserves a momentum, is in each "
           "panel.")
SPACES = (("e2", "$E^2$"), ("s2", "$S^2$"), ("h2", "$H^2$"), ("flat_torus", "flat torus, periods 4"),
          ("e3", "$E^3$"), ("s3", "$S^3$"), ("h3", "$H^3$"), ("ih", "IH"),
          ("h2xe", "$H^2{\\times}E$"), ("s2xe", "$S^2{\\times}E$"), ("nil", "Nil"), ("sol", "Sol"),
          ("sl2", "$\\widetilde{SL}(2,R)$"), ("schwarzschild", "Schwarzschild's slice"))
SHADES = ListedColormap(plt.cm.viridis(np.linspace(0, 0.92, 256)))  # of the times
SIDES = ((0, 1), (0, 2), (1, 2))
# Distances from integrated geodesics have a relative error of around 1e-12, which the multipliers increase.
NUMERIC = ("nil", "sol", "sl2", "schwarzschild")
# Components of dx in an orthonormal frame at x.
FRAMES = {
    "ih": lambda x, d: np.sqrt(np.sum(x * x, axis=0) + 2) * d,
    "nil": lambda x, d: (d[0], d[1], d[2] - x[0] * d[1]),
    "sol": lambda x, d: (np.exp(x[2]) * d[0], np.exp(-x[2]) * d[1], d[2]),
    "sl2": lambda x, d: (np.exp(-x[1]) * d[0], d[1], d[2] + np.exp(-x[1]) * d[0]),
    "schwarzschild": lambda x, d: (1 + 0.5 / np.sqrt(np.sum(x * x, axis=0))) ** 2 * d,
}
LENGTH = {False: 1e-13, True: 1e-10}
KEPT = {False: 1e-9, True: 1e-8}


def run(space):
  return Run(f"spaces/thrown-{space.replace('_', '-')}")


def runs(full):
  return [run(space) for space, _ in SPACES]


def draw(records, full):
  canvas, axes = plt.subplots(4, 4, figsize=(7.6, 7.6), squeeze=False)
  checks = []
  for ax in axes.flat[len(SPACES):]:
    ax.remove()
  free = canvas.add_subplot(axes[-1, -1].get_gridspec()[-1, -2:])
  free.set_axis_off()
  times = ScalarMappable(Normalize(0, 2.4), SHADES)
  canvas.colorbar(times, cax=free.inset_axes([0.1, 0.5, 0.8, 0.1]), orientation="horizontal", label="time $t$",
                  ticks=np.arange(0, 2.5, 0.4))
  for k, (ax, (space, name)) in enumerate(zip(axes.flat, SPACES)):
    record = records[run(space)]
    picture(ax, space, record["plot_position"], record["time"])
    if ax in axes[:, 0]:
      ax.set_ylabel("$y$")
    if k + 4 >= len(SPACES):
      ax.set_xlabel("$x$")
    momenta = record["killing_momentum"]
    ax.set_title(name)
    ax.text(0.98, 0.02, f"{momenta.shape[1]} Killing fields", transform=ax.transAxes, ha="right", va="bottom",
            fontsize=7)
    numeric = space in NUMERIC
    d = record["separation"]
    checks.append(at_most(f"{space}: change of a side's length", float(np.max(np.abs(d - d[0]))), LENGTH[numeric]))
    checks.append(at_most(f"{space}: relative drift of the energy", record.drift("energy"), KEPT[numeric]))
    if space in FRAMES:
      ends = record["plot_position"][-1]
      drawn = [side(space, ends[i], ends[j]) for i, j in SIDES]
      length = [np.sum(np.linalg.norm(FRAMES[space](((c[1:] + c[:-1]) / 2).T, np.diff(c, axis=0).T), axis=0)) for c in drawn]
      checks.append(at_most(f"{space}: drawn sides at the end, relative error of the length",
                            float(np.max(np.abs(length / d[-1] - 1))), 5e-3))
    if momenta.shape[1]:
      checks.append(at_most(f"{space}: drift of the Killing momenta", float(np.max(np.abs(momenta - momenta[0]))),
                            KEPT[numeric]))
  return figure.Drawing(canvas, checks)


def side(space, p, q):
  """The geodesic between two points in plot coordinates (in S2xE and H2xE its projection to the first factor): in
  closed form in spaces of constant curvature and their products with E, by minimum energy in those of FRAMES."""
  K = {"s": 1, "h": -1}.get(space[0]) if space in ("s2", "h2", "s3", "h3", "s2xe", "h2xe") else None
  if space in FRAMES:
    return shortest(FRAMES[space], p, q)
  if K is None:
    return np.array([p, q])
  if space in ("s2", "h2"):
    return geodesic(p, q, K)  # plot coordinates of s2 and h2 are those of the surface in space
  return bond_in_picture(p[:2], q[:2], K) if space.endswith("xe") else bond_in_picture(p, q, K)


def picture(ax, space, x, t):
  ax.plot(x[:, 0, 0], x[:, 0, 1], color=GREY, linewidth=0.7)
  for k in range(0, len(t), 4):
    color = SHADES(k / (len(t) - 1))
    for i, j in SIDES:
      ax.plot(*side(space, x[k, i], x[k, j])[:, :2].T, color=color, linewidth=0.9)
  # A square window around everything, with a free strip below for the text.
  low, high = ax.dataLim.min, ax.dataLim.max
  half = 0.55 * np.max(high - low)
  (x0, y0), least = (low + high) / 2, 0.2 * half
  ax.set(xlim=(x0 - half, x0 + half), ylim=(y0 - half - least, y0 + half))
  ax.set_aspect("equal")
  ax.locator_params(axis="x", nbins=3)
  ax.locator_params(axis="y", nbins=4)


if __name__ == "__main__":
  figure.main(globals())
