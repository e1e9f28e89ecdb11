#!/usr/bin/python3
"""The falling cat that rotates at minimum cost: a circle of bends, compared with its closed form."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most, near
from locomotion import Field, ellipse, field_run, path_run
from optimal import optimal_run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, equal_scale, plt

TITLE = "The falling cat at least cost: half a turn by a circle of bends"
CAPTION = ("Two halves of a cat bend at the waist around two axes without twist and without angular momentum. Minimum "
           "of E = ∫ r′Mr′ dt, twice the integral of the kinetic energy, for gaits that rotate it by T around its axis "
           "x. Top: the cat during the optimal half turn, its back red. Bottom: the optimal bends (u, v), which are "
           "circles, on the curvature of the rotation around x; E over T for three widths of the body, with the closed "
           "form of circles; bend of the waist. A larger circle rotates the cat by 2π − T in the opposite direction, "
           "which gives the same element.")
WIDTHS = ((0.15, GREEN), (0.3, BLUE), (0.5, ORANGE))
TURNS = (0.5, 1, 2, 2.6, np.pi)
NEAR, FAR = 0.25, 1.05
ROWS = 7
FIELD = field_run("cat", (-0.6, -0.6), (0.6, 0.6), 61)


def rates(width, bend):
  """Rotation of the body and E for a cycle of the circle with the angle `bend`.

  Each half has an axis n, the moments of inertia I about n and J across it, and turns at W (e_x - n) in the body.
  Without angular momentum the body turns at Omega:
    Omega = -W (J s^2 - I c (1 - c))/(I c^2 + J s^2), W = 2 pi; E = 2 [I (Omega c + W (c - 1))^2 + J s^2 (Omega + W)^2]
  """
  I, J = 8 * width ** 2, 8 * (width ** 2 / 2 + ((FAR - NEAR) / 2) ** 2)
  c, s = np.cos(bend), np.sin(bend)
  O = -(J * s ** 2 - I * c * (1 - c)) / (I * c ** 2 + J * s ** 2)
  return -2 * np.pi * O, 8 * np.pi ** 2 * (I * (O * c + c - 1) ** 2 + J * (O + 1) ** 2 * s ** 2)


def bend_of(width, turn):
  """The bend for a given rotation, by bisection: the rotation grows with the bend up to a right angle."""
  low, high = 0.0, np.pi / 2
  for _ in range(60):
    middle = (low + high) / 2
    low, high = (middle, high) if rates(width, middle)[0] < turn else (low, middle)
  return low


def turn_run(width, turn):
  # The search starts from a circle that is slightly too small. From one that is too large it finds the rotation by
  # 2 pi - T in the opposite direction.
  size = 0.9 * np.tan(bend_of(width, turn) / 2)
  return optimal_run("cat", "--turn", f"{turn:.15g}", settings=(f"bundle.parameters.rho={width:g}",) + ellipse(size))


HALF = turn_run(0.3, np.pi)
PATH = path_run("cat", 61, ellipse(np.tan(bend_of(0.3, np.pi) / 2)))


def runs(full):
  return [FIELD, PATH] + [turn_run(w, T) for w, _ in WIDTHS for T in TURNS]


def draw(records, full):
  canvas = plt.figure(figsize=(15, 7))
  top, bottom = canvas.subfigures(2, 1, height_ratios=(0.6, 1))
  draw_cat(top, records[PATH])
  plane, cost, bends = bottom.subplots(1, 3)
  Field(records[FIELD], ("u", "v")).height(plane, 0, r"bends for T = .5 to $\pi$ on $B_{\omega x}$", gait=False)
  plane.set(xlabel="$u$", ylabel="$v$")
  checks = []
  for width, colour in WIDTHS:
    fine = np.linspace(0.02, np.pi, 80)
    bend = np.array([bend_of(width, T) for T in fine])
    cost.plot(fine, rates(width, bend)[1], color=colour, label=f"half width {width:g}")
    bends.plot(fine, np.degrees(bend), color=colour)
    found = [records[turn_run(width, T)] for T in TURNS]
    E = np.array([r["cost"][0] for r in found])
    size = [np.hypot(*r["shape"].T) for r in found]
    cost.plot(TURNS, E, "o", color=colour)
    bends.plot(TURNS, [np.degrees(2 * np.arctan(s.mean())) for s in size], "o", color=colour)
    exact = np.array([rates(width, bend_of(width, T))[1] for T in TURNS])
    checks += [at_most(f"half width {width:g}: E minus the closed form, relative", float(np.max(np.abs(E / exact - 1))),
                       1e-10),
               at_most(f"half width {width:g}: largest relative change of the radius during a cycle",
                       float(max(np.ptp(s) / s.mean() for s in size)), 1e-6)]
    if width == 0.3:
      for r in found:
        plane.plot(*r["shape"].T, color=BLACK, linewidth=1.3)
  cost.set(xlabel="turn T", ylabel="$E$", title="cost (lines: closed form)")
  bends.set(xlabel="turn T", ylabel="degrees", title="bend of the waist")
  cost.legend()
  record = records[HALF]
  angle = float(2 * np.arctan2(np.linalg.norm(record["group"][-1, 1:4]), abs(record["group"][-1, 0])))
  checks += [near("half turn, half width .3: E", float(record["cost"][0]), 35.10427880715558, 1e-9, 13),
             near("half turn: the body's turn", angle, np.pi, 1e-9, 11),
             Check("half turn: index of the second variation", str(record["index"][0]), "0",
                   bool(record["index"][0] == 0))]
  return figure.Drawing(canvas, checks)


def draw_cat(canvas, record):
  x, lines = record["plot_position"], record["lines"]
  rows = np.linspace(0, len(x) - 1, ROWS).round().astype(int)
  for ax, row in zip(canvas.subplots(1, ROWS, subplot_kw={"projection": "3d"}), rows):
    ax.computed_zorder = False
    ax.set_axis_off()
    for a, b in lines:
      back = {a % 4, b % 4} <= {0}
      ax.plot(*x[row][[a, b]].T, color=VERMILION if back else BLACK if (a < 8) == (b < 8) else GREY,
              linewidth=2.6 if back else 0.9)
    ax.view_init(elev=18, azim=-62)
    equal_scale(ax, x[row].mean(axis=0), 0.9)
    ax.set_box_aspect((1, 1, 1), zoom=1.25)
    ax.set_title(f"time {record['time'][row]:.2f}", y=1.0)


if __name__ == "__main__":
  figure.main(globals())
