#!/usr/bin/python3
"""Extended bodies in contact: elastic triangles with faces and edges, and a chain that folds onto itself."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most
from pictures import bond_in_picture, to_embedding
from record import chord_distance
from runs import Run
from style import BLUE, GREY, ORANGE, SPACE_NAME, VERMILION, equal_scale, picture_axes, plt

TITLE = "Bodies in contact: elastic triangles, and a chain that folds onto itself"
CAPTION = ("Two elastic triangles before and at their contacts (red), in plot coordinates. Faces and edges are "
           "geodesic. In H²×E there is no contact of surfaces, and the corners are spheres. Last: twelve beads on "
           "springs in H³, thrown so that the ends of the chain curl over and its beads collide.")
SPACES = ("e3", "h3", "s3", "h2xe")
NAME = SPACE_NAME | {"h2xe": "$H^2{\\times}E$"}
CURVED = {"e3": 0, "h3": -1, "s3": 1}
FOLDING = Run("collisions/folding-h3")
SIDES = ((0, 1), (1, 2), (2, 0))


def run(space):
  return Run(f"collisions/triangles-{space}")


def runs(full):
  return [run(space) for space in SPACES] + [FOLDING]


def crosses(face, ends):
  """True if the segment between two points crosses a triangle: a f1 + b f2 + c f3 = u e1 + v e2 with a, b, c, u, v of
  one sign, where f are the rows of `face`, and e those of `ends`, all vectors of R^4."""
  null = np.linalg.svd(np.vstack([face, -ends]).T)[2][-1]
  return bool(np.all(null > 1e-12) or np.all(null < -1e-12))


def overlap(a, b):
  return any(crosses(a, b[list(side)]) or crosses(b, a[list(side)]) for side in SIDES)


def points_of(space, x):
  """Points as vectors of R^4, of which only the direction matters: E3 is at height 1."""
  K = CURVED[space]
  return to_embedding(x, K) if K else np.concatenate([x, np.ones(x.shape[:-1] + (1,))], axis=-1)


def draw_triangles(axes, space, record, t):
  x, time = record["plot_position"], record["time"]
  for k, colour, width in [(int(np.searchsorted(time, 0)), GREY, 0.8)] + [
      (int(np.searchsorted(time, s)), VERMILION, 1.0) for s in t[:1]]:
    for first, line in ((0, "-"), (3, "--")):
      for i, j in SIDES:
        p, q = x[k, first + i], x[k, first + j]
        K = CURVED.get(space, 0)
        path = bond_in_picture(p, q, K) if K else np.array([p, q])
        axes.plot(*path.T, color=colour, linewidth=width, linestyle=line)
  for i, colour in [(i, BLUE if i < 3 else ORANGE) for i in range(6)]:
    axes.plot(*x[:len(time) // 2, i].T, color=colour, linewidth=0.5)


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 5.6))
  checks, rows = [], []
  for column, space in enumerate(SPACES):
    record = records[run(space)]
    name, found = space.upper(), record["event_time"]
    checks += [Check(f"{name}: the triangles meet", f"{len(found)} contacts", "≥ 2", len(found) >= 2),
               at_most(f"{name}: relative drift of the energy", record.drift("energy"), 1e-11),
               at_most(f"{name}: drift of the Killing momenta", record.drift("killing_momentum"), 1e-12),
               at_most(f"{name}: sum of the gap's rate before and after a contact",
                       float(np.max(np.abs(record["event_speed_after"] + record["event_speed_before"]))), 1e-12)]
    if space in CURVED:
      points = points_of(space, record["plot_position"])
      inside = sum(overlap(p[:3], p[3:]) for p in points)
      checks.append(Check(f"{name}: rows in which the triangles intersect", str(inside), "0", inside == 0))
    rows += [[name, f"{s:.15g}", f"{v:.6g}", f"{j:.6g}"] for s, v, j in
             zip(found, record["event_speed_before"], record["event_impulse"])]
    axes = picture_axes(canvas, 2, 3, column + 1)
    draw_triangles(axes, space, record, found)
    equal_scale(axes, (0, 0, 0), {"e3": 0.65, "h3": 0.3, "s3": 0.4, "h2xe": 0.4}[space])
    axes.set_title(f"{NAME[space]}, {len(found)} contacts")
  record = records[FOLDING]
  x, found = record["plot_position"], record["event_time"]
  radius = float(record["particle_radius"][0])
  points = to_embedding(x, -1)
  i, j = np.triu_indices(x.shape[1], 1)
  least = float(np.min(chord_distance(points[:, i], points[:, j], -1)))
  apart = record["event_other"] - record["event_particle"]
  checks += [Check("chain: contacts of beads that are not neighbours", f"{int(np.sum(apart > 1))} of {len(found)} contacts",
                   "≥ 3", int(np.sum(apart > 1)) >= 3),
             at_most("chain: overlap of two beads in any row", 2 * radius - least, 1e-12),
             at_most("chain: relative drift of the energy", record.drift("energy"), 1e-9),
             at_most("chain: drift of the Killing momenta", record.drift("killing_momentum"), 1e-12)]
  ax = canvas.add_subplot(2, 3, 5)
  for k, colour in ((0, GREY), (int(np.searchsorted(record["time"], found[np.argmax(apart > 1)])), VERMILION),
                    (len(x) - 1, BLUE)):
    ax.plot(x[k, :, 0], x[k, :, 1], "o-", color=colour, markersize=4, linewidth=0.8,
            label=f"$t = {record['time'][k]:.2f}$")
  ax.set_aspect("equal", adjustable="datalim")
  ax.set(title="a chain in $H^3$", xlabel="$x$", ylabel="$y$")
  ax.legend()
  table = figure.Table("Contacts of the triangles", ["space", "time", "rate of the gap before", "impulse"], rows)
  return figure.Drawing(canvas, checks, [table])


if __name__ == "__main__":
  figure.main(globals())
