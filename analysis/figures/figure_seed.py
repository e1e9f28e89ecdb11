#!/usr/bin/python3
"""A maple seed released at tilts around a full turn always reaches the same steady fall and spin."""
import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from autorotation import COLOURS, checks_and_table, degrees, draw_path, draw_speeds, ends, fall, tilts
from checks import Check, at_least
from runs import Run, Surface
from style import BLACK, GREY, legend_below, panels
from swimmers import spin

TITLE = "A maple seed autorotates, from any tilt"
CAPTION = ("Nut, twisted wing of 28 mm × 12 mm and the vein along its leading edge, 123 mg, in air of 1.225 kg/m³. "
           "Left: the paths of the centre of mass and of the wing's tip from 0.5 s to 0.7 s after the start, from the "
           "side, and the seed. Middle and right: fall speed and spin of seeds released from rest; five of nineteen "
           "tilts around a full turn. Thin lines: the other final state, a dive with the nut first. A seed without the "
           "mass of the vein (its centre of mass is too far back) and a seed without the added mass of air dive from "
           "every tilt; a seed whose wing is cambered upwards by 0.8 mm dives from some tilts. (Paper: figures 1, "
           "right, and 10.)")
SEED, HALF = Run("immersed/maple-seed"), Run("immersed/maple-seed", ("integrator.step=0.0003125", "record.every=32"))
LIGHT = Run("immersed/maple-seed", ("bodies.0.parts.vein.density=0",))
BARE = Run("immersed/maple-seed", ("bodies.0.added_mass=false",))
CAMBERED = Run("immersed/maple-seed", ("bodies.0.shape.camber=0.0008",))
CAMBERED_HALF = Run("immersed/maple-seed", CAMBERED.settings + HALF.settings)
PATH = Run("immersed/maple-seed", ("bodies.0.repeat.count=1", "time.end=0.7", "record.every=2"))
SHOTS = Surface("immersed/maple-seed", ("--every", "4"), table=PATH)
SHOWN, TIP = (0, 4, 8, 12, 16), (0.032, -0.0038, 0.0015)


def runs(full):
  return [SEED, HALF, LIGHT, BARE, CAMBERED, CAMBERED_HALF, PATH, SHOTS]


def draw(records, full):
  canvas, ((left, middle, right),) = panels(1, 3, 2.5, 5.4, width_ratios=(0.6, 1, 1))
  record = records[SEED]
  draw_speeds(record, middle, right, SHOWN)
  for run, body, line, colour, name in ((LIGHT, 0, "-", GREY, "dive: vein without weight"),
                                        (BARE, 0, ":", GREY, "dive: no added mass"),
                                        (CAMBERED, 0, "-", BLACK, "dive: wing cambered"),
                                        (CAMBERED, 12, "--", BLACK, "dive: wing cambered")):
    other, style = records[run], {"color": colour, "linestyle": line, "linewidth": 0.7}
    middle.plot(other["time"], fall(other)[:, body], label=f"{name}, {degrees(tilts(other)[body])}", **style)
    right.plot(other["time"], spin(other)[:, body, 2], **style)
  middle.set_ylim(0, 8.5)
  legend_below(canvas, middle.get_legend_handles_labels()[0])
  draw_path(records[PATH], records[SHOTS], left, TIP, 0, 0.5, 0.7, 0.1, COLOURS[0])
  checks, table = checks_and_table(record, records[HALF], steady=1e-3, alike=1e-3, converged=2e-3)
  slow = max(ends(record)[0])
  for run, name in ((LIGHT, "vein without weight"), (BARE, "no added mass")):
    checks.append(at_least(f"{name}: minimum fall speed from all tilts / fall speed of the seed",
                           min(ends(records[run])[0]) / slow, 2))
  dives, dives_half = ([bool(down > 3 * slow) for down in ends(records[run])[0]] for run in (CAMBERED, CAMBERED_HALF))
  checks += [Check("wing cambered by 0.8 mm: tilts that end in a dive", f"{sum(dives)} of {len(dives)}",
                   "some, not all", 0 < sum(dives) < len(dives)),
             Check("the same tilts dive at half the step", "yes" if dives == dives_half else "no", "yes",
                   dives == dives_half)]
  return figure.Drawing(canvas, checks, [table])


if __name__ == "__main__":
  figure.main(globals())
