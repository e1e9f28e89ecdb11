#!/usr/bin/python3
"""Purcell's three-link swimmer: connection, curvature, metric, gaits and their shifts."""
import functools

import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most, fitted_order, near
from locomotion import Field, chain, cycle_run, draw_bodies, draw_path, ellipse, field_run, path_run, point_run, shift
from style import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILION, plt

TITLE = "Purcell's swimmer: connection, curvature, metric, gaits"
CAPTION = ("Three links of length 1/3 at zero Reynolds number; the drag across a link is twice that along it; the body "
           "frame is on the middle link. Top: components of −A (the body moves along an axis if the shape changes "
           "along the arrows), and ellipses of equal cost. Middle: components of the curvature with the circle of "
           "radius 1, zero in black, and the body over shape space. Bottom: twelve cycles of the circle, with the body "
           "at the start of each; shift per cycle over the circle's radius, exact and by the corrected body velocity "
           "integral, in body coordinates and in minimum-perturbation coordinates; efficiency X²/length² of families "
           "of gaits over the shift X per cycle (each line: growing size).")
RADII = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2)
SIZES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
CYCLES = 12
FIELD = field_run("purcell", (-2.5, -2.5), (2.5, 2.5))
PATH = path_run("purcell", 12 * 48 + 1, (f"gait.repeat={CYCLES}",))
ORIGIN = point_run("purcell", (0, 0))
# Families of gaits: name, colour, and the function that gives scenario and settings for a size.
TURN = np.pi / 4
LONG = {"aspect": 2 / 3}
CORNERS = "gait.polygon.corners=[[{0:g},{0:g}],[-{0:g},{0:g}],[-{0:g},-{0:g}],[{0:g},-{0:g}]]"
FAMILIES = (("circles", BLUE, lambda a: ("purcell", ellipse(a))),
            ("ellipses 3:2, long along $\\alpha_1=\\alpha_2$", GREEN,
             lambda a: ("purcell", ellipse(1.2 * a, turned=TURN, **LONG))),
            ("ellipses 3:2, long along $\\alpha_1=-\\alpha_2$", ORANGE,
             lambda a: ("purcell", ellipse(1.2 * a, turned=-TURN, **LONG))),
            ("squares", PURPLE, lambda a: ("purcell-square", (CORNERS.format(a),))))
MINIMUM = ("bundle.coordinates={minimum_perturbation: {low: [-2.5, -2.5], high: [2.5, 2.5], points: [41, 41]}}",)


def cycle(radius, settings=()):
  return cycle_run("purcell", ellipse(radius) + tuple(settings))


def member(family, size):
  return cycle_run(*family[2](size))


def runs(full):
  return [FIELD, PATH, ORIGIN] + [cycle(a) for a in RADII] + [cycle(a, MINIMUM) for a in RADII] + \
      [member(f, a) for f in FAMILIES for a in SIZES]


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 8.4))
  top, middle, bottom = canvas.subfigures(3, 1, height_ratios=(0.85, 1, 1.2))
  field = Field(records[FIELD], ("alpha1", "alpha2"))
  above, below = top.subplots(1, 4), middle.subplots(1, 4)
  for axis, name in enumerate(("x", "y", r"\theta")):
    field.arrows(above[axis], axis, f"$-A_{name}$")
    field.height(below[axis], axis, f"$B_{name}$", bar="bottom")
  field.ellipses(above[3], "equal cost, $M$")
  draw_bodies(below[3], field, lambda r: [chain(r)], 6, "bodies")
  strokes, sizes, families = bottom.subplots(1, 3, width_ratios=(1.3, 1, 1))
  checks = draw_strokes(strokes, records)
  checks += draw_sizes(sizes, records)
  found, table = draw_families(families, records)
  return figure.Drawing(canvas, checks + found, [table])


