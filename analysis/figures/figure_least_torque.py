#!/usr/bin/python3
"""Motions from rest to rest with the least squared torques: a falling cat with limited torque, and a floating snake."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most, near
from runs import Best
from style import BLACK, BLUE, GREY, ORANGE, VERMILION, plt

TITLE = "Turning with the least torque"
CAPTION = ("Motions from rest to rest in two seconds, without momentum, whose integral of the squared torques is "
           "minimum. Top: a falling cat of two bodies turns its hinge by two radians; the motor gives at most 0.85 "
           "(grey), and without this limit it would give up to 1.1 (dashed: closed form for a constant inertia, the mean "
           "of the inertia). Bottom: a floating snake of three links turns by half a radian and is straight again at the "
           "end. The torques are those that a run of the motion records.")
CAT, SNAKE = Best("optimum/limited-cat"), Best("optimum/turning-snake")
LIMIT, TURN, T = 0.85, 0.5, 2
SNAPSHOTS = 9


def runs(full):
  return [CAT, SNAKE]


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 6.6))
  top, bottom, strip = canvas.subfigures(3, 1, height_ratios=(1, 1, 0.55))
  checks = draw_cat(top, records[CAT]) + draw_snake(bottom, records[SNAKE])
  draw_shapes(strip, records[SNAKE])
  return figure.Drawing(canvas, checks)


def squared(record):
  """The integral of the squared efforts, which are means over the steps."""
  return float(np.sum(record["effort"][1:] ** 2 * np.diff(record["time"])[:, None]))


def draw_cat(canvas, record):
  left, right = canvas.subplots(1, 2)
  t, alpha, effort = record["time"], record["shape"][:, 0], record["effort"][:, 0]
  left.plot(t, alpha, color=BLUE, label=r"hinge $\alpha$")
  left.plot(t, record["group"][:, 0], color=ORANGE, label=r"first body $\theta_1$")
  left.set(xlabel="time", ylabel="angle (rad)", title="falling cat")
  left.legend()
  middle = (t[1:] + t[:-1]) / 2
  m = 0.5
  c = m * 0.5 * 0.4 * np.cos(alpha)
  inertia = np.mean(((1 + m * 0.25) * (0.5 + m * 0.16) - c ** 2) / (1.5 + m * 0.41 + 2 * c))
  right.plot(t, 6 * inertia * alpha[-1] / T ** 2 * (1 - 2 * t / T), "--", color=GREY, linewidth=0.9)
  right.plot(middle, effort[1:], color=BLUE)
  for side in (-1, 1):
    right.axhline(side * LIMIT, color=GREY, linewidth=0.7)
  right.set(xlabel="time", ylabel="torque", title="torque of the hinge")
  return [near("cat: angle of the hinge at the end", float(alpha[-1]), 2, 1e-12, 12),
          at_most("cat: largest torque beyond its limit, relative", float(np.max(np.abs(effort)) / LIMIT - 1), 1e-4),
          near("cat: integral of the squared torque", squared(record), 0.8133, 1e-3, 6)]


def draw_snake(canvas, record):
  left, right = canvas.subplots(1, 2)
  t = record["time"]
  for i, colour in enumerate((BLUE, VERMILION)):
    left.plot(t, record["shape"][:, i], color=colour, label=rf"$\alpha_{i + 1}$")
    right.plot((t[1:] + t[:-1]) / 2, record["effort"][1:, i], color=colour)
  left.plot(t, record["group"][:, 2], color=BLACK, label=r"heading $\theta$")
  left.set(xlabel="time", ylabel="angle (rad)", title="floating snake")
  left.legend()
  right.set(xlabel="time", ylabel="torque", title="torques of the hinges")
  return [near("snake: angle by which it turns", float(record["group"][-1, 2]), TURN, 1e-4, 8),
          at_most("snake: shape at the end minus that at the start", float(np.max(np.abs(record["shape"][-1]))), 1e-12),
          near("snake: integral of the squared torques", squared(record), 9.7612, 1e-4, 7)]


def draw_shapes(canvas, record):
  x = record["plot_position"]
  ax = canvas.subplots()
  ax.set_axis_off()
  for k, row in enumerate(np.linspace(0, len(x) - 1, SNAPSHOTS).round().astype(int)):
    ax.plot(x[row][:, 0] + 3.6 * k, x[row][:, 1], "o-", color=BLACK, linewidth=1.6, markersize=2)
  ax.set_aspect("equal")


if __name__ == "__main__":
  figure.main(globals())
