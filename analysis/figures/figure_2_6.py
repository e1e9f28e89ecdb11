#!/usr/bin/python3
"""Figure 2.6: a ball as reference body, placed in E3, S3 and H3 as a solid of fixed volume."""
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most
from mesh import icosphere
from pictures import to_embedding
from runs import Run
from style import STRETCH, SPACE_COLOR, SPACE_LINE, SPACE_NAME, equal_scale, picture_axes, plt
from volume import bring_back, inside

TITLE = "Figure 2.6: a ball of fixed volume in E³, S³ and H³"
CAPTION = ("The reference body is a ball whose surface is an elastic net under tension. It may be placed in a space in "
           "any way that keeps its volume. This is one constraint; its multiplier is minus the pressure inside. Above: "
           "the reference body, and the bodies at the end; the colour is the mean change of length of a triangle's "
           "edges. Below: pressure (dots: Radau IIA), and change of the volume by an independent formula.")
CURVED = {"e3": 0, "s3": 1, "h3": -1}
COLORS, RANGE = STRETCH, Normalize(-0.06, 0.06)


def run(space, radau=False):
  return Run(f"constraints/volume-{space}", ("integrator.name=radau_iia", "integrator.stages=4") if radau else ())


def runs(full):
  return [run(space, radau) for space in CURVED for radau in (False, True)]


def volumes(record, space, triangles):
  """The volume at each row. The body is first moved back to the centre by the flow with which it was thrown."""
  K = CURVED[space]
  x = to_embedding(record["plot_position"], K) if K else record["plot_position"]
  return np.array([inside(bring_back(points, t, K), triangles, K) for points, t in zip(x, record["time"])])


def draw(records, full):
  canvas = plt.figure(figsize=(12, 6.4))
  above, below = canvas.subfigures(2, 1)
  pressure, change = below.subplots(1, 2)
  triangles = icosphere(1)[1]
  first = records[run("e3")]
  shots = [solid(above, (1, 4, 1), first["plot_position"][0], triangles, np.zeros(len(triangles)), "reference body $B$")]
  checks = []
  for column, space in enumerate(CURVED, start=2):
    record, other = records[run(space)], records[run(space, True)]
    shots.append(solid(above, (1, 4, column), record["plot_position"][-1], triangles, stretches(record, triangles),
                       f"{SPACE_NAME[space]}, $t = {record['time'][-1]:g}$"))
    t, volume = record["time"], volumes(record, space, triangles)
    look = {"color": SPACE_COLOR[space], "linestyle": SPACE_LINE[space]}
    pressure.plot(t, -record["multiplier"][:, 0], label=SPACE_NAME[space], **look)
    pressure.plot(t[::3], -other["multiplier"][::3, 0], "o", color=SPACE_COLOR[space], markersize=3)
    error = np.abs(volume / volume[0] - 1)
    change.semilogy(t, np.maximum(error, 1e-17), **look)
    name = space.upper()
    checks += [
        at_most(f"{name}: relative change of the volume", float(np.max(error)), 1e-12),
        at_most(f"{name}: difference of the pressure, Radau IIA 4 and Lobatto 4",
                float(np.max(np.abs(record["multiplier"] - other["multiplier"]))), 1e-8),
        at_most(f"{name}: difference of positions, Radau IIA 4 and Lobatto 4",
                float(np.max(np.abs(record["plot_position"] - other["plot_position"]))), 1e-8),
        at_most(f"{name}: relative drift of the energy", record.drift("energy"), 1e-9),
        at_most(f"{name}: drift of the Killing momenta", record.drift("killing_momentum"), 1e-12)]
  pressure.set(xlabel="time $t$", ylabel="pressure", xlim=(0, float(t[-1])))
  pressure.legend(ncols=3, loc="center", bbox_to_anchor=(0.5, 0.27))
  change.set(xlabel="time $t$", ylabel="relative change of volume", xlim=(0, float(t[-1])), ylim=(1e-17, 1e-11))
  bar = above.colorbar(ScalarMappable(RANGE, COLORS), ax=shots, shrink=0.8, pad=0.01)
  bar.set_label("change of length")
  return figure.Drawing(canvas, checks)


def stretches(record, triangles):
  """Mean change of length of the edges of each triangle at the end."""
  change = record["separation"][-1] / record["separation"][0] - 1
  edge = {tuple(sorted(pair)): c for pair, c in zip(zip(record["bond_i"], record["bond_j"]), change)}
  return np.array([np.mean([edge[tuple(sorted((a, b)))] for a, b in ((i, j), (j, k), (k, i))]) for i, j, k in triangles])


def solid(canvas, position, x, triangles, change, title):
  axes = picture_axes(canvas, *position)
  axes.add_collection3d(Poly3DCollection(x[triangles], facecolors=COLORS(RANGE(change)), edgecolors="white",
                                         linewidths=0.6, alpha=0.9))
  middle = np.mean(x, axis=0)
  equal_scale(axes, middle, np.max(np.abs(x - middle)))
  axes.view_init(elev=20, azim=-65)
  axes.set_title(title)
  return axes


if __name__ == "__main__":
  figure.main(globals())
