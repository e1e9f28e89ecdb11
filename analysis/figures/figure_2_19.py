#!/usr/bin/python3
"""Figure 2.19: relative error of the elastic triangle over time."""
import _paths  # noqa: F401  (first: it makes the next ones importable)

import figure
import error_in_time

TITLE = "Figure 2.19: relative error of the elastic triangle over time"
CAPTION = ("Largest error in each two-hundredth of the time, smallest step, for each side. In H³ the static polar "
           "chart loses digits as exp(2a) with the distance a from its origin.")


def runs(full):
  return error_in_time.runs("triangle", full)


def draw(records, full):
  return error_in_time.draw(records, "triangle", full)


if __name__ == "__main__":
  figure.main(globals())
