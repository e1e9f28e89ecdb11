#!/usr/bin/python3
"""Sinking by the local model's added mass and by the exact one; and the program against another that shares nothing."""
import numpy as np

import _paths  # noqa: F401  (first of ours: it makes the next ones importable)

import figure
import kirchhoff
import surfaces
from checks import at_most, near
from immersed import SILICONE, WATER, Body
from runs import SCENARIOS, Run
from sinking import Sinking, local
from style import BLACK, BLUE, GREEN, ORANGE, panels

TITLE = "Sinking by the local and by the exact added mass"
CAPTION = ("Left: paths of silicone bodies in water, let go at a slant; solid by the local model, dashed by "
           "Kirchhoff's tensor (closed form for the disc, boundary elements for the others), both with the same lift "
           "and drag. Right: their speeds of fall. The dashed ones are computed by the classical Runge–Kutta method, "
           "which with the local tensor also repeats the stone's run (dots).")
STEPS = (1 / 400, 1 / 800)
RUNS = [Run("immersed/sinking")] + [Run("immersed/sinking", (f"integrator.step={STEPS[1]:g}", "record.every=8"))]
COLOURS = {"disc": ORANGE, "coin": BLUE, "tilted-propeller": GREEN, "stone": BLACK}
DISC, APART = (0.06, 0.06, 0.012), 0.2


def runs(full):
  return RUNS


def stone():
  """Vertices and faces of the file that the run reads."""
  lines = [line.split() for line in (SCENARIOS / "immersed" / "stone.obj").read_text().splitlines()]
  return (np.array([w[1:] for w in lines if w[0] == "v"], dtype=float),
          np.array([w[1:] for w in lines if w[0] == "f"], dtype=int) - 1)


def draw(records, full):
  canvas, ((paths, speeds),) = panels(1, 2, 5.8, 5)
  meshes = {"disc": surfaces.ellipsoid(DISC, 20, 40), "coin": surfaces.cylinder(0.05, 0.005, 13, 4, 36),
            "tilted-propeller": surfaces.propeller(), "stone": stone()}
  exact = {name: kirchhoff.solid(*mesh) for name, mesh in meshes.items() if name != "disc"}
  exact["disc"] = np.diag(np.concatenate(kirchhoff.ellipsoid(DISC)[::-1]))
  record = records[RUNS[0]]
  checks, rows = [], []
  for name, colour in COLOURS.items():
    body = Body(record, name)
    t, pose = body.time, body["pose"]
    step = t[1] - t[0]
    other, twist = Sinking(*meshes[name], SILICONE, WATER, exact[name]).run(pose[0], step, len(t) - 1)
    aside = np.array([APART * len(rows) - pose[0, 0], 0])  # drawn side by side
    paths.plot(*(pose[:, [0, 2]] + aside).T, color=colour, label=name.replace("-", " "))
    paths.plot(*(other[:, [0, 2]] + aside).T, "--", color=colour, linewidth=1)
    fall, other_fall = -np.gradient(pose[:, 2], t), -np.gradient(other[:, 2], t)
    speeds.plot(t, fall, color=colour)
    speeds.plot(t, other_fall, "--", color=colour, linewidth=1)
    late = t > 3
    ratio = float(fall[late].mean() / other_fall[late].mean())
    apart = float(np.max(np.linalg.norm(pose[:, :3] - other[:, :3], axis=1)))
    half = [float(t[np.argmax(p[:, 2] < -0.4)]) for p in (pose, other)]
    rows.append([name, f"{ratio:.4f}", f"{apart:.4f}", f"{half[0]:.2f}", f"{half[1]:.2f}"])
    checks.append(near(f"{name}: speed of fall in the last second by that with the exact tensor", ratio, 1, 0.05))
  checks += repeat(paths, records, meshes["stone"], aside)
  paths.set(xlabel="$x$ (m)", ylabel="$z$ (m)", ylim=(-0.95, 0.05))
  paths.set_aspect("equal")
  speeds.legend(handles=paths.lines[:7:2], loc="center right", bbox_to_anchor=(1, 0.7))
  speeds.set(xlabel="time (s)", ylabel="speed of fall (m/s)", xlim=(0, 4), ylim=(0, 0.45))
  header = ["body", "end speed, local by exact", "largest distance (m)", "0.4 m deep after (s), local", "exact"]
  return figure.Drawing(canvas, checks, [figure.Table("By the local and by the exact tensor", header, rows)])


def repeat(paths, records, mesh, aside):
  """The stone by the other program, with the local tensor: the difference is the step's error, of second order."""
  first, finer = (Body(records[run], "stone") for run in RUNS)
  program = Sinking(*mesh, SILICONE, WATER, local(*mesh))
  step = first.time[1] - first.time[0]
  pose, twist = program.run(first["pose"][0], step, len(first.time) - 1)
  paths.plot(*(pose[::20, [0, 2]] + aside).T, "o", color=COLOURS["stone"], markersize=3)
  error = [float(np.max(np.abs(body["pose"] - pose))) for body in (first, finer)]
  K = float(np.max(np.abs(first["inertia"][0] - program.K)) / np.max(program.K))
  return [at_most("stone: tensor of body and fluid less that of the other program, by its largest", K, 1e-12),
          at_most("stone: places (m) and quaternions over 4 s less the other program's, h = 1/400 s", error[0], 1e-3),
          near("stone: order of that difference in h", float(np.log2(error[0] / error[1])), 2, 0.1),
          at_most("stone: twist at the end less the other program's, by its largest",
                  float(np.max(np.abs(first["twist"][-1] - twist[-1])) / np.max(np.abs(twist))), 1e-3)]


if __name__ == "__main__":
  figure.main(globals())
