#!/usr/bin/python3
"""A zeppelin driven by its propellers turns to the side of its rudder."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most
from immersed import draw_surface
from runs import Run, Surface
from style import BLUE, GREY, ORANGE, plt
from swimmers import last_third, over_strokes, rotation

TITLE = "A zeppelin moves by its propellers and turns to the side of its rudder"
CAPTION = ("The zeppelin is 6 m long, as heavy as the displaced air, and starts from rest. Two propellers of 60 cm "
           "rotate ten times per second in opposite directions. From 10 s on, rudders rotate by 0.4 rad within 2 s. "
           "Above: the path from above, the zeppelin every 7.5 s. Below: forward speed, its mean over a turn of the "
           "propellers, and the rate of rotation around the vertical. (Paper: figure 13.)")
RUDDER = {0.0: ("straight", GREY), 0.4: ("rudder to the right", ORANGE), -0.4: ("rudder to the left", BLUE)}
TURN = 0.1


def run(rudder):
  return Run("immersed/zeppelin", (f"fluid.parameters.rudder={rudder:g}",))


def shots(rudder):
  return Surface("immersed/zeppelin", ("--every", "150"), table=run(rudder))


def runs(full):
  return [run(rudder) for rudder in RUDDER] + [shots(rudder) for rudder in RUDDER]


def heading(R):
  return np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0]))


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 7))
  above, below = canvas.subfigures(2, 1, height_ratios=(1.4, 1))
  left, (middle, right) = above.subplots(), below.subplots(1, 2)
  checks, rows, paths = [], [], {}
  for rudder, (name, colour) in RUDDER.items():
    record = records[run(rudder)]
    t, x, R = record["time"], record["centre"][:, 0], rotation(record)[:, 0]
    paths[rudder] = x
    middle_of, forward, sideways, upward = over_strokes(record, TURN)
    yaw = heading(R)
    rate = np.gradient(yaw, t)
    left.plot(x[:, 0], x[:, 1], color=colour, label=name)
    seen = records[shots(rudder)]
    for surface in seen["plot_position"]:
      draw_surface(left, surface, seen["face"], colour, seen=(0, 1))
    line = "--" if name.endswith("left") else "-"  # this run is drawn over the others
    middle.plot(middle_of, forward, line, color=colour)
    right.plot(t, np.degrees(rate), line, color=colour)
    speed, turning = float(np.mean(last_third(forward))), float(np.mean(last_third(rate)))
    changes = float(np.ptp(last_third(forward)) / speed)
    checks.append(at_most(f"{name}: relative change of the forward speed over the last third", changes, 0.02))
    if rudder:
      wanted = "< 0: to the right" if rudder > 0 else "> 0: to the left"
      checks.append(Check(f"{name}: turned by, degrees", f"{np.degrees(yaw[-1]):.2f}", wanted,
                          bool(yaw[-1] * rudder < -0.1)))
    else:
      checks.append(at_most("straight: turned by, degrees", abs(float(np.degrees(yaw[-1]))), 1e-6))
    rows.append([name, f"{speed:.4f}", f"{np.degrees(turning):.4f}",
                 f"{speed / abs(turning):.1f}" if rudder else "", f"{np.mean(last_third(upward)):.3f}"])
  mirror = float(np.max(np.abs(paths[0.4] - paths[-0.4] * (1, -1, 1))))
  checks.append(at_most("rudder to the left and to the right: difference of the mirrored paths, m", mirror, 1e-6))
  left.set(xlabel="$x$ (m)", ylabel="$y$ (m)")
  left.set_aspect("equal", adjustable="datalim")
  left.legend(loc="upper left")
  middle.set(xlabel="time (s)", ylabel="forward speed (m/s)")
  right.set(xlabel="time (s)", ylabel="rotation to the left (degrees/s)")
  table = figure.Table("Mean over the last third",
                       ["run", "forward m/s", "turning °/s", "radius m", "upward m/s"], rows)
  return figure.Drawing(canvas, checks, [table])


if __name__ == "__main__":
  figure.main(globals())
