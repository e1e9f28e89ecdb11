#!/usr/bin/python3
"""Figure 2.13: separation of the elastic rod over time."""
import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import separation

TITLE = "Figure 2.13: separation of the elastic rod over time"
CAPTION = ("Length of the elastic rod thrown across each space. Curvature pulls it apart in H³ and compresses it in "
           "S³, and the spring acts against this; in E³ the length does not change. Dots: exact reduced equation.")


def runs(full):
  return separation.runs("rod")


def draw(records, full):
  return separation.draw(records, "rod")


if __name__ == "__main__":
  figure.main(globals())
