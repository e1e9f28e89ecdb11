#!/usr/bin/python3
"""Figure 2.20: error of the rigid triangle's multipliers over time with rs2, S3 and H3."""
import _paths  # noqa: F401  (first: it makes the next ones importable)

import figure
import multipliers

TITLE = "Figure 2.20: error of the rigid triangle's multipliers, rs2"
CAPTION = ("Radau IIA, rs2 (2 stages, g = g' = 0 at the step's end). Exact: λ₁₂ = λ₁₃ = 0, "
           "λ₂₃ that of the rod. With the published form the smallest step is drawn for a shorter time: it solves up to "
           "102 systems a step there, because its tolerance is below the round-off of unscaled multipliers. The method's own multipliers carry round-off "
           "as ε/h² (λ₁₂, λ₁₃); those of the state it reaches, which a record holds as /multiplier, do not (table).")


def runs(full):
  return multipliers.runs("triangle", (2,), full)


def draw(records, full):
  return multipliers.draw(records, "triangle", (2,), full)


if __name__ == "__main__":
  figure.main(globals())
