#!/usr/bin/python3
"""Figure 2.19: relative error of the elastic triangle over time."""
import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import error_in_time

TITLE = "Figure 2.19: relative error of the elastic triangle over time"
CAPTION = ("Largest error of each side in each of 200 intervals of the time, at the smallest step. In H³ the static "
           "polar chart loses digits as exp(2a) with the distance a from its origin.")


def runs(full):
  return error_in_time.runs("triangle", full)


def draw(records, full):
  return error_in_time.draw(records, "triangle", full)


if __name__ == "__main__":
  figure.main(globals())
