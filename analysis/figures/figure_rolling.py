#!/usr/bin/python3
"""Constraints of velocity: Chaplygin's sleigh and a ball that rolls down a plane, compared with closed forms and IDA."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most
from rolling import Sleigh, ball_center
from runs import Run
from style import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, panels

TITLE = "Constraints of velocity: Chaplygin's sleigh and a rolling ball"
CAPTION = ("Trusses with constraints of velocity, by Radau IIA with 4 stages and by IDA. The sleigh's knife edge moves "
           "only along itself; after a backward push the sleigh rotates until its heavy end leads. The ball rolls down "
           "a tilted plane with the acceleration g sin(tilt)/(1 + I/MR²) if its masses are equal; otherwise its centre "
           "wobbles. Dots are the closed forms.")
METHODS = {"radau_iia": ("integrator.stages=4",),
           "ida": ("integrator.name=ida", "integrator.rtol=1e-12", "integrator.atol=1e-14", "integrator.step=0.1",
                   "record.every=1")}
UNLIKE = "bodies.0.masses=[2,0.5,1.2,0.3,0.7,0.4,0.9]"
ALLOWED = {"radau_iia": 1e-12, "ida": 1e-8}
TILT, GRAVITY, RATIO, SPEED = 0.2, 1.0, 4 * 0.5 * 0.36 / 5, (0.5, -0.4)


def sleigh(method):
  return Run("rigid/sleigh", METHODS[method])


def ball(method, unlike=False):
  return Run("rigid/ball", METHODS[method] + ((UNLIKE,) if unlike else ()))


def runs(full):
  return [run for method in METHODS for run in (sleigh(method), ball(method), ball(method, True))]


def exact_sleigh(record):
  """Parameters of the sleigh from the masses and positions at the start."""
  m, x = record["particle_mass"], record["plot_position"][0, :, :2]
  return Sleigh(np.sum(m), float(m @ x[:, 0] / np.sum(m)), float(m @ np.sum(x ** 2, axis=1)), -0.7, 0.6)


def draw(records, full):
  canvas, ((path, rates), (plane, errors)) = panels(2, 2, width=5.0, height=3.7)
  checks = sleigh_panels(path, rates, errors, records) + ball_panels(plane, errors, records)
  errors.set(yscale="log", ylim=(1e-17, 1e-6), xlim=(0, 20), xlabel="time $t$", ylabel="distance", title="errors")
  errors.legend(loc="upper right", ncols=2, fontsize=7.5)
  return figure.Drawing(canvas, checks)


def sleigh_panels(path, rates, errors, records):
  record = records[sleigh("radau_iia")]
  t, x = record["time"], record["plot_position"][..., :2]
  exact = exact_sleigh(record)
  track = exact.knife_edge(t)
  path.plot(*x[:, 0].T, color=BLUE, label="knife edge")
  path.plot(*track[::10].T, "o", color=BLUE, markersize=3, label="closed form")
  for k in (0, 18, 32, 48, 80, 140, 200):
    for i, j in zip(record["bond_i"], record["bond_j"]):
      path.plot(*x[k, [i, j]].T, color=GREY, linewidth=0.9)
    path.plot(*x[k, 1], ".", color=VERMILION)
  path.plot([], [], ".", color=VERMILION, label="direction of the knife edge")
  path.set(aspect="equal", xlabel="$x$", ylabel="$y$", title="Chaplygin's sleigh")
  path.margins(0.08, 0.3)
  path.legend(loc="lower left", fontsize=7.5)
  speed, turning = measured_rates(record)
  rates.plot(t, speed, color=BLUE, label="speed $v$ along the knife edge")
  rates.plot(t, turning, color=VERMILION, label="turning rate $\\omega$")
  rates.plot(t[::10], exact.speed(t[::10]), "o", color=BLUE, markersize=3)
  rates.plot(t[::10], exact.turning(t[::10]), "o", color=VERMILION, markersize=3)
  rates.set(xlabel="time $t$", xlim=(0, 20), title="Chaplygin's sleigh")
  rates.legend(loc="center right")
  found = []
  for method, color in (("radau_iia", BLUE), ("ida", ORANGE)):
    one = records[sleigh(method)]
    off = np.linalg.norm(one["plot_position"][:, 0, :2] - exact.knife_edge(one["time"]), axis=1)
    v, w = measured_rates(one)
    rate = max(np.max(np.abs(v - exact.speed(one["time"]))), np.max(np.abs(w - exact.turning(one["time"]))))
    errors.plot(one["time"][1:], np.maximum(off[1:], 1e-17), color=color, label=f"sleigh, {method}")
    found += [at_most(f"sleigh, {method}: difference of the knife edge from the closed form",
                      float(np.max(off)), ALLOWED[method]),
              at_most(f"sleigh, {method}: difference of speed and rate of rotation from the closed form",
                      float(rate), ALLOWED[method]),
              at_most(f"sleigh, {method}: velocity across the knife edge",
                      float(np.max(np.abs(one["constraint_rate_residual"][:, -1]))), 1e-13)]
  found.append(at_most("sleigh, radau_iia: relative drift of the energy", record.drift("energy"), 1e-12))
  return found


def measured_rates(record):
  """Speed along the knife edge and rate of rotation, from positions and velocities of particles 0 and 1."""
  x, v = record["plot_position"][..., :2], record["plot_velocity"][..., :2]
  along = x[:, 1] - x[:, 0]
  length = np.linalg.norm(along, axis=1)
  turn = v[:, 1] - v[:, 0]
  return np.sum(v[:, 0] * along, axis=1) / length, (along[:, 0] * turn[:, 1] - along[:, 1] * turn[:, 0]) / length ** 2


def ball_panels(plane, errors, records):
  found = []
  for unlike, color in ((False, GREEN), (True, PURPLE)):
    record = records[ball("radau_iia", unlike)]
    x = record["plot_position"]
    name = "masses unlike" if unlike else "masses alike"
    plane.plot(*x[:, 0, :2].T, color=color, label=f"centre, {name}")
    plane.plot(*x[:, 1, :2].T, ":", color=color, label=f"a mass, {name}", linewidth=1)
    found.append(at_most(f"ball, {name}: slip at the contact, and error of the centre's height",
                         float(max(np.max(np.abs(record["constraint_rate_residual"])),
                                   np.max(np.abs(x[:, 0, 2] - 1)))), 1e-13))
    found.append(at_most(f"ball, {name}, radau_iia: relative drift of the energy", record.drift("energy"), 1e-11))
  t = records[ball("radau_iia")]["time"]
  exact = ball_center(t, SPEED, GRAVITY, TILT, RATIO)
  plane.plot(*exact[::10].T, "o", color=GREEN, markersize=3, label="closed form")
  plane.set(xlabel="down the plane, $x$", ylabel="across, $y$", title="ball, seen from above")
  plane.legend(loc="lower left", fontsize=7.5)
  for method, color in (("radau_iia", GREEN), ("ida", VERMILION)):
    off = np.linalg.norm(records[ball(method)]["plot_position"][:, 0, :2] - exact, axis=1)
    errors.plot(t[1:], np.maximum(off[1:], 1e-17), color=color, label=f"ball, {method}")
    found.append(at_most(f"ball, equal masses, {method}: difference of the centre from the closed form",
                         float(np.max(off)), ALLOWED[method]))
  for unlike in (False, True):
    one, other = (records[ball(method, unlike)]["plot_position"] for method in METHODS)
    apart = np.max(np.linalg.norm(one - other, axis=-1), axis=1)
    name = "masses unlike" if unlike else "masses alike"
    found.append(at_most(f"ball, {name}: difference of all particles, radau_iia and ida", float(np.max(apart)), ALLOWED["ida"]))
    if unlike:
      errors.plot(t[1:], apart[1:], color=PURPLE, label="ball, unlike, both")
  return found


if __name__ == "__main__":
  figure.main(globals())
