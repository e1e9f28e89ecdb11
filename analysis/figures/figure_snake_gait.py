#!/usr/bin/python3
"""Three floating rods without momentum: connection, curvature, metric, gaits and their rotations."""
import functools

import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most, fitted_order, Check
from locomotion import Field, chain, cycle_run, draw_bodies, draw_path, ellipse, field_run, moved, path_run, point_run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, plt

TITLE = "A floating snake: three rods rotate without angular momentum"
CAPTION = ("Three uniform rods of mass and length 1, hinged, at rest in empty space; body frame on the middle one. "
           "Top: components of −A and ellipses of equal cost (twice the kinetic energy). Middle: components of the "
           "curvature, zero in black, and the body over shape space. Bottom: eight cycles of a circle of radius 1 "
           "around (1, 1), the body at the start of each; its centre of mass (cross) does not move. Rotation per cycle "
           "over the radius for three centres, exact and by the integral of B; rotation² divided by length² of these "
           "families.")
RADII = (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4)
FAMILIES = (("about (0, 0)", GREY, (0, 0)), ("about (0.7, 0.7)", BLUE, (0.7, 0.7)),
            ("about (1.4, 1.4)", ORANGE, (1.4, 1.4)))
CYCLES = 8
FIELD = field_run("floating-snake", (-2.6, -2.6), (2.6, 2.6))
PATH = path_run("floating-snake", CYCLES * 48 + 1, (f"gait.repeat={CYCLES}",))
ORIGIN = point_run("floating-snake", (0, 0))
MIDDLE = point_run("floating-snake", (0.7, 0.7))


def member(family, radius):
  return cycle_run("floating-snake", ellipse(radius, family[2]))


def runs(full):
  return [FIELD, PATH, ORIGIN, MIDDLE] + [member(f, a) for f in FAMILIES for a in RADII]


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 8.4))
  top, middle, bottom = canvas.subfigures(3, 1, height_ratios=(0.85, 1, 1.2))
  above, below = top.subplots(1, 4), middle.subplots(1, 4)
  field = Field(records[FIELD], ("alpha1", "alpha2"))
  for axis, name in enumerate(("x", "y", r"\theta")):
    field.arrows(above[axis], axis, f"$-A_{name}$")
    field.height(below[axis], axis, f"$B_{name}$", bar="bottom")
  field.ellipses(above[3], "equal cost, $M$")
  draw_bodies(below[3], field, lambda r: [chain(r)], 6, "bodies")
  strokes, sizes, families = bottom.subplots(1, 3)
  checks = draw_strokes(strokes, records) + draw_sizes(sizes, records)
  return figure.Drawing(canvas, checks, [draw_families(families, records)])


def draw_strokes(ax, records):
  record = records[PATH]
  body = functools.partial(chain, length=3.0)
  draw_path(ax, record, CYCLES + 1, body)
  centre = np.array([np.mean(moved((x[1:] + x[:-1]) / 2, g), axis=0)
                     for x, g in zip(map(body, record["shape"]), record["group"])])
  ax.plot(*centre[0], "P", color=GREEN, markersize=9, zorder=5)
  ax.set(xlabel="$x$", ylabel="$y$", title=f"{CYCLES} cycles of a circle around (1, 1)")
  return [at_most("the centre of mass moves", float(np.max(np.abs(centre - centre[0]))), 1e-12)]


def turning(answer):
  return answer["g"][2]


def draw_sizes(ax, records):
  checks = []
  for family in FAMILIES:
    answers = [records.answer(member(family, a)) for a in RADII]
    exact = np.array([turning(answer) for answer in answers])
    ax.plot(RADII, np.degrees(exact), color=family[1], label=family[0])
    integral = np.array([answer["cbvi"][2] for answer in answers])
    ax.plot(RADII, np.degrees(integral), "o", color=family[1])
    checks.append(at_most(f"circles {family[0]}: integral of B_θ minus the rotation, rad (pure rotations commute)",
                          float(np.max(np.abs(exact - integral))), 1e-10))
  answers = [records.answer(member(FAMILIES[1], a)) for a in RADII]
  B, area = np.array(records.answer(MIDDLE)["B"][0]), np.pi * np.array(RADII) ** 2
  left = np.linalg.norm([np.array(a["log"]) + s * B for a, s in zip(answers, area)], axis=1) / area
  order, points = fitted_order(RADII[:4], left[:4], 1e-12)
  checks += [at_most("circles around the straight shape: rotation, rad",
                     max(abs(turning(records.answer(member(FAMILIES[0], a)))) for a in RADII), 1e-12),
             Check("circles around (0.7, 0.7): |log g + πa² B|/a², its order in the radius",
                   f"{order:.2f} ({points} points)", "1 or 2 ± 0.15",
                   bool(min(abs(order - 1), abs(order - 2)) <= 0.15))]
  A = np.array(records.answer(ORIGIN)["A"])
  checks.append(at_most("A(0) less ((0, 0), (1/6, 1/6), (−7/27, 7/27))",
                        float(np.max(np.abs(A - [[0, 0], [1 / 6, 1 / 6], [-7 / 27, 7 / 27]]))), 1e-12))
  ax.plot([], [], "o", color=BLACK, label="integral of $B$")
  ax.set(xlabel="radius", ylabel="rotation per cycle (degrees)", title="holonomy and curvature")
  ax.legend()
  return checks


def draw_families(ax, records):
  rows = []
  for family in FAMILIES:
    answers = [records.answer(member(family, a)) for a in RADII]
    angle = np.array([abs(turning(answer)) for answer in answers])
    eta = angle ** 2 / np.array([answer["length"] for answer in answers]) ** 2
    ax.plot(np.degrees(angle), eta, "o-", color=family[1], label=family[0], markersize=3.5)
    best = int(np.argmax(eta))
    if family[2] != (0, 0):
      rows.append([family[0], f"{RADII[best]:g}", f"{np.degrees(angle[best]):.3f}", f"{eta[best]:.5f}"])
  ax.set(xlabel="rotation per cycle (degrees)", ylabel="turning$^2$/length$^2$", title="families of gaits")
  ax.legend()
  return figure.Table("Best of each family", ["circles", "radius", "degrees", "turning²/length²"], rows)


if __name__ == "__main__":
  figure.main(globals())
