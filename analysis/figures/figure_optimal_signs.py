#!/usr/bin/python3
"""Effects of a wrong sign of the bracket and of a wrong closure on optimal gaits of Purcell's swimmer."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import wong
from checks import Check, at_most, near
from locomotion import Field, field_run
from optimal import STRAIGHT, move_run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, plt

TITLE = "A wrong sign and a wrong closure: gaits of Purcell's swimmer that are not optimal"
CAPTION = ("Wong's equations with dA + [A₁, A₂] instead of dA − [A₁, A₂] and left velocities, by shooting to closed "
           "gaits that move the body by X. First: their cost above the optimum: with λ_θ frozen (as in the published "
           "notebook), and with only the wrong sign, whose family ends before X = .05. Second: the gaits on B_x. "
           "Third: the velocity r′ is periodic instead of the momentum p = Mr′ + ⟨λ, A⟩, X = .01. This gives a "
           "continuous family of closed smooth gaits, parametrised by the angle of the start around the straight "
           "shape; only the lowest one, where both are periodic, is optimal. Last: λ during such a cycle and during "
           "the optimal one.")
DISTANCES = (0.005, 0.01, 0.02, 0.03, 0.035, 0.04, 0.045, 0.05)
SIGN_ALONE = 0.045  # the largest X in this figure: the family ends above it
SHOWN = (0.01, 0.03, 0.05)
SMALL = SHOWN[0]
PHASES = -np.pi / 4 + 0.4 * np.arange(4)
FIELD = field_run("purcell", (-1.6, -1.6), (1.6, 1.6))
# E of one of the gaits with a periodic velocity.
SHOT = 0.0384578


def runs(full):
  return [FIELD] + [move_run(STRAIGHT, X) for X in DISTANCES]


def family(distances, first, sign, frozen):
  """Starts for growing distances, each found from the previous one."""
  found, guess = [], first
  for X in distances:
    start = wong.optimal(X, guess, sign, frozen)
    guess = start[[wong.R1, wong.V1, wong.LX, wong.LTHETA]]
    found.append(start)
  return found


def draw(records, full):
  canvas, grid = plt.subplots(2, 2, figsize=(7.6, 7))
  axes = grid.flat
  first = [0.135, 1.92, 0.435, -0.006]
  best = {X: float(records[move_run(STRAIGHT, X)]["cost"][0]) for X in DISTANCES}
  right = family(SHOWN, [0.207, 2.76, 1.93, -0.044], wong.RIGHT, False)
  turned = family(DISTANCES, first, wong.TURNED, True)
  alone = family([X for X in DISTANCES if X <= SIGN_ALONE], first, wong.TURNED, False)
  above = {name: {X: 100 * (wong.cost(y) / best[X] - 1) for X, y in zip(over, starts)} for name, over, starts in
           (("right", SHOWN, right), ("turned", DISTANCES, turned), ("alone", DISTANCES, alone))}
  for name, line, colour, label in (("turned", "o-", VERMILION, "sign turned, $\\lambda_\\theta$ frozen"),
                                    ("alone", "s--", ORANGE, "sign turned"), ("right", ".-", BLUE, "right")):
    axes[0].plot(*zip(*above[name].items()), line, color=colour, label=label)
  axes[0].set(xlabel="distance $X$ per cycle / length", ylabel="cost above the optimum (%)", title="wrong sign")
  axes[0].legend(loc="upper left")
  draw_gaits(axes[1], records, turned)
  lines, found = draw_closure(axes[2], right[0])
  draw_multipliers(axes[3], right[0], lines[0])
  return figure.Drawing(canvas, measure(above) + found)


def draw_gaits(ax, records, turned):
  Field(records[FIELD], ("alpha1", "alpha2")).height(ax, 0, "$X = .01, .03, .05$ on $B_x$", gait=False)
  for X in SHOWN:
    ax.plot(*records[move_run(STRAIGHT, X)]["shape"].T, color=BLUE, label="optimal" if X == 0.01 else None)
    path = wong.flow(turned[DISTANCES.index(X)], 1, wong.TURNED, rows=True, frozen=True)
    ax.plot(path[:, 0], path[:, 1], "--", color=BLACK, label="sign turned" if X == 0.01 else None)
  ax.legend(loc="upper right")


def draw_closure(ax, optimum):
  """Gaits with periodic r'. The search starts where the optimal gait crosses r1 + r2 = 0."""
  path = wong.flow(optimum, 1, steps=wong.WHOLE_STEPS, rows=True)
  lines, guess = [], path[len(path) // 4, :7]
  for phase in PHASES:
    lines.append(wong.smooth(SMALL, phase, guess))
    guess = lines[-1][:7]
  E = np.array([wong.cost(y) for y in lines])
  # The mirror image of a gait in r1 + r2 = 0 is also one of them, and the gait at pi/4 is the optimal one.
  angle = np.concatenate([-np.pi / 2 - PHASES[:0:-1], PHASES, [np.pi / 4]])
  ax.plot(np.degrees(angle), 1e3 * np.concatenate([E[:0:-1], E, [wong.cost(optimum)]]), "o-", color=VERMILION,
          label="$r'$ closes")
  ax.axhline(1e3 * wong.cost(optimum), color=BLUE, label="$p$ closes: the optimum")
  ax.axhline(1e3 * SHOT, color=GREY, linewidth=0.9, linestyle=":", label="from an independent shooting program")
  ax.set(xlabel="angle of the start around the straight shape (degrees)", ylabel="$10^3\\,E$",
         title="wrong closure, $X = .01$")
  ax.legend(loc="lower center", bbox_to_anchor=(0.5, 0.1))
  jump = [np.max(np.abs(wong.momentum(wong.flow(y, 1, steps=wong.WHOLE_STEPS)) - wong.momentum(y))) for y in lines]
  return lines, [near("r′ periodic, start on r₁ + r₂ = 0: E / optimum", float(E[0] / wong.cost(optimum)),
                      1.093195, 5e-6, 8),
                 Check("E = .0384578 of an independent shooting program is on this line",
                       f"{E.min():.7f} to {E.max():.7f}", "on both sides", bool(E.min() < SHOT < E.max())),
                 Check("p is not periodic there: smallest drawn jump", f"{min(jump):.3g}", "more than 1e-3",
                       bool(min(jump) > 1e-3))]


def draw_multipliers(ax, optimum, wrong):
  for start, line, name in ((optimum, "-", "optimal"), (wrong, "--", "$r'$ closes")):
    path = wong.flow(start, 1, steps=wong.WHOLE_STEPS, rows=True)
    t = np.linspace(0, 1, len(path))
    for k, colour, label in ((wong.LX, BLUE, "\\lambda_x"), (wong.LY, GREEN, "\\lambda_y"),
                             (wong.LTHETA, VERMILION, "10\\,\\lambda_\\theta")):
      ax.plot(t, path[:, k] * (10 if k == wong.LTHETA else 1), line, color=colour, label=f"${label}$, {name}")
  ax.set(xlabel="time", title="multipliers in the body frame, $X = .01$", ylim=(-1.2, 4.6))
  ax.legend(loc="upper center", ncols=2, fontsize=7.5)


def measure(above):
  return [near("wrong sign, λ_θ frozen, X = .03: cost above the optimum, %", above["turned"][0.03], 6.6, 0.05, 4),
          near("wrong sign, λ_θ frozen, X = .05: cost above the optimum, %", above["turned"][0.05], 54, 0.5, 4),
          near("only the sign wrong, X = .03: cost above the optimum, %", above["alone"][0.03], 6.87, 0.005, 5),
          at_most("right sign: largest difference from the program's cost, %",
                  max(abs(e) for e in above["right"].values()), 1e-5)]


if __name__ == "__main__":
  figure.main(globals())
