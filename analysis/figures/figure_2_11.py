#!/usr/bin/python3
"""Figure 2.11: the two test bodies and the lengths that describe them."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import near
from pictures import bond_in_picture, geodesic, to_embedding, to_picture
from record import chord_distance
from runs import Run
from style import BLUE, GREEN, GREY, VERMILION, panels

TITLE = "Figure 2.11: the test bodies, rod and triangle"
CAPTION = ("The bodies of the runs at t = 0, in the Poincaré ball (plane z = 0). Springs follow geodesics, which are "
           "circles in these coordinates. 2l is the rod or the side 2–3, H is the height from particle 1 to the middle "
           "of 2–3, and s are the sides 1–2 and 1–3.")
BODIES = ("rod", "triangle")


def run(body):
  return Run(f"thesis/elastic-{body}-h3")


def runs(full):
  return [run(body) for body in BODIES]


def draw(records, full):
  canvas, axes = panels(1, 2, width=4.2, height=3.8)
  checks = []
  for ax, body in zip(axes[0], BODIES):
    record = records[run(body)]
    x = record["plot_position"][0]
    for b, (i, j) in enumerate(zip(record["bond_i"], record["bond_j"])):
      ax.plot(*bond_in_picture(x[i], x[j], -1).T[:2], color=BLUE, linewidth=2)
      length = chord_distance(to_embedding(x[i], -1), to_embedding(x[j], -1), -1)
      checks.append(near(f"{body}: length of bond {b + 1} in plot coordinates", float(length), 1, 1e-14, digits=15))
    names = ("1", "2") if body == "rod" else ("1", "2", "3")
    ax.plot(*x.T[:2], "o", color=VERMILION, markersize=11)
    for name, point in zip(names, x):
      outward = point[:2] - np.mean(x[:, :2], axis=0)
      ax.annotate(name, point[:2], textcoords="offset points", xytext=15 * outward / np.linalg.norm(outward),
                  ha="center", va="center", fontsize=12)
    label(ax, body, x)
    ax.set(aspect="equal", xlabel="$x$", ylabel="$y$", title=body, xlim=(-0.2, 0.5), ylim=(-0.35, 0.35))
  return figure.Drawing(canvas, checks)


def label(ax, body, x):
  """Draws the triangle's height, and writes the names of the lengths next to the bonds."""
  if body == "rod":
    ax.annotate("$2l$,  rest length $D$", (0, 0), textcoords="offset points", xytext=(10, 0), va="center")
    return
  points = to_embedding(x, -1)
  middle = geodesic(points[1], points[2], -1, 3)[1]
  height = to_picture(geodesic(points[0], middle, -1))
  ax.plot(*height.T[:2], "--", color=GREEN)
  ax.annotate("$2l = s_{23}$", (0, -0.1), textcoords="offset points", xytext=(-6, 0), ha="right", va="center")
  ax.annotate("$H$", height[20, :2], textcoords="offset points", xytext=(0, 5), ha="center", color=GREEN)
  for k, word, side in ((1, "$s_{12}$", 1), (2, "$s_{13}$", -1)):
    ax.annotate(word, bond_in_picture(x[0], x[k], -1)[20, :2], textcoords="offset points", xytext=(12, 10 * side),
                ha="center", va="center")
  ax.plot(*to_picture(middle)[:2], "s", color=GREY, markersize=4)


if __name__ == "__main__":
  figure.main(globals())
