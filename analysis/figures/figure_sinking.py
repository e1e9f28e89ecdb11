#!/usr/bin/python3
"""Bodies of silicone sink in water: ball, disc, coin, propellers, twisted bar and stone; some lie down on a floor."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import surfaces
from checks import at_least, at_most, near
from immersed import GRAVITY, SILICONE, WATER, Body, draw_outline, fall
from runs import Run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, plt

TITLE = "Bodies of silicone sink in water"
CAPTION = ("Above: bodies from rest, every 0.4 s (1297.4 in 998 kg/m³). Disc and coin flutter until they are "
           "horizontal, the propellers start to spin while they sink, the twisted bar rotates around its length. Below "
           "left: fall speed; dots are v∞ tanh(t g'/v∞), with Cd = 4/3 for the ball, and the coin's v∞ with Cd = 2. "
           "Below right: spin of the propellers around their axis and of the bar around its length. The dotted lines "
           "are the propeller without drag, ω = -v K_ωv/K_ω.")
SINKING, FREE, RESTING = (Run(f"immersed/{name}") for name in ("sinking", "propeller", "resting"))
RADIUS, COIN, THICK = 0.05, 0.05, 0.005
COLOURS = {"ball": GREY, "disc": ORANGE, "coin": BLUE, "propeller": VERMILION, "left-handed-propeller": PURPLE,
           "tilted-propeller": GREEN, "twisted-bar": SKY, "stone": BLACK}
BAR, PITCH = (0.06, 0.012, 0.12), 0.12


def runs(full):
  return [SINKING, FREE, RESTING]


def pieces():
  """Convex pieces of each body, for drawing."""
  def of_propeller(pitch):
    out = [surfaces.ellipsoid((0.01, 0.01, 0.015), 8, 16)[0]]
    x = surfaces.blade(pitch=pitch)[0]
    for k in range(3):
      c, s = np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3)
      out.append(x @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]))
    return out
  turn = np.linspace(-np.pi / 2, np.pi / 2, 9)
  bar = [np.array([(a / 2 * np.cos(w) - b / 2 * np.sin(w), a / 2 * np.sin(w) + b / 2 * np.cos(w), BAR[2] * w / np.pi)
                   for a in (BAR[0], -BAR[0]) for b in (BAR[1], -BAR[1]) for w in ends])
         for ends in zip(turn, turn[1:])]
  right = of_propeller(PITCH)
  return {"ball": [surfaces.ellipsoid((RADIUS,) * 3)[0]], "disc": [surfaces.ellipsoid((0.06, 0.06, 0.012))[0]],
          "coin": [surfaces.cylinder(COIN, THICK)[0]], "propeller": right,
          "left-handed-propeller": of_propeller(-PITCH), "tilted-propeller": right, "twisted-bar": bar,
          "stone": [surfaces.stone(2)[0]]}


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 8.4))
  grid = canvas.add_gridspec(2, 2, height_ratios=(1.3, 1))
  paths, speeds, spins = (canvas.add_subplot(place) for place in (grid[0, :], grid[1, 0], grid[1, 1]))
  record = records[SINKING]
  bodies = {name: Body(record, name) for name in COLOURS}
  shapes = pieces()
  for name, body in bodies.items():
    turn = body.rotation()
    paths.plot(body["plot_position"][:, 0], body["plot_position"][:, 2], color=COLOURS[name], linewidth=0.8)
    for k in range(0, len(body.time), round(0.4 / (body.time[1] - body.time[0]))):
      draw_outline(paths, shapes[name], body["pose"][k], turn[k], color=COLOURS[name], linewidth=0)
    paths.annotate(name.replace("-", "\n"), (body["plot_position"][0, 0], 0.08), ha="center", va="bottom", fontsize=8)
  paths.set(xlim=(-0.15, 2.3), ylim=(-1.2, 0.25), xlabel="$x$ (m)", ylabel="$z$ (m)")
  paths.set_aspect("equal", adjustable="box")
  checks = draw_speeds(speeds, bodies) + draw_spins(spins, bodies, records[FREE])
  worst = max(body.unbalance() for body in bodies.values())
  checks.append(at_most("all bodies: (energy - work of lift and drag) / exchanged energy", worst, 1e-3))
  found, table = lying(records[RESTING])
  return figure.Drawing(canvas, checks + found, [table])


def draw_speeds(ax, bodies):
  ball, coin = bodies["ball"], bodies["coin"]
  for name, body in bodies.items():
    ax.plot(body.time, -body["plot_velocity"][:, 2], color=COLOURS[name], label=name.replace("-", " "))
  t = ball.time
  volume, area = 4 / 3 * np.pi * RADIUS ** 3, np.pi * RADIUS ** 2
  weight = (SILICONE - WATER) * volume * GRAVITY
  ideal = fall(t, (SILICONE + WATER / 2) * volume, weight, WATER * 4 / 3 * area / 2)[1]
  ax.plot(t[::20], ideal[::20], "o", color=COLOURS["ball"], markersize=3)
  flat = np.sqrt((SILICONE - WATER) * THICK * GRAVITY / WATER)
  ax.plot(t[-1], flat, "o", color=COLOURS["coin"], markersize=3)
  ax.set(xlabel="time (s)", ylabel="fall speed (m/s)", xlim=(0, 4), ylim=(0, 0.8))
  ax.legend(ncols=3, loc="upper center", fontsize=7)
  # The same comparison with the numbers of the mesh: total mass, weight and drag are recorded.
  v, last = -ball["plot_velocity"][:, 2], -1
  net = -(ball.force("gravity") + ball.force("buoyancy"))[0, 2]
  own = fall(t, ball["inertia"][0, 5, 5], net, ball.force("drag")[last, 2] / v[last] ** 2)[1]
  lean = np.max(np.linalg.norm(coin["plot_velocity"][-20:, :2], axis=1))
  turned = np.sum(np.diff(np.sign(coin["plot_velocity"][1:, 0])) != 0)
  return [at_most("ball: (speed at all times - v∞ tanh(t g'/v∞)) / v∞, Cd = 4/3 (inscribed mesh)",
                  float(np.max(np.abs(v - ideal)) / ideal[-1]), 3e-3),
          at_most("ball: the same with the mesh's own volume and area", float(np.max(np.abs(v - own)) / own[-1]), 1e-5),
          near("ball: terminal speed / √(2(m - ρV)g/(ρ Cd A))",
               float(v[-1] / np.sqrt(weight / (WATER * 2 / 3 * area))), 1, 3e-3),
          near("coin: terminal speed / √((ρ_b/ρ - 1)tg), Cd = 2", float(-coin["plot_velocity"][-20:, 2].mean() / flat), 1, 5e-3),
          at_least("coin: number of reversals of its sideways motion", int(turned), 4),
          at_most("coin: final sideways speed / fall speed", float(lean / flat), 0.05)]


def draw_spins(ax, bodies, record):
  for name, axis in (("propeller", 2), ("left-handed-propeller", 2), ("tilted-propeller", 2), ("twisted-bar", 2)):
    ax.plot(bodies[name].time, bodies[name]["twist"][:, axis], color=COLOURS[name], label=name.replace("-", " "))
  free = Body(record, "propeller")
  twist, K = free["twist"], free["inertia"]
  coupling, moment = K[:, 2, 5], K[:, 2, 2]
  ax.plot(free.time, -twist[:, 5] * coupling / moment, ":", color=GREY, label="without drag")
  ax.set(xlabel="time (s)", ylabel="spin about the body's $z$ (1/s)", xlim=(0, 4), ylim=(-16, 16))
  ax.legend(ncols=2, loc="lower right", fontsize=7)
  moving = slice(1, None)
  ratio = np.max(np.abs(twist[moving, 2] / twist[moving, 5] * moment[moving] / coupling[moving] + 1))
  other = np.max(np.abs(twist[:, [0, 1, 3, 4]])) / np.max(np.abs(twist[:, 2]))
  # v' = -(m - rho V) g/(K_v - K_wv^2/K_w), from the momentum along z and zero angular momentum about z
  weight = free.mass * (1 - WATER / SILICONE) * GRAVITY
  speed = -weight * free.time / (K[0, 5, 5] - coupling[0] ** 2 / moment[0])
  right, left = bodies["propeller"]["twist"], bodies["left-handed-propeller"]["twist"]
  mirrored = np.max(np.abs(right[:, 2] + left[:, 2])) / np.max(np.abs(right[:, 2]))
  spin, sink = right[-1, 2], right[-1, 5]
  return [at_most("propeller of three blades without drag: ω/v at every step, relative difference from -K_ωv/K_ω", float(ratio),
                  1e-12),
          at_most("its other components of ω and v / ω", float(other), 1e-12),
          at_most("its speed minus (m - ρV)gt/(K_v - K_ωv²/K_ω), / final speed",
                  float(np.max(np.abs(twist[:, 5] - speed)) / abs(speed[-1])), 1e-12),
          at_most("its drift of the energy / kinetic energy", float(
              np.max(np.abs(free["body_energy"] - free["body_energy"][0])) / free["body_kinetic_energy"][-1]), 1e-10),
          at_least("propeller with drag: it starts to rotate, |ω| (1/s)", abs(float(spin)), 1),
          at_most("left-handed propeller: spin, relative difference from its mirror image", float(mirrored), 1e-9),
          near("propeller with drag: |ω/v| / that of a screw, 2π/pitch", abs(float(spin / sink)) * PITCH / 2 / np.pi,
               1, 0.3)]


def lying(record):
  """Checks bodies on the floor: they are at rest, and the floor's force equals weight minus buoyancy."""
  rows, checks = [], []
  for name in ("ball", "coin", "propeller"):
    body = Body(record, name)
    floor, net = body.force("floor")[-1], -(body.force("gravity") + body.force("buoyancy"))[-1, 2]
    speed = float(np.linalg.norm(body["plot_velocity"][-1]))
    met = body.time[np.argmax(body.force("floor")[:, 2] > 0)]
    rows.append([name, f"{met:.2f}", f"{body['plot_position'][-1, 2]:.4f}", f"{speed:.2g}", f"{floor[2]:.5g}", f"{net:.5g}"])
    checks += [near(f"{name} on the floor: force of the floor / ((m - ρV)g)", float(floor[2] / net), 1, 1e-2),
               at_most(f"{name} on the floor: speed at the end (m/s)", speed, 1e-3)]
  header = ["body", "first contact (s)", "height of the centre (m)", "speed (m/s)", "force of the floor (N)",
            "(m - ρV)g (N)"]
  return checks, figure.Table("Lying on a soft floor at z = -0.3 m after 8 s", header, rows)


if __name__ == "__main__":
  figure.main(globals())
