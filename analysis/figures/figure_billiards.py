#!/usr/bin/python3
"""A sphere in a box of six geodesic planes of H3 and S3."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import collisions
import figure
from checks import Check, at_most
from pictures import to_embedding, to_picture
from runs import Run
from style import BLUE, GREY, VERMILION, equal_scale, picture_axes, plt

TITLE = "Billiards in a geodesic box in H³ and S³"
CAPTION = ("One sphere of radius .1 between six planes at distance .6 from the centre. The plot coordinates are those "
           "of the Poincaré ball, where the edges are arcs and meet at angles below 90°, and of the stereographic "
           "projection, where the angles are above 90°. Right: distance from the same path in extended precision. In "
           "H³ neighbouring paths separate as exp(v t), and round-off grows at the same rate.")
SPACES = {"h3": ("$H^3$", VERMILION), "s3": ("$S^3$", BLUE)}
OUT, RADIUS = 0.6, 0.1
START = ((0.2, 1.1, 0.7), (0.6, 0.5, 2))  # polar


def run(space):
  return Run(f"collisions/billiard-{space}")


def runs(full):
  return [run(space) for space in SPACES]


def normals(space):
  """Walls west, east, south, north, down, up as in the scenarios: <x,n> = 0, positive inside."""
  K = collisions.SPACES[space][0][2]
  out = collisions.mpf(str(OUT))
  s, c = collisions.sine(K, out), collisions.cosine(K, out)
  planes = []
  for axis in range(3):
    for side in (1, -1):
      n = [collisions.mpf(0)] * 4
      n[axis], n[3] = side * c, K * s  # <n, (-side s, c)> = -s c + K K s c = 0
      planes.append(n)
  return planes


def box_edges(space):
  """Points along the twelve edges, in plot coordinates."""
  K = collisions.SPACES[space][0][2]
  ratio = np.tan(OUT) if K > 0 else np.tanh(OUT)  # |x_i| = ratio x_4 on a face
  edges = []
  for axis in range(3):
    for a in (-1, 1):
      for b in (-1, 1):
        y = np.empty((30, 4))
        y[:, axis] = ratio * np.linspace(-1, 1, 30)
        y[:, (axis + 1) % 3], y[:, (axis + 2) % 3], y[:, 3] = a * ratio, b * ratio, 1
        size = np.sqrt(np.abs(np.sum(y[:, :3] ** 2, axis=1) + K * y[:, 3] ** 2))
        edges.append(to_picture(y / size[:, None]))
  return edges


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 3.2))
  errors = canvas.add_subplot(1, 3, 3)
  checks, rows = [], []
  for column, (space, (name, colour)) in enumerate(SPACES.items()):
    record = records[run(space)]
    K = collisions.SPACES[space][0][2]
    t, x = record["time"], record["plot_position"][:, 0]
    start = collisions.polar(space, *START)
    legs = collisions.billiard(space, collisions.mpf(str(RADIUS)), start, normals(space), t[-1])
    wanted = np.array([leg[0] for leg in legs[1:]], dtype=float)
    walls, found = record["event_wall"], record["event_time"]
    same = list(walls) == [leg[2] for leg in legs[1:]]
    checks.append(Check(f"{space.upper()}: the same walls in the same order", f"{len(walls)} contacts",
                        f"{len(wanted)} of the reference", same))
    exact = np.array([collisions.at(space, legs, s)[0] for s in t[::5]], dtype=float)
    error = np.max(np.abs(to_embedding(x[::5], K) - exact), axis=1)
    speed = float(np.sqrt(2 * record["energy"][0]))
    # growth of a round-off of 1e-13 at the start for the fastest separation of neighbouring paths
    bound = 1e-13 * np.exp(speed * t[-1]) if space == "h3" else 1e-12
    checks += [at_most(f"{space.upper()}: error of the times of contact until t = {t[-1]:g}",
                       float(np.max(np.abs(found - wanted))) if same else np.inf, bound),
               at_most(f"{space.upper()}: places", float(np.max(error)), bound),
               at_most(f"{space.upper()}: relative drift of the energy", record.drift("energy"), 1e-13)]
    early = min(5, len(found))
    checks.append(at_most(f"{space.upper()}: error of the times of the first {early} contacts",
                          float(np.max(np.abs(found[:early] - wanted[:early]))), 1e-12))
    errors.semilogy(t[::5], np.maximum(error, 1e-17), color=colour, label=name)
    axes = picture_axes(canvas, 1, 3, column + 1)
    for edge in box_edges(space):
      axes.plot(*edge.T, color=GREY, linewidth=0.8)
    axes.plot(*x.T, color=colour, linewidth=0.9)
    hits = np.array([collisions.at(space, legs, s)[0] for s in wanted], dtype=float)
    axes.plot(*to_picture(hits).T, "o", color=colour, markersize=3)
    equal_scale(axes, (0, 0, 0), 0.5 if space == "h3" else 0.45)
    axes.set_title(f"{name}, {len(found)} contacts")
    rows.append([space.upper(), len(found), f"{speed:.6g}", f"{np.max(error):.1e}"])
  errors.set(xlabel="time $t$", ylabel="error of the position", ylim=(1e-17, 1e-9))
  errors.legend()
  table = figure.Table("Billiards", ["space", "contacts", "speed", "largest error"], rows)
  return figure.Drawing(canvas, checks, [table])


if __name__ == "__main__":
  figure.main(globals())
