#!/usr/bin/python3
"""Figure 2.16: error of the rigid rod's multiplier over time, S3 and H3."""
import _paths  # noqa: F401  (first: it makes the next ones importable)

import figure
import multipliers

TITLE = "Figure 2.16: error of the rigid rod's multiplier"
CAPTION = ("Multiplier at the end of each step against the exact ½ sinh 1 (H³) and −½ sin 1 (S³); rs2 and rs3 are Radau "
           "IIA with 2 and 3 stages that end on the constraint and its first, or first two, derivatives. The rise at the "
           "smallest step in S³ (figure 2.16b, dotted) is round-off: there the motion is a coordinate line, which the "
           "method follows exactly, and what is left is the distance's round-off ε, which in the unscaled multiplier "
           "becomes 1.5 ε/h², more than the tolerance 1e-11 that the published iteration waits for: where round-off "
           "does not happen to vanish it solves on to its limit of 102. With multipliers scaled by the step the iteration ends at the round-off of the "
           "positions. In the embedding the same motion is no line, and the true order shows. With the published form the "
           "smallest step is drawn for a shorter time.")


def runs(full):
  return multipliers.runs("rod", (2, 3), full)


def draw(records, full):
  return multipliers.draw(records, "rod", (2, 3), full)


if __name__ == "__main__":
  figure.main(globals())
