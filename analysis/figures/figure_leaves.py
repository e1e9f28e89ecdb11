#!/usr/bin/python3
"""Leaves that sink, flutter and tumble in still air; leaves in wind; a thousand leaves."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most, near
from immersed import draw_surface
from runs import Run, Surface
from style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, plt
from swimmers import last_third, rotation, velocity

TITLE = "Falling leaves: flat, fluttering, tumbling; in wind; a thousand"
CAPTION = ("Leaves of 6 cm × 3.5 cm, 0.14 g. Above left: the path of the centre of mass over 4 s and the leaf every "
           "0.2 s, at four times its size, from the side: one sinks flat, one with a stalk of 25 mg flutters, one with "
           "20 mg at both ends tumbles. Above right: their tilt, from two starts each (17°, 69°). Below: six leaves "
           "with stalks released in a row in a gusty wind, and a thousand leaves released at random in a uniform wind, "
           "after 0, 2.5 and 5 s. (Paper: figures 5 and 9.)")
STILL, WIND, MANY = Run("immersed/leaf"), Run("immersed/leaves-wind"), Run("immersed/leaves-thousand")
BARE = Run("immersed/leaf", ("bodies.1.added_mass=false",))
# Speed of a uniform wind, which leaves have at the start, and two steps of the integrator.
SPEED, COARSE, FINE = 2, 1 / 400, 1 / 800


def compared(wind, step):
  """The run with this wind and step, which records a row every 0.01 s."""
  return Run("immersed/leaf", (f"fluid.parameters.wind={wind}", f"integrator.step={step:g}",
                               f"record.every={round(0.01 / step)}"))


SHOTS = Surface("immersed/leaf", ("--every", "4"), table=STILL)
KINDS = (("flat", BLUE, 0), ("with a stalk", ORANGE, 2), ("loaded ends", GREEN, 4))
LENGTH = 0.06
LARGER, EVERY = 4, 5  # leaves are drawn 4 times as large, at every 5th of the recorded times


def runs(full):
  return [STILL, BARE, WIND, MANY, SHOTS] + [compared(wind, step) for step in (COARSE, FINE) for wind in (0, SPEED)]


def tilt(R):
  """Tilt of the leaf's length from the horizontal in degrees, continuous over full turns: rotation of x around y."""
  return np.degrees(np.unwrap(np.arctan2(-R[..., 2, 0], R[..., 2, 2]), axis=0))


def swing(angle):
  return float(np.max(angle) - np.min(angle))


def draw_leaves(axes, x, R, colour, step, shift=0.0):
  axes.plot(x[:, 0] + shift, x[:, 2], color=colour, linewidth=0.6)
  for k in range(0, len(x), step):
    half = R[k, ::2, 0] * LARGER * LENGTH / 2
    axes.plot(*zip(x[k, ::2] - half + (shift, 0), x[k, ::2] + half + (shift, 0)), color=colour, linewidth=1.2)


def carried_apart(records, step):
  """Largest distance over 3 s between paths in wind and paths in still air that are shifted with the wind."""
  still, windy = (records[compared(wind, step)] for wind in (0, SPEED))
  t = still["time"]
  apart = windy["centre"] - still["centre"] - np.multiply.outer(t, [SPEED, 0, 0])[:, None]
  return float(np.max(np.abs(apart[t <= 3])))


