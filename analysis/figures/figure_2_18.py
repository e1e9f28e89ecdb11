#!/usr/bin/python3
"""Figure 2.18: error of the elastic triangle's sides over the step size, S3 and H3."""
import _paths  # noqa: F401  (must be first: it makes the next imports possible)
import convergence
import figure

TITLE = "Figure 2.18: error of the elastic triangle against the step size"
CAPTION = ("Largest relative error of the sides on [0, 10] compared with the exact reduced equations. The exact s₁₃ is "
           "equal to s₁₂; the errors of all sides are in the tables. The colour shows the order; marker and line show "
           "the family of integrators; crosses are the thesis's published code. Grey lines have the slopes 2, 4, 6.")


def runs(full):
  return convergence.runs("triangle", full)


def draw(records, full):
  return convergence.draw(records, "triangle", full)


if __name__ == "__main__":
  figure.main(globals())
