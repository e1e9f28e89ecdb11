#!/usr/bin/python3
"""Generic contacts of pairs of spheres in four spaces, compared with geodesics in extended precision."""
import numpy as np
from matplotlib.lines import Line2D

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import collisions
import figure
from checks import at_most
from pictures import to_embedding
from runs import Run
from style import BLUE, ORANGE, legend_below, plt

TITLE = "Spheres on generic paths: times of contact and the motion after it"
CAPTION = ("Three pairs of spheres in each space, radii .3 to .45, masses .6 to 2.7, in plot coordinates x, y. Dots: "
           "starts of the centres; lines: their paths, which are cut off far outside; circles: the spheres at their "
           "contacts. The reference follows geodesics in closed form to the zero of the gap, with 40 digits, and "
           "reflects the velocities there. Error: largest error of any embedding coordinate at any time.")
SPACES = {"e3": "$E^3$", "s3": "$S^3$, stereographic", "h3": "$H^3$, Poincaré ball", "h2xe": "$H^2{\\times}E$"}
RADII = ((0.3, 0.4), (0.35, 0.45), (0.35, 0.4))
MASSES = ((1, 2.7), (0.6, 1.9), (1.3, 0.8))
COLOURS = (BLUE, ORANGE)  # of the spheres of a pair
WINDOW = {"e3": 1.5, "s3": 0.85, "h3": 0.75, "h2xe": 0.75}  # half width of the panels of a space


def starts(space):
  """(point, velocity) in polar coordinates of both spheres of each pair, as in the scenarios."""
  right = np.pi / 2  # the scenario has this number as a double, too
  if space == "h2xe":
    return ((((1, 0.2, 0), (-0.5, 0.1, 0)), ((0.9, 2.4, 0), (-0.4, -0.3, 0))),
            (((1.2, 4, 0.1), (-0.7, 0.05, -0.1)), ((0.8, 0.95, -0.1), (-0.45, -0.1, 0.05))),
            (((1.1, 5.5, 0.4), (-0.6, 0.05, -0.3)), ((0.8, 2.7, -0.5), (-0.5, -0.05, 0.2))))
  return ((((1, right, 0.2), (-0.5, 0, 0.1)), ((0.9, right, 2.4), (-0.4, 0, -0.3))),
          (((1.2, right, 4), (-0.7, 0, 0.05)), ((0.8, right, 0.95), (-0.45, 0, -0.1))),
          (((1.1, 1.2, 5.5), (-0.6, 0.05, 0.05)), ((0.8, 1.9, 2.7), (-0.5, -0.05, -0.05))))


def run(space):
  return Run(f"collisions/generic-{space}")


def runs(full):
  return [run(space) for space in SPACES]


def embedding(space, x):
  """Points of the embedding from plot coordinates."""
  if space == "e3":
    return x
  if space == "h2xe":
    return np.concatenate([to_embedding(x[..., :2], -1), x[..., 2:]], axis=-1)
  return to_embedding(x, collisions.SPACES[space][0][2])


def circle(space, centre, radius):
  """Outline of a sphere in x, y: the image of its points with the same third embedding coordinate as the centre."""
  if space == "h2xe":
    centre, space = centre[:3], "h2"
  K = {"e3": 0, "s3": 1, "h3": -1, "h2": -1}[space]
  turn = np.linspace(0, 2 * np.pi, 60)
  form = np.ones(len(centre))
  if K:
    form[-1] = K
  axes = []
  for axis in np.eye(len(centre))[:2]:
    side = axis - K * np.sum(form * axis * centre) * centre
    for other in axes:
      side = side - np.sum(form * side * other) * other
    axes.append(side / np.sqrt(np.sum(form * side * side)))
  s, c = {0: (radius, 1), 1: (np.sin(radius), np.cos(radius)), -1: (np.sinh(radius), np.cosh(radius))}[K]
  points = c * centre + s * (np.cos(turn)[:, None] * axes[0] + np.sin(turn)[:, None] * axes[1])
  return points[:, :2] if K == 0 else points[:, :2] / (1 + points[:, -1:])


def draw(records, full):
  canvas, grid = plt.subplots(3, 4, figsize=(7.6, 5.5), sharex="col", sharey="col")
  checks, rows = [], []
  for axes, (space, name) in zip(grid.T, SPACES.items()):
    record = records[run(space)]
    t, picture = record["time"], record["plot_position"]
    points = embedding(space, picture)
    first = record["event_particle"]
    error_t = error_x = 0
    for k, two in enumerate(starts(space)):
      legs = collisions.pair(space, RADII[k], MASSES[k], [collisions.polar(space, q, u) for q, u in two], t[-1])
      wanted = np.array([leg[0] for leg in legs[1:]], dtype=float)
      found = record["event_time"][first == 2 * k]
      rows.append([space.upper(), "abcdef"[2 * k:2 * k + 2], len(found), ", ".join(f"{s:.15g}" for s in found),
                   f"{np.max(np.abs(found - wanted)):.1e}" if len(found) == len(wanted) else "other contacts"])
      error_t = max(error_t, np.max(np.abs(found - wanted)) if len(found) == len(wanted) > 0 else np.inf)
      for n in list(range(0, len(t), 10)) + [len(t) - 1]:
        exact = np.array(collisions.at(space, legs, t[n]), dtype=float)
        error_x = max(error_x, np.max(np.abs(points[n, 2 * k:2 * k + 2] - exact)))
      for i, colour in enumerate(COLOURS):
        path = picture[:, 2 * k + i, :2]
        axes[k].plot(*path.T, color=colour, linewidth=1)
        axes[k].plot(*path[0], "o", color=colour, markersize=4)
        for s in found:
          here = np.array(collisions.at(space, legs, s)[i], dtype=float)
          axes[k].plot(*circle(space, here, RADII[k][i]).T, color=colour, linewidth=0.8)
      axes[k].set(xlim=(-WINDOW[space], WINDOW[space]), ylim=(-WINDOW[space], WINDOW[space]))
      axes[k].set_aspect("equal")
    axes[0].set_title(name)
    axes[-1].set_xlabel("$x$")
    checks += [at_most(f"{space.upper()}: moments of contact", float(error_t), 1e-12),
               at_most(f"{space.upper()}: positions until t = {t[-1]:g}", float(error_x), 1e-12),
               at_most(f"{space.upper()}: relative drift of the energy", record.drift("energy"), 1e-13),
               at_most(f"{space.upper()}: drift of the Killing momenta", record.drift("killing_momentum"), 1e-13)]
  for k, ax in enumerate(grid[:, 0]):
    ax.set_ylabel(f"pair {k + 1}\n$y$")
  legend_below(canvas, [Line2D([], [], marker="o", markersize=4, color=colour, label=label)
                        for colour, label in zip(COLOURS, ("first sphere", "second sphere"))])
  table = figure.Table("Contacts", ["space", "pair", "contacts", "times", "error"], rows)
  return figure.Drawing(canvas, checks, [table])


if __name__ == "__main__":
  figure.main(globals())
