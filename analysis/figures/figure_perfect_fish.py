#!/usr/bin/python3
"""A fish of three ellipses in a perfect fluid, with and without the hydrodynamic coupling of its bodies."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most, between
from fish import Fish, displaced
from locomotion import ellipse, moved, path_run, point_run, shift
from style import BLACK, BLUE, GREY, ORANGE, plt

TITLE = "A three-link fish in a perfect fluid, with and without coupling"
CAPTION = ("Ellipses ten times as long as wide, of the fluid's density, swim from rest without momentum by rotating "
           "both hinges. Blue: every body is in the flow of the others; orange: approximation without this coupling. "
           "Left: the body during a stroke, from top to bottom, and the paths of the middle over three strokes. Upper "
           "right: the gaits, circles of hinge angles, and the displacement per stroke of each; dots: "
           "`reference/fish.py`, an independent program. Lower right: the displacement for the circle of 1 rad over "
           "the gap between the bodies' tips, and the relative excess of the approximation. It is largest for gaps of "
           "a fifth of a body's length; by the table it is larger for small strokes (10 % at 0.5 rad), and it "
           "decreases for larger gaps.")
RADII, GAPS = (0.25, 0.5, 0.75, 1, 1.25), (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
COLOURS = {True: BLUE, False: ORANGE}
NAMES = {True: "coupled", False: "without coupling"}
SHAPES = ((0.3, -0.5), (1.0, 0.2), (-0.8, -0.8))


def coupled(coupling):
  return f"bundle.coupling={str(coupling).lower()}"


def run(coupling, radius=1, gap=0.1):
  return path_run("perfect-fish", 97, ellipse(radius) + (f"bundle.hinges={gap:g}", coupled(coupling)))


def at_run(coupling, shape):
  return point_run("perfect-fish", shape, ("bundle.nodes=64", coupled(coupling)))


def all_runs():
  return [run(c, radius=r) for c in COLOURS for r in RADII] + [run(c, gap=g) for c in COLOURS for g in GAPS]


def runs(full):
  return list(dict.fromkeys(all_runs())) + [at_run(c, s) for c in COLOURS for s in SHAPES]


def draw(records, full):
  canvas = plt.figure(figsize=(13, 7.6))
  grid = canvas.add_gridspec(2, 3, width_ratios=(1.25, 1, 1))
  body, *rest = (canvas.add_subplot(place) for place in (grid[:, 0], grid[0, 1], grid[0, 2], grid[1, 1], grid[1, 2]))
  draw_body(body, records)
  gaits, ways, gaps, excess = rest
  angle = np.linspace(0, 2 * np.pi, 100)
  for radius in RADII:
    gaits.plot(radius * np.cos(angle), radius * np.sin(angle), color=BLACK if radius == 1 else GREY,
               linewidth=1.6 if radius == 1 else 0.8)
  gaits.set(xlabel="$\\alpha_1$ (rad)", ylabel="$\\alpha_2$ (rad)")
  gaits.set_aspect("equal")
  way = {}
  for coupling, colour in COLOURS.items():
    way[coupling] = [shift(records[run(coupling, radius=r)]["group"][-1]) for r in RADII], \
        [shift(records[run(coupling, gap=g)]["group"][-1]) for g in GAPS]
    ways.plot(RADII, way[coupling][0], "-", color=colour, label=NAMES[coupling])
    gaps.semilogx(2 * np.array(GAPS), way[coupling][1], "-", color=colour)
  checks = measure(records, ways)
  ways.set(xlabel="radius of the gait (rad)", ylabel="way of a stroke", xlim=(0, 1.3), ylim=(0, None))
  ways.legend()
  gaps.set(xlabel="gap between tips", ylabel="way of a stroke")
  more = np.array(way[False][1]) / np.array(way[True][1]) - 1
  excess.loglog(2 * np.array(GAPS), more, "o-", color=BLACK)
  excess.set(xlabel="gap between tips", ylabel="relative excess without coupling", ylim=(1e-3, 0.1))
  checks += [between("gap 0.2, 1 rad: displacement per stroke without coupling / with coupling - 1",
                     more[GAPS.index(0.1)], 0.02, 0.06),
             at_most("the same at the largest gap / maximum", float(more[-1] / more.max()), 0.2),
             between("radius 0.5 rad: displacement per stroke without coupling / with coupling - 1",
                     way[False][0][1] / way[True][0][1] - 1, 0.07, 0.13)]
  names = [f"{r:g} rad, gap 0.2" for r in RADII] + [f"1 rad, gap {2 * g:g}" for g in GAPS]
  rows = [[name, f"{a:.8f}", f"{b:.8f}", f"{b / a:.5f}"]
          for name, a, b in zip(names, way[True][0] + way[True][1], way[False][0] + way[False][1])]
  header = ["gait", "coupled", "without coupling", "ratio"]
  return figure.Drawing(canvas, checks, [figure.Table("Way of a stroke", header, rows)])


def draw_body(ax, records):
  for coupling, colour in COLOURS.items():
    record = records[run(coupling)]
    x, g = record["plot_position"], record["group"]
    bodies = len(x[0]) // 3
    for shot, row in enumerate(np.linspace(0, len(g) - 1, 7).round().astype(int)):
      for k in range(3):
        points = x[row, k * bodies:(k + 1) * bodies, :2] - [0, 1.7 * shot]
        ax.fill(*points.T, facecolor=colour if coupling else "none", alpha=0.6 if coupling else 1, edgecolor=colour,
                linewidth=0.9)
      if coupling:
        ax.text(3.6, -1.7 * shot, f"{record['time'][row]:.2f}", fontsize=8, va="center")
    strokes, path = np.zeros(3), []
    for _ in range(3):
      path.append(np.column_stack([moved(g[:, :2], strokes), g[:, 2]]))
      strokes = np.array([*moved(g[-1:, :2], strokes)[0], strokes[2] + g[-1, 2]])
    ax.plot(*(np.vstack(path)[:, :2] - [-1.2, 13.2]).T, color=colour, linewidth=1.2, label=NAMES[coupling])
  ax.set(xlabel="$x$ (half lengths of a body)", yticks=[], xlim=(-5.3, 4.4), ylim=(-15.4, 1.8))
  ax.set_aspect("equal")
  ax.legend(loc="lower center", ncols=2)


def measure(records, ax):
  checks = []
  for coupling, colour in COLOURS.items():
    fish = Fish(coupling=coupling, nodes=96)
    most = max(float(np.max(np.abs(np.array(records.answer(at_run(coupling, shape))["A"]) - fish.connection(shape))))
               for shape in SHAPES)
    checks.append(at_most(f"{NAMES[coupling]}: A at three shapes minus that of the other program", most, 1e-7))
    for radius in (0.5, 1):
      other = displaced(fish, radius, 60)
      found = records[run(coupling, radius=radius)]["group"][-1]
      ax.plot(radius, shift(other), "o", color=colour)
      checks.append(at_most(f"{NAMES[coupling]}, {radius:g} rad: position after a stroke minus that of the other program",
                            float(np.max(np.abs(found - other))), 1e-5))
  return checks


if __name__ == "__main__":
  figure.main(globals())
