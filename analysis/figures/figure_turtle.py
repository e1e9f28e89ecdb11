#!/usr/bin/python3
"""A sea turtle swims forwards by beating its front flippers; with the stroke reversed in time, backwards."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most
from immersed import draw_surface
from runs import Run, Surface
from style import BLUE, GREY, ORANGE, panels
from swimmers import drift, last_third, over_strokes, rotation, velocity

TITLE = "A sea turtle swims only by its stroke"
CAPTION = ("Shell of 60 cm, front flippers of 40 cm, density of water, one stroke per second: up and down by 0.7 rad, "
           "rotated around the span by 0.6 rad with the front edge up during the upstroke. Above: forward speed of the "
           "centre of mass, and its mean over a stroke. Below: the path of the centre of mass from the side, and the "
           "turtle at some positions, seen from 40° above; last: its stroke, every 0.2 s. (Paper: figure 1, left.)")
FORWARD, BACKWARD = Run("immersed/turtle"), Run("immersed/turtle", ("fluid.parameters.way=-1",))
PERIOD = 1.0
TILT = np.radians(40)
SHOTS = {run: Surface(run.scenario, ("--every", "10"), table=run) for run in (FORWARD, BACKWARD)}


def runs(full):
  return [FORWARD, BACKWARD, *SHOTS.values()]


def tilted(x):
  """Vertices rotated around a line along x through their middle, for a view from the side and above."""
  middle, c, s = x.mean(axis=0), np.cos(TILT), np.sin(TILT)
  return (x - middle) @ np.array([[1, 0, 0], [0, c, s], [0, -s, c]]) + middle


def draw(records, full):
  canvas, ((left,), (right,), (stroke,)) = panels(3, 1, 7.6, 2.4, height_ratios=(1.1, 0.85, 0.65))
  checks, rows = [], []
  for run, name, colour in ((FORWARD, "stroke", BLUE), (BACKWARD, "reversed in time", ORANGE)):
    record = records[run]
    t, x, axis = record["time"], record["centre"][:, 0], rotation(record)[:, 0, :, 0]
    middle_of, forward, sideways, upward = over_strokes(record, PERIOD)
    left.plot(t, np.sum(velocity(record)[:, 0] * axis, axis=1), color=colour, linewidth=0.6, alpha=0.6)
    left.plot(middle_of, forward, color=colour, label=name)
    right.plot(x[:, 0], x[:, 2], color=colour)
    shots = records[SHOTS[run]]
    for surface in shots["plot_position"][::10 if run is FORWARD else -50]:
      draw_surface(right, tilted(surface), shots["face"], colour)
    if run is FORWARD:
      for k, surface in enumerate(shots["plot_position"][-6:-1]):
        middle = surface.mean(axis=0)
        draw_surface(stroke, tilted(surface) - middle, shots["face"], colour, aside=(1.1 * k, 0))
    settled = float(np.mean(last_third(forward)))
    wanted = "> 0.2" if run is FORWARD else "< -0.2"
    checks += [Check(f"{name}: forward speed at the end, m/s", f"{settled:.4f}", wanted,
                     settled > 0.2 if run is FORWARD else settled < -0.2),
               at_most(f"{name}: relative change of the stroke's mean speed over the last third", drift(forward), 0.02),
               at_most(f"{name}: largest distance from the plane of symmetry, m", float(np.max(np.abs(x[:, 1]))), 1e-9)]
    rows.append([name, f"{settled:.4f}", f"{float(np.mean(last_third(upward))):.4f}",
                 f"{np.degrees(np.mean(np.arcsin(last_third(axis[:, 2])))):.1f}"])
  left.axhline(0, color=GREY, linewidth=0.7)
  left.set(xlabel="time (s)", ylabel="forward speed (m/s)")
  left.legend()
  right.set(xlabel="$x$ (m)", ylabel="$z$ (m)", xlim=(-3.85, 4.4), ylim=(-0.5, 1.1))
  for ax in (right, stroke):
    ax.set_aspect("equal")
  stroke.set(xlim=(-0.6, 5), ylim=(-0.45, 0.45))
  stroke.set_axis_off()
  table = figure.Table("Mean over the strokes of the last third", ["run", "forward m/s", "upward m/s", "pitch °"], rows)
  return figure.Drawing(canvas, checks, [table])


if __name__ == "__main__":
  figure.main(globals())
