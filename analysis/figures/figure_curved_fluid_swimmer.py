#!/usr/bin/python3
"""Three balls in a perfect fluid that fills S3, H3 or (nearly) E3 swim because of the curvature of their space."""
import numpy as np
from matplotlib.collections import LineCollection

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most, between, near
from runs import Run
from style import BLACK, GREY, ORANGE, SPACE_COLOR, SPACE_NAME, panels

TITLE = "Swimming in a perfect curved fluid"
CAPTION = ("An apex and two tips are neutrally buoyant balls on legs that stretch, spread, shrink and close. First: "
           "shift per gait over the balls' radius. The lines at the left are the limit of small balls: a swimmer "
           "without fluid with the same effective masses (Avron & Kenneth). In E³ (curvature 10⁻⁸) only the "
           "hydrodynamic interaction of the balls gives a shift. Second: the contribution of this interaction, which "
           "grows as the cube of the radius (grey). Third: the path during a gait. Last: outlines of the balls (a = "
           ".1) in the ball model of H³ and in the stereographic projection of S³ (shifted by .8 to the right), at the "
           "start (grey), halfway, and after a gait (black).")
SPACE = {"s3": "{name: s3, curvature: 1}", "e3": "{name: s3, curvature: 1e-8}", "h3": "{name: h3, curvature: -1}"}
LIMIT = {"s3": -0.10051356558, "e3": 0.0, "h3": 0.06148161579}
PANELS = {"s3": -0.100660024, "h3": 0.061431614}  # shifts for a = .025, from multipoles
RADII = (0.025, 0.0375, 0.05, 0.075, 0.1)


def swim(space, a, full):
  size = tuple(f"bundle.shape.{k}.shape.radius={a:g}" for k in range(3)) + \
      tuple(f"bundle.shape.{k}.shape.resolution={16 if full else 12}" for k in range(3))
  return Run("curved-fluid/swimmer", (f"bundle.space={SPACE[space]}",) + size)


def runs(full):
  return [swim(space, a, full) for space in SPACE for a in RADII]


def shift(record, space):
  """Displacement along the axis of symmetry, from pairs of quaternions in S3 or matrices in H3."""
  g = record["group"]
  if space == "h3":
    return np.arcsinh(g.reshape(len(g), -1)[:, 3])
  return 2 * np.arcsin(g[:, 1]) / (1 if space == "s3" else 1e-4)


def draw(records, full):
  canvas, ((shifts, added), (way, bodies)) = panels(2, 2, 3.8, 3.3)
  checks = []
  for space in SPACE:
    colour, name = SPACE_COLOR[space], SPACE_NAME[space]
    X = np.array([shift(records[swim(space, a, full)], space)[-1] for a in RADII])
    shifts.plot(RADII, X, "o-", color=colour, label=name, markersize=4)
    shifts.plot([0, 0.02], [LIMIT[space]] * 2, color=colour, linewidth=3, alpha=0.4)
    added.loglog(RADII, np.abs(X - LIMIT[space]), "o-", color=colour, label=name, markersize=4)
    record = records[swim(space, 0.05, full)]
    way.plot(record["time"], shift(record, space), "o-", color=colour, label=name, markersize=3)
    if space in PANELS:
      checks.append(near(f"{space.upper()}, a = .025: shift of a gait minus that from multipoles", float(X[0]),
                         PANELS[space], 5e-3 * abs(PANELS[space])))
    if space == "e3":
      order = float(np.polyfit(np.log(RADII[:3]), np.log(np.abs(X[:3])), 1)[0])
      checks.append(between("E3: order of the shift in the radius", order, 2.8, 3.2))
      checks.append(at_most("E3: shift at a = .025", float(abs(X[0])), 2e-4))
  a = np.array([0.025, 0.1])
  added.loglog(a, 6 * a ** 3, color=GREY, linewidth=1)
  for ax, what in ((shifts, "shift of a gait"), (added, "shift minus that of small balls")):
    ax.set(xlabel="radius of the balls", ylabel=what)
    ax.legend()
  shifts.axhline(0, color=BLACK, linewidth=0.8)
  way.set(xlabel="time (gaits)", ylabel="shift")
  way.legend()
  draw_balls(bodies, records, full)
  return figure.Drawing(canvas, checks)


def draw_balls(ax, records, full):
  for space, beside in (("h3", 0), ("s3", 0.8)):
    record = records[swim(space, 0.1, full)]
    x = record["plot_position"]
    ends = np.stack([record["bond_i"], record["bond_j"]], axis=1)
    rows = (0, (len(x) - 1) // 2, len(x) - 1)
    for row, colour in zip(rows, (GREY, ORANGE, BLACK)):
      lines = x[row][ends][:, :, :2] + [beside, 0]
      ax.add_collection(LineCollection(lines, colors=colour, linewidths=0.4))
    ax.text(beside, 0.62, SPACE_NAME[space])
  ax.set(xlim=(-0.3, 1.2), ylim=(-0.75, 0.75), aspect="equal", xlabel="$x$ (picture)", ylabel="$y$ (picture)")


if __name__ == "__main__":
  figure.main(globals())
