"""Optimal gaits: runs of `curvebody gait .. optimize`, their families over the distance, and where they are drawn.

A family is followed by its length L: E = L^2 and dE/dX = 2 lambda, so dX/dL = L/lambda, which goes through the gait of
greatest distance, where E(X) turns upright.
"""
import numpy as np

from locomotion import ellipse
from runs import Run
from style import GREY

# About (Z, -Z) the smallest gaits that fold the outer links to a Z are cheapest.
Z = 1.7346
STRAIGHT, FOLDED = ("purcell", "purcell-far", (0, 0)), ("purcell-folded", "purcell-folded-far", (Z, -Z))
LENGTHS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 1)
FAR = {STRAIGHT: (1.02, 1.04, 1.06, 1.07, 1.08, 1.084), FOLDED: (1.05, 1.1, 1.15, 1.2, 1.25, 1.3)}


def optimal_run(scenario, *words, settings=()):
  return Run(f"optimum/{scenario}", tuple(settings), gait=("optimize", *words))


def move_run(branch, X):
  """Least cost at the distance X, from a circle of about the size of the optimum."""
  return optimal_run(branch[0], "--move", f"{X:.12g}", settings=ellipse(2.1 * X ** 0.5, branch[2]))


def length_run(branch, L):
  """The most at the length L."""
  words = ("--seek", "target", "--length", f"{L:g}")
  return optimal_run(branch[1], *words) if L in FAR[branch] else \
      optimal_run(branch[0], *words, settings=ellipse(min(1.5 * L, 1.2), branch[2]))


def efficient_run(branch):
  return optimal_run(branch[0], "--seek", "efficiency", settings=ellipse(0.9, branch[2]))


def family_runs(branch):
  return [length_run(branch, L) for L in LENGTHS + FAR[branch]]


class Family:
  """A branch of gaits of Purcell's swimmer: lengths L, distances X, multipliers lambda, index (0: a minimum)."""

  def __init__(self, records, branch):
    found = [records[run] for run in family_runs(branch)]
    self.L = np.array([r["length"][0] for r in found])
    self.X = np.array([r["amount"][0] for r in found])
    self.multiplier = np.array([np.hypot(*r["lambda"][0][:2]) for r in found])
    self.index = np.array([r["index"][0] for r in found])
    # Between its members X(L) is a cubic with their slopes; in L > 0 the family is smooth, X ~ L^2 at 0.
    self.finely = np.linspace(self.L[0], self.L[-1], 4001)

  def at(self, L):
    """X at any length among those of the members."""
    k = np.clip(np.searchsorted(self.L, L) - 1, 0, len(self.L) - 2)
    h = self.L[k + 1] - self.L[k]
    t = (L - self.L[k]) / h
    slope = self.L / self.multiplier
    return (self.X[k] * (1 + 2 * t) + h * slope[k] * t) * (1 - t) ** 2 + \
        (self.X[k + 1] * (3 - 2 * t) - h * slope[k + 1] * (1 - t)) * t ** 2

  def length(self, X):
    """The length at any distance among those of the members."""
    return np.interp(X, self.at(self.finely), self.finely)


def sign_changes(x, y):
  """Where the line through (x, y) meets 0."""
  k = np.flatnonzero(y[:-1] * y[1:] < 0)
  return x[k] - y[k] * (x[k + 1] - x[k]) / (y[k + 1] - y[k])


def draw_apart(ax, most, **options):
  """The edge of the shapes of three equal links whose outer ones do not cross."""
  r = np.linspace(0, np.pi, 400)
  edge = np.maximum(2 * np.pi - 2 * r, np.pi - r / 2)
  for sign in (1, -1):
    keep = edge <= most * 1.5
    ax.plot(sign * r[keep], sign * edge[keep], **({"color": GREY, "linewidth": 1, "linestyle": "--"} | options))
