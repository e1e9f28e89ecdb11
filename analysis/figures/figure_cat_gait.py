#!/usr/bin/python3
"""Falling cats: two links in a plane, and two halves that bend around two axes and rotate without angular momentum."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most, near
from locomotion import LABEL, Field, cycle_run, field_run, path_run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, equal_scale, plt

TITLE = "Falling cats: rotation by shape changes only"
CAPTION = ("A cat has two halves, each with four masses on a square. It bends at the waist around two axes without "
           "twist: the front axis is (1 − u² − v², 2u, 2v)/(1 + u² + v²), and the hind axis is its mirror image. Top: "
           "−A and B for the rotation around x, ellipses of equal cost, and the planar cat of two links: θ₁ over its "
           "hinge's angle (line: integral of the conservation law). With one shape variable no area is enclosed. "
           "Middle: the cat over two cycles of the circle with a bend of 60°, seen along the x axis of its middle and "
           "from the side; its back is red. Bottom: rotation per cycle over the bend for three widths of the body, "
           "with the closed form; rotation²/length².")
WIDTHS = ((0.15, GREEN), (0.3, BLUE), (0.5, ORANGE))
BENDS = (5, 10, 20, 30, 40, 50, 60, 70, 80)
FIELD = field_run("cat", (-1, -1), (1, 1))
CYCLES, ROWS = 2, 7
PATH = path_run("cat", CYCLES * 60 + 1, (f"gait.repeat={CYCLES}",))
PLANAR = path_run("falling-cat", 101)
NEAR, FAR = 0.25, 1.05
# As in scenarios/locomotion/falling-cat.yaml: masses, moments of inertia, arms.
LINKS = (1, 2, 0.5, 0.2, 1, 0.6)


def cycle(width, bend):
  b = f"{np.tan(np.radians(bend) / 2):.17g}"
  return cycle_run("cat", (f"bundle.parameters.rho={width}", f"gait.fourier.cosine=[[{b},0]]",
                           f"gait.fourier.sine=[[0,{b}]]"))


def runs(full):
  return [FIELD, PATH, PLANAR] + [cycle(w, b) for w, _ in WIDTHS for b in BENDS]


def closed_form(width, bend):
  """Rotation of the body around x in a cycle, modulo full turns."""
  I = 8 * width ** 2
  J = 8 * (width ** 2 / 2 + ((FAR - NEAR) / 2) ** 2)
  c, s = np.cos(np.radians(bend)), np.sin(np.radians(bend))
  return 2 * np.pi * (1 - (J * s ** 2 - I * c * (1 - c)) / (I * c ** 2 + J * s ** 2))


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 11))
  top, middle, bottom = canvas.subfigures(3, 1, height_ratios=(1.9, 0.4, 0.9))
  above = top.subplots(2, 2).flat
  LABEL.update(u="$u$", v="$v$")
  field = Field(records[FIELD], ("u", "v"))
  field.arrows(above[0], 0, r"$-A_{\omega x}$")
  field.height(above[1], 0, r"$B_{\omega x}$")
  field.ellipses(above[2], "equal cost, $M$")
  checks = draw_planar(above[3], records)
  checks += draw_cat(middle, records)
  left, right = bottom.subplots(1, 2)
  checks += draw_bends(left, right, records)
  others = float(np.nanmax(np.abs(field.B[..., 1:3])))
  return figure.Drawing(canvas, checks + [at_most("largest B for the rotation around y and z", others, 1e-12)])


def draw_planar(ax, records):
  record = records[PLANAR]
  alpha, angle = record["shape"][:, 0], record["group"][:, 0]
  m1, m2, I1, I2, a1, a2 = LINKS
  m = m1 * m2 / (m1 + m2)
  node, weight = np.polynomial.legendre.leggauss(60)
  start = alpha[0]
  beta = start + np.multiply.outer(alpha - start, (node + 1) / 2)
  slope = -(I2 + m * a2 ** 2 + m * a1 * a2 * np.cos(beta)) / \
      (I1 + I2 + m * (a1 ** 2 + a2 ** 2 + 2 * a1 * a2 * np.cos(beta)))
  exact = (alpha - start) * np.sum(slope * weight / 2, axis=-1)
  ax.plot(alpha, np.degrees(exact), color=BLACK, label="conservation law")
  ax.plot(alpha[::5], np.degrees(angle[::5]), "o", color=VERMILION, markersize=4, label="holonomy's path")
  ax.set(xlabel=r"$\alpha$", ylabel=r"$\theta_1$ (degrees)", title="planar cat, there and back")
  ax.legend()
  return [at_most("planar cat: angle minus the integral of −(I₂ + m a₂² + m a₁a₂ cos α)/(…) α′, rad",
                  float(np.max(np.abs(angle - exact))), 1e-12),
          at_most("planar cat: rotation of a cycle along a curve and back, rad", float(abs(angle[-1])), 1e-14)]


def draw_cat(canvas, records):
  record = records[PATH]
  x = record["plot_position"]
  lines = record["lines"]
  rows = np.linspace(0, len(x) - 1, ROWS).round().astype(int)
  grid = canvas.subplots(1, ROWS, subplot_kw={"projection": "3d"})
  for ax, row in zip(grid, rows):
    ax.computed_zorder = False
    ax.set_axis_off()
    for a, b in lines:
      back = {a % 4, b % 4} <= {0}
      ax.plot(*x[row][[a, b]].T, color=VERMILION if back else BLACK if (a < 8) == (b < 8) else GREY,
              linewidth=2.6 if back else 0.9)
    ax.view_init(elev=18, azim=-62)
    equal_scale(ax, x[row].mean(axis=0), 0.78)
    ax.set_box_aspect((1, 1, 1), zoom=1.55)
    ax.set_title(f"cycle {record['time'][row]:.2f}", y=1.0)
  centre = x.mean(axis=1)
  g = record["group"]
  angle = np.unwrap(2 * np.arctan2(g[:, 1], g[:, 0]), period=4 * np.pi)
  turned = angle[-1] % (2 * np.pi)
  return [at_most("cat: its centre of mass moves", float(np.max(np.abs(centre - centre[0]))), 1e-12),
          near("cat, two cycles at 60°: rotation, degrees", float(np.degrees(turned)),
               float(np.degrees(2 * closed_form(0.3, 60))), 1e-9, 8)]


def draw_bends(left, right, records):
  worst, area = 0.0, 0.0
  smooth = np.linspace(1, 85, 200)
  for width, colour in WIDTHS:
    answers = [records.answer(cycle(width, b)) for b in BENDS]
    turn = np.array([2 * np.arctan2(answer["g"][1], answer["g"][0]) for answer in answers]) % (2 * np.pi)
    exact = np.array([closed_form(width, b) for b in BENDS])
    difference = (turn - exact + np.pi) % (2 * np.pi) - np.pi
    worst = max(worst, float(np.max(np.abs(difference))))
    integral = np.array([answer["cbvi"][0] for answer in answers]) + 2 * np.pi
    area = max(area, float(np.max(np.abs(np.mod(integral - exact + np.pi, 2 * np.pi) - np.pi))))
    left.plot(smooth, np.degrees(closed_form(width, smooth)), color=colour, label=f"half width {width:g}")
    left.plot(BENDS, np.degrees(exact + difference), "o", color=colour)
    # Modulo full turns, from -180 to 180 degrees.
    signed = (exact + np.pi) % (2 * np.pi) - np.pi
    eta = signed ** 2 / np.array([answer["length"] for answer in answers]) ** 2
    for side in (signed < 0, signed >= 0):
      right.semilogy(np.degrees(signed[side]), eta[side], "o-", color=colour, markersize=3.5,
                     label=f"half width {width:g}" if side[0] else None)
  left.plot([], [], "o", color=BLACK, label="holonomy")
  left.axhline(180, color=GREY, linewidth=0.7)
  left.set(xlabel="bend (degrees)", ylabel="rotation per cycle (degrees)", title="lines: closed form")
  left.legend()
  right.set(xlabel="rotation per cycle (degrees), between −180 and 180", ylabel="turning$^2$/length$^2$",
            title="families of gaits")
  right.legend()
  return [at_most("cat: rotation minus the closed form, rad", worst, 1e-11),
          at_most("cat: integral of B minus the closed form, rad (rotations around one axis commute)", area, 1e-9)]


if __name__ == "__main__":
  figure.main(globals())
