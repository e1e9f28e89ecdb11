#!/usr/bin/python3
"""Figure 2.20: error of the rigid triangle's multipliers over time with rs2, S3 and H3."""
import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import multipliers

TITLE = "Figure 2.20: error of the rigid triangle's multipliers, rs2"
CAPTION = ("Radau IIA, rs2 (2 stages, g = g' = 0 at the step's end). Exact: λ₁₂ = λ₁₃ = 0, and λ₂₃ equals the rod's "
           "multiplier. Each curve shows the largest error in each of 50 intervals, and that of λ₁₂ and λ₁₃ the larger "
           "of both. Columns: the form of the thesis in the polar chart; the same with multipliers that are scaled by "
           "the step; the embedding with a moving origin. Grey: Lobatto's integrator with 4 stages. The published form "
           "is drawn for a shorter time at the smallest step: it solves up to 102 systems per step there, because its "
           "tolerance is below the round-off of unscaled multipliers. The integrator's own multipliers (λ₁₂, λ₁₃) have "
           "a round-off of ε/h². The multipliers computed from the new state, which are /multiplier of a record, do "
           "not have it (table).")


def runs(full):
  return multipliers.runs("triangle", (2,), full)


def draw(records, full):
  return multipliers.draw(records, "triangle", (2,), full)


if __name__ == "__main__":
  figure.main(globals())
