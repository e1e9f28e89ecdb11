#!/usr/bin/python3
"""A swimmer without momentum moves along a geodesic of S2 and of H2, but not in E2."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most, fitted_order, near
from locomotion import Field, cycle_run, draw_bodies, field_run, path_run
from pictures import bond_in_picture, draw_circle, draw_sphere, geodesic, to_picture
from style import BLACK, BLUE, GREY, ORANGE, SPACE_COLOR, SPACE_NAME, equal_scale, picture_axes, plt

TITLE = "Swimming in curved space: S² and H², and E² where it is impossible"
CAPTION = ("An apex and two tips of mass 1, no momentum: the legs stretch (l: .3 to 1), spread (a: .4 to 1.2), shrink, "
           "close. Top: ten cycles in S², E² and H² (Poincaré's disc), the body at the start (grey), halfway and at "
           "the end (black), and the apex's path along the geodesic: backwards in S², forwards in H², no motion in E². "
           "Middle: −A and B in S² and H², of opposite sign. In E² A is not zero but B is, so no gait moves a flat "
           "swimmer. Bottom: ellipses of equal cost and bodies in S²; shift per cycle divided by that of a small "
           "swimmer, −2Kμ(1−μ)∮l² sin a dl da, over the radius of curvature; efficiency of rectangles that grow from "
           "the corner (.3, .4).")
SPACES = {"s2": 1, "e2": 0, "h2": -1}
CYCLES = 10
PRINTED = {"s2": -0.10051356558, "e2": 0.0, "h2": 0.06148161579}
RADII = (1, 1.5, 2, 3, 4, 6, 8, 12, 16)
GROWN = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2)
MU = 2 / 3
FLUX = (1 - 0.3 ** 3) / 3 * (np.cos(0.4) - np.cos(1.2))  # integral of l^2 sin a over the rectangle


def path(space):
  return path_run(f"points-swimmer-{space}", CYCLES * 80 + 1, (f"gait.repeat={CYCLES}",))


def field(space):
  return field_run(f"curved-swimmer-{space}", (0.2, 0.2), (1.2, 1.4))


def cycle(space, radius=1):
  return cycle_run(f"curved-swimmer-{space}", () if radius == 1 else (f"bundle.radius={radius:g}",))


def points(space):
  return cycle_run(f"points-swimmer-{space}")


def grown(space, part):
  l, a = 0.3 + 0.7 * part, 0.4 + 0.8 * part
  return cycle_run(f"curved-swimmer-{space}",
                   (f"gait.polygon.corners=[[0.3,0.4],[{l:.12g},0.4],[{l:.12g},{a:.12g}],[0.3,{a:.12g}]]",))


def runs(full):
  return [run(space) for run in (path, field, cycle, points) for space in SPACES] + \
      [cycle(space, R) for space in ("s2", "h2") for R in RADII] + \
      [grown(space, part) for space in ("s2", "h2") for part in GROWN]


def draw(records, full):
  canvas = plt.figure(figsize=(15, 13.6))
  top, middle, bottom = canvas.subfigures(3, 1, height_ratios=(1.35, 1, 1))
  checks = draw_motion(top, records)
  across = middle.subplots(1, 4)
  fields = {space: Field(records[field(space)], ("l", "a")) for space in SPACES}
  for k, space in enumerate(("s2", "h2")):
    fields[space].arrows(across[2 * k], 0, f"{SPACE_NAME[space]}: $-A$", equal=False)
    fields[space].height(across[2 * k + 1], 0, f"{SPACE_NAME[space]}: $B$", equal=False)
  below = bottom.subplots(1, 4)
  fields["s2"].ellipses(below[0], "$S^2$: equal cost, $M$", equal=False)
  draw_bodies(below[1], fields["s2"], legs, 5, "bodies", equal=False)
  checks += draw_small(below[2], records)
  found, table = draw_families(below[3], records)
  checks += [at_most("E²: B over the window, largest", float(np.max(np.abs(fields["e2"].B))), 1e-13),
             Check("B has one sign in S² and the other in H²",
                   f"{np.min(fields['s2'].B):.3g} to {np.max(fields['s2'].B):.3g}; {np.min(fields['h2'].B):.3g} to "
                   f"{np.max(fields['h2'].B):.3g}", "> 0; < 0",
                   bool(np.min(fields["s2"].B) > 0 > np.max(fields["h2"].B)))]
  return figure.Drawing(canvas, checks + found, [table])


def legs(r):
  """The body with straight legs, as in the Euclidean plane."""
  l, a = r
  return [l * np.array([[np.cos(s * a), np.sin(s * a)], [0, 0]]) for s in (1, -1)]


def draw_motion(canvas, records):
  checks = []
  for k, (space, K) in enumerate(SPACES.items()):
    record = records[path(space)]
    x, X = record["plot_position"], record["group"][:, 0]
    rows = [0, (len(x) - 1) // 2, len(x) - 1]
    shades = ((GREY, 1.2, 0.8), (ORANGE, 1.6, 0.9), (BLACK, 2.0, 1.0))
    if space == "s2":
      ax = picture_axes(canvas, 1, 3, 1)
      draw_sphere(ax)
      t = np.linspace(-np.pi, np.pi, 200)
      ax.plot(np.sin(t), 0 * t, np.cos(t), color=GREY, linewidth=0.8)
      for row, (colour, width, alpha) in zip(rows, shades):
        for tip in (1, 2):
          ax.plot(*geodesic(x[row, 0], x[row, tip], K).T, color=colour, linewidth=width, alpha=alpha)
        ax.plot(*x[row].T, "o", color=colour, markersize=5)
      ax.plot(*x[:, 0].T, color=SPACE_COLOR[space], linewidth=1.5)
      ax.view_init(elev=52, azim=-62)
      equal_scale(ax, (0.1, 0, 0.25), 0.85)
    else:
      ax = canvas.add_subplot(1, 3, k + 1)
      place = x[..., :2] if space == "e2" else to_picture(x)
      for row, (colour, width, alpha) in zip(rows, shades):
        for tip in (1, 2):
          line = place[row][[0, tip]] if space == "e2" else bond_in_picture(place[row, 0], place[row, tip], K)
          ax.plot(*line.T, color=colour, linewidth=width, alpha=alpha)
        ax.plot(*place[row].T, "o", color=colour, markersize=5)
      ax.plot(*place[:, 0].T, color=SPACE_COLOR[space] if space != "e2" else BLUE, linewidth=1.5)
      if space == "h2":
        draw_circle(ax)
      else:
        ax.set(xlim=(-1, 1), ylim=(-1, 1))
      ax.axhline(0, color=GREY, linewidth=0.6, zorder=0)
      ax.set_aspect("equal")
      ax.grid(False)
      ax.set(xticks=[], yticks=[])
      ax.spines[:].set_visible(False)
    name = SPACE_NAME[space]
    ax.set_title(f"{name}: {CYCLES} cycles, $X = {X[-1]:+.4f}$" if K else f"{name}: {CYCLES} cycles, $X = 0$")
    once, same = records.answer(cycle(space))["g"][0], records.answer(points(space))["g"][0]
    checks += [near(f"{space.upper()}: X of a cycle", once, PRINTED[space], 6e-12, 10),
               at_most(f"{space.upper()}: X of the bundle `points` minus that of the model", abs(same - once), 1e-12),
               at_most(f"{space.upper()}: the path's end less {CYCLES} cycles", float(abs(X[-1] - CYCLES * once)),
                       1e-11)]
  return checks


def draw_small(ax, records):
  checks = []
  for space in ("s2", "h2"):
    K = SPACES[space]
    X = np.array([records.answer(cycle(space, R))["g"][0] for R in RADII])
    law = -2 * K * MU * (1 - MU) * FLUX / np.array(RADII, float) ** 2
    ax.plot(RADII, X / law, "o-", color=SPACE_COLOR[space], label=SPACE_NAME[space], markersize=4)
    order, used = fitted_order([1 / R for R in RADII], np.abs(X / law - 1), 1e-12, top=0.1)
    checks.append(Check(f"{space.upper()}: X / X of the small swimmer - 1: order in 1/R",
                        f"{order:.3f} ({used} points)", "2 ± 0.05", bool(abs(order - 2) <= 0.05)))
  ax.axhline(1, color=BLACK, linewidth=0.8)
  ax.set(xscale="log", xlabel="radius of curvature $R$", ylabel="$X$ / that of the small swimmer", title="small swimmers")
  ax.set_xticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
  ax.minorticks_off()
  ax.legend()
  return checks


def draw_families(ax, records):
  rows, worst = [], 0.0
  for space in ("s2", "h2"):
    answers = [records.answer(grown(space, part)) for part in GROWN]
    X = np.array([answer["g"][0] for answer in answers])
    worst = max(worst, *(abs(answer["cbvi"][0] - answer["g"][0]) for answer in answers))
    eta = np.array([answer["efficiency"] for answer in answers])
    ax.plot(np.abs(X), eta, "o-", color=SPACE_COLOR[space], label=SPACE_NAME[space], markersize=3.5)
    best = int(np.argmax(eta))
    rows.append([space.upper(), f"{GROWN[best]:g}", f"{X[best]:.6f}", f"{eta[best]:.3e}"])
  ax.set(xlabel="shift $|X|$ of a cycle", ylabel="efficiency $X^2$/length$^2$", title="families of gaits")
  ax.ticklabel_format(axis="y", style="sci", scilimits=(-2, 2))
  ax.legend()
  return [at_most("rectangles: integral of B minus X (the group is commutative)", worst, 1e-11)], \
      figure.Table("Most efficient rectangle", ["space", "size (1: the scenario's)", "X", "efficiency"], rows)


if __name__ == "__main__":
  figure.main(globals())
