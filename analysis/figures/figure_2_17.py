#!/usr/bin/python3
"""Figure 2.17: sides of the elastic triangle over time."""
import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import separation

TITLE = "Figure 2.17: sides of the elastic triangle over time"
CAPTION = ("Sides of the elastic triangle thrown along its axis of symmetry; s13 = s12. Dots: exact reduced equations.")


def runs(full):
  return separation.runs("triangle")


def draw(records, full):
  return separation.draw(records, "triangle")


if __name__ == "__main__":
  figure.main(globals())
