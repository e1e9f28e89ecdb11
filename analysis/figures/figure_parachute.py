#!/usr/bin/python3
"""A ball falls in vacuum and in air, without and with a parachute: terminal speeds, and oscillation of the parachute."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import surfaces
from checks import at_most, between, near
from immersed import AIR, GRAVITY, Body, draw_outline, fall
from runs import Run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, panels

TITLE = "Free fall, and on a parachute"
CAPTION = ("Left: speed of a ball of 0.5 kg in vacuum, in air, and on a parachute, whose canopy is the part of a "
           "sphere of radius R within 60° of its top. Dots: gt, and v∞ tanh(t g'/v∞) with the drag ρv²(2π/3)R²(1 - "
           "cos³α) of the canopy and Cd = 4/3 of the ball. Middle: released with its axis at 45°, it swings and "
           "becomes upright; every 0.4 s. Right: tilt of the axis.")
AIRED, VACUUM = Run("immersed/parachute"), Run("immersed/parachute", ("fluid.medium=none",))
BALL, CANOPY, ANGLE, LINE, THICK, DENSITY, MASS = 0.05, 0.3, np.pi / 3, 0.6, 1e-4, 1000.0, 0.54


def runs(full):
  return [AIRED, VACUUM]


def draw(records, full):
  canvas, ((speeds, path, tilt),) = panels(1, 3, 4.4, 4.4, width_ratios=(1, 0.5, 1))
  aired, vacuum = records[AIRED], records[VACUUM]
  checks = draw_speeds(speeds, aired, vacuum) + draw_swing(path, tilt, Body(aired, "swinging-parachute"))
  return figure.Drawing(canvas, checks)


def draw_speeds(ax, aired, vacuum):
  volume, area = 4 / 3 * np.pi * BALL ** 3, np.pi * BALL ** 2
  cloth = 2 * np.pi * CANOPY ** 2 * (1 - np.cos(ANGLE))
  drag = {"ball": AIR * 2 / 3 * area}
  drag["parachute"] = drag["ball"] + AIR * 2 * np.pi / 3 * CANOPY ** 2 * (1 - np.cos(ANGLE) ** 3)
  displaced = {"ball": volume, "parachute": volume + cloth * THICK}
  mass = {"ball": DENSITY * volume, "parachute": MASS}
  checks = []
  body = Body(vacuum, "ball")
  t, v = body.time, -body["plot_velocity"][:, 2]
  ax.plot(t, v, color=BLACK, label="ball, in vacuum")
  ax.plot(t[::25], GRAVITY * t[::25], "o", color=BLACK, markersize=3)
  checks.append(at_most("in vacuum: (speed - gt) / final speed", float(np.max(np.abs(v - GRAVITY * t)) / v[-1]), 1e-13))
  other = Body(vacuum, "swinging-parachute")
  apart = np.max(np.abs(other["plot_position"] - other["plot_position"][0] - body["plot_position"] + body["plot_position"][0]))
  checks.append(at_most("in vacuum: ball and tilted parachute fall equally, distance (m)", float(apart), 1e-10))
  for name, colour in (("ball", BLUE), ("parachute", ORANGE)):
    body = Body(aired, name)
    v, weight = -body["plot_velocity"][:, 2], (mass[name] - AIR * displaced[name]) * GRAVITY
    # The added mass is that of the model; the total mass is recorded.
    ideal = fall(t, body["inertia"][0, 5, 5], weight, drag[name])[1]
    ax.plot(t, v, color=colour, label=f"{name}, in air")
    ax.plot(t[::25], ideal[::25], "o", color=colour, markersize=3)
    net = -(body.force("gravity") + body.force("buoyancy"))[0, 2]
    own = fall(t, body["inertia"][0, 5, 5], net, body.force("drag")[-1, 2] / v[-1] ** 2)[1]
    checks += [at_most(f"{name}: speed at all times minus v∞ tanh(t g'/v∞), / final speed (inscribed mesh)",
                       float(np.max(np.abs(v - ideal)) / ideal[-1]), 5e-3),
               at_most(f"{name}: the same with the mesh's own volume and area",
                       float(np.max(np.abs(v - own)) / own[-1]), 1e-5),
               at_most(f"{name}: (energy - work of lift and drag) / exchanged energy", body.unbalance(),
                       1e-4)]
  speed = -Body(aired, "parachute")["plot_velocity"][-1, 2]
  checks.append(near("parachute: terminal speed / √((m - ρV)g/(ρ(2π/3)(R²(1 - cos³α) + r²)))",
                     float(speed / np.sqrt(weight / drag["parachute"])), 1, 5e-3))
  ax.set(xlabel="time (s)", ylabel="fall speed (m/s)", xlim=(0, 8), ylim=(0, 40))
  ax.legend(loc="upper right")
  return checks


def canopy():
  """Pieces to draw: slices of the canopy, each nearly flat, and the ball."""
  theta, turn = np.linspace(0, ANGLE, 9), 2 * np.pi * np.arange(24) / 24
  rings = [np.stack([CANOPY * np.sin(a) * np.cos(turn), CANOPY * np.sin(a) * np.sin(turn),
                     np.full(24, LINE + CANOPY * (np.cos(a) - np.cos(ANGLE)))], axis=1) for a in theta]
  return [np.concatenate(two) for two in zip(rings, rings[1:])], [surfaces.ellipsoid((BALL,) * 3, 8, 16)[0]]


def draw_swing(path, tilt, body):
  t, turn, x = body.time, body.rotation(), body["pose"]
  cloth, ball = canopy()
  path.plot(body["plot_position"][:, 0], body["plot_position"][:, 2], color=GREY, linewidth=0.8)
  for k in range(0, len(t), round(0.4 / (t[1] - t[0]))):
    draw_outline(path, cloth, x[k], turn[k], color=ORANGE, linewidth=0, alpha=0.6)
    draw_outline(path, ball, x[k], turn[k], color=BLUE, alpha=0.8)
    rim = [LINE * turn[k, :, 2] + s * CANOPY * np.sin(ANGLE) * turn[k, :, 0] + x[k, :3] for s in (-1, 1)]
    for end in rim:
      path.plot(*np.transpose([x[k, [0, 2]], end[[0, 2]]]), color=GREY, linewidth=0.4)
  path.set(xlabel="$x$ (m)", ylabel="$z$ (m)", ylim=(-9, 1.2), xlim=(2, 6))
  path.set_aspect("equal")
  angle = np.degrees(np.arctan2(turn[:, 0, 2], turn[:, 2, 2]))
  tilt.plot(t, angle, color=GREEN)
  tilt.axhline(0, color=GREY, linewidth=0.8)
  tilt.set(xlabel="time (s)", ylabel="tilt of the axis (degrees)", xlim=(0, 8))
  late = t > t[-1] - 2
  return [at_most("oscillating parachute: tilt in the last 2 s / initial tilt",
                  float(np.max(np.abs(angle[late])) / angle[0]), 0.25),
          between("oscillating parachute: fall speed in the last 2 s / that of the upright one",
                  -body["plot_velocity"][late, 2] / -Body(body.record, "parachute")["plot_velocity"][late, 2], 0.9, 1.1),
          at_most("oscillating parachute: (energy - work of lift and drag) / exchanged energy",
                  body.unbalance(), 1e-3)]


if __name__ == "__main__":
  figure.main(globals())
