#!/usr/bin/python3
"""Figure 2.9: the surfaces S2, E2 and H2 in their linear spaces, with the lines of the polar chart."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most
from runs import Run
from style import BLACK, GREY, SPACE_COLOR, SPACE_NAME, equal_scale, picture_axes, plt

TITLE = "Figure 2.9: the surfaces S², E² and H² in their linear spaces"
CAPTION = ("The lines from the base point are the recorded paths of twenty-four free particles; the circles join their "
           "positions at equal times. Together they are the polar chart. S² is drawn in Euclidean space and H² in "
           "Minkowski space, where all its points have the same curvature although the drawing does not show it.")
SPACES = ("s2", "e2", "h2")
VIEW = {"s2": (22, (0, 0, 0), 0.85), "e2": (28, (0, 0, 0), 1.65), "h2": (18, (0, 0, 2.4), 2.95)}


def run(space):
  return Run(f"basics/geodesic-fan-{space}")


def runs(full):
  return [run(space) for space in SPACES]


def polar(space, t, direction):
  """The point at distance t from the base point in a direction, in the embedding (E2: a third coordinate 0)."""
  sine, cosine = {"s2": (np.sin, np.cos), "e2": (lambda s: s, lambda s: 0 * s), "h2": (np.sinh, np.cosh)}[space]
  return np.stack([sine(t) * np.cos(direction), sine(t) * np.sin(direction), cosine(t) + 0 * direction], axis=-1)


def draw(records, full):
  canvas = plt.figure(figsize=(10.5, 4))
  checks = []
  for column, space in enumerate(SPACES):
    record = records[run(space)]
    t, x = record["time"], record["plot_position"]
    directions = 2 * np.pi * np.arange(x.shape[1]) / x.shape[1]
    exact = polar(space, t[:, None], directions[None, :])
    error = float(np.max(np.abs(x - exact) / np.maximum(1, np.abs(exact))))
    checks.append(at_most(f"{space.upper()}: free particles minus the exponential map", error, 1e-13))
    axes = picture_axes(canvas, 1, 3, column + 1)
    turn = np.linspace(0, 2 * np.pi, 145)
    axes.plot_surface(*np.moveaxis(polar(space, t[::5, None], turn[None, :]), -1, 0), color=SPACE_COLOR[space],
                      alpha=0.18, linewidth=0, rcount=60, ccount=144)
    for k in range(x.shape[1]):
      axes.plot(*x[:, k].T, color=SPACE_COLOR[space], linewidth=0.9)
    for row in range(0, len(t), 25):
      axes.plot(*polar(space, t[row], turn).T, color=GREY, linewidth=0.8)
    axes.plot(*x[0, :1].T, "o", color=BLACK, markersize=4)
    elevation, center, radius = VIEW[space]
    axes.view_init(elev=elevation, azim=-60)
    equal_scale(axes, center, radius)
    axes.set_title(f"{SPACE_NAME[space]}, circles at $a$ = 0.25, 0.5, …")
  return figure.Drawing(canvas, checks)


if __name__ == "__main__":
  figure.main(globals())
