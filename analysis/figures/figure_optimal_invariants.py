#!/usr/bin/python3
"""Invariants of an optimal gait: speed, Ad*_{g^-1} lambda, the Casimir. p = M r' + <lambda, A> is periodic, r' is
not."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import wong
from checks import at_least, at_most
from optimal import FOLDED, STRAIGHT, move_run, optimal_run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, plt

TITLE = "Invariants of an optimal gait"
CAPTION = ("Gaits of Purcell's swimmer with minimum cost: X = .05 around the straight shape, X = .05 around a Z, and x "
           "= .02, θ = .05 with free y, which leaves a corner at the start; and solutions of Wong's equations from the "
           "same starts, integrated in Python. Top: λ in the body frame (it rotates with the body) and, dashed, "
           "transported back to the start, Ad*_(g⁻¹) λ. Middle: relative changes of r′Mr′, Ad*_(g⁻¹) λ and the Casimir "
           "λ_x² + λ_y² along Wong's equations, and distance of the program's gait from their solution. Bottom: p = "
           "Mr′ + ⟨λ, A⟩ and r′ over the cycle; p is periodic, r′ only if λ is.")
CORNER = optimal_run("purcell", "--parts", "x=0.02,theta=0.05", "--starts", "12")
GAITS = {"around the straight shape, X = .05": move_run(STRAIGHT, 0.05), "about a Z, X = .05": move_run(FOLDED, 0.05),
         "x = .02, θ = .05": CORNER}
AXES = ((0, BLUE, "$\\lambda_x$"), (1, GREEN, "$\\lambda_y$"), (2, VERMILION, "$10\\,\\lambda_\\theta$"))


# The classical Runge-Kutta method of order 4 in 512 steps. At a corner the rate is inaccurate, because the degree is finite.
ALLOWED = {"r′Mr′": 1e-8, "Ad*_(g⁻¹) λ": 1e-8, "λ_x² + λ_y²": 1e-8, "distance of the program's gait": 5e-6}


def runs(full):
  return list(GAITS.values())


def carried(g, charge):
  """Ad*_{g^-1} lambda: the rotated force, and the torque about the start."""
  c, s = np.cos(g[:, 2]), np.sin(g[:, 2])
  x, y = c * charge[:, 0] - s * charge[:, 1], s * charge[:, 0] + c * charge[:, 1]
  return np.stack([x, y, charge[:, 2] + g[:, 0] * y - g[:, 1] * x], axis=1)


def draw(records, full):
  canvas, axes = plt.subplots(3, 3, figsize=(15, 10))
  checks = []
  for (name, run), (top, middle, bottom) in zip(GAITS.items(), axes.T):
    record = records[run]
    t, r = record["time"], record["shape"]
    start = [*r[0], *record["rate"][0], *record["multiplier"][0], 0, 0, 0]
    path = wong.flow(start, 1, steps=(len(t) - 1) // 2, rows=True)
    charge, g = path[:, wong.LX:wong.X], path[:, wong.X:]
    space = carried(g, charge)
    for k, colour, label in AXES:
      scale = 10 if k == 2 else 1
      top.plot(t, scale * charge[:, k], color=colour, label=label)
      top.plot(t, scale * space[:, k], "--", color=colour)
    casimir = np.sum(charge[:, :2] ** 2, axis=1)
    size = np.sqrt(casimir[0])
    energy = wong.cost(path.T)
    changes = (("r′Mr′", energy / energy[0] - 1, BLACK),
               ("Ad*_(g⁻¹) λ", np.max(np.abs(space - space[0]), axis=1) / size, ORANGE),
               ("λ_x² + λ_y²", casimir / casimir[0] - 1, BLUE),
               ("distance of the program's gait", np.max(np.abs(path[:, :2] - r), axis=1), GREY))
    for word, change, colour in changes:
      middle.semilogy(t, np.maximum(np.abs(change), 1e-18), color=colour, label=word)
      checks.append(at_most(f"{name}: {word} differs by", float(np.max(np.abs(change))), ALLOWED[word]))
    middle.set_ylim(1e-14, 1e-5)
    p, v = record["momentum"], record["rate"]
    for k, colour in ((0, BLUE), (1, VERMILION)):
      bottom.plot(t, p[:, k] / np.max(np.abs(p)), color=colour, label=f"$p_{k + 1}$")
      bottom.plot(t, v[:, k] / np.max(np.abs(v)), ":", color=colour, label=f"$r'_{k + 1}$")
    checks.append(at_most(f"{name}: (p at the end - p at the start) / largest |p|",
                          float(np.max(np.abs(p[-1] - p[0])) / np.max(np.abs(p))), 1e-7))
    if run == CORNER:
      checks.append(at_least(f"{name}: (r′ at the end - r′ at the start) / largest |r′|",
                             float(np.max(np.abs(v[-1] - v[0])) / np.max(np.abs(v))), 0.05))
    top.set_title(name)
    bottom.set(xlabel="time")
  axes[0, 0].set_ylabel("λ: body (full), space (dashed)")
  axes[1, 0].set_ylabel("relative change")
  axes[2, 0].set_ylabel("by the largest")
  for row, place in zip(axes, ("upper right", "lower right", "lower left")):
    row[1].legend(loc=place, fontsize=7.5)
  return figure.Drawing(canvas, checks)


if __name__ == "__main__":
  figure.main(globals())
