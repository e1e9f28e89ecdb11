#!/usr/bin/python3
"""Configuration spaces: double pendulum, heavy top, raft with a spherical pendulum, hopping leg."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import systems
from checks import at_most
from runs import Run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, equal_scale, picture_axes, plt

TITLE = "Configuration spaces: pendulum, top, raft, leg"
CAPTION = ("Systems given by coordinates, metric, potential and constraints. The top is released with its axis at "
           "rest, so its tip draws cusps. The raft moves back and forth under its pendulum and returns to its start "
           "whenever the pendulum does. A raft that can rotate turns in the opposite direction to the pendulum, by an "
           "angle that depends only on the tilt. The leg rotates its body by a loop of its shape. Dots and dashes are "
           "reduced equations and closed forms.")
METHODS = ("gauss", "lobatto", "radau_iia")
NAMES = ("double-pendulum", "heavy-top", "raft-pendulum", "hopping-leg-free")
COLOR = dict(zip(NAMES, (BLUE, VERMILION, GREEN, PURPLE)))
TILTS = (0.3, 0.6, 0.8, 1.1, 1.5)
ALLOWED = 1e-10


def free(name, method="gauss"):
  stages = {"gauss": "4", "lobatto": "5", "radau_iia": "5"}[method]
  settings = () if method == "gauss" else (f"integrator.name={method}", f"integrator.stages={stages}")
  return Run(f"systems/{name}", settings)


def turn(tilt):
  return Run("systems/raft-yaw", (f"system.parameters.tilt={tilt}",))


LEG = Run("systems/hopping-leg")


def runs(full):
  return [free(name, method) for name in NAMES for method in METHODS] + [turn(tilt) for tilt in TILTS] + [LEG]


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 10))
  checks = (pendulum_panel(canvas.add_subplot(3, 2, 1), records) + top_panel(picture_axes(canvas, 3, 2, 2), records)
            + raft_panel(canvas.add_subplot(3, 2, 3), records) + turn_panel(canvas.add_subplot(3, 2, 4), records)
            + leg_panel(canvas.add_subplot(3, 2, 5), records) + energy_panel(canvas.add_subplot(3, 2, 6), records))
  return figure.Drawing(canvas, checks)


def state(record):
  return record["position"][:, 0], record["momentum"][:, 0]


def pendulum_panel(axes, records):
  record = records[free("double-pendulum")]
  exact = systems.double_pendulum(record.times())
  upper = np.stack([np.sin(exact[:, 0]), -np.cos(exact[:, 0])], axis=1).astype(float)
  lower = upper + 0.8 * np.stack([np.sin(exact[:, 1]), -np.cos(exact[:, 1])], axis=1).astype(float)
  axes.plot(*record["plot_position"][:, 0, :2].T, color=BLUE, label="lower mass")
  axes.plot(*lower[::12].T, "o", color=BLUE, markersize=2.5, label="reduced equations")
  for k in (0, 60, 120):
    axes.plot(*np.stack([[0, 0], upper[k], lower[k]]).T, "o-", color=GREY, linewidth=1, markersize=3)
  axes.set(aspect="equal", title="double pendulum", xlabel="$x$", ylabel="$y$")
  axes.legend(loc="upper right")
  found = []
  for method in METHODS:
    q, _ = state(records[free("double-pendulum", method)])
    off = float(np.max(np.abs(q - exact[:, :2])))
    found.append(at_most(f"double pendulum, {method}: difference of the angles from the textbook's equations, t to 5",
                         off, ALLOWED))
  return found


def top_panel(axes, records):
  record = records[free("heavy-top")]
  u, v = np.mgrid[0:2 * np.pi:40j, 0:np.pi / 2:16j]
  axes.plot_wireframe(np.sin(v) * np.cos(u), np.sin(v) * np.sin(u), np.cos(v), color="#dddddd", linewidth=0.5)
  axes.plot(*record["plot_position"][:, 0].T, color=VERMILION, linewidth=1.3)
  axes.plot(*np.stack([np.zeros(3), record["plot_position"][0, 0]]).T, color=GREY)
  equal_scale(axes, (0, 0, 0.45), 0.75)
  axes.view_init(32, -60)
  axes.set_title("heavy top: tip of the axis")
  exact, found = systems.CuspedTop(), []
  period, precession, spin = exact.nutation()
  for method in METHODS:
    one = records[free("heavy-top", method)]
    q, p = state(one)
    t = one["time"]
    # full nutations after the start, and the angles at their end, interpolated between the rows
    count = int(t[-1] / period)
    phi, theta = (value_at(t, q[:, i], period * count) for i in (0, 1))
    found += [at_most(f"top, {method}: difference of the precession after {count} nutations from the quadrature",
                      abs(phi - count * precession), 1e-9),
              at_most(f"top, {method}: difference of theta there from the start", abs(theta - 0.8), 1e-9),
              at_most(f"top, {method}: drift of p_phi and p_psi", float(np.max(np.abs(p - p[0])[:, [0, 2]])), 1e-12),
              at_most(f"top, {method}: lowest point of the axis, difference from the quadrature",
                      max(0.0, exact.low - float(np.min(np.cos(q[:, 1])))), 1e-12)]
  return found


def value_at(t, values, time, points=12):
  """Interpolation by Lagrange's polynomial through the nearest rows."""
  k = int(np.clip(np.searchsorted(t, time) - points // 2, 0, len(t) - points))
  x, y = t[k:k + points] - time, values[k:k + points]
  return float(sum(y[i] * np.prod([x[j] / (x[j] - x[i]) for j in range(points) if j != i]) for i in range(points)))


def raft_panel(axes, records):
  found = []
  for method in METHODS:
    record = records[free("raft-pendulum", method)]
    q, p = state(record)
    exact = systems.raft_pendulum(record.times()).astype(float)
    raft = raft_place(exact[:, 0], exact[:, 2])
    raft -= raft[0]
    found += [at_most(f"raft, {method}: difference of the pendulum from the reduced equations",
                      float(np.max(np.abs(q[:, 2:] - exact[:, [0, 2]]))), ALLOWED),
              at_most(f"raft, {method}: difference of the raft from its position by the pendulum's shape (flat bundle)",
                      float(np.max(np.abs(q[:, :2] - q[0, :2] - raft_place(q[:, 2], q[:, 3]) + raft_place(*q[0, 2:])))),
                      1e-12),
              at_most(f"raft, {method}: total momentum", float(np.max(np.abs(p[:, :2]))), 1e-12)]
    if method == "gauss":
      bob = q[:, :2] + np.sin(q[:, 2:3]) * np.stack([np.cos(q[:, 3]), np.sin(q[:, 3])], axis=1)
      axes.plot(*bob.T, color=SKY, linewidth=0.9, label="pendulum, from above")
      axes.plot(*q[:, :2].T, color=GREEN, label="raft")
      axes.plot(*raft[::25].T, "o", color=GREEN, markersize=2.5, label="raft, reduced equations")
  axes.set(aspect="equal", title="raft and spherical pendulum", xlabel="$x$", ylabel="$y$", ylim=(-0.95, 0.65))
  axes.legend(loc="lower right")
  return found


def raft_place(theta, phi):
  return -np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi)], axis=-1) / 3


