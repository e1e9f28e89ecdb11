#!/usr/bin/python3
"""Ellipsoids thrown through air into water, with each face in its own medium; and a floating ball."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import surfaces
from checks import at_most, near
from immersed import AIR, GRAVITY, WATER, Body, draw_outline
from runs import Run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, plt

TITLE = "Ellipsoids thrown through air into water"
CAPTION = ("Half axes 15, 8 and 6 cm, 1297.4 kg/m³, thrown with 2 m/s forwards and upwards from half a metre above the "
           "water with four tilts and spins; drawn every 0.15 s. Upper right: energy of the first one, with that of "
           "the fluid; dotted: plus the energy lost by lift and drag. Lower right: height of a ball of 600 kg/m³; the "
           "line is the draught by Archimedes, (1 + s)²(2 - s)/4 = (600 - ρ_air)/(ρ_water - ρ_air), s = -z/r.")
DRAGGED, FLOAT = Run("immersed/ellipsoids"), Run("immersed/floating")
STEPS = (1 / 400, 1 / 800, 1 / 1600, 1 / 3200)
FREE = [Run("immersed/ellipsoids", ("bodies.0.drag=false", "bodies.0.repeat.count=1", f"integrator.step={h:g}",
                                    "time.end=0.8", f"record.every={round(0.0025 / h)}")) for h in STEPS]
AXES, RADIUS, DENSITY, FLOATING, START = (0.15, 0.08, 0.06), 0.1, 1297.4, 600.0, 0.5
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)


def runs(full):
  return [DRAGGED, FLOAT] + FREE


def draw(records, full):
  canvas = plt.figure(figsize=(13.5, 5.2))
  grid = canvas.add_gridspec(2, 2, width_ratios=(2, 1))
  paths, energy, height = (canvas.add_subplot(place) for place in (grid[:, 0], grid[0, 1], grid[1, 1]))
  record = records[DRAGGED]
  bodies = [Body(record, f"ellipsoid.{k}") for k in range(4)]
  x = [surfaces.ellipsoid(AXES)[0]]
  paths.axhspan(-4, 0, color=SKY, alpha=0.2, linewidth=0)
  for body, colour in zip(bodies, COLOURS):
    turn = body.rotation()
    paths.plot(body["plot_position"][:, 0], body["plot_position"][:, 2], color=colour, linewidth=0.8)
    for k in range(0, len(body.time), round(0.15 / (body.time[1] - body.time[0]))):
      draw_outline(paths, x, body["pose"][k], turn[k], color=colour)
  paths.set(xlabel="$x$ (m)", ylabel="$z$ (m)", xlim=(-0.3, 5), ylim=(-1.7, 1))
  paths.set_aspect("equal")
  checks = draw_energy(energy, bodies) + without_drag(records) + draw_floating(height, Body(records[FLOAT], "ball"))
  return figure.Drawing(canvas, checks)


def draw_energy(ax, bodies):
  first = bodies[0]
  t, lost = first.time, -first.work(["drag"])
  for values, colour, style, label in ((first["body_kinetic_energy"], BLUE, "-", "kinetic"),
                                       (first["body_potential_energy"], GREEN, "-", "potential"),
                                       (first["body_energy"], BLACK, "-", "both"),
                                       (first["body_energy"] + lost, VERMILION, ":", "both, plus the loss by drag")):
    ax.plot(t, values, style, color=colour, label=label)
  ax.set(xlabel="time (s)", ylabel="energy (J)", xlim=(0, 3))
  ax.legend(loc="upper right", bbox_to_anchor=(1, 0.95))
  checks = [at_most("(energy - work of lift and drag) / exchanged energy",
                    max(b.unbalance() for b in bodies), 2e-2)]
  for k, body in enumerate(bodies):
    buoyancy = body.force("buoyancy")[:, 2]
    for row, density, where in ((0, AIR, "in air"), (-1, WATER, "in water")):
      checks.append(near(f"ellipsoid {k + 1}: buoyancy {where} / (ρVg)",
                         float(buoyancy[row] / (density * body.mass / DENSITY * GRAVITY)), 1, 1e-10))
  return checks


def without_drag(records):
  """Conserved quantities across the surface: horizontal momentum, vertical angular momentum, and energy except for the step's
  error. Forces jump when faces touch the water, so this error is of first order."""
  drift, kept = [], 0
  for run in FREE:
    body = Body(records[run], "ellipsoid.0")
    energy, p = body["body_energy"], body["spatial_momentum"]
    drift.append(float(np.max(np.abs(energy - energy[0])) / np.ptp(body["body_kinetic_energy"])))
    conserved = p[:, [2, 3, 4]]
    kept = max(kept, np.max(np.abs(conserved - conserved[0])) / np.max(np.abs(p)))
  t = body.time
  air = t < 0.5
  fall = (1 - AIR / DENSITY) * GRAVITY * t[air] ** 2 / 2
  high = float(np.max(np.abs(body["plot_position"][air, 2] - START - 2 * t[air] + fall)))
  return [at_most("without drag: drift of horizontal momentum and vertical angular momentum", float(kept), 1e-12),
          at_most("without drag: drift of the energy at h = 1/3200 s / exchanged energy", drift[-1], 3e-3),
          at_most("without drag: that drift / drift at h = 1/400 s (first order)", drift[-1] / drift[0], 0.5),
          at_most("without drag, in air: height minus the parabola (m), which neglects the added mass of air", high,
                  2e-3)]


def draw_floating(ax, body):
  t, z = body.time, body["plot_position"][:, 2]
  wanted = (FLOATING - AIR) / (WATER - AIR)
  roots = np.roots([-1, 0, 3, 2 - 4 * wanted])
  s = float(next(r.real for r in roots if abs(r.imag) < 1e-9 and abs(r.real) <= 1))
  ax.plot(t, z, color=BLUE)
  ax.axhline(-s * RADIUS, color=GREY, linewidth=0.8)
  ax.set(xlabel="time (s)", ylabel="height of its middle (m)", xlim=(0, 6), title="floating ball")
  late = t > t[-1] - 1
  volume = 4 / 3 * np.pi * RADIUS ** 3
  return [near("floating ball: (height of its middle - Archimedes' value) / radius", float(z[late].mean() / RADIUS), -s,
               1e-2),
          at_most("floating ball: its motion in the last second (m)", float(np.ptp(z[late])), 1e-3),
          near("floating ball: buoyancy / weight", float(body.force("buoyancy")[-1, 2] / (body.mass * GRAVITY)), 1,
               2e-3),
          near("floating ball: mass / (ρ(4/3)πr³)", float(body.mass / (FLOATING * volume)), 1, 2e-2)]


if __name__ == "__main__":
  figure.main(globals())
