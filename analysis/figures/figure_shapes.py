#!/usr/bin/python3
"""Shape variables that move by themselves: motors, springs, limits, and swimmers with an elastic tail."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most, between, near
from locomotion import chain, draw_path
from runs import Run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, panels

TITLE = "Locomotion: shapes that move by themselves"
CAPTION = ("Top left: a floating snake of three links with a motor in one hinge and a spring in the other, without momentum; "
           "its path and six of its positions. Top right: its angles, and its energy with the work of the motor; dots: "
           "the numbers of an independent program at the end. Middle left: a snake with momentum, springs and "
           "limits; circles: known times of reflections. Middle right: a cat whose motor has a limited torque; dots: the angle of "
           "its front from the integral of its connection. Bottom left: mean speed of a fish in a perfect fluid with a "
           "driven head joint and an elastic tail, from rest, over the stiffness of the tail. Bottom right: displacement "
           "of the elastic Purcell's swimmer per cycle over the stiffness, relative to its largest value for small "
           "angles; line: closed form for small angles.")
SNAKE, LIMITS, CAT = Run("shape/snake-motor"), Run("shape/snake-limits"), Run("shape/cat-torque")
GLIDING, POINTS, TABLE = Run("shape/fish-tail"), Run("shape/points-h2"), Run("shape/samples-snake")
STIFFNESSES = (0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 10)
CYCLES, PERIOD = 6, np.pi  # of the fish
RATIOS, AMPLITUDES = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4), (0.2, 0.5)
M11, M12, M22 = 16 / 2187, 11 / 2187, 16 / 2187  # metric of Purcell's swimmer with straight links
# Lagrange-Poincare equations with a form written by hand, by a Runge-Kutta method of high order: alpha_1, alpha_2, x, y, theta.
KNOWN_SNAKE = (6.96092242309, 1.22824313127, 0.22904357453, -0.02782973123, 0.88784943587)
KNOWN_HITS = (2.2981802028, 3.1272791667, 6.3561245061, 7.5653029345)
KNOWN_PURCELL = {(0.2, 1): -8.81445372e-4, (0.2, 0.25): -4.14037241e-4, (0.5, 1): -5.27450392e-3}  # by shooting


def fish(stiffness):
  return Run("shape/fish-tail", ("shape.momentum=[0,0,0]", f"shape.alpha2.spring.stiffness={stiffness:g}",
                                 f"integrator.step={PERIOD / 32:.15g}", f"time.end={CYCLES * PERIOD:.15g}"))


def purcell(amplitude, ratio):
  return Run("shape/purcell-elastic", (f"shape.alpha1.drive={amplitude}*sin(t)",
                                       f"shape.alpha2.spring.stiffness={ratio * M22:.15g}", "time.end=40*pi"))


def runs(full):
  return [SNAKE, LIMITS, CAT, GLIDING, POINTS, TABLE] + [fish(k) for k in STIFFNESSES] + [
      purcell(e, x) for e in AMPLITUDES for x in RATIOS]


def balance(record):
  """Energy minus the works, relative to the largest energy."""
  works = record["motor_work"] - record["damping_work"] - record["friction_work"] - record["limit_work"]
  rest = record["energy"] - works.sum(axis=1)
  return float(np.max(np.abs(rest - rest[0])) / np.max(record["energy"]))


def draw_snake(path, angles, record):
  draw_path(path, record, 6, lambda r: chain(r, 3.0))
  path.set(title="snake with a motor and a spring", xlabel="$x$", ylabel="$y$")
  t, r = record["time"], record["shape"]
  for i, (name, colour) in enumerate((("$\\alpha_1$, motor", BLUE), ("$\\alpha_2$, spring", ORANGE))):
    angles.plot(t, r[:, i], color=colour, label=name)
    angles.plot(t[-1], KNOWN_SNAKE[i], "o", color=colour, markersize=4)
  angles.set(title="its angles and energy", xlabel="time (s)", ylabel="angle (rad)")
  right = angles.twinx()
  right.grid(False)
  right.plot(t, record["energy"] - record["energy"][0], color=GREEN, label="change of the energy")
  right.plot(t[::20], record["motor_work"].sum(axis=1)[::20], ".", color=GREY, markersize=4, label="work of the motor")
  right.set_ylabel("energy")
  right.set_ylim(top=0.9)
  lines = [line for ax in (angles, right) for line in ax.get_lines() if not line.get_label().startswith("_")]
  angles.legend(lines, [line.get_label() for line in lines], loc="upper left", ncols=2)
  angles.set_ylim(top=13)
  last = np.concatenate([r[-1], record["group"][-1]])
  return [at_most("snake, step 1/50, order 4: largest difference from the independent numbers at 10 s",
                  float(np.max(np.abs(last - KNOWN_SNAKE))), 2e-6),
          at_most("snake: energy minus the work of the motor / energy", balance(record), 1e-5),
          at_most("snake: momentum", float(np.max(np.abs(record["momentum"]))), 1e-14)]


def draw_limits(ax, record):
  t, r = record["time"], record["shape"]
  hits = record["event_time"]
  for i, (colour, limits) in enumerate(((BLUE, (-1, 1)), (ORANGE, (-0.2, 0.9)))):
    ax.plot(t, r[:, i], color=colour, label=f"$\\alpha_{i + 1}$")
    for limit in limits:
      ax.axhline(limit, color=colour, linewidth=0.8, linestyle="--")
  ax.plot(KNOWN_HITS, [0.9 if np.interp(x, t, r[:, 1]) > 0.4 else -0.2 for x in KNOWN_HITS], "o", color=BLACK,
          markerfacecolor="none")
  ax.set(title="snake with limits", xlabel="time (s)", ylabel="angle (rad)")
  ax.set_ylim(top=1.35)
  ax.legend(loc="upper right", ncols=2)
  same = len(hits) == len(KNOWN_HITS)
  off = float(np.max(np.abs(hits - KNOWN_HITS))) if same else np.inf
  momentum = record["momentum"]
  return [at_most("limits, step 1/50, order 4: error of the four times of reflection (s)", off, 1e-7),
          at_most("limits: change of the momentum", float(np.max(np.abs(momentum - momentum[0]))), 1e-14),
          near("limits: energy at 10 s", float(record["energy"][-1]), 0.28861832078, 2e-8, 10)]


def draw_cat(ax, record):
  t, alpha, theta = record["time"], record["shape"][:, 0], record["group"][:, 0]
  x = np.linspace(0, 2.2, 20001)
  c = 0.25 * np.cos(x)
  connection = (1.5 + c) / (2.625 + 2 * c)  # (k2 + c)/(k1 + k2 + 2 c)
  integral = np.concatenate([[0], np.cumsum((connection[1:] + connection[:-1]) / 2 * np.diff(x))])
  exact = -np.interp(alpha, x, integral)
  torque = np.clip(2 * (2 - alpha) - 2 * record["shape_rate"][:, 0], -0.3, 0.3)
  ax.plot(t, alpha, color=BLUE, label="$\\alpha$")
  ax.plot(t, theta, color=ORANGE, label="angle of the front")
  ax.plot(t[::100], exact[::100], ".", color=ORANGE, markersize=5)
  ax.plot(t, torque, color=PURPLE, linewidth=1, label="torque")
  ax.axhline(2.2, color=GREY, linewidth=0.8, linestyle="--")
  ax.set(title="cat with limited torque", xlabel="time (s)", ylabel="angle (rad), torque")
  ax.legend()
  return [at_most("cat: angle of the front minus the integral of its connection (rad)",
                  float(np.max(np.abs(theta - exact))), 1e-5),
          near("cat: angle at 12 s", float(alpha[-1]), 2, 1e-4)]


def draw_fish(ax, records):
  speed = []
  for k in STIFFNESSES:
    record = records[fish(k)]
    x = record["group"][::32, :2]
    speed.append(float(np.hypot(*(x[-1] - x[1])) / ((CYCLES - 1) * PERIOD)))
  ax.semilogx(STIFFNESSES, speed, "o-", color=BLUE, markersize=4)
  ax.set(title="fish with an elastic tail", xlabel="stiffness of the tail", ylabel="mean speed")
  ax.set_xticks([0.25, 0.5, 1, 2, 4, 10], ["0.25", "0.5", "1", "2", "4", "10"])
  ax.minorticks_off()
  best = int(np.argmax(speed))
  record = records[GLIDING]
  momentum = record["momentum"]
  return [between("fish: stiffness with the largest speed, between the softest and the stiffest", STIFFNESSES[best],
                  STIFFNESSES[1], STIFFNESSES[-2]),
          at_most("fish: energy minus the works / energy, all stiffnesses",
                  max(balance(records[fish(k)]) for k in STIFFNESSES), 1e-3),
          at_most("fish that glides: change of the momentum", float(np.max(np.abs(momentum - momentum[0]))), 1e-13)]


def displacement(record):
  """Displacement along the swimmer in the last cycle of 200 steps, and its turn."""
  a, b = record["group"][-201], record["group"][-1]
  return float(np.cos(a[2]) * (b[0] - a[0]) + np.sin(a[2]) * (b[1] - a[1])), float(b[2] - a[2])


def draw_purcell(ax, records):
  x = np.array(RATIOS)
  scale = 5 * np.pi / 486 * M12 / M22
  line = np.geomspace(x[0], x[-1], 200)
  ax.semilogx(line, 2 * line / (1 + line**2), color=BLACK, label="small angles")
  moved, turns = {}, 0.0
  for e, colour in zip(AMPLITUDES, (BLUE, ORANGE)):
    found = [displacement(records[purcell(e, ratio)]) for ratio in RATIOS]
    moved[e] = np.array([f[0] for f in found])
    turns = max(turns, max(abs(f[1]) for f in found))
    ax.plot(x, -moved[e] / (scale * e**2), "o", color=colour, markersize=4, label=f"$\\varepsilon = {e}$")
  ax.set(title="elastic Purcell's swimmer", xlabel="$k/(\\omega M_{22})$", ylabel="displacement / largest")
  ax.set_xticks([0.25, 0.5, 1, 2, 4], ["0.25", "0.5", "1", "2", "4"])
  ax.minorticks_off()
  ax.legend()
  out = [at_most(f"Purcell, amplitude {e}, k/(w M22) = {ratio}: displacement minus the number by shooting",
                 abs(moved[e][RATIOS.index(ratio)] - known), 1e-9) for (e, ratio), known in KNOWN_PURCELL.items()]
  small = -moved[0.2] / (scale * 0.04) - 2 * x / (1 + x**2)
  return out + [at_most("Purcell, amplitude 0.2: relative displacement minus the closed form", float(np.max(np.abs(small))),
                        0.02),
                at_most("Purcell: turn per cycle (rad)", turns, 1e-9)]


def others(records):
  points, table = records[POINTS], records[TABLE]
  momentum = points["momentum"]
  return [at_most("points in H2: change of the momentum", float(np.max(np.abs(momentum - momentum[0]))), 1e-12),
          at_most("points in H2: change of the energy / energy", float(np.ptp(points["energy"]) / points["energy"][0]), 1e-8),
          at_most("table of a snake: change of the energy / energy", float(np.ptp(table["energy"]) / table["energy"][0]),
                  1e-6)]


def draw(records, full):
  canvas, ((path, angles), (limits, cat), (speeds, swimmer)) = panels(3, 2, 3.9, 2.8)
  snake = records[SNAKE]
  checks = draw_snake(path, angles, snake) + draw_limits(limits, records[LIMITS]) + draw_cat(cat, records[CAT])
  checks += draw_fish(speeds, records) + draw_purcell(swimmer, records) + others(records)
  return figure.Drawing(canvas, checks)


if __name__ == "__main__":
  figure.main(globals())
