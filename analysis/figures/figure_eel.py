#!/usr/bin/python3
"""An eel swims by a wave along its body: its forward speed reaches a plateau."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most
from immersed import draw_surface
from runs import Run, Surface
from style import BLUE, GREY, ORANGE, panels
from swimmers import drift, last_third, over_strokes, rotation, velocity

TITLE = "An eel in still water: forward speed reaches a plateau"
CAPTION = ("The eel has a length of 50 cm and the density of water. A wave of length 40 cm runs from head to tail 1.5 "
           "times per second; its amplitude is 1 cm at the head and 5 cm at the tail, and grows from zero within two "
           "seconds. Above: forward speed of the centre of mass, its mean over a stroke, and the speed of the wave. "
           "Below: the eel from above every 1.6 s, forwards and backwards. (Paper: figure 12.)")
WAVE, RATE = 0.4, 1.5
WAYS = {1: ("wave from head to tail", BLUE), -1: ("from tail to head", ORANGE)}


def run(way):
  return Run("immersed/eel", () if way == 1 else (f"fluid.parameters.way={way}",))


def shots(way):
  return Surface("immersed/eel", ("--every", "80"), table=run(way))


def runs(full):
  return [run(way) for way in WAYS] + [shots(way) for way in WAYS]


def draw(records, full):
  canvas, ((left,), *ways) = panels(3, 1, 7.6, 1.8, height_ratios=(1.6, 0.55, 0.55))
  checks, rows = [], []
  for (right,), (way, (name, colour)) in zip(ways, WAYS.items()):
    record = records[run(way)]
    t, R = record["time"], rotation(record)[:, 0]
    middle_of, forward, sideways, upward = over_strokes(record, 1 / RATE)
    left.plot(t, np.sum(velocity(record)[:, 0] * R[:, :, 0], axis=1), color=colour, linewidth=0.6, alpha=0.6)
    left.plot(middle_of, forward, color=colour, label=name)
    left.axhline(way * WAVE * RATE, color=colour, linestyle=":", linewidth=1)
    centre = record["centre"][:, 0]
    right.plot(centre[:, 0], centre[:, 1], color=colour, linewidth=0.6)
    seen = records[shots(way)]
    for surface in seen["plot_position"]:
      draw_surface(right, surface, seen["face"], colour, seen=(0, 1))
    right.set(xlabel="$x$ (m)", ylabel="$y$ (m)", ylim=(-0.12, 0.12),
              xlim=(np.min(seen["plot_position"][..., 0]) - 0.05, np.max(seen["plot_position"][..., 0]) + 0.05))
    right.set_aspect("equal")
    settled = float(np.mean(last_third(forward)))
    share = settled / (way * WAVE * RATE)
    checks += [Check(f"{name}: forward speed / speed of the wave", f"{way * share:.4f}",
                     "magnitude 0.5 to 1, with the sign of the wave", 0.5 < share < 1),
               at_most(f"{name}: relative change of the stroke's mean speed over the last third", drift(forward), 0.01),
               at_most(f"{name}: mean speed out of its plane, m/s", float(np.max(np.abs(upward))), 1e-6)]
    reached = middle_of[np.argmax(np.abs(forward) > 0.95 * abs(settled))]
    rows.append([name, f"{settled:.4f}", f"{share:.3f}", f"{reached:.2f}",
                 f"{np.mean(last_third(sideways)):.4f}"])
  left.axhline(0, color=GREY, linewidth=0.7)
  left.set(xlabel="time (s)", ylabel="forward speed (m/s)")
  left.legend(loc="center right", bbox_to_anchor=(1, 0.65))
  table = figure.Table("Mean over the strokes of the last third",
                       ["run", "forward m/s", "by the wave's speed", "95 % reached after s", "sideways m/s"], rows)
  return figure.Drawing(canvas, checks, [table])


if __name__ == "__main__":
  figure.main(globals())
