#!/usr/bin/python3
"""Purcell's swimmer: the best ratio of the middle link to the outer links, for small angles and for the most efficient gait."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most, near
from runs import Run
from style import BLACK, BLUE, GREY, VERMILION, plt

TITLE = "Purcell's swimmer: the best length of the middle link"
CAPTION = ("Three links of total length 1 with equal outer links. Left: displacement of a small gait divided by its "
           "area in the plane of angles, |B_x| of the straight shape, over the ratio of the middle link to an outer "
           "one; dotted: ratio 2. Middle: efficiency X²/E of the most efficient gait around the straight shape; its "
           "angles stay below π/2. Right: these gaits, from the ratio .5 (blue) to 1.3 (red); black: the one closest "
           "to the best ratio.")
RATIOS = (0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 1, 1.2, 1.5, 2, 2.5)
NEAR = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85)
# After Giraldi, Martinon & Zoppello: the best ratio, and its displacement relative to that of the ratio 2.
BEST, OVER_TWO = 0.7207592017, 1.5705
LOW, HIGH, MEMBERS = 0.5, 1.3, 9
FAMILY = Run("optimum/ratio", gait=("family", "--vary", f"bundle.shares.1={LOW:g}:{HIGH:g}", "--members", str(MEMBERS)))


def straight_run(ratio):
  return Run("optimum/ratio", (f"bundle.shares=[1,{ratio:.10g},1]",), gait=("connection", "--at", "0,0"))


def runs(full):
  return [straight_run(ratio) for ratio in RATIOS + (BEST,)] + [FAMILY]


def draw(records, full):
  canvas, axes = plt.subplots(1, 3, figsize=(15, 4.6))
  B = {ratio: abs(records.answer(straight_run(ratio))["B"][0][0]) for ratio in RATIOS + (BEST,)}
  family = records[FAMILY]
  axes[0].plot(RATIOS, [B[r] for r in RATIOS], "o-", color=BLUE)
  axes[0].plot(BEST, B[BEST], "*", color=BLUE, markersize=12, markeredgecolor=BLACK)
  axes[0].axvline(2, color=GREY, linestyle=":")
  axes[0].set(xlabel="middle link / outer link", ylabel="$|B_x(0, 0)|$ / length",
              title="small gaits: displacement / area")
  fine = np.linspace(LOW, HIGH, 200)
  axes[1].plot(fine, through(family["varied"], family["efficiency"])(fine), color=VERMILION)
  axes[1].plot(family["varied"], family["efficiency"], "o", color=VERMILION)
  best = int(np.nanargmax(family["event_efficiency"]))
  ratio, efficiency = float(family["event_varied"][best]), float(family["event_efficiency"][best])
  axes[1].plot(ratio, efficiency, "*", color=VERMILION, markersize=12, markeredgecolor=BLACK)
  axes[1].set(xlabel="middle link / outer link", ylabel="efficiency $X^2/E$", title="most efficient gait")
  colours = plt.cm.coolwarm(np.linspace(0, 1, MEMBERS))
  for loop, colour in zip(family["shape"], colours):
    axes[2].plot(*loop.T, color=colour, linewidth=1.2)
  nearest = int(np.argmin(np.abs(family["varied"] - ratio)))
  axes[2].plot(*family["shape"][nearest].T, color=BLACK, linewidth=1.8)
  for edge in (-np.pi / 2, np.pi / 2):
    axes[2].axvline(edge, color=GREY, linewidth=0.8, linestyle="--")
    axes[2].axhline(edge, color=GREY, linewidth=0.8, linestyle="--")
  axes[2].set(xlabel=r"$\alpha_1$", ylabel=r"$\alpha_2$", title="gaits (dashed: a right angle)", aspect="equal")
  return figure.Drawing(canvas, measure(family, B, ratio, efficiency))


def through(x, y):
  return np.polynomial.Polynomial.fit(x, y, len(x) - 1)


def top(x, y):
  """Position of the maximum of the polynomial through the points."""
  roots = through(x, y).deriv().roots()
  real = roots[np.abs(roots.imag) < 1e-9].real
  return float(real[(real > min(x)) & (real < max(x))][0])


def measure(family, B, ratio, efficiency):
  small, best = max(B[r] for r in RATIOS) / B[BEST], float(np.max(family["efficiency"]))
  equal = float(family["efficiency"][np.argmin(np.abs(family["varied"] - 1))])
  index = int(np.max(family["index"]))
  return [near("small gaits: ratio with the maximum displacement, from a quintic", top(NEAR, [B[r] for r in NEAR]), BEST,
               1e-5, 9),
          near("this displacement / that of the ratio 2", B[BEST] / B[2], OVER_TWO, 5e-5, 6),
          Check("small gaits: drawn displacements / maximum", f"{small:.8f}", "less than 1",
                bool(small < 1)),
          near("most efficient gait: best ratio from the family, and from the polynomial through its members", ratio,
               top(family["varied"], family["efficiency"]), 1e-5, 9),
          Check("its efficiency, and the largest efficiency of a member", f"{efficiency:.8f}, {best:.8f}", "the first is larger",
                best < efficiency),
          near("equal links: efficiency", equal, 0.0123641546242, 1e-12, 12),
          at_most("largest angle of any member", float(np.max(np.abs(family["shape"]))), np.pi / 2),
          Check("all members are minima: index", str(index), "0", index == 0)]


if __name__ == "__main__":
  figure.main(globals())
