#!/usr/bin/python3
"""Figure 1.2: a rotation and a translation of a triangle, in both orders."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most, near
from locomotion import moved, path_run
from style import BLACK, BLUE, GREEN, GREY, VERMILION, panels

TITLE = "Figure 1.2: rigid transformations do not commute"
CAPTION = ("Two rigid transformations of a triangle (black) in both orders: first a rotation by 90° around the origin, "
           "then a translation by 3 along x (red); first the translation, then the rotation (blue). A green dot marks "
           "one corner. Right: a gait of two loops of a swimmer in both orders. Its two halves do not commute in SE(2) "
           "either, so the order of strokes matters.")
TRIANGLE = np.array([[-0.5, -0.4], [0.5, -0.4], [0, 0.6]])
TURN, SHIFT = np.pi / 2, 3.0
BOTH = (path_run("two-loops", 97), path_run("two-loops-swapped", 97))


def runs(full):
  return list(BOTH)


def rotation(x):
  return moved(x, (0, 0, TURN))


def translation(x):
  return moved(x, (SHIFT, 0, 0))


def draw_triangle(ax, x, colour, alpha=1.0, label=None):
  ax.fill(*x.T, facecolor=colour, edgecolor=colour, alpha=0.25 * alpha, linewidth=0)
  ax.plot(*np.vstack([x, x[:1]]).T, color=colour, linewidth=1.8, alpha=alpha, label=label)
  ax.plot(*x[2], "o", color=GREEN, markersize=7, alpha=alpha)


def draw(records, full):
  canvas, ((left, right),) = panels(1, 2, 5.6, 4.6)
  red, blue = translation(rotation(TRIANGLE)), rotation(translation(TRIANGLE))
  draw_triangle(left, TRIANGLE, BLACK, label="start")
  draw_triangle(left, red, VERMILION, label="rotation, then translation")
  draw_triangle(left, blue, BLUE, label="translation, then rotation")
  draw_triangle(left, translation(TRIANGLE), BLUE, 0.25)
  left.plot(0, 0, "+", color=GREY, markersize=10)
  arc = np.linspace(0.12, TURN - 0.12, 40)
  left.plot(SHIFT * np.cos(arc), SHIFT * np.sin(arc), color=BLUE, linewidth=0.8, linestyle="--")
  left.plot([0.75, SHIFT - 0.75], [0.15, 0.15], color=VERMILION, linewidth=0.8, linestyle="--")
  left.set_aspect("equal", adjustable="datalim")
  left.set(xlabel="$x$", ylabel="$y$")
  left.legend(loc="upper right")
  ends = []
  for run, colour, label in zip(BOTH, (VERMILION, BLUE), ("loop 1, then loop 2", "loop 2, then loop 1")):
    g = records[run]["group"]
    right.plot(g[:, 0], g[:, 1], color=colour, linewidth=1.2, label=label)
    heading = 0.03 * np.array([np.cos(g[-1, 2]), np.sin(g[-1, 2])])
    right.annotate("", xy=g[-1, :2] + heading, xytext=g[-1, :2],
                   arrowprops={"arrowstyle": "-|>", "color": colour, "mutation_scale": 14})
    right.plot(*g[-1, :2], "o", color=colour)
    ends.append(g[-1])
  right.plot(0, 0, "o", color=BLACK, label="start")
  right.set_aspect("equal", adjustable="datalim")
  right.set(xlabel="$x$ / length", ylabel="$y$ / length", title="two loops of Purcell's swimmer")
  right.legend()
  apart = float(np.linalg.norm(red - blue, axis=1).mean())
  gap = np.hypot(*(ends[0] - ends[1])[:2])
  return figure.Drawing(canvas, [
      near("distance of the two ends; exact: 3 |e^{iπ/2} − 1|", apart, SHIFT * np.sqrt(2), 1e-12, 8),
      at_most("two loops in both orders: difference of the angles, rad", float(abs(ends[0][2] - ends[1][2])), 1e-11),
      Check("two loops in both orders: difference of the positions, in lengths", f"{gap:.4g}", "more than 0.001",
            bool(gap > 1e-3))])


if __name__ == "__main__":
  figure.main(globals())
