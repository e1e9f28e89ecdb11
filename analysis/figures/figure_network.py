#!/usr/bin/python3
"""An elastic shell of 642 particles thrown across H3 and S3 (a network, as proposed in section 2.3 of the thesis)."""
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from mpl_toolkits.mplot3d.art3d import Line3DCollection

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most
from runs import Run
from style import STRETCH, SPACE_COLOR, SPACE_LINE, SPACE_NAME, equal_scale, picture_axes, plt

TITLE = "An elastic shell thrown across H³ and S³"
CAPTION = ("A geodesic sphere of 642 particles starts with the velocities of a Killing field. Colour: change of length "
           "of the springs along its edges. In H³ geodesics diverge and the shell widens across its path; in S³ they "
           "converge. Each panel is as wide as the shell; near the boundary of the ball the plot coordinates shrink "
           "it.")
SPACES, SHOTS = ("h3", "s3"), 4
COLORS, RANGE = STRETCH, Normalize(-0.15, 0.15)


def run(space):
  return Run(f"networks/shell-{space}")


def runs(full):
  return [run(space) for space in SPACES]


def draw(records, full):
  canvas = plt.figure(figsize=(11.5, 8.6))
  grid = canvas.add_gridspec(3, SHOTS, height_ratios=(1, 1, 0.85))
  shots = []
  energy, strain = canvas.add_subplot(grid[2, :2]), canvas.add_subplot(grid[2, 2:])
  checks = []
  for row, space in enumerate(SPACES):
    record = records[run(space)]
    t, x, length = record["time"], record["plot_position"], record["separation"]
    i, j = record["bond_i"], record["bond_j"]
    edges = length[0] < 1.4 * np.min(length[0])  # the mesh's edges; the bending springs are longer
    change = length[:, edges] / length[0, edges] - 1
    for column in range(SHOTS):
      k = round(column * (len(t) - 1) / (SHOTS - 1))
      axes = picture_axes(canvas, grid[row, column])
      shots.append(axes)
      lines = np.stack([x[k, i[edges]], x[k, j[edges]]], axis=1)
      axes.add_collection3d(Line3DCollection(lines, colors=COLORS(RANGE(change[k])), linewidths=0.8))
      middle = np.mean(x[k], axis=0)
      equal_scale(axes, middle, 0.8 * np.max(np.abs(x[k] - middle)))
      axes.view_init(elev=18, azim=-65)
      axes.set_title(f"{SPACE_NAME[space]}, $t = {t[k]:.1f}$")
    drift = np.abs(record["energy"] / record["energy"][0] - 1)
    energy.semilogy(t, np.maximum(drift, 1e-17), SPACE_LINE[space], color=SPACE_COLOR[space], label=SPACE_NAME[space])
    look = {"linestyle": SPACE_LINE[space], "color": SPACE_COLOR[space]}
    strain.plot(t, np.min(change, axis=1), label=f"{SPACE_NAME[space]}: least and greatest", **look)
    strain.plot(t, np.max(change, axis=1), **look)
    name = space.upper()
    checks += [Check(f"{name}: number of particles", str(x.shape[1]), "≥ 500", x.shape[1] >= 500),
               at_most(f"{name}: positions that are not finite numbers", np.count_nonzero(~np.isfinite(x)), 0),
               at_most(f"{name}: relative drift of the energy", float(np.max(drift)), 1e-8),
               at_most(f"{name}: drift of the six Killing momenta", record.drift("killing_momentum"), 1e-12)]
  energy.set(xlabel="time $t$", ylabel="relative energy error", xlim=(0, float(t[-1])))
  strain.set(xlabel="time $t$", ylabel="change of edge lengths", xlim=(0, float(t[-1])))
  energy.legend()
  strain.legend()
  bar = canvas.colorbar(ScalarMappable(RANGE, COLORS), ax=shots, shrink=0.6, pad=0.01)
  bar.set_label("change of length / initial length")
  return figure.Drawing(canvas, checks)


if __name__ == "__main__":
  figure.main(globals())
