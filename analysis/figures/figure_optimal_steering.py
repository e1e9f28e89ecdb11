#!/usr/bin/python3
"""Steering Purcell's swimmer: minimum cost of a cycle over its forward distance and its rotation."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most, near
from locomotion import Field, field_run
from optimal import draw_apart, optimal_run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, plt

TITLE = "Steering map of Purcell's swimmer"
CAPTION = ("Minimum of E = ∫ r′Mr′ dt, from 10 random starts and a circle, for gaits of three links that move the body "
           "by x along the initial direction of the middle link and rotate it by θ; y is free. Above: E over both; "
           "black dots are computed, the rest follows by reversal of the body (−x) and by its mirror image (−θ), which "
           "the four red dots check. Next to it: E over θ for every x: the cheapest gait for a large distance also "
           "rotates the body. Below: gaits for x = .03 and growing θ on B_x; they shift from the straight shape to the "
           "region with large B_θ.")
X, TURN = (0, 0.01, 0.02, 0.03, 0.04, 0.05), (0, 0.06, 0.12, 0.18, 0.24, 0.3)
FIELD = field_run("purcell", (-2.6, -2.6), (2.6, 2.6))
SIGNS = ((0.02, 0.12), (-0.02, 0.12), (0.02, -0.12), (-0.02, -0.12))
# Costs with y = 0, from arcs and from Fourier series: (x, theta) and its cost, and the costs over x without rotation.
ELEMENT = (0.02, 0.05), 0.061773382295
STRAIGHT = {0.01: 0.035480647743, 0.03: 0.126266414425, 0.05: 0.247785398952}
COLOURS = (BLACK, BLUE, GREEN, ORANGE, VERMILION, PURPLE)


def steer_run(x, turn):
  return optimal_run("purcell", "--parts", f"x={x:g},theta={turn:g}", "--starts", "10")


def runs(full):
  grid = [steer_run(x, turn) for x in X for turn in TURN if (x, turn) != (0, 0)]
  return [FIELD, steer_run(*ELEMENT[0])] + grid + [steer_run(*pair) for pair in SIGNS[1:]]


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 7.2))
  above, below = canvas.subfigures(2, 1, height_ratios=(1, 1.15))
  axes = [*above.subplots(1, 2), below.subplots()]
  E = np.array([[0 if (x, turn) == (0, 0) else records[steer_run(x, turn)]["cost"][0] for turn in TURN] for x in X])
  draw_map(axes[0], E)
  for k, x in enumerate(X):
    axes[1].plot(TURN, E[k], "o-", color=COLOURS[k], markersize=4, label=f"$x = {x:g}$")
  axes[1].set(xlabel=r"turn $\theta$ of a cycle", ylabel="cost $E$", title="cost against the rotation", ylim=(0, 0.26))
  axes[1].legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=7, handlelength=1.4)
  Field(records[FIELD], ("alpha1", "alpha2")).height(axes[2], 0, "gaits for $x = 0.03$ on $B_x$", gait=False,
                                                      bar="left")
  for k, turn in enumerate(TURN):
    axes[2].plot(*records[steer_run(0.03, turn)]["shape"].T, color=COLOURS[k], linewidth=1.4,
                 label=f"$\\theta = {turn:g}$")
  draw_apart(axes[2], 2.6)
  axes[2].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
  return figure.Drawing(canvas, measure(records, E))


def draw_map(ax, E):
  whole = np.block([[E[:0:-1, :0:-1], E[:0:-1]], [E[:, :0:-1], E]])
  x, turn = (np.concatenate([-np.array(a[:0:-1]), a]) for a in (X, TURN))
  levels = np.linspace(0, 0.26, 14)
  mesh = ax.contourf(x, turn, whole.T, levels=levels, cmap="Blues")
  ax.contour(x, turn, whole.T, levels=levels, colors=GREY, linewidths=0.5)
  plt.colorbar(mesh, ax=ax, label="cost $E$", ticks=levels[::2])
  ax.plot(*np.array([(a, b) for a in X for b in TURN]).T, ".", color=BLACK, markersize=3, clip_on=False)
  ax.plot(*np.array(SIGNS).T, "o", color=VERMILION, markersize=4)
  ax.set(xlabel="distance $x$ of a cycle / length", ylabel=r"turn $\theta$ of a cycle", title="minimum cost",
         xticks=(-0.04, -0.02, 0, 0.02, 0.04))
  ax.grid(False)


def measure(records, E):
  costs = np.array([records[steer_run(*pair)]["cost"][0] for pair in SIGNS])
  checks = [at_most("difference of E for both signs of x and of θ", float(np.ptp(costs) / costs[0]), 1e-10)]
  checks += [near(f"x = {x:g}, θ = 0: E", float(E[X.index(x), 0]), wanted, 1e-10 * wanted + 5e-13, 12)
             for x, wanted in STRAIGHT.items()]
  free = records[steer_run(*ELEMENT[0])]
  checks.append(Check("x = .02, θ = .05: E with y free, and with y = 0", f"{free['cost'][0]:.9f}",
                      f"a little less than {ELEMENT[1]:.9f}", bool(0 < 1 - free["cost"][0] / ELEMENT[1] < 2e-4)))
  charge = np.abs(free["lambda"][0])
  checks.append(at_most("x = .02, θ = .05: λ_y / λ_x at the start", float(charge[1] / charge[0]), 1e-9))
  worst = max(int(records[run]["index"][0]) for run in runs(False)[1:])
  checks.append(Check("all gaits are local minima: index", str(worst), "0", worst == 0))
  return checks


if __name__ == "__main__":
  figure.main(globals())
