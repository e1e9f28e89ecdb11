#!/usr/bin/python3
"""Balls that move near a wall with the exact added mass, compared with multipoles of a ball and its image."""
import numpy as np
from matplotlib.patches import Circle
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_least, at_most
from immersed import WATER, Body
from runs import Run
from style import BLUE, GREY, ORANGE, VERMILION, panels
from two_spheres import pair

TITLE = "Balls near a wall"
CAPTION = ("Unit balls of the fluid's density move near the wall z = 0, without weight or drag and without interaction "
           "between them. Left: paths; lines by the program, dots by Lagrange's equations with the added mass from "
           "multipoles of a ball and its image. Middle: added mass along and across the wall (dots, on the paths of "
           "the balls), and from multipoles; the difference of 2 % is the volume that flat faces cut off. Right: "
           "velocity across the wall: the ball that passes is attracted by it; the one that approaches it is slowed "
           "down, but not stopped.")
RUN = Run("immersed/wall-balls")
COLOURS = {"along": BLUE, "slant": ORANGE, "at": VERMILION}
MASS = 4 / 3 * np.pi


def runs(full):
  return [RUN]


def masses_of_ball():
  """Splines of M_x(z) and M_z(z): mass plus added mass of a unit ball of the fluid's density."""
  heights = 1.02 + np.linspace(0, 1, 50) ** 2 * 1.4
  shares = [pair(2 * h) for h in heights]
  return [CubicSpline(heights, MASS + np.array([s[motion] for s in shares]))
          for motion in ("across, together", "along, opposed")]


def course(t, z, velocity, along, across):
  """Rows (x, z, z') with M_x(z) x' constant and (M_z z')' = (M_x' x'^2 + M_z' z'^2)/2."""
  p = along(z) * velocity[0]

  def rates(_, y):
    u, w = p / along(y[1]), y[2] / across(y[1])
    return [u, w, (along(y[1], 1) * u * u + across(y[1], 1) * w * w) / 2]

  rows = solve_ivp(rates, (t[0], t[-1]), [0, z, across(z) * velocity[1]], t_eval=t, rtol=1e-10, atol=1e-12).y
  return np.stack([rows[0], rows[1], rows[2] / across(rows[1])], axis=1)


def draw(records, full):
  canvas, ((paths, masses, speeds),) = panels(1, 3, 4.9, 4)
  checks = []
  along, across = masses_of_ball()
  for name, colour in COLOURS.items():
    body = Body(records[RUN], name)
    pose, v = body["pose"], body.world(body["twist"][:, 3:])
    other = course(body.time, pose[0, 2], v[0, [0, 2]], along, across)
    paths.plot(pose[:, 0], pose[:, 2], color=colour, label=name)
    paths.plot(*other[::5, :2].T, "o", color=colour, markersize=3.5)
    paths.add_patch(outline(pose[0], colour))
    speeds.plot(body.time, v[:, 2], color=colour, label=name)
    speeds.plot(body.time[::5], other[::5, 2], "o", color=colour, markersize=3.5)
    K = body["inertia"] / WATER
    masses.plot(pose[::5, 2], K[::5, 3, 3] - body.mass / WATER, "o", color=colour, markersize=3.5)
    masses.plot(pose[::5, 2], K[::5, 5, 5] - body.mass / WATER, "s", color=colour, markersize=3.5)
    energy = body["body_energy"]
    checks += [at_most(f"{name}: largest distance from the other program's ball (m)",
                       float(np.max(np.linalg.norm(pose[:, [0, 2]] - other[:, :2], axis=1))), 5e-3),
               at_most(f"{name}: (change of the velocity across the wall - the other program's) / largest speed",
                       float(np.max(np.abs(v[:, 2] - other[:, 2])) / np.max(np.linalg.norm(v, axis=1))), 0.01),
               at_most(f"{name}: change of the energy, relative", float(np.ptp(energy) / energy[0]), 1e-3)]
    # The difference comes from inscribed faces.
    exact = np.stack([along(pose[::5, 2]), across(pose[::5, 2])], axis=1) - MASS
    found = np.stack([K[::5, 3, 3], K[::5, 5, 5]], axis=1) - body.mass / WATER
    checks.append(at_most(f"{name}: added mass, relative difference from multipoles", float(np.max(np.abs(found / exact - 1))),
                          0.05))
    if name == "along":
      checks.append(at_least("along: final speed towards the wall (m/s)", float(-v[-1, 2]), 0.05))
    if name == "at":
      checks.append(at_most("at: final speed / initial speed", float(v[-1, 2] / v[0, 2]), 0.97))
  h = np.linspace(1.03, 2.1, 80)
  masses.plot(h, along(h) - MASS, color=GREY, label="along the wall")
  masses.plot(h, across(h) - MASS, "--", color=GREY, label="across it")
  masses.set(xlabel="height of the centre (m)", ylabel="added mass / density of the fluid (m³)")
  masses.legend()
  paths.axhspan(-0.3, 0, color=GREY, alpha=0.4)
  paths.set(xlabel="$x$ (m)", ylabel="$z$ (m)", xlim=(-1.2, 3), ylim=(-0.3, 3.3))
  paths.set_aspect("equal")
  paths.legend(loc="upper right")
  speeds.set(xlabel="time (s)", ylabel="velocity across the wall (m/s)")
  speeds.legend()
  return figure.Drawing(canvas, checks)


def outline(place, colour):
  return Circle(place[[0, 2]], 1, fill=False, edgecolor=colour, linewidth=0.7, linestyle=":")


if __name__ == "__main__":
  figure.main(globals())
