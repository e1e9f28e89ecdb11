#!/usr/bin/python3
"""Figure 2.1: parallel transport on the sphere depends on the path."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most, near
from pictures import draw_sphere, transport
from runs import Run
from style import BLUE, GREEN, ORANGE, VERMILION, equal_scale, legend_below, picture_axes, plt

TITLE = "Figure 2.1: parallel transport on the sphere depends on the path"
CAPTION = ("The blue vector at A is transported to C along A–B–C (orange) and along A–C (green); the curves are the "
           "recorded paths of three free particles. The results differ by the area of the octant, π/2. The velocity of "
           "a free particle is transported in the same way.")
RUN = Run("basics/parallel-transport-s2")


def runs(full):
  return [RUN]


def carried(path, vector):
  """The vector at each point of a path, transported from point to point."""
  vectors = [vector]
  for x, y in zip(path[:-1], path[1:]):
    vectors.append(transport(x, y, vectors[-1]))
  return np.array(vectors)


def arrows(axes, path, vectors, color, every):
  for x, u in list(zip(path, vectors))[every:-1:every]:
    arrow(axes, x, 0.3 * u, color)


def arrow(axes, x, u, color, width=1.0, **options):
  """Draws an arrow from x along the tangent vector u; the barbs of its head are in the tangent plane."""
  side = np.cross(x, u)
  side *= np.linalg.norm(u) / np.linalg.norm(side)
  line = [x, x + u, x + 0.78 * u + 0.1 * side, x + u, x + 0.78 * u - 0.1 * side]
  axes.plot(*np.transpose(line), color=color, linewidth=width, solid_joinstyle="miter", **options)


def draw(records, full):
  record = records[RUN]
  x, v = record["plot_position"], record["plot_velocity"]
  around, direct = np.concatenate([x[:, 0], x[1:, 1]]), x[:, 2]
  start = np.array([np.cos(0.5), np.sin(0.5), 0])
  along, straight = carried(around, start), carried(direct, start)
  angle = np.arccos(np.clip(np.dot(along[-1], straight[-1]), -1, 1))
  own = max(np.max(np.abs(carried(x[:, k], v[0, k])[-1] - v[-1, k])) for k in range(3))

  canvas = plt.figure(figsize=(6, 5.4))
  axes = picture_axes(canvas, 1, 1, 1)
  draw_sphere(axes)
  axes.plot(*around.T, color=ORANGE, linewidth=2.5, label="path A–B–C")
  axes.plot(*direct.T, color=GREEN, linewidth=2.5, label="path A–C")
  arrows(axes, around, along, ORANGE, 16)
  arrows(axes, direct, straight, GREEN, 16)
  arrow(axes, direct[0], 0.45 * start, BLUE, 2.5, label="start")
  arrow(axes, direct[-1], 0.45 * along[-1], VERMILION, 2.5, label="carried along A–B–C")
  arrow(axes, direct[-1], 0.45 * straight[-1], "#004D3A", 2.5, label="carried along A–C")
  for name, point in zip("ABC", (x[0, 0], x[0, 1], x[-1, 1])):
    axes.text(*(1.18 * point), name, fontsize=13, ha="center", va="center")
  axes.view_init(elev=28, azim=40)
  equal_scale(axes, (0, 0, 0), 0.85)
  legend_below(canvas, axes.get_legend_handles_labels()[0])
  return figure.Drawing(canvas, [near("angle between the two results", angle, np.pi / 2, 1e-12, digits=14),
                                 at_most("velocity of a free particle minus its transport", own, 1e-12)])


if __name__ == "__main__":
  figure.main(globals())
