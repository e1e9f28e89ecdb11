#!/usr/bin/python3
"""Figure 2.3: geodesic deviation in S2, E2 and H2."""
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from mpl_toolkits.mplot3d.art3d import Line3DCollection

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most
from pictures import draw_sphere
from record import chord_distance
from runs import Run
from style import GREY, STRETCH, SPACE_COLOR, SPACE_LINE, SPACE_NAME, equal_scale, picture_axes, plt

TITLE = "Figure 2.3: geodesic deviation in S², E² and H²"
CAPTION = ("Thirteen free particles start next to each other, a tenth apart, in parallel. Colour: distance between "
           "neighbours relative to the start. The lower panel compares it with 2 asin(sin(δ/2) cos t)/δ in S², 1 in "
           "E², 2 asinh(sinh(δ/2) cosh t)/δ in H².")
CURVED = {"s2": 1, "e2": 0, "h2": -1}
COLORS, RANGE = STRETCH, Normalize(-1.2, 1.2)
VIEW = {"s2": (35, 60, (0, 0, 0), 0.8), "e2": (40, 60, (0, 0.7, 0), 0.75), "h2": (38, -75, (0.05, 0.95, 1.7), 1.15)}


def run(space):
  return Run(f"basics/geodesic-deviation-{space}")


def runs(full):
  return [run(space) for space in CURVED]


def exact(space, start, t):
  """Distance at time t of two geodesics that start at the distance `start` on a common perpendicular."""
  return {1: lambda: 2 * np.arcsin(np.sin(start / 2) * np.cos(t)), 0: lambda: start + 0 * t,
          -1: lambda: 2 * np.arcsinh(np.sinh(start / 2) * np.cosh(t))}[CURVED[space]]()


def draw(records, full):
  canvas = plt.figure(figsize=(10.5, 6.6))
  grid = canvas.add_gridspec(2, 3, height_ratios=(1.5, 1))
  lower = canvas.add_subplot(grid[1, :])
  checks = []
  for column, (space, curved) in enumerate(CURVED.items()):
    record = records[run(space)]
    t, x = record["time"], record["plot_position"]
    x = x[:, np.argsort(x[0, :, 0])]
    size = 2 if space == "e2" else 3
    apart = chord_distance(x[:, 1:, :size], x[:, :-1, :size], curved)
    change = apart / apart[0] - 1
    error = np.max(np.abs(apart - exact(space, apart[0], t[:, None])))
    checks.append(at_most(f"{space.upper()}: distance of neighbours minus the closed form", error, 1e-13))
    picture(picture_axes(canvas, grid[0, column]), space, x, change)
    middle = change.shape[1] // 2
    lower.plot(t, 1 + change[:, middle], SPACE_LINE[space], color=SPACE_COLOR[space], label=SPACE_NAME[space])
    dots = slice(None, None, 14)
    ratio = exact(space, apart[0, middle], t[dots]) / apart[0, middle]
    lower.plot(t[dots], ratio, "o", markersize=3.5, color=SPACE_COLOR[space])
  lower.plot([], [], "o", markersize=3.5, color=GREY, label="closed form")
  lower.set(xlabel="time $t$ = path length", ylabel="distance / initial distance", xlim=(0, 1.4), ylim=(0, 2.3))
  lower.legend(loc="upper left")
  bar = canvas.colorbar(ScalarMappable(RANGE, COLORS), ax=canvas.axes[1:], shrink=0.7, pad=0.01)
  bar.set_label("change of distance / initial distance")
  return figure.Drawing(canvas, checks)


def picture(axes, space, x, change):
  if space == "s2":
    draw_sphere(axes)
  for k in range(x.shape[1]):
    sides = [change[:, j] for j in (k - 1, k) if 0 <= j < change.shape[1]]
    segments = np.stack([x[:-1, k], x[1:, k]], axis=1)
    axes.add_collection3d(Line3DCollection(segments, colors=COLORS(RANGE(np.mean(sides, axis=0)[:-1])), linewidths=2))
  axes.plot(*x[0].T, color=GREY, linewidth=1)
  elevation, azimuth, center, radius = VIEW[space]
  axes.view_init(elev=elevation, azim=azimuth)
  equal_scale(axes, center, radius)
  axes.set_title(SPACE_NAME[space])


if __name__ == "__main__":
  figure.main(globals())
