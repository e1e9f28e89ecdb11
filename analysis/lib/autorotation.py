"""Bodies that reach a steady fall and spin: panels, checks and table for the maple seed and the paper copter."""
import numpy as np

from checks import Check, at_most
from figure import Table
from immersed import draw_surface
from style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY
from swimmers import drift, last_third, rotation, spin, spread, velocity

COLOURS = (BLUE, SKY, GREEN, ORANGE, PURPLE)


def tilts(record):
  """Angle in degrees between each body's z axis and the vertical at the start; > 0 if the z axis leans towards x."""
  up = rotation(record)[0, :, :, 2]
  return np.degrees(np.arctan2(np.copysign(np.hypot(up[:, 0], up[:, 1]), up[:, 0]), up[:, 2]))


def fall(record):
  """Downward speed of each centre of mass [T, body]."""
  return -velocity(record)[..., 2]


def degrees(tilt):
  return f"{tilt:.0f}°".replace("-", "−")


def draw_speeds(record, fall_axes, spin_axes, bodies):
  """Draws the speed and spin of `bodies` (at most five), each in its own colour."""
  t, tilt, down, turn = record["time"], tilts(record), fall(record), spin(record)[..., 2]
  for i, colour in zip(bodies, COLOURS):
    fall_axes.plot(t, down[:, i], color=colour, label=f"released at {degrees(tilt[i])}")
    spin_axes.plot(t, turn[:, i], color=colour)
  fall_axes.set(xlabel="time (s)", ylabel="fall speed (m/s)")
  spin_axes.set(xlabel="time (s)", ylabel="spin about the vertical (rad/s)")
  fall_axes.set_ylim(0, None)
  spin_axes.axhline(0, color=GREY, linewidth=0.7)


def draw_path(record, shots, axes, tip, body, begin, end, width, colour):
  """Draws one body from the side, `width` metres wide: the paths of its centre and of `tip` (in the body's frame),
  and its surface at the times of `shots`."""
  t, R = record["time"], rotation(record)[:, body]
  shown = (t >= begin) & (t <= end)
  x = record["centre"][shown, body]
  y = record["pose"][shown, body, :3] + R[shown] @ np.asarray(tip)
  axes.plot(y[:, 0], y[:, 2], color=colour, linewidth=0.8)
  axes.plot(x[:, 0], x[:, 2], color=GREY)
  faces = shots["face"][shots["body"] == body]
  for time, surface in zip(shots["time"], shots["plot_position"]):
    if begin <= time <= end:
      draw_surface(axes, surface, faces, colour)
  axes.set(xlabel="$x$ (m)", ylabel="$z$ (m)")
  axes.set_aspect("equal")
  axes.set_xlim(np.mean(axes.get_xlim()) - width / 2, np.mean(axes.get_xlim()) + width / 2)
  axes.locator_params(axis="x", nbins=2)


def ends(record):
  """Fall speed and spin of each body, averaged over the last third of the run."""
  return np.mean(last_third(fall(record)), axis=0), np.mean(last_third(spin(record)[..., 2]), axis=0)


def checks_and_table(record, half, steady, alike, converged):
  """half: the same run with half the step. Relative bounds: steady, change over the last third; alike, difference
  between the starts; converged, difference from `half`."""
  tilt, down, turn = tilts(record), fall(record), spin(record)[..., 2]
  falls, spins = ends(record)
  changes = [max(drift(a), drift(b)) for a, b in zip(down.T, turn.T)]
  off = [np.max(np.abs(end / other - 1)) for end, other in zip(ends(record), ends(half))]
  checks = [at_most(f"fall and spin from {len(tilt)} tilts: largest relative change over the last third", max(changes),
                    steady),
            at_most(f"fall speed from {len(tilt)} tilts: relative spread", spread(falls), alike),
            at_most(f"spin from {len(tilt)} tilts: relative spread of its magnitude", spread(np.abs(spins)), alike),
            at_most("fall speed from every tilt: relative difference at half the step", off[0], converged),
            at_most("spin from every tilt: relative difference at half the step", off[1], converged)]
  same = int(np.sum(np.sign(spins) == np.sign(spins[0])))
  checks.append(Check("the body rotates in the same direction from all tilts", f"{same} of {len(spins)}", "all",
                      same == len(spins)))
  rows = [[degrees(tilt[i]), f"{falls[i]:.4f}", f"{spins[i]:.3f}", f"{abs(spins[i]) / (2 * np.pi):.2f}",
           f"{drift(down[:, i]):.1e}", f"{drift(turn[:, i]):.1e}"] for i in range(len(tilt))]
  return checks, Table("Mean over the last third, and its relative change there",
                       ["released at", "fall m/s", "spin rad/s", "turns per second", "change of fall", "change of spin"], rows)
