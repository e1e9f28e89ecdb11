#!/usr/bin/python3
"""A disc, a propeller and a rabbit-like body fall through water, with the exact added mass, and through vacuum."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import kirchhoff
import surfaces
from checks import at_least, at_most, near
from immersed import GRAVITY, SILICONE, WATER, Body, draw_mesh
from runs import Run
from sinking import Sinking
from style import BLACK, BLUE, GREEN, ORANGE, VERMILION, plt

TITLE = "A disc, a propeller and a rabbit in water and in vacuum"
CAPTION = ("Silicone, 1297.4 kg/m³, in water of 998 kg/m³ and in vacuum; Kirchhoff's equations with the exact added "
           "mass, weight and buoyancy, without drag. Above: bodies every 0.1 s, time from top to bottom, relative to "
           "their start; the final depths are written below. The first three start at rest: in vacuum they do not "
           "rotate; in water the disc oscillates around the horizontal, the propeller spins while it sinks, the rabbit "
           "turns over. The last two start with a spin: in vacuum they tumble freely, in water the motion is "
           "different. Below: spins in water (solid) and in vacuum (dashed); dots: classical Runge–Kutta method with "
           "the tensor of a closed form (disc) or of `reference/kirchhoff.py`. After figures 4.1 to 4.3 of the "
           "Kirchhoff thesis, which has another propeller and rabbit.")
RUN = Run("immersed/water-and-vacuum")
VACUUM, COARSE = (Run("immersed/water-and-vacuum", ("fluid.medium=none",) + more)
                  for more in ((), ("integrator.step=0.00125", "record.every=4")))
BODIES = {"disc": ORANGE, "propeller": VERMILION, "rabbit": GREEN, "spinning-disc": BLUE, "spinning-rabbit": BLACK}
SHOTS, APART = 11, 0.17
DISC = (0.06, 0.06, 0.012)


def runs(full):
  return [RUN, VACUUM, COARSE]


def meshes():
  disc, rabbit = surfaces.ellipsoid(DISC, 24, 48), surfaces.rabbit()
  return {"disc": disc, "propeller": surfaces.propeller(levels=12, around=12), "rabbit": rabbit, "spinning-disc": disc,
          "spinning-rabbit": rabbit}


def tensors(shapes):
  disc = np.diag(np.concatenate(kirchhoff.ellipsoid(DISC)[::-1]))
  rabbit = kirchhoff.solid(*shapes["rabbit"])
  return {"disc": disc, "propeller": kirchhoff.solid(*shapes["propeller"]), "rabbit": rabbit, "spinning-disc": disc,
          "spinning-rabbit": rabbit}


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 9.6))
  grid = canvas.add_gridspec(2, 6, height_ratios=(2.4, 1))
  wet_ax, dry_ax = (canvas.add_subplot(grid[0, 3 * k:3 * k + 3]) for k in (0, 1))
  right = [canvas.add_subplot(grid[1, 2 * k:2 * k + 2]) for k in range(3)]
  shapes = meshes()
  wet, dry = ({name: Body(records[run], name) for name in BODIES} for run in (RUN, VACUUM))
  for ax, bodies, title in ((wet_ax, wet, "in water"), (dry_ax, dry, "in vacuum")):
    strips(ax, bodies, shapes)
    ax.set_title(title)
  K = tensors(shapes)
  checks = compare(records, wet, dry, shapes, K, right)
  shown = (("disc", 1, "disc: spin about $y$"), ("propeller", 2, "propeller: about $z$"),
           ("spinning-rabbit", None, "spinning rabbit: $|\\omega|$"))
  for ax, (name, axis, label) in zip(right, shown):
    for bodies, line in ((wet, "-"), (dry, "--")):
      body = bodies[name]
      spin = body["twist"][:, axis] if axis is not None else np.linalg.norm(body["twist"][:, :3], axis=1)
      ax.plot(body.time, spin, line, color=BODIES[name], linewidth=1.2)
    ax.set(ylabel=f"{label} (1/s)", xlim=(0, 1))
  right[2].set(xlabel="time (s)")
  return figure.Drawing(canvas, checks + claims(wet, dry, K))


def strips(ax, bodies, shapes):
  """Draws time downwards: positions relative to the start, without depth."""
  for column, (name, body) in enumerate(bodies.items()):
    turn = body.rotation()
    rows = np.linspace(0, len(body.time) - 1, SHOTS).round().astype(int)
    for shot, k in enumerate(rows):
      pose = body["pose"][k].copy()
      pose[2] = 0
      draw_mesh(ax, shapes[name], pose, turn[k], BODIES[name],
                aside=(0.24 * column - body["pose"][0, 0], -APART * shot))
    ax.text(0.24 * column, 0.12, name.replace("-", "\n"), ha="center", va="bottom", fontsize=8)
    ax.text(0.24 * column, -APART * (SHOTS - 0.35), f"{-body['pose'][-1, 2]:.2f} m", ha="center", va="top", fontsize=8)
  ax.set(xlim=(-0.14, 1.12), ylim=(-APART * SHOTS - 0.02, 0.24), xticks=[],
         yticks=-APART * np.arange(SHOTS), yticklabels=[f"{t:.1f}" for t in np.linspace(0, 1, SHOTS)])
  ax.set(ylabel="time (s)")
  ax.set_aspect("equal")
  ax.grid(False)


def compare(records, wet, dry, shapes, K, axes):
  """Comparison with the other program, which has another mesh of the propeller."""
  checks = []
  panel = {"disc": (axes[0], lambda Y: Y[:, 1]), "propeller": (axes[1], lambda Y: Y[:, 2]),
           "spinning-rabbit": (axes[2], lambda Y: np.linalg.norm(Y[:, :3], axis=1))}
  for name in BODIES:
    for bodies, fluid, where in ((wet, WATER, "water"), (dry, 0, "vacuum")):
      body = bodies[name]
      other = Sinking(*shapes[name], SILICONE, fluid, K[name], drag=False)
      step = body.time[1] - body.time[0]
      pose, twist = other.run(body["pose"][0], step / 2, 2 * len(body.time) - 2, body["twist"][0])
      angle = apart(pose, body)
      if fluid and name in panel:
        ax, of = panel[name]
        ax.plot(body.time[::10], of(twist[::20]), "o", color=BODIES[name], markersize=3)
      if fluid and name == "propeller":
        checks.append(near("propeller in water: final spin / the other program's",
                           float(body["twist"][-1, 2] / twist[-1, 2]), 1, 0.05))
      else:
        checks.append(at_most(f"{name} in {where}: largest angle between it and the other program's (°)", angle, 2))
  coarse = Body(records[COARSE], "spinning-rabbit")
  checks.append(near("spinning rabbit in vacuum: order of this angle in h, from 1/800 s to 1/1600 s",
                     float(np.log2(apart(pose, coarse) / angle)), 2, 0.1))
  return checks


def apart(pose, body):
  """Largest angle (°) between a body and reference poses with half its interval."""
  cosine = np.min(np.abs(np.sum(pose[::2, 3:] * body["pose"][:, 3:], axis=1)))
  return float(np.degrees(2 * np.arccos(min(1, cosine))))


def claims(wet, dry, K):
  """Checks of statements of the thesis."""
  rest = ("disc", "propeller", "rabbit")
  turned = max(float(np.max(np.abs(dry[name]["pose"][:, 3:] - dry[name]["pose"][0, 3:]))) for name in rest)
  t = dry["rabbit"].time
  fallen = max(float(np.max(np.abs(dry[name]["pose"][:, 2] - dry[name]["pose"][0, 2] + GRAVITY * t * t / 2)))
               for name in rest)
  rock = wet["disc"]["twist"][:, 1]
  propeller = wet["propeller"]["twist"]
  inertia = wet["propeller"]["inertia"][0]
  rabbit = wet["rabbit"].rotation()[:, 2, 2]
  other = [float(np.max(np.linalg.norm(wet[name]["twist"][:, :3] - dry[name]["twist"][:, :3], axis=1)))
           for name in ("spinning-disc", "spinning-rabbit")]
  energy = max(float(np.ptp(body["body_energy"]) / np.ptp(body["body_kinetic_energy"])) for body in wet.values())
  return [at_most("vacuum, at rest: change of the quaternions", turned, 1e-12),
          at_most("vacuum, at rest: depth minus gt²/2 (m)", fallen, 1e-9),
          at_least("disc in water: number of reversals of its oscillation", int(np.sum(np.diff(np.sign(rock[1:])) != 0)), 2),
          near("propeller in water: (ω/v) / (-K_ωv/K_ω) at all times", float(np.mean(
              propeller[1:, 2] / propeller[1:, 5] * inertia[2, 2] / inertia[2, 5])), -1, 1e-9),
          near("propeller: K_ωv/K_ω of body and fluid / that of `reference` on another mesh", float(
              inertia[2, 5] / (WATER * K["propeller"][2, 5])), 1, 0.05),
          at_most("rabbit in water: minimum cosine between its height and the vertical", float(rabbit.min()), 0.2),
          at_least("spinning disc: largest difference of ω in water and in vacuum (1/s)", other[0], 1),
          at_least("spinning rabbit: the same", other[1], 1),
          at_most("water: change of the energy / change of the kinetic energy", energy, 1e-3)]


if __name__ == "__main__":
  figure.main(globals())
