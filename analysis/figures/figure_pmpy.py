#!/usr/bin/python3
"""Pushmepullyou, two spheres that exchange volume: connection, curvature, metric, gaits and their shifts."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most, between, near
from locomotion import Field, cycle_run, draw_bodies, ellipse, field_run, path_run, point_run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, plt

TITLE = "Pushmepullyou: connection, curvature, metric, gaits"
CAPTION = ("Two spheres at the distance l, volumes v₁ and 8π/3 − v₁, at zero Reynolds number; the fibre is the "
           "position X along their line, from sphere 2 towards sphere 1. Top: −A, curvature B with the rectangle of "
           "the scenario (B has one sign), ellipses of equal cost, and the spheres over shape space. Bottom: both "
           "spheres during a cycle of the rectangle; shift per cycle over the size of ellipses around (6, 4π/3), exact "
           "and by the integral of B, which agree to round-off because the group is commutative; efficiency X²/length² "
           "of families.")
V0 = 8 * np.pi / 3
FIELD = field_run("pmpy", (3.5, 0.3), (8.5, V0 - 0.3))
PATH = path_run("pmpy", 4 * 60 + 1)
CYCLE = cycle_run("pmpy")
AT = point_run("pmpy", (5, V0 / 2))
SIZES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
MIDDLE = (6, V0 / 2)
REACH = (2.5, V0 / 2 - 0.2)
FAMILIES = (("ellipses about $l = 6$", BLUE, (1, 1)), ("half as long", GREEN, (0.5, 1)),
            ("half as high", ORANGE, (1, 0.5)))


def runs(full):
  return [FIELD, PATH, CYCLE, AT] + [member(f, s) for f in FAMILIES for s in SIZES]


def member(family, size):
  """The run of an ellipse along the axes; `scale` of the gait would give the same."""
  part = family[2]
  first, second = size * REACH[0] * part[0], size * REACH[1] * part[1]
  return cycle_run("pmpy-ellipse", ellipse(first, MIDDLE, second / first))


def spheres(l, v, place=0.0):
  """Outlines of both spheres. Sphere 1 is in front (X points from 2 to 1); the middle between them is at `place`."""
  t = np.linspace(0, 2 * np.pi, 40)
  ring = np.stack([np.cos(t), np.sin(t)], axis=1)
  radius = lambda w: (3 * w / (4 * np.pi)) ** (1 / 3)  # noqa: E731
  return [np.array([place + l / 2, 0]) + radius(v) * ring, np.array([place - l / 2, 0]) + radius(V0 - v) * ring]


def body(r):
  one, two = spheres(*r)
  inner = [np.array([[two[:, 0].max(), 0], [one[:, 0].min(), 0]])]
  return [one, two] + inner


def draw(records, full):
  canvas = plt.figure(figsize=(15, 7.6))
  top, bottom = canvas.subfigures(2, 1)
  above = top.subplots(1, 4)
  field = Field(records[FIELD], ("l", "v"))
  field.arrows(above[0], 0, "$-A$", equal=False)
  field.height(above[1], 0, "$B$", equal=False)
  field.ellipses(above[2], "equal cost, $M$", equal=False)
  draw_bodies(above[3], field, body, 5, "bodies", size=0.85, equal=False)
  strokes, sizes, families = bottom.subplots(1, 3, width_ratios=(2, 1, 1))
  checks = draw_cycle(strokes, records) + draw_sizes(sizes, records)
  table = draw_families(families, records)
  B = field.B[np.isfinite(field.B)]
  return figure.Drawing(canvas, checks + [between("B over the window", B, -10, -1e-3)], [table])


def draw_cycle(ax, records):
  record = records[PATH]
  t, r, X = record["time"], record["shape"], record["group"][:, 0]
  rows = np.linspace(0, len(t) - 1, 9).round().astype(int)
  for k in rows:
    one, two = spheres(*r[k], X[k])
    for ring, colour in ((one, BLUE), (two, ORANGE)):
      ring = ring * [1, 0.5] / [1, 8] + [0, t[k]]
      ax.fill(*ring.T, color=colour, alpha=0.6, linewidth=0)
    ax.plot([two[:, 0].max(), one[:, 0].min()], [t[k]] * 2, color=GREY, linewidth=1)
  ax.plot(X + r[:, 0] / 2, t, color=BLUE, linewidth=0.8, label="sphere 1")
  ax.plot(X - r[:, 0] / 2, t, color=ORANGE, linewidth=0.8, label="sphere 2")
  ax.plot(X, t, color=BLACK, linewidth=1.2, label="$X$")
  ax.set(xlabel="position (heights not to scale)", ylabel="cycle", title="one cycle of the rectangle")
  ax.legend(loc="upper right")
  answer, at = records.answer(CYCLE), records.answer(AT)
  return [near("rectangle: X", answer["g"][0], 1.7463175578278, 1e-12, 14),
          near("rectangle: length", answer["length"], 35.006776367919, 1e-11, 14),
          near("A_v(5, v₀/2)", at["A"][0][1], 0.00318309886184, 1e-14, 12),
          near("B(5, v₀/2)", at["B"][0][0], -0.041061975317709, 1e-14, 14),
          at_most("end of the path minus X of the cycle", float(abs(X[-1] - answer["g"][0])), 1e-11)]


def draw_sizes(ax, records):
  answers = [records.answer(member(FAMILIES[0], s)) for s in SIZES]
  exact, integral = (np.array([answer[k][0] for answer in answers]) for k in ("g", "cbvi"))
  ax.plot(SIZES, exact, color=BLACK, label="exact")
  ax.plot(SIZES, integral, "o", color=VERMILION, label="integral of $B$")
  ax.set(xlabel="size (1: one sphere nearly vanishes)", ylabel="shift $X$ of a cycle",
         title="holonomy and curvature")
  ax.legend()
  return [at_most("ellipses: (integral of B - X) / X", float(np.max(np.abs(integral / exact - 1))), 1e-10)]


def draw_families(ax, records):
  rows = []
  for family in FAMILIES:
    answers = [records.answer(member(family, s)) for s in SIZES]
    X = np.array([abs(answer["g"][0]) for answer in answers])
    eta = np.array([answer["efficiency"] for answer in answers])
    ax.plot(X, eta, "o-", color=family[1], label=family[0], markersize=3.5)
    best = int(np.argmax(eta))
    rows.append([family[0].replace("$l = 6$", "l = 6"), f"{SIZES[best]:g}", f"{X[best]:.5f}", f"{eta[best]:.6f}"])
  ax.set(xlabel="shift $|X|$ of a cycle", ylabel="efficiency $X^2$/length$^2$", title="families of gaits")
  ax.legend(loc="lower right")
  return figure.Table("Best of each family", ["family", "size", "|X|", "efficiency"], rows)


if __name__ == "__main__":
  figure.main(globals())
