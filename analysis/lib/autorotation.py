"""Bodies that come to a steady fall and spin: panels, checks and table of the maple seed and of the paper copter."""
import numpy as np

from checks import Check, at_most
from figure import Table
from style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY
from swimmers import drift, last_third, rotation, spin, spread, velocity

COLOURS = (BLUE, SKY, GREEN, ORANGE, PURPLE)


def tilts(record):
  """Of the body's z axis from the vertical at the start, degrees; > 0 towards x."""
  up = rotation(record)[0, :, :, 2]
  return np.degrees(np.arctan2(np.copysign(np.hypot(up[:, 0], up[:, 1]), up[:, 0]), up[:, 2]))


def fall(record):
  """Speed downwards of each centre of mass [T, body]."""
  return -velocity(record)[..., 2]


def draw_speeds(record, fall_axes, spin_axes):
  t, tilt = record["time"], tilts(record)
  for i, (down, turn) in enumerate(zip(fall(record).T, spin(record)[..., 2].T)):
    fall_axes.plot(t, down, color=COLOURS[i], label=f"let go at {tilt[i]:.0f}°".replace("-", "−"))
    spin_axes.plot(t, turn, color=COLOURS[i])
  fall_axes.set(xlabel="time (s)", ylabel="fall speed (m/s)")
  spin_axes.set(xlabel="time (s)", ylabel="spin about the vertical (rad/s)")
  fall_axes.set_ylim(0, None)
  spin_axes.axhline(0, color=GREY, linewidth=0.7)
  fall_axes.legend()


def draw_path(record, axes, tip, body, until, step, width):
  """Centre and tip (in the body) of one body, and the line between them, from the side, `width` metres wide."""
  t, R = record["time"], rotation(record)[:, body]
  early = t <= until
  x = record["centre"][early, body]
  end = record["pose"][early, body, :3] + R[early] @ np.asarray(tip)
  axes.plot(end[:, 0], end[:, 2], color=COLOURS[body], linewidth=0.8)
  for k in range(0, len(x), step):
    axes.plot([x[k, 0], end[k, 0]], [x[k, 2], end[k, 2]], color=GREY, linewidth=0.6)
  axes.plot(x[:, 0], x[:, 2], color=COLOURS[body])
  axes.set(xlabel="$x$ (m)", ylabel="$z$ (m)")
  axes.set_aspect("equal")
  axes.set_xlim(np.mean(axes.get_xlim()) - width / 2, np.mean(axes.get_xlim()) + width / 2)
  axes.locator_params(axis="x", nbins=2)


def checks_and_table(record, steady, alike):
  """steady: change allowed over the last third; alike: difference allowed among the starts, both relative."""
  tilt, down, turn = tilts(record), fall(record), spin(record)[..., 2]
  falls, spins = np.mean(last_third(down), axis=0), np.mean(last_third(turn), axis=0)
  checks = [at_most(f"let go at {tilt[i]:.0f}°: relative change over the last third of fall and spin",
                    max(drift(down[:, i]), drift(turn[:, i])), steady) for i in range(len(tilt))]
  checks += [at_most(f"fall speed from {len(tilt)} tilts: relative spread", spread(falls), alike),
             at_most(f"spin from {len(tilt)} tilts: relative spread of its size", spread(np.abs(spins)), alike)]
  same = int(np.sum(np.sign(spins) == np.sign(spins[0])))
  checks.append(Check("turns the same way from all tilts", f"{same} of {len(spins)}", "all", same == len(spins)))
  rows = [[f"{tilt[i]:.0f}°", f"{falls[i]:.4f}", f"{spins[i]:.3f}", f"{abs(spins[i]) / (2 * np.pi):.2f}",
           f"{drift(down[:, i]):.1e}", f"{drift(turn[:, i]):.1e}"] for i in range(len(tilt))]
  return checks, Table("Mean over the last third, and its relative change there",
                       ["let go at", "fall m/s", "spin rad/s", "turns a second", "fall changes", "spin changes"], rows)
