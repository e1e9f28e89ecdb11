#!/usr/bin/python3
"""Forces on a plate: lift and drag at every angle, the torque of a stream, added mass, and all forces during a fall."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_least, at_most, between
from immersed import GRAVITY, SILICONE, WATER, Body, fall, integral
from runs import Run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, panels

TITLE = "Forces on a plate: lift, drag and added mass"
CAPTION = ("Upper left: coefficients of lift and drag of a plate at rest in a stream over the angle of attack, and sin "
           "2α, 2 sin²α; dotted: 1.3 sin 2α and 2 sin²α, fitted to measurements of Caplan and Gardner. The torque "
           "divided by ρU²AL is that of the added mass, (δ/L) sin 2α with δ = ab/π(a + b). Upper right: a plate of 12 "
           "kg pushed by 20 N from rest in water; dots are v∞ tanh(Ft/Mv∞), with M = m + mₐ across. Below: a plate "
           "released with a tilt in water; its path, and the vertical forces on it. The inertia of the water is minus "
           "the rate of its momentum.")
ANGLES, PUSHED, FALLING = (Run(f"immersed/plate-{name}") for name in ("angles", "pushed", "falling"))
# Flat plate in a water channel: amplitudes of sin^2 alpha and sin 2 alpha fitted to the measurements of N. Caplan & T.
# Gardner, J. Sports Sci. 25 (2007) 643, by W. Atkinson (atkinsopht.com/row/liftdrag.htm).
MEASURED = {"drag": 2.0, "lift": 1.3}
AREA, FORCE, LONG, WIDE = 0.15, 20.0, 0.5, 0.3
VOLUME = 0.1 * 0.2 * 0.002  # for the falling plate


def runs(full):
  return [ANGLES, PUSHED, FALLING]


def added(a, b):
  """Added mass of a plate by the local model, for rho = 1: 2 a^2 b^2/(pi (a + b))."""
  return 2 * a * a * b * b / (np.pi * (a + b))


def draw(records, full):
  canvas, ((angles, pushed), (path, forces)) = panels(2, 2, width=5.6, height=3.7)
  checks = draw_angles(angles, records[ANGLES]) + draw_pushed(pushed, records[PUSHED]) + \
      draw_falling(path, forces, records[FALLING])
  return figure.Drawing(canvas, checks)


def draw_angles(ax, record):
  alpha = np.radians(2.0 * np.arange(91))
  w, x, y, z = record["pose"][0, :, 3:].T
  turn = 2 * np.arctan2(y, w)
  drag, stream = record["wrench_drag"][0], record["wrench_flow"][0]
  force = np.stack([np.cos(alpha) * drag[:, 3] + np.sin(alpha) * drag[:, 5], drag[:, 4],
                    -np.sin(alpha) * drag[:, 3] + np.cos(alpha) * drag[:, 5]], axis=1)
  c_d, c_l, torque = 2 * force[:, 0], 2 * force[:, 2], stream[:, 1]
  degrees = np.degrees(alpha)
  fine = np.linspace(0, np.pi, 200)
  for values, law, colour, label in ((c_d, 2 * np.sin(fine) ** 2, BLUE, "drag, $2\\sin^2\\alpha$"),
                                     (c_l, np.sin(2 * fine), ORANGE, "lift, $\\sin 2\\alpha$"),
                                     (torque, np.sin(2 * fine) * added(1, 1) / 2, GREEN, "torque of the added mass")):
    ax.plot(np.degrees(fine), law, color=colour, linewidth=1)
    ax.plot(degrees[::3], values[::3], "o", color=colour, markersize=3, label=label)
  ax.plot(np.degrees(fine), MEASURED["drag"] * np.sin(fine) ** 2, ":", color=BLACK, linewidth=1)
  ax.plot(np.degrees(fine), MEASURED["lift"] * np.sin(2 * fine), ":", color=BLACK, linewidth=1,
          label="fitted to measurements")
  ax.set(xlabel="angle of attack $\\alpha$ (degrees)", ylabel="coefficient", title="plate at rest in a stream",
         xlim=(0, 180), ylim=(-1.9, 2.1), xticks=range(0, 181, 30))
  ax.legend(loc="lower left")
  wanted = np.sin(alpha)[:, None] * np.stack([np.sin(alpha), 0 * alpha, np.cos(alpha)], axis=1)
  return [at_most("the plates' angles", float(np.max(np.abs(turn - alpha))), 1e-14),
          at_most("coefficient of drag minus 2 sin²α", float(np.max(np.abs(c_d - 2 * np.sin(alpha) ** 2))), 1e-13),
          at_most("coefficient of lift minus sin 2α", float(np.max(np.abs(c_l - np.sin(2 * alpha)))), 1e-13),
          at_most("force less -ρA|u|⟨u,n⟩n", float(np.max(np.abs(force - wanted))), 1e-13),
          between("drag and lift / fit to Caplan & Gardner's measurements",
                  [np.max(c_d) / MEASURED["drag"], np.max(c_l) / MEASURED["lift"]], 0.75, 1.05),
          at_most("torque of the stream minus mₐU² sin α cos α, mₐ = 2ρa²b²/π(a+b)",
                  float(np.max(np.abs(torque - added(1, 1) * np.sin(2 * alpha) / 2))), 1e-13)]


def draw_pushed(ax, record):
  heavier = WATER * added(LONG, WIDE)
  checks = []
  for name, colour, axis, extra, drag in (
      ("across", BLUE, 2, heavier, True), ("along", GREY, 0, 0, False),
      ("across-without-added-mass", ORANGE, 2, 0, True), ("across-without-drag", PURPLE, 2, heavier, False)):
    body = Body(record, name)
    t, v = body.time, body["plot_velocity"][:, axis]
    inertia = 12 + extra
    exact = fall(t, inertia, FORCE, WATER * AREA)[1] if drag else FORCE * t / inertia
    ax.plot(t, v, color=colour, label=name.replace("-", " "))
    ax.plot(t[::5], exact[::5], "o", color=colour, markersize=3)
    error = float(np.max(np.abs(v - exact)) / np.max(exact))
    # With drag: error of the step, of order h^2/(12 T^2) with the time T of approach; without drag: round-off.
    law = "v∞ tanh(Ft/Mv∞), Cd = 2" if drag else "Ft/M"
    checks.append(at_most(f"pushed {name.replace('-', ' ')}: speed minus {law}, M = {inertia:.4g} kg", error,
                          1e-5 if drag else 1e-12))
  ax.set(xlabel="time (s)", ylabel="speed (m/s)", title="12 kg pushed by 20 N in water", xlim=(0, 2), ylim=(0, 0.9))
  ax.legend(loc="center right", bbox_to_anchor=(1, 0.67))
  return checks


def draw_falling(path, forces, record):
  body = Body(record, "plate")
  t, x, turn = body.time, body["plot_position"], body.rotation()
  path.plot(x[:, 0], x[:, 2], color=GREY, linewidth=0.8)
  for k in range(0, len(t), 20):
    edge = np.outer([-0.05, 0.05], turn[k, :, 0]) + x[k]
    path.plot(edge[:, 0], edge[:, 2], color=BLUE, linewidth=1.5)
  path.set(xlabel="$x$ (m)", ylabel="$z$ (m)", title="a plate released with a tilt, every 0.2 s")
  path.set_aspect("equal")
  weight, drag = body.force("gravity") + body.force("buoyancy"), body.force("drag")
  momentum = body["spatial_momentum"][:, 3:]
  water = -np.gradient(momentum - body.mass * body["plot_velocity"], t, axis=0, edge_order=2)
  u = body["plot_velocity"]
  along = u / np.maximum(np.linalg.norm(u, axis=1), 1e-12)[:, None]
  against = np.sum(drag * along, axis=1)[:, None] * along
  for values, colour, label in ((weight, BLACK, "weight less buoyancy"), (against, BLUE, "drag"),
                                (drag - against, ORANGE, "lift"), (water, GREEN, "water's inertia"),
                                (weight + drag + water, VERMILION, "sum")):
    forces.plot(t, values[:, 2], color=colour, label=label, linewidth=1.2)
  forces.set(xlabel="time (s)", ylabel="vertical force (N)", xlim=(0, t[-1]), title="vertical forces on it")
  forces.margins(y=0.35)
  forces.legend(loc="upper right", ncols=3)
  change = momentum - momentum[0] - integral(t, weight + drag)
  inertia = body["inertia"][0]
  m = WATER * added(0.1, 0.2)
  reversals = int(np.sum(np.diff(np.sign(u[np.abs(u[:, 0]) > 1e-3, 0])) != 0))
  return [at_most("falling: mass, relative difference from ρab times the thickness",
                  abs(body.mass / (SILICONE * VOLUME) - 1), 1e-13),
          at_most("falling: (weight - buoyancy) / ((ρ_b - ρ)Vg) - 1",
                  abs(-weight[0, 2] / ((SILICONE - WATER) * VOLUME * GRAVITY) - 1), 1e-12),
          at_most("falling: added mass across, relative difference from 2ρa²b²/π(a+b)",
                  abs((inertia[5, 5] - body.mass) / m - 1), 1e-12),
          at_most("falling: (change of the momentum - impulse of the forces) / largest change",
                  float(np.max(np.abs(change)) / np.max(np.abs(momentum))), 1e-3),
          at_most("falling: (energy - work of lift and drag) / exchanged energy", body.unbalance(), 1e-3),
          at_least("falling: number of reversals of its sideways motion", reversals, 3)]


if __name__ == "__main__":
  figure.main(globals())
