#!/usr/bin/python3
"""Figure 2.13: separation of the elastic rod over time."""
import _paths  # noqa: F401  (first: it makes the next ones importable)

import figure
import separation

TITLE = "Figure 2.13: separation of the elastic rod over time"
CAPTION = ("Length of the elastic rod thrown across each space. Curvature pulls it apart in H³ and presses it "
           "together in S³, the spring brings it back; in E³ nothing happens. Dots are the exact reduced equation.")


def runs(full):
  return separation.runs("rod")


def draw(records, full):
  return separation.draw(records, "rod")


if __name__ == "__main__":
  figure.main(globals())
