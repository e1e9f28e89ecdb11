#!/usr/bin/python3
"""Figure 2.18: error of the elastic triangle's sides against the step size, S3 and H3."""
import _paths  # noqa: F401  (first: it makes the next ones importable)
import convergence
import figure

TITLE = "Figure 2.18: error of the elastic triangle against the step size"
CAPTION = ("Largest relative error of the sides on [0, 10] against the exact reduced equations. Colour gives the "
           "order, marker and line the family of methods; crosses are the thesis's published code. Grey lines have "
           "slopes 2, 4, 6.")


def runs(full):
  return convergence.runs("triangle", full)


def draw(records, full):
  return convergence.draw(records, "triangle", full)


if __name__ == "__main__":
  figure.main(globals())
