#!/usr/bin/python3
"""Figure 2.16: error of the rigid rod's multiplier over time, S3 and H3."""
import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import multipliers

TITLE = "Figure 2.16: error of the rigid rod's multiplier"
CAPTION = ("Error of the multiplier at the end of each step; exact values: ½ sinh 1 (H³) and −½ sin 1 (S³). Left: the "
           "form of the thesis in the polar chart. Middle: the same with multipliers that are scaled by the step (S³). "
           "Right: in the embedding with a moving origin. Grey: Lobatto's integrator with 4 stages. Each curve shows "
           "the largest error in each of 50 intervals. rs2 and rs3 are Radau IIA with 2 and 3 stages; at the end of a "
           "step they satisfy the constraint and its first derivative (rs2) or first two derivatives (rs3). The "
           "increase at the smallest step in S³ (figure 2.16b, left) is round-off: there the motion is a coordinate "
           "line, which the integrator follows exactly, so only the distance's round-off ε remains. In the unscaled "
           "multiplier it becomes 1.5 ε/h², more than the tolerance 1e-11 of the published iteration, which then runs "
           "to its limit of 102 unless the round-off vanishes by chance. With multipliers scaled by the step, the "
           "iteration ends at the round-off of the positions. In the embedding the same motion is no coordinate line, "
           "and the true order is visible. The published form is drawn for a shorter time at the smallest step.")


def runs(full):
  return multipliers.runs("rod", (2, 3), full)


def draw(records, full):
  return multipliers.draw(records, "rod", (2, 3), full)


if __name__ == "__main__":
  figure.main(globals())
