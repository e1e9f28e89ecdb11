#!/usr/bin/python3
"""Sinking with the local and the exact added mass; comparison with an independent program."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import kirchhoff
import surfaces
from checks import at_most, near
from immersed import SILICONE, WATER, Body, draw_mesh
from runs import Run
from sinking import Sinking, local
from style import BLACK, BLUE, GREEN, GREY, ORANGE, plt

TITLE = "Sinking with the local and the exact added mass"
CAPTION = ("Bodies of silicone in water, released with a tilt, every 0.25 s: with the local model (left) and with "
           "Kirchhoff's tensor (right), both with the same lift and drag, as in figure 2 of the paper (which has "
           "another rabbit). Below: fall speed; solid: local; dashed: exact; dots: classical Runge–Kutta method with "
           "closed forms and boundary elements of other programs. With the exact tensor disc and coin become "
           "horizontal sooner, and the propeller continues to wobble; the final speeds agree within 4 %.")
LOCAL, FINER, EXACT = (Run("immersed/sinking", settings) for settings in (
    (), ("integrator.step=0.00125", "record.every=8"), ("fluid.added_mass={name: exact, refine: false}",)))
PLACES = (0, 0.2, 0.4, 0.6, 1)  # for the drawn bodies
COLOURS = {"disc": ORANGE, "coin": BLUE, "tilted-propeller": GREEN, "stone": BLACK, "rabbit": GREY}
DISC, EACH, END = (0.06, 0.06, 0.012), 0.25, 3
# For these bodies the other program uses the faces of the run, which does not refine them; for the others it uses
# another mesh of the same body.
SAME = ("stone", "rabbit")


def runs(full):
  return [LOCAL, FINER, EXACT]


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 9))
  grid = canvas.add_gridspec(2, 2, height_ratios=(1.5, 1))
  left, middle = (canvas.add_subplot(grid[0, k]) for k in (0, 1))
  speeds = canvas.add_subplot(grid[1, :])
  meshes = {"disc": surfaces.ellipsoid(DISC, 20, 40), "coin": surfaces.cylinder(0.05, 0.005, 9, 4, 28),
            "tilted-propeller": surfaces.propeller(levels=12, around=12), "stone": surfaces.stone(),
            "rabbit": surfaces.rabbit()}
  tensor = {name: kirchhoff.solid(*mesh) for name, mesh in meshes.items() if name != "disc"}
  tensor["disc"] = np.diag(np.concatenate(kirchhoff.ellipsoid(DISC)[::-1]))
  checks, rows = [], []
  for place, (name, colour) in zip(PLACES, COLOURS.items()):
    bodies = [Body(records[run], name) for run in (LOCAL, EXACT)]
    for ax, body in zip((left, middle), bodies):
      aside = np.array([place - body["pose"][0, 0], 0])
      sink(ax, body, meshes[name], colour, aside)
      ax.text(place, 0.09, name.replace("-", "\n"), ha="center", va="bottom", fontsize=9)
    found, row = compare(speeds, name, bodies, meshes[name], tensor[name])
    checks += found
    rows.append(row)
  for ax, title in ((left, "local model"), (middle, "exact")):
    ax.set(xlabel="$x$ (m)", ylabel="$z$ (m)", xlim=(-0.1, 1.15), ylim=(-1.2, 0.17), title=title)
    ax.set_aspect("equal")
  speeds.legend(loc="center right", bbox_to_anchor=(1, 0.63), ncols=2)
  speeds.set(xlabel="time (s)", ylabel="fall speed (m/s)", xlim=(0, 4), ylim=(0, 0.52))
  header = ["body", "final speed, local / exact", "largest distance (m)", "0.4 m deep after (s), local", "exact"]
  return figure.Drawing(canvas, checks + repeat(records, meshes["stone"]),
                        [figure.Table("With the local and the exact tensor", header, rows)])


def sink(ax, body, mesh, colour, aside):
  turn = body.rotation()
  shown = body.time <= END
  ax.plot(*(body["pose"][shown][:, [0, 2]] + aside).T, color=colour, linewidth=0.7, alpha=0.6)
  for k in range(0, int(shown.sum()), round(EACH / (body.time[1] - body.time[0]))):
    draw_mesh(ax, mesh, body["pose"][k], turn[k], colour, aside)


def compare(speeds, name, bodies, mesh, tensor):
  """Checks of the two models, and of the exact one against the other program."""
  inexact, exact = bodies
  t = exact.time
  fall = [-np.gradient(body["pose"][:, 2], t) for body in bodies]
  speeds.plot(t, fall[0], color=COLOURS[name], label=name.replace("-", " "))
  speeds.plot(t, fall[1], "--", color=COLOURS[name], linewidth=1.2)
  pose, _ = Sinking(*mesh, SILICONE, WATER, tensor).run(exact["pose"][0], t[1] - t[0], len(t) - 1)
  other = -np.gradient(pose[:, 2], t)
  speeds.plot(t[::20], other[::20], "o", color=COLOURS[name], markersize=3)
  late = t > 3
  ratio = float(fall[0][late].mean() / fall[1][late].mean())
  apart = float(np.max(np.linalg.norm(inexact["pose"][:, :3] - exact["pose"][:, :3], axis=1)))
  half = [float(t[np.argmax(body["pose"][:, 2] < -0.4)]) for body in bodies]
  checks = [near(f"{name}: fall speed in the last second, local / exact", ratio, 1, 0.05)]
  if name in SAME:
    checks.append(at_most(f"{name}, exact: positions (m) and quaternions over 4 s minus the other program's, same faces",
                          float(np.max(np.abs(exact["pose"] - pose))), 3e-3))
  else:
    checks.append(near(f"{name}, exact: fall speed in the last second / the other program's, other faces",
                       float(fall[1][late].mean() / other[late].mean()), 1, 0.03))
  return checks, [name, f"{ratio:.4f}", f"{apart:.4f}", f"{half[0]:.2f}", f"{half[1]:.2f}"]


def repeat(records, mesh):
  """The stone with the local tensor, compared with the other program: the difference is the second-order error of the step."""
  first, finer = (Body(records[run], "stone") for run in (LOCAL, FINER))
  program = Sinking(*mesh, SILICONE, WATER, local(*mesh))
  step = first.time[1] - first.time[0]
  pose, twist = program.run(first["pose"][0], step, len(first.time) - 1)
  error = [float(np.max(np.abs(body["pose"] - pose))) for body in (first, finer)]
  K = float(np.max(np.abs(first["inertia"][0] - program.K)) / np.max(program.K))
  return [at_most("stone, local: (tensor of body and fluid - that of the other program) / largest entry", K, 1e-8),
          at_most("stone, local: positions (m) and quaternions over 4 s minus the other program's, h = 1/400 s", error[0],
                  1e-3),
          near("stone, local: order of this difference in h", float(np.log2(error[0] / error[1])), 2, 0.1),
          at_most("stone, local: (final twist - the other program's) / largest",
                  float(np.max(np.abs(first["twist"][-1] - twist[-1])) / np.max(np.abs(twist))), 1e-3)]


if __name__ == "__main__":
  figure.main(globals())
