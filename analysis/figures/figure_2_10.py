#!/usr/bin/python3
"""Figure 2.10: H2 x E as a cylinder: cross sections are Poincare disks, lines along the axis are Euclidean."""
import numpy as np
from matplotlib.lines import Line2D

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most
from runs import Run
from style import BLUE, GREEN, GREY, ORANGE, VERMILION, legend_below, picture_axes, plt

TITLE = "Figure 2.10: the product of the hyperbolic plane and a line"
CAPTION = ("The unit cylinder: every cross section is the hyperbolic plane as a Poincaré disk; lines along the axis "
           "(green) are Euclidean. Left: the same geodesics of the plane at three heights. Right: geodesics from one "
           "point at unit speed to t = 2, computed by curvebody: at 0°, 30° and 60° to the plane, and along the line. "
           "Their ends lie on the sphere of radius 2.")
FAN = Run("basics/geodesic-fan-h2xe")
SLOPES = (0, 30, 60)
COLOR = dict(zip(SLOPES, (BLUE, ORANGE, VERMILION)))


def runs(full):
  return [FAN]


def draw(records, full):
  record = records[FAN]
  t, x = record["time"], record["coordinates"]
  canvas = plt.figure(figsize=(10.5, 5.6))
  model(cylinder(canvas, 1))
  ax = cylinder(canvas, 2)
  for i in range(x.shape[1]):
    last = i == x.shape[1] - 1
    path = disk(x[:, i])
    color = GREEN if last else COLOR[SLOPES[i % 3]]
    ax.plot(*path.T, color=color, linewidth=1.6)
    ax.plot(*path[-1], "o", color=color, markersize=3)
  handles = [Line2D([], [], color=c, label=f"{s}° to the plane") for s, c in COLOR.items()]
  handles.append(Line2D([], [], color=GREEN, label="along the line"))
  legend_below(canvas, handles, columns=4)
  end = x[-1]
  apart = np.hypot(np.arccosh(np.maximum(1, end[:, 2])), end[:, 3] + 1)
  momenta = record["killing_momentum"]
  return figure.Drawing(canvas, [
      at_most("positions minus the product of geodesics", float(np.max(np.abs(x - product(t, x.shape[1])))), 1e-13),
      at_most("distance from the start after t = 2: largest error of 2", float(np.max(np.abs(apart - 2))), 1e-13),
      at_most("relative drift of the energy", record.drift("energy"), 1e-13),
      at_most("drift of the four Killing momenta", float(np.max(np.abs(momenta - momenta[0]))), 1e-12)])


def product(t, count):
  """The geodesics of the scenario at times t: (sinh(ct) cos k, sinh(ct) sin k, cosh(ct), -1 + st), where k is the angle
  of the direction in H2, and c and s are the cosine and the sine of the slope."""
  x = np.zeros((len(t), count, 4))
  for i in range(count):
    direction = (i // 3) * np.pi / 3
    slope = np.pi / 2 if i == count - 1 else np.radians(SLOPES[i % 3])
    a = t * np.cos(slope)
    x[:, i] = np.stack([np.sinh(a) * np.cos(direction), np.sinh(a) * np.sin(direction), np.cosh(a),
                        -1 + t * np.sin(slope)], axis=1)
  return x


def disk(x):
  return np.concatenate([x[..., :2] / (1 + x[..., 2:3]), x[..., 3:]], axis=-1)


def cylinder(canvas, column):
  ax = picture_axes(canvas, 1, 2, column)
  turn = np.linspace(0, 2 * np.pi, 121)
  for z in (-1.25, 1.25):
    ax.plot(np.cos(turn), np.sin(turn), z, color=GREY, linewidth=1)
  for a in np.linspace(0, 2 * np.pi, 24, endpoint=False):
    ax.plot([np.cos(a)] * 2, [np.sin(a)] * 2, [-1.25, 1.25], color=GREY, linewidth=0.3)
  ax.set_box_aspect((1, 1, 1.25), zoom=1.2)
  ax.view_init(22, -72)
  return ax


def model(ax):
  """Geodesics of the disk between points of its rim at three heights, and lines along E through their points closest to
  the middle."""
  turn = np.linspace(0, 2 * np.pi, 121)
  half = np.radians(38)
  directions = np.linspace(0, 2 * np.pi, 8, endpoint=False)
  for a in directions:
    p = (1 - np.sin(half)) / np.cos(half)
    ax.plot([p * np.cos(a)] * 2, [p * np.sin(a)] * 2, [-1.25, 1.25], color=GREEN, linewidth=1.5)
  ax.plot([0, 0], [0, 0], [-1.25, 1.25], color=GREEN, linewidth=1.5)
  for z, color in zip((-0.9, 0, 0.9), (BLUE,) * 3):
    ax.plot_trisurf(np.append(0, np.cos(turn[:-1])), np.append(0, np.sin(turn[:-1])), np.full(121, z), color=color,
                    alpha=0.10, linewidth=0, shade=False)
    ax.plot(np.cos(turn), np.sin(turn), z, color=color, linewidth=1)
    for a in directions:
      ax.plot(*rim_geodesic(a, half).T, z, color=color, linewidth=0.9)
      ax.plot([-np.cos(a), np.cos(a)], [-np.sin(a), np.sin(a)], z, color=color, linewidth=0.4)


def rim_geodesic(direction, half, count=60):
  """The geodesic between the points of the rim at the angles direction ± half: the arc in the disk of a circle that
  is orthogonal to the rim, with its centre at the distance 1/cos(half)."""
  center, radius = 1 / np.cos(half), np.tan(half)
  angle = np.linspace(half - np.pi / 2, np.pi / 2 - half, count)
  x, y = center - radius * np.cos(angle), radius * np.sin(angle)
  c, s = np.cos(direction), np.sin(direction)
  return np.stack([c * x - s * y, s * x + c * y], axis=1)


if __name__ == "__main__":
  figure.main(globals())
