#!/usr/bin/python3
"""Gaits of bodies in a fluid, and bundles in a fluid that moves."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most
from locomotion import moved, path_run
from runs import Run
from style import BLACK, BLUE, GREY, ORANGE, panels, plt

TITLE = "Locomotion: gaits of bodies in a fluid, and bundles in a fluid that moves"
CAPTION = ("Top left: position of an ellipsoid that bends, by the path of its bundle (lines) and by the motion of a "
           "body that performs the same gait in a stream (dots); the stream is subtracted. Top right: difference of both "
           "after three cycles over the step. Bottom left: angle of a rigid cross of two rods in a shear, and "
           "Jeffery's orbit with the same ratio of axes. Bottom right: path of Purcell's swimmer in a shear, and in a fluid at "
           "rest; dots after every fifth cycle.")
CYCLES, PERIOD, STREAM = 3, 2.0, 0.1
STEPS = (50, 100, 200, 400)  # per cycle
SLOW, FAST = 1.0, 0.4  # lengths of the rods of the cross
REDUCED = path_run("bending", 61, (f"gait.repeat={CYCLES}",))
CROSS = Run("locomotion/cross-shear")
SHEAR, STILL = Run("locomotion/purcell-shear"), Run("locomotion/purcell-shear", ("flow.shear.gradient.0.1=0",))
LINKS = Run("immersed/three-links")


def body(steps, order):
  return Run("immersed/bending-swimmer", (f"integrator.step={PERIOD / steps:.12g}", f"integrator.order={order}",
                                          f"record.every={steps // 20}"))


def runs(full):
  return [REDUCED, CROSS, SHEAR, STILL, LINKS] + [body(n, order) for n in STEPS[1:] for order in (2, 4)] + \
      [body(STEPS[0], 2)]


def carried(record):
  """The pose without the stream, as quaternion and position: [T, 7]."""
  pose = record["pose"][:, 0].copy()
  pose[:, 0] -= STREAM * record["time"]
  pose[:, 3:] *= np.where(pose[:, 3] < 0, -1, 1)[:, None]
  return np.hstack([pose[:, 3:], pose[:, :3]])


def reduced(record):
  g = record["group"].copy()
  g[:, :4] *= np.where(g[:, 0] < 0, -1, 1)[:, None]
  return g


def draw(records, full):
  canvas, ((path, errors), (cross, swimmer)) = panels(2, 2, 6.4, 4)
  checks = draw_path(path, records) + draw_errors(errors, records) + draw_cross(cross, records)
  return figure.Drawing(canvas, checks + draw_swimmer(swimmer, records) + links(records))


def draw_path(ax, records):
  line, dots = records[REDUCED], records[body(STEPS[-1], 4)]
  for k, (name, colour) in enumerate((("$x$", BLACK), ("$y$", BLUE), ("$z$", ORANGE))):
    ax.plot(line["time"], 100 * reduced(line)[:, 4 + k], color=colour, label=name)
    ax.plot(dots["time"][::2], 100 * carried(dots)[::2, 4 + k], "o", color=colour, markersize=3)
  ax.set(xlabel="time (s)", ylabel="position (cm)", title="a gait of a body and of its bundle")
  ax.legend()
  return [at_most("body with a gait in a stream: pose minus that of the bundle, carried along, at 61 times (order 4)",
                  float(np.max(np.abs(carried(dots) - reduced(line)))), 1e-6)]


def draw_errors(ax, records):
  exact = reduced(records[REDUCED])[-1]
  ends = {n: carried(records[body(n, 2)])[-1] for n in STEPS}
  two = [float(np.max(np.abs(ends[n] - exact))) for n in STEPS]
  four = [float(np.max(np.abs(carried(records[body(n, 4)])[-1] - exact))) for n in STEPS[1:]]
  limit = (4 * ends[STEPS[-1]] - ends[STEPS[-2]]) / 3
  ax.loglog([PERIOD / n for n in STEPS], two, "o-", color=BLUE, label="order 2")
  ax.loglog([PERIOD / n for n in STEPS[1:]], four, "o-", color=ORANGE, label="order 4")
  ax.xaxis.set_minor_formatter(plt.NullFormatter())
  ax.set(xlabel="step (s)", ylabel="difference", title=f"difference after {CYCLES} cycles")
  ax.legend()
  ratio = [two[-2] / two[-1], four[-2] / four[-1]]
  return [at_most("order 2, extrapolated from the two smallest steps: pose minus that of the bundle",
                  float(np.max(np.abs(limit - exact))), 1e-6),
          Check("difference with half the step, order 2: decreases by the factor", f"{ratio[0]:.2f}", "3.6 to 4.4",
                bool(3.6 < ratio[0] < 4.4)),
          Check("difference with half the step, order 4: decreases by the factor", f"{ratio[1]:.2f}", "12 to 20",
                bool(12 < ratio[1] < 20))]


def draw_cross(ax, records):
  """Jeffery's orbit of the ratio s: tan(phi) = tan(psi)/s, where psi decreases at the rate 1/(s + 1/s)."""
  record, s = records[CROSS], (SLOW / FAST) ** 1.5
  t, angle = record["time"], record["group"][:, 2]
  psi = -t / (s + 1 / s)
  orbit = np.unwrap(np.arctan2(np.sin(psi) / s, np.cos(psi)))
  ax.plot(t, np.degrees(orbit), color=BLACK, label="Jeffery's orbit")
  ax.plot(t[::8], np.degrees(angle[::8]), "o", color=BLUE, markersize=4, label="links")
  ax.set(xlabel="time (s)", ylabel="angle (degrees)", title="a rigid cross in a shear")
  ax.legend()
  return [at_most("cross of rods in a shear: angle minus that of Jeffery's orbit",
                  float(np.max(np.abs(angle - orbit))), 1e-9)]


def draw_swimmer(ax, records):
  shear, still = records[SHEAR], records[STILL]
  for record, colour, name in ((still, GREY, "at rest"), (shear, BLUE, "in a shear")):
    x, y = record["group"][:, 0], record["group"][:, 1]
    ax.plot(x, y, color=colour, label=name)
    ax.plot(x[::50], y[::50], "o", color=colour, markersize=4)
  ax.set_aspect("equal", adjustable="datalim")
  ax.set(xlabel="$x$", ylabel="$y$", title="Purcell's swimmer")
  ax.legend()
  # without its gradient the flow is 0, and the path is that of 20 equal displacements
  one, end = still["group"][50], still["group"][::50]
  at, worst = np.array([0, 0, np.pi / 2]), 0.0
  step = np.array([one[0], one[1], one[2] - np.pi / 2])
  for k in range(1, len(end)):
    at = np.append(moved(step[:2], (at[0], at[1], at[2] - np.pi / 2)), at[2] + step[2])
    worst = max(worst, float(np.max(np.abs(at - end[k]))))
  return [at_most("flow without gradient and velocity: 5 n cycles are n times 5 cycles", worst, 1e-10)]


def links(records):
  x = records[LINKS]["pose"][:, 0, 0]
  shift = (x[-201] - x[-1]) / 1.16
  return [Check("three links with drag: shift in the last cycle / length, against the x axis", f"{shift:.3f}",
                "0.05 to 0.5", bool(0.05 < shift < 0.5))]


if __name__ == "__main__":
  figure.main(globals())