def draw_strokes(ax, records):
  record = records[PATH]
  draw_path(ax, record, CYCLES + 1, functools.partial(chain, length=1.0))
  ax.set(xlabel="$x$ / length", ylabel="$y$ / length", title=f"{CYCLES} cycles, radius 1")
  once = np.array(records.answer(cycle(1.0))["g"])
  end = record["group"][-1]
  return [at_most(f"{CYCLES} cycles: end of the path minus {CYCLES} times the shift per cycle (it does not rotate)",
                  float(np.max(np.abs(end - CYCLES * once))), 1e-11)]


def draw_sizes(ax, records):
  exact = [records.answer(cycle(a)) for a in RADII]
  plain = np.array([shift(answer["cbvi"]) for answer in exact])
  least = [records.answer(cycle(a, MINIMUM)) for a in RADII]
  g = np.array([shift(answer["g"]) for answer in exact])
  ax.plot(RADII, g, color=BLACK, label="exact")
  ax.plot(RADII, plain, "o", color=VERMILION, label="integral of $B$, body frame")
  ax.plot(RADII, [shift(answer["cbvi"]) for answer in least], "s", color=BLUE, markersize=4,
          label="minimum perturbation")
  ax.set(xlabel="radius", ylabel="shift per cycle / length", title="holonomy and curvature")
  ax.legend(loc="upper left")
  B = np.array(records.answer(ORIGIN)["B"][0])
  logs = np.array([answer["log"] for answer in exact])
  area = np.pi * np.array(RADII) ** 2
  left = np.linalg.norm(logs + area[:, None] * B, axis=1)
  order, points = fitted_order(RADII, left / area, 1e-12, top=5e-3)
  # The opposite sign of the bracket in B gives 4/81 + 7/243 at the straight shape.
  wrong = np.linalg.norm(logs[0] + area[0] * np.array([19 / 243, 0, 0])) / np.linalg.norm(logs[0])
  a = RADII.index(1.0)
  return [Check("circles: |log g + πa² B(0)|/a², its order in the radius", f"{order:.2f} ({points} points)",
                "1 or 2 ± 0.1", bool(min(abs(order - 1), abs(order - 2)) <= 0.1)),
          Check("radius 0.1: the same difference with the wrong sign of the bracket in B / |log g|", f"{wrong:.2f}",
                "more than 2: it fails", bool(wrong > 2)),
          near("circle of radius 1: |x| from the integral of B", plain[a], 0.0519181, 5e-8, 6),
          near("circle of radius 1: |x|", g[a], 0.0512808, 5e-8, 6),
          at_most("circle of radius 1, minimum perturbation: the exact cycle is conjugate, difference of the length",
                  abs(least[a]["length"] - exact[a]["length"]), 1e-11)]


def draw_families(ax, records):
  rows = []
  for family in FAMILIES:
    answers = [records.answer(member(family, a)) for a in SIZES]
    X = np.array([shift(answer["g"]) for answer in answers])
    eta = np.array([answer["efficiency"] for answer in answers])
    ax.plot(X, eta, "o-", color=family[1], label=family[0], markersize=3.5)
    best = int(np.argmax(eta))
    rows.append([family[0].replace("$\\alpha_1=\\alpha_2$", "α₁ = α₂").replace("$\\alpha_1=-\\alpha_2$", "α₁ = −α₂"),
                 f"{SIZES[best]:g}", f"{X[best]:.5f}", f"{eta[best]:.5f}"])
  ax.set(xlabel="shift $X$ per cycle / length", ylabel="efficiency $X^2$/length$^2$", title="families of gaits")
  ax.set_ylim(top=1.45 * ax.get_ylim()[1])
  ax.legend(loc="upper left", fontsize=7.5)
  found = [near("circle of radius 1: length", records.answer(cycle(1.0))["length"], 0.512235406963, 1e-12, 12)]
  return found, figure.Table("Best of each family", ["family", "size", "X/length", "efficiency"], rows)


if __name__ == "__main__":
  figure.main(globals())
