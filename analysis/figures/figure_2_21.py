#!/usr/bin/python3
"""Figure 2.21: error of the rigid triangle's multipliers over time with rs3, S3 and H3."""
import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import multipliers

TITLE = "Figure 2.21: error of the rigid triangle's multipliers, rs3"
CAPTION = ("Radau IIA, rs3 (3 stages, g = g' = g'' = 0 at the step's end). Exact: λ₁₂ = λ₁₃ = 0, and λ₂₃ equals the "
           "rod's multiplier. Each curve shows the largest error in each of 50 intervals, and that of λ₁₂ and λ₁₃ the "
           "larger of both. Columns: the form of the thesis in the polar chart; the same with multipliers that are "
           "scaled by the step; the embedding with a moving origin. Grey: Lobatto's integrator with 4 stages. The "
           "published form is drawn for a shorter time at the smallest step: it solves up to 102 systems per step "
           "there, because its tolerance is below the round-off of unscaled multipliers.")


def runs(full):
  return multipliers.runs("triangle", (3,), full)


def draw(records, full):
  return multipliers.draw(records, "triangle", (3,), full)


if __name__ == "__main__":
  figure.main(globals())
