#!/usr/bin/python3
"""Figure 1.1: nonrigid and rigid deformations of a body of points."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most
from locomotion import moved, path_run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, panels

TITLE = "Figure 1.1: nonrigid and rigid deformations of a body"
CAPTION = ("Three masses joined by rods; the hollow one is the first. (a) Nonrigid deformations change the three "
           "lengths, which are the shape variables: these shapes are points of shape space. (b) Rigid deformations of "
           "the first shape are points of one fibre: the lengths are the same in another place. (c) The free triangle "
           "follows a loop of shapes without momentum. It only deforms, and at the end the body is rotated (grey: "
           "start; faint: between; black: end). A free body of points in the plane has no other net motion: its centre "
           "of mass (cross) does not move.")
PATH = path_run("triangle", 97)
COLOURS = (BLACK, BLUE, VERMILION, GREEN)
SHAPES = ((1, 1, 1), (1.5, 1, 1), (1, 1.45, 1), (0.7, 1, 1.3))
MOTIONS = ((0, 0, 0), (1.2, 0.3, 0), (0.2, -1.2, 0.9), (1.3, -1.1, 2.4))


def runs(full):
  return [PATH]


def triangle(a, b, c):
  """Corners of a triangle with the sides a (1 to 2), b (2 to 3) and c (3 to 1); centre of mass at 0, side a horizontal."""
  x = (a * a + c * c - b * b) / (2 * a)
  corners = np.array([[0, 0], [a, 0], [x, np.sqrt(c * c - x * x)]])
  return corners - corners.mean(axis=0)


def sides(x):
  return np.linalg.norm(x - np.roll(x, -1, axis=0), axis=1)


def draw_body(ax, x, colour, alpha=1.0):
  ax.plot(*np.vstack([x, x[:1]]).T, color=colour, linewidth=1.8, alpha=alpha)
  ax.plot(*x.T, "o", color=colour, markersize=5, alpha=alpha)
  ax.plot(*x[0], "o", color="white", markersize=2.5)


def draw(records, full):
  canvas, ((nonrigid, rigid, loop),) = panels(1, 3, 4.3, 3.9)
  for k, (shape, colour) in enumerate(zip(SHAPES, COLOURS)):
    draw_body(nonrigid, triangle(*shape) + [1.9 * (k % 2), -1.6 * (k // 2)], colour)
  changed = 0.0
  for motion, colour in zip(MOTIONS, COLOURS):
    body = moved(triangle(*SHAPES[0]), motion)
    changed = max(changed, float(np.max(np.abs(sides(body) - SHAPES[0]))))
    draw_body(rigid, body, colour)
  record = records[PATH]
  x, r = record["plot_position"][..., :2], record["shape"]
  rows = np.linspace(0, len(x) - 1, 5).round().astype(int)
  for k, row in enumerate(rows):
    draw_body(loop, x[row], GREY if k == 0 else ORANGE if k < 4 else BLACK, 1 if k in (0, 4) else 0.35)
  centre = x.mean(axis=1)
  loop.plot(*centre[0], "P", color=GREEN, markersize=8)
  for ax, title in ((nonrigid, "(a) nonrigid"), (rigid, "(b) rigid"), (loop, "(c) nonrigid alone, one cycle")):
    ax.set_aspect("equal", adjustable="datalim")
    ax.grid(False)
    ax.set(xticks=[], yticks=[], title=title)
    ax.spines[:].set_visible(False)
    ax.margins(0.1)
  turned = record["group"][-1, 2]
  lengths = np.array([sides(p) for p in x])
  return figure.Drawing(canvas, [
      at_most("rigid: the sides change by", changed, 1e-14),
      at_most("loop: sides of the drawn body minus the shape variables", float(np.max(np.abs(lengths - r))), 1e-12),
      at_most("loop: the centre of mass moves", float(np.max(np.abs(centre - centre[0]))), 1e-12),
      Check("loop: the body turns, degrees", f"{np.degrees(turned):.4f}", "not nothing", bool(abs(turned) > 1e-3))])


if __name__ == "__main__":
  figure.main(globals())
