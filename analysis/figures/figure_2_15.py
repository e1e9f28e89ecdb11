#!/usr/bin/python3
"""Figure 2.15: relative error of the elastic rod over time."""
import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import error_in_time

TITLE = "Figure 2.15: relative error of the elastic rod over time"
CAPTION = ("Largest error in each of 200 intervals of the time, at the smallest step. In H³ the static polar chart "
           "loses digits as exp(2a) with the distance a from its origin. Below: the same rod on [0, 1000] with h = "
           "0.01; thin lines are the required bounds. The symmetric motion in S³ is unstable, so the two particles "
           "start as exact mirror images.")


def runs(full):
  return error_in_time.runs("rod", full)


def draw(records, full):
  return error_in_time.draw(records, "rod", full)


if __name__ == "__main__":
  figure.main(globals())
