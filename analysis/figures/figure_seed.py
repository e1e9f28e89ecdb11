#!/usr/bin/python3
"""A maple seed let go at five tilts: all end in the same steady fall and spin."""
import _paths  # noqa: F401  (first of ours: it makes the next ones importable)

import figure
from autorotation import checks_and_table, draw_path, draw_speeds, fall
from checks import Check
from runs import Run
from style import GREY, panels
from swimmers import drift, spin

TITLE = "A maple seed autorotates, from any tilt"
CAPTION = ("Nut, wing of 28 mm × 12 mm and the vein along its leading edge, 80 mg, in air of 1.225 kg/m³. Left: the "
           "path of the centre of mass and of the wing's tip over the first 0.6 s, from the side. Middle and right: "
           "fall and spin of five seeds let go from rest at different tilts; in grey of one whose vein weighs "
           "nothing (its centre of mass lies too far back: it tumbles), dotted of one without the added mass of air. "
           "(Paper: figures 1, right, and 10.)")
SEED, LIGHT = Run("immersed/maple-seed"), Run("immersed/maple-seed", ("bodies.0.parts.vein.density=0",))
BARE = Run("immersed/maple-seed", ("bodies.0.added_mass=false",))
TIP = (0.032, -0.004, 0)


def runs(full):
  return [SEED, LIGHT, BARE]


def draw(records, full):
  canvas, ((left, middle, right),) = panels(1, 3, 4.4, 4.4, width_ratios=(0.4, 1, 1))
  record = records[SEED]
  for run, line, name in ((LIGHT, "-", "vein without weight"), (BARE, ":", "no added mass")):
    middle.plot(records[run]["time"], fall(records[run])[:, 4], line, color=GREY, linewidth=0.6, label=name)
    right.plot(records[run]["time"], spin(records[run])[:, 4, 2], line, color=GREY, linewidth=0.6)
  draw_speeds(record, middle, right)
  draw_path(record, left, TIP, 4, 0.6, 1, 0.2)
  checks, table = checks_and_table(record, steady=1e-3, alike=1e-3)
  for run, name in ((LIGHT, "vein without weight"), (BARE, "no added mass")):
    changes = [drift(turn) for turn in spin(records[run])[..., 2].T]
    checks.append(Check(f"{name}: least relative change of the spin over the last third, of five starts",
                        f"{min(changes):.2f}", "> 0.1: none settles", min(changes) > 0.1))
  return figure.Drawing(canvas, checks, [table])


if __name__ == "__main__":
  figure.main(globals())