def draw(records, full):
  canvas, axes = plt.subplots(2, 2, figsize=(7.6, 8.4), height_ratios=(1.3, 1))
  path, angle, wind, many = axes.flat
  still, shots, checks, rows = records[STILL], records[SHOTS], [], []
  t, x, R = still["time"], still["centre"], rotation(still)
  turned = tilt(R)
  quarter = len(t) // 4
  for name, colour, first in KINDS:
    shown = t <= 4
    path.plot(x[shown, first, 0] + 0.25 * first, x[shown, first, 2], color=colour, linewidth=0.6)
    faces = shots["face"][shots["body"] == first]
    own = np.unique(faces)  # this leaf's vertices in the common array
    for surface in shots["plot_position"][shots["time"] <= 4][::EVERY]:
      middle = surface[own].mean(axis=0)
      draw_surface(path, middle + LARGER * (surface - middle), faces, colour, aside=(0.25 * first, 0))
    for body, line in ((first, "-"), (first + 1, ":")):
      angle.plot(t, turned[:, body], line, color=colour, label=name if line == "-" else None)
    speeds = -np.mean(last_third(velocity(still)[:, first:first + 2, 2]), axis=0)
    swings = [swing(turned[-quarter:, b]) for b in (first, first + 1)]
    before = [swing(turned[-2 * quarter:-quarter, b]) for b in (first, first + 1)]
    rows.append([name] + [f"{v:.3f}" for v in speeds] + [f"{s:.2f}" for s in swings])
    if name == "flat":
      checks.append(at_most("flat: amplitude of the tilt in the last quarter, degrees", max(swings), 0.1))
    elif name == "with a stalk":
      checks += [Check("with a stalk: it flutters, amplitude of the tilt in the last quarter, degrees",
                       ", ".join(f"{s:.1f}" for s in swings), "60 to 180", all(60 < s < 180 for s in swings)),
                 at_most("with a stalk: relative change of the amplitude from the third to the last quarter",
                         max(abs(s / b - 1) for s, b in zip(swings, before)), 0.05),
                 at_most("with a stalk: relative difference of the amplitude between two initial tilts",
                         abs(swings[0] / swings[1] - 1), 0.05)]
    else:
      turns = min(swings) / 360
      checks.append(Check("loaded ends: it tumbles, full turns in the last quarter", f"{turns:.1f}", "> 2", turns > 2))
  bare = tilt(rotation(records[BARE]))[-quarter:, 2:4]
  checks.append(Check("with a stalk, no added mass: amplitude of the tilt in the last quarter, degrees",
                      ", ".join(f"{swing(a):.1f}" for a in bare.T), "< 45: it hardly flutters",
                      all(swing(a) < 45 for a in bare.T)))
  apart = [carried_apart(records, step) for step in (COARSE, FINE)]
  checks += [at_most("leaves that start with a uniform wind: distance from the shifted paths of still air over 3 s, m",
                     apart[1], 0.01),
             near("the same distance: order in the step", np.log2(apart[0] / apart[1]), 2, 0.2)]
  path.set(xlabel="$x$ (m), shifted", ylabel="$z$ (m)", title="still air")
  path.set_aspect("equal", adjustable="datalim")
  angle.set(xlabel="time (s)", ylabel="tilt (degrees)", ylim=(-270, 270), title="from two starts each")
  angle.legend(loc="upper right")

  gust = records[WIND]
  leaves, axis = gust["centre"], rotation(gust)
  for i in range(leaves.shape[1]):
    draw_leaves(wind, leaves[:, i], axis[:, i], (BLUE, SKY, GREEN, ORANGE, VERMILION, PURPLE, GREY, BLACK)[i], 16)
  wind.set(xlabel="$x$ (m)", ylabel="$z$ (m)", title="gusty wind")
  wind.set_aspect("equal", adjustable="datalim")
  blown = float(np.mean(leaves[-1, :, 0] - leaves[0, :, 0]) / gust["time"][-1])
  checks.append(Check("gusty wind: mean speed along it, m/s", f"{blown:.3f}", "2 ± 1: mean of the wind and its gusts",
                      abs(blown - 2) <= 1))

  crowd = records[MANY]
  when, places = crowd["time"], crowd["centre"]
  for s, colour in ((0, GREY), (2.5, BLUE), (5, ORANGE)):
    k = np.argmin(np.abs(when - s))
    many.plot(places[k, :, 0], places[k, :, 2], ".", color=colour, markersize=2, label=f"after {when[k]:.1f} s")
  many.set(xlabel="$x$ (m)", ylabel="$z$ (m)", title="a thousand in a uniform wind")
  many.legend(loc="upper right", markerscale=4)
  falling = -np.mean(velocity(crowd)[-1, :, 2])
  rows.append([f"{places.shape[1]} in wind", f"{falling:.3f}", "", "", ""])
  checks.append(Check("a thousand leaves: number of leaves with finite positions", str(places.shape[1]), "1000",
                      places.shape[1] == 1000 and bool(np.all(np.isfinite(places)))))
  table = figure.Table("Fall speed over the last third (m/s), amplitude of the tilt in the last quarter (degrees), two starts",
                       ["leaf", "fall, 17°", "fall, 69°", "swing, 17°", "swing, 69°"], rows)
  return figure.Drawing(canvas, checks, [table])


if __name__ == "__main__":
  figure.main(globals())
