#!/usr/bin/python3
"""A paper copter with a clip, released at five tilts, always reaches the same steady fall and spin."""
import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from autorotation import COLOURS, checks_and_table, draw_path, draw_speeds
from runs import Run, Surface
from style import legend_below, panels

TITLE = "A paper copter autorotates, from any tilt"
CAPTION = ("Paper of 4 cm × 16 cm, 500 mg, 120 µm thick, with two wings of 8 cm bent to 15° above the horizontal and a "
           "clip of 1 g at its lower end, in air of 1.225 kg/m³. Left: the paths of the centre of mass and of a wing's "
           "tip over the first 1.2 s, from the side, and the copter every 0.1 s. Middle and right: fall speed and spin "
           "of five copters released from rest at different tilts. (Paper: figure 11.)")
COPTER = Run("immersed/paper-copter")
HALF = Run("immersed/paper-copter", ("integrator.step=0.000625", "record.every=16"))
SHOTS = Surface("immersed/paper-copter", ("--every", "10"), table=COPTER)
TIP = (0.01, 0.0773, 0.0207)


def runs(full):
  return [COPTER, HALF, SHOTS]


def draw(records, full):
  canvas, ((left, middle, right),) = panels(1, 3, 2.5, 5, width_ratios=(0.5, 1, 1))
  record = records[COPTER]
  draw_speeds(record, middle, right, range(5))
  draw_path(record, records[SHOTS], left, TIP, 3, 0, 1.2, 0.5, COLOURS[3])
  legend_below(canvas, middle.get_legend_handles_labels()[0], columns=5)
  checks, table = checks_and_table(record, records[HALF], steady=1e-3, alike=1e-3, converged=2e-3)
  return figure.Drawing(canvas, checks, [table])


if __name__ == "__main__":
  figure.main(globals())
