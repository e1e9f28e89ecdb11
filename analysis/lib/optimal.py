"""Optimal gaits: runs of `curvebody gait .. optimize`, and their families over the distance.

A family is parametrised by the length L of its gaits: the cost is E = L^2, and dE/dX = 2 lambda with the multiplier
lambda of the distance X, so dX/dL = L/lambda. This also works at the gait of maximum distance, where the
slope of E(X) is infinite.
"""
import numpy as np

from locomotion import ellipse
from runs import Run
from style import GREY

# Among gaits with the outer links folded to a Z, the smallest ones are cheapest around the shape (Z, -Z).
Z = 1.7346
STRAIGHT, FOLDED = ("purcell", "purcell-far", (0, 0)), ("purcell-folded", "purcell-folded-far", (Z, -Z))
LENGTHS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 1)
FAR = {STRAIGHT: (1.02, 1.04, 1.06, 1.07, 1.08, 1.084), FOLDED: (1.05, 1.1, 1.15, 1.2, 1.25, 1.3)}


def optimal_run(scenario, *words, settings=()):
  return Run(f"optimum/{scenario}", tuple(settings), gait=("optimize", *words))


def move_run(branch, X):
  """The cheapest gait for the distance X; the search starts from a circle of roughly the optimum's size."""
  return optimal_run(branch[0], "--move", f"{X:.12g}", settings=ellipse(2.1 * X ** 0.5, branch[2]))


def length_run(branch, L):
  """The gait of length L with the maximum distance."""
  words = ("--objective", "target", "--length", f"{L:g}")
  return optimal_run(branch[1], *words) if L in FAR[branch] else \
      optimal_run(branch[0], *words, settings=ellipse(min(1.5 * L, 1.2), branch[2]))


def efficient_run(branch):
  return optimal_run(branch[0], "--objective", "efficiency", settings=ellipse(0.9, branch[2]))


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
    # Between two members X(L) is the cubic with their values and slopes. The family is smooth for L > 0; X ~ L^2 at 0.
    self.finely = np.linspace(self.L[0], self.L[-1], 4001)

  def at(self, L):
    """X at any length between the members' lengths."""
    k = np.clip(np.searchsorted(self.L, L) - 1, 0, len(self.L) - 2)
    h = self.L[k + 1] - self.L[k]
    t = (L - self.L[k]) / h
    slope = self.L / self.multiplier
    return (self.X[k] * (1 + 2 * t) + h * slope[k] * t) * (1 - t) ** 2 + \
        (self.X[k + 1] * (3 - 2 * t) - h * slope[k + 1] * (1 - t)) * t ** 2

  def length(self, X):
    """The length at any distance between the members' distances."""
    return np.interp(X, self.at(self.finely), self.finely)


def sign_changes(x, y):
  """Zeros of the polyline through the points (x, y)."""
  k = np.flatnonzero(y[:-1] * y[1:] < 0)
  return x[k] - y[k] * (x[k + 1] - x[k]) / (y[k + 1] - y[k])


def draw_apart(ax, most, **options):
  """Draws the border of the shapes of three equal links in which the outer links do not cross."""
  r = np.linspace(0, np.pi, 400)
  edge = np.maximum(2 * np.pi - 2 * r, np.pi - r / 2)
  for sign in (1, -1):
    keep = edge <= most * 1.5
    ax.plot(sign * r[keep], sign * edge[keep], **({"color": GREY, "linewidth": 1, "linestyle": "--"} | options))