def turn_panel(axes, records):
  found, tilts = [], np.linspace(0, np.pi / 2, 200)
  axes.plot(tilts, systems.raft_turn(tilts), "--", color=BLACK, label="closed form")
  for tilt in TILTS:
    q, p = state(records[turn(tilt)])
    axes.plot(tilt, q[-1, 2], "o", color=ORANGE, label="run" if tilt == TILTS[0] else None)
    found.append(at_most(f"raft that can rotate, tilt {tilt}: yaw after a turn of the pendulum, difference from the closed form",
                         float(abs(q[-1, 2] - systems.raft_turn(tilt))), 1e-11))
  found.append(at_most(f"raft that can rotate, tilt {TILTS[-1]}: its three momenta", float(np.max(np.abs(p[:, :3]))), 1e-12))
  axes.set(xlabel="tilt of the pendulum", ylabel="yaw of the raft", title="one turn of the pendulum")
  axes.legend()
  return found


def leg_panel(axes, records):
  record = records[LEG]
  t, (q, p) = record["time"], state(record)
  target = systems.leg_turn()
  for i, (name, color) in enumerate((("body $\\theta$", PURPLE), ("leg $\\psi$", BLUE), ("stretch $d$", GREEN))):
    axes.plot(t, q[:, i], color=color, label=name)
  axes.axhline(target, color=BLACK, linestyle="--", linewidth=1, label="closed form")
  axes.set(xlabel="time $t$", title="hopping leg: a loop rotates the body")
  axes.legend()
  found = [at_most("leg: rotation of the body after the loop minus 0.3020762166913...", float(abs(q[-1, 0] - target)), 1e-12),
           at_most("leg: angular momentum about the hip", float(np.max(np.abs(p[:, 0]))), 1e-13)]
  for method in METHODS:
    one = records[free("hopping-leg-free", method)]
    q, p = state(one)
    exact = systems.free_leg(one.times())
    found += [at_most(f"leg on springs, {method}: difference of the coordinates from the reduced equations",
                      float(np.max(np.abs(q - exact[:, :3]))), ALLOWED),
              at_most(f"leg on springs, {method}: angular momentum about the hip", float(np.max(np.abs(p[:, 0]))), 1e-13)]
  return found


def energy_panel(axes, records):
  found = []
  for name in NAMES:
    for method, line in zip(METHODS, ("-", "--", ":")):
      record = records[free(name, method)]
      energy = record["energy"]
      off = np.abs(energy - energy[0]) / np.max(np.abs(record["kinetic_energy"]))
      axes.plot(record["time"], np.maximum(np.maximum.accumulate(off), 1e-17), line, color=COLOR[name], linewidth=1.1,
                label=f"{name.replace('-', ' ')}" if method == "gauss" else None)
      found.append(at_most(f"{name.replace('-', ' ')}, {method}: error of the energy / largest kinetic energy",
                           float(np.max(off)), 1e-11))
  for method, line in zip(METHODS, ("-", "--", ":")):
    axes.plot([], [], line, color=GREY, label=method)
  axes.set(yscale="log", ylim=(1e-17, 1e-9), xlabel="time $t$", title="relative error of the energy")
  axes.legend(ncols=2, loc="upper right")
  return found


if __name__ == "__main__":
  figure.main(globals())
