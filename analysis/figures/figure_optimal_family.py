#!/usr/bin/python3
"""Purcell's swimmer at minimum cost: the family of optimal gaits over the distance per cycle, with its branches."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most, between, near
from optimal import FOLDED, STRAIGHT, Family, efficient_run, family_runs, move_run, optimal_run, sign_changes
from style import BLACK, BLUE, GREY, VERMILION, plt

TITLE = "Optimal gaits of Purcell's swimmer: cost and efficiency over the distance per cycle"
CAPTION = ("Three links of length 1/3. Minimum of E = ∫ r′Mr′ dt for closed gaits that move the body by X without "
           "rotation; the family is parametrised by the length L = √E, and dE/dX = 2λ on every branch. Left: E/X (cost "
           "per distance), middle: efficiency X²/E, right: the multiplier λ, which diverges at the gait of maximum "
           "distance. Blue: gaits around the straight shape; red: around a Z. Grey: results of 24 random starts (○ "
           "minimum, × saddle). Events: the branches cross (◆), most efficient (★), two cycles of X/2 become cheaper "
           "than one of X (▲), maximum distance (■). Dotted: limits of small gaits.")
NAME = {STRAIGHT: "around the straight shape", FOLDED: "about a Z"}
COLOUR = {STRAIGHT: BLUE, FOLDED: VERMILION}
LIMIT = {STRAIGHT: 4 * np.pi / np.sqrt(15), FOLDED: 3.531640892956}
# Reference values by shooting with Wong's equations, and by arcs.
COST = {STRAIGHT: {0.001: 0.003274173125, 0.01: 0.035480647743, 0.03: 0.126266414425, 0.05: 0.247785398952},
        FOLDED: {0.03: 0.118182747176, 0.05: 0.215749966581}}
MULTIPLIER = {0.001: 1.651904897, 0.01: 1.930215772, 0.03: 2.627947737, 0.05: 3.488942249}
STEP = 5e-4
BESIDE = {k: 0.03 + k * STEP for k in (-2, -1, 1, 2)}
# X at which both branches have the same cost, by Newton's method.
CROSSING = 0.015617434083
SEARCHED = (0.01, 0.03, 0.05, 0.084)


def search_run(X):
  return optimal_run("purcell", "--move", f"{X:g}", "--starts", "24")


def runs(full):
  branches = (STRAIGHT, FOLDED)
  return [run for b in branches for run in family_runs(b) + [efficient_run(b)] + [move_run(b, X) for X in COST[b]]] + \
      [move_run(STRAIGHT, X) for X in BESIDE.values()] + \
      [move_run(b, CROSSING) for b in branches] + [search_run(X) for X in SEARCHED]


def draw(records, full):
  canvas, axes = plt.subplots(1, 3, figsize=(15, 5))
  family = {b: Family(records, b) for b in (STRAIGHT, FOLDED)}
  for b, f in family.items():
    X = f.at(f.finely)
    for ax, fine, member in ((axes[0], f.finely ** 2 / X, f.L ** 2 / f.X),
                             (axes[1], X ** 2 / f.finely ** 2, f.X ** 2 / f.L ** 2)):
      ax.plot(X, fine, color=COLOUR[b], label=NAME[b] if ax is axes[0] else None)
      ax.plot(f.X, member, ".", color=COLOUR[b], markersize=4)
    axes[2].semilogy(f.X, f.multiplier, ".-", color=COLOUR[b], markersize=4)
    axes[0].plot([0, 0.02], [LIMIT[b]] * 2, ":", color=COLOUR[b])
  rows = mark(axes, records, family)
  draw_searched(axes, records)
  for ax, title in zip(axes, ("$E/X$", "efficiency $\\eta = X^2/E$", "multiplier $|\\lambda|$")):
    ax.set(xlabel="distance $X$ per cycle / length", title=title, xlim=(0, 0.13))
  axes[0].set_ylim(2.5, 16)
  axes[2].set_ylim(1, 3000)
  axes[0].legend(loc="upper left")
  axes[1].legend(*axes[1].get_legend_handles_labels(), loc="lower left", bbox_to_anchor=(0.29, 0.02), fontsize=7.5)
  table = figure.Table("Events", ["event", "branch", "X", "E", "η"], rows)
  return figure.Drawing(canvas, measure(records, family), [table])


def crossing(family):
  """(X, L) at which the branch around a Z becomes cheaper."""
  a, b = family[STRAIGHT], family[FOLDED]
  X = a.at(a.finely)
  first = sign_changes(a.finely, np.where(X < b.X[-1], b.length(X) - a.finely, np.nan))[0]
  return float(a.at(first)), float(first)


def halved(f):
  """(X, L) at which two gaits of X/2, which cost 4 E(X/2) in the same time, become cheaper than one."""
  X = f.at(f.finely)
  up = f.finely[X > 2 * X[0]]
  first = sign_changes(up, up - 2 * f.length(f.at(up) / 2))
  return (float(f.at(first[0])), float(first[0])) if len(first) else None


def end(f):
  """(X, L) of the gait of maximum distance, from the last two members: 1/lambda is zero there."""
  a = 1 / f.multiplier
  L = f.L[-1] + a[-1] * (f.L[-1] - f.L[-2]) / (a[-2] - a[-1])
  return float(f.X[-1] + f.L[-1] / f.multiplier[-1] * (L - f.L[-1]) / 2), float(L)


def mark(axes, records, family):
  events = [("the branches cross", "both", "D", BLACK, crossing(family))]
  for b, f in family.items():
    best = records[efficient_run(b)]
    events.append(("most efficient", NAME[b], "*", COLOUR[b], (float(best["amount"][0]), float(best["length"][0]))))
    if halved(f):
      events.append(("two of X/2 cheaper than one", NAME[b], "^", COLOUR[b], halved(f)))
  events.append(("greatest distance", NAME[STRAIGHT], "s", COLOUR[STRAIGHT], end(family[STRAIGHT])))
  shape = {event: marker for event, _, marker, _, _ in events}
  for event, marker in shape.items():
    axes[1].plot([], [], marker, color="none", markeredgecolor=BLACK, markersize=8, label=event)
  for marker, ending in (("o", "minimum from random starts"), ("x", "saddle from random starts")):
    axes[1].plot([], [], marker, color=GREY, markerfacecolor="none", label=ending)
  for _, _, marker, colour, (X, L) in events:
    for ax, y in zip(axes, (L ** 2 / X, X ** 2 / L ** 2)):
      ax.plot(X, y, marker, color=colour, markersize=11 if marker == "*" else 7, markeredgecolor=BLACK, zorder=5)
  return [[event, name, f"{X:.6f}", f"{L * L:.6f}", f"{X * X / L ** 2:.6f}"] for event, name, _, _, (X, L) in events]


def draw_searched(axes, records):
  for X in SEARCHED:
    record = records[search_run(X)]
    for E, index in zip(record["cost"], record["index"]):
      for ax, y in zip(axes, (E / X, X * X / E)):
        ax.plot(X, y, "x" if index else "o", color=GREY, markersize=6, markerfacecolor="none", zorder=4)


def measure(records, family):
  checks = []
  for b, costs in COST.items():
    for X, E in costs.items():
      record = records[move_run(b, X)]
      checks.append(near(f"{NAME[b]}, X = {X:g}: E", float(record["cost"][0]), E, 1e-10 * E + 5e-13, 13))
  for X, wanted in MULTIPLIER.items():
    found = records[move_run(STRAIGHT, X)]["lambda"][0]
    checks.append(near(f"{NAME[STRAIGHT]}, X = {X:g}: λ", float(np.hypot(*found[:2])), wanted, 2e-9, 11))
  E = {k: records[move_run(STRAIGHT, X)]["cost"][0] for k, X in BESIDE.items()}
  slope = float((8 * (E[1] - E[-1]) - (E[2] - E[-2])) / (12 * STEP))
  checks.append(near("X = .03: dE/dX by differences, over 2λ", slope / (2 * MULTIPLIER[0.03]), 1, 1e-6, 9))
  for b, f in family.items():
    first, second = f.L[:2] ** 2 / f.X[:2]
    # E/X = limit + c X + ..: extrapolation of the two smallest members to X = 0
    small = float(first - (second - first) * f.X[0] / (f.X[1] - f.X[0]))
    checks.append(near(f"{NAME[b]}: E/X of small gaits, from the two smallest members", small, LIMIT[b], 1e-3, 6))
    best = records[efficient_run(b)]
    size = float(np.hypot(*best["lambda"][0][:2]))
    X_over_E = float(best["amount"][0] / best["cost"][0])
    checks.append(near(f"{NAME[b]}, most efficient: λX/E", size * X_over_E, 1, 1e-8, 11))
    checks.append(at_most(f"{NAME[b]}: largest index of a member (negative directions of the second variation)",
                          int(f.index.max()), 0))
  best = float(records[efficient_run(STRAIGHT)]["amount"][0])
  checks.append(between("most efficient around the straight shape: X", best, 0.08, 0.09))
  checks.append(near("the branches cross at X", crossing(family)[0], CROSSING, 2e-6, 7))
  one, other = (float(records[move_run(b, CROSSING)]["cost"][0]) for b in (STRAIGHT, FOLDED))
  checks.append(near("ratio of E around a Z and around the straight shape, at this X", other / one, 1, 1e-10, 12))
  checks.append(between("maximum distance around the straight shape", end(family[STRAIGHT])[0], 0.1, 0.104))
  record = records[search_run(0.084)]
  names = [b for b, f in family.items() if np.min(np.abs(record["cost"] / f.length(0.084) ** 2 - 1)) < 1e-4]
  first = abs(float(record["cost"][0]) / family[FOLDED].length(0.084) ** 2 - 1) < 1e-4
  checks.append(Check("X = .084, random starts: they find both branches, the Z is cheapest",
                      f"{len(names)}, {'Z' if first else 'other'}", "2, Z", bool(len(names) == 2 and first)))
  return checks


if __name__ == "__main__":
  figure.main(globals())
